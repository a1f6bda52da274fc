// Each request is checked here, once: its JSON, its command, the fields that the command needs.
// Answers of success and failure are objects too: {"done":"open"}, {"error":"…"}.
#include "server/node/node_admin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/config/json_reader.h"
#include "server/node/placement.h"

void cm_serve_admin_path(const cm_config *config, char path[CM_SERVE_ADMIN_PATH_MAX])
{
    bool given = config->admin[0] != '\0';
    snprintf(path, CM_SERVE_ADMIN_PATH_MAX, "%s%s", given ? config->admin : config->matches,
             given ? "" : "/admin.sock");
}

bool cm_serve_admin_fits(const cm_config *config, const cm_log *log)
{
    char path[CM_SERVE_ADMIN_PATH_MAX];
    cm_serve_admin_path(config, path);
    bool fits = config->admin[0] != '\0' || strlen(path) < CM_ADMIN_PATH_MAX;
    if (!fits && log != NULL) {
        // No failure: long paths were served before there was a socket.
        cm_line line;
        cm_line_log(&line, CM_LOG_WARNING, "no admin socket");
        cm_line_text(&line, "path", path);
        cm_line_text(&line, "reason", "the path is too long for a socket: set admin");
        cm_log_write(log, CM_LOG_WARNING, &line);
    }
    return fits;
}

void cm_serve_admin_error(cm_admin_reply *reply, const char *text)
{
    cm_line line;
    cm_line_begin(&line);
    cm_line_text(&line, "error", text);
    cm_admin_say(reply, cm_line_end(&line));
}

// What an operator did is in the log, whoever it was.
void cm_serve_admin_done(const cm_log *log, const cm_serve_request *asked, cm_admin_reply *reply)
{
    cm_line line;
    cm_line_begin(&line);
    cm_line_text(&line, "done", asked->command);
    cm_admin_say(reply, cm_line_end(&line));
    cm_line_log(&line, CM_LOG_INFO, "admin");
    cm_line_text(&line, "command", asked->command);
    cm_line_text(&line, "room", asked->room);
    if (asked->has_number) {
        char who[24]; // a number of JSON does not hold it
        snprintf(who, sizeof who, "%" PRIu64, asked->number);
        cm_line_text(&line, "who", who);
    }
    if (asked->scene[0] != '\0') {
        cm_line_text(&line, "scene", asked->scene);
    }
    cm_log_write(log, CM_LOG_INFO, &line);
}

static void say_rooms(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    (void)asked;
    for (uint32_t i = 0; i < a->rooms->count; i++) {
        const cm_serve_room *room = &a->rooms->rooms[i];
        cm_hosted_room_stats stats;
        cm_hosted_room_stats_get(cm_worker_room_at(a->worker, i), &stats);
        cm_match_status match;
        cm_store_status(a->store, room->match, &match);
        cm_line line;
        cm_line_begin(&line);
        cm_line_text(&line, "room", room->name);
        cm_line_text(&line, "scene", stats.scene);
        cm_line_uint(&line, "port", cm_worker_port(a->worker));
        cm_line_uint(&line, "tick", stats.tick);
        cm_line_uint(&line, "tick_rate", stats.tick_rate);
        cm_line_uint(&line, "players",
                     cm_hosted_room_players(cm_worker_room_at(a->worker, i), NULL, 0));
        cm_line_uint(&line, "max_players", stats.max_players);
        cm_line_number(&line, "tick_ms_p50", stats.tick_ms_p50);
        cm_line_number(&line, "tick_ms_p99", stats.tick_ms_p99);
        cm_line_number(&line, "cpu_s", (double)stats.cpu_us * 1.0e-6);
        cm_line_uint(&line, "view_bytes", stats.published.view_bytes);
        cm_line_uint(&line, "ticks_behind", stats.ticks_behind);
        cm_line_text(&line, "match", room->path);
        cm_line_uint(&line, "recorded_tick", match.committed_tick);
        cm_line_bool(&line, "durable", match.durable);
        cm_admin_say(reply, cm_line_end(&line));
    }
}

static void say_players(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    bool found = asked->room[0] == '\0';
    for (uint32_t i = 0; i < a->rooms->count; i++) {
        const cm_serve_room *room = &a->rooms->rooms[i];
        if (asked->room[0] != '\0' && strcmp(asked->room, room->name) != 0) {
            continue;
        }
        found = true;
        cm_hosted_player players[CAROM_PLAYERS_MAX];
        uint32_t count =
            cm_hosted_room_players(cm_worker_room_at(a->worker, i), players, CAROM_PLAYERS_MAX);
        for (uint32_t p = 0; p < count; p++) {
            char id[24]; // as `ban` takes it; a number of JSON does not hold it
            cm_line line;
            cm_line_begin(&line);
            cm_line_text(&line, "room", room->name);
            cm_line_uint(&line, "player", players[p].player);
            cm_line_text(&line, "name", players[p].name);
            snprintf(id, sizeof id, "%" PRIu64, players[p].client_id);
            cm_line_text(&line, "client_id", id);
            cm_line_uint(&line, "rtt_ms", players[p].round_trip_ms);
            cm_line_number(&line, "kbit", players[p].kbit);
            cm_line_number(&line, "loss", (double)players[p].loss);
            cm_line_uint(&line, "late_inputs", players[p].late_inputs);
            cm_line_uint(&line, "refused_inputs", players[p].refused_inputs);
            cm_line_uint(&line, "seen_clamped", players[p].seen_clamped);
            cm_line_uint(&line, "rewound_ticks", players[p].rewound_ticks);
            cm_admin_say(reply, cm_line_end(&line));
        }
    }
    if (!found) {
        cm_serve_admin_error(reply, "there is no room of that name");
    }
}

