// Draws a plan. Players come and go at slots at both ends of the range; on average a handful play.
#include "server/tools/module/plan.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"

typedef struct maker {
    const carom_game *game;
    cm_plan *plan;
    cm_rng rng;
    uint64_t present; // by slots
} maker;

static uint32_t draw(maker *m, uint32_t count)
{
    return (uint32_t)(cm_rng_next(&m->rng) % count);
}

static void fill_random(maker *m, uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)cm_rng_next(&m->rng);
    }
}

// Low slots mostly, the last one often.
static uint32_t draw_player(maker *m)
{
    static const uint32_t slots[] = {0, 1, 2, 3, 4, 5, 31, 63};
    return slots[draw(m, sizeof slots / sizeof slots[0])];
}

static uint32_t draw_size(maker *m, uint32_t most)
{
    switch (draw(m, 4)) {
    case 0:
        return 0;
    case 1:
        return most;
    case 2:
        return 1 + draw(m, 8);
    default:
        return draw(m, most + 1);
    }
}

static void add_event(maker *m, cm_plan_tick *tick, uint32_t type, uint32_t player, uint32_t size)
{
    cm_game_event *event = &tick->events[tick->event_count];
    uint8_t *bytes = tick->bytes[tick->event_count++];
    fill_random(m, bytes, size);
    *event = (cm_game_event){.type = type,
                             .player = player,
                             .client_id = type == CM_EVENT_JOIN ? cm_rng_next(&m->rng) : 0,
                             .bytes = bytes,
                             .size = size};
}

// The slot is a bot's, where the module has one.
static bool is_played(const carom_game *game, uint32_t player)
{
    return player % 2 == 0 && cm_game_module(game)->bot != NULL;
}

static void draw_event(maker *m, cm_plan_tick *tick)
{
    uint32_t player = draw_player(m);
    if ((m->present >> player & 1u) == 0) {
        add_event(m, tick, CM_EVENT_JOIN, player, draw_size(m, CAROM_USER_DATA_MAX));
        m->present |= UINT64_C(1) << player;
        m->plan->joins++;
    } else if (draw(m, is_played(m->game, player) ? 60 : 3) == 0) {
        add_event(m, tick, CM_EVENT_LEAVE, player, 0);
        m->present &= ~(UINT64_C(1) << player);
        m->plan->leaves++;
    } else {
        add_event(m, tick, CM_EVENT_MESSAGE, player, draw_size(m, CAROM_MESSAGE_MAX));
        m->plan->messages++;
    }
}

// Words that are the ends of something: of bytes, of binary32, of what a quaternion may be.
static void fill_ends(maker *m, uint8_t *bytes, uint32_t size)
{
    static const uint32_t words[] = {0,          0x3f800000, 0xbf800000, 0x7fc00000, 0x7f800000,
                                     0xff800000, 0x00000001, 0x7f7fffff, 0xffffffff, 0x80000000,
                                     0x3f000000, 0x01010101, 0x7f7f7f7f, 0x00000003};
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t word = words[draw(m, sizeof words / sizeof words[0])];
        for (uint32_t k = 0; k < 4 && i + k < size; k++) {
            bytes[i + k] = (uint8_t)(word >> 8 * k);
        }
    }
}

static void draw_input(maker *m, cm_plan_tick *tick)
{
    uint32_t player = draw_player(m), size = cm_game_input_size(m->game);
    uint8_t bytes[CAROM_INPUT_MAX] = {0};
    cm_pointer_reason reason;
    if ((m->present >> player & 1u) == 0 || size == 0) {
        return;
    }
    switch (draw(m, 3)) {
    case 0:
        fill_random(m, bytes, size);
        break;
    case 1:
        fill_ends(m, bytes, size);
        break;
    default:
        bytes[draw(m, size)] = (uint8_t)cm_rng_next(&m->rng);
        break;
    }
    if (cm_game_check_input(m->game, bytes, &reason) != CM_INPUT_GOOD) {
        m->plan->refused_inputs++;
        return;
    }
    // Ascending slots, each once.
    uint32_t at = 0;
    while (at < tick->input_count && tick->inputs[at].player < player) {
        at++;
    }
    if (at < tick->input_count && tick->inputs[at].player == player) {
        return;
    }
    memmove(&tick->inputs[at + 1], &tick->inputs[at],
            (tick->input_count - at) * sizeof tick->inputs[0]);
    tick->inputs[at].player = player;
    memcpy(tick->inputs[at].bytes, bytes, sizeof bytes);
    tick->input_count++;
    m->plan->inputs++;
}

bool cm_plan_make(const carom_game *game, uint64_t seed, uint32_t ticks, cm_plan *plan)
{
    maker m = {.game = game, .plan = plan};
    memset(plan, 0, sizeof *plan);
    plan->ticks = calloc(ticks > 0 ? ticks : 1, sizeof *plan->ticks);
    if (plan->ticks == NULL) {
        return false;
    }
    plan->count = ticks;
    cm_rng_seed(&m.rng, seed);
    for (uint32_t i = 0; i < ticks; i++) {
        uint32_t events = i == 0 ? CM_PLAN_EVENTS_MAX : draw(&m, 8) == 0 ? 1 + draw(&m, 3) : 0;
        for (uint32_t n = 0; n < events; n++) {
            draw_event(&m, &plan->ticks[i]);
        }
        for (uint32_t n = draw(&m, CM_PLAN_INPUTS_MAX + 1); n > 0; n--) {
            draw_input(&m, &plan->ticks[i]);
        }
        if (i + 1 == ticks) {
            plan->ticks[i].events[plan->ticks[i].event_count++] =
                (cm_game_event){.type = CM_EVENT_END};
        }
    }
    return true;
}

// False: random inputs play the slot, as where the bot gives one that is refused.
static bool play_bot(const carom_game *game, uint32_t player, uint32_t tick, uint8_t *bytes)
{
    cm_rng rng;
    cm_pointer_reason reason;
    cm_rng_seed(&rng, (uint64_t)tick << 8 | player);
    return is_played(game, player) && cm_game_bot(game, player, cm_rng_next(&rng), bytes) &&
           cm_game_check_input(game, bytes, &reason) == CM_INPUT_GOOD;
}

cm_tick_input cm_plan_input(const cm_plan *plan, uint32_t tick, const carom_game *game,
                            carom_player_input *inputs)
{
    const cm_plan_tick *t = &plan->ticks[tick];
    uint32_t count = 0, at = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        bool drawn = at < t->input_count && t->inputs[at].player == player;
        carom_player_input *input = &inputs[count];
        input->player = player;
        if (play_bot(game, player, tick, input->bytes)) {
            count++;
        } else if (drawn) {
            inputs[count++] = t->inputs[at];
        }
        at += drawn;
    }
    cm_tick_input input = {t->events, t->event_count, inputs, count};
    return input;
}
