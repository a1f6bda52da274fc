// `carom match …`: what match files hold, and what may be done to them. 64-bit ids, seeds and
// hashes are strings in JSON, since a number does not hold them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/cli/match_list.h"
#include "server/cli/match_live.h"
#include "server/cli/match_stream.h"
#include "server/record/replay/match_change.h"
#include "server/record/replay/match_diff.h"
#include "server/record/format/sign_key.h"
#include "shared/scene/scene_json.h"

void cm_match_print_info(const cm_match_file *file)
{
    cm_match_info info;
    cm_match_info_get(file, &info);
    const cm_scene *scene = cm_match_scene(file);
    char name[6 * CM_NAME_MAX + 3], module[6 * sizeof info.module + 3];
    char engine[6 * sizeof info.engine_text + 3], room[6 * sizeof info.room + 3];
    char opened[6 * sizeof info.opened + 3];
    cm_json_quote(scene != NULL ? cm_scene_name(scene) : "", name, sizeof name);
    cm_json_quote(info.module, module, sizeof module);
    cm_json_quote(info.engine_text, engine, sizeof engine);
    cm_json_quote(info.room, room, sizeof room);
    printf("{\"match_id\": \"%016" PRIx64 "\", \"format\": %u, \"scene\": %s", info.match_id,
           info.format, name);
    printf(", \"bodies\": %u, \"module\": %s, \"module_version\": %u, \"module_source\": \"%s\"",
           scene != NULL ? cm_scene_body_count(scene) : 0, module, info.module_version,
           info.module_source);
    printf(", \"engine_version\": %u, \"engine\": %s, \"layout_hash\": \"%016" PRIx64 "\"",
           info.engine_version, engine, info.layout_hash);
    printf(", \"room\": %s, ", room);
    if (info.opened[0] != '\0') {
        cm_json_quote(info.opened, opened, sizeof opened);
        printf("\"opened\": %s, ", opened);
    }
    printf("\"sign_key\": \"%s\"", info.sign_key);
    printf(", \"seed\": \"%016" PRIx64 "\", \"started_unix_ms\": %" PRIu64 ", \"tick_rate\": %u",
           info.seed, info.started_unix_ms, info.tick_rate);
    printf(", \"ticks\": %" PRIu64 ", \"seconds\": %.3f, \"inputs\": %" PRIu64, info.ticks,
           (double)info.ticks / (double)info.tick_rate, info.inputs);
    printf(", \"keyframes\": %u, \"joins\": %u, \"leaves\": %u", info.keyframes, info.joins,
           info.leaves);
    if (info.parent != 0) {
        printf(", \"goes_on_from\": \"%016" PRIx64 "\", \"origin\": \"%016" PRIx64
               "\", \"gap_from\": %" PRIu64 ", \"gap_to\": %" PRIu64,
               info.parent, info.origin, info.gap_from, info.gap_to);
    }
    printf(", \"resumes\": %u, \"end\": \"%s\"", info.resumes, cm_match_end_name(info.end));
    printf(", \"bytes\": %" PRIu64, info.bytes);
}

// A file that is not there or not a match is bad input; one whose reading fails a failed operation.
static int refuse(const char *path, carom_result result, const cm_match_error *error)
{
    cm_cli_error("%s: %s", path, error->message);
    bool failed =
        result == CAROM_ERROR_MEMORY || (result == CAROM_ERROR_IO && access(path, R_OK) == 0);
    return failed ? CM_STATUS_FAILED : CM_STATUS_USAGE;
}

// The one argument of a subcommand, NULL after a message.
static const char *one_file(int argc, char **argv, const cm_option *options, uint32_t count)
{
    const char *path = NULL;
    uint32_t given = 0;
    if (cm_cli_options(argc, argv, options, count, &path, 1, &given) != CM_STATUS_DONE) {
        return NULL;
    }
    if (given != 1) {
        cm_cli_error("%s: expected one match file, see 'carom help match'", argv[0]);
        return NULL;
    }
    return path;
}

static int info(int argc, char **argv)
{
    const char *socket = NULL;
    const cm_option options[] = {{.name = "admin", .kind = CM_OPTION_TEXT, .value = &socket}};
    const char *path = one_file(argc, argv, options, 1);
    cm_match_file *file;
    cm_match_error error;
    if (path == NULL) {
        return CM_STATUS_USAGE;
    }
    carom_result result = cm_match_open(path, &file, &error);
    if (result == CAROM_ERROR_IO && cm_match_live_info(path, socket)) {
        return cm_cli_finish(CM_STATUS_DONE);
    }
    if (result != CAROM_OK) {
        return refuse(path, result, &error);
    }
    cm_match_print_info(file);
    printf("}\n");
    cm_match_close(file);
    return cm_cli_finish(CM_STATUS_DONE);
}

