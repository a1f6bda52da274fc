// Replay: a recording verifies tick by tick; whatever was changed in it is found, at its tick, and
// never mistaken for another engine's.
//
// Method: a sandbox game with inputs from a seed is recorded; then single values of the file are
// changed by SQL.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/record/replay/replay.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/counts.h"
#include "tests/unit/record/recording.h"

TestSuite(replay, .init = recording_setup, .fini = recording_teardown);

Test(replay, a_recording_verifies)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t hash = recording_make(200, seed);
        cm_replay_report report;
        carom_result result = cm_replay_verify(recording_path(), NULL, &report);
        cr_assert_eq(result, CAROM_OK, "%s", report.error.message);
        cr_assert_eq(report.verified_ticks, 200);
        cr_assert_eq(report.keyframes, 6);
        cr_assert_eq(report.final_hash, hash);
        cr_assert(report.complete);
        cr_assert_not(report.diverged);
        remove(recording_path());
    }
}

Test(replay, a_changed_hash_is_found_at_its_tick)
{
    recording_make(100, 5);
    recording_edit(recording_path(), "UPDATE ticks SET hash = hash + 1 WHERE tick = 37", false);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_DIVERGED);
    cr_assert(report.diverged);
    cr_assert_eq(report.diverged_tick, 37);
    cr_assert_eq(report.verified_ticks, 36);
    cr_assert_eq(report.recorded_hash, report.replayed_hash + 1);
    cr_assert_not_null(strstr(report.difference, "the recorded hash is wrong"), "%s",
                       report.difference);
}

// Player 1 of three presses nothing from tick 40 on.
static void nothing_from_40(cm_record_inputs *row)
{
    if (row->tick >= 40) {
        row->input_count = row->tick == 40 ? 1 : 0;
        memset(row->inputs, 0, sizeof row->inputs);
        row->inputs[0].player = 1;
    }
}

Test(replay, a_changed_input_is_named_by_the_next_keyframe)
{
    recording_make(100, 5);
    recording_edit_inputs(recording_path(), nothing_from_40);
    char prefix[128];
    snprintf(prefix, sizeof prefix, "%s/state", recording_folder);
    cm_replay_options options = {.states = prefix};
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), &options, &report), CAROM_ERROR_DIVERGED, "%s",
                 report.error.message);
    cr_assert(report.states_written);
    cr_assert_gt(file_size(prefix, ".recorded"), 1000);
    cr_assert_gt(file_size(prefix, ".replayed"), 1000);
    cr_assert_eq(report.diverged_tick, 40);
    cr_assert_not_null(strstr(report.difference, "keyframe of tick 60"), "%s", report.difference);
    cr_assert_not_null(strstr(report.difference, "body"), "%s", report.difference);
    cr_assert_not_null(strstr(report.difference, "recorded"), "%s", report.difference);
}

// A keyframe is what a match goes on from: another state of its tick is as wrong as another hash.
Test(replay, a_keyframe_is_the_state_of_its_tick)
{
    char sql[256], other[128];
    recording_make(40, 6);
    snprintf(other, sizeof other, "%s/other", recording_folder);
    cr_assert_eq(rename(recording_path(), other), 0);
    recording_make(40, 5);
    snprintf(sql, sizeof sql,
             "ATTACH '%s' AS other; UPDATE keyframes SET packed = (SELECT packed FROM "
             "other.keyframes WHERE tick = 30) WHERE tick = 30",
             other);
    recording_edit(recording_path(), sql, false);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_DIVERGED);
    cr_assert_eq(report.diverged_tick, 30);
    cr_assert_eq(report.verified_ticks, 29);
    cr_assert_eq(report.keyframes, 0);
    cr_assert_not_null(strstr(report.difference, "keyframe of tick 30"), "%s", report.difference);
}

Test(replay, a_keyframe_of_another_tick_or_of_nothing)
{
    recording_make(100, 5);
    recording_edit(recording_path(),
                   "UPDATE keyframes SET base = NULL, packed = (SELECT packed FROM keyframes WHERE "
                   "tick = 30) WHERE tick = 60",
                   false);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_CORRUPT);
    cr_assert_not_null(strstr(report.error.message, "row 60: packed: no state of this scene at"));
    recording_edit(recording_path(), "UPDATE keyframes SET packed = x'00' WHERE tick = 60", false);
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_CORRUPT);
    cr_assert_not_null(strstr(report.error.message, "keyframes: row 60"), "%s",
                       report.error.message);
}

