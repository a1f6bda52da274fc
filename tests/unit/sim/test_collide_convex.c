// Goal: hulls and cylinders collide as what they are. Method: a hull in the shape of a box against
// the box code; random pairs of all kinds against the double-precision depth of server/bench, which
// shares no code with the simulation; GJK against the same; what degenerate places give is finite.
#include "server/tools/bench/solid.h"
#include "shared/sim/collide/axis.h"
#include "shared/sim/collide/collide.h"
#include "shared/base/rng.h"
#include "tests/unit/sim/hulls.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct thing {
    carom_shape_def def;
    cm_shape shape;
    cm_shape_transform transform;
    double position[3], orientation[4];
} thing;

static void put(thing *t, carom_shape_def def, carom_vec3 at, carom_quat turn)
{
    t->def = def;
    cr_assert_eq(cm_shape_from_def(&def, &t->shape, NULL), CAROM_OK);
    t->transform =
        (cm_shape_transform){.position = at, .rotation = cm_mat3_from_quat(turn), .hull = def.hull};
    t->position[0] = at.x, t->position[1] = at.y, t->position[2] = at.z;
    t->orientation[0] = turn.x, t->orientation[1] = turn.y, t->orientation[2] = turn.z,
    t->orientation[3] = turn.w;
}

static double true_depth(const thing *a, const thing *b)
{
    cm_solid sa, sb;
    cr_assert(cm_solid_place(&sa, &a->def, a->position, a->orientation));
    cr_assert(cm_solid_place(&sb, &b->def, b->position, b->orientation));
    return cm_solid_depth(&sa, &sb);
}

static uint32_t collide(const thing *a, const thing *b, float margin, cm_manifold *m)
{
    memset(m, 0, sizeof *m);
    return cm_collide_at(&a->shape, &a->transform, &b->shape, &b->transform, margin, m);
}

static float lowest(const cm_manifold *m)
{
    float low = 1.0e30f;
    for (uint32_t i = 0; i < m->point_count; i++) {
        low = fminf(low, m->points[i].separation);
    }
    return low;
}

static void expect_sound(const cm_manifold *m, float margin)
{
    cr_assert_leq(m->point_count, CM_MANIFOLD_MAX);
    cr_assert_float_eq(cm_length(m->normal), 1.0f, 1.0e-4f);
    for (uint32_t i = 0; i < m->point_count; i++) {
        cr_assert(cm_vec_is_finite(m->points[i].anchor_a));
        cr_assert(cm_vec_is_finite(m->points[i].anchor_b));
        cr_assert(cm_is_finite(m->points[i].separation));
        cr_assert_leq(m->points[i].separation, margin);
        for (uint32_t k = 0; k < i; k++) {
            cr_assert_neq(m->points[i].feature, m->points[k].feature);
        }
    }
}

Test(collide_convex, a_hull_in_the_shape_of_a_box_is_one)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    const carom_vec3 half = {0.5f, 0.3f, 0.7f};
    const carom_hull *hull = cm_hulls_box(&hulls, half);
    carom_shape_def box = carom_default_shape_def(), as_hull = box;
    box.type = CAROM_SHAPE_BOX;
    box.half_extents = half;
    as_hull.type = CAROM_SHAPE_HULL;
    as_hull.hull = hull;
    uint64_t state = 11;
    uint32_t touching = 0;
    for (int i = 0; i < 4000; i++) {
        thing a, b, c, d;
        carom_vec3 at = cm_hulls_vec(&state, 1.1f);
        carom_quat turn = cm_hulls_turn(&state), other = cm_hulls_turn(&state);
        put(&a, box, cm_vec(0.0f, 0.0f, 0.0f), other);
        put(&b, box, at, turn);
        put(&c, as_hull, cm_vec(0.0f, 0.0f, 0.0f), other);
        put(&d, as_hull, at, turn);
        cm_manifold boxes, both, mixed;
        uint32_t count = collide(&a, &b, 0.02f, &boxes);
        collide(&c, &d, 0.02f, &both);
        collide(&a, &d, 0.02f, &mixed);
        cr_assert_eq(count > 0, both.point_count > 0, "case %d", i);
        cr_assert_eq(count > 0, mixed.point_count > 0, "case %d", i);
        if (count == 0) {
            continue;
        }
        touching++;
        cr_assert_float_eq(lowest(&boxes), lowest(&both), 1.0e-5f, "case %d", i);
        cr_assert_float_eq(lowest(&boxes), lowest(&mixed), 1.0e-5f, "case %d", i);
        cr_assert_lt(cm_length(cm_sub(boxes.normal, both.normal)), 1.0e-5f, "case %d", i);
        cr_assert_lt(cm_length(cm_sub(boxes.normal, mixed.normal)), 1.0e-5f, "case %d", i);
    }
    cr_assert_gt(touching, 1000);
    cm_hulls_close(&hulls);
}

