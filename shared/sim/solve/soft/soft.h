// The soft-step solver's rows and passes.
//
// Method: E. Catto, "Solver2D", 2024: substeps; in each, forces, one pass with soft constraints,
// poses, one pass without bias ("relax"); restitution after the last.
//
// Contacts stand in groups of sixteen lanes. Contacts of one group share no body that can be pushed
// (color.c), so its lanes may be solved at once or one after another with the same bits; the
// passes are compiled for 1, 4, 8 and 16 lanes from one source (pass.inl).
//
// Each contact is solved in its own frame: normal, two tangents and a centre where friction acts.
// There a point is a lever of two numbers, and what one impulse does to the others' velocities is a
// small matrix made once a tick, so that bodies are read and written once a contact.
#ifndef CM_SIM_SOLVE_SOFT_SOFT_H
#define CM_SIM_SOLVE_SOFT_SOFT_H

#include "shared/sim/solve/rules.h"
#include "shared/sim/body/locks.h"
#include "shared/sim/state/scratch.h"

#define CM_SOFT_TINY 1.0e-14f // m/s, rad/s, N s: less is nothing
// m, m/s, rad/s: what moves or turns further in a tick is put to rest
#define CM_SOFT_RUNAWAY 1.0e6f
// 1/m: a contact's spring is stiffer by this part of its overlap
#define CM_SOFT_STIFFENING 60.0f
// m; what rests is pushed out to here, so that it stays in touch
#define CM_SOFT_REST_OVERLAP 0.00025f
// m/s, of bodies along a contact's normal: what meets faster may land (blow.c)
#define CM_SOFT_BLOW_SPEED 0.25f
#define CM_SOFT_WIDE       16u // lanes of a group of contacts
#define CM_SOFT_LANES      8u  // of blocks of bodies and groups of joints
#define CM_SOFT_ROW        16u // floats of a cm_soft_body
#define CM_SOFT_COLORS     32u
// Buckets of groups: one without colour and one of each colour; twice.
#define CM_SOFT_BUCKETS ((1u + CM_SOFT_COLORS) * 2u)

// A row a body slot and one more, at rest, for lanes that are not used. What moves in the passes:
// gathered in halves of 32 bytes.
typedef struct cm_soft_body {
    carom_vec3 v, w;
    float inverse_mass;    // as cm_soft_inertia has them, so that contacts need not hold them
    float inverse_inertia; // of what is round
    carom_vec3 shift;      // of the centre of mass since the start of the tick
    carom_quat turn;       // since the start of the tick
    float pad2;
} cm_soft_body;

// Constant over the tick; parallel to the bodies. What cannot be pushed has zeros.
typedef struct cm_soft_inertia {
    float inverse_mass; // along free axes
    cm_sym3 inverse;    // world axes, of the start of the tick: as in the effective masses
    uint16_t locks;     // CAROM_LOCK_…
    uint16_t round;     // 1: alike about all axes
} cm_soft_inertia;

typedef float cm_soft_lanes[CM_SOFT_LANES];
typedef float cm_soft_wide[CM_SOFT_WIDE];

// Eight bodies, slot / 8: what forces need, constant over the tick, and the warm-start delta
// between substeps: what contacts have done to the velocity since the last one. While contacts are
// solved it stands as the velocity less that delta, so that they need not write it; between, where
// joints change velocities, as the delta itself. CM_SOFT_FLIP goes from either to the other. Of a
// plain block only the members up to `sound` are written.
typedef struct cm_soft_block {
    cm_soft_lanes warm_v[3], warm_w[3];
    cm_soft_lanes acceleration[3];
    cm_soft_lanes sound; // 1; 0: put to rest
    uint32_t free;       // every body is dynamic, awake and without locked axes
    uint32_t plain;      // every body is dynamic, alike about all axes, without torque or damping
    uint32_t round;      // every body turns by inverse_inertia[0] times its torque
    uint32_t locked;     // some body does so because of locked turns
    uint32_t stored;     // so many motions of the block, from the first on, are in the state
    uint32_t pad[3];
    cm_soft_lanes torque[3];
    cm_soft_lanes inertia[3], inverse_inertia[3]; // principal
    cm_soft_lanes axes[4];                        // principal axes at the start, as a quaternion
    cm_soft_lanes linear_decay, angular_decay;    // of a substep
    cm_soft_lanes dynamic;                        // 1, else 0
    cm_soft_lanes turns_plainly; // 1, else 0; written and read in locked blocks only
} cm_soft_block;

