// Files that hold a secret: read only if no other user can read them or can have put them there,
// made with mode 0600. The caller checks their contents.
#ifndef CM_SERVER_CONFIG_SECRET_FILE_H
#define CM_SERVER_CONFIG_SECRET_FILE_H

#include "carom/types.h"

#define CM_SECRET_FILE_MAX 16384u // bytes

// Accepted: a regular file of ours or of root, which others can neither read nor write and the
// group cannot write (0600, 0400; 0440 as systemd's credentials have it). CAROM_ERROR_IO where it
// cannot be read, CAROM_ERROR_STATE where its owner or mode is wrong, CAROM_ERROR_CORRUPT where it
// is too large: `error` is `FILE: …`. `text` has room for CM_SECRET_FILE_MAX + 1 bytes.
carom_result cm_secret_file_read(const char *path, char *text, size_t *size, char *error,
                                 size_t error_size);
// Makes the file with mode 0600; never overwrites one (CAROM_ERROR_STATE).
carom_result cm_secret_file_make(const char *path, const char *text, char *error,
                                 size_t error_size);

#endif
