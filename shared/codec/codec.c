// A packet: which frames it was coded against, then a walk over the cubes (pass.c).
//
//   OFFSET  SIZE  CONTENT
//   0       1     bit 0: mode; bit 1: the frames are named; bit 2: against nothing; others 0
//   1       6     if named: age of the baseline, then ages of the older frames, by span; ages are
//   in
//                 frames, 1 to 63, and that of a span without an older frame is the baseline's
//   …       …     range coder
// Not named are the frames of a receiver that has them all: 6, 7, 8, 10, 12 and 14 old.
#include "shared/codec/codec.h"

#include <string.h>

#include "shared/codec/models.h"
#include "shared/codec/pass.h"

#define FLAG_MODE  1u
#define FLAG_NAMED 2u
#define FLAG_ALONE 4u
#define USUAL_AGE  6

static const cm_cube NOTHING[CM_CODEC_CUBES];

typedef struct ages {
    uint8_t base, older[CM_PAST_SPANS];
} ages;

const char *cm_codec_reason_text(cm_codec_reason reason)
{
    static const char *const TEXT[CM_CODEC_REASONS] = {
        "well formed",
        "ends within its head",
        "goes on behind its end",
        "mode or ages that there are not",
        "coded against a frame that is not held",
        "a cube outside its ranges",
    };
    return (unsigned)reason < CM_CODEC_REASONS ? TEXT[reason] : "unknown";
}

static ages usual_ages(void)
{
    ages a = {.base = USUAL_AGE};
    for (int k = 0; k < CM_PAST_SPANS; k++) {
        a.older[k] = (uint8_t)(USUAL_AGE + cm_past_span[k]);
    }
    return a;
}

// The frame next to each span, the newer one of two.
static ages choose(const cm_codec_held *held)
{
    ages a = {0};
    for (int age = CM_CODEC_AGES - 1; age > 0; age--) {
        a.base = held->by_age[age] != NULL ? (uint8_t)age : a.base;
    }
    for (int k = 0; k < CM_PAST_SPANS; k++) {
        int want = a.base + cm_past_span[k], best = a.base;
        for (int age = a.base + 1; age < CM_CODEC_AGES && a.base > 0; age++) {
            int off = age < want ? want - age : age - want;
            int now = best < want ? want - best : best - want;
            if (held->by_age[age] != NULL && (best == a.base || off < now)) {
                best = age;
            }
        }
        a.older[k] = (uint8_t)best;
    }
    return a;
}

static bool past_of(const cm_codec_held *held, const ages *a, cm_past *past)
{
    past->base = a->base == 0 ? NOTHING : held->by_age[a->base];
    past->ahead = a->base == 0 ? 1 : a->base;
    for (int k = 0; k < CM_PAST_SPANS; k++) {
        int span = a->older[k] - a->base;
        past->older[k] = a->base == 0 ? NOTHING : held->by_age[a->older[k]];
        past->scale[k] = span == 0 ? 256 : 256 * cm_past_span[k] / span;
        if (past->base == NULL || past->older[k] == NULL) {
            return false;
        }
    }
    return true;
}

size_t cm_codec_encode(cm_codec_mode mode, const cm_codec_held *held, const cm_cube *cubes,
                       uint8_t *bytes, size_t size)
{
    const ages usual = usual_ages(), a = choose(held);
    bool named = a.base != 0 && memcmp(&a, &usual, sizeof a) != 0;
    size_t head = named ? 1 + sizeof a : 1;
    cm_past past;
    cm_range range;
    if (size < head || !past_of(held, &a, &past)) {
        return 0;
    }
    bytes[0] =
        (uint8_t)((uint32_t)mode | (named ? FLAG_NAMED : 0u) | (a.base == 0 ? FLAG_ALONE : 0u));
    if (named) {
        memcpy(bytes + 1, &a, sizeof a);
    }
    cm_range_write_init(&range, bytes + head, size - head);
    // Writing changes no cube.
    (void)cm_pass_run(CM_PASS_WRITE, &cm_codec_models[mode], &past, &range, (cm_cube *)cubes);
    size_t used = cm_range_finish(&range);
    return range.overflow ? 0 : head + used;
}

static cm_codec_reason read_ages(const uint8_t *bytes, size_t size, ages *a, size_t *head)
{
    if (size < 1) {
        return CM_CODEC_SHORT;
    }
    uint32_t flags = bytes[0];
    *a = usual_ages();
    *head = 1;
    if ((flags & ~(FLAG_MODE | FLAG_NAMED | FLAG_ALONE)) != 0 ||
        (flags & (FLAG_NAMED | FLAG_ALONE)) == (FLAG_NAMED | FLAG_ALONE)) {
        return CM_CODEC_HEADER;
    }
    if ((flags & FLAG_ALONE) != 0) {
        memset(a, 0, sizeof *a);
    }
    if ((flags & FLAG_NAMED) != 0) {
        if (size < 1 + sizeof *a) {
            return CM_CODEC_SHORT;
        }
        memcpy(a, bytes + 1, sizeof *a);
        *head = 1 + sizeof *a;
        if (a->base == 0 || a->base >= CM_CODEC_AGES) {
            return CM_CODEC_HEADER;
        }
        for (int k = 0; k < CM_PAST_SPANS; k++) {
            if (a->older[k] < a->base || a->older[k] >= CM_CODEC_AGES) {
                return CM_CODEC_HEADER;
            }
        }
    }
    return CM_CODEC_OK;
}

cm_codec_reason cm_codec_decode(const cm_codec_held *held, const uint8_t *bytes, size_t size,
                                cm_cube *cubes)
{
    ages a;
    size_t head;
    cm_past past;
    cm_range range;
    cm_codec_reason reason = read_ages(bytes, size, &a, &head);
    if (reason != CM_CODEC_OK) {
        return reason;
    }
    if (!past_of(held, &a, &past)) {
        return CM_CODEC_MISSING;
    }
    memcpy(cubes, past.base, CM_CODEC_CUBES * sizeof *cubes);
    cm_range_read_init(&range, bytes + head, size - head);
    bool good =
        cm_pass_run(CM_PASS_READ, &cm_codec_models[bytes[0] & FLAG_MODE], &past, &range, cubes);
    // The coder reads four bytes ahead; zeros at the end are not written.
    if (size - head > range.at) {
        return CM_CODEC_LONG;
    }
    return good ? CM_CODEC_OK : CM_CODEC_RANGE;
}
