// Goal: where two workers open a room of one name at the same moment, the one that says so last has
// to close it, the other one keeps it, and nobody is told of a second one; when it is gone, the
// room that stays is still there. Method: a real supervisor with two processes, which write what
// they are told into a pipe; what workers say is said by hand.
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/supervisor/supervisor.h"

#define WORKERS 2u

static int told[2]; // the pipe

static const char *say_what(const cm_worker_message *message)
{
    static char text[CM_ADMIN_REQUEST_MAX + 16];
    switch (message->type) {
    case CM_WORKER_TOLD_ASK:
        snprintf(text, sizeof text, "ask %s", message->ask.text);
        return text;
    case CM_WORKER_TOLD_ROOM:
        snprintf(text, sizeof text, "room %s", message->room.name);
        return text;
    case CM_WORKER_TOLD_GONE:
        snprintf(text, sizeof text, "gone %s", message->room.name);
        return text;
    default:
        return "other";
    }
}

// A worker: writes a line for each message, until the drain.
static int listen_only(void *user, uint32_t worker, int descriptor)
{
    static cm_worker_message message; // too large for a stack
    cm_worker_link link = {0};
    (void)user;
    cm_worker_link_open(&link, descriptor);
    for (bool drained = false; !drained;) {
        struct pollfd fd = {.fd = descriptor, .events = POLLIN};
        (void)poll(&fd, 1, -1);
        cm_worker_link_state state;
        while ((state = cm_worker_link_next(&link, &message)) == CM_WORKER_LINK_MESSAGE) {
            drained = drained || message.type == CM_WORKER_TOLD_DRAIN;
            if (!drained) {
                dprintf(told[1], "%u %s\n", worker, say_what(&message));
            }
        }
        drained = drained || state == CM_WORKER_LINK_ENDED;
    }
    return 0;
}

static void say_nothing(void *user, uint32_t worker, const cm_worker_message *message)
{
    (void)user;
    (void)worker;
    (void)message;
}

static bool is_over(void *user, uint32_t worker, int status)
{
    (void)user;
    (void)worker;
    cr_expect_eq(status, 0);
    return false;
}

static void says(cm_serve_server *s, uint32_t worker, uint32_t type, const char *room)
{
    static cm_worker_message message;
    memset(&message, 0, sizeof message);
    message.type = type;
    snprintf(message.room.name, sizeof message.room.name, "%s", room);
    message.room.match_id = 7 + worker;
    message.room.port = (uint16_t)(9400 + worker);
    cm_serve_said(s, worker, &message);
}

// Sends all that waits, ends the workers and returns what they were told, one after another.
static void collect(cm_serve_server *s, char text[2][512])
{
    static char all[2048];
    memset(text, 0, 2 * sizeof text[0]);
    for (uint32_t i = 0; i < WORKERS; i++) {
        cm_worker_link_text(cm_supervisor_link(s->supervisor, i), CM_WORKER_TOLD_DRAIN, 0, "");
    }
    for (uint64_t now = 0; cm_supervisor_living(s->supervisor) > 0; now += 1000) {
        cm_supervisor_turn(s->supervisor, now);
        usleep(1000);
    }
    close(told[1]);
    size_t size = 0;
    for (ssize_t got; (got = read(told[0], all + size, sizeof all - 1 - size)) > 0;) {
        size += (size_t)got;
    }
    all[size] = '\0';
    for (char *line = strtok(all, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *of = text[line[0] - '0'];
        snprintf(of + strlen(of), 512 - strlen(of), "%s;", line + 2);
    }
}

Test(serve_said, of_two_rooms_of_one_name_one_goes)
{
    static cm_serve_server s;
    static cm_serve_base base;
    char text[2][512];
    cr_assert_eq(pipe(told), 0);
    s.base = &base;
    s.count = s.seats = WORKERS;
    cm_supervisor_def def = {.workers = WORKERS,
                             .keep = told[1],
                             .work = listen_only,
                             .said = say_nothing,
                             .ended = is_over,
                             .user = &s};
    s.supervisor = cm_supervisor_create(&def);
    for (uint32_t i = 0; i < WORKERS; i++) {
        cr_assert(cm_supervisor_start(s.supervisor, i));
    }
    says(&s, 0, CM_WORKER_SAYS_ROOM, "duel");
    says(&s, 1, CM_WORKER_SAYS_ROOM, "duel"); // the same moment
    const cm_home *home = cm_homes_find(&s.homes, "duel");
    cr_assert_not_null(home);
    cr_expect_eq(home->worker, 0);
    cr_expect_eq(home->room.match_id, 7);
    says(&s, 1, CM_WORKER_SAYS_GONE, "duel"); // it did
    home = cm_homes_find(&s.homes, "duel");
    cr_assert_not_null(home, "the other one is there");
    cr_expect_eq(home->worker, 0);
    says(&s, 0, CM_WORKER_SAYS_GONE, "duel");
    cr_expect_null(cm_homes_find(&s.homes, "duel"));
    collect(&s, text);
    cr_expect_str_eq(text[0], "");
    cr_expect_str_eq(text[1], "room duel;ask {\"command\":\"close\",\"room\":\"duel\"};gone duel;");
    cm_supervisor_destroy(s.supervisor);
    cm_homes_free(&s.homes);
    close(told[0]);
}
