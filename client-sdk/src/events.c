// See the header.
#include "client-sdk/src/events.h"

static void deliver(const cm_event_log *log, carom_event_phase phase, const carom_event *event)
{
    if (log->tell != NULL) {
        log->tell(log->context, phase, event);
    }
}

// Closes the open events of ticks up to `last`: those that were announced are cancelled.
static void cancel(cm_event_log *log, uint64_t last)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < log->count; i++) {
        const cm_open_event open = log->open[i];
        if (open.event.tick > last) {
            log->open[kept++] = open;
        } else if (open.announced) {
            deliver(log, CAROM_EVENT_CANCELLED, &open.event);
        }
    }
    log->count = kept;
}

static void judge(cm_event_log *log, uint64_t tick)
{
    if (tick > log->judged) {
        log->judged = tick;
        cancel(log, tick);
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

static cm_open_event *find(cm_event_log *log, const carom_event *event)
{
    for (uint32_t i = 0; i < log->count; i++) {
        if (carom_event_is_same(&log->open[i].event, event)) {
            return &log->open[i];
        }
    }
    return NULL;
}

void cm_event_log_predicted(cm_event_log *log, const carom_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count && log->tell != NULL; i++) {
        if (events[i].tick > log->judged && log->count < CM_EVENTS_OPEN_MAX &&
            find(log, &events[i]) == NULL) {
            log->open[log->count++] = (cm_open_event){false, events[i]};
        }
    }
}

void cm_event_log_tell(cm_event_log *log)
{
    for (uint32_t i = 0; i < log->count; i++) {
        if (!log->open[i].announced) {
            log->open[i].announced = true;
            deliver(log, CAROM_EVENT_PREDICTED, &log->open[i].event);
        }
    }
}

void cm_event_log_confirmed(cm_event_log *log, uint64_t tick, const carom_event *events,
                            uint32_t count)
{
    // Cancels of earlier ticks are reported before confirmations of this one.
    judge(log, tick > 0 ? tick - 1 : 0);
    for (uint32_t i = 0; i < count; i++) {
        cm_open_event *open = find(log, &events[i]);
        if (open != NULL) {
            *open = log->open[--log->count];
        }
        deliver(log, CAROM_EVENT_CONFIRMED, &events[i]);
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
    cancel(log, UINT64_MAX);
    log->judged = log->waiting_tick = 0;
}
