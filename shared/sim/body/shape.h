// Shapes: rows from definitions and back, and what a row says of itself. Private to shared/sim.
#ifndef CM_SIM_BODY_SHAPE_H
#define CM_SIM_BODY_SHAPE_H

#include "shared/base/vec.h"
#include "shared/sim/state/image.h"

// A shape's row from its definition, checked, normalised, without ids. Padding and unused sizes are
// zero.
// body.c: what carom_body_create asks of a definition, whatever the world holds.
carom_result cm_body_check(const carom_body_def *def, const carom_shape_def *shapes, uint32_t count,
                           bool planar, carom_error *error);
carom_result cm_shape_from_def(const carom_shape_def *def, cm_shape *shape, carom_error *error);
// Its sizes and geometry alone, of a type and a hull that are known.
void cm_shape_size_from_def(const carom_shape_def *def, cm_shape *shape);
void cm_shape_to_def(const cm_shape *shape, carom_shape_def *def);

// An upper bound of the distance of a shape's points from its place.
static inline float cm_shape_reach(const cm_shape *shape)
{
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return shape->size[0];
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        return shape->size[0] + shape->size[1];
    case CAROM_SHAPE_BOX:
        return shape->size[0] + shape->size[1] + shape->size[2];
    case CAROM_SHAPE_HULL:
        return shape->size[1];
    default: // a plane has no end
        return 1.0e30f;
    }
}

// The thickest ball inside a shape: a plane has no end.
static inline float cm_shape_inner_radius(const cm_shape *shape)
{
    switch (shape->type) {
    case CAROM_SHAPE_BOX:
        return cm_min(shape->size[0], cm_min(shape->size[1], shape->size[2]));
    case CAROM_SHAPE_PLANE:
        return 1.0e30f;
    case CAROM_SHAPE_CYLINDER:
        return cm_min(shape->size[0], shape->size[1]);
    default:
        return shape->size[0];
    }
}

// False for a shape whose own filter lets it meet no other.
static inline bool cm_shape_meets(const cm_shape *shape)
{
    return shape->group > 0 || (shape->category != 0 && shape->mask != 0);
}

// A filter decides whether two shapes may meet, in 16 bytes.
typedef struct cm_filter {
    uint32_t body; // slot | CM_FILTER_MEETS where the body is one that others may meet
    uint32_t category, mask;
    int32_t group;
} cm_filter;

// One of two bodies has to be dynamic or, with `pointers`, a pointer.
#define CM_FILTER_MEETS 0x80000000u

static inline cm_filter cm_filter_of(const cm_shape *shape, const cm_body *body, bool pointers)
{
    bool meets = body->type == CAROM_BODY_DYNAMIC || (pointers && body->pointer != CAROM_NO_PLAYER);
    return (cm_filter){shape->body | (meets ? CM_FILTER_MEETS : 0u), shape->category, shape->mask,
                       shape->group};
}

// Filters, and what their bodies are, let the two collide.
static inline bool cm_filters_meet(const cm_filter *a, const cm_filter *b)
{
    bool masks = ((a->category & b->mask) != 0) & ((b->category & a->mask) != 0);
    bool grouped = (a->group == b->group) & (a->group != 0);
    return (((a->body ^ b->body) & ~CM_FILTER_MEETS) != 0) &
           (((a->body | b->body) & CM_FILTER_MEETS) != 0) & (grouped ? a->group > 0 : masks);
}

static inline bool cm_shape_rubs(const cm_shape *shape)
{
    uint32_t bits[5]; // asked of every shape in every step: no branches
    memcpy(bits, &shape->rolling_friction, sizeof bits);
    return (bits[0] | bits[1] | bits[2] | bits[3] | bits[4]) << 1 != 0; // but for signs of zeros
}

// World pose of a shape from a motion of its body.
static inline void cm_shape_pose_at(const cm_motion *motion, const cm_body *body,
                                    const cm_shape *shape, carom_vec3 *position,
                                    carom_quat *orientation)
{
    carom_vec3 local = cm_sub(shape->position, body->center_of_mass);
    *position = cm_add(motion->position, cm_rotate(motion->orientation, local));
    *orientation = cm_quat_mul(motion->orientation, shape->orientation);
}

static inline void cm_shape_pose(const carom_world *world, const cm_shape *shape,
                                 carom_vec3 *position, carom_quat *orientation)
{
    cm_shape_pose_at(cm_motions(world) + shape->body, cm_bodies(world) + shape->body, shape,
                     position, orientation);
}

#endif
