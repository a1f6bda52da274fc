// Goal: bounds that spare the narrow phase of polyhedra most faces and edges change no answer.
// Method: every face and every pair of edges, one by one, is what the search must come to; random
// hulls, coins, splinters and boxes, apart, touching and far inside each other. What is taken for
// apart at once is so, at margins as near as rounding lets them be; a hull's box is its corners'.
#include "shared/sim/collide/shape_transform.h"
#include "shared/sim/collide/convex.h"
#include "tests/unit/sim/hulls.h"

#include <criterion/criterion.h>
#include <string.h>

#define PAIRS 60000

typedef struct answer {
    bool apart, edges;
    uint32_t a, b; // faces (b: CM_NONE for a's), or edges
    float separation;
} answer;

static float try_faces(const cm_poly *a, const cm_poly *b, uint32_t *face)
{
    float best = -1.0e30f;
    for (uint32_t f = 0; f < a->face_count; f++) {
        float low = 1.0e30f;
        for (uint32_t i = 0; i < b->vertex_count; i++) {
            low = cm_min(low, cm_dot(cm_poly_normal(a, f), cm_poly_vertex(b, i)));
        }
        if (low - a->offsets[f] > best) {
            best = low - a->offsets[f];
            *face = f;
        }
    }
    return best;
}

// The separation along the product of two edges; very low where their arcs do not cross.
static float try_edges(const cm_poly *a, const cm_hull_edge *ea, const cm_poly *b,
                       const cm_hull_edge *eb)
{
    carom_vec3 p = cm_poly_vertex(a, ea->vertex[0]), q = cm_poly_vertex(b, eb->vertex[0]);
    carom_vec3 u = cm_sub(cm_poly_vertex(a, ea->vertex[1]), p);
    carom_vec3 v = cm_sub(cm_poly_vertex(b, eb->vertex[1]), q);
    float cu = cm_dot(cm_poly_normal(b, eb->face[0]), u);
    float du = cm_dot(cm_poly_normal(b, eb->face[1]), u);
    float av = cm_dot(cm_poly_normal(a, ea->face[0]), v);
    float bv = cm_dot(cm_poly_normal(a, ea->face[1]), v);
    carom_vec3 n = cm_cross(u, v);
    float nn = cm_dot(n, n);
    if (!(cu * du < 0.0f && av * bv < 0.0f && cu * bv < 0.0f) ||
        nn < 1.0e-4f * cm_dot(u, u) * cm_dot(v, v)) {
        return -1.0e30f;
    }
    n = cm_scale(1.0f / cm_sqrt(nn), n);
    n = cm_dot(n, cm_sub(p, a->center)) < 0.0f ? cm_neg(n) : n;
    return cm_dot(n, cm_sub(q, p));
}

static answer expected(const cm_poly *a, const cm_poly *b, float margin)
{
    uint32_t face_a = 0, face_b = 0;
    float fa = try_faces(a, b, &face_a), fb = try_faces(b, a, &face_b);
    bool of_b = fb > fa + 0.0005f;
    answer face = {.a = of_b ? face_b : face_a, .b = of_b ? 0 : CM_NONE};
    answer edge = {.edges = true, .separation = -1.0e30f};
    face.separation = of_b ? fb : fa;
    for (uint32_t i = 0; i < a->edge_count; i++) {
        for (uint32_t k = 0; k < b->edge_count; k++) {
            float s = try_edges(a, &a->edges[i], b, &b->edges[k]);
            if (s > edge.separation) {
                edge = (answer){.edges = true, .a = i, .b = k, .separation = s};
            }
        }
    }
    if (fa > margin || fb > margin || edge.separation > margin) {
        return (answer){.apart = true};
    }
    return edge.separation > cm_edge_bound(face.separation) ? edge : face;
}

static const carom_hull *coin(cm_hulls *hulls, uint32_t sides, float radius, float half)
{
    carom_vec3 points[CM_HULL_VERTICES];
    for (uint32_t i = 0; i < sides; i++) {
        float turn = 6.2831853f * (float)i / (float)sides;
        float x = radius * __builtin_cosf(turn), z = radius * __builtin_sinf(turn);
        points[2 * i] = cm_vec(x, half, z);
        points[2 * i + 1] = cm_vec(x, -half, z);
    }
    return cm_hulls_add(hulls, points, 2 * sides);
}

typedef struct placed {
    cm_shape shape;
    cm_shape_transform transform;
    cm_poly poly;
} placed;

