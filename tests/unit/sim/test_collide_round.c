// Goal: contacts of spheres, capsules and planes. Method: known answers; and random poses, where
// the deepest separation must equal the distance found by sampling the capsule's segment finely.
// The two orders of a pair must give the same contact, turned round.
#include "shared/sim/collide/collide.h"

#include <criterion/criterion.h>
#include <math.h>

static uint32_t g_state;

static float chance(void)
{
    g_state = g_state * 1664525u + 1013904223u;
    return (float)(g_state >> 8) / 16777216.0f;
}

static cm_shape shape(carom_shape_type type, float x, float y, float z)
{
    cm_shape s = {0};
    s.type = (uint8_t)type;
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    return s;
}

static carom_quat random_turn(void)
{
    carom_quat q = {chance() - 0.5f, chance() - 0.5f, chance() - 0.5f, chance() - 0.5f};
    return cm_quat_normalize(q);
}

static const carom_quat none = {0, 0, 0, 1};
static const carom_quat quarter = {0, 0, 0.70710678f, 0.70710678f}; // about z

// Signed distance of a point to a box; negative inside.
static float box_distance(const cm_shape *b, carom_vec3 p)
{
    carom_vec3 e = cm_sub(cm_abs_vec(p), cm_vec(b->size[0], b->size[1], b->size[2]));
    float inside = cm_max(e.x, cm_max(e.y, e.z));
    carom_vec3 out = cm_vec(cm_max(e.x, 0.0f), cm_max(e.y, 0.0f), cm_max(e.z, 0.0f));
    return inside < 0.0f ? inside : cm_length(out);
}

static float lowest(const cm_manifold *m)
{
    float s = 1e9f;
    for (uint32_t i = 0; i < m->point_count; i++) {
        s = cm_min(s, m->points[i].separation);
    }
    return s;
}

Test(collide_round, spheres)
{
    cm_shape a = shape(CAROM_SHAPE_SPHERE, 0.5f, 0, 0);
    cm_manifold m;
    cr_assert_eq(
        cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &a, cm_vec(1.03f, 0, 0), none, 0.02f, &m), 0);
    cr_assert_eq(
        cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &a, cm_vec(0.9f, 0, 0), none, 0.02f, &m), 1);
    cr_assert_float_eq(m.normal.x, 1.0f, 1e-6f);
    cr_assert_float_eq(m.points[0].separation, -0.1f, 1e-6f);
    cr_assert_float_eq(m.points[0].anchor_a.x, 0.45f, 1e-6f);
    cr_assert_float_eq(m.points[0].anchor_b.x, -0.45f, 1e-6f);
    // One inside the other, same centre: a fixed way out.
    cr_assert_eq(cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &a, cm_vec(0, 0, 0), none, 0.02f, &m),
                 1);
    cr_assert_float_eq(m.normal.y, 1.0f, 1e-6f);
}

Test(collide_round, capsules_side_by_side_have_two_points)
{
    cm_shape a = shape(CAROM_SHAPE_CAPSULE, 0.3f, 0.5f, 0);
    cm_manifold m;
    cr_assert_eq(
        cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &a, cm_vec(0.59f, 0.4f, 0), none, 0.02f, &m),
        2);
    cr_assert_float_eq(m.points[0].anchor_a.y, -0.1f, 1e-5f);
    cr_assert_float_eq(m.points[1].anchor_a.y, 0.5f, 1e-5f);
    cr_assert_eq(
        cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &a, cm_vec(0, 1.59f, 0), none, 0.02f, &m), 1);
    cr_assert_float_eq(m.normal.y, 1.0f, 1e-6f);
}

Test(collide_round, capsule_lies_on_box_on_two_points)
{
    cm_shape c = shape(CAROM_SHAPE_CAPSULE, 0.25f, 0.5f, 0), b = shape(CAROM_SHAPE_BOX, 2, 0.5f, 2);
    cm_manifold m;
    cr_assert_eq(
        cm_collide_shapes(&b, cm_vec(0, 0, 0), none, &c, cm_vec(0, 0.74f, 0), quarter, 0.02f, &m),
        2);
    cr_assert_float_eq(m.normal.y, 1.0f, 1e-6f);
    cr_assert_float_eq(m.points[0].separation, -0.01f, 1e-5f);
    cr_assert_float_eq(m.points[0].anchor_a.y, 0.495f, 1e-5f);
    cr_assert_float_eq(fabsf(m.points[0].anchor_a.x), 0.5f, 1e-5f);
    // Across a narrow box: the points are where it leaves the box.
    b.size[0] = 0.2f;
    cr_assert_eq(
        cm_collide_shapes(&b, cm_vec(0, 0, 0), none, &c, cm_vec(0, 0.74f, 0), quarter, 0.02f, &m),
        2);
    cr_assert_float_eq(fabsf(m.points[0].anchor_a.x), 0.2f, 1e-5f);
}

Test(collide_round, sphere_centre_inside_a_box_leaves_by_the_nearest_face)
{
    cm_shape s = shape(CAROM_SHAPE_SPHERE, 0.2f, 0, 0), b = shape(CAROM_SHAPE_BOX, 1, 1, 1);
    cm_manifold m;
    cr_assert_eq(
        cm_collide_shapes(&s, cm_vec(0.1f, 0.8f, 0), none, &b, cm_vec(0, 0, 0), none, 0.02f, &m),
        1);
    cr_assert_float_eq(m.normal.y, -1.0f, 1e-6f);
    cr_assert_float_eq(m.points[0].separation, -0.4f, 1e-5f);
}

