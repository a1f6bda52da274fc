// Key files: what is in them. That they are safe is server/config/secret_file.c's matter.
#include "server/auth/key_file.h"

#include <stdio.h>
#include <string.h>

#include "server/config/secret_file.h"
#include "shared/wire/crypto.h"

carom_result cm_key_file_read(const char *path, carom_token_keys *keys, char *error,
                              size_t error_size)
{
    memset(keys, 0, sizeof *keys);
    char text[CM_SECRET_FILE_MAX + 1];
    size_t size;
    carom_result result = cm_secret_file_read(path, text, &size, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    uint32_t line = 0;
    result = carom_token_keys_read(text, size, keys, &line);
    cm_crypto_wipe(text, sizeof text);
    if (result == CAROM_ERROR_NOT_FOUND) {
        snprintf(error, error_size, "%s: holds no key, expected lines 'ID SECRET'", path);
    } else if (result == CAROM_ERROR_FULL) {
        snprintf(error, error_size, "%s:%u: more than %d keys", path, (unsigned)line,
                 CAROM_TOKEN_KEYS_MAX);
    } else if (result != CAROM_OK) {
        snprintf(error, error_size,
                 "%s:%u: not a key, expected 'ID SECRET': an id that no other line has, and 64 "
                 "hexadecimal digits",
                 path, (unsigned)line);
    }
    return result == CAROM_OK ? CAROM_OK : CAROM_ERROR_CORRUPT;
}

carom_result cm_key_file_make(const char *path, const carom_token_key *key, char *error,
                              size_t error_size)
{
    char text[128];
    carom_result result = carom_token_key_write(key, text, sizeof text);
    if (result != CAROM_OK) {
        snprintf(error, error_size, "%s: no key to write", path);
        return result;
    }
    result = cm_secret_file_make(path, text, error, error_size);
    cm_crypto_wipe(text, sizeof text);
    return result;
}
