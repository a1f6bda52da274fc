// Matches played again and given out: playback from any tick, tables and lines of an export.
//
// Method: a sandbox match is recorded while the states of its bodies are kept; what an export holds
// is compared with those, and with the rows of the match file, number by number.
#include <criterion/criterion.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/export_format.h"
#include "server/record/replay/replay.h"
#include "server/tools/export/export.h"
#include "tests/unit/record/recording.h"

#define TICKS 100
#define SLOTS 40

TestSuite(export_match, .init = recording_setup, .fini = recording_teardown);

static cm_match_error error;
static uint64_t hashes[TICKS + 1];
static bool lives[TICKS + 1][SLOTS];
static carom_body_state states[TICKS + 1][SLOTS];
static char out[128];

static void keep_states(const recording *run)
{
    uint64_t tick = carom_game_tick(run->game);
    const carom_world *world = carom_game_world(run->game);
    hashes[tick] = cm_game_hash(run->game);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        cr_assert_lt(slot, SLOTS);
        lives[tick][slot] = carom_body_get(world, carom_world_body_at(world, slot),
                                           &states[tick][slot]) == CAROM_OK;
    }
}

static void record(void)
{
    cm_store *store = recording_store(false);
    recording run;
    recording_begin(&run, store, 3, 5);
    run.keyframe_every = 30;
    keep_states(&run);
    for (int i = 0; i < TICKS; i++) {
        recording_play(&run, 1);
        keep_states(&run);
    }
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    recording_free(&run);
    snprintf(out, sizeof out, "%s/out", recording_folder);
}

static carom_result export_as(cm_export_kind kind, uint64_t from, uint64_t to, uint64_t every)
{
    cm_export_options options = {.kind = kind, .from = from, .to = to, .every = every, .path = out};
    return cm_export_run(recording_path(), &options, &error);
}

static sqlite3 *open_tables(void)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open_v2(out, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

static sqlite3_stmt *ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *rows;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(db));
    return rows;
}

static int64_t number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = ask(db, sql);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW, "%s", sql);
    int64_t value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return value;
}

Test(export_match, a_seek_gives_the_state_of_its_tick_wherever_it_comes_from)
{
    record();
    cm_playback *playback;
    cr_assert_eq(cm_playback_open(recording_path(), &playback, &error), CAROM_OK);
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    for (int i = 0; i < 60; i++) {
        uint64_t tick = cm_rng_below(&rng, TICKS + 1);
        cr_assert_eq(cm_playback_seek(playback, tick, &error), CAROM_OK, "%s", error.message);
        cr_assert_eq(carom_game_tick(cm_playback_game(playback)), tick);
        cr_assert_eq(cm_game_hash(cm_playback_game(playback)), hashes[tick]);
        if (tick < TICKS && cm_rng_below(&rng, 2) == 0) {
            cr_assert_eq(cm_playback_next(playback, &error), CAROM_OK, "%s", error.message);
            cr_assert_eq(cm_game_hash(cm_playback_game(playback)), hashes[tick + 1]);
        }
    }
    cr_assert_eq(cm_playback_seek(playback, TICKS, &error), CAROM_OK);
    cr_assert_eq(cm_playback_next(playback, &error), CAROM_ERROR_NOT_FOUND);
    cr_assert_eq(cm_playback_seek(playback, TICKS + 1, &error), CAROM_ERROR_ARGUMENT);
    cr_assert_not_null(strstr(error.message, "no tick 101, expected one of the match, 0 to 100"));
    cm_playback_close(playback);
}

static void turn_inputs(cm_record_inputs *row)
{
    for (uint32_t i = 0; i < row->input_count; i++) {
        row->inputs[i].bytes[3] ^= 0x80u;
    }
}

static void turn_early_inputs(cm_record_inputs *row)
{
    if (row->tick < 20) {
        turn_inputs(row);
    }
}

