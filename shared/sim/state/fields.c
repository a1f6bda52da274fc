// fields.def at run time: the table, flattening of rows, the layout hash and the difference.
//
// Each use below expands the table once; a comparison of section constants keeps the fields of the
// section at hand and folds the others away. The sizes are checked against the structs, so that a
// field added to a struct and not to the table (or the other way round) does not compile: add the
// field to both, or name it as padding and correct the sum.
#include "shared/sim/state/fields.h"

#include "shared/base/hash.h"

#include <stdio.h>
#include <string.h>

typedef cm_world_state row_world;
typedef cm_motion row_motion;
typedef cm_body row_body;
typedef cm_shape row_shape;
typedef cm_contact row_contact;
typedef cm_joint row_joint;
typedef cm_rule row_rule;

#define BYTES_U8  1
#define BYTES_U32 4
#define BYTES_U64 8
#define BYTES_I32 4
#define BYTES_F32 4

#define FIELD(section, member, kind, count)                                                        \
    _Static_assert(sizeof(((row_##section *)0)->member) == BYTES_##kind * (count),                 \
                   "fields.def and image.h differ in the size of " #section "." #member);
#include "shared/sim/state/fields.def"

// Sums over a section: words, and bytes in the upper half.
#define SUM(wanted, section, kind, count)                                                          \
    +(CM_SECTION_##wanted == CM_SECTION_##section                                                  \
          ? CM_WORDS_##kind * (count) + (BYTES_##kind * (count) << 16)                             \
          : 0)
enum {
    sum_world = 0
#define FIELD(section, member, kind, count) SUM(world, section, kind, count)
#include "shared/sim/state/fields.def"
    ,
    sum_motion = 0
#define FIELD(section, member, kind, count) SUM(motion, section, kind, count)
#include "shared/sim/state/fields.def"
    ,
    sum_body = 0
#define FIELD(section, member, kind, count) SUM(body, section, kind, count)
#include "shared/sim/state/fields.def"
    ,
    sum_shape = 0
#define FIELD(section, member, kind, count) SUM(shape, section, kind, count)
#include "shared/sim/state/fields.def"
    ,
    sum_contact = 0
#define FIELD(section, member, kind, count) SUM(contact, section, kind, count)
#include "shared/sim/state/fields.def"
    ,
    sum_joint = 0
#define FIELD(section, member, kind, count) SUM(joint, section, kind, count)
#include "shared/sim/state/fields.def"
    ,
    sum_rule = 0
#define FIELD(section, member, kind, count) SUM(rule, section, kind, count)
#include "shared/sim/state/fields.def"
};

// Fields and named padding are all there is in each row.
#define PADDING(section, member) sizeof(((row_##section *)0)->member)
_Static_assert(sizeof(cm_world_state) == sum_world >> 16, "a field is missing");
_Static_assert(sizeof(cm_motion) == (sum_motion >> 16) + PADDING(motion, pad),
               "a field is missing");
_Static_assert(sizeof(cm_body) == sum_body >> 16, "a field is missing");
_Static_assert(sizeof(cm_shape) == sum_shape >> 16, "a field is missing");
_Static_assert(sizeof(cm_contact) == (sum_contact >> 16) + PADDING(contact, pad),
               "a field is missing");
_Static_assert(sizeof(cm_joint) == (sum_joint >> 16) + PADDING(joint, pad), "a field is missing");
_Static_assert(sizeof(cm_rule) == sum_rule >> 16, "a field is missing");

// Words counted through the whole table; a field's word in its row is relative to its section's.
enum {
#define FIELD(section, member, kind, count)                                                        \
    word_##section##_##member,                                                                     \
        last_##section##_##member = word_##section##_##member + CM_WORDS_##kind * (count)-1,
#include "shared/sim/state/fields.def"
    word_end
};

enum {
    base_world = 0,
    base_motion = base_world + (sum_world & 0xffff),
    base_body = base_motion + (sum_motion & 0xffff),
    base_shape = base_body + (sum_body & 0xffff),
    base_contact = base_shape + (sum_shape & 0xffff),
    base_joint = base_contact + (sum_contact & 0xffff),
    base_rule = base_joint + (sum_joint & 0xffff),
};
_Static_assert(word_end == base_rule + (sum_rule & 0xffff), "sections are contiguous");

static const cm_field fields[] = {
#define FIELD(section, member, kind, count)                                                        \
    {#member,                                                                                      \
     CM_SECTION_##section,                                                                         \
     CM_##kind,                                                                                    \
     count,                                                                                        \
     (uint32_t)offsetof(row_##section, member),                                                    \
     word_##section##_##member - base_##section},
#include "shared/sim/state/fields.def"
};

static const struct {
    const char *name;
    uint32_t words;
    uint32_t stride;
} sections[CM_SECTION_COUNT] = {
    {"world", sum_world & 0xffff, sizeof(cm_world_state)},
    {"motion", sum_motion & 0xffff, sizeof(cm_motion)},
    {"body", sum_body & 0xffff, sizeof(cm_body)},
    {"shape", sum_shape & 0xffff, sizeof(cm_shape)},
    {"contact", sum_contact & 0xffff, sizeof(cm_contact)},
    {"joint", sum_joint & 0xffff, sizeof(cm_joint)},
    {"rule", sum_rule & 0xffff, sizeof(cm_rule)},
};
_Static_assert((sum_world & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");
_Static_assert((sum_motion & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");
_Static_assert((sum_body & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");
_Static_assert((sum_shape & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");
_Static_assert((sum_contact & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");
_Static_assert((sum_joint & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");
_Static_assert((sum_rule & 0xffff) <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");

const cm_field *cm_fields(uint32_t *count)
{
    *count = sizeof fields / sizeof fields[0];
    return fields;
}

const char *cm_section_name(cm_section section)
{
    return sections[section].name;
}

uint32_t cm_section_words(cm_section section)
{
    return sections[section].words;
}

uint32_t cm_section_stride(cm_section section)
{
    return sections[section].stride;
}

uint32_t cm_section_rows(const carom_world *world, cm_section section)
{
    switch (section) {
    case CM_SECTION_world:
        return 1;
    case CM_SECTION_motion:
    case CM_SECTION_body:
        return world->state.body_slots;
    case CM_SECTION_shape:
        return world->state.shape_slots;
    case CM_SECTION_contact:
        return world->state.contact_count;
    case CM_SECTION_joint:
        return world->state.joint_slots;
    default:
        return world->state.rule_count;
    }
}

void *cm_section_row(const carom_world *world, cm_section section, uint32_t row)
{
    switch (section) {
    case CM_SECTION_world:
        return (void *)&world->state;
    case CM_SECTION_motion:
        return cm_motions(world) + row;
    case CM_SECTION_body:
        return cm_bodies(world) + row;
    case CM_SECTION_shape:
        return cm_shapes(world) + row;
    case CM_SECTION_contact:
        return cm_contacts(world) + row;
    case CM_SECTION_joint:
        return cm_joints(world) + row;
    default:
        return cm_rules(world) + row;
    }
}

// Rows as words ----------------------------------------------------------------------------------

static inline void load_field(cm_kind kind, uint32_t count, const char *from, uint32_t *words)
{
    for (uint32_t i = 0; i < count; i++) {
        if (kind == CM_U8) {
            words[i] = (uint8_t)from[i];
        } else if (kind == CM_U64) {
            uint64_t value;
            memcpy(&value, from + 8 * i, sizeof value);
            words[2 * i] = (uint32_t)value;
            words[2 * i + 1] = (uint32_t)(value >> 32);
        } else {
            memcpy(&words[i], from + 4 * i, 4);
        }
    }
}

static inline bool store_field(cm_kind kind, uint32_t count, const uint32_t *words, char *to)
{
    bool fits = true;
    for (uint32_t i = 0; i < count; i++) {
        if (kind == CM_U8) {
            fits = fits && words[i] <= 0xff;
            to[i] = (char)(uint8_t)words[i];
        } else if (kind == CM_U64) {
            uint64_t value = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
            memcpy(to + 8 * i, &value, sizeof value);
        } else {
            memcpy(to + 4 * i, &words[i], 4);
        }
    }
    return fits;
}

__attribute__((always_inline)) static inline void load_row(cm_section wanted, const char *row,
                                                           uint32_t *words)
{
#define FIELD(section, member, kind, count)                                                        \
    if (wanted == CM_SECTION_##section) {                                                          \
        load_field(CM_##kind, count, row + offsetof(row_##section, member),                        \
                   words + (word_##section##_##member - base_##section));                          \
    }
#include "shared/sim/state/fields.def"
}

__attribute__((always_inline)) static inline bool store_row(cm_section wanted,
                                                            const uint32_t *words, char *row)
{
    bool fits = true;
#define FIELD(section, member, kind, count)                                                        \
    if (wanted == CM_SECTION_##section) {                                                          \
        fits = store_field(CM_##kind, count, words + (word_##section##_##member - base_##section), \
                           row + offsetof(row_##section, member)) &&                               \
               fits;                                                                               \
    }
#include "shared/sim/state/fields.def"
    return fits;
}

void cm_row_load(cm_section section, const void *row, uint32_t *words)
{
    switch (section) {
    case CM_SECTION_world:
        load_row(CM_SECTION_world, row, words);
        break;
    case CM_SECTION_motion:
        load_row(CM_SECTION_motion, row, words);
        break;
    case CM_SECTION_body:
        load_row(CM_SECTION_body, row, words);
        break;
    case CM_SECTION_shape:
        load_row(CM_SECTION_shape, row, words);
        break;
    case CM_SECTION_contact:
        load_row(CM_SECTION_contact, row, words);
        break;
    case CM_SECTION_joint:
        load_row(CM_SECTION_joint, row, words);
        break;
    default:
        load_row(CM_SECTION_rule, row, words);
        break;
    }
}

bool cm_row_store(cm_section section, const uint32_t *words, void *row)
{
    memset(row, 0, sections[section].stride);
    switch (section) {
    case CM_SECTION_world:
        return store_row(CM_SECTION_world, words, row);
    case CM_SECTION_motion:
        return store_row(CM_SECTION_motion, words, row);
    case CM_SECTION_body:
        return store_row(CM_SECTION_body, words, row);
    case CM_SECTION_shape:
        return store_row(CM_SECTION_shape, words, row);
    case CM_SECTION_contact:
        return store_row(CM_SECTION_contact, words, row);
    case CM_SECTION_joint:
        return store_row(CM_SECTION_joint, words, row);
    default:
        return store_row(CM_SECTION_rule, words, row);
    }
}

uint64_t cm_layout_hash(void)
{
    cm_hash hash = cm_hash_begin(CM_WORLD_MAGIC);
    for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        cm_hash_bytes(&hash, fields[i].name, strlen(fields[i].name));
        cm_hash_u32(&hash, fields[i].section);
        cm_hash_u32(&hash, fields[i].kind);
        cm_hash_u32(&hash, fields[i].count);
    }
    return cm_hash_end(&hash);
}

// Difference -------------------------------------------------------------------------------------

static void value_text(cm_kind kind, const uint32_t *words, char *text, size_t size)
{
    float value;
    memcpy(&value, words, sizeof value);
    switch (kind) {
    case CM_U64:
        snprintf(text, size, "%llu", (unsigned long long)(words[0] | (uint64_t)words[1] << 32));
        break;
    case CM_I32:
        snprintf(text, size, "%d", (int)words[0]);
        break;
    case CM_F32:
        snprintf(text, size, "%.9g", (double)value);
        break;
    default:
        snprintf(text, size, "%u", words[0]);
        break;
    }
}

static uint32_t body_of_row(const carom_world *world, cm_section section, uint32_t row)
{
    if (section == CM_SECTION_motion || section == CM_SECTION_body) {
        return row;
    }
    if (section == CM_SECTION_world || section == CM_SECTION_rule) {
        return CM_NONE;
    }
    if (section == CM_SECTION_joint) {
        return cm_joints(world)[row].body_b;
    }
    uint32_t shape = section == CM_SECTION_contact ? cm_contacts(world)[row].shape_a : row;
    return shape < world->state.shape_slots ? cm_shapes(world)[shape].body : CM_NONE;
}

// Compares one row; fills `out` at its first difference.
static bool row_difference(const carom_world *first, const carom_world *second, cm_section section,
                           uint32_t row, cm_difference *out)
{
    uint32_t a[CM_ROW_WORDS_MAX], b[CM_ROW_WORDS_MAX];
    cm_row_load(section, cm_section_row(first, section, row), a);
    cm_row_load(section, cm_section_row(second, section, row), b);
    if (memcmp(a, b, sections[section].words * sizeof a[0]) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const cm_field *field = &fields[i];
        uint32_t width = field->kind == CM_U64 ? 2 : 1;
        for (uint32_t e = 0; field->section == section && e < field->count; e++) {
            uint32_t word = field->word + e * width;
            if (a[word] == b[word] && a[word + width - 1] == b[word + width - 1]) {
                continue;
            }
            out->tick = first->state.tick;
            out->section = sections[section].name;
            out->field = field->name;
            out->row = row;
            out->element = e;
            out->body = body_of_row(first, section, row);
            value_text(field->kind, a + word, out->first, sizeof out->first);
            value_text(field->kind, b + word, out->second, sizeof out->second);
            return true;
        }
    }
    return false;
}

bool cm_world_difference(const carom_world *first, const carom_world *second, cm_difference *out)
{
    memset(out, 0, sizeof *out);
    // The world's row first: it holds the counts, so the rows below are as many in both.
    for (int section = 0; section < CM_SECTION_COUNT; section++) {
        uint32_t rows = cm_section_rows(first, (cm_section)section);
        for (uint32_t row = 0; row < rows; row++) {
            if (row_difference(first, second, (cm_section)section, row, out)) {
                return true;
            }
        }
    }
    return false;
}
