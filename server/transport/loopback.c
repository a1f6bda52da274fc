// Two inboxes a connection, the server's and the client's, each a list of events. Typical: one
// connection, two events a tick.
#include "server/transport/loopback.h"

#include <stdlib.h>
#include <string.h>

#include "shared/wire/packet.h"

// An event on its way to the end that it is for.
typedef struct parcel {
    struct parcel *next;
    cm_transport_event event; // its bytes stand behind
    bool counted;
} parcel;

// The inbox of one end: events that wait for it, and its counts.
typedef struct inbox {
    parcel *first, *last;
    size_t bytes;            // that wait here
    uint64_t sent, arrived;  // messages that count: into this inbox, and out of it
    uint64_t events, octets; // out of it
} inbox;

typedef struct client_end {
    cm_transport transport; // first
    cm_loopback *loopback;
    cm_connection_id connection; // of the server
    inbox inbox;
    parcel *held;
} client_end;

typedef struct place {
    uint32_t generation;
    bool open;
    client_end *client; // NULL: it is gone
    uint64_t heard_us;
    inbox inbox;
} place;

struct cm_loopback {
    cm_transport transport; // first
    place *places;
    uint32_t turn; // whose inbox is looked at first
    uint64_t now_us;
    parcel *held; // of the event handed out last
};

static bool put(inbox *to, const cm_transport_event *event, bool counted)
{
    parcel *made = malloc(sizeof *made + event->size);
    if (made == NULL) {
        return false;
    }
    *made = (parcel){.event = *event, .counted = counted};
    if (event->size > 0) {
        memcpy(made + 1, event->bytes, event->size);
    }
    made->event.bytes = (const uint8_t *)(made + 1);
    *(to->first != NULL ? &to->last->next : &to->first) = made;
    to->last = made;
    to->bytes += event->size;
    to->sent += counted;
    return true;
}

// The next one, which *held keeps until the one after it; false: there is none.
static bool take(inbox *from, parcel **held, cm_transport_event *event)
{
    parcel *first = from->first;
    free(*held);
    *held = first;
    if (first == NULL) {
        return false;
    }
    from->first = first->next;
    from->bytes -= first->event.size;
    from->arrived += first->counted;
    from->events++;
    from->octets += first->event.size;
    *event = first->event;
    return true;
}

static void clear(inbox *of)
{
    while (of->first != NULL) {
        parcel *first = of->first;
        of->first = first->next;
        free(first);
    }
    memset(of, 0, sizeof *of);
}

static bool put_bytes(inbox *to, cm_connection_id connection, cm_send_kind kind, const void *bytes,
                      size_t size)
{
    const cm_transport_event event = {.type = CM_TRANSPORT_RECEIVED,
                                      .connection = connection,
                                      .kind =
                                          kind == CM_SEND_PACKET ? CM_SEND_PACKET : CM_SEND_CONTROL,
                                      .bytes = bytes,
                                      .size = size};
    return put(to, &event, kind == CM_SEND_COUNTED);
}

static bool put_closed(inbox *to, cm_connection_id connection, carom_reason reason)
{
    const cm_transport_event event = {
        .type = CM_TRANSPORT_CLOSED, .connection = connection, .reason = reason};
    return put(to, &event, false);
}

static cm_transport_caps caps_of(const cm_transport *transport, cm_connection_id connection)
{
    (void)transport;
    (void)connection;
    return (cm_transport_caps){.unreliable = true, .sealed = true, .mtu = CM_PACKET_MAX};
}

static const cm_token *token_of(const cm_transport *transport, cm_connection_id connection)
{
    (void)transport;
    (void)connection;
    return NULL;
}

static void mark(cm_transport *transport, cm_connection_id connection, cm_transport_mark how_far)
{
    (void)transport;
    (void)connection;
    (void)how_far;
}

static void flush(cm_transport *transport)
{
    (void)transport;
}

// The server's end
// ---------------------------------------------------------------------------------

static place *place_of(const cm_transport *transport, cm_connection_id connection)
{
    const cm_loopback *loopback = (const cm_loopback *)transport;
    bool known = connection.generation != 0 && connection.index < transport->capacity &&
                 loopback->places[connection.index].generation == connection.generation;
    return known ? &loopback->places[connection.index] : NULL;
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
        place *at = &loopback->places[(loopback->turn + i) % transport->capacity];
        if (!at->open || at->inbox.first == NULL) {
            continue;
        }
        loopback->turn = (loopback->turn + i) % transport->capacity; // the rest of it comes next
        take(&at->inbox, &loopback->held, event);
        at->heard_us = loopback->now_us;
        at->open = event->type != CM_TRANSPORT_CLOSED;
        if (!at->open && at->client != NULL) { // an end that closed receives CLOSED in return
            put_closed(&at->client->inbox, CM_CONNECTION_ONLY, CAROM_REASON_NONE);
        }
        return true;
    }
    return false;
}

static bool server_send(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                        const void *bytes, size_t size)
{
    place *to = place_of(transport, connection);
    return to != NULL && to->open && to->client != NULL &&
           put_bytes(&to->client->inbox, CM_CONNECTION_ONLY, kind, bytes, size);
}

