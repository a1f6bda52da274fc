// Receives the supervisor's messages, then does what is due.
#include "server/node/node_control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/node/module_loader.h"
#include "server/node/node_admin.h"
#include "server/node/node_metrics.h"

typedef enum node_state {
    NODE_BOOTS,
    NODE_OPEN, // its rooms are there, players may not come in yet
    NODE_RUNS,
    NODE_OVER,
} node_state;

struct cm_node_control {
    cm_node_control_def def;
    node_state state;
    carom_result result;
    cm_node host;
    cm_worker_link *link;
    cm_unfinished_matches matches; // to go on with
    uint8_t *part;                 // of what is told in parts
    size_t part_size;
    cm_scene *scene;             // told last
    cm_failure failure;          // of the start
    cm_room_directory elsewhere; // rooms of other workers
    cm_room_directory own;       // as the supervisor was told
    cm_node_admin answers;
    cm_node_metrics metrics; // for HTTP
    cm_worker_message received;
    uint64_t asked;   // number of the question that is answered
    uint64_t loads;   // measured by the host, and told
    uint64_t tell_us; // when it is looked at which rooms came and went
    bool recount;     // of players: a second has passed
    bool undo;
};

// The shell of a node -----------------------------------------------------------------------------

static void log_line(void *user, int level, const char *json_line)
{
    cm_node_control *w = user;
    cm_worker_link_text(w->link, CM_WORKER_SENDS_LOG, (uint32_t)level, json_line);
}

static void error(void *user, const char *text)
{
    cm_node_control *w = user;
    cm_worker_link_text(w->link, CM_WORKER_SENDS_ERROR, 0, text);
}

static void print(void *user, const char *line)
{
    cm_node_control *w = user;
    cm_worker_link_text(w->link, CM_WORKER_SENDS_PRINT, 0, line);
}

static void draw(void *user, bool first, const char *lines)
{
    cm_node_control *w = user;
    cm_worker_link_text(w->link, CM_WORKER_SENDS_DRAW, first, lines);
}

static void keep_used(void *user, const cm_used_token *token)
{
    cm_node_control *w = user;
    cm_worker_message message = {.type = CM_WORKER_SENDS_USED, .used = *token};
    cm_worker_link_send(w->link, &message);
}

static void answer_line(void *user, const char *json_line)
{
    cm_node_control *w = user;
    cm_worker_message message = {.type = CM_WORKER_SENDS_ANSWER, .ask = {.number = w->asked}};
    size_t length = strlen(json_line);
    if (length < sizeof message.ask.text) { // lines of log.h are
        memcpy(message.ask.text, json_line, length + 1);
        cm_worker_link_send(w->link, &message);
    }
}

static void send_room(cm_node_control *w, cm_worker_message_type type, const char *room)
{
    cm_worker_message message = {.type = type};
    snprintf(message.room.name, sizeof message.room.name, "%s", room);
    cm_worker_link_send(w->link, &message);
}

static bool over_budget(void *user, const char *room)
{
    send_room(user, CM_WORKER_SENDS_OVER, room);
    return true;
}

static void released(void *user, const char *room)
{
    send_room(user, CM_WORKER_SENDS_RELEASED, room);
}

static void cut(void *user, uint64_t match_id)
{
    cm_node_control *w = user;
    cm_worker_message message = {.type = CM_WORKER_SENDS_CUT, .match = {.match_id = match_id}};
    cm_worker_link_send(w->link, &message);
}

// Messages to the supervisor ------------------------------------------------------------------

static bool is_proved(const cm_node_control *w, const cm_hosted_room *hosted)
{
    cm_match_status status;
    cm_store_status(w->host.store, cm_hosted_room_match(hosted), &status);
    return status.proved;
}

static cm_room_info info_of(const cm_node_control *w, uint32_t number)
{
    cm_hosted_room *room = cm_worker_room_at(w->host.worker, number);
    cm_room_info info = *cm_hosted_room_info(room);
    info.is_proved = is_proved(w, room);
    info.port = cm_worker_port(w->host.worker);
    return info;
}

