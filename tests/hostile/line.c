// Between the client and its link: a transport that has the real one inside, and the hooks by which
// ENet's datagrams come.
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/link_inner.h"
#include "client-sdk/src/state.h"
#include "tests/hostile/hostile.h"

#define BURST      48u      // changed ones in an update
#define CUT        12u      // likewise: falls silent
#define AWAY       60u      // updates that it is left alone then
#define LONG_US    3000000u // of one way to be met
#define BEFORE_ALL 4u       // one connection of so many is met before it is in a room

typedef struct line {
    cm_transport transport; // first
    cm_transport *inner;
    hostile *hostile;
    cm_enet_hooks hooks; // the link's own
    hostile_bytes given, opened;
    bool is_cut; // nothing comes any more: the client comes back by another
} line;

static line *line_of(const cm_transport *transport)
{
    return (line *)(uintptr_t)transport;
}

void hostile_line_begin(hostile *h)
{
    h->kinds = (uint32_t)cm_rng_next(&h->rng) & ((1u << HOSTILE_KINDS) - 1);
    h->kinds |= 1u << cm_rng_below(&h->rng, HOSTILE_KINDS);
    h->patience = cm_rng_below(&h->rng, BEFORE_ALL) == 0 ? 0 : 1 + cm_rng_below(&h->rng, 8);
    h->rate = 64u << cm_rng_below(&h->rng, 6);
    h->due = 0;
    h->redraw_us = cm_net_now_us(h->net) + LONG_US;
    h->is_cut = h->patience > 0 && cm_rng_below(&h->rng, CUT) == 0;
}

static bool is_on(const hostile *h, hostile_kind kind)
{
    return (h->kinds >> kind & 1) != 0;
}

static bool is_met(const hostile *h)
{
    return h->patience == 0 && hostile_done(h) < h->wanted;
}

static void keep(hostile_bytes *kept, uint32_t *count, const uint8_t *bytes, size_t size)
{
    hostile_bytes *row = &kept[(*count)++ % HOSTILE_KEPT];
    hostile_release(row);
    *row = hostile_copy(bytes, size);
}

static void note(hostile *h, const cm_transport_event *event)
{
    uint32_t type = event->size > 0 ? event->bytes[0] >> 3 : 0; // the number of its one field
    if (event->kind == CM_SEND_PACKET) {
        keep(h->views, &h->view_count, event->bytes, event->size);
    } else if (type < HOSTILE_CONTROLS) {
        keep(h->kept[type], &h->kept_count[type], event->bytes, event->size);
    }
}

void hostile_line_forget(hostile *h)
{
    for (uint32_t i = 0; i < HOSTILE_KEPT; i++) {
        hostile_release(&h->views[i]);
        for (uint32_t type = 0; type < HOSTILE_CONTROLS; type++) {
            hostile_release(&h->kept[type][i]);
        }
    }
    while (h->taken < h->queued) {
        hostile_release(&h->queue[h->taken++]);
    }
}

static void give(line *l, hostile_bytes bytes, bool control, cm_transport_event *event)
{
    hostile_release(&l->given);
    l->given = bytes;
    *event = (cm_transport_event){.type = CM_TRANSPORT_RECEIVED,
                                  .connection = CM_CONNECTION_ONLY,
                                  .kind = control ? CM_SEND_CONTROL : CM_SEND_PACKET,
                                  .bytes = bytes.data,
                                  .size = bytes.size};
}

// One that the server never sent. False: none is due, or none can be made now.
static bool intrude(line *l, cm_transport_event *event)
{
    hostile *h = l->hostile;
    if (h->taken < h->queued) {
        give(l, h->queue[h->taken++], true, event);
        return true;
    }
    while (h->due > 0 && is_met(h)) {
        bool control = false;
        hostile_kind kind = (hostile_kind)cm_rng_below(&h->rng, HOSTILE_DATAGRAM);
        h->due--;
        if (!is_on(h, kind)) {
            continue;
        }
        hostile_bytes forged = hostile_forge(h, kind, &control);
        if (forged.data != NULL) {
            h->counts->done[kind]++;
            h->counts->controls[control && forged.size > 0 ? forged.data[0] >> 3 & 15 : 0]++;
            give(l, forged, control, event);
            return true;
        }
    }
    return false;
}

static bool poll_event(cm_transport *transport, cm_transport_event *event)
{
    line *l = line_of(transport);
    hostile *h = l->hostile;
    if (h->client->link != NULL && intrude(l, event)) {
        return true;
    }
    if (!cm_transport_poll(l->inner, event)) {
        return false;
    }
    if (event->type != CM_TRANSPORT_RECEIVED) {
        return true;
    }
    note(h, event);
    hostile_kind kind = event->kind == CM_SEND_PACKET ? HOSTILE_VIEW_BYTES : HOSTILE_CONTROL_BYTES;
    if (is_met(h) && is_on(h, kind) && cm_rng_below(&h->rng, 1024) < h->rate / 4) {
        hostile_bytes came = {(uint8_t *)(uintptr_t)event->bytes, event->size};
        h->counts->done[kind]++;
        h->counts->controls[kind == HOSTILE_CONTROL_BYTES ? came.data[0] >> 3 & 15 : 0]++;
        give(l, hostile_change(&h->rng, came), event->kind == CM_SEND_CONTROL, event);
    }
    return true;
}

// Under the seal
// -----------------------------------------------------------------------------------

