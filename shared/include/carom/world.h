// A world: a deterministic rigid-body simulation in one block of memory.
//
// State after tick N is a function of the scene and of the calls made before each step, and of
// nothing else: not of machine, compiler, address, capacity, or how often it was saved and
// restored. A world belongs to one thread at a time. No function here allocates; nothing is global.
//
// The caller owns the memory: ask carom_world_size, allocate (aligned to 64 bytes), create. Then
// add bodies with their shapes, and joints, and step. Each is made from a def: begin with its
// default (carom_default_body_def and so on), change what differs, create. A def is copied; a
// comment on a field gives its unit, its default and its range. Its struct_size is the default's: a
// def that is only zeroed, or that another header made, is refused.
//
//   carom_world_def def = carom_default_world_def();
//   void *memory = aligned_alloc(64, carom_world_size(&def));
//   carom_world *world;
//   if (carom_world_create(&def, memory, carom_world_size(&def), &world) == CAROM_OK) {
//       carom_body_def ball = carom_default_body_def();
//       carom_shape_def sphere = carom_default_shape_def();
//       sphere.radius = 0.1f;
//       carom_body_create(world, &ball, &sphere, 1, NULL);
//       carom_world_step(world);
//   }
//
// Every function checks what it is given and returns a carom_result; a failed call changes nothing,
// and carom_last_error tells which field was refused.
// Numbers: NaN and the infinities are CAROM_ERROR_NOT_FINITE; positions to 1e7 m, velocities to
// 1e6, forces and impulses to 1e15, masses from 1e-15 to 1e15, sizes of shapes from 1e-5 to 1e6 m,
// and quaternions and normals within 1e-2 of unit length (they are normalised); else
// CAROM_ERROR_ARGUMENT. limits.h has these numbers and every other limit by name.
#ifndef CAROM_WORLD_H
#define CAROM_WORLD_H

#include "carom/hull.h"
#include "carom/id.h"
#include "carom/joint.h"
#include "carom/limits.h"
#include "carom/log.h"
#include "carom/rows.h"
#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_world carom_world;

typedef enum carom_body_type {
    CAROM_BODY_STATIC = 0,    ///< never moves
    CAROM_BODY_KINEMATIC = 1, ///< moves as its velocity says, whatever is in the way
    CAROM_BODY_DYNAMIC = 2,   ///< obeys forces, contacts and joints
} carom_body_type;
CAROM_ENUM_32(carom_body_type);

typedef enum carom_shape_type {
    CAROM_SHAPE_SPHERE = 0,  ///< the cheapest
    CAROM_SHAPE_CAPSULE = 1, ///< axis y
    CAROM_SHAPE_BOX = 2,     ///< axes x, y, z
    CAROM_SHAPE_PLANE =
        3, ///< static bodies only: the half-space below normal . x = offset is solid
    CAROM_SHAPE_CYLINDER = 4, ///< axis y
    CAROM_SHAPE_HULL = 5,     ///< one of the world's hulls (hull.h)
} carom_shape_type;
CAROM_ENUM_32(carom_shape_type);

typedef enum carom_combine {
    CAROM_COMBINE_PRODUCT = 0, ///< a b
    CAROM_COMBINE_AVERAGE,     ///< (a + b) / 2
    CAROM_COMBINE_GEOMETRIC,   ///< the root of a b
    CAROM_COMBINE_MIN,         ///< the smaller one
    CAROM_COMBINE_MAX,         ///< the larger one
} carom_combine;
CAROM_ENUM_32(carom_combine);

/// Methods of simulation; sources, laws and units: the READMEs in shared/sim/solve.
typedef enum carom_solver_type {
    CAROM_SOLVER_SOFT = 0,    ///< crowds: soft constraints in substeps
    CAROM_SOLVER_IMPULSE = 1, ///< billiards and teaching: one collision a pair and tick
    CAROM_SOLVER_LCP = 2,     ///< mechanisms that must not stretch: a boxed LCP, solved directly
    CAROM_SOLVER_VOLUME = 3,  ///< touch at 1 kHz: springs over the volume of intersection
} carom_solver_type;
CAROM_ENUM_32(carom_solver_type);

typedef enum carom_impulse_model {
    CAROM_IMPULSE_INTERPOLATED = 0, ///< friction and restitution interpolate four corner cases
    CAROM_IMPULSE_NORMAL = 1,       ///< along the normal alone, with rotation
    CAROM_IMPULSE_CIRCLE = 2,       ///< circles in the plane, without rotation
} carom_impulse_model;
CAROM_ENUM_32(carom_impulse_model);

/// The free turn of a body that nothing touches, for the impulse and the lcp solver.
typedef enum carom_rotation {
    CAROM_ROTATION_MOMENTUM = 0,       ///< its angular momentum stays, and its energy to 1e-5
    CAROM_ROTATION_CONSTANT_SPIN = 1,  ///< impulse: its angular velocity stays, as in the sources
    CAROM_ROTATION_QUASI_IMPLICIT = 2, ///< lcp: the source's explicit rotational force
} carom_rotation;
CAROM_ENUM_32(carom_rotation);

