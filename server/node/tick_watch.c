// The kernel's timer on the thread's own clock. It is set anew at most ten times a second, as each
// time is a system call, and runs for that much longer.
#include "server/node/tick_watch.h"

#include <signal.h>
#include <string.h>

bool cm_tick_watch_open(cm_tick_watch *watch)
{
    struct sigevent event;
    memset(watch, 0, sizeof *watch);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGXCPU;
    signal(SIGXCPU, SIG_DFL); // which ends the process
    watch->is_open = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watch->timer) == 0;
    return watch->is_open;
}

static void set(cm_tick_watch *watch, time_t seconds, long microseconds)
{
    struct itimerspec value = {.it_value = {seconds, 1000 * microseconds}};
    (void)timer_settime(watch->timer, 0, &value, NULL);
}

void cm_tick_watch_begin(cm_tick_watch *watch, uint64_t now_us)
{
    bool fresh = watch->is_armed && now_us - watch->armed_us < CM_TICK_WATCH_SLACK_US;
    if (watch->is_open && !fresh) {
        set(watch, CM_TICK_WATCH_S, CM_TICK_WATCH_SLACK_US);
        watch->is_armed = true;
        watch->armed_us = now_us;
    }
}

void cm_tick_watch_make(cm_tick_watch *watch)
{
    if (watch->is_open) {
        set(watch, CM_TICK_WATCH_MAKE_S, 0);
        watch->is_armed = true;
        watch->armed_us = 0; // the next tick's own time is set whatever the clock says
    }
}

void cm_tick_watch_rest(cm_tick_watch *watch)
{
    if (watch->is_armed) {
        set(watch, 0, 0);
        watch->is_armed = false;
    }
}
