// Distance of two convex cores: the point of the Minkowski difference b - a nearest to the origin
// (E. Gilbert, D. Johnson, S. Keerthi, 1988; regions of the simplex after C. Ericson, "Real-Time
// Collision Detection", 2005, 5.1 and 9.5).
//
// Ends after at most ITERATIONS, or where the next support brings nothing nearer: in binary32 the
// distance stops falling before any tolerance is met, so no progress is an end like any other, and
// the last good answer stands. Typical: 4 to 6 iterations for polyhedra, 10 for cylinders.
#include "shared/sim/collide/convex.h"

#define ITERATIONS 32u
#define RELATIVE   1.0e-6f // of the squared distance
#define OVERLAP    1.0e-6f // of the size: nearer than this is none

typedef struct corner {
    carom_vec3 w, a, b; // w = b - a
    float weight;
} corner;

typedef struct simplex {
    uint32_t count;
    corner c[4];
} simplex;

static void keep_corner(simplex *s, corner x, float weight)
{
    s->c[s->count] = x;
    s->c[s->count++].weight = weight;
}

static void solve_segment(simplex *s)
{
    corner p = s->c[0], q = s->c[1];
    carom_vec3 d = cm_sub(q.w, p.w);
    float dd = cm_dot(d, d), t = dd > 0.0f ? -cm_dot(p.w, d) / dd : 0.0f;
    s->count = 0;
    if (t <= 0.0f) {
        keep_corner(s, p, 1.0f);
    } else if (t >= 1.0f) {
        keep_corner(s, q, 1.0f);
    } else {
        keep_corner(s, p, 1.0f - t);
        keep_corner(s, q, t);
    }
}

static void keep_edge(simplex *s, corner p, corner q)
{
    s->count = 2;
    s->c[0] = p;
    s->c[1] = q;
    solve_segment(s);
}

// Ericson 5.1.5, with the origin as the point.
static void solve_triangle(simplex *s)
{
    corner p = s->c[0], q = s->c[1], r = s->c[2];
    carom_vec3 pq = cm_sub(q.w, p.w), pr = cm_sub(r.w, p.w);
    float d1 = -cm_dot(pq, p.w), d2 = -cm_dot(pr, p.w);
    float d3 = -cm_dot(pq, q.w), d4 = -cm_dot(pr, q.w);
    float d5 = -cm_dot(pq, r.w), d6 = -cm_dot(pr, r.w);
    float vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    float sum = va + vb + vc;
    s->count = 0;
    if (d1 <= 0.0f && d2 <= 0.0f) {
        keep_corner(s, p, 1.0f);
    } else if (d3 >= 0.0f && d4 <= d3) {
        keep_corner(s, q, 1.0f);
    } else if (d6 >= 0.0f && d5 <= d6) {
        keep_corner(s, r, 1.0f);
    } else if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        keep_edge(s, p, q);
    } else if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        keep_edge(s, p, r);
    } else if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f) {
        keep_edge(s, q, r);
    } else if (sum > 0.0f) {
        keep_corner(s, p, va / sum);
        keep_corner(s, q, vb / sum);
        keep_corner(s, r, vc / sum);
    } else {
        keep_edge(s, p, q); // no area: see improve
    }
}

static carom_vec3 nearest(const simplex *s)
{
    carom_vec3 v = cm_scale(s->c[0].weight, s->c[0].w);
    for (uint32_t i = 1; i < s->count; i++) {
        v = cm_mul_add(v, s->c[i].weight, s->c[i].w);
    }
    return v;
}

