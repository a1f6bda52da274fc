// A server in one process: a host, and round it signals, the admin socket, the service manager. For
// debuggers and profilers; no other process brings it back.
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/node/node_admin.h"
#include "server/node/recall.h"
#include "server/node/node_metrics.h"
#include "server/node/node.h"
#include "server/supervisor/http_pages.h"
#include "server/supervisor/run.h"
#include "server/supervisor/signals.h"

typedef struct alone {
    cm_serve_base *base;
    cm_serve_host host;
    cm_serve_admin answers;
    cm_admin *admin;
    cm_serve_http *http; // NULL: none
    cm_serve_figures figures;
    bool reloads; // bans of the file
} alone;

// What the host asks of its shell ----------------------------------------------------------------

static void log_line(void *user, int level, const char *json_line)
{
    alone *a = user;
    cm_serve_screen_log(&a->base->screen, level, json_line);
}

static void say_error(void *user, const char *text)
{
    (void)user;
    cm_serve_screen_error(text);
}

static void print(void *user, const char *line)
{
    alone *a = user;
    cm_serve_screen_print(&a->base->screen, line);
    cm_serve_screen_flush();
}

static void draw(void *user, bool first, const char *lines)
{
    alone *a = user;
    if (first) {
        cm_serve_screen_erase(&a->base->screen);
    }
    cm_serve_screen_draw(&a->base->screen, lines);
    cm_serve_screen_flush();
}

static void keep_used(void *user, const cm_used_token *token)
{
    const alone *a = user;
    if (a->base->door != NULL) {
        cm_serve_keep_used(a->base->door, token);
    }
}

static void keep_ban(void *user, bool by_address, uint64_t who, bool banned)
{
    const alone *a = user;
    if (a->reloads) {
        return; // the file keeps it
    }
    (void)cm_serve_bans_keep(&a->base->bans, by_address, who, banned);
    if (a->base->door != NULL) {
        cm_serve_keep_ban(a->base->door, by_address, who, banned);
    }
}

// After the first signal: the next one ends the process. What is committed stays; the match file
// opens to its last committed tick.
static void stop_at_second(alone *a)
{
    const char *name = cm_serve_signal_ends(cm_serve_signals_next(a->base->signals));
    if (name != NULL) {
        cm_serve_base_log_stop(a->base, name);
        _exit(1);
    }
}

static void wait_at_end(void *user, uint32_t most_ms)
{
    alone *a = user;
    struct pollfd signals = {.fd = a->base->signals, .events = POLLIN};
    if (most_ms > 0) {
        (void)poll(&signals, 1, (int)most_ms);
    }
    stop_at_second(a);
    cm_notify_live(&a->base->notify, cm_serve_now_us());
}

// Start ----------------------------------------------------------------------------------------

static carom_result open_admin(alone *a, cm_failure *failure)
{
    char path[CM_SERVE_ADMIN_PATH_MAX], error[512];
    cm_serve_admin_path(&a->base->config, path);
    a->answers = (cm_serve_admin){.config = &a->host.config,
                                  .rooms = &a->host.rooms,
                                  .worker = a->host.worker,
                                  .store = a->host.store,
                                  .bans = &a->base->bans,
                                  .load = &a->host.permille,
                                  .log = &a->base->log};
    if (!cm_serve_admin_fits(&a->base->config, &a->base->log)) {
        return CAROM_OK;
    }
    cm_admin_def def = {.path = path, .answer = cm_serve_admin_answer, .user = &a->answers};
    a->admin = cm_admin_create(&def, error, sizeof error);
    if (a->admin == NULL) {
        return cm_fail(failure, CAROM_ERROR_IO, "serve: admin: %s", error);
    }
    return CAROM_OK;
}

// How the server is, for its pages: this process is its worker 0.
static void look(void *user, cm_figures_server *server, cm_figures_worker *workers)
{
    const alone *a = user;
    workers[0].is_there = workers[0].is_up = true;
    server->values[CM_SERVER_HAS_READY] = !a->host.draining;
    server->values[CM_SERVER_HAS_DRAINING] = a->host.draining;
    server->values[CM_SERVER_HAS_BANS] = cm_worker_banned(a->host.worker);
}

