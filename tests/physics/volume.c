// Laws of the volume solver where a scene gives no stiffness and no damping: what rolls keeps its
// speed, what rubs obeys Coulomb, what stands tips over its edge, what spins gains nothing.
//
//   rolling      v stays; a sliding ball ends at 5/7 v0; laid on a belt of speed V at 2/7 V
//   friction     a body on feet slides at mu g (cos) and holds while tan(slope) < mu
//   tipping      a box of width w and height h tips where tan(slope) > w / h
//   a top        energy never grows
//
// Source: any text book of mechanics; Goldstein, "Classical Mechanics", chapters 5 and 12.
#include "tests/physics/physics.h"

#include <stdlib.h>

#define G 9.81

static carom_world_def volume_def(uint32_t rate)
{
    carom_world_def def = cm_lab_def(rate, 16);
    def.solver.type = CAROM_SOLVER_VOLUME;
    return def;
}

// Gravity of a plane that falls along x by `slope`, a tangent.
static carom_vec3 sloped(double slope)
{
    double c = 1.0 / sqrt(1.0 + slope * slope);
    return cm_vec((float)(G * slope * c), (float)(-G * c), 0.0f);
}

typedef struct roll_case {
    uint32_t rate;
    carom_shape_type shape;
    float radius, speed;
} roll_case;

ParameterizedTestParameters(volume, rolls)
{
    static roll_case cases[] = {
        {60, CAROM_SHAPE_SPHERE, 0.5f, 3.0f},   {60, CAROM_SHAPE_SPHERE, 0.1f, 1.0f},
        {240, CAROM_SHAPE_SPHERE, 0.5f, 3.0f},  {1000, CAROM_SHAPE_SPHERE, 0.1f, 1.0f},
        {60, CAROM_SHAPE_CYLINDER, 0.5f, 3.0f}, {240, CAROM_SHAPE_CYLINDER, 0.2f, 2.0f},
        {60, CAROM_SHAPE_CAPSULE, 0.3f, 3.0f},  {240, CAROM_SHAPE_CAPSULE, 0.2f, 2.0f},
    };
    return cr_make_param_array(roll_case, cases, sizeof cases / sizeof cases[0]);
}

static carom_body_id round_body(cm_lab *lab, const roll_case *c)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(lab, c->shape);
    body.position = cm_vec(0.0f, c->radius, 0.0f);
    body.orientation = (carom_quat){0.70710678f, 0.0f, 0.0f, 0.70710678f}; // y to z
    shape.radius = c->radius;
    shape.half_height = 2.0f * c->radius;
    return cm_lab_add(lab, &body, &shape);
}

ParameterizedTest(roll_case *c, volume, rolls)
{
    carom_world_def def = volume_def(c->rate);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 0.5f;
    carom_body_id id = round_body(&lab, c);
    double v0 = (double)c->speed;
    cm_lab_set_velocity(&lab, id, cm_vec(c->speed, 0, 0), cm_vec(0, 0, -c->speed / c->radius));
    cm_lab_run(&lab, 1.0);
    carom_body_state s = cm_lab_get(&lab, id);
    cm_within((double)s.linear_velocity.x / v0, 0.98, 1.02,
              "of its speed after 1 s, shape %d, %u Hz", (int)c->shape, c->rate);
    cm_within((double)s.linear_velocity.z / v0, -0.01, 0.01, "aside");
    cm_lab_close(&lab);

    if (c->shape != CAROM_SHAPE_SPHERE) {
        return;
    }
    lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 0.5f;
    id = round_body(&lab, c);
    cm_lab_set_velocity(&lab, id, cm_vec(c->speed, 0, 0), cm_vec(0, 0, 0));
    cm_lab_run(&lab, 2.0 / 7.0 * v0 / (0.5 * G) + 0.5);
    cm_within((double)cm_lab_get(&lab, id).linear_velocity.x / v0, 0.98 * 5.0 / 7.0,
              1.02 * 5.0 / 7.0, "of its speed at %u Hz, once it rolls", c->rate);
    cm_lab_close(&lab);

    lab = cm_lab_open(&def);
    carom_body_def belt = carom_default_body_def();
    carom_shape_def plane = carom_default_shape_def();
    belt.type = CAROM_BODY_STATIC;
    plane.type = CAROM_SHAPE_PLANE;
    plane.normal = cm_vec(0, 1, 0);
    plane.friction = 1.0f;
    plane.surface_velocity = cm_vec(c->speed, 0, 0);
    cm_lab_add(&lab, &belt, &plane);
    lab.surface.friction = 0.5f;
    id = round_body(&lab, c);
    cm_lab_run(&lab, 2.0 / 7.0 * v0 / (0.5 * G) + 0.5);
    cm_within((double)cm_lab_get(&lab, id).linear_velocity.x / v0, 0.98 * 2.0 / 7.0,
              1.02 * 2.0 / 7.0, "of the belt's speed at %u Hz", c->rate);
    cm_lab_close(&lab);
}

