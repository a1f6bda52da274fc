// The scene of sleep: stacks, a wall of capsules, a hinged pair and a swing fall asleep one after
// another, and are woken by a push, a ball, a sweeper that starts, a support that goes, a shelf
// that is moved, a joint that goes; most sleep again. All of it inside the span of some rewind.
#include "tests/unit/sim/golden_sleep.h"

// Slots, in the order in which they are built.
enum { PLANE, SWEEPER, SHELF, FIRST };

static const carom_vec3 cube = {0.4f, 0.4f, 0.4f};

static void build_pair(cm_rig *rig)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_HINGE;
    def.body_a =
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(9.0f, 0.2f, 0.0f), cm_vec(0.5f, 0.2f, 0.5f));
    def.body_b =
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(10.2f, 0.2f, 0.0f), cm_vec(0.5f, 0.2f, 0.5f));
    def.anchor = cm_vec(9.6f, 0.2f, 0.0f);
    def.axis = cm_vec(0.0f, 0.0f, 1.0f);
    carom_joint_create(rig->world, &def, NULL);
    def.type = CAROM_JOINT_DISTANCE;
    def.body_a = (carom_body_id){0, 0};
    def.body_b = cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(12.0f, 2.0f, 0.0f), cube);
    def.anchor = cm_vec(12.0f, 4.0f, 0.0f);
    def.anchor_b = cm_vec(12.0f, 2.0f, 0.0f);
    carom_joint_create(rig->world, &def, NULL);
}

void cm_golden_sleep_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    cm_rig_box(rig, CAROM_BODY_KINEMATIC, cm_vec(-8.0f, 0.5f, 0.0f), cm_vec(0.2f, 0.4f, 2.0f));
    cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(6.0f, 1.0f, 0.0f), cm_vec(0.6f, 0.1f, 0.6f));
    for (uint32_t i = 0; i < 12; i++) { // four stacks of three; one stands on the shelf
        float x = -6.0f + 4.0f * (float)(i / 3), foot = i / 3 == 3 ? 1.1f : 0.0f;
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(x, foot + 0.4f + 0.81f * (float)(i % 3), 0.0f),
                   cube);
    }
    const carom_quat lying = {0.70710678f, 0.0f, 0.0f, 0.70710678f};
    for (uint32_t i = 0; i < 4; i++) {
        cm_rig_capsule(rig, cm_vec(-5.0f, 0.22f + 0.44f * (float)i, 4.0f), lying, 0.2f, 0.5f);
    }
    build_pair(rig);
}

static void place_body(carom_world *world, uint32_t slot, float x, float y)
{
    carom_body_set_pose(world, carom_world_body_at(world, slot), cm_vec(x, y, 0.0f),
                        cm_quat_identity());
}

void cm_golden_sleep_drive(carom_world *world, uint32_t tick)
{
    const carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    if (tick == 90) {
        carom_body_apply_impulse(world, carom_world_body_at(world, FIRST + 2),
                                 cm_vec(60.0f, 0.0f, 10.0f), cm_vec(-6.0f, 2.4f, 0.0f));
    } else if (tick == 110) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(-2.0f, 1.2f, 3.0f);
        body.linear_velocity = cm_vec(0.0f, 1.0f, -12.0f);
        shape.radius = 0.3f;
        carom_body_create(world, &body, &shape, 1, NULL);
    } else if (tick == 140 || tick == 200) {
        carom_body_set_velocity(world, carom_world_body_at(world, SWEEPER),
                                cm_vec(tick == 140 ? 2.5f : 0.0f, 0.0f, 0.0f), zero);
    } else if (tick == 150) {
        carom_body_destroy(world, carom_world_body_at(world, FIRST + 6));
    } else if (tick == 160) {
        place_body(world, SHELF, 6.0f, 0.2f);
    } else if (tick == 170) {
        carom_joint_destroy(world, carom_world_joint_at(world, 1));
        carom_body_apply_force(world, carom_world_body_at(world, FIRST + 16),
                               cm_vec(0.0f, 9000.0f, 0.0f), zero);
    }
}
