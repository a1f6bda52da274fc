// Motors, limits and springs of joints, each against its formula: a motor of torque M turns a wheel
// of inertia I by M t / I until it has its speed, and holds what pulls with less than M; a limit
// stops what falls; a spring of k N/m under m sags by m g / k and swings at sqrt(k / m) about
// there. Sources: any text book of mechanics; frequencies and decay, L. Meirovitch, "Fundamentals
// of Vibrations", 2.
#include "tests/physics/physics.h"

#define G 9.81

static carom_joint_def to_world(carom_joint_type type, carom_body_id body, carom_vec3 anchor,
                                carom_vec3 axis)
{
    carom_joint_def joint = carom_default_joint_def();
    joint.type = type;
    joint.body_b = body;
    joint.anchor = joint.anchor_b = anchor;
    joint.axis = axis;
    return joint;
}

cm_law(drives, motor_spins_up, SOFT | LCP, 3, 40)
{
    for (int i = 0; i < 2; i++) { // a hinge, a prismatic joint
        carom_world_def def = cm_case_def(c, 8);
        def.gravity = cm_vec(0, 0, 0);
        cm_lab lab = cm_lab_open(&def);
        lab.surface.density = (float)cm_draw(c, 50.0, 5000.0);
        carom_vec3 half = cm_vec((float)cm_draw(c, 0.05, 1.0), (float)cm_draw(c, 0.05, 1.0),
                                 (float)cm_draw(c, 0.05, 1.0));
        carom_body_id body = cm_lab_box(&lab, cm_vec(0, 0, 0), half);
        carom_joint_def joint = to_world(i == 0 ? CAROM_JOINT_HINGE : CAROM_JOINT_PRISMATIC, body,
                                         cm_vec(0, 0, 0), cm_vec(0, 0, 1));
        double inertia =
            i == 0 ? cm_lab_inertia(&lab, body, 2) : (double)cm_lab_get(&lab, body).mass;
        double speed = cm_draw(c, 1.0, 20.0);
        joint.has_motor = true;
        joint.motor_velocity = (float)speed;
        joint.motor_max = (float)(inertia * speed); // there in 1 s
        carom_joint_id id = cm_lab_join(&lab, &joint);
        cm_lab_run(&lab, 0.5);
        double t = round(0.5 * c->rate) / c->rate;
        cm_within((double)cm_lab_joint_get(&lab, id).rate / speed, 0.99 * t, 1.01 * t,
                  "of its speed in half the time, joint %d", i);
        cm_lab_run(&lab, 1.0);
        cm_within((double)cm_lab_joint_get(&lab, id).rate / speed, 0.999, 1.001, "of its speed");
        cm_lab_close(&lab);
    }
}

// The lcp solver's rows yield: under a torque M an arm creeps by epsilon h M rad/s (lcp/README.md).
cm_law(drives, motor_holds, SOFT | LCP, 3, 40)
{
    double half = cm_draw(c, 0.1, 2.0), density = cm_draw(c, 50.0, 5000.0), h = 1.0 / c->rate;
    for (int i = 0; i < 2; i++) { // enough, too little
        carom_world_def def = cm_case_def(c, 8);
        cm_lab lab = cm_lab_open(&def);
        lab.surface.density = (float)density;
        carom_body_id arm = cm_lab_box(&lab, cm_vec((float)half, 0, 0),
                                       cm_vec((float)half, 0.1f * (float)half, 0.1f * (float)half));
        double mass = (double)cm_lab_get(&lab, arm).mass, torque = mass * G * half;
        double about = cm_lab_inertia(&lab, arm, 2) + mass * half * half;
        carom_joint_def joint = to_world(CAROM_JOINT_HINGE, arm, cm_vec(0, 0, 0), cm_vec(0, 0, 1));
        joint.has_motor = true;
        joint.motor_max = (float)(torque * (i == 0 ? 1.05 : 0.8));
        carom_joint_id id = cm_lab_join(&lab, &joint);
        if (i == 0) {
            cm_lab_run(&lab, 5.0);
            bool lcp = c->solver == CAROM_SOLVER_LCP;
            double creep = lcp ? (double)def.solver.lcp.epsilon * h * torque : 0.0;
            cm_within((double)cm_lab_joint_get(&lab, id).value,
                      -0.5 * h * h * torque / about - 5.5 * creep - 1e-4, 0.0005,
                      "rad that a held arm of %g m and %g kg sank in 5 s", half, mass);
        } else {
            double w = 0.0, angle = 0.0; // by the formula, in steps of a fifth
            for (int k = 0; k < (int)(0.3 * c->rate) * 5; k++) {
                w -= 0.2 * h * torque * (cos(angle) - 0.8) / about;
                angle += 0.2 * h * w;
            }
            cm_lab_run(&lab, (int)(0.3 * c->rate) * h);
            cm_within((double)cm_lab_joint_get(&lab, id).rate / w, 0.95, 1.05,
                      "of the fall that .8 of the torque leaves, arm %g m", half);
        }
        cm_lab_close(&lab);
    }
}

