// Seeded random numbers, the same on every machine: for the world's own stream (its two words are
// state) and for virtual networks and tests. Not for secrets.
//
// xorshift128+ (S. Vigna, "Further scramblings of Marsaglia's xorshift generators", 2017; shifts
// 23, 18, 5), seeded through splitmix64, which never leaves both words zero.
#ifndef CM_BASE_RNG_H
#define CM_BASE_RNG_H

#include <stdint.h>

typedef struct cm_rng {
    uint64_t state[2]; // never both zero
} cm_rng;

static inline uint64_t cm_splitmix(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline void cm_rng_seed(cm_rng *rng, uint64_t seed)
{
    rng->state[0] = cm_splitmix(&seed);
    rng->state[1] = cm_splitmix(&seed);
}

static inline uint64_t cm_rng_step(uint64_t state[2])
{
    uint64_t a = state[0];
    uint64_t b = state[1];
    uint64_t sum = a + b;
    state[0] = b;
    a ^= a << 23;
    state[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
    return sum;
}

static inline uint64_t cm_rng_next(cm_rng *rng)
{
    return cm_rng_step(rng->state);
}

// 0 to bound - 1, bound at least 1. By multiplication of the high half: the bias is below 2^-32 x
// bound.
static inline uint32_t cm_rng_below(cm_rng *rng, uint32_t bound)
{
    return (uint32_t)(((cm_rng_next(rng) >> 32) * bound) >> 32);
}

// In [0, 1), a multiple of 2^-53.
static inline double cm_rng_unit(cm_rng *rng)
{
    return (double)(cm_rng_next(rng) >> 11) * (1.0 / 9007199254740992.0);
}

// In [low, high), a multiple of (high - low) 2^-24 before rounding.
static inline float cm_rng_range(cm_rng *rng, float low, float high)
{
    float unit = (float)(cm_rng_next(rng) >> 40) * (1.0f / 16777216.0f);
    return low + (high - low) * unit;
}

#endif
