// The mathematics of modules. Goal: each function is within its stated units in the last place of
// libm's long double, nothing gives a NaN, and the bits of ten thousand results are one fixed
// number: what another compiler, machine or flag changes is found here, and by the matrix.
#include "carom/math.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "shared/base/hash.h"
#include "shared/base/rng.h"
#include "tests/determinism/math_digest.h"

enum { SAMPLES = 200000 };

static float in_range(cm_rng *rng, float high)
{
    return high * (2.0f * (float)cm_rng_unit(rng) - 1.0f);
}

// In units of the last place of the true value.
static double ulps(float value, long double truth)
{
    float nearest = fabsf((float)truth);
    float unit =
        nearest < 1.17549435e-38f ? 1.40129846e-45f : nextafterf(nearest, INFINITY) - nearest;
    return (double)(fabsl((long double)value - truth) / (long double)unit);
}

Test(math, angles_are_as_exact_as_stated)
{
    cm_rng rng;
    cm_rng_seed(&rng, 4);
    double worst[4] = {0};
    const float ranges[] = {1.0e-3f, 1.0f, 10.0f, 1.0e6f};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        float x = in_range(&rng, ranges[i % 4]), y = in_range(&rng, ranges[i / 4 % 4]);
        double of[4] = {
            ulps(carom_sin(x), sinl((long double)x)), ulps(carom_cos(x), cosl((long double)x)),
            ulps(carom_atan2(y, x), atan2l((long double)y, (long double)x)),
            ulps(carom_acos(x / ranges[i % 4]), acosl((long double)(x / ranges[i % 4])))};
        for (uint32_t k = 0; k < 4; k++) {
            worst[k] = of[k] > worst[k] ? of[k] : worst[k];
        }
    }
    for (uint32_t k = 0; k < 4; k++) {
        cr_expect(worst[k] > 0.4 && worst[k] <= 0.51, "function %u: %.3f ulp", k, worst[k]);
    }
}

Test(math, nothing_is_nan)
{
    const float odd[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1.0e38f, -1.0e-45f, 2.0f};
    for (uint32_t i = 0; i < 8; i++) {
        cr_expect(carom_is_finite(carom_sin(odd[i])) && carom_is_finite(carom_cos(odd[i])));
        cr_expect(carom_is_finite(carom_acos(odd[i])), "%g", (double)odd[i]);
        cr_expect(!isnan(carom_sqrt(odd[i])), "%g", (double)odd[i]);
        cr_expect(!isnan(carom_clamp(odd[i], -1.0f, 1.0f)), "%g", (double)odd[i]);
        for (uint32_t k = 0; k < 8; k++) {
            cr_expect(carom_is_finite(carom_atan2(odd[i], odd[k])));
        }
    }
    cr_expect_eq(carom_sqrt(2.25f), 1.5f);
    cr_expect_not(carom_is_finite(NAN));
    cr_expect_not(carom_is_finite(-INFINITY));
    carom_vec3 zero = carom_normalize(carom_vec(0.0f, 1.0e-30f, 0.0f)), axis;
    cr_expect(zero.x == 0.0f && zero.y == 0.0f && zero.z == 0.0f);
    cr_expect_eq(carom_quat_of_axis(zero, 1.0f).w, 1.0f);
    cr_expect_eq(carom_quat_angle(carom_quat_identity(), &axis), 0.0f);
    cr_expect_eq(axis.x, 1.0f);
}

Test(math, rotations_agree_with_one_another)
{
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    for (uint32_t i = 0; i < 10000; i++) {
        carom_vec3 axis = carom_vec(in_range(&rng, 1.0f), in_range(&rng, 1.0f), 1.0f), back;
        carom_vec3 v = carom_vec(in_range(&rng, 5.0f), in_range(&rng, 5.0f), in_range(&rng, 5.0f));
        float angle = in_range(&rng, 3.1f), other = in_range(&rng, 3.1f);
        carom_quat a = carom_quat_of_axis(axis, angle), b = carom_quat_of_axis(v, other);
        cr_assert_lt(carom_abs(carom_quat_angle(a, &back) - carom_abs(angle)), 1.0e-5f);
        float along = carom_dot(back, carom_normalize(axis));
        cr_assert(carom_abs(angle) < 1.0e-3f || carom_abs(carom_abs(along) - 1.0f) < 1.0e-4f);
        carom_vec3 one = carom_rotate(carom_quat_mul(a, b), v);
        carom_vec3 two = carom_rotate(a, carom_rotate(b, v));
        cr_assert_lt(carom_length(carom_sub(one, two)), 1.0e-5f);
        carom_vec3 again = carom_rotate_inverse(a, carom_rotate(a, v));
        cr_assert_lt(carom_length(carom_sub(again, v)), 1.0e-5f);
        cr_assert_lt(carom_abs(carom_length(carom_rotate(a, v)) - carom_length(v)), 1.0e-5f);
    }
    // A quarter turn about y brings z to x.
    carom_vec3 x =
        carom_rotate(carom_quat_of_axis(carom_vec(0, 2, 0), 0.5f * CAROM_PI), carom_vec(0, 0, 1));
    cr_expect_lt(carom_length(carom_sub(x, carom_vec(1, 0, 0))), 1.0e-6f);
}

Test(math, the_bits_are_one_number)
{
    cr_expect_eq(cm_math_digest(), CM_MATH_DIGEST, "%016llx", (unsigned long long)cm_math_digest());
}
