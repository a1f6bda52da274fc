// See query_rig.h.
#include "tests/unit/sim/query_rig.h"

#include "shared/sim/body/shape.h"
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/shape_transform.h"
#include "shared/sim/inspect.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

carom_vec3 cm_around(cm_rng *rng, float width)
{
    carom_vec3 v;
    v.x = cm_rng_range(rng, -width, width);
    v.y = cm_rng_range(rng, -width, width);
    v.z = cm_rng_range(rng, -width, width);
    return v;
}

// Most of them near some body and beyond it.
static carom_ray some_ray(cm_rng *rng, const carom_world *world)
{
    carom_ray ray = {cm_around(rng, 5.0f), cm_around(rng, 8.0f)};
    uint32_t kind = cm_rng_below(rng, 8);
    carom_body_state body;
    carom_body_id id = carom_world_body_at(world, cm_rng_below(rng, carom_world_body_slots(world)));
    if (kind == 0) { // along an axis
        ray.translation.x = ray.translation.z = 0.0f;
        ray.translation.y = ray.translation.y < 0.0f ? -4.0f : 4.0f;
    } else if (kind < 6 && carom_body_get(world, id, &body) == CAROM_OK) {
        carom_vec3 middle = cm_add(body.position, cm_around(rng, 0.5f));
        ray.translation = cm_around(rng, 6.0f);
        ray.origin = cm_mul_add(middle, -cm_rng_range(rng, 0.0f, 1.0f), ray.translation);
    }
    return ray;
}

static carom_query_filter some_filter(cm_rng *rng, const carom_world *world)
{
    carom_query_filter filter = carom_default_query_filter();
    uint32_t slots = carom_world_body_slots(world);
    if (cm_rng_below(rng, 4) == 0) {
        filter.mask = 1 + cm_rng_below(rng, 3);
        filter.category = 1 + cm_rng_below(rng, 3);
    }
    if (cm_rng_below(rng, 3) == 0) {
        filter.exclude = carom_world_body_at(world, cm_rng_below(rng, slots));
    }
    filter.sensors = cm_rng_below(rng, 2);
    return filter;
}

static carom_shape_def some_shape(const cm_random_world *random, cm_rng *rng, carom_vec3 position)
{
    static const carom_shape_type types[] = {CAROM_SHAPE_SPHERE, CAROM_SHAPE_CAPSULE,
                                             CAROM_SHAPE_BOX, CAROM_SHAPE_HULL,
                                             CAROM_SHAPE_CYLINDER};
    carom_shape_def def = carom_default_shape_def();
    def.type = types[cm_rng_below(rng, 5)];
    if (def.type == CAROM_SHAPE_HULL && random->hull_count == 0) {
        def.type = CAROM_SHAPE_SPHERE;
    }
    carom_vec3 axis = cm_around(rng, 1.0f);
    carom_quat q = {axis.x, axis.y, axis.z, 0.5f};
    def.position = position;
    def.orientation = cm_quat_normalize(q);
    def.radius = cm_rng_range(rng, 0.05f, 0.6f);
    def.half_height = cm_rng_range(rng, 0.05f, 0.6f);
    def.half_extents.x = cm_rng_range(rng, 0.05f, 0.6f);
    def.half_extents.y = cm_rng_range(rng, 0.05f, 0.6f);
    def.half_extents.z = cm_rng_range(rng, 0.05f, 0.6f);
    def.hull = random->hull_count > 0 ? random->hulls[cm_rng_below(rng, random->hull_count)] : NULL;
    return def;
}

bool cm_question_draw(cm_query_kind kind, const cm_random_world *random, cm_rng *rng,
                      cm_question *question)
{
    cm_question *q = question;
    memset(q, 0, sizeof *q);
    q->ray = some_ray(rng, random->world);
    q->filter = some_filter(rng, random->world);
    q->shape = some_shape(random, rng, q->ray.origin);
    q->max_distance = cm_rng_range(rng, 0.0f, 2.0f);
    q->inside.kind = kind;
    q->inside.mover.line.origin = cm_d3_from(q->ray.origin);
    cm_d3 way = cm_d3_from(q->ray.translation);
    double length = cm_d3_length(way);
    if (kind == CM_QUERY_RAY || kind == CM_QUERY_CAST) {
        q->inside.mover.line.length = length;
        q->inside.mover.line.direction = cm_d3_scale(1.0 / length, way);
    }
    if (kind == CM_QUERY_CAST || kind == CM_QUERY_OVERLAP) {
        cm_shape row;
        if (cm_shape_from_def(&q->shape, &row, NULL) != CAROM_OK) {
            return false;
        }
        const cm_shape_transform transform = {row.position, cm_mat3_from_quat(row.orientation),
                                              q->shape.type == CAROM_SHAPE_HULL ? q->shape.hull
                                                                                : NULL};
        cm_query_solid_make(&row, &transform, &q->inside.mover.solid);
    }
    q->inside.most = q->max_distance;
    carom_vec3 o = q->ray.origin;
    return cm_abs(o.x) + cm_abs(o.y) + cm_abs(o.z) < 1.0e6f;
}

