// Control messages: protobuf bytes to plain structs; proto/control.proto.
//
// In this order, each step bounded by the ones before: size; shape of the top level (one member, of
// a type that this side may receive); protobuf, with an allocator that stops at a bound; counts and
// ranges of every field; size of what is compressed; one block for the result. A message from a
// server is trusted as little as one from a client: only the bounds differ.
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/control.pb-c.h"
#include "shared/base/memory.h"
#include "shared/base/assert.h"
#include "shared/wire/control_inner.h"
#include "shared/wire/control_text.h"
#include "shared/wire/events.h"

// Limits of the memory that unpacking may allocate: protobuf-c needs up to 120 bytes for a field
// and copies the contents. A server's message has at most 2 x CM_CONTROL_BODIES_MAX fields.
#define UNPACK_FROM_CLIENT 16384
#define UNPACK_FROM_SERVER (2 * CM_CONTROL_BODIES_MAX * 160)
#define UNPACK_PER_BYTE    4

// The bound on what one unpack allocates, whatever the bytes ask for.
typedef struct bounded {
    const carom_allocator *inner;
    size_t left;
    bool hit;
} bounded;

static void *bounded_alloc(void *context, size_t size)
{
    bounded *b = context;
    if (size > b->left) {
        b->hit = true;
        return NULL;
    }
    b->left -= size;
    return cm_memory_take(b->inner, size);
}

static void bounded_free(void *context, void *memory)
{
    bounded *b = context;
    cm_memory_give(b->inner, memory);
}

static cm_bytes view_of(ProtobufCBinaryData data)
{
    cm_bytes bytes = {data.data, data.len};
    return bytes;
}

// A reason of a later version has no name here.
static carom_reason reason_of(uint32_t number)
{
    return number < CAROM_REASON_COUNT ? (carom_reason)number : CAROM_REASON_SERVER_ERROR;
}

// The block being filled: used counts what is needed (memory NULL) or taken.
typedef struct block {
    char *memory;
    size_t used;
} block;

static void *block_take(block *b, size_t size)
{
    void *memory = b->memory != NULL ? b->memory + b->used : NULL;
    b->used += (size + 15) / 16 * 16;
    return memory;
}

static const char *block_string(block *b, const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    size_t size = strlen(text) + 1;
    char *copy = block_take(b, size);
    return copy != NULL ? memcpy(copy, text, size) : text;
}

static cm_bytes block_bytes(block *b, cm_bytes bytes)
{
    uint8_t *copy = block_take(b, bytes.size);
    if (copy != NULL) {
        if (bytes.size > 0) {
            memcpy(copy, bytes.data, bytes.size);
        }
        bytes.data = copy;
    }
    return bytes;
}

// Points *bytes at compressed data, checks the size it tells, leaves its size when decompressed.
static bool told_size(ProtobufCBinaryData packed, size_t most, cm_bytes *bytes)
{
    unsigned long long announced = ZSTD_getFrameContentSize(packed.data, packed.len);
    if (announced == ZSTD_CONTENTSIZE_UNKNOWN || announced == ZSTD_CONTENTSIZE_ERROR ||
        announced > most) {
        return false;
    }
    bytes->data = packed.data;
    bytes->size = (size_t)announced;
    return true;
}

static bool decompress(block *b, ProtobufCBinaryData packed, cm_bytes *bytes)
{
    uint8_t *out = block_take(b, bytes->size > 0 ? bytes->size : 1);
    if (out == NULL) {
        return true; // only counting
    }
    size_t size = ZSTD_decompress(out, bytes->size, packed.data, packed.len);
    bytes->data = out;
    return !ZSTD_isError(size) && size == bytes->size;
}

#define NUMBER(field) c->field = from->field;
#define TEXT(field)   c->field = from->field;
#define BYTES(field)  c->field = view_of(from->field);

// The epoch and the count of messages: both, or neither.
static bool take_hello(const Carom__Hello *from, cm_control *c)
{
    CM_HELLO_FIELDS(NUMBER, TEXT, BYTES)
    c->room = from->room;
    c->module_source = from->module_source;
    c->comes_back = from->has_epoch;
    return from->epoch <= UINT8_MAX && from->has_messages_had == from->has_epoch;
}

static bool take_welcome(const Carom__Welcome *from, cm_control *c)
{
    CM_WELCOME_FIELDS(NUMBER, TEXT, BYTES)
    c->module_source = from->module_source;
    return from->epoch <= UINT8_MAX && told_size(from->scene, CM_CONTROL_PACKED_MAX, &c->scene) &&
           told_size(from->keyframe, CM_CONTROL_PACKED_MAX, &c->keyframe);
}

