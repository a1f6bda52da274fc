// A node executes operators' commands; its supervisor passes it on.
#include "server/node/node_admin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cm_node_admin_path(const cm_config *config, char path[CM_NODE_ADMIN_PATH_MAX])
{
    bool given = config->admin[0] != '\0';
    snprintf(path, CM_NODE_ADMIN_PATH_MAX, "%s%s", given ? config->admin : config->matches,
             given ? "" : "/admin.sock");
}

bool cm_node_admin_fits(const cm_config *config, const cm_log *log)
{
    char path[CM_NODE_ADMIN_PATH_MAX];
    cm_node_admin_path(config, path);
    bool fits = config->admin[0] != '\0' || strlen(path) < CM_ADMIN_PATH_MAX;
    if (!fits && log != NULL) {
        // No failure: long paths were served before there was a socket.
        cm_log_say(log, CM_LOG_WARNING, "no admin socket", CM_T("path", path),
                   CM_T("reason", "the path is too long for a socket: set admin"));
    }
    return fits;
}

static void say_rooms(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    (void)asked;
    for (uint32_t i = 0; i < a->rooms->count; i++) {
        const cm_node_room *room = &a->rooms->rooms[i];
        cm_hosted_room_stats stats;
        cm_hosted_room_stats_get(cm_worker_room_at(a->worker, i), &stats);
        cm_match_status match;
        cm_store_status(a->store, room->match, &match);
        bool streamed = room->spec.stream_delay_s > 0 && match.unstreamed[0] == '\0';
        const cm_room_info *info = cm_hosted_room_info(cm_worker_room_at(a->worker, i));
        cm_admin_say(
            reply, CM_T("room", room->spec.name), CM_T("scene", info->scene),
            CM_U("port", cm_worker_port(a->worker)), CM_U("tick", stats.tick),
            CM_U("tick_rate", info->tick_rate),
            CM_U("players", cm_hosted_room_players(cm_worker_room_at(a->worker, i), NULL, 0)),
            CM_U("max_players", info->max_players), CM_U("spectators", info->spectators),
            CM_N("tick_ms_p50", stats.tick_ms_p50), CM_N("tick_ms_p99", stats.tick_ms_p99),
            CM_N("cpu_s", (double)stats.cpu_us * 1.0e-6),
            CM_U("view_bytes", stats.published.view_bytes),
            CM_U("ticks_behind", stats.ticks_behind),
            CM_U("tick_percent", stats.tick_permille / 10), CM_B("slowed", stats.is_slowed),
            CM_B("isolated", a->isolated), CM_T("match", room->path),
            CM_X(streamed ? "stream" : NULL, match.match_id),
            CM_U("recorded_tick", match.committed_tick), CM_B("durable", match.durable));
    }
}

static void say_players(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    bool found = asked->room[0] == '\0';
    for (uint32_t i = 0; i < a->rooms->count; i++) {
        const cm_node_room *room = &a->rooms->rooms[i];
        if (asked->room[0] != '\0' && strcmp(asked->room, room->spec.name) != 0) {
            continue;
        }
        found = true;
        cm_hosted_player players[CAROM_PLAYERS_MAX];
        uint32_t count =
            cm_hosted_room_players(cm_worker_room_at(a->worker, i), players, CAROM_PLAYERS_MAX);
        for (uint32_t p = 0; p < count; p++) {
            cm_admin_say(reply, CM_T("room", room->spec.name), CM_U("player", players[p].player),
                         CM_T("name", players[p].name), CM_D("client_id", players[p].client_id),
                         CM_U("rtt_ms", players[p].round_trip_ms), CM_N("kbit", players[p].kbit),
                         CM_N("loss", (double)players[p].loss),
                         CM_U("late_inputs", players[p].late_inputs),
                         CM_U("refused_inputs", players[p].refused_inputs),
                         CM_U("seen_clamped", players[p].seen_clamped),
                         CM_U("rewound_ticks", players[p].rewound_ticks));
        }
    }
    if (!found) {
        cm_admin_error(reply, CM_ADMIN_NOT_FOUND, "there is no room of that name");
    }
}

static void open_room(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    cm_failure failure;
    cm_room_spec spec = asked->with;
    snprintf(spec.name, sizeof spec.name, "%s", asked->room);
    snprintf(spec.scene, sizeof spec.scene, "%s", asked->scene);
    cm_room_spec_open_by_admin(&spec);
    if (!cm_node_rooms_add(a->rooms, a->config, a->worker, a->store, &spec, &failure)) {
        cm_admin_error(reply, CM_ADMIN_ARGUMENT, failure.text);
        return;
    }
    cm_admin_report(a->log, asked, reply);
}

