// A world's life: defaults, size, creation, and what can be asked of it as a whole.
//
// The image is laid out from the limits alone (image.h); creation is the only time that all of it
// is written. Everything else is per body (body.c), per step (step.c) or per image (world_image.c).
#include "shared/base/rng.h"
#include "shared/sim/collide/broadphase.h"
#include "shared/sim/collide/rest.h"
#include "shared/sim/joint/joint.h"
#include "shared/sim/query/tree.h"
#include "shared/sim/solve/hits.h"
#include "shared/sim/solve/solver.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/fields.h"
#include "shared/sim/state/repeat.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/step/sleep.h"

#include <stddef.h>
#include <string.h>

static carom_solver_def default_solver(void)
{
    carom_solver_def def;
    memset(&def, 0, sizeof def);
    def.type = CAROM_SOLVER_SOFT;
    def.soft.substeps = 0;
    def.soft.restitution_threshold = 1.0f;
    def.impulse.substeps = 1;
    def.lcp.substeps = 0;
    def.lcp.epsilon = 1.0e-4f;
    def.lcp.gamma = 0.2f;
    def.lcp.rounds = 1;
    def.lcp.direct_rows = 256;
    def.volume.stiffness = -1.0f;
    def.volume.damping = -1.0f;
    def.volume.tangent_stiffness = -1.0f;
    def.volume.tangent_damping = -1.0f;
    def.volume.friction_kinetic = -1.0f;
    def.volume.friction_static = -1.0f;
    def.volume.segments = 16;
    return def;
}

