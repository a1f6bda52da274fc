// Box against box: the separating axes (box_axes.inl), then face clipping or the closest points of
// two edges.
//
// Works in a's axes, from a's position, so that precision does not fall far from the origin. Faces
// are preferred to edges by a tolerance, and the more the deeper the overlap and the faster the
// boxes turn (clipping: I. Sutherland, G. Hodgman, 1974). Typical of a pile that lands: edges that
// touch at one point, faces 0.15 m deep in each other a tick later.
//
// Feature of a point, stable while the same features touch:
//   BITS   MEANING
//   0..3   edge before the clipped vertex: 0 to 3 of the incident face, 4 to 7 sides of the
//   reference 4..7   edge after it 8..10  incident face: axis x 2 + side 11..13 reference face:
//   axis x 2 + side 14     reference is b 15     edge against edge; then bits 0..1 axis of a's
//   edge, 2..3 of b's, 4..7 their sides
#include "shared/sim/collide/box_axes.h"
#include "shared/sim/collide/convex.h"
#include "shared/sim/collide/narrow.h"

#define MAX_CLIPPED 8u
// Of the swing: how much further apart than a face an edge must be, and how far ahead of a face its
// points are taken.
#define SWING_OF_EDGES  0.15f
#define SWING_OF_POINTS 0.5f

typedef struct boxes {
    float r[3][3]; // r[i][j]: a's axis i . b's axis j
    float t[3];    // b's centre in a's axes
    float half_a[3], half_b[3];
} boxes;

static boxes boxes_of(const cm_shape *a, const cm_place *pa, const cm_shape *b, const cm_place *pb)
{
    boxes x;
    const carom_vec3 *ca = &pa->rotation.x, *cb = &pb->rotation.x;
    carom_vec3 d = cm_sub(pb->position, pa->position);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            x.r[i][j] = cm_dot(ca[i], cb[j]);
        }
        x.t[i] = cm_dot(ca[i], d);
        x.half_a[i] = a->size[i];
        x.half_b[i] = b->size[i];
    }
    return x;
}

// b's centre along b's axis j, from a's.
static float along_b(const boxes *x, uint32_t j)
{
    return x->t[0] * x->r[0][j] + x->t[1] * x->r[1][j] + x->t[2] * x->r[2][j];
}

typedef struct clip_vertex {
    float p[3];          // in the reference box's axes, from its centre
    uint32_t edge_after; // 0..3 of the incident face, 4..7 side planes
} clip_vertex;

typedef struct clip_face {
    uint32_t axis, u, v; // of the reference: the face's axis and the two beside it
    float sign;
    const float *half;
} clip_face;

// Keeps the part of the polygon where sign * p[axis] <= limit.
static uint32_t clip_side(const clip_vertex *in, uint32_t count, clip_vertex *out, uint32_t axis,
                          float sign, float limit, uint32_t side)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const clip_vertex *a = &in[i], *b = &in[i + 1 < count ? i + 1 : 0];
        float da = sign * a->p[axis] - limit, db = sign * b->p[axis] - limit;
        if (da <= 0.0f && kept < MAX_CLIPPED) {
            out[kept++] = *a;
        }
        if ((da <= 0.0f) != (db <= 0.0f) && kept < MAX_CLIPPED) {
            float s = da / (da - db);
            clip_vertex *c = &out[kept++];
            for (uint32_t k = 0; k < 3; k++) {
                c->p[k] = a->p[k] + s * (b->p[k] - a->p[k]);
            }
            // Going out, the polygon goes on along the side; coming in, along the edge it came by.
            c->edge_after = da <= 0.0f ? side : a->edge_after;
        }
    }
    return kept;
}

// The incident box seen from the reference: columns are its axes, c its centre.
typedef struct incident_box {
    float axis[3][3]; // axis[k]: the incident box's axis k in the reference's axes
    float center[3];
    const float *half;
} incident_box;

static void view_incident(const boxes *x, bool reference_b, incident_box *box)
{
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            box->axis[k][i] = reference_b ? x->r[k][i] : x->r[i][k];
        }
        box->center[i] = reference_b ? -along_b(x, i) : x->t[i];
    }
    box->half = reference_b ? x->half_a : x->half_b;
}

// The incident face: that whose normal is most against the reference's. Returns axis x 2 + side.
static uint32_t incident_face(const incident_box *box, const clip_face *face, clip_vertex vertex[4])
{
    uint32_t k = 0;
    for (uint32_t i = 1; i < 3; i++) {
        if (cm_abs(box->axis[i][face->axis]) > cm_abs(box->axis[k][face->axis]) + 1.0e-5f) {
            k = i;
        }
    }
    float side = face->sign * box->axis[k][face->axis] > 0.0f ? -1.0f : 1.0f;
    uint32_t k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    for (uint32_t n = 0; n < 4; n++) {
        float s1 = n == 0 || n == 3 ? -1.0f : 1.0f, s2 = n < 2 ? -1.0f : 1.0f;
        for (uint32_t i = 0; i < 3; i++) {
            vertex[n].p[i] = box->center[i] + side * box->half[k] * box->axis[k][i] +
                             s1 * box->half[k1] * box->axis[k1][i] +
                             s2 * box->half[k2] * box->axis[k2][i];
        }
        vertex[n].edge_after = n;
    }
    return k * 2 + (side > 0.0f);
}

