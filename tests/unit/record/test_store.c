// The store: nothing committed is lost, whatever moment the process dies at; a disk that fails
// costs the record and nothing else.
//
// Method: games recorded through it, threaded and not; a file system that fails on demand; a
// child process that is killed once it has reported a seeded number of committed ticks.
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/record/replay/replay.h"
#include "tests/unit/record/faulty_vfs.h"
#include "tests/unit/record/recording.h"

TestSuite(store, .init = recording_setup, .fini = recording_teardown);

static cm_match_status status_of(const recording *run)
{
    cm_match_status status;
    cm_store_status(run->store, run->match, &status);
    return status;
}

static cm_replay_report verify(uint64_t ticks)
{
    cm_replay_report report;
    carom_result result = cm_replay_verify(recording_path(), NULL, &report);
    cr_assert_eq(result, CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.verified_ticks, ticks);
    return report;
}

Test(store, pumped_by_hand)
{
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 3, 1);
    cr_assert_str_eq(cm_store_path(store, run.match), recording_path());
    cr_assert_gt(file_size(recording_path(), ""), 0);
    recording_play(&run, 10);
    cr_assert_eq(status_of(&run).committed_tick, 0);
    cr_assert_gt(status_of(&run).queued_bytes, 0);
    cm_store_pump(store);
    cr_assert_eq(status_of(&run).committed_tick, 10);
    cr_assert_eq(status_of(&run).queued_bytes, 0);
    cr_assert_gt(status_of(&run).bytes, 4096);
    recording_play(&run, 10);
    cm_store_end(store, run.match, CM_MATCH_DRAINED);
    cm_store_tick(store, run.match, 21, 0, NULL); // after the end: dropped
    cm_store_pump(store);
    cr_assert(status_of(&run).durable, "%s", status_of(&run).error);
    cr_assert_eq(status_of(&run).committed_tick, 20);
    cr_assert_eq(status_of(&run).bytes, file_size(recording_path(), ""));
    char name[160];
    snprintf(name, sizeof name, "%s-wal", recording_path());
    cr_assert_neq(access(name, F_OK), 0);
    uint8_t head[20] = {0};
    FILE *file = fopen(recording_path(), "rb");
    cr_assert_eq(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    cr_assert_eq(head[18], 1);      // no file with a log any more
    cr_assert(verify(20).complete); // while the store still lives: it is one file, and free
    cm_store_destroy(store);
    recording_free(&run);
}

Test(store, threaded)
{
    cm_store *store = recording_store(true);
    recording run;
    recording_begin(&run, store, 8, 2);
    run.keyframe_every = 60;
    recording_play(&run, 100);
    cm_store_flush(store);
    cr_assert_eq(status_of(&run).committed_tick, 100);
    recording_play(&run, 100);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_flush(store);
    cr_assert(verify(200).complete);
    cm_store_destroy(store);
    recording_free(&run);
}

Test(store, destroyed_without_an_end)
{
    for (int threaded = 0; threaded < 2; threaded++) {
        cm_store *store = recording_store(threaded == 1);
        recording run;
        recording_begin(&run, store, 3, 3);
        recording_play(&run, 50);
        cm_store_destroy(store); // writes what is queued
        cr_assert_eq(file_size(recording_path(), "-wal"), 0);
        cr_assert_not(verify(50).complete);
        recording_free(&run);
        remove(recording_path());
    }
}

Test(store, durable_against_power_loss)
{
    cm_store_def def = {.directory = recording_folder, .durability_power = true};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    recording run;
    recording_begin(&run, store, 2, 4);
    recording_play(&run, 20);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    verify(20);
    recording_free(&run);
}

