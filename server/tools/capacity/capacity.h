// Measures the cost of one room of a scene on this machine: a real worker and real clients, in this
// process on the virtual net, for a fixed number of ticks. Everything but times follows from the
// options.
#ifndef CM_SERVER_TOOLS_CAPACITY_CAPACITY_H
#define CM_SERVER_TOOLS_CAPACITY_CAPACITY_H

#include "carom/game.h"

#include "server/config/config.h"
#include "shared/net/net.h"
#include "shared/scene/scene.h"

#define CM_CAPACITY_TICKS_MAX 1000000u

typedef struct cm_capacity_options {
    const cm_config *config; // rewinding, views, keyframes, durability
    const cm_scene *scene;
    const carom_module *module; // of the scene, where that is not built in; else NULL
    uint32_t players;           // 1 to CAROM_PLAYERS_MAX
    uint32_t ticks;             // measured, once everybody plays; 1 to CM_CAPACITY_TICKS_MAX
    uint64_t seed;
    cm_link_def link; // of each client
} cm_capacity_options;

// Of the ticks measured. Times are of this thread's CPU.
typedef struct cm_capacity {
    uint32_t bodies, tick_rate;
    uint64_t ticks, hash;                   // of the last state
    uint64_t rewinds, rewound_ticks, views; // steps made again; views sent
    uint64_t sent_bytes, received_bytes;    // as on the wire
    uint64_t datagrams;                     // both ways, what got lost on the way too
    uint64_t recorded_bytes;
    uint64_t memory_bytes; // of the room with its players and its record; 0: the C library does not
                           // say
    double loop_ms,
        loop_ms_p99;    // a tick: receive, step, rewind, send, without the kernel's sockets
    double record_ms;   // a tick, of the store
    double datagram_us; // the kernel's, sent or received; 0: not measured
} cm_capacity;

// On failure `error` has the reason. CAROM_ERROR_STATE: a signal ended it. CAROM_ERROR_NOT_BUILT:
// this process's ENet does not call our socket functions.
carom_result cm_capacity_measure(const cm_capacity_options *options, cm_capacity *capacity,
                                 char *error, size_t error_size);

// The resources of the machine for rooms.
typedef struct cm_capacity_machine {
    uint32_t cores, workers;   // processes of `carom serve`, a core each
    uint64_t memory_available; // bytes; 0: not known
    double uplink_mbit;
} cm_capacity_machine;

#define CM_CAPACITY_BUDGET 0.8 // of a core, and of the memory: above it new rooms are refused

// The resulting capacity of the machine.
typedef struct cm_capacity_answer {
    double tick_ms;            // CPU: loop, record and sockets
    double load;               // of a core, by one room
    bool tick_fits;            // the slow ticks too: p99 is below the period
    double kbit_down, kbit_up; // of one client
    double kbit_room, kbit;    // sent by one room, and by all
    double disk_mib_hour_room, disk_mib_hour;
    uint64_t rooms_per_core;                // within the budget
    uint64_t by_cpu, by_memory, by_network; // rooms of all workers
    uint64_t by_clients, by_rooms;          // that a worker takes
    uint64_t rooms;                         // the least of them
    const char *limited_by;                 // "cpu", "clients", …
} cm_capacity_answer;

void cm_capacity_judge(const cm_capacity *capacity, uint32_t players,
                       const cm_capacity_machine *machine, cm_capacity_answer *answer);

#endif
