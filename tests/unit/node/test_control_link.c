// Goal: what must not be lost between supervisor and worker is not, however long the other end does
// not read, while lines and figures are left out; and a link that was full once is as good as new
// when it is read. Method: both ends by hand.
#include "server/node/control_link.h"

#include <criterion/criterion.h>
#include <string.h>

typedef struct rig {
    cm_worker_link here, there;
} rig;

static cm_worker_message message;

static void make(rig *r)
{
    int ends[2];
    cr_assert(cm_worker_link_pair(ends));
    cm_worker_link_open(&r->here, ends[0]);
    cm_worker_link_open(&r->there, ends[1]);
}

static void release(rig *r)
{
    cm_worker_link_close(&r->here);
    cm_worker_link_close(&r->there);
}

static void send_used(rig *r, uint64_t number)
{
    message.type = CM_WORKER_SAYS_USED;
    message.used.expires_unix_s = number;
    cm_worker_link_send(&r->here, &message);
}

// Lines until some are left out; returns how many.
static uint64_t fill(rig *r)
{
    static char text[CM_WORKER_TEXT_MAX];
    uint64_t before = r->here.left_out;
    memset(text, 'x', sizeof text - 1);
    for (uint32_t i = 0; i < 2 * CM_WORKER_WAITING_MAX / CM_WORKER_TEXT_MAX; i++) {
        cm_worker_link_text(&r->here, CM_WORKER_SAYS_LOG, 1, text);
    }
    return r->here.left_out - before;
}

// Reads all that was sent; returns how many lines. Numbers of used tokens go on from `used`.
static uint32_t drain(rig *r, uint64_t *used)
{
    uint32_t lines = 0;
    for (;;) {
        cm_worker_link_state state = cm_worker_link_next(&r->there, &message);
        if (state == CM_WORKER_LINK_EMPTY) {
            cr_assert(cm_worker_link_flush(&r->here));
            state = cm_worker_link_next(&r->there, &message);
        }
        if (state != CM_WORKER_LINK_MESSAGE) {
            return lines;
        }
        if (message.type == CM_WORKER_SAYS_USED) {
            cr_assert_eq(message.used.expires_unix_s, *used);
            (*used)++;
        } else {
            lines++;
        }
    }
}

// Nothing is lost and nothing blocks while the other end does not read; lines alone are left out.
Test(worker_link, keeps_what_the_socket_does_not_take)
{
    int ends[2];
    cm_worker_link here, there;
    cr_assert(cm_worker_link_pair(ends));
    cm_worker_link_open(&here, ends[0]);
    cm_worker_link_open(&there, ends[1]);
    for (uint32_t i = 0; i < 20000; i++) {
        message.type = CM_WORKER_SAYS_USED;
        message.used.expires_unix_s = i;
        cm_worker_link_send(&here, &message);
    }
    cr_expect(cm_worker_link_is_full(&here));
    for (uint32_t i = 0; i < 20000; i++) {
        cm_worker_link_state state = cm_worker_link_next(&there, &message);
        if (state == CM_WORKER_LINK_EMPTY) {
            cr_assert(cm_worker_link_flush(&here));
            state = cm_worker_link_next(&there, &message);
        }
        cr_assert_eq(state, CM_WORKER_LINK_MESSAGE);
        cr_assert_eq(message.used.expires_unix_s, i);
    }
    static char text[CM_WORKER_TEXT_MAX + 100];
    memset(text, 'x', sizeof text - 1);
    for (uint32_t i = 0; i < 3 * CM_WORKER_WAITING_MAX / CM_WORKER_TEXT_MAX; i++) {
        cm_worker_link_text(&here, CM_WORKER_SAYS_LOG, 1, text);
    }
    cr_expect_gt(here.left_out, 0);
    cr_expect_leq(here.waiting, CM_WORKER_WAITING_MAX);
    cm_worker_link_close(&here);
    uint32_t heard = 0;
    while (cm_worker_link_next(&there, &message) == CM_WORKER_LINK_MESSAGE) {
        cr_assert_eq(strlen(message.line.text), CM_WORKER_TEXT_MAX - 1, "cut");
        heard++;
    }
    cr_expect_gt(heard, 0, "what was sent before the end is there");
    cm_worker_link_close(&there);
}

// A link full of lines still takes what others have to know.
Test(worker_link, a_full_one_takes_used_tokens)
{
    rig r;
    uint64_t used = 0;
    make(&r);
    cr_assert_gt(fill(&r), 0);
    uint64_t left_out = r.here.left_out;
    for (uint32_t i = 0; i < 1000; i++) {
        send_used(&r, i);
    }
    cr_expect_eq(r.here.left_out, left_out);
    cr_expect_gt(drain(&r, &used), 0);
    cr_expect_eq(used, 1000);
    release(&r);
}

// Its bytes are counted while they wait, not for ever.
Test(worker_link, one_that_was_full_is_as_new_when_it_is_read)
{
    rig r;
    uint64_t used = 0;
    make(&r);
    for (uint32_t round = 0; round < 3; round++) {
        cr_assert_gt(fill(&r), 0);
        uint64_t waiting = r.here.waiting;
        cr_expect_gt(waiting, CM_WORKER_WAITING_MAX / 2);
        cr_expect_leq(waiting, CM_WORKER_WAITING_MAX);
        cr_expect_gt(drain(&r, &used), CM_WORKER_WAITING_MAX / CM_WORKER_TEXT_MAX / 2);
        cr_expect_eq(r.here.waiting, 0);
        cr_expect_not(cm_worker_link_is_full(&r.here));
    }
    release(&r);
}
