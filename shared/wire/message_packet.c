// See the header.
#include "shared/wire/message_packet.h"

#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

// Bytes before the message: type, epoch, downwards the tick.
static size_t head_of(uint8_t type)
{
    return type == CM_PACKET_TOLD ? 6 : 2;
}

size_t cm_message_packet_write(uint8_t type, const cm_message_packet *message,
                               uint8_t packet[CM_MESSAGE_PACKET])
{
    CM_ASSERT(message->size <= CM_MESSAGE_PACKET_MAX);
    size_t head = head_of(type);
    cm_byte_writer writer = cm_byte_writer_make(packet, CM_MESSAGE_PACKET);
    cm_put_u8(&writer, type);
    cm_put_u8(&writer, message->epoch);
    if (type == CM_PACKET_TOLD) {
        cm_put_u32(&writer, message->tick);
    }
    if (message->size > 0) {
        memcpy(packet + head, message->bytes, message->size);
    }
    return head + message->size;
}

cm_packet_reason cm_message_packet_read(uint8_t type, const uint8_t *packet, size_t size,
                                        cm_message_packet *message)
{
    size_t head = head_of(type);
    if (size > head + CM_MESSAGE_PACKET_MAX) {
        return CM_PACKET_LONG;
    }
    if (size > 0 && packet[0] != type) {
        return CM_PACKET_TYPE;
    }
    if (size < head) {
        return CM_PACKET_SHORT;
    }
    cm_byte_reader reader = cm_byte_reader_make(packet + 1, size - 1);
    message->epoch = cm_get_u8(&reader);
    message->tick = type == CM_PACKET_TOLD ? cm_get_u32(&reader) : 0;
    message->bytes = packet + head;
    message->size = size - head;
    return CM_PACKET_OK;
}
