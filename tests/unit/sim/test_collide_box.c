// Goal: box contacts are where the boxes touch. Method: known poses with known answers; thousands
// of random poses where a manifold is checked against the boxes themselves: moved apart by its
// depth along its normal the boxes no longer overlap (in binary64), and every point lies on both.
#include "shared/sim/collide/box_axes.h"
#include "shared/sim/collide/collide.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static uint32_t g_state;

static float chance(void)
{
    g_state = g_state * 1664525u + 1013904223u;
    return (float)(g_state >> 8) / 16777216.0f;
}

static cm_shape box(float x, float y, float z)
{
    cm_shape s = {0};
    s.type = CAROM_SHAPE_BOX;
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    return s;
}

static carom_quat random_turn(void)
{
    carom_quat q = {chance() - 0.5f, chance() - 0.5f, chance() - 0.5f, chance() - 0.5f};
    return cm_quat_normalize(q);
}

// Overlap along the axis of least overlap, by all fifteen axes; negative: apart.
static double overlap(const cm_shape *a, carom_vec3 pa, carom_quat qa, const cm_shape *b,
                      carom_vec3 pb, carom_quat qb)
{
    cm_mat3 ra = cm_mat3_from_quat(qa), rb = cm_mat3_from_quat(qb);
    const carom_vec3 *ca = &ra.x, *cb = &rb.x;
    double best = 1e9;
    for (int k = 0; k < 15; k++) {
        carom_vec3 n = k < 3 ? ca[k] : (k < 6 ? cb[k - 3] : cm_cross(ca[(k - 6) / 3], cb[k % 3]));
        double length = sqrt((double)cm_dot(n, n)), reach = 0;
        if (length < 1e-3) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            reach += (double)a->size[i] * fabs((double)cm_dot(ca[i], n)) +
                     (double)b->size[i] * fabs((double)cm_dot(cb[i], n));
        }
        best = fmin(best, (reach - fabs((double)cm_dot(cm_sub(pb, pa), n))) / length);
    }
    return best;
}

static float outside(const cm_shape *s, carom_quat q, carom_vec3 anchor)
{
    carom_vec3 p = cm_abs_vec(cm_rotate_inverse(q, anchor));
    return cm_max(p.x - s->size[0], cm_max(p.y - s->size[1], p.z - s->size[2]));
}

Test(collide_box, cube_on_cube_has_four_corners)
{
    cm_shape a = box(0.5f, 0.5f, 0.5f), b = a;
    carom_quat none = cm_quat_identity();
    cm_manifold m;
    uint32_t count =
        cm_collide_shapes(&a, cm_vec(3, 3, 3), none, &b, cm_vec(3, 3.99f, 3), none, 0.02f, &m);
    cr_assert_eq(count, 4);
    cr_assert_float_eq(m.normal.y, 1.0f, 1e-6f);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_float_eq(m.points[i].separation, -0.01f, 1e-5f);
        cr_assert_float_eq(fabsf(m.points[i].anchor_a.x), 0.5f, 1e-5f);
        cr_assert_float_eq(fabsf(m.points[i].anchor_a.z), 0.5f, 1e-5f);
        cr_assert_float_eq(m.points[i].anchor_a.y, 0.495f, 1e-5f);
        cr_assert_float_eq(m.points[i].anchor_b.y, -0.495f, 1e-5f);
        for (uint32_t k = 0; k < i; k++) {
            cr_assert_neq(m.points[i].feature, m.points[k].feature);
        }
    }
}

Test(collide_box, features_stay_while_a_box_slides_and_turns_a_little)
{
    cm_shape a = box(2, 0.5f, 2), b = box(0.5f, 0.5f, 0.5f);
    carom_quat none = cm_quat_identity(), turned = cm_quat_normalize((carom_quat){0, 0.01f, 0, 1});
    cm_manifold m, n;
    cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &b, cm_vec(0, 0.999f, 0), none, 0.02f, &m);
    cm_collide_shapes(&a, cm_vec(0, 0, 0), none, &b, cm_vec(0.1f, 0.999f, 0), turned, 0.02f, &n);
    cr_assert_eq(m.point_count, 4);
    cr_assert_eq(n.point_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert_eq(m.points[i].feature, n.points[i].feature);
    }
}

