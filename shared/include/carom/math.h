// Mathematics for game modules: vectors, quaternions, roots and angles, with the same bits on every
// machine, compiler and optimisation. + - * / and square roots in a fixed order, nothing of libm;
// what is inline here must be compiled without contraction and reordering, as modules are
// (`pkg-config --variable=determinism carom-sim`).
//
// binary32. Nothing here gives a NaN for finite arguments whose results are within binary32's
// range. Each function documents its result for NaN and for arguments without a direction.
#ifndef CAROM_MATH_H
#define CAROM_MATH_H

#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_PI 3.14159265f

// Angles -------------------------------------------------------------------------------------

// Rounded from binary64 (Taylor series on reduced arguments, shared/base/mathf.c): within 0.51 of a
// unit in the last place of the true value, for |x| up to 1e6; up to 2^30 within 1e-6 of it. Beyond
// that, and for NaN, the angle counts as 0.
CAROM_API float carom_sin(float x);
CAROM_API float carom_cos(float x);
// In [-pi, pi], within 0.51 of a unit in the last place; (0, x >= 0) and NaN give 0 with y's sign.
CAROM_API float carom_atan2(float y, float x);
// In [0, pi], likewise; |x| > 1 counts as 1 with its sign, NaN as 1.
CAROM_API float carom_acos(float x);
// Rotation by an angle (rad, right-handed) about an axis of any length but zero, whose direction
// counts; the identity for an axis shorter than 1e-18.
CAROM_API carom_quat carom_quat_of_axis(carom_vec3 axis, float angle);
// The other way round: the axis, of unit length, and an angle in [0, pi]. (1, 0, 0) where there is
// none. `axis` may be NULL.
CAROM_API float carom_quat_angle(carom_quat q, carom_vec3 *axis);

// Scalars ------------------------------------------------------------------------------------

// Correctly rounded; 0 for what is below 0, and for NaN.
static inline float carom_sqrt(float x)
{
    return x > 0.0f ? __builtin_sqrtf(x) : 0.0f;
}

static inline float carom_abs(float x)
{
    return x < 0.0f ? -x : x;
}

static inline float carom_min(float a, float b)
{
    return a < b ? a : b;
}

static inline float carom_max(float a, float b)
{
    return a > b ? a : b;
}

// `low` for NaN.
static inline float carom_clamp(float x, float low, float high)
{
    return x > high ? high : (x > low ? x : low);
}

// False for NaN and the infinities. Tests the bits, so that -ffast-math cannot remove the test.
static inline bool carom_is_finite(float x)
{
    union {
        float value;
        uint32_t bits;
    } u;
    u.value = x;
    return (u.bits & 0x7f800000u) != 0x7f800000u;
}

// Vectors ------------------------------------------------------------------------------------

static inline carom_vec3 carom_vec(float x, float y, float z)
{
    carom_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

static inline carom_vec3 carom_add(carom_vec3 a, carom_vec3 b)
{
    return carom_vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline carom_vec3 carom_sub(carom_vec3 a, carom_vec3 b)
{
    return carom_vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline carom_vec3 carom_scale(float s, carom_vec3 v)
{
    return carom_vec(s * v.x, s * v.y, s * v.z);
}

static inline float carom_dot(carom_vec3 a, carom_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline carom_vec3 carom_cross(carom_vec3 a, carom_vec3 b)
{
    return carom_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline float carom_length(carom_vec3 v)
{
    return carom_sqrt(carom_dot(v, v));
}

// Zero for a vector shorter than 1e-18.
static inline carom_vec3 carom_normalize(carom_vec3 v)
{
    float length = carom_length(v);
    return length < 1.0e-18f ? carom_vec(0.0f, 0.0f, 0.0f) : carom_scale(1.0f / length, v);
}

// Quaternions --------------------------------------------------------------------------------

static inline carom_quat carom_quat_identity(void)
{
    carom_quat q;
    q.x = q.y = q.z = 0.0f;
    q.w = 1.0f;
    return q;
}

// Applies b, then a.
static inline carom_quat carom_quat_mul(carom_quat a, carom_quat b)
{
    carom_quat q;
    q.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    q.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    q.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    q.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    return q;
}

// The inverse of a unit quaternion.
static inline carom_quat carom_quat_conjugate(carom_quat q)
{
    q.x = -q.x;
    q.y = -q.y;
    q.z = -q.z;
    return q;
}

// The identity for a quaternion shorter than 1e-18.
static inline carom_quat carom_quat_normalize(carom_quat q)
{
    float length = carom_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (length < 1.0e-18f) {
        return carom_quat_identity();
    }
    q.x *= 1.0f / length;
    q.y *= 1.0f / length;
    q.z *= 1.0f / length;
    q.w *= 1.0f / length;
    return q;
}

// v turned by the unit quaternion q: v + 2 u x (u x v + w v).
static inline carom_vec3 carom_rotate(carom_quat q, carom_vec3 v)
{
    carom_vec3 u = carom_vec(q.x, q.y, q.z);
    carom_vec3 t = carom_add(carom_cross(u, v), carom_scale(q.w, v));
    return carom_add(v, carom_scale(2.0f, carom_cross(u, t)));
}

// The inverse of carom_rotate: from world axes to the body's.
static inline carom_vec3 carom_rotate_inverse(carom_quat q, carom_vec3 v)
{
    return carom_rotate(carom_quat_conjugate(q), v);
}

#ifdef __cplusplus
}
#endif
#endif
