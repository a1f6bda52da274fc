// An island's forces at once: Cholesky of what is always free, pivoting on the rest.
//
// Rows without bounds (most of a joint's) come first and are eliminated with what zeros their
// profile has; what is left is the complement of the bounded rows, a small dense matrix on which
// the LCP is solved as if it were alone. That is the same solution, at the price of the rows that
// can change sets. A matrix that is not definite (epsilon 0, rows that repeat each other) is tried
// again with a small diagonal, which stays: poses are rounded, so rows that repeat each other
// always contradict each other a little, and without one have no solution. Typical: 60 free rows,
// 40 bounded.
#include "shared/sim/solve/lcp/lcp.h"
#include "shared/sim/state/tell.h"

#include <string.h>

#define PASSES      150u   // of a solve; beyond it the island is solved iteratively
#define CONE_ROUNDS 4u     // a box becomes a circle
#define TOLERANCE   1.0e-8 // of the largest wanted acceleration

// The system of one island, in local indices: free rows first.
typedef struct system {
    cm_lcp_step *step;
    uint32_t count, free;
    uint32_t *at; // rows of the step
    double *a, *b;
    double *x, *w, *lower, *upper, *friction, *most, *estimate;
    uint32_t *normal;
    uint8_t *sets;
} system;

static bool is_free(const cm_lcp_row *row)
{
    return row->lower == -__builtin_inf() && row->upper == __builtin_inf() &&
           !cm_lcp_has_friction(row);
}

static void take_rows(system *s, const uint32_t *rows, uint32_t count, bool free)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_free(&s->step->rows[rows[i]]) == free) {
            s->step->rows[rows[i]].local = s->count;
            s->at[s->count++] = rows[i];
        }
    }
}

static void map_system(cm_lcp_step *step, const uint32_t *rows, uint32_t count, system *s)
{
    uint32_t n = step->direct_rows;
    double *at = step->vectors;
    *s = (system){.step = step, .a = step->matrix, .b = at, .x = at + n, .w = at + 2 * n};
    s->lower = at + 3 * n;
    s->upper = at + 4 * n;
    s->friction = at + 5 * n;
    s->most = at + 6 * n;
    s->estimate = at + 7 * n;
    s->at = (uint32_t *)(at + 8 * n);
    s->normal = step->normals;
    s->sets = step->sets;
    take_rows(s, rows, count, true);
    s->free = s->count;
    take_rows(s, rows, count, false);
}

// Puts a row's sides into the lists of their bodies, the last side first.
static void list_sides(cm_lcp_step *step, const cm_lcp_row *row)
{
    for (uint32_t p = row->sides; p-- > 0;) {
        const cm_lcp_side *side = cm_lcp_row_at(step, row, p);
        cm_lcp_link *link = &step->links[CM_LCP_SIDES_MAX * row->local + p];
        *link = (cm_lcp_link){step->heads[side->body], row->local, side->m};
        step->heads[side->body] = CM_LCP_SIDES_MAX * row->local + p;
    }
}

// The lower triangle of J M^-1 J^T: of row i only those before it that share a body with it.
static void add_coupling(cm_lcp_step *step, const cm_lcp_row *i, double *to)
{
    for (uint32_t p = 0; p < i->sides; p++) {
        const cm_lcp_side *side = cm_lcp_row_at(step, i, p);
        const double *j = side->j;
        for (uint32_t at = step->heads[side->body]; at != CM_NONE; at = step->links[at].next) {
            const double *m = step->links[at].m;
            to[step->links[at].row] += (j[0] * m[0] + j[1] * m[1] + j[2] * m[2]) +
                                       (j[3] * m[3] + j[4] * m[4] + j[5] * m[5]);
        }
    }
}

// `soft`: this part of each diagonal on top.
static void assemble(system *s, double soft)
{
    cm_lcp_step *step = s->step;
    for (uint32_t i = 0; i < s->count; i++) {
        const cm_lcp_row *row = &step->rows[s->at[i]];
        for (uint32_t p = 0; p < row->sides; p++) {
            step->heads[cm_lcp_row_at(step, row, p)->body] = CM_NONE;
        }
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const cm_lcp_row *row = &step->rows[s->at[i]];
        double *to = s->a + (size_t)i * s->count;
        memset(to, 0, (i + 1) * sizeof *to);
        list_sides(step, row);
        add_coupling(step, row, to);
        to[i] += row->diagonal + soft * to[i];
        s->b[i] = row->b;
    }
}

// Takes the free rows out; the complement of the bounded ones becomes a whole matrix.
static bool reduce(system *s)
{
    uint32_t n = s->count, f = s->free;
    if (!cm_lcp_factor(s->a, n, n, f, CM_LCP_TINY, s->step->work)) {
        return false;
    }
    cm_lcp_forward(s->a, f, n, s->b);
    for (uint32_t i = f; i < n; i++) {
        s->b[i] -= cm_lcp_dot(s->a + (size_t)i * n, s->b, f);
        for (uint32_t j = f; j < i; j++) {
            s->a[(size_t)j * n + i] = s->a[(size_t)i * n + j];
        }
    }
    return true;
}

