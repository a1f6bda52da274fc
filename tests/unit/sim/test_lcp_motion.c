// Goal: springs as epsilon and gamma, implicit outside forces and the kinematic helpers are what
// JP2003526160A says. Method: the worked spring; sixty steps of a row against the
// implicit spring itself for random masses; stiff systems against their closed form.
#include "carom/lcp.h"
#include "shared/base/rng.h"
#include "shared/base/vec.h"

#include <criterion/criterion.h>
#include <math.h>

Test(lcp_motion, worked_spring)
{
    double epsilon, gamma, h = 0.01, m = 2.0, p = 0.3;
    cr_assert_eq(carom_lcp_spring(h, 500.0, 3.0, &epsilon, &gamma), CAROM_OK);
    cr_assert(fabs(epsilon - 12.5) < 1e-12 && fabs(gamma - 0.625) < 1e-12);
    double force = -(gamma * p / (h * h)) / (1.0 / m + epsilon), v = h / m * force;
    cr_assert(fabs(v + 0.7211538) < 1e-7);
    cr_assert(fabs(p + h * v - 0.2927885) < 1e-7);
    cr_assert_eq(carom_lcp_spring(h, 0.0, 0.0, &epsilon, &gamma), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_lcp_spring(h, NAN, 1.0, &epsilon, &gamma), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_lcp_spring(0.0, 1.0, 1.0, &epsilon, &gamma), CAROM_ERROR_ARGUMENT);
}

Test(lcp_motion, a_row_is_the_implicit_spring_for_any_mass)
{
    cm_rng rng;
    cm_rng_seed(&rng, 3);
    for (int round = 0; round < 50; round++) {
        double m = (double)cm_rng_range(&rng, 0.01f, 100.0f), h = 0.01, epsilon, gamma;
        double k = (double)cm_rng_range(&rng, 0.0f, 1e5f),
               d = (double)cm_rng_range(&rng, 0.1f, 1e3f);
        double p1 = 0.3, v1 = 1.0, p2 = p1, v2 = v1, f = 9.81 * m;
        cr_assert_eq(carom_lcp_spring(h, k, d, &epsilon, &gamma), CAROM_OK);
        for (int i = 0; i < 60; i++) {
            double force = -(gamma * p1 / (h * h) + v1 / h + f / m) / (1.0 / m + epsilon);
            v1 += h / m * (f + force);
            p1 += h * v1;
            v2 = (m * v2 + h * f - h * k * p2) / (m + h * h * k + h * d);
            p2 += h * v2;
            cr_assert(fabs(p1 - p2) < 1e-12 && fabs(v1 - v2) < 1e-10);
        }
    }
}

// y' = -L y, with L of 1e6 / s: one implicit step of 10 ms lands where 1 / (1 + h L) says, where an
// explicit one would be 1e4 times too far.
Test(lcp_motion, stiff_forces_are_taken_implicitly)
{
    double jacobian[4] = {-1.0e6, 0.0, 500.0, -1.0}, f[2], y[2] = {1.0, 2.0}, m[4], change[2];
    double h = 0.01;
    f[0] = jacobian[0] * y[0] + jacobian[1] * y[1];
    f[1] = jacobian[2] * y[0] + jacobian[3] * y[1];
    cr_assert_eq(carom_lcp_implicit_step(2, h, jacobian, f, m, change), CAROM_OK);
    double first = 1.0 / (1.0 + h * 1.0e6), second = (2.0 + h * 500.0 * first) / (1.0 + h);
    cr_assert(fabs(y[0] + change[0] - first) < 1e-9);
    cr_assert(fabs(y[1] + change[1] - second) < 1e-9);
    double singular[1] = {100.0};
    cr_assert_eq(carom_lcp_implicit_step(1, h, singular, f, m, change), CAROM_ERROR_STATE);
}

// A force on the first of two masses that a rod holds together moves both, as one.
Test(lcp_motion, constraints_share_an_outside_force)
{
    const double inverse_mass[4] = {0.5, 0.0, 0.0, 0.25}, rod[2] = {1.0, -1.0},
                 push[2] = {1.0, 0.0};
    double work[8], column[2];
    cr_assert_eq(carom_lcp_implicit_column(2, 1, inverse_mass, rod, push, work, column), CAROM_OK);
    cr_assert(fabs(column[0] - 1.0 / 6.0) < 1e-12 && fabs(column[1] - 1.0 / 6.0) < 1e-12);
    const double twice[4] = {1.0, -1.0, 1.0, -1.0};
    double more[16];
    cr_assert_eq(carom_lcp_implicit_column(2, 2, inverse_mass, twice, push, more, column),
                 CAROM_ERROR_STATE);
}

static float apart(carom_vec3 a, carom_vec3 b)
{
    return cm_length(cm_sub(a, b));
}

Test(lcp_motion, telescope_and_keep_place)
{
    carom_quat level = cm_quat_identity(), turned = {0.0f, 0.0f, 0.70710678f, 0.70710678f};
    carom_vec3 one = cm_vec(1.0f, 0.0f, 0.0f), two = cm_vec(1.0f, 2.0f, 0.0f);
    carom_vec3 three = cm_vec(1.1f, 0.5f, 0.2f);
    carom_telescope t = carom_telescope_make(one, level, two, three);
    cr_assert(cm_abs(t.fraction - 0.25f) < 1e-6f);
    cr_assert(apart(carom_telescope_place(&t, one, level, two), three) < 1e-6f);
    // Drawn out to twice the length: a quarter of the way, as far off.
    carom_vec3 far = cm_vec(1.0f, 4.0f, 0.0f);
    cr_assert(apart(carom_telescope_place(&t, one, level, far), cm_vec(1.1f, 1.0f, 0.2f)) < 1e-6f);
    // Turned by a quarter about z with body 1.
    carom_vec3 left = cm_vec(-1.0f, 0.0f, 0.0f);
    cr_assert(apart(carom_telescope_place(&t, one, turned, left), cm_vec(0.5f, 0.1f, 0.2f)) <
              1e-6f);
    // No length to telescope: the offset alone.
    t = carom_telescope_make(one, level, one, three);
    cr_assert(apart(carom_telescope_place(&t, one, level, one), three) < 1e-6f);

    carom_vec3 place = carom_keep_place(one, level, two, cm_vec(5.0f, 5.0f, 5.0f), turned);
    cr_assert(apart(place, cm_vec(3.0f, 5.0f, 5.0f)) < 1e-5f);
    cr_assert(apart(carom_keep_place(one, turned, two, one, turned), two) < 1e-6f);
}
