// The datagrams before a connection has keys. The server keeps nothing until a cookie came back.
//
//   client                                    server
//   HELLO      version, public key      --->  (nothing is kept)
//        <---  CHALLENGE  cookie, its public key, its random bytes; or REFUSAL
//   CONNECT    cookie, public key, token, ENet's CONNECT sealed  --->  a slot, and keys
//        <---  SEALED     ENet's VERIFY_CONNECT, and everything after it
//
//   SIZE       HELLO, always 548 bytes: so that what comes back is less, and such a path works
//   1          type 0x41
//   4          protocol version
//   32         client's public key (X25519), new for every attempt to connect
//   511        zeros
//
//   SIZE       CHALLENGE, 73 bytes
//   1          type 0x42
//   16         echo: the first half of the client's public key
//   8          cookie; its low 32 bits, never 0, are the connection's id
//   32         server's public key
//   16         server's random bytes
//
//   SIZE       REFUSAL, 36 bytes. Without a tag anyone on the path can make one: a hint, not an end
//   1          type 0x43
//   16         echo
//   1          carom_reason
//   2          port of the same host to ask instead, with ELSEWHERE; else 0
//   16         tag: BLAKE2b of the above by the key of what the server sends; zeros before keys
//
//   SIZE       CONNECT, 102 bytes and the token: at most 548
//   1          type 0x44
//   1          attempt: counts this client's CONNECTs with one key, from 0
//   8          cookie
//   32         client's public key
//   n          the token's sealed part (token.h); 0 bytes where the server wants none
//   44         ENet's CONNECT without its last 8 bytes (connectID, data), sealed
//   16         tag over all of it, by the key of what the client sends
//
//   SIZE       ROOMS_ASK, always 548 bytes: beside the way to a connection, which needs no token
//   1          type 0x48
//   2          number of the first room that is wanted
//   8          cookie
//   32         client's public key
//   505        zeros
//
//   SIZE       ROOMS, at most 548 bytes, one or more for an ask
//   1          type 0x49
//   16         echo
//   n          a control message (control.h) with rooms
//
// Every type has bit 0x40 of the first byte, which ENet uses for compression and we never do: what
// is ENet's and what is ours cannot be mistaken. Typical: one handshake a player and hour.
#ifndef CM_WIRE_HANDSHAKE_H
#define CM_WIRE_HANDSHAKE_H

#include "shared/wire/address.h"
#include "shared/wire/seal.h"
#include "shared/wire/token.h"

#define CM_WIRE_HELLO      0x41u
#define CM_WIRE_CHALLENGE  0x42u
#define CM_WIRE_REFUSAL    0x43u
#define CM_WIRE_CONNECT    0x44u
#define CM_WIRE_SEALED     0x45u // ENet's
#define CM_WIRE_PROBE      0x46u // sealed zeros: can a datagram of this size pass?
#define CM_WIRE_PROBED     0x47u // sealed: it did; 2 bytes: its size

#define CM_WIRE_ROOMS_ASK  0x48u
#define CM_WIRE_ROOMS      0x49u

#define CM_PATH_LEAST      548u // bytes of a datagram that every path carries
#define CM_HELLO_BYTES     CM_PATH_LEAST
#define CM_ECHO_BYTES      16u
#define CM_CHALLENGE_BYTES 73u
#define CM_REFUSAL_BYTES   36u
#define CM_ENET_CONNECT    52u // bytes of ENet's datagram with its CONNECT, without checksum
#define CM_CONNECT_SEALED  (CM_ENET_CONNECT - 8u)
#define CM_CONNECT_HEADER  42u
#define CM_CONNECT_LEAST   (CM_CONNECT_HEADER + CM_CONNECT_SEALED + CM_TAG_BYTES)
#define CM_ROOMS_HEADER    (1u + CM_ECHO_BYTES)
#define CM_COOKIE_US       10000000u // a cookie is good for one to two of these
_Static_assert(CM_CONNECT_LEAST + CM_TOKEN_MAX <= CM_PATH_LEAST, "a connect passes every path");

