// Memory of one scene: taken piece by piece, given back all at once, bounded in all.
//
// Hostile bytes decide what is taken (a two-byte message may make a struct of 300), so the bound
// stands here and not with each decoder.
#ifndef CM_SCENE_POOL_H
#define CM_SCENE_POOL_H

#include "carom/types.h"

#define CM_POOL_LIMIT ((size_t)256 << 20) // bytes of one scene

typedef struct cm_pool {
    carom_allocator allocator;
    struct cm_pool_chunk *chunks;
    char *at;
    size_t left;
    size_t taken; // bytes, of all chunks
} cm_pool;

// The allocator may be NULL for malloc and free; it is copied.
void cm_pool_init(cm_pool *pool, const carom_allocator *allocator);
// Zeroed memory, aligned for any type; NULL where memory or the bound is at its end.
void *cm_pool_take(cm_pool *pool, size_t size);
// The pool as an allocator, which gives nothing back: the pool goes as one.
carom_allocator cm_pool_allocator(cm_pool *pool);
// A copy of a string; NULL as above.
char *cm_pool_string(cm_pool *pool, const char *text);
void cm_pool_release(cm_pool *pool);

#endif
