// A ring of ticks, read from the room's history. Typical: 408 bodies, 256 ticks, 3 MB.
#include "server/tools/feel/truth.h"

#include <stdlib.h>

#include "shared/base/vec.h"
#include "shared/game/game_host.h"

#define STILL 0.01f // m/s

bool cm_feel_truth_init(cm_feel_truth *truth, uint32_t slots)
{
    *truth = (cm_feel_truth){.slots = slots};
    truth->bodies = calloc((size_t)slots * CM_FEEL_TRUTH_TICKS, sizeof *truth->bodies);
    return truth->bodies != NULL;
}

void cm_feel_truth_free(cm_feel_truth *truth)
{
    free(truth->bodies);
}

cm_feel_true_body *cm_feel_truth_row(const cm_feel_truth *truth, uint64_t tick)
{
    return &truth->bodies[(size_t)(tick % CM_FEEL_TRUTH_TICKS) * truth->slots];
}

static void take(cm_feel_truth *truth, const carom_game *game, uint64_t tick)
{
    const carom_world *world = carom_game_world((carom_game *)game);
    cm_feel_true_body *row = cm_feel_truth_row(truth, tick);
    for (uint32_t slot = 0; slot < truth->slots; slot++) {
        carom_body_id id = {0, 0};
        carom_body_state state;
        if (slot < carom_world_body_slots(world)) {
            id = carom_world_body_at(world, slot);
        }
        row[slot] = (cm_feel_true_body){.player = CM_FEEL_NOBODY};
        if (carom_body_get(world, id, &state) == CAROM_OK) {
            row[slot].generation = id.generation;
            row[slot].position = state.position;
            row[slot].moves = cm_length(state.linear_velocity) > STILL;
        }
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        carom_body_id id = cm_game_player_body(game, player);
        if (id.generation != 0 && row[id.index].generation == id.generation) {
            row[id.index].player = (uint8_t)player;
        }
    }
    if (truth->bound != NULL) {
        cm_feel_bound_take(truth->bound, game, tick);
    }
    truth->newest = tick;
}

void cm_feel_truth_follow(cm_feel_truth *truth, cm_room *room)
{
    uint64_t last = cm_room_confirmed(room);
    uint64_t next = truth->newest > 0 ? truth->newest + 1 : last;
    for (; next <= last; next++) {
        const carom_game *game = cm_room_game_at(room, next);
        if (game != NULL) {
            take(truth, game, next);
        }
    }
}

bool cm_feel_truth_at(const cm_feel_truth *truth, carom_body_id id, double tick,
                      cm_feel_true_body *body)
{
    if (tick < 0.0 || id.index >= truth->slots) {
        return false;
    }
    uint64_t low = (uint64_t)tick;
    if (low + 1 > truth->newest || low + CM_FEEL_TRUTH_TICKS <= truth->newest) {
        return false;
    }
    const cm_feel_true_body *a = &cm_feel_truth_row(truth, low)[id.index];
    const cm_feel_true_body *b = &cm_feel_truth_row(truth, low + 1)[id.index];
    if (a->generation != id.generation || b->generation != id.generation) {
        return false;
    }
    *body = *b;
    body->moves = a->moves || b->moves;
    body->position =
        cm_mul_add(a->position, (float)(tick - (double)low), cm_sub(b->position, a->position));
    return true;
}
