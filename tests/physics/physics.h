// What the laws are tried on: worlds of one solver, their bodies, and their energy.
//
// A law has a file: formula and source at its head, then a parameterised test that measures it.
// Each measured number is told with the range that it must lie in; `--verbose=1` shows those that
// do. A law that holds for any size, mass and rate is `cm_law`: its cases are drawn.
#ifndef CM_TESTS_PHYSICS_PHYSICS_H
#define CM_TESTS_PHYSICS_PHYSICS_H

#include "carom/world.h"
#include "shared/base/vec.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/parameterized.h>
#include <math.h>

#define CM_PI 3.14159265358979

typedef struct cm_lab {
    carom_world *world;
    carom_shape_def surface; // friction, restitution and density of what is made next
} cm_lab;

// A case of a law: a solver, a rate of 60 to 240 Hz, and where its numbers come from. Case n of a
// seed is the same on every machine: `make test` takes the first few of seed 1, `make check` all;
// SEED=n takes another seed.
typedef struct cm_case {
    uint64_t seed, state;
    uint32_t number, rate;
    carom_solver_type solver;
} cm_case;

enum { SOFT = 1, IMPULSE = 2, LCP = 4, VOLUME = 8, ALL_SOLVERS = 15 };

// So many cases for each solver of the mask: the first at 60 Hz, the others at any rate.
struct criterion_test_params cm_cases(uint32_t solvers, uint32_t few, uint32_t all);
// The next number of a case, evenly from low to high; above 0 evenly by its logarithm.
double cm_draw(cm_case *c, double low, double high);
// The world of a case; what fails from here on names the case. The lcp solver has its cone of
// friction, the volume solver static friction equal to kinetic: Coulomb's law is the same in all.
carom_world_def cm_case_def(const cm_case *c, uint32_t bodies);
const char *cm_solver_name(carom_solver_type solver);

#define cm_law(suite, name, solvers, few, all)                                                     \
    ParameterizedTestParameters(suite, name)                                                       \
    {                                                                                              \
        return cm_cases(solvers, few, all);                                                        \
    }                                                                                              \
    ParameterizedTest(cm_case *c, suite, name)

// Room for `bodies` bodies; the default solver, friction by product, restitution the larger one.
extern const carom_allocator cm_lab_allocator; // malloc and free

carom_world_def cm_lab_def(uint32_t rate, uint32_t bodies);
cm_lab cm_lab_open(const carom_world_def *def);
void cm_lab_close(cm_lab *lab);
void cm_lab_run(cm_lab *lab, double seconds);

// The plane y = 0; its friction and restitution are 1 and 0, so that a product is the body's own.
carom_body_id cm_lab_floor(cm_lab *lab);
carom_body_id cm_lab_ball(cm_lab *lab, carom_vec3 position, float radius);
carom_body_id cm_lab_box(cm_lab *lab, carom_vec3 position, carom_vec3 half);
carom_body_id cm_lab_add(cm_lab *lab, const carom_body_def *body, const carom_shape_def *shape);
// A shape with the present surface.
carom_shape_def cm_lab_shape(const cm_lab *lab, carom_shape_type type);
void cm_lab_set_velocity(cm_lab *lab, carom_body_id body, carom_vec3 linear, carom_vec3 angular);
carom_body_state cm_lab_get(const cm_lab *lab, carom_body_id body);
void cm_lab_joint(cm_lab *lab, carom_joint_type type, carom_body_id a, carom_body_id b,
                  carom_vec3 anchor, carom_vec3 axis);
// A joint of that def; and how a joint is now.
carom_joint_id cm_lab_join(cm_lab *lab, const carom_joint_def *def);
carom_joint_state cm_lab_joint_get(const cm_lab *lab, carom_joint_id joint);
// Moment of inertia of a body about the axis of its own that `axis` (0, 1, 2) numbers, kg m^2.
double cm_lab_inertia(const cm_lab *lab, carom_body_id body, int axis);

// Of all dynamic bodies: kinetic energy, and potential in the world's gravity. J
double cm_lab_kinetic(const cm_lab *lab);
double cm_lab_energy(const cm_lab *lab);
carom_dvec3 cm_lab_angular_momentum(const cm_lab *lab, carom_body_id body); // about its centre
double cm_lab_fastest(const cm_lab *lab);                                   // m/s
double cm_lab_joint_error(const cm_lab *lab);                               // m, of the worst one

#define cm_within(value, low, high, ...)                                                           \
    cm_tell_within(__FILE__, __LINE__, value, low, high, __VA_ARGS__)
// Fails unless low <= value <= high.
void cm_tell_within(const char *file, int line, double value, double low, double high,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
