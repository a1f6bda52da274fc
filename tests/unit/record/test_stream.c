// A match's stream: its chunks follow from the match file alone, a viewer that has nothing else
// runs the match again, and a changed byte is named.
//
// Method: a small sandbox game is recorded, keyframes at each half second, and its chunks are made,
// opened, checked and run. Chunk 5 begins with tick 600, which is a keyframe's.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_names.h"
#include "server/record/format/stream_dir.h"
#include "server/record/replay/match_change.h"
#include "server/record/replay/stream_check.h"
#include "shared/room/stream.h"
#include "shared/wire/chunk_file.h"
#include "shared/wire/crypto.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/record/recording.h"

#define TICKS  700u
#define CHUNKS 6u // five whole ones, and 101 ticks

TestSuite(stream, .init = recording_setup, .fini = recording_teardown);

static const uint8_t secret[CM_KEY_BYTES] = {1, 2, 3};

typedef struct chunks {
    uint32_t count;
    uint8_t *body[16];
    size_t size[16];
    uint8_t hash[16][CM_CHUNK_HASH];
    cm_match_chunk told[16];
} chunks;

static void make_chunks(const char *path, chunks *out)
{
    cm_match_file *file;
    cm_match_chunks *made;
    cm_match_error error;
    carom_result result;
    memset(out, 0, sizeof *out);
    cr_assert_eq(cm_match_open(path, &file, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(cm_match_chunks_create(file, &made, &error), CAROM_OK);
    cm_match_chunk *told = out->told;
    while ((result = cm_match_chunks_next(made, 0, told, &error)) == CAROM_OK) {
        cr_assert_lt(out->count, 16u);
        out->size[out->count] = told->size;
        out->body[out->count] = malloc(told->size);
        memcpy(out->body[out->count], told->body, told->size);
        memcpy(out->hash[out->count++], told->hash, CM_CHUNK_HASH);
        told++;
    }
    cr_assert_eq(result, CAROM_ERROR_NOT_FOUND, "%s", error.message);
    cm_match_chunks_destroy(made);
    cm_match_close(file);
}

static void free_chunks(chunks *of)
{
    for (uint32_t i = 0; i < of->count; i++) {
        free(of->body[i]);
    }
}

static void expect_same(const chunks *a, const chunks *b)
{
    cr_assert_eq(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        cr_assert_eq(a->size[i], b->size[i], "chunk %u", i);
        cr_assert_arr_eq(a->body[i], b->body[i], a->size[i], "chunk %u", i);
    }
}

static carom_result run_chunk(cm_stream *stream, cm_stream_error *error)
{
    carom_result result;
    while ((result = cm_stream_step(stream, error)) == CAROM_OK) {
    }
    return result;
}

static carom_result open_stream(const chunks *of, cm_stream **stream, cm_stream_error *error)
{
    return cm_stream_open(of->body[0], of->size[0], of->hash[0], NULL, stream, error);
}

static carom_result load(cm_stream *stream, const chunks *of, uint32_t i, cm_stream_error *error)
{
    return cm_stream_load(stream, of->body[i], of->size[i], of->hash[i], error);
}

// Goal: a viewer that has chunks alone comes to the state that was recorded, and knows the end.
Test(stream, a_viewer_runs_the_match_again)
{
    uint64_t hash = recording_make(TICKS, 5);
    chunks made;
    cm_stream *stream;
    cm_stream_error error;
    make_chunks(recording_path(), &made);
    cr_assert_eq(made.count, CHUNKS);
    cr_assert_eq(open_stream(&made, &stream, &error), CAROM_OK, "%s", error.message);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        cr_assert(i == 0 || load(stream, &made, i, &error) == CAROM_OK, "%s", error.message);
        cr_assert_eq(run_chunk(stream, &error), CAROM_ERROR_NOT_FOUND, "%s", error.message);
        cr_assert_eq(made.told[i].first_tick, i * 120u);
        cr_assert_eq(made.told[i].tick_count, i < 5 ? 120u : 101u);
        cr_assert_eq(made.told[i].has_keyframe, i == 5);
        cr_assert_eq(made.told[i].is_last, i == 5);
    }
    cr_assert_eq(carom_game_tick(cm_stream_game(stream)), TICKS);
    cr_assert_eq(cm_game_hash(cm_stream_game(stream)), hash);
    cr_assert_eq(cm_stream_end(stream), CM_MATCH_ENDED);
    cr_assert_eq(cm_stream_match(stream), RECORDING_ID);
    cm_stream_close(stream);
    free_chunks(&made);
}

// Goal: a seek goes to a keyframe without the chunks before it, and to nothing else.
Test(stream, a_seek_goes_to_a_keyframe)
{
    uint64_t hash = recording_make(TICKS, 5);
    chunks made;
    cm_stream *stream;
    cm_stream_error error;
    make_chunks(recording_path(), &made);
    cr_assert_eq(open_stream(&made, &stream, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(load(stream, &made, 3, &error), CAROM_ERROR_STATE);
    cr_assert_eq(load(stream, &made, 1, &error), CAROM_ERROR_STATE, "its ticks are not run yet");
    cr_assert_eq(load(stream, &made, 5, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(carom_game_tick(cm_stream_game(stream)), 600u);
    cr_assert_eq(run_chunk(stream, &error), CAROM_ERROR_NOT_FOUND, "%s", error.message);
    cr_assert_eq(cm_game_hash(cm_stream_game(stream)), hash);
    cm_stream_close(stream);
    free_chunks(&made);
}

// Those of player 101, whose first one is under tick 35, and of others, which stay.
static void expect_names(bool there)
{
    char *text;
    size_t size;
    cm_match_error error;
    cr_assert_eq(cm_match_names(recording_path(), &text, &size, &error), CAROM_OK, "%s",
                 error.message);
    cr_assert_eq(strlen(text), size);
    cr_assert_eq(strstr(text, "\"client_id\": \"101\"") != NULL, there, "%s", text);
    cr_assert_not_null(strstr(text, "\"client_id\": \"102\", \"name\": \"player "), "%s", text);
    free(text);
}

// Goal: what is made again is the same to the last byte, also from a file whose names were erased;
// and no name is in it.
Test(stream, the_same_bytes_again_without_names)
{
    chunks made, again;
    cm_match_error error;
    uint32_t rows;
    recording_make(TICKS, 6);
    make_chunks(recording_path(), &made);
    expect_names(true);
    cr_assert_eq(cm_match_erase(recording_path(), 101, &rows, &error), CAROM_OK);
    cr_assert_gt(rows, 0u);
    expect_names(false);
    make_chunks(recording_path(), &again);
    expect_same(&made, &again);
    for (uint32_t i = 0; i < made.count; i++) {
        cr_assert_null(memmem(made.body[i], made.size[i], "player 1", 8), "chunk %u", i);
    }
    free_chunks(&again);
    free_chunks(&made);
}

// Goal: what was cut while the match went on is what its file gives at the end; the delay holds
// chunks back; a match that ends with a whole chunk tells its end in one of no ticks.
Test(stream, a_chunk_is_cut_once)
{
    cm_store *store = recording_store(false);
    recording run;
    chunks early, late;
    cm_match_error error;
    char copy[160];
    recording_begin(&run, store, 3, 9);
    run.keyframe_every = 30;
    snprintf(copy, sizeof copy, "%s/copy.match", recording_folder);
    recording_play(&run, 400);
    cr_assert_eq(cm_store_backup(store, run.match, copy), CAROM_OK);
    cm_store_flush(store);
    make_chunks(copy, &early);
    cr_assert_eq(early.count, 3u, "400 ticks, without an end");
    cm_match_file *file;
    cm_match_chunks *held;
    cm_match_chunk told;
    cr_assert_eq(cm_match_open(copy, &file, &error), CAROM_OK);
    cr_assert_eq(cm_match_chunks_create(file, &held, &error), CAROM_OK);
    cr_assert_eq(cm_match_chunks_next(held, 281, &told, &error), CAROM_OK);
    cr_assert_eq(cm_match_chunks_next(held, 281, &told, &error), CAROM_ERROR_NOT_FOUND);
    cr_assert_eq(cm_match_chunks_next(held, 161, &told, &error), CAROM_OK);
    cm_match_chunks_destroy(held);
    cm_match_close(file);
    recording_play(&run, 79);
    cm_store_end(store, run.match, CM_MATCH_DRAINED);
    cm_store_destroy(store);
    recording_free(&run);
    make_chunks(recording_path(), &late);
    cr_assert_eq(late.count, 5u);
    cr_assert_eq(late.told[3].tick_count, 120u);
    cr_assert_not(late.told[3].is_last);
    cr_assert_eq(late.told[4].tick_count, 0u);
    cr_assert(late.told[4].is_last);
    late.count = 3;
    expect_same(&early, &late);
    free_chunks(&early);
    late.count = 5;
    free_chunks(&late);
}

static uint32_t cut_so_far(const char *folder)
{
    cm_stream_report report;
    cm_match_error error;
    return cm_stream_check(folder, NULL, &report, &error) == CAROM_OK ? report.chunks : 0;
}

// Goal: the store cuts the stream of a match that it writes after its commits, as late as it is
// told, of one with secrets at its end; and what it cut is what the file gives.
Test(stream, the_store_cuts_a_running_match)
{
    const uint64_t delays[] = {60, UINT64_MAX};
    char folder[160], copy[160];
    recording_secret = secret;
    for (uint32_t i = 0; i < 2; i++) {
        recording run;
        cm_stream_report report, again;
        cm_match_error error;
        cm_match_status status;
        cm_match_file *file;
        cm_stream_dir *dir;
        uint32_t made;
        uint64_t id = RECORDING_ID + i;
        cm_store *store = recording_store(false);
        recording_begin_as(&run, store, id, 3, 11);
        run.keyframe_every = 30;
        cm_store_stream(store, run.match, delays[i]);
        snprintf(folder, sizeof folder, "%s/" CM_STREAM_FOLDER "/%016llx/0", recording_folder,
                 (unsigned long long)id);
        recording_play(&run, 150);
        cm_store_pump(store);
        cr_assert_eq(cut_so_far(folder), 0u);
        recording_play(&run, 29);
        cm_store_pump(store);
        cr_assert_eq(cut_so_far(folder), i == 0 ? 1u : 0u, "179 is 60 after 119");
        recording_play(&run, 600);
        cr_assert_eq(cut_so_far(folder), i == 0 ? 1u : 0u, "nothing of it is committed");
        cm_store_pump(store);
        cr_assert_eq(cut_so_far(folder), i == 0 ? 6u : 0u);
        cm_store_end(store, run.match, CM_MATCH_ENDED);
        cm_store_pump(store);
        cm_store_status(store, run.match, &status);
        cr_assert(status.durable && status.unstreamed[0] == '\0', "%s", status.unstreamed);
        cm_store_destroy(store);
        recording_free(&run);
        cr_assert_eq(cm_stream_check(folder, NULL, &report, &error), CAROM_OK, "%s", error.message);
        cr_assert_eq(report.end, CM_MATCH_ENDED);
        cr_assert_eq(report.ticks, 779u);
        cr_assert(report.is_signed && report.keyframes == 1);
        snprintf(copy, sizeof copy, "%s/%016llx.match", recording_folder, (unsigned long long)id);
        cr_assert_eq(cm_match_open(copy, &file, &error), CAROM_OK, "%s", error.message);
        cr_assert_eq(cm_stream_dir_create(recording_folder, file, NULL, &dir, &error), CAROM_OK);
        cr_assert_eq(cm_stream_dir_step(dir, 0, UINT32_MAX, &made, &error), CAROM_OK);
        snprintf(folder, sizeof folder, "%s/0", cm_stream_dir_path(dir));
        cr_assert_eq(cm_stream_check(folder, NULL, &again, &error), CAROM_OK, "%s", error.message);
        cr_assert_arr_eq(again.chain, report.chain, sizeof report.chain);
        cm_stream_dir_destroy(dir);
        cm_match_close(file);
    }
}

// Goal: a folder is a cache: one that is removed amid a match is there again, whole, at its end.
Test(stream, a_removed_folder_loses_nothing)
{
    recording run;
    cm_stream_report report;
    cm_match_error error;
    cm_match_status status;
    char folder[160], command[192];
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 2, 3);
    cm_store_stream(store, run.match, 0);
    snprintf(folder, sizeof folder, "%s/" CM_STREAM_FOLDER "/%016llx/0", recording_folder,
             (unsigned long long)RECORDING_ID);
    recording_play(&run, 300);
    cm_store_pump(store);
    cr_assert_eq(cut_so_far(folder), 2u);
    snprintf(command, sizeof command, "rm -r %s/" CM_STREAM_FOLDER, recording_folder);
    cr_assert_eq(system(command), 0);
    recording_play(&run, 300);
    cm_store_pump(store);
    cr_assert_eq(cut_so_far(folder), 5u);
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_pump(store);
    cm_store_status(store, run.match, &status);
    cr_assert(status.durable && status.unstreamed[0] == '\0', "%s", status.unstreamed);
    cm_store_destroy(store);
    recording_free(&run);
    cr_assert_eq(cm_stream_check(folder, NULL, &report, &error), CAROM_OK, "%s", error.message);
    cr_assert_eq(report.ticks, 600u);
    cr_assert_eq(report.end, CM_MATCH_ENDED);
}

// Goal: viewers of a match that nobody can go on with are told its end, in the folder that they
// know.
Test(stream, a_cut_match_ends_its_stream)
{
    recording run;
    cm_stream_report report;
    cm_match_error error;
    char folder[160];
    snprintf(folder, sizeof folder, "%s/" CM_STREAM_FOLDER "/%016llx/0", recording_folder,
             (unsigned long long)RECORDING_ID);
    cm_store *store = recording_store(false);
    recording_begin(&run, store, 2, 3);
    cm_store_stream(store, run.match, 0);
    recording_play(&run, 300);
    cm_store_pump(store);
    cm_store_end(store, run.match, CM_MATCH_LIVE);
    cm_store_destroy(store);
    recording_free(&run);
    cr_assert_eq(cm_stream_check(folder, NULL, &report, &error), CAROM_OK, "%s", error.message);
    cr_assert(report.end == CM_MATCH_LIVE && report.ticks == 239);
    store = recording_store(false);
    cr_assert_eq(cm_store_cut(store, RECORDING_ID), CAROM_OK, "%s", cm_store_begin_error(store));
    cm_store_destroy(store);
    cr_assert_eq(cm_stream_check(folder, NULL, &report, &error), CAROM_OK, "%s", error.message);
    cr_assert(report.end == CM_MATCH_CUT && report.ticks == 300);
}

// Goal: where the folder cannot be made the match goes on, says so, and its file gives the stream.
Test(stream, a_folder_that_cannot_be_written_ends_the_stream_alone)
{
    recording run;
    cm_match_status status;
    cm_store *store = recording_store(false);
    char path[160];
    snprintf(path, sizeof path, "%s/" CM_STREAM_FOLDER, recording_folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fclose(file);
    recording_begin(&run, store, 2, 3);
    cm_store_stream(store, run.match, 0);
    recording_play(&run, 10);
    cm_store_pump(store);
    cm_store_status(store, run.match, &status);
    cr_assert(status.durable);
    cr_assert_neq(status.unstreamed[0], '\0');
    cm_store_end(store, run.match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    recording_free(&run);
    chunks made;
    make_chunks(recording_path(), &made);
    cr_assert_eq(made.count, 1u);
    free_chunks(&made);
}

// Goal: under a signature no byte of a file can change: it is refused, is not by the key, or says
// the very same (a bit of zstd that means nothing).
Test(stream, a_signed_file_is_all_or_nothing)
{
    chunks made;
    uint8_t key[CM_KEY_BYTES];
    cm_chunk_opened opened;
    size_t size;
    uint32_t refused = 0, foreign = 0, same = 0;
    recording_make(130, 7);
    make_chunks(recording_path(), &made);
    cm_crypto_sign_public(secret, key);
    uint8_t *file = cm_chunk_seal(made.body[1], made.size[1], secret, &size);
    cr_assert_null(cm_chunk_open(file, size, &opened));
    cr_assert(cm_chunk_is_by(&opened, key));
    cr_assert_arr_eq(opened.hash, made.hash[1], CM_CHUNK_HASH);
    free(opened.body);
    for (size_t i = 0; i < 8 * size; i++) {
        file[i / 8] ^= (uint8_t)(1u << (i % 8));
        if (cm_chunk_open(file, size, &opened) != NULL) {
            refused++;
        } else {
            bool is_theirs = cm_chunk_is_by(&opened, key);
            foreign += !is_theirs;
            same += is_theirs;
            cr_assert(!is_theirs || (opened.size == made.size[1] &&
                                     memcmp(opened.body, made.body[1], opened.size) == 0),
                      "bit %zu", i);
            free(opened.body);
        }
        file[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
    cr_assert(refused > 100 && foreign > 500 && same < 8, "%u %u %u", refused, foreign, same);
    for (size_t cut = 0; cut < size; cut++) {
        cr_assert_not_null(cm_chunk_open(file, cut, &opened), "%zu bytes", cut);
    }
    free(file);
    free_chunks(&made);
}

// Loads chunks up to `changed`, whose body has a changed bit, and what follows it. True if an error
// names that chunk, or the one after it, which knows its hash.
static bool is_named(const chunks *made, uint32_t changed, size_t bit)
{
    chunks other = *made;
    cm_stream *stream = NULL;
    cm_stream_error error = {""};
    char expected[32], after[32];
    uint8_t *body = malloc(made->size[changed]);
    memcpy(body, made->body[changed], made->size[changed]);
    body[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    other.body[changed] = body;
    cm_chunk_hash(body, made->size[changed], other.hash[changed]);
    carom_result result = open_stream(&other, &stream, &error);
    for (uint32_t i = 0; result == CAROM_OK && i < changed + 2; i++) {
        result = i > 0 ? load(stream, &other, i, &error) : CAROM_OK;
        result = result == CAROM_OK ? run_chunk(stream, &error) : result;
        result = result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
    }
    cm_stream_close(stream);
    free(body);
    snprintf(expected, sizeof expected, "chunk %u: ", changed);
    snprintf(after, sizeof after, "chunk %u: ", changed + 1);
    // A changed number is told as it is.
    bool told_number = bit / 8 >= 24 && bit / 8 < 28;
    return result != CAROM_OK && (told_number || strncmp(error.message, expected, 9) == 0 ||
                                  strncmp(error.message, after, 9) == 0);
}

// Goal: without a signature a viewer still names the chunk where something was changed, at the
// latest by the next one, which holds its hash. Method: a bit in each part of a body.
Test(stream, a_changed_bit_is_named)
{
    chunks made;
    recording_make(400, 8);
    make_chunks(recording_path(), &made);
    for (uint32_t changed = 0; changed < 3; changed++) {
        size_t step = made.size[changed] * 8 / 150 | 1;
        for (size_t bit = changed; bit < made.size[changed] * 8; bit += bit < 640 ? 5 : step) {
            cr_assert(is_named(&made, changed, bit), "chunk %u, bit %zu", changed, bit);
        }
    }
    free_chunks(&made);
}

// Goal: bytes that no server made are refused, within the limits.
Test(stream, hostile_bodies_are_refused)
{
    chunks made;
    cm_chunk chunk;
    recording_make(130, 7);
    make_chunks(recording_path(), &made);
    for (size_t cut = 0; cut < made.size[0]; cut++) {
        uint8_t *body = malloc(cut > 0 ? cut : 1);
        memcpy(body, made.body[0], cut);
        cr_assert_not_null(cm_chunk_read(body, cut, &chunk), "%zu bytes", cut);
        free(body);
    }
    cm_stream *stream;
    cm_stream_error error;
    cr_assert_eq(cm_stream_open(made.body[1], made.size[1], made.hash[1], NULL, &stream, &error),
                 CAROM_ERROR_CORRUPT, "no head");
    cr_assert_null(stream);
    free_chunks(&made);
}

// The command ----------------------------------------------------------------------------------

static void spoil(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file, "%s", path);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

// Goal: `match stream` and `match verify` as users run them, and what each fault says.
Test(stream, the_commands)
{
    char command[512], out[128], path[256], key[72];
    uint8_t half[CM_KEY_BYTES];
    command_result ran;
    recording_secret = secret;
    recording_make(TICKS, 5);
    cm_crypto_sign_public(secret, half);
    cm_crypto_hex(half, sizeof half, key);
    snprintf(out, sizeof out, "%s/%016llx/0", recording_folder, (unsigned long long)RECORDING_ID);
    snprintf(command, sizeof command, "match stream %s --out %s", recording_path(),
             recording_folder);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_not_null(strstr(ran.out, "\"chunks\": 6, \"complete\": true, \"signed\": false"),
                       "%s", ran.out);
    snprintf(command, sizeof command, "match verify %s", out);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_not_null(strstr(ran.out, "verified 6 chunks"), "%s", ran.out);
    cr_assert_not_null(strstr(ran.out, "consistent, complete"), "%s", ran.out);
    snprintf(command, sizeof command, "match verify %s --pubkey %s", out, key);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 1, "it is not signed");
    snprintf(path, sizeof path, "%s/2.chunk", out);
    spoil(path, 90);
    snprintf(command, sizeof command, "match verify %s", out);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 1);
    cr_assert_not_null(strstr(ran.err, "chunk 2: "), "%s", ran.err);
    cr_assert_eq(remove(path), 0);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 1);
    cr_assert_not_null(strstr(ran.err, "chunk 2: it is missing"), "%s", ran.err);
}

// Goal: the folder that a server signs is authentic, and one signed by another key is not.
Test(stream, a_signed_folder_is_authentic)
{
    char out[128], path[256];
    cm_match_file *file;
    cm_match_error error;
    cm_stream_dir *dir;
    cm_stream_report report;
    uint32_t chunks_made;
    static const uint8_t other[CM_KEY_BYTES] = {9};
    recording_secret = secret;
    recording_make(300, 5);
    snprintf(out, sizeof out, "%s/%016llx/0", recording_folder, (unsigned long long)RECORDING_ID);
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert_eq(cm_match_open(recording_path(), &file, &error), CAROM_OK);
        cr_assert_eq(
            cm_stream_dir_create(recording_folder, file, i == 0 ? secret : other, &dir, &error),
            CAROM_OK, "%s", error.message);
        cr_assert_eq(cm_stream_dir_step(dir, 0, 100, &chunks_made, &error), CAROM_OK);
        cr_assert_eq(chunks_made, 3u);
        cm_stream_dir_destroy(dir);
        cm_match_close(file);
        carom_result result = cm_stream_check(out, NULL, &report, &error);
        cr_assert_eq(result, i == 0 ? CAROM_OK : CAROM_ERROR_CORRUPT, "%s", error.message);
        cr_assert(i == 1 || report.is_signed);
    }
    cr_assert_not_null(strstr(error.message, "chunk 0: not signed by the key"), "%s",
                       error.message);
    snprintf(path, sizeof path, "%s/../index.json", out);
    cr_assert_gt(file_size(path, ""), 100u);
}
