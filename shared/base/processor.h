// The number of float lanes that this processor computes at once, among the widths that the
// simulation has code for: 16 by AVX-512, 8 by AVX2, else 4, compiled for the baseline instruction
// set. The width changes no bit of a result (lanes.h), only the time it takes, so the choice is not
// part of the state.
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
