// Budgets and judgements.
#include "server/transport/enet/peer_budget.h"

#include <stdlib.h>

#define OUTSTANDING_MAX (24u << 20) // bytes of reliable messages that a peer has not acknowledged
#define LATER_ACKED     3u          // commands sent later that came: one before them is lost
#define ACKS_BURST      512u        // that a peer may ask for at once: a network's pause of 10 s
#define ACKS_RATE       128u        // a second

void cm_peer_budget_begin(cm_peer_budget *budget, uint32_t id, uint32_t now_ms)
{
    *budget = (cm_peer_budget){.generation = budget->generation + 1,
                               .id = id,
                               .heard_ms = now_ms,
                               .acks_ms = now_ms,
                               .outstanding = budget->outstanding,
                               .first = budget->first,
                               .last = budget->last};
}

bool cm_peer_budget_spend_acks(cm_peer_budget *budget, uint32_t wanted, uint32_t now_ms)
{
    uint32_t back = (uint32_t)((uint64_t)(now_ms - budget->acks_ms) * ACKS_RATE / 1000u);
    if (back > 0) {
        budget->acks_spent = back < budget->acks_spent ? budget->acks_spent - back : 0;
        budget->acks_ms = now_ms;
    }
    if (budget->acks_spent + wanted > ACKS_BURST) {
        return false;
    }
    budget->acks_spent += wanted;
    return true;
}

void cm_peer_budget_acked(cm_peer_budget *budget, const cm_command_count *count)
{
    if (count->has_acked &&
        (!budget->has_acked || (uint16_t)(count->acked - budget->acked) < 0x8000u)) {
        budget->has_acked = true;
        budget->acked = count->acked;
    }
}

bool cm_peer_budget_missed(const cm_peer_budget *budget, uint16_t sequence)
{
    uint16_t later = (uint16_t)(budget->acked - sequence);
    return budget->has_acked && later >= LATER_ACKED && later < 0x8000u;
}

cm_sent_message *cm_peer_budget_send(cm_peer_budget *budget, bool counts)
{
    cm_sent_message *message = malloc(sizeof *message);
    if (message != NULL) {
        *message =
            (cm_sent_message){.budget = budget, .before = budget->last, .counted = budget->counted};
        *(budget->last != NULL ? &budget->last->after : &budget->first) = message;
        budget->last = message;
        budget->counted += counts;
    }
    return message;
}

void cm_peer_budget_sent(cm_sent_message *message)
{
    cm_peer_budget *budget = message->budget;
    *(message->before != NULL ? &message->before->after : &budget->first) = message->after;
    *(message->after != NULL ? &message->after->before : &budget->last) = message->before;
    free(message);
}

uint64_t cm_peer_budget_arrived(const cm_peer_budget *budget)
{
    return budget->first != NULL ? budget->first->counted : budget->counted;
}

cm_peer_verdict cm_peer_budget_judge(const cm_peer_budget *budget, uint32_t timeout_ms, size_t path,
                                     uint32_t now_ms)
{
    if (budget->outstanding > OUTSTANDING_MAX) {
        return CM_PEER_SLOW;
    }
    if (path < budget->path) {
        return CM_PEER_NARROWED;
    }
    return now_ms - budget->heard_ms > timeout_ms ? CM_PEER_SILENT : CM_PEER_STAYS;
}
