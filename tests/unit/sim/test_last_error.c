// What a refused call tells. Goal: each field that a world refuses is named, with its shape where
// it is a shape's. Method: defs that are sound but for one field, handed to the API one by one.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sim/rig.h"

static void expect(const carom_world *world, carom_result result, carom_result wanted,
                   const char *field)
{
    carom_error error = carom_last_error(world);
    cr_expect_eq(result, wanted, "%s: %s", field, carom_result_text(result));
    cr_expect_eq(error.result, wanted, "%s", field);
    cr_expect_str_eq(error.field, field);
    cr_expect_neq(error.expected[0], '\0', "%s", field);
}

// Creates a world of a def with one field changed; the message carries the field's own name.
#define WORLD(field_, value)                                                                       \
    do {                                                                                           \
        carom_world_def def = carom_default_world_def();                                           \
        carom_error error = {CAROM_OK, "", "", 0};                                                 \
        def.error = &error;                                                                        \
        def.field_ = (value);                                                                      \
        carom_result result = carom_world_create(&def, memory, 64, &world);                        \
        cr_expect_neq(result, CAROM_OK, #field_);                                                  \
        cr_expect_eq(error.result, result);                                                        \
        cr_expect_str_eq(error.field, #field_);                                                    \
        cr_expect_neq(error.expected[0], '\0', #field_);                                           \
        cr_expect_eq(error.shape, CAROM_NO_SHAPE);                                                 \
    } while (0)

Test(last_error, fields_of_a_world)
{
    carom_world *world;
    void *memory = aligned_alloc(64, 64);
    WORLD(tick_rate, 0);
    WORLD(gravity, cm_vec(0.0f, NAN, 0.0f));
    WORLD(friction_combine, (carom_combine)9);
    WORLD(restitution_combine, (carom_combine)-1);
    WORLD(limits.bodies, 65537);
    WORLD(limits.shapes, 1u << 20);
    WORLD(limits.joints, UINT32_MAX);
    WORLD(limits.contacts, 1u << 21);
    WORLD(solver.type, (carom_solver_type)4);
    WORLD(solver.soft.substeps, 65);
    WORLD(solver.soft.restitution_threshold, -1.0f);
    WORLD(solver.impulse.model, (carom_impulse_model)3);
    WORLD(solver.impulse.pixel, -1.0f);
    WORLD(solver.lcp.epsilon, -1.0f);
    WORLD(solver.lcp.gamma, 1.5f);
    WORLD(solver.lcp.friction_model, (carom_friction_model)4);
    WORLD(solver.lcp.integration, (carom_integration)2);
    WORLD(solver.lcp.rounds, 0);
    WORLD(solver.lcp.max_friction, NAN);
    WORLD(solver.lcp.direct_rows, 2049);
    WORLD(solver.volume.contact, (carom_volume_contact)2);
    WORLD(solver.volume.stiffness, -2.0f);
    WORLD(solver.volume.damping, -2.0f);
    WORLD(solver.volume.tangent_stiffness, -2.0f);
    WORLD(solver.volume.tangent_damping, INFINITY);
    WORLD(solver.volume.friction_kinetic, 1.0e4f);
    WORLD(solver.volume.friction_static, 1.0e4f);
    WORLD(solver.volume.segments, 2);
    free(memory);
}

#define BODY(field_, value, wanted)                                                                \
    do {                                                                                           \
        carom_body_def def = carom_default_body_def();                                             \
        def.field_ = (value);                                                                      \
        expect(rig.world, carom_body_create(rig.world, &def, &shape, 1, NULL), wanted, #field_);   \
        cr_expect_eq(carom_last_error(rig.world).shape, CAROM_NO_SHAPE, #field_);                  \
    } while (0)

Test(last_error, fields_of_a_body)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_shape_def shape = carom_default_shape_def();
    BODY(type, (carom_body_type)3, CAROM_ERROR_ARGUMENT);
    BODY(position, cm_vec(2.0e7f, 0.0f, 0.0f), CAROM_ERROR_ARGUMENT);
    BODY(orientation, ((carom_quat){0.0f, 0.0f, 0.0f, 2.0f}), CAROM_ERROR_ARGUMENT);
    BODY(linear_velocity, cm_vec(0.0f, NAN, 0.0f), CAROM_ERROR_NOT_FINITE);
    BODY(angular_velocity, cm_vec(0.0f, 2.0e6f, 0.0f), CAROM_ERROR_ARGUMENT);
    BODY(force, cm_vec(0.0f, INFINITY, 0.0f), CAROM_ERROR_NOT_FINITE);
    BODY(torque, cm_vec(0.0f, 1.0e16f, 0.0f), CAROM_ERROR_ARGUMENT);
    BODY(gravity_scale, 1.0e7f, CAROM_ERROR_ARGUMENT);
    BODY(linear_damping, -1.0f, CAROM_ERROR_ARGUMENT);
    BODY(angular_damping, -1.0f, CAROM_ERROR_ARGUMENT);
    BODY(axis_locks, 64, CAROM_ERROR_ARGUMENT);
    BODY(pointer, 0, CAROM_ERROR_ARGUMENT); // a dynamic body has none
    BODY(epsilon, 2.0e3f, CAROM_ERROR_ARGUMENT);
    BODY(gamma, 2.0f, CAROM_ERROR_ARGUMENT);
    carom_body_def def = carom_default_body_def();
    def.has_mass = def.has_inertia = def.has_center_of_mass = true;
    def.inertia = cm_vec(1.0f, 1.0f, 1.0f);
    def.mass = -1.0f;
    expect(rig.world, carom_body_create(rig.world, &def, NULL, 0, NULL), CAROM_ERROR_ARGUMENT,
           "mass");
    def.mass = 1.0f;
    def.inertia.y = -1.0f;
    expect(rig.world, carom_body_create(rig.world, &def, NULL, 0, NULL), CAROM_ERROR_ARGUMENT,
           "inertia");
    def.inertia.y = 1.0f;
    def.center_of_mass.x = NAN;
    expect(rig.world, carom_body_create(rig.world, &def, NULL, 0, NULL), CAROM_ERROR_NOT_FINITE,
           "center_of_mass");
    def = carom_default_body_def();
    def.type = CAROM_BODY_STATIC;
    def.linear_velocity.x = 1.0f;
    expect(rig.world, carom_body_create(rig.world, &def, &shape, 1, NULL), CAROM_ERROR_ARGUMENT,
           "linear_velocity");
    shape.density = 0.0f;
    def = carom_default_body_def();
    expect(rig.world, carom_body_create(rig.world, &def, &shape, 1, NULL), CAROM_ERROR_ARGUMENT,
           "mass");
    expect(rig.world, carom_body_create(rig.world, &def, NULL, 1, NULL), CAROM_ERROR_ARGUMENT,
           "shapes");
    cm_rig_close(&rig);
}

// The second of two shapes is refused, and the error says so.
#define SHAPE(type_, field_, value)                                                                \
    do {                                                                                           \
        carom_body_def def = carom_default_body_def();                                             \
        carom_shape_def shapes[2] = {carom_default_shape_def(), carom_default_shape_def()};        \
        shapes[1].type = CAROM_SHAPE_##type_;                                                      \
        shapes[1].field_ = (value);                                                                \
        carom_result result = carom_body_create(rig.world, &def, shapes, 2, NULL);                 \
        expect(rig.world, result, result, #field_);                                                \
        cr_expect_neq(result, CAROM_OK, #field_);                                                  \
        cr_expect_eq(carom_last_error(rig.world).shape, 1u, #field_);                              \
    } while (0)

Test(last_error, fields_of_a_shape)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    SHAPE(SPHERE, type, (carom_shape_type)77);
    SHAPE(SPHERE, type, CAROM_SHAPE_PLANE); // of a dynamic body
    SHAPE(SPHERE, radius, 0.0f);
    SHAPE(CAPSULE, half_height, 1.0e7f);
    SHAPE(BOX, half_extents, cm_vec(1.0f, 1.0f, NAN));
    SHAPE(PLANE, normal, cm_vec(1.0f, 1.0f, 0.0f));
    SHAPE(PLANE, offset, 1.0e8f);
    SHAPE(HULL, hull, NULL);
    SHAPE(BOX, position, cm_vec(0.0f, 2.0e6f, 0.0f));
    SHAPE(BOX, orientation, ((carom_quat){0.0f, 0.0f, 0.0f, 0.0f}));
    SHAPE(BOX, friction, -0.1f);
    SHAPE(BOX, restitution, 1.1f);
    SHAPE(BOX, density, -1.0f);
    SHAPE(BOX, rolling_friction, -1.0f);
    SHAPE(BOX, spin_friction, NAN);
    SHAPE(BOX, surface_velocity, cm_vec(2.0e6f, 0.0f, 0.0f));
    SHAPE(BOX, contact_mode, (carom_contact_mode)4);
    SHAPE(BOX, contact_axis, cm_vec(2.0f, 0.0f, 0.0f));
    SHAPE(BOX, contact_slip, -1.0f);
    SHAPE(BOX, contact_max_force, -1.0f);
    SHAPE(BOX, contact_slip_by_speed, -1.0f);
    SHAPE(BOX, contact_trail, -1.0f);
    cm_rig_close(&rig);
}

// A planet may stand still: what nothing moves has no mass to be out of range.
Test(last_error, a_static_body_may_weigh_anything)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_shape_def shape = carom_default_shape_def();
    shape.radius = 1.0e6f;
    carom_body_def def = carom_default_body_def();
    carom_body_id id;
    expect(rig.world, carom_body_create(rig.world, &def, &shape, 1, &id), CAROM_ERROR_ARGUMENT,
           "mass");
    def.type = CAROM_BODY_STATIC;
    cr_assert_eq(carom_body_create(rig.world, &def, &shape, 1, &id), CAROM_OK);
    expect(rig.world, carom_body_set_type(rig.world, id, CAROM_BODY_DYNAMIC), CAROM_ERROR_ARGUMENT,
           "mass");
    cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0.0f, 1.0e6f + 0.5f, 0.0f),
               cm_vec(0.5f, 0.5f, 0.5f));
    cm_rig_step(&rig, 10);
    cm_rig_close(&rig);
}

Test(last_error, parameters_of_calls)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_world *world = rig.world;
    carom_body_id ground = cm_rig_plane(&rig);
    carom_body_id box = cm_rig_sphere(&rig, cm_vec(0.0f, 1.0f, 0.0f), 0.5f);
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f), nan = cm_vec(NAN, 0.0f, 0.0f);
    const carom_body_id gone = {box.index, box.generation + 1};
    const carom_quat upright = {0.0f, 0.0f, 0.0f, 1.0f}, none = {0.0f, 0.0f, 0.0f, 0.0f};
    carom_result nf = CAROM_ERROR_NOT_FINITE, argument = CAROM_ERROR_ARGUMENT;
    expect(world, carom_body_set_pose(world, box, nan, upright), nf, "position");
    expect(world, carom_body_set_pose(world, box, zero, none), argument, "orientation");
    expect(world, carom_body_set_velocity(world, box, nan, zero), nf, "linear");
    expect(world, carom_body_set_velocity(world, box, zero, nan), nf, "angular");
    expect(world, carom_body_set_velocity(world, ground, cm_vec(1.0f, 0.0f, 0.0f), zero),
           CAROM_ERROR_STATE, "body");
    expect(world, carom_body_set_force(world, box, nan, zero), nf, "force");
    expect(world, carom_body_apply_force(world, box, zero, nan), nf, "torque");
    expect(world, carom_body_apply_impulse(world, box, nan, zero), nf, "impulse");
    expect(world, carom_body_apply_impulse(world, box, zero, nan), nf, "point");
    expect(world, carom_body_set_type(world, ground, CAROM_BODY_KINEMATIC), argument, "type");
    expect(world, carom_body_destroy(world, gone), CAROM_ERROR_STALE_ID, "body");
    carom_pair_rule rule = {.body_a = box, .material_b = 1, .friction = 1.0e4f};
    expect(world, carom_world_add_pair_rule(world, &rule), argument, "friction");
    carom_joint_def joint = carom_default_joint_def();
    joint.body_b = gone;
    expect(world, carom_joint_create(world, &joint, NULL), CAROM_ERROR_STALE_ID, "body_b");
    joint.body_b = box;
    joint.axis = zero;
    expect(world, carom_joint_create(world, &joint, NULL), argument, "axis");
    joint = carom_default_joint_def();
    joint.body_b = box;
    joint.has_limits = true;
    expect(world, carom_joint_create(world, &joint, NULL), argument, "has_limits");
    joint.type = CAROM_JOINT_HINGE;
    joint.lower = 1.0f;
    expect(world, carom_joint_create(world, &joint, NULL), argument, "lower");
    joint.upper = 1.0f;
    carom_joint_id id;
    cr_assert_eq(carom_joint_create(world, &joint, &id), CAROM_OK);
    cr_expect_str_eq(carom_last_error(world).field, "lower", "a call that succeeds tells nothing");
    expect(world, carom_joint_set_motor(world, id, 1.0f, -1.0f), argument, "motor_max");
    expect(world, carom_world_restore(world, "too short", 9), CAROM_ERROR_CORRUPT, "size");
    cr_expect_neq(carom_world_decode(world, "too short", 9), CAROM_OK);
    cr_expect_str_eq(carom_last_error(world).field, "bytes");
    cm_rig_close(&rig);
}
