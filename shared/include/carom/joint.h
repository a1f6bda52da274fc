// Joints: what holds two bodies together, or one to the world. Part of carom/world.h.
//
// Everything is measured from the poses at creation, where angle and position are 0: of b relative
// to a, about or along the axis fixed in a.
//
//   type       holds                            angle or position           spring, motor, limits
//   ball       the anchors together             the whole turn, 0 to pi     turn; turn; -
//   hinge      anchors and axes together        about the axis, (-pi, pi]   all three
//   prismatic  turn, and anchors off the axis   along the axis, m           all three
//   fixed      anchors and turn                 the whole turn, 0 to pi     makes it all soft; -; -
//   distance   the anchors' distance            distance - the first, m     all; limits are lengths
//   steering   anchors, and the angle between   the hinge axis about the    all three
//              a's steering and b's hinge axis  steering axis, (-pi, pi]
//   motor      nothing: drives b's velocity     along the axis, m           pulls to the first pose
//
// Steering: a is the chassis, b the wheel; b spins freely about its hinge axis (drive it by a
// torque), and angle, spring, motor and limits are about the steering axis fixed in a.
// Spring: pulls angle or position (of a ball the turn, of a fixed joint and of a motor all six
// freedoms) to 0, or to a target (spring_target). A distance with a spring, a motor or limits is
// held by these alone. Motor: wants a velocity about or along the axis with a force or torque of at
// most its maximum; on a ball the same about all axes (velocity 0: friction). Limits: lower <=
// upper; equal ones hold. A limit of an angle at or beyond pi never acts. Friction: of balls and
// hinges in the soft solver, by the force that they bear; limbs of ragdolls rest by it.
//
// Joints do not travel with single bodies (carom_world_encode_body): a mirror gets them with the
// whole world, or by carom_world_encode_settings.
#ifndef CAROM_JOINT_H
#define CAROM_JOINT_H

#include "carom/id.h"
#include "carom/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct carom_world;

typedef enum carom_joint_type {
    CAROM_JOINT_BALL = 0,      ///< turns every way
    CAROM_JOINT_HINGE = 1,     ///< turns about an axis
    CAROM_JOINT_PRISMATIC = 2, ///< slides along an axis
    CAROM_JOINT_STEERING = 3,  ///< a wheel that spins and is steered
    CAROM_JOINT_FIXED = 4,     ///< neither turns nor slides
    CAROM_JOINT_DISTANCE = 5,  ///< a rod, or with limits a rope
    CAROM_JOINT_MOTOR = 6,     ///< a drive in all six freedoms
} carom_joint_type;
CAROM_ENUM_32(carom_joint_type);

typedef enum carom_spring_type {
    CAROM_SPRING_NONE = 0,      ///< rigid
    CAROM_SPRING_HERTZ = 1,     ///< frequency, damping ratio: as heavy as what hangs on it
    CAROM_SPRING_STIFFNESS = 2, ///< N/m and N s/m, or N m/rad and N m s/rad
} carom_spring_type;
CAROM_ENUM_32(carom_spring_type);

/// A joint as it is made, between two bodies, or between the world (body_a null) and a body.
/// Anchors and axes are given in world axes at the bodies' present poses, and are fixed in the
/// bodies from then on. Springs, motors and limits are off by default; the table above says which
/// type has them.
typedef struct carom_joint_def {
    uint32_t struct_size;  ///< set by carom_default_joint_def; another size is refused
    carom_joint_type type; ///< ball
    carom_body_id body_a;  ///< the null id: the world
    carom_body_id body_b;  ///< one of the two bodies must be able to move
    carom_vec3 anchor;     ///< m, in world axes and place; of a distance: on a
    carom_vec3 anchor_b;   ///< distance alone: on b
    carom_vec3 axis;       ///< world axes, any length above 0; (0, 1, 0). Steering: the hinge axis
    carom_vec3 steering_axis; ///< steering alone; (0, 1, 0), not along axis
    /// False: the two bodies pass through each other. True, shapes that overlap at the joint fight
    /// it.
    bool collide;
    bool has_limits; ///< false: it moves as far as it likes
    /// rad or m; of a distance the lengths. Limits close together hold like a softer joint.
    float lower, upper;
    bool has_motor; ///< false: nothing drives it
    /// rad/s or m/s; 0 brakes.
    float motor_velocity;
    /// N m or N (a drive: both); by default the most there is, so that nothing stalls it. Below
    /// what the load asks for, it gives way.
    float motor_max;
    carom_spring_type spring; ///< none
    /// 1/s; 1 is critical. More hertz are stiffer, whatever hangs on it; below a ratio of 1 it
    /// swings, above it creeps back.
    float spring_hertz, spring_damping_ratio;
    /// A given stiffness sags by m g / k under a mass m, so what is heavier sags more.
    float spring_stiffness, spring_damping;
    /// A spring along a free coordinate (hinge, prismatic, steering, distance) is a PD controller:
    /// stiffness (spring_target - value) + damping (spring_velocity - rate), at most spring_max,
    /// taken implicitly: stiff ones stay stable. 0, 0 (other than 0 in lcp alone), the most there
    /// is
    float spring_target, spring_velocity, spring_max; ///< rad or m; rad/s or m/s; N m or N
    /// N, mean over a tick: above it the joint is destroyed; 0: never. A blow reaches many times
    /// the weight that hangs on it, so leave room.
    float break_force;
    float break_torque; ///< N m; likewise
    /// Of a ball or hinge in the soft solver: m, at which it rubs: a torque of at most the force
    /// that the joint bears times this, against the turn of one body in the other. A pin of 3 mm
    /// with friction .1 has .0003; 0, the default, is the pin of formulas: what hangs on it swings
    /// on.
    float friction;
    /// Of its rows in the lcp solver; negative: the solver's. A higher epsilon yields more.
    float epsilon, gamma;
} carom_joint_def;