// A seek starts at the keyframe, not at tick 0: what was changed before it is not seen.
Test(export_match, a_seek_needs_nothing_before_its_keyframe)
{
    record();
    recording_edit_inputs(recording_path(), turn_early_inputs);
    cm_playback *playback;
    cr_assert_eq(cm_playback_open(recording_path(), &playback, &error), CAROM_OK);
    cr_assert_eq(cm_playback_seek(playback, 95, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_playback_seek(playback, 10, &error), CAROM_ERROR_DIVERGED);
    cm_playback_close(playback);
}

// One that is of another tick would have the rows run beside the game.
Test(export_match, a_seek_takes_no_keyframe_of_another_tick)
{
    record();
    recording_edit(recording_path(),
                   "UPDATE keyframes SET base = NULL, packed = (SELECT packed FROM keyframes WHERE "
                   "base IS NULL ORDER BY tick LIMIT 1) WHERE tick = (SELECT max(tick) FROM "
                   "keyframes); UPDATE ticks SET hash = (SELECT hash FROM ticks WHERE tick = "
                   "(SELECT min(tick) FROM keyframes)) WHERE tick = (SELECT max(tick) FROM "
                   "keyframes)",
                   false);
    cm_playback *playback;
    cr_assert_eq(cm_playback_open(recording_path(), &playback, &error), CAROM_OK);
    cr_assert_eq(cm_playback_seek(playback, 99, &error), CAROM_ERROR_CORRUPT, "%s", error.message);
    cr_assert_not_null(strstr(error.message, "at that tick"), "%s", error.message);
    cm_playback_close(playback);
}

static void compare_tracks(sqlite3 *db, uint64_t from, uint64_t to, uint64_t every)
{
    sqlite3_stmt *rows = ask(db, "SELECT t.*, b.slot FROM tracks t JOIN bodies b USING(body) ORDER "
                                 "BY tick, slot");
    for (uint64_t tick = from; tick <= to; tick += every) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (!lives[tick][slot]) {
                continue;
            }
            const carom_body_state *s = &states[tick][slot];
            cr_assert_eq(sqlite3_step(rows), SQLITE_ROW);
            cr_assert_eq(sqlite3_column_int64(rows, 0), (int64_t)tick);
            cr_assert_eq(sqlite3_column_int(rows, 16), slot);
            cr_assert_eq((float)sqlite3_column_double(rows, 2), s->position.x);
            cr_assert_eq((float)sqlite3_column_double(rows, 3), s->position.y);
            cr_assert_eq((float)sqlite3_column_double(rows, 4), s->position.z);
            cr_assert_eq((float)sqlite3_column_double(rows, 8), s->orientation.w);
            cr_assert_eq((float)sqlite3_column_double(rows, 10), s->linear_velocity.y);
            cr_assert_eq((float)sqlite3_column_double(rows, 14), s->angular_velocity.z);
            cr_assert_eq(sqlite3_column_int(rows, 15), s->asleep);
        }
    }
    cr_assert_eq(sqlite3_step(rows), SQLITE_DONE);
    sqlite3_finalize(rows);
}

Test(export_match, tracks_are_the_states_of_the_live_match)
{
    record();
    cr_assert_eq(export_as(CM_EXPORT_SQLITE, 0, UINT64_MAX, 1), CAROM_OK, "%s", error.message);
    sqlite3 *db = open_tables();
    compare_tracks(db, 0, TICKS, 1);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM ticks"), TICKS + 1);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM named_tracks WHERE name = 'ground'"),
                 TICKS + 1);
    cr_assert_gt(number_of(db, "SELECT count(*) FROM happenings WHERE type = 'begin'"), 20);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM bodies WHERE name LIKE 'body_%' AND "
                               "first_tick = 1 AND last_tick = 100"),
                 3);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM ticks WHERE tick = 60 AND seconds = 1.0"), 1);
    sqlite3_close(db);
}

Test(export_match, a_part_of_a_match)
{
    record();
    cr_assert_eq(export_as(CM_EXPORT_SQLITE, 41, 90, 7), CAROM_OK, "%s", error.message);
    sqlite3 *db = open_tables();
    compare_tracks(db, 41, 90, 7);
    cr_assert_eq(number_of(db, "SELECT min(tick) FROM ticks"), 41);
    cr_assert_eq(number_of(db, "SELECT max(tick) FROM inputs"), 90);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM events"), 0); // they joined before
    cr_assert_eq(number_of(db, "SELECT count(*) FROM players WHERE joined = 1"), 3);
    cr_assert_eq(number_of(db, "SELECT value FROM about WHERE key = 'every'"), 7);
    sqlite3_close(db);
}

