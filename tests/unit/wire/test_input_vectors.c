// Goal: the bytes of input packets, and of public states as what differs from an earlier one, are
// the ones recorded in tests/protocol/vectors, which a second parser reads as well. Method: as in
// test_vectors.c.
#include "shared/base/rng.h"
#include "shared/wire/input_delta.h"
#include "tests/unit/wire/vector_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// Inputs --------------------------------------------------------------------------------------

enum { INPUT_SIZE = 9 };

static void put_inputs(vector_text *out, const char *name, const uint8_t *bytes, size_t size)
{
    cm_input_packet packet;
    cm_packet_reason reason = cm_input_packet_read(bytes, size, INPUT_SIZE, &packet);
    vector_next(out);
    vector_put(out, "{\"name\": \"%s\", \"reason\": \"%s\", \"hex\": ", name,
               vector_reason(reason));
    vector_hex(out, bytes, size);
    if (reason == CM_PACKET_OK) {
        vector_put(out, ", \"packet\": ");
        vector_input(out, &packet, INPUT_SIZE);
    }
    vector_put(out, "}");
}

static void make_inputs(cm_rng *rng, cm_input_packet *packet, uint32_t count)
{
    memset(packet, 0, sizeof *packet);
    packet->has_ack = true;
    packet->epoch = (uint8_t)(3 * count);
    packet->ack_sequence = (uint16_t)cm_rng_next(rng);
    packet->ack_bits = (uint32_t)cm_rng_next(rng);
    packet->newest_tick = 1000 + cm_rng_below(rng, 1u << 30);
    packet->count = count;
    for (uint32_t n = 0; n < count; n++) {
        if (n > 0) {
            memcpy(packet->inputs[n], packet->inputs[n - 1], INPUT_SIZE);
        }
        for (uint32_t i = 0; i < INPUT_SIZE && cm_rng_below(rng, 2) == 0; i++) {
            uint32_t at = cm_rng_below(rng, INPUT_SIZE); // one draw a statement: their order is
            packet->inputs[n][at] = (uint8_t)cm_rng_next(rng); // part of the vectors
        }
    }
}

static void put_bad_inputs(vector_text *out, const uint8_t *good, size_t size)
{
    uint8_t bytes[CM_PACKET_MAX + 1] = {0};
    memcpy(bytes, good, size);
    put_inputs(out, "empty", bytes, 0);
    put_inputs(out, "cut in its header", bytes, 13);
    put_inputs(out, "cut in its inputs", bytes, size - 1);
    put_inputs(out, "a byte left over", bytes, size + 1);
    put_inputs(out, "longer than a packet", bytes, sizeof bytes);
    bytes[0] = 3;
    put_inputs(out, "unknown type", bytes, size);
    bytes[0] = CM_PACKET_INPUT;
    bytes[1] = 3;
    put_inputs(out, "reserved flag", bytes, size);
    bytes[1] = 0;
    put_inputs(out, "ack without its flag", bytes, size);
    bytes[1] = 1;
    bytes[13] = 65;
    put_inputs(out, "too many inputs", bytes, size);
    memset(bytes + 9, 0, 4);
    bytes[13] = 2;
    put_inputs(out, "an input before tick 0", bytes, size);
    const uint8_t nothing[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0};
    put_inputs(out, "a change of nothing", nothing, sizeof nothing);
    const uint8_t padding[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0x81};
    put_inputs(out, "padding is not zero", padding, sizeof padding);
}

Test(vectors, inputs)
{
    cm_rng rng;
    cm_rng_seed(&rng, 101);
    vector_text out = {.first = true};
    vector_put(&out, "{\"input_size\": %d, \"vectors\": [", INPUT_SIZE);
    const uint32_t counts[] = {0, 1, 2, 8, 20, 64};
    cm_input_packet packet;
    uint8_t bytes[CM_PACKET_MAX];
    size_t size = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        make_inputs(&rng, &packet, counts[i]);
        packet.has_ack = i != 1;
        size = cm_input_packet_write(&packet, INPUT_SIZE, bytes, sizeof bytes);
        char name[32];
        snprintf(name, sizeof name, "%u inputs", counts[i]);
        put_inputs(&out, name, bytes, size);
    }
    make_inputs(&rng, &packet, 5);
    size = cm_input_packet_write(&packet, INPUT_SIZE, bytes, sizeof bytes);
    put_bad_inputs(&out, bytes, size);
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "inputs");
}

// States --------------------------------------------------------------------------------------

// What differs; and bytes that are no such difference.
Test(vectors, states)
{
    static const char before[] = "eleven and, the rest";
    static const struct {
        const char *after;
        size_t size, cut;
        uint8_t flip;
    } cases[] = {{before, 20, 0, 0},
                 {"eleven and, the r\x01st", 20, 0, 0},
                 {"eleven ang, the rE", 18, 0, 0},
                 {"Eleven and, the rest", 20, 1, 0},
                 {"Eleven and, the rest", 20, 0, 0x1e},
                 {before, 20, 0, 0x80}};
    vector_text out = {.first = true};
    vector_put(&out, "{\"vectors\": [");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[32], state[32];
        uint32_t n = (uint32_t)cases[i].size;
        size_t size = cm_state_delta_write((const uint8_t *)before, (const uint8_t *)cases[i].after,
                                           n, bytes, sizeof bytes);
        cr_assert_gt(size, cases[i].cut);
        size -= cases[i].cut;
        bytes[0] ^= cases[i].flip;
        memcpy(state, before, n);
        bool good = cm_state_delta_read(bytes, size, state, n);
        cr_assert_eq(good, cases[i].cut == 0 && cases[i].flip == 0);
        cr_assert(!good || memcmp(state, cases[i].after, n) == 0);
        vector_next(&out);
        vector_put(&out, "{\"before\": ");
        vector_hex(&out, before, n);
        vector_put(&out, ", \"hex\": ");
        vector_hex(&out, bytes, size);
        vector_put(&out, ", \"after\": ");
        vector_hex(&out, state, good ? n : 0);
        vector_put(&out, "}");
    }
    vector_put(&out, "\n]}\n");
    vector_finish(&out, "states");
}