/// The way in which a step of the lcp solver moves what joints hold.
typedef enum carom_integration {
    CAROM_INTEGRATION_SOURCE = 0, ///< the source's: joints damp what swings, the more the faster
    CAROM_INTEGRATION_ENERGY = 1, ///< what nothing touches keeps its energy: pendulums swing on
} carom_integration;
CAROM_ENUM_32(carom_integration);

typedef enum carom_friction_model {
    CAROM_FRICTION_BOX_ESTIMATED = 0, ///< limits from the last normal forces
    CAROM_FRICTION_BOX_CONSTANT = 1,  ///< limits given
    CAROM_FRICTION_PYRAMID = 2,       ///< four sides, in the pivoting itself
    CAROM_FRICTION_CONE = 3,          ///< as box_estimated, in a circle instead of a square
} carom_friction_model;
CAROM_ENUM_32(carom_friction_model);

typedef enum carom_volume_contact {
    CAROM_VOLUME_INTERSECTION = 0,  ///< over the volume that both share
    CAROM_VOLUME_DEEPEST_POINT = 1, ///< one vertex: the comparison of the source
} carom_volume_contact;
CAROM_ENUM_32(carom_volume_contact);

/// Friction of a shape's contacts, for the lcp solver.
typedef enum carom_contact_mode {
    CAROM_CONTACT_2D = 0,   ///< both tangents
    CAROM_CONTACT_1D = 1,   ///< along an axis alone
    CAROM_CONTACT_NONE = 2, ///< not at all
    CAROM_CONTACT_TYRE = 3, ///< along the rolling direction, with slip across it
} carom_contact_mode;
CAROM_ENUM_32(carom_contact_mode);

/// Room for what the world may hold. Not part of the state: an image moves between capacities.
typedef struct carom_limits {
    /// The memory of a world grows with each, and so does the largest save; a step does not. Beyond
    /// bodies, shapes and joints a create is refused (CAROM_ERROR_LIMIT_…).
    uint32_t bodies;
    uint32_t shapes; ///< likewise; a body may have several
    uint32_t joints; ///< likewise
    /// Shape pairs that touch, or nearly. Too few let things fall through each other: what is
    /// beyond is left out in each step and counted (log.h). Eight a body do for piles of boxes.
    /// Pairs whose boxes meet, as of plates that stand aslant, may be eight times as many (volume:
    /// as many).
    uint32_t contacts;
} carom_limits;

/// Each solver has a def of its own below; a world follows the one that `type` names.
///
/// Substeps divide a tick: gravity, forces, contacts and joints act in each, and the hash, events
/// and reported forces are those of the whole tick. 1 to 64.

/// `soft`, for crowds: contacts are soft constraints (a spring of 30 Hz and more, made stiffer by
/// substeps), warm-started and relaxed. It takes every shape, joint and surface that there is.
typedef struct carom_soft_def {
    /// 0, the default: 4, and 8 or 16 where something small lies flat on what moves, or something
    /// much heavier does, what is thin bears much, or ticks are slow. Else 1 to 64, each a pass
    /// over all contacts: with twice as many a chain bears four times the load, contacts stay as
    /// stiff; with fewer both sway.
    uint32_t substeps;
    /// m/s; 1, 0 to 1e6: what meets slower does not part. Higher, things stop bouncing earlier;
    /// lower, they hop for longer before they rest.
    float restitution_threshold;
} carom_soft_def;

/// `impulse`, for billiards and teaching: each pair that approaches collides at one point, by a
/// closed formula (impact.h has it as a function), in rounds until none approaches. Frictions are
/// fractions of sticking, 0 to 1; coefficients combine by product; there are no joints.
typedef struct carom_impulse_def {
    /// 1, to 64. More see collisions earlier and let fast bodies overlap less.
    uint32_t substeps;
    /// Interpolated. `normal` ignores friction, `circle` rotation too: faster, for billiards that
    /// do not spin.
    carom_impulse_model model;
    /// Momentum; or constant_spin, the source's, which is exact for balls alone.
    carom_rotation rotation;
    /// m; the circle model's source rounds gaps to whole pixels, this is the width of one. Wider,
    /// circles stop further apart and shake less. 0, the default, does not round.
    float pixel;
    /// m/s; 0, the default: all that meet part at their restitution. What meets slower does not
    /// part: higher, what bounces comes to rest sooner.
    float restitution_threshold;
} carom_impulse_def;

