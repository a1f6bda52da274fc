// What every kind of query does alike: its filter, its tree, and its answers. Private to
// shared/sim.
#ifndef CM_SIM_QUERY_QUERY_H
#define CM_SIM_QUERY_QUERY_H

#include "shared/sim/query/hits.h"
#include "shared/sim/query/tree.h"

// A query while it walks.
typedef struct cm_query {
    cm_query_tree tree;
    carom_query_filter filter;
    cm_hits hits;
} cm_query;

// The filter, or what it is where there is none; why it is refused.
carom_result cm_query_filter(const carom_world *world, const carom_query_filter *given,
                             carom_query_filter *filter);

static inline bool cm_query_sees(const cm_query *query, uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(query->tree.world)[slot];
    const carom_query_filter *filter = &query->filter;
    return (shape->category & filter->mask) != 0 && (filter->category & shape->mask) != 0 &&
           (!shape->sensor || filter->sensors) &&
           (shape->body != filter->exclude.index || filter->exclude.generation == 0);
}

// A shape was met at a distance. `near` is what its box said, and the least that counts: so what
// the tree leaves out is farther than what is kept, bit for bit.
void cm_query_found(cm_query *query, uint32_t slot, float distance, float near);

#endif
