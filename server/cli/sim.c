// `carom sim SCENE`: runs a scene offline and prints its state; with --rollback, through the
// oracle.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/room/log_counters.h"
#include "server/cli/cli.h"
#include "server/cli/load.h"
#include "server/tools/offline/rollback.h"
#include "server/tools/offline/output.h"

#define TICKS        600 // default, like the next
#define EVERY        1
#define TICKS_MAX    1e9
#define ROLLBACK_MAX 1000.0
#define OUTPUT_BYTES ((size_t)1 << 20)

typedef struct sim_options {
    const char *scene, *db, *format, *solver, *inputs;
    int64_t ticks, every, rollback;
    bool events, timing, has_rollback;
    cm_option_texts modules;
} sim_options;

typedef struct sim {
    sim_options options;
    cm_scene *scene;
    cm_inputs inputs;
    cm_offline run;
    cm_rollback rollback;
    cm_sim_events events;
    cm_sim_timing timing;
    cm_log_counters counters;
    uint64_t hash; // of all ticks, while they are timed
    void *image;   // likewise
    size_t image_size;
} sim;

static int read_options(int argc, char **argv, sim_options *o)
{
    *o = (sim_options){.format = "jsonl", .ticks = TICKS, .every = EVERY};
    const cm_option options[] = {
        {"ticks", CM_OPTION_INT, &o->ticks, 0, TICKS_MAX, NULL, NULL},
        {"every", CM_OPTION_INT, &o->every, 1, TICKS_MAX, NULL, NULL},
        {"format", CM_OPTION_CHOICE, &o->format, 0, 0, "jsonl|csv", NULL},
        {"solver", CM_OPTION_CHOICE, &o->solver, 0, 0, "soft|impulse|lcp|volume", NULL},
        {"inputs", CM_OPTION_TEXT, &o->inputs, 0, 0, NULL, NULL},
        {"db", CM_OPTION_TEXT, &o->db, 0, 0, NULL, NULL},
        {"module", CM_OPTION_TEXTS, &o->modules, 0, 0, NULL, NULL},
        {"events", CM_OPTION_FLAG, &o->events, 0, 0, NULL, NULL},
        {"timing", CM_OPTION_FLAG, &o->timing, 0, 0, NULL, NULL},
        {"rollback", CM_OPTION_INT, &o->rollback, 1, ROLLBACK_MAX, NULL, &o->has_rollback},
    };
    uint32_t count = 0;
    int status = cm_cli_options(argc, argv, options, sizeof options / sizeof options[0], &o->scene,
                                1, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (count == 0) {
        return cm_cli_usage("sim: no scene given, expected a file, or a name with --db");
    }
    if (strcmp(o->format, "csv") == 0 && (o->events || o->has_rollback)) {
        return cm_cli_usage("sim: --%s: not with --format csv, expected jsonl",
                            o->events ? "events" : "rollback");
    }
    return CM_STATUS_DONE;
}

static double now(void *context)
{
    (void)context;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_times(cm_sim_timing *timing, const carom_world *world, double wall)
{
    const double *stage_s = carom_world_stage_times(world);
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; i++) {
        timing->stage_s[i] += stage_s[i];
    }
    timing->wall += wall;
    timing->ticks++;
}

// A hash and a save, as a room makes of each tick.
static void time_image(sim *s)
{
    double start = now(NULL);
    s->hash ^= cm_offline_hash(&s->run);
    double hashed = now(NULL);
    (void)cm_offline_save(&s->run, s->image, s->image_size);
    s->timing.stage_s[CAROM_STAGE_HASH] += hashed - start;
    s->timing.stage_s[CAROM_STAGE_SAVE] += now(NULL) - hashed;
}

static int fail(const char *what, carom_result result)
{
    return cm_cli_failed("sim: %s: %s", what, carom_result_text(result));
}

static int step(sim *s)
{
    double before = s->options.timing ? now(NULL) : 0.0;
    if (s->options.has_rollback) {
        carom_result result = cm_rollback_tick(&s->rollback, &s->run);
        if (result != CAROM_OK) {
            return fail("a saved tick could not be restored", result);
        }
    } else {
        cm_offline_step(&s->run);
    }
    if (s->options.timing) {
        add_times(&s->timing, s->run.world, now(NULL) - before);
        time_image(s);
    }
    if (s->options.events && !cm_sim_events_add(&s->events, &s->run)) {
        return fail("events", CAROM_ERROR_MEMORY);
    }
    return CM_STATUS_DONE;
}

static void print(sim *s, bool last)
{
    if (strcmp(s->options.format, "csv") == 0) {
        cm_sim_print_csv(stdout, &s->run);
        return;
    }
    cm_sim_print_json(stdout, &s->run, s->options.events ? &s->events : NULL,
                      last && s->options.timing ? &s->timing : NULL);
    s->events.count = 0;
}

// Says what a run left out, so that no limit is met in silence. With --rollback every tick is
// stepped more than once, and counted as often.
static void warn(const sim *s)
{
    for (uint32_t i = 0; i < CAROM_LOG_CODE_COUNT; i++) {
        const cm_log_counter *row = &s->counters.rows[i];
        carom_log_code code = (carom_log_code)i;
        if (row->count == 0 || carom_log_level_of(code) == CAROM_LOG_DEBUG) {
            continue;
        }
        char name[CM_NAME_MAX + 16] = "";
        if (!carom_body_id_is_null(row->first_body)) {
            strcpy(name, ": ");
            cm_offline_body_name(&s->run, row->first_body.index, name + 2, sizeof name - 2);
        }
        cm_cli_error("sim: %llu %s (%s; first in the step from tick %llu%s)",
                     (unsigned long long)row->count, carom_log_text(code), carom_log_name(code),
                     (unsigned long long)row->first_tick, name);
    }
}

static int finish_rollback(sim *s)
{
    const cm_rollback *rollback = &s->rollback;
    cm_rollback_print(stdout, rollback, &s->run);
    if (rollback->differs) {
        return cm_cli_failed("sim: --rollback: tick %llu differs: %s of body '%s' is %s, then %s",
                             (unsigned long long)rollback->difference.tick,
                             rollback->difference.field, rollback->difference.body,
                             rollback->difference.first, rollback->difference.second);
    }
    if (rollback->contacts == 0 && rollback->joints == 0) {
        return cm_cli_usage(
            "sim: --rollback: nothing ever touched, so nothing was shown; expected a "
            "scene with contacts or joints");
    }
    return CM_STATUS_DONE;
}

static int run_ticks(sim *s)
{
    const sim_options *o = &s->options;
    bool csv = strcmp(o->format, "csv") == 0;
    if (csv) {
        cm_sim_print_csv_header(stdout);
    }
    print(s, o->ticks == 0);
    for (int64_t tick = 1; tick <= o->ticks; tick++) {
        int status = step(s);
        if (status != CM_STATUS_DONE) {
            return status;
        }
        if (tick % o->every == 0 || tick == o->ticks) {
            print(s, tick == o->ticks);
        }
        if (ferror(stdout)) {
            break; // the reader went away: no need to go on
        }
    }
    if (csv && o->timing) {
        cm_sim_print_timing(stderr, &s->timing);
        fputc('\n', stderr);
    }
    warn(s);
    return o->has_rollback ? finish_rollback(s) : CM_STATUS_DONE;
}

static int solver_of(const sim *s)
{
    return s->options.solver != NULL ? cm_offline_solver(s->options.solver) : CM_SOLVER_OF_SCENE;
}

static int create(sim *s)
{
    const carom_module *module = NULL;
    const char *name = cm_scene_module(s->scene);
    if (name[0] != '\0') {
        module = cm_module_find(name);
        if (module == NULL) {
            cm_cli_module_error(s->options.scene, s->options.db, s->scene);
            return CM_STATUS_USAGE;
        }
    }
    int wrong = cm_cli_check_config(s->options.scene, s->options.db, s->scene);
    if (wrong != CM_STATUS_DONE) {
        return wrong;
    }
    if (s->options.inputs != NULL) {
        int status = cm_cli_load_inputs(s->options.inputs, s->scene, module, &s->inputs);
        if (status != CM_STATUS_DONE) {
            return status;
        }
    }
    carom_result result = cm_offline_create_with(s->scene, &s->inputs, solver_of(s), &s->run);
    if (result == CAROM_ERROR_NOT_BUILT) {
        cm_scene_error error = {.path = "$.module"};
        snprintf(error.message, sizeof error.message,
                 "a game, which runs with its scene's solver alone, expected no --solver");
        cm_cli_scene_error_at(s->options.scene, s->options.db, &error);
        return CM_STATUS_USAGE;
    }
    if (result == CAROM_OK && s->options.has_rollback) {
        result = cm_rollback_create(&s->run, (uint32_t)s->options.rollback, &s->rollback);
    }
    if (result != CAROM_OK) {
        // A scene that a world refuses, or that is too large, is bad input.
        int status = fail(s->options.scene, result);
        return result == CAROM_ERROR_MEMORY ? status : CM_STATUS_USAGE;
    }
    cm_cli_warn_loads(s->options.scene, s->options.db, solver_of(s), s->scene, s->run.world);
    carom_log said = cm_log_counters_log(&s->counters);
    carom_world_set_log(s->run.world, &said);
    if (s->options.timing) {
        carom_world_set_clock(s->run.world, now, NULL);
        s->image_size = (cm_offline_save_bound(&s->run) + 63) / 64 * 64;
        s->image = aligned_alloc(64, s->image_size);
        if (s->image == NULL) {
            return fail(s->options.scene, CAROM_ERROR_MEMORY);
        }
    }
    return CM_STATUS_DONE;
}

static int run_command(int argc, char **argv)
{
    static char buffer[OUTPUT_BYTES];
    sim s;
    memset(&s, 0, sizeof s);
    int status = read_options(argc, argv, &s.options);
    if (status == CM_STATUS_DONE) {
        status = cm_cli_load_modules(&s.options.modules);
    }
    if (status == CM_STATUS_DONE) {
        status = cm_cli_load_scene(s.options.scene, s.options.db, solver_of(&s), &s.scene);
    }
    if (status == CM_STATUS_DONE) {
        status = create(&s);
    }
    if (status == CM_STATUS_DONE) {
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
        status = cm_cli_finish(run_ticks(&s));
    }
    cm_rollback_destroy(&s.rollback);
    cm_offline_destroy(&s.run);
    cm_inputs_free(&s.inputs);
    free(s.image);
    free(s.events.rows);
    cm_scene_free(s.scene);
    return status;
}

// clang-format off
const cm_command cm_sim_command = {
    "sim", run_command,
    "runs a scene offline\n"
    "usage: carom sim SCENE [options]\n"
    "\n"
    "Runs a scene from tick 0 and prints its state. SCENE is a file, or with --db a name.\n"
    "\n"
    "  --ticks N            ticks to run (" CM_HELP(TICKS) ")\n"
    "  --every K            prints every K-th tick; tick 0 and the last one always (" CM_HELP(EVERY) ")\n"
    "  --format jsonl|csv   output (jsonl)\n"
    "  --solver NAME        of another type than the scene's, with its defaults\n"
    "  --inputs FILE        JSON lines ordered by tick: {\"tick\", \"player\", \"input\": \"hex\"}\n"
    "                       for the module; {\"tick\", \"body\", \"force\", \"torque\"} held until\n"
    "                       changed; {\"tick\", \"body\", \"position\", \"orientation\",\n"
    "                       \"linear_velocity\", \"angular_velocity\"} for a kinematic body.\n"
    "                       A line of tick T acts on the step from T to T + 1. A player's first\n"
    "                       line joins that player. Where the scene has a pointer, a\n"
    "                       player's bytes begin with the 52 of its pose (PROTOCOL.md, 5.1).\n"
    "  --events             adds \"events\" since the line before: {\"type\": \"begin\" or \"end\",\n"
    "                       \"tick\", \"a\", \"b\", \"point\", \"normal\" (from a to b), \"impulse\"\n"
    "                       (N s), \"sensor\": true where one is a sensor},\n"
    "                       {\"type\": \"hit\", as those with \"speed\" (m/s), of pairs that met at the\n"
    "                       scene's hit_speed or faster (1 where it says none, but in a game)},\n"
    "                       {\"type\": \"break\", \"tick\", \"joint\", \"force\", \"torque\"},\n"
    "                       {\"type\": \"sleep\" or \"wake\", \"tick\", \"body\"}\n"
    "  --timing             adds \"timing\" to the last line: {\"ticks\", \"seconds\" of wall time,\n"
    "                       those of each stage of the step, and of a hash and a\n"
    "                       save a tick beside it} (csv: on stderr)\n"
    "  --rollback R         at every tick: save, step R, restore into a second world, step R\n"
    "                       again, compare every byte. Adds one last line: {\"ticks\",\n"
    "                       \"rollback\", \"hash\", \"rewinds\", \"contacts\", \"joints\", \"sleeps\",\n"
    "                       \"creations\", \"difference\": null or {...}}; status 1 with a\n"
    "                       difference, 2 where nothing ever touched\n"
    "  --module FILE.so     a game module that the scene may name; may be repeated\n"
    "  --db FILE            SCENE is a name in this database\n"
    "\n"
    "jsonl: one object a sampled tick: tick, time (s), hash, bodies (name, position of the\n"
    "origin, orientation, linear_velocity of the centre of mass, angular_velocity, asleep,\n"
    "center_of_mass where it is not the origin, and with report_force the contacts' force (N)\n"
    "and torque (N m) about the centre of mass, mean over the tick), joints (name, angle (rad) or\n"
    "position (m), rate, error (m), force (N), torque (N m)), contacts (touching shape pairs),\n"
    "kinetic_energy, potential_energy (J), max_penetration (m). Nine significant digits.\n"
    "csv: a header, then one line a body and sampled tick: tick,time,hash,name,\n"
    "px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz,asleep.\n",
    NULL};
// clang-format on
