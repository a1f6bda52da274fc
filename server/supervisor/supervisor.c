// A server of worker processes, and this one over them: it places rooms, keeps used tokens and
// bans, has the admin socket, the signals and the screen, and starts a worker that died again with
// the matches that it had. It steps nothing.
//
// Typical: 7 workers of 20 rooms; two messages a second from each.
#include "server/supervisor/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server/node/bootstrap.h"
#include "server/node/recall.h"
#include "server/supervisor/run.h"
#include "server/supervisor/signals.h"
#include "server/node/node_process.h"
#include "shared/game/game_host.h"

#define WAIT_MS 100

// Where rooms go ------------------------------------------------------------------------------

void cm_serve_tell_all(cm_serve_server *s, uint32_t but, const cm_worker_message *message)
{
    for (uint32_t i = 0; i < s->seats; i++) {
        if (i != but && cm_supervisor_lives(s->supervisor, i)) {
            cm_supervisor_tell(s->supervisor, i, message);
        }
    }
}

uint32_t cm_serve_place(cm_serve_server *s)
{
    cm_worker_load loads[CM_WORKERS_MAX];
    for (uint32_t i = 0; i < s->count; i++) {
        loads[i] = s->workers[i].load;
        loads[i].closed = s->ready && !s->workers[i].ready;
        // Rooms of the start are all there at once: nothing is refused for what they might need.
        loads[i].measured = s->ready ? loads[i].measured : loads[i].rooms;
        loads[i].rooms_max = CM_WORKER_ROOMS_MAX;
    }
    uint32_t chosen = cm_placement_choose(loads, s->count);
    if (chosen != CM_PLACEMENT_NONE) {
        s->workers[chosen].load.rooms++; // until it says how many it has
    }
    return chosen;
}

static carom_result place(cm_serve_server *s, const char *name, uint64_t match_id,
                          const char *scene, cm_failure *failure)
{
    cm_home *there = cm_homes_find(&s->homes, name);
    if (there != NULL) {
        return CAROM_OK; // a room that goes on with a match, or an older match of a room
    }
    cm_home home = {.room = {.match_id = match_id}};
    home.worker = cm_serve_place(s);
    if (home.worker == CM_PLACEMENT_NONE) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT,
                       "serve: room %s: there are more rooms than %u workers take, %u each", name,
                       s->count, CM_WORKER_ROOMS_MAX);
    }
    memcpy(home.room.name, name, strlen(name) + 1);
    snprintf(home.room.scene, sizeof home.room.scene, "%s", scene);
    home.room.is_default = s->homes.count == 0;
    if (!cm_homes_put(&s->homes, &home)) {
        return cm_fail(failure, CAROM_ERROR_MEMORY, "serve: out of memory");
    }
    return CAROM_OK;
}

// Of the start: the rooms that were asked for, and those of matches to go on with.
static carom_result place_rooms(cm_serve_server *s, cm_failure *failure)
{
    carom_result status = CAROM_OK;
    const cm_serve_rooms *rooms = &s->base->rooms;
    for (uint32_t i = 0; i < rooms->count && status == CAROM_OK; i++) {
        const char *scene = cm_scene_name(rooms->rooms[i].scene);
        status = place(s, rooms->rooms[i].name, 0, scene, failure);
    }
    const cm_serve_matches *matches = &s->base->matches;
    for (uint32_t i = 0; i < matches->count && status == CAROM_OK; i++) {
        status = place(s, matches->list[i].room, matches->list[i].match_id, "", failure);
    }
    if (status == CAROM_OK && s->homes.count == 0 && rooms->on_demand == NULL) {
        status = cm_serve_rooms_none(&s->base->config, failure);
    }
    return status;
}

// A worker's life, in its process -------------------------------------------------------------

static bool is_home(const cm_serve_server *s, const char *room, uint32_t worker)
{
    const cm_home *home = cm_homes_find(&s->homes, room);
    return home != NULL && home->worker == worker;
}

