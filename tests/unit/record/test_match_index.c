// The index of matches: what a store tells it, what its hashes show, and what prune dares.
//
// Method: real matches are recorded into a folder with a catalogue; files are changed behind its
// back; the commands are the real binary.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/record/replay/match_change.h"
#include "server/record/catalogue/match_index.h"
#include "server/record/format/proof.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/record/recording.h"

TestSuite(match_index, .init = recording_setup, .fini = recording_teardown);

static char db[128];
static cm_scene_error wrong;
static cm_match_error error;
static cm_match_entry found[8];
static uint32_t found_count;
static command_result ran;

static bool keep(void *context, const cm_match_entry *entry)
{
    (void)context;
    found[found_count++] = *entry;
    return found_count < 8;
}

static void list(void)
{
    found_count = 0;
    cr_assert_eq(cm_match_index_list(db, keep, NULL, &wrong), CAROM_OK, "%s", wrong.message);
}

static cm_store *make_store(void)
{
    snprintf(db, sizeof db, "%s/c.db", recording_folder);
    cm_store_def def = {.directory = recording_folder, .catalogue = db};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    return store;
}

// A whole match, under a name of its own.
static void record(const char *name)
{
    char to[256];
    cm_store *store = make_store();
    recording run;
    recording_begin(&run, store, 2, 4);
    recording_play(&run, 40);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    recording_free(&run);
    if (name != NULL) {
        snprintf(to, sizeof to, "%s/%s", recording_folder, name);
        cr_assert_eq(rename(recording_path(), to), 0);
    }
}

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    run_command(command, &ran);
}

Test(match_index, a_store_tells_of_begin_and_end)
{
    cm_store *store = make_store();
    recording game;
    recording_begin(&game, store, 2, 4);
    cm_store_pump(store);
    cr_assert_neq(access(db, F_OK), 0, "a match that never ran is not told of");
    recording_play(&game, 1);
    cm_store_pump(store);
    list();
    cr_assert_eq(found_count, 1);
    cr_assert_eq(found[0].match_id, RECORDING_ID);
    cr_assert_str_eq(found[0].file, "c0ffee0000000001.match");
    cr_assert_str_eq(found[0].directory, recording_folder);
    cr_assert_str_eq(found[0].scene, "small");
    cr_assert_str_eq(found[0].module, "sandbox");
    cr_assert_eq(found[0].tick_rate, 60);
    cr_assert_not(found[0].is_ended);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_eq(ran.status, 0);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"live\""), "%s%s", ran.out, ran.err);
    run("match prune --matches %s --db %s --keep 0", recording_folder, db);
    cr_assert_eq(ran.status, 0);
    cr_assert_str_eq(ran.out, "");
    cr_assert_eq(access(recording_path(), F_OK), 0, "it runs");
    recording_play(&game, 39);
    cm_store_end(store, game.match, CM_MATCH_DRAINED);
    cm_store_pump(store);
    cm_match_status status;
    cm_store_status(store, game.match, &status);
    cr_assert_str_eq(status.unindexed, "");
    cm_store_destroy(store);
    recording_free(&game);
    list();
    cr_assert_eq(found_count, 1);
    cr_assert(found[0].is_ended);
    cr_assert_str_eq(found[0].end, "drained");
    cr_assert_eq(found[0].ticks, 40);
    cr_assert_eq(found[0].bytes, file_size(recording_path(), ""));
}

// The chain is what the proof makes again, the file's hash what anyone can take.
Test(match_index, the_hashes_are_those_of_the_file)
{
    record(NULL);
    list();
    cm_match_file *file;
    cm_proof proof;
    char chain[65], command[256], sum[128] = "";
    cr_assert_eq(cm_match_open(recording_path(), &file, &error), CAROM_OK);
    cr_assert_eq(cm_match_prove(file, NULL, &proof, &error), CAROM_OK);
    cm_match_close(file);
    for (size_t i = 0; i < 32; i++) {
        snprintf(chain + 2 * i, 3, "%02x", proof.chain[i]);
    }
    cr_assert_str_eq(found[0].chain, chain);
    snprintf(command, sizeof command, "b2sum -l 256 %s", recording_path());
    FILE *out = popen(command, "r");
    cr_assert_not_null(fgets(sum, sizeof sum, out));
    pclose(out);
    sum[64] = '\0';
    cr_assert_str_eq(found[0].file_hash, sum);
}

