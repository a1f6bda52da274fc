// Waking by calls between steps; see wake.h.
//
// A body that sleeps carries the lowest slot of those that fell asleep with it (cm_body.island):
// waking is a walk over the bodies, and needs no list. Typical: of 1,000 bodies 990 asleep.
#include "shared/sim/state/wake.h"

#include "shared/sim/state/awake.h"
#include "shared/sim/state/resting.h"

void cm_body_set_quiet(carom_world *world, uint32_t slot, float quiet)
{
    if (memcmp(&cm_bodies(world)[slot].quiet, &quiet, sizeof quiet) != 0) {
        cm_body_tell(world, slot)->quiet = quiet;
    }
}

void cm_wake_row(carom_world *world, uint32_t slot)
{
    cm_body *body = cm_body_change(world, slot);
    body->flags &= (uint8_t)~CM_BODY_ASLEEP;
    body->island = CM_NONE;
    body->quiet = 0.0f;
}

static void wake_by_call(carom_world *world, uint32_t slot)
{
    cm_wake_row(world, slot);
    cm_body_change(world, slot)->flags |= CM_BODY_STIRRED;
}

void cm_wake_body(carom_world *world, uint32_t slot)
{
    const cm_body *bodies = cm_bodies(world);
    uint32_t island = bodies[slot].island;
    cm_body_set_quiet(world, slot, 0.0f);
    if (!cm_body_is_asleep(&bodies[slot])) {
        return;
    }
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        if (cm_body_is_asleep(&bodies[i]) && bodies[i].island == island) {
            wake_by_call(world, i);
        }
    }
}

void cm_stir_body(carom_world *world, uint32_t slot)
{
    cm_body_note(world, slot);
    // Nothing sleeps before the first tick.
    const cm_body *body = &cm_bodies(world)[slot];
    if (world->state.tick == 0 || body->type == CAROM_BODY_DYNAMIC) {
        return;
    }
    cm_body_change(world, slot)->flags |= CM_BODY_STIRRED;
    for (uint32_t at = body->first_shape; at != CM_NONE; at = cm_shapes(world)[at].next) {
        if (cm_shapes(world)[at].type == CAROM_SHAPE_PLANE) {
            cm_wake_all(world); // it may meet anything, and stands in no tree
            return;
        }
    }
}

static void wake_ends(carom_world *world, const cm_contact_run *run, uint32_t slot)
{
    const cm_shape *shapes = cm_shapes(world);
    const cm_contact *contacts =
        cm_contact_row(world, CM_SECTION_contact, run->resting, run->row, sizeof *contacts);
    for (uint32_t i = 0; i < run->rows; i++) {
        uint32_t a = shapes[contacts[i].shape_a].body, b = shapes[contacts[i].shape_b].body;
        if ((a == slot || b == slot) && contacts[i].point_count > 0) {
            cm_wake_body(world, a == slot ? b : a);
        }
    }
}

void cm_wake_neighbours(carom_world *world, uint32_t slot)
{
    cm_contact_run run = {0};
    while (cm_contacts_next(world, &run)) {
        wake_ends(world, &run, slot);
    }
    for (uint32_t i = 0; i < world->state.joint_slots; i++) {
        const cm_joint *joint = &cm_joints(world)[i];
        if (cm_joint_holds(joint) && joint->body_a != CM_NONE &&
            (joint->body_a == slot || joint->body_b == slot)) {
            cm_wake_body(world, joint->body_a == slot ? joint->body_b : joint->body_a);
        }
    }
}

void cm_wake_all(carom_world *world)
{
    for (uint32_t i = 0; i < world->state.body_slots; i++) {
        if (cm_body_is_asleep(&cm_bodies(world)[i])) {
            wake_by_call(world, i);
        }
    }
}
