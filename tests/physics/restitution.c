// Restitution. Newton's law: the points of contact part at e times the speed at which they met. A
// ball of e = 1 rises to where it fell from; one of e to e^2 of that. What lands flat on two or
// four points parts at e of its speed, without a turn. What meets slower than the solver's
// threshold (1 m/s where none is named) does not part.
#include "tests/physics/physics.h"

#define G 9.81

typedef struct peak_case {
    uint32_t rate, substeps;
    float height, restitution;
} peak_case;

ParameterizedTestParameters(restitution, peaks)
{
    static peak_case cases[] = {
        {30, 4, 1.0f, 1.0f},  {60, 4, 1.0f, 1.0f},  {60, 1, 1.0f, 1.0f}, {60, 4, 5.0f, 1.0f},
        {120, 4, 1.0f, 1.0f}, {240, 4, 1.0f, 1.0f}, {60, 4, 1.3f, 0.8f}, {120, 2, 2.0f, 0.9f},
    };
    return cr_make_param_array(peak_case, cases, sizeof cases / sizeof cases[0]);
}

static double next_peak(cm_lab *lab, carom_body_id ball)
{
    double top = 0.0;
    bool down = false;
    for (int i = 0; i < 100000; i++) {
        cm_lab_run(lab, 1.0 / carom_world_tick_rate(lab->world));
        carom_body_state s = cm_lab_get(lab, ball);
        if (s.linear_velocity.y < 0.0f) {
            if (down && top > 0.0) {
                return top;
            }
        } else {
            down = true;
            // Where it would come to from here: ticks seldom meet the top.
            top = fmax(top, (double)s.position.y);
        }
    }
    return 0.0;
}

ParameterizedTest(peak_case *c, restitution, peaks)
{
    for (int i = 0; i < 6; i++) {
        double radius = 0.1, height = (double)c->height * (1.0 + 0.043 * i);
        carom_world_def def = cm_lab_def(c->rate, 8);
        def.solver.soft.substeps = c->substeps;
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.restitution = c->restitution;
        carom_body_id ball =
            cm_lab_ball(&lab, cm_vec(0, (float)(height + radius), 0), (float)radius);
        double before = height, share = (double)c->restitution * (double)c->restitution;
        for (int peak = 0; peak < 6 && share * before > 0.2; peak++) {
            double top = next_peak(&lab, ball) - radius;
            // A tick may miss the top by g dt^2 / 8.
            double miss = G / (8.0 * c->rate * c->rate) / (share * before);
            cm_within(top / (share * before), 0.99 - miss, 1.01, "peak %d at %u Hz / %u from %g m",
                      peak + 1, c->rate, c->substeps, height);
            before = top;
        }
        cm_lab_close(&lab);
    }
}

typedef struct part_case {
    uint32_t rate;
    float restitution;
    carom_vec3 half;
    bool capsule;
} part_case;

