// Loading and opening, one after another; the first that cannot be opened ends the start, not a
// check.
#include "server/node/node_rooms.h"

#include <stdio.h>
#include <string.h>

#include "server/record/catalogue/room_db.h"
#include "server/node/bootstrap.h"
#include "server/node/module_loader.h"

// The spec of the room, and the scene with the rate and the limits that it asks for.
static carom_result apply_spec(cm_node_room *room, const cm_config *config,
                               const cm_room_spec *spec, cm_scene_error *error)
{
    cm_scene *made;
    cm_scene_change change;
    room->spec = *spec;
    cm_config_complete(config, &room->spec);
    if (!cm_room_spec_changes(spec, &change)) {
        return CAROM_OK;
    }
    carom_result result = cm_scene_changed(room->scene, &change, &made, error);
    if (result == CAROM_OK) {
        cm_scene_free(room->scene);
        room->scene = made;
        room->tick_rate = spec->tick_rate > 0 ? spec->tick_rate : room->tick_rate;
    }
    return result;
}

// A spec without a name is of a room that has its scene's.
static carom_result add(const cm_config *config, cm_node_rooms *rooms, const cm_room_spec *spec,
                        bool in_db, cm_failure *failure)
{
    if (rooms->count == CM_WORKER_ROOMS_MAX) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "serve: more than %u rooms to start",
                       CM_WORKER_ROOMS_MAX);
    }
    cm_node_room *room = &rooms->rooms[rooms->count];
    if (cm_bootstrap_find_scene(config, spec->scene, in_db ? CM_SEEK_IN_DB : CM_SEEK_ANY,
                                &room->scene, &room->tick_rate, failure) != CAROM_OK) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_scene_error error;
    if (apply_spec(room, config, spec, &error) != CAROM_OK) { // who has numbers has a name
        cm_scene_free(room->scene);
        room->scene = NULL;
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "room %s: %s: %s: %s", spec->name,
                       spec->scene, error.path, error.message);
    }
    const char *own = cm_scene_name(room->scene);
    if (spec->name[0] == '\0' && cm_room_name_is_valid(own)) {
        memcpy(room->spec.name, own, strlen(own) + 1); // sound: it fits
    }
    rooms->count++;
    return CAROM_OK;
}

carom_result cm_node_rooms_none(const cm_config *config, cm_failure *failure)
{
    return cm_fail(failure, CAROM_ERROR_ARGUMENT,
                   "serve: %s%s%sno scene given, expected --scene NAME, --scene FILE or --room "
                   "NAME=SCENE, or rooms to start in %s ('carom scene rooms --add NAME=SCENE')",
                   config->resume ? "no match to resume in " : "",
                   config->resume ? config->matches : "", config->resume ? ", and " : "",
                   config->db);
}

// Decides after a room's failure about all of them. False: loading ends here.
static bool goes_on(const cm_node_rooms_wrong *all, carom_result one, const cm_failure *failure,
                    carom_result *result)
{
    if (one == CAROM_OK) {
        return true;
    }
    *result = one;
    if (all != NULL) {
        all->tell(all->user, failure->text);
    }
    return all != NULL;
}

typedef struct catalogue {
    const cm_config *config;
    cm_node_rooms *rooms;
    const cm_node_rooms_wrong *all;
    cm_failure *failure;
    carom_result result;
} catalogue;

// A row as --room has it, NAME=SCENE:KEY=NUMBER… False, with what is wrong: it is none.
static bool read_row(const cm_room_row *row, cm_room_spec *spec, char *error, size_t error_size)
{
    static cm_room_list list; // large
    char text[CM_NAME_MAX + CM_ROOM_SPEC_MAX + 1];
    *spec = (cm_room_spec){.name = ""};
    if (strchr(row->spec, ':') == NULL) { // of any name
        snprintf(spec->name, sizeof spec->name, "%.*s", CAROM_ROOM_NAME_MAX, row->name);
        snprintf(spec->scene, sizeof spec->scene, "%s", row->spec);
        return true;
    }
    list.count = 0;
    snprintf(text, sizeof text, "%s=%s", row->name, row->spec);
    bool one = cm_room_list_add(&list, text, error, error_size) && list.count == 1;
    *spec = list.rooms[0];
    return one;
}

