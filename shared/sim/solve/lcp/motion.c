// Springs as epsilon and gamma, implicit outside forces, and kinematic helpers: carom/lcp.h.
// Source: JP2003526160A (springs: appendix 3). Called by games and by tests; the
// spring by every soft joint row of the lcp solver.
#include "carom/lcp.h"

#include "shared/base/vec.h"
#include "shared/base/fpenv.h"
#include "shared/sim/solve/lcp/system.h"

static bool in_range(double a)
{
    return a >= 0.0 && a < 1.0e300;
}

carom_result carom_lcp_spring(double h, double stiffness, double damping, double *epsilon,
                              double *gamma)
{
    if (epsilon == NULL || gamma == NULL || !(h > 0.0) || !in_range(h) || !in_range(stiffness) ||
        !in_range(damping)) {
        return CAROM_ERROR_ARGUMENT;
    }
    double sum = h * stiffness + damping;
    if (!(sum > 0.0) || !(h * sum > 0.0)) {
        return CAROM_ERROR_ARGUMENT;
    }
    *epsilon = 1.0 / (h * sum);
    *gamma = h * stiffness / sum;
    return CAROM_OK;
}

// Gauss with the largest pivot of each column.
static bool eliminate(uint32_t n, double *m, double *x)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < n; i++) {
            best = cm_d_abs(m[i * n + k]) > cm_d_abs(m[best * n + k]) ? i : best;
        }
        for (uint32_t j = k; j < n && best != k; j++) {
            double t = m[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = t;
        }
        double t = x[k];
        x[k] = x[best];
        x[best] = t;
        if (!(cm_d_abs(m[k * n + k]) > 1.0e-200)) {
            return false;
        }
        for (uint32_t i = k + 1; i < n; i++) {
            double s = m[i * n + k] / m[k * n + k];
            cm_lcp_add(m + i * n + k, -s, m + k * n + k, n - k);
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

CM_FP_BODY static carom_result implicit_step(uint32_t n, double h, const double *jacobian,
                                             const double *f, double *matrix, double *change)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            matrix[i * n + j] = (i == j ? 1.0 : 0.0) - h * jacobian[i * n + j];
        }
        change[i] = h * f[i];
    }
    return eliminate(n, matrix, change) ? CAROM_OK : CAROM_ERROR_STATE;
}

carom_result carom_lcp_implicit_step(uint32_t n, double h, const double *jacobian, const double *f,
                                     double *matrix, double *change)
{
    if (n == 0 || n > CAROM_LCP_ROWS_MAX || jacobian == NULL || f == NULL || matrix == NULL ||
        change == NULL || !(h > 0.0)) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = implicit_step(n, h, jacobian, f, matrix, change);
    cm_fpenv_leave(saved);
    return result;
}

CM_FP_BODY static carom_result implicit_column(uint32_t n, uint32_t m, const double *inverse_mass,
                                               const double *rows, const double *force,
                                               double *work, double *column)
{
    double *a = work, *half = work + (size_t)m * m, *x = half + (size_t)m * n, *room = x + m;
    // half = J M^-1, a = half J^T, x = half N
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++) {
            half[i * n + j] = cm_lcp_dot(rows + (size_t)i * n, inverse_mass + (size_t)j * n, n);
        }
        x[i] = cm_lcp_dot(half + (size_t)i * n, force, n);
        for (uint32_t j = 0; j <= i; j++) {
            a[i * m + j] = cm_lcp_dot(half + (size_t)i * n, rows + (size_t)j * n, n);
        }
    }
    if (!cm_lcp_factor(a, m, m, m, CM_LCP_TINY, room)) {
        return CAROM_ERROR_STATE;
    }
    cm_lcp_forward(a, m, m, x);
    cm_lcp_backward(a, m, m, x);
    for (uint32_t j = 0; j < n; j++) {
        column[j] = cm_lcp_dot(inverse_mass + (size_t)j * n, force, n);
        for (uint32_t i = 0; i < m; i++) {
            column[j] -= half[i * n + j] * x[i];
        }
    }
    return CAROM_OK;
}

carom_result carom_lcp_implicit_column(uint32_t n, uint32_t m, const double *inverse_mass,
                                       const double *rows, const double *force, double *work,
                                       double *column)
{
    if (n == 0 || n > CAROM_LCP_ROWS_MAX || m > n || inverse_mass == NULL || rows == NULL ||
        force == NULL || work == NULL || column == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_fpenv saved = cm_fpenv_enter();
    carom_result result = implicit_column(n, m, inverse_mass, rows, force, work, column);
    cm_fpenv_leave(saved);
    return result;
}

CM_FP_BODY carom_telescope carom_telescope_make(carom_vec3 position_1, carom_quat orientation_1,
                                                carom_vec3 position_2, carom_vec3 position_3)
{
    carom_vec3 along = cm_sub(position_2, position_1), to = cm_sub(position_3, position_1);
    float squared = cm_length_squared(along);
    carom_telescope telescope;
    telescope.fraction = squared > 0.0f ? cm_dot(to, along) / squared : 0.0f;
    telescope.offset = cm_rotate_inverse(orientation_1, cm_mul_add(to, -telescope.fraction, along));
    return telescope;
}

CM_FP_BODY carom_vec3 carom_telescope_place(const carom_telescope *telescope, carom_vec3 position_1,
                                            carom_quat orientation_1, carom_vec3 position_2)
{
    carom_vec3 on = cm_mul_add(position_1, telescope->fraction, cm_sub(position_2, position_1));
    return cm_add(on, cm_rotate(orientation_1, telescope->offset));
}

CM_FP_BODY carom_vec3 carom_keep_place(carom_vec3 first_position_1, carom_quat first_orientation_1,
                                       carom_vec3 first_position_2, carom_vec3 position_1,
                                       carom_quat orientation_1)
{
    carom_vec3 local =
        cm_rotate_inverse(first_orientation_1, cm_sub(first_position_2, first_position_1));
    return cm_add(position_1, cm_rotate(orientation_1, local));
}
