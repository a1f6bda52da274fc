// Goal: a match whose recording failed goes on in a new file, which names the one before it and the
// ticks of which nothing is kept, begins with a state, proves itself as any other, and can itself
// be resumed, fail and be followed by a third. Method: the store on a disk that fails on demand and
// is well again, then the real readers; single values changed by SQL.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/replay/live_match.h"
#include "server/record/replay/playback.h"
#include "server/record/replay/replay.h"
#include "server/node/resume.h"
#include "tests/unit/record/faulty_vfs.h"
#include "tests/unit/record/recording.h"

TestSuite(go_on, .init = recording_setup, .fini = recording_teardown);

#define SECOND_ID (RECORDING_ID + 1)

static char path[2][128];

static cm_match_status status_of(const recording *run)
{
    cm_match_status status;
    cm_store_status(run->store, run->match, &status);
    return status;
}

// 10 ticks that are lost, and 5 more before it is well again.
static void fail(recording *run)
{
    faulty.fail_writes = true;
    recording_play(run, 10);
    cm_store_flush(run->store);
    cr_assert_not(status_of(run).durable);
    faulty.fail_writes = false;
    recording_play(run, 5);
}

static carom_result go_on(recording *run, uint64_t id)
{
    cm_game_event joins[CAROM_PLAYERS_MAX];
    size_t size = cm_game_encode_size(run->game);
    uint8_t *keyframe = malloc(size);
    cm_game_encode(run->game, keyframe, size);
    for (uint32_t i = 0; i < run->players; i++) {
        static const uint8_t messages[CM_RECORD_JOIN_BYTES] = {7, 1};
        joins[i] = (cm_game_event){.type = CM_EVENT_JOIN,
                                   .player = i,
                                   .client_id = 100 + i,
                                   .bytes = messages,
                                   .size = sizeof messages};
    }
    cm_match_def def = recording_def(run->scene);
    def.match_id = id;
    def.parent = status_of(run).match_id;
    def.origin = RECORDING_ID;
    def.gap_to = carom_game_tick(run->game);
    carom_result result = cm_store_go_on(run->store, run->match, &def, cm_game_hash(run->game),
                                         keyframe, size, joins, run->players);
    free(keyframe);
    return result;
}

static void begin(recording *run, bool threaded)
{
    faulty_install();
    recording_begin(run, recording_store(threaded), 3, 7);
    run->keyframe_every = 20;
    recording_play(run, 40);
    cm_store_flush(run->store);
    cr_assert_eq(go_on(run, SECOND_ID), CAROM_ERROR_STATE, "it is durable");
    snprintf(path[0], sizeof path[0], "%s", cm_store_path(run->store, run->match));
}

static void finish(recording *run, cm_match_end end)
{
    snprintf(path[1], sizeof path[1], "%s", cm_store_path(run->store, run->match));
    if (end != CM_MATCH_LIVE) {
        cm_store_end(run->store, run->match, end);
    }
    cm_store_destroy(run->store);
    recording_free(run);
}

// 40 ticks, a gap from 41 to 55, 50 more.
static void make(bool threaded, cm_match_end end)
{
    recording run;
    begin(&run, threaded);
    fail(&run);
    cr_assert_eq(go_on(&run, SECOND_ID), CAROM_OK);
    cr_assert_eq(go_on(&run, SECOND_ID + 1), CAROM_ERROR_STATE, "one at a time");
    recording_play(&run, 50);
    cm_store_flush(run.store);
    cm_match_status status = status_of(&run);
    cr_assert(status.durable, "%s", status.error);
    cr_assert_eq(status.committed_tick, 105);
    cr_assert_eq(status.gaps, 1);
    cr_assert_eq(status.gap_from, 41);
    cr_assert_eq(status.gap_to, 55);
    cr_assert_eq(status.match_id, SECOND_ID);
    cr_assert_eq(status.parent, RECORDING_ID);
    finish(&run, end);
}

