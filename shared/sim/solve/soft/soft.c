// The soft-step solver: the order of its passes, its scratch, and how many lanes it uses.
//
// Scratch: groups | specials | bodies | inertias | blocks | colours taken | busy | runs | links |
// blows | hit | joints (joint.h), each on a cache line. A substep: forces and the contacts'
// impulses of the last one, solve, poses, relax. The impulses of the last tick are applied contact
// by contact in the first substep only: after that what they do to a body is known as a sum
// (cm_soft_block). Joints come before contacts; what they do is no part of that sum.
#include "shared/sim/solve/soft/soft.h"

#include "shared/base/processor.h"
#include "shared/sim/solve/report.h"
#include "shared/sim/solve/soft/joint.h"
#include "shared/sim/solve/solver.h"

// Of small overlaps; larger ones are stiffer (CM_SOFT_STIFFENING). Stiffer everywhere, or damped
// more, stacks hum: where n contacts hold two layers apart their springs add up, their damping does
// not, since the first ends the relative velocity: (2 pi hertz h)^2 n must stay below 2 or so. 38
// Hz is that at 60 ticks a second; CONTACT_HERTZ_MOST is its part of the substeps' rate. Softer, or
// damped less, a column of thirty sways more as it settles.
#define CONTACT_HERTZ         38.0f
#define CONTACT_HERTZ_MOST    0.16f
#define CONTACT_DAMPING_RATIO 4.4f
// Substeps that are left open: limits of a tick's; substeps a second that go with CONTACT_HERTZ,
// the part of them that will do, and the least refinement, which slow ticks go by; points from
// which on a contact is a face; ratio of masses that stands without more; so many cubes on each
// other press the lowest one no more than it may be; substeps a second times the root of size over
// gravity; how fast contacts become stiffer and softer, 1/s; and the part of it to which a demand
// falls before they do.
#define LEAST_SUBSTEPS   4u
#define MOST_SUBSTEPS    16u
#define REFINED_RATE     240.0f
#define SLACK            0.8f
#define LEAST_REFINEMENT 0.5f
#define FACE_POINTS      3u
#define STACK_HEIGHT     15.0f
#define PRESSED_HEIGHT   90.0f
#define STACK_RATE       45.0f
#define REFINE_RATE      5.0f
#define COARSEN_RATE     0.3f
#define COARSEN_BELOW    0.7f

static size_t line(size_t size)
{
    return (size + CM_CACHE_LINE - 1) / CM_CACHE_LINE * CM_CACHE_LINE;
}

// The next array: where it starts, or NULL where only the size is asked for.
static void *take(char *base, size_t *offset, size_t size)
{
    void *start = base ? base + *offset : NULL;
    *offset += line(size);
    return start;
}

// Whole blocks for that many bodies and one more row.
static uint32_t blocks_of(uint32_t bodies)
{
    return bodies / CM_SOFT_LANES + 1;
}

static size_t walk(const carom_limits *limits, char *base, cm_soft *soft)
{
    size_t offset = 0, bodies = blocks_of(limits->bodies) * (size_t)CM_SOFT_LANES;
    soft->groups = take(base, &offset, cm_soft_group_limit(limits) * sizeof(cm_soft_group));
    soft->specials = take(base, &offset, cm_soft_group_limit(limits) * sizeof(cm_soft_special));
    soft->bodies = take(base, &offset, bodies * sizeof(cm_soft_body));
    soft->inertias = take(base, &offset, bodies * sizeof(cm_soft_inertia));
    soft->blocks = take(base, &offset, bodies / CM_SOFT_LANES * sizeof(cm_soft_block));
    soft->taken = take(base, &offset, 2 * bodies * sizeof(uint32_t));
    soft->busy = take(base, &offset, bodies / CM_SOFT_LANES);
    soft->runs = take(base, &offset, bodies / CM_SOFT_LANES * sizeof(cm_soft_blocks));
    soft->links = take(base, &offset, limits->contacts * sizeof(cm_soft_link));
    soft->blows = take(base, &offset, limits->contacts * sizeof(uint32_t));
    soft->hit = take(base, &offset, bodies);
    soft->joint_memory = take(base, &offset, cm_soft_joints_size(limits));
    return offset;
}

static size_t scratch_size(const carom_limits *limits, const carom_solver_def *def)
{
    (void)def; // sized by the limits alone
    cm_soft unused = {0};
    return walk(limits, NULL, &unused);
}

