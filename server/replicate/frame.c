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
static uint64_t identify(const carom_world *world, uint32_t slot)
{
    return slot < carom_world_joint_slots(world) ? cm_joint_identify(world, slot) : 0;
}

bool cm_frame_changes(const cm_frame *frame, const carom_world *world, uint32_t *changed,
                      uint32_t *count)
{
    uint32_t slots = carom_world_joint_slots(world);
    slots = slots > frame->slots ? slots : frame->slots;
    *count = 0;
    for (uint32_t i = 0; i < slots && i < frame->capacity; i++) {
        if (identify(world, i) != frame->announced[i]) {
            changed[(*count)++] = i;
        }
    }
    return *count > 0 || cm_settings_identify(world) != frame->settings;
}

void cm_frame_sent(cm_frame *frame, const carom_world *world, const uint32_t *joints,
                   uint32_t count)
{
    frame->settings = cm_settings_identify(world);
    for (uint32_t i = 0; i < count; i++) {
        frame->announced[joints[i]] = identify(world, joints[i]);
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
            frame->announced[i] = 0;
        }
    }
}
