// One body with its shapes in the portable form, and placing it under the same ids in another
// world: how a client's mirror of the server's world gets and replaces bodies.
//
//   OFFSET   SIZE                 CONTENT
//   0        4                    magic "CRMB"
//   4        4                    engine version
//   8        8                    layout hash
//   16       4                    slot of the body
//   20       4                    number of shapes
//   24       4 x words of motion
//   …        4 x words of body    first_shape is the first slot below
//   …        (4 + 4 x words of shape) x number of shapes: slot, row; ascending
//
// Typical: one shape, 300 bytes; once a body and client, and again when what is not motion changes.
#include "shared/base/bytes.h"
#include "shared/base/hash.h"
#include "shared/base/vec.h"
#include "shared/sim/inspect.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/portable.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#include <string.h>

#define BODY_MAGIC 0x424d5243u // "CRMB"

size_t carom_world_encode_body(const carom_world *world, carom_body_id body, void *bytes,
                               size_t size)
{
    const cm_body *row = world != NULL ? cm_body_find(world, body) : NULL;
    if (row == NULL || bytes == NULL) {
        return 0;
    }
    cm_byte_writer writer = cm_byte_writer_make(bytes, size);
    cm_portable_put_header(&writer, BODY_MAGIC, world->layout_hash);
    cm_put_u32(&writer, body.index);
    cm_put_u32(&writer, carom_body_shapes(world, body, NULL, 0));
    cm_portable_put_row(&writer, CM_SECTION_motion, &cm_motions(world)[body.index]);
    cm_portable_put_row(&writer, CM_SECTION_body, row);
    for (uint32_t slot = row->first_shape; slot != CM_NONE; slot = cm_shapes(world)[slot].next) {
        cm_put_u32(&writer, slot);
        cm_portable_put_row(&writer, CM_SECTION_shape, &cm_shapes(world)[slot]);
    }
    return writer.overflow ? 0 : writer.size;
}

// A slot may be taken where nothing lives, or where the body lives that will be replaced.
static bool is_takeable(const carom_world *world, uint32_t slot, uint32_t body)
{
    if (slot >= world->state.shape_slots) {
        return true;
    }
    const cm_shape *shape = &cm_shapes(world)[slot];
    return !shape->alive || shape->body == body;
}

// Checks the shapes of an encoded body: rows in range, ascending, linked as they are listed.
static carom_result check_shapes(const carom_world *world, cm_byte_reader *reader, uint32_t slot,
                                 const cm_body *body, uint32_t count)
{
    uint32_t expected = body->first_shape, previous = CM_NONE;
    for (uint32_t i = 0; i < count; i++) {
        cm_shape shape;
        uint32_t at = cm_get_u32(reader);
        bool fits = cm_portable_get_row(reader, CM_SECTION_shape, &shape);
        bool ascends = previous == CM_NONE || at > previous;
        if (reader->overflow || !fits || at != expected || !ascends || shape.body != slot ||
            !shape.alive || shape.generation == 0 || cm_check_shape(&shape, NULL) != CAROM_OK ||
            (shape.type == CAROM_SHAPE_PLANE && body->type != CAROM_BODY_STATIC)) {
            return CAROM_ERROR_CORRUPT;
        }
        carom_result known = cm_check_geometry(world, &shape);
        if (known != CAROM_OK) {
            return known == CAROM_ERROR_NOT_FOUND ? known : CAROM_ERROR_CORRUPT;
        }
        if (at >= world->limits.shapes) {
            return CAROM_ERROR_LIMIT_SHAPES;
        }
        if (!is_takeable(world, at, slot)) {
            return CAROM_ERROR_STATE;
        }
        previous = at;
        expected = shape.next;
    }
    return expected == CM_NONE ? CAROM_OK : CAROM_ERROR_CORRUPT;
}

// The bodies that it fell asleep with may be awake here, or not here yet: then it sleeps alone.
static void join_island(carom_world *world, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    bool known = body->island < world->state.body_slots &&
                 cm_bodies(world)[body->island].island == body->island;
    if (cm_body_is_asleep(body) && !known) {
        cm_body_change(world, slot)->island = slot;
    }
}

