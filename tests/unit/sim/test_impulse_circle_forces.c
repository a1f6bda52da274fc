// Goal: the circle model under forces, which its article does not know: bounces keep e^2 of their
// height at any tick rate and gain nothing, what lies rests, a heap loses energy and no more falls
// through. Method: closed forms of a ball on a fixed circle; heights by the parabola of each
// flight, y + u^2 / 2g with u = v - gh/2, the true velocity of a semi-implicit step.
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>

#define G 9.81

static cm_rig open_rig(uint32_t bodies, uint32_t tick_rate, uint32_t substeps, float pixel)
{
    carom_world_def def = cm_rig_def(bodies);
    def.tick_rate = tick_rate;
    def.planar = true;
    def.solver.type = CAROM_SOLVER_IMPULSE;
    def.solver.impulse.model = CAROM_IMPULSE_CIRCLE;
    def.solver.impulse.substeps = substeps;
    def.solver.impulse.pixel = pixel;
    return cm_rig_open(&def, 0);
}

static carom_body_id circle(cm_rig *rig, carom_body_type type, carom_vec3 at, carom_vec3 v,
                            float radius, float restitution)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = radius;
    shape.restitution = restitution;
    body.type = type;
    body.position = at;
    body.linear_velocity = v;
    return cm_rig_body(rig, &body, &shape);
}

static uint32_t bounce(uint32_t tick_rate, uint32_t substeps, bool first, double restitution,
                       float pixel, double *heights, uint32_t most, uint32_t ticks)
{
    cm_rig rig = open_rig(4, tick_rate, substeps, pixel);
    carom_vec3 low = cm_vec(0.0f, -5.0f, 0.0f), high = cm_vec(0.0f, 1.5f, 0.0f), none = {0};
    carom_body_id id = {0};
    float e = (float)restitution;
    for (int i = 0; i < 2; i++) { // in both orders of slots
        if (first == (i == 0)) {
            id = circle(&rig, CAROM_BODY_DYNAMIC, high, none, 0.5f, e);
        } else {
            circle(&rig, CAROM_BODY_STATIC, low, none, 5.0f, 1.0f);
        }
    }
    double h = 1.0 / (tick_rate * substeps), last = 0.0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ticks && count < most; i++) {
        cm_rig_step(&rig, 1);
        carom_body_state s = cm_rig_get(&rig, id);
        double v = (double)s.linear_velocity.y, u = v - 0.5 * G * h;
        if (v > last && i > 0) { // a tick that pushed up
            heights[count++] = (double)s.position.y - 0.5 + u * u / (2.0 * G);
        }
        last = v;
    }
    cm_rig_close(&rig);
    return count;
}

Test(impulse_circle_forces, a_bounce_keeps_its_height)
{
    static const uint32_t RATES[] = {60, 120, 240};
    for (int k = 0; k < 6; k++) {
        uint32_t rate = RATES[k % 3];
        double heights[100];
        cr_assert_eq(bounce(rate, 1, k < 3, 1.0, 0.0f, heights, 100, 100 * rate), 100u);
        for (int i = 0; i < 100; i++) {
            cr_expect_float_eq(heights[i], 1.0, 0.01, "%u Hz, bounce %d: %g", rate, i, heights[i]);
        }
        for (int e = 0; e < 2; e++) {
            double restitution = e == 0 ? 0.5 : 0.8, want = 1.0;
            cr_assert_eq(bounce(rate, 1, k < 3, restitution, 0.0f, heights, 5, 10 * rate), 5u);
            for (int i = 0; i < 5; i++) {
                want *= restitution * restitution;
                cr_expect_float_eq(heights[i] / want, 1.0, 0.02, "%u Hz, e %g, height %d: %g of %g",
                                   rate, restitution, i, heights[i], want);
            }
        }
    }
    double heights[20];
    cr_assert_eq(bounce(30, 2, true, 1.0, 0.0f, heights, 20, 1200), 20u);
    for (int i = 0; i < 20; i++) {
        cr_expect_float_eq(heights[i], 1.0, 0.01, "substeps, bounce %d: %g", i, heights[i]);
    }
}

// With the article's rounding pairs meet one after another in its own loop, somewhat beyond their
// touch: restitution is of the speed at the touch all the same.
Test(impulse_circle_forces, a_bounce_between_pixels_keeps_its_height)
{
    static const uint32_t RATES[] = {60, 120, 240};
    static const double RESTITUTIONS[] = {1.0, 0.8, 0.5};
    for (int k = 0; k < 18; k++) {
        double heights[5], e = RESTITUTIONS[k % 3], want = 1.0;
        uint32_t rate = RATES[k / 3 % 3];
        cr_assert_eq(bounce(rate, 1, k < 9, e, 0.001f, heights, 5, 10 * rate), 5u);
        for (int i = 0; i < 5; i++) {
            want *= e * e;
            double allowed = 0.02 * want + 0.0005; // half a pixel
            cr_expect_float_eq(heights[i], want, allowed, "%u Hz, e %g, height %d: %g of %g", rate,
                               e, i, heights[i], want);
        }
    }
}

