// Number of substeps of a tick.
//
// Only the spring is explicit, so only it asks for short steps: semi-implicit Euler is stable for
// w h < 2, and we take w h <= 1/2. For a body of mass m, w^2 = 4 k A / m, with A the section of its
// largest piece across its two longest sides, and 4 for two contacts that each give way on both
// sides. At a point (CAROM_VOLUME_DEEPEST_POINT) the damper is explicit too: w^2 = 8 k / m, and
// 4 b h / m <= 1, a corner being easier to move than the whole. At most CAROM_SUBSTEPS_MAX.
//
// A stiffness that is derived fits any step; the steps are as many as a stack of the smallest body
// wants (carom_volume_substeps).
//
// The bound of a step's work is a second of one core: CM_VOLUME_PAIRS_A_SECOND pairs met. A tick
// that would need more takes fewer substeps, but never fewer than a third of what the rule wants
// (w h <= 1.5 still holds); what is above a bound even so runs and is counted
// (CAROM_LOG_VOLUME_OVER_BOUND).
#include "shared/sim/solve/volume/volume.h"

#include "carom/volume.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/tell.h"

#define SMOOTH 0.5 // w h
#define LEAST  3.0 // of the substeps wanted, the share that a bound may leave
#define PI     3.14159265358979323846

static double two_longest(double x, double y, double z)
{
    double least = cm_d_min(x, cm_d_min(y, z));
    return least > 0.0 ? 4.0 * x * y * z / least : 0.0;
}

double cm_volume_section(const cm_shape *shape, const carom_hull *hull)
{
    double a = (double)shape->size[0], b = (double)shape->size[1], c = (double)shape->size[2];
    switch (shape->type) {
    case CAROM_SHAPE_BOX:
        return two_longest(a, b, c);
    case CAROM_SHAPE_SPHERE:
        return PI * a * a;
    case CAROM_SHAPE_CAPSULE:
        return 4.0 * a * (a + b);
    case CAROM_SHAPE_CYLINDER:
        return cm_d_max(PI * a * a, 4.0 * a * b);
    case CAROM_SHAPE_HULL:
        return hull != NULL
                   ? two_longest((double)hull->half.x, (double)hull->half.y, (double)hull->half.z)
                   : 0.0;
    default:
        return 0.0;
    }
}

double cm_volume_steps(const cm_volume_body_law *law, double mass, double section, double dt)
{
    if (!(section > 0.0) || !(mass > 0.0)) {
        return 1.0;
    }
    if (law->point) {
        double damped = 4.0 * dt * law->damping / mass;
        return cm_d_max(damped, dt * __builtin_sqrt(8.0 * law->stiffness / mass) / SMOOTH);
    }
    return dt * __builtin_sqrt(4.0 * law->stiffness * section / mass) / SMOOTH;
}

// Of the body's largest piece, m^2.
static double section_of(const carom_world *world, const cm_body *body)
{
    double section = 0.0;
    for (uint32_t s = body->first_shape; s != CM_NONE; s = cm_shapes(world)[s].next) {
        const cm_shape *shape = cm_shapes(world) + s;
        const carom_hull *hull =
            shape->type == CAROM_SHAPE_HULL ? cm_hull_find(world, shape->geometry) : NULL;
        section = cm_d_max(section, cm_volume_section(shape, hull));
    }
    return section;
}

static uint32_t whole(double steps)
{
    if (!(steps < (double)CAROM_SUBSTEPS_MAX)) {
        return CAROM_SUBSTEPS_MAX;
    }
    uint32_t n = steps > 1.0 ? (uint32_t)steps : 1;
    return (double)n < steps ? n + 1 : n;
}

// Steps that a tick of dt seconds wants. What is derived fits any step, but for piles of what is
// small.
static double wanted_in(const carom_world *world, double dt)
{
    const cm_world_state *state = &world->state;
    const cm_volume_body_law law = {(double)state->stiffness, (double)state->damping,
                                    state->volume_contact == CAROM_VOLUME_DEEPEST_POINT};
    double wanted = 1.0, least = 0.0;
    for (uint32_t i = 0; i < state->body_slots; i++) {
        const cm_body *body = cm_bodies(world) + i;
        if (!body->alive || body->type != CAROM_BODY_DYNAMIC) {
            continue;
        }
        double section = section_of(world, body);
        least = least == 0.0 || (section > 0.0 && section < least) ? section : least;
        if (law.stiffness >= 0.0) {
            wanted = cm_d_max(wanted, cm_volume_steps(&law, (double)body->mass, section, dt));
        }
    }
    if (law.stiffness >= 0.0) {
        return wanted;
    }
    double gravity = law.point ? 0.0 : cm_d3_length(cm_d3_from(state->gravity)); // a point tilts
    return (double)carom_volume_substeps(dt, gravity, __builtin_sqrt(least));
}

uint32_t cm_volume_wanted(const carom_world *world, double dt)
{
    return world->state.substeps > 0 ? world->state.substeps : whole(wanted_in(world, dt));
}

uint32_t cm_volume_rate(carom_world *world, const cm_scratch *scratch, double dt)
{
    double wanted = wanted_in(world, dt);
    double bound = dt * CM_VOLUME_PAIRS_A_SECOND;
    uint32_t steps = world->state.substeps;
    bool over = false;
    if (steps == 0) {
        steps = whole(wanted);
        over = wanted > LEAST * (double)CAROM_SUBSTEPS_MAX;
        uint32_t least = whole(wanted / LEAST);
        while (steps > least && (double)steps * (double)scratch->pair_count > bound) {
            steps--;
        }
    }
    over |= (double)steps * (double)scratch->pair_count > bound;
    cm_tell(world, CAROM_LOG_VOLUME_OVER_BOUND, CM_NONE, over);
    return steps;
}
