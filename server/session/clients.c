// What comes in. Every datagram that reaches a session was checked by the host; here its contents
// are checked once, and what is refused is counted by reason. Typical: 60 input packets a second
// from each of 32 clients, with 8 to 14 inputs each, most of them repeats.
#include "server/session/clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_EVERY_US 250000u
#define LEAVING_US    2000000u // for a goodbye to arrive; then the place is another's
// Of one client: as much as its budget lets it say at once. After a pause of the network, or by
// another connection, all that it could not say comes together; a room takes a share of it a tick.
#define WAITING_MAX (32u * CM_SESSION_PAUSE_S * (CAROM_MESSAGE_MAX + 16u))

struct cm_clients {
    cm_clients_def def;
    cm_rng rng;
    uint64_t now_us, unix_s;
    cm_client *list; // by peer
    cm_clients_stats stats;
};

typedef struct identity {
    uint64_t client_id;
    const char *name;
    const uint8_t *user_data;
    uint32_t user_data_size;
} identity;

cm_clients *cm_clients_create(const cm_clients_def *def)
{
    cm_clients *clients = calloc(1, sizeof *clients);
    if (clients == NULL) {
        return NULL;
    }
    clients->def = *def;
    clients->rng = def->rng;
    clients->list = calloc(def->peers, sizeof *clients->list);
    if (clients->list == NULL) {
        free(clients);
        return NULL;
    }
    for (uint32_t i = 0; i < def->peers; i++) {
        clients->list[i].peer = i;
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
        for (uint32_t i = 0; i < clients->def.peers; i++) {
            forget_what_waits(&clients->list[i]);
        }
        free(clients->list);
        free(clients);
    }
}

uint32_t cm_clients_connected(const cm_clients *clients)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        count += clients->list[i].session.state != CM_SESSION_FREE;
    }
    return count;
}

uint32_t cm_clients_playing(const cm_clients *clients)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        count += clients->list[i].roster != NULL;
    }
    return count;
}

void cm_clients_stats_get(const cm_clients *clients, cm_clients_stats *stats)
{
    *stats = clients->stats;
}

void cm_clients_second(cm_clients *clients, uint64_t passed_us)
{
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        cm_client *client = &clients->list[i];
        uint64_t bytes = client->session.view_bytes;
        client->kbit = (double)(bytes - client->second_bytes) * 8.0e3 / (double)passed_us;
        client->second_bytes = bytes;
    }
}

bool cm_client_send(cm_host *host, const cm_client *client, const cm_control *control)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(control, NULL, &bytes, &size) != CAROM_OK) {
        return false;
    }
    bool sent = cm_host_send_reliable(host, client->peer, bytes, size);
    cm_control_release_bytes(NULL, bytes);
    return sent;
}

void cm_clients_send_players(cm_clients *clients, cm_roster *roster)
{
    cm_control_player rows[CAROM_PLAYERS_MAX];
    if (clients->now_us < roster->told_us + TELL_EVERY_US) {
        return;
    }
    roster->told_us = clients->now_us;
    uint32_t count = cm_roster_players(roster, clients->def.host, rows);
    if (!cm_roster_is_news(roster, rows, count)) {
        return;
    }
    cm_control control = {.type = CM_CONTROL_PLAYERS, .players = rows, .player_count = count};
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *member = roster->members[player];
        if (member != NULL && member->session.state == CM_SESSION_JOINED) {
            cm_client_send(clients->def.host, member, &control);
        }
    }
}

// The log, in the name of the client's room where it is in one.
static void write_line(const cm_clients *clients, const cm_client *client, cm_log_level level,
                       cm_line *line)
{
    cm_log log = clients->def.log;
    log.room = client->roster != NULL ? client->roster->name : NULL;
    cm_log_write(&log, level, line);
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

// How a connection ended, while the session still says who it was. A player's end is news; of
// others only what was refused is.
static void log_end(cm_clients *clients, const cm_client *client, carom_reason reason, bool refused)
{
    bool player = client->roster != NULL && reason != CAROM_REASON_GAME_REFUSED;
    bool expected = reason == CAROM_REASON_LEFT || reason == CAROM_REASON_DRAINING;
    cm_log_level level = expected ? CM_LOG_INFO : CM_LOG_WARNING;
    cm_line line;
    if (!player && !refused) {
        return;
    }
    uint64_t *counts = player ? clients->stats.left : clients->stats.refused;
    counts[reason < CAROM_REASON_COUNT ? reason : CAROM_REASON_NONE]++;
    cm_line_log(&line, level, player ? "player left" : "client refused");
    if (player) {
        cm_line_uint(&line, "player", client->session.player);
        cm_line_text(&line, "name", client->session.name);
        cm_line_uint(&line, "tick", cm_room_tick(room_of(client)) + 1);
    } else {
        cm_line_uint(&line, "peer", client->peer);
    }
    cm_line_text(&line, "reason", carom_reason_text(reason));
    write_line(clients, client, level, &line);
}

// `text`: for whoever is refused; NULL: the reason's own. `port`: of another worker, with
// ELSEWHERE; else 0.
static void send_off(cm_clients *clients, cm_client *client, carom_reason reason, const char *text,
                     uint16_t port)
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
    cm_client_send(clients->def.host, client, &control);
    leave_room(client);
    session->state = CM_SESSION_LEAVING;
    client->leaving_us = clients->now_us;
    cm_host_disconnect(clients->def.host, client->peer, reason);
}

