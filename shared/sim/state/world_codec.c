// Encode and decode of a whole world: the portable form, for joins, keyframes and other
// architectures.
//
// Every row is its words (fields.h), each in four little-endian bytes, so a row stands at a place
// that follows from the counts alone. Decode goes over the bytes twice: it checks every value and
// every index in place, without memory of its own, and only then writes: bytes may be hostile, and
// a refused world is unchanged.
//
//   OFFSET   SIZE                  CONTENT
//   0        4                     magic "CRME"
//   4        4                     engine version
//   8        8                     layout hash
//   16       4 x words of world    the world's own fields, the counts of rows among them
//   …        4 x words of motion   x body_slots
//   …        4 x words of body     x body_slots
//   …        4 x words of shape    x shape_slots
//   …        4 x words of each section of contacts that the world's solver has, x contact_count,
//            and of points, x point_count
//   …        4 x words of joint    x joint_slots
//   …        4 x words of rule     x rule_count
//
// Typical: 400 bodies, 250 kB, once a join or a keyframe.
#include "shared/base/assert.h"
#include "shared/base/bytes.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/fields.h"
#include "shared/sim/state/portable.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#define ENCODE_MAGIC 0x454d5243u // "CRME"

// Places of the sections in an encoded world.
typedef struct form {
    const uint8_t *bytes;
    cm_world_state state;
    size_t at[CM_SECTION_COUNT];
    size_t size;
} form;

static uint64_t row_bytes(cm_section section)
{
    return 4 * (uint64_t)cm_section_words(section);
}

// Of a state of this world's solver.
static uint64_t encoded_size(const carom_world *world, const cm_world_state *state,
                             size_t at[CM_SECTION_COUNT])
{
    uint64_t size = CM_PORTABLE_HEADER;
    for (int section = 0; section < CM_SECTION_COUNT; section++) {
        at[section] = (size_t)size;
        if (cm_has_rows(world, (cm_section)section)) {
            size += cm_section_count(state, (cm_section)section) * row_bytes((cm_section)section);
        }
    }
    return size;
}

size_t carom_world_encode_size(const carom_world *world)
{
    size_t at[CM_SECTION_COUNT];
    const cm_world_state whole = cm_whole_state(world);
    return (size_t)encoded_size(world, &whole, at);
}

static void put_contacts(cm_byte_writer *writer, const carom_world *world, cm_section section)
{
    cm_contact_run run = {0};
    uint32_t stride = cm_section_stride(section);
    while (cm_has_rows(world, section) && cm_contacts_next(world, &run)) {
        bool points = section >= CM_POINTS_FIRST;
        uint32_t row = points ? run.point : run.row, rows = points ? run.points : run.rows;
        for (uint32_t i = row; i < row + rows; i++) {
            cm_portable_put_row(writer, section,
                                cm_contact_row(world, section, run.resting, i, stride));
        }
    }
}

static void put_section(cm_byte_writer *writer, const carom_world *world, cm_section section)
{
    if (section >= CM_CONTACTS_FIRST && section <= CM_POINTS_LAST) {
        put_contacts(writer, world, section);
        return;
    }
    const cm_world_state whole = cm_whole_state(world);
    uint32_t rows = cm_section_rows(world, section);
    for (uint32_t row = 0; row < rows; row++) {
        cm_portable_put_row(writer, section,
                            section == CM_SECTION_world ? (const void *)&whole
                                                        : cm_section_row(world, section, row));
    }
}

size_t carom_world_encode(const carom_world *world, void *bytes, size_t size)
{
    size_t needed = carom_world_encode_size(world);
    if (bytes == NULL || size < needed) {
        return 0;
    }
    cm_byte_writer writer = cm_byte_writer_make(bytes, needed);
    cm_portable_put_header(&writer, ENCODE_MAGIC, world->layout_hash);
    for (int section = 0; section < CM_SECTION_COUNT; section++) {
        put_section(&writer, world, (cm_section)section);
    }
    CM_ASSERT(!writer.overflow);
    CM_ASSERT(writer.size == needed);
    return needed;
}

// Row `row` of a section out of the bytes; false where a word does not fit its kind.
static bool row_of(const form *f, cm_section section, uint32_t row, void *to)
{
    size_t at = f->at[section] + (size_t)row * (size_t)row_bytes(section);
    cm_byte_reader reader = cm_byte_reader_make(f->bytes + at, (size_t)row_bytes(section));
    return cm_portable_get_row(&reader, section, to);
}

