// The general narrow phase: all pairs with a cylinder, and spheres and capsules against hulls.
//
// GJK gives the direction while the cores are apart, a search over axes where they overlap or
// nearly do. The points come from features: a face or cap that looks along the direction is the
// reference, and the other's face, cap, side line or segment is clipped by it; where none does, or
// its points miss the true distance, one point between the closest points, or two where lines lie
// side by side. A cap is clipped as a polygon of 16 corners on the true rim, turned so that one
// corner is the deepest point; a side is the line below the axis. So a cylinder stands on its face
// and rolls on its side, and depths are those of the true shape.
//
// Features: clip.c's for faces; bit 29 for points without a reference: 0 alone, 1 and 2 of lines.
#include "shared/sim/collide/axis.h"

#define NEAR       5.0e-4f // m: GJK's direction is used from here on
#define FACE_COS   0.99f   // directions within 8 degrees of a face's use the face
#define FACE_PICK  5.0e-4f // a's face unless b's fits better by this much of a cosine
#define FACE_MISS  0.002f  // m, by which a face's points may miss the true distance
#define LINE_COS   0.05f   // an edge is a line of contact within 3 degrees
#define CAP_COS    0.5f    // a cylinder tilted less than 60 degrees offers its cap
#define FLAT       0.02f   // sine of the tilt below which a cap lies flat
#define UPRIGHT    0.001f  // sine of the tilt below which a cap's corners stand fixed
#define CAP_POINTS 16u

static const float cap_cos[CAP_POINTS] = {1.0f,  0.923879533f,  0.707106781f,  0.382683432f,
                                          0.0f,  -0.382683432f, -0.707106781f, -0.923879533f,
                                          -1.0f, -0.923879533f, -0.707106781f, -0.382683432f,
                                          0.0f,  0.382683432f,  0.707106781f,  0.923879533f};

// The cap on the side of d; `turned` puts a corner where the cap is farthest along d.
static void cap_feature(const cm_core *core, carom_vec3 d, bool turned, cm_feature *feature)
{
    float along = cm_dot(d, core->axis);
    carom_vec3 up = along < 0.0f ? cm_neg(core->axis) : core->axis;
    carom_vec3 middle = cm_mul_add(core->center, core->half, up);
    carom_vec3 e = cm_scale(cm_dot(d, core->rotation.x), core->rotation.x);
    e = cm_mul_add(e, cm_dot(d, core->rotation.z), core->rotation.z);
    float tilt = cm_length(e);
    e = turned && tilt > UPRIGHT ? cm_scale(1.0f / tilt, e) : core->rotation.x;
    carom_vec3 f = cm_cross(up, e);
    feature->count = CAP_POINTS;
    feature->normal = up;
    feature->id = along < 0.0f;
    for (uint32_t i = 0; i < CAP_POINTS; i++) {
        carom_vec3 p = cm_mul_add(middle, core->girth * cap_cos[i], e);
        feature->points[i] = cm_mul_add(p, core->girth * cap_cos[(i + 12) % CAP_POINTS], f);
    }
}

static void line_from(const cm_core *core, carom_vec3 offset, uint32_t id, cm_feature *feature)
{
    carom_vec3 middle = cm_add(core->center, offset);
    feature->count = 2;
    feature->id = id;
    feature->points[0] = cm_mul_add(middle, -core->half, core->axis);
    feature->points[1] = cm_mul_add(middle, core->half, core->axis);
}

static void point_feature(carom_vec3 p, cm_feature *feature)
{
    feature->count = 1;
    feature->id = 0;
    feature->points[0] = p;
}

// The line of a cylinder's side that lies farthest along d.
static void side_feature(const cm_core *core, carom_vec3 d, cm_feature *feature)
{
    carom_vec3 out = cm_normalize(cm_mul_add(d, -cm_dot(d, core->axis), core->axis));
    line_from(core, cm_scale(core->girth, out), 2, feature);
}

