// The passes eight lanes at a time, for processors with AVX2 (chosen at run time, soft.c). The same
// bits as one lane at a time: AVX2 is turned on for this file's functions, FMA is not, and the
// build forbids contraction.
#if defined(__x86_64__) || defined(__i386__)

#define CM_LANES      8
#define CM_PASS(name) name##_8

#include "shared/base/target.inl"

#include "shared/sim/solve/soft/pass.inl"

#include "shared/base/target.inl"

#else

typedef int cm_no_eight_lanes_here;

#endif