static bool is_sent(const cm_node_control *w)
{
    bool same = w->own.count == w->host.rooms.count;
    for (uint32_t i = 0; same && i < w->own.count; i++) {
        const cm_directory_entry *entry = &w->own.list[i];
        cm_hosted_room *room = cm_worker_room_at(w->host.worker, i);
        same = cm_hosted_room_recording(room) == entry->room.match_id &&
               is_proved(w, room) == entry->room.is_proved;
    }
    return same;
}

// Rooms that came and went since the last time. The list is in the order of the worker's rooms.
static void send_rooms(cm_node_control *w)
{
    if (is_sent(w) && !w->recount) {
        return;
    }
    cm_room_directory now = {0};
    cm_worker_message message = {0};
    for (uint32_t i = 0; i < w->host.rooms.count; i++) {
        cm_directory_entry entry = {.room = info_of(w, i)};
        if (!cm_room_directory_put(&now, &entry)) {
            cm_room_directory_free(&now);
            return; // no memory now: with the next turn
        }
        const cm_directory_entry *before = cm_room_directory_find(&w->own, entry.room.name);
        if (before == NULL || before->room.match_id != entry.room.match_id ||
            before->room.is_proved != entry.room.is_proved ||
            before->room.players != entry.room.players) {
            message.type = CM_WORKER_SENDS_ROOM;
            message.room = entry.room;
            cm_worker_link_send(w->link, &message);
        }
    }
    for (uint32_t i = 0; i < w->own.count; i++) {
        if (cm_room_directory_find(&now, w->own.list[i].room.name) == NULL) {
            message.type = CM_WORKER_SENDS_GONE;
            message.room = w->own.list[i].room;
            cm_worker_link_send(w->link, &message);
        }
    }
    cm_room_directory_free(&w->own);
    w->own = now;
    w->recount = false;
}

static void send_load(cm_node_control *w)
{
    if (w->loads == w->host.loads) {
        return;
    }
    cm_worker_message message = {.type = CM_WORKER_SENDS_LOAD};
    message.load.permille = w->host.permille;
    message.load.rooms = w->host.rooms.count;
    w->loads = w->host.loads;
    w->recount = true;
    cm_worker_link_send(w->link, &message);
}

static void send_metrics(cm_node_control *w, cm_worker_message_type type, uint32_t number,
                         const void *from, size_t size)
{
    static cm_worker_message message; // large, and used by the process's one loop
    message.type = type;
    message.metrics.number = number;
    message.metrics.size = (uint32_t)size;
    memcpy(message.metrics.bytes, from, size);
    cm_worker_link_send(w->link, &message);
}

_Static_assert(sizeof(cm_room_metrics) <= CM_WORKER_TEXT_MAX, "they fit in a message");
_Static_assert(sizeof(cm_worker_metrics) <= CM_WORKER_TEXT_MAX, "they fit in a message");

static void send_room_metrics(void *user, uint32_t number, const cm_room_metrics *metrics)
{
    send_metrics(user, CM_WORKER_SENDS_METRICS, number, metrics, sizeof *metrics);
}

static void send_totals(void *user, uint32_t rooms, const cm_worker_metrics *metrics)
{
    send_metrics(user, CM_WORKER_SENDS_TOTALS, rooms, metrics, sizeof *metrics);
}

// Messages from the supervisor ----------------------------------------------------------------

static void answer(cm_node_control *w)
{
    cm_admin_def def = {.answer = cm_node_admin_answer, .user = &w->answers};
    w->asked = w->received.ask.number;
    char request[CM_ADMIN_REQUEST_MAX];
    memcpy(request, w->received.ask.text, sizeof request);
    cm_tick_watch_rest(&w->host.tick_watch); // a scene may take long to load
    w->answers.asked = w->asked;
    w->answers.later = false;
    (void)cm_admin_answer(&def, request, 0, answer_line, w);
    send_rooms(w); // before the end of the answer: whoever has it finds the room
    if (!w->answers.later) {
        answer_line(w, "");
    }
}

