// Friction in a blow. Coulomb's law for impulses: while the surfaces slide, the tangential impulse
// is mu times the normal one, m (1 + e) v_n; it ends where they stick. A ball of spin w and radius
// r so leaves at the smaller of mu (1 + e) v_n and 2/7 w r (its inertia is 2/5 m r^2); a box that
// lands flat while it slides loses mu v_n, and then slides on for v^2 / (2 mu g). Source: W. J.
// Stronge, "Impact Mechanics", 2000, chapters 2 and 4.
#include "tests/physics/physics.h"

typedef struct spin_case {
    uint32_t rate, substeps;
    float friction, restitution, spin;
} spin_case;

#define G 9.81
// Of the speed of the fall: 0 is right.
#define ASIDE_OF_ONE   0.02
#define ASIDE_OF_THREE 0.10

ParameterizedTestParameters(friction_blow, spinning_ball)
{
    static spin_case cases[] = {
        {60, 4, 0.2f, 0.5f, 100.0f},  {60, 4, 0.5f, 0.5f, 20.0f},   {60, 1, 0.2f, 0.5f, 100.0f},
        {60, 4, 0.3f, 0.9f, 100.0f},  {120, 4, 0.2f, 0.5f, 100.0f}, {120, 4, 0.5f, 0.8f, 20.0f},
        {240, 4, 0.2f, 0.5f, 100.0f}, {240, 2, 0.5f, 0.5f, 20.0f},  {480, 4, 0.2f, 0.5f, 100.0f},
        {480, 4, 0.5f, 0.5f, 20.0f},
    };
    return cr_make_param_array(spin_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(spin_case *c, friction_blow, spinning_ball)
{
    // Heights differ, so that the blow comes at any part of a tick.
    for (int i = 0; i < 8; i++) {
        double radius = 0.2, height = 1.0 + 0.037 * i;
        carom_world_def def = cm_lab_def(c->rate, 8);
        def.solver.soft.substeps = c->substeps;
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.friction = c->friction;
        lab.surface.restitution = c->restitution;
        carom_body_id ball =
            cm_lab_ball(&lab, cm_vec(0.0f, (float)(height + radius), 0.0f), (float)radius);
        cm_lab_set_velocity(&lab, ball, cm_vec(0, 0, 0), cm_vec(0.0f, 0.0f, -c->spin));
        double v_n = sqrt(2.0 * G * height), fall = v_n / G;
        cm_lab_run(&lab, fall + 0.5 * c->restitution * fall);
        double slides = (double)c->friction * (1.0 + (double)c->restitution) * v_n;
        double sticks = 2.0 / 7.0 * (double)c->spin * radius;
        double share = (double)cm_lab_get(&lab, ball).linear_velocity.x / fmin(slides, sticks);
        cm_within(share, 0.95, 1.05, "share of %u Hz / %u, mu %g, e %g, from %g m", c->rate,
                  c->substeps, (double)c->friction, (double)c->restitution, height);
        cm_lab_close(&lab);
    }
}

typedef struct land_case {
    uint32_t rate;
    float friction, fall, slide; // m/s: down, along
} land_case;

ParameterizedTestParameters(friction_blow, box_lands_and_slides)
{
    static land_case cases[] = {
        {30, 0.3f, 3.0f, 6.0f},  {60, 0.3f, 2.0f, 5.0f},  {60, 0.5f, 4.0f, 8.0f},
        {60, 0.1f, 5.0f, 3.0f},  {120, 0.3f, 2.0f, 5.0f}, {240, 0.3f, 2.0f, 5.0f},
        {480, 0.3f, 2.0f, 5.0f},
    };
    return cr_make_param_array(land_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(land_case *c, friction_blow, box_lands_and_slides)
{
    for (int i = 0; i < 8; i++) {
        double height = 0.5 + 0.029 * i, mu = (double)c->friction;
        carom_world_def def = cm_lab_def(c->rate, 8);
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.friction = c->friction;
        carom_body_id box =
            cm_lab_box(&lab, cm_vec(0.0f, (float)(0.1 + height), 0.0f), cm_vec(0.5f, 0.1f, 0.5f));
        cm_lab_set_velocity(&lab, box, cm_vec(c->slide, -c->fall, 0.0f), cm_vec(0, 0, 0));
        double v_n = sqrt((double)c->fall * (double)c->fall + 2.0 * G * height);
        double down = (v_n - (double)c->fall) / G, after = 0.1;
        cm_lab_run(&lab, down + after);
        double lost = (double)(c->slide - cm_lab_get(&lab, box).linear_velocity.x) - mu * G * after;
        double whole = fmin(mu * v_n, (double)c->slide - mu * G * after);
        cm_within(lost / whole, 0.95, 1.05, "loss over mu v_n at %u Hz, mu %g, from %g m", c->rate,
                  mu, height);
        cm_lab_run(&lab, 6.0);
        double v = (double)c->slide - mu * v_n, slid = v * v / (2.0 * mu * G);
        double way = (double)cm_lab_get(&lab, box).position.x - (double)c->slide * down;
        cm_within(way, 0.95 * slid - 0.02, 1.05 * slid + 0.02, "m slid at %u Hz, mu %g, from %g m",
                  c->rate, mu, height);
        cm_lab_close(&lab);
    }
}

// What falls flat has no speed aside, and neither has what falls on it: each point of the face
// stops alike. Fastest speed aside over that of the fall, in the first .3 s after it.
static double aside_of(cm_lab *lab, const carom_body_id *bodies, uint32_t count, double top)
{
    double aside = 0.0, seconds = sqrt(2.0 * top / G) + 0.3;
    for (uint32_t tick = 0; tick < (uint32_t)(seconds * carom_world_tick_rate(lab->world));
         tick++) {
        carom_world_step(lab->world);
        for (uint32_t i = 0; i < count; i++) {
            carom_vec3 v = cm_lab_get(lab, bodies[i]).linear_velocity;
            aside = fmax(aside, hypot((double)v.x, (double)v.z));
        }
    }
    return aside / sqrt(2.0 * G * top);
}

cm_law(friction_blow, what_falls_flat_stays, SOFT, 12, 120)
{
    uint32_t boxes = c->number % 2 ? 3 : 1;
    double size = cm_draw(c, boxes > 1 ? 0.2 : 0.05, boxes > 1 ? 2.0 : 10.0);
    double height = size * cm_draw(c, 0.5, 4.0), mu = cm_draw(c, 0.2, 1.0);
    carom_vec3 half =
        cm_vec((float)(size * cm_draw(c, 0.3, 1.0)), (float)(size * cm_draw(c, 0.3, 1.0)),
               (float)(size * cm_draw(c, 0.3, 1.0)));
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = (float)mu;
    double gap = 0.2 * height, top = height + (boxes - 1) * gap;
    carom_body_id box[3];
    for (uint32_t i = 0; i < boxes; i++) {
        double y = height + i * gap + (1.0 + 2.0 * i) * (double)half.y;
        box[i] = cm_lab_box(&lab, cm_vec(0.0f, (float)y, 0.0f), half);
    }
    cm_within(aside_of(&lab, box, boxes, top), 0.0, boxes > 1 ? ASIDE_OF_THREE : ASIDE_OF_ONE,
              "aside: %u boxes of %g m from %g m, mu %g", boxes, size, height, mu);
    cm_lab_close(&lab);
}

// A capsule that lies, or a cylinder that stands, is a segment or a polygon of points.
cm_law(friction_blow, what_falls_flat_may_be_round, SOFT, 6, 60)
{
    bool lies = c->number % 2;
    double radius = cm_draw(c, 0.05, 5.0), length = radius * cm_draw(c, 0.5, 2.0);
    double height = radius * cm_draw(c, 1.0, 8.0), y = height + (lies ? radius : length);
    carom_world_def def = cm_case_def(c, 8);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    carom_body_def body = carom_default_body_def();
    lab.surface.friction = (float)cm_draw(c, 0.2, 1.0);
    carom_shape_def shape = cm_lab_shape(&lab, lies ? CAROM_SHAPE_CAPSULE : CAROM_SHAPE_CYLINDER);
    shape.radius = (float)radius;
    shape.half_height = (float)length;
    body.position = cm_vec(0.0f, (float)y, 0.0f);
    if (lies) {
        body.orientation = (carom_quat){0.0f, 0.0f, 0.70710678f, 0.70710678f};
    }
    carom_body_id id = cm_lab_add(&lab, &body, &shape);
    cm_within(aside_of(&lab, &id, 1, height), 0.0, ASIDE_OF_ONE, "aside: a %s of %g m from %g m",
              lies ? "capsule" : "cylinder", radius, height);
    cm_lab_close(&lab);
}
