// See the header.
#include "client-sdk/src/events.h"

static void deliver(const cm_event_log *log, carom_event_phase phase, const carom_event *event,
                    uint64_t predicted_tick)
{
    if (log->tell != NULL) {
        log->tell(log->context, phase, event, predicted_tick);
    }
}

static void cancel(const cm_event_log *log, const cm_open_event *open)
{
    carom_event event = open->event;
    event.tick = open->told_tick; // its id as it was told
    if (open->told_tick != 0 && !open->met) {
        deliver(log, CAROM_EVENT_CANCELLED, &event, open->told_tick);
    }
}

// Closes the open events that no word of the server about a tick after `last` can be of.
static void close_until(cm_event_log *log, uint64_t last)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < log->count; i++) {
        const cm_open_event open = log->open[i];
        if (last < UINT64_MAX && open.event.tick + open.tolerance > last) {
            log->open[kept++] = open;
        } else {
            cancel(log, &open);
        }
    }
    log->count = kept;
}

static void judge(cm_event_log *log, uint64_t tick)
{
    if (tick > log->judged) {
        log->judged = tick;
        close_until(log, tick);
    }
}

void cm_event_log_begin(cm_event_log *log, uint64_t tick)
{
    if (tick < log->judged) {
        cm_event_log_end(log);
        log->judged = tick;
    }
    log->waiting_tick = 0;
}

static uint32_t tolerance_of(const cm_event_log *log, uint32_t kind)
{
    uint32_t ticks = log->tolerance != NULL ? log->tolerance(kind) : 0;
    return ticks < CAROM_EVENT_TOLERANCE_MAX ? ticks : CAROM_EVENT_TOLERANCE_MAX;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

// The nearest one that is open for an event: of its own tick, or within its tolerance; the earlier
// of two. Where `predicted`, one of another tick that is made anew is another event; else one that
// the server's word has closed is.
static cm_open_event *find(cm_event_log *log, const carom_event *event, uint32_t tolerance,
                           bool predicted)
{
    cm_open_event *best = NULL;
    for (uint32_t i = 0; i < log->count; i++) {
        cm_open_event *open = &log->open[i];
        carom_event same = *event;
        same.tick = open->event.tick;
        uint64_t far = apart(open->event.tick, event->tick);
        bool taken = predicted ? open->made && far > 0 : open->met;
        if (taken || far > tolerance || !carom_event_is_same(&same, &open->event)) {
            continue;
        }
        uint64_t least = best != NULL ? apart(best->event.tick, event->tick) : UINT64_MAX;
        if (far < least || (far == least && open->event.tick < event->tick)) {
            best = open;
        }
    }
    return best;
}

void cm_event_log_predicted(cm_event_log *log, uint64_t tick, const carom_event *events,
                            uint32_t count)
{
    for (uint32_t i = 0; i < log->count; i++) {
        log->open[i].made = log->open[i].made && log->open[i].event.tick < tick;
    }
    for (uint32_t i = 0; i < count && log->tell != NULL; i++) {
        uint32_t tolerance = tolerance_of(log, events[i].kind);
        cm_open_event *open = find(log, &events[i], tolerance, true);
        if (open == NULL && tick > log->judged && log->count < CM_EVENTS_OPEN_MAX) {
            open = &log->open[log->count++];
            *open = (cm_open_event){.tolerance = tolerance};
        }
        if (open != NULL) {
            open->event = events[i];
            open->made = true;
        }
    }
}

void cm_event_log_tell(cm_event_log *log)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < log->count; i++) {
        cm_open_event *open = &log->open[i];
        if (open->told_tick == 0 && !open->met && open->made) {
            open->told_tick = open->event.tick;
            deliver(log, CAROM_EVENT_PREDICTED, &open->event, open->told_tick);
        }
        if (open->told_tick != 0 || open->met) {
            log->open[kept++] = *open;
        }
    }
    log->count = kept; // without what a correction took back before it was told
}

static void confirm(cm_event_log *log, const carom_event *event)
{
    uint32_t tolerance = tolerance_of(log, event->kind);
    cm_open_event *open = find(log, event, tolerance, false);
    uint64_t told_tick = open != NULL ? open->told_tick : 0;
    if (open != NULL && tolerance == 0) {
        *open = log->open[--log->count];
    } else if (open != NULL) {
        open->met = true;
    } else if (tolerance > 0 && log->count < CM_EVENTS_OPEN_MAX) {
        log->open[log->count++] =
            (cm_open_event){.met = true, .tolerance = tolerance, .event = *event};
    }
    deliver(log, CAROM_EVENT_CONFIRMED, event, told_tick);
}

void cm_event_log_confirmed(cm_event_log *log, uint64_t tick, const carom_event *events,
                            uint32_t count)
{
    // Cancels of earlier ticks are reported before confirmations of this one.
    judge(log, tick > 0 ? tick - 1 : 0);
    for (uint32_t i = 0; i < count; i++) {
        confirm(log, &events[i]);
    }
    judge(log, tick);
}

void cm_event_log_view(cm_event_log *log, uint64_t confirmed, bool counts, uint16_t messages,
                       uint64_t messages_had)
{
    if (confirmed <= log->judged || confirmed < log->waiting_tick) {
        return;
    }
    log->waiting_tick = confirmed;
    log->waiting_messages = counts ? messages : (uint16_t)messages_had;
    cm_event_log_messages(log, messages_had);
}

void cm_event_log_messages(cm_event_log *log, uint64_t messages_had)
{
    bool all = (int16_t)(uint16_t)((uint16_t)messages_had - log->waiting_messages) >= 0;
    if (log->waiting_tick > 0 && all) {
        uint64_t tick = log->waiting_tick;
        log->waiting_tick = 0;
        judge(log, tick);
    }
}

void cm_event_log_end(cm_event_log *log)
{
    close_until(log, UINT64_MAX);
    log->judged = log->waiting_tick = 0;
}
