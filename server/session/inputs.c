// Input packets of clients, and message packets. Each is checked here once, and what is refused is
// counted by reason. Typical: 60 packets a second from each of 32 clients, with 8 to 14 inputs
// each, most of them repeats.
#include "server/session/clients_inner.h"

#include "shared/wire/message_packet.h"

// Bounds the time that the player claims to have seen to what it can have seen. True if the claim
// was impossible.
static bool clamp_seen(const cm_clients *clients, const cm_client *client, uint64_t tick,
                       uint64_t newest, uint8_t *bytes)
{
    const cm_room *room = cm_roster_room(client->roster);
    const carom_game *game = cm_room_game(room);
    if (!cm_game_has_seen(game)) {
        return false;
    }
    const cm_transport_status status =
        cm_transport_status_of(clients->def.transport, client->connection);
    const cm_lag_compensation_claim claim = {.tick = tick,
                                             .newest = newest,
                                             .now = cm_room_tick(room),
                                             .trip_ms = status.round_trip_ms,
                                             .jitter_ms = status.round_trip_jitter_ms,
                                             .age = cm_game_get_seen(game, bytes)};
    cm_game_put_seen(game, bytes, cm_lag_compensation_age(&client->session.lag, &claim));
    return cm_game_get_seen(game, bytes) != claim.age;
}

static cm_input_verdict take_input(cm_clients *clients, cm_client *client, uint64_t tick,
                                   uint64_t newest, uint8_t *bytes)
{
    cm_session *session = &client->session;
    cm_room_loop *loop = client->roster->loop;
    cm_room *room = cm_room_loop_room(loop);
    bool clamped = clamp_seen(clients, client, tick, newest, bytes);
    cm_bucket_refill(&session->rewinds, clients->now_us);
    uint64_t allowance = cm_bucket_level(&session->rewinds);
    uint32_t cost = 0;
    cm_input_verdict verdict =
        cm_room_input(room, session->player, tick, bytes,
                      allowance < UINT32_MAX ? (uint32_t)allowance : UINT32_MAX, &cost);
    bool fresh = tick > session->newest_input;
    if (verdict == CM_INPUT_DUPLICATE) {
        return verdict;
    }
    if (verdict <= CM_INPUT_LATE) {
        cm_bucket_spend(&session->rewinds, cost, clients->now_us);
        session->rewound_ticks += cost;
        session->late_inputs += verdict != CM_INPUT_ON_TIME;
        session->seen_clamped += clamped;
        client->roster->seen_clamped += clamped;
        clients->stats.seen_clamped += clamped;
    } else if (fresh) {
        // A refused input comes again with each packet; it counts once.
        session->refused_inputs++;
        client->roster->refused_inputs[verdict]++;
        clients->stats.refused_inputs++;
    }
    if (verdict <= CM_INPUT_LATE || fresh) {
        int64_t early_us = (int64_t)cm_room_loop_due(loop, tick) - (int64_t)clients->now_us;
        int64_t lead = early_us * 16 * cm_room_tick_rate(room) / 1000000;
        // One that waited for a lost packet tells of the loss, not of the path.
        if (newest - tick <= CM_LEAD_AGE) {
            cm_session_lead(session, lead);
        }
        const cm_sink_input input = {.player = session->player,
                                     .tick = tick,
                                     .bytes = bytes,
                                     .verdict = verdict,
                                     .cost = cost};
        cm_room_loop_arrived(loop, &input, lead);
    }
    return verdict;
}

// Counts a packet that was read, or was not. False: nothing of it is taken.
static bool allow_packet(cm_clients *clients, cm_client *client, cm_packet_reason read,
                         uint8_t epoch)
{
    cm_session *session = &client->session;
    bool well_formed = read == CM_PACKET_OK;
    if (well_formed && epoch != session->epoch) {
        read = CM_PACKET_STALE; // no fault: it was on its way before the new epoch
    }
    clients->stats.packet_reasons[read]++;
    carom_reason reason = well_formed ? cm_session_input(session, clients->now_us)
                                      : cm_session_malformed(session, clients->now_us);
    clients->stats.datagrams_refused += !well_formed;
    if (reason != CAROM_REASON_NONE) {
        cm_clients_kick(clients, client, reason);
        return false;
    }
    return read == CM_PACKET_OK && session->state == CM_SESSION_JOINED;
}

// A message for the next tick, or for none.
static void take_message(cm_clients *clients, cm_client *client, const cm_transport_event *event)
{
    cm_message_packet message = {.epoch = 0};
    cm_packet_reason read =
        cm_message_packet_read(CM_PACKET_MESSAGE, event->bytes, event->size, &message);
    bool allowed = allow_packet(clients, client, read, message.epoch);
    if (allowed && client->roster->watched != NULL) {
        clients->stats.spectators_refused++;
    } else if (allowed &&
               !cm_room_message_now(cm_roster_room(client->roster), client->session.player,
                                    message.bytes, (uint32_t)message.size)) {
        clients->stats.messages_left_out++;
    }
}

void cm_clients_input(cm_clients *clients, cm_client *client, const cm_transport_event *event)
{
    cm_session *session = &client->session;
    if (client->roster == NULL) {
        // Only a room knows the size of an input.
        clients->stats.datagrams_refused++;
        cm_clients_kick(clients, client, CAROM_REASON_HELLO_EXPECTED);
        return;
    }
    if (event->size > 0 && event->bytes[0] == CM_PACKET_MESSAGE) {
        take_message(clients, client, event);
        return;
    }
    cm_input_packet packet = {.epoch = session->epoch};
    uint32_t input_size = cm_game_input_size(cm_room_game(cm_roster_room(client->roster)));
    cm_packet_reason read = cm_input_packet_read(event->bytes, event->size, input_size, &packet);
    if (!allow_packet(clients, client, read, packet.epoch)) {
        return;
    }
    session->came_back = false; // it has this welcome, and its ticket
    if (!session->told_in && session->join_tick <= client->roster->safe_tick) {
        session->told_in = true;
        cm_transport_mark_set(clients->def.transport, client->connection, CM_MARK_WELCOMED);
    }
    if (packet.has_ack) {
        cm_session_ack_came(session, packet.ack_sequence, packet.ack_bits);
        cm_lag_compensation_ack(&session->lag, packet.ack_sequence);
    }
    if (client->roster->watched != NULL) {
        clients->stats.spectators_refused += packet.count > 0;
        return;
    }
    // Oldest first, so that of several late ones the earliest is charged with the rewind.
    cm_input_verdict newest = CM_INPUT_TOO_FAR; // an input in the future does not count as the
                                                // newest
    for (uint32_t i = packet.count; i-- > 0;) {
        newest = take_input(clients, client, packet.newest_tick - i, packet.newest_tick,
                            packet.inputs[i]);
    }
    if (newest != CM_INPUT_TOO_FAR && packet.newest_tick > session->newest_input) {
        session->newest_input = packet.newest_tick;
    }
}
