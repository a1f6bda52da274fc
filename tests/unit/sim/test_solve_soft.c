// Goal: the soft solver's bodies do what bodies do: rest, stand in stacks, slide, bounce, roll,
// tip. Method: each scene is built through the public API and run for seconds of simulated time;
// figures are compared with what mechanics says. Scratch is filled with rubbish before every step.
#include "tests/unit/sim/rig.h"
#include "shared/sim/state/image.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const carom_vec3 cube = {0.5f, 0.5f, 0.5f};

static float speed(const cm_rig *rig, carom_body_id id)
{
    carom_body_state s = cm_rig_get(rig, id);
    return cm_length(s.linear_velocity) + cm_length(s.angular_velocity);
}

static void assert_rests_at(const cm_rig *rig, carom_body_id id, float y, float tolerance)
{
    carom_body_state s = cm_rig_get(rig, id);
    cr_assert_float_eq(s.position.y, y, tolerance, "y is %f, expected %f", (double)s.position.y,
                       (double)y);
    cr_assert_lt(speed(rig, id), 1e-2f, "still moves: %f", (double)speed(rig, id));
}

Test(solve_soft, box_rests_on_plane_and_on_box)
{
    carom_world_def def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id low = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 1, 0), cube);
    carom_body_id high = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.1f, 2.2f, 0), cube);
    cm_rig_step(&rig, 300);
    assert_rests_at(&rig, low, 0.5f, 0.005f);
    assert_rests_at(&rig, high, 1.5f, 0.005f);
    uint32_t touching;
    double depth;
    carom_world_measure_contacts(rig.world, &touching, &depth);
    cr_assert_eq(touching, 2);
    cr_assert_lt(depth, 0.005);
    cm_rig_close(&rig);
}

Test(solve_soft, capsule_and_sphere_rest)
{
    carom_world_def def = cm_rig_def(8);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(10, 0.5f, 0), cube);
    carom_quat lying = cm_rig_turn_z(1.5707963f);
    carom_body_id a = cm_rig_capsule(&rig, cm_vec(0, 1, 0), lying, 0.3f, 0.4f);
    carom_body_id b = cm_rig_capsule(&rig, cm_vec(10, 1.5f, 0), lying, 0.3f, 0.4f);
    carom_body_id c = cm_rig_sphere(&rig, cm_vec(4, 1, 0), 0.5f);
    cm_rig_step(&rig, 300);
    assert_rests_at(&rig, a, 0.3f, 0.002f);
    assert_rests_at(&rig, b, 1.3f, 0.002f);
    assert_rests_at(&rig, c, 0.5f, 0.002f);
    cm_rig_close(&rig);
}

Test(solve_soft, ten_boxes_stand)
{
    carom_world_def def = cm_rig_def(16);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id top = {0};
    for (int i = 0; i < 10; i++) {
        top = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 0.5f + (float)i, 0), cube);
    }
    cm_rig_step(&rig, 600);
    assert_rests_at(&rig, top, 9.5f, 0.05f);
    cr_assert_float_eq(cm_rig_get(&rig, top).position.x, 0.0f, 0.02f);
    cm_rig_close(&rig);
}

Test(solve_soft, heavy_on_light_stays_up)
{
    carom_world_def def = cm_rig_def(16);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(-1.5f, 0.5f, 0), cube);
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(1.5f, 0.5f, 0), cube);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0, 1.5f, 0);
    body.has_mass = true;
    body.mass = 10000.0f;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(2.0f, 0.5f, 0.5f);
    carom_body_id heavy = cm_rig_body(&rig, &body, &shape);
    cm_rig_step(&rig, 600);
    assert_rests_at(&rig, heavy, 1.5f, 0.02f);
    cm_rig_close(&rig);
}