Test(replay, another_engine_is_not_a_divergence)
{
    static const char *const edits[] = {
        "UPDATE meta SET value = value + 1 WHERE key = 'engine_version'",
        "UPDATE meta SET value = value - 1 WHERE key = 'engine_version';"
        "UPDATE meta SET value = 'f' || substr(value, 2) || '' WHERE key = 'layout_hash' AND value "
        "NOT LIKE 'f%'",
        "UPDATE meta SET value = '9' || substr(value, 2) WHERE key = 'layout_hash';"
        "UPDATE meta SET value = value + 1 WHERE key = 'module_version'",
        "UPDATE meta SET value = value - 1 WHERE key = 'module_version';"
        "UPDATE meta SET value = 'chess' WHERE key = 'module'",
    };
    recording_make(20, 5);
    recording_edit(recording_path(), "UPDATE ticks SET hash = 0 WHERE tick = 3", false);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        recording_edit(recording_path(), edits[i], false);
        cm_replay_report report;
        cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_VERSION,
                     "edit %zu: %s", i, report.error.message);
        cr_assert_not_null(strstr(report.error.message, "recorded"), "%s", report.error.message);
        cr_assert_not(report.diverged);
    }
}

// Player 0: x is an infinity.
static void infinity_at_9(cm_record_inputs *row)
{
    static const uint8_t infinity[] = {0, 0, 0x80, 0x7f};
    if (row->tick == 9) {
        row->input_count = 1;
        row->inputs[0].player = 0;
        memcpy(row->inputs[0].bytes, infinity, sizeof infinity);
    }
}

Test(replay, an_input_that_the_module_refuses)
{
    recording_make(20, 5);
    recording_edit_inputs(recording_path(), infinity_at_9);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_CORRUPT);
    cr_assert_not_null(strstr(report.error.message, "ticks: row 9"), "%s", report.error.message);
    cr_assert_eq(report.verified_ticks, 8);
}

static bool stop_at_10(void *context, uint64_t tick, uint64_t last)
{
    (void)context;
    cr_assert_eq(last, 30);
    return tick <= 10;
}

Test(replay, stops_where_it_is_told)
{
    recording_make(30, 5);
    cm_replay_options options = {.progress = stop_at_10};
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), &options, &report), CAROM_OK);
    cr_assert(report.stopped);
    cr_assert_eq(report.verified_ticks, 10);
}

// Any number of jobs ----------------------------------------------------------------------------

static const uint32_t numbers_of_jobs[] = {3, 2, 5, 64};

// Every field that a caller can see, the states' files among them.
static void expect_same(const cm_replay_report *a, const cm_replay_report *b, const char *what)
{
    cr_assert_eq(a->verified_ticks, b->verified_ticks, "%s: %llu, %llu", what,
                 (unsigned long long)a->verified_ticks, (unsigned long long)b->verified_ticks);
    cr_assert_eq(a->final_hash, b->final_hash, "%s", what);
    cr_assert_eq(a->keyframes, b->keyframes, "%s: %u, %u", what, a->keyframes, b->keyframes);
    cr_assert_eq(a->complete, b->complete, "%s", what);
    cr_assert_eq(a->stopped, b->stopped, "%s", what);
    cr_assert_eq(a->diverged, b->diverged, "%s", what);
    cr_assert_eq(a->diverged_tick, b->diverged_tick, "%s", what);
    cr_assert_eq(a->recorded_hash, b->recorded_hash, "%s", what);
    cr_assert_eq(a->replayed_hash, b->replayed_hash, "%s", what);
    cr_assert_eq(a->states_written, b->states_written, "%s", what);
    cr_assert_str_eq(a->difference, b->difference, "%s", what);
    cr_assert_str_eq(a->error.message, b->error.message, "%s", what);
    cr_assert_str_eq(a->proof.changed, b->proof.changed, "%s", what);
}

static uint64_t hash_of_file(const char *prefix, const char *suffix)
{
    char path[160];
    snprintf(path, sizeof path, "%s.%s", prefix, suffix);
    FILE *file = fopen(path, "rb");
    uint64_t hash = 5381;
    for (int c; file != NULL && (c = fgetc(file)) != EOF;) {
        hash = hash * 33 + (uint64_t)c;
    }
    if (file != NULL) {
        fclose(file);
    }
    return hash;
}

