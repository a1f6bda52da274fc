// See spelling.h.
#include "shared/scene/spelling.h"

#include <string.h>

uint32_t cm_spelling_distance(const char *a, const char *b)
{
    uint32_t row[CM_SPELLING_MAX + 1];
    uint32_t length = (uint32_t)strnlen(b, CM_SPELLING_MAX);
    for (uint32_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (uint32_t i = 0; i < CM_SPELLING_MAX && a[i] != '\0'; i++) {
        uint32_t diagonal = row[0];
        row[0] = i + 1;
        for (uint32_t j = 1; j <= length; j++) {
            uint32_t least = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            least = row[j] + 1 < least ? row[j] + 1 : least;
            row[j] = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
        }
    }
    return row[length];
}

bool cm_spelling_is_near(const char *name, const char *known)
{
    uint32_t length = (uint32_t)strnlen(known, CM_SPELLING_MAX);
    return cm_spelling_distance(name, known) <= (length + 2) / 3;
}

const char *cm_spelling_nearest(const char *name, const char *const *names, size_t count,
                                size_t stride)
{
    const char *nearest = "";
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *known = *(const char *const *)((const char *)names + i * stride);
        uint32_t distance = cm_spelling_distance(name, known);
        nearest = distance < least ? known : nearest;
        least = distance < least ? distance : least;
    }
    return count > 0 && cm_spelling_is_near(name, nearest) ? nearest : NULL;
}