// Any width gives the same bits; a test names one, else the processor decides.
static const cm_soft_passes *choose_passes(uint32_t lanes)
{
#if defined(__x86_64__) || defined(__i386__)
    if ((lanes >= 8 || lanes == 0) && cm_processor_lanes() >= 8) {
        return &cm_soft_passes_8;
    }
    return lanes == 1 ? &cm_soft_passes_1 : &cm_soft_passes_4;
#elif defined(__aarch64__) || defined(__wasm_simd128__)
    return lanes == 1 ? &cm_soft_passes_1 : &cm_soft_passes_4;
#else
    return lanes > 1 ? &cm_soft_passes_4 : &cm_soft_passes_1;
#endif
}

// Contacts are many enough to fill more lanes than bodies and joints do.
static const cm_soft_passes *choose_contact_passes(uint32_t lanes)
{
#if defined(__x86_64__)
    if ((lanes == 16 || lanes == 0) && cm_processor_lanes() == 16) {
        return &cm_soft_passes_16;
    }
#endif
    return choose_passes(lanes);
}

// A spring's stiffness and damping as factors of a velocity constraint (E. Catto, "Soft
// Constraints", GDC 2011).
static cm_softness make_soft(float hertz, float damping_ratio, float h)
{
    float omega = 2.0f * 3.14159265f * hertz;
    float a1 = 2.0f * damping_ratio + h * omega, a2 = h * omega * a1, a3 = 1.0f / (1.0f + a2);
    return (cm_softness){omega / a1, a2 * a3, a3};
}

// About the side of what a shape covers where it lies flat: of a box the mean of its two longest.
static float face_size(const cm_shape_transform *transform)
{
    float outer = transform->reach, inner = transform->inner_radius;
    return transform->hull == NULL ? outer - inner
                                   : cm_sqrt(2.0f * (outer * outer - inner * inner));
}

static bool is_dynamic(const cm_soft *soft, uint32_t body)
{
    return soft->states[body].type == CAROM_BODY_DYNAMIC;
}

// The normal force that a contact bears in a world's first tick, when none is known: what moves
// stands in as many columns as there are contacts with what does not. N
static float presumed_load(const carom_world *world, const cm_scratch *scratch, const cm_soft *soft)
{
    float mass = 0.0f, columns = 0.0f;
    for (uint32_t i = 0; i < soft->body_count; i++) {
        mass += soft->states[i].alive && is_dynamic(soft, i) ? soft->states[i].mass : 0.0f;
    }
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_manifold *m = &scratch->manifolds[i];
        columns += m->point_count > 0 && is_dynamic(soft, m->body_a) != is_dynamic(soft, m->body_b);
    }
    return columns > 0.0f ? cm_length(world->state.gravity) * mass / columns : 0.0f;
}

// The normal force of a contact in the last tick, N: a match names points beyond its own too.
static float last_load(const cm_soft *soft, const cm_soft_point *old, const cm_contact_match *match,
                       uint32_t count)
{
    float sum = 0.0f;
    for (uint32_t k = 0; match->row != CM_NONE && k < count; k++) {
        if (match->point[k] != CM_NO_POINT) {
            sum += old[match->first_point + match->point[k]].normal_impulse;
        }
    }
    return sum * (float)LEAST_SUBSTEPS / soft->dt;
}

// A face between two bodies that move asks for springs of w rad/s, in w^2: 1/s^2. They let a stack
// of cubes of size L buckle at a height that goes with L w^2 / g: so small stacks stand as large
// ones do if w goes with sqrt(g / L), as in volume (carom_volume_substeps). A heavy body on a light
// one is like a stack. And springs give way by the load over w^2, which must stay a part of what is
// thin.
static float asked_by_face(const carom_world *world, const cm_scratch *scratch, const cm_soft *soft,
                           uint32_t row, float presumed)
{
    const cm_manifold *m = &scratch->manifolds[row];
    const cm_contact *contact = &cm_contacts(world)[row];
    const cm_shape_transform *shape_a = &scratch->transforms[contact->shape_a];
    const cm_shape_transform *shape_b = &scratch->transforms[contact->shape_b];
    float size = cm_min(face_size(shape_a), face_size(shape_b));
    float thickness = 2.0f * cm_min(shape_a->inner_radius, shape_b->inner_radius);
    float a = soft->states[m->body_a].mass, b = soft->states[m->body_b].mass, light = cm_min(a, b);
    float ratio = cm_max(cm_max(a, b) / (light * STACK_HEIGHT), 1.0f);
    float load = last_load(soft, cm_old_rows(world, CM_SECTION_soft_point), &scratch->matches[row],
                           m->point_count);
    load = cm_max(load, presumed);
    return cm_max(cm_length(world->state.gravity) * ratio / size,
                  load / (light * PRESSED_HEIGHT * thickness));
}

