// Two polyhedra: separating axes over faces and edges, then face clipping or the closest points of
// two edges; as boxes do it (box.c), with the same tolerances, so that a hull in the shape of a box
// behaves as one.
//
// Of the pairs of edges only those whose arcs cross on the Gauss map can carry the axis of least
// overlap (D. Gregorius, "The Separating Axis Test between Convex Polyhedra", 2013); the test is
// four products, and nearly all pairs fail it. Features: clip.c's for faces; bit 30 and the two
// edges' numbers for edges.
#include "shared/sim/collide/convex.h"
#include "shared/sim/collide/narrow.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#include <string.h>

#define FACE_TOLERANCE 0.0005f // m; a's face before b's
#define PARALLEL       1.0e-4f // squared sine below which two edges give no axis
#define SLACK          2.0e-4f // of the sizes: what rounding may take from a bound
#define CONE_SLACK     5.0e-6f // likewise, where products of three alone are rounded

// Faces that share an edge, as a cosine: beyond it a half of the angle, not the sine, is the bound.
#define NEARLY_FLAT      0.9f
#define NEARLY_FLAT_HALF 0.974f

typedef struct face_axis {
    float separation;
    uint32_t face;
    float heights[CM_HULL_FACE_ROWS]; // of the other's middle over each face
} face_axis;

typedef struct edge_axis {
    float separation;
    uint32_t a, b; // CM_NONE: no edge axis at all
    carom_vec3 normal;
} edge_axis;

CM_LANES_INLINE cm_fvec broadcast(carom_vec3 v)
{
    return cm_fvec_set(v.x, v.y, v.z);
}

CM_LANES_INLINE cm_fvec load_rows(const float *x, const float *y, const float *z, uint32_t i)
{
    return (cm_fvec){cm_lanes_load(x + i), cm_lanes_load(y + i), cm_lanes_load(z + i)};
}

#define FACE_WORDS 2u
_Static_assert(CM_HULL_FACES <= 64 * FACE_WORDS, "a bit for each face");

typedef struct face_bits {
    uint64_t words[FACE_WORDS];
} face_bits;

// The faces that are no lower than `least`.
static void list_faces(const cm_poly *poly, const float *heights, float least, face_bits *list)
{
    cm_f low = cm_lanes_set(least);
    for (uint32_t word = 0, first = 0; word < FACE_WORDS; word++, first += 64) {
        uint32_t left = poly->face_count > first ? poly->face_count - first : 0;
        uint64_t bits = 0;
        for (uint32_t f = 0; f < left && f < 64; f += CM_LANES) {
            cm_mask high = cm_lanes_at_most(low, cm_lanes_load(heights + first + f));
            bits |= (uint64_t)cm_lanes_true(high) << f;
        }
        list->words[word] = left < 64 ? bits & ((1ull << left) - 1) : bits;
    }
}

// The distance by which b is beyond a face of a.
static float beyond(const cm_poly *a, uint32_t face, const cm_poly *b)
{
    cm_fvec n = broadcast(cm_poly_normal(a, face));
    cm_f low = cm_lanes_set(3.0e38f);
    for (uint32_t i = 0; i < b->vertex_count; i += CM_LANES) {
        cm_fvec v = load_rows(b->vertices[0], b->vertices[1], b->vertices[2], i);
        low = cm_lanes_min(low, cm_fvec_dot(n, v));
    }
    return cm_lanes_least(low) - a->offsets[face];
}

// Heights of b's middle over the faces of a; a face that it is highest over.
static uint32_t measure_heights(const cm_poly *a, const cm_poly *b, float *heights)
{
    cm_fvec middle = broadcast(b->middle);
    cm_f most = cm_lanes_set(-3.0e38f);
    for (uint32_t f = 0; f < a->face_count; f += CM_LANES) {
        cm_fvec n = load_rows(a->normals[0], a->normals[1], a->normals[2], f);
        cm_f height = cm_fvec_dot(n, middle) - cm_lanes_load(a->offsets + f);
        cm_lanes_store(heights + f, height);
        most = cm_lanes_max(most, height);
    }
    face_bits highest;
    list_faces(a, heights, cm_lanes_most(most), &highest);
    uint32_t word = highest.words[0] != 0 ? 0 : FACE_WORDS - 1;
    uint64_t bits = highest.words[word];
    return bits != 0 ? 64 * word + (uint32_t)__builtin_ctzll(bits) : 0;
}

