// Goal: hulls and cylinders rest, stand and roll as they should, are saved and rewound with their
// geometry outside the image, and sensors report without pushing. Method: small worlds run for
// seconds; a rewind at every tick; decode in worlds that know other hulls.
#include "shared/base/rng.h"
#include "tests/unit/sim/hulls.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static cm_rig open_rig(cm_hulls *hulls, uint32_t bodies)
{
    carom_world_def def = cm_rig_def(bodies);
    hulls->count = carom_hull_sort(hulls->list, hulls->count);
    def.hulls = hulls->list;
    def.hull_count = hulls->count;
    return cm_rig_open(&def, 0);
}

static carom_body_id add(cm_rig *rig, carom_shape_def shape, carom_vec3 at, carom_quat turn)
{
    carom_body_def body = carom_default_body_def();
    body.position = at;
    body.orientation = turn;
    return cm_rig_body(rig, &body, &shape);
}

static carom_shape_def cylinder(float radius, float half_height)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_CYLINDER;
    shape.radius = radius;
    shape.half_height = half_height;
    return shape;
}

static carom_shape_def hull_shape(const carom_hull *hull)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_HULL;
    shape.hull = hull;
    return shape;
}

Test(rest_convex, ten_hull_cubes_and_ten_cylinders_stand)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    const carom_hull *cube = cm_hulls_box(&hulls, cm_vec(0.5f, 0.5f, 0.5f));
    cm_rig rig = open_rig(&hulls, 32);
    cm_rig_plane(&rig);
    carom_body_id last[2];
    for (uint32_t i = 0; i < 10; i++) {
        float y = 0.5f + (float)i;
        last[0] = add(&rig, hull_shape(cube), cm_vec(0, y, 0), cm_quat_identity());
        last[1] = add(&rig, cylinder(0.5f, 0.5f), cm_vec(4, y, 0), cm_quat_identity());
    }
    cm_rig_step(&rig, 900);
    for (uint32_t i = 0; i < 2; i++) {
        carom_body_state state = cm_rig_get(&rig, last[i]);
        cr_assert_float_eq(state.position.x, 4.0f * (float)i, 0.03f, "tower %u", i);
        cr_assert_float_eq(state.position.y, 9.5f, 0.06f, "tower %u", i);
        cr_assert_lt(cm_length(state.linear_velocity), 0.05f, "tower %u", i);
    }
    double depth;
    uint32_t touching;
    carom_world_measure_contacts(rig.world, &touching, &depth);
    cr_assert_eq(touching, 20);
    cr_assert_lt(depth, 0.01);
    cm_rig_close(&rig);
    cm_hulls_close(&hulls);
}

// Goal: a face of three points that wakes has the load of its own points, and of no others. Method:
// a column of prisms on their triangles falls asleep and a ball wakes it, beside others in whose
// memory lies other rubbish; the contact of the two at the top is the last of the world, so that
// behind its points there is nothing but that. (Engine 35: a load read a fourth one.)
Test(rest_convex, a_face_of_three_points_wakes_by_its_own_load)
{
    enum { PRISMS = 4, ASLEEP = 240, AWAKE = 20 };
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    const float x = 0.5f, z = 0.4f, y = 0.2f;
    const carom_vec3 corners[6] = {{-x, -y, -z}, {x, -y, -z}, {0.0f, -y, z},
                                   {-x, y, -z},  {x, y, -z},  {0.0f, y, z}};
    const carom_hull *prism = cm_hulls_add(&hulls, corners, 6);
    uint64_t hashes[AWAKE];
    for (uint32_t rubbish = 0; rubbish < 8; rubbish++) {
        cm_rig rig = open_rig(&hulls, PRISMS + 2);
        carom_body_id body = {0, 0};
        rig.rubbish = rubbish;
        cm_rig_plane(&rig);
        carom_body_id ball = cm_rig_sphere(&rig, cm_vec(-9.0f, 0.3f, 0.0f), 0.3f);
        for (uint32_t i = 0; i < PRISMS; i++) {
            body = add(&rig, hull_shape(prism), cm_vec(0.0f, y + 2.0f * y * (float)i, 0.0f),
                       cm_quat_identity());
        }
        cm_rig_step(&rig, ASLEEP);
        cr_assert(cm_rig_get(&rig, body).asleep);
        carom_body_set_pose(rig.world, ball, cm_vec(-0.9f, 0.3f, 0.0f), cm_quat_identity());
        carom_body_set_velocity(rig.world, ball, cm_vec(2.0f, 0.0f, 0.0f), cm_vec(0, 0, 0));
        for (uint32_t tick = 0; tick < AWAKE; tick++) {
            cm_rig_step(&rig, 1);
            uint64_t hash = carom_world_hash(rig.world);
            hashes[tick] = rubbish == 0 ? hash : hashes[tick];
            cr_assert_eq(hash, hashes[tick], "rubbish %u, tick %u", rubbish, tick);
        }
        cr_assert_not(cm_rig_get(&rig, body).asleep);
        cm_rig_close(&rig);
    }
    cm_hulls_close(&hulls);
}

