// The narrow phase's cases. Each fills normal (from a to b) and points, with anchors from each
// shape's position, and returns the number of points within margin; the first shape's type is never
// above the second's. The swing is how much further than that what is not nearest may come within
// the tick, as the bodies turn and as a blow turns them; 0: what counts is how they are now.
// Typical: 2,000 calls a step.
#ifndef CM_SIM_COLLIDE_NARROW_H
#define CM_SIM_COLLIDE_NARROW_H

#include "shared/sim/collide/collide.h"

// Two round shapes (spheres, capsules).
uint32_t cm_collide_round(const cm_shape *a, const cm_shape_transform *transform_a,
                          const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                          float swing, cm_manifold *manifold);
uint32_t cm_collide_sphere_box(const cm_shape *a, const cm_shape_transform *transform_a,
                               const cm_shape *b, const cm_shape_transform *transform_b,
                               float margin, float swing, cm_manifold *manifold);
uint32_t cm_collide_capsule_box(const cm_shape *a, const cm_shape_transform *transform_a,
                                const cm_shape *b, const cm_shape_transform *transform_b,
                                float margin, float swing, cm_manifold *manifold);
uint32_t cm_collide_box_box(const cm_shape *a, const cm_shape_transform *transform_a,
                            const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                            float swing, cm_manifold *manifold);
// Any shape but a plane, against the half-space below plane b.
uint32_t cm_collide_plane(const cm_shape *a, const cm_shape_transform *transform_a,
                          const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                          float swing, cm_manifold *manifold);

// A cylinder or a hull as b, anything as a.
uint32_t cm_collide_convex(const cm_shape *a, const cm_shape_transform *transform_a,
                           const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                           float swing, cm_manifold *manifold);

// A swing below this part of the radius is left to the next tick.
#define CM_SWINGS 0.1f
// Ends get points besides, unless the contact is nearer than a quarter of their radius (squared
// here), or they pass by rather than come (cosine).
#define CM_SAME_END 0.0625f
#define CM_FACING   0.5f

// Appends a point. `point` is in world axes from place_a's position; the normal must be set.
static inline void cm_manifold_add(cm_manifold *manifold, carom_vec3 point, carom_vec3 a_to_b,
                                   float separation, uint32_t feature)
{
    cm_manifold_point *p = &manifold->points[manifold->point_count++];
    p->anchor_a = point;
    p->anchor_b = cm_sub(point, a_to_b);
    p->separation = separation;
    p->feature = feature;
}

// An edge against an edge is taken where it is further apart than the best face by more than this:
// one point that is another every tick holds nothing that has sunk in face on face, so the deeper
// the overlap, the more a face is preferred.
static inline float cm_edge_bound(float face_separation)
{
    const float tolerance = 0.001f, share = 0.25f; // m; of the overlap
    return (face_separation < 0.0f ? (1.0f - share) * face_separation : face_separation) +
           tolerance;
}

// The direction of last resort, where two centres coincide.
static inline carom_vec3 cm_fixed_direction(void)
{
    return cm_vec(0.0f, 1.0f, 0.0f);
}

#endif