Test(store, an_existing_file_is_never_touched)
{
    recording_make(10, 1);
    uint64_t size = file_size(recording_path(), "");
    cm_store *store = recording_store(false);
    cm_scene *scene = recording_scene();
    cm_match_def def = recording_def(scene);
    cm_match_handle match;
    cr_assert_eq(cm_store_begin(store, &def, &match), CAROM_ERROR_IO);
    cr_assert_eq(match, 0);
    cr_assert_not_null(strstr(cm_store_begin_error(store), "File exists"), "%s",
                       cm_store_begin_error(store));
    cm_store_tick(store, match, 1, 0, NULL); // no match: nothing happens
    cm_store_end(store, match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    cm_scene_free(scene);
    cr_assert_eq(file_size(recording_path(), ""), size);
    verify(10);
}

Test(store, ticks_left_out_are_noticed)
{
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 1, 1);
    recording_play(&run, 5);
    cm_store_tick(store, run.match, 7, 0, NULL);
    cr_assert_not(status_of(&run).durable);
    cr_assert_not_null(strstr(status_of(&run).error, "tick 7"), "%s", status_of(&run).error);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    verify(5);
    cm_match_file *file;
    cm_match_error error;
    cm_match_info info;
    cr_assert_eq(cm_match_open(recording_path(), &file, &error), CAROM_OK);
    cm_match_info_get(file, &info);
    cr_assert_eq(info.end, CM_MATCH_FAILED); // it does not claim to be whole
    cm_match_close(file);
    recording_free(&run);
}

Test(store, tick_0_may_be_handed_over_if_it_is_right)
{
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 1, 1);
    cm_store_tick(store, run.match, 0, cm_game_hash(run.game), NULL);
    cr_assert(status_of(&run).durable);
    cm_store_tick(store, run.match, 0, 1234, NULL);
    cr_assert_not(status_of(&run).durable);
    cm_store_destroy(store);
    recording_free(&run);
}

Test(store, a_full_queue_costs_the_record_not_the_game)
{
    cm_store_def def = {.directory = recording_folder, .queue_max = 4000};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    recording run;
    recording_begin(&run, store, 4, 6);
    recording_play(&run, 100);
    cm_match_status status = status_of(&run);
    cr_assert_not(status.durable);
    cr_assert_not_null(strstr(status.error, "queue"), "%s", status.error);
    cr_assert_leq(status.queued_bytes, 4000);
    cr_assert_gt(status.dropped, 0);
    cm_store_flush(store);
    recording_play(&run, 10); // room again, but a gap would be worse than an end
    cm_store_flush(store);
    cr_assert_eq(status_of(&run).committed_tick + status_of(&run).dropped, 110);
    uint64_t committed = status_of(&run).committed_tick;
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    verify(committed);
    recording_free(&run);
}

static void play_over_a_fault(bool threaded, bool writes)
{
    cm_store_def def = {
        .directory = recording_folder, .threaded = threaded, .durability_power = true};
    cm_store *store;
    memset(&faulty, 0, sizeof faulty);
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    recording run;
    recording_begin(&run, store, 3, 7);
    recording_play(&run, 40);
    cm_store_flush(store);
    cr_assert(status_of(&run).durable);
    faulty.fail_writes = writes;
    faulty.fail_syncs = !writes;
    recording_play(&run, 10);
    cm_store_flush(store);
    cm_match_status status = status_of(&run);
    cr_assert_not(status.durable);
    cr_assert_neq(status.error[0], '\0');
    cr_assert_eq(status.committed_tick, 40);
    cr_assert_eq(faulty.failed, 1);
    faulty.fail_writes = faulty.fail_syncs = false; // it heals, and is not asked again
    recording_play(&run, 50);
    cm_store_flush(store);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_flush(store);
    cr_assert_not(status_of(&run).durable);
    cr_assert_geq(status_of(&run).dropped, 50);
    cm_store_destroy(store);
    cr_assert_eq(faulty.writes_after, 0);
    cr_assert_eq(faulty.syncs_after, 0);
    cr_assert_eq(carom_game_tick(run.game), 100); // the game went on
    cm_replay_report report;
    carom_result result = cm_replay_verify(recording_path(), NULL, &report);
    cr_assert_eq(result, CAROM_OK, "%s", report.error.message);
    cr_assert_geq(report.verified_ticks, 40);
    cr_assert_leq(report.verified_ticks, 50); // the last commit was written, only not synced
    recording_free(&run);
    char command[256];
    snprintf(command, sizeof command, "rm -f %s*", recording_path());
    cr_assert_eq(system(command), 0);
}