static bool add_row(void *context, const cm_room_row *row)
{
    char error[512] = "";
    catalogue *c = context;
    cm_room_spec spec = {0};
    if (!cm_room_name_is_valid(row->name)) {
        carom_result wrong = cm_fail(c->failure, CAROM_ERROR_ARGUMENT,
                                     "serve: %s: room '%s', expected a name of 1 to %d visible "
                                     "ASCII characters without ',' and '='",
                                     c->config->db, row->name, CAROM_ROOM_NAME_MAX);
        return goes_on(c->all, wrong, c->failure, &c->result);
    }
    if (!read_row(row, &spec, error, sizeof error)) {
        carom_result wrong = cm_fail(c->failure, CAROM_ERROR_ARGUMENT, "serve: %s: room '%s': %s",
                                     c->config->db, row->name, error);
        return goes_on(c->all, wrong, c->failure, &c->result);
    }
    carom_result one = add(c->config, c->rooms, &spec, true, c->failure);
    return goes_on(c->all, one, c->failure, &c->result);
}

// The rooms to start that the catalogue has.
static carom_result add_catalogue(const cm_config *config, cm_node_rooms *rooms,
                                  const cm_node_rooms_wrong *all, cm_failure *failure)
{
    catalogue c = {config, rooms, all, failure, CAROM_OK};
    cm_scene_error error;
    carom_result result = cm_room_db_list(config->db, add_row, &c, &error);
    carom_result one = CAROM_OK;
    if (result != CAROM_OK && result != CAROM_ERROR_NOT_FOUND) {
        one = cm_fail(failure, CAROM_ERROR_ARGUMENT, "%s: %s%s%s", config->db, error.path,
                      error.path[0] != '\0' ? ": " : "", error.message);
    } else if (c.result == CAROM_OK && rooms->count == 0 && !config->resume &&
               config->on_demand[0] == '\0') {
        one = cm_node_rooms_none(config, failure);
    }
    (void)goes_on(all, one, failure, &c.result);
    return c.result;
}

static carom_result add_on_demand(const cm_config *config, cm_node_rooms *rooms,
                                  cm_failure *failure)
{
    uint32_t tick_rate;
    return config->on_demand[0] == '\0' ||
                   cm_bootstrap_find_scene(config, config->on_demand, CM_SEEK_ANY,
                                           &rooms->on_demand, &tick_rate, failure) == CAROM_OK
               ? CAROM_OK
               : CAROM_ERROR_ARGUMENT;
}

carom_result cm_node_rooms_load(const cm_config *config, cm_node_rooms *rooms,
                                const cm_node_rooms_wrong *all, cm_failure *failure)
{
    carom_result result = CAROM_OK;
    memset(rooms, 0, sizeof *rooms);
    if (cm_module_load_list(config->module, &rooms->modules, failure->text, sizeof failure->text) !=
        CAROM_OK) {
        (void)goes_on(all, CAROM_ERROR_ARGUMENT, failure, &result);
        return result; // scenes of modules that are not there would all fail by it
    }
    if (!goes_on(all, add_on_demand(config, rooms, failure), failure, &result)) {
        return result;
    }
    if (config->scene[0] == '\0' && config->rooms.count == 0) {
        carom_result listed = add_catalogue(config, rooms, all, failure);
        return listed != CAROM_OK ? listed : result;
    }
    cm_room_spec spec = {0};
    snprintf(spec.scene, sizeof spec.scene, "%s", config->scene);
    bool more = config->scene[0] == '\0' ||
                goes_on(all, add(config, rooms, &spec, false, failure), failure, &result);
    for (uint32_t i = 0; i < config->rooms.count && more; i++) {
        carom_result one = add(config, rooms, &config->rooms.rooms[i], false, failure);
        more = goes_on(all, one, failure, &result);
    }
    return result;
}

uint32_t cm_node_rooms_clients(const cm_node_rooms *rooms)
{
    uint32_t players = 0;
    for (uint32_t i = 0; i < rooms->count; i++) {
        players += rooms->rooms[i].spec.max_players + rooms->rooms[i].spec.spectators;
    }
    players = players > CM_SERVE_CLIENTS_LEAST ? players : CM_SERVE_CLIENTS_LEAST;
    return players < CM_CLIENTS_MAX ? players : CM_CLIENTS_MAX;
}

carom_result cm_node_rooms_open(cm_node_rooms *rooms, cm_worker *worker,
                                const cm_node_rooms_wrong *all, cm_failure *failure)
{
    carom_result all_of_them = CAROM_OK;
    for (uint32_t i = 0; i < rooms->count; i++) {
        const cm_node_room *room = &rooms->rooms[i];
        cm_worker_room def = {
            .name = room->spec.name, .scene = room->scene, .spec = room->spec, .live = room->live};
        char error[512] = "";
        carom_result one = cm_worker_open(worker, &def, error, sizeof error);
        if (one != CAROM_OK) {
            cm_fail(failure, one, "serve: room %s: %s", room->spec.name, error);
        }
        if (!goes_on(all, one, failure, &all_of_them)) {
            return one;
        }
    }
    return all_of_them;
}

