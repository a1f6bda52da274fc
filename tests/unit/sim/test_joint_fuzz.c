// Goal: no joint, however it is made, makes a number that is not finite, or remembers anything
// outside the state. Method: worlds of random bodies and random joints (all types, extreme springs,
// motors, limits, masses) from seeds; motors and limits change, bodies jump and go; after each
// stretch the save is restored into a second world and both must go on alike.
#include "shared/sim/state/image.h"
#include "tests/unit/counts.h"
#include "tests/unit/sim/rig.h"
#include "tests/unit/sim/world_fixture.h"

#define SEEDS     100u
#define SEEDS_ALL 400u
#define STRETCHES 6u
#define STRETCH   12u

static float spread(cm_rng *rng)
{
    static const float scales[] = {0.0f, 1.0e-3f, 1.0f, 50.0f, 1.0e4f, 1.0e9f};
    return scales[cm_rng_below(rng, 6)] * cm_rng_range(rng, 0.5f, 1.0f);
}

static carom_vec3 around(cm_rng *rng, float width)
{
    carom_vec3 v;
    v.x = cm_rng_range(rng, -width, width);
    v.y = cm_rng_range(rng, -width, width);
    v.z = cm_rng_range(rng, -width, width);
    return v;
}

static carom_body_id some_body(const carom_world *world, cm_rng *rng)
{
    return carom_world_body_at(world, cm_rng_below(rng, carom_world_body_slots(world)));
}

// Refused where two bodies are one, or both static: so be it.
static void add_joint(carom_world *world, cm_rng *rng)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = (carom_joint_type)cm_rng_below(rng, CAROM_JOINT_MOTOR + 1);
    def.body_b = some_body(world, rng);
    if (cm_rng_below(rng, 4) != 0) {
        def.body_a = some_body(world, rng);
    }
    def.anchor = around(rng, 3.0f);
    def.anchor_b = cm_rng_below(rng, 4) == 0 ? def.anchor : around(rng, 3.0f);
    def.axis = around(rng, 1.0f);
    def.steering_axis = around(rng, 1.0f);
    def.collide = cm_rng_below(rng, 2) == 0;
    def.has_limits = cm_rng_below(rng, 2) == 0 && def.type != CAROM_JOINT_BALL &&
                     def.type != CAROM_JOINT_FIXED && def.type != CAROM_JOINT_MOTOR;
    def.lower = def.type == CAROM_JOINT_DISTANCE ? 0.0f : -spread(rng) * 1.0e-3f;
    def.upper = def.lower + spread(rng) * 1.0e-3f;
    def.has_motor = cm_rng_below(rng, 2) == 0 && def.type != CAROM_JOINT_FIXED;
    def.motor_velocity = cm_rng_range(rng, -100.0f, 100.0f);
    def.motor_max = spread(rng);
    def.spring = (carom_spring_type)cm_rng_below(rng, 3);
    def.spring_hertz = spread(rng);
    def.spring_damping_ratio = spread(rng);
    def.spring_stiffness = spread(rng);
    def.spring_damping = spread(rng);
    def.break_force = cm_rng_below(rng, 4) == 0 ? spread(rng) : 0.0f;
    carom_joint_create(world, &def, NULL);
}

static void disturb(carom_world *world, cm_rng *rng)
{
    carom_body_id body = some_body(world, rng);
    uint32_t slots = carom_world_joint_slots(world);
    carom_joint_id joint = carom_world_joint_at(world, slots ? cm_rng_below(rng, slots) : 0);
    switch (cm_rng_below(rng, 7)) {
    case 0:
        carom_body_set_pose(world, body, around(rng, 1.0e4f), cm_quat_identity());
        break;
    case 1:
        carom_body_set_velocity(world, body, around(rng, 1.0e5f), around(rng, 1.0e5f));
        break;
    case 2:
        carom_body_set_type(world, body, (carom_body_type)cm_rng_below(rng, 3));
        break;
    case 3:
        carom_joint_set_motor(world, joint, cm_rng_range(rng, -9.0f, 9.0f), spread(rng));
        break;
    case 4:
        carom_joint_set_limits(world, joint, 0.1f, 0.1f + spread(rng) * 1.0e-3f);
        break;
    case 5:
        carom_joint_destroy(world, joint);
        break;
    default:
        carom_body_destroy(world, body);
        break;
    }
}

static void check_finite(const carom_world *world, uint64_t seed)
{
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        const cm_motion *m = &cm_motions(world)[slot];
        cr_assert(cm_vec_is_finite(m->position) && cm_quat_is_finite(m->orientation) &&
                      cm_vec_is_finite(m->linear_velocity) && cm_vec_is_finite(m->angular_velocity),
                  "seed %llu", (unsigned long long)seed);
    }
    for (uint32_t slot = 0; slot < carom_world_joint_slots(world); slot++) {
        carom_joint_state state;
        if (carom_joint_get(world, carom_world_joint_at(world, slot), &state) == CAROM_OK) {
            cr_assert(cm_is_finite(state.value) && cm_is_finite(state.rate) &&
                          cm_is_finite(state.error) && cm_is_finite(state.force) &&
                          cm_is_finite(state.torque),
                      "seed %llu", (unsigned long long)seed);
        }
    }
}

static void run(uint64_t seed)
{
    carom_world *world = fixture_world(16, 64, 256), *other = fixture_world(16, 64, 256);
    size_t size = carom_world_save_bound(world);
    void *image = malloc(size);
    uint8_t *bytes = NULL;
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    fixture_fill(world, 12, seed);
    for (uint32_t i = 0; i < 20; i++) {
        add_joint(world, &rng);
    }
    for (uint32_t stretch = 0; stretch < STRETCHES; stretch++) {
        disturb(world, &rng);
        add_joint(world, &rng);
        carom_world_save(world, image, size);
        cr_assert_eq(carom_world_restore(other, image, size), CAROM_OK);
        cm_rig_spoil(other, 0x5a);
        fixture_step(world, STRETCH);
        fixture_step(other, STRETCH);
        cr_assert_eq(carom_world_hash(world), carom_world_hash(other), "seed %llu",
                     (unsigned long long)seed);
        check_finite(world, seed);
        // What a step makes, decode takes.
        size_t encoded = carom_world_encode_size(world);
        bytes = realloc(bytes, encoded);
        cr_assert_eq(carom_world_encode(world, bytes, encoded), encoded);
        cr_assert_eq(carom_world_decode(other, bytes, encoded), CAROM_OK, "seed %llu",
                     (unsigned long long)seed);
        cr_assert_eq(carom_world_hash(world), carom_world_hash(other));
    }
    free(bytes);
    free(image);
    free(world);
    free(other);
}

Test(joint_fuzz, random_joints_stay_finite_and_are_all_state)
{
    uint32_t seeds = test_count(SEEDS, SEEDS_ALL);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        run(seed);
    }
}
