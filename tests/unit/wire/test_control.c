// Goal: each control message comes back as it was encoded; what a stranger sends is refused within
// bounded memory and named by a result; nothing leaks.
// Method: a counting allocator with a limit; every field at and beyond its range; truncations,
// flips and random bytes; bombs of tiny fields and of compressed zeros.
#include "shared/base/rng.h"
#include "shared/wire/control.h"
#include "shared/wire/control_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting {
    size_t blocks, bytes, peak;
} counting;

static void *count_allocate(void *context, size_t size)
{
    counting *c = context;
    size_t *memory = malloc(size + 16);
    cr_assert(memory);
    memory[0] = size;
    c->blocks++;
    c->bytes += size;
    c->peak = c->bytes > c->peak ? c->bytes : c->peak;
    return (char *)memory + 16;
}

static void count_release(void *context, void *memory)
{
    counting *c = context;
    if (memory != NULL) {
        size_t *block = (size_t *)(void *)((char *)memory - 16);
        c->blocks--;
        c->bytes -= block[0];
        free(block);
    }
}

static counting count;
static const carom_allocator allocator = {&count, count_allocate, count_release};

static carom_result decode(const uint8_t *bytes, size_t size, bool from_client,
                           cm_control **control)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    carom_result result = cm_control_decode(copy, size, from_client, &allocator, control);
    free(copy); // the result must not point into it
    cr_assert_eq(*control != NULL, result == CAROM_OK);
    return result;
}

static cm_control *round_trip(const cm_control *control, bool from_client)
{
    uint8_t *bytes;
    size_t size;
    cm_control *back;
    cr_assert_eq(cm_control_encode(control, &allocator, &bytes, &size), CAROM_OK);
    cr_assert_eq(decode(bytes, size, !from_client, &back) == CAROM_OK,
                 control->type == CM_CONTROL_GAME_MESSAGE);
    cm_control_free(&allocator, back);
    cr_assert_eq(decode(bytes, size, from_client, &back), CAROM_OK);
    cm_control_release_bytes(&allocator, bytes);
    cr_assert_eq(count.blocks, 1);
    return back;
}

static void finish(cm_control *control)
{
    cm_control_free(&allocator, control);
    cr_assert_eq(count.blocks, 0);
}

static cm_bytes bytes_of(const void *data, size_t size)
{
    cm_bytes bytes = {data, size};
    return bytes;
}

