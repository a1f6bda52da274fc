// Budgets and judgements.
#include "server/transport/enet/peer_budget.h"

#include <stdlib.h>

#define OUTSTANDING_MAX (24u << 20) // bytes of reliable messages that a peer has not acknowledged
#define LATER_ACKED     3u          // commands sent later that came: one before them is lost
#define ACKS_BURST      512u        // that a peer may ask for at once: a network's pause of 10 s
#define ACKS_RATE       128u        // a second

void cm_peer_account_begin(cm_peer_account *account, uint32_t id, uint32_t now_ms)
{
    *account = (cm_peer_account){.id = id,
                                 .heard_ms = now_ms,
                                 .acks_ms = now_ms,
                                 .outstanding = account->outstanding,
                                 .first = account->first,
                                 .last = account->last};
}

bool cm_peer_account_spend_acks(cm_peer_account *account, uint32_t wanted, uint32_t now_ms)
{
    uint32_t back = (uint32_t)((uint64_t)(now_ms - account->acks_ms) * ACKS_RATE / 1000u);
    if (back > 0) {
        account->acks_spent = back < account->acks_spent ? account->acks_spent - back : 0;
        account->acks_ms = now_ms;
    }
    if (account->acks_spent + wanted > ACKS_BURST) {
        return false;
    }
    account->acks_spent += wanted;
    return true;
}

void cm_peer_account_acked(cm_peer_account *account, const cm_command_count *count)
{
    if (count->has_acked &&
        (!account->has_acked || (uint16_t)(count->acked - account->acked) < 0x8000u)) {
        account->has_acked = true;
        account->acked = count->acked;
    }
}

bool cm_peer_account_missed(const cm_peer_account *account, uint16_t sequence)
{
    uint16_t later = (uint16_t)(account->acked - sequence);
    return account->has_acked && later >= LATER_ACKED && later < 0x8000u;
}

cm_sent_message *cm_peer_account_send(cm_peer_account *account, bool counts)
{
    cm_sent_message *message = malloc(sizeof *message);
    if (message != NULL) {
        *message = (cm_sent_message){
            .account = account, .before = account->last, .counted = account->counted};
        *(account->last != NULL ? &account->last->after : &account->first) = message;
        account->last = message;
        account->counted += counts;
    }
    return message;
}

void cm_peer_account_sent(cm_sent_message *message)
{
    cm_peer_account *account = message->account;
    *(message->before != NULL ? &message->before->after : &account->first) = message->after;
    *(message->after != NULL ? &message->after->before : &account->last) = message->before;
    free(message);
}

uint64_t cm_peer_account_arrived(const cm_peer_account *account)
{
    return account->first != NULL ? account->first->counted : account->counted;
}

cm_peer_verdict cm_peer_account_judge(const cm_peer_account *account, uint32_t timeout_ms,
                                      size_t path, uint32_t now_ms)
{
    if (account->outstanding > OUTSTANDING_MAX) {
        return CM_PEER_SLOW;
    }
    if (path < account->path) {
        return CM_PEER_NARROWED;
    }
    return now_ms - account->heard_ms > timeout_ms ? CM_PEER_SILENT : CM_PEER_STAYS;
}
