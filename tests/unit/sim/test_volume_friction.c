// Goal: friction of the volume solver is Coulomb's whatever is locked and however long the step is:
// what slides loses mu g, stops and stays; no step rubs with more than mu_0 of what it presses
// with; what has no friction is never pushed sideways. Method: slabs, cubes and belts by formula:
// v^2 / 2 mu g, mu g v_x / |v|, the cone of the reported force of every tick.
#include <criterion/criterion.h>
#include <math.h>

#include "tests/unit/sim/rig.h"

static const double G = 9.81, MU = 0.5;

static carom_world_def define(uint32_t rate, uint32_t substeps)
{
    carom_world_def def = cm_rig_def(8);
    def.solver.type = CAROM_SOLVER_VOLUME;
    def.solver.volume.substeps = substeps;
    def.solver.volume.friction_kinetic = (float)MU;
    def.tick_rate = rate;
    return def;
}

static carom_body_id add_slab(cm_rig *rig, carom_vec3 velocity, uint8_t locks)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = cm_vec(0.0f, 0.1f, 0.0f);
    body.linear_velocity = velocity;
    body.axis_locks = locks;
    body.report_force = true;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(0.5f, 0.1f, 0.5f);
    return cm_rig_body(rig, &body, &shape);
}

// Slides along `direction` at 2 m/s, stops after v^2 / (2 mu g) and is held there.
static void expect_stops(const carom_world_def *def, uint8_t locks, carom_vec3 direction,
                         const char *what)
{
    cm_rig rig = cm_rig_open(def, 0);
    cm_rig_plane(&rig);
    carom_body_id slab = add_slab(&rig, cm_scale(2.0f, direction), locks);
    cm_rig_step(&rig, def->tick_rate / 10);
    carom_body_state s = cm_rig_get(&rig, slab);
    cr_expect_float_eq((double)cm_dot(s.linear_velocity, direction), 2.0 - 0.1 * MU * G, 0.06,
                       "%s: mu g", what);
    cm_rig_step(&rig, 2 * def->tick_rate);
    s = cm_rig_get(&rig, slab);
    double way = (double)cm_dot(s.position, direction);
    cr_expect_float_eq(way, 4.0 / (2.0 * MU * G), 0.03, "%s: stops after %g m", what, way);
    cr_expect_lt(cm_length(s.linear_velocity), 1e-3f, "%s", what);
    cm_rig_close(&rig);
}

// Every set of locks leaves other coordinates free: the turn about the normal, one tangent, both.
Test(volume_friction, stops_whatever_is_locked)
{
    const uint8_t turns = CAROM_LOCK_RX | CAROM_LOCK_RY | CAROM_LOCK_RZ;
    const carom_vec3 x = cm_vec(1.0f, 0.0f, 0.0f), skew = cm_vec(0.6f, 0.0f, 0.8f);
    const uint32_t rates[] = {60, 240, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        carom_world_def def = define(rates[i], 0);
        expect_stops(&def, 0, x, "free");
        expect_stops(&def, CAROM_LOCK_RY, x, "no turn about the normal");
        expect_stops(&def, CAROM_LOCK_RY, skew, "no turn about the normal, askew");
        expect_stops(&def, turns, skew, "no turn");
        expect_stops(&def, CAROM_LOCK_Z, x, "along x");
        expect_stops(&def, CAROM_LOCK_Z | turns, x, "along x, no turn");
        def.planar = true;
        expect_stops(&def, 0, x, "planar");
        expect_stops(&def, CAROM_LOCK_RZ, x, "planar, no turn");
    }
}

// A belt carries the floor's surface along z under a slab that is locked to x: the slip goes on,
// and friction along x is mu g v_x / |v| of it, slower and slower, never round.
Test(volume_friction, slip_that_cannot_stop)
{
    carom_world_def def = define(240, 1);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_def floor = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    floor.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(5.0f, 0.5f, 5.0f);
    shape.position = cm_vec(0.0f, -0.5f, 0.0f);
    shape.surface_velocity = cm_vec(0.0f, 0.0f, 2.0f);
    cm_rig_body(&rig, &floor, &shape);
    carom_body_id slab = add_slab(&rig, cm_vec(1.0f, 0.0f, 0.0f), CAROM_LOCK_Z | CAROM_LOCK_RY);
    double v = 1.0;
    for (uint32_t tick = 0; tick < 720; tick++) {
        cm_rig_step(&rig, 1);
        double before = v;
        v = (double)cm_rig_get(&rig, slab).linear_velocity.x;
        cr_assert(v <= before + 1e-6 && v >= -1e-6, "tick %u: %g after %g m/s", tick, v, before);
        if (tick > 24 && tick < 120) { // the slab has sunk in
            double want = MU * G * before / sqrt(before * before + 4.0) / 240.0;
            cr_assert_float_eq(before - v, want, 0.02 * want + 2e-7, "tick %u: %g, not %g", tick,
                               before - v, want);
        }
    }
    cr_expect_lt(v, 0.01, "it has nearly stopped along x");
    carom_vec3 f = cm_rig_get(&rig, slab).contact_force;
    cr_expect_float_eq((double)f.z / (double)f.y, MU, 1e-3, "and is rubbed along z all the time");
    cm_rig_close(&rig);
}

