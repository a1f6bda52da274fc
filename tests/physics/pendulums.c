// Swinging. Two carts between three equal springs have the modes sqrt(k / m), both one way, and
// sqrt(3 k / m), one against the other; begun in one mode they stay in it (H. Goldstein, "Classical
// Mechanics", 6). Two rods on hinges follow the equations of the compound double pendulum, which
// are integrated beside them (ibid., 1: Lagrange). Joints do no work, so energy never grows.
#include "tests/physics/physics.h"

#define G 9.81

cm_law(pendulums, normal_modes, SOFT | LCP, 2, 30)
{
    double hertz = cm_draw(c, 0.3, 1.0), k, mass;
    float half = (float)cm_draw(c, 0.05, 0.3), density = (float)cm_draw(c, 100.0, 5000.0);
    for (int mode = 0; mode < 2; mode++) {
        carom_world_def def = cm_case_def(c, 8);
        def.gravity = cm_vec(0, 0, 0);
        cm_lab lab = cm_lab_open(&def);
        lab.surface.density = density;
        lab.surface.mask = 0;
        carom_body_id carts[2];
        carom_joint_def joint = carom_default_joint_def();
        for (int i = 0; i < 2; i++) {
            carom_vec3 at = cm_vec(2.0f * (float)i, 0, 0);
            carts[i] = cm_lab_box(&lab, at, cm_vec(half, half, half));
            joint.type = CAROM_JOINT_PRISMATIC;
            joint.body_b = carts[i];
            joint.anchor = at;
            joint.axis = cm_vec(1, 0, 0);
            cm_lab_join(&lab, &joint);
        }
        mass = (double)cm_lab_get(&lab, carts[0]).mass;
        k = mass * 4.0 * CM_PI * CM_PI * hertz * hertz;
        joint.type = CAROM_JOINT_DISTANCE;
        joint.spring = CAROM_SPRING_STIFFNESS;
        joint.spring_stiffness = (float)k;
        for (int i = 0; i < 3; i++) {
            joint.body_a = i == 0 ? (carom_body_id){0} : carts[i - 1];
            joint.body_b = i == 2 ? (carom_body_id){0} : carts[i];
            joint.anchor = cm_vec(2.0f * (float)(i - 1), 0, 0);
            joint.anchor_b = cm_vec(2.0f * (float)i, 0, 0);
            if (i == 2) { // the world is always a
                joint.body_a = (carom_body_id){0};
                joint.body_b = carts[1];
                joint.anchor = cm_vec(4, 0, 0);
                joint.anchor_b = cm_vec(2, 0, 0);
            }
            cm_lab_join(&lab, &joint);
        }
        float v = 0.5f * (float)hertz;
        cm_lab_set_velocity(&lab, carts[0], cm_vec(v, 0, 0), cm_vec(0, 0, 0));
        cm_lab_set_velocity(&lab, carts[1], cm_vec(mode == 0 ? v : -v, 0, 0), cm_vec(0, 0, 0));
        double want = hertz * (mode == 0 ? 1.0 : sqrt(3.0)), before = 0.0, first = 0.0, last = 0.0;
        double mixed = 0.0, most = 0.0;
        int ups = 0;
        for (uint32_t tick = 1; tick <= (uint32_t)(5.5 / want * c->rate); tick++) {
            carom_world_step(lab.world);
            double x = (double)cm_lab_get(&lab, carts[0]).position.x;
            double y = (double)cm_lab_get(&lab, carts[1]).position.x - 2.0;
            mixed = fmax(mixed, fabs(mode == 0 ? x - y : x + y));
            most = fmax(most, fabs(x));
            if (before < 0.0 && x >= 0.0) {
                last = (tick - x / (x - before)) / c->rate;
                first = ups++ == 0 ? last : first;
            }
            before = x;
        }
        cm_within((ups - 1) / (last - first) / want, 0.98, 1.02, "of mode %d, %g Hz", mode, want);
        cm_within(mixed / most, 0.0, 0.01, "of the other mode");
        cm_lab_close(&lab);
    }
}

typedef struct rods {
    double m1, m2, i1, i2, l, d; // kg, kg m^2 about the centres, m: length, half length
} rods;

// Second derivatives of the angles from straight down.
static void accelerate(const rods *r, const double s[4], double a[2])
{
    double diff = s[0] - s[1], m11 = r->i1 + r->m1 * r->d * r->d + r->m2 * r->l * r->l;
    double m12 = r->m2 * r->l * r->d * cos(diff), m22 = r->i2 + r->m2 * r->d * r->d;
    double turn = r->m2 * r->l * r->d * sin(diff);
    double f1 = -turn * s[3] * s[3] - (r->m1 * r->d + r->m2 * r->l) * G * sin(s[0]);
    double f2 = turn * s[2] * s[2] - r->m2 * r->d * G * sin(s[1]), det = m11 * m22 - m12 * m12;
    a[0] = (m22 * f1 - m12 * f2) / det;
    a[1] = (m11 * f2 - m12 * f1) / det;
}

