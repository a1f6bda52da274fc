// `carom module`: writes a new game module, checks one from a file, and tries it.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/node/module_loader.h"
#include "server/cli/cli.h"
#include "server/tools/module/template.h"
#include "server/tools/module/trial.h"
#include "shared/base/hash.h"
#include "shared/scene/scene_json.h"

#define TRIAL_TICKS 600
#define TRIAL_SEEDS 3 // 1, 2, 3, where none is named

static int check(const char *path)
{
    cm_loaded_module loaded;
    char error[1024] = "";
    carom_result result = cm_module_load(path, &loaded, error, sizeof error);
    if (result != CAROM_OK) {
        return cm_cli_usage("%s", error);
    }
    const carom_module *m = loaded.module;
    printf(
        "{\"module\": \"%s\", \"version\": %u, \"abi\": %u, \"source\": \"%s\", \"file\": \"%s\", "
        "\"input_size\": %u, \"state_size\": %u, \"public_size\": %u}\n",
        m->name, m->version, m->abi, m->source, loaded.file_hash, m->input_size, m->state_size,
        m->public_size);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int make_new(const char *directory, const char *name)
{
    char error[512] = "";
    carom_result result = cm_template_write(directory, name, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("module: new: %s", error);
        return result == CAROM_ERROR_IO ? CM_STATUS_FAILED : CM_STATUS_USAGE;
    }
    printf("%s/%s: 'make' builds it, 'make test' tries it, README.md says more\n", directory, name);
    return cm_cli_finish(CM_STATUS_DONE);
}

// {"goal":3}: how often each kind of event came, by its name; by its number where it has none, or
// one that would want escapes.
static void print_events(const cm_trial_report *r)
{
    printf("{");
    for (uint32_t i = 0; i < r->kind_count; i++) {
        const cm_trial_events *row = &r->kinds[i];
        bool plain = row->name[0] != '\0';
        for (const char *at = row->name; *at != '\0'; at++) {
            plain = plain && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\';
        }
        printf("%s\"", i > 0 ? "," : "");
        plain ? printf("%s", row->name) : printf("%u", row->kind);
        printf("\":%u", row->count);
    }
    printf("}");
}

static int print_report(const char *path, const cm_trial_report *r)
{
    if (!r->sound) {
        return cm_cli_failed("%s: %s", path, r->finding);
    }
    printf("{\"module\": \"%s\", \"result\": \"sound\", \"ticks\": %u, \"made_again\": %u, "
           "\"rewinds\": %u, \"decodes\": %u, \"hostile_states\": %u, \"joins\": %u, "
           "\"leaves\": %u, \"messages\": %u, \"inputs\": %u, \"refused_inputs\": %u, "
           "\"sent\": %u, \"emitted\": %u, \"events\": ",
           r->module, r->ticks, r->again, r->rewinds, r->decodes, r->hostile_states, r->joins,
           r->leaves, r->messages, r->inputs, r->refused_inputs, r->sent, r->emitted);
    print_events(r);
    printf(", \"hash\": \"%016" PRIx64 "\", \"tick_us_mean\": %.1f, \"tick_us_max\": %.1f}\n",
           r->final_hash, 1e-3 * (double)r->tick_ns_sum / r->ticks, 1e-3 * (double)r->tick_ns_max);
    return cm_cli_finish(CM_STATUS_DONE);
}

// The default scene: NAME.json beside NAME.so, else a ground and a crate.
static carom_result find_scene(const char *path, char beside[1024], cm_scene **scene,
                               cm_scene_error *error)
{
    static const char plain[] =
        "{\"carom\": 1, \"name\": \"plain\", \"bodies\": ["
        "{\"name\": \"ground\", \"type\": \"static\","
        " \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]},"
        "{\"name\": \"crate\", \"position\": [0, 0.5, 0],"
        " \"shapes\": [{\"box\": {\"half_extents\": [0.5, 0.5, 0.5]}}]}]}";
    size_t length = strlen(path);
    length = length > 3 && strcmp(path + length - 3, ".so") == 0 ? length - 3 : length;
    snprintf(beside, 1024, "%.*s.json", (int)(length < 1000 ? length : 1000), path);
    return access(beside, R_OK) == 0 ? cm_scene_from_file(beside, scene, error)
                                     : cm_scene_from_json(plain, strlen(plain), scene, error);
}

// The counts of one seed to those before it.
static void add_report(cm_trial_report *all, const cm_trial_report *one)
{
    cm_trial_report sum = *one;
    cm_hash hash = cm_hash_begin(all->final_hash);
    cm_hash_u64(&hash, one->final_hash);
    sum.final_hash = all->ticks > 0 ? cm_hash_end(&hash) : one->final_hash;
    sum.ticks += all->ticks;
    sum.joins += all->joins;
    sum.leaves += all->leaves;
    sum.messages += all->messages;
    sum.inputs += all->inputs;
    sum.refused_inputs += all->refused_inputs;
    sum.again += all->again;
    sum.rewinds += all->rewinds;
    sum.decodes += all->decodes;
    sum.hostile_states += all->hostile_states;
    sum.sent += all->sent;
    sum.emitted += all->emitted;
    for (uint32_t i = 0; i < all->kind_count; i++) {
        cm_trial_add_events(&sum, &all->kinds[i]);
    }
    sum.tick_ns_sum += all->tick_ns_sum;
    sum.tick_ns_max = all->tick_ns_max > one->tick_ns_max ? all->tick_ns_max : one->tick_ns_max;
    *all = sum;
}

// `seed` negative: several.
static int try_module(const char *path, const char *scene_name, int64_t seed, int64_t ticks)
{
    cm_trial_def def = {.path = path, .ticks = (uint32_t)ticks};
    cm_trial_report report, all = {.sound = true};
    cm_scene_error error;
    cm_scene *scene = NULL;
    char beside[1024] = "";
    memset(&error, 0, sizeof error);
    carom_result result = scene_name != NULL ? cm_scene_from_file(scene_name, &scene, &error)
                                             : find_scene(path, beside, &scene, &error);
    if (result != CAROM_OK) {
        cm_cli_scene_error(scene_name != NULL ? scene_name : beside, &error);
        return CM_STATUS_USAGE;
    }
    def.scene = scene;
    uint64_t first = seed >= 0 ? (uint64_t)seed : 1, count = seed >= 0 ? 1 : TRIAL_SEEDS;
    for (uint64_t i = 0; i < count && result == CAROM_OK && all.sound; i++) {
        def.seed = first + i;
        result = cm_trial_run(&def, &report);
        add_report(&all, &report);
    }
    cm_scene_free(scene);
    if (result == CAROM_OK) {
        return print_report(path, &all);
    }
    cm_cli_error("%s%s%s", report.finding[0] != '\0' ? "" : path,
                 report.finding[0] != '\0' ? "" : ": ",
                 report.finding[0] != '\0' ? report.finding : carom_result_text(result));
    return result == CAROM_ERROR_ARGUMENT ? CM_STATUS_USAGE : CM_STATUS_FAILED;
}

static int run_command(int argc, char **argv)
{
    const char *words[2] = {NULL, NULL}, *directory = ".", *scene = NULL;
    int64_t seed = -1, ticks = TRIAL_TICKS;
    bool has_directory = false, has_trial = false;
    uint32_t count = 0;
    const cm_option options[] = {
        {"dir", CM_OPTION_TEXT, &directory, 0, 0, NULL, &has_directory},
        {"scene", CM_OPTION_TEXT, &scene, 0, 0, NULL, &has_trial},
        {"seed", CM_OPTION_INT, &seed, 0, 9e15, NULL, &has_trial},
        {"ticks", CM_OPTION_INT, &ticks, 1, CM_TRIAL_TICKS_MAX, NULL, &has_trial},
    };
    int status =
        cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], words, 2, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    const char *verb = count == 2 ? words[0] : "";
    if (has_directory && strcmp(verb, "new") != 0) {
        return cm_cli_usage("module: --dir: only with new");
    }
    if (has_trial && strcmp(verb, "test") != 0) {
        return cm_cli_usage("module: --scene, --seed, --ticks: only with test");
    }
    if (strcmp(verb, "new") == 0) {
        return make_new(directory, words[1]);
    }
    if (strcmp(verb, "check") == 0) {
        return check(words[1]);
    }
    if (strcmp(verb, "test") == 0) {
        return try_module(words[1], scene, seed, ticks);
    }
    return cm_cli_usage("module: expected new NAME, check FILE.so or test FILE.so, see 'carom help "
                        "module'");
}