static carom_result verify_with(uint32_t jobs, cm_replay_report *report, uint64_t states[2])
{
    char prefix[128];
    snprintf(prefix, sizeof prefix, "%s/state-%u", recording_folder, jobs);
    cm_replay_options options = {.states = prefix, .jobs = jobs};
    carom_result result = cm_replay_verify(recording_path(), &options, report);
    states[0] = hash_of_file(prefix, "recorded");
    states[1] = hash_of_file(prefix, "replayed");
    return result;
}

static void no_inputs_from_130(cm_record_inputs *row)
{
    if (row->tick >= 130) {
        row->input_count = row->tick == 130 ? 1 : 0;
        memset(row->inputs, 0, sizeof row->inputs);
        row->inputs[0].player = 1;
    }
}

// Keyframes are at 30, 60, … 300.
static const char *const changes[] = {
    "SELECT 1", // none
    "UPDATE ticks SET hash = hash + 1 WHERE tick = 0",
    "UPDATE ticks SET hash = hash + 1 WHERE tick = 37",
    "UPDATE ticks SET hash = hash + 1 WHERE tick = 60", // a keyframe's
    "UPDATE ticks SET hash = hash + 1 WHERE tick = 61",
    "UPDATE ticks SET hash = hash + 1 WHERE tick IN (91, 95, 210, 290)",
    "UPDATE ticks SET hash = hash + 1 WHERE tick >= 250",
    "UPDATE ticks SET hash = hash + 1 WHERE tick = 305", // after the last
    "UPDATE keyframes SET base = NULL, packed = (SELECT packed FROM keyframes WHERE tick = 30) "
    "WHERE tick = 240", // and so for those after it, whose base it is
    "DELETE FROM keyframes WHERE tick > 90",
    "DELETE FROM keyframes",
    "DELETE FROM ticks WHERE tick > 200; DELETE FROM events WHERE tick > 200;"
    "DELETE FROM keyframes WHERE tick > 200",
    "UPDATE keyframes SET packed = x'00' WHERE tick = 150",
    "UPDATE events SET player = 9 WHERE tick = 1 AND number = 2",
    NULL, // inputs
};

Test(replay, any_number_of_jobs_says_the_same)
{
    uint32_t divergences = 0, well = 0;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *what = changes[i] != NULL ? changes[i] : "inputs";
        cm_replay_report one, many;
        uint64_t states[2], other[2];
        recording_make(310, 5);
        if (changes[i] != NULL) {
            recording_edit(recording_path(), changes[i], false);
        } else {
            recording_edit_inputs(recording_path(), no_inputs_from_130);
        }
        carom_result result = verify_with(1, &one, states);
        divergences += one.diverged;
        well += result == CAROM_OK;
        for (size_t k = 0; k < test_count(1, sizeof numbers_of_jobs / sizeof numbers_of_jobs[0]);
             k++) {
            cr_assert_eq(verify_with(numbers_of_jobs[k], &many, other), result, "%s", what);
            expect_same(&one, &many, what);
            cr_assert_eq(states[0], other[0], "%s", what);
            cr_assert_eq(states[1], other[1], "%s", what);
        }
        remove(recording_path());
    }
    cr_assert_geq(divergences, 8);
    cr_assert_geq(well, 2);
}

static bool stop_at_half(void *context, uint64_t tick, uint64_t last)
{
    uint64_t *most = context;
    *most = tick > *most ? tick : *most;
    return tick <= last / 2;
}

// Where it stops depends on the moment; that all before it was verified does not.
Test(replay, a_crew_stops_too)
{
    recording_make(900, 5);
    uint64_t most = 0;
    cm_replay_options options = {.progress = stop_at_half, .context = &most, .jobs = 3};
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), &options, &report), CAROM_OK);
    cr_assert(report.stopped || report.verified_ticks == 900);
    cr_assert_leq(report.keyframes * 30, report.verified_ticks);
    cr_assert_leq(report.verified_ticks, report.keyframes * 30 + 30);
    cr_assert_leq(most, 900);
}

static command_result ran;

static void run(const char *format)
{
    char command[512];
    snprintf(command, sizeof command, format, recording_path());
    run_command(command, &ran);
}

