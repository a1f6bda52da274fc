// Sends world changes in messages of bounded size. Typical: none in most ticks; a body that a rule
// makes, of 300 bytes.
#include "server/replicate/world_changes.h"

#include <stdlib.h>

#define BODY_BYTES_MAX   65536u     // of one encoded body
#define CHANGE_BYTES_MAX (1u << 20) // of bodies in one message
#define CHANGE_BODIES    1024u      // in one message
#define FRAME_JOINTS     256u       // likewise: of some 240 bytes

bool cm_world_changes_init(cm_world_changes *changes, const carom_world *world,
                           const cm_snapshot *snapshot)
{
    changes->announced = calloc(snapshot->capacity, sizeof *changes->announced);
    changes->gone = calloc(snapshot->capacity, sizeof *changes->gone);
    changes->spawned = calloc(snapshot->capacity, sizeof *changes->spawned);
    changes->joints = calloc(carom_world_limits(world).joints + 1u, sizeof *changes->joints);
    if (changes->announced == NULL || changes->gone == NULL || changes->spawned == NULL ||
        changes->joints == NULL || !cm_frame_init(&changes->frame, world)) {
        return false;
    }
    cm_snapshot_changes(snapshot, changes->announced, changes->gone, &changes->gone_count,
                        changes->spawned, &changes->spawned_count);
    cm_frame_changes(&changes->frame, world, changes->joints, &changes->joint_count);
    cm_frame_sent(&changes->frame, world, changes->joints, changes->joint_count);
    return true;
}

void cm_world_changes_free(cm_world_changes *changes)
{
    cm_frame_free(&changes->frame);
    free(changes->joints);
    free(changes->announced);
    free(changes->gone);
    free(changes->spawned);
}

// The recipients of a message.
typedef struct audience {
    const cm_roster *roster;
    cm_transport *transport;
} audience;

// Bodies from `first` of the spawned ones, as many as one message takes; returns the next.
static uint32_t send_spawned(cm_world_changes *changes, const carom_world *world,
                             const cm_snapshot *snapshot, uint32_t first, uint8_t *bytes,
                             const audience *to)
{
    cm_bytes list[CHANGE_BODIES];
    uint32_t listed = 0;
    size_t used = 0;
    while (first < changes->spawned_count && listed < CHANGE_BODIES &&
           used + BODY_BYTES_MAX <= CHANGE_BYTES_MAX) {
        uint32_t slot = changes->spawned[first++];
        carom_body_id id = {slot, snapshot->generation[slot]};
        size_t size = carom_world_encode_body(world, id, bytes + used, BODY_BYTES_MAX);
        if (size == 0) {
            continue; // more shapes than a message takes: the client does without
        }
        list[listed].data = bytes + used;
        list[listed++].size = size;
        used += size;
    }
    cm_control control = {.type = CM_CONTROL_WORLD_CHANGE,
                          .tick = snapshot->tick,
                          .spawned = list,
                          .spawned_count = listed};
    changes->lost += !cm_roster_send(to->roster, to->transport, &control);
    return first;
}

static void send_gone(cm_world_changes *changes, uint64_t tick, const audience *to)
{
    for (uint32_t at = 0; at < changes->gone_count; at += CHANGE_BODIES) {
        uint32_t left = changes->gone_count - at;
        cm_control control = {.type = CM_CONTROL_WORLD_CHANGE,
                              .tick = tick,
                              .gone = changes->gone + at,
                              .gone_count = left < CHANGE_BODIES ? left : CHANGE_BODIES};
        changes->lost += !cm_roster_send(to->roster, to->transport, &control);
    }
}

// Gravity, softness, and what joints are. What drives them follows in the views.
static void send_frame(cm_world_changes *changes, const carom_world *world, uint64_t tick,
                       const audience *to)
{
    if (!cm_frame_changes(&changes->frame, world, changes->joints, &changes->joint_count)) {
        return;
    }
    uint8_t *bytes = malloc(CM_CONTROL_FRAME_MAX);
    uint32_t at = 0, count = changes->joint_count;
    do {
        uint32_t part = count - at < FRAME_JOINTS ? count - at : FRAME_JOINTS;
        const uint32_t *joints = changes->joints + at;
        size_t size = bytes == NULL ? 0
                                    : carom_world_encode_settings(world, joints, part, bytes,
                                                                  CM_CONTROL_FRAME_MAX);
        cm_control control = {
            .type = CM_CONTROL_WORLD_CHANGE, .tick = tick, .frame = {bytes, size}};
        if (size > 0 && cm_roster_send(to->roster, to->transport, &control)) {
            cm_frame_sent(&changes->frame, world, joints, part);
        } else {
            changes->lost++; // they are changes of the next view too
        }
        at += part;
    } while (at < count);
    free(bytes);
}

void cm_world_changes_send(cm_world_changes *changes, const carom_world *world,
                           const cm_snapshot *snapshot, const cm_roster *roster,
                           cm_transport *transport)
{
    const audience to = {roster, transport};
    cm_snapshot_changes(snapshot, changes->announced, changes->gone, &changes->gone_count,
                        changes->spawned, &changes->spawned_count);
    for (uint32_t i = 0; i < changes->gone_count; i++) {
        cm_frame_forget(&changes->frame, world, changes->gone[i].index);
    }
    send_gone(changes, snapshot->tick, &to);
    uint8_t *bytes = changes->spawned_count > 0 ? malloc(CHANGE_BYTES_MAX) : NULL;
    for (uint32_t at = 0; at < changes->spawned_count && bytes != NULL;) {
        at = send_spawned(changes, world, snapshot, at, bytes, &to);
    }
    free(bytes);
    send_frame(changes, world, snapshot->tick, &to); // after the bodies that the joints hold
}
