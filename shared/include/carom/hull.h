// Convex hulls: immutable geometry that shapes of many worlds share.
//
// A hull is built once, from points, and never changes; it may be read by several threads. It lives
// outside every world: carom_world_def.hulls lists the hulls that a world may use, its shapes name
// them by their ids, and saves, encoded worlds and hashes hold the ids. So an image can be restored
// or decoded wherever the same hulls are known, built from the same points on any machine. A hull
// must outlive the worlds that list it.
#ifndef CAROM_HULL_H
#define CAROM_HULL_H

#include "carom/limits.h"
#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_hull carom_hull;

// Builds the convex hull of the points (in the shape's axes, m). Points inside, doubled, or within
// 1e-6 of the hull's size from its surface are left out; faces within 1e-5 of it from one plane are
// one face. The order of the points does not matter. The hull is one block of 4 kB from the
// allocator (not NULL), which is copied.
// Errors: CAROM_ERROR_NOT_FINITE; CAROM_ERROR_ARGUMENT for fewer than 4 points, for points all in
// one place, on one line or in one plane (thinner than 1e-4 of the size, or than 1e-5 m), and for
// coordinates above 1e6 m; CAROM_ERROR_LIMIT_SIZE above CAROM_HULL_POINTS_MAX points or
// CAROM_HULL_VERTICES_MAX vertices; CAROM_ERROR_MEMORY.
CAROM_API carom_result carom_hull_create(const carom_vec3 *points, uint32_t count,
                                         const carom_allocator *allocator, carom_hull **hull);
// The reason why the points were refused, in a few words ("all in one plane"); a constant.
CAROM_API const char *carom_hull_refusal(const carom_vec3 *points, uint32_t count);
// The first of the points that lies far (1e-3 of the hull's size) from every edge of their hull:
// inside of it or in the middle of a face, as the inner corner of an L does. `count` where there is
// none: then the points are those of a convex body.
CAROM_API uint32_t carom_hull_stray(const carom_hull *hull, const carom_vec3 *points,
                                    uint32_t count);
// NULL is fine. No world may know the hull any more.
CAROM_API void carom_hull_destroy(carom_hull *hull);

// The hull's name: a hash of its vertices and faces, equal on every architecture; never 0.
CAROM_API uint64_t carom_hull_id(const carom_hull *hull);
// Vertices in ascending order of x, then y, then z. Valid as long as the hull.
CAROM_API const carom_vec3 *carom_hull_vertices(const carom_hull *hull, uint32_t *count);
// Vertex indices of a face, counter-clockwise seen from outside; NULL beyond the last face.
CAROM_API const uint8_t *carom_hull_face(const carom_hull *hull, uint32_t face, uint32_t *count);
CAROM_API double carom_hull_volume(const carom_hull *hull); // m^3

// Puts hulls in the order that carom_world_def.hulls asks for (ascending ids) and leaves out those
// that are there already; returns how many are left.
CAROM_API uint32_t carom_hull_sort(const carom_hull **hulls, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
