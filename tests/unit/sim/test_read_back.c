// Goal: what is in a world can be read back and put into another one, and what a caller may change
// beside bodies does what world.h says. Method: bodies made again from the defs that were read,
// rows compared; worlds of other surfaces, rules, ticks, lanes and forgotten events beside each
// other.
#include <criterion/criterion.h>

#include "shared/sim/state/image.h"
#include "tests/unit/sim/rig.h"

#include <math.h>
#include <string.h>

static carom_body_def full_def(void)
{
    carom_body_def def = carom_default_body_def();
    def.position = cm_vec(1.0f, 2.0f, 3.0f);
    def.linear_velocity = cm_vec(0.1f, -0.2f, 0.3f);
    def.angular_velocity = cm_vec(1.0f, 0.5f, -0.5f);
    def.force = cm_vec(4.0f, 5.0f, 6.0f);
    def.torque = cm_vec(-1.0f, 2.0f, -3.0f);
    def.gravity_scale = 0.5f;
    def.linear_damping = 0.25f;
    def.angular_damping = 0.125f;
    def.user_data = 77;
    def.axis_locks = CAROM_LOCK_X | CAROM_LOCK_RZ;
    def.report_force = true;
    def.sleep = false;
    def.epsilon = 0.01f;
    def.gamma = 0.5f;
    return def;
}

Test(read_back, a_body_is_made_again_from_its_def)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_def def = full_def(), again;
    carom_shape_def shape = carom_default_shape_def();
    carom_shape_id id;
    shape.type = CAROM_SHAPE_CAPSULE;
    carom_body_id first = cm_rig_body(&rig, &def, &shape), second;
    cr_assert_eq(carom_body_get_def(rig.world, first, &again), CAROM_OK);
    cr_assert_eq(carom_body_shapes(rig.world, first, &id, 1), 1);
    cr_assert_eq(carom_shape_get(rig.world, id, &shape, NULL), CAROM_OK);
    cr_assert_eq(carom_body_create(rig.world, &again, &shape, 1, &second), CAROM_OK);
    cm_body a = cm_bodies(rig.world)[first.index], b = cm_bodies(rig.world)[second.index];
    a.first_shape = b.first_shape = 0; // each its own
    cr_assert_eq(memcmp(&a, &b, sizeof a), 0);
    cr_assert_eq(memcmp(&cm_motions(rig.world)[0], &cm_motions(rig.world)[1], sizeof(cm_motion)),
                 0);
    cr_assert(again.has_mass && again.has_inertia && again.has_center_of_mass);
    cr_assert_eq(carom_body_destroy(rig.world, first), CAROM_OK);
    cr_assert_eq(carom_body_get_def(rig.world, first, &again), CAROM_ERROR_STALE_ID);
    cr_assert_eq(carom_body_get_def(rig.world, second, NULL), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_body_get_def(NULL, second, &again), CAROM_ERROR_ARGUMENT);
    cm_rig_close(&rig);
}

Test(read_back, a_pointer_names_its_player)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id plain = cm_rig_body(&rig, &def, &shape);
    def.type = CAROM_BODY_KINEMATIC;
    def.pointer = 9;
    carom_body_id pointer = cm_rig_body(&rig, &def, &shape);
    cr_assert_eq(carom_body_pointer(rig.world, plain), CAROM_NO_PLAYER);
    cr_assert_eq(carom_body_pointer(rig.world, pointer), 9);
    carom_body_destroy(rig.world, pointer);
    cr_assert_eq(carom_body_pointer(rig.world, pointer), CAROM_NO_PLAYER);
    cr_assert_eq(carom_body_pointer(NULL, plain), CAROM_NO_PLAYER);
    cm_rig_close(&rig);
}

// Speed of a box that slid for half a second over a plane.
static float slide(bool rule, bool cleared, float friction)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id ids[2] = {cm_rig_plane(&rig), {0, 0}};
    ids[1] = cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 0.5f, 0), cm_vec(0.5f, 0.5f, 0.5f));
    carom_body_set_velocity(rig.world, ids[1], cm_vec(8.0f, 0, 0), cm_vec(0, 0, 0));
    if (rule) {
        carom_pair_rule stick = {ids[0], ids[1], 0, 0, 2.0f, 0.0f};
        cr_assert_eq(carom_world_add_pair_rule(rig.world, &stick), CAROM_OK);
    }
    if (cleared) {
        carom_world_clear_pair_rules(rig.world);
    }
    for (int i = 0; i < 2; i++) {
        carom_shape_id shape;
        carom_body_shapes(rig.world, ids[i], &shape, 1);
        cr_assert_eq(carom_shape_set_surface(rig.world, shape, friction, 0.0f), CAROM_OK);
    }
    cm_rig_step(&rig, 30);
    float speed = cm_rig_get(&rig, ids[1]).linear_velocity.x;
    cm_rig_close(&rig);
    return speed;
}

