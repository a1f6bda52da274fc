// See the header.
#include "shared/wire/message_packet.h"

#include <string.h>

#include "shared/base/assert.h"

#define HEADER 2u

size_t cm_message_packet_write(uint8_t epoch, const void *message, size_t size,
                               uint8_t packet[CM_MESSAGE_PACKET])
{
    CM_ASSERT(size <= CM_MESSAGE_PACKET_MAX);
    packet[0] = CM_PACKET_MESSAGE;
    packet[1] = epoch;
    if (size > 0) {
        memcpy(packet + HEADER, message, size);
    }
    return HEADER + size;
}

cm_packet_reason cm_message_packet_read(const uint8_t *packet, size_t size, uint8_t *epoch,
                                        const uint8_t **message, size_t *message_size)
{
    if (size > CM_MESSAGE_PACKET) {
        return CM_PACKET_LONG;
    }
    if (size > 0 && packet[0] != CM_PACKET_MESSAGE) {
        return CM_PACKET_TYPE;
    }
    if (size < HEADER) {
        return CM_PACKET_SHORT;
    }
    *epoch = packet[1];
    *message = packet + HEADER;
    *message_size = size - HEADER;
    return CM_PACKET_OK;
}
