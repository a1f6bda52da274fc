// The gate: decides which datagrams pass to ENet. Before a connection it answers and keeps no
// state; at a CONNECT it checks cookie and token and makes keys; after that it opens sealed
// datagrams. Pure: bytes, addresses, time and randomness are arguments; net.c puts it before ENet.
//
//   datagram -> gate -> REFUSED (a reason, counted)
//                    -> ANSWER  (bytes for the same address, never more than came)
//                    -> PASS    (a datagram of ENet's, and the connection it belongs to)
//                    -> TAKEN   (was for the gate itself)
//                    -> ROOMS   (wants to be told the rooms, and may be)
//
// Invariants: no state before a cookie came back from the address to which it was sent; a token
// opens one connection, and without one, or with a ticket (which is valid as long as its slot:
// roster.h), so does a client's public key; a (key, nonce) pair is never used twice; if places are
// short a connection that sent nothing sealed yet is evicted first, then one that has sent no Hello
// for a second. Typical: 32 connections, a handshake a minute, 90 sealed datagrams a second for
// each.
#ifndef CM_SERVER_AUTH_GATE_H
#define CM_SERVER_AUTH_GATE_H

#include "server/auth/admission.h"
#include "server/auth/connections.h"
#include "shared/wire/frame.h"

#define CM_DATAGRAM_REASONS(X)                                                                     \
    X(SHORT, "shorter than a header")                                                              \
    X(LONG, "longer than 1,200 bytes")                                                             \
    X(TYPE, "of no type that a server takes")                                                      \
    X(HELLO, "not a well-formed hello")                                                            \
    X(VERSION, "a hello of another protocol version")                                              \
    X(CONNECT, "not a well-formed connect")                                                        \
    X(COOKIE, "a cookie that is old, or was given to another address")                             \
    X(BUSY, "more connects from one address than are answered")                                    \
    X(CROWD, "more connects from all addresses together than are answered")                        \
    X(REQUEST, "a connect that holds something else than ENet's")                                  \
    X(TOKEN, "no token, or one that no key opens")                                                 \
    X(EXPIRED, "a token whose time is over")                                                       \
    X(USED, "a token that was used before")                                                        \
    X(SERVER, "a token for another server")                                                        \
    X(ADDRESS, "a token for another address")                                                      \
    X(BANNED, "a client that is banned")                                                           \
    X(ELSEWHERE, "a token whose room another worker has")                                          \
    X(FULL, "no place for one more connection")                                                    \
    X(CLOSED, "a connect while the server is shutting down")                                       \
    X(SLOT, "a ticket whose slot is not kept any more")                                            \
    X(UNKNOWN, "sealed for a connection that does not exist")                                      \
    X(MOVED, "sealed for a connection of another address")                                         \
    X(REPLAY, "came before, or is too old")                                                        \
    X(FORGED, "sealed by someone else, or changed on the way")                                     \
    X(COMMAND, "holds a command that is not allowed")                                              \
    X(ACKS, "asks for more acks than are given")                                                   \
    X(CHANNELS, "a connect with another number of channels than 2")                                \
    X(SOURCE, "from an address that is nobody's: of 240/4, multicast, link-local or ::")           \
    X(ASK, "not a well-formed ask for the rooms")                                                  \
    X(ASKS, "asks for the rooms oftener than is answered")

typedef enum cm_datagram_reason {
#define CM_DATAGRAM_ENUM(name, text) CM_DATAGRAM_##name,
    CM_DATAGRAM_REASONS(CM_DATAGRAM_ENUM)
#undef CM_DATAGRAM_ENUM
        CM_DATAGRAM_REASON_COUNT
} cm_datagram_reason;

const char *cm_datagram_reason_text(cm_datagram_reason reason);

typedef struct cm_gate cm_gate;

typedef struct cm_gate_def {
    const carom_token_keys *keys;      // NULL: everyone may come in (loopback only); still sealed
    const carom_token_key *ticket_key; // that tickets are opened with; NULL: none are
    uint32_t connections;              // at once
    uint8_t chance[3 * CM_KEY_BYTES];  // drawn anew for every gate
} cm_gate_def;

typedef enum cm_gate_verdict {
    CM_GATE_REFUSED,
    CM_GATE_ANSWER,
    CM_GATE_PASS,
    CM_GATE_TAKEN,
    CM_GATE_ROOMS,
} cm_gate_verdict;

