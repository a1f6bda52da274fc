// Walking a match. Ticks before the first one are skipped by the nearest keyframe, and each later
// tick is run: an hour of 256 bodies takes about 13 s, without the time for writing.
#include "server/tools/export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "server/record/format/match_db.h"

// Every keyframe from one tick to another: of a match that another engine recorded.
static carom_result walk_keyframes(cm_playback *playback, const cm_export_options *options,
                                   const cm_export_calls *calls, cm_match_error *error)
{
    const carom_game *game = cm_playback_game(playback);
    uint64_t samples = 0, from = options->from;
    carom_result result = cm_playback_keyframe(playback, from, error);
    while (result == CAROM_OK && carom_game_tick(game) <= options->to) {
        result = calls->sample(calls->context, game, error);
        samples++;
        from = carom_game_tick(game) + 1;
        result = result == CAROM_OK ? cm_playback_keyframe(playback, from, error) : result;
    }
    if (samples == 0 && (result == CAROM_OK || result == CAROM_ERROR_NOT_FOUND)) {
        char next[48] = "";
        if (result == CAROM_OK) {
            snprintf(next, sizeof next, ", the next one is of tick %llu",
                     (unsigned long long)carom_game_tick(game));
        }
        return cm_match_wrong(
            error, CAROM_ERROR_ARGUMENT,
            "another engine recorded it, of which keyframes alone are shown: none "
            "is of ticks %llu to %llu%s",
            (unsigned long long)options->from, (unsigned long long)options->to, next);
    }
    return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
}

carom_result cm_export_walk(cm_playback *playback, const cm_export_options *options,
                            const cm_export_calls *calls, cm_match_error *error)
{
    if (options->keyframes) {
        return walk_keyframes(playback, options, calls, error);
    }
    carom_result result = cm_playback_seek(playback, options->from, error);
    const carom_game *game = cm_playback_game(playback);
    for (uint64_t tick = options->from; result == CAROM_OK; tick++) {
        if (calls->step != NULL && tick > options->from) {
            result = calls->step(calls->context, game, error);
        }
        if (result == CAROM_OK && (tick - options->from) % options->every == 0) {
            result = calls->sample(calls->context, game, error);
        }
        if (result != CAROM_OK || tick == options->to) {
            break;
        }
        result = cm_playback_next(playback, error);
    }
    return result;
}

carom_result cm_export_make(const char *path, FILE **out, cm_match_error *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *out = file >= 0 ? fdopen(file, "w") : NULL;
    if (*out != NULL) {
        return CAROM_OK;
    }
    return cm_match_wrong(error, errno == EEXIST ? CAROM_ERROR_STATE : CAROM_ERROR_IO, "%.200s: %s",
                          path, errno == EEXIST ? "is there already" : strerror(errno));
}

carom_result cm_export_run(const char *match, const cm_export_options *asked, cm_match_error *error)
{
    cm_playback *playback;
    cm_match_info info;
    cm_export_options options = *asked;
    bool lines = options.kind == CM_EXPORT_JSONL || options.kind == CM_EXPORT_CSV;
    carom_result result = lines ? cm_playback_open_any(match, &playback, &options.keyframes, error)
                                : cm_playback_open(match, &playback, error);
    if (result != CAROM_OK) {
        return result;
    }
    cm_match_info_get(cm_playback_file(playback), &info);
    options.to = options.to < info.ticks ? options.to : info.ticks;
    options.from = options.from > 0 ? options.from : info.gap_to;
    if (options.from > options.to || options.from < info.gap_to) {
        result = cm_match_wrong(error, CAROM_ERROR_ARGUMENT,
                                "no tick %llu, expected one of the match, %llu to %llu",
                                (unsigned long long)options.from, (unsigned long long)info.gap_to,
                                (unsigned long long)info.ticks);
    } else if (options.kind == CM_EXPORT_SQLITE) {
        result = cm_export_tables(playback, &options, error);
    } else if (options.kind == CM_EXPORT_GLTF) {
        result = cm_export_gltf(playback, &options, error);
    } else {
        result = cm_export_lines(playback, &options, error);
    }
    cm_playback_close(playback);
    if (result == CAROM_OK && options.keyframes) {
        snprintf(error->message, sizeof error->message,
                 "recorded by engine %u, this is engine %u: keyframes alone", info.engine_version,
                 CAROM_ENGINE_VERSION);
    } else if (result == CAROM_OK) {
        error->message[0] = '\0';
    }
    return result;
}
