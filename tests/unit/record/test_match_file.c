// Match files that are damaged or made by an enemy: a clear refusal that names the place, bounded
// memory and time, never a crash.
//
// Method: a recorded file is changed by SQL where a row's fault is meant, and by bits, cuts and
// other files' bytes where the damage is to be blind. Run it with BUILD=asan.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/record/format/match_format.h"
#include "server/record/replay/replay.h"
#include "tests/unit/record/recording.h"

TestSuite(match_file, .init = recording_setup, .fini = recording_teardown);

static cm_match_error error;

static carom_result try_open(const char *path)
{
    cm_match_file *file;
    carom_result result = cm_match_open(path, &file, &error);
    if (result == CAROM_OK) {
        cm_match_close(file);
    } else {
        cr_assert_null(file);
        cr_assert_neq(error.message[0], '\0');
    }
    return result;
}

Test(match_file, holds_what_was_told)
{
    recording_make(100, 1);
    cm_match_file *file;
    cr_assert_eq(cm_match_open(recording_path(), &file, &error), CAROM_OK, "%s", error.message);
    cm_match_info info;
    cm_match_info_get(file, &info);
    cr_assert_eq(info.match_id, RECORDING_ID);
    cr_assert_eq(info.format, 2);
    cr_assert_eq(info.engine_version, CAROM_ENGINE_VERSION);
    cr_assert_str_eq(info.module, "sandbox");
    cr_assert_eq(info.seed, 7);
    cr_assert_eq(info.started_unix_ms, UINT64_C(1700000000000));
    cr_assert_eq(info.tick_rate, 60);
    cr_assert_eq(info.ticks, 100);
    cr_assert_eq(info.keyframes, 3);
    cr_assert_eq(info.joins, 3);
    cr_assert_eq(info.leaves, 0);
    cr_assert_gt(info.inputs, 30);
    cr_assert_eq(info.end, CM_MATCH_ENDED);
    cr_assert_eq(info.bytes, file_size(recording_path(), ""));
    cr_assert_str_eq(cm_scene_name(cm_match_scene(file)), "small");
    uint64_t tick;
    const uint8_t *bytes;
    size_t size;
    cr_assert_eq(cm_match_keyframe(file, 31, &tick, &bytes, &size, &error), CAROM_OK);
    cr_assert_eq(tick, 60);
    cr_assert_eq(cm_match_keyframe(file, 91, &tick, &bytes, &size, &error), CAROM_ERROR_NOT_FOUND);
    cm_match_close(file);
    cr_assert_eq(file_size(recording_path(), "-wal"), 0);
    cr_assert_eq(file_size(recording_path(), "-shm"), 0);
}

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    *size = (size_t)file_size(path, "");
    char *bytes = malloc(*size + 1);
    cr_assert_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

// MATCH_FILE.md holds every table and view, as the file has them.
// Goal: an operator's numbers for a room are in its file to the last one, so that whoever goes on
// with the match opens it as it was. Method: the highest of each key.
Test(match_file, who_opened_a_room_is_kept_whole)
{
    cm_store *store = recording_store(false);
    cm_scene *scene = recording_scene();
    cm_match_def def = recording_def(scene);
    cm_room_spec spec = {.name = "cup"}, again = {.name = "cup"};
    cm_match_handle match;
    cm_match_head head;
#define HIGHEST(key, low, high, without) spec.key = high;
    CM_ROOM_KEYS(HIGHEST)
    cm_room_spec_open_by_admin(&spec);
    def.opened = spec.opened;
    cr_assert_eq(cm_store_begin(store, &def, &match), CAROM_OK, "%s", cm_store_begin_error(store));
    cm_store_end(store, match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    cm_scene_free(scene);
    cr_assert_eq(cm_match_head_read(recording_path(), &head, &error), CAROM_OK, "%s",
                 error.message);
    cr_assert_str_eq(head.info.opened, spec.opened);
    cr_assert(cm_room_spec_take_opened(&again, head.info.opened));
    cr_assert_eq(again.stream_delay_s, 3600u);
    cr_assert_eq(again.empty_s, 86400u);
}

Test(match_file, the_document_has_the_schema)
{
    static const char *const texts[] = {
#define TEXT(kind, name, text) text,
        CM_MATCH_SCHEMA(TEXT)
#undef TEXT
    };
    size_t size;
    char *document = read_file("server/record/format/MATCH_FILE.md", &size);
    document[size] = '\0';
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_expect_not_null(strstr(document, texts[i]), "%s", texts[i]);
    }
    free(document);
}

