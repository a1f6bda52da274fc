// A match file that was changed is never taken for the one that was recorded.
//
// Method: a signed recording with events, personal rows, arrivals, statistics and keyframes is
// changed in every column of every table in every way that SQL knows (another value, another type,
// NULL, a flipped bit, a row deleted, doubled, swapped with its neighbour). As it is, none may be
// complete; with its chain made again, as an enemy would, none may be authentic.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/record/format/chain.h"
#include "server/record/replay/replay.h"
#include "server/record/format/sign_key.h"
#include "tests/unit/counts.h"
#include "tests/unit/cli/command.h"
#include "tests/unit/record/recording.h"

TestSuite(proof, .init = recording_setup, .fini = recording_teardown);

#define TICKS 50

static const uint8_t secret[CM_KEY_BYTES] = {1, 2, 3}, other_secret[CM_KEY_BYTES] = {4, 5, 6};
static uint8_t public_key[CM_KEY_BYTES];
static char copy_path[160];

static void make_signed(void)
{
    cr_assert(cm_crypto_init());
    cm_crypto_sign_public(secret, public_key);
    recording_secret = secret;
    recording_make(TICKS, 21);
    snprintf(copy_path, sizeof copy_path, "%s/changed", recording_folder);
}

static void copy_again(void)
{
    char bytes[65536];
    size_t size;
    FILE *in = fopen(recording_path(), "rb"), *out = fopen(copy_path, "wb");
    cr_assert(in != NULL && out != NULL);
    while ((size = fread(bytes, 1, sizeof bytes, in)) > 0) {
        cr_assert_eq(fwrite(bytes, 1, size, out), size);
    }
    fclose(in);
    fclose(out);
}

static carom_result verify(cm_replay_report *report)
{
    cm_replay_options options = {.public_key = public_key};
    return cm_replay_verify(copy_path, &options, report);
}

Test(proof, a_signed_recording_is_authentic)
{
    cm_replay_report report;
    make_signed();
    copy_again();
    cr_assert_eq(verify(&report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_AUTHENTIC, "%s", report.proof.changed);
    cr_assert(report.complete);
    cr_assert_eq(report.proof.signed_tick, TICKS);
    cr_assert_gt(report.proof.personal, 1);
    cm_crypto_sign_public(other_secret, public_key);
    cr_assert_eq(verify(&report), CAROM_OK);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT);
    cr_assert_eq(cm_replay_verify(copy_path, NULL, &report), CAROM_OK);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT);
}

// Changes -------------------------------------------------------------------------------------

// C: the column, T: the table, R: the row in the middle, as conditions of SQL.
static const char *const column_changes[] = {
    "UPDATE T SET C = NULL WHERE R",
    "UPDATE T SET C = C + 1 WHERE R AND typeof(C) = 'integer'",
    "UPDATE T SET C = C - 1 WHERE R AND typeof(C) = 'integer'",
    "UPDATE T SET C = -7 WHERE R",
    "UPDATE T SET C = 9223372036854775807 WHERE R",
    "UPDATE T SET C = 0.5 WHERE R",
    "UPDATE T SET C = 'text' WHERE R",
    "UPDATE T SET C = 'a' || substr(C, 2) WHERE R AND typeof(C) = 'text'",
    "UPDATE T SET C = substr(C, 1, length(C) - 1) WHERE R AND typeof(C) = 'text'",
    "UPDATE T SET C = C || '1' WHERE R AND typeof(C) = 'text'",
    "UPDATE T SET C = x'' WHERE R",
    "UPDATE T SET C = x'0100000000000000' WHERE R",
    "UPDATE T SET C = flip(C, 0.02) WHERE R",
    "UPDATE T SET C = flip(C, 0.3) WHERE R",
    "UPDATE T SET C = flip(C, 0.5) WHERE R",
    "UPDATE T SET C = flip(C, 0.7) WHERE R",
    "UPDATE T SET C = flip(C, 0.99) WHERE R",
    "UPDATE T SET C = (SELECT C FROM T ORDER BY 1 DESC LIMIT 1) WHERE R",
};

