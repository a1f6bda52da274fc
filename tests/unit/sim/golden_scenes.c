// The scenes: a box that tips over an edge, a heavy box (10:1) on light ones, a crowd of all shapes
// that is pushed about, and a churn in which bodies come and go while others lie on them; joints
// are in golden_joints.c, sleep in golden_sleep.c, what is awake and rests in golden_rest.c, hulls
// and the smallest numbers in golden_small.c.
#include "tests/unit/sim/golden_scenes.h"
#include "tests/unit/sim/golden_joints.h"
#include "tests/unit/sim/golden_rest.h"
#include "tests/unit/sim/golden_sleep.h"
#include "tests/unit/sim/golden_small.h"
#include "tests/unit/sim/golden_solvers.h"

#include <stdlib.h>
#include <string.h>

static const carom_vec3 cube = {0.5f, 0.5f, 0.5f};

static void build_tipping(cm_rig *rig)
{
    cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(0.0f, -0.5f, 0.0f), cm_vec(2.0f, 0.5f, 2.0f));
    cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(2.1f, 0.5f, 0.3f), cube);
    cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(-1.9f, 1.0f, 0.0f), cm_vec(0.2f, 1.0f, 0.2f));
    carom_body_id top =
        cm_rig_box(rig, CAROM_BODY_DYNAMIC, cm_vec(-1.9f, 2.2f, 0.0f), cm_vec(0.2f, 0.2f, 0.2f));
    carom_body_set_velocity(rig->world, top, cm_vec(1.5f, 0.0f, 0.4f), cm_vec(0.0f, 3.0f, 1.0f));
    cm_rig_plane(rig);
}

static void build_heavy(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 6; i++) {
        cm_rig_box(rig, CAROM_BODY_DYNAMIC,
                   cm_vec(-1.5f + 1.5f * (float)(i % 3), 0.5f + (float)(i / 3), 0.0f), cube);
    }
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0.0f, 3.0f, 0.0f);
    body.angular_velocity = cm_vec(0.1f, 0.5f, 0.0f);
    body.has_mass = true;
    body.mass = 10000.0f;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(2.0f, 0.5f, 0.6f);
    cm_rig_body(rig, &body, &shape);
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static float spread(uint32_t *state, float width)
{
    return width * ((float)(draw(state) & 1023u) / 1024.0f - 0.5f);
}

// One draw a statement: C does not say in which order arguments are evaluated.
static carom_vec3 spread_vec(uint32_t *state, float x, float y, float z)
{
    carom_vec3 v;
    v.x = spread(state, x);
    v.y = spread(state, y);
    v.z = spread(state, z);
    return v;
}

static void build_crowd(cm_rig *rig)
{
    uint32_t state = 5;
    cm_rig_plane(rig);
    cm_rig_box(rig, CAROM_BODY_STATIC, cm_vec(4.0f, 0.5f, 0.0f), cm_vec(0.5f, 0.5f, 4.0f));
    for (uint32_t i = 0; i < 200; i++) {
        carom_vec3 at = spread_vec(&state, 5.0f, 0.0f, 5.0f);
        at.y = 0.5f + 0.04f * (float)i;
        carom_vec3 axis = spread_vec(&state, 1.0f, 1.0f, 1.0f);
        carom_quat turn = {axis.x, axis.y, axis.z, 0.6f};
        turn = cm_quat_normalize(turn);
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = at;
        body.orientation = turn;
        shape.type = i % 3 == 0   ? CAROM_SHAPE_SPHERE
                     : i % 3 == 1 ? CAROM_SHAPE_CAPSULE
                                  : CAROM_SHAPE_BOX;
        shape.radius = 0.2f;
        shape.half_height = 0.2f;
        shape.half_extents = cm_vec(0.2f, 0.2f + spread(&state, 0.2f), 0.25f);
        shape.restitution = i % 5 == 0 ? 0.6f : 0.0f;
        cm_rig_body(rig, &body, &shape);
    }
}

// Pushes one body after another.
static void drive_crowd(carom_world *world, uint32_t tick)
{
    carom_body_id id = carom_world_body_at(world, 2 + tick * 7 % 200);
    carom_body_apply_force(world, id, cm_vec(0.0f, 300.0f, 200.0f), cm_vec(5.0f, 0.0f, 0.0f));
}

static void build_churn(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 40; i++) {
        cm_rig_box(
            rig, CAROM_BODY_DYNAMIC,
            cm_vec(0.6f * (float)(i % 4), 0.3f + 0.5f * (float)(i / 8), 0.6f * (float)(i / 4 % 2)),
            cm_vec(0.25f, 0.25f, 0.25f));
    }
}