static float slack(const cm_poly *a, const cm_poly *b)
{
    carom_vec3 way = cm_sub(b->center, a->center);
    return SLACK * (a->reach + b->reach + cm_abs(way.x) + cm_abs(way.y) + cm_abs(way.z));
}

// The face of a that b is farthest beyond: the first of several. Stops at one beyond margin. The
// ball inside b is nowhere farther beyond than its middle tells, so few faces meet b's vertices.
static void search_faces(const cm_poly *a, const cm_poly *b, float margin, face_axis *best)
{
    uint32_t likely = measure_heights(a, b, best->heights);
    float known = beyond(a, likely, b), least = known + b->inner_radius - slack(a, b);
    best->separation = known;
    best->face = likely;
    face_bits list;
    list_faces(a, best->heights, least, &list);
    list.words[likely / 64] &= ~(1ull << likely % 64);
    for (uint32_t word = 0; word < FACE_WORDS; word++) {
        uint64_t left = list.words[word];
        for (; left != 0 && best->separation <= margin; left &= left - 1) {
            uint32_t f = 64 * word + (uint32_t)__builtin_ctzll(left);
            float s = beyond(a, f, b);
            if (s > best->separation || (s == best->separation && f < best->face)) {
                best->separation = s;
                best->face = f;
            }
        }
    }
}

// Directions, from a to b, along which no axis can be good enough: those at this cosine or a
// greater one from `axis`.
typedef struct cone {
    carom_vec3 axis;
    float cosine; // 0 to 1; above that: none
} cone;

static bool is_over_face(const cm_poly *poly, uint32_t face, carom_vec3 p)
{
    carom_vec3 n = cm_poly_normal(poly, face);
    uint32_t first = poly->first[face], end = poly->first[face + 1];
    carom_vec3 v = cm_poly_vertex(poly, poly->loop[end - 1]);
    for (uint32_t i = first; i < end; i++) {
        carom_vec3 next = cm_poly_vertex(poly, poly->loop[i]);
        if (cm_dot(cm_cross(cm_sub(next, v), n), cm_sub(p, v)) > 0.0f) {
            return false;
        }
        v = next;
    }
    return true;
}

// The best face: of b, or of a; and what it must be beaten by.
typedef struct chosen_face {
    bool of_b;
    uint32_t face;
    float separation, least;
} chosen_face;

// A vertex q of the other that is over the face has a point of the polyhedron at p = q - s n, so
// along a direction d they are at most d . (q - p) = s d . n apart. All directions may be out: then
// the cosine is -1.
static cone beside_face(const cm_poly *a, const cm_poly *b, const chosen_face *best)
{
    const cm_poly *poly = best->of_b ? b : a, *other = best->of_b ? a : b;
    carom_vec3 n = cm_poly_normal(poly, best->face);
    cone c = {best->of_b ? cm_neg(n) : n, 2.0f};
    float s = best->separation, least = best->least - CONE_SLACK * (a->reach + b->reach);
    if ((s < 0.0f || s <= least) &&
        is_over_face(poly, best->face, cm_poly_vertex(other, cm_poly_support(other, cm_neg(n))))) {
        bool all = s >= 0.0f || least >= -s;
        c.cosine = all ? -1.0f : cm_max(least / s, 0.0f);
    }
    return c;
}

// Edges that may carry an axis, ascending.
typedef struct edge_list {
    uint32_t count;
    uint8_t edges[CM_HULL_EDGES];
} edge_list;

// Over the arc between the normals of an edge's faces: does the height of the other's middle over
// the edge reach `least`? It is a sine of the angle, known at both ends.
static bool reaches(const cm_poly *poly, const cm_hull_edge *edge, const float *heights,
                    float least)
{
    float g = heights[edge->face[0]], h = heights[edge->face[1]], most = cm_max(g, h);
    if (most >= least || most < poly->bend * least) {
        return most >= least;
    }
    float c = cm_dot(cm_poly_normal(poly, edge->face[0]), cm_poly_normal(poly, edge->face[1]));
    if (c > NEARLY_FLAT) {
        return most >= NEARLY_FLAT_HALF * least;
    }
    bool inside = h > g * c && g > h * c;
    return inside && g * g + h * h - 2.0f * g * h * c >= least * least * (1.0f - c * c);
}

