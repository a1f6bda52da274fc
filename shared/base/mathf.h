// Transcendental functions of our own: + - * / and square roots in a fixed order, so the same bits
// on every machine and compiler, which no libm promises.
//
// The binary32 form rounds the binary64 one: within 0.501 of a unit in the last place. No argument
// gives a NaN: outside the domain a function returns the nearest sensible value, which its comment
// names.
#ifndef CM_BASE_MATHF_H
#define CM_BASE_MATHF_H

#define CM_PI 3.14159265358979323846

// Error at most 3e-16 for |x| <= 1e6, 1e-6 to 2^30; beyond that, and for NaN, the angle counts as
// 0.
double cm_sin(double x);
double cm_cos(double x);
// In [-pi, pi], error at most 6e-16; (0, x >= 0) and NaN give 0 (with the sign of y).
double cm_atan2(double y, double x);
// In [0, pi], error at most 6e-16; |x| > 1 counts as 1, NaN as 1.
double cm_acos(double x);

float cm_atan2f(float y, float x);

#endif