// A bit of a blob, a digit of a text or number, at a part of its length.
static void flip(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    uint8_t bytes[200000];
    double at = sqlite3_value_double(values[1]);
    int size = sqlite3_value_bytes(values[0]);
    if (sqlite3_value_type(values[0]) != SQLITE_BLOB || size == 0 || size > (int)sizeof bytes) {
        sqlite3_result_value(context, values[0]);
        return;
    }
    memcpy(bytes, sqlite3_value_blob(values[0]), (size_t)size);
    bytes[(int)(at * size)] ^= 0x10;
    sqlite3_result_blob(context, bytes, size, SQLITE_TRANSIENT);
}

static void append(sqlite3_context *context, int count, sqlite3_value **values);

// The text with T, C and R put in.
static void spell(char *out, size_t size, const char *sql, const char *table, const char *column,
                  const char *row)
{
    size_t at = 0;
    for (const char *c = sql; *c != '\0' && at + 100 < size; c++) {
        bool alone = (c == sql || !((c[-1] >= 'A' && c[-1] <= 'Z') || c[-1] == '\'')) &&
                     !(c[1] >= 'A' && c[1] <= 'Z');
        const char *with = alone && *c == 'T'   ? table
                           : alone && *c == 'C' ? column
                           : alone && *c == 'R' ? row
                                                : NULL;
        if (with != NULL) {
            at += (size_t)snprintf(out + at, size - at, "%s", with);
        } else {
            out[at++] = *c;
        }
    }
    out[at] = '\0';
}

// Applies it to the copy. False where nothing of the file is another one afterwards.
static bool apply(const char *sql)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(copy_path, &db), SQLITE_OK);
    sqlite3_create_function(db, "flip", 2, SQLITE_UTF8, NULL, flip, NULL, NULL);
    sqlite3_create_function(db, "append", 2, SQLITE_UTF8, NULL, append, NULL, NULL);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    sqlite3_exec(db, sql, NULL, NULL, NULL); // one that breaks a constraint changes nothing
    bool is_changed = sqlite3_total_changes(db) > 0;
    sqlite3_close(db);
    return is_changed;
}

// What the enemy does: the chain as the rows now give it, and a signature by a key of its own, or
// none. False where the file cannot be read to its end.
static bool make_chain_again(bool sign)
{
    char sql[512], hex[2 * CM_CHAIN_BYTES + 1], signature_hex[2 * CM_SIGNATURE_BYTES + 1];
    uint8_t own_key[CM_KEY_BYTES], signature[CM_SIGNATURE_BYTES];
    cm_crypto_sign_public(other_secret, own_key);
    for (size_t i = 0; i < sizeof own_key; i++) {
        snprintf(hex + 2 * i, 3, "%02x", own_key[i]);
    }
    snprintf(sql, sizeof sql,
             "UPDATE meta SET value = '%s' WHERE key = 'sign_key';"
             "UPDATE links SET signature = NULL; UPDATE last SET signature = NULL",
             sign ? hex : "");
    apply(sql);
    for (int i = 0; i < 2 * TICKS; i++) {
        cm_match_file *file;
        cm_match_error error;
        cm_proof proof;
        if (cm_match_open(copy_path, &file, &error) != CAROM_OK) {
            return false;
        }
        carom_result result = cm_match_prove(file, NULL, &proof, &error);
        cm_match_close(file);
        if (result != CAROM_OK || proof.verdict != CM_PROOF_CHANGED) {
            return result == CAROM_OK;
        }
        char table[8];
        unsigned long long tick;
        if (sscanf(proof.changed, "%7[^:]: row %llu", table, &tick) != 2) {
            return false; // a cut or a text: no link can mend it
        }
        cm_chain chain;
        memcpy(chain.value, proof.chain, sizeof chain.value);
        cm_chain_sign(&chain, tick, other_secret, signature);
        for (size_t at = 0; at < sizeof chain.value; at++) {
            snprintf(hex + 2 * at, 3, "%02x", chain.value[at]);
        }
        for (size_t at = 0; at < sizeof signature; at++) {
            snprintf(signature_hex + 2 * at, 3, "%02x", signature[at]);
        }
        snprintf(sql, sizeof sql,
                 "UPDATE %s SET chain = x'%s', signature = %s%s%s WHERE tick = %llu", table, hex,
                 sign ? "x'" : "NULL", sign ? signature_hex : "", sign ? "'" : "", tick);
        apply(sql);
    }
    return false;
}

