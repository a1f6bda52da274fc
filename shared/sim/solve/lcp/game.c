// Rows and stiff forces that a game defines: up to three bodies each, asked for at the start of
// every step.
//
// A force f with derivatives p by position and d by velocity is lambda = f - d J v + (h p + d) J
// v*: with c = -(h p + d) the row J v* + lambda / c = (f - d J v) / c, free of bounds.
//
// The callbacks stand in the world's header beside the hulls: neither state nor scratch. They get
// the world as it is and may change nothing, so that a step that is repeated asks again and gets
// the same. A row that names no body that can be pushed, or holds what is not finite, is left out.
// Source: JP2003526160A, user-defined constraints. Typical: none, or ten.
#include "carom/rows.h"

#include "shared/sim/state/slots.h"
#include "shared/sim/state/check.h"
#include "shared/sim/solve/lcp/lcp.h"
#include "shared/sim/state/tell.h"

#include <string.h>

#define LEAST_HOLD 1.0e-30 // N s/m: less is an explicit force

carom_row carom_default_row(void)
{
    carom_row row;
    memset(&row, 0, sizeof row);
    row.lower = -__builtin_inff();
    row.upper = __builtin_inff();
    row.epsilon = row.gamma = -1.0f;
    return row;
}

carom_force carom_default_force(void)
{
    carom_force force;
    memset(&force, 0, sizeof force);
    return force;
}

carom_result carom_world_set_rows(carom_world *world, const carom_row_source *source)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (source != NULL && world->state.solver != CAROM_SOLVER_LCP) {
        return cm_refuse(&world->error, CAROM_ERROR_STATE,
                         source->forces != NULL ? "forces" : "rows", "a world of the lcp solver");
    }
    world->rows = source != NULL ? *source : (carom_row_source){0};
    return CAROM_OK;
}

#define MOST 1.0e15f // of a part of J, a force, a derivative

static bool is_jacobian(const carom_vec3 *linear, const carom_vec3 *angular)
{
    bool sound = true;
    for (uint32_t i = 0; i < CM_LCP_SIDES_MAX; i++) {
        sound = sound && cm_check_vec(linear[i], MOST) == CAROM_OK &&
                cm_check_vec(angular[i], MOST) == CAROM_OK;
    }
    return sound;
}

static bool is_row(const carom_row *row)
{
    return is_jacobian(row->linear, row->angular) &&
           cm_check_float(row->velocity, -CAROM_VELOCITY_MAX, CAROM_VELOCITY_MAX) == CAROM_OK &&
           cm_check_float(row->error, -CAROM_POSITION_MAX, CAROM_POSITION_MAX) == CAROM_OK &&
           cm_check_float(row->slip, 0.0f, MOST) == CAROM_OK &&
           cm_check_float(row->epsilon, -1.0f, MOST) == CAROM_OK &&
           cm_check_float(row->gamma, -1.0f, 1.0f) == CAROM_OK && row->lower <= row->upper &&
           row->lower < MOST && row->upper > -MOST;
}

static bool is_force(const cm_lcp_step *step, const carom_force *force)
{
    return is_jacobian(force->linear, force->angular) &&
           cm_check_float(force->force, -MOST, MOST) == CAROM_OK &&
           cm_check_float(force->by_position, -MOST, MOST) == CAROM_OK &&
           cm_check_float(force->by_velocity, -MOST, MOST) == CAROM_OK &&
           step->h * (double)force->by_position + (double)force->by_velocity <= 0.0;
}

// Slots of the bodies; false where one is gone or comes twice.
static bool find_bodies(const cm_lcp_step *step, const carom_body_id *ids, uint32_t *bodies)
{
    for (uint32_t i = 0; i < CM_LCP_SIDES_MAX; i++) {
        bool none = carom_body_id_is_null(ids[i]);
        bodies[i] = none ? CM_NONE : ids[i].index;
        bool twice =
            !none && ((i > 0 && bodies[0] == bodies[i]) || (i > 1 && bodies[1] == bodies[i]));
        if (twice || (!none && cm_body_find(step->world, ids[i]) == NULL)) {
            return false;
        }
    }
    return true;
}

static void refuse(const cm_lcp_step *step, const carom_body_id *ids)
{
    bool known = cm_body_find(step->world, ids[0]) != NULL;
    cm_tell(step->world, CAROM_LOG_LCP_ROW_REFUSED, known ? ids[0].index : CM_NONE, 1);
}