static carom_result check_counts(const cm_world_state *state, const carom_limits *limits)
{
    if (state->body_slots > limits->bodies) {
        return CAROM_ERROR_LIMIT_BODIES;
    }
    if (state->shape_slots > limits->shapes) {
        return CAROM_ERROR_LIMIT_SHAPES;
    }
    if (state->contact_count > limits->contacts ||
        state->point_count > CM_MANIFOLD_MAX * limits->contacts) {
        return CAROM_ERROR_LIMIT_CONTACTS;
    }
    if (state->rule_count > CAROM_RULES_MAX) {
        return CAROM_ERROR_LIMIT_RULES;
    }
    return state->joint_slots > limits->joints ? CAROM_ERROR_LIMIT_JOINTS : CAROM_OK;
}

// A list of live shapes of one body: ascending, so it ends; each of them this body's own.
static carom_result check_list(const form *f, uint32_t slot, const cm_body *body, uint32_t *listed)
{
    uint32_t previous = CM_NONE;
    for (uint32_t at = body->first_shape; at != CM_NONE;) {
        cm_shape shape;
        bool ascends = at < f->state.shape_slots && (previous == CM_NONE || at > previous);
        if (!ascends || !row_of(f, CM_SECTION_shape, at, &shape)) {
            return CAROM_ERROR_CORRUPT;
        }
        if (!shape.alive || shape.body != slot ||
            (shape.type == CAROM_SHAPE_PLANE && body->type != CAROM_BODY_STATIC)) {
            return CAROM_ERROR_CORRUPT;
        }
        (*listed)++;
        previous = at;
        at = shape.next;
    }
    return CAROM_OK;
}

// A sleeping body names the lowest of those that fell asleep with it.
static bool sleeps_right(const form *f, uint32_t slot, const cm_body *body)
{
    cm_body lowest;
    return body->island <= slot && (f->state.flags & CM_WORLD_SLEEP) &&
           row_of(f, CM_SECTION_body, body->island, &lowest) && lowest.island == body->island;
}

static carom_result check_bodies(const form *f, uint32_t *listed)
{
    for (uint32_t slot = 0; slot < f->state.body_slots; slot++) {
        cm_motion motion;
        cm_body body;
        if (!row_of(f, CM_SECTION_motion, slot, &motion) ||
            !row_of(f, CM_SECTION_body, slot, &body)) {
            return CAROM_ERROR_CORRUPT;
        }
        if (!body.alive) {
            if (!cm_portable_is_dead(CM_SECTION_motion, &motion) ||
                !cm_portable_is_dead(CM_SECTION_body, &body)) {
                return CAROM_ERROR_CORRUPT;
            }
            continue;
        }
        CM_TRY(cm_portable_check_body(&motion, &body));
        if (cm_body_is_asleep(&body) && !sleeps_right(f, slot, &body)) {
            return CAROM_ERROR_CORRUPT;
        }
        CM_TRY(check_list(f, slot, &body, listed));
    }
    return CAROM_OK;
}

static carom_result check_shapes(const form *f, const carom_world *world, uint32_t *live)
{
    for (uint32_t slot = 0; slot < f->state.shape_slots; slot++) {
        cm_shape shape;
        if (!row_of(f, CM_SECTION_shape, slot, &shape)) {
            return CAROM_ERROR_CORRUPT;
        }
        if (!shape.alive) {
            if (!cm_portable_is_dead(CM_SECTION_shape, &shape)) {
                return CAROM_ERROR_CORRUPT;
            }
            continue;
        }
        if (shape.generation == 0 || cm_check_shape(&shape, NULL) != CAROM_OK) {
            return CAROM_ERROR_CORRUPT;
        }
        carom_result known = cm_check_geometry(world, &shape);
        if (known != CAROM_OK) {
            return known == CAROM_ERROR_NOT_FOUND ? known : CAROM_ERROR_CORRUPT;
        }
        (*live)++;
    }
    return CAROM_OK;
}

// Checks what is remembered beside contacts, in each section that the world has.
static carom_result check_remembered(const form *f, const carom_world *world)
{
    uint64_t row[CM_ROW_BYTES_MAX / sizeof(uint64_t)];
    for (int section = CM_CONTACTS_FIRST + 1; section <= CM_POINTS_LAST; section++) {
        uint32_t rows = cm_has_rows(world, (cm_section)section)
                            ? cm_section_count(&f->state, (cm_section)section)
                            : 0;
        for (uint32_t i = 0; i < rows; i++) {
            if (!row_of(f, (cm_section)section, i, row) ||
                cm_check_remembered((cm_section)section, row) != CAROM_OK) {
                return CAROM_ERROR_CORRUPT;
            }
        }
    }
    return CAROM_OK;
}

