// Goal: a match whose server was killed goes on in its own file, bit for bit, and the file proves
// itself over the seam; what cannot go on is ended as cut, or left as it was.
//
// Method: file and log are copied as they stand after a commit, which is what a kill leaves; the
// copy goes on beside the original, with the same inputs.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/replay/live_match.h"
#include "server/record/replay/replay.h"
#include "shared/wire/crypto.h"
#include "tests/unit/record/recording.h"

TestSuite(live_match, .init = recording_setup, .fini = recording_teardown);

static const uint8_t secret[32] = {7, 7}, other_secret[32] = {8};
static char crashed[128]; // folder of the copy
static char crashed_path[160];

// The disk of a server that is killed now.
static void crash(void)
{
    char command[512];
    snprintf(crashed, sizeof crashed, "%s/crashed", recording_folder);
    snprintf(crashed_path, sizeof crashed_path, "%s/%016llx.match", crashed,
             (unsigned long long)RECORDING_ID);
    snprintf(command, sizeof command, "rm -rf %s; mkdir %s; cp %s %s-wal %s", crashed, crashed,
             recording_path(), recording_path(), crashed);
    cr_assert_eq(system(command), 0);
}

static bool threaded, known; // stores of the copy, and what they are told of it

static cm_store *crashed_store(const uint8_t *key)
{
    cm_store_def def = {.directory = crashed, .secret = key, .threaded = threaded};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    return store;
}

static cm_live_match *read_crashed(void)
{
    cm_live_match *live;
    cm_match_error error = {0};
    cr_assert_eq(cm_live_match_read(crashed_path, NULL, &live, &error), CAROM_OK, "%s",
                 error.message);
    return live;
}

// The same players with the same chance, from the live match's last tick on.
static recording go_on(cm_store *store, const cm_live_match *live, const recording *before)
{
    recording run = *before;
    run.store = store;
    cr_assert_eq(cm_game_create(live->scene, live->module, live->info.seed, NULL, &run.game),
                 CAROM_OK);
    cr_assert_eq(cm_game_decode(run.game, live->image, live->image_size), CAROM_OK);
    cr_assert_eq(cm_game_hash(run.game), live->hash);
    cr_assert_eq(cm_store_resume(store, RECORDING_ID, live->info.ticks, known, &run.match),
                 CAROM_OK, "%s", cm_store_begin_error(store));
    return run;
}

static void verify(const char *path, uint64_t ticks, uint32_t resumes, bool complete)
{
    cm_replay_report report;
    uint8_t public_key[32];
    cm_crypto_sign_public(secret, public_key);
    cm_replay_options options = {.public_key = public_key};
    cr_assert_eq(cm_replay_verify(path, &options, &report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict,
                 complete && report.proof.is_signed ? CM_PROOF_AUTHENTIC : CM_PROOF_CONSISTENT,
                 "%s", report.proof.changed);
    cr_assert_eq(report.verified_ticks, ticks);
    cr_assert_eq(report.complete, complete);
    cm_match_file *file;
    cm_match_info info;
    cr_assert_eq(cm_match_open(path, &file, &report.error), CAROM_OK);
    cm_match_info_get(file, &info);
    cm_match_close(file);
    cr_assert_eq(info.resumes, resumes);
    char command[512]; // a reader that was written from MATCH_FILE.md alone
    snprintf(command, sizeof command, "python3 tests/record/second_reader.py %s >/dev/null", path);
    cr_assert_eq(system(command), 0);
}

// The store takes it, and finds when it proves it that nothing may be written into it.
static void expect_left(const char *path, cm_store *store, uint64_t tick, const char *reason)
{
    cm_match_handle match;
    cm_match_status status;
    cm_tick_input none = {0};
    uint64_t size = file_size(path, ""), log_size = file_size(path, "-wal");
    cr_assert_eq(cm_store_resume(store, RECORDING_ID, tick, known, &match), CAROM_OK);
    cm_store_tick(store, match, tick + 1, 7, &none);
    cm_store_status(store, match, &status);
    cr_assert(threaded || (status.durable && status.committed_tick == tick));
    cm_store_flush(store);
    cm_store_status(store, match, &status);
    cr_assert(status.left && !status.durable);
    cr_assert_not_null(strstr(status.error, reason), "%s", status.error);
    cr_assert_eq(status.committed_tick, tick);
    cr_assert_eq(status.queued_bytes, 0);
    cr_assert_eq(status.dropped, 1);
    cm_scene *scene = recording_scene();
    cm_match_def def = recording_def(scene);
    def.match_id = 9;
    def.gap_to = tick + 1;
    def.parent = RECORDING_ID;
    cr_assert_eq(cm_store_go_on(store, match, &def, 7, "state", 5, NULL, 0), CAROM_ERROR_STATE);
    cm_scene_free(scene);
    cr_assert_eq(file_size(path, ""), size);
    cr_assert_eq(file_size(path, "-wal"), log_size);
}

static const char longest_address[] = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535";

static void check_seam(uint32_t before, uint32_t after, bool row_ahead)
{
    recording run, resumed;
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 3, 77);
    run.keyframe_every = 40;
    recording_play(&run, before - 1);
    cm_store_personal(store, run.match, 101, "address", longest_address);
    recording_play(&run, 1);
    if (row_ahead) {
        cm_store_personal(store, run.match, 101, "name", "of the tick that never came");
    }
    cm_store_pump(store);
    recording at_crash = run;
    recording_play(&run, 7); // queued, and lost with the server
    crash();

    cm_live_match *live = read_crashed();
    cr_assert_eq(live->info.ticks, before);
    cr_assert_eq(live->player_count, 3);
    cr_assert_eq(live->players[2].client_id, 102);
    cr_assert_eq(live->players[2].join_tick, 1);
    cr_assert_str_eq(live->players[1].address, longest_address);
    if (before >= 40) {
        cr_assert_eq(live->players[1].statistics.inputs, before / 40 * 40);
    }
    cm_store *other = crashed_store(recording_secret);
    resumed = go_on(other, live, &at_crash);
    recording_play(&resumed, after);
    cm_store_pump(other);
    cm_match_status status;
    cm_store_status(other, resumed.match, &status);
    cr_assert(status.durable, "%s", status.error);
    cr_assert_eq(status.committed_tick, before + after);
    cm_store_end(other, resumed.match, CM_MATCH_DRAINED);
    cm_store_destroy(other);
    recording_play(&run, after - 7);
    cr_assert_eq(cm_game_hash(resumed.game), cm_game_hash(run.game));
    verify(crashed_path, before + after, 1, true);

    cm_game_destroy(resumed.game);
    cm_live_match_free(live);
    cm_store_destroy(store);
    recording_free(&run);
}

