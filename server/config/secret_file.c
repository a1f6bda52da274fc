// Secrets on disk. The checks are made on the open file, so that nothing can be put in its place
// between the look and the reading.
#include "server/config/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The fault of the file's owner or mode, or NULL.
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
        ssize_t got = read(file, text + *size, CM_SECRET_FILE_MAX + 1 - *size);
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
        if (*size > CM_SECRET_FILE_MAX) {
            snprintf(error, error_size, "%s: has more than %u bytes, expected a key file", path,
                     CM_SECRET_FILE_MAX);
            return CAROM_ERROR_CORRUPT;
        }
    }
}

carom_result cm_secret_file_read(const char *path, char *text, size_t *size, char *error,
                                 size_t error_size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe would keep us waiting
    if (file < 0) {
        snprintf(error, error_size, "%s: cannot be read: %s", path, strerror(errno));
        return CAROM_ERROR_IO;
    }
    carom_result result = read_all(file, path, text, size, error, error_size);
    close(file);
    return result;
}

carom_result cm_secret_file_make(const char *path, const char *text, char *error, size_t error_size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        snprintf(error, error_size, "%s: cannot be made: %s", path, strerror(errno));
        return errno == EEXIST ? CAROM_ERROR_STATE : CAROM_ERROR_IO;
    }
    size_t size = strlen(text);
    bool wrote = write(file, text, size) == (ssize_t)size && fsync(file) == 0;
    wrote = close(file) == 0 && wrote;
    if (!wrote) {
        snprintf(error, error_size, "%s: could not be written: %s", path, strerror(errno));
        unlink(path); // ours: it did not exist before
        return CAROM_ERROR_IO;
    }
    return CAROM_OK;
}
