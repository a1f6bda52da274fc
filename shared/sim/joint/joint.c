// Joints in the world: creation, destruction, changes. Reading them is get.c.
//
// Creation checks everything first and writes last. A joint takes the lowest free slot; what its
// frames are in the bodies is fixed then, so angle and position are 0 there. Typical: 2,000.
#include "shared/sim/joint/joint.h"

#include "shared/base/fpenv.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#include <string.h>

#define AXIS_MIN 1.0e-6f // length of an axis that still has a direction
#define AXES_MIN 1.0e-3f // sine of the angle between steering and hinge axis

const cm_joint_kind *cm_joint_kind_of(uint32_t type)
{
    static const cm_joint_kind *const kinds[] = {
        [CAROM_JOINT_BALL] = &cm_joint_ball,           [CAROM_JOINT_HINGE] = &cm_joint_hinge,
        [CAROM_JOINT_PRISMATIC] = &cm_joint_prismatic, [CAROM_JOINT_STEERING] = &cm_joint_steering,
        [CAROM_JOINT_FIXED] = &cm_joint_fixed,         [CAROM_JOINT_DISTANCE] = &cm_joint_distance,
        [CAROM_JOINT_MOTOR] = &cm_joint_motor,
    };
    return kinds[type];
}

carom_joint_def carom_default_joint_def(void)
{
    carom_joint_def def;
    memset(&def, 0, sizeof def);
    def.struct_size = sizeof def;
    def.axis = cm_vec(0.0f, 1.0f, 0.0f);
    def.steering_axis = cm_vec(0.0f, 1.0f, 0.0f);
    def.motor_max = def.spring_max = CAROM_FORCE_MAX;
    def.epsilon = def.gamma = -1.0f;
    return def;
}

// Creation ---------------------------------------------------------------------------------------

// A body's end of a joint: of the world where `slot` is CM_NONE.
typedef struct end {
    carom_vec3 center;
    carom_quat orientation;
} end;

static end end_of(const carom_world *world, uint32_t slot)
{
    if (slot == CM_NONE) {
        return (end){cm_vec(0.0f, 0.0f, 0.0f), cm_quat_identity()};
    }
    return (end){cm_motions(world)[slot].position, cm_motions(world)[slot].orientation};
}

static carom_vec3 to_body(const end *e, carom_vec3 point)
{
    return cm_rotate_inverse(e->orientation, cm_sub(point, e->center));
}

static carom_quat frame_in(const end *e, carom_vec3 x, carom_vec3 y)
{
    carom_quat frame = cm_quat_of_basis(x, y, cm_cross(x, y));
    return cm_quat_normalize(cm_quat_mul(cm_quat_conjugate(e->orientation), frame));
}

static carom_result check_axis(carom_vec3 axis, const char *field, carom_vec3 *unit,
                               carom_error *error)
{
    CM_FIELD(cm_check_vec(axis, CAROM_POSITION_MAX), field, "components within 1e7");
    CM_WANT(cm_length(axis) >= AXIS_MIN, field, "a direction, of length 1e-6 or more");
    *unit = cm_normalize(axis);
    return CAROM_OK;
}

static carom_result set_frames(const carom_joint_def *def, const end *a, const end *b,
                               cm_joint *joint, carom_error *error)
{
    carom_vec3 axis, y, z;
    CM_TRY(check_axis(def->axis, "axis", &axis, error));
    cm_basis(axis, &y, &z);
    joint->frame_b = frame_in(b, axis, y);
    if (def->type != CAROM_JOINT_STEERING) {
        joint->frame_a = frame_in(a, axis, y);
        return CAROM_OK;
    }
    carom_vec3 steering;
    CM_TRY(check_axis(def->steering_axis, "steering_axis", &steering, error));
    joint->rest = cm_dot(steering, axis);
    carom_vec3 across = cm_mul_add(axis, -joint->rest, steering);
    CM_WANT(!(cm_length(across) < AXES_MIN), "steering_axis", "another direction than axis");
    joint->frame_a = frame_in(a, steering, cm_normalize(across));
    return CAROM_OK;
}

