// A frame's cubes, one after another: first the player's, then those that moved lately, then those
// that stood, which start where something moves.
//
//   WHAT                                  CODED BY
//   moved, of one that moved lately       an output of the place net
//   3 x a miss of its place               scale from the net, made wider by earlier misses
//   turned                                an output of the turn net, which has the new place
//   which component is largest            how clear the prediction is
//   3 x a miss of its turn                as a place
//   touched                               what it was, whether it moved, the player's distance
//   one that stood: woken                 player's distance, how much moves about it, touched
//   which parts changed                   the same
// A miss is (high symbol, plain low bits). 70 to 100 cubes of 901 move, in 180 to 260 bytes.
#include "shared/codec/pass.h"

#include <string.h>

#define INLINE     static inline __attribute__((always_inline))

#define CELL_BITS  8 // 0.5 m
#define CELLS      128
#define HEAT_MAX   3
#define ESCAPE_MAX 17
#define LOG_MOST   40960

void (*cm_pass_watch)(int component, int surprise, int32_t miss, int32_t scale_log);

typedef struct pass {
    const cm_codec_model *model;
    const cm_past *past;
    cm_range *range;
    cm_cube *cubes;
    cm_lead lead;
    bool bad;
    uint8_t heat[CELLS * CELLS];
} pass;

// Symbols ---------------------------------------------------------------------------------------

INLINE uint32_t code_flag(cm_pass_verb verb, pass *p, const uint16_t *share, uint32_t flag)
{
    cm_range *r = p->range;
    if (verb == CM_PASS_WRITE) {
        cm_range_write(r, flag ? *share : 0, flag ? CM_RANGE_WHOLE - *share : *share);
    } else if (verb == CM_PASS_COUNT) {
        // Two counts to a flag: those of 1 stand behind all places.
        r->counts[share - (const uint16_t *)&p->model->tables +
                  (flag ? (ptrdiff_t)(sizeof p->model->tables / 2) : 0)]++;
    } else {
        uint32_t bound = (r->range >> CM_RANGE_BITS) * *share;
        flag = r->code >= bound;
        cm_range_take(r, flag ? *share : 0, flag ? CM_RANGE_WHOLE - *share : *share);
    }
    return flag;
}

INLINE uint32_t code_symbol(cm_pass_verb verb, pass *p, const uint16_t *starts, uint32_t count,
                            uint32_t symbol)
{
    cm_range *r = p->range;
    if (verb == CM_PASS_COUNT) {
        r->counts[starts - (const uint16_t *)&p->model->tables + (ptrdiff_t)symbol]++;
        return symbol;
    }
    if (verb == CM_PASS_READ) {
        uint32_t place = cm_range_read(r), below = 0;
        for (uint32_t i = 0; i < count; i++) {
            below += starts[i] <= place;
        }
        symbol = below - 1;
    }
    uint32_t end = symbol + 1 < count ? starts[symbol + 1] : CM_RANGE_WHOLE;
    if (verb == CM_PASS_READ) {
        cm_range_take(r, starts[symbol], end - starts[symbol]);
    } else {
        cm_range_write(r, starts[symbol], end - starts[symbol]);
    }
    return symbol;
}

// So many bits as they are, 0 to 15.
INLINE uint32_t code_plain(cm_pass_verb verb, pass *p, uint32_t bits, uint32_t value)
{
    uint32_t unit = CM_RANGE_WHOLE >> bits;
    if (verb == CM_PASS_WRITE && bits > 0) {
        cm_range_write(p->range, value * unit, unit);
    } else if (verb == CM_PASS_READ && bits > 0) {
        value = cm_range_read(p->range) / unit;
        cm_range_take(p->range, value * unit, unit);
    }
    return bits > 0 ? value : 0;
}

// 0 and more, for what no table reaches.
static uint32_t code_rest(cm_pass_verb verb, pass *p, uint32_t value)
{
    value = verb == CM_PASS_READ ? 0 : value;
    uint32_t top = 31u - (uint32_t)__builtin_clz(value + 1), bits = 0;
    while (code_plain(verb, p, 1, bits < top)) {
        bits++;
        if (bits >= ESCAPE_MAX) {
            p->bad = true;
            return 0;
        }
    }
    uint32_t high = bits > 8 ? bits - 8 : 0, low = bits - high, v = value + 1;
    uint32_t upper = code_plain(verb, p, high, (v >> low) & ((1u << high) - 1));
    uint32_t lower = code_plain(verb, p, low, v & ((1u << low) - 1));
    return ((1u << bits) | upper << low | lower) - 1;
}

