// A game changes more of a body than where it is and how it moves: mass, damping, the share of
// gravity, filters of its shapes, where a kinematic one is to be, waking and resting; and what can
// be asked of it at a point, and what touches it.
//
// As in body_set.c: everything is checked first, and what changes something wakes what sleeps
// there.
#include "shared/base/dvec.h"
#include "shared/base/fpenv.h"
#include "shared/base/mathf.h"
#include "shared/sim/body/body.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#define HALF_TURN_MAX 1.5 // rad: of a substep

// The row of a live body, or why there is none.
static carom_result find(carom_world *world, carom_body_id id, const cm_body **body)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    *body = cm_body_find(world, id);
    return *body != NULL ? CAROM_OK
                         : cm_refuse(&world->error, CAROM_ERROR_STALE_ID, "body", CM_LIVE_BODY);
}

// The row as it is to be, where it may be so.
static carom_result change(carom_world *world, uint32_t slot, const cm_body *other)
{
    cm_body sound = *other;
    sound.flags &= (uint8_t)~CM_BODY_ASLEEP;
    sound.island = CM_NONE;
    CM_TRY(cm_check_body(&sound, &world->error));
    *cm_body_change(world, slot) = *other;
    cm_wake_body(world, slot);
    return CAROM_OK;
}

carom_result carom_body_set_gravity_scale(carom_world *world, carom_body_id body, float scale)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    cm_body other = *row;
    other.gravity_scale = scale;
    return row->gravity_scale == scale ? CAROM_OK : change(world, body.index, &other);
}

carom_result carom_body_set_damping(carom_world *world, carom_body_id body, float linear,
                                    float angular)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    cm_body other = *row;
    other.linear_damping = linear;
    other.angular_damping = angular;
    bool same = row->linear_damping == linear && row->angular_damping == angular;
    return same ? CAROM_OK : change(world, body.index, &other);
}

CM_FP_BODY static void scale_mass(cm_body *body, float mass)
{
    body->inertia = cm_scale(mass / body->mass, body->inertia);
    body->mass = mass;
}

carom_result carom_body_set_mass(carom_world *world, carom_body_id body, float mass)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(row->mass > 0.0f ? CAROM_OK : CAROM_ERROR_STATE, "body", "one that has a mass");
    CM_FIELD(cm_check_float(mass, CAROM_MASS_MIN, CAROM_MASS_MAX), "mass", "1e-15 to 1e15 kg");
    cm_body other = *row;
    cm_fpenv saved = cm_fpenv_enter();
    scale_mass(&other, mass);
    cm_fpenv_leave(saved);
    return row->mass == mass ? CAROM_OK : change(world, body.index, &other);
}

carom_result carom_shape_set_filter(carom_world *world, carom_shape_id shape, uint32_t category,
                                    uint32_t mask, int32_t group)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    const cm_shape *row = cm_shape_find(world, shape);
    CM_FIELD(row != NULL ? CAROM_OK : CAROM_ERROR_STALE_ID, "shape", "the id of a living shape");
    if (row->category == category && row->mask == mask && row->group == group) {
        return CAROM_OK;
    }
    cm_shape *writable = cm_shape_change(world, shape.index);
    writable->category = category;
    writable->mask = mask;
    writable->group = group;
    // Bodies that it touched may fall now.
    cm_wake_body(world, row->body);
    cm_stir_body(world, row->body);
    cm_wake_neighbours(world, row->body);
    return CAROM_OK;
}

// The rate that turns a body by `angle` in one tick, in rad a tick: in soft and lcp worlds a
// substep turns it by twice the arc tangent of half of its part of this; in the others by the part
// itself.
static double spin(const carom_world *world, double angle)
{
    const cm_world_state *state = &world->state;
    if (state->solver != CAROM_SOLVER_SOFT && state->solver != CAROM_SOLVER_LCP) {
        return angle;
    }
    double open = state->solver == CAROM_SOLVER_SOFT ? 4.0 : 1.0; // at least
    double steps = state->substeps > 0 ? state->substeps : open;
    double half = 0.5 * angle / steps;
    half = half < HALF_TURN_MAX ? half : HALF_TURN_MAX;
    return 2.0 * steps * cm_sin(half) / cm_cos(half);
}

// The velocity that takes a body to a place within one tick. Angle and axis of the turn to it, the
// shorter way round.
CM_FP_BODY static void toward(const carom_world *world, uint32_t slot, carom_vec3 position,
                              carom_quat orientation, carom_vec3 *linear, carom_vec3 *angular)
{
    const cm_motion *motion = &cm_motions(world)[slot];
    float rate = (float)world->state.tick_rate;
    carom_quat to = cm_quat_normalize(orientation);
    carom_vec3 center = cm_origin_to_center(&cm_bodies(world)[slot], position, to);
    *linear = cm_scale(rate, cm_sub(center, motion->position));
    cm_dquat turn =
        cm_dquat_mul(cm_dquat_from(to), cm_dquat_from(cm_quat_conjugate(motion->orientation)));
    double sign = turn.w < 0.0 ? -1.0 : 1.0;
    cm_d3 v = cm_d3_of(sign * turn.x, sign * turn.y, sign * turn.z);
    double sine = cm_d3_length(v), angle = 2.0 * cm_atan2(sine, sign * turn.w);
    double each = sine > 0.0 ? spin(world, angle) * (double)rate / sine : 0.0;
    *angular = cm_d3_round(cm_d3_scale(each, v));
}

