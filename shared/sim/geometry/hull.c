// Hulls: from what the builder found to the canonical form, and what can be asked of one.
//
// Planes are fitted in binary64 (M. Newell's normal, about the face's middle) and rounded once; the
// offset is the farthest vertex along the rounded normal, so no vertex stands out of a face by more
// than the rounding of one product.
#include "shared/sim/geometry/hull.h"

#include "shared/base/hash.h"
#include "shared/base/vec.h"
#include "shared/sim/state/check.h"
#include "shared/base/fpenv.h"

#include <string.h>

#define ON_EDGE 1e-3f // of a hull's size: within it a point lies on an edge

static bool is_below(const double a[3], const double b[3])
{
    if (a[0] != b[0]) {
        return a[0] < b[0];
    }
    return a[1] != b[1] ? a[1] < b[1] : a[2] < b[2];
}

// Vertices that stand in a face, in ascending order; `place` tells where each went.
static void pack_vertices(carom_hull *hull, const cm_hull_build *build, uint8_t *place)
{
    uint32_t order[CM_HULL_VERTICES], count = 0;
    uint64_t used = 0;
    for (uint32_t f = 0; f < build->face_count; f++) {
        for (uint32_t i = 0; i < build->face_size[f]; i++) {
            used |= 1ull << build->faces[f][i];
        }
    }
    for (uint32_t i = 0; i < build->vertex_count; i++) {
        if (!(used >> i & 1u)) {
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && is_below(build->vertices[i], build->vertices[order[at - 1]]); at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    hull->vertex_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const double *v = build->vertices[order[i]];
        // -0 and 0 are one place.
        hull->vertices[i] = cm_vec((float)v[0] + 0.0f, (float)v[1] + 0.0f, (float)v[2] + 0.0f);
        place[order[i]] = (uint8_t)i;
    }
    for (uint32_t i = count; i < CM_HULL_VERTICES; i++) {
        hull->vertices[i] = hull->vertices[0];
    }
}

typedef struct face {
    uint8_t size;
    uint8_t loop[CM_HULL_VERTICES];
} face;

static bool face_is_below(const face *a, const face *b)
{
    uint32_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->loop, b->loop, size);
    return order != 0 ? order < 0 : a->size < b->size;
}

static void pack_faces(carom_hull *hull, const cm_hull_build *build, const uint8_t *place)
{
    face faces[CM_HULL_FACES];
    for (uint32_t f = 0; f < build->face_count; f++) {
        face x;
        uint32_t lowest = 0;
        memset(&x, 0, sizeof x);
        x.size = build->face_size[f];
        for (uint32_t i = 1; i < x.size; i++) {
            lowest = place[build->faces[f][i]] < place[build->faces[f][lowest]] ? i : lowest;
        }
        for (uint32_t i = 0; i < x.size; i++) {
            x.loop[i] = place[build->faces[f][(lowest + i) % x.size]];
        }
        uint32_t at = f;
        for (; at > 0 && face_is_below(&x, &faces[at - 1]); at--) {
            faces[at] = faces[at - 1];
        }
        faces[at] = x;
    }
    hull->face_count = build->face_count;
    for (uint32_t f = 0; f < build->face_count; f++) {
        memcpy(hull->loop + hull->first[f], faces[f].loop, faces[f].size);
        hull->first[f + 1] = (uint16_t)(hull->first[f] + faces[f].size);
    }
}

static void pack_edges(carom_hull *hull)
{
    uint8_t face_of[CM_HULL_VERTICES][CM_HULL_VERTICES];
    memset(face_of, 0, sizeof face_of);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t f = 0; f < hull->face_count; f++) {
            uint32_t first = hull->first[f], size = hull->first[f + 1] - first;
            for (uint32_t i = 0; i < size; i++) {
                uint8_t a = hull->loop[first + i], b = hull->loop[first + (i + 1) % size];
                if (pass == 0) {
                    face_of[a][b] = (uint8_t)f;
                } else if (a < b) {
                    hull->edges[hull->edge_count++] =
                        (cm_hull_edge){{a, b}, {(uint8_t)f, face_of[b][a]}};
                }
            }
        }
    }
}

static void name_loop_edges(carom_hull *hull)
{
    for (uint32_t e = 0; e < hull->edge_count; e++) {
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t at = hull->first[hull->edges[e].face[side]];
            while (hull->loop[at] != hull->edges[e].vertex[side]) {
                at++;
            }
            hull->loop_edges[at] = (uint8_t)e;
        }
    }
}

