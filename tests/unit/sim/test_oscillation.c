// Goal: what swings, turns and wears off does so as the text-book says: pendulums, tops, free
// precession, springs, dry friction, damping. Method: periods and amplitudes by formula, or by the
// eigenvalues of the step itself.
#include "tests/unit/sim/text_book.h"

#include <criterion/criterion.h>
#include <math.h>

// A pendulum of 60 degrees: T = 2 pi sqrt(I / m g l) (1 + a^2/16 + 11 a^4/3072 + 173 a^6/737280).
static void swings(carom_solver_type type, carom_joint_type joint_type, double tolerance)
{
    cm_rig rig = open_rig(type, 240, G);
    const double amplitude = PI / 3.0, length = 0.8, radius = 0.2;
    carom_vec3 at = cm_vec((float)(length * sin(amplitude)), (float)(-length * cos(amplitude)), 0);
    carom_body_id id = add(&rig, sphere_of((float)radius, 0.5f), at, UPRIGHT, CAROM_BODY_DYNAMIC);
    carom_joint_def joint = carom_default_joint_def();
    joint.type = joint_type;
    joint.body_b = id;
    joint.axis = cm_vec(0.0f, 0.0f, 1.0f);
    cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    double crossed[2] = {0.0, 0.0}, last = length, a2 = amplitude * amplitude;
    int count = 0;
    for (int i = 1; i < 2400 && count < 2; i++) {
        cm_rig_step(&rig, 1);
        double x = (double)cm_rig_get(&rig, id).position.x;
        if (last > 0.0 && x <= 0.0) { // from the right, once a period
            crossed[count++] = (i - 1 + last / (last - x)) / 240.0;
        }
        last = x;
    }
    double small = 2.0 * PI * sqrt((length * length + 0.4 * radius * radius) / (G * length));
    double want =
        small * (1.0 + a2 / 16.0 + 11.0 * a2 * a2 / 3072.0 + 173.0 * a2 * a2 * a2 / 737280.0);
    cr_expect_float_eq((crossed[1] - crossed[0]) / want, 1.0, tolerance, "%s, joint %d: %g of %g s",
                       name_of(type), (int)joint_type, crossed[1] - crossed[0], want);
    cm_rig_close(&rig);
}

Test(oscillation, the_period_of_a_pendulum_of_60_degrees)
{
    swings(CAROM_SOLVER_LCP, CAROM_JOINT_BALL, 0.005);
    swings(CAROM_SOLVER_LCP, CAROM_JOINT_HINGE, 0.005);
    swings(CAROM_SOLVER_SOFT, CAROM_JOINT_HINGE, 0.005);
}

// A free body of revolution: its axis goes round L at L / I1, at its angle for ever.
Test(oscillation, a_free_body_of_revolution_precesses)
{
    const carom_solver_type types[] = {CAROM_SOLVER_IMPULSE, CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME};
    for (int t = 0; t < 3; t++) {
        cm_rig rig = open_rig(types[t], 240, 0.0);
        carom_body_def body = carom_default_body_def();
        body.has_mass = body.has_inertia = true;
        body.mass = 1.0f;
        body.inertia = cm_vec(1.0f, 2.0f, 1.0f); // about y the larger one
        body.angular_velocity = cm_vec(0.5f, 3.0f, 0.0f);
        carom_body_id id;
        cr_assert_eq(carom_body_create(rig.world, &body, NULL, 0, &id), CAROM_OK);
        double lx = 0.5, ly = 6.0, l = sqrt(lx * lx + ly * ly);
        cm_rig_step(&rig, 480);
        carom_quat q = cm_rig_get(&rig, id).orientation;
        carom_vec3 axis = cm_rotate(q, cm_vec(0.0f, 1.0f, 0.0f));
        // The axis, from L's own frame: e along L, the first direction of the axis across it.
        double ex = lx / l, ey = ly / l;
        double along = (double)axis.x * ex + (double)axis.y * ey;
        double one = -(double)axis.x * ey + (double)axis.y * ex, two = -(double)axis.z;
        double angle = atan2(two, one), want = fmod(2.0 * l / 1.0, 2.0 * PI);
        double off = remainder(angle - want, 2.0 * PI), other = remainder(angle + want, 2.0 * PI);
        cr_expect_lt(fmin(fabs(off), fabs(other)), 0.01, "%s: %g of %g rad", name_of(types[t]),
                     angle, want);
        cr_expect_float_eq(along, ey, 1e-4, "%s: %g of %g", name_of(types[t]), along, ey);
        cm_rig_close(&rig);
    }
}

