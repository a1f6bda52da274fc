// A question and the shapes: the tree gives those whose boxes it meets, near ones first; each is
// met as its kind demands, and the best are kept. Point and normal are computed again in the end,
// for those alone. Typical: 2 shapes met a ray.
#include "shared/sim/query/query.h"

#include "shared/sim/state/slots.h"

carom_query_filter carom_default_query_filter(void)
{
    return (carom_query_filter){.category = UINT32_MAX, .mask = UINT32_MAX};
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
    return gone ? CAROM_ERROR_STALE_ID : CAROM_OK;
}

static bool sees(const carom_query_filter *filter, const cm_shape *shape)
{
    return (shape->category & filter->mask) != 0 && (filter->category & shape->mask) != 0 &&
           (!shape->sensor || filter->sensors) &&
           (shape->body != filter->exclude.index || filter->exclude.generation == 0);
}

bool cm_query_meets(const cm_query *query, const cm_shape *shape, const cm_place *place,
                    cm_entry *entry)
{
    switch (query->kind) {
    case CM_QUERY_RAY:
        return cm_line_enter(&query->mover.line, shape, place, entry);
    case CM_QUERY_CAST:
        return cm_mover_enter(&query->mover, shape, place, entry);
    case CM_QUERY_OVERLAP:
        return cm_mover_overlaps(&query->mover, shape, place, entry);
    default:
        return cm_mover_nearest(&query->mover, shape, place, (double)query->most, entry);
    }
}

// `near` is what the shape's box said, and the least that counts: so what the tree leaves out is
// farther than what is kept, bit for bit.
static void meet(void *context, uint32_t slot, float near)
{
    cm_query *query = context;
    const carom_world *world = query->tree.world;
    const cm_shape *shape = &cm_shapes(world)[slot];
    cm_entry entry;
    if (!sees(&query->filter, shape) ||
        !cm_query_meets(query, shape, &query->tree.places[slot], &entry)) {
        return;
    }
    carom_query_hit hit = {.body = cm_body_id(world, shape->body),
                           .shape = {slot, shape->generation},
                           .distance = cm_max((float)entry.distance, near)};
    if (hit.distance <= query->hits.bound) {
        cm_hits_add(&query->hits, &hit);
    }
}

void cm_query_run(cm_query *query)
{
    query->hits.count = 0;
    query->hits.bound = query->most;
    cm_query_walk(&query->tree, &query->probe, &query->hits.bound, meet, query);
    cm_hits_sort(&query->hits);
    for (uint32_t i = 0; i < query->hits.count; i++) {
        carom_query_hit *hit = &query->hits.rows[i];
        uint32_t slot = hit->shape.index;
        cm_entry entry;
        if (cm_query_meets(query, &cm_shapes(query->tree.world)[slot], &query->tree.places[slot],
                           &entry)) {
            hit->point = cm_d3_round(entry.point);
            hit->normal = cm_d3_round(entry.normal);
            hit->inside = entry.inside;
        }
    }
}
