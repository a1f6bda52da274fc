// One loop: what the supervisor says, then what is due. Signals of a terminal are not for it.
#include "server/node/node_process.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/node/node_admin.h"
#include "server/node/node_metrics.h"

typedef struct worker {
    cm_serve_host *host;
    cm_worker_link link;
    cm_homes elsewhere; // rooms of other workers
    cm_homes own;       // as the supervisor was told
    cm_serve_admin answers;
    cm_serve_figures figures; // for HTTP
    cm_worker_message heard;
    uint64_t asked;   // number of the question that is answered
    uint64_t loads;   // measured by the host, and told
    uint64_t tell_us; // when it is looked at which rooms came and went
    bool recount;     // of players: a second has passed
    bool undo;
} worker;

// What the host asks of its shell ----------------------------------------------------------------

static void log_line(void *user, int level, const char *json_line)
{
    worker *w = user;
    cm_worker_link_text(&w->link, CM_WORKER_SAYS_LOG, (uint32_t)level, json_line);
}

static void error(void *user, const char *text)
{
    worker *w = user;
    cm_worker_link_text(&w->link, CM_WORKER_SAYS_ERROR, 0, text);
}

static void print(void *user, const char *line)
{
    worker *w = user;
    cm_worker_link_text(&w->link, CM_WORKER_SAYS_PRINT, 0, line);
}

static void draw(void *user, bool first, const char *lines)
{
    worker *w = user;
    cm_worker_link_text(&w->link, CM_WORKER_SAYS_DRAW, first, lines);
}

static void keep_used(void *user, const cm_used_token *token)
{
    worker *w = user;
    cm_worker_message message = {.type = CM_WORKER_SAYS_USED, .used = *token};
    cm_worker_link_send(&w->link, &message);
}

static void answer_line(void *user, const char *json_line)
{
    worker *w = user;
    cm_worker_message message = {.type = CM_WORKER_SAYS_ANSWER, .ask = {.number = w->asked}};
    size_t length = strlen(json_line);
    if (length < sizeof message.ask.text) { // lines of log.h are
        memcpy(message.ask.text, json_line, length + 1);
        cm_worker_link_send(&w->link, &message);
    }
}

// What the supervisor is told -----------------------------------------------------------------

static bool is_proved(const worker *w, const cm_hosted_room *hosted)
{
    cm_match_status status;
    cm_store_status(w->host->store, cm_hosted_room_match(hosted), &status);
    return status.proved;
}

static void note_of(const worker *w, uint32_t number, cm_worker_room_note *note)
{
    const cm_serve_room *room = &w->host->rooms.rooms[number];
    cm_hosted_room *hosted = cm_worker_room_at(w->host->worker, number);
    memset(note, 0, sizeof *note);
    memcpy(note->name, room->name, strlen(room->name) + 1);
    memcpy(note->scene, cm_scene_name(room->scene), strlen(cm_scene_name(room->scene)) + 1);
    snprintf(note->module, sizeof note->module, "%s",
             cm_game_module(cm_room_game(cm_hosted_room_room(hosted)))->name);
    note->players = cm_hosted_room_players(hosted, NULL, 0);
    note->max_players = room->max_players;
    note->match_id = cm_hosted_room_recording(hosted);
    note->is_proved = is_proved(w, hosted);
    note->port = cm_worker_port(w->host->worker);
}

static bool is_told(const worker *w)
{
    bool same = w->own.count == w->host->rooms.count;
    for (uint32_t i = 0; same && i < w->own.count; i++) {
        const cm_home *home = &w->own.list[i];
        cm_hosted_room *room = cm_worker_room_at(w->host->worker, i);
        same = cm_hosted_room_recording(room) == home->room.match_id &&
               is_proved(w, room) == home->room.is_proved;
    }
    return same;
}

