// `carom bench`: times the benchmark scenes and other benchmarks, JSON lines on stdout.
//
// A scene that cannot be run is reported on stderr and the others still run; the status is then the
// worst one's: 2 for a scene that was refused, 1 where runs of one scene disagreed.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/tools/bench/codec_run.h"
#include "server/tools/bench/crowd.h"
#include "server/tools/bench/impact.h"
#include "server/tools/bench/queries.h"
#include "server/tools/bench/recording.h"
#include "server/tools/bench/rewind.h"
#include "server/tools/bench/scene_run.h"
#include "server/tools/bench/seal.h"
#include "server/tools/bench/worlds.h"
#include "server/tools/feel/hand.h"
#include "server/tools/feel/table.h"
#include "server/cli/cli.h"
#include "shared/scene/scene_json.h"

#define SCENES_MAX     64u
#define SCENE_PATH_MAX 512u
#define SCENES_DIR     "tests/scenes/bench"
#define GAMES_DIR      "tests/scenes/games"
#define GAME_STEPS     1800
#define FROM_NORMAL    60
#define STEPS          360
#define RUNS           3
#define REWINDS        101
#define PILE_RUNS      1
#define PILE_SEEDS     5
#define RECORDED_S     60
#define IMPACT_RUNS    11
#define SEAL_RUNS      101
#define QUERY_RUNS     31
#define QUERY_RAYS     10000
#define QUERY_SCENE    "B_pile1000"
#define COLLISIONS     1000000
#define CODEC_RUNS     3
#define CODEC_SEED     1
#define CODEC_FRAMES   600
#define FEEL_S         60
#define FEEL_SEEDS     1
#define FEEL_GAMES     16u
#define FEW_BODIES     256
#define FEW_TICKS      12
#define MANY_BODIES    901
#define MANY_TICKS     8

typedef struct scene_list {
    char path[SCENES_MAX][SCENE_PATH_MAX];
    uint32_t count;
} scene_list;

static const char *solver_name(carom_solver_type solver)
{
    static const char *const NAMES[] = {"soft", "impulse", "lcp", "volume"};
    return (unsigned)solver <= CAROM_SOLVER_VOLUME ? NAMES[solver] : "unknown";
}

static void print_run(const char *name, const cm_scene_run_options *options,
                      const cm_scene_run *run)
{
    char quoted[6 * CM_NAME_MAX + 3];
    cm_json_quote(name, quoted, sizeof quoted);
    printf("{\"scene\":%s,\"bodies\":%u,\"solver\":\"%s\",\"steps\":%u", quoted,
           (unsigned)run->bodies, solver_name(run->solver), (unsigned)options->steps);
    printf(",\"ms_median\":%.4f,\"ms_mean\":%.4f,\"ms_p99\":%.4f", run->step.median, run->step.mean,
           run->step.p99);
    printf(",\"hash\":\"%016llx\",\"save_us\":%.2f,\"restore_us\":%.2f,\"cold_save_us\":%.2f,"
           "\"cold_restore_us\":%.2f,\"state_bytes\":%zu",
           (unsigned long long)run->hash, run->save_us, run->restore_us, run->cold_save_us,
           run->cold_restore_us, run->state_bytes);
    printf(",\"max_penetration\":%.9g,\"mean_penetration\":%.9g,\"top_height\":%.9g,"
           "\"joint_error\":%.9g,\"worst_penetration\":%.9g,\"kinetic_energy\":%.9g,"
           "\"energy_lost\":%.9g",
           run->quality.max_penetration, run->quality.mean_penetration, run->quality.top_height,
           run->quality.joint_error, run->worst_penetration, run->kinetic_energy, run->energy_lost);
    if (options->may_sleep) {
        printf(",\"fell\":%u,\"asleep\":%u,\"fastest\":%.9g,\"contacts_cut\":%llu",
               (unsigned)run->fell, (unsigned)run->asleep, run->fastest,
               (unsigned long long)run->contacts_cut);
    }
    printf("}\n");
    fflush(stdout);
}

static int worse(int a, int b)
{
    return a == CM_STATUS_DONE ? b : (b == CM_STATUS_DONE ? a : (a > b ? a : b));
}

