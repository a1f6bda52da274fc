// Worker processes and their control sockets: forks them, hears them, and starts those that died
// again. It knows nothing of rooms and has no simulation; what is to be done with what a worker
// says is its owner's. Typical: 7 workers.
//
// A worker ends when its control socket closes, and the kernel kills it when this process dies. It
// has of this process's descriptors only stdin, stdout, stderr, its own socket and those to keep.
#ifndef CM_SERVER_SUPERVISOR_PROCESSES_H
#define CM_SERVER_SUPERVISOR_PROCESSES_H

#include "server/supervisor/respawn.h"
#include "server/node/control_link.h"

typedef struct cm_supervisor cm_supervisor;

typedef struct cm_supervisor_def {
    uint32_t workers; // at most CM_WORKERS_MAX
    int keep;         // descriptor that workers keep; -1: none
    // The life of a worker, in its process, which ends with the status returned.
    int (*work)(void *user, uint32_t worker, int descriptor);
    void (*said)(void *user, uint32_t worker, const cm_worker_message *message);
    // It is gone, all that it said was heard; `status` as of waitpid. True: it crashed, and is
    // started again; false: that was its end.
    bool (*ended)(void *user, uint32_t worker, int status);
    void (*starts)(void *user, uint32_t worker); // before it is forked again
    void *user;
} cm_supervisor_def;

// No thread may run while a worker is forked that could hold a lock that the worker needs.
cm_supervisor *cm_supervisor_create(const cm_supervisor_def *def);
// Kills the workers that are left.
void cm_supervisor_destroy(cm_supervisor *supervisor);
// False with errno: it could not be forked.
bool cm_supervisor_start(cm_supervisor *supervisor, uint32_t worker);

void cm_supervisor_tell(cm_supervisor *supervisor, uint32_t worker,
                        const cm_worker_message *message);
cm_worker_link *cm_supervisor_link(cm_supervisor *supervisor, uint32_t worker);
bool cm_supervisor_lives(const cm_supervisor *supervisor, uint32_t worker);
int cm_supervisor_process(const cm_supervisor *supervisor, uint32_t worker); // its id; 0: none
uint32_t cm_supervisor_living(const cm_supervisor *supervisor);
void cm_supervisor_kill(cm_supervisor *supervisor, uint32_t worker);

// Hears what was said, reaps who died, starts who is due. Returns when it next has something to do
// (us, of the same clock), unless a descriptor is ready before.
uint64_t cm_supervisor_turn(cm_supervisor *supervisor, uint64_t now_us);
// For poll, of each worker that lives: fills up to CM_WORKERS_MAX, returns how many.
struct pollfd;
uint32_t cm_supervisor_poll(const cm_supervisor *supervisor, struct pollfd *fds);

#endif
