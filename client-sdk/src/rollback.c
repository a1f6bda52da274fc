// Prediction with exact sync: the whole world, from the newest confirmed tick, with the inputs that
// views relay and the own ones; the rest hold theirs. A tick is made again where an input was
// another than the one that it was stepped with, and for no other reason: equal inputs make an
// equal world, bit for bit.
//
//   relayed     another for a tick after the confirmed one: back to before it, and on from there
//   confirmed   another than used, or the tick had events (joins, leaves, messages), which nobody
//               predicts: a copy of the mirror, and on from there
//
// Typical: 20 ticks ahead of the confirmed one at 60 ms of round trip.
#include "client-sdk/src/catchup.h"

#include <string.h>

#include "client-sdk/src/nearby.h"
#include "shared/base/vec.h"
#include "shared/wire/input_relay.h"

void cm_predictor_confirmed(cm_predictor *p, bool events)
{
    const carom_game *game = p->mirror->game;
    cm_inbox *inbox = cm_timeline_inbox(p->timeline);
    uint64_t tick = carom_game_tick(game), newest = cm_predictor_tick(p);
    p->news = true;
    p->rebuild = p->rebuild || events || tick > newest;
    if (tick + p->ring < newest) { // further back than inputs are kept
        p->rebuild = true;
        return;
    }
    for (uint64_t left = cm_game_players(game); left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        const uint8_t *held = cm_game_held_input(game, player);
        const uint8_t *used = cm_inbox_input(inbox, newest, player, tick);
        p->rebuild =
            p->rebuild || used == NULL || memcmp(used, held, cm_game_input_size(game)) != 0;
        cm_inbox_put(inbox, 0, player, tick, held); // what is relayed next may be coded against it
    }
}

// Every body is simulated, whatever came and went.
static void take_bodies(cm_predictor *p)
{
    uint32_t used = carom_world_body_slots(p->world);
    for (uint32_t i = 0; i < p->mirror->slots; i++) {
        const carom_body_id none = {0, 0};
        carom_body_id id = i < used ? carom_world_body_at(p->world, i) : none;
        cm_predict_slot *slot = &p->slots[i];
        carom_body_state state;
        if (slot->generation == id.generation) {
            continue;
        }
        memset(slot, 0, sizeof *slot);
        slot->turn = cm_quat_identity();
        slot->generation = id.generation;
        if (carom_body_get(p->world, id, &state) == CAROM_OK) {
            slot->simulated = 1;
            slot->previous = cm_predictor_place(&state);
        }
    }
}

static void step_to(cm_predictor *p, uint64_t tick)
{
    while (cm_predictor_tick(p) < tick) {
        cm_predictor_step(p, cm_predictor_tick(p) + 1 == tick);
    }
}

// A copy of the confirmed world, as far on as the budget goes; where it was ready, by catchup.h.
// True where it is there.
static bool start(cm_predictor *p, uint64_t tick, bool was_ready)
{
    (void)cm_inbox_pop_late(cm_timeline_inbox(p->timeline));
    p->ready = cm_timeline_copy(p->timeline, p->mirror->game) && cm_timeline_start(p->timeline);
    if (!p->ready) {
        return true; // no memory now; perhaps with the next update
    }
    p->rebuild = false;
    p->structure = p->mirror->structure;
    p->started = cm_predictor_tick(p);
    if (was_ready && tick - p->started < p->ring) {
        return cm_catchup_begin(p, tick);
    }
    p->branch = 0;
    uint64_t most = p->credit > 1.0 ? (uint64_t)p->credit : 1;
    most = most < cm_catchup_most(p) ? most : cm_catchup_most(p);
    step_to(p, tick - p->started > most ? p->started + most : tick);
    return true;
}

// Makes what was wrong again, up to where it stood; in several updates, where one cannot pay.
static void correct(cm_predictor *p, uint64_t late)
{
    uint64_t newest = cm_predictor_tick(p);
    bool was_ready = p->ready, is_done = true;
    carom_body_id own = cm_predictor_own(p);
    if (was_ready) {
        cm_predictor_hold_shown(p, newest);
        cm_touch_before(p->touch, p->world, own);
    }
    if (was_ready && !p->rebuild && cm_timeline_restore(p->timeline, late - 1)) {
        (void)cm_inbox_pop_late(cm_timeline_inbox(p->timeline));
        is_done = cm_catchup_begin(p, newest);
    } else {
        uint64_t confirmed = carom_game_tick(p->mirror->game);
        bool ahead = was_ready && newest > confirmed;
        is_done = start(p, ahead ? newest : confirmed, ahead);
    }
    take_bodies(p);
    if (was_ready && p->ready && is_done) {
        cm_predictor_corrected(p, own);
    } else if (is_done) {
        p->stats.reconciles++;
    }
}

void cm_predictor_follow(cm_predictor *p, uint64_t tick)
{
    uint64_t late = cm_inbox_earliest_late(cm_timeline_inbox(p->timeline));
    uint64_t confirmed = carom_game_tick(p->mirror->game);
    // One correction after the other, unless what is predicted lies behind.
    bool waits = p->ready && p->branch > 0 && confirmed <= cm_predictor_tick(p);
    bool is_wrong = !waits && (!p->ready || p->rebuild || late <= cm_predictor_tick(p));
    uint64_t from = p->ready && !p->rebuild ? late - 1 : confirmed;
    double cost = tick > from ? (double)(tick - from) : 0.0;
    cost = cost < cm_nearby_steps(p) ? cost : cm_nearby_steps(p);
    p->news = false;
    if (is_wrong && p->ready && cost > p->credit && cost <= p->most) {
        return; // the budget will soon pay for it
    }
    if (is_wrong) {
        correct(p, late);
    }
    if (p->ready) {
        cm_predictor_go_on(p, tick);
    }
    cm_catchup_step(p);
    take_bodies(p);
}