static int bench_scene(const char *path, const cm_scene_run_options *options)
{
    cm_scene *scene = NULL;
    cm_scene_error error;
    cm_scene_run run;
    if (cm_scene_from_file(path, &scene, &error) != CAROM_OK) {
        cm_cli_scene_error(path, &error);
        return CM_STATUS_USAGE;
    }
    int status = CM_STATUS_DONE;
    const cm_scene_run_source source = {.scene = scene};
    carom_result result = cm_scene_run_measure(&source, options, &run);
    if (result != CAROM_OK) {
        cm_cli_error("%s: %s", path, carom_result_text(result));
        status = result == CAROM_ERROR_NOT_BUILT ? CM_STATUS_USAGE : CM_STATUS_FAILED;
    } else {
        print_run(cm_scene_name(scene), options, &run);
        if (!run.same) {
            status = cm_cli_failed("%s: runs of the same scene ended with different hashes", path);
        }
    }
    cm_scene_free(scene);
    return status;
}

static int path_order(const void *left, const void *right)
{
    return strcmp(left, right);
}

// All scenes of a folder, by name.
static bool list_folder(const char *folder, scene_list *list)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        cm_cli_error("bench: %s: no such folder; --scenes DIR names another", folder);
        return false;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0 &&
            list->count < SCENES_MAX) {
            snprintf(list->path[list->count++], SCENE_PATH_MAX, "%s/%s", folder, entry->d_name);
        }
    }
    closedir(dir);
    qsort(list->path, list->count, SCENE_PATH_MAX, path_order);
    if (list->count == 0) {
        cm_cli_error("bench: %s: no scenes (*.json) there", folder);
    }
    return list->count > 0;
}

// A scene by file, or by its name in the folder.
static void find_scene(const char *folder, const char *name, char *path)
{
    snprintf(path, SCENE_PATH_MAX, "%s/%s.json", folder, name);
    if (access(path, R_OK) != 0) {
        snprintf(path, SCENE_PATH_MAX, "%s", name);
    }
}

static int bench_rewind(bool pile, uint32_t bodies, uint32_t ticks, uint32_t runs)
{
    carom_world *world = pile ? cm_bench_pile(bodies, 10, CM_BENCH_SEED) : cm_bench_towers(bodies);
    cm_rewind rewind;
    carom_result result =
        world == NULL ? CAROM_ERROR_MEMORY : cm_rewind_measure(world, ticks, runs, &rewind);
    cm_bench_world_free(world);
    if (result != CAROM_OK) {
        return cm_cli_failed("bench: rollback: %s", carom_result_text(result));
    }
    printf("{\"bench\":\"rollback\",\"scene\":\"%s\",\"bodies\":%u,\"ticks\":%u,\"ms_median\":%.4f,"
           "\"ms_p99\":%.4f,\"hash_equal\":%s}\n",
           pile ? "pile" : "towers", (unsigned)bodies, (unsigned)ticks, rewind.time.median,
           rewind.time.p99, rewind.hash_equal ? "true" : "false");
    fflush(stdout);
    return rewind.hash_equal ? CM_STATUS_DONE : CM_STATUS_FAILED;
}

static int bench_rewinds(int argc, char **argv)
{
    int64_t runs = REWINDS;
    const cm_option options[] = {
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 100000},
    };
    int status = cm_cli_options(argc, argv, options, 1, NULL, 0, NULL);
    for (int i = 0; i < 4 && status != CM_STATUS_USAGE && status != CM_STATUS_FAILED; i++) {
        bool pile = i >= 2, many = i % 2 == 1;
        status = worse(status, bench_rewind(pile, many ? MANY_BODIES : FEW_BODIES,
                                            many ? MANY_TICKS : FEW_TICKS, (uint32_t)runs));
    }
    return status == CM_STATUS_USAGE ? status : cm_cli_finish(status);
}

// One pile; `cost` is what a body of the first costs, 0 where this is it.
static int bench_pile(uint32_t bodies, uint32_t row, uint32_t seed,
                      const cm_scene_run_options *options, double *cost)
{
    const cm_scene_run_source source = {.pile_bodies = bodies, .pile_row = row, .pile_seed = seed};
    cm_scene_run run;
    carom_result result = cm_scene_run_measure(&source, options, &run);
    if (result != CAROM_OK) {
        return cm_cli_failed("bench: piles: %s", carom_result_text(result));
    }
    double us = 1e3 * run.step.mean / bodies;
    *cost = *cost > 0.0 ? *cost : us;
    printf("{\"bench\":\"piles\",\"bodies\":%u,\"seed\":%u,\"steps\":%u,\"ms_mean\":%.4f,"
           "\"us_per_body\":%.4f,\"over_first\":%.3f,\"max_penetration\":%.9g,"
           "\"mean_penetration\":%.9g,\"worst_penetration\":%.9g,\"kinetic_energy\":%.9g}\n",
           (unsigned)bodies, (unsigned)seed, (unsigned)options->steps, run.step.mean, us,
           us / *cost, run.quality.max_penetration, run.quality.mean_penetration,
           run.worst_penetration, run.kinetic_energy);
    fflush(stdout);
    return run.same ? CM_STATUS_DONE : CM_STATUS_FAILED;
}

