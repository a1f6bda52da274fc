// A question and the shapes: the tree gives those whose boxes it meets, near ones first; each is
// met as its kind demands, and the best are kept. Point and normal are computed again in the end,
// for those alone. Typical: 2 shapes met a ray.
#include "shared/sim/query/query.h"

#include "shared/sim/body/body.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/collide/shape_transform.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"

carom_query_filter carom_default_query_filter(void)
{
    return (carom_query_filter){.category = UINT32_MAX, .mask = UINT32_MAX};
}

static carom_result check_poses(const carom_world *world, const carom_query_filter *filter)
{
    const carom_body_pose *poses = filter->poses;
    if (filter->pose_count > 0 && poses == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    for (uint32_t i = 0; i < filter->pose_count; i++) {
        if (cm_body_find(world, poses[i].body) == NULL) {
            return CAROM_ERROR_STALE_ID;
        }
        if (i > 0 && poses[i - 1].body.index >= poses[i].body.index) {
            return CAROM_ERROR_ARGUMENT;
        }
        CM_TRY(cm_check_vec(poses[i].position, CAROM_POSITION_MAX));
        CM_TRY(cm_check_quat(poses[i].orientation));
    }
    return CAROM_OK;
}

carom_result cm_query_filter(const carom_world *world, const carom_query_filter *given,
                             carom_query_filter *filter)
{
    *filter = given != NULL ? *given : carom_default_query_filter();
    if (filter->category == 0 || filter->mask == 0) {
        return CAROM_ERROR_ARGUMENT;
    }
    bool gone =
        !carom_body_id_is_null(filter->exclude) && cm_body_find(world, filter->exclude) == NULL;
    return gone ? CAROM_ERROR_STALE_ID : check_poses(world, filter);
}

static bool sees(const carom_query_filter *filter, const cm_shape *shape)
{
    return (shape->category & filter->mask) != 0 && (filter->category & shape->mask) != 0 &&
           (!shape->sensor || filter->sensors) &&
           (shape->body != filter->exclude.index || filter->exclude.generation == 0);
}

// The pose that the filter gives a body, or NULL.
static const carom_body_pose *pose_of(const carom_query_filter *filter, uint32_t body)
{
    uint32_t low = 0, high = filter->pose_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t here = filter->poses[middle].body.index;
        if (here == body) {
            return &filter->poses[middle];
        }
        if (here < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

// The transform of a shape as if its body had been put at a pose.
static cm_shape_transform posed(const carom_world *world, uint32_t slot,
                                const carom_body_pose *pose)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    const cm_body *body = &cm_bodies(world)[shape->body];
    cm_motion motion = {.orientation = cm_quat_normalize(pose->orientation)};
    motion.position = cm_origin_to_center(body, pose->position, motion.orientation);
    cm_shape_transform transform;
    carom_quat orientation;
    cm_shape_pose_at(&motion, body, shape, &transform.position, &orientation);
    transform.rotation = cm_mat3_from_quat(orientation);
    transform.hull = shape->type == CAROM_SHAPE_HULL ? cm_hull_find(world, shape->geometry) : NULL;
    return transform;
}

bool cm_query_meets(const cm_query *query, const cm_shape *shape,
                    const cm_shape_transform *transform, float most, cm_entry *entry)
{
    switch (query->kind) {
    case CM_QUERY_RAY:
        return cm_line_enter(&query->mover.line, shape, transform, entry);
    case CM_QUERY_CAST:
        return cm_mover_enter(&query->mover, shape, transform, (double)most, entry);
    case CM_QUERY_OVERLAP:
        return cm_mover_overlaps(&query->mover, shape, transform, entry);
    default:
        return cm_mover_nearest(&query->mover, shape, transform, (double)query->most, entry);
    }
}

// `near` is what the shape's box said, and the least that counts: so what the tree leaves out is
// farther than what is kept, bit for bit.
static void meet_at(cm_query *query, uint32_t slot, const cm_shape_transform *transform, float near)
{
    const carom_world *world = query->tree.world;
    const cm_shape *shape = &cm_shapes(world)[slot];
    cm_entry entry;
    if (!sees(&query->filter, shape) ||
        !cm_query_meets(query, shape, transform, query->hits.bound, &entry)) {
        return;
    }
    carom_query_hit hit = {.body = cm_body_id(world, shape->body),
                           .shape = {slot, shape->generation},
                           .distance = cm_max((float)entry.distance, near)};
    if (hit.distance <= query->hits.bound) {
        cm_hits_add(&query->hits, &hit);
        query->best = query->hits.rows[0].shape.index == slot ? entry : query->best;
    }
}

static void meet(void *context, uint32_t slot, const cm_shape_transform *transform, float near)
{
    cm_query *query = context;
    uint32_t body = cm_shapes(query->tree.world)[slot].body;
    if (query->filter.pose_count == 0 || pose_of(&query->filter, body) == NULL) {
        meet_at(query, slot, transform, near);
    }
}

static void meet_posed(cm_query *query)
{
    const carom_world *world = query->tree.world;
    for (uint32_t i = 0; i < query->filter.pose_count; i++) {
        const carom_body_pose *pose = &query->filter.poses[i];
        uint32_t slot = cm_bodies(world)[pose->body.index].first_shape;
        for (; slot != CM_NONE; slot = cm_shapes(world)[slot].next) {
            const cm_shape_transform transform = posed(world, slot, pose);
            meet_at(query, slot, &transform, 0.0f);
        }
    }
}

// The entry of a hit, found again if it was not kept.
static cm_entry answer(const cm_query *query, const carom_query_hit *hit)
{
    const carom_world *world = query->tree.world;
    uint32_t slot = hit->shape.index;
    const carom_body_pose *pose = pose_of(&query->filter, hit->body.index);
    cm_entry entry = query->best;
    if (query->kind == CM_QUERY_OVERLAP) {
        return cm_mover_inside(&query->mover);
    }
    if (query->hits.capacity > 1) {
        const cm_shape_transform transform =
            pose != NULL ? posed(world, slot, pose) : cm_shape_transform_of(world, slot);
        cm_query_meets(query, &cm_shapes(world)[slot], &transform, query->most, &entry);
    }
    return entry;
}

void cm_query_run(cm_query *query)
{
    query->hits.count = 0;
    query->hits.bound = query->most;
    meet_posed(query);
    cm_query_walk(&query->tree, &query->probe, &query->hits.bound, meet, query);
    cm_hits_sort(&query->hits);
    for (uint32_t i = 0; i < query->hits.count; i++) {
        carom_query_hit *hit = &query->hits.rows[i];
        cm_entry entry = answer(query, hit);
        hit->point = cm_d3_round(entry.point);
        hit->normal = cm_d3_round(entry.normal);
        hit->inside = entry.inside;
    }
}
