// What a running server answers to `carom admin`: one JSON object in, JSON objects out.
#ifndef CM_SERVER_NODE_NODE_ADMIN_H
#define CM_SERVER_NODE_NODE_ADMIN_H

#include "server/ops/admin_socket.h"
#include "server/auth/ban_lists.h"
#include "server/node/node_rooms.h"

// A copy of a match that is being made.
typedef struct cm_serve_backup {
    uint64_t number; // of the question; 0: none
    cm_match_handle match;
    char room[CAROM_ROOM_NAME_MAX + 1], path[CM_ADMIN_REQUEST_MAX];
} cm_serve_backup;

typedef struct cm_serve_admin {
    const cm_config *config;
    cm_serve_rooms *rooms;
    cm_worker *worker;
    cm_store *store;
    const cm_log *log;
    const cm_serve_bans *bans; // NULL: they are the supervisor's
    // Of a processor, in thousandths, where nobody else decides where rooms go; else NULL.
    const uint32_t *load;
    bool drain;     // was asked for
    uint64_t asked; // number of the question of a worker's; 0: the reply has its own
    bool later;     // the answer to the last one comes later
    cm_serve_backup backups[CM_ADMIN_PEERS_MAX];
} cm_serve_admin;

// Where the socket is: the key admin, or one in the directory of matches.
#define CM_SERVE_ADMIN_PATH_MAX (CM_CONFIG_TEXT_MAX + 16)
void cm_serve_admin_path(const cm_config *config, char path[CM_SERVE_ADMIN_PATH_MAX]);
// False where nobody said a path and the one in `matches` is too long for a socket: there is none,
// and `log` (may be NULL) is told so.
bool cm_serve_admin_fits(const cm_config *config, const cm_log *log);

// A request, its fields checked: the command is known and has what it needs.
typedef struct cm_serve_request {
    char command[16], room[CAROM_ROOM_NAME_MAX + 1], scene[CM_CONFIG_TEXT_MAX];
    char out[CM_ADMIN_REQUEST_MAX]; // an absolute path
    cm_room_entry with;             // the room\'s numbers
    uint64_t number;                // of a player, or a client id
    bool has_number;
} cm_serve_request;
// NULL, or what is wrong with it.
const char *cm_serve_admin_read(const char *text, cm_serve_request *request);
// What every command says in the end: why not, or that it is done, which the log says too.
void cm_serve_admin_error(cm_admin_reply *reply, const char *text);
void cm_serve_admin_done(const cm_log *log, const cm_serve_request *asked, cm_admin_reply *reply);

// `user` is a cm_serve_admin.
void cm_serve_admin_answer(void *user, const char *request, cm_admin_reply *reply);
// Whether somebody waits for an answer.
bool cm_serve_admin_waits(const cm_serve_admin *a);
// A question whose answer has come meanwhile: its number and its one line; 0: none has.
uint64_t cm_serve_admin_later(cm_serve_admin *a, cm_line *line);

#endif
