// The passes four lanes at a time: SSE2, NEON, WebAssembly; elsewhere the compiler takes them
// apart. The same bits as one lane at a time.
#include <stddef.h>
#include <string.h>

#define CM_LANES      4
#define CM_PASS(name) name##_4

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "shared/sim/solve/soft/pass.inl"
