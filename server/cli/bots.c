// `carom bots`: reads the options, lets the bots play, prints one JSON summary, and explains the
// summary's names on stderr.
#include <stdio.h>
#include <string.h>

#include "server/auth/key_file.h"
#include "server/config/room_spec.h"
#include "server/node/module_loader.h"
#include "server/tools/bots/bots.h"
#include "server/cli/cli.h"
#include "shared/wire/crypto.h"

#define COUNT   1
#define SECONDS 10
#define SEED    1
#define FPS     60

static void explain(const cm_bots_summary *s, const cm_bots_options *options)
{
    if (s->unopened > 0) {
        cm_cli_error("bots: --connect: %u of %u could not begin: '%s' has no address, or this "
                     "machine no socket to spare",
                     (unsigned)s->unopened, (unsigned)s->clients, options->host);
    }
    for (uint32_t i = 0; i < CAROM_REASON_COUNT; i++) {
        if (s->refused[i] > 0) {
            cm_cli_error("bots: %s port %u: %u of %u refused or ended: %s", options->host,
                         (unsigned)options->port, (unsigned)s->refused[i], (unsigned)s->clients,
                         carom_reason_text((carom_reason)i));
        }
    }
    if (s->desyncs > 0) {
        cm_cli_error("bots: %llu views decoded to something else than was sent",
                     (unsigned long long)s->desyncs);
    }
}

static bool read_address(const char *text, cm_bots_options *options)
{
    const char *colon = text != NULL ? strrchr(text, ':') : NULL;
    int64_t port;
    if (colon == NULL || colon == text || (size_t)(colon - text) >= sizeof options->host ||
        !cm_parse_int(colon + 1, 1, 65535, &port)) {
        cm_cli_error("bots: --connect: '%s', expected HOST:PORT", text != NULL ? text : "");
        return false;
    }
    bool brackets = text[0] == '[' && colon[-1] == ']';
    memcpy(options->host, text + brackets, (size_t)(colon - text) - 2 * brackets);
    options->port = (uint16_t)port;
    return true;
}

// The key that tokens are sealed with, where a file is given.
static int read_key(const char *path, cm_bots_options *options, carom_token_keys *keys)
{
    char error[512];
    if (path != NULL && cm_key_file_read(path, keys, error, sizeof error) != CAROM_OK) {
        return cm_cli_usage("bots: --key: %s", error);
    }
    options->key = path != NULL ? &keys->keys[0] : NULL;
    return CM_STATUS_DONE;
}

// Names with commas between them.
static bool read_rooms(const char *list, cm_bots_options *options)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ",");
        char name[CAROM_ROOM_NAME_MAX + 2];
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name),
                 list);
        if (options->room_count == CM_BOTS_ROOMS_MAX || !cm_room_name_is_valid(name)) {
            cm_cli_error("bots: --rooms: '%.40s', expected up to %u names of rooms with commas "
                         "between them",
                         list, CM_BOTS_ROOMS_MAX);
            return false;
        }
        strcpy(options->rooms[options->room_count++], name);
        list += length + (list[length] == ',');
    }
    return true;
}

// The game that the bots play, where it is not the sandbox.
static bool read_module(const char *path, cm_bots_options *options)
{
    char error[512];
    cm_loaded_module loaded = {.module = NULL};
    if (path != NULL && cm_module_load(path, &loaded, error, sizeof error) != CAROM_OK) {
        cm_cli_error("bots: --module: %s", error);
        return false;
    }
    options->module = loaded.module;
    return true;
}

