// What moves others. A platform of speed V takes a box along by friction, v = mu g t, until it has
// V; a lift that rises with an acceleration a bears m (g + a); what a pointer or any body that
// reports forces feels is what it does to others, the other way (Newton's third law). A turntable
// of rate W: a box on it at r holds while W^2 r < mu g; a ball that rolls on it without sliding
// goes round in circles at 2/7 W, wherever it is let go (K. Weltner, "Stable circular orbits of
// freely moving balls on rotating discs", Am. J. Phys. 47, 1979).
#include "tests/physics/physics.h"

#define G 9.81

static carom_body_id platform(cm_lab *lab, carom_vec3 v, carom_vec3 w)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_KINEMATIC;
    body.position = cm_vec(0, -1, 0);
    body.linear_velocity = v;
    body.angular_velocity = w;
    body.report_force = true;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(50, 1, 50);
    shape.friction = 1.0f;
    return cm_lab_add(lab, &body, &shape);
}

cm_law(movers, platform_takes_along, SOFT | LCP | VOLUME, 3, 40)
{
    carom_world_def def = cm_case_def(c, 8);
    double mu = cm_draw(c, 0.2, 0.8), v = cm_draw(c, 1.0, 5.0), heading = cm_draw(c, 0.0, 6.28);
    def.solver.volume.friction_static = (float)mu;
    cm_lab lab = cm_lab_open(&def);
    platform(&lab, cm_vec((float)(v * cos(heading)), 0, (float)(v * sin(heading))),
             cm_vec(0, 0, 0));
    lab.surface.friction = (float)mu;
    lab.surface.density = (float)cm_draw(c, 100.0, 3000.0);
    float half = (float)cm_draw(c, 0.1, 1.0);
    carom_body_id box =
        cm_lab_box(&lab, cm_vec(0, 0.2f * half, 0), cm_vec(half, 0.2f * half, half));
    double t = round(0.6 * v / (mu * G) * c->rate) / c->rate;
    cm_lab_run(&lab, t);
    double speed = (double)cm_length(cm_lab_get(&lab, box).linear_velocity);
    cm_within(speed / (mu * G * t), 0.93, 1.05, "of mu g t, half %g m, mu %g", (double)half, mu);
    cm_lab_run(&lab, v / (mu * G) + 0.5);
    cm_within((double)cm_length(cm_lab_get(&lab, box).linear_velocity) / v, 0.995, 1.005,
              "of the platform's speed");
    cm_lab_close(&lab);
}

cm_law(movers, lift_bears_m_g_plus_a, SOFT | LCP | VOLUME, 3, 40)
{
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    carom_body_id lift = platform(&lab, cm_vec(0, 0, 0), cm_vec(0, 0, 0));
    lab.surface.density = (float)cm_draw(c, 100.0, 3000.0);
    float half = (float)cm_draw(c, 0.1, 1.0);
    carom_body_id box = cm_lab_box(&lab, cm_vec(0, half, 0), cm_vec(half, half, half));
    double a = cm_draw(c, -5.0, 5.0), m = (double)cm_lab_get(&lab, box).mass, sum = 0.0;
    cm_lab_run(&lab, 1.0);
    for (uint32_t tick = 1; tick <= c->rate; tick++) {
        cm_lab_set_velocity(&lab, lift, cm_vec(0, (float)(a * tick / c->rate), 0), cm_vec(0, 0, 0));
        carom_world_step(lab.world);
        sum -= tick > c->rate / 2 ? (double)cm_lab_get(&lab, lift).contact_force.y : 0.0;
    }
    cm_within(sum / (c->rate - c->rate / 2) / (m * (G + a)), 0.98, 1.02, "of m (g + a), a %g", a);
    cm_within((double)cm_lab_get(&lab, box).linear_velocity.y / a, 0.97, 1.03, "of its speed");
    cm_lab_close(&lab);
}

