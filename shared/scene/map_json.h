// JSON text to a message, and a message to JSON text, over the descriptors. Private to
// shared/scene; map_json.c is the one user of the JSON library here.
#ifndef CM_SCENE_MAP_JSON_H
#define CM_SCENE_MAP_JSON_H

#include "shared/scene/message.h"

// The text in which the check's find_line looks.
typedef struct cm_json_text {
    const char *text;
    size_t size;
    uint32_t first_line; // of the text in its file
} cm_json_text;

#define CM_JSON_KEY_MAX 256u // names are shorter

// A place in the text: its path, and the keys of that.
typedef struct cm_json_place {
    cm_check_path path;
    char keys[CM_PATH_MAX][CM_JSON_KEY_MAX];
    bool wants_key[CM_PATH_MAX]; // an object whose next key has not come yet
} cm_json_place;

// Parses one JSON value of the descriptor's type into memory of the pool. NULL where the text is no
// JSON or memory is at its end; after another failure (the check knows) the message holds what
// could be read, and what is required of it may be missing.
ProtobufCMessage *cm_json_to_message(const cm_json_text *text,
                                     const ProtobufCMessageDescriptor *descriptor, cm_pool *pool,
                                     cm_check *check);

// lines_json.c: the line where the value at `path` begins (of the key, for an object's member);
// where the path leads to nothing, the line of its nearest container. Its column
// likewise, in bytes from 1 on.
uint32_t cm_json_find_line(const void *json_text, const cm_check_path *path);
uint32_t cm_json_find_column(const void *json_text, const cm_check_path *path);
// The path of the value, or key, that ends at `offset`.
void cm_json_place_path(const cm_json_text *text, size_t offset, cm_json_place *place);
// Depth and number of containers and values within caps; false after a failure.
bool cm_json_check_size(const cm_json_text *text, cm_check *check);

// emit_json.c: a new string (free), NULL without memory.
char *cm_message_to_json(const ProtobufCMessage *message);

#endif
