// From the cost of one room to what a machine holds: arithmetic alone.
#include "server/tools/capacity/capacity.h"

#include <math.h>
#include <string.h>

#include "server/node/worker.h"

#define MIB         (1024.0 * 1024.0)
#define ROOMS_MAX   1000000.0 // of what costs next to nothing
#define HOUR_S      3600.0
#define BITS_A_KBIT 1000.0

// The number of whole rooms of `cost` each that fit into `whole`.
static uint64_t fit(double whole, double cost)
{
    double rooms = cost > 0.0 ? floor(whole / cost) : ROOMS_MAX;
    return (uint64_t)(rooms < ROOMS_MAX ? rooms : ROOMS_MAX);
}

static void choose(cm_capacity_answer *a)
{
    const struct {
        const char *name;
        uint64_t rooms;
    } limits[] = {{"cpu", a->by_cpu},
                  {"memory", a->by_memory},
                  {"network", a->by_network},
                  {"clients", a->by_clients},
                  {"rooms", a->by_rooms}};
    a->rooms = UINT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].rooms < a->rooms) {
            a->rooms = limits[i].rooms;
            a->limited_by = limits[i].name;
        }
    }
}

void cm_capacity_judge(const cm_capacity *capacity, uint32_t players,
                       const cm_capacity_machine *machine, cm_capacity_answer *answer)
{
    cm_capacity_answer *a = answer;
    memset(a, 0, sizeof *a);
    double ticks = (double)capacity->ticks, rate = (double)capacity->tick_rate;
    double seconds = ticks / rate, period_ms = 1e3 / rate, workers = (double)machine->workers;
    double sockets_ms = 1e-3 * capacity->datagram_us * (double)capacity->datagrams / ticks;
    a->tick_ms = capacity->loop_ms + capacity->record_ms + sockets_ms;
    a->load = a->tick_ms / period_ms;
    a->tick_fits = capacity->loop_ms_p99 + sockets_ms < period_ms;
    a->rooms_per_core = a->tick_fits ? fit(CM_CAPACITY_BUDGET, a->load) : 0;
    double down = 8.0 * (double)capacity->sent_bytes / seconds / BITS_A_KBIT;
    double up = 8.0 * (double)capacity->received_bytes / seconds / BITS_A_KBIT;
    a->kbit_down = down / players;
    a->kbit_up = up / players;
    a->kbit_room = down;
    a->disk_mib_hour_room = (double)capacity->recorded_bytes / seconds * HOUR_S / MIB;
    a->by_cpu = (uint64_t)machine->workers * a->rooms_per_core;
    a->by_memory = machine->memory_available > 0 && capacity->memory_bytes > 0
                       ? fit(CM_CAPACITY_BUDGET * (double)machine->memory_available,
                             (double)capacity->memory_bytes)
                       : fit(1.0, 0.0);
    a->by_network = fit(machine->uplink_mbit * BITS_A_KBIT, down);
    a->by_clients = (uint64_t)(workers * floor((double)CM_CLIENTS_MAX / players));
    a->by_rooms = machine->workers * (uint64_t)CM_WORKER_ROOMS_MAX;
    choose(a);
    a->kbit = a->kbit_room * (double)a->rooms;
    a->disk_mib_hour = a->disk_mib_hour_room * (double)a->rooms;
}