// Points of the clipped incident face within margin of the reference face.
static uint32_t clip_incident(const incident_box *box, const clip_face *face, float margin,
                              uint32_t feature, cm_clip_point list[MAX_CLIPPED])
{
    clip_vertex first[MAX_CLIPPED], second[MAX_CLIPPED];
    feature |= incident_face(box, face, first) << 8;
    uint32_t count = 4;
    count = clip_side(first, count, second, face->u, -1.0f, face->half[face->u], 4);
    count = clip_side(second, count, first, face->u, 1.0f, face->half[face->u], 5);
    count = clip_side(first, count, second, face->v, -1.0f, face->half[face->v], 6);
    count = clip_side(second, count, first, face->v, 1.0f, face->half[face->v], 7);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const clip_vertex *v = &first[i], *before = &first[i > 0 ? i - 1 : count - 1];
        float separation = face->sign * v->p[face->axis] - face->half[face->axis];
        if (separation <= margin) {
            list[kept].p = cm_vec(v->p[0], v->p[1], v->p[2]);
            list[kept].separation = separation;
            list[kept].feature = feature | before->edge_after | v->edge_after << 4;
            kept++;
        }
    }
    return kept;
}

static void collide_faces(const boxes *x, const cm_place *pa, const cm_place *pb, uint32_t chosen,
                          float margin, cm_manifold *manifold)
{
    bool reference_b = chosen >= 3;
    const cm_place *place = reference_b ? pb : pa;
    incident_box box;
    view_incident(x, reference_b, &box);
    clip_face face;
    face.axis = reference_b ? chosen - 3 : chosen;
    face.u = (face.axis + 1) % 3;
    face.v = (face.axis + 2) % 3;
    face.sign = box.center[face.axis] < 0.0f ? -1.0f : 1.0f;
    face.half = reference_b ? x->half_b : x->half_a;
    uint32_t feature = (reference_b ? 1u << 14 : 0u) | (face.axis * 2 + (face.sign > 0.0f)) << 11;

    cm_clip_point list[MAX_CLIPPED];
    uint32_t count = clip_incident(&box, &face, margin, feature, list);
    float n[3] = {0.0f, 0.0f, 0.0f};
    n[face.axis] = face.sign;
    carom_vec3 local = cm_vec(n[0], n[1], n[2]);
    count = cm_clip_reduce(list, count, local);
    carom_vec3 normal = cm_mat3_mul(place->rotation, local);
    carom_vec3 a_to_b = cm_sub(pb->position, pa->position);
    manifold->normal = reference_b ? cm_neg(normal) : normal;
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 p = cm_mul_add(list[i].p, -0.5f * list[i].separation, local);
        p = cm_mat3_mul(place->rotation, p);
        p = reference_b ? cm_add(p, a_to_b) : p;
        cm_manifold_add(manifold, p, a_to_b, list[i].separation, list[i].feature);
    }
}

// One point halfway between the closest points of two edges.
static void collide_edges(const boxes *x, const cm_place *pa, const cm_place *pb,
                          const cm_box_choice *choice, cm_manifold *manifold)
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
        p = cm_mul_add(p, up_a ? x->half_a[i] : -x->half_a[i], ca[i]);
        q = cm_mul_add(q, up_b ? x->half_b[j] : -x->half_b[j], cb[j]);
        feature |= (uint32_t)up_a << bit++;
        feature |= (uint32_t)up_b << bit++;
    }
    // Closest points of the lines p + s u and q + t v; u and v are unit and not parallel.
    carom_vec3 w = cm_sub(q, p);
    float uv = cm_dot(u, v), uw = cm_dot(u, w), vw = cm_dot(v, w);
    float det = 1.0f - uv * uv;
    float s = (uw - uv * vw) / det, t = (uv * uw - vw) / det;
    s = cm_clamp(s, -x->half_a[choice->edge_a], x->half_a[choice->edge_a]);
    t = cm_clamp(t, -x->half_b[choice->edge_b], x->half_b[choice->edge_b]);
    p = cm_mul_add(p, s, u);
    q = cm_mul_add(q, t, v);
    manifold->normal = n;
    cm_manifold_add(manifold, cm_scale(0.5f, cm_add(p, q)), a_to_b, choice->edge_separation,
                    feature);
}

uint32_t cm_collide_boxes(const cm_shape *a, const cm_place *place_a, const cm_shape *b,
                          const cm_place *place_b, const cm_box_choice *choice, float margin,
                          float swing, cm_manifold *manifold)
{
    boxes x = boxes_of(a, place_a, b, place_b);
    manifold->point_count = 0;
    bool has_edge = choice->edge_a < 3;
    float bound = cm_edge_bound(choice->separation) + SWING_OF_EDGES * swing;
    if (has_edge && choice->edge_separation > bound) {
        collide_edges(&x, place_a, place_b, choice, manifold);
        return manifold->point_count;
    }
    collide_faces(&x, place_a, place_b, choice->face, margin + SWING_OF_POINTS * swing, manifold);
    // Overlapping boxes always touch somewhere: where clipping left nothing, their edges do.
    if (manifold->point_count == 0 && has_edge && choice->separation <= 0.0f) {
        collide_edges(&x, place_a, place_b, choice, manifold);
    }
    return manifold->point_count;
}

uint32_t cm_collide_box_box(const cm_shape *a, const cm_place *place_a, const cm_shape *b,
                            const cm_place *place_b, float margin, cm_manifold *manifold)
{
    const cm_box_pairs pair = {.margin = {margin}};
    cm_box_choice choice;
    cm_box_axes_1(place_a, a, place_b, b, &pair, &choice);
    if (choice.apart) {
        manifold->point_count = 0;
        manifold->normal = cm_fixed_direction();
        return 0;
    }
    return cm_collide_boxes(a, place_a, b, place_b, &choice, margin, 0.0f, manifold);
}