static carom_shape_def random_def(cm_hulls *hulls, uint64_t *state, uint32_t kind)
{
    carom_shape_def def = carom_default_shape_def();
    def.type = (carom_shape_type)(kind >= 3 ? kind + 1 : kind); // all but the plane
    def.radius = 0.3f + 0.2f * cm_hulls_unit(state);
    def.half_height = 0.4f + 0.2f * cm_hulls_unit(state);
    def.half_extents = cm_vec(0.4f, 0.3f, 0.5f);
    if (def.type == CAROM_SHAPE_HULL) {
        def.hull = cm_hulls_random(hulls, state, 12, 0.6f);
    }
    return def;
}

// One draw after another: the order in which arguments are evaluated is the compiler's.
static void put_random(thing *t, cm_hulls *hulls, uint64_t *state, uint32_t kind, float reach)
{
    carom_shape_def def = random_def(hulls, state, kind);
    carom_vec3 at = cm_hulls_vec(state, reach);
    carom_quat turn = cm_hulls_turn(state);
    put(t, def, at, turn);
}

// The deepest point lies where the double-precision pass says, both ways round. Margins are small,
// so that only what nearly touches is judged; a search over axes may miss the true depth of what
// overlaps deeply by a little, and next to never calls it less than it is.
Test(collide_convex, random_pairs_have_their_true_depth)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 3;
    uint32_t judged = 0, deep = 0, missed = 0;
    for (int i = 0; i < 6000; i++) {
        uint32_t ka = (uint32_t)i % 5, kb = (uint32_t)i / 5 % 5;
        thing a, b;
        put_random(&a, &hulls, &state, ka, 0.1f);
        put_random(&b, &hulls, &state, kb, 1.2f);
        bool ours = ka >= 3 || kb >= 3;
        if (!ours) {
            continue;
        }
        cm_manifold m, back;
        collide(&a, &b, 0.02f, &m);
        collide(&b, &a, 0.02f, &back);
        expect_sound(&m, 0.02f);
        double depth = true_depth(&a, &b);
        cr_assert_eq(m.point_count > 0, back.point_count > 0, "case %d (%u %u) %g", i, ka, kb,
                     depth);
        if (depth < -0.021) {
            cr_assert_eq(m.point_count, 0, "case %d (%u %u): %g", i, ka, kb, depth);
        } else if (depth > -0.015) {
            cr_assert_gt(m.point_count, 0, "case %d (%u %u): %g", i, ka, kb, depth);
        }
        if (m.point_count == 0) {
            continue;
        }
        double off = fabs(-(double)lowest(&m) - depth);
        judged++;
        if (depth > 0.05) {
            deep++;
        } else {
            cr_assert_lt(off, 0.005, "case %d (%u %u): %g, true %g", i, ka, kb, -(double)lowest(&m),
                         depth);
        }
        // A face is taken before an edge that is up to a quarter less deep, and what is clipped by
        // it may lack the deepest corner: 3 of some 40,000 pairs, by 30% of the depth at the most.
        double least = depth > 0.05 ? 0.6 * depth : depth - 0.005;
        cr_assert_gt(-(double)lowest(&m), least, "case %d (%u %u): %g, true %g", i, ka, kb,
                     -(double)lowest(&m), depth);
        missed += -(double)lowest(&m) < depth - 0.005;
    }
    cr_assert(judged > 300 && deep > 100, "%u %u", judged, deep);
    cr_assert_leq(missed, 1);
    cm_hulls_close(&hulls);
}

