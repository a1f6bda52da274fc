// A ring by sequence. Typical: 30 packets a second of 30 entries each, acked within 100 ms.
#include "server/replicate/sent_packets.h"

#include <stdlib.h>

#include "shared/base/array.h"

#define LOST_AFTER 2u  // later packets acked: then an earlier one counts as lost
#define FLIGHT_MAX 32u // packets later: lost, where acks do not come at all

void cm_sent_packets_free(cm_sent_packets *packets)
{
    for (uint32_t i = 0; i < CM_SENT_PACKETS; i++) {
        free(packets->ring[i].entries);
    }
}

cm_sent_packet *cm_sent_packets_next(cm_sent_packets *packets, uint32_t entries)
{
    cm_sent_packet *packet = &packets->ring[(packets->sequence + 1) % CM_SENT_PACKETS];
    if (!cm_array_reserve(&packet->entries, &packet->capacity, entries, sizeof *packet->entries)) {
        return NULL;
    }
    packet->sequence = ++packets->sequence;
    packet->acked = false;
    packet->public_version = 0;
    packet->relay_tick = packet->relay_players = 0;
    packet->count = 0;
    return packet;
}

const cm_sent_packet *cm_sent_packets_ack(cm_sent_packets *packets, uint16_t sequence)
{
    uint64_t full = packets->sequence - (uint16_t)((uint16_t)packets->sequence - sequence);
    cm_sent_packet *packet = &packets->ring[full % CM_SENT_PACKETS];
    if (full == 0 || packet->sequence != full || packet->acked) {
        return NULL;
    }
    packet->acked = true;
    packets->newest_acked = full > packets->newest_acked ? full : packets->newest_acked;
    return packet;
}

bool cm_sent_packets_in_flight(const cm_sent_packets *packets, uint64_t sequence)
{
    if (sequence > packets->newest_acked) {
        return packets->sequence - sequence < FLIGHT_MAX;
    }
    return sequence != packets->newest_acked && packets->newest_acked - sequence <= LOST_AFTER;
}
