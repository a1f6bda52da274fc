// The rooms of a worker: which are there, which of another worker's somebody is sent on to, which
// are opened because somebody came for them, and closed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/node/worker_inner.h"
#include "shared/base/hash.h"

// Rooms of newcomers -------------------------------------------------------------------------

cm_hosted_room *cm_worker_room_named(const cm_worker *worker, const char *name)
{
    for (uint32_t i = 0; i < worker->room_count; i++) {
        if (strcmp(cm_hosted_room_name(worker->rooms[i]), name) == 0) {
            return worker->rooms[i];
        }
    }
    return NULL;
}

static bool is_ending(const cm_worker *worker, uint64_t match_id)
{
    bool ending = false;
    for (uint32_t i = 0; i < worker->ending_count; i++) {
        ending = ending || cm_hosted_room_roster(worker->ending[i].room)->match_id == match_id;
    }
    return ending;
}

static cm_hosted_room *room_of_match(const cm_worker *worker, uint64_t match_id)
{
    for (uint32_t i = 0; i < worker->room_count; i++) {
        if (cm_hosted_room_roster(worker->rooms[i])->match_id == match_id) {
            return worker->rooms[i];
        }
    }
    return NULL;
}

// The name of a room that nobody has decides where it is opened, so that two players who come by
// two workers meet. The worker's port, if it is another one, else 0.
static uint16_t port_to_open(const cm_worker *worker, const char *name)
{
    if (worker->open_room == NULL || worker->port_count == 0 || !cm_room_name_is_valid(name)) {
        return 0;
    }
    cm_hash hash = cm_hash_begin(strlen(name));
    for (const char *at = name; *at != '\0'; at++) {
        cm_hash_u64(&hash, (uint8_t)*at);
    }
    uint16_t port = worker->ports[cm_hash_end(&hash) % worker->port_count];
    return port != cm_host_port(worker->host) ? port : 0;
}

// The port of the worker that has a room, if it is another one, else 0.
static uint16_t port_of(const cm_worker *worker, const char *name)
{
    const cm_directory_entry *entry =
        worker->directory == NULL || cm_worker_room_named(worker, name) != NULL ? NULL
        : name[0] != '\0' ? cm_room_directory_find(worker->directory, name)
                          : cm_room_directory_default(worker->directory);
    if (entry == NULL && cm_worker_room_named(worker, name) == NULL) {
        return port_to_open(worker, name);
    }
    return entry != NULL ? entry->room.port : 0;
}

// At the gate, before a token is used up.
static uint16_t entry_of(void *context, const cm_token *token)
{
    const cm_worker *worker = context;
    if (token->kind != CM_TOKEN_RESUME) {
        return port_of(worker, token->body.room);
    }
    const cm_directory_entry *entry =
        room_of_match(worker, token->match_id) == NULL
            ? cm_room_directory_find_match(worker->directory, token->match_id)
            : NULL;
    return entry != NULL ? entry->room.port : 0;
}

void cm_worker_set_directory(cm_worker *worker, const cm_room_directory *directory)
{
    worker->directory = directory;
    cm_gate_set_directory(cm_host_gate(worker->host), entry_of, worker);
}

// A room that is not there: closed just now, or opened for whoever comes first.
static cm_hosted_room *open_named(cm_worker *worker, const char *name, carom_reason *reason)
{
    for (uint32_t i = 0; i < worker->ending_count; i++) {
        if (!worker->ending[i].parted &&
            strcmp(cm_hosted_room_name(worker->ending[i].room), name) == 0) {
            *reason = CAROM_REASON_ROOM_ENDED;
            return NULL;
        }
    }
    if (worker->open_room != NULL && worker->end_us != 0) {
        *reason = CAROM_REASON_DRAINING;
        return NULL;
    }
    if (worker->open_room == NULL || worker->draining || !cm_room_name_is_valid(name)) {
        return NULL;
    }
    *reason = CAROM_REASON_SERVER_FULL;
    bool had_default = worker->has_default;
    bool opened = worker->open_room(worker->given.user, name);
    if (!had_default) { // a room of players is nobody's default
        worker->has_default = false;
        worker->default_room[0] = '\0';
    }
    return opened ? cm_worker_room_named(worker, name) : NULL;
}

void cm_worker_match_cut(cm_worker *worker, uint64_t match_id)
{
    worker->cut[worker->cut_count++ % CM_WORKER_CUT_MAX] = match_id;
}

// Returns the reason why a ticket leads nowhere: its slot, or its whole match, is no more.
static carom_reason why_gone(const cm_worker *worker, uint64_t match_id)
{
    uint32_t count = worker->cut_count < CM_WORKER_CUT_MAX ? worker->cut_count : CM_WORKER_CUT_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (worker->cut[i] == match_id) {
            return CAROM_REASON_MATCH_CUT;
        }
    }
    return CAROM_REASON_SLOT_GONE;
}

