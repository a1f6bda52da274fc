// The whole system in one process and thread, from one seed: two workers with their stores, three
// rooms spread over them, eight SDK clients, a virtual network and clock that lose, delay, repeat
// and cut. What a supervisor does (who has which room, which tokens are used, a new life for who
// died) the test does.
//
//   cluster_run: the seed draws which faults of the menu there are -> join, at any of the doors ->
//   play under faults, some leaving and coming again, all talking -> faults heal, inputs stop ->
//   every client's view must equal its server's -> drain
//   -> every recording must replay, hold every join, leave and message that the clients know of,
//   and say whatever its module was heard to say
#ifndef CM_TEST_CLUSTER_H
#define CM_TEST_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_CLIENTS   8u
#define CLUSTER_STAYERS   4u // never leave; the others come and go
#define CLUSTER_WORKERS   2u
#define CLUSTER_ROOMS     3u // more than workers: one has two
#define CLUSTER_CRASHES   2u // of all workers, at the most
#define CLUSTER_TICKS_MAX 16384u
#define CLUSTER_LOST_MAX  6u // messages of one client that a crash takes back

// What may go wrong beside the paths, which always do. A seed draws some of it.
typedef enum cluster_fault {
    CLUSTER_CRASH,  // a worker dies, and goes on with its matches; the others notice nothing
    CLUSTER_CUT,    // a client's path, for so long that it comes back by another connection
    CLUSTER_EXPIRY, // tokens whose time is over, before they are used or after
    CLUSTER_DISK,   // a worker's disk is full for a while
    CLUSTER_FAULTS,
} cluster_fault;

typedef struct cluster_events {
    uint64_t joins, leaves, messages;
} cluster_events;

typedef struct cluster_result {
    bool failed;
    char what[512]; // the first thing that failed
    uint64_t trace; // of every datagram, the rooms' final hashes and what the clients counted
    bool has[CLUSTER_FAULTS];     // drawn
    uint64_t ticks, joined, left; // ticks: of all rooms
    uint64_t rewinds, rewound_ticks, late_inputs, contacts;
    uint64_t lost, duplicated, partitioned, delivered;
    uint64_t reconciles, view_packets, views_compared, bodies_compared;
    uint64_t replayed_ticks, keyframes;
    uint64_t durable_told; // commits that clients were told of
    uint64_t by_ipv6;      // joins of clients with IPv6 addresses
    uint64_t redirected;   // joins that began at the door of another worker
    uint64_t used_told;    // tokens that a worker heard of as used at another one
    // A worker dies: ticks that it had simulated and not committed, and clients whose slot was then
    // in doubt, who join again by themselves; those of the other worker who were asked whether they
    // noticed.
    uint64_t crashes, taken_back, unsure, unnoticed;
    uint64_t resumed;      // matches that went on
    uint64_t comebacks;    // of clients, by another connection
    uint64_t cuts;         // paths that were cut, whose clients came back
    uint64_t expired;      // refusals of tokens whose time was over
    uint64_t used_refused; // of tokens that had let their client in before
    uint64_t outlived;     // comebacks of clients whose token's time was over
    uint64_t full;         // recordings that a full disk ended
    uint64_t loss_told;    // clients that were told so
    uint64_t gaps;         // recordings that went on in another file
    uint64_t refused;      // joins that the module refused
    uint64_t kicked;       // clients that the module kicked
    uint64_t told;         // messages of the module that were heard, and are the recording's
    // Joins, leaves and messages: what the recordings have of them, and how many of those lay in
    // ticks that were rewound, so that they had to survive it.
    cluster_events recorded, rewound;
    uint64_t messages_of[CLUSTER_CLIENTS];
    double error_mean, error_max; // of prediction, metres
} cluster_result;

// `ticks` of play under faults; keep: the match files are not removed (their folders are printed).
void cluster_run(uint64_t seed, uint64_t ticks, bool keep, cluster_result *result);

// Stops the run with a message; only the first counts.
void cluster_fail(cluster_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
