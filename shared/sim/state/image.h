// The world image: one block of memory, header, then state, then scratch. Private to shared/sim.
//
// State is what can change the future; it is saved, hashed and encoded, and every field of it
// stands in fields.def. Scratch is rebuilt by every step and may be overwritten with anything
// between steps. The image holds offsets and indices, no pointers (but the hooks and
// the table of hulls in the header, which is outside both).
//
//   OFFSET           SIZE                    CONTENT
//   0                sizeof(carom_world)     header: magic, limits, offsets, world state, counters
//   …                64  x limits.bodies     motion, hot: pose and velocity of the centre of mass
//   …                168 x limits.bodies     body, cold
//   …                144 x limits.shapes     shape
//   …                …   x limits.contacts   each section of contacts that the solver has, twice:
//                                            rows and spare rows, which change places each step;
//                                            where bodies may sleep once more: contacts at rest
//                                            (resting.h); of points four times as many rows
//   …                200 x limits.joints     joint
//   …                20  x CAROM_RULES_MAX   rule: pair rules, in the order of their making
//   …                72  x pages             of bodies, then of shapes: what is known of rows:
//                                            repeats (repeat.h), changes (awake.h); no state
//   …                1   x limits.bodies     who is active (awake.h); no state
//   …                16  x limits.bodies     identities (inspect.h); no state
//   …                8   x limits.bodies     hashes of rows (world_hash.c); no state
//   …                8   x limits.shapes     likewise of shapes
//   …                …                       the tree of what rests (collide/rest.h); no state
//   offset.scratch   offset.scratch_size     scratch of the stages (scratch.h)
//
// offset.rows says where each section of the state (fields.def) begins. Every offset is a multiple
// of CM_CACHE_LINE. A row above body_slots, shape_slots, contact_count, point_count, joint_slots or
// rule_count holds anything; a dead row below is zero but for its generation. Padding of the rows
// is zero.
//
// Typical: 400 bodies, 400 shapes, 1,600 contacts. A slot once used stays below body_slots; its
// generation outlives what lived there.
#ifndef CM_SIM_STATE_IMAGE_H
#define CM_SIM_STATE_IMAGE_H

#include "carom/world.h"
#include "shared/sim/state/contact.h"

#include <string.h>

#define CM_WORLD_MAGIC    0x314d5243u // "CRM1"
#define CM_NONE           0xffffffffu
#define CM_CACHE_LINE     64u

#define CM_JOINT_ROWS_MAX 9u

// Sections of the state, in the order of fields.def.
typedef enum cm_section {
#define SECTION(section, type, padding) CM_SECTION_##section,
#include "shared/sim/state/fields.def"
    CM_SECTION_COUNT
} cm_section;

// Sections with a row a contact, and behind them those with a row a point, from the first to the
// last.
#define CM_CONTACTS_FIRST CM_SECTION_contact
#define CM_CONTACTS_LAST  CM_SECTION_volume_contact
#define CM_POINTS_FIRST   CM_SECTION_feature
#define CM_POINTS_LAST    CM_SECTION_soft_point

_Static_assert((int)CM_POINTS_FIRST == (int)CM_CONTACTS_LAST + 1, "gone over together");

// State ------------------------------------------------------------------------------------

enum {
    CM_WORLD_SLEEP = 1,
    CM_WORLD_PLANAR = 2,
    CM_WORLD_OWN_ROTATION = 4, // free bodies turn as the solver's source has it
    CM_WORLD_ENERGY = 8,       // lcp: the integration `energy`
    CM_WORLD_FLAGS = 15,
};

#define CM_REFINEMENT_MAX 4.0f

typedef struct cm_world_state {
    uint64_t tick;
    uint64_t random[2]; // xorshift128+
    uint32_t tick_rate;
    uint32_t solver;
    uint32_t substeps;
    uint32_t friction_combine;
    uint32_t restitution_combine;
    uint32_t body_slots; // slots that were ever used
    uint32_t shape_slots;
    uint32_t contact_count; // rows in use
    uint32_t point_count;   // of all contacts together
    carom_vec3 gravity;
    uint32_t joint_slots;
    uint32_t rule_count;
    uint32_t flags;
    // carom_solver_def
    uint32_t model, rounds, friction_model, direct_rows, segments, volume_contact;
    float pixel, epsilon, gamma, max_friction;
    float stiffness, damping, tangent_stiffness, tangent_damping;
    float friction_kinetic, friction_static;
    float restitution_threshold;
    float refinement; // soft, open substeps: contacts' frequency over the least; 0 before a step
    uint32_t pad;
} cm_world_state;

