// Message packets, client to server: a message to the module that reaches it in the tick in which
// it comes, or never. PROTOCOL.md describes them for others (section 5.3).
//
//   OFFSET SIZE
//        0    1  type, CM_PACKET_MESSAGE
//        1    1  epoch
//        2       the message, 0 to 256 bytes, to the packet's end
// Typical: none; of a game that aims or speaks by them 20 bytes, 10 times a second.
#ifndef CM_WIRE_MESSAGE_PACKET_H
#define CM_WIRE_MESSAGE_PACKET_H

#include "shared/wire/packet.h"

#define CM_PACKET_MESSAGE     3
#define CM_MESSAGE_PACKET_MAX 256u // bytes of a message
#define CM_MESSAGE_PACKET     (2u + CM_MESSAGE_PACKET_MAX)

// Returns the packet's bytes.
size_t cm_message_packet_write(uint8_t epoch, const void *message, size_t size,
                               uint8_t packet[CM_MESSAGE_PACKET]);
// The message points into the packet.
cm_packet_reason cm_message_packet_read(const uint8_t *packet, size_t size, uint8_t *epoch,
                                        const uint8_t **message, size_t *message_size);

#endif
