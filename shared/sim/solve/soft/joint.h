// Joints of the soft-step solver: their groups of lanes. Private to solve/.
//
// Joints stand in groups of eight lanes. Lanes of a group share no body that can be pushed
// (joint.c), but for chains, whose groups are paths and are solved whole (joint_path.c). Plain ball
// joints, most joints of a world, have groups and passes of their own (ball_pass.inl); all others
// are rows (joint_pass.inl). Both are compiled for 1, 4 and 8 lanes.
#ifndef CM_SIM_SOLVE_SOFT_JOINT_H
#define CM_SIM_SOLVE_SOFT_JOINT_H

#include "shared/sim/joint/joint.h"
#include "shared/sim/solve/soft/soft.h"

#define CM_JOINT_COLORS 64u
#define CM_JOINT_PATH   64u  // joints of a path, at most
#define CM_JOINT_TREE   255u // joints of a tree, at most
// Groups that paths of several lengths may leave half empty.
#define CM_JOINT_PATH_GROUPS 256u
// Equations that are solved at once give way by this part of what a joint's bodies alone would, as
// if joints were springs of 5 times the substeps' rate. A chain of n hinges answers a push out of
// its plane 1 / n^3 as much as a link does, which binary32 cannot tell from rounding: stiffer by
// far, sixty fly. It also gives one solution where both ends of a bridge are held.
#define CM_JOINT_YIELD 1.0e-3f
// Bridges that are not of balls give way more, which damps them: else what lies on them is thrown
// off.
#define CM_JOINT_BRIDGE_YIELD 1.0e-2f
#define CM_KNOT_TREES         2u // trees that are solved joint by joint, at most
// Rows of a lane: single ones, then a block. A group has as many of both as any of its joints.
#define CM_JOINT_SINGLES_MAX   6u
#define CM_JOINT_GROUP_ROWS    (CM_JOINT_SINGLES_MAX + CM_JOINT_BLOCK_MAX)
#define CM_JOINT_TREE_FACTORS  (CM_JOINT_GROUP_ROWS * (CM_JOINT_GROUP_ROWS - 1u) / 2u)
#define CM_JOINT_GROUP_FACTORS (CM_JOINT_BLOCK_MAX * (CM_JOINT_BLOCK_MAX - 1u) / 2u)

// The members of a group. An unused lane has the row at rest for both bodies, and no mass; so has
// the world as a body.
typedef struct cm_soft_members {
    uint32_t a[CM_SOFT_LANES], b[CM_SOFT_LANES]; // rows of the bodies
    uint32_t slot[CM_SOFT_LANES];                // of the state's joints; CM_NONE: unused
    uint32_t guarded;                            // lanes not used, or with a body not pushed
    uint32_t steps;                              // of a path's or tree's first group: its groups
    uint32_t leads; // 1: no other path of its kind is solved before it at its bodies
    uint32_t lanes; // that are used: the first ones
    uint32_t pad[2];
    uint8_t bridge[CM_SOFT_LANES], bounded[CM_SOFT_LANES];
    uint8_t flipped[CM_SOFT_LANES]; // 1: a and b are the joint's b and a
} cm_soft_members;

// Masses of both bodies for the passes; those of groups that turn are made anew for each substep.
typedef struct cm_soft_masses {
    cm_soft_lanes mass_a, inertia_a[6], mass_b, inertia_b[6]; // inverse
} cm_soft_masses;

// The ends of the joints, at the start of the tick.
typedef struct cm_soft_ends {
    uint32_t pose_a[CM_SOFT_LANES], pose_b[CM_SOFT_LANES]; // of the state's motions
    cm_soft_lanes held;                                    // 1: a is a body; 0: the world
    union {
        struct {
            cm_soft_lanes anchor_a[3], anchor_b[3]; // in the bodies
        } packed;
        struct {
            cm_soft_lanes ra[3], rb[3], gap[3]; // world axes; once prepared
        } start;
    };
} cm_soft_ends;

// Plain ball joints. Arms, gap and mass are made anew for each substep.
typedef struct cm_soft_balls {
    cm_soft_members who;
    cm_soft_masses m;
    cm_soft_ends ends;
    cm_soft_lanes start_inertia_a[6], start_inertia_b[6]; // inverse, of the start of the tick
    cm_soft_lanes ra[3], rb[3], gap[3];
    cm_soft_lanes mass[6];     // inverse of the effective inverse mass, less what the path takes
    cm_soft_lanes coupling[9]; // that times the joint before's: rows of this joint, columns of that
    cm_soft_lanes right[3];    // of the equations, as far as they are eliminated
    cm_soft_lanes impulse[3], total[3];
    uint32_t made;  // 1: mass and coupling are those of the present poses
    uint32_t turns; // of a path's first group: some inertia is not alike about all axes
    uint32_t pad[6];
} cm_soft_balls;