static void answer_later(cm_node_control *w)
{
    cm_line line;
    while ((w->asked = cm_node_admin_later(&w->answers, &line)) != 0) {
        answer_line(w, cm_line_end(&line));
        answer_line(w, "");
    }
}

static void add_entry(cm_node_control *w, bool is_there)
{
    cm_directory_entry entry = {.room = w->received.room};
    if (is_there) {
        (void)cm_room_directory_put(&w->elsewhere,
                                    &entry); // no memory: players are told of no such room
    } else {
        cm_room_directory_remove(&w->elsewhere, entry.room.name);
    }
}

// It is known to be elsewhere before its players ask for it here. Where its match cannot go on it
// stays, and is slowed.
static void release(cm_node_control *w)
{
    cm_directory_entry entry = {.room = w->received.room};
    const char *name = entry.room.name;
    bool goes = cm_room_directory_put(&w->elsewhere, &entry) &&
                cm_node_rooms_release(&w->host.rooms, w->host.worker, w->host.store, name);
    if (!goes) {
        cm_room_directory_remove(&w->elsewhere, name);
        cm_worker_slow(w->host.worker, name);
        send_room(w, CM_WORKER_SENDS_KEPT, name);
    }
}

static bool apply_ban(cm_node_control *w)
{
    if (w->received.ban.reason[0] != '\0') {
        cm_worker_tell_ban(w->host.worker, w->received.ban.by_address, w->received.ban.who,
                           w->received.ban.reason);
    }
    if (!w->received.ban.banned) {
        cm_worker_unban(w->host.worker, w->received.ban.by_address, w->received.ban.who);
        return true;
    }
    cm_worker_unban(w->host.worker, w->received.ban.by_address, w->received.ban.who); // its reason
    bool is_told = !w->received.ban.by_address && w->received.ban.reason[0] != '\0';
    return cm_worker_ban(w->host.worker, w->received.ban.by_address, w->received.ban.who) &&
           (!is_told ||
            cm_worker_keep_ban_reason(w->host.worker, w->received.ban.who, w->received.ban.reason));
}

static void on_message(cm_node_control *w, uint64_t now_us)
{
    switch (w->received.type) {
    case CM_WORKER_RECEIVES_ROOM:
        add_entry(w, true);
        break;
    case CM_WORKER_RECEIVES_GONE:
        add_entry(w, false);
        break;
    case CM_WORKER_RECEIVES_PORTS:
        cm_worker_set_ports(w->host.worker, w->received.ports.port, w->received.ports.count);
        break;
    case CM_WORKER_RECEIVES_REFUSE:
        cm_quarantine_add(&w->host.rooms.refused, w->received.room.scene);
        break;
    case CM_WORKER_RECEIVES_START:
        cm_node_log_rooms(&w->host);
        break;
    case CM_WORKER_RECEIVES_USED:
        (void)cm_worker_recall_used(w->host.worker, &w->received.used);
        break;
    case CM_WORKER_RECEIVES_BAN:
        (void)apply_ban(w);
        break;
    case CM_WORKER_RECEIVES_KEYS:
        cm_worker_set_keys(w->host.worker, &w->received.keys);
        break;
    case CM_WORKER_RECEIVES_SLOW:
        cm_worker_slow(w->host.worker, w->received.room.name);
        break;
    case CM_WORKER_RECEIVES_RELEASE:
        release(w);
        break;
    case CM_WORKER_RECEIVES_ASK:
        answer(w);
        break;
    case CM_WORKER_RECEIVES_DRAIN:
        if (!w->host.draining && w->received.line.level == 1) {
            cm_node_hand_over(&w->host, w->received.line.text, now_us);
        } else if (!w->host.draining) {
            cm_node_drain(&w->host, w->received.line.text, now_us);
        }
        break;
    case CM_WORKER_RECEIVES_END:
        cm_worker_wind_down(w->host.worker, w->received.end.us);
        break;
    case CM_WORKER_RECEIVES_CUT:
        cm_worker_match_cut(w->host.worker, w->received.match.match_id);
        break;
    case CM_WORKER_RECEIVES_SOCKET:
        if (w->received.socket.descriptor >= 0) {
            cm_worker_add_socket(w->host.worker, w->received.socket.descriptor,
                                 &w->received.socket.from, w->received.socket.accept);
        }
        break;
    case CM_WORKER_RECEIVES_UNDO:
        w->undo = true;
        break;
    default:
        break; // it is of the start
    }
}