carom_world_def carom_default_world_def(void)
{
    carom_world_def def;
    memset(&def, 0, sizeof def);
    def.struct_size = sizeof def;
    def.limits.bodies = 64;
    def.limits.shapes = 64;
    def.limits.joints = 64;
    def.limits.contacts = 512;
    def.tick_rate = 60;
    def.gravity = cm_vec(0.0f, -9.81f, 0.0f);
    def.friction_combine = CAROM_COMBINE_PRODUCT;
    def.restitution_combine = CAROM_COMBINE_PRODUCT;
    def.solver = default_solver();
    def.sleep = true;
    def.seed = 1;
    return def;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

// The trees of a step and those of queries, which take turns.
static size_t tree_scratch_size(const carom_limits *limits)
{
    size_t step = cm_broadphase_scratch_size(limits), query = cm_query_scratch_size(limits);
    return step > query ? step : query;
}

// Places the sections; false where the limits are above their maxima or the block above 4 GiB.
static bool lay_out(const carom_world_def *def, carom_world *world, size_t *size)
{
    const carom_limits *limits = &def->limits;
    const carom_solver_def *solver = &def->solver;
    if (limits->bodies > CAROM_BODIES_MAX || limits->shapes > CAROM_SHAPES_MAX ||
        limits->joints > CAROM_JOINTS_MAX || limits->contacts > CAROM_CONTACTS_MAX) {
        return false;
    }
    uint64_t at = round_up(sizeof(carom_world));
    const cm_world_state full = cm_full_counts(limits);
    uint32_t remembers = cm_solver_of((uint32_t)solver->type)->remembers;
    bool sleeps = cm_solver_of((uint32_t)solver->type)->sleeps;
    memset(&world->offset, 0, sizeof world->offset);
    world->offset.rows[CM_SECTION_world] = (uint32_t)offsetof(carom_world, state);
    for (int section = CM_SECTION_motion; section < CM_SECTION_COUNT; section++) {
        bool contacts = section >= CM_CONTACTS_FIRST && section <= CM_POINTS_LAST;
        uint64_t bytes = (uint64_t)cm_section_count(&full, (cm_section)section) *
                         cm_section_stride((cm_section)section);
        if (contacts && !(remembers & CM_REMEMBERS((unsigned)section))) {
            continue;
        }
        world->offset.rows[section] = (uint32_t)at;
        at = round_up(at + bytes);
        if (contacts) {
            world->offset.spare[section] = (uint32_t)at;
            at = round_up(at + bytes);
            world->offset.resting[section] = sleeps ? (uint32_t)at : 0;
            at = sleeps ? round_up(at + bytes) : at;
        }
    }
    world->offset.body_pages = (uint32_t)at;
    at = round_up(at + cm_repeat_known_size(limits->bodies));
    world->offset.shape_pages = (uint32_t)at;
    at = round_up(at + cm_repeat_known_size(limits->shapes));
    world->offset.active = (uint32_t)at;
    at = round_up(at + limits->bodies);
    world->offset.identities = (uint32_t)at;
    at = round_up(at + limits->bodies * sizeof(cm_identity));
    world->offset.body_hashes = (uint32_t)at;
    at = round_up(at + limits->bodies * sizeof(uint64_t));
    world->offset.shape_hashes = (uint32_t)at;
    at = round_up(at + limits->shapes * sizeof(uint64_t));
    world->offset.rest = (uint32_t)at;
    at = round_up(at + cm_rest_size(limits));
    uint64_t scratch = at;
    const cm_scratch_own own = {
        .joint_filter = cm_joint_filter_size(limits),
        .broadphase = tree_scratch_size(limits),
        .solver = cm_solver_of((uint32_t)solver->type)->scratch_size(limits, solver),
        .hits = cm_hits_size(limits, def->hit_speed),
        .pairs_stay = !cm_solver_of((uint32_t)solver->type)->manifolds,
    };
    uint64_t scratch_size = round_up(cm_scratch_size(limits, &own));
    at += scratch_size;
    if (at > UINT32_MAX) {
        return false;
    }
    world->offset.scratch = (uint32_t)scratch;
    world->offset.scratch_size = (uint32_t)scratch_size;
    world->own.joint_filter = (uint32_t)own.joint_filter;
    world->own.broadphase = (uint32_t)own.broadphase;
    world->own.solver = (uint32_t)own.solver;
    world->own.hits = (uint32_t)own.hits;
    world->own.pairs_stay = own.pairs_stay;
    *size = (size_t)at;
    return true;
}

// Checks what sizes the scratch, before it is sized.
static carom_result check_solver_def(const carom_solver_def *def, carom_error *error)
{
    CM_WANT((unsigned)def->type <= CM_SOLVER_LAST, "solver.type", "a carom_solver_type");
    CM_WANT(def->lcp.direct_rows <= CAROM_DIRECT_ROWS_MAX, "solver.lcp.direct_rows", "0 to 2048");
    CM_WANT(def->volume.segments <= CAROM_SEGMENTS_MAX, "solver.volume.segments", "3 to 256");
    CM_WANT((unsigned)def->impulse.rotation <= CAROM_ROTATION_CONSTANT_SPIN,
            "solver.impulse.rotation", "momentum or constant_spin");
    CM_WANT(def->lcp.rotation == CAROM_ROTATION_MOMENTUM ||
                def->lcp.rotation == CAROM_ROTATION_QUASI_IMPLICIT,
            "solver.lcp.rotation", "momentum or quasi_implicit");
    CM_WANT((unsigned)def->lcp.integration <= CAROM_INTEGRATION_ENERGY, "solver.lcp.integration",
            "source or energy");
    return CAROM_OK;
}

static carom_result check_hits(const carom_world_def *def, carom_error *error)
{
    CM_FIELD(cm_check_float(def->hit_speed, 0.0f, CAROM_VELOCITY_MAX), "hit_speed", "0 to 1e6 m/s");
    return CAROM_OK;
}

// Before any other field is read.
static carom_result check_size(const carom_world_def *def, carom_error *error)
{
    CM_WANT(def->struct_size == sizeof *def, "struct_size", CM_DEFAULT("world"));
    return CAROM_OK;
}

size_t carom_world_size(const carom_world_def *def)
{
    carom_world world;
    size_t size = 0;
    if (def == NULL || check_size(def, NULL) != CAROM_OK ||
        check_solver_def(&def->solver, NULL) != CAROM_OK || !lay_out(def, &world, &size)) {
        return 0;
    }
    return size;
}

static carom_result check_limits(const carom_limits *limits, carom_error *error)
{
    CM_FIELD(limits->bodies <= CAROM_BODIES_MAX ? CAROM_OK : CAROM_ERROR_LIMIT_BODIES,
             "limits.bodies", "at most 65536");
    CM_FIELD(limits->shapes <= CAROM_SHAPES_MAX ? CAROM_OK : CAROM_ERROR_LIMIT_SHAPES,
             "limits.shapes", "at most 131072");
    CM_FIELD(limits->joints <= CAROM_JOINTS_MAX ? CAROM_OK : CAROM_ERROR_LIMIT_JOINTS,
             "limits.joints", "at most 65536");
    CM_FIELD(limits->contacts <= CAROM_CONTACTS_MAX ? CAROM_OK : CAROM_ERROR_LIMIT_CONTACTS,
             "limits.contacts", "at most 1048576");
    return cm_refuse(error, CAROM_ERROR_LIMIT_SIZE, "limits", "a world of at most 4 GiB");
}

static carom_result check_hulls(const carom_world_def *def, carom_error *error)
{
    for (uint32_t i = 0; i < def->hull_count; i++) {
        CM_WANT(def->hulls && def->hulls[i] != NULL, "hulls", "hull_count hulls");
        CM_WANT(i == 0 || carom_hull_id(def->hulls[i - 1]) < carom_hull_id(def->hulls[i]), "hulls",
                "ascending ids, as carom_hull_sort leaves them");
    }
    return CAROM_OK;
}

static uint32_t substeps_of(const carom_solver_def *def)
{
    switch (def->type) {
    case CAROM_SOLVER_IMPULSE:
        return def->impulse.substeps;
    case CAROM_SOLVER_LCP:
        return def->lcp.substeps;
    case CAROM_SOLVER_VOLUME:
        return def->volume.substeps;
    default:
        return def->soft.substeps;
    }
}

static void set_solver(const carom_solver_def *def, cm_world_state *state)
{
    state->solver = (uint32_t)def->type;
    state->substeps = substeps_of(def);
    state->restitution_threshold = def->type == CAROM_SOLVER_IMPULSE
                                       ? def->impulse.restitution_threshold
                                       : def->soft.restitution_threshold;
    state->model = (uint32_t)def->impulse.model;
    state->pixel = def->impulse.pixel;
    state->epsilon = def->lcp.epsilon;
    state->gamma = def->lcp.gamma;
    state->rounds = def->lcp.rounds;
    state->direct_rows = def->lcp.direct_rows;
    state->max_friction = def->lcp.max_friction;
    state->friction_model = (uint32_t)def->lcp.friction_model;
    state->volume_contact = (uint32_t)def->volume.contact;
    // In the worlds of other solvers what is derived counts as the numbers that it was before it
    // could be: so their hashes stay.
    bool other = def->type != CAROM_SOLVER_VOLUME;
    state->stiffness = other && def->volume.stiffness == -1.0f ? 1.0e6f : def->volume.stiffness;
    state->damping = other && def->volume.damping == -1.0f ? 1.0e3f : def->volume.damping;
    state->tangent_stiffness = def->volume.tangent_stiffness;
    state->tangent_damping = def->volume.tangent_damping;
    state->friction_kinetic = def->volume.friction_kinetic;
    state->friction_static = def->volume.friction_static;
    state->segments = def->volume.segments;
}

static void set_state(const carom_world_def *def, cm_world_state *state)
{
    state->tick_rate = def->tick_rate;
    set_solver(&def->solver, state);
    const carom_solver_def *solver = &def->solver;
    bool own_rotation = (solver->type == CAROM_SOLVER_IMPULSE && solver->impulse.rotation != 0) ||
                        (solver->type == CAROM_SOLVER_LCP && solver->lcp.rotation != 0);
    bool energy = solver->type == CAROM_SOLVER_LCP && solver->lcp.integration != 0;
    state->flags = (def->sleep ? CM_WORLD_SLEEP : 0u) | (def->planar ? CM_WORLD_PLANAR : 0u) |
                   (own_rotation ? CM_WORLD_OWN_ROTATION : 0u) | (energy ? CM_WORLD_ENERGY : 0u);
    state->friction_combine = (uint32_t)def->friction_combine;
    state->restitution_combine = (uint32_t)def->restitution_combine;
    state->gravity = def->gravity;
    cm_rng rng;
    cm_rng_seed(&rng, def->seed);
    state->random[0] = rng.state[0];
    state->random[1] = rng.state[1];
}

bool carom_check_world(const carom_world_def *def, const carom_findings *to)
{
    cm_findings findings = {to, CAROM_NO_SHAPE, false};
    carom_error error = {CAROM_OK, "", "", CAROM_NO_SHAPE};
    cm_world_state state;
    memset(&state, 0, sizeof state);
    carom_result result = check_size(def, &error);
    result = result == CAROM_OK ? check_solver_def(&def->solver, &error) : result;
    result = result == CAROM_OK ? check_hits(def, &error) : result;
    if (result == CAROM_OK && carom_world_size(def) == 0) {
        result = check_limits(&def->limits, &error);
    }
    if (result == CAROM_OK) {
        set_state(def, &state);
        result = cm_check_state(&state, &error);
    }
    if (result != CAROM_OK) {
        cm_find_refused(&findings, error.field, error.expected);
        return false;
    }
    const cm_scene_rules *rules = cm_solver_of(state.solver)->rules;
    if (rules->world != NULL) {
        rules->world(def, &findings);
    }
    return !findings.refused;
}

carom_result carom_world_create(const carom_world_def *def, void *memory, size_t size,
                                carom_world **world)
{
    if (def == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    // A def that was only zeroed has it too; of another header's that is smaller nothing is known.
    bool known = def->struct_size == 0 || def->struct_size >= sizeof *def;
    carom_error *error = known ? def->error : NULL;
    CM_WANT(world, "world", "where to put the world");
    CM_WANT(memory && (uintptr_t)memory % CM_CACHE_LINE == 0, "memory", "aligned to 64 bytes");
    CM_TRY(check_size(def, error));
    carom_world header;
    memset(&header, 0, sizeof header);
    size_t needed = 0;
    CM_TRY(check_solver_def(&def->solver, error));
    CM_TRY(check_hits(def, error));
    if (!lay_out(def, &header, &needed)) {
        return check_limits(&def->limits, error);
    }
    CM_TRY(check_hulls(def, error));
    set_state(def, &header.state);
    CM_TRY(cm_check_state(&header.state, error));
    CM_FIELD(size >= needed ? CAROM_OK : CAROM_ERROR_MEMORY, "size",
             "at least carom_world_size bytes");
    header.hulls = def->hulls;
    header.hull_count = def->hull_count;
    header.magic = CM_WORLD_MAGIC;
    header.size_low = (uint32_t)needed;
    header.layout_hash = cm_layout_hash();
    header.limits = def->limits;
    header.hit_speed = def->hit_speed;
    header.room.solver = header.state.solver;
    header.room.direct_rows = header.state.direct_rows;
    header.room.segments = header.state.segments;
    header.pointers = cm_solver_of(header.state.solver)->pointers;
    // Scratch is whatever it is: no step reads what it has not written.
    memset(memory, 0, header.offset.scratch);
    memcpy(memory, &header, sizeof header);
    *world = (carom_world *)memory;
    return CAROM_OK;
}

carom_error carom_last_error(const carom_world *world)
{
    return world->error;
}

uint64_t carom_world_tick(const carom_world *world)
{
    return world->state.tick;
}

void carom_world_set_tick(carom_world *world, uint64_t tick)
{
    world->state.tick = tick;
}

uint32_t carom_world_tick_rate(const carom_world *world)
{
    return world->state.tick_rate;
}

carom_vec3 carom_world_gravity(const carom_world *world)
{
    return world->state.gravity;
}

carom_result carom_world_set_gravity(carom_world *world, carom_vec3 gravity)
{
    carom_error *error = &world->error;
    CM_FIELD(cm_check_vec(gravity, CAROM_VELOCITY_MAX), "gravity", "components within 1e6");
    world->state.gravity = gravity;
    cm_wake_all(world);
    return CAROM_OK;
}

carom_result carom_world_set_softness(carom_world *world, float epsilon, float gamma)
{
    carom_error *error = &world->error;
    bool lcp = world->state.solver == CAROM_SOLVER_LCP;
    CM_FIELD(lcp ? CAROM_OK : CAROM_ERROR_STATE, "solver", "lcp");
    CM_FIELD(cm_check_float(epsilon, 0.0f, CAROM_SOFTNESS_MAX), "epsilon", "0 or more");
    CM_FIELD(cm_check_float(gamma, 0.0f, 1.0f), "gamma", "0 to 1");
    world->state.epsilon = epsilon;
    world->state.gamma = gamma;
    cm_wake_all(world);
    return CAROM_OK;
}

carom_limits carom_world_limits(const carom_world *world)
{
    return world->limits;
}

uint64_t carom_world_random(carom_world *world)
{
    return cm_rng_step(world->state.random);
}

const carom_contact_event *carom_world_contact_events(const carom_world *world, uint32_t *count)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    *count = world->event_count;
    return scratch.events;
}

const carom_hit_event *carom_world_hit_events(const carom_world *world, uint32_t *count)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    *count = world->hit_event_count;
    return cm_hits(&scratch);
}

