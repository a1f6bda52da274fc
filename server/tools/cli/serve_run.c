// The shell round a worker and its rooms: one loop and one store thread until a signal, then a
// drain and a verification.
//
// SIGTERM and SIGINT are blocked and read from a descriptor, so that the loop wakes for them and no
// handler runs. The first drains; a second one, at any time after it, ends the process at once.
// Output: "listening on HOST:PORT" first; then the status; at the end what was recorded and
// verified. Log lines are JSON on stderr, each with its time and level.
#include "server/tools/cli/serve_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/host/key_file.h"
#include "server/host/notify.h"
#include "server/host/status.h"
#include "server/record/replay.h"
#include "server/record/sign_key.h"
#include "server/tools/cli/cli.h"
#include "server/tools/cli/serve_check.h"
#include "server/tools/cli/serve_admin.h"
#include "server/tools/cli/serve_door.h"
#include "server/tools/cli/serve_resume.h"
#include "server/tools/cli/serve_rooms.h"
#include "shared/wire/crypto.h"

typedef struct serve {
    cm_config config;
    cm_serve_rooms rooms;
    cm_serve_admin answers;
    cm_admin *admin;
    cm_log log; // of what the operator does
    cm_store *store;
    cm_worker *worker;
    cm_door_db *door; // NULL without tokens, or since it failed
    int signals;      // descriptor
    cm_notify notify; // the service manager
    carom_token_keys keys;
    carom_token_keys ticket; // one key: of the tickets to come back
    cm_log_level level;
    bool terminal;      // stdout: the block is redrawn in place
    uint32_t drawn;     // lines of the block on the terminal now
    uint64_t status_us; // when it is shown next
    uint64_t deadline_us;
    uint32_t lost; // recordings of rooms that were closed and are not durable
    bool draining, made_ticket_key;
} serve;

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static uint64_t monotonic_us(void *user)
{
    (void)user;
    return clock_us(CLOCK_MONOTONIC);
}

// Status and log -------------------------------------------------------------------------------

static void erase_block(serve *s)
{
    if (s->drawn > 0) {
        printf("\033[%uA\033[J", s->drawn);
        s->drawn = 0;
    }
}

// Puts the time before a line of log.h.
static void write_log(void *user, int level, const char *json_line)
{
    serve *s = user;
    char time[CM_LOG_TIME_MAX];
    if (level > (int)s->level) {
        return;
    }
    if (s->terminal && isatty(STDERR_FILENO)) {
        erase_block(s);
        fflush(stdout);
        s->status_us = 0;
    }
    cm_log_time(clock_us(CLOCK_REALTIME) / 1000, time);
    fprintf(stderr, "{\"time\":\"%s\",%s\n", time, json_line + 1);
}

static void log_line(const serve *s, cm_log_level level, cm_line *line)
{
    write_log((void *)s, (int)level, cm_line_end(line));
}

static void log_start(serve *s, const char *address)
{
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "start");
    cm_line_text(&line, "version", cm_version_text);
    cm_line_uint(&line, "engine", CAROM_ENGINE_VERSION);
    cm_line_uint(&line, "rooms", s->rooms.count);
    log_line(s, CM_LOG_INFO, &line);
    for (uint32_t i = 0; i < s->rooms.count; i++) {
        const cm_serve_room *room = &s->rooms.rooms[i];
        cm_line_log(&line, CM_LOG_INFO, "room");
        cm_line_text(&line, "room", room->name);
        cm_line_text(&line, "scene", cm_scene_name(room->scene));
        cm_line_text(&line, "module", cm_scene_module(room->scene));
        cm_line_uint(&line, "max_players", room->max_players);
        cm_line_text(&line, "match", room->path);
        log_line(s, CM_LOG_INFO, &line);
    }
    cm_line_log(&line, CM_LOG_INFO, "listen");
    cm_line_text(&line, "address", address);
    log_line(s, CM_LOG_INFO, &line);
}