Test(solve_soft, pyramid_stands)
{
    carom_world_def def = cm_rig_def(64);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id top = {0};
    for (int row = 0; row < 10; row++) {
        for (int i = 0; i < 10 - row; i++) {
            carom_vec3 at = cm_vec((float)i - 0.5f * (float)(9 - row), 0.5f + (float)row, 0);
            top = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, at, cube);
        }
    }
    cm_rig_step(&rig, 600);
    assert_rests_at(&rig, top, 9.5f, 0.05f);
    cm_rig_close(&rig);
}

// Gravity tilted instead of the floor: slope of 30 degrees, friction around its tangent, 0.577.
static float slide_on_slope(float friction)
{
    carom_world_def def = cm_rig_def(4);
    def.gravity = cm_vec(9.81f * 0.5f, -9.81f * 0.8660254f, 0.0f);
    def.friction_combine = CAROM_COMBINE_MIN;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0, 0.25f, 0);
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, 0.25f, 0.5f);
    shape.friction = friction;
    carom_body_id id = cm_rig_body(&rig, &body, &shape);
    cm_rig_step(&rig, 120);
    float x = cm_rig_get(&rig, id).position.x;
    cm_rig_close(&rig);
    return x;
}

Test(solve_soft, slides_above_the_friction_angle_and_rests_below)
{
    cr_assert_lt(fabsf(slide_on_slope(0.65f)), 0.01f);
    // Two seconds at g (sin - mu cos).
    float expected = 0.5f * 9.81f * (0.5f - 0.5f * 0.8660254f) * 4.0f;
    float slid = slide_on_slope(0.5f);
    cr_assert_float_eq(slid, expected, 0.05f * expected, "%f, not %f", (double)slid,
                       (double)expected);
}

// Highest centre after the first bounce, for a ball dropped from `drop` above its resting place.
static float bounce_height(float restitution, float drop)
{
    carom_world_def def = cm_rig_def(4);
    def.restitution_combine = CAROM_COMBINE_MAX;
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0, 0.5f + drop, 0);
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = 0.5f;
    shape.restitution = restitution;
    carom_body_id id = cm_rig_body(&rig, &body, &shape);
    float highest = 0.0f;
    bool bounced = false;
    for (int i = 0; i < 180; i++) {
        cm_rig_step(&rig, 1);
        carom_body_state s = cm_rig_get(&rig, id);
        if (bounced && s.linear_velocity.y < 0.0f) {
            break;
        }
        bounced = bounced || s.linear_velocity.y > 0.0f;
        highest = bounced ? cm_max(highest, s.position.y - 0.5f) : 0.0f;
    }
    cm_rig_close(&rig);
    return highest;
}

Test(solve_soft, bounces_to_the_restitution_height)
{
    cr_assert_float_eq(bounce_height(0.5f, 4.0f), 1.0f, 0.1f);
    cr_assert_float_eq(bounce_height(0.8f, 2.0f), 1.28f, 0.128f);
    cr_assert_lt(bounce_height(0.0f, 2.0f), 0.01f);
}

Test(solve_soft, free_collision_conserves_momentum)
{
    carom_world_def def = cm_rig_def(4);
    def.gravity = cm_vec(0, 0, 0);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id a = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(-2, 0.3f, 0.2f), cube);
    carom_body_id b = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(2, 0, 0), cm_vec(1, 0.5f, 0.7f));
    carom_body_set_velocity(rig.world, a, cm_vec(6, 0, 0), cm_vec(1, 2, 3));
    carom_body_set_velocity(rig.world, b, cm_vec(-3, 0.5f, 0), cm_vec(0, 0, 0));
    float ma = cm_rig_get(&rig, a).mass, mb = cm_rig_get(&rig, b).mass;
    carom_vec3 before = cm_add(cm_scale(ma, cm_rig_get(&rig, a).linear_velocity),
                               cm_scale(mb, cm_rig_get(&rig, b).linear_velocity));
    cm_rig_step(&rig, 120);
    carom_vec3 va = cm_rig_get(&rig, a).linear_velocity;
    carom_vec3 after = cm_add(cm_scale(ma, va), cm_scale(mb, cm_rig_get(&rig, b).linear_velocity));
    cr_assert_lt(va.x, 5.0f, "they never met");
    cr_assert_lt(cm_length(cm_sub(after, before)), 1e-4f * ma * 6.0f);
    cm_rig_close(&rig);
}

