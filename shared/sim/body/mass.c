// Mass properties; see mass.h. Shapes are summed in slot order, so the result is a function of the
// definition alone.
#include "shared/sim/body/mass.h"

#include "shared/base/vec.h"
#include "shared/sim/body/mass_slice.h"
#include "shared/sim/body/shape.h"
#include "shared/sim/state/hull.h"

#include <string.h>

#define PI     3.14159265358979323846
#define SWEEPS 10 // quadratic convergence: 5 reach the last bit, the others find nothing to do

static double square(double a)
{
    return a * a;
}

// Volume, and the principal moments of a unit of density in the shape's own axes.
static double shape_moments(const cm_shape *shape, double moments[3])
{
    double a = (double)shape->size[0], b = (double)shape->size[1], c = (double)shape->size[2];
    double volume = 0.0;
    moments[0] = moments[1] = moments[2] = 0.0;
    if (shape->type == CAROM_SHAPE_SPHERE) {
        volume = 4.0 / 3.0 * PI * a * a * a;
        moments[0] = moments[1] = moments[2] = 0.4 * volume * a * a;
    } else if (shape->type == CAROM_SHAPE_BOX) {
        volume = 8.0 * a * b * c;
        moments[0] = volume / 3.0 * (b * b + c * c);
        moments[1] = volume / 3.0 * (a * a + c * c);
        moments[2] = volume / 3.0 * (a * a + b * b);
    } else if (shape->type == CAROM_SHAPE_CAPSULE) {
        // A cylinder of length 2b between two hemispheres, whose centroids lie 3/8 a from their
        // discs.
        double cylinder = PI * a * a * 2.0 * b;
        double ball = 4.0 / 3.0 * PI * a * a * a;
        volume = cylinder + ball;
        moments[1] = cylinder * a * a / 2.0 + ball * 0.4 * a * a;
        moments[0] =
            cylinder * (a * a / 4.0 + b * b / 3.0) + ball * (0.4 * a * a + b * b + 0.75 * a * b);
        moments[2] = moments[0];
    } else if (shape->type == CAROM_SHAPE_CYLINDER) {
        volume = PI * a * a * 2.0 * b;
        moments[1] = volume * a * a / 2.0;
        moments[0] = volume * (a * a / 4.0 + b * b / 3.0);
        moments[2] = moments[0];
    }
    return volume;
}

// The part of one definition: mass, centroid in the body, inertia about it of a unit of density.
typedef struct part {
    double mass, density, center[3], tensor[3][3];
} part;

// Rotation matrix, rows first, of a quaternion normalised in binary64.
static void matrix_of(carom_quat q, double m[3][3])
{
    double x = (double)q.x, y = (double)q.y, z = (double)q.z, w = (double)q.w;
    double s = 2.0 / (x * x + y * y + z * z + w * w);
    m[0][0] = 1.0 - s * (y * y + z * z);
    m[0][1] = s * (x * y - w * z);
    m[0][2] = s * (x * z + w * y);
    m[1][0] = s * (x * y + w * z);
    m[1][1] = 1.0 - s * (x * x + z * z);
    m[1][2] = s * (y * z - w * x);
    m[2][0] = s * (x * z - w * y);
    m[2][1] = s * (y * z + w * x);
    m[2][2] = 1.0 - s * (x * x + y * y);
}

// Quaternion of a rotation matrix, from its largest component (S. W. Shepperd, 1978).
static carom_quat quat_of(double m[3][3])
{
    double trace = m[0][0] + m[1][1] + m[2][2];
    double q[4]; // x y z w
    int i = 0;
    if (m[1][1] > m[i][i]) {
        i = 1;
    }
    if (m[2][2] > m[i][i]) {
        i = 2;
    }
    if (trace >= m[i][i]) {
        q[3] = 1.0 + trace;
        q[0] = m[2][1] - m[1][2];
        q[1] = m[0][2] - m[2][0];
        q[2] = m[1][0] - m[0][1];
    } else {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1.0 + m[i][i] - m[j][j] - m[k][k];
        q[j] = m[j][i] + m[i][j];
        q[k] = m[k][i] + m[i][k];
        q[3] = m[k][j] - m[j][k];
    }
    double norm = __builtin_sqrt(square(q[0]) + square(q[1]) + square(q[2]) + square(q[3]));
    carom_quat result = {(float)(q[0] / norm), (float)(q[1] / norm), (float)(q[2] / norm),
                         (float)(q[3] / norm)};
    return result;
}

