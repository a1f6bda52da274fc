// What a server is given, as its start and its check read it: scenes, keys, the environment.
#ifndef CM_SERVER_NODE_BOOTSTRAP_H
#define CM_SERVER_NODE_BOOTSTRAP_H

#include "carom/token.h"

#include "server/config/config.h"
#include "shared/scene/scene.h"

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
