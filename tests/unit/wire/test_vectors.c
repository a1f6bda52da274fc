// Goal: the bytes of the wire are the ones recorded in tests/protocol/vectors, which a second
// parser, written from PROTOCOL.md alone, reads as well (tests/protocol/parse.py). Method: packets
// of every form from a seed, written by the code and read back by it; their bytes and decoded
// fields as text must equal the recorded file.
#include "shared/base/rng.h"
#include "shared/base/vec.h"
#include "tests/unit/wire/vector_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "shared/wire/confirmed.h"
#include "shared/wire/events.h"

// Views ---------------------------------------------------------------------------------------

enum { SLOTS = 40, PACKETS = 160 };

// What a client keeps: the bodies of the packets it accepted.
typedef struct kept {
    bool used;
    uint16_t sequence;
    bool has[SLOTS], drives; // of the joints there are two views, with the same ones
    cm_view_body bodies[SLOTS], drive;
} kept;

static kept store[PACKETS];
static cm_view_entry entries[CM_VIEW_ENTRIES_MAX];

static const cm_view_body *find(void *context, uint32_t index, uint16_t sequence)
{
    (void)context;
    for (size_t i = 0; i < PACKETS; i++) {
        if (store[i].used && store[i].sequence == sequence && index == CM_VIEW_DRIVES + 2 &&
            store[i].drives) {
            return &store[i].drive;
        }
        if (store[i].used && store[i].sequence == sequence && index < SLOTS &&
            store[i].has[index]) {
            return &store[i].bodies[index];
        }
    }
    return NULL;
}

static void put_view(vector_text *out, const cm_view_config *config, const char *name,
                     const uint8_t *bytes, size_t size, kept *keep)
{
    cm_view_header header;
    uint32_t count;
    cm_packet_reason reason =
        cm_view_packet_read(bytes, size, config, find, NULL, &header, entries, &count);
    vector_next(out);
    vector_put(out, "{\"name\": \"%s\", \"reason\": \"%s\", \"hex\": ", name,
               vector_reason(reason));
    vector_hex(out, bytes, size);
    if (reason == CM_PACKET_OK) {
        vector_put(out, ",\n \"header\": ");
        vector_header(out, &header);
        vector_put(out, ",\n \"entries\": [");
        for (uint32_t i = 0; i < count; i++) {
            vector_put(out, i > 0 ? ",\n  " : "\n  ");
            vector_entry(out, &entries[i]);
            if (keep != NULL && entries[i].index < SLOTS) {
                keep->has[entries[i].index] = true;
                keep->bodies[entries[i].index] = entries[i].body;
            } else if (keep != NULL && entries[i].index == CM_VIEW_DRIVES + 2) {
                keep->drives = true;
                keep->drive = entries[i].body;
            }
        }
        vector_put(out, "]");
        if (keep != NULL) {
            keep->used = true;
            keep->sequence = header.sequence;
        }
    }
    vector_put(out, "}");
}

// A body drifts, tumbles, jumps, comes to rest.
// One draw a statement: compilers differ in the order of a call's arguments.
static carom_vec3 draw(cm_rng *rng, carom_vec3 low, carom_vec3 high)
{
    float x = cm_rng_range(rng, low.x, high.x);
    float y = cm_rng_range(rng, low.y, high.y);
    float z = cm_rng_range(rng, low.z, high.z);
    return cm_vec(x, y, z);
}

static void drift(cm_rng *rng, carom_body_state *state)
{
    float reach = cm_rng_below(rng, 4) == 0 ? 2.0f : 0.02f;
    carom_vec3 way = draw(rng, cm_vec(-reach, -reach, 0.0f), cm_vec(reach, reach, 1.0f));
    state->position = cm_add(state->position, way);
    carom_vec3 turn = cm_vec(cm_rng_range(rng, -reach, reach), 0.01f, reach * 0.3f);
    state->orientation = cm_quat_integrate(state->orientation, turn);
    if (cm_rng_below(rng, 3) == 0) {
        state->linear_velocity = draw(rng, cm_vec(-5.0f, -200.0f, 0.1f), cm_vec(5.0f, 9.0f, 0.1f));
        state->angular_velocity = draw(rng, cm_vec(-90.0f, 0.0f, -1.0f), cm_vec(9.0f, 0.0f, 1.0f));
    }
    state->asleep = cm_rng_below(rng, 5) == 0;
}

