// Chunks of 64 KiB (or one piece, where that is larger) in a list. Typical: a scene of 400 cubes in
// an array takes two chunks; 5,000 written-out bodies some 10 MB.
#include "shared/scene/pool.h"

#include <string.h>

#include "shared/base/memory.h"

#define CHUNK_SIZE ((size_t)64 << 10)
#define ALIGNMENT  16u

typedef struct cm_pool_chunk {
    struct cm_pool_chunk *next;
    size_t pad;
} cm_pool_chunk;

_Static_assert(sizeof(cm_pool_chunk) % ALIGNMENT == 0 || sizeof(void *) == 4,
               "the first piece follows the chunk's head");

void cm_pool_init(cm_pool *pool, const carom_allocator *allocator)
{
    memset(pool, 0, sizeof *pool);
    bool given = allocator != NULL && allocator->allocate != NULL;
    pool->allocator = given ? *allocator : cm_by_malloc;
}

void *cm_pool_take(cm_pool *pool, size_t size)
{
    if (size > CM_POOL_LIMIT) {
        return NULL;
    }
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > pool->left) {
        size_t head = (sizeof(cm_pool_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        size_t bytes = head + (size > CHUNK_SIZE ? size : CHUNK_SIZE);
        if (bytes > CM_POOL_LIMIT - pool->taken) {
            return NULL;
        }
        cm_pool_chunk *chunk = pool->allocator.allocate(pool->allocator.context, bytes);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->taken += bytes;
        pool->at = (char *)chunk + head;
        pool->left = bytes - head;
    }
    void *memory = pool->at;
    pool->at += size;
    pool->left -= size;
    return memset(memory, 0, size);
}

static void *take(void *context, size_t size)
{
    return cm_pool_take(context, size);
}

static void give(void *context, void *memory)
{
    (void)context;
    (void)memory;
}

carom_allocator cm_pool_allocator(cm_pool *pool)
{
    return (carom_allocator){pool, take, give};
}

char *cm_pool_string(cm_pool *pool, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = cm_pool_take(pool, size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

void cm_pool_release(cm_pool *pool)
{
    while (pool->chunks != NULL) {
        cm_pool_chunk *chunk = pool->chunks;
        pool->chunks = chunk->next;
        pool->allocator.release(pool->allocator.context, chunk);
    }
    pool->at = NULL;
    pool->left = 0;
    pool->taken = 0;
}