// A fast top on its tip: the axis goes round at m g l / (I3 w3).
Test(oscillation, a_fast_top_precesses)
{
    cm_rig rig = open_rig(CAROM_SOLVER_LCP, 480, G);
    carom_body_def body = carom_default_body_def();
    body.has_mass = body.has_inertia = true;
    body.mass = 1.0f;
    body.inertia = cm_vec(0.02f, 0.02f, 0.02f);
    const double l = 0.1, tilt = 0.4, spin = 100.0;
    body.orientation = about(cm_vec(0.0f, 0.0f, 1.0f), -tilt);
    body.position = cm_vec((float)(l * sin(tilt)), (float)(l * cos(tilt)), 0.0f);
    double rate = G * l / (0.02 * spin); // of precession: begin with it, so that nothing nods
    body.angular_velocity = cm_vec((float)(spin * sin(tilt)), (float)(spin * cos(tilt) + rate), 0);
    body.linear_velocity = cm_vec(0.0f, 0.0f, (float)(-rate * l * sin(tilt)));
    carom_body_id id;
    cr_assert_eq(carom_body_create(rig.world, &body, NULL, 0, &id), CAROM_OK);
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_BALL;
    joint.body_b = id;
    cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
    cm_rig_step(&rig, 480);
    carom_vec3 p = cm_rig_get(&rig, id).position;
    double angle = atan2(-(double)p.z, (double)p.x);
    cr_expect_float_eq(angle, rate, 0.02 * rate, "%g of %g rad", angle, rate);
    cr_expect_float_eq((double)p.y, l * cos(tilt), 0.002 * l, "%g", (double)p.y);
    cm_rig_close(&rig);
}

// A weight on a spring that rubs: every half period the amplitude loses 2 mu m g / k, and it stops
// within mu m g / k of the middle.
Test(oscillation, dry_friction_takes_the_same_from_every_swing)
{
    const carom_solver_type types[] = {CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME};
    for (int t = 0; t < 2; t++) {
        const double mu = 0.5;
        cm_rig rig = open_rig(types[t], 480, G);
        carom_world_set_softness(rig.world, 1.0e-6f, 0.2f); // a weight of 100 kg
        incline(&rig, 0.0, 0.0, (float)sqrt(mu));
        carom_body_id id = add(&rig, box_of(0.5f, 0.1f, 0.5f, (float)sqrt(mu)),
                               cm_vec(1.0f, 0.1f, 0.0f), UPRIGHT, CAROM_BODY_DYNAMIC);
        double m = (double)cm_rig_get(&rig, id).mass, k = m * 100.0, lost = 2.0 * mu * m * G / k;
        double want = 1.0, last = 1.0;
        int turns = 0;
        for (int i = 0; i < 480 * 6; i++) {
            double x = (double)cm_rig_get(&rig, id).position.x;
            carom_body_apply_force(rig.world, id, cm_vec((float)(-k * x), 0.0f, 0.0f), NONE);
            cm_rig_step(&rig, 1);
            carom_body_state s = cm_rig_get(&rig, id);
            double v = (double)s.linear_velocity.x;
            if (v * last < 0.0 && turns < 8) {
                want -= i > 5 ? lost : 0.0;
                if (i > 5) {
                    turns++;
                    cr_expect_float_eq(fabs((double)s.position.x), want, 0.01,
                                       "%s, turn %d: %g of %g m", name_of(types[t]), turns,
                                       (double)s.position.x, want);
                }
            }
            last = v != 0.0 ? v : last;
        }
        cr_expect_eq(turns, 8, "%s: %d turns", name_of(types[t]), turns);
        double x = (double)cm_rig_get(&rig, id).position.x;
        cr_expect_lt(speed_of(&rig, id), 0.01, "%s", name_of(types[t]));
        cr_expect_lt(fabs(x), 0.5 * lost + 0.005, "%s: stops at %g m", name_of(types[t]), x);
        cm_rig_close(&rig);
    }
}