static size_t make_view(cm_rng *rng, const cm_view_config *config, carom_body_state *states,
                        uint16_t sequence, uint32_t round, uint8_t *bytes)
{
    cm_view_header header = {.epoch = (uint8_t)(round / 4),
                             .sequence = sequence,
                             .tick = 2 * round + 7,
                             .input_ack = 2 * round + 9,
                             .input_lead = round % 7 == 0 ? CM_LEAD_UNKNOWN
                                                          : (int16_t)(round % 2 ? -20 : 31)};
    header.has_public = round % 3 == 0;
    if (header.has_public) {
        header.public_size = round;
        header.present = UINT64_C(0x8000000000000005);
        memset(header.public_state, (int)(round + 1), round);
        header.public_number = (uint8_t)(250 + round);
        header.public_back = round == 6 ? 63 : 0;
    }
    header.public_unsure = round % 6 == 1 || round == 8;
    header.has_wrench = round % 4 == 1 || round == 6; // alone, and behind a public state
    header.force = cm_vec(0.1f * (float)round, -9.81f, 1.0e-30f);
    header.torque = cm_vec(-0.0f, (float)round, 3.0e8f);
    header.has_durable = round % 5 < 2; // alone, behind each of the others, behind both
    header.durable_age = (uint16_t)round;
    header.has_messages = round % 4 == 0 || round == 7;
    header.messages = (uint16_t)(65530 + round);
    header.relay_size = round % 6 == 2 ? 3 + round : 0; // alone, and behind others
    memset(header.relay, (int)(0x50 + round), header.relay_size);
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, CM_PACKET_MAX);
    uint32_t slot = round == 4 ? SLOTS : cm_rng_below(rng, 20);
    for (; slot < SLOTS; slot += cm_rng_below(rng, 3) ? 1 : 1 + cm_rng_below(rng, 30)) {
        drift(rng, &states[slot]);
        cm_view_entry entry = {.index = slot, .generation = slot % 4};
        cm_view_quantise(config, &states[slot], slot % 2 == 0, &entry.body);
        uint32_t age = cm_rng_below(rng, 4);
        const cm_view_body *baseline =
            age > 0 ? find(NULL, slot, (uint16_t)(sequence - age)) : NULL;
        entry.baseline_age = baseline != NULL ? age : 0;
        if (baseline != NULL && cm_rng_below(rng, 4) == 0) {
            entry.body = *baseline;
        }
        cr_assert(
            cm_view_writer_put(&writer, &entry, cm_view_encode(config, baseline, &entry.body)));
    }
    return cm_view_writer_end(&writer);
}

// What drives joints: alone, with a body before it; against what it was: near, far, nothing of it.
static void put_drives(vector_text *out, const cm_view_config *config, uint16_t sequence)
{
    uint8_t bytes[CM_PACKET_MAX];
    carom_joint_drives drives = {.linear = {0.5f, 0, 0}, .max_force = 1e15f, .max_torque = 1e15f};
    const uint32_t joints[] = {2, 3, 20, 65535};
    size_t size = 0;
    for (uint32_t round = 0; round < 4; round++) {
        cm_view_header header = {.sequence = (uint16_t)(sequence + round), .has_drives = true};
        cm_view_entry body = {.index = 7, .generation = 1};
        cm_view_writer writer;
        cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
        if (round == 0) {
            body.body.position[1] = 500;
            cr_assert(cm_view_writer_put(&writer, &body, cm_view_encode(config, NULL, &body.body)));
        }
        drives.linear.x *= round == 1 ? 1.01f : 1.0f;
        drives.target = round == 2 ? -0.25f : drives.target;
        for (uint32_t i = 0; i < (round == 0 ? 4 : 1); i++) {
            cm_view_entry entry = {.index = CM_VIEW_DRIVES + joints[i], .generation = i % 3};
            entry.body = cm_view_drive_make(&drives);
            entry.baseline_age = round > 0 ? 1 : 0;
            const cm_view_body *baseline =
                round > 0 ? find(NULL, entry.index, (uint16_t)(header.sequence - 1)) : NULL;
            cr_assert(
                cm_view_writer_put(&writer, &entry, cm_view_drive_encode(baseline, &entry.body)));
        }
        size = cm_view_writer_end(&writer);
        char name[32];
        snprintf(name, sizeof name, "drives %u", round);
        put_view(out, config, name, bytes, size, &store[PACKETS - 1 - round]);
    }
    put_view(out, config, "cut in a drive", bytes, size - 3, NULL);
    bytes[2] = 99;
    put_view(out, config, "no such drive before", bytes, size, NULL);
    uint8_t none[64] = {CM_PACKET_VIEW, 0};
    none[14] = 32;
    none[15] = 2 | 0 << 2 | 1 << 3; // no body; a joint, by its slot
    memset(none + 16, 0xff, 8);
    put_view(out, config, "a drive whose words are not told", none, 20, NULL);
}

