// The lines of `carom sim`, of a match. With a speed they come when they happened, divided by it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/record/format/match_db.h"
#include "server/tools/export/export.h"
#include "server/tools/offline/output.h"

typedef struct lines {
    const cm_export_options *options;
    cm_offline run; // the playback's game, as what prints it sees it
    cm_sim_events events;
    double started_s; // of the first line, monotonic
} lines;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(const lines *l, uint64_t tick)
{
    double rate = (double)carom_world_tick_rate(l->run.world);
    double due = l->started_s + (double)(tick - l->options->from) / rate / l->options->speed;
    double left = due - now_s();
    if (left > 0.0) {
        struct timespec t = {.tv_sec = (time_t)left};
        t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
        nanosleep(&t, NULL);
    }
}

static carom_result step(void *context, const carom_game *game, cm_match_error *error)
{
    (void)game;
    lines *l = context;
    if (!cm_sim_events_add(&l->events, &l->run)) {
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    return CAROM_OK;
}

static carom_result sample(void *context, const carom_game *game, cm_match_error *error)
{
    lines *l = context;
    FILE *out = l->options->out;
    if (l->options->speed > 0.0) {
        wait_for(l, carom_game_tick(game));
    }
    if (l->options->kind == CM_EXPORT_CSV) {
        cm_sim_print_csv(out, &l->run);
    } else {
        cm_sim_print_json(out, &l->run, l->options->events ? &l->events : NULL, NULL);
        l->events.count = 0;
    }
    if (l->options->speed > 0.0) {
        fflush(out);
    }
    if (ferror(out)) {
        return cm_match_wrong(error, CAROM_ERROR_IO, "the output cannot be written: %s",
                              strerror(errno));
    }
    return CAROM_OK;
}

static carom_result print_lines(cm_playback *playback, const cm_export_options *options,
                                cm_match_error *error)
{
    lines l = {.options = options, .started_s = now_s()};
    // A seek may make the game anew: it is asked for after it.
    carom_result result =
        options->keyframes ? CAROM_OK : cm_playback_seek(playback, options->from, error);
    l.run.scene = cm_match_scene(cm_playback_file(playback));
    l.run.game = cm_playback_game(playback);
    l.run.world = carom_game_world(l.run.game);
    if (options->kind == CM_EXPORT_CSV) {
        cm_sim_print_csv_header(options->out);
    }
    cm_export_calls calls = {&l, options->events ? step : NULL, sample};
    result = result == CAROM_OK ? cm_export_walk(playback, options, &calls, error) : result;
    free(l.events.rows);
    return result;
}

carom_result cm_export_lines(cm_playback *playback, const cm_export_options *options,
                             cm_match_error *error)
{
    if (options->path == NULL) {
        return print_lines(playback, options, error);
    }
    cm_export_options into = *options;
    carom_result result = cm_export_make(options->path, &into.out, error);
    if (result != CAROM_OK) {
        return result;
    }
    result = print_lines(playback, &into, error);
    if (fclose(into.out) != 0 && result == CAROM_OK) {
        result =
            cm_match_wrong(error, CAROM_ERROR_IO, "%.200s: %s", options->path, strerror(errno));
    }
    if (result != CAROM_OK) {
        unlink(options->path);
    }
    return result;
}
