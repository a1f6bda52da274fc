// Goal: a world image is created as asked, saved, restored and moved between capacities and
// addresses without a bit's change of what follows, and refuses what does not belong to it. Method:
// seeded heaps stepped with and without the way through a save; scratch overwritten on the way;
// every refusal of create and restore with its result.
#include "shared/sim/state/image.h"
#include "tests/unit/sim/world_fixture.h"

Test(world, create_refuses_with_the_reason)
{
    carom_world_def def = carom_default_world_def();
    size_t size = carom_world_size(&def);
    char *memory = aligned_alloc(64, size);
    carom_world *world = NULL;
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_OK);
    cr_assert_eq(carom_world_create(&def, memory, size - 1, &world), CAROM_ERROR_MEMORY);
    cr_assert_eq(carom_world_create(&def, memory + 8, size - 64, &world), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_create(NULL, memory, size, &world), CAROM_ERROR_ARGUMENT);
    def.gravity.y = __builtin_nanf("");
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_ERROR_NOT_FINITE);
    def = carom_default_world_def();
    def.tick_rate = 0;
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_ERROR_ARGUMENT);
    def.tick_rate = 1001;
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_ERROR_ARGUMENT);
    def = carom_default_world_def();
    def.solver.soft.substeps = 65;
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_ERROR_ARGUMENT);
    def = carom_default_world_def();
    def.limits.bodies = CAROM_BODIES_MAX + 1;
    cr_assert_eq(carom_world_size(&def), 0);
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_ERROR_LIMIT_BODIES);
    def = carom_default_world_def();
    def.limits.contacts = CAROM_CONTACTS_MAX + 1;
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_ERROR_LIMIT_CONTACTS);
    free(memory);
}

// Room for joints is taken for those that there may be: a server has many small worlds.
Test(world, a_small_world_takes_little)
{
    carom_world_def def = carom_default_world_def();
    def.limits = (carom_limits){.bodies = 64, .shapes = 64, .joints = 0, .contacts = 512};
    size_t none = carom_world_size(&def);
    cr_expect_lt(none, 2u << 20, "%zu bytes", none);
    def.limits.joints = 16;
    cr_expect_lt(carom_world_size(&def) - none, 16u * 24000u, "bytes a joint");
}

// Every tick: save, step, restore into another world (other capacity, other address, scratch of
// noise), step it, compare every byte.
Test(world, save_and_restore_at_every_tick)
{
    carom_world *world = fixture_world(32, 64, 256), *other = fixture_world(50, 97, 300);
    fixture_fill(world, 14, 21);
    size_t bound = carom_world_save_bound(world);
    char *before = malloc(bound), *after = malloc(bound), *again = malloc(bound);
    for (uint32_t tick = 0; tick < 240; tick++) {
        size_t size = carom_world_save(world, before, bound);
        cr_assert_eq(size, carom_world_save_size(world));
        carom_world_step(world);
        memset((char *)other + other->offset.scratch, (int)(tick * 37 + 1),
               other->offset.scratch_size);
        cr_assert_eq(carom_world_restore(other, before, size), CAROM_OK);
        carom_world_step(other);
        size_t first = carom_world_save(world, after, bound);
        size_t second = carom_world_save(other, again, bound);
        cr_assert_eq(first, second, "tick %u", tick);
        cr_assert_eq(memcmp(after, again, first), 0, "tick %u", tick);
        cr_assert_eq(carom_world_hash(world), carom_world_hash(other));
    }
    free(before);
    free(after);
    free(again);
    free(world);
    free(other);
}

Test(world, a_rewind_of_many_ticks_comes_back_to_the_same_bits)
{
    carom_world *world = fixture_world(32, 64, 256);
    fixture_fill(world, 14, 22);
    fixture_step(world, 30);
    size_t bound = carom_world_save_bound(world);
    char *image = malloc(bound);
    size_t size = carom_world_save(world, image, bound);
    uint64_t hashes[60];
    for (uint32_t i = 0; i < 60; i++) {
        carom_world_step(world);
        hashes[i] = carom_world_hash(world);
    }
    // What came to live after the save must leave no trace.
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position.y = 30.0f;
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, NULL), CAROM_OK);
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK);
    for (uint32_t i = 0; i < 60; i++) {
        carom_world_step(world);
        cr_assert_eq(carom_world_hash(world), hashes[i], "tick %u", i);
    }
    free(image);
    free(world);
}

