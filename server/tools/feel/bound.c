// A game beside the room's. Typical: 8 to 20 steps for a frame, 408 bodies, 128 states of 300 KB.
#include "server/tools/feel/bound.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/array.h"
#include "shared/base/vec.h"

typedef struct true_tick {
    uint64_t tick;
    uint64_t players; // present
    uint8_t *image;
    size_t size;
    uint32_t capacity;
    uint8_t held[CM_FEEL_PLAYERS_MAX][CAROM_INPUT_MAX];
} true_tick;

typedef struct shown {
    uint32_t generation; // 0: none
    carom_vec3 position, velocity;
} shown;

struct cm_feel_bound {
    carom_game *game;
    uint32_t slots;
    shown *bodies, *after; // at the tick before, and after, the one to be shown
    float part;
    true_tick ring[CM_FEEL_BOUND_TICKS];
};

cm_feel_bound *cm_feel_bound_create(const cm_scene *scene, const carom_module *module,
                                    uint64_t seed)
{
    cm_feel_bound *bound = calloc(1, sizeof *bound);
    if (bound == NULL || cm_game_create(scene, module, seed, NULL, &bound->game) != CAROM_OK) {
        free(bound);
        return NULL;
    }
    bound->slots = carom_world_limits(carom_game_world(bound->game)).bodies;
    bound->bodies = calloc(bound->slots, sizeof *bound->bodies);
    bound->after = calloc(bound->slots, sizeof *bound->after);
    if (bound->bodies == NULL || bound->after == NULL) {
        cm_feel_bound_destroy(bound);
        return NULL;
    }
    return bound;
}

void cm_feel_bound_destroy(cm_feel_bound *bound)
{
    if (bound == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CM_FEEL_BOUND_TICKS; i++) {
        free(bound->ring[i].image);
    }
    free(bound->after);
    free(bound->bodies);
    cm_game_destroy(bound->game);
    free(bound);
}

void cm_feel_bound_take(cm_feel_bound *bound, const carom_game *game, uint64_t tick)
{
    true_tick *row = &bound->ring[tick % CM_FEEL_BOUND_TICKS];
    uint32_t size = (uint32_t)cm_game_save_bound(game);
    row->tick = 0;
    if (!cm_array_reserve(&row->image, &row->capacity, size, 1)) {
        return;
    }
    row->size = cm_game_save(game, row->image, size);
    row->players = cm_game_players(game);
    for (uint32_t player = 0; player < CM_FEEL_PLAYERS_MAX; player++) {
        memcpy(row->held[player], cm_game_held_input(game, player), CAROM_INPUT_MAX);
    }
    row->tick = tick;
}

void cm_feel_made_note(cm_feel_made *made, uint64_t tick, uint64_t now_us)
{
    uint64_t from = made->newest + 1;
    from = from + CM_FEEL_MADE_TICKS <= tick ? tick - CM_FEEL_MADE_TICKS + 1 : from;
    for (; from <= tick; from++) {
        made->at_us[from % CM_FEEL_MADE_TICKS] = now_us;
        made->newest = from;
    }
}

uint64_t cm_feel_made_known(const cm_feel_made *made, uint64_t known, uint64_t latency_us,
                            uint64_t now_us)
{
    uint64_t tick = made->newest;
    while (tick > known && tick + CM_FEEL_MADE_TICKS > made->newest + 1 &&
           made->at_us[tick % CM_FEEL_MADE_TICKS] + latency_us > now_us) {
        tick--;
    }
    return tick > known ? tick : known;
}

static const true_tick *truth_of(const cm_feel_bound *bound, uint64_t tick)
{
    const true_tick *row = &bound->ring[tick % CM_FEEL_BOUND_TICKS];
    return row->tick == tick && tick > 0 ? row : NULL;
}

// With the inputs that are known for the next tick; beyond them the module's guess, or what is
// held.
static bool step(cm_feel_bound *bound, const cm_feel_known *known, uint32_t own, uint64_t tick)
{
    carom_player_input inputs[CM_FEEL_PLAYERS_MAX];
    cm_tick_input input = {.inputs = inputs};
    const true_tick *truth = truth_of(bound, tick);
    for (uint32_t player = 0; player < CM_FEEL_PLAYERS_MAX; player++) {
        if ((cm_game_players(bound->game) >> player & 1) == 0) {
            continue;
        }
        uint64_t last = known->tick[player];
        const true_tick *then = truth_of(bound, last);
        if ((player == own || tick <= last) && truth != NULL) {
            carom_player_input *next = &inputs[input.input_count++];
            *next = (carom_player_input){.player = player};
            memcpy(next->bytes, truth->held[player], CAROM_INPUT_MAX);
        } else if (tick <= last || then == NULL) {
            return false;
        } else {
            cm_game_guess_input(bound->game, player, then->held[player], (uint32_t)(tick - last));
        }
    }
    cm_game_tick(bound->game, &input);
    return true;
}

static void look(const cm_feel_bound *bound, shown *rows)
{
    const carom_world *world = carom_game_world(bound->game);
    for (uint32_t slot = 0; slot < bound->slots; slot++) {
        carom_body_state state;
        carom_body_id id = {0, 0};
        if (slot < carom_world_body_slots(world)) {
            id = carom_world_body_at(world, slot);
        }
        rows[slot].generation = carom_body_get(world, id, &state) == CAROM_OK ? id.generation : 0;
        if (rows[slot].generation != 0) {
            rows[slot].position = state.position;
            rows[slot].velocity = state.linear_velocity;
        }
    }
}

bool cm_feel_bound_show(cm_feel_bound *bound, const cm_feel_known *known, uint32_t player,
                        double tick)
{
    uint64_t low = (uint64_t)tick, from = low;
    const true_tick *truth = truth_of(bound, low);
    for (uint32_t other = 0; other < CM_FEEL_PLAYERS_MAX && truth != NULL; other++) {
        if (other != player && (truth->players >> other & 1) != 0 && known->tick[other] < from) {
            from = known->tick[other];
        }
    }
    truth = truth_of(bound, from);
    if (truth == NULL || cm_game_restore(bound->game, truth->image, truth->size) != CAROM_OK) {
        return false;
    }
    for (uint64_t next = from + 1; next <= low; next++) {
        if (!step(bound, known, player, next)) {
            return false;
        }
    }
    look(bound, bound->bodies);
    bool whole = step(bound, known, player, low + 1);
    look(bound, bound->after);
    bound->part = (float)(tick - (double)low);
    return whole;
}

bool cm_feel_bound_body(const cm_feel_bound *bound, carom_body_id id, carom_vec3 *position,
                        carom_vec3 *velocity)
{
    const shown *a = &bound->bodies[id.index], *b = &bound->after[id.index];
    if (id.index >= bound->slots || id.generation == 0 || a->generation != id.generation ||
        b->generation != id.generation) {
        return false;
    }
    *position = cm_mul_add(a->position, bound->part, cm_sub(b->position, a->position));
    *velocity = b->velocity;
    return true;
}
