// A pipe for each connection, with an inbox for each end. Typical: one connection, two events a
// tick.
#include "tests/unit/transport/loopback.h"

#include <stdlib.h>
#include <string.h>

#include "shared/wire/packet.h"

typedef enum side { SERVER, CLIENT } side;

// An event on its way to the end that it is for.
typedef struct parcel {
    struct parcel *next;
    cm_transport_event event; // its bytes follow
    bool counted;
} parcel;

// An event that one end has yet to get.
typedef struct inbox {
    parcel *first, *last;
    size_t bytes;            // that wait here
    uint64_t sent, arrived;  // counted messages: put in, and taken out
    uint64_t events, octets; // taken out
} inbox;

typedef struct pipe {
    cm_transport transport; // of the client's end; first
    cm_loopback *loopback;
    uint32_t users;         // the server's place and the client: the last one frees it
    cm_connection_id id[2]; // as each end names it
    inbox to[2];
    bool open[2];
    parcel *held; // of the event that the client was given last
    uint64_t heard_us;
} pipe;

struct cm_loopback {
    cm_transport transport; // first
    pipe **places;          // NULL: never used. One that is closed stays until its place is given
    uint32_t generation;
    uint32_t turn; // the place that is looked at first
    uint64_t now_us;
    parcel *held;
};

// Pipes ------------------------------------------------------------------------------------------

static bool put(pipe *p, side to, cm_transport_event event, bool counted)
{
    inbox *in = &p->to[to];
    parcel *made = malloc(sizeof *made + event.size);
    if (made == NULL) {
        return false;
    }
    *made = (parcel){.event = event, .counted = counted};
    if (event.size > 0) {
        memcpy(made + 1, event.bytes, event.size);
    }
    made->event.connection = p->id[to];
    made->event.bytes = (const uint8_t *)(made + 1);
    *(in->first != NULL ? &in->last->next : &in->first) = made;
    in->last = made;
    in->bytes += event.size;
    in->sent += counted;
    return true;
}

static void tell_closed(pipe *p, side to, carom_reason reason)
{
    if (p->open[to]) {
        (void)put(p, to, (cm_transport_event){.type = CM_TRANSPORT_CLOSED, .reason = reason},
                  false);
    }
}

// The next event of an end; *held keeps its bytes until the one after it.
static bool take(pipe *p, side end, parcel **held, cm_transport_event *event)
{
    inbox *in = &p->to[end];
    parcel *first = in->first;
    if (!p->open[end] || first == NULL) {
        return false;
    }
    free(*held);
    *held = first;
    in->first = first->next;
    in->bytes -= first->event.size;
    in->arrived += first->counted;
    in->events++;
    in->octets += first->event.size;
    *event = first->event;
    if (event->type == CM_TRANSPORT_CLOSED) { // who said goodbye is told that it arrived
        p->open[end] = false;
        tell_closed(p, 1 - end, CAROM_REASON_NONE);
    }
    return true;
}

static bool send_by(pipe *p, side from, cm_send_kind kind, const void *bytes, size_t size)
{
    const cm_transport_event event = {.type = CM_TRANSPORT_RECEIVED,
                                      .kind = kind == CM_SEND_COUNTED ? CM_SEND_CONTROL : kind,
                                      .bytes = bytes,
                                      .size = size};
    return p != NULL && p->open[SERVER] && p->open[CLIENT] &&
           put(p, 1 - from, event, kind == CM_SEND_COUNTED);
}

static void close_by(pipe *p, side from, carom_reason reason, cm_close_how how)
{
    if (p != NULL && p->open[from] && how == CM_CLOSE_AFTER_ALL && p->open[1 - from]) {
        tell_closed(p, 1 - from, reason);
    } else if (p != NULL) {
        p->open[from] = false;
    }
}

static cm_transport_status status_of(const pipe *p, side of)
{
    const inbox *out = &p->to[1 - of], *in = &p->to[of];
    return (cm_transport_status){.silence_ms =
                                     (uint32_t)((p->loopback->now_us - p->heard_us) / 1000u),
                                 .outstanding = out->bytes,
                                 .sent = out->sent,
                                 .arrived = out->arrived,
                                 .bytes_in = in->octets,
                                 .bytes_out = out->octets,
                                 .opened = in->events};
}

static void release(pipe *p)
{
    if (p == NULL || --p->users > 0) {
        return;
    }
    for (side end = SERVER; end <= CLIENT; end++) {
        while (p->to[end].first != NULL) {
            parcel *first = p->to[end].first;
            p->to[end].first = first->next;
            free(first);
        }
    }
    free(p->held);
    free(p);
}

// Both ends --------------------------------------------------------------------------------------

static cm_transport_caps caps_of(const cm_transport *transport, cm_connection_id connection)
{
    (void)transport, (void)connection;
    return (cm_transport_caps){.unreliable = true, .sealed = true, .mtu = CM_PACKET_MAX};
}

// The server's end -------------------------------------------------------------------------------