cm_law(drives, limits_stop, SOFT | LCP, 3, 40)
{
    double half = cm_draw(c, 0.1, 1.0), angle = cm_draw(c, 0.2, 1.3), way = cm_draw(c, 0.1, 1.0);
    for (int i = 0; i < 2; i++) { // a hinge, a prismatic joint
        carom_world_def def = cm_case_def(c, 8);
        cm_lab lab = cm_lab_open(&def);
        lab.surface.density = (float)cm_draw(c, 50.0, 5000.0);
        carom_vec3 size = cm_vec((float)half, 0.1f * (float)half, 0.1f * (float)half);
        carom_body_id arm = cm_lab_box(&lab, cm_vec((float)half, 0, 0), size);
        carom_joint_def joint =
            to_world(i == 0 ? CAROM_JOINT_HINGE : CAROM_JOINT_PRISMATIC, arm, cm_vec(0, 0, 0),
                     i == 0 ? cm_vec(0, 0, 1) : cm_vec(0, 1, 0));
        joint.has_limits = true;
        joint.lower = (float)(i == 0 ? -angle : -way);
        joint.upper = 1.0f;
        carom_joint_id id = cm_lab_join(&lab, &joint);
        double e0 = cm_lab_energy(&lab), top = e0, past = 0.0;
        double m = (double)cm_lab_get(&lab, arm).mass;
        for (uint32_t tick = 0; tick < 4 * c->rate; tick++) {
            carom_world_step(lab.world);
            top = fmax(top, cm_lab_energy(&lab));
            past = fmax(past, (double)(joint.lower - cm_lab_joint_get(&lab, id).value));
        }
        carom_joint_state s = cm_lab_joint_get(&lab, id);
        cm_within((double)(s.value - joint.lower), -0.005, 0.005, "rad or m from the limit %g",
                  (double)joint.lower);
        cm_within((double)s.rate, -0.01, 0.01, "rad/s or m/s at rest");
        cm_within(past, 0.0, 0.2, "rad or m past it at most");
        cm_within((top - e0) / (m * G * (i == 0 ? half : way)), -1e-3, 0.01, "of its fall gained");
        cm_lab_close(&lab);
    }
}

// Implicit springs damp by themselves: at 60 Hz one of f Hz loses as if its damping ratio were
// pi f / 60 (half of omega h) higher. What is measured is frequency and rest.
cm_law(drives, springs_sag_and_swing, SOFT | LCP, 3, 40)
{
    float half = (float)cm_draw(c, 0.05, 0.5), density = (float)cm_draw(c, 50.0, 5000.0);
    double hertz = cm_draw(c, 0.4, 1.5), omega = 2.0 * CM_PI * hertz, sag = G / (omega * omega);
    for (int i = 0; i < 2; i++) { // without damping, with it
        carom_world_def def = cm_case_def(c, 8);
        cm_lab lab = cm_lab_open(&def);
        lab.surface.density = density;
        carom_body_id body = cm_lab_box(&lab, cm_vec(0, 0, 0), cm_vec(half, half, half));
        double mass = (double)cm_lab_get(&lab, body).mass;
        carom_joint_def joint =
            to_world(CAROM_JOINT_PRISMATIC, body, cm_vec(0, 0, 0), cm_vec(0, 1, 0));
        joint.spring = CAROM_SPRING_STIFFNESS;
        joint.spring_stiffness = (float)(mass * omega * omega);
        joint.spring_damping = (float)(i == 0 ? 0.0 : 1.2 * mass * omega);
        carom_joint_id id = cm_lab_join(&lab, &joint);
        // It swings about -sag from 0: up through -sag once a period.
        double first = 0.0, last = 0.0, before = 0.0, least = 0.0;
        int ups = 0;
        for (uint32_t tick = 1; tick <= (uint32_t)(4.5 / hertz * c->rate); tick++) {
            carom_world_step(lab.world);
            double x = (double)cm_lab_joint_get(&lab, id).value + sag;
            least = fmin(least, x);
            if (before < 0.0 && x >= 0.0) {
                last = (tick - x / (x - before)) / c->rate;
                first = ups++ == 0 ? last : first;
            }
            before = x;
        }
        if (i == 0) {
            cm_within((ups - 1) / (last - first) / hertz, 0.98, 1.02,
                      "of its frequency, %g Hz, %g kg", hertz, mass);
            cm_within(least / sag, -1.03, -0.5, "of its sag, the lowest point below the middle");
        } else {
            cm_within(before / sag, -0.01, 0.01, "of m g / k, off where it rests, %g Hz", hertz);
        }
        cm_lab_close(&lab);
    }
}