// 64 bytes: one cache line, gathered whole by the solver.
typedef struct cm_motion {
    carom_vec3 position; // of the centre of mass
    carom_quat orientation;
    carom_vec3 linear_velocity;
    carom_vec3 angular_velocity;
    uint32_t pad[3];
} cm_motion;

enum {
    CM_BODY_SLEEP = 1, // may sleep
    CM_BODY_BULLET = 2,
    CM_BODY_REPORT = 4,
    CM_BODY_ASLEEP = 8,
    CM_BODY_STIRRED = 16, // by a call since the last step: woken, or not dynamic and changed
    CM_BODY_MIDWAY = 32,  // lcp: rows turned it; its angular velocity is that of half a step ago
    CM_BODY_HISTORY = 64, // the game keeps its poses; nothing to a step
    CM_BODY_FLAGS = 127,
};

typedef struct cm_body {
    uint64_t user_data;
    uint32_t generation;                      // of the slot; 0: never used
    uint32_t first_shape;                     // CM_NONE: no shapes
    carom_vec3 force, torque;                 // held
    carom_vec3 applied_force, applied_torque; // for the next step only
    float mass;                               // kg, as defined, kept while the body is not dynamic
    carom_vec3 inertia;                       // principal, about the centre of mass
    carom_quat inertia_orientation;           // principal axes in the body
    carom_vec3 center_of_mass;                // in the body
    float gravity_scale, linear_damping, angular_damping;
    uint8_t alive, type;
    uint8_t locks;        // CAROM_LOCK_…
    uint8_t flags;        // CM_BODY_…
    float quiet;          // s, how long it has been at rest
    uint32_t island;      // asleep: lowest slot of those that fell asleep with it; else CM_NONE
    float epsilon, gamma; // lcp; negative: the world's
    uint32_t pointer;     // player; CAROM_NO_PLAYER: none
    carom_vec3 contact_force, contact_torque; // mean over the last tick, where it reports
} cm_body;

typedef struct cm_shape {
    uint64_t geometry; // the hull's id; 0 for other types
    uint32_t generation;
    uint32_t body;
    uint32_t next;       // next shape of the same body, ascending; CM_NONE ends
    carom_vec3 position; // in the body (origin, not centre of mass)
    carom_quat orientation;
    float size[4]; // sphere: radius; capsule, cylinder: radius, half_height; box: half extents;
                   // plane: normal, offset; hull: radii of the balls inside and
                   // around it
    float friction, restitution, density;
    uint32_t category, mask;
    int32_t group;
    uint32_t material;
    uint8_t alive, type, sensor;
    uint8_t contact_mode;
    float rolling_friction, spin_friction;
    carom_vec3 surface_velocity, contact_axis;
    float contact_slip, contact_max_force, contact_slip_by_speed, contact_trail;
} cm_shape;

// Flags of a joint: the parts beside what its type holds, and detached (cm_joint.flags).
enum {
    CM_JOINT_LIMITS = 1,
    CM_JOINT_MOTOR = 2,
    CM_JOINT_SPRING_HERTZ = 4,
    CM_JOINT_SPRING_STIFFNESS = 8,
    CM_JOINT_COLLIDE = 16,
    CM_JOINT_DETACHED = 32, // it holds nothing for now
    CM_JOINT_FLAGS = 63,
};

typedef struct cm_joint {
    uint32_t generation;
    uint32_t body_a;               // slot; CM_NONE: the world
    uint32_t body_b;               // slot
    carom_vec3 anchor_a, anchor_b; // from the centre of mass, in the body's axes; world: in place
    carom_quat frame_a, frame_b;   // joint frames in the bodies; x is the axis
    float rest;                    // distance: the first length; steering: cosine of the two axes
    float lower, upper;            // rad or m
    carom_vec3 drive_linear, drive_angular;    // wanted velocities, in frame_a
    float max_force, max_torque;               // of the motor
    float spring[2];                           // hertz and damping ratio, or stiffness and damping
    float target, target_velocity, spring_max; // of the spring along the free coordinate
    float break_force, break_torque;           // 0: never
    float friction;                            // m, lever of the force; soft
    float impulse[CM_JOINT_ROWS_MAX]; // of the last substep, N s, N m s; a row keeps its place
    float force, torque;              // mean over the last tick
    float epsilon, gamma;             // lcp; negative: the world's
    uint8_t alive, type, flags;
    uint8_t pad;
} cm_joint;

typedef struct cm_rule {
    uint32_t a, b;               // materials, or slots of bodies
    uint32_t kinds;              // bit 0: a is a body; bit 1: b is
    float friction, restitution; // negative: by the combine rule
} cm_rule;

