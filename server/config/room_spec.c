// Reading and printing; every entry goes through one check. Typical: 1 to 8 rooms.
#include "server/config/room_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"
#include "shared/base/assert.h"
#include "shared/scene/scene_json.h"

#define NUMBERS_TEXT_MAX 256u // bytes of a room's numbers as text

bool cm_room_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    bool good = length > 0 && length <= CAROM_ROOM_NAME_MAX;
    for (size_t i = 0; good && i < length; i++) {
        good = name[i] > ' ' && name[i] < 0x7f && name[i] != ',' && name[i] != '=';
    }
    return good;
}

static const struct {
    const char *key;
    size_t offset;
    uint32_t low, high;
    bool of_scene; // whose match file has it there
} NUMBERS[] = {
#define OF_SCENE  true
#define OF_SERVER false
#define OF_NONE   false
#define NUMBER(key, low, high, without)                                                            \
    {#key, offsetof(cm_room_spec, key), low, high, OF_##without},
    CM_ROOM_KEYS(NUMBER)};

#define NUMBER_COUNT (sizeof NUMBERS / sizeof NUMBERS[0])
#define EXPECTED_MAX 320u

// "max_players (1 to 64), tick_rate (1 to 1000), …"
static const char *expected(char text[EXPECTED_MAX])
{
    size_t at = 0;
    for (size_t i = 0; i < NUMBER_COUNT && at < EXPECTED_MAX; i++) {
        at += (size_t)snprintf(text + at, EXPECTED_MAX - at, "%s%s (%u to %u)", i > 0 ? ", " : "",
                               NUMBERS[i].key, (unsigned)NUMBERS[i].low, (unsigned)NUMBERS[i].high);
    }
    return text;
}

bool cm_room_spec_changes(const cm_room_spec *spec, cm_scene_change *change)
{
    *change = (cm_scene_change){.tick_rate = spec->tick_rate,
                                .limits = {.bodies = spec->bodies,
                                           .shapes = spec->shapes,
                                           .joints = spec->joints,
                                           .contacts = spec->contacts}};
    return spec->tick_rate + spec->bodies + spec->shapes + spec->joints + spec->contacts > 0;
}

static uint32_t *number_of(cm_room_spec *entry, size_t i)
{
    return (uint32_t *)((char *)entry + NUMBERS[i].offset);
}

static size_t index_of(const char *key)
{
    size_t i = 0;
    while (i < NUMBER_COUNT && strcmp(key, NUMBERS[i].key) != 0) {
        i++;
    }
    return i;
}

bool cm_room_spec_set(cm_room_spec *entry, const char *key, int64_t value)
{
    size_t i = index_of(key);
    if (i == NUMBER_COUNT || value < NUMBERS[i].low || value > NUMBERS[i].high) {
        return false;
    }
    *number_of(entry, i) = (uint32_t)value;
    return true;
}

static bool add(cm_room_list *list, const char *name, const char *scene,
                const cm_room_spec *numbers, char *error, size_t error_size)
{
    if (!cm_room_name_is_valid(name)) {
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
    cm_room_spec *entry = &list->rooms[list->count++];
    *entry = *numbers;
    strcpy(entry->name, name);
    strcpy(entry->scene, scene);
    return true;
}

bool cm_room_number_read(const char *word, char key[CM_ROOM_KEY_MAX], int64_t *value)
{
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : 0;
    if (length == 0 || length >= CM_ROOM_KEY_MAX) {
        return false;
    }
    char *end;
    memcpy(key, word, length);
    key[length] = '\0';
    *value = strtoll(equals + 1, &end, 10); // what is out of its range is out of every limit's
    return end != equals + 1 && *end == '\0';
}

// Takes the numbers off the end of a scene's text.
static bool take_numbers(const char *name, char *scene, cm_room_spec *numbers, char *error,
                         size_t error_size)
{
    char *colon, keys[EXPECTED_MAX];
    while ((colon = strrchr(scene, ':')) != NULL && strchr(colon, '=') != NULL) {
        char key[CM_ROOM_KEY_MAX];
        int64_t value;
        *colon = '\0';
        bool is_number = cm_room_number_read(colon + 1, key, &value);
        size_t i = is_number ? index_of(key) : NUMBER_COUNT;
        if (i<NUMBER_COUNT && * number_of(numbers, i)> 0) {
            snprintf(error, error_size, "room %s: %s twice", name, key);
            return false;
        }
        if (!is_number || !cm_room_spec_set(numbers, key, value)) {
            snprintf(error, error_size, "room %s: '%.40s', expected %s", name, colon + 1,
                     expected(keys));
            return false;
        }
    }
    return true;
}

static void write_numbers(const cm_room_spec *spec, bool of_scene_too, char *text, size_t size)
{
    size_t at = strlen(text);
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        uint32_t number = *number_of((cm_room_spec *)spec, i);
        if (number > 0 && (of_scene_too || !NUMBERS[i].of_scene)) {
            at += (size_t)snprintf(text + at, size - at, "%s%s=%u", at > 0 ? ":" : "",
                                   NUMBERS[i].key, (unsigned)number);
            CM_ASSERT(at < size);
        }
    }
}

void cm_room_spec_open_by_admin(cm_room_spec *spec)
{
    snprintf(spec->opened, sizeof spec->opened, CM_ROOM_OPENED_ADMIN);
    write_numbers(spec, false, spec->opened, sizeof spec->opened); // at most 104 bytes
}

void cm_room_spec_numbers(const cm_room_spec *spec, char text[CM_ROOM_NUMBERS_MAX])
{
    text[0] = '\0';
    write_numbers(spec, true, text, CM_ROOM_NUMBERS_MAX); // at most 182 bytes
}

bool cm_room_spec_take_opened(cm_room_spec *spec, const char *opened)
{
    char text[CM_ROOM_OPENED_MAX], error[EXPECTED_MAX + 64];
    cm_room_spec numbers = {.name = ""};
    snprintf(text, sizeof text, "%s", opened);
    if (!take_numbers(spec->name, text, &numbers, error, sizeof error) ||
        (strcmp(text, CM_ROOM_OPENED_ADMIN) != 0 && strcmp(text, CM_ROOM_OPENED_ON_DEMAND) != 0)) {
        return false;
    }
    snprintf(numbers.name, sizeof numbers.name, "%s", spec->name);
    snprintf(numbers.opened, sizeof numbers.opened, "%s", opened);
    *spec = numbers;
    return true;
}

bool cm_room_list_add(cm_room_list *list, const char *text, char *error, size_t error_size)
{
    while (*text != '\0') {
        char one[CAROM_ROOM_NAME_MAX + CM_ROOM_SCENE_MAX + NUMBERS_TEXT_MAX];
        cm_room_spec numbers;
        memset(&numbers, 0, sizeof numbers);
        size_t length = strcspn(text, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one), text);
        char *equals = strchr(one, '=');
        if (length >= sizeof one || equals == NULL) {
            snprintf(error, error_size, "'%.60s', expected NAME=SCENE[:KEY=NUMBER...]", one);
            return false;
        }
        *equals = '\0';
        if (!take_numbers(one, equals + 1, &numbers, error, error_size) ||
            !add(list, one, equals + 1, &numbers, error, error_size)) {
            return false;
        }
        text += length + (text[length] == ',');
    }
    return true;
}

