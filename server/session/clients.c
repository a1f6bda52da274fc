// Connections, control messages, and who is sent away. The transport has checked that a datagram is
// of its session; what it holds is checked here once, and what is refused is counted by reason.
#include "server/session/clients_inner.h"

#include <stdlib.h>
#include <string.h>

#define TELL_EVERY_US 250000u
#define LEAVING_US    2000000u // for a goodbye to arrive; then the place is another's
#define DIFFERS_US    5000000u // between two lines that a client's world differs
// Of one client: as much as its budget lets it say at once. After a pause of the network, or by
// another connection, all that it could not say comes together; a room takes a share of it a tick.
#define WAITING_MAX (32u * CM_SESSION_PAUSE_S * (CAROM_MESSAGE_MAX + 16u))

cm_clients *cm_clients_create(const cm_clients_def *def)
{
    cm_clients *clients = calloc(1, sizeof *clients);
    if (clients == NULL) {
        return NULL;
    }
    clients->def = *def;
    clients->list = calloc(def->transport->capacity, sizeof *clients->list);
    if (clients->list == NULL) {
        free(clients);
        return NULL;
    }
    return clients;
}

static void forget_what_waits(cm_client *client)
{
    cm_outbox_clear(&client->waiting);
    cm_control_free(NULL, client->hello);
    client->hello = NULL;
}

void cm_clients_destroy(cm_clients *clients)
{
    if (clients != NULL) {
        for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
            forget_what_waits(&clients->list[i]);
        }
        free(clients->list);
        free(clients);
    }
}

uint32_t cm_clients_connected(const cm_clients *clients)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        count += clients->list[i].session.state != CM_SESSION_FREE;
    }
    return count;
}

uint32_t cm_clients_playing(const cm_clients *clients)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        const cm_roster *roster = clients->list[i].roster;
        count += roster != NULL && roster->watched == NULL;
    }
    return count;
}

uint32_t cm_clients_watching(const cm_clients *clients)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        const cm_roster *roster = clients->list[i].roster;
        count += roster != NULL && roster->watched != NULL;
    }
    return count;
}

void cm_clients_stats_get(const cm_clients *clients, cm_clients_stats *stats)
{
    *stats = clients->stats;
}

void cm_clients_second(cm_clients *clients, uint64_t passed_us)
{
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        cm_client *client = &clients->list[i];
        uint64_t bytes =
            cm_transport_status_of(clients->def.transport, client->connection).wire_bytes;
        bytes = bytes > client->second_bytes ? bytes : client->second_bytes;
        client->kbit = (double)(bytes - client->second_bytes) * 8.0e3 / (double)passed_us;
        client->second_bytes = bytes;
    }
}

void cm_clients_send_players(cm_clients *clients, cm_roster *roster)
{
    cm_control_player rows[CAROM_PLAYERS_MAX];
    if (clients->now_us < roster->told_us + TELL_EVERY_US) {
        return;
    }
    roster->told_us = clients->now_us;
    const cm_roster *of = roster->watched != NULL ? roster->watched : roster;
    uint32_t count = cm_roster_players(of, clients->def.transport, rows);
    if (!cm_roster_is_news(roster, rows, count)) {
        return;
    }
    cm_control control = {.type = CM_CONTROL_PLAYERS, .players = rows, .player_count = count};
    cm_roster_send(roster, clients->def.transport, &control);
}

void cm_clients_log_fields(const cm_clients *clients, const cm_client *client, cm_log_level level,
                           const char *event, const cm_field *fields, size_t count)
{
    cm_log log = clients->def.log;
    log.room = client->roster != NULL ? client->roster->name : NULL;
    cm_log_fields(&log, level, event, fields, count);
}

static cm_room *room_of(const cm_client *client)
{
    return cm_roster_room(client->roster);
}

// Into the room what it has place for.
static void say_waiting(cm_client *client)
{
    cm_outbox_message message;
    while (cm_outbox_peek(&client->waiting, &message) &&
           cm_room_message(room_of(client), client->session.player, message.bytes, message.size)) {
        client->session.messages_received++;
        cm_outbox_pop(&client->waiting);
    }
}