static void fit_plane(carom_hull *hull, uint32_t f)
{
    const uint8_t *loop = hull->loop + hull->first[f];
    uint32_t size = (uint32_t)(hull->first[f + 1] - hull->first[f]);
    const carom_vec3 *o = &hull->vertices[loop[0]];
    double n[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 1; i + 1 < size; i++) {
        const carom_vec3 *p = &hull->vertices[loop[i]], *q = &hull->vertices[loop[i + 1]];
        double a[3] = {(double)p->x - (double)o->x, (double)p->y - (double)o->y,
                       (double)p->z - (double)o->z};
        double b[3] = {(double)q->x - (double)o->x, (double)q->y - (double)o->y,
                       (double)q->z - (double)o->z};
        n[0] += a[1] * b[2] - a[2] * b[1];
        n[1] += a[2] * b[0] - a[0] * b[2];
        n[2] += a[0] * b[1] - a[1] * b[0];
    }
    double s = __builtin_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    carom_vec3 normal = cm_vec((float)(n[0] / s), (float)(n[1] / s), (float)(n[2] / s));
    hull->normals[f] = normal;
    for (uint32_t i = 0; i < size; i++) {
        float offset = cm_dot(normal, hull->vertices[loop[i]]);
        hull->offsets[f] = i == 0 ? offset : cm_max(hull->offsets[f], offset);
    }
}

// Fills in what the narrow phase prunes and pads with.
static void fill_faces(carom_hull *hull)
{
    for (uint32_t f = hull->face_count; f < CM_HULL_FACE_ROWS; f++) {
        hull->normals[f] = hull->normals[0];
        hull->offsets[f] = hull->offsets[0];
    }
    float least = 1.0f;
    for (uint32_t e = 0; e < hull->edge_count; e++) {
        const cm_hull_edge *edge = &hull->edges[e];
        least = cm_min(least, cm_dot(hull->normals[edge->face[0]], hull->normals[edge->face[1]]));
    }
    hull->bend = cm_sqrt(0.5f * cm_max(0.0f, 1.0f + least));
}

static void put_row(carom_vec3 v, float *x, float *y, float *z)
{
    *x = v.x;
    *y = v.y;
    *z = v.z;
}

static void fill_rows(carom_hull *hull)
{
    float(*v)[CM_HULL_VERTICES] = hull->vertex_rows, (*n)[CM_HULL_FACE_ROWS] = hull->normal_rows;
    for (uint32_t i = 0; i < CM_HULL_VERTICES; i++) {
        put_row(hull->vertices[i], &v[0][i], &v[1][i], &v[2][i]);
    }
    for (uint32_t f = 0; f < CM_HULL_FACE_ROWS; f++) {
        put_row(hull->normals[f], &n[0][f], &n[1][f], &n[2][f]);
    }
}

static void measure(carom_hull *hull)
{
    carom_vec3 low = hull->vertices[0], high = low;
    for (uint32_t i = 1; i < hull->vertex_count; i++) {
        carom_vec3 v = hull->vertices[i];
        low = cm_vec(cm_min(low.x, v.x), cm_min(low.y, v.y), cm_min(low.z, v.z));
        high = cm_vec(cm_max(high.x, v.x), cm_max(high.y, v.y), cm_max(high.z, v.z));
    }
    hull->center = cm_scale(0.5f, cm_add(low, high));
    hull->half = cm_scale(0.5f, cm_sub(high, low));
    carom_vec3 c =
        cm_vec((float)hull->centroid[0], (float)hull->centroid[1], (float)hull->centroid[2]);
    float radius = 1.0e30f;
    for (uint32_t f = 0; f < hull->face_count; f++) {
        radius = cm_min(radius, hull->offsets[f] - cm_dot(hull->normals[f], c));
    }
    hull->middle = c;
    hull->inner_radius = radius;
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        hull->outer_radius = cm_max(hull->outer_radius, cm_length(hull->vertices[i]));
    }
}

static uint64_t name(const carom_hull *hull)
{
    cm_hash hash = cm_hash_begin(0x4c4c5548u); // "HULL"
    cm_hash_u32(&hash, hull->vertex_count);
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        cm_hash_f32(&hash, hull->vertices[i].x);
        cm_hash_f32(&hash, hull->vertices[i].y);
        cm_hash_f32(&hash, hull->vertices[i].z);
    }
    for (uint32_t f = 0; f <= hull->face_count; f++) {
        cm_hash_u32(&hash, hull->first[f]);
    }
    cm_hash_bytes(&hash, hull->loop, hull->first[hull->face_count]);
    uint64_t id = cm_hash_end(&hash);
    return id != 0 ? id : 1;
}