// A row with the bodies' parts; NULL where there is no room, or nothing to push.
static cm_lcp_row *begin_row(cm_lcp_step *step, const uint32_t *bodies, const carom_vec3 *linear,
                             const carom_vec3 *angular, uint32_t number)
{
    cm_lcp_row *row = cm_lcp_row_add(step, CM_LCP_OF_GAME, number, 0);
    for (uint32_t i = 0; row != NULL && i < CM_LCP_SIDES_MAX; i++) {
        cm_lcp_row_side(step, row, bodies[i], cm_d3_from(linear[i]), cm_d3_from(angular[i]));
    }
    return row != NULL && cm_lcp_row_keep(step, row) ? row : NULL;
}

static void add_row(cm_lcp_step *step, const carom_row *from, uint32_t number)
{
    const cm_world_state *state = &step->world->state;
    uint32_t bodies[CM_LCP_SIDES_MAX];
    if (!is_row(from) || !find_bodies(step, from->body, bodies)) {
        refuse(step, from->body);
        return;
    }
    cm_lcp_row *row = begin_row(step, bodies, from->linear, from->angular, number);
    if (row == NULL) {
        return;
    }
    row->lower = (double)from->lower;
    row->upper = (double)from->upper;
    row->diagonal = cm_lcp_choose(from->epsilon, state->epsilon) + (double)from->slip / step->h;
    cm_lcp_row_want(step, row, (double)from->velocity, (double)from->error,
                    cm_lcp_choose(from->gamma, state->gamma));
}

// J v at the start of the step.
static double rate_now(const cm_lcp_step *step, const carom_force *from, const uint32_t *bodies)
{
    double rate = 0.0;
    for (uint32_t i = 0; i < CM_LCP_SIDES_MAX; i++) {
        if (bodies[i] != CM_NONE && step->bodies[bodies[i]].moving) {
            const cm_lcp_body *body = &step->bodies[bodies[i]];
            rate += cm_d3_dot(cm_d3_from(from->linear[i]), body->v) +
                    cm_d3_dot(cm_d3_from(from->angular[i]), body->w);
        }
    }
    return rate;
}

static void add_force(cm_lcp_step *step, const carom_force *from, uint32_t number)
{
    uint32_t bodies[CM_LCP_SIDES_MAX];
    if (!is_force(step, from) || !find_bodies(step, from->body, bodies)) {
        refuse(step, from->body);
        return;
    }
    double force = (double)from->force, by_velocity = (double)from->by_velocity;
    double hold = -(step->h * (double)from->by_position + by_velocity);
    cm_lcp_row *row = begin_row(step, bodies, from->linear, from->angular, number);
    if (row == NULL) {
        return;
    }
    force -= by_velocity * rate_now(step, from, bodies);
    if (hold > LEAST_HOLD) {
        row->diagonal = 1.0 / (step->h * hold);
        cm_lcp_row_want(step, row, force / hold, 0.0, 0.0);
    } else {
        cm_lcp_row_want(step, row, 0.0, 0.0, 0.0); // whatever becomes of J v
        row->lower = row->upper = force;
    }
}

static uint32_t add_rows(cm_lcp_step *step, const carom_row_source *source)
{
    carom_row rows[CAROM_ROWS_MAX];
    for (uint32_t i = 0; i < CAROM_ROWS_MAX; i++) {
        rows[i] = carom_default_row();
    }
    uint32_t count = source->rows(source->context, step->world, rows, CAROM_ROWS_MAX);
    count = count < CAROM_ROWS_MAX ? count : CAROM_ROWS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        add_row(step, &rows[i], i);
    }
    return count;
}

static void add_forces(cm_lcp_step *step, const carom_row_source *source, uint32_t number)
{
    carom_force forces[CAROM_ROWS_MAX];
    uint32_t room = CAROM_ROWS_MAX - number;
    for (uint32_t i = 0; i < room; i++) {
        forces[i] = carom_default_force();
    }
    uint32_t count = source->forces(source->context, step->world, forces, room);
    count = count < room ? count : room;
    for (uint32_t i = 0; i < count; i++) {
        add_force(step, &forces[i], number + i);
    }
}

void cm_lcp_add_game_rows(cm_lcp_step *step)
{
    const carom_row_source *source = &step->world->rows;
    cm_query_forget(step->world); // what it asks is of this substep
    if (source->start != NULL) {
        source->start(source->context, step->world);
    }
    uint32_t count = source->rows != NULL ? add_rows(step, source) : 0;
    if (source->forces != NULL) {
        add_forces(step, source, count);
    }
}
