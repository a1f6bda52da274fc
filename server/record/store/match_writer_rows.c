// The rows of a match's tick: inputs, events, statistics, keyframes, and the chain over them.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/format/match_format.h"
#include "server/record/store/match_writer_inner.h"
#include "server/record/format/sign_key.h"

#define KEYFRAME_RUN 16u

static const char *const event_names[] = {NULL, "join", "leave", "message", "end"};

// Ids as the command line writes them. The text lives until the statement is stepped.
static void bind_id(sqlite3_stmt *put, int at, uint64_t id, char text[24])
{
    snprintf(text, 24, "%llu", (unsigned long long)id);
    sqlite3_bind_text(put, at, text, -1, SQLITE_STATIC);
}

static bool put_event(cm_match_writer *writer, uint64_t tick, uint32_t number,
                      const cm_game_event *event)
{
    sqlite3_stmt *put = writer->put[PUT_event];
    char id[24];
    sqlite3_bind_int64(put, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(put, 2, number);
    sqlite3_bind_text(put, 3, event_names[event->type], -1, SQLITE_STATIC);
    sqlite3_bind_int64(put, 4, event->player);
    if (event->client_id != 0) {
        bind_id(put, 5, event->client_id, id);
    }
    if (event->size > 0) {
        sqlite3_bind_blob64(put, 6, event->bytes, event->size, SQLITE_STATIC);
    }
    return cm_match_writer_step(writer, put, "writing an event");
}

bool cm_match_writer_put_pack(cm_match_writer *writer)
{
    uint32_t count = cm_record_pack_count(writer->pack);
    if (count == 0) {
        return true;
    }
    sqlite3_int64 first = (sqlite3_int64)cm_record_pack_row(writer->pack, 0)->tick;
    sqlite3_int64 last = (sqlite3_int64)cm_record_pack_row(writer->pack, count - 1)->tick;
    size_t size = 0;
    uint8_t *packed = cm_record_pack_encode(writer->pack, &size);
    if (packed == NULL) {
        return cm_match_writer_fail_memory(writer);
    }
    sqlite3_bind_int64(writer->put[PUT_pack], 1, last);
    sqlite3_bind_int64(writer->put[PUT_pack], 2, first);
    sqlite3_bind_blob64(writer->put[PUT_pack], 3, packed, size, SQLITE_STATIC);
    bool done = cm_match_writer_step(writer, writer->put[PUT_pack], "packing inputs");
    free(packed);
    if (done) {
        sqlite3_bind_int64(writer->put[PUT_unpacked], 1, last);
        done = cm_match_writer_step(writer, writer->put[PUT_unpacked], "packing inputs");
        cm_record_pack_clear(writer->pack);
    }
    return done;
}

static bool put_inputs(cm_match_writer *writer, const cm_recorded_tick *tick)
{
    if (tick->input.input_count == 0 && tick->arrival_count == 0) {
        return true;
    }
    cm_confirmed_row row;
    sqlite3_stmt *put = writer->put[PUT_inputs];
    cm_confirmed_row_write(tick, &row);
    sqlite3_bind_int64(put, 1, (sqlite3_int64)tick->tick);
    if (row.changed_size > 0) {
        sqlite3_bind_blob64(put, 2, row.changed, row.changed_size, SQLITE_STATIC);
    }
    if (row.arrived_size > 0) {
        sqlite3_bind_blob64(put, 3, row.arrived, row.arrived_size, SQLITE_STATIC);
    }
    if (!cm_match_writer_step(writer, put, "writing inputs")) {
        return false;
    }
    if (cm_record_pack_count(writer->pack) == CM_RECORD_PACK_ROWS &&
        !cm_match_writer_put_pack(writer)) {
        return false;
    }
    return cm_record_pack_add(writer->pack, tick) || cm_match_writer_fail_memory(writer);
}

// The seam: it stands before the events of the first tick of the server that goes on.
static bool put_resumed(cm_match_writer *writer, uint64_t tick)
{
    sqlite3_stmt *put = writer->put[PUT_event];
    sqlite3_bind_int64(put, 1, (sqlite3_int64)tick);
    sqlite3_bind_int64(put, 2, 0);
    sqlite3_bind_text(put, 3, "resumed", -1, SQLITE_STATIC);
    return cm_match_writer_step(writer, put, "writing an event");
}

bool cm_match_writer_tick(cm_match_writer *writer, const cm_recorded_tick *told)
{
    if (!cm_match_writer_begin(writer)) {
        return false;
    }
    cm_recorded_tick with_seam = *told;
    const cm_recorded_tick *tick = &with_seam;
    with_seam.resumed = writer->resumes;
    sqlite3_bind_int64(writer->put[PUT_tick], 1, (sqlite3_int64)tick->tick);
    sqlite3_bind_int64(writer->put[PUT_tick], 2, (sqlite3_int64)tick->hash);
    bool done = cm_match_writer_step(writer, writer->put[PUT_tick], "writing a tick");
    done = done && (!tick->resumed || put_resumed(writer, tick->tick));
    for (uint32_t i = 0; done && i < tick->input.event_count; i++) {
        done = put_event(writer, tick->tick, i + tick->resumed, &tick->input.events[i]);
    }
    if (done && put_inputs(writer, tick)) {
        writer->resumes = false;
        writer->tick = tick->tick;
        writer->is_past_tick = false;
        cm_chain_tick(&writer->chain, tick);
        return true;
    }
    return false;
}

bool cm_match_writer_personal(cm_match_writer *writer, uint64_t client_id, const char *kind,
                              const char *text)
{
    cm_chain_personal row = {.tick = writer->tick + 1, .client_id = client_id, .kind = kind};
    sqlite3_stmt *put = writer->put[PUT_personal];
    uint8_t salt[CM_SALT_BYTES];
    char id[24];
    if (!cm_match_writer_begin(writer)) {
        return false;
    }
    writer->is_past_tick = true;
    cm_crypto_random(salt, sizeof salt);
    cm_commitment(salt, kind, text, strlen(text), row.commitment);
    sqlite3_bind_int64(put, 1, (sqlite3_int64)writer->personal_rows++);
    sqlite3_bind_int64(put, 2, (sqlite3_int64)row.tick);
    bind_id(put, 3, client_id, id);
    sqlite3_bind_text(put, 4, kind, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(put, 5, row.commitment, sizeof row.commitment, SQLITE_STATIC);
    sqlite3_bind_blob64(put, 6, salt, sizeof salt, SQLITE_STATIC);
    sqlite3_bind_text(put, 7, text, -1, SQLITE_STATIC);
    cm_chain_add_personal(&writer->chain, &row);
    return cm_match_writer_step(writer, put, "writing a personal row");
}

bool cm_match_writer_statistics(cm_match_writer *writer, const cm_player_statistics *row)
{
    sqlite3_stmt *put = writer->put[PUT_statistics];
    if (!cm_match_writer_begin(writer)) {
        return false;
    }
    uint32_t next = writer->statistics_tick == writer->tick ? writer->statistics_players : 0;
    if (writer->is_past_tick || row->player < next) {
        return true; // too late, or again: the chain has one place for it
    }
    writer->statistics_tick = writer->tick;
    writer->statistics_players = row->player + 1;
    sqlite3_bind_int64(put, 1, (sqlite3_int64)writer->tick);
    sqlite3_bind_int64(put, 2, row->player);
    sqlite3_bind_int64(put, 3, (sqlite3_int64)row->inputs);
    sqlite3_bind_int64(put, 4, (sqlite3_int64)row->late);
    sqlite3_bind_int64(put, 5, (sqlite3_int64)row->rewound_ticks);
    sqlite3_bind_int64(put, 6, (sqlite3_int64)row->refused);
    cm_chain_statistics(&writer->chain, writer->tick, row);
    return cm_match_writer_step(writer, put, "writing statistics");
}

// The chain's value and, where there is a key, its signature, as parameters `at` and `at` + 1.
// `signature` lives until the statement is stepped.
static void bind_link(cm_match_writer *writer, sqlite3_stmt *put, int at, bool sign,
                      uint8_t signature[CM_SIGNATURE_BYTES])
{
    sqlite3_bind_blob64(put, at, writer->chain.value, sizeof writer->chain.value, SQLITE_STATIC);
    if (sign && writer->has_secret) {
        cm_chain_sign(&writer->chain, writer->tick, writer->secret, signature);
        sqlite3_bind_blob64(put, at + 1, signature, CM_SIGNATURE_BYTES, SQLITE_STATIC);
    }
}

static bool put_link(cm_match_writer *writer)
{
    uint8_t signature[CM_SIGNATURE_BYTES];
    sqlite3_bind_int64(writer->put[PUT_link], 1, (sqlite3_int64)writer->tick);
    bind_link(writer, writer->put[PUT_link], 2, true, signature);
    return cm_match_writer_step(writer, writer->put[PUT_link], "writing a link");
}

// Takes the bytes as the base of the next one, where there is memory for them.
static void keep_base(cm_match_writer *writer, const uint8_t *bytes, size_t size)
{
    free(writer->base);
    writer->base = malloc(size);
    writer->base_size = writer->base != NULL ? size : 0;
    writer->base_tick = writer->tick;
    if (writer->base != NULL) {
        memcpy(writer->base, bytes, size);
    }
}

bool cm_match_writer_keyframe(cm_match_writer *writer, const uint8_t *bytes, size_t size)
{
    if (!cm_match_writer_begin(writer) || !cm_match_writer_put_pack(writer)) {
        return false;
    }
    if (writer->is_past_tick || writer->tick == writer->base_tick ||
        size > CM_RECORD_KEYFRAMES_MAX - writer->keyframe_bytes) {
        return true; // too late, or again, or more than a reader takes
    }
    writer->keyframe_bytes += size;
    sqlite3_stmt *put = writer->put[PUT_keyframe];
    bool whole = writer->keyframes % KEYFRAME_RUN == 0 || writer->base == NULL;
    size_t packed_size = 0;
    uint8_t *packed =
        cm_record_compress(bytes, size, writer->base, whole ? 0 : writer->base_size, &packed_size);
    if (packed == NULL) {
        return true; // a keyframe is a convenience: the ticks are the record
    }
    sqlite3_bind_int64(put, 1, (sqlite3_int64)writer->tick);
    if (!whole) {
        sqlite3_bind_int64(put, 2, (sqlite3_int64)writer->base_tick);
    }
    sqlite3_bind_blob64(put, 3, packed, packed_size, SQLITE_STATIC);
    bool done = cm_match_writer_step(writer, put, "writing a keyframe");
    free(packed);
    writer->keyframes = whole ? 1 : writer->keyframes + 1;
    keep_base(writer, bytes, size);
    cm_chain_keyframe(&writer->chain, writer->tick, bytes, size);
    return done && put_link(writer);
}

// The last tick, and the match's end once it has ended (`how` or NULL).
bool cm_match_writer_put_last(cm_match_writer *writer, const char *how)
{
    sqlite3_stmt *put = writer->put[PUT_last];
    uint8_t signature[CM_SIGNATURE_BYTES];
    sqlite3_bind_int64(put, 1, (sqlite3_int64)writer->tick);
    if (how != NULL) {
        sqlite3_bind_text(put, 2, how, -1, SQLITE_STATIC);
    }
    bind_link(writer, put, 3, how != NULL, signature);
    return cm_match_writer_step(writer, put, "writing how far the match came");
}
