// Rays: one for many hits, many for one hit each.
//
// The tree gives shapes near ones first; each is met in closed form (ray.h). Point and normal are
// computed in the end, for what is kept. Typical: 10,000 rays into a heap of 1,000 boxes, 2 shapes
// met a ray.
#include "shared/base/fpenv.h"
#include "shared/sim/query/query.h"
#include "shared/sim/query/ray.h"
#include "shared/sim/state/check.h"

#include <string.h>

typedef struct ray_query {
    cm_query query;
    cm_line line;
} ray_query;

static carom_result check_ray(const carom_ray *ray)
{
    carom_vec3 way = ray->translation;
    CM_TRY(cm_check_vec(ray->origin, CAROM_POSITION_MAX));
    CM_TRY(cm_check_vec(way, CAROM_POSITION_MAX));
    double length = cm_d3_length(cm_d3_from(way));
    return length >= (double)CAROM_SIZE_MIN && length <= (double)CAROM_POSITION_MAX
               ? CAROM_OK
               : CAROM_ERROR_ARGUMENT;
}

static void meet(void *context, uint32_t slot, float near)
{
    ray_query *ray = context;
    cm_entry entry;
    const cm_query_tree *tree = &ray->query.tree;
    if (cm_query_sees(&ray->query, slot) &&
        cm_line_enter(&ray->line, &cm_shapes(tree->world)[slot], &tree->places[slot], &entry)) {
        cm_query_found(&ray->query, slot, (float)entry.distance, near);
    }
}

// Point and normal of a hit whose shape and distance are known.
static void finish(const ray_query *ray, carom_query_hit *hit)
{
    const cm_query_tree *tree = &ray->query.tree;
    uint32_t slot = hit->shape.index;
    cm_entry entry;
    if (cm_line_enter(&ray->line, &cm_shapes(tree->world)[slot], &tree->places[slot], &entry)) {
        hit->point = cm_d3_round(cm_d3_mad(ray->line.origin, entry.distance, ray->line.direction));
        hit->normal = cm_d3_round(entry.normal);
        hit->inside = entry.inside;
    }
}

static void cast(ray_query *ray, const carom_ray *way)
{
    cm_d3 translation = cm_d3_from(way->translation);
    double length = cm_d3_length(translation);
    ray->line = (cm_line){cm_d3_from(way->origin), cm_d3_scale(1.0 / length, translation), length};
    ray->query.hits.count = 0;
    ray->query.hits.bound = (float)length;
    const cm_probe probe =
        cm_probe_along(way->origin, cm_d3_round(ray->line.direction), cm_vec(0.0f, 0.0f, 0.0f));
    cm_query_walk(&ray->query.tree, &probe, &ray->query.hits.bound, meet, ray);
    cm_hits_sort(&ray->query.hits);
    for (uint32_t i = 0; i < ray->query.hits.count; i++) {
        finish(ray, &ray->query.hits.rows[i]);
    }
}

CM_FP_BODY static void cast_one(ray_query *ray, const carom_world *world, const carom_ray *way)
{
    ray->query.tree = cm_query_tree_of(world);
    cast(ray, way);
}

CM_FP_BODY static void cast_all(ray_query *ray, const carom_world *world, const carom_ray *rays,
                                uint32_t count, carom_query_hit *hits)
{
    ray->query.tree = cm_query_tree_of(world);
    memset(hits, 0, count * sizeof *hits);
    for (uint32_t i = 0; i < count; i++) {
        ray->query.hits = (cm_hits){.rows = &hits[i], .capacity = 1};
        cast(ray, &rays[i]);
    }
}

carom_result carom_world_cast_ray(const carom_world *world, const carom_ray *ray,
                                  const carom_query_filter *filter, carom_query_hit *hits,
                                  uint32_t capacity, uint32_t *count)
{
    ray_query query;
    if (world == NULL || ray == NULL || hits == NULL || capacity == 0 || count == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(check_ray(ray));
    CM_TRY(cm_query_filter(world, filter, &query.query.filter));
    query.query.hits = (cm_hits){.rows = hits, .capacity = capacity};
    cm_fpenv saved = cm_fpenv_enter();
    cast_one(&query, world, ray);
    cm_fpenv_leave(saved);
    *count = query.query.hits.count;
    return CAROM_OK;
}

carom_result carom_world_cast_rays(const carom_world *world, const carom_ray *rays, uint32_t count,
                                   const carom_query_filter *filter, carom_query_hit *hits)
{
    ray_query query;
    if (world == NULL || (count > 0 && (rays == NULL || hits == NULL))) {
        return CAROM_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < count; i++) {
        CM_TRY(check_ray(&rays[i]));
    }
    CM_TRY(cm_query_filter(world, filter, &query.query.filter));
    if (count > 0) {
        cm_fpenv saved = cm_fpenv_enter();
        cast_all(&query, world, rays, count, hits);
        cm_fpenv_leave(saved);
    }
    return CAROM_OK;
}
