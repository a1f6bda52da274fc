// Ids are values: {slot, generation}. A generation starts at 1, so an all-zero id is null. A slot
// that is used again has a higher generation, so an id of something destroyed is found stale.
//
// A new thing takes the lowest free slot: allocation is a function of which slots are in use, with
// no free list whose order would be history.
#ifndef CAROM_ID_H
#define CAROM_ID_H

#include <stdbool.h>
#include <stdint.h>

typedef struct carom_body_id {
    uint32_t index;
    uint32_t generation;
} carom_body_id;

typedef struct carom_shape_id {
    uint32_t index;
    uint32_t generation;
} carom_shape_id;

typedef struct carom_joint_id {
    uint32_t index;
    uint32_t generation;
} carom_joint_id;

static inline bool carom_body_id_is_null(carom_body_id id)
{
    return id.generation == 0;
}

static inline bool carom_body_id_equal(carom_body_id a, carom_body_id b)
{
    return a.index == b.index && a.generation == b.generation;
}

#endif
