// Goal: mass, centre of mass and principal inertia are what the closed forms say, also for
// compounds and for overrides. Method: single shapes against textbook formulas; a box cut into two
// against the whole; turned and moved parts against the tensor they must keep; the eigen solver
// against random symmetric matrices.
#include "shared/sim/state/image.h"
#include "shared/sim/body/mass.h"
#include "tests/unit/sim/world_fixture.h"

static const double pi = 3.14159265358979323846;

static void close_to(float got, double expected)
{
    double scale = expected < 0 ? -expected : expected;
    double error = (double)got - expected;
    cr_assert(error <= 2.0e-6 * scale + 1.0e-7 && -error <= 2.0e-6 * scale + 1.0e-7,
              "%.9g, expected %.9g", (double)got, expected);
}

static carom_shape_def box(float x, float y, float z)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(x, y, z);
    return shape;
}

// Inertia tensor in the body's axes: R diag(I) R^T, element (i, j).
static double tensor_of(const cm_mass *mass, int i, int j)
{
    cm_mat3 m = cm_mat3_from_quat(mass->inertia_orientation);
    const float *x = &m.x.x, *y = &m.y.x, *z = &m.z.x;
    return (double)mass->inertia.x * (double)x[i] * (double)x[j] +
           (double)mass->inertia.y * (double)y[i] * (double)y[j] +
           (double)mass->inertia.z * (double)z[i] * (double)z[j];
}

Test(mass, single_shapes_match_closed_forms)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def sphere = carom_default_shape_def();
    sphere.radius = 0.5f;
    cm_mass mass = cm_mass_of(&def, &sphere, 1, false);
    double m = 1000.0 * 4.0 / 3.0 * pi * 0.125;
    close_to(mass.mass, m);
    close_to(mass.inertia.x, 0.4 * m * 0.25);
    close_to(mass.inertia.z, 0.4 * m * 0.25);

    carom_shape_def slab = box(1.0f, 2.0f, 3.0f);
    mass = cm_mass_of(&def, &slab, 1, false);
    close_to(mass.mass, 48000.0);
    close_to(mass.inertia.x, 48000.0 / 12.0 * (16.0 + 36.0));
    close_to(mass.inertia.y, 48000.0 / 12.0 * (4.0 + 36.0));
    close_to(mass.inertia.z, 48000.0 / 12.0 * (4.0 + 16.0));

    carom_shape_def capsule = carom_default_shape_def();
    capsule.type = CAROM_SHAPE_CAPSULE;
    capsule.radius = 0.5f;
    capsule.half_height = 1.0f;
    mass = cm_mass_of(&def, &capsule, 1, false);
    double cylinder = 1000.0 * pi * 0.25 * 2.0, ball = m;
    close_to(mass.mass, cylinder + ball);
    close_to(mass.inertia.y, cylinder * 0.125 + ball * 0.1);
    // Two hemispheres: 83/320 m r^2 about the own centroid, which lies 3/8 r beyond the disc.
    double half = ball / 2.0, own = 83.0 / 320.0 * half * 0.25, arm = 1.0 + 0.1875;
    close_to(mass.inertia.x, cylinder * (0.0625 + 4.0 / 12.0) + 2.0 * (own + half * arm * arm));
    close_to(mass.inertia.z, (double)mass.inertia.x);
}

Test(mass, a_box_in_two_halves_is_the_box)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def whole = box(2.0f, 0.5f, 1.0f);
    carom_shape_def halves[2] = {box(1.0f, 0.5f, 1.0f), box(1.0f, 0.5f, 1.0f)};
    halves[0].position.x = -1.0f;
    halves[1].position.x = 1.0f;
    // Turned by a quarter about x, with its sides exchanged: the same half.
    halves[1].half_extents = cm_vec(1.0f, 1.0f, 0.5f);
    halves[1].orientation.x = halves[1].orientation.w = 0.70710678f;
    cm_mass one = cm_mass_of(&def, &whole, 1, false), two = cm_mass_of(&def, halves, 2, false);
    close_to(two.mass, (double)one.mass);
    close_to(two.center_of_mass.x, 0.0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double error = tensor_of(&two, i, j) - tensor_of(&one, i, j);
            cr_assert(error < 0.01 && error > -0.01, "(%d, %d): %g", i, j, error);
        }
    }
}

