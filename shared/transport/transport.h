// The seam between the users of connections (the server's sessions, the SDK's client) and the
// transports that carry their bytes. A transport opens connections of its own (each implementation
// has its own call, since each needs something else), and everything else about them is here:
//
//   server/transport/enet     cm_host_create: many connections, behind the gate
//   client-sdk/src/link       cm_client_link_open: one, with the handshake
//   tests/unit/transport/loopback cm_loopback_create: within one process
//
// A connection is named by place and generation. Places are below `capacity` and are reused;
// generations are not, so that a message to a closed connection never reaches another one. Typical:
// 32 connections, 60 events a second from each.
#ifndef CM_TRANSPORT_TRANSPORT_H
#define CM_TRANSPORT_TRANSPORT_H

#include "carom/reason.h"

#include "shared/wire/handshake.h"

typedef struct cm_connection_id {
    uint32_t index;
    uint32_t generation; // 0: none
} cm_connection_id;

// The one of a transport that has but one: a client's.
#define CM_CONNECTION_ONLY ((cm_connection_id){0, 1})

typedef enum cm_send_kind {
    CM_SEND_CONTROL, // reliable and ordered
    CM_SEND_COUNTED, // the same; cm_transport_status counts arrivals; received as CONTROL
    CM_SEND_PACKET,  // neither: at most caps.mtu bytes
} cm_send_kind;

typedef enum cm_transport_event_type {
    CM_TRANSPORT_OPENED = 1,
    CM_TRANSPORT_CLOSED, // by the other end, by silence, or for another connection
    CM_TRANSPORT_RECEIVED,
    CM_TRANSPORT_MALFORMED, // the other end itself sent what is not allowed; dropped and counted
    CM_TRANSPORT_REFUSED,   // a client's: refused by the server, signed
    CM_TRANSPORT_LISTED, // a client's: the rooms that it asked for are there, and it connects now
    CM_TRANSPORT_RESTARTED, // a client's: it begins from the beginning, OPENED is still to come
} cm_transport_event_type;

typedef struct cm_transport_event {
    cm_transport_event_type type;
    cm_connection_id connection;
    carom_reason reason;  // CLOSED: the other end's, TIMEOUT, or NONE; REFUSED: the reason
    bool evicted;         // CLOSED: it had not joined a room, and another one wanted its place
    cm_send_kind kind;    // RECEIVED: CONTROL or PACKET
    const uint8_t *bytes; // valid until the next call
    size_t size;
} cm_transport_event;

// The present capabilities of a connection.
typedef struct cm_transport_caps {
    bool unreliable; // packets that are lost are not sent again, and hold nothing up
    bool sealed;     // cannot be read or changed on the path
    size_t mtu;      // bytes of a packet: grows when the path is known to carry more
} cm_transport_caps;

typedef struct cm_transport_status {
    cm_address address; // of the other end
    uint32_t round_trip_ms;
    uint32_t round_trip_jitter_ms; // that the next one may be longer by
    uint32_t silence_ms;           // since something came
    size_t outstanding;            // bytes of messages that the other end has not acknowledged
    uint64_t sent, arrived;        // messages that count: sent, and arrived with all before them
    uint64_t wire_bytes; // sent, IP and UDP headers counted; by a server's transport alone, and
                         // from any number on
    // Counted by a client's transport alone.
    uint64_t bytes_in, bytes_out; // UDP payloads, seals counted
    uint64_t opened;              // datagrams that were the server's, of the present handshake
    uint64_t refused;             // datagrams that were not the server's, or came twice
    uint32_t hint;                // an unsigned carom_reason, perhaps forged on the path; 0: none
} cm_transport_status;

typedef enum cm_close_how {
    CM_CLOSE_AFTER_ALL, // what is queued goes first; CLOSED follows
    CM_CLOSE_SILENTLY,  // at once: nothing is sent to the other end, and no event follows
} cm_close_how;

// The progress of a connection that its transport needs to know.
typedef enum cm_transport_mark {
    CM_MARK_JOINED,   // it has a place in a room: its connection is not another's to take
    CM_MARK_WELCOMED, // a crash leaves its join; of a client: its welcome came
} cm_transport_mark;

typedef struct cm_transport cm_transport;
struct cm_client_rooms;