// The start ------------------------------------------------------------------------------------

static void unpack_scene(cm_node_control *w, cm_scene **scene)
{
    cm_scene_error error;
    cm_scene_free(*scene);
    if (cm_scene_unpack(w->part, w->part_size, NULL, scene, &error) != CAROM_OK) {
        w->result = cm_fail(&w->failure, CAROM_ERROR_CORRUPT, "serve: a scene: %s: %s", error.path,
                            error.message);
    }
}

// A node of the supervisor's own process has its modules already.
static void load_module(cm_node_control *w, const uint8_t *bytes, size_t size)
{
    if (w->def.own_process && w->result == CAROM_OK &&
        cm_module_load_bytes(bytes, size, w->failure.text, sizeof w->failure.text) != CAROM_OK) {
        w->result = CAROM_ERROR_ARGUMENT;
    }
}

static void add_part(cm_node_control *w)
{
    size_t total = w->received.part.total, size = w->received.part.size;
    uint8_t *part = w->part_size == 0 ? malloc(total > 0 ? total : 1) : w->part;
    w->part = part;
    if (part == NULL || size > total - w->part_size) {
        w->result = cm_fail(&w->failure, CAROM_ERROR_MEMORY, "serve: out of memory");
        free(part);
        w->part = NULL;
        w->part_size = 0;
        return;
    }
    memcpy(part + w->part_size, w->received.part.bytes, size);
    w->part_size += size;
    if (w->part_size < total) {
        return;
    }
    if (w->received.part.what == CM_WORKER_PART_SCENE) {
        unpack_scene(w, &w->scene);
    } else if (w->received.part.what == CM_WORKER_PART_ON_DEMAND) {
        unpack_scene(w, &w->host.rooms.on_demand);
    } else if (w->received.part.what == CM_WORKER_PART_MODULE) {
        load_module(w, part, total);
    } else if (total == sizeof w->host.config) {
        memcpy(&w->host.config, part, total);
    }
    free(part);
    w->part = NULL;
    w->part_size = 0;
}

static void add_room(cm_node_control *w)
{
    cm_node_rooms *rooms = &w->host.rooms;
    if (w->scene == NULL || rooms->count == CM_WORKER_ROOMS_MAX) {
        return; // its scene was not taken, which is a failure already
    }
    cm_node_room *room = &rooms->rooms[rooms->count++];
    carom_world_def world;
    cm_scene_world_def(w->scene, &world);
    room->spec = w->received.open;
    room->scene = w->scene;
    room->tick_rate = world.tick_rate;
    w->scene = NULL;
}

static carom_result open_all(cm_node_control *w)
{
    if (w->result != CAROM_OK) {
        return w->result;
    }
    if (w->def.own_process && !cm_tick_watch_open(&w->host.tick_watch)) {
        return cm_fail(&w->failure, CAROM_ERROR_IO, "serve: a timer of processor time: %s",
                       strerror(errno));
    }
    carom_result result = cm_node_open(&w->host, &w->matches, &w->failure);
    if (result == CAROM_OK) { // before anybody can come in who would be told of no such room
        cm_worker_set_directory(w->host.worker, &w->elsewhere);
    }
    return result;
}

