// By the SDK's public face: carom_client_world is at the newest view, with exact sync at the newest
// confirmed tick. A body that moves is told anew where its position is another; all are, with exact
// sync, where the tick is.
#include "server/tools/feel/told.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"

#define LAG   8u    // ticks, until which all parts of a view have come
#define BLOCK 64u   // bodies read at once
#define STILL 0.01f // m/s

bool cm_feel_told_init(cm_feel_told *told, uint32_t slots)
{
    memset(told, 0, sizeof *told);
    told->last = calloc(slots, sizeof *told->last);
    return cm_feel_truth_init(&told->truth, slots) && told->last != NULL;
}

void cm_feel_told_free(cm_feel_told *told)
{
    cm_feel_truth_free(&told->truth);
    free(told->last);
}

static void know(cm_feel_told *told, carom_body_id id, const carom_body_state *state, float tick_s)
{
    const cm_feel_true_body now = {.generation = id.generation,
                                   .player = CM_FEEL_NOBODY,
                                   .moves = cm_length(state->linear_velocity) > STILL,
                                   .position = state->position};
    cm_feel_true_body *before = &cm_feel_truth_row(&told->truth, told->tick - 1)[id.index];
    cm_feel_truth_row(&told->truth, told->tick)[id.index] = now;
    if (before->generation == 0) {
        *before = now;
        // As a step moved it: by the velocity that the step found.
        before->position = cm_mul_add(now.position, -tick_s, state->linear_velocity);
    }
}

static void know_players(cm_feel_told *told, const carom_client *client)
{
    carom_client_roster_row roster[CAROM_PLAYERS_MAX];
    uint32_t players = carom_client_roster(client, roster, CAROM_PLAYERS_MAX);
    for (uint32_t i = 0; i < players; i++) {
        carom_body_id id = roster[i].body;
        for (uint64_t tick = told->tick - 1; id.generation != 0 && tick <= told->tick; tick++) {
            if (id.index < told->truth.slots) {
                cm_feel_truth_row(&told->truth, tick)[id.index].player = (uint8_t)roster[i].player;
            }
        }
    }
}

// Moves on to a tick, of which nothing is known yet. Back to one that was: all is forgotten.
static void turn_to(cm_feel_told *told, uint64_t tick)
{
    size_t row = told->truth.slots * sizeof *told->truth.bodies;
    bool far = tick < told->tick || tick - told->tick >= CM_FEEL_TRUTH_TICKS;
    uint64_t first =
        far ? tick - (tick < CM_FEEL_TRUTH_TICKS ? tick : CM_FEEL_TRUTH_TICKS - 1) : told->tick + 1;
    for (uint64_t t = first; t <= tick; t++) {
        memset(cm_feel_truth_row(&told->truth, t), 0, row);
    }
    told->tick = tick;
    told->truth.newest = tick > LAG ? tick - LAG : 0;
}

void cm_feel_told_follow(cm_feel_told *told, const carom_client *client)
{
    const carom_world *world = carom_client_world(client);
    uint64_t tick = world != NULL ? carom_world_tick(world) : 0;
    if (tick == 0) {
        return;
    }
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    bool exact = tick != stats.server_tick, on = tick != told->tick;
    // Of two packets at once nobody knows which brought what.
    bool sure = exact || !on || stats.view_packets <= told->packets + 1;
    if (on) {
        turn_to(told, tick);
    }
    told->packets = stats.view_packets;
    float tick_s = 1.0f / (float)carom_world_tick_rate(world);
    uint32_t slots = carom_world_body_slots(world);
    slots = slots < told->truth.slots ? slots : told->truth.slots;
    for (uint32_t first = 0; first < slots; first += BLOCK) {
        carom_body_id ids[BLOCK];
        carom_body_state states[BLOCK];
        uint32_t count = slots - first < BLOCK ? slots - first : BLOCK;
        carom_world_read_bodies(world, first, count, ids, states);
        for (uint32_t i = 0; i < count; i++) {
            const carom_body_state *state = &states[i];
            if (ids[i].generation == 0 || state->type == CAROM_BODY_STATIC) {
                continue;
            }
            bool moved =
                memcmp(&told->last[first + i], &state->position, sizeof state->position) != 0;
            bool rests = !moved && !(cm_length(state->linear_velocity) > STILL);
            told->last[first + i] = state->position;
            if (sure && (exact || rests ? on : moved)) {
                know(told, ids[i], state, tick_s);
            }
        }
    }
    know_players(told, client);
}
