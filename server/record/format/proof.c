// Makes the chain again, row by row in the order of MATCH_FILE.md, and compares it with each link.
// An hour of 8 players is 216,000 ticks and 360 keyframes: 0.5 s.
#include "server/record/format/proof.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_rows.h"
#include "shared/scene/scene.h"

_Static_assert(sizeof((cm_proof *)0)->chain == CM_CHAIN_BYTES, "the chain's");
_Static_assert(CM_PUBLIC_KEY_BYTES == CM_KEY_BYTES, "one size of keys");

typedef struct proving {
    cm_match_file *file;
    cm_proof *proof;
    cm_match_error *error;
    cm_chain chain;
    cm_cursor personal, statistics, keyframes, links;
    bool is_signed;
    uint8_t sign_key[CM_KEY_BYTES];
    uint64_t personal_rows;
} proving;

// The first finding stays.
__attribute__((format(printf, 2, 3))) static carom_result changed(proving *run, const char *format,
                                                                  ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (run->proof->changed[0] == '\0') {
        vsnprintf(run->proof->changed, sizeof run->proof->changed, format, arguments);
    }
    va_end(arguments);
    run->proof->verdict = CM_PROOF_CHANGED;
    return CAROM_ERROR_DIVERGED;
}

static carom_result corrupt(proving *run, const cm_cursor *at, const char *what)
{
    return cm_match_corrupt(run->error, "%s: row %llu: %s", at->table, (unsigned long long)at->tick,
                            what);
}

// Rows of a tick ------------------------------------------------------------------------------

// The text, or nothing where it was erased together with its salt.
static carom_result check_text(proving *run, sqlite3_stmt *row, const cm_chain_personal *found)
{
    uint8_t salt[CM_SALT_BYTES], commitment[CM_CHAIN_BYTES];
    char text[CM_RECORD_PERSONAL_MAX + 1];
    run->proof->personal++;
    if (sqlite3_column_type(row, 5) == SQLITE_NULL && sqlite3_column_type(row, 6) == SQLITE_NULL) {
        run->proof->erased++;
        return CAROM_OK;
    }
    if (!cm_column_bytes(row, 5, salt, sizeof salt) || !cm_column_text(row, 6, text, sizeof text)) {
        return corrupt(run, &run->personal, "expected a salt of 16 bytes and a text, or neither");
    }
    cm_commitment(salt, found->kind, text, strlen(text), commitment);
    if (memcmp(commitment, found->commitment, sizeof commitment) != 0) {
        return changed(run, "personal: row of tick %llu: the text is not the one committed to",
                       (unsigned long long)found->tick);
    }
    return CAROM_OK;
}

static carom_result take_personal(proving *run, uint64_t tick)
{
    carom_result result = CAROM_OK;
    while (result == CAROM_OK && run->personal.has_row && run->personal.tick == tick) {
        sqlite3_stmt *row = run->personal.query;
        cm_chain_personal found = {.tick = tick};
        char kind[16];
        uint64_t number;
        if (!cm_column_u64(row, 1, &number) || number != run->personal_rows++) {
            return corrupt(run, &run->personal, "number: expected 0, 1, 2, … in order of ticks");
        }
        if (!cm_column_id(row, 2, &found.client_id) || !cm_column_text(row, 3, kind, sizeof kind) ||
            !cm_column_bytes(row, 4, found.commitment, sizeof found.commitment)) {
            return corrupt(run, &run->personal, "expected an id, a kind and a hash of 32 bytes");
        }
        found.kind = kind;
        result = check_text(run, row, &found);
        cm_chain_add_personal(&run->chain, &found);
        if (result == CAROM_OK) {
            result = cm_cursor_step(run->file, &run->personal, run->error);
        }
    }
    return result;
}

static carom_result take_statistics(proving *run, uint64_t tick)
{
    carom_result result = CAROM_OK;
    while (result == CAROM_OK && run->statistics.has_row && run->statistics.tick == tick) {
        sqlite3_stmt *row = run->statistics.query;
        cm_player_statistics found;
        uint64_t player;
        if (!cm_column_u64(row, 1, &player) || player >= CAROM_PLAYERS_MAX ||
            !cm_column_u64(row, 2, &found.inputs) || !cm_column_u64(row, 3, &found.late) ||
            !cm_column_u64(row, 4, &found.rewound_ticks) ||
            !cm_column_u64(row, 5, &found.refused)) {
            return corrupt(run, &run->statistics, "expected a player, 0 to 63, and four counts");
        }
        found.player = (uint32_t)player;
        cm_chain_statistics(&run->chain, tick, &found);
        result = cm_cursor_step(run->file, &run->statistics, run->error);
    }
    return result;
}

