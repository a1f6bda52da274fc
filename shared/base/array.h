// Arrays that grow by doubling, each a pointer and its capacity in a struct of its owner.
#ifndef CM_BASE_ARRAY_H
#define CM_BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Room for `count` items; `items` points to the owner's pointer. False without memory: the array
// stays as it was.
static inline bool cm_array_reserve(void *items, uint32_t *capacity, uint32_t count,
                                    size_t item_size)
{
    if (count <= *capacity) {
        return true;
    }
    uint32_t wanted = *capacity > 0 ? *capacity : 16;
    while (wanted < count) {
        wanted *= 2;
    }
    void *array;
    memcpy(&array, items, sizeof array);
    void *grown = realloc(array, wanted * item_size);
    if (grown == NULL) {
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

#endif
