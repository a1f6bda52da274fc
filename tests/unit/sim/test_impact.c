// Goal: the pure two-body collisions are those of their sources. Method: the ten worked examples
// and both energy maps of JP3308685B2 in the specification's computed digits; its identities on
// random bodies with turned attitudes; the second contact of figure 12; the observable rows of the
// normal impulse; refusals. Errors of 1e-12 are relative to the sums that went in.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "carom/impact.h"
#include "shared/sim/solve/impulse/core.h"

static const carom_dmat3 IDENTITY = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static carom_impact_body body_at(double mass, double inertia, double x, double y)
{
    carom_impact_body body = {.mass = mass, .attitude = IDENTITY};
    body.inertia = (carom_dsym3){inertia, inertia, inertia, 0, 0, 0};
    body.center = cm_d3_of(x, y, 0);
    return body;
}

static carom_impact_case two_spheres(double mu, double epsilon)
{
    carom_impact_case input = {.normal = {1, 0, 0}, .friction = mu, .restitution = epsilon};
    for (int i = 0; i < 2; i++) {
        double side = i == 0 ? -1.0 : 1.0;
        input.bodies[i] = body_at(1, 0.4, side, 0);
        input.bodies[i].velocity = cm_d3_of(-side, 0, 0);
        input.bodies[i].angular_velocity = cm_d3_of(0, 0, 1);
    }
    return input;
}

static carom_impact_case box_and_sphere(double mu, double epsilon)
{
    carom_impact_case input = {.normal = {1, 0, 0}, .friction = mu, .restitution = epsilon};
    input.bodies[0] = body_at(1, 1, -1, -1);
    input.bodies[0].inertia = (carom_dsym3){10.0 / 12, 5.0 / 12, 13.0 / 12, 0, 0, 0};
    input.bodies[1] = body_at(1, 0.4, 1, 0);
    input.bodies[1].velocity = cm_d3_of(-1, 0, 0);
    input.bodies[1].angular_velocity = cm_d3_of(0, 0, 1);
    return input;
}

typedef struct row {
    int figure, example;
    double mu, epsilon, f[2], printed[2], v1[2], v2[2], w1, w2, energy;
} row;

static const row ROWS[] = {
    {4, 1, 0, 1, {-2, 0}, {-2, 0}, {-1, 0}, {1, 0}, 1, 1, 1.4},
    {5,
     1,
     1,
     1,
     {-2.133893, -0.285714},
     {-2.13, -0.29},
     {-1.133893, -0.285714},
     {1.133893, 0.285714},
     0.285714,
     0.285714,
     1.4},
    {6, 1, 0, 0, {-1, 0}, {-1, 0}, {0, 0}, {0, 0}, 1, 1, 0.4},
    {7,
     1,
     1,
     0,
     {-1, -0.285714},
     {-1, -0.29},
     {0, -0.285714},
     {0, 0.285714},
     0.285714,
     0.285714,
     0.114286},
    {8,
     1,
     .5,
     .5,
     {-1.533473, -0.142857},
     {-1.53, -0.14},
     {-0.533473, -0.142857},
     {0.533473, 0.142857},
     0.642857,
     0.642857,
     0.470308},
    {10, 2, 0, 1, {-0.684211, 0}, {-0.68, 0}, {-0.684211, 0}, {-0.315789, 0}, 0.631579, 1, 0.7},
    {11,
     2,
     1,
     1,
     {-0.918719, -0.340775},
     {-0.92, -0.34},
     {-0.918719, -0.340775},
     {-0.081281, 0.340775},
     0.533487,
     0.148063,
     0.7},
    {12,
     2,
     0,
     0,
     {-0.342105, 0},
     {-0.34, 0},
     {-0.342105, 0},
     {-0.657895, 0},
     0.315789,
     1,
     0.528947},
    {13,
     2,
     1,
     0,
     {-0.423077, -0.256410},
     {-0.42, -0.26},
     {-0.423077, -0.256410},
     {-0.576923, 0.256410},
     0.153846,
     0.358974,
     0.360256},
    {14,
     2,
     .5,
     .5,
     {-0.592028, -0.149296},
     {-0.59, -0.15},
     {-0.592028, -0.149296},
     {-0.407972, 0.149296},
     0.408675,
     0.626759,
     0.449791},
};