// Every input and arrival of the match file, against its row.
static uint32_t compare_inputs(sqlite3 *db, cm_match_file *file)
{
    sqlite3_stmt *row = ask(db, "SELECT changed, arrived, late_ms, rewound, bytes, client_id FROM "
                                "inputs WHERE tick = ?1 AND player = ?2");
    cm_recorded_tick tick;
    uint32_t compared = 0;
    while (cm_match_next(file, &tick, &error) == CAROM_OK) {
        for (uint32_t i = 0; i < tick.input.input_count; i++, compared++) {
            sqlite3_bind_int64(row, 1, (int64_t)tick.tick);
            sqlite3_bind_int64(row, 2, tick.input.inputs[i].player);
            cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
            cr_assert_eq(sqlite3_column_int(row, 0), 1);
            cr_assert_eq(sqlite3_column_bytes(row, 4), 9);
            cr_assert_arr_eq(sqlite3_column_blob(row, 4), tick.input.inputs[i].bytes, 9);
            cr_assert_eq(sqlite3_column_int(row, 5), 100 + (int)tick.input.inputs[i].player);
            sqlite3_reset(row);
        }
        for (uint32_t i = 0; i < tick.arrival_count; i++, compared++) {
            double lead = (double)tick.arrivals[i].lead / 16.0;
            sqlite3_bind_int64(row, 1, (int64_t)tick.tick);
            sqlite3_bind_int64(row, 2, tick.arrivals[i].player);
            cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
            cr_assert_eq(sqlite3_column_double(row, 1), (double)tick.tick - lead);
            cr_assert_float_eq(sqlite3_column_double(row, 2), lead < 0.0 ? -lead / 0.06 : 0.0,
                               1e-9);
            cr_assert_eq(sqlite3_column_int(row, 3), tick.arrivals[i].rewound);
            sqlite3_reset(row);
        }
    }
    sqlite3_finalize(row);
    return compared;
}

Test(export_match, inputs_are_the_recorded_ones)
{
    record();
    cr_assert_eq(export_as(CM_EXPORT_SQLITE, 0, UINT64_MAX, 100), CAROM_OK, "%s", error.message);
    sqlite3 *db = open_tables();
    cm_match_file *file;
    cr_assert_eq(cm_match_open(recording_path(), &file, &error), CAROM_OK);
    cr_assert_gt(compare_inputs(db, file), 330u);
    cm_match_info info;
    cm_match_info_get(file, &info);
    cr_assert_eq(number_of(db, "SELECT sum(changed) FROM inputs"), (int64_t)info.inputs);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM sandbox_inputs"), (int64_t)info.inputs);
    cr_assert_gt(number_of(db, "SELECT count(*) FROM inputs WHERE late_ms > 0 AND rewound"), 0);
    cr_assert_gt(number_of(db, "SELECT count(*) FROM inputs WHERE NOT changed"), 0);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM sandbox_inputs WHERE abs(force_x) > 1"), 0);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM players p JOIN players q ON p.name = q.name"),
                 3); // each has its own
    cr_assert_eq(number_of(db, "SELECT count(*) FROM statistics"), 6);
    cm_match_close(file);
    sqlite3_close(db);
    remove(out);
    cr_assert_eq(export_as(CM_EXPORT_SQLITE, 40, 44, 1), CAROM_OK, "%s", error.message);
    db = open_tables();
    cr_assert_eq(number_of(db, "SELECT count(*) FROM ticks"), 5);
    cr_assert_eq(number_of(db, "SELECT count(*) FROM players"), 3, "of the whole match");
    cr_assert_eq(number_of(db, "SELECT count(*) FROM statistics"), 6, "likewise");
    sqlite3_close(db);
}

static int files_in_folder(void)
{
    DIR *folder = opendir(recording_folder);
    int count = 0;
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count - 2;
}

Test(export_match, what_is_there_stays_and_what_fails_leaves_nothing)
{
    record();
    cr_assert_eq(files_in_folder(), 1);
    for (cm_export_kind kind = CM_EXPORT_JSONL; kind <= CM_EXPORT_GLTF; kind++) {
        FILE *file = fopen(out, "w");
        fputs("mine", file);
        fclose(file);
        cr_assert_eq(export_as(kind, 0, 10, 1), CAROM_ERROR_STATE, "%s", error.message);
        cr_assert_not_null(strstr(error.message, "is there already"));
        cr_assert_eq(file_size(out, ""), 4);
        remove(out);
        cr_assert_eq(export_as(kind, 101, UINT64_MAX, 1), CAROM_ERROR_ARGUMENT);
    }
    recording_edit_inputs(recording_path(), turn_inputs);
    for (cm_export_kind kind = CM_EXPORT_JSONL; kind <= CM_EXPORT_GLTF; kind++) {
        cr_assert_eq(export_as(kind, 0, UINT64_MAX, 1), CAROM_ERROR_DIVERGED, "%s", error.message);
        cr_assert_not_null(strstr(error.message, "diverged at tick"), "%s", error.message);
        cr_assert_eq(files_in_folder(), 1);
    }
    strcpy(out, "/does/not/exist");
    cr_assert_eq(export_as(CM_EXPORT_SQLITE, 0, 10, 1), CAROM_ERROR_IO);
    cr_assert_eq(export_as(CM_EXPORT_CSV, 0, 10, 1), CAROM_ERROR_IO);
}

