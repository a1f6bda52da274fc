// What the laws are tried on: worlds of one solver, their bodies, and their energy.
//
// A law has a file: formula and source at its head, then a parameterised test that measures it.
// Each measured number is told with the range that it must lie in; `--verbose=1` shows those that
// do.
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

// Room for `bodies` bodies; the default solver, friction by product, restitution the larger one.
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