carom_result carom_body_set_target(carom_world *world, carom_body_id body, carom_vec3 position,
                                   carom_quat orientation)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    CM_FIELD(row->type == CAROM_BODY_KINEMATIC ? CAROM_OK : CAROM_ERROR_STATE, "body",
             "a kinematic one");
    CM_FIELD(cm_check_vec(position, CAROM_POSITION_MAX), "position", "components within 1e7 m");
    CM_FIELD(cm_check_quat(orientation), "orientation", CM_UNIT_QUATERNION);
    carom_vec3 linear, angular;
    cm_fpenv saved = cm_fpenv_enter();
    toward(world, body.index, position, orientation, &linear, &angular);
    cm_fpenv_leave(saved);
    CM_FIELD(cm_check_vec(linear, CAROM_VELOCITY_MAX), "position",
             "one that a velocity of 1e6 m/s reaches in a tick");
    return carom_body_set_velocity(world, body, linear, angular);
}

CM_FP_BODY static carom_vec3 velocity_at(const cm_motion *motion, carom_vec3 point)
{
    carom_vec3 arm = cm_sub(point, motion->position);
    return cm_add(motion->linear_velocity, cm_cross(motion->angular_velocity, arm));
}

carom_result carom_body_velocity_at(const carom_world *world, carom_body_id body, carom_vec3 point,
                                    carom_vec3 *velocity)
{
    if (world == NULL || velocity == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (cm_body_find(world, body) == NULL) {
        return CAROM_ERROR_STALE_ID;
    }
    CM_TRY(cm_check_vec(point, CAROM_POSITION_MAX));
    cm_fpenv saved = cm_fpenv_enter();
    *velocity = velocity_at(&cm_motions(world)[body.index], point);
    cm_fpenv_leave(saved);
    return CAROM_OK;
}

carom_result carom_body_wake(carom_world *world, carom_body_id body)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    cm_wake_body(world, body.index);
    return CAROM_OK;
}

carom_result carom_body_rest(carom_world *world, carom_body_id body)
{
    const cm_body *row;
    CM_TRY(find(world, body, &row));
    carom_error *error = &world->error;
    bool may = (world->state.flags & CM_WORLD_SLEEP) != 0 && (row->flags & CM_BODY_SLEEP) != 0 &&
               row->type == CAROM_BODY_DYNAMIC;
    CM_FIELD(may ? CAROM_OK : CAROM_ERROR_STATE, "body", "a dynamic one that may sleep");
    if (!cm_body_is_asleep(row)) {
        const carom_vec3 none = {0.0f, 0.0f, 0.0f};
        CM_TRY(carom_body_set_velocity(world, body, none, none));
        cm_body_set_quiet(world, body.index, CM_SLEEP_TIME);
    }
    return CAROM_OK;
}

// Contact i of a run, as the body has it; false where it is none of its, or does not touch.
static bool is_contact_of(const carom_world *world, const cm_contact_run *run, uint32_t i,
                          uint32_t body, carom_body_contact *found)
{
    const cm_shape *shapes = cm_shapes(world);
    const cm_contact *contact =
        cm_contact_row(world, CM_SECTION_contact, run->resting, run->row + i, sizeof *contact);
    bool first = shapes[contact->shape_a].body == body;
    uint32_t own = first ? contact->shape_a : contact->shape_b;
    uint32_t other = first ? contact->shape_b : contact->shape_a;
    if (shapes[own].body != body || !contact->touching) {
        return false;
    }
    *found = (carom_body_contact){.shape = {own, shapes[own].generation},
                                  .other_body = cm_body_id(world, shapes[other].body),
                                  .other_shape = {other, shapes[other].generation},
                                  .points = contact->point_count};
    return true;
}

uint32_t carom_body_contacts(const carom_world *world, carom_body_id body,
                             carom_body_contact *contacts, uint32_t capacity)
{
    uint32_t count = 0;
    if (world == NULL || cm_body_find(world, body) == NULL) {
        return 0;
    }
    cm_contact_run run = {0};
    while (cm_contacts_next(world, &run)) {
        for (uint32_t i = 0; i < run.rows; i++) {
            carom_body_contact found;
            if (is_contact_of(world, &run, i, body.index, &found)) {
                if (contacts != NULL && count < capacity) {
                    contacts[count] = found;
                }
                count++;
            }
        }
    }
    return count;
}