Test(live_match, goes_on_bit_for_bit_and_verifies_over_the_seam)
{
    for (uint32_t i = 0; i < 2; i++) {
        known = i == 1;
        recording_secret = secret;
        check_seam(130, 100, false); // between two keyframes
        recording_teardown();
        recording_setup();
        check_seam(120, 90, true); // on a keyframe's tick, with a row of the next tick
        recording_teardown();
        recording_setup();
        recording_secret = NULL;
        check_seam(11, 30, true); // before any keyframe, unsigned
        recording_teardown();
        recording_setup();
        check_seam(127, 30, true);
        recording_teardown();
        recording_setup();
    }
    known = false;
}

// Each crash takes what was not committed, also a crash before the first tick after a seam.
static void go_on_again_and_again(void)
{
    char command[512];
    recording run;
    recording_secret = secret;
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 2, 5);
    run.keyframe_every = 25;
    recording_play(&run, 60);
    cm_store_pump(store);
    crash();
    cm_store_destroy(store);
    recording_free(&run);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t ticks = i == 2 ? 0 : 10 + 7 * i;
        cm_live_match *live = read_crashed();
        cm_store *other = crashed_store(secret);
        recording resumed = go_on(other, live, &run);
        recording_play(&resumed, ticks);
        cm_store_pump(other);
        recording_play(&resumed, 3);
        snprintf(command, sizeof command, "mkdir %s/next; cp %s* %s/next", recording_folder,
                 crashed_path, recording_folder);
        cr_assert_eq(system(command), 0);
        cm_store_destroy(other);
        snprintf(command, sizeof command, "rm -r %s; mv %s/next %s", crashed, recording_folder,
                 crashed);
        cr_assert_eq(system(command), 0);
        cm_game_destroy(resumed.game);
        cm_live_match_free(live);
    }
    verify(crashed_path, 60 + 10 + 17 + 31 + 38 + 45, 5, false);
}

Test(live_match, goes_on_again_and_again)
{
    go_on_again_and_again();
    recording_teardown();
    recording_setup();
    known = true;
    go_on_again_and_again();
    known = false;
}

