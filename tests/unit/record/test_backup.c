// Goal: a match is copied by its own writer while it goes on: the copy is one file that proves
// itself up to a tick that was committed, commits come between its steps, a disk that fills up
// costs no more than the copy, and a match that ends meanwhile is copied with its end. Method: the
// store by hand, a step a pump, and by its thread; copies are verified by the real reader; a disk
// that fails on demand.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/store/match_backup.h"
#include "server/record/replay/replay.h"
#include "server/record/store/store_inner.h"
#include "tests/unit/record/faulty_vfs.h"
#include "tests/unit/record/recording.h"

TestSuite(backup, .init = recording_setup, .fini = recording_teardown);

static char copy[128];

// A file of so many steps at least.
static void begin(recording *run, bool threaded, uint32_t steps)
{
    faulty_install();
    snprintf(copy, sizeof copy, "%s/copy.match", recording_folder);
    recording_begin(run, recording_store(threaded), 3, 7);
    run->keyframe_every = 5;
    while (file_size(recording_path(), "") < steps * CM_MATCH_BACKUP_PAGES * 4096u) {
        recording_play(run, 100);
        cm_store_flush(run->store);
    }
}

static cm_store_backup_status status_of(const recording *run)
{
    cm_store_backup_status status;
    cm_store_backup_status_get(run->store, run->match, &status);
    return status;
}

static uint64_t committed(const recording *run)
{
    cm_match_status status;
    cm_store_status(run->store, run->match, &status);
    cr_assert(status.durable, "%s", status.error);
    return status.committed_tick;
}

static uint64_t verify(const char *path, bool complete)
{
    cm_replay_report report;
    cm_replay_options options = {.jobs = 1};
    cr_assert_eq(cm_replay_verify(path, &options, &report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT, "%s", report.proof.changed);
    cr_assert_eq(report.complete, complete);
    return report.verified_ticks;
}

static void expect_nothing_but_the_match(void)
{
    char command[512];
    snprintf(command, sizeof command, "test -z \"$(ls %s | grep copy)\"", recording_folder);
    cr_expect_eq(system(command), 0, "something of the copy is left");
}

static void finish(recording *run)
{
    uint64_t ticks = carom_game_tick(run->game);
    cm_store_end(run->store, run->match, CM_MATCH_ENDED);
    cm_store_destroy(run->store);
    cr_assert_eq(verify(recording_path(), true), ticks);
    recording_free(run);
}

Test(backup, a_live_match_is_copied_between_its_commits)
{
    recording run;
    begin(&run, false, 5);
    uint64_t before = committed(&run);
    cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_NONE);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_ERROR_STATE, "one at a time");
    uint32_t steps = 0;
    while (status_of(&run).state == CM_STORE_BACKUP_RUNS) {
        cr_assert_lt(++steps, 100);
        recording_play(&run, 6);
        cm_store_pump(run.store);
        cr_assert_eq(committed(&run), carom_game_tick(run.game), "no commit waits for a copy");
        struct stat found;
        cr_assert(stat(copy, &found) != 0 || status_of(&run).state == CM_STORE_BACKUP_DONE);
    }
    cm_store_backup_status status = status_of(&run);
    cr_assert_eq(status.state, CM_STORE_BACKUP_DONE, "%s", status.error);
    cr_assert_geq(steps, 5);
    cr_assert_eq(status.tick, before + 6 * steps);
    cr_assert_eq(verify(copy, false), status.tick);
    cr_assert_eq(file_size(copy, ""), status.bytes);
    cr_assert_eq(file_size(copy, "-wal") + file_size(copy, "-journal") + file_size(copy, ".part"),
                 0);
    uint8_t head[20] = {0}; // its bytes 18 and 19: 2 asks for a log beside it, even to read
    FILE *file = fopen(copy, "rb");
    cr_assert(file != NULL && fread(head, sizeof head, 1, file) == 1 && fclose(file) == 0);
    cr_assert_eq(head[18] + head[19], 2, "not a file with a log");
    char second[140], found[512];
    snprintf(found, sizeof found, "python3 tests/record/second_reader.py %s >/dev/null", copy);
    cr_assert_eq(system(found), 0);
    // Another one, beside the first, which is never touched.
    snprintf(second, sizeof second, "%s.2", copy);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
    cm_store_pump(run.store);
    cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_FAILED);
    cr_assert_not_null(strstr(status_of(&run).error, "there already"), "%s", status_of(&run).error);
    cr_assert_eq(verify(copy, false), status.tick);
    cr_assert_eq(cm_store_backup(run.store, run.match, second), CAROM_OK);
    while (status_of(&run).state == CM_STORE_BACKUP_RUNS) {
        cm_store_pump(run.store); // no commit comes in between
    }
    cr_assert_eq(verify(second, false), carom_game_tick(run.game));
    finish(&run);
}

