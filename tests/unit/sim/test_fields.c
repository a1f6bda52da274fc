// Goal: everything that fields.def names is hashed, encoded, decoded and told apart; and what a
// world saves is exactly that. Method: a world of each solver, between them with every section in
// use; each element of each field of each section is changed in turn (one bit), and hash,
// difference, encoded form and save must see it; rows go through words and back unchanged; a world
// pays for the contact memory of its own solver and takes no other one's.
#include "shared/sim/state/fields.h"
#include "tests/unit/sim/world_fixture.h"

static const carom_solver_type solvers[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_IMPULSE,
                                            CAROM_SOLVER_LCP, CAROM_SOLVER_VOLUME};
#define SOLVERS (sizeof solvers / sizeof solvers[0])

// Not every solver takes joints, but all have rows for them: those of the soft world.
static carom_world *used_world(carom_solver_type solver)
{
    carom_world *world = fixture_world_of(solver, 32, 64, 256);
    fixture_fill(world, 12, 3);
    if (solver == CAROM_SOLVER_SOFT) {
        fixture_join(world);
    }
    fixture_rules(world);
    fixture_step(world, 90);
    cr_assert_gt(cm_section_rows(world, CM_SECTION_contact), 4);
    return world;
}

static uint32_t element_size(cm_kind kind)
{
    return kind == CM_U8 ? 1 : (kind == CM_U64 ? 8 : 4);
}

static bool is_count(const cm_field *field)
{
    return strcmp(field->name, "body_slots") == 0 || strcmp(field->name, "shape_slots") == 0 ||
           strcmp(field->name, "contact_count") == 0 || strcmp(field->name, "point_count") == 0 ||
           strcmp(field->name, "joint_slots") == 0 || strcmp(field->name, "rule_count") == 0;
}

// Changes one element and asserts that hash, difference and save see it.
static void change(carom_world *world, const carom_world *other, const cm_field *field,
                   uint32_t row, uint32_t element)
{
    uint32_t bytes = element_size(field->kind);
    char *at =
        (char *)cm_section_change(world, field->section, row) + field->offset + element * bytes;
    uint8_t kept = (uint8_t)*at;
    cm_difference difference;
    *at = (char)(kept ^ (is_count(field) ? (kept & 1 ? 1 : 2) : 1));
    cr_assert_neq(carom_world_hash(world), carom_world_hash(other), "%s.%s[%u]",
                  cm_section_name(field->section), field->name, element);
    cr_assert(cm_world_difference(world, other, &difference));
    cr_assert_str_eq(difference.section, cm_section_name(field->section));
    cr_assert_str_eq(difference.field, field->name);
    cr_assert_eq(difference.row, row);
    cr_assert_eq(difference.element, element);
    cr_assert_str_neq(difference.first, difference.second);
    if (!is_count(field)) {
        size_t size = carom_world_save_size(world);
        char *first = malloc(size), *second = malloc(size);
        cr_assert_eq(carom_world_save(world, first, size), size);
        cr_assert_eq(carom_world_save(other, second, size), size);
        cr_assert_neq(memcmp(first, second, size), 0, "%s.%s is not saved",
                      cm_section_name(field->section), field->name);
        size = carom_world_encode_size(world);
        first = realloc(first, size);
        second = realloc(second, size);
        cr_assert_eq(carom_world_encode(world, first, size), size);
        cr_assert_eq(carom_world_encode(other, second, size), size);
        cr_assert_neq(memcmp(first, second, size), 0, "%s.%s is not encoded",
                      cm_section_name(field->section), field->name);
        free(first);
        free(second);
    }
    at = (char *)cm_section_change(world, field->section, row) + field->offset + element * bytes;
    *at = (char)kept;
}

Test(fields, a_change_of_any_field_is_seen)
{
    uint32_t count, seen[CM_SECTION_COUNT] = {0};
    const cm_field *fields = cm_fields(&count);
    for (uint32_t s = 0; s < SOLVERS; s++) {
        carom_world *world = used_world(solvers[s]);
        carom_world *other = fixture_world_of(solvers[s], 32, 64, 256);
        size_t size = carom_world_save_bound(world);
        void *image = malloc(size);
        uint64_t hash = carom_world_hash(world);
        cm_difference difference;
        cr_assert_gt(carom_world_save(world, image, size), 0);
        cr_assert_eq(carom_world_restore(other, image, size), CAROM_OK);
        cr_assert_not(cm_world_difference(world, other, &difference));
        for (uint32_t i = 0; i < count; i++) {
            // Rows 1 and up are bodies, shapes, contacts and joints in use.
            uint32_t row = fields[i].section == CM_SECTION_world ? 0 : 1;
            bool has = row < cm_section_rows(world, fields[i].section);
            for (uint32_t e = 0; has && e < fields[i].count; e++) {
                change(world, other, &fields[i], row, e);
                seen[fields[i].section]++;
            }
        }
        cr_assert_eq(carom_world_hash(world), hash);
        free(image);
        free(world);
        free(other);
    }
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_geq(seen[fields[i].section], fields[i].count, "%s: no world has it",
                      cm_section_name(fields[i].section));
    }
}