static int bench_piles(int argc, char **argv)
{
    int64_t runs = PILE_RUNS, seeds = PILE_SEEDS, steps = STEPS;
    const cm_option options[] = {
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 1000},
        {.name = "seeds", .kind = CM_OPTION_INT, .value = &seeds, .low = 1, .high = 1000},
        {.name = "steps", .kind = CM_OPTION_INT, .value = &steps, .low = 1, .high = 1000000},
    };
    int status = cm_cli_options(argc, argv, options, 3, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    const cm_scene_run_options run = {(uint32_t)steps, FROM_NORMAL < steps ? FROM_NORMAL : 0,
                                      (uint32_t)runs};
    double cost = 0.0;
    status = bench_pile(1000, 10, CM_BENCH_SEED, &run, &cost);
    status = worse(status, bench_pile(20000, 40, CM_BENCH_SEED, &run, &cost));
    for (uint32_t i = 0; i < seeds; i++) {
        status = worse(status, bench_pile(5000, 20, CM_BENCH_SEED + i, &run, &cost));
    }
    return cm_cli_finish(status);
}

static int bench_recording(int argc, char **argv)
{
    int64_t seconds = RECORDED_S;
    const cm_option options[] = {
        {.name = "seconds", .kind = CM_OPTION_INT, .value = &seconds, .low = 1, .high = 86400},
    };
    int status = cm_cli_options(argc, argv, options, 1, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    char folder[] = "/tmp/carom_bench_XXXXXX";
    cm_recording_cost cost;
    carom_result result = mkdtemp(folder) == NULL
                              ? CAROM_ERROR_IO
                              : cm_recording_measure(folder, (uint32_t)seconds, &cost);
    if (result != CAROM_OK) {
        return cm_cli_failed("bench: replay: %s", carom_result_text(result));
    }
    printf("{\"bench\":\"replay\",\"bodies\":%u,\"players\":%u,\"seconds\":%u,\"tick_us\":%.2f,"
           "\"input_bytes_per_tick\":%.1f,\"arrival_bytes_per_tick\":%.1f,"
           "\"keyframe_bytes_per_hour\":%.0f,\"file_bytes_per_tick\":%.1f,"
           "\"verify_x_realtime\":%.1f,\"verify_s\":%.2f,\"verify_s_2_jobs\":%.2f}\n",
           (unsigned)cost.bodies, (unsigned)cost.players, (unsigned)seconds, cost.tick_us,
           cost.input_bytes_per_tick, cost.arrival_bytes_per_tick, cost.keyframe_bytes_per_hour,
           cost.file_bytes_per_tick, cost.verify_x_realtime, cost.verify_s[0], cost.verify_s[1]);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int bench_impacts(int argc, char **argv)
{
    int64_t runs = IMPACT_RUNS, collisions = COLLISIONS;
    const cm_option options[] = {
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 1000},
        {.name = "collisions",
         .kind = CM_OPTION_INT,
         .value = &collisions,
         .low = 1,
         .high = 1000000000},
    };
    int status = cm_cli_options(argc, argv, options, 2, NULL, 0, NULL);
    for (uint32_t which = 0; which < 3 && status == CM_STATUS_DONE; which++) {
        cm_impact_bench bench;
        if (cm_impact_bench_measure(which, (uint32_t)collisions, (uint32_t)runs, &bench) !=
            CAROM_OK) {
            return cm_cli_failed("bench: impact: out of memory");
        }
        printf("{\"bench\":\"impact\",\"model\":\"%s\",\"collisions\":%u,\"ms_median\":%.4f,"
               "\"ms_p99\":%.4f,\"ns\":%.1f,\"per_second\":%.0f,\"sum\":%.17g}\n",
               bench.model, (unsigned)bench.collisions, bench.time.median, bench.time.p99,
               1e6 * bench.time.median / bench.collisions,
               1e3 * bench.collisions / bench.time.median, bench.sum);
        fflush(stdout);
    }
    return status == CM_STATUS_USAGE ? status : cm_cli_finish(status);
}

static int bench_seals(int argc, char **argv)
{
    int64_t runs = SEAL_RUNS;
    const cm_option options[] = {
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 100000},
    };
    int status = cm_cli_options(argc, argv, options, 1, NULL, 0, NULL);
    static const uint32_t SIZES[] = {90, 300, 1200};
    for (uint32_t i = 0; i < 3 && status == CM_STATUS_DONE; i++) {
        cm_seal_bench bench;
        carom_result result = cm_seal_bench_measure((uint32_t)runs, SIZES[i], &bench);
        if (result != CAROM_OK) {
            return cm_cli_failed("bench: seal: %s", carom_result_text(result));
        }
        printf("{\"bench\":\"seal\",\"bytes\":%u,\"seal_us\":%.3f,\"open_us\":%.3f,"
               "\"handshake_us\":%.1f,\"handshake_us_p99\":%.1f}\n",
               (unsigned)SIZES[i], bench.seal.median, bench.open.median, bench.handshake.median,
               bench.handshake.p99);
        fflush(stdout);
    }
    return status == CM_STATUS_USAGE ? status : cm_cli_finish(status);
}

