// Slots and who has them. Typical: 8 players, one of them cut off for two seconds in an hour.
#include "server/session/roster.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/hash.h"

#define POSE_TICKS    5u             // in one packet of inputs, where the scene has pointers
#define RTT_APART_MS  10u            // and a quarter: a round-trip change that is sent
#define TICKET_LIFE_S (30u * 86400u) // its slot ends far sooner

void cm_roster_init(cm_roster *roster, cm_room_loop *loop, uint32_t input_rate)
{
    memset(roster, 0, sizeof *roster);
    roster->loop = loop;
    roster->input_rate = input_rate;
    // Poses change with every tick, and some twenty fit into a packet: each is to go three times.
    const cm_room *room = cm_room_loop_room(loop);
    uint32_t least = cm_room_tick_rate(room) / POSE_TICKS;
    uint32_t size = cm_game_input_size(cm_room_game(room));
    if (input_rate < least &&
        size >= cm_game_module(cm_room_game(room))->input_size + CAROM_POINTER_BYTES) {
        roster->input_rate = least;
    }
}

cm_room *cm_roster_room(const cm_roster *roster)
{
    return cm_room_loop_room(roster->loop);
}

// Tickets ----------------------------------------------------------------------------------------

void cm_roster_ticket(const cm_roster *roster, cm_session *session, const carom_token_key *key,
                      uint64_t unix_s, const uint8_t drawn[CM_TOKEN_NONCE_BYTES + CM_KEY_BYTES])
{
    cm_token token = {.kind = CM_TOKEN_RESUME,
                      .match_id = roster->match_id,
                      .player = roster->watched != NULL ? CM_ROSTER_SPECTATOR : session->player};
    token.body.key_id = key->id;
    token.body.client_id = session->client_id;
    token.body.expires_unix_s = unix_s + TICKET_LIFE_S;
    memcpy(token.id, drawn, sizeof token.id);
    memcpy(token.key, drawn + sizeof token.id, sizeof token.key);
    cm_ticket *ticket = &session->ticket;
    uint8_t sealed[CM_TOKEN_MAX];
    size_t size = cm_token_seal(&token, key, sealed);
    CM_ASSERT(size <= sizeof ticket->sealed);
    memcpy(ticket->sealed, sealed, size);
    ticket->size = (uint32_t)size; // 0: of a client without an id
    memcpy(ticket->id, token.id, sizeof ticket->id);
    memcpy(ticket->key, token.key, sizeof ticket->key);
    ticket->grace_ms = roster->grace_ms;
}

const cm_session *cm_roster_session(const cm_roster *roster, uint32_t player)
{
    const cm_client *member = roster->members[player];
    const cm_kept_slot *slot = &roster->kept[player];
    return member != NULL ? &member->session : slot->kept ? &slot->session : NULL;
}

bool cm_roster_is_expected(const cm_roster *roster, uint32_t player)
{
    return roster->kept[player].kept && roster->kept[player].any_ticket;
}

const cm_session *cm_roster_find(const cm_roster *roster, const cm_token *ticket)
{
    if (ticket->match_id != roster->match_id || ticket->player >= CAROM_PLAYERS_MAX) {
        return NULL;
    }
    const cm_session *session = cm_roster_session(roster, ticket->player);
    if (session == NULL || session->client_id != ticket->body.client_id) {
        return NULL;
    }
    if (cm_roster_is_expected(roster, ticket->player)) {
        return session;
    }
    bool newest =
        session->ticket.size > 0 && memcmp(session->ticket.id, ticket->id, sizeof ticket->id) == 0;
    bool before =
        session->came_back && memcmp(session->came_by, ticket->id, sizeof ticket->id) == 0;
    return newest || before ? session : NULL;
}

void cm_roster_expect(cm_roster *roster, const cm_roster_return *player, uint64_t now_us)
{
    const cm_room *room = cm_roster_room(roster);
    cm_kept_slot *slot = &roster->kept[player->player];
    *slot = (cm_kept_slot){
        .kept = true, .any_ticket = true, .until_us = now_us + UINT64_C(1000) * roster->grace_ms};
    cm_session_open(&slot->session, now_us);
    cm_session_join(&slot->session, player->player, player->client_id, player->join_tick,
                    roster->input_rate, cm_room_tick_rate(room), now_us);
    slot->session.messages_received = player->messages;
    snprintf(slot->session.name, sizeof slot->session.name, "%s", player->name);
    cm_address address;
    slot->network = cm_address_read(player->address, &address) ? cm_address_network(address.ip) : 0;
}

// Slots ------------------------------------------------------------------------------------------

void cm_roster_part(cm_client *client, uint64_t now_us, uint64_t until_us)
{
    cm_roster *roster = client->roster;
    if (roster == NULL) {
        return;
    }
    uint32_t player = client->session.player;
    CM_ASSERT(roster->members[player] == client);
    roster->members[player] = NULL;
    client->roster = NULL;
    if (roster->watched != NULL) {
        return;
    }
    if (until_us > now_us) {
        roster->kept[player] = (cm_kept_slot){.kept = true,
                                              .until_us = until_us,
                                              .session = client->session,
                                              .network = client->network};
    } else {
        cm_room_leave(cm_roster_room(roster), player);
    }
}

void cm_roster_add(cm_roster *roster, cm_client *client)
{
    uint32_t player = client->session.player;
    CM_ASSERT(roster->members[player] == NULL);
    roster->kept[player].kept = false;
    roster->members[player] = client;
    client->roster = roster;
}

uint32_t cm_roster_seat(const cm_roster *roster, uint64_t client_id)
{
    uint32_t seat = 0;
    while (seat < CAROM_PLAYERS_MAX && (roster->members[seat] == NULL ||
                                        roster->members[seat]->session.client_id != client_id)) {
        seat++;
    }
    return seat;
}

