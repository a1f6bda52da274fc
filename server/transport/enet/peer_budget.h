// The host's own state of one peer, beside ENet's: its connection, the time of its last datagram,
// the acks that it requested and sent, and the bytes that it has not acknowledged. Pure: time is an
// argument, in ms of ENet's 32-bit clock. Typical: 32 of them, looked at for each datagram and once
// a turn.
#ifndef CM_SERVER_TRANSPORT_ENET_PEER_BUDGET_H
#define CM_SERVER_TRANSPORT_ENET_PEER_BUDGET_H

#include "server/transport/enet/commands.h"
#include "shared/wire/address.h"

// A reliable message on its way. Its reader has it once all before it have come, too, whatever
// ENet acknowledges meanwhile.
typedef struct cm_sent_message {
    struct cm_peer_budget *budget;
    struct cm_sent_message *before, *after; // in the order of sending
    uint64_t counted;                       // messages that count, sent before it
} cm_sent_message;

typedef struct cm_peer_budget {
    uint32_t generation;          // connections that this place has had
    uint32_t id;                  // of the connection that all this is of; 0: none yet
    cm_address from;              // where it is
    uint32_t heard_ms;            // when its last datagram came
    uint32_t acks_spent, acks_ms; // asked for, less what time gave back; counted until then
    size_t outstanding;           // bytes of reliable messages not yet acknowledged
    size_t path;                  // bytes that datagrams were made for so far
    uint16_t acked; // the newest reliable command of channel 0 that it has, if has_acked
    bool has_acked;
    bool welcomed;                 // its welcome has come: no message goes twice any more
    uint64_t counted;              // messages sent that count
    cm_sent_message *first, *last; // on their way, those that do not count among them
} cm_peer_budget;

typedef enum cm_peer_verdict {
    CM_PEER_STAYS,
    CM_PEER_SILENT,   // nothing came for longer than the timeout
    CM_PEER_SLOW,     // it does not acknowledge what it is sent
    CM_PEER_NARROWED, // what was cut for a larger path can neither be sent now nor cut again
} cm_peer_verdict;

// Resets the budget when ENet gave the place to another connection. The outstanding bytes count
// down by themselves as ENet releases its packets.
void cm_peer_budget_begin(cm_peer_budget *budget, uint32_t id, uint32_t now_ms);
// True if we may send the peer so many more acks.
bool cm_peer_budget_spend_acks(cm_peer_budget *budget, uint32_t wanted, uint32_t now_ms);
// Applies the acks of an admitted datagram.
void cm_peer_budget_acked(cm_peer_budget *budget, const cm_command_count *count);
// True if enough later commands were acked that this one, sent once, counts as lost (RFC 5681's
// fast retransmit): it need not wait for its timeout.
bool cm_peer_budget_missed(const cm_peer_budget *budget, uint16_t sequence);
// One more reliable message goes, which counts or not; NULL where memory is short.
cm_sent_message *cm_peer_budget_send(cm_peer_budget *budget, bool counts);
// It was acknowledged, or its connection is over: released.
void cm_peer_budget_sent(cm_sent_message *message);
// The number of counted messages that the reader has; undefined for a connection that is over.
uint64_t cm_peer_budget_arrived(const cm_peer_budget *budget);
// `path` is what the peer's path is known to carry now.
cm_peer_verdict cm_peer_budget_judge(const cm_peer_budget *budget, uint32_t timeout_ms, size_t path,
                                     uint32_t now_ms);

#endif