// Refinement is the frequency of contacts over CONTACT_HERTZ: by powers of two, so that it does not
// follow loads as they swing.
static float step_up(float wanted)
{
    float refinement = LEAST_REFINEMENT;
    while (refinement < wanted && refinement < CM_REFINEMENT_MAX) {
        refinement *= 2.0f;
    }
    return refinement;
}

// The refinement of this tick, as the face asks that asks for most: at once in a world's first tick
// and where something wakes, which rests on stiff springs; else it rises within some ticks, so that
// a blow stores no energy, and falls within seconds, so that what stands elsewhere sinks gently.
static float refine(const carom_world *world, const cm_scratch *scratch, const cm_soft *soft)
{
    float now = world->state.refinement, most = 0.0f;
    float presumed = now == 0.0f ? presumed_load(world, scratch, soft) : 0.0f;
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_manifold *m = &scratch->manifolds[i];
        if (m->point_count >= FACE_POINTS && is_dynamic(soft, m->body_a) &&
            is_dynamic(soft, m->body_b)) {
            most = cm_max(most, asked_by_face(world, scratch, soft, i, presumed));
        }
    }
    float wanted = STACK_RATE * cm_sqrt(most) / REFINED_RATE;
    float target = step_up(wanted), lower = step_up(wanted / COARSEN_BELOW);
    if (now == 0.0f || (target > now && world->sleep_event_count > 0)) {
        return target;
    }
    if (target > now) {
        return cm_min(target, now * (1.0f + REFINE_RATE * soft->dt));
    }
    return lower < now ? cm_max(lower, now / (1.0f + COARSEN_RATE * soft->dt)) : now;
}

// Open substeps are as many as springs of that stiffness need; doubled, so that impulses are scaled
// without rounding.
static void choose_substeps(carom_world *world, const cm_scratch *scratch, cm_soft *soft)
{
    float refinement = 1.0f;
    soft->substeps = world->state.substeps;
    soft->refined = 1.0f;
    if (soft->substeps == 0) {
        world->state.refinement = refinement = refine(world, scratch, soft);
        soft->substeps = LEAST_SUBSTEPS;
        float rate = SLACK * REFINED_RATE * refinement;
        while (soft->substeps < MOST_SUBSTEPS && (float)soft->substeps < rate * soft->dt) {
            soft->substeps *= 2;
        }
        soft->refined = (float)(soft->substeps / LEAST_SUBSTEPS);
    }
    soft->h = soft->dt / (float)soft->substeps;
    float hertz = cm_min(cm_max(refinement, 1.0f) * CONTACT_HERTZ, CONTACT_HERTZ_MOST / soft->h);
    soft->softness[0] = make_soft(hertz, CONTACT_DAMPING_RATIO, soft->h);
    soft->softness[1] = make_soft(2.0f * hertz, CONTACT_DAMPING_RATIO, soft->h);
}

static cm_soft map_soft(carom_world *world, const cm_scratch *scratch)
{
    cm_soft soft = {0};
    walk(&world->limits, scratch->solver, &soft);
    soft.manifolds = scratch->manifolds;
    soft.contacts = cm_rows(world, CM_SECTION_soft_contact);
    soft.points = cm_rows(world, CM_SECTION_soft_point);
    soft.body_count = world->state.body_slots;
    soft.block_count = blocks_of(soft.body_count);
    soft.states = cm_bodies(world);
    soft.dt = 1.0f / (float)world->state.tick_rate;
    choose_substeps(world, scratch, &soft);
    soft.restitution_threshold = world->state.restitution_threshold;
    soft.gravity = world->state.gravity;
    soft.motions = cm_motions(world);
    cm_soft_map_joints(&world->limits, soft.joint_memory, &soft);
    soft.passes = choose_passes(world->lanes);
    soft.contact_passes = choose_contact_passes(world->lanes);
    soft.single = &cm_soft_passes_1;
    return soft;
}

