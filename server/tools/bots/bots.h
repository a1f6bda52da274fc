// Real SDK clients that play on a server by themselves, through a seeded bad link.
#ifndef CM_SERVER_TOOLS_BOTS_BOTS_H
#define CM_SERVER_TOOLS_BOTS_BOTS_H

#include "carom/limits.h"
#include "carom/token.h"

#include "server/tools/bots/course.h"
#include "server/tools/bots/summary.h"
#include "server/tools/feel/games.h"

#define CM_BOTS_MAX       4095
#define CM_BOTS_ROOMS_MAX 64u

typedef struct cm_bots_options {
    char host[256];
    uint16_t port;
    uint32_t count, predict;                    // of `count`, how many simulate
    uint32_t spectators;                        // besides, who only watch
    uint32_t fps;                               // of each: updates a second
    uint64_t seed;                              // of the link's chance and of the inputs
    double seconds;                             // of play, from when all bots do
    double latency_ms, jitter_ms, loss_percent; // one way, each way
    cm_bots_pattern pattern;
    const cm_feel_game *game;   // they play it as `carom bench feel` does; NULL: by the pattern
    const carom_module *module; // of the room, where that is not built in; else NULL
    const carom_token_key *key; // each bot gets a token sealed with it; NULL: they come without
    // The rooms to which bots are assigned in turn; none: the server's first room.
    uint32_t room_count;
    char rooms[CM_BOTS_ROOMS_MAX][CAROM_ROOM_NAME_MAX + 1];
} cm_bots_options;

// Plays until the time is over or SIGINT or SIGTERM comes, and sums up. CAROM_ERROR_NOT_BUILT: this
// process's ENet does not call our socket functions. CAROM_ERROR_ARGUMENT: no token can be issued
// for this host or room.
carom_result cm_bots_run(const cm_bots_options *options, cm_bots_summary *summary);

#endif
