// Stiffness and damping of a contact: the scene's numbers, or derived where it gives none.
//
// Derived, a contact is a spring on the pair's reduced mass m, damped so that nothing bounces:
//
//   K = m w^2     B = 8 h K     k = K / A     b = B / A
//
// with A the contact's area in this step: the force is K times the mean depth, whatever the pieces
// touch with. It is solved at the step's end (implicit.c), with w = 3,000 rad/s. With a pointer it
// is not, and as stiff as the substep h bears: w = 1 / h, B = 4 m w. README.md derives both.
// Typical: 1,000 kg on the floor: K = 9e9 N/m, 1.1 um deep.
#include "shared/sim/solve/volume/volume.h"

#include "carom/volume.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"

#define STEEP  1.0    // w h
#define FIRM   3000.0 // rad/s, of contacts that are implicit
#define STUCK  2.0    // w h, of their friction where it sticks
#define YIELDS 2.0    // w h, of two bodies that both move
#define RELAX  8.0    // steps in which they come out of each other
#define RATIO  2.0    // of damping to critical damping
// Of a deepest point, whose damper is explicit: 4 B h / m <= 1.
#define STEEP_POINT  0.125
#define RATIO_POINT  1.0
#define SUBSTEP_RATE 240.0 // a second
#define STANDING     60.0  // of sqrt(g / L): more than 55.3, where ten cubes buckle
#define PARTING      3.0   // m/s
#define PI           3.14159265358979323846

static double frequency(double h, bool point)
{
    return (point ? STEEP_POINT : STEEP) / h;
}

static double ratio(bool point)
{
    return point ? RATIO_POINT : RATIO;
}

void carom_volume_contact_of(double mass, double h, carom_volume_contact contact, double *stiffness,
                             double *damping)
{
    bool valid = mass > 0.0 && h > 0.0;
    double w = valid ? frequency(h, contact == CAROM_VOLUME_DEEPEST_POINT) : 0.0;
    *stiffness = valid ? mass * w * w : 0.0;
    *damping = valid ? 2.0 * ratio(contact == CAROM_VOLUME_DEEPEST_POINT) * mass * w : 0.0;
}

uint32_t carom_volume_substeps(double dt, double gravity, double size)
{
    double rate = size > 0.0 && gravity > 0.0 ? STANDING * __builtin_sqrt(gravity / size) : 0.0;
    double steps = dt * cm_d_max(rate, SUBSTEP_RATE);
    if (!(steps < (double)CAROM_SUBSTEPS_MAX)) {
        return CAROM_SUBSTEPS_MAX;
    }
    uint32_t n = steps > 1.0 ? (uint32_t)steps : 1;
    return (double)n < steps ? n + 1 : n;
}

// 1/kg; 0 for what cannot be pushed. A device holds a pointer: its own mass stands for that.
static double inverse_mass(const cm_body *body)
{
    bool counts = body->type == CAROM_BODY_DYNAMIC || body->pointer != CAROM_NO_PLAYER;
    return counts && body->mass > 0.0f ? 1.0 / (double)body->mass : 0.0;
}

double cm_volume_pair_mass(const cm_body *a, const cm_body *b)
{
    double inverse = inverse_mass(a) + inverse_mass(b);
    return inverse > 0.0 ? 1.0 / inverse : 1.0; // pointers without mass
}

// Damping that the scene leaves open, of a whole contact of this stiffness. A deepest point's is
// explicit, and no more than the step bears.
static double open_damping(const cm_volume *volume, double stiffness, double mass)
{
    double damping = 2.0 * ratio(volume->deepest) * __builtin_sqrt(stiffness * mass);
    return volume->deepest ? cm_d_min(damping, 0.25 * mass / volume->h) : damping;
}

// A body on something that nothing moves stands firmly. Between two that move the sweeps have
// to bring each to the other, which they do for what is softer.
static double firm(const cm_volume *volume, const cm_volume_pair *pair)
{
    bool both = volume->bodies[pair->body_a].dynamic && volume->bodies[pair->body_b].dynamic;
    return both ? cm_d_min(FIRM, YIELDS / volume->h) : FIRM;
}

