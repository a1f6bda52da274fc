// The recorded form of a tick: what goes in comes out, in few bytes, and hostile bytes are refused.
//
// Method: ticks drawn from a seed (events of every kind and size, inputs of every width) are
// encoded and decoded; mutations of them must be refused or decode to something within the limits.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/record.h"
#include "shared/base/rng.h"

typedef struct drawn {
    cm_game_event events[32];
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    uint8_t payload[CAROM_MESSAGE_MAX];
    cm_tick_input tick;
} drawn;

static void draw(cm_rng *rng, uint32_t input_size, drawn *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof out->payload; i++) {
        out->payload[i] = (uint8_t)cm_rng_below(rng, 256);
    }
    uint32_t events = cm_rng_below(rng, 3) == 0 ? cm_rng_below(rng, 33) : 0;
    for (uint32_t i = 0; i < events; i++) {
        cm_game_event *event = &out->events[i];
        event->type = 1 + cm_rng_below(rng, 3);
        event->player = cm_rng_below(rng, CAROM_PLAYERS_MAX);
        if (event->type == CM_EVENT_JOIN) {
            event->client_id = cm_rng_next(rng);
            event->size = cm_rng_below(rng, CAROM_USER_DATA_MAX + 1);
        } else if (event->type == CM_EVENT_MESSAGE) {
            event->size = cm_rng_below(rng, CAROM_MESSAGE_MAX + 1);
        }
        event->bytes = event->size > 0 ? out->payload : NULL;
    }
    uint32_t count = 0, odds = 1 + cm_rng_below(rng, 20);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_rng_below(rng, odds) == 0) {
            out->inputs[count].player = player;
            uint32_t width = cm_rng_below(rng, input_size + 1); // zeros at the end
            for (uint32_t i = 0; i < width; i++) {
                out->inputs[count].bytes[i] = (uint8_t)cm_rng_below(rng, 256);
            }
            count++;
        }
    }
    out->tick = (cm_tick_input){out->events, events, out->inputs, count};
}

static uint32_t draw_arrivals(cm_rng *rng, cm_arrival arrivals[CAROM_PLAYERS_MAX])
{
    uint32_t count = 0, odds = 1 + cm_rng_below(rng, 20);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_rng_below(rng, odds) == 0) {
            arrivals[count++] =
                (cm_arrival){(uint8_t)player, cm_rng_below(rng, 4) == 0, (int16_t)cm_rng_next(rng)};
        }
    }
    return count;
}

static void assert_same(const cm_recorded_tick *a, const cm_record_inputs *b)
{
    cr_assert_eq(a->tick, b->tick);
    cr_assert_eq(a->input.input_count, b->input_count);
    for (uint32_t i = 0; i < b->input_count; i++) {
        cr_assert_eq(a->input.inputs[i].player, b->inputs[i].player);
        cr_assert_arr_eq(a->input.inputs[i].bytes, b->inputs[i].bytes, CAROM_INPUT_MAX);
    }
    cr_assert_eq(a->arrival_count, b->arrival_count);
    for (uint32_t i = 0; i < b->arrival_count; i++) {
        cr_assert_eq(a->arrivals[i].player, b->arrivals[i].player);
        cr_assert_eq(a->arrivals[i].rewound, b->arrivals[i].rewound);
        cr_assert_eq(a->arrivals[i].lead, b->arrivals[i].lead);
    }
}

// Ticks drawn from a seed, with what they hold.
typedef struct drawn_tick {
    drawn in;
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
    cm_recorded_tick tick;
} drawn_tick;

static void draw_tick(cm_rng *rng, uint64_t number, drawn_tick *out)
{
    draw(rng, cm_rng_below(rng, CAROM_INPUT_MAX + 1), &out->in);
    out->tick = (cm_recorded_tick){.tick = number, .input = out->in.tick};
    out->tick.arrivals = out->arrivals;
    out->tick.arrival_count = draw_arrivals(rng, out->arrivals);
}

Test(record, what_goes_in_comes_out)
{
    cm_rng rng;
    cm_rng_seed(&rng, 4711);
    drawn_tick *in = malloc(sizeof *in);
    cm_confirmed_row *row = malloc(sizeof *row);
    cm_record_inputs *out = malloc(sizeof *out);
    uint32_t empty = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        draw_tick(&rng, i, in);
        cr_assert(cm_confirmed_fits(&in->tick));
        cm_confirmed_row_write(&in->tick, row);
        if (row->changed_size == 0 && row->arrived_size == 0) {
            empty++;
            continue;
        }
        const char *wrong = cm_confirmed_row_read(row->changed, row->changed_size, row->arrived,
                                                  row->arrived_size, out);
        cr_assert_null(wrong, "%s", wrong);
        out->tick = row->tick;
        assert_same(&in->tick, out);
    }
    cr_assert_gt(empty, 0); // else the case was not met
    free(in);
    free(row);
    free(out);
}