Test(store, a_failed_disk_costs_the_record_not_the_game)
{
    faulty_install();
    for (int i = 0; i < 4; i++) {
        play_over_a_fault(i % 2 == 1, i / 2 == 1);
    }
}

Test(store, a_real_limit_of_file_size)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit, before;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 200000;
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 8, 1);
    setrlimit(RLIMIT_FSIZE, &limit);
    uint32_t rounds = 0;
    for (; rounds < 1000 && status_of(&run).durable; rounds++) {
        recording_play(&run, 6);
        cm_store_pump(store);
    }
    uint64_t committed = status_of(&run).committed_tick;
    recording_play(&run, 6);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_lt(rounds, 1000);
    cr_assert_gt(committed, 20);
    verify(committed);
    recording_free(&run);
}

Test(store, a_folder_that_cannot_be)
{
    cm_store_def def = {.directory = "/proc/nowhere/matches"};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_ERROR_IO);
    cr_assert_null(store);
}

// The child: records until killed, with its parent at the latest, tells each newly committed tick.
static void record_until_killed(int report, uint64_t seed, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(5); // it died before that
    }
    cm_store *store = recording_store(true);
    recording run;
    recording_begin(&run, store, 4, seed);
    run.keyframe_every = 50;
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    for (uint64_t told = 0; carom_game_tick(run.game) < 30000;) {
        recording_play(&run, 1 + cm_rng_below(&rng, 6));
        if (cm_rng_below(&rng, 4) == 0) {
            cm_store_pump(store); // many small batches, at any moment of the game's
        }
        uint64_t committed = status_of(&run).committed_tick;
        if (committed > told) {
            told = committed;
            if (write(report, &told, sizeof told) != sizeof told) {
                _exit(3);
            }
        }
    }
    _exit(4);
}

Test(store, killed_at_any_moment)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        int ends[2];
        cr_assert_eq(pipe(ends), 0);
        pid_t parent = getpid(), child = fork();
        cr_assert_geq(child, 0);
        if (child == 0) {
            close(ends[0]);
            record_until_killed(ends[1], seed, parent);
        }
        close(ends[1]);
        cm_rng rng;
        cm_rng_seed(&rng, seed);
        uint64_t target = 1 + cm_rng_below(&rng, 600), told = 0, next;
        while (told < target && read(ends[0], &next, sizeof next) == sizeof next) {
            told = next;
        }
        for (uint32_t spin = cm_rng_below(&rng, 200000); spin > 0; spin--) {
            __asm__ volatile("");
        }
        cr_assert_eq(kill(child, SIGKILL), 0);
        while (read(ends[0], &next, sizeof next) == sizeof next) {
            told = next;
        }
        close(ends[0]);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        cr_assert_geq(told, target);
        cm_replay_report report;
        carom_result result = cm_replay_verify(recording_path(), NULL, &report);
        cr_assert_eq(result, CAROM_OK, "seed %d: %s", (int)seed, report.error.message);
        cr_assert_geq(report.verified_ticks, told, "seed %d: committed %d, left %d", (int)seed,
                      (int)told, (int)report.verified_ticks);
        cr_assert_not(report.complete);
        char command[256];
        snprintf(command, sizeof command, "rm -f %s*", recording_path());
        cr_assert_eq(system(command), 0);
    }
}

// As where the user has as many processes as it may have.
Test(store, a_thread_that_cannot_be_started_is_named)
{
    char directory[] = "/tmp/carom-store-XXXXXX";
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chmod(directory, 0777), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        const cm_store_def def = {.directory = directory, .threaded = true};
        const struct rlimit none = {0, 0};
        cm_store *made;
        if ((geteuid() == 0 && setuid(65534) != 0) || setrlimit(RLIMIT_NPROC, &none) != 0) {
            _exit(2);
        }
        carom_result result = cm_store_create(&def, &made);
        _exit(result == CAROM_ERROR_FULL && errno == EAGAIN ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
    cr_assert_eq(rmdir(directory), 0);
}
