// The dual hull, one plane at a time, and from it the intersection.
//
// A facet of the hull through the points of planes i, j, k is the vertex where these planes meet,
// so a facet carries that vertex instead of its own plane: a new plane sees the facets whose
// vertices it cuts off. That is the same test as in the dual, in metres, and the vertex comes from
// the three planes, not from others. The hull begins as a tetrahedron far inside (planes far
// outside), which no facet may keep in the end. Facets within 1e-12 of a plane are not seen, so
// coplanar dual points give facets with one vertex: no area, no harm. Where the horizon is no
// simple loop, or a vertex is of no use, the result is refused and clip.c does it.
//
// Planes that cannot bound the result are left out first: those that no vertex of the other piece
// passes, and faces that lie wholly beyond one plane of the other. Typical: 8 of 12 planes stay.
#include "shared/sim/solve/volume/poly.h"

#include <string.h>

#define ARTIFICIAL 4u

typedef struct edge {
    uint16_t from, to; // planes
    uint16_t beyond;   // facet that stays
} edge;

static void begin(cm_volume_work *work, double radius)
{
    static const uint16_t planes[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
    static const uint16_t next[4][3] = {{2, 3, 1}, {0, 3, 2}, {1, 3, 0}, {2, 1, 0}};
    static const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    const double unit = 0.57735026918962576;
    for (uint32_t i = 0; i < 4; i++) {
        work->normals[i] = cm_d3_of(unit * corner[i][0], unit * corner[i][1], unit * corner[i][2]);
        work->offsets[i] = radius;
        cm_volume_facet *facet = &work->facets[i];
        memcpy(facet->plane, planes[i], sizeof facet->plane);
        memcpy(facet->next, next[i], sizeof facet->next);
        // Opposite of the plane that it does not touch.
        uint32_t off = 6u - planes[i][0] - planes[i][1] - planes[i][2];
        facet->vertex = cm_d3_scale(-3.0 * radius * unit,
                                    cm_d3_of(corner[off][0], corner[off][1], corner[off][2]));
    }
    work->facet_count = 4;
}

// The point in which the planes of a facet meet. False where they nearly do not.
static bool meet(const cm_volume_work *work, cm_volume_facet *facet)
{
    uint16_t i = facet->plane[0], j = facet->plane[1], k = facet->plane[2];
    cm_d3 ni = work->normals[i], nj = work->normals[j], nk = work->normals[k];
    cm_d3 jk = cm_d3_cross(nj, nk), ki = cm_d3_cross(nk, ni), ij = cm_d3_cross(ni, nj);
    double det = cm_d3_dot(ni, jk);
    if (!(det > 1.0e-13)) {
        return false;
    }
    cm_d3 sum = cm_d3_scale(work->offsets[i], jk);
    sum = cm_d3_mad(sum, work->offsets[j], ki);
    sum = cm_d3_mad(sum, work->offsets[k], ij);
    facet->vertex = cm_d3_scale(1.0 / det, sum);
    return true;
}

// Edges between what the new plane sees and what it does not. Returns how many.
static uint32_t find_horizon(const cm_volume_work *work, uint32_t seen, edge *edges, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < seen; i++) {
        const cm_volume_facet *facet = &work->facets[work->list[i]];
        for (uint32_t k = 0; k < 3; k++) {
            if (!work->seen[facet->next[k]]) {
                if (count == room) {
                    return room + 1;
                }
                edges[count++] = (edge){facet->plane[k], facet->plane[(k + 1) % 3], facet->next[k]};
            }
        }
    }
    return count;
}

static bool join(cm_volume_work *work, const edge *e, uint16_t at)
{
    cm_volume_facet *beyond = &work->facets[e->beyond];
    for (uint32_t k = 0; k < 3; k++) {
        if (beyond->plane[k] == e->to && beyond->plane[(k + 1) % 3] == e->from) {
            beyond->next[k] = at;
            return true;
        }
    }
    return false;
}

// The last facet moves to where one has gone.
static void fill_gap(cm_volume_work *work, uint16_t gap)
{
    uint16_t last = (uint16_t)--work->facet_count;
    if (gap == last) {
        return;
    }
    work->facets[gap] = work->facets[last];
    for (uint32_t k = 0; k < 3; k++) {
        cm_volume_facet *facet = &work->facets[work->facets[gap].next[k]];
        for (uint32_t m = 0; m < 3; m++) {
            facet->next[m] = facet->next[m] == last ? gap : facet->next[m];
        }
    }
}

