// Goal: what a physicist would try first, by formula: inclines in every direction, rolling, wedges,
// statics of joints and contacts, collisions. Method: small worlds whose answer is in a text-book,
// run by each solver that claims it; tolerances are of the step (O(h)), not of what came out.
#include "tests/unit/sim/text_book.h"

#include <criterion/criterion.h>
#include <math.h>

// A box on an incline: a = g (sin - mu cos) in every direction, straight down.
static void slides(carom_solver_type type, carom_friction_model model, double tolerance,
                   double aside)
{
    const double slope = 0.6, mu = 0.3;
    for (int k = 0; k < 8; k++) {
        double heading = 2.0 * PI * k / 8.0 + 0.1;
        carom_world_def def = cm_rig_def(8);
        def.solver.type = type;
        def.solver.lcp.friction_model = model;
        def.solver.lcp.rounds = 3;
        def.tick_rate = 240;
        def.sleep = false;
        cm_rig rig = cm_rig_open(&def, 0);
        float friction = (float)sqrt(mu);
        carom_vec3 n = incline(&rig, slope, heading, friction);
        carom_body_id id = add(&rig, box_of(0.5f, 0.25f, 0.4f, friction), cm_scale(0.25f, n),
                               standing_on(slope, heading), CAROM_BODY_DYNAMIC);
        cm_rig_step(&rig, 120);
        double before = speed_of(&rig, id);
        cm_rig_step(&rig, 240);
        double a = speed_of(&rig, id) - before, want = G * (sin(slope) - mu * cos(slope));
        cr_expect_float_eq(a / want, 1.0, tolerance, "%s %d, heading %g: %g of %g", name_of(type),
                           (int)model, heading, a, want);
        carom_vec3 v = cm_rig_get(&rig, id).linear_velocity;
        double across = (double)v.z * cos(heading) - (double)v.x * sin(heading);
        cr_expect_lt(fabs(across), aside, "%s %d, heading %g: %g m/s across", name_of(type),
                     (int)model, heading, across);
        cm_rig_close(&rig);
    }
}

Test(physics, a_box_slides_down_an_incline_in_every_direction)
{
    slides(CAROM_SOLVER_SOFT, 0, 0.01, 0.2);
    slides(CAROM_SOLVER_VOLUME, 0, 0.01, 0.05);
    slides(CAROM_SOLVER_LCP, CAROM_FRICTION_BOX_ESTIMATED, 0.01, 0.02);
    slides(CAROM_SOLVER_LCP, CAROM_FRICTION_PYRAMID, 0.01, 0.02);
}

// Below the angle of friction it stays, in every direction.
Test(physics, a_box_sticks_below_the_angle_of_friction)
{
    const carom_solver_type types[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_IMPULSE, CAROM_SOLVER_LCP,
                                       CAROM_SOLVER_VOLUME};
    for (int t = 0; t < 4; t++) {
        for (int k = 0; k < 8; k++) {
            double heading = 2.0 * PI * k / 8.0 + 0.1, mu = 0.5, slope = atan(0.9 * mu);
            cm_rig rig = open_rig(types[t], 120, G);
            float friction = (float)sqrt(mu);
            carom_vec3 n = incline(&rig, slope, heading, friction);
            carom_body_id id = add(&rig, box_of(0.5f, 0.25f, 0.4f, friction), cm_scale(0.25f, n),
                                   standing_on(slope, heading), CAROM_BODY_DYNAMIC);
            cm_rig_step(&rig, 60);
            carom_vec3 before = cm_rig_get(&rig, id).position;
            cm_rig_step(&rig, 240);
            double moved = (double)cm_length(cm_sub(cm_rig_get(&rig, id).position, before));
            cr_expect_lt(moved, 1e-3, "%s, heading %g: %g m in 2 s", name_of(types[t]), heading,
                         moved);
            cm_rig_close(&rig);
        }
    }
}