static void set_extras(const carom_joint_def *def, cm_joint *joint)
{
    bool stiff = def->spring == CAROM_SPRING_STIFFNESS;
    joint->flags = def->collide ? CM_JOINT_COLLIDE : 0;
    joint->max_force = joint->max_torque = CAROM_FORCE_MAX;
    joint->epsilon = def->epsilon;
    joint->gamma = def->gamma;
    if (def->has_limits) {
        joint->flags |= CM_JOINT_LIMITS;
        joint->lower = def->lower;
        joint->upper = def->upper;
    }
    if (def->has_motor) {
        bool linear = !cm_joint_kind_of(joint->type)->angle;
        joint->flags |= CM_JOINT_MOTOR;
        *(linear ? &joint->drive_linear.x : &joint->drive_angular.x) = def->motor_velocity;
        joint->max_force = joint->max_torque = def->motor_max;
    }
    if (def->spring != CAROM_SPRING_NONE) {
        joint->flags |= stiff ? CM_JOINT_SPRING_STIFFNESS : CM_JOINT_SPRING_HERTZ;
        joint->spring[0] = stiff ? def->spring_stiffness : def->spring_hertz;
        joint->spring[1] = stiff ? def->spring_damping : def->spring_damping_ratio;
        joint->target = def->spring_target;
        joint->target_velocity = def->spring_velocity;
        joint->spring_max = def->spring_max;
    }
    joint->break_force = def->break_force;
    joint->break_torque = def->break_torque;
    joint->friction = def->friction;
}

CM_FP_BODY static carom_result row_from_def(const carom_world *world, const carom_joint_def *def,
                                            cm_joint *joint, carom_error *error)
{
    end a = end_of(world, joint->body_a), b = end_of(world, joint->body_b);
    CM_FIELD(cm_check_vec(def->anchor, CAROM_POSITION_MAX), "anchor", "components within 1e7 m");
    carom_vec3 anchor_b = def->anchor;
    if (def->type == CAROM_JOINT_DISTANCE) {
        CM_FIELD(cm_check_vec(def->anchor_b, CAROM_POSITION_MAX), "anchor_b",
                 "components within 1e7 m");
        anchor_b = def->anchor_b;
        joint->rest = cm_length(cm_sub(anchor_b, def->anchor));
    }
    joint->anchor_a = to_body(&a, def->anchor);
    joint->anchor_b = to_body(&b, anchor_b);
    CM_TRY(set_frames(def, &a, &b, joint, error));
    set_extras(def, joint);
    return cm_check_joint(joint, error);
}

static bool is_movable(const carom_world *world, uint32_t slot)
{
    return slot != CM_NONE && cm_bodies(world)[slot].type != CAROM_BODY_STATIC;
}

static carom_result find_ends(carom_world *world, carom_body_id body_a, carom_body_id body_b,
                              cm_joint *joint)
{
    carom_error *error = &world->error;
    joint->body_a = CM_NONE;
    if (!carom_body_id_is_null(body_a)) {
        CM_FIELD(cm_body_find(world, body_a) ? CAROM_OK : CAROM_ERROR_STALE_ID, "body_a",
                 CM_LIVE_BODY);
        joint->body_a = body_a.index;
    }
    CM_FIELD(cm_body_find(world, body_b) ? CAROM_OK : CAROM_ERROR_STALE_ID, "body_b", CM_LIVE_BODY);
    joint->body_b = body_b.index;
    CM_WANT(joint->body_a != joint->body_b, "body_b", "another body than body_a");
    CM_WANT(is_movable(world, joint->body_a) || is_movable(world, joint->body_b), "body_b",
            "one of the two able to move");
    return CAROM_OK;
}