// Once, when the store says that the recording is not whole. `hosted`: NULL of a closed room.
static void watch_recording(serve *s, cm_serve_room *room, const cm_hosted_room *hosted)
{
    cm_match_status match;
    cm_store_status(s->store, room->match, &match);
    if (match.durable || room->failure_told) {
        return;
    }
    room->failure_told = true;
    s->status_us = 0; // the status says so at once
    cm_line line;
    cm_line_log(&line, CM_LOG_ERROR, "recording failed");
    cm_line_text(&line, "room", room->name);
    cm_line_text(&line, "match", room->path);
    if (hosted != NULL) {
        cm_line_uint(&line, "tick", cm_room_tick(cm_hosted_room_room(hosted)));
    }
    cm_line_uint(&line, "recorded_tick", match.committed_tick);
    cm_line_text(&line, "reason", match.error);
    log_line(s, CM_LOG_ERROR, &line);
}

// At the end: a recording that the catalogue does not know is not pruned, and not found by its id.
static void tell_unindexed(serve *s, const cm_serve_room *room, const cm_match_status *match)
{
    cm_line line;
    if (match->unindexed[0] == '\0') {
        return;
    }
    cm_line_log(&line, CM_LOG_WARNING, "match is not in the index");
    cm_line_text(&line, "match", room->path);
    cm_line_text(&line, "reason", match->unindexed);
    log_line(s, CM_LOG_WARNING, &line);
}

static void watch_recordings(serve *s)
{
    for (uint32_t i = 0; i < s->rooms.count; i++) {
        watch_recording(s, &s->rooms.rooms[i], cm_worker_room_at(s->worker, i));
    }
    for (uint32_t i = s->rooms.closing_count; i-- > 0;) {
        cm_serve_room *room = &s->rooms.closing[i];
        cm_match_status match;
        cm_store_status(s->store, room->match, &match); // before it is watched: what was written is
        watch_recording(s, room, NULL);
        if (match.queued_bytes == 0) {
            tell_unindexed(s, room, &match);
            s->lost += room->failure_told;
            cm_serve_rooms_closed(&s->rooms, i);
        }
    }
}

// Once, when used tokens and bans can be kept no more: the match goes on.
static void watch_door(serve *s)
{
    char error[256];
    if (s->door == NULL || cm_door_db_sound(s->door, error, sizeof error)) {
        return;
    }
    cm_line line;
    cm_line_log(&line, CM_LOG_ERROR, "used tokens and bans are not kept");
    cm_line_text(&line, "reason", error);
    log_line(s, CM_LOG_ERROR, &line);
    cm_door_db_close(s->door);
    s->door = NULL;
}

static void keep_used(void *user, const cm_used_token *token)
{
    const serve *s = user;
    if (s->door != NULL) {
        cm_serve_keep_used(s->door, token);
    }
}

static void keep_ban(void *user, bool by_address, uint64_t who, bool banned)
{
    const serve *s = user;
    if (s->door != NULL) {
        cm_serve_keep_ban(s->door, by_address, who, banned);
    }
}

static void fill_status(serve *s, uint32_t number, cm_status *status)
{
    const cm_serve_room *room = &s->rooms.rooms[number];
    const cm_hosted_room *hosted = cm_worker_room_at(s->worker, number);
    memset(status, 0, sizeof *status);
    cm_worker_room_stats_get(s->worker, number, &status->worker);
    status->client_count = cm_hosted_room_players(hosted, status->clients, CM_STATUS_CLIENTS);
    cm_store_status(s->store, room->match, &status->match);
    status->unix_ms = clock_us(CLOCK_REALTIME) / 1000;
    status->tick_rate = room->tick_rate;
    status->room = room->name;
    status->scene = cm_scene_name(room->scene);
    status->path = room->path;
    status->draining = s->draining;
}