void cm_clients_kick(cm_clients *clients, cm_client *client, carom_reason reason)
{
    send_off(clients, client, reason, NULL, 0);
}

uint32_t cm_clients_kick_who(cm_clients *clients, bool by_address, uint64_t who,
                             carom_reason reason)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        cm_client *client = &clients->list[i];
        const cm_session *session = &client->session;
        if (session->state == CM_SESSION_FREE || session->state == CM_SESSION_LEAVING) {
            continue;
        }
        // Before its hello only the token says who it is.
        const cm_token *token = cm_host_token(clients->def.host, i);
        uint64_t is = by_address      ? client->address
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
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        if (clients->list[i].roster == roster) {
            cm_clients_kick(clients, &clients->list[i], reason);
        }
    }
}

void cm_clients_drop_room(cm_clients *clients, const cm_roster *roster)
{
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        cm_client *client = &clients->list[i];
        if (client->roster == roster) {
            cm_outbox_clear(&client->waiting);
            cm_roster_part(client, clients->now_us, UINT64_MAX); // the slot stays
            cm_host_drop(clients->def.host, client->peer);
            client->session.state = CM_SESSION_FREE;
        }
    }
}

void cm_clients_kick_all(cm_clients *clients, carom_reason reason)
{
    for (uint32_t i = 0; i < clients->def.peers; i++) {
        cm_clients_kick(clients, &clients->list[i], reason);
    }
}

// Who it is: its token says so, where there is one; else it says so itself, and has a number of
// ours.
static void take_identity(cm_clients *clients, const cm_control *hello, const cm_token *token,
                          identity *who)
{
    if (token != NULL) {
        *who = (identity){token->body.client_id, token->body.name, token->body.user_data,
                          token->body.user_data_size};
    } else {
        *who = (identity){cm_rng_next(&clients->rng), hello->name != NULL ? hello->name : "",
                          hello->user_data.data, (uint32_t)hello->user_data.size};
    }
}

static void give_ticket(cm_clients *clients, const cm_roster *roster, cm_session *session)
{
    uint8_t drawn[CM_TOKEN_NONCE_BYTES + CM_KEY_BYTES];
    if (clients->def.ticket_key != NULL && roster->grace_ms > 0) {
        clients->def.random(clients->def.random_context, drawn, sizeof drawn);
        cm_roster_ticket(roster, session, clients->def.ticket_key, clients->unix_s, drawn);
        cm_crypto_wipe(drawn, sizeof drawn);
    }
}

// A client that was cut off, with a ticket, by another connection. The one that it had goes without
// a word: the client itself may still hear of it.
static void come_back(cm_clients *clients, cm_client *client, cm_roster *roster,
                      const cm_control *hello, const cm_token *ticket)
{
    cm_session *session = &client->session;
    const cm_session *before = cm_roster_find(roster, ticket);
    if (before == NULL) {
        cm_clients_kick(clients, client, CAROM_REASON_SLOT_GONE);
        return;
    }
    cm_client *old = roster->members[ticket->player];
    cm_session fresh = *session;
    if (!cm_session_come_back(&fresh, before, ticket->id, cm_room_tick(cm_roster_room(roster)),
                              clients->now_us)) {
        cm_clients_kick(clients, client, CAROM_REASON_FLOOD);
        return;
    }
    if (old != NULL) {
        cm_outbox_clear(&old->waiting); // not taken: they come again
        cm_roster_part(old, 0, 1);      // kept, until it is taken right here
        old->session.state = CM_SESSION_FREE;
        cm_host_drop(clients->def.host, old->peer);
    }
    if (cm_roster_is_expected(roster, ticket->player) && hello->comes_back) {
        cm_session_recall(&fresh, hello);
    }
    *session = fresh;
    session->predict = hello->predict;
    give_ticket(clients, roster, session);
    cm_roster_add(roster, client);
    client->second_bytes = session->view_bytes;
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "player came back");
    cm_line_uint(&line, "player", session->player);
    cm_line_text(&line, "name", session->name);
    cm_line_uint(&line, "tick", cm_room_tick(cm_roster_room(roster)) + 1);
    write_line(clients, client, CM_LOG_INFO, &line);
}

