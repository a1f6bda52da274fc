// The supervisor of `carom serve`, as its files share it: supervisor.c (workers, rooms, signals),
// worker_messages.c (what workers say), isolation.c (rooms at fault), admin.c (the admin socket),
// drain.c (the end, and the wait for it), server_bans.c (who may not come in) and web_players.c
// (those who come by WebSocket).
#ifndef CM_SERVER_SUPERVISOR_SUPERVISOR_H
#define CM_SERVER_SUPERVISOR_SUPERVISOR_H

#include "server/node/room_directory.h"
#include "server/node/placement.h"
#include "server/node/quarantine.h"
#include "server/supervisor/processes.h"
#include "server/node/crash_marker.h"
#include "server/supervisor/base.h"
#include "server/supervisor/http_pages.h"

// A worker's part of a terminal's status.
typedef struct cm_worker_drawing {
    char *text;
    size_t size, capacity;
} cm_worker_drawing;

typedef struct cm_worker_slot {
    cm_crash_marker *crash_marker; // shared with its process
    int crash_marker_fd;
    uint16_t port;   // 0: none yet
    bool ready;      // it lives and has its rooms
    bool isolated;   // of one room alone, whose module failed or is slow
    uint32_t from;   // isolated: the worker that its room is released by, and one; 0: none
    bool ends;       // as that room is no more
    uint64_t end_us; // when it is told to; 0: it was
    uint64_t restarts;
    cm_worker_load load;
    cm_worker_drawing drawing;
} cm_worker_slot;

// A question that workers answer: of an operator, or of one who reads a page.
typedef struct cm_admin_question {
    uint64_t number;  // of cm_admin_later, or a page's; 0: free
    uint64_t waiting; // a bit a worker
} cm_admin_question;
#define CM_PAGE_QUESTION (UINT64_C(1) << 63) // and the topic: the number of such a one

typedef struct cm_server {
    cm_server_base *base;
    cm_supervisor *supervisor;
    struct cm_node_control *node; // the one worker where there are no processes; else NULL
    uint32_t count;               // of workers that take rooms
    uint32_t slots;               // and places of those with an isolated room, behind them
    cm_worker_slot workers[CM_WORKERS_MAX];
    cm_room_directory directory; // every room
    cm_quarantine refused; // scenes that are hosted no more, and those that are on the way there
    cm_used_tokens used;
    cm_bans bans, banned_addresses;
    cm_ban_terms terms;              // of operators' bans
    uint64_t bans_unix_s;            // when it was looked which have expired
    uint64_t cut[CM_WORKER_CUT_MAX]; // matches that could not go on, for workers that start later
    uint32_t cut_count;              // that were ever added
    cm_admin *admin;
    cm_admin_question questions[CM_ADMIN_PEERS_MAX], page_questions[CM_HTTP_QUESTIONS];
    cm_http_pages *http; // NULL: none
    uint64_t faults;     // of modules
    uint64_t shown_us;   // when the status is drawn next
    carom_result result; // of the start until it is ready, then of the matches' ends
    cm_failure failure;  // of a worker's start
    uint64_t end_us;     // of a drain that waits; 0: none does
    uint64_t busy_us;    // when somebody was in a room last, since then
    bool recalled, ready, draining, printed, drain_asked, hands_over;
} cm_server;

// To every worker that lives, but one.
void cm_server_send_all(cm_server *s, uint32_t but, const cm_worker_message *message);
// The worker for one more room, which counts as its from now on; CM_PLACEMENT_NONE: all are full.
uint32_t cm_server_place(cm_server *s);

// Of every worker, to all; and into the log, that one has its rooms.
void cm_server_send_ports(cm_server *s);
void cm_server_log_worker(const cm_server *s, uint32_t worker);
// Rooms isolated at once; more stay where they were.
#define CM_ISOLATED_ROOMS_MAX 8u
// A room whose module took its worker goes on in one of its own, where others were beside it.
void cm_isolation_start(cm_server *s, uint32_t worker, const char *room);
// One that is slow goes there too, once its worker has let go of it; or is slowed where it is.
void cm_isolation_request(cm_server *s, uint32_t worker, const char *room);
// The worker let go of it, or died meanwhile (NULL: of whatever it was to let go of).
void cm_isolation_released(cm_server *s, uint32_t worker, const char *room);
void cm_isolation_refused(cm_server *s, uint32_t worker, const char *room); // it cannot
// The worker of such a room ends at that time, where the room is no more.
void cm_isolation_end(cm_server *s, uint32_t worker, uint64_t end_us);
void cm_isolation_turn(cm_server *s, uint64_t now);
// As a cm_supervisor's callbacks, of a cm_server.
void cm_server_on_message(void *user, uint32_t worker, const cm_worker_message *message);
bool cm_server_on_exit(void *user, uint32_t worker, int status);

// The drain: at once, or at the end of a wait. The worker gets what one that starts has to know.
void cm_server_drain(cm_server *s, const char *reason);
// False: there is a wait already that ends before.
bool cm_server_drain_in(cm_server *s, uint32_t seconds);
uint32_t cm_server_drain_left_s(const cm_server *s); // of the wait, rounded up
void cm_server_drain_boot(const cm_server *s, cm_worker_link *link);
void cm_server_drain_turn(cm_server *s, uint64_t now_us);

// One who wants to play by WebSocket goes to the worker of the room (cm_http_def.upgrade, of a
// cm_server).
cm_http_refusal cm_server_upgrade(void *user, const cm_http_request *request, int descriptor);

// A client may not come in from now on, or again.
const char *cm_server_ban(cm_server *s, const cm_ban_term *term); // NULL, or why not
void cm_server_unban(cm_server *s, bool by_address, uint64_t who);
// Lifts what has expired.
void cm_server_bans_turn(cm_server *s, uint64_t now_unix_s);
void cm_server_bans_list(const cm_server *s, cm_admin_reply *reply);

// The admin socket, if it fits.
carom_result cm_admin_questions_open(cm_server *s, cm_failure *failure);
// A line of a worker's answer; "": it has no more.
void cm_admin_questions_on_answer(cm_server *s, uint32_t worker, uint64_t number, const char *line);
// For the pages of HTTP, of a cm_server.
void cm_admin_questions_ask_page(void *user, cm_http_topic topic, const char *request);
// A command of one who asks by the API: likewise.
void cm_admin_questions_command(void *user, cm_http_topic topic, const char *request);
// It answers nothing any more.
void cm_admin_questions_on_exit(cm_server *s, uint32_t worker);

#endif