// Values ----------------------------------------------------------------------------------------

typedef struct scale {
    int32_t index, shift;
} scale;

// A net's word for a scale: a natural logarithm, 4096 is 1.
INLINE int32_t log_in(int32_t log)
{
    return log < -LOG_MOST ? -LOG_MOST : log > LOG_MOST ? LOG_MOST : log;
}

INLINE scale scale_of(int32_t log)
{
    scale s;
    int32_t index = ((log * 2955) >> 22) + 9;
    s.index = index < 0 ? 0 : index >= CM_VALUE_SCALES ? CM_VALUE_SCALES - 1 : index;
    s.shift = s.index < 13 ? 0 : (s.index - 11) / 2;
    return s;
}

// A value whose prediction is `guess` / 16.
static int32_t code_value(cm_pass_verb verb, pass *p, int kind, scale s, int32_t guess,
                          int32_t value)
{
    bool flip = guess < 0;
    guess = flip ? -guess : guess;
    int32_t middle = (guess + 8) >> 4;
    int32_t table = CM_VALUE_FINE * CM_VALUE_PLACES + s.index - CM_VALUE_FINE;
    if (s.index < CM_VALUE_FINE) {
        int32_t class = middle < 3 ? middle : middle < 5 ? 3 : 4;
        table = s.index * CM_VALUE_PLACES + class * 4 + (((guess + 8) & 15) >> 2);
    }
    int32_t miss = (flip ? -value : value) - middle;
    int32_t high = miss >> s.shift;
    int32_t symbol = high + CM_VALUE_MIDDLE;
    symbol = symbol < 0 ? 0 : symbol >= CM_VALUE_SYMBOLS - 1 ? CM_VALUE_SYMBOLS - 1 : symbol;
    symbol = (int32_t)code_symbol(verb, p, p->model->tables.value[kind][table], CM_VALUE_SYMBOLS,
                                  (uint32_t)symbol);
    if (symbol == 0) {
        high = -CM_VALUE_MIDDLE - (int32_t)code_rest(verb, p, (uint32_t)(-high - CM_VALUE_MIDDLE));
    } else if (symbol == CM_VALUE_SYMBOLS - 1) {
        const int32_t from = CM_VALUE_SYMBOLS - 1 - CM_VALUE_MIDDLE;
        high = from + (int32_t)code_rest(verb, p, (uint32_t)(high - from));
    } else {
        high = symbol - CM_VALUE_MIDDLE;
    }
    uint32_t low = code_plain(verb, p, (uint32_t)s.shift, (uint32_t)miss & ((1u << s.shift) - 1));
    int64_t whole = (int64_t)high * (1 << s.shift) + low + middle;
    if (whole > 65535 || whole < -65535) {
        p->bad = true;
        whole = 0;
    }
    return flip ? -(int32_t)whole : (int32_t)whole;
}

// The class of a miss (1/16) relative to its scale, 0 to 5; each class is twice the one before.
INLINE int32_t surprise_of(int32_t miss, int32_t scale_log)
{
    miss = miss < 0 ? -miss : miss;
    int32_t log = cm_context_log(miss) - 128;    // 32 to an octave, of whole units
    int32_t of_scale = (scale_log * 1477) >> 17; // the same
    int32_t class = (log - of_scale + 48) >> 5;
    return class < 0 ? 0 : class >= CM_SURPRISES ? CM_SURPRISES - 1 : class;
}

INLINE void watch(cm_pass_verb verb, int component, int surprise, int32_t miss, int32_t log)
{
    if (verb == CM_PASS_COUNT && cm_pass_watch != NULL) {
        cm_pass_watch(component, surprise, miss, log);
    }
}

