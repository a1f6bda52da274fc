// Goal: of ENet's protocol only what a client of ours sends reaches ENet. Method: each command that
// is allowed, then each way to be wrong, as bytes; random bytes on heap blocks of the exact size.
#include "server/transport/enet/commands.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"

typedef struct frame {
    uint8_t bytes[2048];
    size_t size;
} frame;

static void begin(frame *f)
{
    memset(f, 0, sizeof *f);
    f->bytes[0] = 0x80;
    f->size = 8;
}

// Appends a command of `size` bytes and `length` bytes of data.
static uint8_t *put(frame *f, uint8_t kind, uint8_t channel, uint16_t sequence, size_t size,
                    size_t length)
{
    uint8_t *at = f->bytes + f->size;
    at[0] = kind;
    at[1] = channel;
    at[2] = (uint8_t)(sequence >> 8);
    at[3] = (uint8_t)sequence;
    f->size += size + length;
    return at;
}

static void put_reliable(frame *f, uint16_t sequence, size_t length)
{
    uint8_t *at = put(f, 0x86, 0, sequence, 6, length);
    at[4] = (uint8_t)(length >> 8);
    at[5] = (uint8_t)length;
}

static cm_command_reason check(const frame *f, uint16_t reliable, cm_command_count *count)
{
    cm_command_context context = {reliable};
    uint8_t *copy = malloc(f->size);
    memcpy(copy, f->bytes, f->size);
    cm_command_reason reason = cm_commands_check(copy, f->size, &context, count);
    free(copy);
    return reason;
}

static void expect(const frame *f, cm_command_reason reason)
{
    cm_command_count count;
    cm_command_reason got = check(f, 0, &count);
    cr_expect_eq((int)got, (int)reason, "%s", cm_command_reason_text(got));
}

Test(enet_commands, what_a_client_sends_passes)
{
    frame f;
    cm_command_count count;
    begin(&f);
    put(&f, 0x01, 0, 1, 8, 0)[5] = 7;   // ack of 7
    put(&f, 0x01, 0xff, 1, 8, 0);       // of the connection's own
    put(&f, 0x85, 0xff, 2, 4, 0);       // ping
    put_reliable(&f, 3, 100);           //
    put(&f, 0x49, 1, 0, 8, 20)[7] = 20; // unsequenced
    put(&f, 0x84, 0xff, 4, 8, 0);       // disconnect
    cr_assert_eq((int)check(&f, 2, &count), CM_COMMAND_REASON_COUNT);
    cr_assert_eq(count.commands, 6);
    cr_assert_eq(count.acks_wanted, 3);
    cr_assert(count.has_acked);
    cr_assert_eq(count.acked, 7);
    f.bytes[0] = 0; // without a time: two bytes less
    memmove(f.bytes + 6, f.bytes + 8, f.size - 8);
    f.size -= 2;
    cr_assert_eq((int)check(&f, 2, &count), CM_COMMAND_REASON_COUNT);
}

Test(enet_commands, what_no_client_sends_does_not)
{
    frame f;
    // Sequenced unreliable, unreliable fragment, bandwidth, throttle, connect, verify, none.
    static const uint8_t kinds[] = {7, 12, 10, 11, 2, 3, 0, 13, 15};
    for (size_t i = 0; i < sizeof kinds; i++) {
        begin(&f);
        put(&f, kinds[i], 0xff, 0, 48, 0);
        expect(&f, CM_COMMAND_KIND);
        f.bytes[8] |= 0x80;
        expect(&f, CM_COMMAND_KIND);
    }
    begin(&f);
    put(&f, 0x06, 0, 1, 6, 5)[5] = 5;
    expect(&f, CM_COMMAND_FLAGS); // a reliable one that wants no ack
    begin(&f);
    put(&f, 0x86, 1, 1, 6, 5)[5] = 5;
    expect(&f, CM_COMMAND_CHANNEL);
    begin(&f);
    put(&f, 0x49, 0, 1, 8, 5)[7] = 5;
    expect(&f, CM_COMMAND_CHANNEL);
    begin(&f);
    put(&f, 0x89, 1, 1, 8, 5)[7] = 5;
    expect(&f, CM_COMMAND_FLAGS);
    begin(&f);
    put(&f, 0x85, 0, 1, 4, 0);
    expect(&f, CM_COMMAND_CHANNEL);
    begin(&f);
    put(&f, 0x05, 0xff, 1, 4, 0);
    expect(&f, CM_COMMAND_FLAGS);
    begin(&f);
    put(&f, 0xa5, 0xff, 1, 4, 0); // a flag that does not exist
    expect(&f, CM_COMMAND_KIND);
}

