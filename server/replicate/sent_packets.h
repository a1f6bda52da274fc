// The newest view packets of one client, to which its acks refer. The ring owns the sequence of
// these packets: nothing else counts them. Sequences are counted in 64 bits here (16 travel), so
// that a body which rested for an hour is not taken for one sent just now.
#ifndef CM_SERVER_REPLICATE_SENT_PACKETS_H
#define CM_SERVER_REPLICATE_SENT_PACKETS_H

#include "shared/view/view.h"

#define CM_SENT_PACKETS 128u // newest ones, to which an ack may refer

typedef struct cm_packet_entry {
    uint32_t slot, generation; // slot: the row of the snapshot
    cm_view_body body;
} cm_packet_entry;

typedef struct cm_sent_packet {
    uint64_t sequence;
    bool acked;
    uint32_t public_version; // 0: none travelled
    uint64_t relay_tick;     // of the view, where it had a relay; 0: it had none
    uint64_t relay_players;  // that it told of
    uint32_t count, capacity;
    cm_packet_entry *entries;
} cm_sent_packet;

typedef struct cm_sent_packets {
    uint64_t sequence, newest_acked; // 0: none
    cm_sent_packet ring[CM_SENT_PACKETS];
} cm_sent_packets; // all zeros: none was sent

void cm_sent_packets_free(cm_sent_packets *packets);
// The next packet, with place for so many entries; NULL where memory is short.
cm_sent_packet *cm_sent_packets_next(cm_sent_packets *packets, uint32_t entries);
// One packet arrived. NULL where it was never sent, long ago, or acked before.
const cm_sent_packet *cm_sent_packets_ack(cm_sent_packets *packets, uint16_t sequence);
// The packet may still arrive, or its ack may: sending the same again would be waste.
bool cm_sent_packets_in_flight(const cm_sent_packets *packets, uint64_t sequence);

#endif