static void take_room(void *user, uint32_t number, const cm_room_figures *figures)
{
    cm_serve_http_room(((const alone *)user)->http, 0, number, figures);
}

static void take_whole(void *user, uint32_t rooms, const cm_worker_figures *figures)
{
    cm_serve_http_whole(((const alone *)user)->http, 0, rooms, figures);
}

typedef struct topic_of {
    cm_serve_http *http;
    cm_serve_topic topic;
} topic_of;

static void take_line(void *user, const char *json_line)
{
    const topic_of *to = user;
    cm_serve_http_line(to->http, to->topic, json_line);
}

static void ask(void *user, cm_serve_topic topic, const char *request)
{
    alone *a = user;
    topic_of to = {a->http, topic};
    cm_admin_def def = {.answer = cm_serve_admin_answer, .user = &a->answers};
    cm_admin_answer(&def, request, take_line, &to);
    take_line(&to, "");
}

static carom_result open_http(alone *a, cm_failure *failure)
{
    const cm_serve_http_def def = {
        .base = a->base, .workers = 1, .look = look, .ask = ask, .user = a};
    a->figures = (cm_serve_figures){.room = take_room, .whole = take_whole, .user = a};
    return cm_serve_http_open(&def, &a->http, failure);
}

// At the start nobody is there who would have to go.
static bool recall_ban(void *user, bool by_address, uint64_t who, bool banned)
{
    const alone *a = user;
    (void)banned;
    return cm_worker_recall_ban(a->host.worker, by_address, who);
}

static bool tell_ban(void *user, bool by_address, uint64_t who, bool banned)
{
    const alone *a = user;
    if (!banned) {
        cm_worker_unban(a->host.worker, by_address, who);
    }
    return !banned || cm_worker_ban(a->host.worker, by_address, who);
}

static carom_result recall(alone *a, cm_failure *failure)
{
    carom_result status = cm_serve_base_open_door(a->base, failure);
    if (status == CAROM_OK && a->base->door != NULL) {
        status = cm_serve_recall(a->base->door, a->host.worker, &a->base->bans, failure);
    }
    if (status == CAROM_OK && !cm_serve_bans_each(&a->base->bans, recall_ban, a)) {
        status = cm_fail(failure, CAROM_ERROR_FULL, "serve: bans: more than are kept");
    }
    return status;
}

// Says that it listens when everything that can fail is done.
static carom_result start(alone *a, cm_failure *failure)
{
    cm_serve_base *base = a->base;
    a->host.config = base->config;
    a->host.keys = base->keys;
    a->host.ticket = base->ticket;
    a->host.rooms = base->rooms;
    base->rooms.count = 0; // they are the host's now
    a->host.alone = true;
    a->host.shell = (cm_serve_shell){.user = a,
                                     .log = log_line,
                                     .error = say_error,
                                     .print = print,
                                     .draw = base->screen.terminal ? draw : NULL,
                                     .keep_used = keep_used,
                                     .keep_ban = keep_ban,
                                     .wait = wait_at_end};
    carom_result status = cm_serve_host_open(&a->host, &base->matches, failure);
    if (status == CAROM_OK && a->host.rooms.count == 0 && a->host.rooms.on_demand == NULL) {
        status = cm_serve_rooms_none(&base->config, failure);
    }
    if (status == CAROM_OK) {
        status = recall(a, failure);
    }
    if (status == CAROM_OK) {
        status = open_admin(a, failure);
    }
    if (status == CAROM_OK) {
        status = open_http(a, failure);
    }
    if (status == CAROM_OK) {
        uint16_t port = cm_worker_port(a->host.worker);
        status = cm_serve_base_ready(base, a->host.rooms.count, &port, 1, failure);
    }
    if (status == CAROM_OK) {
        cm_serve_http_tell(a->http);
        cm_serve_host_log_rooms(&a->host);
    } else {
        cm_admin_destroy(a->admin);
        a->admin = NULL;
        cm_serve_http_close(a->http);
        a->http = NULL;
        cm_serve_host_undo(&a->host);
        cm_serve_base_undo(base);
    }
    return status;
}

