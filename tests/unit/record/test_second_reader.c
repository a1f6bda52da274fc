// MATCH_FILE.md says all that a second reader needs: one that was written from it alone
// (tests/record/second_reader.py) makes the same chain of every kind of row, takes signatures and
// erased rows as we do, and refuses what we refuse.
//
// Method: ticks with everything that a recording can hold, drawn from a seed and handed to the real
// store (no simulation: hashes are numbers like others); then single values are changed by SQL.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/replay/match_change.h"
#include "server/record/format/proof.h"
#include "shared/wire/crypto.h"
#include "tests/unit/record/recording.h"

TestSuite(second_reader, .init = recording_setup, .fini = recording_teardown);

static const uint8_t secret[CM_KEY_BYTES] = {7, 7, 7};
static char said[512]; // by the second reader

static int read_again(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof command, "python3 tests/record/second_reader.py %s %s",
             recording_path(), arguments);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return status / 256;
}

static void draw_bytes(cm_rng *rng, uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)cm_rng_next(rng);
    }
}

static uint32_t draw_events(cm_rng *rng, uint64_t tick, cm_game_event events[3], uint8_t *bytes)
{
    draw_bytes(rng, bytes, CAROM_MESSAGE_MAX);
    if (tick % 10 == 1) {
        events[0] = (cm_game_event){CM_EVENT_JOIN, 63, UINT64_MAX - tick, bytes,
                                    cm_rng_below(rng, CAROM_USER_DATA_MAX + 1)};
        events[1] = (cm_game_event){CM_EVENT_MESSAGE, 63, 0, bytes,
                                    cm_rng_below(rng, CAROM_MESSAGE_MAX + 1)};
        return 2;
    }
    events[0] = (cm_game_event){CM_EVENT_LEAVE, 63, 0, NULL, 0};
    return tick % 10 == 8;
}

// Of every width, some of nothing but zeros.
static uint32_t draw_inputs(cm_rng *rng, carom_player_input inputs[4])
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < 64; player += 21) {
        if (cm_rng_below(rng, 2) == 0) {
            memset(&inputs[count], 0, sizeof inputs[count]);
            inputs[count].player = player;
            draw_bytes(rng, inputs[count++].bytes, cm_rng_below(rng, CAROM_INPUT_MAX + 1));
        }
    }
    return count;
}

static void hand_over(cm_rng *rng, cm_store *store, cm_match_handle match, uint64_t tick)
{
    static uint8_t bytes[CAROM_MESSAGE_MAX];
    cm_game_event events[3];
    carom_player_input inputs[4];
    cm_arrival arrivals[2] = {{1, tick % 3 == 0, -5}, {63, tick % 2 == 0, 300}};
    cm_tick_input input = {.events = events, .inputs = inputs};
    input.event_count = draw_events(rng, tick, events, bytes);
    input.input_count = draw_inputs(rng, inputs);
    arrivals[0].lead = (int16_t)cm_rng_next(rng);
    if (tick % 10 == 1) {
        cm_store_personal(store, match, UINT64_MAX - tick, "name", "Zo\xc3\xab");
        cm_store_personal(store, match, UINT64_MAX - tick, "address", "203.0.113.9:4000");
    }
    if (tick % 7 != 0) {
        cm_store_input_timing(store, match, arrivals, 2);
    }
    cm_store_tick(store, match, tick, cm_rng_next(rng), &input);
}

static void put_keyframe(cm_rng *rng, cm_store *store, cm_match_handle match, uint64_t tick,
                         uint8_t bytes[5000])
{
    cm_player_statistics rows[] = {{0, tick, 3, 2, 1}, {63, UINT32_MAX + tick, 0, 0, 9}};
    cm_store_statistics(store, match, rows, 2);
    bytes[cm_rng_below(rng, 5000)] ^= 1; // most of it is the base's
    cm_store_keyframe(store, match, tick, bytes, 5000);
}

static void make(bool is_signed, bool ends, uint64_t ticks, uint64_t keyframe_every)
{
    uint8_t bytes[5000];
    cm_rng rng;
    cm_rng_seed(&rng, 41);
    draw_bytes(&rng, bytes, sizeof bytes);
    recording_secret = is_signed ? secret : NULL;
    cm_store *store = recording_store(false);
    cm_scene *scene = recording_scene();
    cm_match_def def = recording_def(scene);
    cm_match_handle match;
    remove(recording_path());
    cr_assert_eq(cm_store_begin(store, &def, &match), CAROM_OK);
    for (uint64_t tick = 1; tick <= ticks; tick++) {
        hand_over(&rng, store, match, tick);
        if (tick % keyframe_every == 0) {
            put_keyframe(&rng, store, match, tick, bytes);
        }
    }
    cm_store_personal(store, match, 5, "name", "who came too late");
    if (ends) {
        cm_store_end(store, match, CM_MATCH_ENDED);
    }
    cm_match_status status;
    cm_store_flush(store);
    cm_store_status(store, match, &status);
    cr_assert(status.durable, "%s", status.error);
    cm_store_destroy(store);
    cm_scene_free(scene);
}

