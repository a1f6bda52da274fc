// The floating-point environment of a step: round to nearest, denormals kept, no traps.
//
// A library linked with -ffast-math turns denormals off for its whole process, and a debugger or a
// game may change rounding. Every call whose arithmetic ends in state enters this environment and
// puts the caller's back. The code between must not be inlined into the caller, or the compiler may
// move arithmetic across the change: such functions are marked CM_FP_BODY.
// Cost: two register writes a call, some 20 cycles.
#ifndef CM_BASE_FPENV_H
#define CM_BASE_FPENV_H

#include <float.h>
#include <stdint.h>

_Static_assert(FLT_EVAL_METHOD == 0, "binary32 must be computed as binary32 (i686: -mfpmath=sse)");
_Static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && FLT_MAX_EXP == 128, "float is binary32");
_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "double is binary64");

#if defined(__FAST_MATH__)
#error "the simulation cannot be built with -ffast-math"
#endif
#if defined(__i386__) && !defined(__SSE2_MATH__)
#error "i686 needs -msse2 -mfpmath=sse: x87 arithmetic gives other bits"
#endif

#define CM_FP_BODY __attribute__((noinline))

typedef uint64_t cm_fpenv; // the caller's control register

#if defined(__x86_64__) || defined(__i386__)

// All exceptions masked, round to nearest, neither FTZ nor DAZ.
static inline cm_fpenv cm_fpenv_enter(void)
{
    cm_fpenv saved = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80u);
    return saved;
}

static inline void cm_fpenv_leave(cm_fpenv saved)
{
    __builtin_ia32_ldmxcsr((unsigned)saved);
}

#elif defined(__aarch64__)

static inline cm_fpenv cm_fpenv_enter(void)
{
    cm_fpenv saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"(UINT64_C(0)) : "memory");
    return saved;
}

static inline void cm_fpenv_leave(cm_fpenv saved)
{
    __asm__ volatile("msr fpcr, %0" ::"r"(saved) : "memory");
}

#elif defined(__arm__)

// FPSCR: the condition flags stay; trap enables, vector length, rounding, FZ and DN go to zero.
static inline cm_fpenv cm_fpenv_enter(void)
{
    uint32_t saved;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(saved)::"memory");
    __asm__ volatile("vmsr fpscr, %0" ::"r"(saved & 0xf0000000u) : "memory");
    return saved;
}

static inline void cm_fpenv_leave(cm_fpenv saved)
{
    __asm__ volatile("vmsr fpscr, %0" ::"r"((uint32_t)saved) : "memory");
}

#elif defined(__riscv)

// RISC-V has no flush-to-zero: only the rounding mode.
static inline cm_fpenv cm_fpenv_enter(void)
{
    unsigned long saved;
    __asm__ volatile("frrm %0" : "=r"(saved)::"memory");
    __asm__ volatile("fsrm %0" ::"r"(0ul) : "memory");
    return saved;
}

static inline void cm_fpenv_leave(cm_fpenv saved)
{
    __asm__ volatile("fsrm %0" ::"r"((unsigned long)saved) : "memory");
}

#elif defined(__s390x__)

// FPC: traps off, round to nearest; there is no flush-to-zero.
static inline cm_fpenv cm_fpenv_enter(void)
{
    uint32_t saved;
    __asm__ volatile("efpc %0" : "=d"(saved)::"memory");
    __asm__ volatile("sfpc %0" ::"d"(0) : "memory");
    return saved;
}

static inline void cm_fpenv_leave(cm_fpenv saved)
{
    __asm__ volatile("sfpc %0" ::"d"((uint32_t)saved) : "memory");
}

#elif defined(__wasm__)

// WebAssembly rounds to nearest and keeps denormals, always.
static inline cm_fpenv cm_fpenv_enter(void)
{
    return 0;
}

static inline void cm_fpenv_leave(cm_fpenv saved)
{
    (void)saved;
}

#else
#error "fpenv.h: say how this architecture sets rounding and denormals"
#endif

#endif