carom_result carom_joint_create(carom_world *world, const carom_joint_def *def, carom_joint_id *id)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(def, "def", "a definition");
    CM_WANT(def->struct_size == sizeof *def, "struct_size", CM_DEFAULT("joint"));
    CM_WANT((unsigned)def->type <= CAROM_JOINT_MOTOR, "type", "a carom_joint_type");
    CM_WANT((unsigned)def->spring <= CAROM_SPRING_STIFFNESS, "spring", "a carom_spring_type");
    CM_FIELD(world->state.solver == CAROM_SOLVER_IMPULSE ? CAROM_ERROR_STATE : CAROM_OK, "",
             "a world of another solver: impulse has no joints");
    CM_WANT(def->spring_velocity == 0.0f || world->state.solver == CAROM_SOLVER_LCP,
            "spring_velocity", "0: the lcp solver alone has it");
    cm_joint joint;
    memset(&joint, 0, sizeof joint);
    joint.alive = 1;
    joint.type = (uint8_t)def->type;
    CM_TRY(find_ends(world, def->body_a, def->body_b, &joint));
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = row_from_def(world, def, &joint, error);
    cm_fpenv_leave(saved);
    CM_TRY(result);
    uint32_t slot = cm_joint_free_slot(world);
    CM_FIELD(slot != CM_NONE ? CAROM_OK : CAROM_ERROR_LIMIT_JOINTS, "", "a free slot of joints");
    cm_joint *row = &cm_joints(world)[slot];
    joint.generation = 1;
    if (slot < world->state.joint_slots) {
        joint.generation = row->generation + 1;
    } else {
        world->state.joint_slots = slot + 1;
    }
    *row = joint;
    cm_joint_wake_ends(world, row);
    if (id != NULL) {
        *id = (carom_joint_id){slot, joint.generation};
    }
    return CAROM_OK;
}

// Going and coming back ---------------------------------------------------------------------------

static carom_result find(carom_world *world, carom_joint_id id, cm_joint **joint)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    *joint = cm_joint_find(world, id);
    return *joint != NULL ? CAROM_OK
                          : cm_refuse(&world->error, CAROM_ERROR_STALE_ID, "joint", CM_LIVE_JOINT);
}

// Nothing of what it did is of use to what it does next.
static void let_go(cm_joint *joint)
{
    memset(joint->impulse, 0, sizeof joint->impulse);
    joint->force = joint->torque = 0.0f;
}

carom_result carom_joint_destroy(carom_world *world, carom_joint_id joint)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_FIELD(cm_joint_find(world, joint) ? CAROM_OK : CAROM_ERROR_STALE_ID, "joint", CM_LIVE_JOINT);
    cm_joint_remove(world, joint.index);
    return CAROM_OK;
}

carom_result carom_joint_detach(carom_world *world, carom_joint_id id)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    if (cm_joint_holds(joint)) {
        cm_joint_wake_ends(world, joint);
        let_go(joint);
        joint->flags |= CM_JOINT_DETACHED;
    }
    return CAROM_OK;
}

carom_result carom_joint_attach(carom_world *world, carom_joint_id id, carom_body_id body_a,
                                carom_body_id body_b)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    carom_error *error = &world->error;
    cm_joint changed = *joint;
    CM_TRY(find_ends(world, body_a, body_b, &changed));
    CM_WANT((changed.body_a == CM_NONE) == (joint->body_a == CM_NONE), "body_a",
            "the world for a joint with the world, a body for another");
    bool same =
        cm_joint_holds(joint) && changed.body_a == joint->body_a && changed.body_b == joint->body_b;
    if (!same) {
        cm_joint_wake_ends(world, joint);
        let_go(&changed);
        changed.flags &= (uint8_t)~CM_JOINT_DETACHED;
        *joint = changed;
        cm_joint_wake_ends(world, joint);
    }
    return CAROM_OK;
}

