// Ends this process by SIGXCPU when one tick uses more than CM_TICK_WATCH_S of processor time, or
// making a room (20,000 bodies take a second) more than CM_TICK_WATCH_MAKE_S. Time in which the
// process is stopped, or others have the processor, does not count.
#ifndef CM_SERVER_NODE_TICK_WATCH_H
#define CM_SERVER_NODE_TICK_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CM_TICK_WATCH_S      1
#define CM_TICK_WATCH_MAKE_S 15

typedef struct cm_tick_watch {
    timer_t timer;
    bool is_open, is_armed;
    uint64_t armed_us;
} cm_tick_watch; // zeroed: it watches nothing

// Of the thread that calls it. False with errno: there is no such timer.
bool cm_tick_watch_open(cm_tick_watch *watch);
// A tick begins: the time before it counts no more, but for CM_TICK_WATCH_SLACK_US of it.
#define CM_TICK_WATCH_SLACK_US 100000u
void cm_tick_watch_begin(cm_tick_watch *watch, uint64_t now_us);
// A room's games are made, by the module's own code too; then cm_tick_watch_rest.
void cm_tick_watch_make(cm_tick_watch *watch);
// The work that follows is no tick and may take long.
void cm_tick_watch_rest(cm_tick_watch *watch);

#endif