_Static_assert(sizeof(cm_world_state) == 160, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_motion) == 64, "gathered as one cache line");
_Static_assert(sizeof(cm_body) == 168, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_shape) == 144, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_joint) == 200, "saved as it stands: no hidden padding");
_Static_assert(sizeof(cm_rule) == 20, "saved as it stands: no hidden padding");

// Header -----------------------------------------------------------------------------------

struct carom_world {
    uint32_t magic;
    uint32_t size_low; // bytes of the block
    uint64_t layout_hash;
    carom_limits limits;
    struct {
        uint32_t rows[CM_SECTION_COUNT];    // of each section; 0: the world has none of it
        uint32_t spare[CM_SECTION_COUNT];   // of contacts: last step's, while there is a step
        uint32_t resting[CM_SECTION_COUNT]; // of contacts, where bodies may sleep
        uint32_t body_pages, shape_pages, active, identities, body_hashes, shape_hashes, rest;
        uint32_t scratch, scratch_size;
    } offset;
    // The scratch was sized for these; a state that wants more is refused.
    struct {
        uint32_t solver, direct_rows, segments;
    } room;
    // State: how many of the contacts and points are at rest (resting.h). Not in fields.def, since
    // which they are follows from the bodies.
    struct {
        uint32_t rows, points;
    } resting;
    // Counts of bodies (awake.h), neither state nor scratch: how many sleep, how many are
    // told what contacts do to them, and below which slot all are that were looked at.
    struct {
        uint32_t asleep, reports, slots;
    } known;
    // Sums kept by the hash (world_hash.c), neither state nor scratch: sums over the slots below
    // these, and over the contacts at rest, where that one is right.
    struct {
        uint64_t body_sum, shape_sum, resting_sum;
        uint32_t bodies, shapes;
        bool resting;
    } hashed;
    // Bytes of it that stages asked for by themselves (cm_scratch_own).
    struct {
        uint32_t joint_filter, broadphase, solver, hits;
        bool pairs_stay;
    } own;
    cm_world_state state;
    // Reports of a step; neither state nor scratch: they cannot influence a step.
    carom_world_stats stats;
    double stage_s[CAROM_STAGE_COUNT];
    uint32_t event_count;
    uint32_t joint_event_count;
    uint32_t sleep_event_count;
    uint32_t hit_event_count;
    float hit_speed; // m/s, of the definition; 0: hits are not looked for
    // 0: as many as the processor has; 1, 4, 8, 16: a test's choice; no bit depends on it.
    uint32_t lanes;
    double (*clock)(void *context);
    void *clock_context;
    carom_log log; // told what a step has to say; neither state nor scratch
    // The caller's table of hulls, ascending by id. Neither state nor scratch: shapes name hulls by
    // ids, which stand for what they look like.
    const carom_hull *const *hulls;
    uint32_t hull_count;
    // The game's constraints (lcp), likewise the caller's.
    carom_row_source rows;
    carom_error error; // of the last call that was refused; neither state nor scratch
    // Below these no slot is free (slots.h). Neither state nor scratch: which slot is the lowest
    // free one follows from the rows alone.
    struct {
        uint32_t bodies, shapes, joints;
    } taken;
    // The tree of queries stands in scratch and shows every shape where it is (query/tree.h); how
    // many questions were answered without it.
    bool query_tree;
    uint8_t query_scans;
    bool pointers; // the solver lets pointers feel what cannot move
};

// To be called after moving, making or removing a shape, or writing where the tree lies.
static inline void cm_query_forget(carom_world *world)
{
    world->query_tree = false;
    world->query_scans = 0;
}

static inline void *cm_rows(const carom_world *world, cm_section section)
{
    return (char *)world + world->offset.rows[section];
}

// Of a section of contacts: the rows of the step before, while there is a step.
static inline void *cm_old_rows(const carom_world *world, cm_section section)
{
    return (char *)world + world->offset.spare[section];
}

static inline bool cm_has_rows(const carom_world *world, cm_section section)
{
    return world->offset.rows[section] != 0;
}

static inline cm_motion *cm_motions(const carom_world *world)
{
    return (cm_motion *)cm_rows(world, CM_SECTION_motion);
}

static inline const cm_body *cm_bodies(const carom_world *world)
{
    return (const cm_body *)cm_rows(world, CM_SECTION_body);
}

static inline const cm_shape *cm_shapes(const carom_world *world)
{
    return (const cm_shape *)cm_rows(world, CM_SECTION_shape);
}

