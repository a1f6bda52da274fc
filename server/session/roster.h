// The roster of a room, by player: connected clients, and slots kept for players who were cut off.
// A join takes a slot and a leave frees it, both events of the room; between the two its player may
// change connections by tickets (token.h), as often as a path breaks.
//
// A ticket names match, player and client, and is valid as long as that slot exists. Only the
// ticket of the newest welcome is valid, or, until the client has shown that it has that welcome,
// the one by which it came back. After a restart the first ticket of match, player and client
// counts as the newest.
#ifndef CM_SERVER_SESSION_ROSTER_H
#define CM_SERVER_SESSION_ROSTER_H

#include "server/ops/log.h"
#include "server/room/outbox.h"
#include "server/room/room_loop.h"
#include "server/session/session.h"
#include "shared/transport/transport.h"

#define CM_SILENCE_MS 500u // of a client whose inputs are zeros from then on

typedef struct cm_roster cm_roster;

// One place of the transport. It lives as long as the clients.
typedef struct cm_client {
    cm_session session;
    cm_connection_id connection;
    uint64_t network;      // that it comes from: cm_address_network
    uint64_t leaving_us;   // since when it is LEAVING
    uint64_t rooms_us;     // when it may ask for the rooms again
    uint64_t differs_us;   // when it is logged again that its world differs
    uint64_t told_end_us;  // when the server ends, as it was told; 0: it was not
    cm_roster *roster;     // of its room, while JOINING or JOINED; else NULL
    cm_control *hello;     // while CONNECTED: to be answered when the room can; else NULL
    cm_outbox waiting;     // its messages that the room had no place for yet
    uint64_t second_bytes; // wire_bytes at the begin of the present second
    double kbit;           // of the last whole second
} cm_client;

// The slot of a player who was cut off.
typedef struct cm_kept_slot {
    bool kept;
    bool any_ticket; // of its match, player and client: the one that was given last is not known
    uint64_t until_us;
    cm_session session; // as it was
    uint64_t network;   // that it was cut off from
} cm_kept_slot;

struct cm_roster {
    cm_room_loop *loop;
    const char *name;                      // of the room; NULL: none. Kept by the room
    uint32_t input_rate;                   // packets a second that its clients are to send
    uint64_t match_id;                     // of its tickets
    uint32_t grace_ms;                     // that slots are kept; 0: not at all, and no tickets
    cm_client *members[CAROM_PLAYERS_MAX]; // by player; NULL: none
    cm_kept_slot kept[CAROM_PLAYERS_MAX];  // by player
    // Of a gallery: its members, by seat, are spectators of those who play in `watched`, and take
    // no slots of the room; no seat is kept, a spectator takes another. NULL: they are players.
    const cm_roster *watched;
    uint32_t seats;
    uint64_t safe_tick; // a crash leaves what happened up to it; UINT64_MAX: nothing is recorded
    // Inputs refused, by verdict, of all who were ever in it; clamped likewise.
    uint64_t refused_inputs[CM_INPUT_VERDICT_COUNT];
    uint64_t seen_clamped;
    // The rows about each other that the members were sent last.
    uint64_t told_us, told_hash;
    uint32_t sent_rtt_ms[CAROM_PLAYERS_MAX];
};

// `input_rate`: packets a second; raised where the scene's pointers want more. Nothing is kept
// until match_id and grace_ms are set.
void cm_roster_init(cm_roster *roster, cm_room_loop *loop, uint32_t input_rate);
cm_room *cm_roster_room(const cm_roster *roster);

// Makes the ticket of a session that has its slot. `drawn` is chance.
void cm_roster_ticket(const cm_roster *roster, cm_session *session, const carom_token_key *key,
                      uint64_t unix_s, const uint8_t drawn[CM_TOKEN_NONCE_BYTES + CM_KEY_BYTES]);
// The session that has a player's slot, connected or cut off; NULL: the slot is free.
const cm_session *cm_roster_session(const cm_roster *roster, uint32_t player);
// The session that a ticket is good for, connected or kept, or NULL.
const cm_session *cm_roster_find(const cm_roster *roster, const cm_token *ticket);

// A player of a match that goes on after its server died: the slot is kept for the grace time from
// now on, for the client with a ticket of it.
typedef struct cm_roster_return {
    uint32_t player;
    uint64_t client_id, join_tick;
    uint64_t messages;   // of the player, since the join
    const char *name;    // at most CAROM_PLAYER_NAME_MAX bytes
    const char *address; // HOST:PORT; "": it is not known
} cm_roster_return;
void cm_roster_expect(cm_roster *roster, const cm_roster_return *player, uint64_t now_us);

// True if that player has not come back yet.
bool cm_roster_is_expected(const cm_roster *roster, uint32_t player);

// The seat of a gallery's spectator; the first that is free; CAROM_PLAYERS_MAX: none.
uint32_t cm_roster_seat(const cm_roster *roster, uint64_t client_id);
uint32_t cm_roster_free_seat(const cm_roster *roster);
// True if a ticket is a spectator's, of any seat: good as long as the match lasts.
#define CM_ROSTER_SPECTATOR 255u // in place of the player in a ticket
bool cm_roster_is_spectator(const cm_token *token);

// The client's slot is the client's no more: kept, where `until_us` is still to come, else given
// back. Nothing happens to a client without a slot.
void cm_roster_part(cm_client *client, uint64_t now_us, uint64_t until_us);
// The slot is another client's, which joined it by cm_session_join.
void cm_roster_add(cm_roster *roster, cm_client *client);
// Gives back the slots that are kept for a client id, or for who was cut off from a network
// (cm_address_network); returns how many.
uint32_t cm_roster_dismiss(cm_roster *roster, bool by_address, uint64_t who, carom_reason reason,
                           const cm_log *log);
// The same for one player's slot; false: it is not kept.
bool cm_roster_dismiss_player(cm_roster *roster, uint32_t player, carom_reason reason,
                              const cm_log *log);

// Sends a message to one client. False where it could not be encoded or queued.
bool cm_client_send(cm_transport *transport, const cm_client *client, const cm_control *control);
// Sends one, encoded once, to all who are welcomed. False where it could not be encoded.
bool cm_roster_send(const cm_roster *roster, cm_transport *transport, const cm_control *control);
// The client is one, and is welcomed. NULL: no client.
bool cm_client_has_joined(const cm_client *client);

// Rows of everybody who has a slot, ascending. Names point into the roster's sessions.
uint32_t cm_roster_players(const cm_roster *roster, const cm_transport *transport,
                           cm_control_player rows[CAROM_PLAYERS_MAX]);
// True if the rows are new to a member; then they count as sent.
bool cm_roster_is_news(cm_roster *roster, const cm_control_player *rows, uint32_t count);

// Before the room steps: inputs of those who are silent become zeros; slots whose time is over are
// given back.
void cm_roster_turn(cm_roster *roster, const cm_transport *transport, uint64_t now_us,
                    const cm_log *log);

#endif