// begin, flush, token, mark and ask_rooms may be NULL: nothing to do, and no token.
typedef struct cm_transport_functions {
    void (*begin)(cm_transport *transport, uint64_t now_us, uint64_t unix_s);
    bool (*poll)(cm_transport *transport, cm_transport_event *event);
    bool (*send)(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                 const void *bytes, size_t size);
    void (*close)(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                  cm_close_how how);
    void (*flush)(cm_transport *transport);
    cm_transport_caps (*caps)(const cm_transport *transport, cm_connection_id connection);
    cm_transport_status (*status)(const cm_transport *transport, cm_connection_id connection);
    const cm_token *(*token)(const cm_transport *transport, cm_connection_id connection);
    void (*mark)(cm_transport *transport, cm_connection_id connection, cm_transport_mark mark);
    bool (*redirect)(cm_transport *transport, uint16_t port);
    bool (*ask_rooms)(cm_transport *transport, struct cm_client_rooms *rooms);
    void (*destroy)(cm_transport *transport, carom_reason reason);
} cm_transport_functions;

// The first member of each implementation.
struct cm_transport {
    const cm_transport_functions *functions;
    uint32_t capacity; // connections at once
};

// A turn of a server's begins: budgets are new. The times are of the host's clock and of the wall.
static inline void cm_transport_begin(cm_transport *transport, uint64_t now_us, uint64_t unix_s)
{
    if (transport->functions->begin != NULL) {
        transport->functions->begin(transport, now_us, unix_s);
    }
}

// The next event, or false: nothing is left, or the turn's budget is spent.
static inline bool cm_transport_poll(cm_transport *transport, cm_transport_event *event)
{
    return transport->functions->poll(transport, event);
}

// False where it cannot be queued: memory is short, or the connection is over.
static inline bool cm_transport_send(cm_transport *transport, cm_connection_id connection,
                                     cm_send_kind kind, const void *bytes, size_t size)
{
    return transport->functions->send(transport, connection, kind, bytes, size);
}

static inline void cm_transport_close(cm_transport *transport, cm_connection_id connection,
                                      carom_reason reason, cm_close_how how)
{
    transport->functions->close(transport, connection, reason, how);
}

// Puts what was sent on the wire.
static inline void cm_transport_flush(cm_transport *transport)
{
    if (transport->functions->flush != NULL) {
        transport->functions->flush(transport);
    }
}

static inline cm_transport_caps cm_transport_caps_of(const cm_transport *transport,
                                                     cm_connection_id connection)
{
    return transport->functions->caps(transport, connection);
}

// Of a connection that is over too, until its place is another's.
static inline cm_transport_status cm_transport_status_of(const cm_transport *transport,
                                                         cm_connection_id connection)
{
    return transport->functions->status(transport, connection);
}

// The contents of the other end's token; NULL if none is required.
static inline const cm_token *cm_transport_token(const cm_transport *transport,
                                                 cm_connection_id connection)
{
    const cm_transport_functions *functions = transport->functions;
    return functions->token != NULL ? functions->token(transport, connection) : NULL;
}

static inline void cm_transport_mark_set(cm_transport *transport, cm_connection_id connection,
                                         cm_transport_mark mark)
{
    if (transport->functions->mark != NULL) {
        transport->functions->mark(transport, connection, mark);
    }
}

// A client's: starts over at another port of the reached server, which redirected it there; 0: at
// the same port, and RESTARTED follows. False: too many redirects.
static inline bool cm_transport_redirect(cm_transport *transport, uint16_t port)
{
    return transport->functions->redirect(transport, port);
}

// A client's: before it connects it asks for the server's rooms, which come into `rooms`; LISTED
// follows. False: it connects already.
static inline bool cm_transport_ask_rooms(cm_transport *transport, struct cm_client_rooms *rooms)
{
    const cm_transport_functions *functions = transport->functions;
    return functions->ask_rooms != NULL && functions->ask_rooms(transport, rooms);
}

// Releases everything; a client's sends one disconnect first, and does not wait. NULL is allowed.
static inline void cm_transport_destroy(cm_transport *transport, carom_reason reason)
{
    if (transport != NULL) {
        transport->functions->destroy(transport, reason);
    }
}

static inline bool cm_connection_id_equal(cm_connection_id a, cm_connection_id b)
{
    return a.index == b.index && a.generation == b.generation;
}

#endif
