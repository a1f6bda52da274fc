// How many lanes of floats this processor computes at once, of those that the simulation has code
// for: 16 by AVX-512, 8 by AVX2, else 4, by whatever the compiler makes of them. A width changes no
// bit of a result (lanes.h), only how long it takes; so what is chosen here is not state.
#ifndef CM_BASE_PROCESSOR_H
#define CM_BASE_PROCESSOR_H

#include <stdint.h>

// The features are those that target.inl turns on.
static inline uint32_t cm_processor_lanes(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        return 16;
    }
#endif
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx2")) {
        return 8;
    }
#endif
    return 4;
}

#endif