typedef struct cm_hello {
    uint32_t protocol;
    uint8_t client_public[CM_KEY_BYTES];
} cm_hello;

typedef struct cm_challenge {
    uint8_t echo[CM_ECHO_BYTES];
    uint64_t cookie;
    uint8_t server_public[CM_KEY_BYTES];
    uint8_t server_random[16];
} cm_challenge;

typedef struct cm_refusal {
    uint8_t echo[CM_ECHO_BYTES];
    uint8_t reason;
    uint16_t port; // of the worker that has the token's room: the token is not used up
    uint8_t tag[CM_TAG_BYTES];
} cm_refusal;

// A CONNECT as it came; pointers into the datagram.
typedef struct cm_connect {
    uint8_t attempt;
    uint64_t cookie;
    const uint8_t *client_public;
    const uint8_t *token; // token_size bytes
    size_t token_size;
} cm_connect;

// Writers return the size of the datagram, readers false for one of another form.
size_t cm_hello_write(const cm_hello *hello, uint8_t bytes[CM_HELLO_BYTES]);
bool cm_hello_read(const uint8_t *bytes, size_t size, cm_hello *hello);
size_t cm_challenge_write(const cm_challenge *challenge, uint8_t bytes[CM_CHALLENGE_BYTES]);
bool cm_challenge_read(const uint8_t *bytes, size_t size, cm_challenge *challenge);
size_t cm_refusal_write(const cm_refusal *refusal, uint8_t bytes[CM_REFUSAL_BYTES]);
bool cm_refusal_read(const uint8_t *bytes, size_t size, cm_refusal *refusal);
// Its tag, by a server that has keys; and whether it has the one that only such a server can make.
// A hash with a key needs no nonce: one may be made for each CONNECT without keeping count.
void cm_refusal_sign(cm_refusal *refusal, const cm_seal *seal);
bool cm_refusal_is_signed(const cm_refusal *refusal, const cm_seal *seal);

// ENet's datagram of CM_ENET_CONNECT bytes into ours, sealed by the key of what the client sends.
size_t cm_connect_write(const cm_connect *connect, const uint8_t enet[CM_ENET_CONNECT],
                        const cm_seal *seal, uint8_t bytes[CM_PATH_LEAST]);
bool cm_connect_read(const uint8_t *bytes, size_t size, cm_connect *connect);
// ENet's datagram again, connectID and data filled in from the cookie. False where it was changed
// or is not by this client.
bool cm_connect_open(const cm_connect *connect, const uint8_t *bytes, size_t size,
                     const cm_seal *seal, uint8_t enet[CM_ENET_CONNECT]);
// An ask for the rooms from `first` on: of `ask`, cookie and public key.
size_t cm_rooms_ask_write(const cm_connect *ask, uint32_t first, uint8_t bytes[CM_PATH_LEAST]);
bool cm_rooms_ask_read(const uint8_t *bytes, size_t size, cm_connect *ask, uint32_t *first);
static inline uint32_t cm_connect_id(uint64_t cookie)
{
    return (uint32_t)cookie;
}

// The server's keys for answering without any state per client. They are new at every start:
// cookies of an earlier process are not valid.
typedef struct cm_cookie_jar {
    uint8_t key[CM_KEY_BYTES];
    uint8_t secret[CM_KEY_BYTES], public_key[CM_KEY_BYTES];
} cm_cookie_jar;

// From 64 bytes drawn by chance.
void cm_cookie_jar_init(cm_cookie_jar *jar, const uint8_t seed[2 * CM_KEY_BYTES]);
void cm_cookie_challenge(const cm_cookie_jar *jar, cm_address from,
                         const uint8_t client_public[CM_KEY_BYTES], uint64_t now_us,
                         cm_challenge *challenge);
// True for a cookie of this or the last CM_COOKIE_US; then the random bytes that went with it.
bool cm_cookie_check(const cm_cookie_jar *jar, cm_address from, const cm_connect *connect,
                     uint64_t now_us, uint8_t server_random[16]);

#endif