Test(live_match, one_that_has_ended_is_not_gone_on_with)
{
    cm_live_match *live;
    cm_match_error error;
    recording_make(20, 3);
    cr_assert_eq(cm_live_match_read(recording_path(), NULL, &live, &error), CAROM_ERROR_STATE);
    cr_assert_null(live);
    uint64_t size = file_size(recording_path(), "");
    cm_store *store = recording_store(false);
    expect_left(recording_path(), store, 20, "has ended");
    cm_store_destroy(store);
    cr_assert_eq(file_size(recording_path(), ""), size);
}

static void record_live(void)
{
    recording run;
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 2, 5);
    recording_play(&run, 30);
    cm_store_pump(store);
    crash();
    cm_store_destroy(store);
    recording_free(&run);
}

Test(live_match, one_signed_by_another_key_is_left_as_it_was)
{
    recording_secret = secret;
    record_live();
    const uint8_t *keys[] = {other_secret, NULL};
    for (uint32_t i = 0; i < 2; i++) {
        cm_store *store = crashed_store(keys[i]);
        expect_left(crashed_path, store, 30, "another key");
        cr_assert_eq(cm_store_cut(store, RECORDING_ID), CAROM_ERROR_STATE);
        cm_store_destroy(store);
    }
    verify(crashed_path, 30, 0, false);
}

Test(live_match, one_of_another_engine_is_ended_as_cut)
{
    cm_live_match *live;
    cm_match_error error;
    cm_match_file *file;
    cm_match_info info;
    cm_proof proof;
    record_live();
    cm_store *store = crashed_store(NULL);
    cr_assert_eq(cm_store_cut(store, RECORDING_ID), CAROM_OK);
    cm_store_destroy(store);
    cr_assert_eq(cm_match_open(crashed_path, &file, &error), CAROM_OK, "%s", error.message);
    cm_match_info_get(file, &info);
    cr_assert_eq(info.end, CM_MATCH_CUT);
    cr_assert_eq(cm_match_prove(file, NULL, &proof, &error), CAROM_OK);
    cr_assert_eq(proof.verdict, CM_PROOF_CONSISTENT, "%s", proof.changed);
    cr_assert_not(proof.complete);
    cm_match_close(file);
    cr_assert_eq(cm_live_match_read(crashed_path, NULL, &live, &error), CAROM_ERROR_STATE);
    cr_assert_eq(file_size(crashed_path, "-wal"), 0);
}

// A row changed while nobody ran: the server that goes on would sign it with all before it. What
// does not change the game is found by the chain alone, before anything is written.
Test(live_match, one_that_was_changed_is_left_before_the_first_commit)
{
    static const char *const edits[] = {
        "UPDATE events SET client_id = '7' WHERE number = 1",
        "UPDATE last SET chain = zeroblob(32)",
    };
    for (uint32_t i = 0; i < 4; i++) {
        threaded = i % 2 == 1;
        record_live();
        recording_edit(crashed_path, edits[i / 2], false);
        cm_live_match_free(read_crashed());
        cm_store *store = crashed_store(NULL);
        expect_left(crashed_path, store, 30, "changed since it was recorded");
        cm_store_destroy(store);
        recording_teardown();
        recording_setup();
    }
    threaded = false;
    record_live();
    cm_store *store = crashed_store(NULL);
    expect_left(crashed_path, store, 29, "it stands at tick 30");
    cm_store_destroy(store);
}

static void record_linked(void)
{
    recording run;
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 2, 5);
    run.keyframe_every = 20;
    recording_play(&run, 55);
    cm_store_pump(store);
    crash();
    cm_store_destroy(store);
    recording_free(&run);
}

// Of a file that the server knows, what came after its newest link is proved, and that link by its
// signature; the rest is whoever's who verifies it.
Test(live_match, one_that_is_known_is_proved_from_its_newest_link_on)
{
    static const struct {
        const char *edit, *found; // NULL: it goes on
        bool is_signed;
    } cases[] = {
        {"UPDATE ticks SET hash = hash + 1 WHERE tick = 45", "changed since", false},
        {"DELETE FROM inputs WHERE tick = (SELECT max(tick) FROM inputs)", "changed since", false},
        {"UPDATE last SET chain = zeroblob(32)", "changed since", false},
        {"UPDATE last SET tick = 54", "changed since", false},
        {"UPDATE links SET chain = zeroblob(32) WHERE tick = 40", "changed since", false},
        {"UPDATE links SET chain = zeroblob(32) WHERE tick = 40", "not signed by", true},
        {"UPDATE links SET tick = 41 WHERE tick = 40", "changed since", false},
        {"UPDATE links SET tick = 60 WHERE tick = 40", "changed since", false},
        {"UPDATE personal SET kind = 'mail' WHERE number = (SELECT max(number) FROM personal)",
         "personal", false},
        {"UPDATE events SET client_id = '7' WHERE number = 1", NULL, false},
    };
    known = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        recording_secret = cases[i].is_signed ? secret : NULL;
        record_linked();
        recording_edit(crashed_path, cases[i].edit, false);
        cm_store *store = crashed_store(recording_secret);
        if (cases[i].found != NULL) {
            expect_left(crashed_path, store, 55, cases[i].found);
        } else {
            cm_match_handle match;
            cm_match_status status;
            cr_assert_eq(cm_store_resume(store, RECORDING_ID, 55, known, &match), CAROM_OK);
            cm_store_flush(store);
            cm_store_status(store, match, &status);
            cr_expect(status.durable && status.proved, "%s", status.error);
        }
        cm_store_destroy(store);
        recording_teardown();
        recording_setup();
    }
    known = false;
    recording_secret = NULL;
    record_linked();
    recording_edit(crashed_path, "UPDATE events SET client_id = '7' WHERE number = 1", false);
    cm_store *store = crashed_store(NULL);
    expect_left(crashed_path, store, 55, "changed since"); // of one that it does not know
    cm_store_destroy(store);
}

