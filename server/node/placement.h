// Chooses the worker of a room: the one with the most of its budget free. A worker's budget is one
// processor; a room that has not run yet is taken for CM_PLACEMENT_GUESS of it. Pure.
#ifndef CM_SERVER_NODE_PLACEMENT_H
#define CM_SERVER_NODE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#define CM_PLACEMENT_MOST  800u // thousandths of a processor, from which on a worker takes no more
#define CM_PLACEMENT_GUESS 10u  // of a room that has not been measured
#define CM_PLACEMENT_NONE  UINT32_MAX

typedef struct cm_worker_load {
    uint32_t permille; // as measured, of its rooms of then
    uint32_t measured; // rooms that were
    uint32_t rooms;    // that it has now
    uint32_t rooms_max;
    bool closed; // takes none: it is not there
} cm_worker_load;

uint32_t cm_worker_load_permille(const cm_worker_load *load);
// The one with the least load, of equals that with the fewest rooms, of those the first;
// CM_PLACEMENT_NONE: all are full.
uint32_t cm_placement_choose(const cm_worker_load *loads, uint32_t count);

#endif
