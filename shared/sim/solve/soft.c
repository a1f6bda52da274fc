// The soft-step solver: the order of its passes, and its scratch.
//
// Scratch: bodies | masses (a row a body slot each) | contacts (limits.contacts rows) | joints
// (soft_joint.h), each on a cache line. Constraints run in canonical order: contacts between moving
// bodies, then those with what cannot be pushed, each in the order of the state's contacts; the
// last solved is the best satisfied, and the ground matters most. Joints come before contacts.
#include "shared/sim/solve/soft.h"
#include "shared/sim/solve/report.h"
#include "shared/sim/solve/soft_joint.h"

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

size_t cm_solver_scratch_size(const carom_limits *limits)
{
    return line(limits->bodies * sizeof(cm_soft_body)) +
           line(limits->bodies * sizeof(cm_soft_mass)) +
           line(limits->contacts * sizeof(cm_soft_contact)) + cm_soft_joints_size(limits);
}

static cm_soft map_soft(const carom_world *world, const cm_scratch *scratch)
{
    cm_soft soft = {0};
    char *at = scratch->solver;
    soft.bodies = (cm_soft_body *)at;
    at += line(world->limits.bodies * sizeof(cm_soft_body));
    soft.masses = (cm_soft_mass *)at;
    at += line(world->limits.bodies * sizeof(cm_soft_mass));
    soft.contacts = (cm_soft_contact *)at;
    soft.body_count = world->state.body_slots;
    soft.substeps = world->state.substeps;
    soft.dt = 1.0f / (float)world->state.tick_rate;
    soft.h = soft.dt / (float)soft.substeps;
    return soft;
}

// Adds the seconds since *since to *sum, where the caller gave a clock.
static void lap(const carom_world *world, double *since, double *sum)
{
    if (world->clock) {
        double now = world->clock(world->clock_context);
        *sum += now - *since;
        *since = now;
    }
}

void cm_solve_soft(carom_world *world, cm_scratch *scratch)
{
    carom_step_profile *profile = &world->stats.profile;
    double at = world->clock ? world->clock(world->clock_context) : 0.0;
    profile->prepare = profile->solve = profile->relax = profile->integrate = 0.0;

    cm_soft soft = map_soft(world, scratch);
    cm_soft_joints joints;
    cm_soft_joints_map(
        &world->limits,
        (char *)soft.contacts + line(world->limits.contacts * sizeof(cm_soft_contact)), &joints);
    cm_soft_prepare_bodies(world, &soft);
    cm_soft_prepare_contacts(world, scratch, &soft);
    cm_soft_prepare_joints(world, &soft, &joints);
    lap(world, &at, &profile->prepare);
    for (uint32_t i = 0; i < soft.substeps; i++) {
        cm_soft_integrate_velocities(world, &soft);
        lap(world, &at, &profile->integrate);
        cm_soft_warm_start_joints(world, &soft, &joints);
        cm_soft_warm_start(&soft);
        cm_soft_solve_joints(&soft, &joints, false);
        cm_soft_solve_contacts(&soft, false);
        lap(world, &at, &profile->solve);
        cm_soft_integrate_poses(&soft);
        lap(world, &at, &profile->integrate);
        cm_soft_solve_joints(&soft, &joints, true);
        cm_soft_solve_contacts(&soft, true);
        cm_soft_sum_joints(&joints);
        cm_soft_sum_impulses(&soft);
        lap(world, &at, &profile->relax);
    }
    cm_soft_restitution(&soft);
    lap(world, &at, &profile->solve);
    cm_soft_store_contacts(world, scratch, &soft);
    cm_soft_store_joints(world, &soft, &joints);
    cm_report_contacts(world, scratch);
    cm_soft_store_bodies(world, &soft);
    lap(world, &at, &profile->integrate);
}
