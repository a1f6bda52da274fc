// Portable transcendental functions; see mathf.h.
//
// Each reduces its argument to a small interval and sums a Taylor series there: one source of
// coefficients (factorials), an error bound by the first term left out, and no table of magic
// numbers to mistype. Some 20 to 40 operations a call; nothing in the inner loops of a step uses
// them.
#include "shared/base/mathf.h"

#include <stdint.h>
#include <string.h>

// pi/2 in three parts: n times a leading part is exact for n below 2^20.
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define TWO_BY_PI 0x1.45f306dc9c883p-1

static double absolute(double x)
{
    return x < 0.0 ? -x : x;
}

static double sign_of(double magnitude, double sign)
{
    uint64_t bits;
    memcpy(&bits, &sign, sizeof bits);
    return bits >> 63 ? -magnitude : magnitude;
}

// Nearest integer, halves away from zero; |x| below 2^52.
static int64_t nearest(double x)
{
    return (int64_t)(x < 0.0 ? x - 0.5 : x + 0.5);
}

// sin and cos on [-pi/4, pi/4]: the terms left out are below 1e-19.
static double sin_kernel(double x)
{
    double z = x * x;
    double p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return x + x * z * p;
}

static double cos_kernel(double x)
{
    double z = x * x;
    double p = -1.0 / 6402373705728000.0;
    p = p * z + 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    double half = 0.5 * z;
    double one = 1.0 - half;
    return one + (((1.0 - one) - half) + z * z * p);
}

// sin(x + quarter turns).
static double sin_turned(double x, int64_t quarters)
{
    if (!(absolute(x) <= 1073741824.0)) {
        x = 0.0;
    }
    int64_t n = nearest(x * TWO_BY_PI);
    double m = (double)n;
    double r = ((x - m * HALF_PI_1) - m * HALF_PI_2) - m * HALF_PI_3;
    switch ((uint64_t)(n + quarters) & 3u) {
    case 0:
        return sin_kernel(r);
    case 1:
        return cos_kernel(r);
    case 2:
        return -sin_kernel(r);
    default:
        return -cos_kernel(r);
    }
}

double cm_sin(double x)
{
    return sin_turned(x, 0);
}

double cm_cos(double x)
{
    return sin_turned(x, 1);
}

// atan on [0, 1]: atan(c) + atan((x - c) / (1 + x c)), c the nearest quarter, the rest within 1/8.
static double atan_kernel(double x)
{
    static const double at[5] = {0.0, 0.24497866312686414, 0.4636476090008061, 0.6435011087932844,
                                 0.7853981633974483};
    int64_t quarter = nearest(4.0 * x);
    double c = 0.25 * (double)quarter;
    double t = (x - c) / (1.0 + x * c);
    double z = t * t;
    double p = 1.0 / 17.0;
    p = p * z - 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z - 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z - 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z - 1.0 / 3.0;
    return at[quarter] + (t + t * z * p);
}

double cm_atan2(double y, double x)
{
    double ax = absolute(x), ay = absolute(y);
    double angle;
    if (!(ax >= 0.0) || !(ay >= 0.0) || (ax == 0.0 && ay == 0.0)) {
        // Not a direction, but (0, -0) as the limit from x < 0 would only be a trap: 0 for all.
        return ax == 0.0 && ay == 0.0 ? sign_of(0.0, y) : 0.0;
    }
    if (ax > 1.0e300 || ay > 1.0e300) {
        // Brings infinities and what would overflow below to the same scale.
        ax = (ax > 1.7e308 ? 1.7e308 : ax) * 1.0e-10;
        ay = (ay > 1.7e308 ? 1.7e308 : ay) * 1.0e-10;
    }
    if (ay <= ax) {
        angle = atan_kernel(ay / ax);
    } else {
        angle = CM_PI / 2.0 - atan_kernel(ax / ay);
    }
    if (x < 0.0) {
        angle = CM_PI - angle;
    }
    return sign_of(angle, y);
}

double cm_acos(double x)
{
    if (!(x < 1.0)) {
        return 0.0;
    }
    if (x < -1.0) {
        x = -1.0;
    }
    return cm_atan2(__builtin_sqrt((1.0 - x) * (1.0 + x)), x);
}

float cm_atan2f(float y, float x)
{
    return (float)cm_atan2((double)y, (double)x);
}
