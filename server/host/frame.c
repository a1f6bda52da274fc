// Compares every joint's hash with what was told, once a view. Typical: 20 joints, none changed.
#include "server/host/frame.h"

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

bool cm_frame_changes(cm_frame *frame, const carom_world *world, uint64_t tick, uint32_t *changed,
                      uint32_t *count)
{
    bool drives = tick % CM_FRAME_DRIVES == 0;
    uint32_t slots = carom_world_joint_slots(world);
    uint64_t settings = cm_settings_identify(world);
    bool any = settings != frame->settings;
    frame->settings = settings;
    *count = 0;
    // A room that went back may have fewer slots: what is beyond is not there for clients either.
    for (uint32_t i = 0; i < slots && i < frame->capacity; i++) {
        cm_announced_joint now;
        cm_joint_identify(world, i, &now.kind, &now.drive);
        cm_announced_joint *told = &frame->announced[i];
        if (now.kind != told->kind || (drives && now.drive != told->drive)) {
            *told = now;
            changed[(*count)++] = i;
        }
    }
    for (uint32_t i = slots; i < frame->slots; i++) {
        frame->announced[i] = (cm_announced_joint){0, 0};
    }
    frame->slots = slots;
    return any || *count > 0;
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
