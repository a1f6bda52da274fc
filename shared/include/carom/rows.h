// Rows of constraints and stiff forces that a game defines, for a world of the lcp solver. Part of
// carom/world.h.
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

// An outside force that a game knows the derivatives of: a scalar along J (above), N on a body's
// `linear`, N m on its `angular`. The force that acts in the step is
//     force + by_position h J v* + by_velocity (J v* - J v),
// v* of the end of the step: implicit Euler of what is linear in its coordinate q (d q / d t = J
// v), solved together with all rows and so never unstable, however stiff; of what is not linear,
// one Newton step of it. A spring between two bodies is one of these; a spring or a drag in space
// is three, along three axes. Where both derivatives are 0 the force is explicit. It must hold
// back: by_position h + by_velocity of 0 or less. Source: JP2003526160A, partly implicit
// integration.
typedef struct carom_force {
    carom_body_id body[3]; // the null id: none; no body twice
    carom_vec3 linear[3];  // J, zeros by default; world axes
    carom_vec3 angular[3];
    float force;       // now, N or N m
    float by_position; // N/m or N m/rad: of a spring -k; 0
    float by_velocity; // N s/m or N m s/rad: of a damper -d; 0
} carom_force;

CAROM_API carom_force carom_default_force(void);

// The callbacks see the world at the start of the step and may change nothing, neither in it nor
// elsewhere: a step may be repeated, on another copy of the world. `rows` finds defaults in its
// rows and returns how many it filled in. While a source has `rows` or `forces`, no body sleeps,
// and those that do wake with the next step: the source is asked in every step and may drive any
// body.
typedef struct carom_row_source {
    void *context;
    void (*start)(void *context, const struct carom_world *world); // first; may be NULL
    uint32_t (*rows)(void *context, const struct carom_world *world, carom_row *rows,
                     uint32_t capacity); // may be NULL
    // Likewise; rows and forces share CAROM_ROWS_MAX, so `capacity` is what the rows left.
    uint32_t (*forces)(void *context, const struct carom_world *world, carom_force *forces,
                       uint32_t capacity); // may be NULL
} carom_row_source;

// The source of a world's own rows and forces; NULL: none. Not part of the state: set it again on a
// world that restores an image. CAROM_ERROR_STATE (`forces` or `rows`, carom_last_error) in a world
// of another solver. A row or force that is not finite, names a body twice or one that is gone, or
// drives itself on, is left out and logged (log.h: LCP_ROW_REFUSED).
CAROM_API carom_result carom_world_set_rows(struct carom_world *world,
                                            const carom_row_source *source);

#ifdef __cplusplus
}
#endif
#endif
