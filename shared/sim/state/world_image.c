// Save and restore of a world: the fast local form.
//
// A save is the header below, the world's own fields, then the used prefix of each array, each
// copied as it lies in memory; of bodies and shapes only the rows that do not repeat the row before
// (repeat.h). Rows carry no hidden bytes (asserted in image.h), so equal states
// are equal saves. Limits, offsets, statistics and the clock are no part of it: a save moves
// between capacities. Same build and architecture only: the magic read in another byte order is
// refused.
//
//   OFFSET   SIZE                CONTENT
//   0        4                   magic "CRMS"
//   4        4                   engine version
//   8        8                   layout hash
//   16       8                   bytes of the whole save
//   24       8                   contacts and points at rest (resting.h)
//   32       152                 cm_world_state, which counts the others
//   184      rows               of each other section in the order of fields.def, as many as are
//                               in use: motion 64 bytes, body 168 and shape 144 (where they do not
//                               repeat: repeat.h), the world's sections of contacts and of points
//                               (contact.h), those at rest last, joint 200, rule 20
//
// Typical: 400 bodies, 200 kB, where all are alike 110; saved once a tick, restored once a rewind.
#include "shared/base/assert.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/fields.h"
#include "shared/sim/state/image.h"
#include "shared/sim/state/repeat.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/state/slots.h"

#include <string.h>

#define SAVE_MAGIC 0x534d5243u // "CRMS"

typedef struct save_header {
    uint32_t magic;
    uint32_t version;
    uint64_t layout_hash;
    uint64_t size;
    uint32_t resting_rows, resting_points;
} save_header;

_Static_assert(sizeof(save_header) == 32, "saved as it stands: no hidden padding");

static bool may_repeat(int section)
{
    return section == CM_SECTION_body || section == CM_SECTION_shape;
}

static bool is_of_contacts(int section)
{
    return section >= CM_CONTACTS_FIRST && section <= CM_POINTS_LAST;
}

// Of a state of this world's solver, which counts all contacts: the header and the sections whose
// rows are all there.
static uint64_t plain_size(const carom_world *world, const cm_world_state *state)
{
    uint64_t size = sizeof(save_header);
    for (int section = 0; section < CM_SECTION_COUNT; section++) {
        if (cm_has_rows(world, (cm_section)section) && !may_repeat(section)) {
            size += (uint64_t)cm_section_count(state, (cm_section)section) *
                    cm_section_stride((cm_section)section);
        }
    }
    return size;
}

size_t carom_world_save_size(const carom_world *world)
{
    // Findings about the rows are written down: nothing else in the world changes.
    carom_world *noted = (carom_world *)(uintptr_t)world;
    const cm_world_state whole = cm_whole_state(world);
    return (size_t)(plain_size(world, &whole) + cm_repeat_size(noted, CM_SECTION_body) +
                    cm_repeat_size(noted, CM_SECTION_shape));
}

size_t carom_world_save_bound(const carom_world *world)
{
    const cm_world_state full = cm_full_counts(&world->limits);
    return (size_t)(plain_size(world, &full) + cm_repeat_bound(CM_SECTION_body, full.body_slots) +
                    cm_repeat_bound(CM_SECTION_shape, full.shape_slots));
}

// Asks for the beginnings of all that is copied, so that they come at once and not one after the
// other: 2 of 30 us for a cold world of 1,000 bodies.
static void fetch_rows(const carom_world *world)
{
    for (int section = CM_SECTION_motion; section < CM_SECTION_COUNT; section++) {
        const char *rows = cm_rows(world, (cm_section)section);
        __builtin_prefetch(rows);
        __builtin_prefetch(rows + CM_CACHE_LINE);
    }
    cm_repeat_fetch(world, CM_SECTION_body);
    cm_repeat_fetch(world, CM_SECTION_shape);
}