// Rooms that came and went since the last time. The list is in the order of the worker's rooms.
static void tell_rooms(worker *w)
{
    if (is_told(w) && !w->recount) {
        return;
    }
    cm_homes now = {0};
    cm_worker_message message = {0};
    for (uint32_t i = 0; i < w->host->rooms.count; i++) {
        cm_home home = {0};
        note_of(w, i, &home.room);
        if (!cm_homes_put(&now, &home)) {
            cm_homes_free(&now);
            return; // no memory now: with the next turn
        }
        const cm_home *before = cm_homes_find(&w->own, home.room.name);
        if (before == NULL || before->room.match_id != home.room.match_id ||
            before->room.is_proved != home.room.is_proved ||
            before->room.players != home.room.players) {
            message.type = CM_WORKER_SAYS_ROOM;
            message.room = home.room;
            cm_worker_link_send(&w->link, &message);
        }
    }
    for (uint32_t i = 0; i < w->own.count; i++) {
        if (cm_homes_find(&now, w->own.list[i].room.name) == NULL) {
            message.type = CM_WORKER_SAYS_GONE;
            message.room = w->own.list[i].room;
            cm_worker_link_send(&w->link, &message);
        }
    }
    cm_homes_free(&w->own);
    w->own = now;
    w->recount = false;
}

static void tell_load(worker *w)
{
    if (w->loads == w->host->loads) {
        return;
    }
    cm_worker_message message = {.type = CM_WORKER_SAYS_LOAD};
    message.load.permille = w->host->permille;
    message.load.rooms = w->host->rooms.count;
    w->loads = w->host->loads;
    w->recount = true;
    cm_worker_link_send(&w->link, &message);
}

static void tell_figures(worker *w, cm_worker_message_type type, uint32_t number, const void *from,
                         size_t size)
{
    static cm_worker_message message; // large, and used by the process's one loop
    message.type = type;
    message.figures.number = number;
    message.figures.size = (uint32_t)size;
    memcpy(message.figures.bytes, from, size);
    cm_worker_link_send(&w->link, &message);
}

_Static_assert(sizeof(cm_room_figures) <= CM_WORKER_TEXT_MAX, "they fit in a message");
_Static_assert(sizeof(cm_worker_figures) <= CM_WORKER_TEXT_MAX, "they fit in a message");

static void tell_room_figures(void *user, uint32_t number, const cm_room_figures *figures)
{
    tell_figures(user, CM_WORKER_SAYS_FIGURES, number, figures, sizeof *figures);
}

static void tell_totals(void *user, uint32_t rooms, const cm_worker_figures *figures)
{
    tell_figures(user, CM_WORKER_SAYS_TOTALS, rooms, figures, sizeof *figures);
}

// What it is told -----------------------------------------------------------------------------

static void answer(worker *w)
{
    cm_admin_def def = {.answer = cm_serve_admin_answer, .user = &w->answers};
    w->asked = w->heard.ask.number;
    char request[CM_ADMIN_REQUEST_MAX];
    memcpy(request, w->heard.ask.text, sizeof request);
    cm_tick_watch_rest(&w->host->tick_watch); // a scene may take long to load
    w->answers.asked = w->asked;
    w->answers.later = false;
    cm_admin_answer(&def, request, answer_line, w);
    tell_rooms(w); // before the end of the answer: whoever has it finds the room
    if (!w->answers.later) {
        answer_line(w, "");
    }
}

static void answer_later(worker *w)
{
    cm_line line;
    while ((w->asked = cm_serve_admin_later(&w->answers, &line)) != 0) {
        answer_line(w, cm_line_end(&line));
        answer_line(w, "");
    }
}

static void take_home(worker *w, bool is_there)
{
    cm_home home = {.room = w->heard.room};
    if (is_there) {
        (void)cm_homes_put(&w->elsewhere, &home); // no memory: players are told of no such room
    } else {
        cm_homes_remove(&w->elsewhere, home.room.name);
    }
}

static void take_ban(worker *w)
{
    if (w->heard.ban.banned) {
        (void)cm_worker_ban(w->host->worker, w->heard.ban.by_address, w->heard.ban.who);
    } else {
        cm_worker_unban(w->host->worker, w->heard.ban.by_address, w->heard.ban.who);
    }
}

