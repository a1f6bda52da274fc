// Configuration from its table: defaults, text values, JSON file, environment, checks, printing.
// Read once, at start.
#include "server/config/config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"
#include "shared/scene/scene_json.h"
#include "shared/scene/spelling.h"

#define VARIABLE  "CAROM_"
#define FILE_MAX  (1u << 20)                                   // bytes of a configuration file
#define VALUE_MAX (CM_ROOM_LIST_MAX * (7 * CM_ROOM_SCENE_MAX)) // bytes of a printed value

static const cm_config_key KEYS[] = {
#define TEXT_KEY(name, initial, help)                                                              \
    {#name, CM_CONFIG_TEXT, offsetof(cm_config, name), 0, 0, NULL, help},
#define INT_KEY(name, initial, low, high, help)                                                    \
    {#name, CM_CONFIG_INT, offsetof(cm_config, name), low, high, NULL, help},
#define BOOL_KEY(name, initial, help)                                                              \
    {#name, CM_CONFIG_BOOL, offsetof(cm_config, name), 0, 0, NULL, help},
#define CHOICE_KEY(name, initial, choices, help)                                                   \
    {#name, CM_CONFIG_CHOICE, offsetof(cm_config, name), 0, 0, choices, help},
#define ROOMS_KEY(name, help) {#name, CM_CONFIG_ROOMS, offsetof(cm_config, name), 0, 0, NULL, help},
    CM_CONFIG_KEYS(TEXT_KEY, INT_KEY, BOOL_KEY, CHOICE_KEY, ROOMS_KEY)};

#define KEY_COUNT (sizeof KEYS / sizeof KEYS[0])
_Static_assert(KEY_COUNT <= 64, "cm_config_wrong has a bit for each key");

void cm_config_default(cm_config *config)
{
    memset(config, 0, sizeof *config);
#define TEXT_DEFAULT(name, initial, help)            strcpy(config->name, initial);
#define INT_DEFAULT(name, initial, low, high, help)  config->name = initial;
#define BOOL_DEFAULT(name, initial, help)            config->name = initial;
#define CHOICE_DEFAULT(name, initial, choices, help) strcpy(config->name, initial);
#define ROOMS_DEFAULT(name, help)
    CM_CONFIG_KEYS(TEXT_DEFAULT, INT_DEFAULT, BOOL_DEFAULT, CHOICE_DEFAULT, ROOMS_DEFAULT)
}

void cm_config_complete(const cm_config *config, cm_room_spec *spec)
{
#define OF_SERVER(key) spec->key = spec->key > 0 ? spec->key : (uint32_t)config->key;
#define OF_SCENE(key)
#define OF_NONE(key)
#define COMPLETE(key, low, high, without) OF_##without(key)
    CM_ROOM_KEYS(COMPLETE)
}

const cm_config_key *cm_config_keys(uint32_t *count)
{
    *count = KEY_COUNT;
    return KEYS;
}

const cm_config_key *cm_config_find(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(KEYS[i].name, name) == 0) {
            return &KEYS[i];
        }
    }
    return NULL;
}

bool cm_config_was_refused(const cm_config_wrong *wrong, const char *name)
{
    return (wrong->refused >> (cm_config_find(name) - KEYS) & 1u) != 0;
}

bool cm_config_goes_on(cm_config_error *error, const cm_config_key *key)
{
    if (error->all == NULL) {
        return false;
    }
    error->all->tell(error->all->user, error->message);
    error->all->refused |= key != NULL ? UINT64_C(1) << (key - KEYS) : 0;
    return true;
}

static bool set_int(cm_config *config, const cm_config_key *key, int64_t value, const char *place,
                    cm_config_error *error)
{
    if (value < key->low || value > key->high) {
        return cm_refuse(error->message, "%s: %s: %lld, expected a whole number from %lld to %lld",
                         place, key->name, (long long)value, (long long)key->low,
                         (long long)key->high);
    }
    memcpy((char *)config + key->offset, &value, sizeof value);
    return true;
}

static bool is_public(const char *list)
{
    cm_address address;
    uint32_t count = 0;
    bool good = true;
    while (good && cm_config_next_address(&list, &address)) {
        good =
            address.port != 0 && cm_address_is_host(address.ip) && ++count <= CM_CONFIG_PUBLIC_MAX;
    }
    return good && *list == '\0';
}

// Addresses; other texts are not looked into. `place` is where the text came from, with ": ", or
// nothing.
static bool check_text(const char *place, const char *name, const char *text,
                       cm_config_error *error)
{
    cm_address address;
    bool is_http = strcmp(name, "http") == 0;
    if (strcmp(name, "public") == 0) {
        return is_public(text) ||
               cm_refuse(error->message,
                         "%spublic: '%.64s', expected up to %u addresses A.B.C.D:PORT or "
                         "[IPv6]:PORT with commas between them",
                         place, text, CM_CONFIG_PUBLIC_MAX);
    }
    unsigned port = is_http ? 9401 : 9400;
    return (!is_http && strcmp(name, "listen") != 0) || (is_http && text[0] == '\0') ||
           cm_config_address(text, &address) ||
           cm_refuse(error->message,
                     "%s%s: '%.64s', expected an address and a port, 127.0.0.1:%u or [::1]:%u",
                     place, name, text, port, port);
}

static bool set_text(cm_config *config, const cm_config_key *key, const char *text,
                     const char *place, cm_config_error *error)
{
    char prefix[300];
    snprintf(prefix, sizeof prefix, "%.280s: ", place);
    if (!check_text(prefix, key->name, text, error)) {
        return false;
    }
    if (key->kind == CM_CONFIG_CHOICE && cm_choice_find(key->choices, text) < 0) {
        return cm_refuse(error->message, "%s: %s: '%.64s', expected one of %s", place, key->name,
                         text, key->choices);
    }
    size_t length = strlen(text);
    if (length >= CM_CONFIG_TEXT_MAX) {
        return cm_refuse(error->message, "%s: %s: %zu bytes, expected at most %d", place, key->name,
                         length, CM_CONFIG_TEXT_MAX - 1);
    }
    memcpy((char *)config + key->offset, text, length + 1);
    return true;
}

static cm_room_list *rooms_of(const cm_config *config, const cm_config_key *key)
{
    return (cm_room_list *)((char *)config + key->offset);
}

bool cm_config_set(cm_config *config, const cm_config_key *key, const char *text, const char *place,
                   cm_config_error *error)
{
    if (key->kind == CM_CONFIG_INT) {
        int64_t value;
        if (!cm_parse_int(text, INT64_MIN, INT64_MAX, &value)) {
            return cm_refuse(error->message,
                             "%s: %s: '%.64s', expected a whole number from %lld to %lld", place,
                             key->name, text, (long long)key->low, (long long)key->high);
        }
        return set_int(config, key, value, place, error);
    }
    if (key->kind == CM_CONFIG_BOOL) {
        bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
            return cm_refuse(error->message, "%s: %s: '%.64s', expected true or false", place,
                             key->name, text);
        }
        memcpy((char *)config + key->offset, &yes, sizeof yes);
        return true;
    }
    if (key->kind == CM_CONFIG_ROOMS) {
        char wrong[256];
        rooms_of(config, key)->count = 0;
        return cm_room_list_add(rooms_of(config, key), text, wrong, sizeof wrong) ||
               cm_refuse(error->message, "%s: %s: %s", place, key->name, wrong);
    }
    return set_text(config, key, text, place, error);
}

static bool set_json(cm_config *config, const cm_config_key *key, const cm_json_value *value,
                     const char *place, cm_config_error *error)
{
    int64_t whole;
    bool yes;
    switch (key->kind) {
    case CM_CONFIG_INT:
        if (!cm_json_integer_of(value, &whole)) {
            return cm_refuse(error->message, "%s: %s: expected a whole number from %lld to %lld",
                             place, key->name, (long long)key->low, (long long)key->high);
        }
        return set_int(config, key, whole, place, error);
    case CM_CONFIG_BOOL:
        if (!cm_json_bool_of(value, &yes)) {
            return cm_refuse(error->message, "%s: %s: expected true or false", place, key->name);
        }
        return cm_config_set(config, key, yes ? "1" : "0", place, error);
    case CM_CONFIG_ROOMS: {
        char wrong[256];
        return cm_room_list_read(rooms_of(config, key), value, wrong, sizeof wrong) ||
               cm_refuse(error->message, "%s: %s: %s", place, key->name, wrong);
    }
    case CM_CONFIG_TEXT:
    case CM_CONFIG_CHOICE:
        break;
    }
    const char *text = cm_json_text_of(value);
    return text != NULL ? set_text(config, key, text, place, error)
                        : cm_refuse(error->message, "%s: %s: expected a text", place, key->name);
}

static bool fail_unknown(const char *place, const char *name, cm_config_error *error)
{
    const char *nearest = cm_spelling_nearest(name, &KEYS[0].name, KEY_COUNT, sizeof KEYS[0]);
    bool near = nearest != NULL;
    return cm_refuse(error->message,
                     "%s: unknown key '%.64s', %s%s%s'carom serve --print-config' lists the keys",
                     place, name, near ? "did you mean '" : "", near ? nearest : "",
                     near ? "'? " : "");
}

// A file that cannot be read: no key is known. Always false.
static bool fail_file(cm_config_error *error)
{
    if (cm_config_goes_on(error, NULL)) {
        error->all->refused = UINT64_MAX;
    }
    return false;
}

bool cm_config_parse(cm_config *config, const char *text, size_t size, const char *name,
                     cm_config_error *error)
{
    cm_json_reader reader;
    cm_scene_error wrong;
    const cm_json_value *root = cm_json_open(&reader, text, size, FILE_MAX, &wrong);
    bool good = root != NULL;
    if (!good) {
        cm_refuse(error->message, "%.200s:%u: expected a JSON object of keys and values: %s", name,
                  (unsigned)wrong.line, wrong.message);
        fail_file(error);
    }
    void *next = NULL;
    const char *key_name;
    const cm_json_value *value;
    bool ends = root == NULL;
    while (!ends && (value = cm_json_each(root, &next, &key_name)) != NULL) {
        if (strncmp(key_name, "//", 2) == 0) {
            continue;
        }
        char place[280];
        snprintf(place, sizeof place, "%.200s:%u", name, (unsigned)cm_json_line(&reader, key_name));
        const cm_config_key *key = cm_config_find(key_name);
        bool one = key != NULL ? set_json(config, key, value, place, error)
                               : fail_unknown(place, key_name, error);
        ends = !one && !cm_config_goes_on(error, key);
        good = good && one;
    }
    cm_json_close(&reader);
    return good;
}

bool cm_config_load(cm_config *config, const char *path, cm_config_error *error)
{
    size_t size;
    cm_scene_error why;
    char *text = cm_scene_read_file(path, FILE_MAX, &size, &why);
    if (text == NULL) {
        cm_refuse(error->message, "%.200s: %s", path, why.message);
    }
    bool good = text != NULL ? cm_config_parse(config, text, size, path, error) : fail_file(error);
    free(text);
    return good;
}

// CAROM_MAX_PLAYERS of max_players; returns its length.
static size_t variable_of(const cm_config_key *key, char name[CM_CONFIG_VARIABLE_MAX])
{
    size_t length = (size_t)snprintf(name, CM_CONFIG_VARIABLE_MAX, "%s%s", VARIABLE, key->name);
    for (size_t i = 0; i < length; i++) {
        name[i] = (char)toupper((unsigned char)name[i]);
    }
    return length;
}

bool cm_config_environment(cm_config *config, char *const *environment, cm_config_error *error)
{
    bool good = true;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        char name[CM_CONFIG_VARIABLE_MAX];
        size_t length = variable_of(&KEYS[i], name);
        for (char *const *entry = environment; *entry != NULL; entry++) {
            if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=' &&
                !cm_config_set(config, &KEYS[i], *entry + length + 1, name, error)) {
                good = false;
                if (!cm_config_goes_on(error, &KEYS[i])) {
                    return false;
                }
            }
        }
    }
    return good;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