static void open_room(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    cm_failure failure;
    if (a->load != NULL && *a->load >= CM_PLACEMENT_MOST) {
        cm_serve_admin_error(reply, "80% of the processor is in use");
        return;
    }
    cm_room_entry entry = asked->with;
    snprintf(entry.name, sizeof entry.name, "%s", asked->room);
    snprintf(entry.scene, sizeof entry.scene, "%s", asked->scene);
    if (!cm_serve_rooms_add(a->rooms, a->config, a->worker, a->store, &entry, &failure)) {
        cm_serve_admin_error(reply, failure.text);
        return;
    }
    cm_serve_admin_done(a->log, asked, reply);
}

static void close_room(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    cm_failure failure;
    if (!cm_serve_rooms_remove(a->rooms, a->worker, asked->room, &failure)) {
        cm_serve_admin_error(reply, failure.text);
        return;
    }
    cm_serve_admin_done(a->log, asked, reply);
}

static void kick(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    uint32_t player = asked->number < UINT32_MAX ? (uint32_t)asked->number : UINT32_MAX;
    if (!cm_worker_kick_player(a->worker, asked->room, player)) {
        cm_serve_admin_error(reply, "there is no such room, or nobody plays with that number");
        return;
    }
    cm_serve_admin_done(a->log, asked, reply);
}

static void ban(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    if (!cm_worker_ban(a->worker, false, asked->number)) {
        cm_serve_admin_error(reply, "there are as many bans as are kept");
        return;
    }
    cm_serve_admin_done(a->log, asked, reply);
}

static void unban(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    const char *held = a->bans != NULL ? cm_serve_bans_held(a->bans, false, asked->number) : NULL;
    if (held != NULL) {
        cm_serve_admin_error(reply, held);
        return;
    }
    cm_worker_unban(a->worker, false, asked->number);
    cm_serve_admin_done(a->log, asked, reply);
}

static void drain(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    a->drain = true;
    cm_serve_admin_done(a->log, asked, reply);
}

// What is wrong with it as a file's name, or NULL. The server has another working directory.
static const char *check_path(const char *path)
{
    return path[0] != '/' ? "expected an absolute path of the file to make" : NULL;
}

static void backup(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply)
{
    const char *wrong = check_path(asked->out);
    const cm_serve_room *room = NULL;
    cm_serve_backup *place = NULL;
    for (uint32_t i = 0; i < a->rooms->count; i++) {
        bool named = strcmp(a->rooms->rooms[i].name, asked->room) == 0;
        room = named ? &a->rooms->rooms[i] : room;
    }
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        place = a->backups[i].number == 0 ? &a->backups[i] : place;
    }
    if (wrong == NULL && room == NULL) {
        wrong = "there is no room of that name";
    } else if (wrong == NULL && place == NULL) {
        wrong = "as many copies as there can be are being made";
    } else if (wrong == NULL && cm_store_backup(a->store, room->match, asked->out) != CAROM_OK) {
        wrong = "a copy of it is being made, or it is not being recorded";
    }
    if (wrong != NULL) {
        cm_serve_admin_error(reply, wrong);
        return;
    }
    place->number = a->asked != 0 ? a->asked : cm_admin_later(reply);
    place->match = room->match;
    memcpy(place->room, room->name, sizeof place->room);
    memcpy(place->path, asked->out, sizeof place->path);
    a->later = true;
}

static void log_backup(const cm_serve_admin *a, const cm_serve_backup *backup,
                       const cm_store_backup_status *status, bool done)
{
    cm_line line;
    cm_line_log(&line, done ? CM_LOG_INFO : CM_LOG_WARNING, done ? "backup" : "backup failed");
    cm_line_text(&line, "room", backup->room);
    cm_line_text(&line, "file", backup->path);
    if (done) {
        cm_line_uint(&line, "tick", status->tick);
    } else {
        cm_line_text(&line, "reason", status->error);
    }
    cm_log_write(a->log, done ? CM_LOG_INFO : CM_LOG_WARNING, &line);
}

bool cm_serve_admin_waits(const cm_serve_admin *a)
{
    bool waits = false;
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        waits = waits || a->backups[i].number != 0;
    }
    return waits;
}

