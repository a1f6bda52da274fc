// Goal: the portable form carries a whole world, bit for bit, between capacities; and no bytes,
// however bent, crash the decoder or leave a world that cannot step. Method: round trips by hash
// and by save; fixed little-endian bytes; each rule of decode broken once with its result; then
// thousands of seeded flips, overwrites and cuts, after each of which the world is either unchanged
// (refused) or steps and encodes again (taken).
#include "shared/sim/state/fields.h"
#include "tests/unit/sim/world_fixture.h"

typedef struct encoded {
    uint8_t *bytes;
    size_t size;
} encoded;

static encoded encode(const carom_world *world)
{
    encoded e;
    e.size = carom_world_encode_size(world);
    e.bytes = malloc(e.size);
    cr_assert_eq(carom_world_encode(world, e.bytes, e.size), e.size);
    return e;
}

static carom_world *heap(uint32_t ticks)
{
    carom_world *world = fixture_world(32, 64, 256);
    fixture_fill(world, 12, 31);
    fixture_join(world);
    fixture_step(world, 20);
    // A hole in the slots, with generations that are state.
    cr_assert_eq(carom_body_destroy(world, carom_world_body_at(world, 3)), CAROM_OK);
    fixture_step(world, ticks);
    return world;
}

// Place of a row's field in the bytes.
static size_t place(const carom_world *world, cm_section section, uint32_t row, const char *name)
{
    size_t at = 16;
    for (int s = 0; s < (int)section; s++) {
        at += 4ull * cm_section_words((cm_section)s) * cm_section_rows(world, (cm_section)s);
    }
    uint32_t count;
    const cm_field *fields = cm_fields(&count);
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].section == section && strcmp(fields[i].name, name) == 0) {
            return at + 4ull * cm_section_words(section) * row + 4ull * fields[i].word;
        }
    }
    cr_assert_fail("no field %s", name);
    return 0;
}

Test(world_codec, round_trip_is_exact)
{
    carom_world *world = heap(80), *other = fixture_world(40, 200, 500);
    fixture_fill(other, 20, 99); // what it held before must not show
    encoded e = encode(world);
    cr_assert_eq(carom_world_decode(other, e.bytes, e.size), CAROM_OK);
    cr_assert_eq(carom_world_hash(world), carom_world_hash(other));
    size_t size = carom_world_save_size(world);
    cr_assert_eq(carom_world_save_size(other), size);
    char *first = malloc(size), *second = malloc(size);
    carom_world_save(world, first, size);
    carom_world_save(other, second, size);
    cr_assert_eq(memcmp(first, second, size), 0);
    for (uint32_t i = 0; i < 60; i++) {
        carom_world_step(world);
        carom_world_step(other);
        cr_assert_eq(carom_world_hash(world), carom_world_hash(other), "tick %u", i);
    }
    free(first);
    free(second);
    free(e.bytes);
    free(world);
    free(other);
}

Test(world_codec, bytes_are_little_endian_in_table_order)
{
    carom_world *world = fixture_world(4, 4, 4);
    fixture_step(world, 3);
    encoded e = encode(world);
    cr_assert_arr_eq(e.bytes, "CRME", 4);
    cr_assert_eq(e.bytes[4], CAROM_ENGINE_VERSION);
    cr_assert_eq(e.bytes[16], 3); // tick, low byte first
    size_t rate = place(world, CM_SECTION_world, 0, "tick_rate");
    cr_assert_eq(e.bytes[rate], 60);
    const uint8_t gravity_y[4] = {0xc3, 0xf5, 0x1c, 0xc1}; // -9.81
    cr_assert_arr_eq(e.bytes + place(world, CM_SECTION_world, 0, "gravity") + 4, gravity_y, 4);
    cr_assert_eq(carom_world_encode(world, e.bytes, e.size - 1), 0);
    free(e.bytes);
    free(world);
}

typedef struct bend {
    cm_section section;
    uint32_t row;
    const char *field;
    uint32_t value;
    carom_result result;
} bend;

// Each bend by itself is refused with its result, and the world stays as it was.
static void check_bends(carom_world *world, const bend *bends, size_t count)
{
    encoded e = encode(world);
    uint64_t hash = carom_world_hash(world);
    for (size_t i = 0; i < count; i++) {
        const bend *b = &bends[i];
        size_t at = place(world, b->section, b->row, b->field);
        uint8_t kept[4];
        memcpy(kept, e.bytes + at, 4);
        for (int k = 0; k < 4; k++) {
            e.bytes[at + (size_t)k] = (uint8_t)(b->value >> (8 * k));
        }
        cr_assert_eq(carom_world_decode(world, e.bytes, e.size), b->result, "%s.%s = %u",
                     cm_section_name(b->section), b->field, b->value);
        cr_assert_eq(carom_world_hash(world), hash);
        memcpy(e.bytes + at, kept, 4);
    }
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_OK);
    free(e.bytes);
}

