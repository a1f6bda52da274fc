// fields.def at run time: the table, flattening of rows, the layout hash and the difference.
//
// Each use below expands the table once; a comparison of section constants keeps the fields of the
// section at hand and folds the others away. The sizes are checked against the structs, so that a
// field added to a struct and not to the table (or the other way round) does not compile: add the
// field to both, or name it as padding and correct the sum.
#include "shared/sim/state/fields.h"

#include "shared/base/hash.h"
#include "shared/sim/state/resting.h"

#include <stdio.h>
#include <string.h>

#define SECTION(section, type, padding) typedef type row_##section;
#include "shared/sim/state/fields.def"

#define BYTES_U8  1
#define BYTES_U32 4
#define BYTES_U64 8
#define BYTES_I32 4
#define BYTES_F32 4

#define FIELD(section, member, kind, count)                                                        \
    _Static_assert(sizeof(((row_##section *)0)->member) == BYTES_##kind * (count),                 \
                   "fields.def and the struct differ in the size of " #section "." #member);
#include "shared/sim/state/fields.def"

// Words counted through the whole table. The last enumerator of a line steps back, so that the next
// line goes on where this one began or ended.
enum {
    word_before = -1,
#define SECTION(section, type, padding) base_##section, before_##section = base_##section - 1,
#define FIELD(section, member, kind, count)                                                        \
    word_##section##_##member,                                                                     \
        last_word_##section##_##member = word_##section##_##member + CM_WORDS_##kind * (count)-1,
#define SECTION_END(section) end_##section, ended_##section = end_##section - 1,
#include "shared/sim/state/fields.def"
};

// Bytes, likewise.
enum {
    byte_before = -1,
#define SECTION(section, type, padding)                                                            \
    first_byte_##section, before_bytes_##section = first_byte_##section - 1,
#define FIELD(section, member, kind, count)                                                        \
    byte_##section##_##member,                                                                     \
        last_byte_##section##_##member = byte_##section##_##member + BYTES_##kind * (count)-1,
#define SECTION_END(section) end_byte_##section, ended_bytes_##section = end_byte_##section - 1,
#include "shared/sim/state/fields.def"
};

// Fields and named padding are all there is in each row.
#define SECTION(section, type, padding)                                                            \
    _Static_assert(sizeof(type) == end_byte_##section - first_byte_##section + (padding),          \
                   "a field is missing in " #section);                                             \
    _Static_assert(end_##section - base_##section <= CM_ROW_WORDS_MAX, "raise CM_ROW_WORDS_MAX");  \
    _Static_assert(sizeof(type) <= CM_ROW_BYTES_MAX, "raise CM_ROW_BYTES_MAX");
#include "shared/sim/state/fields.def"

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
#define SECTION(section, type, padding) {#section, end_##section - base_##section, sizeof(type)},
#include "shared/sim/state/fields.def"
};

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
    const cm_world_state whole = cm_whole_state(world);
    return cm_has_rows(world, section) ? cm_section_count(&whole, section) : 0;
}

cm_world_state cm_full_counts(const carom_limits *limits)
{
    return (cm_world_state){.body_slots = limits->bodies,
                            .shape_slots = limits->shapes,
                            .contact_count = limits->contacts,
                            .point_count = CM_MANIFOLD_MAX * limits->contacts,
                            .joint_slots = limits->joints,
                            .rule_count = CAROM_RULES_MAX};
}

uint32_t cm_section_count(const cm_world_state *state, cm_section section)
{
    switch (section) {
    case CM_SECTION_world:
        return 1;
    case CM_SECTION_motion:
    case CM_SECTION_body:
        return state->body_slots;
    case CM_SECTION_shape:
        return state->shape_slots;
    case CM_SECTION_joint:
        return state->joint_slots;
    case CM_SECTION_rule:
        return state->rule_count;
    case CM_SECTION_feature:
    case CM_SECTION_kept_point:
    case CM_SECTION_soft_point:
        return state->point_count;
    default:
        return state->contact_count;
    }
}

// Among contacts in the order of them all: where the row stands.
static void *row_of_contacts(const carom_world *world, cm_section section, uint32_t row)
{
    bool points = section >= CM_POINTS_FIRST;
    cm_contact_run run = {0};
    while (cm_contacts_next(world, &run)) {
        uint32_t here = points ? run.points : run.rows;
        if (row < here) {
            return cm_contact_row(world, section, run.resting, row + (points ? run.point : run.row),
                                  sections[section].stride);
        }
        row -= here;
    }
    return NULL;
}

static void *row_at(const carom_world *world, cm_section section, uint32_t row)
{
    bool contacts = section >= CM_CONTACTS_FIRST && section <= CM_POINTS_LAST;
    return contacts && world->resting.rows > 0
               ? row_of_contacts(world, section, row)
               : (char *)cm_rows(world, section) + (size_t)row * sections[section].stride;
}

const void *cm_section_row(const carom_world *world, cm_section section, uint32_t row)
{
    return row_at(world, section, row);
}

void *cm_section_change(carom_world *world, cm_section section, uint32_t row)
{
    if (section == CM_SECTION_body || section == CM_SECTION_shape) {
        cm_row_changes(world, section, row);
    } else if (section == CM_SECTION_motion) {
        cm_row_note(world, CM_SECTION_body, row);
    } else if (section >= CM_CONTACTS_FIRST && section <= CM_POINTS_LAST) {
        world->hashed.resting = false;
    }
    return row_at(world, section, row);
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
#define SECTION(section, type, padding)                                                            \
    case CM_SECTION_##section:                                                                     \
        load_row(CM_SECTION_##section, row, words);                                                \
        break;
#include "shared/sim/state/fields.def"
    default:
        break;
    }
}

// With the section known when it is compiled, words of a row stay in registers.
__attribute__((always_inline)) static inline void hash_rows(cm_section section, uint32_t words,
                                                            size_t stride, const char *rows,
                                                            uint32_t count, cm_chains *chains)
{
    cm_chains c = *chains;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word[CM_ROW_WORDS_MAX + 1];
        load_row(section, rows + i * stride, word);
        word[words] = 0;
#pragma GCC unroll 32
        for (uint32_t k = 0; k < words; k += 2) {
            cm_chain(&c.link[k / 2 % CM_CHAINS], word[k] | (uint64_t)word[k + 1] << 32);
        }
    }
    *chains = c;
}

void cm_rows_hash(cm_section section, const void *rows, uint32_t count, cm_chains *chains)
{
    switch (section) {
#define SECTION(section, type, padding)                                                            \
    case CM_SECTION_##section:                                                                     \
        hash_rows(CM_SECTION_##section, end_##section - base_##section, sizeof(type), rows, count, \
                  chains);                                                                         \
        break;
#include "shared/sim/state/fields.def"
    default:
        break;
    }
}

uint64_t cm_contacts_hash(const carom_world *world, const uint32_t *offset, cm_contact_at at,
                          uint32_t count)
{
    const char *rows[CM_SECTION_COUNT];
    uint64_t sum = 0;
    for (int section = CM_CONTACTS_FIRST; section <= CM_POINTS_LAST; section++) {
        size_t row = section >= CM_POINTS_FIRST ? at.point : at.row;
        rows[section] = (const char *)world + offset[section] + row * sections[section].stride;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t points = ((const cm_contact *)rows[CM_SECTION_contact])->point_count;
        cm_chains c = {{1, 2, 3, 4}};
#define SECTION(section, type, padding)                                                            \
    if ((int)CM_SECTION_##section >= (int)CM_CONTACTS_FIRST &&                                     \
        (int)CM_SECTION_##section <= (int)CM_POINTS_LAST && offset[CM_SECTION_##section] != 0) {   \
        uint32_t here = (int)CM_SECTION_##section >= (int)CM_POINTS_FIRST ? points : 1;            \
        hash_rows(CM_SECTION_##section, end_##section - base_##section, sizeof(type),              \
                  rows[CM_SECTION_##section], here, &c);                                           \
        rows[CM_SECTION_##section] += here * sizeof(type);                                         \
    }
#include "shared/sim/state/fields.def"
        sum += cm_chains_end(&c);
    }
    return sum;
}

bool cm_row_store(cm_section section, const uint32_t *words, void *row)
{
    memset(row, 0, sections[section].stride);
    switch (section) {
#define SECTION(section, type, padding)                                                            \
    case CM_SECTION_##section:                                                                     \
        return store_row(CM_SECTION_##section, words, row);
#include "shared/sim/state/fields.def"
    default:
        return false;
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

static const cm_contact *contact_at(const carom_world *world, uint32_t row)
{
    return cm_section_row(world, CM_SECTION_contact, row);
}

static uint32_t contact_of_point(const carom_world *world, uint32_t point)
{
    uint32_t row = 0, end = 0, rows = cm_section_rows(world, CM_SECTION_contact);
    while (row < rows && (end += contact_at(world, row)->point_count) <= point) {
        row++;
    }
    return row;
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
    if (section >= CM_POINTS_FIRST && section <= CM_POINTS_LAST) {
        row = contact_of_point(world, row);
    }
    uint32_t shape = section == CM_SECTION_shape ? row : contact_at(world, row)->shape_a;
    return shape < world->state.shape_slots ? cm_shapes(world)[shape].body : CM_NONE;
}

// Compares one row; fills `out` at its first difference.
static bool row_difference(const carom_world *first, const carom_world *second, cm_section section,
                           uint32_t row, cm_difference *out)
{
    uint32_t a[CM_ROW_WORDS_MAX], b[CM_ROW_WORDS_MAX];
    if (section == CM_SECTION_world) {
        const cm_world_state whole_a = cm_whole_state(first), whole_b = cm_whole_state(second);
        cm_row_load(section, &whole_a, a);
        cm_row_load(section, &whole_b, b);
    } else {
        cm_row_load(section, cm_section_row(first, section, row), a);
        cm_row_load(section, cm_section_row(second, section, row), b);
    }
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