uint64_t cm_serve_admin_later(cm_serve_admin *a, cm_line *line)
{
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        cm_serve_backup *backup = &a->backups[i];
        cm_store_backup_status status = {.state = CM_STORE_BACKUP_RUNS};
        if (backup->number != 0) {
            cm_store_backup_status_get(a->store, backup->match, &status);
        }
        if (status.state == CM_STORE_BACKUP_RUNS) {
            continue;
        }
        bool done = status.state == CM_STORE_BACKUP_DONE;
        uint64_t number = backup->number;
        log_backup(a, backup, &status, done);
        cm_line_begin(line);
        if (done) {
            cm_line_text(line, "done", "backup");
            cm_line_text(line, "room", backup->room);
            cm_line_text(line, "file", backup->path);
            cm_line_uint(line, "tick", status.tick);
            cm_line_uint(line, "bytes", status.bytes);
        } else {
            cm_line_text(line, "error", status.error);
        }
        *backup = (cm_serve_backup){0};
        return number;
    }
    return 0;
}

static const struct {
    const char *name;
    bool needs_room, needs_scene, needs_number;
    void (*run)(cm_serve_admin *a, const cm_serve_request *asked, cm_admin_reply *reply);
} COMMANDS[] = {
    {"rooms", false, false, false, say_rooms}, {"players", false, false, false, say_players},
    {"open", true, true, false, open_room},    {"close", true, false, false, close_room},
    {"kick", true, false, true, kick},         {"ban", false, false, true, ban},
    {"unban", false, false, true, unban},      {"drain", false, false, false, drain},
    {"backup", true, false, false, backup},
};

// A field that is a text, or "" where there is none. False: too long.
static bool text_of(const cm_json_value *object, const char *key, char *text, size_t size)
{
    const char *value = cm_json_text_of(cm_json_member(object, key));
    return snprintf(text, size, "%s", value != NULL ? value : "") < (int)size;
}

// Whole decimal digits: a client id needs all 64 bits.
static bool number_of(const cm_json_value *object, uint64_t *number)
{
    char text[24];
    size_t length = text_of(object, "who", text, sizeof text) ? strlen(text) : 0;
    if (length == 0 || length > 20 || strspn(text, "0123456789") != length) {
        return false;
    }
    *number = strtoull(text, NULL, 10);
    return true;
}

// False: one has no such name, or is out of its range.
static bool numbers_of(const cm_json_value *object, cm_room_entry *entry)
{
    const cm_json_value *with = cm_json_member(object, "with"), *value;
    const char *key;
    void *next = NULL;
    bool all = with == NULL || cm_json_is_object(with);
    while (all && (value = cm_json_each(with, &next, &key)) != NULL) {
        int64_t number = 0;
        all = cm_json_integer_of(value, &number) && cm_room_entry_set(entry, key, number);
    }
    return all;
}

static const char *check(const cm_serve_request *asked)
{
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(COMMANDS[i].name, asked->command) == 0) {
            bool lacks = (COMMANDS[i].needs_room && asked->room[0] == '\0') ||
                         (COMMANDS[i].needs_scene && asked->scene[0] == '\0') ||
                         (COMMANDS[i].needs_number && !asked->has_number);
            return lacks ? "a field is missing: expected room, scene or who (a whole number as a "
                           "text)"
                         : NULL;
        }
    }
    return "expected a command: rooms, players, open, close, kick, ban, unban, drain, backup";
}

const char *cm_serve_admin_read(const char *text, cm_serve_request *request)
{
    cm_json_reader reader;
    cm_scene_error wrong;
    const cm_json_value *object =
        cm_json_open(&reader, text, strlen(text), CM_ADMIN_REQUEST_MAX, &wrong);
    memset(request, 0, sizeof *request);
    if (object == NULL) {
        cm_json_close(&reader);
        return "expected one JSON object on one line";
    }
    bool fits = text_of(object, "command", request->command, sizeof request->command) &&
                text_of(object, "room", request->room, sizeof request->room) &&
                text_of(object, "scene", request->scene, sizeof request->scene) &&
                text_of(object, "out", request->out, sizeof request->out);
    request->has_number = number_of(object, &request->number);
    bool known = numbers_of(object, &request->with);
    cm_json_close(&reader);
    if (!known) {
        return "with: expected numbers in their range: max_players, tick_rate, view_rate, "
               "budget_kbit, empty_s, bodies, shapes, joints, contacts";
    }
    return fits ? check(request) : "a command, room, scene or file is too long";
}

void cm_serve_admin_answer(void *user, const char *text, cm_admin_reply *reply)
{
    cm_serve_request asked;
    const char *wrong = cm_serve_admin_read(text, &asked);
    if (wrong != NULL) {
        cm_serve_admin_error(reply, wrong);
        return;
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(COMMANDS[i].name, asked.command) == 0) {
            COMMANDS[i].run(user, &asked, reply);
        }
    }
}