static void put_bad_views(vector_text *out, const cm_view_config *config, const uint8_t *good,
                          size_t size)
{
    uint8_t bytes[CM_PACKET_MAX + 1] = {0};
    memcpy(bytes, good, size);
    put_view(out, config, "empty", bytes, 0, NULL);
    put_view(out, config, "cut in its header", bytes, 14, NULL);
    put_view(out, config, "cut in a body", bytes, 30, NULL);
    put_view(out, config, "cut in its check", bytes, size - 1, NULL);
    put_view(out, config, "a byte left over", bytes, size + 1, NULL);
    put_view(out, config, "longer than a packet", bytes, sizeof bytes, NULL);
    bytes[0] = 9;
    put_view(out, config, "unknown type", bytes, size, NULL);
    bytes[0] = CM_PACKET_VIEW;
    bytes[14] ^= 128;
    put_view(out, config, "reserved flag", bytes, size, NULL);
    bytes[14] ^= 128;
    bytes[14] ^= 64;
    put_view(out, config, "another word of the public state", bytes, size, NULL);
    bytes[14] ^= 64;
    bytes[4] ^= 1;
    put_view(out, config, "another tick", bytes, size, NULL);
    uint8_t large[32] = {CM_PACKET_VIEW, 0, 1};
    large[14] = 1;
    large[16] = 0x05; // public_size 1,280
    put_view(out, config, "public state too large", large, sizeof large, NULL);
    large[16] = 0;
    large[18] = 64;
    put_view(out, config, "a difference from too long ago", large, sizeof large, NULL);
    large[14] = 65;
    large[18] = 0;
    put_view(out, config, "a public state that is told and is not", large, sizeof large, NULL);
    uint8_t wrench[64] = {CM_PACKET_VIEW, 0, 1};
    wrench[14] = 2;
    put_view(out, config, "cut in its wrench", wrench, 38, NULL);
    wrench[15 + 22] = 0x80;
    wrench[15 + 23] = 0x7f; // the last torque: infinite
    put_view(out, config, "a wrench that is not finite", wrench, 42, NULL);
    uint8_t durable[32] = {CM_PACKET_VIEW, 0, 1, 0, 9};
    durable[14] = 4;
    durable[15] = 10;
    put_view(out, config, "durable before tick 0", durable, 20, NULL);
    put_view(out, config, "cut in its durable_age", durable, 16, NULL);
    durable[14] = 8;
    put_view(out, config, "cut in its messages", durable, 16, NULL);
    uint8_t relay[32] = {CM_PACKET_VIEW, 0, 1};
    relay[14] = 16;
    put_view(out, config, "a relay of nothing", relay, 22, NULL);
    relay[15] = 7;
    put_view(out, config, "cut in its relay", relay, 20, NULL);
    relay[16] = 2;
    put_view(out, config, "a relay that is too long", relay, 32, NULL);
    // Bits: a body, not the next slot, long form, slot 3; alone. Then one more: long form, slot 3.
    uint8_t twice[64] = {CM_PACKET_VIEW, 77, 0};
    cm_view_header header = {.sequence = 77};
    cm_view_entry entry = {.index = 65535};
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, twice, sizeof twice);
    cr_assert(cm_view_writer_put(&writer, &entry, cm_view_encode(config, NULL, &entry.body)));
    cm_write_bits(&writer.bits, 3, 2); // one more, in the slot after 65,535
    size_t used = cm_view_writer_end(&writer);
    put_view(out, config, "a slot beyond the last", twice, used + 8, NULL);
    cm_view_writer_begin(&writer, &header, twice, sizeof twice);
    entry.index = 3;
    cr_assert(cm_view_writer_put(&writer, &entry, cm_view_encode(config, NULL, &entry.body)));
    cm_write_bits(&writer.bits, 1 | 0 << 1 | 1 << 2 | 3 << 3, 19);
    used = cm_view_writer_end(&writer);
    put_view(out, config, "a slot again", twice, used + 8, NULL);
    cm_view_writer_begin(&writer, &header, twice, sizeof twice);
    entry.index = 0;
    entry.baseline_age = 100;
    cr_assert(
        cm_view_writer_put(&writer, &entry, cm_view_encode(config, &entry.body, &entry.body)));
    used = cm_view_writer_end(&writer);
    put_view(out, config, "no such baseline", twice, used, NULL);
}

