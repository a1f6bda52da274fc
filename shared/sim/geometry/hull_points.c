// The convex hull of points: quickhull over triangles, then the true faces.
//
// Quickhull (C. Barber, D. Dobkin, H. Huhdanpaa, 1996) in binary64 about the middle of the points:
// from a tetrahedron of extreme points, the point farthest outside any triangle is taken in until
// none is farther than ADD of the size. Of points equally far the lexicographically largest is
// taken: of points in one plane that one is a true vertex. A polyhedron of at most 64 vertices fits
// 64-bit masks: each triangle's plane collects the vertices within MERGE of it; different masks,
// none within another, are the faces. Each is ordered into a convex polygon; the polygons must
// close to a polyhedron (each edge twice, once each way), else a smaller MERGE is tried, and at
// last the triangles themselves.
//
// Once at import: some microseconds for 20 points, some milliseconds for 4,096.
#include "shared/sim/geometry/hull.h"

#include "shared/sim/state/check.h"

#include <string.h>

#define ADD       1.0e-6 // of the size: nearer to the hull than this is on it
#define MERGE     1.0e-5 // of the size: a vertex this near to a plane lies in it
#define THIN      1.0e-4 // of the size: thinner than this is flat
#define TRIANGLES 256u

typedef struct triangle {
    double normal[3], offset;
    uint8_t v[3];
} triangle;

typedef struct work {
    const carom_vec3 *points;
    uint32_t point_count;
    double middle[3], size, add;
    cm_hull_build *build;
    uint32_t source[CM_HULL_VERTICES]; // the point of each vertex
    triangle triangles[TRIANGLES];
    uint32_t triangle_count;
} work;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

static double length(const double a[3])
{
    return __builtin_sqrt(dot(a, a));
}

static void point_at(const work *w, uint32_t index, double out[3])
{
    const carom_vec3 *p = &w->points[index];
    out[0] = (double)p->x - w->middle[0];
    out[1] = (double)p->y - w->middle[1];
    out[2] = (double)p->z - w->middle[2];
}

static bool is_above(const carom_vec3 *a, const carom_vec3 *b)
{
    if (a->x != b->x) {
        return a->x > b->x;
    }
    return a->y != b->y ? a->y > b->y : a->z > b->z;
}

// Distances from the point (kind 1), line (2) or plane (3) through the first `kind` vertices.
static double distance_from(const work *w, uint32_t kind, const double p[3])
{
    const double(*v)[3] = w->build->vertices;
    double r[3], u[3], n[3], t[3];
    subtract(p, v[0], r);
    if (kind == 1) {
        return length(r);
    }
    subtract(v[1], v[0], u);
    if (kind == 2) {
        cross(u, r, n);
        return length(n) / length(u);
    }
    subtract(v[2], v[0], t);
    cross(u, t, n);
    double d = dot(n, r) / length(n);
    return d < 0.0 ? -d : d;
}

static void take(work *w, uint32_t point)
{
    uint32_t n = w->build->vertex_count++;
    w->source[n] = point;
    point_at(w, point, w->build->vertices[n]);
}

// The next corner of the first tetrahedron; false where there is none far enough.
static bool take_corner(work *w, uint32_t kind, double least)
{
    double best = -1.0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < w->point_count; i++) {
        double p[3];
        point_at(w, i, p);
        double d = distance_from(w, kind, p);
        bool tie = d > best - w->add && best >= 0.0;
        if (d > best + w->add || (tie && is_above(&w->points[i], &w->points[found]))) {
            best = d > best ? d : best;
            found = i;
        }
    }
    if (!(best > least)) {
        return false;
    }
    take(w, found);
    return true;
}

static void add_triangle(work *w, uint8_t a, uint8_t b, uint8_t c)
{
    triangle *t = &w->triangles[w->triangle_count++];
    double u[3], v[3];
    subtract(w->build->vertices[b], w->build->vertices[a], u);
    subtract(w->build->vertices[c], w->build->vertices[a], v);
    cross(u, v, t->normal);
    double size = length(t->normal);
    for (int k = 0; k < 3; k++) {
        t->normal[k] = size > 0.0 ? t->normal[k] / size : 0.0;
    }
    t->offset = dot(t->normal, w->build->vertices[a]);
    t->v[0] = a;
    t->v[1] = b;
    t->v[2] = c;
}

static bool measure(work *w)
{
    double low[3], high[3];
    for (uint32_t i = 0; i < w->point_count; i++) {
        const double p[3] = {(double)w->points[i].x, (double)w->points[i].y,
                             (double)w->points[i].z};
        for (int k = 0; k < 3; k++) {
            low[k] = i == 0 || p[k] < low[k] ? p[k] : low[k];
            high[k] = i == 0 || p[k] > high[k] ? p[k] : high[k];
        }
    }
    double far = 0.0;
    w->size = 0.0;
    for (int k = 0; k < 3; k++) {
        w->middle[k] = 0.5 * (low[k] + high[k]);
        w->size = high[k] - low[k] > w->size ? high[k] - low[k] : w->size;
        double m = w->middle[k] < 0.0 ? -w->middle[k] : w->middle[k];
        far = m > far ? m : far;
    }
    // Far from the origin the points themselves are only as exact as binary32 is there.
    w->add = ADD * w->size + 1.0e-7 * far;
    return w->size > (double)CAROM_SIZE_MIN;
}

