// The passes over contacts sixteen lanes at a time, for processors with AVX-512 (chosen at run
// time, soft.c). The same bits as one lane at a time: FMA is not used, and the build forbids
// contraction.
#if defined(__x86_64__)

#define CM_LANES      16
#define CM_PASS(name) name##_16

#include "shared/base/target.inl"

#include "shared/sim/solve/soft/pass.inl"

#include "shared/base/target.inl"

#else

typedef int cm_no_sixteen_lanes_here;

#endif
