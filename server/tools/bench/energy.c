// Energies in double precision, by the masses, inertias and velocities that the world tells, and
// where chains end up: what bench compares of worlds that should keep their energy. Thousands of
// bodies.
#include "server/tools/bench/energy.h"

#include <math.h>
#include <stdlib.h>

#include "shared/base/dvec.h"

// Of a quaternion of any length but zero.
static cm_dmat turn_of(carom_quat q)
{
    return cm_dmat_from_quat(cm_dquat_unit(cm_dquat_from(q)));
}

static cm_d3 point(const double at[3])
{
    return cm_d3_of(at[0], at[1], at[2]);
}

// w . I w / 2, along the principal axes.
static double spin_energy(const carom_body_def *def)
{
    const cm_dmat outer = turn_of(def->orientation), inner = turn_of(def->inertia_orientation);
    const cm_d3 w = cm_d3_from(def->angular_velocity), i = cm_d3_from(def->inertia);
    cm_d3 along = cm_dmat_mul_transpose(&inner, cm_dmat_mul_transpose(&outer, w));
    return 0.5 * (i.x * along.x * along.x + i.y * along.y * along.y + i.z * along.z * along.z);
}

static bool get_movable(const carom_world *world, uint32_t slot, carom_body_def *def)
{
    return carom_body_get_def(world, carom_world_body_at(world, slot), def) == CAROM_OK &&
           def->type == CAROM_BODY_DYNAMIC;
}

// J a kg of a point against the world's origin.
static double potential(const carom_world *world, cm_d3 at)
{
    return -cm_d3_dot(cm_d3_from(carom_world_gravity(world)), at);
}

static cm_d3 center_of(const carom_body_def *def)
{
    const cm_dmat turn = turn_of(def->orientation);
    return cm_d3_add(cm_d3_from(def->position),
                     cm_dmat_mul(&turn, cm_d3_from(def->center_of_mass)));
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
        const cm_d3 v = cm_d3_from(def.linear_velocity);
        double m = (double)def.mass;
        energy += 0.5 * m * cm_d3_dot(v, v) + spin_energy(&def);
        energy += resting ? 0.0 : m * potential(world, center_of(&def));
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

// A body that hangs: how high its centre of mass is, and which way is up in its own axes.
typedef struct hanging {
    bool known;
    double potential; // J/kg of its centre
    cm_d3 center, up;
} hanging;

// J/kg of the joint's point in its upper body; false where that hangs on nothing known.
static bool upper_point(const carom_world *world, const cm_quality_joint *joint,
                        const hanging *bodies, double gravity, double *at)
{
    carom_body_state state;
    if (joint->body_a == CM_QUALITY_WORLD) {
        *at = potential(world, point(joint->anchor_a));
        return true;
    }
    const hanging *a = &bodies[joint->body_a];
    if (a->known) {
        *at =
            a->potential + gravity * cm_d3_dot(a->up, cm_d3_sub(point(joint->anchor_a), a->center));
        return true;
    }
    if (carom_body_get(world, carom_world_body_at(world, joint->body_a), &state) != CAROM_OK ||
        state.type == CAROM_BODY_DYNAMIC) {
        return false;
    }
    const cm_dmat turn = turn_of(state.orientation);
    *at = potential(
        world, cm_d3_add(cm_d3_from(state.position), cm_dmat_mul(&turn, point(joint->anchor_a))));
    return true;
}

static void hang(const carom_body_def *def, const cm_quality_joint *joint, double at,
                 double gravity, hanging *body)
{
    body->center = cm_d3_from(def->center_of_mass);
    cm_d3 up = cm_d3_sub(point(joint->anchor_b), body->center);
    body->up = cm_d3_unit(up);
    body->potential = at - gravity * cm_d3_length(up);
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
    const double gravity = cm_d3_length(cm_d3_from(carom_world_gravity(world)));
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
