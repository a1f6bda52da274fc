// Stepping a recorded match. A seek costs one keyframe and the ticks after it, at most 10 s of the
// match with the default of serve.
#include "server/record/replay/playback.h"

#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_rows.h"
#include "shared/room/timeline.h"
#include "shared/sim/inspect.h"

struct cm_playback {
    cm_match_file *file;
    carom_game *game;
    cm_timeline *timeline; // of the game
    const carom_module *module;
    bool keyframes; // alone: another engine recorded it
};

static carom_result check_engine(const cm_match_info *info, cm_match_error *error)
{
    if (info->engine_version == CAROM_ENGINE_VERSION && info->layout_hash == cm_layout_hash()) {
        return CAROM_OK;
    }
    return cm_match_wrong(
        error, CAROM_ERROR_VERSION,
        "recorded by engine %u (%s, layout %016llx), this is engine %u "
        "(layout %016llx)%s",
        info->engine_version, info->engine_text, (unsigned long long)info->layout_hash,
        CAROM_ENGINE_VERSION, (unsigned long long)cm_layout_hash(),
        info->engine_version == CAROM_ENGINE_VERSION ? ": another build, or the file was changed"
                                                     : "");
}

static carom_result check_module(const cm_match_info *info, const carom_module **module,
                                 cm_match_error *error)
{
    if (*module == NULL || strcmp((*module)->name, info->module) != 0) {
        *module = cm_module_find(info->module);
    }
    if (*module == NULL) {
        return cm_match_wrong(error, CAROM_ERROR_VERSION,
                              "recorded with module '%s', which is not here: --module FILE.so "
                              "names its file",
                              info->module);
    }
    if ((*module)->version != info->module_version) {
        return cm_match_wrong(error, CAROM_ERROR_VERSION,
                              "recorded with version %u of module '%s', this build has %u",
                              info->module_version, info->module, (*module)->version);
    }
    if (!cm_module_agrees(*module, info->module, info->module_version, info->module_abi,
                          info->module_source)) {
        return cm_match_wrong(error, CAROM_ERROR_VERSION,
                              "recorded with module '%s' of source %.12s…, ABI %u; this one is of "
                              "source %.12s…, ABI %u",
                              info->module, info->module_source, info->module_abi,
                              (*module)->source != NULL ? (*module)->source : "", (*module)->abi);
    }
    return CAROM_OK;
}

carom_result cm_playback_check(const cm_match_info *info, const carom_module **module,
                               cm_match_error *error)
{
    carom_result result = check_engine(info, error);
    return result == CAROM_OK ? check_module(info, module, error) : result;
}

carom_result cm_playback_check_inputs(const carom_game *game, const cm_recorded_tick *tick,
                                      cm_match_error *error)
{
    for (uint32_t i = 0; i < tick->input.input_count; i++) {
        const carom_player_input *input = &tick->input.inputs[i];
        cm_pointer_reason reason;
        cm_input_check check = cm_game_check_input(game, input->bytes, &reason);
        if (check == CM_INPUT_POSE_REFUSED) {
            return cm_match_corrupt(error, "ticks: row %llu: input of player %u: %s",
                                    (unsigned long long)tick->tick, input->player,
                                    cm_pointer_reason_text(reason));
        }
        if (check == CM_INPUT_MODULE_REFUSED) {
            return cm_match_corrupt(
                error, "ticks: row %llu: input of player %u: module '%s' refuses it",
                (unsigned long long)tick->tick, input->player, cm_game_module(game)->name);
        }
    }
    return CAROM_OK;
}

// The hash that was recorded for the tick at which the game stands.
static carom_result compare(const cm_playback *playback, const cm_recorded_tick *tick,
                            cm_match_error *error)
{
    uint64_t hash = cm_game_hash(playback->game);
    if (hash == tick->hash) {
        return CAROM_OK;
    }
    if (playback->keyframes) { // no divergence: this engine reads the state as another one
        return check_engine(&playback->file->info, error);
    }
    return cm_match_wrong(error, CAROM_ERROR_DIVERGED,
                          "diverged at tick %llu: recorded hash %016llx, replayed %016llx; "
                          "'carom replay --verify' says more",
                          (unsigned long long)tick->tick, (unsigned long long)tick->hash,
                          (unsigned long long)hash);
}

// The game and the rows, at a keyframe's tick.
static carom_result jump(cm_playback *playback, uint64_t at, cm_match_error *error)
{
    const uint8_t *bytes;
    size_t size;
    cm_recorded_tick tick;
    carom_result result = cm_match_keyframe(playback->file, at, &at, &bytes, &size, error);
    if (result == CAROM_OK && (cm_game_decode(playback->game, bytes, size) != CAROM_OK ||
                               carom_game_tick(playback->game) != at)) {
        return cm_match_corrupt(error,
                                "keyframes: row %llu: packed: no state of this scene at that tick",
                                (unsigned long long)at);
    }
    if (result == CAROM_OK) {
        cm_timeline_start(playback->timeline);
        cm_match_seek(playback->file, at);
        result = cm_match_next(playback->file, &tick, error);
    }
    return result == CAROM_OK ? compare(playback, &tick, error) : result;
}

