// Clipping of a feature by the sides of a face, and the choice of four points (I. Sutherland, G.
// Hodgman, 1974). Typical: a quadrilateral by a quadrilateral, 4 to 8 points.
#include "shared/sim/collide/convex.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#define SIDE         64u // names of the reference's sides begin here
#define OUTLINE_ROWS (CM_CLIP_POINTS + CM_LANES)

// A polygon or a segment by coordinate. Rows behind the last one repeat the first where lanes read.
typedef struct outline {
    uint32_t count;
    float x[OUTLINE_ROWS], y[OUTLINE_ROWS], z[OUTLINE_ROWS];
    uint32_t after[OUTLINE_ROWS]; // the edge that leaves each
} outline;

typedef struct clip_side {
    carom_vec3 normal; // outward
    float offset;
} clip_side;

static carom_vec3 point_of(const outline *o, uint32_t i)
{
    return cm_vec(o->x[i], o->y[i], o->z[i]);
}

static void put_point(outline *o, uint32_t i, carom_vec3 p)
{
    o->x[i] = p.x;
    o->y[i] = p.y;
    o->z[i] = p.z;
}

static void pad(outline *o)
{
    carom_vec3 first = point_of(o, 0);
    for (uint32_t i = o->count; i % CM_LANES != 0; i++) {
        put_point(o, i, first);
    }
}

// The distance by which each point stands out; returns how many do.
static uint32_t measure(const outline *o, const clip_side *by, float *out)
{
    cm_fvec n = cm_fvec_set(by->normal.x, by->normal.y, by->normal.z);
    cm_f offset = cm_lanes_set(by->offset), zero = cm_lanes_set(0.0f);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < o->count; i += CM_LANES) {
        cm_fvec p = {cm_lanes_load(o->x + i), cm_lanes_load(o->y + i), cm_lanes_load(o->z + i)};
        cm_f d = cm_fvec_dot(n, p) - offset;
        cm_lanes_store(out + i, d);
        uint32_t left = o->count - i, used = left < CM_LANES ? (1u << left) - 1u : ~0u;
        inside += (uint32_t)__builtin_popcount(cm_lanes_true(cm_lanes_at_most(d, zero)) & used);
    }
    return o->count - inside;
}

// The part of a polygon behind one side.
static void clip_polygon(const outline *in, const float *d, outline *out, uint32_t name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t next = i + 1 < in->count ? i + 1 : 0;
        carom_vec3 a = point_of(in, i);
        if (d[i] <= 0.0f && kept < CM_CLIP_POINTS) {
            out->after[kept] = in->after[i];
            put_point(out, kept++, a);
        }
        if ((d[i] <= 0.0f) != (d[next] <= 0.0f) && kept < CM_CLIP_POINTS) {
            carom_vec3 way = cm_sub(point_of(in, next), a);
            // Going out, the polygon goes on along the side; coming in, along the edge it came by.
            out->after[kept] = d[i] <= 0.0f ? name : in->after[i];
            put_point(out, kept++, cm_mul_add(a, d[i] / (d[i] - d[next]), way));
        }
    }
    out->count = kept;
}

// The part of a segment behind one side: its ends keep their names.
static void clip_segment(outline *s, const float *d)
{
    if (d[0] > 0.0f && d[1] > 0.0f) {
        s->count = 0;
    } else if (d[0] > 0.0f || d[1] > 0.0f) {
        carom_vec3 way = cm_sub(point_of(s, 1), point_of(s, 0));
        put_point(s, d[0] > 0.0f ? 0 : 1, cm_mul_add(point_of(s, 0), d[0] / (d[0] - d[1]), way));
    }
}

static uint32_t emit(const cm_feature *reference, uint32_t names, const outline *o, float radius,
                     float margin, cm_clip_point *out)
{
    float plane = cm_dot(reference->normal, reference->points[0]);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        carom_vec3 p = point_of(o, i);
        float separation = cm_dot(reference->normal, p) - plane - radius;
        if (separation <= margin) {
            out[kept].p = cm_mul_add(p, -radius, reference->normal);
            out[kept].separation = separation;
            out[kept].feature = names | o->after[i > 0 ? i - 1 : o->count - 1] | o->after[i] << 7;
            kept++;
        }
    }
    return kept;
}

// The part of `in` behind one side, here or in `spare`.
static outline *cut(outline *in, outline *spare, const clip_side *by, uint32_t corners,
                    uint32_t name)
{
    float d[OUTLINE_ROWS];
    pad(in);
    if (measure(in, by, d) == 0) {
        return in;
    }
    if (in->count == 2 && corners == 2) {
        clip_segment(in, d);
    } else if (in->count == 1 && corners == 1) {
        in->count = 0;
    } else {
        clip_polygon(in, d, spare, name);
        return spare;
    }
    return in;
}

uint32_t cm_clip(const cm_feature *reference, const cm_feature *incident, float radius,
                 float margin, cm_clip_point *list)
{
    outline first, second, *in = &first;
    uint32_t names = (incident->id & 127u) << 14 | (reference->id & 127u) << 21;
    in->count = incident->count;
    for (uint32_t i = 0; i < in->count; i++) {
        put_point(in, i, incident->points[i]);
        in->after[i] = i;
    }
    for (uint32_t i = 0; i < reference->count && in->count > 0; i++) {
        carom_vec3 a = reference->points[i];
        carom_vec3 b = reference->points[i + 1 < reference->count ? i + 1 : 0];
        clip_side by = {cm_normalize(cm_cross(cm_sub(b, a), reference->normal)), 0.0f};
        by.offset = cm_dot(by.normal, a);
        in = cut(in, in == &first ? &second : &first, &by, incident->count, SIDE + (i & 63u));
    }
    return emit(reference, names, in, radius, margin, list);
}

static float area(const cm_clip_point *a, const cm_clip_point *b, const cm_clip_point *c,
                  carom_vec3 normal)
{
    return cm_dot(cm_cross(cm_sub(b->p, a->p), cm_sub(c->p, a->p)), normal);
}

uint32_t cm_clip_reduce(cm_clip_point *list, uint32_t count, carom_vec3 normal)
{
    if (count <= CM_MANIFOLD_MAX) {
        return count;
    }
    uint32_t a = 0, b = 0, c = CM_NONE, d = CM_NONE;
    for (uint32_t i = 1; i < count; i++) {
        a = list[i].separation < list[a].separation - 1.0e-5f ? i : a;
    }
    float far = -1.0f, most = 0.0f, least = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        float distance = cm_length_squared(cm_sub(list[i].p, list[a].p));
        if (i != a && distance > far) {
            far = distance;
            b = i;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        float here = area(&list[a], &list[b], &list[i], normal);
        if (here > most) {
            most = here;
            c = i;
        }
        if (here < least) {
            least = here;
            d = i;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == a || i == b || i == c || i == d) {
            list[kept++] = list[i];
        }
    }
    return kept;
}
