// Spheres, capsules and boxes against a half-space: the deepest point of a sphere, both ends of a
// capsule, the four deepest corners of a box. Features: 0 of a sphere, 0 and 1 of a capsule, the
// corner's sign bits of a box. The normal points from the shape into the plane.
#include "shared/sim/collide/narrow.h"

typedef struct half_space {
    carom_vec3 normal;
    float height; // of the shape's position above the surface
} half_space;

static half_space half_space_of(const cm_shape *plane, const cm_shape_transform *transform,
                                carom_vec3 origin)
{
    half_space h;
    h.normal =
        cm_mat3_mul(transform->rotation, cm_vec(plane->size[0], plane->size[1], plane->size[2]));
    h.height = cm_dot(h.normal, cm_sub(origin, transform->position)) - plane->size[3];
    return h;
}

// A point of the shape, relative to its position; the contact lies halfway to the surface.
static void add_point(cm_manifold *manifold, const half_space *h, carom_vec3 at, carom_vec3 a_to_b,
                      float separation, uint32_t feature)
{
    cm_manifold_add(manifold, cm_mul_add(at, -0.5f * separation, h->normal), a_to_b, separation,
                    feature);
}

static void collide_corners(const cm_shape *a, const cm_shape_transform *transform,
                            const half_space *h, carom_vec3 a_to_b, float margin,
                            cm_manifold *manifold)
{
    carom_vec3 x = cm_scale(a->size[0], transform->rotation.x);
    carom_vec3 y = cm_scale(a->size[1], transform->rotation.y);
    carom_vec3 z = cm_scale(a->size[2], transform->rotation.z);
    carom_vec3 corners[8];
    float separation[8];
    for (uint32_t i = 0; i < 8; i++) {
        corners[i] =
            cm_add(cm_mul_add(cm_scale(i & 1u ? 1.0f : -1.0f, x), i & 2u ? 1.0f : -1.0f, y),
                   cm_scale(i & 4u ? 1.0f : -1.0f, z));
        separation[i] = h->height + cm_dot(h->normal, corners[i]);
    }
    uint32_t taken = 0;
    for (uint32_t k = 0; k < CM_MANIFOLD_MAX; k++) {
        uint32_t best = 8;
        for (uint32_t i = 0; i < 8; i++) {
            if (!(taken >> i & 1u) && separation[i] <= margin &&
                (best == 8 || separation[i] < separation[best])) {
                best = i;
            }
        }
        if (best == 8) {
            break;
        }
        taken |= 1u << best;
    }
    for (uint32_t i = 0; i < 8; i++) {
        if (taken >> i & 1u) {
            add_point(manifold, h, corners[i], a_to_b, separation[i], i);
        }
    }
}

uint32_t cm_collide_plane(const cm_shape *a, const cm_shape_transform *transform_a,
                          const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                          float swing, cm_manifold *manifold)
{
    half_space h = half_space_of(b, transform_b, transform_a->position);
    carom_vec3 a_to_b = cm_sub(transform_b->position, transform_a->position);
    manifold->point_count = 0;
    manifold->normal = cm_neg(h.normal);
    if (a->type == CAROM_SHAPE_BOX) {
        collide_corners(a, transform_a, &h, a_to_b, margin, manifold);
        return manifold->point_count;
    }
    bool capsule = a->type == CAROM_SHAPE_CAPSULE;
    for (uint32_t i = 0; i < (capsule ? 2u : 1u); i++) {
        float along = capsule ? (i ? a->size[1] : -a->size[1]) : 0.0f;
        carom_vec3 end = cm_scale(along, transform_a->rotation.y);
        float separation = h.height + cm_dot(h.normal, end) - a->size[0];
        if (separation <= margin + (capsule ? swing : 0.0f)) {
            add_point(manifold, &h, cm_mul_add(end, -a->size[0], h.normal), a_to_b, separation, i);
        }
    }
    return manifold->point_count;
}
