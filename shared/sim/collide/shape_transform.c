// Transforms of shapes to the world, and their boxes, one at a time or CM_LANES at once with the
// same bits.
//
// In lanes a shape is a box of half extents and a radius about it: a sphere has no extents, a
// capsule only one. Cylinders, hulls and what is thin get their boxes by themselves afterwards.
// Typical: 1,000 shapes a step.
#include "shared/sim/collide/shape_transform.h"

#include "shared/sim/body/shape.h"
#include "shared/sim/collide/collide.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#include <stddef.h>

// Half of the size of a shape's box, about its position; not of a hull.
static carom_vec3 half_size(const cm_shape *shape, const cm_shape_transform *transform)
{
    const cm_mat3 *r = &transform->rotation;
    if (shape->type == CAROM_SHAPE_SPHERE) {
        return cm_vec(shape->size[0], shape->size[0], shape->size[0]);
    }
    if (shape->type == CAROM_SHAPE_CYLINDER) {
        // A disc of radius r reaches r sqrt(1 - a^2) along an axis that its own makes a cosine a
        // with.
        carom_vec3 a = cm_abs_vec(r->y);
        carom_vec3 rim =
            cm_vec(cm_sqrt(cm_max(1.0f - a.x * a.x, 0.0f)), cm_sqrt(cm_max(1.0f - a.y * a.y, 0.0f)),
                   cm_sqrt(cm_max(1.0f - a.z * a.z, 0.0f)));
        return cm_mul_add(cm_scale(shape->size[1], a), shape->size[0], rim);
    }
    if (shape->type == CAROM_SHAPE_CAPSULE) {
        carom_vec3 h = cm_scale(shape->size[1], cm_abs_vec(r->y));
        return cm_add(h, cm_vec(shape->size[0], shape->size[0], shape->size[0]));
    }
    carom_vec3 h = cm_scale(shape->size[0], cm_abs_vec(r->x));
    h = cm_mul_add(h, shape->size[1], cm_abs_vec(r->y));
    return cm_mul_add(h, shape->size[2], cm_abs_vec(r->z));
}

// The box of a hull's corners, about the shape's position: less than half of the pairs that the
// box of its own box would meet.
static cm_aabb corner_box(const carom_hull *hull, const cm_mat3 *turn)
{
    cm_fvec x = cm_fvec_set(turn->x.x, turn->x.y, turn->x.z);
    cm_fvec y = cm_fvec_set(turn->y.x, turn->y.y, turn->y.z);
    cm_fvec z = cm_fvec_set(turn->z.x, turn->z.y, turn->z.z);
    cm_fvec low = cm_fvec_set(3.0e38f, 3.0e38f, 3.0e38f),
            high = cm_fvec_scale(-cm_lanes_set(1.0f), low);
    for (uint32_t i = 0; i < hull->vertex_count; i += CM_LANES) {
        cm_fvec v = cm_fvec_mix(cm_lanes_load(hull->vertex_rows[0] + i), x,
                                cm_lanes_load(hull->vertex_rows[1] + i), y,
                                cm_lanes_load(hull->vertex_rows[2] + i), z);
        low =
            (cm_fvec){cm_lanes_min(low.x, v.x), cm_lanes_min(low.y, v.y), cm_lanes_min(low.z, v.z)};
        high = (cm_fvec){cm_lanes_max(high.x, v.x), cm_lanes_max(high.y, v.y),
                         cm_lanes_max(high.z, v.z)};
    }
    return (cm_aabb){cm_vec(cm_lanes_least(low.x), cm_lanes_least(low.y), cm_lanes_least(low.z)),
                     cm_vec(cm_lanes_most(high.x), cm_lanes_most(high.y), cm_lanes_most(high.z))};
}

static cm_aabb grown_box(const cm_shape *shape, const cm_shape_transform *transform, float margin,
                         carom_vec3 motion)
{
    cm_aabb box;
    if (transform->hull) {
        box = corner_box(transform->hull, &transform->rotation);
    } else {
        box.upper = half_size(shape, transform);
        box.lower = cm_neg(box.upper);
    }
    carom_vec3 grow = cm_vec(margin, margin, margin);
    box.lower = cm_add(transform->position, cm_sub(box.lower, grow));
    box.upper = cm_add(transform->position, cm_add(box.upper, grow));
    box.lower = cm_add(
        box.lower, cm_vec(cm_min(motion.x, 0.0f), cm_min(motion.y, 0.0f), cm_min(motion.z, 0.0f)));
    box.upper = cm_add(
        box.upper, cm_vec(cm_max(motion.x, 0.0f), cm_max(motion.y, 0.0f), cm_max(motion.z, 0.0f)));
    return box;
}

