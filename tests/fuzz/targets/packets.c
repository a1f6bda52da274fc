// The two packets that play a match, as server and client read them: any bytes are refused with a
// reason or read, inputs that were read are the same when written and read again, a view's bodies
// stay inside the room that there is for them, and a relay tells of ticks that it may tell of.
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/vec.h"
#include "shared/wire/input_relay.h"
#include "shared/wire/message_packet.h"

#define BODIES 4096u // that have a baseline

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const cm_view_body *find_baseline(void *context, uint32_t index, uint16_t sequence)
{
    static const cm_view_body body = {.largest = 3};
    (void)context;
    return index % CM_VIEW_DRIVES < BODIES && sequence % 16 != 0 ? &body : NULL;
}

static void fuzz_view(const uint8_t *bytes, size_t size)
{
    static cm_view_entry entries[CM_VIEW_ENTRIES_MAX];
    cm_view_config config;
    cm_view_header header;
    uint32_t count = 0;
    // As tests/protocol/vectors/views.json has it.
    carom_result made =
        cm_view_config_make(cm_vec(-30, -10, -64), cm_vec(30, 40, 64), 1.0f / 512.0f, &config);
    CM_ASSERT(made == CAROM_OK);
    cm_packet_reason reason =
        cm_view_packet_read(bytes, size, &config, find_baseline, NULL, &header, entries, &count);
    CM_ASSERT(reason < CM_PACKET_REASON_COUNT);
    CM_ASSERT(count <= CM_VIEW_ENTRIES_MAX);
    for (uint32_t i = 1; reason == CM_PACKET_OK && i < count; i++) {
        CM_ASSERT(entries[i].index > entries[i - 1].index);
    }
}

static void fuzz_inputs(const uint8_t *bytes, size_t size)
{
    static cm_input_packet packet, again;
    uint8_t written[CM_PACKET_MAX];
    const uint32_t input_size = 9;
    memset(&packet, 0, sizeof packet);
    memset(&again, 0, sizeof again);
    if (cm_input_packet_read(bytes, size, input_size, &packet) != CM_PACKET_OK) {
        return;
    }
    size_t length = cm_input_packet_write(&packet, input_size, written, sizeof written);
    CM_ASSERT(cm_input_packet_read(written, length, input_size, &again) == CM_PACKET_OK);
    CM_ASSERT(memcmp(&packet, &again, sizeof packet) == 0);
}

static void fuzz_message(const uint8_t *bytes, size_t size)
{
    uint8_t written[CM_MESSAGE_PACKET];
    cm_message_packet message;
    for (uint8_t type = CM_PACKET_MESSAGE; type <= CM_PACKET_TOLD; type++) {
        if (cm_message_packet_read(type, bytes, size, &message) == CM_PACKET_OK) {
            CM_ASSERT(message.size <= CM_MESSAGE_PACKET_MAX);
            CM_ASSERT(message.bytes + message.size == bytes + size);
            CM_ASSERT(cm_message_packet_write(type, &message, written) == size);
            CM_ASSERT(memcmp(written, bytes, size) == 0);
        }
    }
}

static const uint8_t *find_input(void *context, uint32_t player, uint64_t tick)
{
    static const uint8_t input[CAROM_INPUT_MAX] = {1, 2, 3};
    (void)context;
    return (player + tick) % 7 != 0 ? input : NULL;
}

static void take_input(void *context, uint32_t player, uint64_t tick, const uint8_t *bytes)
{
    const uint64_t *view = context;
    CM_ASSERT(player < CAROM_PLAYERS_MAX && bytes != NULL);
    CM_ASSERT(tick + CM_RELAY_BACK_MAX > *view && tick <= *view + CM_RELAY_AHEAD_MAX);
}

static void fuzz_relay(const uint8_t *bytes, size_t size)
{
    static const uint32_t sizes[] = {0, 9, CAROM_INPUT_MAX};
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t tick = i * 100;
        cm_packet_reason reason =
            cm_input_relay_read(bytes, size, tick, sizes[i], find_input, take_input, &tick);
        CM_ASSERT(reason < CM_PACKET_REASON_COUNT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    CM_ASSERT(exact != NULL);
    if (size > 0) {
        memcpy(exact, data, size);
    }
    fuzz_view(exact, size);
    fuzz_inputs(exact, size);
    fuzz_message(exact, size);
    fuzz_relay(exact, size);
    free(exact);
    return 0;
}
