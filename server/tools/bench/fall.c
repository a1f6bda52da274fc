#include "server/tools/bench/fall.h"

#include <math.h>
#include <stdlib.h>

#include "server/tools/bench/solid.h"

// Half of what the body measures upward, of all its shapes.
static double half_height(const carom_world *world, carom_body_id id, const carom_body_state *state,
                          carom_shape_id *shapes)
{
    const double position[3] = {state->position.x, state->position.y, state->position.z};
    const double orientation[4] = {state->orientation.x, state->orientation.y, state->orientation.z,
                                   state->orientation.w};
    double low = HUGE_VAL, high = -HUGE_VAL;
    uint32_t count = carom_body_shapes(world, id, shapes, carom_world_limits(world).shapes);
    for (uint32_t i = 0; i < count; i++) {
        carom_shape_def def;
        cm_solid solid;
        double lower[3], upper[3];
        carom_shape_get(world, shapes[i], &def, NULL);
        if (cm_solid_place(&solid, &def, position, orientation)) {
            cm_solid_bounds(&solid, lower, upper);
            low = fmin(low, lower[1]);
            high = fmax(high, upper[1]);
        }
    }
    return high > low ? 0.5 * (high - low) : HUGE_VAL;
}

double *cm_fall_begin(const carom_world *world)
{
    uint32_t slots = carom_world_body_slots(world);
    double *heights = malloc(((size_t)slots + 1) * sizeof *heights);
    carom_shape_id *shapes =
        malloc(((size_t)carom_world_limits(world).shapes + 1) * sizeof *shapes);
    for (uint32_t slot = 0; slot < slots && heights != NULL && shapes != NULL; slot++) {
        carom_body_id id = carom_world_body_at(world, slot);
        carom_body_state state;
        heights[slot] = -HUGE_VAL;
        if (carom_body_get(world, id, &state) == CAROM_OK && state.type == CAROM_BODY_DYNAMIC) {
            heights[slot] = (double)state.position.y - half_height(world, id, &state, shapes);
        }
    }
    if (shapes == NULL) {
        free(heights);
        heights = NULL;
    }
    free(shapes);
    return heights;
}

uint32_t cm_fall_count(const carom_world *world, const double *heights)
{
    uint32_t slots = carom_world_body_slots(world), count = 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        carom_body_state state;
        count += carom_body_get(world, carom_world_body_at(world, slot), &state) == CAROM_OK &&
                 (double)state.position.y < heights[slot];
    }
    return count;
}