// A third of them face to face: the same turn about the vertical alone.
static void place(uint64_t *state, cm_hulls *hulls, bool upright, placed *to)
{
    carom_vec3 half = cm_vec(0.2f + cm_hulls_unit(state), 0.3f, 0.1f + 0.5f * cm_hulls_unit(state));
    cm_shape shape = {.type = CAROM_SHAPE_HULL};
    memcpy(shape.size, &half, sizeof half);
    uint32_t kind = (uint32_t)(4.0f * cm_hulls_unit(state));
    uint32_t which = (uint32_t)((float)hulls->count * 0.999f * cm_hulls_unit(state));
    cm_shape_transform transform = {.hull = hulls->list[which]};
    shape.type = kind == 0 ? CAROM_SHAPE_BOX : CAROM_SHAPE_HULL;
    carom_quat turn = cm_hulls_turn(state);
    if (upright) {
        turn.x = turn.z = 0.0f;
        turn = cm_quat_normalize(turn);
    }
    transform.rotation = cm_mat3_from_quat(turn);
    transform.position = cm_hulls_vec(state, 0.9f);
    if (shape.type == CAROM_SHAPE_BOX) {
        transform.hull = NULL;
        transform.reach = half.x + half.y + half.z;
    } else {
        transform.reach = transform.hull->half.x + transform.hull->half.y + transform.hull->half.z;
    }
    to->shape = shape;
    to->transform = transform;
    cr_assert(cm_poly_make(&shape, &transform, cm_vec(0.0f, 0.0f, 0.0f), &to->poly));
}

static void fill(cm_hulls *hulls, uint64_t *state)
{
    cm_hulls_open(hulls);
    for (uint32_t i = 0; i < 24; i++) {
        cm_hulls_random(hulls, state, 4 + 2 * i, 0.2f + 0.03f * (float)i);
        coin(hulls, 3 + i, 0.1f + 0.02f * (float)i, 0.002f * (float)(1 + i * i));
    }
}

Test(collide_hull, pruned_searches_find_what_a_full_one_finds)
{
    static placed one, two;
    uint64_t state = 22;
    uint32_t apart = 0, by_edges = 0, by_faces = 0;
    cm_hulls hulls;
    fill(&hulls, &state);
    for (uint32_t i = 0; i < PAIRS; i++) {
        place(&state, &hulls, i % 3 == 0, &one);
        place(&state, &hulls, i % 3 == 0, &two);
        const cm_poly a = one.poly, b = two.poly;
        float margin = 0.02f;
        answer want = expected(&a, &b, margin);
        cm_manifold manifold;
        uint32_t count = cm_collide_polys(&a, &b, cm_vec(0.0f, 0.0f, 0.0f), margin, &manifold);
        if (want.apart) {
            cr_assert_eq(count, 0, "pair %u", i);
            apart++;
            continue;
        }
        if (count == 0) {
            continue; // a face that clips all away
        }
        bool edges = (manifold.points[0].feature >> 30 & 1u) != 0;
        if (want.edges) {
            cr_assert_eq(manifold.points[0].feature, 1u << 30 | want.a | want.b << 8, "pair %u", i);
            cr_assert_eq(manifold.points[0].separation, want.separation, "pair %u", i);
            by_edges++;
        } else if (!edges) { // else clipping left nothing
            carom_vec3 n =
                want.b == CM_NONE ? cm_poly_normal(&a, want.a) : cm_neg(cm_poly_normal(&b, want.a));
            cr_assert_eq(memcmp(&n, &manifold.normal, sizeof n), 0, "pair %u", i);
            by_faces++;
        }
    }
    cr_assert(apart > 10000 && by_edges > 1000 && by_faces > 10000, "%u %u %u", apart, by_edges,
              by_faces);
    cm_hulls_close(&hulls);
}

// The margin is as good as the gap over the best face of a: a pair is not apart for one a little
// wider.
Test(collide_hull, pairs_apart_at_once_are_apart)
{
    static placed a, b;
    uint64_t state = 23;
    uint32_t apart = 0, at_once = 0;
    cm_hulls hulls;
    fill(&hulls, &state);
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t face;
        place(&state, &hulls, i % 3 == 0, &a);
        place(&state, &hulls, i % 3 == 0, &b);
        if (b.shape.type != CAROM_SHAPE_HULL) {
            continue;
        }
        float gap = try_faces(&a.poly, &b.poly, &face);
        cr_assert(!cm_hulls_apart(&a.shape, &a.transform, &b.transform, gap), "pair %u", i);
        if (gap > 0.02f) {
            apart++;
            at_once += cm_hulls_apart(&a.shape, &a.transform, &b.transform, 0.02f) ? 1 : 0;
        }
    }
    cr_assert(apart > 5000 && 10 * at_once > 8 * apart, "%u of %u", at_once, apart);
    cm_hulls_close(&hulls);
}

Test(collide_hull, box_is_that_of_the_corners)
{
    static placed a;
    uint64_t state = 24;
    cm_hulls hulls;
    fill(&hulls, &state);
    for (uint32_t i = 0; i < 2000; i++) {
        place(&state, &hulls, i % 3 == 0, &a);
        cm_aabb box = cm_shape_bounds(&a.shape, &a.transform);
        const float lower[3] = {box.lower.x, box.lower.y, box.lower.z};
        const float upper[3] = {box.upper.x, box.upper.y, box.upper.z};
        for (uint32_t k = 0; k < 3; k++) {
            float low = 1.0e30f, high = -1.0e30f;
            for (uint32_t v = 0; v < a.poly.vertex_count; v++) {
                low = cm_min(low, a.poly.vertices[k][v]);
                high = cm_max(high, a.poly.vertices[k][v]);
            }
            cr_assert_float_eq(lower[k], low, 1.0e-6f, "box %u", i);
            cr_assert_float_eq(upper[k], high, 1.0e-6f, "box %u", i);
        }
    }
    cm_hulls_close(&hulls);
}