Test(export_match, lines_have_the_hashes_of_their_ticks)
{
    record();
    cr_assert_eq(export_as(CM_EXPORT_JSONL, 33, 63, 10), CAROM_OK, "%s", error.message);
    static char line[1 << 16], expected[64];
    FILE *file = fopen(out, "r");
    for (uint64_t tick = 33; tick <= 63; tick += 10) {
        cr_assert_not_null(fgets(line, sizeof line, file));
        snprintf(expected, sizeof expected, "{\"tick\": %d,", (int)tick);
        cr_assert_eq(strncmp(line, expected, strlen(expected)), 0, "%.60s", line);
        snprintf(expected, sizeof expected, "\"hash\": \"%016llx\"",
                 (unsigned long long)hashes[tick]);
        cr_assert_not_null(strstr(line, expected), "%.80s", line);
    }
    cr_assert_null(fgets(line, sizeof line, file));
    fclose(file);
    remove(out);
    cr_assert_eq(export_as(CM_EXPORT_CSV, 50, 50, 1), CAROM_OK, "%s", error.message);
    file = fopen(out, "r");
    cr_assert_not_null(fgets(line, sizeof line, file));
    cr_assert_eq(strncmp(line, "tick,time,hash,name,px", 22), 0);
    int bodies = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        bodies++;
    }
    cr_assert_eq(bodies, 29); // ground, 25 cubes, 3 players
    fclose(file);
}

static uint32_t u32_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

// The tracks of a .glb, which stand behind the times: slots that move in their order.
static void compare_glb_tracks(const uint8_t *binary, uint64_t from, uint64_t samples,
                               uint64_t every)
{
    uint64_t track = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (!lives[TICKS][slot] || states[TICKS][slot].type == CAROM_BODY_STATIC) {
            continue;
        }
        const uint8_t *own = binary + 4 * samples + 28 * samples * track++;
        for (uint64_t i = 0; i < samples; i++) {
            if (lives[from + i * every][slot]) {
                const carom_body_state *s = &states[from + i * every][slot];
                cr_assert_arr_eq(own + 12 * i, &s->position, 12, "slot %d", slot);
                cr_assert_arr_eq(own + 12 * samples + 16 * i, &s->orientation, 16);
            }
        }
    }
    cr_assert_eq(track, 28);
}

Test(export_match, gltf_tracks_are_the_states_of_the_live_match)
{
    record();
    cr_assert_eq(export_as(CM_EXPORT_GLTF, 0, UINT64_MAX, 4), CAROM_OK, "%s", error.message);
    size_t size = (size_t)file_size(out, "");
    uint8_t *bytes = malloc(size);
    FILE *file = fopen(out, "rb");
    cr_assert_eq(fread(bytes, 1, size, file), size);
    fclose(file);
    cr_assert_arr_eq(bytes, "glTF\2\0\0\0", 8);
    cr_assert_eq(u32_at(bytes + 8), size);
    uint32_t json = u32_at(bytes + 12);
    cr_assert_arr_eq(bytes + 16, "JSON", 4);
    cr_assert_eq(json % 4, 0u);
    cr_assert_arr_eq(bytes + 20 + json + 4, "BIN", 4);
    uint32_t binary = u32_at(bytes + 20 + json);
    cr_assert_eq(28 + json + binary, size);
    char length[64], *text = (char *)bytes + 20;
    text[json] = '\0'; // the binary's length was read
    snprintf(length, sizeof length, "\"buffers\": [{\"byteLength\": %u}]", (unsigned)binary);
    cr_assert_not_null(strstr(text, length), "%s", text + json - 80);
    cr_assert_not_null(strstr(text, "{\"name\": \"ground\""));
    uint32_t channels = 0;
    for (const char *at = text; (at = strstr(at, "\"sampler\":")) != NULL; at++) {
        channels++;
    }
    cr_assert_eq(channels, 28u * 2u + 3u, "three players come after the first sample");
    compare_glb_tracks(bytes + 28 + json, 0, TICKS / 4 + 1, 4);
    free(bytes);
    strcpy(out, "/proc/none.glb"); // its tracks are kept beside it, on a disk that it says
    cr_expect_eq(export_as(CM_EXPORT_GLTF, 0, UINT64_MAX, 4), CAROM_ERROR_IO);
    cr_expect_not_null(strstr(error.message, "/proc/none.glb: no file for its tracks beside it"),
                       "%s", error.message);
}

// EXPORT_FILE.md holds every table and view, as an export has them.
Test(export_match, the_document_has_the_schema)
{
    static const char *const texts[] = {
#define TEXT(text) text,
        CM_EXPORT_SCHEMA(TEXT) CM_EXPORT_SANDBOX_SCHEMA(TEXT)
#undef TEXT
    };
    static char document[1 << 16];
    FILE *file = fopen("server/record/format/EXPORT_FILE.md", "r");
    document[fread(document, 1, sizeof document - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_expect_not_null(strstr(document, texts[i]), "%s", texts[i]);
    }
}
