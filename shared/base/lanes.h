// Arithmetic on CM_LANES floats at once: 1, 4, 8 or 16, from one source. The including file defines
// CM_LANES (and, on x86, turns AVX2 on for 8 and AVX-512 for 16 before the include).
//
// Each lane performs the operations of the scalar form in the same order: no FMA, no estimates of
// reciprocals or roots, and min and max that treat NaN and zeros as (a < b ? a : b) does. So a
// width changes no bit of a result. Vectors are GCC's and Clang's extension: SSE2, AVX2, NEON and
// WebAssembly by the compiler, plain floats elsewhere.
#ifndef CM_BASE_LANES_H
#define CM_BASE_LANES_H

#ifndef CM_LANES
#error "define CM_LANES before including lanes.h"
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

// For what must not become a call, which would pass eight vectors by memory, however large the file
// grows that includes this.
#define CM_LANES_INLINE static inline __attribute__((always_inline))
// Before a loop whose counter is to be a constant in each round. Clang finds that out by itself.
#if defined(__clang__)
#define CM_LANES_UNROLL(rounds)
#else
#define CM_LANES_PRAGMA(text)   _Pragma(#text)
#define CM_LANES_UNROLL(rounds) CM_LANES_PRAGMA(GCC unroll rounds)
#endif

#if CM_LANES == 1

typedef float cm_f;
typedef int32_t cm_mask; // all bits or none

static inline cm_f cm_lanes_set(float x)
{
    return x;
}

static inline cm_mask cm_lanes_greater(cm_f a, cm_f b)
{
    return -(a > b);
}

static inline cm_mask cm_lanes_at_most(cm_f a, cm_f b)
{
    return -(a <= b);
}

// Lanes whose integers are equal.
static inline cm_mask cm_lanes_same(cm_mask a, cm_mask b)
{
    return -(a == b);
}

static inline bool cm_lanes_any(cm_mask mask)
{
    return mask != 0;
}

// Bit i: lane i of the mask is set.
static inline uint32_t cm_lanes_true(cm_mask mask)
{
    return mask != 0;
}

// Bit i: lane i.
static inline cm_mask cm_lanes_bits(uint32_t bits)
{
    return -(cm_mask)(bits & 1u);
}

static inline cm_f cm_lanes_select(cm_mask mask, cm_f a, cm_f b)
{
    return mask ? a : b;
}

static inline cm_mask cm_lanes_pick(cm_mask mask, cm_mask a, cm_mask b)
{
    return mask ? a : b;
}

static inline cm_f cm_lanes_max(cm_f a, cm_f b)
{
    return a > b ? a : b;
}

static inline cm_f cm_lanes_min(cm_f a, cm_f b)
{
    return a < b ? a : b;
}

static inline cm_f cm_lanes_sqrt(cm_f a)
{
    return __builtin_sqrtf(a);
}

#else

typedef float cm_f __attribute__((vector_size(4 * CM_LANES)));
typedef int32_t cm_mask __attribute__((vector_size(4 * CM_LANES)));

static inline cm_f cm_lanes_set(float x)
{
#if CM_LANES == 4
    return (cm_f){x, x, x, x};
#elif CM_LANES == 8
    return (cm_f){x, x, x, x, x, x, x, x};
#else
    return (cm_f){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
#endif
}

static inline cm_mask cm_lanes_greater(cm_f a, cm_f b)
{
    return a > b;
}

static inline cm_mask cm_lanes_at_most(cm_f a, cm_f b)
{
    return a <= b;
}

static inline cm_mask cm_lanes_same(cm_mask a, cm_mask b)
{
    return a == b;
}

static inline bool cm_lanes_any(cm_mask mask)
{
    int64_t halves[CM_LANES / 2], any = 0;
    memcpy(halves, &mask, sizeof halves);
    for (int i = 0; i < CM_LANES / 2; i++) {
        any |= halves[i];
    }
    return any != 0;
}

static inline cm_mask cm_lanes_bits(uint32_t bits)
{
    int32_t b = (int32_t)bits;
    cm_mask each, all = (cm_mask){0} + b;
    for (int i = 0; i < CM_LANES; i++) {
        each[i] = 1 << i;
    }
    return (all & each) == each;
}

// Of the plain form gcc makes three operations where the processor has one.
static inline cm_f cm_lanes_select(cm_mask mask, cm_f a, cm_f b)
{
#if CM_LANES == 8 && (defined(__x86_64__) || defined(__i386__)) && !defined(__clang__)
    return _mm256_blendv_ps(b, a, (cm_f)mask);
#elif CM_LANES == 16 && !defined(__clang__)
    return (cm_f)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)a, (__m512i)b, 0xca);