// It could not start: what it made goes.
static void undo(cm_node_control *w)
{
    cm_node_undo(&w->host);
    cm_worker_link_text(w->link, CM_WORKER_SENDS_FAILED, cm_failure_is_usage(w->result),
                        w->failure.text);
    w->state = NODE_OVER;
}

static void let_in(cm_node_control *w)
{
    cm_worker_message message = {.type = CM_WORKER_SENDS_READY};
    if (w->result != CAROM_OK) {
        undo(w);
        return;
    }
    w->answers = (cm_node_admin){.config = &w->host.config,
                                 .rooms = &w->host.rooms,
                                 .worker = w->host.worker,
                                 .store = w->host.store,
                                 .isolated = w->host.isolated,
                                 .log = &w->host.log};
    w->state = NODE_RUNS;
    send_rooms(w);
    message.port = cm_worker_port(w->host.worker);
    cm_worker_link_send(w->link, &message);
}

// The supervisor sends all of the start at once, so nothing else comes before LET_IN.
static void on_boot_message(cm_node_control *w)
{
    switch (w->received.type) {
    case CM_WORKER_RECEIVES_PART:
        add_part(w);
        break;
    case CM_WORKER_RECEIVES_BOOT:
        w->host.only_room = w->received.boot.only_room;
        w->host.isolated = w->received.boot.isolated;
        w->host.shell.draw = w->received.boot.terminal ? draw : NULL;
        break;
    case CM_WORKER_RECEIVES_TICKET:
        w->host.ticket = w->received.ticket;
        break;
    case CM_WORKER_RECEIVES_KEYS:
        w->host.keys = w->received.keys;
        break;
    case CM_WORKER_RECEIVES_OPEN:
        add_room(w);
        break;
    case CM_WORKER_RECEIVES_MATCH:
        (void)cm_unfinished_matches_add(&w->matches, &w->received.match);
        break;
    case CM_WORKER_RECEIVES_OPEN_ALL:
        w->result = open_all(w);
        w->state = NODE_OPEN;
        if (w->result != CAROM_OK) {
            undo(w);
        }
        break;
    default:
        on_message(w, 0); // of rooms of others, and of scenes that are refused
        break;
    }
}

// Between OPEN_ALL and LET_IN: who may not come in.
static void on_open_message(cm_node_control *w)
{
    bool kept = true;
    if (w->received.type == CM_WORKER_RECEIVES_LET_IN) {
        let_in(w);
    } else if (w->received.type == CM_WORKER_RECEIVES_USED) {
        kept = cm_worker_recall_used(w->host.worker, &w->received.used);
    } else if (w->received.type == CM_WORKER_RECEIVES_BAN) {
        kept = apply_ban(w);
    } else if (w->received.type == CM_WORKER_RECEIVES_END) {
        cm_worker_wind_down(w->host.worker, w->received.end.us);
    } else if (w->received.type == CM_WORKER_RECEIVES_CUT) {
        cm_worker_match_cut(w->host.worker, w->received.match.match_id);
    }
    if (!kept) {
        w->result = cm_fail(&w->failure, CAROM_ERROR_FULL,
                            "serve: matches: gate.db: more rows than are kept");
    }
}

// Without a supervisor nobody would bring its rooms back, nor send anybody here.
static void end_with_supervisor(const cm_node_control *w)
{
    if (w->def.own_process) {
        _exit(1);
    }
}

static void receive(cm_node_control *w, uint64_t now_us)
{
    cm_worker_link_state state;
    while ((state = cm_worker_link_next(w->link, &w->received)) == CM_WORKER_LINK_MESSAGE &&
           w->state != NODE_OVER) {
        if (w->state == NODE_BOOTS) {
            on_boot_message(w);
        } else if (w->state == NODE_OPEN) {
            on_open_message(w);
        } else {
            on_message(w, now_us);
        }
    }
    if (state == CM_WORKER_LINK_ENDED || state == CM_WORKER_LINK_BROKEN) {
        end_with_supervisor(w);
    }
    cm_worker_link_flush(w->link);
}

