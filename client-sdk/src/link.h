// The client's one connection: handshake, seal, and ENet behind bytes. Of the SDK, link.c and
// shared/transport/enet_hooks.c alone know ENet.
//
// A link belongs to the thread of its client. ENet's allocation callbacks are process-wide and may
// belong to the game that links the SDK, so they are left alone: packets and peers come from
// whatever ENet was given, everything else from the client's allocator.
#ifndef CM_CLIENT_LINK_H
#define CM_CLIENT_LINK_H

#include "carom/types.h"

#include "shared/wire/token.h"

typedef struct cm_client_link cm_client_link;

#define CM_LINK_CONTROL 0 // reliable, ordered
#define CM_LINK_PLAY    1 // views and inputs: unreliable, unsequenced

typedef enum cm_link_event_type {
    CM_LINK_CONNECTED = 1,
    CM_LINK_DISCONNECTED, // data: what the other side said, 0 for silence
    CM_LINK_RECEIVED,
    CM_LINK_REFUSED, // data: a carom_reason, and nobody but the server can have said it
    CM_LINK_ANEW,    // it begins from the beginning: CM_LINK_CONNECTED is still to come
} cm_link_event_type;

typedef struct cm_link_event {
    cm_link_event_type type;
    uint32_t data;
    uint32_t channel;
    const uint8_t *bytes; // valid until the next call with this link
    size_t size;
} cm_link_event;

typedef struct cm_link_info {
    uint32_t rtt_ms;
    uint64_t bytes_in, bytes_out; // UDP payloads, seals counted
    uint64_t opened;              // datagrams that were the server's, of the present handshake
    uint64_t settled;             // control messages that the server has, and all before them
    uint64_t refused;             // datagrams that were not the server's, or came twice
    uint32_t hint;                // a carom_reason that somebody on the path gave; 0: none
    size_t packet_max;            // bytes of a packet on CM_LINK_PLAY, as the path carries now
} cm_link_info;

typedef struct cm_client_link_def {
    const carom_allocator *allocator;
    const cm_token_pass *pass; // where to go and what lets in; NULL: host and port, without a token
    const char *host;          // a name is looked up at once (which may block)
    uint16_t port;
    // Fills bytes by chance that nobody can foresee.
    void (*random)(void *context, void *bytes, size_t size);
    void *context;
} cm_client_link_def;

// Starts connecting; the def's pointers are not kept, but its functions and context are.
carom_result cm_client_link_open(const cm_client_link_def *def, cm_client_link **link);
// One farewell with `data`, not waited for, then everything is released. NULL is allowed.
void cm_client_link_close(cm_client_link *link, uint32_t data);
// Says farewell after all reliable messages; CM_LINK_DISCONNECTED follows.
void cm_client_link_leave(cm_client_link *link, uint32_t data);

// The next event, or false where nothing is left to do now.
bool cm_client_link_poll(cm_client_link *link, cm_link_event *event);
// The server's welcome came: from now on its silence is the caller's affair. Before that a link
// asks by itself whether the server still lives.
void cm_client_link_welcomed(cm_client_link *link);
// From the beginning, to the same port: CM_LINK_ANEW follows.
void cm_client_link_again(cm_client_link *link);
bool cm_client_link_send(cm_client_link *link, uint32_t channel, const uint8_t *bytes, size_t size);
// From the beginning, to another port of the server that it has reached, which has said so. False:
// it was sent on so often that it follows no more.
bool cm_client_link_move(cm_client_link *link, uint16_t port);
// Puts what was sent on the wire.
void cm_client_link_flush(cm_client_link *link);
// How many control messages were sent.
uint64_t cm_client_link_sent(const cm_client_link *link);
// The server that it leads to.
void cm_client_link_server(const cm_client_link *link, carom_token_address *server);
void cm_client_link_info(const cm_client_link *link, cm_link_info *info);

#endif
