#include "shared/game/by_malloc.h"

#include <stdlib.h>

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

const carom_allocator cm_by_malloc = {NULL, allocate, release};