CM_FP_BODY static carom_result build_hull(const carom_vec3 *points, uint32_t count,
                                          cm_hull_build *build, carom_hull *hull)
{
    carom_result result = cm_hull_from_points(points, count, build);
    if (result != CAROM_OK || hull == NULL) {
        return result;
    }
    uint8_t place[CM_HULL_VERTICES];
    pack_vertices(hull, build, place);
    pack_faces(hull, build, place);
    pack_edges(hull);
    for (uint32_t f = 0; f < hull->face_count; f++) {
        fit_plane(hull, f);
    }
    name_loop_edges(hull);
    fill_faces(hull);
    fill_rows(hull);
    cm_hull_integrate(hull);
    measure(hull);
    hull->id = name(hull);
    return hull->volume > 0.0 && hull->inner_radius > 0.0f ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result carom_hull_create(const carom_vec3 *points, uint32_t count,
                               const carom_allocator *allocator, carom_hull **hull)
{
    if (hull == NULL || allocator == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    const carom_allocator *from = allocator;
    *hull = NULL;
    carom_hull *made = from->allocate(from->context, sizeof *made);
    cm_hull_build *build = from->allocate(from->context, sizeof *build);
    carom_result result = CAROM_ERROR_MEMORY;
    if (made != NULL && build != NULL) {
        memset(made, 0, sizeof *made);
        cm_fpenv saved = cm_fpenv_enter();
        result = build_hull(points, count, build, made);
        cm_fpenv_leave(saved);
    }
    from->release(from->context, build);
    if (result != CAROM_OK) {
        from->release(from->context, made);
        return result;
    }
    made->allocator = *from;
    *hull = made;
    return CAROM_OK;
}

const char *carom_hull_refusal(const carom_vec3 *points, uint32_t count)
{
    cm_hull_build build;
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = build_hull(points, count, &build, NULL);
    cm_fpenv_leave(saved);
    return result == CAROM_OK ? "a hull without volume" : build.refusal;
}

void carom_hull_destroy(carom_hull *hull)
{
    if (hull != NULL) {
        carom_allocator allocator = hull->allocator;
        allocator.release(allocator.context, hull);
    }
}

uint64_t carom_hull_id(const carom_hull *hull)
{
    return hull->id;
}

const carom_vec3 *carom_hull_vertices(const carom_hull *hull, uint32_t *count)
{
    *count = hull->vertex_count;
    return hull->vertices;
}

const uint8_t *carom_hull_face(const carom_hull *hull, uint32_t f, uint32_t *count)
{
    if (f >= hull->face_count) {
        *count = 0;
        return NULL;
    }
    *count = (uint32_t)(hull->first[f + 1] - hull->first[f]);
    return hull->loop + hull->first[f];
}

double carom_hull_volume(const carom_hull *hull)
{
    return hull->volume;
}

uint32_t carom_hull_sort(const carom_hull **hulls, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const carom_hull *hull = hulls[i];
        uint32_t at = 0, high = kept;
        while (at < high) {
            uint32_t middle = at + (high - at) / 2;
            if (hulls[middle]->id < hull->id) {
                at = middle + 1;
            } else {
                high = middle;
            }
        }
        if (at < kept && hulls[at]->id == hull->id) {
            continue;
        }
        memmove(hulls + at + 1, hulls + at, (kept - at) * sizeof *hulls);
        hulls[at] = hull;
        kept++;
    }
    return kept;
}

// Squared distance of a point from an edge of the hull.
static float from_edge(const carom_hull *hull, uint32_t edge, carom_vec3 p)
{
    carom_vec3 a = hull->vertices[hull->edges[edge].vertex[0]];
    carom_vec3 d = cm_sub(hull->vertices[hull->edges[edge].vertex[1]], a), r = cm_sub(p, a);
    float t = cm_clamp(cm_dot(r, d) / cm_length_squared(d), 0.0f, 1.0f);
    return cm_length_squared(cm_mul_add(r, -t, d));
}

uint32_t carom_hull_stray(const carom_hull *hull, const carom_vec3 *points, uint32_t count)
{
    float within = ON_EDGE * hull->outer_radius;
    for (uint32_t i = 0; i < count; i++) {
        bool near = false;
        for (uint32_t e = 0; e < hull->edge_count && !near; e++) {
            near = from_edge(hull, e, points[i]) <= within * within;
        }
        if (!near) {
            return i;
        }
    }
    return count;
}
