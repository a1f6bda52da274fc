// The recorded form of a tick: what goes in comes out, in few bytes, and hostile bytes are refused.
//
// Method: ticks drawn from a seed (events of every kind and size, inputs of every width) are
// encoded and decoded; mutations of them must be refused or decode to something within the limits.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/record.h"
#include "shared/base/rng.h"

typedef struct drawn {
    cm_game_event events[32];
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    uint8_t payload[CAROM_MESSAGE_MAX];
    cm_tick_input tick;
} drawn;

static void draw(cm_rng *rng, uint32_t input_size, drawn *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof out->payload; i++) {
        out->payload[i] = (uint8_t)cm_rng_below(rng, 256);
    }
    uint32_t events = cm_rng_below(rng, 3) == 0 ? cm_rng_below(rng, 33) : 0;
    for (uint32_t i = 0; i < events; i++) {
        cm_game_event *event = &out->events[i];
        event->type = 1 + cm_rng_below(rng, 3);
        event->player = cm_rng_below(rng, CAROM_PLAYERS_MAX);
        if (event->type == CM_EVENT_JOIN) {
            event->client_id = cm_rng_next(rng);
            event->size = cm_rng_below(rng, CAROM_USER_DATA_MAX + 1);
        } else if (event->type == CM_EVENT_MESSAGE) {
            event->size = cm_rng_below(rng, CAROM_MESSAGE_MAX + 1);
        }
        event->bytes = event->size > 0 ? out->payload : NULL;
    }
    uint32_t count = 0, odds = 1 + cm_rng_below(rng, 20);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_rng_below(rng, odds) == 0) {
            out->inputs[count].player = player;
            uint32_t width = cm_rng_below(rng, input_size + 1); // zeros at the end
            for (uint32_t i = 0; i < width; i++) {
                out->inputs[count].bytes[i] = (uint8_t)cm_rng_below(rng, 256);
            }
            count++;
        }
    }
    out->tick = (cm_tick_input){out->events, events, out->inputs, count};
}

static void assert_same(const cm_tick_input *a, const cm_tick_input *b)
{
    cr_assert_eq(a->event_count, b->event_count);
    cr_assert_eq(a->input_count, b->input_count);
    for (uint32_t i = 0; i < a->event_count; i++) {
        cr_assert_eq(a->events[i].type, b->events[i].type);
        cr_assert_eq(a->events[i].player, b->events[i].player);
        cr_assert_eq(a->events[i].client_id, b->events[i].client_id);
        cr_assert_eq(a->events[i].size, b->events[i].size);
        cr_assert(a->events[i].size == 0 ||
                  memcmp(a->events[i].bytes, b->events[i].bytes, a->events[i].size) == 0);
    }
    for (uint32_t i = 0; i < a->input_count; i++) {
        cr_assert_eq(a->inputs[i].player, b->inputs[i].player);
        cr_assert_arr_eq(a->inputs[i].bytes, b->inputs[i].bytes, CAROM_INPUT_MAX);
    }
}

Test(record, what_goes_in_comes_out)
{
    cm_rng rng;
    cm_rng_seed(&rng, 4711);
    cm_record *record = cm_record_create();
    drawn *in = malloc(sizeof *in);
    uint32_t empty = 0;
    for (int i = 0; i < 3000; i++) {
        uint32_t input_size = cm_rng_below(&rng, CAROM_INPUT_MAX + 1);
        draw(&rng, input_size, in);
        size_t size;
        cr_assert(cm_record_tick_size(&in->tick, input_size, &size));
        empty += size == 0;
        uint8_t *bytes = malloc(size + 1);
        if (size > 0) {
            cm_record_tick_encode(&in->tick, input_size, bytes);
        }
        const char *wrong = cm_record_tick_decode(record, bytes, size);
        cr_assert_null(wrong, "%s", wrong);
        assert_same(&in->tick, cm_record_input(record));
        free(bytes);
    }
    cr_assert_gt(empty, 10); // else the case was not met
    free(in);
    cm_record_free(record);
}

Test(record, inputs_of_8_players_fit_in_100_bytes)
{
    carom_player_input inputs[8];
    memset(inputs, 0xff, sizeof inputs);
    for (uint32_t i = 0; i < 8; i++) {
        inputs[i].player = i;
    }
    cm_tick_input tick = {.inputs = inputs, .input_count = 8};
    size_t size;
    cr_assert(cm_record_tick_size(&tick, carom_module_sandbox.input_size, &size));
    cr_assert_leq(size, 80, "%zu", size);
    tick.input_count = 4;
    cr_assert(cm_record_tick_size(&tick, carom_module_sandbox.input_size, &size));
    cr_assert_leq(size, 42, "%zu", size);
}

