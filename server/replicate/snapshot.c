// Quantises every body of a tick. Typical: 400 bodies, 30 times a second.
#include "server/replicate/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/sim/inspect.h"

#define BLOCK       64u     // bodies read at once
#define FAR_SQUARED 1.0e12f // m^2: from nobody who steers

carom_result cm_snapshot_config(const cm_scene *scene, cm_view_config *config, char *error,
                                size_t error_size)
{
    cm_scene_replication replication;
    cm_scene_replication_get(scene, &replication);
    carom_vec3 lower, upper;
    cm_scene_bounds(scene, &lower, &upper);
    carom_result result = cm_view_config_make(lower, upper, replication.position_step, config);
    if (result != CAROM_OK) {
        snprintf(error, error_size,
                 "$.bounds: from %g %g %g to %g %g %g in steps of %g m "
                 "($.replication.position_step), expected 1 to %u steps on each axis",
                 (double)lower.x, (double)lower.y, (double)lower.z, (double)upper.x,
                 (double)upper.y, (double)upper.z, (double)replication.position_step,
                 (1u << CM_VIEW_POSITION_BITS_MAX) - 1);
    }
    return result;
}

bool cm_snapshot_init(cm_snapshot *snapshot, uint32_t capacity, uint32_t joint_capacity)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->capacity = capacity;
    snapshot->joint_capacity = joint_capacity;
    uint32_t rows = cm_snapshot_rows(snapshot);
    snapshot->generation = calloc(rows, sizeof *snapshot->generation);
    snapshot->kind = calloc(capacity, sizeof *snapshot->kind);
    snapshot->links = calloc(capacity, sizeof *snapshot->links);
    snapshot->version = calloc(rows, sizeof *snapshot->version);
    snapshot->bodies = calloc(rows, sizeof *snapshot->bodies);
    snapshot->positions = calloc(rows, sizeof *snapshot->positions);
    snapshot->speeds = calloc(rows, sizeof *snapshot->speeds);
    snapshot->steered = calloc(rows, sizeof *snapshot->steered);
    snapshot->beside = calloc(rows, sizeof *snapshot->beside);
    return snapshot->generation != NULL && snapshot->kind != NULL && snapshot->links != NULL &&
           snapshot->version != NULL && snapshot->bodies != NULL && snapshot->positions != NULL &&
           snapshot->speeds != NULL && snapshot->steered != NULL && snapshot->beside != NULL;
}

void cm_snapshot_free(cm_snapshot *snapshot)
{
    free(snapshot->generation);
    free(snapshot->kind);
    free(snapshot->links);
    free(snapshot->version);
    free(snapshot->bodies);
    free(snapshot->positions);
    free(snapshot->speeds);
    free(snapshot->steered);
    free(snapshot->beside);
    free(snapshot->states);
    memset(snapshot, 0, sizeof *snapshot);
}

static void raise_version(cm_snapshot *snapshot, uint32_t row)
{
    snapshot->version[row]++;
    snapshot->version[row] += snapshot->version[row] == 0;
}

// One slot, with the body that lives there; null: none does.
static void take_slot(cm_snapshot *snapshot, const cm_view_config *config, const carom_world *world,
                      uint32_t slot, carom_body_id id, const carom_body_state *state)
{
    uint32_t generation = snapshot->generation[slot];
    uint64_t kind = snapshot->kind[slot], links = snapshot->links[slot];
    snapshot->generation[slot] = id.generation;
    if (carom_body_id_is_null(id)) {
        return;
    }
    cm_body_identify(world, slot, &snapshot->kind[slot], &snapshot->links[slot]);
    snapshot->positions[slot] = state->position;
    snapshot->speeds[slot] = cm_length(state->linear_velocity);
    cm_view_body before = snapshot->bodies[slot];
    cm_view_quantise(config, state, true, &snapshot->bodies[slot]);
    if (generation != id.generation || snapshot->version[slot] == 0 ||
        kind != snapshot->kind[slot] || links != snapshot->links[slot] ||
        memcmp(&before, &snapshot->bodies[slot], sizeof before) != 0) {
        raise_version(snapshot, slot);
    }
}

static void take_drive(cm_snapshot *snapshot, const carom_world *world, uint32_t slot)
{
    uint32_t row = snapshot->capacity + slot, generation = snapshot->generation[row];
    carom_joint_id id = carom_world_joint_at(world, slot);
    carom_joint_drives drives;
    carom_joint_state joint;
    carom_body_state body;
    bool lives = carom_joint_get_drives(world, id, &drives) == CAROM_OK;
    snapshot->generation[row] = lives ? id.generation : 0;
    if (!lives) {
        return;
    }
    cm_view_body drive = cm_view_drive_make(&drives);
    if (generation == id.generation && memcmp(&drive, &snapshot->bodies[row], sizeof drive) == 0) {
        return;
    }
    snapshot->bodies[row] = drive;
    raise_version(snapshot, row);
    if (carom_joint_get(world, id, &joint) == CAROM_OK &&
        carom_body_get(world, joint.body_b, &body) == CAROM_OK) {
        snapshot->positions[row] = body.position;
        snapshot->speeds[row] = cm_length(body.linear_velocity);
    }
}

static void take_drives(cm_snapshot *snapshot, const carom_world *world)
{
    uint32_t before = snapshot->joints, now = carom_world_joint_slots(world);
    snapshot->joints = now < snapshot->joint_capacity ? now : snapshot->joint_capacity;
    for (uint32_t slot = 0; slot < snapshot->joints; slot++) {
        take_drive(snapshot, world, slot);
    }
    for (uint32_t slot = snapshot->joints; slot < before; slot++) {
        snapshot->generation[snapshot->capacity + slot] = 0;
    }
}

