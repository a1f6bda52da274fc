// The clients of a transport: their sessions, their messages, and kicks. They enter and leave rooms
// by the rooms' rosters; there may be many rooms, and the caller finds the one for a Hello.
//
// A client's messages change only its session (acks, lead) and its room (events, inputs); the
// publisher reads them there.
#ifndef CM_SERVER_SESSION_CLIENTS_H
#define CM_SERVER_SESSION_CLIENTS_H

#include "server/auth/bans.h"
#include "server/session/roster.h"
#include "shared/base/rng.h"

typedef struct cm_clients_stats {
    uint64_t datagrams_refused;                      // of clients: could not be read
    uint64_t packet_reasons[CM_PACKET_REASON_COUNT]; // of their packets
    uint64_t messages_left_out;           // of those that come in their tick or never: it was full
    uint64_t refused[CAROM_REASON_COUNT]; // clients that no room accepted
    uint64_t left[CAROM_REASON_COUNT];    // players who went, or were sent away
    uint64_t refused_inputs;
    uint64_t spectators_refused; // inputs and messages of spectators, who have none
    uint64_t seen_clamped;       // inputs whose claimed time of view was impossible
} cm_clients_stats;

typedef struct cm_clients cm_clients;

typedef struct cm_clients_def {
    cm_transport *transport;
    const cm_bans *banned_clients, *banned_addresses; // kept by the caller; NULL: none
    // Why a client is banned; NULL, or a function that is NULL: nothing is known of it.
    const char *(*ban_reason)(void *context, uint64_t client_id);
    cm_rng rng; // for client ids
    cm_log log;
    const carom_token_key *ticket_key; // of the transport; NULL: no tickets. Kept by the caller
    void (*random)(void *context, void *bytes, size_t size); // for tickets
    void *random_context;
    // The room that a hello, or the client's token or ticket (else NULL), leads to; NULL: none, for
    // the reason, with ELSEWHERE at the port of another worker.
    cm_roster *(*find_room)(void *context, const cm_control *hello, const cm_token *token,
                            carom_reason *reason, uint16_t *port);
    // The rooms there are, as many as fit; returns how many. Texts live until the next call.
    uint32_t (*list_rooms)(void *context, cm_control_room *rooms, uint32_t capacity);
    void *context;
} cm_clients_def;

// The most rooms that a client is sent, and how often.
#define CM_CLIENTS_ROOMS_MAX 256u
#define CM_CLIENTS_ROOMS_US  2000000u

cm_clients *cm_clients_create(const cm_clients_def *def); // NULL: no memory
void cm_clients_destroy(cm_clients *clients);

// Takes what came in, and sends away who is overdue. `unix_s` is the wall clock, by which tokens
// end.
void cm_clients_receive(cm_clients *clients, uint64_t now_us, uint64_t unix_s);
// Says why (Refused before the join, Goodbye after it), frees the player's slot and lets the
// connection end once that has arrived, or 2 s later.
void cm_clients_kick(cm_clients *clients, cm_client *client, carom_reason reason);
// Everyone with a client id, or from a network (cm_address_network); returns how many.
uint32_t cm_clients_kick_who(cm_clients *clients, bool by_address, uint64_t who,
                             carom_reason reason);
// Everyone in a room, or in its gallery; NULL: nobody.
void cm_clients_kick_room(cm_clients *clients, const cm_roster *roster, carom_reason reason);
// Likewise, without a word: their slots are another process's, and they come back there.
void cm_clients_drop_room(cm_clients *clients, const cm_roster *roster);
void cm_clients_kick_all(cm_clients *clients, carom_reason reason);

// Tells the members who is in the room, where that has changed; a few times a second at the most.
void cm_clients_send_players(cm_clients *clients, cm_roster *roster);

// Once a second, `passed_us` after the last time: what each was sent.
void cm_clients_second(cm_clients *clients, uint64_t passed_us);
uint32_t cm_clients_connected(const cm_clients *clients);
uint32_t cm_clients_playing(const cm_clients *clients);  // in all rooms, joining or joined
uint32_t cm_clients_watching(const cm_clients *clients); // likewise: spectators
void cm_clients_stats_get(const cm_clients *clients, cm_clients_stats *stats);

#endif
