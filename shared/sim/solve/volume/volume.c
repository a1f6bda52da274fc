// The volume solver: the order of a tick and its scratch. See volume.h.
//
// Cost is linear in the pairs: nothing is coupled but through the bodies' velocities. Joints are
// not part of this method: a scene that has both is refused. Typical: 200 pairs at 3 microseconds.
#include "shared/sim/solve/volume/volume.h"

#include "shared/sim/solve/report.h"
#include "shared/sim/solve/solver.h"

#include <string.h>

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

// The next array: where it starts, or NULL where only the size is asked for.
static void *take(char *base, size_t *offset, size_t size)
{
    void *start = base != NULL ? base + *offset : NULL;
    *offset += line(size);
    return start;
}

static size_t walk(const carom_limits *limits, char *base, cm_volume *volume)
{
    size_t offset = 0;
    volume->bodies = take(base, &offset, limits->bodies * sizeof(cm_volume_body));
    volume->shapes = take(base, &offset, limits->shapes * sizeof(cm_volume_shape));
    volume->pairs = take(base, &offset, limits->contacts * sizeof(cm_volume_pair));
    volume->order = take(base, &offset, limits->contacts * sizeof(uint32_t));
    volume->piece_a = take(base, &offset, sizeof(cm_volume_piece));
    volume->piece_b = take(base, &offset, sizeof(cm_volume_piece));
    volume->work = take(base, &offset, sizeof(cm_volume_work));
    return offset;
}

static size_t scratch_size(const carom_limits *limits, const carom_solver_def *def)
{
    (void)def;
    cm_volume unused = {0};
    return walk(limits, NULL, &unused);
}

static cm_volume map_volume(const carom_world *world, const cm_scratch *scratch)
{
    const cm_world_state *state = &world->state;
    cm_volume volume = {0};
    walk(&world->limits, scratch->solver, &volume);
    volume.dt = 1.0 / (double)state->tick_rate;
    volume.deepest = state->volume_contact == CAROM_VOLUME_DEEPEST_POINT;
    volume.segments = state->segments;
    volume.law.stiffness = (double)state->stiffness;
    volume.law.damping = (double)state->damping;
    volume.law.tangent_stiffness = (double)state->tangent_stiffness;
    volume.law.tangent_damping = (double)state->tangent_damping;
    return volume;
}

static void substep(carom_world *world, cm_volume *volume, double *at)
{
    cm_volume_begin_step(world, volume);
    cm_lap(world, at, CAROM_STAGE_INTEGRATE);
    for (uint32_t i = 0; i < volume->pair_count; i++) {
        cm_volume_meet_pair(world, volume, &volume->pairs[i]);
    }
    cm_lap(world, at, CAROM_STAGE_PREPARE);
    for (uint32_t i = 0; i < volume->pair_count; i++) {
        cm_volume_push_pair(volume, &volume->pairs[i]);
    }
    cm_volume_begin_implicit(volume);
    cm_volume_push_bodies(volume);
    for (uint32_t i = 0; i < volume->pair_count; i++) {
        cm_volume_damp_pair(volume, &volume->pairs[i]);
    }
    for (uint32_t i = volume->pair_count; i > 0; i--) {
        cm_volume_settle_pair(volume, &volume->pairs[i - 1]);
    }
    cm_volume_solve_implicit(volume);
    cm_lap(world, at, CAROM_STAGE_SOLVE);
    cm_volume_move_bodies(volume);
    cm_lap(world, at, CAROM_STAGE_INTEGRATE);
}

static void solve(carom_world *world, cm_scratch *scratch)
{
    double at = cm_clock(world);
    cm_volume volume = map_volume(world, scratch);
    scratch->old_contact_count = world->state.contact_count;
    cm_contacts_turn(world);
    volume.substeps = cm_volume_rate(world, scratch, volume.dt);
    volume.h = volume.dt / (double)volume.substeps;
    cm_volume_load_bodies(world, &volume);
    cm_volume_load_pairs(world, scratch, &volume);
    cm_lap(world, &at, CAROM_STAGE_PREPARE);
    for (uint32_t i = 0; i < volume.substeps; i++) {
        substep(world, &volume, &at);
    }
    cm_volume_begin_step(world, &volume); // places at the end, for those that are near
    cm_volume_store_pairs(world, scratch, &volume);
    cm_report_contacts(world, scratch);
    cm_volume_store_bodies(world, &volume);
    cm_lap(world, &at, CAROM_STAGE_INTEGRATE);
}

const cm_solver cm_solver_volume = {
    .remembers = CM_REMEMBERS(CM_SECTION_contact) | CM_REMEMBERS(CM_SECTION_volume_contact),
    .pointers = true,
    .solve = solve,
    .scratch_size = scratch_size,
    .rules = &cm_volume_rules,
};
