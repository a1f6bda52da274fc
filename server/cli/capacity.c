// `carom capacity`: measures one room of a scene, and prints how many of them the machine holds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/ops/log.h"
#include "server/tools/capacity/capacity.h"
#include "server/cli/cli.h"
#include "server/node/bootstrap.h"
#include "server/node/module_loader.h"
#include "server/config/flags.h"
#include "server/tools/doctor/machine.h"

#define SECONDS     20 // as many ticks as that
#define UPLINK_MBIT 1000.0
#define LATENCY_MS  40.0
#define JITTER_MS   10.0
#define LOSS_PCT    1.0

extern char **environ;

typedef struct request {
    cm_config config;
    int64_t players, ticks, seed, workers;
    double latency_ms, jitter_ms, loss_percent, uplink_mbit;
} request;

static int read_request(int argc, char **argv, request *r)
{
    *r = (request){.players = 8,
                   .seed = 1,
                   .latency_ms = LATENCY_MS,
                   .jitter_ms = JITTER_MS,
                   .loss_percent = LOSS_PCT,
                   .uplink_mbit = UPLINK_MBIT};
    const cm_option own[] = {
        {"players", CM_OPTION_INT, &r->players, 1, CAROM_PLAYERS_MAX, NULL, NULL},
        {"ticks", CM_OPTION_INT, &r->ticks, 1, CM_CAPACITY_TICKS_MAX, NULL, NULL},
        {"seed", CM_OPTION_INT, &r->seed, 1, 1000000, NULL, NULL},
        {"workers", CM_OPTION_INT, &r->workers, 1, 1024, NULL, NULL},
        {"latency", CM_OPTION_NUMBER, &r->latency_ms, 0, 1000, NULL, NULL},
        {"jitter", CM_OPTION_NUMBER, &r->jitter_ms, 0, 1000, NULL, NULL},
        {"loss", CM_OPTION_NUMBER, &r->loss_percent, 0, 50, NULL, NULL},
        {"uplink", CM_OPTION_NUMBER, &r->uplink_mbit, 0.001, 1e6, NULL, NULL}};
    cm_failure failure;
    int status =
        cm_cli_status(cm_flags_read_config(argc, argv, environ, own, sizeof own / sizeof own[0],
                                           &r->config, NULL, &failure),
                      &failure);
    if (status == CM_STATUS_DONE && r->config.scene[0] == '\0') {
        status = cm_cli_usage("capacity: no scene given, expected --scene NAME or --scene FILE");
    }
    return status;
}

static void print_json(const cm_scene *scene, const cm_capacity *c, const request *r,
                       const cm_capacity_machine *machine, const cm_capacity_answer *a)
{
    cm_line line;
    cm_line_begin(&line);
    cm_line_put(&line, CM_T("scene", cm_scene_name(scene)), CM_U("bodies", c->bodies),
                CM_U("players", (uint64_t)r->players), CM_U("tick_rate", c->tick_rate),
                CM_U("ticks", c->ticks), CM_X("hash", c->hash), CM_U("rewinds", c->rewinds),
                CM_U("rewound_ticks", c->rewound_ticks), CM_U("views", c->views),
                CM_N("tick_ms", a->tick_ms), CM_N("loop_ms", c->loop_ms),
                CM_N("loop_ms_p99", c->loop_ms_p99), CM_N("record_ms", c->record_ms),
                CM_N("datagram_us", c->datagram_us), CM_U("datagrams", c->datagrams),
                CM_N("core_load", a->load), CM_U("rooms_per_core", a->rooms_per_core),
                CM_N("memory_mib_room", (double)c->memory_bytes / (1024.0 * 1024.0)),
                CM_N("kbit_down_client", a->kbit_down), CM_N("kbit_up_client", a->kbit_up),
                CM_N("kbit_room", a->kbit_room), CM_N("disk_mib_hour_room", a->disk_mib_hour_room),
                CM_U("cores", machine->cores), CM_U("workers", machine->workers),
                CM_U("rooms", a->rooms), CM_T("limited_by", a->limited_by),
                CM_U("rooms_by_cpu", a->by_cpu), CM_U("rooms_by_memory", a->by_memory),
                CM_U("rooms_by_network", a->by_network), CM_U("rooms_by_clients", a->by_clients),
                CM_U("rooms_by_rooms", a->by_rooms), CM_N("kbit", a->kbit),
                CM_N("disk_mib_hour", a->disk_mib_hour));
    puts(cm_line_end(&line));
}

