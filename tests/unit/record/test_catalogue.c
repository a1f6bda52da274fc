// Catalogues that are damaged or made by an enemy, and those of other versions: a clear refusal or
// what they hold, never a crash, never a row that nobody checked.
//
// Method: a good file is changed by SQL where a fault is meant, by bits where the damage is to be
// blind; then everything that reads or writes one is done with it. Run it with BUILD=asan.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/catalogue/match_index.h"
#include "server/record/catalogue/room_db.h"
#include "server/record/catalogue/scene_db.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/counts.h"
#include "tests/unit/record/recording.h"

TestSuite(catalogue, .init = recording_setup, .fini = recording_teardown);

static char path[128];
static cm_scene_error error;
static uint32_t listed;

static void make_good(void)
{
    static const char *const files[] = {"tests/scenes/hello.json", "tests/scenes/sandbox.json",
                                        "tests/scenes/machines.json"};
    snprintf(path, sizeof path, "%s/c.db", recording_folder);
    for (int i = 0; i < 12; i++) { // two scenes in many versions, so that the tree has levels
        cm_scene *scene;
        cr_assert_eq(cm_scene_from_file(files[i % 3], &scene, &error), CAROM_OK);
        cr_assert_eq(cm_scene_db_save(path, i % 2 == 0 ? "one" : "two", scene, 5 + i, &error),
                     CAROM_OK, "%s", error.message);
        cm_scene_free(scene);
    }
    cm_room_row room = {"hall", "one"};
    cr_assert_eq(cm_room_db_save(path, &room, &error), CAROM_OK, "%s", error.message);
    for (uint64_t i = 1; i <= 40; i++) {
        cm_match_entry entry = {.match_id = i * 77, .is_ended = i > 2, .ticks = i, .bytes = 9};
        snprintf(entry.file, sizeof entry.file, "%016llx.match", (unsigned long long)i * 77);
        strcpy(entry.directory, "/srv/matches");
        strcpy(entry.scene, "one");
        strcpy(entry.end, "ended");
        memset(entry.chain, 'a', 64);
        memset(entry.file_hash, '0', 64);
        cr_assert_eq(cm_match_index_put(path, &entry, &error), CAROM_OK, "%s", error.message);
    }
}

static bool count_scene(void *context, const cm_scene_row *row)
{
    (void)context;
    cr_assert_lt(strlen(row->name), sizeof row->name);
    listed++;
    return true;
}

static bool count_room(void *context, const cm_room_row *row)
{
    (void)context;
    cr_assert_lt(strlen(row->scene), sizeof row->scene);
    listed++;
    return true;
}

static bool count_match(void *context, const cm_match_entry *entry)
{
    (void)context;
    cr_assert_null(strchr(entry->file, '/'));
    listed++;
    return true;
}

// Everything that reads; the first refusal, or CAROM_OK.
static carom_result read_all(void)
{
    cm_scene *scene = NULL;
    listed = 0;
    carom_result result = cm_scene_db_list(path, count_scene, NULL, &error);
    result = result == CAROM_OK ? cm_room_db_list(path, count_room, NULL, &error) : result;
    result = result == CAROM_OK ? cm_match_index_list(path, count_match, NULL, &error) : result;
    result = result == CAROM_OK ? cm_scene_db_load(path, "one", &scene, &error) : result;
    cm_scene_free(scene);
    cr_assert(result == CAROM_OK || error.message[0] != '\0');
    return result;
}

static carom_result write_all(void)
{
    cm_match_entry entry = {.match_id = 5, .file = "x.match", .scene = "s"};
    cm_room_row room = {"attic", "two"};
    carom_result result = cm_match_index_put(path, &entry, &error);
    result = result == CAROM_OK ? cm_match_index_remove(path, 77, &error) : result;
    result = result == CAROM_OK ? cm_room_db_save(path, &room, &error) : result;
    result = result == CAROM_OK ? cm_room_db_delete(path, "hall", &error) : result;
    result = result == CAROM_OK ? cm_scene_db_delete(path, "two", &error) : result;
    cr_assert(result == CAROM_OK || error.message[0] != '\0');
    return result;
}

