// The frames of a WebSocket: any bytes, whole and one at a time, with the same outcome; and the
// same bytes as texts of an upgrade.
#include <stdlib.h>
#include <string.h>

#include "server/transport/websocket/frames.h"
#include "server/transport/websocket/upgrade.h"
#include "shared/base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Feeds `step` bytes at a time. Returns what came out, in order, as a number.
static uint64_t outcome(const uint8_t *bytes, size_t size, size_t step)
{
    static cm_frames_reader reader;
    uint64_t sum = 0;
    memset(&reader, 0, sizeof reader);
    cm_frames_event event = CM_FRAMES_MORE;
    for (size_t at = 0, taken; at < size && event != CM_FRAMES_REFUSED; at += taken) {
        size_t left = size - at;
        event = cm_frames_read(&reader, bytes + at, left < step ? left : step, &taken);
        CM_ASSERT(taken > 0 && taken <= left);
        CM_ASSERT(event != CM_FRAMES_MESSAGE ||
                  (reader.size > 0 && reader.size <= CM_FRAMES_MESSAGE_MAX));
        CM_ASSERT(event != CM_FRAMES_PING || reader.control_size <= CM_FRAMES_CONTROL_MAX);
        CM_ASSERT(event != CM_FRAMES_REFUSED || reader.reason < CM_FRAME_REASON_COUNT);
        for (uint32_t i = 0; event == CM_FRAMES_MESSAGE && i < reader.size; i++) {
            sum = 31 * sum + reader.message[i];
        }
        sum = event != CM_FRAMES_MORE ? 31 * sum + (uint64_t)event + 1 : sum;
    }
    return event == CM_FRAMES_REFUSED ? 31 * sum + reader.reason : sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[33], accept[CM_UPGRADE_ACCEPT_MAX];
    char *text = malloc(size + 1); // exactly as large: a byte behind it is a fault
    CM_ASSERT(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    CM_ASSERT(outcome((const uint8_t *)text, size, SIZE_MAX) ==
              outcome((const uint8_t *)text, size, 1));
    CM_ASSERT(!cm_upgrade_room(text, name, sizeof name) || strlen(name) < sizeof name);
    CM_ASSERT(!cm_upgrade_accept(text, accept) || strlen(accept) == CM_UPGRADE_ACCEPT_MAX - 1);
    (void)cm_upgrade_offers(text);
    (void)cm_upgrade_is_allowed(text, "a:1", text);
    free(text);
    return 0;
}