typedef struct cm_gate_result {
    cm_gate_verdict verdict;
    cm_datagram_reason reason; // REFUSED; an ANSWER that refuses has one too, else REASON_COUNT
    uint32_t connection;       // index, where one is known; else CM_CONNECTION_NONE
    uint16_t port;             // ANSWER of ELSEWHERE: where the client is sent
    uint32_t first;            // ROOMS: from this one on
    uint8_t *bytes;            // ANSWER, PASS; ROOMS: the echo; valid until the next call
    size_t size;
    bool is_connect;     // PASS: ENet makes a peer of it, or not
    uint32_t evicted_id; // PASS: of a connection that had to go for it; 0: none
} cm_gate_result;

// NULL where memory is short, or the cryptography library does not work here.
cm_gate *cm_gate_create(const cm_gate_def *def);
void cm_gate_destroy(cm_gate *gate);
// Replaces the keys; connections stay. NULL is not allowed where there were keys.
void cm_gate_set_keys(cm_gate *gate, const carom_token_keys *keys);
// Addresses of this server that a token must name one of; at most CM_ADMISSION_ADDRESSES_MAX.
void cm_gate_set_addresses(cm_gate *gate, const cm_address *addresses, uint32_t count);
// Finds the worker that has a token's room, or a ticket's match: the port of another worker of this
// host, to which the client is redirected, with its token unused; 0: here. NULL: all rooms are
// here.
void cm_gate_set_directory(cm_gate *gate, uint16_t (*port_of)(void *context, const cm_token *token),
                           void *context);
// Tells whether a ticket's slot still exists (NONE); otherwise its connect is refused with the
// reason: SLOT_GONE, or MATCH_CUT. NULL: not checked before the Hello.
void cm_gate_set_slots(cm_gate *gate,
                       carom_reason (*check_slot)(void *context, const cm_token *ticket),
                       void *context);
// While closed, connects are refused with DRAINING: by their keys, so that a client believes it and
// goes to its token's next server at once. A hello has none, and is answered as ever.
void cm_gate_close(cm_gate *gate);

// One datagram, opened in place. `unix_s` is the wall clock: tokens end by it.
void cm_gate_receive(cm_gate *gate, cm_address from, uint64_t now_us, uint64_t unix_s,
                     uint8_t *bytes, size_t size, cm_gate_result *result);

// Connections --------------------------------------------------------------------------------

// The one with an id, or CM_CONNECTION_NONE.
uint32_t cm_gate_find(const cm_gate *gate, uint32_t id);
bool cm_gate_exists(const cm_gate *gate, uint32_t connection);
uint32_t cm_gate_count(const cm_gate *gate);
// The time of its CONNECT, by the clock of cm_gate_receive.
uint64_t cm_gate_opened_us(const cm_gate *gate, uint32_t connection);
// Its client has a ticket to come back with, so its token is no longer needed and is announced as
// used, for later processes of the server too (used_tokens.h).
void cm_gate_welcomed(cm_gate *gate, uint32_t connection);
// Its Hello led into a room: its place is its own from now on.
void cm_gate_joined(cm_gate *gate, uint32_t connection);
// It is over: its keys are wiped, its place is free; its token is used.
void cm_gate_end(cm_gate *gate, uint32_t connection);
// ENet's datagram for it, sealed; 0 where it cannot be sent.
size_t cm_gate_seal(cm_gate *gate, uint32_t connection, const cm_frame_part *parts, size_t count,
                    uint8_t datagram[CM_DATAGRAM_MAX]);
// The contents of its token or ticket; NULL without either.
const cm_token *cm_gate_token(const cm_gate *gate, uint32_t connection);
// The largest datagram that is known to reach it, CM_PATH_LEAST at first.
size_t cm_gate_path(const cm_gate *gate, uint32_t connection);
// Writes a probe that is due into `datagram`; 0: none. No probe is sent before a sealed datagram
// was received, so that a client that only connects is not sent more than it sends. Call a few
// times a second.
size_t cm_gate_probe(cm_gate *gate, uint32_t connection, uint64_t now_us,
                     uint8_t datagram[CM_DATAGRAM_MAX]);
cm_address cm_gate_address(const cm_gate *gate, uint32_t connection);

// Tokens used before and clients that are banned: to be looked at and changed by the owner.
cm_used_tokens *cm_gate_used(cm_gate *gate);
cm_bans *cm_gate_bans(cm_gate *gate);
cm_bans *cm_gate_banned_addresses(cm_gate *gate); // by cm_address_network
// Banned clients who are told why: a token of theirs passes, and the Hello is refused with a text.
cm_bans *cm_gate_told_bans(cm_gate *gate);

#endif