Test(solve_soft, box_tips_over_an_edge)
{
    carom_world_def def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(0, -0.5f, 0), cm_vec(2, 0.5f, 2));
    carom_body_id inside = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(1.9f, 0.5f, -1), cube);
    carom_body_id outside = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(2.1f, 0.5f, 1), cube);
    cm_rig_step(&rig, 240);
    cr_assert_float_eq(cm_rig_get(&rig, inside).position.y, 0.5f, 0.005f);
    cr_assert_lt(cm_rig_get(&rig, outside).position.y, -2.0f);
    cm_rig_close(&rig);
}

Test(solve_soft, sphere_rolls_without_slipping)
{
    carom_world_def def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id id = cm_rig_sphere(&rig, cm_vec(0, 0.5f, 0), 0.5f);
    carom_body_set_velocity(rig.world, id, cm_vec(7, 0, 0), cm_vec(0, 0, 0));
    cm_rig_step(&rig, 180);
    carom_body_state s = cm_rig_get(&rig, id);
    // A sphere that starts sliding rolls at 5/7 of its speed.
    cr_assert_float_eq(s.linear_velocity.x, 5.0f, 0.1f);
    cr_assert_float_eq(s.angular_velocity.z, -10.0f, 0.2f);
    cm_rig_close(&rig);
}

Test(solve_soft, spinning_plate_keeps_its_angular_momentum)
{
    carom_world_def def = cm_rig_def(4);
    def.gravity = cm_vec(0, 0, 0);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id id =
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 0, 0), cm_vec(1.0f, 0.1f, 0.4f));
    carom_body_set_velocity(rig.world, id, cm_vec(0, 0, 0), cm_vec(0.01f, 0.01f, 20.0f));
    float fastest = 0.0f;
    for (int i = 0; i < 600; i++) {
        cm_rig_step(&rig, 1);
        fastest = cm_max(fastest, cm_length(cm_rig_get(&rig, id).angular_velocity));
    }
    cr_assert_lt(fastest, 60.0f);
    cr_assert(cm_is_finite(fastest));
    cm_rig_close(&rig);
}

Test(solve_soft, kinematic_body_goes_exactly_where_its_velocity_says_and_carries)
{
    carom_world_def def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id lift =
        cm_rig_box(&rig, CAROM_BODY_KINEMATIC, cm_vec(0, 0, 0), cm_vec(2, 0.5f, 2));
    carom_body_id load = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 1, 0), cube);
    carom_body_set_velocity(rig.world, lift, cm_vec(0.3f, 1.1f, 0), cm_vec(0, 0, 0));
    float dt = 1.0f / 60.0f;
    carom_vec3 expected = cm_vec(0, 0, 0);
    for (int i = 0; i < 120; i++) {
        cm_rig_step(&rig, 1);
        expected = cm_mul_add(expected, dt, cm_vec(0.3f, 1.1f, 0));
    }
    carom_vec3 at = cm_rig_get(&rig, lift).position;
    cr_assert(at.x == expected.x && at.y == expected.y && at.z == expected.z);
    carom_vec3 on = cm_sub(cm_rig_get(&rig, load).position, at);
    cr_assert_float_eq(on.y, 1.0f, 0.01f);
    cr_assert_float_eq(on.x, 0.0f, 0.1f);
    cm_rig_close(&rig);
}

Test(solve_soft, fast_ball_does_not_pass_a_wall)
{
    carom_world_def def = cm_rig_def(4);
    def.gravity = cm_vec(0, 0, 0);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(0, 0, 0), cm_vec(0.5f, 4, 4));
    carom_body_id id = cm_rig_sphere(&rig, cm_vec(-5, 0, 0), 0.5f);
    carom_body_set_velocity(rig.world, id, cm_vec(60, 0, 0), cm_vec(0, 0, 0));
    cm_rig_step(&rig, 30);
    cr_assert_lt(cm_rig_get(&rig, id).position.x, -0.9f);
    cm_rig_close(&rig);
}

