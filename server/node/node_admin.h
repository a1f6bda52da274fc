// A running server's answers to `carom admin`: one JSON object in, JSON objects out.
#ifndef CM_SERVER_NODE_NODE_ADMIN_H
#define CM_SERVER_NODE_NODE_ADMIN_H

#include "server/node/admin_table.h"
#include "server/node/node_rooms.h"

// A copy of a match that is being made.
typedef struct cm_node_backup {
    uint64_t number; // of the question; 0: none
    cm_match_handle match;
    char room[CAROM_ROOM_NAME_MAX + 1], path[CM_ADMIN_REQUEST_MAX];
} cm_node_backup;

typedef struct cm_node_admin {
    const cm_config *config;
    cm_node_rooms *rooms;
    cm_worker *worker;
    cm_store *store;
    const cm_log *log;
    bool isolated;  // the process is one room's alone
    uint64_t asked; // number of the question that is answered
    bool later;     // the answer to the last one comes later
    cm_node_backup backups[CM_ADMIN_PEERS_MAX];
} cm_node_admin;

// The path of the socket: the key admin, or one in the directory of matches.
#define CM_NODE_ADMIN_PATH_MAX (CM_CONFIG_TEXT_MAX + 16)
void cm_node_admin_path(const cm_config *config, char path[CM_NODE_ADMIN_PATH_MAX]);
// False where nobody said a path and the one in `matches` is too long for a socket: there is none,
// and `log` (may be NULL) is told so.
bool cm_node_admin_fits(const cm_config *config, const cm_log *log);

// `user` is a cm_node_admin.
void cm_node_admin_answer(void *user, const char *request, cm_admin_reply *reply);
// True if somebody waits for an answer.
bool cm_node_admin_waits(const cm_node_admin *a);
// A question whose answer has come meanwhile: its number and its one line; 0: none has.
uint64_t cm_node_admin_later(cm_node_admin *a, cm_line *line);

#endif