Test(world, restore_refuses_and_changes_nothing)
{
    carom_world *world = fixture_world(16, 64, 256), *small = fixture_world(15, 64, 256);
    carom_world *few_shapes = fixture_world(16, 20, 256), *few_contacts = fixture_world(16, 64, 3);
    fixture_fill(world, 15, 4);
    fixture_join(world);
    fixture_step(world, 60);
    size_t size = carom_world_save_size(world);
    char *image = malloc(size);
    cr_assert_eq(carom_world_save(world, image, size - 1), 0);
    cr_assert_eq(carom_world_save(world, image, size), size);
    uint64_t hash = carom_world_hash(world);
    cr_assert_eq(carom_world_restore(world, image, size - 1), CAROM_ERROR_CORRUPT);
    cr_assert_eq(carom_world_restore(world, image, 50), CAROM_ERROR_CORRUPT);
    cr_assert_eq(carom_world_restore(small, image, size), CAROM_ERROR_LIMIT_BODIES);
    cr_assert_eq(carom_world_restore(few_shapes, image, size), CAROM_ERROR_LIMIT_SHAPES);
    cr_assert_eq(carom_world_restore(few_contacts, image, size), CAROM_ERROR_LIMIT_CONTACTS);
    carom_world_def def = carom_default_world_def();
    def.limits = carom_world_limits(world);
    def.limits.joints = CAROM_JOINT_MOTOR; // one less than fixture_join makes
    void *memory = aligned_alloc(64, carom_world_size(&def));
    carom_world *few_joints;
    cr_assert_eq(carom_world_create(&def, memory, carom_world_size(&def), &few_joints), CAROM_OK);
    cr_assert_eq(carom_world_restore(few_joints, image, size), CAROM_ERROR_LIMIT_JOINTS);
    free(memory);
    image[0] ^= 1;
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_ERROR_MAGIC);
    image[0] ^= 1;
    image[4] ^= 1; // engine version
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_ERROR_VERSION);
    image[4] ^= 1;
    image[8] ^= 1; // layout hash
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_ERROR_VERSION);
    cr_assert_eq(carom_world_hash(world), hash);
    cr_assert_eq(carom_world_body_slots(small), 0);
    free(image);
    free(world);
    free(small);
    free(few_shapes);
    free(few_contacts);
}

Test(world, capacity_does_not_show_in_the_hash)
{
    carom_world *narrow = fixture_world(15, 48, 200), *wide = fixture_world(500, 900, 4000);
    fixture_fill(narrow, 14, 5);
    fixture_fill(wide, 14, 5);
    for (uint32_t i = 0; i < 120; i++) {
        carom_world_step(narrow);
        carom_world_step(wide);
        cr_assert_eq(carom_world_hash(narrow), carom_world_hash(wide), "tick %u", i);
    }
    free(narrow);
    free(wide);
}

Test(world, random_numbers_are_state)
{
    carom_world *world = fixture_world(4, 4, 4);
    size_t size = carom_world_save_size(world);
    char *image = malloc(size);
    carom_world_save(world, image, size);
    uint64_t hash = carom_world_hash(world);
    uint64_t first = carom_world_random(world), second = carom_world_random(world);
    cr_assert_neq(first, second);
    cr_assert_neq(carom_world_hash(world), hash);
    carom_world_restore(world, image, size);
    cr_assert_eq(carom_world_random(world), first);
    cr_assert_eq(carom_world_random(world), second);
    free(image);
    free(world);
}

static double count_up(void *context)
{
    return *(double *)context += 1.0;
}

Test(world, a_clock_measures_and_changes_nothing)
{
    carom_world *timed = fixture_world(32, 64, 256), *plain = fixture_world(32, 64, 256);
    double ticks = 0.0;
    fixture_fill(timed, 10, 6);
    fixture_fill(plain, 10, 6);
    carom_world_set_clock(timed, count_up, &ticks);
    fixture_step(timed, 60);
    fixture_step(plain, 60);
    cr_assert_eq(carom_world_hash(timed), carom_world_hash(plain));
    carom_world_stats stats;
    carom_world_stats_get(timed, &stats);
    const double *stage_s = carom_world_stage_times(timed);
    cr_assert_gt(stage_s[CAROM_STAGE_PAIRS], 0.0);
    cr_assert_gt(stage_s[CAROM_STAGE_COLLIDE], 0.0);
    cr_assert_gt(stage_s[CAROM_STAGE_STEP], stage_s[CAROM_STAGE_PAIRS]);
    cr_assert_eq(stage_s[CAROM_STAGE_HASH], 0.0);
    cr_assert_eq(stats.bodies, 11);
    cr_assert_gt(stats.contacts, 0);
    cr_assert_eq(carom_world_stage_times(plain)[CAROM_STAGE_STEP], 0.0);
    free(timed);
    free(plain);
}

Test(world, stages_have_names)
{
    cr_assert_str_eq(carom_stage_name(CAROM_STAGE_PAIRS), "pairs");
    cr_assert_str_eq(carom_stage_name(CAROM_STAGE_SAVE), "save");
    cr_assert_str_eq(carom_stage_name(CAROM_STAGE_COUNT), "");
    cr_assert_str_eq(carom_stage_name((carom_stage)-1), "");
}
