// Goal: what is coded comes back, exactly, whatever the cubes and whichever frames are held; a
// packet stands alone; bytes are the same from every build; any other bytes are refused with a
// reason, in bounded work. Method: crowds of our own engine, frames of chance with every field at
// its extremes, packets cut, lengthened and changed.
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/tools/bench/codec_run.h"
#include "server/tools/bench/crowd.h"
#include "shared/base/hash.h"
#include "shared/codec/models.h"
#include "tests/unit/codec/frames.h"

#define FRAMES  48
#define CROWD   150
#define BYTES   (CM_CODEC_CUBES * sizeof(cm_cube))
#define HOSTILE 400

// Changes with model.inc and with what packets hold, never with compiler or machine.
#define GOLDEN UINT64_C(0xca6ff6c01790ec87)

static cm_cube frames[FRAMES][CM_CODEC_CUBES], got[CM_CODEC_CUBES];
static uint8_t bytes[CM_CODEC_BYTES_MAX];

static void make_frames(uint64_t seed, uint32_t rare, uint32_t often)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    for (uint32_t i = 0; i < CM_CODEC_CUBES; i++) {
        frames[0][i] = any_cube(&rng);
    }
    for (int n = 1; n < FRAMES; n++) {
        next_frame(&rng, frames[n - 1], frames[n], rare, often);
    }
}

static cm_codec_held held_at(int frame, int from)
{
    cm_codec_held held = {0};
    for (int age = from; age <= frame && age < CM_CODEC_AGES; age++) {
        held.by_age[age] = frames[frame - age];
    }
    return held;
}

static size_t same(cm_codec_mode mode, const cm_codec_held *held, const cm_cube *cubes)
{
    size_t size = cm_codec_encode(mode, held, cubes, bytes, sizeof bytes);
    cr_assert_gt(size, 0);
    memset(got, 0x55, sizeof got);
    cm_codec_reason reason = cm_codec_decode(held, bytes, size, got);
    cr_assert_eq(reason, CM_CODEC_OK, "%s", cm_codec_reason_text(reason));
    cr_assert_eq(memcmp(got, cubes, BYTES), 0);
    return size;
}

Test(codec, frames_of_chance_come_back)
{
    static const uint32_t KINDS[][2] = {{1, 1}, {3, 2}, {50, 3}, {1000, 20}, {100000, 100000}};
    for (uint32_t k = 0; k < 5; k++) {
        make_frames(k + 1, KINDS[k][0], KINDS[k][1]);
        for (int n = 0; n < FRAMES; n++) {
            cm_codec_held held = held_at(n, 1 + n % 9);
            (void)same((cm_codec_mode)(n % CM_CODEC_MODES), &held, frames[n]);
        }
    }
}

Test(codec, a_frame_comes_back_against_any_that_are_held)
{
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    make_frames(9, 200, 8);
    for (int n = 0; n < 200; n++) {
        cm_codec_held held = {0};
        for (uint32_t age = 1; age < FRAMES; age++) {
            held.by_age[age] =
                cm_rng_below(&rng, 4) == 0 ? frames[(uint32_t)FRAMES - 1 - age] : NULL;
        }
        (void)same((cm_codec_mode)(n % CM_CODEC_MODES), &held, frames[FRAMES - 1]);
    }
}

Test(codec, a_crowd_takes_few_bytes_also_where_packets_are_lost)
{
    cm_cube_file file = {.frames = CROWD, .cubes = calloc(CROWD, BYTES)};
    cm_crowd *crowd = cm_crowd_new(7);
    cr_assert(crowd != NULL && file.cubes != NULL);
    for (uint32_t n = 0; n < CROWD; n++) {
        cm_crowd_frame(crowd, file.cubes + (size_t)n * CM_CODEC_CUBES);
    }
    for (int mode = 0; mode < CM_CODEC_MODES; mode++) {
        cm_codec_run run;
        cr_assert(cm_codec_run_measure(&file, (cm_codec_mode)mode, 1, &run));
        cr_expect_eq(run.wrong_frame, 0);
        cr_expect_eq(run.frames, CROWD - 6);
        cr_expect_gt(run.lost, 0);
        cr_expect_lt(run.bytes_per_frame, 300.0, "%g", run.bytes_per_frame);
        cr_expect_lt(run.lossy_bytes_per_frame, 1.1 * run.bytes_per_frame);
    }
    cm_crowd_free(crowd);
    free(file.cubes);
}