static char *read_file(size_t *size)
{
    FILE *file = fopen(path, "rb");
    *size = (size_t)file_size(path, "");
    char *bytes = malloc(*size + 1);
    cr_assert_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_file(const void *bytes, size_t size)
{
    char journal[160];
    FILE *file = fopen(path, "wb");
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
    snprintf(journal, sizeof journal, "%s-journal", path);
    remove(journal);
}

Test(catalogue, holds_scenes_rooms_and_matches)
{
    make_good();
    cr_assert_eq(read_all(), CAROM_OK, "%s", error.message);
    cr_assert_eq(listed, 2 + 1 + 40);
    cr_assert_eq(write_all(), CAROM_OK, "%s", error.message);
    cr_assert_eq(read_all(), CAROM_OK, "%s", error.message);
    cr_assert_eq(listed, 1 + 1 + 40);
    cm_room_row room = {"attic", "none"};
    cr_assert_eq(cm_room_db_save(path, &room, &error), CAROM_ERROR_NOT_FOUND);
    cr_assert_not_null(strstr(error.message, "no scene 'none'"), "%s", error.message);
    cr_assert_eq(cm_room_db_delete(path, "hall", &error), CAROM_ERROR_NOT_FOUND);
    cr_assert_not_null(strstr(error.message, "no room 'hall'"), "%s", error.message);
}

static const struct {
    const char *sql;
    carom_result result;
    const char *names; // must stand in the message
} faults[] = {
    {"PRAGMA user_version = 4", CAROM_ERROR_VERSION, "schema is 4, expected at most 3"},
    {"PRAGMA application_id = 1", CAROM_ERROR_CORRUPT, "another application"},
    {"CREATE TABLE more(x)", CAROM_ERROR_CORRUPT, "'more' is not as expected"},
    {"CREATE VIEW extra AS SELECT 1", CAROM_ERROR_CORRUPT, "'extra' is not as expected"},
    {"CREATE TRIGGER t AFTER INSERT ON rooms BEGIN DELETE FROM scenes; END", CAROM_ERROR_CORRUPT,
     "'t' is not as expected"},
    {"CREATE INDEX i ON scenes(packed)", CAROM_ERROR_CORRUPT, "'i' is not as expected"},
    {"DROP TABLE rooms", CAROM_ERROR_CORRUPT, "'scenes' is not as expected"},
    {"DROP TABLE rooms; CREATE VIEW rooms AS SELECT name, name AS scene FROM scenes",
     CAROM_ERROR_CORRUPT, "is not as expected"},
    {"ALTER TABLE scenes ADD COLUMN more AS (zeroblob(1000000000))", CAROM_ERROR_CORRUPT,
     "'scenes' is not as expected"},
    {"DROP TABLE rooms; DROP TABLE matches; CREATE VIRTUAL TABLE matches USING fts5(x); PRAGMA "
     "user_version = 0; PRAGMA application_id = 0",
     CAROM_ERROR_CORRUPT, "not that of any version"},
    {"PRAGMA user_version = 2", CAROM_ERROR_CORRUPT, "'matches' is not as expected"},
    {"UPDATE scenes SET name = CAST(name AS BLOB)", CAROM_ERROR_CORRUPT, "scenes: a row"},
    {"UPDATE scenes SET name = name || printf('%300d', version)", CAROM_ERROR_CORRUPT,
     "scenes: a row"},
    {"UPDATE scenes SET bodies = -1", CAROM_ERROR_CORRUPT, "scenes: a row"},
    {"UPDATE scenes SET bodies = 'x'", CAROM_ERROR_CORRUPT, "scenes: a row"},
    {"UPDATE scenes SET packed = 'text'", CAROM_ERROR_CORRUPT, ""},
    {"UPDATE scenes SET packed = zeroblob(17900000)", CAROM_ERROR_CORRUPT, "too big"},
    {"UPDATE rooms SET scene = x'00'", CAROM_ERROR_CORRUPT, "rooms: a row"},
    {"UPDATE rooms SET scene = 'a' || char(0) || 'b'", CAROM_ERROR_CORRUPT, "rooms: a row"},
    {"UPDATE matches SET match_id = 'none' WHERE ticks = 4", CAROM_ERROR_CORRUPT, "matches: a row"},
    {"UPDATE matches SET file = '../../etc/passwd'", CAROM_ERROR_CORRUPT, "matches: a row"},
    {"UPDATE matches SET file = ''", CAROM_ERROR_CORRUPT, "matches: a row"},
    {"UPDATE matches SET file_hash = 'short' WHERE ticks = 4", CAROM_ERROR_CORRUPT,
     "matches: a row"},
    {"UPDATE matches SET chain = NULL WHERE ticks = 4", CAROM_ERROR_CORRUPT, "matches: a row"},
    {"UPDATE matches SET ticks = 0.5 WHERE ticks = 4", CAROM_ERROR_CORRUPT, "matches: a row"},
    {"UPDATE matches SET started_unix_ms = -1", CAROM_ERROR_CORRUPT, "matches: a row"},
};

Test(catalogue, each_fault_is_refused_by_name)
{
    size_t size;
    make_good();
    char *intact = read_file(&size);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        write_file(intact, size);
        recording_edit(path, faults[i].sql, false);
        carom_result result = read_all();
        cr_expect_eq(result, faults[i].result, "%s: result %d, %s", faults[i].sql, result,
                     error.message);
        cr_expect_not_null(strstr(error.message, faults[i].names), "%s: %s", faults[i].sql,
                           error.message);
    }
    free(intact);
}