// A pointer pushes a box over the floor: it feels mu m g back, all along.
cm_law(movers, pointer_feels_what_it_pushes, SOFT | LCP | VOLUME, 3, 40)
{
    carom_world_def def = cm_case_def(c, 8);
    double mu = cm_draw(c, 0.2, 0.8), v = cm_draw(c, 0.2, 2.0), sum = 0.0, back = 0.0;
    def.solver.volume.friction_static = (float)mu;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = (float)mu;
    lab.surface.density = (float)cm_draw(c, 100.0, 3000.0);
    float half = (float)cm_draw(c, 0.1, 0.5);
    carom_body_id box = cm_lab_box(&lab, cm_vec(0, half, 0), cm_vec(half, half, half));
    double m = (double)cm_lab_get(&lab, box).mass;
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_KINEMATIC;
    body.pointer = 0;
    body.position = cm_vec(-1.5f * half - 0.01f, 0.5f * half, 0);
    body.linear_velocity = cm_vec((float)v, 0, 0);
    shape.radius = 0.5f * half;
    shape.friction = 0.0f;
    carom_body_id pointer = cm_lab_add(&lab, &body, &shape);
    cm_lab_run(&lab, 1.0);
    for (uint32_t tick = 0; tick < c->rate; tick++) {
        carom_world_step(lab.world);
        carom_vec3 f = cm_lab_get(&lab, pointer).contact_force;
        sum -= (double)f.x / c->rate;
        back += fabs((double)f.y) / c->rate;
    }
    bool volume = c->solver == CAROM_SOLVER_VOLUME; // its box hops on the pointer's spring
    cm_within(sum / (mu * m * G), volume ? 0.6 : 0.97, volume ? 1.15 : 1.03,
              "of mu m g, %g m/s, mu %g, half %g m", v, mu, (double)half);
    cm_within(back / (mu * m * G), 0.0, volume ? 0.5 : 0.02, "of it, across");
    cm_within((double)cm_lab_get(&lab, box).linear_velocity.x / v, 0.98, 1.02, "of its speed");
    cm_lab_close(&lab);
}

// Friction knows velocities, not where a body lay: in a tick of h it goes straight on, so a box
// drifts outward by W^2 h / 2 of its radius a second.
cm_law(movers, box_on_a_turntable, SOFT | LCP | VOLUME, 3, 40)
{
    double rate = cm_draw(c, 0.5, 3.0), mu = 0.6, r = cm_draw(c, 0.5, 2.0), seconds = 3.0;
    carom_world_def def = cm_case_def(c, 8);
    def.solver.volume.friction_static = (float)mu;
    cm_lab lab = cm_lab_open(&def);
    platform(&lab, cm_vec(0, 0, 0), cm_vec(0, (float)rate, 0));
    lab.surface.friction = (float)mu;
    float half = 0.1f;
    carom_body_id box =
        cm_lab_box(&lab, cm_vec((float)r, 0.3f * half, 0), cm_vec(half, 0.3f * half, half));
    cm_lab_set_velocity(&lab, box, cm_vec(0, 0, (float)(-rate * r)), cm_vec(0, (float)rate, 0));
    cm_lab_run(&lab, seconds);
    carom_vec3 p = cm_lab_get(&lab, box).position;
    double out = hypot((double)p.x, (double)p.z) / r, share = rate * rate * r / (mu * G);
    double drift = rate * rate * seconds / (2.0 * c->rate);
    if (share < 0.7) {
        cm_within(out, 0.98, 1.01 + 1.5 * drift, "of its radius, %g m at %g rad/s", r, rate);
    } else if (share > 1.15) {
        cm_within(out, 1.1 + drift, 1e6, "of its radius, %g m at %g rad/s, too fast", r, rate);
    }
    cm_lab_close(&lab);
}

// The ball begins with the velocity of a circle about the axis, and the spin that rolls on the
// disc: v + w x (0, -r_ball, 0) = W x r.
cm_law(movers, ball_on_a_turntable, SOFT | LCP | VOLUME, 3, 40)
{
    double rate = cm_draw(c, 0.5, 2.0), r = cm_draw(c, 0.5, 2.0), v = 2.0 / 7.0 * rate * r;
    float radius = (float)cm_draw(c, 0.05, 0.3);
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    platform(&lab, cm_vec(0, 0, 0), cm_vec(0, (float)rate, 0));
    lab.surface.friction = 0.6f;
    carom_body_id ball = cm_lab_ball(&lab, cm_vec((float)r, radius, 0), radius);
    cm_lab_set_velocity(&lab, ball, cm_vec(0, 0, (float)-v),
                        cm_vec((float)(rate * r - v) / radius, 0, 0));
    cm_lab_run(&lab, 3.0);
    double turned = 2.0 / 7.0 * rate * round(3.0 * c->rate) / c->rate;
    carom_vec3 p = cm_lab_get(&lab, ball).position;
    cm_within(hypot((double)p.x - r * cos(turned), (double)p.z + r * sin(turned)) / r, 0.0, 0.04,
              "of the radius off Weltner's circle, %g rad/s, %g m", rate, r);
    cm_lab_close(&lab);
}
