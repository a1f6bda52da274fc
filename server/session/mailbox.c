// See the header.
#include "server/session/mailbox.h"

void cm_mailbox_settle(cm_mailbox *mailbox, const cm_transport *transport,
                       cm_connection_id connection)
{
    const cm_transport_status status = cm_transport_status_of(transport, connection);
    while (mailbox->messages.count > 0 &&
           mailbox->before - mailbox->link_before + mailbox->link_sent < status.arrived) {
        size_t popped = cm_outbox_pop(&mailbox->messages);
        mailbox->sent -= mailbox->sent < popped ? mailbox->sent : popped;
        mailbox->before++;
    }
}

void cm_mailbox_send(cm_mailbox *mailbox, cm_transport *transport, cm_connection_id connection,
                     uint64_t tick_max)
{
    cm_outbox_message message;
    for (size_t at = mailbox->sent; mailbox->linked &&
                                    cm_outbox_next(&mailbox->messages, &at, &message) &&
                                    message.tick <= tick_max;) {
        mailbox->linked =
            cm_transport_send(transport, connection, CM_SEND_COUNTED, message.bytes, message.size);
        mailbox->sent = at;
    }
}

void cm_mailbox_begin(cm_mailbox *mailbox, cm_transport *transport, cm_connection_id connection,
                      uint64_t tick_max)
{
    const cm_transport_status status = cm_transport_status_of(transport, connection);
    mailbox->link_before = mailbox->before;
    mailbox->link_sent = status.sent;
    mailbox->linked = true;
    mailbox->sent = 0;
    cm_mailbox_send(mailbox, transport, connection, tick_max);
}

bool cm_mailbox_waits(const cm_mailbox *mailbox)
{
    return mailbox->linked && mailbox->sent < mailbox->messages.end - mailbox->messages.begin;
}
