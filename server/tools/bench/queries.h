// Measures the time of queries in a world.
#ifndef CM_SERVER_TOOLS_BENCH_QUERIES_H
#define CM_SERVER_TOOLS_BENCH_QUERIES_H

#include "server/tools/bench/samples.h"
#include "shared/scene/scene.h"

typedef struct cm_query_bench {
    uint32_t shapes, rays, hits; // of one batch
    // Milliseconds of CPU time: a batch of nearest hits with its tree, one ray after a change,
    // the same batch where the tree stands, a batch of spheres, of points, and of overlaps.
    cm_samples_summary all, first, rays_only, casts, closest, overlaps;
} cm_query_bench;

// Steps the scene `steps` times, then asks `runs` batches of `rays` questions: rays from all around
// into the box of what can move; spheres of 0.25 m on the same ways; closest points within 1 m of
// points in that box, and what such a sphere overlaps there, one by one.
carom_result cm_query_bench_measure(const cm_scene *scene, uint32_t steps, uint32_t runs,
                                    uint32_t rays, cm_query_bench *bench);

#endif