static void advance(const rods *r, double s[4], double h) // the midpoint rule, in small steps
{
    double a[2], mid[4];
    accelerate(r, s, a);
    for (int i = 0; i < 2; i++) {
        mid[i] = s[i] + 0.5 * h * s[2 + i];
        mid[2 + i] = s[2 + i] + 0.5 * h * a[i];
    }
    accelerate(r, mid, a);
    for (int i = 0; i < 2; i++) {
        s[i] += h * mid[2 + i];
        s[2 + i] += h * a[i];
    }
}

cm_law(pendulums, double_pendulum, SOFT | LCP, 2, 30)
{
    double l = cm_draw(c, 0.2, 2.0), s[4] = {cm_draw(c, -1.5, 1.5), cm_draw(c, -1.5, 1.5), 0, 0};
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.mask = 0;
    carom_body_id ids[2];
    carom_joint_def joint = carom_default_joint_def();
    joint.type = CAROM_JOINT_HINGE;
    joint.axis = cm_vec(0, 0, 1);
    double x = 0.0, y = 0.0;
    for (int i = 0; i < 2; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
        shape.density = (float)cm_draw(c, 300.0, 3000.0);
        shape.half_extents = cm_vec(0.05f * (float)l, 0.5f * (float)l, 0.05f * (float)l);
        body.position =
            cm_vec((float)(x + 0.5 * l * sin(s[i])), (float)(y - 0.5 * l * cos(s[i])), 0);
        body.orientation = (carom_quat){0, 0, (float)sin(0.5 * s[i]), (float)cos(0.5 * s[i])};
        ids[i] = cm_lab_add(&lab, &body, &shape);
        joint.anchor = cm_vec((float)x, (float)y, 0);
        joint.body_a = i == 0 ? (carom_body_id){0} : ids[0];
        joint.body_b = ids[i];
        cm_lab_join(&lab, &joint);
        x += l * sin(s[i]), y -= l * cos(s[i]);
    }
    rods r = {.m1 = (double)cm_lab_get(&lab, ids[0]).mass,
              .m2 = (double)cm_lab_get(&lab, ids[1]).mass,
              .i1 = cm_lab_inertia(&lab, ids[0], 2),
              .i2 = cm_lab_inertia(&lab, ids[1], 2),
              .l = l,
              .d = 0.5 * l};
    // For three swings, about; the lcp solver, whose steps are whole ticks, for one.
    double seconds = (c->solver == CAROM_SOLVER_LCP ? 1.0 : 3.0) * sqrt(l);
    double worst = 0.0, e0 = cm_lab_energy(&lab), top = e0;
    for (uint32_t tick = 0; tick < (uint32_t)(seconds * c->rate); tick++) {
        carom_world_step(lab.world);
        for (int k = 0; k < 50; k++) {
            advance(&r, s, 0.02 / c->rate);
        }
        carom_vec3 p = cm_lab_get(&lab, ids[1]).position;
        double off_x = (double)p.x - (l * sin(s[0]) + 0.5 * l * sin(s[1]));
        double off_y = (double)p.y + (l * cos(s[0]) + 0.5 * l * cos(s[1]));
        worst = fmax(worst, hypot(off_x, off_y));
        top = fmax(top, cm_lab_energy(&lab));
    }
    cm_within(worst / l, 0.0, c->solver == CAROM_SOLVER_LCP ? 0.5 : 0.1,
              "of a rod's length from Lagrange's equations, rods of %g m", l);
    cm_within((top - e0) / ((r.m1 + 2.0 * r.m2) * G * l), -1e-3, 0.01,
              "of its weight's work gained");
    cm_lab_close(&lab);
}

