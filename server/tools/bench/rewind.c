// Measures rewinding as a server or a predicting client does it: one restore, then a step and a
// save for each tick. The time holds the restore, the steps and the saves, and nothing else.
//
// What comes out is compared with the first run: the hash, and all saved images byte for byte.
#include "server/tools/bench/rewind.h"

#include <stdlib.h>
#include <string.h>

// Images of one span: row 0 is the tick to which it goes back.
typedef struct ring {
    uint8_t *bytes;
    size_t *sizes;
    size_t stride;
    uint32_t rows;
} ring;

static bool ring_make(ring *r, uint32_t rows, size_t stride)
{
    r->rows = rows;
    r->stride = stride;
    r->bytes = malloc(rows * stride);
    r->sizes = calloc(rows, sizeof *r->sizes);
    return r->bytes != NULL && r->sizes != NULL;
}

static void ring_drop(ring *r)
{
    free(r->bytes);
    free(r->sizes);
}

static void ring_save(ring *r, uint32_t row, const carom_world *world)
{
    r->sizes[row] = carom_world_save(world, r->bytes + row * r->stride, r->stride);
}

static bool ring_equal(const ring *a, const ring *b)
{
    for (uint32_t row = 0; row < a->rows; row++) {
        if (a->sizes[row] == 0 || a->sizes[row] != b->sizes[row] ||
            memcmp(a->bytes + row * a->stride, b->bytes + row * b->stride, a->sizes[row]) != 0) {
            return false;
        }
    }
    return true;
}

static void forward(carom_world *world, ring *r)
{
    for (uint32_t row = 1; row < r->rows; row++) {
        carom_world_step(world);
        ring_save(r, row, world);
    }
}

static carom_result rewind_often(carom_world *world, ring *first, ring *again, uint32_t repeats,
                                 double *samples, cm_rewind *rewind)
{
    for (uint32_t i = 0; i < CM_REWIND_START; i++) {
        carom_world_step(world);
    }
    ring_save(first, 0, world);
    ring_save(again, 0, world);
    forward(world, first);
    uint64_t hash = carom_world_hash(world);
    rewind->hash_equal = true;
    for (uint32_t i = 0; i < repeats; i++) {
        double start = cm_bench_wall_ms();
        carom_result result = carom_world_restore(world, again->bytes, again->sizes[0]);
        forward(world, again);
        samples[i] = cm_bench_wall_ms() - start;
        if (result != CAROM_OK) {
            return result;
        }
        rewind->hash_equal =
            rewind->hash_equal && carom_world_hash(world) == hash && ring_equal(first, again);
    }
    cm_samples_summarise(samples, repeats, &rewind->time);
    return CAROM_OK;
}

carom_result cm_rewind_measure(carom_world *world, uint32_t ticks, uint32_t repeats,
                               cm_rewind *rewind)
{
    double *samples = calloc((size_t)repeats + 1, sizeof *samples);
    ring first = {0}, again = {0};
    carom_result result = CAROM_ERROR_MEMORY;
    memset(rewind, 0, sizeof *rewind);
    if (samples != NULL) {
        size_t stride = carom_world_save_bound(world);
        if (ring_make(&first, ticks + 1, stride) && ring_make(&again, ticks + 1, stride)) {
            result = rewind_often(world, &first, &again, repeats, samples, rewind);
        }
    }
    ring_drop(&first);
    ring_drop(&again);
    free(samples);
    return result;
}
