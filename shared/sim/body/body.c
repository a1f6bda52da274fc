// Bodies: creation with all their shapes, destruction, and what can be read of them. Changing them
// is body_set.c.
//
// Creation checks everything first and writes last, so that a refused body leaves no trace. Some
// hundreds a world, created and destroyed rarely.
#include "shared/sim/body/body.h"

#include "shared/base/fpenv.h"
#include "shared/sim/body/mass.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#include <string.h>

carom_body_def carom_default_body_def(void)
{
    carom_body_def def;
    memset(&def, 0, sizeof def);
    def.struct_size = sizeof def;
    def.type = CAROM_BODY_DYNAMIC;
    def.orientation = cm_quat_identity();
    def.gravity_scale = 1.0f;
    def.inertia_orientation = cm_quat_identity();
    def.sleep = true;
    def.pointer = CAROM_NO_PLAYER;
    def.epsilon = def.gamma = -1.0f;
    return def;
}

bool carom_body_is_valid(const carom_world *world, carom_body_id body)
{
    return world != NULL && cm_body_find(world, body) != NULL;
}

uint32_t carom_world_body_slots(const carom_world *world)
{
    return world->state.body_slots;
}

carom_body_id carom_world_body_at(const carom_world *world, uint32_t slot)
{
    carom_body_id id = {0, 0};
    if (slot < world->state.body_slots && cm_bodies(world)[slot].alive) {
        id.index = slot;
        id.generation = cm_bodies(world)[slot].generation;
    }
    return id;
}

// Creation ---------------------------------------------------------------------------------------

static carom_result check_pose(const carom_body_def *def, carom_error *error)
{
    CM_WANT(def->struct_size == sizeof *def, "struct_size", CM_DEFAULT("body"));
    CM_WANT((unsigned)def->type <= CAROM_BODY_DYNAMIC, "type", "a carom_body_type");
    CM_FIELD(cm_check_vec(def->position, CAROM_POSITION_MAX), "position",
             "components within 1e7 m");
    CM_FIELD(cm_check_quat(def->orientation), "orientation", CM_UNIT_QUATERNION);
    CM_FIELD(cm_check_vec(def->linear_velocity, CAROM_VELOCITY_MAX), "linear_velocity",
             "components within 1e6 m/s");
    CM_FIELD(cm_check_vec(def->angular_velocity, CAROM_VELOCITY_MAX), "angular_velocity",
             "components within 1e6 rad/s");
    bool fixed = def->type == CAROM_BODY_STATIC;
    CM_WANT(!fixed || cm_length_squared(def->linear_velocity) == 0.0f, "linear_velocity",
            "zero: a static body does not move");
    CM_WANT(!fixed || cm_length_squared(def->angular_velocity) == 0.0f, "angular_velocity",
            "zero: a static body does not turn");
    CM_FIELD(def->bullet ? CAROM_ERROR_NOT_BUILT : CAROM_OK, "bullet",
             "false: continuous collision is not built yet");
    return CAROM_OK;
}

static carom_result check_shapes(const carom_body_def *def, const carom_shape_def *shapes,
                                 uint32_t count, carom_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        cm_shape shape;
        carom_result result = cm_shape_from_def(&shapes[i], &shape, error);
        if (result == CAROM_OK && shape.type == CAROM_SHAPE_PLANE &&
            def->type != CAROM_BODY_STATIC) {
            result = cm_refuse(error, CAROM_ERROR_ARGUMENT, "type",
                               "another than a plane: only static bodies have planes");
        }
        if (result != CAROM_OK) {
            if (error != NULL) {
                error->shape = i;
            }
            return result;
        }
    }
    return CAROM_OK;
}