// Links ---------------------------------------------------------------------------------------

// The chain and the signature in columns `at` and `at` + 1, against ours.
static carom_result check_link(proving *run, sqlite3_stmt *row, int at, const char *table,
                               uint64_t tick, bool wants_signature)
{
    uint8_t value[CM_CHAIN_BYTES], signature[CM_SIGNATURE_BYTES];
    if (!cm_column_bytes(row, at, value, sizeof value)) {
        return cm_match_corrupt(run->error, "%s: row %llu: chain: expected 32 bytes", table,
                                (unsigned long long)tick);
    }
    if (memcmp(value, run->chain.value, sizeof value) != 0) {
        return changed(run, "%s: row %llu: something after tick %llu and up to here was changed",
                       table, (unsigned long long)tick,
                       (unsigned long long)run->proof->linked_tick);
    }
    run->proof->linked_tick = tick;
    if (!run->is_signed || !wants_signature) {
        return sqlite3_column_type(row, at + 1) == SQLITE_NULL
                   ? CAROM_OK
                   : changed(run, "%s: row %llu: a signature where none belongs", table,
                             (unsigned long long)tick);
    }
    if (!cm_column_bytes(row, at + 1, signature, sizeof signature) ||
        !cm_chain_verify(&run->chain, tick, run->sign_key, signature)) {
        return changed(run, "%s: row %llu: not signed by the key that the file names", table,
                       (unsigned long long)tick);
    }
    run->proof->signed_tick = tick;
    return CAROM_OK;
}

static carom_result take_keyframe(proving *run, uint64_t tick)
{
    if (!run->keyframes.has_row || run->keyframes.tick != tick) {
        return CAROM_OK;
    }
    uint64_t found;
    const uint8_t *bytes;
    size_t size;
    carom_result result = cm_match_keyframe(run->file, tick, &found, &bytes, &size, run->error);
    if (result != CAROM_OK) {
        return result;
    }
    cm_chain_keyframe(&run->chain, tick, bytes, size);
    if (!run->links.has_row || run->links.tick != tick) {
        return changed(run, "links: row %llu is not there, and its keyframe is",
                       (unsigned long long)tick);
    }
    result = check_link(run, run->links.query, 1, "links", tick, true);
    if (result == CAROM_OK) {
        result = cm_cursor_step(run->file, &run->links, run->error);
    }
    if (result == CAROM_OK) {
        result = cm_cursor_step(run->file, &run->keyframes, run->error);
    }
    return result;
}

static carom_result take_ticks(proving *run)
{
    cm_recorded_tick tick;
    while (true) {
        carom_result result = cm_match_next(run->file, &tick, run->error);
        if (result != CAROM_OK) {
            return result == CAROM_ERROR_NOT_FOUND ? CAROM_OK : result;
        }
        result = take_personal(run, tick.tick);
        if (result == CAROM_OK) {
            cm_chain_tick(&run->chain, &tick);
            run->proof->ticks = tick.tick;
            result = take_statistics(run, tick.tick);
        }
        if (result == CAROM_OK) {
            result = take_keyframe(run, tick.tick);
        }
        if (result != CAROM_OK) {
            return result;
        }
    }
}

// End -----------------------------------------------------------------------------------------

// Checks that no rows are left over: their ticks were removed, or the rows were added.
static carom_result check_left(proving *run)
{
    const cm_match_file *file = run->file;
    const cm_cursor *cursors[] = {&run->personal, &run->statistics, &run->keyframes, &run->links,
                                  &file->events,  &file->inputs,    &file->packs};
    for (size_t i = 0; i < sizeof cursors / sizeof cursors[0]; i++) {
        if (cursors[i]->has_row) {
            return changed(run, "cut at tick %llu: %s goes on with tick %llu",
                           (unsigned long long)run->proof->ticks, cursors[i]->table,
                           (unsigned long long)cursors[i]->tick);
        }
    }
    if (file->pack_row < cm_record_pack_count(file->pack)) {
        return changed(run, "cut at tick %llu: packs hold inputs of later ticks",
                       (unsigned long long)run->proof->ticks);
    }
    return CAROM_OK;
}

