// Clipping of a feature by the sides of a face, and the choice of four points (I. Sutherland, G.
// Hodgman, 1974). Typical: a quadrilateral by a quadrilateral, 4 to 8 points.
#include "shared/sim/collide/convex.h"

#define SIDE 64u // names of the reference's sides begin here

typedef struct vertex {
    carom_vec3 p;
    uint32_t after; // the edge that leaves it
} vertex;

// The part of a polygon behind one side.
static uint32_t clip_polygon(const vertex *in, uint32_t count, vertex *out, carom_vec3 n,
                             float offset, uint32_t side)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const vertex *a = &in[i], *b = &in[i + 1 < count ? i + 1 : 0];
        float da = cm_dot(n, a->p) - offset, db = cm_dot(n, b->p) - offset;
        if (da <= 0.0f && kept < CM_CLIP_POINTS) {
            out[kept++] = *a;
        }
        if ((da <= 0.0f) != (db <= 0.0f) && kept < CM_CLIP_POINTS) {
            vertex *c = &out[kept++];
            c->p = cm_mul_add(a->p, da / (da - db), cm_sub(b->p, a->p));
            // Going out, the polygon goes on along the side; coming in, along the edge it came by.
            c->after = da <= 0.0f ? side : a->after;
        }
    }
    return kept;
}

// The part of a segment behind one side: its ends keep their names.
static uint32_t clip_segment(vertex ends[2], carom_vec3 n, float offset)
{
    float da = cm_dot(n, ends[0].p) - offset, db = cm_dot(n, ends[1].p) - offset;
    if (da > 0.0f && db > 0.0f) {
        return 0;
    }
    if (da > 0.0f || db > 0.0f) {
        vertex *cut = &ends[da > 0.0f ? 0 : 1];
        cut->p = cm_mul_add(ends[0].p, da / (da - db), cm_sub(ends[1].p, ends[0].p));
    }
    return 2;
}

static uint32_t emit(const cm_feature *reference, uint32_t names, const vertex *list,
                     uint32_t count, float radius, float margin, cm_clip_point *out)
{
    float plane = cm_dot(reference->normal, reference->points[0]);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const vertex *v = &list[i], *before = &list[i > 0 ? i - 1 : count - 1];
        float separation = cm_dot(reference->normal, v->p) - plane - radius;
        if (separation <= margin) {
            out[kept].p = cm_mul_add(v->p, -radius, reference->normal);
            out[kept].separation = separation;
            out[kept].feature = names | before->after | v->after << 7;
            kept++;
        }
    }
    return kept;
}

uint32_t cm_clip(const cm_feature *reference, const cm_feature *incident, float radius,
                 float margin, cm_clip_point *list)
{
    vertex first[CM_CLIP_POINTS], second[CM_CLIP_POINTS];
    vertex *in = first, *out = second;
    uint32_t count = incident->count;
    uint32_t names = (incident->id & 127u) << 14 | (reference->id & 127u) << 21;
    for (uint32_t i = 0; i < count; i++) {
        in[i].p = incident->points[i];
        in[i].after = i;
    }
    for (uint32_t i = 0; i < reference->count && count > 0; i++) {
        carom_vec3 a = reference->points[i];
        carom_vec3 b = reference->points[i + 1 < reference->count ? i + 1 : 0];
        carom_vec3 n = cm_normalize(cm_cross(cm_sub(b, a), reference->normal));
        float offset = cm_dot(n, a);
        if (count == 2 && incident->count == 2) {
            count = clip_segment(in, n, offset);
        } else if (count == 1 && incident->count == 1) {
            count = cm_dot(n, in[0].p) <= offset ? 1 : 0;
        } else {
            count = clip_polygon(in, count, out, n, offset, SIDE + (i & 63u));
            vertex *swap = in;
            in = out;
            out = swap;
        }
    }
    return emit(reference, names, in, count, radius, margin, list);
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