// Without a `least` above 0: all of them.
static void list_edges(const cm_poly *poly, const float *heights, float least, edge_list *list)
{
    uint64_t seen[(CM_HULL_EDGES + 63) / 64] = {0};
    face_bits high;
    list->count = 0;
    if (!(least > 0.0f)) {
        for (uint32_t e = 0; e < poly->edge_count; e++) {
            list->edges[list->count++] = (uint8_t)e;
        }
        return;
    }
    list_faces(poly, heights, poly->bend * least, &high);
    for (uint32_t word = 0; word < FACE_WORDS; word++) {
        for (uint64_t left = high.words[word]; left != 0; left &= left - 1) {
            uint32_t f = 64 * word + (uint32_t)__builtin_ctzll(left);
            for (uint32_t i = poly->first[f]; i < poly->first[f + 1]; i++) {
                uint32_t e = poly->loop_edges[i];
                seen[e / 64] |= 1ull << (e % 64);
            }
        }
    }
    for (uint32_t word = 0; word < (CM_HULL_EDGES + 63) / 64; word++) {
        for (uint64_t left = seen[word]; left != 0; left &= left - 1) {
            uint32_t e = 64 * word + (uint32_t)__builtin_ctzll(left);
            if (reaches(poly, &poly->edges[e], heights, least)) {
                list->edges[list->count++] = (uint8_t)e;
            }
        }
    }
}

// Leaves out edges whose arcs are within the cone.
static void cut_edges(const cm_poly *poly, const cone *out, edge_list *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const cm_hull_edge *edge = &poly->edges[list->edges[i]];
        if (cm_dot(cm_poly_normal(poly, edge->face[0]), out->axis) < out->cosine ||
            cm_dot(cm_poly_normal(poly, edge->face[1]), out->axis) < out->cosine) {
            list->edges[kept++] = list->edges[i];
        }
    }
    list->count = kept;
}

#define EDGE_ROWS (CM_HULL_EDGES + CM_HULL_LANES)

// Edges of b in lanes: the normals beside them and their directions.
typedef struct edge_rows {
    float c[3][EDGE_ROWS], d[3][EDGE_ROWS], v[3][EDGE_ROWS];
} edge_rows;

static void put_row(float (*to)[EDGE_ROWS], uint32_t i, carom_vec3 v)
{
    to[0][i] = v.x;
    to[1][i] = v.y;
    to[2][i] = v.z;
}

static carom_vec3 edge_way(const cm_poly *poly, const cm_hull_edge *edge)
{
    return cm_sub(cm_poly_vertex(poly, edge->vertex[1]), cm_poly_vertex(poly, edge->vertex[0]));
}

static void put_rows(const cm_poly *b, const edge_list *list, edge_rows *beside)
{
    const uint32_t last = list->count - list->count % CM_LANES;
    for (uint32_t k = 0; k < 3; k++) { // lanes behind the last edge
        cm_lanes_store(beside->c[k] + last, cm_lanes_set(0.0f));
        cm_lanes_store(beside->d[k] + last, cm_lanes_set(0.0f));
        cm_lanes_store(beside->v[k] + last, cm_lanes_set(0.0f));
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const cm_hull_edge *edge = &b->edges[list->edges[i]];
        put_row(beside->c, i, cm_poly_normal(b, edge->face[0]));
        put_row(beside->d, i, cm_poly_normal(b, edge->face[1]));
        put_row(beside->v, i, edge_way(b, edge));
    }
}

