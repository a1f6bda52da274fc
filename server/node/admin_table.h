// The commands of `carom admin`: one table, with who answers each, and what it needs. A request is
// one JSON object on one line, checked here once; answers of success and failure are objects too:
// {"done":"open"}, {"error":"…","code":"conflict"}.
#ifndef CM_SERVER_NODE_ADMIN_TABLE_H
#define CM_SERVER_NODE_ADMIN_TABLE_H

#include "server/config/config.h"
#include "server/ops/admin_socket.h"
#include "server/ops/log.h"
#include "shared/wire/control.h"

// The scope of a command, which says who answers: the node that has the room; every node, or that
// of the room which is named; the supervisor.
typedef enum cm_admin_scope {
    CM_ADMIN_ROOM,
    CM_ADMIN_NODE,
    CM_ADMIN_SERVER,
} cm_admin_scope;

// X(id, name, scope, needs a room, a scene, a number, a text). The supervisor chooses the node that
// opens.
#define CM_ADMIN_COMMANDS(X)                                                                       \
    X(ROOMS, "rooms", NODE, false, false, false, false)                                            \
    X(PLAYERS, "players", NODE, false, false, false, false)                                        \
    X(OPEN, "open", SERVER, true, true, false, false)                                              \
    X(CLOSE, "close", ROOM, true, false, false, false)                                             \
    X(KICK, "kick", ROOM, true, false, true, false)                                                \
    X(MESSAGE, "message", ROOM, true, false, false, true)                                          \
    X(BAN, "ban", SERVER, false, false, true, false)                                               \
    X(UNBAN, "unban", SERVER, false, false, true, false)                                           \
    X(BANS, "bans", SERVER, false, false, false, false)                                            \
    X(DRAIN, "drain", SERVER, false, false, false, false)                                          \
    X(BACKUP, "backup", ROOM, true, false, false, false)

#define CM_ADMIN_COMMAND_ENUM(id, name, scope, room, scene, number, text) CM_ADMIN_##id,
typedef enum cm_admin_command {
    CM_ADMIN_COMMANDS(CM_ADMIN_COMMAND_ENUM) CM_ADMIN_COMMAND_COUNT
} cm_admin_command;

#define CM_ADMIN_BY_MAX 32u // bytes

// X(id, code, status of HTTP): why a command is not done.
#define CM_ADMIN_FAULTS(X)                                                                         \
    X(ARGUMENT, "argument", 400)                                                                   \
    X(NOT_FOUND, "not_found", 404)                                                                 \
    X(CONFLICT, "conflict", 409)                                                                   \
    X(FAILED, "failed", 500)                                                                       \
    X(BUSY, "busy", 503)

#define CM_ADMIN_FAULT_ENUM(id, code, status) CM_ADMIN_##id,
typedef enum cm_admin_fault {
    CM_ADMIN_FAULTS(CM_ADMIN_FAULT_ENUM) CM_ADMIN_FAULT_COUNT
} cm_admin_fault;

// A request, its fields checked: the command is known and has what it needs.
typedef struct cm_admin_request {
    cm_admin_command command;
    cm_admin_scope scope;
    char room[CAROM_ROOM_NAME_MAX + 1], scene[CM_CONFIG_TEXT_MAX];
    char out[CM_ADMIN_REQUEST_MAX]; // an absolute path
    cm_room_spec with;              // the room's numbers
    uint64_t number;                // of a player, a client id, or an address's network
    bool has_number, by_address;
    char text[CM_CONTROL_TEXT_MAX + 1]; // for players; "": none
    uint32_t seconds;                   // of a ban or a wait; 0: not given
    bool handover;                      // of a drain
    char by[CM_ADMIN_BY_MAX + 1];       // the name of who asks, for the log; "": who has the socket
} cm_admin_request;

// False, and `wrong` says why.
bool cm_admin_request_read(const char *text, cm_admin_request *request, char wrong[256]);

// A line of an answer.
void cm_admin_fields(cm_admin_reply *reply, const cm_field *fields, size_t count);
#define cm_admin_say(reply, ...) cm_admin_fields(reply, CM_FIELDS(__VA_ARGS__))
// Ends the answer of a command: with the reason why it failed, or that it is done, which the log
// says too.
void cm_admin_error(cm_admin_reply *reply, cm_admin_fault fault, const char *text);
const char *cm_admin_command_name(cm_admin_command command);
void cm_admin_report(const cm_log *log, const cm_admin_request *asked, cm_admin_reply *reply);

#endif