// A row of eight joints, packed for each substep; the turns are made from it.
typedef struct cm_soft_row {
    cm_soft_lanes linear[3], angular_a[3], angular_b[3], error;
    cm_soft_lanes turn_a[3], turn_b[3]; // inverse inertia times the angular parts
    cm_soft_lanes impulse;
    cm_soft_lanes turning; // 1; constant
} cm_soft_row;

// A row by itself has this besides, for the solve pass (0) and the relax pass (1):
//     change = -(mass (J v + bias) + scale impulse), impulse within lower and upper.
typedef struct cm_soft_single {
    cm_soft_lanes mass[2], bias[2], scale[2];
    cm_soft_lanes velocity; // wanted
    // Of trees: change solves K change = -(J v + bias + yield impulse), where it is active.
    cm_soft_lanes yield, active;
    // Constant over the tick.
    cm_soft_lanes lower, upper; // of the impulse
    cm_soft_lanes rate, mass_scale, impulse_scale, gamma;
    cm_soft_lanes bias_limit; // m/s or rad/s, most that the rate may ask for
    cm_soft_lanes limit;      // 1: error must not go below 0
    cm_soft_lanes lasting;    // 1: the relax pass does as the solve pass
    // Of hinges: the error is side (angle - from).
    cm_soft_lanes side, from;
} cm_soft_single;

// A joint's pose of this substep, as its lane writes it.
typedef struct cm_soft_pose {
    cm_joint_pose pose;
    float pad;
} cm_soft_pose;

_Static_assert(sizeof(cm_soft_pose) == 128, "scattered as four times eight floats");

// A body of a tree of joints, as the joints see it that are not eliminated yet. Gathered in eights.
typedef struct cm_soft_limb {
    float response[24]; // to a push at its centre: linear (6, symmetric), linear of angular (9),
                        // angular (6, symmetric), unused (3)
    float speed[8];     // v, w, less what the eliminated joints take
    float push[8];      // what the joints that are solved do to it
    float start[8];     // v, w, as the round found them
} cm_soft_limb;

#define CM_LIMB_FLOATS 48u
_Static_assert(sizeof(cm_soft_limb) == CM_LIMB_FLOATS * sizeof(float), "gathered by its floats");

// The way in which a group's rows are made. In the last two all lanes are of the type: the last
// three rows hold a point along the world's axes, and those before them only turn.
typedef enum cm_soft_form {
    CM_FORM_ANY,   // joint by joint, of any type
    CM_FORM_BALL,  // without motor and spring
    CM_FORM_HINGE, // without spring
} cm_soft_form;

// Joints of any type. In a lane with fewer single rows than the group these are the last ones.
typedef struct cm_soft_rows {
    cm_soft_members who;
    // Of trees: limbs, and in a tree's first group where those of each lane begin.
    uint32_t child[CM_SOFT_LANES], parent[CM_SOFT_LANES], limbs[CM_SOFT_LANES + 1];
    uint32_t whole;    // 1: it is of a tree that is solved at once
    uint32_t factored; // of a tree's first group: 1: factors are those of the rows that are active
    uint32_t from;     // of trees: rows before this one are out of the equations
    uint32_t pad[4];
    cm_soft_lanes give;  // of trees: what joints yield, of what their bodies alone would
    cm_soft_lanes share; // of trees: the part of what they want that the first pass does
    cm_soft_lanes sign;  // of trees, -1: the child is a
    cm_soft_masses m;
    cm_soft_lanes start_inertia_a[6], start_inertia_b[6]; // inverse, of the start of the tick
    cm_soft_ends ends;
    union {
        struct {
            cm_soft_lanes a[4], b[4]; // in the bodies, as packed
        } body_frame;
        struct {
            cm_soft_lanes a[4], b[4]; // in the world, at the start of the tick; once prepared
        } start_frame;
    };
    uint32_t singles, block; // rows
    uint8_t lane_singles[CM_SOFT_LANES], lane_rows[CM_SOFT_LANES];
    uint32_t locked; // some lane's body has locked axes; only then the next three count
    uint32_t made;   // 1: its block rows are those of the present poses
    uint32_t turns;  // 1: some inertia is not alike about all axes
    uint32_t form;   // cm_soft_form
    uint32_t pad2[7];
    cm_soft_lanes free_a[3], free_b[3];                // inverse masses along the world's axes
    cm_soft_lanes locks;                               // 1: this lane's; 2: some of them are turns
    uint8_t place[CM_JOINT_GROUP_ROWS][CM_SOFT_LANES]; // of the impulse in the state
    cm_soft_pose poses[CM_SOFT_LANES];
    // Of the block: K = L D L^T, the rows of L below its diagonal of ones, and 1 / D.
    cm_soft_lanes factor[CM_JOINT_TREE_FACTORS], inverse_pivot[CM_JOINT_GROUP_ROWS];
    // Of trees: L^-1 times what the block does to the parent, and the unknowns as far as they are
    // eliminated.
    cm_soft_lanes reach[CM_JOINT_GROUP_ROWS][6], right[CM_JOINT_GROUP_ROWS];
    cm_soft_lanes live, changed;       // 1: its lane is solved once more, since a row changed sides
    cm_soft_lanes step;                // of a tree's first group: part of the round that is kept
    cm_soft_lanes feasible;            // likewise; 1: its joints hold, within all bounds
    cm_soft_lanes force[3], torque[3]; // sums over substeps
    cm_soft_row rows[CM_JOINT_GROUP_ROWS];
    cm_soft_single single[CM_JOINT_SINGLES_MAX]; // parallel to the first rows
} cm_soft_rows;

