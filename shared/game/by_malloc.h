// The default allocator, used where a caller passes none: malloc and free.
#ifndef CM_SHARED_GAME_BY_MALLOC_H
#define CM_SHARED_GAME_BY_MALLOC_H

#include "carom/types.h"

extern const carom_allocator cm_by_malloc;

#endif