static void expect_near(double a, double b, double allowed, int figure)
{
    cr_expect(fabs(a - b) <= allowed, "figure %d: %.9f, expected %.9f", figure, a, b);
}

Test(impact, the_ten_worked_examples)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const row *r = &ROWS[i];
        carom_impact_case input =
            r->example == 1 ? two_spheres(r->mu, r->epsilon) : box_and_sphere(r->mu, r->epsilon);
        carom_impact out;
        cr_assert_eq(carom_impact_interpolated(&input, &out), CAROM_OK);
        const double got[] = {out.impulses[0].x,   out.impulses[0].y,   out.velocities[0].x,
                              out.velocities[0].y, out.velocities[1].x, out.velocities[1].y,
                              out.spins[0].z,      out.spins[1].z,      out.energy_after};
        const double want[] = {r->f[0],  r->f[1], r->v1[0], r->v1[1], r->v2[0],
                               r->v2[1], r->w1,   r->w2,    r->energy};
        for (int k = 0; k < 9; k++) {
            expect_near(got[k], want[k], 1.0e-6, r->figure);
        }
        for (int k = 0; k < 2; k++) {
            expect_near(got[k], r->printed[k], 0.005, r->figure);
        }
        expect_near(out.energy_before, r->example == 1 ? 1.4 : 0.7, 1.0e-12, r->figure);
        cr_expect_eq(out.branch == CAROM_IMPACT_BILINEAR, r->mu == 0.5);
    }
}

static const double MAPS[2][5][5] = {
    {{.4000, .2750, .1857, .1321, .1143},
     {.4625, .3418, .2569, .2078, .1946},
     {.6500, .5420, .4703, .4349, .4357},
     {.9625, .8758, .8261, .8133, .8375},
     {1.4000, 1.3431, 1.3241, 1.3431, 1.4000}},
    {{.5289, .4551, .4024, .3708, .3603},
     {.5396, .4628, .4108, .3837, .3815},
     {.5717, .4961, .4498, .4328, .4452},
     {.6252, .5551, .5194, .5182, .5514},
     {.7000, .6397, .6196, .6397, .7000}},
};

Test(impact, energy_maps)
{
    for (int example = 0; example < 2; example++) {
        carom_impact_case input = example == 0 ? two_spheres(0, 0) : box_and_sphere(0, 0);
        double map[5][5];
        cr_assert_eq(carom_impact_energy_map(&input, 5, 5, &map[0][0]), CAROM_OK);
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < 5; k++) {
                expect_near(map[i][k], MAPS[example][i][k], 0.51e-4, 15 + example);
                cr_expect_geq(map[i][k], map[0][4], "least at friction 1, restitution 0");
            }
            expect_near(map[4][i], map[4][4 - i], 1.0e-12, 15 + example);
            cr_expect_geq(map[4][i], map[4][2]);
        }
    }
}

static uint64_t chance = 7;

static double unit(void) // -1..1
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (double)(chance >> 11) * 0x1p-52 - 1.0;
}

static carom_dvec3 vector(double size)
{
    double x = size * unit(), y = size * unit();
    return cm_d3_of(x, y, size * unit());
}

static carom_dmat3 attitude(void)
{
    carom_dvec3 x = vector(1), y = vector(1);
    x = cm_d3_scale(1 / cm_d3_length(x), x);
    carom_dvec3 z = cm_d3_cross(x, y);
    z = cm_d3_scale(1 / cm_d3_length(z), z);
    return (carom_dmat3){x, cm_d3_cross(z, x), z};
}

// P between the two, so that N, from 1 to 2 within a right angle, tells which way is apart.
static carom_impact_case random_case(double mu, double epsilon)
{
    carom_impact_case input = {.friction = mu, .restitution = epsilon};
    for (int i = 0; i < 2; i++) {
        carom_impact_body *body = &input.bodies[i];
        body->mass = 1.05 + unit();
        body->inertia = (carom_dsym3){1.2 + unit(),  1.2 + unit(),  1.2 + unit(),
                                      0.05 * unit(), 0.05 * unit(), 0.05 * unit()};
        body->attitude = attitude();
        body->velocity = vector(3);
        body->angular_velocity = vector(3);
        body->center = cm_d3_add(cm_d3_of(i == 0 ? -1 : 1, 0, 0), vector(0.4));
    }
    input.point = vector(0.3);
    input.normal = cm_d3_add(cm_d3_of(1, 0, 0), vector(0.3));
    return input;
}

