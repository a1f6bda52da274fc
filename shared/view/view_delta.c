// A quantised body as bits: whole, or as a difference from a baseline; see PROTOCOL.md, "Body".
//
// Invariants: every value read lies in its field's range, whatever the bits say (differences wrap
// at the field's width); LINEAR and ANGULAR travel only for a body that has velocities and is not
// at rest, and are 0 otherwise; a whole body is a difference from nothing, all of it changed.
//
//   WHAT                          BITS (baseline)                  BITS (none)
//   changed at all                1                                -
//   FLAGS                         2                                2
//   POSITION changed, values      1, then 3 x (1+3 | 2+9 | 2+all)  3 x all
//   LARGEST + ORIENTATION changed 1
//     same LARGEST                1, then 3 x (1+4 | 2+8 | 2+11)   2 + 3 x 11
//   LINEAR changed, values        1, then 3 x (1+5 | 2+9 | 2+16)   3 x 16
//   ANGULAR changed, values       1, then 3 x (1+5 | 2+9 | 2+15)   3 x 15
// Typical: 1 bit for what stands, 40 to 60 for what moves; 3,000 bodies coded a second and
// client.
#include "shared/view/view.h"

#include "shared/base/assert.h"

#include <string.h>

typedef enum view_group { FLAGS, POSITION, LARGEST, ORIENTATION, LINEAR, ANGULAR } view_group;

typedef struct view_field {
    view_group group;
    size_t offset; // in cm_view_body
    uint32_t at;   // axis, where bits is 0
    uint32_t sign, bits, small, medium;
} view_field;

static const view_field fields[] = {
#define VIEW_FIELD(group, member, at, sign, bits, small, medium)                                   \
    {group, offsetof(cm_view_body, member) + (at) * sizeof(uint32_t), at, sign, bits, small,       \
     medium},
#include "shared/view/view_fields.def"
#undef VIEW_FIELD
};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };
_Static_assert(FIELD_COUNT * sizeof(uint32_t) == sizeof(cm_view_body),
               "view_fields.def must name every field of cm_view_body");

static uint32_t field_get(const cm_view_body *body, const view_field *field)
{
    uint32_t value;
    memcpy(&value, (const char *)body + field->offset, sizeof value);
    return value;
}

static void field_set(cm_view_body *body, const view_field *field, uint32_t value)
{
    memcpy((char *)body + field->offset, &value, sizeof value);
}

static uint32_t field_bits(const cm_view_config *config, const view_field *field)
{
    return field->bits != 0 ? field->bits : config->position_bits[field->at];
}

static uint32_t low_bits(uint32_t value, uint32_t bits)
{
    return value & (uint32_t)((UINT64_C(1) << bits) - 1);
}

// The low `bits` as two's complement, back in 32 bits.
static uint32_t sign_extend(uint32_t value, uint32_t bits)
{
    uint32_t top = 1u << (bits - 1);
    return (low_bits(value, bits) ^ top) - top;
}

// True if a difference fits into two's complement of so many bits.
static bool fits(uint32_t difference, uint32_t bits)
{
    return sign_extend(difference, bits) == difference;
}

static bool has_motion(const cm_view_body *body)
{
    return body->has_velocity != 0 && body->at_rest == 0;
}

static bool group_travels(view_group group, const cm_view_body *body)
{
    return (group != LINEAR && group != ANGULAR) || has_motion(body);
}

bool cm_view_equal(const cm_view_body *a, const cm_view_body *b)
{
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if (field_get(a, &fields[i]) != field_get(b, &fields[i])) {
            return false;
        }
    }
    return true;
}

uint32_t cm_view_check(uint32_t check, uint32_t index, const cm_view_body *body)
{
    check = cm_check_fold(check, index);
    for (uint32_t i = 0; i < CM_VIEW_DRIVE_WORDS && index >= CM_VIEW_DRIVES; i++) {
        check = cm_check_fold(check, body->drive[i]);
    }
    if (index >= CM_VIEW_DRIVES) {
        return check;
    }
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        check = cm_check_fold(check, field_get(body, &fields[i]));
    }
    return check;
}

// Writing --------------------------------------------------------------------------------------

static void write_whole(cm_bit_writer *writer, const cm_view_config *config,
                        const cm_view_body *body)
{
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if (group_travels(fields[i].group, body)) {
            cm_write_bits(writer, field_get(body, &fields[i]), field_bits(config, &fields[i]));
        }
    }
}

static void write_difference(cm_bit_writer *writer, const cm_view_config *config,
                             const view_field *field, const cm_view_body *baseline,
                             const cm_view_body *body)
{
    uint32_t bits = field_bits(config, field);
    uint32_t value = field_get(body, field);
    // The difference in its field's own width: the shorter way round.
    uint32_t difference = sign_extend(value - field_get(baseline, field), bits);
    if (field->small < bits && fits(difference, field->small)) {
        cm_write_bits(writer, 0, 1);
        cm_write_bits(writer, difference, field->small);
    } else if (field->medium < bits && fits(difference, field->medium)) {
        cm_write_bits(writer, 1, 2);
        cm_write_bits(writer, difference, field->medium);
    } else {
        cm_write_bits(writer, 3, 2);
        cm_write_bits(writer, value, bits);
    }
}

static bool group_differs(view_group group, const cm_view_body *a, const cm_view_body *b)
{
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].group == group && field_get(a, &fields[i]) != field_get(b, &fields[i])) {
            return true;
        }
    }
    return false;
}

