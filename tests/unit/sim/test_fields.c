// Goal: everything that fields.def names is hashed, encoded, decoded and told apart; and what a
// world saves is exactly that. Method: a world with every section in use; each element of each
// field of each section is changed in turn (one bit), and hash, difference, encoded form and save
// must see it; rows go through words and back unchanged.
#include "shared/sim/state/fields.h"
#include "tests/unit/sim/world_fixture.h"

static carom_world *used_world(void)
{
    carom_world *world = fixture_world(32, 64, 256);
    fixture_fill(world, 12, 3);
    fixture_join(world);
    fixture_rules(world);
    fixture_step(world, 90);
    cr_assert_gt(cm_section_rows(world, CM_SECTION_contact), 4);
    return world;
}

static uint32_t element_size(cm_kind kind)
{
    return kind == CM_U8 ? 1 : (kind == CM_U64 ? 8 : 4);
}

Test(fields, a_change_of_any_field_is_seen)
{
    carom_world *world = used_world(), *other = fixture_world(32, 64, 256);
    size_t size = carom_world_save_bound(world);
    void *image = malloc(size);
    uint64_t hash = carom_world_hash(world);
    cr_assert_gt(carom_world_save(world, image, size), 0);
    cr_assert_eq(carom_world_restore(other, image, size), CAROM_OK);
    cm_difference difference;
    cr_assert_not(cm_world_difference(world, other, &difference));
    uint32_t count, changed = 0;
    const cm_field *fields = cm_fields(&count);
    for (uint32_t i = 0; i < count; i++) {
        const cm_field *field = &fields[i];
        // Rows 1 and up are bodies, shapes, contacts and joints in use.
        uint32_t row = field->section == CM_SECTION_world ? 0 : 1;
        uint32_t bytes = element_size(field->kind);
        char *at = (char *)cm_section_row(world, field->section, row) + field->offset;
        bool is_count =
            strcmp(field->name, "body_slots") == 0 || strcmp(field->name, "shape_slots") == 0 ||
            strcmp(field->name, "contact_count") == 0 || strcmp(field->name, "joint_slots") == 0 ||
            strcmp(field->name, "rule_count") == 0;
        for (uint32_t e = 0; e < field->count; e++) {
            uint32_t low;
            uint8_t kept = (uint8_t)at[e * bytes];
            memcpy(&low, at + e * bytes, bytes < 4 ? 1 : 4);
            at[e * bytes] = (char)(kept ^ (is_count ? (kept & 1 ? 1 : 2) : 1));
            cr_assert_neq(carom_world_hash(world), hash, "%s.%s[%u]",
                          cm_section_name(field->section), field->name, e);
            cr_assert(cm_world_difference(world, other, &difference));
            cr_assert_str_eq(difference.section, cm_section_name(field->section));
            cr_assert_str_eq(difference.field, field->name);
            cr_assert_eq(difference.row, row);
            cr_assert_eq(difference.element, e);
            cr_assert_str_neq(difference.first, difference.second);
            at[e * bytes] = (char)kept;
            changed++;
        }
    }
    cr_assert_eq(carom_world_hash(world), hash);
    cr_assert_gt(changed, 80);
    free(image);
    free(world);
    free(other);
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
