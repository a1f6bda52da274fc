// Axes for cores that overlap, where GJK has no answer. Candidates are all that can be exact:
// normals of faces and caps, products of edges and axes, and for a cylinder the directions from its
// axis to the other's corners; each is judged by the true supports. A rim against an edge or a rim
// has its axis between the candidates: the best one is turned as long as that gains.
//
// A face is kept unless another axis is better by EDGE_TOLERANCE, as between boxes. Typical: 15
// candidates for a cylinder and a box, some 100 for a hull of 20 vertices.
#include "shared/sim/collide/axis.h"

#define EDGE_TOLERANCE 0.0010f // m
#define TURNS          8u
#define GAP            0.005f  // m, by which they are drawn apart
#define GAIN           1.0e-5f // m, below which turning ends

typedef struct search {
    const cm_core *a, *b;
    cm_axis face, other;
} search;

static float separation_along(const search *s, carom_vec3 n, carom_vec3 *gradient)
{
    carom_vec3 d = cm_sub(cm_core_support(s->b, cm_neg(n)), cm_core_support(s->a, n));
    *gradient = d;
    return cm_dot(n, d);
}

static void try_face(search *s, carom_vec3 n)
{
    carom_vec3 unused;
    float separation = separation_along(s, n, &unused);
    if (separation > s->face.separation) {
        s->face = (cm_axis){n, separation};
    }
}

// Both senses of a direction of any length.
static void try_other(search *s, carom_vec3 d, bool both)
{
    carom_vec3 n = cm_normalize(d), unused;
    if (cm_length_squared(n) < 0.5f) {
        return;
    }
    for (int i = 0; i < (both ? 2 : 1); i++) {
        float separation = separation_along(s, n, &unused);
        if (separation > s->other.separation) {
            s->other = (cm_axis){n, separation};
        }
        n = cm_neg(n);
    }
}

static void try_faces_of(search *s, const cm_core *core, float sense)
{
    if (core->kind == CM_CORE_CYLINDER) {
        try_face(s, core->axis);
        try_face(s, cm_neg(core->axis));
    }
    for (uint32_t f = 0; core->kind == CM_CORE_POLY && f < core->poly->face_count; f++) {
        try_face(s, cm_scale(sense, cm_poly_normal(core->poly, f)));
    }
}

static uint32_t edge_count(const cm_core *core)
{
    return core->kind == CM_CORE_POLY ? core->poly->edge_count
                                      : (core->kind == CM_CORE_POINT ? 0u : 1u);
}

static carom_vec3 edge_of(const cm_core *core, uint32_t i)
{
    if (core->kind != CM_CORE_POLY) {
        return core->axis;
    }
    const cm_hull_edge *edge = &core->poly->edges[i];
    return cm_sub(cm_poly_vertex(core->poly, edge->vertex[1]),
                  cm_poly_vertex(core->poly, edge->vertex[0]));
}

static void try_edges(search *s)
{
    for (uint32_t i = 0; i < edge_count(s->a); i++) {
        for (uint32_t k = 0; k < edge_count(s->b); k++) {
            carom_vec3 u = edge_of(s->a, i), v = edge_of(s->b, k), n = cm_cross(u, v);
            if (cm_dot(n, n) > 1.0e-6f * cm_dot(u, u) * cm_dot(v, v)) {
                try_other(s, n, true);
            }
        }
    }
}

// From the axis of a cylinder straight out to the other's corners.
static void try_radial(search *s, const cm_core *cylinder, const cm_core *other, float sense)
{
    if (cylinder->kind != CM_CORE_CYLINDER) {
        return;
    }
    uint32_t corners = other->kind == CM_CORE_POLY ? other->poly->vertex_count : 3;
    for (uint32_t i = 0; i < corners; i++) {
        carom_vec3 p =
            other->kind == CM_CORE_POLY
                ? cm_poly_vertex(other->poly, i)
                : cm_mul_add(other->center, other->half * (float)((int)i - 1), other->axis);
        carom_vec3 d = cm_sub(p, cylinder->center);
        d = cm_mul_add(d, -cm_dot(d, cylinder->axis), cylinder->axis);
        try_other(s, cm_scale(sense, d), false);
    }
}

// A better axis near this one: the cylinder is drawn out along it until the two are apart; the
// direction of the distance there is at least as good. What GJK gets wrong is not taken.
static cm_axis turn(const search *s, cm_axis axis)
{
    for (uint32_t i = 0; i < TURNS; i++) {
        float gap = cm_max(GAP, cm_abs(axis.separation));
        carom_vec3 shift = cm_scale(gap - cm_min(axis.separation, 0.0f), axis.normal), unused;
        cm_core a = *s->a, b = *s->b;
        if (a.kind == CM_CORE_CYLINDER) {
            a.center = cm_sub(a.center, shift);
        } else {
            b.center = cm_add(b.center, shift);
        }
        cm_gjk result;
        cm_gjk_distance(&a, &b, &result);
        if (cm_length_squared(result.direction) < 0.5f) {
            break;
        }
        float separation = separation_along(s, result.direction, &unused);
        if (!(separation > axis.separation + GAIN)) {
            break;
        }
        axis = (cm_axis){result.direction, separation};
    }
    return axis;
}

cm_axis cm_axis_search(const cm_core *a, const cm_core *b)
{
    search s = {a, b, {cm_fixed_direction(), -1.0e30f}, {cm_fixed_direction(), -1.0e30f}};
    try_faces_of(&s, a, 1.0f);
    try_faces_of(&s, b, -1.0f);
    try_edges(&s);
    try_radial(&s, a, b, 1.0f);
    try_radial(&s, b, a, -1.0f);
    try_other(&s, cm_sub(b->center, a->center), false);
    if (a->kind == CM_CORE_CYLINDER || b->kind == CM_CORE_CYLINDER) {
        cm_axis best = s.other.separation > s.face.separation ? s.other : s.face;
        best = turn(&s, best);
        if (best.separation > s.other.separation) {
            s.other = best;
        }
    }
    bool other = s.other.separation > s.face.separation + EDGE_TOLERANCE;
    if (s.face.separation < -1.0e29f && s.other.separation < -1.0e29f) {
        s.face.separation = 0.0f; // two cores in one place that have no axis at all
    }
    return other ? s.other : s.face;
}

void cm_axis_point_cylinder(const cm_core *a, const cm_core *b, cm_axis *axis, cm_gjk *closest)
{
    carom_vec3 d = cm_sub(a->center, b->center);
    float along = cm_dot(d, b->axis);
    carom_vec3 out = cm_mul_add(d, -along, b->axis);
    float radius = cm_length(out);
    carom_vec3 radial = radius > 1.0e-6f ? cm_scale(1.0f / radius, out) : b->rotation.x;
    carom_vec3 up = along < 0.0f ? cm_neg(b->axis) : b->axis;
    float above = cm_abs(along) - b->half, beyond = radius - b->girth;
    carom_vec3 normal;
    if (above > 0.0f && beyond > 0.0f) {
        axis->separation = cm_sqrt(above * above + beyond * beyond);
        normal = cm_normalize(cm_add(cm_scale(above, up), cm_scale(beyond, radial)));
    } else {
        bool cap = above > beyond;
        axis->separation = cap ? above : beyond;
        normal = cap ? up : radial;
    }
    axis->normal = cm_neg(normal); // from the point to the cylinder
    closest->on_a = a->center;
    closest->on_b = cm_mul_add(a->center, -axis->separation, normal);
    closest->distance = cm_max(axis->separation, 0.0f);
    closest->direction = axis->normal;
    closest->iterations = 0;
}