static uint32_t face_along(const cm_poly *poly, carom_vec3 d, float *cosine)
{
    uint32_t best = 0;
    *cosine = cm_dot(cm_poly_normal(poly, 0), d);
    for (uint32_t f = 1; f < poly->face_count; f++) {
        float here = cm_dot(cm_poly_normal(poly, f), d);
        if (here > *cosine + 1.0e-5f) {
            *cosine = here;
            best = f;
        }
    }
    return best;
}

static bool lies_flat(const cm_core *core, carom_vec3 d)
{
    float cosine = cm_dot(core->axis, d);
    return core->kind == CM_CORE_CYLINDER && cosine * cosine > 1.0f - FLAT * FLAT;
}

// Finds the feature of the core that the other's face clips; d points from the core to the other.
static void incident_feature(const cm_core *core, carom_vec3 d, cm_feature *feature)
{
    float cosine;
    switch (core->kind) {
    case CM_CORE_POINT:
        point_feature(core->center, feature);
        break;
    case CM_CORE_SEGMENT:
        line_from(core, cm_vec(0.0f, 0.0f, 0.0f), 0, feature);
        break;
    case CM_CORE_CYLINDER:
        if (cm_abs(cm_dot(d, core->axis)) > CAP_COS) {
            cap_feature(core, d, !lies_flat(core, d), feature);
        } else {
            side_feature(core, d, feature);
        }
        break;
    default:
        cm_poly_face(core->poly, face_along(core->poly, d, &cosine), feature);
        break;
    }
}

// The cosine of d to the face or cap that looks most along it; -1 where the core has none.
static float reference_cosine(const cm_core *core, carom_vec3 d)
{
    float cosine = -1.0f;
    if (core->kind == CM_CORE_POLY) {
        face_along(core->poly, d, &cosine);
    } else if (core->kind == CM_CORE_CYLINDER) {
        cosine = cm_abs(cm_dot(core->axis, d));
    }
    return cosine;
}

static void reference_feature(const cm_core *core, carom_vec3 d, cm_feature *feature)
{
    if (core->kind == CM_CORE_CYLINDER) {
        cap_feature(core, d, false, feature);
    } else {
        float cosine;
        cm_poly_face(core->poly, face_along(core->poly, d, &cosine), feature);
    }
}

// Of a cap that lies flat: the points farthest along four directions that turn with it. Which of 16
// points is the deepest is noise there, and contacts must not jump about with it.
static uint32_t spread_points(const cm_core *cylinder, cm_clip_point *list, uint32_t count)
{
    carom_vec3 d[2] = {cylinder->rotation.x, cylinder->rotation.z};
    cm_clip_point kept[4];
    uint32_t taken[4], size = 0, names = list[0].feature & 0x0fffc000u;
    for (uint32_t k = 0; k < 4; k++) {
        carom_vec3 along = k & 1u ? cm_neg(d[k >> 1]) : d[k >> 1];
        uint32_t best = 0;
        bool again = false;
        for (uint32_t i = 1; i < count; i++) {
            best = cm_dot(along, list[i].p) > cm_dot(along, list[best].p) ? i : best;
        }
        for (uint32_t i = 0; i < size; i++) {
            again = again || taken[i] == best;
        }
        if (!again) {
            taken[size] = best;
            kept[size] = list[best];
            kept[size++].feature = names | k;
        }
    }
    for (uint32_t i = 0; i < size; i++) {
        list[i] = kept[i];
    }
    return size;
}

static uint32_t choose(const cm_core *reference, const cm_core *incident, const cm_feature *face,
                       carom_vec3 normal, cm_clip_point *list, uint32_t count)
{
    bool many = count > CM_MANIFOLD_MAX;
    if (many && lies_flat(incident, normal)) {
        return spread_points(incident, list, count);
    }
    float cosine = face->count > 2 ? cm_dot(face->normal, normal) : 0.0f;
    if (many && reference->kind == CM_CORE_CYLINDER && cosine * cosine > 1.0f - FLAT * FLAT) {
        return spread_points(reference, list, count);
    }
    return cm_clip_reduce(list, count, normal);
}

