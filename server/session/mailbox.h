// Messages of the module for one player, kept until the player is known to have them, whatever
// connections that takes; numbered from the player's join on. Typical: one or two wait.
#ifndef CM_SERVER_SESSION_MAILBOX_H
#define CM_SERVER_SESSION_MAILBOX_H

#include "server/room/outbox.h"
#include "shared/transport/transport.h"

typedef struct cm_mailbox {
    cm_outbox messages;   // encoded, that the player is not known to have
    uint64_t before;      // messages before those
    bool linked;          // the present connection takes them
    size_t sent;          // bytes of `messages` that went by it
    uint64_t link_before; // `before`, when it began
    uint64_t link_sent;   // messages that it had counted by then
} cm_mailbox;             // all zeros: empty, and no connection

// Messages that arrived by the present connection need not be kept.
void cm_mailbox_settle(cm_mailbox *mailbox, const cm_transport *transport,
                       cm_connection_id connection);
// A new connection: all that wait go by it, up to those of a tick.
void cm_mailbox_begin(cm_mailbox *mailbox, cm_transport *transport, cm_connection_id connection,
                      uint64_t tick_max);
// Sends the unsent messages of ticks up to tick_max. If one cannot be sent, it and those after it
// wait for the next connection.
void cm_mailbox_send(cm_mailbox *mailbox, cm_transport *transport, cm_connection_id connection,
                     uint64_t tick_max);
// True if a message waits that the present connection would accept.
bool cm_mailbox_waits(const cm_mailbox *mailbox);

#endif
