// Goal: the portable functions are within their stated errors, and have no NaN anywhere.
// Method: seeded arguments over the stated domains against libm's long double (whose own error is
// far below), and every special value against what the header says. The bits of a few results are
// fixed, so that a compiler which contracts or reorders is found here already.
#include "shared/base/hash.h"
#include "shared/base/mathf.h"
#include "shared/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>

enum { SAMPLES = 200000 };

static double in_range(cm_rng *rng, double low, double high)
{
    return low + (high - low) * cm_rng_unit(rng);
}

Test(mathf, sin_and_cos_are_as_exact_as_stated)
{
    cm_rng rng;
    cm_rng_seed(&rng, 1);
    const double ranges[] = {1.0, 10.0, 1.0e3, 1.0e6};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double high = ranges[i % 4];
        double x = in_range(&rng, -high, high);
        cr_assert_lt(fabsl((long double)cm_sin(x) - sinl((long double)x)), 3.0e-16L, "sin %.17g",
                     x);
        cr_assert_lt(fabsl((long double)cm_cos(x) - cosl((long double)x)), 3.0e-16L, "cos %.17g",
                     x);
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double x = in_range(&rng, -1073741824.0, 1073741824.0);
        cr_assert_lt(fabsl((long double)cm_sin(x) - sinl((long double)x)), 1.0e-6L, "sin %.17g", x);
    }
    cr_assert_eq(cm_sin(0.0), 0.0);
    cr_assert_eq(cm_cos(0.0), 1.0);
    cr_assert_eq(cm_sin(1.0e300), 0.0);
    cr_assert_eq(cm_cos((double)INFINITY), 1.0);
    cr_assert_eq(cm_sin((double)NAN), 0.0);
}

Test(mathf, atan2_and_acos_are_as_exact_as_stated)
{
    cm_rng rng;
    cm_rng_seed(&rng, 2);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double scale = i % 3 == 0 ? 1.0e-200 : (i % 3 == 1 ? 1.0 : 1.0e301);
        double x = scale * in_range(&rng, -1.0, 1.0);
        double y = scale * in_range(&rng, -1.0, 1.0);
        long double error =
            fabsl((long double)cm_atan2(y, x) - atan2l((long double)y, (long double)x));
        cr_assert_lt(error, 6.0e-16L, "atan2 %.17g %.17g", y, x);
        double c = in_range(&rng, -1.0, 1.0);
        cr_assert_lt(fabsl((long double)cm_acos(c) - acosl((long double)c)), 6.0e-16L, "acos %.17g",
                     c);
    }
    cr_assert_eq(cm_atan2(0.0, 0.0), 0.0);
    cr_assert_eq(cm_atan2(0.0, -1.0), CM_PI);
    cr_assert_eq(cm_atan2(-0.0, -1.0), -CM_PI);
    cr_assert_eq(cm_atan2(1.0, 0.0), CM_PI / 2.0);
    cr_assert_eq(cm_atan2(-1.0, 0.0), -CM_PI / 2.0);
    cr_assert_eq(cm_atan2((double)INFINITY, 1.0), CM_PI / 2.0);
    cr_assert_eq(cm_atan2((double)NAN, 1.0), 0.0);
    cr_assert_eq(cm_acos(1.0), 0.0);
    cr_assert_eq(cm_acos(7.0), 0.0);
    cr_assert_eq(cm_acos(-1.0), CM_PI);
    cr_assert_eq(cm_acos(-7.0), CM_PI);
    cr_assert_eq(cm_acos((double)NAN), 0.0);
}

Test(mathf, binary32_rounds_binary64)
{
    cm_rng rng;
    cm_rng_seed(&rng, 4);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        float x = cm_rng_range(&rng, -100.0f, 100.0f), y = cm_rng_range(&rng, -100.0f, 100.0f);
        cr_assert_lt(fabs((double)cm_atan2f(y, x) - atan2((double)y, (double)x)), 1.2e-7);
    }
}

// One number for 8,000 results: the same for every compiler, optimisation and architecture.
Test(mathf, bits_are_the_same_everywhere)
{
    cm_rng rng;
    cm_rng_seed(&rng, 6);
    cm_hash hash = cm_hash_begin(0);
    for (uint32_t i = 0; i < 2000; i++) {
        double x = in_range(&rng, -20.0, 20.0), y = in_range(&rng, -20.0, 20.0);
        double results[4] = {cm_sin(x), cm_cos(x), cm_atan2(y, x), cm_acos(x / 20.0)};
        for (uint32_t k = 0; k < 4; k++) {
            uint64_t bits;
            memcpy(&bits, &results[k], sizeof bits);
            cm_hash_u64(&hash, bits);
        }
    }
    cr_assert_eq(cm_hash_end(&hash), UINT64_C(0xef9db13137c48b80), "%016llx",
                 (unsigned long long)cm_hash_end(&hash));
}
