// Falling asleep and waking. See sleep.h; islands are island.c.
//
// A body that sleeps carries the lowest slot of those that fell asleep with it (cm_body.island):
// waking is a walk over the bodies, and needs no list. All else goes over active bodies. A touch
// wakes within the step, between collide and solve, so that nothing ever hits a wall that would
// have given way. Typical: of 1,000 bodies 990 asleep.
#include "shared/sim/step/sleep.h"

#include "shared/sim/solve/solver.h"
#include "shared/sim/state/awake.h"
#include "shared/sim/state/resting.h"

#include <string.h>

// A solver's row of the table says if bodies may sleep. A game's rows and forces may
// act on any body in any step, and islands do not know them: under them nothing sleeps.
static bool may_sleep(const carom_world *world)
{
    bool is_driven = world->rows.rows != NULL || world->rows.forces != NULL;
    return !is_driven && (world->state.flags & CM_WORLD_SLEEP) &&
           cm_solver_of(world->state.solver)->sleeps;
}

// Waking within a step ---------------------------------------------------------------------------

static void add_event(carom_world *world, cm_scratch *scratch, uint32_t slot, bool asleep)
{
    carom_sleep_event *event = &scratch->sleep_events[world->sleep_event_count++];
    *event = (carom_sleep_event){0};
    event->body = (carom_body_id){slot, cm_bodies(world)[slot].generation};
    event->asleep = asleep;
}

// Lists who is active, in ascending order.
static void list_active(carom_world *world, cm_scratch *scratch)
{
    const cm_page *page = cm_pages(world, CM_SECTION_body);
    uint32_t count = 0;
    for (uint32_t i = 0, pages = cm_body_pages(world); i < pages; i++, page++) {
        for (uint64_t bits = page->moving | page->noted; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * CM_PAGE_ROWS + (uint32_t)__builtin_ctzll(bits);
            scratch->awake[count] = slot;
            count += scratch->active[slot];
        }
    }
    scratch->active_count = count;
}

// A body may be woken by a call and by a touch only once a step, and fall asleep once: room for two
// events each.
static void wake_marked(carom_world *world, cm_scratch *scratch)
{
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        const cm_body *body = &cm_bodies(world)[i];
        if (cm_body_is_asleep(body) && scratch->marks[body->island]) {
            cm_wake_row(world, i);
            add_event(world, scratch, i, false);
        }
    }
    cm_bodies_look(world);
    scratch->sleeping_count = world->known.asleep;
    list_active(world, scratch);
}

// Marks the island of whichever of two bodies sleeps while the other is active.
static bool mark(const carom_world *world, cm_scratch *scratch, uint32_t a, uint32_t b)
{
    if (scratch->active[a] == scratch->active[b]) {
        return false;
    }
    const cm_body *still = &cm_bodies(world)[scratch->active[a] ? b : a];
    if (!cm_body_is_asleep(still)) {
        return false;
    }
    scratch->marks[still->island] = 1;
    return true;
}

// Marks bodies joined to something active, and those that lay on something that a call changed.
static bool mark_held(const carom_world *world, cm_scratch *scratch, bool stirred)
{
    const cm_body *bodies = cm_bodies(world);
    const cm_shape *shapes = cm_shapes(world);
    bool any = false;
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (cm_joint_holds(joint) && joint->body_a != CM_NONE) {
            any = mark(world, scratch, joint->body_a, joint->body_b) || any;
        }
    }
    for (uint32_t i = 0; stirred && i < world->state.contact_count; i++) {
        const cm_contact *contact = &cm_contacts(world)[i];
        uint32_t a = shapes[contact->shape_a].body, b = shapes[contact->shape_b].body;
        if (contact->point_count > 0 && ((bodies[a].flags | bodies[b].flags) & CM_BODY_STIRRED)) {
            any = mark(world, scratch, a, b) || any;
        }
    }
    return any;
}

