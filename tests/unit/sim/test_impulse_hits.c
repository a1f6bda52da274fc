// Goal: hits of the impulse solver are those of the text-book: rows of balls hand a blow on, in
// either order of ids; touching in one direction is not pressing in another; a bounce rises to e^2
// of its height, whatever the tick rate and the overlap of the tick that finds it. Method: worlds
// of balls whose answer is known in closed form; heights from the parabola of each flight, y + u^2
// / 2g with u = v - gh/2, the true velocity of a semi-implicit step.
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define G 9.81

static cm_rig open_rig(uint32_t bodies, uint32_t tick_rate, double gravity)
{
    carom_world_def def = cm_rig_def(bodies);
    def.tick_rate = tick_rate;
    def.gravity = cm_vec(0.0f, -(float)gravity, 0.0f);
    def.solver.type = CAROM_SOLVER_IMPULSE;
    return cm_rig_open(&def, 0);
}

static carom_body_id ball(cm_rig *rig, carom_vec3 at, carom_vec3 velocity, float radius,
                          float restitution)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = radius;
    shape.friction = 0.0f;
    shape.restitution = restitution;
    body.position = at;
    body.linear_velocity = velocity;
    return cm_rig_body(rig, &body, &shape);
}

static void slab(cm_rig *rig, carom_vec3 normal, float offset, float restitution)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_PLANE;
    shape.normal = normal;
    shape.offset = offset;
    shape.friction = 0.0f;
    shape.restitution = restitution;
    cm_rig_body(rig, &body, &shape);
}

// n balls in touch, of which the first `strikers` come from 0.1 m away; lower ids on the left or on
// the right; free, or lying on a floor that gravity presses them on.
static void cradle(uint32_t n, uint32_t strikers, bool left, bool lying)
{
    const float r = 0.05f;
    cm_rig rig = open_rig(33, 60, lying ? G : 0.0);
    carom_body_id ids[32];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = left ? k : n - 1 - k;
        float x = 2.0f * r * (float)i - (i < strikers ? 0.103f : 0.0f);
        carom_vec3 v = cm_vec(i < strikers ? 1.0f : 0.0f, 0.0f, 0.0f);
        ids[i] = ball(&rig, cm_vec(x, r, 0.0f), v, r, 1.0f);
    }
    if (lying) {
        slab(&rig, cm_vec(0.0f, 1.0f, 0.0f), 0.0f, 1.0f);
    }
    cm_rig_step(&rig, 12);
    for (uint32_t i = 0; i < n; i++) {
        carom_vec3 v = cm_rig_get(&rig, ids[i]).linear_velocity;
        double want = i + strikers >= n ? 1.0 : 0.0;
        cr_expect_float_eq(v.x, want, 1e-4, "%u balls, %u strike, ball %u: %g", n, strikers, i,
                           (double)v.x);
        cr_expect(fabs((double)v.y) + fabs((double)v.z) < 1e-4);
    }
    cm_rig_close(&rig);
}

Test(impulse_hits, cradles_of_2_to_32_balls)
{
    for (uint32_t n = 2; n <= 32; n++) {
        for (uint32_t strikers = 1; strikers <= 2 && strikers < n; strikers++) {
            for (int way = 0; way < 4; way++) {
                cradle(n, strikers, (way & 1) != 0, (way & 2) != 0);
            }
        }
    }
}

// A frozen rack: the momentum stays, with restitution 1 the energy too, and none approaches when
// the tick is over.
Test(impulse_hits, a_frozen_rack)
{
    static const float RESTITUTIONS[] = {1.0f, 0.95f, 0.5f};
    const float r = 0.028575f, row = 1.7320508f * r;
    for (int k = 0; k < 3; k++) {
        cm_rig rig = open_rig(16, 240, 0.0);
        carom_body_id ids[16];
        uint32_t n = 0;
        // A hair too close, so that all fifteen touch.
        float s = 0.9999f;
        for (uint32_t i = 0; i < 5; i++) {
            for (uint32_t j = 0; j <= i; j++) {
                float z = s * r * (2.0f * (float)j - (float)i);
                ids[n++] = ball(&rig, cm_vec(s * row * (float)i, 0.0f, z), cm_vec(0, 0, 0), r,
                                sqrtf(RESTITUTIONS[k]));
            }
        }
        ids[n++] = ball(&rig, cm_vec(-2.0f * r * s, 0.0f, 0.0f), cm_vec(6.0f, 0.0f, 0.0f), r,
                        sqrtf(RESTITUTIONS[k]));
        double mass = (double)cm_rig_get(&rig, ids[0]).mass;
        cm_rig_step(&rig, 1);
        double px = 0, pz = 0, energy = 0;
        carom_body_state state[16];
        for (uint32_t i = 0; i < 16; i++) {
            state[i] = cm_rig_get(&rig, ids[i]);
            px += (double)state[i].linear_velocity.x;
            pz += (double)state[i].linear_velocity.z;
            energy += 0.5 * mass * (double)cm_length_squared(state[i].linear_velocity);
        }
        cr_expect_float_eq(px, 6.0, 1e-5);
        cr_expect_float_eq(pz, 0.0, 1e-5);
        double before = 0.5 * mass * 36.0;
        cr_expect(k == 0 ? fabs(energy / before - 1.0) < 1e-6 : energy < before, "%g", energy);
        for (uint32_t i = 0; i < 16; i++) {
            for (uint32_t j = 0; j < i; j++) {
                carom_vec3 apart = cm_sub(state[i].position, state[j].position);
                carom_vec3 v = cm_sub(state[i].linear_velocity, state[j].linear_velocity);
                // At the poses of the hit.
                apart = cm_mul_add(apart, -1.0f / 240.0f, v);
                if (cm_length(apart) < 2.0f * r) {
                    cr_expect_gt(cm_dot(v, cm_normalize(apart)), -1e-4f, "%u and %u", i, j);
                }
            }
        }
        cm_rig_close(&rig);
    }
}