static void print_text(const cm_scene *scene, const cm_capacity *c, const request *r,
                       const cm_capacity_machine *machine, const cm_capacity_answer *a)
{
    printf("%s: %u bodies, %lld players, %u ticks a second; %llu ticks measured\n",
           cm_scene_name(scene), (unsigned)c->bodies, (long long)r->players, (unsigned)c->tick_rate,
           (unsigned long long)c->ticks);
    printf("  tick      %.3f ms of CPU: %.3f in the loop (p99 %.3f), %.3f recording, %.3f in "
           "sockets\n",
           a->tick_ms, c->loop_ms, c->loop_ms_p99, c->record_ms,
           a->tick_ms - c->loop_ms - c->record_ms);
    printf("  core      %llu rooms in %.0f%% of its time%s\n",
           (unsigned long long)a->rooms_per_core, 100.0 * CM_CAPACITY_BUDGET,
           a->tick_fits ? "" : ": the slow ticks of a single one are longer than their time");
    if (c->memory_bytes > 0) {
        printf("  memory    %.1f MiB a room\n", (double)c->memory_bytes / (1024.0 * 1024.0));
    }
    printf("  network   %.1f kbit/s to each client, %.1f from it; %.1f sent a room\n", a->kbit_down,
           a->kbit_up, a->kbit_room);
    printf("  disk      %.1f MiB an hour and room\n", a->disk_mib_hour_room);
    printf("machine: %llu rooms on %u of %u cores, limited by %s\n", (unsigned long long)a->rooms,
           (unsigned)machine->workers, (unsigned)machine->cores, a->limited_by);
    printf("  rooms by cpu %llu, memory %llu, network %llu, clients %llu, rooms %llu\n",
           (unsigned long long)a->by_cpu, (unsigned long long)a->by_memory,
           (unsigned long long)a->by_network, (unsigned long long)a->by_clients,
           (unsigned long long)a->by_rooms);
    printf("  all of them: %.1f Mbit/s sent, %.1f MiB of disk an hour\n", a->kbit / 1e3,
           a->disk_mib_hour);
}

static int measure(const request *r, const cm_scene *scene, uint32_t tick_rate)
{
    const carom_module *module = cm_module_find(cm_scene_module(scene));
    cm_capacity_options options = {.config = &r->config,
                                   .scene = scene,
                                   .module = module != &carom_module_sandbox ? module : NULL,
                                   .players = (uint32_t)r->players,
                                   .ticks = r->ticks > 0 ? (uint32_t)r->ticks : SECONDS * tick_rate,
                                   .seed = (uint64_t)r->seed,
                                   .link = {.latency_us = (uint32_t)(r->latency_ms * 1000.0),
                                            .jitter_us = (uint32_t)(r->jitter_ms * 1000.0),
                                            .loss = (float)(r->loss_percent / 100.0)}};
    cm_capacity capacity;
    char error[512] = "";
    carom_result result = cm_capacity_measure(&options, &capacity, error, sizeof error);
    if (result != CAROM_OK) {
        cm_cli_error("capacity: %s", error);
        return cm_failure_is_usage(result) && result != CAROM_ERROR_NOT_BUILT ? CM_STATUS_USAGE
                                                                              : CM_STATUS_FAILED;
    }
    cm_machine found;
    cm_machine_measure_size(&found);
    uint32_t cores = found.cores > 0 ? found.cores : 1;
    if (found.cores_quota > 0.0 && found.cores_quota < (double)cores) {
        cores = found.cores_quota > 1.0 ? (uint32_t)found.cores_quota : 1;
    }
    uint32_t workers = r->workers > 0 ? (uint32_t)r->workers : cores > 1 ? cores - 1 : 1;
    cm_capacity_machine machine = {.cores = cores,
                                   .workers = workers,
                                   .memory_available = found.memory_available,
                                   .uplink_mbit = r->uplink_mbit};
    cm_capacity_answer answer;
    cm_capacity_judge(&capacity, (uint32_t)r->players, &machine, &answer);
    bool terminal = isatty(STDOUT_FILENO) != 0;
    (terminal ? print_text : print_json)(scene, &capacity, r, &machine, &answer);
    return CM_STATUS_DONE;
}