// The loop -------------------------------------------------------------------------------------

static void wait_until(const alone *a, uint64_t due)
{
    uint64_t now = cm_serve_rest(a->host.turn_us, due);
    uint64_t left = due > now ? due - now : 0;
    left = left < 100000 ? left : 100000;
    struct pollfd fds[] = {{.fd = cm_worker_descriptor(a->host.worker), .events = POLLIN},
                           {.fd = a->base->signals, .events = POLLIN},
                           {.fd = cm_admin_descriptor(a->admin), .events = POLLIN},
                           {.fd = cm_serve_http_descriptor(a->http), .events = POLLIN}};
    struct timespec timeout = {.tv_nsec = (long)left * 1000};
    (void)ppoll(fds, sizeof fds / sizeof fds[0], &timeout,
                NULL); // interrupted or not, the loop goes on
}

static void begin_drain(alone *a, const char *reason, uint64_t now)
{
    cm_notify_say(&a->base->notify, "STOPPING=1");
    cm_serve_host_drain(&a->host, reason, now);
}

static void take_signal(alone *a, uint64_t now)
{
    int signal = cm_serve_signals_next(a->base->signals);
    if (cm_serve_signal_ends(signal) != NULL) {
        begin_drain(a, cm_serve_signal_ends(signal), now);
    } else if (signal == SIGHUP) {
        a->reloads = true;
        cm_serve_bans_reload(&a->base->bans, &a->base->config, &a->base->log, tell_ban, a);
        a->reloads = false;
        if (cm_serve_base_reload(a->base)) {
            cm_worker_set_keys(a->host.worker, &a->base->keys);
        }
    }
}

static void answer_later(alone *a)
{
    cm_line line;
    uint64_t number;
    while ((number = cm_serve_admin_later(&a->answers, &line)) != 0) {
        cm_admin_reply *reply = cm_admin_find(a->admin, number);
        if (reply != NULL) { // who asked may be gone
            cm_admin_say(reply, cm_line_end(&line));
        }
        cm_admin_done(a->admin, number);
    }
}

static void run(alone *a)
{
    while (!cm_worker_drained(a->host.worker) || cm_serve_admin_waits(&a->answers)) {
        uint64_t now = cm_serve_now_us();
        if (a->host.draining) {
            stop_at_second(a);
        } else {
            take_signal(a, now);
        }
        answer_later(a);
        cm_admin_turn(a->admin, now);
        if (a->answers.drain && !a->host.draining) {
            begin_drain(a, "admin", now);
        }
        if (a->base->screen.disturbed) {
            a->base->screen.disturbed = false;
            a->host.status_us = 0;
        }
        uint64_t due = cm_serve_host_turn(&a->host, now);
        if (a->http != NULL) {
            cm_serve_figures_turn(&a->figures, &a->host, 0, now);
            due = cm_serve_http_turn(a->http, now) ? now : due;
        }
        cm_serve_base_watch_door(a->base);
        cm_notify_live(&a->base->notify, now);
        wait_until(a, due);
    }
}

carom_result cm_serve_alone(cm_serve_base *base, cm_failure *failure)
{
    static alone a; // too large for a stack
    memset(&a, 0, sizeof a);
    a.base = base;
    carom_result status = start(&a, failure);
    if (status == CAROM_OK) {
        run(&a);
        cm_admin_destroy(a.admin);
        a.admin = NULL;
        cm_serve_http_close(a.http); // while it verifies, nobody is answered
        a.http = NULL;
        status = cm_serve_host_finish(&a.host);
    }
    cm_serve_host_close(&a.host);
    return status;
}
