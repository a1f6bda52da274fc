// Tokens in bytes: the sealed part that a client carries to the server and the open part that tells
// the client where to go.
//
//   OFFSET  SIZE  the sealed part (at most CM_TOKEN_MAX bytes), little-endian
//   0       1     kind: 1 or 3 a connect token, 2 a resume ticket
//   1       4     key id
//   5       8     expires, seconds of 1970
//   13      24    nonce; it is the token's id too
//   37      n     encrypted (XChaCha20-Poly1305 with the key; bytes 0..36 are authenticated)
//   37 + n  16    tag
//
//   encrypted:  8 client id | 32 key of the connection | 1 address count, 6 each (4 as written, 2
//               port) | 1 flags, 4 if bound | 1 + room | 1 + name | 2 + user data |
//               of a ticket only: 8 match id, 1 slot of the player
//
//   A token's text is base64url without padding of: 2 size of the sealed part | the sealed part |
//   32 key of the connection | 1 address count, 6 each
//
// Flags: 1 the client must come from the address that follows, 2 it is a spectator.
//
// Kind 3 is format 2: kind 1 with addresses of 16 bytes instead of 4, sealed and open. One that
// names no IPv6 address is issued in format 1, which needs less of the 446 bytes.
#ifndef CM_WIRE_TOKEN_H
#define CM_WIRE_TOKEN_H

#include "carom/token.h"

#include "shared/wire/address.h"
#include "shared/wire/crypto.h"

#define CM_TOKEN_HEADER 37u
#define CM_TOKEN_PLAIN_MAX                                                                         \
    (8u + CM_KEY_BYTES + 1u + 6u * CAROM_TOKEN_SERVERS_MAX + 1u + 4u + 1u + CAROM_TOKEN_ROOM_MAX + \
     1u + CAROM_TOKEN_NAME_MAX + 2u + CAROM_TOKEN_DATA_MAX)
#define CM_TOKEN_MAX (CM_TOKEN_HEADER + CM_TOKEN_PLAIN_MAX + CM_TAG_BYTES)

typedef enum cm_token_kind { CM_TOKEN_CONNECT = 1, CM_TOKEN_RESUME = 2 } cm_token_kind;

// The sealed part. In a ticket servers, room, name and user data are empty: the slot to which it
// returns has them.
typedef struct cm_token {
    cm_token_kind kind;
    carom_token body;
    uint8_t id[CM_TOKEN_NONCE_BYTES];
    uint8_t key[CM_KEY_BYTES]; // of the connection
    uint64_t match_id;         // of a ticket
    uint32_t player;           // of a ticket
} cm_token;

// A token as its client holds it: the sealed part unchanged, and the fields needed to use it.
typedef struct cm_token_pass {
    uint8_t sealed[CM_TOKEN_MAX];
    size_t sealed_size;
    uint8_t key[CM_KEY_BYTES];
    uint32_t server_count;
    carom_token_address servers[CAROM_TOKEN_SERVERS_MAX];
} cm_token_pass;

// Seals token->body, key, id (both drawn by the caller) with the key given; body.key_id is the
// key's. Returns the size, 0 where a field is out of its range or all together are too long.
size_t cm_token_seal(const cm_token *token, const carom_token_key *key,
                     uint8_t bytes[CM_TOKEN_MAX]);
// OK, MAGIC (no token: size, kind), NOT_FOUND (no key of that id), CORRUPT.
carom_result cm_token_open(const uint8_t *bytes, size_t size, const carom_token_key *keys,
                           uint32_t key_count, cm_token *token);
// The text of a token and back. Writing: false where `size` is too small.
bool cm_token_pass_write(const cm_token_pass *pass, char *text, size_t size);
bool cm_token_pass_read(const char *text, cm_token_pass *pass);

#endif
