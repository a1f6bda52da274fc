// Goal: box contacts are where the boxes touch. Method: known poses with known answers; thousands
// of random poses where a manifold is checked against the boxes themselves: moved apart by its
// depth along its normal the boxes no longer overlap (in binary64), and every point lies on both.
#include "shared/base/processor.h"
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

#define PAIRS CM_BOX_AXES_MAX

// Pairs of boxes that overlap, or nearly; `kind` 0: turned anyhow; 1: parallel; 2: of one size, one
// upon the other but for rounding; 3: the same turned about the vertical.
typedef struct pairs_of_boxes {
    cm_shape shapes[2 * PAIRS];
    cm_shape_transform transforms[2 * PAIRS];
    cm_box_pairs pairs;
} pairs_of_boxes;

static void make_pairs(int kind, pairs_of_boxes *to)
{
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        const float eighth = 0.38268343f, noise = 3.0e-7f;
        carom_quat turn = kind == 0   ? random_turn()
                          : kind == 3 ? (carom_quat){0.0f, eighth, 0.0f, 0.92387953f}
                                      : (carom_quat){0.0f, 0.0f, 0.0f, 1.0f};
        to->shapes[i] = box(0.2f + chance(), 0.2f + chance(), 0.2f + chance());
        to->transforms[i].position = cm_vec(1.6f * chance(), 1.6f * chance(), 1.6f * chance());
        if (kind >= 2) {
            turn.x += noise * (chance() - 0.5f);
            turn.y += noise * (chance() - 0.5f);
            turn.z += noise * (chance() - 0.5f);
            to->shapes[i] = box(0.5f, 0.5f, 0.5f);
            to->transforms[i].position =
                cm_vec(noise * chance(), i < PAIRS ? 0.0f : 0.99f, noise * chance());
        }
        to->transforms[i].rotation = cm_mat3_from_quat(turn);
        to->pairs.a[i / 2] = i / 2;
        to->pairs.b[i / 2] = 2 * PAIRS - 1 - i / 2;
        to->pairs.margin[i / 2] = 0.1f * chance();
    }
}

// Every width that there is code for, narrowest first.
static const cm_box_lanes widths[] = {
    {1, cm_box_axes_1, cm_box_faces_1},
    {4, cm_box_axes_4, cm_box_faces_4},
#if defined(__x86_64__)
    {8, cm_box_axes_8, cm_box_faces_8},
    {16, cm_box_axes_16, cm_box_faces_16},
#endif
};

// How many of them this processor has.
static uint32_t width_count(void)
{
    uint32_t count = 0;
    while (count < sizeof widths / sizeof widths[0] &&
           widths[count].count <= cm_processor_lanes()) {
        count++;
    }
    return count;
}

static cm_box_pairs some_of(const cm_box_pairs *pairs, uint32_t first, uint32_t count)
{
    cm_box_pairs some = {0};
    memcpy(some.a, pairs->a + first, count * sizeof some.a[0]);
    memcpy(some.b, pairs->b + first, count * sizeof some.b[0]);
    memcpy(some.margin, pairs->margin + first, count * sizeof some.margin[0]);
    return some;
}

// Axes of all pairs, so many at a time.
static void choose_axes(const pairs_of_boxes *boxes, const cm_box_lanes *by, cm_box_choice *choices)
{
    for (uint32_t i = 0; i < PAIRS; i += by->count) {
        cm_box_pairs some = some_of(&boxes->pairs, i, by->count);
        by->axes(boxes->transforms, boxes->shapes, boxes->transforms, boxes->shapes, &some,
                 choices + i);
    }
}

static void clip_faces(const pairs_of_boxes *boxes, const uint8_t *faces, const cm_box_lanes *by,
                       cm_box_clipped *clipped)
{
    for (uint32_t i = 0; i < PAIRS; i += by->count) {
        cm_box_pairs some = some_of(&boxes->pairs, i, by->count);
        by->faces(boxes->transforms, boxes->shapes, boxes->transforms, boxes->shapes, &some,
                  faces + i, by->count, clipped + i);
    }
}

