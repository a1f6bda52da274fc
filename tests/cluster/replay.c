// The recordings of a room, replayed: once here, by hand, tick by tick, and once by what `carom
// replay --verify` calls. A room has one file, and one more for each time that its disk was full.
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/record/format/match_file.h"
#include "server/record/replay/replay.h"
#include "tests/cluster/run.h"

#define FILES_MAX 8u

typedef struct recording {
    char path[600];
    uint64_t first; // tick
} recording;

// Of all files of a room.
typedef struct reading {
    cluster *cluster;
    cluster_room *room;
    cluster_said *said;
    uint64_t heard[CLUSTER_CLIENTS], heard_in[CLUSTER_CLIENTS];
    cluster_events recorded;
    uint32_t resumes;
} reading;

// What a client said that the dead server had heard and not committed is lost, and it says on from
// there: the first word after a seam may leave some out. After a gap it may leave out many.
static bool follows(const reading *r, uint64_t tick, uint64_t before, uint8_t number,
                    uint64_t *heard)
{
    const cluster_room *room = r->room;
    uint8_t missing = (uint8_t)(number - (uint8_t)*heard);
    bool seam = false, gap = room->gaps > 0 && before < room->gap_from && tick > room->gap_to;
    for (uint32_t i = 0; i < room->seam_count; i++) {
        seam = seam || (before <= room->seams[i] && tick > room->seams[i]);
    }
    *heard += missing;
    return missing == 0 || gap || (seam && missing <= CLUSTER_LOST_MAX);
}

// Joins, leaves and messages of one tick. Those who stay are heard without a gap, in order.
static void count_events(reading *r, const cm_recorded_tick *tick)
{
    cluster_result *result = r->cluster->result;
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
        uint64_t before = number < CLUSTER_CLIENTS ? r->heard[number] : 0;
        bool is_kick = event->size == CLUSTER_KICK_SIZE && number >= CLUSTER_STAYERS;
        if ((event->size != 2 && !is_kick) || number >= CLUSTER_CLIENTS ||
            (number < CLUSTER_STAYERS &&
             !follows(r, tick->tick, r->heard_in[number], event->bytes[1], &r->heard[number]))) {
            cluster_fail(result,
                         "replay: tick %" PRIu64
                         ": message %u of client %u, after the %uth of tick %" PRIu64,
                         tick->tick, event->bytes[1], number, (unsigned)before,
                         r->heard_in[number]);
            return;
        }
        r->heard[number]++;
        r->heard_in[number] = tick->tick;
    }
    bool rewound = r->room->was_rewound[tick->tick % CLUSTER_TICKS_MAX];
    cluster_events *sums[] = {&r->recorded, rewound ? &result->rewound : NULL};
    for (uint32_t i = 0; i < 2 && sums[i] != NULL; i++) {
        sums[i]->joins += here.joins;
        sums[i]->leaves += here.leaves;
        sums[i]->messages += here.messages;
    }
}

// The recording against what the clients know that they did: a server that loses an event replays
// to its own hashes all the same. What fell into a gap is known to nobody.
static void compare_events(const reading *r)
{
    cluster_result *result = r->cluster->result;
    const cluster_room *room = r->room;
    const cluster_events *done = &room->done, *recorded = &r->recorded;
    bool gap = room->gaps > 0;
    if ((recorded->joins < done->joins && !gap) || recorded->joins > done->joins + room->unsure ||
        (recorded->leaves + room->unheard < done->leaves && !gap)) {
        cluster_fail(result,
                     "replay: %" PRIu64 " joins and %" PRIu64 " leaves recorded, the clients "
                     "joined %" PRIu64 " times and left %" PRIu64,
                     recorded->joins, recorded->leaves, done->joins, done->leaves);
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS; i++) {
        if (&r->cluster->rooms[r->cluster->members[i].room] != room) {
            continue;
        }
        // What one says as it leaves may be lost, and the last words before a gap.
        bool all = r->heard[i] == result->messages_of[i];
        if (r->heard[i] > result->messages_of[i] || (i < CLUSTER_STAYERS && !all && !gap)) {
            cluster_fail(result,
                         "replay: %" PRIu64 " messages of client %u recorded, it sent %" PRIu64,
                         r->heard[i], i, result->messages_of[i]);
        }
    }
}

// The game as it stood at the first tick of the file.
static carom_game *make_game(cm_match_file *file, const cm_match_info *info, cluster_result *result)
{
    carom_game *game = NULL;
    const uint8_t *bytes;
    size_t size;
    uint64_t tick;
    cm_match_error error = {""};
    if (cm_game_create(cm_match_scene(file), cluster_module(), info->seed, NULL, &game) !=
        CAROM_OK) {
        cluster_fail(result, "replay: cannot build the game");
        return NULL;
    }
    if (info->gap_to > 0 &&
        (cm_match_keyframe(file, 0, &tick, &bytes, &size, &error) != CAROM_OK ||
         tick != info->gap_to || cm_game_decode(game, bytes, size) != CAROM_OK)) {
        cluster_fail(result, "replay: no state after the gap: %s", error.message);
        cm_game_destroy(game);
        return NULL;
    }
    cm_match_seek(file, 0);
    return game;
}

