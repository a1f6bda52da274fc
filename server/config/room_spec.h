// The rooms that a server opens: names, scenes, limits. Part of the configuration, in two forms:
// text, NAME=SCENE with commas between them, each with its numbers behind it; and JSON, an object
// of names:
//
//   lobby=lobby.json,arena=arena:max_players=8:tick_rate=30
//   {"lobby": "lobby.json", "arena": {"scene": "arena", "max_players": 8, "tick_rate": 30}}
//
// A scene whose path ends like a number (`:x=1`) or has a comma can be written as JSON only.
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

struct cm_scene_change;

// The keys of a room, each a whole number: X(key, least, most, what it is without it). They are
// read from the configuration's file, from --room, from `carom admin open` and from the control
// link, and a key is there for the room once it stands here.
#define CM_ROOM_KEYS(X)                                                                            \
    X(max_players, 1, CAROM_PLAYERS_MAX, SERVER)                                                   \
    X(tick_rate, 1, 1000, SCENE)                                                                   \
    X(view_rate, 1, 1000, SERVER)                                                                  \
    X(budget_kbit, 1, 100000, SERVER)                                                              \
    X(spectators, 1, CAROM_PLAYERS_MAX, SERVER)                                                    \
    X(spectator_delay_s, 1, 600, SERVER)                                                           \
    X(stream_delay_s, 1, 3600, SERVER)                                                             \
    X(empty_s, 1, 86400, NONE) /* after which it closes when nobody is in it */                    \
    X(bodies, 1, CAROM_BODIES_MAX, SCENE)                                                          \
    X(shapes, 1, CAROM_SHAPES_MAX, SCENE)                                                          \
    X(joints, 1, CAROM_JOINTS_MAX, SCENE)                                                          \
    X(contacts, 1, CAROM_CONTACTS_MAX, SCENE)

// Their names with commas between and behind them, for texts.
#define CM_ROOM_KEY_NAME(key, low, high, without) #key ", "
#define CM_ROOM_KEY_NAMES                         CM_ROOM_KEYS(CM_ROOM_KEY_NAME)

// A match file keeps who opened its room, so that whoever goes on with the match (another
// process, the next server) opens it as it was: "" is the configuration, which knows it still.
#define CM_ROOM_OPENED_MAX                         144u
#define CM_ROOM_OPENED_ON_DEMAND                   "on_demand" // a player, who named it first
#define CM_ROOM_OPENED_ADMIN                       "admin" // an operator; behind it `:max_players=8` and so on

#define CM_ROOM_KEY_FIELD(key, low, high, without) uint32_t key;
typedef struct cm_room_spec {
    char name[CAROM_ROOM_NAME_MAX + 1];
    char scene[CM_ROOM_SCENE_MAX]; // a name in the database, or a file
    char opened[CM_ROOM_OPENED_MAX];
    CM_ROOM_KEYS(CM_ROOM_KEY_FIELD) // 0: not given
} cm_room_spec;

typedef struct cm_room_list {
    uint32_t count;
    cm_room_spec rooms[CM_ROOM_LIST_MAX];
} cm_room_list;

// One of its numbers by the name that the configuration has for it: max_players, tick_rate, bodies
// and so on. False: no such name, or out of its range.
bool cm_room_spec_set(cm_room_spec *spec, const char *key, int64_t value);
// Splits a word KEY=NUMBER, with any key. False: it is none.
#define CM_ROOM_KEY_MAX 32u
bool cm_room_number_read(const char *word, char key[CM_ROOM_KEY_MAX], int64_t *value);
// Says in `opened` that an operator opens it, with its numbers but those that its scene takes.
void cm_room_spec_open_by_admin(cm_room_spec *spec);
// Its numbers as `max_players=8:tick_rate=30`; "": it has none.
#define CM_ROOM_NUMBERS_MAX 192u
void cm_room_spec_numbers(const cm_room_spec *spec, char text[CM_ROOM_NUMBERS_MAX]);
// Takes `opened` of a match file, and its numbers. False: it says nothing that is known.
bool cm_room_spec_take_opened(cm_room_spec *spec, const char *opened);
// The changes that the spec makes to its scene; false: none.
bool cm_room_spec_changes(const cm_room_spec *spec, struct cm_scene_change *change);

// A name of 1 to CAROM_ROOM_NAME_MAX visible ASCII characters without ',' and '='.
bool cm_room_name_is_valid(const char *name);

// Adds the rooms of a text. False, with what is wrong and what was expected in `error`: a name that
// is not valid or a duplicate, no scene, a number that is none, too many.
bool cm_room_list_add(cm_room_list *list, const char *text, char *error, size_t error_size);
// Replaces the list by that of a JSON value. False likewise.
bool cm_room_list_read(cm_room_list *list, const struct json_t *value, char *error,
                       size_t error_size);
// A JSON object on one line, which cm_room_list_read accepts. Returns its bytes (as snprintf).
size_t cm_room_list_print(const cm_room_list *list, char *text, size_t size);

#endif