static bool same(cm_bytes a, cm_bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

Test(control, hello_round_trips)
{
    cm_control hello = {.type = CM_CONTROL_HELLO,
                        .protocol = 1,
                        .engine = 7,
                        .name = "J\xc3\xbcrgen",
                        .user_data = bytes_of("\0\1\2", 3),
                        .predict = true};
    cm_control *back = round_trip(&hello, true);
    cr_assert_eq(back->protocol, 1);
    cr_assert_eq(back->engine, 7);
    cr_assert_str_eq(back->name, hello.name);
    cr_assert(same(back->user_data, hello.user_data));
    cr_assert(back->predict && !back->spectate);
    finish(back);
}

#define SOURCE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static cm_control welcome_of(cm_bytes scene, cm_bytes keyframe)
{
    cm_control welcome = {.type = CM_CONTROL_WELCOME,
                          .player = 3,
                          .client_id = UINT64_MAX,
                          .tick_rate = 60,
                          .view_rate = 30,
                          .input_rate = 60,
                          .rewind_ms = 133,
                          .module = "sandbox",
                          .module_version = 2,
                          .module_abi = 2,
                          .seed = UINT64_MAX - 4,
                          .module_source = SOURCE,
                          .scene = scene,
                          .keyframe = keyframe,
                          .tick = 4000000000u,
                          .present = UINT64_C(1) << 63 | 8};
    return welcome;
}

Test(control, welcome_round_trips_compressed)
{
    static uint8_t scene[100000], keyframe[300];
    memset(scene, 5, sizeof scene);
    memset(keyframe, 6, sizeof keyframe);
    cm_control welcome = welcome_of(bytes_of(scene, sizeof scene), bytes_of(keyframe, 300));
    uint8_t *bytes;
    size_t size;
    cr_assert_eq(cm_control_encode(&welcome, &allocator, &bytes, &size), CAROM_OK);
    cr_assert_lt(size, 400);
    cm_control_release_bytes(&allocator, bytes);
    cm_control *back = round_trip(&welcome, false);
    cr_assert(same(back->scene, welcome.scene));
    cr_assert(same(back->keyframe, welcome.keyframe));
    cr_assert_str_eq(back->module, "sandbox");
    cr_assert_str_eq(back->module_source, SOURCE);
    cr_assert_eq(back->module_abi, 2);
    cr_assert_eq(back->seed, UINT64_MAX - 4);
    cr_assert_eq(back->client_id, UINT64_MAX);
    cr_assert_eq(back->present, welcome.present);
    cr_assert_eq(back->tick, welcome.tick);
    finish(back);
    welcome = welcome_of(bytes_of(NULL, 0), bytes_of(NULL, 0));
    back = round_trip(&welcome, false);
    cr_assert_eq(back->scene.size, 0);
    finish(back);
}

Test(control, world_change_of_the_most_bodies_round_trips)
{
    static cm_bytes spawned[CM_CONTROL_BODIES_MAX];
    static carom_body_id gone[CM_CONTROL_BODIES_MAX];
    static uint8_t body[200];
    for (uint32_t i = 0; i < CM_CONTROL_BODIES_MAX; i++) {
        spawned[i] = bytes_of(body, i % 200);
        gone[i] = (carom_body_id){i, i + 1};
    }
    cm_control change = {.type = CM_CONTROL_WORLD_CHANGE,
                         .tick = 9,
                         .spawned = spawned,
                         .spawned_count = CM_CONTROL_BODIES_MAX,
                         .gone = gone,
                         .gone_count = CM_CONTROL_BODIES_MAX,
                         .frame = bytes_of(body, 99)};
    cm_control *back = round_trip(&change, false);
    cr_assert_eq(back->spawned_count, CM_CONTROL_BODIES_MAX);
    cr_assert_eq(back->gone_count, CM_CONTROL_BODIES_MAX);
    cr_assert(same(back->frame, change.frame));
    for (uint32_t i = 0; i < CM_CONTROL_BODIES_MAX; i++) {
        cr_assert(same(back->spawned[i], spawned[i]));
        cr_assert(carom_body_id_equal(back->gone[i], gone[i]));
    }
    finish(back);
    // Small ones only: the largest need of memory for a byte on the wire.
    change.spawned_count = 0;
    finish(round_trip(&change, false));
    change.spawned_count = CM_CONTROL_BODIES_MAX + 1;
    uint8_t *bytes;
    size_t size;
    cr_assert_eq(cm_control_encode(&change, &allocator, &bytes, &size), CAROM_ERROR_ARGUMENT);
}

Test(control, the_small_ones_round_trip)
{
    cm_control refused = {
        .type = CM_CONTROL_REFUSED, .reason = CAROM_REASON_ROOM_FULL, .text = "full"};
    cm_control *back = round_trip(&refused, false);
    cr_assert_eq((int)back->reason, CAROM_REASON_ROOM_FULL);
    cr_assert_str_eq(back->text, "full");
    finish(back);
    cm_control message = {
        .type = CM_CONTROL_GAME_MESSAGE, .tick = 5, .payload = bytes_of("hey", 3)};
    back = round_trip(&message, true);
    cr_assert(same(back->payload, message.payload));
    finish(back);
    cm_control clock = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = 950};
    back = round_trip(&clock, false);
    cr_assert_eq(back->rate_permille, 950);
    finish(back);
    cm_control goodbye = {.type = CM_CONTROL_GOODBYE, .reason = CAROM_REASON_DRAINING};
    back = round_trip(&goodbye, false);
    cr_assert_eq((int)back->reason, CAROM_REASON_DRAINING);
    finish(back);
}

Test(control, what_is_out_of_range_is_not_encoded)
{
    static uint8_t big[CAROM_REASON_COUNT + 2000];
    cm_control cases[] = {
        {.type = CM_CONTROL_HELLO, .name = "a name of thirty-three characters"},
        {.type = CM_CONTROL_HELLO, .name = "line\nbreak"},
        {.type = CM_CONTROL_HELLO, .user_data = bytes_of(big, 257)},
        {.type = CM_CONTROL_GAME_MESSAGE, .payload = bytes_of(big, 1025)},
        {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = 0},
        {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = 1001},
        {.type = (cm_control_type)99},
        welcome_of(bytes_of(NULL, 0), bytes_of(NULL, 0)),
        welcome_of(bytes_of(NULL, 0), bytes_of(NULL, 0)),
    };
    size_t cases_count = sizeof cases / sizeof cases[0];
    cases[cases_count - 2].module_source = "0123";
    cases[cases_count - 1].module = "Sand Box";
    for (size_t i = 0; i < cases_count; i++) {
        uint8_t *bytes;
        size_t size;
        cr_assert_eq(cm_control_encode(&cases[i], &allocator, &bytes, &size), CAROM_ERROR_ARGUMENT,
                     "case %zu", i);
    }
}

