// The worker's turn, and beside it what nobody but the process sees: whether recordings are whole,
// how the rooms are. Typical: 20 rooms, a status line a second for each.
#include "server/node/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "server/node/placement.h"
#include "server/node/room_status.h"
#include "server/record/format/sign_key.h"

#define SECOND_US 1000000u

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

uint64_t cm_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

uint64_t cm_unix_ms(void)
{
    return clock_us(CLOCK_REALTIME) / 1000;
}

uint64_t cm_node_rest(uint64_t turn_us, uint64_t due_us)
{
    uint64_t until_us = turn_us + CM_SERVE_TURN_US, now_us = cm_now_us();
    until_us = due_us < until_us ? due_us : until_us;
    if (until_us > now_us) {
        struct timespec rest = {.tv_nsec = (long)(until_us - now_us) * 1000};
        (void)nanosleep(&rest, NULL); // a signal may end it early
        now_us = cm_now_us();
    }
    return now_us;
}

static uint64_t monotonic_us(void *user)
{
    (void)user;
    return cm_now_us();
}

static uint64_t processor_us(void *user)
{
    (void)user;
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

// Start ----------------------------------------------------------------------------------------

static carom_result open_store(cm_node *host, cm_failure *failure)
{
    uint8_t secret[CM_SIGN_KEY_BYTES];
    bool sign = host->config.sign_key[0] != '\0';
    char error[512];
    if (sign && cm_sign_key_read(host->config.sign_key, secret, error, sizeof error) != CAROM_OK) {
        return cm_fail(failure, CAROM_ERROR_ARGUMENT, "serve: sign_key: %s", error);
    }
    cm_store_def store = {.directory = host->config.matches,
                          .threaded = true,
                          .durability_power = strcmp(host->config.durability, "power") == 0,
                          .queue_max = 64u << 20,
                          .catalogue = host->config.db,
                          .secret = sign ? secret : NULL};
    carom_result result = cm_store_create(&store, &host->store);
    cm_crypto_wipe(secret, sizeof secret);
    if (result == CAROM_ERROR_FULL || result == CAROM_ERROR_MEMORY) {
        return cm_fail(failure, CAROM_ERROR_IO,
                       result == CAROM_ERROR_MEMORY
                           ? "serve: matches: out of memory"
                           : "serve: matches: no thread that writes them could be started: %s, "
                             "expected fewer processes of this user, or a higher limit of them "
                             "(RLIMIT_NPROC)",
                       strerror(errno));
    }
    if (result != CAROM_OK) {
        return cm_fail(
            failure, CAROM_ERROR_IO,
            "serve: matches: %s: %s, expected a directory, or a path where one can be made",
            host->config.matches,
            result == CAROM_ERROR_IO ? strerror(errno) : carom_result_text(result));
    }
    return CAROM_OK;
}

static void keep_used(void *user, const cm_used_token *token)
{
    const cm_node_shell *shell = &((const cm_node *)user)->shell;
    shell->keep_used(shell->user, token);
}

static void write_log(void *user, int level, const char *json_line)
{
    const cm_node_shell *shell = &((const cm_node *)user)->shell;
    shell->log(shell->user, level, json_line);
}

static bool open_room(void *user, const char *name)
{
    cm_node *host = user;
    cm_failure failure = {"80% of the processor is in use, or the worker is another room's alone"};
    bool opened = !host->isolated && host->permille < CM_PLACEMENT_MOST &&
                  cm_node_rooms_demand(&host->rooms, &host->config, host->worker, host->store, name,
                                       &failure);
    cm_log_say(&host->log, opened ? CM_LOG_INFO : CM_LOG_WARNING,
               opened ? "room opened" : "room not opened", CM_T("room", name),
               CM_T(opened ? "match" : "reason",
                    opened ? host->rooms.rooms[host->rooms.count - 1].path : failure.text));
    return opened;
}

static bool over_budget(void *user, const char *name)
{
    const cm_node *host = user;
    return host->shell.over_budget != NULL && !host->draining &&
           host->shell.over_budget(host->shell.user, name);
}

static carom_result open_worker(cm_node *host, cm_failure *failure)
{
    cm_worker_def def = {.config = &host->config,
                         .store = host->store,
                         .keys = host->keys.count > 0 ? &host->keys : NULL,
                         .ticket_key = &host->ticket,
                         .now_us = cm_now_us(),
                         .started_unix_ms = cm_unix_ms(),
                         .clock_us = monotonic_us,
                         .processor_us = processor_us,
                         .log = write_log,
                         .keep_used = keep_used,
                         .open_room = host->rooms.on_demand != NULL ? open_room : NULL,
                         .over_budget = over_budget,
                         .crash_marker = host->crash_marker,
                         .tick_watch = &host->tick_watch,
                         .user = host};
    if (getrandom(&def.seed, sizeof def.seed, 0) != (ssize_t)sizeof def.seed) {
        return cm_fail(failure, CAROM_ERROR_IO, "serve: no random numbers from the system: %s",
                       strerror(errno));
    }
    char error[512] = "";
    carom_result result = cm_worker_create(&def, &host->worker, error, sizeof error);
    if (result != CAROM_OK) {
        return cm_fail(failure, result, "serve: %s", error);
    }
    result = cm_node_rooms_open(&host->rooms, host->worker, NULL, failure);
    cm_node_rooms_record(&host->rooms, host->worker, host->store);
    return result;
}

void cm_node_log_rooms(const cm_node *host)
{
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        const cm_node_room *room = &host->rooms.rooms[i];
        cm_log_say(&host->log, CM_LOG_INFO, "room", CM_T("room", room->spec.name),
                   CM_T("scene", cm_scene_name(room->scene)),
                   CM_T("module", cm_scene_module(room->scene)),
                   CM_U("max_players", room->spec.max_players), CM_T("match", room->path));
    }
}

