// Sealing: what every datagram of a connection wears, ENet's own commands included, and the keys of
// a connection.
//
//   OFFSET  SIZE  a sealed datagram
//   0       1     type: CM_WIRE_SEALED or another of a connection (handshake.h)
//   1       4     id of the connection, chosen by the server
//   5       8     sequence: counts this direction's datagrams from 0, never twice with one key
//   13      n     ENet's datagram, encrypted
//   13 + n  16    tag over all of it
//
// Nonce: direction (4 bytes), sequence (8). A receiver takes each sequence once, and none that is
// more than 1,023 older than the newest. Cost: 29 bytes, and 0.3 us for a datagram of 90 bytes, 0.4
// for 300, 1.0 for 1,200; typical: 60 datagrams up and 30 down a second and client.
#ifndef CM_WIRE_SEAL_H
#define CM_WIRE_SEAL_H

#include "shared/wire/crypto.h"

#define CM_SEAL_HEADER   13u
#define CM_SEAL_OVERHEAD (CM_SEAL_HEADER + CM_TAG_BYTES)
#define CM_SEAL_WINDOW   1024u

typedef enum cm_seal_side { CM_SEAL_CLIENT = 0, CM_SEAL_SERVER = 1 } cm_seal_side;

// The window of received sequences. Zeroed: none.
typedef struct cm_seal_window {
    uint64_t next; // the newest received plus one; 0: none
    uint64_t came[CM_SEAL_WINDOW / 64];
} cm_seal_window;

typedef struct cm_seal {
    uint32_t id;
    cm_seal_side side;
    uint64_t sent; // datagrams sealed: the next sequence
    cm_seal_window window;
    uint8_t send_key[CM_KEY_BYTES], receive_key[CM_KEY_BYTES];
} cm_seal;

typedef enum cm_seal_reason {
    CM_SEAL_OK,
    CM_SEAL_SHORT,  // no header and tag
    CM_SEAL_OTHER,  // another connection's id
    CM_SEAL_REPLAY, // came before, or is older than the window
    CM_SEAL_FORGED, // the tag is wrong: not from the other end, or changed on the way
} cm_seal_reason;

// The secrets that both ends share after the handshake; the keys are derived from all of them.
typedef struct cm_seal_secrets {
    uint8_t token_key[CM_KEY_BYTES]; // from the token; zeros without one
    uint8_t shared[CM_KEY_BYTES];    // X25519
    uint8_t client_public[CM_KEY_BYTES], server_public[CM_KEY_BYTES];
    uint8_t server_random[16];
} cm_seal_secrets;

// A connection's beginning: keys by BLAKE2b, both counts at 0.
void cm_seal_begin(cm_seal *seal, cm_seal_side side, uint32_t id, const cm_seal_secrets *secrets);

// `size` bytes of plaintext stand at datagram + CM_SEAL_HEADER, with room for the tag behind them.
// Returns the size of the whole datagram.
size_t cm_seal_close(cm_seal *seal, uint8_t type, uint8_t *datagram, size_t size);
// In place: on CM_SEAL_OK the plaintext is at datagram + CM_SEAL_HEADER, *plain_size bytes of it.
cm_seal_reason cm_seal_open(cm_seal *seal, uint8_t *datagram, size_t size, size_t *plain_size);
// The id of a sealed datagram; 0 where it is too short for one.
uint32_t cm_seal_id(const uint8_t *datagram, size_t size);

// The bytes that the handshake itself seals, once for each attempt (handshake.h).
void cm_seal_connect_nonce(uint8_t nonce[CM_NONCE_BYTES], uint8_t attempt);

#endif
