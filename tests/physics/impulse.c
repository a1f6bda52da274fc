// Laws of the impulse solver: a blow that is symmetric leaves symmetric motion, whatever the order
// in which the bodies were listed; a heap of circles comes to rest without overlap. Source: the
// equations of motion are the same in a mirror; I. Newton's law of restitution.
#include "tests/physics/physics.h"

static carom_world_def impulse_def(carom_impulse_model model, uint32_t rate)
{
    carom_world_def def = cm_lab_def(rate, 32);
    def.solver.type = CAROM_SOLVER_IMPULSE;
    def.solver.impulse.model = model;
    def.restitution_combine = CAROM_COMBINE_PRODUCT;
    return def;
}

typedef struct break_case {
    carom_impulse_model model;
    float restitution, friction;
    uint32_t order; // of the listing
} break_case;

ParameterizedTestParameters(impulse, symmetric_break)
{
    static break_case cases[] = {
        {CAROM_IMPULSE_INTERPOLATED, 0.95f, 0.0f, 0}, {CAROM_IMPULSE_INTERPOLATED, 0.95f, 0.0f, 7},
        {CAROM_IMPULSE_INTERPOLATED, 0.9f, 0.05f, 3}, {CAROM_IMPULSE_INTERPOLATED, 1.0f, 0.0f, 11},
        {CAROM_IMPULSE_NORMAL, 0.95f, 0.0f, 0},       {CAROM_IMPULSE_NORMAL, 0.95f, 0.0f, 7},
        {CAROM_IMPULSE_INTERPOLATED, 0.5f, 0.3f, 13},
    };
    return cr_make_param_array(break_case, cases, sizeof cases / sizeof cases[0]);
}

// Fifteen balls in a triangle and one that comes along its middle; mirrored in the plane z = 0.
ParameterizedTest(break_case *c, impulse, symmetric_break)
{
    enum { COUNT = 16 };
    carom_world_def def = impulse_def(c->model, 240);
    def.gravity = cm_vec(0, 0, 0);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.restitution = sqrtf(c->restitution);
    lab.surface.friction = sqrtf(c->friction);
    carom_vec3 at[COUNT] = {cm_vec(-0.2f, 0, 0)};
    uint32_t mirror[COUNT] = {0};
    carom_body_id ids[COUNT];
    int count = 1;
    const float r = 0.03f;
    for (int row = 0; row < 5; row++) {
        int first = count;
        for (int i = 0; i <= row; i++, count++) {
            mirror[count] = (uint32_t)(first + row - i);
            at[count] = cm_vec(1.7320508f * r * (float)row, 0, r * (float)(2 * i - row));
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t k = (5 * i + c->order) % COUNT;
        ids[k] = cm_lab_ball(&lab, at[k], r);
    }
    cm_lab_set_velocity(&lab, ids[0], cm_vec(6, 0, 0), cm_vec(0, 0, 0));
    double e0 = cm_lab_kinetic(&lab), worst = 0.0;
    cm_lab_run(&lab, 0.3);
    for (int i = 0; i < COUNT; i++) {
        carom_vec3 v = cm_lab_get(&lab, ids[i]).linear_velocity;
        carom_vec3 w = cm_lab_get(&lab, ids[mirror[i]]).linear_velocity;
        worst = fmax(worst, hypot((double)(v.x - w.x), (double)(v.z + w.z)));
    }
    cm_within(worst, 0.0, 0.01, "m/s of asymmetry, model %d, e %g, mu %g, order %u", (int)c->model,
              (double)c->restitution, (double)c->friction, c->order);
    cm_within(cm_lab_kinetic(&lab) / e0, 0.0, 1.000001, "of the energy");
    cm_lab_close(&lab);
}

ParameterizedTestParameters(impulse, bowl_of_circles)
{
    static uint32_t rates[] = {60, 120, 240};
    return cr_make_param_array(uint32_t, rates, sizeof rates / sizeof rates[0]);
}

// Twelve circles fall into a bowl of static ones, as planar worlds have it.
ParameterizedTest(uint32_t *rate, impulse, bowl_of_circles)
{
    carom_world_def def = impulse_def(CAROM_IMPULSE_CIRCLE, *rate);
    def.planar = true;
    def.limits.bodies = def.limits.shapes = 64;
    def.limits.contacts = 512;
    cm_lab lab = cm_lab_open(&def);
    lab.surface.restitution = 0.6f;
    carom_body_id ids[12];
    for (int i = 0; i <= 36; i++) {
        double a = CM_PI * (0.75 + 1.5 * i / 36.0);
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_SPHERE);
        body.type = CAROM_BODY_STATIC;
        body.position = cm_vec((float)(4.0 * cos(a)), (float)(4.0 * sin(a)), 0);
        shape.radius = 0.5f;
        cm_lab_add(&lab, &body, &shape);
    }
    for (int i = 0; i < 12; i++) {
        ids[i] =
            cm_lab_ball(&lab, cm_vec(1.1f * (float)(i % 4) - 1.6f, 1.2f * (float)(i / 4), 0), 0.5f);
    }
    cm_lab_run(&lab, 20.0);
    double deepest = 0.0;
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < i; k++) {
            carom_vec3 p = cm_lab_get(&lab, ids[i]).position, q = cm_lab_get(&lab, ids[k]).position;
            deepest = fmax(deepest, 1.0 - hypot((double)(p.x - q.x), (double)(p.y - q.y)));
        }
    }
    cm_within(cm_lab_fastest(&lab), 0.0, 0.001, "m/s after 20 s at %u Hz", *rate);
    cm_within(deepest, 0.0, 0.001, "m of overlap after 20 s at %u Hz", *rate);
    cm_lab_close(&lab);
}
