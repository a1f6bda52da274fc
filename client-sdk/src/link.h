// The client's one connection: handshake, seal, and ENet behind a transport. Of the SDK, link.c and
// shared/transport/enet_hooks.c alone know ENet.
//
// A link belongs to the thread of its client. ENet's allocation callbacks are process-wide and may
// belong to the game that links the SDK, so they are left alone: packets and peers come from
// whatever ENet was given, everything else from the client's allocator.
#ifndef CM_CLIENT_LINK_H
#define CM_CLIENT_LINK_H

#include "carom/client_more.h"

#include "shared/transport/transport.h"

typedef struct cm_client_link_def {
    const carom_allocator *allocator;
    const cm_token_pass *pass; // where to go and what lets in; NULL: host and port, without a token
    const char *host;          // a name is looked up at once (which may block)
    uint16_t port;
    const carom_client_link *path; // to simulate, kept; NULL: none
    // Fills bytes from a cryptographic random source.
    void (*random)(void *context, void *bytes, size_t size);
    void *context;
} cm_client_link_def;

// Starts connecting: what happens comes by cm_transport_poll, of CM_CONNECTION_ONLY. The def's
// pointers are not kept, but path, its functions and context are.
carom_result cm_client_link_open(const cm_client_link_def *def, cm_transport **link);

#endif
