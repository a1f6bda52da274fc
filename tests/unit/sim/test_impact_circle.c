// Goal: circles collide as in their source, digit for digit. Method: its three data sets; the
// rounded test at its border; momentum and energy on random circles; both forms of step 5.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "carom/impact.h"

#define MASS 70685.83470577035

static void expect_all(const double *got, const double *want, int count, const char *what)
{
    for (int i = 0; i < count; i++) {
        cr_expect(fabs(got[i] - want[i]) <= 1.0e-11 * (1 + fabs(want[i])), "%s[%d]: %.17g %.17g",
                  what, i, got[i], want[i]);
    }
}

Test(impact_circle, set_1)
{
    const carom_circle a = {{260, 208}, {76, -112}, 150, MASS};
    const carom_circle b = {{558.4, 192}, {-94.39999999999998, -96}, 150, MASS};
    carom_circle_impact c;
    cr_assert_eq(carom_circle_collide(&a, &b, 0.8, 1, &c), CAROM_OK);
    cr_assert(c.hit && c.collided);
    const double numbers[] = {c.gap, c.as, c.bs, c.as2, c.bs2};
    expect_all(numbers,
               (double[]){-1.1713534481675651, 81.88773158919875, -89.12452105016126,
                          -72.02329578622528, 64.78650632526276},
               5, "scalars");
    expect_all(c.ab, (double[]){298.4, -16}, 2, "ab");
    expect_all(c.n, (double[]){0.9985655774411905, -0.05354239021132389}, 2, "n");
    expect_all(c.a.position, (double[]){259.41516338382144, 208.03135853169857}, 2, "a");
    expect_all(c.b.position, (double[]){558.9848366161785, 191.96864146830143}, 2, "b");
    expect_all(c.avx, (double[]){81.77026997971747, -4.384464878269033}, 2, "avx");
    expect_all(c.avy, (double[]){-5.770269979717469, -107.61553512173097}, 2, "avy");
    expect_all(c.bvx, (double[]){-88.99667882662382, 4.771939883465085}, 2, "bvx");
    expect_all(c.bvy, (double[]){-5.403321173376156, -100.77193988346508}, 2, "bvy");
    expect_all(c.avx2, (double[]){-71.9199839459897, 3.8562994072916736}, 2, "avx2");
    expect_all(c.bvx2, (double[]){64.69357509908335, -3.4688244020956223}, 2, "bvx2");
    expect_all(c.a.velocity, (double[]){-77.69025392570717, -103.7592357144393}, 2, "av2");
    expect_all(c.b.velocity, (double[]){59.29025392570719, -104.2407642855607}, 2, "bv2");
    double mirror[2];
    carom_circle_mirror(a.velocity, c.n, mirror);
    expect_all(mirror, (double[]){-87.54053995943494, -103.23107024346193}, 2, "mirror a");
    carom_circle_mirror(b.velocity, c.n, mirror);
    expect_all(mirror, (double[]){83.59335765324766, -105.54387976693017}, 2, "mirror b");
}

Test(impact_circle, set_2)
{
    const carom_circle a = {{260, 312}, {76, -168}, 150, MASS};
    const carom_circle b = {{558.4, 288}, {463.99999999999994 - 558.4, -144}, 150, MASS};
    carom_circle_impact c;
    carom_circle_collide(&a, &b, 0.8, 1, &c);
    const double got[] = {c.as2, c.bs2};
    expect_all(got, (double[]){-65.37409540266034, 72.0463830681476}, 2, "set 2");
}

Test(impact_circle, set_3_hits_once_in_frame_93)
{
    carom_circle balls[] = {{{160, 282}, {1, 0}, 120, 14400}, {{640, 318}, {-2.5, 0}, 40, 1600}};
    for (uint32_t frame = 0; frame < 400; frame++) {
        carom_circle_impact c;
        carom_circle_collide(&balls[0], &balls[1], 0.1, 1, &c);
        cr_assert_eq(carom_circle_frame(balls, 2, 0.1, 1), frame == 93 ? 1u : 0u, "%u", frame);
        if (frame == 93) {
            cr_expect_float_eq(c.gap, -1.36125946, 0.6e-8);
            cr_expect_float_eq(c.n[0], 0.97391091, 0.6e-8);
            cr_expect_float_eq(c.n[1], 0.22693070, 0.6e-8);
        }
    }
    cr_expect_float_eq(balls[0].velocity[0], 0.63482655, 0.6e-8);
    cr_expect_float_eq(balls[0].velocity[1], -0.08508896, 0.6e-8);
    cr_expect_float_eq(balls[1].velocity[0], 0.78656102, 0.6e-8);
    cr_expect_float_eq(balls[1].velocity[1], 0.76580063, 0.6e-8);
}