// Two weights between two walls on three equal springs (sliders): modes of sqrt(k/m), sqrt(3 k/m).
Test(oscillation, coupled_springs_have_their_two_frequencies)
{
    for (int mode = 0; mode < 2; mode++) {
        cm_rig rig = open_rig(CAROM_SOLVER_LCP, 1000, 0.0);
        carom_body_id ids[2];
        for (int i = 0; i < 2; i++) {
            ids[i] = add(&rig, sphere_of(0.1f, 0.0f), cm_vec((float)(i + 1), 0, 0), UPRIGHT,
                         CAROM_BODY_DYNAMIC);
        }
        double m = (double)cm_rig_get(&rig, ids[0]).mass, k = 40.0 * m;
        for (int i = 0; i < 3; i++) {
            carom_joint_def joint = carom_default_joint_def();
            joint.type = CAROM_JOINT_PRISMATIC;
            joint.axis = cm_vec(1.0f, 0.0f, 0.0f);
            joint.body_a = i == 1 ? ids[0] : (carom_body_id){0};
            joint.body_b = i == 0 ? ids[0] : ids[1];
            joint.spring = CAROM_SPRING_STIFFNESS;
            joint.spring_stiffness = (float)k;
            cr_assert_eq(carom_joint_create(rig.world, &joint, NULL), CAROM_OK);
        }
        float v = 0.5f;
        carom_body_set_velocity(rig.world, ids[0], cm_vec(v, 0, 0), NONE);
        carom_body_set_velocity(rig.world, ids[1], cm_vec(mode == 0 ? v : -v, 0, 0), NONE);
        double last = 1.0, crossed = 0.0;
        for (int i = 1; i < 3000 && crossed == 0.0; i++) {
            cm_rig_step(&rig, 1);
            double u = (double)cm_rig_get(&rig, ids[0]).linear_velocity.x;
            if (last < 0.0 && u >= 0.0) {
                crossed = (i - 1 + last / (last - u)) / 1000.0; // three quarters of a period
            }
            last = u;
        }
        double want = 0.75 * 2.0 * PI / sqrt((mode == 0 ? 1.0 : 3.0) * k / m);
        cr_expect_float_eq(crossed / want, 1.0, 0.01, "mode %d: %g of %g s", mode, crossed, want);
        cm_rig_close(&rig);
    }
}

// A box on given springs without damping bobs at sqrt(k A / m).
Test(oscillation, a_box_on_a_volume_bobs_at_its_frequency)
{
    carom_world_def def = cm_rig_def(8);
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.stiffness = 1.0e6f;
    def.solver.volume.damping = 0.0f;
    def.solver.volume.substeps = 4;
    def.tick_rate = 1000;
    cm_rig rig = cm_rig_open(&def, 0);
    incline(&rig, 0.0, 0.0, 0.0f);
    carom_body_id id =
        add(&rig, box_of(0.5f, 0.5f, 0.5f, 0.0f), cm_vec(0, 0.49f, 0), UPRIGHT, CAROM_BODY_DYNAMIC);
    // From 10 mm deep (the rest is 9.81 mm): 0.19 mm about the rest.
    double last = (double)cm_rig_get(&rig, id).linear_velocity.y, crossed[2] = {0, 0};
    int count = 0;
    for (int i = 1; i < 2000 && count < 2; i++) {
        cm_rig_step(&rig, 1);
        double v = (double)cm_rig_get(&rig, id).linear_velocity.y;
        if (last < 0.0 && v >= 0.0) {
            crossed[count++] = (i - 1 + last / (last - v)) / 1000.0;
        }
        last = v;
    }
    double want = 2.0 * PI / sqrt(1.0e6 / 1000.0);
    cr_expect_float_eq((crossed[1] - crossed[0]) / want, 1.0, 0.01, "%g of %g s",
                       crossed[1] - crossed[0], want);
    cm_rig_close(&rig);
}