static bool first_tetrahedron(work *w, const char **refusal)
{
    double least =
        THIN * w->size > (double)CAROM_SIZE_MIN ? THIN * w->size : (double)CAROM_SIZE_MIN;
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < w->point_count; i++) {
        lowest = is_above(&w->points[lowest], &w->points[i]) ? i : lowest;
    }
    take(w, lowest);
    if (!take_corner(w, 1, least)) {
        *refusal = "all in one place";
        return false;
    }
    if (!take_corner(w, 2, least)) {
        *refusal = "all on one line";
        return false;
    }
    if (!take_corner(w, 3, least)) {
        *refusal = "all in one plane";
        return false;
    }
    double u[3], v[3], r[3], n[3];
    const double(*x)[3] = w->build->vertices;
    subtract(x[1], x[0], u);
    subtract(x[2], x[0], v);
    subtract(x[3], x[0], r);
    cross(u, v, n);
    bool below = dot(n, r) < 0.0;
    add_triangle(w, 0, below ? 1 : 2, below ? 2 : 1);
    add_triangle(w, 0, below ? 3 : 1, below ? 1 : 3);
    add_triangle(w, 1, below ? 3 : 2, below ? 2 : 3);
    add_triangle(w, 2, below ? 3 : 0, below ? 0 : 3);
    return true;
}

// The point farthest outside any triangle; false where all are inside.
static bool farthest(const work *w, uint32_t *found)
{
    double best = w->add;
    bool any = false;
    for (uint32_t i = 0; i < w->point_count; i++) {
        double p[3], out = -1.0;
        point_at(w, i, p);
        for (uint32_t t = 0; t < w->triangle_count; t++) {
            double d = dot(w->triangles[t].normal, p) - w->triangles[t].offset;
            out = d > out ? d : out;
        }
        bool tie = any && out > best - w->add;
        if (out > w->add &&
            (out > best + w->add || !any || (tie && is_above(&w->points[i], &w->points[*found])))) {
            best = out > best ? out : best;
            *found = i;
            any = true;
        }
    }
    return any;
}

// Takes vertex `v` in: the triangles that see it go, and the edges about the hole are joined to it.
static bool expand(work *w, uint8_t v)
{
    bool edge[CM_HULL_VERTICES][CM_HULL_VERTICES];
    memset(edge, 0, sizeof edge);
    uint32_t kept = 0;
    for (uint32_t t = 0; t < w->triangle_count; t++) {
        triangle *x = &w->triangles[t];
        double d = dot(x->normal, w->build->vertices[v]) - x->offset;
        if (d > 0.0) {
            for (int k = 0; k < 3; k++) {
                edge[x->v[k]][x->v[(k + 1) % 3]] = true;
            }
        } else {
            w->triangles[kept++] = *x;
        }
    }
    w->triangle_count = kept;
    for (uint8_t a = 0; a < w->build->vertex_count; a++) {
        for (uint8_t b = 0; b < w->build->vertex_count; b++) {
            if (edge[a][b] && !edge[b][a]) {
                if (w->triangle_count == TRIANGLES) {
                    return false;
                }
                add_triangle(w, a, b, v);
            }
        }
    }
    return true;
}

// Faces ----------------------------------------------------------------------------------------

static uint64_t vertices_in(const work *w, const triangle *t, double within)
{
    uint64_t mask = 1ull << t->v[0] | 1ull << t->v[1] | 1ull << t->v[2];
    for (uint32_t i = 0; i < w->build->vertex_count; i++) {
        double d = dot(t->normal, w->build->vertices[i]) - t->offset;
        mask |= d < within && d > -within ? 1ull << i : 0;
    }
    return mask;
}

// The corners of a face's convex polygon, counter-clockwise about the normal: from the lowest
// vertex, each next one leaves all others to the left (R. A. Jarvis, 1973). Returns how many.
static uint32_t order_face(const work *w, uint64_t mask, const double normal[3], uint8_t *loop)
{
    const double(*x)[3] = w->build->vertices;
    uint32_t count = w->build->vertex_count, start = 0, size = 0;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if ((mask >> i & 1u) &&
            (!any || is_above(&w->points[w->source[start]], &w->points[w->source[i]]))) {
            start = i;
            any = true;
        }
    }
    uint32_t at = start;
    do {
        if (size == count) {
            return 0;
        }
        loop[size++] = (uint8_t)at;
        uint32_t next = at;
        for (uint32_t i = 0; i < count; i++) {
            if (!(mask >> i & 1u) || i == at) {
                continue;
            }
            double u[3], v[3], n[3];
            subtract(x[next], x[at], u);
            subtract(x[i], x[at], v);
            cross(u, v, n);
            double turn = dot(n, normal), limit = w->add * (length(u) + length(v));
            // To the right of the best, or on the same line and farther.
            if (next == at || turn < -limit || (turn <= limit && dot(v, v) > dot(u, u))) {
                next = i;
            }
        }
        at = next;
    } while (at != start);
    return size;
}