// Rolling without sliding: neither speeds up nor slows down, on a plane and on a box, and the axis
// stays a radius above the ground.
Test(rest_convex, cylinders_roll_smoothly)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    cm_rig rig = open_rig(&hulls, 8);
    cm_rig_plane(&rig);
    cm_rig_box(&rig, CAROM_BODY_STATIC, cm_vec(20, -0.5f, 0), cm_vec(5, 1.5f, 50));
    carom_body_id id[2];
    for (uint32_t i = 0; i < 2; i++) {
        carom_vec3 at = cm_vec(20.0f * (float)i, 0.5f + (float)i, 0);
        id[i] = add(&rig, cylinder(0.5f, 0.5f), at, cm_rig_turn_z(1.57079633f));
        carom_body_set_velocity(rig.world, id[i], cm_vec(0, 0, 2), cm_vec(4, 0, 0));
    }
    for (uint32_t tick = 0; tick < 600; tick++) {
        cm_rig_step(&rig, 1);
        for (uint32_t i = 0; i < 2; i++) {
            carom_body_state state = cm_rig_get(&rig, id[i]);
            cr_assert_float_eq(state.position.y, 0.5f + (float)i, 0.002f);
            cr_assert_float_eq(state.linear_velocity.z, 2.0f, 0.01f);
            cr_assert_float_eq(state.linear_velocity.x, 0.0f, 0.05f);
        }
    }
    cm_rig_close(&rig);
    cm_hulls_close(&hulls);
}

static void fill(cm_rig *rig, const cm_hulls *hulls, uint64_t seed)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 40; i++) {
        carom_vec3 at = cm_hulls_vec(&seed, 1.0f);
        at.y = 0.6f + 0.3f * (float)i;
        carom_shape_def shape = i % 3 == 0   ? cylinder(0.3f, 0.25f)
                                : i % 3 == 1 ? hull_shape(hulls->list[i % hulls->count])
                                             : carom_default_shape_def();
        shape.radius = 0.3f;
        shape.type = i % 6 == 5 ? CAROM_SHAPE_CAPSULE : shape.type;
        shape.half_height = 0.25f;
        shape.sensor = i % 10 == 9;
        add(rig, shape, at, cm_hulls_turn(&seed));
    }
}

Test(rest_convex, dice_and_drums_come_to_rest_and_rewind)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    uint64_t state = 17;
    cm_hulls_die(&hulls, 0.3f);
    cm_hulls_random(&hulls, &state, 12, 0.35f);
    cm_hulls_random(&hulls, &state, 30, 0.35f);
    cm_rig rig = open_rig(&hulls, 64), other = open_rig(&hulls, 64);
    fill(&rig, &hulls, 4);
    size_t bound = carom_world_save_bound(rig.world);
    void *image = malloc(bound);
    for (uint32_t tick = 0; tick < 300; tick++) {
        size_t size = carom_world_save(rig.world, image, bound);
        cr_assert_eq(carom_world_restore(other.world, image, size), CAROM_OK);
        cm_rig_step(&rig, 1);
        cm_rig_step(&other, 1);
        cr_assert_eq(carom_world_hash(rig.world), carom_world_hash(other.world), "tick %u", tick);
    }
    free(image);
    double depth;
    carom_world_measure_contacts(rig.world, NULL, &depth);
    cr_assert_lt(depth, 0.05, "%g", depth);
    cm_rig_close(&rig);
    cm_rig_close(&other);
    cm_hulls_close(&hulls);
}