carom_result cm_node_open(cm_node *host, const cm_unfinished_matches *matches, cm_failure *failure)
{
    host->log = (cm_log){.write = host->shell.log, .user = host->shell.user};
    carom_result result = open_store(host, failure);
    if (result != CAROM_OK) {
        return result;
    }
    cm_resume_matches(&host->config, host->store, &host->log, matches, &host->rooms,
                      host->shell.cut, host->shell.user);
    if (host->config.max_clients == 0) {
        host->config.max_clients = cm_node_rooms_clients(&host->rooms);
    }
    return open_worker(host, failure);
}

void cm_node_undo(cm_node *host)
{
    cm_worker_destroy(host->worker);
    host->worker = NULL;
    if (host->store != NULL) {
        cm_store_destroy(host->store);
        host->store = NULL;
    }
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        const cm_node_room *room = &host->rooms.rooms[i];
        if (room->path[0] != '\0' && room->live == NULL) {
            unlink(room->path); // closed, it is one file
        }
    }
}

// Recordings -----------------------------------------------------------------------------------

// After a failure it goes on in another file.
static void tell_gap(cm_node *host, cm_node_room *room, const cm_match_status *match)
{
    cm_line line;
    cm_line_log(&line, CM_LOG_WARNING, "recording goes on");
    cm_line_put(&line, CM_T("room", room->spec.name), CM_T("after", room->path));
    snprintf(room->path, sizeof room->path, "%s", cm_store_path(host->store, room->match));
    cm_line_put(&line, CM_T("match", room->path), CM_U("gap_from", match->gap_from),
                CM_U("gap_to", match->gap_to));
    cm_log_write(&host->log, CM_LOG_WARNING, &line);
    room->gaps = match->gaps;
    room->failure_told = false;
    host->lost++;
    host->status_us = 0;
}

// Once, when the store says that the recording is not whole. `hosted`: NULL of a closed room.
static void watch_recording(cm_node *host, cm_node_room *room, const cm_hosted_room *hosted)
{
    cm_match_status match;
    cm_store_status(host->store, room->match, &match);
    if (match.gaps > room->gaps) {
        tell_gap(host, room, &match);
    }
    if (match.durable || room->failure_told) {
        return;
    }
    room->failure_told = true;
    host->failures++;
    host->status_us = 0; // the status says so at once
    uint64_t tick = hosted != NULL ? cm_room_tick(cm_hosted_room_room(hosted)) : 0;
    cm_log_say(&host->log, CM_LOG_ERROR, "recording failed", CM_T("room", room->spec.name),
               CM_T("match", room->path), CM_U(hosted != NULL ? "tick" : NULL, tick),
               CM_U("recorded_tick", match.committed_tick), CM_T("reason", match.error));
}

// A file that nothing may follow from keeps all of its bytes, under a name that says so: the next
// server shall not take it for a match to go on with. Its log follows it.
static void set_aside(cm_node_room *room)
{
    char left[sizeof room->path + 8], log[sizeof room->path + 16], left_log[sizeof log + 8];
    snprintf(left, sizeof left, "%s.left", room->path);
    snprintf(log, sizeof log, "%s-wal", room->path);
    snprintf(left_log, sizeof left_log, "%s-wal", left);
    if (strlen(left) < sizeof room->path && rename(room->path, left) == 0) {
        (void)rename(log, left_log);
        memcpy(room->path, left, strlen(left) + 1);
    }
}