static bool closes(const cm_hull_build *build)
{
    bool edge[CM_HULL_VERTICES][CM_HULL_VERTICES];
    uint32_t edges = 0;
    uint64_t used = 0;
    memset(edge, 0, sizeof edge);
    for (uint32_t f = 0; f < build->face_count; f++) {
        for (uint32_t i = 0; i < build->face_size[f]; i++) {
            uint8_t a = build->faces[f][i];
            uint8_t b = build->faces[f][i + 1u < build->face_size[f] ? i + 1u : 0u];
            if (edge[a][b]) {
                return false;
            }
            edge[a][b] = true;
            used |= 1ull << a;
            edges++;
        }
    }
    for (uint32_t a = 0; a < build->vertex_count; a++) {
        for (uint32_t b = 0; b < build->vertex_count; b++) {
            if (edge[a][b] != edge[b][a]) {
                return false;
            }
        }
    }
    uint32_t vertices = (uint32_t)__builtin_popcountll(used);
    return vertices + build->face_count == edges / 2 + 2;
}

static bool make_faces(work *w, double within)
{
    cm_hull_build *build = w->build;
    uint64_t masks[TRIANGLES];
    build->face_count = 0;
    for (uint32_t t = 0; t < w->triangle_count; t++) {
        masks[t] = vertices_in(w, &w->triangles[t], within);
    }
    for (uint32_t t = 0; t < w->triangle_count; t++) {
        bool within_other = false;
        for (uint32_t s = 0; s < w->triangle_count && !within_other; s++) {
            bool part = s != t && (masks[t] & masks[s]) == masks[t];
            within_other = part && (masks[t] != masks[s] || s < t);
        }
        if (within_other) {
            continue;
        }
        if (build->face_count == CM_HULL_FACES) {
            return false;
        }
        uint32_t size =
            order_face(w, masks[t], w->triangles[t].normal, build->faces[build->face_count]);
        if (size < 3) {
            return false;
        }
        build->face_size[build->face_count++] = (uint8_t)size;
    }
    return closes(build);
}

static bool triangle_faces(work *w)
{
    cm_hull_build *build = w->build;
    build->face_count = 0;
    for (uint32_t t = 0; t < w->triangle_count && t < CM_HULL_FACES; t++) {
        memcpy(build->faces[t], w->triangles[t].v, 3);
        build->face_size[build->face_count++] = 3;
    }
    return closes(build);
}

static carom_result check_points(const carom_vec3 *points, uint32_t count, const char **refusal)
{
    if (points == NULL || count < 4) {
        *refusal = "fewer than 4 points";
        return CAROM_ERROR_ARGUMENT;
    }
    if (count > CAROM_HULL_POINTS_MAX) {
        *refusal = "more than 4096 points";
        return CAROM_ERROR_LIMIT_SIZE;
    }
    for (uint32_t i = 0; i < count; i++) {
        carom_result result = cm_check_vec(points[i], CAROM_SIZE_MAX);
        if (result != CAROM_OK) {
            *refusal = result == CAROM_ERROR_NOT_FINITE ? "a point that is not finite"
                                                        : "a coordinate above 1e6 m";
            return result;
        }
    }
    return CAROM_OK;
}

carom_result cm_hull_from_points(const carom_vec3 *points, uint32_t count, cm_hull_build *build)
{
    work w;
    memset(build, 0, sizeof *build);
    memset(&w, 0, sizeof w);
    carom_result result = check_points(points, count, &build->refusal);
    if (result != CAROM_OK) {
        return result;
    }
    w.points = points;
    w.point_count = count;
    w.build = build;
    build->refusal = "all in one place";
    if (!measure(&w) || !first_tetrahedron(&w, &build->refusal)) {
        return CAROM_ERROR_ARGUMENT;
    }
    for (uint32_t next = 0; farthest(&w, &next);) {
        if (build->vertex_count == CM_HULL_VERTICES) {
            build->refusal = "a hull of more than 64 vertices";
            return CAROM_ERROR_LIMIT_SIZE;
        }
        take(&w, next);
        if (!expand(&w, (uint8_t)(build->vertex_count - 1))) {
            build->refusal = "points too close to tell their faces apart";
            return CAROM_ERROR_ARGUMENT;
        }
    }
    bool made = false;
    for (double within = MERGE * w.size + w.add; !made && within > 0.1 * w.add; within *= 0.25) {
        made = make_faces(&w, within);
    }
    if (!made && !triangle_faces(&w)) {
        build->refusal = "points too close to tell their faces apart";
        return CAROM_ERROR_ARGUMENT;
    }
    // Exact again: the vertices are points that were given.
    for (uint32_t i = 0; i < build->vertex_count; i++) {
        build->vertices[i][0] = (double)points[w.source[i]].x;
        build->vertices[i][1] = (double)points[w.source[i]].y;
        build->vertices[i][2] = (double)points[w.source[i]].z;
    }
    build->refusal = NULL;
    return CAROM_OK;
}