/// `lcp`, for mechanisms that must not stretch: all rows of an island (contacts, joints, what a
/// game adds through rows.h) are one boxed linear complementarity problem, solved directly (lcp.h).
/// Restitution is ignored. Bodies, joints and shapes may override epsilon, gamma and friction.
typedef struct carom_lcp_def {
    /// 0, the default: 1, and up to 16 where much hangs on light bodies, 4 at least with the
    /// integration `energy`. Else 1 to 64: more bear heavier loads and damp less, each at a solve's
    /// price.
    uint32_t substeps;
    /// 1/kg, softness on the diagonal; 1e-4, 0 to 1e3. Higher, contacts and joints yield more under
    /// load (by epsilon h^2 F / gamma) and the solve is steadier; at 0 what is held twice has no
    /// unique force.
    float epsilon;
    /// Share of an error taken back in a step; 0.2, 0 to 1. Higher pulls together sooner, with more
    /// speed, which is energy gained; at 0 what has come apart stays so.
    float gamma;
    /// Momentum; or quasi_implicit, the source's, which gains or loses energy as a body tumbles.
    carom_rotation rotation;
    /// Projection, the source's: joints damp what swings, the more the faster. `energy` keeps what
    /// nothing touches swinging, at the price of four substeps.
    carom_integration integration;
    /// Box_estimated. `cone` is the same in every direction at the price of four rounds,
    /// `pyramid` exact in the pivoting for few contacts, box_constant for given limits.
    carom_friction_model friction_model;
    /// Estimates of friction in a step; 1, 1 to 1000. More hold steep slopes and stacks better,
    /// each at the price of a solve; with one, friction lags a step behind the normal force.
    uint32_t rounds;
    /// N a contact point, of box_constant; 0, the default, is no friction.
    float max_friction;
    /// Rows above which an island is solved iteratively; 256, to 2048. A direct solve is exact, at
    /// a price that grows faster than its rows; an iterative one stretches where masses differ
    /// much.
    uint32_t direct_rows;
} carom_lcp_def;

/// `volume`, for touch at 1 kHz: contacts are springs and dampers over the volume in which two
/// convex pieces intersect, integrated in as many substeps as keep them stable. Restitution is
/// ignored; there are no joints. Stiffness and damping are per volume; with the deepest-point
/// contact (one vertex: the comparison of the source) they are N/m and N s/m.
typedef struct carom_volume_def {
    /// 0, the default: as many as stay stable. Else 1 to 64: too few for the stiffness, and what
    /// touches hums or flies.
    uint32_t substeps;
    /// Intersection. The deepest point jumps from corner to corner, so flat things rock on it.
    carom_volume_contact contact;
    /// N/m^3 and N s/m^3; negative, the default: derived for each contact (carom/volume.h). Stiffer
    /// sinks less and takes more substeps; more damping rebounds less, up to the substep's limit.
    float stiffness, damping;
    /// Of the static friction's spring; negative, the default: as along the normal. Softer, what
    /// sticks gives way further before it slides.
    float tangent_stiffness, tangent_damping;
    /// Negative, the default: the surfaces' own, for every contact else.
    float friction_kinetic;
    /// Negative, the default: 1.2 times the kinetic one. A larger gap between the two sticks and
    /// slips in jerks; equal ones slide evenly.
    float friction_static;
    /// Of round shapes; 16, 3 to 256. More roll more smoothly, at a price in every contact.
    uint32_t segments;
} carom_volume_def;

/// The solver that a world runs, and the numbers of each. The defs of the others are not read, so
/// that a scene can be tried with one solver after another by changing `type` alone.
typedef struct carom_solver_def {
    carom_solver_type type;    ///< soft
    carom_soft_def soft;       ///< read where type is soft
    carom_impulse_def impulse; ///< likewise
    carom_lcp_def lcp;         ///< likewise
    carom_volume_def volume;   ///< likewise
} carom_solver_def;

/// A world as it is made: how much it may hold, how fast it ticks, and which solver moves it.
/// Bodies, joints and pair rules come later, one by one. Limits and hulls belong to this world
/// alone; the rest is state, and a restored or decoded image brings its own, except that its solver
/// must be of the same type.
typedef struct carom_world_def {
    uint32_t struct_size; ///< set by carom_default_world_def; another size is refused
    /// Most that may be there at once.
    carom_limits limits;
    /// Ticks a second, 1 to 1000; 60. More are stiffer and see fast things earlier, at the price of
    /// as many more steps, hashes and packets; fewer let fast things pass through thin ones.
    uint32_t tick_rate;
    /// m/s^2. Ten times as much asks ten times as much of stacks and chains: they sink further.
    carom_vec3 gravity;
    /// Product. The rule decides alone: with `min` one slippery surface is enough to slide, with
    /// `max` one rough one to hold.
    carom_combine friction_combine;
    /// Product: what bounces needs a floor that bounces; with `max` the ball alone says so.
    carom_combine restitution_combine;
    carom_solver_def solver; ///< soft; it cannot be changed later
    /// Bodies at rest may sleep; true. False, every body costs in every tick.
    bool sleep;
    /// False. Dynamic bodies move in x-y and turn about z alone, and keep the z that they start at.
    /// Their masses are those of the sheet where the plane z = 0 through the body's origin cuts it,
    /// as it is turned when created; density is then in kg/m^2.
    bool planar;
    /// Of the world's random numbers: another seed, another course of a game that asks for them.
    uint64_t seed;
    /// m/s: pairs that meet as fast or faster are reported (carom_world_hit_events); lower, more
    /// of them. 0: none are, and nothing is spent on it. Changes no step.
    float hit_speed;
    /// The hulls that its shapes may be, in ascending order of their ids (carom_hull_sort). The
    /// array and the hulls must outlive the world; neither is part of its state.
    const carom_hull *const *hulls;
    uint32_t hull_count; ///< 0: its shapes may be no hulls
    /// The place where carom_world_create tells what it refused; NULL: nowhere. Not kept.
    carom_error *error;
} carom_world_def;