Test(vectors, views)
{
    cm_rng rng;
    cm_rng_seed(&rng, 102);
    memset(store, 0, sizeof store);
    const carom_vec3 lower = cm_vec(-30.0f, -10.0f, -64.0f), upper = cm_vec(30.0f, 40.0f, 64.0f);
    cm_view_config config;
    cr_assert_eq(cm_view_config_make(lower, upper, 1.0f / 512.0f, &config), CAROM_OK);
    static carom_body_state states[SLOTS];
    memset(states, 0, sizeof states);
    for (uint32_t i = 0; i < SLOTS; i++) {
        states[i].type = CAROM_BODY_DYNAMIC;
        states[i].orientation = cm_quat_identity();
        states[i].position = cm_vec((float)i - 20.0f, 1.0f, 0.5f);
    }
    vector_text out = {.first = true};
    vector_put(&out, "{\"lower\": [-30, -10, -64], \"upper\": [30, 40, 64], ");
    vector_put(&out, "\"position_step\": 0.001953125,\n\"stream\": [");
    uint8_t bytes[CM_PACKET_MAX];
    size_t size = 0;
    for (uint32_t round = 0; round < 12; round++) {
        uint16_t sequence = (uint16_t)(65530 + round); // wraps on the way
        size = make_view(&rng, &config, states, sequence, round, bytes);
        char name[32];
        snprintf(name, sizeof name, "view %u", round);
        put_view(&out, &config, name, bytes, size, &store[round]);
    }
    put_bad_views(&out, &config, bytes, size);
    put_drives(&out, &config, 200);
    vector_put(&out, "\n],\n\"poses\": [");
    out.first = true;
    for (uint32_t i = 0; i < SLOTS; i += 5) {
        cm_view_body body;
        cm_view_pose pose;
        cm_view_quantise(&config, &states[i], true, &body);
        cm_view_dequantise(&config, &body, &pose);
        vector_next(&out);
        vector_put(&out, "{\"body\": ");
        vector_body(&out, &body);
        vector_put(&out, ",\n \"pose\": ");
        vector_pose(&out, &pose);
        vector_put(&out, "}");
    }
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "views");
}

// Control messages ----------------------------------------------------------------------------

static void put_control(vector_text *out, const char *name, const uint8_t *bytes, size_t size,
                        bool from_client)
{
    cm_control *control;
    carom_result result = cm_control_decode(bytes, size, from_client, NULL, &control);
    vector_next(out);
    vector_put(out, "{\"name\": \"%s\", \"from_client\": %d, \"accepted\": %d, \"hex\": ", name,
               from_client, result == CAROM_OK);
    vector_hex(out, bytes, size);
    if (result == CAROM_OK) {
        vector_put(out, ",\n \"message\": ");
        vector_control(out, control);
    }
    vector_put(out, "}");
    cm_control_free(NULL, control);
}

static void put_encoded(vector_text *out, const char *name, const cm_control *control)
{
    uint8_t *bytes;
    size_t size;
    cr_assert_eq(cm_control_encode(control, NULL, &bytes, &size), CAROM_OK);
    put_control(out, name, bytes, size, control->type == CM_CONTROL_HELLO);
    cm_control_release_bytes(NULL, bytes);
}