static bool insert(cm_volume_work *work, uint16_t plane, double thin)
{
    edge edges[CM_VOLUME_FACES];
    cm_d3 n = work->normals[plane];
    double d = work->offsets[plane] + thin;
    uint32_t seen = 0;
    for (uint32_t f = 0; f < work->facet_count; f++) {
        bool sees = cm_d3_dot(n, work->facets[f].vertex) > d;
        work->seen[f] = sees;
        work->list[seen] = (uint16_t)f;
        seen += sees;
    }
    if (seen == 0) {
        return true;
    }
    uint32_t count = find_horizon(work, seen, edges, CM_VOLUME_FACES);
    // By Euler's formula, of a disc: two more than it had, less two for each plane that goes.
    if (count < 3 || count > seen + 2 || (seen - count) % 2 != 0) {
        return false;
    }
    for (uint32_t i = seen; i < count; i++) {
        work->list[i] = (uint16_t)work->facet_count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        work->start[edges[i].to] = CM_VOLUME_FACETS;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint16_t at = work->list[i];
        cm_volume_facet *facet = &work->facets[at];
        facet->plane[0] = edges[i].from;
        facet->plane[1] = edges[i].to;
        facet->plane[2] = plane;
        facet->next[0] = edges[i].beyond;
        if (!join(work, &edges[i], at) || !meet(work, facet)) {
            return false;
        }
        work->start[edges[i].from] = at;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint16_t at = work->list[i], after = work->start[edges[i].to];
        if (after == CM_VOLUME_FACETS || work->facets[after].plane[0] != edges[i].to) {
            return false;
        }
        work->facets[at].next[1] = after;
        work->facets[after].next[2] = at;
    }
    for (uint32_t i = seen; i > count; i--) {
        fill_gap(work, work->list[i - 1]);
    }
    return true;
}

// Vertices and loops from the hull. False where an artificial plane is left.
static bool read_off(cm_volume_work *work)
{
    uint32_t at = 0;
    for (uint32_t p = 0; p < work->plane_count; p++) {
        work->start[p] = CM_VOLUME_FACETS;
    }
    for (uint32_t f = 0; f < work->facet_count; f++) {
        const cm_volume_facet *facet = &work->facets[f];
        work->vertices[f] = cm_d3_add(work->interior, facet->vertex);
        for (uint32_t k = 0; k < 3; k++) {
            if (facet->plane[k] < ARTIFICIAL) {
                return false;
            }
            work->start[facet->plane[k]] = (uint16_t)f;
        }
    }
    work->vertex_count = work->facet_count;
    work->face_count = 0;
    work->first[0] = 0;
    for (uint32_t p = ARTIFICIAL; p < work->plane_count; p++) {
        if (work->start[p] == CM_VOLUME_FACETS) {
            continue;
        }
        uint16_t f = work->start[p];
        do {
            if (at == 3 * work->facet_count) {
                return false;
            }
            work->loop[at++] = f;
            const cm_volume_facet *facet = &work->facets[f];
            uint32_t k = facet->plane[0] == p ? 0 : (facet->plane[1] == p ? 1 : 2);
            f = facet->next[(k + 2) % 3];
        } while (f != work->start[p]);
        work->first[++work->face_count] = (uint16_t)at;
    }
    return at == 3 * work->facet_count;
}

// For each vertex of `piece`, which of the first 64 planes of `other` it lies beyond; and for each
// plane of `other`, whether any vertex is above it by more than `thin`.
static void outside(const cm_volume_piece *piece, const cm_volume_piece *other, double over,
                    double thin, uint64_t *codes, uint8_t *passed)
{
    for (uint32_t f = 0; f < other->face_count; f++) {
        cm_d3 n = other->normals[f];
        double d = other->offsets[f];
        uint64_t bit = f < 64 ? 1ull << f : 0;
        bool any = piece->half_space;
        for (uint32_t i = 0; i < piece->vertex_count; i++) {
            double above = cm_d3_dot(n, piece->vertices[i]) - d;
            codes[i] |= above > over ? bit : 0;
            any |= above > thin;
        }
        passed[f] = any;
    }
}

static void take_planes(const cm_volume_piece *piece, const uint64_t *codes, const uint8_t *passed,
                        cm_volume_work *work)
{
    for (uint32_t f = 0; f < piece->face_count; f++) {
        bool beyond = false;
        if (!piece->half_space) {
            uint64_t all = ~0ull;
            for (uint32_t i = piece->first[f]; i < piece->first[f + 1]; i++) {
                all &= codes[piece->loop[i]];
            }
            beyond = all != 0;
        }
        if (passed[f] && !beyond) {
            work->normals[work->plane_count] = piece->normals[f];
            work->offsets[work->plane_count++] = piece->offsets[f];
        }
    }
}