// Tells of bodies that a call woke; returns true if something that is not dynamic was changed.
static bool tell_woken(carom_world *world, cm_scratch *scratch)
{
    const cm_body *bodies = cm_bodies(world);
    bool stirred = false;
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        const cm_body *body = &bodies[scratch->awake[k]];
        if (!(body->flags & CM_BODY_STIRRED)) {
            continue;
        }
        if (body->type == CAROM_BODY_DYNAMIC) {
            add_event(world, scratch, scratch->awake[k], false);
        } else {
            stirred = true;
        }
    }
    return stirred;
}

static void wake(carom_world *world, cm_scratch *scratch, cm_turns turns)
{
    list_active(world, scratch);
    bool stirred = tell_woken(world, scratch);
    scratch->sleeping_count = world->known.asleep;
    if (scratch->sleeping_count == 0) {
        cm_contacts_wake(world, true); // of what is neither dynamic nor moves: they go
        return;
    }
    if (turns.rose) {
        cm_contacts_wake(world, false);
    }
    if (turns.fell) {
        cm_contacts_rest(world);
    }
    if (!may_sleep(world)) {
        memset(scratch->marks, 1, world->state.body_slots);
    } else if (world->state.joint_slots == 0 && !stirred) {
        return;
    } else {
        memset(scratch->marks, 0, world->state.body_slots);
    }
    if (mark_held(world, scratch, stirred) || !may_sleep(world)) {
        wake_marked(world, scratch);
        cm_contacts_wake(world, false);
    }
}

bool cm_stage_wake(carom_world *world, cm_scratch *scratch)
{
    world->sleep_event_count = 0;
    cm_turns turns = cm_bodies_look(world);
    bool any = turns.any || (world->known.asleep > 0 && !may_sleep(world));
    if (any) {
        wake(world, scratch, turns);
    }
    return any;
}

// A solver looks ahead in a tick: what would meet before then it stops at the surface.
typedef struct outlook {
    float dt;    // s, of a tick
    float ahead; // s
    float fall;  // s^2: an acceleration's way until then, by steps of velocity, then of pose
} outlook;

static outlook look_ahead(const carom_world *world)
{
    const cm_solver *solver = cm_solver_of(world->state.solver);
    uint32_t own = world->state.substeps;
    float dt = 1.0f / (float)world->state.tick_rate;
    float h = dt / (float)(own != 0 ? own : solver->least_substeps);
    float ahead = solver->relaxes ? dt + h : dt;
    return (outlook){dt, ahead, 0.5f * ahead * (ahead + h)};
}

// Of forces, m/s^2.
static carom_vec3 acceleration(const carom_world *world, const cm_scratch *scratch, uint32_t slot)
{
    const cm_body *body = &cm_bodies(world)[slot];
    if (!scratch->active[slot] || body->type != CAROM_BODY_DYNAMIC) {
        return cm_vec(0.0f, 0.0f, 0.0f);
    }
    carom_vec3 force = cm_add(body->force, body->applied_force);
    return cm_add(cm_scale(body->gravity_scale, world->state.gravity),
                  cm_scale(1.0f / body->mass, force));
}

// The surfaces touch, or meet within what the solver looks ahead: it takes a sleeper for a wall, so
// the one that is struck must be awake by then. A body in free fall meets sooner by its forces; one
// that is held has none of the speed that they give, and they do not count.
static bool meets(const carom_world *world, const cm_scratch *scratch, const outlook *look,
                  const cm_contact *contact, const cm_manifold *m)
{
    const cm_motion *a = &cm_motions(world)[m->body_a], *b = &cm_motions(world)[m->body_b];
    float pull = cm_dot(
        cm_sub(acceleration(world, scratch, m->body_b), acceleration(world, scratch, m->body_a)),
        m->normal);
    pull = cm_min(pull, 0.0f);
    bool now = contact->touching != 0;
    for (uint32_t i = 0; i < m->point_count; i++) {
        const cm_manifold_point *p = &m->points[i];
        carom_vec3 va = cm_add(a->linear_velocity, cm_cross(a->angular_velocity, p->anchor_a));
        carom_vec3 vb = cm_add(b->linear_velocity, cm_cross(b->angular_velocity, p->anchor_b));
        float approach = cm_min(cm_dot(cm_sub(vb, va), m->normal), 0.0f);
        float way =
            look->ahead * approach + (approach <= look->dt * pull ? look->fall * pull : 0.0f);
        now = now || p->separation + way <= 0.0f;
    }
    return now;
}

