// The stages of a step and what they hand on. Private to shared/sim.
//
//   wake -> pairs -> collide -> touch -> solve -> break -> sleep -> finish
//
// step.c calls each stage once and passes plain arrays in scratch; stages do not call each other.
// Scratch arrays are sized from the limits, so a stage never allocates and never overruns: a stage
// that would, cuts in canonical order and counts.
//
// Who writes which field of the header and the state: wake, touch and sleep write
// flags, quiet and island of bodies, and stop what falls asleep; pairs counts
// stats.contacts_dropped; collide writes the contacts (all but touching) and stats.contacts,
// stats.points; the solver moves bodies, writes impulses and touching, stats.touching,
// stats.bodies_put_to_rest, the events and event_count, and impulse, force and torque of joints;
// break destroys joints. step.c does the rest: floating-point environment, applied forces cleared,
// tick, stage_s of the whole and of its own stages.
#ifndef CM_SIM_STATE_STAGE_H
#define CM_SIM_STATE_STAGE_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

// Lengths of the contact pipeline, m.
#define CM_LINEAR_SLOP        0.005f
#define CM_SPECULATIVE_MARGIN 0.02f // gap below which a contact exists before it touches

typedef struct cm_aabb {
    carom_vec3 lower, upper;
} cm_aabb;

// World pose of a shape.
typedef struct cm_place {
    carom_vec3 position;
    cm_mat3 rotation;
    const carom_hull *hull; // of a hull; else NULL
} cm_place;

// A candidate: the boxes of two shapes overlap, their filters agree, and one body can move.
// Sorted ascending by (shape_a, shape_b), shape_a < shape_b.
typedef struct cm_pair {
    uint32_t shape_a, shape_b;
} cm_pair;

typedef struct cm_manifold_point {
    carom_vec3 anchor_a, anchor_b; // from each centre of mass to the point, world axes
    float separation;              // negative: overlap
    uint32_t feature;              // stable while the same features touch
} cm_manifold_point;

// Parallel to the contacts of the state: row i of the manifolds belongs to contact i. A contact
// without an active body is kept as it is: its manifold has no points, and body_a is CM_NONE.
typedef struct cm_manifold {
    carom_vec3 normal; // from a to b
    float friction, restitution;
    // Where a surface rolls under a turn of its body, so that the point of contact does not turn
    // with it: the radius; else 0.
    float round_a, round_b;
    float impulse; // N s, sum over the tick and the points: written by the solver
    uint32_t body_a, body_b;
    uint32_t point_count;
    cm_manifold_point points[CM_MANIFOLD_MAX];
} cm_manifold;

// What a shape is to the pairs of a step: without a plane, which is never away.
enum {
    CM_SHAPE_AWAY,   // at rest, and nothing active reaches it: no bounds, no place
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
    cm_aabb *bounds;  // a row a shape slot; rows of free slots are not written
    cm_place *places; // a row a shape slot; of shapes that are not away
    cm_pair *pairs;   // limits.contacts rows
    uint32_t pair_count;
    cm_contact *old_contacts; // last step's (cm_contacts_turn): the merge reads these, writes
                              // the state's
    uint32_t old_contact_count;
    cm_manifold *manifolds;          // limits.contacts rows
    carom_contact_event *events;     // limits.contacts rows, two kinds share them
    carom_joint_event *joint_events; // limits.joints rows
    carom_sleep_event *sleep_events; // twice limits.bodies rows
    uint8_t *active;                 // a row a body slot: it moves or can be pushed (sleep.h)
    uint32_t active_count, sleeping_count;
    bool rubbing;      // some placed shape has rolling or spin friction, or its surface moves
    uint32_t *parents; // a row a body slot: islands
    uint8_t *marks;    // a row a body slot
    uint8_t *rank;     // a row a shape slot: CM_SHAPE_…
    uint32_t *joint_partners; // joint/filter.c: cm_joint_filter_size bytes
    void *broadphase;         // tree nodes, keys: cm_broadphase_scratch_size bytes
    void *solver;             // as much as the world's solver asks for
} cm_scratch;

