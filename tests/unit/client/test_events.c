// Goal: each event is told at most once as predicted and once as what became of it, whatever the
// prediction repeats and in what order the server's words come. Method: the log by itself, what it
// tells written down as text.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/events.h"

static char told[1024];

static void write_down(void *context, carom_event_phase phase, const carom_event *event,
                       uint64_t predicted_tick)
{
    size_t used = strlen(told);
    (void)context;
    snprintf(told + used, sizeof told - used, "%s%c%u@%u", used > 0 ? " " : "", "?PCX"[phase],
             event -> kind, (unsigned)event -> tick);
    used = strlen(told);
    if (predicted_tick != event->tick && predicted_tick != 0) {
        snprintf(told + used, sizeof told - used, "was%u", (unsigned)predicted_tick);
    }
}

static cm_event_log *open_log(void)
{
    static cm_event_log log;
    memset(&log, 0, sizeof log);
    told[0] = '\0';
    log.tell = write_down;
    cm_event_log_begin(&log, 100);
    return &log;
}

static void predict(cm_event_log *log, uint32_t kind, uint64_t tick)
{
    const carom_event event = {.tick = tick, .kind = kind};
    cm_event_log_predicted(log, tick, &event, 1);
}

static void confirm(cm_event_log *log, uint32_t kind, uint64_t tick)
{
    const carom_event event = {.tick = tick, .kind = kind};
    cm_event_log_confirmed(log, tick, &event, 1);
}

Test(events, predicted_once_however_often_a_tick_is_stepped)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    cr_expect_str_eq(told, "", "not before the prediction has settled");
    cm_event_log_tell(log);
    predict(log, 1, 120);
    predict(log, 2, 120); // a correction made it
    cm_event_log_tell(log);
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P1@120 P2@120");
    confirm(log, 2, 120);
    cr_expect_str_eq(told, "P1@120 P2@120 C2@120 X1@120");
    predict(log, 1, 120); // too late: its tick is judged
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P1@120 P2@120 C2@120 X1@120");
}

Test(events, what_was_not_predicted_is_confirmed_alone)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    confirm(log, 1, 120); // before it was told
    confirm(log, 5, 121);
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "C1@120 C5@121");
}

Test(events, an_event_cancels_those_of_the_ticks_before_it)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    predict(log, 2, 130);
    predict(log, 3, 131);
    cm_event_log_tell(log);
    confirm(log, 2, 130);
    cr_expect_str_eq(told, "P1@120 P2@130 P3@131 X1@120 C2@130");
}

// A view says that all ticks to 125 are confirmed, and that there were 7 messages before it.
Test(events, a_view_judges_once_the_messages_before_it_are_there)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    predict(log, 2, 121);
    cm_event_log_tell(log);
    cm_event_log_view(log, 125, true, 7, 5);
    cr_expect_str_eq(told, "P1@120 P2@121");
    cm_event_log_messages(log, 6);
    cr_expect_str_eq(told, "P1@120 P2@121");
    confirm(log, 2, 121); // the seventh
    cm_event_log_messages(log, 7);
    cr_expect_str_eq(told, "P1@120 P2@121 X1@120 C2@121");
    predict(log, 3, 125);
    predict(log, 4, 126);
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P1@120 P2@121 X1@120 C2@121 P4@126");
    cm_event_log_view(log, 126, false, 0, 9); // there was no event for this client ever
    cr_expect_str_eq(told, "P1@120 P2@121 X1@120 C2@121 P4@126 X4@126");
}

Test(events, counts_go_round)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    cm_event_log_tell(log);
    cm_event_log_view(log, 120, true, 3, 65534);
    cr_expect_str_eq(told, "P1@120");
    cm_event_log_messages(log, 65536 + 2);
    cr_expect_str_eq(told, "P1@120");
    cm_event_log_messages(log, 65536 + 3);
    cr_expect_str_eq(told, "P1@120 X1@120");
}

Test(events, the_end_and_another_match_cancel)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    predict(log, 2, 140);
    cm_event_log_tell(log);
    cm_event_log_view(log, 110, true, 0, 0);
    cm_event_log_begin(log, 130); // it came back; its prediction had run ahead
    predict(log, 2, 140);
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P1@120 P2@140");
    confirm(log, 1, 120); // kept for who comes back
    cm_event_log_end(log);
    cr_expect_str_eq(told, "P1@120 P2@140 C1@120 X2@140");
    cm_event_log_begin(log, 130);
    cm_event_log_view(log, 150, true, 0, 0);
    predict(log, 3, 151);
    cm_event_log_tell(log);
    cm_event_log_begin(log, 50);
    cr_expect_str_eq(told, "P1@120 P2@140 C1@120 X2@140 P3@151 X3@151");
    predict(log, 4, 60);
    cm_event_log_tell(log);
    cr_expect_not_null(strstr(told, "P4@60"));
}