// For a service S, Kubernetes sets S_SERVICE_HOST, S_SERVICE_PORT, S_SERVICE_PORT_NAME, S_PORT and
// S_PORT_9400_UDP with _PROTO, _PORT and _ADDR; S is CAROM, or CAROM_… of another service, whose
// S_PORT is known by its value: udp://10.0.0.1:9400.
static bool is_of_kubernetes(const char *name, const char *value)
{
    const char *port = strstr(name, "_PORT_");
    bool numbered = port != NULL && isdigit((unsigned char)port[6]) != 0 &&
                    (strstr(port, "_TCP") != NULL || strstr(port, "_UDP") != NULL ||
                     strstr(port, "_SCTP") != NULL);
    return ends_with(name, "_SERVICE_HOST") || ends_with(name, "_SERVICE_PORT") ||
           strstr(name, "_SERVICE_PORT_") != NULL || numbered || strcmp(name, "CAROM_PORT") == 0 ||
           (ends_with(name, "_PORT") && strstr(value, "://") != NULL);
}

bool cm_config_unknown(const char *entry, char name[CM_CONFIG_VARIABLE_MAX],
                       char nearest[CM_CONFIG_VARIABLE_MAX])
{
    size_t length = strcspn(entry, "=");
    if (strncmp(entry, VARIABLE, strlen(VARIABLE)) != 0) {
        return false;
    }
    snprintf(name, CM_CONFIG_VARIABLE_MAX, "%.*s", (int)length, entry);
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        char known[CM_CONFIG_VARIABLE_MAX];
        if (variable_of(&KEYS[i], known) == length && strncmp(known, entry, length) == 0) {
            return false;
        }
        uint32_t distance = cm_spelling_distance(name, known);
        if (distance < least) {
            least = distance;
            strcpy(nearest, known);
        }
    }
    return !is_of_kubernetes(name, entry[length] == '=' ? entry + length + 1 : "");
}

