// The formulas of a two-body collision in binary64, inline: carom/impact.h and the `impulse` solver
// are the same arithmetic. Private to shared/sim/solve.
//
// Everything is in world axes here: with r = S R and J = S I^-1 S', the patent's C and Vf
// (JP3308685B2 (12), (17)) become W' = W + J (r x F) and Vf = 1/M1 + 1/M2 - [r1] J1 [r1] - [r2] J2
// [r2]. V0 and impulses are those on body 1.
#ifndef CM_SIM_SOLVE_IMPULSE_CORE_H
#define CM_SIM_SOLVE_IMPULSE_CORE_H

#include "carom/impact.h"
#include "shared/base/dvec.h"

// One body as a collision sees it; zeros in inverse_mass and inverse for what cannot be pushed.
typedef struct cm_impulse_side {
    carom_dvec3 inverse_mass; // 1/kg along each world axis: alike, but for locked axes
    carom_dsym3 inverse;      // J, world axes
    carom_dvec3 r;            // m, from the centre of mass to P
    carom_dvec3 v, w;         // m/s, rad/s, world axes
} cm_impulse_side;

// Velocity of 1 at P, less that of 2 (15).
static inline carom_dvec3 cm_impulse_relative(const cm_impulse_side *one,
                                              const cm_impulse_side *two)
{
    carom_dvec3 v1 = cm_d3_add(one->v, cm_d3_cross(one->w, one->r));
    return cm_d3_sub(v1, cm_d3_add(two->v, cm_d3_cross(two->w, two->r)));
}

// Adds 1/M - [r] J [r].
static inline void cm_impulse_add_response(carom_dsym3 *vf, const cm_impulse_side *side)
{
    const carom_dsym3 *j = &side->inverse;
    double x = side->r.x, y = side->r.y, z = side->r.z;
    vf->xx += side->inverse_mass.x + (z * z * j->yy - 2.0 * (y * z * j->yz) + y * y * j->zz);
    vf->yy += side->inverse_mass.y + (z * z * j->xx - 2.0 * (x * z * j->xz) + x * x * j->zz);
    vf->zz += side->inverse_mass.z + (y * y * j->xx - 2.0 * (x * y * j->xy) + x * x * j->yy);
    vf->xy += x * z * j->yz + y * z * j->xz - z * z * j->xy - x * y * j->zz;
    vf->xz += y * z * j->xy + x * y * j->yz - y * y * j->xz - x * z * j->yy;
    vf->yz += x * y * j->xz + x * z * j->xy - x * x * j->yz - y * z * j->xx;
}

static inline carom_dsym3 cm_impulse_response(const cm_impulse_side *one,
                                              const cm_impulse_side *two)
{
    carom_dsym3 vf = {0};
    cm_impulse_add_response(&vf, one);
    cm_impulse_add_response(&vf, two);
    return vf;
}

// m = L D L'. A direction in which nothing can move (all axes locked) has a pivot of 0: the
// solution has nothing there.
typedef struct cm_impulse_factor {
    double l10, l20, l21, d0, d1, d2; // d: reciprocals
} cm_impulse_factor;

static inline cm_impulse_factor cm_impulse_factorize(const carom_dsym3 *m)
{
    cm_impulse_factor f = {0};
    double least = 1.0e-13 * (m->xx + m->yy + m->zz);
    f.d0 = m->xx > least ? 1.0 / m->xx : 0.0;
    f.l10 = m->xy * f.d0;
    f.l20 = m->xz * f.d0;
    double d1 = m->yy - f.l10 * m->xy;
    f.d1 = d1 > least ? 1.0 / d1 : 0.0;
    double t = m->yz - f.l20 * m->xy;
    f.l21 = t * f.d1;
    double d2 = m->zz - f.l20 * m->xz - f.l21 * t;
    f.d2 = d2 > least ? 1.0 / d2 : 0.0;
    return f;
}

static inline carom_dvec3 cm_impulse_solve(const cm_impulse_factor *f, carom_dvec3 b)
{
    double y1 = b.y - f->l10 * b.x;
    double y2 = b.z - f->l20 * b.x - f->l21 * y1;
    double z = y2 * f->d2;
    double y = y1 * f->d1 - f->l21 * z;
    return cm_d3_of(b.x * f->d0 - f->l10 * y - f->l20 * z, y, z);
}

// k of case 3 (25); cases 1 and 3 are 2 k N and k N. 0 where nothing can move along N.
static inline double cm_impulse_slip(const carom_dsym3 *vf, carom_dvec3 n, carom_dvec3 v0)
{
    double den = cm_d3_dot(cm_dsym_mul(vf, n), n);
    return den > 0.0 ? -cm_d3_dot(v0, n) / den : 0.0;
}

// k of case 2 (22), with the sign that separates.
static inline double cm_impulse_rebound(carom_dvec3 n, carom_dvec3 v0, carom_dvec3 a_n,
                                        carom_dvec3 a_v0)
{
    double den = cm_d3_dot(n, a_n);
    double square = den > 0.0 ? cm_d3_dot(v0, a_v0) / den : 0.0;
    double k = square > 0.0 ? __builtin_sqrt(square) : 0.0;
    return cm_d3_dot(v0, n) > 0.0 ? -k : k;
}

// Ft for coefficients in 0..1 (the patent's steps S102 to S115): a corner costs its corner only.
static inline carom_dvec3 cm_impulse_interpolate(const carom_dsym3 *vf, carom_dvec3 n,
                                                 carom_dvec3 v0, double mu, double epsilon)
{
    if (mu == 0.0 && (epsilon == 0.0 || epsilon == 1.0)) {
        return cm_d3_scale((1.0 + epsilon) * cm_impulse_slip(vf, n, v0), n);
    }
    cm_impulse_factor a = cm_impulse_factorize(vf);
    carom_dvec3 a_v0 = cm_impulse_solve(&a, v0);
    carom_dvec3 f10 = cm_d3_scale(-1.0, a_v0);
    if (mu == 1.0 && epsilon == 0.0) {
        return f10;
    }
    carom_dvec3 a_n = cm_impulse_solve(&a, n);
    carom_dvec3 f11 = cm_d3_mad(f10, cm_impulse_rebound(n, v0, a_n, a_v0), a_n);
    if (mu == 1.0 && epsilon == 1.0) {
        return f11;
    }
    carom_dvec3 f00 = cm_d3_scale(cm_impulse_slip(vf, n, v0), n);
    carom_dvec3 f01 = cm_d3_scale(2.0, f00);
    // (28)
    carom_dvec3 both = cm_d3_add(cm_d3_sub(cm_d3_sub(f11, f01), f10), f00);
    carom_dvec3 f = cm_d3_mad(f00, mu, cm_d3_sub(f10, f00));
    return cm_d3_mad(cm_d3_mad(f, epsilon, cm_d3_sub(f01, f00)), epsilon * mu, both);
}

// (8) to (11): `f` on body 1, so -f (sign -1) on body 2.
static inline void cm_impulse_push(cm_impulse_side *side, double sign, carom_dvec3 f)
{
    carom_dvec3 turn = cm_dsym_mul(&side->inverse, cm_d3_cross(side->r, f));
    side->v.x += sign * (side->inverse_mass.x * f.x);
    side->v.y += sign * (side->inverse_mass.y * f.y);
    side->v.z += sign * (side->inverse_mass.z * f.z);
    side->w = cm_d3_mad(side->w, sign, turn);
}

#endif
