// The clients of a room's players, connected or cut off: the replica of each, the messages that
// wait for it, and the share of its views that arrive.
#ifndef CM_SERVER_REPLICATE_VIEWERS_H
#define CM_SERVER_REPLICATE_VIEWERS_H

#include "server/replicate/replica.h"
#include "server/room/history.h"
#include "server/session/mailbox.h"
#include "server/session/roster.h"

typedef struct cm_viewer {
    uint64_t client_id, join_tick; // id 0: none
    cm_replica *replica;           // once views may go
    uint64_t durable;              // newest durable tick that a view had
    cm_mailbox mail;               // of the module
    bool tells_messages;           // its views say how many there were: an Events was among them
    uint64_t sent, acked;          // view packets; those that it acked
    uint64_t sent_before[2];       // a second ago, and two
    uint64_t acked_before;         // a second ago
    float loss;                    // share of them that does not arrive, smoothed over some seconds
} cm_viewer;

typedef struct cm_viewers {
    cm_transport *transport;
    bool spectators; // to whom no message is sent: they are no players
    cm_viewer of[CAROM_PLAYERS_MAX];
    uint64_t messages_dropped, events, events_dropped; // as in cm_publisher_stats
    uint64_t unreliable, unreliable_lost;              // likewise
} cm_viewers;                                          // all zeros but the transport: empty

void cm_viewers_free(cm_viewers *viewers);
// Removes viewers without a slot; a slot may belong to another client by now. A player who was cut
// off stays as long as the slot is kept.
void cm_viewers_meet(cm_viewers *viewers, const cm_roster *roster);
// Applies the acks since the last call to the replicas. Returns the number of acked packets.
uint64_t cm_viewers_take_acks(cm_viewers *viewers, const cm_roster *roster);

// Sends the messages of the newest tick that need not arrive, to those who are there.
void cm_viewers_tell(cm_viewers *viewers, const cm_history_slot *slot, const cm_roster *roster);
// Keeps the other messages and the events of a confirmed tick for those whom they concern. False:
// there were none.
bool cm_viewers_keep(cm_viewers *viewers, const cm_history_slot *slot);
// Sends what is kept, of ticks up to tick_max, to those who are connected.
void cm_viewers_send(cm_viewers *viewers, const cm_roster *roster, uint64_t tick_max);
// Something is kept for a player who is connected.
bool cm_viewers_wait(const cm_viewers *viewers);

void cm_viewers_second(cm_viewers *viewers); // once a second: the loss

#endif