Test(collide_round, planes_meet_every_shape)
{
    cm_shape p = shape(CAROM_SHAPE_PLANE, 0, 1, 0);
    p.size[3] = 2.0f;
    cm_shape s = shape(CAROM_SHAPE_SPHERE, 0.5f, 0, 0),
             c = shape(CAROM_SHAPE_CAPSULE, 0.3f, 0.5f, 0);
    cm_shape b = shape(CAROM_SHAPE_BOX, 0.5f, 0.5f, 0.5f);
    carom_vec3 origin = cm_vec(0, 1, 0); // the surface is at y = 3
    cm_manifold m;
    cr_assert_eq(cm_collide_shapes(&p, origin, none, &s, cm_vec(4, 3.49f, 1), none, 0.02f, &m), 1);
    cr_assert_float_eq(m.normal.y, 1.0f, 1e-6f);
    cr_assert_float_eq(m.points[0].separation, -0.01f, 1e-5f);
    cr_assert_eq(cm_collide_shapes(&c, cm_vec(4, 3.29f, 1), quarter, &p, origin, none, 0.02f, &m),
                 2);
    cr_assert_float_eq(m.normal.y, -1.0f, 1e-6f);
    cr_assert_eq(cm_collide_shapes(&b, cm_vec(4, 3.49f, 1), none, &p, origin, none, 0.02f, &m), 4);
    cr_assert_float_eq(m.points[3].anchor_a.y, -0.495f, 1e-5f);
    cr_assert_eq(cm_collide_shapes(&b, cm_vec(4, -90, 1), none, &p, origin, none, 0.02f, &m), 4);
    cr_assert_eq(cm_collide_shapes(&p, origin, none, &p, origin, quarter, 0.02f, &m), 0);
}

Test(collide_round, random_capsules_and_boxes_hold_against_sampling)
{
    g_state = 11;
    uint32_t outside = 0;
    for (int n = 0; n < 5000; n++) {
        cm_shape c = shape(CAROM_SHAPE_CAPSULE, 0.1f + 0.3f * chance(), 0.1f + chance(), 0);
        cm_shape b = shape(CAROM_SHAPE_BOX, 0.2f + chance(), 0.2f + chance(), 0.2f + chance());
        carom_quat qc = random_turn(), qb = random_turn();
        carom_vec3 pb = cm_vec(-30, 8, 2);
        carom_vec3 pc = cm_add(pb, cm_vec(4 * chance() - 2, 4 * chance() - 2, 4 * chance() - 2));
        float best = 1e9f;
        for (int i = 0; i <= 2000; i++) {
            carom_vec3 along = cm_vec(0, c.size[1] * (float)(i - 1000) / 1000.0f, 0);
            carom_vec3 p = cm_sub(cm_add(pc, cm_rotate(qc, along)), pb);
            best = cm_min(best, box_distance(&b, cm_rotate_inverse(qb, p)));
        }
        cm_manifold m, r;
        uint32_t count = cm_collide_shapes(&c, pc, qc, &b, pb, qb, 10.0f, &m);
        cr_assert_gt(count, 0);
        if (best > 0.001f) {
            outside++;
            // A face's normal is taken within 8 degrees: heights are that much short at most.
            cr_assert_float_eq(lowest(&m), best - c.size[0], 0.012f * best + 2e-3f,
                               "case %d: %f, not %f", n, (double)lowest(&m),
                               (double)(best - c.size[0]));
        } else {
            cr_assert_lt(lowest(&m), -c.size[0] + 2e-3f, "case %d", n);
        }
        cr_assert_eq(cm_collide_shapes(&b, pb, qb, &c, pc, qc, 10.0f, &r), count);
        cr_assert_lt(cm_length(cm_add(m.normal, r.normal)), 1e-6f);
        cr_assert_eq(m.points[0].separation, r.points[0].separation);
    }
    cr_assert_gt(outside, 2000);
}

Test(collide_round, random_capsules_hold_against_sampling)
{
    g_state = 12;
    for (int n = 0; n < 3000; n++) {
        cm_shape a = shape(CAROM_SHAPE_CAPSULE, 0.2f, 0.1f + chance(), 0);
        cm_shape b = shape(CAROM_SHAPE_CAPSULE, 0.3f, 0.1f + chance(), 0);
        carom_quat qa = random_turn(), qb = random_turn();
        carom_vec3 pb = cm_vec(4 * chance() - 2, 4 * chance() - 2, 4 * chance() - 2);
        carom_vec3 axis_a = cm_rotate(qa, cm_vec(0, a.size[1], 0));
        carom_vec3 axis_b = cm_rotate(qb, cm_vec(0, b.size[1], 0));
        float best = 1e9f, bb = cm_dot(axis_b, axis_b);
        for (int i = 0; i <= 2000; i++) {
            carom_vec3 p = cm_scale((float)(i - 1000) / 1000.0f, axis_a);
            float t = cm_clamp(cm_dot(cm_sub(p, pb), axis_b) / bb, -1.0f, 1.0f);
            best = cm_min(best, cm_length(cm_sub(cm_mul_add(pb, t, axis_b), p)));
        }
        cm_manifold m;
        cr_assert_gt(cm_collide_shapes(&a, cm_vec(0, 0, 0), qa, &b, pb, qb, 10.0f, &m), 0);
        cr_assert_float_eq(lowest(&m), best - 0.5f, 2e-3f, "case %d", n);
    }
}