/// 60 ticks a second, gravity (0, -9.81, 0), soft solver, product rules,
/// limits 64 bodies, 64 shapes, 64 joints, 512 contacts.
CAROM_API carom_world_def carom_default_world_def(void);

/// Bytes that a world of these limits needs, or 0 where a limit is above its maximum.
CAROM_API size_t carom_world_size(const carom_world_def *def);

/// Builds a world in memory of at least carom_world_size bytes, 64-byte aligned.
CAROM_API carom_result carom_world_create(const carom_world_def *def, void *memory, size_t size,
                                          carom_world **world);

/// The last call on this world that failed, of those that create or change something (those that
/// only read tell nothing here). All zeros before the first. It is of this process, not state: a
/// module whose rules read it does not replay.
CAROM_API carom_error carom_last_error(const carom_world *world);

/// One tick. Never fails: a body whose state would become non-finite is put to rest where it was;
/// contacts above the limit are left out in canonical order. Both are counted and told (log.h).
CAROM_API void carom_world_step(carom_world *world);

CAROM_API uint64_t carom_world_tick(const carom_world *world);
/// For a mirror of another world: the tick that this one believes in.
CAROM_API void carom_world_set_tick(carom_world *world, uint64_t tick);
CAROM_API uint32_t carom_world_tick_rate(const carom_world *world);
CAROM_API carom_vec3 carom_world_gravity(const carom_world *world);
/// Components within 1e6 m/s^2; what sleeps wakes. State; it travels with images and frames.
CAROM_API carom_result carom_world_set_gravity(carom_world *world, carom_vec3 gravity);
/// epsilon (1/kg, 0 or more) and gamma (0 to 1) of the lcp solver, as in carom_solver_def: of rows
/// whose body or joint has none of its own. State; what sleeps wakes. STATE for other solvers.
CAROM_API carom_result carom_world_set_softness(carom_world *world, float epsilon, float gamma);
CAROM_API carom_limits carom_world_limits(const carom_world *world);

/// A hash of everything that can change the future, over values: equal on every architecture.
/// It costs what changed since the last call: most of it for what moves, nothing for what rests.
CAROM_API uint64_t carom_world_hash(const carom_world *world);

/// Save and restore: the fast local form (same build, same architecture), the used part of the
/// state. carom_world_save_size tells the bytes of a save now; save_bound the most at these limits.
/// restore takes images of worlds with other limits as long as the contents fit. CAROM_ERROR_STATE:
/// the image is of a world of another solver; so it is with decode.
CAROM_API size_t carom_world_save_size(const carom_world *world);
CAROM_API size_t carom_world_save_bound(const carom_world *world);
CAROM_API size_t carom_world_save(const carom_world *world, void *image, size_t size);
CAROM_API carom_result carom_world_restore(carom_world *world, const void *image, size_t size);

/// Encode and decode: the portable form (little-endian fields in the order of fields.def), for
/// joins, keyframes and other architectures. decode checks every value and index: bytes may be
/// hostile.
CAROM_API size_t carom_world_encode_size(const carom_world *world);
CAROM_API size_t carom_world_encode(const carom_world *world, void *bytes, size_t size);
CAROM_API carom_result carom_world_decode(carom_world *world, const void *bytes, size_t size);

/// One body with its shapes in the portable form, and placing it, under the same ids, in another
/// world (a client's mirror of the server's). A body that lived in the slot is destroyed first; the
/// same body (of that generation) is replaced and keeps its joints.
CAROM_API size_t carom_world_encode_body(const carom_world *world, carom_body_id body, void *bytes,
                                         size_t size);
CAROM_API carom_result carom_world_decode_body(carom_world *world, const void *bytes, size_t size,
                                               carom_body_id *body);

/// Settings of a world that no body has: gravity, softness, and the joints of these slots
/// (ascending, below the limit; an empty slot, or one above carom_world_joint_slots, tells that its
/// joint is gone), and putting that into another world, where joints of bodies that it does not
/// have are left out. encode returns the bytes, or 0 where they are too few.
CAROM_API size_t carom_world_encode_settings(const carom_world *world, const uint32_t *joints,
                                             uint32_t count, void *bytes, size_t size);
CAROM_API carom_result carom_world_decode_settings(carom_world *world, const void *bytes,
                                                   size_t size);

/// A pseudo-random number from the world's own state (saved, hashed, rewound with it).
CAROM_API uint64_t carom_world_random(carom_world *world);

// Bodies -------------------------------------------------------------------------------------

#define CAROM_NO_PLAYER UINT32_MAX