// Trees that would leave most lanes unused: a joint at a time, six or eight numbers of it at once
// (knot_pass.inl).

#define CM_KNOT_EIGHT 8u
#define CM_KNOT_ROWS                                                                               \
    ((CM_JOINT_GROUP_ROWS + CM_KNOT_EIGHT - 1u) / CM_KNOT_EIGHT * CM_KNOT_EIGHT) // of a joint
// Numbers of every row of a joint, in eights.
typedef float cm_soft_across[CM_KNOT_ROWS];
// Six numbers, linear and angular ones, and two that are zero.
typedef float cm_soft_six[CM_KNOT_EIGHT];

// A body of a tree, as the joints see it that are not eliminated yet. What cannot be pushed is one
// for each joint that it holds.
typedef struct cm_soft_knot_body {
    cm_soft_six response[6]; // columns: to a push at its centre
    cm_soft_six alone[6];    // the same, of the body by itself
    cm_soft_six turned[3]; // the last of those columns, of an inertia that turns though it is round
    cm_soft_six speed;     // less what the eliminated joints take
    cm_soft_six push;      // what the joints that are solved do to it
    cm_soft_six start, now; // its speed as the round found it, and with what the round did
    cm_soft_six mass;       // inverse mass three times, then ones
    uint32_t row;
    uint32_t pushed; // 1: it can be
    uint32_t pad[6];
} cm_soft_knot_body;

// A row of a tree by itself: the members of cm_soft_single, and where it stands.
typedef struct cm_soft_bound {
    float lower, upper, active; // 1: it is in the equations
    float limit, lasting, velocity, bias[2], yield;
    float rate, bias_limit, mass_scale, impulse_scale, gamma;
} cm_soft_bound;

// A joint of a tree. Its place among the groups is for its pose, and for what of its rows is
// constant: impulses are there at the start and the end of the tick.
typedef struct cm_soft_knot {
    uint32_t child, parent;      // among the bodies
    uint32_t flipped;            // 1: the child is a
    uint32_t turns;              // 1: inertias of its bodies turn
    uint32_t group, lane, first; // the group, its lane there, the group's row that is its first
    uint32_t singles, count;     // rows
    uint32_t from;               // rows before this one are out of the equations
    uint32_t turning;            // a bit a row: it is a turn
    float give;                  // what it yields, of what its bodies alone would
    float share;                 // the part of what it wants that the first pass does
    uint32_t pad[3];
    cm_soft_six total;                         // force and torque: sums over substeps
    cm_soft_bound bound[CM_JOINT_SINGLES_MAX]; // of the first rows
    cm_soft_across impulse, error, right, inverse_pivot;
    cm_soft_across alone;                             // what its bodies alone give way
    cm_soft_across child_across[6], parent_across[6]; // of the rows below, number by number
    cm_soft_across reach_across[6];
    // J, row by row; M^-1 J but for the inverse masses; and L^-1 times what the rows do to the
    // parent.
    cm_soft_six child_row[CM_KNOT_ROWS], parent_row[CM_KNOT_ROWS], reach[CM_KNOT_ROWS];
    cm_soft_six child_turn[CM_KNOT_ROWS], parent_turn[CM_KNOT_ROWS];
    float factor[CM_JOINT_TREE_FACTORS]; // K = L D L^T: the rows of L below its diagonal of ones
} cm_soft_knot;