// The player's slot goes; the session's state is the caller's.
static void leave_room(cm_client *client)
{
    forget_what_waits(client);
    cm_roster_part(client, 0, 0);
}

// Logs the end of a connection, while the session still has its client's identity. The end of a
// player is logged; of other clients only refusals.
static void log_end(cm_clients *clients, const cm_client *client, carom_reason reason, bool refused)
{
    if (client->roster != NULL && client->roster->watched != NULL) {
        cm_clients_log(clients, client, CM_LOG_INFO, "spectator left",
                       CM_D("client_id", client->session.client_id),
                       CM_T("name", client->session.name),
                       CM_T("reason", carom_reason_text(reason)));
        return;
    }
    bool player = client->roster != NULL && reason != CAROM_REASON_GAME_REFUSED;
    bool expected = reason == CAROM_REASON_LEFT || reason == CAROM_REASON_DRAINING ||
                    reason == CAROM_REASON_ROOM_ENDED;
    cm_log_level level = expected ? CM_LOG_INFO : CM_LOG_WARNING;
    if (!player && !refused) {
        return;
    }
    uint64_t *counts = player ? clients->stats.left : clients->stats.refused;
    counts[reason < CAROM_REASON_COUNT ? reason : CAROM_REASON_NONE]++;
    if (player) {
        cm_clients_log(clients, client, level, "player left",
                       CM_U("player", client->session.player), CM_T("name", client->session.name),
                       CM_U("tick", cm_room_tick(room_of(client)) + 1),
                       CM_T("reason", carom_reason_text(reason)));
    } else {
        cm_clients_log(clients, client, level, "client refused",
                       CM_U("peer", client->connection.index),
                       CM_T("reason", carom_reason_text(reason)));
    }
}

void cm_clients_send_off(cm_clients *clients, cm_client *client, carom_reason reason,
                         const char *text, uint16_t port)
{
    cm_session *session = &client->session;
    if (session->state == CM_SESSION_FREE || session->state == CM_SESSION_LEAVING) {
        return;
    }
    cm_control control = {.reason = reason, .port = port};
    control.type = session->state == CM_SESSION_JOINED ? CM_CONTROL_GOODBYE : CM_CONTROL_REFUSED;
    if (control.type == CM_CONTROL_REFUSED) {
        control.text = text != NULL ? text : carom_reason_text(reason);
    }
    log_end(clients, client, reason, reason != CAROM_REASON_ELSEWHERE);
    cm_client_send(clients->def.transport, client, &control);
    leave_room(client);
    session->state = CM_SESSION_LEAVING;
    client->leaving_us = clients->now_us;
    cm_transport_close(clients->def.transport, client->connection, reason, CM_CLOSE_AFTER_ALL);
}

void cm_clients_kick(cm_clients *clients, cm_client *client, carom_reason reason)
{
    cm_clients_send_off(clients, client, reason, NULL, 0);
}

uint32_t cm_clients_kick_who(cm_clients *clients, bool by_address, uint64_t who,
                             carom_reason reason)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        cm_client *client = &clients->list[i];
        const cm_session *session = &client->session;
        if (session->state == CM_SESSION_FREE || session->state == CM_SESSION_LEAVING) {
            continue;
        }
        // Before its hello only the token says who it is.
        const cm_token *token = cm_transport_token(clients->def.transport, client->connection);
        uint64_t is = by_address      ? client->network
                      : token != NULL ? token->body.client_id
                                      : session->client_id;
        if (is == who) {
            cm_clients_kick(clients, client, reason);
            count++;
        }
    }
    return count;
}

void cm_clients_kick_room(cm_clients *clients, const cm_roster *roster, carom_reason reason)
{
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        if (roster != NULL && clients->list[i].roster == roster) {
            cm_clients_kick(clients, &clients->list[i], reason);
        }
    }
}

void cm_clients_drop_room(cm_clients *clients, const cm_roster *roster)
{
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        cm_client *client = &clients->list[i];
        if (roster != NULL && client->roster == roster) {
            cm_outbox_clear(&client->waiting);
            cm_roster_part(client, clients->now_us, UINT64_MAX); // the slot stays
            cm_transport_close(clients->def.transport, client->connection, CAROM_REASON_NONE,
                               CM_CLOSE_SILENTLY);
            client->session.state = CM_SESSION_FREE;
        }
    }
}

