// The incline, at any heading. A body of one flat face holds on a slope while tan(slope) < mu and
// slides above it at g (sin - mu cos) (Coulomb); what rolls does so at 5/7 g sin as a ball, 2/3 as
// a cylinder, while mu is enough (Galilei; Goldstein, "Classical Mechanics", 5). On the level what
// rolls goes on as it is, what slides comes to roll at 5/7 of its speed, 2/3 as a cylinder.
// Frictions of the impulse solver are shares of sticking: Coulomb's law is not its own.
#include "tests/physics/physics.h"

#define G 9.81

// Downhill is `heading` from x, in radians; the plane stays y = 0.
static carom_vec3 sloped(double slope, double heading)
{
    double k = 1.0 / sqrt(1.0 + slope * slope);
    return cm_vec((float)(G * slope * k * cos(heading)), (float)(-G * k),
                  (float)(G * slope * k * sin(heading)));
}

static carom_quat about_y(double angle)
{
    return (carom_quat){0, (float)sin(0.5 * angle), 0, (float)cos(0.5 * angle)};
}

cm_law(incline, holds_and_slides, SOFT | LCP | VOLUME, 3, 40)
{
    double mu = cm_draw(c, 0.15, 0.9), heading = cm_draw(c, 0.0, 2.0 * CM_PI);
    double half = cm_draw(c, 0.03, 1.0), turn = cm_draw(c, 0.0, 2.0 * CM_PI);
    float density = (float)cm_draw(c, 50.0, 5000.0);
    for (int i = 0; i < 2; i++) {
        double slope = mu * (i == 0 ? 0.95 : 1.3);
        carom_world_def def = cm_case_def(c, 8);
        def.gravity = sloped(slope, heading);
        def.solver.volume.friction_static = (float)mu;
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.friction = (float)mu;
        lab.surface.density = density;
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_BOX);
        shape.half_extents = cm_vec((float)half, 0.2f * (float)half, (float)half);
        body.position.y = 0.2f * (float)half;
        body.orientation = about_y(turn);
        carom_body_id box = cm_lab_add(&lab, &body, &shape);
        cm_lab_run(&lab, 0.5);
        carom_body_state first = cm_lab_get(&lab, box);
        cm_lab_run(&lab, 2.0);
        carom_body_state s = cm_lab_get(&lab, box);
        carom_vec3 v = cm_sub(s.linear_velocity, first.linear_velocity);
        double along = (double)v.x * cos(heading) + (double)v.z * sin(heading);
        double aside = (double)v.z * cos(heading) - (double)v.x * sin(heading);
        if (i == 0) {
            cm_within((double)cm_length(cm_sub(s.position, first.position)), 0.0,
                      c->solver == CAROM_SOLVER_LCP ? 0.006 : 0.002,
                      "m of creep in 2 s, mu %g, heading %g, half %g m", mu, heading, half);
        } else {
            double want = 2.0 * -(double)def.gravity.y * (slope - mu);
            cm_within(along / want, 0.97, 1.03, "of g (sin - mu cos), mu %g, half %g m", mu, half);
            cm_within(aside / want, -0.03, 0.03, "aside, heading %g, turned by %g", heading, turn);
        }
        cm_lab_close(&lab);
    }
}

typedef struct round_body {
    carom_shape_type shape;
    double radius, heading, share; // share: 1 / (1 + I / m r^2)
} round_body;

static round_body draw_round(cm_case *c)
{
    round_body b = {.radius = cm_draw(c, 0.03, 1.0), .heading = cm_draw(c, 0.0, 2.0 * CM_PI)};
    bool ball = cm_draw(c, 0.0, 1.0) < 0.5;
    b.shape = ball ? CAROM_SHAPE_SPHERE : CAROM_SHAPE_CYLINDER;
    b.share = ball ? 5.0 / 7.0 : 2.0 / 3.0;
    return b;
}

// It lies on the plane, its axis across the heading.
static carom_body_id add_round(cm_lab *lab, const round_body *b)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(lab, b->shape);
    body.position.y = (float)b->radius;
    carom_quat y_to_z = {0.70710678f, 0, 0, 0.70710678f};
    body.orientation = cm_quat_mul(about_y(-b->heading), y_to_z);
    shape.radius = (float)b->radius;
    shape.half_height = (float)b->radius;
    return cm_lab_add(lab, &body, &shape);
}

static void push_round(cm_lab *lab, carom_body_id id, const round_body *b, double v, double roll)
{
    float x = (float)cos(b->heading), z = (float)sin(b->heading), w = (float)(roll / b->radius);
    cm_lab_set_velocity(lab, id, cm_vec(x * (float)v, 0, z * (float)v), cm_vec(z * w, 0, -x * w));
}

static double along_heading(const cm_lab *lab, carom_body_id id, const round_body *b)
{
    carom_vec3 v = cm_lab_get(lab, id).linear_velocity;
    return (double)v.x * cos(b->heading) + (double)v.z * sin(b->heading);
}

cm_law(incline, rolls_down, SOFT | LCP | VOLUME, 3, 40)
{
    round_body b = draw_round(c);
    double slope = cm_draw(c, 0.02, 0.5);
    carom_world_def def = cm_case_def(c, 8);
    def.gravity = sloped(slope, b.heading);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 0.8f;
    carom_body_id id = add_round(&lab, &b);
    cm_lab_run(&lab, 0.5);
    double first = along_heading(&lab, id, &b);
    cm_lab_run(&lab, 1.0);
    double want = b.share * (double)cm_length(cm_vec(def.gravity.x, 0, def.gravity.z));
    cm_within((along_heading(&lab, id, &b) - first) / want, 0.98, 1.02,
              "of the rolling acceleration, shape %d of %g m, tan %g, heading %g", (int)b.shape,
              b.radius, slope, b.heading);
    cm_lab_close(&lab);
}

cm_law(incline, rolls_on_and_comes_to_roll, SOFT | LCP | VOLUME, 3, 40)
{
    round_body b = draw_round(c);
    double v = cm_draw(c, 0.5, 2.0) * sqrt(G * b.radius), mu = cm_draw(c, 0.2, 0.9);
    for (int i = 0; i < 3; i++) { // it rolls; it slides; it lies on a belt of speed v
        carom_world_def def = cm_case_def(c, 8);
        cm_lab lab = cm_lab_open(&def);
        carom_body_def floor = carom_default_body_def();
        carom_shape_def plane = carom_default_shape_def();
        floor.type = CAROM_BODY_STATIC;
        plane.type = CAROM_SHAPE_PLANE;
        plane.normal = cm_vec(0, 1, 0);
        plane.friction = 1.0f;
        if (i == 2) {
            plane.surface_velocity =
                cm_vec((float)(v * cos(b.heading)), 0, (float)(v * sin(b.heading)));
        }
        cm_lab_add(&lab, &floor, &plane);
        lab.surface.friction = (float)mu;
        carom_body_id id = add_round(&lab, &b);
        push_round(&lab, id, &b, i < 2 ? v : 0.0, i == 0 ? v : 0.0);
        cm_lab_run(&lab, v / (mu * G) + 1.0);
        double want = i == 0 ? 1.0 : i == 1 ? b.share : 1.0 - b.share;
        cm_within(along_heading(&lab, id, &b) / (want * v), 0.98, 1.02,
                  "of the speed of what %s, shape %d of %g m, mu %g, heading %g",
                  i == 0   ? "rolls"
                  : i == 1 ? "slid"
                           : "a belt took along",
                  (int)b.shape, b.radius, mu, b.heading);
        cm_lab_close(&lab);
    }
}
