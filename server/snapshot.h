// The view stage: what a room looks like at one tick, quantised once for all clients. Pure.
#ifndef CM_SERVER_SNAPSHOT_H
#define CM_SERVER_SNAPSHOT_H

#include "shared/game/game_host.h"
#include "shared/view/view.h"

typedef struct cm_snapshot {
    uint64_t tick;
    uint32_t slots; // in use, at most capacity
    uint32_t capacity;
    uint32_t *generation;    // of each slot; 0: no body
    uint32_t *version;       // raised when the slot's body changed; never 0
    cm_view_body *bodies;    // with velocity
    carom_vec3 *positions;   // for interest
    float *speeds;           // m/s
    uint32_t public_version; // raised when the public state or who is present changed
    uint32_t public_size;
    uint8_t public_state[CAROM_MODULE_PUBLIC_MAX];
    uint64_t present;
} cm_snapshot;

bool cm_snapshot_init(cm_snapshot *snapshot, uint32_t capacity);
void cm_snapshot_free(cm_snapshot *snapshot);
void cm_snapshot_take(cm_snapshot *snapshot, const cm_view_config *config, const carom_game *game,
                      uint64_t tick, uint64_t present);

// Slots whose body came or went between two sets of generations of `capacity` slots, the first of
// which becomes the second. Returns how many ids were put into `gone` and slots into `spawned`
// (each with room for capacity).
void cm_snapshot_changes(const cm_snapshot *snapshot, uint32_t *announced, carom_body_id *gone,
                         uint32_t *gone_count, uint32_t *spawned, uint32_t *spawned_count);

#endif