Test(mass, compounds_have_the_tensor_of_their_parts)
{
    // A dumbbell along a diagonal: two spheres, moments by Steiner.
    carom_body_def def = carom_default_body_def();
    carom_shape_def balls[2] = {carom_default_shape_def(), carom_default_shape_def()};
    balls[0].position = cm_vec(1.0f, 1.0f, 0.0f);
    balls[1].position = cm_vec(-1.0f, -1.0f, 0.0f);
    balls[0].density = balls[1].density = 100.0f;
    cm_mass mass = cm_mass_of(&def, balls, 2, false);
    double m = 100.0 * 4.0 / 3.0 * pi * 0.125, own = 0.4 * m * 0.25;
    close_to(mass.mass, 2.0 * m);
    double expected[3][3] = {
        {2 * (own + m), -2 * m, 0}, {-2 * m, 2 * (own + m), 0}, {0, 0, 2 * (own + 2 * m)}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double error = tensor_of(&mass, i, j) - expected[i][j];
            cr_assert(error < 1.0e-3 && error > -1.0e-3, "(%d, %d): %g", i, j, error);
        }
    }
    // A heavier ball draws the centre of mass.
    balls[0].density = 300.0f;
    mass = cm_mass_of(&def, balls, 2, false);
    close_to(mass.center_of_mass.x, 0.5);
    close_to(mass.center_of_mass.y, 0.5);
}

Test(mass, overrides_do_what_they_say)
{
    carom_body_def def = carom_default_body_def();
    carom_shape_def cube = box(0.5f, 0.5f, 0.5f);
    def.has_mass = true;
    def.mass = 6.0f;
    cm_mass mass = cm_mass_of(&def, &cube, 1, false); // the mass scales the inertia
    close_to(mass.mass, 6.0);
    close_to(mass.inertia.x, 1.0);
    cube.density = 0.0f; // shapes that weigh nothing still say how it is spread
    mass = cm_mass_of(&def, &cube, 1, false);
    close_to(mass.inertia.x, 1.0);
    def.has_center_of_mass = true;
    def.center_of_mass = cm_vec(0.0f, -0.5f, 0.0f);
    mass = cm_mass_of(&def, &cube, 1, false); // about the centre given: Steiner
    close_to(mass.center_of_mass.y, -0.5);
    close_to(tensor_of(&mass, 0, 0) > 0 ? (float)tensor_of(&mass, 0, 0) : 0.0f, 1.0 + 6.0 * 0.25);
    close_to((float)tensor_of(&mass, 1, 1), 1.0);
    def.has_inertia = true;
    def.inertia = cm_vec(1.0f, 2.0f, 3.0f);
    mass = cm_mass_of(&def, &cube, 1, false);
    cr_assert_eq(mass.inertia.y, 2.0f);
    cr_assert_eq(mass.inertia_orientation.w, 1.0f);
    // Without mass there is no dynamic body; a static one needs none.
    carom_world *world = fixture_world(4, 4, 4);
    def = carom_default_body_def();
    cr_assert_eq(carom_body_create(world, &def, &cube, 1, NULL), CAROM_ERROR_ARGUMENT);
    def.has_mass = true;
    def.mass = 0.0f;
    cr_assert_eq(carom_body_create(world, &def, &cube, 1, NULL), CAROM_ERROR_ARGUMENT);
    def.mass = -1.0f;
    cr_assert_eq(carom_body_create(world, &def, &cube, 1, NULL), CAROM_ERROR_ARGUMENT);
    def.mass = 1.0f;
    cr_assert_eq(carom_body_create(world, &def, NULL, 0, NULL), CAROM_ERROR_ARGUMENT); // no inertia
    def.has_mass = false;
    def.type = CAROM_BODY_STATIC;
    cr_assert_eq(carom_body_create(world, &def, &cube, 1, NULL), CAROM_OK);
    free(world);
}

Test(mass, eigen_solver_diagonalises)
{
    cm_rng rng;
    cm_rng_seed(&rng, 14);
    for (uint32_t n = 0; n < 2000; n++) {
        double a[3][3], kept[3][3], values[3], axes[3][3];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) {
                double scale = n % 2 && i != j ? 1.0e-9 : 1.0;
                a[i][j] = a[j][i] = scale * (cm_rng_unit(&rng) * 2.0 - 1.0);
                kept[i][j] = kept[j][i] = a[i][j];
            }
        }
        cm_eigen(a, values, axes);
        double determinant = 0.0;
        for (int k = 0; k < 3; k++) {
            determinant += axes[0][k] * (axes[1][(k + 1) % 3] * axes[2][(k + 2) % 3] -
                                         axes[1][(k + 2) % 3] * axes[2][(k + 1) % 3]);
            for (int i = 0; i < 3; i++) {
                double error = -values[k] * axes[i][k];
                for (int j = 0; j < 3; j++) {
                    error += kept[i][j] * axes[j][k];
                }
                cr_assert(error < 1.0e-14 && error > -1.0e-14, "%u: %g", n, error);
            }
        }
        cr_assert(determinant > 1.0 - 1.0e-14 && determinant < 1.0 + 1.0e-14);
    }
}
