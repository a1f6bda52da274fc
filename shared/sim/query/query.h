// One question to a world, ready to be asked. Private to shared/sim.
#ifndef CM_SIM_QUERY_QUERY_H
#define CM_SIM_QUERY_QUERY_H

#include "shared/sim/query/cast.h"
#include "shared/sim/query/hits.h"
#include "shared/sim/query/tree.h"

typedef enum cm_query_kind {
    CM_QUERY_RAY,
    CM_QUERY_CAST,
    CM_QUERY_OVERLAP,
    CM_QUERY_NEAREST,
} cm_query_kind;

typedef struct cm_query {
    cm_query_kind kind;
    cm_mover mover; // of a ray only the line
    cm_probe probe;
    float most; // m, how far answers may be
    carom_query_filter filter;
    cm_query_tree tree;
    cm_hits hits;
    cm_entry best; // of the one hit, where no more than one is wanted
} cm_query;

// The filter, or what it is where there is none; why it is refused.
carom_result cm_query_filter(const carom_world *world, const carom_query_filter *given,
                             carom_query_filter *filter);

// Returns true if the query, filter aside, meets a shape as it is placed; one that it meets farther
// than `most` metres away it may leave out.
bool cm_query_meets(const cm_query *query, const cm_shape *shape,
                    const cm_shape_transform *transform, float most, cm_entry *entry);

// Asks all shapes through the tree: the hits are then in their order.
void cm_query_run(cm_query *query);

#endif
