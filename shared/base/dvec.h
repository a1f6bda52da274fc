// Vectors, matrices and quaternions in binary64, for solvers and formulas that work in it. The same
// operations in the same order on every machine, as in vec.h. Matrices are column-major: a column
// is where that axis of a turned frame points.
#ifndef CM_BASE_DVEC_H
#define CM_BASE_DVEC_H

#include "carom/types.h"

// The public types by short names.
typedef carom_dvec3 cm_d3;
typedef carom_dmat3 cm_dmat;
typedef carom_dsym3 cm_dsym;

typedef struct cm_dquat {
    double x, y, z, w;
} cm_dquat;

static inline cm_d3 cm_d3_of(double x, double y, double z)
{
    cm_d3 v = {x, y, z};
    return v;
}

static inline cm_d3 cm_d3_from(carom_vec3 v)
{
    return cm_d3_of((double)v.x, (double)v.y, (double)v.z);
}

static inline double cm_d3_at(cm_d3 v, uint32_t axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static inline carom_vec3 cm_d3_round(cm_d3 v)
{
    carom_vec3 r = {(float)v.x, (float)v.y, (float)v.z};
    return r;
}

static inline cm_d3 cm_d3_add(cm_d3 a, cm_d3 b)
{
    return cm_d3_of(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline cm_d3 cm_d3_sub(cm_d3 a, cm_d3 b)
{
    return cm_d3_of(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline cm_d3 cm_d3_scale(double s, cm_d3 a)
{
    return cm_d3_of(s * a.x, s * a.y, s * a.z);
}

// a + s b
static inline cm_d3 cm_d3_mad(cm_d3 a, double s, cm_d3 b)
{
    return cm_d3_of(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline double cm_d3_dot(cm_d3 a, cm_d3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline cm_d3 cm_d3_cross(cm_d3 a, cm_d3 b)
{
    return cm_d3_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double cm_d3_length(cm_d3 a)
{
    return __builtin_sqrt(cm_d3_dot(a, a));
}

// Zero for a vector too short to have a direction.
static inline cm_d3 cm_d3_unit(cm_d3 a)
{
    double length = cm_d3_length(a);
    return length > 1.0e-150 ? cm_d3_scale(1.0 / length, a) : cm_d3_of(0.0, 0.0, 0.0);
}

static inline double cm_d_abs(double a)
{
    return a < 0.0 ? -a : a;
}

static inline double cm_d_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double cm_d_min(double a, double b)
{
    return a < b ? a : b;
}

// Two unit vectors that make a right-handed basis (t1, t2, n).
static inline void cm_d3_basis(cm_d3 n, cm_d3 *t1, cm_d3 *t2)
{
    cm_d3 t =
        cm_d_abs(n.x) < 0.57735026918962576 ? cm_d3_of(0.0, n.z, -n.y) : cm_d3_of(n.y, -n.x, 0.0);
    *t1 = cm_d3_unit(t);
    *t2 = cm_d3_cross(n, *t1);
}

static inline cm_d3 cm_dmat_mul(const cm_dmat *m, cm_d3 v)
{
    return cm_d3_of(m->x.x * v.x + m->y.x * v.y + m->z.x * v.z,
                    m->x.y * v.x + m->y.y * v.y + m->z.y * v.z,
                    m->x.z * v.x + m->y.z * v.y + m->z.z * v.z);
}

static inline cm_d3 cm_dmat_mul_transpose(const cm_dmat *m, cm_d3 v)
{
    return cm_d3_of(cm_d3_dot(m->x, v), cm_d3_dot(m->y, v), cm_d3_dot(m->z, v));
}

static inline cm_dmat cm_dmat_product(const cm_dmat *a, const cm_dmat *b)
{
    cm_dmat m = {cm_dmat_mul(a, b->x), cm_dmat_mul(a, b->y), cm_dmat_mul(a, b->z)};
    return m;
}

// Of a matrix that has one; a singular matrix gives zeros.
static inline cm_dmat cm_dmat_inverse(const cm_dmat *m)
{
    cm_d3 a = cm_d3_cross(m->y, m->z), b = cm_d3_cross(m->z, m->x), c = cm_d3_cross(m->x, m->y);
    double det = cm_d3_dot(m->x, a), s = det != 0.0 ? 1.0 / det : 0.0;
    cm_dmat r = {cm_d3_of(s * a.x, s * b.x, s * c.x), cm_d3_of(s * a.y, s * b.y, s * c.y),
                 cm_d3_of(s * a.z, s * b.z, s * c.z)};
    return r;
}

static inline cm_dquat cm_dquat_from(carom_quat q)
{
    cm_dquat r = {(double)q.x, (double)q.y, (double)q.z, (double)q.w};
    return r;
}

// Applies b, then a.
static inline cm_dquat cm_dquat_mul(cm_dquat a, cm_dquat b)
{
    cm_dquat r;
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y;
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x;
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w;
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z;
    return r;
}

static inline cm_dquat cm_dquat_unit(cm_dquat q)
{
    double length = __builtin_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    cm_dquat none = {0.0, 0.0, 0.0, 1.0};
    if (!(length > 1.0e-150)) {
        return none;
    }
    double s = 1.0 / length;
    cm_dquat r = {s * q.x, s * q.y, s * q.z, s * q.w};
    return r;
}

static inline cm_dmat cm_dmat_from_quat(cm_dquat q)
{
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    cm_dmat m = {cm_d3_of(1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)),
                 cm_d3_of(2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)),
                 cm_d3_of(2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy))};
    return m;
}

static inline cm_d3 cm_dsym_mul(const cm_dsym *m, cm_d3 v)
{
    return cm_d3_of(m->xx * v.x + m->xy * v.y + m->xz * v.z,
                    m->xy * v.x + m->yy * v.y + m->yz * v.z,
                    m->xz * v.x + m->yz * v.y + m->zz * v.z);
}

// By cofactors. The matrix is positive definite.
static inline cm_dsym cm_dsym_inverse(const cm_dsym *m)
{
    cm_dsym c = {m->yy * m->zz - m->yz * m->yz, m->xx * m->zz - m->xz * m->xz,
                 m->xx * m->yy - m->xy * m->xy, m->xz * m->yz - m->xy * m->zz,
                 m->xy * m->yz - m->xz * m->yy, m->xy * m->xz - m->yz * m->xx};
    double s = 1.0 / (m->xx * c.xx + m->xy * c.xy + m->xz * c.xz);
    cm_dsym r = {s * c.xx, s * c.yy, s * c.zz, s * c.xy, s * c.xz, s * c.yz};
    return r;
}

// S m S', S a rotation.
static inline cm_dsym cm_dsym_turn(const cm_dmat *s, const cm_dsym *m)
{
    // Rows of S, each times m.
    cm_d3 a = {s->x.x, s->y.x, s->z.x}, b = {s->x.y, s->y.y, s->z.y};
    cm_d3 c = {s->x.z, s->y.z, s->z.z};
    cm_d3 ma = cm_dsym_mul(m, a), mb = cm_dsym_mul(m, b), mc = cm_dsym_mul(m, c);
    cm_dsym r = {cm_d3_dot(a, ma), cm_d3_dot(b, mb), cm_d3_dot(c, mc),
                 cm_d3_dot(a, mb), cm_d3_dot(a, mc), cm_d3_dot(b, mc)};
    return r;
}

#endif
