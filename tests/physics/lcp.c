// What the lcp solver keeps. A torque tau that is held on a free body adds tau t to its angular
// momentum, whatever its inertias (Euler). With the integration `energy` mechanisms that nothing
// touches keep their energy, and those that hang on nothing their momenta: a joint does no work
// (d'Alembert); what lands does not bounce for it.
#include "tests/physics/physics.h"

#define G 9.81

static carom_dvec3 momentum_under(const cm_lab *lab, carom_body_id body, carom_vec3 torque,
                                  double t)
{
    carom_dvec3 l = cm_lab_angular_momentum(lab, body);
    return (carom_dvec3){l.x - t * torque.x, l.y - t * torque.y, l.z - t * torque.z};
}

cm_law(lcp, held_torque, SOFT | LCP, 3, 40)
{
    carom_world_def def = cm_case_def(c, 4);
    def.gravity = cm_vec(0, 0, 0);
    cm_lab lab = cm_lab_open(&def);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_SPHERE);
    carom_vec3 torque = cm_vec((float)cm_draw(c, -3, 3), (float)cm_draw(c, -3, 3), 1.0f);
    body.has_mass = body.has_inertia = true;
    body.mass = 1.0f;
    body.inertia = cm_vec(1.0f, (float)cm_draw(c, 1.2, 2.0), (float)cm_draw(c, 2.0, 2.2));
    body.angular_velocity = cm_vec((float)cm_draw(c, -4, 4), (float)cm_draw(c, -4, 4), 2.0f);
    carom_body_id id = cm_lab_add(&lab, &body, &shape);
    carom_dvec3 first = momentum_under(&lab, id, torque, 0.0);
    cr_assert_eq(carom_body_set_force(lab.world, id, cm_vec(0, 0, 0), torque), CAROM_OK);
    cm_lab_run(&lab, 3.0);
    double t = (double)lround(3.0 * c->rate) / c->rate;
    carom_dvec3 last = momentum_under(&lab, id, torque, t);
    double off = hypot(hypot(last.x - first.x, last.y - first.y), last.z - first.z);
    cm_within(off / (t * (double)cm_length(torque)), 0.0, 0.001, "of tau t, off in L");
    cm_lab_close(&lab);
}

typedef struct rod_case {
    uint32_t rods, rate;
    carom_joint_type type;
    float aside; // m/s, of the last one: out of the plane
    bool hangs;  // on the world; else in empty space
} rod_case;

static carom_body_id make_rods(cm_lab *lab, const rod_case *c)
{
    carom_body_id before = {0};
    for (uint32_t i = 0; i < c->rods; i++) {
        carom_body_id id =
            cm_lab_box(lab, cm_vec((float)i + 0.5f, 2.0f, 0), cm_vec(0.5f, 0.05f, 0.08f));
        if (i > 0 || c->hangs) {
            cm_lab_joint(lab, c->type, before, id, cm_vec((float)i, 2.0f, 0), cm_vec(0, 0, 1));
        }
        before = id;
    }
    cm_lab_set_velocity(lab, before, cm_vec(0, c->hangs ? 0.0f : 3.0f, c->aside), cm_vec(0, 0, 0));
    return before;
}

static carom_dvec3 linear_momentum(const cm_lab *lab)
{
    carom_dvec3 sum = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < carom_world_body_slots(lab->world); i++) {
        carom_body_state s = cm_lab_get(lab, carom_world_body_at(lab->world, i));
        sum.x += (double)(s.mass * s.linear_velocity.x);
        sum.y += (double)(s.mass * s.linear_velocity.y);
        sum.z += (double)(s.mass * s.linear_velocity.z);
    }
    return sum;
}

ParameterizedTestParameters(lcp, energy_is_kept)
{
    static rod_case cases[] = {
        {1, 60, CAROM_JOINT_HINGE, 0.0f, true},  {2, 60, CAROM_JOINT_HINGE, 0.0f, true},
        {2, 60, CAROM_JOINT_BALL, 3.0f, true},   {3, 120, CAROM_JOINT_BALL, 2.0f, true},
        {5, 60, CAROM_JOINT_HINGE, 0.0f, true},  {3, 60, CAROM_JOINT_BALL, 3.0f, false},
        {4, 60, CAROM_JOINT_HINGE, 0.0f, false}, {10, 60, CAROM_JOINT_BALL, 3.0f, true},
    };
    return cr_make_param_array(rod_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(rod_case *c, lcp, energy_is_kept)
{
    carom_world_def def = cm_lab_def(c->rate, 16);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.integration = CAROM_INTEGRATION_ENERGY;
    def.gravity = cm_vec(0, c->hangs ? -(float)G : 0.0f, 0);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.density = 100.0f;
    lab.surface.mask = 0;
    carom_body_id last = make_rods(&lab, c);
    carom_dvec3 p0 = linear_momentum(&lab);
    cm_lab_run(&lab, 1.0 / c->rate); // the first step takes what the joints do not allow
    double mass = (double)cm_lab_get(&lab, last).mass, count = c->rods;
    double fall = c->hangs ? 0.5 * mass * G * count * count : 0.0, e0 = cm_lab_energy(&lab);
    double range = fall + cm_lab_kinetic(&lab), high = 0.0, low = 0.0;
    for (uint32_t tick = 0; tick < 20 * c->rate; tick++) {
        carom_world_step(lab.world);
        high = fmax(high, cm_lab_energy(&lab) - e0);
        low = fmin(low, cm_lab_energy(&lab) - e0);
    }
    cm_within(high / range, 0.0, 0.01, "gained of %u rods in 20 s, joint %d", c->rods,
              (int)c->type);
    cm_within(low / range, -0.01, 0.0, "lost of %u rods in 20 s, joint %d", c->rods, (int)c->type);
    if (!c->hangs) {
        carom_dvec3 p = linear_momentum(&lab);
        double off = hypot(hypot(p.x - p0.x, p.y - p0.y), p.z - p0.z);
        cm_within(off / hypot(hypot(p0.x, p0.y), p0.z), 0.0, 1e-4, "of its momentum, off");
    }
    cm_lab_close(&lab);
}

// Two jointed rods fall flat on a floor.
Test(lcp, energy_does_not_bounce)
{
    carom_world_def def = cm_lab_def(60, 16);
    def.solver.type = CAROM_SOLVER_LCP;
    def.solver.lcp.integration = CAROM_INTEGRATION_ENERGY;
    def.sleep = false;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    const rod_case rods = {2, 60, CAROM_JOINT_BALL, 0.0f, false};
    carom_body_id last = make_rods(&lab, &rods);
    cm_lab_set_velocity(&lab, last, cm_vec(0, 0, 0), cm_vec(0, 0, 0));
    cm_lab_run(&lab, 2.0);
    cm_within(cm_lab_fastest(&lab), 0.0, 0.01, "m/s of what lies");
    cm_lab_close(&lab);
}
