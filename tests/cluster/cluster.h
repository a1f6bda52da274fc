// The whole system in one process and thread, from one seed: a worker with its store, eight SDK
// clients, a virtual network and clock that lose, delay, repeat and cut.
//
//   cluster_run: join -> play under faults, some leaving and coming again, all talking -> a
//   partition of one client, one crash of the server or two -> faults heal, inputs stop -> every
//   client's view must equal the server's -> drain
//   -> the recording must replay, hold every join, leave and message that the clients know of, and
//   say whatever its module was heard to say
#ifndef CM_TEST_CLUSTER_H
#define CM_TEST_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_CLIENTS   8u
#define CLUSTER_STAYERS   4u // never leave; the others come and go
#define CLUSTER_TICKS_MAX 16384u
#define CLUSTER_LOST_MAX  6u // messages of one client that a crash takes back

typedef struct cluster_events {
    uint64_t joins, leaves, messages;
} cluster_events;

typedef struct cluster_result {
    bool failed;
    char what[512]; // the first thing that failed
    uint64_t trace; // of every datagram, the room's final hash and what the clients counted
    uint64_t ticks, joined, left;
    uint64_t rewinds, rewound_ticks, late_inputs, contacts;
    uint64_t lost, duplicated, partitioned, delivered;
    uint64_t reconciles, view_packets, views_compared, bodies_compared;
    uint64_t replayed_ticks, keyframes;
    uint64_t durable_told; // commits that clients were told of
    // The server dies: ticks that it had simulated and not committed, clients whose slot was then
    // in doubt, and the tick from which the match went on, each time.
    uint64_t crashes, taken_back, unsure, seams[2];
    uint64_t told; // messages of the module that were heard, and are the recording's
    // Joins, leaves and messages: what the clients did, what the recording has of it, and how many
    // of those lay in ticks that were rewound, so that they had to survive it.
    cluster_events done, recorded, rewound;
    uint64_t messages_of[CLUSTER_CLIENTS];
    bool was_rewound[CLUSTER_TICKS_MAX]; // tick by tick
    double error_mean, error_max;        // of prediction, metres
} cluster_result;

// `ticks` of play under faults; keep: the match file is not removed (its path is printed).
void cluster_run(uint64_t seed, uint64_t ticks, bool keep, cluster_result *result);

// Stops the run with a message; only the first counts.
void cluster_fail(cluster_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// replay.c: re-simulates the match file from its scene and inputs, compares the hash of each tick,
// counts contacts and compares events with what the clients did; then asks `carom replay
// --verify`'s own function for the same.
struct cluster_told;
void cluster_replay(const char *path, const struct cluster_told *const told[CLUSTER_CLIENTS],
                    cluster_result *result);

#endif
