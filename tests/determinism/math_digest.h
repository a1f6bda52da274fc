// A digest of the public mathematics' bits (carom/math.h), the inline part as compiled here: one
// number on every machine, compiler and optimisation.
#ifndef CM_TESTS_DETERMINISM_MATH_DIGEST_H
#define CM_TESTS_DETERMINISM_MATH_DIGEST_H

#include "carom/math.h"
#include "shared/base/hash.h"
#include "shared/base/rng.h"

#define CM_MATH_DIGEST UINT64_C(0x7227cc9870abd4ef)

static inline void cm_math_hash(cm_hash *hash, float value)
{
    union {
        float value;
        uint32_t bits;
    } u = {value};
    cm_hash_u32(hash, u.bits);
}

static inline uint64_t cm_math_digest(void)
{
    cm_rng rng;
    cm_hash hash = cm_hash_begin(1);
    cm_rng_seed(&rng, 77);
    for (uint32_t i = 0; i < 10000; i++) {
        float scale = i % 3 == 0 ? 1.0e3f : 4.0f;
        float a = scale * ((float)cm_rng_unit(&rng) - 0.5f);
        float b = scale * ((float)cm_rng_unit(&rng) - 0.5f);
        float c = (float)cm_rng_unit(&rng);
        carom_vec3 axis, v = carom_vec(a, b, c);
        carom_quat q = carom_quat_of_axis(v, a), p = carom_quat_of_axis(carom_vec(b, c, a), b);
        carom_vec3 r = carom_rotate(carom_quat_normalize(carom_quat_mul(q, p)), v);
        carom_vec3 n = carom_normalize(carom_cross(r, carom_rotate_inverse(p, v)));
        const float values[] = {carom_sin(a),
                                carom_cos(a),
                                carom_atan2(a, b),
                                carom_acos(c),
                                carom_sqrt(c),
                                carom_quat_angle(q, &axis),
                                carom_dot(r, axis),
                                carom_length(r),
                                n.x,
                                n.y,
                                n.z};
        for (uint32_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            cm_math_hash(&hash, values[k]);
        }
    }
    return cm_hash_end(&hash);
}

#endif
