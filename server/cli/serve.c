// `carom serve`: reads the configuration; prints it, checks it, or hosts with it.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/supervisor/check.h"
#include "server/config/flags.h"
#include "server/supervisor/run.h"

extern char **environ;

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

// As the command was called.
static int called_argc;
static char **called_argv;

static bool read_again(cm_config *config, cm_failure *failure)
{
    cm_flags options;
    carom_result result = cm_flags_read(called_argc, called_argv, environ, &options, NULL, failure);
    *config = options.config;
    return result == CAROM_OK;
}

static void say_wrong(void *user, const char *text)
{
    (void)user;
    cm_cli_error("%s", text);
}

static void warn_unknown(void)
{
    for (char *const *at = environ; *at != NULL; at++) {
        char name[CM_CONFIG_VARIABLE_MAX], nearest[CM_CONFIG_VARIABLE_MAX];
        if (cm_config_unknown(*at, name, nearest)) {
            cm_cli_error("serve: warning: %s: no such setting, the nearest is %s", name, nearest);
        }
    }
}

// Goes on behind settings that were refused, whose status is worse than whatever it finds.
static int check_config(const cm_config *config, const cm_config_wrong *refused, int status)
{
    const cm_check check = {
        .config = config, .refused = refused, .environment = environ, .wrong = say_wrong};
    int found = cm_cli_status(cm_server_check(&check), &(const cm_failure){""});
    return status > found ? status : found;
}

// A file that is cut while the server runs (logrotate's copytruncate) goes on at its new end.
static void append_output(void)
{
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat about;
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
            (void)fcntl(fd, F_SETFL, flags | O_APPEND);
        }
    }
}

static int run_command(int argc, char **argv)
{
    called_argc = argc;
    called_argv = argv;
    cm_flags options;
    cm_failure failure = {""};
    cm_config_wrong wrong = {.tell = say_wrong};
    carom_result read = cm_flags_read(argc, argv, environ, &options, &wrong, &failure);
    int status = cm_cli_status(read, &failure);
    bool understood = failure.text[0] == '\0'; // the command line; its values may be wrong
    if (status != CM_STATUS_DONE && !(options.check_config && understood)) {
        return status;
    }
    if (options.print_config) {
        warn_unknown();
        return print_config(&options.config);
    }
    if (options.check_config) {
        status = check_config(&options.config, &wrong, status);
        if (status == CM_STATUS_DONE) {
            puts("the configuration is good");
        }
        return cm_cli_finish(status);
    }
    append_output();
    carom_result result = cm_server_run(&options.config, environ, read_again, &failure);
    return cm_cli_finish(cm_cli_status(result, &failure));
}

