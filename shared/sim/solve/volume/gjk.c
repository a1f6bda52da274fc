// GJK on polyhedra: supports of the Minkowski difference a - b, at most four at a time.
//
// It ends when the newest support is no nearer than the simplex (to 1e-13), is one it has already,
// or brings nothing: vertices are finite, so each round but the last comes nearer. The direction of
// a triangle is its plane's normal, not the difference of two nearby points: parallel faces give
// the face's normal to rounding. Typical: 3 to 6 rounds.
#include "shared/sim/solve/volume/gjk.h"

#include "shared/sim/geometry/simplex.h"

#define CLOSE 1.0e-13 // relative, of squared lengths

// A half-space's nearest point is straight below the other's lowest.
static void gap_over_plane(const cm_volume_piece *solid, cm_d3 shift, const cm_volume_piece *plane,
                           bool plane_is_b, cm_volume_gap *gap)
{
    cm_d3 n = plane->normals[0];
    uint32_t lowest = cm_volume_support(solid, cm_d3_scale(-1.0, n));
    cm_d3 p = cm_d3_add(solid->vertices[lowest], shift);
    double height = cm_d3_dot(n, p) - plane->offsets[0];
    gap->rounds = 1;
    gap->apart = height > 0.0;
    cm_d3 below = cm_d3_mad(p, -height, n);
    gap->on_a = plane_is_b ? p : below;
    gap->on_b = plane_is_b ? below : p;
    if (gap->apart) {
        gap->distance = height;
        gap->direction = plane_is_b ? n : cm_d3_scale(-1.0, n);
        return;
    }
    gap->on_a = gap->on_b = p;
    gap->distance = 0.0;
    gap->direction = cm_d3_of(0.0, 0.0, 0.0);
}

typedef struct simplex {
    uint32_t count;
    uint32_t on_a[4], on_b[4]; // vertices
    cm_d3 points[4];           // of the difference
    double weights[4];
} simplex;

static bool add_support(simplex *s, const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 shift,
                        cm_d3 toward)
{
    uint32_t i = cm_volume_support(a, cm_d3_scale(-1.0, toward));
    uint32_t k = cm_volume_support(b, toward);
    for (uint32_t m = 0; m < s->count; m++) {
        if (s->on_a[m] == i && s->on_b[m] == k) {
            return false;
        }
    }
    s->on_a[s->count] = i;
    s->on_b[s->count] = k;
    s->points[s->count++] = cm_d3_sub(cm_d3_add(a->vertices[i], shift), b->vertices[k]);
    return true;
}

static void reduce(simplex *s, cm_d3 *nearest)
{
    uint32_t keep[4];
    double weights[4];
    uint32_t count = cm_simplex_nearest(s->points, s->count, keep, weights, nearest);
    simplex old = *s;
    s->count = count;
    for (uint32_t i = 0; i < count; i++) {
        s->on_a[i] = old.on_a[keep[i]];
        s->on_b[i] = old.on_b[keep[i]];
        s->points[i] = old.points[keep[i]];
        s->weights[i] = weights[i];
    }
}

static void finish(const simplex *s, const cm_volume_piece *a, const cm_volume_piece *b,
                   cm_d3 shift, cm_d3 nearest, bool overlap, cm_volume_gap *gap)
{
    gap->on_a = gap->on_b = cm_d3_of(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < s->count; i++) {
        cm_d3 p = cm_d3_add(a->vertices[s->on_a[i]], shift);
        gap->on_a = cm_d3_mad(gap->on_a, s->weights[i], p);
        gap->on_b = cm_d3_mad(gap->on_b, s->weights[i], b->vertices[s->on_b[i]]);
    }
    gap->apart = !overlap;
    gap->distance = 0.0;
    gap->direction = cm_d3_of(0.0, 0.0, 0.0);
    if (overlap) {
        gap->on_b = gap->on_a;
        return;
    }
    gap->distance = cm_d3_length(nearest);
    gap->direction = cm_d3_unit(nearest);
    if (s->count == 3) {
        cm_d3 n = cm_d3_unit(cm_d3_cross(cm_d3_sub(s->points[1], s->points[0]),
                                         cm_d3_sub(s->points[2], s->points[0])));
        gap->direction = cm_d3_dot(n, nearest) < 0.0 ? cm_d3_scale(-1.0, n) : n;
    }
}

void cm_volume_gjk(const cm_volume_piece *a, const cm_volume_piece *b, cm_d3 shift, cm_d3 start,
                   cm_volume_gap *gap)
{
    if (a->half_space || b->half_space) {
        const cm_volume_piece *solid = a->half_space ? b : a;
        cm_d3 move = a->half_space ? cm_d3_scale(-1.0, shift) : shift;
        gap_over_plane(solid, move, a->half_space ? a : b, b->half_space, gap);
        if (a->half_space) {
            gap->on_a = cm_d3_add(gap->on_a, shift);
            gap->on_b = cm_d3_add(gap->on_b, shift);
        }
        return;
    }
    simplex s = {.count = 0};
    cm_d3 v = start;
    if (cm_d3_dot(v, v) == 0.0) {
        v = cm_d3_sub(cm_d3_add(a->center, shift), b->center);
    }
    add_support(&s, a, b, shift, v);
    s.weights[0] = 1.0;
    v = s.points[0];
    double scale = a->size + b->size, touch = 1.0e-26 * scale * scale;
    double squared = cm_d3_dot(v, v);
    uint32_t rounds = 1;
    for (; rounds < CM_VOLUME_GJK_ROUNDS && squared > touch; rounds++) {
        if (!add_support(&s, a, b, shift, v)) {
            break;
        }
        double reach = cm_d3_dot(v, s.points[s.count - 1]);
        if (squared - reach <= CLOSE * squared) {
            s.count--;
            break;
        }
        simplex old = s;
        cm_d3 next;
        reduce(&s, &next);
        double nearer = cm_d3_dot(next, next);
        if (s.count == 4) {
            squared = 0.0;
            v = next;
            break;
        }
        if (nearer >= squared) { // rounding: what was found before is as good
            s = old;
            s.count--;
            break;
        }
        v = next;
        squared = nearer;
    }
    gap->rounds = rounds;
    finish(&s, a, b, shift, v, squared <= touch, gap);
}
