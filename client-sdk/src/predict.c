// The predictor's game: stepping it, keeping each tick's state, showing poses.
//
// Typical: 12 to 18 ticks ahead of the newest view at 200 ms of round trip.
#include "client-sdk/src/catchup.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/wire/input_relay.h"
#include "shared/base/vec.h"

#define BEYOND_S     0.1f // past the newest predicted state
#define SLOW_S       0.06 // between two updates
#define WORK_SHARE   0.3  // of the time between two updates: then steps are what makes it long
#define GROW_S       0.3  // from nothing to the full budget
#define RATE_MIN     0.25 // steps a tick
#define FEW          8.0  // steps above the age of a view
#define STEPS_MIN    16.0
#define OFFSET_SMALL 1.0e-4f

void cm_input_log_set(cm_input_log *log, uint64_t first, uint64_t last, const uint8_t *bytes,
                      uint32_t size)
{
    uint8_t input[CAROM_INPUT_MAX] = {0}, held[CAROM_INPUT_MAX];
    memcpy(input, bytes, size);
    if (log->newest == 0 || last >= log->newest + CM_INPUT_TICKS) {
        log->oldest = first;
        log->newest = first - 1;
    }
    memcpy(held, log->inputs[log->newest % CM_INPUT_TICKS], sizeof held);
    while (log->newest < last) {
        log->newest++;
        memcpy(log->inputs[log->newest % CM_INPUT_TICKS], log->newest < first ? held : input,
               sizeof input);
    }
    if (log->newest - log->oldest >= CM_INPUT_TICKS) {
        log->oldest = log->newest - CM_INPUT_TICKS + 1;
    }
}

const uint8_t *cm_input_log_get(const cm_input_log *log, uint64_t tick)
{
    if (log->newest == 0 || tick < log->oldest) {
        return NULL;
    }
    return log->inputs[(tick < log->newest ? tick : log->newest) % CM_INPUT_TICKS];
}

// A body of another generation than the slot was made by the prediction itself.
static bool predicts(const void *context, carom_body_id body)
{
    const cm_predictor *p = context;
    const cm_predict_slot *slot = &p->slots[body.index < p->mirror->slots ? body.index : 0];
    return body.index >= p->mirror->slots || slot->generation != body.generation ||
           (slot->simulated && !slot->blocked);
}