// Nobody takes it: it does not run, or no more.
static void drop_socket(const cm_node_control *w)
{
    if (w->received.type == CM_WORKER_RECEIVES_SOCKET && w->received.socket.descriptor >= 0) {
        close(w->received.socket.descriptor);
    }
}

// While it writes and verifies it is told nothing any more.
static void wait_at_end(void *user, uint32_t most_ms)
{
    cm_node_control *w = user;
    cm_worker_link_state state;
    w->def.wait(w->def.user, most_ms);
    while ((state = cm_worker_link_next(w->link, &w->received)) == CM_WORKER_LINK_MESSAGE) {
        drop_socket(w);
    }
    if (state != CM_WORKER_LINK_EMPTY) {
        end_with_supervisor(w);
    }
    cm_worker_link_flush(w->link);
}

// Its life ------------------------------------------------------------------------------------

cm_node_control *cm_node_control_create(const cm_node_control_def *def)
{
    cm_node_control *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->def = *def;
    w->link = def->link;
    w->host.crash_marker = def->crash_marker;
    w->host.shell = (cm_node_shell){.user = w,
                                    .log = log_line,
                                    .error = error,
                                    .print = print,
                                    .keep_used = keep_used,
                                    .over_budget = over_budget,
                                    .released = released,
                                    .cut = cut,
                                    .wait = wait_at_end};
    w->metrics = (cm_node_metrics){.room = send_room_metrics, .whole = send_totals, .user = w};
    return w;
}

void cm_node_control_destroy(cm_node_control *w)
{
    if (w == NULL) {
        return;
    }
    cm_scene *on_demand = w->host.rooms.on_demand; // that rooms share
    cm_node_close(&w->host);
    cm_scene_free(on_demand);
    cm_scene_free(w->scene);
    cm_unfinished_matches_free(&w->matches);
    cm_room_directory_free(&w->elsewhere);
    cm_room_directory_free(&w->own);
    free(w->part);
    free(w);
}

static void end(cm_node_control *w)
{
    if (w->undo) {
        cm_node_undo(&w->host);
    } else {
        w->result = cm_node_finish(&w->host);
    }
    w->state = NODE_OVER;
}

uint64_t cm_node_control_turn(cm_node_control *w, uint64_t now_us)
{
    receive(w, now_us);
    if (w->state != NODE_RUNS) {
        return UINT64_MAX; // until it is told more
    }
    bool is_over = w->undo || w->host.handed_over;
    if (is_over || (cm_worker_drained(w->host.worker) && !cm_node_admin_waits(&w->answers))) {
        end(w);
        return now_us;
    }
    uint64_t due = cm_node_turn(&w->host, now_us);
    if (now_us >= w->tell_us || w->own.count != w->host.rooms.count) {
        w->tell_us = now_us + CM_SERVE_LOOK_US;
        send_rooms(w);
    }
    send_load(w);
    if (w->host.config.http[0] != '\0') {
        cm_node_metrics_turn(&w->metrics, &w->host, w->link->left_out, now_us);
    }
    answer_later(w);
    return due;
}

bool cm_node_control_is_over(const cm_node_control *w, carom_result *result)
{
    *result = w->result;
    return w->state == NODE_OVER;
}

int cm_node_control_sockets_descriptor(const cm_node_control *w)
{
    return w->state == NODE_RUNS ? cm_worker_sockets_descriptor(w->host.worker) : -1;
}

int cm_node_control_descriptor(const cm_node_control *w)
{
    return w->state == NODE_RUNS ? cm_worker_descriptor(w->host.worker) : -1;
}

uint64_t cm_node_control_rest(const cm_node_control *w, uint64_t due_us)
{
    return w->state == NODE_RUNS ? cm_node_rest(w->host.turn_us, due_us) : cm_now_us();
}
