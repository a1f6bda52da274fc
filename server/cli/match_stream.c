// See the header.
#include "server/cli/match_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/record/format/sign_key.h"
#include "server/record/format/stream_dir.h"
#include "shared/wire/crypto.h"

static int status_of(carom_result result, const char *path)
{
    bool failed = result == CAROM_ERROR_MEMORY || result == CAROM_ERROR_DIVERGED ||
                  (result == CAROM_ERROR_IO && access(path, R_OK) == 0);
    return failed ? CM_STATUS_FAILED : CM_STATUS_USAGE;
}

// The one argument of a command, NULL after a message.
static const char *one(int argc, char **argv, const cm_option *options, uint32_t count,
                       const char *expected)
{
    const char *path = NULL;
    uint32_t given = 0;
    if (cm_cli_options(argc, argv, options, count, &path, 1, &given) != CM_STATUS_DONE) {
        return NULL;
    }
    if (given != 1) {
        cm_cli_error("%s: expected %s, see 'carom help match'", argv[0], expected);
        return NULL;
    }
    return path;
}

// The secret of a signed match. False after a message: it is another match's.
static bool take_key(const char *path, const char *key_path, const cm_match_file *file,
                     uint8_t secret[CM_SIGN_KEY_BYTES])
{
    char error[512], text[CM_SIGN_KEY_TEXT];
    cm_match_info info;
    cm_match_info_get(file, &info);
    if (cm_sign_key_read(key_path, secret, error, sizeof error) != CAROM_OK) {
        cm_cli_error("%s", error);
        return false;
    }
    cm_sign_key_text(secret, text);
    if (strcmp(text, info.sign_key) != 0) {
        cm_cli_error("%s: %s", path,
                     info.sign_key[0] == '\0' ? "it is not signed, and takes no --sign-key"
                                              : "it is signed by another key than --sign-key");
        return false;
    }
    return true;
}

static int make_stream(const char *path, cm_match_file *file, const char *out,
                       const uint8_t *secret)
{
    cm_stream_dir *dir;
    cm_match_error error;
    uint32_t made = 0;
    carom_result result = cm_stream_dir_create(out, file, secret, &dir, &error);
    if (result == CAROM_OK) {
        result = cm_stream_dir_step(dir, 0, UINT32_MAX, &made, &error);
    }
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s", path, error.message);
        cm_stream_dir_destroy(dir);
        return status_of(result, path);
    }
    printf("{\"path\": \"%s\", \"epoch\": %" PRIu64 ", \"chunks\": %u, \"complete\": %s, "
           "\"signed\": %s}\n",
           cm_stream_dir_path(dir), cm_stream_dir_epoch(dir), cm_stream_dir_chunks(dir),
           cm_stream_dir_is_over(dir) ? "true" : "false", secret != NULL ? "true" : "false");
    cm_stream_dir_destroy(dir);
    return CM_STATUS_DONE;
}

int cm_match_stream(int argc, char **argv)
{
    const char *out = NULL, *key = NULL;
    const cm_option options[] = {{.name = "out", .kind = CM_OPTION_TEXT, .value = &out},
                                 {.name = "sign-key", .kind = CM_OPTION_TEXT, .value = &key}};
    const char *path = one(argc, argv, options, 2, "one match file");
    uint8_t secret[CM_SIGN_KEY_BYTES];
    cm_match_file *file;
    cm_match_error error;
    if (path == NULL) {
        return CM_STATUS_USAGE;
    }
    if (out == NULL) {
        return cm_cli_usage("%s: expected --out DIR", argv[0]);
    }
    carom_result result = cm_match_open(path, &file, &error);
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s", path, error.message);
        return status_of(result, path);
    }
    int status = key == NULL || take_key(path, key, file, secret)
                     ? make_stream(path, file, out, key != NULL ? secret : NULL)
                     : CM_STATUS_USAGE;
    cm_crypto_wipe(secret, sizeof secret);
    cm_match_close(file);
    return cm_cli_finish(status);
}
