// The recording of a run, replayed: once here, by hand, tick by tick, and once by what `carom
// replay --verify` calls.
#include <inttypes.h>
#include <string.h>

#include "server/record/match_file.h"
#include "server/record/replay.h"
#include "tests/cluster/cluster.h"

static void replay_ticks(cm_match_file *file, carom_game *game, cluster_result *result)
{
    cm_match_error error = {""};
    cm_match_tick tick;
    carom_result code;
    while ((code = cm_match_next(file, &tick, &error)) == CAROM_OK) {
        if (tick.tick > 0) {
            cm_game_tick(game, &tick.input);
        }
        uint64_t hash = cm_game_hash(game);
        if (carom_game_tick(game) != tick.tick || hash != tick.hash) {
            cluster_fail(result,
                         "replay: tick %" PRIu64 " hashes to %016" PRIx64 ", recorded %016" PRIx64,
                         tick.tick, hash, tick.hash);
            return;
        }
        carom_world_stats stats;
        carom_world_stats_get(carom_game_world(game), &stats);
        result->contacts += stats.touching;
        result->replayed_ticks = tick.tick;
    }
    if (code != CAROM_ERROR_NOT_FOUND) {
        cluster_fail(result, "replay: %s: %s", carom_result_text(code), error.message);
    }
}

void cluster_replay(const char *path, cluster_result *result)
{
    cm_match_file *file = NULL;
    cm_match_error error = {""};
    carom_result code = cm_match_open(path, &file, &error);
    if (code != CAROM_OK) {
        cluster_fail(result, "replay: cannot open: %s", error.message);
        return;
    }
    cm_match_info info;
    cm_match_info_get(file, &info);
    const carom_module *module = cm_module_find(info.module);
    carom_game *game = NULL;
    if (!module ||
        cm_game_create(cm_match_scene(file), module, info.seed, NULL, &game) != CAROM_OK) {
        cluster_fail(result, "replay: cannot build the game");
    } else {
        replay_ticks(file, game, result);
        cm_game_destroy(game);
    }
    if (info.end != CM_MATCH_DRAINED) {
        cluster_fail(result, "replay: the match ended as %d, expected drained", (int)info.end);
    }
    cm_match_close(file);
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    code = cm_replay_verify(path, NULL, NULL, &report);
    if (code != CAROM_OK || report.verified_ticks != result->replayed_ticks) {
        cluster_fail(result, "replay --verify: %s, %" PRIu64 " ticks, expected %" PRIu64,
                     carom_result_text(code), report.verified_ticks, result->replayed_ticks);
    }
}
