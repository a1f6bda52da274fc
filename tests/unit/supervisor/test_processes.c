// Goal: of a worker that dies everything is heard, what it says between the last look and its end
// too; one that could not be forked is tried again. Method: real processes; the supervisor's own
// question whether a worker has died is where this one says its last words.
#include "server/supervisor/processes.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 3u

typedef struct rig {
    cm_supervisor *supervisor;
    uint64_t heard, heard_at_end; // words; when it was said to have ended
    uint32_t ends, starts;
    bool again; // it is started again
} rig;

// What the supervisor asks instead of the C library, which is asked in turn.
static void (*before_wait)(pid_t pid);
pid_t waitpid(pid_t pid, int *status, int options)
{
    if (before_wait != NULL) {
        before_wait(pid);
    }
    return wait4(pid, status, options, NULL);
}

static rig *speaker; // whose worker 0 dies in the question

static void wait_for_end(pid_t pid)
{
    siginfo_t info;
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void let_it_die(pid_t pid)
{
    static const cm_worker_message now = {.type = CM_WORKER_RECEIVES_START};
    before_wait = NULL;
    cr_assert_eq(speaker->heard, 0, "it has said nothing so far");
    cm_supervisor_send(speaker->supervisor, 0, &now);
    wait_for_end(pid);
}

// Workers are this program, which plays the part that the environment names instead of its tests.
#define PART "TESTED_WORKER"

// Says three words once it is told to start, and ends.
static int say_and_die(void)
{
    static cm_worker_message message; // too large for a stack
    cm_worker_link link;
    struct pollfd fd = {.fd = CM_WORKER_LINK_FD, .events = POLLIN};
    cm_worker_link_open(&link, CM_WORKER_LINK_FD);
    (void)poll(&fd, 1, -1);
    if (cm_worker_link_next(&link, &message) != CM_WORKER_LINK_MESSAGE) {
        return 1;
    }
    for (uint64_t i = 0; i < WORDS; i++) {
        message.type = CM_WORKER_SENDS_USED;
        message.used.expires_unix_s = i;
        cm_worker_link_send(&link, &message);
    }
    return 0;
}

__attribute__((constructor)) static void play_part(int argc, char **argv)
{
    const char *part = getenv(PART);
    if (part != NULL && argc == 3 && strcmp(argv[1], "worker") == 0) {
        _exit(strcmp(part, "speaker") == 0 ? say_and_die() : 1);
    }
}

static void hear(void *user, uint32_t worker, const cm_worker_message *message)
{
    rig *r = user;
    cr_expect_eq(worker, 0);
    cr_expect_eq(message->type, CM_WORKER_SENDS_USED);
    cr_expect_eq(message->used.expires_unix_s, r->heard);
    r->heard++;
}

static bool has_ended(void *user, uint32_t worker, int status)
{
    rig *r = user;
    (void)worker;
    cr_expect(WIFEXITED(status));
    r->ends++;
    r->heard_at_end = r->heard;
    return r->again;
}

static void started(void *user, uint32_t worker)
{
    rig *r = user;
    (void)worker;
    r->starts++;
}

static void broke(void *user, uint32_t worker)
{
    (void)user;
    cr_expect_fail("the link of %u", worker);
}

static int give_nothing(void *user, uint32_t worker)
{
    (void)user;
    (void)worker;
    return -1;
}

static void make(rig *r, const char *part)
{
    setenv(PART, part, 1);
    cm_supervisor_def def = {.workers = 1,
                             .keep = -1,
                             .program = "/proc/self/exe",
                             .gives = give_nothing,
                             .broke = broke,
                             .on_message = hear,
                             .ended = has_ended,
                             .started = started,
                             .user = r};
    r->supervisor = cm_supervisor_create(&def);
    cr_assert_not_null(r->supervisor);
    cr_assert(cm_supervisor_start(r->supervisor, 0));
}

Test(supervisor, hears_the_last_words_of_one_that_dies)
{
    rig r = {0};
    make(&r, "speaker");
    speaker = &r;
    before_wait = let_it_die;
    (void)cm_supervisor_turn(r.supervisor, 1000000);
    cr_expect_eq(r.ends, 1);
    cr_expect_eq(r.heard, WORDS);
    cr_expect_eq(r.heard_at_end, WORDS, "all before its end");
    cr_expect_eq(cm_supervisor_living(r.supervisor), 0);
    cm_supervisor_destroy(r.supervisor);
}

// No process, or no socket for it: here the latter, for root has as many processes as it likes.
Test(supervisor, tries_again_what_could_not_be_started)
{
    rig r = {.again = true};
    struct rlimit before, none;
    make(&r, "mortal");
    wait_for_end(cm_supervisor_process(r.supervisor, 0));
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    uint64_t due = 1000000;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t next = cm_supervisor_turn(r.supervisor, due);
        cr_expect_eq(r.starts, 1);
        cr_expect_not(cm_supervisor_lives(r.supervisor, 0));
        cr_expect_eq(cm_supervisor_living(r.supervisor), 1, "it is to come");
        cr_assert_eq(next, due + CM_RESPAWN_FIRST_US);
        due = next;
    }
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_expect_eq(cm_supervisor_turn(r.supervisor, due - 1), due);
    cr_expect_eq(r.starts, 1);
    (void)cm_supervisor_turn(r.supervisor, due);
    cr_expect_eq(r.starts, 2);
    cr_expect(cm_supervisor_lives(r.supervisor, 0));
    cr_expect_eq(r.ends, 1);
    cm_supervisor_destroy(r.supervisor);
}