cm_aabb cm_shape_bounds(const cm_shape *shape, const cm_shape_transform *transform)
{
    return grown_box(shape, transform, 0.0f, cm_vec(0.0f, 0.0f, 0.0f));
}

static inline bool is_thin(const cm_shape_transform *transform)
{
    return CM_MARGIN_RADII * transform->inner_radius < CM_SPECULATIVE_MARGIN;
}

// The box of a shape for a tick. What is thin has less of a margin, and more as it turns.
static cm_aabb box_of_tick(const carom_world *world, cm_scratch *scratch, uint32_t slot,
                           float margin, float dt)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    const cm_shape_transform *transform = &scratch->transforms[slot];
    const cm_motion *motion = &cm_motions(world)[shape->body];
    scratch->thin = scratch->thin || is_thin(transform);
    float turn = transform->reach * cm_length(motion->angular_velocity);
    float own = cm_min(margin, CM_MARGIN_RADII * transform->inner_radius + dt * turn);
    return grown_box(shape, transform, own, cm_scale(dt, motion->linear_velocity));
}

// Notes those fields of a transform that do not follow from the pose.
static inline void note_size(const carom_world *world, const cm_shape *shape,
                             cm_shape_transform *transform)
{
    transform->hull = shape->type == CAROM_SHAPE_HULL ? cm_hull_find(world, shape->geometry) : NULL;
    transform->reach = cm_shape_reach(shape);
    transform->inner_radius = cm_shape_inner_radius(shape);
}

static inline void note_surface(cm_scratch *scratch, const cm_shape *shape)
{
    scratch->rubbing = scratch->rubbing || cm_shape_rubs(shape);
}

static inline void place_shape(const carom_world *world, const cm_shape *shape,
                               cm_shape_transform *transform)
{
    carom_quat orientation;
    cm_shape_pose(world, shape, &transform->position, &orientation);
    transform->rotation = cm_mat3_from_quat(orientation);
    note_size(world, shape, transform);
}

cm_shape_transform cm_shape_transform_of(const carom_world *world, uint32_t slot)
{
    cm_shape_transform transform;
    place_shape(world, &cm_shapes(world)[slot], &transform);
    return transform;
}

void cm_update_shape_transform(const carom_world *world, cm_scratch *scratch, uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(world)[slot];
    place_shape(world, shape, &scratch->transforms[slot]);
    note_surface(scratch, shape);
    scratch->thin = scratch->thin || is_thin(&scratch->transforms[slot]);
}

// In lanes ---------------------------------------------------------------------------------------

#define FEW              3u // shapes that are sooner placed one at a time
#define SHAPE_FLOATS     (sizeof(cm_shape) / sizeof(float))
#define BODY_FLOATS      (sizeof(cm_body) / sizeof(float))
#define MOTION_FLOATS    (sizeof(cm_motion) / sizeof(float))
#define TRANSFORM_FLOATS (sizeof(cm_shape_transform) / sizeof(float))

_Static_assert(sizeof(cm_shape) % 4 == 0 && sizeof(cm_body) % 4 == 0 &&
                   sizeof(cm_shape_transform) % 4 == 0,
               "gathered as floats");
_Static_assert(offsetof(cm_motion, position) == 0 && offsetof(cm_motion, orientation) == 12 &&
                   offsetof(cm_motion, linear_velocity) == 28,
               "gathered as ten floats");
_Static_assert(offsetof(cm_shape, orientation) == offsetof(cm_shape, position) + 12 &&
                   offsetof(cm_shape, size) == offsetof(cm_shape, position) + 28,
               "gathered as ten floats");
_Static_assert(offsetof(cm_shape_transform, position) == 0 &&
                   offsetof(cm_shape_transform, rotation) == 12,
               "scattered as twelve floats");

// Shapes of as many lanes; the last one again where there are fewer.
typedef struct placing {
    uint32_t slot[CM_LANES], body[CM_LANES];
    float boxy[CM_LANES], round[CM_LANES]; // 1, else 0
} placing;