// Plain fields; what points still points into the unpacked message. False: out of range.
static bool take_fields(const Carom__Control *message, cm_control *c)
{
    switch (c->type) {
    case CM_CONTROL_HELLO:
        return take_hello(message->hello, c); // its texts are checked in the block
    case CM_CONTROL_WELCOME:
        if (!take_welcome(message->welcome, c)) {
            return false;
        }
        break;
    case CM_CONTROL_REFUSED:
        c->reason = reason_of(message->refused->reason);
        c->text = message->refused->text;
        c->port = message->refused->port;
        break;
    case CM_CONTROL_WORLD_CHANGE:
        c->tick = message->world_change->tick;
        if (message->world_change->n_spawned > CM_CONTROL_BODIES_MAX ||
            message->world_change->n_gone > CM_CONTROL_BODIES_MAX) {
            return false;
        }
        c->spawned_count = (uint32_t)message->world_change->n_spawned;
        c->gone_count = (uint32_t)message->world_change->n_gone;
        c->frame = view_of(message->world_change->frame);
        return c->tick <= UINT32_MAX; // the bodies are checked once they are in the block
    case CM_CONTROL_GAME_MESSAGE:
        c->tick = message->game_message->tick;
        c->payload = view_of(message->game_message->payload);
        break;
    case CM_CONTROL_ROOM_CLOCK:
        c->rate_permille = message->room_clock->rate_permille;
        break;
    case CM_CONTROL_GOODBYE:
        c->reason = reason_of(message->goodbye->reason);
        break;
    case CM_CONTROL_DURABILITY:
        c->tick = message->durability->tick;
        c->durability = (carom_durability)message->durability->durability;
        break;
    case CM_CONTROL_EVENTS:
        c->tick = message->events->tick;
        c->payload = view_of(message->events->rows);
        break;
    case CM_CONTROL_PLAYERS:
        c->player_count = (uint32_t)message->players->n_players;
        return message->players->n_players <= CAROM_PLAYERS_MAX; // checked in the block
    case CM_CONTROL_ROOMS_ASK:
        break;
    case CM_CONTROL_ROOMS:
        c->first = message->rooms->first;
        c->total = message->rooms->total;
        c->room_count = (uint32_t)message->rooms->n_rooms;
        return message->rooms->n_rooms <= CM_CONTROL_ROOMS_MAX; // checked in the block
    case CM_CONTROL_NOTICE:
        c->reason = reason_of(message->notice->reason);
        c->text = message->notice->text;
        c->seconds_left = message->notice->seconds_left;
        break;
    case CM_CONTROL_CONFIRMED:
        c->payload = view_of(message->confirmed->ticks);
        c->tick = message->confirmed->differs;
        break;
    case CM_CONTROL_KEYFRAME_PART:
        if (!told_size(message->keyframe_part->data, CM_CONTROL_PART_SIZE, &c->payload)) {
            return false;
        }
        break;
    }
    return cm_control_is_valid(c);
}

static void take_bodies(const Carom__WorldChange *change, block *b, cm_control *c)
{
    cm_bytes *spawned = block_take(b, c->spawned_count * sizeof *spawned);
    for (uint32_t i = 0; i < c->spawned_count; i++) {
        cm_bytes bytes = block_bytes(b, view_of(change->spawned[i]));
        if (spawned != NULL) {
            spawned[i] = bytes;
        }
    }
    carom_body_id *gone = block_take(b, c->gone_count * sizeof *gone);
    for (uint32_t i = 0; gone != NULL && i < c->gone_count; i++) {
        gone[i].index = change->gone[i]->index;
        gone[i].generation = change->gone[i]->generation;
    }
    c->spawned = spawned;
    c->gone = gone;
}

static void take_players(const Carom__Players *from, block *b, cm_control *c)
{
    cm_control_player *players = block_take(b, c->player_count * sizeof *players);
    for (uint32_t i = 0; i < c->player_count; i++) {
        const Carom__Player *row = from->players[i];
        const char *name = block_string(b, row->name);
        if (players != NULL) {
            players[i] = (cm_control_player){.player = row->player,
                                             .name = name,
                                             .body = {row->body_index, row->body_generation},
                                             .rtt_ms = row->rtt_ms,
                                             .away = row->away};
        }
    }
    c->players = players;
}

