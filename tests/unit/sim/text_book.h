// What checks of text-book physics share: worlds by solver, a body by its shape, inclines.
#ifndef CM_TESTS_UNIT_SIM_TEXT_BOOK_H
#define CM_TESTS_UNIT_SIM_TEXT_BOOK_H

#include "tests/unit/sim/rig.h"

#include <math.h>

#define G    9.81
#define PI   3.14159265358979323846
#define NONE ((carom_vec3){0.0f, 0.0f, 0.0f})

static inline const char *name_of(carom_solver_type type)
{
    static const char *const names[] = {"soft", "impulse", "lcp", "volume"};
    return names[type];
}

static inline cm_rig open_rig(carom_solver_type type, uint32_t tick_rate, double gravity)
{
    carom_world_def def = cm_rig_def(32);
    def.solver.type = type;
    def.tick_rate = tick_rate;
    def.gravity = cm_vec(0.0f, -(float)gravity, 0.0f);
    def.sleep = false;
    return cm_rig_open(&def, 0);
}

static inline carom_body_id add(cm_rig *rig, carom_shape_def shape, carom_vec3 at, carom_quat turn,
                                carom_body_type type)
{
    carom_body_def body = carom_default_body_def();
    body.type = type;
    body.position = at;
    body.orientation = turn;
    body.report_force = true;
    return cm_rig_body(rig, &body, &shape);
}

static inline carom_shape_def box_of(float x, float y, float z, float friction)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(x, y, z);
    shape.friction = friction;
    return shape;
}

static inline carom_shape_def sphere_of(float radius, float friction)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = radius;
    shape.friction = friction;
    return shape;
}

#define UPRIGHT ((carom_quat){0.0f, 0.0f, 0.0f, 1.0f})

static inline carom_quat about(carom_vec3 axis, double angle)
{
    float s = (float)sin(0.5 * angle);
    return (carom_quat){s * axis.x, s * axis.y, s * axis.z, (float)cos(0.5 * angle)};
}

// A half-space that falls by `slope` in the direction `heading` (about y, from x).
static inline carom_vec3 incline(cm_rig *rig, double slope, double heading, float friction)
{
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_PLANE;
    shape.friction = friction;
    shape.normal = cm_vec((float)(sin(slope) * cos(heading)), (float)cos(slope),
                          (float)(sin(slope) * sin(heading)));
    add(rig, shape, NONE, UPRIGHT, CAROM_BODY_STATIC);
    return shape.normal;
}

// Turned so that its y is along the normal.
static inline carom_quat standing_on(double slope, double heading)
{
    return about(cm_vec((float)sin(heading), 0.0f, -(float)cos(heading)), slope);
}

static inline double speed_of(const cm_rig *rig, carom_body_id id)
{
    return (double)cm_length(cm_rig_get(rig, id).linear_velocity);
}

#endif
