// Rules for single rows; see check.h. Each rule is one line, in the order of the fields, and the
// first broken one decides: NOT_FINITE before ARGUMENT.
#include "shared/sim/state/check.h"

#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"

carom_result cm_check_float(float value, float low, float high)
{
    if (!cm_is_finite(value)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    return value >= low && value <= high ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_vec(carom_vec3 value, float high)
{
    if (!cm_vec_is_finite(value)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    bool in = cm_abs(value.x) <= high && cm_abs(value.y) <= high && cm_abs(value.z) <= high;
    return in ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

static carom_result check_norm(double squared)
{
    // In binary64, where the square of any finite binary32 is finite.
    const double low = 1.0 - (double)CM_UNIT_TOLERANCE, high = 1.0 + (double)CM_UNIT_TOLERANCE;
    return squared >= low * low && squared <= high * high ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_quat(carom_quat value)
{
    if (!cm_quat_is_finite(value)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    double x = (double)value.x, y = (double)value.y, z = (double)value.z, w = (double)value.w;
    return check_norm(x * x + y * y + z * z + w * w);
}

carom_result cm_check_unit(carom_vec3 value)
{
    if (!cm_vec_is_finite(value)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    double x = (double)value.x, y = (double)value.y, z = (double)value.z;
    return check_norm(x * x + y * y + z * z);
}

static carom_result check_solver(const cm_world_state *state)
{
    CM_TRY(cm_check_float(state->pixel, 0.0f, CM_SIZE_MAX));
    CM_TRY(cm_check_float(state->epsilon, 0.0f, CM_SOFTNESS_MAX));
    CM_TRY(cm_check_float(state->gamma, 0.0f, 1.0f));
    CM_TRY(cm_check_float(state->max_friction, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(state->stiffness, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(state->damping, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(state->tangent_stiffness, -1.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(state->tangent_damping, -1.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(state->friction_kinetic, -1.0f, CM_FRICTION_MAX));
    CM_TRY(cm_check_float(state->friction_static, -1.0f, CM_FRICTION_MAX));
    bool known = state->model <= CAROM_IMPULSE_CIRCLE &&
                 state->friction_model <= CAROM_FRICTION_PYRAMID &&
                 state->volume_contact <= CAROM_VOLUME_DEEPEST_POINT;
    bool counts = state->rounds >= 1 && state->rounds <= CM_MAX_ROUNDS && state->segments >= 3 &&
                  state->segments <= CM_MAX_SEGMENTS && state->direct_rows <= CM_MAX_DIRECT_ROWS;
    return known && counts ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_room(const carom_world *world, const cm_world_state *state)
{
    bool fits = state->solver == world->room.solver &&
                state->direct_rows <= world->room.direct_rows &&
                state->segments <= world->room.segments;
    return fits ? CAROM_OK : CAROM_ERROR_LIMIT_SIZE;
}

carom_result cm_check_rule(const cm_rule *rule)
{
    CM_TRY(cm_check_float(rule->friction, -1.0f, CM_FRICTION_MAX));
    CM_TRY(cm_check_float(rule->restitution, -1.0f, 1.0f));
    return rule->kinds <= 3 ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_state(const cm_world_state *state)
{
    CM_TRY(cm_check_vec(state->gravity, CM_VELOCITY_MAX));
    CM_TRY(check_solver(state));
    bool known = state->solver <= CAROM_SOLVER_VOLUME && state->flags <= CM_WORLD_FLAGS &&
                 state->friction_combine <= CAROM_COMBINE_MAX &&
                 state->restitution_combine <= CAROM_COMBINE_MAX;
    bool rates = state->tick_rate >= 1 && state->tick_rate <= 1000 &&
                 (state->substeps >= 1 || state->solver == CAROM_SOLVER_VOLUME) &&
                 state->substeps <= CM_MAX_SUBSTEPS;
    // Both words zero would be a generator that gives nothing but zero.
    bool random = state->random[0] != 0 || state->random[1] != 0;
    return known && rates && random ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_motion(const cm_motion *motion)
{
    if (!cm_vec_is_finite(motion->position) || !cm_vec_is_finite(motion->linear_velocity) ||
        !cm_vec_is_finite(motion->angular_velocity)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    return cm_check_quat(motion->orientation);
}

static carom_result check_mass(const cm_body *body)
{
    CM_TRY(cm_check_float(body->mass, 0.0f, CM_MASS_MAX));
    CM_TRY(cm_check_vec(body->inertia, CM_INERTIA_MAX));
    CM_TRY(cm_check_quat(body->inertia_orientation));
    CM_TRY(cm_check_vec(body->center_of_mass, CM_SIZE_MAX));
    if (body->inertia.x < 0.0f || body->inertia.y < 0.0f || body->inertia.z < 0.0f) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (body->type != CAROM_BODY_DYNAMIC) {
        return CAROM_OK;
    }
    bool positive = body->mass >= CM_MASS_MIN && body->inertia.x >= CM_INERTIA_MIN &&
                    body->inertia.y >= CM_INERTIA_MIN && body->inertia.z >= CM_INERTIA_MIN;
    return positive ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_body(const cm_body *body)
{
    if (body->type > CAROM_BODY_DYNAMIC || body->alive > 1 || body->locks > 63 ||
        body->flags > CM_BODY_FLAGS) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(cm_check_vec(body->force, CM_FORCE_MAX));
    CM_TRY(cm_check_vec(body->torque, CM_FORCE_MAX));
    CM_TRY(cm_check_vec(body->applied_force, CM_FORCE_MAX));
    CM_TRY(cm_check_vec(body->applied_torque, CM_FORCE_MAX));
    CM_TRY(cm_check_float(body->gravity_scale, -CM_SCALE_MAX, CM_SCALE_MAX));
    CM_TRY(cm_check_float(body->linear_damping, 0.0f, CM_DAMPING_MAX));
    CM_TRY(cm_check_float(body->angular_damping, 0.0f, CM_DAMPING_MAX));
    CM_TRY(cm_check_float(body->quiet, 0.0f, CM_QUIET_MAX));
    CM_TRY(cm_check_float(body->epsilon, -1.0f, CM_SOFTNESS_MAX));
    CM_TRY(cm_check_float(body->gamma, -1.0f, 1.0f));
    if (!cm_vec_is_finite(body->contact_force) || !cm_vec_is_finite(body->contact_torque)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    bool pointer = body->pointer != CAROM_NO_PLAYER;
    bool asleep = (body->flags & CM_BODY_ASLEEP) != 0;
    if ((pointer && (body->type != CAROM_BODY_KINEMATIC || body->pointer >= CM_MAX_PLAYERS)) ||
        asleep != (body->island != CM_NONE) || (asleep && body->type != CAROM_BODY_DYNAMIC) ||
        (asleep && (body->flags & CM_BODY_STIRRED))) {
        return CAROM_ERROR_ARGUMENT;
    }
    return check_mass(body);
}

static carom_result check_size(const cm_shape *shape)
{
    const float *size = shape->size;
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return cm_check_float(size[0], CM_SIZE_MIN, CM_SIZE_MAX);
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        CM_TRY(cm_check_float(size[0], CM_SIZE_MIN, CM_SIZE_MAX));
        return cm_check_float(size[1], CM_SIZE_MIN, CM_SIZE_MAX);
    case CAROM_SHAPE_BOX:
        CM_TRY(cm_check_float(size[0], CM_SIZE_MIN, CM_SIZE_MAX));
        CM_TRY(cm_check_float(size[1], CM_SIZE_MIN, CM_SIZE_MAX));
        return cm_check_float(size[2], CM_SIZE_MIN, CM_SIZE_MAX);
    case CAROM_SHAPE_PLANE:
        CM_TRY(cm_check_unit(cm_vec(size[0], size[1], size[2])));
        return cm_check_float(size[3], -CM_POSITION_MAX, CM_POSITION_MAX);
    case CAROM_SHAPE_HULL: // flatter inside than CM_SIZE_MIN is fine
        CM_TRY(cm_check_float(size[0], 1.0e-12f, CM_SIZE_MAX));
        return cm_check_float(size[1], 1.0e-12f, 2.0f * CM_SIZE_MAX);
    default:
        return CAROM_ERROR_ARGUMENT;
    }
}

static carom_result check_surface(const cm_shape *shape)
{
    CM_TRY(cm_check_float(shape->rolling_friction, 0.0f, CM_FRICTION_MAX));
    CM_TRY(cm_check_float(shape->spin_friction, 0.0f, CM_FRICTION_MAX));
    CM_TRY(cm_check_vec(shape->surface_velocity, CM_VELOCITY_MAX));
    CM_TRY(cm_check_vec(shape->contact_axis, 1.1f));
    CM_TRY(cm_check_float(shape->contact_slip, 0.0f, CM_FORCE_MAX));
    CM_TRY(cm_check_float(shape->contact_max_force, 0.0f, CM_FORCE_MAX));
    return shape->contact_mode <= CAROM_CONTACT_TYRE ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_shape(const cm_shape *shape)
{
    bool named = shape->geometry != 0;
    if (shape->alive > 1 || shape->sensor > 1 || named != (shape->type == CAROM_SHAPE_HULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    for (int i = 0; i < 4; i++) {
        if (!cm_is_finite(shape->size[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
    }
    CM_TRY(check_size(shape));
    CM_TRY(cm_check_vec(shape->position, CM_SIZE_MAX));
    CM_TRY(cm_check_quat(shape->orientation));
    CM_TRY(cm_check_float(shape->friction, 0.0f, CM_FRICTION_MAX));
    CM_TRY(cm_check_float(shape->restitution, 0.0f, 1.0f));
    CM_TRY(check_surface(shape));
    return cm_check_float(shape->density, 0.0f, CM_DENSITY_MAX);
}

carom_result cm_check_geometry(const carom_world *world, const cm_shape *shape)
{
    if (shape->type != CAROM_SHAPE_HULL) {
        return CAROM_OK;
    }
    const carom_hull *hull = cm_hull_find(world, shape->geometry);
    if (!hull) {
        return CAROM_ERROR_NOT_FOUND;
    }
    bool same = shape->size[0] == hull->inner_radius && shape->size[1] == hull->outer_radius;
    return same ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}

carom_result cm_check_contact(const cm_contact *contact)
{
    for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
        if (!cm_is_finite(contact->normal_impulse[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
    }
    for (uint32_t i = 0; i < CM_MANIFOLD_MAX; i++) {
        if (!cm_vec_is_finite(contact->anchor[i]) || !cm_is_finite(contact->separation[i])) {
            return CAROM_ERROR_NOT_FINITE;
        }
    }
    if (!cm_vec_is_finite(contact->place)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    CM_TRY(cm_check_quat(contact->turn));
    CM_TRY(cm_check_unit(contact->normal));
    if (!cm_vec_is_finite(contact->friction_impulse) || !cm_is_finite(contact->twist_impulse)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    bool known = contact->touching <= 1 && contact->point_count <= CM_MANIFOLD_MAX &&
                 contact->shape_a < contact->shape_b;
    return known ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}
