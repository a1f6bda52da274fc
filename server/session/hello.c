// A client's first message, and the room that it leads to. A client is new, or comes back by a
// ticket to the slot that was kept for it. Typical: one hello a client, and one more each time that
// its path breaks.
#include "server/session/clients_inner.h"

#include <stdio.h>
#include <string.h>

typedef struct identity {
    uint64_t client_id;
    const char *name;
    const uint8_t *user_data;
    uint32_t user_data_size;
} identity;

// The client's identity: from its token, if it has one; else from its Hello, with an id that we
// draw.
static void take_identity(cm_clients *clients, const cm_control *hello, const cm_token *token,
                          identity *who)
{
    if (token != NULL) {
        *who = (identity){token->body.client_id, token->body.name, token->body.user_data,
                          token->body.user_data_size};
    } else {
        *who = (identity){cm_rng_next(&clients->def.rng), hello->name != NULL ? hello->name : "",
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

// A client that was cut off returns with a ticket on another connection. Its old connection is
// dropped without a message, because the client itself might still receive that.
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
        cm_transport_close(clients->def.transport, old->connection, CAROM_REASON_NONE,
                           CM_CLOSE_SILENTLY);
    }
    if (cm_roster_is_expected(roster, ticket->player) && hello->comes_back) {
        cm_session_recall(&fresh, hello);
    }
    *session = fresh;
    session->predict = hello->predict;
    give_ticket(clients, roster, session);
    cm_roster_add(roster, client);
    cm_clients_log(clients, client, CM_LOG_INFO, "player came back",
                   CM_U("player", session->player), CM_T("name", session->name),
                   CM_U("tick", cm_room_tick(cm_roster_room(roster)) + 1));
}

// True if the client was banned after the gate let it in: a ban does not find clients before their
// Hello.
static bool is_banned(const cm_clients *clients, const cm_client *client, const cm_token *token)
{
    return cm_bans_have(clients->def.banned_addresses, client->network) ||
           (token != NULL && cm_bans_have(clients->def.banned_clients, token->body.client_id));
}

// A client that was joining when the server died has no ticket and comes back with its token. Its
// old slot is freed here, so that it does not block the client's own return.
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

// A client with another build of the room's module would simulate another game: it is refused
// before it has a slot. Both ends log both source hashes, so that the operator sees which one to
// update.
static bool is_other_build(cm_clients *clients, cm_client *client, const cm_roster *roster,
                           const cm_control *hello)
{
    const carom_module *module = cm_game_module(cm_room_game(cm_roster_room(roster)));
    const char *theirs = hello->module_source != NULL ? hello->module_source : "";
    const char *ours = module->source != NULL ? module->source : "";
    char text[256];
    if (hello->module == NULL || strcmp(hello->module, module->name) != 0 ||
        cm_module_agrees(module, hello->module, hello->module_version, hello->module_abi, theirs)) {
        return false;
    }
    cm_clients_log(clients, client, CM_LOG_WARNING, "client has another build of the module",
                   CM_U("peer", client->connection.index), CM_T("module", module->name),
                   CM_T("client_source", theirs), CM_T("server_source", ours),
                   CM_U("client_version", hello->module_version),
                   CM_U("server_version", module->version));
    snprintf(text, sizeof text,
             "module '%s': the client's is version %u of source %s, the "
             "server's version %u of %s",
             module->name, hello->module_version, theirs[0] != '\0' ? theirs : "none",
             module->version, ours[0] != '\0' ? ours : "none");
    cm_clients_send_off(clients, client, CAROM_REASON_MODULE_OTHER, text, 0);
    return true;
}

// The room that a hello leads to; NULL: the client was sent away.
static cm_roster *find_room(cm_clients *clients, cm_client *client, const cm_control *hello,
                            const cm_token *token)
{
    carom_reason reason = CAROM_REASON_NOT_BUILT;
    uint16_t port = 0;
    if (is_banned(clients, client, token)) {
        bool known = token != NULL && clients->def.ban_reason != NULL;
        cm_clients_send_off(
            clients, client, CAROM_REASON_BANNED,
            known ? clients->def.ban_reason(clients->def.context, token->body.client_id) : NULL, 0);
        return NULL;
    }
    cm_roster *roster = clients->def.find_room(clients->def.context, hello, token, &reason, &port);
    if (roster == NULL) {
        cm_clients_send_off(clients, client, reason, NULL,
                            reason == CAROM_REASON_ELSEWHERE ? port : 0);
        return NULL;
    }
    return is_other_build(clients, client, roster, hello) ? NULL : roster;
}

// A spectator takes a seat of the gallery, again where it had one: there is no event of the room,
// and nothing to wait for.
static void take_seat(cm_clients *clients, cm_client *client, cm_roster *roster,
                      const cm_control *hello, const cm_token *token)
{
    cm_session *session = &client->session;
    identity who;
    take_identity(clients, hello, token, &who);
    uint32_t seat = cm_roster_seat(roster, who.client_id);
    if (seat < CAROM_PLAYERS_MAX) { // by another connection: its client has left that one
        cm_client *old = roster->members[seat];
        cm_roster_part(old, 0, 0);
        old->session.state = CM_SESSION_FREE;
        cm_transport_close(clients->def.transport, old->connection, CAROM_REASON_NONE,
                           CM_CLOSE_SILENTLY);
    } else {
        seat = cm_roster_free_seat(roster);
    }
    if (seat == CAROM_PLAYERS_MAX) {
        cm_clients_send_off(clients, client, CAROM_REASON_ROOM_FULL,
                            "no seat for another spectator", 0);
        return;
    }
    cm_room *room = cm_roster_room(roster);
    cm_session_join(session, seat, who.client_id, cm_room_tick(room) + 1, roster->input_rate,
                    cm_room_tick_rate(room), clients->now_us);
    if (hello->comes_back) {
        cm_session_recall(session, hello);
    }
    snprintf(session->name, sizeof session->name, "%s", who.name);
    give_ticket(clients, roster, session);
    cm_roster_add(roster, client);
    cm_clients_log(clients, client, CM_LOG_INFO, "spectator joined",
                   CM_D("client_id", who.client_id), CM_T("name", session->name));
}

// False: the room cannot say yet, and is to be asked again.
static bool join(cm_clients *clients, cm_client *client, const cm_control *hello)
{
    cm_session *session = &client->session;
    const cm_token *token = cm_transport_token(clients->def.transport, client->connection);
    cm_roster *roster = find_room(clients, client, hello, token);
    if (roster == NULL) {
        return true;
    }
    if (roster->watched != NULL) {
        take_seat(clients, client, roster, hello, token);
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
    char address[CM_ADDRESS_TEXT_MAX];
    const cm_transport_status status =
        cm_transport_status_of(clients->def.transport, client->connection);
    cm_address_write(&status.address, address);
    cm_room_loop_joined(roster->loop, &(cm_sink_player){.player = player,
                                                        .client_id = who.client_id,
                                                        .name = session->name,
                                                        .address = address});
    cm_clients_log(clients, client, CM_LOG_INFO, "player joined", CM_U("player", player),
                   CM_D("client_id", who.client_id), CM_T("name", session->name),
                   CM_U("tick", session->join_tick));
    return true;
}

bool cm_clients_hello(cm_clients *clients, cm_client *client, const cm_control *hello)
{
    bool answered = join(clients, client, hello);
    if (client->roster != NULL) {
        cm_transport_mark_set(clients->def.transport, client->connection, CM_MARK_JOINED);
    }
    return answered;
}
