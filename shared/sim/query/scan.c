// A question without a tree: a ball about each shape, four at a time, and the box of those whose
// ball the probe meets, near ones first. What is found is what a tree would give: boxes are the
// same, and a ball holds its shape with room for all rounding. Typical: 1,000 shapes in 8 us, of
// which 40 get boxes.
#include "shared/sim/query/tree.h"

#include "shared/sim/collide/shape_transform.h"

#define CM_LANES 4
#include "shared/base/lanes.h"

#include <stddef.h>

#define SHAPE_FLOATS  (sizeof(cm_shape) / sizeof(float))
#define BODY_FLOATS   (sizeof(cm_body) / sizeof(float))
#define MOTION_FLOATS (sizeof(cm_motion) / sizeof(float))
#define CANDIDATES    64u
#define MARGIN        1.0e-4f // m, and
#define MARGIN_PART   1.0e-5f // of coordinates and ways: what boxes and rounding may add

// Shapes that wait for lanes to fill.
typedef struct waiting {
    uint32_t count;
    uint32_t slot[CM_BVH_LEAF], body[CM_BVH_LEAF];
    float added[CM_BVH_LEAF]; // 1: radius and half the length of a capsule add up
} waiting;

// A shape whose ball the probe meets, and how near that may be.
typedef struct candidate {
    uint32_t slot;
    float near;
} candidate;

typedef struct scan {
    const carom_world *world;
    const cm_probe *probe;
    const float *bound;
    cm_query_meet *meet;
    void *context;
    uint32_t count;
    candidate near[CANDIDATES]; // the nearest first
} scan;

// Bits of the shapes whose balls the probe may meet, and how near.
static uint32_t meets_balls(const scan *s, const waiting *of, float near[CM_BVH_LEAF])
{
    const cm_probe *p = s->probe;
    cm_f at[4], local[4], center[4], size[4], bound = cm_lanes_set(*s->bound);
    const cm_shape *shapes = cm_shapes(s->world);
    cm_lanes_gather4(&cm_motions(s->world)[0].position.x, MOTION_FLOATS, of->body, at);
    cm_lanes_gather4(&shapes[0].position.x, SHAPE_FLOATS, of->slot, local);
    cm_lanes_gather4(&cm_bodies(s->world)[0].center_of_mass.x, BODY_FLOATS, of->body, center);
    cm_lanes_gather4(&shapes[0].size[0], SHAPE_FLOATS, of->slot, size);
    cm_fvec arm = {local[0] - center[0], local[1] - center[1], local[2] - center[2]};
    cm_fvec half = {size[0], size[1], size[2]};
    cm_f reach = cm_lanes_sqrt(cm_fvec_dot(half, half)), zero = cm_lanes_set(0.0f);
    reach = cm_lanes_select(cm_lanes_greater(cm_lanes_load(of->added), zero), size[0] + size[1],
                            reach) +
            cm_lanes_sqrt(cm_fvec_dot(arm, arm));
    cm_fvec way = {cm_lanes_set(p->way.x), cm_lanes_set(p->way.y), cm_lanes_set(p->way.z)};
    cm_fvec from = {at[0] - cm_lanes_set(p->middle.x), at[1] - cm_lanes_set(p->middle.y),
                    at[2] - cm_lanes_set(p->middle.z)};
    cm_f along = cm_lanes_max(cm_lanes_min(cm_fvec_dot(from, way), bound), zero);
    cm_fvec beside = cm_fvec_sub(from, cm_fvec_scale(along, way));
    cm_f room = cm_lanes_abs(at[0]) + cm_lanes_abs(at[1]) + cm_lanes_abs(at[2]) +
                cm_lanes_abs(from.x) + cm_lanes_abs(from.y) + cm_lanes_abs(from.z);
    room = cm_lanes_set(MARGIN + p->reach) + cm_lanes_set(MARGIN_PART) * room + reach;
    room = p->moves ? room : room + bound;
    cm_lanes_store(near, along - room);
    return ~cm_lanes_true(cm_lanes_greater(cm_fvec_dot(beside, beside), room * room)) & 15u;
}

static void meet_box(const scan *s, uint32_t slot)
{
    const cm_shape *shape = &cm_shapes(s->world)[slot];
    cm_shape_transform transform = cm_shape_transform_of(s->world, slot);
    cm_aabb box = cm_shape_box(shape, &transform);
    const float sides[6] = {box.lower.x, box.lower.y, box.lower.z,
                            box.upper.x, box.upper.y, box.upper.z};
    float bounds[6][CM_BVH_LEAF], near[CM_BVH_LEAF];
    for (uint32_t k = 0; k < 6; k++) {
        cm_lanes_store(bounds[k], cm_lanes_set(sides[k]));
    }
    if (cm_probe_meets(s->probe, bounds, *s->bound, near) != 0 && near[0] <= *s->bound) {
        s->meet(s->context, slot, &transform, near[0]);
    }
}

static void meet_candidates(scan *s)
{
    for (uint32_t i = 0; i < s->count && s->near[i].near <= *s->bound; i++) {
        meet_box(s, s->near[i].slot);
    }
    s->count = 0;
}

static void add_candidate(scan *s, uint32_t slot, float near)
{
    if (s->count == CANDIDATES) {
        meet_candidates(s);
    }
    uint32_t at = s->count++;
    for (; at > 0 && s->near[at - 1].near > near; at--) {
        s->near[at] = s->near[at - 1];
    }
    s->near[at] = (candidate){slot, near};
}

static void look_at_waiting(scan *s, waiting *of)
{
    float near[CM_BVH_LEAF];
    uint32_t count = of->count;
    if (count == 0) {
        return;
    }
    for (uint32_t i = count; i < CM_BVH_LEAF; i++) {
        of->slot[i] = of->slot[0];
        of->body[i] = of->body[0];
        of->added[i] = of->added[0];
    }
    uint32_t bits = meets_balls(s, of, near) & ((1u << count) - 1u);
    for (; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        add_candidate(s, of->slot[lane], near[lane]);
    }
    of->count = 0;
}

void cm_query_scan(const carom_world *world, const cm_probe *probe, const float *bound,
                   cm_query_meet *meet, void *context)
{
    scan s;
    s.world = world;
    s.probe = probe;
    s.bound = bound;
    s.meet = meet;
    s.context = context;
    s.count = 0;
    const cm_shape *shapes = cm_shapes(world);
    waiting of;
    of.count = 0;
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        const cm_shape *shape = &shapes[i];
        if (!shape->alive) {
            continue;
        }
        if (shape->type == CAROM_SHAPE_PLANE) {
            cm_shape_transform transform = cm_shape_transform_of(world, i);
            meet(context, i, &transform, 0.0f);
            continue;
        }
        of.slot[of.count] = i;
        of.body[of.count] = shape->body;
        of.added[of.count++] = shape->type == CAROM_SHAPE_CAPSULE ? 1.0f : 0.0f;
        if (of.count == CM_BVH_LEAF) {
            look_at_waiting(&s, &of);
        }
    }
    look_at_waiting(&s, &of);
    meet_candidates(&s);
}