static bool fill_bounds(system *s)
{
    bool has_friction = false;
    for (uint32_t i = 0; i < s->count - s->free; i++) {
        const cm_lcp_row *row = &s->step->rows[s->at[s->free + i]];
        s->lower[i] = row->lower;
        s->upper[i] = row->upper;
        s->friction[i] = row->friction;
        s->most[i] = row->most;
        s->sets[i] = row->set;
        s->normal[i] = CM_LCP_NO_NORMAL;
        s->estimate[i] = row->lambda;
        if (cm_lcp_has_friction(row)) {
            uint32_t normal = s->step->rows[row->normal].local - s->free;
            s->normal[i] = normal;
            has_friction = true;
            // The first estimate is in the bounds: the last force, or a share of the weight.
            s->estimate[normal] = row->friction > 0.0 ? row->upper / row->friction : 0.0;
        }
    }
    return has_friction;
}

static void tell(const system *s, carom_log_code code)
{
    uint32_t body = s->step->rows[s->at[0]].side[0].body;
    cm_tell(s->step->world, code, cm_island_root(s->step->parents, body), 1);
}

// A tangent with a maximum of its own is a box by itself in a pyramid.
static cm_lcp_answer solve_pyramid(system *s, const cm_lcp *problem, double *work)
{
    uint32_t n = problem->n, *normal = (uint32_t *)(work + cm_lcp_work(n));
    cm_lcp_friction friction = {normal, s->friction, s->most, false};
    for (uint32_t i = 0; i < n; i++) {
        bool box = s->most[i] < __builtin_inf();
        normal[i] = box ? CM_LCP_NO_NORMAL : s->normal[i];
        s->lower[i] = box && s->normal[i] != CM_LCP_NO_NORMAL ? -s->most[i] : s->lower[i];
        s->upper[i] = box && s->normal[i] != CM_LCP_NO_NORMAL ? s->most[i] : s->upper[i];
    }
    return cm_lcp_pyramid(problem, &friction, s->sets, s->x, s->w, work);
}

static cm_lcp_answer solve_bounded(system *s)
{
    cm_lcp_step *step = s->step;
    uint32_t n = s->count - s->free;
    double *b = s->b + s->free, largest = 0.0;
    bool has_friction = fill_bounds(s);
    for (uint32_t i = 0; i < n; i++) {
        largest = cm_d_abs(b[i]) > largest ? cm_d_abs(b[i]) : largest;
    }
    cm_lcp problem = {n,        s->count, s->a + (size_t)s->free * (s->count + 1), b,     s->lower,
                      s->upper, 0.0,      TOLERANCE * largest + 1.0e-10,           PASSES};
    bool cone = step->world->state.friction_model == CAROM_FRICTION_CONE;
    cm_lcp_friction friction = {s->normal, s->friction, s->most, cone};
    cm_lcp_answer answer = {false, 0};
    if (has_friction && step->world->state.friction_model == CAROM_FRICTION_PYRAMID) {
        answer = solve_pyramid(s, &problem, step->work);
        step->world->stats.lcp_solves += answer.solves;
        if (answer.solved) {
            return answer;
        }
        tell(s, CAROM_LOG_LCP_PYRAMID_CYCLED);
        fill_bounds(s);
    }
    uint32_t rounds = has_friction ? step->world->state.rounds : 1;
    rounds = has_friction && cone && rounds < CONE_ROUNDS ? CONE_ROUNDS : rounds;
    answer = cm_lcp_estimate(&problem, &friction, rounds, s->lower, s->upper, s->estimate, s->sets,
                             s->x, s->w, step->work);
    step->world->stats.lcp_solves += answer.solves;
    return answer;
}

// The free rows' forces, from the bounded ones'.
static bool finish(system *s)
{
    uint32_t n = s->count, f = s->free;
    for (uint32_t i = f; i < n; i++) {
        cm_lcp_add(s->b, -s->x[i - f], s->a + (size_t)i * n, f);
    }
    cm_lcp_backward(s->a, f, n, s->b);
    for (uint32_t i = f; i < n; i++) {
        s->b[i] = s->x[i - f];
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!(s->b[i] - s->b[i] == 0.0)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        cm_lcp_row *row = &s->step->rows[s->at[i]];
        row->lambda = s->b[i];
        row->set = i < f ? (uint8_t)CM_LCP_FREE : s->sets[i - f];
    }
    return true;
}

bool cm_lcp_solve_direct(cm_lcp_step *step, const uint32_t *rows, uint32_t count)
{
    static const double softer[] = {0.0, 1.0e-8, 1.0e-5};
    system s;
    map_system(step, rows, count, &s);
    for (uint32_t i = 0; i < 3; i++) {
        assemble(&s, softer[i]);
        cm_lcp_answer answer = {reduce(&s), 0};
        if (answer.solved && s.free < s.count) {
            answer = solve_bounded(&s);
        }
        // A system that was solved, or that is definite and was not, is not made softer.
        if (answer.solved || answer.solves > 0) {
            return answer.solved && finish(&s);
        }
        if (i == 0) {
            tell(&s, CAROM_LOG_LCP_SINGULAR);
        }
    }
    return false;
}
