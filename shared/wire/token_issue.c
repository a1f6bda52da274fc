// The public half: key files, issuing, inspecting.
#include "shared/wire/token.h"

#include <stdio.h>
#include <string.h>

#include "shared/wire/control_text.h"

carom_token_def carom_default_token_def(void)
{
    carom_token_def def;
    memset(&def, 0, sizeof def);
    def.struct_size = sizeof def;
    return def;
}

carom_result carom_token_key_make(uint32_t id, carom_token_key *key)
{
    if (key == NULL || id == 0) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (!cm_crypto_init()) {
        return CAROM_ERROR_STATE;
    }
    key->id = id;
    cm_crypto_random(key->secret, sizeof key->secret);
    return CAROM_OK;
}

carom_result carom_token_key_write(const carom_token_key *key, char *text, size_t size)
{
    if (key == NULL || text == NULL || key->id == 0) {
        return CAROM_ERROR_ARGUMENT;
    }
    char hex[2 * sizeof key->secret + 1];
    cm_crypto_hex(key->secret, sizeof key->secret, hex);
    int length = snprintf(text, size, "%u %s\n", (unsigned)key->id, hex);
    cm_crypto_wipe(hex, sizeof hex);
    return length > 0 && (size_t)length < size ? CAROM_OK : CAROM_ERROR_MEMORY;
}

// One line without its end: true for a key, a comment (id 0) or nothing (id 0).
static bool read_key(const char *line, size_t size, carom_token_key *key)
{
    memset(key, 0, sizeof *key);
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\r')) {
        size--;
    }
    if (size == 0 || line[0] == '#') {
        return true;
    }
    size_t at = 0;
    uint64_t id = 0;
    for (; at < size && line[at] >= '0' && line[at] <= '9' && id <= UINT32_MAX; at++) {
        id = 10 * id + (uint64_t)(line[at] - '0');
    }
    if (id == 0 || id > UINT32_MAX || at == size || line[at] != ' ' ||
        !cm_crypto_unhex(line + at + 1, size - at - 1, key->secret, sizeof key->secret)) {
        return false;
    }
    key->id = (uint32_t)id;
    return true;
}

static bool has_key(const carom_token_keys *keys, uint32_t id)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (keys->keys[i].id == id) {
            return true;
        }
    }
    return false;
}

carom_result carom_token_keys_read(const char *text, size_t size, carom_token_keys *keys,
                                   uint32_t *line)
{
    if (text == NULL || keys == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    memset(keys, 0, sizeof *keys);
    uint32_t number = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        number++;
        carom_token_key key;
        bool good = read_key(text + at, length, &key);
        at += length + 1;
        bool full = good && key.id != 0 && keys->count == CAROM_TOKEN_KEYS_MAX;
        if (!good || full || (key.id != 0 && has_key(keys, key.id))) {
            if (line != NULL) {
                *line = number;
            }
            return full ? CAROM_ERROR_FULL : CAROM_ERROR_CORRUPT;
        }
        if (key.id != 0) {
            keys->keys[keys->count++] = key;
        }
    }
    return keys->count > 0 ? CAROM_OK : CAROM_ERROR_NOT_FOUND;
}

static bool take_text(const char *from, char *text, size_t max)
{
    if (from == NULL) {
        return true;
    }
    if (strnlen(from, max + 1) > max || !cm_text_is_printable(from, max)) {
        return false;
    }
    strcpy(text, from);
    return true;
}

// The name of the field that no server would take, or NULL.
static const char *read_def(const carom_token_def *def, carom_token *token)
{
    if (def->client_id == 0) {
        return "client_id";
    }
    if (def->expires_unix_s == 0) {
        return "expires_unix_s";
    }
    token->client_id = def->client_id;
    token->expires_unix_s = def->expires_unix_s;
    while (token->server_count < CAROM_TOKEN_SERVERS_MAX &&
           def->servers[token->server_count] != NULL) {
        cm_address *address = &token->servers[token->server_count];
        if (!cm_address_read(def->servers[token->server_count++], address) || address->port == 0) {
            return "servers";
        }
    }
    if (token->server_count == 0) {
        return "servers";
    }
    token->spectates = def->spectates;
    token->is_bound = def->bound_address != NULL;
    if (token->is_bound && !cm_address_read_ip(def->bound_address, token->bound_ip)) {
        return "bound_address";
    }
    if (!take_text(def->room, token->room, CAROM_TOKEN_ROOM_MAX)) {
        return "room";
    }
    if (!take_text(def->name, token->name, CAROM_TOKEN_NAME_MAX)) {
        return "name";
    }
    bool missing = def->user_data_size > 0 && def->user_data == NULL;
    if (missing || def->user_data_size > CAROM_TOKEN_DATA_MAX) {
        return "user_data";
    }
    token->user_data_size = def->user_data_size;
    if (def->user_data_size > 0) {
        memcpy(token->user_data, def->user_data, def->user_data_size);
    }
    return NULL;
}

carom_result carom_token_issue(const carom_token_def *def, const carom_token_key *key, char *text,
                               size_t size, const char **field)
{
    const char *wrong = NULL;
    cm_token token = {.kind = CM_TOKEN_CONNECT};
    if (def == NULL || key == NULL || text == NULL || key->id == 0) {
        wrong = def == NULL ? "def" : text == NULL ? "text" : "key";
    } else if (def->struct_size != sizeof *def) {
        wrong = "struct_size";
    } else {
        wrong = read_def(def, &token.body);
    }
    if (field != NULL) {
        *field = wrong;
    }
    if (wrong != NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (!cm_crypto_init()) {
        return CAROM_ERROR_STATE;
    }
    token.body.key_id = key->id;
    cm_crypto_random(token.id, sizeof token.id);
    cm_crypto_random(token.key, sizeof token.key);
    cm_token_pass pass = {.server_count = token.body.server_count};
    pass.sealed_size = cm_token_seal(&token, key, pass.sealed);
    memcpy(pass.key, token.key, sizeof pass.key);
    memcpy(pass.servers, token.body.servers, sizeof pass.servers);
    wrong = pass.sealed_size == 0 ? "user_data" : NULL; // with the rest it has no room
    bool fits = wrong == NULL && cm_token_pass_write(&pass, text, size);
    cm_crypto_wipe(&pass, sizeof pass);
    cm_crypto_wipe(&token, sizeof token);
    if (wrong != NULL && field != NULL) {
        *field = wrong;
    }
    return fits ? CAROM_OK : wrong != NULL ? CAROM_ERROR_ARGUMENT : CAROM_ERROR_MEMORY;
}

carom_result carom_token_read(const char *text, const carom_token_key *key, carom_token *token)
{
    if (text == NULL || token == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    memset(token, 0, sizeof *token);
    cm_token_pass pass;
    if (!cm_token_pass_read(text, &pass)) {
        return CAROM_ERROR_MAGIC;
    }
    cm_token opened;
    carom_result result = cm_token_open(pass.sealed, pass.sealed_size, key, key != NULL, &opened);
    if (key != NULL && result == CAROM_OK) {
        *token = opened.body;
    } else {
        token->key_id = opened.body.key_id;
        token->expires_unix_s = opened.body.expires_unix_s;
        token->server_count = pass.server_count;
        memcpy(token->servers, pass.servers, sizeof token->servers);
    }
    cm_crypto_wipe(&opened, sizeof opened);
    cm_crypto_wipe(&pass, sizeof pass);
    return key == NULL ? CAROM_OK : result == CAROM_OK ? CAROM_OK : CAROM_ERROR_CORRUPT;
}
