// Supports of solids, and their distance by GJK (E. Gilbert, D. Johnson, S. Keerthi, 1988):
// supports of the difference a - b, four at most, until the newest is no nearer than what they
// span. A round core (a cylinder's rim) ends by the bound on rounds, some 1e-9 of its size away
// from the truth. Typical: 4 rounds for polyhedra, 12 for cylinders.
#include "shared/sim/query/solid.h"

#include "shared/sim/geometry/simplex.h"
#include "shared/sim/state/hull.h"

#define ROUNDS 64u
#define CLOSE  1.0e-13 // relative, of squared lengths
#define TOUCH  1.0e-13 // of the sizes: nearer than this is none

bool cm_query_solid_make(const cm_shape *shape, const cm_shape_transform *transform,
                         cm_query_solid *solid)
{
    static const cm_query_solid_kind kinds[] = {
        [CAROM_SHAPE_SPHERE] = CM_SOLID_POINT,      [CAROM_SHAPE_CAPSULE] = CM_SOLID_SEGMENT,
        [CAROM_SHAPE_BOX] = CM_SOLID_BOX,           [CAROM_SHAPE_PLANE] = CM_SOLID_HALF_SPACE,
        [CAROM_SHAPE_CYLINDER] = CM_SOLID_CYLINDER, [CAROM_SHAPE_HULL] = CM_SOLID_HULL};
    const cm_mat3 *r = &transform->rotation;
    const float *size = shape->size;
    *solid = (cm_query_solid){.kind = kinds[shape->type], .hull = transform->hull};
    solid->axes = (cm_dmat){cm_d3_from(r->x), cm_d3_from(r->y), cm_d3_from(r->z)};
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
    case CAROM_SHAPE_CAPSULE:
        solid->radius = (double)size[0];
        solid->half[1] = (double)size[1];
        break;
    case CAROM_SHAPE_HULL:
        solid->reach = (double)size[1];
        return transform->hull != NULL;
    case CAROM_SHAPE_PLANE:
        solid->normal = cm_d3_unit(
            cm_dmat_mul(&solid->axes, cm_d3_of((double)size[0], (double)size[1], (double)size[2])));
        solid->offset = (double)size[3];
        break;
    default:
        solid->half[0] = (double)size[0];
        solid->half[1] = (double)size[1];
        solid->half[2] = (double)size[2];
        break;
    }
    solid->reach = solid->half[0] + solid->half[1] + solid->half[2] + solid->radius;
    return true;
}

cm_query_solid cm_query_solid_point(void)
{
    return (cm_query_solid){.kind = CM_SOLID_POINT};
}

static inline cm_d3 box_support(const cm_query_solid *solid, cm_d3 d)
{
    const cm_d3 *axes = &solid->axes.x;
    cm_d3 p = cm_d3_of(0.0, 0.0, 0.0);
    for (uint32_t k = 0; k < 3; k++) {
        double half = solid->half[k];
        p = cm_d3_mad(p, cm_d3_dot(d, axes[k]) < 0.0 ? -half : half, axes[k]);
    }
    return p;
}

static cm_d3 hull_support(const cm_query_solid *solid, cm_d3 d)
{
    const carom_hull *hull = solid->hull;
    cm_d3 local = cm_dmat_mul_transpose(&solid->axes, d);
    uint32_t best = 0;
    double most = cm_d3_dot(local, cm_d3_from(hull->vertices[0]));
    for (uint32_t i = 1; i < hull->vertex_count; i++) {
        double here = cm_d3_dot(local, cm_d3_from(hull->vertices[i]));
        if (here > most) {
            most = here;
            best = i;
        }
    }
    return cm_dmat_mul(&solid->axes, cm_d3_from(hull->vertices[best]));
}

// The core's farthest point along d, from the position. Not of a half-space.
static inline cm_d3 support(const cm_query_solid *solid, cm_d3 d)
{
    const cm_d3 none = {0.0, 0.0, 0.0};
    if (solid->kind == CM_SOLID_BOX) {
        return box_support(solid, d);
    }
    if (solid->kind == CM_SOLID_HULL) {
        return hull_support(solid, d);
    }
    if (solid->kind == CM_SOLID_POINT) {
        return none;
    }
    double along = cm_d3_dot(d, solid->axes.y);
    cm_d3 end = cm_d3_scale(along < 0.0 ? -solid->half[1] : solid->half[1], solid->axes.y);
    if (solid->kind == CM_SOLID_SEGMENT) {
        return end;
    }
    cm_d3 out = cm_d3_scale(cm_d3_dot(d, solid->axes.x), solid->axes.x);
    out = cm_d3_mad(out, cm_d3_dot(d, solid->axes.z), solid->axes.z);
    double length = cm_d3_length(out);
    // Straight up or down the whole cap is as far: its middle.
    return length > 1.0e-14 * cm_d_abs(along) ? cm_d3_mad(end, solid->half[0] / length, out) : end;
}