void cm_volume_set_law(const cm_volume *volume, cm_volume_pair *pair)
{
    cm_volume_law *law = &pair->law;
    double area = pair->region.area;
    *law = volume->law;
    law->kinetic = pair->kinetic;
    law->still = pair->still;
    bool derived = law->stiffness < 0.0;
    if (derived) {
        double w = pair->is_implicit ? firm(volume, pair) : frequency(volume->h, volume->deepest);
        law->stiffness = pair->mass * w * w / area;
    }
    if (law->damping < 0.0) {
        law->damping = pair->is_implicit
                           ? RELAX * volume->h * law->stiffness
                           : open_damping(volume, law->stiffness * area, pair->mass) / area;
    }
    // k d against b v: deep in each other, they part at no more than PARTING.
    double depth = volume->deepest ? pair->region.depth : pair->region.volume / area;
    if (derived && law->stiffness * depth > law->damping * PARTING) {
        law->stiffness = law->damping * PARTING / depth;
    }
    if (pair->is_implicit) { // what friction stretches is no error of a pose: softer will do
        double w = STUCK / volume->h, stuck = pair->mass * w * w / area;
        law->tangent_damping =
            law->tangent_damping < 0.0 ? RELAX * volume->h * stuck : law->tangent_damping;
        law->tangent_stiffness = law->tangent_stiffness < 0.0 ? stuck : law->tangent_stiffness;
    }
    if (law->tangent_stiffness < 0.0) {
        law->tangent_stiffness = law->stiffness;
    }
    if (law->tangent_damping < 0.0) {
        law->tangent_damping = law->damping;
    }
}

// A substep of this world, s, where no bound of work makes it longer.
static double step_of(const carom_world *world)
{
    double dt = 1.0 / (double)world->state.tick_rate;
    return dt / (double)cm_volume_wanted(world, dt);
}

// The largest shadow of a shape, m^2.
static double shadow(const carom_world *world, const cm_shape *shape)
{
    double x = (double)shape->size[0], y = (double)shape->size[1], z = (double)shape->size[2];
    switch (shape->type) {
    case CAROM_SHAPE_BOX: {
        double a = 4.0 * x * y, b = 4.0 * y * z, c = 4.0 * z * x;
        return __builtin_sqrt(a * a + b * b + c * c);
    }
    case CAROM_SHAPE_SPHERE:
        return PI * x * x;
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        return PI * x * x + 4.0 * x * y;
    case CAROM_SHAPE_HULL: {
        const carom_hull *hull = cm_hull_find(world, shape->geometry);
        double radius = hull != NULL ? (double)hull->outer_radius : 0.0;
        return PI * radius * radius;
    }
    default:
        return 0.0;
    }
}

carom_result carom_volume_bound(const carom_world *world, carom_body_id body, float *stiffness,
                                float *damping)
{
    const cm_body *row =
        world != NULL && stiffness != NULL && damping != NULL ? cm_body_find(world, body) : NULL;
    if (row == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    *stiffness = *damping = 0.0f;
    const cm_world_state *state = &world->state;
    if (state->solver != CAROM_SOLVER_VOLUME) {
        return CAROM_OK;
    }
    double k, b, area = 0.0, count = 0.0, h = step_of(world);
    bool point = state->volume_contact == CAROM_VOLUME_DEEPEST_POINT;
    for (uint32_t i = row->first_shape; i != CM_NONE; i = cm_shapes(world)[i].next) {
        area += point ? 1.0 : shadow(world, cm_shapes(world) + i);
        count += 1.0;
    }
    double mass = row->mass > 0.0f ? (double)row->mass : 1.0;
    carom_volume_contact_of(mass, h, (carom_volume_contact)state->volume_contact, &k, &b);
    *stiffness = (float)(count * k);
    *damping = (float)(count * b);
    if (state->stiffness >= 0.0f) {
        k = (double)state->stiffness * area;
        *stiffness = (float)k;
        *damping = (float)(2.0 * ratio(point) * __builtin_sqrt(count * k * mass));
    }
    if (state->damping >= 0.0f) {
        *damping = (float)((double)state->damping * area);
    }
    return CAROM_OK;
}