// One fault each, from an intact copy.
static const struct {
    const char *sql;
    bool schema;
    carom_result result;
    const char *names; // must stand in the message
} faults[] = {
    {"PRAGMA application_id=1", false, CAROM_ERROR_MAGIC, "application_id"},
    {"PRAGMA user_version=3", false, CAROM_ERROR_VERSION, "format 3"},
    {"DELETE FROM ticks WHERE tick=50", false, CAROM_ERROR_CORRUPT, "ticks: row 51"},
    {"DELETE FROM ticks WHERE tick=0", false, CAROM_ERROR_CORRUPT, "ticks: row 1"},
    {"DELETE FROM ticks", false, CAROM_ERROR_CORRUPT, "ticks: no row"},
    {"INSERT INTO ticks VALUES(-1, 0)", false, CAROM_ERROR_CORRUPT, "ticks: row -1"},
    {"INSERT INTO ticks VALUES(9223372036854775807, 0)", false, CAROM_ERROR_CORRUPT,
     "expected tick 101"},
    {"UPDATE ticks SET hash='x' WHERE tick=9", false, CAROM_ERROR_CORRUPT, "ticks: row 9: hash"},
    {"UPDATE ticks SET hash=NULL WHERE tick=9", false, CAROM_ERROR_CORRUPT, "ticks: row 9: hash"},
    {"UPDATE ticks SET hash=0.5 WHERE tick=9", false, CAROM_ERROR_CORRUPT, "ticks: row 9: hash"},
    {"INSERT INTO inputs VALUES(9, x'01', NULL)", false, CAROM_ERROR_CORRUPT,
     "inputs: row 9: this"},
    {"DELETE FROM packs; INSERT INTO inputs VALUES(9, 7, NULL)", false, CAROM_ERROR_CORRUPT,
     "inputs: row 9: changed: wrong type"},
    {"DELETE FROM packs; INSERT INTO inputs VALUES(9, x'ff', NULL)", false, CAROM_ERROR_CORRUPT,
     "inputs: row 9: changed: the bytes"},
    {"DELETE FROM packs; INSERT INTO inputs VALUES(0, x'010000000000000005', NULL)", false,
     CAROM_ERROR_CORRUPT, "inputs: row 0: the first tick"},
    {"UPDATE packs SET packed='x'", false, CAROM_ERROR_CORRUPT, "packs: row 30: wrong type"},
    {"UPDATE packs SET packed=x'00'", false, CAROM_ERROR_CORRUPT, "packs: row 30: no whole"},
    {"UPDATE packs SET first=2 WHERE tick=30", false, CAROM_ERROR_CORRUPT, "packs: row 30: first"},
    {"UPDATE packs SET packed=zeroblob(90000000) WHERE tick=30", false, CAROM_ERROR_CORRUPT,
     "too big"},
    {"UPDATE events SET number=7 WHERE number=2", false, CAROM_ERROR_CORRUPT, "events: row 1, 2"},
    {"UPDATE events SET type='jump'", false, CAROM_ERROR_CORRUPT, "events: row 1, 0: type"},
    {"UPDATE events SET type=NULL", false, CAROM_ERROR_CORRUPT, "events: row 1, 0: type"},
    {"UPDATE events SET player=64", false, CAROM_ERROR_CORRUPT, "player: out of range"},
    {"UPDATE events SET client_id='0x7'", false, CAROM_ERROR_CORRUPT,
     "events: row 1, 0: client_id"},
    {"UPDATE events SET client_id='007'", false, CAROM_ERROR_CORRUPT,
     "events: row 1, 0: client_id"},
    {"UPDATE events SET payload='text'", false, CAROM_ERROR_CORRUPT, "payload: wrong type"},
    {"UPDATE events SET payload=zeroblob(100000)", false, CAROM_ERROR_CORRUPT, "payload: empty"},
    {"UPDATE events SET tick=0 WHERE number=0", false, CAROM_ERROR_CORRUPT, "events: row 0, 0"},
    {"UPDATE events SET tick='x'", false, CAROM_ERROR_CORRUPT, "events: row 0: expected a tick"},
    {"UPDATE meta SET value='x' WHERE key='seed'", false, CAROM_ERROR_CORRUPT, "meta: seed"},
    {"UPDATE meta SET value=-1 WHERE key='engine_version'", false, CAROM_ERROR_CORRUPT,
     "meta: engine_version"},
    {"UPDATE meta SET value=0 WHERE key='tick_rate'", false, CAROM_ERROR_CORRUPT, "tick_rate"},
    {"UPDATE last SET how='won'", false, CAROM_ERROR_CORRUPT, "last: how"},
    {"UPDATE meta SET value=hex(zeroblob(40)) WHERE key='module'", false, CAROM_ERROR_CORRUPT,
     "meta: module"},
    {"UPDATE meta SET value=char(27)||'[2J' WHERE key='engine_text'", false, CAROM_ERROR_CORRUPT,
     "meta: engine_text"},
    {"UPDATE meta SET value='ab' WHERE key='sign_key'", false, CAROM_ERROR_CORRUPT, "sign_key"},
    {"DELETE FROM meta WHERE key='module'", false, CAROM_ERROR_CORRUPT, "expected 'module'"},
    {"INSERT INTO meta VALUES('zspare', 1)", false, CAROM_ERROR_CORRUPT, "a key too many"},
    {"INSERT INTO meta VALUES(17, 1)", false, CAROM_ERROR_CORRUPT, "meta: key"},
    {"DELETE FROM scene", false, CAROM_ERROR_CORRUPT, "scene: no row"},
    {"INSERT INTO scene VALUES(1, x'00')", false, CAROM_ERROR_CORRUPT, "scene: expected one row"},
    {"UPDATE scene SET packed='x'", false, CAROM_ERROR_CORRUPT, "scene: row 0"},
    {"UPDATE scene SET packed=x'00'", false, CAROM_ERROR_CORRUPT, "no whole zstd frame"},
    // A frame that says it holds 1 EiB, and one of an empty message.
    {"UPDATE scene SET packed=x'28b52ffde0ffffffffffffff0f'", false, CAROM_ERROR_CORRUPT,
     "no whole zstd frame"},
    {"UPDATE scene SET packed=x'28b52ffd2000010000'", false, CAROM_ERROR_CORRUPT, "scene: row 0"},
    {"INSERT INTO keyframes VALUES(101, NULL, x'00')", false, CAROM_ERROR_CORRUPT,
     "keyframes: row 101"},
    {"INSERT INTO keyframes VALUES(-1, NULL, x'00')", false, CAROM_ERROR_CORRUPT,
     "keyframes: row -1"},
    {"UPDATE keyframes SET packed=1 WHERE tick=30", false, CAROM_ERROR_CORRUPT,
     "keyframes: row 30"},
    {"UPDATE keyframes SET base=30 WHERE tick=90", false, CAROM_ERROR_CORRUPT, "row 90: base"},
    {"UPDATE keyframes SET base='x' WHERE tick=60", false, CAROM_ERROR_CORRUPT, "row 60: base"},
    {"UPDATE keyframes SET base=0 WHERE tick=30", false, CAROM_ERROR_CORRUPT, "row 30: base"},
    {"CREATE TABLE more(x)", false, CAROM_ERROR_CORRUPT, "schema: 'more'"},
    {"CREATE INDEX more ON ticks(hash)", false, CAROM_ERROR_CORRUPT, "schema: 'more'"},
    {"CREATE TRIGGER more AFTER INSERT ON ticks BEGIN DELETE FROM meta; END", false,
     CAROM_ERROR_CORRUPT, "schema: 'more'"},
    {"ALTER TABLE ticks ADD COLUMN more", false, CAROM_ERROR_CORRUPT, "schema: 'ticks'"},
    {"DROP TABLE keyframes", false, CAROM_ERROR_CORRUPT, "schema: 'links'"},
    {"DROP TABLE ticks; CREATE VIEW ticks AS WITH RECURSIVE n(tick) AS (SELECT 0 UNION ALL SELECT "
     "tick+1 FROM n) SELECT tick, 0 AS hash FROM n",
     false, CAROM_ERROR_CORRUPT, "schema: 'events'"},
    {"DROP VIEW hashes", false, CAROM_ERROR_CORRUPT, "schema: 'players'"},
    {"DROP VIEW players; CREATE VIEW players AS SELECT 1", false, CAROM_ERROR_CORRUPT,
     "schema: 'players'"},
    {"UPDATE sqlite_schema SET sql='CREATE TABLE ticks(tick INTEGER PRIMARY KEY, hash AS "
     "(randomblob(9)))' WHERE name='ticks'",
     true, CAROM_ERROR_CORRUPT, "schema"},
    {"UPDATE sqlite_schema SET rootpage=1 WHERE name='ticks'", true, CAROM_ERROR_CORRUPT, ""},
    {"UPDATE sqlite_schema SET rootpage=99999 WHERE name='ticks'", true, CAROM_ERROR_CORRUPT, ""},
};