// Inertias of eight of these bodies, as they are at the start of the tick.
typedef struct cm_soft_knot_block {
    cm_soft_lanes inertia[6];     // inverse
    cm_soft_lanes turns;          // 1: it is not alike about all axes
    uint32_t body[CM_SOFT_LANES]; // their rows; an unused lane has that at rest
} cm_soft_knot_block;

typedef struct cm_soft_knot_tree {
    uint32_t first, end;           // knots, leaves first
    uint32_t first_body, end_body; // its bodies
    uint32_t bounded;              // 1: some row of it has bounds
    uint32_t factored;             // 1: factors are those of the rows that are active
} cm_soft_knot_tree;

// The rows of a group, joint by joint, and one more, so that each may be read as sixteen floats.
typedef cm_joint_row cm_soft_made[CM_SOFT_LANES][CM_JOINT_GROUP_ROWS + 1];

// First group, of those without colour: these are solved lane by lane; first of the others; end.
typedef struct cm_soft_span {
    uint32_t loose, colored, end;
} cm_soft_span;

// More than all types: joints that are solved at once.
enum { CM_LINK_BALL = CAROM_JOINT_MOTOR + 1, CM_LINK_TREE };

// The part of a joint that coloring reads, so that the state's are read once.
typedef struct cm_soft_joint_link {
    uint32_t slot; // of the state
    uint32_t a, b; // rows of the bodies
    uint8_t type;  // or one of cm_soft_link_type
    uint8_t free;  // 1: no body of it has locked axes
    uint8_t pushed_a, pushed_b;
    uint8_t visited;
    uint8_t bounded;  // 1: it, or once sorted its tree, has limits, motors or springs
    uint8_t bridge;   // 1: of a tree that is held at more ends than one, and is not of balls
    uint8_t flipped;  // of a tree: a is the child
    uint32_t next[2]; // links that hang on a, on b; CM_NONE: none
} cm_soft_joint_link;

// Joints that hang one on the other, solved at once.
typedef struct cm_soft_path {
    uint32_t first, length; // in `members`
    uint32_t color;         // 0: none
} cm_soft_path;

typedef struct cm_soft_joints {
    cm_soft_balls *balls;
    cm_soft_rows *rows;
    cm_soft_joint_link *links; // of joints that hold something
    cm_soft_path *paths;       // at most one a joint, as
    uint32_t *members;         // links, path by path
    uint32_t *order;           // paths as they are placed; and room to sort them: three more
    size_t order_stride;
    cm_soft_limb *limbs;
    uint32_t *limb_bodies; // their rows
    cm_soft_knot *knots;
    cm_soft_knot_body *knot_bodies; // at most two a knot, and whole blocks
    cm_soft_knot_block *knot_block;
    cm_soft_knot_tree knot_trees[CM_KNOT_TREES];
    uint32_t knot_tree_count, knot_blocks;
    uint32_t rubs;         // 1: some joint has friction
    uint32_t knots_made;   // 1: their rows are those of the present poses
    const cm_joint *state; // the joints of the state
    // Groups; those of rows, trees and knots follow each other.
    cm_soft_span ball_span, row_span, tree_span, knot_span;
    cm_softness ball, rigid; // of plain balls, of rows
} cm_soft_joints;

// joint.c: all joints.
void cm_soft_prepare_joints(carom_world *world, cm_soft *soft);
bool cm_soft_has_joints(const cm_soft *soft);
void cm_soft_warm_start_joints(cm_soft *soft);
void cm_soft_solve_joints(cm_soft *soft, bool relax);
void cm_soft_store_joints(carom_world *world, cm_soft *soft);

// joint_path.c: paths of the plain balls, or of joints that are rows. Returns how many.
uint32_t cm_soft_find_paths(cm_soft *soft, uint32_t count, bool plain, bool *loops);
// Into groups, from the group `first` on. If the last group would have `few` lanes or less, its
// paths are left out: the last `*left` of the order.
cm_soft_span cm_soft_place_paths(cm_soft *soft, uint32_t *paths, bool plain, uint32_t first,
                                 uint32_t few, uint32_t *left);
// A group of nothing, for plain balls or for the others.
void cm_soft_clear_members(cm_soft *soft, bool plain, uint32_t group);

