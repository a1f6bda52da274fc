// Reading and printing; every entry goes through one check. Typical: 1 to 8 rooms.
#include "server/host/room_list.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "shared/scene/scene_json.h"

bool cm_room_name_is_sound(const char *name)
{
    size_t length = strlen(name);
    bool good = length > 0 && length <= CAROM_ROOM_NAME_MAX;
    for (size_t i = 0; good && i < length; i++) {
        good = name[i] > ' ' && name[i] < 0x7f && name[i] != ',' && name[i] != '=';
    }
    return good;
}

static bool add(cm_room_list *list, const char *name, const char *scene, uint32_t max_players,
                char *error, size_t error_size)
{
    if (!cm_room_name_is_sound(name)) {
        snprintf(error, error_size,
                 "'%.40s', expected a room's name of 1 to %d visible ASCII characters without ',' "
                 "and '='",
                 name, CAROM_ROOM_NAME_MAX);
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->rooms[i].name, name) == 0) {
            snprintf(error, error_size, "room %s twice", name);
            return false;
        }
    }
    if (scene[0] == '\0' || strlen(scene) >= CM_ROOM_SCENE_MAX) {
        snprintf(error, error_size,
                 "room %s: '%.40s', expected a scene's name in the database, or its file, of at "
                 "most %u bytes",
                 name, scene, CM_ROOM_SCENE_MAX - 1);
        return false;
    }
    if (list->count == CM_ROOM_LIST_MAX) {
        snprintf(error, error_size, "expected at most %u rooms", CM_ROOM_LIST_MAX);
        return false;
    }
    cm_room_entry *entry = &list->rooms[list->count++];
    strcpy(entry->name, name);
    strcpy(entry->scene, scene);
    entry->max_players = max_players;
    return true;
}

bool cm_room_list_add(cm_room_list *list, const char *text, char *error, size_t error_size)
{
    while (*text != '\0') {
        char one[CAROM_ROOM_NAME_MAX + CM_ROOM_SCENE_MAX + 8];
        size_t length = strcspn(text, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one), text);
        char *equals = strchr(one, '=');
        if (length >= sizeof one || equals == NULL) {
            snprintf(error, error_size, "'%.60s', expected NAME=SCENE", one);
            return false;
        }
        *equals = '\0';
        if (!add(list, one, equals + 1, 0, error, error_size)) {
            return false;
        }
        text += length + (text[length] == ',');
    }
    return true;
}

static bool read_entry(cm_room_list *list, const char *name, const json_t *value, char *error,
                       size_t error_size)
{
    if (json_is_string(value)) {
        return add(list, name, json_string_value(value), 0, error, error_size);
    }
    const char *key;
    const char *scene = "";
    uint32_t max_players = 0;
    json_t *field;
    if (!json_is_object(value)) {
        snprintf(error, error_size, "%.40s: expected a scene, or an object of scene and limits",
                 name);
        return false;
    }
    json_object_foreach((json_t *)value, key, field)
    {
        json_int_t number = json_integer_value(field);
        if (strcmp(key, "scene") == 0 && json_is_string(field)) {
            scene = json_string_value(field);
        } else if (strcmp(key, "max_players") == 0 && number >= 1 && number <= CAROM_PLAYERS_MAX) {
            max_players = (uint32_t)number;
        } else {
            snprintf(error, error_size,
                     "%.40s: %.40s: expected scene (a text) and max_players (1 to %d)", name, key,
                     CAROM_PLAYERS_MAX);
            return false;
        }
    }
    return add(list, name, scene, max_players, error, error_size);
}

bool cm_room_list_read(cm_room_list *list, const struct json_t *value, char *error,
                       size_t error_size)
{
    const char *name;
    json_t *field;
    list->count = 0;
    if (!json_is_object(value)) {
        snprintf(error, error_size, "expected an object, {\"NAME\": \"SCENE\"}");
        return false;
    }
    json_object_foreach((json_t *)value, name, field)
    {
        if (!read_entry(list, name, field, error, error_size)) {
            return false;
        }
    }
    return true;
}

size_t cm_room_list_print(const cm_room_list *list, char *text, size_t size)
{
    size_t at = 0;
#define LEFT (at < size ? text + at : NULL), (at < size ? size - at : 0)
    at += (size_t)snprintf(LEFT, "{");
    for (uint32_t i = 0; i < list->count; i++) {
        const cm_room_entry *entry = &list->rooms[i];
        char name[6 * CAROM_ROOM_NAME_MAX + 3], scene[6 * CM_ROOM_SCENE_MAX + 3];
        cm_json_quote(entry->name, name, sizeof name);
        cm_json_quote(entry->scene, scene, sizeof scene);
        at += (size_t)snprintf(LEFT, "%s%s: {\"scene\": %s", i > 0 ? ", " : "", name, scene);
        if (entry->max_players > 0) {
            at += (size_t)snprintf(LEFT, ", \"max_players\": %u", (unsigned)entry->max_players);
        }
        at += (size_t)snprintf(LEFT, "}");
    }
    at += (size_t)snprintf(LEFT, "}");
#undef LEFT
    return at;
}