carom_result cm_question_ask(const carom_world *world, const cm_question *q, carom_query_hit *hits,
                             uint32_t capacity, uint32_t *count)
{
    switch (q->inside.kind) {
    case CM_QUERY_RAY:
        return carom_world_cast_ray(world, &q->ray, &q->filter, hits, capacity, count);
    case CM_QUERY_CAST:
        return carom_world_cast_shape(world, &q->shape, q->ray.translation, &q->filter, hits,
                                      capacity, count);
    case CM_QUERY_OVERLAP:
        return carom_world_overlap(world, &q->shape, &q->filter, hits, capacity, count);
    default:
        return carom_world_closest(world, q->ray.origin, q->max_distance, &q->filter, hits,
                                   capacity, count);
    }
}

static bool seen(const carom_shape_def *def, carom_body_id body, const carom_query_filter *filter)
{
    bool excluded =
        !carom_body_id_is_null(filter->exclude) && carom_body_id_equal(body, filter->exclude);
    return (def->category & filter->mask) && (def->mask & filter->category) &&
           (!def->sensor || filter->sensors) && !excluded;
}

uint32_t cm_question_scan(const carom_world *world, const cm_question *question,
                          carom_query_hit *hits)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < world->state.shape_slots; slot++) {
        const cm_shape *shape = &cm_shapes(world)[slot];
        cm_scratch scratch;
        cm_entry entry;
        if (!shape->alive) {
            continue;
        }
        carom_shape_id id = {slot, shape->generation};
        carom_shape_def def;
        carom_body_id body;
        cr_assert_eq(carom_shape_get(world, id, &def, &body), CAROM_OK);
        cm_scratch_map(world, &scratch);
        cm_update_shape_transform(world, &scratch, slot);
        if (!seen(&def, body, &question->filter) ||
            !cm_query_meets(&question->inside, shape, &scratch.transforms[slot], 1.0e30f, &entry)) {
            continue;
        }
        carom_query_hit hit = {.body = body,
                               .shape = id,
                               .point = cm_d3_round(entry.point),
                               .normal = cm_d3_round(entry.normal),
                               .distance = (float)entry.distance,
                               .inside = entry.inside};
        uint32_t at = count++;
        for (; at > 0 && cm_hit_before(&hit, &hits[at - 1]); at--) {
            hits[at] = hits[at - 1];
        }
        hits[at] = hit;
    }
    return count;
}

bool cm_same_hit(const carom_query_hit *a, const carom_query_hit *b)
{
    return carom_body_id_equal(a->body, b->body) && a->shape.index == b->shape.index &&
           memcmp(&a->point, &b->point, sizeof a->point) == 0 &&
           memcmp(&a->normal, &b->normal, sizeof a->normal) == 0 && a->distance == b->distance &&
           a->inside == b->inside;
}

static uint32_t check(const carom_world *world, const cm_question *question)
{
    carom_query_hit found[CM_QUERY_RIG_HITS], all[CM_QUERY_RIG_HITS];
    uint32_t count = 0, few = 0;
    cr_assert_eq(cm_question_ask(world, question, found, CM_QUERY_RIG_HITS, &count), CAROM_OK);
    uint32_t expected = cm_question_scan(world, question, all);
    cr_assert_eq(count, expected, "%u hits, %u by the scan", count, expected);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(cm_same_hit(&found[i], &all[i]), "hit %u: %g beside %g", i,
                  (double)found[i].distance, (double)all[i].distance);
    }
    uint32_t capacity = count / 2 + 1;
    cr_assert_eq(cm_question_ask(world, question, found, capacity, &few), CAROM_OK);
    cr_assert_eq(few, count < capacity ? count : capacity);
    for (uint32_t i = 0; i < few; i++) {
        cr_assert(cm_same_hit(&found[i], &all[i]), "hit %u of %u", i, capacity);
    }
    return count;
}

uint32_t cm_question_check(carom_world *world, const cm_question *question)
{
    cm_query_forget(world);
    check(world, question);
    world->query_scans = UINT8_MAX;
    uint32_t count = check(world, question);
    cr_assert(world->query_tree);
    return count;
}

void cm_question_stir(cm_random_world *random, carom_world *twin, cm_rng *rng)
{
    for (uint32_t i = cm_rng_below(rng, 4); i > 0; i--) {
        cm_random_world_disturb(random);
    }
    if (cm_rng_below(rng, 2)) {
        carom_world_step(random->world);
    }
    if (cm_rng_below(rng, 4) == 0) { // away and back
        size_t size = carom_world_save_size(random->world);
        void *image = malloc(size);
        cr_assert_eq(carom_world_save(random->world, image, size), size);
        carom_query_hit hit;
        uint32_t count;
        carom_world_step(random->world);
        carom_world_closest(random->world, cm_around(rng, 2.0f), 9.0f, NULL, &hit, 1, &count);
        cr_assert_eq(carom_world_restore(random->world, image, size), CAROM_OK);
        cr_assert_eq(carom_world_restore(twin, image, size), CAROM_OK);
        cm_world_spoil_scratch(twin, 0x3f);
        free(image);
    }
}