// The store's thread writes another match while a thread of its own proves this one.
Test(live_match, is_proved_by_a_thread_while_it_and_others_play)
{
    recording run = {.players = 2}, other;
    cm_match_status status;
    cm_rng_seed(&run.rng, 1);
    threaded = true;
    record_live();
    cm_live_match *live = read_crashed();
    cm_store *store = crashed_store(NULL);
    recording resumed = go_on(store, live, &run);
    recording_begin_as(&other, store, RECORDING_ID + 1, 2, 5);
    recording_play(&resumed, 20);
    recording_play(&other, 20);
    cm_store_flush(store);
    const recording *both[] = {&resumed, &other};
    for (uint32_t i = 0; i < 2; i++) {
        cm_store_status(store, both[i]->match, &status);
        cr_assert(status.durable && !status.left, "%s", status.error);
        cr_assert_eq(status.committed_tick, i == 0 ? 50 : 20);
        cr_assert_eq(status.queued_bytes, 0);
        cm_store_end(store, both[i]->match, CM_MATCH_ENDED);
    }
    cm_store_destroy(store);
    verify(crashed_path, 50, 1, true);
    cm_game_destroy(resumed.game);
    cm_live_match_free(live);
    recording_free(&other);
    threaded = false;
}

// The seam is part of the chain: it cannot be taken out, nor put where none was.
Test(live_match, the_seam_cannot_be_removed_or_made_up)
{
    cm_match_file *file;
    cm_match_error error;
    cm_proof proof;
    static const char *const edits[] = {
        "DELETE FROM events WHERE type = 'resumed'",
        "UPDATE events SET tick = 32 WHERE type = 'resumed'",
        "INSERT INTO events(tick, number, type) VALUES(20, 0, 'resumed')",
    };
    for (uint32_t i = 0; i < 3; i++) {
        recording run = {.players = 2};
        cm_rng_seed(&run.rng, 1);
        record_live();
        cm_live_match *live = read_crashed();
        cm_store *store = crashed_store(NULL);
        recording resumed = go_on(store, live, &run);
        recording_play(&resumed, 10);
        cm_store_end(store, resumed.match, CM_MATCH_ENDED);
        cm_store_destroy(store);
        verify(crashed_path, 40, 1, true);
        recording_edit(crashed_path, edits[i], false);
        cr_assert_eq(cm_match_open(crashed_path, &file, &error), CAROM_OK, "%s", error.message);
        cr_assert_eq(cm_match_prove(file, NULL, &proof, &error), CAROM_OK);
        cr_assert_eq(proof.verdict, CM_PROOF_CHANGED);
        cm_match_close(file);
        cm_game_destroy(resumed.game);
        cm_live_match_free(live);
        recording_teardown();
        recording_setup();
    }
}

// Killed between the match's last tick and the row that says so: it has ended all the same.
Test(live_match, a_match_whose_module_was_told_the_end_does_not_go_on)
{
    recording run;
    cm_live_match *live;
    cm_match_error error = {0};
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 3, 79);
    recording_play(&run, 30);
    recording_play_end(&run);
    cm_store_pump(store);
    crash();
    cr_expect_eq(cm_live_match_read(crashed_path, NULL, &live, &error), CAROM_ERROR_STATE);
    cr_expect_not_null(strstr(error.message, "has ended"), "%s", error.message);
    cr_expect_null(live);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    verify(recording_path(), 31, 0, true);
    recording_free(&run);
}