// At the first start every match that was found; later those that it had.
static void choose_matches(const cm_serve_server *s, uint32_t worker, cm_serve_matches *matches)
{
    const cm_serve_matches *found = &s->base->matches;
    for (uint32_t i = 0; !s->ready && i < found->count; i++) {
        if (is_home(s, found->list[i].room, worker)) {
            (void)cm_serve_matches_add(matches, &found->list[i]);
        }
    }
    for (uint32_t i = 0; s->ready && i < s->homes.count; i++) {
        const cm_home *home = &s->homes.list[i];
        cm_serve_match match = {.match_id = home->room.match_id, .known = home->room.is_proved};
        if (cm_quarantine_has(&s->refused, home->room.scene)) {
            memcpy(match.refused, home->room.scene, sizeof match.refused);
        }
        if (home->worker == worker && match.match_id != 0) {
            (void)cm_serve_matches_add(matches, &match);
        }
    }
}

static void choose_rooms(const cm_serve_server *s, uint32_t worker, cm_serve_rooms *rooms)
{
    const cm_serve_rooms *from = &s->base->rooms;
    for (uint32_t i = 0; i < from->count; i++) {
        const char *scene = cm_scene_name(from->rooms[i].scene);
        if (is_home(s, from->rooms[i].name, worker) && !cm_quarantine_has(&s->refused, scene)) {
            rooms->rooms[rooms->count++] = from->rooms[i];
        }
    }
}

// Rooms of others, on ports that are known, be they there already or not: who comes for one waits.
static void choose_elsewhere(const cm_serve_server *s, uint32_t worker, cm_homes *elsewhere)
{
    for (uint32_t i = 0; i < s->homes.count; i++) {
        cm_home home = s->homes.list[i];
        home.room.port = s->workers[home.worker].port;
        if (home.worker != worker && home.room.port != 0) {
            (void)cm_homes_put(elsewhere, &home); // no memory: it is told when they are there
        }
    }
}

static int work(void *user, uint32_t worker, int descriptor)
{
    cm_serve_server *s = user;
    static cm_serve_host host; // too large for a stack
    cm_serve_matches matches = {0};
    cm_homes elsewhere = {0};
    const char *listen = s->base->config.listen;
    memset(&host, 0, sizeof host);
    host.config = s->base->config;
    snprintf(host.config.listen, sizeof host.config.listen, "%.*s:%u",
             (int)(strrchr(listen, ':') - listen), listen, (unsigned)s->workers[worker].port);
    host.keys = s->base->keys;
    host.ticket = s->base->ticket;
    host.alone = s->homes.count == 1;
    host.apart = s->workers[worker].apart;
    host.vitals = &s->vitals[worker];
    host.rooms.refused = s->refused;
    host.rooms.on_demand = s->base->rooms.on_demand;
    choose_rooms(s, worker, &host.rooms);
    choose_matches(s, worker, &matches);
    choose_elsewhere(s, worker, &elsewhere);
    cm_serve_worker_def def = {.host = &host,
                               .matches = &matches,
                               .elsewhere = &elsewhere,
                               .used = &s->used,
                               .bans = &s->bans,
                               .banned_addresses = &s->banned_addresses,
                               .descriptor = descriptor,
                               .terminal = s->base->screen.terminal};
    carom_result result = cm_serve_worker(&def);
    cm_serve_matches_free(&matches);
    cm_homes_free(&elsewhere);
    return result == CAROM_OK ? 0 : 1;
}

void cm_serve_starts(void *user, uint32_t worker)
{
    cm_serve_server *s = user;
    (void)worker;
    if (s->base->door != NULL) {
        cm_door_db_flush(s->base->door); // its thread rests then, and holds nothing
    }
}

// Start ----------------------------------------------------------------------------------------

static void take_row(void *context, const cm_door_row *row)
{
    cm_serve_server *s = context;
    bool kept;
    if (row->kind == CM_DOOR_ROW_USED) {
        cm_used_token token = {.expires_unix_s = row->number};
        memcpy(token.id, row->id, sizeof token.id);
        kept = cm_used_tokens_add(&s->used, &token, (uint64_t)time(NULL), false);
    } else {
        bool by_address = row->kind == CM_DOOR_ROW_ADDRESS;
        kept = cm_bans_add(by_address ? &s->banned_addresses : &s->bans, row->number) &&
               cm_serve_bans_keep(&s->base->bans, by_address, row->number, true);
    }
    s->recalled = s->recalled && kept;
}

