// Goal: the solvers of complementarity problems find the solution: boxed and plain, from any start,
// by every method, also where the matrix is only semi-definite; friction pyramids obey their law.
// Method: the worked numbers of JP2003526160A; random matrices J J^T + epsilon against the one of
// the 3^n index sets that is right, by a dense Gauss elimination of the test's own.
#include "carom/lcp.h"
#include "shared/base/rng.h"
#include "shared/sim/solve/lcp/system.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_MAX 64

typedef struct cm_case {
    uint32_t n;
    double a[N_MAX * N_MAX], b[N_MAX], lower[N_MAX], upper[N_MAX];
    double x[N_MAX], w[N_MAX];
    uint8_t sets[N_MAX];
    carom_lcp_problem problem;
    double *work;
    uint32_t solves;
} cm_case;

static double chance(cm_rng *rng)
{
    return (double)cm_rng_range(rng, -1.0f, 1.0f);
}

static cm_case *case_open(uint32_t n)
{
    cm_case *c = calloc(1, sizeof *c);
    c->n = n;
    c->work = calloc(carom_lcp_work_size(n), sizeof(double));
    c->problem.n = n;
    c->problem.matrix = c->a;
    c->problem.vector = c->b;
    c->problem.lower = c->lower;
    c->problem.upper = c->upper;
    c->problem.tolerance = 1.0e-9;
    return c;
}

static void case_close(cm_case *c)
{
    free(c->work);
    free(c);
}

static carom_result solve(cm_case *c, carom_lcp_method method)
{
    return carom_lcp_solve(&c->problem, method, c->sets, c->x, c->w, c->work, &c->solves);
}

// A = J J^T + epsilon; bounds of every kind.
static void fill(cm_case *c, cm_rng *rng, uint32_t columns, double epsilon)
{
    double j[N_MAX * 2 * N_MAX];
    for (uint32_t i = 0; i < c->n * columns; i++) {
        j[i] = chance(rng);
    }
    for (uint32_t r = 0; r < c->n; r++) {
        for (uint32_t s = 0; s <= r; s++) {
            double sum = r == s ? epsilon : 0.0;
            for (uint32_t k = 0; k < columns; k++) {
                sum += j[r * columns + k] * j[s * columns + k];
            }
            c->a[r * c->n + s] = c->a[s * c->n + r] = sum;
        }
        c->b[r] = 3.0 * chance(rng);
        uint32_t kind = cm_rng_below(rng, 4);
        c->lower[r] = kind == 0 ? -INFINITY : (kind == 1 ? 0.0 : -fabs(chance(rng)));
        c->upper[r] = kind <= 1 ? INFINITY : fabs(chance(rng));
        c->lower[r] = kind == 3 && cm_rng_below(rng, 4) == 0 ? c->upper[r] : c->lower[r];
    }
}

static void start_anywhere(cm_case *c, cm_rng *rng)
{
    for (uint32_t i = 0; i < c->n; i++) {
        c->sets[i] = (uint8_t)cm_rng_below(rng, 3);
    }
}

static bool gauss(uint32_t n, double *m, double *x)
{
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = k + 1; i < n; i++) {
            double s = m[i * n + k] / m[k * n + k];
            for (uint32_t j = k; j < n; j++) {
                m[i * n + j] -= s * m[k * n + j];
            }
            x[i] -= s * x[k];
        }
    }
    for (uint32_t k = n; k-- > 0;) {
        for (uint32_t j = k + 1; j < n; j++) {
            x[k] -= m[k * n + j] * x[j];
        }
        x[k] /= m[k * n + k];
    }
    return true;
}