Test(match_index, a_file_changed_behind_its_back_is_said_and_stays)
{
    record(NULL);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"yes\""), "%s", ran.out);
    cr_assert_str_eq(ran.err, "");
    recording_edit(recording_path(), "UPDATE personal SET value = 'eve'", false);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_eq(ran.status, 0);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"changed\""), "%s", ran.out);
    cr_assert_not_null(strstr(ran.err, "changed since it was indexed"), "%s", ran.err);
    run("match prune --matches %s --db %s --keep 0", recording_folder, db);
    cr_assert_str_eq(ran.out, "");
    cr_assert_eq(access(recording_path(), F_OK), 0);
    recording_edit(recording_path(), "DROP TABLE ticks", false);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_not_null(strstr(ran.err, "the index has it otherwise"), "%s", ran.err);
    run("match prune --matches %s --db %s --keep 0", recording_folder, db);
    cr_assert_eq(access(recording_path(), F_OK), 0);
}

Test(match_index, erasing_a_player_keeps_the_index_true)
{
    record(NULL);
    list();
    cm_match_entry before = found[0];
    char copy[256], command[600];
    snprintf(copy, sizeof copy, "%s/copy.match", recording_folder);
    snprintf(command, sizeof command, "cp %s %s", recording_path(), copy);
    cr_assert_eq(system(command), 0);
    run("match erase-player %s --client-id 101 --db %s", copy, db);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    list();
    cr_assert_str_eq(found[0].file_hash, before.file_hash, "the index has another file");
    unlink(copy);
    run("match erase-player %s --client-id 101 --db %s", recording_path(), db);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    list();
    cr_assert_str_eq(found[0].chain, before.chain, "what was recorded is the same");
    cr_assert_str_neq(found[0].file_hash, before.file_hash);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"yes\""), "%s", ran.out);
    uint32_t rows; // and done without the index, it is a change as any other
    cr_assert_eq(cm_match_erase(recording_path(), 0, &rows, &error), CAROM_OK);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"changed\""), "%s", ran.out);
}

Test(match_index, prune_removes_what_the_index_has_and_nothing_else)
{
    record(NULL);
    run("match prune --matches %s --db %s", recording_folder, db);
    cr_assert_eq(ran.status, 2);
    run("match prune --matches %s --db %s --keep 1", recording_folder, db);
    cr_assert_eq(ran.status, 0);
    cr_assert_str_eq(ran.out, "");
    run("match prune --matches %s --db %s --older-than 1 --dry-run", recording_folder, db);
    cr_assert_not_null(strstr(ran.out, ".match"), "it began in 2023");
    cr_assert_eq(access(recording_path(), F_OK), 0);
    char copy[256], command[600];
    snprintf(copy, sizeof copy, "%s/copy.match", recording_folder);
    snprintf(command, sizeof command, "cp %s %s", recording_path(), copy);
    cr_assert_eq(system(command), 0);
    run("match prune --matches %s --db %s --keep 0", recording_folder, db);
    cr_assert_eq(ran.status, 0);
    cr_assert_neq(access(recording_path(), F_OK), 0);
    cr_assert_eq(access(copy, F_OK), 0, "the index does not have it");
    cr_assert_not_null(strstr(ran.err, "1 of 2 files stay"), "%s", ran.err);
    list();
    cr_assert_eq(found_count, 0);
    run("match prune --matches %s --db %s/none.db --keep 0", recording_folder, recording_folder);
    cr_assert_eq(ran.status, 2);
    cr_assert_not_null(strstr(ran.err, "none.db: cannot be opened"), "%s", ran.err);
}

Test(match_index, files_are_taken_in_where_they_prove_themselves)
{
    record("a.match");
    cr_assert_eq(remove(db), 0);
    run("match list --matches %s --db %s --add", recording_folder, db);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"no\""), "%s", ran.out);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"yes\""), "%s%s", ran.out, ran.err);
    char path[256];
    snprintf(path, sizeof path, "%s/a.match", recording_folder);
    cr_assert_eq(remove(path), 0);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_assert_not_null(strstr(ran.out, "\"index\": \"missing\""), "%s", ran.out);
    record("b.match");
    cr_assert_eq(remove(db), 0);
    snprintf(path, sizeof path, "%s/b.match", recording_folder);
    recording_edit(path, "UPDATE personal SET value = 'eve'", false);
    run("match list --matches %s --db %s --add", recording_folder, db);
    cr_assert_eq(ran.status, 1);
    cr_assert_not_null(strstr(ran.err, "b.match: not added: personal"), "%s", ran.err);
}

Test(match_index, a_catalogue_that_cannot_be_written_does_not_stop_a_match)
{
    snprintf(db, sizeof db, "%s/no/where.db", recording_folder);
    cm_store_def def = {.directory = recording_folder, .catalogue = db};
    cm_store *store;
    cr_assert_eq(cm_store_create(&def, &store), CAROM_OK);
    recording game;
    recording_begin(&game, store, 2, 4);
    recording_play(&game, 40);
    cm_store_end(store, game.match, CM_MATCH_ENDED);
    cm_store_pump(store);
    cm_match_status status;
    cm_store_status(store, game.match, &status);
    cr_assert(status.durable);
    cr_assert_not_null(strstr(status.unindexed, "where.db: cannot be opened"), "%s",
                       status.unindexed);
    cm_store_destroy(store);
    recording_free(&game);
}

