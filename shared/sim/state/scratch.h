// Arrays that one step hands from stage to stage, and where they lie: plain arrays behind the
// state, sized from the limits, so that a stage never allocates and never overruns. Private to
// shared/sim.
//
// Nothing here outlives a step, but for the events, which may be read until the next call that
// changes the world. Layout: scratch.c.
#ifndef CM_SIM_STATE_SCRATCH_H
#define CM_SIM_STATE_SCRATCH_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

typedef struct cm_aabb {
    carom_vec3 lower, upper;
} cm_aabb;

// World pose of a shape, and what pairs ask of its size: 64 bytes, one cache line.
typedef struct cm_shape_transform {
    carom_vec3 position;
    cm_mat3 rotation;
    const carom_hull *hull;    // of a hull; else NULL
    float reach, inner_radius; // cm_shape_reach, cm_shape_inner_radius
} cm_shape_transform;

// Pairs that there is room for, for each contact: where thin things lie on each other, or many in a
// heap, most are near and do not touch (300 fallen plates of 2 cm: 18,500 pairs, 2,600 contacts).
#define CM_PAIRS_A_CONTACT 8u

// A candidate: the boxes of two shapes overlap, their filters agree, and one body can move.
// Sorted ascending by (shape_a, shape_b), shape_a < shape_b.
typedef struct cm_pair {
    uint32_t shape_a, shape_b;
} cm_pair;

typedef struct cm_manifold_point {
    carom_vec3 anchor_a, anchor_b; // from each centre of mass to the point, world axes
    float separation;              // negative: overlap
    uint32_t feature; // stable while the same features touch; not written where it is recycled
} cm_manifold_point;

// Parallel to the contacts of the state: row i of the manifolds belongs to contact i. Contacts at
// rest (resting.h) have none.
typedef struct cm_manifold {
    carom_vec3 normal; // from a to b
    float friction, restitution;
    // The radius of a surface that rolls under a turn of its body, so that the point of contact
    // does not turn with it; else 0.
    float round_a, round_b;
    float impulse; // N s, sum over the tick and the points: written by the solver
    uint32_t body_a, body_b;
    uint32_t point_count;
    cm_manifold_point points[CM_MANIFOLD_MAX];
} cm_manifold;

#define CM_NO_POINT 0xffu

// The rows of a contact and its points in the step before, by which what is remembered of them
// finds its way.
typedef struct cm_contact_match {
    uint32_t row;                   // of the old rows; CM_NONE: the contact is new
    uint32_t first_point;           // of it, among the old points
    uint8_t point[CM_MANIFOLD_MAX]; // index of the old point; CM_NO_POINT: it is new, or unused
} cm_contact_match;

// The part of a shape in the pairs of a step; a plane is never away.
enum {
    CM_SHAPE_AWAY,   // at rest, and nothing active reaches it: no bounds, no transform
    CM_SHAPE_NEAR,   // at rest
    CM_SHAPE_ACTIVE, // of an active body
};

// The caller's clock, 0 where there is none.
static inline double cm_clock(const carom_world *world)
{
    return world->clock != NULL ? world->clock(world->clock_context) : 0.0;
}

// Adds the seconds since *since to a stage; *since becomes now.
static inline void cm_lap(carom_world *world, double *since, carom_stage stage)
{
    if (world->clock != NULL) {
        double now = world->clock(world->clock_context);
        world->stage_s[stage] += now - *since;
        *since = now;
    }
}

// Scratch of one step; pointers into the image, made anew by every step.
typedef struct cm_scratch {
    cm_aabb *bounds;                // a row a shape slot; rows of free slots are not written
    cm_shape_transform *transforms; // a row a shape slot; of shapes that are not away
    cm_pair *pairs;                 // pair_room rows; a solver with manifolds writes over them
    cm_pair *found;                 // likewise: as they come out of the trees,
    uint32_t *sorted;               // and their second shapes while they are ordered
    uint32_t pair_count, pair_room;
    uint32_t old_contact_count;      // last step's rows (cm_old_rows), once contacts have turned
    cm_contact_match *matches;       // limits.contacts rows, parallel to the contacts
    cm_manifold *manifolds;          // limits.contacts rows
    carom_contact_event *events;     // limits.contacts rows, two kinds share them
    carom_joint_event *joint_events; // limits.joints rows
    carom_sleep_event *sleep_events; // twice limits.bodies rows
    uint8_t *active;                 // a row a body slot: it moves or can be pushed (awake.h)
    uint32_t *awake;                 // slots of the active bodies, ascending
    uint32_t active_count, sleeping_count;
    bool pointers;     // pointers meet what cannot move, too (cm_solver)
    bool thin;         // some placed shape has less than the speculative margin (collide.h)
    bool rubbing;      // some placed shape has rolling or spin friction, or its surface moves
    uint32_t *parents; // a row a body slot: islands
    uint8_t *marks;    // a row a body slot
    uint8_t *rank;     // a row a shape slot: CM_SHAPE_…
    uint32_t round;    // of a solver that takes its substeps apart: which one this is
    uint32_t *joint_partners; // joint/filter.c
    void *broadphase;         // tree nodes, keys
    void *solver;             // the solver's own
    void *hits;               // solve/hits.c
} cm_scratch;

// Bytes that stages ask for beside what follows from the limits; who creates a world asks them.
typedef struct cm_scratch_own {
    size_t joint_filter, broadphase, solver, hits;
    bool pairs_stay; // the solver has no manifolds: it works on the pairs
} cm_scratch_own;

size_t cm_scratch_size(const carom_limits *limits, const cm_scratch_own *own);
void cm_scratch_map(const carom_world *world, cm_scratch *scratch);

// Islands: disjoint sets of body slots. The lower root takes the higher, so a root is the lowest
// slot of its set, and nothing depends on the order of unions.
static inline void cm_islands_begin(uint32_t *parents, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        parents[i] = i;
    }
}

// Lowest slot of the slot's island; shortens the way there.
static inline uint32_t cm_island_root(uint32_t *parents, uint32_t slot)
{
    while (parents[slot] != slot) {
        parents[slot] = parents[parents[slot]];
        slot = parents[slot];
    }
    return slot;
}

static inline void cm_islands_unite(uint32_t *parents, uint32_t a, uint32_t b)
{
    a = cm_island_root(parents, a);
    b = cm_island_root(parents, b);
    if (a < b) {
        parents[b] = a;
    } else {
        parents[a] = b;
    }
}

#endif