static int read_options(int argc, char **argv, cm_bots_options *options, carom_token_keys *keys)
{
    const char *address = NULL, *pattern = "wander", *key = NULL, *room = NULL, *rooms = NULL;
    const char *module = NULL, *play = NULL;
    int64_t count = COUNT, predict = -1, seed = SEED, fps = FPS, spectators = 0;
    const cm_option table[] = {
        {"connect", CM_OPTION_TEXT, &address, 0, 0, NULL, NULL},
        {"count", CM_OPTION_INT, &count, 1, CM_BOTS_MAX, NULL, NULL},
        {"seconds", CM_OPTION_NUMBER, &options->seconds, 0.1, 1.0e6, NULL, NULL},
        {"latency", CM_OPTION_NUMBER, &options->latency_ms, 0, 10000, NULL, NULL},
        {"jitter", CM_OPTION_NUMBER, &options->jitter_ms, 0, 10000, NULL, NULL},
        {"loss", CM_OPTION_NUMBER, &options->loss_percent, 0, 100, NULL, NULL},
        {"predict", CM_OPTION_INT, &predict, 0, CM_BOTS_MAX, NULL, NULL},
        {"seed", CM_OPTION_INT, &seed, 0, 1000000000, NULL, NULL},
        {"fps", CM_OPTION_INT, &fps, 1, 1000, NULL, NULL},
        {"spectators", CM_OPTION_INT, &spectators, 0, CM_BOTS_MAX, NULL, NULL},
        {"play", CM_OPTION_TEXT, &play, 0, 0, NULL, NULL},
        {"pattern", CM_OPTION_CHOICE, &pattern, 0, 0, "wander|drive|idle", NULL},
        {"key", CM_OPTION_TEXT, &key, 0, 0, NULL, NULL},
        {"room", CM_OPTION_TEXT, &room, 0, 0, NULL, NULL},
        {"rooms", CM_OPTION_TEXT, &rooms, 0, 0, NULL, NULL},
        {"module", CM_OPTION_TEXT, &module, 0, 0, NULL, NULL},
    };
    int status = cm_cli_options(argc, argv, table, sizeof table / sizeof table[0], NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (!read_address(address, options) || !read_rooms(room, options) ||
        !read_rooms(rooms, options)) {
        return CM_STATUS_USAGE;
    }
    if (predict > count) {
        return cm_cli_usage("bots: --predict: %lld, expected at most the %lld of --count",
                            (long long)predict, (long long)count);
    }
    options->game = play != NULL ? cm_feel_game_find(play) : NULL;
    if (play != NULL && options->game == NULL) {
        return cm_cli_usage("bots: --play %s: expected " CM_FEEL_GAME_NAMES, play);
    }
    options->count = (uint32_t)count;
    options->spectators = (uint32_t)spectators;
    options->fps = (uint32_t)fps;
    options->predict = (uint32_t)(predict < 0 ? count : predict);
    options->seed = (uint64_t)seed;
    options->pattern = strcmp(pattern, "idle") == 0    ? CM_BOTS_IDLE
                       : strcmp(pattern, "drive") == 0 ? CM_BOTS_DRIVE
                                                       : CM_BOTS_WANDER;
    return read_module(module, options) ? read_key(key, options, keys) : CM_STATUS_USAGE;
}

static const char *why_not(carom_result result)
{
    return result == CAROM_ERROR_NOT_BUILT
               ? "ENet does not call our socket functions, expected a shared libenet"
           : result == CAROM_ERROR_ARGUMENT
               ? "no token can be issued: expected --connect A.B.C.D:PORT or [IPv6]:PORT"
               : carom_result_text(result);
}

static int run_command(int argc, char **argv)
{
    cm_bots_options options = {.seconds = SECONDS};
    carom_token_keys keys;
    int status = read_options(argc, argv, &options, &keys);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    cm_bots_summary summary;
    carom_result result = cm_bots_run(&options, &summary);
    cm_crypto_wipe(&keys, sizeof keys);
    if (result != CAROM_OK) {
        cm_cli_error("bots: %s", why_not(result));
        return result == CAROM_ERROR_ARGUMENT ? CM_STATUS_USAGE : CM_STATUS_FAILED;
    }
    cm_bots_summary_print(&summary, stdout);
    fflush(stdout);
    explain(&summary, &options);
    return cm_cli_finish(cm_bots_summary_well(&summary) ? CM_STATUS_DONE : CM_STATUS_FAILED);
}

// clang-format off
const cm_command cm_bots_command = {
    "bots", run_command,
    "connects SDK clients to a server\n"
    "usage: carom bots --connect HOST:PORT [options]\n"
    "\n"
    "  --key FILE      each bot comes with a token of its own, sealed with the file's first key\n"
    "  --module FILE   what the room plays, where that is not the sandbox: its bot plays, or, where it\n"
    "                  has none, random inputs that it takes\n"
    "  --room NAME     where they play (the server's first one)\n"
    "  --rooms A,B     the same for several: the bots go to each in turn\n"
    "  --count N       clients (" CM_HELP(COUNT) ")\n"
    "  --seconds S     how long they play, from when all do (" CM_HELP(SECONDS) ")\n"
    "  --latency MS    delay, one way, each way (0)\n"
    "  --jitter MS     one way, each way (0)\n"
    "  --loss PCT      of the packets, each way (0)\n"
    "  --predict K     how many simulate (all); the rest only speak the protocol\n"
    "  --spectators N  besides, who watch and do not play (0)\n"
    "  --fps N         updates a second of each, as a game draws (" CM_HELP(FPS) ")\n"
    "  --play GAME     as players of `carom bench feel` do; the room has its scene (`carom bench feel GAME --scene`)\n"
    "  --pattern P     wander, drive (never holds nor jumps; the sandbox) or idle (wander)\n"
    "  --seed N        of the link's chance and of the inputs (" CM_HELP(SEED) ")\n"
    "\n"
    "Prints one JSON summary: connected, ticks, seconds, clients, predicting,\n"
    "bytes_in_per_client_second, bytes_out_per_client_second, packets_lost, packets_refused, views,\n"
    "view_packets, prediction_error (mean, p99, max in metres, count), rewinds, predicted_steps,\n"
    "inputs_sent, late_inputs, input_lead_ticks, rtt_ms, interpolation_delay_ms,\n"
    "the figures of `carom bench feel` of the first eight that predict, after a fifth of the time (watched: how\n"
    "many; of worlds of up to 1024 bodies): own_p50_mm, own_p99_mm, own_max_mm, own_pops_p99_mm, others_p99_mm,\n"
    "shared_p99_mm, pops_p99_mm, late_percent (of views), lead_ticks, update_us_p99, kbit_down, kbit_up\n"
    "(with IP and UDP headers, what came and what was sent), corrections, errors_counted, error_max_mm,\n"
    "against what views tell of a body (rounded to the grain of views),\n"
    "gap_ms (without a view round each comeback: count, p99, max),\n"
    "durability, server_tick and durable_tick (of the bot that saw most),\n"
    "ended, unstable (cut off at the end, slot kept), comebacks, desyncs, spectators, frames_late_percent (more than\n"
    "half a frame after their time: above some percent this machine is too slow, and the figures are of clients that\n"
    "starve), refused (reason: clients).\n"
    "Status 0 where all played, none ended and none desynced.\n",
    NULL};
// clang-format on