void carom_world_clear_events(carom_world *world)
{
    world->event_count = 0;
    world->joint_event_count = 0;
    world->sleep_event_count = 0;
    world->hit_event_count = 0;
}

void carom_world_stats_get(const carom_world *world, carom_world_stats *stats)
{
    *stats = world->stats;
    stats->bodies = 0;
    stats->shapes = 0;
    stats->touching = 0;
    stats->points = 0;
    stats->sleeping = 0;
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        stats->bodies += cm_bodies(world)[i].alive;
        stats->sleeping += cm_body_is_asleep(&cm_bodies(world)[i]);
    }
    for (uint32_t i = 0; i < world->state.shape_slots; i++) {
        stats->shapes += cm_shapes(world)[i].alive;
    }
    stats->joints = 0;
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        stats->joints += cm_joints(world)[i].alive;
    }
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    stats->islands = cm_islands_count(world, scratch.parents);
    stats->contacts = cm_section_rows(world, CM_SECTION_contact);
    cm_contact_run run = {0};
    while (cm_contacts_next(world, &run)) {
        const cm_contact *contacts =
            cm_contact_row(world, CM_SECTION_contact, run.resting, run.row, sizeof *contacts);
        for (uint32_t i = 0; i < run.rows; i++) {
            stats->touching += contacts[i].touching;
            stats->points += contacts[i].point_count;
        }
    }
}

void carom_world_set_clock(carom_world *world, double (*clock)(void *), void *context)
{
    world->clock = clock;
    world->clock_context = context;
}

carom_result carom_world_set_lanes(carom_world *world, uint32_t lanes)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    bool known = lanes == 0 || lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16;
    CM_WANT(known, "lanes", "0, 1, 4, 8 or 16");
    world->lanes = lanes;
    return CAROM_OK;
}