typedef struct counts {
    uint32_t files, changed, unreadable, diverged, equal, chained, chained_consistent;
} counts;

static void try_change(const char *sql, bool packed, counts *seen)
{
    cm_replay_report report;
    copy_again();
    if (!apply(sql)) {
        return;
    }
    seen->files++;
    carom_result result = verify(&report);
    bool whole = result == CAROM_OK && report.proof.verdict == CM_PROOF_AUTHENTIC;
    // Bits of a zstd frame that mean nothing, and a value put in the place of an equal one: the
    // chain over what it decodes to is the one that was signed.
    seen->equal += whole;
    cr_expect(!whole || packed, "%s: is authentic", sql);
    cr_expect(whole || result != CAROM_OK || !report.complete, "%s: is complete", sql);
    seen->changed += result == CAROM_OK && report.proof.verdict == CM_PROOF_CHANGED;
    seen->diverged += result == CAROM_ERROR_DIVERGED;
    seen->unreadable += result != CAROM_OK && result != CAROM_ERROR_DIVERGED;
    if (!whole && make_chain_again(seen->files % 2 == 0)) {
        seen->chained++;
        result = verify(&report);
        cr_expect_neq(report.proof.verdict, CM_PROOF_AUTHENTIC, "%s: is authentic", sql);
        seen->chained_consistent += report.proof.verdict == CM_PROOF_CONSISTENT;
    }
}

static void change_rows(const char *table, const char *row, counts *seen)
{
    char sql[512];
    static const char *const changes[] = {
        "DELETE FROM T WHERE R",
        "DELETE FROM T",
        "DELETE FROM T WHERE (SELECT count(*) FROM T) > 1 AND NOT (R)",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        spell(sql, sizeof sql, changes[i], table, "", row);
        try_change(sql, false, seen);
    }
}

static const struct {
    const char *table, *rows[3]; // conditions that choose one row each
    const char *columns;
} tables[] = {
    {"meta", {"key = 'seed'", "key = 'started_unix_ms'", "key = 'module'"}, "key value"},
    {"meta", {"key = 'engine_text'", "key = 'sign_key'", "key = 'match_id'"}, "value"},
    {"scene", {"id = 0", NULL, NULL}, "id packed"},
    {"ticks", {"tick = 25", "tick = 50", "tick = 0"}, "tick hash"},
    {"events", {"number = 1", "number = 2", NULL}, "tick number type player client_id payload"},
    {"packs", {"tick = 30", "tick = 50", NULL}, "tick first packed"},
    {"personal",
     {"number = 0", "number = 2", NULL},
     "number tick client_id kind commitment salt value"},
    {"statistics", {"player = 1", NULL, NULL}, "tick player inputs late rewound_ticks refused"},
    {"keyframes", {"tick = 30", NULL, NULL}, "tick base packed"},
    {"links", {"tick = 30", NULL, NULL}, "tick chain signature"},
    {"last", {"id = 0", NULL, NULL}, "id tick how chain signature"},
};

static void change_columns(size_t which, const char *row, counts *seen)
{
    char columns[128], sql[512];
    snprintf(columns, sizeof columns, "%s", tables[which].columns);
    for (char *column = strtok(columns, " "); column != NULL; column = strtok(NULL, " ")) {
        for (size_t i = 0; i < sizeof column_changes / sizeof column_changes[0]; i++) {
            char same[600];
            spell(sql, sizeof sql, column_changes[i], tables[which].table, column, row);
            // Only where it becomes another value.
            const char *where = strstr(sql, " WHERE "), *is = strstr(sql, " = ");
            snprintf(same, sizeof same, "%s AND %s IS NOT (%.*s)", sql, column,
                     (int)(where - is - 3), is + 3);
            try_change(same, strcmp(column, "packed") == 0, seen);
        }
    }
}