Test(events, more_than_are_kept_open_are_told_when_confirmed)
{
    cm_event_log *log = open_log();
    for (uint32_t i = 0; i < CM_EVENTS_OPEN_MAX + 5; i++) {
        predict(log, i, 120);
    }
    cr_expect_eq(log->count, CM_EVENTS_OPEN_MAX);
    confirm(log, CM_EVENTS_OPEN_MAX + 1, 120);
    cr_expect_eq(log->count, 0);
    cr_expect_str_eq(told, "C129@120");
}

static uint32_t three(uint32_t kind)
{
    return kind == 1 ? 3 : kind == 9 ? UINT32_MAX : 0;
}

static cm_event_log *open_tolerant_log(void)
{
    cm_event_log *log = open_log();
    log->tolerance = three;
    return log;
}

Test(events, within_the_tolerance_it_is_the_same)
{
    cm_event_log *log = open_tolerant_log();
    predict(log, 1, 120);
    predict(log, 2, 121);
    cm_event_log_tell(log);
    confirm(log, 1, 117);
    cr_expect_str_eq(told, "P1@120 P2@121 C1@117was120");
    predict(log, 1, 119); // the correction to the server's word, still a little off
    cm_event_log_tell(log);
    confirm(log, 2, 122); // has no tolerance
    cr_expect_str_eq(told, "P1@120 P2@121 C1@117was120 X2@121 C2@122");
    predict(log, 1, 126);
    cm_event_log_tell(log);
    confirm(log, 1, 129);
    predict(log, 1, 140);
    cm_event_log_tell(log);
    cm_event_log_view(log, 142, true, 0, 0); // it may still come
    cr_expect_str_eq(told, "P1@120 P2@121 C1@117was120 X2@121 C2@122 P1@126 C1@129was126 P1@140");
    cm_event_log_view(log, 143, true, 0, 0);
    cr_expect_not_null(strstr(told, "P1@140 X1@140"));
    confirm(log, 1, 144);
    cr_expect_not_null(strstr(told, "X1@140 C1@144"), "%s", told);
    cr_expect_eq(log->count, 1, "what would be predicted of it now is not told");
    predict(log, 1, 146);
    cm_event_log_tell(log);
    cr_expect_null(strstr(told, "@146"), "%s", told);
    cm_event_log_view(log, 160, true, 0, 0);
    cr_expect_eq(log->count, 0);
}

// A correction steps ticks again: what comes out a little earlier or later is what was told, but
// two in one run are two.
Test(events, a_correction_moves_what_is_open)
{
    cm_event_log *log = open_tolerant_log();
    predict(log, 1, 120);
    predict(log, 1, 122);
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P1@120 P1@122", "two in one run");
    predict(log, 1, 119); // and so 120 and 122 are to be made again
    predict(log, 1, 123);
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P1@120 P1@122");
    confirm(log, 1, 119);
    confirm(log, 1, 124);
    cr_expect_str_eq(told, "P1@120 P1@122 C1@119was120 C1@124was122");
    cm_event_log_view(log, 130, true, 0, 0);
    cr_expect_str_eq(told, "P1@120 P1@122 C1@119was120 C1@124was122");
    predict(log, 1, 140);
    cm_event_log_tell(log);
    cm_event_log_predicted(log, 140, NULL, 0); // a correction took it back
    predict(log, 1, 144);                      // and this is too far to be it
    cm_event_log_tell(log);
    cm_event_log_end(log);
    cr_expect_not_null(strstr(told, "P1@140 P1@144 X1@140 X1@144"), "%s", told);
}

// Of two that are as near the earlier one is meant; else the nearer one.
Test(events, the_nearest_is_meant)
{
    for (uint32_t order = 0; order < 2; order++) {
        cm_event_log *log = open_tolerant_log();
        predict(log, 1, order == 0 ? 120 : 124);
        predict(log, 1, order == 0 ? 124 : 120);
        if (order == 1) {
            predict(log, 1, 124); // stepped again
        }
        cm_event_log_tell(log);
        confirm(log, 1, 122);
        cr_expect_not_null(strstr(told, "C1@122was120"), "%s", told);
        confirm(log, 1, 123);
        cr_expect_not_null(strstr(told, "C1@123was124"), "%s", told);
    }
}

Test(events, what_is_taken_back_before_it_was_told_is_not_told)
{
    cm_event_log *log = open_log();
    predict(log, 1, 120);
    predict(log, 2, 119); // steps back to it
    cm_event_log_tell(log);
    cr_expect_str_eq(told, "P2@119");
    cm_event_log_end(log);
    cr_expect_str_eq(told, "P2@119 X2@119");
}

Test(events, a_tolerance_has_a_limit)
{
    cm_event_log *log = open_tolerant_log();
    predict(log, 9, 200);
    cm_event_log_tell(log);
    confirm(log, 9, 200 + CAROM_EVENT_TOLERANCE_MAX);
    cr_expect_str_eq(told, "P9@200 C9@260was200");
    predict(log, 9, 400);
    cm_event_log_tell(log);
    confirm(log, 9, 401 + CAROM_EVENT_TOLERANCE_MAX);
    cr_expect_not_null(strstr(told, "P9@400 X9@400 C9@461"), "%s", told);
}