static carom_result check_given_mass(const carom_body_def *def, carom_error *error)
{
    if (def->has_mass) {
        CM_FIELD(cm_check_float(def->mass, 0.0f, CAROM_MASS_MAX), "mass", "0 to 1e15 kg");
    }
    if (def->has_center_of_mass) {
        CM_FIELD(cm_check_vec(def->center_of_mass, CAROM_SIZE_MAX), "center_of_mass",
                 "components within 1e6 m");
    }
    if (def->has_inertia) {
        carom_vec3 least = cm_vec(cm_min(def->inertia.x, 0.0f), cm_min(def->inertia.y, 0.0f),
                                  cm_min(def->inertia.z, 0.0f));
        CM_FIELD(cm_check_vec(def->inertia, CAROM_INERTIA_MAX), "inertia", "0 to 1e25 kg m^2");
        CM_WANT(cm_length_squared(least) == 0.0f, "inertia", "0 to 1e25 kg m^2");
        CM_FIELD(cm_check_quat(def->inertia_orientation), "inertia_orientation",
                 CM_UNIT_QUATERNION);
    }
    return CAROM_OK;
}

// A body that forces do not move may be as heavy as a planet: a mass that no row holds is none.
static void set_mass(const carom_body_def *def, const cm_mass *mass, cm_body *body)
{
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    bool held = mass->mass <= CAROM_MASS_MAX && mass->inertia.x <= CAROM_INERTIA_MAX &&
                mass->inertia.y <= CAROM_INERTIA_MAX && mass->inertia.z <= CAROM_INERTIA_MAX;
    bool kept = held || def->type == CAROM_BODY_DYNAMIC;
    body->mass = kept ? mass->mass : 0.0f;
    body->inertia = kept ? mass->inertia : zero;
    body->inertia_orientation = mass->inertia_orientation;
    body->center_of_mass = mass->center_of_mass;
}

// The rows that a definition makes, checked; first_shape and generation are still to come.
static carom_result rows_from_def(const carom_body_def *def, const carom_shape_def *shapes,
                                  uint32_t count, bool planar, cm_motion *motion, cm_body *body,
                                  carom_error *error)
{
    memset(motion, 0, sizeof *motion);
    memset(body, 0, sizeof *body);
    CM_TRY(check_pose(def, error));
    CM_TRY(check_shapes(def, shapes, count, error));
    CM_TRY(check_given_mass(def, error));
    CM_WANT(def->axis_locks <= 63, "axis_locks", "a sum of CAROM_LOCK_…");
    cm_mass mass = cm_mass_of(def, shapes, count, planar);
    set_mass(def, &mass, body);
    body->user_data = def->user_data;
    body->force = def->force;
    body->torque = def->torque;
    body->gravity_scale = def->gravity_scale;
    body->linear_damping = def->linear_damping;
    body->angular_damping = def->angular_damping;
    body->alive = 1;
    body->type = (uint8_t)def->type;
    body->locks = (uint8_t)def->axis_locks;
    body->flags =
        (uint8_t)((def->sleep ? CM_BODY_SLEEP : 0) | (def->bullet ? CM_BODY_BULLET : 0) |
                  (def->report_force ? CM_BODY_REPORT : 0) | (def->history ? CM_BODY_HISTORY : 0));
    body->island = CM_NONE;
    body->epsilon = def->epsilon;
    body->gamma = def->gamma;
    body->pointer = def->pointer;
    if (planar && def->type == CAROM_BODY_DYNAMIC && body->mass == 0.0f) {
        return cm_refuse(error, CAROM_ERROR_ARGUMENT, "mass",
                         "shapes that the plane z = 0 through the body's origin cuts, or mass and "
                         "inertia: the world is planar");
    }
    CM_TRY(cm_check_body(body, error));
    motion->orientation = cm_quat_normalize(def->orientation);
    motion->position = cm_origin_to_center(body, def->position, motion->orientation);
    motion->linear_velocity = def->linear_velocity;
    motion->angular_velocity = def->angular_velocity;
    return CAROM_OK;
}

CM_FP_BODY static carom_result check(const carom_body_def *def, const carom_shape_def *shapes,
                                     uint32_t count, bool planar, carom_error *error)
{
    cm_motion motion;
    cm_body body;
    return rows_from_def(def, shapes, count, planar, &motion, &body, error);
}

carom_result cm_body_check(const carom_body_def *def, const carom_shape_def *shapes, uint32_t count,
                           bool planar, carom_error *error)
{
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = check(def, shapes, count, planar, error);
    cm_fpenv_leave(saved);
    return result;
}

