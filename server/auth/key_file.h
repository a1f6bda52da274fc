// Key files: the only place where a secret comes from a disk. A file that others could read or have
// put there is refused, with the reason.
#ifndef CM_SERVER_AUTH_KEY_FILE_H
#define CM_SERVER_AUTH_KEY_FILE_H

#include "carom/token.h"

// Reads every key of the file. Accepted: a regular file of ours or of root, which others can
// neither read nor write and the group cannot write (0600, 0400; 0440 as systemd's credentials have
// it). CAROM_ERROR_IO where it cannot be read, CAROM_ERROR_STATE where its owner or mode is wrong,
// CAROM_ERROR_CORRUPT where its contents are: `error` is `FILE:LINE: …`.
carom_result cm_key_file_read(const char *path, carom_token_keys *keys, char *error,
                              size_t error_size);
// Makes the file with mode 0600 and one key; never overwrites one.
carom_result cm_key_file_make(const char *path, const carom_token_key *key, char *error,
                              size_t error_size);

#endif