bool cm_stage_touch(carom_world *world, cm_scratch *scratch)
{
    if (scratch->sleeping_count == 0) {
        return false;
    }
    bool any = false;
    outlook look = look_ahead(world);
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_manifold *m = &scratch->manifolds[i];
        if (m->point_count > 0 && scratch->active[m->body_a] != scratch->active[m->body_b] &&
            meets(world, scratch, &look, &cm_contacts(world)[i], m)) {
            if (!any) {
                memset(scratch->marks, 0, world->state.body_slots);
            }
            any = mark(world, scratch, m->body_a, m->body_b) || any;
        }
    }
    if (any) {
        wake_marked(world, scratch);
    }
    return any;
}

// Falling asleep ---------------------------------------------------------------------------------

// Its outermost points are slow: they lie at about the square root of three radii of gyration.
static bool is_quiet(const cm_motion *motion, const cm_body *body)
{
    float inertia = cm_max(body->inertia.x, cm_max(body->inertia.y, body->inertia.z));
    float reach = 3.0f * inertia / body->mass;
    return cm_length_squared(motion->linear_velocity) +
               reach * cm_length_squared(motion->angular_velocity) <
           CM_SLEEP_SPEED * CM_SLEEP_SPEED;
}

// Counts up the time at rest; returns how many have rested long enough.
static uint32_t count_rest(carom_world *world, const cm_scratch *scratch)
{
    const cm_motion *motions = cm_motions(world);
    const cm_body *bodies = cm_bodies(world);
    float dt = 1.0f / (float)world->state.tick_rate;
    uint32_t ready = 0;
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        uint32_t i = scratch->awake[k];
        const cm_body *body = &bodies[i];
        if (body->type != CAROM_BODY_DYNAMIC) {
            continue;
        }
        bool rests = (body->flags & CM_BODY_SLEEP) && is_quiet(&motions[i], body);
        float quiet = rests ? cm_min(body->quiet + dt, CM_SLEEP_TIME) : 0.0f;
        cm_body_set_quiet(world, i, quiet);
        ready += quiet >= CM_SLEEP_TIME;
    }
    return ready;
}

void cm_stage_sleep(carom_world *world, cm_scratch *scratch)
{
    if (!may_sleep(world) || count_rest(world, scratch) == 0) {
        return;
    }
    cm_islands_build(world, scratch, scratch->parents, scratch->marks);
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        uint32_t i = scratch->awake[k];
        if (cm_bodies(world)[i].type != CAROM_BODY_DYNAMIC) {
            continue;
        }
        uint32_t root = cm_island_root(scratch->parents, i);
        if (!(scratch->marks[root] & CM_ISLAND_WAKE)) {
            cm_motion *motion = &cm_motions(world)[i];
            motion->linear_velocity = motion->angular_velocity = cm_vec(0.0f, 0.0f, 0.0f);
            cm_body *body = cm_body_change(world, i);
            body->flags |= CM_BODY_ASLEEP;
            body->island = root;
            body->quiet = 0.0f;
            add_event(world, scratch, i, true);
        }
    }
}

void cm_activate_all(const carom_world *world, cm_scratch *scratch)
{
    scratch->active = scratch->marks; // what is known of bodies stays
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        scratch->active[i] = cm_bodies(world)[i].type != CAROM_BODY_STATIC;
    }
}

const carom_sleep_event *carom_world_sleep_events(const carom_world *world, uint32_t *count)
{
    cm_scratch scratch;
    cm_scratch_map(world, &scratch);
    *count = world->sleep_event_count;
    return scratch.sleep_events;
}
