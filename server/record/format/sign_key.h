// Keys that sign match files: Ed25519, a secret file for the server and a public one for everybody
// who verifies.
#ifndef CM_SERVER_RECORD_FORMAT_SIGN_KEY_H
#define CM_SERVER_RECORD_FORMAT_SIGN_KEY_H

#include "carom/types.h"

#define CM_SIGN_KEY_BYTES 32u

// Makes PATH (the secret, mode 0600) and PATH.pub; overwrites neither. Errors as in secret_file.h.
// `public_key` gets the public half.
carom_result cm_sign_key_make(const char *path, uint8_t public_key[CM_SIGN_KEY_BYTES], char *error,
                              size_t error_size);
// The secret of a file that cm_sign_key_make made, with the checks of secret_file.h.
carom_result cm_sign_key_read(const char *path, uint8_t secret[CM_SIGN_KEY_BYTES], char *error,
                              size_t error_size);
// The public half as match files have it, 64 hexadecimal digits; "" of NULL.
#define CM_SIGN_KEY_TEXT (2 * CM_SIGN_KEY_BYTES + 1)
void cm_sign_key_text(const uint8_t *secret, char text[CM_SIGN_KEY_TEXT]);
// The public half: a PATH.pub, or 64 hexadecimal digits instead of a path. CAROM_ERROR_IO,
// CAROM_ERROR_CORRUPT.
carom_result cm_public_key_read(const char *path, uint8_t public_key[CM_SIGN_KEY_BYTES],
                                char *error, size_t error_size);

#endif