// A room that was to be there from the start begins anew: the fault is the file's.
static void begin_anew(cm_node *host, const char *name, uint32_t left)
{
    cm_failure failure;
    cm_tick_watch_rest(&host->tick_watch); // a scene may take long to load
    bool opened =
        cm_node_rooms_anew(&host->rooms, &host->config, host->worker, host->store, name, &failure);
    if (!opened && failure.text[0] == '\0') {
        return; // it was opened later, by an operator or a player
    }
    cm_node_room *room = opened ? &host->rooms.rooms[host->rooms.count - 1] : NULL;
    if (opened) {
        room->left = left;
    }
    cm_log_say(&host->log, opened ? CM_LOG_WARNING : CM_LOG_ERROR,
               opened ? "room begins anew" : "room closed", CM_T("room", name),
               opened ? CM_T("match", room->path) : CM_T("reason", failure.text));
}

// A resumed match did not prove itself: neither its file nor its room goes on. One at a time.
static void close_left(cm_node *host)
{
    cm_failure failure;
    for (uint32_t i = 0; i < host->rooms.count && !host->draining; i++) {
        cm_node_room *room = &host->rooms.rooms[i];
        cm_match_status match;
        cm_store_status(host->store, room->match, &match);
        if (!match.left) {
            continue;
        }
        char name[sizeof room->spec.name];
        uint32_t left = room->left + 1;
        memcpy(name, room->spec.name, sizeof name);
        room->failure_told = true;
        if (!cm_node_rooms_remove(&host->rooms, host->worker, name, &failure)) {
            return; // too many are being written: later
        }
        room = &host->rooms.closing[host->rooms.closing_count - 1];
        set_aside(room);
        cm_log_say(&host->log, CM_LOG_ERROR, "match left", CM_T("room", name),
                   CM_T("match", room->path), CM_T("reason", match.error));
        begin_anew(host, name, left);
        return;
    }
}

// At the end: a recording that the catalogue does not know is not pruned, and not found by its id.
void cm_node_log_unindexed(cm_node *host, const cm_node_room *room, const cm_match_status *match)
{
    if (match->unstreamed[0] != '\0') {
        cm_log_say(&host->log, CM_LOG_WARNING, "match is not streamed", CM_T("match", room->path),
                   CM_T("reason", match->unstreamed));
    }
    if (match->unindexed[0] == '\0') {
        return;
    }
    cm_log_say(&host->log, CM_LOG_WARNING, "match is not in the index", CM_T("match", room->path),
               CM_T("reason", match->unindexed));
}

void cm_node_watch(cm_node *host)
{
    close_left(host);
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        watch_recording(host, &host->rooms.rooms[i], cm_worker_room_at(host->worker, i));
    }
    for (uint32_t i = host->rooms.closing_count; i-- > 0;) {
        cm_node_room *room = &host->rooms.closing[i];
        cm_match_status match;
        cm_store_status(host->store, room->match,
                        &match); // before it is watched: what was written is
        watch_recording(host, room, NULL);
        if (match.queued_bytes == 0 && !cm_worker_uses(host->worker, room->scene)) {
            cm_node_log_unindexed(host, room, &match);
            host->lost += room->failure_told;
            char released[sizeof room->spec.name];
            memcpy(released, room->spec.name, sizeof released);
            bool goes_on = room->released;
            cm_node_rooms_closed(&host->rooms, i);
            if (goes_on) {
                host->shell.released(host->shell.user, released);
            }
        }
    }
}

// The status -----------------------------------------------------------------------------------

static void fill_status(cm_node *host, uint32_t number, cm_status *status)
{
    const cm_node_room *room = &host->rooms.rooms[number];
    const cm_hosted_room *hosted = cm_worker_room_at(host->worker, number);
    memset(status, 0, sizeof *status);
    cm_worker_room_stats_get(host->worker, number, &status->worker);
    status->left = room->left;
    status->client_count = cm_hosted_room_players(hosted, status->clients, CM_STATUS_CLIENTS);
    cm_store_status(host->store, room->match, &status->match);
    status->unix_ms = cm_unix_ms();
    status->tick_rate = room->tick_rate;
    status->room = room->spec.name;
    status->scene = cm_scene_name(room->scene);
    status->path = room->path;
    status->draining = host->draining;
}

