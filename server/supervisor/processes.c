// A child is known by its process id and by its socket. The socket ends first or last; only when it
// has said all and is reaped is it gone.
#include "server/supervisor/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER UINT64_MAX

typedef struct child {
    pid_t pid;     // 0: there is none
    bool is_local; // in this process, with the link's other end
    cm_worker_link link, other;
    cm_respawn respawn;
    uint64_t due_us; // when it is started; NEVER: not
} child;

struct cm_supervisor {
    cm_supervisor_def def;
    child children[CM_WORKERS_MAX];
    cm_worker_message received;
};

cm_supervisor *cm_supervisor_create(const cm_supervisor_def *def)
{
    cm_supervisor *supervisor = calloc(1, sizeof *supervisor);
    if (supervisor == NULL) {
        return NULL;
    }
    supervisor->def = *def;
    for (uint32_t i = 0; i < CM_WORKERS_MAX; i++) {
        supervisor->children[i].link.descriptor = -1;
        supervisor->children[i].due_us = NEVER;
    }
    return supervisor;
}

void cm_supervisor_destroy(cm_supervisor *supervisor)
{
    if (supervisor == NULL) {
        return;
    }
    for (uint32_t i = 0; i < supervisor->def.workers; i++) {
        child *c = &supervisor->children[i];
        if (c->pid > 0 && !c->is_local) {
            kill(c->pid, SIGKILL);
            while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        cm_worker_link_close(&c->link);
        if (c->is_local) {
            cm_worker_link_close(&c->other); // and what its node never read
        }
    }
    free(supervisor);
}

// In the child, where only what is safe in a signal handler may be called: other threads of the
// supervisor may have held any lock. Descriptors are first put where none of them is in the way.
static void run_program(const cm_supervisor *supervisor, uint32_t worker, int link, int given,
                        int errors, char *const argv[])
{
    int from[] = {link, given, supervisor->def.keep};
    int to[] = {CM_WORKER_LINK_FD, CM_WORKER_CRASH_MARKER_FD, CM_WORKER_LOCK_FD};
    int wrong, report = fcntl(errors, F_DUPFD_CLOEXEC, CM_WORKER_LOCK_FD + 1);
    (void)worker;
    for (int i = 0; i < 3; i++) {
        from[i] = from[i] >= 0 ? fcntl(from[i], F_DUPFD, report + 1) : -1;
    }
    for (int i = 0; i < 3; i++) {
        close(to[i]);
        if (from[i] >= 0) {
            dup2(from[i], to[i]);
        }
    }
    if (report > CM_WORKER_LOCK_FD + 1) {
        close_range(CM_WORKER_LOCK_FD + 1, (unsigned)report - 1, 0);
    }
    close_range((unsigned)report + 1, ~0u, 0);
    execv(supervisor->def.program, argv);
    wrong = errno;
    (void)!write(report, &wrong, sizeof wrong);
    _exit(127);
}

// Errno of a child that could not run the program; 0: it runs.
static int wait_for_program(int errors)
{
    int wrong = 0;
    ssize_t got;
    do {
        got = read(errors, &wrong, sizeof wrong);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof wrong ? wrong : 0;
}

static pid_t start_process(const cm_supervisor *supervisor, uint32_t worker, int link)
{
    int errors[2], given = supervisor->def.gives(supervisor->def.user, worker);
    char number[12];
    char *const argv[] = {program_invocation_name, "worker", number, NULL};
    pid_t parent = getpid();
    snprintf(number, sizeof number, "%u", (unsigned)worker);
    if (pipe2(errors, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        run_program(supervisor, worker, link, given, errors[1], argv);
    }
    int wrong = errno;
    close(errors[1]);
    if (pid > 0 && (wrong = wait_for_program(errors[0])) != 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        pid = -1;
    }
    close(errors[0]);
    errno = wrong;
    return pid;
}

bool cm_supervisor_start(cm_supervisor *supervisor, uint32_t worker)
{
    child *c = &supervisor->children[worker];
    int ends[2];
    c->due_us = NEVER;
    if (!cm_worker_link_pair(ends)) {
        return false;
    }
    pid_t pid = start_process(supervisor, worker, ends[1]);
    int wrong = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = wrong;
        return false;
    }
    c->pid = pid;
    cm_worker_link_close(&c->link);
    cm_worker_link_open(&c->link, ends[0]);
    supervisor->def.started(supervisor->def.user, worker);
    return true;
}

void cm_supervisor_start_soon(cm_supervisor *supervisor, uint32_t worker)
{
    supervisor->children[worker].due_us = 0;
}

cm_worker_link *cm_supervisor_attach(cm_supervisor *supervisor, uint32_t worker)
{
    child *c = &supervisor->children[worker];
    cm_worker_link_join(&c->link, &c->other);
    c->pid = getpid();
    c->is_local = true;
    supervisor->def.started(supervisor->def.user, worker);
    return &c->other;
}

void cm_supervisor_send(cm_supervisor *supervisor, uint32_t worker,
                        const cm_worker_message *message)
{
    cm_worker_link_send(&supervisor->children[worker].link, message);
}

cm_worker_link *cm_supervisor_link(cm_supervisor *supervisor, uint32_t worker)
{
    return &supervisor->children[worker].link;
}

bool cm_supervisor_lives(const cm_supervisor *supervisor, uint32_t worker)
{
    return supervisor->children[worker].pid > 0;
}

int cm_supervisor_process(const cm_supervisor *supervisor, uint32_t worker)
{
    return (int)supervisor->children[worker].pid;
}

uint32_t cm_supervisor_living(const cm_supervisor *supervisor)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < supervisor->def.workers; i++) {
        count += cm_supervisor_lives(supervisor, i) || supervisor->children[i].due_us != NEVER;
    }
    return count;
}

