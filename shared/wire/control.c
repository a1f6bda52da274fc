// Control messages: plain structs to protobuf bytes and back; proto/control.proto.
//
// Decoding, in this order, each step bounded by the ones before: size; shape of the top level (one
// member, of a type that this side may receive); protobuf, with an allocator that stops at a bound;
// counts and ranges of every field; size of what is compressed; one block for the result.
// A message from a server is trusted as little as one from a client: only the bounds differ.
// Typical: 2 a client and match, of 60 bytes and 20 KB; a world change now and then.
#include "shared/wire/control.h"

#include "carom/game.h"
#include "shared/base/assert.h"
#include "shared/wire/control_text.h"
#include "shared/wire/events.h"
#include "shared/wire/token.h"

#include "proto/control.pb-c.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

// What unpacking may allocate: protobuf-c needs up to 120 bytes for a field and copies the
// contents. A server's message has at most 2 x CM_CONTROL_BODIES_MAX fields.
#define UNPACK_FROM_CLIENT 16384
#define UNPACK_FROM_SERVER (2 * CM_CONTROL_BODIES_MAX * 160)
#define UNPACK_PER_BYTE    4

#define PACKED_MAX         (16u << 20) // scene and keyframe, each, when decompressed
#define COMPRESSION        3
#define MODULE_NAME_MAX    31
#define SOURCE_HASH_TEXT   64u
#define TEXT_MAX           256
#define BODY_MAX           65536 // bytes of one encoded body
#define BODY_INDEX_MAX     65535
#define REWIND_MS_MAX      10000
#define TICK_RATE_MAX      1000
#define GRACE_MS_MAX       600000
#define PLAYER_NONE        UINT32_MAX // of a spectator

// Memory ---------------------------------------------------------------------------------------

static void *take(const carom_allocator *allocator, size_t size)
{
    return allocator != NULL ? allocator->allocate(allocator->context, size) : malloc(size);
}

static void give_back(const carom_allocator *allocator, void *memory)
{
    if (allocator != NULL) {
        allocator->release(allocator->context, memory);
    } else {
        free(memory);
    }
}

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
    return take(b->inner, size);
}

static void bounded_free(void *context, void *memory)
{
    bounded *b = context;
    give_back(b->inner, memory);
}

void cm_control_release_bytes(const carom_allocator *allocator, uint8_t *bytes)
{
    give_back(allocator, bytes);
}

void cm_control_free(const carom_allocator *allocator, cm_control *control)
{
    give_back(allocator, control);
}

// Field checks, of both directions ---------------------------------------------------------------

// Empty: a room without a module.
static bool module_name_is_valid(const char *name)
{
    size_t n = 0;
    for (; name[n] != 0; n++) {
        bool letter = (name[n] >= 'a' && name[n] <= 'z') || (name[n] >= '0' && name[n] <= '9');
        if (n >= MODULE_NAME_MAX || (!letter && name[n] != '_')) {
            return false;
        }
    }
    return true;
}

// NULL and empty: a module that is built in.
static bool source_hash_is_valid(const char *text)
{
    return text == NULL || text[0] == '\0' ||
           (strlen(text) == SOURCE_HASH_TEXT &&
            strspn(text, "0123456789abcdef") == SOURCE_HASH_TEXT);
}

static bool rate_is_valid(uint32_t rate)
{
    return rate >= 1 && rate <= TICK_RATE_MAX;
}

static bool ticket_is_valid(const cm_control *c)
{
    size_t key = c->ticket.size > 0 ? CM_KEY_BYTES : 0;
    return c->ticket.size <= CM_TOKEN_MAX && c->ticket_key.size == key &&
           c->grace_ms <= GRACE_MS_MAX;
}