static carom_dvec3 spin_momentum(const carom_impact_body *body, carom_dvec3 v, carom_dvec3 w)
{
    carom_dvec3 own = cm_dmat_mul(&body->attitude, cm_dsym_mul(&body->inertia, w));
    return cm_d3_add(own, cm_d3_scale(body->mass, cm_d3_cross(body->center, v)));
}

static void expect_momenta(const carom_impact_case *input, const carom_impact *out)
{
    carom_dvec3 p = {0}, l = {0};
    for (int i = 0; i < 2; i++) {
        const carom_impact_body *b = &input->bodies[i];
        p = cm_d3_mad(p, b->mass, cm_d3_sub(out->velocities[i], b->velocity));
        l = cm_d3_add(l, cm_d3_sub(spin_momentum(b, out->velocities[i], out->spins[i]),
                                   spin_momentum(b, b->velocity, b->angular_velocity)));
    }
    cr_expect_lt(cm_d3_length(p), 2.0e-13, "momentum %g", cm_d3_length(p));
    cr_expect_lt(cm_d3_length(l), 2.0e-13, "angular momentum %g", cm_d3_length(l));
}

static void expect_identities(const carom_impact_case *input, const carom_impact *out)
{
    carom_dvec3 n = cm_d3_scale(1 / cm_d3_length(input->normal), input->normal);
    double mu = input->friction, epsilon = input->restitution;
    double size = 1.0 + cm_d3_length(out->before);
    carom_dvec3 along = cm_d3_scale(cm_d3_dot(out->after, n), n);
    expect_momenta(input, out);
    if (epsilon == 1 && (mu == 0 || mu == 1)) {
        cr_expect_lt(fabs(out->energy_after - out->energy_before), 1.0e-12 * out->energy_before);
    }
    if (mu == 1 && epsilon == 0) {
        cr_expect_lt(cm_d3_length(out->after), 1.0e-12 * size);
    }
    if (mu == 0 && epsilon == 0) {
        cr_expect_lt(cm_d3_length(along), 1.0e-12 * size);
    }
    if (mu == 1) {
        cr_expect_lt(cm_d3_length(cm_d3_sub(out->after, along)), 1.0e-12 * size);
    }
    cr_expect_leq(out->energy_after, out->energy_before * (1 + 1.0e-12));
    cr_expect_leq(cm_d3_dot(out->after, n), 1.0e-12 * size, "they part");
    // (16)
    carom_impact_corners corners;
    carom_impact_corner_impulses(input, &corners);
    double work = cm_d3_dot(out->impulse, corners.velocity) +
                  0.5 * cm_d3_dot(out->impulse, cm_dsym_mul(&corners.response, out->impulse));
    cr_expect_lt(fabs(out->energy_before + work - out->energy_after), 1.0e-12 * out->energy_before);
}

Test(impact, identities_on_random_bodies)
{
    static const double GRID[] = {0, 1, 0.5, 0.25};
    uint32_t collided = 0;
    for (uint32_t round = 0; round < 4000; round++) {
        carom_impact_case input = random_case(GRID[round % 4], GRID[round / 4 % 4]);
        carom_impact out, turned, normal;
        cr_assert_eq(carom_impact_interpolated(&input, &out), CAROM_OK);
        if (out.branch == CAROM_IMPACT_NONE) {
            cr_assert_eq(memcmp(&out.velocities[1], &input.bodies[1].velocity, 24), 0);
            continue;
        }
        collided++;
        expect_identities(&input, &out);
        input.normal = cm_d3_scale(-1, input.normal);
        carom_impact_interpolated(&input, &turned);
        cr_assert_eq(memcmp(&out.spins, &turned.spins, sizeof out.spins), 0, "N or -N");
        cr_assert_eq(memcmp(&out.velocities, &turned.velocities, sizeof out.velocities), 0);
        // S4 is the line between F00 and F01.
        carom_impact_normal(&input, &normal);
        input.friction = 0;
        carom_impact_interpolated(&input, &out);
        expect_momenta(&input, &normal);
        cr_expect_lt(cm_d3_length(cm_d3_sub(normal.impulse, out.impulse)),
                     1.0e-12 * cm_d3_length(out.impulse));
        carom_dvec3 n = cm_d3_scale(1 / cm_d3_length(input.normal), input.normal);
        double after = -cm_d3_dot(normal.after, n), vr = normal.approach;
        cr_expect_lt(fabs(after + input.restitution * vr), 1.0e-12 * (1 + fabs(vr)));
        double lost = 0.5 * (1 - input.restitution * input.restitution) * vr * vr;
        lost /= normal.denominator;
        cr_expect_lt(fabs(normal.energy_before - lost - normal.energy_after),
                     1.0e-12 * normal.energy_before);
    }
    cr_assert_gt(collided, 1000u);
}