// Sound ones, and the rows that are not: none, cut, too long, twice, too many.
static void put_event_messages(vector_text *out)
{
    carom_event events[CAROM_EVENTS_MAX] = {{0, 7, 1, {5, UINT64_C(0xfedcba9876543210)}, 3, "abc"},
                                            {.kind = 7, .key = 2}};
    for (uint32_t i = 2; i < CAROM_EVENTS_MAX; i++) {
        events[i] = (carom_event){.key = i, .size = CAROM_EVENT_BYTES_MAX};
    }
    uint8_t rows[CM_EVENTS_BYTES_MAX + CM_EVENT_ROW_MIN] = {0}, bytes[sizeof rows + 16];
    size_t all = cm_events_write(events, CAROM_EVENTS_MAX, rows);
    cm_control control = {.type = CM_CONTROL_EVENTS, .tick = 90, .payload = {rows, 0}};
    control.payload.size = cm_events_write(events, 2, rows);
    put_encoded(out, "events", &control);
    cm_events_write(events, CAROM_EVENTS_MAX, rows);
    control.payload.size = all;
    put_encoded(out, "as many events as a tick has", &control);
    // tick 9, then the rows, by hand: the encoder refuses them
    const size_t sizes[] = {0, 24, 27, 28 + 24, 28 + 25, 28 + 25};
    const char *const names[] = {
        "no event",           "events cut in their row", "events cut in their bytes",
        "a second event cut", "an event twice",          "an event with too many bytes"};
    for (uint32_t i = 0; i < 6; i++) {
        cm_events_write(events, CAROM_EVENTS_MAX, rows);
        if (i == 4) {
            memcpy(rows + 28, rows, 24);
            rows[28 + 24] = 0;
        } else if (i == 5) {
            rows[28 + 24] = 33;
        }
        const uint8_t head[] = {0x52, (uint8_t)(sizes[i] + 4), 8, 9, 18, (uint8_t)sizes[i]};
        memcpy(bytes, head, sizeof head);
        memcpy(bytes + sizeof head, rows, sizes[i]);
        put_control(out, names[i], bytes, sizeof head + sizes[i], false);
    }
}

// A welcome with frames of stored blocks, as any zstd may write them, so that the bytes here do not
// depend on a version of the library.
static size_t stored_frame(uint8_t *out, const char *content)
{
    size_t size = strlen(content);
    const uint8_t head[] = {
        0x28, 0xb5, 0x2f, 0xfd, 0x20, (uint8_t)size, (uint8_t)(1 | size << 3), (uint8_t)(size >> 5),
        0};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, content, size);
    return sizeof head + size;
}

// With a keyframe_size where that is not 0: a varint of four bytes.
static size_t make_large_welcome(uint8_t *out, const char *keyframe, bool ticket,
                                 uint32_t keyframe_size)
{
    uint8_t content[256];
    size_t n = 0;
    const uint8_t numbers[] = {0x08, 3,    0x10, 0x99, 0x01, 0x18, 60,   0x20,
                               30,   0x28, 60,   0x30, 0x85, 0x01, 0x3a, 7};
    memcpy(content, numbers, sizeof numbers);
    n += sizeof numbers;
    memcpy(content + n, "sandbox", 7);
    n += 7;
    content[n++] = 0x40;
    content[n++] = 1;
    content[n++] = 0xa8; // module_abi
    content[n++] = 0x01;
    content[n++] = 2;
    content[n++] = 0xb8; // seed
    content[n++] = 0x01;
    content[n++] = 55;
    content[n++] = 0x4a;
    content[n] = (uint8_t)stored_frame(content + n + 1, "a scene");
    n += 1u + content[n];
    content[n++] = 0x50;
    content[n++] = 77;
    content[n++] = 0x5a;
    content[n] = (uint8_t)stored_frame(content + n + 1, keyframe);
    n += 1u + content[n];
    content[n++] = 0x60;
    content[n++] = 9;
    // epoch, messages, durability, durable_tick, messages_before
    const uint8_t epoch[] = {0x68, 200, 1, 0x70, 2, 0x90, 1, 1, 0x98, 1, 70, 0xa0, 1, 5};
    memcpy(content + n, epoch, sizeof epoch);
    n += sizeof epoch;
    if (ticket) {
        const uint8_t head[] = {0x88, 1, 0x98, 0x75, 0x7a, 4, 't', 'i', 'c', 'k', 0x82, 1, 32};
        memcpy(content + n, head, sizeof head); // a grace time of 15 s first
        n += sizeof head;
        memset(content + n, 'k', 32);
        n += 32;
    }
    if (keyframe_size > 0) {
        const uint8_t field[] = {0xc0,
                                 1,
                                 (uint8_t)(keyframe_size | 0x80),
                                 (uint8_t)(keyframe_size >> 7 | 0x80),
                                 (uint8_t)(keyframe_size >> 14 | 0x80),
                                 (uint8_t)(keyframe_size >> 21)};
        memcpy(content + n, field, sizeof field);
        n += sizeof field;
    }
    out[0] = 0x12;
    out[1] = (uint8_t)n;
    out[2] = 1; // only above 127: a length of two bytes
    size_t at = n > 127 ? 3 : 2;
    out[1] |= n > 127 ? 0x80 : 0;
    memcpy(out + at, content, n);
    return n + at;
}

