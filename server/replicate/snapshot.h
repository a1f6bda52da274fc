// The view stage: what a room looks like at one tick, quantised once for all clients. Pure.
//
// Its rows are the slots of bodies, then those of joints: of a joint it has what drives it, which
// goes to clients as bodies do.
#ifndef CM_SERVER_REPLICATE_SNAPSHOT_H
#define CM_SERVER_REPLICATE_SNAPSHOT_H

#include "shared/game/game_host.h"
#include "shared/view/view.h"
#include "shared/wire/packet.h"

typedef struct cm_snapshot {
    uint64_t tick;
    uint32_t slots; // in use, at most capacity
    uint32_t capacity;
    uint32_t joints; // slots in use, at most joint_capacity
    uint32_t joint_capacity;
    uint32_t *generation;    // of each row; 0: no body, no joint
    uint64_t *kind;          // of each slot: hash of what its body is, beside its motion
    uint64_t *links;         // hash of the shape slots that it has
    uint32_t *version;       // raised when the row changed, or is another kind; never 0
    cm_view_body *bodies;    // with velocity
    carom_vec3 *positions;   // for interest; of a joint where its body b was when it changed
    float *speeds;           // m/s
    bool *steered;           // by a player's inputs
    float *beside;           // m from the nearest steered body, of one that moves
    uint32_t public_version; // raised when the public state or who is present changed
    uint32_t public_size;
    uint8_t public_state[CAROM_MODULE_PUBLIC_MAX];
    uint64_t present;
    // The newest public states, by version: a client is told what differs from one that it has.
    uint32_t state_versions[CM_STATES_KEPT];
    uint8_t *states; // public_size each
} cm_snapshot;

// An earlier tick, by the versions that a snapshot had then: what was not raised since is the same.
typedef struct cm_snapshot_moment {
    uint32_t rows, public_version;
    uint32_t *version; // of each row
} cm_snapshot_moment;

// The quantisation of a scene's bodies. If it is impossible, the error names the keys.
carom_result cm_snapshot_config(const cm_scene *scene, cm_view_config *config, char *error,
                                size_t error_size);

bool cm_snapshot_init(cm_snapshot *snapshot, uint32_t capacity, uint32_t joint_capacity);
void cm_snapshot_free(cm_snapshot *snapshot);
void cm_snapshot_capture(cm_snapshot *snapshot, const cm_view_config *config,
                         const carom_game *game, uint64_t tick, uint64_t present);
static inline uint32_t cm_snapshot_rows(const cm_snapshot *snapshot)
{
    return snapshot->capacity + snapshot->joint_capacity;
}

// The index under which a view tells of a row, and back.
static inline uint32_t cm_snapshot_index(const cm_snapshot *snapshot, uint32_t row)
{
    return row < snapshot->capacity ? row : CM_VIEW_DRIVES + (row - snapshot->capacity);
}

static inline uint32_t cm_snapshot_row(const cm_snapshot *snapshot, uint32_t index)
{
    return index < CM_VIEW_DRIVES ? index : snapshot->capacity + (index - CM_VIEW_DRIVES);
}

// The public state of a version; NULL where it is too old.
const uint8_t *cm_snapshot_state(const cm_snapshot *snapshot, uint32_t version);
// Copies the snapshot's versions; false where memory is short.
bool cm_snapshot_moment_capture(cm_snapshot_moment *moment, const cm_snapshot *snapshot);
void cm_snapshot_moment_free(cm_snapshot_moment *moment);

// The state of a slot as sent to clients; all zeros: no body.
typedef struct cm_announced {
    uint32_t generation;
    uint64_t kind, links;
} cm_announced;

// Slots whose body came, went or is another (a rewind may put one under the same id; a module may
// change a type) against what was announced of `capacity` slots, which becomes what is. Returns how
// many ids were put into `gone` and slots into `spawned` (each with room for capacity). A body that
// changed in place, with its shape slots, is in `spawned` alone and keeps its joints.
void cm_snapshot_changes(const cm_snapshot *snapshot, cm_announced *announced, carom_body_id *gone,
                         uint32_t *gone_count, uint32_t *spawned, uint32_t *spawned_count);

#endif
