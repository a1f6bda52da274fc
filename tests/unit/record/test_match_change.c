// What may be done to a match without breaking it: copies, erased names, and what two have in
// common; files that are old or many.
//
// Method: recordings of the same game, changed by the commands themselves; what was erased is
// looked for in the bytes of the file.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/record/replay/match_change.h"
#include "server/record/replay/match_diff.h"
#include "server/record/replay/replay.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/record/recording.h"

TestSuite(match_change, .init = recording_setup, .fini = recording_teardown);

static cm_match_error error;

// How often a text stands in the bytes of a file.
static uint32_t count_text(const char *path, const char *text)
{
    size_t size = (size_t)file_size(path, ""), length = strlen(text);
    char *bytes = malloc(size);
    FILE *file = fopen(path, "rb");
    cr_assert_eq(fread(bytes, 1, size, file), size);
    fclose(file);
    uint32_t found = 0;
    for (size_t at = 0; at + length <= size; at++) {
        found += memcmp(bytes + at, text, length) == 0;
    }
    free(bytes);
    return found;
}

static void assert_verifies(const char *path, uint32_t erased)
{
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(path, NULL, &report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT, "%s", report.proof.changed);
    cr_assert(report.complete);
    cr_assert_eq(report.proof.erased, erased);
}

Test(match_change, an_erased_name_is_gone_from_the_bytes)
{
    recording_make(60, 4); // names at ticks 1, 18, 35 and 52, of clients 100 + tick % 4
    cr_assert_gt(count_text(recording_path(), "player 35"), 0);
    uint32_t rows = 0;
    cr_assert_eq(cm_match_erase(recording_path(), 103, &rows, &error), CAROM_OK, "%s",
                 error.message);
    cr_assert_eq(rows, 1);
    cr_assert_eq(count_text(recording_path(), "player 35"), 0);
    cr_assert_gt(count_text(recording_path(), "player 18"), 0);
    assert_verifies(recording_path(), 1);
    cr_assert_eq(cm_match_erase(recording_path(), 103, &rows, &error), CAROM_OK);
    cr_assert_eq(rows, 0);
}

Test(match_change, a_copy_without_names)
{
    char out[128];
    recording_make(60, 4);
    snprintf(out, sizeof out, "%s/copy.match", recording_folder);
    cr_assert_eq(cm_match_extract(recording_path(), out, true, &error), CAROM_OK, "%s",
                 error.message);
    cr_assert_eq(count_text(out, "player 18"), 0);
    assert_verifies(out, 4);
    assert_verifies(recording_path(), 0);
    cr_assert_eq(cm_match_extract(recording_path(), out, false, &error), CAROM_ERROR_STATE);
    unlink(out);
    recording_edit(recording_path(), "DELETE FROM meta", false);
    cr_assert_eq(cm_match_extract(recording_path(), out, false, &error), CAROM_ERROR_CORRUPT);
    cr_assert_neq(access(out, F_OK), 0);
}

static void compare(const char *a, const char *b, cm_match_difference *found)
{
    cm_match_file *files[2];
    cr_assert_eq(cm_match_open(a, &files[0], &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_match_open(b, &files[1], &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_match_compare(files[0], files[1], found, &error), CAROM_OK);
    cm_match_close(files[0]);
    cm_match_close(files[1]);
}

Test(match_change, where_two_matches_part)
{
    char other[128];
    cm_match_difference found;
    recording_make(60, 4);
    snprintf(other, sizeof other, "%s/other.match", recording_folder);
    cr_assert_eq(cm_match_extract(recording_path(), other, true, &error), CAROM_OK);
    compare(recording_path(), other, &found);
    cr_assert_not(found.made_differs || found.input_differs || found.hash_differs);
    recording_edit(other, "UPDATE ticks SET hash = 7 WHERE tick = 40", false);
    compare(recording_path(), other, &found);
    cr_assert(found.hash_differs && !found.input_differs);
    cr_assert_eq(found.hash_tick, 40);
    unlink(other);
    cr_assert_eq(rename(recording_path(), other), 0);
    recording_make(50, 5);
    compare(recording_path(), other, &found);
    cr_assert_not(found.made_differs);
    cr_assert(found.input_differs && found.hash_differs);
    cr_assert_leq(found.input_tick, found.hash_tick);
    cr_assert_eq(found.ticks[0], 50);
    cr_assert_eq(found.ticks[1], 60);
}

Test(match_change, the_commands)
{
    char command[512];
    command_result ran;
    recording_make(60, 4);
    snprintf(command, sizeof command, "match list --matches %s", recording_folder);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 0);
    cr_assert_not_null(strstr(ran.out, "\"match_id\": \"c0ffee0000000001\""), "%s", ran.out);
    snprintf(command, sizeof command, "match erase-player %s --client-id 103", recording_path());
    run_command(command, &ran);
    cr_assert_str_eq(ran.out, "{\"client_id\": \"103\", \"erased\": 1}\n");
    snprintf(command, sizeof command, "match diff %s %s", recording_path(), recording_path());
    run_command(command, &ran);
    cr_assert_not_null(strstr(ran.out, "\"same\": true"), "%s", ran.out);
    cr_expect_not_null(strstr(ran.out, "\"common_ticks\": 60, \"common_ticks_agree\": true"), "%s",
                       ran.out);
}
