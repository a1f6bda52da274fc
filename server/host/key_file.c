// Key files on disk. The checks are made on the open file, so that nothing can be put in its place
// between the look and the reading.
#include "server/host/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/wire/crypto.h"

// What is wrong with the file's owner or mode, or NULL.
static const char *complaint(const struct stat *about)
{
    if (!S_ISREG(about->st_mode)) {
        return "is not a regular file";
    }
    if (about->st_uid != geteuid() && about->st_uid != 0) {
        return "belongs to another user, expected ours or root";
    }
    if ((about->st_mode & (S_IRWXO | S_IWGRP | S_IXGRP)) != 0) {
        return "can be read or written by others, expected mode 0600, 0400 or 0440";
    }
    return NULL;
}

static carom_result read_all(int file, const char *path, char *text, size_t *size, char *error,
                             size_t error_size)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        snprintf(error, error_size, "%s: cannot be read: %s", path, strerror(errno));
        return CAROM_ERROR_IO;
    }
    const char *wrong = complaint(&about);
    if (wrong != NULL) {
        snprintf(error, error_size, "%s: %s", path, wrong);
        return CAROM_ERROR_STATE;
    }
    *size = 0;
    for (;;) {
        ssize_t got = read(file, text + *size, CM_KEY_FILE_MAX + 1 - *size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            snprintf(error, error_size, "%s: cannot be read: %s", path, strerror(errno));
            return CAROM_ERROR_IO;
        }
        *size += (size_t)got;
        if (got == 0) {
            return CAROM_OK;
        }
        if (*size > CM_KEY_FILE_MAX) {
            snprintf(error, error_size, "%s: has more than %u bytes, expected a key file", path,
                     CM_KEY_FILE_MAX);
            return CAROM_ERROR_CORRUPT;
        }
    }
}

carom_result cm_key_file_read(const char *path, carom_token_keys *keys, char *error,
                              size_t error_size)
{
    memset(keys, 0, sizeof *keys);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe would keep us waiting
    if (file < 0) {
        snprintf(error, error_size, "%s: cannot be read: %s", path, strerror(errno));
        return CAROM_ERROR_IO;
    }
    char text[CM_KEY_FILE_MAX + 1];
    size_t size;
    carom_result result = read_all(file, path, text, &size, error, error_size);
    close(file);
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
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        snprintf(error, error_size, "%s: cannot be made: %s", path, strerror(errno));
        cm_crypto_wipe(text, sizeof text);
        return errno == EEXIST ? CAROM_ERROR_STATE : CAROM_ERROR_IO;
    }
    size_t size = strlen(text);
    bool wrote = write(file, text, size) == (ssize_t)size && fsync(file) == 0;
    wrote = close(file) == 0 && wrote;
    cm_crypto_wipe(text, sizeof text);
    if (!wrote) {
        snprintf(error, error_size, "%s: could not be written: %s", path, strerror(errno));
        unlink(path); // ours: it did not exist before
        return CAROM_ERROR_IO;
    }
    return CAROM_OK;
}
