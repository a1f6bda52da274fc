// Sealing and opening ENet's datagrams. We set ENet's checksum callback, which ENet calls for every
// datagram that it sends; the checksum itself is not sent.
//
//   OFFSET  SIZE  ENet's datagram as it lies in memory
//   0       2     peer id and flags, big-endian; 0x8000: a time follows
//   2       0, 2  sent time
//   2, 4    4     checksum: on the way out the connection's id, on the way in 0
//   6, 8    n     commands
#ifndef CM_WIRE_FRAME_H
#define CM_WIRE_FRAME_H

#include "shared/wire/handshake.h"

#define CM_DATAGRAM_MAX    1200u // bytes on the wire, UDP payload
#define CM_FRAME_PARTS_MAX 96u   // ENet sends at most 65
#define CM_FRAME_CHECKSUM  4u
#define CM_FRAME_CHANNELS  2u // of every connection
#define CM_FRAME_CONNECT   (CM_ENET_CONNECT + CM_FRAME_CHECKSUM)
// The bytes of a datagram of `path` bytes that are left to ENet (its MTU), and to one packet in it:
// ENet splits larger packets into reliable fragments.
#define CM_FRAME_MTU(path)    ((path)-CM_SEAL_OVERHEAD)
#define CM_FRAME_PACKET(path) (CM_FRAME_MTU(path) - 4u - 24u - CM_FRAME_CHECKSUM)

typedef struct cm_frame_part {
    const void *data;
    size_t size;
} cm_frame_part;

// The connection's id that ENet left in the checksum's place: the last bytes of the first part.
uint32_t cm_frame_id(const cm_frame_part *first);
// All parts without the checksum, one after another, sealed into datagram[CM_DATAGRAM_MAX]. Returns
// its size; 0 where it would be larger, or the parts are no datagram of ENet's.
size_t cm_frame_seal(cm_seal *seal, const cm_frame_part *parts, size_t count,
                     uint8_t datagram[CM_DATAGRAM_MAX]);
// In place; on CM_SEAL_OK *frame is ENet's datagram with a checksum of 0, *frame_size bytes of it.
cm_seal_reason cm_frame_open(cm_seal *seal, uint8_t *datagram, size_t size, uint8_t **frame,
                             size_t *frame_size);

// The first datagram of a client, ENet's CONNECT: between its two forms, with checksum and without.
bool cm_frame_read_connect(const cm_frame_part *parts, size_t count,
                           uint8_t connect[CM_ENET_CONNECT]);
void cm_frame_put_connect(const uint8_t connect[CM_ENET_CONNECT], uint8_t frame[CM_FRAME_CONNECT]);
// True if it is a CONNECT: of no peer yet, with a time, and ENet's CONNECT as its only command. The
// second function returns the requested number of channels.
bool cm_frame_is_connect(const uint8_t connect[CM_ENET_CONNECT]);
uint32_t cm_frame_channels(const uint8_t connect[CM_ENET_CONNECT]);

// A probe of the path: `size` bytes on the wire, 31 to CM_DATAGRAM_MAX. Returns its size.
size_t cm_frame_probe(cm_seal *seal, size_t size, uint8_t datagram[CM_DATAGRAM_MAX]);
// The answer to a received probe of `size` bytes.
size_t cm_frame_probed(cm_seal *seal, size_t size, uint8_t datagram[CM_DATAGRAM_MAX]);
// The size that an opened answer confirms, or 0 if it is not valid.
size_t cm_frame_probed_size(const uint8_t *plain, size_t plain_size);

#endif