// Banned since the door let it in: a ban finds nobody who has not said hello yet.
static bool is_banned(const cm_clients *clients, const cm_client *client, const cm_token *token)
{
    cm_gate *door = cm_host_gate(clients->def.host);
    return cm_bans_have(cm_gate_banned_addresses(door), client->address) ||
           (token != NULL && cm_bans_have(cm_gate_bans(door), token->body.client_id));
}

// Who was joining when the server died comes again with its token, not with a ticket, and must not
// find its place taken by itself.
static void give_up_expected(const cm_clients *clients, cm_roster *roster, const cm_token *token)
{
    cm_log log = clients->def.log;
    log.room = roster->name;
    for (uint32_t player = 0; token != NULL && player < CAROM_PLAYERS_MAX; player++) {
        if (cm_roster_is_expected(roster, player) &&
            cm_roster_session(roster, player)->client_id == token->body.client_id) {
            (void)cm_roster_dismiss_player(roster, player, CAROM_REASON_LEFT, &log);
        }
    }
}

// A client that has the room's module in another build would see another game: it is told before it
// has a slot. Both ends name both sources, so that either can be put right.
static bool is_other_build(cm_clients *clients, cm_client *client, const cm_roster *roster,
                           const cm_control *hello)
{
    const carom_module *module = cm_game_module(cm_room_game(cm_roster_room(roster)));
    const char *theirs = hello->module_source != NULL ? hello->module_source : "";
    const char *ours = module->source != NULL ? module->source : "";
    char text[256];
    cm_line line;
    if (hello->module == NULL || strcmp(hello->module, module->name) != 0 ||
        cm_module_agrees(module, hello->module, hello->module_version, hello->module_abi, theirs)) {
        return false;
    }
    cm_line_log(&line, CM_LOG_WARNING, "client has another build of the module");
    cm_line_uint(&line, "peer", client->peer);
    cm_line_text(&line, "module", module->name);
    cm_line_text(&line, "client_source", theirs);
    cm_line_text(&line, "server_source", ours);
    cm_line_uint(&line, "client_version", hello->module_version);
    cm_line_uint(&line, "server_version", module->version);
    write_line(clients, client, CM_LOG_WARNING, &line);
    snprintf(text, sizeof text,
             "module '%s': the client's is version %u of source %s, the "
             "server's version %u of %s",
             module->name, hello->module_version, theirs[0] != '\0' ? theirs : "none",
             module->version, ours[0] != '\0' ? ours : "none");
    send_off(clients, client, CAROM_REASON_MODULE_OTHER, text, 0);
    return true;
}

// The room that a hello leads to; NULL: the client was sent away.
static cm_roster *find_room(cm_clients *clients, cm_client *client, const cm_control *hello,
                            const cm_token *token)
{
    carom_reason reason = CAROM_REASON_NOT_BUILT;
    uint16_t port = 0;
    if (is_banned(clients, client, token)) {
        cm_clients_kick(clients, client, CAROM_REASON_BANNED);
        return NULL;
    }
    cm_roster *roster = clients->def.find_room(clients->def.context, hello, token, &reason, &port);
    if (roster == NULL) {
        send_off(clients, client, reason, NULL, reason == CAROM_REASON_ELSEWHERE ? port : 0);
        return NULL;
    }
    if (hello->spectate) {
        // Spectators come with a later version: say so rather than make a player of one.
        cm_clients_kick(clients, client, CAROM_REASON_NOT_BUILT);
        return NULL;
    }
    return is_other_build(clients, client, roster, hello) ? NULL : roster;
}