// clang-format off
const cm_command cm_serve_command = {
    "serve", run_command,
    "hosts rooms\n"
    "usage: carom serve [options]\n"
    "\n"
    "Hosts rooms and records their matches until SIGTERM or SIGINT, which drain: the recordings\n"
    "are closed and verified, then the server ends. A second signal stops at once.\n"
    "\n"
    "  --config FILE       configuration, JSON\n"
    "  --db FILE           database of scenes\n"
    "  --matches DIR       where match files are written, by one server at a time\n"
    "  --listen HOST:PORT  UDP address, A.B.C.D:PORT or [IPv6]:PORT; [::] takes IPv4 clients too\n"
    "  --scene NAME|FILE   opens a room of the scene's name: a name in the database, or a file\n"
    "  --room NAME=SCENE[:KEY=NUMBER...]\n"
    "                      opens a room of that name; may be given again and again. Players come\n"
    "                      into the room that their token names, or without tokens say which;\n"
    "                      who names none comes into the first. Numbers are those of the\n"
    "                      configuration's rooms, max_players for one: --print-config lists them\n"
    "  --on-demand SCENE   a room that a player names and that is not there opens, from this scene:\n"
    "                      at most --on-demand-rooms of a worker; it closes when it was empty for\n"
    "                      --on-demand-empty-s seconds. A module closes its room by carom_game_close\n"
    "  --workers N         processes that host the rooms, each on a port of its own: that of\n"
    "                      --listen and those after it, or free ones. Without it one for each\n"
    "                      core but one. A worker that dies is started again, on its port, and goes\n"
    "                      on with its matches; whoever comes to one that has not the room is sent\n"
    "                      to the right one. A module that uses more than 1 s of processor time\n"
    "                      for a tick, or crashes, takes its worker with it, and its room goes on\n"
    "                      in a worker of its own, on the next port after theirs; the third time\n"
    "                      its scene is hosted no more. 0: this process hosts them, and nobody restarts it\n"
    "  --module FILE.so    a game module that the scene may name (carom module); may be\n"
    "                      repeated. It runs as the server: from root or this user alone\n"
    "  --key FILE          keys that tokens are opened with (carom token keygen); SIGHUP reads\n"
    "                      them again, and the log level and the file of --bans. Needed outside loopback\n"
    "  --public LIST       addresses that tokens may name, with commas between them; without it\n"
    "                      the one of --listen\n"
    "  --http HOST:PORT    pages to look at, read-only, without TLS (put a proxy before them):\n"
    "                      / for a browser: rooms, and charts of the last 5 minutes;\n"
    "                      /metrics of Prometheus (text format 0.0.4): the server, its workers, its\n"
    "                      rooms; /healthz: 200 while all workers live, 503 with the reason while\n"
    "                      one is down or the server drains; /readyz: 200 while players may come\n"
    "                      in; /history: the server's version, start and memory, and a sample\n"
    "                      each second of the last 5 minutes: traffic, players, p99 of the ticks\n"
    "                      of at most 8 rooms, the slowest ones;\n"
    "                      /rooms and /players: arrays of the objects of `carom admin`. What\n"
    "                      says who plays (name, client_id) and where match files are stands there\n"
    "                      only where HOST is loopback and the request names it so too (Host). A\n"
    "                      page is given again for 1 s. At most 32 connections, one request each:\n"
    "                      4096 bytes of head in 5 s, the answer read in 10 s; others are refused\n"
    "                      and counted\n"
    "  --web               players by WebSocket, too: ws://HOST:PORT/play/ROOM of --http\n"
    "  --web-origin LIST   origins (https://HOST), with commas between them, whose pages may play\n"
    "                      so, besides those of the same host and port\n"
    "  --insecure          no tokens; loopback only\n"
    "  --resume            goes on with the matches in --matches that a killed server left: each\n"
    "                      at its last recorded tick, in its own file, in a room of the name that\n"
    "                      it had; players come back by themselves. Matches of another engine\n"
    "                      version or module are ended as cut. One that turns out to have been\n"
    "                      changed is left as ID.match.left; a room of the configuration then\n"
    "                      begins anew (\"matches_left\" of the status counts them)\n"
    "  --print-config      prints every key with its value and meaning, and ends\n"
    "  --check-config      checks all that serve needs, reports everything that is wrong, and\n"
    "                      ends: settings and CAROM_ variables, directories writable, the\n"
    "                      address free, the scene there and fit to be served\n"
    "  --status short|full fields of a status line that is not a terminal's (short)\n"
    "\n"
    "Every configuration key is a flag as well (max_players: --max-players N; true or false:\n"
    "--insecure, --insecure=false) and a variable of the environment (CAROM_MAX_PLAYERS); later\n"
    "wins: file, environment, flags. --print-config lists all keys with ranges and meanings.\n"
    "\n"
    "stdout: \"listening on HOST:PORT\", a line for each worker (--ready-file has them too), \"http\n"
    "on HOST:PORT\" with --http, then the status: a block on a terminal, else a JSON line for each room each status_interval_ms,\n"
    "and what was recorded and verified. stderr: the log, JSON lines with \"time\", \"level\" and\n"
    "\"event\": start, listen, http, worker, room, room opened, room not opened, room closed, player\n"
    "joined, player left (with the reason), client refused, worker died, module failed, room\n"
    "isolated, match resumed, match cut, match left, room begins anew, drain, backup, recording\n"
    "failed, recording goes on, no admin socket, stop. A\n"
    "recording whose disk is full goes on in another file, which tells the gap, once there is\n"
    "space again: a try each 5 s. Status 1 where one could not be kept whole or does not verify. A\n"
    "service manager that gives NOTIFY_SOCKET is told READY and STOPPING, and WATCHDOG from the\n"
    "loop where it asks for it (systemd's protocol).\n",
    NULL};
// clang-format on