// A recording of a crowd of our own. No cubes: out of memory.
static cm_cube_file record_crowd(uint64_t seed, uint32_t frames)
{
    cm_cube_file made = {.frames = frames};
    cm_crowd *crowd = cm_crowd_new(seed);
    made.cubes = calloc((size_t)frames * CM_CODEC_CUBES, sizeof *made.cubes);
    made.wrong = crowd == NULL || made.cubes == NULL ? "out of memory" : NULL;
    for (uint32_t i = 0; i < frames && made.wrong == NULL; i++) {
        cm_crowd_frame(crowd, made.cubes + (size_t)i * CM_CODEC_CUBES);
    }
    cm_crowd_free(crowd);
    return made;
}

static int bench_codec_modes(const char *name, const cm_cube_file *file, uint32_t runs)
{
    static const char *const MODES[CM_CODEC_MODES] = {"fast", "best"};
    char quoted[SCENE_PATH_MAX];
    cm_json_quote(name, quoted, sizeof quoted);
    for (uint32_t mode = 0; mode < CM_CODEC_MODES; mode++) {
        cm_codec_run run;
        if (!cm_codec_run_measure(file, (cm_codec_mode)mode, runs, &run)) {
            return cm_cli_failed("bench: codec: out of memory");
        }
        if (run.wrong_frame != 0) {
            return cm_cli_failed("bench: codec: %s: frame %u did not come back the same", name,
                                 (unsigned)run.wrong_frame);
        }
        printf("{\"file\":%s,\"mode\":\"%s\",\"frames\":%u,\"bytes_per_frame\":%.2f,"
               "\"encode_us\":%.1f,\"decode_us\":%.1f,\"encode_us_mean\":%.1f,"
               "\"decode_us_mean\":%.1f,\"lost_percent\":%.2f,\"lossy_bytes_per_frame\":%.2f}\n",
               quoted, MODES[mode], (unsigned)run.frames, run.bytes_per_frame, run.encode_us,
               run.decode_us, run.encode_us_mean, run.decode_us_mean, 100.0 * run.lost / run.frames,
               run.lossy_bytes_per_frame);
        fflush(stdout);
    }
    return CM_STATUS_DONE;
}

static int bench_codec(int argc, char **argv)
{
    int64_t runs = CODEC_RUNS, seed = CODEC_SEED, frames = CODEC_FRAMES;
    const char *name = NULL;
    uint32_t named = 0;
    const cm_option options[] = {
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 1000},
        {.name = "seed", .kind = CM_OPTION_INT, .value = &seed, .low = 1, .high = 1000000000},
        {.name = "frames", .kind = CM_OPTION_INT, .value = &frames, .low = 7, .high = 10000},
    };
    int status = cm_cli_options(argc, argv, options, 3, &name, 1, &named);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    cm_cube_file file =
        named > 0 ? cm_cube_file_read(name) : record_crowd((uint64_t)seed, (uint32_t)frames);
    if (file.wrong == NULL && file.frames <= CM_CODEC_RUN_FROM) {
        file.wrong = "expected 7 frames or more";
    }
    if (file.wrong != NULL) {
        cm_cli_error("%s:%llu: %s", named > 0 ? name : "bench: codec", (unsigned long long)file.at,
                     file.wrong);
        free(file.cubes);
        return CM_STATUS_USAGE;
    }
    status = bench_codec_modes(named > 0 ? name : "crowd", &file, (uint32_t)runs);
    free(file.cubes);
    return cm_cli_finish(status);
}