// A message written by hand: tag, length, content.
static size_t wrap(uint8_t *out, uint32_t member, const uint8_t *content, size_t size)
{
    size_t n = 0;
    out[n++] = (uint8_t)(member << 3 | 2);
    for (size_t rest = size;; rest >>= 7) {
        out[n++] = (uint8_t)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
        if (rest <= 0x7f) {
            break;
        }
    }
    memcpy(out + n, content, size);
    return n + size;
}

Test(control, the_shape_is_checked_before_protobuf)
{
    const uint8_t hello[] = {0x08, 1, 0x10, 1}; // protocol 1, engine 1
    uint8_t bytes[64];
    cm_control *control;
    size_t size = wrap(bytes, 1, hello, sizeof hello);
    cr_assert_eq(decode(bytes, size, true, &control), CAROM_OK);
    finish(control);
    size_t twice = size + wrap(bytes + size, 1, hello, sizeof hello);
    cr_assert_eq(decode(bytes, twice, true, &control), CAROM_ERROR_CORRUPT, "one member twice");
    size_t other = size + wrap(bytes + size, 7, hello, 2);
    cr_assert_eq(decode(bytes, other, true, &control), CAROM_ERROR_CORRUPT, "two members");
    cr_assert_eq(decode(bytes, 0, true, &control), CAROM_ERROR_CORRUPT, "none");
    const uint8_t later[] = {0x08, 1, 0x10, 1, 0xf8, 0x01, 5}; // and field 31
    size = wrap(bytes, 1, later, sizeof later);
    cr_assert_eq(decode(bytes, size, true, &control), CAROM_OK, "unknown inside");
    finish(control);
    size = wrap(bytes, 1, hello, sizeof hello);
    const uint8_t unknown[] = {0x82, 0x01, 1, 9}; // field 16, one byte
    memcpy(bytes + size, unknown, sizeof unknown);
    cr_assert_eq(decode(bytes, size + sizeof unknown, true, &control), CAROM_OK, "unknown outside");
    finish(control);
    const uint8_t group[] = {0x83, 0x01, 0x84, 0x01};
    memcpy(bytes + size, group, sizeof group);
    cr_assert_eq(decode(bytes, size + sizeof group, true, &control), CAROM_ERROR_CORRUPT, "group");
    const uint8_t missing[] = {0x08, 1}; // required engine
    size = wrap(bytes, 1, missing, sizeof missing);
    cr_assert_eq(decode(bytes, size, true, &control), CAROM_ERROR_CORRUPT);
    size = wrap(bytes, 3, missing, sizeof missing);
    cr_assert_eq(decode(bytes, size, true, &control), CAROM_ERROR_CORRUPT, "a client refuses none");
    cr_assert_eq(decode(bytes, size, false, &control), CAROM_OK);
    finish(control);
    const uint8_t reason[] = {0x08, 0xff, 0x7f};
    size = wrap(bytes, 7, reason, sizeof reason);
    cr_assert_eq(decode(bytes, size, false, &control), CAROM_OK);
    cr_assert_eq((int)control->reason, CAROM_REASON_SERVER_ERROR, "a reason of a later version");
    finish(control);
}

