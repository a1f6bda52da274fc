// A client's end of a local room, as a transport. Nothing is lost, nothing waits.
#include "client-sdk/src/local.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/wire/message_packet.h"

static cm_local_link *link_of(cm_transport *transport)
{
    return (cm_local_link *)transport;
}

bool cm_local_put(cm_local_queue *queue, const carom_allocator *allocator,
                  const cm_local_parcel *head, const void *bytes, size_t size)
{
    cm_local_parcel *parcel = cm_memory_take(allocator, sizeof *parcel + size);
    if (parcel == NULL) {
        return false;
    }
    *parcel = *head;
    parcel->next = NULL;
    parcel->size = size;
    if (size > 0) {
        memcpy(parcel->bytes, bytes, size);
    }
    queue->last = queue->first != NULL ? queue->last : &queue->first;
    *queue->last = parcel;
    queue->last = &parcel->next;
    return true;
}

cm_local_parcel *cm_local_take(cm_local_queue *queue)
{
    cm_local_parcel *parcel = queue->first;
    queue->first = parcel != NULL ? parcel->next : NULL;
    return parcel;
}

void cm_local_clear(cm_local_queue *queue, const carom_allocator *allocator)
{
    for (cm_local_parcel *parcel; (parcel = cm_local_take(queue)) != NULL;) {
        cm_memory_give(allocator, parcel);
    }
}

void cm_local_send(cm_local_link *link, const cm_control *control)
{
    const cm_local_parcel head = {.type = CM_TRANSPORT_RECEIVED, .kind = CM_SEND_CONTROL};
    uint8_t *bytes = NULL;
    size_t size;
    bool sent = cm_control_encode(control, &link->allocator, &bytes, &size) == CAROM_OK &&
                cm_local_put(&link->inbox, &link->allocator, &head, bytes, size);
    cm_control_release_bytes(&link->allocator, bytes);
    link->status.opened++;
    if (!sent) {
        cm_local_send_away(link, CAROM_REASON_CLIENT_ERROR); // memory is short
    }
}

void cm_local_send_away(cm_local_link *link, carom_reason reason)
{
    const cm_local_parcel head = {.type = CM_TRANSPORT_CLOSED, .reason = reason};
    if (link->state != CM_LOCAL_GONE) {
        link->state = CM_LOCAL_GONE;
        (void)cm_local_put(&link->inbox, &link->allocator, &head, NULL, 0);
    }
}

// The client sends ------------------------------------------------------------------------

static void push_event(cm_local_link *link, cm_game_event_type type, cm_bytes bytes)
{
    const cm_local_parcel head = {.type = type, .player = link->player};
    if (!cm_local_put(&link->local->events, &link->local->allocator, &head, bytes.data,
                      bytes.size)) {
        cm_local_send_away(link, CAROM_REASON_SERVER_ERROR);
    }
}

static void leave(cm_local_link *link)
{
    if (link->local != NULL && (link->state == CM_LOCAL_PLAYS || link->state == CM_LOCAL_WAITS)) {
        push_event(link, CM_EVENT_LEAVE, (cm_bytes){NULL, 0});
    }
}

static void take_control(cm_local_link *link, const cm_control *control)
{
    carom_local *local = link->local;
    if (control->type == CM_CONTROL_HELLO && link->state == CM_LOCAL_KNOCKS) {
        if (control->spectate) { // whoever is here sees all of it
            cm_local_send_away(link, CAROM_REASON_NO_SPECTATORS);
            return;
        }
        if (!cm_game_may_join(local->game, control->user_data.data,
                              (uint32_t)control->user_data.size)) {
            cm_local_send_away(link, CAROM_REASON_GAME_REFUSED);
            return;
        }
        if (control->name != NULL) { // checked when it was decoded
            memcpy(link->name, control->name, strlen(control->name));
        }
        push_event(link, CM_EVENT_JOIN, control->user_data);
        link->state = CM_LOCAL_WAITS;
    } else if (control->type == CM_CONTROL_GAME_MESSAGE && link->state == CM_LOCAL_PLAYS) {
        push_event(link, CM_EVENT_MESSAGE, control->payload);
    }
}

static void take_inputs(cm_local_link *link, const uint8_t *bytes, size_t size)
{
    cm_input_packet packet;
    carom_local *local = link->local;
    if (cm_input_packet_read(bytes, size, cm_game_input_size(local->game), &packet) !=
        CM_PACKET_OK) {
        return;
    }
    uint64_t tick = carom_game_tick(local->game);
    double rate = 1.0e-6 * carom_world_tick_rate(carom_game_world(local->game));
    double position = local->began ? (double)(link->now_us - local->start_us) * rate : 0.0;
    for (uint32_t i = 0; i < packet.count; i++) {
        uint64_t of = (uint64_t)packet.newest_tick - i;
        uint32_t row = of % CM_LOCAL_AHEAD;
        cm_pointer_reason reason;
        if (of <= tick || of >= tick + CM_LOCAL_AHEAD || link->input_of[row] == of ||
            cm_game_check_input(local->game, packet.inputs[i], &reason) != CM_INPUT_GOOD) {
            continue;
        }
        int32_t lead = (int32_t)(((double)of - position) * 16.0);
        link->least_lead = lead < link->least_lead ? lead : link->least_lead;
        link->input_of[row] = of;
        memcpy(link->inputs[row], packet.inputs[i], CAROM_INPUT_MAX);
    }
}

