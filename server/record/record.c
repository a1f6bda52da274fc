// Ticks as protobuf messages, blobs as zstd frames.
//
// A typical tick of the sandbox changes no input at all (0 bytes); one in which all of 8 players
// change 9 bytes each takes 77: 3 for the players, 2 + 72 for their inputs. protobuf-c limits
// neither nesting nor memory by itself: the schema nests once, the size is checked before, and it
// allocates from a block that ends.
#include "server/record/record.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/record.pb-c.h"
#include "shared/base/assert.h"

#define ZSTD_LEVEL 3

struct cm_record {
    cm_tick_input input;
    cm_game_event events[CM_RECORD_EVENTS_MAX];
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    size_t used; // of the arena
    _Alignas(16) uint8_t arena[CM_RECORD_ARENA];
};

// What protobuf-c packs from: on the stack while a tick is encoded.
typedef struct outgoing {
    Carom__TickInput tick;
    Carom__RecordedEvent events[CM_RECORD_EVENTS_MAX];
    Carom__RecordedEvent *event_list[CM_RECORD_EVENTS_MAX];
    uint8_t inputs[CAROM_PLAYERS_MAX * CAROM_INPUT_MAX];
} outgoing;

static uint32_t bits_in(uint64_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1) {
        count++;
    }
    return count;
}

static uint32_t width_of(const cm_tick_input *input, uint32_t input_size)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < input->input_count; i++) {
        for (uint32_t at = input_size; at > width; at--) {
            if (input->inputs[i].bytes[at - 1] != 0) {
                width = at;
                break;
            }
        }
    }
    return width;
}

static uint32_t payload_max(uint32_t type)
{
    return type == CM_EVENT_JOIN      ? CAROM_USER_DATA_MAX
           : type == CM_EVENT_MESSAGE ? CAROM_MESSAGE_MAX
                                      : 0;
}

static bool put_events(const cm_tick_input *input, outgoing *out)
{
    if (input->event_count > CM_RECORD_EVENTS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < input->event_count; i++) {
        const cm_game_event *from = &input->events[i];
        if (from->player >= CAROM_PLAYERS_MAX || from->type < CM_EVENT_JOIN ||
            from->type > CM_EVENT_MESSAGE || from->size > payload_max(from->type)) {
            return false;
        }
        Carom__RecordedEvent *event = &out->events[i];
        carom__recorded_event__init(event);
        event->type = from->type;
        event->player = from->player;
        event->has_client_id = from->client_id != 0;
        event->client_id = from->client_id;
        event->has_payload = from->size > 0;
        event->payload.data = (uint8_t *)from->bytes;
        event->payload.len = from->size;
        out->event_list[i] = event;
    }
    out->tick.n_events = input->event_count;
    out->tick.events = out->event_list;
    return true;
}

static bool put_inputs(const cm_tick_input *input, uint32_t input_size, outgoing *out)
{
    if (input->input_count > CAROM_PLAYERS_MAX || input_size > CAROM_INPUT_MAX) {
        return false;
    }
    uint32_t width = width_of(input, input_size);
    uint64_t players = 0;
    for (uint32_t i = 0; i < input->input_count; i++) {
        uint32_t player = input->inputs[i].player;
        if (player >= CAROM_PLAYERS_MAX || players >> player != 0) {
            return false; // not ascending
        }
        players |= UINT64_C(1) << player;
        memcpy(out->inputs + (size_t)i * width, input->inputs[i].bytes, width);
    }
    out->tick.has_players = players != 0;
    out->tick.players = players;
    out->tick.has_inputs = width > 0;
    out->tick.inputs.data = out->inputs;
    out->tick.inputs.len = (size_t)width * input->input_count;
    return true;
}

static bool put_tick(const cm_tick_input *input, uint32_t input_size, outgoing *out)
{
    carom__tick_input__init(&out->tick);
    return put_events(input, out) && put_inputs(input, input_size, out);
}

bool cm_record_tick_size(const cm_tick_input *input, uint32_t input_size, size_t *size)
{
    *size = 0;
    if (input->event_count == 0 && input->input_count == 0) {
        return true;
    }
    outgoing out;
    if (!put_tick(input, input_size, &out)) {
        return false;
    }
    *size = carom__tick_input__get_packed_size(&out.tick);
    return *size <= CM_RECORD_TICK_MAX;
}

void cm_record_tick_encode(const cm_tick_input *input, uint32_t input_size, uint8_t *bytes)
{
    outgoing out;
    bool sound = put_tick(input, input_size, &out);
    CM_ASSERT(sound); // its size was asked for before
    carom__tick_input__pack(&out.tick, bytes);
}

cm_record *cm_record_create(void)
{
    return calloc(1, sizeof(cm_record));
}

void cm_record_free(cm_record *record)
{
    free(record);
}

const cm_tick_input *cm_record_input(const cm_record *record)
{
    return &record->input;
}

