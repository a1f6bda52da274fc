// Slots: finding, taking and freeing rows, so that no row names one that is gone; see slots.h.
//
// Some hundreds of bodies a world, made and destroyed rarely; contacts are removed in one pass in
// which their order is kept.
#include "shared/sim/state/slots.h"

#include "shared/sim/state/awake.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/resting.h"
#include "shared/sim/state/wake.h"

#include <string.h>

// Finding ----------------------------------------------------------------------------------------

const cm_body *cm_body_find(const carom_world *world, carom_body_id id)
{
    if (id.generation == 0 || id.index >= world->state.body_slots) {
        return NULL;
    }
    const cm_body *body = &cm_bodies(world)[id.index];
    return body->alive && body->generation == id.generation ? body : NULL;
}

const cm_shape *cm_shape_find(const carom_world *world, carom_shape_id id)
{
    if (id.generation == 0 || id.index >= world->state.shape_slots) {
        return NULL;
    }
    const cm_shape *shape = &cm_shapes(world)[id.index];
    return shape->alive && shape->generation == id.generation ? shape : NULL;
}

cm_joint *cm_joint_find(const carom_world *world, carom_joint_id id)
{
    if (id.generation == 0 || id.index >= world->state.joint_slots) {
        return NULL;
    }
    cm_joint *joint = &cm_joints(world)[id.index];
    return joint->alive && joint->generation == id.generation ? joint : NULL;
}

