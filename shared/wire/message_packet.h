// Message packets: messages that are not sent again. Up, of a client to the module, which gets it
// in the tick in which it comes, or never; down, of the module to a client, as its tick is first
// made. PROTOCOL.md describes them for others (sections 5.3 and 6.4).
//
//   OFFSET SIZE
//        0    1  type, CM_PACKET_MESSAGE (up) or CM_PACKET_TOLD (down)
//        1    1  epoch
//        2    4  down alone: the tick
//   2 or 6       the message, 0 to 256 bytes, to the packet's end
// Typical: none; of a game that aims or speaks by them 20 bytes, 10 times a second.
#ifndef CM_WIRE_MESSAGE_PACKET_H
#define CM_WIRE_MESSAGE_PACKET_H

#include "shared/wire/packet.h"

#define CM_PACKET_MESSAGE     3
#define CM_PACKET_TOLD        4
#define CM_MESSAGE_PACKET_MAX CAROM_UNRELIABLE_MAX // bytes of a message
#define CM_MESSAGE_PACKET     (6u + CM_MESSAGE_PACKET_MAX)

typedef struct cm_message_packet {
    uint8_t epoch;
    uint32_t tick;        // down
    const uint8_t *bytes; // of a packet that was read: in it
    size_t size;
} cm_message_packet;

// Returns the packet's bytes.
size_t cm_message_packet_write(uint8_t type, const cm_message_packet *message,
                               uint8_t packet[CM_MESSAGE_PACKET]);
cm_packet_reason cm_message_packet_read(uint8_t type, const uint8_t *packet, size_t size,
                                        cm_message_packet *message);

#endif