static pipe *find(const cm_transport *transport, cm_connection_id connection)
{
    const cm_loopback *loopback = (const cm_loopback *)transport;
    pipe *p = connection.index < transport->capacity ? loopback->places[connection.index] : NULL;
    return p != NULL && cm_connection_id_equal(p->id[SERVER], connection) ? p : NULL;
}

static void server_begin(cm_transport *transport, uint64_t now_us, uint64_t unix_s)
{
    (void)unix_s;
    ((cm_loopback *)transport)->now_us = now_us;
}

static bool server_poll(cm_transport *transport, cm_transport_event *event)
{
    cm_loopback *loopback = (cm_loopback *)transport;
    for (uint32_t i = 0; i < transport->capacity; i++) {
        uint32_t index = (loopback->turn + i) % transport->capacity;
        pipe *p = loopback->places[index];
        if (p != NULL && take(p, SERVER, &loopback->held, event)) {
            loopback->turn = index; // the rest of it comes next
            p->heard_us = loopback->now_us;
            return true;
        }
    }
    return false;
}

static bool server_send(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                        const void *bytes, size_t size)
{
    return send_by(find(transport, connection), SERVER, kind, bytes, size);
}

static void server_close(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                         cm_close_how how)
{
    close_by(find(transport, connection), SERVER, reason, how);
}

static cm_transport_status server_status(const cm_transport *transport, cm_connection_id connection)
{
    const pipe *p = find(transport, connection);
    return p != NULL ? status_of(p, SERVER) : (cm_transport_status){0};
}

void cm_loopback_destroy(cm_loopback *loopback)
{
    if (loopback == NULL) {
        return;
    }
    for (uint32_t i = 0; loopback->places != NULL && i < loopback->transport.capacity; i++) {
        release(loopback->places[i]);
    }
    free(loopback->held);
    free(loopback->places);
    free(loopback);
}

static void server_destroy(cm_transport *transport, carom_reason reason)
{
    (void)reason;
    cm_loopback_destroy((cm_loopback *)transport);
}

static const cm_transport_functions server_functions = {.begin = server_begin,
                                                        .poll = server_poll,
                                                        .send = server_send,
                                                        .close = server_close,
                                                        .caps = caps_of,
                                                        .status = server_status,
                                                        .destroy = server_destroy};

cm_transport *cm_loopback_transport(cm_loopback *loopback)
{
    return &loopback->transport;
}

cm_loopback *cm_loopback_create(uint32_t capacity)
{
    cm_loopback *loopback = calloc(1, sizeof *loopback);
    if (loopback != NULL) {
        loopback->transport = (cm_transport){&server_functions, capacity};
        loopback->places = calloc(capacity, sizeof *loopback->places);
    }
    if (loopback != NULL && loopback->places == NULL) {
        cm_loopback_destroy(loopback);
        return NULL;
    }
    return loopback;
}

// A client's end ---------------------------------------------------------------------------------

static bool client_poll(cm_transport *transport, cm_transport_event *event)
{
    pipe *p = (pipe *)transport;
    return take(p, CLIENT, &p->held, event);
}

static bool client_send(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                        const void *bytes, size_t size)
{
    (void)connection;
    return send_by((pipe *)transport, CLIENT, kind, bytes, size);
}

static void client_close(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                         cm_close_how how)
{
    (void)connection;
    close_by((pipe *)transport, CLIENT, reason, how);
}

static cm_transport_status client_status(const cm_transport *transport, cm_connection_id connection)
{
    (void)connection;
    return status_of((const pipe *)transport, CLIENT);
}

static bool client_redirect(cm_transport *transport, uint16_t port)
{
    (void)transport, (void)port;
    return false; // there is nothing else
}

static void client_destroy(cm_transport *transport, carom_reason reason)
{
    pipe *p = (pipe *)transport;
    if (p->open[CLIENT]) {
        tell_closed(p, SERVER, reason);
    }
    p->open[CLIENT] = false;
    release(p);
}

static const cm_transport_functions client_functions = {.poll = client_poll,
                                                        .send = client_send,
                                                        .close = client_close,
                                                        .caps = caps_of,
                                                        .status = client_status,
                                                        .redirect = client_redirect,
                                                        .destroy = client_destroy};

cm_transport *cm_loopback_connect(cm_loopback *loopback)
{
    uint32_t index = 0;
    while (index < loopback->transport.capacity && loopback->places[index] != NULL &&
           loopback->places[index]->open[SERVER]) {
        index++;
    }
    pipe *p = index < loopback->transport.capacity ? calloc(1, sizeof *p) : NULL;
    if (p == NULL) {
        return NULL;
    }
    *p = (pipe){.transport = {&client_functions, 1},
                .loopback = loopback,
                .users = 2,
                .id = {{index, ++loopback->generation}, CM_CONNECTION_ONLY},
                .open = {true, true},
                .heard_us = loopback->now_us};
    const cm_transport_event opened = {.type = CM_TRANSPORT_OPENED};
    if (!put(p, SERVER, opened, false) || !put(p, CLIENT, opened, false)) {
        p->users = 1;
        release(p);
        return NULL;
    }
    release(loopback->places[index]);
    loopback->places[index] = p;
    return &p->transport;
}