void cm_node_status(cm_node *host)
{
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        cm_status status;
        cm_line line;
        char text[CM_STATUS_BLOCK_MAX];
        fill_status(host, i, &status);
        if (host->shell.draw == NULL) {
            bool full = strcmp(host->config.status, "full") == 0;
            host->shell.print(host->shell.user, cm_status_line(&status, full, &line));
            continue;
        }
        if (host->only_room && host->rooms.count == 1) {
            cm_status_block(&status, text);
        } else {
            cm_status_row(&status, text);
        }
        host->shell.draw(host->shell.user, i == 0, text);
    }
}

// Rooms that their module closed, or that nobody was in for long enough.
static void close_over(cm_node *host)
{
    cm_failure failure;
    const char *over = host->draining ? NULL : cm_worker_over(host->worker);
    for (; over != NULL; over = cm_worker_over(host->worker)) {
        cm_line line;
        cm_line_log(&line, CM_LOG_INFO, "room closed");
        cm_line_text(&line, "room", over);
        if (!cm_node_rooms_remove(&host->rooms, host->worker, over, &failure)) {
            return; // too many are being written: later
        }
        cm_log_write(&host->log, CM_LOG_INFO, &line);
    }
}

// Once a second: how much of a processor its rooms took. Of those that went meanwhile it is not
// known.
static void measure(cm_node *host, uint64_t now_us)
{
    uint64_t passed = now_us - host->load_us, cpu_us = 0;
    if (host->load_us != 0 && passed < SECOND_US) {
        return;
    }
    for (uint32_t i = 0; i < host->rooms.count; i++) {
        cm_hosted_room_stats stats;
        cm_hosted_room_counts_get(cm_worker_room_at(host->worker, i), &stats);
        cpu_us += stats.cpu_us;
    }
    uint64_t spent = cpu_us > host->load_cpu_us ? cpu_us - host->load_cpu_us : 0;
    if (host->load_us != 0) {
        host->permille = (uint32_t)(1000 * spent / passed);
        host->loads++;
    }
    host->load_us = now_us;
    host->load_cpu_us = cpu_us;
}

uint64_t cm_node_turn(cm_node *host, uint64_t now_us)
{
    host->turn_us = now_us;
    uint64_t due = cm_worker_run_once(host->worker, now_us);
    if (now_us >= host->look_us) {
        host->look_us = now_us + CM_SERVE_LOOK_US;
        cm_worker_set_wall_clock(host->worker, cm_unix_ms());
        close_over(host);
        cm_node_watch(host);
    }
    measure(host, now_us);
    if (now_us >= host->status_us) {
        cm_node_status(host);
        host->status_us = now_us + (uint64_t)host->config.status_interval_ms * 1000;
    }
    return host->rooms.closing_count > 0 && host->look_us < due ? host->look_us : due;
}

// End ------------------------------------------------------------------------------------------

void cm_node_drain(cm_node *host, const char *reason, uint64_t now_us)
{
    cm_worker_stats stats;
    host->draining = true;
    cm_tick_watch_rest(&host->tick_watch); // writing and verifying take their time
    cm_worker_drain(host->worker, now_us);
    if (host->rooms.count == 0) {
        return;
    }
    cm_worker_stats_get(host->worker, &stats);
    cm_log_say(&host->log, CM_LOG_INFO, "drain", CM_T("reason", reason),
               CM_U("players", stats.players), CM_U("tick", stats.tick));
}

void cm_node_hand_over(cm_node *host, const char *reason, uint64_t now_us)
{
    host->draining = true;
    cm_tick_watch_rest(&host->tick_watch);
    for (uint32_t i = host->rooms.count; i-- > 0;) {
        const cm_node_room *room = &host->rooms.rooms[i];
        cm_line line;
        cm_line_log(&line, CM_LOG_INFO, "match handed over");
        cm_line_put(
            &line, CM_T("reason", reason), CM_T("room", room->spec.name), CM_T("match", room->path),
            CM_U("tick", cm_room_tick(cm_hosted_room_room(cm_worker_room_at(host->worker, i)))));
        if (cm_node_rooms_release(&host->rooms, host->worker, host->store, room->spec.name)) {
            cm_log_write(&host->log, CM_LOG_INFO, &line);
        }
    }
    host->handed_over = host->rooms.count == 0;
    if (!host->handed_over) {
        cm_node_drain(host, reason, now_us);
    }
}

void cm_node_close(cm_node *host)
{
    cm_worker_destroy(host->worker);
    host->worker = NULL;
    if (host->store != NULL) {
        cm_store_destroy(host->store);
        host->store = NULL;
    }
    cm_node_rooms_free(&host->rooms);
    cm_crypto_wipe(&host->keys, sizeof host->keys);
    cm_crypto_wipe(&host->ticket, sizeof host->ticket);
}
