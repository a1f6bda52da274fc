// The cases with a cylinder or a hull: which code a pair goes to. Shapes come in ascending order of
// type (dispatch.c), and the kinds here lie above the plane's.
#include "shared/sim/collide/convex.h"

// a below b in type, a plane or b a cylinder or hull. Where the plane comes first the pair is
// collided the other way round and turned back.
static uint32_t collide_plane_first(const cm_shape *plane,
                                    const cm_shape_transform *transform_plane, const cm_shape *b,
                                    const cm_shape_transform *transform_b, float margin,
                                    cm_manifold *manifold)
{
    uint32_t count =
        cm_collide_convex_plane(b, transform_b, plane, transform_plane, margin, manifold);
    manifold->normal = cm_neg(manifold->normal);
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 anchor = manifold->points[i].anchor_a;
        manifold->points[i].anchor_a = manifold->points[i].anchor_b;
        manifold->points[i].anchor_b = anchor;
    }
    return count;
}

uint32_t cm_collide_convex(const cm_shape *a, const cm_shape_transform *transform_a,
                           const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                           float swing, cm_manifold *manifold)
{
    (void)swing;
    if (a->type == CAROM_SHAPE_PLANE) {
        return collide_plane_first(a, transform_a, b, transform_b, margin, manifold);
    }
    cm_poly poly_a, poly_b;
    carom_vec3 a_to_b = cm_sub(transform_b->position, transform_a->position);
    manifold->point_count = 0;
    manifold->normal = cm_fixed_direction();
    bool polys =
        (a->type == CAROM_SHAPE_BOX || a->type == CAROM_SHAPE_HULL) && b->type == CAROM_SHAPE_HULL;
    if (polys) {
        bool known = transform_b->hull && (transform_a->hull || a->type == CAROM_SHAPE_BOX);
        if (known && cm_hulls_apart(a, transform_a, transform_b, margin)) {
            return 0;
        }
        if (!cm_poly_make(a, transform_a, transform_a->position, &poly_a) ||
            !cm_poly_make(b, transform_b, transform_a->position, &poly_b)) {
            return 0;
        }
        return cm_collide_polys(&poly_a, &poly_b, a_to_b, margin, manifold);
    }
    cm_core core_a, core_b;
    if (!cm_core_make(a, transform_a, transform_a->position, &poly_a, &core_a) ||
        !cm_core_make(b, transform_b, transform_a->position, &poly_b, &core_b)) {
        return 0;
    }
    return cm_collide_cores(&core_a, &core_b, margin, manifold);
}
