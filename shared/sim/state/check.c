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
    const double low = 1.0 - (double)CAROM_UNIT_TOLERANCE,
                 high = 1.0 + (double)CAROM_UNIT_TOLERANCE;
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

#define POSITIVE_FORCE "0 to 1e15"
#define DERIVED_FORCE  "0 to 1e15, or -1 for one derived for each contact"
#define OWN_FORCE      "0 to 1e15, or -1 for the one along the normal"
#define OWN_FRICTION   "0 to 1000, or -1 for the surfaces' own"

static carom_result check_soft(const cm_world_state *state, carom_error *error)
{
    CM_FIELD(cm_check_float(state->restitution_threshold, 0.0f, CAROM_VELOCITY_MAX),
             state->solver == CAROM_SOLVER_IMPULSE ? "solver.impulse.restitution_threshold"
                                                   : "solver.soft.restitution_threshold",
             "0 to 1e6");
    CM_FIELD(cm_check_float(state->refinement, 0.0f, CM_REFINEMENT_MAX), "refinement", "0 to 4");
    return CAROM_OK;
}

static carom_result check_impulse(const cm_world_state *state, carom_error *error)
{
    CM_WANT(state->model <= CAROM_IMPULSE_CIRCLE, "solver.impulse.model", "a carom_impulse_model");
    CM_FIELD(cm_check_float(state->pixel, 0.0f, CAROM_SIZE_MAX), "solver.impulse.pixel",
             "0 to 1e6");
    return CAROM_OK;
}

static carom_result check_lcp(const cm_world_state *state, carom_error *error)
{
    CM_FIELD(cm_check_float(state->epsilon, 0.0f, CAROM_SOFTNESS_MAX), "solver.lcp.epsilon",
             "0 to 1e3");
    CM_FIELD(cm_check_float(state->gamma, 0.0f, 1.0f), "solver.lcp.gamma", "0 to 1");
    CM_WANT(state->friction_model <= CAROM_FRICTION_CONE, "solver.lcp.friction_model",
            "a carom_friction_model");
    CM_WANT(state->rounds >= 1 && state->rounds <= CAROM_ROUNDS_MAX, "solver.lcp.rounds",
            "1 to 1000");
    CM_FIELD(cm_check_float(state->max_friction, 0.0f, CAROM_FORCE_MAX), "solver.lcp.max_friction",
             POSITIVE_FORCE);
    CM_WANT(state->direct_rows <= CAROM_DIRECT_ROWS_MAX, "solver.lcp.direct_rows", "0 to 2048");
    return CAROM_OK;
}

static carom_result check_volume(const cm_world_state *state, carom_error *error)
{
    CM_WANT(state->volume_contact <= CAROM_VOLUME_DEEPEST_POINT, "solver.volume.contact",
            "a carom_volume_contact");
    CM_FIELD(cm_check_float(state->stiffness, -1.0f, CAROM_FORCE_MAX), "solver.volume.stiffness",
             DERIVED_FORCE);
    CM_FIELD(cm_check_float(state->damping, -1.0f, CAROM_FORCE_MAX), "solver.volume.damping",
             DERIVED_FORCE);
    CM_FIELD(cm_check_float(state->tangent_stiffness, -1.0f, CAROM_FORCE_MAX),
             "solver.volume.tangent_stiffness", OWN_FORCE);
    CM_FIELD(cm_check_float(state->tangent_damping, -1.0f, CAROM_FORCE_MAX),
             "solver.volume.tangent_damping", OWN_FORCE);
    CM_FIELD(cm_check_float(state->friction_kinetic, -1.0f, CAROM_FRICTION_MAX),
             "solver.volume.friction_kinetic", OWN_FRICTION);
    CM_FIELD(cm_check_float(state->friction_static, -1.0f, CAROM_FRICTION_MAX),
             "solver.volume.friction_static", OWN_FRICTION);
    CM_WANT(state->segments >= CAROM_SEGMENTS_MIN && state->segments <= CAROM_SEGMENTS_MAX,
            "solver.volume.segments", "3 to 256");
    return CAROM_OK;
}