// joint_tree.c: marks the links of trees; how many links of each kind there are. Bridges of plain
// balls are looked for where cm_soft_find_paths has seen a loop.
typedef struct cm_soft_link_counts {
    uint32_t balls, trees, rows;
} cm_soft_link_counts;
cm_soft_link_counts cm_soft_sort_links(cm_soft *soft, uint32_t count, bool bridges);
// Trees of the links that are marked; returns how many.
uint32_t cm_soft_find_trees(cm_soft *soft, uint32_t count);
// The limbs of the trees, once they stand in groups.
void cm_soft_place_limbs(cm_soft *soft);

// knot.c: trees that stand in the order of the paths from `first` on; once the rows are packed,
// what they hold; and back.
size_t cm_soft_knots_size(size_t knots); // bytes
void cm_soft_place_knots(cm_soft *soft, uint32_t first, uint32_t group);
void cm_soft_pack_knots(cm_soft *soft);
void cm_soft_store_knots(cm_soft *soft);

// ball.c: the plain balls.
void cm_soft_pack_balls(const carom_world *world, cm_soft *soft);
void cm_soft_store_balls(carom_world *world, const cm_soft *soft);

// row.c: the others.
void cm_soft_pack_rows(cm_soft *soft);
// Rows of a group at its poses, in the lanes that are used and those up to a multiple of `width`.
void cm_soft_make_rows(const cm_soft *soft, const cm_soft_rows *g, uint32_t width,
                       cm_soft_made made);
void cm_soft_store_rows(carom_world *world, const cm_soft *soft);

// Of a set of bodies: each leads to its parent, the root to itself.
static inline uint32_t cm_soft_root_of(uint32_t *parent, uint32_t body)
{
    while (parent[body] != body) {
        parent[body] = parent[parent[body]];
        body = parent[body];
    }
    return body;
}

// True if inertias of a group's bodies are to be turned with them.
static inline bool cm_soft_members_turn(const cm_soft *soft, const cm_soft_members *who)
{
    uint32_t round = 1;
    for (uint32_t lane = 0; lane < CM_SOFT_LANES; lane++) {
        round &= soft->inertias[who->a[lane]].round & soft->inertias[who->b[lane]].round;
    }
    return !round;
}

static inline void cm_soft_put(cm_soft_lanes *to, uint32_t lane, carom_vec3 v)
{
    to[0][lane] = v.x;
    to[1][lane] = v.y;
    to[2][lane] = v.z;
}

static inline carom_vec3 cm_soft_get(const cm_soft_lanes *from, uint32_t lane)
{
    return cm_vec(from[0][lane], from[1][lane], from[2][lane]);
}

// Packs a joint's ends; lanes that are not used go where the first does. A joint that is flipped
// has two bodies.
static inline void cm_soft_pack_ends(const cm_joint *joint, bool flipped, uint32_t lane,
                                     cm_soft_ends *ends)
{
    bool held = joint->body_a != CM_NONE;
    uint32_t a = held ? joint->body_a : joint->body_b, b = joint->body_b;
    for (uint32_t k = lane; k < CM_SOFT_LANES && (k == lane || lane == 0); k++) {
        ends->pose_a[k] = flipped ? b : a;
        ends->pose_b[k] = flipped ? a : b;
    }
    ends->held[lane] = held ? 1.0f : 0.0f;
    cm_soft_put(ends->packed.anchor_a, lane, flipped ? joint->anchor_b : joint->anchor_a);
    cm_soft_put(ends->packed.anchor_b, lane, flipped ? joint->anchor_a : joint->anchor_b);
}

// A spring as factors of a velocity constraint (E. Catto, "Soft Constraints", GDC 2011); of no
// stiffness and damping it does nothing.
static inline cm_softness cm_softness_of(float hertz, float damping_ratio, float h)
{
    float omega = 2.0f * 3.14159265f * hertz;
    float a1 = 2.0f * damping_ratio + h * omega, a2 = h * omega * a1, a3 = 1.0f / (1.0f + a2);
    if (!(a2 > 0.0f)) {
        return (cm_softness){0.0f, 0.0f, 1.0f};
    }
    return (cm_softness){omega / a1, a2 * a3, a3};
}

// A value that is not finite comes from a body that is put to rest; a tiny one becomes denormal.
static inline float cm_soft_stored(float x)
{
    return cm_is_finite(x) && cm_abs(x) >= CM_SOFT_TINY ? x : 0.0f;
}

#endif
