// One run of the cluster, as its parts see it.
#ifndef CM_TEST_CLUSTER_RUN_H
#define CM_TEST_CLUSTER_RUN_H

#include "carom/client.h"

#include "server/node/worker.h"
#include "shared/base/rng.h"
#include "shared/net/net.h"
#include "shared/wire/token.h"
#include "tests/cluster/cluster.h"
#include "tests/cluster/matches.h"
#include "tests/cluster/told.h"

#define CLUSTER_PORT     9400u // of the first worker, the others after it
#define CLUSTER_GRACE_MS 4000
#define CLUSTER_UNIX_MS  UINT64_C(1900000000000)

// A client, of one room for good.
typedef struct member {
    carom_client *client;
    cm_rng rng;
    uint32_t room;
    uint16_t port, first_port; // first: that it joins by
    cm_link_def link;
    uint64_t join_us, turn_us;
    uint64_t leave_us;             // UINT64_MAX: stays
    uint64_t hitch_us, hitched_us; // from, until: its frames stand still
    float course[2];
    uint8_t input[9];
    bool tried, playing, leaving;
    bool asks_kick;  // leaves by being kicked
    uint64_t ask_us; // when it asks again
    uint64_t left_us;
    char token[CAROM_TOKEN_TEXT_MAX];
    uint64_t expires_us;   // of its token
    bool expects_refusal;  // its token has expired, or let it in before
    uint32_t door;         // server that it tries
    bool unsafe;           // its join was not known to be durable when its server died
    uint64_t durable_tick; // as told last
    bool knows_loss;       // it was told that nothing later is durable
    uint64_t comebacks;
    uint64_t join_tick; // newest tick when it began to play
    cluster_told told;  // what the module said to it
    // When a worker died that is not its own: is it asked, and what it saw then.
    bool asked;
    uint64_t asked_tick, asked_comebacks;
} member;

typedef struct cluster_room {
    char name[16];
    uint32_t server;    // that has it
    uint64_t committed; // tick
    uint64_t seams[CLUSTER_CRASHES];
    uint32_t seam_count;
    bool is_seam_open; // nothing is committed behind the last one yet
    uint32_t resumes;  // that the files tell of
    uint64_t unheard; // farewells that the server may not have heard: it keeps those slots for long
    uint64_t unsure;  // clients that were in doubt at one of the seams
    bool full;        // its recording failed and has not gone on yet
    uint32_t gaps;
    uint64_t gap_from, gap_to;           // ticks that no file has
    cluster_events done;                 // by its clients
    bool was_rewound[CLUSTER_TICKS_MAX]; // tick by tick
} cluster_room;

// A worker, as its process would have it.
typedef struct cluster_server {
    struct cluster *cluster;
    cm_worker *worker; // NULL: it died, and the next one has not started
    cm_store *store;
    char directory[MATCHES_DIRECTORY];
    cm_live_match *live[CLUSTER_ROOMS]; // that its rooms went on with
    cm_room_directory elsewhere;
    uint64_t steps;
    uint64_t died_us, start_again_us;
    uint64_t full_us, well_us; // of its disk
} cluster_server;

typedef struct cluster {
    cluster_result *result;
    uint64_t seed;
    cm_rng rng, fate;
    cm_net *net;
    cm_scene *scene;
    cluster_server servers[CLUSTER_WORKERS];
    cluster_room rooms[CLUSTER_ROOMS];
    member members[CLUSTER_CLIENTS];
    carom_token_keys keys; // none: the servers are insecure
    carom_token_key ticket_key;
    cm_used_tokens used; // by any of them
    cm_config config;
    uint64_t start_us;
    uint32_t cut;      // client
    uint16_t cut_port; // that is cut now; 0: none
    uint64_t cut_us, cut_comebacks;
    bool is_cut; // it was, or is
    struct {
        uint64_t at_us; // UINT64_MAX: not at all
        uint32_t server;
    } crashes[CLUSTER_CRASHES]; // ascending
    uint32_t lives;             // of workers
    bool quiet;                 // inputs have stopped
} cluster;

// servers.c
bool cluster_make_servers(cluster *c);
void cluster_free_servers(cluster *c);
// Its next life: with new matches, or those that `live` are.
bool cluster_start_worker(cluster *c, uint32_t server);
void cluster_server_turn(cluster *c, uint32_t server, uint64_t now);
void cluster_drain(cluster *c);
cm_hosted_room *cluster_hosted(const cluster *c, uint32_t room); // NULL while its server is dead
uint16_t cluster_port(uint32_t server);

// members.c
void cluster_make_members(cluster *c);
void cluster_update_member(cluster *c, uint32_t number, uint64_t now);
// Whether its frames stand still now.
bool cluster_hitches(cluster *c, uint32_t number, uint64_t now);
void cluster_give_link(cluster *c, member *m);

// faults.c: draws which faults there are and when, during so many seconds; and does what is due.
void cluster_draw_menu(cluster *c);
void cluster_draw_faults(cluster *c, double seconds);
void cluster_fault_turn(cluster *c, uint64_t now);
bool cluster_crashes_wait(const cluster *c);
// Whose disk is written from now on: it fails while it is full. NULL: one that never does.
void cluster_use_disk(const cluster_server *server, uint64_t now);
// Whether this client may be thrown out: its server died, and its slot was not durable.
bool cluster_may_lose(const cluster *c, const member *m);

// replay.c: re-simulates the match files of a room from scene and inputs, or from the keyframe with
// which one begins after a gap, compares the hash of each tick, counts contacts and compares events
// with what the clients did; then asks `carom replay --verify`'s own function for the same.
void cluster_replay(cluster *c, uint32_t room);

#endif