// Joints make their own warm start: what they do is kept out of the contacts' delta.
static void solve_joints(cm_soft *soft, bool relax)
{
    if (!cm_soft_has_joints(soft)) {
        return;
    }
    bool touching = soft->ranges.end > 0; // else contacts have no delta
    if (touching) {
        cm_soft_move(soft, CM_SOFT_FLIP);
    }
    if (!relax) {
        cm_soft_warm_start_joints(soft);
    }
    cm_soft_solve_joints(soft, relax);
    if (touching) {
        cm_soft_move(soft, CM_SOFT_FLIP);
    }
}

// Impulses are kept from tick to tick as those of a substep of LEAST_SUBSTEPS.
static void scale_impulses(carom_world *world, cm_soft *soft, float by)
{
    if (soft->refined == 1.0f) {
        return;
    }
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        cm_soft_contact *contact = &soft->contacts[i];
        contact->friction_impulse = cm_scale(by, contact->friction_impulse);
        contact->twist_impulse *= by;
    }
    for (uint32_t i = 0; i < world->state.point_count; i++) {
        soft->points[i].normal_impulse *= by;
    }
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        for (uint32_t k = 0; k < CM_JOINT_ROWS_MAX; k++) {
            cm_joints(world)[i].impulse[k] *= by;
        }
    }
}

static void solve(carom_world *world, cm_scratch *scratch)
{
    double at = cm_clock(world);

    cm_soft soft = map_soft(world, scratch);
    cm_soft_prepare_bodies(world, scratch, &soft);
    cm_soft_match_impulses(world, scratch, &soft);
    scale_impulses(world, &soft, 1.0f / soft.refined);
    cm_soft_color_contacts(world, scratch, &soft);
    cm_soft_build_groups(&soft);
    cm_soft_pack_specials(world, scratch, &soft);
    cm_soft_prepare_joints(world, &soft);
    cm_lap(world, &at, CAROM_STAGE_PREPARE);
    for (uint32_t i = 0; i < soft.substeps; i++) {
        cm_soft_move(&soft, CM_SOFT_VELOCITIES);
        cm_lap(world, &at, CAROM_STAGE_INTEGRATE);
        if (i == 0) {
            cm_soft_run(&soft, CM_SOFT_PREPARE);
            cm_soft_find_blows(world, &soft);
            cm_lap(world, &at, CAROM_STAGE_PREPARE);
        }
        solve_joints(&soft, false);
        cm_soft_run(&soft, CM_SOFT_SOLVE);
        cm_lap(world, &at, CAROM_STAGE_SOLVE);
        cm_soft_move(&soft, CM_SOFT_POSES);
        cm_lap(world, &at, CAROM_STAGE_INTEGRATE);
        solve_joints(&soft, true);
        cm_soft_run(&soft, CM_SOFT_RELAX);
        cm_lap(world, &at, CAROM_STAGE_RELAX);
    }
    cm_soft_run(&soft, CM_SOFT_BOUNCE);
    cm_soft_forget_blows(&soft);
    cm_soft_run(&soft, CM_SOFT_FINISH);
    cm_lap(world, &at, CAROM_STAGE_SOLVE);
    cm_soft_store_wrenches(world, &soft);
    cm_soft_store_joints(world, &soft);
    scale_impulses(world, &soft, soft.refined);
    cm_report_contacts(world, scratch);
    cm_soft_store_bodies(world, &soft);
    cm_lap(world, &at, CAROM_STAGE_INTEGRATE);
}

const cm_solver cm_solver_soft = {
    .remembers = CM_REMEMBERS(CM_SECTION_contact) | CM_REMEMBERS(CM_SECTION_feature) |
                 CM_REMEMBERS(CM_SECTION_manifold) | CM_REMEMBERS(CM_SECTION_kept_point) |
                 CM_REMEMBERS(CM_SECTION_soft_contact) | CM_REMEMBERS(CM_SECTION_soft_point),
    .manifolds = true,
    .sleeps = true,
    .least_substeps = LEAST_SUBSTEPS,
    .relaxes = true,
    .solve = solve,
    .scratch_size = scratch_size,
    .rules = &cm_soft_rules,
};
