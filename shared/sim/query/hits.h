// The first so many answers of a query, in the caller's own rows, whatever order they come in.
// Private to shared/sim.
#ifndef CM_SIM_QUERY_HITS_H
#define CM_SIM_QUERY_HITS_H

#include "carom/query.h"

// While they are collected the rows are a heap with the last of them at its root.
typedef struct cm_hits {
    carom_query_hit *rows;
    uint32_t capacity, count;
    float bound; // what is farther is not wanted
} cm_hits;

// a goes before b: by distance, then body, then shape.
bool cm_hit_before(const carom_query_hit *a, const carom_query_hit *b);
// Keeps it if it is one of the first `capacity`; its distance is not above the bound.
void cm_hits_add(cm_hits *hits, const carom_query_hit *hit);
// Brings the rows into their order.
void cm_hits_sort(cm_hits *hits);

#endif