// A pin that rubs: a torque of the force times its lever takes the same from each half of a swing,
// 2 lever / d, d from the pin to the centre of mass (a Coulomb oscillator: J. Den Hartog,
// "Mechanical Vibrations", 1934), changes no period, and holds what hangs aside by less than
// lever / d.
cm_law(pendulums, a_pin_rubs, SOFT, 4, 40)
{
    double l = cm_draw(c, 0.2, 2.0), d = 0.5 * l, begin = 0.2, part = cm_draw(c, 0.003, 0.012);
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.mask = 0;
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
    carom_joint_def joint = carom_default_joint_def();
    shape.density = (float)cm_draw(c, 100.0, 5000.0);
    shape.half_extents = cm_vec(0.05f * (float)l, 0.5f * (float)l, 0.05f * (float)l);
    body.position = cm_vec((float)(d * sin(begin)), (float)(-d * cos(begin)), 0);
    body.orientation = (carom_quat){0, 0, (float)sin(0.5 * begin), (float)cos(0.5 * begin)};
    joint.type = c->number % 2 ? CAROM_JOINT_BALL : CAROM_JOINT_HINGE;
    joint.axis = cm_vec(0, 0, 1);
    joint.friction = (float)(part * d);
    joint.body_b = cm_lab_add(&lab, &body, &shape);
    carom_joint_id pin = cm_lab_join(&lab, &joint);
    double mass = (double)cm_lab_get(&lab, joint.body_b).mass, before = 1.0, turned = begin;
    double inertia = cm_lab_inertia(&lab, joint.body_b, 2) + mass * d * d, first = 0.0, last = 0.0;
    double want = 2.0 * CM_PI * sqrt(inertia / (mass * G * d)) * (1.0 + begin * begin / 32.0);
    double energy = cm_lab_energy(&lab), gained = 0.0;
    int halves = 0;
    for (uint32_t tick = 1; halves < 9 && tick < (uint32_t)(6.0 * want * c->rate); tick++) {
        carom_world_step(lab.world);
        carom_vec3 p = cm_lab_get(&lab, joint.body_b).position;
        carom_vec3 v = cm_lab_get(&lab, joint.body_b).linear_velocity;
        double speed = (double)v.x, angle = atan2((double)p.x, -(double)p.y);
        if ((speed > 0.0) != (before > 0.0) && tick > 2) { // it turns round
            last = (tick - speed / (speed - before)) / c->rate;
            first = halves++ == 0 ? last : first;
            turned = fabs(angle);
        }
        before = speed;
        gained = fmax(gained, cm_lab_energy(&lab) - energy);
    }
    cm_within((begin - turned) / (halves * 2.0 * part), 0.95, 1.05, "of the formula's loss in %d",
              halves);
    cm_within(2.0 * (last - first) / (halves - 1) / want, 0.985, 1.015, "of the period");
    cm_within(gained / (mass * G * d), -1.0, 1e-4, "of its weight's work gained");
    cm_lab_run(&lab, 2.0 * want * (1.0 + begin / (4.0 * part)));
    carom_joint_state state = cm_lab_joint_get(&lab, pin);
    cm_within(fabs((double)state.value) < 1.0 ? cm_lab_fastest(&lab) / sqrt(G * d) : 1.0, 0.0,
              0.003, "of sqrt(g d): it hangs still");
    cm_lab_close(&lab);
}

// A lid that is held by more than it needs: by two hinges of one axis, or by one while its body is
// locked into the plane; it swings as the compound pendulum, and keeps its swing.
static void swing_lid(cm_case c, bool locked)
{
    double l = cm_draw(&c, 0.2, 2.0), begin = cm_draw(&c, 0.5, 1.5), wide = cm_draw(&c, 0.2, 2.0);
    double s[2] = {begin, 0.0}, worst = 0.0;
    carom_world_def def = cm_case_def(&c, 8);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.mask = 0;
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
    shape.density = (float)cm_draw(&c, 100.0, 5000.0);
    shape.half_extents = cm_vec(0.05f * (float)l, 0.5f * (float)l, 0.5f * (float)wide);
    body.position = cm_vec((float)(0.5 * l * sin(begin)), (float)(-0.5 * l * cos(begin)), 0);
    body.orientation = (carom_quat){0, 0, (float)sin(0.5 * begin), (float)cos(0.5 * begin)};
    body.axis_locks = locked ? CAROM_LOCK_Z | CAROM_LOCK_RX | CAROM_LOCK_RY : 0;
    carom_body_id lid = cm_lab_add(&lab, &body, &shape);
    for (int side = locked ? 1 : -1; side <= 1; side += 2) {
        cm_lab_joint(&lab, CAROM_JOINT_HINGE, (carom_body_id){0}, lid,
                     cm_vec(0, 0, 0.5f * (float)(side * wide)), cm_vec(0, 0, 1));
    }
    double mass = (double)cm_lab_get(&lab, lid).mass;
    double inertia = cm_lab_inertia(&lab, lid, 2) + 0.25 * mass * l * l;
    double pull = 0.5 * mass * G * l / inertia, e0 = cm_lab_energy(&lab), top = e0;
    for (uint32_t tick = 0; tick < (uint32_t)(10.0 * sqrt(l) * c.rate); tick++) {
        carom_world_step(lab.world);
        for (int k = 0; k < 50; k++) {
            double h = 0.02 / c.rate, mid = s[0] + 0.5 * h * s[1];
            double speed = s[1] - 0.5 * h * pull * sin(s[0]);
            s[1] -= h * pull * sin(mid);
            s[0] += h * speed;
        }
        carom_vec3 p = cm_lab_get(&lab, lid).position;
        double off = hypot((double)p.x - 0.5 * l * sin(s[0]), (double)p.y + 0.5 * l * cos(s[0]));
        worst = fmax(worst, off);
        top = fmax(top, cm_lab_energy(&lab));
    }
    cm_within(worst / l, 0.0, 0.05, "of a lid's length from its formula, %g m", l);
    cm_within((top - e0) / (mass * G * l), -1e-3, 0.01, "of its weight's work gained");
    cm_lab_close(&lab);
}

cm_law(pendulums, lids_held_twice, SOFT, 4, 30)
{
    swing_lid(*c, false);
    swing_lid(*c, true);
}
