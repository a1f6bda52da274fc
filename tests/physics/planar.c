// Planar worlds. Bodies are sheets: a ball is a disc of mass d pi r^2 and moment m r^2 / 2, which
// rolls down at 2/3 g sin; a square of side a has m a^2 / 6. Nothing leaves the plane or turns out
// of it, whatever strikes it. Source: any text book of mechanics.
#include "tests/physics/physics.h"

#define G 9.81

cm_law(planar, sheets, ALL_SOLVERS, 2, 30)
{
    double slope = cm_draw(c, 0.05, 0.4), k = 1.0 / sqrt(1.0 + slope * slope);
    float r = (float)cm_draw(c, 0.05, 1.0), density = (float)cm_draw(c, 1.0, 500.0);
    carom_world_def def = cm_case_def(c, 16);
    def.planar = true;
    def.gravity = cm_vec((float)(G * slope * k), (float)(-G * k), 0);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 0.8f;
    lab.surface.density = density;
    carom_body_id disc = cm_lab_ball(&lab, cm_vec(0, r, 0), r);
    carom_body_id square = cm_lab_box(&lab, cm_vec(-10, 40, 0), cm_vec(r, r, r));
    double m = (double)(density * r * r);
    cm_within((double)cm_lab_get(&lab, disc).mass / (CM_PI * m), 0.9999, 1.0001, "of a disc");
    cm_within(cm_lab_inertia(&lab, disc, 2) / (CM_PI * m * (double)(r * r) / 2.0), 0.9999, 1.0001,
              "of its moment");
    cm_within((double)cm_lab_get(&lab, square).mass / (4.0 * m), 0.9999, 1.0001, "of a square");
    cm_within(cm_lab_inertia(&lab, square, 2) / (16.0 * m * (double)(r * r) / 6.0), 0.9999, 1.0001,
              "of its moment");
    cm_lab_run(&lab, 0.5);
    double first = (double)cm_lab_get(&lab, disc).linear_velocity.x;
    cm_lab_run(&lab, 1.0);
    double a = (double)cm_lab_get(&lab, disc).linear_velocity.x - first;
    if (c->solver != CAROM_SOLVER_IMPULSE) {
        cm_within(a / (2.0 / 3.0 * (double)def.gravity.x), 0.98, 1.02, "of 2/3 g sin, r %g",
                  (double)r);
    }
    cm_lab_close(&lab);
}

cm_law(planar, stays_in_the_plane, ALL_SOLVERS, 2, 30)
{
    carom_world_def def = cm_case_def(c, 16);
    def.planar = true;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.restitution = 0.5f;
    carom_body_id ids[6];
    for (int i = 0; i < 6; i++) {
        float r = (float)cm_draw(c, 0.1, 0.4);
        carom_vec3 at = cm_vec((float)cm_draw(c, -0.5, 0.5), 0.6f + (float)i, 0.05f * (float)i);
        ids[i] = i % 2 == 0 ? cm_lab_ball(&lab, at, r) : cm_lab_box(&lab, at, cm_vec(r, r, 0.5f));
        cm_lab_set_velocity(&lab, ids[i], cm_vec(0, -2, 3), cm_vec(1, 2, 3));
    }
    cm_lab_run(&lab, 3.0);
    for (int i = 0; i < 6; i++) {
        carom_body_state s = cm_lab_get(&lab, ids[i]);
        cm_within((double)s.position.z - 0.05 * i, -1e-6, 1e-6, "m out of the plane");
        cm_within(fabs((double)s.angular_velocity.x) + fabs((double)s.angular_velocity.y) +
                      fabs((double)s.orientation.x) + fabs((double)s.orientation.y),
                  0.0, 1e-6, "turned out of it");
    }
    cm_lab_close(&lab);
}