static bool tell_ban(void *user, bool by_address, uint64_t who, bool banned)
{
    cm_serve_server *s = user;
    cm_bans *bans = by_address ? &s->banned_addresses : &s->bans;
    cm_worker_message message = {.type = CM_WORKER_TOLD_BAN,
                                 .ban = {.by_address = by_address, .banned = banned, .who = who}};
    if (!banned) {
        cm_bans_remove(bans, who);
    } else if (!cm_bans_add(bans, who)) {
        return false;
    }
    cm_serve_tell_all(s, CM_PLACEMENT_NONE, &message); // none is there yet, or all
    return true;
}

static carom_result open_door(cm_serve_server *s, cm_failure *failure)
{
    uint8_t key[CM_KEY_BYTES];
    carom_result status = cm_serve_base_open_door(s->base, failure);
    cm_crypto_random(key, sizeof key);
    cm_used_tokens_init(&s->used, key);
    s->recalled = true;
    if (status == CAROM_OK && s->base->door != NULL &&
        (cm_door_db_read(s->base->door, take_row, s) != CAROM_OK || !s->recalled)) {
        status =
            cm_fail(failure, CAROM_ERROR_IO,
                    "serve: matches: door.db: it cannot be read, or has more rows than are kept");
    }
    if (status == CAROM_OK && !cm_serve_bans_each(&s->base->bans, tell_ban, s)) {
        status = cm_fail(failure, CAROM_ERROR_FULL, "serve: bans: more than are kept");
    }
    return status;
}

static void poll_all(cm_serve_server *s, uint64_t due)
{
    struct pollfd fds[CM_WORKERS_MAX + 3];
    uint64_t now = cm_serve_now_us();
    int wait = due <= now                     ? 0
               : (due - now) / 1000 < WAIT_MS ? (int)((due - now) / 1000 + 1)
                                              : WAIT_MS;
    uint32_t count = cm_supervisor_poll(s->supervisor, fds);
    fds[count++] = (struct pollfd){.fd = s->base->signals, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = cm_admin_descriptor(s->admin), .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = cm_serve_http_descriptor(s->http), .events = POLLIN};
    (void)poll(fds, count, wait);
}

static uint64_t turn(cm_serve_server *s, uint64_t now)
{
    uint64_t due = cm_supervisor_turn(s->supervisor, now);
    if (s->printed) {
        cm_serve_screen_flush();
        s->printed = false;
    }
    return cm_serve_http_turn(s->http, now) ? now : due;
}

// How the server is, for its pages.
static void look(void *user, cm_figures_server *server, cm_figures_worker *workers)
{
    const cm_serve_server *s = user;
    bool takes = false;
    uint64_t apart = 0, refused = 0;
    for (uint32_t i = 0; i < s->seats; i++) {
        const cm_serve_seat *seat = &s->workers[i];
        workers[i].is_there = i < s->count || seat->apart;
        workers[i].is_up = seat->ready;
        workers[i].restarts = seat->restarts;
        takes = takes || (i < s->count && seat->ready);
        apart += seat->apart;
    }
    for (uint32_t i = 0; i < s->refused.count; i++) {
        refused += s->refused.rows[i].faults >= CM_QUARANTINE_FAULTS;
    }
    server->values[CM_SERVER_HAS_READY] = s->ready && !s->draining && takes;
    server->values[CM_SERVER_HAS_DRAINING] = s->draining;
    server->values[CM_SERVER_HAS_BANS] = s->bans.count + s->banned_addresses.count;
    server->values[CM_SERVER_HAS_APART] = apart;
    server->values[CM_SERVER_HAS_REFUSED] = refused;
    server->values[CM_SERVER_HAS_FAULTS] = s->faults;
}

