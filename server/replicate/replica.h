// Replication: which bodies go to one client in a view, and against what. Pure.
//
// A replica is what one client is known to have. After its welcome (or a world change) the client's
// mirror is exact, so only bodies that differ from it are sent; a body never sent has no baseline
// and stands alone. From then on a body is coded against its value in the newest acked packet that
// held it, at most CM_BASELINE_AGE_MAX packets back. A body is settled when the last value sent for
// it was acked and is its value now; until then it is sent again as soon as the packet that carried
// it is known to be lost.
//
// What does not fit into the byte budget waits; its priority grows, so that nothing starves.
#ifndef CM_SERVER_REPLICATE_REPLICA_H
#define CM_SERVER_REPLICATE_REPLICA_H

#include "server/replicate/packer.h"

#define CM_VIEW_PACKETS_MAX 4u

typedef struct cm_replica cm_replica;

typedef struct cm_replica_def {
    uint32_t rows; // of the snapshot
    uint32_t tick_rate, view_rate;
    uint32_t budget_kbit;
    float interest_radius; // m, 0: everything
    bool predict;          // the client simulates: bodies near its own travel with velocities
    bool relays;           // and those near the other players'
} cm_replica_def;

// The relay of a view: of which tick, and of which players it told. Tick 0: there was none.
typedef struct cm_replica_relay {
    uint64_t tick, players;
} cm_replica_relay;

typedef struct cm_replica_stats {
    uint64_t entries, resent; // bodies sent; of these, values sent before
    uint64_t starved;         // bodies that waited more than a second, each view
    uint64_t alone;           // sent without a baseline
} cm_replica_stats;

// One view: its packets, to be sent with consecutive sequences.
typedef struct cm_view_out {
    uint32_t count;
    uint32_t sizes[CM_VIEW_PACKETS_MAX];
    uint8_t bytes[CM_VIEW_PACKETS_MAX][CM_PACKET_MAX];
} cm_view_out;

cm_replica *cm_replica_create(const cm_replica_def *def);
void cm_replica_destroy(cm_replica *replica);

// The client has the snapshot's bodies exactly, from its welcome; or, if `moment` is not NULL,
// those of that earlier tick, and was sent which bodies came and went since.
void cm_replica_begin(cm_replica *replica, const cm_snapshot *snapshot,
                      const cm_snapshot_moment *moment);
// A world change was sent: this row is as in the snapshot (a body or joint, or none). What came
// again under the id that it had is sent once more: an older view on its way may still change it.
void cm_replica_changed(cm_replica *replica, const cm_snapshot *snapshot, uint32_t row);
// Applies the acks of the client's newest input packet: the view packet `sequence` and, for each
// bit i of `bits`, the one 1 + i before it. Returns the number of new acks; an ack of a packet that
// was never sent, was acked before or is CM_SENT_PACKETS old changes nothing.
uint32_t cm_replica_ack(cm_replica *replica, uint16_t sequence, uint32_t bits);

// The newest relay that arrived.
cm_replica_relay cm_replica_relay_acked(const cm_replica *replica);
// The relay in the next view's header tells of these players.
void cm_replica_tells(cm_replica *replica, uint64_t players);

// The packets of the view of a snapshot; none if there is nothing to send. The header's sequence,
// count and public state are filled in here; the first packet gets the next sequence, starting with
// 1, and each is taken for sent. A packet has at most `packet_max` bytes, what the client's path
// carries; only the one with the module's public state may need to be larger (at most
// CM_PACKET_MAX): the transport then cuts it up.
void cm_replica_view(cm_replica *replica, const cm_snapshot *snapshot, const cm_view_config *config,
                     const cm_view_header *header, carom_body_id own, size_t packet_max,
                     cm_view_out *out);

void cm_replica_stats_get(const cm_replica *replica, cm_replica_stats *stats);

#endif