enum {
    CAROM_LOCK_X = 1,
    CAROM_LOCK_Y = 2,
    CAROM_LOCK_Z = 4,
    CAROM_LOCK_RX = 8,
    CAROM_LOCK_RY = 16,
    CAROM_LOCK_RZ = 32,
};

/// A body as it is made. A static one never moves, a kinematic one moves as its velocity says and
/// feels nothing, a dynamic one obeys forces, contacts and joints. A body has an origin, which its
/// shapes and its pose are given by, and a centre of mass, which its velocity and forces are given
/// by; the two are one point unless the shapes or `center_of_mass` say otherwise. Mass follows from
/// the shapes unless it is given.
typedef struct carom_body_def {
    uint32_t struct_size;        ///< set by carom_default_body_def; another size is refused
    carom_body_type type;        ///< dynamic
    carom_vec3 position;         ///< of the body's origin, m
    carom_quat orientation;      ///< identity
    carom_vec3 linear_velocity;  ///< of the centre of mass, m/s
    carom_vec3 angular_velocity; ///< rad/s
    carom_vec3 force;            ///< held until changed, at the centre of mass, N
    carom_vec3 torque;           ///< N m
    /// 1. 0 floats, below 0 it rises; above 1 it weighs more but falls on others no heavier.
    float gravity_scale;
    /// 1/s; 0. The share of its speed that it loses a second: higher, it falls slower, at g / c at
    /// most.
    float linear_damping;
    float angular_damping; ///< likewise of its spin; 0
    uint64_t user_data;    ///< the game's own: saved, hashed, sent to clients; no step reads it
    /// CAROM_LOCK_…, of world axes, while dynamic: a step takes the velocity there away, and what
    /// pushes that way does nothing.
    uint32_t axis_locks;
    bool bullet; ///< true is refused, NOT_BUILT: continuous collision is still to come
    /// May sleep; true. False keeps all that it touches awake, at its price in each tick.
    bool sleep;
    bool report_force; ///< wants contact_force and contact_torque
    /// A game remembers where it was (carom_world_query_seen), of CAROM_HISTORY_BODIES_MAX at most:
    /// CAROM_ERROR_LIMIT_BODIES; false.
    bool history;
    uint32_t pointer;     ///< player whose input moves it (kinematic); CAROM_NO_PLAYER: none
    float epsilon, gamma; ///< lcp, of its contacts; negative: the solver's

    /// Mass. Each override that is not set comes from the shapes' densities. Where all densities
    /// are 0 and a mass is given, it is spread evenly over the shapes' volumes.
    bool has_mass, has_inertia, has_center_of_mass;
    float mass;         ///< kg; alone it scales the inertia of the shapes
    carom_vec3 inertia; ///< kg m^2, about the centre of mass, in the axes of inertia_orientation
    carom_quat inertia_orientation; ///< identity
    carom_vec3 center_of_mass;      ///< in the body; the shapes' inertia is taken about it
} carom_body_def;

/// A shape of a body as it is made: where it lies in the body, its own dimensions (those of the
/// other types are not read), what it is made of, and what it collides with. Two shapes collide
/// where each one's category is in the other's mask; an equal group that is not 0 decides instead,
/// positive always, negative never. The shapes of one body do not collide with each other.
typedef struct carom_shape_def {
    uint32_t struct_size;    ///< set by carom_default_shape_def; another size is refused
    carom_shape_type type;   ///< sphere
    carom_vec3 position;     ///< in the body
    carom_quat orientation;  ///< in the body
    float radius;            ///< sphere, capsule, cylinder
    float half_height;       ///< capsule: half the segment, above 0; cylinder: half its height
    carom_vec3 half_extents; ///< box
    carom_vec3 normal;       ///< plane
    float offset;            ///< plane
    const carom_hull *hull;  ///< hull: one that the world knows, else CAROM_ERROR_NOT_FOUND
    /// 0.8; 0 to 1000. Holds on slopes whose tangent is below it (combined with the other's).
    float friction;
    /// 0; 0 to 1. Share of the speed that a blow gives back; near 1, piles take long to rest.
    float restitution;
    /// kg/m^3; 1000, 0 to 1e9. A load of many times what bears it costs substeps (soft)
    /// or sinks in.
    float density;
    uint32_t category; ///< 1
    uint32_t mask;     ///< all ones
    int32_t group;     ///< 0
    uint32_t material; ///< the scene's material, 0 for none; for pair rules
    bool sensor;       ///< reports what overlaps it and pushes nothing
    /// Torques against rolling and against spinning about the normal (soft), at most coefficient x
    /// radius x normal force; of the two coefficients the larger counts. The radius is the larger
    /// one of the spheres, capsules and cylinders in contact; where neither is round, that of the
    /// smaller ball that fits into one. So a ball stays on slopes whose tangent is below its
    /// coefficient.
    float rolling_friction;      ///< 0 to 1000
    float spin_friction;         ///< 0 to 1000
    carom_vec3 surface_velocity; ///< of the surface against the shape, in its axes, m/s: a conveyor
    /// lcp
    carom_contact_mode contact_mode;
    carom_vec3 contact_axis; ///< in the shape; of the modes 1D and tyre. Zero: none
    float contact_slip;      ///< m/s for a newton
    float contact_max_force; ///< N a tangent; 0: as the friction model says
    /// Of a tyre, whose hub moves at a speed u along its rolling direction: it slips across by
    /// (contact_slip + contact_slip_by_speed |u|) F under a side force F, so contact_slip_by_speed
    /// (rad/N) is the slip angle for a newton, one over the cornering stiffness. The side force
    /// acts contact_trail (m; the pneumatic trail) behind the contact as the hub moves, in full
    /// above 1 m/s, in proportion to u below: it turns a steered wheel straight.
    float contact_slip_by_speed, contact_trail;
} carom_shape_def;