static void clear(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -f %s/*", recording_folder);
    cr_assert_eq(system(command), 0);
}

static void verify(const char *file, uint32_t jobs, uint64_t last, bool complete)
{
    cm_replay_report report;
    cm_replay_options options = {.jobs = jobs};
    cr_assert_eq(cm_replay_verify(file, &options, &report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT, "%s", report.proof.changed);
    cr_assert_eq(report.verified_ticks, last);
    cr_assert_eq(report.complete, complete);
}

Test(go_on, a_failed_recording_goes_on_in_another_file)
{
    for (int threaded = 0; threaded < 2; threaded++) {
        make(threaded == 1, CM_MATCH_ENDED);
        verify(path[0], 1, 40, false);
        for (uint32_t jobs = 1; jobs <= 3; jobs++) {
            verify(path[1], jobs, 105, true);
        }
        cm_match_file *file;
        cm_match_error error;
        cm_match_info info;
        cr_assert_eq(cm_match_open(path[1], &file, &error), CAROM_OK, "%s", error.message);
        cm_match_info_get(file, &info);
        cr_assert_eq(info.parent, RECORDING_ID);
        cr_assert_eq(info.origin, RECORDING_ID);
        cr_assert_eq(info.gap_from, 41);
        cr_assert_eq(info.gap_to, 55);
        cr_assert_eq(info.joins, 3);
        cr_assert_eq(info.keyframes, 4); // 55, 60, 80, 100
        cm_match_close(file);
        clear();
    }
}

Test(go_on, any_tick_of_it_can_be_sought)
{
    cm_playback *playback;
    cm_match_error error;
    make(false, CM_MATCH_ENDED);
    cr_assert_eq(cm_playback_open(path[1], &playback, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(carom_game_tick(cm_playback_game(playback)), 55);
    const uint64_t ticks[] = {105, 56, 55, 79, 60};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        cr_assert_eq(cm_playback_seek(playback, ticks[i], &error), CAROM_OK, "%s", error.message);
        cr_assert_eq(carom_game_tick(cm_playback_game(playback)), ticks[i]);
    }
    cr_assert_eq(cm_playback_seek(playback, 54, &error), CAROM_ERROR_ARGUMENT);
    cr_assert_not_null(strstr(error.message, "55 to 105"), "%s", error.message);
    cm_playback_close(playback);
}

// A server that is killed after the gap: its match goes on from the second file.
Test(go_on, the_new_file_is_resumed_as_any_other)
{
    cm_live_match *live;
    cm_match_error error;
    make(false, CM_MATCH_LIVE);
    cr_assert_eq(cm_live_match_read(path[1], NULL, &live, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(live->info.ticks, 105);
    cr_assert_eq(live->info.origin, RECORDING_ID);
    cr_assert_eq(live->player_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(live->players[i].client_id, 100 + i);
        cr_assert_eq(live->players[i].join_tick, 55);
        cr_assert_eq(live->players[i].messages, 0x107, "those before the gap");
    }
    recording run = {.players = 3, .keyframe_every = 20};
    cm_rng_seed(&run.rng, 9);
    run.store = recording_store(false);
    run.scene = live->scene;
    live->scene = NULL;
    cr_assert_eq(cm_store_resume(run.store, SECOND_ID, 105, false, &run.match), CAROM_OK, "%s",
                 cm_store_begin_error(run.store));
    cr_assert_eq(cm_game_create(run.scene, live->module, live->info.seed, NULL, &run.game),
                 CAROM_OK);
    cr_assert_eq(cm_game_decode(run.game, live->image, live->image_size), CAROM_OK);
    cm_live_match_free(live);
    recording_play(&run, 30);
    finish(&run, CM_MATCH_DRAINED);
    verify(path[1], 1, 135, true);
}

// What failed and went on in another file is not brought back beside it, whether that has ended or
// not.
Test(go_on, a_server_that_starts_brings_back_the_last_file_alone)
{
    for (int ended = 0; ended < 2; ended++) {
        cm_config config;
        cm_log log = {0};
        cm_unfinished_matches matches = {0};
        make(false, ended ? CM_MATCH_ENDED : CM_MATCH_LIVE);
        cm_config_default(&config);
        snprintf(config.matches, sizeof config.matches, "%s", recording_folder);
        cm_unfinished_matches_find(&config, &log, &matches);
        cr_assert_eq(matches.count, ended ? 0 : 1);
        cr_assert(ended || matches.list[0].match_id == SECOND_ID);
        cm_unfinished_matches_free(&matches);
        clear();
    }
}

Test(go_on, again_and_again)
{
    recording run;
    begin(&run, false);
    for (uint32_t i = 0; i < 3; i++) {
        fail(&run);
        cr_assert_eq(go_on(&run, SECOND_ID + i), CAROM_OK);
        recording_play(&run, 30);
        cm_store_flush(run.store);
        cr_assert(status_of(&run).durable);
        cr_assert_eq(status_of(&run).gaps, i + 1);
        cr_assert_eq(status_of(&run).parent, i == 0 ? RECORDING_ID : SECOND_ID + i - 1);
        cr_assert_eq(status_of(&run).gap_from, 41 + 45 * i);
    }
    finish(&run, CM_MATCH_ENDED);
    verify(path[1], 2, 175, true);
}

// The disk is still full: nothing of the try stays, and the next one is as good.
Test(go_on, a_try_that_fails_leaves_nothing)
{
    recording run;
    begin(&run, false);
    fail(&run);
    for (int i = 0; i < 3; i++) {
        faulty.fail_writes = true;
        cr_assert_eq(go_on(&run, SECOND_ID), CAROM_OK);
        recording_play(&run, 10);
        cm_store_flush(run.store);
        cr_assert_not(status_of(&run).durable);
        cr_assert_eq(status_of(&run).committed_tick, 40);
        cr_assert_str_eq(cm_store_path(run.store, run.match), path[0]);
        cr_assert_eq(status_of(&run).queued_bytes, 0);
        recording_play(&run, 1);
    }
    faulty.fail_writes = false;
    cr_assert_eq(go_on(&run, SECOND_ID), CAROM_OK);
    recording_play(&run, 10);
    cm_store_flush(run.store);
    cr_assert(status_of(&run).durable, "%s", status_of(&run).error);
    cr_assert_eq(status_of(&run).gap_from, 41);
    finish(&run, CM_MATCH_ENDED);
    verify(path[1], 1, 98, true);
}

// A queue that was full is no fault of the file: it ends there, and says that it failed.
Test(go_on, a_queue_that_was_full)
{
    recording run;
    memset(&faulty, 0, sizeof faulty);
    cm_store_def def = {.directory = recording_folder, .queue_max = 60000};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    recording_begin(&run, store, 3, 7);
    snprintf(path[0], sizeof path[0], "%s", cm_store_path(store, run.match));
    recording_play(&run, 1000);
    cr_assert_not(status_of(&run).durable);
    cr_assert_eq(go_on(&run, SECOND_ID), CAROM_ERROR_FULL);
    cm_store_flush(store);
    uint64_t committed = status_of(&run).committed_tick;
    cr_assert_gt(committed, 0);
    cr_assert_eq(go_on(&run, SECOND_ID), CAROM_OK);
    recording_play(&run, 20);
    cm_store_flush(store);
    cr_assert(status_of(&run).durable, "%s", status_of(&run).error);
    cr_assert_eq(status_of(&run).gap_from, committed + 1);
    finish(&run, CM_MATCH_ENDED);
    verify(path[0], 1, committed, true);
    verify(path[1], 1, 1020, true);
}

static carom_result open_edited(const char *sql, char message[640])
{
    char command[512], copy[160];
    cm_replay_report report;
    snprintf(copy, sizeof copy, "%s/edited.match", recording_folder);
    snprintf(command, sizeof command, "cp %s %s", path[1], copy);
    cr_assert_eq(system(command), 0);
    recording_edit(copy, sql, false);
    carom_result result = cm_replay_verify(copy, NULL, &report);
    snprintf(message, 640, "%s%s", report.error.message, report.proof.changed);
    return result == CAROM_OK && report.proof.verdict == CM_PROOF_CHANGED ? CAROM_ERROR_DIVERGED
                                                                          : result;
}

Test(go_on, what_it_says_of_the_gap_is_proved)
{
    static const struct {
        const char *sql, *says;
        carom_result expected;
    } edits[] = {
        {"UPDATE meta SET value = 42 WHERE key = 'gap_from'", "changed", CAROM_ERROR_DIVERGED},
        {"UPDATE meta SET value = 54 WHERE key = 'gap_to'", "expected", CAROM_ERROR_CORRUPT},
        {"UPDATE meta SET value = 0 WHERE key = 'gap_from'", "gap_from", CAROM_ERROR_CORRUPT},
        {"UPDATE meta SET value = 56 WHERE key = 'gap_from'", "gap_from", CAROM_ERROR_CORRUPT},
        {"UPDATE meta SET value = '00000000000000aa' WHERE key = 'parent'", "changed",
         CAROM_ERROR_DIVERGED},
        {"DELETE FROM meta WHERE key = 'parent'", "parent", CAROM_ERROR_CORRUPT},
        {"DELETE FROM meta WHERE key IN ('parent', 'origin', 'gap_from', 'gap_to')",
         "expected tick 0", CAROM_ERROR_CORRUPT},
        {"DELETE FROM keyframes WHERE tick = 55", "with which it begins", CAROM_ERROR_CORRUPT},
        {"DELETE FROM keyframes", "none", CAROM_ERROR_CORRUPT},
        {"UPDATE ticks SET hash = 1 WHERE tick = 55", "changed", CAROM_ERROR_DIVERGED},
        {"UPDATE events SET type = 'leave', payload = NULL WHERE tick = 55 AND number = 0", "joins",
         CAROM_ERROR_CORRUPT},
        {"UPDATE events SET client_id = '7' WHERE tick = 55 AND number = 0", "changed",
         CAROM_ERROR_DIVERGED},
        {"INSERT INTO ticks(tick, hash) VALUES(54, 1)", "54", CAROM_ERROR_CORRUPT},
    };
    make(false, CM_MATCH_ENDED);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        char message[640];
        carom_result result = open_edited(edits[i].sql, message);
        cr_assert_eq(result, edits[i].expected, "%s: %s", edits[i].sql, message);
        cr_assert_not_null(strstr(message, edits[i].says), "%s: %s", edits[i].sql, message);
    }
}

Test(go_on, the_second_reader_agrees)
{
    char command[256], said[512];
    make(false, CM_MATCH_ENDED);
    snprintf(command, sizeof command, "python3 tests/record/second_reader.py %s", path[1]);
    FILE *pipe = popen(command, "r");
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    cr_assert_eq(pclose(pipe), 0, "%s", said);
    cr_assert_not_null(strstr(said, "\"ticks\": 105"), "%s", said);
}
