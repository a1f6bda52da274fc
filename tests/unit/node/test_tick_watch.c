// Goal: a tick has a tick's processor time, whatever was made before it: none keeps the longer time
// of a making. Method: the kernel's timer is read after each call.
#include "server/node/tick_watch.h"

#include <criterion/criterion.h>

#define TICK_US (1000000u * CM_TICK_WATCH_S + CM_TICK_WATCH_SLACK_US)

// What is left until it would end the process; 0: it would not.
static uint64_t left_us(const cm_tick_watch *watch)
{
    struct itimerspec value;
    cr_assert_eq(timer_gettime(watch->timer, &value), 0);
    return (uint64_t)value.it_value.tv_sec * 1000000u + (uint64_t)value.it_value.tv_nsec / 1000u;
}

static void expect_tick(const cm_tick_watch *watch)
{
    uint64_t left = left_us(watch);
    cr_expect(left > 0 && left <= TICK_US, "%llu us", (unsigned long long)left);
}

static void expect_making(const cm_tick_watch *watch)
{
    uint64_t left = left_us(watch);
    cr_expect(left > TICK_US && left <= 1000000u * CM_TICK_WATCH_MAKE_S, "%llu us",
              (unsigned long long)left);
}

Test(tick_watch, a_tick_has_its_own_time_whatever_was_before)
{
    cm_tick_watch watch;
    uint64_t now = 5000000;
    cr_assert(cm_tick_watch_open(&watch));
    cr_expect_eq(left_us(&watch), 0);
    cm_tick_watch_make(&watch); // the first rooms
    expect_making(&watch);
    cm_tick_watch_begin(&watch, now);
    expect_tick(&watch);
    cm_tick_watch_make(&watch); // another one, right after a tick
    expect_making(&watch);
    cm_tick_watch_begin(&watch, now + CM_TICK_WATCH_SLACK_US / 2);
    expect_tick(&watch);
    cm_tick_watch_make(&watch);
    cm_tick_watch_rest(&watch);
    cr_expect_eq(left_us(&watch), 0);
    cm_tick_watch_begin(&watch, now + CM_TICK_WATCH_SLACK_US - 1);
    expect_tick(&watch);
    cm_tick_watch_rest(&watch);
    cr_expect_eq(left_us(&watch), 0);
    timer_delete(watch.timer);
}

Test(tick_watch, what_is_not_open_watches_nothing)
{
    cm_tick_watch watch = {0};
    cm_tick_watch_begin(&watch, 1);
    cm_tick_watch_make(&watch);
    cm_tick_watch_rest(&watch);
    cr_expect_not(watch.is_armed);
}
