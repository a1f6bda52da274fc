// Connect tokens: what lets a client in. A backend issues one for a player who may play; the
// player's game hands it to the SDK; the server, which shares a key with the backend, lets each
// token in once.
//
// This is libcarom_token, a library of its own for backends (link with -lcarom_token -lsodium); the
// SDK and the server read the same form. Other languages: proto/PROTOCOL.md has the bytes.
//
//   carom_token_def def = carom_default_token_def();
//   def.client_id = 42;
//   def.expires_unix_s = now + 30;
//   def.servers[0] = "203.0.113.7:7777";
//   char text[CAROM_TOKEN_TEXT_MAX];
//   if (carom_token_issue(&def, &keys.keys[0], text, sizeof text) == CAROM_OK) { send(text); }
//
// Until it is used a token is as secret as a password: give it to its player over TLS only.
#ifndef CAROM_TOKEN_H
#define CAROM_TOKEN_H

#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_TOKEN_SERVERS_MAX 4    // addresses that a token may name
#define CAROM_TOKEN_ROOM_MAX    31   // bytes of a room's name: CAROM_ROOM_NAME_MAX
#define CAROM_TOKEN_NAME_MAX    32   // bytes of a player's name
#define CAROM_TOKEN_DATA_MAX    256  // bytes handed to the module's join
#define CAROM_TOKEN_TEXT_MAX    1024 // characters of a token's text, its end among them
#define CAROM_TOKEN_KEYS_MAX    16   // in a key file

// A key that backend and server share. Its id travels in each token, so that keys can rotate.
typedef struct carom_token_key {
    uint32_t id; // not 0
    uint8_t secret[32];
} carom_token_key;

// A key file: a line `ID SECRET` each, decimal and 64 hexadecimal digits; # begins a comment.
// The first key issues, all are accepted.
typedef struct carom_token_keys {
    uint32_t count;
    carom_token_key keys[CAROM_TOKEN_KEYS_MAX];
} carom_token_keys;

// The contents of a token to issue. Begin with carom_default_token_def. Texts may be NULL: empty.
typedef struct carom_token_def {
    uint32_t struct_size;    // set by carom_default_token_def
    uint64_t client_id;      // the player, by the backend's own numbers; not 0
    uint64_t expires_unix_s; // seconds of 1970: connecting is possible before it
    // "A.B.C.D:PORT" or "[IPv6]:PORT", as the server's own configuration names itself; NULL ends
    // the list, one at least. The client tries them in this order.
    const char *servers[CAROM_TOKEN_SERVERS_MAX];
    const char *bound_address; // "A.B.C.D" or IPv6 that the client must come from; NULL: any
    const char *room;          // NULL: the server's default room
    const char *name;          // of the player, printable UTF-8
    const uint8_t *user_data;  // handed to the module's join
    uint32_t user_data_size;
    bool spectates; // it lets in a spectator, never a player
} carom_token_def;

// An address as read from a token: the sixteen bytes of IPv6. a.b.c.d is ::ffff:a.b.c.d.
typedef struct carom_token_address {
    uint8_t ip[16];
    uint16_t port;
} carom_token_address;

typedef struct carom_token {
    uint32_t key_id;
    uint64_t expires_unix_s;
    uint32_t server_count;
    carom_token_address servers[CAROM_TOKEN_SERVERS_MAX];
    // The rest is sealed: zeros where it was read without the key.
    bool opened;
    uint64_t client_id;
    bool is_bound;
    bool spectates;
    uint8_t bound_ip[16];
    char room[CAROM_TOKEN_ROOM_MAX + 1];
    char name[CAROM_TOKEN_NAME_MAX + 1];
    uint8_t user_data[CAROM_TOKEN_DATA_MAX];
    uint32_t user_data_size;
} carom_token;

CAROM_API carom_token_def carom_default_token_def(void);

// Fills a key with a secret drawn by the operating system.
CAROM_API carom_result carom_token_key_make(uint32_t id, carom_token_key *key);
// The contents of a key file, `size` bytes of text. CAROM_ERROR_CORRUPT for a line of another form,
// the number of which goes to *line; CAROM_ERROR_FULL above CAROM_TOKEN_KEYS_MAX keys;
// CAROM_ERROR_NOT_FOUND without any.
CAROM_API carom_result carom_token_keys_read(const char *text, size_t size, carom_token_keys *keys,
                                             uint32_t *line);
// The line of a key file for one key, newline and end included: at least 80 bytes.
CAROM_API carom_result carom_token_key_write(const carom_token_key *key, char *text, size_t size);

// One line of base64url. CAROM_ERROR_ARGUMENT for a def that no server would take (*field names it;
// may be NULL), CAROM_ERROR_MEMORY where `size` is too small (CAROM_TOKEN_TEXT_MAX is enough).
CAROM_API carom_result carom_token_issue(const carom_token_def *def, const carom_token_key *key,
                                         char *text, size_t size, const char **field);
// Reads a token: without the key (NULL) the fields that a client may read, with it all of them.
// CAROM_ERROR_MAGIC for text that is no token, CAROM_ERROR_CORRUPT for one that was changed or cut,
// or that another key sealed.
CAROM_API carom_result carom_token_read(const char *text, const carom_token_key *key,
                                        carom_token *token);

#ifdef __cplusplus
}
#endif
#endif