Test(match_file, another_engines_file_informs)
{
    recording_make(100, 1);
    recording_edit(recording_path(), "UPDATE meta SET value=value+1 WHERE key='engine_version'",
                   false);
    cm_match_file *file;
    cr_assert_eq(cm_match_open(recording_path(), &file, &error), CAROM_OK, "%s", error.message);
    cm_match_info info;
    cm_match_info_get(file, &info);
    cr_assert_eq(info.engine_version, CAROM_ENGINE_VERSION + 1);
    cr_assert_eq(info.ticks, 100);
    cm_match_close(file);
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_VERSION);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CHANGED);
    recording_edit(recording_path(), "DELETE FROM ticks WHERE tick=9", false);
    cr_assert_eq(try_open(recording_path()), CAROM_ERROR_CORRUPT, "a gap is");
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

Test(match_file, each_fault_is_refused_by_name)
{
    recording_make(100, 1);
    size_t size;
    char *intact = read_file(recording_path(), &size);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        write_file(recording_path(), intact, size);
        recording_edit(recording_path(), faults[i].sql, faults[i].schema);
        carom_result result = try_open(recording_path());
        cr_expect_eq(result, faults[i].result, "%s: result %d, %s", faults[i].sql, result,
                     error.message);
        cr_expect_not_null(strstr(error.message, faults[i].names), "%s: %s", faults[i].sql,
                           error.message);
    }
    free(intact);
}