static bool has_free_shapes(carom_world *world, uint32_t count)
{
    uint32_t slot = 0;
    for (uint32_t i = 0; i < count; i++) {
        slot = cm_shape_free_slot(world, slot);
        if (slot == CM_NONE) {
            return false;
        }
        slot++;
    }
    return true;
}

// Writes the shapes into the lowest free slots, linked in ascending order; gives the first.
static uint32_t place_shapes(carom_world *world, uint32_t body, const carom_shape_def *shapes,
                             uint32_t count)
{
    uint32_t first = CM_NONE, last = CM_NONE, from = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = cm_shape_free_slot(world, from);
        cm_shape_grow(world, slot);
        cm_shape *row = cm_shape_change(world, slot);
        uint32_t generation = row->generation + 1;
        cm_shape_from_def(&shapes[i], row, NULL);
        row->generation = generation;
        row->body = body;
        if (last == CM_NONE) {
            first = slot;
        } else {
            cm_shape_change(world, last)->next = slot;
        }
        last = slot;
        from = slot + 1;
    }
    return first;
}

static bool has_room_to_remember(const carom_world *world)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < world->state.body_slots; slot++) {
        const cm_body *body = &cm_bodies(world)[slot];
        count += body->alive && (body->flags & CM_BODY_HISTORY) != 0;
    }
    return count < CAROM_HISTORY_BODIES_MAX;
}

CM_FP_BODY static carom_result create(carom_world *world, const carom_body_def *def,
                                      const carom_shape_def *shapes, uint32_t count,
                                      carom_body_id *id)
{
    cm_motion motion;
    cm_body body;
    carom_error *error = &world->error;
    bool planar = (world->state.flags & CM_WORLD_PLANAR) != 0;
    CM_TRY(rows_from_def(def, shapes, count, planar, &motion, &body, error));
    for (uint32_t i = 0; i < count; i++) {
        if (shapes[i].type == CAROM_SHAPE_HULL && cm_hull_find(world, shapes[i].hull->id) == NULL) {
            cm_refuse(error, CAROM_ERROR_NOT_FOUND, "hull", "one of the world's hulls");
            error->shape = i;
            return error->result;
        }
    }
    uint32_t slot = cm_body_free_slot(world);
    CM_FIELD(slot != CM_NONE ? CAROM_OK : CAROM_ERROR_LIMIT_BODIES, "", "a free slot of bodies");
    CM_FIELD(has_free_shapes(world, count) ? CAROM_OK : CAROM_ERROR_LIMIT_SHAPES, "",
             "free slots of shapes");
    CM_FIELD(!def->history || has_room_to_remember(world) ? CAROM_OK : CAROM_ERROR_LIMIT_BODIES,
             "history", "at most CAROM_HISTORY_BODIES_MAX bodies with one");
    cm_body_grow(world, slot);
    body.generation = cm_bodies(world)[slot].generation + 1;
    body.first_shape = place_shapes(world, slot, shapes, count);
    cm_motions(world)[slot] = motion;
    *cm_body_change(world, slot) = body;
    cm_stir_body(world, slot);
    if (id != NULL) {
        id->index = slot;
        id->generation = body.generation;
    }
    return CAROM_OK;
}

carom_result carom_body_create(carom_world *world, const carom_body_def *def,
                               const carom_shape_def *shapes, uint32_t shape_count,
                               carom_body_id *body)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_WANT(def, "def", "a definition");
    CM_WANT(shapes || shape_count == 0, "shapes", "as many as shape_count says");
    CM_FIELD(shape_count <= world->limits.shapes ? CAROM_OK : CAROM_ERROR_LIMIT_SHAPES,
             "shape_count", "at most limits.shapes");
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = create(world, def, shapes, shape_count, body);
    cm_fpenv_leave(saved);
    cm_query_forget(world);
    return result;
}

// Destruction ------------------------------------------------------------------------------------

carom_result carom_body_destroy(carom_world *world, carom_body_id body)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    CM_FIELD(cm_body_find(world, body) ? CAROM_OK : CAROM_ERROR_STALE_ID, "body", CM_LIVE_BODY);
    cm_body_remove(world, body.index);
    return CAROM_OK;
}