void cm_clients_kick_all(cm_clients *clients, carom_reason reason)
{
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        cm_clients_kick(clients, &clients->list[i], reason);
    }
}

// Answers a client's request for the rooms, bounded in size and rate: a request too early is
// ignored.
static void tell_rooms(cm_clients *clients, cm_client *client)
{
    cm_control_room rooms[CM_CLIENTS_ROOMS_MAX];
    if (clients->def.list_rooms == NULL || clients->now_us < client->rooms_us) {
        return;
    }
    client->rooms_us = clients->now_us + CM_CLIENTS_ROOMS_US;
    uint32_t total = clients->def.list_rooms(clients->def.context, rooms, CM_CLIENTS_ROOMS_MAX);
    for (uint32_t first = 0; first == 0 || first < total; first += CM_CONTROL_ROOMS_MAX) {
        uint32_t left = total - first;
        cm_control control = {.type = CM_CONTROL_ROOMS,
                              .first = first,
                              .total = total,
                              .rooms = rooms + first,
                              .room_count =
                                  left < CM_CONTROL_ROOMS_MAX ? left : CM_CONTROL_ROOMS_MAX};
        cm_client_send(clients->def.transport, client, &control);
    }
}

// Its world is another after a confirmed tick: the publisher of a room of exact sync heals it.
static void differs(cm_clients *clients, cm_client *client, uint64_t tick)
{
    client->session.differs = tick;
    if (clients->now_us < client->differs_us) {
        return; // who floods does not fill the log
    }
    client->differs_us = clients->now_us + DIFFERS_US;
    cm_clients_log(clients, client, CM_LOG_WARNING, "player differs",
                   CM_U("player", client->session.player), CM_U("tick", tick));
}

static void receive_control(cm_clients *clients, cm_client *client, const cm_transport_event *event)
{
    cm_session *session = &client->session;
    cm_control *control = NULL;
    if (cm_control_decode(event->bytes, event->size, true, NULL, &control) != CAROM_OK) {
        clients->stats.datagrams_refused++;
        cm_clients_kick(clients, client, CAROM_REASON_MALFORMED);
        return;
    }
    carom_reason reason =
        client->hello != NULL
            ? CAROM_REASON_HELLO_EXPECTED // one alone, and nothing before its answer
            : cm_session_control(session, control, clients->now_us);
    if (reason != CAROM_REASON_NONE) {
        cm_clients_kick(clients, client, reason);
    } else if (session->state == CM_SESSION_CONNECTED) {
        if (!cm_clients_hello(clients, client, control)) {
            client->hello = control;
            return;
        }
    } else if (client->roster != NULL && control->type == CM_CONTROL_ROOMS_ASK) {
        tell_rooms(clients, client);
    } else if (client->roster != NULL && control->type == CM_CONTROL_CONFIRMED) {
        differs(clients, client, control->tick);
    } else if (client->roster != NULL && client->roster->watched != NULL) {
        clients->stats.spectators_refused++; // a game message
    } else if (client->roster != NULL) {
        // The only other message of a client is a game message; a client leaves by closing its
        // connection.
        if (!cm_outbox_push(&client->waiting, 0, control->payload.data,
                            (uint32_t)control->payload.size, WAITING_MAX)) {
            cm_clients_kick(clients, client, CAROM_REASON_FLOOD);
        } else {
            say_waiting(client);
        }
    }
    cm_control_free(NULL, control);
}

// The time at which the slot of a client whose connection was lost becomes free; 0: at once.
static uint64_t keep_until(const cm_clients *clients, const cm_client *client, carom_reason reason)
{
    bool lost = reason == CAROM_REASON_TIMEOUT && client->roster != NULL &&
                client->roster->watched == NULL && client->session.ticket.size > 0;
    uint64_t silence_us =
        lost ? UINT64_C(1000) *
                   cm_transport_status_of(clients->def.transport, client->connection).silence_ms
             : 0;
    uint64_t grace_us = lost ? UINT64_C(1000) * client->roster->grace_ms : 0;
    return grace_us > silence_us ? clients->now_us + grace_us - silence_us : 0;
}