static void drop_game(cm_playback *playback)
{
    cm_timeline_destroy(playback->timeline);
    cm_game_destroy(playback->game);
    playback->timeline = NULL;
    playback->game = NULL;
}

carom_result cm_playback_restart(cm_playback *playback, cm_match_error *error)
{
    cm_recorded_tick tick;
    drop_game(playback);
    carom_result result = cm_game_create(cm_match_scene(playback->file), playback->module,
                                         playback->file->info.seed, NULL, &playback->game);
    if (result == CAROM_OK) {
        playback->timeline = cm_timeline_create(&(cm_timeline_def){.game = playback->game});
        result = playback->timeline != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    }
    if (result != CAROM_OK) {
        return cm_match_wrong(error, result, "scene: row 0: %s", carom_result_text(result));
    }
    if (playback->keyframes) {
        return CAROM_OK; // its first state is not that of the recording
    }
    if (playback->file->info.gap_to > 0) {
        return jump(playback, playback->file->info.gap_to, error);
    }
    cm_match_seek(playback->file, 0);
    result = cm_match_next(playback->file, &tick, error);
    return result == CAROM_OK ? compare(playback, &tick, error) : result;
}

static carom_result apply(cm_match_file *file, const carom_module *module, bool keyframes,
                          cm_playback **out, cm_match_error *error)
{
    *out = NULL;
    cm_playback *playback = calloc(1, sizeof *playback);
    if (playback == NULL) {
        cm_match_close(file);
        return cm_match_wrong(error, CAROM_ERROR_MEMORY, "no memory");
    }
    playback->file = file;
    playback->module = module;
    carom_result result = check_engine(&file->info, error);
    if (result != CAROM_OK && keyframes && file->info.layout_hash == cm_layout_hash() &&
        cm_match_scene(file) != NULL) {
        playback->keyframes = true;
        result = CAROM_OK;
    }
    if (result == CAROM_OK) {
        result = check_module(&file->info, &playback->module, error);
    }
    if (result == CAROM_OK) {
        result = cm_playback_restart(playback, error);
    }
    if (result != CAROM_OK) {
        cm_playback_close(playback);
        return result;
    }
    *out = playback;
    return CAROM_OK;
}

carom_result cm_playback_apply(cm_match_file *file, const carom_module *module, cm_playback **out,
                               cm_match_error *error)
{
    return apply(file, module, false, out, error);
}

carom_result cm_playback_open(const char *path, cm_playback **playback, cm_match_error *error)
{
    cm_match_file *file;
    *playback = NULL;
    carom_result result = cm_match_open(path, &file, error);
    return result == CAROM_OK ? apply(file, NULL, false, playback, error) : result;
}

carom_result cm_playback_open_any(const char *path, cm_playback **playback, bool *keyframes,
                                  cm_match_error *error)
{
    cm_match_file *file;
    *playback = NULL;
    carom_result result = cm_match_open(path, &file, error);
    result = result == CAROM_OK ? apply(file, NULL, true, playback, error) : result;
    *keyframes = result == CAROM_OK && (*playback)->keyframes;
    return result;
}

carom_result cm_playback_keyframe(cm_playback *playback, uint64_t from, cm_match_error *error)
{
    return jump(playback, from, error);
}

void cm_playback_close(cm_playback *playback)
{
    if (playback != NULL) {
        drop_game(playback);
        cm_match_close(playback->file);
        free(playback);
    }
}

cm_match_file *cm_playback_file(cm_playback *playback)
{
    return playback->file;
}

carom_game *cm_playback_game(cm_playback *playback)
{
    return playback->game;
}

carom_result cm_playback_next(cm_playback *playback, cm_match_error *error)
{
    cm_recorded_tick tick;
    carom_result result = cm_match_next(playback->file, &tick, error);
    if (result == CAROM_OK) {
        result = cm_playback_check_inputs(playback->game, &tick, error);
    }
    if (result == CAROM_OK) {
        cm_timeline_step(playback->timeline, &tick.input);
        result = compare(playback, &tick, error);
    }
    return result;
}

carom_result cm_playback_seek(cm_playback *playback, uint64_t tick, cm_match_error *error)
{
    uint64_t now = carom_game_tick(playback->game), keyframe = 0;
    const cm_match_info *info = &playback->file->info;
    if (tick > info->ticks || tick < info->gap_to) {
        return cm_match_wrong(error, CAROM_ERROR_ARGUMENT,
                              "no tick %llu, expected one of the match, %llu to %llu",
                              (unsigned long long)tick, (unsigned long long)info->gap_to,
                              (unsigned long long)info->ticks);
    }
    carom_result result = cm_match_keyframe_before(playback->file, tick, &keyframe, error);
    if (result == CAROM_ERROR_NOT_FOUND) {
        result = CAROM_OK;
    }
    if (result == CAROM_OK && keyframe > 0 && (now > tick || now < keyframe)) {
        result = jump(playback, keyframe, error);
    } else if (result == CAROM_OK && now > tick) {
        result = cm_playback_restart(playback, error);
    }
    while (result == CAROM_OK && carom_game_tick(playback->game) < tick) {
        result = cm_playback_next(playback, error);
    }
    return result;
}
