// Scenes as JSON: import and export. Server side only (the one user of the JSON library for
// scenes).
#ifndef CM_SCENE_SCENE_JSON_H
#define CM_SCENE_SCENE_JSON_H

#include "shared/scene/scene.h"

carom_result cm_scene_from_json(const char *text, size_t size, cm_scene **scene,
                                cm_scene_error *error);
// The same, with every error that can be found: `count` goes in as the room for them (1 or more)
// and comes out as how many there are, in the order of lines. Keys and numbers are checked first,
// then what goes across them: the errors are those of the first of the two where there are any.
#define CM_SCENE_ERRORS_MAX 64u
carom_result cm_scene_validate(const char *text, size_t size, cm_scene **scene,
                               cm_scene_error *errors, uint32_t *count);
// Reads a file, or standard input for "-"; an unreadable file is CAROM_ERROR_IO with its reason in
// the message.
carom_result cm_scene_from_file(const char *path, cm_scene **scene, cm_scene_error *error);
// Fills in the lines of errors from their paths, for what is found wrong when the scene is used:
// from the text, or from the file, which is read once more (0 where it cannot be).
void cm_scene_find_lines(const char *text, size_t size, cm_scene_error *errors, uint32_t count);
void cm_scene_find_lines_in(const char *file, cm_scene_error *errors, uint32_t count);
// A new NUL-terminated string (free with free): imports to the same world, hash for hash.
char *cm_scene_to_json(const cm_scene *scene);

// The bytes of a file (of standard input for "-"), at most `limit` (free with free); NULL with the
// reason in `error`.
char *cm_scene_read_file(const char *path, size_t limit, size_t *size, cm_scene_error *error);

// One character of a text as it stands in a JSON string, without a NUL; `*text` moves on behind it.
// Control characters and what is not UTF-8 are escaped. Returns its length.
#define CM_JSON_ESCAPE_MAX 8u
uint32_t cm_json_escape(const char **text, char out[CM_JSON_ESCAPE_MAX]);
// `text` as a JSON string with its quotes. Returns its length; cut where `size` is too small.
size_t cm_json_quote(const char *text, char *out, size_t size);

#endif