// An empty message costs its sender nothing and us a place in a list; one too far ahead waits
// there.
Test(enet_commands, lists_stay_short)
{
    frame f;
    cm_command_count count;
    begin(&f);
    put_reliable(&f, 1, 0);
    expect(&f, CM_COMMAND_SIZE);
    begin(&f);
    put(&f, 0x49, 1, 0, 8, 0);
    expect(&f, CM_COMMAND_SIZE);
    for (uint32_t base = 0; base < 65536; base += 13107) {
        begin(&f);
        put_reliable(&f, (uint16_t)(base + CM_COMMANDS_AHEAD), 1);
        cr_assert_eq((int)check(&f, (uint16_t)base, &count), CM_COMMAND_REASON_COUNT);
        begin(&f);
        put_reliable(&f, (uint16_t)(base + CM_COMMANDS_AHEAD + 1), 1);
        cr_assert_eq((int)check(&f, (uint16_t)base, &count), CM_COMMAND_AHEAD);
        begin(&f);
        put_reliable(&f, (uint16_t)(base - 5), 1); // again what was acked: ENet acks it again
        cr_assert_eq((int)check(&f, (uint16_t)base, &count), CM_COMMAND_REASON_COUNT);
    }
    begin(&f);
    for (uint32_t i = 0; i <= CM_COMMANDS_MAX; i++) {
        put(&f, 0x85, 0xff, (uint16_t)i, 4, 0);
    }
    expect(&f, CM_COMMAND_COUNT);
}

static void fragment(frame *f, uint32_t count, uint32_t number, uint32_t total, uint32_t offset,
                     uint16_t length)
{
    begin(f);
    uint8_t *at = put(f, 0x88, 0, 1, 24, length);
    at[5] = 1;
    at[6] = (uint8_t)(length >> 8);
    at[7] = (uint8_t)length;
    uint32_t values[4] = {count, number, total, offset};
    for (uint32_t i = 0; i < 16; i++) {
        at[8 + i] = (uint8_t)(values[i / 4] >> (24 - 8 * (i % 4)));
    }
}

Test(enet_commands, fragments_make_a_small_message)
{
    frame f;
    fragment(&f, 2, 1, 600, 500, 100);
    expect(&f, CM_COMMAND_REASON_COUNT);
    static const uint32_t wrong[][5] = {
        {2, 2, 600, 500, 100},  {0, 0, 600, 500, 100},          {2, 1, 2049, 500, 100},
        {2, 1, 0, 0, 100},      {2, 1, 600, 501, 100},          {2, 1, 600, 0xffffffff, 100},
        {2, 1, 600, 500, 0},    {0x100000, 1, 600, 500, 100},   {601, 1, 600, 500, 100},
        {200, 1, 600, 500, 10}, {2, 0xffffffff, 600, 500, 100},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fragment(&f, wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3], (uint16_t)wrong[i][4]);
        expect(&f, CM_COMMAND_SIZE);
    }
    fragment(&f, 2, 1, 600, 500, 100);
    f.bytes[8 + 4] = 0x40; // starts far ahead
    expect(&f, CM_COMMAND_AHEAD);
}

Test(enet_commands, cut_and_random_datagrams)
{
    frame f;
    cm_command_count count;
    begin(&f);
    put_reliable(&f, 1, 40);
    put(&f, 0x49, 1, 0, 8, 30)[7] = 30;
    size_t whole = f.size;
    for (f.size = 1; f.size < whole; f.size++) {
        cm_command_reason reason = check(&f, 0, &count);
        bool between = f.size == 8 || f.size == 8 + 46;
        cr_assert_eq((int)reason,
                     between ? (int)CM_COMMAND_REASON_COUNT : (int)CM_COMMAND_TRUNCATED, "%zu",
                     f.size);
    }
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 50000; i++) {
        f.size = 1 + cm_rng_below(&rng, 200);
        for (size_t k = 0; k < f.size; k++) {
            f.bytes[k] = (uint8_t)cm_rng_next(&rng);
        }
        refused += check(&f, (uint16_t)cm_rng_next(&rng), &count) != CM_COMMAND_REASON_COUNT;
    }
    cr_assert_gt(refused, 40000);
}