static void place(carom_world *world, cm_byte_reader *reader, uint32_t slot,
                  const cm_motion *motion, const cm_body *body, uint32_t count)
{
    if (slot < world->state.body_slots && cm_bodies(world)[slot].alive) {
        if (cm_bodies(world)[slot].generation == body->generation) {
            cm_body_clear(world, slot);
        } else {
            cm_body_remove(world, slot);
        }
    }
    cm_body_grow(world, slot);
    cm_motions(world)[slot] = *motion;
    *cm_body_change(world, slot) = *body;
    join_island(world, slot);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = cm_get_u32(reader);
        cm_shape_grow(world, at);
        cm_portable_get_row(reader, CM_SECTION_shape, cm_shape_change(world, at));
    }
    cm_stir_body(world, slot);
    world->event_count = 0;
    world->joint_event_count = 0;
    world->sleep_event_count = 0;
    world->hit_event_count = 0;
}

static carom_result decode(carom_world *world, const void *bytes, size_t size, carom_body_id *id)
{
    cm_byte_reader reader = cm_byte_reader_make(bytes, size);
    CM_TRY(cm_portable_check_header(&reader, BODY_MAGIC, world->layout_hash));
    uint32_t slot = cm_get_u32(&reader);
    uint32_t count = cm_get_u32(&reader);
    cm_motion motion;
    cm_body body;
    bool fits = cm_portable_get_row(&reader, CM_SECTION_motion, &motion);
    fits = cm_portable_get_row(&reader, CM_SECTION_body, &body) && fits;
    if (reader.overflow || !fits) {
        return CAROM_ERROR_CORRUPT;
    }
    if (slot >= world->limits.bodies) {
        return CAROM_ERROR_LIMIT_BODIES;
    }
    if (count > world->limits.shapes) {
        return CAROM_ERROR_LIMIT_SHAPES;
    }
    CM_TRY(cm_portable_check_body(&motion, &body));
    cm_byte_reader second = reader;
    CM_TRY(check_shapes(world, &reader, slot, &body, count));
    if (reader.position != size) {
        return CAROM_ERROR_CORRUPT;
    }
    place(world, &second, slot, &motion, &body, count);
    if (id != NULL) {
        id->index = slot;
        id->generation = body.generation;
    }
    return CAROM_OK;
}

carom_result carom_world_decode_body(carom_world *world, const void *bytes, size_t size,
                                     carom_body_id *id)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(bytes, "bytes", "an encoded body");
    CM_FIELD(decode(world, bytes, size, id), "bytes", "a sound body that fits this world");
    cm_query_forget(world);
    return CAROM_OK;
}

static void add_words(cm_hash *hash, const void *row, size_t size)
{
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word;
        memcpy(&word, (const char *)row + at, sizeof word);
        cm_hash_u32(hash, word);
    }
}

// The identity of the body of a slot: its row and those of its shapes. Forces are left out: they
// say how it moves, may change with every tick, and are not part of a view either. So are its rest
// and what touches it.
static cm_identity identify(const carom_world *world, uint32_t slot)
{
    cm_body body = cm_bodies(world)[slot];
    body.force = body.torque = body.applied_force = body.applied_torque = cm_vec(0.0f, 0.0f, 0.0f);
    body.contact_force = body.contact_torque = cm_vec(0.0f, 0.0f, 0.0f);
    body.quiet = 0.0f;
    body.island = CM_NONE;
    body.flags &= (uint8_t) ~(CM_BODY_ASLEEP | CM_BODY_STIRRED);
    cm_hash what = cm_hash_begin(slot), where = cm_hash_begin(slot);
    add_words(&what, &body, sizeof body);
    for (uint32_t at = body.first_shape; at != CM_NONE; at = cm_shapes(world)[at].next) {
        add_words(&what, &cm_shapes(world)[at], sizeof(cm_shape));
        cm_hash_u32(&where, at);
    }
    return (cm_identity){cm_hash_end(&what), cm_hash_end(&where)};
}

// Asked of every body in every tick, and seldom another than before: kept until a row changes.
void cm_body_identify(const carom_world *world, uint32_t slot, uint64_t *kind, uint64_t *links)
{
    cm_page *page = cm_pages(world, CM_SECTION_body) + slot / CM_PAGE_ROWS;
    uint64_t bit = (uint64_t)1 << slot % CM_PAGE_ROWS;
    cm_identity *known =
        (cm_identity *)(void *)((char *)(uintptr_t)world + world->offset.identities) + slot;
    if (!(page->named & bit)) {
        *known = identify(world, slot);
        page->named |= bit;
    }
    *kind = known->kind;
    *links = known->links;
}
