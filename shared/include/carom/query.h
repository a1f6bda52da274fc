// Questions to a world: what a ray hits, and where.
//
// A query sees every body where it is at the call: after a step, carom_body_set_pose, a creation, a
// restore. It changes nothing that can change the future, so it may be asked between any two calls,
// any number of times, from rules that are rewound as well. Its answer is a function of the world's
// state and of the question alone: the same bits on every machine, at every capacity and after
// every rewind. Shapes are met as they truly are (in binary64, whatever the solver), rounded at the
// end.
//
// What it costs: the first query after anything moved builds a tree over all shapes, in the world's
// own scratch memory (some 0.1 us a shape), and the ones after it use that tree until the next step
// or pose; a ray then takes below 1 us in a heap of a thousand. So ask many things at once, after
// the last change. No query allocates.
//
// Order of answers: by distance, then body (its id's index), then shape (likewise); where more are
// found than there is room for, the first ones of that order are kept.
//
// Errors, of every function here: ARGUMENT for a pointer that is missing, a length or size outside
// its range, a direction of no length, or a filter that can see nothing; NOT_FINITE for NaN and the
// infinities; STALE_ID where `exclude` names a body that is gone. A refused call writes nothing.
// Nothing of it is told to carom_last_error, since a query only reads.
#ifndef CAROM_QUERY_H
#define CAROM_QUERY_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a query sees. A shape is seen where its category is in the filter's mask and the filter's
// category in the shape's mask; groups do not count. Wherever a filter is asked for, NULL is the
// default.
typedef struct carom_query_filter {
    uint32_t category;     // what the query counts as; all ones. 0 is refused: it sees nothing
    uint32_t mask;         // categories that it sees; all ones. 0 is refused
    carom_body_id exclude; // a body that it does not see, such as the one that asks; null: none
    bool sensors;          // sees sensors, too; false
} carom_query_filter;

CAROM_API carom_query_filter carom_default_query_filter(void);

// A straight way. What is cast along it meets what lies between its two ends, both included.
typedef struct carom_ray {
    carom_vec3 origin;      // world, within CAROM_POSITION_MAX
    carom_vec3 translation; // m, from the origin to the end: CAROM_SIZE_MIN to 1e7 long
} carom_ray;

// Where a query met a shape. A shape is met at most once, and every shape of a body by itself.
typedef struct carom_query_hit {
    carom_body_id body; // null: nothing was met (of batches, which have a row for each question)
    carom_shape_id shape;
    carom_vec3 point;  // world, on the shape's surface
    carom_vec3 normal; // world, unit, outward from the shape
    float distance;    // m, along the way
    // It began inside the shape: the distance is 0, the point the origin, and the normal points
    // against the way.
    bool inside;
} carom_query_hit;

// The shapes that a ray meets, each where it enters: the first `capacity` of them. capacity 1 asks
// for the nearest alone and is the fastest; 0 is refused. `count` is how many were written.
CAROM_API carom_result carom_world_cast_ray(const carom_world *world, const carom_ray *ray,
                                            const carom_query_filter *filter, carom_query_hit *hits,
                                            uint32_t capacity, uint32_t *count);

// The nearest hit of each of many rays, a row each, all zeros where a ray meets nothing. One ray
// that is refused refuses all. `count` may be 0.
CAROM_API carom_result carom_world_cast_rays(const carom_world *world, const carom_ray *rays,
                                             uint32_t count, const carom_query_filter *filter,
                                             carom_query_hit *hits);

#ifdef __cplusplus
}
#endif
#endif