static bool send_bytes(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                       const void *bytes, size_t size)
{
    cm_local_link *link = link_of(transport);
    cm_control *control;
    (void)connection;
    if (link->local == NULL || link->state == CM_LOCAL_GONE) {
        return false;
    }
    cm_message_packet message;
    link->status.bytes_out += size;
    if (kind == CM_SEND_PACKET && link->state == CM_LOCAL_PLAYS &&
        cm_message_packet_read(CM_PACKET_MESSAGE, bytes, size, &message) == CM_PACKET_OK) {
        push_event(link, CM_EVENT_MESSAGE, (cm_bytes){message.bytes, message.size});
        return true;
    }
    if (kind == CM_SEND_PACKET) {
        take_inputs(link, bytes, size);
        return true;
    }
    if (cm_control_decode(bytes, size, true, &link->allocator, &control) != CAROM_OK) {
        return false;
    }
    take_control(link, control);
    cm_control_free(&link->allocator, control);
    link->status.sent++;
    link->status.arrived++;
    return true;
}

// As a transport -------------------------------------------------------------------------------

static bool poll_event(cm_transport *transport, cm_transport_event *event)
{
    cm_local_link *link = link_of(transport);
    cm_memory_give(&link->allocator, link->held);
    link->held = cm_local_take(&link->inbox);
    if (link->held == NULL) {
        return false;
    }
    *event = (cm_transport_event){.type = (cm_transport_event_type)link->held->type,
                                  .connection = CM_CONNECTION_ONLY,
                                  .reason = link->held->reason,
                                  .kind = link->held->kind,
                                  .bytes = link->held->bytes,
                                  .size = link->held->size};
    link->status.bytes_in += link->held->size;
    return true;
}

static void close_link(cm_transport *transport, cm_connection_id connection, carom_reason reason,
                       cm_close_how how)
{
    cm_local_link *link = link_of(transport);
    (void)connection;
    (void)how;
    leave(link);
    cm_local_send_away(link, reason);
}

static cm_transport_caps caps_of(const cm_transport *transport, cm_connection_id connection)
{
    (void)transport;
    (void)connection;
    return (cm_transport_caps){.unreliable = true, .sealed = true, .mtu = CM_PACKET_MAX};
}

static cm_transport_status status_of(const cm_transport *transport, cm_connection_id connection)
{
    (void)connection;
    return ((const cm_local_link *)transport)->status;
}

static bool redirect(cm_transport *transport, uint16_t port)
{
    (void)transport;
    (void)port;
    return false;
}

static void destroy(cm_transport *transport, carom_reason reason)
{
    cm_local_link *link = link_of(transport);
    (void)reason;
    leave(link);
    if (link->local != NULL) {
        link->local->links[link->player] = NULL;
    }
    cm_local_clear(&link->inbox, &link->allocator);
    cm_memory_give(&link->allocator, link->held);
    const carom_allocator allocator = link->allocator;
    cm_memory_give(&allocator, link);
}

static const cm_transport_functions functions = {.poll = poll_event,
                                                 .send = send_bytes,
                                                 .close = close_link,
                                                 .caps = caps_of,
                                                 .status = status_of,
                                                 .redirect = redirect,
                                                 .destroy = destroy};

void cm_local_begin(cm_transport *transport, uint64_t now_us)
{
    link_of(transport)->now_us = now_us;
}

void cm_local_end(cm_transport *transport)
{
    carom_local *local = link_of(transport)->local;
    uint64_t now_us = link_of(transport)->now_us, least_us = now_us;
    for (uint32_t i = 0; local != NULL && i < CAROM_PLAYERS_MAX; i++) {
        const cm_local_link *link = local->links[i];
        if (link != NULL && link->state != CM_LOCAL_GONE && link->now_us < least_us &&
            now_us - link->now_us < CM_LOCAL_WAIT) {
            least_us = link->now_us;
        }
    }
    if (local != NULL) {
        cm_local_run(local, least_us);
    }
}

cm_transport *cm_local_open(carom_local *local, const carom_allocator *allocator)
{
    const cm_local_parcel head = {.type = CM_TRANSPORT_OPENED};
    uint32_t player = 0;
    // The player before leaves by an event ahead of this one's join: no client may be left to let
    // the room step meanwhile.
    while (player < local->max_players && local->links[player] != NULL) {
        player++;
    }
    cm_local_link *link =
        player < local->max_players ? cm_memory_take(allocator, sizeof *link) : NULL;
    if (link == NULL) {
        return NULL;
    }
    link->transport = (cm_transport){&functions, 1};
    link->allocator = *allocator;
    link->local = local;
    link->player = player;
    link->least_lead = INT32_MAX;
    if (!cm_local_put(&link->inbox, allocator, &head, NULL, 0)) {
        cm_memory_give(allocator, link);
        return NULL;
    }
    local->links[player] = link;
    return &link->transport;
}
