// The tyre of the lcp solver: under a side force F its contact slips across by (contact_slip +
// contact_slip_by_speed |u|) F, u the speed of its hub along the rolling direction, so the slip
// angle is F over the cornering stiffness (H. B. Pacejka, "Tyre and Vehicle Dynamics", 1.2: small
// slip). It grips along the rolling direction, so it rolls
// on, at 60 Hz and 10 m/s with up to a tenth of its speed lost in 3 s.
#include "tests/physics/physics.h"

#define G 9.81

cm_law(tyre, slips_by_its_stiffness, LCP, 4, 60)
{
    carom_world_def def = cm_case_def(c, 8);
    def.solver.lcp.friction_model = CAROM_FRICTION_BOX_ESTIMATED;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    double r = cm_draw(c, 0.15, 0.6), u = cm_draw(c, 0.5, 15.0), mass = cm_draw(c, 1.0, 500.0);
    double force = cm_draw(c, 0.1, 0.3) * mass * G, slip = cm_draw(c, 0.01, 0.3) / force;
    double by_speed = cm_draw(c, 0.001, 0.1) / force;
    carom_body_def body = carom_default_body_def();
    lab.surface.friction = 1.0f;
    carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_CYLINDER);
    shape.radius = (float)r;
    shape.half_height = 0.2f * (float)r;
    shape.contact_mode = CAROM_CONTACT_TYRE;
    shape.contact_axis = cm_vec(0, 1, 0); // its axle, which lies along z
    shape.contact_slip = (float)slip;
    shape.contact_slip_by_speed = (float)by_speed;
    body.has_mass = true;
    body.mass = (float)mass;
    body.position.y = (float)r;
    body.orientation = (carom_quat){0.70710678f, 0, 0, 0.70710678f};
    body.axis_locks = CAROM_LOCK_RX | CAROM_LOCK_RY;
    body.linear_velocity = cm_vec((float)u, 0, 0);
    body.angular_velocity = cm_vec(0, 0, (float)(-u / r));
    body.force = cm_vec(0, 0, (float)force);
    carom_body_id wheel = cm_lab_add(&lab, &body, &shape);
    cm_lab_run(&lab, 10.0);
    carom_vec3 v = cm_lab_get(&lab, wheel).linear_velocity;
    cm_within((double)v.x / u, 0.7, 1.03, "of its speed, %g m/s", u);
    cm_within((double)v.z / ((slip + by_speed * (double)v.x) * force), 0.97, 1.03,
              "of its slip, %g N, %g kg", force, mass);
    cm_lab_close(&lab);
}