Test(impact, grazing_and_separating_bodies_are_left_alone)
{
    carom_impact_case input = two_spheres(1, 1);
    carom_impact out;
    input.bodies[0].velocity = cm_d3_of(-1, 0, 0);
    carom_impact_interpolated(&input, &out);
    cr_assert_eq(out.branch, CAROM_IMPACT_NONE);
    cr_assert_eq(out.velocities[0].x, -1.0);
    cr_assert_eq(out.energy_after, out.energy_before);
    input.regardless = true;
    carom_impact_interpolated(&input, &out);
    cr_assert_eq(out.branch, CAROM_IMPACT_F11);
}

// Figure 12: a plastic slip collision, the motion of one second, and what touches then.
Test(impact, next_contact_of_figure_12)
{
    carom_impact_case input = box_and_sphere(0, 0);
    carom_impact out;
    carom_impact_interpolated(&input, &out);
    double angle = out.spins[0].z;
    expect_near(angle, 0.315789, 1.0e-6, 12);
    carom_dvec3 x = {cos(angle), sin(angle), 0}, y = {-sin(angle), cos(angle), 0};
    carom_dvec3 box = cm_d3_add(input.bodies[0].center, out.velocities[0]);
    carom_dvec3 ball = cm_d3_add(input.bodies[1].center, out.velocities[1]);
    // The box's face x = 1 against the sphere of radius 1.
    carom_dvec3 p = cm_d3_mad(ball, -1, x);
    carom_dvec3 r1 = cm_d3_sub(p, box), r2 = cm_d3_sub(p, ball);
    double gap = cm_d3_dot(cm_d3_sub(ball, box), x) - 2.0;
    expect_near(gap, -0.0885, 0.5e-4, 12);
    expect_near(x.x, 0.950551, 1.0e-6, 12);
    expect_near(x.y, 0.310567, 1.0e-6, 12);
    expect_near(r1.x, 0.733659, 1.0e-6, 12);
    expect_near(r1.y, 0.689433, 1.0e-6, 12);
    expect_near(r2.x, -0.950551, 1.0e-6, 12);
    expect_near(r2.y, -0.310567, 1.0e-6, 12);
    // Again, in the box's axes.
    for (int i = 0; i < 2; i++) {
        input.bodies[i].center = i == 0 ? box : ball;
        input.bodies[i].velocity = out.velocities[i];
        input.bodies[i].angular_velocity = out.spins[i];
    }
    input.bodies[0].attitude = (carom_dmat3){x, y, {0, 0, 1}};
    input.point = p;
    input.normal = x;
    carom_impact_interpolated(&input, &out);
    expect_near(out.arms[0].x, 0.911496, 1.0e-6, 12);
    expect_near(out.arms[0].y, 0.427491, 1.0e-6, 12);
    cr_expect_eq(out.branch, CAROM_IMPACT_F00);
    expect_near(cm_d3_dot(out.after, x), 0, 1.0e-12, 12);
}