static void server_close(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                         cm_close_how how)
{
    place *at = place_of(transport, connection);
    if (at == NULL || !at->open) {
        return;
    }
    if (how == CM_CLOSE_AFTER_ALL && at->client != NULL) {
        put_closed(&at->client->inbox, CM_CONNECTION_ONLY, reason);
    } else {
        at->open = false;
    }
}

static cm_transport_status server_status(const cm_transport *transport, cm_connection_id connection)
{
    const cm_loopback *loopback = (const cm_loopback *)transport;
    const place *at = place_of(transport, connection);
    cm_transport_status status = {0};
    if (at != NULL) {
        status.silence_ms = (uint32_t)((loopback->now_us - at->heard_us) / 1000u);
    }
    if (at != NULL && at->client != NULL) {
        status.outstanding = at->client->inbox.bytes;
        status.sent = at->client->inbox.sent;
        status.arrived = at->client->inbox.arrived;
    }
    return status;
}

void cm_loopback_destroy(cm_loopback *loopback)
{
    if (loopback == NULL) {
        return;
    }
    for (uint32_t i = 0; loopback->places != NULL && i < loopback->transport.capacity; i++) {
        clear(&loopback->places[i].inbox);
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
                                                        .flush = flush,
                                                        .caps = caps_of,
                                                        .status = server_status,
                                                        .token = token_of,
                                                        .mark = mark,
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

// A client's end
// -----------------------------------------------------------------------------------

// Its place, while the server's end of it is open.
static place *own_place(const client_end *client)
{
    place *at = place_of(&client->loopback->transport, client->connection);
    return at != NULL && at->open ? at : NULL;
}

static void client_begin(cm_transport *transport, uint64_t now_us, uint64_t unix_s)
{
    (void)transport;
    (void)now_us;
    (void)unix_s;
}

static bool client_poll(cm_transport *transport, cm_transport_event *event)
{
    client_end *client = (client_end *)transport;
    if (!take(&client->inbox, &client->held, event)) {
        return false;
    }
    place *at = own_place(client);
    if (event->type == CM_TRANSPORT_CLOSED && at != NULL) {
        put_closed(&at->inbox, client->connection, CAROM_REASON_NONE);
        at->client = NULL;
    }
    return true;
}

static bool client_send(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                        const void *bytes, size_t size)
{
    client_end *client = (client_end *)transport;
    place *at = own_place(client);
    (void)connection;
    return at != NULL && put_bytes(&at->inbox, client->connection, kind, bytes, size);
}

static void client_close(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                         cm_close_how how)
{
    client_end *client = (client_end *)transport;
    place *at = own_place(client);
    (void)connection;
    if (at != NULL && how == CM_CLOSE_AFTER_ALL) {
        put_closed(&at->inbox, client->connection, reason);
    } else if (at != NULL) {
        at->client = NULL;
    }
}

static cm_transport_status client_status(const cm_transport *transport, cm_connection_id connection)
{
    const client_end *client = (const client_end *)transport;
    const place *at = own_place(client);
    (void)connection;
    cm_transport_status status = {.bytes_in = client->inbox.octets, .opened = client->inbox.events};
    if (at != NULL) {
        status.outstanding = at->inbox.bytes;
        status.sent = at->inbox.sent;
        status.arrived = at->inbox.arrived;
        status.bytes_out = at->inbox.octets;
    }
    return status;
}

static bool client_redirect(cm_transport *transport, uint16_t port)
{
    (void)transport;
    (void)port;
    return false; // there is nothing else
}

static void client_destroy(cm_transport *transport, carom_reason reason)
{
    client_end *client = (client_end *)transport;
    place *at = own_place(client);
    if (at != NULL) {
        put_closed(&at->inbox, client->connection, reason);
    }
    at = place_of(&client->loopback->transport, client->connection);
    if (at != NULL) {
        at->client = NULL;
    }
    clear(&client->inbox);
    free(client->held);
    free(client);
}

static const cm_transport_functions client_functions = {.begin = client_begin,
                                                        .poll = client_poll,
                                                        .send = client_send,
                                                        .close = client_close,
                                                        .flush = flush,
                                                        .caps = caps_of,
                                                        .status = client_status,
                                                        .token = token_of,
                                                        .mark = mark,
                                                        .redirect = client_redirect,
                                                        .destroy = client_destroy};

cm_transport *cm_loopback_connect(cm_loopback *loopback)
{
    uint32_t index = 0;
    while (index < loopback->transport.capacity && loopback->places[index].open) {
        index++;
    }
    client_end *client = index < loopback->transport.capacity ? calloc(1, sizeof *client) : NULL;
    if (client == NULL) {
        return NULL;
    }
    place *at = &loopback->places[index];
    clear(&at->inbox);
    *at = (place){.generation = at->generation + 1,
                  .open = true,
                  .client = client,
                  .heard_us = loopback->now_us};
    client->transport = (cm_transport){&client_functions, 1};
    client->loopback = loopback;
    client->connection = (cm_connection_id){index, at->generation};
    cm_transport_event opened = {.type = CM_TRANSPORT_OPENED, .connection = client->connection};
    bool told = put(&at->inbox, &opened, false);
    opened.connection = CM_CONNECTION_ONLY;
    if (!told || !put(&client->inbox, &opened, false)) {
        at->open = false;
        client_destroy(&client->transport, CAROM_REASON_NONE);
        return NULL;
    }
    return &client->transport;
}