// Reading ----------------------------------------------------------------------------------------

CM_FP_BODY static void get(const carom_world *world, const cm_body *body, uint32_t slot,
                           carom_body_state *state)
{
    const cm_motion *motion = &cm_motions(world)[slot];
    memset(state, 0, sizeof *state);
    state->type = (carom_body_type)body->type;
    state->asleep = (body->flags & CM_BODY_ASLEEP) != 0;
    state->position = cm_center_to_origin(body, motion);
    state->orientation = motion->orientation;
    state->linear_velocity = motion->linear_velocity;
    state->angular_velocity = motion->angular_velocity;
    state->center_of_mass = motion->position;
    state->mass = body->type == CAROM_BODY_DYNAMIC ? body->mass : 0.0f;
    state->user_data = body->user_data;
    state->contact_force = body->contact_force;
    state->contact_torque = body->contact_torque;
}

carom_result carom_body_get(const carom_world *world, carom_body_id body, carom_body_state *state)
{
    if (world == NULL || state == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    const cm_body *row = cm_body_find(world, body);
    if (row == NULL) {
        return CAROM_ERROR_STALE_ID;
    }
    cm_fpenv saved = cm_fpenv_enter();
    get(world, row, body.index, state);
    cm_fpenv_leave(saved);
    return CAROM_OK;
}

uint32_t carom_world_read_bodies(const carom_world *world, uint32_t first, uint32_t count,
                                 carom_body_id *bodies, carom_body_state *states)
{
    if (count == 0 || bodies == NULL || states == NULL) {
        return 0;
    }
    memset(bodies, 0, count * sizeof *bodies);
    memset(states, 0, count * sizeof *states);
    uint32_t slots = world != NULL ? carom_world_body_slots(world) : 0, found = 0;
    uint32_t here = first < slots ? slots - first : 0;
    cm_fpenv saved = cm_fpenv_enter();
    for (uint32_t i = 0; i < count && i < here; i++) {
        bodies[i] = carom_world_body_at(world, first + i);
        if (bodies[i].generation != 0) {
            get(world, &cm_bodies(world)[first + i], first + i, &states[i]);
            found++;
        }
    }
    cm_fpenv_leave(saved);
    return found;
}

carom_result carom_body_get_def(const carom_world *world, carom_body_id id, carom_body_def *def)
{
    carom_body_state state;
    if (def == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    CM_TRY(carom_body_get(world, id, &state));
    const cm_body *body = &cm_bodies(world)[id.index];
    *def = carom_default_body_def();
    def->type = state.type;
    def->position = state.position;
    def->orientation = state.orientation;
    def->linear_velocity = state.linear_velocity;
    def->angular_velocity = state.angular_velocity;
    def->force = body->force;
    def->torque = body->torque;
    def->gravity_scale = body->gravity_scale;
    def->linear_damping = body->linear_damping;
    def->angular_damping = body->angular_damping;
    def->user_data = body->user_data;
    def->axis_locks = body->locks;
    def->bullet = (body->flags & CM_BODY_BULLET) != 0;
    def->sleep = (body->flags & CM_BODY_SLEEP) != 0;
    def->report_force = (body->flags & CM_BODY_REPORT) != 0;
    def->history = (body->flags & CM_BODY_HISTORY) != 0;
    def->pointer = body->pointer;
    def->epsilon = body->epsilon;
    def->gamma = body->gamma;
    def->has_mass = def->has_inertia = def->has_center_of_mass = true;
    def->mass = body->mass;
    def->inertia = body->inertia;
    def->inertia_orientation = body->inertia_orientation;
    def->center_of_mass = body->center_of_mass;
    return CAROM_OK;
}

bool carom_body_has_history(const carom_world *world, carom_body_id id)
{
    const cm_body *body = world != NULL ? cm_body_find(world, id) : NULL;
    return body != NULL && (body->flags & CM_BODY_HISTORY) != 0;
}

uint32_t carom_body_pointer(const carom_world *world, carom_body_id id)
{
    const cm_body *body = world != NULL ? cm_body_find(world, id) : NULL;
    return body != NULL ? body->pointer : CAROM_NO_PLAYER;
}
