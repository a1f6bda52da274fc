// Goal: what must not be lost between supervisor and worker is not, however long the other end does
// not read, while lines and metrics are left out; and a link that was full once is as good as new
// when it is read. Half a message is none. Method: both ends by hand.
#include "server/node/control_link.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    message.type = CM_WORKER_SENDS_USED;
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
        cm_worker_link_text(&r->here, CM_WORKER_SENDS_LOG, 1, text);
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
        if (message.type == CM_WORKER_SENDS_USED) {
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
        message.type = CM_WORKER_SENDS_USED;
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
        cm_worker_link_text(&here, CM_WORKER_SENDS_LOG, 1, text);
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

// None is taken for another kind of message of the same size.
Test(worker_link, a_line_may_have_any_length)
{
    rig r;
    char text[1024] = "";
    make(&r);
    for (size_t length = 0; length < sizeof text; length++) {
        cm_worker_link_text(&r.here, CM_WORKER_SENDS_LOG, 1, text);
        cr_assert_eq(cm_worker_link_next(&r.there, &message), CM_WORKER_LINK_MESSAGE, "%zu",
                     length);
        cr_assert_str_eq(message.line.text, text);
        text[length] = 'x';
        text[length + 1 < sizeof text ? length + 1 : length] = '\0';
    }
    release(&r);
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

// What one end sends by hand, as another would who is no node: so many bytes of a message.
static cm_worker_link_state pass(int end, cm_worker_link *there, const void *bytes, size_t size)
{
    static cm_worker_message heard;
    cr_assert_eq(send(end, bytes, size, MSG_DONTWAIT), (ssize_t)size);
    return cm_worker_link_next(there, &heard);
}

Test(worker_link, a_part_of_a_message_is_none)
{
    int ends[2];
    cm_worker_link there;
    const uint32_t payload = offsetof(cm_worker_message, line);
    const struct {
        uint32_t type;
        size_t size;
    } whole[] = {{CM_WORKER_SENDS_ROOM, sizeof message.room},
                 {CM_WORKER_SENDS_READY, sizeof message.used},
                 {CM_WORKER_SENDS_LOG, offsetof(cm_worker_message, line.text) - payload + 6},
                 {CM_WORKER_SENDS_ANSWER, offsetof(cm_worker_message, ask.text) - payload + 6},
                 {CM_WORKER_SENDS_USED, sizeof message.used},
                 {CM_WORKER_SENDS_TOTALS, offsetof(cm_worker_message, metrics.bytes) - payload + 5},
                 {CM_WORKER_RECEIVES_PART, offsetof(cm_worker_message, part.bytes) - payload + 5},
                 {CM_WORKER_RECEIVES_TICKET, sizeof message.ticket},
                 {CM_WORKER_RECEIVES_OPEN, sizeof message.open},
                 {CM_WORKER_RECEIVES_MATCH, sizeof message.match},
                 {CM_WORKER_RECEIVES_PORTS, sizeof message.ports},
                 {CM_WORKER_RECEIVES_KEYS, sizeof message.keys}};
    cr_assert(cm_worker_link_pair(ends));
    cm_worker_link_open(&there, ends[1]);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        memset(&message, 0, sizeof message);
        message.type = whole[i].type;
        if (message.type == CM_WORKER_SENDS_LOG) {
            strcpy(message.line.text, "hello");
        } else if (message.type == CM_WORKER_SENDS_ANSWER) {
            strcpy(message.ask.text, "hello");
        } else if (message.type == CM_WORKER_SENDS_TOTALS) {
            message.metrics.size = 5;
        } else if (message.type == CM_WORKER_RECEIVES_PART) {
            message.part.size = 5;
        }
        size_t size = payload + whole[i].size;
        cr_expect_eq(pass(ends[0], &there, &message, size), CM_WORKER_LINK_MESSAGE, "%u",
                     message.type);
        cr_expect_eq(pass(ends[0], &there, &message, size - 1), CM_WORKER_LINK_BROKEN, "%u",
                     message.type);
        cr_expect_eq(pass(ends[0], &there, &message, 5), CM_WORKER_LINK_BROKEN, "%u", message.type);
    }
    message = (cm_worker_message){.type = CM_WORKER_SENDS_ROOM};
    memset(message.room.name, 'x', sizeof message.room.name);
    cr_expect_eq(pass(ends[0], &there, &message, sizeof message), CM_WORKER_LINK_BROKEN, "no end");
    message = (cm_worker_message){.type = CM_WORKER_SENDS_TOTALS};
    message.metrics.size = CM_WORKER_TEXT_MAX + 1;
    cr_expect_eq(pass(ends[0], &there, &message, sizeof message), CM_WORKER_LINK_BROKEN);
    message = (cm_worker_message){.type = CM_WORKER_MESSAGE_TYPES};
    cr_expect_eq(pass(ends[0], &there, &message, sizeof message), CM_WORKER_LINK_BROKEN);
    message.type = 0;
    cr_expect_eq(pass(ends[0], &there, &message, sizeof message), CM_WORKER_LINK_BROKEN);
    cm_worker_link_close(&there);
    close(ends[0]);
}

// Two ends of one process: in order, with nothing lost, and the end is an end.
Test(worker_link, two_ends_of_one_process)
{
    cm_worker_link here, there;
    static uint8_t bytes[3 * CM_WORKER_TEXT_MAX + 11];
    cm_worker_link_join(&here, &there);
    cr_expect_eq(cm_worker_link_next(&there, &message), CM_WORKER_LINK_EMPTY);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7 >> 3);
    }
    cm_worker_link_bytes(&here, CM_WORKER_PART_SCENE, bytes, sizeof bytes);
    cm_worker_link_text(&there, CM_WORKER_SENDS_LOG, 3, "back");
    cm_worker_link_close(&here);
    size_t at = 0;
    while (cm_worker_link_next(&there, &message) == CM_WORKER_LINK_MESSAGE) {
        cr_assert_eq(message.type, CM_WORKER_RECEIVES_PART);
        cr_assert_eq(message.part.total, sizeof bytes);
        cr_assert_eq(memcmp(message.part.bytes, bytes + at, message.part.size), 0);
        at += message.part.size;
    }
    cr_expect_eq(at, sizeof bytes);
    cr_expect_eq(cm_worker_link_next(&there, &message), CM_WORKER_LINK_ENDED);
    cm_worker_link_text(&there, CM_WORKER_SENDS_LOG, 3, "to nobody");
    cm_worker_link_close(&there);
}