const carom_hull *cm_hull_find(const carom_world *world, uint64_t id)
{
    uint32_t low = 0, high = world->hull_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t here = world->hulls[middle]->id;
        if (here == id) {
            return world->hulls[middle];
        }
        if (here < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

carom_body_id cm_body_id(const carom_world *world, uint32_t slot)
{
    if (slot == CM_NONE) {
        return (carom_body_id){0, 0};
    }
    return (carom_body_id){slot, cm_bodies(world)[slot].generation};
}

// Taking -----------------------------------------------------------------------------------------

// Returns true if a slot below those that were ever used is free.
static inline bool is_free(uint32_t alive, uint32_t generation)
{
    return !alive && generation != UINT32_MAX;
}

uint32_t cm_body_free_slot(carom_world *world)
{
    const cm_body *bodies = cm_bodies(world);
    uint32_t slot = world->taken.bodies;
    while (slot < world->state.body_slots &&
           !is_free(bodies[slot].alive, bodies[slot].generation)) {
        slot++;
    }
    world->taken.bodies = slot;
    return slot < world->limits.bodies ? slot : CM_NONE;
}

uint32_t cm_shape_free_slot(carom_world *world, uint32_t from)
{
    const cm_shape *shapes = cm_shapes(world);
    uint32_t taken = world->taken.shapes, slot = from < taken ? taken : from;
    while (slot < world->state.shape_slots &&
           !is_free(shapes[slot].alive, shapes[slot].generation)) {
        slot++;
    }
    if (from <= taken) {
        world->taken.shapes = slot;
    }
    return slot < world->limits.shapes ? slot : CM_NONE;
}

uint32_t cm_joint_free_slot(carom_world *world)
{
    const cm_joint *joints = cm_joints(world);
    uint32_t slot = world->taken.joints;
    while (slot < world->state.joint_slots &&
           !is_free(joints[slot].alive, joints[slot].generation)) {
        slot++;
    }
    world->taken.joints = slot;
    return slot < world->limits.joints ? slot : CM_NONE;
}

void cm_slots_forget(carom_world *world)
{
    world->taken.bodies = world->taken.shapes = world->taken.joints = 0;
}

// A slot was freed: what is known to be taken ends below it.
static void was_freed(uint32_t *taken, uint32_t slot)
{
    *taken = *taken < slot ? *taken : slot;
}

void cm_body_grow(carom_world *world, uint32_t slot)
{
    uint32_t slots = world->state.body_slots;
    if (slot >= slots) {
        memset(cm_motions(world) + slots, 0, (slot + 1 - slots) * sizeof(cm_motion));
        for (; slots <= slot; slots++) {
            memset(cm_body_change(world, slots), 0, sizeof(cm_body));
        }
        world->state.body_slots = slot + 1;
    }
}

void cm_shape_grow(carom_world *world, uint32_t slot)
{
    uint32_t slots = world->state.shape_slots;
    if (slot >= slots) {
        for (; slots <= slot; slots++) {
            memset(cm_shape_change(world, slots), 0, sizeof(cm_shape));
        }
        world->state.shape_slots = slot + 1;
    }
}

// Freeing ----------------------------------------------------------------------------------------

void cm_joint_wake_ends(carom_world *world, const cm_joint *joint)
{
    cm_wake_body(world, joint->body_b);
    if (joint->body_a != CM_NONE) {
        cm_wake_body(world, joint->body_a);
    }
}

void cm_joint_remove(carom_world *world, uint32_t slot)
{
    cm_joint *joint = &cm_joints(world)[slot];
    cm_joint_wake_ends(world, joint);
    uint32_t generation = joint->generation;
    memset(joint, 0, sizeof *joint);
    joint->generation = generation;
    was_freed(&world->taken.joints, slot);
}

// The joints of live bodies stay.
static void drop_dead_joints(carom_world *world)
{
    const cm_body *bodies = cm_bodies(world);
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        bool lost = joint->alive && (!bodies[joint->body_b].alive ||
                                     (joint->body_a != CM_NONE && !bodies[joint->body_a].alive));
        if (lost) {
            cm_joint_remove(world, i);
        }
    }
}

// The contacts of live shapes only, in their order; none of those at rest is of a dead one.
static void drop_dead_contacts(carom_world *world)
{
    const cm_shape *shapes = cm_shapes(world);
    const cm_contact *contacts = cm_contacts(world);
    cm_contact_at kept = {0}, from = {0};
    while (from.row < world->state.contact_count) {
        const cm_contact *contact = &contacts[from.row];
        if (shapes[contact->shape_a].alive && shapes[contact->shape_b].alive) {
            cm_contacts_move(world, &kept, &from);
        } else {
            from.point += contact->point_count;
            from.row++;
        }
    }
    world->state.contact_count = kept.row;
    world->state.point_count = kept.point;
}

// The rules that name a body go with it.
static void drop_rules_of(carom_world *world, uint32_t slot)
{
    cm_rule *rules = cm_rules(world);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->state.rule_count; i++) {
        const cm_rule *rule = &rules[i];
        bool names =
            ((rule->kinds & 1u) && rule->a == slot) || ((rule->kinds & 2u) && rule->b == slot);
        if (!names) {
            rules[kept++] = *rule;
        }
    }
    world->state.rule_count = kept;
}

void cm_body_clear(carom_world *world, uint32_t slot)
{
    cm_body *body = cm_body_change(world, slot);
    cm_query_forget(world);
    cm_wake_body(world, slot);
    cm_wake_neighbours(world, slot);
    cm_active(world)[slot] = 1; // until somebody looks: its contacts do not rest
    cm_contacts_wake(world, false);
    uint32_t shape = body->first_shape;
    while (shape != CM_NONE) {
        cm_shape *row = cm_shape_change(world, shape);
        uint32_t generation = row->generation;
        was_freed(&world->taken.shapes, shape);
        shape = row->next;
        memset(row, 0, sizeof *row);
        row->generation = generation;
    }
    uint32_t generation = body->generation;
    memset(body, 0, sizeof *body);
    body->generation = generation;
    was_freed(&world->taken.bodies, slot);
    memset(&cm_motions(world)[slot], 0, sizeof(cm_motion));
    drop_dead_contacts(world);
}

void cm_body_remove(carom_world *world, uint32_t slot)
{
    cm_body_clear(world, slot);
    drop_dead_joints(world);
    drop_rules_of(world, slot);
}