// The room that a hello leads to: a ticket names a match, a token a room, and without one the hello
// says it. No name is the default room, while that is there.
cm_roster *cm_worker_find_room(void *context, const cm_control *hello, const cm_token *token,
                               carom_reason *reason, uint16_t *port)
{
    cm_worker *worker = context;
    cm_hosted_room *room;
    if (token != NULL && token->kind == CM_TOKEN_RESUME) {
        room = room_of_match(worker, token->match_id);
        *reason = is_ending(worker, token->match_id) ? CAROM_REASON_ROOM_ENDED
                                                     : why_gone(worker, token->match_id);
    } else {
        const char *name = token != NULL         ? token->body.room
                           : hello->room != NULL ? hello->room
                                                 : "";
        *port = port_of(worker, name);
        room = *port != 0
                   ? NULL
                   : cm_worker_room_named(worker, name[0] != '\0' ? name : worker->default_room);
        *reason = *port != 0 ? CAROM_REASON_ELSEWHERE : CAROM_REASON_ROOM_UNKNOWN;
        if (room == NULL && *port == 0) {
            room = open_named(worker, name, reason);
        }
    }
    if (room != NULL && cm_hosted_room_is_over(room)) {
        *reason = CAROM_REASON_ROOM_ENDED;
        return NULL;
    }
    if (worker->draining) {
        *reason = CAROM_REASON_DRAINING;
        return NULL;
    }
    if (room != NULL && (cm_roster_is_spectator(token) ||
                         (hello->spectate && (token == NULL || token->kind != CM_TOKEN_RESUME)))) {
        *reason = CAROM_REASON_NO_SPECTATORS;
        return cm_hosted_room_gallery(room);
    }
    return room != NULL ? cm_hosted_room_roster(room) : NULL;
}

carom_reason cm_worker_check_slot(void *context, const cm_token *ticket)
{
    const cm_worker *worker = context;
    cm_hosted_room *room = room_of_match(worker, ticket->match_id);
    bool has_slot =
        room != NULL && (cm_roster_is_spectator(ticket)
                             ? cm_hosted_room_gallery(room) != NULL
                             : cm_roster_find(cm_hosted_room_roster(room), ticket) != NULL);
    return has_slot ? CAROM_REASON_NONE : why_gone(worker, ticket->match_id);
}

static cm_control_room row_of(const cm_room_info *info, uint16_t port)
{
    return (cm_control_room){.name = info->name,
                             .scene = info->scene,
                             .module = info->module,
                             .players = info->players,
                             .max_players = info->max_players,
                             .port = port};
}

// Ours, then those of the other workers, as last heard.
uint32_t cm_worker_list_rooms(void *context, cm_control_room *rooms, uint32_t capacity)
{
    const cm_worker *worker = context;
    uint32_t count = 0, others = worker->directory != NULL ? worker->directory->count : 0;
    for (uint32_t i = 0; i < worker->room_count && count < capacity; i++) {
        rooms[count++] = row_of(cm_hosted_room_info(worker->rooms[i]), cm_host_port(worker->host));
    }
    for (uint32_t i = 0; i < others && count < capacity; i++) {
        const cm_room_info *info = &worker->directory->list[i].room;
        rooms[count++] = row_of(info, info->port);
    }
    return count;
}

// Opening and closing --------------------------------------------------------------------------

carom_result cm_worker_open(cm_worker *worker, const cm_worker_room *from, char *error,
                            size_t error_size)
{
    const cm_config *config = &worker->given.config;
    if (from->name[0] != '\0' && !cm_room_name_is_valid(from->name)) {
        snprintf(error, error_size, "expected a name of at most %u visible ASCII characters",
                 CAROM_ROOM_NAME_MAX);
        return CAROM_ERROR_ARGUMENT;
    }
    if (cm_worker_room_named(worker, from->name) != NULL) {
        snprintf(error, error_size, "there is a room of that name");
        return CAROM_ERROR_ARGUMENT;
    }
    bool ends = worker->draining || worker->end_us != 0;
    if (worker->room_count == CM_WORKER_ROOMS_MAX || ends) {
        snprintf(error, error_size,
                 ends ? "the worker drains" : "there are %u rooms, the most that a worker takes",
                 CM_WORKER_ROOMS_MAX);
        return CAROM_ERROR_FULL;
    }
    uint64_t match_id = cm_rng_next(&worker->chance), drawn = cm_rng_next(&worker->chance);
    const cm_live_match *live = from->live;
    cm_room_spec spec = from->spec;
    cm_config_complete(config, &spec);
    cm_hosted_room_def def = {.host = &worker->given,
                              .name = from->name,
                              .scene = from->scene,
                              .module = from->module,
                              .seed = config->room_seed > 0 ? (uint64_t)config->room_seed : drawn,
                              .match_id = live == NULL             ? match_id
                                          : live->info.origin != 0 ? live->info.origin
                                                                   : live->info.match_id,
                              .spec = spec,
                              .live = live,
                              .now_us = worker->now_us,
                              .started_unix_ms = cm_worker_unix_ms(worker)};
    cm_hosted_room *room;
    carom_result result = cm_hosted_room_create(&def, &room, error, error_size);
    if (result == CAROM_OK) {
        worker->due_us[worker->room_count] = 0; // its first turn is the next one
        worker->rooms[worker->room_count++] = room;
        if (!worker->has_default) {
            snprintf(worker->default_room, sizeof worker->default_room, "%s", from->name);
            worker->has_default = true;
        }
    }
    return result;
}