static void assert_same_events(const cm_tick_input *a, const cm_tick_input *b)
{
    cr_assert_eq(a->event_count, b->event_count);
    for (uint32_t i = 0; i < a->event_count; i++) {
        cr_assert_eq(a->events[i].type, b->events[i].type);
        cr_assert_eq(a->events[i].player, b->events[i].player);
        cr_assert_eq(a->events[i].client_id, b->events[i].client_id);
        cr_assert_eq(a->events[i].size, b->events[i].size);
        cr_assert(a->events[i].size == 0 ||
                  memcmp(a->events[i].bytes, b->events[i].bytes, a->events[i].size) == 0);
    }
}

// A stream of whole ticks, read one after the other; cut anywhere it is refused.
Test(record, whole_ticks_follow_each_other)
{
    enum { COUNT = 300, MOST = 1 << 20 };
    cm_rng rng;
    cm_rng_seed(&rng, 4713);
    drawn_tick *in = malloc(COUNT * sizeof *in);
    uint8_t *stream = malloc(COUNT * (size_t)MOST / 8);
    cm_confirmed_read_tick *out = malloc(sizeof *out);
    size_t size = 0, used = 0, at = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        draw_tick(&rng, i, &in[i]);
        in[i].tick.hash = cm_rng_next(&rng);
        in[i].tick.resumed = i % 7 == 0;
        in[i].tick.follows = i % 5 != 0;
        in[i].tick.tick = 1000 + i;
        size_t wants = cm_confirmed_size(&in[i].tick);
        cr_assert_leq(wants, MOST / 8);
        cr_assert_eq(cm_confirmed_write(&in[i].tick, stream + size, wants), wants);
        size += wants;
    }
    for (uint64_t i = 0; i < COUNT; i++, at += used) {
        const char *wrong = cm_confirmed_read(stream + at, size - at, out, &used);
        cr_assert_null(wrong, "%s", wrong);
        cr_assert_eq(out->tick.hash, in[i].tick.hash);
        cr_assert_eq(out->tick.tick, in[i].tick.tick);
        cr_assert_eq(out->tick.resumed, in[i].tick.resumed);
        assert_same(&in[i].tick, &out->inputs);
        assert_same_events(&in[i].tick.input, &out->tick.input);
        if (i < 20) { // from a copy of its very size, so that no reader sees the rest
            for (size_t cut = 0; cut < used; cut += 1 + cut / 64) {
                uint8_t *part = malloc(cut > 0 ? cut : 1);
                memcpy(part, stream + at, cut);
                size_t none;
                cm_confirmed_read_tick *less = calloc(1, sizeof *less);
                cr_assert_not_null(cm_confirmed_read(part, cut, less, &none));
                free(less);
                free(part);
            }
        }
    }
    cr_assert_eq(at, size);
    free(in);
    free(stream);
    free(out);
}

// Changed bytes: refused, or a tick within the limits, which is written again.
Test(record, hostile_ticks_take_no_harm)
{
    cm_rng rng;
    cm_rng_seed(&rng, 4714);
    drawn_tick *in = malloc(sizeof *in);
    cm_confirmed_read_tick *out = malloc(sizeof *out);
    uint32_t refused = 0, taken = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        draw_tick(&rng, i, in);
        size_t size = cm_confirmed_size(&in->tick), used;
        uint8_t *bytes = malloc(size), *again = malloc(2 * size + 8192);
        cm_confirmed_write(&in->tick, bytes, size);
        for (uint32_t flips = 1 + cm_rng_below(&rng, 3); flips > 0; flips--) {
            size_t most = cm_rng_below(&rng, 2) == 0 && size > 60 ? 60 : size;
            bytes[cm_rng_next(&rng) % most] = (uint8_t)cm_rng_next(&rng);
        }
        if (cm_confirmed_read(bytes, size, out, &used) != NULL) {
            refused++;
        } else {
            taken++;
            cr_assert_leq(used, size);
            cr_assert(cm_confirmed_fits(&out->tick));
            size_t wants = cm_confirmed_size(&out->tick);
            cr_assert_leq(wants, used); // spelt in the shortest way
            cm_confirmed_write(&out->tick, again, wants);
        }
        free(bytes);
        free(again);
    }
    cr_assert_gt(refused, 500u);
    cr_assert_gt(taken, 500u);
    free(in);
    free(out);
}

