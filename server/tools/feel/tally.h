// A count of errors by their size: buckets by the upper bits of a binary32, 1.6% wide, so that
// millions of errors take 64 KiB and no sorting.
#ifndef CM_SERVER_TOOLS_FEEL_TALLY_H
#define CM_SERVER_TOOLS_FEEL_TALLY_H

#include <stdint.h>
#include <string.h>

#define CM_FEEL_BUCKETS 16384u // a sign of 0, 8 bits of exponent, 6 of the fraction
#define CM_FEEL_SHIFT   17u

typedef struct cm_feel_tally {
    uint64_t count;
    uint32_t buckets[CM_FEEL_BUCKETS];
} cm_feel_tally;

static inline void cm_feel_tally_add(cm_feel_tally *tally, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    tally->buckets[(bits & 0x7fffffffu) >> CM_FEEL_SHIFT]++; // without the sign, of zeros too
    tally->count++;
}

// The least size that `share` of all are not above, to a bucket; 0 for none.
static inline double cm_feel_tally_share(const cm_feel_tally *tally, double share)
{
    uint64_t left = (uint64_t)((double)tally->count * share);
    for (uint32_t i = 0; i < CM_FEEL_BUCKETS && tally->count > 0; i++) {
        if (left < tally->buckets[i]) {
            uint32_t bits = i << CM_FEEL_SHIFT;
            float value;
            memcpy(&value, &bits, sizeof value);
            return (double)value;
        }
        left -= tally->buckets[i];
    }
    return 0.0;
}

#endif