// A port out of range is no port; is_valid checks the rest.
static bool take_rooms(const Carom__Rooms *from, block *b, cm_control *c)
{
    bool good = true;
    cm_control_room *rooms = block_take(b, c->room_count * sizeof *rooms);
    for (uint32_t i = 0; i < c->room_count; i++) {
        const Carom__Room *row = from->rooms[i];
        const char *name = block_string(b, row->name), *scene = block_string(b, row->scene);
        const char *module = block_string(b, row->module);
        good = good && row->port <= UINT16_MAX;
        if (rooms != NULL) {
            rooms[i] = (cm_control_room){
                name, scene, module, row->players, row->max_players, (uint16_t)row->port};
        }
    }
    c->rooms = rooms;
    return good;
}

// Run twice with the same fields: to count, and to fill. False: compressed data is corrupt.
static bool fill(const Carom__Control *message, block *b, cm_control *c)
{
    block_take(b, sizeof *c);
    c->name = block_string(b, c->name);
    c->room = block_string(b, c->room);
    c->module = block_string(b, c->module);
    c->module_source = block_string(b, c->module_source);
    c->text = block_string(b, c->text);
    c->user_data = block_bytes(b, c->user_data);
    if (c->type == CM_CONTROL_KEYFRAME_PART) {
        return decompress(b, message->keyframe_part->data, &c->payload);
    }
    c->payload = block_bytes(b, c->payload);
    c->ticket = block_bytes(b, c->ticket);
    c->ticket_key = block_bytes(b, c->ticket_key);
    c->frame = block_bytes(b, c->frame);
    if (c->type == CM_CONTROL_PLAYERS) {
        take_players(message->players, b, c);
    }
    if (c->type == CM_CONTROL_ROOMS) {
        return take_rooms(message->rooms, b, c);
    }
    if (c->type == CM_CONTROL_WORLD_CHANGE) {
        take_bodies(message->world_change, b, c);
    }
    return c->type != CM_CONTROL_WELCOME ||
           (decompress(b, message->welcome->scene, &c->scene) &&
            decompress(b, message->welcome->keyframe, &c->keyframe));
}

static carom_result build(const Carom__Control *message, cm_control_type type,
                          const carom_allocator *allocator, cm_control **control)
{
    cm_control fields;
    memset(&fields, 0, sizeof fields);
    fields.type = type;
    if (!take_fields(message, &fields)) {
        return CAROM_ERROR_CORRUPT;
    }
    block counted = {NULL, 0};
    cm_control copy = fields;
    (void)fill(message, &counted, &copy);
    block b = {cm_memory_take(allocator, counted.used), 0};
    if (b.memory == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    bool filled = fill(message, &b, &fields);
    CM_ASSERT(!filled || b.used == counted.used);
    if (!filled || !cm_control_is_valid(&fields)) {
        cm_memory_give(allocator, b.memory);
        return CAROM_ERROR_CORRUPT;
    }
    memcpy(b.memory, &fields, sizeof fields);
    *control = (cm_control *)(void *)b.memory;
    return CAROM_OK;
}

carom_result cm_control_decode(const uint8_t *bytes, size_t size, bool from_client,
                               const carom_allocator *allocator, cm_control **control)
{
    *control = NULL;
    if (size > (from_client ? CM_CONTROL_MAX_FROM_CLIENT : CM_CONTROL_MAX_FROM_SERVER)) {
        return CAROM_ERROR_LIMIT_SIZE;
    }
    uint32_t member = cm_control_member(bytes, size);
    bool known = from_client ? member == CM_CONTROL_HELLO || member == CM_CONTROL_GAME_MESSAGE ||
                                   member == CM_CONTROL_ROOMS_ASK || member == CM_CONTROL_CONFIRMED
                             : member > CM_CONTROL_HELLO && member <= CM_CONTROL_CONFIRMED &&
                                   member != CM_CONTROL_ROOMS_ASK;
    if (!known) {
        return CAROM_ERROR_CORRUPT;
    }
    size_t fixed = from_client ? UNPACK_FROM_CLIENT : UNPACK_FROM_SERVER;
    bounded bound = {allocator, fixed + UNPACK_PER_BYTE * size, false};
    ProtobufCAllocator unpacking = {bounded_alloc, bounded_free, &bound};
    Carom__Control *message = carom__control__unpack(&unpacking, size, bytes);
    if (message == NULL) {
        return bound.hit ? CAROM_ERROR_LIMIT_SIZE : CAROM_ERROR_CORRUPT;
    }
    bool is_wrong_way =
        message->confirmed != NULL && from_client == (message->confirmed->ticks.len > 0);
    carom_result result = is_wrong_way
                              ? CAROM_ERROR_CORRUPT
                              : build(message, (cm_control_type)member, allocator, control);
    carom__control__free_unpacked(message, &unpacking);
    return result;
}
