// The clients, as their three files share them: clients.c (connections, control messages, who is
// sent away), hello.c (which room a client enters) and inputs.c (input packets).
#ifndef CM_SERVER_SESSION_CLIENTS_INNER_H
#define CM_SERVER_SESSION_CLIENTS_INNER_H

#include "server/session/clients.h"

struct cm_clients {
    cm_clients_def def;
    uint64_t now_us, unix_s;
    cm_client *list; // by place of the connection
    cm_clients_stats stats;
};

// Writes a line to the log, in the name of the client's room where it is in one.
void cm_clients_log_fields(const cm_clients *clients, const cm_client *client, cm_log_level level,
                           const char *event, const cm_field *fields, size_t count);
#define cm_clients_log(clients, client, level, event, ...)                                         \
    cm_clients_log_fields(clients, client, level, event, CM_FIELDS(__VA_ARGS__))
// Sends a client away. `text`: for a refused client; NULL: the reason's own. `port`: of another
// worker, with ELSEWHERE; else 0.
void cm_clients_send_off(cm_clients *clients, cm_client *client, carom_reason reason,
                         const char *text, uint16_t port);
// Answers a hello: the client gets a slot, or is sent away. False: the room cannot say yet, and is
// to be asked again.
bool cm_clients_hello(cm_clients *clients, cm_client *client, const cm_control *hello);
// Takes a datagram of the input channel.
void cm_clients_input(cm_clients *clients, cm_client *client, const cm_transport_event *event);

#endif