// Bits of the lanes in which the arcs of an edge of a (from normal to normal, about its direction)
// and of b's mirrored one cross.
static uint32_t arcs_cross(const cm_poly *a, const cm_hull_edge *edge, carom_vec3 way,
                           const edge_rows *beside, uint32_t i)
{
    cm_fvec u = broadcast(way), v = load_rows(beside->v[0], beside->v[1], beside->v[2], i);
    cm_f cu = cm_fvec_dot(load_rows(beside->c[0], beside->c[1], beside->c[2], i), u);
    cm_f du = cm_fvec_dot(load_rows(beside->d[0], beside->d[1], beside->d[2], i), u);
    cm_f av = cm_fvec_dot(broadcast(cm_poly_normal(a, edge->face[0])), v);
    cm_f bv = cm_fvec_dot(broadcast(cm_poly_normal(a, edge->face[1])), v);
    cm_f zero = cm_lanes_set(0.0f);
    return cm_lanes_true(cm_lanes_greater(zero, cu * du) & cm_lanes_greater(zero, av * bv) &
                         cm_lanes_greater(zero, cu * bv));
}

// The axis of one edge of each, where it is better than the best.
static void try_edge_pair(const cm_poly *a, uint32_t i, const cm_poly *b, uint32_t k,
                          edge_axis *best)
{
    const cm_hull_edge *ea = &a->edges[i], *eb = &b->edges[k];
    carom_vec3 p = cm_poly_vertex(a, ea->vertex[0]), u = edge_way(a, ea);
    carom_vec3 q = cm_poly_vertex(b, eb->vertex[0]), v = edge_way(b, eb);
    carom_vec3 n = cm_cross(u, v);
    float nn = cm_dot(n, n);
    if (nn < PARALLEL * cm_dot(u, u) * cm_dot(v, v)) {
        return;
    }
    n = cm_scale(1.0f / cm_sqrt(nn), n);
    if (cm_dot(n, cm_sub(p, a->center)) < 0.0f) {
        n = cm_neg(n);
    }
    float s = cm_dot(n, cm_sub(q, p));
    if (s > best->separation) {
        *best = (edge_axis){s, i, k, n};
    }
}

// The axis of two edges along which a and b are farthest apart, if that is above `least`: else any
// that is not, or none. Stops at the first beyond margin.
static edge_axis search_edges(const cm_poly *a, const face_axis *fa, const cm_poly *b,
                              const face_axis *fb, const chosen_face *face, float margin)
{
    edge_axis best = {-1.0e30f, CM_NONE, CM_NONE, {0.0f, 1.0f, 0.0f}};
    edge_list of_a, of_b;
    edge_rows beside;
    float least = face->least - slack(a, b);
    list_edges(a, fa->heights, least + b->inner_radius, &of_a);
    if (of_a.count == 0) {
        return best;
    }
    cone out = beside_face(a, b, face);
    cut_edges(a, &out, &of_a);
    if (of_a.count == 0 || out.cosine < 0.0f) {
        return best;
    }
    list_edges(b, fb->heights, least + a->inner_radius, &of_b);
    out.axis = cm_neg(out.axis);
    cut_edges(b, &out, &of_b);
    put_rows(b, &of_b, &beside);
    for (uint32_t i = 0; i < of_a.count && best.separation <= margin; i++) {
        const cm_hull_edge *edge = &a->edges[of_a.edges[i]];
        carom_vec3 way = edge_way(a, edge);
        for (uint32_t k = 0; k < of_b.count; k += CM_LANES) {
            uint32_t cross = arcs_cross(a, edge, way, &beside, k);
            for (; cross != 0; cross &= cross - 1) {
                uint32_t at = k + (uint32_t)__builtin_ctz(cross);
                if (at < of_b.count) {
                    try_edge_pair(a, of_a.edges[i], b, of_b.edges[at], &best);
                }
            }
        }
    }
    return best;
}

// Closest points of two segments p + s u and q + t v, s and t in [0, 1], not parallel.
static carom_vec3 between_edges(carom_vec3 p, carom_vec3 u, carom_vec3 q, carom_vec3 v)
{
    carom_vec3 w = cm_sub(q, p);
    float uu = cm_dot(u, u), vv = cm_dot(v, v), uv = cm_dot(u, v);
    float uw = cm_dot(u, w), vw = cm_dot(v, w), det = uu * vv - uv * uv;
    float s = cm_clamp((uw * vv - uv * vw) / det, 0.0f, 1.0f);
    float t = cm_clamp((uv * uw - uu * vw) / det, 0.0f, 1.0f);
    return cm_scale(0.5f, cm_add(cm_mul_add(p, s, u), cm_mul_add(q, t, v)));
}

