// The functions that JavaScript needs beside the public ones of world.h, joint.h, hull.h and
// query.h, which it calls as they are (exports.txt): memory, the table of solvers of a build,
// and the transforms of all bodies in one call. No import: a failed assertion leaves its text and
// traps.
#include "carom/world.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

// Bodies of one carom_world_read_bodies; its states take 12 kB of stack.
#define CHUNK 96

// A row of cw_transforms: 8 floats, so that rows are aligned for four at a time.
typedef struct cw_transform {
    float position[3];
    float there; // 0: the slot is free; 1: awake; 2: asleep; 3: it does not move
    float rotation[4];
} cw_transform;

_Static_assert(sizeof(cw_transform) == 32, "world.ts reads rows of 8 floats");

static const char *failure = "";

void cm_assert_failed(const char *file, int line, const char *condition)
{
    (void)file;
    (void)line;
    failure = condition;
    __builtin_trap();
}

// The condition that stopped the program, "" where none did.
CAROM_API const char *cw_failure(void)
{
    return failure;
}

// wasi-libc compares a byte at a time, and a restore compares most of its image.
int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *left = a, *right = b;
    size_t i = 0;
    for (uint64_t x, y; i + sizeof x <= size; i += sizeof x) {
        memcpy(&x, left + i, sizeof x);
        memcpy(&y, right + i, sizeof y);
        if (x != y) {
            break;
        }
    }
    while (i < size && left[i] == right[i]) {
        i++;
    }
    return i < size ? left[i] - right[i] : 0;
}

// At 64 bytes, as a world and its images want it. NULL: no memory.
CAROM_API void *cw_alloc(size_t size)
{
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

CAROM_API void cw_free(void *memory)
{
    free(memory);
}

static void *hull_allocate(void *context, size_t size)
{
    (void)context;
    return cw_alloc(size);
}

static void hull_release(void *context, void *memory)
{
    (void)context;
    cw_free(memory);
}

// A hull that lives until it is destroyed, NULL: carom_hull_refusal says why.
CAROM_API carom_hull *cw_hull_create(const carom_vec3 *points, uint32_t count)
{
    const carom_allocator allocator = {NULL, hull_allocate, hull_release};
    carom_hull *hull = NULL;
    return carom_hull_create(points, count, &allocator, &hull) == CAROM_OK ? hull : NULL;
}

static cw_transform transform_of(carom_body_id body, const carom_body_state *state)
{
    if (carom_body_id_is_null(body)) {
        return (cw_transform){0};
    }
    bool dynamic = state->type == CAROM_BODY_DYNAMIC;
    bool still = state->type == CAROM_BODY_STATIC;
    return (cw_transform){
        .position = {state->position.x, state->position.y, state->position.z},
        .there = still                      ? 3.0f
                 : dynamic && state->asleep ? 2.0f
                                            : 1.0f,
        .rotation = {state->orientation.x, state->orientation.y, state->orientation.z,
                     state->orientation.w},
    };
}

// A row for each slot of bodies, by the indices of their ids; `capacity` at most. Returns the
// slots.
CAROM_API uint32_t cw_transforms(const carom_world *world, cw_transform *rows, uint32_t capacity)
{
    carom_body_id bodies[CHUNK];
    carom_body_state states[CHUNK];
    uint32_t slots = carom_world_body_slots(world);
    uint32_t wanted = slots < capacity ? slots : capacity;
    for (uint32_t first = 0; first < wanted; first += CHUNK) {
        uint32_t count = wanted - first < CHUNK ? wanted - first : CHUNK;
        carom_world_read_bodies(world, first, count, bodies, states);
        for (uint32_t i = 0; i < count; i++) {
            rows[first + i] = transform_of(bodies[i], &states[i]);
        }
    }
    return slots;
}