CAROM_API carom_body_def carom_default_body_def(void);
CAROM_API carom_shape_def carom_default_shape_def(void);

/// Creates a body with all its shapes at once, since mass follows from them. A dynamic body without
/// mass (no shapes, or none with volume, and no overrides) is CAROM_ERROR_ARGUMENT, and so is a
/// static one that has a velocity. `body` may be NULL.
CAROM_API carom_result carom_body_create(carom_world *world, const carom_body_def *def,
                                         const carom_shape_def *shapes, uint32_t shape_count,
                                         carom_body_id *body);
CAROM_API carom_result carom_body_destroy(carom_world *world, carom_body_id body);
CAROM_API bool carom_body_is_valid(const carom_world *world, carom_body_id body);

/// Slots in use lie below this count; a slot may be free (carom_world_body_at gives the null id).
CAROM_API uint32_t carom_world_body_slots(const carom_world *world);
CAROM_API carom_body_id carom_world_body_at(const carom_world *world, uint32_t slot);

/// A body as it is after the last step.
typedef struct carom_body_state {
    carom_body_type type;        ///< as it is now (carom_body_set_type)
    bool asleep;                 ///< no step moves it until something wakes it
    carom_vec3 position;         ///< m, of the body's origin
    carom_quat orientation;      ///< from the body's axes to the world's
    carom_vec3 linear_velocity;  ///< m/s, of the centre of mass
    carom_vec3 angular_velocity; ///< rad/s, in world axes
    carom_vec3 center_of_mass;   ///< in world axes and place
    float mass;                  ///< kg; 0 for static and kinematic bodies
    uint64_t user_data;          ///< as given
    /// Force and torque of its contacts, mean over the last tick, about the centre of mass, in
    /// world axes: of a body that reports forces or is a pointer, else zero.
    carom_vec3 contact_force, contact_torque;
} carom_body_state;

CAROM_API carom_result carom_body_get(const carom_world *world, carom_body_id body,
                                      carom_body_state *state);
/// The same of the bodies in `count` slots from `first` on, in one call: arrays of `count` each. A
/// slot where nothing lives, or beyond those in use, gets the null id and a state of zeros. Returns
/// how many bodies there are among them.
CAROM_API uint32_t carom_world_read_bodies(const carom_world *world, uint32_t first, uint32_t count,
                                           carom_body_id *bodies, carom_body_state *states);
/// A def of the body as it is now, with mass, inertia and centre of mass given: it and the defs of
/// its shapes (carom_shape_get) make the same body again, awake. What was applied for the next tick
/// alone is not in it.
CAROM_API carom_result carom_body_get_def(const carom_world *world, carom_body_id body,
                                          carom_body_def *def);
/// True if its def said `history`; false of a body that is not there.
CAROM_API bool carom_body_has_history(const carom_world *world, carom_body_id body);
/// The player whose input moves it, or CAROM_NO_PLAYER, also of a body that is not there.
CAROM_API uint32_t carom_body_pointer(const carom_world *world, carom_body_id body);

/// Poses and velocities. A pose moves the body's origin; it is a teleport, not a motion.
CAROM_API carom_result carom_body_set_pose(carom_world *world, carom_body_id body,
                                           carom_vec3 position, carom_quat orientation);
/// A static body has no velocity: one other than zero is CAROM_ERROR_STATE.
CAROM_API carom_result carom_body_set_velocity(carom_world *world, carom_body_id body,
                                               carom_vec3 linear, carom_vec3 angular);
/// Forces and impulses on a body that is not dynamic are accepted and do nothing.
/// Constant force and torque at the centre of mass, held until changed (also while not dynamic).
CAROM_API carom_result carom_body_set_force(carom_world *world, carom_body_id body,
                                            carom_vec3 force, carom_vec3 torque);
/// Force and torque for the next tick only; calls add up.
CAROM_API carom_result carom_body_apply_force(carom_world *world, carom_body_id body,
                                              carom_vec3 force, carom_vec3 torque);
/// The same with force and torque along the body's axes as they are at the call.
CAROM_API carom_result carom_body_apply_local_force(carom_world *world, carom_body_id body,
                                                    carom_vec3 force, carom_vec3 torque);
/// The same with a force in world axes at a point of the world: about the centre of mass it turns
/// the body too.
CAROM_API carom_result carom_body_apply_force_at(carom_world *world, carom_body_id body,
                                                 carom_vec3 force, carom_vec3 point);
