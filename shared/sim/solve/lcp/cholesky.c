// Cholesky factors: whole, of the first columns, and kept up to date as rows come and go.
//
// Right-looking, by columns, so that the inner loop runs along a row and a compiler may use what
// lanes it has without changing the order of a sum. A zero in a column skips its row: the factor of
// a chain costs what its profile has. Source: Golub and Van Loan, Matrix Computations, 4.2 and
// 6.5. Typical: 100 rows, of which 60 belong to joints and are sparse.
#include "shared/sim/solve/lcp/system.h"

#define LARGEST 1.0e300

static double root_of(double a)
{
    return __builtin_sqrt(a);
}

bool cm_lcp_factor(double *l, uint32_t n, uint32_t stride, uint32_t columns, double tiny,
                   double *column)
{
    double *first = column + n; // the diagonal as it was
    for (uint32_t i = 0; i < columns; i++) {
        first[i] = l[(size_t)i * stride + i];
    }
    for (uint32_t k = 0; k < columns; k++) {
        double pivot = l[(size_t)k * stride + k];
        if (!(pivot > tiny * first[k]) || !(pivot < LARGEST)) {
            return false;
        }
        double root = root_of(pivot), inverse = 1.0 / root;
        l[(size_t)k * stride + k] = root;
        for (uint32_t i = k + 1; i < n; i++) {
            double *row = l + (size_t)i * stride;
            column[i] = row[k] != 0.0 ? row[k] * inverse : 0.0;
            row[k] = column[i];
            if (column[i] != 0.0) {
                cm_lcp_add(row + k + 1, -column[i], column + k + 1, i - k);
            }
        }
    }
    return true;
}

void cm_lcp_forward_from(const double *l, uint32_t n, uint32_t stride, uint32_t first, double *x)
{
    for (uint32_t i = first; i < n; i++) {
        const double *row = l + (size_t)i * stride;
        x[i] = (x[i] - cm_lcp_dot(row + first, x + first, i - first)) / row[i];
    }
}

void cm_lcp_forward(const double *l, uint32_t n, uint32_t stride, double *x)
{
    cm_lcp_forward_from(l, n, stride, 0, x);
}

void cm_lcp_backward(const double *l, uint32_t n, uint32_t stride, double *x)
{
    for (uint32_t i = n; i-- > 0;) {
        const double *row = l + (size_t)i * stride;
        x[i] /= row[i];
        if (x[i] != 0.0) {
            cm_lcp_add(x, -x[i], row, i);
        }
    }
}

bool cm_lcp_factor_add(double *l, uint32_t count, uint32_t stride, double tiny, double *row)
{
    cm_lcp_forward(l, count, stride, row);
    double pivot = row[count] - cm_lcp_dot(row, row, count);
    if (!(pivot > tiny * row[count]) || !(pivot < LARGEST)) {
        return false;
    }
    double *to = l + (size_t)count * stride;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = row[i];
    }
    to[count] = root_of(pivot);
    return true;
}

// Without row and column `at`, what stood left below it comes back as an update of rank one.
void cm_lcp_factor_remove(double *l, uint32_t count, uint32_t stride, uint32_t at, double *column)
{
    uint32_t last = count - 1;
    for (uint32_t i = at; i < last; i++) {
        const double *from = l + (size_t)(i + 1) * stride;
        double *to = l + (size_t)i * stride;
        column[i] = from[at];
        for (uint32_t j = 0; j < at; j++) {
            to[j] = from[j];
        }
        for (uint32_t j = at; j <= i; j++) {
            to[j] = from[j + 1];
        }
    }
    for (uint32_t k = at; k < last; k++) {
        double *row = l + (size_t)k * stride;
        double root = root_of(row[k] * row[k] + column[k] * column[k]);
        double c = row[k] / root, s = column[k] / root;
        row[k] = root;
        for (uint32_t i = k + 1; i < last; i++) {
            double *below = l + (size_t)i * stride;
            double old = below[k];
            below[k] = c * old + s * column[i];
            column[i] = c * column[i] - s * old;
        }
    }
}