static void add_edges(const cm_poly *a, const cm_poly *b, const edge_axis *axis, carom_vec3 a_to_b,
                      cm_manifold *manifold)
{
    const cm_hull_edge *ea = &a->edges[axis->a], *eb = &b->edges[axis->b];
    carom_vec3 p = cm_poly_vertex(a, ea->vertex[0]), q = cm_poly_vertex(b, eb->vertex[0]);
    carom_vec3 u = cm_sub(cm_poly_vertex(a, ea->vertex[1]), p);
    carom_vec3 v = cm_sub(cm_poly_vertex(b, eb->vertex[1]), q);
    manifold->normal = axis->normal;
    cm_manifold_add(manifold, between_edges(p, u, q, v), a_to_b, axis->separation,
                    1u << 30 | axis->a | axis->b << 8);
}

// The face of the polyhedron that is most against a direction.
static uint32_t facing(const cm_poly *poly, carom_vec3 against)
{
    float along[CM_HULL_FACE_ROWS];
    cm_fvec d = broadcast(against);
    for (uint32_t f = 0; f < poly->face_count; f += CM_LANES) {
        cm_fvec n = load_rows(poly->normals[0], poly->normals[1], poly->normals[2], f);
        cm_lanes_store(along + f, cm_fvec_dot(n, d));
    }
    uint32_t best = 0;
    for (uint32_t f = 1; f < poly->face_count; f++) {
        best = along[f] < along[best] - 1.0e-5f ? f : best;
    }
    return best;
}

static void add_faces(const cm_poly *a, const cm_poly *b, uint32_t face, bool reference_b,
                      carom_vec3 a_to_b, float margin, cm_manifold *manifold)
{
    cm_feature reference, incident;
    cm_clip_point list[CM_CLIP_POINTS];
    const cm_poly *other = reference_b ? a : b;
    cm_poly_face(reference_b ? b : a, face, &reference);
    cm_poly_face(other, facing(other, reference.normal), &incident);
    uint32_t count = cm_clip(&reference, &incident, 0.0f, margin, list);
    count = cm_clip_reduce(list, count, reference.normal);
    manifold->normal = reference_b ? cm_neg(reference.normal) : reference.normal;
    for (uint32_t i = 0; i < count; i++) {
        carom_vec3 p = cm_mul_add(list[i].p, -0.5f * list[i].separation, reference.normal);
        cm_manifold_add(manifold, p, a_to_b, list[i].separation,
                        list[i].feature | (reference_b ? 1u << 28 : 0u));
    }
}

uint32_t cm_collide_polys(const cm_poly *a, const cm_poly *b, carom_vec3 a_to_b, float margin,
                          cm_manifold *manifold)
{
    manifold->point_count = 0;
    manifold->normal = cm_fixed_direction();
    face_axis fa, fb;
    search_faces(a, b, margin, &fa);
    if (fa.separation > margin) {
        return 0;
    }
    search_faces(b, a, margin, &fb);
    if (fb.separation > margin) {
        return 0;
    }
    bool reference_b = fb.separation > fa.separation + FACE_TOLERANCE;
    const face_axis *face = reference_b ? &fb : &fa;
    float bound = cm_edge_bound(face->separation);
    chosen_face best = {reference_b, face->face, face->separation, cm_min(bound, margin)};
    edge_axis edge = search_edges(a, &fa, b, &fb, &best, margin);
    if (edge.separation > margin) {
        return 0;
    }
    if (edge.a != CM_NONE && edge.separation > bound) {
        add_edges(a, b, &edge, a_to_b, manifold);
        return manifold->point_count;
    }
    add_faces(a, b, face->face, reference_b, a_to_b, margin, manifold);
    // Overlapping polyhedra always touch somewhere: where clipping left nothing, their edges do.
    if (manifold->point_count == 0 && face->separation <= 0.0f) {
        best.least = -1.0e30f;
        edge = search_edges(a, &fa, b, &fb, &best, margin);
        if (edge.a != CM_NONE) {
            add_edges(a, b, &edge, a_to_b, manifold);
        }
    }
    return manifold->point_count;
}