/// Changes the velocity at once. The impulse (N s) acts at a point in world axes.
CAROM_API carom_result carom_body_apply_impulse(carom_world *world, carom_body_id body,
                                                carom_vec3 impulse, carom_vec3 point);
/// Changes static, kinematic, dynamic in place; mass properties are kept while not dynamic. A body
/// with a plane stays static, one without mass cannot be dynamic (CAROM_ERROR_ARGUMENT); one that
/// becomes static stops.
CAROM_API carom_result carom_body_set_type(carom_world *world, carom_body_id body,
                                           carom_body_type type);
CAROM_API carom_result carom_body_set_user_data(carom_world *world, carom_body_id body,
                                                uint64_t user_data);

/// The share of gravity that pulls it (-1e6 to 1e6, 1 is as everything), and its damping (1/s, 0 to
/// 1e6).
CAROM_API carom_result carom_body_set_gravity_scale(carom_world *world, carom_body_id body,
                                                    float scale);
CAROM_API carom_result carom_body_set_damping(carom_world *world, carom_body_id body, float linear,
                                              float angular);
/// kg; its inertia grows alike, its centre of mass stays. STATE for a body that never had a mass.
CAROM_API carom_result carom_body_set_mass(carom_world *world, carom_body_id body, float mass);
/// Gives a kinematic body (STATE for another one) the velocity that takes it to this pose of its
/// origin in the next step, the shorter way round, to rounding (a turn above 3 rad in a step
/// without substeps stays behind). It goes on with that velocity until told otherwise.
CAROM_API carom_result carom_body_set_target(carom_world *world, carom_body_id body,
                                             carom_vec3 position, carom_quat orientation);
/// Velocity (m/s) of the body's matter at a point of the world.
CAROM_API carom_result carom_body_velocity_at(const carom_world *world, carom_body_id body,
                                              carom_vec3 point, carom_vec3 *velocity);
/// Wakes it, with all that fell asleep with it.
CAROM_API carom_result carom_body_wake(carom_world *world, carom_body_id body);
/// Stops it and counts its time at rest as over: it falls asleep in the next step, if nothing moves
/// it there and all that it touches or is joined to is at rest as well. STATE for a body that is
/// not dynamic, or may not sleep.
CAROM_API carom_result carom_body_rest(carom_world *world, carom_body_id body);

/// A shape of a body that touches one of another.
typedef struct carom_body_contact {
    carom_shape_id shape;       ///< the body's own
    carom_body_id other_body;   ///< touched by it
    carom_shape_id other_shape; ///< of that body
    uint32_t points;            ///< of contact, 0 to 4; 0 where one of the two is a sensor
} carom_body_contact;

/// The contacts of a body, as the last step left them (state: the same after a restore), in order
/// of the pairs of shapes: returns how many, fills up to capacity. 0 for a body that is not there.
/// It looks through all contacts of the world.
CAROM_API uint32_t carom_body_contacts(const carom_world *world, carom_body_id body,
                                       carom_body_contact *contacts, uint32_t capacity);

/// Shapes of a body in ascending slot order: returns how many it has, fills up to capacity.
CAROM_API uint32_t carom_body_shapes(const carom_world *world, carom_body_id body,
                                     carom_shape_id *shapes, uint32_t capacity);
CAROM_API carom_result carom_shape_get(const carom_world *world, carom_shape_id shape,
                                       carom_shape_def *def, carom_body_id *body);
CAROM_API carom_result carom_shape_set_surface(carom_world *world, carom_shape_id shape,
                                               float friction, float restitution);
/// Sets what it collides with from the next step on (carom_shape_def).
CAROM_API carom_result carom_shape_set_filter(carom_world *world, carom_shape_id shape,
                                              uint32_t category, uint32_t mask, int32_t group);

/// Friction and restitution between two bodies, two materials, or one of each. A rule goes before
/// the combine rules, and a later rule before an earlier one. A rule of a body goes when the body
/// goes.
typedef struct carom_pair_rule {
    carom_body_id body_a, body_b;    ///< the null id: the material beside it counts
    uint32_t material_a, material_b; ///< as in carom_shape_def
    float friction, restitution;     ///< negative: by the combine rule
} carom_pair_rule;

/// At most CAROM_RULES_MAX a world (CAROM_ERROR_LIMIT_RULES).
CAROM_API carom_result carom_world_add_pair_rule(carom_world *world, const carom_pair_rule *rule);
CAROM_API void carom_world_clear_pair_rules(carom_world *world);

// Results of the last step --------------------------------------------------------------------

/// Two shapes that began or ended to touch in the last step.
typedef struct carom_contact_event {
    carom_body_id body_a, body_b;    ///< of the shape with the lower slot first
    carom_shape_id shape_a, shape_b; ///< in this order
    carom_vec3 point;                ///< world
    carom_vec3 normal;               ///< from a to b
    float impulse;                   ///< N s, sum over the tick and the points
    bool begin;                      ///< began touching in this tick, else ended
    bool sensor;                     ///< one of the two is a sensor: they overlap, without impulse
} carom_contact_event;

