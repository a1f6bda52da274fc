// See api_keys.h. A key is 32 bytes drawn by chance, so that one pass of a hash is enough to keep
// it.
#include "server/auth/api_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/config/secret_file.h"
#include "shared/wire/crypto.h"

#define PREFIX   "carom_" // by which scanners of secrets know one
#define LINE_MAX 256u

static const char *const NAMES[] = {
#define NAME(id, name) name,
    CM_API_SCOPES(NAME)};

const char *cm_api_scope_name(cm_api_scope scope)
{
    return NAMES[scope];
}

static bool is_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= CM_API_KEY_NAME_MAX &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               length;
}

// False: no words of NAMES with commas between them.
static bool read_scopes(const char *text, uint32_t *scopes)
{
    *scopes = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t bit = 0;
        for (uint32_t i = 0; i < CM_API_SCOPE_COUNT; i++) {
            bool is = strlen(NAMES[i]) == length && memcmp(NAMES[i], text, length) == 0;
            bit = is ? 1u << i : bit;
        }
        if (bit == 0 || (*scopes & bit) != 0) {
            return false;
        }
        *scopes |= bit;
        if (text[length] == '\0') {
            return true;
        }
        text += length + 1;
    }
}

static const char *check_new(const cm_api_keys *keys, const char *name, const char *scopes,
                             cm_api_key *key)
{
    if (!is_name(name)) {
        return "expected a name of 1 to 32 letters, digits, '.', '_' or '-'";
    }
    if (!read_scopes(scopes, &key->scopes)) {
        return "expected scopes with commas between them, of read, rooms, players, server, each "
               "once";
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->keys[i].name, name) == 0) {
            return "there is a key of that name";
        }
    }
    memcpy(key->name, name, strlen(name) + 1);
    return keys->count < CM_API_KEYS_MAX ? NULL : "more keys than are kept (64)";
}

// NULL, or what is wrong with the line.
static const char *take_line(char *line, cm_api_keys *keys)
{
    char name[CM_API_KEY_NAME_MAX + 2], scopes[64], hash[66], more[2];
    cm_api_key key = {.scopes = 0};
    line[strcspn(line, "#")] = '\0';
    int words = sscanf(line, "%33s %63s %65s %1s", name, scopes, hash, more);
    if (words <= 0) {
        return NULL;
    }
    if (words != 3 || !cm_crypto_unhex(hash, strlen(hash), key.hash, sizeof key.hash)) {
        return "expected NAME SCOPES HASH, as 'carom token api-key' writes them";
    }
    const char *wrong = check_new(keys, name, scopes, &key);
    if (wrong == NULL) {
        keys->keys[keys->count++] = key;
    }
    return wrong;
}

carom_result cm_api_keys_read(const char *path, cm_api_keys *keys, char *error, size_t error_size)
{
    char text[CM_SECRET_FILE_MAX + 1];
    size_t size;
    cm_api_keys read = {.count = 0};
    carom_result result = cm_secret_file_read(path, text, &size, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    text[size] = '\0';
    uint32_t number = 0;
    const char *wrong = strlen(text) != size ? "a NUL byte" : NULL;
    for (char *at = text; wrong == NULL && *at != '\0';) {
        char *line = at;
        number++;
        at += strcspn(at, "\n");
        if (*at != '\0') {
            *at++ = '\0';
        }
        wrong = take_line(line, &read);
    }
    if (wrong != NULL) {
        snprintf(error, error_size, "%s:%u: %s", path, (unsigned)number, wrong);
        return CAROM_ERROR_CORRUPT;
    }
    *keys = read;
    return CAROM_OK;
}

static void hash_of(const char *text, uint8_t hash[CM_API_KEY_HASH])
{
    cm_crypto_hash(hash, CM_API_KEY_HASH, (const uint8_t *)text, strlen(text), NULL);
}

const cm_api_key *cm_api_keys_find(const cm_api_keys *keys, const char *text)
{
    uint8_t hash[CM_API_KEY_HASH];
    const cm_api_key *found = NULL;
    hash_of(text, hash);
    for (uint32_t i = 0; i < keys->count; i++) { // all of them, whichever it is
        bool is = cm_crypto_equal(keys->keys[i].hash, hash, CM_API_KEY_HASH);
        found = is ? &keys->keys[i] : found;
    }
    return found;
}

static carom_result append(const char *path, const char *line, char *error, size_t error_size)
{
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    size_t size = strlen(line);
    bool wrote = file >= 0 && write(file, line, size) == (ssize_t)size && fsync(file) == 0;
    if (!wrote) {
        snprintf(error, error_size, "%s: could not be written: %s", path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    return wrote ? CAROM_OK : CAROM_ERROR_IO;
}

carom_result cm_api_keys_add(const char *path, const char *name, const char *scopes,
                             char text[CM_API_KEY_TEXT_MAX], char *error, size_t error_size)
{
    uint8_t drawn[32], hash[CM_API_KEY_HASH];
    char line[LINE_MAX], digits[2 * CM_API_KEY_HASH + 1];
    cm_api_keys keys = {.count = 0};
    cm_api_key key;
    bool is_new = access(path, F_OK) != 0 && errno == ENOENT;
    carom_result result = is_new ? CAROM_OK : cm_api_keys_read(path, &keys, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    const char *wrong = check_new(&keys, name, scopes, &key);
    if (wrong != NULL) {
        snprintf(error, error_size, "%s", wrong);
        return CAROM_ERROR_ARGUMENT;
    }
    memcpy(text, PREFIX, strlen(PREFIX));
    cm_crypto_random(drawn, sizeof drawn);
    (void)cm_crypto_base64(drawn, sizeof drawn, text + strlen(PREFIX),
                           CM_API_KEY_TEXT_MAX - strlen(PREFIX));
    hash_of(text, hash);
    cm_crypto_hex(hash, sizeof hash, digits);
    snprintf(line, sizeof line, "%s %s %s\n", name, scopes, digits);
    result = is_new ? cm_secret_file_make(path, line, error, error_size)
                    : append(path, line, error, error_size);
    cm_crypto_wipe(drawn, sizeof drawn);
    if (result != CAROM_OK) {
        cm_crypto_wipe(text, CM_API_KEY_TEXT_MAX);
    }
    return result;
}
