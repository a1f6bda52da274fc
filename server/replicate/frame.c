// Compares every joint's hash with the one that was sent, once a view. Typical: 20 joints, none
// changed.
#include "server/replicate/frame.h"

#include <stdlib.h>
#include <string.h>

#include "shared/sim/inspect.h"

bool cm_frame_init(cm_frame *frame, const carom_world *world)
{
    memset(frame, 0, sizeof *frame);
    frame->capacity = carom_world_limits(world).joints;
    size_t rows = frame->capacity > 0 ? frame->capacity : 1;
    frame->announced = calloc(rows, sizeof *frame->announced);
    return frame->announced != NULL;
}

void cm_frame_free(cm_frame *frame)
{
    free(frame->announced);
    memset(frame, 0, sizeof *frame);
}

// A room that was rewound may have fewer slots: joints that were sent beyond them no longer exist.
static cm_announced_joint identify(const carom_world *world, uint32_t slot)
{
    cm_announced_joint now = {0, 0};
    if (slot < carom_world_joint_slots(world)) {
        cm_joint_identify(world, slot, &now.kind, &now.drive);
    }
    return now;
}

bool cm_frame_changes(const cm_frame *frame, const carom_world *world, uint64_t tick,
                      uint32_t *changed, uint32_t *count)
{
    bool drives = tick - frame->drives_tick >= CM_FRAME_DRIVES; // a room that went back: at once
    uint32_t slots = carom_world_joint_slots(world);
    slots = slots > frame->slots ? slots : frame->slots;
    *count = 0;
    for (uint32_t i = 0; i < slots && i < frame->capacity; i++) {
        const cm_announced_joint now = identify(world, i), *sent = &frame->announced[i];
        if (now.kind != sent->kind || (drives && now.drive != sent->drive)) {
            changed[(*count)++] = i;
        }
    }
    return *count > 0 || cm_settings_identify(world) != frame->settings;
}

void cm_frame_sent(cm_frame *frame, const carom_world *world, uint64_t tick, const uint32_t *joints,
                   uint32_t count)
{
    frame->settings = cm_settings_identify(world);
    for (uint32_t i = 0; i < count; i++) {
        cm_announced_joint now = identify(world, joints[i]), *sent = &frame->announced[joints[i]];
        if (now.kind == sent->kind) {
            frame->drives_tick = tick; // it was sent because of its drive alone
        }
        *sent = now;
        frame->slots = joints[i] < frame->slots ? frame->slots : joints[i] + 1;
    }
}

void cm_frame_forget(cm_frame *frame, const carom_world *world, uint32_t body)
{
    for (uint32_t i = 0; i < frame->slots; i++) {
        carom_joint_state state;
        carom_joint_id joint = carom_world_joint_at(world, i);
        if (carom_joint_get(world, joint, &state) == CAROM_OK &&
            (state.body_b.index == body ||
             (!carom_body_id_is_null(state.body_a) && state.body_a.index == body))) {
            frame->announced[i].kind = 0;
        }
    }
}