Test(collide_convex, gjk_gives_the_distance)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 9;
    uint32_t apart = 0, early = 0;
    for (int i = 0; i < 3000; i++) {
        thing a, b;
        put(&a, random_def(&hulls, &state, (uint32_t)i % 5), cm_hulls_vec(&state, 0.1f),
            cm_hulls_turn(&state));
        put(&b, random_def(&hulls, &state, (uint32_t)i / 5 % 5), cm_hulls_vec(&state, 3.0f),
            cm_hulls_turn(&state));
        cm_poly poly_a, poly_b;
        cm_core ca, cb;
        cm_gjk result;
        cr_assert(cm_core_make(&a.shape, &a.transform, a.transform.position, &poly_a, &ca));
        cr_assert(cm_core_make(&b.shape, &b.transform, a.transform.position, &poly_b, &cb));
        cm_gjk_distance(&ca, &cb, &result);
        cr_assert_lt(result.iterations, 33);
        if (result.distance < 1.0e-3f) {
            continue;
        }
        apart++;
        // No direction gives more than the distance, and its own gives as much.
        carom_vec3 n = result.direction;
        carom_vec3 gap = cm_sub(cm_core_support(&cb, cm_neg(n)), cm_core_support(&ca, n));
        cr_assert_leq(cm_dot(n, gap), result.distance + 1.0e-5f);
        early += cm_dot(n, gap) < result.distance - 5.0e-4f;
        cr_assert_float_eq(cm_dot(n, gap), result.distance, 0.02f, "case %d (%d %d): %u iterations",
                           i, i % 5, i / 5 % 5, result.iterations);
        carom_vec3 between = cm_sub(result.on_b, result.on_a);
        cr_assert_float_eq(cm_length(between), result.distance, 1.0e-4f, "case %d", i);
    }
    cr_assert_gt(apart, 1000);
    cr_assert_lt(early, 10, "%u of %u stop early", early, apart);
    cm_hulls_close(&hulls);
}

// Same place, huge, tiny, far away: a result, finite, and no crash.
Test(collide_convex, hostile_places_are_finite)
{
    static const float sizes[] = {1.0e-5f, 1.0e-2f, 1.0f, 1.0e3f, 1.0e6f};
    static const float transforms[] = {0.0f, 1.0e-6f, 1.0f, 1.0e3f, 1.0e7f};
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 21;
    for (int i = 0; i < 4000; i++) {
        thing t[2];
        for (int k = 0; k < 2; k++) {
            carom_shape_def def =
                random_def(&hulls, &state, (uint32_t)(cm_hulls_unit(&state) * 4.99f));
            float size = sizes[(uint32_t)(cm_hulls_unit(&state) * 4.99f)];
            def.radius = def.half_height = size;
            def.half_extents = cm_vec(size, size, 2.0e-5f);
            carom_vec3 at = cm_scale(transforms[(uint32_t)(cm_hulls_unit(&state) * 4.99f)],
                                     cm_hulls_vec(&state, 1.0f));
            put(&t[k], def, at, i % 3 ? cm_hulls_turn(&state) : cm_quat_identity());
        }
        cm_manifold m;
        collide(&t[0], &t[1], 0.02f, &m);
        cr_assert_leq(m.point_count, CM_MANIFOLD_MAX);
        cr_assert(cm_vec_is_finite(m.normal));
        for (uint32_t p = 0; p < m.point_count; p++) {
            cr_assert(cm_vec_is_finite(m.points[p].anchor_a));
            cr_assert(cm_is_finite(m.points[p].separation));
        }
    }
    cm_hulls_close(&hulls);
}
