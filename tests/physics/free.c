// What nothing touches. A projectile: x = x0 + v t + g t^2 / 2, whatever its size, mass and spin
// (Galilei); a blow J at a distance d from the centre of a free body leaves J / m and J d / I
// (Euler). A tick divided in n substeps of h ends at g t h / 2 from the parabola (semi-implicit
// Euler), within which it must lie. Sources: H. Goldstein, "Classical Mechanics", 1 and 5.
#include "tests/physics/physics.h"

#define G 9.81

cm_law(free, projectile, ALL_SOLVERS, 3, 60)
{
    carom_world_def def = cm_case_def(c, 8);
    double g = cm_draw(c, 1.0, 25.0), seconds = 2.0, spin = cm_draw(c, 0.1, 20.0);
    def.gravity = cm_vec(0, (float)-g, 0);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.density = (float)cm_draw(c, 10.0, 10000.0);
    carom_vec3 v = cm_vec((float)cm_draw(c, -30.0, 30.0), (float)cm_draw(c, -5.0, 30.0),
                          (float)cm_draw(c, -30.0, 30.0));
    carom_vec3 half = cm_vec((float)cm_draw(c, 0.02, 2.0), (float)cm_draw(c, 0.02, 2.0),
                             (float)cm_draw(c, 0.02, 2.0));
    carom_body_id box = cm_lab_box(&lab, cm_vec(0, 0, 0), half);
    cm_lab_set_velocity(&lab, box, v, cm_vec(0, 0, (float)spin));
    double l = cm_lab_angular_momentum(&lab, box).z;
    uint32_t ticks = (uint32_t)(seconds * c->rate);
    cm_lab_run(&lab, seconds);
    double t = (double)ticks / c->rate;
    carom_body_state s = cm_lab_get(&lab, box);
    double miss = 0.5 * g * t / c->rate, fall = (double)v.y * t - 0.5 * g * t * t;
    cm_within((double)s.position.y - fall, -1.003 * miss - 1e-3, 1.003 * miss + 1e-3,
              "m from the parabola, by g t h / 2 at most");
    cm_within(hypot((double)s.position.x - (double)v.x * t, (double)s.position.z - (double)v.z * t),
              0.0, 1e-3, "m aside");
    cm_within((double)s.linear_velocity.y - ((double)v.y - g * t), -2e-3, 2e-3, "m/s from v + g t");
    cm_within(cm_lab_angular_momentum(&lab, box).z / l, 0.9999, 1.0001, "of its spin");
    cm_lab_close(&lab);
}

cm_law(free, blow_off_centre, ALL_SOLVERS, 2, 40)
{
    carom_world_def def = cm_case_def(c, 8);
    def.gravity = cm_vec(0, 0, 0);
    cm_lab lab = cm_lab_open(&def);
    lab.surface.density = (float)cm_draw(c, 10.0, 10000.0);
    double half = cm_draw(c, 0.05, 5.0), d = cm_draw(c, -1.0, 1.0) * half;
    carom_body_id rod =
        cm_lab_box(&lab, cm_vec(0, 0, 0), cm_vec((float)half, 0.1f * (float)half, 0.02f));
    double mass = (double)cm_lab_get(&lab, rod).mass, inertia = cm_lab_inertia(&lab, rod, 2);
    double blow = mass * cm_draw(c, 0.1, 10.0);
    cr_assert_eq(
        carom_body_apply_impulse(lab.world, rod, cm_vec(0, (float)blow, 0), cm_vec((float)d, 0, 0)),
        CAROM_OK);
    cm_lab_run(&lab, 0.5);
    carom_body_state s = cm_lab_get(&lab, rod);
    cm_within((double)s.linear_velocity.y / (blow / mass), 0.9999, 1.0001, "of J / m");
    cm_within((double)s.angular_velocity.z - blow * d / inertia, -1e-3 * blow * half / inertia,
              1e-3 * blow * half / inertia, "rad/s from J d / I");
    cm_lab_close(&lab);
}

// A ball that meets a free rod off its centre, along its normal and without friction: the points
// part at e of the speed at which they met, by an impulse of (1 + e) v / (1/m1 + 1/m2 + d^2/I).
// The lcp solver has no restitution; the volume solver's contact is a spring of its own.
cm_law(free, ball_meets_rod, SOFT | IMPULSE, 4, 80)
{
    carom_world_def def = cm_case_def(c, 8);
    def.gravity = cm_vec(0, 0, 0);
    def.solver.impulse.model = CAROM_IMPULSE_NORMAL;
    cm_lab lab = cm_lab_open(&def);
    double half = cm_draw(c, 0.2, 3.0), d = cm_draw(c, -0.95, 0.95) * half;
    double e = cm_draw(c, 0.0, 1.0), r = 0.1 * half, speed = cm_draw(c, 2.0, 8.0);
    lab.surface.restitution = (float)e;
    lab.surface.friction = 0.0f;
    carom_body_id rod = cm_lab_box(&lab, cm_vec(0, 0, 0),
                                   cm_vec((float)half, 0.1f * (float)half, 0.1f * (float)half));
    lab.surface.density = (float)cm_draw(c, 200.0, 50000.0);
    carom_body_id ball =
        cm_lab_ball(&lab, cm_vec((float)d, (float)(0.1 * half + r + 0.3 * speed), 0), (float)r);
    cm_lab_set_velocity(&lab, ball, cm_vec(0, -(float)speed, 0), cm_vec(0, 0, 0));
    double m1 = (double)cm_lab_get(&lab, ball).mass, m2 = (double)cm_lab_get(&lab, rod).mass;
    double inertia = cm_lab_inertia(&lab, rod, 2);
    double impulse = (1.0 + e) * speed / (1.0 / m1 + 1.0 / m2 + d * d / inertia);
    cm_lab_run(&lab, 0.3 + 3.0 / c->rate);
    carom_body_state s = cm_lab_get(&lab, rod), b = cm_lab_get(&lab, ball);
    cm_within((double)s.linear_velocity.y * -m2 / impulse, 0.98, 1.02,
              "of the impulse on the rod, e %g, m1 / m2 %g, d %g", e, m1 / m2, d / half);
    cm_within(((double)b.linear_velocity.y + speed) * m1 / impulse, 0.98, 1.02, "on the ball");
    cm_within((double)s.angular_velocity.z * -inertia - impulse * d, -0.02 * impulse * half,
              0.02 * impulse * half, "N m s from J d");
    cm_lab_close(&lab);
}
