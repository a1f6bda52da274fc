// A child is known by its process id and by its socket. The socket ends first or last; only when it
// has said all and is reaped is it gone.
#include "server/supervisor/processes.h"

#include <errno.h>
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
    pid_t pid; // 0: there is none
    cm_worker_link link;
    cm_respawn respawn;
    uint64_t due_us; // when it is started; NEVER: not
} child;

struct cm_supervisor {
    cm_supervisor_def def;
    child children[CM_WORKERS_MAX];
    cm_worker_message heard;
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
        if (c->pid > 0) {
            kill(c->pid, SIGKILL);
            while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        cm_worker_link_close(&c->link);
    }
    free(supervisor);
}

// Of the supervisor's descriptors, those of the other workers' sockets among them: a worker that
// held one would keep another from seeing it close.
static void close_others(const cm_supervisor *supervisor, int own)
{
    int keep[] = {own, supervisor->def.keep};
    int low = keep[0] < keep[1] ? keep[0] : keep[1], high = keep[0] < keep[1] ? keep[1] : keep[0];
    unsigned from = STDERR_FILENO + 1;
    if (low > STDERR_FILENO) {
        if ((unsigned)low > from) {
            close_range(from, (unsigned)low - 1, 0);
        }
        from = (unsigned)low + 1;
    }
    if ((unsigned)high > from) {
        close_range(from, (unsigned)high - 1, 0);
    }
    close_range((unsigned)high + 1, ~0u, 0);
}

bool cm_supervisor_start(cm_supervisor *supervisor, uint32_t worker)
{
    child *c = &supervisor->children[worker];
    int ends[2];
    pid_t parent = getpid();
    c->due_us = NEVER;
    if (!cm_worker_link_pair(ends)) {
        return false;
    }
    fflush(NULL); // what is buffered is written once
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        close_others(supervisor, ends[1]);
        int status = supervisor->def.work(supervisor->def.user, worker, ends[1]);
        fflush(NULL);
        _exit(status);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    c->pid = pid;
    cm_worker_link_close(&c->link);
    cm_worker_link_open(&c->link, ends[0]);
    return true;
}

void cm_supervisor_tell(cm_supervisor *supervisor, uint32_t worker,
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
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
    }
}

// True once it has said all that it will.
static bool hear(cm_supervisor *supervisor, uint32_t worker)
{
    child *c = &supervisor->children[worker];
    cm_worker_link_state state;
    while ((state = cm_worker_link_next(&c->link, &supervisor->heard)) == CM_WORKER_LINK_MESSAGE) {
        supervisor->def.said(supervisor->def.user, worker, &supervisor->heard);
    }
    cm_worker_link_flush(&c->link);
    return state == CM_WORKER_LINK_ENDED;
}

static void bury(cm_supervisor *supervisor, uint32_t worker, int status, uint64_t now_us)
{
    child *c = &supervisor->children[worker];
    (void)hear(supervisor, worker);
    cm_worker_link_close(&c->link);
    c->pid = 0;
    if (supervisor->def.ended(supervisor->def.user, worker, status)) {
        c->due_us = cm_respawn_crashed(&c->respawn, now_us);
    }
}

uint64_t cm_supervisor_turn(cm_supervisor *supervisor, uint64_t now_us)
{
    uint64_t due = NEVER;
    for (uint32_t i = 0; i < supervisor->def.workers; i++) {
        child *c = &supervisor->children[i];
        int status;
        if (c->pid > 0) {
            (void)hear(supervisor, i);
        }
        if (c->pid > 0 && waitpid(c->pid, &status, WNOHANG) == c->pid) {
            bury(supervisor, i, status, now_us);
        }
        if (c->due_us <= now_us) {
            supervisor->def.starts(supervisor->def.user, i);
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
