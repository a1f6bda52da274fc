// The whole system in one process and thread, from one seed: a worker with its store, eight SDK
// clients, a virtual network and clock that lose, delay, repeat and cut.
//
//   cluster_run: join -> play under faults, some leaving and coming again, all talking -> a
//   partition of one client -> faults heal, inputs stop -> every client's view must equal the
//   server's -> drain
//   -> the recording must replay, and hold every join, leave and message that the clients know of
#ifndef CM_TEST_CLUSTER_H
#define CM_TEST_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_CLIENTS   8u
#define CLUSTER_STAYERS   4u // never leave; the others come and go
#define CLUSTER_TICKS_MAX 16384u

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
void cluster_replay(const char *path, cluster_result *result);

#endif