Test(read_back, surfaces_change_and_rules_are_cleared)
{
    cr_assert_gt(slide(false, false, 0.0f), 7.99f);
    cr_assert_lt(slide(false, false, 1.0f), 4.0f);
    cr_assert_lt(slide(true, false, 0.0f), 4.0f);
    cr_assert_gt(slide(true, true, 0.0f), 7.99f);
}

Test(read_back, a_bad_surface_is_refused)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id box = cm_rig_sphere(&rig, cm_vec(0, 0, 0), 0.5f);
    carom_shape_id shape;
    carom_body_shapes(rig.world, box, &shape, 1);
    uint64_t before = carom_world_hash(rig.world);
    cr_assert_eq(carom_shape_set_surface(NULL, shape, 0.5f, 0.5f), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_shape_set_surface(rig.world, shape, -0.5f, 0.5f), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_shape_set_surface(rig.world, shape, 0.5f, 1.5f), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_shape_set_surface(rig.world, shape, NAN, 0.5f), CAROM_ERROR_NOT_FINITE);
    cr_assert_eq(carom_world_hash(rig.world), before);
    carom_body_destroy(rig.world, box);
    cr_assert_eq(carom_shape_set_surface(rig.world, shape, 0.5f, 0.5f), CAROM_ERROR_STALE_ID);
    cm_rig_close(&rig);
}

Test(read_back, a_surface_that_changes_wakes_what_lies_there)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_body_id plane = cm_rig_plane(&rig);
    carom_body_id box =
        cm_rig_box(&rig, CAROM_BODY_DYNAMIC, cm_vec(0, 0.5f, 0), cm_vec(0.5f, 0.5f, 0.5f));
    cm_rig_step(&rig, 120);
    cr_assert(cm_rig_get(&rig, box).asleep);
    carom_shape_id shape;
    carom_body_shapes(rig.world, plane, &shape, 1);
    carom_shape_def def;
    carom_shape_get(rig.world, shape, &def, NULL);
    carom_shape_set_surface(rig.world, shape, def.friction, def.restitution);
    cr_assert(cm_rig_get(&rig, box).asleep, "nothing changed");
    carom_shape_set_surface(rig.world, shape, 0.0f, 0.0f);
    cr_assert_not(cm_rig_get(&rig, box).asleep);
    cm_rig_close(&rig);
}

Test(read_back, events_are_forgotten_and_nothing_else)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    cm_rig_plane(&rig);
    cm_rig_sphere(&rig, cm_vec(0, 0.5f, 0), 0.5f);
    cm_rig_step(&rig, 1);
    uint32_t count = 0;
    carom_world_contact_events(rig.world, &count);
    cr_assert_eq(count, 1);
    uint64_t before = carom_world_hash(rig.world);
    rig.world->joint_event_count = rig.world->sleep_event_count = 1;
    carom_world_clear_events(rig.world);
    carom_world_contact_events(rig.world, &count);
    cr_assert_eq(count, 0);
    carom_world_joint_events(rig.world, &count);
    cr_assert_eq(count, 0);
    carom_world_sleep_events(rig.world, &count);
    cr_assert_eq(count, 0);
    cr_assert_eq(carom_world_hash(rig.world), before);
    cm_rig_close(&rig);
}

Test(read_back, tick_and_lanes_are_set)
{
    carom_world_def world_def = cm_rig_def(4);
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_world_set_tick(rig.world, 1234567890123u);
    cr_assert_eq(carom_world_tick(rig.world), 1234567890123u);
    static const uint32_t good[] = {0, 1, 4, 8, 16};
    for (uint32_t lanes = 0; lanes < 20; lanes++) {
        bool is_good = false;
        for (uint32_t i = 0; i < sizeof good / sizeof good[0]; i++) {
            is_good = is_good || lanes == good[i];
        }
        carom_result expected = is_good ? CAROM_OK : CAROM_ERROR_ARGUMENT;
        cr_assert_eq(carom_world_set_lanes(rig.world, lanes), expected, "%u", lanes);
    }
    cr_assert_eq(carom_world_set_lanes(NULL, 1), CAROM_ERROR_ARGUMENT);
    cm_rig_close(&rig);
}

Test(read_back, gravity_rate_and_limits_are_those_of_the_def)
{
    carom_world_def world_def = cm_rig_def(4);
    world_def.gravity = cm_vec(1.0f, -2.0f, 3.0f);
    world_def.tick_rate = 125;
    cm_rig rig = cm_rig_open(&world_def, 0);
    carom_vec3 gravity = carom_world_gravity(rig.world);
    cr_assert_eq(gravity.x, 1.0f);
    cr_assert_eq(gravity.y, -2.0f);
    cr_assert_eq(gravity.z, 3.0f);
    cr_assert_eq(carom_world_tick_rate(rig.world), 125);
    cr_assert_eq(carom_world_limits(rig.world).bodies, world_def.limits.bodies);
    cm_rig_close(&rig);
}