static bool welcome_is_valid(const cm_control *c)
{
    bool rates = rate_is_valid(c->tick_rate) && rate_is_valid(c->view_rate) &&
                 rate_is_valid(c->input_rate) && c->rewind_ms <= REWIND_MS_MAX;
    bool player = c->player < CAROM_PLAYERS_MAX || c->player == PLAYER_NONE;
    return rates && player && c->tick <= UINT32_MAX && c->module != NULL &&
           module_name_is_valid(c->module) && source_hash_is_valid(c->module_source) &&
           c->scene.size <= PACKED_MAX && c->keyframe.size <= PACKED_MAX && ticket_is_valid(c) &&
           (uint32_t)c->durability < CAROM_DURABILITY_COUNT && c->durable_tick <= c->tick;
}

static bool players_are_valid(const cm_control *c)
{
    if (c->player_count > CAROM_PLAYERS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < c->player_count; i++) {
        const cm_control_player *p = &c->players[i];
        bool ascends = i == 0 || p->player > c->players[i - 1].player;
        if (!ascends || p->player >= CAROM_PLAYERS_MAX || p->body.index > BODY_INDEX_MAX ||
            !cm_text_is_printable(p->name, CAROM_PLAYER_NAME_MAX)) {
            return false;
        }
    }
    return true;
}

static bool rooms_are_valid(const cm_control *c)
{
    if (c->room_count > CM_CONTROL_ROOMS_MAX || c->total > UINT16_MAX ||
        c->first + c->room_count > c->total) {
        return false;
    }
    for (uint32_t i = 0; i < c->room_count; i++) {
        const cm_control_room *room = &c->rooms[i];
        if (!cm_text_is_printable(room->name, CAROM_ROOM_NAME_MAX) ||
            !cm_text_is_printable(room->scene, CM_CONTROL_SCENE_NAME_MAX) ||
            !cm_text_is_printable(room->module, CAROM_MODULE_NAME_MAX) ||
            room->max_players > CAROM_PLAYERS_MAX || room->players > CAROM_PLAYERS_MAX) {
            return false;
        }
    }
    return true;
}

static bool world_change_is_valid(const cm_control *c)
{
    if (c->spawned_count > CM_CONTROL_BODIES_MAX || c->gone_count > CM_CONTROL_BODIES_MAX ||
        c->tick > UINT32_MAX) {
        return false;
    }
    if (c->frame.size > CM_CONTROL_FRAME_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < c->spawned_count; i++) {
        if (c->spawned[i].size > BODY_MAX) {
            return false;
        }
    }
    for (uint32_t i = 0; i < c->gone_count; i++) {
        if (c->gone[i].index > BODY_INDEX_MAX || c->gone[i].generation == 0) {
            return false;
        }
    }
    return true;
}

static bool events_are_valid(const cm_control *c)
{
    carom_event events[CAROM_EVENTS_MAX];
    uint32_t count;
    return c->tick <= UINT32_MAX && c->payload.size <= CM_EVENTS_BYTES_MAX &&
           cm_events_read(c->payload.data, c->payload.size, c->tick, events, &count);
}

static bool is_valid(const cm_control *c)
{
    switch (c->type) {
    case CM_CONTROL_HELLO:
        return (c->name == NULL || cm_text_is_printable(c->name, CAROM_PLAYER_NAME_MAX)) &&
               (c->room == NULL || cm_text_is_printable(c->room, CAROM_ROOM_NAME_MAX)) &&
               c->user_data.size <= CAROM_USER_DATA_MAX;
    case CM_CONTROL_WELCOME:
        return welcome_is_valid(c);
    case CM_CONTROL_REFUSED:
        return (c->text == NULL || cm_text_is_printable(c->text, TEXT_MAX)) &&
               c->port <= UINT16_MAX;
    case CM_CONTROL_WORLD_CHANGE:
        return world_change_is_valid(c);
    case CM_CONTROL_GAME_MESSAGE:
        return c->payload.size <= CAROM_MESSAGE_MAX && c->tick <= UINT32_MAX;
    case CM_CONTROL_ROOM_CLOCK:
        return c->rate_permille >= 1 && c->rate_permille <= 1000;
    case CM_CONTROL_GOODBYE:
        return true;
    case CM_CONTROL_PLAYERS:
        return players_are_valid(c);
    case CM_CONTROL_DURABILITY:
        return c->tick <= UINT32_MAX && c->durability >= CAROM_DURABILITY_PROCESS &&
               c->durability <= CAROM_DURABILITY_LOST;
    case CM_CONTROL_EVENTS:
        return events_are_valid(c);
    case CM_CONTROL_ROOMS_ASK:
        return true;
    case CM_CONTROL_ROOMS:
        return rooms_are_valid(c);
    }
    return false;
}

