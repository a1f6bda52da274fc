// Goal: what is kept of a peer judges it by what it did, and not by where clocks and counters wrap.
// Method: every judgement once on each of its sides, with clocks and sequences that pass their end.
#include "server/transport/enet/peer_budget.h"

#include <criterion/criterion.h>

#define END 0xffffff00u // of ENet's clock, soon

Test(peer_budget, acks_come_back_with_time)
{
    cm_peer_budget a = {0};
    cm_peer_budget_begin(&a, 7, END);
    cr_assert(cm_peer_budget_spend_acks(&a, 512, END));
    cr_assert_not(cm_peer_budget_spend_acks(&a, 1, END));
    cr_assert_not(cm_peer_budget_spend_acks(&a, 65, END + 500));
    cr_assert(cm_peer_budget_spend_acks(&a, 64, END + 500), "128 a second, over the clock's end");
    cr_assert_not(cm_peer_budget_spend_acks(&a, 513, END + 1000000));
    cr_assert(cm_peer_budget_spend_acks(&a, 512, END + 1000000), "to the brim and no further");
}

Test(peer_budget, lost_is_what_three_later_ones_passed)
{
    cm_peer_budget a = {0};
    cr_assert_not(cm_peer_budget_missed(&a, 0xfff0), "nothing was acknowledged");
    cm_command_count count = {.has_acked = true, .acked = 1};
    cm_peer_budget_acked(&a, &count);
    cr_assert(cm_peer_budget_missed(&a, 0xfffe));
    cr_assert_not(cm_peer_budget_missed(&a, 0xffff), "two later ones");
    cr_assert_not(cm_peer_budget_missed(&a, 5), "not sent before it");
    count.acked = 0xfff0;
    cm_peer_budget_acked(&a, &count);
    cr_assert_eq(a.acked, 1, "an older one takes nothing back");
    cm_peer_budget_acked(&a, &(cm_command_count){.acked = 9});
    cr_assert_eq(a.acked, 1, "a datagram without acks says nothing");
}

Test(peer_budget, judged_by_silence_debt_and_path)
{
    cm_peer_budget a = {0};
    cm_peer_budget_begin(&a, 7, END);
    cr_assert_eq(cm_peer_budget_judge(&a, 1000, 548, END + 1000), CM_PEER_STAYS);
    cr_assert_eq(cm_peer_budget_judge(&a, 1000, 548, END + 1001), CM_PEER_SILENT);
    a.path = 1200;
    cr_assert_eq(cm_peer_budget_judge(&a, 1000, 1200, END), CM_PEER_STAYS);
    cr_assert_eq(cm_peer_budget_judge(&a, 1000, 548, END), CM_PEER_NARROWED);
    a.outstanding = 24u << 20;
    cr_assert_eq(cm_peer_budget_judge(&a, 1000, 1200, END), CM_PEER_STAYS);
    a.outstanding++;
    cr_assert_eq(cm_peer_budget_judge(&a, 1000, 1200, END), CM_PEER_SLOW);
    cm_peer_budget_begin(&a, 8, END);
    cr_assert_eq(a.outstanding, (24u << 20) + 1, "packets of the last one are still on their way");
    cr_assert_eq(a.path, 0);
}

// ENet acknowledges what came, also where something before it is still missing; a reader has only
// what nothing is missing before.
Test(peer_budget, arrived_is_what_nothing_is_missing_before)
{
    cm_peer_budget a = {0};
    cm_peer_budget_begin(&a, 7, END);
    cr_assert_eq(cm_peer_budget_arrived(&a), 0);
    cm_sent_message *welcome = cm_peer_budget_send(&a, false);
    cm_sent_message *one = cm_peer_budget_send(&a, true);
    cm_sent_message *change = cm_peer_budget_send(&a, false);
    cm_sent_message *two = cm_peer_budget_send(&a, true);
    cr_assert_eq(a.counted, 2);
    cm_peer_budget_sent(two);
    cm_peer_budget_sent(one);
    cr_assert_eq(cm_peer_budget_arrived(&a), 0, "both behind the welcome");
    cm_peer_budget_sent(welcome);
    cr_assert_eq(cm_peer_budget_arrived(&a), 1);
    cm_peer_budget_sent(change);
    cr_assert_eq(cm_peer_budget_arrived(&a), 2);
    cr_assert_null(a.first);
    cr_assert_null(a.last);
}