// One tick from a touch, below and above: the forces' share along the line of centres is gone.
Test(impulse_circle_forces, restitution_acts_before_forces)
{
    for (int k = 0; k < 10; k++) {
        float e = 0.25f * (float)(k % 5), sign = k < 5 ? 1.0f : -1.0f;
        cm_rig rig = open_rig(4, 60, 1, 0.0f);
        carom_vec3 none = {0};
        circle(&rig, CAROM_BODY_STATIC, cm_vec(0.0f, -5.0f * sign, 0.0f), none, 5.0f, 1.0f);
        carom_body_id id = circle(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f * sign, 0.0f),
                                  cm_vec(0.75f, -2.0f * sign, 0.0f), 0.5f, e);
        cm_rig_step(&rig, 1);
        carom_vec3 v = cm_rig_get(&rig, id).linear_velocity;
        cr_expect_float_eq(v.y, sign * 2.0f * e, 1e-6f, "e %g: %g", (double)e, (double)v.y);
        cr_expect_float_eq(v.x, 0.75f, 1e-6f);
        cm_rig_close(&rig);
    }
}

// What lies stays, whatever its restitution; its floor carries the weight.
Test(impulse_circle_forces, what_lies_rests)
{
    for (int k = 0; k < 3; k++) {
        cm_rig rig = open_rig(4, 60, 1, 0.0f);
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        shape.type = CAROM_SHAPE_SPHERE;
        shape.radius = 5.0f;
        shape.restitution = 1.0f;
        body.type = CAROM_BODY_STATIC;
        body.position = cm_vec(0.0f, -5.0f, 0.0f);
        body.report_force = true;
        carom_body_id floor = cm_rig_body(&rig, &body, &shape);
        carom_body_id id = circle(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.5f, 0.0f),
                                  (carom_vec3){0}, 0.5f, 0.5f * (float)k);
        cm_rig_step(&rig, 600);
        carom_body_state s = cm_rig_get(&rig, id), f = cm_rig_get(&rig, floor);
        cr_expect_float_eq(s.position.y, 0.5f, 1e-5f);
        cr_expect_lt(cm_length(s.linear_velocity), 1e-6f);
        double weight = (double)s.mass * G;
        cr_expect_float_eq((double)f.contact_force.y, -weight, 1e-4 * weight);
        cm_rig_close(&rig);
    }
}

static double energy_of(const cm_rig *rig, uint32_t first, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t i = first; i < first + count; i++) {
        carom_body_state s = cm_rig_get(rig, carom_world_body_at(rig->world, i));
        double v = (double)cm_length(s.linear_velocity);
        sum += (double)s.mass * (0.5 * v * v + G * (double)s.position.y);
    }
    return sum;
}

// Circles of many sizes fall into a bowl of fixed ones: never more energy than at the begin, less
// of it every second, and at last hardly any motion.
Test(impulse_circle_forces, a_heap_in_a_bowl_loses_energy)
{
    cm_rig rig = open_rig(64, 120, 1, 0.0f);
    uint32_t walls = 0, balls = 12;
    for (int i = -12; i <= 12; i++, walls++) {
        float a = 0.12f * (float)i;
        circle(&rig, CAROM_BODY_STATIC, cm_vec(3.0f * sinf(a), 3.0f - 3.0f * cosf(a), 0.0f),
               (carom_vec3){0}, 0.4f, 0.5f);
    }
    for (uint32_t i = 0; i < balls; i++) {
        circle(&rig, CAROM_BODY_DYNAMIC,
               cm_vec(0.3f * (float)(i % 5) - 0.6f, 2.0f + 0.5f * (float)i, 0.0f), (carom_vec3){0},
               0.15f + 0.01f * (float)(i % 4), 0.5f);
    }
    double first = energy_of(&rig, walls, balls), before = first, h = 1.0 / 120.0;
    // A semi-implicit step's energy swings by v g h.
    double swing = 1000.0 * 12.0 * 8.0 * G * h * 0.1;
    for (int second = 0; second < 20; second++) {
        cm_rig_step(&rig, 120);
        double now = energy_of(&rig, walls, balls);
        cr_expect_lt(now, before + swing, "second %d: %g of %g", second, now, before);
        before = now;
    }
    cr_expect_lt(before, 0.5 * first);
    for (uint32_t i = walls; i < walls + balls; i++) {
        carom_body_state s = cm_rig_get(&rig, carom_world_body_at(rig.world, i));
        cr_expect_gt(s.position.y, 0.0f, "fell through");
        cr_expect_lt(cm_length(s.linear_velocity), 0.2f);
    }
    cm_rig_close(&rig);
}
