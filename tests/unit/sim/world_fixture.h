// Worlds for the tests of shared/sim: seeded bodies over a plane, in memory that the test frees.
#ifndef TESTS_UNIT_SIM_WORLD_FIXTURE_H
#define TESTS_UNIT_SIM_WORLD_FIXTURE_H

#include "carom/world.h"
#include "shared/base/rng.h"
#include "shared/base/vec.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// A world of this solver and these limits; free it with free().
static inline carom_world *fixture_world_of(carom_solver_type solver, uint32_t bodies,
                                            uint32_t shapes, uint32_t contacts)
{
    carom_world_def def = carom_default_world_def();
    def.solver.type = solver;
    def.limits.bodies = bodies;
    def.limits.shapes = shapes;
    def.limits.contacts = contacts;
    size_t size = carom_world_size(&def);
    cr_assert(size > 0);
    void *memory = aligned_alloc(64, size);
    carom_world *world = NULL;
    memset(memory, 0xa5, size);
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_OK);
    return world;
}

static inline carom_world *fixture_world(uint32_t bodies, uint32_t shapes, uint32_t contacts)
{
    return fixture_world_of(CAROM_SOLVER_SOFT, bodies, shapes, contacts);
}

// Drawn one after another, z first: arguments of a call have no order.
static inline carom_vec3 fixture_draw(cm_rng *rng, float low, float high)
{
    float z = cm_rng_range(rng, low, high), y = cm_rng_range(rng, low, high);
    return cm_vec(cm_rng_range(rng, low, high), y, z);
}

static inline carom_shape_def fixture_shape(cm_rng *rng)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = (carom_shape_type)cm_rng_below(rng, 3);
    shape.radius = cm_rng_range(rng, 0.2f, 0.5f);
    shape.half_height = cm_rng_range(rng, 0.1f, 0.4f);
    shape.half_extents = fixture_draw(rng, 0.2f, 0.5f);
    shape.restitution = cm_rng_range(rng, 0.0f, 0.5f);
    return shape;
}

// A ground plane and `count` dynamic bodies of one to three shapes in a loose heap.
static inline void fixture_fill(carom_world *world, uint32_t count, uint64_t seed)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    carom_body_def body = carom_default_body_def();
    carom_shape_def ground = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    ground.type = CAROM_SHAPE_PLANE;
    cr_assert_eq(carom_body_create(world, &body, &ground, 1, NULL), CAROM_OK);
    for (uint32_t i = 0; i < count; i++) {
        carom_shape_def shapes[3];
        uint32_t shape_count = 1 + cm_rng_below(&rng, 3);
        for (uint32_t k = 0; k < shape_count; k++) {
            shapes[k] = fixture_shape(&rng);
            shapes[k].position = cm_vec(0.3f * (float)k, 0.0f, 0.1f * (float)k);
        }
        body = carom_default_body_def();
        float z = cm_rng_range(&rng, -1.5f, 1.5f), x = cm_rng_range(&rng, -1.5f, 1.5f);
        body.position = cm_vec(x, 0.8f + 0.5f * (float)i, z);
        body.angular_velocity = cm_vec(cm_rng_range(&rng, -1.0f, 1.0f), 0.5f, 0.0f);
        body.user_data = cm_rng_next(&rng);
        cr_assert_eq(carom_body_create(world, &body, shapes, shape_count, NULL), CAROM_OK);
    }
}

// Joints of every type between the bodies 1 to 8 (which must be there), each with all that its type
// can have; they do not break.
static inline void fixture_join(carom_world *world)
{
    for (uint32_t type = 0; type <= CAROM_JOINT_MOTOR; type++) {
        carom_joint_def def = carom_default_joint_def();
        carom_body_state b;
        def.type = (carom_joint_type)type;
        def.body_a = type == 0 ? (carom_body_id){0, 0} : carom_world_body_at(world, type);
        def.body_b = carom_world_body_at(world, type + 1);
        cr_assert_eq(carom_body_get(world, def.body_b, &b), CAROM_OK);
        def.anchor = def.anchor_b = b.position;
        def.anchor_b.y += 0.5f;
        def.axis = cm_vec(0.6f, 0.0f, 0.8f);
        def.has_motor = type != CAROM_JOINT_FIXED;
        def.motor_velocity = 0.5f;
        def.motor_max = 20.0f;
        def.has_limits =
            type != CAROM_JOINT_BALL && type != CAROM_JOINT_FIXED && type != CAROM_JOINT_MOTOR;
        def.lower = type == CAROM_JOINT_DISTANCE ? 0.1f : -0.3f;
        def.upper = 0.7f;
        def.spring = type % 2 ? CAROM_SPRING_HERTZ : CAROM_SPRING_STIFFNESS;
        def.spring_hertz = 2.0f;
        def.spring_damping_ratio = 0.3f;
        def.spring_stiffness = 400.0f;
        def.spring_damping = 10.0f;
        def.break_force = 1.0e12f;
        def.break_torque = 1.0e12f;
        def.friction = type <= CAROM_JOINT_HINGE ? 0.01f : 0.0f;
        cr_assert_eq(carom_joint_create(world, &def, NULL), CAROM_OK);
    }
}

// Rules of a body with a material, and of two materials.
static inline void fixture_rules(carom_world *world)
{
    carom_pair_rule rule = {
        .body_a = carom_world_body_at(world, 1), .material_b = 3, .friction = 0.4f};
    cr_assert_eq(carom_world_add_pair_rule(world, &rule), CAROM_OK);
    rule =
        (carom_pair_rule){.material_a = 2, .material_b = 3, .friction = -1.0f, .restitution = 0.2f};
    cr_assert_eq(carom_world_add_pair_rule(world, &rule), CAROM_OK);
}

static inline void fixture_step(carom_world *world, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        carom_world_step(world);
    }
}

#endif
