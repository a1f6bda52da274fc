// Hulls for tests: built from seeds, kept until the test ends. Aborts the test on failure.
#ifndef CM_TESTS_UNIT_SIM_HULLS_H
#define CM_TESTS_UNIT_SIM_HULLS_H

#include "shared/base/vec.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/geometry/hull.h"

typedef struct cm_hulls {
    carom_allocator allocator;
    const carom_hull **list;
    uint32_t count, room;
} cm_hulls;

void cm_hulls_open(cm_hulls *hulls);
void cm_hulls_close(cm_hulls *hulls);
const carom_hull *cm_hulls_add(cm_hulls *hulls, const carom_vec3 *points, uint32_t count);
const carom_hull *cm_hulls_box(cm_hulls *hulls, carom_vec3 half);
// Of `count` points in a cube of half edge `size`.
const carom_hull *cm_hulls_random(cm_hulls *hulls, uint64_t *state, uint32_t count, float size);
// A dodecahedron of this radius.
const carom_hull *cm_hulls_die(cm_hulls *hulls, float radius);

// Chance from a seed: 0 to 1; each coordinate within size; a turn.
float cm_hulls_unit(uint64_t *state);
carom_vec3 cm_hulls_vec(uint64_t *state, float size);
carom_quat cm_hulls_turn(uint64_t *state);

#endif