_Static_assert(sizeof(cm_soft_body) == 4 * CM_SOFT_ROW, "gathered as two halves of eight floats");
_Static_assert(sizeof(cm_soft_inertia) == 32, "gathered as eight floats");

typedef struct cm_softness {
    float bias_rate, mass_scale, impulse_scale;
} cm_softness;

// A body that cannot be pushed is a; everything is turned round if it was b. Points are
// in the frame (t1, t2, normal) about the centre: x along t1, y along t2. An unused lane has zero
// masses and bodies at rest; so has an unused point.
typedef struct cm_soft_group {
    uint32_t a[CM_SOFT_WIDE], b[CM_SOFT_WIDE]; // bodies: slot x CM_SOFT_ROW, where the row is
    uint32_t row[CM_SOFT_WIDE];                // of the state's contacts; CM_NONE: unused
    uint32_t point[CM_SOFT_WIDE];              // the row of its first point
    uint32_t lanes;                            // that are used: the first ones
    uint32_t points;                           // most of any lane
    uint32_t bounces;                          // some lane has restitution
    uint32_t fixed;                            // no lane's a can be pushed
    uint32_t flipped;                          // a bit a lane
    uint32_t special;                          // some lane wants what cm_soft_special holds
    uint32_t round; // every lane's bodies have inertias alike about all axes; not if it is special
    uint32_t rolls; // some lane has a radius in `round_radius`
    uint32_t color; // of every lane; whatever shares it shares no body that can be pushed
    uint32_t late;  // a bit a lane: in the relax pass friction comes after the normals
    uint32_t early; // likewise, before them: the others that are used
    uint32_t meets; // likewise: of several points none presses, and its bodies meet at speed
    uint32_t pad[4];
    cm_soft_wide point_count; // of each lane
    // A line of 64 bytes each. What the passes read of every group stands together, then points:
    // those above `points` are neither written nor read. The second tangent is normal x t1.
    cm_soft_wide normal[3], t1[3];
    cm_soft_wide ra[3], rb[3];  // from the centres of mass to the contact's centre
    cm_soft_wide total_impulse; // normal, over substeps and points
    // Velocities (normal, turn about t1, turn about t2) of friction impulses (t1, t2, twist).
    cm_soft_wide friction_coupling[9];
    cm_soft_wide tangent_mass[3]; // inverse of the 2x2 matrix: xx xy yy
    cm_soft_wide twist_mass, twist_coupling[2];
    cm_soft_wide friction, radius;    // radius: lever of the twist's limit
    cm_soft_wide friction_impulse[3]; // t1, t2, twist
    struct {
        cm_soft_wide x, y;
        cm_soft_wide start;      // separation at the start of the tick
        cm_soft_wide separation; // now
        cm_soft_wide normal_impulse;
        cm_soft_wide effective_mass;
    } at_point[4];
    cm_soft_wide
        point_coupling[6]; // velocity at one point of an impulse at another: 01 02 03 12 13 23
    cm_soft_wide inertia_a[6], inertia_b[6]; // inverse; not of round groups
    cm_soft_wide restitution;                // of groups that bounce
    cm_soft_wide round_radius[2]; // round_a and round_b of the manifold; of groups that roll
    // Used where the group bounces: normal velocity that the points meet at; relative acceleration
    // along the normal, m/s^2; the largest impulse of any pass.
    cm_soft_wide approach[4], pull;
    cm_soft_wide largest_impulse[4];
} cm_soft_group;

_Static_assert(offsetof(cm_soft_group, normal) % CM_CACHE_LINE == 0, "no load crosses a line");

