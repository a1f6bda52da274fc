// Goal: what an impulse world lets fall comes to rest and stays there. Method: 200 boxes and hulls
// from a seed, each with a place, a turn and a spin of its own, dropped on a floor with friction
// 0.5 and restitution 0: after 5 s none moves faster than 1e-3 m/s (or rad/s), and in 10 s more
// none goes further than a millimetre. Towers of five and ten stand for a minute. A box on a slope.
#include "tests/unit/counts.h"
#include "tests/unit/sim/hulls.h"
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>

#define BODIES 200u

static cm_rig open_rig(cm_hulls *hulls, uint32_t tick_rate)
{
    carom_world_def def = cm_rig_def(BODIES + 1);
    def.tick_rate = tick_rate;
    def.solver.type = CAROM_SOLVER_IMPULSE;
    def.friction_combine = CAROM_COMBINE_PRODUCT;
    if (hulls != NULL) {
        hulls->count = carom_hull_sort(hulls->list, hulls->count);
        def.hulls = hulls->list;
        def.hull_count = hulls->count;
    }
    return cm_rig_open(&def, 0);
}

static void floor_of_friction_1(cm_rig *rig)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_PLANE;
    shape.normal = cm_vec(0.0f, 1.0f, 0.0f);
    shape.friction = 1.0f;
    cm_rig_body(rig, &body, &shape);
}

static float between(uint64_t *chance, float low, float high)
{
    return low + (high - low) * cm_hulls_unit(chance);
}

static void drop(uint64_t chance, uint32_t tick_rate)
{
    cm_hulls hulls;
    const carom_hull *looks[BODIES] = {0};
    carom_body_id ids[BODIES];
    carom_vec3 places[BODIES];
    cm_hulls_open(&hulls);
    for (uint32_t i = 0; i < BODIES; i += 2) {
        uint32_t points = 6 + (uint32_t)(10.0f * cm_hulls_unit(&chance));
        looks[i] = cm_hulls_random(&hulls, &chance, points, between(&chance, 0.2f, 0.5f));
    }
    cm_rig rig = open_rig(&hulls, tick_rate);
    floor_of_friction_1(&rig);
    for (uint32_t i = 0; i < BODIES; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        shape.friction = 0.5f;
        shape.type = looks[i] != NULL ? CAROM_SHAPE_HULL : CAROM_SHAPE_BOX;
        shape.hull = looks[i];
        float x = between(&chance, 0.1f, 0.6f), y = between(&chance, 0.1f, 0.6f);
        shape.half_extents = cm_vec(x, y, between(&chance, 0.1f, 0.6f));
        body.position =
            cm_vec(4.0f * (float)(i % 15), between(&chance, 1.0f, 2.0f), 4.0f * (float)(i / 15));
        body.orientation = cm_hulls_turn(&chance);
        body.linear_velocity = cm_hulls_vec(&chance, 1.0f);
        body.angular_velocity = cm_hulls_vec(&chance, 2.0f);
        ids[i] = cm_rig_body(&rig, &body, &shape);
    }
    cm_rig_step(&rig, 5 * tick_rate);
    for (uint32_t second = 0; second <= 10; second++) {
        for (uint32_t i = 0; i < BODIES; i++) {
            carom_body_state s = cm_rig_get(&rig, ids[i]);
            places[i] = second == 0 ? s.position : places[i];
            cr_expect_lt(cm_length(s.linear_velocity), 1e-3f, "%u Hz, body %u", tick_rate, i);
            cr_expect_lt(cm_length(s.angular_velocity), 1e-3f, "%u Hz, body %u", tick_rate, i);
            cr_expect_lt(cm_length(cm_sub(s.position, places[i])), 1e-3f, "body %u creeps", i);
        }
        cm_rig_step(&rig, tick_rate);
    }
    cm_rig_close(&rig);
    cm_hulls_close(&hulls);
}

Test(impulse_rest, boxes_and_hulls_at_60_hz)
{
    drop(1, 60);
}

Test(impulse_rest, boxes_and_hulls_at_120_hz)
{
    drop(2, 120);
}

// A quarter of a minute in `make test`.
static void stand(uint32_t count, uint32_t tick_rate)
{
    cm_rig rig = open_rig(NULL, tick_rate);
    carom_body_id ids[10];
    floor_of_friction_1(&rig);
    for (uint32_t i = 0; i < count; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = cm_vec(0.5f, 0.5f, 0.5f);
        shape.friction = 0.7f;
        body.position = cm_vec(0.02f * (float)(i % 2), 0.5f + 1.01f * (float)i, 0.0f);
        ids[i] = cm_rig_body(&rig, &body, &shape);
    }
    cm_rig_step(&rig, test_count(15, 60) * tick_rate);
    for (uint32_t i = 0; i < count; i++) {
        carom_body_state s = cm_rig_get(&rig, ids[i]);
        cr_expect_float_eq(s.position.y, 0.5 + i, 2e-3, "box %u", i);
        cr_expect_float_eq(s.position.x, 0.02 * (i % 2), 0.02, "box %u", i);
        cr_expect_float_eq(s.position.z, 0.0, 0.02, "box %u", i);
        cr_expect_lt(cm_length(s.linear_velocity), 1e-3f, "box %u", i);
    }
    cm_rig_close(&rig);
}

Test(impulse_rest, five_stand_a_minute)
{
    stand(5, 60);
}

Test(impulse_rest, ten_stand_a_minute_at_200_hz)
{
    stand(10, 200);
}

// On a slope a box sticks as long as gravity along it is below mu of gravity across it, and slides
// where it is above.
Test(impulse_rest, a_box_sticks_to_a_slope)
{
    for (int k = 0; k < 2; k++) {
        carom_world_def def = cm_rig_def(4);
        def.gravity = cm_vec(k == 0 ? 4.0f : 6.0f, -9.0f, 0.0f); // 24 and 34 degrees, mu 0.5: 27
        def.solver.type = CAROM_SOLVER_IMPULSE;
        cm_rig rig = cm_rig_open(&def, 0);
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        floor_of_friction_1(&rig);
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = cm_vec(0.5f, 0.25f, 0.5f);
        shape.friction = 0.5f;
        body.position = cm_vec(0.0f, 0.25f, 0.0f);
        carom_body_id id = cm_rig_body(&rig, &body, &shape);
        cm_rig_step(&rig, 600);
        double x = (double)cm_rig_get(&rig, id).position.x;
        cr_expect(k == 0 ? fabs(x) < 1e-4 : x > 0.01, "%g", x);
        cm_rig_close(&rig);
    }
}