Test(impact, normal_impulse)
{
    carom_impact out;
    carom_impact_case spheres = two_spheres(0, 1), box = box_and_sphere(0, 1);
    carom_impact_normal(&spheres, &out);
    expect_near(fabs(out.magnitude), 2, 1.0e-12, 4);
    expect_near(out.spins[0].z, 1, 0, 4);
    spheres.restitution = 0;
    carom_impact_normal(&spheres, &out);
    expect_near(fabs(out.magnitude), 1, 1.0e-12, 6);
    carom_impact_normal(&box, &out);
    expect_near(fabs(out.magnitude), 13.0 / 19, 1.0e-12, 10);
    expect_near(out.spins[0].z, 12.0 / 19, 1.0e-12, 10);
    // Corner drop.
    carom_impact_case drop = {.normal = {0, 1, 0}, .restitution = 0.5};
    drop.bodies[0] = body_at(1, 1.0 / 6, -0.5, 0.5);
    drop.bodies[0].velocity = cm_d3_of(0, -1, 0);
    drop.bodies[1] = (carom_impact_body){.attitude = IDENTITY, .immovable = true};
    cr_assert_eq(carom_impact_normal(&drop, &out), CAROM_OK);
    expect_near(out.denominator, 2.5, 1.0e-12, 0);
    expect_near(out.magnitude, 0.6, 1.0e-12, 0);
    expect_near(out.velocities[0].y, -0.4, 1.0e-12, 0);
    expect_near(out.spins[0].z, 1.8, 1.0e-12, 0);
    expect_near(out.after.y, 0.5, 1.0e-12, 0);
    expect_near(out.velocities[1].y, 0, 0, 0);
    // The same with a scalar inertia.
    carom_impact_flat_body square = {1, 1.0 / 6, {0.5, -0.5}, {0, -1}, 0, false};
    carom_impact_flat_body floor = {.immovable = true};
    const double up[2] = {0, 1};
    expect_near(carom_impact_flat(&square, &floor, up, 0.5), 0.6, 1.0e-12, 0);
    expect_near(square.velocity[1], -0.4, 1.0e-12, 0);
    expect_near(square.spin, 1.8, 1.0e-12, 0);
    expect_near(carom_impact_flat(&square, &floor, up, 0.5), 0, 0, 0);
}

Test(impact, energy_is_of_motion_and_spin)
{
    carom_impact_case input = two_spheres(0, 0);
    carom_impact_body *body = &input.bodies[0];
    body->mass = 3;
    body->inertia = (carom_dsym3){2, 4, 6, 0, 0, 0};
    body->velocity = (carom_dvec3){1, 2, 2};
    body->angular_velocity = (carom_dvec3){1, 1, 2};
    cr_assert_float_eq(carom_impact_energy(body), 0.5 * (3 * 9 + 2 + 4 + 24), 1.0e-12);
    body->immovable = true;
    cr_assert_eq(carom_impact_energy(body), 0.0);
}

Test(impact, product_of_the_bodies_coefficients)
{
    carom_impact_case input = two_spheres(-1, -1);
    carom_impact out;
    input.bodies[0].friction = 0.5;
    input.bodies[1].friction = 0.8;
    input.bodies[0].restitution = 1;
    input.bodies[1].restitution = 0.25;
    cr_assert_eq(carom_impact_interpolated(&input, &out), CAROM_OK);
    cr_assert_eq(out.friction, 0.4);
    cr_assert_eq(out.restitution, 0.25);
}

Test(impact, bad_cases_are_refused)
{
    carom_impact_case good = two_spheres(0.5, 0.5);
    carom_impact out;
    for (int bad = 0; bad < 12; bad++) {
        carom_impact_case input = good;
        carom_result want = bad < 3 ? CAROM_ERROR_NOT_FINITE : CAROM_ERROR_ARGUMENT;
        carom_impact_body *body = &input.bodies[bad % 2];
        switch (bad) {
        case 0:
            body->velocity.y = NAN;
            break;
        case 1:
            input.point.z = INFINITY;
            break;
        case 2:
            body->inertia.xy = NAN;
            break;
        case 3:
            body->mass = 0;
            break;
        case 4:
            body->inertia.zz = 0;
            break;
        case 5:
            body->inertia.xy = 0.4;
            break; // singular
        case 6:
            body->friction = 1.01;
            break;
        case 7:
            body->restitution = -0.01;
            break;
        case 8:
            input.friction = 1.5;
            break;
        case 9:
            input.normal.x = 0;
            break;
        case 10:
            body->attitude.x.x = 1.01;
            break;
        default:
            input.bodies[0].immovable = input.bodies[1].immovable = true;
            break;
        }
        memset(&out, 7, sizeof out);
        cr_expect_eq(carom_impact_interpolated(&input, &out), want, "%d", bad);
        cr_expect_eq(out.energy_after, 0.0);
        cr_expect_eq(carom_impact_normal(&input, &out), want, "%d", bad);
    }
}