Test(fields, a_world_has_only_its_solvers_memory)
{
    static const cm_section own[SOLVERS] = {CM_SECTION_soft_contact, CM_SECTION_impulse_contact,
                                            CM_SECTION_lcp_contact, CM_SECTION_volume_contact};
    static const uint32_t bytes[SOLVERS] = {84, 44, 120, 56}; // a contact
    static const uint32_t more[SOLVERS] = {24, 4, 4, 0};      // a point
    for (uint32_t s = 0; s < SOLVERS; s++) {
        carom_world *world = used_world(solvers[s]);
        uint32_t stride = 0, point = 0;
        for (int section = CM_CONTACTS_FIRST; section <= CM_POINTS_LAST; section++) {
            if (cm_section_rows(world, (cm_section)section) > 0) {
                *(section < CM_POINTS_FIRST ? &stride : &point) +=
                    cm_section_stride((cm_section)section);
            }
        }
        cr_assert_eq(stride, bytes[s]);
        cr_assert_eq(point, more[s]);
        for (uint32_t k = 0; k < SOLVERS; k++) {
            cr_assert_eq(cm_has_rows(world, own[k]), k == s);
        }
        // What lies in the rows is more than zeros: something was remembered.
        uint32_t words[CM_ROW_WORDS_MAX], sum = 0;
        for (uint32_t i = 0; i < world->state.contact_count; i++) {
            cm_row_load(own[s], cm_section_row(world, own[s], i), words);
            sum |= words[0];
        }
        cr_assert_neq(sum, 0);
        free(world);
    }
}

Test(fields, images_of_another_solver_are_refused)
{
    for (uint32_t s = 0; s < SOLVERS; s++) {
        carom_world *world = used_world(solvers[s]);
        size_t size = carom_world_save_size(world), coded = carom_world_encode_size(world);
        void *image = malloc(size), *bytes = malloc(coded);
        cr_assert_eq(carom_world_save(world, image, size), size);
        cr_assert_eq(carom_world_encode(world, bytes, coded), coded);
        for (uint32_t k = 0; k < SOLVERS; k++) {
            carom_world *other = fixture_world_of(solvers[k], 32, 64, 256);
            uint64_t hash = carom_world_hash(other);
            carom_result expected = k == s ? CAROM_OK : CAROM_ERROR_STATE;
            cr_assert_eq(carom_world_restore(other, image, size), expected, "%u to %u", s, k);
            cr_assert_eq(carom_world_decode(other, bytes, coded), expected, "%u to %u", s, k);
            cr_assert_eq(carom_world_hash(other) == hash, k != s);
            free(other);
        }
        free(image);
        free(bytes);
        free(world);
    }
}

Test(fields, difference_names_tick_body_and_values)
{
    carom_world *world = fixture_world(8, 16, 64), *other = fixture_world(8, 16, 64);
    fixture_fill(world, 2, 1);
    fixture_fill(other, 2, 1);
    cm_motions(other)[2].linear_velocity.y = 0.5f;
    cm_difference difference;
    cr_assert(cm_world_difference(world, other, &difference));
    cr_assert_eq(difference.tick, 0);
    cr_assert_eq(difference.body, 2);
    cr_assert_str_eq(difference.field, "linear_velocity");
    cr_assert_eq(difference.element, 1);
    cr_assert_str_eq(difference.first, "0");
    cr_assert_str_eq(difference.second, "0.5");
    free(world);
    free(other);
}

Test(fields, rows_go_through_words_unchanged)
{
    cm_rng rng;
    cm_rng_seed(&rng, 8);
    for (int section = 0; section < CM_SECTION_COUNT; section++) {
        uint32_t words[CM_ROW_WORDS_MAX], back[CM_ROW_WORDS_MAX];
        uint64_t row[32];
        uint32_t count = cm_section_words((cm_section)section);
        cr_assert_leq(cm_section_stride((cm_section)section), sizeof row);
        for (uint32_t i = 0; i < count; i++) {
            words[i] = (uint32_t)cm_rng_next(&rng) & 0x7f; // fits every kind
        }
        memset(row, 0xff, sizeof row);
        cr_assert(cm_row_store((cm_section)section, words, row));
        cm_row_load((cm_section)section, row, back);
        cr_assert_arr_eq(words, back, count * sizeof words[0]);
    }
    uint32_t words[CM_ROW_WORDS_MAX] = {0};
    cm_body body;
    words[2] = 256; // body.alive is a byte
    cr_assert_not(cm_row_store(CM_SECTION_body, words, &body));
}

Test(fields, layout_hash_is_the_tables)
{
    // A change of fields.def changes this number; say so in the commit, and raise the engine
    // version once anything has been recorded.
    cr_assert_eq(cm_layout_hash(), cm_layout_hash());
    cr_assert_neq(cm_layout_hash(), 0);
}