// Heights of the flights of a ball that falls from a metre above the floor.
static uint32_t bounce(uint32_t tick_rate, double restitution, double *heights, uint32_t most,
                       uint32_t ticks)
{
    cm_rig rig = open_rig(4, tick_rate, G);
    carom_body_id id =
        ball(&rig, cm_vec(0.0f, 1.5f, 0.0f), cm_vec(0, 0, 0), 0.5f, (float)restitution);
    slab(&rig, cm_vec(0.0f, 1.0f, 0.0f), 0.0f, 1.0f);
    double h = 1.0 / tick_rate, last = 0.0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ticks && count < most; i++) {
        cm_rig_step(&rig, 1);
        carom_body_state s = cm_rig_get(&rig, id);
        double v = (double)s.linear_velocity.y, u = v - 0.5 * G * h;
        // A hit is a tick that pushed up.
        if (v > last - 0.5 * G * h && i > 0) {
            heights[count++] = (double)s.position.y - 0.5 + u * u / (2.0 * G);
        }
        last = v;
    }
    cm_rig_close(&rig);
    return count;
}

Test(impulse_hits, a_bounce_keeps_its_height)
{
    static const uint32_t RATES[] = {60, 120, 240};
    for (int k = 0; k < 3; k++) {
        double heights[100];
        cr_assert_eq(bounce(RATES[k], 1.0, heights, 100, 100 * RATES[k]), 100u);
        for (int i = 0; i < 100; i++) {
            cr_expect_float_eq(heights[i], 1.0, 0.01, "%u Hz, bounce %d: %g", RATES[k], i,
                               heights[i]);
        }
        for (int e = 0; e < 2; e++) {
            double restitution = e == 0 ? 0.5 : 0.8, want = 1.0;
            cr_assert_eq(bounce(RATES[k], restitution, heights, 5, 10 * RATES[k]), 5u);
            for (int i = 0; i < 5; i++) {
                want *= restitution * restitution;
                cr_expect_float_eq(heights[i] / want, 1.0, 0.02, "%u Hz, e %g, height %d: %g of %g",
                                   RATES[k], restitution, i, heights[i], want);
            }
        }
    }
}

// One tick from a touch: the restitution is that of the velocity before the tick's forces, whose
// share along the normal is gone, whichever way they pull.
Test(impulse_hits, restitution_acts_before_forces)
{
    for (int ceiling = 0; ceiling < 2; ceiling++) {
        for (int k = 0; k < 5; k++) {
            float e = 0.25f * (float)k, sign = ceiling ? -1.0f : 1.0f;
            cm_rig rig = open_rig(4, 60, G);
            slab(&rig, cm_vec(0.0f, sign, 0.0f), 0.0f, 1.0f);
            carom_body_id id = ball(&rig, cm_vec(0.0f, sign * 0.5f, 0.0f),
                                    cm_vec(0.75f, -2.0f * sign, 0.0f), 0.5f, e);
            cm_rig_step(&rig, 1);
            carom_vec3 v = cm_rig_get(&rig, id).linear_velocity;
            double want = sign * 2.0 * (double)e;
            cr_expect_float_eq(v.y, want, 1e-6, "e %g: %g", (double)e, (double)v.y);
            cr_expect_float_eq(v.x, 0.75, 1e-6);
            cm_rig_close(&rig);
        }
    }
}

// Between a floor and a ceiling, with restitution 1: the energy of a ball stays for a thousand
// hits.
Test(impulse_hits, between_floor_and_ceiling)
{
    cm_rig rig = open_rig(4, 60, G);
    slab(&rig, cm_vec(0.0f, 1.0f, 0.0f), 0.0f, 1.0f);
    slab(&rig, cm_vec(0.0f, -1.0f, 0.0f), -2.0f, 1.0f);
    carom_body_id id = ball(&rig, cm_vec(0.0f, 1.0f, 0.0f), cm_vec(0.0f, 8.0f, 0.0f), 0.25f, 1.0f);
    double want = 0.0;
    for (uint32_t i = 0; i < 9000; i++) {
        cm_rig_step(&rig, 1);
        carom_body_state s = cm_rig_get(&rig, id);
        double u = (double)s.linear_velocity.y - 0.5 * G / 60;
        double energy = 0.5 * u * u + G * (double)s.position.y;
        want = i == 0 ? energy : want;
        cr_assert_float_eq(energy / want, 1.0, 0.01, "tick %u: %g of %g", i, energy, want);
    }
    cm_rig_close(&rig);
}
