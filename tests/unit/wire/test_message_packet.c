// Goal: a message packet has the bytes of the recorded vectors, which the second parser reads as
// well, and any other is refused with its reason. Method: as test_vectors.c.
#include <criterion/criterion.h>
#include <string.h>

#include "shared/wire/message_packet.h"
#include "tests/unit/wire/vector_text.h"

static void put_message(vector_text *out, const char *name, const uint8_t *bytes, size_t size)
{
    uint8_t epoch;
    const uint8_t *message;
    size_t length;
    cm_packet_reason reason = cm_message_packet_read(bytes, size, &epoch, &message, &length);
    vector_next(out);
    vector_put(out, "{\"name\": \"%s\", \"reason\": \"%s\", \"hex\": ", name,
               vector_reason(reason));
    vector_hex(out, bytes, size);
    if (reason == CM_PACKET_OK) {
        vector_put(out, ", \"epoch\": %u, \"message\": ", epoch);
        vector_hex(out, message, length);
    }
    vector_put(out, "}");
}

Test(vectors, messages)
{
    vector_text out = {.first = true};
    uint8_t bytes[CM_MESSAGE_PACKET + 1] = {0}, text[CM_MESSAGE_PACKET_MAX];
    memset(text, 0x5a, sizeof text);
    vector_put(&out, "{\"vectors\": [");
    put_message(&out, "of nothing", bytes, cm_message_packet_write(0, NULL, 0, bytes));
    put_message(&out, "short", bytes, cm_message_packet_write(7, "look there", 10, bytes));
    put_message(&out, "longest", bytes, cm_message_packet_write(255, text, sizeof text, bytes));
    put_message(&out, "too long", bytes, sizeof bytes);
    put_message(&out, "cut in its header", bytes, 1);
    put_message(&out, "empty", bytes, 0);
    bytes[0] = CM_PACKET_VIEW;
    put_message(&out, "another type", bytes, 12);
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "messages");
}