// Points over a face of one of the two; false where none looks along the axis or it misses.
static bool collide_features(const cm_core *a, const cm_core *b, const cm_axis *axis, float margin,
                             cm_manifold *manifold)
{
    float fit_a = reference_cosine(a, axis->normal);
    float fit_b = reference_cosine(b, cm_neg(axis->normal));
    bool reference_b = fit_b > fit_a + FACE_PICK;
    if ((reference_b ? fit_b : fit_a) < FACE_COS) {
        return false;
    }
    cm_feature reference, incident;
    cm_clip_point list[CM_CLIP_POINTS];
    const cm_core *with = reference_b ? a : b;
    reference_feature(reference_b ? b : a, reference_b ? cm_neg(axis->normal) : axis->normal,
                      &reference);
    incident_feature(with, cm_neg(reference.normal), &incident);
    uint32_t count = cm_clip(&reference, &incident, with->radius, margin, list);
    float lowest = 1.0e30f;
    for (uint32_t i = 0; i < count; i++) {
        lowest = cm_min(lowest, list[i].separation);
    }
    if (!(lowest <= axis->separation - a->radius - b->radius + FACE_MISS)) {
        return false;
    }
    count = choose(reference_b ? b : a, with, &incident, reference.normal, list, count);
    manifold->normal = reference_b ? cm_neg(reference.normal) : reference.normal;
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 p = cm_mul_add(list[i].p, -0.5f * list[i].separation, reference.normal);
        cm_manifold_add(manifold, p, b->center, list[i].separation,
                        list[i].feature | (reference_b ? 1u << 28 : 0u));
    }
    return true;
}

// The line or the point of the core that lies farthest along d.
static void line_feature(const cm_core *core, carom_vec3 d, cm_feature *feature)
{
    if (core->kind == CM_CORE_POLY) {
        const cm_poly *poly = core->poly;
        uint32_t nearest = cm_poly_support(poly, d);
        float least = LINE_COS;
        point_feature(cm_poly_vertex(poly, nearest), feature);
        for (uint32_t i = 0; i < poly->edge_count; i++) {
            const uint8_t *v = poly->edges[i].vertex;
            if (v[0] == nearest || v[1] == nearest) {
                carom_vec3 u = cm_sub(cm_poly_vertex(poly, v[1]), cm_poly_vertex(poly, v[0]));
                float slope = cm_abs(cm_dot(u, d)) / cm_max(cm_length(u), 1.0e-12f);
                if (slope < least) {
                    least = slope;
                    feature->count = 2;
                    feature->points[0] = cm_poly_vertex(poly, v[0]);
                    feature->points[1] = cm_poly_vertex(poly, v[1]);
                }
            }
        }
        return;
    }
    bool line = core->kind != CM_CORE_POINT && cm_abs(cm_dot(core->axis, d)) < LINE_COS;
    if (!line) {
        point_feature(cm_core_support(core, d), feature);
    } else if (core->kind == CM_CORE_SEGMENT) {
        line_from(core, cm_vec(0.0f, 0.0f, 0.0f), 0, feature);
    } else {
        side_feature(core, d, feature);
    }
}

static void add_between(const cm_core *a, const cm_core *b, carom_vec3 on_a, float separation,
                        uint32_t feature, cm_manifold *manifold)
{
    carom_vec3 p = cm_mul_add(on_a, a->radius + 0.5f * separation, manifold->normal);
    cm_manifold_add(manifold, p, b->center, separation, 1u << 29 | feature);
}

// Both ends of the stretch in which two lines lie side by side.
static bool side_by_side(const cm_core *a, const cm_core *b, const cm_feature *fa,
                         const cm_feature *fb, float margin, cm_manifold *manifold)
{
    carom_vec3 u = cm_sub(fa->points[1], fa->points[0]), v = cm_sub(fb->points[1], fb->points[0]);
    carom_vec3 c = cm_cross(u, v);
    float uu = cm_dot(u, u), vv = cm_dot(v, v);
    if (uu < 1.0e-12f || vv < 1.0e-12f || cm_dot(c, c) > LINE_COS * LINE_COS * uu * vv) {
        return false;
    }
    float s = cm_dot(cm_sub(fb->points[0], fa->points[0]), u) / uu;
    float t = cm_dot(cm_sub(fb->points[1], fa->points[0]), u) / uu;
    float ends[2] = {cm_max(0.0f, cm_min(s, t)), cm_min(1.0f, cm_max(s, t))};
    if (ends[1] - ends[0] < 0.05f) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        carom_vec3 p = cm_mul_add(fa->points[0], ends[i], u);
        float w = cm_clamp(cm_dot(cm_sub(p, fb->points[0]), v) / vv, 0.0f, 1.0f);
        carom_vec3 q = cm_mul_add(fb->points[0], w, v);
        float separation = cm_dot(manifold->normal, cm_sub(q, p)) - a->radius - b->radius;
        if (separation <= margin) {
            add_between(a, b, p, separation, 1 + i, manifold);
        }
    }
    return manifold->point_count > 0;
}