void cm_node_rooms_record(cm_node_rooms *rooms, const cm_worker *worker, cm_store *store)
{
    for (uint32_t i = 0; i < rooms->count; i++) {
        cm_node_room *room = &rooms->rooms[i];
        const cm_hosted_room *hosted = cm_worker_room_at(worker, i);
        const char *path = NULL;
        if (hosted != NULL) {
            room->match = cm_hosted_room_match(hosted);
            path = cm_store_path(store, room->match);
        }
        snprintf(room->path, sizeof room->path, "%s", path != NULL ? path : "");
    }
}

bool cm_node_rooms_add(cm_node_rooms *rooms, const cm_config *config, cm_worker *worker,
                       cm_store *store, const cm_room_spec *spec, cm_failure *failure)
{
    const char *name = spec->name;
    if (!cm_room_name_is_valid(name)) {
        cm_fail(failure, CAROM_ERROR_STATE,
                "expected a name of 1 to %d visible ASCII characters without "
                "',' and '='",
                CAROM_ROOM_NAME_MAX);
        return false;
    }
    if (rooms->count == CM_WORKER_ROOMS_MAX) {
        cm_fail(failure, CAROM_ERROR_STATE, "there are %u rooms, the most that there can be",
                CM_WORKER_ROOMS_MAX);
        return false;
    }
    cm_node_room *room = &rooms->rooms[rooms->count];
    memset(room, 0, sizeof *room);
    if (cm_bootstrap_find_scene(config, spec->scene, CM_SEEK_NOW, &room->scene, &room->tick_rate,
                                failure) != CAROM_OK) {
        return false;
    }
    if (cm_quarantine_has(&rooms->refused, cm_scene_name(room->scene))) {
        cm_quarantine_log(cm_scene_name(room->scene), failure->text, sizeof failure->text);
        cm_scene_free(room->scene);
        room->scene = NULL;
        return false;
    }
    cm_scene_error wrong;
    if (apply_spec(room, config, spec, &wrong) != CAROM_OK) {
        cm_fail(failure, CAROM_ERROR_STATE, "%s: %s: %s", spec->scene, wrong.path, wrong.message);
        cm_scene_free(room->scene);
        room->scene = NULL;
        return false;
    }
    cm_worker_room def = {.name = room->spec.name, .scene = room->scene, .spec = room->spec};
    if (cm_worker_open(worker, &def, failure->text, sizeof failure->text) != CAROM_OK) {
        cm_scene_free(room->scene);
        room->scene = NULL;
        return false;
    }
    rooms->count++;
    cm_node_rooms_record(rooms, worker, store);
    return true;
}

// A room to start of the catalogue, found by its name.
typedef struct sought {
    cm_room_spec *spec;
    const char *name;
    bool found;
} sought;

static bool is_sought(void *context, const cm_room_row *row)
{
    sought *s = context;
    char error[512];
    s->found = strcmp(row->name, s->name) == 0 && read_row(row, s->spec, error, sizeof error);
    return !s->found;
}

// The room of `rooms`; NULL: it has none of that name.
static const cm_room_spec *configured(const cm_config *config, const char *name)
{
    for (uint32_t i = 0; i < config->rooms.count; i++) {
        if (strcmp(config->rooms.rooms[i].name, name) == 0) {
            return &config->rooms.rooms[i];
        }
    }
    return NULL;
}

// That of the start, as cm_node_rooms_load would open it.
static bool find_spec(const cm_config *config, const char *name, cm_room_spec *spec)
{
    const cm_room_spec *own = configured(config, name);
    if (own != NULL) {
        *spec = *own;
        return true;
    }
    if (config->scene[0] != '\0') {
        cm_scene *scene;
        uint32_t tick_rate;
        cm_failure wrong;
        bool is_own = cm_bootstrap_find_scene(config, config->scene, CM_SEEK_NOW, &scene,
                                              &tick_rate, &wrong) == CAROM_OK;
        if (is_own) {
            is_own = strcmp(cm_scene_name(scene), name) == 0;
            cm_scene_free(scene);
        }
        snprintf(spec->scene, sizeof spec->scene, "%s", config->scene);
        return is_own;
    }
    sought s = {.spec = spec, .name = name};
    cm_scene_error error;
    if (config->rooms.count == 0) {
        (void)cm_room_db_list(config->db, is_sought, &s, &error);
    }
    return s.found;
}

bool cm_node_rooms_anew(cm_node_rooms *rooms, const cm_config *config, cm_worker *worker,
                        cm_store *store, const char *name, cm_failure *failure)
{
    cm_room_spec spec = {0};
    failure->text[0] = '\0';
    if (!find_spec(config, name, &spec)) {
        return false;
    }
    snprintf(spec.name, sizeof spec.name, "%s", name);
    return cm_node_rooms_add(rooms, config, worker, store, &spec, failure);
}