uint32_t cm_roster_free_seat(const cm_roster *roster)
{
    uint32_t seat = 0;
    while (seat < roster->seats && roster->members[seat] != NULL) {
        seat++;
    }
    return seat < roster->seats ? seat : CAROM_PLAYERS_MAX;
}

bool cm_roster_is_spectator(const cm_token *token)
{
    return token != NULL && (token->kind == CM_TOKEN_RESUME ? token->player == CM_ROSTER_SPECTATOR
                                                            : token->body.spectates);
}

static void give_back(cm_roster *roster, uint32_t player, carom_reason reason, const cm_log *log)
{
    cm_room *room = cm_roster_room(roster);
    cm_log_say(log, CM_LOG_WARNING, "player left", CM_U("player", player),
               CM_T("name", roster->kept[player].session.name),
               CM_U("tick", cm_room_tick(room) + 1), CM_T("reason", carom_reason_text(reason)));
    roster->kept[player].kept = false;
    cm_room_leave(room, player);
}

uint32_t cm_roster_dismiss(cm_roster *roster, bool by_address, uint64_t who, carom_reason reason,
                           const cm_log *log)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_kept_slot *slot = &roster->kept[player];
        if (slot->kept && (by_address ? slot->network : slot->session.client_id) == who) {
            give_back(roster, player, reason, log);
            count++;
        }
    }
    return count;
}

bool cm_roster_dismiss_player(cm_roster *roster, uint32_t player, carom_reason reason,
                              const cm_log *log)
{
    bool kept = player < CAROM_PLAYERS_MAX && roster->kept[player].kept;
    if (kept) {
        give_back(roster, player, reason, log);
    }
    return kept;
}

uint32_t cm_roster_players(const cm_roster *roster, const cm_transport *transport,
                           cm_control_player rows[CAROM_PLAYERS_MAX])
{
    const carom_game *game = cm_room_game(cm_roster_room(roster));
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *member = roster->members[player];
        const cm_kept_slot *slot = &roster->kept[player];
        if ((member == NULL && !slot->kept) ||
            (cm_game_has_slot(game, player) && !cm_game_player_present(game, player))) {
            continue; // no player, or one that the module refused
        }
        cm_transport_status status = {.silence_ms = CM_SILENCE_MS};
        if (member != NULL) {
            status = cm_transport_status_of(transport, member->connection);
        }
        rows[count++] =
            (cm_control_player){.player = player,
                                .name = member != NULL ? member->session.name : slot->session.name,
                                .body = cm_game_player_body(game, player),
                                .rtt_ms = status.round_trip_ms,
                                .away = status.silence_ms >= CM_SILENCE_MS};
    }
    return count;
}

bool cm_roster_is_news(cm_roster *roster, const cm_control_player *rows, uint32_t count)
{
    cm_hash hash = cm_hash_begin(count);
    bool other_rtt = false;
    for (uint32_t i = 0; i < count; i++) {
        const cm_control_player *row = &rows[i];
        const cm_client *member = roster->members[row->player];
        uint64_t who = member != NULL ? member->session.client_id
                                      : roster->kept[row->player].session.client_id;
        cm_hash_u64(&hash, who);
        cm_hash_u64(&hash, (uint64_t)row->body.index << 32 | row->body.generation);
        cm_hash_u64(&hash, (uint64_t)row->player << 8 | row->away);
        // A client that has just been welcomed was sent no rows yet.
        bool joined = member != NULL && member->session.state == CM_SESSION_JOINED;
        cm_hash_u64(&hash, joined ? 1u + member->session.epoch : 0u);
        uint32_t sent = roster->sent_rtt_ms[row->player];
        uint32_t difference = sent > row->rtt_ms ? sent - row->rtt_ms : row->rtt_ms - sent;
        other_rtt = other_rtt || difference > RTT_APART_MS + sent / 4;
    }
    uint64_t now = cm_hash_end(&hash);
    if (now == roster->told_hash && !other_rtt) {
        return false;
    }
    roster->told_hash = now;
    for (uint32_t i = 0; i < count; i++) {
        roster->sent_rtt_ms[rows[i].player] = rows[i].rtt_ms;
    }
    return true;
}

bool cm_client_send(cm_transport *transport, const cm_client *client, const cm_control *control)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(control, NULL, &bytes, &size) != CAROM_OK) {
        return false;
    }
    bool sent = cm_transport_send(transport, client->connection, CM_SEND_CONTROL, bytes, size);
    cm_control_release_bytes(NULL, bytes);
    return sent;
}

bool cm_roster_send(const cm_roster *roster, cm_transport *transport, const cm_control *control)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(control, NULL, &bytes, &size) != CAROM_OK) {
        return false;
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *member = roster->members[player];
        if (cm_client_has_joined(member)) {
            cm_transport_send(transport, member->connection, CM_SEND_CONTROL, bytes, size);
        }
    }
    cm_control_release_bytes(NULL, bytes);
    return true;
}

bool cm_client_has_joined(const cm_client *client)
{
    return client != NULL && client->session.state == CM_SESSION_JOINED;
}

void cm_roster_turn(cm_roster *roster, const cm_transport *transport, uint64_t now_us,
                    const cm_log *log)
{
    cm_room *room = cm_roster_room(roster);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *member = roster->members[player];
        const cm_kept_slot *slot = &roster->kept[player];
        if (slot->kept && now_us >= slot->until_us) {
            give_back(roster, player, CAROM_REASON_TIMEOUT, log);
        } else if (slot->kept ||
                   (member != NULL &&
                    cm_transport_status_of(transport, member->connection).silence_ms >=
                        CM_SILENCE_MS)) {
            cm_room_silence(room, player);
        }
    }
}
