// Vector, quaternion and matrix arithmetic in binary32, written so that every compiler performs the
// same operations in the same order: no FMA (the build forbids contraction), no libm beyond sqrt.
#ifndef CM_BASE_VEC_H
#define CM_BASE_VEC_H

#include "carom/types.h"

// Column-major: x, y, z are columns.
typedef struct cm_mat3 {
    carom_vec3 x, y, z;
} cm_mat3;

static inline float cm_sqrt(float a)
{
    return __builtin_sqrtf(a);
}

static inline float cm_min(float a, float b)
{
    return a < b ? a : b;
}

static inline float cm_max(float a, float b)
{
    return a > b ? a : b;
}

static inline float cm_abs(float a)
{
    return a < 0.0f ? -a : a;
}

static inline float cm_clamp(float a, float low, float high)
{
    return a < low ? low : (a > high ? high : a);
}

// False for NaN and the infinities, whatever the compiler thinks of them.
static inline bool cm_is_finite(float a)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return (bits & 0x7f800000u) != 0x7f800000u;
}

static inline carom_vec3 cm_vec(float x, float y, float z)
{
    carom_vec3 v = {x, y, z};
    return v;
}

static inline carom_vec3 cm_add(carom_vec3 a, carom_vec3 b)
{
    return cm_vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline carom_vec3 cm_sub(carom_vec3 a, carom_vec3 b)
{
    return cm_vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline carom_vec3 cm_neg(carom_vec3 a)
{
    return cm_vec(-a.x, -a.y, -a.z);
}

static inline carom_vec3 cm_scale(float s, carom_vec3 a)
{
    return cm_vec(s * a.x, s * a.y, s * a.z);
}

// a + s b
static inline carom_vec3 cm_mul_add(carom_vec3 a, float s, carom_vec3 b)
{
    return cm_vec(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline float cm_dot(carom_vec3 a, carom_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline carom_vec3 cm_cross(carom_vec3 a, carom_vec3 b)
{
    return cm_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline float cm_length_squared(carom_vec3 a)
{
    return cm_dot(a, a);
}

static inline float cm_length(carom_vec3 a)
{
    return cm_sqrt(cm_dot(a, a));
}

// Zero for a vector too short to have a direction.
static inline carom_vec3 cm_normalize(carom_vec3 a)
{
    float length = cm_length(a);
    if (length < 1.0e-18f) {
        return cm_vec(0.0f, 0.0f, 0.0f);
    }
    return cm_scale(1.0f / length, a);
}

static inline carom_vec3 cm_abs_vec(carom_vec3 a)
{
    return cm_vec(cm_abs(a.x), cm_abs(a.y), cm_abs(a.z));
}

static inline bool cm_vec_is_finite(carom_vec3 a)
{
    return cm_is_finite(a.x) && cm_is_finite(a.y) && cm_is_finite(a.z);
}

static inline carom_quat cm_quat_identity(void)
{
    carom_quat q = {0.0f, 0.0f, 0.0f, 1.0f};
    return q;
}

static inline carom_quat cm_quat_conjugate(carom_quat q)
{
    carom_quat r = {-q.x, -q.y, -q.z, q.w};
    return r;
}

// Applies b, then a.
static inline carom_quat cm_quat_mul(carom_quat a, carom_quat b)
{
    carom_quat r;
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    return r;
}

static inline bool cm_quat_is_finite(carom_quat q)
{
    return cm_is_finite(q.x) && cm_is_finite(q.y) && cm_is_finite(q.z) && cm_is_finite(q.w);
}

// Identity for a quaternion too short to have a direction.
static inline carom_quat cm_quat_normalize(carom_quat q)
{
    float length = cm_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (length < 1.0e-18f) {
        return cm_quat_identity();
    }
    float s = 1.0f / length;
    carom_quat r = {s * q.x, s * q.y, s * q.z, s * q.w};
    return r;
}

// v turned by q: v + 2 u x (u x v + w v)
static inline carom_vec3 cm_rotate(carom_quat q, carom_vec3 v)
{
    carom_vec3 u = cm_vec(q.x, q.y, q.z);
    carom_vec3 t = cm_mul_add(cm_cross(u, v), q.w, v);
    return cm_mul_add(v, 2.0f, cm_cross(u, t));
}

static inline carom_vec3 cm_rotate_inverse(carom_quat q, carom_vec3 v)
{
    return cm_rotate(cm_quat_conjugate(q), v);
}

// q advanced by the small rotation vector w dt, then normalised: q + dt/2 (w, 0) q
static inline carom_quat cm_quat_integrate(carom_quat q, carom_vec3 rotation)
{
    carom_quat half = {0.5f * rotation.x, 0.5f * rotation.y, 0.5f * rotation.z, 0.0f};
    carom_quat d = cm_quat_mul(half, q);
    carom_quat r = {q.x + d.x, q.y + d.y, q.z + d.z, q.w + d.w};
    return cm_quat_normalize(r);
}

static inline cm_mat3 cm_mat3_from_quat(carom_quat q)
{
    float xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    float xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    float wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    cm_mat3 m;
    m.x = cm_vec(1.0f - 2.0f * (yy + zz), 2.0f * (xy + wz), 2.0f * (xz - wy));
    m.y = cm_vec(2.0f * (xy - wz), 1.0f - 2.0f * (xx + zz), 2.0f * (yz + wx));
    m.z = cm_vec(2.0f * (xz + wy), 2.0f * (yz - wx), 1.0f - 2.0f * (xx + yy));
    return m;
}

static inline carom_vec3 cm_mat3_mul(cm_mat3 m, carom_vec3 v)
{
    return cm_vec(m.x.x * v.x + m.y.x * v.y + m.z.x * v.z, m.x.y * v.x + m.y.y * v.y + m.z.y * v.z,
                  m.x.z * v.x + m.y.z * v.y + m.z.z * v.z);
}

static inline carom_vec3 cm_mat3_mul_transpose(cm_mat3 m, carom_vec3 v)
{
    return cm_vec(cm_dot(m.x, v), cm_dot(m.y, v), cm_dot(m.z, v));
}

// Two unit vectors that make a right-handed basis with the unit vector n: a function of n alone.
static inline void cm_basis(carom_vec3 n, carom_vec3 *t1, carom_vec3 *t2)
{
    if (cm_abs(n.x) < 0.57735027f) {
        *t1 = cm_normalize(cm_vec(0.0f, n.z, -n.y));
    } else {
        *t1 = cm_normalize(cm_vec(n.y, -n.x, 0.0f));
    }
    *t2 = cm_cross(n, *t1);
}

#endif