// x for one choice of sets; false where it is no solution.
static bool try_sets(const cm_case *c, const uint8_t *sets, double *x)
{
    double m[49];
    for (uint32_t i = 0; i < c->n; i++) {
        double bound = sets[i] == 1 ? c->lower[i] : c->upper[i];
        if (sets[i] != 0 && !isfinite(bound)) {
            return false;
        }
        x[i] = sets[i] == 0 ? c->b[i] : bound;
        for (uint32_t j = 0; j < c->n; j++) {
            m[i * c->n + j] = sets[i] == 0 ? c->a[i * c->n + j] : (i == j ? 1.0 : 0.0);
        }
    }
    gauss(c->n, m, x);
    for (uint32_t i = 0; i < c->n; i++) {
        double w = -c->b[i];
        for (uint32_t j = 0; j < c->n; j++) {
            w += c->a[i * c->n + j] * x[j];
        }
        bool inside = x[i] >= c->lower[i] - 1e-9 && x[i] <= c->upper[i] + 1e-9;
        bool fixed = c->lower[i] == c->upper[i];
        bool right = sets[i] == 0 || fixed || (sets[i] == 1 ? w >= -1e-9 : w <= 1e-9);
        if (!inside || !right) {
            return false;
        }
    }
    return true;
}

static bool enumerate(const cm_case *c, double *x)
{
    uint32_t all = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        all *= 3;
    }
    for (uint32_t code = 0; code < all; code++) {
        uint8_t sets[7];
        uint32_t rest = code;
        for (uint32_t i = 0; i < c->n; i++, rest /= 3) {
            sets[i] = (uint8_t)(rest % 3);
        }
        if (try_sets(c, sets, x)) {
            return true;
        }
    }
    return false;
}

// The conditions themselves.
static void assert_solution(const cm_case *c, double tolerance)
{
    for (uint32_t i = 0; i < c->n; i++) {
        double w = -c->b[i];
        for (uint32_t j = 0; j < c->n; j++) {
            w += c->a[i * c->n + j] * c->x[j];
        }
        cr_assert(fabs(w - c->w[i]) < tolerance, "row %u: w %g, reported %g", i, w, c->w[i]);
        cr_assert(c->x[i] >= c->lower[i] - tolerance && c->x[i] <= c->upper[i] + tolerance);
        bool at_lower = c->x[i] <= c->lower[i] + tolerance;
        bool at_upper = c->x[i] >= c->upper[i] - tolerance;
        cr_assert(at_lower || w < tolerance, "row %u: w %g away from the lower bound", i, w);
        cr_assert(at_upper || w > -tolerance, "row %u: w %g away from the upper bound", i, w);
    }
}

static void two(cm_case *c, double b0, double b1)
{
    const double a[4] = {2.0, 1.0, 1.0, 2.0};
    memcpy(c->a, a, sizeof a);
    c->b[0] = b0;
    c->b[1] = b1;
    for (int i = 0; i < 2; i++) {
        c->lower[i] = -INFINITY;
        c->upper[i] = INFINITY;
        c->sets[i] = 0;
    }
}

Test(lcp_pivot, worked_numbers_of_the_source)
{
    static const carom_lcp_method methods[] = {CAROM_LCP_MURTY, CAROM_LCP_PROJECTION};
    cm_case *c = case_open(2);
    for (int m = 0; m < 2; m++) {
        two(c, 3.0, 3.0);
        cr_assert_eq(solve(c, methods[m]), CAROM_OK);
        cr_assert(fabs(c->x[0] - 1.0) < 1e-12 && fabs(c->x[1] - 1.0) < 1e-12);
        cr_assert_eq(c->solves, 1);
        c->upper[0] = 0.5;
        cr_assert_eq(solve(c, methods[m]), CAROM_OK);
        cr_assert(fabs(c->x[0] - 0.5) < 1e-12 && fabs(c->x[1] - 1.25) < 1e-12);
        cr_assert(fabs(c->w[0] + 0.75) < 1e-12 && fabs(c->w[1]) < 1e-12);
        cr_assert_eq(c->solves, 2);
    }
    two(c, 5.0, 6.0);
    cr_assert_eq(solve(c, CAROM_LCP_PLAIN), CAROM_OK);
    cr_assert(fabs(c->x[0] - 4.0 / 3.0) < 1e-12 && fabs(c->x[1] - 7.0 / 3.0) < 1e-12);
    two(c, -5.0, 6.0);
    cr_assert_eq(solve(c, CAROM_LCP_PLAIN), CAROM_OK);
    cr_assert(c->x[0] == 0.0 && fabs(c->x[1] - 3.0) < 1e-12 && fabs(c->w[0] - 8.0) < 1e-12);
    case_close(c);
}