bool cm_config_address(const char *text, cm_address *address)
{
    static const char name[] = "localhost:";
    char numbers[CM_ADDRESS_TEXT_MAX];
    if (strncmp(text, name, sizeof name - 1) == 0) {
        snprintf(numbers, sizeof numbers, "127.0.0.1:%.8s", text + sizeof name - 1);
        text = numbers;
    }
    return cm_address_read(text, address);
}

static bool check_workers(const cm_config *config, cm_config_error *error)
{
    cm_address listen;
    cm_config_address(config->listen, &listen);
    if (listen.port == 0 || config->workers <= 0 ||
        listen.port + config->workers - 1 <= UINT16_MAX) {
        return true;
    }
    return cm_refuse(
        error->message,
        "workers: %d on ports from %u on, expected ports of at most 65535: fewer workers, "
        "or another port in listen",
        (int)config->workers, (unsigned)listen.port);
}

static bool check_web(const cm_config *config, cm_config_error *error)
{
    return !config->web || config->http[0] != '\0' ||
           cm_refuse(error->message, "web: expected http, whose port WebSockets come by");
}

bool cm_config_check(const cm_config *config, cm_config_error *error)
{
    bool good = check_text("", "listen", config->listen, error) &&
                check_text("", "public", config->public, error) &&
                check_text("", "http", config->http, error) && check_workers(config, error) &&
                check_web(config, error);
    if (!good) {
        (void)cm_config_goes_on(
            error, cm_config_find("workers")); // the others were checked when they were set
    }
    return good;
}

