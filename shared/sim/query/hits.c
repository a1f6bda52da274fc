// A heap of answers; see hits.h. No two answers are equal in the order, since no shape answers
// twice: so what is kept, and its order, do not depend on the order in which answers come. Typical:
// one row, or a dozen.
#include "shared/sim/query/hits.h"

bool cm_hit_before(const carom_query_hit *a, const carom_query_hit *b)
{
    if (a->distance != b->distance) {
        return a->distance < b->distance;
    }
    if (a->body.index != b->body.index) {
        return a->body.index < b->body.index;
    }
    return a->shape.index < b->shape.index;
}

// Lets the row at `at` sink until no child goes after it.
static void sink(carom_query_hit *rows, uint32_t count, uint32_t at)
{
    carom_query_hit row = rows[at];
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && cm_hit_before(&rows[child], &rows[child + 1])) {
            child++;
        }
        if (!cm_hit_before(&row, &rows[child])) {
            break;
        }
        rows[at] = rows[child];
        at = (uint32_t)child;
    }
    rows[at] = row;
}

static void rise(carom_query_hit *rows, uint32_t at)
{
    carom_query_hit row = rows[at];
    while (at > 0 && cm_hit_before(&rows[(at - 1) / 2], &row)) {
        rows[at] = rows[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    rows[at] = row;
}

void cm_hits_add(cm_hits *hits, const carom_query_hit *hit)
{
    if (hits->count < hits->capacity) {
        hits->rows[hits->count] = *hit;
        rise(hits->rows, hits->count++);
    } else if (cm_hit_before(hit, &hits->rows[0])) {
        hits->rows[0] = *hit;
        sink(hits->rows, hits->count, 0);
    }
    if (hits->count == hits->capacity) {
        hits->bound = hits->rows[0].distance;
    }
}

void cm_hits_sort(cm_hits *hits)
{
    for (uint32_t end = hits->count; end > 1; end--) {
        carom_query_hit last = hits->rows[0];
        hits->rows[0] = hits->rows[end - 1];
        hits->rows[end - 1] = last;
        sink(hits->rows, end - 1, 0);
    }
}
