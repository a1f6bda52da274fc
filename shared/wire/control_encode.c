// Control messages: plain structs to protobuf bytes; proto/control.proto. Typical: 2 a client and
// match, of 60 bytes and 20 KB; a world change now and then.
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/control.pb-c.h"
#include "shared/base/memory.h"
#include "shared/base/assert.h"
#include "shared/wire/control_inner.h"
#include "shared/wire/events.h"

#define COMPRESSION 3

static ProtobufCBinaryData binary(cm_bytes bytes)
{
    ProtobufCBinaryData data = {bytes.size, (uint8_t *)(uintptr_t)bytes.data};
    return data;
}

static char *string(const char *text)
{
    return (char *)(uintptr_t)text; // protobuf-c's structs have no const; packing only reads
}

carom_result cm_control_compress(const carom_allocator *allocator, cm_bytes bytes, uint8_t **frame,
                                 size_t *size)
{
    size_t bound = ZSTD_compressBound(bytes.size);
    *frame = cm_memory_take(allocator, bound);
    if (*frame == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    // Bytes may be {NULL, 0}.
    *size = ZSTD_compress(*frame, bound, bytes.size ? (const void *)bytes.data : "", bytes.size,
                          COMPRESSION);
    if (ZSTD_isError(*size)) {
        cm_memory_give(allocator, *frame);
        *frame = NULL;
        return CAROM_ERROR_MEMORY;
    }
    return CAROM_OK;
}

static carom_result pack(const Carom__Control *message, const carom_allocator *allocator,
                         uint8_t **bytes, size_t *size)
{
    size_t need = carom__control__get_packed_size(message);
    if (need > CM_CONTROL_MAX_FROM_SERVER) {
        return CAROM_ERROR_LIMIT_SIZE;
    }
    *bytes = cm_memory_take(allocator, need);
    if (*bytes == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    *size = carom__control__pack(message, *bytes);
    CM_ASSERT(*size == need);
    return CAROM_OK;
}

// "" is as none.
static char *text_or_none(const char *text)
{
    return text != NULL && text[0] != '\0' ? string(text) : NULL;
}

#define NUMBER(field) to->field = c->field;
#define TEXT(field)   to->field = string(c->field);
#define BYTES(field)  to->field = binary(c->field);

static carom_result encode_welcome(const cm_control *c, const carom_allocator *allocator,
                                   uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Welcome w = CAROM__WELCOME__INIT, *to = &w;
    message.welcome = &w;
    CM_WELCOME_FIELDS(NUMBER, TEXT, BYTES)
    w.module_source = text_or_none(c->module_source);
    w.has_ticket = w.has_ticket_key = w.has_grace_ms = c->ticket.size > 0;
    w.has_keyframe_size = c->keyframe_size > 0;
    w.scene = binary(c->scene_frame);
    carom_result result = CAROM_OK;
    if (c->scene_frame.size == 0) {
        result = cm_control_compress(allocator, c->scene, &w.scene.data, &w.scene.len);
    }
    if (result == CAROM_OK) {
        result = cm_control_compress(allocator, c->keyframe, &w.keyframe.data, &w.keyframe.len);
    }
    if (result == CAROM_OK) {
        result = pack(&message, allocator, bytes, size);
    }
    if (c->scene_frame.size == 0) {
        cm_memory_give(allocator, w.scene.data);
    }
    cm_memory_give(allocator, w.keyframe.data);
    return result;
}

static carom_result encode_keyframe_part(const cm_control *c, const carom_allocator *allocator,
                                         uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__KeyframePart part = CAROM__KEYFRAME_PART__INIT;
    message.keyframe_part = &part;
    carom_result result =
        cm_control_compress(allocator, c->payload, &part.data.data, &part.data.len);
    if (result == CAROM_OK) {
        result = pack(&message, allocator, bytes, size);
    }
    cm_memory_give(allocator, part.data.data);
    return result;
}

static carom_result encode_world_change(const cm_control *c, const carom_allocator *allocator,
                                        uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__WorldChange change = CAROM__WORLD_CHANGE__INIT;
    message.world_change = &change;
    change.tick = c->tick;
    size_t spawned_size = c->spawned_count * sizeof(ProtobufCBinaryData);
    size_t pointers_size = c->gone_count * sizeof(Carom__BodyGone *);
    size_t total = spawned_size + pointers_size + c->gone_count * sizeof(Carom__BodyGone);
    char *block = cm_memory_take(allocator, total);
    if (block == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    change.n_spawned = c->spawned_count;
    change.spawned = (ProtobufCBinaryData *)(void *)block;
    for (uint32_t i = 0; i < c->spawned_count; i++) {
        change.spawned[i] = binary(c->spawned[i]);
    }
    change.has_frame = c->frame.size > 0;
    change.frame = binary(c->frame);
    change.n_gone = c->gone_count;
    change.gone = (Carom__BodyGone **)(void *)(block + spawned_size);
    Carom__BodyGone *gone = (Carom__BodyGone *)(void *)(block + spawned_size + pointers_size);
    for (uint32_t i = 0; i < c->gone_count; i++) {
        carom__body_gone__init(&gone[i]);
        gone[i].index = c->gone[i].index;
        gone[i].generation = c->gone[i].generation;
        change.gone[i] = &gone[i];
    }
    carom_result result = pack(&message, allocator, bytes, size);
    cm_memory_give(allocator, block);
    return result;
}

static carom_result encode_hello(const cm_control *c, const carom_allocator *allocator,
                                 uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Hello hello = CAROM__HELLO__INIT, *to = &hello;
    message.hello = &hello;
    CM_HELLO_FIELDS(NUMBER, TEXT, BYTES)
    hello.has_user_data = c->user_data.size > 0;
    hello.room = text_or_none(c->room);
    hello.has_epoch = hello.has_messages_had = c->comes_back;
    hello.has_predict = true;
    hello.has_module_version = hello.has_module_abi = c->module != NULL;
    hello.module_source = c->module != NULL ? text_or_none(c->module_source) : NULL;
    hello.has_spectate = c->spectate;
    return pack(&message, allocator, bytes, size);
}

static carom_result encode_players(const cm_control *c, const carom_allocator *allocator,
                                   uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Players players = CAROM__PLAYERS__INIT;
    Carom__Player rows[CAROM_PLAYERS_MAX];
    Carom__Player *list[CAROM_PLAYERS_MAX];
    message.players = &players;
    players.n_players = c->player_count;
    players.players = list;
    for (uint32_t i = 0; i < c->player_count; i++) {
        const cm_control_player *from = &c->players[i];
        carom__player__init(&rows[i]);
        rows[i].player = from->player;
        rows[i].name = string(from->name);
        rows[i].body_index = from->body.index;
        rows[i].body_generation = from->body.generation;
        rows[i].rtt_ms = from->rtt_ms;
        rows[i].away = from->away;
        list[i] = &rows[i];
    }
    return pack(&message, allocator, bytes, size);
}

static carom_result encode_rooms(const cm_control *c, const carom_allocator *allocator,
                                 uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Rooms rooms = CAROM__ROOMS__INIT;
    Carom__Room rows[CM_CONTROL_ROOMS_MAX];
    Carom__Room *list[CM_CONTROL_ROOMS_MAX];
    message.rooms = &rooms;
    rooms.first = c->first;
    rooms.total = c->total;
    rooms.n_rooms = c->room_count;
    rooms.rooms = list;
    for (uint32_t i = 0; i < c->room_count; i++) {
        const cm_control_room *from = &c->rooms[i];
        carom__room__init(&rows[i]);
        rows[i].name = string(from->name);
        rows[i].scene = string(from->scene);
        rows[i].module = string(from->module);
        rows[i].players = from->players;
        rows[i].max_players = from->max_players;
        rows[i].port = from->port;
        list[i] = &rows[i];
    }
    return pack(&message, allocator, bytes, size);
}

// The messages of a number or two.
static carom_result encode_small(const cm_control *c, const carom_allocator *allocator,
                                 uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Refused refused = CAROM__REFUSED__INIT;
    Carom__GameMessage game = CAROM__GAME_MESSAGE__INIT;
    Carom__RoomClock clock = CAROM__ROOM_CLOCK__INIT;
    Carom__Goodbye goodbye = CAROM__GOODBYE__INIT;
    Carom__RoomsAsk ask = CAROM__ROOMS_ASK__INIT;
    Carom__Durability durability = CAROM__DURABILITY__INIT;
    Carom__Events events = CAROM__EVENTS__INIT;
    Carom__Notice notice = CAROM__NOTICE__INIT;
    Carom__Confirmed confirmed = CAROM__CONFIRMED__INIT;
    if (c->type == CM_CONTROL_REFUSED) {
        message.refused = &refused;
        refused.reason = (uint32_t)c->reason;
        refused.text = c->text != NULL ? string(c->text) : NULL;
        refused.has_port = c->port != 0;
        refused.port = c->port;
    } else if (c->type == CM_CONTROL_GAME_MESSAGE) {
        message.game_message = &game;
        game.tick = c->tick;
        game.payload = binary(c->payload);
    } else if (c->type == CM_CONTROL_ROOM_CLOCK) {
        message.room_clock = &clock;
        clock.rate_permille = c->rate_permille;
    } else if (c->type == CM_CONTROL_DURABILITY) {
        message.durability = &durability;
        durability.tick = c->tick;
        durability.durability = (uint32_t)c->durability;
    } else if (c->type == CM_CONTROL_EVENTS) {
        message.events = &events;
        events.tick = c->tick;
        events.rows = binary(c->payload);
    } else if (c->type == CM_CONTROL_ROOMS_ASK) {
        message.rooms_ask = &ask;
    } else if (c->type == CM_CONTROL_NOTICE) {
        message.notice = &notice;
        notice.text = string(c->text);
        notice.has_reason = c->reason != CAROM_REASON_NONE;
        notice.reason = (uint32_t)c->reason;
        notice.has_seconds_left = c->seconds_left > 0;
        notice.seconds_left = c->seconds_left;
    } else if (c->type == CM_CONTROL_CONFIRMED) {
        message.confirmed = &confirmed;
        confirmed.has_ticks = c->payload.size > 0;
        confirmed.ticks = binary(c->payload);
        confirmed.has_differs = c->tick > 0;
        confirmed.differs = c->tick;
    } else {
        message.goodbye = &goodbye;
        goodbye.reason = (uint32_t)c->reason;
    }
    return pack(&message, allocator, bytes, size);
}

carom_result cm_control_encode(const cm_control *control, const carom_allocator *allocator,
                               uint8_t **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    if (!cm_control_is_valid(control)) {
        return CAROM_ERROR_ARGUMENT;
    }
    switch (control->type) {
    case CM_CONTROL_HELLO:
        return encode_hello(control, allocator, bytes, size);
    case CM_CONTROL_WELCOME:
        return encode_welcome(control, allocator, bytes, size);
    case CM_CONTROL_WORLD_CHANGE:
        return encode_world_change(control, allocator, bytes, size);
    case CM_CONTROL_PLAYERS:
        return encode_players(control, allocator, bytes, size);
    case CM_CONTROL_ROOMS:
        return encode_rooms(control, allocator, bytes, size);
    case CM_CONTROL_KEYFRAME_PART:
        return encode_keyframe_part(control, allocator, bytes, size);
    default:
        return encode_small(control, allocator, bytes, size);
    }
}