static void hear_one(worker *w, uint64_t now_us)
{
    switch (w->heard.type) {
    case CM_WORKER_TOLD_ROOM:
        take_home(w, true);
        break;
    case CM_WORKER_TOLD_GONE:
        take_home(w, false);
        break;
    case CM_WORKER_TOLD_PORTS:
        cm_worker_set_ports(w->host->worker, w->heard.ports.port, w->heard.ports.count);
        break;
    case CM_WORKER_TOLD_REFUSE:
        cm_quarantine_add(&w->host->rooms.refused, w->heard.room.scene);
        break;
    case CM_WORKER_TOLD_START:
        cm_serve_host_log_rooms(w->host);
        break;
    case CM_WORKER_TOLD_USED:
        (void)cm_worker_recall_used(w->host->worker, &w->heard.used);
        break;
    case CM_WORKER_TOLD_BAN:
        take_ban(w);
        break;
    case CM_WORKER_TOLD_KEYS:
        cm_worker_set_keys(w->host->worker, &w->heard.keys);
        break;
    case CM_WORKER_TOLD_ASK:
        answer(w);
        break;
    case CM_WORKER_TOLD_DRAIN:
        if (!w->host->draining) {
            cm_serve_host_drain(w->host, w->heard.line.text, now_us);
        }
        break;
    case CM_WORKER_TOLD_UNDO:
        w->undo = true;
        break;
    default:
        break; // nothing of another build
    }
}

// Without a supervisor nobody would bring its rooms back, nor send anybody here.
static void end_with_supervisor(void)
{
    _exit(1);
}

static void hear(worker *w, uint64_t now_us)
{
    cm_worker_link_state state;
    while ((state = cm_worker_link_next(&w->link, &w->heard)) == CM_WORKER_LINK_MESSAGE) {
        hear_one(w, now_us);
    }
    if (state == CM_WORKER_LINK_ENDED) {
        end_with_supervisor();
    }
    cm_worker_link_flush(&w->link);
}

// While it writes and verifies it is told nothing any more; the end of the socket is the end.
static void wait_at_end(void *user, uint32_t most_ms)
{
    worker *w = user;
    struct pollfd link = {.fd = w->link.descriptor, .events = POLLIN};
    if (most_ms > 0) {
        (void)poll(&link, 1, (int)most_ms);
    }
    while (true) {
        cm_worker_link_state state = cm_worker_link_next(&w->link, &w->heard);
        if (state == CM_WORKER_LINK_ENDED) {
            end_with_supervisor();
        }
        if (state == CM_WORKER_LINK_EMPTY) {
            break;
        }
    }
    cm_worker_link_flush(&w->link);
}

// Its life ------------------------------------------------------------------------------------

static bool recall(const worker *w, const cm_serve_worker_def *def)
{
    bool whole = true;
    for (uint32_t i = 0; i < def->used->capacity; i++) {
        const cm_used_token *token = &def->used->table[i];
        if (token->expires_unix_s != 0) {
            whole = cm_worker_recall_used(w->host->worker, token) && whole;
        }
    }
    for (uint32_t i = 0; i < def->bans->count; i++) {
        whole = cm_worker_recall_ban(w->host->worker, false, def->bans->ids[i]) && whole;
    }
    for (uint32_t i = 0; i < def->banned_addresses->count; i++) {
        whole = cm_worker_recall_ban(w->host->worker, true, def->banned_addresses->ids[i]) && whole;
    }
    return whole;
}

// Before anybody can come in who would be told that there is no such room.
static bool know_homes(worker *w, const cm_homes *elsewhere)
{
    bool whole = true;
    for (uint32_t i = 0; i < elsewhere->count; i++) {
        whole = cm_homes_put(&w->elsewhere, &elsewhere->list[i]) && whole;
    }
    cm_worker_set_homes(w->host->worker, &w->elsewhere);
    return whole;
}