Test(codec, packets_stand_alone)
{
    make_frames(3, 100, 10);
    cm_codec_held held = held_at(40, 6), other = held_at(30, 6);
    size_t size = cm_codec_encode(CM_CODEC_BEST, &held, frames[40], bytes, sizeof bytes);
    static uint8_t first[CM_CODEC_BYTES_MAX];
    memcpy(first, bytes, size);
    (void)same(CM_CODEC_FAST, &other, frames[30]);
    cr_assert_eq(cm_codec_encode(CM_CODEC_BEST, &held, frames[40], bytes, sizeof bytes), size);
    cr_assert_eq(memcmp(first, bytes, size), 0, "nothing is remembered between packets");
}

Test(codec, bytes_are_the_same_from_every_build)
{
    cm_hash hash = cm_hash_begin(0);
    make_frames(11, 60, 6);
    for (int n = 0; n < FRAMES; n++) {
        cm_codec_held held = held_at(n, 6);
        size_t size = same((cm_codec_mode)(n % CM_CODEC_MODES), &held, frames[n]);
        cm_hash_bytes(&hash, bytes, size);
    }
    cr_assert_eq(cm_hash_end(&hash), GOLDEN, "0x%016llx", (unsigned long long)cm_hash_end(&hash));
}

Test(codec, nets_are_the_same_by_lanes_and_plainly)
{
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    for (int n = 0; n < 2000; n++) {
        int16_t input[CM_NET_INPUTS];
        int32_t lanes[CM_NET_OUTPUTS], plain[CM_NET_OUTPUTS];
        for (int i = 0; i < CM_NET_INPUTS; i++) {
            input[i] = (int16_t)((int32_t)cm_rng_below(&rng, 2047) - 1023);
        }
        const cm_codec_model *model = &cm_codec_models[n % CM_CODEC_MODES];
        const cm_net *net = n % 4 < 2 ? &model->place : &model->turn;
        cm_net_run(net, input, lanes);
        cm_net_run_plain(net, input, plain);
        cr_assert_eq(memcmp(lanes, plain, sizeof lanes), 0);
    }
}

// Tables that are whole: starts ascend from 0, so that every symbol has a share.
Test(codec, every_symbol_can_be_said)
{
    for (int mode = 0; mode < CM_CODEC_MODES; mode++) {
        const cm_codec_tables *t = &cm_codec_models[mode].tables;
        for (int k = 0; k < CM_VALUE_KINDS * CM_VALUE_TABLES; k++) {
            const uint16_t *starts = t->value[0][0] + (size_t)k * CM_VALUE_SYMBOLS;
            cr_assert_eq(starts[0], 0);
            for (int i = 1; i < CM_VALUE_SYMBOLS; i++) {
                cr_assert(starts[i] > starts[i - 1] && starts[i] < 32768);
            }
        }
    }
}

// Refusals --------------------------------------------------------------------------------------

Test(codec, what_does_not_fit_is_not_written)
{
    make_frames(4, 2, 2);
    cm_codec_held held = held_at(20, 6);
    size_t size = cm_codec_encode(CM_CODEC_FAST, &held, frames[20], bytes, sizeof bytes);
    cr_assert_gt(size, 100);
    cr_expect_eq(cm_codec_encode(CM_CODEC_FAST, &held, frames[20], bytes, size - 1), 0);
    cr_expect_eq(cm_codec_encode(CM_CODEC_FAST, &held, frames[20], bytes, 0), 0);
    cr_expect_eq(cm_codec_encode(CM_CODEC_FAST, &held, frames[20], bytes, size), size);
}

