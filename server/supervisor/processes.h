// Worker processes and their control links: starts them, hears them, and starts those that died
// again. It knows nothing of rooms and has no simulation; what is to be done with what a worker
// says is its owner's. Typical: 7 workers.
//
// A worker is this program anew (`carom worker`), with stdin, stdout, stderr and three descriptors;
// all else, its keys too, it is told over its link. It ends when that closes, and the kernel kills
// it when this process dies.
#ifndef CM_SERVER_SUPERVISOR_PROCESSES_H
#define CM_SERVER_SUPERVISOR_PROCESSES_H

#include "server/supervisor/respawn.h"
#include "server/node/control_link.h"
#include "server/node/node_process.h"

typedef struct cm_supervisor cm_supervisor;

typedef struct cm_supervisor_def {
    uint32_t workers;    // at most CM_WORKERS_MAX
    const char *program; // file to run
    int keep;            // descriptor that workers keep; -1: none
    // Another that one of them is given; -1: none.
    int (*gives)(void *user, uint32_t worker);
    void (*started)(void *user, uint32_t worker); // its link is open
    void (*broke)(void *user, uint32_t worker);   // its link: it is killed
    void (*on_message)(void *user, uint32_t worker, const cm_worker_message *message);
    // It is gone, all that it said was heard; `status` as of waitpid. True: it crashed, and is
    // started again; false: that was its end.
    bool (*ended)(void *user, uint32_t worker, int status);
    void *user;
} cm_supervisor_def;

cm_supervisor *cm_supervisor_create(const cm_supervisor_def *def);
// Kills the workers that are left.
void cm_supervisor_destroy(cm_supervisor *supervisor);
// False with errno: no process could be made, or the program could not be run in it.
bool cm_supervisor_start(cm_supervisor *supervisor, uint32_t worker);
// One in this process instead, which uses the end of the link that is returned; and its end, with
// the status that a process would have.
cm_worker_link *cm_supervisor_attach(cm_supervisor *supervisor, uint32_t worker);
void cm_supervisor_detach(cm_supervisor *supervisor, uint32_t worker, int status);

// Starts it at its next turn, and again later where that fails.
void cm_supervisor_start_soon(cm_supervisor *supervisor, uint32_t worker);

void cm_supervisor_send(cm_supervisor *supervisor, uint32_t worker,
                        const cm_worker_message *message);
cm_worker_link *cm_supervisor_link(cm_supervisor *supervisor, uint32_t worker);
bool cm_supervisor_lives(const cm_supervisor *supervisor, uint32_t worker);
int cm_supervisor_process(const cm_supervisor *supervisor, uint32_t worker); // its id; 0: none
uint32_t cm_supervisor_living(const cm_supervisor *supervisor);
void cm_supervisor_kill(cm_supervisor *supervisor, uint32_t worker);

// A worker whose link is broken is killed. Of one that says more than CM_SUPERVISOR_TURN messages
// the rest is heard in the next turn: it keeps nobody from the others.
#define CM_SUPERVISOR_TURN 512u
// Hears what was said, reaps who died, starts who is due. Returns when it next has something to do
// (us, of the same clock), unless a descriptor is ready before.
uint64_t cm_supervisor_turn(cm_supervisor *supervisor, uint64_t now_us);
// For poll, of each worker that lives: fills up to CM_WORKERS_MAX, returns how many.
struct pollfd;
uint32_t cm_supervisor_poll(const cm_supervisor *supervisor, struct pollfd *fds);

#endif