// Its players go when they have heard the last of it, its spectators when they have seen it.
static void part(cm_worker *worker, cm_hosted_room *room)
{
    cm_clients_kick_room(worker->clients, cm_hosted_room_roster(room), CAROM_REASON_ROOM_ENDED);
    cm_clients_kick_room(worker->clients, cm_hosted_room_gallery(room), CAROM_REASON_ROOM_ENDED);
    cm_hosted_room_destroy(room);
}

void cm_worker_part_with_ended(cm_worker *worker)
{
    for (uint32_t i = 0; i < worker->ending_count;) {
        cm_worker_ending *ending = &worker->ending[i];
        cm_hosted_room *room = ending->room;
        uint64_t passed_us = worker->now_us - ending->since_us;
        bool watched = cm_hosted_room_shows_rest(room, worker->clients, passed_us);
        if (!ending->parted &&
            (cm_hosted_room_sent_all(room) || passed_us >= CM_WORKER_END_WAIT_US)) {
            cm_clients_kick_room(worker->clients, cm_hosted_room_roster(room),
                                 CAROM_REASON_ROOM_ENDED);
            ending->parted = true;
        }
        if (watched || !ending->parted) {
            i++;
            continue;
        }
        part(worker, room);
        *ending = worker->ending[--worker->ending_count];
    }
}

static void remove_room(cm_worker *worker, uint32_t index)
{
    worker->room_count--;
    memmove(&worker->rooms[index], &worker->rooms[index + 1],
            (worker->room_count - index) * sizeof worker->rooms[0]);
    memmove(&worker->due_us[index], &worker->due_us[index + 1],
            (worker->room_count - index) * sizeof worker->due_us[0]);
}

static void close_room(cm_worker *worker, uint32_t index)
{
    cm_hosted_room *room = worker->rooms[index];
    bool sent = cm_hosted_room_end(room, CM_MATCH_ENDED);
    remove_room(worker, index);
    bool watched = cm_hosted_room_shows_rest(room, worker->clients, 0);
    if ((sent && !watched) || worker->ending_count == CM_WORKER_ROOMS_MAX) {
        part(worker, room);
    } else {
        worker->ending[worker->ending_count++] =
            (cm_worker_ending){.room = room, .since_us = worker->now_us};
    }
}

// The index of a room, or room_count.
static uint32_t find_room(const cm_worker *worker, const char *name)
{
    uint32_t i = 0;
    while (i < worker->room_count && strcmp(cm_hosted_room_name(worker->rooms[i]), name) != 0) {
        i++;
    }
    return i;
}

bool cm_worker_close(cm_worker *worker, const char *name)
{
    uint32_t index = find_room(worker, name);
    if (index == worker->room_count) {
        return false;
    }
    close_room(worker, index);
    return true;
}

bool cm_worker_release(cm_worker *worker, const char *name)
{
    uint32_t index = find_room(worker, name);
    if (index == worker->room_count) {
        return false;
    }
    cm_hosted_room *room = worker->rooms[index];
    cm_hosted_room_release(room);
    remove_room(worker, index);
    cm_clients_drop_room(worker->clients, cm_hosted_room_roster(room));
    cm_clients_drop_room(worker->clients, cm_hosted_room_gallery(room));
    cm_hosted_room_destroy(room);
    return true;
}

const char *cm_worker_over(const cm_worker *worker)
{
    for (uint32_t i = 0; i < worker->room_count; i++) {
        if (cm_hosted_room_is_over(worker->rooms[i])) {
            return cm_hosted_room_name(worker->rooms[i]);
        }
    }
    return NULL;
}

bool cm_worker_uses(const cm_worker *worker, const cm_scene *scene)
{
    bool uses = false;
    for (uint32_t i = 0; i < worker->room_count; i++) {
        uses = uses || cm_hosted_room_scene(worker->rooms[i]) == scene;
    }
    for (uint32_t i = 0; i < worker->ending_count; i++) {
        uses = uses || cm_hosted_room_scene(worker->ending[i].room) == scene;
    }
    return uses;
}
