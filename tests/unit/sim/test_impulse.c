// Goal: a pair that touches in an impulse world collides by the formulas of carom/impact.h,
// whatever its shapes, masses and turns, to 1e-5; what must not collide does not; pair rules count.
// Method: two bodies set in touch at a point known in closed form, one tick, against the pure
// functions in binary64; small worlds for filters, substeps, kinematic bodies and rules.
#include "tests/unit/sim/rig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "shared/sim/solve/impulse/core.h"

#define CM_TEST_PI 3.14159265358979323846

static uint64_t chance = 11;

static double unit(void) // -1..1
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (double)(chance >> 11) * 0x1p-52 - 1.0;
}

static carom_vec3 vector(float size)
{
    float x = size * (float)unit(), y = size * (float)unit();
    return cm_vec(x, y, size * (float)unit());
}

static carom_quat turn(void)
{
    carom_vec3 v = vector(1.0f);
    carom_quat q = {v.x, v.y, v.z, (float)unit()};
    return cm_quat_normalize(q);
}

static carom_dvec3 to_double(carom_vec3 v)
{
    return cm_d3_of((double)v.x, (double)v.y, (double)v.z);
}

static carom_dmat3 axes(carom_quat q)
{
    double n = sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
    double x = q.x / n, y = q.y / n, z = q.z / n, w = q.w / n;
    carom_dmat3 m = {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                     {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                     {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
    return m;
}

// Two bodies, their shapes, and where they touch.
typedef struct trial {
    carom_body_def bodies[2];
    carom_shape_def shapes[2];
    carom_dvec3 point, normal;
    float friction, restitution; // of the pair
    carom_impulse_model model;
} trial;

static trial new_trial(void)
{
    trial t = {0};
    for (int i = 0; i < 2; i++) {
        carom_body_def *b = &t.bodies[i];
        *b = carom_default_body_def();
        t.shapes[i] = carom_default_shape_def();
        t.shapes[i].friction = t.shapes[i].restitution = 1.0f;
        b->has_mass = b->has_inertia = true;
        b->mass = 1.1f + (float)unit();
        b->inertia = cm_vec(0.8f + 0.5f * (float)unit(), 0.8f, 0.9f + 0.5f * (float)unit());
        b->inertia_orientation = turn();
        b->linear_velocity = vector(2.0f);
        b->angular_velocity = vector(2.0f);
    }
    t.friction = (float)(0.5 + 0.5 * unit());
    t.restitution = (float)(0.5 + 0.5 * unit());
    return t;
}

static carom_impact_case case_of(const trial *t)
{
    carom_impact_case c = {.point = t->point, .normal = t->normal};
    c.friction = (double)t->friction;
    c.restitution = (double)t->restitution;
    for (int i = 0; i < 2; i++) {
        const carom_body_def *from = &t->bodies[i];
        carom_impact_body *b = &c.bodies[i];
        // Principal axes as body axes.
        carom_dmat3 body = axes(from->orientation), own = axes(from->inertia_orientation);
        carom_dmat3 s = {cm_dmat_mul(&body, own.x), cm_dmat_mul(&body, own.y),
                         cm_dmat_mul(&body, own.z)};
        *b = (carom_impact_body){.mass = (double)from->mass, .attitude = s};
        b->inertia = (carom_dsym3){
            (double)from->inertia.x, (double)from->inertia.y, (double)from->inertia.z, 0, 0, 0};
        b->center = to_double(from->position);
        b->velocity = to_double(from->linear_velocity);
        b->angular_velocity = cm_dmat_mul_transpose(&s, to_double(from->angular_velocity));
        b->immovable = from->type != CAROM_BODY_DYNAMIC;
    }
    return c;
}

static void expect_near(carom_vec3 got, carom_dvec3 want, double scale, const char *what)
{
    carom_dvec3 off = cm_d3_sub(to_double(got), want);
    cr_expect_lt(cm_d3_length(off), 1.0e-5 * scale, "%s: off by %g of %g", what, cm_d3_length(off),
                 scale);
}

static cm_rig open_rig(carom_impulse_model model)
{
    carom_world_def def = cm_rig_def(16);
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.solver.type = CAROM_SOLVER_IMPULSE;
    def.solver.impulse.model = model;
    // What a hit gives is not to be changed by the turn that follows it.
    def.solver.impulse.rotation = CAROM_ROTATION_CONSTANT_SPIN;
    return cm_rig_open(&def, 0);
}

// True where the bodies approached; then the world did as the formulas do.
static bool run(const trial *t, const char *what)
{
    cm_rig rig = open_rig(t->model);
    carom_body_id ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = cm_rig_body(&rig, &t->bodies[i], &t->shapes[i]);
    }
    carom_pair_rule rule = {.body_a = ids[1], .body_b = ids[0]};
    rule.friction = t->friction;
    rule.restitution = t->restitution;
    cr_assert_eq(carom_world_add_pair_rule(rig.world, &rule), CAROM_OK);
    cm_rig_step(&rig, 1);
    carom_impact_case input = case_of(t);
    carom_impact out;
    carom_result result = t->model == CAROM_IMPULSE_NORMAL
                              ? carom_impact_normal(&input, &out)
                              : carom_impact_interpolated(&input, &out);
    cr_assert_eq(result, CAROM_OK);
    for (int i = 0; i < 2; i++) {
        carom_body_state state = cm_rig_get(&rig, ids[i]);
        expect_near(state.linear_velocity, out.velocities[i], 4.0, what);
        expect_near(state.angular_velocity, out.world_spins[i], 6.0, what);
    }
    cm_rig_close(&rig);
    return out.branch != CAROM_IMPACT_NONE;
}

static void set_sphere(carom_shape_def *shape, float radius)
{
    shape->type = CAROM_SHAPE_SPHERE;
    shape->radius = radius;
}

static void set_box(carom_shape_def *shape, carom_vec3 half)
{
    shape->type = CAROM_SHAPE_BOX;
    shape->half_extents = half;
}

// Body 2's centre where it touches body 1 at P with N from 1 to 2.
static void place(trial *t, carom_dvec3 point, carom_dvec3 normal, double distance)
{
    carom_dvec3 at = cm_d3_mad(point, distance, normal);
    t->bodies[1].position = cm_vec((float)at.x, (float)at.y, (float)at.z);
    t->point = point;
    t->normal = normal;
}

Test(impulse, spheres)
{
    uint32_t collided = 0;
    for (int round = 0; round < 400; round++) {
        trial t = new_trial();
        t.model = round % 2 ? CAROM_IMPULSE_NORMAL : CAROM_IMPULSE_INTERPOLATED;
        t.friction = round % 5 == 0 ? 0.0f : (round % 5 == 1 ? 1.0f : t.friction);
        t.restitution = round % 7 == 0 ? 0.0f : (round % 7 == 1 ? 1.0f : t.restitution);
        set_sphere(&t.shapes[0], 0.5f);
        set_sphere(&t.shapes[1], 0.75f);
        t.bodies[0].position = vector(1.0f);
        t.bodies[0].orientation = turn();
        t.bodies[1].orientation = turn();
        if (round % 11 == 0) {
            t.bodies[1].type = CAROM_BODY_KINEMATIC;
        }
        carom_dvec3 n = to_double(cm_normalize(vector(1.0f)));
        n = cm_d3_scale(1 / cm_d3_length(n), n);
        place(&t, cm_d3_mad(to_double(t.bodies[0].position), 0.5, n), n, 0.75);
        collided += run(&t, "spheres");
    }
    cr_assert_gt(collided, 100u);
}

// A sphere on a face, an edge and a corner of a turned box.
Test(impulse, box_and_sphere)
{
    uint32_t collided = 0;
    for (int round = 0; round < 300; round++) {
        trial t = new_trial();
        set_box(&t.shapes[0], cm_vec(0.5f, 0.75f, 1.0f));
        set_sphere(&t.shapes[1], 0.5f);
        t.bodies[0].orientation = turn();
        carom_dmat3 s = axes(t.bodies[0].orientation);
        carom_dvec3 p = {0.5, 0.3 * unit(), 0.5 * unit()}, n = {1, 0, 0};
        if (round % 3 > 0) {
            p.y = 0.75;
            n.y = 0.3 + 0.3 * fabs(unit());
        }
        if (round % 3 > 1) {
            p.z = 1.0;
            n.z = 0.5;
        }
        n = cm_dmat_mul(&s, cm_d3_scale(1 / cm_d3_length(n), n));
        place(&t, cm_dmat_mul(&s, p), n, 0.5);
        collided += run(&t, "box and sphere");
    }
    cr_assert_gt(collided, 80u);
}

static carom_quat about(float x, float y, float z, double angle)
{
    carom_quat q = {x * (float)sin(angle / 2), y * (float)sin(angle / 2), z * (float)sin(angle / 2),
                    (float)cos(angle / 2)};
    return q;
}

Test(impulse, boxes_by_face_and_by_edge)
{
    uint32_t collided = 0;
    for (int round = 0; round < 200; round++) {
        trial t = new_trial();
        set_box(&t.shapes[0], cm_vec(1.0f, 0.5f, 1.0f));
        set_box(&t.shapes[1], cm_vec(0.5f, 0.5f, 0.5f));
        if (round % 2 == 0) {
            // Upper box over a corner of the lower one: they share 0.75 x 0.7.
            t.bodies[1].position = cm_vec(0.75f, 1.0f, 0.8f);
            t.point = cm_d3_of(0.625, 0.5, 0.65);
        } else {
            // Edges cross at the origin.
            t.bodies[0].orientation = about(0, 0, 1, CM_TEST_PI / 4);
            set_box(&t.shapes[0], cm_vec(0.5f, 0.5f, 1.0f));
            t.bodies[0].position = cm_vec(0.0f, -0.70710678f, 0.2f);
            t.bodies[1].orientation = about(1, 0, 0, CM_TEST_PI / 4);
            t.bodies[1].position = cm_vec(0.1f, 0.70710678f, 0.0f);
        }
        t.normal = cm_d3_of(0, 1, 0);
        collided += run(&t, round % 2 ? "edges" : "faces");
    }
    cr_assert_gt(collided, 60u);
}

Test(impulse, capsules_cylinders_and_planes)
{
    uint32_t collided = 0;
    for (int round = 0; round < 200; round++) {
        trial t = new_trial();
        carom_shape_def *shape = &t.shapes[1];
        t.bodies[0].type = CAROM_BODY_STATIC;
        t.bodies[0].linear_velocity = t.bodies[0].angular_velocity = cm_vec(0, 0, 0);
        t.shapes[0].type = CAROM_SHAPE_PLANE;
        t.shapes[0].normal = cm_vec(0.0f, 1.0f, 0.0f);
        t.normal = cm_d3_of(0, 1, 0);
        shape->radius = 0.25f;
        shape->half_height = 0.5f;
        shape->type = round % 2 ? CAROM_SHAPE_CAPSULE : CAROM_SHAPE_CYLINDER;
        if (round % 4 < 2) { // standing
            t.bodies[1].position = cm_vec(0.3f, round % 2 ? 0.75f : 0.5f, 0.0f);
        } else { // lying: two points
            t.bodies[1].orientation = about(0, 0, 1, CM_TEST_PI / 2);
            t.bodies[1].position = cm_vec(0.3f, 0.25f, 0.0f);
        }
        t.point = cm_d3_of((double)t.bodies[1].position.x, 0, 0);
        collided += run(&t, "on a plane");
    }
    cr_assert_gt(collided, 60u);
}

static carom_body_id ball(cm_rig *rig, float x, float vx, carom_shape_def shape)
{
    carom_body_def body = carom_default_body_def();
    set_sphere(&shape, 0.5f);
    body.position = cm_vec(x, 0.0f, 0.0f);
    body.linear_velocity = cm_vec(vx, 0.0f, 0.0f);
    return cm_rig_body(rig, &body, &shape);
}

Test(impulse, a_gap_up_to_1e_5_of_the_size_touches)
{
    static const struct {
        float gap;
        bool hit;
    } ROWS[] = {{0.9e-5f, true}, {1.5e-5f, false}, {-0.01f, true}, {0.01f, false}};
    for (size_t i = 0; i < 4; i++) {
        cm_rig rig = open_rig(CAROM_IMPULSE_INTERPOLATED);
        carom_shape_def shape = carom_default_shape_def();
        carom_body_id a = ball(&rig, -0.5f, 0.0f, shape);
        ball(&rig, 0.5f + ROWS[i].gap, -1.0f, shape);
        cm_rig_step(&rig, 1);
        cr_expect_eq(cm_rig_get(&rig, a).linear_velocity.x != 0.0f, ROWS[i].hit, "row %zu", i);
        cm_rig_close(&rig);
    }
}

// A push goes through a row of plastic balls whichever way the ids run: in rounds, until none
// approaches. All four then move together.
Test(impulse, rounds_go_on_until_none_approaches)
{
    for (int back = 0; back < 2; back++) {
        cm_rig rig = open_rig(CAROM_IMPULSE_INTERPOLATED);
        carom_shape_def shape = carom_default_shape_def();
        carom_body_id ids[4];
        for (int i = 0; i < 4; i++) {
            ids[i] =
                ball(&rig, (float)(back ? -i : i), i == 0 ? (back ? -2.0f : 2.0f) : 0.0f, shape);
        }
        cm_rig_step(&rig, 1);
        for (int i = 0; i < 4; i++) {
            double v = (double)cm_rig_get(&rig, ids[i]).linear_velocity.x;
            cr_expect_float_eq(v, back ? -0.5 : 0.5, 1e-4, "ball %d: %g", i, v);
        }
        cm_rig_close(&rig);
    }
}

Test(impulse, sensors_and_filters_hold)
{
    for (int round = 0; round < 2; round++) {
        cm_rig rig = open_rig(CAROM_IMPULSE_INTERPOLATED);
        carom_shape_def shape = carom_default_shape_def();
        shape.sensor = round == 0;
        shape.group = round == 1 ? -1 : 0;
        carom_body_id a = ball(&rig, 0.0f, 1.0f, shape);
        ball(&rig, 0.9f, 0.0f, shape);
        cm_rig_step(&rig, 1);
        uint32_t events;
        carom_world_contact_events(rig.world, &events);
        cr_expect_eq(events, round == 0 ? 1u : 0u);
        cr_expect_eq(cm_rig_get(&rig, a).linear_velocity.x, 1.0f);
        cm_rig_close(&rig);
    }
}

// The circle model's pixel is 0 unless a def says otherwise: balls smaller than a metre meet.
Test(impulse, circles_of_five_centimetres_meet)
{
    carom_world_def def = cm_rig_def(4);
    cr_assert_eq(carom_default_world_def().solver.impulse.pixel, 0.0f);
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.planar = true;
    def.solver = carom_default_world_def().solver;
    def.solver.type = CAROM_SOLVER_IMPULSE;
    def.solver.impulse.model = CAROM_IMPULSE_CIRCLE;
    cm_rig rig = cm_rig_open(&def, 0);
    carom_shape_def shape = carom_default_shape_def();
    shape.restitution = 1.0f;
    set_sphere(&shape, 0.05f);
    carom_body_def body = carom_default_body_def();
    carom_body_id ids[2];
    for (int i = 0; i < 2; i++) {
        body.position = cm_vec(0.25f * (float)i, 0.0f, 0.0f);
        body.linear_velocity = cm_vec(i == 0 ? 1.0f : 0.0f, 0.0f, 0.0f);
        ids[i] = cm_rig_body(&rig, &body, &shape);
    }
    cm_rig_step(&rig, 60);
    cr_expect_float_eq(cm_rig_get(&rig, ids[0]).linear_velocity.x, 0.0, 1e-6);
    cr_expect_float_eq(cm_rig_get(&rig, ids[1]).linear_velocity.x, 1.0, 1e-6);
    cm_rig_close(&rig);
}

Test(impulse, substeps_find_contacts_anew)
{
    carom_world_def def = cm_rig_def(4);
    def.gravity = cm_vec(0.0f, 0.0f, 0.0f);
    def.solver.type = CAROM_SOLVER_IMPULSE;
    def.solver.impulse.substeps = 8;
    def.tick_rate = 1;
    cm_rig rig = cm_rig_open(&def, 0);
    carom_shape_def shape = carom_default_shape_def();
    shape.restitution = 1.0f;
    shape.friction = 0.0f;
    // They meet after three eighths of the tick.
    carom_body_id a = ball(&rig, 0.0f, 1.0f, shape), b = ball(&rig, 1.75f, -1.0f, shape);
    cm_rig_step(&rig, 1);
    cr_expect_float_eq(cm_rig_get(&rig, a).linear_velocity.x, -1.0, 1e-6);
    cr_expect_float_eq(cm_rig_get(&rig, a).position.x, 0.375 - 0.625, 1e-6);
    cr_expect_float_eq(cm_rig_get(&rig, b).position.x, 1.375 + 0.625, 1e-6);
    uint32_t count;
    const carom_contact_event *events = carom_world_contact_events(rig.world, &count);
    cr_assert_eq(count, 2u, "it began and ended within the tick");
    cr_expect(events[0].begin && !events[1].begin);
    cm_rig_close(&rig);
}

Test(impulse, constant_spin_is_exact)
{
    cm_rig rig = open_rig(CAROM_IMPULSE_INTERPOLATED);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    set_box(&shape, cm_vec(0.1f, 0.5f, 1.0f));
    body.angular_velocity = cm_vec(3.0f, 4.0f, 12.0f);
    carom_body_id id = cm_rig_body(&rig, &body, &shape);
    cm_rig_step(&rig, 60);
    carom_body_state state = cm_rig_get(&rig, id);
    double half = 13.0 / 2;
    cr_expect_float_eq(fabs((double)state.orientation.w), fabs(cos(half)), 1e-5);
    cr_expect_eq(state.angular_velocity.z, 12.0f);
    cm_rig_close(&rig);
}

// A slope: friction is a fraction of sticking, whichever rule gave it.
static double slide(carom_solver_type solver, const carom_pair_rule *rules, uint32_t count,
                    uint32_t material)
{
    carom_world_def def = cm_rig_def(4);
    def.solver.type = solver;
    def.gravity = cm_vec(3.0f, -9.0f, 0.0f);
    cm_rig rig = cm_rig_open(&def, 0);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    cm_rig_plane(&rig);
    set_box(&shape, cm_vec(0.5f, 0.5f, 0.5f));
    body.position = cm_vec(0.0f, 0.5f, 0.0f);
    shape.friction = 1.0f;
    shape.material = material;
    carom_body_id id = cm_rig_body(&rig, &body, &shape);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(carom_world_add_pair_rule(rig.world, &rules[i]), CAROM_OK);
    }
    cm_rig_step(&rig, 60);
    double x = (double)cm_rig_get(&rig, id).position.x;
    cm_rig_close(&rig);
    return x;
}

Test(impulse, pair_rules_count_for_every_solver)
{
    static const carom_solver_type SOLVERS[] = {CAROM_SOLVER_SOFT, CAROM_SOLVER_IMPULSE};
    for (size_t i = 0; i < 2; i++) {
        // The plane has material 0.
        carom_pair_rule ice = {.material_a = 7, .friction = 0.0f, .restitution = -1.0f};
        double held = slide(SOLVERS[i], NULL, 0, 7), free = slide(SOLVERS[i], &ice, 1, 7);
        cr_expect_lt(fabs(held), 0.01, "solver %zu: %g", i, held);
        cr_expect_float_eq(free, 1.5, 0.05, "solver %zu: %g", i, free);
        cr_expect_lt(fabs(slide(SOLVERS[i], &ice, 1, 8)), 0.01, "another material");
    }
}

// Of rules that name a pair as closely, the last one made counts.
Test(impulse, the_last_of_equal_pair_rules_counts)
{
    const carom_pair_rule ice = {.material_a = 7, .friction = 0.0f, .restitution = -1.0f};
    const carom_pair_rule rubber = {.material_a = 7, .friction = 2.0f, .restitution = -1.0f};
    const carom_pair_rule first[2] = {ice, rubber}, second[2] = {rubber, ice};
    cr_expect_lt(fabs(slide(CAROM_SOLVER_SOFT, first, 2, 7)), 0.01, "rubber came last");
    cr_expect_float_eq(slide(CAROM_SOLVER_SOFT, second, 2, 7), 1.5, 0.05, "ice came last");
}
