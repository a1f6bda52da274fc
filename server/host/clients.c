// What comes in. Every datagram that reaches a session was checked by the host; here its contents
// are checked once, and what is refused is counted by reason. Typical: 60 input packets a second
// from each of 32 clients, with 8 to 14 inputs each, most of them repeats.
#include "server/host/worker_state.h"

#include <string.h>

uint32_t cm_clients_playing(const cm_worker *worker)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        cm_session_state state = worker->clients[i].session.state;
        count += state == CM_SESSION_JOINING || state == CM_SESSION_JOINED;
    }
    return count;
}

bool cm_clients_send(cm_worker *worker, uint32_t peer, const cm_control *control)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(control, NULL, &bytes, &size) != CAROM_OK) {
        return false;
    }
    bool sent = cm_host_send_reliable(worker->host, peer, bytes, size);
    cm_control_release_bytes(NULL, bytes);
    return sent;
}

// The player's slot and everything kept for the client go; the session's state is the caller's.
static void leave_room(cm_worker *worker, uint32_t peer)
{
    cm_client *client = &worker->clients[peer];
    cm_session_state state = client->session.state;
    if (state == CM_SESSION_JOINING || state == CM_SESSION_JOINED) {
        cm_room_leave(worker->room, client->session.player);
        worker->peer_of[client->session.player] = CM_NO_PEER;
    }
    cm_replica_destroy(client->replica);
    client->replica = NULL;
    cm_outbox_clear(&client->waiting);
}

// How a connection ended, while the session still says who it was. A player's end is news; of
// others only what was refused is.
static void log_end(cm_worker *worker, uint32_t peer, carom_reason reason, bool refused)
{
    const cm_session *session = &worker->clients[peer].session;
    bool player = session->state == CM_SESSION_JOINING || session->state == CM_SESSION_JOINED;
    bool expected = reason == CAROM_REASON_LEFT || reason == CAROM_REASON_DRAINING;
    cm_log_level level = expected ? CM_LOG_INFO : CM_LOG_WARNING;
    cm_line line;
    if (!player && !refused) {
        return;
    }
    cm_line_log(&line, level, player ? "player left" : "client refused");
    if (player) {
        cm_line_uint(&line, "player", session->player);
        cm_line_text(&line, "name", session->name);
        cm_line_uint(&line, "tick", cm_room_tick(worker->room) + 1);
    } else {
        cm_line_uint(&line, "peer", peer);
    }
    cm_line_text(&line, "reason", carom_reason_text(reason));
    cm_worker_log(worker, level, &line);
}

void cm_clients_kick(cm_worker *worker, uint32_t peer, carom_reason reason)
{
    cm_session *session = &worker->clients[peer].session;
    if (session->state == CM_SESSION_FREE || session->state == CM_SESSION_LEAVING) {
        return;
    }
    cm_control control = {.reason = reason};
    control.type = session->state == CM_SESSION_JOINED ? CM_CONTROL_GOODBYE : CM_CONTROL_REFUSED;
    if (control.type == CM_CONTROL_REFUSED) {
        control.text = carom_reason_text(reason);
    }
    log_end(worker, peer, reason, true);
    cm_clients_send(worker, peer, &control);
    leave_room(worker, peer);
    session->state = CM_SESSION_LEAVING;
    cm_host_disconnect(worker->host, peer, reason);
}

static void join(cm_worker *worker, uint32_t peer, const cm_control *hello)
{
    cm_session *session = &worker->clients[peer].session;
    if (worker->draining) {
        cm_clients_kick(worker, peer, CAROM_REASON_DRAINING);
        return;
    }
    if (hello->spectate) {
        // Spectators come with a later version: say so rather than make a player of one.
        cm_clients_kick(worker, peer, CAROM_REASON_SERVER_ERROR);
        return;
    }
    session->client_id = cm_rng_next(&worker->rng);
    carom_result result = cm_room_join(worker->room, session->client_id, hello->user_data.data,
                                       (uint32_t)hello->user_data.size, &session->player);
    if (result != CAROM_OK) {
        cm_clients_kick(worker, peer, CAROM_REASON_ROOM_FULL);
        return;
    }
    session->predict = hello->predict;
    session->join_tick = cm_room_tick(worker->room) + 1;
    session->newest_input = session->join_tick;
    session->state = CM_SESSION_JOINING;
    if (hello->name != NULL) {
        strncpy(session->name, hello->name, CM_PLAYER_NAME_MAX);
    }
    worker->peer_of[session->player] = peer;
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "player joined");
    cm_line_uint(&line, "player", session->player);
    cm_line_hex(&line, "client", session->client_id);
    cm_line_text(&line, "name", session->name);
    cm_line_uint(&line, "tick", session->join_tick);
    cm_worker_log(worker, CM_LOG_INFO, &line);
}