// What the widths say of the same pairs, bit by bit, and that each happened: apart, a's face, b's
// face, edges before faces.
Test(collide_box, any_width_chooses_the_same_axes)
{
    uint32_t apart = 0, of_a = 0, of_b = 0, edges = 0;
    pairs_of_boxes boxes;
    g_state = 3;
    for (int round = 0; round < 1000; round++) {
        cm_box_choice one[PAIRS], wide[PAIRS];
        make_pairs(round % 5 == 0 ? 1 : 0, &boxes);
        choose_axes(&boxes, &widths[0], one);
        for (uint32_t w = 1; w < width_count(); w++) {
            choose_axes(&boxes, &widths[w], wide);
            for (uint32_t i = 0; i < PAIRS; i++) {
                cr_assert_eq(one[i].apart, wide[i].apart);
                cr_assert(one[i].apart || memcmp(&one[i], &wide[i], sizeof one[i]) == 0);
            }
        }
        for (uint32_t i = 0; i < PAIRS; i++) {
            apart += one[i].apart;
            of_a += !one[i].apart && one[i].face < 3;
            of_b += !one[i].apart && one[i].face >= 3;
            edges +=
                !one[i].apart && one[i].edge_a < 3 && one[i].edge_separation > one[i].separation;
        }
    }
    cr_assert(apart > 1000 && of_a > 1000 && of_b > 1000 && edges > 1000, "%u %u %u %u", apart,
              of_a, of_b, edges);
}

// Any face of either box against the other, clipped one pair at a time and many: the same points,
// bit by bit, from none to all eight.
Test(collide_box, any_width_clips_the_same_faces)
{
    uint32_t seen[CM_BOX_CLIPPED + 1] = {0};
    pairs_of_boxes boxes;
    g_state = 7;
    for (int round = 0; round < 4000; round++) {
        uint8_t faces[PAIRS];
        cm_box_clipped one[PAIRS], wide[PAIRS];
        make_pairs(round % 4, &boxes);
        for (uint32_t i = 0; i < PAIRS; i++) {
            faces[i] = round % 4 >= 2 ? (round % 8 < 4 ? 1 : 4) : (uint8_t)((round + i) % 6);
        }
        clip_faces(&boxes, faces, &widths[0], one);
        for (uint32_t i = 0; i < PAIRS; i++) {
            seen[one[i].count]++;
        }
        for (uint32_t w = 1; w < width_count(); w++) {
            clip_faces(&boxes, faces, &widths[w], wide);
            for (uint32_t i = 0; i < PAIRS; i++) {
                cr_assert_eq(one[i].count, wide[i].count, "%d, %u lanes", round, widths[w].count);
                cr_assert(one[i].of_b == wide[i].of_b && one[i].axis == wide[i].axis &&
                          one[i].up == wide[i].up && one[i].incident == wide[i].incident);
                cr_assert_eq(
                    memcmp(one[i].points, wide[i].points, one[i].count * sizeof one[i].points[0]),
                    0, "%d, %u lanes", round, widths[w].count);
            }
        }
    }
    for (uint32_t i = 0; i <= CM_BOX_CLIPPED; i++) {
        cr_assert(i == 1 || i == 2 || seen[i] > 10, "%u: %u", i, seen[i]);
    }
}

typedef struct spot {
    double u, v, depth;
} spot;

// The part of a polygon where sign * (v or u) <= 0.5.
static uint32_t cut(const spot *in, uint32_t count, bool along_v, double sign, spot *out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const spot *a = &in[i], *b = &in[(i + 1) % count];
        double da = sign * (along_v ? a->v : a->u) - 0.5;
        double db = sign * (along_v ? b->v : b->u) - 0.5, t = da / (da - db);
        if (da <= 0.0) {
            out[kept++] = *a;
        }
        if ((da <= 0.0) != (db <= 0.0)) {
            out[kept++] = (spot){a->u + t * (b->u - a->u), a->v + t * (b->v - a->v),
                                 a->depth + t * (b->depth - a->depth)};
        }
    }
    return kept;
}