static carom_result check_solver(const cm_world_state *state, carom_error *error)
{
    static const char *const substeps[] = {"solver.soft.substeps", "solver.impulse.substeps",
                                           "solver.lcp.substeps", "solver.volume.substeps"};
    CM_WANT(state->solver <= CM_SOLVER_LAST, "solver.type", "a carom_solver_type");
    bool chosen = state->substeps >= 1 || state->solver != CAROM_SOLVER_IMPULSE;
    CM_WANT(chosen && state->substeps <= CAROM_SUBSTEPS_MAX, substeps[state->solver], "1 to 64");
    CM_TRY(check_soft(state, error));
    CM_TRY(check_impulse(state, error));
    CM_TRY(check_lcp(state, error));
    return check_volume(state, error);
}

carom_result cm_check_room(const carom_world *world, const cm_world_state *state)
{
    if (state->solver != world->room.solver) {
        return CAROM_ERROR_STATE;
    }
    bool fits =
        state->direct_rows <= world->room.direct_rows && state->segments <= world->room.segments;
    return fits ? CAROM_OK : CAROM_ERROR_LIMIT_SIZE;
}

carom_result cm_check_rule(const cm_rule *rule, carom_error *error)
{
    CM_FIELD(cm_check_float(rule->friction, -1.0f, CAROM_FRICTION_MAX), "friction",
             "0 to 1000, or negative for the combine rule");
    CM_FIELD(cm_check_float(rule->restitution, -1.0f, 1.0f), "restitution",
             "0 to 1, or negative for the combine rule");
    CM_WANT(rule->kinds <= 3, "body_a", "a body or a material");
    return CAROM_OK;
}

carom_result cm_check_state(const cm_world_state *state, carom_error *error)
{
    CM_FIELD(cm_check_vec(state->gravity, CAROM_VELOCITY_MAX), "gravity", "components within 1e6");
    CM_TRY(check_solver(state, error));
    CM_WANT(state->flags <= CM_WORLD_FLAGS, "flags", "known ones");
    CM_WANT(state->friction_combine <= CAROM_COMBINE_MAX, "friction_combine", "a carom_combine");
    CM_WANT(state->restitution_combine <= CAROM_COMBINE_MAX, "restitution_combine",
            "a carom_combine");
    CM_WANT(state->tick_rate >= 1 && state->tick_rate <= CAROM_TICK_RATE_MAX, "tick_rate",
            "1 to 1000");
    // Both words zero would be a generator that gives nothing but zero.
    CM_WANT(state->random[0] != 0 || state->random[1] != 0, "seed", "a sound generator");
    return CAROM_OK;
}

carom_result cm_check_motion(const cm_motion *motion)
{
    if (!cm_vec_is_finite(motion->position) || !cm_vec_is_finite(motion->linear_velocity) ||
        !cm_vec_is_finite(motion->angular_velocity)) {
        return CAROM_ERROR_NOT_FINITE;
    }
    return cm_check_quat(motion->orientation);
}

static carom_result check_mass(const cm_body *body, carom_error *error)
{
    bool dynamic = body->type == CAROM_BODY_DYNAMIC;
    const char *mass = dynamic ? "1e-15 to 1e15 kg, given or from the shapes" : "0 to 1e15 kg";
    const char *inertia =
        dynamic ? "1e-25 to 1e25 kg m^2, given or from the shapes" : "0 to 1e25 kg m^2";
    CM_FIELD(cm_check_float(body->mass, dynamic ? CAROM_MASS_MIN : 0.0f, CAROM_MASS_MAX), "mass",
             mass);
    float least = dynamic ? CAROM_INERTIA_MIN : 0.0f;
    CM_FIELD(cm_check_float(body->inertia.x, least, CAROM_INERTIA_MAX), "inertia", inertia);
    CM_FIELD(cm_check_float(body->inertia.y, least, CAROM_INERTIA_MAX), "inertia", inertia);
    CM_FIELD(cm_check_float(body->inertia.z, least, CAROM_INERTIA_MAX), "inertia", inertia);
    CM_FIELD(cm_check_quat(body->inertia_orientation), "inertia_orientation", CM_UNIT_QUATERNION);
    CM_FIELD(cm_check_vec(body->center_of_mass, CAROM_SIZE_MAX), "center_of_mass",
             "components within 1e6 m");
    return CAROM_OK;
}