// Three values of one cube, each warned by those before it.
static void code_three(cm_pass_verb verb, pass *p, int turn, const int32_t log[3],
                       const int32_t guess[3], int32_t value[3])
{
    int32_t worst = 0;
    for (int i = 0; i < 3; i++) {
        int component = 3 * turn + i;
        int32_t wider = i == 0 ? 0 : p->model->surprise[component][worst];
        scale s = scale_of(log_in(log[i]) + wider);
        int kind = turn ? 2 : i == 2;
        value[i] = code_value(verb, p, kind, s, guess[i], value[i]);
        int32_t miss = value[i] * 16 - guess[i];
        watch(verb, component, worst, miss, log[i]);
        int32_t class = surprise_of(miss, log_in(log[i]));
        worst = i == 0 ? class : (worst + class + 1) / 2;
    }
}

// One cube's place and turn ---------------------------------------------------------------------

INLINE uint32_t logit_of(int32_t output, bool still)
{
    int32_t at = (output >> 11) + 12;
    return still ? 24u : (uint32_t)(at < 0 ? 0 : at > 23 ? 23 : at);
}

// The baseline turned as predicted: CM_TURN_ONE is 1.
INLINE void turn_guess(const cm_context *s, const int32_t *output, int32_t to[4])
{
    int64_t d[3], square = 0;
    for (int i = 0; i < 3; i++) {
        int64_t sum = 0;
        for (int k = 0; k < CM_TURN_TERMS; k++) {
            sum += (int64_t)output[k] * s->turn[k][i];
        }
        d[i] = sum / 4096;
        d[i] = d[i] > 11000 ? 11000 : d[i] < -11000 ? -11000 : d[i];
        square += d[i] * d[i];
    }
    const int64_t one = (int64_t)CM_TURN_ONE * CM_TURN_ONE, most = one - one / 50;
    if (square > most) { // as far as most, about
        int64_t share = most * 1024 / square;
        share = (share + 1024) / 2 < share ? (share + 1024) / 2 : share;
        for (int i = 0; i < 3; i++) {
            d[i] = d[i] * share / 1024;
        }
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
    int64_t w = cm_context_root((int32_t)(square < one ? one - square : 0));
    const int32_t *q = s->q;
    to[0] = (int32_t)((w * q[0] + d[0] * q[3] + d[1] * q[2] - d[2] * q[1]) / CM_TURN_ONE);
    to[1] = (int32_t)((w * q[1] - d[0] * q[2] + d[1] * q[3] + d[2] * q[0]) / CM_TURN_ONE);
    to[2] = (int32_t)((w * q[2] + d[0] * q[1] - d[1] * q[0] + d[2] * q[3]) / CM_TURN_ONE);
    to[3] = (int32_t)((w * q[3] - d[0] * q[0] - d[1] * q[1] - d[2] * q[2]) / CM_TURN_ONE);
}

// Components by size: the largest is guessed to be left out again.
static uint32_t code_largest(cm_pass_verb verb, pass *p, const int32_t q[4], uint32_t before,
                             uint32_t largest)
{
    uint32_t order[4] = {0, 1, 2, 3};
    int32_t size[4];
    for (int i = 0; i < 4; i++) {
        size[i] = q[i] < 0 ? -q[i] : q[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3 - i; j++) {
            if (size[order[j]] < size[order[j + 1]]) {
                uint32_t swap = order[j];
                order[j] = order[j + 1];
                order[j + 1] = swap;
            }
        }
    }
    int32_t clear = (size[order[0]] - size[order[1]]) / 16;
    uint32_t place = clear < 2     ? 0u
                     : clear < 6   ? 1u
                     : clear < 12  ? 2u
                     : clear < 24  ? 3u
                     : clear < 48  ? 4u
                     : clear < 96  ? 5u
                     : clear < 192 ? 6u
                                   : 7u;
    place += before == order[0] ? 8u : 0u;
    uint32_t symbol = 0;
    while (symbol < 3 && order[symbol] != largest) {
        symbol++;
    }
    symbol = code_symbol(verb, p, p->model->tables.largest[place], 4, symbol);
    return order[symbol];
}

static void code_turn(cm_pass_verb verb, pass *p, const cm_context *s, const int32_t *output,
                      const cm_cube *base, cm_cube *cube)
{
    int32_t q[4], guess[3], value[3], from[3] = {0, 0, 0};
    const int32_t log[3] = {output[8], output[8], output[8]};
    turn_guess(s, output, q);
    uint32_t largest =
        code_largest(verb, p, q, (uint32_t)base->largest & 3u, (uint32_t)cube->largest & 3u);
    cube->largest = (int16_t)largest;
    for (int i = 0, k = 0; i < 4; i++) {
        if (i != (int)largest) {
            int32_t c = q[largest] < 0 ? -q[i] : q[i];
            from[k] = base->largest == (int)largest ? base->turn[k] : 0;
            guess[k] = (c + CM_CUBE_TURN * 16) / 2 - 16 * from[k];
            value[k] = cube->turn[k] - from[k];
            k++;
        }
    }
    code_three(verb, p, 1, log, guess, value);
    for (int k = 0; k < 3; k++) {
        int32_t code = value[k] + from[k];
        p->bad |= code < 0 || code > CM_CUBE_TURN;
        cube->turn[k] = (int16_t)(code & CM_CUBE_TURN);
    }
}

INLINE uint32_t player_distance(const pass *p, const cm_cube *at)
{
    int32_t x = p->lead.at[0] - at->at[0], y = p->lead.at[1] - at->at[1];
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    int32_t far = x > y ? x : y;
    return (uint32_t)((far >= 450) + (far >= 600) + (far >= 750) + (far >= 1000) + (far >= 1400) +
                      (far >= 2200) + (far >= 4000));
}

INLINE void warm(pass *p, const cm_cube *cube, const int32_t moved[3])
{
    int32_t speed = (moved[0] < 0 ? -moved[0] : moved[0]) + (moved[1] < 0 ? -moved[1] : moved[1]);
    uint8_t heat = speed < 8 ? 1 : speed < 64 ? 2 : HEAT_MAX;
    int32_t x = ((cube->at[0] + 16384 - 128) >> CELL_BITS) & (CELLS - 1);
    int32_t y = ((cube->at[1] + 16384 - 128) >> CELL_BITS) & (CELLS - 1);
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            uint8_t *cell = &p->heat[((y + j) & (CELLS - 1)) * CELLS + ((x + i) & (CELLS - 1))];
            *cell = heat > *cell ? heat : *cell;
        }
    }
}

