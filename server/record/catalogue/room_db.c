// Rows of the catalogue's table `rooms`: a handful.
#include "server/record/catalogue/room_db.h"

#include <sqlite3.h>
#include <stdio.h>

#include "server/record/format/column.h"

// Opens, runs one statement with the texts as ?1 and ?2, closes. `changes` gets how many rows it
// changed.
static carom_result run(const char *path, const char *sql, const char *first, const char *second,
                        int *changes, cm_scene_error *error)
{
    sqlite3 *db;
    carom_result result = cm_catalogue_open(path, CM_CATALOGUE_CHANGE, &db, error);
    if (result != CAROM_OK) {
        return result;
    }
    sqlite3_stmt *row = cm_catalogue_prepare(db, sql, &result, error);
    if (row != NULL) {
        sqlite3_bind_text(row, 1, first, -1, SQLITE_STATIC);
        sqlite3_bind_text(row, 2, second, -1, SQLITE_STATIC);
        if (sqlite3_step(row) != SQLITE_DONE) {
            result = cm_catalogue_wrong(error, db, "cannot be written");
        }
        *changes = sqlite3_changes(db);
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    return result;
}

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
    carom_result result = run(path,
                              "INSERT OR REPLACE INTO rooms SELECT ?1, ?2 WHERE EXISTS (SELECT 1 "
                              "FROM scenes WHERE name = ?2)",
                              room->name, room->scene, &changes, error);
    return result == CAROM_OK && changes == 0
               ? missing(error, "scene", room->scene, "carom scene list")
               : result;
}

carom_result cm_room_db_delete(const char *path, const char *name, cm_scene_error *error)
{
    int changes = 0;
    carom_result result =
        run(path, "DELETE FROM rooms WHERE name = ?1 AND ?2 IS NULL", name, NULL, &changes, error);
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
    cm_room_row room;
    if (!cm_column_text(row, 0, room.name, sizeof room.name) ||
        !cm_column_text(row, 1, room.scene, sizeof room.scene)) {
        return CM_CATALOGUE_BAD;
    }
    return to->take(to->context, &room) ? CM_CATALOGUE_NEXT : CM_CATALOGUE_ENOUGH;
}

carom_result cm_room_db_list(const char *path, bool (*take)(void *context, const cm_room_row *room),
                             void *context, cm_scene_error *error)
{
    listing to = {take, context};
    return cm_catalogue_rows(path, "SELECT name, scene FROM rooms ORDER BY name", "rooms", list_row,
                             &to, error);
}