static int bench_queries(int argc, char **argv)
{
    int64_t runs = QUERY_RUNS, rays = QUERY_RAYS, steps = STEPS;
    const char *folder = SCENES_DIR, *name = NULL;
    uint32_t named = 0;
    const cm_option options[] = {
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 100000},
        {.name = "rays", .kind = CM_OPTION_INT, .value = &rays, .low = 1, .high = 1000000},
        {.name = "steps", .kind = CM_OPTION_INT, .value = &steps, .low = 0, .high = 1000000},
        {.name = "scenes", .kind = CM_OPTION_TEXT, .value = &folder},
    };
    int status = cm_cli_options(argc, argv, options, 4, &name, 1, &named);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    char path[SCENE_PATH_MAX];
    cm_scene *scene;
    cm_scene_error error;
    cm_query_bench b;
    find_scene(folder, named > 0 ? name : QUERY_SCENE, path);
    if (cm_scene_from_file(path, &scene, &error) != CAROM_OK) {
        cm_cli_scene_error(path, &error);
        return CM_STATUS_USAGE;
    }
    carom_result result =
        cm_query_bench_measure(scene, (uint32_t)steps, (uint32_t)runs, (uint32_t)rays, &b);
    char quoted[6 * CM_NAME_MAX + 3];
    cm_json_quote(cm_scene_name(scene), quoted, sizeof quoted);
    cm_scene_free(scene);
    if (result != CAROM_OK) {
        return cm_cli_failed("bench: queries: %s", carom_result_text(result));
    }
    printf("{\"bench\":\"queries\",\"scene\":%s,\"shapes\":%u,\"rays\":%u,\"hits\":%u,"
           "\"ms_median\":%.4f,\"ms_p99\":%.4f,\"first_ms\":%.4f,\"rays_ms\":%.4f,"
           "\"casts_ms\":%.4f,\"closest_ms\":%.4f,\"overlaps_ms\":%.4f}\n",
           quoted, (unsigned)b.shapes, (unsigned)b.rays, (unsigned)b.hits, b.all.median, b.all.p99,
           b.first.median, b.rays_only.median, b.casts.median, b.closest.median, b.overlaps.median);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int bench_folder(int argc, char **argv, bool games)
{
    int64_t steps = games ? GAME_STEPS : STEPS, from = FROM_NORMAL, runs = games ? 1 : RUNS;
    bool from_given = false;
    const char *folder = games ? GAMES_DIR : SCENES_DIR;
    const char *names[SCENES_MAX];
    uint32_t name_count = 0;
    const cm_option options[] = {
        {.name = "steps", .kind = CM_OPTION_INT, .value = &steps, .low = 1, .high = 1000000},
        {.name = "from",
         .kind = CM_OPTION_INT,
         .value = &from,
         .low = 0,
         .high = 999999,
         .given = &from_given},
        {.name = "runs", .kind = CM_OPTION_INT, .value = &runs, .low = 1, .high = 1000},
        {.name = "scenes", .kind = CM_OPTION_TEXT, .value = &folder},
    };
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], names,
                                SCENES_MAX, &name_count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (from >= steps && from_given) {
        return cm_cli_usage("bench: --from %lld: expected a step below --steps %lld",
                            (long long)from, (long long)steps);
    }
    static scene_list list;
    list.count = 0;
    for (uint32_t i = 0; i < name_count; i++) {
        find_scene(folder, names[i], list.path[list.count++]);
    }
    if (name_count == 0 && !list_folder(folder, &list)) {
        return CM_STATUS_USAGE;
    }
    const cm_scene_run_options run = {(uint32_t)steps, from < steps ? (uint32_t)from : 0,
                                      (uint32_t)runs, games};
    for (uint32_t i = 0; i < list.count; i++) {
        status = worse(status, bench_scene(list.path[i], &run));
    }
    return cm_cli_finish(status);
}

static int bench_scenes(int argc, char **argv)
{
    return bench_folder(argc, argv, false);
}

static int bench_games(int argc, char **argv)
{
    return bench_folder(argc, argv, true);
}

// True if the name is one of the list, between commas; NULL: all are.
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return list == NULL;
}

static int feel_game(const cm_feel_game *game, const char *conditions, cm_feel_options *options,
                     uint32_t seeds)
{
    options->game = game;
    for (options->path = cm_feel_paths; options->path->name != NULL; options->path++) {
        char error[256], line[CM_FEEL_LINE];
        cm_feel_figures worst;
        if (!is_listed(conditions, options->path->name)) {
            continue;
        }
        if (cm_feel_worst(options, seeds, &worst, error, sizeof error) != CAROM_OK) {
            return cm_cli_failed("bench: feel: %s, %s: %s", game->name, options->path->name, error);
        }
        cm_feel_line(options, &worst, line);
        printf("%s\n", line);
        fflush(stdout);
    }
    return CM_STATUS_DONE;
}