typedef struct lane_pose {
    cm_fvec position, x, y, z, velocity;
    cm_f size[3];
} lane_pose;

// Pose of each lane: the operations of cm_shape_pose and cm_mat3_from_quat, in their order.
CM_LANES_INLINE lane_pose find_poses(const carom_world *world, const placing *of)
{
    const float *motions = &cm_motions(world)[0].position.x;
    const float *shapes = &cm_shapes(world)[0].position.x;
    cm_f m[8], speed[8], s[8], more[8], c[8];
    cm_lanes_gather(motions, MOTION_FLOATS, of->body, m);
    cm_lanes_gather(motions + 8, MOTION_FLOATS, of->body, speed);
    cm_lanes_gather(shapes, SHAPE_FLOATS, of->slot, s);
    cm_lanes_gather(shapes + 8, SHAPE_FLOATS, of->slot, more);
    cm_lanes_gather(&cm_bodies(world)[0].center_of_mass.x, BODY_FLOATS, of->body, c);
    cm_f one = cm_lanes_set(1.0f), two = cm_lanes_set(2.0f);
    cm_fvec u = {m[3], m[4], m[5]}, local = {s[0] - c[0], s[1] - c[1], s[2] - c[2]};
    cm_fvec t = cm_fvec_add(cm_fvec_cross(u, local), cm_fvec_scale(m[6], local));
    cm_fvec arm = cm_fvec_add(local, cm_fvec_scale(two, cm_fvec_cross(u, t)));
    cm_f ax = m[3], ay = m[4], az = m[5], aw = m[6], bx = s[3], by = s[4], bz = s[5], bw = s[6];
    cm_f qx = aw * bx + ax * bw + ay * bz - az * by;
    cm_f qy = aw * by - ax * bz + ay * bw + az * bx;
    cm_f qz = aw * bz + ax * by - ay * bx + az * bw;
    cm_f qw = aw * bw - ax * bx - ay * by - az * bz;
    cm_f xx = qx * qx, yy = qy * qy, zz = qz * qz, xy = qx * qy, xz = qx * qz, yz = qy * qz;
    cm_f wx = qw * qx, wy = qw * qy, wz = qw * qz;
    return (lane_pose){
        .position = {m[0] + arm.x, m[1] + arm.y, m[2] + arm.z},
        .x = {one - two * (yy + zz), two * (xy + wz), two * (xz - wy)},
        .y = {two * (xy - wz), one - two * (xx + zz), two * (yz + wx)},
        .z = {two * (xz + wy), two * (yz - wx), one - two * (xx + yy)},
        .velocity = {m[7], speed[0], speed[1]},
        .size = {s[7], more[0], more[1]},
    };
}

CM_LANES_INLINE cm_f reach_along(cm_f x, cm_f y, cm_f z, const cm_f extent[4])
{
    return extent[0] * cm_lanes_abs(x) + extent[1] * cm_lanes_abs(y) + extent[2] * cm_lanes_abs(z) +
           extent[3];
}

// Six sides of each lane's box. Returns true if one of them may be thin, unless it gets its box
// afterwards.
CM_LANES_INLINE bool find_boxes(const lane_pose *pose, const placing *of, float margin, float dt,
                                float sides[6][CM_LANES])
{
    cm_f zero = cm_lanes_set(0.0f), step = cm_lanes_set(dt), grow = cm_lanes_set(margin);
    cm_mask boxy = cm_lanes_greater(cm_lanes_load(of->boxy), zero);
    cm_mask round = cm_lanes_greater(cm_lanes_load(of->round), zero);
    // A sphere's second size is zero.
    const cm_f extent[4] = {cm_lanes_select(boxy, pose->size[0], zero), pose->size[1],
                            cm_lanes_select(boxy, pose->size[2], zero),
                            cm_lanes_select(round, pose->size[0], zero)};
    const cm_f half[3] = {reach_along(pose->x.x, pose->y.x, pose->z.x, extent) + grow,
                          reach_along(pose->x.y, pose->y.y, pose->z.y, extent) + grow,
                          reach_along(pose->x.z, pose->y.z, pose->z.z, extent) + grow};
    const cm_f center[3] = {pose->position.x, pose->position.y, pose->position.z};
    const cm_f velocity[3] = {pose->velocity.x, pose->velocity.y, pose->velocity.z};
    for (uint32_t k = 0; k < 3; k++) {
        cm_f way = step * velocity[k];
        cm_lanes_store(sides[k], (center[k] - half[k]) + cm_lanes_min(way, zero));
        cm_lanes_store(sides[k + 3], (center[k] + half[k]) + cm_lanes_max(way, zero));
    }
    cm_f least = cm_lanes_min(cm_lanes_min(pose->size[0], pose->size[1]), pose->size[2]);
    cm_f inner = cm_lanes_select(boxy, least, pose->size[0]);
    return cm_lanes_any(cm_lanes_greater(cm_lanes_set(CM_SPECULATIVE_MARGIN),
                                         cm_lanes_set(CM_MARGIN_RADII) * inner));
}