// Its server had told of the beginning, and could not tell of the end: the file has it.
Test(match_index, an_end_that_was_not_told_is_taken_in)
{
    record(NULL);
    list();
    cr_assert(found[0].is_ended);
    cm_match_entry begun = found[0];
    begun.is_ended = false;
    cr_assert_eq(cm_match_index_put(db, &begun, &wrong), CAROM_OK, "%s", wrong.message);
    list();
    cr_assert_not(found[0].is_ended);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_expect_not_null(strstr(ran.out, "\"index\": \"no\""), "%s%s", ran.out, ran.err);
    run("match list --matches %s --db %s --add", recording_folder, db);
    cr_expect_eq(ran.status, 0, "%s", ran.err);
    run("match list --matches %s --db %s", recording_folder, db);
    cr_expect_not_null(strstr(ran.out, "\"index\": \"yes\""), "%s%s", ran.out, ran.err);
    list();
    cr_assert_eq(found_count, 1);
    cr_assert_str_eq(found[0].end, "ended");
}

// The holder is named, by its process and program.
Test(match_index, who_holds_a_catalogue_is_said)
{
    record(NULL);
    int ready[2], end[2];
    char byte = 0;
    cr_assert_eq(pipe(ready) + pipe(end), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *other;
        bool held = sqlite3_open(db, &other) == SQLITE_OK &&
                    sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK;
        _exit(held && write(ready[1], "x", 1) == 1 && close(end[1]) == 0 &&
                      read(end[0], &byte, 1) == 0
                  ? 0
                  : 1);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cm_match_entry entry = {.match_id = 7, .file = "x", .directory = "y"};
    char holder[64];
    snprintf(holder, sizeof holder, "locked by process %d (", (int)child);
    cr_expect_eq(cm_match_index_try(db, &entry, &wrong), CAROM_ERROR_IO);
    cr_expect_not_null(strstr(wrong.message, holder), "%s", wrong.message);
    run("scene list --db %s%s", db, "");
    cr_expect_eq(ran.status, 1);
    cr_expect_not_null(strstr(ran.err, holder), "%s", ran.err);
    cr_expect_null(strstr(ran.err, "not a carom database"), "%s", ran.err);
    int status;
    close(end[1]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_expect_eq(cm_match_index_try(db, &entry, &wrong), CAROM_OK, "%s", wrong.message);
}

// Another process holds the catalogue, for longer than a batch: the match goes on, is told later,
// and its end at the end.
Test(match_index, a_catalogue_that_is_held_is_told_later)
{
    record(NULL); // makes the catalogue
    cr_assert_eq(remove(recording_path()), 0);
    cr_assert_eq(cm_match_index_remove(db, RECORDING_ID, &wrong), CAROM_OK);
    sqlite3 *other;
    cr_assert_eq(sqlite3_open(db, &other), SQLITE_OK);
    cm_store *store = make_store();
    recording game;
    recording_begin(&game, store, 2, 4);
    cm_match_status status;
    for (uint32_t round = 0; round < 2; round++) {
        cr_assert_eq(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
        for (uint32_t tick = 1; tick <= 4; tick++) {
            if (round == 0) {
                recording_play(&game, 1);
            } else if (tick == 1) {
                cm_store_end(store, game.match, CM_MATCH_ENDED);
            }
            cm_store_pump(store);
            cm_store_status(store, game.match, &status);
            cr_assert(status.durable);
            cr_assert_eq(status.committed_tick, round == 0 ? tick : 12);
            cr_assert_not_null(strstr(status.unindexed, "locked"), "%s", status.unindexed);
        }
        cr_assert_eq(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
        if (round == 0) {
            recording_play(&game, 4);
            cm_store_pump(store); // asked after 1, 2 and 4 batches
            cm_store_pump(store);
            cm_store_pump(store);
            recording_play(&game, 4);
            cm_store_pump(store);
        } else {
            cm_store_flush(store);
        }
        cm_store_status(store, game.match, &status);
        cr_assert_str_eq(status.unindexed, "");
        list();
        cr_assert_eq(found_count, 1);
        cr_assert_eq(found[0].is_ended, round == 1);
    }
    sqlite3_close(other);
    cm_store_destroy(store);
    recording_free(&game);
    cr_assert_eq(found[0].ticks, 12);
}