static bool is_home_of(void *user, uint32_t worker, const char *room)
{
    return is_home(user, room, worker);
}

static carom_result open_http(cm_serve_server *s, cm_failure *failure)
{
    const cm_serve_http_def def = {.base = s->base,
                                   .workers = s->seats,
                                   .look = look,
                                   .is_home = is_home_of,
                                   .ask = cm_serve_ask_page,
                                   .user = s};
    return cm_serve_http_open(&def, &s->http, failure);
}

static bool all_ready(const cm_serve_server *s)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        ready += s->workers[i].ready;
    }
    return ready == s->count;
}

static carom_result start_workers(cm_serve_server *s, cm_failure *failure)
{
    uint32_t address;
    uint16_t port;
    cm_config_address(s->base->config.listen, &address, &port);
    cm_serve_starts(s, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        s->workers[i].port = port == 0 ? 0 : (uint16_t)(port + i);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (!cm_supervisor_start(s->supervisor, i)) {
            return cm_fail(failure, CAROM_ERROR_IO, "serve: a worker could not be started: %s",
                           strerror(errno));
        }
    }
    while (!all_ready(s) && s->result == CAROM_OK) {
        uint64_t due = turn(s, cm_serve_now_us());
        if (cm_serve_signal_ends(cm_serve_signals_next(s->base->signals)) != NULL) {
            s->result = CAROM_ERROR_STATE; // before anybody could have come in
        }
        if (!all_ready(s) && s->result == CAROM_OK) {
            poll_all(s, due);
        }
    }
    *failure = s->failure;
    return s->result;
}

// Each undoes what it has made, and ends.
static void undo_workers(cm_serve_server *s)
{
    cm_worker_message message = {.type = CM_WORKER_TOLD_UNDO};
    cm_serve_tell_all(s, CM_PLACEMENT_NONE, &message);
    while (cm_supervisor_living(s->supervisor) > 0) {
        poll_all(s, turn(s, cm_serve_now_us()));
    }
}

static carom_result start(cm_serve_server *s, cm_failure *failure)
{
    const cm_worker_message start = {.type = CM_WORKER_TOLD_START};
    uint16_t ports[CM_WORKERS_MAX];
    carom_result status = place_rooms(s, failure);
    if (status == CAROM_OK) {
        status = open_door(s, failure);
    }
    if (status == CAROM_OK) {
        status = cm_serve_ask_open(s, failure);
    }
    if (status == CAROM_OK) {
        status = open_http(s, failure);
    }
    if (status == CAROM_OK) {
        status = start_workers(s, failure);
    }
    if (status == CAROM_OK && s->homes.count == 0 && s->base->rooms.on_demand == NULL) {
        status = cm_serve_rooms_none(&s->base->config, failure); // no match could go on
    }
    if (status == CAROM_OK) {
        for (uint32_t i = 0; i < s->count; i++) {
            ports[i] = s->workers[i].port;
        }
        cm_serve_tell_ports(s);
        s->ready = true;
        status = cm_serve_base_ready(s->base, s->homes.count, ports, s->count, failure);
    }
    if (status == CAROM_OK) {
        cm_serve_http_tell(s->http);
        for (uint32_t i = 0; i < s->count; i++) {
            cm_serve_log_worker(s, i);
        }
        cm_serve_tell_all(s, CM_PLACEMENT_NONE, &start);
    } else {
        s->ready = false;
        undo_workers(s);
        cm_admin_destroy(s->admin);
        s->admin = NULL;
        cm_serve_http_close(s->http);
        s->http = NULL;
        cm_serve_base_undo(s->base);
    }
    return status;
}

// The loop -------------------------------------------------------------------------------------

static void drain(cm_serve_server *s, const char *reason)
{
    s->draining = true;
    cm_notify_say(&s->base->notify, "STOPPING=1");
    for (uint32_t i = 0; i < s->seats; i++) {
        cm_worker_link_text(cm_supervisor_link(s->supervisor, i), CM_WORKER_TOLD_DRAIN, 0, reason);
        if (!cm_supervisor_lives(s->supervisor, i) && (i < s->count || s->workers[i].apart)) {
            cm_supervisor_kill(s->supervisor, i); // nor is it started again
            s->result = CAROM_ERROR_IO;           // its matches have no end
        }
    }
}

