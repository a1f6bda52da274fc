// Goal: what queries find is where it truly is: within 1e-4 of the distance, by a reference of
// another method (true_shapes.h: gaps, ternary search, bisection) that knows shapes and poses by
// the API alone. Method: fuzzed worlds with what scenes hold, every kind of query, every shape of
// every such world asked by the reference as well: what it sees must be found, and nothing else.
// What only grazes a shape may go either way.
#include <criterion/criterion.h>

#include "tests/unit/counts.h"
#include "tests/unit/sim/query_rig.h"
#include "tests/unit/sim/true_shapes.h"

#include <math.h>
#include <string.h>

#define GRAZE      1.0e-4 // m
#define WANTED     40u    // hits of each kind
#define WANTED_ALL 150u

static const carom_query_hit *of_shape(const carom_query_hit *hits, uint32_t count, uint32_t slot)
{
    for (uint32_t i = 0; i < count; i++) {
        if (hits[i].shape.index == slot) {
            return &hits[i];
        }
    }
    return NULL;
}

// The answer about one shape that is truly met after `at` metres and `depth` deep.
static bool check(const cm_question *q, const cm_true_shape *shape, const carom_query_hit *hit,
                  double at, double depth)
{
    if (fabs(depth) < GRAZE) {
        return false;
    }
    cr_assert_eq(hit != NULL, depth > 0, "kind %d, type %d on %d: %g m deep", (int)q->inside.kind,
                 (int)q->shape.type, (int)shape->def.type, depth);
    if (hit == NULL || q->inside.kind == CM_QUERY_OVERLAP) {
        return hit != NULL;
    }
    double error = fabs((double)hit->distance - at);
    cr_assert(error <= 1.0e-4 * at + 2.0e-6, "kind %d, type %d on %d: %g beside %g",
              (int)q->inside.kind, (int)q->shape.type, (int)shape->def.type, (double)hit->distance,
              at);
    if (!hit->inside) {
        carom_dvec3 point = cm_d3_from(hit->point);
        cr_assert(fabs(cm_true_distance(shape, point)) < 1.0e-4, "a point %g m off",
                  cm_true_distance(shape, point));
        // A step outward leaves the shape at the rate of the step.
        carom_dvec3 out = cm_d3_mad(point, 0.01, cm_d3_from(hit->normal));
        cr_assert(fabs(cm_true_distance(shape, out) - 0.01) < 2.0e-4, "type %d on %d: %g",
                  (int)q->shape.type, (int)shape->def.type, cm_true_distance(shape, out));
    }
    return true;
}

// How deep and where the shape is truly met; false where the reference does not know.
static bool truth(const cm_question *q, const cm_true_shape *shape, double *at, double *depth)
{
    carom_shape_def point = carom_default_shape_def();
    point.radius = 0.0f;
    point.position = q->ray.origin;
    bool shaped = q->inside.kind == CM_QUERY_CAST || q->inside.kind == CM_QUERY_OVERLAP;
    const cm_true_shape mover = cm_true_shape_at(shaped ? &q->shape : &point);
    cm_d3 way = cm_d3_from(q->ray.translation);
    double length = cm_d3_length(way);
    cm_true_pair pair;
    if (!cm_true_pair_open(&pair, &mover, shape)) {
        return false;
    }
    double now = cm_true_gap(&pair, cm_d3_of(0.0, 0.0, 0.0));
    if (q->inside.kind == CM_QUERY_OVERLAP) {
        *depth = -now;
    } else if (q->inside.kind == CM_QUERY_NEAREST) {
        *at = fmax(now, 0);
        *depth = (double)q->max_distance - *at;
    } else {
        *at = cm_true_cast(&pair, cm_d3_scale(1.0 / length, way), length, depth);
    }
    cm_true_pair_close(&pair);
    return true;
}

static uint32_t check_question(const carom_world *world, cm_question *q, uint32_t *unknown)
{
    carom_query_hit hits[CM_QUERY_RIG_HITS];
    uint32_t count, met = 0;
    q->filter = carom_default_query_filter();
    q->filter.sensors = true;
    cr_assert_eq(cm_question_ask(world, q, hits, CM_QUERY_RIG_HITS, &count), CAROM_OK);
    for (uint32_t slot = 0; slot < world->state.shape_slots; slot++) {
        if (!cm_shapes(world)[slot].alive) {
            continue;
        }
        carom_shape_id id = {slot, cm_shapes(world)[slot].generation};
        cm_true_shape shape = cm_true_shape_of(world, id);
        double at = 0, depth;
        if (truth(q, &shape, &at, &depth)) {
            met += check(q, &shape, of_shape(hits, count, slot), at, depth);
        } else {
            (*unknown)++;
        }
    }
    return met;
}

static void check_kind(cm_query_kind kind, uint64_t first)
{
    cm_rng rng;
    uint32_t met = 0, unknown = 0;
    cm_rng_seed(&rng, first);
    uint32_t wanted = test_count(WANTED, WANTED_ALL);
    for (uint64_t i = 0; met < wanted; i++) {
        cm_random_world random;
        cr_assert(cm_random_world_open(&random, first + i));
        for (uint32_t k = 0; random.tame && k < 3; k++) {
            cm_question question;
            cr_assert(cm_question_draw(kind, &random, &rng, &question));
            met += check_question(random.world, &question, &unknown);
        }
        cm_random_world_close(&random);
    }
}

Test(query_truth, rays)
{
    check_kind(CM_QUERY_RAY, 9000);
}

Test(query_truth, casts)
{
    check_kind(CM_QUERY_CAST, 9100);
}

Test(query_truth, overlaps)
{
    check_kind(CM_QUERY_OVERLAP, 9200);
}

Test(query_truth, closest_points)
{
    check_kind(CM_QUERY_NEAREST, 9300);
}
