// A match that was never ended, because its server was killed: read back to its last committed
// tick, so that another server can go on with it. The store goes on with its file
// (cm_store_resume); this is the rest: the scene that stands in the file, the game at that tick,
// and who was there.
//
// Costs the simulation since the last keyframe, and little for the length of the file: 0.1 s for an
// hour of 256 bodies. Nothing is proved but the ticks that are played again: the store proves the
// whole file before it writes the first row (cm_store_resume).
#ifndef CM_SERVER_RECORD_REPLAY_LIVE_MATCH_H
#define CM_SERVER_RECORD_REPLAY_LIVE_MATCH_H

#include "server/record/format/match_file.h"

// One who had a slot at the last tick.
typedef struct cm_live_player {
    uint32_t player;
    uint64_t client_id;
    uint64_t join_tick;
    uint64_t messages; // of the player, since the join
    char name[CAROM_PLAYER_NAME_MAX + 1];
    char address[64];                // HOST:PORT; "": it was erased
    cm_player_statistics statistics; // as last recorded
} cm_live_player;

typedef struct cm_live_match {
    bool known;         // as for cm_store_resume: set by who brings it back
    cm_match_info info; // info.ticks: its last tick
    cm_scene *scene;
    const carom_module *module;
    uint64_t hash;  // after the last tick
    uint8_t *image; // the encoded game there
    size_t image_size;
    uint32_t player_count;
    cm_live_player players[CAROM_PLAYERS_MAX];
} cm_live_match;

// `module`: NULL, or one that is not built in. CAROM_ERROR_STATE: the match has ended;
// CAROM_ERROR_VERSION: another engine or module recorded it; CAROM_ERROR_CORRUPT and _DIVERGED: it
// cannot be played; and those of cm_match_open. The file is not changed.
carom_result cm_live_match_read(const char *path, const carom_module *module, cm_live_match **match,
                                cm_match_error *error);
void cm_live_match_free(cm_live_match *match);

#endif