static void close_room(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    cm_failure failure;
    if (!cm_node_rooms_remove(a->rooms, a->worker, asked->room, &failure)) {
        cm_admin_error(reply, CM_ADMIN_CONFLICT, failure.text);
        return;
    }
    cm_admin_report(a->log, asked, reply);
}

static void kick(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    uint32_t player = asked->number < UINT32_MAX ? (uint32_t)asked->number : UINT32_MAX;
    if (!cm_worker_kick_player(a->worker, asked->room, player)) {
        cm_admin_error(reply, CM_ADMIN_NOT_FOUND,
                       "there is no such room, or nobody plays with that number");
        return;
    }
    cm_admin_report(a->log, asked, reply);
}

static void message_room(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    uint32_t player = !asked->has_number                  ? CM_WORKER_EVERYBODY
                      : asked->number < CAROM_PLAYERS_MAX ? (uint32_t)asked->number
                                                          : CAROM_PLAYERS_MAX;
    if (!cm_worker_notify(a->worker, asked->room, player, asked->text)) {
        cm_admin_error(reply, CM_ADMIN_NOT_FOUND,
                       "there is no such room, or nobody plays with that number");
        return;
    }
    cm_admin_report(a->log, asked, reply);
}

// Returns the fault of a file's name, or NULL. The server has another working directory.
static const char *check_path(const char *path)
{
    return path[0] != '/' ? "expected an absolute path of the file to make" : NULL;
}

static void backup(cm_node_admin *a, const cm_admin_request *asked, cm_admin_reply *reply)
{
    const char *wrong = check_path(asked->out);
    const cm_node_room *room = NULL;
    cm_node_backup *place = NULL;
    for (uint32_t i = 0; i < a->rooms->count; i++) {
        bool named = strcmp(a->rooms->rooms[i].spec.name, asked->room) == 0;
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
        cm_admin_error(reply, room == NULL ? CM_ADMIN_NOT_FOUND : CM_ADMIN_CONFLICT, wrong);
        return;
    }
    place->number = a->asked;
    place->match = room->match;
    memcpy(place->room, room->spec.name, sizeof place->room);
    memcpy(place->path, asked->out, sizeof place->path);
    a->later = true;
}

static void log_backup(const cm_node_admin *a, const cm_node_backup *backup,
                       const cm_store_backup_status *status, bool done)
{
    cm_log_say(a->log, done ? CM_LOG_INFO : CM_LOG_WARNING, done ? "backup" : "backup failed",
               CM_T("room", backup->room), CM_T("file", backup->path),
               done ? CM_U("tick", status->tick) : CM_T("reason", status->error));
}

bool cm_node_admin_waits(const cm_node_admin *a)
{
    bool waits = false;
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        waits = waits || a->backups[i].number != 0;
    }
    return waits;
}

uint64_t cm_node_admin_later(cm_node_admin *a, cm_line *line)
{
    for (uint32_t i = 0; i < CM_ADMIN_PEERS_MAX; i++) {
        cm_node_backup *backup = &a->backups[i];
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
            cm_line_put(line, CM_T("done", "backup"), CM_T("room", backup->room),
                        CM_T("file", backup->path), CM_U("tick", status.tick),
                        CM_U("bytes", status.bytes));
        } else {
            cm_line_text(line, "error", status.error);
        }
        *backup = (cm_node_backup){0};
        return number;
    }
    return 0;
}

static void (*const COMMANDS[CM_ADMIN_COMMAND_COUNT])(cm_node_admin *a,
                                                      const cm_admin_request *asked,
                                                      cm_admin_reply *reply) = {
    [CM_ADMIN_ROOMS] = say_rooms,
    [CM_ADMIN_PLAYERS] = say_players,
    [CM_ADMIN_OPEN] = open_room,
    [CM_ADMIN_CLOSE] = close_room,
    [CM_ADMIN_KICK] = kick,
    [CM_ADMIN_BACKUP] = backup,
    [CM_ADMIN_MESSAGE] = message_room,
};

void cm_node_admin_answer(void *user, const char *text, cm_admin_reply *reply)
{
    cm_admin_request asked;
    char wrong[256];
    if (!cm_admin_request_read(text, &asked, wrong)) {
        cm_admin_error(reply, CM_ADMIN_ARGUMENT, wrong);
    } else if (COMMANDS[asked.command] == NULL) {
        cm_admin_error(reply, CM_ADMIN_ARGUMENT, "a node cannot answer this");
    } else {
        COMMANDS[asked.command](user, &asked, reply);
    }
}