#elif defined(__wasm_simd128__)
    return (cm_f)wasm_v128_bitselect((v128_t)a, (v128_t)b, (v128_t)mask);
#else
    return (cm_f)(((cm_mask)a & mask) | ((cm_mask)b & ~mask));
#endif
}

// The same of integers.
static inline cm_mask cm_lanes_pick(cm_mask mask, cm_mask a, cm_mask b)
{
    return (cm_mask)cm_lanes_select(mask, (cm_f)a, (cm_f)b);
}

#if defined(__x86_64__) || defined(__i386__)

#if CM_LANES == 4
#define CM_LANES_X86(op) _mm_##op##_ps
#elif CM_LANES == 8
#define CM_LANES_X86(op) _mm256_##op##_ps
#else
#define CM_LANES_X86(op) _mm512_##op##_ps
#endif

// Bit i: lane i of the mask is set.
static inline uint32_t cm_lanes_true(cm_mask mask)
{
#if CM_LANES == 16
    return (uint32_t)_mm512_movepi32_mask((__m512i)mask);
#else
    return (uint32_t)CM_LANES_X86(movemask)((cm_f)mask);
#endif
}

static inline cm_f cm_lanes_max(cm_f a, cm_f b)
{
    return CM_LANES_X86(max)(a, b);
}

static inline cm_f cm_lanes_min(cm_f a, cm_f b)
{
    return CM_LANES_X86(min)(a, b);
}

static inline cm_f cm_lanes_sqrt(cm_f a)
{
    return CM_LANES_X86(sqrt)(a);
}

#elif defined(__wasm_simd128__)

static inline uint32_t cm_lanes_true(cm_mask mask)
{
    return wasm_i32x4_bitmask((v128_t)mask);
}

// The operands are the other way round: pmax(a, b) is (a < b ? b : a).
static inline cm_f cm_lanes_max(cm_f a, cm_f b)
{
    return (cm_f)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
}

static inline cm_f cm_lanes_min(cm_f a, cm_f b)
{
    return (cm_f)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
}

static inline cm_f cm_lanes_sqrt(cm_f a)
{
    return (cm_f)wasm_f32x4_sqrt((v128_t)a);
}

#else

static inline uint32_t cm_lanes_true(cm_mask mask)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < CM_LANES; i++) {
        bits |= (uint32_t)(mask[i] & 1) << i;
    }
    return bits;
}

static inline cm_f cm_lanes_max(cm_f a, cm_f b)
{
    return cm_lanes_select(a > b, a, b);
}

static inline cm_f cm_lanes_min(cm_f a, cm_f b)
{
    return cm_lanes_select(a < b, a, b);
}

static inline cm_f cm_lanes_sqrt(cm_f a)
{
    for (int i = 0; i < CM_LANES; i++) {
        a[i] = __builtin_sqrtf(a[i]);
    }
    return a;
}

#endif
#endif

static inline cm_f cm_lanes_load(const float *from)
{
    cm_f value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void cm_lanes_store(float *to, cm_f value)
{
    memcpy(to, &value, sizeof value);
}

// The least of all lanes, and the greatest; of finite ones.
static inline float cm_lanes_least(cm_f a)
{
    float each[CM_LANES];
    memcpy(each, &a, sizeof each);
    for (int width = CM_LANES / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            each[i] = each[i] < each[i + width] ? each[i] : each[i + width];
        }
    }
    return each[0];
}

static inline float cm_lanes_most(cm_f a)
{
    return -cm_lanes_least(-a);
}

