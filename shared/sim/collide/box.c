// Box against box: the separating axes (box_axes.inl), then a face clipped by another
// (box_faces.inl) or the closest points of two edges.
//
// Faces are preferred to edges by a tolerance, and the more the deeper the overlap and the faster
// the boxes turn. Typical of a pile that lands: edges that touch at one point, faces 0.15 m deep in
// each other a tick later.
//
// Feature of a point, stable while the same features touch:
//   BITS    MEANING
//   0..3    edge before the clipped vertex: 0 to 3 of the incident face, 4 to 7 of the reference
//   4..7    edge after it
//   8..10   incident face: axis x 2 + side
//   11..13  reference face: axis x 2 + side
//   14      the reference is b
//   15      edge against edge; then bits 0..1 axis of a's edge, 2..3 of b's, 4..7 their sides
#include "shared/sim/collide/box_axes.h"
#include "shared/sim/collide/narrow.h"

#define BESIDE 0.001f // m, by which edges' closest points may miss the lines' distance

// A clipped face's points, four at most, to the manifold.
static void take_face(const cm_shape_transform *pa, const cm_shape_transform *pb,
                      cm_box_clipped *face, cm_manifold *manifold)
{
    const cm_shape_transform *transform = face->of_b ? pb : pa;
    uint32_t names = (face->of_b ? 1u << 14 : 0u) | (face->axis * 2u + face->up) << 11 |
                     (uint32_t)face->incident << 8;
    float n[3] = {0.0f, 0.0f, 0.0f};
    n[face->axis] = face->up ? 1.0f : -1.0f;
    carom_vec3 local = cm_vec(n[0], n[1], n[2]);
    uint32_t count = cm_clip_reduce(face->points, face->count, local);
    carom_vec3 normal = cm_mat3_mul(transform->rotation, local);
    carom_vec3 a_to_b = cm_sub(pb->position, pa->position);
    manifold->normal = face->of_b ? cm_neg(normal) : normal;
    for (uint32_t i = 0; i < count; i++) {
        const cm_clip_point *point = &face->points[i];
        carom_vec3 p = cm_mul_add(point->p, -0.5f * point->separation, local);
        p = cm_mat3_mul(transform->rotation, p);
        p = face->of_b ? cm_add(p, a_to_b) : p;
        cm_manifold_add(manifold, p, a_to_b, point->separation, names | point->feature);
    }
}

// One point halfway between the closest points of two edges.
static void collide_edges(const cm_shape *a, const cm_shape_transform *pa, const cm_shape *b,
                          const cm_shape_transform *pb, const cm_box_choice *choice, bool apart,
                          cm_manifold *manifold)
{
    const carom_vec3 *ca = &pa->rotation.x, *cb = &pb->rotation.x;
    carom_vec3 u = ca[choice->edge_a], v = cb[choice->edge_b];
    carom_vec3 a_to_b = cm_sub(pb->position, pa->position);
    carom_vec3 n = cm_normalize(cm_cross(u, v));
    if (cm_dot(n, a_to_b) < 0.0f) {
        n = cm_neg(n);
    }
    uint32_t feature = 1u << 15 | choice->edge_a | choice->edge_b << 2, bit = 4;
    carom_vec3 p = cm_vec(0.0f, 0.0f, 0.0f), q = a_to_b;
    for (uint32_t k = 1; k < 3; k++) {
        uint32_t i = (choice->edge_a + k) % 3, j = (choice->edge_b + k) % 3;
        bool up_a = cm_dot(n, ca[i]) > 0.0f, up_b = cm_dot(n, cb[j]) < 0.0f;
        p = cm_mul_add(p, up_a ? a->size[i] : -a->size[i], ca[i]);
        q = cm_mul_add(q, up_b ? b->size[j] : -b->size[j], cb[j]);
        feature |= (uint32_t)up_a << bit++;
        feature |= (uint32_t)up_b << bit++;
    }
    // Closest points of the lines p + s u and q + t v; u and v are unit and not parallel.
    carom_vec3 w = cm_sub(q, p);
    float uv = cm_dot(u, v), uw = cm_dot(u, w), vw = cm_dot(v, w);
    float det = 1.0f - uv * uv;
    float s = (uw - uv * vw) / det, t = (uv * uw - vw) / det;
    s = cm_clamp(s, -a->size[choice->edge_a], a->size[choice->edge_a]);
    t = cm_clamp(t, -b->size[choice->edge_b], b->size[choice->edge_b]);
    p = cm_mul_add(p, s, u);
    q = cm_mul_add(q, t, v);
    // Corners rather than edges where the closest points lie beyond them.
    carom_vec3 d = cm_sub(q, p);
    float distance = cm_length(d), separation = choice->edge_separation;
    if (apart && distance > separation + BESIDE) {
        n = cm_scale(1.0f / distance, d);
        separation = distance;
    }
    manifold->normal = n;
    cm_manifold_add(manifold, cm_scale(0.5f, cm_add(p, q)), a_to_b, separation, feature);
}

// Returns true if a face that comes near has its nearest corner elsewhere than over the other face,
// so that edges come first.
static bool misses(const cm_box_choice *choice, float swing, float thickness,
                   const cm_box_clipped *face)
{
    if (!(swing > CM_SWINGS * thickness) || choice->edge_a == 3 || !(choice->separation > 0.0f) ||
        !(choice->edge_separation > 0.0f)) {
        return false;
    }
    float lowest = __builtin_inff();
    for (uint32_t i = 0; i < face->count; i++) {
        lowest = cm_min(lowest, face->points[i].separation);
    }
    return face->count == 0 || (choice->edge_separation > choice->separation &&
                                lowest > choice->edge_separation + CM_SPECULATIVE_MARGIN);
}

uint32_t cm_collide_boxes(const cm_shape *a, const cm_shape_transform *transform_a,
                          const cm_shape *b, const cm_shape_transform *transform_b,
                          const cm_box_choice *choice, float swing, cm_box_clipped *face,
                          cm_manifold *manifold)
{
    manifold->point_count = 0;
    bool beside =
        face != NULL &&
        misses(choice, swing, cm_min(transform_a->inner_radius, transform_b->inner_radius), face);
    if (face != NULL && !beside) {
        take_face(transform_a, transform_b, face, manifold);
    }
    // Overlapping boxes always touch somewhere: where clipping left nothing, their edges do.
    bool missed = manifold->point_count == 0 && choice->edge_a < 3 && choice->separation <= 0.0f;
    if (face == NULL || missed || beside) {
        collide_edges(a, transform_a, b, transform_b, choice, beside, manifold);
    }
    return manifold->point_count;
}

uint32_t cm_collide_box_box(const cm_shape *a, const cm_shape_transform *transform_a,
                            const cm_shape *b, const cm_shape_transform *transform_b, float margin,
                            float swing, cm_manifold *manifold)
{
    const cm_box_pairs pair = {.margin = {margin}};
    const cm_box_pairs faces = {.margin = {margin + CM_SWING_OF_POINTS * swing}};
    cm_box_choice choice;
    cm_box_clipped face;
    cm_box_axes_1(transform_a, a, transform_b, b, &pair, &choice);
    if (choice.apart) {
        manifold->point_count = 0;
        manifold->normal = cm_fixed_direction();
        return 0;
    }
    bool edges = cm_box_edges_win(&choice, swing);
    if (!edges) {
        cm_box_faces_1(transform_a, a, transform_b, b, &faces, &choice.face, 1, &face);
    }
    return cm_collide_boxes(a, transform_a, b, transform_b, &choice, swing, edges ? NULL : &face,
                            manifold);
}