Test(world_codec, each_rule_has_its_refusal)
{
    const bend bends[] = {
        {CM_SECTION_world, 0, "tick_rate", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_world, 0, "solver", 9, CAROM_ERROR_CORRUPT},
        {CM_SECTION_world, 0, "substeps", 65, CAROM_ERROR_CORRUPT},
        {CM_SECTION_world, 0, "friction_combine", 5, CAROM_ERROR_CORRUPT},
        {CM_SECTION_world, 0, "gravity", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_world, 0, "body_slots", 1000, CAROM_ERROR_LIMIT_BODIES},
        {CM_SECTION_world, 0, "shape_slots", 1000, CAROM_ERROR_LIMIT_SHAPES},
        {CM_SECTION_world, 0, "contact_count", 1000, CAROM_ERROR_LIMIT_CONTACTS},
        {CM_SECTION_world, 0, "contact_count", 0, CAROM_ERROR_CORRUPT}, // the size no longer fits
        {CM_SECTION_world, 0, "joint_slots", 1000, CAROM_ERROR_LIMIT_JOINTS},
        {CM_SECTION_world, 0, "joint_slots", 5, CAROM_ERROR_CORRUPT},
        {CM_SECTION_motion, 1, "position", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_motion, 1, "orientation", 0x40000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_motion, 0, "linear_velocity", 0x3f800000u, CAROM_ERROR_CORRUPT}, // static
        {CM_SECTION_motion, 3, "position", 1, CAROM_ERROR_CORRUPT},                  // dead
        {CM_SECTION_body, 1, "generation", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "alive", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "alive", 2, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "alive", 257, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "type", 3, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 0, "type", 2, CAROM_ERROR_CORRUPT}, // a plane that moves
        {CM_SECTION_body, 1, "first_shape", 60, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "first_shape", 0, CAROM_ERROR_CORRUPT}, // another body's
        {CM_SECTION_body, 1, "first_shape", CM_NONE, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "mass", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "mass", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 1, "inertia", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_body, 3, "user_data", 1, CAROM_ERROR_CORRUPT}, // dead
        {CM_SECTION_shape, 1, "body", 2, CAROM_ERROR_CORRUPT},
        {CM_SECTION_shape, 1, "next", 1, CAROM_ERROR_CORRUPT}, // a cycle
        {CM_SECTION_shape, 1, "type", 4, CAROM_ERROR_CORRUPT},
        {CM_SECTION_shape, 1, "alive", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_shape, 1, "size", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_shape, 1, "size", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_shape, 1, "friction", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_contact, 1, "shape_a", 63, CAROM_ERROR_CORRUPT},
        {CM_SECTION_contact, 1, "shape_b", 0xffffffffu, CAROM_ERROR_CORRUPT},
        {CM_SECTION_contact, 1, "shape_b", 0, CAROM_ERROR_CORRUPT}, // not above shape_a
        {CM_SECTION_contact, 1, "point_count", 5, CAROM_ERROR_CORRUPT},
        {CM_SECTION_contact, 1, "touching", 2, CAROM_ERROR_CORRUPT},
        {CM_SECTION_soft_point, 1, "normal_impulse", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_soft_contact, 1, "friction_impulse", 0xff800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_soft_contact, 1, "twist_impulse", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_manifold, 1, "offset", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_manifold, 1, "orientation_a", 0x40000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_manifold, 1, "orientation_b", 0x40000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_manifold, 1, "normal", 0x40000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_kept_point, 1, "anchor", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_kept_point, 1, "separation", 0xff800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_contact, 1, "point_count", 0, CAROM_ERROR_CORRUPT}, // not as many as there are
        {CM_SECTION_joint, 1, "generation", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "alive", 0, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "alive", 2, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "type", 7, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "flags", 64, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "flags", 1, CAROM_ERROR_CORRUPT},  // limits of a fixed joint
        {CM_SECTION_joint, 4, "flags", 2, CAROM_ERROR_CORRUPT},  // its motor
        {CM_SECTION_joint, 4, "flags", 12, CAROM_ERROR_CORRUPT}, // both springs
        {CM_SECTION_joint, 4, "body_a", 3, CAROM_ERROR_CORRUPT}, // dead
        {CM_SECTION_joint, 4, "body_a", 5, CAROM_ERROR_CORRUPT}, // b itself
        {CM_SECTION_joint, 4, "body_b", CM_NONE, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "body_b", 40, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "anchor_a", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "anchor_b", 0x7f000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "frame_a", 0x40000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "frame_b", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "rest", 0xc0000000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 6, "lower", 0x40000000u, CAROM_ERROR_CORRUPT}, // above upper
        {CM_SECTION_joint, 5, "lower", 0xbf800000u, CAROM_ERROR_CORRUPT}, // a length below 0
        {CM_SECTION_joint, 4, "drive_linear", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "drive_angular", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "max_force", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "max_torque", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "spring", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "break_force", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "break_torque", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "impulse", 0x7fc00000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "force", 0xbf800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 4, "torque", 0x7f800000u, CAROM_ERROR_CORRUPT},
        {CM_SECTION_joint, 2, "body_b", 1, CAROM_ERROR_CORRUPT}, // dead
    };
    carom_world *world = heap(80);
    cr_assert_gt(cm_section_rows(world, CM_SECTION_contact), 3);
    encoded e = encode(world);
    uint64_t hash = carom_world_hash(world);
    check_bends(world, bends, sizeof bends / sizeof bends[0]);
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size - 1), CAROM_ERROR_CORRUPT);
    cr_assert_eq(carom_world_decode(world, e.bytes, 15), CAROM_ERROR_CORRUPT);
    e.bytes[0] ^= 1;
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_ERROR_MAGIC);
    e.bytes[0] ^= 1;
    e.bytes[4] ^= 1;
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_ERROR_VERSION);
    e.bytes[4] ^= 1;
    e.bytes[15] ^= 1;
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_ERROR_VERSION);
    e.bytes[15] ^= 1;
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_OK);
    cr_assert_eq(carom_world_hash(world), hash);
    free(e.bytes);
    free(world);
}