static size_t make_welcome(uint8_t *out, bool ticket)
{
    return make_large_welcome(out, "a keyframe", ticket, 0);
}

// Keyframes in parts, and those that are none.
static void put_parts(vector_text *out)
{
    uint8_t bytes[300];
    size_t size = make_large_welcome(bytes, "", false, CM_CONTROL_PART_SIZE + 1);
    put_control(out, "welcome whose keyframe follows", bytes, size, false);
    size = make_large_welcome(bytes, "", false, CM_CONTROL_KEYFRAME_MAX);
    put_control(out, "welcome with the largest keyframe", bytes, size, false);
    size = make_large_welcome(bytes, "a keyframe", false, CM_CONTROL_PART_SIZE + 1);
    put_control(out, "welcome with a keyframe here and in parts", bytes, size, false);
    size = make_large_welcome(bytes, "", false, CM_CONTROL_PART_SIZE);
    put_control(out, "welcome whose keyframe is one part", bytes, size, false);
    size = make_large_welcome(bytes, "", false, CM_CONTROL_KEYFRAME_MAX + 1);
    put_control(out, "welcome with a keyframe above the limit", bytes, size, false);
    const char *const contents[] = {"some bytes", ""};
    const char *const names[] = {"keyframe part", "keyframe part of nothing"};
    for (uint32_t i = 0; i < 2; i++) {
        bytes[0] = 0x6a;
        bytes[2] = 0x0a;
        bytes[3] = (uint8_t)stored_frame(bytes + 4, contents[i]);
        bytes[1] = (uint8_t)(bytes[3] + 2);
        put_control(out, names[i], bytes, 4u + bytes[3], false);
    }
    static const uint8_t raw[] = {0x6a, 4, 0x0a, 2, 'n', 'o'};
    put_control(out, "keyframe part that is no frame", raw, sizeof raw, false);
}

static void put_notices(vector_text *out)
{
    cm_control notice = {.type = CM_CONTROL_NOTICE, .text = "Back at 20:00."};
    put_encoded(out, "a notice", &notice);
    notice.reason = CAROM_REASON_DRAINING;
    notice.seconds_left = 600;
    put_encoded(out, "a notice of the end", &notice);
    const uint8_t mute[] = {0x72, 2, 16, 7}, bell[] = {0x72, 3, 10, 1, 7};
    put_control(out, "a notice without a text", mute, sizeof mute, false);
    put_control(out, "a notice that rings", bell, sizeof bell, false);
}

// Of exact sync: a tick with a join and inputs, one of nothing; and what a client says of one.
static void put_confirmed(vector_text *out)
{
    const cm_game_event events[] = {
        {CM_EVENT_JOIN, 3, 77, (const uint8_t *)"red", 3},
        {CM_EVENT_MESSAGE, 0, 0, (const uint8_t *)"go", 2},
        {.type = CM_EVENT_LEAVE, .player = 1},
    };
    const carom_player_input inputs[] = {{.player = 0, .bytes = {1, 2}},
                                         {.player = 3, .bytes = {0, 0, 5}}};
    const cm_confirmed_tick ticks[] = {
        {.tick = 600, .hash = 0x0123456789abcdef, .input = {events, 3, inputs, 2}},
        {.tick = 601, .hash = 9, .follows = true},
        {.tick = 602,
         .hash = 10,
         .resumed = true,
         .input = {.inputs = inputs + 1, .input_count = 1}},
    };
    uint8_t bytes[300];
    size_t ends[3], size = 0;
    for (uint32_t i = 0; i < 3; i++) {
        size += cm_confirmed_write(&ticks[i], bytes + size, sizeof bytes - size);
        ends[i] = size;
    }
    cm_control confirmed = {.type = CM_CONTROL_CONFIRMED, .payload = {bytes, size}};
    put_encoded(out, "confirmed ticks", &confirmed);
    uint8_t message[400] = {0x7a, 0, 0, 0x0a};
    const size_t parts[][2] = {
        {0, ends[0] - 1}, {0, ends[0]}, {ends[1], ends[2]}, {0, 0}, {ends[0], ends[1]}};
    const char *const names[] = {"a confirmed tick cut short", "a confirmed tick",
                                 "the last confirmed tick", "no confirmed tick",
                                 "a confirmed tick that follows none"};
    for (uint32_t i = 0; i < 5; i++) {
        size_t length = parts[i][1] - parts[i][0];
        message[1] = (uint8_t)(length + 3) | 0x80; // in two bytes each
        message[2] = (uint8_t)((length + 3) >> 7);
        message[4] = (uint8_t)length | 0x80;
        message[5] = (uint8_t)(length >> 7);
        memcpy(message + 6, bytes + parts[i][0], length);
        put_control(out, names[i], message, 6 + length, false);
    }
    size_t gap = ends[0] + ends[2] - ends[1]; // 602: not the next
    memcpy(message + 6, bytes, ends[0]);
    memcpy(message + 6 + ends[0], bytes + ends[1], ends[2] - ends[1]);
    message[1] = (uint8_t)(gap + 3) | 0x80;
    message[2] = (uint8_t)((gap + 3) >> 7);
    message[4] = (uint8_t)gap | 0x80;
    message[5] = (uint8_t)(gap >> 7);
    put_control(out, "confirmed ticks with a gap", message, 6 + gap, false);
    put_control(out, "confirmed ticks of a client", message, 6 + ends[0], true);
    const uint8_t differs[] = {0x7a, 3, 0x10, 0xd8, 4}, zero[] = {0x7a, 2, 0x10, 0};
    put_control(out, "a tick that differs", differs, sizeof differs, true);
    put_control(out, "a tick that differs, of a server", differs, sizeof differs, false);
    put_control(out, "tick 0 differs", zero, sizeof zero, true);
}