Test(collide_box, crossing_edges_touch_in_one_point)
{
    cm_shape a = box(0.5f, 0.5f, 2), b = box(2, 0.5f, 0.5f);
    float s = 0.38268343f, c = 0.92387953f; // 45 degrees
    carom_quat qa = {0, 0, s, c}, qb = {s, 0, 0, c};
    float height = 2.0f * 0.70710678f - 0.01f;
    cm_manifold m;
    cr_assert_eq(
        cm_collide_shapes(&a, cm_vec(0, 0, 0), qa, &b, cm_vec(0, height, 0), qb, 0.02f, &m), 1);
    cr_assert_float_eq(m.normal.y, 1.0f, 1e-4f);
    cr_assert_float_eq(m.points[0].separation, -0.01f, 1e-4f);
    cr_assert_float_eq(m.points[0].anchor_a.x, 0.0f, 1e-4f);
    cr_assert_float_eq(m.points[0].anchor_a.z, 0.0f, 1e-4f);
}

Test(collide_box, coinciding_boxes_have_a_normal)
{
    cm_shape a = box(0.5f, 0.5f, 0.5f);
    cm_manifold m;
    cr_assert_gt(cm_collide_shapes(&a, cm_vec(0, 0, 0), cm_quat_identity(), &a, cm_vec(0, 0, 0),
                                   cm_quat_identity(), 0.02f, &m),
                 0);
    cr_assert_float_eq(cm_length(m.normal), 1.0f, 1e-5f);
    cr_assert_float_eq(m.points[0].separation, -1.0f, 1e-5f);
}

Test(collide_box, random_poses_hold_against_the_boxes)
{
    g_state = 3;
    uint32_t touching = 0, shallow = 0;
    for (int n = 0; n < 20000; n++) {
        cm_shape a = box(0.2f + chance(), 0.2f + chance(), 0.2f + chance());
        cm_shape b = box(0.2f + chance(), 0.2f + chance(), 0.2f + chance());
        carom_quat qa = random_turn(), qb = random_turn();
        carom_vec3 pa = cm_vec(50, -20, 7);
        carom_vec3 d = cm_vec(3 * chance() - 1.5f, 3 * chance() - 1.5f, 3 * chance() - 1.5f);
        carom_vec3 pb = cm_add(pa, d);
        double depth = overlap(&a, pa, qa, &b, pb, qb);
        cm_manifold m;
        uint32_t count = cm_collide_shapes(&a, pa, qa, &b, pb, qb, 0.0f, &m);
        if (depth < -1e-4) {
            cr_assert_eq(count, 0);
            continue;
        }
        if (depth < 1e-3) {
            continue;
        }
        cr_assert_gt(count, 0, "case %d: %f deep and no contact", n, depth);
        touching++;
        cr_assert_float_eq(cm_length(m.normal), 1.0f, 1e-4f);
        float lowest = 0.0f;
        for (uint32_t i = 0; i < count; i++) {
            const cm_manifold_point *p = &m.points[i];
            lowest = cm_min(lowest, p->separation);
            cr_assert_lt(cm_length(cm_sub(cm_sub(p->anchor_a, p->anchor_b), d)), 1e-4f);
            float half = 0.5f * cm_abs(p->separation) + 2e-3f;
            cr_assert_lt(outside(&a, qa, p->anchor_a), half, "case %d", n);
            cr_assert_lt(outside(&b, qb, p->anchor_b), half, "case %d", n);
        }
        cr_assert_gt(-(double)lowest, depth - 2e-3, "case %d: %f, not %f", n, (double)lowest,
                     depth);
        if (depth < 0.1) {
            shallow++;
            // Nothing is left of the overlap once b has moved out by the depth.
            carom_vec3 out = cm_mul_add(pb, -lowest + 2e-3f, m.normal);
            cr_assert_lt(overlap(&a, pa, qa, &b, out, qb), 1e-3, "case %d", n);
        }
    }
    cr_assert_gt(touching, 3000);
    cr_assert_gt(shallow, 300);
}