Test(proof, every_table_column_and_kind_of_change)
{
    counts seen = {0};
    make_signed();
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (size_t row = 0; row < test_count(1, 3) && tables[i].rows[row] != NULL; row++) {
            change_columns(i, tables[i].rows[row], &seen);
            change_rows(tables[i].table, tables[i].rows[row], &seen);
        }
    }
    for (uint32_t last = 1; last <= TICKS; last++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "DELETE FROM ticks WHERE tick >= %u; DELETE FROM packs WHERE tick >= %u;"
                 "DELETE FROM keyframes WHERE tick >= %u; DELETE FROM links WHERE tick >= %u;"
                 "DELETE FROM personal WHERE tick > %u; DELETE FROM statistics WHERE tick >= %u",
                 last, last, last, last, last, last);
        try_change(sql, false, &seen);
    }
    fprintf(stderr,
            "proof: %u files: %u changed, %u unreadable, %u diverged, %u decode to the same; "
            "chain made again for %u, of these %u consistent\n",
            seen.files, seen.changed, seen.unreadable, seen.diverged, seen.equal, seen.chained,
            seen.chained_consistent);
    cr_assert_geq(seen.files, test_count(250, 600));
    cr_assert_gt(seen.changed, test_count(40, 100));
    cr_assert_gt(seen.chained_consistent,
                 test_count(20, 50)); // else the enemy was not able to do anything
    cr_assert_lt(seen.equal, 10);
}