// What was sealed is changed, without the checksum's four bytes, which were not; what is too short
// for ENet's head the seal's reader refuses.
static void change_frame(line *l, uint8_t **bytes, size_t *size)
{
    hostile *h = l->hostile;
    size_t head = (**bytes & 0x80) != 0 ? 4 : 2, sum = CM_FRAME_CHECKSUM;
    hostile_bytes plain = hostile_copy(*bytes, *size - sum);
    memcpy(plain.data + head, *bytes + head + sum, *size - head - sum);
    hostile_bytes changed = hostile_change(&h->rng, plain);
    hostile_release(&plain);
    head = changed.size > 0 && (changed.data[0] & 0x80) != 0 ? 4 : 2;
    if (changed.size >= head && changed.size + sum <= CM_DATAGRAM_MAX) {
        h->counts->done[HOSTILE_DATAGRAM]++;
        hostile_release(&l->opened);
        l->opened = (hostile_bytes){calloc(1, changed.size + sum), changed.size + sum};
        memcpy(l->opened.data, changed.data, head);
        memcpy(l->opened.data + head + sum, changed.data + head, changed.size - head);
        *bytes = l->opened.data;
        *size = l->opened.size;
    }
    hostile_release(&changed);
}

static bool open_datagram(void *owner, uint32_t *host, uint16_t *port, uint8_t **bytes,
                          size_t *size)
{
    line *l = owner;
    hostile *h = l->hostile;
    if (l->is_cut) {
        return false;
    }
    uint8_t type = *size > 0 ? **bytes : 0;
    bool plain = type == CM_WIRE_CHALLENGE || type == CM_WIRE_ROOMS || type == CM_WIRE_REFUSAL;
    hostile_bytes came = {*bytes, *size};
    if (plain && hostile_done(h) < h->wanted && is_on(h, HOSTILE_HANDSHAKE) &&
        cm_rng_below(&h->rng, 4) == 0) {
        h->counts->done[HOSTILE_HANDSHAKE]++;
        hostile_release(&l->opened);
        l->opened = hostile_change(&h->rng, came);
        *bytes = l->opened.data;
        *size = l->opened.size;
    }
    if (!l->hooks.open(l->hooks.owner, host, port, bytes, size)) {
        return false;
    }
    if (is_met(h) && is_on(h, HOSTILE_DATAGRAM) && cm_rng_below(&h->rng, 2048) < h->rate) {
        change_frame(l, bytes, size);
    }
    return true;
}

static size_t seal(void *owner, uint32_t id, const cm_frame_part *parts, size_t count,
                   uint8_t *datagram)
{
    const line *l = owner;
    return l->hooks.seal(l->hooks.owner, id, parts, count, datagram);
}

// As a transport
// -----------------------------------------------------------------------------------

static bool send_bytes(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                       const void *bytes, size_t size)
{
    return cm_transport_send(line_of(transport)->inner, connection, kind, bytes, size);
}

static void close_line(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                       cm_close_how how)
{
    cm_transport_close(line_of(transport)->inner, connection, reason, how);
}

// An update is over: what the next one meets.
static void flush(cm_transport *transport)
{
    hostile *h = line_of(transport)->hostile;
    cm_transport_flush(line_of(transport)->inner);
    if (h->is_cut && h->patience == 0) {
        line_of(transport)->is_cut = true;
        h->is_cut = false;
        h->patience = AWAY;
    }
    uint32_t whole = h->rate / 64;
    h->due = whole + (cm_rng_below(&h->rng, 64) < h->rate % 64);
    h->due = h->due < BURST ? h->due : BURST;
}

static cm_transport_caps caps_of(const cm_transport *transport, cm_connection_id connection)
{
    return cm_transport_caps_of(line_of(transport)->inner, connection);
}

static cm_transport_status status_of(const cm_transport *transport, cm_connection_id connection)
{
    return cm_transport_status_of(line_of(transport)->inner, connection);
}

static void mark(cm_transport *transport, cm_connection_id connection, cm_transport_mark how_far)
{
    cm_transport_mark_set(line_of(transport)->inner, connection, how_far);
}

static bool redirect(cm_transport *transport, uint16_t port)
{
    return cm_transport_redirect(line_of(transport)->inner, port);
}

static bool ask_rooms(cm_transport *transport, struct cm_client_rooms *rooms)
{
    return cm_transport_ask_rooms(line_of(transport)->inner, rooms);
}

static void destroy(cm_transport *transport, carom_reason reason)
{
    line *l = line_of(transport);
    cm_transport_destroy(l->inner, reason);
    hostile_release(&l->given);
    hostile_release(&l->opened);
    free(l);
}

static const cm_transport_functions functions = {.poll = poll_event,
                                                 .send = send_bytes,
                                                 .close = close_line,
                                                 .flush = flush,
                                                 .caps = caps_of,
                                                 .status = status_of,
                                                 .mark = mark,
                                                 .redirect = redirect,
                                                 .ask_rooms = ask_rooms,
                                                 .destroy = destroy};

carom_result hostile_line_open(const cm_client_link_def *def, cm_transport **link)
{
    line *l = calloc(1, sizeof *l);
    *link = NULL;
    carom_result result = cm_client_link_open(def, &l->inner);
    if (result != CAROM_OK) {
        free(l);
        return result;
    }
    cm_client_link *inner = (cm_client_link *)(void *)l->inner;
    l->transport = (cm_transport){&functions, 1};
    l->hostile = def->context;
    l->hooks = inner->hooks;
    inner->hooks.owner = l;
    inner->hooks.seal = seal;
    inner->hooks.open = open_datagram;
    *link = &l->transport;
    return CAROM_OK;
}