// A stiff spring that a game defines is implicit Euler's: a swing of w h shrinks by 1/sqrt(1 + w^2
// h^2) a step and turns by atan(w h), from soft ones to those that no explicit step would bear.
typedef struct spring {
    carom_body_id body;
    double stiffness;
} spring;

static uint32_t pull_back(void *context, const carom_world *world, carom_force *forces,
                          uint32_t capacity)
{
    const spring *s = context;
    carom_body_state state;
    (void)capacity;
    carom_body_get(world, s->body, &state);
    forces[0].body[0] = s->body;
    forces[0].linear[0] = cm_vec(1.0f, 0.0f, 0.0f);
    forces[0].force = (float)(-s->stiffness * (double)state.position.x);
    forces[0].by_position = (float)-s->stiffness;
    return 1;
}

Test(oscillation, a_stiff_implicit_spring_has_the_eigenvalues_of_implicit_euler)
{
    const double turns[] = {0.05, 0.3, 1.0, 3.0}; // w h
    for (int k = 0; k < 4; k++) {
        cm_rig rig = open_rig(CAROM_SOLVER_LCP, 100, 0.0);
        const double h = 0.01, w = turns[k] / h;
        spring s = {
            add(&rig, sphere_of(0.1f, 0.0f), cm_vec(1.0f, 0, 0), UPRIGHT, CAROM_BODY_DYNAMIC), 0.0};
        s.stiffness = (double)cm_rig_get(&rig, s.body).mass * w * w;
        const carom_row_source source = {.context = &s, .forces = pull_back};
        cr_assert_eq(carom_world_set_rows(rig.world, &source), CAROM_OK);
        const int steps = 8;
        cm_rig_step(&rig, (uint32_t)steps);
        carom_body_state now = cm_rig_get(&rig, s.body);
        // x + i v / w turns by atan(w h) and shrinks, exactly.
        double size = pow(1.0 + turns[k] * turns[k], -0.5 * steps), angle = steps * atan(turns[k]);
        cr_expect_float_eq((double)now.position.x, size * cos(angle), 2e-5, "w h = %g: %g of %g",
                           turns[k], (double)now.position.x, size * cos(angle));
        cr_expect_float_eq((double)now.linear_velocity.x / w, -size * sin(angle), 2e-5,
                           "w h = %g: %g", turns[k], (double)now.linear_velocity.x / w);
        cm_rig_close(&rig);
    }
}

// A body that falls against damping c comes to g / c, by v' = (v + g h) / (1 + c h).
Test(oscillation, damping_leads_to_its_terminal_velocity)
{
    const carom_solver_type types[] = {CAROM_SOLVER_IMPULSE, CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME,
                                       CAROM_SOLVER_SOFT};
    for (int t = 0; t < 4; t++) {
        cm_rig rig = open_rig(types[t], 240, G);
        carom_body_id id =
            add(&rig, sphere_of(0.3f, 1.0f), cm_vec(0, 0, 0), UPRIGHT, CAROM_BODY_DYNAMIC);
        carom_body_set_damping(rig.world, id, 2.0f, 0.0f);
        cm_rig_step(&rig, 120);
        double v = -(double)cm_rig_get(&rig, id).linear_velocity.y;
        double want = 0.5 * G * (1.0 - exp(-1.0));
        cr_expect_float_eq(v / want, 1.0, 0.01, "%s: %g of %g", name_of(types[t]), v, want);
        cm_rig_step(&rig, 2400);
        v = -(double)cm_rig_get(&rig, id).linear_velocity.y;
        cr_expect_float_eq(v, 0.5 * G, 0.03, "%s: %g", name_of(types[t]), v);
        cm_rig_close(&rig);
    }
}
