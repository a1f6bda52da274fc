// The passes over contacts sixteen lanes at a time, for processors with AVX-512 (chosen at run
// time, soft.c). The same bits as one lane at a time: FMA is not used, and the build forbids
// contraction.
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CM_LANES      16
#define CM_PASS(name) name##_16

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))),        \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl")
#endif

#include "shared/sim/solve/soft/pass.inl"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

typedef int cm_no_sixteen_lanes_here;

#endif