// A ball rolls down a slope at 5/7 g sin, a cylinder at 2/3 g sin.
ParameterizedTestParameters(volume, rolls_down)
{
    static roll_case cases[] = {
        {60, CAROM_SHAPE_SPHERE, 0.5f, 0.2f},
        {240, CAROM_SHAPE_SPHERE, 0.1f, 0.1f},
        {60, CAROM_SHAPE_CYLINDER, 0.5f, 0.2f},
        {240, CAROM_SHAPE_CYLINDER, 0.1f, 0.1f},
    };
    return cr_make_param_array(roll_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(roll_case *c, volume, rolls_down)
{
    carom_world_def def = volume_def(c->rate);
    double slope = (double)c->speed, share = c->shape == CAROM_SHAPE_SPHERE ? 5.0 / 7.0 : 2.0 / 3.0;
    def.gravity = sloped(slope);
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 0.5f;
    carom_body_id id = round_body(&lab, c);
    cm_lab_run(&lab, 0.5);
    double v0 = (double)cm_lab_get(&lab, id).linear_velocity.x;
    cm_lab_run(&lab, 1.0);
    double v = (double)cm_lab_get(&lab, id).linear_velocity.x;
    cm_within((v - v0) / (share * (double)def.gravity.x), 0.98, 1.02,
              "of the formula's acceleration, shape %d at %u Hz", (int)c->shape, c->rate);
    cm_lab_close(&lab);
}

typedef struct foot_case {
    uint32_t rate, feet; // 0: a box
    carom_shape_type shape;
    float friction;
} foot_case;

ParameterizedTestParameters(volume, rubs)
{
    static foot_case cases[] = {
        {60, 0, CAROM_SHAPE_BOX, 0.5f},    {240, 0, CAROM_SHAPE_BOX, 0.3f},
        {60, 3, CAROM_SHAPE_SPHERE, 0.5f}, {240, 3, CAROM_SHAPE_SPHERE, 0.5f},
        {60, 4, CAROM_SHAPE_BOX, 0.5f},    {1000, 4, CAROM_SHAPE_BOX, 0.3f},
        {60, 4, CAROM_SHAPE_SPHERE, 0.3f}, {1000, 3, CAROM_SHAPE_SPHERE, 0.5f},
    };
    return cr_make_param_array(foot_case, cases, sizeof cases / sizeof cases[0]);
}

// A box of 1 m, .2 m high, or a tray of that size on feet of .1 m, its lowest point at y = 0.
static carom_body_id footed(cm_lab *lab, const foot_case *c)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shapes[5];
    uint32_t count = 0;
    shapes[count] = cm_lab_shape(lab, CAROM_SHAPE_BOX);
    shapes[count++].half_extents = cm_vec(0.5f, 0.1f, 0.5f);
    body.position = cm_vec(0.0f, c->feet > 0 ? 0.3f : 0.1f, 0.0f);
    for (uint32_t i = 0; i < c->feet; i++) {
        double angle = 2.0 * CM_PI * (i + 0.5) / c->feet;
        shapes[count] = cm_lab_shape(lab, c->shape);
        shapes[count].radius = 0.1f;
        shapes[count].half_extents = cm_vec(0.1f, 0.1f, 0.1f);
        shapes[count++].position =
            cm_vec((float)(0.5 * cos(angle)), -0.2f, (float)(0.5 * sin(angle)));
    }
    carom_body_id id;
    cr_assert_eq(carom_body_create(lab->world, &body, shapes, count, &id), CAROM_OK);
    return id;
}

ParameterizedTest(foot_case *c, volume, rubs)
{
    double mu = (double)c->friction;
    for (int i = 0; i < 3; i++) { // holds below mu, slides above it by the difference
        double slope = mu * (i == 0 ? 0.9 : i == 1 ? 0.98 : 1.3);
        carom_world_def def = volume_def(c->rate);
        def.gravity = sloped(slope);
        def.solver.volume.friction_static = c->friction;
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.friction = c->friction;
        carom_body_id id = footed(&lab, c);
        cm_lab_run(&lab, 1.0);
        double x = (double)cm_lab_get(&lab, id).position.x;
        double v = (double)cm_lab_get(&lab, id).linear_velocity.x;
        cm_lab_run(&lab, 2.0);
        if (i < 2) {
            double way = (double)cm_lab_get(&lab, id).position.x - x;
            cm_within(way / 2.0, -1e-4, 1e-4,
                      "m/s of creep on %.2f of mu, %u feet, shape %d, %u Hz", slope / mu, c->feet,
                      (int)c->shape, c->rate);
        } else {
            double a = ((double)cm_lab_get(&lab, id).linear_velocity.x - v) / 2.0;
            double rub = ((double)def.gravity.x - a) / -(double)def.gravity.y;
            cm_within(rub / mu, 0.98, 1.02, "of mu while it slides, %u feet, shape %d, %u Hz",
                      c->feet, (int)c->shape, c->rate);
        }
        cm_lab_close(&lab);
    }
}

typedef struct tip_case {
    uint32_t rate;
    float width, height;
} tip_case;

ParameterizedTestParameters(volume, tips)
{
    static tip_case cases[] = {
        {60, 0.2f, 1.0f},   {240, 0.3f, 1.0f}, {240, 0.1f, 0.3f},
        {1000, 0.2f, 1.0f}, {60, 0.5f, 2.0f},
    };
    return cr_make_param_array(tip_case, cases, sizeof cases / sizeof cases[0]);
}

ParameterizedTest(tip_case *c, volume, tips)
{
    for (int i = 0; i < 2; i++) {
        double slope = (double)(c->width / c->height) * (i == 0 ? 0.98 : 1.02);
        carom_world_def def = volume_def(c->rate);
        def.gravity = sloped(slope);
        cm_lab lab = cm_lab_open(&def);
        cm_lab_floor(&lab);
        lab.surface.friction = 1.0f;
        carom_body_id id = cm_lab_box(&lab, cm_vec(0, 0.5f * c->height, 0),
                                      cm_vec(0.5f * c->width, 0.5f * c->height, 0.5f * c->width));
        cm_lab_run(&lab, 10.0);
        double y = (double)(cm_lab_get(&lab, id).position.y / c->height);
        cm_within(y, i == 0 ? 0.49 : -1.0, i == 0 ? 0.51 : 0.3,
                  "of its height, %g x %g on %g of its angle, %u Hz", (double)c->width,
                  (double)c->height, i == 0 ? 0.98 : 1.02, c->rate);
        cm_lab_close(&lab);
    }
}

typedef struct top_case {
    uint32_t rate;
    float spin;
} top_case;

ParameterizedTestParameters(volume, top_gains_nothing)
{
    static top_case cases[] = {
        {60, 25.0f}, {240, 25.0f}, {1000, 25.0f}, {240, 60.0f}, {1000, 60.0f}};
    return cr_make_param_array(top_case, cases, sizeof cases / sizeof cases[0]);
}

// The top of tests/scenes/seeds/volume_top.json: a cone of .15 m under a disc of .2 m.
ParameterizedTest(top_case *c, volume, top_gains_nothing)
{
    carom_world_def def = volume_def(c->rate);
    carom_vec3 points[33] = {cm_vec(0, 0, 0)};
    for (int i = 0; i < 32; i++) {
        double a = 2.0 * CM_PI * i / 16.0;
        points[1 + i] = cm_vec((float)(0.2 * sin(a)), i < 16 ? 0.15f : 0.2f, (float)(0.2 * cos(a)));
    }
    carom_hull *hull;
    cr_assert_eq(carom_hull_create(points, 33, &cm_lab_allocator, &hull), CAROM_OK);
    const carom_hull *hulls[1] = {hull};
    def.hulls = hulls;
    def.hull_count = 1;
    cm_lab lab = cm_lab_open(&def);
    cm_lab_floor(&lab);
    lab.surface.friction = 0.5f;
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = cm_lab_shape(&lab, CAROM_SHAPE_HULL);
    shape.hull = hull;
    body.mass = 0.5f;
    body.orientation = (carom_quat){0.0f, 0.0f, 0.049979169f, 0.99875026f};
    body.angular_velocity = cm_vec(-0.0998f * c->spin, 0.995f * c->spin, 0.0f);
    cm_lab_add(&lab, &body, &shape);
    double e0 = cm_lab_energy(&lab), most = e0;
    for (int tick = 0; tick < 5 * (int)c->rate; tick++) {
        carom_world_step(lab.world);
        most = fmax(most, cm_lab_energy(&lab));
    }
    cm_within(most / e0, 1.0, 1.001, "of its energy at most in 5 s, %g rad/s, %u Hz",
              (double)c->spin, c->rate);
    cm_lab_close(&lab);
    carom_hull_destroy(hull);
}
