// The blocked iterative form, for islands too large to factor: projected Gauss-Seidel whose blocks
// are joints and contacts, each solved as a small boxed LCP, forth and back, from last step's
// forces. A fixed number of sweeps bounds the cost of a tick; what is left of the error is worked
// off in the next. Friction's bounds follow the normal forces of the sweep.
//
// Typical: a heap of 300 contacts, 16 sweeps.
#include "shared/sim/solve/lcp/lcp.h"

#define SWEEPS 16u

// Rows first to first + count in `order` that are solved at once.
static uint32_t block_length(const cm_lcp_step *step, const uint32_t *rows, uint32_t count,
                             uint32_t first)
{
    const cm_lcp_row *head = &step->rows[rows[first]];
    uint32_t length = 1;
    while (first + length < count && length < CM_LCP_BLOCK_MAX) {
        const cm_lcp_row *row = &step->rows[rows[first + length]];
        if (row->kind != head->kind || row->owner != head->owner) {
            break;
        }
        length++;
    }
    return length;
}

// w of a row: J a + diagonal lambda - b.
static double residual(const cm_lcp_step *step, const cm_lcp_row *row)
{
    double sum = row->diagonal * row->lambda - row->b;
    for (uint32_t i = 0; i < row->sides; i++) {
        const cm_lcp_side *side = cm_lcp_row_at(step, row, i);
        const cm_lcp_body *body = &step->bodies[side->body];
        const double *j = side->j;
        sum += (j[0] * body->dv.x + j[1] * body->dv.y + j[2] * body->dv.z) +
               (j[3] * body->dw.x + j[4] * body->dw.y + j[5] * body->dw.z);
    }
    return sum;
}

static double coupling_of(const cm_lcp_step *step, const cm_lcp_row *i, const cm_lcp_row *j)
{
    double sum = 0.0;
    for (uint32_t p = 0; p < i->sides; p++) {
        const cm_lcp_side *a = cm_lcp_row_at(step, i, p);
        for (uint32_t q = 0; q < j->sides; q++) {
            const cm_lcp_side *b = cm_lcp_row_at(step, j, q);
            for (uint32_t k = 0; k < 6 && a->body == b->body; k++) {
                sum += a->j[k] * b->m[k];
            }
        }
    }
    return sum;
}

// Force of the other tangent of the same point; they stand side by side.
static double other_tangent(const cm_lcp_step *step, const uint32_t *rows, uint32_t count,
                            uint32_t i)
{
    uint32_t normal = step->rows[rows[i]].normal;
    if (i + 1 < count && step->rows[rows[i + 1]].normal == normal) {
        return step->rows[rows[i + 1]].lambda;
    }
    return i > 0 && step->rows[rows[i - 1]].normal == normal ? step->rows[rows[i - 1]].lambda : 0.0;
}

static void solve_block(cm_lcp_step *step, const uint32_t *rows, uint32_t count)
{
    double a[CM_LCP_BLOCK_MAX * CM_LCP_BLOCK_MAX], b[CM_LCP_BLOCK_MAX], x[CM_LCP_BLOCK_MAX];
    double w[CM_LCP_BLOCK_MAX], lower[CM_LCP_BLOCK_MAX], upper[CM_LCP_BLOCK_MAX], largest = 0.0;
    uint8_t sets[CM_LCP_BLOCK_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const cm_lcp_row *row = &step->rows[rows[i]];
        b[i] = -residual(step, row);
        for (uint32_t j = 0; j <= i; j++) {
            a[i * count + j] = coupling_of(step, row, &step->rows[rows[j]]);
            a[j * count + i] = a[i * count + j];
        }
        a[i * count + i] += row->diagonal;
        lower[i] = row->lower;
        upper[i] = row->upper;
        if (cm_lcp_has_friction(row)) {
            double most = row->friction * step->rows[row->normal].lambda;
            upper[i] = most < row->most ? most : row->most;
            if (step->world->state.friction_model == CAROM_FRICTION_CONE) {
                upper[i] = cm_lcp_cut(upper[i], row->lambda, other_tangent(step, rows, count, i));
            }
            lower[i] = -upper[i];
        }
        sets[i] = row->set;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            b[i] += a[i * count + j] * step->rows[rows[j]].lambda;
        }
        largest = cm_d_abs(b[i]) > largest ? cm_d_abs(b[i]) : largest;
    }
    cm_lcp problem = {count, count, a, b, lower, upper, 0.0, 1.0e-8 * largest + 1.0e-10, 60};
    cm_lcp_answer answer = cm_lcp_murty(&problem, sets, x, w, step->work);
    for (uint32_t i = 0; i < count; i++) {
        cm_lcp_row *row = &step->rows[rows[i]];
        double to = answer.solved ? x[i] : row->lambda;
        // A start from the last step may lie outside of this step's bounds.
        to = to < lower[i] ? lower[i] : (to > upper[i] ? upper[i] : to);
        if (!(to - to == 0.0)) {
            continue;
        }
        cm_lcp_row_push(step, row, to - row->lambda);
        row->lambda = to;
        row->set = sets[i];
    }
}

void cm_lcp_solve_blocks(cm_lcp_step *step, const uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cm_lcp_row_push(step, &step->rows[rows[i]], step->rows[rows[i]].lambda);
    }
    for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
        if (sweep % 2 == 0) {
            for (uint32_t i = 0; i < count;) {
                uint32_t length = block_length(step, rows, count, i);
                solve_block(step, rows + i, length);
                i += length;
            }
            continue;
        }
        for (uint32_t end = count; end > 0;) {
            uint32_t first = end - 1;
            while (first > 0 && end - first < CM_LCP_BLOCK_MAX &&
                   step->rows[rows[first - 1]].kind == step->rows[rows[end - 1]].kind &&
                   step->rows[rows[first - 1]].owner == step->rows[rows[end - 1]].owner) {
                first--;
            }
            solve_block(step, rows + first, end - first);
            end = first;
        }
    }
}