static int run_command(int argc, char **argv)
{
    static request r;
    cm_scene *scene = NULL;
    uint32_t tick_rate = 0;
    int status = read_request(argc, argv, &r);
    char error[512];
    if (status == CM_STATUS_DONE &&
        cm_module_load_list(r.config.module, NULL, error, sizeof error) != CAROM_OK) {
        status = cm_cli_usage("capacity: --module: %s", error);
    }
    cm_failure failure;
    if (status == CM_STATUS_DONE &&
        cm_bootstrap_find_scene(&r.config, r.config.scene, CM_SEEK_ANY, &scene, &tick_rate,
                                &failure) != CAROM_OK) {
        status = cm_cli_status(CAROM_ERROR_ARGUMENT, &failure);
    }
    if (status == CM_STATUS_DONE) {
        status = measure(&r, scene, tick_rate);
    }
    cm_scene_free(scene);
    return cm_cli_finish(status);
}

const cm_command cm_capacity_command = {
    "capacity", run_command,
    "what this machine holds\n"
    "usage: carom capacity --scene NAME|FILE [--players N] [options] [settings of serve]\n"
    "\n"
    "Hosts one room of the scene in this process, with N clients that speak the whole protocol\n"
    "over a virtual network and play (the sandbox: wander about; another game, --module FILE.so: "
    "as\n"
    "its own bot does, else random inputs that it takes), records it in a temporary directory, and "
    "measures\n"
    "what the server takes of the CPU. Then it says how many such rooms fit. But for times, and\n"
    "what follows from them, the same options give the same output.\n"
    "\n"
    "  --scene NAME|FILE  a name in the database (--db), or a file\n"
    "  --module FILE.so   the scene's module, where it is none of those built in; may be repeated\n"
    "  --players N        clients in the room, 1 to 64 (8)\n"
    "  --ticks N          ticks measured, once all play (those of 20 s)\n"
    "  --latency MS       of the clients, one way, each way (40)\n"
    "  --jitter MS        one way, each way (10)\n"
    "  --loss PCT         of the packets, each way (1)\n"
    "  --seed N           of the network's chance and of the inputs (1)\n"
    "  --workers N        processes of carom serve to reckon with, a core each (one for each core\n"
    "                     but one, at least one)\n"
    "  --uplink MBIT      what the machine can send, Mbit/s; it is not measured (1000)\n"
    "  --config FILE and every setting of serve: rewind_ms, view_rate, keyframe_s, … as in serve\n"
    "\n"
    "On a terminal a text; else one JSON object: scene, bodies, players, tick_rate, ticks, hash "
    "(of\n"
    "the last state), rewinds, rewound_ticks, views; of a tick, ms of CPU: loop_ms (receive, "
    "step,\n"
    "send), its loop_ms_p99, record_ms (the match file) and tick_ms, all of it with datagrams "
    "times\n"
    "datagram_us (the kernel's sockets, measured by themselves); core_load of one room and\n"
    "rooms_per_core, in 80% of a core; memory_mib_room; kbit_down_client, kbit_up_client and\n"
    "kbit_room (sent), headers counted; disk_mib_hour_room; cores, workers; rooms that fit, and\n"
    "limited_by: the least of rooms_by_cpu, _memory (80% of what is available), _network, "
    "_clients\n"
    "and _rooms (what a worker takes at most); kbit and disk_mib_hour of all those rooms.\n"
    "Status 2 where the scene or the settings are at fault.\n",
    NULL};
