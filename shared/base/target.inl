// The instructions of AVX2 or AVX-512 for the functions of a file that is compiled for 8 or 16
// lanes (CM_LANES, or 8 where that is not defined) and chosen at run time (processor.h). Included
// twice: after the file's own defines, and behind its last function, where clang wants the end of
// it.
//
// The same bits as one lane at a time: FMA is not turned on, and the build forbids contraction;
// but AVX-512 has fused instructions of its own, so the Makefile keeps such files from being
// vectorised unasked.
#if !defined(CM_TARGET_IS_ON)
#define CM_TARGET_IS_ON

// Before the target is on: these turn on what each of their functions needs.
#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(CM_LANES) && CM_LANES == 16
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))),        \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl")
#endif
#elif defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#elif defined(__clang__)
#pragma clang attribute pop
#endif
