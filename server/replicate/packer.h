// Fills view packets with the bodies that come first, within what one client may be sent a second.
#ifndef CM_SERVER_REPLICATE_PACKER_H
#define CM_SERVER_REPLICATE_PACKER_H

#include "server/replicate/encoder.h"
#include "server/replicate/known_body.h"
#include "server/replicate/priority.h"
#include "shared/wire/seal.h"

// UDP and IP, ENet's header, that of an unsequenced command, and the seal: what a packet costs
// beyond itself.
#define CM_PACKET_OVERHEAD (28u + 4u + 8u + CM_SEAL_OVERHEAD)

typedef struct cm_packer {
    uint32_t tick_rate, budget_kbit;
    uint64_t last_tick;
    int64_t tokens; // bytes that may be sent, x tick_rate
    // Bodies to be sent beyond the budget: as many as waited for the first view. Where more moves
    // than a burst carries, something always waits, and it would never end.
    uint32_t burst;
    uint64_t entries, resent, unbased; // bodies sent; values sent before; without a baseline
} cm_packer;

// One client's view of one tick: what is packed.
typedef struct cm_packer_view {
    const cm_snapshot *snapshot;
    const cm_view_config *config;
    cm_known_body *known; // by row
    cm_sent_packets *packets;
    cm_priority_queue queue; // ordered
    cm_view_header header;   // of the next packet, but for its sequence
    size_t packet_max;
} cm_packer_view;

// The budget of the ticks since the last time; unused budget is kept for a tenth of a second.
void cm_packer_refill(cm_packer *packer, uint64_t tick);
// Writes the next packet of a view: at most CM_PACKET_MAX bytes. A packet that is not the view's
// first needs a body. NULL: none goes now, for what may be sent or for memory.
cm_sent_packet *cm_packer_fill(cm_packer *packer, cm_packer_view *view, bool first,
                               uint8_t bytes[CM_PACKET_MAX], uint32_t *size);

#endif
