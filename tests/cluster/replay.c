// The recording of a run, replayed: once here, by hand, tick by tick, and once by what `carom
// replay --verify` calls.
#include <inttypes.h>
#include <string.h>

#include "server/record/match_file.h"
#include "server/record/replay.h"
#include "tests/cluster/told.h"

// What a client said that the dead server had heard and not committed is lost, and it says on from
// there: the first word after a seam may leave some out.
static bool follows(uint64_t tick, uint64_t before, uint8_t number, uint64_t *heard,
                    const cluster_result *result)
{
    uint8_t gap = (uint8_t)(number - (uint8_t)*heard);
    bool seam = false;
    for (uint64_t i = 0; i < result->crashes; i++) {
        seam = seam || (before <= result->seams[i] && tick > result->seams[i]);
    }
    *heard += gap;
    return gap == 0 || (seam && gap <= CLUSTER_LOST_MAX);
}

// Joins, leaves and messages of one tick. Those who stay are heard without a gap, in order.
static void count_events(const cm_recorded_tick *tick, uint64_t heard[CLUSTER_CLIENTS],
                         uint64_t heard_in[CLUSTER_CLIENTS], cluster_result *result)
{
    cluster_events here = {0, 0, 0};
    for (uint32_t i = 0; i < tick->input.event_count; i++) {
        const cm_game_event *event = &tick->input.events[i];
        here.joins += event->type == CM_EVENT_JOIN;
        here.leaves += event->type == CM_EVENT_LEAVE;
        here.messages += event->type == CM_EVENT_MESSAGE;
        if (event->type != CM_EVENT_MESSAGE) {
            continue;
        }
        uint32_t number = event->bytes[0];
        if (event->size != 2 || number >= CLUSTER_CLIENTS ||
            (number < CLUSTER_STAYERS &&
             !follows(tick->tick, heard_in[number], event->bytes[1], &heard[number], result))) {
            cluster_fail(result, "replay: tick %" PRIu64 ": a message of client %u, out of order",
                         tick->tick, number);
            return;
        }
        heard[number]++;
        heard_in[number] = tick->tick;
    }
    bool rewound = result->was_rewound[tick->tick % CLUSTER_TICKS_MAX];
    cluster_events *sums[] = {&result->recorded, rewound ? &result->rewound : NULL};
    for (uint32_t i = 0; i < 2 && sums[i] != NULL; i++) {
        sums[i]->joins += here.joins;
        sums[i]->leaves += here.leaves;
        sums[i]->messages += here.messages;
    }
}

// The recording against what the clients know that they did: a server that loses an event replays
// to its own hashes all the same.
static void compare_events(const uint64_t heard[CLUSTER_CLIENTS], cluster_result *result)
{
    const cluster_events *done = &result->done, *recorded = &result->recorded;
    if (recorded->joins < done->joins || recorded->joins > done->joins + result->unsure ||
        recorded->leaves < done->leaves) {
        cluster_fail(result,
                     "replay: %" PRIu64 " joins and %" PRIu64 " leaves recorded, the clients "
                     "joined %" PRIu64 " times and left %" PRIu64,
                     recorded->joins, recorded->leaves, done->joins, done->leaves);
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        // What one says as it leaves may be lost.
        if (heard[i] > result->messages_of[i] ||
            (i < CLUSTER_STAYERS && heard[i] != result->messages_of[i])) {
            cluster_fail(result,
                         "replay: %" PRIu64 " messages of client %u recorded, it sent %" PRIu64,
                         heard[i], i, result->messages_of[i]);
        }
    }
}

static void replay_ticks(cm_match_file *file, carom_game *game, cluster_said *said,
                         cluster_result *result)
{
    cm_match_error error = {""};
    cm_recorded_tick tick;
    carom_result code;
    uint64_t heard[CLUSTER_CLIENTS] = {0}, heard_in[CLUSTER_CLIENTS] = {0};
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
        cluster_said_take(said, game);
        count_events(&tick, heard, heard_in, result);
    }
    compare_events(heard, result);
    if (code != CAROM_ERROR_NOT_FOUND) {
        cluster_fail(result, "replay: %s: %s", carom_result_text(code), error.message);
    }
}

void cluster_replay(const char *path, const struct cluster_told *const told[CLUSTER_CLIENTS],
                    cluster_result *result)
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
    const carom_module *module = cluster_module();
    carom_game *game = NULL;
    cluster_said *said = cluster_said_create();
    if (said == NULL || info.resumes != result->crashes) {
        cluster_fail(result, "replay: it went on %u times, expected %" PRIu64,
                     (unsigned)info.resumes, result->crashes);
    } else if (cm_game_create(cm_match_scene(file), module, info.seed, NULL, &game) != CAROM_OK) {
        cluster_fail(result, "replay: cannot build the game");
    } else {
        replay_ticks(file, game, said, result);
        cm_game_destroy(game);
        for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
            cluster_said_compare(said, told[i], result);
        }
    }
    cluster_said_free(said);
    if (info.end != CM_MATCH_DRAINED) {
        cluster_fail(result, "replay: the match ended as %d, expected drained", (int)info.end);
    }
    cm_match_close(file);
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    code = cm_replay_verify(path, &(cm_replay_options){.module = module}, &report);
    result->keyframes = report.keyframes;
    if (code != CAROM_OK || report.verified_ticks != result->replayed_ticks) {
        cluster_fail(result, "replay --verify: %s, %" PRIu64 " ticks, expected %" PRIu64 ": %s%s",
                     carom_result_text(code), report.verified_ticks, result->replayed_ticks,
                     report.difference, report.error.message);
    }
}
