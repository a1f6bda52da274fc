// Two hulls, or a box and a hull, that are surely apart: nothing else is to be found out about most
// pairs whose boxes overlap. The face of a over which b's middle is highest is tried, in the
// shapes' own axes, so that neither of them is placed.
//
// It may answer no where the search over all axes (hull.c) finds a gap, never yes where that finds
// none: APART_SLACK is far above what rounding does here and there. So it changes no bit of a
// contact.
#include "shared/sim/collide/convex.h"

#ifndef CM_LANES // those of wide.c
#define CM_LANES 4
#endif
#include "shared/base/lanes.h"

#include <string.h>

#define APART_SLACK 2.0e-5f // of the sizes: a hundred times the rounding of products of three

// A face, in its shape's axes.
typedef struct local_face {
    carom_vec3 normal;
    float offset;
} local_face;

static local_face face_of_box(const cm_shape *box, carom_vec3 at)
{
    const float place[3] = {at.x, at.y, at.z};
    float normal[3] = {0.0f, 0.0f, 0.0f};
    uint32_t best = 0;
    for (uint32_t k = 1; k < 3; k++) {
        best = cm_abs(place[k]) - box->size[k] > cm_abs(place[best]) - box->size[best] ? k : best;
    }
    normal[best] = place[best] < 0.0f ? -1.0f : 1.0f;
    return (local_face){cm_vec(normal[0], normal[1], normal[2]), box->size[best]};
}

// The face that this place is highest over, or nearly.
static local_face face_of_hull(const carom_hull *hull, carom_vec3 at)
{
    cm_fvec place = cm_fvec_set(at.x, at.y, at.z);
    cm_f most = cm_lanes_set(-3.0e38f);
    cm_mask row = {0}, here = {0};
    for (uint32_t f = 0; f < hull->face_count; f += CM_LANES) {
        cm_fvec n = {cm_lanes_load(hull->normal_rows[0] + f),
                     cm_lanes_load(hull->normal_rows[1] + f),
                     cm_lanes_load(hull->normal_rows[2] + f)};
        cm_f height = cm_fvec_dot(n, place) - cm_lanes_load(hull->offsets + f);
        cm_mask higher = cm_lanes_greater(height, most);
        most = cm_lanes_select(higher, height, most);
        row = cm_lanes_pick(higher, here, row);
        here += CM_LANES;
    }
    float highest = cm_lanes_most(most);
    uint32_t lane = cm_lanes_true(cm_lanes_at_most(cm_lanes_set(highest), most));
    lane = lane != 0 ? (uint32_t)__builtin_ctz(lane) : 0;
    int32_t first[CM_LANES];
    memcpy(first, &row, sizeof first);
    uint32_t f = (uint32_t)first[lane] + lane;
    return (local_face){hull->normals[f], hull->offsets[f]};
}

// The least height of a hull's corners along a direction of its own axes.
static float lowest(const carom_hull *hull, carom_vec3 up)
{
    cm_fvec n = cm_fvec_set(up.x, up.y, up.z);
    cm_f low = cm_lanes_set(3.0e38f);
    for (uint32_t i = 0; i < hull->vertex_count; i += CM_LANES) {
        cm_fvec v = {cm_lanes_load(hull->vertex_rows[0] + i),
                     cm_lanes_load(hull->vertex_rows[1] + i),
                     cm_lanes_load(hull->vertex_rows[2] + i)};
        low = cm_lanes_min(low, cm_fvec_dot(n, v));
    }
    return cm_lanes_least(low);
}

bool cm_hulls_apart(const cm_shape *a, const cm_shape_transform *transform_a,
                    const cm_shape_transform *transform_b, float margin)
{
    const carom_hull *hull = transform_b->hull;
    const cm_mat3 *turn_a = &transform_a->rotation, *turn_b = &transform_b->rotation;
    carom_vec3 way = cm_sub(transform_b->position, transform_a->position);
    carom_vec3 local = cm_mat3_mul_transpose(*turn_a, way);
    carom_vec3 middle =
        cm_mat3_mul_transpose(*turn_a, cm_add(way, cm_mat3_mul(*turn_b, hull->middle)));
    local_face side = a->type == CAROM_SHAPE_BOX ? face_of_box(a, middle)
                                                 : face_of_hull(transform_a->hull, middle);
    carom_vec3 up = cm_mat3_mul_transpose(*turn_b, cm_mat3_mul(*turn_a, side.normal));
    float gap = cm_dot(side.normal, local) - side.offset + lowest(hull, up);
    float sizes =
        transform_a->reach + transform_b->reach + cm_abs(way.x) + cm_abs(way.y) + cm_abs(way.z);
    return gap > margin + APART_SLACK * sizes;
}
