// Messages common to all commands: errors on stderr, refused options, a standard output that could
// not be written.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/cli/cli.h"
#include "shared/base/utf8.h"

int cm_cli_tell(int status, const char *format, ...)
{
    char line[2048], shown[4 * sizeof line];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cm_utf8_printable(line, shown, sizeof shown);
    fprintf(stderr, "carom: %s\n", shown);
    return status;
}

int cm_cli_status(carom_result result, const cm_failure *failure)
{
    if (result == CAROM_OK) {
        return CM_STATUS_DONE;
    }
    if (failure->text[0] != '\0') {
        cm_cli_error("%s", failure->text);
    }
    return cm_failure_is_usage(result) ? CM_STATUS_USAGE : CM_STATUS_FAILED;
}

void cm_cli_scene_error(const char *file, const cm_scene_error *error)
{
    const char *separator = error->path[0] != '\0' ? ": " : "";
    if (error->line > 0) {
        cm_cli_error("%s:%u: %s%s%s", file, (unsigned)error->line, error->path, separator,
                     error->message);
    } else {
        cm_cli_error("%s: %s%s%s", file, error->path, separator, error->message);
    }
}

int cm_cli_options(int argc, char **argv, const cm_option *options, uint32_t option_count,
                   const char **positional, uint32_t positional_capacity,
                   uint32_t *positional_count)
{
    cm_option_error error;
    if (!cm_options_read(argc, argv, options, option_count, positional, positional_capacity,
                         positional_count, &error)) {
        return cm_cli_usage("%s: %s", argv[0], error.message);
    }
    return CM_STATUS_DONE;
}

bool cm_cli_client_id(const char *command, const char *text, uint64_t *id)
{
    if (text != NULL && cm_parse_id(text, id) && *id > 0) {
        return true;
    }
    if (text == NULL) {
        cm_cli_error("%s: expected --client-id N", command);
    } else {
        cm_cli_error("%s: --client-id: '%s', expected a whole number from 1 to %" PRIu64, command,
                     text, UINT64_MAX);
    }
    return false;
}

int cm_cli_finish(int status)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cm_cli_failed("standard output: %s", errno != 0 ? strerror(errno) : "write failed");
    }
    return status;
}