static carom_result take_last(proving *run, sqlite3_stmt *row)
{
    uint64_t id, tick;
    char how[16] = "";
    if (!cm_column_u64(row, 0, &id) || id != 0 || !cm_column_u64(row, 1, &tick)) {
        return cm_match_corrupt(run->error, "last: expected id 0 and a tick");
    }
    bool ended = sqlite3_column_type(row, 2) != SQLITE_NULL;
    if (ended && !cm_column_text(row, 2, how, sizeof how)) {
        return cm_match_corrupt(run->error, "last: how: expected a word");
    }
    if (tick != run->proof->ticks) {
        return changed(run, "cut at tick %llu: the match was recorded up to tick %llu",
                       (unsigned long long)run->proof->ticks, (unsigned long long)tick);
    }
    if (ended) {
        cm_chain_end(&run->chain, tick, how);
    }
    carom_result result = check_link(run, row, 3, "last", tick, ended);
    if (result == CAROM_OK && sqlite3_step(row) == SQLITE_ROW) {
        return changed(run, "last: more than one row");
    }
    run->proof->complete = result == CAROM_OK && ended && strcmp(how, "cut") != 0;
    return result;
}

static carom_result check_last(proving *run)
{
    sqlite3_stmt *row =
        cm_match_prepare(run->file, "SELECT id, tick, how, chain, signature FROM last");
    if (row == NULL) {
        return cm_match_db_wrong(&run->file->db, "last", run->error);
    }
    carom_result result;
    int code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        result = take_last(run, row);
    } else if (code == SQLITE_DONE) {
        result = changed(run, "cut at tick %llu: the row that says how far it came is gone",
                         (unsigned long long)run->proof->ticks);
    } else {
        result = cm_match_db_wrong(&run->file->db, "last", run->error);
    }
    sqlite3_finalize(row);
    return result;
}