// One Jacobi rotation, which makes a[p][q] zero.
static void jacobi_rotate(double a[3][3], double axes[3][3], int p, int q)
{
    double scale = __builtin_fabs(a[0][0]) + __builtin_fabs(a[1][1]) + __builtin_fabs(a[2][2]);
    if (__builtin_fabs(a[p][q]) <= 1.0e-16 * scale) {
        a[p][q] = a[q][p] = 0.0;
        return;
    }
    double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    double root = __builtin_fabs(theta) > 1.0e100 ? __builtin_fabs(theta)
                                                  : __builtin_sqrt(theta * theta + 1.0);
    double t = theta >= 0.0 ? 1.0 / (theta + root) : -1.0 / (root - theta);
    double c = 1.0 / __builtin_sqrt(t * t + 1.0);
    double s = t * c;
    for (int k = 0; k < 3; k++) {
        double kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for (int k = 0; k < 3; k++) {
        double pk = a[p][k], qk = a[q][k];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
    }
    a[p][q] = a[q][p] = 0.0;
    for (int k = 0; k < 3; k++) {
        double kp = axes[k][p], kq = axes[k][q];
        axes[k][p] = c * kp - s * kq;
        axes[k][q] = s * kp + c * kq;
    }
}

void cm_eigen(double a[3][3], double values[3], double axes[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            axes[i][j] = i == j ? 1.0 : 0.0;
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        jacobi_rotate(a, axes, 0, 1);
        jacobi_rotate(a, axes, 0, 2);
        jacobi_rotate(a, axes, 1, 2);
    }
    for (int i = 0; i < 3; i++) {
        values[i] = a[i][i];
    }
}

typedef struct sums {
    double mass;
    double center[3];
    double tensor[3][3]; // about the centre
} sums;

// The row that a definition makes, with unit density where asked for.
static cm_shape row_of(const carom_shape_def *def, bool unit_density)
{
    cm_shape shape;
    cm_shape_from_def(def, &shape, NULL);
    if (unit_density) {
        shape.density = 1.0f;
    }
    return shape;
}

// out = r m r^T, of the symmetric m.
static void turn_tensor(double r[3][3], const double m[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                for (int l = 0; l < 3; l++) {
                    sum += r[i][k] * m[k][l] * r[j][l];
                }
            }
            out[i][j] = sum;
        }
    }
}

// The rule by which shapes weigh.
typedef struct weighing {
    bool unit_density, planar;
    double normal[3]; // of the plane, in the body's axes
} weighing;

static part part_of(const carom_shape_def *def, const weighing *rule)
{
    cm_shape shape = row_of(def, rule->unit_density);
    part p;
    double r[3][3], moments[3];
    matrix_of(shape.orientation, r);
    p.density = (double)shape.density;
    p.center[0] = (double)shape.position.x;
    p.center[1] = (double)shape.position.y;
    p.center[2] = (double)shape.position.z;
    if (rule->planar) {
        cm_slice slice = cm_slice_of(&shape, r, def->hull, rule->normal);
        p.mass = slice.area * p.density;
        memcpy(p.center, slice.center, sizeof p.center);
        memcpy(p.tensor, slice.tensor, sizeof p.tensor);
        return p;
    }
    if (shape.type == CAROM_SHAPE_HULL) {
        const double *c = def->hull->centroid;
        for (int i = 0; i < 3; i++) {
            p.center[i] += r[i][0] * c[0] + r[i][1] * c[1] + r[i][2] * c[2];
        }
        turn_tensor(r, def->hull->tensor, p.tensor);
        p.mass = def->hull->volume * p.density;
        return p;
    }
    p.mass = shape_moments(&shape, moments) * p.density;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            p.tensor[i][j] = r[i][0] * moments[0] * r[j][0] + r[i][1] * moments[1] * r[j][1] +
                             r[i][2] * moments[2] * r[j][2];
        }
    }
    return p;
}

