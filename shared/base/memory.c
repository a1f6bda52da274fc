#include "shared/base/memory.h"

#include <stdlib.h>
#include <string.h>

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

void *cm_memory_take(const carom_allocator *allocator, size_t size)
{
    allocator = allocator != NULL ? allocator : &cm_by_malloc;
    size = size > 0 ? size : 1;
    void *memory = allocator->allocate(allocator->context, size);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

void cm_memory_give(const carom_allocator *allocator, void *memory)
{
    allocator = allocator != NULL ? allocator : &cm_by_malloc;
    if (memory != NULL) {
        allocator->release(allocator->context, memory);
    }
}