Test(proof, a_cut_is_never_complete)
{
    cm_replay_report report;
    make_signed();
    copy_again();
    apply("DELETE FROM ticks WHERE tick > 40");
    cr_assert_eq(verify(&report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CHANGED);
    cr_assert_not(report.complete);
    cr_assert_not_null(strstr(report.proof.changed, "cut at tick 40"), "%s", report.proof.changed);
    // Neatly, at a keyframe: what is left is signed, and no more.
    copy_again();
    apply(
        "DELETE FROM ticks WHERE tick > 30; DELETE FROM packs WHERE tick > 30;"
        "DELETE FROM personal WHERE tick > 31; UPDATE last SET tick = 30, how = NULL, signature = "
        "NULL, chain = (SELECT chain FROM links WHERE tick = 30)");
    cr_assert_eq(verify(&report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT, "%s", report.proof.changed);
    cr_assert_not(report.complete);
    cr_assert_eq(report.proof.signed_tick, 30);
    cr_assert_eq(report.proof.ticks, 30);
}

// Head ----------------------------------------------------------------------------------------

// The scene's message with some bytes behind it.
static void append(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    size_t size, packed_size, more = (size_t)sqlite3_value_bytes(values[1]);
    uint8_t *message =
        cm_record_expand(sqlite3_value_blob(values[0]), (size_t)sqlite3_value_bytes(values[0]),
                         NULL, 0, CM_SCENE_PACKED_MAX, &size);
    cr_assert_not_null(message);
    message = realloc(message, size + more);
    memcpy(message + size, sqlite3_value_blob(values[1]), more);
    uint8_t *packed = cm_record_compress(message, size + more, NULL, 0, &packed_size);
    sqlite3_result_blob(context, packed, (int)packed_size, SQLITE_TRANSIENT);
    free(packed);
    free(message);
}

// What no tick shows: the chain is made again, and the simulation gives what was recorded.
static void expect_head_changed(const char *sql, const char *says)
{
    cm_replay_report report;
    copy_again();
    cr_assert(apply(sql), "%s", sql);
    cr_assert_not(make_chain_again(false));
    cr_assert_eq(verify(&report), CAROM_OK, "%s: %s", sql, report.error.message);
    cr_expect_eq(report.proof.verdict, CM_PROOF_CHANGED, "%s", sql);
    cr_expect_not(report.complete, "%s", sql);
    cr_expect_str_eq(report.proof.changed, says, "%s", sql);
    cm_match_file *file; // a server that goes on with a match of its own is as strict
    cm_match_error error;
    cm_proof tail;
    cr_assert_eq(cm_match_open_unread(copy_path, &file, &error), CAROM_OK);
    cr_expect_eq(cm_match_prove_tail(file, &tail, &error), CAROM_OK);
    cr_expect_str_eq(tail.changed, says, "%s", sql);
    cr_expect_eq(tail.verdict, CM_PROOF_CHANGED);
    cm_match_close(file);
}

Test(proof, a_head_that_is_not_its_scenes_is_changed)
{
    static const char *const added[] = {
        "0801",   // a field given again: the last one counts
        "088100", // the same number with a byte too many
    };
    char sql[256];
    make_signed();
    expect_head_changed("UPDATE meta SET value = 61 WHERE key = 'tick_rate'",
                        "meta: tick_rate: 61, expected the scene's, 60");
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE scene SET packed = append(packed, x'%s')", added[i]);
        expect_head_changed(sql, "scene: not packed as a server packs it");
    }
}

// Names ---------------------------------------------------------------------------------------

Test(proof, an_erased_text_leaves_a_file_that_verifies)
{
    cm_replay_report report;
    make_signed();
    copy_again();
    apply("UPDATE personal SET salt = NULL, value = NULL WHERE number = 1");
    cr_assert_eq(verify(&report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_AUTHENTIC, "%s", report.proof.changed);
    cr_assert_eq(report.proof.erased, 1);
    copy_again();
    apply("UPDATE personal SET value = 'somebody else' WHERE number = 1");
    cr_assert_eq(verify(&report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CHANGED);
    cr_assert_not_null(strstr(report.proof.changed, "personal"), "%s", report.proof.changed);
}

// Keys ----------------------------------------------------------------------------------------

Test(proof, keys_and_the_command)
{
    char path[128], command[512], error[512];
    uint8_t made[CM_SIGN_KEY_BYTES], read[CM_SIGN_KEY_BYTES], half[CM_SIGN_KEY_BYTES];
    command_result ran;
    snprintf(path, sizeof path, "%s/key", recording_folder);
    cr_assert_eq(cm_sign_key_make(path, made, error, sizeof error), CAROM_OK, "%s", error);
    cr_assert_eq(cm_sign_key_make(path, made, error, sizeof error), CAROM_ERROR_STATE);
    cr_assert_eq(cm_sign_key_read(path, read, error, sizeof error), CAROM_OK, "%s", error);
    cm_crypto_sign_public(read, half);
    recording_secret = read;
    recording_make(TICKS, 3);
    snprintf(command, sizeof command, "replay %s --verify --pubkey %s.pub", recording_path(), path);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 0, "%s", ran.err);
    cr_assert_not_null(strstr(ran.out, ", authentic, complete"), "%s", ran.out);
    snprintf(command, sizeof command, "replay %s --verify --pubkey %064d", recording_path(), 7);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 1);
    cr_assert_not_null(strstr(ran.err, "signed by another key"), "%s", ran.err);
    snprintf(command, sizeof command, "replay %s --verify --pubkey %s", recording_path(), path);
    run_command(command, &ran);
    cr_assert_eq(ran.status, 2, "the secret is no public key");
    cr_assert_eq(chmod(path, 0644), 0);
    cr_assert_eq(cm_sign_key_read(path, read, error, sizeof error), CAROM_ERROR_STATE);
    snprintf(path, sizeof path, "%s/key.pub", recording_folder);
    cr_assert_eq(cm_public_key_read(path, read, error, sizeof error), CAROM_OK, "%s", error);
    cr_assert_arr_eq(read, half, sizeof half);
    cr_assert_eq(chmod(path, 0600), 0);
    cr_assert_eq(cm_sign_key_read(path, read, error, sizeof error), CAROM_ERROR_CORRUPT);
}