static bool is_named(const char *const *names, uint32_t count, const char *name)
{
    bool wanted = count == 0;
    for (uint32_t i = 0; i < count; i++) {
        wanted = wanted || strcmp(names[i], name) == 0;
    }
    return wanted;
}

static int feel_table(const cm_feel_options *options, const char *const *names, uint32_t count,
                      const char *conditions, uint32_t seeds)
{
    char error[256], line[CM_FEEL_LINE];
    uint32_t missed = 0;
    cm_feel_row_head(line);
    printf("%s\n", line);
    for (uint32_t row = 0; cm_feel_row_game(row) != NULL; row++) {
        bool budget = options->budget_kbit == 0 || cm_feel_row_budget(row) == options->budget_kbit;
        if (!is_named(names, count, cm_feel_row_game(row)) || !budget ||
            !is_listed(conditions, cm_feel_row_path(row))) {
            continue;
        }
        if (cm_feel_row(options, row, seeds, line, &missed, error, sizeof error) != CAROM_OK) {
            return cm_cli_failed("bench: feel: %s", error);
        }
        printf("%s\n", line);
        fflush(stdout);
    }
    printf("%u figures are not reached\n", missed);
    return CM_STATUS_DONE;
}

static int bench_feel(int argc, char **argv)
{
    int64_t seconds = FEEL_S, seeds = FEEL_SEEDS, seed = 1, budget_kbit = 0, predict_us = 0;
    const char *conditions = NULL, *sync = "state", *names[FEEL_GAMES];
    uint32_t count = 0;
    bool table = false, scene = false, by_views = false;
    const cm_option options[] = {
        {.name = "table", .kind = CM_OPTION_FLAG, .value = &table},
        {.name = "scene", .kind = CM_OPTION_FLAG, .value = &scene},
        {.name = "predict-us",
         .kind = CM_OPTION_INT,
         .value = &predict_us,
         .low = 0,
         .high = 1000000},
        {.name = "by-views", .kind = CM_OPTION_FLAG, .value = &by_views},
        {.name = "sync", .kind = CM_OPTION_TEXT, .value = &sync},
        {.name = "condition", .kind = CM_OPTION_TEXT, .value = &conditions},
        {.name = "seconds", .kind = CM_OPTION_INT, .value = &seconds, .low = 1, .high = 86400},
        {.name = "seeds", .kind = CM_OPTION_INT, .value = &seeds, .low = 1, .high = 1000},
        {.name = "seed", .kind = CM_OPTION_INT, .value = &seed, .low = 1, .high = 1000000000},
        {.name = "budget-kbit",
         .kind = CM_OPTION_INT,
         .value = &budget_kbit,
         .low = 0,
         .high = 100000},
    };
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], names,
                                FEEL_GAMES, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (strcmp(sync, "state") != 0 && strcmp(sync, "inputs") != 0) {
        return cm_cli_usage("bench: feel: --sync %s: expected state or inputs", sync);
    }
    if (conditions != NULL && cm_feel_paths_wrong(conditions)) {
        return cm_cli_usage("bench: feel: --condition %s: expected " CM_FEEL_PATH_NAMES,
                            conditions);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (cm_feel_game_find(names[i]) == NULL) {
            return cm_cli_usage("bench: feel: %s: expected " CM_FEEL_GAME_NAMES, names[i]);
        }
    }
    cm_config config;
    cm_config_default(&config);
    cm_feel_options run = {.config = &config,
                           .seed = (uint64_t)seed,
                           .seconds = (uint32_t)seconds,
                           .budget_kbit = (uint32_t)budget_kbit,
                           .predict_us = (uint32_t)predict_us,
                           .by_views = by_views,
                           .sync_inputs = strcmp(sync, "inputs") == 0};
    if (table) {
        return cm_cli_finish(feel_table(&run, names, count, conditions, (uint32_t)seeds));
    }
    for (const cm_feel_game *game = cm_feel_games; game->name != NULL; game++) {
        if (scene && is_named(names, count, game->name)) {
            printf("%s\n", game->scene);
        } else if (is_named(names, count, game->name)) {
            status = worse(status, feel_game(game, conditions, &run, (uint32_t)seeds));
        }
    }
    return cm_cli_finish(status);
}

