// See golden_rest.h. Far from each other: a stack that is pushed, a set table whose cloth is pulled
// away, a ball that rolls over the seam of two slabs, and a top that spins down. Nothing sleeps.
#include "tests/unit/sim/golden_rest.h"

#define PUSH_AT 60u
#define PULL_AT 90u

// Slots, in the order of building.
enum { GROUND, STACK, STACK_TOP = STACK + 5, TABLE, CLOTH, DISHES, SLABS = DISHES + 4 };

void cm_golden_rest_define(carom_world_def *def)
{
    def->sleep = false;
}

static void build_table(cm_rig *rig)
{
    cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(10.0f, 0.5f, 0.0f), cm_vec(1.0f, 0.5f, 1.0f));
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(10.0f, 1.02f, 0.0f);
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(1.0f, 0.02f, 0.8f);
    shape.friction = 0.1f;
    cm_rig_body(rig, &body, &shape);
    for (uint32_t i = 0; i < 4; i++) {
        cm_rig_box(rig, CAROM_BODY_DYNAMIC,
                   cm_vec(9.5f + (float)(i % 2), 1.14f, -0.4f + 0.8f * (float)(i / 2)),
                   cm_vec(0.1f, 0.1f, 0.1f));
    }
}

static void build_top(cm_rig *rig)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shapes[2] = {carom_default_shape_def(), carom_default_shape_def()};
    body.position = cm_vec(-10.0f, 0.6f, 0.0f);
    carom_quat lean = {0.05f, 0.0f, 0.02f, 1.0f};
    body.orientation = cm_quat_normalize(lean);
    body.angular_velocity = cm_vec(0.0f, 30.0f, 0.0f);
    shapes[0].type = CAROM_SHAPE_CYLINDER;
    shapes[0].radius = 0.5f;
    shapes[0].half_height = 0.05f;
    shapes[1].type = CAROM_SHAPE_CAPSULE;
    shapes[1].position = cm_vec(0.0f, -0.25f, 0.0f);
    shapes[1].radius = 0.05f;
    shapes[1].half_height = 0.25f;
    carom_body_create(rig->world, &body, shapes, 2, NULL);
}

void cm_golden_rest_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 6; i++) {
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 0.25f + 0.5f * (float)i, 0.0f),
                   cm_vec(0.25f, 0.25f, 0.25f));
    }
    build_table(rig);
    for (uint32_t i = 0; i < 2; i++) {
        cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(2.0f * (float)i, 0.25f, 10.0f),
                   cm_vec(1.0f, 0.25f, 1.0f));
    }
    carom_body_id ball = cm_rig_sphere(rig, cm_vec(-0.8f, 0.75f, 10.0f), 0.25f);
    carom_body_set_velocity(rig->world, ball, cm_vec(1.0f, 0.0f, 0.1f), cm_vec(0.0f, 0.0f, -4.0f));
    build_top(rig);
}

void cm_golden_rest_drive(carom_world *world, uint32_t tick)
{
    if (tick >= PUSH_AT && tick < PUSH_AT + 10) {
        carom_body_apply_force(world, carom_world_body_at(world, STACK_TOP),
                               cm_vec(800.0f, 0.0f, 200.0f), cm_vec(0.0f, 0.0f, 0.0f));
    }
    if (tick >= PULL_AT && tick < PULL_AT + 30) {
        carom_body_apply_force(world, carom_world_body_at(world, CLOTH),
                               cm_vec(0.0f, 0.0f, 4000.0f), cm_vec(0.0f, 0.0f, 0.0f));
    }
}