// On a terminal a block, of several rooms a row each; else a line for each room.
static void show_status(serve *s, uint64_t now)
{
    if (now < s->status_us) {
        return;
    }
    s->status_us = now + (uint64_t)s->config.status_interval_ms * 1000;
    if (s->terminal) {
        erase_block(s);
    }
    for (uint32_t i = 0; i < s->rooms.count; i++) {
        cm_status status;
        cm_line line;
        fill_status(s, i, &status);
        if (!s->terminal) {
            puts(cm_status_line(&status, strcmp(s->config.status, "full") == 0, &line));
            continue;
        }
        char text[CM_STATUS_BLOCK_MAX];
        s->drawn +=
            s->rooms.count == 1 ? cm_status_block(&status, text) : cm_status_row(&status, text);
        fputs(text, stdout);
    }
    fflush(stdout);
}

// Signals --------------------------------------------------------------------------------------

static int open_signals(void)
{
    // A shell starts background jobs with SIGINT ignored; ignored signals need not be queued.
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_IGN); // a match does not end because nobody reads its status any more
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

// SIGHUP: the key file is read again. One that is not sound changes nothing.
static void reload(serve *s)
{
    cm_line line;
    carom_token_keys keys;
    char error[512] = "there is no key file";
    bool good = s->config.key[0] != '\0' &&
                cm_key_file_read(s->config.key, &keys, error, sizeof error) == CAROM_OK;
    cm_log_level level = good ? CM_LOG_INFO : CM_LOG_ERROR;
    cm_line_log(&line, level, good ? "keys read again" : "keys not read again");
    if (good) {
        s->keys = keys;
        cm_worker_set_keys(s->worker, &keys);
        cm_line_uint(&line, "keys", keys.count);
    } else {
        cm_line_text(&line, "error", error);
    }
    log_line(s, level, &line);
}

// The name of one that ends the server, or NULL.
static const char *signal_came(serve *s)
{
    struct signalfd_siginfo info;
    if (read(s->signals, &info, sizeof info) != (ssize_t)sizeof info) {
        return NULL;
    }
    if (info.ssi_signo == SIGHUP) {
        reload(s);
        return NULL;
    }
    return info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM";
}

// After the first signal: the next one ends the process. What is committed stays; the match file
// opens to its last committed tick.
static void stop_at_second(serve *s)
{
    const char *name = signal_came(s);
    if (name != NULL) {
        cm_line line;
        cm_line_log(&line, CM_LOG_WARNING, "second signal, stopping at once");
        cm_line_text(&line, "signal", name);
        log_line(s, CM_LOG_WARNING, &line);
        _exit(CM_STATUS_FAILED);
    }
}

// Start ----------------------------------------------------------------------------------------