// Its keyframes are states, which need no simulation: those of a match of another engine version
// are shown as they were, and nothing between them.
Test(replay, keyframes_of_another_engine)
{
    static char at_60[sizeof ran.out];
    recording_make(90, 8);
    run("replay %s --seek 60");
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    strcpy(at_60, ran.out);
    recording_edit(recording_path(), "UPDATE meta SET value = 7 WHERE key = 'engine_version'",
                   false);
    run("replay %s --seek 60");
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_str_eq(ran.out, at_60);
    cr_assert_not_null(strstr(ran.err, "recorded by engine 7, this is engine"), "%s", ran.err);
    run("replay %s --export jsonl --from 31 2>/dev/null | wc -l");
    cr_assert_str_eq(ran.out, "2\n"); // of ticks 60 and 90
    run("replay %s --seek 59");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "none is of ticks 59 to 59, the next one is of tick 60"),
                       "%s", ran.err);
    run("replay %1$s --export sqlite --out %1$s.db");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "recorded by engine 7"), "%s", ran.err);
    recording_edit(recording_path(),
                   "UPDATE meta SET value = '00000000000000aa' WHERE key = 'layout_hash'", false);
    run("replay %s --seek 60");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "layout 00000000000000aa"), "%s", ran.err);
}

Test(replay, the_command_and_its_statuses)
{
    char expected[128];
    uint64_t hash = recording_make(90, 8);
    run("replay %s --verify");
    snprintf(expected, sizeof expected,
             "verified 90 ticks, hash %016" PRIx64 ", consistent, complete\n", hash);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_eq(strncmp(ran.out, expected, strlen(expected)), 0, "%s", ran.out);
    run("replay %s --verify --jobs 3");
    cr_assert_eq(strncmp(ran.out, expected, strlen(expected)), 0, "%s", ran.out);
    cr_assert_str_eq(ran.err, ""); // no bar where there is no terminal
    run("replay %s --verify --jobs 0");
    cr_assert_eq(ran.status, 2);
    run("replay %s --verify --format json");
    cr_assert_not_null(strstr(ran.out, "\"result\": \"verified\", \"verified_ticks\": 90"));
    run("replay %1$s nowhere.match %1$s --verify"); // each for itself, the worst status
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "nowhere.match: No such file"), "%s", ran.err);
    cr_assert_not_null(strstr(strstr(ran.out, expected) + 1, expected), "%s", ran.out);
    run("replay %1$s %1$s --seek 90");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "expected one match file"), "%s", ran.err);
    run("replay %s");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "expected --verify, --export, --seek or --speed"));
    run("replay %s --seek 90");
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    snprintf(expected, sizeof expected, "\"hash\": \"%016" PRIx64 "\"", hash);
    cr_assert_not_null(strstr(ran.out, expected), "%s", ran.out);
    run("replay %s --speed 1000 --every 30 | wc -l");
    cr_assert_str_eq(ran.out, "4\n");
    static const struct {
        const char *command, *says;
    } refused[] = {
        {"replay %s --seek 91", "no tick 91, expected one of the match, 0 to 90"},
        {"replay %s --seek 7 --from 3", "--seek: not with --from"},
        {"replay %s --export csv --events", "--events: not with --export csv"},
        {"replay %s --export sqlite", "expected --out FILE"},
        {"replay %s --export csv --from 9 --to 7", "--to: before --from"},
        {"replay %s --verify --seek 7", "takes none of --export"},
        {"replay %s --seek 7 --states x", "only with --verify"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        run(refused[i].command);
        cr_expect_eq(ran.status, 2, "%s", refused[i].command);
        cr_expect_not_null(strstr(ran.err, refused[i].says), "%s", ran.err);
        cr_expect_str_eq(ran.out, "");
    }
    run("match info %s");
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_not_null(strstr(ran.out, "\"match_id\": \"c0ffee0000000001\""), "%s", ran.out);
    cr_assert_not_null(strstr(ran.out, "\"ticks\": 90"), "%s", ran.out);
    cr_assert_not_null(strstr(ran.out, "\"end\": \"ended\""), "%s", ran.out);
    run("match brew %s");
    cr_assert_eq(ran.status, 2);

    recording_edit(recording_path(), "UPDATE ticks SET hash = 5 WHERE tick = 44", false);
    run("replay %s --verify");
    cr_assert_eq(ran.status, 1);
    cr_assert_not_null(strstr(ran.err, "diverged at tick 44: recorded hash 0000000000000005"), "%s",
                       ran.err);
    recording_edit(recording_path(), "UPDATE meta SET value = 99 WHERE key = 'engine_version'",
                   false);
    run("replay %s --verify");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "recorded by engine 99"), "%s", ran.err);
    run("match info %s");
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    recording_edit(recording_path(), "DELETE FROM ticks WHERE tick = 50", false);
    run("replay %s --verify");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "ticks: row 51: expected tick 50"), "%s", ran.err);
    run("replay %s-that-is-not-there --verify");
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "No such file"), "%s", ran.err);
}
