// The questions of carom/query.h: checked, made ready, asked; one for many answers, or many for one
// answer each. All of a batch are checked before any is asked.
#include "shared/base/fpenv.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/query/query.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/hull.h"

#include <string.h>

// A batch of questions: `count` of one kind.
typedef struct questions {
    cm_query_kind kind;
    uint32_t count;
    const carom_ray *rays;
    const carom_shape_def *shapes;
    const carom_vec3 *translations; // of shapes that are cast
    const carom_vec3 *points;
    float max_distance; // of the points
} questions;

// Checks ------------------------------------------------------------------------------------------

static carom_result check_way(carom_vec3 way)
{
    CM_TRY(cm_check_vec(way, CAROM_POSITION_MAX));
    double length = cm_d3_length(cm_d3_from(way));
    return length >= (double)CAROM_SIZE_MIN && length <= (double)CAROM_POSITION_MAX
               ? CAROM_OK
               : CAROM_ERROR_ARGUMENT;
}

// The shape's row, as far as a query needs it.
static cm_shape shape_of(const carom_shape_def *def)
{
    cm_shape shape;
    memset(&shape, 0, sizeof shape);
    shape.type = (uint8_t)def->type;
    shape.position = def->position;
    shape.orientation = def->orientation;
    cm_shape_size_from_def(def, &shape);
    return shape;
}

