// See the header.
#include "server/session/mailbox.h"

void cm_mailbox_settle(cm_mailbox *mailbox, const cm_host *host, uint32_t peer)
{
    uint64_t sent, arrived;
    cm_host_counted(host, peer, &sent, &arrived);
    while (mailbox->messages.count > 0 &&
           mailbox->before - mailbox->link_before + mailbox->link_sent < arrived) {
        size_t popped = cm_outbox_pop(&mailbox->messages);
        mailbox->sent -= mailbox->sent < popped ? mailbox->sent : popped;
        mailbox->before++;
    }
}

void cm_mailbox_send(cm_mailbox *mailbox, cm_host *host, uint32_t peer, uint64_t tick_max)
{
    cm_outbox_message message;
    for (size_t at = mailbox->sent; mailbox->linked &&
                                    cm_outbox_next(&mailbox->messages, &at, &message) &&
                                    message.tick <= tick_max;) {
        mailbox->linked = cm_host_send_counted(host, peer, message.bytes, message.size);
        mailbox->sent = at;
    }
}

void cm_mailbox_begin(cm_mailbox *mailbox, cm_host *host, uint32_t peer, uint64_t tick_max)
{
    uint64_t arrived;
    mailbox->link_before = mailbox->before;
    cm_host_counted(host, peer, &mailbox->link_sent, &arrived);
    mailbox->linked = true;
    mailbox->sent = 0;
    cm_mailbox_send(mailbox, host, peer, tick_max);
}

bool cm_mailbox_waits(const cm_mailbox *mailbox)
{
    return mailbox->linked && mailbox->sent < mailbox->messages.end - mailbox->messages.begin;
}
