// Goal: one body goes into another world under the same ids, replaces what lived in its slot, and
// is refused whole where it does not fit or is not well formed. Method: a mirror is filled body by
// body and compared; a slot is replaced; each refusal once; seeded flips and cuts that must leave
// the mirror unchanged or able to step.
#include "shared/sim/state/image.h"
#include "tests/unit/sim/world_fixture.h"

static size_t encode_slot(const carom_world *world, uint32_t slot, uint8_t *bytes, size_t size)
{
    return carom_world_encode_body(world, carom_world_body_at(world, slot), bytes, size);
}

Test(body_codec, a_mirror_filled_body_by_body_is_the_world)
{
    carom_world *world = fixture_world(32, 64, 256), *mirror = fixture_world(64, 99, 300);
    fixture_fill(world, 12, 41);
    uint8_t bytes[2048];
    // From the last to the first, so that slots are filled with holes below them.
    for (uint32_t slot = carom_world_body_slots(world); slot-- > 0;) {
        size_t size = encode_slot(world, slot, bytes, sizeof bytes);
        cr_assert_gt(size, 0);
        carom_body_id id;
        cr_assert_eq(carom_world_decode_body(mirror, bytes, size, &id), CAROM_OK);
        cr_assert(carom_body_id_equal(id, carom_world_body_at(world, slot)));
    }
    cr_assert_eq(carom_world_hash(world), carom_world_hash(mirror));
    for (uint32_t i = 0; i < 60; i++) {
        carom_world_step(world);
        carom_world_step(mirror);
        cr_assert_eq(carom_world_hash(world), carom_world_hash(mirror), "tick %u", i);
    }
    free(world);
    free(mirror);
}

Test(body_codec, a_body_replaces_what_lived_in_its_slot)
{
    carom_world *world = fixture_world(32, 64, 256), *mirror = fixture_world(32, 64, 256);
    fixture_fill(world, 6, 42);
    fixture_fill(mirror, 6, 42);
    fixture_step(mirror, 60);
    uint8_t bytes[2048];
    carom_body_id old = carom_world_body_at(world, 2);
    carom_body_destroy(world, old);
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    def.position.y = 20.0f;
    carom_body_id id;
    cr_assert_eq(carom_body_create(world, &def, &shape, 1, &id), CAROM_OK);
    cr_assert_eq(id.index, 2);
    size_t size = encode_slot(world, 2, bytes, sizeof bytes);
    cr_assert_eq(carom_world_decode_body(mirror, bytes, size, NULL), CAROM_OK);
    cr_assert(carom_body_is_valid(mirror, id));
    cr_assert_not(carom_body_is_valid(mirror, old));
    carom_shape_id shapes[4];
    cr_assert_eq(carom_body_shapes(mirror, id, shapes, 4), 1);
    const cm_contact *contacts = cm_contacts(mirror);
    for (uint32_t i = 0; i < mirror->state.contact_count; i++) {
        cr_assert(cm_shapes(mirror)[contacts[i].shape_a].alive);
        cr_assert(cm_shapes(mirror)[contacts[i].shape_b].alive);
    }
    fixture_step(mirror, 30);
    free(world);
    free(mirror);
}

Test(body_codec, refusals_change_nothing)
{
    carom_world *world = fixture_world(32, 64, 256), *mirror = fixture_world(32, 64, 256);
    carom_world *few_bodies = fixture_world(3, 64, 256), *few_shapes = fixture_world(32, 2, 256);
    fixture_fill(world, 6, 43);
    uint8_t bytes[2048];
    size_t size = encode_slot(world, 4, bytes, sizeof bytes);
    carom_body_id null = {0, 0};
    cr_assert_eq(carom_world_encode_body(world, null, bytes, sizeof bytes), 0);
    cr_assert_eq(encode_slot(world, 4, bytes, size - 1), 0);
    cr_assert_eq(encode_slot(world, 4, bytes, sizeof bytes), size);
    cr_assert_eq(carom_world_decode_body(few_bodies, bytes, size, NULL), CAROM_ERROR_LIMIT_BODIES);
    cr_assert_eq(carom_world_decode_body(few_shapes, bytes, size, NULL), CAROM_ERROR_LIMIT_SHAPES);
    // Its first shape's slot is taken by another body of the mirror.
    carom_body_def def = carom_default_body_def();
    carom_shape_def many[20];
    for (uint32_t i = 0; i < 20; i++) {
        many[i] = carom_default_shape_def();
    }
    cr_assert_eq(carom_body_create(mirror, &def, many, 20, NULL), CAROM_OK);
    uint64_t hash = carom_world_hash(mirror);
    cr_assert_eq(carom_world_decode_body(mirror, bytes, size, NULL), CAROM_ERROR_STATE);
    for (size_t cut = 0; cut < size; cut++) {
        cr_assert_neq(carom_world_decode_body(mirror, bytes, cut, NULL), CAROM_OK);
    }
    cr_assert_eq(carom_world_decode_body(mirror, bytes, size + 1, NULL), CAROM_ERROR_STATE);
    cr_assert_eq(carom_world_hash(mirror), hash);
    cr_assert_eq(carom_world_decode_body(world, bytes, size + 1, NULL), CAROM_ERROR_CORRUPT);
    free(world);
    free(mirror);
    free(few_bodies);
    free(few_shapes);
}

Test(body_codec, hostile_bytes_never_harm)
{
    carom_world *world = fixture_world(32, 64, 256), *mirror = fixture_world(32, 64, 256);
    fixture_fill(world, 8, 44);
    fixture_fill(mirror, 8, 44);
    uint8_t good[2048], *bytes;
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        size_t size = encode_slot(world, cm_rng_below(&rng, 9), good, sizeof good);
        size_t cut = cm_rng_below(&rng, 8) == 0 ? cm_rng_below(&rng, (uint32_t)size) : size;
        bytes = malloc(cut ? cut : 1);
        memcpy(bytes, good, cut);
        for (uint32_t k = cm_rng_below(&rng, 3); k > 0 && cut > 16; k--) {
            bytes[16 + cm_rng_below(&rng, (uint32_t)cut - 16)] ^=
                (uint8_t)(1u << cm_rng_below(&rng, 8));
        }
        uint64_t hash = carom_world_hash(mirror);
        if (carom_world_decode_body(mirror, bytes, cut, NULL) != CAROM_OK) {
            cr_assert_eq(carom_world_hash(mirror), hash);
        } else {
            taken++;
            carom_world_step(mirror);
        }
        free(bytes);
    }
    cr_assert_gt(taken, 1000);
    free(world);
    free(mirror);
}