INLINE void check_place(pass *p, const int32_t at[3], cm_cube *cube)
{
    p->bad |= at[0] < -CM_CUBE_SIDE || at[0] > CM_CUBE_SIDE || at[1] < -CM_CUBE_SIDE ||
              at[1] > CM_CUBE_SIDE || at[2] < 0 || at[2] > CM_CUBE_HEIGHT;
    for (int i = 0; i < 3; i++) {
        cube->at[i] = p->bad ? 0 : (int16_t)at[i];
    }
}

// Codes one cube. Bits of `changed`: 0 its place, 1 its turn, 2 touched.
static void code_cube(cm_pass_verb verb, pass *p, uint32_t i, const cm_lead *lead, bool still,
                      uint32_t changed)
{
    const cm_cube *base = &p->past->base[i];
    cm_cube *cube = &p->cubes[i];
    const cm_codec_tables *t = &p->model->tables;
    int32_t output[CM_NET_OUTPUTS], moved[3], guess[3], wrong[3];
    cm_context s;
    cm_context_make(p->past, lead, i, &s);
    cm_net_run(&p->model->place, s.input, output);
    if (!still) {
        changed = (changed & ~1u) |
                  code_flag(verb, p, &t->moved[logit_of(output[18], false)], changed & 1u);
    }
    int32_t at[3];
    for (int k = 0; k < 3; k++) {
        moved[k] = (changed & 1u) != 0 ? cube->at[k] - base->at[k] : 0;
    }
    cm_context_guess(&s, output, guess);
    if ((changed & 1u) != 0) {
        const int32_t log[3] = {output[16], output[16], output[17]};
        code_three(verb, p, 0, log, guess, moved);
    }
    for (int k = 0; k < 3; k++) {
        at[k] = base->at[k] + moved[k];
        wrong[k] = (moved[k] * 16 - guess[k] + 8) >> 4;
    }
    check_place(p, at, cube);
    cm_context_moved(&s, moved, wrong, output[16] / 64);
    cm_net_run(&p->model->turn, s.input, output);
    if (!still) {
        uint32_t turned = code_flag(verb, p, &t->turned[changed & 1u][logit_of(output[9], false)],
                                    changed >> 1 & 1u);
        changed = (changed & ~2u) | turned << 1;
        uint32_t flip = code_flag(
            verb, p, &t->touched[base->touched][(changed & 3u) != 0][player_distance(p, base)],
            changed >> 2);
        changed = (changed & 3u) | flip << 2;
    }
    if ((changed & 2u) != 0) {
        code_turn(verb, p, &s, output, base, cube);
    } else {
        memcpy(cube, base, 8);
    }
    cube->touched = (int16_t)(base->touched ^ (int16_t)(changed >> 2));
    if ((changed & 1u) != 0) {
        warm(p, cube, moved);
    }
}