Test(control, bombs_meet_a_bound)
{
    cm_control *control;
    static uint8_t content[4 << 20], bytes[(4 << 20) + 16];
    // 2 M empty spawned bodies: two bytes each.
    content[0] = 0x08;
    content[1] = 1;
    for (size_t i = 2; i < sizeof content; i += 2) {
        content[i] = 0x12;
    }
    count.peak = 0;
    size_t size = wrap(bytes, 4, content, sizeof content);
    cr_assert_neq(decode(bytes, size, false, &control), CAROM_OK);
    cr_assert_lt(count.peak, 5 * sizeof content);
    cr_assert_eq(count.blocks, 0);
    // The same in 2 KB from a client.
    size = wrap(bytes, 5, content, 2000);
    count.peak = 0;
    cr_assert_neq(decode(bytes, size, true, &control), CAROM_OK);
    cr_assert_lt(count.peak, 40000);
    cr_assert_eq(decode(bytes, CM_CONTROL_MAX_FROM_CLIENT + 1, true, &control),
                 CAROM_ERROR_LIMIT_SIZE);
    // 17 MiB of zeros compress to 2 KB: refused by its told size, before any memory.
    static uint8_t zeros[(16 << 20) + 1];
    cm_control welcome = welcome_of(bytes_of(zeros, sizeof zeros), bytes_of(NULL, 0));
    uint8_t *encoded;
    cr_assert_eq(cm_control_encode(&welcome, &allocator, &encoded, &size), CAROM_ERROR_ARGUMENT);
    welcome.scene.size--;
    cr_assert_eq(cm_control_encode(&welcome, &allocator, &encoded, &size), CAROM_OK);
    cr_assert_eq(decode(encoded, size, false, &control), CAROM_OK, "exactly the limit");
    cm_control_free(&allocator, control);
    // Its told size changed by hand: four bytes, after the magic, a descriptor, and a window byte
    // where bit 5 of the descriptor does not say otherwise.
    uint8_t *frame = memmem(encoded, size, "\x28\xb5\x2f\xfd", 4);
    cr_assert(frame);
    cr_assert_eq(frame[4] >> 6, 2);
    uint8_t *told = frame + ((frame[4] & 0x20) != 0 ? 5 : 6);
    const uint8_t right[4] = {0, 0, 0, 1}, less[4] = {0xff, 0xff, 0xff, 0}, more[4] = {1, 0, 0, 1};
    cr_assert_eq(memcmp(told, right, 4), 0);
    memcpy(told, less, 4);
    cr_assert_eq(decode(encoded, size, false, &control), CAROM_ERROR_CORRUPT);
    memcpy(told, more, 4);
    count.peak = count.bytes;
    cr_assert_eq(decode(encoded, size, false, &control), CAROM_ERROR_CORRUPT);
    cr_assert_lt(count.peak - count.bytes, 4 << 20);
    cm_control_release_bytes(&allocator, encoded);
    cr_assert_eq(count.blocks, 0);
}

Test(control, flips_and_random_bytes_never_harm)
{
    cm_rng rng;
    cm_rng_seed(&rng, 8);
    static uint8_t scene[300];
    for (size_t i = 0; i < sizeof scene; i++) {
        scene[i] = (uint8_t)cm_rng_next(&rng);
    }
    cm_control welcome = welcome_of(bytes_of(scene, 300), bytes_of(scene, 20));
    uint8_t *bytes;
    size_t size;
    cr_assert_eq(cm_control_encode(&welcome, &allocator, &bytes, &size), CAROM_OK);
    cm_control *control;
    uint32_t refused = 0;
    for (size_t cut = 0; cut < size; cut++) {
        cr_assert_eq(decode(bytes, cut, false, &control), CAROM_ERROR_CORRUPT, "cut at %zu", cut);
    }
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        refused += decode(bytes, size, false, &control) != CAROM_OK;
        cm_control_free(&allocator, control);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    cr_assert_gt(refused, 100);
    cm_control_release_bytes(&allocator, bytes);
    for (int round = 0; round < 50000; round++) {
        uint8_t junk[48], content[40];
        size_t length = cm_rng_below(&rng, sizeof content);
        for (size_t i = 0; i < length; i++) {
            content[i] = (uint8_t)cm_rng_next(&rng);
        }
        size_t junk_size = wrap(junk, 1 + cm_rng_below(&rng, 7), content, length);
        (void)decode(junk, junk_size, round % 2 == 0, &control);
        cm_control_free(&allocator, control);
        cr_assert_eq(count.blocks, 0);
    }
}

Test(control, text_must_be_printable)
{
    cr_assert(cm_text_is_printable("", 0));
    cr_assert(cm_text_is_printable("abc", 3));
    cr_assert_not(cm_text_is_printable("abcd", 3));
    cr_assert(cm_text_is_printable("\xe2\x82\xac \xf0\x9f\x8e\xb1", 32));
    const char *bad[] = {"a\tb",         "\x7f",         "\xc2\x80",         "\xc0\x80",
                         "\xe2\x82",     "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80",
                         "\xe2\x80\xae", "\xff",         "\xe0\x80\x80",     "\xf0\x82\x82\xac"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_not(cm_text_is_printable(bad[i], 32), "case %zu", i);
    }
    for (int i = -1; i <= CAROM_REASON_COUNT; i++) {
        cr_assert(strlen(carom_reason_text((carom_reason)i)) > 3);
    }
}
