// The passes eight lanes at a time, for processors with AVX2 (chosen at run time, soft.c). The same
// bits as one lane at a time: AVX2 is turned on for this file's functions, FMA is not, and the
// build forbids contraction.
#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CM_LANES      8
#define CM_PASS(name) name##_8

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#include "shared/sim/solve/soft/pass.inl"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

typedef int cm_no_eight_lanes_here;

#endif