// The bits of each float as an integer.
static inline cm_mask cm_lanes_as_bits(cm_f a)
{
    cm_mask bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static inline cm_f cm_lanes_abs(cm_f a)
{
    return cm_lanes_max(a, -a);
}

// Transposes rows in place.
#if CM_LANES == 4
CM_LANES_INLINE void cm_lanes_transpose(cm_f r[4])
{
    cm_f a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    cm_f b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    cm_f c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    cm_f d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}
#elif CM_LANES == 8
CM_LANES_INLINE void cm_lanes_transpose(cm_f r[8])
{
    cm_f t[8], u[8];
    for (int i = 0; i < 4; i++) {
        t[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        t[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 2; i++) {
        const cm_f *s = t + 4 * i;
        u[4 * i] = __builtin_shufflevector(s[0], s[2], 0, 1, 8, 9, 4, 5, 12, 13);
        u[4 * i + 1] = __builtin_shufflevector(s[0], s[2], 2, 3, 10, 11, 6, 7, 14, 15);
        u[4 * i + 2] = __builtin_shufflevector(s[1], s[3], 0, 1, 8, 9, 4, 5, 12, 13);
        u[4 * i + 3] = __builtin_shufflevector(s[1], s[3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#elif CM_LANES == 16
// Quarters of four lanes: r[0..3] to r[0..3], r[4..7] to r[4..7].
CM_LANES_INLINE void cm_lanes_transpose_quarters(cm_f r[8])
{
    for (int i = 0; i < 8; i += 4) {
        cm_f a = __builtin_shufflevector(r[i], r[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25,
                                         12, 28, 13, 29);
        cm_f b = __builtin_shufflevector(r[i], r[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27,
                                         14, 30, 15, 31);
        cm_f c = __builtin_shufflevector(r[i + 2], r[i + 3], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9,
                                         25, 12, 28, 13, 29);
        cm_f d = __builtin_shufflevector(r[i + 2], r[i + 3], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11,
                                         27, 14, 30, 15, 31);
        r[i] =
            __builtin_shufflevector(a, c, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
        r[i + 1] = __builtin_shufflevector(a, c, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15,
                                           30, 31);
        r[i + 2] =
            __builtin_shufflevector(b, d, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
        r[i + 3] = __builtin_shufflevector(b, d, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15,
                                           30, 31);
    }
}
#endif

// Eight floats of each of CM_LANES rows: out[k] is the k-th float of every row.
CM_LANES_INLINE void cm_lanes_gather(const float *rows, uint32_t stride, const uint32_t *index,
                                     cm_f out[8])
{
#if CM_LANES == 1
    memcpy(out, rows + (size_t)stride * index[0], 8 * sizeof *out);
#elif CM_LANES == 4
    for (int h = 0; h < 2; h++) {
        for (int k = 0; k < 4; k++) {
            out[4 * h + k] = cm_lanes_load(rows + (size_t)stride * index[k] + 4 * h);
        }
        cm_lanes_transpose(out + 4 * h);
    }
#elif CM_LANES == 16
    // Rows k and k + 4 side by side, and k + 8 and k + 12: then quarters are where they belong.
    cm_f r[8];
    for (int k = 0; k < 8; k++) {
        const uint32_t *at = index + (k < 4 ? k : k + 4);
        __m256 low = _mm256_loadu_ps(rows + (size_t)stride * at[0]);
        __m256 high = _mm256_loadu_ps(rows + (size_t)stride * at[4]);
        r[k] = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
    }
    cm_lanes_transpose_quarters(r);
    for (int k = 0; k < 4; k++) {
        out[k] = __builtin_shufflevector(r[k], r[k + 4], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19,
                                         24, 25, 26, 27);
        out[k + 4] = __builtin_shufflevector(r[k], r[k + 4], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22,
                                             23, 28, 29, 30, 31);
    }
#else
    for (int k = 0; k < 8; k++) {
        out[k] = cm_lanes_load(rows + (size_t)stride * index[k]);
    }
    cm_lanes_transpose(out);
#endif
}

// Four floats of each row, likewise.
CM_LANES_INLINE void cm_lanes_gather4(const float *rows, uint32_t stride, const uint32_t *index,
                                      cm_f out[4])
{
#if CM_LANES == 1
    memcpy(out, rows + (size_t)stride * index[0], 4 * sizeof *out);
#elif CM_LANES == 4
    for (int k = 0; k < 4; k++) {
        out[k] = cm_lanes_load(rows + (size_t)stride * index[k]);
    }
    cm_lanes_transpose(out);
#elif CM_LANES == 16
    // Rows k, k + 4, k + 8 and k + 12 side by side: then quarters are where they belong.
    cm_f r[8];
    for (int k = 0; k < 4; k++) {
        const uint32_t *at = index + k;
        __m512 row = _mm512_castps128_ps512(_mm_loadu_ps(rows + (size_t)stride * at[0]));
        row = _mm512_insertf32x4(row, _mm_loadu_ps(rows + (size_t)stride * at[4]), 1);
        row = _mm512_insertf32x4(row, _mm_loadu_ps(rows + (size_t)stride * at[8]), 2);
        r[k] = _mm512_insertf32x4(row, _mm_loadu_ps(rows + (size_t)stride * at[12]), 3);
    }
    memcpy(r + 4, r, 4 * sizeof *r);
    cm_lanes_transpose_quarters(r);
    memcpy(out, r, 4 * sizeof *r);
#else
    // Rows k and k + 4 side by side.
    typedef float quarter __attribute__((vector_size(16)));
    cm_f r[4];
    for (int k = 0; k < 4; k++) {
        quarter low, high;
        memcpy(&low, rows + (size_t)stride * index[k], sizeof low);
        memcpy(&high, rows + (size_t)stride * index[k + 4], sizeof high);
        r[k] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    cm_f a = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13);
    cm_f b = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13);
    cm_f c = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    cm_f d = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    out[1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    out[2] = __builtin_shufflevector(c, d, 0, 1, 8, 9, 4, 5, 12, 13);
    out[3] = __builtin_shufflevector(c, d, 2, 3, 10, 11, 6, 7, 14, 15);
#endif
}

// The reverse; rows named twice must be given equal values.
CM_LANES_INLINE void cm_lanes_scatter(float *rows, uint32_t stride, const uint32_t *index,
                                      cm_f in[8])
{
#if CM_LANES == 1
    memcpy(rows + (size_t)stride * index[0], in, 8 * sizeof *in);
#elif CM_LANES == 4
    for (int h = 0; h < 2; h++) {
        cm_lanes_transpose(in + 4 * h);
        for (int k = 0; k < 4; k++) {
            cm_lanes_store(rows + (size_t)stride * index[k] + 4 * h, in[4 * h + k]);
        }
    }
#elif CM_LANES == 16
    cm_lanes_transpose_quarters(in);
    for (int k = 0; k < 4; k++) { // quarters: of rows k, k + 4, k + 8 and k + 12
        cm_f low = __builtin_shufflevector(in[k], in[k + 4], 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7,
                                           20, 21, 22, 23);
        cm_f high = __builtin_shufflevector(in[k], in[k + 4], 8, 9, 10, 11, 24, 25, 26, 27, 12, 13,
                                            14, 15, 28, 29, 30, 31);
        const uint32_t *at = index + k;
        _mm256_storeu_ps(rows + (size_t)stride * at[0], _mm512_castps512_ps256(low));
        _mm256_storeu_ps(rows + (size_t)stride * at[4], _mm512_extractf32x8_ps(low, 1));
        _mm256_storeu_ps(rows + (size_t)stride * at[8], _mm512_castps512_ps256(high));
        _mm256_storeu_ps(rows + (size_t)stride * at[12], _mm512_extractf32x8_ps(high, 1));
    }
#else
    cm_lanes_transpose(in);
    for (int k = 0; k < 8; k++) {
        cm_lanes_store(rows + (size_t)stride * index[k], in[k]);
    }
#endif
}

// Three numbers a lane --------------------------------------------------------------------------

typedef struct cm_fvec {
    cm_f x, y, z;
} cm_fvec;

static inline cm_fvec cm_fvec_load(const float (*from)[8], uint32_t at)
{
    return (cm_fvec){cm_lanes_load(from[0] + at), cm_lanes_load(from[1] + at),
                     cm_lanes_load(from[2] + at)};
}

static inline void cm_fvec_store(float (*to)[8], uint32_t at, cm_fvec v)
{
    cm_lanes_store(to[0] + at, v.x);
    cm_lanes_store(to[1] + at, v.y);
    cm_lanes_store(to[2] + at, v.z);
}

static inline cm_fvec cm_fvec_set(float x, float y, float z)
{
    return (cm_fvec){cm_lanes_set(x), cm_lanes_set(y), cm_lanes_set(z)};
}

static inline cm_fvec cm_fvec_add(cm_fvec a, cm_fvec b)
{
    return (cm_fvec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline cm_fvec cm_fvec_sub(cm_fvec a, cm_fvec b)
{
    return (cm_fvec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline cm_fvec cm_fvec_scale(cm_f s, cm_fvec a)
{
    return (cm_fvec){s * a.x, s * a.y, s * a.z};
}

static inline cm_f cm_fvec_dot(cm_fvec a, cm_fvec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline cm_fvec cm_fvec_cross(cm_fvec a, cm_fvec b)
{
    return (cm_fvec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// x a + y b + z c
static inline cm_fvec cm_fvec_mix(cm_f x, cm_fvec a, cm_f y, cm_fvec b, cm_f z, cm_fvec c)
{
    return (cm_fvec){x * a.x + y * b.x + z * c.x, x * a.y + y * b.y + z * c.y,
                     x * a.z + y * b.z + z * c.z};
}

// Symmetric: xx, xy, xz, yy, yz, zz.
static inline cm_fvec cm_fsym_mul(const cm_f m[6], cm_fvec v)
{
    return (cm_fvec){m[0] * v.x + m[1] * v.y + m[2] * v.z, m[1] * v.x + m[3] * v.y + m[4] * v.z,
                     m[2] * v.x + m[4] * v.y + m[5] * v.z};
}

#endif