/// Contact events of the last step, ordered by (shape_a, shape_b). Scratch: valid until the next
/// call that changes the world; not saved (a step recomputes them).
CAROM_API const carom_contact_event *carom_world_contact_events(const carom_world *world,
                                                                uint32_t *count);

/// Two shapes that hit each other.
typedef struct carom_hit_event {
    carom_body_id body_a, body_b;    ///< of the shape with the lower slot first
    carom_shape_id shape_a, shape_b; ///< in this order
    carom_vec3 point;                ///< world
    carom_vec3 normal;               ///< from a to b
    float speed;   ///< m/s along the normal, at which they approached before they met
    float impulse; ///< N s, sum over the tick and the points
} carom_hit_event;

/// Pairs that met in the last step at hit_speed (carom_world_def) or faster, ordered by (shape_a,
/// shape_b); none where that is 0. What presses hits nothing; what touches already may hit again.
/// In lcp and volume worlds, whose contacts yield and push for several ticks, a pair hits where it
/// begins to touch, and the impulse is that of this first tick. Scratch, like contact events.
CAROM_API const carom_hit_event *carom_world_hit_events(const carom_world *world, uint32_t *count);

/// A body that fell asleep or woke.
typedef struct carom_sleep_event {
    carom_body_id body; ///< dynamic
    bool asleep;        ///< it fell asleep, else it woke
} carom_sleep_event;

/// Bodies that fell asleep or woke in the last step or by calls before it: what woke first,
/// ascending by slots of each cause. Scratch, like contact events.
CAROM_API const carom_sleep_event *carom_world_sleep_events(const carom_world *world,
                                                            uint32_t *count);

/// Forgets what the last step reported: contacts, joints that broke, sleep. A restore forgets it
/// too, so whoever rewinds calls this before anything that may look at the events of the last tick.
CAROM_API void carom_world_clear_events(carom_world *world);

/// The stages of a tick, for its time. STEP is the whole of a world's step, the stages before it
/// are its parts; HASH and SAVE are what a server does with the state after it, and no part of a
/// step.
#define CAROM_STAGES(X)                                                                            \
    X(PAIRS, "pairs")                                                                              \
    X(COLLIDE, "collide")                                                                          \
    X(PREPARE, "prepare")                                                                          \
    X(SOLVE, "solve")                                                                              \
    X(RELAX, "relax")                                                                              \
    X(INTEGRATE, "integrate")                                                                      \
    X(SLEEP, "sleep")                                                                              \
    X(STEP, "step")                                                                                \
    X(HASH, "hash")                                                                                \
    X(SAVE, "save")
typedef enum carom_stage {
#define CAROM_STAGE_ENUM(name, text) CAROM_STAGE_##name,
    CAROM_STAGES(CAROM_STAGE_ENUM)
#undef CAROM_STAGE_ENUM
        CAROM_STAGE_COUNT
} carom_stage;
CAROM_ENUM_32(carom_stage);

/// The name of a stage as programs print it, "" for a number that is none.
CAROM_API const char *carom_stage_name(carom_stage stage);

/// Counters and times of this process, not state: a module whose rules read them does not replay.
typedef struct carom_world_stats {
    uint32_t bodies, shapes, contacts, touching, points; ///< contacts: pairs near each other
    uint32_t joints;                                     ///< there now
    uint64_t joints_broken;                              ///< since create
    uint64_t log_counts[CAROM_LOG_CODE_COUNT]; ///< by carom_log_code (log.h), since create
    /// lcp: rows of the largest island and linear systems solved, of the last step.
    uint32_t lcp_rows, lcp_solves;
    uint32_t sleeping; ///< bodies
    uint32_t islands;  ///< dynamic bodies that hang together by touching and joints count as one
} carom_world_stats;

CAROM_API void carom_world_stats_get(const carom_world *world, carom_world_stats *stats);
/// A monotonic clock in seconds, or NULL (the default). Never influences the simulation.
CAROM_API void carom_world_set_clock(carom_world *world, double (*clock)(void *), void *context);
/// Sets how many contacts are solved at once: 1, 4, 8 or 16; 0, the default, as many as the
/// processor has, and so where it has fewer. Never influences the simulation. ARGUMENT for another
/// number.
CAROM_API carom_result carom_world_set_lanes(carom_world *world, uint32_t lanes);
/// Seconds of the last step, CAROM_STAGE_COUNT of them by carom_stage, valid until the next step;
/// all 0 without a clock. HASH and SAVE are always 0: a step does neither.
CAROM_API const double *carom_world_stage_times(const carom_world *world);

/// A deepest-point pass over all touching shape pairs, found anew at the present poses (not the
/// solver's manifolds): how many pairs touch, and the deepest penetration in metres.
CAROM_API void carom_world_measure_contacts(const carom_world *world, uint32_t *touching,
                                            double *max_penetration);

#ifdef __cplusplus
}
#endif
#endif
