// Goal: a rewind leaves no trace in any solver, nor in any of its models. Method: one yard of
// bodies that fall, lie, sleep, are woken, come and go, with a sensor, a pusher, joints where the
// solver has them, things far off that nothing comes near, and fewer contacts than it needs;
// rewound at every tick (rewind.h) under every model. The counters say that what the yard is for
// happened.
#include "tests/unit/counts.h"
#include "tests/unit/sim/rewind.h"

#include <criterion/criterion.h>

#define TICKS 130u

// Slots, in the order in which they are built.
enum { PLANE, PUSHER, SENSOR, FAR, LOW, HIGH, FIRST };

static const carom_vec3 half = {0.2f, 0.2f, 0.2f};

static void add(carom_world *world, uint32_t i, carom_vec3 position, carom_vec3 velocity)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    body.linear_velocity = velocity;
    shape.type = i % 2 ? CAROM_SHAPE_SPHERE : CAROM_SHAPE_BOX;
    shape.radius = 0.2f;
    shape.half_extents = half;
    shape.friction = 0.5f;
    shape.restitution = i % 3 ? 0.0f : 0.5f;
    shape.density = 300.0f;
    carom_body_create(world, &body, &shape, 1, NULL); // a full world refuses: so it does again
}

static void add_joints(carom_world *world)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_BALL;
    def.body_b = carom_world_body_at(world, FIRST + 1);
    def.anchor = cm_vec(0.5f, 1.6f, 0.0f);
    def.break_force = 300.0f;
    carom_joint_create(world, &def, NULL); // impulse and volume have none
}