Test(lcp_pivot, boxed_problems_match_enumeration)
{
    static const carom_lcp_method methods[] = {CAROM_LCP_MURTY, CAROM_LCP_PROJECTION,
                                               CAROM_LCP_KOSTREVA};
    cm_rng rng;
    cm_rng_seed(&rng, 31);
    for (int round = 0; round < 240; round++) {
        cm_case *c = case_open(1 + (uint32_t)round % 7);
        double expected[7];
        fill(c, &rng, c->n + 1, 1e-2);
        cr_assert(enumerate(c, expected), "round %d: no set is right", round);
        for (int m = 0; m < 3; m++) {
            double tolerance = methods[m] == CAROM_LCP_KOSTREVA ? 1e-5 : 1e-6;
            start_anywhere(c, &rng);
            cr_assert_eq(solve(c, methods[m]), CAROM_OK, "round %d, method %d", round, m);
            for (uint32_t i = 0; i < c->n; i++) {
                cr_assert(fabs(c->x[i] - expected[i]) < tolerance,
                          "round %d, method %d, row %u: %.12g, expected %.12g", round, m, i,
                          c->x[i], expected[i]);
            }
        }
        case_close(c);
    }
}

// Murty's counts lie where the source's were seen; moving all at once takes far fewer.
Test(lcp_pivot, large_problems_end)
{
    cm_rng rng;
    cm_rng_seed(&rng, 7);
    uint32_t most_projection = 0, most_murty = 0;
    for (int round = 0; round < 40; round++) {
        cm_case *c = case_open(round % 2 ? 24 : 48);
        fill(c, &rng, c->n + 2, 1e-3);
        cr_assert_eq(solve(c, CAROM_LCP_MURTY), CAROM_OK);
        assert_solution(c, 1e-6);
        most_murty = c->solves > most_murty ? c->solves : most_murty;
        start_anywhere(c, &rng);
        cr_assert_eq(solve(c, CAROM_LCP_PROJECTION), CAROM_OK);
        assert_solution(c, 1e-6);
        most_projection = c->solves > most_projection ? c->solves : most_projection;
        cr_assert_eq(solve(c, CAROM_LCP_PROJECTION), CAROM_OK);
        cr_assert_eq(c->solves, 1, "warm: %u solves", c->solves);
        case_close(c);
    }
    cr_assert(most_murty < 150, "%u solves", most_murty);
    cr_assert(most_projection < 40, "%u solves", most_projection);
}

Test(lcp_pivot, identical_rows_share_their_force)
{
    const double epsilon = 1e-4;
    cm_case *c = case_open(2);
    two(c, 3.0, 3.0);
    c->a[0] = c->a[1] = c->a[2] = c->a[3] = 2.0;
    c->problem.epsilon = epsilon;
    for (int m = CAROM_LCP_PROJECTION; m <= CAROM_LCP_MURTY; m++) {
        cr_assert_eq(solve(c, (carom_lcp_method)m), CAROM_OK);
        cr_assert(fabs(c->x[0] + c->x[1] - 1.5) < 2.0 * epsilon);
        cr_assert(fabs(c->x[0] - c->x[1]) < 1e-9);
    }
    // Without epsilon only Kostreva's sequence gets through.
    c->problem.epsilon = 0.0;
    cr_assert_eq(solve(c, CAROM_LCP_PROJECTION), CAROM_ERROR_STATE);
    memset(c->sets, 0, sizeof c->sets);
    cr_assert_eq(solve(c, CAROM_LCP_KOSTREVA), CAROM_OK);
    cr_assert(fabs(c->x[0] + c->x[1] - 1.5) < 1e-6);
    // Two rows that contradict each other: the forces grow without end.
    c->b[1] = -3.0;
    memset(c->sets, 0, sizeof c->sets);
    cr_assert_eq(solve(c, CAROM_LCP_KOSTREVA), CAROM_ERROR_STATE);
    case_close(c);
}