static inline bool has_own_box(const cm_shape *shape)
{
    return shape->type == CAROM_SHAPE_CYLINDER || shape->type == CAROM_SHAPE_HULL;
}

__attribute__((noinline)) static void place_thin(const carom_world *world, cm_scratch *scratch,
                                                 const uint32_t *slots, uint32_t count,
                                                 float margin, float dt)
{
    for (uint32_t i = 0; i < count; i++) {
        const cm_shape *shape = &cm_shapes(world)[slots[i]];
        if (!has_own_box(shape) && is_thin(&scratch->transforms[slots[i]])) {
            scratch->bounds[slots[i]] = box_of_tick(world, scratch, slots[i], margin, dt);
        }
    }
}

static void place_lanes(const carom_world *world, cm_scratch *scratch, const placing *of,
                        uint32_t used, float margin, float dt)
{
    lane_pose p = find_poses(world, of);
    float *transforms = &scratch->transforms[0].position.x, sides[6][CM_LANES];
    cm_f low[8] = {p.position.x, p.position.y, p.position.z, p.x.x, p.x.y, p.x.z, p.y.x, p.y.y};
    cm_f high[8] = {p.x.y, p.x.z, p.y.x, p.y.y, p.y.z, p.z.x, p.z.y, p.z.z};
    bool thin = find_boxes(&p, of, margin, dt, sides);
    cm_lanes_scatter(transforms, TRANSFORM_FLOATS, of->slot, low);
    cm_lanes_scatter(transforms + 4, TRANSFORM_FLOATS, of->slot, high);
    for (uint32_t i = 0; i < used; i++) {
        const cm_shape *shape = &cm_shapes(world)[of->slot[i]];
        cm_shape_transform *transform = &scratch->transforms[of->slot[i]];
        cm_aabb *box = &scratch->bounds[of->slot[i]];
        note_size(world, shape, transform);
        note_surface(scratch, shape);
        *box = (cm_aabb){{sides[0][i], sides[1][i], sides[2][i]},
                         {sides[3][i], sides[4][i], sides[5][i]}};
        if (has_own_box(shape)) {
            *box = box_of_tick(world, scratch, of->slot[i], margin, dt);
        }
    }
    if (thin) {
        place_thin(world, scratch, of->slot, used, margin, dt);
    }
}

static void place_one(const carom_world *world, cm_scratch *scratch, uint32_t slot, float margin,
                      float dt)
{
    cm_update_shape_transform(world, scratch, slot);
    scratch->bounds[slot] = box_of_tick(world, scratch, slot, margin, dt);
}

void cm_update_shape_transforms(const carom_world *world, cm_scratch *scratch,
                                const uint32_t *slots, uint32_t count, float margin, float dt)
{
    placing of;
    for (uint32_t first = 0; first < count; first += CM_LANES) {
        uint32_t used = count - first < CM_LANES ? count - first : CM_LANES;
        if (used <= FEW) {
            for (uint32_t i = 0; i < used; i++) {
                place_one(world, scratch, slots[first + i], margin, dt);
            }
            break;
        }
        for (uint32_t i = 0; i < CM_LANES; i++) {
            uint32_t slot = slots[first + (i < used ? i : used - 1)];
            const cm_shape *shape = &cm_shapes(world)[slot];
            of.slot[i] = slot;
            of.body[i] = shape->body;
            of.boxy[i] = shape->type == CAROM_SHAPE_BOX ? 1.0f : 0.0f;
            of.round[i] = shape->type <= CAROM_SHAPE_CAPSULE ? 1.0f : 0.0f;
        }
        place_lanes(world, scratch, &of, used, margin, dt);
    }
}