static void write_group(cm_bit_writer *writer, const cm_view_config *config, view_group group,
                        const cm_view_body *baseline, const cm_view_body *body)
{
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].group != group) {
            continue;
        }
        if (baseline != NULL && fields[i].small != 0) {
            write_difference(writer, config, &fields[i], baseline, body);
        } else {
            cm_write_bits(writer, field_get(body, &fields[i]), field_bits(config, &fields[i]));
        }
    }
}

static void write_body(cm_bit_writer *writer, const cm_view_config *config,
                       const cm_view_body *baseline, const cm_view_body *body)
{
    CM_ASSERT(has_motion(body) || !group_differs(LINEAR, body, &(cm_view_body){0}));
    CM_ASSERT(has_motion(body) || !group_differs(ANGULAR, body, &(cm_view_body){0}));
    if (baseline == NULL) {
        write_whole(writer, config, body);
        return;
    }
    bool changed = !cm_view_equal(baseline, body);
    cm_write_bool(writer, changed);
    if (!changed) {
        return;
    }
    write_group(writer, config, FLAGS, NULL, body);
    bool moved = group_differs(POSITION, baseline, body);
    cm_write_bool(writer, moved);
    if (moved) {
        write_group(writer, config, POSITION, baseline, body);
    }
    bool same_largest = !group_differs(LARGEST, baseline, body);
    bool turned = !same_largest || group_differs(ORIENTATION, baseline, body);
    cm_write_bool(writer, turned);
    if (turned) {
        cm_write_bool(writer, same_largest);
        if (!same_largest) {
            write_group(writer, config, LARGEST, NULL, body);
        }
        write_group(writer, config, ORIENTATION, same_largest ? baseline : NULL, body);
    }
    for (view_group group = LINEAR; group <= ANGULAR; group++) {
        if (group_travels(group, body)) {
            bool differs = group_differs(group, baseline, body);
            cm_write_bool(writer, differs);
            if (differs) {
                write_group(writer, config, group, baseline, body);
            }
        }
    }
}

cm_view_code cm_view_encode(const cm_view_config *config, const cm_view_body *baseline,
                            const cm_view_body *body)
{
    cm_view_code code = {0};
    cm_bit_writer writer;
    cm_bit_writer_init(&writer, code.bytes, sizeof code.bytes);
    write_body(&writer, config, baseline, body);
    CM_ASSERT(!writer.overflow);
    code.count = (uint32_t)writer.position;
    return code;
}

// Reading --------------------------------------------------------------------------------------

static void set_in_range(cm_view_body *body, const view_field *field, uint32_t value, uint32_t bits)
{
    field_set(body, field, field->sign ? sign_extend(value, bits) : low_bits(value, bits));
}

static void read_difference(cm_bit_reader *reader, const cm_view_config *config,
                            const view_field *field, const cm_view_body *baseline,
                            cm_view_body *body)
{
    uint32_t bits = field_bits(config, field);
    if (!cm_read_bool(reader)) {
        uint32_t difference = sign_extend(cm_read_bits(reader, field->small), field->small);
        set_in_range(body, field, field_get(baseline, field) + difference, bits);
    } else if (!cm_read_bool(reader)) {
        uint32_t difference = sign_extend(cm_read_bits(reader, field->medium), field->medium);
        set_in_range(body, field, field_get(baseline, field) + difference, bits);
    } else {
        set_in_range(body, field, cm_read_bits(reader, bits), bits);
    }
}

static void read_group(cm_bit_reader *reader, const cm_view_config *config, view_group group,
                       const cm_view_body *baseline, cm_view_body *body)
{
    for (uint32_t i = 0; i < FIELD_COUNT; i++) {
        if (fields[i].group != group) {
            continue;
        }
        if (baseline != NULL && fields[i].small != 0) {
            read_difference(reader, config, &fields[i], baseline, body);
        } else {
            uint32_t bits = field_bits(config, &fields[i]);
            set_in_range(body, &fields[i], cm_read_bits(reader, bits), bits);
        }
    }
}

static void clear_motion(cm_view_body *body)
{
    if (!has_motion(body)) {
        memset(body->linear, 0, sizeof body->linear);
        memset(body->angular, 0, sizeof body->angular);
    }
}

void cm_view_read(cm_bit_reader *reader, const cm_view_config *config, const cm_view_body *baseline,
                  cm_view_body *body)
{
    if (baseline == NULL) {
        memset(body, 0, sizeof *body);
        for (view_group group = FLAGS; group <= ANGULAR; group++) {
            if (group_travels(group, body)) {
                read_group(reader, config, group, NULL, body);
            }
        }
        return;
    }
    cm_view_body from = *baseline; // body and baseline may be the same memory
    *body = from;
    if (!cm_read_bool(reader)) {
        return;
    }
    read_group(reader, config, FLAGS, NULL, body);
    if (cm_read_bool(reader)) {
        read_group(reader, config, POSITION, &from, body);
    }
    if (cm_read_bool(reader)) {
        bool same_largest = cm_read_bool(reader);
        if (!same_largest) {
            read_group(reader, config, LARGEST, NULL, body);
        }
        read_group(reader, config, ORIENTATION, same_largest ? &from : NULL, body);
    }
    for (view_group group = LINEAR; group <= ANGULAR; group++) {
        if (group_travels(group, body) && cm_read_bool(reader)) {
            read_group(reader, config, group, &from, body);
        }
    }
    clear_motion(body);
}
