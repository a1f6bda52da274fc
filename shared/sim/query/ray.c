// A line against each type of shape, in the shape's own axes. What is convex is an intersection of
// slabs, half-spaces and round tubes, each of which a line is in for one stretch: the stretches are
// intersected (T. Kay, J. Kajiya, "Ray Tracing Complex Scenes", 1986; M. Cyrus, J. Beck,
// "Generalized Two- and Three-Dimensional Clipping", 1978). A capsule is what two balls and a tube
// hold together: the first entry of the three counts.
#include "shared/sim/query/ray.h"

#include "shared/sim/state/hull.h"

#define FLAT 1.0e-150 // a component of a direction that is as good as 0
#define FAR  1.0e300

// In which the line is inside, and through what it came in.
typedef struct stretch {
    double enter, leave;
    cm_d3 normal; // of the side where it enters
} stretch;

static stretch whole(void)
{
    return (stretch){-FAR, FAR, {0.0, 0.0, 0.0}};
}

// A half-space n . x <= offset, with n . o and n . d given.
static void clip(stretch *s, double distance, double rate, cm_d3 normal)
{
    // distance: how far the origin is above the plane; rate: how fast it gets farther.
    if (cm_d_abs(rate) < FLAT) {
        if (distance > 0.0) {
            s->enter = FAR;
        }
        return;
    }
    double at = -distance / rate;
    if (rate < 0.0) {
        if (at > s->enter) {
            s->enter = at;
            s->normal = normal;
        }
    } else if (at < s->leave) {
        s->leave = at;
    }
}

// |p| <= radius of what is left of origin and direction; d need not be a unit vector. Taken from
// the point nearest to the centre, so that a far origin costs no digits.
static void clip_round(stretch *s, cm_d3 o, cm_d3 d, double radius)
{
    double dd = cm_d3_dot(d, d);
    if (dd < FLAT) {
        if (cm_d3_dot(o, o) > radius * radius) {
            s->enter = FAR;
        }
        return;
    }
    double middle = -cm_d3_dot(o, d) / dd;
    cm_d3 nearest = cm_d3_mad(o, middle, d);
    double half = (radius * radius - cm_d3_dot(nearest, nearest)) / dd;
    if (!(half >= 0.0)) {
        s->enter = FAR;
        return;
    }
    half = __builtin_sqrt(half);
    if (middle - half > s->enter) {
        s->enter = middle - half;
        s->normal = cm_d3_unit(cm_d3_mad(o, s->enter, d));
    }
    s->leave = cm_d_min(s->leave, middle + half);
}

static stretch through_ball(cm_d3 o, cm_d3 d, double radius)
{
    stretch s = whole();
    clip_round(&s, o, d, radius);
    return s;
}

static stretch through_tube(cm_d3 o, cm_d3 d, double radius, double half_height)
{
    stretch s = whole();
    clip_round(&s, cm_d3_of(o.x, 0.0, o.z), cm_d3_of(d.x, 0.0, d.z), radius);
    clip(&s, o.y - half_height, d.y, cm_d3_of(0.0, 1.0, 0.0));
    clip(&s, -o.y - half_height, -d.y, cm_d3_of(0.0, -1.0, 0.0));
    return s;
}

static bool is_met(const stretch *s, double length)
{
    return s->enter <= s->leave && s->leave >= 0.0 && s->enter <= length;
}

// The parts overlap, so the first entry into any is that into the whole.
static stretch through_capsule(cm_d3 o, cm_d3 d, double radius, double half_height, double length)
{
    cm_d3 up = cm_d3_of(0.0, half_height, 0.0);
    const stretch parts[3] = {through_tube(o, d, radius, half_height),
                              through_ball(cm_d3_sub(o, up), d, radius),
                              through_ball(cm_d3_add(o, up), d, radius)};
    stretch s = {FAR, -FAR, {0.0, 0.0, 0.0}};
    for (uint32_t i = 0; i < 3; i++) {
        if (is_met(&parts[i], length) && parts[i].enter < s.enter) {
            s = parts[i];
        }
    }
    return s;
}

static stretch through_box(cm_d3 o, cm_d3 d, const float *half)
{
    const double from[3] = {o.x, o.y, o.z}, along[3] = {d.x, d.y, d.z};
    stretch s = whole();
    for (uint32_t k = 0; k < 3; k++) {
        double h = (double)half[k];
        cm_d3 axis = cm_d3_of(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0);
        clip(&s, from[k] - h, along[k], axis);
        clip(&s, -from[k] - h, -along[k], cm_d3_scale(-1.0, axis));
    }
    return s;
}

static stretch through_hull(cm_d3 o, cm_d3 d, const carom_hull *hull)
{
    stretch s = whole();
    for (uint32_t f = 0; f < hull->face_count; f++) {
        cm_d3 normal = cm_d3_from(hull->normals[f]);
        clip(&s, cm_d3_dot(normal, o) - (double)hull->offsets[f], cm_d3_dot(normal, d), normal);
    }
    return s;
}

static stretch below_plane(cm_d3 o, cm_d3 d, const float *size)
{
    cm_d3 normal = cm_d3_of((double)size[0], (double)size[1], (double)size[2]);
    stretch s = whole();
    clip(&s, cm_d3_dot(normal, o) - (double)size[3], cm_d3_dot(normal, d), normal);
    return s;
}

static stretch through(const cm_shape *shape, const cm_shape_transform *transform, cm_d3 o, cm_d3 d,
                       double length)
{
    const float *size = shape->size;
    switch (shape->type) {
    case CAROM_SHAPE_SPHERE:
        return through_ball(o, d, (double)size[0]);
    case CAROM_SHAPE_CAPSULE:
        return through_capsule(o, d, (double)size[0], (double)size[1], length);
    case CAROM_SHAPE_CYLINDER:
        return through_tube(o, d, (double)size[0], (double)size[1]);
    case CAROM_SHAPE_BOX:
        return through_box(o, d, size);
    case CAROM_SHAPE_PLANE:
        return below_plane(o, d, size);
    default:
        return transform->hull != NULL ? through_hull(o, d, transform->hull)
                                       : (stretch){FAR, -FAR, {0.0, 0.0, 0.0}};
    }
}

bool cm_line_enter(const cm_line *line, const cm_shape *shape, const cm_shape_transform *transform,
                   cm_entry *entry)
{
    const cm_mat3 *r = &transform->rotation;
    const cm_dmat axes = {cm_d3_from(r->x), cm_d3_from(r->y), cm_d3_from(r->z)};
    cm_d3 o =
        cm_dmat_mul_transpose(&axes, cm_d3_sub(line->origin, cm_d3_from(transform->position)));
    cm_d3 d = cm_dmat_mul_transpose(&axes, line->direction);
    stretch s = through(shape, transform, o, d, line->length);
    if (!is_met(&s, line->length)) {
        return false;
    }
    entry->inside = s.enter < 0.0;
    entry->distance = entry->inside ? 0.0 : s.enter;
    entry->normal = entry->inside ? cm_d3_scale(-1.0, line->direction)
                                  : cm_d3_unit(cm_dmat_mul(&axes, s.normal));
    entry->point = cm_d3_mad(line->origin, entry->distance, line->direction);
    return true;
}
