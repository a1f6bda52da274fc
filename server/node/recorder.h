// The recorder: the sink that hands a room's confirmed ticks to the store, with a keyframe now and
// then, the counts of its players and what identifies them. Where the recording fails, it says when
// it is time to go on in another file.
#ifndef CM_SERVER_NODE_RECORDER_H
#define CM_SERVER_NODE_RECORDER_H

#include "server/config/room_spec.h"
#include "server/record/replay/live_match.h"
#include "server/record/store/store.h"
#include "server/room/room.h"
#include "server/room/sink.h"

typedef struct cm_recorder cm_recorder;

typedef struct cm_recorder_def {
    cm_store *store;
    cm_room *room;         // at the tick after which it records
    const cm_scene *scene; // kept by the caller
    uint64_t match_id, started_unix_ms;
    uint32_t keyframe_s; // between two keyframes
    bool is_streamed;    // with this delay, of cm_store_stream
    uint64_t stream_delay;
    const char *name;                // of the room; NULL or "": none; kept by the caller
    char opened[CM_ROOM_OPENED_MAX]; // who opened it
    const cm_live_match *live;       // recorded in its own file, with its id; NULL: a new match
} cm_recorder_def;

// On failure `error` says why.
carom_result cm_recorder_create(const cm_recorder_def *def, cm_recorder **recorder, char *error,
                                size_t error_size);
void cm_recorder_destroy(cm_recorder *recorder);
// The sink by which the room reports to it.
cm_sink cm_recorder_sink(cm_recorder *recorder);

cm_match_handle cm_recorder_match(const cm_recorder *recorder);
uint64_t cm_recorder_file(const cm_recorder *recorder); // id of the present file
// How the match is kept, and the newest tick that is: what has an effect outside the server, and
// must not be taken back, waits for it. To be asked once a turn.
carom_durability cm_recorder_durable(cm_recorder *recorder, uint64_t now_us, uint64_t *tick);

// The match is not durable any more, and it is time to try again (every few seconds, after what was
// confirmed last): recording goes on in a new file, which says where it comes from.
bool cm_recorder_wants_to_go_on(const cm_recorder *recorder);
// `joins`: who is there after that tick, ascending players. False: not now.
bool cm_recorder_go_on(cm_recorder *recorder, uint64_t tick, uint64_t hash,
                       const cm_game_event *joins, uint32_t count);
// Name and address of a player, again in the new file.
void cm_recorder_person(cm_recorder *recorder, const cm_sink_player *player);

#endif