CAROM_API carom_joint_def carom_default_joint_def(void);

/// A joint may be made at any time between two steps, from a module's callbacks too. Two bodies
/// stay together where they touch with a fixed joint whose anchor is the point of their contact
/// event; from then on they no longer collide with each other, unless `collide` says so. Errors:
/// CAROM_ERROR_STALE_ID for a body, ARGUMENT (also for what a type cannot have: limits of a ball or
/// a fixed joint or a motor, a motor of a fixed joint), LIMIT_JOINTS, STATE in a world of the
/// impulse solver, which has none. `joint` may be NULL.
CAROM_API carom_result carom_joint_create(struct carom_world *world, const carom_joint_def *def,
                                          carom_joint_id *joint);
/// A joint also goes with either of its bodies, without an event.
CAROM_API carom_result carom_joint_destroy(struct carom_world *world, carom_joint_id joint);
/// A joint lets go of its bodies and keeps everything else: anchors and axes in the bodies, limits,
/// motor, spring, its id and its slot. It still names the bodies and goes with either of them.
/// Warm-starting impulses and readouts of force are forgotten.
CAROM_API carom_result carom_joint_detach(struct carom_world *world, carom_joint_id joint);
/// A joint holds these two bodies from the next step on: those it had (carom_joint_get) or others.
/// Anchors and axes are where they were in the axes of each end, so angle and position count from
/// the first pose still. What does not fit together is pulled together over the next steps, by the
/// rule of the solver: bodies far apart fly, so bring them near. body_a null: the world, where the
/// joint had the world, and only there (ARGUMENT).
CAROM_API carom_result carom_joint_attach(struct carom_world *world, carom_joint_id joint,
                                          carom_body_id body_a, carom_body_id body_b);
CAROM_API bool carom_joint_is_valid(const struct carom_world *world, carom_joint_id joint);

/// Slots in use lie below this count; a slot may be free (carom_world_joint_at gives the null id).
CAROM_API uint32_t carom_world_joint_slots(const struct carom_world *world);
CAROM_API carom_joint_id carom_world_joint_at(const struct carom_world *world, uint32_t slot);

typedef struct carom_joint_state {
    carom_joint_type type; ///< as made
    carom_body_id body_a;  ///< the null id: the world
    carom_body_id body_b;  ///< what `value`, `force` and `torque` are of
    bool attached;         ///< false: it holds nothing (carom_joint_detach)
    bool is_angle;         ///< value is an angle, else a position
    float value;           ///< rad or m
    float rate;            ///< rad/s or m/s
    float error;           ///< m, by which what is held has come apart, or a limit in m is passed
    float angular_error;   ///< rad
    float force;           ///< N, on b, mean over the last tick
    float torque;          ///< N m, likewise, without what the force does at its arm, and friction
    carom_vec3 anchor_a, anchor_b; ///< world
    carom_vec3 axis;               ///< world, fixed in a; steering: the steering axis
    carom_vec3 axis_b;             ///< world, fixed in b; steering: the hinge axis
} carom_joint_state;

CAROM_API carom_result carom_joint_get(const struct carom_world *world, carom_joint_id joint,
                                       carom_joint_state *state);

/// A velocity and the most force or torque; a maximum of 0 takes the motor away.
CAROM_API carom_result carom_joint_set_motor(struct carom_world *world, carom_joint_id joint,
                                             float velocity, float max);
/// A motor joint (6-DOF drive): both velocities of b relative to a, in the axes that a's joint
/// frame has (x is the axis); and the most force and torque.
CAROM_API carom_result carom_joint_set_drive(struct carom_world *world, carom_joint_id joint,
                                             carom_vec3 linear, carom_vec3 angular, float max_force,
                                             float max_torque);
/// Sets what the spring of a free coordinate pulls to: a servo. ARGUMENT for a joint without one.
CAROM_API carom_result carom_joint_set_target(struct carom_world *world, carom_joint_id joint,
                                              float target, float velocity);
/// The drives of a joint, of every type: as the three above and its definition left them.
typedef struct carom_joint_drives {
    carom_vec3 linear, angular;  ///< m/s and rad/s that a motor wants; x is about or along the axis
    float max_force, max_torque; ///< N and N m that it may take; 0: none
    float target, target_velocity; ///< what a spring pulls to: rad or m, and rad/s or m/s
} carom_joint_drives;
/// The two copy all of it between worlds in which the joint is the same.
CAROM_API carom_result carom_joint_get_drives(const struct carom_world *world, carom_joint_id joint,
                                              carom_joint_drives *drives);
CAROM_API carom_result carom_joint_put_drives(struct carom_world *world, carom_joint_id joint,
                                              const carom_joint_drives *drives);
CAROM_API carom_result carom_joint_set_limits(struct carom_world *world, carom_joint_id joint,
                                              float lower, float upper);
CAROM_API carom_result carom_joint_clear_limits(struct carom_world *world, carom_joint_id joint);

/// A joint that broke in the last step, and what broke it.
typedef struct carom_joint_event {
    carom_joint_id joint;         ///< gone
    carom_body_id body_a, body_b; ///< held by it until then; a null: the world
    float force, torque;          ///< N, N m, mean over the tick: one was above its limit
} carom_joint_event;

/// In ascending slots. Scratch: valid until the next call that changes the world; not saved.
CAROM_API const carom_joint_event *carom_world_joint_events(const struct carom_world *world,
                                                            uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