static int bench_hand(int argc, char **argv)
{
    int64_t seed = 1;
    const char *conditions = NULL, *sync = "state", *rest[1];
    uint32_t count = 0;
    const cm_option options[] = {
        {.name = "sync", .kind = CM_OPTION_TEXT, .value = &sync},
        {.name = "condition", .kind = CM_OPTION_TEXT, .value = &conditions},
        {.name = "seed", .kind = CM_OPTION_INT, .value = &seed, .low = 1, .high = 1000000000},
    };
    int status =
        cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], rest, 0, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (strcmp(sync, "state") != 0 && strcmp(sync, "inputs") != 0) {
        cm_cli_error("bench: hand: --sync %s: expected state or inputs", sync);
        return CM_STATUS_USAGE;
    }
    cm_config config;
    cm_config_default(&config);
    cm_hand_options run = {
        .config = &config, .seed = (uint64_t)seed, .sync_inputs = strcmp(sync, "inputs") == 0};
    for (run.path = cm_hand_paths; run.path->name != NULL; run.path++) {
        char error[256], line[CM_HAND_LINE];
        cm_hand_figures figures;
        if (!is_listed(conditions, run.path->name)) {
            continue;
        }
        if (cm_hand_measure(&run, &figures, error, sizeof error) != CAROM_OK) {
            cm_cli_error("bench: hand: %s: %s", run.path->name, error);
            return CM_STATUS_FAILED;
        }
        cm_hand_line(&run, &figures, line);
        printf("%s\n", line);
        fflush(stdout);
    }
    return cm_cli_finish(status);
}

static int bench_load(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cm_cli_usage("bench: load: not built yet");
}

static int run_command(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } BENCHES[] = {
        {"games", bench_games},     {"rollback", bench_rewinds}, {"piles", bench_piles},
        {"impact", bench_impacts},  {"replay", bench_recording}, {"seal", bench_seals},
        {"queries", bench_queries}, {"codec", bench_codec},      {"load", bench_load},
        {"feel", bench_feel},       {"hand", bench_hand},
    };
    for (size_t i = 0; i < sizeof BENCHES / sizeof BENCHES[0]; i++) {
        if (argc > 1 && strcmp(argv[1], BENCHES[i].name) == 0) {
            argv[1] = argv[0]; // messages name the command
            return BENCHES[i].run(argc - 1, argv + 1);
        }
    }
    return bench_scenes(argc, argv);
}