// clang-format off
const cm_command cm_module_command = {
    "module", run_command,
    "game modules from files\n"
    "usage: carom module new NAME [--dir D] | check FILE.so\n"
    "                    test FILE.so [--scene FILE] [--seed N] [--ticks N]\n"
    "\n"
    "  new     writes the folder D/NAME (D: here): module.c, a scene, client/main.c, Makefile,\n"
    "          CMakeLists.txt, match.sh and README.md; it builds against installed headers, by\n"
    "          pkg-config carom-sim and, the client, carom-client\n"
    "  check   whether a server would take the module, before any of it runs: an ELF shared\n"
    "          library of this machine that imports nothing but what a module may call, has no\n"
    "          constructors, no data that stays writable and no libraries, and was built with\n"
    "          this engine's determinism flags. Prints one JSON object: name, version, ABI,\n"
    "          SHA-256 of its source (client and server agree by these four), BLAKE2b-256 of the\n"
    "          file, sizes in bytes. Else status 2 and the reason. It is a check of discipline,\n"
    "          not a sandbox: a module runs as the server does.\n"
    "  test    plays it with players drawn from each of " CM_HELP(TRIAL_SEEDS) " seeds (--seed N: from that one), sensible\n"
    "          and hostile, for some ticks (" CM_HELP(TRIAL_TICKS) "); the module's bot, if it has one, plays every other slot,\n"
    "          since random inputs rarely come to where rules count. Every tick is made again: after a\n"
    "          restore, with other bytes on the stack, rewound into a second game, decoded, and in three processes where memory lies\n"
    "          elsewhere; hashes and messages must be the same. States that a stranger may send\n"
    "          must neither crash it nor make it loop. After each callback nothing beside the state\n"
    "          was written, and MXCSR and x87 are as they were. Prints counts (`events`: how\n"
    "          often each kind came, so whether the play reached your rule), and the processor\n"
    "          time of a tick, us. --scene: its scene; else NAME.json beside NAME.so. Status 1: what\n"
    "          differs first, in which callback, where, and why that may be\n",
    NULL};
// clang-format on
