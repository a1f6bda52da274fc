// The keys of an API's callers: a file of lines NAME SCOPES HASH, where SCOPES are words with
// commas between them and HASH is BLAKE2b-256 of the key in hexadecimal digits; '#' begins a
// comment. The file holds no key, but who can write to it lets in whom they want: it is checked as
// a secret's is. Typical: three keys, read at the start and on SIGHUP.
#ifndef CM_SERVER_AUTH_API_KEYS_H
#define CM_SERVER_AUTH_API_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carom/types.h"

#define CM_API_KEYS_MAX     64u
#define CM_API_KEY_NAME_MAX 32u // bytes
#define CM_API_KEY_HASH     32u
#define CM_API_KEY_TEXT_MAX 64u // bytes of a key, its NUL included

// X(id, name): what a key is for.
#define CM_API_SCOPES(X)                                                                           \
    X(READ, "read")                                                                                \
    X(ROOMS, "rooms")                                                                              \
    X(PLAYERS, "players")                                                                          \
    X(SERVER, "server")

typedef enum cm_api_scope {
#define CM_API_SCOPE_ENUM(id, name) CM_API_##id,
    CM_API_SCOPES(CM_API_SCOPE_ENUM)
#undef CM_API_SCOPE_ENUM
        CM_API_SCOPE_COUNT,
} cm_api_scope;

const char *cm_api_scope_name(cm_api_scope scope);

typedef struct cm_api_key {
    char name[CM_API_KEY_NAME_MAX + 1];
    uint32_t scopes; // a bit each
    uint8_t hash[CM_API_KEY_HASH];
} cm_api_key;

typedef struct cm_api_keys {
    uint32_t count;
    cm_api_key keys[CM_API_KEYS_MAX];
} cm_api_keys;

// Errors as cm_secret_file_read, and CAROM_ERROR_CORRUPT for what the lines say: `error` is
// FILE:LINE: …; the keys are unchanged then.
carom_result cm_api_keys_read(const char *path, cm_api_keys *keys, char *error, size_t error_size);
// The key that this text is; NULL: none of them. The time does not tell how near it was.
const cm_api_key *cm_api_keys_find(const cm_api_keys *keys, const char *text);

// Draws a key, and adds its line to the file, which is made (mode 0600) where there is none.
// CAROM_ERROR_ARGUMENT: a name or scopes that are none, or a name that is there already.
carom_result cm_api_keys_add(const char *path, const char *name, const char *scopes,
                             char text[CM_API_KEY_TEXT_MAX], char *error, size_t error_size);

#endif