// Cubes one on the other, twisted, tilted a little and sunk in: an edge across an edge is often the
// axis of least overlap, and its one point another edge's after a small turn.
Test(collide_box, what_has_sunk_in_lies_face_on_face)
{
    cm_shape cube = box(0.5f, 0.5f, 0.5f);
    carom_quat upright = cm_quat_identity();
    carom_vec3 origin = cm_vec(0.0f, 0.0f, 0.0f);
    g_state = 5;
    for (int n = 0; n < 1000; n++) {
        carom_quat turn = {0.03f * (chance() - 0.5f), 0.8f * (chance() - 0.5f),
                           0.03f * (chance() - 0.5f), 1.0f};
        turn = cm_quat_normalize(turn);
        carom_vec3 at = cm_vec(0.2f * (chance() - 0.5f), 0.8f, 0.2f * (chance() - 0.5f));
        cm_manifold m;
        uint32_t count = cm_collide_shapes(&cube, origin, upright, &cube, at, turn, 0.02f, &m);
        cr_assert_geq(count, 3, "case %d", n);
    }
}

// What the widths say of the same eight pairs, bit by bit, and that each happened: apart, a's face,
// b's face, edges before faces. Every fifth round the boxes are parallel.
Test(collide_box, any_width_chooses_the_same_axes)
{
    cm_shape shapes[16];
    cm_place places[16];
    uint32_t apart = 0, of_a = 0, of_b = 0, edges = 0;
    g_state = 3;
    for (int round = 0; round < 2000; round++) {
        cm_box_pairs pairs = {0};
        for (uint32_t i = 0; i < 16; i++) {
            carom_quat turn = random_turn();
            turn = round % 5 == 0 ? (carom_quat){0.0f, 0.0f, 0.0f, 1.0f} : turn;
            shapes[i] = box(0.2f + chance(), 0.2f + chance(), 0.2f + chance());
            places[i] = (cm_place){
                .position = cm_vec(1.6f * chance(), 1.6f * chance(), 1.6f * chance()),
                .rotation = cm_mat3_from_quat(turn),
            };
            pairs.a[i / 2] = i / 2;
            pairs.b[i / 2] = 15 - i / 2;
            pairs.margin[i / 2] = 0.1f * chance();
        }
        cm_box_choice one[8], four[8], eight[8];
        for (uint32_t i = 0; i < 8; i++) {
            const cm_box_pairs single = {{pairs.a[i]}, {pairs.b[i]}, {pairs.margin[i]}};
            cm_box_axes_1(places, shapes, places, shapes, &single, &one[i]);
        }
        for (uint32_t i = 0; i < 8; i += 4) {
            cm_box_pairs half = {0};
            memcpy(half.a, pairs.a + i, 4 * sizeof half.a[0]);
            memcpy(half.b, pairs.b + i, 4 * sizeof half.b[0]);
            memcpy(half.margin, pairs.margin + i, 4 * sizeof half.margin[0]);
            cm_box_axes_4(places, shapes, places, shapes, &half, four + i);
        }
        memcpy(eight, four, sizeof eight);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2")) {
            cm_box_axes_8(places, shapes, places, shapes, &pairs, eight);
        }
#endif
        for (uint32_t i = 0; i < 8; i++) {
            cr_assert(one[i].apart == four[i].apart && one[i].apart == eight[i].apart);
            apart += one[i].apart;
            if (!one[i].apart) {
                cr_assert_eq(memcmp(&one[i], &four[i], sizeof one[i]), 0);
                cr_assert_eq(memcmp(&one[i], &eight[i], sizeof one[i]), 0);
                of_a += one[i].face < 3;
                of_b += one[i].face >= 3;
                edges += one[i].edge_a < 3 && one[i].edge_separation > one[i].separation;
            }
        }
    }
    cr_assert(apart > 1000 && of_a > 1000 && of_b > 1000 && edges > 1000, "%u %u %u %u", apart,
              of_a, of_b, edges);
}