Test(record, a_pack_holds_its_rows)
{
    cm_rng rng;
    cm_rng_seed(&rng, 4712);
    enum { ROWS = 40 };
    drawn_tick *in = malloc(ROWS * sizeof *in);
    cm_record_pack *pack = cm_record_pack_create(), *again = cm_record_pack_create();
    for (int round = 0; round < 60; round++) {
        uint32_t count = 0;
        uint64_t tick = cm_rng_next(&rng) >> 20;
        cm_record_pack_clear(pack);
        while (count < 1 + (uint32_t)round % ROWS) {
            tick += 1 + cm_rng_below(&rng, round % 3 == 0 ? 100000 : 2);
            draw_tick(&rng, tick, &in[count]);
            if (in[count].tick.input.input_count + in[count].tick.arrival_count > 0) {
                cr_assert(cm_record_pack_add(pack, &in[count++].tick));
            }
        }
        size_t size;
        uint8_t *bytes = cm_record_pack_encode(pack, &size);
        const char *wrong = cm_record_pack_decode(again, bytes, size);
        cr_assert_null(wrong, "%s", wrong);
        cr_assert_eq(cm_record_pack_count(again), count);
        for (uint32_t i = 0; i < count; i++) {
            assert_same(&in[i].tick, cm_record_pack_row(again, i));
        }
        free(bytes);
    }
    cm_record_pack_free(pack);
    cm_record_pack_free(again);
    free(in);
}

// Sticks that move a little each tick, as hands do: 8 players, every one in every tick.
Test(record, inputs_of_8_players_fit_in_100_bytes)
{
    enum { TICKS = 600, PLAYERS = 8 };
    cm_rng rng;
    cm_rng_seed(&rng, 8);
    float stick[PLAYERS][2] = {{0}};
    cm_record_pack *pack = cm_record_pack_create();
    for (uint64_t tick = 1; tick <= TICKS; tick++) {
        carom_player_input inputs[PLAYERS];
        memset(inputs, 0, sizeof inputs);
        for (uint32_t i = 0; i < PLAYERS; i++) {
            inputs[i].player = i;
            for (int axis = 0; axis < 2; axis++) {
                stick[i][axis] = 0.95f * stick[i][axis] + cm_rng_range(&rng, -0.05f, 0.05f);
                memcpy(inputs[i].bytes + 4 * axis, &stick[i][axis], 4);
            }
            inputs[i].bytes[8] = cm_rng_below(&rng, 30) == 0;
        }
        cm_recorded_tick in = {.tick = tick, .input = {NULL, 0, inputs, PLAYERS}};
        cr_assert(cm_record_pack_add(pack, &in));
    }
    size_t size;
    free(cm_record_pack_encode(pack, &size));
    cr_assert_lt(size / TICKS, 72, "%zu bytes a tick", size / TICKS); // what they have raw
    cm_record_pack_free(pack);
}

Test(record, limits_of_the_writer)
{
    cm_game_event event = {CM_EVENT_LEAVE, 0, 0, NULL, 0};
    carom_player_input inputs[2] = {{.player = 3}, {.player = 3}};
    cm_arrival arrivals[2] = {{5, false, 0}, {4, false, 0}};
    cm_recorded_tick tick = {.input = {&event, 1, inputs, 1}, .arrivals = arrivals};
    cr_assert(cm_confirmed_fits(&tick));
    tick.input.input_count = 2; // not ascending
    cr_assert_not(cm_confirmed_fits(&tick));
    inputs[1].player = CAROM_PLAYERS_MAX;
    cr_assert_not(cm_confirmed_fits(&tick));
    tick.input.input_count = 1;
    tick.arrival_count = 2;
    cr_assert_not(cm_confirmed_fits(&tick));
    tick.arrival_count = 1;
    cr_assert(cm_confirmed_fits(&tick));
    event.type = 5;
    cr_assert_not(cm_confirmed_fits(&tick));
    event.type = CM_EVENT_LEAVE;
    event.size = sizeof CM_LEAVE_REFUSED; // more than it may say
    cr_assert_not(cm_confirmed_fits(&tick));
    event = (cm_game_event){CM_EVENT_MESSAGE, 0, 0, NULL, CAROM_MESSAGE_MAX + 1};
    cr_assert_not(cm_confirmed_fits(&tick));
    event = (cm_game_event){CM_EVENT_JOIN, CAROM_PLAYERS_MAX, 0, NULL, 0};
    cr_assert_not(cm_confirmed_fits(&tick));
    event.player = 0;
    cr_assert(cm_confirmed_fits(&tick));
    tick.input.event_count = CM_CONFIRMED_EVENTS_MAX + 1;
    cr_assert_not(cm_confirmed_fits(&tick));
}

