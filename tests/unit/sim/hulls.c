// See hulls.h.
#include "shared/base/memory.h"
#include "tests/unit/sim/hulls.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void cm_hulls_open(cm_hulls *hulls)
{
    memset(hulls, 0, sizeof *hulls);
    hulls->allocator = cm_by_malloc;
}

void cm_hulls_close(cm_hulls *hulls)
{
    for (uint32_t i = 0; i < hulls->count; i++) {
        carom_hull_destroy((carom_hull *)hulls->list[i]);
    }
    free(hulls->list);
}

const carom_hull *cm_hulls_add(cm_hulls *hulls, const carom_vec3 *points, uint32_t count)
{
    carom_hull *hull = NULL;
    carom_result result = carom_hull_create(points, count, &hulls->allocator, &hull);
    cr_assert_eq(result, CAROM_OK, "%s", carom_hull_refusal(points, count));
    if (hulls->count == hulls->room) {
        hulls->room = 2 * hulls->room + 16;
        hulls->list = realloc(hulls->list, hulls->room * sizeof *hulls->list);
        cr_assert_not_null(hulls->list);
    }
    hulls->list[hulls->count++] = hull;
    return hull;
}

const carom_hull *cm_hulls_box(cm_hulls *hulls, carom_vec3 half)
{
    carom_vec3 points[8];
    for (uint32_t i = 0; i < 8; i++) {
        points[i] =
            cm_vec(i & 1u ? half.x : -half.x, i & 2u ? half.y : -half.y, i & 4u ? half.z : -half.z);
    }
    return cm_hulls_add(hulls, points, 8);
}

const carom_hull *cm_hulls_random(cm_hulls *hulls, uint64_t *state, uint32_t count, float size)
{
    carom_vec3 points[256];
    cr_assert_leq(count, 256);
    for (uint32_t i = 0; i < count; i++) {
        points[i] = cm_hulls_vec(state, size);
    }
    return cm_hulls_add(hulls, points, count);
}

const carom_hull *cm_hulls_die(cm_hulls *hulls, float radius)
{
    const float a = 0.577350269f * radius, b = 0.356822090f * radius, c = 0.934172359f * radius;
    carom_vec3 points[20];
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8; i++) {
        points[count++] = cm_vec(i & 1u ? a : -a, i & 2u ? a : -a, i & 4u ? a : -a);
    }
    for (uint32_t i = 0; i < 4; i++) {
        float p = i & 1u ? b : -b, q = i & 2u ? c : -c;
        points[count++] = cm_vec(0.0f, p, q);
        points[count++] = cm_vec(p, q, 0.0f);
        points[count++] = cm_vec(q, 0.0f, p);
    }
    return cm_hulls_add(hulls, points, count);
}

float cm_hulls_unit(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (float)(*state >> 40) / 16777216.0f;
}

// One draw a statement: C does not say in which order arguments are evaluated.
carom_vec3 cm_hulls_vec(uint64_t *state, float size)
{
    carom_vec3 v;
    v.x = size * (2.0f * cm_hulls_unit(state) - 1.0f);
    v.y = size * (2.0f * cm_hulls_unit(state) - 1.0f);
    v.z = size * (2.0f * cm_hulls_unit(state) - 1.0f);
    return v;
}

carom_quat cm_hulls_turn(uint64_t *state)
{
    carom_vec3 v = cm_hulls_vec(state, 1.0f);
    carom_quat q = {v.x, v.y, v.z, 0.1f + cm_hulls_unit(state)};
    return cm_quat_normalize(q);
}