// Encoding -------------------------------------------------------------------------------------

static ProtobufCBinaryData binary(cm_bytes bytes)
{
    ProtobufCBinaryData data = {bytes.size, (uint8_t *)(uintptr_t)bytes.data};
    return data;
}

static char *string(const char *text)
{
    return (char *)(uintptr_t)text; // protobuf-c's structs have no const; packing only reads
}

static carom_result compress(const carom_allocator *allocator, cm_bytes bytes,
                             ProtobufCBinaryData *out)
{
    size_t bound = ZSTD_compressBound(bytes.size);
    out->data = take(allocator, bound);
    if (out->data == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    // Bytes may be {NULL, 0}.
    out->len = ZSTD_compress(out->data, bound, bytes.size ? (const void *)bytes.data : "",
                             bytes.size, COMPRESSION);
    return ZSTD_isError(out->len) ? CAROM_ERROR_MEMORY : CAROM_OK;
}

static carom_result pack(const Carom__Control *message, const carom_allocator *allocator,
                         uint8_t **bytes, size_t *size)
{
    size_t need = carom__control__get_packed_size(message);
    if (need > CM_CONTROL_MAX_FROM_SERVER) {
        return CAROM_ERROR_LIMIT_SIZE;
    }
    *bytes = take(allocator, need > 0 ? need : 1);
    if (*bytes == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    *size = carom__control__pack(message, *bytes);
    CM_ASSERT(*size == need);
    return CAROM_OK;
}

static carom_result encode_welcome(const cm_control *c, const carom_allocator *allocator,
                                   uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Welcome w = CAROM__WELCOME__INIT;
    message.welcome = &w;
    w.player = c->player;
    w.client_id = c->client_id;
    w.tick_rate = c->tick_rate;
    w.view_rate = c->view_rate;
    w.input_rate = c->input_rate;
    w.rewind_ms = c->rewind_ms;
    w.module = string(c->module);
    w.module_version = c->module_version;
    w.module_abi = c->module_abi;
    w.seed = c->seed;
    w.module_source =
        c->module_source != NULL && c->module_source[0] != '\0' ? string(c->module_source) : NULL;
    w.tick = c->tick;
    w.present = c->present;
    w.epoch = c->epoch;
    w.messages = c->messages;
    w.messages_before = c->messages_before;
    w.durability = (uint32_t)c->durability;
    w.durable_tick = c->durable_tick;
    w.has_ticket = w.has_ticket_key = w.has_grace_ms = c->ticket.size > 0;
    w.ticket = binary(c->ticket);
    w.ticket_key = binary(c->ticket_key);
    w.grace_ms = c->grace_ms;
    carom_result result = compress(allocator, c->scene, &w.scene);
    if (result == CAROM_OK) {
        result = compress(allocator, c->keyframe, &w.keyframe);
    }
    if (result == CAROM_OK) {
        result = pack(&message, allocator, bytes, size);
    }
    give_back(allocator, w.scene.data);
    give_back(allocator, w.keyframe.data);
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
    char *block = take(allocator, total > 0 ? total : 1);
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
    give_back(allocator, block);
    return result;
}

static carom_result encode_hello(const cm_control *c, const carom_allocator *allocator,
                                 uint8_t **bytes, size_t *size)
{
    Carom__Control message = CAROM__CONTROL__INIT;
    Carom__Hello hello = CAROM__HELLO__INIT;
    message.hello = &hello;
    hello.protocol = c->protocol;
    hello.engine = c->engine;
    hello.name = c->name != NULL ? string(c->name) : NULL;
    hello.has_user_data = c->user_data.size > 0;
    hello.user_data = binary(c->user_data);
    hello.room = c->room != NULL && c->room[0] != '\0' ? string(c->room) : NULL;
    hello.has_epoch = hello.has_messages_had = c->comes_back;
    hello.epoch = c->epoch;
    hello.messages_had = c->messages_had;
    hello.has_predict = true;
    hello.predict = c->predict;
    hello.has_spectate = c->spectate;
    hello.spectate = c->spectate;
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
    if (!is_valid(control)) {
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
    default:
        return encode_small(control, allocator, bytes, size);
    }
}

// Decoding -------------------------------------------------------------------------------------

static cm_bytes view_of(ProtobufCBinaryData data)
{
    cm_bytes bytes = {data.data, data.len};
    return bytes;
}

// A reason of a later version is known to have happened, but not what it says.
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
static bool told_size(ProtobufCBinaryData packed, cm_bytes *bytes)
{
    unsigned long long told = ZSTD_getFrameContentSize(packed.data, packed.len);
    if (told == ZSTD_CONTENTSIZE_UNKNOWN || told == ZSTD_CONTENTSIZE_ERROR || told > PACKED_MAX) {
        return false;
    }
    bytes->data = packed.data;
    bytes->size = (size_t)told;
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

// Plain fields; what points still points into the unpacked message. False: out of range.
// Both, or neither.
static bool take_comeback(const Carom__Hello *hello, cm_control *c)
{
    c->comes_back = hello->has_epoch;
    c->epoch = (uint8_t)hello->epoch;
    c->messages_had = hello->messages_had;
    return hello->epoch <= UINT8_MAX && hello->has_messages_had == hello->has_epoch;
}

static bool take_fields(const Carom__Control *message, cm_control *c)
{
    switch (c->type) {
    case CM_CONTROL_HELLO:
        c->protocol = message->hello->protocol;
        c->engine = message->hello->engine;
        c->name = message->hello->name;
        c->room = message->hello->room;
        c->user_data = view_of(message->hello->user_data);
        c->predict = message->hello->has_predict && message->hello->predict;
        c->spectate = message->hello->has_spectate && message->hello->spectate;
        return take_comeback(message->hello, c);
    case CM_CONTROL_WELCOME: {
        const Carom__Welcome *w = message->welcome;
        c->player = w->player;
        c->client_id = w->client_id;
        c->tick_rate = w->tick_rate;
        c->view_rate = w->view_rate;
        c->input_rate = w->input_rate;
        c->rewind_ms = w->rewind_ms;
        c->module = w->module;
        c->module_version = w->module_version;
        c->module_abi = w->module_abi;
        c->seed = w->seed;
        c->module_source = w->module_source;
        c->tick = w->tick;
        c->present = w->present;
        c->epoch = (uint8_t)w->epoch;
        c->messages = w->messages;
        c->messages_before = w->messages_before;
        c->ticket = view_of(w->ticket);
        c->ticket_key = view_of(w->ticket_key);
        c->grace_ms = w->grace_ms;
        c->durability = (carom_durability)w->durability; // is_valid checks it
        c->durable_tick = w->durable_tick;
        if (w->epoch > UINT8_MAX || !told_size(w->scene, &c->scene) ||
            !told_size(w->keyframe, &c->keyframe)) {
            return false;
        }
        break;
    }
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
    }
    return is_valid(c);
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
    block b = {take(allocator, counted.used), 0};
    if (b.memory == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    bool filled = fill(message, &b, &fields);
    CM_ASSERT(!filled || b.used == counted.used);
    if (!filled || !is_valid(&fields)) {
        give_back(allocator, b.memory);
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
                                   member == CM_CONTROL_ROOMS_ASK
                             : member > CM_CONTROL_HELLO && member <= CM_CONTROL_ROOMS &&
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
    carom_result result = build(message, (cm_control_type)member, allocator, control);
    carom__control__free_unpacked(message, &unpacking);
    return result;
}