// The schema is ours, and pages are not.
Test(catalogue, pages_are_checked_before_rows)
{
    size_t size;
    make_good();
    char *intact = read_file(&size);
    uint32_t refused = 0;
    for (size_t page = 1; page < size / 4096; page++) {
        char *bad = malloc(size);
        memcpy(bad, intact, size);
        memset(bad + page * 4096, 0, 16); // the head of a tree's page
        write_file(bad, size);
        refused += read_all() == CAROM_ERROR_CORRUPT;
        free(bad);
    }
    cr_assert_gt(size / 4096, 5);
    cr_assert_geq(refused + 1, size / 4096 - 1); // an overflow page has no such head
    write_file(intact, size / 2);
    cr_assert_eq(read_all(), CAROM_ERROR_CORRUPT, "%s", error.message);
    write_file(intact, 0); // nothing: what a first import finds
    cr_assert_eq(read_all(), CAROM_ERROR_NOT_FOUND, "%s", error.message);
    cr_assert_not_null(strstr(error.message, "no scene 'one'"), "%s", error.message);
    free(intact);
}

// CAROM_MUTATED=COUNT asks for more than `make test` does; run it with BUILD=asan.
Test(catalogue, bits_flipped_anywhere)
{
    size_t size;
    make_good();
    char *intact = read_file(&size), *bad = malloc(size);
    const char *asked = getenv("CAROM_MUTATED");
    int files = asked != NULL ? atoi(asked) : (int)test_count(60, 200);
    cm_rng rng;
    cm_rng_seed(&rng, 79);
    int refused = 0, whole = 0, unwritten = 0;
    for (int i = 0; i < files; i++) {
        memcpy(bad, intact, size);
        for (uint32_t flips = 1 + cm_rng_below(&rng, 8); flips > 0; flips--) {
            // Half of them in heads of pages, where the trees are.
            size_t at = cm_rng_next(&rng) % size;
            at = cm_rng_below(&rng, 2) == 0 ? at / 4096 * 4096 + at % 128 : at;
            bad[at] = (char)((uint8_t)bad[at] ^ 1u << cm_rng_below(&rng, 8));
        }
        write_file(bad, size);
        bool good = read_all() == CAROM_OK;
        refused += !good;
        whole += good;
        write_file(bad, size);
        unwritten += write_all() != CAROM_OK;
    }
    fprintf(stderr, "catalogue: %d files: %d refused, %d read, %d not written\n", files, refused,
            whole, unwritten);
    cr_assert_gt(refused, files / 8);
    cr_assert_gt(whole, 0);
    cr_assert_gt(unwritten, files / 8);
    free(bad);
    free(intact);
}