static bool read_entry(cm_room_list *list, const char *name, const cm_json_value *value,
                       char *error, size_t error_size)
{
    cm_room_spec numbers;
    memset(&numbers, 0, sizeof numbers);
    const char *scene = cm_json_text_of(value), *key;
    if (scene != NULL) {
        return add(list, name, scene, &numbers, error, error_size);
    }
    char keys[EXPECTED_MAX];
    if (!cm_json_is_object(value)) {
        snprintf(error, error_size, "%.40s: expected a scene, or an object of scene and limits",
                 name);
        return false;
    }
    void *next = NULL;
    const cm_json_value *field;
    scene = "";
    while ((field = cm_json_each(value, &next, &key)) != NULL) {
        int64_t number = 0;
        if (strcmp(key, "scene") == 0 && cm_json_text_of(field) != NULL) {
            scene = cm_json_text_of(field);
        } else if (!cm_json_integer_of(field, &number) ||
                   !cm_room_spec_set(&numbers, key, number)) {
            snprintf(error, error_size, "%.40s: %.40s: expected scene (a text), %s", name, key,
                     expected(keys));
            return false;
        }
    }
    return add(list, name, scene, &numbers, error, error_size);
}

bool cm_room_list_read(cm_room_list *list, const cm_json_value *value, char *error,
                       size_t error_size)
{
    const char *name;
    const cm_json_value *field;
    void *next = NULL;
    list->count = 0;
    if (!cm_json_is_object(value)) {
        snprintf(error, error_size, "expected an object, {\"NAME\": \"SCENE\"}");
        return false;
    }
    while ((field = cm_json_each(value, &next, &name)) != NULL) {
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
        const cm_room_spec *entry = &list->rooms[i];
        char name[6 * CAROM_ROOM_NAME_MAX + 3], scene[6 * CM_ROOM_SCENE_MAX + 3];
        cm_json_quote(entry->name, name, sizeof name);
        cm_json_quote(entry->scene, scene, sizeof scene);
        at += (size_t)snprintf(LEFT, "%s%s: {\"scene\": %s", i > 0 ? ", " : "", name, scene);
        for (size_t k = 0; k < NUMBER_COUNT; k++) {
            uint32_t number = *number_of((cm_room_spec *)entry, k);
            if (number > 0) {
                at += (size_t)snprintf(LEFT, ", \"%s\": %u", NUMBERS[k].key, (unsigned)number);
            }
        }
        at += (size_t)snprintf(LEFT, "}");
    }
    at += (size_t)snprintf(LEFT, "}");
#undef LEFT
    return at;
}