static void receive_control(cm_worker *worker, uint32_t peer, const cm_host_event *event)
{
    cm_session *session = &worker->clients[peer].session;
    cm_control *control = NULL;
    if (cm_control_decode(event->bytes, event->size, true, NULL, &control) != CAROM_OK) {
        ++worker->stats.datagrams_refused;
        cm_clients_kick(worker, peer, CAROM_REASON_MALFORMED);
        return;
    }
    carom_reason reason = cm_session_control(session, control, worker->now_us);
    if (reason != CAROM_REASON_NONE) {
        cm_clients_kick(worker, peer, reason);
    } else if (session->state == CM_SESSION_CONNECTED) {
        join(worker, peer, control);
    } else if (session->state == CM_SESSION_JOINED || session->state == CM_SESSION_JOINING) {
        // The only other message of a client. One that leaves says so by ENet's disconnect.
        if (!cm_room_message(worker->room, session->player, control->payload.data,
                             (uint32_t)control->payload.size)) {
            cm_clients_kick(worker, peer, CAROM_REASON_FLOOD);
        }
    }
    cm_control_free(NULL, control);
}

static void take_input(cm_worker *worker, cm_session *session, uint64_t tick, const uint8_t *bytes)
{
    cm_bucket_refill(&session->rewinds, worker->now_us);
    uint64_t allowance = cm_bucket_level(&session->rewinds);
    uint32_t cost = 0;
    cm_input_verdict verdict =
        cm_room_input(worker->room, session->player, tick, bytes,
                      allowance < UINT32_MAX ? (uint32_t)allowance : UINT32_MAX, &cost);
    bool fresh = tick > session->newest_input;
    if (verdict == CM_INPUT_DUPLICATE) {
        return;
    }
    if (verdict <= CM_INPUT_LATE) {
        cm_bucket_take(&session->rewinds, cost, worker->now_us);
        session->rewound_ticks += cost;
        session->late_inputs += verdict != CM_INPUT_ON_TIME;
    } else if (fresh) {
        // A refused input comes again with each packet; it counts once.
        ++session->refused_inputs;
        ++worker->stats.refused_inputs;
    }
    if (verdict <= CM_INPUT_LATE || fresh) {
        int64_t early_us = (int64_t)cm_worker_due(worker, tick) - (int64_t)worker->now_us;
        cm_session_lead(session, early_us * 16 * worker->tick_rate / 1000000);
    }
}

static void receive_inputs(cm_worker *worker, uint32_t peer, const cm_host_event *event)
{
    cm_client *client = &worker->clients[peer];
    cm_session *session = &client->session;
    cm_input_packet packet;
    cm_packet_reason read =
        cm_input_packet_read(event->bytes, event->size, worker->input_size, &packet);
    ++worker->stats.packet_reasons[read];
    carom_reason reason = read == CM_PACKET_OK ? cm_session_input(session, worker->now_us)
                                               : cm_session_malformed(session, worker->now_us);
    worker->stats.datagrams_refused += read != CM_PACKET_OK;
    if (reason != CAROM_REASON_NONE) {
        cm_clients_kick(worker, peer, reason);
        return;
    }
    if (read != CM_PACKET_OK || session->state != CM_SESSION_JOINED) {
        return;
    }
    if (packet.has_ack) {
        cm_replica_ack(client->replica, packet.ack_sequence, packet.ack_bits);
    }
    // Oldest first, so that of several late ones the earliest is charged with the rewind.
    for (uint32_t i = packet.count; i-- > 0;) {
        take_input(worker, session, packet.newest_tick - i, packet.inputs[i]);
    }
    if (packet.count > 0 && packet.newest_tick > session->newest_input) {
        session->newest_input = packet.newest_tick;
    }
}

static void disconnected(cm_worker *worker, uint32_t peer, carom_reason reason)
{
    log_end(worker, peer, reason, false);
    leave_room(worker, peer);
    worker->clients[peer].session.state = CM_SESSION_FREE;
}

void cm_clients_receive(cm_worker *worker)
{
    cm_host_event event;
    cm_host_begin(worker->host);
    while (cm_host_next(worker->host, &event) != CM_HOST_NOTHING) {
        cm_client *client = &worker->clients[event.peer];
        if (event.type == CM_HOST_CONNECT) {
            leave_room(worker, event.peer);
            memset(client, 0, sizeof *client);
            cm_session_open(&client->session, worker->now_us, worker->input_rate,
                            worker->tick_rate);
        } else if (event.type == CM_HOST_DISCONNECT) {
            disconnected(worker, event.peer, event.reason);
        } else if (client->session.state == CM_SESSION_FREE ||
                   client->session.state == CM_SESSION_LEAVING) {
            continue; // it was told to go
        } else if (event.channel == CM_CHANNEL_CONTROL) {
            receive_control(worker, event.peer, &event);
        } else {
            receive_inputs(worker, event.peer, &event);
        }
    }
}

void cm_clients_overdue(cm_worker *worker)
{
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        if (cm_session_overdue(&worker->clients[i].session, worker->now_us)) {
            cm_clients_kick(worker, i, CAROM_REASON_HELLO_EXPECTED);
        }
    }
}