static void add_masses(sums *sum, const carom_shape_def *shapes, uint32_t count,
                       const weighing *rule)
{
    double first[3] = {0.0, 0.0, 0.0};
    sum->mass = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        part p = part_of(&shapes[i], rule);
        sum->mass += p.mass;
        for (int k = 0; k < 3; k++) {
            first[k] += p.mass * p.center[k];
            // Of one shape exactly there, not but for a rounding.
            sum->center[k] = p.mass > 0.0 ? p.center[k] : 0.0;
        }
    }
    for (int k = 0; k < 3 && count != 1; k++) {
        sum->center[k] = sum->mass > 0.0 ? first[k] / sum->mass : 0.0;
    }
}

// Inertia about sum->center: each shape's own, turned into the body's axes, and moved (Steiner).
static void add_inertia(sums *sum, const carom_shape_def *shapes, uint32_t count,
                        const weighing *rule)
{
    memset(sum->tensor, 0, sizeof sum->tensor);
    for (uint32_t n = 0; n < count; n++) {
        part p = part_of(&shapes[n], rule);
        double d[3] = {p.center[0] - sum->center[0], p.center[1] - sum->center[1],
                       p.center[2] - sum->center[2]};
        double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double moved = p.mass * ((i == j ? dd : 0.0) - d[i] * d[j]);
                sum->tensor[i][j] += p.density * p.tensor[i][j] + moved;
            }
        }
    }
}

// Principal moments and axes of the sum. A single shape at the centre of mass keeps its own axes.
static void diagonalise(cm_mass *result, sums *sum, const carom_shape_def *shapes, uint32_t count,
                        const weighing *rule)
{
    double values[3], axes[3][3];
    double scale = (double)result->mass / sum->mass;
    cm_shape shape = row_of(&shapes[0], rule->unit_density);
    // Its axes are its inertia's.
    bool principal = count == 1 && shape.type != CAROM_SHAPE_HULL && !rule->planar;
    if (principal && (double)shape.position.x == sum->center[0] &&
        (double)shape.position.y == sum->center[1] && (double)shape.position.z == sum->center[2]) {
        shape_moments(&shape, values);
        scale *= (double)shape.density;
        result->inertia_orientation = shape.orientation;
    } else {
        add_inertia(sum, shapes, count, rule);
        cm_eigen(sum->tensor, values, axes);
        result->inertia_orientation = quat_of(axes);
    }
    result->inertia =
        cm_vec((float)(scale * values[0]), (float)(scale * values[1]), (float)(scale * values[2]));
}

cm_mass cm_mass_of(const carom_body_def *def, const carom_shape_def *shapes, uint32_t count,
                   bool planar)
{
    sums sum;
    double turn[3][3];
    matrix_of(def->orientation, turn);
    weighing rule = {false, planar, {turn[2][0], turn[2][1], turn[2][2]}};
    add_masses(&sum, shapes, count, &rule);
    // A mass for shapes that weigh nothing: they still say how it is spread.
    rule.unit_density = def->has_mass && sum.mass == 0.0;
    if (rule.unit_density) {
        add_masses(&sum, shapes, count, &rule);
    }
    if (def->has_center_of_mass) {
        sum.center[0] = (double)def->center_of_mass.x;
        sum.center[1] = (double)def->center_of_mass.y;
        sum.center[2] = (double)def->center_of_mass.z;
    }
    cm_mass result;
    memset(&result, 0, sizeof result);
    result.mass = def->has_mass ? def->mass : (float)sum.mass;
    result.center_of_mass =
        cm_vec((float)sum.center[0], (float)sum.center[1], (float)sum.center[2]);
    result.inertia_orientation = cm_quat_identity();
    if (def->has_inertia) {
        result.inertia = def->inertia;
        result.inertia_orientation = cm_quat_normalize(def->inertia_orientation);
    } else if (sum.mass > 0.0) {
        diagonalise(&result, &sum, shapes, count, &rule);
    }
    return result;
}
