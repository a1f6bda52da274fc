// The rows of a match's tick: inputs, events, statistics, keyframes, and the chain over them.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/store/match_writer_inner.h"

#define KEYFRAME_RUN 16u

static const char *const event_names[] = {NULL, "join", "leave", "message", "end"};

static bool put_event(cm_match_writer *writer, uint64_t tick, uint32_t number,
                      const cm_game_event *event)
{
    cm_sql_value id = event->client_id != 0 ? CM_ID(event->client_id) : (cm_sql_value){0};
    return cm_match_writer_put(writer, writer->put[PUT_event],
                               CM_VALUES(CM_INT(tick), CM_INT(number),
                                         CM_TEXT(event_names[event->type]), CM_INT(event->player),
                                         id, CM_BLOB(event->bytes, event->size)),
                               "writing an event");
}

bool cm_match_writer_put_pack(cm_match_writer *writer)
{
    uint32_t count = cm_record_pack_count(writer->pack);
    if (count == 0) {
        return true;
    }
    uint64_t first = cm_record_pack_row(writer->pack, 0)->tick;
    uint64_t last = cm_record_pack_row(writer->pack, count - 1)->tick;
    size_t size = 0;
    uint8_t *packed = cm_record_pack_encode(writer->pack, &size);
    if (packed == NULL) {
        return cm_match_writer_fail_memory(writer);
    }
    bool done = cm_match_writer_put(writer, writer->put[PUT_pack],
                                    CM_VALUES(CM_INT(last), CM_INT(first), CM_BLOB(packed, size)),
                                    "packing inputs");
    free(packed);
    if (done) {
        done = cm_match_writer_put(writer, writer->put[PUT_unpacked], CM_VALUES(CM_INT(last)),
                                   "packing inputs");
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
    cm_confirmed_row_write(tick, &row);
    if (!cm_match_writer_put(writer, writer->put[PUT_inputs],
                             CM_VALUES(CM_INT(tick->tick), CM_BLOB(row.changed, row.changed_size),
                                       CM_BLOB(row.arrived, row.arrived_size)),
                             "writing inputs")) {
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
    return cm_match_writer_put(writer, writer->put[PUT_event],
                               CM_VALUES(CM_INT(tick), CM_INT(0), CM_TEXT("resumed")),
                               "writing an event");
}

bool cm_match_writer_tick(cm_match_writer *writer, const cm_recorded_tick *told)
{
    if (!cm_match_writer_begin(writer)) {
        return false;
    }
    cm_recorded_tick with_seam = *told;
    const cm_recorded_tick *tick = &with_seam;
    with_seam.resumed = writer->resumes;
    bool done =
        cm_match_writer_put(writer, writer->put[PUT_tick],
                            CM_VALUES(CM_INT(tick->tick), CM_INT(tick->hash)), "writing a tick");
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
    uint8_t salt[CM_SALT_BYTES];
    if (!cm_match_writer_begin(writer)) {
        return false;
    }
    writer->is_past_tick = true;
    cm_crypto_random(salt, sizeof salt);
    cm_commitment(salt, kind, text, strlen(text), row.commitment);
    cm_chain_add_personal(&writer->chain, &row);
    return cm_match_writer_put(writer, writer->put[PUT_personal],
                               CM_VALUES(CM_INT(writer->personal_rows++), CM_INT(row.tick),
                                         CM_ID(client_id), CM_TEXT(kind),
                                         CM_BLOB(row.commitment, sizeof row.commitment),
                                         CM_BLOB(salt, sizeof salt), CM_TEXT(text)),
                               "writing a personal row");
}

bool cm_match_writer_statistics(cm_match_writer *writer, const cm_player_statistics *row)
{
    if (!cm_match_writer_begin(writer)) {
        return false;
    }
    uint32_t next = writer->statistics_tick == writer->tick ? writer->statistics_players : 0;
    if (writer->is_past_tick || row->player < next) {
        return true; // too late, or again: the chain has one place for it
    }
    writer->statistics_tick = writer->tick;
    writer->statistics_players = row->player + 1;
    cm_chain_statistics(&writer->chain, writer->tick, row);
    return cm_match_writer_put(writer, writer->put[PUT_statistics],
                               CM_VALUES(CM_INT(writer->tick), CM_INT(row->player),
                                         CM_INT(row->inputs), CM_INT(row->late),
                                         CM_INT(row->rewound_ticks), CM_INT(row->refused)),
                               "writing statistics");
}

// The chain's signature where there is a key, else NULL.
static cm_sql_value sign(const cm_match_writer *writer, uint8_t signature[CM_SIGNATURE_BYTES])
{
    if (!writer->has_secret) {
        return (cm_sql_value){0};
    }
    cm_chain_sign(&writer->chain, writer->tick, writer->secret, signature);
    return CM_BLOB(signature, CM_SIGNATURE_BYTES);
}

static bool put_link(cm_match_writer *writer)
{
    uint8_t signature[CM_SIGNATURE_BYTES];
    return cm_match_writer_put(writer, writer->put[PUT_link],
                               CM_VALUES(CM_INT(writer->tick),
                                         CM_BLOB(writer->chain.value, sizeof writer->chain.value),
                                         sign(writer, signature)),
                               "writing a link");
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
    bool whole = writer->keyframes % KEYFRAME_RUN == 0 || writer->base == NULL;
    size_t packed_size = 0;
    uint8_t *packed =
        cm_record_compress(bytes, size, writer->base, whole ? 0 : writer->base_size, &packed_size);
    if (packed == NULL) {
        return true; // a keyframe is a convenience: the ticks are the record
    }
    cm_sql_value base = whole ? (cm_sql_value){0} : CM_INT(writer->base_tick);
    bool done = cm_match_writer_put(
        writer, writer->put[PUT_keyframe],
        CM_VALUES(CM_INT(writer->tick), base, CM_BLOB(packed, packed_size)), "writing a keyframe");
    free(packed);
    writer->keyframes = whole ? 1 : writer->keyframes + 1;
    keep_base(writer, bytes, size);
    cm_chain_keyframe(&writer->chain, writer->tick, bytes, size);
    return done && put_link(writer);
}

// The last tick, and the match's end once it has ended (`how` or NULL).
bool cm_match_writer_put_last(cm_match_writer *writer, const char *how)
{
    uint8_t signature[CM_SIGNATURE_BYTES];
    return cm_match_writer_put(writer, writer->put[PUT_last],
                               CM_VALUES(CM_INT(writer->tick), CM_TEXT(how),
                                         CM_BLOB(writer->chain.value, sizeof writer->chain.value),
                                         how != NULL ? sign(writer, signature) : (cm_sql_value){0}),
                               "writing how far the match came");
}
