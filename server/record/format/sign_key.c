// One line each: `carom-match-secret HEX`, `carom-match-public HEX`, so that neither is taken for
// the other, nor for a key of tokens.
#include "server/record/format/sign_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/config/secret_file.h"
#include "shared/wire/crypto.h"

#define DIGITS (2 * CM_SIGN_KEY_BYTES)

_Static_assert(CM_SIGN_KEY_BYTES == CM_KEY_BYTES, "one size of keys");

static const char secret_word[] = "carom-match-secret ";
static const char public_word[] = "carom-match-public ";

static void write_line(char *text, size_t size, const char *word, const uint8_t *key)
{
    char digits[DIGITS + 1];
    cm_crypto_hex(key, CM_SIGN_KEY_BYTES, digits);
    snprintf(text, size, "%s%s\n", word, digits);
    cm_crypto_wipe(digits, sizeof digits);
}

static bool read_digits(const char *text, uint8_t *key)
{
    return strspn(text, "0123456789abcdef") >= DIGITS &&
           cm_crypto_unhex(text, DIGITS, key, CM_SIGN_KEY_BYTES);
}

static bool read_line(const char *text, size_t size, const char *word, uint8_t *key)
{
    size_t length = strlen(word);
    bool whole = size == length + DIGITS || (size == length + DIGITS + 1 && text[size - 1] == '\n');
    return whole && strncmp(text, word, length) == 0 && read_digits(text + length, key);
}

static carom_result write_public(const char *path, const uint8_t *public_key, char *error,
                                 size_t error_size)
{
    char name[1024], line[128];
    if (snprintf(name, sizeof name, "%s.pub", path) >= (int)sizeof name) {
        snprintf(error, error_size, "%s: the path is too long", path);
        return CAROM_ERROR_ARGUMENT;
    }
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) {
        snprintf(error, error_size, "%s: cannot be made: %s", name, strerror(errno));
        return errno == EEXIST ? CAROM_ERROR_STATE : CAROM_ERROR_IO;
    }
    write_line(line, sizeof line, public_word, public_key);
    bool wrote = write(file, line, strlen(line)) == (ssize_t)strlen(line);
    wrote = close(file) == 0 && wrote;
    if (!wrote) {
        snprintf(error, error_size, "%s: could not be written: %s", name, strerror(errno));
        unlink(name);
        return CAROM_ERROR_IO;
    }
    return CAROM_OK;
}

carom_result cm_sign_key_make(const char *path, uint8_t public_key[CM_SIGN_KEY_BYTES], char *error,
                              size_t error_size)
{
    uint8_t secret[CM_SIGN_KEY_BYTES];
    char line[128];
    if (!cm_crypto_init()) {
        snprintf(error, error_size, "the cryptographic library does not start");
        return CAROM_ERROR_STATE;
    }
    cm_crypto_random(secret, sizeof secret);
    cm_crypto_sign_public(secret, public_key);
    write_line(line, sizeof line, secret_word, secret);
    carom_result result = cm_secret_file_make(path, line, error, error_size);
    cm_crypto_wipe(line, sizeof line);
    cm_crypto_wipe(secret, sizeof secret);
    if (result == CAROM_OK) {
        result = write_public(path, public_key, error, error_size);
        if (result != CAROM_OK) {
            unlink(path); // ours, and without its public half of no use
        }
    }
    return result;
}

void cm_sign_key_text(const uint8_t *secret, char text[CM_SIGN_KEY_TEXT])
{
    uint8_t key[CM_SIGN_KEY_BYTES];
    text[0] = '\0';
    if (secret != NULL) {
        cm_crypto_sign_public(secret, key);
        cm_crypto_hex(key, sizeof key, text);
    }
}

carom_result cm_sign_key_read(const char *path, uint8_t secret[CM_SIGN_KEY_BYTES], char *error,
                              size_t error_size)
{
    char text[CM_SECRET_FILE_MAX + 1];
    size_t size = 0;
    carom_result result = cm_secret_file_read(path, text, &size, error, error_size);
    if (result == CAROM_OK && !read_line(text, size, secret_word, secret)) {
        snprintf(error, error_size,
                 "%s: not a key that signs matches, expected what 'carom match "
                 "keygen' makes",
                 path);
        result = CAROM_ERROR_CORRUPT;
    }
    cm_crypto_wipe(text, sizeof text);
    return result;
}

carom_result cm_public_key_read(const char *path, uint8_t public_key[CM_SIGN_KEY_BYTES],
                                char *error, size_t error_size)
{
    if (strlen(path) == DIGITS && read_digits(path, public_key)) {
        return CAROM_OK;
    }
    char line[256];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(error, error_size, "%s: cannot be read: %s", path, strerror(errno));
        return CAROM_ERROR_IO;
    }
    size_t size = fread(line, 1, sizeof line, file);
    fclose(file);
    if (!read_line(line, size, public_word, public_key)) {
        snprintf(error, error_size,
                 "%s: not a public key of matches, expected the .pub file that "
                 "'carom match keygen' makes, or 64 hexadecimal digits",
                 path);
        return CAROM_ERROR_CORRUPT;
    }
    return CAROM_OK;
}
