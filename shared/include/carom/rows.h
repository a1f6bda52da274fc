// Rows of constraints that a game defines, for a world of the lcp solver. Part of carom/world.h.
//
// A row asks for J v = velocity - gamma error / h with a force (or torque) between lower and upper,
// where J v sums linear . v + angular . w over up to three bodies (v of the centre of mass, world
// axes), and leaves -epsilon h force - slip force of it. It belongs to one step: the source is
// asked at the start of every step.
#ifndef CAROM_ROWS_H
#define CAROM_ROWS_H

#include "carom/id.h"
#include "carom/limits.h"
#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct carom_world;

typedef struct carom_row {
    carom_body_id body[3]; // the null id: none; no body twice
    carom_vec3 linear[3];  // J, zeros by default
    carom_vec3 angular[3];
    float velocity;       // wanted, m/s or rad/s; 0
    float error;          // what J v is the rate of, m or rad; 0
    float lower, upper;   // of the force, N or N m; -infinity, infinity
    float slip;           // m/s for a newton; 0
    float epsilon, gamma; // negative (the default): the solver's
} carom_row;

CAROM_API carom_row carom_default_row(void);

// Both callbacks see the world at the start of the step and may change nothing, neither in it nor
// elsewhere: a step may be repeated, on another copy of the world. `rows` finds defaults in its
// rows and returns how many it filled in.
typedef struct carom_row_source {
    void *context;
    void (*start)(void *context, const struct carom_world *world); // first; may be NULL
    uint32_t (*rows)(void *context, const struct carom_world *world, carom_row *rows,
                     uint32_t capacity);
} carom_row_source;

// The source of a world's own rows; NULL: none. Not part of the state: whoever restores a world
// sets it there too. CAROM_ERROR_STATE in a world of another solver.
CAROM_API carom_result carom_world_set_rows(struct carom_world *world,
                                            const carom_row_source *source);

#ifdef __cplusplus
}
#endif
#endif
