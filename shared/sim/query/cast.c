// Conservative advancement (B. Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems",
// 1996): the mover goes on by its distance over the rate at which that falls, until there is none.
// The distance of convex sets is a convex function of a straight way, so this is Newton's method
// from the side on which it cannot overshoot: quadratic, or, where the way only grazes, halving.
// Typical: 4 rounds, each of one distance.
#include "shared/sim/query/cast.h"

#define ROUNDS 64u
#define TOUCH  1.0e-8  // m, and
#define PART   1.0e-12 // of the sizes: what is nearer touches
#define SURE   1.0e-6  // of a length, beyond which rounding does not reach

static cm_entry inside(const cm_mover *mover, cm_d3 normal)
{
    return (cm_entry){
        .distance = 0.0, .point = mover->line.origin, .normal = normal, .inside = true};
}

cm_entry cm_mover_inside(const cm_mover *mover)
{
    return inside(mover, cm_d3_of(0.0, 0.0, 0.0));
}

// Returns true if the way, `most` metres of it, leads through a box about the solid that has room
// for the mover on all sides: most of what boxes in world axes let through it does not meet. Any
// meeting is no sooner than *at.
static bool may_meet_box(cm_d3 start, cm_d3 way, const cm_query_solid *solid, double reach,
                         double most, double *at)
{
    cm_d3 o = cm_dmat_mul_transpose(&solid->axes, start);
    cm_d3 d = cm_dmat_mul_transpose(&solid->axes, way);
    const double from[3] = {o.x, o.y, o.z}, along[3] = {d.x, d.y, d.z};
    double enter = 0.0, leave = most;
    for (uint32_t k = 0; k < 3; k++) {
        double half = solid->half[k] + reach + SURE * (solid->half[k] + reach + cm_d_abs(from[k]));
        if (cm_d_abs(along[k]) < SURE) {
            half += SURE * most; // as good as beside the box all the way
            if (cm_d_abs(from[k]) > half) {
                return false;
            }
            continue;
        }
        double inverse = 1.0 / along[k], side = along[k] < 0.0 ? -half : half;
        enter = cm_d_max(enter, (-side - from[k]) * inverse);
        leave = cm_d_min(leave, (side - from[k]) * inverse);
    }
    *at = enter;
    return enter <= leave;
}

// Likewise a ball about it.
static bool may_meet_ball(cm_d3 start, cm_d3 way, double reach, double most)
{
    double middle = -cm_d3_dot(start, way), squared = cm_d3_dot(start, start);
    reach += SURE * (reach + cm_d_abs(middle));
    return squared - middle * middle <= reach * reach + PART * squared && middle >= -reach &&
           middle - reach <= most;
}

static bool may_meet(const cm_mover *mover, cm_d3 start, const cm_query_solid *solid, double most,
                     double *at)
{
    switch (solid->kind) {
    case CM_SOLID_HALF_SPACE:
        return true;
    case CM_SOLID_BOX:
        return may_meet_box(start, mover->line.direction, solid, mover->solid.reach, most, at);
    default:
        return may_meet_ball(start, mover->line.direction, solid->reach + mover->solid.reach, most);
    }
}

bool cm_mover_enter(const cm_mover *mover, const cm_shape *shape,
                    const cm_shape_transform *transform, double most, cm_entry *entry)
{
    const cm_line *line = &mover->line;
    cm_query_solid solid;
    if (!cm_query_solid_make(shape, transform, &solid)) {
        return false;
    }
    cm_d3 position = cm_d3_from(transform->position);
    cm_d3 start = cm_d3_sub(line->origin, position);
    double touch = TOUCH + PART * (solid.reach + mover->solid.reach);
    double at = 0.0;
    most = cm_d_min((1.0 + SURE) * most, line->length);
    if (!may_meet(mover, start, &solid, most, &at)) {
        return false;
    }
    cm_d3 first = cm_d3_mad(start, at, line->direction);
    cm_query_gap gap = cm_query_solid_gap(&mover->solid, first, &solid);
    if (gap.distance <= 0.0 && at > 0.0) { // rounding
        at = 0.0;
        gap = cm_query_solid_gap(&mover->solid, start, &solid);
    }
    if (gap.distance <= 0.0) {
        *entry = inside(mover, cm_d3_scale(-1.0, line->direction));
        return true;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        double rate = -cm_d3_dot(gap.direction, line->direction);
        if (!(rate > 0.0) || gap.distance - touch > rate * (most - at)) {
            return false; // it goes away or along, or does not come so far
        }
        if (gap.distance <= touch) {
            break;
        }
        at = cm_d_min(at + (gap.distance - 0.5 * touch) / rate, line->length);
        cm_d3 here = cm_d3_mad(start, at, line->direction);
        cm_query_gap next = cm_query_solid_gap(&mover->solid, here, &solid);
        if (next.distance <= 0.0) {
            break; // rounding: the last normal and point are as good
        }
        gap = next;
    }
    entry->distance = at;
    entry->normal = gap.direction;
    entry->point = cm_d3_add(position, gap.on_b);
    entry->inside = false;
    return true;
}

bool cm_mover_overlaps(const cm_mover *mover, const cm_shape *shape,
                       const cm_shape_transform *transform, cm_entry *entry)
{
    cm_query_solid solid;
    cm_d3 start = cm_d3_sub(mover->line.origin, cm_d3_from(transform->position));
    *entry = cm_mover_inside(mover);
    return cm_query_solid_make(shape, transform, &solid) &&
           cm_query_solid_gap(&mover->solid, start, &solid).distance <= 0.0;
}

bool cm_mover_nearest(const cm_mover *mover, const cm_shape *shape,
                      const cm_shape_transform *transform, double most, cm_entry *entry)
{
    cm_query_solid solid;
    cm_d3 position = cm_d3_from(transform->position);
    if (!cm_query_solid_make(shape, transform, &solid)) {
        return false;
    }
    cm_query_gap gap =
        cm_query_solid_gap(&mover->solid, cm_d3_sub(mover->line.origin, position), &solid);
    if (gap.distance <= 0.0) {
        *entry = cm_mover_inside(mover);
        return true;
    }
    *entry = (cm_entry){gap.distance, gap.direction, cm_d3_add(position, gap.on_b), false};
    return gap.distance <= most;
}
