// Memory from an allocator that the caller may have passed, or not. The simulation has none: all
// of it stands in this header, so that its walls see whoever uses it.
#ifndef CM_SHARED_BASE_MEMORY_H
#define CM_SHARED_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "carom/types.h"

static inline void *cm_malloc_take(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static inline void cm_malloc_give(void *context, void *memory)
{
    (void)context;
    free(memory);
}

// The default, used where a caller passes none: malloc and free.
static const carom_allocator cm_by_malloc = {NULL, cm_malloc_take, cm_malloc_give};

// By the allocator; NULL: by malloc. Zeroed, and never of no bytes; NULL without memory.
static inline void *cm_memory_take(const carom_allocator *allocator, size_t size)
{
    allocator = allocator != NULL ? allocator : &cm_by_malloc;
    size = size > 0 ? size : 1;
    void *memory = allocator->allocate(allocator->context, size);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

// Takes back what the same allocator gave, or NULL.
static inline void cm_memory_give(const carom_allocator *allocator, void *memory)
{
    allocator = allocator != NULL ? allocator : &cm_by_malloc;
    if (memory != NULL) {
        allocator->release(allocator->context, memory);
    }
}

#endif