Test(codec, heads_that_lie_are_refused)
{
    make_frames(4, 50, 5);
    cm_codec_held held = held_at(20, 6);
    uint8_t head[8] = {8, 0};
    cr_expect_eq(cm_codec_decode(&held, head, 0, got), CM_CODEC_SHORT);
    cr_expect_eq(cm_codec_decode(&held, head, 1, got), CM_CODEC_HEADER, "a flag of nobody");
    head[0] = 6;
    cr_expect_eq(cm_codec_decode(&held, head, 8, got), CM_CODEC_HEADER, "named, against nothing");
    head[0] = 2;
    cr_expect_eq(cm_codec_decode(&held, head, 6, got), CM_CODEC_SHORT);
    cr_expect_eq(cm_codec_decode(&held, head, 8, got), CM_CODEC_HEADER, "age 0");
    memset(head + 1, CM_CODEC_AGES, 6);
    cr_expect_eq(cm_codec_decode(&held, head, 8, got), CM_CODEC_HEADER, "too old");
    memset(head + 1, 10, 6);
    head[3] = 9;
    cr_expect_eq(cm_codec_decode(&held, head, 8, got), CM_CODEC_HEADER, "newer than the baseline");
    memset(head + 1, 3, 6);
    cr_expect_eq(cm_codec_decode(&held, head, 8, got), CM_CODEC_MISSING);
}

Test(codec, a_packet_and_more_is_refused)
{
    make_frames(6, 50, 5);
    cm_codec_held held = held_at(20, 6);
    size_t size = cm_codec_encode(CM_CODEC_FAST, &held, frames[20], bytes, sizeof bytes);
    memset(bytes + size, 0x5a, 16);
    cr_expect_eq(cm_codec_decode(&held, bytes, size + 16, got), CM_CODEC_LONG);
}

// Whatever comes out is in its ranges: it may be held, and coded against, later.
static void expect_in_ranges(const cm_cube *cubes)
{
    for (uint32_t i = 0; i < CM_CODEC_CUBES; i++) {
        const cm_cube *c = &cubes[i];
        cr_assert(c->largest >= 0 && c->largest <= 3 && (c->touched == 0 || c->touched == 1));
        for (int k = 0; k < 3; k++) {
            cr_assert(c->turn[k] >= 0 && c->turn[k] <= CM_CUBE_TURN);
        }
        cr_assert(c->at[0] >= -CM_CUBE_SIDE && c->at[0] <= CM_CUBE_SIDE);
        cr_assert(c->at[1] >= -CM_CUBE_SIDE && c->at[1] <= CM_CUBE_SIDE);
        cr_assert(c->at[2] >= 0 && c->at[2] <= CM_CUBE_HEIGHT);
    }
}

Test(codec, any_bytes_are_cubes_in_range_or_refused)
{
    cm_rng rng;
    cm_rng_seed(&rng, 8);
    make_frames(8, 50, 5);
    cm_codec_held held = held_at(20, 6);
    uint32_t seen[CM_CODEC_REASONS] = {0};
    for (int n = 0; n < HOSTILE; n++) {
        uint8_t *copy; // exactly as large: a byte behind it is a fault
        size_t size =
            cm_codec_encode((cm_codec_mode)(n % 2), &held, frames[20], bytes, sizeof bytes);
        if (n % 4 == 3) {
            for (size_t i = 1; i < size; i++) {
                bytes[i] = (uint8_t)cm_rng_next(&rng);
            }
        }
        for (uint32_t i = cm_rng_below(&rng, 4); i > 0; i--) {
            bytes[cm_rng_below(&rng, (uint32_t)size)] = (uint8_t)cm_rng_next(&rng);
        }
        size = n % 3 == 0 ? cm_rng_below(&rng, (uint32_t)size + 1) : size;
        copy = malloc(size > 0 ? size : 1);
        cr_assert_not_null(copy);
        memcpy(copy, bytes, size);
        cm_codec_reason reason = cm_codec_decode(&held, copy, size, got);
        cr_assert_lt(reason, CM_CODEC_REASONS);
        seen[reason]++;
        if (reason == CM_CODEC_OK) {
            expect_in_ranges(got);
        }
        free(copy);
    }
    cr_expect_gt(seen[CM_CODEC_OK], 10);
    cr_expect_gt(seen[CM_CODEC_RANGE], 10);
    cr_expect_gt(seen[CM_CODEC_LONG], 0);
}