bool cm_node_rooms_demand(cm_node_rooms *rooms, const cm_config *config, cm_worker *worker,
                          cm_store *store, const char *name, cm_failure *failure)
{
    uint32_t count = 0;
    const cm_room_spec *own = configured(config, name);
    if (own != NULL) { // it had ended, or was closed
        return cm_node_rooms_add(rooms, config, worker, store, own, failure);
    }
    for (uint32_t i = 0; i < rooms->count; i++) {
        count += rooms->rooms[i].on_demand;
    }
    if (rooms->count == CM_WORKER_ROOMS_MAX || count >= config->on_demand_rooms) {
        cm_fail(failure, CAROM_ERROR_STATE, "there are %u such rooms, see on_demand_rooms", count);
        return false;
    }
    cm_node_room *room = &rooms->rooms[rooms->count];
    memset(room, 0, sizeof *room);
    carom_world_def world;
    cm_scene_world_def(rooms->on_demand, &world);
    strcpy(room->spec.name, name); // sound: it fits
    strcpy(room->spec.opened, CM_ROOM_OPENED_ON_DEMAND);
    room->scene = rooms->on_demand;
    room->on_demand = true;
    room->tick_rate = world.tick_rate;
    room->spec.empty_s = (uint32_t)config->on_demand_empty_s;
    cm_config_complete(config, &room->spec);
    cm_worker_room def = {.name = room->spec.name, .scene = room->scene, .spec = room->spec};
    if (cm_worker_open(worker, &def, failure->text, sizeof failure->text) != CAROM_OK) {
        return false;
    }
    rooms->count++;
    cm_node_rooms_record(rooms, worker, store);
    return true;
}

static void release_scene(const cm_node_rooms *rooms, cm_node_room *room)
{
    if (room->live == NULL && room->scene != rooms->on_demand) {
        cm_scene_free(room->scene);
    }
    cm_live_match_free(room->live);
    room->scene = NULL;
    room->live = NULL;
}

// Its index; rooms->count: there is none.
static uint32_t find_room(const cm_node_rooms *rooms, const char *name)
{
    uint32_t i = 0;
    while (i < rooms->count && strcmp(rooms->rooms[i].spec.name, name) != 0) {
        i++;
    }
    return i;
}

static void move_to_closing(cm_node_rooms *rooms, uint32_t number)
{
    rooms->closing[rooms->closing_count++] = rooms->rooms[number];
    rooms->count--;
    memmove(&rooms->rooms[number], &rooms->rooms[number + 1],
            (rooms->count - number) * sizeof rooms->rooms[0]);
}

bool cm_node_rooms_remove(cm_node_rooms *rooms, cm_worker *worker, const char *name,
                          cm_failure *failure)
{
    if (rooms->closing_count == CM_WORKER_ROOMS_MAX) {
        cm_fail(failure, CAROM_ERROR_STATE,
                "%u closed rooms are still being written, the most there can be",
                CM_WORKER_ROOMS_MAX);
        return false;
    }
    uint32_t number = find_room(rooms, name);
    if (number == rooms->count || !cm_worker_close(worker, name)) {
        cm_fail(failure, CAROM_ERROR_STATE, "there is no room of that name");
        return false;
    }
    move_to_closing(rooms, number);
    return true;
}

bool cm_node_rooms_release(cm_node_rooms *rooms, cm_worker *worker, cm_store *store,
                           const char *name)
{
    uint32_t number = find_room(rooms, name);
    cm_match_status match;
    cm_store_backup_status backup;
    if (number == rooms->count || rooms->closing_count == CM_WORKER_ROOMS_MAX) {
        return false;
    }
    cm_store_status(store, rooms->rooms[number].match, &match);
    cm_store_backup_status_get(store, rooms->rooms[number].match, &backup);
    bool may = match.durable && backup.state != CM_STORE_BACKUP_RUNS; // which holds the file open
    if (!may || !cm_worker_release(worker, name)) {
        return false;
    }
    rooms->rooms[number].released = true;
    move_to_closing(rooms, number);
    return true;
}

void cm_node_rooms_closed(cm_node_rooms *rooms, uint32_t number)
{
    release_scene(rooms, &rooms->closing[number]);
    rooms->closing_count--;
    memmove(&rooms->closing[number], &rooms->closing[number + 1],
            (rooms->closing_count - number) * sizeof rooms->closing[0]);
}

void cm_node_rooms_free(cm_node_rooms *rooms)
{
    for (uint32_t i = 0; i < rooms->count; i++) {
        release_scene(rooms, &rooms->rooms[i]);
    }
    for (uint32_t i = 0; i < rooms->closing_count; i++) {
        release_scene(rooms, &rooms->closing[i]);
    }
    rooms->count = rooms->closing_count = 0;
    cm_module_files_free(&rooms->modules);
}
