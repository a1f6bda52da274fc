// The whole system in one process and thread, from one seed: a worker with its store, eight SDK
// clients, a virtual network and clock that lose, delay, repeat and cut.
//
//   cluster_run: join -> play under faults -> a partition of one client -> faults heal, inputs stop
//   -> every client's view must equal the server's -> drain -> the recording must replay
#ifndef CM_TEST_CLUSTER_H
#define CM_TEST_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_CLIENTS 8u

typedef struct cluster_result {
    bool failed;
    char what[512]; // the first thing that failed
    uint64_t trace; // of every datagram, the room's final hash and what the clients counted
    uint64_t ticks, joined, left;
    uint64_t rewinds, rewound_ticks, late_inputs, contacts;
    uint64_t lost, duplicated, partitioned, delivered;
    uint64_t reconciles, view_packets, views_compared, bodies_compared;
    uint64_t replayed_ticks;
    double error_mean, error_max; // of prediction, metres
} cluster_result;

// `ticks` of play under faults; keep: the match file is not removed (its path is printed).
void cluster_run(uint64_t seed, uint64_t ticks, bool keep, cluster_result *result);

// Stops the run with a message; only the first counts.
void cluster_fail(cluster_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// replay.c: re-simulates the match file from its scene and inputs, compares the hash of each tick,
// and counts contacts; then asks `carom replay --verify`'s own function for the same.
void cluster_replay(const char *path, cluster_result *result);

#endif
