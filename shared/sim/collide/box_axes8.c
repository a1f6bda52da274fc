// The separating axes and faces of eight pairs of boxes at a time, for processors with AVX2 (chosen
// at run time, stages.c).
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CM_LANES 8
#define CM_AXES  cm_box_axes_8
#define CM_FACES cm_box_faces_8

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#include "shared/sim/collide/box_axes.inl"
#include "shared/sim/collide/box_faces.inl"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else

typedef int cm_no_eight_lanes_here;

#endif
