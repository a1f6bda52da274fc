// Heads first, so that of a thousand matches that have ended none is read as a whole.
#include "server/node/resume.h"
#include "shared/base/array.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE CM_SERVE_PATH_MAX

typedef struct resuming {
    const cm_config *config;
    cm_store *store; // where they are brought back
    const cm_log *log;
    cm_node_rooms *rooms; // likewise
    void (*cut)(void *user, uint64_t match_id);
    void *user;
} resuming;

static void path_of(const resuming *run, uint64_t match_id, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%016llx.match", run->config->matches,
             (unsigned long long)match_id);
}

static void log_match(const resuming *run, cm_log_level level, const char *event, const char *path,
                      const char *reason)
{
    cm_log_say(run->log, level, event, CM_T("match", path), CM_T("reason", reason));
}

static void leave(const resuming *run, const char *path, const char *reason)
{
    log_match(run, CM_LOG_ERROR, "match left", path, reason);
}

static void cut(const resuming *run, uint64_t match_id, const char *path, const char *reason)
{
    cm_match_head head;
    cm_match_error error;
    bool known = cm_match_head_read(path, &head, &error) == CAROM_OK; // tickets name its first file
    uint64_t first = known && head.info.origin != 0 ? head.info.origin : match_id;
    if (cm_store_cut(run->store, match_id) == CAROM_OK) {
        run->cut(run->user, first);
        log_match(run, CM_LOG_WARNING, "match cut", path, reason);
    } else {
        leave(run, path, cm_store_begin_error(run->store));
    }
}

// Finding --------------------------------------------------------------------------------------

// A file that its server named; -1: another.
static bool id_of(const char *name, uint64_t *match_id)
{
    char again[32], *end;
    *match_id = strtoull(name, &end, 16);
    snprintf(again, sizeof again, "%016llx.match", (unsigned long long)*match_id);
    return strcmp(name, again) == 0;
}

bool cm_unfinished_matches_add(cm_unfinished_matches *matches, const cm_unfinished_match *match)
{
    if (!cm_array_reserve(&matches->list, &matches->capacity, matches->count + 1,
                          sizeof *matches->list)) {
        return false;
    }
    matches->list[matches->count++] = *match;
    return true;
}

void cm_unfinished_matches_free(cm_unfinished_matches *matches)
{
    free(matches->list);
    memset(matches, 0, sizeof *matches);
}

static const char *name_of(const char *room, const char *scene)
{
    return room[0] != '\0' ? room : cm_room_name_is_valid(scene) ? scene : "";
}

// A recording that failed, and went on in another file, live or ended.
typedef struct parents {
    uint32_t count, capacity;
    uint64_t *ids;
} parents;

static void note_parent(parents *found, uint64_t id)
{
    if (cm_array_reserve(&found->ids, &found->capacity, found->count + 1, sizeof *found->ids)) {
        found->ids[found->count++] = id;
    }
}

static void drop_parents(const resuming *run, cm_unfinished_matches *matches, const parents *found)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < matches->count; i++) {
        uint32_t at = 0;
        while (at < found->count && found->ids[at] != matches->list[i].match_id) {
            at++;
        }
        if (at == found->count) {
            matches->list[kept++] = matches->list[i];
        } else {
            char path[PATH_SIZE];
            path_of(run, matches->list[i].match_id, path);
            log_match(run, CM_LOG_INFO, "match left", path,
                      "it failed, and goes on in another file");
        }
    }
    matches->count = kept;
}

static void look(const resuming *run, cm_unfinished_matches *found, parents *before,
                 uint64_t match_id)
{
    cm_match_head head;
    cm_match_error error;
    char path[PATH_SIZE], log[PATH_SIZE + 8];
    path_of(run, match_id, path);
    if (cm_match_head_read(path, &head, &error) != CAROM_OK) {
        snprintf(log, sizeof log, "%s-wal", path);
        if (access(log, F_OK) == 0) { // without its log it has ended, of whatever format it is
            leave(run, path, error.message);
        }
        return;
    }
    if (head.info.parent != 0) {
        note_parent(before, head.info.parent);
    }
    if (head.info.end == CM_MATCH_LIVE && head.info.match_id != match_id) {
        leave(run, path, "it is not the match that its name says");
    } else if (head.info.end == CM_MATCH_LIVE) {
        cm_unfinished_match one = {match_id, head.info.started_unix_ms, "", "", false};
        strcpy(one.room, name_of(head.info.room, head.scene)); // a name that is sound fits
        if (!cm_unfinished_matches_add(found, &one)) {
            leave(run, path, "no memory");
        }
    }
}

