// `carom serve`: one worker and one store thread until a signal, then a drain and a verification.
//
// The shell round the worker: configuration, scene, clock, signals, status. SIGTERM and SIGINT are
// blocked and read from a descriptor, so that the loop wakes for them and no handler runs. The
// first drains; a second one, at any time after it, ends the process at once. Output: "listening on
// HOST:PORT" first; then the status; at the end what was recorded and verified. Log lines are JSON
// on stderr.
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

#include "server/tools/cli/cli.h"
#include "server/tools/cli/load.h"
#include "server/tools/cli/serve_config.h"
#include "server/record/replay.h"
#include "server/record/scene_db.h"
#include "server/host/status.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

extern char **environ;

typedef struct serve {
    cm_config config;
    cm_scene *scene;
    cm_store *store;
    cm_worker *worker;
    char path[512]; // of the match file
    int signals;    // descriptor
    cm_log_level level;
    bool terminal;  // stdout: the block is redrawn in place
    uint32_t drawn; // lines of the block on the terminal now
    uint32_t tick_rate;
    uint64_t status_us; // when it is shown next
    uint64_t deadline_us;
    bool draining;
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

static void write_log(void *user, int level, const char *json_line)
{
    serve *s = user;
    if (level > (int)s->level) {
        return;
    }
    if (s->terminal && isatty(STDERR_FILENO)) {
        erase_block(s);
        fflush(stdout);
        s->status_us = 0;
    }
    fprintf(stderr, "%s\n", json_line);
}

static void fill_status(serve *s, cm_status *status)
{
    memset(status, 0, sizeof *status);
    cm_worker_stats_get(s->worker, &status->worker);
    status->client_count = cm_worker_clients(s->worker, status->clients, CM_STATUS_CLIENTS);
    cm_store_status(s->store, cm_worker_match(s->worker), &status->match);
    status->unix_ms = clock_us(CLOCK_REALTIME) / 1000;
    status->tick_rate = s->tick_rate;
    status->scene = cm_scene_name(s->scene);
    status->path = s->path;
    status->draining = s->draining;
}

static void show_status(serve *s, uint64_t now)
{
    if (now < s->status_us) {
        return;
    }
    s->status_us = now + (uint64_t)s->config.status_interval_ms * 1000;
    cm_status status;
    fill_status(s, &status);
    if (s->terminal) {
        char text[CM_STATUS_BLOCK_MAX];
        uint32_t lines = cm_status_block(&status, text);
        erase_block(s);
        fputs(text, stdout);
        s->drawn = lines;
    } else {
        cm_line line;
        puts(cm_status_line(&status, &line));
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
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool signal_came(const serve *s)
{
    struct signalfd_siginfo info;
    return read(s->signals, &info, sizeof info) == (ssize_t)sizeof info;
}

// After the first signal: the next one ends the process. What is committed stays; the match file
// opens to its last committed tick.
static void stop_at_second(const serve *s)
{
    if (signal_came(s)) {
        fprintf(stderr, "carom: serve: second signal, stopping at once\n");
        _exit(CM_STATUS_FAILED);
    }
}

// Start ----------------------------------------------------------------------------------------

// A scene by its name in the database, or by its file.
static int load_scene(serve *s)
{
    const char *text = s->config.scene;
    cm_scene_error error;
    memset(&error, 0, sizeof error);
    if (text[0] == '\0') {
        cm_cli_error("serve: no scene given, expected --scene NAME or --scene FILE");
        return CM_STATUS_USAGE;
    }
    size_t length = strlen(text);
    bool is_file =
        strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".json") == 0);
    carom_result result = is_file ? cm_scene_from_file(text, &s->scene, &error)
                                  : cm_scene_db_load(s->config.db, text, &s->scene, &error);
    if (result != CAROM_OK) {
        cm_cli_scene_error(is_file ? text : s->config.db, &error);
        return CM_STATUS_USAGE;
    }
    const char *module = cm_scene_module(s->scene);
    if (module[0] != '\0' && cm_module_find(module) == NULL) {
        cm_cli_module_error(text, is_file ? NULL : s->config.db, s->scene);
        return CM_STATUS_USAGE;
    }
    carom_world_def def;
    cm_scene_world_def(s->scene, &def);
    s->tick_rate = def.tick_rate;
    if (def.tick_rate < 10) {
        cm_cli_error("serve: %s: $.tick_rate: %u, a served room expects 10 to 1000", text,
                     (unsigned)def.tick_rate);
        return CM_STATUS_USAGE;
    }
    return CM_STATUS_DONE;
}

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
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

static int start(serve *s)
{
    cm_store_def store = {.directory = s->config.matches,
                          .threaded = true,
                          .durability_power = strcmp(s->config.durability, "power") == 0,
                          .queue_max = 64u << 20};
    carom_result result = cm_store_create(&store, &s->store);
    if (result != CAROM_OK) {
        cm_cli_error(
            "serve: matches: %s: %s, expected a directory, or a path where one can be made",
            s->config.matches,
            result == CAROM_ERROR_IO ? strerror(errno) : carom_result_text(result));
        return CM_STATUS_FAILED;
    }
    cm_worker_def def = {.config = &s->config,
                         .scene = s->scene,
                         .store = s->store,
                         .now_us = clock_us(CLOCK_MONOTONIC),
                         .started_unix_ms = clock_us(CLOCK_REALTIME) / 1000,
                         .clock_us = monotonic_us,
                         .log = write_log,
                         .user = s};
    if (getrandom(&def.seed, sizeof def.seed, 0) != (ssize_t)sizeof def.seed) {
        cm_cli_error("serve: no random numbers from the system: %s", strerror(errno));
        return CM_STATUS_FAILED;
    }
    char error[512] = "";
    result = cm_worker_create(&def, &s->worker, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("serve: %s", error);
        bool asked_wrong = result == CAROM_ERROR_NOT_FOUND || result == CAROM_ERROR_ARGUMENT ||
                           result == CAROM_ERROR_LIMIT_SIZE || result == CAROM_ERROR_NOT_BUILT;
        return asked_wrong ? CM_STATUS_USAGE : CM_STATUS_FAILED;
    }
    snprintf(s->path, sizeof s->path, "%s", cm_store_path(s->store, cm_worker_match(s->worker)));
    const char *colon = strrchr(s->config.listen, ':');
    char address[CM_CONFIG_TEXT_MAX + 8];
    snprintf(address, sizeof address, "%.*s:%u", (int)(colon - s->config.listen), s->config.listen,
             (unsigned)cm_worker_port(s->worker));
    printf("listening on %s\n", address);
    fflush(stdout);
    return tell_ready(s->config.ready_file, address);
}

// The loop -------------------------------------------------------------------------------------

static void wait_until(const serve *s, uint64_t due)
{
    uint64_t now = clock_us(CLOCK_MONOTONIC);
    uint64_t left = due > now ? due - now : 0;
    left = left < 100000 ? left : 100000;
    struct pollfd fds[2] = {{.fd = cm_worker_descriptor(s->worker), .events = POLLIN},
                            {.fd = s->signals, .events = POLLIN}};
    struct timespec timeout = {.tv_nsec = (long)left * 1000};
    (void)ppoll(fds, 2, &timeout, NULL); // interrupted or not, the loop goes on
}

static void run(serve *s)
{
    while (!cm_worker_drained(s->worker)) {
        uint64_t now = clock_us(CLOCK_MONOTONIC);
        if (s->draining) {
            stop_at_second(s);
        } else if (signal_came(s)) {
            s->draining = true;
            cm_worker_drain(s->worker, now);
        }
        uint64_t due = cm_worker_run_once(s->worker, now);
        show_status(s, now);
        wait_until(s, due);
    }
}

// End ------------------------------------------------------------------------------------------

static bool verify_goes_on(void *context, uint64_t tick)
{
    (void)tick;
    const serve *s = context;
    stop_at_second(s);
    return clock_us(CLOCK_MONOTONIC) < s->deadline_us;
}

static void print_end(const serve *s, const cm_match_status *match, const cm_replay_report *report,
                      bool verified, const char *outcome)
{
    if (!s->terminal) {
        cm_line line;
        cm_line_begin(&line);
        cm_line_text(&line, "match", s->path);
        cm_line_text(&line, "outcome", outcome);
        cm_line_bool(&line, "verified", verified);
        cm_line_uint(&line, "verified_ticks", report->verified_ticks);
        cm_line_uint(&line, "ticks", match->committed_tick);
        cm_line_uint(&line, "bytes", match->bytes);
        cm_line_hex(&line, "final_hash", report->final_hash);
        cm_line_bool(&line, "durable", match->durable);
        char command[1024];
        snprintf(command, sizeof command, "%s replay %s --verify", program_invocation_name,
                 s->path);
        cm_line_text(&line, "replay", command);
        puts(cm_line_end(&line));
        return;
    }
    printf("recorded  %s\n", s->path);
    printf("verified  %llu of %llu ticks: %s\n", (unsigned long long)report->verified_ticks,
           (unsigned long long)match->committed_tick, outcome);
    printf("replay    %s replay %s --verify\n", program_invocation_name, s->path);
}

// Until all is written, or a second signal: a disk may take for ever.
static void write_out(const serve *s)
{
    cm_match_status match;
    struct pollfd signals = {.fd = s->signals, .events = POLLIN};
    cm_store_pump(s->store);
    cm_store_status(s->store, cm_worker_match(s->worker), &match);
    while (match.queued_bytes > 0) {
        (void)poll(&signals, 1, 5);
        stop_at_second(s);
        cm_store_status(s->store, cm_worker_match(s->worker), &match);
    }
    cm_store_flush(s->store);
}

// Closes the recording and replays it, for as long as the configuration allows.
static int finish(serve *s)
{
    cm_match_status match;
    write_out(s);
    cm_store_status(s->store, cm_worker_match(s->worker), &match);
    cm_worker_destroy(s->worker);
    s->worker = NULL;
    cm_store_destroy(s->store);
    s->store = NULL;
    struct stat file;
    if (stat(s->path, &file) == 0) {
        match.bytes = (uint64_t)file.st_size;
    }
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    s->deadline_us = clock_us(CLOCK_MONOTONIC) + (uint64_t)s->config.drain_verify_s * 1000000u;
    const char *outcome = "not verified, drain_verify_s is 0";
    bool verified = false;
    carom_result result = CAROM_OK;
    if (s->config.drain_verify_s > 0) {
        result = cm_replay_verify(s->path, verify_goes_on, s, &report);
        verified = result == CAROM_OK && report.verified_ticks >= match.committed_tick;
        outcome = verified             ? "the same hash at every tick"
                  : result == CAROM_OK ? "not finished within drain_verify_s"
                                       : carom_result_text(result);
    }
    print_end(s, &match, &report, verified, outcome);
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s%s%s", s->path, carom_result_text(result),
                     report.error.message[0] != '\0' ? ": " : "", report.error.message);
        return CM_STATUS_FAILED;
    }
    if (!match.durable) {
        cm_cli_error("%s: not durable: %s", s->path, match.error);
        return CM_STATUS_FAILED;
    }
    return CM_STATUS_DONE;
}