// The nearest of the four sides that the origin is beyond; all four corners stay where it is
// inside.
static void solve_tetrahedron(simplex *s)
{
    static const uint8_t sides[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    simplex best = *s;
    float least = 1.0e38f;
    bool outside = false;
    for (uint32_t i = 0; i < 4; i++) {
        simplex side = {3, {s->c[sides[i][0]], s->c[sides[i][1]], s->c[sides[i][2]]}};
        carom_vec3 p = side.c[0].w;
        carom_vec3 n = cm_cross(cm_sub(side.c[1].w, p), cm_sub(side.c[2].w, p));
        float origin = -cm_dot(n, p), other = cm_dot(n, cm_sub(s->c[sides[i][3]].w, p));
        if (other != 0.0f && (origin < 0.0f) == (other < 0.0f) && origin != 0.0f) {
            continue;
        }
        outside = true;
        solve_triangle(&side);
        carom_vec3 v = nearest(&side);
        float vv = cm_dot(v, v);
        if (vv < least) {
            least = vv;
            best = side;
        }
    }
    if (outside) {
        *s = best;
    }
}

static void solve(simplex *s)
{
    if (s->count == 1) {
        s->c[0].weight = 1.0f;
    } else if (s->count == 2) {
        solve_segment(s);
    } else if (s->count == 3) {
        solve_triangle(s);
    } else {
        solve_tetrahedron(s);
    }
}

static corner support(const cm_core *a, const cm_core *b, carom_vec3 v)
{
    corner c;
    c.a = cm_core_support(a, v);
    c.b = cm_core_support(b, cm_neg(v));
    c.w = cm_sub(c.b, c.a);
    c.weight = 1.0f;
    return c;
}

static bool is_known(const simplex *s, carom_vec3 w)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->c[i].w.x == w.x && s->c[i].w.y == w.y && s->c[i].w.z == w.z) {
            return true;
        }
    }
    return false;
}

// Takes the best of the edges to the new corner, for rounding spoils a thin simplex.
static bool improve(const simplex *s, corner next, simplex *best, float vv)
{
    bool better = false;
    for (uint32_t i = 0; i < s->count; i++) {
        simplex edge = {2, {s->c[i], next}};
        solve_segment(&edge);
        carom_vec3 v = nearest(&edge);
        if (cm_dot(v, v) < vv) {
            vv = cm_dot(v, v);
            *best = edge;
            better = true;
        }
    }
    return better;
}

static void give(const simplex *s, carom_vec3 v, cm_gjk *result)
{
    result->on_a = result->on_b = cm_vec(0.0f, 0.0f, 0.0f);
    for (uint32_t i = 0; i < s->count; i++) {
        result->on_a = cm_mul_add(result->on_a, s->c[i].weight, s->c[i].a);
        result->on_b = cm_mul_add(result->on_b, s->c[i].weight, s->c[i].b);
    }
    result->distance = cm_length(v);
    result->direction = cm_normalize(v);
}

void cm_gjk_distance(const cm_core *a, const cm_core *b, cm_gjk *result)
{
    carom_vec3 v = cm_sub(b->center, a->center);
    if (cm_dot(v, v) < 1.0e-12f) {
        v = cm_fixed_direction();
    }
    simplex s = {1, {support(a, b, v)}};
    v = s.c[0].w;
    float vv = cm_dot(v, v), size = vv;
    result->iterations = 0;
    for (; result->iterations < ITERATIONS; result->iterations++) {
        if (vv <= OVERLAP * OVERLAP * size) {
            break;
        }
        corner next = support(a, b, v);
        if (!(vv - cm_dot(v, next.w) > RELATIVE * vv) || is_known(&s, next.w)) {
            break;
        }
        simplex trial = s;
        trial.c[trial.count++] = next;
        solve(&trial);
        if (trial.count == 4) {
            vv = 0.0f;
            break;
        }
        carom_vec3 u = nearest(&trial);
        float uu = cm_dot(u, u);
        if (!(uu < vv)) {
            if (!improve(&s, next, &trial, vv)) {
                break;
            }
            u = nearest(&trial);
            uu = cm_dot(u, u);
        }
        size = cm_max(size, cm_dot(next.w, next.w));
        s = trial;
        v = u;
        vv = uu;
    }
    bool overlap = vv <= OVERLAP * OVERLAP * size;
    give(&s, overlap ? cm_vec(0.0f, 0.0f, 0.0f) : v, result);
}