void cm_supervisor_kill(cm_supervisor *supervisor, uint32_t worker)
{
    child *c = &supervisor->children[worker];
    c->due_us = NEVER;
    if (c->pid > 0 && !c->is_local) {
        kill(c->pid, SIGKILL);
    }
}

// At most so many messages.
static void receive(cm_supervisor *supervisor, uint32_t worker, uint64_t most)
{
    child *c = &supervisor->children[worker];
    cm_worker_link_state state = CM_WORKER_LINK_MESSAGE;
    for (uint64_t i = 0; i < most && state == CM_WORKER_LINK_MESSAGE; i++) {
        state = cm_worker_link_next(&c->link, &supervisor->received);
        if (state == CM_WORKER_LINK_MESSAGE) {
            supervisor->def.on_message(supervisor->def.user, worker, &supervisor->received);
        }
    }
    cm_worker_link_flush(&c->link);
    if (state == CM_WORKER_LINK_BROKEN) {
        supervisor->def.broke(supervisor->def.user, worker);
        if (c->pid > 0 && !c->is_local) {
            kill(c->pid, SIGKILL);
        }
    }
}

static void bury(cm_supervisor *supervisor, uint32_t worker, int status, uint64_t now_us)
{
    child *c = &supervisor->children[worker];
    receive(supervisor, worker, UINT64_MAX);
    cm_worker_link_close(&c->link);
    c->pid = 0;
    c->is_local = false;
    if (supervisor->def.ended(supervisor->def.user, worker, status)) {
        c->due_us = cm_respawn_crashed(&c->respawn, now_us);
    }
}

void cm_supervisor_detach(cm_supervisor *supervisor, uint32_t worker, int status)
{
    bury(supervisor, worker, status << 8, 0); // as of waitpid
    cm_worker_link_close(&supervisor->children[worker].other);
}

uint64_t cm_supervisor_turn(cm_supervisor *supervisor, uint64_t now_us)
{
    uint64_t due = NEVER;
    for (uint32_t i = 0; i < supervisor->def.workers; i++) {
        child *c = &supervisor->children[i];
        int status;
        if (c->pid > 0) {
            receive(supervisor, i, CM_SUPERVISOR_TURN);
        }
        if (c->pid > 0 && !c->is_local && waitpid(c->pid, &status, WNOHANG) == c->pid) {
            bury(supervisor, i, status, now_us);
        }
        if (c->due_us <= now_us) {
            if (!cm_supervisor_start(supervisor, i)) {
                c->due_us = now_us + CM_RESPAWN_FIRST_US; // no process now: later
            }
        }
        due = c->due_us < due ? c->due_us : due;
    }
    return due;
}

uint32_t cm_supervisor_poll(const cm_supervisor *supervisor, struct pollfd *fds)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < supervisor->def.workers; i++) {
        const child *c = &supervisor->children[i];
        if (c->link.descriptor >= 0) {
            short out = cm_worker_link_is_full(&c->link) ? POLLOUT : 0;
            fds[count++] =
                (struct pollfd){.fd = c->link.descriptor, .events = (short)(POLLIN | out)};
        }
    }
    return count;
}