Test(impact_circle, rounding_of_the_gap)
{
    static const struct {
        double gap, pixel;
        bool hit;
    } ROWS[] = {{-0.4, 1, false},   {-0.5, 1, true},  {-0.6, 1, true}, {-0.25, 0.5, true},
                {-0.2, 0.5, false}, {-1e-9, 0, true}, {0.0, 0, false}, {0.4, 1, false}};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const carom_circle a = {{0, 0}, {1, 0}, 1, 1}, b = {{2 + ROWS[i].gap, 0}, {0, 0}, 1, 1};
        carom_circle_impact c;
        carom_circle_collide(&a, &b, 1, ROWS[i].pixel, &c);
        cr_expect_eq(c.hit, ROWS[i].hit, "row %zu", i);
    }
}

Test(impact_circle, identities_on_random_circles)
{
    uint64_t chance = 3;
    uint32_t collided = 0;
    for (uint32_t round = 0; round < 2000; round++) {
        double u[10];
        for (int i = 0; i < 10; i++) {
            chance = chance * 6364136223846793005u + 1442695040888963407u;
            u[i] = (double)(chance >> 11) * 0x1p-53;
        }
        const carom_circle a = {{u[0], u[1]}, {u[2] - .5, u[3] - .5}, 0.5 + u[4], 0.1 + u[5]};
        const carom_circle b = {{u[6], u[7] + 1}, {u[8] - .5, u[9] - .5}, 0.7, 0.1 + u[0]};
        double e = round % 5 * 0.25;
        carom_circle_impact c, v;
        carom_circle_collide(&a, &b, e, 0, &c);
        carom_circle_collide_vectors(&a, &b, e, 0, &v);
        if (!c.hit) {
            continue;
        }
        double x = c.b.position[0] - c.a.position[0], y = c.b.position[1] - c.a.position[1];
        cr_expect_lt(fabs(sqrt(x * x + y * y) - a.radius - b.radius), 1.0e-14);
        cr_expect_eq(c.collided, c.as > c.bs);
        if (!c.collided) {
            cr_expect_eq(memcmp(c.a.velocity, a.velocity, sizeof a.velocity), 0);
            continue;
        }
        collided++;
        cr_expect_lt(fabs(c.as2 - c.bs2 + e * (c.as - c.bs)), 1.0e-14);
        double energy = 0;
        for (int i = 0; i < 2; i++) {
            double p = a.mass * (c.a.velocity[i] - a.velocity[i]) +
                       b.mass * (c.b.velocity[i] - b.velocity[i]);
            cr_expect_lt(fabs(p), 1.0e-14);
            cr_expect_lt(fabs(c.a.velocity[i] - v.a.velocity[i]), 1.0e-14);
            energy +=
                0.5 * a.mass * (a.velocity[i] * a.velocity[i] - c.a.velocity[i] * c.a.velocity[i]);
            energy +=
                0.5 * b.mass * (b.velocity[i] * b.velocity[i] - c.b.velocity[i] * c.b.velocity[i]);
        }
        double lost = 0.5 * a.mass * b.mass / (a.mass + b.mass) * (1 - e * e);
        cr_expect_lt(fabs(energy - lost * (c.as - c.bs) * (c.as - c.bs)), 1.0e-14);
    }
    cr_assert_gt(collided, 500u);
}

Test(impact_circle, edge_cases)
{
    const carom_circle a = {{1, 1}, {1, 0}, 1, 1};
    carom_circle b = a;
    carom_circle_impact c;
    b.velocity[0] = -1;
    cr_assert_eq(carom_circle_collide(&a, &b, 1, 1, &c), CAROM_OK);
    cr_assert_eq(c.n[0], 1.0, "coincident centres part along x");
    cr_assert_eq(c.b.position[0] - c.a.position[0], 2.0);
    cr_assert_eq(c.a.velocity[0], -1.0);
    b.mass = 0;
    cr_assert_eq(carom_circle_collide(&a, &b, 1, 1, &c), CAROM_ERROR_ARGUMENT);
    b.mass = NAN;
    cr_assert_eq(carom_circle_collide(&a, &b, 1, 1, &c), CAROM_ERROR_NOT_FINITE);
    cr_assert_eq(carom_circle_collide(&a, &a, 1.1, 1, &c), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_circle_collide(&a, &a, 1, -1, &c), CAROM_ERROR_ARGUMENT);
}