static carom_result open_host(worker *w, const cm_serve_worker_def *def, cm_failure *failure)
{
    if (!cm_tick_watch_open(&w->host->tick_watch)) {
        return cm_fail(failure, CAROM_ERROR_IO, "serve: a timer of processor time: %s",
                       strerror(errno));
    }
    carom_result result = cm_serve_host_open(w->host, def->matches, failure);
    if (result == CAROM_OK && !know_homes(w, def->elsewhere)) {
        result = cm_fail(failure, CAROM_ERROR_MEMORY, "serve: out of memory");
    }
    if (result == CAROM_OK && !recall(w, def)) {
        result =
            cm_fail(failure, CAROM_ERROR_FULL, "serve: matches: door.db: more rows than are kept");
    }
    return result;
}

static carom_result start(worker *w, const cm_serve_worker_def *def)
{
    cm_worker_message message = {.type = CM_WORKER_SAYS_READY};
    cm_failure failure;
    carom_result result = open_host(w, def, &failure);
    if (result != CAROM_OK) {
        cm_serve_host_undo(w->host);
        cm_worker_link_text(&w->link, CM_WORKER_SAYS_FAILED, cm_failure_is_usage(result),
                            failure.text);
    } else {
        w->answers = (cm_serve_admin){.config = &w->host->config,
                                      .rooms = &w->host->rooms,
                                      .worker = w->host->worker,
                                      .store = w->host->store,
                                      .log = &w->host->log};
        tell_rooms(w);
        message.port = cm_worker_port(w->host->worker);
        cm_worker_link_send(&w->link, &message);
    }
    return result;
}

static void wait_until(const worker *w, uint64_t due)
{
    uint64_t now = cm_serve_rest(w->host->turn_us, due);
    uint64_t left = due > now ? due - now : 0;
    left = left < 100000 ? left : 100000;
    short out = cm_worker_link_is_full(&w->link) ? POLLOUT : 0;
    struct pollfd fds[] = {{.fd = cm_worker_descriptor(w->host->worker), .events = POLLIN},
                           {.fd = w->link.descriptor, .events = (short)(POLLIN | out)}};
    struct timespec timeout = {.tv_nsec = (long)left * 1000};
    (void)ppoll(fds, sizeof fds / sizeof fds[0], &timeout, NULL);
}

static void run(worker *w)
{
    while ((!cm_worker_drained(w->host->worker) || cm_serve_admin_waits(&w->answers)) && !w->undo) {
        uint64_t now = cm_serve_now_us();
        hear(w, now);
        uint64_t due = cm_serve_host_turn(w->host, now);
        if (now >= w->tell_us || w->own.count != w->host->rooms.count) {
            w->tell_us = now + CM_SERVE_LOOK_US;
            tell_rooms(w);
        }
        tell_load(w);
        if (w->host->config.http[0] != '\0') {
            cm_serve_figures_turn(&w->figures, w->host, w->link.left_out, now);
        }
        answer_later(w);
        wait_until(w, due);
    }
}

carom_result cm_serve_worker(const cm_serve_worker_def *def)
{
    static worker w; // too large for a stack
    memset(&w, 0, sizeof w);
    w.host = def->host;
    cm_worker_link_open(&w.link, def->descriptor);
    w.host->shell = (cm_serve_shell){.user = &w,
                                     .log = log_line,
                                     .error = error,
                                     .print = print,
                                     .draw = def->terminal ? draw : NULL,
                                     .keep_used = keep_used,
                                     .wait = wait_at_end};
    w.figures = (cm_serve_figures){.room = tell_room_figures, .whole = tell_totals, .user = &w};
    carom_result result = start(&w, def);
    if (result == CAROM_OK) {
        run(&w);
        if (w.undo) {
            cm_serve_host_undo(w.host);
        } else {
            result = cm_serve_host_finish(w.host);
        }
    }
    while (cm_worker_link_flush(&w.link) && cm_worker_link_is_full(&w.link)) {
        wait_at_end(&w, 5);
    }
    cm_serve_host_close(w.host);
    cm_homes_free(&w.elsewhere);
    cm_homes_free(&w.own);
    cm_worker_link_close(&w.link);
    return result;
}