static void disconnected(cm_clients *clients, cm_client *client, carom_reason reason, bool refused)
{
    uint64_t until_us = keep_until(clients, client, reason);
    if (until_us > 0) {
        cm_clients_log(clients, client, CM_LOG_INFO, "player lost",
                       CM_U("player", client->session.player), CM_T("name", client->session.name),
                       CM_U("kept_ms", (until_us - clients->now_us) / 1000));
    } else {
        log_end(clients, client, reason, refused);
    }
    if (client->roster != NULL) {
        say_waiting(client);
    }
    forget_what_waits(client);
    cm_roster_part(client, clients->now_us, until_us);
    client->session.state = CM_SESSION_FREE;
}

// The transport refused something that only the client itself can have made.
static void malformed(cm_clients *clients, cm_client *client)
{
    carom_reason reason = cm_session_malformed(&client->session, clients->now_us);
    clients->stats.datagrams_refused++;
    if (reason != CAROM_REASON_NONE) {
        cm_clients_kick(clients, client, reason);
    }
}

static void take_events(cm_clients *clients)
{
    cm_transport *transport = clients->def.transport;
    cm_transport_event event;
    cm_transport_begin(transport, clients->now_us, clients->unix_s);
    while (cm_transport_poll(transport, &event)) {
        cm_client *client = &clients->list[event.connection.index];
        if (event.type == CM_TRANSPORT_OPENED) {
            leave_room(client);
            memset(client, 0, sizeof *client);
            client->connection = event.connection;
            const cm_transport_status status = cm_transport_status_of(transport, event.connection);
            client->network = cm_address_network(status.address.ip);
            client->second_bytes = status.wire_bytes;
            cm_session_open(&client->session, clients->now_us);
        } else if (!cm_connection_id_equal(client->connection, event.connection)) {
            continue; // its place is another's by now
        } else if (event.type == CM_TRANSPORT_CLOSED) {
            disconnected(clients, client, event.reason,
                         event.evicted && client->session.state == CM_SESSION_CONNECTED);
        } else if (client->session.state == CM_SESSION_FREE ||
                   client->session.state == CM_SESSION_LEAVING) {
            continue; // it was already sent away
        } else if (event.type == CM_TRANSPORT_MALFORMED) {
            malformed(clients, client);
        } else if (event.kind == CM_SEND_CONTROL) {
            receive_control(clients, client, &event);
        } else {
            cm_clients_input(clients, client, &event);
        }
    }
}

// A hello that its room could not answer.
static void ask_again(cm_clients *clients, cm_client *client)
{
    cm_control *hello = client->hello;
    client->hello = NULL;
    if (hello != NULL && !cm_clients_hello(clients, client, hello)) {
        client->hello = hello;
    } else {
        cm_control_free(NULL, hello);
    }
}

void cm_clients_receive(cm_clients *clients, uint64_t now_us, uint64_t unix_s)
{
    clients->now_us = now_us;
    clients->unix_s = unix_s;
    take_events(clients);
    for (uint32_t i = 0; i < clients->def.transport->capacity; i++) {
        cm_client *client = &clients->list[i];
        if (client->session.state == CM_SESSION_FREE) {
            continue; // nothing of it waits
        }
        say_waiting(client);
        ask_again(clients, client);
        if (client->hello == NULL && cm_session_overdue(&client->session, now_us)) {
            cm_clients_kick(clients, client, CAROM_REASON_HELLO_EXPECTED);
        } else if (client->session.state == CM_SESSION_LEAVING &&
                   now_us >= client->leaving_us + LEAVING_US) {
            // The client has had time to acknowledge its goodbye; the connection is closed without
            // waiting further.
            cm_transport_close(clients->def.transport, client->connection, CAROM_REASON_NONE,
                               CM_CLOSE_SILENTLY);
            client->session.state = CM_SESSION_FREE;
        }
    }
}