ParameterizedTestParameters(restitution, flat_bodies_part)
{
    static part_case cases[] = {
        {30, 0.5f, {0.5f, 0.5f, 0.5f}, false},  {60, 0.5f, {0.5f, 0.5f, 0.5f}, false},
        {60, 0.9f, {1.0f, 0.1f, 0.4f}, false},  {60, 1.0f, {0.2f, 0.2f, 0.2f}, false},
        {120, 0.5f, {0.5f, 0.2f, 0.5f}, false}, {240, 0.8f, {0.5f, 0.5f, 0.5f}, false},
        {60, 0.5f, {0.8f, 0.2f, 0.2f}, true},   {60, 1.0f, {0.3f, 0.2f, 0.2f}, true},
        {240, 0.7f, {0.8f, 0.2f, 0.2f}, true},
    };
    return cr_make_param_array(part_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(part_case *c, restitution, flat_bodies_part)
{
    for (int i = 0; i < 6; i++) {
        double height = 1.0 + 0.031 * i;
        carom_world_def def = cm_lab_def(c->rate, 8);
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.restitution = c->restitution;
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
        shape.half_extents = c->half;
        body.position.y = (float)height + c->half.y;
        if (c->capsule) {
            shape.type = CAROM_SHAPE_CAPSULE;
            shape.radius = c->half.y;
            shape.half_height = c->half.x;
            shape.orientation = (carom_quat){0.0f, 0.0f, 0.70710678f, 0.70710678f};
        }
        carom_body_id id = cm_lab_add(&lab, &body, &shape);
        double met = 0.0, parted = 0.0, turn = 0.0;
        for (int tick = 0; tick < 4 * (int)c->rate && parted <= 0.0; tick++) {
            cm_lab_run(&lab, 1.0 / c->rate);
            carom_body_state s = cm_lab_get(&lab, id);
            if (s.linear_velocity.y > 0.1f) {
                double up = (double)(s.position.y - c->half.y);
                parted =
                    sqrt((double)s.linear_velocity.y * (double)s.linear_velocity.y + 2 * G * up);
                turn = (double)cm_length(s.angular_velocity);
            }
        }
        met = sqrt(2.0 * G * height);
        double e = (double)c->restitution;
        cm_within(parted / met, 0.97 * e, 1.03 * e, "e of %g at %u Hz from %g m", e, c->rate,
                  height);
        cm_within(turn, 0.0, 0.02 * met, "rad/s after it at %u Hz", c->rate);
        cm_lab_close(&lab);
    }
}

typedef struct limit {
    float speed;
    carom_solver_type solver;
    carom_impulse_model model;
} limit;

ParameterizedTestParameters(restitution, threshold)
{
    static limit cases[] = {
        {0.2f, CAROM_SOLVER_SOFT, CAROM_IMPULSE_INTERPOLATED},
        {0.5f, CAROM_SOLVER_SOFT, CAROM_IMPULSE_INTERPOLATED},
        {1.0f, CAROM_SOLVER_SOFT, CAROM_IMPULSE_INTERPOLATED},
        {2.0f, CAROM_SOLVER_SOFT, CAROM_IMPULSE_INTERPOLATED},
        {4.0f, CAROM_SOLVER_SOFT, CAROM_IMPULSE_INTERPOLATED},
        {0.5f, CAROM_SOLVER_IMPULSE, CAROM_IMPULSE_INTERPOLATED},
        {2.0f, CAROM_SOLVER_IMPULSE, CAROM_IMPULSE_NORMAL},
        {1.0f, CAROM_SOLVER_IMPULSE, CAROM_IMPULSE_CIRCLE},
    };
    return cr_make_param_array(limit, cases, sizeof cases / sizeof cases[0]);
}

// A ball meets a fixed one above which it comes straight down.
ParameterizedTest(limit *c, restitution, threshold)
{
    for (int i = 0; i < 2; i++) {
        double met = (double)c->speed * (i == 0 ? 0.9 : 1.1), parted = 0.0;
        carom_world_def def = cm_lab_def(240, 8);
        def.gravity = cm_vec(0, 0, 0);
        def.restitution_combine = CAROM_COMBINE_PRODUCT;
        def.solver.type = c->solver;
        def.solver.impulse.model = c->model;
        def.solver.soft.restitution_threshold = c->speed;
        def.solver.impulse.restitution_threshold = c->speed;
        cm_lab lab = cm_lab_open(&def);
        carom_body_def fixed = carom_default_body_def();
        fixed.type = CAROM_BODY_STATIC;
        carom_shape_def sphere = cm_lab_shape(&lab, CAROM_SHAPE_SPHERE);
        sphere.radius = 0.1f;
        sphere.restitution = 1.0f;
        cm_lab_add(&lab, &fixed, &sphere);
        lab.surface.restitution = 0.5f;
        carom_body_id ball = cm_lab_ball(&lab, cm_vec(0, 0.3f, 0), 0.1f);
        cm_lab_set_velocity(&lab, ball, cm_vec(0, (float)-met, 0), cm_vec(0, 0, 0));
        cm_lab_run(&lab, 3.0);
        parted = (double)cm_lab_get(&lab, ball).linear_velocity.y;
        cm_within(parted / met, i == 0 ? 0.0 : 0.49, i == 0 ? 0.01 : 0.51,
                  "e of .5 where %g m/s meet, threshold %g", met, (double)c->speed);
        cm_lab_close(&lab);
    }
}