// Recorded by engine 14, in the format before the chain; its later ticks were left out.
Test(match_file, an_older_format_says_what_it_is)
{
    cr_assert_eq(try_open("tests/unit/record/format_1.match"), CAROM_ERROR_VERSION);
    cr_assert_not_null(strstr(error.message, "recorded by engine 14 (carom, commit a5d44b9) in "
                                             "format 1"),
                       "%s", error.message);
}

Test(match_file, other_files_are_not_match_files)
{
    char path[128];
    cm_rng rng;
    cm_rng_seed(&rng, 12);
    uint8_t noise[20000];
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)cm_rng_below(&rng, 256);
    }
    snprintf(path, sizeof path, "%s/noise", recording_folder);
    write_file(path, noise, sizeof noise);
    cr_assert_eq(try_open(path), CAROM_ERROR_MAGIC, "%s", error.message);
    write_file(path, noise, 0);
    cr_assert_eq(try_open(path), CAROM_ERROR_MAGIC, "%s", error.message);
    write_file(path, noise, 1);
    cr_assert_neq(try_open(path), CAROM_OK);
    cr_assert_eq(try_open(recording_folder), CAROM_ERROR_MAGIC, "%s", error.message);
    cr_assert_eq(try_open("/does/not/exist"), CAROM_ERROR_IO, "%s", error.message);
    cr_assert_not_null(strstr(error.message, "No such file"));
}