// The planes that can bound the result. False where one separates the pieces.
static bool choose_planes(const cm_volume_piece *a, const cm_volume_piece *b, double size,
                          cm_volume_work *work)
{
    uint64_t codes_a[CM_VOLUME_VERTICES], codes_b[CM_VOLUME_VERTICES];
    uint8_t passed_a[CM_VOLUME_FACES], passed_b[CM_VOLUME_FACES];
    double slop = 1.0e-10 * size;
    memset(codes_a, 0, a->vertex_count * sizeof *codes_a);
    memset(codes_b, 0, b->vertex_count * sizeof *codes_b);
    // If two faces lie in one plane, the second's counts.
    outside(a, b, slop, -slop, codes_a, passed_b);
    outside(b, a, slop, slop, codes_b, passed_a);
    uint64_t all = ~0ull;
    for (uint32_t i = 0; i < a->vertex_count; i++) {
        all &= codes_a[i];
    }
    if (all != 0 && !a->half_space) {
        return false;
    }
    all = ~0ull;
    for (uint32_t i = 0; i < b->vertex_count; i++) {
        all &= codes_b[i];
    }
    if (all != 0 && !b->half_space) {
        return false;
    }
    work->plane_count = ARTIFICIAL;
    take_planes(a, codes_a, passed_a, work);
    take_planes(b, codes_b, passed_b, work);
    return work->plane_count > ARTIFICIAL; // none: two edges are between the pieces, and no face is
}

static void all_planes(const cm_volume_piece *a, const cm_volume_piece *b, cm_volume_work *work)
{
    const cm_volume_piece *pieces[2] = {a, b};
    work->plane_count = ARTIFICIAL;
    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t f = 0; f < pieces[p]->face_count; f++) {
            work->normals[work->plane_count] = pieces[p]->normals[f];
            work->offsets[work->plane_count++] = pieces[p]->offsets[f];
        }
    }
}

bool cm_volume_intersect(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 near,
                         double enough, cm_volume_work *work)
{
    const cm_volume_piece *small = a->half_space || (!b->half_space && b->size < a->size) ? b : a;
    if (small->half_space || !choose_planes(a, b, small->size, work)) {
        return false;
    }
    cm_d3 *normals = work->normals + ARTIFICIAL;
    double *offsets = work->offsets + ARTIFICIAL;
    cm_d3 o = near;
    double slack = cm_volume_inside(normals, offsets, work->plane_count - ARTIFICIAL, enough, &o);
    if (!(slack > CM_VOLUME_THIN)) {
        return false;
    }
    double radius = 2.0 * (small->size + cm_d3_length(cm_d3_sub(small->center, o)));
    work->interior = o;
    for (uint32_t p = ARTIFICIAL; p < work->plane_count; p++) {
        work->offsets[p] -= cm_d3_dot(work->normals[p], o);
    }
    begin(work, radius);
    work->clipped = false;
    bool ok = true;
    for (uint32_t p = ARTIFICIAL; p < work->plane_count && ok; p++) {
        ok = insert(work, (uint16_t)p, 1.0e-12 * small->size);
    }
    if (ok && read_off(work)) {
        return true;
    }
    all_planes(a, b, work);
    for (uint32_t p = ARTIFICIAL; p < work->plane_count; p++) {
        work->offsets[p] -= cm_d3_dot(work->normals[p], o);
    }
    return cm_volume_clip(work, radius);
}

double cm_volume_of(const cm_volume_work *work)
{
    double six = 0.0;
    for (uint32_t f = 0; f < work->face_count; f++) {
        const uint16_t *loop = work->loop + work->first[f];
        uint32_t count = (uint32_t)(work->first[f + 1] - work->first[f]);
        cm_d3 a = cm_d3_sub(work->vertices[loop[0]], work->vertices[0]);
        for (uint32_t i = 1; i + 1 < count; i++) {
            cm_d3 b = cm_d3_sub(work->vertices[loop[i]], work->vertices[0]);
            cm_d3 c = cm_d3_sub(work->vertices[loop[i + 1]], work->vertices[0]);
            six += cm_d3_dot(a, cm_d3_cross(b, c));
        }
    }
    return six / 6.0;
}