static carom_result check_flags(const cm_body *body, carom_error *error)
{
    CM_WANT(body->type <= CAROM_BODY_DYNAMIC, "type", "a carom_body_type");
    CM_WANT(body->alive <= 1 && body->flags <= CM_BODY_FLAGS, "flags", "known ones");
    CM_WANT(body->locks <= 63, "axis_locks", "a sum of CAROM_LOCK_…");
    bool asleep = (body->flags & CM_BODY_ASLEEP) != 0;
    CM_WANT(asleep == (body->island != CM_NONE) && !(asleep && body->type != CAROM_BODY_DYNAMIC) &&
                !(asleep && (body->flags & CM_BODY_STIRRED)),
            "sleep", "a dynamic body that nothing stirred");
    bool pointer = body->pointer != CAROM_NO_PLAYER;
    CM_WANT(!pointer || (body->type == CAROM_BODY_KINEMATIC && body->pointer < CAROM_PLAYERS_MAX),
            "pointer", "a player from 0 to 63, of a kinematic body");
    return CAROM_OK;
}

carom_result cm_check_body(const cm_body *body, carom_error *error)
{
    CM_TRY(check_flags(body, error));
    CM_FIELD(cm_check_vec(body->force, CAROM_FORCE_MAX), "force", "components within 1e15 N");
    CM_FIELD(cm_check_vec(body->torque, CAROM_FORCE_MAX), "torque", "components within 1e15 N m");
    CM_FIELD(cm_check_vec(body->applied_force, CAROM_FORCE_MAX), "force",
             "components within 1e15 N");
    CM_FIELD(cm_check_vec(body->applied_torque, CAROM_FORCE_MAX), "torque",
             "components within 1e15 N m");
    CM_FIELD(cm_check_float(body->gravity_scale, -CAROM_GRAVITY_SCALE_MAX, CAROM_GRAVITY_SCALE_MAX),
             "gravity_scale", "-1e6 to 1e6");
    CM_FIELD(cm_check_float(body->linear_damping, 0.0f, CAROM_DAMPING_MAX), "linear_damping",
             "0 to 1e6");
    CM_FIELD(cm_check_float(body->angular_damping, 0.0f, CAROM_DAMPING_MAX), "angular_damping",
             "0 to 1e6");
    CM_FIELD(cm_check_float(body->quiet, 0.0f, CM_QUIET_MAX), "sleep", "a time at rest");
    CM_FIELD(cm_check_float(body->epsilon, -1.0f, CAROM_SOFTNESS_MAX), "epsilon",
             "0 to 1e3, or -1 for the solver's");
    CM_FIELD(cm_check_float(body->gamma, -1.0f, 1.0f), "gamma", "0 to 1, or -1 for the solver's");
    bool finite = cm_vec_is_finite(body->contact_force) && cm_vec_is_finite(body->contact_torque);
    CM_FIELD(finite ? CAROM_OK : CAROM_ERROR_NOT_FINITE, "contact_force", "finite numbers");
    return check_mass(body, error);
}

#define LENGTH "1e-5 to 1e6 m"

static carom_result check_length(float value, const char *field, carom_error *error)
{
    CM_FIELD(cm_check_float(value, CAROM_SIZE_MIN, CAROM_SIZE_MAX), field, LENGTH);
    return CAROM_OK;
}