void cm_joint_break(carom_world *world, cm_scratch *scratch)
{
    world->joint_event_count = 0;
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        bool breaks =
            joint->alive && ((joint->break_force > 0.0f && joint->force > joint->break_force) ||
                             (joint->break_torque > 0.0f && joint->torque > joint->break_torque));
        if (!breaks) {
            continue;
        }
        carom_joint_event *event = &scratch->joint_events[world->joint_event_count++];
        event->joint = (carom_joint_id){i, joint->generation};
        event->body_a = cm_body_id(world, joint->body_a);
        event->body_b = cm_body_id(world, joint->body_b);
        event->force = joint->force;
        event->torque = joint->torque;
        cm_joint_remove(world, i);
        world->stats.joints_broken++;
    }
}

// Changes ----------------------------------------------------------------------------------------

// Takes a changed row where it is allowed.
static carom_result put(carom_world *world, cm_joint *joint, const cm_joint *changed)
{
    CM_TRY(cm_check_joint(changed, &world->error));
    if (memcmp(joint, changed, sizeof *joint) != 0) {
        cm_joint_wake_ends(world, joint);
    }
    *joint = *changed;
    return CAROM_OK;
}

carom_result carom_joint_set_motor(carom_world *world, carom_joint_id id, float velocity, float max)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    const cm_joint_kind *kind = cm_joint_kind_of(joint->type);
    cm_joint changed = *joint;
    changed.flags |= CM_JOINT_MOTOR;
    *(kind->angle ? &changed.drive_angular.x : &changed.drive_linear.x) = velocity;
    changed.max_force = changed.max_torque = max;
    if (cm_joint_may(joint->type, CM_JOINT_MOTOR) && max == 0.0f &&
        joint->type != CAROM_JOINT_MOTOR) {
        changed.flags &= (uint8_t)~CM_JOINT_MOTOR;
    }
    return put(world, joint, &changed);
}

carom_result carom_joint_set_drive(carom_world *world, carom_joint_id id, carom_vec3 linear,
                                   carom_vec3 angular, float max_force, float max_torque)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    carom_error *error = &world->error;
    CM_WANT(joint->type == CAROM_JOINT_MOTOR, "joint", "a motor joint");
    cm_joint changed = *joint;
    changed.flags |= CM_JOINT_MOTOR;
    changed.drive_linear = linear;
    changed.drive_angular = angular;
    changed.max_force = max_force;
    changed.max_torque = max_torque;
    return put(world, joint, &changed);
}

carom_result carom_joint_set_target(carom_world *world, carom_joint_id id, float target,
                                    float velocity)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    carom_error *error = &world->error;
    bool lcp = world->state.solver == CAROM_SOLVER_LCP;
    CM_WANT(cm_joint_has_spring(joint), "joint", "a joint with a spring");
    CM_WANT(velocity == 0.0f || lcp, "velocity", "0: the lcp solver alone has it");
    cm_joint changed = *joint;
    changed.target = target;
    changed.target_velocity = velocity;
    return put(world, joint, &changed);
}

carom_result carom_joint_put_drives(carom_world *world, carom_joint_id id,
                                    const carom_joint_drives *drives)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    carom_error *error = &world->error;
    CM_WANT(drives, "drives", "what drives a joint");
    cm_joint changed = *joint;
    changed.drive_linear = drives->linear;
    changed.drive_angular = drives->angular;
    changed.max_force = drives->max_force;
    changed.max_torque = drives->max_torque;
    changed.target = drives->target;
    changed.target_velocity = drives->target_velocity;
    return put(world, joint, &changed);
}

carom_result carom_joint_set_limits(carom_world *world, carom_joint_id id, float lower, float upper)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    cm_joint changed = *joint;
    changed.flags |= CM_JOINT_LIMITS;
    changed.lower = lower;
    changed.upper = upper;
    return put(world, joint, &changed);
}

carom_result carom_joint_clear_limits(carom_world *world, carom_joint_id id)
{
    cm_joint *joint;
    CM_TRY(find(world, id, &joint));
    cm_joint_wake_ends(world, joint);
    joint->flags &= (uint8_t)~CM_JOINT_LIMITS;
    joint->lower = joint->upper = 0.0f;
    return CAROM_OK;
}