Test(record, wrong_rows_are_refused_with_a_reason)
{
    static const struct {
        size_t changed, arrived;
        uint8_t bytes[20];
        const char *names;
    } cases[] = {
        {0, 0, {0}, "neither"},
        {7, 0, {1}, "divide"},
        {9, 0, {0}, "divide"},
        {11, 0, {3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3}, "divide"},
        {0, 16, {1}, "16 bytes"},
        {0, 18, {0}, "16 bytes"},
        {0, 18, {1, 0, 0, 0, 0, 0, 0, 0, 2}, "16 bytes"}, // rewound, and never came
    };
    cm_record_inputs out;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wrong = cm_confirmed_row_read(cases[i].bytes, cases[i].changed, cases[i].bytes,
                                                  cases[i].arrived, &out);
        cr_assert_not_null(wrong, "case %zu", i);
        cr_assert_not_null(strstr(wrong, cases[i].names), "case %zu: %s", i, wrong);
    }
    uint8_t wide[8 + 65] = {1};
    cr_assert_not_null(cm_confirmed_row_read(wide, sizeof wide, NULL, 0, &out));
}

// Bytes of packs, changed before and after zstd: refused, or rows within the limits.
Test(record, hostile_packs_take_no_harm)
{
    cm_rng rng;
    cm_rng_seed(&rng, 99);
    drawn_tick *in = malloc(sizeof *in);
    cm_record_pack *pack = cm_record_pack_create(), *out = cm_record_pack_create();
    for (uint64_t tick = 1; cm_record_pack_count(pack) < 20; tick++) {
        draw_tick(&rng, tick, in);
        if (in->tick.input.input_count + in->tick.arrival_count > 0) {
            cr_assert(cm_record_pack_add(pack, &in->tick));
        }
    }
    size_t size, plain_size;
    uint8_t *packed = cm_record_pack_encode(pack, &size);
    uint8_t *plain = cm_record_expand(packed, size, NULL, 0, CM_RECORD_PACK_MAX, &plain_size);
    uint8_t *bad = malloc(plain_size);
    uint32_t refused = 0, taken = 0;
    for (int i = 0; i < 4000; i++) {
        memcpy(bad, plain, plain_size);
        for (uint32_t flips = 1 + cm_rng_below(&rng, 4); flips > 0; flips--) {
            size_t at = cm_rng_next(&rng) % (cm_rng_below(&rng, 2) == 0 ? 64 : plain_size);
            bad[at] ^= (uint8_t)(1u << cm_rng_below(&rng, 8));
        }
        size_t cut = cm_rng_below(&rng, 8) == 0 ? cm_rng_next(&rng) % plain_size : plain_size;
        size_t bad_size;
        uint8_t *bytes = cm_record_compress(bad, cut, NULL, 0, &bad_size);
        const char *wrong = cm_record_pack_decode(out, bytes, bad_size);
        refused += wrong != NULL;
        taken += wrong == NULL;
        cr_assert(wrong == NULL || cm_record_pack_count(out) == 0);
        for (uint32_t row = 0; row < cm_record_pack_count(out); row++) {
            const cm_record_inputs *got = cm_record_pack_row(out, row);
            cr_assert_leq(got->input_count, CAROM_PLAYERS_MAX);
            cr_assert_leq(got->arrival_count, CAROM_PLAYERS_MAX);
        }
        free(bytes);
    }
    cr_assert_gt(refused, 400);
    cr_assert_gt(taken, 100);
    free(bad);
    free(plain);
    free(packed);
    free(in);
    cm_record_pack_free(pack);
    cm_record_pack_free(out);
}

Test(record, blobs_pack_and_damaged_ones_are_refused)
{
    uint8_t bytes[5000], base[5000];
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    for (size_t i = 0; i < sizeof bytes; i++) {
        base[i] = (uint8_t)cm_rng_below(&rng, 256);
        bytes[i] = i % 100 == 0 ? (uint8_t)i : base[i];
    }
    size_t size, packed_size;
    uint8_t *packed = cm_record_compress(bytes, sizeof bytes, base, sizeof base, &packed_size);
    cr_assert_not_null(packed);
    cr_assert_lt(packed_size, 1000); // noise, but the base has nearly all of it
    uint8_t *same = cm_record_expand(packed, packed_size, base, sizeof base, sizeof bytes, &size);
    cr_assert_not_null(same);
    cr_assert_eq(size, sizeof bytes);
    cr_assert_arr_eq(same, bytes, sizeof bytes);
    free(same);
    cr_assert_null(
        cm_record_expand(packed, packed_size, base, sizeof base, sizeof bytes - 1, &size));
    cr_assert_null(
        cm_record_expand(packed, packed_size - 1, base, sizeof base, sizeof bytes, &size));
    cr_assert_null(cm_record_expand(packed, packed_size, NULL, 0, sizeof bytes, &size));
    cr_assert_null(cm_record_expand("", 0, NULL, 0, 100, &size));
    free(packed);
}