static cm_proof prove(void)
{
    cm_match_file *file;
    cm_match_error error;
    cm_proof proof = {0};
    if (cm_match_open(recording_path(), &file, &error) == CAROM_OK) {
        (void)cm_match_prove(file, NULL, &proof, &error);
        cm_match_close(file);
    }
    return proof;
}

// Both take it, with the same last value of the chain.
static void expect_agreement(const char *arguments, const char *what)
{
    cm_proof proof = prove();
    cr_assert_eq(proof.verdict, CM_PROOF_CONSISTENT, "%s: %s", what, proof.changed);
    cr_assert_eq(read_again(arguments), 0, "%s: %s", what, said);
    char hex[65];
    for (int i = 0; i < 32; i++) {
        snprintf(hex + 2 * i, 3, "%02x", proof.chain[i]);
    }
    cr_assert_not_null(strstr(said, hex), "%s: %s, ours %s", what, said, hex);
}

Test(second_reader, makes_the_same_chain)
{
    make(false, true, 70, 20);
    expect_agreement("", "unsigned");
    make(false, false, 75, 20);
    expect_agreement("", "never ended");
    make(false, true, 45, 1);
    expect_agreement("", "keyframes of two runs");
    make(false, true, 1300, 5000);
    expect_agreement("", "a pack of 1,024 rows");
}

Test(second_reader, takes_signed_and_erased_files)
{
    uint8_t key[CM_KEY_BYTES];
    char hex[2 * CM_KEY_BYTES + 1];
    cr_assert(cm_crypto_init());
    cm_crypto_sign_public(secret, key);
    for (size_t i = 0; i < sizeof key; i++) {
        snprintf(hex + 2 * i, 3, "%02x", key[i]);
    }
    make(true, true, 70, 20);
    expect_agreement(hex, "signed");
    cr_assert_not_null(strstr(said, "\"signed_links\": 4"), "%s", said);
    cm_match_error error;
    uint32_t rows;
    cr_assert_eq(cm_match_erase(recording_path(), UINT64_MAX - 31, &rows, &error), CAROM_OK);
    cr_assert_eq(rows, 2);
    expect_agreement(hex, "erased");
    cr_assert_not_null(strstr(said, "\"erased\": 2"), "%s", said);
    hex[0] = hex[0] == '0' ? '1' : '0';
    cr_assert_eq(read_again(hex), 1, "another key: %s", said);
    make(true, false, 75, 20);
    expect_agreement("", "signed, never ended");
    cr_assert_not_null(strstr(said, "\"signed_links\": 3"), "%s", said);
}

Test(second_reader, refuses_what_we_refuse)
{
    static const char *const changes[] = {
        "UPDATE meta SET value = value + 1 WHERE key = 'started_unix_ms'",
        "UPDATE ticks SET hash = hash + 1 WHERE tick = 33",
        "UPDATE events SET player = 62 WHERE tick = 21 AND number = 0",
        "UPDATE events SET payload = x'00' WHERE tick = 21 AND number = 1",
        "UPDATE events SET client_id = '1' WHERE tick = 21 AND number = 0",
        "UPDATE personal SET value = 'Zoe' WHERE number = 2",
        "UPDATE personal SET kind = 'nickname' WHERE number = 2",
        "DELETE FROM personal WHERE number = 8; UPDATE personal SET number = number - 1 WHERE "
        "number > 8",
        "UPDATE statistics SET late = late + 1 WHERE tick = 40 AND player = 0",
        "UPDATE keyframes SET base = NULL, packed = (SELECT packed FROM keyframes WHERE tick = 20) "
        "WHERE tick = 60",
        "UPDATE links SET signature = NULL WHERE tick = 40",
        "UPDATE links SET signature = (SELECT signature FROM links WHERE tick = 20) WHERE tick = "
        "40",
        "UPDATE last SET how = 'drained'",
        "UPDATE last SET how = NULL",
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        make(true, true, 75, 20);
        recording_edit(recording_path(), changes[i], false);
        cr_assert_neq(prove().verdict, CM_PROOF_CONSISTENT, "%s", changes[i]);
        cr_assert_neq(read_again(""), 0, "%s: %s", changes[i], said);
    }
}

static void change_inputs(cm_record_inputs *row)
{
    if (row->tick == 33 && row->input_count > 0) {
        row->inputs[0].bytes[3] ^= 1;
    }
}

static void change_arrivals(cm_record_inputs *row)
{
    if (row->tick == 33) {
        row->arrivals[1].rewound = !row->arrivals[1].rewound;
    }
}

Test(second_reader, sees_every_bit_of_a_pack)
{
    void (*const edits[])(cm_record_inputs *) = {change_inputs, change_arrivals};
    for (size_t i = 0; i < 2; i++) {
        make(false, true, 75, 20);
        expect_agreement("", "before");
        recording_edit_inputs(recording_path(), edits[i]);
        cr_assert_eq(prove().verdict, CM_PROOF_CHANGED);
        cr_assert_eq(read_again(""), 1, "%s", said);
    }
}
