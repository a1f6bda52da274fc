// Goal: where two workers open a room of one name at the same moment, the one that says so last has
// to close it, the other one keeps it, and nobody is told of a second one; when it is gone, the
// room that stays is still there. A worker that cannot be run, one whose link is broken and one
// that floods it harm nobody else. Method: a supervisor with two workers of this process, which
// read what they are told; what workers say is said by hand. Then real processes.
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/supervisor/supervisor.h"
#include "tests/unit/node/serving.h"

#define WORKERS 2u
#define PLACES  3u // of workers; the last is for a room alone

static cm_worker_message message; // too large for a stack

static const char *say_what(void)
{
    static char text[CM_ADMIN_REQUEST_MAX + 16];
    switch (message.type) {
    case CM_WORKER_RECEIVES_ASK:
        snprintf(text, sizeof text, "ask %s", message.ask.text);
        return text;
    case CM_WORKER_RECEIVES_ROOM:
        snprintf(text, sizeof text, "room %s", message.room.name);
        return text;
    case CM_WORKER_RECEIVES_GONE:
        snprintf(text, sizeof text, "gone %s", message.room.name);
        return text;
    case CM_WORKER_RECEIVES_RELEASE:
        snprintf(text, sizeof text, "release %s", message.room.name);
        return text;
    case CM_WORKER_RECEIVES_SLOW:
        snprintf(text, sizeof text, "slow %s", message.room.name);
        return text;
    default:
        return "other";
    }
}

// What a worker was told, one after another.
static const char *told(cm_worker_link *link)
{
    static char text[512];
    text[0] = '\0';
    while (cm_worker_link_next(link, &message) == CM_WORKER_LINK_MESSAGE) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.200s;", say_what());
    }
    return text;
}

static void do_nothing(void *user, uint32_t worker)
{
    (void)user;
    (void)worker;
}

static void says(cm_server *s, uint32_t worker, uint32_t type, const char *room)
{
    memset(&message, 0, sizeof message);
    message.type = type;
    snprintf(message.room.name, sizeof message.room.name, "%s", room);
    message.room.match_id = 7 + worker;
    message.room.port = (uint16_t)(9400 + worker);
    cm_server_on_message(s, worker, &message);
}

Test(supervised_messages, of_two_rooms_of_one_name_one_goes)
{
    static cm_server s;
    static cm_server_base base;
    cm_worker_link *links[WORKERS];
    s.base = &base;
    s.count = s.slots = WORKERS;
    cm_supervisor_def def = {.workers = WORKERS, .started = do_nothing, .user = &s};
    s.supervisor = cm_supervisor_create(&def);
    for (uint32_t i = 0; i < WORKERS; i++) {
        links[i] = cm_supervisor_attach(s.supervisor, i);
    }
    says(&s, 0, CM_WORKER_SENDS_ROOM, "duel");
    says(&s, 1, CM_WORKER_SENDS_ROOM, "duel"); // the same moment
    const cm_directory_entry *entry = cm_room_directory_find(&s.directory, "duel");
    cr_assert_not_null(entry);
    cr_expect_eq(entry->worker, 0);
    cr_expect_eq(entry->room.match_id, 7);
    says(&s, 1, CM_WORKER_SENDS_GONE, "duel"); // it did
    entry = cm_room_directory_find(&s.directory, "duel");
    cr_assert_not_null(entry, "the other one is there");
    cr_expect_eq(entry->worker, 0);
    says(&s, 0, CM_WORKER_SENDS_GONE, "duel");
    cr_expect_null(cm_room_directory_find(&s.directory, "duel"));
    cr_expect_str_eq(told(links[0]), "");
    cr_expect_str_eq(told(links[1]),
                     "room duel;ask {\"command\":\"close\",\"room\":\"duel\"};gone duel;");
    cm_supervisor_destroy(s.supervisor);
    cm_room_directory_free(&s.directory);
}

// Slow rooms -----------------------------------------------------------------------------------

static void say_nothing(void *user, uint32_t worker, const cm_worker_message *from)
{
    (void)user;
    (void)worker;
    (void)from;
}

static bool is_over(void *user, uint32_t worker, int status)
{
    (void)user;
    (void)worker;
    (void)status;
    return false;
}

static int give_none(void *user, uint32_t worker)
{
    (void)user;
    (void)worker;
    return -1;
}