// Checks the parts of the head that a replay does not: the tick rate must be the scene's, and the
// scene must have the bytes that a server writes, since other bytes may hide data that no reader
// shows. Only for a file of this engine, because another one may pack a scene otherwise.
static carom_result check_head(proving *run)
{
    const cm_match_file *file = run->file;
    if (file->scene == NULL || file->info.engine_version != CAROM_ENGINE_VERSION) {
        return CAROM_OK;
    }
    carom_world_def world;
    cm_scene_world_def(file->scene, &world);
    if (world.tick_rate != file->info.tick_rate) {
        return changed(run, "meta: tick_rate: %u, expected the scene's, %u",
                       (unsigned)file->info.tick_rate, (unsigned)world.tick_rate);
    }
    size_t size = cm_scene_packed_size(file->scene);
    uint8_t *bytes = malloc(size > 0 ? size : 1), hash[sizeof file->scene_hash];
    if (bytes == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    cm_scene_pack(file->scene, bytes);
    cm_crypto_hash(hash, sizeof hash, bytes, size, NULL);
    free(bytes);
    return memcmp(hash, file->scene_hash, sizeof hash) == 0
               ? CAROM_OK
               : changed(run, "scene: not packed as a server packs it");
}

// Making --------------------------------------------------------------------------------------

static carom_result open_cursors(proving *run)
{
    cm_match_file *file = run->file;
    carom_result result = cm_cursor_open(
        file, &run->personal, "personal",
        "SELECT tick, number, client_id, kind, commitment, salt, value FROM personal WHERE tick >= "
        "?1 ORDER BY number",
        run->error);
    if (result == CAROM_OK) {
        result = cm_cursor_open(file, &run->statistics, "statistics",
                                "SELECT tick, player, inputs, late, rewound_ticks, refused FROM "
                                "statistics WHERE tick >= ?1 ORDER BY tick, player",
                                run->error);
    }
    if (result == CAROM_OK) {
        result =
            cm_cursor_open(file, &run->keyframes, "keyframes",
                           "SELECT tick FROM keyframes WHERE tick >= ?1 ORDER BY tick", run->error);
    }
    if (result == CAROM_OK) {
        result = cm_cursor_open(
            file, &run->links, "links",
            "SELECT tick, chain, signature FROM links WHERE tick >= ?1 ORDER BY tick", run->error);
    }
    return result;
}

static void begin(proving *run, const uint8_t *public_key)
{
    const cm_match_info *info = &run->file->info;
    cm_proof *proof = run->proof;
    memset(proof, 0, sizeof *proof);
    run->is_signed = proof->is_signed = info->sign_key[0] != '\0';
    if (run->is_signed) {
        cm_crypto_unhex(info->sign_key, strlen(info->sign_key), run->sign_key, CM_KEY_BYTES);
    }
    proof->has_key = public_key != NULL;
    proof->key_is_theirs = run->is_signed && public_key != NULL &&
                           memcmp(public_key, run->sign_key, CM_KEY_BYTES) == 0;
    cm_match_rewind(run->file);
}

// From where the file stands, which is where the chain does, to its end. `result`: so far.
static carom_result prove(proving *run, carom_result result)
{
    cm_proof *proof = run->proof;
    result = result == CAROM_OK ? open_cursors(run) : result;
    result = result == CAROM_OK ? take_ticks(run) : result;
    result = result == CAROM_OK ? take_personal(run, proof->ticks + 1) : result;
    result = result == CAROM_OK ? check_left(run) : result;
    result = result == CAROM_OK ? check_last(run) : result;
    result = result == CAROM_OK ? check_head(run) : result;
    proof->complete = proof->complete && result == CAROM_OK;
    memcpy(proof->chain, run->chain.value, sizeof proof->chain);
    cm_cursor_close(&run->personal);
    cm_cursor_close(&run->statistics);
    cm_cursor_close(&run->keyframes);
    cm_cursor_close(&run->links);
    cm_match_rewind(run->file);
    if (result == CAROM_OK) {
        bool authentic =
            proof->key_is_theirs && proof->complete && proof->signed_tick == proof->ticks;
        proof->verdict = authentic ? CM_PROOF_AUTHENTIC : CM_PROOF_CONSISTENT;
    }
    return proof->verdict == CM_PROOF_CHANGED ? CAROM_OK : result;
}

carom_result cm_match_prove(cm_match_file *file, const uint8_t *public_key, cm_proof *proof,
                            cm_match_error *error)
{
    proving run = {.file = file, .proof = proof, .error = error, .chain = file->head};
    begin(&run, public_key);
    return prove(&run, CAROM_OK);
}

// The file behind its newest link's tick, and the chain as that link has it.
static carom_result take_link(proving *run, sqlite3_stmt *row, uint64_t *tick)
{
    cm_recorded_tick linked;
    if (!cm_column_u64(row, 0, tick) ||
        !cm_column_bytes(row, 1, run->chain.value, sizeof run->chain.value) ||
        !cm_column_u64(row, 3, &run->personal_rows)) {
        return cm_match_corrupt(run->error, "links: the last row: expected a tick and 32 bytes");
    }
    carom_result result = check_link(run, row, 1, "links", *tick, true);
    if (result == CAROM_OK && *tick > run->file->info.gap_to) {
        run->proof->ticks = *tick;
        cm_match_seek(run->file, *tick);
        result = cm_match_next(run->file, &linked, run->error);
        result = result == CAROM_OK && linked.tick != *tick ? CAROM_ERROR_NOT_FOUND : result;
    }
    return result == CAROM_ERROR_NOT_FOUND
               ? changed(run, "links: row %llu: there is no such tick", (unsigned long long)*tick)
               : result;
}

carom_result cm_match_prove_tail(cm_match_file *file, cm_proof *proof, cm_match_error *error)
{
    proving run = {.file = file, .proof = proof, .error = error};
    uint64_t tick = 0;
    begin(&run, NULL);
    sqlite3_stmt *row = cm_match_prepare(
        file, "SELECT l.tick, chain, signature, (SELECT count(*) FROM personal p WHERE p.tick <= "
              "l.tick) FROM links l ORDER BY l.tick DESC LIMIT 1");
    if (row == NULL) {
        return cm_match_db_wrong(&file->db, "links", error);
    }
    int code = sqlite3_step(row);
    carom_result result = code == SQLITE_ROW ? take_link(&run, row, &tick) : CAROM_OK;
    sqlite3_finalize(row);
    if (result == CAROM_OK && tick <= file->info.gap_to) {
        return cm_match_prove(file, NULL, proof, error); // none yet: it is short
    }
    return prove(&run, result);
}