// A = J J^T of a rank below n, and b = A x - w of an x and a w that fit the bounds: it has a
// solution. Whole numbers make rows that depend on each other exactly.
static void fill_feasible(cm_case *c, cm_rng *rng, uint32_t columns, bool whole)
{
    fill(c, rng, columns, 0.0);
    double j[N_MAX * N_MAX], x[N_MAX];
    for (uint32_t i = 0; i < c->n * columns; i++) {
        j[i] = whole ? (double)cm_rng_below(rng, 5) - 2.0 : chance(rng);
    }
    for (uint32_t r = 0; r < c->n; r++) {
        bool low = isfinite(c->lower[r]), high = isfinite(c->upper[r]);
        uint32_t place = cm_rng_below(rng, 3);
        double from = low ? c->lower[r] : (high ? c->upper[r] : 0.0) - 2.0;
        double to = high ? c->upper[r] : from + 4.0;
        bool at_lower = place == 1 && low, at_upper = place == 2 && high;
        x[r] = at_lower ? from : (at_upper ? to : from + 0.5 * (1.0 + chance(rng)) * (to - from));
        double push = fabs(chance(rng));
        c->b[r] = at_lower ? -push : (at_upper ? push : 0.0);
        c->sets[r] = 0;
    }
    for (uint32_t r = 0; r < c->n; r++) {
        for (uint32_t s = 0; s < c->n; s++) {
            double sum = 0.0;
            for (uint32_t k = 0; k < columns; k++) {
                sum += j[r * columns + k] * j[s * columns + k];
            }
            c->a[r * c->n + s] = sum;
            c->b[r] += sum * x[s];
        }
    }
}

// Every semi-definite problem that has a solution is solved, to the tolerance that was asked for.
Test(lcp_pivot, semi_definite_problems_with_a_solution_are_solved)
{
    cm_rng rng;
    cm_rng_seed(&rng, 41);
    uint32_t unsolved = 0, refused = 0, most = 0;
    for (uint32_t round = 0; round < 400; round++) {
        cm_case *c = case_open(2 + round % 23);
        fill_feasible(c, &rng, 1 + cm_rng_below(&rng, c->n - 1), round % 2 == 0);
        refused += solve(c, CAROM_LCP_PROJECTION) != CAROM_OK;
        memset(c->sets, 0, sizeof c->sets);
        if (solve(c, CAROM_LCP_KOSTREVA) == CAROM_OK) {
            assert_solution(c, 1e-8);
            cr_expect_geq(c->solves, 2, "a solve with a diagonal, then one without");
        } else {
            unsolved++;
        }
        most = c->solves > most ? c->solves : most;
        case_close(c);
    }
    cr_expect_eq(unsolved, 0, "%u of 400 are not solved", unsolved);
    cr_expect_gt(refused, 200, "%u of 400 are not definite", refused);
    cr_expect_lt(most, 100, "%u solves", most);
}

Test(lcp_pivot, a_factor_follows_rows_that_come_and_go)
{
    enum { N = 20 };
    cm_rng rng;
    cm_rng_seed(&rng, 5);
    cm_case *c = case_open(N);
    double factor[N * N], fresh[N * N], row[N], column[2 * N];
    uint32_t at[N], count = 0;
    fill(c, &rng, N + 3, 0.1);
    for (int round = 0; round < 400; round++) {
        uint32_t j = cm_rng_below(&rng, N), place = 0;
        while (place < count && at[place] != j) {
            place++;
        }
        if (place < count) {
            cm_lcp_factor_remove(factor, count--, N, place, column);
            memmove(at + place, at + place + 1, (count - place) * sizeof *at);
        } else {
            at[count] = j;
            for (uint32_t i = 0; i <= count; i++) {
                row[i] = c->a[j * N + at[i]];
            }
            cr_assert(cm_lcp_factor_add(factor, count++, N, CM_LCP_TINY, row));
        }
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k <= i; k++) {
                fresh[i * N + k] = c->a[at[i] * N + at[k]];
            }
        }
        cr_assert(cm_lcp_factor(fresh, count, N, count, CM_LCP_TINY, column));
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k <= i; k++) {
                cr_assert(fabs(fresh[i * N + k] - factor[i * N + k]) < 1e-10);
            }
        }
    }
    case_close(c);
}

// Three contacts of three rows each.
static void fill_contacts(cm_case *c, cm_rng *rng, double friction, uint32_t *normals, double *mu)
{
    fill(c, rng, 12, 1e-4);
    for (uint32_t i = 0; i < 9; i++) {
        normals[i] = i / 3 * 3;
        mu[i] = friction;
        c->lower[i] = i % 3 ? -INFINITY : 0.0;
        c->upper[i] = INFINITY;
        c->sets[i] = 0;
    }
    c->problem.normals = normals;
    c->problem.friction = mu;
}

