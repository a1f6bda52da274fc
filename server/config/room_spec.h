// The rooms that a server is told to open: names, scenes, limits. Part of the configuration, in two
// forms: text, NAME=SCENE with commas between them, each with its numbers behind it; and JSON, an
// object of names:
//
//   lobby=lobby.json,arena=arena:max_players=8:tick_rate=30
//   {"lobby": "lobby.json", "arena": {"scene": "arena", "max_players": 8, "tick_rate": 30}}
//
// A scene whose path ends like a number (`:x=1`) or has a comma can be told by JSON alone.
#ifndef CM_SERVER_CONFIG_ROOM_SPEC_H
#define CM_SERVER_CONFIG_ROOM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carom/limits.h"
#include "carom/world.h"
struct json_t; // of json_reader.h

#define CM_ROOM_LIST_MAX  64u
#define CM_ROOM_SCENE_MAX 256u // bytes of a scene's name or path, its NUL included

typedef struct cm_room_entry {
    char name[CAROM_ROOM_NAME_MAX + 1];
    char scene[CM_ROOM_SCENE_MAX];                // a name in the database, or a file
    uint32_t max_players, view_rate, budget_kbit; // 0: the configuration's
    uint32_t tick_rate;                           // 0: the scene's
    carom_limits limits; // of its world: bodies, shapes, joints, contacts; 0: the scene's
    uint32_t empty_s;    // after which it closes when nobody is in it; 0: never
} cm_room_entry;

typedef struct cm_room_list {
    uint32_t count;
    cm_room_entry rooms[CM_ROOM_LIST_MAX];
} cm_room_list;

// One of its numbers by the name that the configuration has for it: max_players, tick_rate, bodies
// and so on. False: no such name, or out of its range.
bool cm_room_entry_set(cm_room_entry *entry, const char *key, int64_t value);
// A word KEY=NUMBER apart, whatever key it is. False: it is none.
#define CM_ROOM_KEY_MAX 32u
bool cm_room_number_read(const char *word, char key[CM_ROOM_KEY_MAX], int64_t *value);
// Whether its scene is to be changed for it.
bool cm_room_entry_changes(const cm_room_entry *entry);

// A name of 1 to CAROM_ROOM_NAME_MAX visible ASCII characters without ',' and '='.
bool cm_room_name_is_sound(const char *name);

// Adds the rooms of a text. False, with what is wrong and what was expected in `error`: a name that
// is unsound or there already, no scene, a number that is none, too many.
bool cm_room_list_add(cm_room_list *list, const char *text, char *error, size_t error_size);
// The list that a JSON value says, in place of what it held. False likewise.
bool cm_room_list_read(cm_room_list *list, const struct json_t *value, char *error,
                       size_t error_size);
// A JSON object on one line, which cm_room_list_read accepts. Returns its bytes (as snprintf).
size_t cm_room_list_print(const cm_room_list *list, char *text, size_t size);

#endif