// What rolls without slipping down an incline: a = g sin / (1 + I / m r^2).
static void rolls_down(carom_solver_type type, double tolerance)
{
    const double slope = 0.2;
    for (int round = 0; round < 2; round++) {
        cm_rig rig = open_rig(type, 240, G);
        carom_vec3 n = incline(&rig, slope, 0.0, 1.0f);
        carom_shape_def shape = sphere_of(0.3f, 1.0f);
        carom_quat turn = UPRIGHT;
        if (round == 1) {
            shape.type = CAROM_SHAPE_CYLINDER;
            shape.half_height = 0.4f;
            turn = about(cm_vec(1.0f, 0.0f, 0.0f), 0.5 * PI); // its axis along z
        }
        carom_body_id id = add(&rig, shape, cm_scale(0.3f, n), turn, CAROM_BODY_DYNAMIC);
        cm_rig_step(&rig, 120);
        double before = speed_of(&rig, id);
        cm_rig_step(&rig, 240);
        double a = speed_of(&rig, id) - before;
        double want = G * sin(slope) / (round == 0 ? 1.4 : 1.5);
        cr_expect_float_eq(a / want, 1.0, tolerance, "%s, shape %d: %g of %g", name_of(type), round,
                           a, want);
        cm_rig_close(&rig);
    }
}

Test(physics, what_rolls_down_an_incline)
{
    rolls_down(CAROM_SOLVER_SOFT, 0.01);
    rolls_down(CAROM_SOLVER_LCP, 0.01);
}

