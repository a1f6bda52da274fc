// See the header. Measured with 1 to 250 bodies of a crowd: 15 us a step and 0.6 to 1.5 us a body,
// the more the denser they lie.
#include "client-sdk/src/nearby.h"

#include <stdlib.h>

#include "shared/base/vec.h"

#define OTHERS_M    2.0f  // a metre from another player counts as so many
#define STEP_BODIES 15.0  // that a step costs besides its bodies
#define STEPS_SPARE 4.0   // ticks stepped beside those since a view
#define AGE_FACTOR  1.25  // of a view's age: a late input of another player goes further back
#define ROOM_LEAST  8.0   // bodies: what is touched, however many ticks a second there are
#define COST_LEAST  50.0  // ns
#define COST_MOST   1.0e5 //
#define COST_JUMP   4.0   // of one measurement: more is another process's turn
#define COST_FOLLOW 0.05  // of a measurement that counts
#define STEPS_LEAST 4u    // that are measured

cm_middles cm_nearby_middles(const cm_predictor *p, carom_vec3 here, carom_vec3 ahead)
{
    cm_middles m = {.count = 2, .own = 2, .at = {here, ahead}};
    uint64_t others = p->relayed > 0 ? cm_game_players(p->mirror->game) : 0;
    for (others &= ~(UINT64_C(1) << p->mirror->player); others != 0; others &= others - 1) {
        carom_body_id id = cm_game_player_body(p->mirror->game, (uint32_t)__builtin_ctzll(others));
        carom_body_state state;
        if (carom_body_get(p->mirror->world, id, &state) == CAROM_OK) {
            m.at[m.count++] = state.position;
        }
    }
    return m;
}

float cm_nearby_distance(const cm_middles *m, carom_vec3 place)
{
    float least = cm_length(cm_sub(place, m->at[0]));
    for (uint32_t i = 1; i < m->count; i++) {
        float far = cm_length(cm_sub(place, m->at[i])) * (i < m->own ? 1.0f : OTHERS_M);
        least = cm_min(least, far);
    }
    return least;
}

uint32_t cm_nearby_room(const cm_predictor *p)
{
    double steps = AGE_FACTOR * p->age + STEPS_SPARE;
    double bodies = 1.0e3 * p->budget_us / (p->cost_ns * steps) - STEP_BODIES;
    double least = p->budget_us > 0.0 ? ROOM_LEAST : 0.0;
    bodies = bodies > least ? bodies : least;
    return bodies < p->mirror->slots ? (uint32_t)bodies : p->mirror->slots;
}

double cm_nearby_steps(const cm_predictor *p)
{
    double us = p->part_us > 0.0 && p->part_us < p->budget_us ? p->part_us : p->budget_us;
    return 1.0e3 * us / (p->cost_ns * (STEP_BODIES + 1.0 + p->simulated));
}

double cm_nearby_us(const cm_predictor *p, uint64_t steps)
{
    return 1.0e-3 * (double)steps * p->cost_ns * (STEP_BODIES + 1.0 + p->simulated);
}

static int compare(const void *a, const void *b)
{
    const cm_near *x = a, *y = b;
    if (x->distance != y->distance) {
        return x->distance < y->distance ? -1 : 1;
    }
    return (x->slot > y->slot) - (x->slot < y->slot);
}

void cm_nearby_order(cm_near *list, uint32_t count)
{
    qsort(list, count, sizeof *list, compare);
}

void cm_nearby_measure(cm_predictor *p, double us, uint64_t steps)
{
    if (steps < STEPS_LEAST) {
        return;
    }
    double ns = 1.0e3 * us / ((double)steps * (STEP_BODIES + p->simulated));
    double most = COST_JUMP * p->cost_ns;
    ns = ns < most ? ns : most;
    p->cost_ns += COST_FOLLOW * (ns - p->cost_ns);
    p->cost_ns = p->cost_ns < COST_LEAST  ? COST_LEAST
                 : p->cost_ns > COST_MOST ? COST_MOST
                                          : p->cost_ns;
}
