// Chooses the narrow-phase case of two shapes. Cases exist for ascending types only; the other
// order is collided swapped and turned back, so each case has one piece of code and one behaviour.
#include "shared/sim/collide/collide.h"
#include "shared/sim/collide/narrow.h"

typedef uint32_t collide_case(const cm_shape *, const cm_shape_transform *, const cm_shape *,
                              const cm_shape_transform *, float, float, cm_manifold *);

static uint32_t collide_never(const cm_shape *a, const cm_shape_transform *transform_a,
                              const cm_shape *b, const cm_shape_transform *transform_b,
                              float margin, float swing, cm_manifold *manifold)
{
    (void)a, (void)transform_a, (void)b, (void)transform_b, (void)margin, (void)swing;
    manifold->normal = cm_fixed_direction();
    return 0;
}

#define TYPES (CAROM_SHAPE_HULL + 1)

// Row: type of a; column: type of b (sphere, capsule, box, plane, cylinder, hull), at least as
// high.
static collide_case *const cases[TYPES][TYPES] = {
    {cm_collide_round, cm_collide_round, cm_collide_sphere_box, cm_collide_plane, cm_collide_convex,
     cm_collide_convex},
    {NULL, cm_collide_round, cm_collide_capsule_box, cm_collide_plane, cm_collide_convex,
     cm_collide_convex},
    {NULL, NULL, cm_collide_box_box, cm_collide_plane, cm_collide_convex, cm_collide_convex},
    {NULL, NULL, NULL, collide_never, cm_collide_convex, cm_collide_convex},
    {NULL, NULL, NULL, NULL, cm_collide_convex, cm_collide_convex},
    {NULL, NULL, NULL, NULL, NULL, cm_collide_convex},
};

uint32_t cm_collide_turning(const cm_shape *a, const cm_shape_transform *transform_a,
                            const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                            float swing, cm_manifold *manifold)
{
    manifold->point_count = 0;
    if (a->type <= b->type) {
        return cases[a->type][b->type](a, transform_a, b, transform_b, margin, swing, manifold);
    }
    uint32_t count =
        cases[b->type][a->type](b, transform_b, a, transform_a, margin, swing, manifold);
    manifold->normal = cm_neg(manifold->normal);
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 anchor = manifold->points[i].anchor_a;
        manifold->points[i].anchor_a = manifold->points[i].anchor_b;
        manifold->points[i].anchor_b = anchor;
    }
    return count;
}

uint32_t cm_collide_at(const cm_shape *a, const cm_shape_transform *transform_a, const cm_shape *b,
                       const cm_shape_transform *transform_b, float margin, cm_manifold *manifold)
{
    return cm_collide_turning(a, transform_a, b, transform_b, margin, 0.0f, manifold);
}

uint32_t cm_collide_shapes(const cm_shape *a, carom_vec3 position_a, carom_quat orientation_a,
                           const cm_shape *b, carom_vec3 position_b, carom_quat orientation_b,
                           float margin, cm_manifold *manifold)
{
    cm_shape_transform transform_a = {.position = position_a,
                                      .rotation = cm_mat3_from_quat(orientation_a)};
    cm_shape_transform transform_b = {.position = position_b,
                                      .rotation = cm_mat3_from_quat(orientation_b)};
    return cm_collide_at(a, &transform_a, b, &transform_b, margin, manifold);
}