// Every third tick a body of the pile goes, every second one comes, from the world's own chance.
static void drive_churn(carom_world *world, uint32_t tick)
{
    if (tick % 3 == 0) {
        uint32_t slot = 1 + (uint32_t)(carom_world_random(world) % 59);
        carom_body_destroy(world, carom_world_body_at(world, slot));
    }
    if (tick % 2 == 0) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        uint32_t state = (uint32_t)carom_world_random(world);
        body.position = cm_add(cm_vec(0.9f, 3.0f, 0.3f), spread_vec(&state, 2.0f, 0.0f, 1.0f));
        body.angular_velocity = spread_vec(&state, 8.0f, 0.0f, 8.0f);
        shape.type = draw(&state) % 2 ? CAROM_SHAPE_BOX : CAROM_SHAPE_CAPSULE;
        shape.radius = 0.2f;
        shape.half_height = 0.2f;
        shape.half_extents = cm_vec(0.25f, 0.25f, 0.25f);
        carom_body_id id;
        carom_body_create(world, &body, &shape, 1, &id); // a full world refuses: so it does again
    }
}

const cm_golden_scene cm_golden_scenes[CM_GOLDEN_SCENES] = {
    {"tipping_box", 8, 240, build_tipping, NULL, NULL},
    {"heavy_on_light", 16, 240, build_heavy, NULL, NULL},
    {"crowd", 256, 240, build_crowd, drive_crowd, NULL},
    {"churn", 60, 240, build_churn, drive_churn, NULL},
    {"joints", 32, 240, cm_golden_joints_build, cm_golden_joints_drive, NULL},
    {"solids", 64, 240, cm_golden_solids_build, NULL, cm_golden_solids_define},
    {"sleep", 32, 300, cm_golden_sleep_build, cm_golden_sleep_drive, NULL},
    {"denormals", 16, 240, cm_golden_denormals_build, NULL, cm_golden_denormals_define},
    {"billiards", 16, 240, cm_golden_billiards_build, NULL, cm_golden_billiards_define},
    {"mechanism", 32, 240, cm_golden_joints_build, cm_golden_joints_drive,
     cm_golden_mechanism_define},
    {"touch", 16, 180, cm_golden_touch_build, cm_golden_touch_drive, cm_golden_touch_define},
    {"circles", 64, 240, cm_golden_circles_build, cm_golden_circles_drive,
     cm_golden_circles_define},
    {"rest", 24, 240, cm_golden_rest_build, cm_golden_rest_drive, cm_golden_rest_define},
};

const cm_golden_scene *cm_golden_find(const char *name)
{
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        if (strcmp(cm_golden_scenes[i].name, name) == 0) {
            return &cm_golden_scenes[i];
        }
    }
    abort();
}

cm_rig cm_golden_open(const cm_golden_scene *scene, uint32_t shift)
{
    carom_world_def def = cm_rig_def(scene->bodies);
    if (scene->define != NULL) {
        scene->define(&def);
    }
    return cm_rig_open(&def, shift);
}

static void add_id(cm_hash *hash, uint32_t index, uint32_t generation)
{
    cm_hash_u32(hash, index);
    cm_hash_u32(hash, generation);
}

static void add_vec(cm_hash *hash, carom_vec3 v)
{
    cm_hash_f32(hash, v.x);
    cm_hash_f32(hash, v.y);
    cm_hash_f32(hash, v.z);
}

void cm_golden_add_events(const carom_world *world, cm_hash *hash)
{
    uint32_t count;
    const carom_contact_event *contacts = carom_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        const carom_contact_event *e = &contacts[i];
        add_id(hash, e->shape_a.index, e->shape_a.generation);
        add_id(hash, e->shape_b.index, e->shape_b.generation);
        add_vec(hash, e->point);
        add_vec(hash, e->normal);
        cm_hash_f32(hash, e->impulse);
        cm_hash_u32(hash, (uint32_t)e->begin | (uint32_t)e->sensor << 1);
    }
    const carom_joint_event *joints = carom_world_joint_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        add_id(hash, joints[i].joint.index, joints[i].joint.generation);
        cm_hash_f32(hash, joints[i].force);
        cm_hash_f32(hash, joints[i].torque);
    }
    const carom_sleep_event *sleeps = carom_world_sleep_events(world, &count);
    for (uint32_t i = 0; i < count; i++) {
        add_id(hash, sleeps[i].body.index, sleeps[i].body.generation);
        cm_hash_u32(hash, sleeps[i].asleep);
    }
}
