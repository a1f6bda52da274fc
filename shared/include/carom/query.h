// Questions to a world: what a ray or a moving shape hits, and where; what a shape overlaps; what
// is closest to a point.
//
// A query sees every body where it is at the call: after a step, carom_body_set_pose, a creation, a
// restore. It changes nothing that can change the future, so it may be asked between any two calls,
// any number of times, from rules that are rewound as well. Its answer is a function of the world's
// state and of the question alone: the same bits on every machine, at every capacity and after
// every rewind. Shapes are met as they truly are (in binary64, whatever the solver), rounded at the
// end.
//
// Cost: the first query after anything moved builds a tree over all shapes, in the world's own
// scratch memory (some 0.1 us a shape), and the ones after it use that tree until the next step or
// pose; a ray then takes below 1 us in a heap of a thousand. So ask many things at once, after the
// last change. No query allocates.
//
// Order of answers: by distance, then body (its id's index), then shape (likewise); where more are
// found than there is room for, the first ones of that order are kept.
//
// Errors, of every function here: ARGUMENT for a pointer that is missing, a length or size outside
// its range, a direction of no length, or a filter that can see nothing; NOT_FINITE for NaN and the
// infinities; STALE_ID where the filter names a body that is gone. A refused call writes nothing.
// carom_last_error does not change, since a query only reads.
#ifndef CAROM_QUERY_H
#define CAROM_QUERY_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// The pose that a query uses for a body in place of its own.
typedef struct carom_body_pose {
    carom_body_id body;
    carom_vec3 position; // of the body's origin, world
    carom_quat orientation;
} carom_body_pose;

// Selects what a query sees. A query sees a shape if its category is in the filter's mask and the
// filter's category is in the shape's mask; groups do not count. A filter of NULL is the default.
typedef struct carom_query_filter {
    uint32_t category;     // what the query counts as; all ones. 0 is refused: it sees nothing
    uint32_t mask;         // categories that it sees; all ones. 0 is refused
    carom_body_id exclude; // a body that it does not see, such as the one that asks; null: none
    bool sensors;          // sees sensors, too; false
    // Bodies that are asked about somewhere else than where they are, as where a player saw them:
    // the answers are those of a world in which carom_body_set_pose had put them there, bit for
    // bit. Ascending by the bodies' indices, each once. Every shape of theirs is met without a
    // tree.
    const carom_body_pose *poses; // read during the call alone
    uint32_t pose_count;          // 0
} carom_query_filter;

CAROM_API carom_query_filter carom_default_query_filter(void);

// A line segment. A cast along it meets shapes between its two ends, both included.
typedef struct carom_ray {
    carom_vec3 origin;      // world, within CAROM_POSITION_MAX
    carom_vec3 translation; // m, from the origin to the end: CAROM_SIZE_MIN to 1e7 long
} carom_ray;

// A shape that a query met, and where. A query meets each shape at most once, and each shape of a
// body separately.
typedef struct carom_query_hit {
    carom_body_id body; // null: nothing was met (of batches, which have a row for each question)
    carom_shape_id shape;
    carom_vec3 point;  // world, on the shape's surface
    carom_vec3 normal; // world, unit, outward from the shape
    float distance;    // m, along the way, or (closest) from the point
    // It began in the shape, or overlaps it: the distance is 0, the point that of the question, and
    // the normal points against the way; it is zero where there is no way.
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

// A shape that moves without turning, against the shapes that it meets: each where the two first
// touch. Of `shape` its type and dimensions are read, and where it begins: position (within 1e6 m)
// and orientation are in world axes. A plane is refused. A shape that it touches at the beginning
// and does not approach is not met, so that it can slide along the surface on which it rests.
CAROM_API carom_result carom_world_cast_shape(const carom_world *world,
                                              const carom_shape_def *shape, carom_vec3 translation,
                                              const carom_query_filter *filter,
                                              carom_query_hit *hits, uint32_t capacity,
                                              uint32_t *count);
// The nearest hit of each of many, as carom_world_cast_rays. Both arrays have `count` rows.
CAROM_API carom_result carom_world_cast_shapes(const carom_world *world,
                                               const carom_shape_def *shapes,
                                               const carom_vec3 *translations, uint32_t count,
                                               const carom_query_filter *filter,
                                               carom_query_hit *hits);

// The shapes that a shape overlaps or touches where it stands, by body, then shape: the first
// `capacity` of them. `inside` is true of each; all else but the ids is that of the question.
CAROM_API carom_result carom_world_overlap(const carom_world *world, const carom_shape_def *shape,
                                           const carom_query_filter *filter, carom_query_hit *hits,
                                           uint32_t capacity, uint32_t *count);
// The first of each of many shapes, as carom_world_cast_rays: whether anything is there.
CAROM_API carom_result carom_world_overlaps(const carom_world *world, const carom_shape_def *shapes,
                                            uint32_t count, const carom_query_filter *filter,
                                            carom_query_hit *hits);

// The shapes within max_distance (m, 0 to 1e7) of a point, nearest first: each with its own nearest
// point, and the normal from there to the point asked about.
CAROM_API carom_result carom_world_closest(const carom_world *world, carom_vec3 point,
                                           float max_distance, const carom_query_filter *filter,
                                           carom_query_hit *hits, uint32_t capacity,
                                           uint32_t *count);
// The nearest one of each of many points, as carom_world_cast_rays.
CAROM_API carom_result carom_world_closest_each(const carom_world *world, const carom_vec3 *points,
                                                uint32_t count, float max_distance,
                                                const carom_query_filter *filter,
                                                carom_query_hit *hits);

#ifdef __cplusplus
}
#endif
#endif
