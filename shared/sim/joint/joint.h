// Joints inside the simulation: what each type is to a solver, and what the stages need of them.
// Private to shared/sim.
//
// A type describes itself in rows, for any solver: `linear` and the two angular parts are the row's
// Jacobian J, error is phi, and
//     J v = linear . (v_b - v_a) + angular_a . w_a + angular_b . w_b,   d(error)/dt = J v.
// Rows come in the order in which an iterative solver takes them: motors and springs first, what is
// rigid last. A row's place is where its impulse is kept from step to step. Each type has a file:
//
//   places    ball        hinge    prismatic   fixed    distance   steering   motor
//   0 to 2    point       point    turn        point    length     point      drive
//   3 to 5    spring      tilt x2  off axis x2 turn     -          tilt       drive turn
//   6 to 8    motor       -        -           -        -          -          -
//   5 to 8    -           spring, motor, lower, upper   (1 to 4)   (5 to 8)   -
#ifndef CM_SIM_JOINT_JOINT_H
#define CM_SIM_JOINT_JOINT_H

#include "shared/sim/state/scratch.h"

#define CM_JOINT_BLOCK_MAX 6u

typedef enum cm_row_kind {
    CM_ROW_RIGID,  // error to 0
    CM_ROW_SPRING, // error to 0 by the joint's spring, with a force within bounds
    CM_ROW_MOTOR,  // J v to `velocity` with a force within bounds
    CM_ROW_LIMIT,  // error not below 0: force 0 or more
} cm_row_kind;

typedef struct cm_joint_row {
    carom_vec3 linear; // of b; of a it is the opposite. Zero: a turning row
    carom_vec3 angular_a, angular_b;
    float error;        // m or rad
    float lower, upper; // of the force, N or N m
    float velocity;     // wanted J v
    uint8_t kind, place;
    uint8_t block; // of rows to solve at once: their number in the first, 0 in those that follow
    uint8_t turning;
} cm_joint_row;

// The pose of a joint, in world axes.
typedef struct cm_joint_pose {
    carom_vec3 ra, rb; // from each centre of mass to its anchor
    carom_vec3 gap;    // from a's anchor to b's
    cm_mat3 a;         // a's joint frame: x is the axis
    cm_mat3 b;
    carom_quat turn; // of b's frame in a's
} cm_joint_pose;

typedef struct cm_joint_kind {
    bool angle; // its coordinate is an angle, else a length
    // The rows; returns how many, at most CM_JOINT_ROWS_MAX.
    uint32_t (*rows)(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *rows);
    // The free coordinate as a row, its value in error; false where the type has none of one axis.
    bool (*coordinate)(const cm_joint *joint, const cm_joint_pose *pose, cm_joint_row *row);
} cm_joint_kind;

extern const cm_joint_kind cm_joint_ball, cm_joint_hinge, cm_joint_prismatic, cm_joint_steering,
    cm_joint_fixed, cm_joint_distance, cm_joint_motor;

// By carom_joint_type, which must be known.
const cm_joint_kind *cm_joint_kind_of(uint32_t type);

// rows.c: pieces that the types are made of ----------------------------------------------------

// Three rows that hold the anchors together, along the world's axes.
void cm_joint_point_rows(const cm_joint_pose *pose, uint8_t place, cm_joint_row *rows);
// Three rows that hold b's frame in a's, about the world's axes; error is the turn for small turns.
void cm_joint_turn_rows(const cm_joint_pose *pose, uint8_t place, cm_joint_row *rows);
// A row along or about an axis that is fixed in a.
cm_joint_row cm_joint_slide_row(const cm_joint_pose *pose, carom_vec3 axis);
cm_joint_row cm_joint_spin_row(carom_vec3 axis, float error);
// Spring, motor and limits about or along a coordinate, in four places from `place` on; returns how
// many rows.
uint32_t cm_joint_free_rows(const cm_joint *joint, const cm_joint_row *coordinate, uint8_t place,
                            cm_joint_row *rows);
// Makes rows one block: what a type holds, so that levers are held as firmly as points.
void cm_joint_make_block(cm_joint_row *rows, uint32_t count);
// Makes rows single springs, or motors, of the joint.
void cm_joint_make_springs(cm_joint_row *rows, uint32_t count);
void cm_joint_make_motor(const cm_joint *joint, float velocity, cm_joint_row *row);
// Angle of a turn about x, in (-pi, pi].
float cm_joint_twist(carom_quat turn);

static inline bool cm_joint_has_spring(const cm_joint *joint)
{
    return (joint->flags & (CM_JOINT_SPRING_HERTZ | CM_JOINT_SPRING_STIFFNESS)) != 0;
}

// True if cm_joint_free_rows may make any: else nobody needs the coordinate.
static inline bool cm_joint_has_free_rows(const cm_joint *joint)
{
    return cm_joint_has_spring(joint) || (joint->flags & (CM_JOINT_MOTOR | CM_JOINT_LIMITS)) != 0;
}

// pose.c: where a joint of the state stands.
void cm_joint_pose_get(const carom_world *world, const cm_joint *joint, cm_joint_pose *pose);
// From anchors and frames in world axes.
void cm_joint_pose_turned(carom_quat frame_a, carom_quat frame_b, cm_joint_pose *pose);
// A quaternion of a right-handed basis of unit vectors.
carom_quat cm_quat_of_basis(carom_vec3 x, carom_vec3 y, carom_vec3 z);

// joint.c ---------------------------------------------------------------------------------------

// Joints whose force or torque in this tick was too much go, with an event.
void cm_joint_break(carom_world *world, cm_scratch *scratch);

// filter.c: bodies that pass through each other because a joint holds them -----------------------

size_t cm_joint_filter_size(const carom_limits *limits); // bytes of scratch
void cm_joint_filter_forget(cm_scratch *scratch);        // as joints may have changed
// True for two bodies that must not collide; false at once in a world without joints.
bool cm_joint_filter_finds(const carom_world *world, const cm_scratch *scratch, uint32_t body_a,
                           uint32_t body_b);

static inline bool cm_joint_filter_has(const carom_world *world, const cm_scratch *scratch,
                                       uint32_t body_a, uint32_t body_b)
{
    return world->state.joint_slots > 0 && cm_joint_filter_finds(world, scratch, body_a, body_b);
}

#endif