static carom_result check_shape(const carom_shape_def *def)
{
    if ((unsigned)def->type > CAROM_SHAPE_HULL || def->type == CAROM_SHAPE_PLANE ||
        (def->type == CAROM_SHAPE_HULL && def->hull == NULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    const cm_shape shape = shape_of(def);
    return cm_check_shape(&shape, NULL);
}

static carom_result check_question(const questions *all, uint32_t i)
{
    switch (all->kind) {
    case CM_QUERY_RAY:
        CM_TRY(cm_check_vec(all->rays[i].origin, CAROM_POSITION_MAX));
        return check_way(all->rays[i].translation);
    case CM_QUERY_CAST:
        CM_TRY(check_shape(&all->shapes[i]));
        return check_way(all->translations[i]);
    case CM_QUERY_OVERLAP:
        return check_shape(&all->shapes[i]);
    default:
        CM_TRY(cm_check_vec(all->points[i], CAROM_POSITION_MAX));
        return cm_check_float(all->max_distance, 0.0f, CAROM_POSITION_MAX);
    }
}

// Questions that were checked ---------------------------------------------------------------------

static void set_way(cm_query *query, carom_vec3 way)
{
    cm_d3 translation = cm_d3_from(way);
    double length = cm_d3_length(translation);
    query->mover.line.direction = cm_d3_scale(1.0 / length, translation);
    query->mover.line.length = length;
    query->most = (float)length;
}

static void set_ray(cm_query *query, const carom_ray *ray)
{
    set_way(query, ray->translation);
    query->mover.line.origin = cm_d3_from(ray->origin);
    query->probe = cm_probe_along(ray->origin, cm_d3_round(query->mover.line.direction),
                                  cm_vec(0.0f, 0.0f, 0.0f));
}

// The shape as a solid where it stands. Returns a box about it.
static cm_aabb set_shape(cm_query *query, const carom_shape_def *def)
{
    cm_shape shape = shape_of(def);
    const cm_shape_transform transform = {shape.position,
                                          cm_mat3_from_quat(cm_quat_normalize(shape.orientation)),
                                          def->type == CAROM_SHAPE_HULL ? def->hull : NULL};
    query->mover.line.origin = cm_d3_from(shape.position);
    cm_query_solid_make(&shape, &transform, &query->mover.solid);
    return cm_shape_box(&shape, &transform);
}

static void set_cast(cm_query *query, const carom_shape_def *def, carom_vec3 translation)
{
    cm_aabb box = set_shape(query, def);
    set_way(query, translation);
    carom_vec3 middle = cm_scale(0.5f, cm_add(box.lower, box.upper));
    carom_vec3 up = cm_sub(box.upper, middle), down = cm_sub(middle, box.lower);
    carom_vec3 half = cm_vec(cm_max(up.x, down.x), cm_max(up.y, down.y), cm_max(up.z, down.z));
    query->probe = cm_probe_along(middle, cm_d3_round(query->mover.line.direction), half);
}

static void set_overlap(cm_query *query, const carom_shape_def *def)
{
    cm_aabb box = set_shape(query, def);
    query->probe = cm_probe_around(box.lower, box.upper);
    query->most = 0.0f;
}

static void set_point(cm_query *query, carom_vec3 point, float max_distance)
{
    query->mover.solid = cm_query_solid_point();
    query->mover.line.origin = cm_d3_from(point);
    query->probe = cm_probe_around(point, point);
    query->most = max_distance;
}

static void set_question(cm_query *query, const questions *all, uint32_t i)
{
    query->kind = all->kind;
    switch (all->kind) {
    case CM_QUERY_RAY:
        set_ray(query, &all->rays[i]);
        break;
    case CM_QUERY_CAST:
        set_cast(query, &all->shapes[i], all->translations[i]);
        break;
    case CM_QUERY_OVERLAP:
        set_overlap(query, &all->shapes[i]);
        break;
    default:
        set_point(query, all->points[i], all->max_distance);
        break;
    }
}

CM_FP_BODY static carom_result ask_one(const carom_world *world, cm_query *query,
                                       const questions *all)
{
    CM_TRY(check_question(all, 0));
    set_question(query, all, 0);
    query->tree = cm_query_tree_of(world, 1);
    cm_query_run(query);
    return CAROM_OK;
}

CM_FP_BODY static carom_result ask_each(const carom_world *world, cm_query *query,
                                        const questions *all, carom_query_hit *hits)
{
    for (uint32_t i = 0; i < all->count; i++) {
        CM_TRY(check_question(all, i));
    }
    if (all->count > 0) {
        memset(hits, 0, all->count * sizeof *hits);
        query->tree = cm_query_tree_of(world, all->count);
    }
    for (uint32_t i = 0; i < all->count; i++) {
        set_question(query, all, i);
        query->hits = (cm_hits){.rows = &hits[i], .capacity = 1};
        cm_query_run(query);
    }
    return CAROM_OK;
}

static carom_result ask_once(const carom_world *world, const questions *all, bool given,
                             const carom_query_filter *filter, carom_query_hit *hits,
                             uint32_t capacity, uint32_t *count)
{
    cm_query query;
    if (world == NULL || !given || hits == NULL || capacity == 0 || count == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(cm_query_filter(world, filter, &query.filter));
    query.hits = (cm_hits){.rows = hits, .capacity = capacity};
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = ask_one(world, &query, all);
    cm_fpenv_leave(saved);
    if (result == CAROM_OK) {
        *count = query.hits.count;
    }
    return result;
}

static carom_result ask_all(const carom_world *world, const questions *all, bool given,
                            const carom_query_filter *filter, carom_query_hit *hits)
{
    cm_query query;
    if (world == NULL || (all->count > 0 && (!given || hits == NULL))) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(cm_query_filter(world, filter, &query.filter));
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = ask_each(world, &query, all, hits);
    cm_fpenv_leave(saved);
    return result;
}

carom_result carom_world_cast_ray(const carom_world *world, const carom_ray *ray,
                                  const carom_query_filter *filter, carom_query_hit *hits,
                                  uint32_t capacity, uint32_t *count)
{
    const questions all = {.kind = CM_QUERY_RAY, .count = 1, .rays = ray};
    return ask_once(world, &all, ray != NULL, filter, hits, capacity, count);
}

carom_result carom_world_cast_rays(const carom_world *world, const carom_ray *rays, uint32_t count,
                                   const carom_query_filter *filter, carom_query_hit *hits)
{
    const questions all = {.kind = CM_QUERY_RAY, .count = count, .rays = rays};
    return ask_all(world, &all, rays != NULL, filter, hits);
}

carom_result carom_world_cast_shape(const carom_world *world, const carom_shape_def *shape,
                                    carom_vec3 translation, const carom_query_filter *filter,
                                    carom_query_hit *hits, uint32_t capacity, uint32_t *count)
{
    const questions all = {
        .kind = CM_QUERY_CAST, .count = 1, .shapes = shape, .translations = &translation};
    return ask_once(world, &all, shape != NULL, filter, hits, capacity, count);
}

carom_result carom_world_cast_shapes(const carom_world *world, const carom_shape_def *shapes,
                                     const carom_vec3 *translations, uint32_t count,
                                     const carom_query_filter *filter, carom_query_hit *hits)
{
    const questions all = {
        .kind = CM_QUERY_CAST, .count = count, .shapes = shapes, .translations = translations};
    return ask_all(world, &all, shapes != NULL && translations != NULL, filter, hits);
}

carom_result carom_world_overlap(const carom_world *world, const carom_shape_def *shape,
                                 const carom_query_filter *filter, carom_query_hit *hits,
                                 uint32_t capacity, uint32_t *count)
{
    const questions all = {.kind = CM_QUERY_OVERLAP, .count = 1, .shapes = shape};
    return ask_once(world, &all, shape != NULL, filter, hits, capacity, count);
}

carom_result carom_world_overlaps(const carom_world *world, const carom_shape_def *shapes,
                                  uint32_t count, const carom_query_filter *filter,
                                  carom_query_hit *hits)
{
    const questions all = {.kind = CM_QUERY_OVERLAP, .count = count, .shapes = shapes};
    return ask_all(world, &all, shapes != NULL, filter, hits);
}

carom_result carom_world_closest(const carom_world *world, carom_vec3 point, float max_distance,
                                 const carom_query_filter *filter, carom_query_hit *hits,
                                 uint32_t capacity, uint32_t *count)
{
    const questions all = {
        .kind = CM_QUERY_NEAREST, .count = 1, .points = &point, .max_distance = max_distance};
    return ask_once(world, &all, true, filter, hits, capacity, count);
}

carom_result carom_world_closest_each(const carom_world *world, const carom_vec3 *points,
                                      uint32_t count, float max_distance,
                                      const carom_query_filter *filter, carom_query_hit *hits)
{
    const questions all = {
        .kind = CM_QUERY_NEAREST, .count = count, .points = points, .max_distance = max_distance};
    return ask_all(world, &all, points != NULL, filter, hits);
}