static void *arena_allocate(void *context, size_t size)
{
    cm_record *record = context;
    if (size > CM_RECORD_ARENA - record->used) {
        return NULL;
    }
    void *memory = record->arena + record->used;
    size_t taken = (size + 15u) & ~(size_t)15u;
    size_t left = CM_RECORD_ARENA - record->used;
    record->used += taken < left ? taken : left;
    return memory;
}

static void arena_release(void *context, void *memory)
{
    (void)context;
    (void)memory; // the whole arena is free at the next decode
}

static const char *take_events(cm_record *record, const Carom__TickInput *tick)
{
    if (tick->n_events > CM_RECORD_EVENTS_MAX) {
        return "more than 256 events, expected at most 256";
    }
    for (size_t i = 0; i < tick->n_events; i++) {
        const Carom__RecordedEvent *from = tick->events[i];
        if (from->base.n_unknown_fields > 0) {
            return "an event has an unknown field";
        }
        if (from->type < CM_EVENT_JOIN || from->type > CM_EVENT_MESSAGE) {
            return "an event of unknown type, expected 1 to 3";
        }
        if (from->player >= CAROM_PLAYERS_MAX) {
            return "an event's player out of range, expected 0 to 63";
        }
        size_t size = from->has_payload ? from->payload.len : 0;
        if (size > payload_max(from->type)) {
            return "an event's payload is too large for its type";
        }
        record->events[i] =
            (cm_game_event){from->type, from->player, from->has_client_id ? from->client_id : 0,
                            size > 0 ? from->payload.data : NULL, (uint32_t)size};
    }
    record->input.events = record->events;
    record->input.event_count = (uint32_t)tick->n_events;
    return NULL;
}

static const char *take_inputs(cm_record *record, const Carom__TickInput *tick)
{
    uint64_t players = tick->has_players ? tick->players : 0;
    size_t size = tick->has_inputs ? tick->inputs.len : 0;
    uint32_t count = bits_in(players);
    if (count == 0 ? size > 0 : size % count != 0) {
        return "the bytes of inputs do not divide among the players";
    }
    size_t width = count == 0 ? 0 : size / count;
    if (width > CAROM_INPUT_MAX) {
        return "an input is too large, expected at most 64 bytes";
    }
    uint32_t i = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if ((players >> player & 1u) == 0) {
            continue;
        }
        carom_player_input *to = &record->inputs[i];
        memset(to, 0, sizeof *to);
        to->player = player;
        if (width > 0) {
            memcpy(to->bytes, tick->inputs.data + i * width, width);
        }
        i++;
    }
    record->input.inputs = record->inputs;
    record->input.input_count = count;
    return NULL;
}

const char *cm_record_tick_decode(cm_record *record, const uint8_t *bytes, size_t size)
{
    memset(&record->input, 0, sizeof record->input);
    record->used = 0;
    if (size == 0) {
        return NULL;
    }
    if (size > CM_RECORD_TICK_MAX) {
        return "too large, expected at most 288 KiB";
    }
    ProtobufCAllocator allocator = {arena_allocate, arena_release, record};
    Carom__TickInput *tick = carom__tick_input__unpack(&allocator, size, bytes);
    if (tick == NULL) {
        return "no well-formed TickInput message";
    }
    if (tick->base.n_unknown_fields > 0) {
        return "the message has an unknown field";
    }
    const char *wrong = take_events(record, tick);
    if (wrong == NULL) {
        wrong = take_inputs(record, tick);
    }
    if (wrong != NULL) {
        memset(&record->input, 0, sizeof record->input);
    }
    return wrong; // the message stays in the arena: events point at its payloads
}

uint8_t *cm_record_pack(const void *bytes, size_t size, size_t *packed_size)
{
    size_t bound = ZSTD_compressBound(size);
    uint8_t *packed = malloc(bound);
    if (packed == NULL) {
        return NULL;
    }
    *packed_size = ZSTD_compress(packed, bound, bytes, size, ZSTD_LEVEL);
    if (ZSTD_isError(*packed_size)) {
        free(packed);
        return NULL;
    }
    return packed;
}

uint8_t *cm_record_unpack(const void *packed, size_t packed_size, size_t limit, size_t *size)
{
    unsigned long long told = ZSTD_getFrameContentSize(packed, packed_size);
    if (told == ZSTD_CONTENTSIZE_UNKNOWN || told == ZSTD_CONTENTSIZE_ERROR || told > limit) {
        return NULL;
    }
    uint8_t *bytes = malloc(told > 0 ? (size_t)told : 1);
    if (bytes == NULL) {
        return NULL;
    }
    *size = ZSTD_decompress(bytes, (size_t)told, packed, packed_size);
    if (ZSTD_isError(*size) || *size != told) {
        free(bytes);
        return NULL;
    }
    return bytes;
}