// False: the room cannot say yet, and is to be asked again.
static bool join(cm_clients *clients, cm_client *client, const cm_control *hello)
{
    cm_session *session = &client->session;
    const cm_token *token = cm_host_token(clients->def.host, client->peer);
    cm_roster *roster = find_room(clients, client, hello, token);
    if (roster == NULL) {
        return true;
    }
    if (token != NULL && token->kind == CM_TOKEN_RESUME) {
        come_back(clients, client, roster, hello, token);
        return true;
    }
    cm_room *room = cm_roster_room(roster);
    identity who;
    take_identity(clients, hello, token, &who);
    give_up_expected(clients, roster, token);
    uint32_t player = 0;
    carom_result joined =
        cm_room_join(room, who.client_id, who.user_data, who.user_data_size, &player);
    if (joined == CAROM_ERROR_FULL) {
        return false;
    }
    if (joined != CAROM_OK) {
        cm_clients_kick(clients, client,
                        joined == CAROM_ERROR_STATE ? CAROM_REASON_GAME_REFUSED
                                                    : CAROM_REASON_ROOM_FULL);
        return true;
    }
    cm_session_join(session, player, who.client_id, cm_room_tick(room) + 1, roster->input_rate,
                    cm_room_tick_rate(room), clients->now_us);
    session->predict = hello->predict;
    snprintf(session->name, sizeof session->name, "%s", who.name);
    give_ticket(clients, roster, session);
    cm_roster_add(roster, client);
    char address[CM_HOST_ADDRESS_MAX];
    cm_host_address(clients->def.host, client->peer, address);
    cm_room_loop_joined(roster->loop, &(cm_sink_player){.player = player,
                                                        .client_id = who.client_id,
                                                        .name = session->name,
                                                        .address = address});
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "player joined");
    cm_line_uint(&line, "player", player);
    cm_line_hex(&line, "client", who.client_id);
    cm_line_text(&line, "name", session->name);
    cm_line_uint(&line, "tick", session->join_tick);
    write_line(clients, client, CM_LOG_INFO, &line);
    return true;
}

// As join.
static bool answer_hello(cm_clients *clients, cm_client *client, const cm_control *hello)
{
    bool answered = join(clients, client, hello);
    if (client->roster != NULL) {
        cm_host_joined(clients->def.host, client->peer);
    }
    return answered;
}

// What a client may ask for is bounded in size and time: an ask too early is passed over.
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
        cm_client_send(clients->def.host, client, &control);
    }
}

static void receive_control(cm_clients *clients, cm_client *client, const cm_host_event *event)
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
        if (!answer_hello(clients, client, control)) {
            client->hello = control;
            return;
        }
    } else if (client->roster != NULL && control->type == CM_CONTROL_ROOMS_ASK) {
        tell_rooms(clients, client);
    } else if (client->roster != NULL) {
        // The only other message of a client. One that leaves says so by ENet's disconnect.
        if (!cm_outbox_push(&client->waiting, 0, control->payload.data,
                            (uint32_t)control->payload.size, WAITING_MAX)) {
            cm_clients_kick(clients, client, CAROM_REASON_FLOOD);
        } else {
            say_waiting(client);
        }
    }
    cm_control_free(NULL, control);
}

// What the player claims to have seen, made what it can have seen. True where it could not be true.
static bool clamp_seen(const cm_clients *clients, const cm_client *client, uint64_t tick,
                       uint64_t newest, uint8_t *bytes)
{
    const cm_room *room = room_of(client);
    const carom_game *game = cm_room_game(room);
    if (!cm_game_has_seen(game)) {
        return false;
    }
    const cm_lag_compensation_claim claim = {
        .tick = tick,
        .newest = newest,
        .now = cm_room_tick(room),
        .trip_ms = cm_host_round_trip_ms(clients->def.host, client->peer),
        .jitter_ms = cm_host_round_trip_jitter_ms(clients->def.host, client->peer),
        .age = cm_game_get_seen(game, bytes)};
    cm_game_put_seen(game, bytes, cm_lag_compensation_age(&client->session.sight, &claim));
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
        cm_session_lead(session, lead);
        const cm_sink_input input = {.player = session->player,
                                     .tick = tick,
                                     .bytes = bytes,
                                     .verdict = verdict,
                                     .cost = cost};
        cm_room_loop_arrived(loop, &input, lead);
    }
    return verdict;
}