static void note_beside(cm_snapshot *snapshot, const carom_vec3 *steered, uint32_t count)
{
    for (uint32_t slot = 0; slot < snapshot->slots; slot++) {
        float least = FAR_SQUARED;
        bool moves = snapshot->generation[slot] != 0 && !snapshot->bodies[slot].at_rest;
        for (uint32_t i = 0; i < count && moves; i++) {
            carom_vec3 way = cm_sub(snapshot->positions[slot], steered[i]);
            least = cm_min(least, cm_length_squared(way));
        }
        snapshot->beside[slot] = cm_sqrt(least);
    }
}

static void note_steered(cm_snapshot *snapshot, const carom_game *game, uint64_t present)
{
    carom_vec3 steered[CAROM_PLAYERS_MAX];
    uint32_t count = 0;
    memset(snapshot->steered, 0, snapshot->capacity * sizeof *snapshot->steered);
    for (; present != 0; present &= present - 1) {
        carom_body_id body = cm_game_player_body(game, (uint32_t)__builtin_ctzll(present));
        if (!carom_body_id_is_null(body) && body.index < snapshot->slots &&
            snapshot->generation[body.index] == body.generation) {
            snapshot->steered[body.index] = true;
            steered[count++] = snapshot->positions[body.index];
        }
    }
    note_beside(snapshot, steered, count);
}

// Without memory for it clients are told whole states.
static void keep_state(cm_snapshot *snapshot)
{
    uint32_t at = snapshot->public_version % CM_STATES_KEPT, size = snapshot->public_size;
    if (snapshot->states == NULL) { // a module's is always as large
        snapshot->states = calloc(CM_STATES_KEPT, size);
    }
    if (snapshot->states != NULL) {
        snapshot->state_versions[at] = snapshot->public_version;
        memcpy(snapshot->states + (size_t)at * size, snapshot->public_state, size);
    }
}

const uint8_t *cm_snapshot_state(const cm_snapshot *snapshot, uint32_t version)
{
    uint32_t at = version % CM_STATES_KEPT;
    return version != 0 && snapshot->state_versions[at] == version
               ? snapshot->states + (size_t)at * snapshot->public_size
               : NULL;
}

void cm_snapshot_capture(cm_snapshot *snapshot, const cm_view_config *config,
                         const carom_game *game, uint64_t tick, uint64_t present)
{
    const carom_world *world = carom_game_world(game);
    carom_body_id ids[BLOCK];
    carom_body_state states[BLOCK];
    snapshot->tick = tick;
    uint32_t slots = carom_world_body_slots(world);
    slots = slots < snapshot->capacity ? slots : snapshot->capacity;
    for (uint32_t first = 0; first < slots; first += BLOCK) {
        uint32_t count = slots - first < BLOCK ? slots - first : BLOCK;
        carom_world_read_bodies(world, first, count, ids, states);
        for (uint32_t i = 0; i < count; i++) {
            take_slot(snapshot, config, world, first + i, ids[i], &states[i]);
        }
    }
    for (uint32_t slot = slots; slot < snapshot->capacity; slot++) {
        snapshot->generation[slot] = 0;
    }
    snapshot->slots = slots;
    note_steered(snapshot, game, present);
    take_drives(snapshot, world);

    uint32_t size = 0;
    const uint8_t *bytes = cm_game_public(game, &size);
    if (size > CAROM_MODULE_PUBLIC_MAX) {
        size = CAROM_MODULE_PUBLIC_MAX;
    }
    if (snapshot->public_version == 0 || size != snapshot->public_size ||
        present != snapshot->present ||
        (size > 0 && memcmp(bytes, snapshot->public_state, size) != 0)) {
        snapshot->public_version++;
        snapshot->public_size = size;
        snapshot->present = present;
        if (size > 0) {
            memcpy(snapshot->public_state, bytes, size);
            keep_state(snapshot);
        }
    }
}

bool cm_snapshot_moment_capture(cm_snapshot_moment *moment, const cm_snapshot *snapshot)
{
    *moment = (cm_snapshot_moment){.rows = cm_snapshot_rows(snapshot),
                                   .public_version = snapshot->public_version};
    moment->version = malloc(moment->rows * sizeof *moment->version);
    if (moment->version == NULL) {
        return false;
    }
    memcpy(moment->version, snapshot->version, moment->rows * sizeof *moment->version);
    return true;
}

void cm_snapshot_moment_free(cm_snapshot_moment *moment)
{
    free(moment->version);
    moment->version = NULL;
}

void cm_snapshot_changes(const cm_snapshot *snapshot, cm_announced *announced, carom_body_id *gone,
                         uint32_t *gone_count, uint32_t *spawned, uint32_t *spawned_count)
{
    *gone_count = 0;
    *spawned_count = 0;
    for (uint32_t i = 0; i < snapshot->capacity; i++) {
        cm_announced now = {snapshot->generation[i], snapshot->kind[i], snapshot->links[i]};
        if (now.generation == announced[i].generation &&
            (now.generation == 0 || now.kind == announced[i].kind)) {
            continue;
        }
        // Its shapes must go where others take their slots, so it goes with them and comes again.
        if (announced[i].generation != 0 &&
            (now.generation != announced[i].generation || now.links != announced[i].links)) {
            carom_body_id id = {i, announced[i].generation};
            gone[(*gone_count)++] = id;
        }
        if (now.generation != 0) {
            spawned[(*spawned_count)++] = i;
        }
        announced[i] = now;
    }
}
