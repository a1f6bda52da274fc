// Scenes as JSON: import and export. Server side only (the one user of the JSON library for
// scenes).
#ifndef CM_SCENE_SCENE_JSON_H
#define CM_SCENE_SCENE_JSON_H

#include "shared/scene/scene.h"

carom_result cm_scene_from_json(const char *text, size_t size, cm_scene **scene,
                                cm_scene_error *error);
// Reads a file; an unreadable file is CAROM_ERROR_IO with its reason in the message.
carom_result cm_scene_from_file(const char *path, cm_scene **scene, cm_scene_error *error);
// The line of a key of the scene's outermost object in a file, for what is found wrong only when
// the scene is used; 0 where there is no such file or key.
uint32_t cm_scene_key_line(const char *path, const char *key);
// A new NUL-terminated string (free with free): imports to the same world, hash for hash.
char *cm_scene_to_json(const cm_scene *scene);

// The bytes of a file, at most `limit` (free with free); NULL with the reason in `error`.
char *cm_scene_read_file(const char *path, size_t limit, size_t *size, cm_scene_error *error);

// One character of a text as it stands in a JSON string, without a NUL; `*text` moves on behind it.
// Control characters and what is not UTF-8 are escaped. Returns its length.
#define CM_JSON_ESCAPE_MAX 8u
uint32_t cm_json_escape(const char **text, char out[CM_JSON_ESCAPE_MAX]);
// `text` as a JSON string with its quotes. Returns its length; cut where `size` is too small.
size_t cm_json_quote(const char *text, char *out, size_t size);

#endif
