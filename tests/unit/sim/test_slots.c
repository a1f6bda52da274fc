// Goal: what is made takes the lowest free slots, whatever was made, destroyed, restored and
// decoded before; the memory of what is taken is no state. Method: 20,000 random calls, and before
// each that makes something the lowest free slots looked for among all rows; at the end a world
// that decoded the state, and remembers nothing, makes the same.
#include "shared/sim/state/fields.h"
#include "tests/unit/sim/world_fixture.h"

#define BODIES 40
#define SHAPES 60
#define JOINTS 24
#define CALLS  20000
#define MOST   3 // shapes of a body

typedef struct past {
    char *save, *code;
    size_t saved, coded;
} past;

static carom_world *open_world(void)
{
    carom_world_def def = carom_default_world_def();
    def.limits =
        (carom_limits){.bodies = BODIES, .shapes = SHAPES, .contacts = 8, .joints = JOINTS};
    size_t size = carom_world_size(&def);
    carom_world *world = NULL;
    cr_assert_eq(carom_world_create(&def, aligned_alloc(64, (size + 63) / 64 * 64), size, &world),
                 CAROM_OK);
    return world;
}

static uint32_t lowest_body(const carom_world *world)
{
    uint32_t slot = 0;
    while (slot < world->state.body_slots && cm_bodies(world)[slot].alive) {
        slot++;
    }
    return slot;
}

static uint32_t lowest_shape(const carom_world *world, uint32_t slot)
{
    while (slot < world->state.shape_slots && cm_shapes(world)[slot].alive) {
        slot++;
    }
    return slot;
}

static uint32_t lowest_joint(const carom_world *world)
{
    uint32_t slot = 0;
    while (slot < world->state.joint_slots && cm_joints(world)[slot].alive) {
        slot++;
    }
    return slot;
}

static void make_body(carom_world *world, cm_rng *rng)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def shapes[MOST];
    uint32_t count = cm_rng_below(rng, MOST + 1), expected[MOST], from = 0;
    carom_body_id id;
    def.type = CAROM_BODY_STATIC;
    for (uint32_t i = 0; i < count; i++) {
        shapes[i] = carom_default_shape_def();
        expected[i] = lowest_shape(world, from);
        from = expected[i] + 1;
    }
    uint32_t slot = lowest_body(world);
    carom_result result = carom_body_create(world, &def, shapes, count, &id);
    cr_assert_eq(result, slot == BODIES  ? CAROM_ERROR_LIMIT_BODIES
                         : from > SHAPES ? CAROM_ERROR_LIMIT_SHAPES
                                         : CAROM_OK);
    if (result == CAROM_OK) {
        carom_shape_id is[MOST];
        cr_assert_eq(id.index, slot);
        cr_assert_eq(carom_body_shapes(world, id, is, MOST), count);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert_eq(is[i].index, expected[i]);
        }
    }
}

static void make_joint(carom_world *world, cm_rng *rng)
{
    carom_joint_def def = carom_default_joint_def();
    carom_joint_id id;
    def.body_a = carom_world_body_at(world, cm_rng_below(rng, BODIES));
    def.body_b = carom_world_body_at(world, cm_rng_below(rng, BODIES));
    uint32_t slot = lowest_joint(world);
    if (carom_joint_create(world, &def, &id) == CAROM_OK) {
        cr_assert_eq(id.index, slot);
    }
}

static void remember(const carom_world *world, past *of)
{
    of->saved = carom_world_save(world, of->save, carom_world_save_bound(world));
    of->coded = carom_world_encode(world, of->code, carom_world_encode_size(world));
}

static void call(carom_world *world, cm_rng *rng, past *of)
{
    switch (cm_rng_below(rng, 64)) {
    case 0:
        remember(world, of);
        break;
    case 1:
        cr_assert_eq(carom_world_restore(world, of->save, of->saved), CAROM_OK);
        break;
    case 2:
        cr_assert_eq(carom_world_decode(world, of->code, of->coded), CAROM_OK);
        break;
    default:
        switch (cm_rng_below(rng, 5)) {
        case 0:
        case 1:
            make_body(world, rng);
            break;
        case 2:
            make_joint(world, rng);
            break;
        case 3:
            carom_body_destroy(world, carom_world_body_at(world, cm_rng_below(rng, BODIES)));
            break;
        default:
            carom_joint_destroy(world, carom_world_joint_at(world, cm_rng_below(rng, JOINTS)));
        }
    }
}

Test(slots, the_lowest_free_ones_are_taken_after_anything)
{
    carom_world *world = open_world(), *other = open_world();
    past of = {malloc(carom_world_save_bound(world)), malloc(1u << 20), 0, 0};
    cm_rng rng;
    cm_rng_seed(&rng, 13);
    remember(world, &of);
    for (uint32_t i = 0; i < CALLS; i++) {
        call(world, &rng, &of);
    }
    remember(world, &of);
    cr_assert_eq(carom_world_decode(other, of.code, of.coded), CAROM_OK);
    for (uint32_t i = 0; i < MOST; i++) {
        cm_rng same = rng;
        make_body(world, &rng);
        make_body(other, &same);
        cr_assert_eq(carom_world_hash(world), carom_world_hash(other));
    }
    free(of.save);
    free(of.code);
    free(world);
    free(other);
}