static int newest_first(const void *a, const void *b)
{
    const cm_unfinished_match *x = a, *y = b;
    if (x->started_unix_ms != y->started_unix_ms) {
        return x->started_unix_ms < y->started_unix_ms ? 1 : -1;
    }
    return x->match_id < y->match_id ? 1 : -1;
}

void cm_unfinished_matches_find(const cm_config *config, const cm_log *log,
                                cm_unfinished_matches *matches)
{
    resuming run = {.config = config, .log = log};
    const struct dirent *entry;
    uint64_t match_id;
    parents before = {0};
    DIR *directory = opendir(config->matches);
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (id_of(entry->d_name, &match_id)) {
            look(&run, matches, &before, match_id);
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    drop_parents(&run, matches, &before);
    free(before.ids);
    if (matches->count > 0) {
        qsort(matches->list, matches->count, sizeof *matches->list, newest_first);
    }
}

// Bringing back --------------------------------------------------------------------------------

// The room of the name, or a new one; NULL: there are too many.
static cm_node_room *place_of(cm_node_rooms *rooms, const char *name)
{
    for (uint32_t i = 0; i < rooms->count; i++) {
        if (strcmp(rooms->rooms[i].spec.name, name) == 0) {
            return &rooms->rooms[i];
        }
    }
    return rooms->count < CM_WORKER_ROOMS_MAX ? &rooms->rooms[rooms->count] : NULL;
}

// A match that an operator or a player opened says so; one of the configuration, or of a server
// that did not write that yet, says nothing: then a room that nobody names is on demand if it has
// that scene.
static void complete_spec(const resuming *run, cm_node_room *room, const cm_live_match *live)
{
    const cm_scene *demanded = run->rooms->on_demand;
    if (cm_room_spec_take_opened(&room->spec, live->info.opened)) {
        room->on_demand = strcmp(room->spec.opened, CM_ROOM_OPENED_ON_DEMAND) == 0;
    } else if (room->scene == NULL) {
        room->on_demand =
            demanded != NULL && strcmp(cm_scene_name(demanded), cm_scene_name(live->scene)) == 0;
    }
    if (room->on_demand) {
        room->spec.empty_s = (uint32_t)run->config->on_demand_empty_s;
    }
    cm_config_complete(run->config, &room->spec);
}

static void take(const resuming *run, const char *path, cm_live_match *live)
{
    const char *name = name_of(live->info.room, cm_scene_name(live->scene));
    cm_node_room *room = place_of(run->rooms, name);
    if (!cm_store_signs(run->store, live->info.sign_key)) {
        leave(run, path, "it is signed by another key than sign_key");
    } else if (room == NULL) {
        leave(run, path, "there are more rooms than a server opens");
    } else if (room->live != NULL) {
        cut(run, live->info.match_id, path, "a newer match has the name of its room");
    } else {
        if (room->scene == NULL) {
            run->rooms->count++;
            memcpy(room->spec.name, name, strlen(name) + 1); // it was one: it fits
        }
        complete_spec(run, room, live);
        cm_scene_free(room->scene);
        room->scene = live->scene;
        room->live = live;
        room->tick_rate = live->info.tick_rate;
        cm_log_say(run->log, CM_LOG_INFO, "match resumed", CM_T("room", name), CM_T("match", path),
                   CM_U("tick", live->info.ticks), CM_U("players", live->player_count));
        return;
    }
    cm_live_match_free(live);
}

static void bring_back(const resuming *run, uint64_t match_id, bool known)
{
    cm_live_match *live;
    cm_match_error error = {0};
    char path[PATH_SIZE];
    path_of(run, match_id, path);
    carom_result result = cm_live_match_read(path, NULL, &live, &error);
    if (result == CAROM_OK) {
        live->known = known;
        take(run, path, live);
    } else if (result == CAROM_ERROR_VERSION || result == CAROM_ERROR_STATE) {
        cut(run, match_id, path, error.message);
    } else {
        leave(run, path, error.message);
    }
}

void cm_resume_matches(const cm_config *config, cm_store *store, const cm_log *log,
                       const cm_unfinished_matches *matches, cm_node_rooms *rooms,
                       void (*cut_off)(void *user, uint64_t match_id), void *user)
{
    resuming run = {
        .config = config, .store = store, .log = log, .rooms = rooms, .cut = cut_off, .user = user};
    for (uint32_t i = 0; i < matches->count; i++) {
        const cm_unfinished_match *match = &matches->list[i];
        char path[PATH_SIZE], reason[CM_NAME_MAX + 96];
        if (match->refused[0] == '\0') {
            bring_back(&run, match->match_id, match->known);
            continue;
        }
        path_of(&run, match->match_id, path);
        cm_quarantine_log(match->refused, reason, sizeof reason);
        cut(&run, match->match_id, path, reason);
    }
}