static int print_config(const cm_config *config)
{
    size_t size = cm_config_print(config, NULL, 0) + 1;
    char *text = malloc(size);
    if (text == NULL) {
        return CM_STATUS_FAILED;
    }
    cm_config_print(config, text, size);
    fputs(text, stdout);
    free(text);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int host(serve *s)
{
    if (!s->config.insecure) {
        cm_cli_error("serve: tokens are not built yet: expected --insecure, which lets anyone on "
                     "this machine play (loopback only)");
        return CM_STATUS_USAGE;
    }
    int status = load_scene(s);
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

static int run_command(int argc, char **argv)
{
    cm_serve_options options;
    int status = cm_serve_options_read(argc, argv, environ, &options);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (options.print_config) {
        return print_config(&options.config);
    }
    if (options.check_config) {
        puts("the configuration is good");
        return cm_cli_finish(CM_STATUS_DONE);
    }
    serve s;
    memset(&s, 0, sizeof s);
    s.config = options.config;
    s.signals = -1;
    s.terminal = isatty(STDOUT_FILENO) != 0;
    (void)cm_log_level_find(s.config.log, &s.level); // the configuration knows the choices
    status = host(&s);
    cm_worker_destroy(s.worker);
    if (s.store != NULL) {
        cm_store_destroy(s.store);
    }
    if (s.scene != NULL) {
        cm_scene_free(s.scene);
    }
    if (s.signals >= 0) {
        close(s.signals);
    }
    return cm_cli_finish(status);
}

const cm_command cm_serve_command = {
    "serve", run_command,
    "hosts rooms\n"
    "usage: carom serve [options]\n"
    "\n"
    "Hosts a room and records its match until SIGTERM or SIGINT, which drain: the recording is\n"
    "closed and verified, then the server ends. A second signal stops at once.\n"
    "\n"
    "  --config FILE       configuration, JSON\n"
    "  --db FILE           database of scenes\n"
    "  --matches DIR       where match files are written\n"
    "  --listen HOST:PORT  UDP address\n"
    "  --scene NAME|FILE   the scene: a name in the database, or a file\n"
    "  --insecure          no tokens; loopback only\n"
    "  --print-config      prints every key with its value and meaning, and ends\n"
    "  --check-config      checks the configuration, and ends\n"
    "\n"
    "Every configuration key is a flag as well (max_players: --max-players N; true or false:\n"
    "--insecure, --insecure=false) and a variable of the environment (CAROM_MAX_PLAYERS); later\n"
    "wins: file, environment, flags. --print-config lists all keys with ranges and meanings.\n"
    "\n"
    "stdout: \"listening on HOST:PORT\", then the status: a block on a terminal, else a JSON "
    "line\n"
    "each status_interval_ms, and what was recorded and verified. stderr: the log, JSON lines.\n"
    "Status 1 where the recording could not be kept or does not verify.\n",
    NULL};