typedef struct simplex {
    uint32_t count;
    cm_d3 points[4], on_b[4]; // of the difference; of b
    double weights[4];
} simplex;

// False where the support is there already.
static inline bool add_support(simplex *s, const cm_query_solid *a, cm_d3 shift,
                               const cm_query_solid *b, cm_d3 toward)
{
    cm_d3 on_b = support(b, toward);
    cm_d3 on_a = cm_d3_add(support(a, cm_d3_scale(-1.0, toward)), shift);
    cm_d3 p = cm_d3_sub(on_a, on_b);
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->points[i].x == p.x && s->points[i].y == p.y && s->points[i].z == p.z) {
            return false;
        }
    }
    s->points[s->count] = p;
    s->on_b[s->count] = on_b;
    s->weights[s->count++] = 1.0;
    return true;
}

// The part of the simplex that carries its nearest point.
static cm_d3 reduce(const simplex *s, simplex *to)
{
    uint32_t keep[4];
    cm_d3 nearest;
    to->count = cm_simplex_nearest(s->points, s->count, keep, to->weights, &nearest);
    for (uint32_t i = 0; i < to->count; i++) {
        to->points[i] = s->points[keep[i]];
        to->on_b[i] = s->on_b[keep[i]];
    }
    return nearest;
}

static cm_query_gap over_half_space(const cm_query_solid *a, cm_d3 shift, const cm_query_solid *b)
{
    cm_d3 lowest = cm_d3_add(support(a, cm_d3_scale(-1.0, b->normal)), shift);
    double height = cm_d3_dot(b->normal, lowest) - b->offset;
    return (cm_query_gap){height - a->radius, b->normal, cm_d3_mad(lowest, -height, b->normal)};
}

// Of a point and a box, or what is one without width: the nearest point is that within the sides.
static cm_query_gap over_box(const cm_query_solid *a, cm_d3 shift, const cm_query_solid *b)
{
    cm_d3 p = cm_dmat_mul_transpose(&b->axes, shift);
    cm_d3 within = {cm_d_max(cm_d_min(p.x, b->half[0]), -b->half[0]),
                    cm_d_max(cm_d_min(p.y, b->half[1]), -b->half[1]),
                    cm_d_max(cm_d_min(p.z, b->half[2]), -b->half[2])};
    cm_d3 out = cm_d3_sub(p, within);
    double squared = cm_d3_dot(out, out), least = TOUCH * b->reach;
    cm_query_gap gap = {-(a->radius + b->radius), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (squared > least * least) {
        gap.distance += __builtin_sqrt(squared);
        gap.direction = cm_d3_unit(cm_dmat_mul(&b->axes, out));
        gap.on_b = cm_d3_mad(cm_dmat_mul(&b->axes, within), b->radius, gap.direction);
    }
    return gap;
}

cm_query_gap cm_query_solid_gap(const cm_query_solid *a, cm_d3 shift, const cm_query_solid *b)
{
    if (b->kind == CM_SOLID_HALF_SPACE) {
        return over_half_space(a, shift, b);
    }
    if (a->kind == CM_SOLID_POINT && (b->kind <= CM_SOLID_SEGMENT || b->kind == CM_SOLID_BOX)) {
        return over_box(a, shift, b);
    }
    simplex room[2], *s = room, *next = room + 1;
    s->count = 0;
    cm_d3 v = cm_d3_dot(shift, shift) > 0.0 ? shift : cm_d3_of(0.0, 1.0, 0.0);
    add_support(s, a, shift, b, v);
    v = s->points[0];
    double least = TOUCH * (a->reach + b->reach), touch = least * least;
    double squared = cm_d3_dot(v, v);
    for (uint32_t round = 0; round < ROUNDS && squared > touch; round++) {
        uint32_t before = s->count;
        if (!add_support(s, a, shift, b, v) ||
            squared - cm_d3_dot(v, s->points[before]) <= CLOSE * squared) {
            s->count = before;
            break;
        }
        cm_d3 nearest = reduce(s, next);
        double nearer = cm_d3_dot(nearest, nearest);
        if (next->count == 4) {
            squared = 0.0;
            break;
        }
        if (!(nearer < squared)) { // rounding: what was found before is as good
            s->count = before;
            break;
        }
        simplex *spare = s;
        s = next;
        next = spare;
        v = nearest;
        squared = nearer;
    }
    cm_query_gap gap = {-(a->radius + b->radius), {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (squared <= touch) {
        return gap;
    }
    gap.distance += __builtin_sqrt(squared);
    gap.direction = cm_d3_unit(v);
    gap.on_b = cm_d3_scale(b->radius, gap.direction);
    for (uint32_t i = 0; i < s->count; i++) {
        gap.on_b = cm_d3_mad(gap.on_b, s->weights[i], s->on_b[i]);
    }
    return gap;
}
