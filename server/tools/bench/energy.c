// Energies in double precision, by the masses, inertias and velocities that the world tells, and
// where chains end up: what bench compares of worlds that should keep their energy. Thousands of
// bodies.
#include "server/tools/bench/energy.h"

#include <math.h>
#include <stdlib.h>

// w . I w / 2, along the principal axes.
static double spin_energy(const carom_body_def *def)
{
    const carom_quat o = def->orientation, i = def->inertia_orientation;
    const double body[4] = {o.x, o.y, o.z, o.w}, principal[4] = {i.x, i.y, i.z, i.w};
    const double w[3] = {def->angular_velocity.x, def->angular_velocity.y, def->angular_velocity.z};
    const double inertia[3] = {def->inertia.x, def->inertia.y, def->inertia.z};
    double outer[3][3], inner[3][3], energy = 0.0;
    cm_solid_rotation(body, outer);
    cm_solid_rotation(principal, inner);
    for (int k = 0; k < 3; k++) {
        double along = 0.0; // of the principal axis k, a column of outer x inner
        for (int row = 0; row < 3; row++) {
            for (int j = 0; j < 3; j++) {
                along += w[row] * outer[row][j] * inner[j][k];
            }
        }
        energy += 0.5 * inertia[k] * along * along;
    }
    return energy;
}

static bool get_movable(const carom_world *world, uint32_t slot, carom_body_def *def)
{
    return carom_body_get_def(world, carom_world_body_at(world, slot), def) == CAROM_OK &&
           def->type == CAROM_BODY_DYNAMIC;
}

// J a kg of a point against the world's origin.
static double potential(const carom_world *world, const double point[3])
{
    const carom_vec3 g = carom_world_gravity(world);
    return -((double)g.x * point[0] + (double)g.y * point[1] + (double)g.z * point[2]);
}

// The centre of mass.
static void center_of(const carom_body_def *def, double center[3])
{
    const carom_quat o = def->orientation;
    const double turn[4] = {o.x, o.y, o.z, o.w};
    const double arm[3] = {def->center_of_mass.x, def->center_of_mass.y, def->center_of_mass.z};
    const double at[3] = {def->position.x, def->position.y, def->position.z};
    double rows[3][3];
    cm_solid_rotation(turn, rows);
    for (int i = 0; i < 3; i++) {
        center[i] = at[i] + rows[i][0] * arm[0] + rows[i][1] * arm[1] + rows[i][2] * arm[2];
    }
}

// Sums over what can move, a kg of it.
static double sum_energy(const carom_world *world, bool resting)
{
    double energy = 0.0, mass = 0.0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_def def;
        if (!get_movable(world, slot, &def)) {
            continue;
        }
        const double v[3] = {def.linear_velocity.x, def.linear_velocity.y, def.linear_velocity.z};
        double m = (double)def.mass, center[3];
        energy += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + spin_energy(&def);
        center_of(&def, center);
        energy += resting ? 0.0 : m * potential(world, center);
        mass += m;
    }
    return mass > 0.0 ? energy / mass : 0.0;
}

double cm_energy_kinetic(const carom_world *world)
{
    return sum_energy(world, true);
}

double cm_energy_total(const carom_world *world)
{
    return sum_energy(world, false);
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A body that hangs: how high its centre of mass is, and which way is up in its own axes.
typedef struct hanging {
    bool known;
    double potential; // J/kg of its centre
    double center[3], up[3];
} hanging;

// J/kg of the joint's point in its upper body; false where that hangs on nothing known.
static bool upper_point(const carom_world *world, const cm_quality_joint *joint,
                        const hanging *bodies, double gravity, double *at)
{
    carom_body_state state;
    if (joint->body_a == CM_QUALITY_WORLD) {
        *at = potential(world, joint->anchor_a);
        return true;
    }
    const hanging *a = &bodies[joint->body_a];
    if (a->known) {
        *at = a->potential + gravity * (dot(a->up, joint->anchor_a) - dot(a->up, a->center));
        return true;
    }
    if (carom_body_get(world, carom_world_body_at(world, joint->body_a), &state) != CAROM_OK ||
        state.type == CAROM_BODY_DYNAMIC) {
        return false;
    }
    const double turn[4] = {state.orientation.x, state.orientation.y, state.orientation.z,
                            state.orientation.w};
    const double from[3] = {state.position.x, state.position.y, state.position.z};
    double rows[3][3], point[3];
    cm_solid_rotation(turn, rows);
    for (int i = 0; i < 3; i++) {
        point[i] = from[i] + dot(rows[i], joint->anchor_a);
    }
    *at = potential(world, point);
    return true;
}

static void hang(const carom_body_def *def, const cm_quality_joint *joint, double at,
                 double gravity, hanging *body)
{
    body->center[0] = def->center_of_mass.x;
    body->center[1] = def->center_of_mass.y;
    body->center[2] = def->center_of_mass.z;
    double up[3], length;
    for (int i = 0; i < 3; i++) {
        up[i] = joint->anchor_b[i] - body->center[i];
    }
    length = sqrt(dot(up, up));
    for (int i = 0; i < 3; i++) {
        body->up[i] = length > 0.0 ? up[i] / length : 0.0;
    }
    body->potential = at - gravity * length;
    body->known = true;
}

carom_result cm_energy_hanging(const carom_world *world, const cm_quality_joint *joints,
                               uint32_t joint_count, double *energy)
{
    uint32_t slots = carom_world_body_slots(world);
    hanging *bodies = calloc((size_t)slots + 1, sizeof *bodies);
    if (bodies == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    const carom_vec3 g = carom_world_gravity(world);
    const double pull[3] = {g.x, g.y, g.z}, gravity = sqrt(dot(pull, pull));
    carom_body_def def;
    for (uint32_t i = 0; i < joint_count; i++) {
        double at;
        uint32_t b = joints[i].body_b;
        if (b != CM_QUALITY_WORLD && !bodies[b].known && get_movable(world, b, &def) &&
            upper_point(world, &joints[i], bodies, gravity, &at)) {
            hang(&def, &joints[i], at, gravity, &bodies[b]);
        }
    }
    double sum = 0.0, mass = 0.0;
    bool all = joint_count > 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (get_movable(world, slot, &def)) {
            all = all && bodies[slot].known;
            sum += (double)def.mass * bodies[slot].potential;
            mass += (double)def.mass;
        }
    }
    *energy = all && mass > 0.0 ? sum / mass : HUGE_VAL;
    free(bodies);
    return CAROM_OK;
}