// Two workers of this process; the one with "duel" and "other" is 0, 1 has "alone".
static void make_slow(cm_server *s, cm_server_base *base, cm_worker_link *links[WORKERS])
{
    memset(s, 0, sizeof *s);
    memset(base, 0, sizeof *base);
    strcpy(base->config.listen, "127.0.0.1:0");
    s->base = base;
    s->count = WORKERS;
    s->slots = PLACES;
    s->ready = true;
    cm_supervisor_def def = {.workers = PLACES,
                             .program = "/bin/true",
                             .keep = -1,
                             .gives = give_none,
                             .started = do_nothing,
                             .on_message = say_nothing,
                             .broke = do_nothing,
                             .ended = is_over,
                             .user = s};
    s->supervisor = cm_supervisor_create(&def);
    for (uint32_t i = 0; i < WORKERS; i++) {
        links[i] = cm_supervisor_attach(s->supervisor, i);
        s->workers[i].ready = true;
    }
    says(s, 0, CM_WORKER_SENDS_ROOM, "duel");
    says(s, 0, CM_WORKER_SENDS_ROOM, "other");
    says(s, 1, CM_WORKER_SENDS_ROOM, "alone");
}

// A room that is slow beside others is asked for, and its own worker starts when it was let go of;
// no sooner, since two would have its file. One that is alone stays.
Test(supervised_messages, a_slow_room_moves_when_its_worker_let_go_of_it)
{
    static cm_server s;
    static cm_server_base base;
    cm_worker_link *links[WORKERS];
    make_slow(&s, &base, links);
    says(&s, 1, CM_WORKER_SENDS_OVER, "alone");
    says(&s, 1, CM_WORKER_SENDS_OVER, "duel"); // it is not that worker's
    says(&s, 0, CM_WORKER_SENDS_RELEASED, "duel");
    cr_assert_eq(cm_room_directory_find(&s.directory, "duel")->worker, 0);
    says(&s, 0, CM_WORKER_SENDS_OVER, "duel");
    const cm_directory_entry *entry = cm_room_directory_find(&s.directory, "duel");
    cr_expect_eq(entry->worker, 2);
    cr_expect_eq(entry->room.port, s.workers[2].port);
    cr_expect_not(entry->is_open);
    says(&s, 0, CM_WORKER_SENDS_OVER, "duel"); // it was said already
    says(&s, 1, CM_WORKER_SENDS_RELEASED, "duel");
    cm_supervisor_turn(s.supervisor, 1000000);
    cr_expect_not(cm_supervisor_lives(s.supervisor, 2), "its worker has the file");
    says(&s, 0, CM_WORKER_SENDS_GONE, "duel"); // as it let go of it
    says(&s, 0, CM_WORKER_SENDS_RELEASED, "duel");
    cr_assert_not_null(cm_room_directory_find(&s.directory, "duel"));
    cm_supervisor_turn(s.supervisor, 1000000);
    cr_expect(cm_supervisor_lives(s.supervisor, 2));
    cr_expect_str_eq(told(links[0]), "room alone;release duel;");
    cr_expect_str_eq(told(links[1]), "room duel;room other;");
    cm_supervisor_destroy(s.supervisor);
    cm_room_directory_free(&s.directory);
}

// No place is left, or the match cannot go on elsewhere.
Test(supervised_messages, a_slow_room_without_a_place_is_slowed)
{
    static cm_server s;
    static cm_server_base base;
    cm_worker_link *links[WORKERS];
    make_slow(&s, &base, links);
    says(&s, 0, CM_WORKER_SENDS_OVER, "duel");
    says(&s, 0, CM_WORKER_SENDS_OVER, "other"); // alone by then
    says(&s, 0, CM_WORKER_SENDS_KEPT, "duel");
    const cm_directory_entry *entry = cm_room_directory_find(&s.directory, "duel");
    cr_expect_eq(entry->worker, 0);
    cr_expect(entry->is_open);
    cr_expect_not(s.workers[2].isolated);
    s.workers[2].isolated = true; // another room's
    says(&s, 0, CM_WORKER_SENDS_OVER, "duel");
    cr_expect_eq(cm_room_directory_find(&s.directory, "duel")->worker, 0);
    cr_expect_str_eq(told(links[0]), "room alone;release duel;slow duel;");
    cm_supervisor_destroy(s.supervisor);
    cm_room_directory_free(&s.directory);
}

// Processes ------------------------------------------------------------------------------------

typedef struct seen {
    uint32_t on_message, broken, ended;
    int status; // as of waitpid
} seen;

static void count_said(void *user, uint32_t worker, const cm_worker_message *from)
{
    seen *of = user;
    (void)worker;
    (void)from;
    of->on_message++;
}

static void count_broken(void *user, uint32_t worker)
{
    seen *of = user;
    (void)worker;
    of->broken++;
}

static bool note_end(void *user, uint32_t worker, int status)
{
    seen *of = user;
    (void)worker;
    of->ended++;
    of->status = status;
    return false;
}

static int crash_marker_fd = -1;

static int give_vitals(void *user, uint32_t worker)
{
    (void)user;
    (void)worker;
    return crash_marker_fd;
}

static cm_supervisor *make(seen *of, const char *program)
{
    cm_supervisor_def def = {.workers = 1,
                             .program = program,
                             .keep = -1,
                             .gives = give_vitals,
                             .started = do_nothing,
                             .broke = count_broken,
                             .on_message = count_said,
                             .ended = note_end,
                             .user = of};
    return cm_supervisor_create(&def);
}

