// The operator's socket: a Unix socket that takes a request of one line and answers with lines of
// JSON. A user with permission for the socket (0660) may do everything, and there is no other
// check; the requests themselves are still validated.
//
// A connection sends one line, gets the answer (lines, then an empty one), and is closed. Never
// blocks: a peer that does not read, or sends nothing for a while, is dropped.
#ifndef CM_SERVER_OPS_ADMIN_SOCKET_H
#define CM_SERVER_OPS_ADMIN_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_ADMIN_PATH_MAX    104u       // of a socket, its NUL included
#define CM_ADMIN_REQUEST_MAX 4096u      // bytes of a line that asks
#define CM_ADMIN_REPLY_MAX   (1u << 20) // bytes of all lines of an answer; beyond, it is cut
#define CM_ADMIN_PEERS_MAX   8u         // at once; more wait
#define CM_ADMIN_SECONDS_MAX 315360000  // of a duration: ten years
#define CM_ADMIN_PATIENCE_US 5000000u   // of a connection, but for an answer that comes later

typedef struct cm_admin cm_admin;
typedef struct cm_admin_reply cm_admin_reply;

typedef struct cm_admin_def {
    const char *path;
    // Answers a line (its NUL instead of the newline) by cm_admin_write_line, once for each line.
    void (*answer)(void *user, const char *request, cm_admin_reply *reply);
    void *user;
} cm_admin_def;

void cm_admin_write_line(cm_admin_reply *reply, const char *json_line);
// Within `answer`: the rest of the answer comes later, from outside of it. Returns its number.
uint64_t cm_admin_later(cm_admin_reply *reply);
// The answer of a number, until cm_admin_done; NULL: the peer is gone.
cm_admin_reply *cm_admin_find(cm_admin *admin, uint64_t number);
void cm_admin_done(cm_admin *admin, uint64_t number);
// Answers where there is no connection: each line of it goes to `line`. `number` (0: none) is what
// cm_admin_later gives; true: it was not called, and all lines came.
bool cm_admin_answer(const cm_admin_def *def, const char *request, uint64_t number,
                     void (*line)(void *user, const char *json_line), void *user);
uint64_t cm_admin_number(const cm_admin_reply *reply); // the same; 0: there is a connection

// NULL, with the reason in `error`: a path that is too long, taken by something that is no socket,
// or by a server that answers. A socket without a listener is replaced.
cm_admin *cm_admin_create(const cm_admin_def *def, char *error, size_t error_size);
// The same question, and nothing is made or replaced.
bool cm_admin_check(const char *path, char *error, size_t error_size);
// Takes the socket away.
void cm_admin_destroy(cm_admin *admin);

// For poll: readable when a turn has something to do. Of NULL, which never has: -1.
int cm_admin_descriptor(const cm_admin *admin);
void cm_admin_turn(cm_admin *admin, uint64_t now_us);

// The client's end: sends a line and passes the lines of the answer to `line`. False, with the
// reason in `error`, if no server answers.
bool cm_admin_ask(const char *path, const char *request, void (*line)(void *user, const char *json),
                  void *user, char *error, size_t error_size);

#endif
