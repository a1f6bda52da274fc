// The process that hosts the rooms of `carom serve`: their scenes, the store, the worker, and what
// is said of them. Its shell (node_control.h) tells it what to do and takes what it says.
#ifndef CM_SERVER_NODE_NODE_H
#define CM_SERVER_NODE_NODE_H

#include "server/node/resume.h"

typedef struct cm_node_shell {
    void *user;
    void (*log)(void *user, int level, const char *json_line); // without its time
    void (*error)(void *user, const char *text); // of a failure that ends nothing else
    void (*print)(void *user, const char *line); // of stdout; several have newlines between them
    // A terminal's status: the lines of a room, of the first to the last. NULL: no terminal, status
    // lines are printed.
    void (*draw)(void *user, bool first, const char *lines);
    void (*keep_used)(void *user, const cm_used_token *token);
    // A room's ticks take more than their share (cm_worker_def); and one that was released is
    // written: its file may be opened elsewhere.
    bool (*over_budget)(void *user, const char *room);
    void (*cut)(void *user, uint64_t match_id); // a match that it was to go on with
    void (*released)(void *user, const char *room);
    // Again and again while it writes and verifies at the end. It need not return.
    void (*wait)(void *user, uint32_t most_ms);
} cm_node_shell;

// The interval at which it looks after its rooms, beside their ticks: there are thousands of turns
// a second, and each look costs something for every room.
#define CM_SERVE_LOOK_US 10000u

// Turns are at least so far apart, but for a tick that is due: a turn costs something for every
// place of a client, and one for each datagram would cost more the more clients there are.
#define CM_SERVE_TURN_US 1000u

typedef struct cm_node {
    cm_config config;
    cm_node_shell shell;
    cm_node_rooms rooms;
    carom_token_keys keys;         // none: the configuration is insecure
    carom_token_key ticket;        // of the tickets to come back
    bool only_room;                // it hosts all rooms of the server
    bool isolated;                 // one room, whose module failed: no other is opened here
    cm_crash_marker *crash_marker; // that a supervisor reads; NULL: there is none
    cm_tick_watch tick_watch;
    cm_log log; // the shell's
    cm_store *store;
    cm_worker *worker;
    uint64_t turn_us;     // when its last turn began
    uint64_t look_us;     // when rooms and recordings are looked at next
    uint64_t status_us;   // when the status is said next
    uint64_t deadline_us; // of verifying
    uint32_t lost;        // recordings of closed rooms that are not durable, and gaps in others
    bool draining;
    bool handed_over;  // and nothing is left to drain
    uint64_t failures; // times that a recording was not durable any more
    uint32_t permille; // of a processor, by its rooms in the last second
    uint64_t loads;    // times that this was measured
    uint64_t load_us, load_cpu_us;
} cm_node;

uint64_t cm_now_us(void);  // by which a worker lives
uint64_t cm_unix_ms(void); // wall clock
// After a turn that began at `turn_us`: sleeps until the next one may begin, or until `due` if that
// is earlier. Returns the time then.
uint64_t cm_node_rest(uint64_t turn_us, uint64_t due_us);

// With configuration, shell, rooms, keys and ticket filled in: the store is made, matches are
// brought back, a worker is opened with all rooms. On failure cm_node_undo is to be called.
carom_result cm_node_open(cm_node *host, const cm_unfinished_matches *matches, cm_failure *failure);
// Removes the match files of a start that failed.
void cm_node_undo(cm_node *host);
// Once the server is there: says which rooms it has.
void cm_node_log_rooms(const cm_node *host);
// Does all that is due: ticks, alarms, the status. Returns when there is more to do.
uint64_t cm_node_turn(cm_node *host, uint64_t now_us);
// Until cm_worker_drained; `reason`: who asked.
void cm_node_drain(cm_node *host, const char *reason, uint64_t now_us);
// Lets go of every match without an end, for the next server to go on with; those that are not
// durable are drained.
void cm_node_hand_over(cm_node *host, const char *reason, uint64_t now_us);
// Says how all rooms are, at once.
void cm_node_status(cm_node *host);
// Closes the recordings and verifies them; the shell is told of each failure.
carom_result cm_node_finish(cm_node *host);
// Releases everything, whatever state it is in.
void cm_node_close(cm_node *host);

// For node_end.c.
void cm_node_watch(cm_node *host);
void cm_node_log_unindexed(cm_node *host, const cm_node_room *room, const cm_match_status *match);

#endif