// The top of a cube of 1 m about the origin, and the lowest face of a box above it: what they
// share, in double precision.
static uint32_t shared_part(const cm_shape_transform *transform, const float *size, spot list[16])
{
    const carom_vec3 *axes = &transform->rotation.x;
    uint32_t k = 0;
    for (uint32_t i = 1; i < 3; i++) {
        k = cm_abs(axes[i].y) > cm_abs(axes[k].y) ? i : k;
    }
    float down = axes[k].y > 0.0f ? -1.0f : 1.0f;
    spot first[16], second[16];
    for (uint32_t n = 0; n < 4; n++) {
        float s1 = n == 0 || n == 3 ? -1.0f : 1.0f, s2 = n < 2 ? -1.0f : 1.0f;
        carom_vec3 p = cm_mul_add(transform->position, down * size[k], axes[k]);
        p = cm_mul_add(p, s1 * size[(k + 1) % 3], axes[(k + 1) % 3]);
        p = cm_mul_add(p, s2 * size[(k + 2) % 3], axes[(k + 2) % 3]);
        first[n] = (spot){(double)p.x, (double)p.z, 0.5 - (double)p.y};
    }
    uint32_t count = cut(first, 4, false, 1.0, second);
    count = cut(second, count, false, -1.0, first);
    count = cut(first, count, true, 1.0, second);
    return cut(second, count, true, -1.0, list);
}

static double distance_to(const spot *list, uint32_t count, const spot *from)
{
    double nearest = 1.0e9;
    for (uint32_t i = 0; i < count; i++) {
        double far = fmax(fabs(list[i].u - from->u), fabs(list[i].v - from->v));
        nearest = fmin(nearest, fmax(far, fabs(list[i].depth - from->depth)));
    }
    return nearest;
}

// A clipped face's corners are those of what the faces share, none more and none less.
Test(collide_box, a_clipped_face_is_what_both_share)
{
    uint32_t seen[CM_BOX_CLIPPED + 1] = {0};
    g_state = 11;
    for (uint32_t n = 0; n < 20000; n++) {
        float tilt = n % 3 == 0 ? 0.0f : 0.2f;
        carom_quat turn = {tilt * (chance() - 0.5f), n % 2 == 0 ? 0.0f : 2.0f * chance() - 1.0f,
                           tilt * (chance() - 0.5f), 1.0f};
        const cm_shape cube = box(0.5f, 0.5f, 0.5f),
                       other = box(0.2f + chance(), 0.5f, 0.2f + chance());
        const cm_shape_transform origin = {.rotation = cm_mat3_from_quat(cm_quat_identity())};
        const cm_shape_transform transform = {
            .position = cm_vec(2.0f * chance() - 1.0f, 0.9f, 2.0f * chance() - 1.0f),
            .rotation = cm_mat3_from_quat(cm_quat_normalize(turn))};
        const cm_box_pairs pair = {.margin = {2.0f}};
        const uint8_t top = 1; // the cube's y axis
        cm_box_clipped clipped;
        spot whole[16], found[CM_BOX_CLIPPED];
        uint32_t count = shared_part(&transform, other.size, whole);
        cm_box_faces_1(&origin, &cube, &transform, &other, &pair, &top, 1, &clipped);
        for (uint32_t i = 0; i < clipped.count; i++) {
            const cm_clip_point *p = &clipped.points[i];
            found[i] = (spot){(double)p->p.x, (double)p->p.z, -(double)p->separation};
            cr_assert_lt(distance_to(whole, count, &found[i]), 1.0e-4, "case %u", n);
        }
        for (uint32_t i = 0; i < count && clipped.count > 0; i++) {
            cr_assert_lt(distance_to(found, clipped.count, &whole[i]), 1.0e-4, "case %u", n);
        }
        seen[clipped.count]++;
    }
    for (uint32_t i = 3; i <= CM_BOX_CLIPPED; i++) {
        cr_assert(seen[i] > 4, "%u: %u", i, seen[i]);
    }
}
