// The input of a server's start, for the start and for its check: scenes, keys, the environment.
#ifndef CM_SERVER_NODE_BOOTSTRAP_H
#define CM_SERVER_NODE_BOOTSTRAP_H

#include "carom/token.h"

#include "server/config/config.h"
#include "server/ops/failure.h"
#include "shared/scene/scene.h"

typedef enum cm_scene_seek {
    CM_SEEK_ANY,
    CM_SEEK_IN_DB, // no file
    CM_SEEK_NOW,   // waits for no other process: rooms run meanwhile
} cm_scene_seek;
// A scene by its name in the database, or by its file, fit to be served. On failure its text says
// why, as `FILE:LINE: $.path: message`.
carom_result cm_bootstrap_find_scene(const cm_config *config, const char *text, cm_scene_seek seek,
                                     cm_scene **scene, uint32_t *tick_rate, cm_failure *failure);

// The keys that tokens are opened with: none where the configuration is insecure.
carom_result cm_bootstrap_read_keys(const cm_config *config, carom_token_keys *keys,
                                    cm_failure *failure);

// Length of the longest part of a path, at a whole name, that exists.
size_t cm_bootstrap_file_exists(const char *path);

// True if a file can be made in the directory that `length` bytes of a path name; errno.
bool cm_bootstrap_is_writable(const char *path, size_t length);
// Matches get into the catalogue's index when they end: SQLite writes the file, and a journal
// beside it. One that is missing is made.
carom_result cm_bootstrap_check_catalogue(const cm_config *config, cm_failure *failure);

// As many as the configuration says: one for each core but one, at least one, where it does not.
uint32_t cm_bootstrap_worker_count(const cm_config *config);

#endif