// A ball pushed without spin slides first and then rolls at 5/7 of its speed.
Test(physics, a_sliding_ball_comes_to_roll_at_five_sevenths)
{
    const carom_solver_type types[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_LCP};
    for (int t = 0; t < 2; t++) {
        cm_rig rig = open_rig(types[t], 240, G);
        incline(&rig, 0.0, 0.0, 0.5f);
        carom_body_id id =
            add(&rig, sphere_of(0.3f, 0.5f), cm_vec(0.0f, 0.3f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_body_set_velocity(rig.world, id, cm_vec(3.0f, 0.0f, 4.0f), NONE);
        cm_rig_step(&rig, 480);
        carom_body_state s = cm_rig_get(&rig, id);
        double v = (double)cm_length(s.linear_velocity), w = (double)cm_length(s.angular_velocity);
        cr_expect_float_eq(v, 5.0 * 5.0 / 7.0, 0.02, "%s: %g m/s", name_of(types[t]), v);
        cr_expect_float_eq(0.3 * w, v, 0.01, "%s: %g rad/s", name_of(types[t]), w);
        cr_expect_float_eq((double)s.linear_velocity.x / v, 0.6, 0.01, "%s", name_of(types[t]));
        cm_rig_close(&rig);
    }
}

// A block slides on a wedge that slides on the floor, without friction:
// the wedge goes back at m g sin cos / (M + m sin^2).
Test(physics, a_block_on_a_wedge_pushes_it_away)
{
    const carom_solver_type types[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME,
                                       CAROM_SOLVER_IMPULSE};
    for (int t = 0; t < 4; t++) {
        const double slope = 0.5;
        cm_rig rig = open_rig(types[t], 480, G);
        // The wedge is a long slab that cannot turn nor sink, tilted by the slope.
        carom_body_def body = carom_default_body_def();
        carom_shape_def slab = box_of(4.0f, 0.1f, 1.0f, 0.0f);
        body.orientation = about(cm_vec(0.0f, 0.0f, 1.0f), -slope);
        body.axis_locks =
            CAROM_LOCK_Y | CAROM_LOCK_Z | CAROM_LOCK_RX | CAROM_LOCK_RY | CAROM_LOCK_RZ;
        body.has_mass = true;
        body.mass = 3.0f;
        carom_body_id wedge = cm_rig_body(&rig, &body, &slab);
        carom_shape_def block = box_of(0.2f, 0.1f, 0.2f, 0.0f);
        carom_vec3 n = cm_vec((float)sin(slope), (float)cos(slope), 0.0f);
        body.axis_locks = 0;
        body.position = cm_mul_add(cm_scale(0.2f, n), -2.0f,
                                   cm_vec((float)cos(slope), -(float)sin(slope), 0.0f));
        body.mass = 2.0f;
        cm_rig_body(&rig, &body, &block);
        cm_rig_step(&rig, 120);
        double before = (double)cm_rig_get(&rig, wedge).linear_velocity.x;
        cm_rig_step(&rig, 240);
        double a = ((double)cm_rig_get(&rig, wedge).linear_velocity.x - before) / 0.5;
        double want = -2.0 * G * sin(slope) * cos(slope) / (3.0 + 2.0 * sin(slope) * sin(slope));
        cr_expect_float_eq(a / want, 1.0, 0.01, "%s: %g of %g", name_of(types[t]), a, want);
        cm_rig_close(&rig);
    }
}

// A small ball that slides from the top of a dome without friction leaves it at cos = 2/3.
Test(physics, what_slides_off_a_dome_leaves_it_at_48_degrees)
{
    cm_rig rig = open_rig(CAROM_SOLVER_LCP, 480, G);
    const double reach = 5.0 + 0.1, begin = 0.1;
    add(&rig, sphere_of(5.0f, 0.0f), NONE, UPRIGHT, CAROM_BODY_STATIC);
    carom_body_id id = add(&rig, sphere_of(0.1f, 0.0f),
                           cm_vec((float)(reach * sin(begin)), (float)(reach * cos(begin)), 0),
                           UPRIGHT, CAROM_BODY_DYNAMIC);
    double left = 0.0;
    for (int i = 0; i < 4800 && left == 0.0; i++) {
        cm_rig_step(&rig, 1);
        carom_body_state s = cm_rig_get(&rig, id);
        if ((double)cm_length(s.contact_force) == 0.0 && i > 10) {
            left = atan2((double)s.position.x, (double)s.position.y);
        }
    }
    double want = acos(2.0 / 3.0 * cos(begin));
    cr_expect_float_eq(left, want, 0.02, "%g of %g rad", left, want);
    cm_rig_close(&rig);
}

// Statics: a hanging weight, a cantilever, a rod that is whirled.
Test(physics, joints_carry_what_statics_says)
{
    const carom_solver_type types[] = {CAROM_SOLVER_LCP, CAROM_SOLVER_SOFT};
    for (int t = 0; t < 2; t++) {
        cm_rig rig = open_rig(types[t], 240, G);
        carom_shape_def beam = box_of(1.0f, 0.1f, 0.1f, 0.5f);
        carom_body_id id = add(&rig, beam, cm_vec(1.0f, 0.0f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_joint_def joint = carom_default_joint_def();
        carom_joint_id fixed, hung, held;
        joint.type = CAROM_JOINT_FIXED;
        joint.body_b = id;
        cr_assert_eq(carom_joint_create(rig.world, &joint, &fixed), CAROM_OK);
        joint.body_b = add(&rig, beam, cm_vec(0.0f, 0.0f, 5.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
        joint.type = CAROM_JOINT_BALL;
        joint.anchor = cm_vec(-0.5f, 0.0f, 5.0f);
        cr_assert_eq(carom_joint_create(rig.world, &joint, &hung), CAROM_OK);
        joint.anchor = cm_vec(1.0f, 0.0f, 5.0f);
        cr_assert_eq(carom_joint_create(rig.world, &joint, &held), CAROM_OK);
        cm_rig_step(&rig, 480);
        double weight = (double)cm_rig_get(&rig, id).mass * G;
        carom_joint_state s;
        carom_joint_get(rig.world, fixed, &s);
        cr_expect_float_eq((double)s.force / weight, 1.0, 0.005, "%s: %g", name_of(types[t]),
                           (double)s.force / weight);
        cr_expect_float_eq((double)s.torque / weight, 1.0, 0.01, "%s: %g m", name_of(types[t]),
                           (double)s.torque / weight);
        // Two supports, 0.5 m to the left and 1 m to the right: 2/3 and 1/3.
        carom_joint_get(rig.world, hung, &s);
        double left = (double)s.force / weight;
        carom_joint_get(rig.world, held, &s);
        cr_expect_float_eq(left, 2.0 / 3.0, 0.01, "%s: %g", name_of(types[t]), left);
        cr_expect_float_eq((double)s.force / weight, 1.0 / 3.0, 0.01, "%s: %g", name_of(types[t]),
                           (double)s.force / weight);
        cm_rig_close(&rig);
    }
}

Test(physics, a_whirled_weight_pulls_by_m_w2_r)
{
    const carom_solver_type types[] = {CAROM_SOLVER_LCP, CAROM_SOLVER_SOFT};
    for (int t = 0; t < 2; t++) {
        cm_rig rig = open_rig(types[t], 480, 0.0);
        carom_body_id id =
            add(&rig, sphere_of(0.1f, 0.5f), cm_vec(1.5f, 0.0f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_joint_def joint = carom_default_joint_def();
        carom_joint_id hinge;
        joint.type = CAROM_JOINT_HINGE;
        joint.axis = cm_vec(0.0f, 1.0f, 0.0f);
        joint.body_b = id;
        cr_assert_eq(carom_joint_create(rig.world, &joint, &hinge), CAROM_OK);
        carom_body_set_velocity(rig.world, id, cm_vec(0, 0, -4.5f), cm_vec(0, 3.0f, 0));
        cm_rig_step(&rig, 480);
        carom_joint_state s;
        carom_joint_get(rig.world, hinge, &s);
        double w = (double)cm_length(cm_rig_get(&rig, id).angular_velocity);
        double want = (double)cm_rig_get(&rig, id).mass * w * w * 1.5;
        cr_expect_float_eq((double)s.force / want, 1.0, 0.01, "%s: %g of %g N", name_of(types[t]),
                           (double)s.force, want);
        cr_expect_float_eq(w, 3.0, 0.01, "%s: %g rad/s left", name_of(types[t]), w);
        cm_rig_close(&rig);
    }
}

// A box pushed at its top tips where F height > m g half its width, and not before.
Test(physics, a_box_tips_where_the_moments_say)
{
    const carom_solver_type types[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME};
    for (int t = 0; t < 3; t++) {
        for (int k = 0; k < 2; k++) {
            cm_rig rig = open_rig(types[t], 240, G);
            incline(&rig, 0.0, 0.0, 1.0f);
            carom_body_id id = add(&rig, box_of(0.2f, 0.6f, 0.3f, 1.0f), cm_vec(0.0f, 0.6f, 0.0f),
                                   UPRIGHT, CAROM_BODY_DYNAMIC);
            cm_rig_step(&rig, 60);
            double limit = (double)cm_rig_get(&rig, id).mass * G * 0.2 / 1.2;
            // The edge of a contact that gives way is not sharp.
            double below = types[t] == CAROM_SOLVER_VOLUME ? 0.85 : 0.95;
            double force = limit * (k == 0 ? below : 1.05);
            for (int i = 0; i < 480; i++) {
                carom_body_state s = cm_rig_get(&rig, id);
                carom_vec3 top = cm_add(s.position, cm_rotate(s.orientation, cm_vec(0, 0.6f, 0)));
                carom_body_apply_force_at(rig.world, id, cm_vec((float)force, 0, 0), top);
                cm_rig_step(&rig, 1);
            }
            double lean = fabs((double)cm_rig_get(&rig, id).orientation.z);
            cr_expect(k == 0 ? lean < 0.02 : lean > 0.2, "%s at %g of the limit: %g",
                      name_of(types[t]), k == 0 ? below : 1.05, lean);
            cm_rig_close(&rig);
        }
    }
}

// Three boxes, one on the other: each carries what lies on it; the floor carries all.
Test(physics, a_stack_carries_its_weight)
{
    const carom_solver_type types[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_IMPULSE, CAROM_SOLVER_LCP,
                                       CAROM_SOLVER_VOLUME};
    for (int t = 0; t < 4; t++) {
        cm_rig rig = open_rig(types[t], 240, G);
        carom_body_id floor = add(&rig, box_of(5.0f, 0.5f, 5.0f, 0.5f), cm_vec(0, -0.5f, 0),
                                  UPRIGHT, CAROM_BODY_STATIC);
        carom_body_id ids[3];
        double mass = 0.0;
        for (int i = 0; i < 3; i++) {
            // Not in line: 0.1 m to the side of each other.
            ids[i] = add(&rig, box_of(0.5f, 0.25f, 0.5f, 0.5f),
                         cm_vec(0.1f * (float)i, 0.25f + 0.5f * (float)i, 0.0f), UPRIGHT,
                         CAROM_BODY_DYNAMIC);
            mass += (double)cm_rig_get(&rig, ids[i]).mass;
        }
        cm_rig_step(&rig, 480);
        double fy = 0.0, tz = 0.0;
        const int ticks = 48;
        for (int i = 0; i < ticks; i++) {
            cm_rig_step(&rig, 1);
            carom_body_state s = cm_rig_get(&rig, floor);
            fy -= (double)s.contact_force.y / ticks;
            // About the floor's own centre: the weights act at x = 0, 0.1 and 0.2.
            tz -= (double)s.contact_torque.z / ticks;
            for (int b = 0; b < 3; b++) {
                carom_body_state on = cm_rig_get(&rig, ids[b]);
                cr_expect_float_eq((double)on.contact_force.y / (mass / 3.0 * G), 1.0, 0.02,
                                   "%s, box %d: %g", name_of(types[t]), b,
                                   (double)on.contact_force.y / (mass / 3.0 * G));
            }
        }
        cr_expect_float_eq(fy / (mass * G), 1.0, 0.005, "%s: %g", name_of(types[t]),
                           fy / (mass * G));
        cr_expect_float_eq(tz / (mass * G), 0.1, 0.005, "%s: %g m", name_of(types[t]),
                           tz / (mass * G));
        cm_rig_close(&rig);
    }
}

// Equal balls, one at rest, restitution 1, off centre: they part at a right angle.
Test(physics, equal_balls_part_at_a_right_angle)
{
    const carom_impulse_model models[] = {CAROM_IMPULSE_INTERPOLATED, CAROM_IMPULSE_NORMAL,
                                          CAROM_IMPULSE_CIRCLE};
    for (int k = 0; k < 3; k++) {
        carom_world_def def = cm_rig_def(8);
        def.solver.type = CAROM_SOLVER_IMPULSE;
        def.solver.impulse.model = models[k];
        def.planar = true;
        def.tick_rate = 1000;
        def.gravity = NONE;
        cm_rig rig = cm_rig_open(&def, 0);
        carom_shape_def ball = sphere_of(0.5f, 0.0f);
        ball.restitution = 1.0f;
        carom_body_id a = add(&rig, ball, NONE, UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_body_id b = add(&rig, ball, cm_vec(2.0f, 0.6f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_body_set_velocity(rig.world, a, cm_vec(2.0f, 0.0f, 0.0f), NONE);
        cm_rig_step(&rig, 1500);
        carom_vec3 va = cm_rig_get(&rig, a).linear_velocity;
        carom_vec3 vb = cm_rig_get(&rig, b).linear_velocity;
        cr_expect_float_eq((double)cm_dot(va, vb), 0.0, 1e-5, "model %d", k);
        cr_expect_float_eq((double)(cm_dot(va, va) + cm_dot(vb, vb)), 4.0, 1e-5, "model %d", k);
        // Along the line of centres at the touch: sin = 0.6.
        cr_expect_float_eq(atan2((double)vb.y, (double)vb.x), asin(0.6), 0.005, "model %d", k);
        cm_rig_close(&rig);
    }
}

// Two free boxes collide off centre, with friction and spin: momentum and angular momentum stay.
Test(physics, collisions_keep_momentum_and_angular_momentum)
{
    const carom_solver_type types[] = {CAROM_SOLVER_IMPULSE, CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME};
    for (int t = 0; t < 3; t++) {
        cm_rig rig = open_rig(types[t], 240, 0.0);
        carom_body_id ids[2];
        for (int i = 0; i < 2; i++) {
            float s = i == 0 ? 1.0f : -1.0f;
            carom_shape_def shape = box_of(0.5f, 0.3f, 0.4f, 0.6f);
            shape.restitution = types[t] == CAROM_SOLVER_IMPULSE ? 0.5f : 0.0f;
            shape.density = i == 0 ? 100.0f : 300.0f;
            ids[i] = add(&rig, shape, cm_vec(-1.0f * s, 0.1f * s, 0.05f * s),
                         about(cm_vec(0.6f, 0.0f, 0.8f), 0.4 * s), CAROM_BODY_DYNAMIC);
            carom_body_set_velocity(rig.world, ids[i], cm_vec(2.0f * s, 0.3f, 0.1f * s),
                                    cm_vec(0.5f, 1.0f * s, -0.7f));
        }
        double p[2][3], l[2][3];
        for (int when = 0; when < 2; when++) {
            for (int c = 0; c < 3; c++) {
                p[when][c] = l[when][c] = 0.0;
            }
            for (int i = 0; i < 2; i++) {
                carom_body_state s = cm_rig_get(&rig, ids[i]);
                carom_vec3 v = s.linear_velocity, x = s.center_of_mass;
                double m = (double)s.mass;
                const double in[3] = {m / 3.0 * (0.09 + 0.16), m / 3.0 * (0.25 + 0.16),
                                      m / 3.0 * (0.25 + 0.09)};
                carom_quat q = s.orientation, back = {-q.x, -q.y, -q.z, q.w};
                carom_vec3 w = cm_rotate(back, s.angular_velocity);
                carom_vec3 spin = cm_rotate(
                    q, cm_vec((float)in[0] * w.x, (float)in[1] * w.y, (float)in[2] * w.z));
                carom_vec3 arm = cm_cross(x, v);
                p[when][0] += m * (double)v.x;
                p[when][1] += m * (double)v.y;
                p[when][2] += m * (double)v.z;
                l[when][0] += m * (double)arm.x + (double)spin.x;
                l[when][1] += m * (double)arm.y + (double)spin.y;
                l[when][2] += m * (double)arm.z + (double)spin.z;
            }
            if (when == 0) {
                cm_rig_step(&rig, 240);
                cr_expect_gt((double)cm_length(cm_sub(cm_rig_get(&rig, ids[0]).linear_velocity,
                                                      cm_vec(2.0f, 0.3f, 0.1f))),
                             0.1, "%s: they never met", name_of(types[t]));
            }
        }
        for (int c = 0; c < 3; c++) {
            cr_expect_float_eq(p[1][c], p[0][c], 1e-3, "%s: momentum %d: %g of %g",
                               name_of(types[t]), c, p[1][c], p[0][c]);
            cr_expect_float_eq(l[1][c], l[0][c], 0.2, "%s: angular momentum %d: %g of %g",
                               name_of(types[t]), c, l[1][c], l[0][c]);
        }
        cm_rig_close(&rig);
    }
}

// In free fall a semi-implicit step is g h t / 2 below the parabola, in every solver alike.
Test(physics, free_fall_is_a_parabola)
{
    for (int type = CAROM_SOLVER_SOFT; type <= CAROM_SOLVER_VOLUME; type++) {
        cm_rig rig = open_rig((carom_solver_type)type, 100, G);
        carom_body_id id =
            add(&rig, sphere_of(0.5f, 0.5f), cm_vec(0, 50.0f, 0), UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_body_set_velocity(rig.world, id, cm_vec(3.0f, 4.0f, 0.0f), NONE);
        cm_rig_step(&rig, 200);
        carom_vec3 p = cm_rig_get(&rig, id).position;
        double t = 2.0, h = 0.01 / (type == CAROM_SOLVER_SOFT     ? 4.0
                                    : type == CAROM_SOLVER_VOLUME ? 3.0
                                                                  : 1.0);
        cr_expect_float_eq((double)p.y, 50.0 + 4.0 * t - 0.5 * G * t * (t + h), 2e-3, "%s: %g",
                           name_of((carom_solver_type)type), (double)p.y);
        cr_expect_float_eq((double)p.x, 6.0, 1e-4);
        cm_rig_close(&rig);
    }
}

// Two balls of masses 1 and 3 meet in lcp: both go on at the centre's speed, but for what pulls
// their overlap apart, 1% of the approach.
Test(physics, without_restitution_both_go_on_at_the_centres_speed)
{
    cm_rig rig = open_rig(CAROM_SOLVER_LCP, 240, 0.0);
    carom_shape_def ball = sphere_of(0.5f, 0.0f);
    carom_body_id a = add(&rig, ball, NONE, UPRIGHT, CAROM_BODY_DYNAMIC);
    ball.density *= 3.0f;
    carom_body_id b = add(&rig, ball, cm_vec(3.0f, 0.0f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
    carom_body_set_velocity(rig.world, a, cm_vec(4.0f, 0.0f, 0.0f), NONE);
    cm_rig_step(&rig, 240);
    cr_expect_float_eq(cm_rig_get(&rig, a).linear_velocity.x, 1.0f, 0.04f);
    cr_expect_float_eq(cm_rig_get(&rig, b).linear_velocity.x, 1.0f, 0.04f);
    cm_rig_close(&rig);
}

// Full sticking, no restitution (the source's case 4): a ball that comes down sliding rolls at once
// at 5/7 of its speed.
Test(physics, a_ball_that_sticks_as_it_lands_rolls_at_once)
{
    cm_rig rig = open_rig(CAROM_SOLVER_IMPULSE, 240, 0.0);
    incline(&rig, 0.0, 0.0, 1.0f);
    carom_body_id id =
        add(&rig, sphere_of(0.3f, 1.0f), cm_vec(0.0f, 0.35f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
    carom_body_set_velocity(rig.world, id, cm_vec(3.0f, -2.0f, 4.0f), NONE);
    cm_rig_step(&rig, 30);
    carom_body_state s = cm_rig_get(&rig, id);
    cr_expect_float_eq(s.linear_velocity.x, 15.0f / 7.0f, 1e-5f);
    cr_expect_float_eq(s.linear_velocity.y, 0.0f, 1e-6f);
    cr_expect_float_eq(s.linear_velocity.z, 20.0f / 7.0f, 1e-5f);
    cr_expect_float_eq(s.angular_velocity.z, -15.0f / 7.0f / 0.3f, 1e-4f);
    cr_expect_float_eq(s.angular_velocity.x, 20.0f / 7.0f / 0.3f, 1e-4f);
    cm_rig_close(&rig);
}
