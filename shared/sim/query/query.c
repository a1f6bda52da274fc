// Filters and answers of all kinds of queries; see query.h.
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

void cm_query_found(cm_query *query, uint32_t slot, float distance, float near)
{
    const carom_world *world = query->tree.world;
    const cm_shape *shape = &cm_shapes(world)[slot];
    carom_query_hit hit = {.body = cm_body_id(world, shape->body),
                           .shape = {slot, shape->generation},
                           .distance = cm_max(distance, near)};
    if (hit.distance <= query->hits.bound) {
        cm_hits_add(&query->hits, &hit);
    }
}
