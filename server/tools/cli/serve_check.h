// Whether this machine has what a configuration of `carom serve` needs.
#ifndef CM_SERVER_TOOLS_CLI_SERVE_CHECK_H
#define CM_SERVER_TOOLS_CLI_SERVE_CHECK_H

#include "carom/token.h"

#include "server/host/config.h"
#include "shared/scene/scene.h"

// Reports everything that is wrong, on stderr; the worst status. Nothing stays behind: the address
// is bound for a moment, files are made and removed.
int cm_serve_check(const cm_config *config, char *const *environment);

// Its parts, in order. A part reports what is wrong by cm_cli_error, and returns a status.
#define CM_SERVE_CHECKS 8u
typedef struct cm_serve_check_part {
    const char *name;
    const char *good; // what it found where nothing is wrong
    const char *mend; // what to do where something is
    int (*run)(const cm_config *config, char *const *environment);
} cm_serve_check_part;
extern const cm_serve_check_part cm_serve_checks[CM_SERVE_CHECKS + 1]; // NULL ends it

// A scene by its name in the database, or (unless `in_db`) by its file, fit to be served. On
// failure `error` says why, as `FILE:LINE: $.path: message`.
carom_result cm_serve_find_scene(const cm_config *config, const char *text, bool in_db,
                                 cm_scene **scene, uint32_t *tick_rate, char *error,
                                 size_t error_size);
// The same for a start: an exit status, after a message where it is not 0.
int cm_serve_load_scene(const cm_config *config, const char *text, bool in_db, cm_scene **scene,
                        uint32_t *tick_rate);

// The keys that tokens are opened with: none where the configuration is insecure. An exit status,
// after a message where it is not 0.
int cm_serve_read_keys(const cm_config *config, carom_token_keys *keys);

// Names variables of the environment that look like settings and are none, each with the nearest
// one; returns how many there are. `prefix`: "warning: ", or nothing.
uint32_t cm_serve_tell_unknown(char *const *environment, const char *prefix);

// The exit status for a worker that could not be made: bad input, or a failed operation.
int cm_serve_status(carom_result result);

// Length of the longest part of a path, at a whole name, that exists.
size_t cm_serve_existing(const char *path);

// As many as the configuration says: one for each core but one, at least one, where it does not.
uint32_t cm_serve_worker_count(const cm_config *config);

#endif