Test(record, limits_of_the_writer)
{
    size_t size;
    static cm_game_event events[CM_RECORD_EVENTS_MAX + 1];
    static uint8_t payload[CAROM_MESSAGE_MAX + 1];
    for (uint32_t i = 0; i <= CM_RECORD_EVENTS_MAX; i++) {
        events[i] = (cm_game_event){CM_EVENT_MESSAGE, 63, 0, payload, CAROM_MESSAGE_MAX};
    }
    cm_tick_input tick = {.events = events, .event_count = CM_RECORD_EVENTS_MAX};
    cr_assert(cm_record_tick_size(&tick, 9, &size)); // the largest there is
    cm_record *record = cm_record_create();
    uint8_t *bytes = malloc(size);
    cm_record_tick_encode(&tick, 9, bytes);
    const char *wrong = cm_record_tick_decode(record, bytes, size);
    cr_assert_null(wrong, "%s", wrong);
    cr_assert_eq(cm_record_input(record)->event_count, CM_RECORD_EVENTS_MAX);
    tick.event_count++;
    cr_assert_not(cm_record_tick_size(&tick, 9, &size));
    tick.event_count = 1;
    events[0].size = CAROM_MESSAGE_MAX + 1;
    cr_assert_not(cm_record_tick_size(&tick, 9, &size));
    events[0] = (cm_game_event){CM_EVENT_LEAVE, CAROM_PLAYERS_MAX, 0, NULL, 0};
    cr_assert_not(cm_record_tick_size(&tick, 9, &size));
    carom_player_input twice[2] = {{.player = 5}, {.player = 5}};
    cm_tick_input unordered = {.inputs = twice, .input_count = 2};
    cr_assert_not(cm_record_tick_size(&unordered, 9, &size));
    free(bytes);
    cm_record_free(record);
}

Test(record, wrong_messages_are_refused_with_a_reason)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *reason;
    } cases[] = {
        {"\xff\xff\xff", 3, "no well-formed"},
        {"\x0a\x04\x08\x07\x10\x01", 6, "unknown type"},
        {"\x0a\x04\x08\x00\x10\x01", 6, "unknown type"},
        {"\x0a\x04\x08\x02\x10\x40", 6, "player out of range"},
        {"\x0a\x02\x08\x02", 4, "no well-formed"}, // no player
        {"\x0a\x07\x08\x02\x10\x01\x22\x01z", 9, "payload"},
        {"\x0a\x06\x08\x02\x10\x01\x28\x01", 8, "unknown field"},
        {"\x10\x03\x1a\x03zzz", 7, "do not divide"},
        {"\x1a\x01z", 3, "do not divide"},
        {"\x20\x01", 2, "unknown field"},
    };
    cm_record *record = cm_record_create();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wrong =
            cm_record_tick_decode(record, (const uint8_t *)cases[i].bytes, cases[i].size);
        cr_assert_not_null(wrong, "case %zu", i);
        cr_assert_not_null(strstr(wrong, cases[i].reason), "case %zu: %s", i, wrong);
        cr_assert_eq(cm_record_input(record)->event_count, 0);
        cr_assert_eq(cm_record_input(record)->input_count, 0);
    }
    uint8_t wide[2 + 2 + CAROM_INPUT_MAX + 1] = {0x10, 0x01, 0x1a, CAROM_INPUT_MAX + 1};
    cr_assert_not_null(strstr(cm_record_tick_decode(record, wide, sizeof wide), "too large"));
    cm_record_free(record);
}

Test(record, hostile_bytes_take_no_harm)
{
    cm_rng rng;
    cm_rng_seed(&rng, 815);
    cm_record *record = cm_record_create();
    drawn *in = malloc(sizeof *in);
    uint32_t refused = 0, accepted = 0;
    for (int i = 0; i < 20000; i++) {
        draw(&rng, 9, in);
        size_t size;
        cr_assert(cm_record_tick_size(&in->tick, 9, &size));
        if (size == 0) {
            continue;
        }
        uint8_t *bytes = malloc(size); // its own block: a read past the end shows
        cm_record_tick_encode(&in->tick, 9, bytes);
        for (uint32_t flips = cm_rng_below(&rng, 4); flips > 0; flips--) {
            bytes[cm_rng_next(&rng) % size] ^= (uint8_t)(1u << cm_rng_below(&rng, 8));
        }
        size_t cut = cm_rng_below(&rng, 3) == 0 ? cm_rng_next(&rng) % size : size;
        const char *wrong = cm_record_tick_decode(record, bytes, cut);
        const cm_tick_input *out = cm_record_input(record);
        refused += wrong != NULL;
        accepted += wrong == NULL;
        cr_assert_leq(out->event_count, CM_RECORD_EVENTS_MAX);
        for (uint32_t k = 0; k < out->event_count; k++) {
            cr_assert_lt(out->events[k].player, CAROM_PLAYERS_MAX);
            cr_assert_leq(out->events[k].size, CAROM_MESSAGE_MAX);
        }
        free(bytes);
    }
    cr_assert_gt(refused, 1000);
    cr_assert_gt(accepted, 1000);
    free(in);
    cm_record_free(record);
}

Test(record, blobs_pack_and_damaged_ones_are_refused)
{
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    uint8_t bytes[4096], *packed, *back;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)cm_rng_below(&rng, 4);
    }
    size_t packed_size, size;
    packed = cm_record_pack(bytes, sizeof bytes, &packed_size);
    cr_assert_not_null(packed);
    cr_assert_lt(packed_size, sizeof bytes);
    back = cm_record_unpack(packed, packed_size, sizeof bytes, &size);
    cr_assert_not_null(back);
    cr_assert_eq(size, sizeof bytes);
    cr_assert_arr_eq(back, bytes, sizeof bytes);
    free(back);
    cr_assert_null(cm_record_unpack(packed, packed_size, sizeof bytes - 1, &size));
    cr_assert_null(cm_record_unpack(packed, packed_size - 1, sizeof bytes, &size));
    cr_assert_null(cm_record_unpack(packed, 0, sizeof bytes, &size));
    free(packed);
}
