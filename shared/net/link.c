// Datagrams under way; see link.h.
//
// Invariants: pops come in (due, number) order; a queue never holds more than bytes_max. Typical:
// tens of datagrams of 300 bytes at 100 ms of latency and 60 packets a second.
#include "shared/net/link.h"

#include "shared/base/array.h"
#include "shared/base/assert.h"

#include <stdlib.h>
#include <string.h>

static bool earlier(const cm_datagram *a, const cm_datagram *b)
{
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->number < b->number;
}

static void swap(cm_datagram *a, cm_datagram *b)
{
    cm_datagram t = *a;
    *a = *b;
    *b = t;
}

bool cm_datagram_push(cm_datagram_queue *queue, const cm_datagram *datagram, const uint8_t *bytes)
{
    if (queue->bytes_max - queue->bytes < datagram->size) {
        return false;
    }
    bool room =
        cm_array_reserve(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items);
    uint8_t *copy = room ? malloc(datagram->size > 0 ? datagram->size : 1) : NULL;
    if (copy == NULL) {
        return false;
    }
    if (datagram->size > 0) {
        memcpy(copy, bytes, datagram->size);
    }
    size_t at = queue->count++;
    queue->items[at] = *datagram;
    queue->items[at].bytes = copy;
    queue->bytes += datagram->size;
    while (at > 0 && earlier(&queue->items[at], &queue->items[(at - 1) / 2])) {
        swap(&queue->items[at], &queue->items[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    return true;
}

cm_datagram cm_datagram_pop(cm_datagram_queue *queue)
{
    CM_ASSERT(queue->count > 0);
    cm_datagram top = queue->items[0];
    queue->items[0] = queue->items[--queue->count];
    queue->bytes -= top.size;
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < queue->count; child++) {
            if (earlier(&queue->items[child], &queue->items[least])) {
                least = child;
            }
        }
        if (least == at) {
            return top;
        }
        swap(&queue->items[at], &queue->items[least]);
        at = least;
    }
}

void cm_datagram_queue_clear(cm_datagram_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        free(queue->items[i].bytes);
    }
    free(queue->items);
    queue->items = NULL;
    queue->count = 0;
    queue->capacity = 0;
    queue->bytes = 0;
}

static uint64_t draw_delay(const cm_link_def *link, cm_rng *rng)
{
    uint64_t spread = cm_rng_next(rng) >> 32;
    int64_t jitter =
        (int64_t)((spread * (2 * (uint64_t)link->jitter_us + 1)) >> 32) - (int64_t)link->jitter_us;
    int64_t delay = (int64_t)link->latency_us + jitter;
    return delay > 0 ? (uint64_t)delay : 0;
}

cm_link_fate cm_link_draw(const cm_link_def *link, cm_rng *rng)
{
    cm_link_fate fate = {1, {0, 0}};
    double loss = cm_rng_unit(rng);
    double duplicate = cm_rng_unit(rng);
    fate.delay_us[0] = draw_delay(link, rng);
    fate.delay_us[1] = draw_delay(link, rng);
    if (duplicate < (double)link->duplicate) {
        fate.copies = 2;
    }
    if (loss < (double)link->loss) {
        fate.copies = 0;
    }
    return fate;
}