// The point of a's feature nearest to b's, both points or lines.
static carom_vec3 nearest_on(const cm_feature *fa, const cm_feature *fb)
{
    carom_vec3 p = fa->points[0], q = fb->points[0];
    if (fa->count == 1) {
        return p;
    }
    carom_vec3 u = cm_sub(fa->points[1], p), w = cm_sub(q, p);
    float uu = cm_max(cm_dot(u, u), 1.0e-20f), s = cm_dot(u, w) / uu;
    if (fb->count == 2) {
        carom_vec3 v = cm_sub(fb->points[1], q);
        float vv = cm_dot(v, v), uv = cm_dot(u, v), det = uu * vv - uv * uv;
        if (det > 1.0e-6f * uu * vv) {
            s = (cm_dot(u, w) * vv - uv * cm_dot(v, w)) / det;
        }
    }
    return cm_mul_add(p, cm_clamp(s, 0.0f, 1.0f), u);
}

static void collide_lines(const cm_core *a, const cm_core *b, const cm_axis *axis,
                          const cm_gjk *closest, float margin, cm_manifold *manifold)
{
    cm_feature fa, fb;
    manifold->normal = axis->normal;
    line_feature(a, axis->normal, &fa);
    line_feature(b, cm_neg(axis->normal), &fb);
    if (fa.count == 2 && fb.count == 2 && side_by_side(a, b, &fa, &fb, margin, manifold)) {
        return;
    }
    float separation = axis->separation - a->radius - b->radius;
    carom_vec3 on_a;
    if (closest) {
        on_a = closest->on_a;
    } else if (fa.count == 1) {
        on_a = fa.points[0];
    } else if (fb.count == 1) {
        on_a = cm_mul_add(fb.points[0], -axis->separation, axis->normal);
    } else {
        on_a = nearest_on(&fa, &fb);
    }
    add_between(a, b, on_a, separation, 0, manifold);
}

uint32_t cm_collide_cores(const cm_core *a, const cm_core *b, float margin, cm_manifold *manifold)
{
    cm_gjk closest;
    cm_axis axis;
    float radius = a->radius + b->radius;
    bool apart = true;
    manifold->point_count = 0;
    manifold->normal = cm_fixed_direction();
    if (a->kind == CM_CORE_POINT && b->kind == CM_CORE_CYLINDER) {
        cm_axis_point_cylinder(a, b, &axis, &closest);
    } else {
        cm_gjk_distance(a, b, &closest);
        carom_vec3 n = closest.direction;
        float sure = cm_dot(n, cm_sub(cm_core_support(b, cm_neg(n)), cm_core_support(a, n)));
        if (sure - radius > margin) {
            return 0;
        }
        // Among points of a rim that are nearly alike GJK may stop early: then what its direction
        // is sure of falls short of the distance.
        float size = cm_length(closest.on_a) + a->half + b->half;
        axis = (cm_axis){n, closest.distance};
        apart = closest.distance > NEAR + 2.0e-5f * size && sure > closest.distance - NEAR;
        if (!apart) {
            axis = cm_axis_search(a, b);
        }
    }
    if (axis.separation - radius > margin) {
        return 0;
    }
    if (!collide_features(a, b, &axis, margin, manifold)) {
        manifold->point_count = 0;
        collide_lines(a, b, &axis, apart ? &closest : NULL, margin, manifold);
    }
    return manifold->point_count;
}
