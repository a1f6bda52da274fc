// Goal: no update of a join does more than a part of its work, and none touches memory that no step
// has asked for yet. Method: a worker, 400 cubes, and a client whose memory comes as rubbish and is
// counted: bytes taken by each update, and pages in which the rubbish is still there. Bytes, not
// milliseconds: what is taken and written is what a join costs.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/node/away.h"

#define RUBBISH 0xa5
#define PAGE    4096u
#define LARGE   65536u // blocks that are looked at
#define BLOCKS  64u

static struct {
    size_t taken, most, total; // by an update, and by all
    uint32_t count;
    uint8_t *blocks[BLOCKS];
    size_t sizes[BLOCKS];
} memory;

static void *take(void *context, size_t size)
{
    uint8_t *bytes = malloc(size);
    (void)context;
    cr_assert_not_null(bytes);
    memset(bytes, RUBBISH, size);
    memory.taken += size;
    if (size >= LARGE && memory.count < BLOCKS) {
        memory.blocks[memory.count] = bytes;
        memory.sizes[memory.count++] = size;
    }
    return bytes;
}

static void give(void *context, void *bytes)
{
    (void)context;
    for (uint32_t i = 0; i < memory.count; i++) {
        if (memory.blocks[i] == bytes) {
            memory.count--;
            memory.blocks[i] = memory.blocks[memory.count];
            memory.sizes[i] = memory.sizes[memory.count];
        }
    }
    free(bytes);
}

static bool is_untouched(const uint8_t *page)
{
    uint32_t i = 0;
    while (i < PAGE && page[i] == RUBBISH) {
        i++;
    }
    return i == PAGE;
}

// Share of the large blocks that nobody has written to.
static double untouched(void)
{
    size_t pages = 0, clean = 0;
    for (uint32_t i = 0; i < memory.count; i++) {
        for (size_t at = 0; at + PAGE <= memory.sizes[i]; at += PAGE, pages++) {
            clean += is_untouched(memory.blocks[i] + at);
        }
    }
    return (double)clean / (double)(pages > 0 ? pages : 1);
}

static void join(bool exact)
{
    static away town;
    double clean = 1.0;
    memset(&memory, 0, sizeof memory);
    away_make(&town, &(away_def){.seed = 95, .exact = exact, .side = 20});
    away_run(&town, 1.0);
    town.client_def.allocator = (carom_allocator){.allocate = take, .release = give};
    away_connect(&town, 0);
    for (uint32_t i = 0; i < 500; i++) {
        size_t before = memory.taken;
        away_step(&town);
        size_t taken = memory.taken - before;
        memory.most = taken > memory.most ? taken : memory.most;
        if (carom_client_get_state(town.clients[0]) == CAROM_CLIENT_JOINING && memory.count > 0) {
            clean = untouched();
        }
        memory.total += carom_client_get_state(town.clients[0]) <= CAROM_CLIENT_JOINING ? taken : 0;
    }
    printf("join: exact %d: %zu KiB, %zu of them by one update; %.0f%% untouched before it plays\n",
           exact, memory.total / 1024, memory.most / 1024, 100.0 * clean);
    cr_expect_eq(carom_client_get_state(town.clients[0]), CAROM_CLIENT_PLAYING);
    cr_expect_lt(10 * memory.most, 6 * memory.total, "the two worlds are made one after the other");
    cr_expect_gt(clean, 0.5, "scratch is not cleared");
    away_run(&town, 5.0);
    carom_client_stats stats = away_client_stats(&town, 0);
    cr_expect_gt(stats.views, 15);
    cr_expect_eq(stats.desyncs, 0, "whatever lay in it");
    away_free(&town);
}

Test(client_join_work, of_a_world_in_parts)
{
    join(false);
    join(true);
}