static uint64_t replay_ticks(reading *r, cm_match_file *file, const cm_match_info *info,
                             carom_game *game)
{
    cluster_result *result = r->cluster->result;
    cm_match_error error = {""};
    cm_recorded_tick tick;
    carom_result code;
    uint64_t last = 0;
    while ((code = cm_match_next(file, &tick, &error)) == CAROM_OK) {
        if (tick.tick > info->gap_to) {
            cm_game_tick(game, &tick.input);
            count_events(r, &tick);
        }
        uint64_t hash = cm_game_hash(game);
        if (carom_game_tick(game) != tick.tick || hash != tick.hash) {
            cluster_fail(result,
                         "replay: tick %" PRIu64 " hashes to %016" PRIx64 ", recorded %016" PRIx64,
                         tick.tick, hash, tick.hash);
            return last;
        }
        carom_world_stats stats;
        carom_world_stats_get(carom_game_world(game), &stats);
        result->contacts += stats.touching;
        result->replayed_ticks++;
        last = tick.tick;
        cluster_said_take(r->said, game);
    }
    if (code != CAROM_ERROR_NOT_FOUND) {
        cluster_fail(result, "replay: %s: %s", carom_result_text(code), error.message);
    }
    return last;
}

static void replay_file(reading *r, const recording *from, bool is_last)
{
    cluster_result *result = r->cluster->result;
    cm_match_file *file = NULL;
    cm_match_error error = {""};
    if (cm_match_open(from->path, &file, &error) != CAROM_OK) {
        cluster_fail(result, "replay: cannot open: %s", error.message);
        return;
    }
    cm_match_info info;
    cm_match_info_get(file, &info);
    r->resumes += info.resumes;
    uint64_t last = 0;
    carom_game *game = make_game(file, &info, result);
    if (game != NULL) {
        last = replay_ticks(r, file, &info, game);
        cm_game_destroy(game);
    }
    if (is_last && info.end != CM_MATCH_DRAINED) {
        cluster_fail(result, "replay: the match ended as %d, expected drained", (int)info.end);
    }
    cm_match_close(file);
    cm_replay_report report;
    memset(&report, 0, sizeof report);
    carom_result code =
        cm_replay_verify(from->path, &(cm_replay_options){.module = cluster_module()}, &report);
    result->keyframes += report.keyframes;
    if (code != CAROM_OK || report.verified_ticks != last) {
        cluster_fail(result, "replay --verify: %s, %" PRIu64 " ticks, expected %" PRIu64 ": %s%s",
                     carom_result_text(code), report.verified_ticks, last, report.difference,
                     report.error.message);
    }
}

// The files of a room, by their first tick.
static uint32_t find_files(const char *directory, const char *room, recording files[FILES_MAX])
{
    uint32_t count = 0;
    DIR *all = opendir(directory);
    const struct dirent *entry;
    while (all != NULL && (entry = readdir(all)) != NULL && count < FILES_MAX) {
        const char *end = strrchr(entry->d_name, '.');
        cm_match_head head;
        cm_match_error error;
        recording file;
        snprintf(file.path, sizeof file.path, "%s/%s", directory, entry->d_name);
        if (end == NULL || strcmp(end, ".match") != 0 ||
            cm_match_head_read(file.path, &head, &error) != CAROM_OK ||
            strcmp(head.info.room, room) != 0) {
            continue;
        }
        file.first = head.info.gap_to;
        uint32_t at = count++;
        for (; at > 0 && files[at - 1].first > file.first; at--) {
            files[at] = files[at - 1];
        }
        files[at] = file;
    }
    if (all != NULL) {
        closedir(all);
    }
    return count;
}

void cluster_replay(cluster *c, uint32_t number)
{
    cluster_room *room = &c->rooms[number];
    recording files[FILES_MAX];
    reading r = {.cluster = c, .room = room, .said = cluster_said_create()};
    uint32_t count = find_files(c->servers[room->server].directory, room->name, files);
    if (r.said == NULL || count != room->gaps + 1) {
        cluster_fail(c->result, "replay: %u files of room %u, expected %u", count, number,
                     room->gaps + 1);
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        replay_file(&r, &files[i], i + 1 == count);
    }
    compare_events(&r);
    if (r.resumes != room->resumes) {
        cluster_fail(c->result, "replay: room %u went on %u times, expected %u", number, r.resumes,
                     room->resumes);
    }
    for (uint32_t i = 0; i < CLUSTER_CLIENTS && count > 0; i++) {
        if (c->members[i].room == number) {
            cluster_said_compare(r.said, &c->members[i].told, room->gap_from, room->gap_to,
                                 c->result);
        }
    }
    c->result->recorded.joins += r.recorded.joins;
    c->result->recorded.leaves += r.recorded.leaves;
    c->result->recorded.messages += r.recorded.messages;
    cluster_said_free(r.said);
}