static void tell_keys(cm_serve_server *s)
{
    if (cm_serve_base_reload(s->base)) {
        cm_worker_message message = {.type = CM_WORKER_TOLD_KEYS, .keys = s->base->keys};
        cm_serve_tell_all(s, CM_PLACEMENT_NONE, &message);
        cm_crypto_wipe(&message, sizeof message);
    }
}

static void take_signal(cm_serve_server *s)
{
    int signal = cm_serve_signals_next(s->base->signals);
    const char *name = cm_serve_signal_ends(signal);
    if (name != NULL && s->draining) {
        cm_serve_base_log_stop(s->base, name);
        cm_supervisor_destroy(s->supervisor);
        _exit(1);
    }
    if (name != NULL) {
        drain(s, name);
    } else if (signal == SIGHUP) {
        cm_serve_bans_reload(&s->base->bans, &s->base->config, &s->base->log, tell_ban, s);
        tell_keys(s);
    }
}

static void show(cm_serve_server *s, uint64_t now)
{
    if (!s->base->screen.terminal || (now < s->shown_us && !s->base->screen.disturbed)) {
        return;
    }
    s->shown_us = now + (uint64_t)s->base->config.status_interval_ms * 1000;
    s->base->screen.disturbed = false;
    cm_serve_screen_erase(&s->base->screen);
    for (uint32_t i = 0; i < s->seats; i++) {
        if (s->workers[i].drawing.size > 0) {
            cm_serve_screen_draw(&s->base->screen, s->workers[i].drawing.text);
        }
    }
    cm_serve_screen_flush();
}

static void run(cm_serve_server *s)
{
    while (cm_supervisor_living(s->supervisor) > 0) {
        uint64_t now = cm_serve_now_us();
        take_signal(s);
        cm_admin_turn(s->admin, now);
        if (s->drain_asked && !s->draining) {
            drain(s, "admin");
        }
        uint64_t due = turn(s, now);
        cm_serve_base_watch_door(s->base);
        show(s, now);
        cm_notify_live(&s->base->notify, now);
        if (cm_supervisor_living(s->supervisor) > 0) {
            poll_all(s, due);
        }
    }
}

static void close_all(cm_serve_server *s)
{
    cm_admin_destroy(s->admin);
    cm_serve_http_close(s->http);
    cm_supervisor_destroy(s->supervisor);
    cm_vitals_destroy(s->vitals, s->seats);
    cm_homes_free(&s->homes);
    cm_used_tokens_free(&s->used);
    cm_bans_free(&s->bans);
    cm_bans_free(&s->banned_addresses);
    for (uint32_t i = 0; i < s->seats; i++) {
        free(s->workers[i].drawing.text);
    }
}

carom_result cm_serve_supervise(cm_serve_base *base, cm_failure *failure)
{
    static cm_serve_server s; // too large for a stack
    memset(&s, 0, sizeof s);
    s.base = base;
    s.count = cm_serve_worker_count(&base->config);
    s.seats = s.count + CM_SERVE_APART_MAX;
    s.seats = s.seats < CM_WORKERS_MAX ? s.seats : CM_WORKERS_MAX;
    cm_supervisor_def def = {.workers = s.seats,
                             .keep = base->files.lock,
                             .work = work,
                             .said = cm_serve_said,
                             .ended = cm_serve_ended,
                             .starts = cm_serve_starts,
                             .user = &s};
    s.supervisor = cm_supervisor_create(&def);
    s.vitals = cm_vitals_create(s.seats);
    if (s.supervisor == NULL || s.vitals == NULL) {
        close_all(&s);
        return cm_fail(failure, CAROM_ERROR_MEMORY, "serve: out of memory");
    }
    carom_result status = start(&s, failure);
    if (status == CAROM_OK) {
        run(&s);
        status = s.result;
    }
    close_all(&s);
    return status;
}
