// Rows of the catalogue's table `rooms`: a handful.
#include "server/record/catalogue/room_db.h"

#include <sqlite3.h>
#include <stdio.h>

static carom_result missing(cm_scene_error *error, const char *what, const char *name,
                            const char *command)
{
    char text[256];
    snprintf(text, sizeof text, "no %s '%.127s', expected a name that '%s' shows", what, name,
             command);
    return cm_catalogue_refuse(error, CAROM_ERROR_NOT_FOUND, text, "");
}

carom_result cm_room_db_save(const char *path, const cm_room_row *room, cm_scene_error *error)
{
    int changes = 0;
    carom_result result = cm_catalogue_change(
        path, CM_CATALOGUE_CHANGE,
        "INSERT OR REPLACE INTO rooms SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM scenes WHERE name "
        "= ?3)",
        CM_VALUES(CM_TEXT(room->name), CM_TEXT(room->spec[0] != '\0' ? room->spec : room->scene),
                  CM_TEXT(room->scene)),
        &changes, error);
    return result == CAROM_OK && changes == 0
               ? missing(error, "scene", room->scene, "carom scene list")
               : result;
}

carom_result cm_room_db_delete(const char *path, const char *name, cm_scene_error *error)
{
    int changes = 0;
    carom_result result =
        cm_catalogue_change(path, CM_CATALOGUE_CHANGE, "DELETE FROM rooms WHERE name = ?1",
                            CM_VALUES(CM_TEXT(name)), &changes, error);
    return result == CAROM_OK && changes == 0 ? missing(error, "room", name, "carom scene rooms")
                                              : result;
}

typedef struct listing {
    bool (*take)(void *context, const cm_room_row *room);
    void *context;
} listing;

static cm_catalogue_row list_row(void *context, sqlite3_stmt *row)
{
    const listing *to = context;
    cm_room_row room = {.scene = ""};
    if (!cm_column_text(row, 0, room.name, sizeof room.name) ||
        !cm_column_text(row, 1, room.spec, sizeof room.spec)) {
        return CM_CATALOGUE_BAD;
    }
    return to->take(to->context, &room) ? CM_CATALOGUE_NEXT : CM_CATALOGUE_ENOUGH;
}

carom_result cm_room_db_list(const char *path, bool (*take)(void *context, const cm_room_row *room),
                             void *context, cm_scene_error *error)
{
    listing to = {take, context};
    return cm_catalogue_rows(path, CM_CATALOGUE_READ, "SELECT name, scene FROM rooms ORDER BY name",
                             NULL, 0, "rooms", list_row, &to, error);
}
