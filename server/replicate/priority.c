// A heap of candidates: of hundreds that wait, a view takes some thirty.
#include "server/replicate/priority.h"

#include "shared/base/vec.h"

#define NEAR    4.0f
#define STEERED 20.0f // others follow it with their eyes, and it changes its mind

float cm_priority_gain(const cm_relation *relation, float speed)
{
    return (relation->steered ? STEERED
            : relation->near  ? NEAR
                              : 1.0f) *
           (1.0f + cm_min(speed, 10.0f)) / (1.0f + 0.1f * relation->distance);
}

// The own body first, then higher priority, then the lower slot.
static bool goes_before(const cm_candidate *a, const cm_candidate *b)
{
    if (a->is_own != b->is_own) {
        return a->is_own;
    }
    return a->priority != b->priority ? a->priority > b->priority : a->slot < b->slot;
}

static void sift_down(cm_candidate *heap, uint32_t count, uint32_t at)
{
    cm_candidate moving = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && goes_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!goes_before(&heap[child], &moving)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

void cm_priority_order(cm_priority_queue *queue)
{
    for (uint32_t at = queue->count / 2; at-- > 0;) {
        sift_down(queue->heap, queue->count, at);
    }
}

void cm_priority_pop(cm_priority_queue *queue)
{
    queue->heap[0] = queue->heap[--queue->count];
    if (queue->count > 0) {
        sift_down(queue->heap, queue->count, 0);
    }
}
