// Maps more than is needed, and takes the access away from all but zones and state.
#include "server/tools/module/fence.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ZONE 4096u
#define LINE 64u

bool cm_fence_make(cm_fence *fence, size_t state_size, uint32_t line)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = 4 * page + 2 * ZONE + LINE * (CM_FENCE_LINES + 1u) + state_size;
    size = (size + page - 1) / page * page;
    uint8_t *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    size_t next = ((uintptr_t)map + page + ZONE) / LINE + 1;
    size_t ahead = (line + CM_FENCE_LINES - next % CM_FENCE_LINES) % CM_FENCE_LINES;
    uint8_t *state = map + (LINE * (next + ahead) - (uintptr_t)map);
    size_t from = (size_t)(state - map - ZONE) / page * page;
    size_t until = ((size_t)(state - map) + state_size + ZONE + page - 1) / page * page;
    if (mprotect(map + from, until - from, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    *fence = (cm_fence){.state = (uint32_t *)(void *)state,
                        .size = state_size,
                        .first = map + from,
                        .last = map + until,
                        .fill = (uint8_t)(0x51 + 2 * line)};
    memset(fence->first, fence->fill, until - from);
    memset(state, 0, state_size);
    return true;
}

static const uint8_t *find_other(const uint8_t *from, const uint8_t *until, uint8_t fill)
{
    while (from < until && *from == fill) {
        from++;
    }
    return from < until ? from : NULL;
}

bool cm_fence_is_broken(const cm_fence *fence, int64_t *offset)
{
    const uint8_t *state = (const uint8_t *)fence->state;
    const uint8_t *at = find_other(fence->first, state, fence->fill);
    at = at != NULL ? at : find_other(state + fence->size, fence->last, fence->fill);
    *offset = at != NULL ? at - state : 0;
    return at != NULL;
}
