// Rows that a game defines: up to three bodies each, asked for at the start of every step.
//
// The callbacks stand in the world's header beside the hulls: neither state nor scratch. They get
// the world as it is and may change nothing, so that a step that is repeated asks again and gets
// the same. A row that names no body that can be pushed, or holds what is not finite, is left out.
// Source: JP2003526160A, user-defined constraints. Typical: none, or ten.
#include "carom/rows.h"

#include "shared/sim/state/slots.h"
#include "shared/sim/state/check.h"
#include "shared/sim/solve/lcp/lcp.h"

#include <string.h>

carom_row carom_default_row(void)
{
    carom_row row;
    memset(&row, 0, sizeof row);
    row.lower = -__builtin_inff();
    row.upper = __builtin_inff();
    row.epsilon = row.gamma = -1.0f;
    return row;
}

carom_result carom_world_set_rows(carom_world *world, const carom_row_source *source)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (source != NULL && world->state.solver != CAROM_SOLVER_LCP) {
        return CAROM_ERROR_STATE;
    }
    world->rows = source != NULL ? *source : (carom_row_source){0};
    return CAROM_OK;
}

static bool is_sound(const carom_row *row)
{
    const float most = 1.0e15f;
    bool sound =
        cm_check_float(row->velocity, -CAROM_VELOCITY_MAX, CAROM_VELOCITY_MAX) == CAROM_OK &&
        cm_check_float(row->error, -CAROM_POSITION_MAX, CAROM_POSITION_MAX) == CAROM_OK &&
        cm_check_float(row->slip, 0.0f, most) == CAROM_OK &&
        cm_check_float(row->epsilon, -1.0f, most) == CAROM_OK &&
        cm_check_float(row->gamma, -1.0f, 1.0f) == CAROM_OK && row->lower <= row->upper &&
        row->lower < most && row->upper > -most;
    for (uint32_t i = 0; i < CM_LCP_SIDES_MAX; i++) {
        sound = sound && cm_check_vec(row->linear[i], most) == CAROM_OK &&
                cm_check_vec(row->angular[i], most) == CAROM_OK;
    }
    return sound;
}

static void add_row(cm_lcp_step *step, const carom_row *from, uint32_t number)
{
    const cm_world_state *state = &step->world->state;
    uint32_t bodies[CM_LCP_SIDES_MAX];
    for (uint32_t i = 0; i < CM_LCP_SIDES_MAX; i++) {
        bool none = carom_body_id_is_null(from->body[i]);
        bodies[i] = none ? CM_NONE : from->body[i].index;
        bool twice =
            !none && ((i > 0 && bodies[0] == bodies[i]) || (i > 1 && bodies[1] == bodies[i]));
        if (twice || (!none && cm_body_find(step->world, from->body[i]) == NULL)) {
            step->world->stats.lcp_rows_dropped++;
            return;
        }
    }
    cm_lcp_row *row = cm_lcp_row_add(step, CM_LCP_OF_GAME, number, 0);
    if (row == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CM_LCP_SIDES_MAX; i++) {
        cm_lcp_row_side(step, row, bodies[i], cm_d3_from(from->linear[i]),
                        cm_d3_from(from->angular[i]));
    }
    if (!cm_lcp_row_keep(step, row)) {
        return;
    }
    row->lower = (double)from->lower;
    row->upper = (double)from->upper;
    row->diagonal = cm_lcp_choose(from->epsilon, state->epsilon) + (double)from->slip / step->h;
    cm_lcp_row_want(step, row, (double)from->velocity, (double)from->error,
                    cm_lcp_choose(from->gamma, state->gamma));
}

void cm_lcp_add_game_rows(cm_lcp_step *step)
{
    const carom_row_source *source = &step->world->rows;
    carom_row rows[CAROM_ROWS_MAX];
    if (source->start != NULL) {
        source->start(source->context, step->world);
    }
    if (source->rows == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CAROM_ROWS_MAX; i++) {
        rows[i] = carom_default_row();
    }
    uint32_t count = source->rows(source->context, step->world, rows, CAROM_ROWS_MAX);
    count = count < CAROM_ROWS_MAX ? count : CAROM_ROWS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (is_sound(&rows[i])) {
            add_row(step, &rows[i], i);
        } else {
            step->world->stats.lcp_rows_dropped++;
        }
    }
}
