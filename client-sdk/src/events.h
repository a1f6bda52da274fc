// The client's log of open events: those that its prediction made and the server has not confirmed
// or cancelled yet. A prediction may run a tick many times; each event is reported once as
// predicted, and once more as confirmed or cancelled, when the tick is final on the server. Pure:
// reports go to a callback.
//
// Where the module names a tolerance, an event of one tick is that of another, if kind, key and
// subjects are the same. A correction then moves what is open, where the newest run of its ticks
// made it in another one; and the server's is the nearest that is open. One that the server's word
// has closed stays here until nothing within the tolerance is predicted any more.
//
// The server confirms a tick with events by an Events message, and a tick without any by a view:
// every tick before its rewind window is confirmed, and the view counts the messages sent before.
// The two may overtake each other. In a recorded match neither is sent before its tick is durable,
// so that a server that resumes after a crash sends the same. Typical: no open event, or one that
// waits for 300 ms.
#ifndef CM_CLIENT_EVENTS_H
#define CM_CLIENT_EVENTS_H

#include "carom/client.h"

#define CM_EVENTS_OPEN_MAX 128u // events beyond are reported as confirmed only

typedef struct cm_open_event {
    bool made;          // by the newest run of its tick
    bool met;           // the server's word closed it
    uint64_t told_tick; // that it was announced with as predicted; 0: it was not
    uint32_t tolerance; // ticks
    carom_event event;
} cm_open_event;

typedef void cm_event_teller(void *context, carom_event_phase phase, const carom_event *event,
                             uint64_t predicted_tick);

typedef struct cm_event_log {
    cm_event_teller *tell; // NULL: no reports
    void *context;
    uint32_t (*tolerance)(uint32_t kind); // the module's, or NULL
    uint64_t judged;                      // of all ticks up to this one the server's word is known
    // A view's word that waits for the messages before it; tick 0: none.
    uint64_t waiting_tick;
    uint16_t waiting_messages;
    uint32_t count;
    cm_open_event open[CM_EVENTS_OPEN_MAX]; // in the order in which they were predicted
} cm_event_log;

// A room begins at a tick, or goes on. One that goes on before what was judged is another.
void cm_event_log_begin(cm_event_log *log, uint64_t tick);
// The prediction stepped a tick, perhaps not for the first time, and will step those after it.
void cm_event_log_predicted(cm_event_log *log, uint64_t tick, const carom_event *events,
                            uint32_t count);
// Tells what was predicted since the last time, and is still: when the prediction has settled for
// this update.
void cm_event_log_tell(cm_event_log *log);
// An Events message of a tick, in order; and then of how many messages it was the last one.
void cm_event_log_confirmed(cm_event_log *log, uint64_t tick, const carom_event *events,
                            uint32_t count);
// A view confirms all ticks up to this one. `counts`: the view has the number of messages sent
// before, mod 2^16; without it no Events message was sent.
void cm_event_log_view(cm_event_log *log, uint64_t confirmed, bool counts, uint16_t messages,
                       uint64_t messages_had);
// Another message came: so many now.
void cm_event_log_messages(cm_event_log *log, uint64_t messages_had);
// Nobody will judge what is open: it is cancelled.
void cm_event_log_end(cm_event_log *log);

#endif
