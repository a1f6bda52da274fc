// Memory from an allocator that the caller may have passed, or not.
#ifndef CM_SHARED_BASE_MEMORY_H
#define CM_SHARED_BASE_MEMORY_H

#include "carom/types.h"

// The default, used where a caller passes none: malloc and free.
extern const carom_allocator cm_by_malloc;

// By the allocator; NULL: by malloc. Zeroed, and never of no bytes; NULL without memory.
void *cm_memory_take(const carom_allocator *allocator, size_t size);
// Takes back what the same allocator gave, or NULL.
void cm_memory_give(const carom_allocator *allocator, void *memory);

#endif