Test(rest_convex, geometry_is_named_by_content)
{
    cm_hulls hulls, same, none;
    cm_hulls_open(&hulls);
    cm_hulls_open(&same);
    cm_hulls_open(&none);
    cm_hulls_die(&hulls, 0.3f);
    cm_hulls_box(&same, cm_vec(1, 2, 3));
    const carom_hull *stranger = same.list[0];
    cm_hulls_die(&same, 0.3f);
    cm_rig rig = open_rig(&hulls, 8), twin = open_rig(&same, 8), empty = open_rig(&none, 8);
    carom_body_id body = add(&rig, hull_shape(hulls.list[0]), cm_vec(0, 1, 0), cm_quat_identity());
    uint8_t bytes[4096], row[1024];
    size_t size = carom_world_encode(rig.world, bytes, sizeof bytes);
    size_t row_size = carom_world_encode_body(rig.world, body, row, sizeof row);
    cr_assert(size > 0 && row_size > 0);
    cr_assert_eq(carom_world_decode(twin.world, bytes, size), CAROM_OK);
    cr_assert_eq(carom_world_hash(twin.world), carom_world_hash(rig.world));
    cr_assert_eq(carom_world_decode_body(twin.world, row, row_size, NULL), CAROM_OK);
    cr_assert_eq(carom_world_decode(empty.world, bytes, size), CAROM_ERROR_NOT_FOUND);
    cr_assert_eq(carom_world_decode_body(empty.world, row, row_size, NULL), CAROM_ERROR_NOT_FOUND);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = hull_shape(stranger);
    cr_assert_eq(carom_body_create(rig.world, &def, &shape, 1, NULL), CAROM_ERROR_NOT_FOUND);
    shape.hull = NULL;
    cr_assert_eq(carom_body_create(rig.world, &def, &shape, 1, NULL), CAROM_ERROR_ARGUMENT);
    carom_shape_id id;
    cr_assert_eq(carom_body_shapes(twin.world, body, &id, 1), 1);
    cr_assert_eq(carom_shape_get(twin.world, id, &shape, NULL), CAROM_OK);
    cr_assert_eq(carom_hull_id(shape.hull), carom_hull_id(hulls.list[0]));
    cm_rig_close(&rig);
    cm_rig_close(&twin);
    cm_rig_close(&empty);
    cm_hulls_close(&hulls);
    cm_hulls_close(&same);
    cm_hulls_close(&none);
}

Test(rest_convex, a_sensor_reports_and_pushes_nothing)
{
    cm_hulls hulls;
    cm_hulls_open(&hulls);
    cm_rig rig = open_rig(&hulls, 8);
    carom_body_def still = carom_default_body_def();
    carom_shape_def gate = carom_default_shape_def();
    still.type = CAROM_BODY_STATIC;
    gate.type = CAROM_SHAPE_BOX;
    gate.sensor = true;
    cm_rig_body(&rig, &still, &gate);
    carom_body_id ball = cm_rig_sphere(&rig, cm_vec(0, 3, 0), 0.25f);
    uint32_t begins = 0, ends = 0;
    for (uint32_t tick = 0; tick < 120; tick++) {
        cm_rig_step(&rig, 1);
        uint32_t count;
        const carom_contact_event *events = carom_world_contact_events(rig.world, &count);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert(events[i].sensor);
            cr_assert_eq(events[i].impulse, 0.0f);
            begins += events[i].begin;
            ends += !events[i].begin;
        }
        // Falling freely: v = g t.
        float v = cm_rig_get(&rig, ball).linear_velocity.y;
        cr_assert_float_eq(v, -9.81f * (float)(tick + 1) / 60.0f, 1.0e-3f);
    }
    cr_assert_eq(begins, 1);
    cr_assert_eq(ends, 1);
    cm_rig_close(&rig);
    cm_hulls_close(&hulls);
}