// clang-format off
const cm_command cm_bench_command = {
    "bench", run_command,
    "measures speed and quality\n"
    "usage: carom bench [SCENE...] [options]\n"
    "       carom bench games [SCENE...] [options]\n"
    "       carom bench rollback [--runs N]\n"
    "       carom bench piles [--seeds N] [--steps N] [--runs N]\n"
    "       carom bench impact [--runs N] [--collisions N]\n"
    "       carom bench replay [--seconds N]\n"
    "       carom bench seal [--runs N]\n"
    "       carom bench codec [FILE] [--runs N] [--seed N] [--frames N]\n"
    "       carom bench feel [GAME...] [--sync state|inputs] [--condition NAME,...] [--seconds N] [--seeds N] [--seed N]\n"
    "                        [--budget-kbit N] [--predict-us N] [--by-views] [--table] [--scene]\n"
    "       carom bench hand [--sync state|inputs] [--condition NAME,...] [--seed N]\n"
    "       carom bench queries [SCENE] [--rays N] [--runs N] [--steps N]\n"
    "\n"
    "Runs benchmark scenes (files, or names in the folder; all of it by default) and prints a JSON\n"
    "line for each: scene, bodies (that can move), solver, steps, ms_median, ms_mean, ms_p99 (of a\n"
    "step), hash, save_us, restore_us, cold_save_us, cold_restore_us (the caches full of other\n"
    "things), state_bytes, max_penetration, mean_penetration, top_height (of the highest body's\n"
    "origin), joint_error; worst_penetration (of steps 60 to 360, every fifth), kinetic_energy (J a kg\n"
    "of what moves), energy_lost (of chains: the part of what goes until all hang at rest). Thread CPU\n"
    "time; metres. Quality is measured after the last step, in double precision, on the true shapes.\n"
    "\n"
    "  --steps N      steps of a run (" CM_HELP(STEPS) ")\n"
    "  --from N       first step that is timed (" CM_HELP(FROM_NORMAL) "; 0 where --steps is not above that)\n"
    "  --runs N       runs of each scene, figures are the medians (" CM_HELP(RUNS) ")\n"
    "  --scenes DIR   the folder (" SCENES_DIR ")\n"
    "\n"
    "games: scenes as games have them, of " GAMES_DIR ", " CM_HELP(GAME_STEPS) " steps once, where what rests may\n"
    "sleep; besides: fell (bodies that sank by more than half of their height), asleep (bodies), fastest\n"
    "(m/s), all after the last step; contacts_cut (left out by the world's limit).\n"
    "rollback: restores a tick of the towers scene, and of a tumbling pile, and comes forward again,\n"
    "saving every tick: " CM_HELP(FEW_TICKS) " ticks of " CM_HELP(FEW_BODIES) " bodies, " CM_HELP(MANY_TICKS) " of " CM_HELP(MANY_BODIES) "; wall time; --runs rewinds (" CM_HELP(REWINDS) ").\n"
    "piles: tumbling piles of 1,000 and 20,000 cubes, and 5,000 from so many seeds (" CM_HELP(PILE_SEEDS) "): overlaps,\n"
    "and what a body costs against the first pile's.\n"
    "impact: collisions a second of the pure functions (carom/impact.h), one line a model; CPU time;\n"
    "--collisions in a run (" CM_HELP(COLLISIONS) "), --runs (" CM_HELP(IMPACT_RUNS) ").\n"
    "replay: what recording 256 cubes and 8 players takes: microseconds of the tick's thread, bytes on\n"
    "disk, and how much faster than real time one core verifies it; --seconds of the match (" CM_HELP(RECORDED_S) ").\n"
    "seal: microseconds of CPU time to seal and to open a datagram of three sizes, and of the server's\n"
    "part of a handshake with a token; medians of --runs batches (" CM_HELP(SEAL_RUNS) ").\n"
    "queries: ms of CPU time for --rays (" CM_HELP(QUERY_RAYS) ") nearest hits in a scene (" QUERY_SCENE ") after --steps (" CM_HELP(STEPS) "),\n"
    "the tree built anew; of one ray after a change and of the rays alone; of as many spheres cast, of as many\n"
    "closest points, and of all that as many spheres overlap; medians of --runs (" CM_HELP(QUERY_RUNS) ").\n"
    "codec: the codec of cubes on a recording (901 cubes a frame, eight little-endian int32 each, plain or\n"
    ".xz), or on one of a crowd of our own (--seed " CM_HELP(CODEC_SEED) ", --frames " CM_HELP(CODEC_FRAMES) "). A line for each mode: each frame\n"
    "against the one 6 older and those before it; microseconds of CPU time, of each frame the shortest of\n"
    "--runs (" CM_HELP(CODEC_RUNS) "), their median and mean; lossy_…: 5% of packets lost, each coded against what arrived.\n"
    "feel: what clients draw, against the server's final state, in virtual time: GAME is alone, pushball,\n"
    "crowd, ball, billiards, race (the examples, by their bots), pressing or pressing_again (all by default), a condition\n"
    "perfect, r60 (30+-5 ms and 1% loss each way), r200, r300, asym (150 ms up, 50 down), burst, blackout250, blackout2000, step or mobile (all). --seconds count (" CM_HELP(FEEL_S) "), after six; of\n"
    "--seeds runs (" CM_HELP(FEEL_SEEDS) ") from --seed on the worst of each figure. Others' and shared bodies' errors are at the\n"
    "player's own time; a pop is a step that the velocity does not explain; kbit/s with IP and UDP headers;\n"
    "--sync inputs: as if the scene said so. --table: what is to be reached, of the games, conditions and budgets\n"
    "named, beside what is and the bound: the same client given every input when the path could have brought it, at\n"
    "the soonest, its jumps worn off alike, and bare. --by-views: against what views tell, as `carom bots` has to.\n"
    "--predict-us: the budget of each client's frame, where a body's step costs 1 us (the SDK's).\n"
    "--scene: prints the scenes of the games instead, for a server that `carom bots --play GAME` plays on.\n"
    "hand: touch at 1 kHz in virtual time, against the same hand alone; a condition is perfect, 5ms (5+-1 each way),\n"
    "20ms (20+-3) or r60 (all): force and torque that are off (percent of the peak), the work done on the hand over a\n"
    "closed path (J, the most of six), a wall's stiffness, corrections, steps and thread time of an update; ..._most:\n"
    "what the figure before it may be (null: anything), reached: whether all are.\n"
    "load: not built yet.\n",
    NULL};
// clang-format on