bool cm_config_check_gate(const cm_config *config, cm_config_error *error)
{
    cm_address listen;
    cm_config_address(config->listen, &listen);
    if (config->insecure && config->key[0] != '\0') {
        return cm_refuse(error->message,
                         "insecure: expected false where there is a key, or no key");
    }
    if (cm_address_is_loopback(listen.ip)) {
        return config->insecure || config->key[0] != '\0' ||
               cm_refuse(error->message,
                         "expected --key FILE (made by 'carom token keygen'), or --insecure, which "
                         "lets anyone on this machine play");
    }
    if (config->key[0] == '\0') {
        return cm_refuse(
            error->message,
            "listen: '%.64s', expected --key FILE (made by 'carom token keygen'): without "
            "tokens only a loopback address (127.x.x.x, ::1) is served",
            config->listen);
    }
    return !cm_address_is_any(listen.ip) || config->public[0] != '\0' ||
           cm_refuse(error->message,
                     "public: expected the addresses that players use, since listen names every "
                     "interface");
}

bool cm_config_next_address(const char **list, cm_address *address)
{
    char one[CM_ADDRESS_TEXT_MAX];
    size_t length = strcspn(*list, ",");
    if (length == 0 || length >= sizeof one) {
        return false;
    }
    memcpy(one, *list, length);
    one[length] = '\0';
    if (!cm_config_address(one, address)) {
        return false;
    }
    *list += length;
    if (**list == ',' && (*list)[1] != '\0') {
        ++*list;
    }
    return true;
}

// Into VALUE_MAX bytes.
static void print_value(const cm_config *config, const cm_config_key *key, char *out)
{
    const char *at = (const char *)config + key->offset;
    if (key->kind == CM_CONFIG_INT) {
        int64_t value;
        memcpy(&value, at, sizeof value);
        snprintf(out, VALUE_MAX, "%lld", (long long)value);
        return;
    }
    if (key->kind == CM_CONFIG_BOOL) {
        bool value;
        memcpy(&value, at, sizeof value);
        strcpy(out, value ? "true" : "false");
        return;
    }
    if (key->kind == CM_CONFIG_ROOMS) {
        cm_room_list_print(rooms_of(config, key), out, VALUE_MAX);
        return;
    }
    cm_json_quote(at, out, VALUE_MAX);
}

size_t cm_config_print(const cm_config *config, char *text, size_t size)
{
    size_t at = 0;
#define LEFT (at < size ? text + at : NULL), (at < size ? size - at : 0)
    at += (size_t)snprintf(LEFT, "{\n");
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const cm_config_key *key = &KEYS[i];
        char value[VALUE_MAX];
        print_value(config, key, value);
        char range[80] = "";
        if (key->kind == CM_CONFIG_INT) {
            snprintf(range, sizeof range, " (%lld to %lld)", (long long)key->low,
                     (long long)key->high);
        } else if (key->kind == CM_CONFIG_CHOICE) {
            snprintf(range, sizeof range, " (%s)", key->choices);
        }
        at += (size_t)snprintf(LEFT, "  \"// %s\": \"%s%s\",\n  \"%s\": %s%s\n", key->name,
                               key->help, range, key->name, value, i + 1 < KEY_COUNT ? "," : "");
    }
    at += (size_t)snprintf(LEFT, "}\n");
#undef LEFT
    return at;
}
