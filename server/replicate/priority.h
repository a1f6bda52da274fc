// The order in which bodies are sent. The priority of a body that waits grows with each view, so
// that nothing starves; fast and close ones grow faster, and the client's own body goes first.
#ifndef CM_SERVER_REPLICATE_PRIORITY_H
#define CM_SERVER_REPLICATE_PRIORITY_H

#include "server/replicate/interest.h"

typedef struct cm_candidate {
    uint32_t slot; // row of the snapshot
    bool is_own;
    float priority;
} cm_candidate;

// Candidates, the best one first. The caller provides the array.
typedef struct cm_priority_queue {
    cm_candidate *heap;
    uint32_t count;
} cm_priority_queue;

// The priority that a body gains by a view that it waits for.
float cm_priority_gain(const cm_relation *relation, float speed);
// Orders the candidates that were put into the array.
void cm_priority_order(cm_priority_queue *queue);
void cm_priority_pop(cm_priority_queue *queue);

#endif