// The part of a contact that coloring reads, so that manifolds are read once.
typedef struct cm_soft_link {
    uint32_t a, b; // in the order of the group
    uint16_t kind; // bucket x 4 + points - 1; of loose buckets x 4
    uint8_t points, bounces, flipped, round, rolls;
    uint8_t lands;  // flat (blow.c)
    uint32_t place; // group x CM_SOFT_WIDE + lane
} cm_soft_link;

// Beside a group that is special: some body of it has locked axes or reports forces, or some
// surface rolls hard, spins hard or runs. Parallel to the groups; of others nothing is written.
typedef struct cm_soft_special {
    cm_soft_wide free_a[3], free_b[3];   // inverse masses along the world's axes
    cm_soft_wide locked[3];              // what locked axes take from the sum of inverse masses
    cm_soft_wide surface[3];             // velocity of b's surface against a's; then along t1, t2
    cm_soft_wide roll_lever, spin_lever; // m, of the normal impulse
    cm_soft_wide roll_mass[3];           // inverse of the 2x2 matrix: xx xy yy
    cm_soft_wide roll[2];                // torque impulses about t1, t2
    // Of the tick, for the wrenches that are reported.
    cm_soft_wide sum_normal[4], sum_friction[3], sum_roll[2];
} cm_soft_special;

// Blocks that follow each other.
typedef struct cm_soft_blocks {
    uint32_t first, end;
} cm_soft_blocks;

struct cm_soft_passes;
struct cm_soft_joints;

// Groups in the order in which they are solved; each range may be empty.
typedef struct cm_soft_ranges {
    uint32_t moving_loose, moving, fixed_loose, fixed, end; // first group of each
} cm_soft_ranges;

typedef struct cm_soft {
    cm_soft_body *bodies;
    cm_soft_inertia *inertias;
    cm_soft_block *blocks;
    cm_soft_group *groups;
    cm_soft_special *specials;
    cm_manifold *manifolds;    // of the scratch, and
    cm_soft_contact *contacts; // the state's, in parallel, and
    cm_soft_point *points;     // of their points
    cm_soft_link *links;       // of each contact
    uint32_t *blows;           // places of contacts that land, then of those beside them
    uint8_t *hit;              // of each body: 1 where something lands on it
    uint32_t landing_count, blow_count;
    uint32_t *taken;      // colours of each body
    uint8_t *busy;        // of each block: some body of it can move
    cm_soft_blocks *runs; // of busy blocks
    uint32_t run_count;
    cm_soft_ranges ranges; // of groups
    void *joint_memory;
    struct cm_soft_joints *joints; // joint.h
    const cm_body *states;
    carom_vec3 gravity;
    cm_motion *motions; // of the state, of the start of the tick until they are stored
    const struct cm_soft_passes *contact_passes; // of the first kinds
    const struct cm_soft_passes *passes, *single;
    cm_softness softness[2];     // between moving bodies, against what cannot be pushed
    float dt, h;                 // of the tick, of a substep
    float restitution_threshold; // m/s
    uint32_t body_count, block_count, substeps;
    float refined; // substeps over the least, where the world leaves them open; else 1
    bool special;  // a group may be
} cm_soft;

// Each pass goes over groups, or blocks of bodies, [first, end) in order.
typedef enum cm_soft_kind {
    CM_SOFT_PREPARE, // frames, masses and warm start, from manifolds and contacts
    CM_SOFT_SOLVE,
    CM_SOFT_RELAX, // also brings the separations up to date
    CM_SOFT_BOUNCE,
    CM_SOFT_FINISH, // impulses to the state
    // Of blocks:
    CM_SOFT_BEGIN,      // bodies of the state, where a whole block is free
    CM_SOFT_VELOCITIES, // forces, and what contacts did in the last substep again
    CM_SOFT_POSES,
    CM_SOFT_FLIP,  // before and after anything but contacts changes velocities within a substep
    CM_SOFT_STORE, // what is free and sound, to the state
    // Of groups of joints:
    CM_SOFT_BALL_PREPARE,
    CM_SOFT_BALL_WARM, // what poses decide, and the warm start
    CM_SOFT_BALL_SOLVE,
    CM_SOFT_BALL_RELAX,
    CM_SOFT_ROW_PREPARE,
    CM_SOFT_ROW_WARM,
    CM_SOFT_ROW_SOLVE,
    CM_SOFT_ROW_RELAX,
    // Of trees that are solved joint by joint:
    CM_SOFT_KNOT_SOLVE,
    CM_SOFT_KNOT_RELAX,
    CM_SOFT_KINDS
} cm_soft_kind;