static carom_result check_size(const cm_shape *shape, carom_error *error)
{
    const float *size = shape->size;
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return check_length(size[0], "radius", error);
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        CM_TRY(check_length(size[0], "radius", error));
        return check_length(size[1], "half_height", error);
    case CAROM_SHAPE_BOX:
        CM_TRY(check_length(size[0], "half_extents", error));
        CM_TRY(check_length(size[1], "half_extents", error));
        return check_length(size[2], "half_extents", error);
    case CAROM_SHAPE_PLANE:
        CM_FIELD(cm_check_unit(cm_vec(size[0], size[1], size[2])), "normal",
                 "a length within 1e-2 of 1");
        CM_FIELD(cm_check_float(size[3], -CAROM_POSITION_MAX, CAROM_POSITION_MAX), "offset",
                 "within 1e7 m");
        return CAROM_OK;
    case CAROM_SHAPE_HULL: // flatter inside than CAROM_SIZE_MIN is fine
        CM_FIELD(cm_check_float(size[0], 1.0e-12f, CAROM_SIZE_MAX), "hull", "a radius of " LENGTH);
        CM_FIELD(cm_check_float(size[1], 1.0e-12f, 2.0f * CAROM_SIZE_MAX), "hull",
                 "a radius of " LENGTH);
        return CAROM_OK;
    default:
        return cm_refuse(error, CAROM_ERROR_ARGUMENT, "type", "a carom_shape_type");
    }
}

static carom_result check_surface(const cm_shape *shape, carom_error *error)
{
    CM_FIELD(cm_check_float(shape->friction, 0.0f, CAROM_FRICTION_MAX), "friction", "0 to 1000");
    CM_FIELD(cm_check_float(shape->restitution, 0.0f, 1.0f), "restitution", "0 to 1");
    CM_FIELD(cm_check_float(shape->rolling_friction, 0.0f, CAROM_FRICTION_MAX), "rolling_friction",
             "0 to 1000");
    CM_FIELD(cm_check_float(shape->spin_friction, 0.0f, CAROM_FRICTION_MAX), "spin_friction",
             "0 to 1000");
    CM_FIELD(cm_check_vec(shape->surface_velocity, CAROM_VELOCITY_MAX), "surface_velocity",
             "components within 1e6 m/s");
    CM_WANT(shape->contact_mode <= CAROM_CONTACT_TYRE, "contact_mode", "a carom_contact_mode");
    CM_FIELD(cm_check_vec(shape->contact_axis, 1.1f), "contact_axis", "at most unit length");
    CM_FIELD(cm_check_float(shape->contact_slip, 0.0f, CAROM_FORCE_MAX), "contact_slip",
             POSITIVE_FORCE);
    CM_FIELD(cm_check_float(shape->contact_max_force, 0.0f, CAROM_FORCE_MAX), "contact_max_force",
             POSITIVE_FORCE);
    CM_FIELD(cm_check_float(shape->contact_slip_by_speed, 0.0f, CAROM_FORCE_MAX),
             "contact_slip_by_speed", POSITIVE_FORCE);
    CM_FIELD(cm_check_float(shape->contact_trail, 0.0f, CAROM_SIZE_MAX), "contact_trail",
             "0 to 1e6 m");
    return CAROM_OK;
}

carom_result cm_check_shape(const cm_shape *shape, carom_error *error)
{
    bool named = shape->geometry != 0;
    CM_WANT(shape->alive <= 1 && shape->sensor <= 1 && named == (shape->type == CAROM_SHAPE_HULL),
            "type", "a carom_shape_type");
    CM_TRY(check_size(shape, error));
    for (int i = 0; i < 4; i++) { // what the type does not use, out of decoded bytes
        CM_FIELD(cm_is_finite(shape->size[i]) ? CAROM_OK : CAROM_ERROR_NOT_FINITE, "type",
                 "finite sizes");
    }
    CM_FIELD(cm_check_vec(shape->position, CAROM_SIZE_MAX), "position", "components within 1e6 m");
    CM_FIELD(cm_check_quat(shape->orientation), "orientation", CM_UNIT_QUATERNION);
    CM_TRY(check_surface(shape, error));
    CM_FIELD(cm_check_float(shape->density, 0.0f, CAROM_DENSITY_MAX), "density", "0 to 1e9");
    return CAROM_OK;
}

carom_result cm_check_geometry(const carom_world *world, const cm_shape *shape)
{
    if (shape->type != CAROM_SHAPE_HULL) {
        return CAROM_OK;
    }
    const carom_hull *hull = cm_hull_find(world, shape->geometry);
    if (hull == NULL) {
        return CAROM_ERROR_NOT_FOUND;
    }
    bool same = shape->size[0] == hull->inner_radius && shape->size[1] == hull->outer_radius;
    return same ? CAROM_OK : CAROM_ERROR_ARGUMENT;
}