static void fill_with_bombs(const char *path, int from, int to, const void *packed, size_t size)
{
    sqlite3 *db;
    sqlite3_stmt *put;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN; DELETE FROM keyframes", NULL, NULL, NULL);
    cr_assert_eq(
        sqlite3_prepare_v2(db, "INSERT INTO keyframes VALUES(?1, NULL, ?2)", -1, &put, NULL),
        SQLITE_OK);
    for (int tick = from; tick <= to; tick++) {
        sqlite3_bind_int(put, 1, tick);
        sqlite3_bind_blob64(put, 2, packed, size, SQLITE_STATIC);
        cr_assert_eq(sqlite3_step(put), SQLITE_DONE);
        sqlite3_reset(put);
    }
    sqlite3_finalize(put);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

// Keyframes of 64 MiB of zeros take a few kilobytes each.
Test(match_file, the_sum_of_its_keyframes_is_bounded)
{
    const int most = (int)(CM_RECORD_KEYFRAMES_MAX / CM_RECORD_KEYFRAME_MAX);
    recording_make(300, 1);
    size_t size;
    void *zeros = calloc(1, CM_RECORD_KEYFRAME_MAX + 1);
    void *packed = cm_record_compress(zeros, CM_RECORD_KEYFRAME_MAX, NULL, 0, &size);
    cr_assert_lt(size, 20000);
    fill_with_bombs(recording_path(), 1, most, packed, size);
    cr_assert_eq(try_open(recording_path()), CAROM_OK, "%s", error.message);
    fill_with_bombs(recording_path(), 1, most + 1, packed, size);
    cr_assert_eq(try_open(recording_path()), CAROM_ERROR_CORRUPT);
    cr_assert_not_null(strstr(error.message, "row 257"), "%s", error.message);
    cr_assert_not_null(strstr(error.message, "CM_RECORD_KEYFRAMES_MAX"), "%s", error.message);
    free(packed);
    packed = cm_record_compress(zeros, CM_RECORD_KEYFRAME_MAX + 1, NULL, 0, &size);
    fill_with_bombs(recording_path(), 7, 7, packed, size);
    cr_assert_eq(try_open(recording_path()), CAROM_ERROR_CORRUPT);
    cr_assert_not_null(strstr(error.message, "row 7: packed: no whole zstd frame of at most 64"),
                       "%s", error.message);
    free(packed);
    free(zeros);
}

Test(match_file, cut_anywhere)
{
    recording_make(100, 1);
    size_t size;
    char *intact = read_file(recording_path(), &size);
    cm_rng rng;
    cm_rng_seed(&rng, 77);
    for (int i = 0; i < 60; i++) {
        size_t cut = i < 20 ? (size_t)i * size / 20 : cm_rng_next(&rng) % size;
        write_file(recording_path(), intact, cut);
        cr_assert_neq(try_open(recording_path()), CAROM_OK, "cut to %zu of %zu", cut, size);
    }
    free(intact);
}

// CAROM_MUTATED=COUNT asks for more than `make test` does; run it with BUILD=asan.
Test(match_file, bits_flipped_anywhere)
{
    uint64_t hash = recording_make(60, 1);
    size_t size;
    char *intact = read_file(recording_path(), &size), *bad = malloc(size);
    const char *asked = getenv("CAROM_MUTATED");
    int files = asked != NULL ? atoi(asked) : 300;
    cm_rng rng;
    cm_rng_seed(&rng, 78);
    int refused = 0, diverged = 0, changed = 0, same = 0;
    for (int i = 0; i < files; i++) {
        memcpy(bad, intact, size);
        for (uint32_t flips = 1 + cm_rng_below(&rng, 8); flips > 0; flips--) {
            // Half of them in heads of pages, where the trees are.
            size_t at = cm_rng_next(&rng) % size;
            at = cm_rng_below(&rng, 2) == 0 ? at / 4096 * 4096 + at % 128 : at;
            bad[at] = (char)((uint8_t)bad[at] ^ 1u << cm_rng_below(&rng, 8));
        }
        write_file(recording_path(), bad, size);
        cm_replay_report report;
        carom_result result = cm_replay_verify(recording_path(), NULL, &report);
        diverged += result == CAROM_ERROR_DIVERGED;
        refused += result != CAROM_OK && result != CAROM_ERROR_DIVERGED;
        changed += result == CAROM_OK && report.proof.verdict == CM_PROOF_CHANGED;
        if (result == CAROM_OK && report.complete) { // unused bytes alone
            cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT);
            cr_assert_eq(report.verified_ticks, 60);
            cr_assert_eq(report.final_hash, hash);
            same++;
        }
    }
    fprintf(stderr, "match_file: %d files: %d refused, %d changed, %d diverged, %d the same\n",
            files, refused, changed, diverged, same);
    cr_assert_gt(refused, files / 8);
    cr_assert_gt(changed, 0);
    free(bad);
    free(intact);
}