cm_predictor *cm_predictor_create(const carom_allocator *allocator, const cm_mirror *mirror,
                                  const cm_interp *interp, const cm_input_log *log)
{
    cm_predictor *p = cm_memory_take(allocator, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->allocator = allocator;
    p->mirror = mirror;
    p->interp = interp;
    p->log = log;
    p->budget_us = CM_PREDICT_BUDGET_US;
    p->cost_ns = CM_PREDICT_COST_NS;
    p->smoothing_s = CM_SMOOTHING_S;
    p->snap_m = CM_SNAP_M;
    uint32_t half_second = mirror->tick_rate / 2 + 1;
    p->ring = half_second < CM_PREDICT_TICKS_MIN ? CM_PREDICT_TICKS_MIN
              : half_second < CM_PREDICT_TICKS   ? half_second
                                                 : CM_PREDICT_TICKS;
    p->structure = mirror->structure;
    p->slots = cm_memory_take(allocator, mirror->slots * sizeof *p->slots);
    size_t joints = mirror->joints > 0 ? mirror->joints : 1;
    p->drive_doubts = cm_memory_take(allocator, joints * sizeof *p->drive_doubts);
    p->near = cm_memory_take(allocator, mirror->slots * sizeof *p->near);
    if (p->slots == NULL || p->drive_doubts == NULL || p->near == NULL ||
        cm_game_create(mirror->scene, mirror->module, cm_game_seed(mirror->game), allocator,
                       &p->game) != CAROM_OK) {
        cm_predictor_destroy(p);
        return NULL;
    }
    cm_timeline_def def = {.game = p->game,
                           .allocator = allocator,
                           .images = p->ring,
                           .images_grow = true,
                           .past = p->ring + CM_RELAY_BACK_MAX,
                           .future = CM_RELAY_AHEAD_MAX};
    p->timeline = cm_timeline_create(&def);
    if (p->timeline == NULL) {
        cm_predictor_destroy(p);
        return NULL;
    }
    p->world = carom_game_world(p->game);
    cm_game_set_predicts(p->game, predicts, p);
    return p;
}

void cm_predictor_destroy(cm_predictor *p)
{
    if (p == NULL) {
        return;
    }
    const carom_allocator *allocator = p->allocator;
    cm_timeline_destroy(p->timeline);
    if (p->game != NULL) {
        cm_game_destroy(p->game);
    }
    cm_memory_give(allocator, p->drive_doubts);
    cm_memory_give(allocator, p->near);
    cm_memory_give(allocator, p->slots);
    cm_memory_give(allocator, p);
}

uint64_t cm_predictor_tick(const cm_predictor *p)
{
    return cm_timeline_tick(p->timeline);
}

cm_place cm_predictor_place(const carom_body_state *state)
{
    return (cm_place){state->position, state->orientation};
}

// Keeps the present pose of each simulated body, so that frames between two ticks can be shown.
static void keep_previous(cm_predictor *p)
{
    uint32_t slots = carom_world_body_slots(p->world);
    for (uint32_t i = 0; i < slots && i < p->mirror->slots; i++) {
        carom_body_state state;
        if (p->slots[i].simulated &&
            carom_body_get(p->world, carom_world_body_at(p->world, i), &state) == CAROM_OK) {
            p->slots[i].previous = cm_predictor_place(&state);
        }
    }
}

// The inputs of others that are not known for a tick, as the module guesses them, and poses by
// their velocities.
static void guess_inputs(cm_predictor *p, uint64_t tick)
{
    cm_inbox *inbox = cm_timeline_inbox(p->timeline);
    uint64_t others = cm_game_guesses(p->game) ? cm_game_players(p->game) : 0;
    for (others &= ~(UINT64_C(1) << p->mirror->player); others != 0; others &= others - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(others), age = 0;
        const uint8_t *known = cm_inbox_input(inbox, 0, player, tick);
        while (known == NULL && age < tick && age < CM_RELAY_BACK_MAX) {
            age++;
            known = cm_inbox_input(inbox, 0, player, tick - age);
        }
        if (known != NULL && age > 0) {
            cm_game_guess_input(p->game, player, known, age);
        } else if (known == NULL && !p->mirror->exact) {
            cm_game_forget_pose(p->game, player); // the views have it
        }
    }
}

void cm_predictor_step(cm_predictor *p, bool last)
{
    if (last) {
        keep_previous(p);
    }
    uint64_t tick = cm_predictor_tick(p) + 1;
    const uint8_t *own = cm_input_log_get(p->log, tick);
    if (own != NULL) {
        cm_inbox_put(cm_timeline_inbox(p->timeline), tick - 1, p->mirror->player, tick, own);
    }
    guess_inputs(p, tick);
    cm_timeline_step(p->timeline, NULL);
    uint32_t count;
    const carom_event *events = cm_game_events(p->game, &count);
    if (p->events != NULL) {
        cm_event_log_predicted(p->events, tick, events, count);
    }
    p->stats.steps++;
    p->credit -= 1.0;
    p->spent = true;
    // Without memory the tick cannot be compared later: that view starts anew.
    (void)cm_timeline_keep(p->timeline);
}

static const uint8_t *known_input(void *context, uint32_t player, uint64_t tick)
{
    const cm_predictor *p = context;
    return cm_inbox_input(cm_timeline_inbox(p->timeline), 0, player, tick);
}

static void take_input(void *context, uint32_t player, uint64_t tick, const uint8_t *bytes)
{
    cm_predictor *p = context;
    cm_pointer_reason reason;
    if (cm_game_check_input(p->game, bytes, &reason) != CM_INPUT_GOOD) {
        return; // the server takes none such: the module is not to see it
    }
    // One that is further back than the ring would take the place of a newer one.
    if (p->mirror->exact && tick <= carom_game_tick(p->mirror->game)) {
        return; // confirmed
    }
    if (player != p->mirror->player && tick + p->ring + CM_RELAY_BACK_MAX > cm_predictor_tick(p)) {
        cm_inbox_put(cm_timeline_inbox(p->timeline), cm_predictor_tick(p), player, tick, bytes);
    }
}

cm_packet_reason cm_predictor_relay(cm_predictor *p, const cm_view_header *header)
{
    if (header->tick < p->relayed) {
        return CM_PACKET_OK; // a newer view told all of it; of one tick several go
    }
    cm_packet_reason reason =
        cm_input_relay_read(header->relay, header->relay_size, header->tick,
                            cm_game_input_size(p->game), known_input, take_input, p);
    p->relayed = reason == CM_PACKET_OK ? header->tick : p->relayed;
    return reason;
}

void cm_predictor_note_shown(cm_predictor *p)
{
    carom_body_id own = cm_game_player_body(p->game, p->mirror->player);
    carom_body_state state;
    if (carom_body_get(p->world, own, &state) == CAROM_OK && own.index < p->mirror->slots) {
        uint64_t tick = cm_predictor_tick(p);
        cm_shown *shown = &p->shown[tick % p->ring];
        shown->tick = tick;
        shown->position = cm_add(state.position, p->slots[own.index].offset);
    }
}

void cm_predictor_refill(cm_predictor *p, double elapsed, double age)
{
    double rate = p->mirror->tick_rate;
    double reach = p->ring - 1.0; // of the states kept
    p->age = age;
    double most = age + FEW < reach ? age + FEW : reach;
    p->most = most < STEPS_MIN ? STEPS_MIN : most;
    double full = 2.0 * p->most;
    if (!p->ready) {
        p->rate = full;
    } else if (elapsed > SLOW_S * rate && p->work_s * rate > WORK_SHARE * elapsed) {
        p->rate = p->spent ? 0.5 * p->rate : p->rate;
        p->rate = p->rate < RATE_MIN ? RATE_MIN : p->rate;
    } else {
        p->rate += full * elapsed / (GROW_S * rate);
    }
    p->rate = p->rate < full ? p->rate : full;
    p->credit += p->rate * elapsed;
    if (p->credit > p->most || !p->ready) {
        p->credit = p->most;
    }
    p->spent = false;
    p->work_s = 0.0;
}

void cm_predictor_go_on(cm_predictor *p, uint64_t tick)
{
    uint64_t most = cm_catchup_most(p);
    for (uint64_t n = 0; n < most && cm_predictor_tick(p) < tick && p->credit >= 1.0; n++) {
        bool last = p->credit < 2.0 || n + 1 == most;
        cm_predictor_step(p, last || cm_predictor_tick(p) + 1 == tick);
        cm_predictor_note_shown(p);
    }
}

void cm_predictor_advance(cm_predictor *p, uint64_t tick)
{
    if (!p->ready || tick <= cm_predictor_tick(p)) {
        return;
    }
    if ((double)(tick - cm_predictor_tick(p)) > p->most) {
        p->rebuild = true; // a long pause: no work for ticks that were never shown
        return;
    }
    cm_predictor_go_on(p, tick);
    cm_catchup_step(p);
}

void cm_predictor_smooth(cm_predictor *p, double seconds)
{
    float part = (float)(seconds > 1.0 ? 1.0 : seconds);
    for (uint32_t i = 0; i < p->mirror->slots; i++) {
        cm_predict_slot *slot = &p->slots[i];
        if (!slot->smooth) {
            continue;
        }
        float keep = cm_smoothing_keep(slot->left_s, part);
        slot->left_s -= part;
        slot->offset = cm_scale(keep, slot->offset);
        slot->turn = cm_interp_turn(cm_quat_identity(), slot->turn, keep);
        if (cm_length(slot->offset) < OFFSET_SMALL && cm_abs(slot->turn.w) > 1.0f - 1.0e-7f) {
            slot->smooth = 0;
            slot->offset = cm_vec(0.0f, 0.0f, 0.0f);
            slot->turn = cm_quat_identity();
        }
    }
}

void cm_predictor_offset(const cm_predictor *p, carom_body_id body, carom_client_pose *pose)
{
    const cm_predict_slot *slot = &p->slots[body.index];
    if (slot->smooth && slot->generation == body.generation) {
        pose->position = cm_add(pose->position, slot->offset);
        pose->orientation = cm_quat_normalize(cm_quat_mul(slot->turn, pose->orientation));
    }
}

bool cm_predictor_state(const cm_predictor *p, carom_body_id body, carom_body_state *state)
{
    return p->ready && body.index < p->mirror->slots && p->slots[body.index].simulated &&
           carom_body_get(p->world, body, state) == CAROM_OK;
}

bool cm_predictor_pose(const cm_predictor *p, carom_body_id body, double tick,
                       carom_client_pose *pose)
{
    carom_body_state state;
    if (!cm_predictor_state(p, body, &state)) {
        return false;
    }
    const cm_predict_slot *slot = &p->slots[body.index];
    // The clock is past the newest state by up to a tick, or by more if the budget did not reach
    // that far; the shown poses trail the clock by one tick.
    float past = (float)(tick - (double)cm_predictor_tick(p)), rate = (float)p->mirror->tick_rate;
    float at = cm_clamp(past, 0.0f, 1.0f);
    float beyond = cm_clamp((past - 1.0f) / rate, 0.0f, BEYOND_S);
    carom_vec3 way = cm_sub(state.position, slot->previous.position);
    if (cm_interp_is_jump(slot->previous.position, state.position, cm_length(state.linear_velocity),
                          1.0f / rate, p->snap_m)) {
        at = 1.0f;
    }
    pose->position = cm_mul_add(slot->previous.position, at, way);
    pose->orientation = cm_interp_turn(slot->previous.orientation, state.orientation, at);
    pose->linear_velocity = state.linear_velocity;
    pose->angular_velocity = state.angular_velocity;
    if (beyond > 0.0f) {
        pose->position = cm_mul_add(pose->position, beyond, state.linear_velocity);
        pose->orientation =
            cm_quat_integrate(pose->orientation, cm_scale(beyond, state.angular_velocity));
    }
    pose->predicted = true;
    cm_predictor_offset(p, body, pose);
    return true;
}

bool cm_predictor_knows(const cm_predictor *p)
{
    return p->ready && p->structure == p->mirror->structure;
}

carom_body_id cm_predictor_own(const cm_predictor *p)
{
    const carom_body_id none = {0, 0};
    carom_body_id own = cm_game_player_body(p->game, p->mirror->player);
    return carom_body_is_valid(p->world, own) ? own : none;
}

void cm_predictor_spawned(const cm_predictor *p, const carom_body_state *state, double tick,
                          carom_client_pose *pose)
{
    float rate = (float)p->mirror->tick_rate;
    float late = (float)(tick - (double)cm_predictor_tick(p)) - 1.0f;
    float seconds = cm_clamp(late / rate, -1.0f / rate, BEYOND_S);
    pose->position = cm_mul_add(state->position, seconds, state->linear_velocity);
    pose->orientation =
        cm_quat_integrate(state->orientation, cm_scale(seconds, state->angular_velocity));
    pose->linear_velocity = state->linear_velocity;
    pose->angular_velocity = state->angular_velocity;
    pose->predicted = true;
}
