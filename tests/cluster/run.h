// One run of the cluster, as its parts see it.
#ifndef CM_TEST_CLUSTER_RUN_H
#define CM_TEST_CLUSTER_RUN_H

#include "carom/client.h"

#include "server/host/worker.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"
#include "tests/cluster/cluster.h"
#include "tests/cluster/told.h"

#define CLUSTER_PORT    9400u
#define CLUSTER_CRASHES 2u // at the most

typedef struct member {
    carom_client *client;
    cm_rng rng;
    uint16_t port;
    cm_link_def link;
    uint64_t join_us, turn_us;
    uint64_t leave_us;             // UINT64_MAX: stays
    uint64_t hitch_us, hitched_us; // from, until: its frames stand still
    float course[2];
    uint8_t input[9];
    bool tried, playing, leaving;
    bool unsafe;           // its join was not known to be durable when the server died
    uint64_t durable_tick; // as told last
    uint64_t comebacks;
    uint64_t join_tick; // newest tick when it began to play
    cluster_told told;  // what the module said to it
} member;

typedef struct cluster {
    cluster_result *result;
    uint64_t seed;
    cm_rng rng, fate;
    cm_net *net;
    cm_scene *scene;
    cm_store *store;
    uint64_t committed; // tick
    cm_worker *worker;  // NULL: it died, and the next one has not started
    cm_live_match *live;
    carom_token_key ticket_key;
    cm_config config;
    char directory[256];
    member members[CLUSTER_CLIENTS];
    uint64_t start_us, steps;
    uint64_t crash_us[CLUSTER_CRASHES]; // ascending; UINT64_MAX: none
    uint64_t start_again_us;
    uint32_t workers; // started
    bool quiet;       // inputs have stopped
} cluster;

// A folder for recordings, and a store in it.
bool cluster_make_store(cluster *c);
void cluster_remove_files(const char *directory, const char *path);
// The next worker: of a new match, or of the one that `live` is.
bool cluster_start_worker(cluster *c);

// crash.c: draws when the server dies during so many seconds from now, and does what is due.
void cluster_draw_crashes(cluster *c, double seconds);
void cluster_crash_turn(cluster *c, uint64_t now);
// Whether this client may be thrown out: its server died, and its slot was not durable.
bool cluster_may_lose(const cluster *c, const member *m);

#endif