static char *put(char *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

// Rows of a section that do not rest, and those that do.
static size_t rows_at_hand(const carom_world *world, int section)
{
    return cm_has_rows(world, (cm_section)section)
               ? cm_section_count(&world->state, (cm_section)section)
               : 0;
}

static size_t rows_at_rest(const carom_world *world, int section)
{
    return cm_section_rows(world, (cm_section)section) - rows_at_hand(world, section);
}

size_t carom_world_save(const carom_world *world, void *image, size_t size)
{
    fetch_rows(world);
    cm_contacts_settle((carom_world *)(uintptr_t)world); // of what is known, not of the state
    size_t needed = carom_world_save_size(world);
    if (image == NULL || size < needed) {
        return 0;
    }
    save_header header = {SAVE_MAGIC, CAROM_ENGINE_VERSION, world->layout_hash,
                          needed,     world->resting.rows,  world->resting.points};
    char *to = put((char *)image, &header, sizeof header);
    for (int section = 0; section < CM_SECTION_COUNT; section++) {
        if (may_repeat(section)) {
            to = cm_repeat_put(world, (cm_section)section, to);
            continue;
        }
        uint32_t stride = cm_section_stride((cm_section)section);
        to = put(to, cm_rows(world, (cm_section)section), rows_at_hand(world, section) * stride);
        if (is_of_contacts(section)) {
            to = put(to, cm_contact_row(world, (cm_section)section, true, 0, stride),
                     rows_at_rest(world, section) * stride);
        }
    }
    CM_ASSERT((size_t)(to - (char *)image) == needed);
    return needed;
}

// Bytes of an image of so many rows; 0 where they are more than there are, or not sound.
static uint64_t measure(const carom_world *world, const cm_world_state *state, const char *image,
                        uint64_t size)
{
    uint64_t needed = plain_size(world, state);
    uint64_t at = sizeof(save_header) + sizeof *state +
                  (uint64_t)state->body_slots * cm_section_stride(CM_SECTION_motion);
    for (int section = CM_SECTION_body; section <= CM_SECTION_shape; section++) {
        uint32_t rows = section == CM_SECTION_body ? state->body_slots : state->shape_slots;
        uint64_t bytes =
            at > size ? 0 : cm_repeat_measure((cm_section)section, rows, image + at, size - at);
        if (bytes == 0 && rows > 0) {
            return 0;
        }
        at += bytes;
        needed += bytes;
    }
    return needed;
}

// Everything that can be wrong with an image, before anything is touched.
static carom_result check_image(const carom_world *world, const save_header *header,
                                const cm_world_state *state, const char *image, size_t size)
{
    if (header->magic != SAVE_MAGIC) {
        return CAROM_ERROR_MAGIC;
    }
    if (header->version != CAROM_ENGINE_VERSION || header->layout_hash != world->layout_hash) {
        return CAROM_ERROR_VERSION;
    }
    // Another solver's rows are not this one's.
    CM_TRY(cm_check_room(world, state));
    if (header->size > size) {
        return CAROM_ERROR_CORRUPT;
    }
    if (state->body_slots > world->limits.bodies) {
        return CAROM_ERROR_LIMIT_BODIES;
    }
    if (state->shape_slots > world->limits.shapes) {
        return CAROM_ERROR_LIMIT_SHAPES;
    }
    uint64_t contacts = (uint64_t)state->contact_count + header->resting_rows;
    uint64_t points = (uint64_t)state->point_count + header->resting_points;
    if (contacts > world->limits.contacts ||
        points > CM_MANIFOLD_MAX * (uint64_t)world->limits.contacts) {
        return CAROM_ERROR_LIMIT_CONTACTS;
    }
    if (header->resting_rows > 0 && world->offset.resting[CM_SECTION_contact] == 0) {
        return CAROM_ERROR_CORRUPT;
    }
    if (state->joint_slots > world->limits.joints) {
        return CAROM_ERROR_LIMIT_JOINTS;
    }
    if (state->rule_count > CAROM_RULES_MAX) {
        return CAROM_ERROR_LIMIT_RULES;
    }
    cm_world_state whole = *state;
    whole.contact_count = (uint32_t)contacts;
    whole.point_count = (uint32_t)points;
    return header->size == measure(world, &whole, image, size) ? CAROM_OK : CAROM_ERROR_CORRUPT;
}

static const char *take(void *to, const char *from, size_t size)
{
    memcpy(to, from, size);
    return from + size;
}

// Contacts at rest, most of which are there already.
static const char *take_resting(carom_world *world, int section, const char *from, size_t size)
{
    void *to = cm_contact_row(world, (cm_section)section, true, 0, 0);
    if (size > 0 && memcmp(to, from, size) != 0) {
        memcpy(to, from, size);
        world->hashed.resting = false;
    }
    return from + size;
}

// Rows of motion: which of them change is noted.
static const char *take_motions(carom_world *world, const char *from)
{
    cm_motion *motions = cm_motions(world);
    for (uint32_t i = 0; i < world->state.body_slots; i++, from += sizeof *motions) {
        if (memcmp(&motions[i], from, sizeof *motions) != 0) {
            memcpy(&motions[i], from, sizeof *motions);
            cm_body_note(world, i);
        }
    }
    return from;
}

// Slots that the world does not have any more.
static void note_lost(carom_world *world, const cm_world_state *before)
{
    for (uint32_t i = world->state.body_slots; i < before->body_slots; i++) {
        cm_body_note(world, i);
    }
    for (uint32_t i = world->state.shape_slots; i < before->shape_slots; i++) {
        cm_row_note(world, CM_SECTION_shape, i);
    }
}

static const char *take_rows(carom_world *world, const save_header *header,
                             const cm_world_state *state, const char *from)
{
    const cm_world_state before = world->state;
    world->state = *state;
    if (world->resting.rows != header->resting_rows) {
        world->hashed.resting = false;
    }
    world->resting.rows = header->resting_rows;
    world->resting.points = header->resting_points;
    note_lost(world, &before);
    from = take_motions(world, from);
    for (int section = CM_SECTION_body; section < CM_SECTION_COUNT; section++) {
        if (may_repeat(section)) {
            from = cm_repeat_take(world, (cm_section)section, from);
            continue;
        }
        uint32_t stride = cm_section_stride((cm_section)section);
        from =
            take(cm_rows(world, (cm_section)section), from, rows_at_hand(world, section) * stride);
        if (is_of_contacts(section)) {
            from = take_resting(world, section, from, rows_at_rest(world, section) * stride);
        }
    }
    cm_bodies_look(world); // contacts were saved where they belong
    return from;
}

carom_result carom_world_restore(carom_world *world, const void *image, size_t size)
{
    save_header header;
    cm_world_state state;
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(image, "image", "a saved image");
    CM_FIELD(size < sizeof header + sizeof state ? CAROM_ERROR_CORRUPT : CAROM_OK, "size",
             "that of a saved image");
    fetch_rows(world);
    const char *from = take(&header, (const char *)image, sizeof header);
    from = take(&state, from, sizeof state);
    CM_FIELD(check_image(world, &header, &state, image, size), "image",
             "a save of this build, of a world like this one");
    from = take_rows(world, &header, &state, from);
    CM_ASSERT((size_t)(from - (const char *)image) == header.size);
    cm_query_forget(world);
    cm_slots_forget(world);
    // The events in scratch belong to a step that has not happened any more.
    world->event_count = 0;
    world->joint_event_count = 0;
    world->sleep_event_count = 0;
    world->hit_event_count = 0;
    return CAROM_OK;
}