static carom_result check_contacts(const form *f, const carom_world *world)
{
    uint64_t previous = 0, points = 0;
    for (uint32_t i = 0; i < f->state.contact_count; i++) {
        cm_contact contact;
        if (!row_of(f, CM_SECTION_contact, i, &contact) || cm_check_contact(&contact) != CAROM_OK ||
            contact.shape_b >= f->state.shape_slots) {
            return CAROM_ERROR_CORRUPT;
        }
        uint64_t key = (uint64_t)contact.shape_a << 32 | contact.shape_b;
        cm_shape a, b;
        bool read = row_of(f, CM_SECTION_shape, contact.shape_a, &a) &&
                    row_of(f, CM_SECTION_shape, contact.shape_b, &b);
        if (!read || !a.alive || !b.alive || a.body == b.body || (i > 0 && key <= previous)) {
            return CAROM_ERROR_CORRUPT;
        }
        previous = key;
        points += contact.point_count;
    }
    return points == f->state.point_count ? check_remembered(f, world) : CAROM_ERROR_CORRUPT;
}

static bool is_live_body(const form *f, uint32_t slot)
{
    cm_body body;
    return slot < f->state.body_slots && row_of(f, CM_SECTION_body, slot, &body) && body.alive;
}

static carom_result check_joints(const form *f)
{
    for (uint32_t slot = 0; slot < f->state.joint_slots; slot++) {
        cm_joint joint;
        if (!row_of(f, CM_SECTION_joint, slot, &joint)) {
            return CAROM_ERROR_CORRUPT;
        }
        if (!joint.alive) {
            if (!cm_portable_is_dead(CM_SECTION_joint, &joint)) {
                return CAROM_ERROR_CORRUPT;
            }
            continue;
        }
        bool held = is_live_body(f, joint.body_b) && joint.body_a != joint.body_b &&
                    (joint.body_a == CM_NONE || is_live_body(f, joint.body_a));
        if (!held || joint.generation == 0 || cm_check_joint(&joint, NULL) != CAROM_OK) {
            return CAROM_ERROR_CORRUPT;
        }
    }
    return CAROM_OK;
}

static carom_result check_rules(const form *f)
{
    for (uint32_t i = 0; i < f->state.rule_count; i++) {
        cm_rule rule;
        bool read = row_of(f, CM_SECTION_rule, i, &rule) && cm_check_rule(&rule, NULL) == CAROM_OK;
        if (!read || ((rule.kinds & 1u) && !is_live_body(f, rule.a)) ||
            ((rule.kinds & 2u) && !is_live_body(f, rule.b))) {
            return CAROM_ERROR_CORRUPT;
        }
    }
    return CAROM_OK;
}

static carom_result check_form(form *f, const carom_world *world, const void *bytes, size_t size)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, size);
    CM_TRY(cm_portable_check_header(&reader, ENCODE_MAGIC, world->layout_hash));
    f->bytes = (const uint8_t *)bytes;
    bool fits = cm_portable_get_row(&reader, CM_SECTION_world, &f->state);
    if (reader.overflow || !fits || cm_check_state(&f->state, NULL) != CAROM_OK) {
        return CAROM_ERROR_CORRUPT;
    }
    CM_TRY(check_counts(&f->state, &world->limits));
    CM_TRY(cm_check_room(world, &f->state));
    if (encoded_size(world, &f->state, f->at) != size) {
        return CAROM_ERROR_CORRUPT;
    }
    uint32_t listed = 0, live = 0;
    CM_TRY(check_shapes(f, world, &live));
    CM_TRY(check_bodies(f, &listed));
    // Every listed shape is live and names the body that lists it, once: with as many listed as
    // live, no live shape is left without a body.
    if (listed != live) {
        return CAROM_ERROR_CORRUPT;
    }
    CM_TRY(check_contacts(f, world));
    CM_TRY(check_joints(f));
    return check_rules(f);
}

carom_result carom_world_decode(carom_world *world, const void *bytes, size_t size)
{
    form f;
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(bytes, "bytes", "an encoded world");
    CM_FIELD(check_form(&f, world, bytes, size), "bytes", "a sound world that fits this one");
    world->state = f.state;
    world->resting.rows = world->resting.points = 0;
    world->hashed.resting = false;
    for (int section = CM_SECTION_motion; section < CM_SECTION_COUNT; section++) {
        uint32_t rows = cm_section_rows(world, (cm_section)section);
        for (uint32_t row = 0; row < rows; row++) {
            bool stored = row_of(&f, (cm_section)section, row,
                                 cm_section_change(world, (cm_section)section, row));
            CM_ASSERT(stored);
        }
    }
    cm_bodies_forget(world);
    cm_bodies_look(world);
    cm_contacts_rest(world);
    cm_query_forget(world);
    cm_slots_forget(world);
    world->event_count = 0;
    world->joint_event_count = 0;
    world->sleep_event_count = 0;
    world->hit_event_count = 0;
    return CAROM_OK;
}