static void assert_pyramid(cm_case *c, double mu, double tolerance)
{
    for (uint32_t i = 0; i < 9; i++) {
        if (i % 3) {
            c->upper[i] = mu * c->x[i / 3 * 3];
            c->lower[i] = -c->upper[i];
        }
    }
    assert_solution(c, tolerance);
}

// The source solved 60 of 60 at 0.2 and 0.5, 58 at 0.8 and 1.5, 52 at 5.
Test(lcp_pivot, pyramids_are_solved_or_given_up)
{
    static const double frictions[] = {0.2, 0.5, 0.8, 1.5, 5.0};
    static const int least[] = {300, 300, 290, 270, 220};
    cm_rng rng;
    cm_rng_seed(&rng, 17);
    for (int k = 0; k < 5; k++) {
        int solved = 0;
        for (int round = 0; round < 300; round++) {
            uint32_t normals[9];
            double mu[9];
            cm_case *c = case_open(9);
            fill_contacts(c, &rng, frictions[k], normals, mu);
            carom_result result = solve(c, CAROM_LCP_PYRAMID);
            cr_assert(result == CAROM_OK || result == CAROM_ERROR_STATE);
            cr_assert(c->solves <= 60, "%u solves", c->solves);
            if (result == CAROM_OK) {
                solved++;
                assert_pyramid(c, frictions[k], 1e-6);
            }
            case_close(c);
        }
        cr_assert(solved >= least[k], "friction %g: %d of 300", frictions[k], solved);
    }
}

Test(lcp_pivot, estimated_boxes_settle_on_the_pyramid)
{
    cm_rng rng;
    cm_rng_seed(&rng, 23);
    int settled = 0;
    for (int round = 0; round < 100; round++) {
        uint32_t normals[9];
        double mu[9], estimates[9] = {0};
        cm_case *c = case_open(9);
        fill_contacts(c, &rng, 0.3, normals, mu);
        c->problem.estimates = estimates;
        c->problem.rounds = 60;
        cr_assert_eq(solve(c, CAROM_LCP_ESTIMATE), CAROM_OK);
        memcpy(estimates, c->x, sizeof estimates);
        double before[9];
        memcpy(before, c->x, sizeof before);
        c->problem.rounds = 1;
        cr_assert_eq(solve(c, CAROM_LCP_ESTIMATE), CAROM_OK);
        double change = 0.0;
        for (int i = 0; i < 9; i++) {
            change = fmax(change, fabs(c->x[i] - before[i]));
        }
        if (change < 1e-9) {
            settled++;
            assert_pyramid(c, 0.3, 1e-6);
        }
        case_close(c);
    }
    cr_assert(settled >= 90, "%d of 100 settled", settled);
}

Test(lcp_pivot, bad_problems_are_refused)
{
    cm_case *c = case_open(2);
    two(c, 3.0, 3.0);
    c->b[0] = NAN;
    cr_assert_eq(solve(c, CAROM_LCP_MURTY), CAROM_ERROR_NOT_FINITE);
    two(c, 3.0, 3.0);
    c->a[1] = 0.5; // not symmetric
    cr_assert_eq(solve(c, CAROM_LCP_MURTY), CAROM_ERROR_ARGUMENT);
    two(c, 3.0, 3.0);
    c->lower[0] = 1.0;
    c->upper[0] = 0.0;
    cr_assert_eq(solve(c, CAROM_LCP_MURTY), CAROM_ERROR_ARGUMENT);
    two(c, 3.0, 3.0);
    c->a[0] = -1.0; // not definite
    cr_assert_eq(solve(c, CAROM_LCP_PROJECTION), CAROM_ERROR_STATE);
    c->sets[0] = 77; // no such set
    two(c, 3.0, 3.0);
    cr_assert_eq(solve(c, CAROM_LCP_PROJECTION), CAROM_OK);
    c->problem.n = CAROM_LCP_ROWS_MAX + 1;
    cr_assert_eq(solve(c, CAROM_LCP_MURTY), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_lcp_work_size(CAROM_LCP_ROWS_MAX + 1), 0);
    case_close(c);
}