// Changes -------------------------------------------------------------------------------------

static int erase_player(int argc, char **argv)
{
    const char *client = NULL, *db = CM_CATALOGUE_DEFAULT;
    const cm_option options[] = {
        {.name = "client-id", .kind = CM_OPTION_TEXT, .value = &client},
        {.name = "db", .kind = CM_OPTION_TEXT, .value = &db},
    };
    const char *path = one_file(argc, argv, options, 2);
    if (path == NULL) {
        return CM_STATUS_USAGE;
    }
    uint64_t id;
    if (!cm_cli_client_id(argv[0], client, &id)) {
        return CM_STATUS_USAGE;
    }
    uint32_t rows = 0;
    cm_match_error error;
    cm_match_entry entry;
    bool is_indexed = cm_match_is_indexed(db, path, &entry);
    carom_result result = cm_match_erase(path, id, &rows, &error);
    if (result != CAROM_OK) {
        return refuse(path, result, &error);
    }
    if (is_indexed && !cm_match_index_again(db, path, &entry)) {
        return CM_STATUS_FAILED;
    }
    printf("{\"client_id\": \"%s\", \"erased\": %u}\n", client, rows);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int extract(int argc, char **argv)
{
    const char *out = NULL, *socket = NULL;
    bool redact = false, backup = strcmp(argv[0], "match backup") == 0;
    const cm_option options[] = {
        {.name = "out", .kind = CM_OPTION_TEXT, .value = &out},
        {.name = "redact", .kind = CM_OPTION_FLAG, .value = &redact},
        {.name = "admin", .kind = CM_OPTION_TEXT, .value = &socket},
    };
    const char *path = one_file(argc, argv, options, backup ? 3 : 2);
    if (path == NULL) {
        return CM_STATUS_USAGE;
    }
    if (out == NULL) {
        return cm_cli_usage("%s: expected --out FILE", argv[0]);
    }
    cm_match_error error;
    carom_result result = cm_match_extract(path, out, redact, &error);
    int live = result == CAROM_ERROR_IO && backup ? cm_match_live_backup(path, socket, out) : -1;
    if (live == CM_STATUS_DONE && redact) {
        uint32_t rows;
        result = cm_match_erase(out, 0, &rows, &error);
        if (result != CAROM_OK) {
            unlink(out); // it holds what was to be left out
            return refuse(out, result, &error);
        }
    }
    if (live >= 0) {
        return cm_cli_finish(live);
    }
    if (result == CAROM_ERROR_STATE) {
        return cm_cli_usage("%s", error.message);
    }
    return result == CAROM_OK ? CM_STATUS_DONE : refuse(path, result, &error);
}

static void print_difference(const cm_match_difference *found)
{
    bool same = !found->made_differs && !found->input_differs && !found->hash_differs &&
                found->ticks[0] == found->ticks[1];
    printf("{\"same\": %s, \"ticks\": [%" PRIu64 ", %" PRIu64 "]", same ? "true" : "false",
           found->ticks[0], found->ticks[1]);
    bool agree = !found->made_differs && !found->input_differs && !found->hash_differs;
    uint64_t common = found->ticks[0] < found->ticks[1] ? found->ticks[0] : found->ticks[1];
    printf(", \"common_ticks\": %" PRIu64 ", \"common_ticks_agree\": %s", common,
           agree ? "true" : "false");
    if (found->made_differs) {
        printf(", \"made_differs\": \"%s\"", found->made);
    }
    if (found->input_differs) {
        printf(", \"first_other_input_tick\": %" PRIu64, found->input_tick);
    }
    if (found->hash_differs) {
        printf(", \"first_other_hash_tick\": %" PRIu64, found->hash_tick);
    }
    printf("}\n");
}

static int diff(int argc, char **argv)
{
    const char *paths[2] = {NULL, NULL};
    cm_match_file *files[2] = {NULL, NULL};
    cm_match_error error;
    uint32_t count = 0;
    int status = cm_cli_options(argc, argv, NULL, 0, paths, 2, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count != 2) {
        return cm_cli_usage("match diff: expected two match files, see 'carom help match'");
    }
    for (int i = 0; status == CM_STATUS_DONE && i < 2; i++) {
        carom_result result = cm_match_open(paths[i], &files[i], &error);
        status = result == CAROM_OK ? status : refuse(paths[i], result, &error);
    }
    cm_match_difference found;
    if (status == CM_STATUS_DONE) {
        carom_result result = cm_match_compare(files[0], files[1], &found, &error);
        status = result == CAROM_OK ? status : refuse(paths[0], result, &error);
    }
    if (status == CM_STATUS_DONE) {
        print_difference(&found);
    }
    cm_match_close(files[0]);
    cm_match_close(files[1]);
    return cm_cli_finish(status);
}

static int keygen(int argc, char **argv)
{
    const char *out = NULL;
    const cm_option options[] = {{.name = "out", .kind = CM_OPTION_TEXT, .value = &out}};
    int status = cm_cli_options(argc, argv, options, 1, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (out == NULL) {
        return cm_cli_usage("match keygen: expected --out FILE");
    }
    uint8_t key[CM_SIGN_KEY_BYTES];
    char error[512];
    carom_result result = cm_sign_key_make(out, key, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("%s", error);
        return result == CAROM_ERROR_STATE ? CM_STATUS_USAGE : CM_STATUS_FAILED;
    }
    for (size_t i = 0; i < sizeof key; i++) {
        printf("%02x", key[i]);
    }
    printf("\n");
    return cm_cli_finish(CM_STATUS_DONE);
}

static struct {
    char name[24];
    int (*run)(int argc, char **argv);
} commands[] = {
    {"match info", info},
    {"match list", cm_match_list},
    {"match prune", cm_match_prune},
    {"match diff", diff},
    {"match extract", extract},
    {"match erase-player", erase_player},
    {"match keygen", keygen},
    {"match backup", extract},
    {"match stream", cm_match_stream},
    {"match verify", cm_match_verify},
};

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(argv[1], commands[i].name + strlen("match ")) == 0) {
            argv[1] = commands[i].name; // messages name the command
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return cm_cli_usage(
        "match: expected info, list, prune, diff, extract, backup, erase-player, keygen, stream "
        "or verify, see 'carom help match'");
}

// clang-format off
const cm_command cm_match_command = {
    "match", run_command,
    "looks into match files\n"
    "usage: carom match info FILE [--admin SOCKET]\n"
    "       carom match list [--matches DIR] [--db FILE] [--add]\n"
    "       carom match prune [--matches DIR] [--db FILE] [--keep COUNT] [--older-than DAYS]\n"
    "                         [--dry-run]\n"
    "       carom match diff FILE FILE\n"
    "       carom match extract|backup FILE --out NEW [--redact]\n"
    "       carom match backup FILE --out NEW [--admin SOCKET]\n"
    "       carom match erase-player FILE --client-id NUMBER [--db FILE]\n"
    "       carom match keygen --out FILE\n"
    "       carom match stream FILE --out DIR [--sign-key FILE]\n"
    "       carom match verify DIR|URL [--pubkey FILE] [--module FILE.so] [--join] [--follow]\n"
    "\n"
    "info prints what a match file holds: scene, module, versions, players, ticks, how it ended;\n"
    "of a match that runs its server is asked, by admin.sock beside the file or --admin;\n"
    "list the same for each *.match of a directory (matches), a line each, with what the catalogue's\n"
    "index (--db, " CM_CATALOGUE_DEFAULT ") says of it: 'yes' (the file is as its server left it), 'changed'\n"
    "(it is not), 'no' (not in the index), 'live', 'unfinished' (its server never ended it), 'missing'\n"
    "(the file is gone). --add proves files that are not in the index, and takes them in.\n"
    "prune removes matches whose index is 'yes': all but the newest COUNT, or those that began more\n"
    "than DAYS days ago, or both, and prints their paths. All others stay.\n"
    "diff says from which tick on two matches have other inputs and other states, or that all\n"
    "ticks which both have agree. made_differs: the first of engine, layout, module, seed, tick rate\n"
    "and scene that is another one; two live matches have other seeds, which are in the state's hash.\n"
    "extract copies a match into one file without free pages; backup does the same, and of a match that\n"
    "runs has its server copy what is committed, while it goes on; --redact leaves out all names and\n"
    "addresses. erase-player overwrites those of one client in the file. Both still verify; what a\n"
    "module was given (user data, messages) is part of the simulation and stays.\n"
    "keygen makes a key that signs recordings (serve --sign-key FILE): the secret in FILE, mode 0600,\n"
    "and its public half in FILE.pub and on stdout (replay --verify --pubkey FILE.pub).\n"
    "stream makes the chunks that viewers fetch, DIR/ID/index.json and DIR/ID/EPOCH/N.chunk (PROTOCOL.md\n"
    "11); the bytes before zstd are those that its server gave, signed where --sign-key is its key.\n"
    "verify takes a folder of chunks in order, or those of http://HOST:PORT/stream/ID, checks chain and\n"
    "signatures, runs every tick again and names the chunk where something differs (status 1).\n"
    "'authentic': all signed by --pubkey. Over HTTP --join begins with the newest keyframe, as a viewer does\n"
    "who comes late, and --follow goes on with what comes, a line a chunk, to the match's end.\n",
    NULL};
// clang-format on
