// `carom eval lcp`: one linear complementarity problem.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/lcp.h"
#include "server/tools/eval/eval.h"

#define ROWS_MAX 256u
#define LARGE    1.0e30

static const char TEXT[] =
    "  matrix        A, symmetric: an array of rows (at most 256)\n"
    "  vector        b: w = (A + epsilon 1) x - b; or q (= -b): w = A x + q\n"
    "  lower, upper  bounds of x by row, null for none; w >= 0 at the lower, w <= 0 at the upper\n"
    "  epsilon       added to the diagonal; 0\n"
    "  tolerance     of w's sign; 1e-9\n"
    "  method        \"murty\" (default), \"projection\", \"plain\" (x >= 0), \"kostreva\",\n"
    "                \"pyramid\", \"estimate\"\n"
    "  sets          the start, by row: 0 free, 1 at the lower, 2 at the upper bound; all free\n"
    "  normals       pyramid, estimate: by row the row whose force bounds it, or its own index\n"
    "  friction      by row; |x| <= friction x_normal\n"
    "  estimates     estimate: first normal forces, by row; rounds: how often; 1\n"
    "  out: x, w, sets, solves (linear systems), solved; x and w only where solved\n"
    "  example: {\"matrix\": [[2, 1], [1, 2]], \"vector\": [3, 3], \"upper\": [0.5, null]}\n"
    "  gives \"x\": [0.5, 1.2499999999999998], \"w\": [-0.75000000000000022, 0]\n";

typedef struct problem {
    uint32_t n;
    double matrix[ROWS_MAX * ROWS_MAX];
    double vector[ROWS_MAX], lower[ROWS_MAX], upper[ROWS_MAX], friction[ROWS_MAX];
    double estimates[ROWS_MAX], x[ROWS_MAX], w[ROWS_MAX], numbers[ROWS_MAX];
    uint32_t normals[ROWS_MAX];
    uint8_t sets[ROWS_MAX];
} problem;

static void read_matrix(cm_eval *eval, const cm_json_value *root, problem *p)
{
    uint32_t count = 0;
    const cm_json_value *rows = cm_json_enter_array(&eval->in, root, "matrix", &count);
    if (rows != NULL && (count == 0 || count > ROWS_MAX)) {
        cm_json_fail(&eval->in, NULL, "%u rows, expected 1 to %u", count, ROWS_MAX);
    }
    p->n = count <= ROWS_MAX ? count : 0;
    for (uint32_t i = 0; i < p->n && !cm_json_failed(&eval->in); i++) {
        const cm_json_value *row = cm_json_enter_item(&eval->in, rows, i);
        if (row != NULL && cm_json_count(row) != p->n) {
            cm_json_fail(&eval->in, NULL, "%u elements, expected %u", cm_json_count(row), p->n);
        }
        for (uint32_t j = 0; j < p->n && row != NULL; j++) {
            p->matrix[i * p->n + j] = cm_json_item(&eval->in, row, j);
        }
        cm_json_leave(&eval->in);
    }
    cm_json_leave(&eval->in);
}

// Numbers by row, or null where that means something.
static void read_bounds(cm_eval *eval, const cm_json_value *root, const char *key, uint32_t n,
                        double none, double *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        values[i] = none;
    }
    if (!cm_json_has(root, key)) {
        return;
    }
    const cm_json_value *array = cm_json_enter_array(&eval->in, root, key, &count);
    if (array != NULL && count != n) {
        cm_json_fail(&eval->in, NULL, "%u elements, expected %u", count, n);
    }
    for (uint32_t i = 0; i < count && i < n; i++) {
        bool null = cm_json_is_null(cm_json_at(array, i));
        values[i] = null ? none : cm_json_item(&eval->in, array, i);
    }
    cm_json_leave(&eval->in);
}

static bool read_numbers(cm_eval *eval, const cm_json_value *root, const char *key, uint32_t n,
                         double *values)
{
    return n > 0 && cm_json_numbers(&eval->in, root, key, n, n, true, values) == n;
}

