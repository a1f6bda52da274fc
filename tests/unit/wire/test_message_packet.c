// Goal: a message packet has the bytes of the recorded vectors, which the second parser reads as
// well, and any other is refused with its reason. Method: as test_vectors.c.
#include <criterion/criterion.h>
#include <string.h>

#include "shared/wire/message_packet.h"
#include "tests/unit/wire/vector_text.h"

static void put_packet(vector_text *out, uint8_t type, const char *name, const uint8_t *bytes,
                       size_t size)
{
    cm_message_packet message;
    cm_packet_reason reason = cm_message_packet_read(type, bytes, size, &message);
    vector_next(out);
    vector_put(out, "{\"name\": \"%s\", \"type\": %u, \"reason\": \"%s\", \"hex\": ", name, type,
               vector_reason(reason));
    vector_hex(out, bytes, size);
    if (reason == CM_PACKET_OK) {
        vector_put(out, ", \"epoch\": %u, \"tick\": %u, \"message\": ", message.epoch,
                   message.tick);
        vector_hex(out, message.bytes, message.size);
    }
    vector_put(out, "}");
}

// All of one direction; `head`: bytes before the message.
static void put_type(vector_text *out, uint8_t type, size_t head)
{
    uint8_t bytes[CM_MESSAGE_PACKET + 1] = {0}, text[CM_MESSAGE_PACKET_MAX];
    memset(text, 0x5a, sizeof text);
    cm_message_packet m = {.epoch = 0};
    put_packet(out, type, "of nothing", bytes, cm_message_packet_write(type, &m, bytes));
    m = (cm_message_packet){7, type == CM_PACKET_TOLD ? 0x01020304u : 0,
                            (const uint8_t *)"look there", 10};
    put_packet(out, type, "short", bytes, cm_message_packet_write(type, &m, bytes));
    m = (cm_message_packet){255, type == CM_PACKET_TOLD ? UINT32_MAX : 0, text, sizeof text};
    put_packet(out, type, "longest", bytes, cm_message_packet_write(type, &m, bytes));
    put_packet(out, type, "too long", bytes, head + CM_MESSAGE_PACKET_MAX + 1);
    put_packet(out, type, "cut in its header", bytes, head - 1);
    put_packet(out, type, "empty", bytes, 0);
    bytes[0] = CM_PACKET_VIEW;
    put_packet(out, type, "another type", bytes, 12);
}

Test(vectors, messages)
{
    vector_text out = {.first = true};
    vector_put(&out, "{\"vectors\": [");
    put_type(&out, CM_PACKET_MESSAGE, 2);
    put_type(&out, CM_PACKET_TOLD, 6);
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "messages");
}
