// Friction of the lcp solver's `cone`: a box holds on a slope of any heading while tan(slope) < mu,
// and slides above it at g (sin - mu cos). Source: any text book of mechanics.
#include "tests/physics/physics.h"

#define G 9.81

typedef struct heading_case {
    uint32_t rate;
    float heading, friction; // degrees
} heading_case;

ParameterizedTestParameters(lcp, friction_cone)
{
    static heading_case cases[] = {
        {60, 0.0f, 0.5f},   {60, 20.0f, 0.5f}, {60, 40.0f, 0.5f},
        {240, 45.0f, 0.5f}, {60, 70.0f, 0.3f},
    };
    return cr_make_param_array(heading_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(heading_case *c, lcp, friction_cone)
{
    for (int i = 0; i < 2; i++) {
        double mu = (double)c->friction, slope = mu * (i == 0 ? 0.95 : 1.3);
        double a = (double)c->heading * CM_PI / 180.0, cosine = 1.0 / sqrt(1.0 + slope * slope);
        carom_world_def def = cm_lab_def(c->rate, 8);
        def.solver.type = CAROM_SOLVER_LCP;
        def.solver.lcp.friction_model = CAROM_FRICTION_CONE;
        def.sleep = false;
        def.gravity = cm_vec((float)(G * slope * cosine * cos(a)), (float)(-G * cosine),
                             (float)(G * slope * cosine * sin(a)));
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.friction = c->friction;
        lab.surface.density = 100.0f;
        carom_body_id id = cm_lab_box(&lab, cm_vec(0, 0.1f, 0), cm_vec(0.3f, 0.1f, 0.3f));
        cm_lab_run(&lab, 2.0);
        carom_vec3 v = cm_lab_get(&lab, id).linear_velocity;
        double speed = hypot((double)v.x, (double)v.z);
        double slides = 2.0 * G * cosine * (slope - mu);
        cm_within(i == 0 ? speed : speed / slides, i == 0 ? 0.0 : 0.97, i == 0 ? 0.005 : 1.03,
                  "of m/s, or of g (sin - mu cos), on %.2f of mu, heading %g", slope / mu,
                  (double)c->heading);
        cm_lab_close(&lab);
    }
}