static void build(cm_rig *rig)
{
    cm_rig_plane(rig);
    cm_rig_box(rig, CAROM_BODY_KINEMATIC, cm_vec(-3.0f, 0.3f, 0.0f), half);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    body.position = cm_vec(0.0f, 0.5f, 0.0f);
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = 0.5f;
    shape.sensor = true;
    cm_rig_body(rig, &body, &shape);
    body.position = cm_vec(30.0f, 20.0f, 0.0f);
    shape.sensor = false;
    cm_rig_body(rig, &body, &shape);
    // To sleep; first, since a cut takes the last.
    add(rig->world, 0, cm_vec(6.0f, 0.201f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    add(rig->world, 0, cm_vec(6.0f, 0.602f, 0.0f), cm_vec(0.0f, 0.0f, 0.0f));
    for (uint32_t i = 0; i < 9; i++) {
        add(rig->world, i,
            cm_vec(0.5f * (float)(i % 3) - 0.5f, 0.2f + 0.41f * (float)(i / 3), 0.0f),
            cm_vec(i == 6 ? 2.0f : 0.0f, 0.0f, 0.0f));
    }
    add_joints(rig->world);
}

static void drive(carom_world *world, uint32_t tick)
{
    if (tick == 20 || tick == 60) {
        carom_body_set_velocity(world, carom_world_body_at(world, PUSHER),
                                cm_vec(tick == 20 ? 4.0f : 0.0f, 0.0f, 0.0f),
                                cm_vec(0.0f, 0.0f, 0.0f));
    }
    if (tick % 16 == 3) {
        add(world, tick, cm_vec(0.3f, 2.5f, 0.1f), cm_vec(0.0f, -3.0f, 0.0f));
    }
    if (tick % 16 == 11) {
        carom_body_destroy(world, carom_world_body_at(world, FIRST + tick / 16));
    }
    if (tick == 100) { // wakes what has slept since its first half second
        add(world, 1, cm_vec(6.0f, 1.2f, 0.0f), cm_vec(0.0f, -4.0f, 0.0f));
    }
}

static cm_rewind_count rewind_for(void (*define)(carom_world_def *def), uint32_t ticks)
{
    const cm_golden_scene scene = {"yard", 24, ticks, build, drive, define};
    cm_rewind_count count = cm_rewind_scene(&scene, false);
    cr_assert_eq(cm_rewind_scene(&scene, true).touching, count.touching);
    cr_assert_geq(count.begins, 5, "%llu begin", (unsigned long long)count.begins);
    cr_assert_geq(count.ends, 1);
    return count;
}

static cm_rewind_count rewind_yard(void (*define)(carom_world_def *def))
{
    return rewind_for(define, TICKS);
}

static void asks_for_cuts(const cm_rewind_count *count)
{
    cr_assert_gt(count->dropped, 0, "no contact was cut");
}

static void asks_for_sleep(const cm_rewind_count *count)
{
    cr_assert_geq(count->sleeps, 2);
    cr_assert_geq(count->wakes, 2, "%llu wake", (unsigned long long)count->wakes);
}

static void soft(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_SOFT;
    def->limits.contacts = 16;
}

Test(rollback_solvers, soft)
{
    cm_rewind_count count = rewind_yard(soft);
    asks_for_cuts(&count);
    asks_for_sleep(&count);
}

static void soft_planar(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_SOFT;
    def->planar = true;
}

Test(rollback_solvers, soft_planar)
{
    cm_rewind_count count = rewind_yard(soft_planar);
    asks_for_sleep(&count);
}

static void impulse_interpolated(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_IMPULSE;
    def->solver.impulse.substeps = 3;
    def->limits.contacts = 16;
}

Test(rollback_solvers, impulse_interpolated)
{
    cm_rewind_count count = rewind_yard(impulse_interpolated);
    asks_for_cuts(&count);
}

static void impulse_normal(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_IMPULSE;
    def->solver.impulse.model = CAROM_IMPULSE_NORMAL;
}

Test(rollback_solvers, impulse_normal)
{
    rewind_yard(impulse_normal);
}

static void impulse_circle(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_IMPULSE;
    def->solver.impulse.model = CAROM_IMPULSE_CIRCLE;
    def->planar = true;
}

Test(rollback_solvers, impulse_circle)
{
    rewind_yard(impulse_circle);
}

static void lcp_estimated(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_LCP;
    def->limits.contacts = 20; // of what sleeps and what falls on it none is cut
}

Test(rollback_solvers, lcp_estimated)
{
    cm_rewind_count count = rewind_yard(lcp_estimated);
    asks_for_cuts(&count);
    asks_for_sleep(&count);
}

static void lcp_constant(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_LCP;
    def->solver.lcp.friction_model = CAROM_FRICTION_BOX_CONSTANT;
    def->solver.lcp.max_friction = 20.0f;
    def->solver.lcp.substeps = 2;
}

Test(rollback_solvers, lcp_constant)
{
    cm_rewind_count count = rewind_yard(lcp_constant);
    asks_for_sleep(&count);
}

static void lcp_pyramid(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_LCP;
    def->solver.lcp.friction_model = CAROM_FRICTION_PYRAMID;
}

Test(rollback_solvers, lcp_pyramid)
{
    cm_rewind_count count = rewind_yard(lcp_pyramid);
    asks_for_sleep(&count);
}

static void lcp_iterative(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_LCP;
    def->solver.lcp.direct_rows = 12;
    def->solver.lcp.rounds = 2;
}

Test(rollback_solvers, lcp_iterative)
{
    rewind_yard(lcp_iterative);
}

static void volume_intersection(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_VOLUME;
    def->solver.volume.substeps = 2;
    def->tick_rate = 240;
}

Test(rollback_solvers, volume_intersection)
{
    rewind_for(volume_intersection, test_count(TICKS / 2, TICKS));
}

static void volume_deepest_point(carom_world_def *def)
{
    def->solver.type = CAROM_SOLVER_VOLUME;
    def->solver.volume.contact = CAROM_VOLUME_DEEPEST_POINT;
    def->solver.volume.substeps = 2;
    def->tick_rate = 240;
}

Test(rollback_solvers, volume_deepest_point)
{
    rewind_for(volume_deepest_point, test_count(TICKS / 2, TICKS));
}