typedef void cm_soft_pass(cm_soft *soft, uint32_t first, uint32_t end);
typedef struct cm_soft_passes {
    cm_soft_pass *run[CM_SOFT_KINDS];
} cm_soft_passes;

extern const cm_soft_passes cm_soft_passes_1, cm_soft_passes_4;
#if defined(__x86_64__) || defined(__i386__)
extern const cm_soft_passes cm_soft_passes_8;
#endif
#if defined(__x86_64__)
extern const cm_soft_passes cm_soft_passes_16; // of contacts
#endif

// body.c
void cm_soft_prepare_bodies(const carom_world *world, const cm_scratch *scratch, cm_soft *soft);
void cm_soft_move(cm_soft *soft, cm_soft_kind kind); // a pass of blocks
// Writes poses and velocities to the state; counts what is put to rest.
void cm_soft_store_bodies(carom_world *world, cm_soft *soft);

// color.c
uint32_t cm_soft_group_limit(const carom_limits *limits);
// Groups from the contacts of the state: bodies, rows and flags of each.
void cm_soft_color_contacts(const carom_world *world, const cm_scratch *scratch, cm_soft *soft);

// joint.c
size_t cm_soft_joints_size(const carom_limits *limits);
void cm_soft_map_joints(const carom_limits *limits, void *memory, cm_soft *soft);

// contact.c
// Last step's impulses to where their contacts and points are now: every row is written.
void cm_soft_match_impulses(const carom_world *world, const cm_scratch *scratch,
                            const cm_soft *soft);
// Groups are built before forces change velocities, since they note at which speed points met.
void cm_soft_build_groups(cm_soft *soft);
void cm_soft_run(cm_soft *soft, cm_soft_kind kind);

// blow.c
// Once groups are prepared: finds what lands flat in this tick, and lets its points share the blow.
void cm_soft_find_blows(const carom_world *world, cm_soft *soft);
// Before impulses are stored: those of blows are no warm start.
void cm_soft_forget_blows(cm_soft *soft);

// special.c
// Whether one of these bodies makes its contacts special; their inertias are prepared.
bool cm_soft_any_special(const carom_world *world, const cm_soft *soft, uint32_t first,
                         uint32_t end);
bool cm_soft_is_special(const carom_world *world, const cm_soft *soft, uint32_t row,
                        const cm_manifold *m);
void cm_soft_pack_specials(const carom_world *world, const cm_scratch *scratch,
                           const cm_soft *soft);
// Mean force and torque of the tick to the bodies that report them.
void cm_soft_store_wrenches(carom_world *world, const cm_soft *soft);

// Change of velocity by a linear impulse, times `scale`.
static inline carom_vec3 cm_soft_pushed(const cm_soft_inertia *body, float scale,
                                        carom_vec3 impulse)
{
    carom_vec3 v = cm_scale(scale * body->inverse_mass, impulse);
    return __builtin_expect(body->locks != 0, 0) ? cm_unlocked(body->locks, v) : v;
}

// The way of a point at r from the centre of mass as its body turns: nothing cancels for small
// turns.
static inline carom_vec3 cm_soft_turned(const cm_soft_body *body, carom_vec3 r)
{
    carom_vec3 u = cm_vec(body->turn.x, body->turn.y, body->turn.z), t = cm_cross(u, r);
    return cm_scale(2.0f, cm_mul_add(cm_cross(u, t), body->turn.w, t));
}

// rules.c: what this solver asks of scenes.
extern const cm_scene_rules cm_soft_rules;

#endif
