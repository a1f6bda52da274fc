// `carom match info FILE`: what a match file holds, as one JSON object. 64-bit ids, seeds and
// hashes are strings of 16 hex digits, since a JSON number does not hold them.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/tools/cli/cli.h"
#include "server/record/match_file.h"
#include "server/record/sign_key.h"
#include "shared/scene/scene_json.h"

static void print_info(const cm_match_file *file)
{
    cm_match_info info;
    cm_match_info_get(file, &info);
    const cm_scene *scene = cm_match_scene(file);
    char name[6 * CM_NAME_MAX + 3], module[6 * sizeof info.module + 3];
    char engine[6 * sizeof info.engine_text + 3];
    cm_json_quote(scene != NULL ? cm_scene_name(scene) : "", name, sizeof name);
    cm_json_quote(info.module, module, sizeof module);
    cm_json_quote(info.engine_text, engine, sizeof engine);
    printf("{\"match_id\": \"%016" PRIx64 "\", \"format\": %u, \"scene\": %s", info.match_id,
           info.format, name);
    printf(", \"bodies\": %u, \"module\": %s, \"module_version\": %u",
           scene != NULL ? cm_scene_body_count(scene) : 0, module, info.module_version);
    printf(", \"engine_version\": %u, \"engine\": %s, \"layout_hash\": \"%016" PRIx64 "\"",
           info.engine_version, engine, info.layout_hash);
    printf(", \"sign_key\": \"%s\"", info.sign_key);
    printf(", \"seed\": \"%016" PRIx64 "\", \"started_unix_ms\": %" PRIu64 ", \"tick_rate\": %u",
           info.seed, info.started_unix_ms, info.tick_rate);
    printf(", \"ticks\": %" PRIu64 ", \"seconds\": %.3f, \"inputs\": %" PRIu64, info.ticks,
           (double)info.ticks / (double)info.tick_rate, info.inputs);
    printf(", \"keyframes\": %u, \"joins\": %u, \"leaves\": %u, \"end\": \"%s\"", info.keyframes,
           info.joins, info.leaves, cm_match_end_name(info.end));
    printf(", \"bytes\": %" PRIu64 "}\n", info.bytes);
}

static int print_file(const char *path)
{
    cm_match_file *file;
    cm_match_error error;
    carom_result result = cm_match_open(path, &file, &error);
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s", path, error.message);
        bool failed =
            result == CAROM_ERROR_MEMORY || (result == CAROM_ERROR_IO && access(path, R_OK) == 0);
        return failed ? CM_STATUS_FAILED : CM_STATUS_USAGE;
    }
    print_info(file);
    cm_match_close(file);
    return cm_cli_finish(CM_STATUS_DONE);
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
        cm_cli_error("match keygen: expected --out FILE");
        return CM_STATUS_USAGE;
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

static int run_command(int argc, char **argv)
{
    static const char *const later[] = {"list", "diff", "extract", "prune", "backup"};
    for (size_t i = 0; argc > 1 && i < sizeof later / sizeof later[0]; i++) {
        if (strcmp(argv[1], later[i]) == 0) {
            cm_cli_error("match %s: not built yet", later[i]);
            return CM_STATUS_USAGE;
        }
    }
    if (argc > 1 && strcmp(argv[1], "keygen") == 0) {
        return keygen(argc - 1, argv + 1);
    }
    const char *arguments[2] = {NULL, NULL};
    uint32_t count = 0;
    int status = cm_cli_options(argc, argv, NULL, 0, arguments, 2, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count != 2 || strcmp(arguments[0], "info") != 0) {
        cm_cli_error("match: expected 'info FILE', see 'carom help match'");
        return CM_STATUS_USAGE;
    }
    return print_file(arguments[1]);
}

const cm_command cm_match_command = {
    "match", run_command,
    "looks into match files\n"
    "usage: carom match info FILE\n"
    "       carom match keygen --out FILE\n"
    "\n"
    "info prints what a match file holds: scene, module, versions, players, ticks, how it ended.\n"
    "keygen makes a key that signs recordings (serve --sign-key FILE): the secret in FILE, mode "
    "0600,\n"
    "and its public half in FILE.pub and on stdout (replay --verify --pubkey FILE.pub).\n",
    NULL};