Test(vectors, control)
{
    vector_text out = {.first = true};
    vector_put(&out, "{\"vectors\": [");
    cm_control hello = {.type = CM_CONTROL_HELLO,
                        .protocol = 1,
                        .engine = 1,
                        .name = "Anna",
                        .user_data = {(const uint8_t *)"\1\2\3", 3},
                        .predict = true};
    put_encoded(&out, "hello", &hello);
    hello.room = "arena";
    put_encoded(&out, "hello with a room", &hello);
    hello.room = NULL;
    uint8_t bytes[300];
    cm_control back = hello;
    back.comes_back = true;
    back.epoch = 255;
    back.messages_had = 7;
    put_encoded(&out, "hello of one who comes back", &back);
    cm_control own = hello;
    own.module = "ball";
    own.module_version = 2;
    own.module_abi = 4;
    put_encoded(&out, "hello of one with a module", &own);
    own.module_source = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    put_encoded(&out, "hello of one with a module of this source", &own);
    static const uint8_t loud[] = {0x0a, 8, 0x08, 1, 0x10, 1, 0x52, 2, 'P', 'q'};
    put_control(&out, "hello with a module of no such name", loud, sizeof loud, true);
    static const uint8_t half[] = {0x0a, 6, 0x08, 1, 0x10, 1, 0x40, 5};
    put_control(&out, "hello that says its epoch alone", half, sizeof half, true);
    static const uint8_t wide[] = {0x0a, 9, 0x08, 1, 0x10, 1, 0x40, 0x80, 2, 0x48, 0};
    put_control(&out, "hello with an epoch above 255", wide, sizeof wide, true);
    put_control(&out, "welcome", bytes, make_welcome(bytes, false), false);
    put_control(&out, "welcome with a ticket", bytes, make_welcome(bytes, true), false);
    size_t early = make_welcome(bytes, false);
    bytes[early - 4] = 78; // durable_tick: one after the keyframe's
    put_control(&out, "welcome, durable before it happened", bytes, early, false);
    bytes[early - 4] = 70;
    bytes[early - 7] = 4; // durability
    put_control(&out, "welcome with an unknown durability", bytes, early, false);
    size_t cut = make_welcome(bytes, true); // its key one byte short: another field takes that byte
    bytes[cut - 33] = 30;
    bytes[cut - 2] = 0xf8;
    bytes[cut - 1] = 0x00;
    put_control(&out, "welcome with half a key", bytes, cut, false);
    put_parts(&out);
    cm_control refused = {
        .type = CM_CONTROL_REFUSED, .reason = CAROM_REASON_ROOM_FULL, .text = "8"};
    put_encoded(&out, "refused", &refused);
    const cm_bytes spawned[2] = {{(const uint8_t *)"body", 4}, {(const uint8_t *)"b", 1}};
    const carom_body_id gone[2] = {{0, 1}, {65535, 70000}};
    cm_control change = {.type = CM_CONTROL_WORLD_CHANGE,
                         .tick = 500,
                         .spawned = spawned,
                         .spawned_count = 2,
                         .gone = gone,
                         .gone_count = 2,
                         .frame = {(const uint8_t *)"frame", 5}};
    put_encoded(&out, "world change", &change);
    cm_control message = {
        .type = CM_CONTROL_GAME_MESSAGE, .tick = 12, .payload = {(const uint8_t *)"hey", 3}};
    put_encoded(&out, "game message", &message);
    cm_control clock = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = 870};
    put_encoded(&out, "room clock", &clock);
    cm_control durability = {
        .type = CM_CONTROL_DURABILITY, .tick = 4711, .durability = CAROM_DURABILITY_LOST};
    put_encoded(&out, "not durable", &durability);
    durability.durability = CAROM_DURABILITY_PROCESS;
    put_encoded(&out, "durable again", &durability);
    const uint8_t unkept[] = {0x4a, 4, 8, 9, 16, 0}, unknown[] = {0x4a, 4, 8, 9, 16, 4};
    put_control(&out, "durability that says nothing", unkept, sizeof unkept, false);
    put_control(&out, "unknown durability", unknown, sizeof unknown, false);
    put_event_messages(&out);
    cm_control goodbye = {.type = CM_CONTROL_GOODBYE, .reason = CAROM_REASON_DRAINING};
    put_encoded(&out, "goodbye", &goodbye);
    const cm_control_player rows[] = {{0, "Anna", {12, 3}, 48, false}, {63, "", {0, 0}, 0, true}};
    cm_control players = {.type = CM_CONTROL_PLAYERS, .players = rows, .player_count = 2};
    put_encoded(&out, "players", &players);
    cm_control nobody = {.type = CM_CONTROL_PLAYERS};
    put_encoded(&out, "no players", &nobody);
    const cm_control_room list[] = {{"lobby", "a hall", "", 3, 64, 9400},
                                    {"", "sandbox", "sandbox", 0, 8, 9401}};
    cm_control rooms = {
        .type = CM_CONTROL_ROOMS, .first = 64, .total = 66, .rooms = list, .room_count = 2};
    put_encoded(&out, "rooms", &rooms);
    rooms = (cm_control){.type = CM_CONTROL_ROOMS};
    put_encoded(&out, "no rooms", &rooms);
    const uint8_t ask[] = {0x5a, 0}, beyond[] = {0x62, 4, 8, 1, 16, 0};
    put_control(&out, "rooms, please", ask, sizeof ask, true);
    put_control(&out, "a server asks for rooms", ask, sizeof ask, false);
    put_control(&out, "rooms after the last one", beyond, sizeof beyond, false);
    const uint8_t crowd[] = {0x62, 20, 8, 0,  16, 1,  26, 14, 10, 0,    18,
                             0,    26, 0, 32, 65, 40, 64, 48, 1,  0x78, 0};
    put_control(&out, "a room with more players than there are slots", crowd, sizeof crowd, false);
    const uint8_t again[] = {0x42, 28, 10, 12, 8, 1,  18, 0,  24, 0,  32, 0,  40, 0,  48,
                             0,    10, 12, 8,  1, 18, 0,  24, 0,  32, 0,  40, 0,  48, 0};
    put_control(&out, "a player twice", again, sizeof again, false);
    put_notices(&out);
    put_confirmed(&out);
    const uint8_t two[] = {0x3a, 2, 8, 1, 0x32, 3, 8, 0xe6, 6};
    put_control(&out, "two members", two, sizeof two, false);
    const uint8_t none[] = {0x82, 1, 1, 9};
    put_control(&out, "no member", none, sizeof none, false);
    const uint8_t later[] = {0x3a, 5, 8, 1, 0xf8, 1, 5, 0x82, 1, 1, 9};
    put_control(&out, "unknown fields", later, sizeof later, false);
    const uint8_t wrong[] = {0x3a, 2, 8, 1};
    put_control(&out, "a goodbye from a client", wrong, sizeof wrong, true);
    const uint8_t missing[] = {0x0a, 2, 8, 1};
    put_control(&out, "a hello without its engine", missing, sizeof missing, true);
    const uint8_t clock_out[] = {0x32, 3, 8, 0xe9, 7};
    put_control(&out, "a clock of 1001", clock_out, sizeof clock_out, false);
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "control");
}