// Notes on CM_PAGE_ROWS rows of bodies or shapes: a bit a row.
typedef struct cm_page {
    uint64_t repeats; // the row before
    uint64_t known;   // whether that is right
    uint64_t noted;   // bodies: changed since it was last looked at (awake.h)
    uint64_t moving;  // bodies: awake and not static, when it was last looked at
    uint64_t moved;   // its boxes in the tree of what rests may be wrong (collide/rest.h)
    uint64_t asleep;  // bodies: it slept when it was last looked at
    uint64_t reports; // likewise: it is told what contacts do to it
    uint64_t named;   // bodies: its identity is known (cm_identities)
    uint64_t written; // the hash that is kept of it may be wrong (world_hash.c)
} cm_page;

// The findings of cm_body_identify on a body.
typedef struct cm_identity {
    uint64_t kind, links;
} cm_identity;

#define CM_PAGE_ROWS 64u

static inline cm_page *cm_pages(const carom_world *world, cm_section section)
{
    uint32_t offset =
        section == CM_SECTION_body ? world->offset.body_pages : world->offset.shape_pages;
    return (cm_page *)((char *)(uintptr_t)world + offset);
}

// The row, or what of a body or shape stands elsewhere, changes.
static inline void cm_row_note(carom_world *world, cm_section section, uint32_t row)
{
    cm_page *page = cm_pages(world, section) + row / CM_PAGE_ROWS;
    page->noted |= (uint64_t)1 << row % CM_PAGE_ROWS;
    page->moved |= (uint64_t)1 << row % CM_PAGE_ROWS;
    page->written |= (uint64_t)1 << row % CM_PAGE_ROWS;
    page->named &= ~((uint64_t)1 << row % CM_PAGE_ROWS);
}

static inline void cm_row_differs(carom_world *world, cm_section section, uint32_t row)
{
    cm_page *pages = cm_pages(world, section);
    pages[row / CM_PAGE_ROWS].written |= (uint64_t)1 << row % CM_PAGE_ROWS;
    for (uint32_t i = row; i <= row + 1; i++) { // the row and what may repeat it
        pages[i / CM_PAGE_ROWS].known &= ~((uint64_t)1 << i % CM_PAGE_ROWS);
    }
}

static inline void cm_row_changes(carom_world *world, cm_section section, uint32_t row)
{
    cm_row_note(world, section, row);
    cm_row_differs(world, section, row);
}

// A row that is to be changed: what is written into it stands there before the next save.
static inline cm_body *cm_body_change(carom_world *world, uint32_t slot)
{
    cm_row_changes(world, CM_SECTION_body, slot);
    return (cm_body *)cm_rows(world, CM_SECTION_body) + slot;
}

// Likewise, for what a step tells of a body that changes neither where it is nor whether it moves.
static inline cm_body *cm_body_tell(carom_world *world, uint32_t slot)
{
    cm_row_differs(world, CM_SECTION_body, slot);
    return (cm_body *)cm_rows(world, CM_SECTION_body) + slot;
}

// Notes what contacts did to a body, if that is not what stands there.
static inline void cm_body_set_contact(carom_world *world, uint32_t slot, carom_vec3 force,
                                       carom_vec3 torque)
{
    const cm_body *body = cm_bodies(world) + slot;
    if (memcmp(&body->contact_force, &force, sizeof force) != 0 ||
        memcmp(&body->contact_torque, &torque, sizeof torque) != 0) {
        cm_body *row = cm_body_tell(world, slot);
        row->contact_force = force;
        row->contact_torque = torque;
    }
}

static inline cm_shape *cm_shape_change(carom_world *world, uint32_t slot)
{
    cm_shape *shape = (cm_shape *)cm_rows(world, CM_SECTION_shape) + slot;
    cm_row_changes(world, CM_SECTION_shape, slot);
    if (slot < world->state.shape_slots && shape->alive) {
        cm_row_note(world, CM_SECTION_body, shape->body);
    }
    return shape;
}

static inline cm_contact *cm_contacts(const carom_world *world)
{
    return (cm_contact *)cm_rows(world, CM_SECTION_contact);
}

static inline cm_joint *cm_joints(const carom_world *world)
{
    return (cm_joint *)cm_rows(world, CM_SECTION_joint);
}

// Returns true if a joint acts on its bodies: it is there and not detached.
static inline bool cm_joint_holds(const cm_joint *joint)
{
    return joint->alive && !(joint->flags & CM_JOINT_DETACHED);
}

static inline cm_rule *cm_rules(const carom_world *world)
{
    return (cm_rule *)cm_rows(world, CM_SECTION_rule);
}

#endif