static cm_rig open_tilted(float mu, float stiffness, uint32_t rate, uint32_t substeps,
                          carom_body_id *cube)
{
    carom_world_def def = define(rate, substeps);
    def.solver.volume.friction_kinetic = mu;
    def.solver.volume.stiffness = stiffness;
    def.solver.volume.damping = stiffness < 0.0f ? -1.0f : 0.05f * stiffness;
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    cm_rig_plane(&rig);
    body.position = cm_vec(0.0f, 2.1f, 0.0f);
    body.orientation = cm_rig_turn_z(0.1f);
    body.has_mass = true;
    body.mass = 1.0f;
    body.report_force = true;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(1.0f, 1.0f, 1.0f);
    *cube = cm_rig_body(&rig, &body, &shape);
    return rig;
}

Test(volume_friction, without_friction_nothing_pushes_sideways)
{
    for (uint32_t i = 0; i < 4; i++) {
        carom_body_id cube;
        cm_rig rig = open_tilted(0.0f, i & 1 ? 1000.0f : -1.0f, 100, i & 2 ? 1 : 0, &cube);
        for (uint32_t tick = 0; tick < 300; tick++) {
            cm_rig_step(&rig, 1);
            carom_body_state s = cm_rig_get(&rig, cube);
            cr_assert_lt(fabsf(s.linear_velocity.x) + fabsf(s.linear_velocity.z), 1e-9f, "tick %u",
                         tick);
            cr_assert_eq(s.contact_force.x, 0.0f, "tick %u", tick);
        }
        cm_rig_close(&rig);
    }
}

// Also in the very step in which it lands, tilts, sticks or breaks loose.
Test(volume_friction, every_tick_is_inside_the_cone)
{
    const float coefficients[] = {0.02f, 0.05f, 0.3f, 1.0f};
    for (uint32_t i = 0; i < 16; i++) {
        carom_body_id cube;
        float mu = coefficients[i / 4];
        cm_rig rig = open_tilted(mu, i & 1 ? 1000.0f : -1.0f, 100, i & 2 ? 1 : 0, &cube);
        double most = 0.0;
        for (uint32_t tick = 0; tick < 300; tick++) {
            cm_rig_step(&rig, 1);
            carom_vec3 f = cm_rig_get(&rig, cube).contact_force;
            double rubs = hypot((double)f.x, (double)f.z);
            cr_assert(rubs <= 1.2 * (double)mu * (double)f.y * (1.0 + 1e-5) + 1e-6,
                      "mu %g, tick %u: %g N on %g N", (double)mu, tick, rubs, (double)f.y);
            most = fmax(most, rubs);
        }
        cr_assert_gt(most, 0.01, "it rubs");
        cm_rig_close(&rig);
    }
}

// On a plane tilted by atan(0.3): held with friction above, sliding at g (sin - mu cos) below.
Test(volume_friction, slopes)
{
    const float coefficients[] = {0.5f, 0.1f};
    for (uint32_t i = 0; i < 2; i++) {
        carom_world_def def = define(60, 0);
        double mu = (double)coefficients[i], length = sqrt(1.0 + 0.3 * 0.3);
        double down = 0.3 / length, into = 1.0 / length;
        def.solver.volume.friction_kinetic = (float)mu;
        def.gravity = cm_vec((float)(G * down), (float)(-G * into), 0.0f);
        cm_rig rig = cm_rig_open(&def, 0);
        cm_rig_plane(&rig);
        carom_body_id slab = add_slab(&rig, cm_vec(0.0f, 0.0f, 0.0f), 0);
        cm_rig_step(&rig, 60);
        carom_body_state first = cm_rig_get(&rig, slab);
        cm_rig_step(&rig, 60);
        carom_body_state last = cm_rig_get(&rig, slab);
        double gained = (double)last.linear_velocity.x - (double)first.linear_velocity.x;
        double want = i == 0 ? 0.0 : G * (down - mu * into);
        cr_expect_float_eq(gained, want, 1e-3, "mu %g: %g m/s in a second", mu, gained);
        if (i == 0) {
            cr_expect_lt(fabsf(last.position.x - first.position.x), 1e-5f, "it creeps");
        }
        cm_rig_close(&rig);
    }
}

// A box that rides a turntable at 2 rad/s, 1 m from its axis, stays there.
Test(volume_friction, turntable)
{
    const uint32_t rates[] = {60, 240, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        carom_world_def def = define(rates[i], 0);
        cm_rig rig = cm_rig_open(&def, 0);
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.type = CAROM_BODY_KINEMATIC;
        body.position = cm_vec(0.0f, -0.5f, 0.0f);
        body.angular_velocity = cm_vec(0.0f, 2.0f, 0.0f);
        shape.type = CAROM_SHAPE_BOX;
        shape.half_extents = cm_vec(3.0f, 0.5f, 3.0f);
        cm_rig_body(&rig, &body, &shape);
        body.type = CAROM_BODY_DYNAMIC;
        body.position = cm_vec(1.0f, 0.1f, 0.0f);
        body.linear_velocity = cm_vec(0.0f, 0.0f, -2.0f);
        shape.half_extents = cm_vec(0.2f, 0.1f, 0.2f);
        carom_body_id box = cm_rig_body(&rig, &body, &shape);
        cm_rig_step(&rig, rates[i]);
        carom_vec3 p = cm_rig_get(&rig, box).position;
        double first = hypot((double)p.x, (double)p.z);
        cm_rig_step(&rig, 10 * rates[i]);
        p = cm_rig_get(&rig, box).position;
        double last = hypot((double)p.x, (double)p.z);
        cr_expect_float_eq(first, 1.0, 0.01, "%u Hz: %g m", rates[i], first);
        cr_expect_float_eq(last, first, 1e-3, "%u Hz: creeps by %g m in 10 s", rates[i],
                           last - first);
        cm_rig_close(&rig);
    }
}