static void receive_inputs(cm_clients *clients, cm_client *client, const cm_host_event *event)
{
    cm_session *session = &client->session;
    if (client->roster == NULL) {
        // How long an input is only a room knows.
        clients->stats.datagrams_refused++;
        cm_clients_kick(clients, client, CAROM_REASON_HELLO_EXPECTED);
        return;
    }
    cm_input_packet packet;
    uint32_t input_size = cm_game_input_size(cm_room_game(room_of(client)));
    cm_packet_reason read = cm_input_packet_read(event->bytes, event->size, input_size, &packet);
    bool well_formed = read == CM_PACKET_OK;
    if (well_formed && packet.epoch != session->epoch) {
        read = CM_PACKET_STALE; // nobody's fault: it was on the way since before
    }
    clients->stats.packet_reasons[read]++;
    carom_reason reason = well_formed ? cm_session_input(session, clients->now_us)
                                      : cm_session_malformed(session, clients->now_us);
    clients->stats.datagrams_refused += !well_formed;
    if (reason != CAROM_REASON_NONE) {
        cm_clients_kick(clients, client, reason);
        return;
    }
    if (read != CM_PACKET_OK || session->state != CM_SESSION_JOINED) {
        return;
    }
    session->came_back = false; // it has this welcome, and its ticket
    if (!session->told_in && session->join_tick <= client->roster->safe_tick) {
        session->told_in = true;
        cm_host_welcomed(clients->def.host, client->peer);
    }
    if (packet.has_ack) {
        cm_session_ack_came(session, packet.ack_sequence, packet.ack_bits);
        cm_lag_compensation_ack(&session->sight, packet.ack_sequence);
    }
    // Oldest first, so that of several late ones the earliest is charged with the rewind.
    cm_input_verdict newest = CM_INPUT_TOO_FAR; // which says nothing of what came until now
    for (uint32_t i = packet.count; i-- > 0;) {
        newest = take_input(clients, client, packet.newest_tick - i, packet.newest_tick,
                            packet.inputs[i]);
    }
    if (newest != CM_INPUT_TOO_FAR && packet.newest_tick > session->newest_input) {
        session->newest_input = packet.newest_tick;
    }
}

// When the slot of a client whose connection was lost is given back; 0: at once.
static uint64_t keep_until(const cm_clients *clients, const cm_client *client, carom_reason reason)
{
    bool lost =
        reason == CAROM_REASON_TIMEOUT && client->roster != NULL && client->session.ticket.size > 0;
    uint64_t silence_us =
        lost ? UINT64_C(1000) * cm_host_silence_ms(clients->def.host, client->peer) : 0;
    uint64_t grace_us = lost ? UINT64_C(1000) * client->roster->grace_ms : 0;
    return grace_us > silence_us ? clients->now_us + grace_us - silence_us : 0;
}

static void disconnected(cm_clients *clients, cm_client *client, carom_reason reason, bool refused)
{
    uint64_t until_us = keep_until(clients, client, reason);
    if (until_us > 0) {
        cm_line line;
        cm_line_log(&line, CM_LOG_INFO, "player lost");
        cm_line_uint(&line, "player", client->session.player);
        cm_line_text(&line, "name", client->session.name);
        cm_line_uint(&line, "kept_ms", (until_us - clients->now_us) / 1000);
        write_line(clients, client, CM_LOG_INFO, &line);
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
    cm_host_event event;
    cm_host_begin(clients->def.host, clients->now_us, clients->unix_s);
    while (cm_host_next(clients->def.host, &event) != CM_HOST_NOTHING) {
        cm_client *client = &clients->list[event.peer];
        if (event.type == CM_HOST_CONNECT) {
            leave_room(client);
            memset(client, 0, sizeof *client);
            client->peer = event.peer;
            client->address = cm_host_peer_address(clients->def.host, event.peer);
            cm_session_open(&client->session, clients->now_us);
        } else if (event.type == CM_HOST_DISCONNECT) {
            disconnected(clients, client, event.reason,
                         event.evicted && client->session.state == CM_SESSION_CONNECTED);
        } else if (client->session.state == CM_SESSION_FREE ||
                   client->session.state == CM_SESSION_LEAVING) {
            continue; // it was told to go
        } else if (event.type == CM_HOST_MALFORMED) {
            malformed(clients, client);
        } else if (event.channel == CM_CHANNEL_CONTROL) {
            receive_control(clients, client, &event);
        } else {
            receive_inputs(clients, client, &event);
        }
    }
}

// A hello that its room could not answer.
static void ask_again(cm_clients *clients, cm_client *client)
{
    cm_control *hello = client->hello;
    client->hello = NULL;
    if (hello != NULL && !answer_hello(clients, client, hello)) {
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
    for (uint32_t i = 0; i < clients->def.peers; i++) {
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
            // Whether it acknowledges its goodbye is its own affair, and its last words may be
            // lost.
            cm_host_drop(clients->def.host, client->peer);
            client->session.state = CM_SESSION_FREE;
        }
    }
}