static void read_rest(cm_eval *eval, const cm_json_value *root, problem *p, carom_lcp_problem *lcp)
{
    const double zero = 0.0, tolerance = 1.0e-9, one = 1.0;
    const char *vector = cm_json_name(&eval->in, root, "vector", "q");
    cm_json_numbers(&eval->in, root, vector, p->n, p->n, false, p->vector);
    for (uint32_t i = 0; i < p->n && strcmp(vector, "q") == 0; i++) {
        p->vector[i] = 0.0 - p->vector[i];
    }
    read_bounds(eval, root, "lower", p->n, -INFINITY, p->lower);
    read_bounds(eval, root, "upper", p->n, INFINITY, p->upper);
    lcp->epsilon = cm_json_number(&eval->in, root, "epsilon", 0.0, LARGE, &zero);
    lcp->tolerance = cm_json_number(&eval->in, root, "tolerance", 1.0e-300, LARGE, &tolerance);
    lcp->rounds = (uint32_t)cm_json_number(&eval->in, root, "rounds", 1.0, 1000.0, &one);
    if (read_numbers(eval, root, "sets", p->n, p->numbers)) {
        for (uint32_t i = 0; i < p->n; i++) {
            p->sets[i] = p->numbers[i] >= 0.0 && p->numbers[i] <= 2.0 ? (uint8_t)p->numbers[i] : 0;
        }
    }
    if (read_numbers(eval, root, "normals", p->n, p->numbers)) {
        for (uint32_t i = 0; i < p->n; i++) {
            bool in = p->numbers[i] >= 0.0 && p->numbers[i] < (double)p->n;
            p->normals[i] = in ? (uint32_t)p->numbers[i] : ROWS_MAX;
        }
        lcp->normals = p->normals;
    }
    if (read_numbers(eval, root, "friction", p->n, p->friction)) {
        lcp->friction = p->friction;
    }
    if (read_numbers(eval, root, "estimates", p->n, p->estimates)) {
        lcp->estimates = p->estimates;
    }
}

static void write_answer(cm_eval *eval, const problem *p, bool solved, uint32_t solves)
{
    double sets[ROWS_MAX];
    for (uint32_t i = 0; i < p->n; i++) {
        sets[i] = (double)p->sets[i];
    }
    if (solved) {
        cm_out_numbers(eval, "x", p->x, p->n);
        cm_out_numbers(eval, "w", p->w, p->n);
    }
    cm_out_numbers(eval, "sets", sets, p->n);
    cm_out_number(eval, "solves", (double)solves);
    cm_out_bool(eval, "solved", solved);
}

static void solve(cm_eval *eval, const cm_json_value *root, problem *p)
{
    static const carom_lcp_method METHODS[] = {CAROM_LCP_MURTY,   CAROM_LCP_PROJECTION,
                                               CAROM_LCP_PLAIN,   CAROM_LCP_KOSTREVA,
                                               CAROM_LCP_PYRAMID, CAROM_LCP_ESTIMATE};
    carom_lcp_problem lcp = {
        .matrix = p->matrix, .vector = p->vector, .lower = p->lower, .upper = p->upper};
    uint32_t method = cm_json_choice(&eval->in, root, "method",
                                     "murty|projection|plain|kostreva|pyramid|estimate");
    read_matrix(eval, root, p);
    lcp.n = p->n;
    read_rest(eval, root, p, &lcp);
    cm_json_end_keys(&eval->in, root,
                     "matrix|vector|q|lower|upper|epsilon|tolerance|method|sets|normals|friction|"
                     "estimates|rounds",
                     CM_EVAL_HELP);
    double *work = calloc(carom_lcp_work_size(p->n) + 1, sizeof *work);
    uint32_t solves = 0;
    if (work == NULL) {
        cm_json_fail(&eval->in, NULL, "out of memory");
    }
    if (!cm_json_failed(&eval->in)) {
        carom_result result =
            carom_lcp_solve(&lcp, METHODS[method], p->sets, p->x, p->w, work, &solves);
        if (result != CAROM_OK && result != CAROM_ERROR_STATE) {
            cm_json_fail(&eval->in, NULL,
                         "%s, expected a symmetric matrix, lower <= upper, and for tangents "
                         "normals and friction",
                         carom_result_text(result));
        } else {
            write_answer(eval, p, result == CAROM_OK, solves);
        }
    }
    free(work);
}

static void run(cm_eval *eval, const cm_json_value *root)
{
    problem *p = calloc(1, sizeof *p);
    if (p == NULL) {
        cm_json_fail(&eval->in, NULL, "out of memory");
        return;
    }
    solve(eval, root, p);
    free(p);
}

const cm_eval_case cm_eval_lcp_case = {
    "lcp", "a linear complementarity problem with bounds, or with friction pyramids", TEXT, run};