// A free row of the shapes holds its generation alone, whichever word is not zero.
Test(world_codec, dead_shapes_are_zero)
{
    carom_world *world = heap(0), *other = fixture_world(32, 64, 256);
    encoded e = encode(world);
    uint32_t dead = 0, words = cm_section_words(CM_SECTION_shape), count;
    while (cm_shapes(world)[dead].alive) {
        dead++;
    }
    const cm_field *fields = cm_fields(&count);
    size_t row = place(world, CM_SECTION_shape, dead, "generation"), generation = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is =
            fields[i].section == CM_SECTION_shape && strcmp(fields[i].name, "generation") == 0;
        generation = is ? fields[i].word : generation;
    }
    row -= 4 * generation;
    for (uint32_t word = 0; word < words; word++) {
        e.bytes[row + 4 * word] ^= 1;
        cr_expect_eq(carom_world_decode(other, e.bytes, e.size) == CAROM_OK, word == generation,
                     "word %u", word);
        e.bytes[row + 4 * word] ^= 1;
    }
    cr_assert_eq(carom_world_decode(other, e.bytes, e.size), CAROM_OK);
    free(e.bytes);
    free(world);
    free(other);
}

Test(world_codec, what_each_solver_remembers_has_rules)
{
    const bend bends[][5] = {
        {{CM_SECTION_impulse_contact, 1, "normal_impulse", 0x7fc00000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_impulse_contact, 1, "friction_impulse", 0x7f800000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_impulse_contact, 1, "twist_impulse", 0xff800000u, CAROM_ERROR_CORRUPT}},
        {{CM_SECTION_lcp_contact, 1, "normal_force", 0x7fc00000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_lcp_contact, 1, "friction_force", 0x7f800000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_lcp_contact, 1, "tangent", 0xff800000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_lcp_contact, 1, "set", 3, CAROM_ERROR_CORRUPT}},
        {{CM_SECTION_volume_contact, 1, "normal", 0x40000000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_volume_contact, 1, "friction_state", 3, CAROM_ERROR_CORRUPT},
         {CM_SECTION_volume_contact, 1, "stretch", 0x7fc00000u, CAROM_ERROR_CORRUPT},
         {CM_SECTION_volume_contact, 1, "twist", 0x7f800000u, CAROM_ERROR_CORRUPT}},
    };
    const struct {
        carom_solver_type solver;
        size_t bends;
    } worlds[] = {{CAROM_SOLVER_IMPULSE, 3}, {CAROM_SOLVER_LCP, 4}, {CAROM_SOLVER_VOLUME, 4}};
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++) {
        carom_world *world = fixture_world_of(worlds[i].solver, 32, 64, 256);
        fixture_fill(world, 12, 31);
        fixture_step(world, 90);
        cr_assert_gt(cm_section_rows(world, CM_SECTION_contact), 3);
        check_bends(world, bends[i], worlds[i].bends);
        free(world);
    }
}

