// What the module says to the players, and what they hear: nobody hears what the recording, which
// went through the crashes of the server, does not say at that tick to that player. The module is
// the sandbox, which also tells each player ten times a second where its cube is: another input, or
// another order of events, and it would have said something else. It refuses some of those who
// bring user data, and kicks who asks for it, with last words.
#ifndef CM_TEST_CLUSTER_TOLD_H
#define CM_TEST_CLUSTER_TOLD_H

#include "carom/client.h"

#include "shared/game/game_host.h"
#include "tests/cluster/cluster.h"

typedef struct cluster_told {
    uint32_t count, capacity;
    struct cluster_heard {
        uint64_t tick;
        uint32_t player;
        uint8_t bytes[12];
    } * heard;
    cluster_result *result;
    const carom_client *client; // who hears it
} cluster_told;

#define CLUSTER_KICK_SIZE 3u // bytes of a message that asks for it

const carom_module *cluster_module(void);
// True if the newest message that was heard is what the module says in the tick of a kick.
bool cluster_heard_last_words(const cluster_told *told);

// A client's `message`, with its cluster_told as user.
void cluster_hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size);

// What a game said in its newest tick, of a replay that goes through all of them; then whether all
// that was heard is among it, but for ticks from `gap_from` to `gap_to`, of which there is no
// record (both 0: of all there is).
typedef struct cluster_said cluster_said;
cluster_said *cluster_said_create(void);
void cluster_said_free(cluster_said *said);
void cluster_said_take(cluster_said *said, const carom_game *game);
void cluster_said_compare(const cluster_said *said, const cluster_told *told, uint64_t gap_from,
                          uint64_t gap_to, cluster_result *result);

#endif