Test(solve_soft, what_would_not_be_finite_is_put_to_rest_and_counted)
{
    carom_world_def def = cm_rig_def(4);
    def.sleep = false; // the force is put in behind the API's back
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0, 0.5f, 0);
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cube;
    shape.density = 0.001f;
    carom_body_id a = cm_rig_body(&rig, &body, &shape);
    body.position = cm_vec(0, 1.5f, 0);
    carom_body_id b = cm_rig_body(&rig, &body, &shape);
    cm_rig_step(&rig, 30);
    carom_vec3 before = cm_rig_get(&rig, a).position;
    // Past what the API lets in: finite, but not once it is divided by a gram.
    cm_body_change(rig.world, a.index)->applied_force = cm_vec(3e38f, -3e38f, 0);
    cm_rig_step(&rig, 1);
    carom_vec3 after = cm_rig_get(&rig, a).position;
    cr_assert(cm_vec_is_finite(after));
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0);
    carom_world_stats stats;
    carom_world_stats_get(rig.world, &stats);
    cr_assert_geq(stats.log_counts[CAROM_LOG_BODY_PUT_TO_REST], 1);
    cm_rig_step(&rig, 120);
    assert_rests_at(&rig, b, 1.5f, 0.02f);
    cm_rig_close(&rig);
}

Test(solve_soft, crowd_of_400_settles)
{
    carom_world_def def = cm_rig_def(448);
    cm_rig rig = cm_rig_open(&def, 0);
    cm_rig_plane(&rig);
    carom_body_id ids[400];
    for (int i = 0; i < 400; i++) {
        carom_vec3 at = cm_vec(0.45f * (float)(i % 10), 0.3f + 0.5f * (float)(i / 100),
                               0.45f * (float)(i / 10 % 10));
        ids[i] = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, at, cm_vec(0.2f, 0.2f, 0.2f));
    }
    cm_rig_step(&rig, 480);
    float fastest = 0.0f;
    for (int i = 0; i < 400; i++) {
        carom_body_state s = cm_rig_get(&rig, ids[i]);
        cr_assert_gt(s.position.y, 0.19f);
        fastest = cm_max(fastest, cm_length(s.linear_velocity));
    }
    double depth;
    carom_world_measure_contacts(rig.world, NULL, &depth);
    cr_assert_lt(fastest, 0.1f, "%f", (double)fastest);
    cr_assert_lt(depth, 0.01, "%f", depth);
    cm_rig_close(&rig);
}

Test(solve_soft, a_landing_box_begins_to_touch_once_and_ends_when_lifted)
{
    carom_world_def def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_id plane = cm_rig_plane(&rig);
    carom_body_id id = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 1.5f, 0), cube);
    int begins = 0, ends = 0;
    for (int i = 0; i < 300; i++) {
        if (i == 200) {
            carom_body_set_velocity(rig.world, id, cm_vec(0, 3, 0), cm_vec(0, 0, 0));
        }
        cm_rig_step(&rig, 1);
        uint32_t count;
        const carom_contact_event *events = carom_world_contact_events(rig.world, &count);
        for (uint32_t k = 0; k < count; k++) {
            begins += events[k].begin;
            ends += !events[k].begin;
            cr_assert(carom_body_id_equal(events[k].body_a, plane));
            cr_assert(carom_body_id_equal(events[k].body_b, id));
            if (events[k].begin) {
                cr_assert_gt(events[k].impulse, 0.0f);
                cr_assert_float_eq(events[k].normal.y, 1.0f, 1e-3f);
                cr_assert_float_eq(events[k].point.y, 0.0f, 0.1f);
            }
        }
        cr_assert(i != 199 || (begins == 1 && ends == 0), "%d begins, %d ends", begins, ends);
    }
    cr_assert_eq(begins, 2);
    cr_assert_eq(ends, 1);
    cm_rig_close(&rig);
}
