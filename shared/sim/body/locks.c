// The inverse inertia of a body that may not turn about some of the world's axes.
//
// Only free rows and columns count; with one free axis it is 1 / I_kk, with two the inverse of a
// 2x2 matrix. The inertia is positive, so each of these is too: but for rounding of rods a million
// times longer than thick, whose determinant is then held against zero. Typical: no body at all,
// or, in a planar world, all of them, once a tick.
#include "shared/sim/body/locks.h"

cm_sym3 cm_turned_diagonal(const cm_mat3 *r, carom_vec3 d)
{
    carom_vec3 x = cm_scale(d.x, r->x), y = cm_scale(d.y, r->y), z = cm_scale(d.z, r->z);
    cm_sym3 m;
    m.xx = x.x * r->x.x + y.x * r->y.x + z.x * r->z.x;
    m.xy = x.x * r->x.y + y.x * r->y.y + z.x * r->z.y;
    m.xz = x.x * r->x.z + y.x * r->y.z + z.x * r->z.z;
    m.yy = x.y * r->x.y + y.y * r->y.y + z.y * r->z.y;
    m.yz = x.y * r->x.z + y.y * r->y.z + z.y * r->z.z;
    m.zz = x.z * r->x.z + y.z * r->y.z + z.z * r->z.z;
    return m;
}

static float inverse(float x)
{
    return x > 0.0f ? 1.0f / x : 0.0f;
}

// Inverse of [a b; b c] into a, b, c; of what has none, of its diagonal.
static void invert_pair(float *a, float *b, float *c)
{
    float det = *a * *c - *b * *b;
    if (!(det > 0.0f)) {
        *a = inverse(*a);
        *c = inverse(*c);
        *b = 0.0f;
        return;
    }
    float s = 1.0f / det, old = *a;
    *a = s * *c;
    *b = -(s * *b);
    *c = s * old;
}

cm_sym3 cm_locked_inverse(const cm_mat3 *axes, carom_vec3 inertia, uint32_t locks)
{
    bool x = !(locks & CAROM_LOCK_RX), y = !(locks & CAROM_LOCK_RY), z = !(locks & CAROM_LOCK_RZ);
    if (x && y && z) {
        carom_vec3 d = cm_vec(inverse(inertia.x), inverse(inertia.y), inverse(inertia.z));
        return cm_turned_diagonal(axes, d);
    }
    // In units of the largest moment, so that products stay in range.
    float largest = cm_max(inertia.x, cm_max(inertia.y, inertia.z)), s = inverse(largest);
    cm_sym3 m = cm_turned_diagonal(axes, cm_scale(s, inertia));
    cm_sym3 result = {0};
    if (x && y) {
        invert_pair(&m.xx, &m.xy, &m.yy);
        result = (cm_sym3){.xx = s * m.xx, .xy = s * m.xy, .yy = s * m.yy};
    } else if (x && z) {
        invert_pair(&m.xx, &m.xz, &m.zz);
        result = (cm_sym3){.xx = s * m.xx, .xz = s * m.xz, .zz = s * m.zz};
    } else if (y && z) {
        invert_pair(&m.yy, &m.yz, &m.zz);
        result = (cm_sym3){.yy = s * m.yy, .yz = s * m.yz, .zz = s * m.zz};
    } else if (x) {
        result.xx = s * inverse(m.xx);
    } else if (y) {
        result.yy = s * inverse(m.yy);
    } else if (z) {
        result.zz = s * inverse(m.zz);
    }
    return result;
}
