// Islands: which bodies hang together by contacts and joints. See sleep.h.
//
// Made anew from the state where a body might fall asleep (the sets are those of state/scratch.h);
// typical: 1,000 bodies, 3,500 contacts, 20 us.
#include "shared/sim/step/sleep.h"

#include "shared/sim/body/locks.h"
#include "shared/sim/state/resting.h"

#include <string.h>

static bool is_dynamic(const carom_world *world, uint32_t slot)
{
    return cm_bodies(world)[slot].type == CAROM_BODY_DYNAMIC;
}

uint32_t cm_islands_count(const carom_world *world, uint32_t *parents)
{
    const cm_shape *shapes = cm_shapes(world);
    cm_islands_begin(parents, world->state.body_slots);
    cm_contact_run run = {0};
    while (cm_contacts_next(world, &run)) {
        const cm_contact *contacts =
            cm_contact_row(world, CM_SECTION_contact, run.resting, run.row, sizeof *contacts);
        for (uint32_t i = 0; i < run.rows; i++) {
            uint32_t a = shapes[contacts[i].shape_a].body, b = shapes[contacts[i].shape_b].body;
            if (contacts[i].touching && contacts[i].point_count > 0 && is_dynamic(world, a) &&
                is_dynamic(world, b)) {
                cm_islands_unite(parents, a, b);
            }
        }
    }
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (cm_joint_holds(joint) && joint->body_a != CM_NONE && is_dynamic(world, joint->body_a) &&
            is_dynamic(world, joint->body_b)) {
            cm_islands_unite(parents, joint->body_a, joint->body_b);
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        count += cm_bodies(world)[i].alive && is_dynamic(world, i) && parents[i] == i;
    }
    return count;
}

static bool runs(carom_vec3 velocity)
{
    return velocity.x != 0.0f || velocity.y != 0.0f || velocity.z != 0.0f;
}

// Two bodies hang together, or one of them is pushed about by what never rests. What sleeps and is
// touched wakes in the next step: until then nobody joins it.
static void hold(const carom_world *world, const cm_scratch *scratch, uint32_t *parents,
                 uint8_t *marks, uint32_t a, uint32_t b)
{
    bool pushed_a = scratch->active[a] && is_dynamic(world, a);
    bool pushed_b = scratch->active[b] && is_dynamic(world, b);
    if (pushed_a && pushed_b) {
        cm_islands_unite(parents, a, b);
    } else if (pushed_a || pushed_b) {
        uint32_t other = pushed_a ? b : a;
        bool moves = scratch->active[other] || cm_body_is_asleep(&cm_bodies(world)[other]);
        marks[pushed_a ? a : b] |= CM_ISLAND_HELD | (moves ? CM_ISLAND_WAKE : 0);
    }
}

static void hold_contacts(const carom_world *world, const cm_scratch *scratch, uint32_t *parents,
                          uint8_t *marks)
{
    const cm_shape *shapes = cm_shapes(world);
    for (uint32_t i = 0; i < world->state.contact_count; i++) {
        const cm_contact *contact = &cm_contacts(world)[i];
        const cm_manifold *m = &scratch->manifolds[i];
        if (m->point_count == 0 || !contact->touching) {
            continue;
        }
        hold(world, scratch, parents, marks, m->body_a, m->body_b);
        if (runs(shapes[contact->shape_a].surface_velocity) ||
            runs(shapes[contact->shape_b].surface_velocity)) {
            marks[m->body_a] |= CM_ISLAND_WAKE;
            marks[m->body_b] |= CM_ISLAND_WAKE;
        }
    }
}

static void hold_joints(const carom_world *world, const cm_scratch *scratch, uint32_t *parents,
                        uint8_t *marks)
{
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (!cm_joint_holds(joint)) {
            continue;
        }
        if (joint->body_a != CM_NONE) {
            hold(world, scratch, parents, marks, joint->body_a, joint->body_b);
        } else {
            marks[joint->body_b] |= CM_ISLAND_HELD;
        }
        bool driven = (joint->flags & CM_JOINT_MOTOR) &&
                      ((runs(joint->drive_linear) && joint->max_force > 0.0f) ||
                       (runs(joint->drive_angular) && joint->max_torque > 0.0f));
        driven = driven || (joint->target_velocity != 0.0f && joint->spring_max > 0.0f);
        if (driven) {
            marks[joint->body_b] |= CM_ISLAND_WAKE;
            if (joint->body_a != CM_NONE) {
                marks[joint->body_a] |= CM_ISLAND_WAKE;
            }
        }
    }
}

// Gravity, or a force that a caller holds, accelerates it where nothing bears it: slow as it is, it
// is not at rest.
static bool is_driven(const carom_world *world, const cm_body *body)
{
    uint32_t locks = cm_locks_of(world, body);
    carom_vec3 weight = cm_scale(body->gravity_scale, world->state.gravity);
    return runs(cm_unlocked(locks, cm_add(weight, body->force))) ||
           runs(cm_unlocked(locks >> 3, body->torque));
}

void cm_islands_build(const carom_world *world, const cm_scratch *scratch, uint32_t *parents,
                      uint8_t *marks)
{
    const cm_body *bodies = cm_bodies(world);
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        uint32_t i = scratch->awake[k];
        parents[i] = i;
        marks[i] = 0;
    }
    hold_contacts(world, scratch, parents, marks);
    hold_joints(world, scratch, parents, marks);
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        uint32_t i = scratch->awake[k];
        bool ready = (bodies[i].flags & CM_BODY_SLEEP) && bodies[i].quiet >= CM_SLEEP_TIME;
        if (is_dynamic(world, i)) {
            marks[cm_island_root(parents, i)] |= marks[i] | (ready ? 0 : CM_ISLAND_WAKE);
        }
    }
    for (uint32_t k = 0; k < scratch->active_count; k++) {
        uint32_t i = scratch->awake[k];
        uint8_t *mark = &marks[cm_island_root(parents, i)];
        if (is_dynamic(world, i) && *mark == 0 && is_driven(world, &bodies[i])) {
            *mark = CM_ISLAND_WAKE;
        }
    }
}
