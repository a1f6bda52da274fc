// Rooms to start, in the catalogue: each has a name of its own and the name of a scene that is kept
// there, with the numbers of a room behind it (SCENE:max_players=8, as --room has them). serve
// opens them where no scene is named.
#ifndef CM_SERVER_RECORD_CATALOGUE_ROOM_DB_H
#define CM_SERVER_RECORD_CATALOGUE_ROOM_DB_H

#include "server/record/catalogue/catalogue.h"

#define CM_ROOM_SPEC_MAX 256u

typedef struct cm_room_row {
    char name[CM_NAME_MAX];
    char scene[CM_NAME_MAX];     // alone; of a list: empty
    char spec[CM_ROOM_SPEC_MAX]; // with its numbers; to be saved and empty: the scene has none
} cm_room_row;

// A room of a known name gets the scene instead of its own. CAROM_ERROR_NOT_FOUND: no such scene.
carom_result cm_room_db_save(const char *db, const cm_room_row *room, cm_scene_error *error);
// CAROM_ERROR_NOT_FOUND: no such room.
carom_result cm_room_db_delete(const char *db, const char *name, cm_scene_error *error);
// Every room in order of names, until `row` returns false.
carom_result cm_room_db_list(const char *db, bool (*row)(void *context, const cm_room_row *room),
                             void *context, cm_scene_error *error);

#endif