Test(world_codec, contacts_must_be_sorted_and_of_two_bodies)
{
    carom_world *world = heap(80);
    encoded e = encode(world);
    size_t row = 4ull * cm_section_words(CM_SECTION_contact);
    size_t first = place(world, CM_SECTION_contact, 0, "shape_a");
    uint8_t *kept = malloc(2 * row);
    memcpy(kept, e.bytes + first, 2 * row);
    memcpy(e.bytes + first, kept + row, 8); // the same two shapes twice, each with its points
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_ERROR_CORRUPT);
    memcpy(e.bytes + first, kept, row);
    memcpy(e.bytes + first + row, kept, row); // exchanged
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_ERROR_CORRUPT);
    memcpy(e.bytes + first, kept, 2 * row);
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_OK);
    // The last contact, of two shapes of one body that come after all others.
    uint32_t slots = world->state.shape_slots, a = 0;
    for (uint32_t i = 0; i + 1 < slots; i++) {
        a = cm_shapes(world)[i].alive && cm_shapes(world)[i].next == i + 1 ? i : a;
    }
    cr_assert_gt(a, cm_contacts(world)[world->state.contact_count - 2].shape_a);
    size_t last = place(world, CM_SECTION_contact, world->state.contact_count - 1, "shape_a");
    e.bytes[last] = (uint8_t)a;
    e.bytes[last + 4] = (uint8_t)(a + 1);
    cr_assert_eq(carom_world_decode(world, e.bytes, e.size), CAROM_ERROR_CORRUPT);
    free(kept);
    free(e.bytes);
    free(world);
}

// One to four places of the bytes bent at random: a bit, a byte, a whole special word, or the end
// cut.
static size_t bend_bytes(cm_rng *rng, uint8_t *bytes, size_t size)
{
    static const uint32_t special[] = {0, 1, 0xffffffffu, 0x7f800000u, 0x7f7fffffu, 0x80000000u, 2};
    uint32_t count = 1 + cm_rng_below(rng, 4);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = 16 + cm_rng_below(rng, (uint32_t)size - 16);
        switch (cm_rng_below(rng, 4)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << cm_rng_below(rng, 8));
            break;
        case 1:
            bytes[at] = (uint8_t)cm_rng_next(rng);
            break;
        default: {
            uint32_t word = special[cm_rng_below(rng, 7)];
            at = at / 4 * 4;
            for (size_t k = 0; k < 4 && at + k < size; k++) {
                bytes[at + k] = (uint8_t)(word >> (8 * k));
            }
            break;
        }
        }
    }
    return cm_rng_below(rng, 16) == 0 ? cm_rng_below(rng, (uint32_t)size + 1) : size;
}

Test(world_codec, hostile_bytes_never_harm)
{
    carom_world *world = heap(80), *victim = fixture_world(32, 64, 256);
    encoded e = encode(world);
    uint8_t *bytes = malloc(e.size);
    cm_rng rng;
    cm_rng_seed(&rng, 77);
    uint32_t taken = 0;
    cr_assert_eq(carom_world_decode(victim, e.bytes, e.size), CAROM_OK);
    for (uint32_t i = 0; i < 6000; i++) {
        memcpy(bytes, e.bytes, e.size);
        size_t size = bend_bytes(&rng, bytes, e.size);
        uint64_t hash = carom_world_hash(victim);
        // A copy of exactly this size, so that the sanitizer sees a read past its end.
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, bytes, size);
        if (carom_world_decode(victim, exact, size) != CAROM_OK) {
            cr_assert_eq(carom_world_hash(victim), hash);
        } else {
            taken++;
            fixture_step(victim, 2);
            encoded again = encode(victim);
            cr_assert_eq(carom_world_decode(victim, again.bytes, again.size), CAROM_OK, "case %u",
                         i);
            free(again.bytes);
            cr_assert_eq(carom_world_decode(victim, e.bytes, e.size), CAROM_OK);
        }
        free(exact);
    }
    cr_assert_gt(taken, 500);
    cr_assert_lt(taken, 5500);
    free(bytes);
    free(e.bytes);
    free(world);
    free(victim);
}
