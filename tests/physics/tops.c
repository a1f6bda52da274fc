// Tops. A free body keeps its angular momentum L and its energy (Euler). A heavy symmetric top
// whose axis lies level precesses about the vertical at m g d / (I3 w3), d from the point that
// holds it to its centre, if it begins with that rate; else it nutates about it (H. Goldstein,
// "Classical Mechanics", 5.7). Inertias are given, so that no shape has a part in it.
#include "tests/physics/physics.h"

#define G 9.81

typedef struct free_case {
    carom_vec3 inertia, w;
    uint32_t rate;
    bool touching; // something else in the world lies on something
} free_case;

static carom_body_id add_top(cm_lab *lab, carom_vec3 position, carom_vec3 inertia)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(lab, CAROM_SHAPE_SPHERE);
    body.position = position;
    body.has_mass = body.has_inertia = true;
    body.mass = 1.0f;
    body.inertia = inertia;
    shape.radius = 0.1f;
    shape.mask = 0;
    return cm_lab_add(lab, &body, &shape);
}

static double apart(carom_dvec3 a, carom_dvec3 b)
{
    a = (carom_dvec3){a.x - b.x, a.y - b.y, a.z - b.z};
    return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

ParameterizedTestParameters(tops, free_ones)
{
    static free_case cases[] = {
        {{1.0f, 2.0f, 3.0f}, {0.01f, 5.0f, 0.01f}, 60, false}, // turns over and over
        {{1.0f, 2.0f, 3.0f}, {0.01f, 5.0f, 0.01f}, 30, true},
        {{1.0f, 2.0f, 3.0f}, {3.0f, 10.0f, 1.0f}, 60, true},
        {{1.0f, 2.0f, 3.0f}, {10.0f, 12.0f, 13.0f}, 60, false},
        {{0.1f, 1.0f, 1.05f}, {1.0f, 10.0f, 5.0f}, 60, false},
        {{0.01f, 1.0f, 1.009f}, {1.0f, 10.0f, 5.0f}, 120, true}, // a stick
        {{1.0f, 1.0f, 2.0f}, {5.0f, 1.0f, 20.0f}, 60, false},    // a disc
        {{1.0f, 2.0f, 3.0f}, {10.0f, 40.0f, 10.0f}, 240, false},
        {{1.0f, 2.0f, 3.0f}, {20.0f, 60.0f, 20.0f}, 60, false},
    };
    return cr_make_param_array(free_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(free_case *c, tops, free_ones)
{
    carom_world_def def = cm_lab_def(c->rate, 8);
    def.sleep = false;
    if (!c->touching) {
        def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    }
    cm_lab lab = cm_lab_open(&def);
    carom_body_id top = add_top(&lab, cm_vec(0.0f, 0.0f, 0.0f), c->inertia);
    if (c->touching) {
        cm_lab_floor(&lab);
        cm_lab_box(&lab, cm_vec(5.0f, 0.5f, 0.0f), cm_vec(0.5f, 0.5f, 0.5f));
        cr_assert_eq(carom_body_set_gravity_scale(lab.world, top, 0.0f), CAROM_OK);
    }
    cm_lab_set_velocity(&lab, top, cm_vec(0.0f, 0.0f, 0.0f), c->w);
    carom_dvec3 l = cm_lab_angular_momentum(&lab, top), none = {0};
    double energy = cm_lab_kinetic(&lab), lost = 0.0, turned = 0.0;
    for (int second = 0; second < 100; second++) {
        cm_lab_run(&lab, 1.0);
        double now = c->touching ? energy : cm_lab_kinetic(&lab);
        lost = fmax(lost, fabs(now / energy - 1.0));
        turned = fmax(turned, apart(cm_lab_angular_momentum(&lab, top), l) / apart(l, none));
    }
    cm_within(turned, 0.0, 0.01, "|L - L0| / L0, inertias %g %g %g, %u Hz", (double)c->inertia.x,
              (double)c->inertia.y, (double)c->inertia.z, c->rate);
    cm_within(lost, 0.0, 0.01, "|E / E0 - 1|, inertias %g %g %g, %u Hz", (double)c->inertia.x,
              (double)c->inertia.y, (double)c->inertia.z, c->rate);
    cm_lab_close(&lab);
}

typedef struct heavy_case {
    float spin, d; // rad/s, m
    uint32_t rate;
    bool let_go; // from rest: it nutates, little where it spins fast
} heavy_case;

ParameterizedTestParameters(tops, heavy_ones)
{
    static heavy_case cases[] = {
        {60.0f, 0.3f, 60, false},   {60.0f, 0.3f, 240, false}, {120.0f, 0.3f, 240, false},
        {200.0f, 0.5f, 240, false}, {100.0f, 0.1f, 240, true}, {30.0f, 0.1f, 120, false},
        {200.0f, 0.3f, 240, true},  {400.0f, 0.5f, 240, true},
    };
    return cr_make_param_array(heavy_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(heavy_case *c, tops, heavy_ones)
{
    const float i1 = 0.06f, i3 = 0.12f; // a disc of 1 kg about its centre
    carom_world_def def = cm_lab_def(c->rate, 8);
    def.gravity = cm_vec(0.0f, -(float)G, 0.0f);
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    carom_body_id top = add_top(&lab, cm_vec(c->d, 0.0f, 0.0f), cm_vec(i3, i1, i1));
    cm_lab_joint(&lab, CAROM_JOINT_BALL, (carom_body_id){0}, top, cm_vec(0.0f, 0.0f, 0.0f),
                 cm_vec(0.0f, 1.0f, 0.0f));
    // Its axis is x: L points there, and the weight's torque along -z turns it towards -z.
    double rate = G * (double)c->d / ((double)i3 * (double)c->spin);
    float first = c->let_go ? 0.0f : (float)rate;
    cm_lab_set_velocity(&lab, top, cm_vec(0.0f, 0.0f, -first * c->d), cm_vec(c->spin, first, 0.0f));
    double angle = 0.0, before = 0.0, low = 0.0, seconds = 20.0;
    for (uint32_t tick = 0; tick < (uint32_t)seconds * c->rate; tick++) {
        carom_world_step(lab.world);
        carom_vec3 at = cm_lab_get(&lab, top).position;
        double now = atan2(-(double)at.z, (double)at.x);
        angle += remainder(now - before, 2.0 * CM_PI);
        before = now;
        low = fmax(low, fabs((double)at.y) / (double)c->d);
    }
    cm_within(angle / seconds / rate, 0.97, 1.03, "precession at %g rad/s, %g m, %u Hz",
              (double)c->spin, (double)c->d, c->rate);
    cm_within(low, 0.0, 0.05, "its sinking or rising, of its arm");
    cm_lab_close(&lab);
}