// Who waits for the file never reads half an address: it appears complete.
static int tell_ready(const char *path, const char *address)
{
    if (path[0] == '\0') {
        return CM_STATUS_DONE;
    }
    char part[CM_CONFIG_TEXT_MAX + 8];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "w");
    bool wrote = file != NULL && fprintf(file, "%s\n", address) > 0;
    wrote = (file != NULL && fclose(file) == 0) && wrote;
    if (!wrote || rename(part, path) != 0) {
        cm_cli_error("serve: ready_file: %s: %s", path, strerror(errno));
        if (file != NULL) {
            unlink(part);
        }
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

static int open_store(serve *s)
{
    uint8_t secret[CM_SIGN_KEY_BYTES];
    bool sign = s->config.sign_key[0] != '\0';
    char error[512];
    if (sign && cm_sign_key_read(s->config.sign_key, secret, error, sizeof error) != CAROM_OK) {
        cm_cli_error("serve: sign_key: %s", error);
        return CM_STATUS_USAGE;
    }
    cm_store_def store = {.directory = s->config.matches,
                          .threaded = true,
                          .durability_power = strcmp(s->config.durability, "power") == 0,
                          .queue_max = 64u << 20,
                          .catalogue = s->config.db,
                          .secret = sign ? secret : NULL};
    carom_result result = cm_store_create(&store, &s->store);
    cm_crypto_wipe(secret, sizeof secret);
    if (result != CAROM_OK) {
        cm_cli_error(
            "serve: matches: %s: %s, expected a directory, or a path where one can be made",
            s->config.matches,
            result == CAROM_ERROR_IO ? strerror(errno) : carom_result_text(result));
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

// The key of tickets stays over restarts, in a file that the first start makes.
static int open_ticket_key(serve *s)
{
    char path[CM_CONFIG_TEXT_MAX + 16], error[512];
    snprintf(path, sizeof path, "%s/ticket.key", s->config.matches);
    if (access(path, F_OK) != 0) {
        carom_token_key made;
        carom_result result = carom_token_key_make(1, &made);
        if (result == CAROM_OK) {
            result = cm_key_file_make(path, &made, error, sizeof error);
        } else {
            snprintf(error, sizeof error, "%s: no random numbers from the system", path);
        }
        cm_crypto_wipe(&made, sizeof made);
        if (result != CAROM_OK) {
            cm_cli_error("serve: %s", error);
            return CM_STATUS_FAILED;
        }
        s->made_ticket_key = true;
    }
    if (cm_key_file_read(path, &s->ticket, error, sizeof error) != CAROM_OK) {
        cm_cli_error("serve: %s", error);
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

// Also how many clients there may be, where the configuration does not say it.
static int resume(serve *s)
{
    cm_log log = {.write = write_log, .user = s};
    int status =
        s->config.resume ? cm_serve_resume(&s->config, s->store, &log, &s->rooms) : CM_STATUS_DONE;
    if (s->config.max_clients == 0) {
        s->config.max_clients = cm_serve_rooms_clients(&s->rooms);
    }
    return status;
}

static int open_worker(serve *s)
{
    cm_worker_def def = {.config = &s->config,
                         .store = s->store,
                         .keys = s->keys.count > 0 ? &s->keys : NULL,
                         .ticket_key = &s->ticket.keys[0],
                         .now_us = clock_us(CLOCK_MONOTONIC),
                         .started_unix_ms = clock_us(CLOCK_REALTIME) / 1000,
                         .clock_us = monotonic_us,
                         .log = write_log,
                         .keep_used = keep_used,
                         .keep_ban = keep_ban,
                         .user = s};
    if (getrandom(&def.seed, sizeof def.seed, 0) != (ssize_t)sizeof def.seed) {
        cm_cli_error("serve: no random numbers from the system: %s", strerror(errno));
        return CM_STATUS_FAILED;
    }
    char error[512] = "";
    carom_result result = cm_worker_create(&def, &s->worker, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("serve: %s", error);
        return cm_serve_status(result);
    }
    int status = cm_serve_rooms_open(&s->rooms, s->worker);
    cm_serve_rooms_record(&s->rooms, s->worker, s->store);
    return status;
}

static int open_door(serve *s)
{
    char error[1280];
    if (s->keys.count == 0) {
        return CM_STATUS_DONE;
    }
    carom_result result =
        cm_door_db_open(s->config.matches, (uint64_t)time(NULL), &s->door, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("serve: matches: %s", error);
        return CM_STATUS_FAILED;
    }
    return cm_serve_recall(s->door, s->worker);
}

static int open_admin(serve *s)
{
    char path[CM_SERVE_ADMIN_PATH_MAX], error[512];
    cm_serve_admin_path(&s->config, path);
    s->log = (cm_log){.write = write_log, .user = s};
    s->answers = (cm_serve_admin){.config = &s->config,
                                  .rooms = &s->rooms,
                                  .worker = s->worker,
                                  .store = s->store,
                                  .log = &s->log};
    if (!cm_serve_admin_fits(&s->config, &s->log)) {
        return CM_STATUS_DONE;
    }
    cm_admin_def def = {.path = path, .answer = cm_serve_admin_answer, .user = &s->answers};
    s->admin = cm_admin_create(&def, error, sizeof error);
    if (s->admin == NULL) {
        cm_cli_error("serve: admin: %s", error);
    }
    return s->admin != NULL ? CM_STATUS_DONE : CM_STATUS_FAILED;
}

// What a start that failed has made goes: the match file, and the directories that were not there.
static void undo_start(serve *s, size_t there)
{
    char path[CM_CONFIG_TEXT_MAX];
    cm_admin_destroy(s->admin);
    s->admin = NULL;
    cm_worker_destroy(s->worker);
    s->worker = NULL;
    cm_door_db_close(s->door);
    s->door = NULL;
    if (s->store != NULL) {
        cm_store_destroy(s->store);
        s->store = NULL;
    }
    for (uint32_t i = 0; i < s->rooms.count; i++) {
        if (s->rooms.rooms[i].path[0] != '\0' && s->rooms.rooms[i].live == NULL) {
            unlink(s->rooms.rooms[i].path); // closed, it is one file
        }
    }
    if (s->made_ticket_key) {
        snprintf(path, sizeof path, "%.*s/ticket.key", (int)sizeof path - 12, s->config.matches);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s", s->config.matches);
    for (size_t length = strlen(path); length > there; length--) {
        if (path[length] == '/' || path[length] == '\0') {
            path[length] = '\0';
            (void)rmdir(path); // one that is not empty stays
        }
    }
}

// Says that it listens when everything that can fail is done.
static int start(serve *s)
{
    char address[CM_CONFIG_TEXT_MAX + 8];
    size_t there = cm_serve_existing(s->config.matches);
    int status = open_store(s);
    if (status == CM_STATUS_DONE) {
        status = open_ticket_key(s);
    }
    if (status == CM_STATUS_DONE) {
        status = resume(s);
    }
    if (status == CM_STATUS_DONE) {
        status = open_worker(s);
    }
    if (status == CM_STATUS_DONE) {
        status = open_door(s);
    }
    if (status == CM_STATUS_DONE) {
        status = open_admin(s);
    }
    if (status == CM_STATUS_DONE) {
        const char *colon = strrchr(s->config.listen, ':');
        snprintf(address, sizeof address, "%.*s:%u", (int)(colon - s->config.listen),
                 s->config.listen, (unsigned)cm_worker_port(s->worker));
        status = tell_ready(s->config.ready_file, address);
    }
    if (status != CM_STATUS_DONE) {
        undo_start(s, there);
        return status;
    }
    printf("listening on %s\n", address);
    fflush(stdout);
    log_start(s, address);
    cm_notify_say(&s->notify, "READY=1");
    return CM_STATUS_DONE;
}

// The loop -------------------------------------------------------------------------------------

static void wait_until(const serve *s, uint64_t due)
{
    uint64_t now = clock_us(CLOCK_MONOTONIC);
    uint64_t left = due > now ? due - now : 0;
    left = left < 100000 ? left : 100000;
    struct pollfd fds[] = {{.fd = cm_worker_descriptor(s->worker), .events = POLLIN},
                           {.fd = s->signals, .events = POLLIN},
                           {.fd = cm_admin_descriptor(s->admin), .events = POLLIN}};
    struct timespec timeout = {.tv_nsec = (long)left * 1000};
    (void)ppoll(fds, sizeof fds / sizeof fds[0], &timeout,
                NULL); // interrupted or not, the loop goes on
}

static void begin_drain(serve *s, const char *signal, uint64_t now)
{
    cm_worker_stats stats;
    cm_line line;
    if (signal == NULL) {
        return;
    }
    s->draining = true;
    cm_notify_say(&s->notify, "STOPPING=1");
    cm_worker_stats_get(s->worker, &stats);
    cm_line_log(&line, CM_LOG_INFO, "drain");
    cm_line_text(&line, "reason", signal);
    cm_line_uint(&line, "players", stats.players);
    cm_line_uint(&line, "tick", stats.tick);
    log_line(s, CM_LOG_INFO, &line);
    cm_worker_drain(s->worker, now);
}

static void run(serve *s)
{
    while (!cm_worker_drained(s->worker)) {
        uint64_t now = clock_us(CLOCK_MONOTONIC);
        if (s->draining) {
            stop_at_second(s);
        } else {
            begin_drain(s, signal_came(s), now);
        }
        cm_admin_turn(s->admin, now);
        if (s->answers.drain && !s->draining) {
            begin_drain(s, "admin", now);
        }
        uint64_t due = cm_worker_run_once(s->worker, now);
        watch_recordings(s);
        watch_door(s);
        show_status(s, now);
        cm_notify_live(&s->notify, now);
        wait_until(s, due);
    }
}

// End ------------------------------------------------------------------------------------------

static bool verify_goes_on(void *context, uint64_t tick, uint64_t last)
{
    (void)tick;
    (void)last;
    serve *s = context;
    stop_at_second(s);
    uint64_t now = clock_us(CLOCK_MONOTONIC);
    cm_notify_live(&s->notify, now);
    return now < s->deadline_us;
}

static void print_end(const serve *s, const cm_serve_room *room, const cm_match_status *match,
                      const cm_replay_report *report, bool verified, const char *outcome)
{
    if (!s->terminal) {
        cm_line line;
        cm_line_begin(&line);
        cm_line_text(&line, "room", room->name);
        cm_line_text(&line, "match", room->path);
        cm_line_text(&line, "outcome", outcome);
        cm_line_bool(&line, "verified", verified);
        cm_line_uint(&line, "verified_ticks", report->verified_ticks);
        cm_line_uint(&line, "ticks", match->committed_tick);
        cm_line_uint(&line, "bytes", match->bytes);
        cm_line_hex(&line, "final_hash", report->final_hash);
        cm_line_bool(&line, "durable", match->durable);
        char command[1024];
        snprintf(command, sizeof command, "%s replay %s --verify", program_invocation_name,
                 room->path);
        cm_line_text(&line, "replay", command);
        puts(cm_line_end(&line));
        return;
    }
    printf("recorded  %s\n", room->path);
    printf("verified  %llu of %llu ticks: %s\n", (unsigned long long)report->verified_ticks,
           (unsigned long long)match->committed_tick, outcome);
    printf("replay    %s replay %s --verify\n", program_invocation_name, room->path);
}

// Until all is written, or a second signal: a disk may take for ever.
static void write_out(serve *s)
{
    struct pollfd signals = {.fd = s->signals, .events = POLLIN};
    cm_store_pump(s->store);
    for (uint32_t i = 0; i < s->rooms.count + s->rooms.closing_count; i++) {
        const cm_serve_room *room =
            i < s->rooms.count ? &s->rooms.rooms[i] : &s->rooms.closing[i - s->rooms.count];
        cm_match_status match;
        cm_store_status(s->store, room->match, &match);
        while (match.queued_bytes > 0) {
            (void)poll(&signals, 1, 5);
            stop_at_second(s);
            cm_notify_live(&s->notify, clock_us(CLOCK_MONOTONIC));
            cm_store_status(s->store, room->match, &match);
        }
    }
    cm_store_flush(s->store);
}

// Replays a closed recording, for as long as the configuration allows.
static int verify_room(serve *s, const cm_serve_room *room, cm_match_status *match)
{
    struct stat file;
    if (stat(room->path, &file) == 0) {
        match->bytes = (uint64_t)file.st_size;
    }
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    const char *outcome = "not verified, drain_verify_s is 0";
    bool verified = false;
    carom_result result = CAROM_OK;
    if (s->config.drain_verify_s > 0) {
        cm_replay_options options = {.progress = verify_goes_on, .context = s};
        result = cm_replay_verify(room->path, &options, &report);
        if (result == CAROM_OK && report.proof.verdict == CM_PROOF_CHANGED) {
            result = CAROM_ERROR_CORRUPT; // the disk gave back something else
            snprintf(report.error.message, sizeof report.error.message, "%s", report.proof.changed);
        }
        verified = result == CAROM_OK && report.verified_ticks >= match->committed_tick;
        outcome = verified             ? "the same hash at every tick"
                  : result == CAROM_OK ? "not finished within drain_verify_s"
                                       : carom_result_text(result);
    }
    print_end(s, room, match, &report, verified, outcome);
    cm_line line;
    bool whole = match->durable && result == CAROM_OK;
    cm_line_log(&line, whole ? CM_LOG_INFO : CM_LOG_ERROR, "stop");
    cm_line_text(&line, "room", room->name);
    cm_line_text(&line, "match", room->path);
    cm_line_uint(&line, "ticks", match->committed_tick);
    cm_line_uint(&line, "verified_ticks", report.verified_ticks);
    cm_line_text(&line, "outcome", outcome);
    log_line(s, whole ? CM_LOG_INFO : CM_LOG_ERROR, &line);
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s%s%s", room->path, carom_result_text(result),
                     report.error.message[0] != '\0' ? ": " : "", report.error.message);
        return CM_STATUS_FAILED;
    }
    if (!match->durable) {
        cm_cli_error("%s: not durable: %s", room->path, match->error);
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

// Closes the recordings and verifies them.
static int finish(serve *s)
{
    static cm_match_status matches[CM_WORKER_ROOMS_MAX];
    int status = CM_STATUS_DONE;
    cm_admin_destroy(s->admin);
    s->admin = NULL;
    write_out(s);
    watch_recordings(s);
    for (uint32_t i = 0; i < s->rooms.count; i++) {
        cm_store_status(s->store, s->rooms.rooms[i].match, &matches[i]);
        tell_unindexed(s, &s->rooms.rooms[i], &matches[i]);
    }
    cm_worker_destroy(s->worker);
    s->worker = NULL;
    cm_store_destroy(s->store);
    s->store = NULL;
    s->deadline_us = clock_us(CLOCK_MONOTONIC) + (uint64_t)s->config.drain_verify_s * 1000000u;
    for (uint32_t i = 0; i < s->rooms.count; i++) {
        int one = verify_room(s, &s->rooms.rooms[i], &matches[i]);
        status = one > status ? one : status;
    }
    if (s->lost > 0) {
        cm_cli_error("serve: %u recordings of rooms that were closed are not durable, see the log",
                     s->lost);
    }
    return s->lost > 0 && status < CM_STATUS_FAILED ? CM_STATUS_FAILED : status;
}

static void log_unknown(serve *s, char *const *environment)
{
    for (; *environment != NULL; environment++) {
        char name[CM_CONFIG_VARIABLE_MAX], nearest[CM_CONFIG_VARIABLE_MAX];
        if (cm_config_unknown(*environment, name, nearest)) {
            cm_line line;
            cm_line_log(&line, CM_LOG_WARNING, "unknown variable of the environment");
            cm_line_text(&line, "variable", name);
            cm_line_text(&line, "nearest", nearest);
            log_line(s, CM_LOG_WARNING, &line);
        }
    }
}

static int host(serve *s)
{
    int status = cm_serve_read_keys(&s->config, &s->keys);
    if (status == CM_STATUS_DONE) {
        status = cm_serve_rooms_load(&s->config, &s->rooms);
    }
    if (status != CM_STATUS_DONE) {
        return status;
    }
    s->signals = open_signals();
    if (s->signals < 0) {
        cm_cli_error("serve: signals: %s", strerror(errno));
        return CM_STATUS_FAILED;
    }
    status = start(s);
    if (status == CM_STATUS_DONE) {
        run(s);
        if (s->terminal) {
            cm_store_flush(s->store); // so that it shows all that is recorded
            erase_block(s);
            s->status_us = 0;
            show_status(s, clock_us(CLOCK_MONOTONIC));
        }
        status = finish(s);
    }
    return status;
}

int cm_serve_run(const cm_config *config, char *const *environment)
{
    serve s;
    memset(&s, 0, sizeof s);
    s.config = *config;
    s.signals = -1;
    s.terminal = isatty(STDOUT_FILENO) != 0;
    (void)cm_log_level_find(s.config.log, &s.level); // the configuration knows the choices
    log_unknown(&s, environment);
    if (!cm_notify_open(&s.notify, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"),
                        getenv("WATCHDOG_PID"))) {
        cm_cli_error("serve: NOTIFY_SOCKET: expected a path, or @ and a name; nothing is told");
    }
    int status = host(&s);
    cm_admin_destroy(s.admin);
    cm_worker_destroy(s.worker);
    cm_door_db_close(s.door);
    if (s.store != NULL) {
        cm_store_destroy(s.store);
    }
    cm_serve_rooms_free(&s.rooms);
    cm_notify_close(&s.notify);
    if (s.signals >= 0) {
        close(s.signals);
    }
    return status;
}
