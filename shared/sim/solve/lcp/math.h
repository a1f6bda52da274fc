// Vectors and quaternions in binary64, for what the lcp solver works out within a step.
#ifndef CM_SIM_SOLVE_LCP_MATH_H
#define CM_SIM_SOLVE_LCP_MATH_H

#include "carom/types.h"

#include <stdbool.h>

typedef struct cm_dvec {
    double x, y, z;
} cm_dvec;

typedef struct cm_dquat {
    double x, y, z, w;
} cm_dquat;

// Columns are the axes of a turned frame.
typedef struct cm_dmat {
    cm_dvec x, y, z;
} cm_dmat;

static inline cm_dvec cm_dv(double x, double y, double z)
{
    cm_dvec v = {x, y, z};
    return v;
}

static inline cm_dvec cm_dv_of(carom_vec3 v)
{
    return cm_dv((double)v.x, (double)v.y, (double)v.z);
}

static inline carom_vec3 cm_dv_round(cm_dvec v)
{
    carom_vec3 r = {(float)v.x, (float)v.y, (float)v.z};
    return r;
}

static inline cm_dvec cm_dv_add(cm_dvec a, cm_dvec b)
{
    return cm_dv(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline cm_dvec cm_dv_sub(cm_dvec a, cm_dvec b)
{
    return cm_dv(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline cm_dvec cm_dv_scale(double s, cm_dvec a)
{
    return cm_dv(s * a.x, s * a.y, s * a.z);
}

// a + s b
static inline cm_dvec cm_dv_mul_add(cm_dvec a, double s, cm_dvec b)
{
    return cm_dv(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline double cm_dv_dot(cm_dvec a, cm_dvec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline cm_dvec cm_dv_cross(cm_dvec a, cm_dvec b)
{
    return cm_dv(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double cm_dv_length(cm_dvec a)
{
    return __builtin_sqrt(cm_dv_dot(a, a));
}

static inline cm_dquat cm_dq_of(carom_quat q)
{
    cm_dquat r = {(double)q.x, (double)q.y, (double)q.z, (double)q.w};
    return r;
}

static inline cm_dquat cm_dq_mul(cm_dquat a, cm_dquat b)
{
    cm_dquat r = {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                  a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
    return r;
}

static inline cm_dquat cm_dq_unit(cm_dquat q)
{
    double s = 1.0 / __builtin_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    cm_dquat r = {s * q.x, s * q.y, s * q.z, s * q.w};
    return r;
}

static inline cm_dmat cm_dmat_of(cm_dquat q)
{
    cm_dmat m;
    m.x = cm_dv(1.0 - 2.0 * (q.y * q.y + q.z * q.z), 2.0 * (q.x * q.y + q.w * q.z),
                2.0 * (q.x * q.z - q.w * q.y));
    m.y = cm_dv(2.0 * (q.x * q.y - q.w * q.z), 1.0 - 2.0 * (q.x * q.x + q.z * q.z),
                2.0 * (q.y * q.z + q.w * q.x));
    m.z = cm_dv_cross(m.x, m.y);
    return m;
}

static inline cm_dvec cm_dmat_mul(const cm_dmat *m, cm_dvec v)
{
    return cm_dv_mul_add(cm_dv_mul_add(cm_dv_scale(v.x, m->x), v.y, m->y), v.z, m->z);
}

static inline cm_dvec cm_dmat_mul_transpose(const cm_dmat *m, cm_dvec v)
{
    return cm_dv(cm_dv_dot(m->x, v), cm_dv_dot(m->y, v), cm_dv_dot(m->z, v));
}

// Two unit vectors across the unit vector n: a function of n alone.
static inline void cm_dv_basis(cm_dvec n, cm_dvec *t1, cm_dvec *t2)
{
    bool small = n.x < 0.57735027 && n.x > -0.57735027;
    cm_dvec t = small ? cm_dv(0.0, n.z, -n.y) : cm_dv(n.y, -n.x, 0.0);
    *t1 = cm_dv_scale(1.0 / cm_dv_length(t), t);
    *t2 = cm_dv_cross(n, *t1);
}

#endif