static void run_out(cm_supervisor *supervisor)
{
    for (uint64_t now = 0; cm_supervisor_living(supervisor) > 0; now += 1000) {
        cm_supervisor_turn(supervisor, now);
        struct pollfd fds[CM_WORKERS_MAX];
        (void)poll(fds, cm_supervisor_poll(supervisor, fds), 10);
    }
}

Test(processes, a_program_that_cannot_run_is_an_error_of_the_start)
{
    seen of = {0};
    const char *programs[] = {"/nowhere/at/all", "/etc/passwd", "/"};
    const int why[] = {ENOENT, EACCES, EACCES};
    for (size_t i = 0; i < 3; i++) {
        cm_supervisor *supervisor = make(&of, programs[i]);
        errno = 0;
        cr_expect_not(cm_supervisor_start(supervisor, 0), "%s", programs[i]);
        cr_expect_eq(errno, why[i], "%s: %s", programs[i], strerror(errno));
        cr_expect_not(cm_supervisor_lives(supervisor, 0));
        cr_expect_eq(cm_supervisor_living(supervisor), 0, "and it is not waited for");
        cm_supervisor_destroy(supervisor);
    }
    cr_expect_eq(of.on_message + of.broken + of.ended, 0);
}

Test(processes, one_that_closes_its_link_and_ends_is_gone)
{
    seen of = {0};
    cm_supervisor *supervisor = make(&of, "/bin/true");
    cr_assert(cm_supervisor_start(supervisor, 0));
    run_out(supervisor);
    cr_expect_eq(of.ended, 1);
    cr_expect(WIFEXITED(of.status) && WEXITSTATUS(of.status) == 0);
    cm_supervisor_destroy(supervisor);
}

// A script in the place of a worker, which writes to its descriptor 3.
static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    cr_assert_eq(chmod(path, 0700), 0);
}

Test(processes, half_a_message_breaks_the_link_and_ends_the_worker)
{
    seen of = {0};
    char path[] = "/tmp/carom-half-XXXXXX";
    cr_assert_not_null(mkdtemp(path));
    char script[64];
    snprintf(script, sizeof script, "%s/worker", path);
    write_script(script, "printf 'half' >&3; exec sleep 60");
    cm_supervisor *supervisor = make(&of, script);
    cr_assert(cm_supervisor_start(supervisor, 0));
    run_out(supervisor);
    cr_expect_geq(of.broken, 1);
    cr_expect_eq(of.on_message, 0);
    cr_expect(WIFSIGNALED(of.status) && WTERMSIG(of.status) == SIGKILL, "it is not asked");
    cm_supervisor_destroy(supervisor);
    unlink(script);
    rmdir(path);
}

// Of a worker that says more than a turn hears, the rest waits: in no turn the others are kept
// waiting for longer, and nothing is lost.
Test(processes, a_flood_is_heard_a_part_a_turn)
{
    static seen of;
    cm_supervisor *supervisor = make(&of, "/bin/true");
    cm_worker_link *worker = cm_supervisor_attach(supervisor, 0);
    message = (cm_worker_message){.type = CM_WORKER_SENDS_LOAD};
    for (uint32_t i = 0; i < 2 * CM_SUPERVISOR_TURN + 7; i++) {
        cm_worker_link_send(worker, &message);
    }
    const uint32_t most[] = {CM_SUPERVISOR_TURN, CM_SUPERVISOR_TURN, 7, 0};
    for (size_t i = 0; i < 4; i++) {
        uint32_t before = of.on_message;
        cm_supervisor_turn(supervisor, i);
        cr_expect_eq(of.on_message - before, most[i], "turn %zu", i);
    }
    cm_supervisor_detach(supervisor, 0, 0);
    cr_expect_eq(of.ended, 1);
    cm_supervisor_destroy(supervisor);
}

// The real program, whose supervisor says half a message, or nothing any more.
Test(processes, a_worker_ends_with_its_link)
{
    for (uint32_t i = 0; i < 2; i++) {
        seen of = {0};
        cm_crash_marker *crash_marker = cm_crash_marker_create(&crash_marker_fd);
        cr_assert_not_null(crash_marker);
        cm_supervisor *supervisor = make(&of, serving_binary());
        cr_assert(cm_supervisor_start(supervisor, 0));
        cm_worker_link *link = cm_supervisor_link(supervisor, 0);
        if (i == 0) {
            cr_assert_eq(send(link->descriptor, "half", 4, 0), 4);
        } else {
            cm_worker_link_close(link);
        }
        run_out(supervisor);
        cr_expect_eq(of.on_message + of.broken, 0);
        cr_expect(WIFEXITED(of.status) && WEXITSTATUS(of.status) == 1, "%x", of.status);
        cm_supervisor_destroy(supervisor);
        cm_crash_marker_destroy(crash_marker);
        close(crash_marker_fd);
    }
}
