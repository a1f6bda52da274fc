// Rows of a step: what joints, contacts and games make them of.
//
// A row is J v = linear . v + angular . w summed over up to three bodies. What cannot be pushed
// (static, kinematic, asleep, the world) has no side; its velocity is part of what is wanted.
// Typical: 100 rows of two sides.
#include "shared/sim/solve/lcp/lcp.h"
#include "shared/sim/state/tell.h"

cm_lcp_row *cm_lcp_row_add(cm_lcp_step *step, cm_lcp_owner kind, uint32_t owner, uint32_t place)
{
    if (step->row_count == step->row_limit) {
        cm_tell(step->world, CAROM_LOG_LCP_ROWS_CUT, CM_NONE, 1);
        return NULL;
    }
    cm_lcp_row *row = &step->rows[step->row_count++];
    row->sides = 0;
    row->third = CM_NONE;
    row->kind = (uint8_t)kind;
    row->owner = owner;
    row->place = (uint8_t)place;
    row->set = CM_LCP_FREE;
    row->rigid = false;
    row->normal = CM_NONE;
    row->b = 0.0;
    row->lower = -__builtin_inf();
    row->upper = __builtin_inf();
    row->diagonal = row->friction = row->lambda = 0.0;
    row->most = __builtin_inf();
    return row;
}

static double along(const double j[6], cm_d3 v, cm_d3 w)
{
    return j[0] * v.x + j[1] * v.y + j[2] * v.z + j[3] * w.x + j[4] * w.y + j[5] * w.z;
}

void cm_lcp_row_side(cm_lcp_step *step, cm_lcp_row *row, uint32_t body, cm_d3 linear, cm_d3 angular)
{
    if (body == CM_NONE || !step->bodies[body].moving) {
        return;
    }
    const cm_lcp_body *of = &step->bodies[body];
    const double j[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    row->b += along(j, of->free_v, of->free_w);
    if (!of->dynamic) {
        return;
    }
    cm_lcp_side *side = &row->side[row->sides & 1u];
    if (row->sides == 2) {
        row->third = step->third_count;
        side = &step->thirds[step->third_count++];
    }
    row->sides++;
    side->body = body;
    side->pad = 0;
    for (uint32_t i = 0; i < 6; i++) {
        side->j[i] = j[i];
    }
    const double *i = of->inverse;
    side->m[0] = of->inverse_mass.x * linear.x;
    side->m[1] = of->inverse_mass.y * linear.y;
    side->m[2] = of->inverse_mass.z * linear.z;
    side->m[3] = i[0] * angular.x + i[1] * angular.y + i[2] * angular.z;
    side->m[4] = i[1] * angular.x + i[3] * angular.y + i[4] * angular.z;
    side->m[5] = i[2] * angular.x + i[4] * angular.y + i[5] * angular.z;
}

double cm_lcp_row_mobility(const cm_lcp_step *step, const cm_lcp_row *row)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < row->sides; i++) {
        const cm_lcp_side *side = cm_lcp_row_at(step, row, i);
        for (uint32_t k = 0; k < 6; k++) {
            sum += side->j[k] * side->m[k];
        }
    }
    return sum;
}

void cm_lcp_row_want(const cm_lcp_step *step, cm_lcp_row *row, double velocity, double error,
                     double gamma)
{
    row->b = (velocity - gamma * error / step->h - row->b) / step->h;
}

bool cm_lcp_row_keep(cm_lcp_step *step, cm_lcp_row *row)
{
    double mobility = cm_lcp_row_mobility(step, row);
    bool sound = row->b - row->b == 0.0 && mobility - mobility == 0.0;
    if (row->sides > 0 && mobility > 0.0 && sound) {
        return true;
    }
    step->row_count--;
    step->third_count -= row->third != CM_NONE;
    return false;
}

void cm_lcp_row_push(cm_lcp_step *step, const cm_lcp_row *row, double force)
{
    for (uint32_t i = 0; i < row->sides; i++) {
        const cm_lcp_side *side = cm_lcp_row_at(step, row, i);
        cm_lcp_body *body = &step->bodies[side->body];
        body->dv = cm_d3_mad(body->dv, force, cm_d3_of(side->m[0], side->m[1], side->m[2]));
        body->dw = cm_d3_mad(body->dw, force, cm_d3_of(side->m[3], side->m[4], side->m[5]));
    }
}