INLINE uint32_t difference(const cm_cube *a, const cm_cube *b)
{
    return (memcmp(a->at, b->at, sizeof a->at) != 0 ? 1u : 0u) | (memcmp(a, b, 8) != 0 ? 2u : 0u) |
           (a->touched != b->touched ? 4u : 0u);
}

INLINE void code_still(cm_pass_verb verb, pass *p, uint32_t i)
{
    const cm_cube *base = &p->past->base[i];
    const cm_codec_tables *t = &p->model->tables;
    uint32_t changed = verb == CM_PASS_READ ? 0 : difference(&p->cubes[i], base);
    int32_t x = ((base->at[0] + 16384) >> CELL_BITS) & (CELLS - 1);
    int32_t y = ((base->at[1] + 16384) >> CELL_BITS) & (CELLS - 1);
    uint32_t heat = p->heat[y * CELLS + x];
    uint32_t place = (player_distance(p, base) * 4 + heat) * 2 + (uint32_t)base->touched;
    if (code_flag(verb, p, &t->wake[place], changed != 0) == 0) {
        p->cubes[i] = *base;
        return;
    }
    uint32_t class = (uint32_t)base->touched * 6 + (heat > 0 ? 3 : 0);
    uint32_t near = player_distance(p, base);
    class += near < 3 ? 0 : near < 5 ? 1 : 2;
    changed = code_symbol(verb, p, t->woken[class], 8, changed);
    p->bad |= changed == 0;
    code_cube(verb, p, i, &p->lead, true, changed);
}

INLINE bool run(cm_pass_verb verb, pass *p)
{
    uint16_t waiting[CM_CODEC_CUBES];
    uint32_t count = 0;
    const cm_cube *player = &p->past->base[0];
    cm_lead alone = {{player->at[0], player->at[1], player->at[2]}, {0, 0, 0}};
    uint32_t changed = verb == CM_PASS_READ ? 0 : difference(&p->cubes[0], player);
    code_cube(verb, p, 0, &alone, false, changed);
    for (int k = 0; k < 3; k++) {
        p->lead.at[k] = p->cubes[0].at[k];
        p->lead.moved[k] = p->cubes[0].at[k] - player->at[k];
    }
    for (uint32_t i = 1; i < CM_CODEC_CUBES; i++) {
        if (cm_context_still(p->past, i)) {
            waiting[count++] = (uint16_t)i;
        } else {
            changed = verb == CM_PASS_READ ? 0 : difference(&p->cubes[i], &p->past->base[i]);
            code_cube(verb, p, i, &p->lead, false, changed);
        }
    }
    for (uint32_t i = 0; i < count && !p->bad; i++) {
        code_still(verb, p, waiting[i]);
    }
    return !p->bad;
}

bool cm_pass_run(cm_pass_verb verb, const cm_codec_model *model, const cm_past *past,
                 cm_range *range, cm_cube *cubes)
{
    pass p = {.model = model, .past = past, .range = range, .cubes = cubes};
    switch (verb) {
    case CM_PASS_WRITE:
        return run(CM_PASS_WRITE, &p);
    case CM_PASS_READ:
        return run(CM_PASS_READ, &p);
    default:
        return run(CM_PASS_COUNT, &p);
    }
}
