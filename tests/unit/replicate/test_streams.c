// Goal: what goes to a client beside its views, whole and in order: confirmed ticks, each message
// of which says at which tick it begins; and a keyframe in parts, which takes no more of a path
// than it may. Method: both streams by themselves, with a transport that keeps what it is given.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "server/replicate/confirmed_stream.h"
#include "server/replicate/keyframe_stream.h"
#include "shared/base/rng.h"

static uint64_t next_tick; // that the next message is to begin with
static uint32_t messages;

static bool read_message(cm_transport *transport, cm_connection_id connection, cm_send_kind kind,
                         const void *bytes, size_t size)
{
    static cm_confirmed_read_tick read;
    cm_control *control = NULL;
    (void)transport, (void)connection, (void)kind;
    cr_assert_eq(cm_control_decode(bytes, size, false, NULL, &control), CAROM_OK);
    read.tick.tick = 0; // what was read before is another message's
    for (size_t at = 0, used = 0; at < control->payload.size; at += used) {
        cr_assert_null(cm_confirmed_read(control->payload.data + at, control->payload.size - at,
                                         &read, &used));
        cr_assert_eq(read.tick.tick, next_tick, "message %u", messages);
        next_tick++;
    }
    cm_control_free(NULL, control);
    messages++;
    return true;
}

Test(streams, each_message_says_at_which_tick_it_begins)
{
    static const cm_transport_functions functions = {.send = read_message};
    static uint8_t word[CAROM_MESSAGE_MAX];
    static cm_client member = {.session = {.state = CM_SESSION_JOINED}};
    static cm_roster roster = {.members = {&member}};
    static cm_history_slot slot;
    static cm_game_event events[60];
    cm_transport transport = {&functions, 1};
    cm_confirmed_stream stream = {0};
    cr_assert(cm_confirmed_stream_init(&stream, 60));
    for (uint32_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        events[i] = (cm_game_event){
            .type = CM_EVENT_MESSAGE, .player = 3, .bytes = word, .size = sizeof word};
    }
    slot.input = (cm_tick_input){.events = events, .event_count = 60}; // four fill a message
    next_tick = 500;
    messages = 0;
    for (slot.tick = 500; slot.tick < 520; slot.tick++) {
        cm_confirmed_stream_add(&stream, &slot, &roster, &transport);
        if (slot.tick % 7 == 0) {
            cm_confirmed_stream_send(&stream, &roster, &transport);
        }
    }
    cm_confirmed_stream_send(&stream, &roster, &transport);
    cr_expect_eq(next_tick, 520);
    cr_expect_geq(messages, 5);
    cm_confirmed_stream_free(&stream);
}

Test(streams, a_keyframe_takes_its_part_of_a_path)
{
    const size_t whole = 8u << 20;
    cm_keyframe_streams streams = {0};
    cm_snapshot snapshot = {0};
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    cr_assert(cm_snapshot_init(&snapshot, 4, 1));
    cm_keyframe *keyframe = cm_keyframe_create(whole, &snapshot);
    cr_assert_not_null(keyframe);
    for (size_t i = 0; i < whole; i++) { // chance does not compress
        cm_keyframe_bytes(keyframe)[i] = (uint8_t)cm_rng_below(&rng, 256);
    }
    cm_keyframe_streams_begin(&streams, 2, keyframe);
    cm_keyframe_release(keyframe);
    size_t sent = 0, size;
    for (uint32_t tick = 0; tick < 120; tick++) {
        cr_assert(cm_keyframe_streams_tick(&streams, 60));
        cr_expect_null(cm_keyframe_streams_part(&streams, 2, CM_KEYFRAME_WINDOW + 1, &size));
        if (cm_keyframe_streams_part(&streams, 2, CM_KEYFRAME_WINDOW, &size) != NULL) {
            cm_keyframe_streams_sent(&streams, 2);
            sent += size;
        }
    }
    const size_t second = CM_KEYFRAME_KBIT * 125u;
    cr_expect_geq(sent, 2 * second);
    cr_expect_leq(sent, 2 * second + 2 * CM_CONTROL_PART_SIZE + 1000, "%zu bytes in 2 s", sent);
    cr_expect_null(cm_keyframe_streams_whole(&streams, 2));
    cm_keyframe_streams_end(&streams, 2);
    cm_snapshot_free(&snapshot);
}