// The state's contacts become the old ones; the state gets the other rows, which hold anything.
static inline void cm_contacts_turn(carom_world *world, cm_scratch *scratch)
{
    uint32_t old = world->offset.contact;
    scratch->old_contacts = cm_contacts(world);
    scratch->old_contact_count = world->state.contact_count;
    world->offset.contact = world->offset.spare_contact;
    world->offset.spare_contact = old;
}

// Bytes that a stage wants of its own, from the limits alone (a solver's: solve/solver.h).
size_t cm_broadphase_scratch_size(const carom_limits *limits);
size_t cm_joint_filter_size(const carom_limits *limits);

// scratch.c: layout of the scratch region.
size_t cm_scratch_size(const carom_limits *limits, const carom_solver_def *solver);
void cm_scratch_map(const carom_world *world, cm_scratch *scratch);

// broadphase.c: bounds of every live shape, grown by the speculative margin and the tick's motion;
// candidate pairs in canonical order. Contacts above the limit are cut and counted.
void cm_stage_pairs(carom_world *world, cm_scratch *scratch);

// collide.c: a manifold for each pair, merged with the last step's contacts by key and feature id,
// so that impulses persist. Writes the state's contacts and the manifolds.
void cm_stage_collide(carom_world *world, cm_scratch *scratch);
// Contacts that the stage kept as they are and one of whose bodies is active by now get manifolds.
void cm_collide_woken(carom_world *world, cm_scratch *scratch);

// One narrow-phase case: manifold of two shapes at poses given (of shapes, not bodies); points
// within `margin` are reported. Anchors are from each shape's position (the stage makes them
// relative to the centres of mass); bodies, friction and restitution are left to the caller.
// Returns the number of points, at most CM_MANIFOLD_MAX. Pure. A hull has no points here: what it
// looks like stands in its place (cm_collide_places).
uint32_t cm_collide_shapes(const cm_shape *a, carom_vec3 position_a, carom_quat orientation_a,
                           const cm_shape *b, carom_vec3 position_b, carom_quat orientation_b,
                           float margin, cm_manifold *manifold);

// The same on places, as the stages use it.
uint32_t cm_collide_places(const cm_shape *a, const cm_place *place_a, const cm_shape *b,
                           const cm_place *place_b, float margin, cm_manifold *manifold);

// An upper bound of the distance of a shape's points from its place.
static inline float cm_shape_reach(const cm_shape *shape)
{
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return shape->size[0];
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        return shape->size[0] + shape->size[1];
    case CAROM_SHAPE_BOX:
        return shape->size[0] + shape->size[1] + shape->size[2];
    case CAROM_SHAPE_HULL:
        return shape->size[1];
    default: // a plane has no end
        return 1.0e30f;
    }
}

// World pose of a shape into its row of the places (broadphase.c).
void cm_place_shape(const carom_world *world, cm_scratch *scratch, uint32_t slot);

static inline bool cm_shape_rubs(const cm_shape *shape)
{
    carom_vec3 v = shape->surface_velocity;
    return shape->rolling_friction > 0.0f || shape->spin_friction > 0.0f || v.x != 0.0f ||
           v.y != 0.0f || v.z != 0.0f;
}

// World pose of a shape from its body's motion.
static inline void cm_shape_pose(const carom_world *world, const cm_shape *shape,
                                 carom_vec3 *position, carom_quat *orientation)
{
    const cm_motion *motion = cm_motions(world) + shape->body;
    const cm_body *body = cm_bodies(world) + shape->body;
    carom_vec3 local = cm_sub(shape->position, body->center_of_mass);
    *position = cm_add(motion->position, cm_rotate(motion->orientation, local));
    *orientation = cm_quat_mul(motion->orientation, shape->orientation);
}

#endif