// A killed server's file beside its log, as a copy of both: made while the writer lives, which
// holds no byte back once it has committed.
static void make_killed(const char *name, bool with_log)
{
    char command[512];
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 2, 9);
    recording_play(&run, 50);
    cm_store_flush(store);
    snprintf(command, sizeof command, "cp %s %s/%s", recording_path(), recording_folder, name);
    cr_assert_eq(system(command), 0);
    snprintf(command, sizeof command, "cp %s-wal %s/%s-wal", recording_path(), recording_folder,
             name);
    cr_assert(!with_log || system(command) == 0);
    snprintf(command, sizeof command, "%s-shm", recording_path());
    cr_assert_neq(access(command, F_OK), 0); // exclusive before it was a log: no shared index
    cr_assert_eq(try_open(recording_path()), CAROM_ERROR_IO); // the writer holds it
    cr_assert_not_null(strstr(error.message, "held by a running server"), "%s", error.message);
    recording_play(&run, 10); // and is not disturbed
    cm_match_status status;
    cm_store_flush(store);
    cm_store_status(store, run.match, &status);
    cr_assert(status.durable, "%s", status.error);
    cr_assert_eq(status.committed_tick, 60);
    cm_store_destroy(store);
    recording_free(&run);
}

Test(match_file, a_killed_servers_file_opens_and_is_not_changed)
{
    char path[128];
    make_killed("left", true);
    snprintf(path, sizeof path, "%s/left", recording_folder);
    uint64_t size = file_size(path, ""), log = file_size(path, "-wal");
    cr_assert_gt(log, 0);
    for (int i = 0; i < 2; i++) {
        cm_replay_report report;
        cr_assert_eq(cm_replay_verify(path, NULL, &report), CAROM_OK, "%s", report.error.message);
        cr_assert_eq(report.verified_ticks, 50);
        cr_assert_not(report.complete);
        cr_assert_eq(file_size(path, ""), size);
        cr_assert_eq(file_size(path, "-wal"), log);
        cr_assert_eq(file_size(path, "-shm"), 0);
    }
}

Test(match_file, a_killed_servers_file_opens_where_nothing_may_be_written)
{
    char path[128];
    make_killed("left", true);
    snprintf(path, sizeof path, "%s/left", recording_folder);
    cr_assert_eq(chmod(path, 0444), 0);
    cr_assert_eq(chmod(recording_folder, 0555), 0);
    if (geteuid() == 0) {
        cr_assert_eq(seteuid(65534), 0); // root may write anything
    }
    cm_replay_report report;
    carom_result result = cm_replay_verify(path, NULL, &report);
    if (getuid() == 0) {
        cr_assert_eq(seteuid(0), 0);
    }
    cr_assert_eq(chmod(recording_folder, 0755), 0);
    cr_assert_eq(result, CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.verified_ticks, 50);
}

Test(match_file, a_file_without_its_log_says_what_it_can)
{
    char path[128];
    make_killed("alone", false);
    snprintf(path, sizeof path, "%s/alone", recording_folder);
    carom_result result = try_open(path); // nothing was checkpointed yet: an empty head
    cr_assert(result == CAROM_ERROR_MAGIC || result == CAROM_ERROR_CORRUPT, "%s", error.message);
    cr_assert_eq(file_size(path, "-wal"), 0);
    cr_assert_eq(file_size(path, "-shm"), 0);
}
