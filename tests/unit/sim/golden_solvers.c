// See golden_solvers.h. Billiards: balls and boxes that meet, spin and come to rest on a floor, by
// impulses. Circles: balls in a pen of posts that loses some, by the article's loop, and posts
// where the broadphase has no reason to look. Mechanism: the golden joints, by the boxed LCP.
// Touch: a small pile, pushed about, by volumes at 240 Hz.
#include "tests/unit/sim/golden_solvers.h"

void cm_golden_billiards_define(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_IMPULSE;
}

void cm_golden_billiards_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 12; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position =
            cm_vec(0.7f * (float)(i % 4), 0.3f + 0.9f * (float)(i / 8), 0.61f * (float)(i / 4));
        body.linear_velocity = i == 0 ? cm_vec(4.0f, 0.0f, 1.0f) : cm_vec(0.0f, 0.0f, 0.0f);
        body.angular_velocity = cm_vec(0.0f, 2.0f, 0.5f * (float)(i % 3));
        shape.type = i % 3 == 2 ? CAROM_SHAPE_BOX : CAROM_SHAPE_SPHERE;
        shape.radius = 0.3f;
        shape.half_extents = cm_vec(0.3f, 0.3f, 0.25f);
        shape.restitution = i % 2 ? 0.9f : 0.3f;
        shape.friction = 0.4f;
        cm_rig_body(rig, &body, &shape);
    }
}

void cm_golden_circles_define(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_IMPULSE;
    def->solver.impulse.model = CAROM_IMPULSE_CIRCLE;
    def->solver.impulse.substeps = 2;
    def->planar = true;
    def->gravity = cm_vec(0.0f, 0.0f, 0.0f);
}

static void add_circle(carom_world *world, carom_body_type type, float x, float y, float vx)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = type;
    body.position = cm_vec(x, y, 0.0f);
    body.linear_velocity = cm_vec(vx, 0.25f * vx, 0.0f);
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = 0.25f;
    shape.restitution = 1.0f;
    carom_body_create(world, &body, &shape, 1, NULL); // a full world refuses: so it does again
}

// A pen of posts with balls in it, and posts far off, which nothing that moves comes near.
void cm_golden_circles_build(cm_rig *rig)
{
    for (uint32_t i = 0; i < 32; i++) {
        float along = 0.5f * (float)(i / 4) - 1.75f;
        bool upright = i % 2 == 0;
        float side = i % 4 < 2 ? -2.0f : 2.0f;
        add_circle(rig->world, CAROM_BODY_STATIC, upright ? along : side, upright ? side : along,
                   0.0f);
    }
    for (uint32_t i = 0; i < 12; i++) {
        add_circle(rig->world, CAROM_BODY_STATIC, 20.0f + (float)i, 10.0f, 0.0f);
    }
    for (uint32_t i = 0; i < 6; i++) {
        add_circle(rig->world, CAROM_BODY_DYNAMIC, 0.6f * (float)(i % 3) - 0.6f,
                   0.6f * (float)(i / 3), i % 2 ? -3.0f : 4.0f);
    }
}

// Posts go and come back, balls come in.
void cm_golden_circles_drive(carom_world *world, uint32_t tick)
{
    if (tick % 20 == 5) {
        carom_body_destroy(world, carom_world_body_at(world, tick / 20));
    }
    if (tick % 20 == 15) {
        add_circle(world, tick % 40 == 15 ? CAROM_BODY_STATIC : CAROM_BODY_DYNAMIC, 0.0f, 1.25f,
                   0.0f);
    }
}

void cm_golden_mechanism_define(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_LCP;
}

void cm_golden_touch_define(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_VOLUME;
    def->tick_rate = 240;
}

void cm_golden_touch_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 7; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position =
            cm_vec(0.21f * (float)(i % 3), 0.1f + 0.2f * (float)(i / 3), 0.03f * (float)i);
        body.angular_velocity = cm_vec(0.0f, 0.3f * (float)i, 0.0f);
        shape.type = i == 5 ? CAROM_SHAPE_SPHERE : i == 6 ? CAROM_SHAPE_CAPSULE : CAROM_SHAPE_BOX;
        shape.radius = 0.1f;
        shape.half_height = 0.05f;
        shape.half_extents = cm_vec(0.1f, 0.1f, 0.1f);
        shape.friction = 0.5f;
        cm_rig_body(rig, &body, &shape);
    }
}

void cm_golden_touch_drive(carom_world *world, uint32_t tick)
{
    if (tick >= 100 && tick < 140) {
        carom_body_apply_force(world, carom_world_body_at(world, 1 + tick % 3),
                               cm_vec(60.0f, 0.0f, 20.0f), cm_vec(0.0f, 1.0f, 0.0f));
    }
}