Test(backup, the_stores_thread_makes_it_beside_its_batches)
{
    recording run;
    begin(&run, true, 5);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
    while (status_of(&run).state == CM_STORE_BACKUP_RUNS) {
        recording_play(&run, 1);
        usleep(1000); // of its thread, which has no other clock
    }
    cm_store_backup_status status = status_of(&run);
    cr_assert_eq(status.state, CM_STORE_BACKUP_DONE, "%s", status.error);
    cr_assert_eq(verify(copy, false), status.tick);
    finish(&run);
}

// The recording is on a disk with space: it never notices.
Test(backup, a_full_disk_costs_the_copy_alone)
{
    recording run;
    begin(&run, false, 5);
    for (uint32_t at = 0; at < 3; at++) {
        cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
        cm_store_pump(run.store);
        for (uint32_t i = 0; i < at; i++) {
            recording_play(&run, 6);
            cm_store_pump(run.store);
        }
        cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_RUNS);
        faulty.fail_writes = true;
        cm_store_pump(run.store);
        faulty.fail_writes = false;
        cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_FAILED);
        cr_assert_not_null(strstr(status_of(&run).error, "full"), "%s", status_of(&run).error);
        expect_nothing_but_the_match();
        recording_play(&run, 20);
        cm_store_flush(run.store);
        cr_assert_eq(committed(&run), carom_game_tick(run.game));
    }
    finish(&run);
}

// The copy has the end, and the file is closed behind it; also where the server ends at once.
Test(backup, the_match_ends_and_its_copy_is_made_to_the_end)
{
    for (uint32_t at = 0; at < 4; at++) {
        recording run;
        begin(&run, false, at + 2);
        uint64_t ticks = carom_game_tick(run.game);
        cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
        for (uint32_t i = 0; i < at; i++) {
            cm_store_pump(run.store);
        }
        cm_store_end(run.store, run.match, CM_MATCH_ENDED);
        cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_ERROR_STATE);
        cm_store_pump(run.store);
        cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_RUNS);
        cr_assert_eq(committed(&run), ticks, "the end does not wait for the copy");
        for (uint32_t i = 0; at < 3 && status_of(&run).state == CM_STORE_BACKUP_RUNS; i++) {
            cr_assert_lt(i, 100);
            cm_store_pump(run.store);
        }
        if (at < 3) {
            cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_DONE, "%s", status_of(&run).error);
            cr_assert_eq(status_of(&run).tick, ticks);
            cr_assert_eq(file_size(recording_path(), "-wal"), 0, "the file is closed");
        }
        cm_store_destroy(run.store);
        cr_assert_eq(verify(copy, true), ticks);
        cr_assert_eq(verify(recording_path(), true), ticks);
        recording_free(&run);
        recording_teardown();
        recording_setup();
    }
}

// What becomes of the match is not the copy's affair.
Test(backup, a_disk_that_fills_up_behind_the_end_costs_the_copy_alone)
{
    recording run;
    begin(&run, false, 2);
    uint64_t ticks = carom_game_tick(run.game);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
    cm_store_end(run.store, run.match, CM_MATCH_ENDED);
    cm_store_pump(run.store);
    faulty.fail_writes = true;
    cm_store_step_backups(run.store);
    faulty.fail_writes = false;
    cr_assert_eq(status_of(&run).state, CM_STORE_BACKUP_FAILED);
    expect_nothing_but_the_match();
    cm_store_pump(run.store);
    cr_assert_eq(file_size(recording_path(), "-wal"), 0, "the file is closed");
    cm_store_destroy(run.store);
    cr_assert_eq(verify(recording_path(), true), ticks);
    recording_free(&run);
}

Test(backup, a_failed_recording_ends_it)
{
    recording run;
    begin(&run, false, 2);
    cr_assert_eq(cm_store_backup(run.store, run.match, "/nowhere/copy.match"), CAROM_OK);
    cm_store_pump(run.store);
    cr_assert_not_null(strstr(status_of(&run).error, "No such file"), "%s", status_of(&run).error);
    cr_assert_eq(cm_store_backup(run.store, run.match, ""), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_OK);
    cm_store_pump(run.store);
    faulty.fail_writes = true;
    recording_play(&run, 6);
    cm_store_pump(run.store); // first the batch, which fails
    faulty.fail_writes = false;
    cr_assert_not_null(strstr(status_of(&run).error, "recording failed"), "%s",
                       status_of(&run).error);
    cr_assert_eq(cm_store_backup(run.store, run.match, copy), CAROM_ERROR_STATE);
    expect_nothing_but_the_match();
    cm_store_destroy(run.store);
    recording_free(&run);
}
