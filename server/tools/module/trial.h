// A module under trial: played by hostile and sensible players (plan.h), and every tick made again
// in every way that a room, a client or a replay may make it. A module passes if nothing differs;
// otherwise the report has the first difference with its tick, its place and the likely cause.
//
//   the same tick twice                     a clock, or memory outside of the state
//   with other bytes on the stack           memory that was never written
//   rewound into a game at another address  an address as data
//   encoded and decoded, then on            a state that is not its words
//   in three more processes                 an address as data
//   with hostile states                     only crashes and loops count
//
// After each callback it checks that nothing is written beside the state (which lies between red
// zones and pages without access), and that the processor's control registers and read-only memory
// have not changed. A finding names the callback.
//
// The module runs in processes of its own, so that a crash or a loop is reported as well.
#ifndef CM_SERVER_TOOLS_MODULE_TRIAL_H
#define CM_SERVER_TOOLS_MODULE_TRIAL_H

#include "shared/game/game_host.h"

#define CM_TRIAL_TICKS_MAX   10000u
#define CM_TRIAL_CPU_S       2 // of one tick
#define CM_TRIAL_FINDING_MAX 512
#define CM_TRIAL_KINDS_MAX   16u
#define CM_TRIAL_NAME_MAX    48

typedef struct cm_trial_def {
    const char *path;           // of the module's file, checked and loaded in each process
    const carom_module *module; // or one that is there; path is then not looked at
    const cm_scene *scene;
    uint64_t seed;
    uint32_t ticks;
} cm_trial_def;

// Events of one kind that the module's rules told.
typedef struct cm_trial_events {
    uint32_t kind, count;
    char name[CM_TRIAL_NAME_MAX]; // the module's, cut; empty: it has none
} cm_trial_events;

typedef struct cm_trial_report {
    bool sound;
    char finding[CM_TRIAL_FINDING_MAX]; // where it is not: "tick 12: …"
    char module[32];
    uint64_t final_hash;
    uint32_t ticks, joins, leaves, messages, inputs, refused_inputs;
    uint32_t again, rewinds, decodes, hostile_states; // how many ticks, rewinds… were compared
    uint32_t sent, emitted;                           // messages and events of the module
    cm_trial_events kinds[CM_TRIAL_KINDS_MAX];        // of the first kinds that came
    uint32_t kind_count;
    uint64_t tick_ns_sum, tick_ns_max; // processor time of a tick, of the whole game
} cm_trial_report;

// CAROM_OK: the report has the result. CAROM_ERROR_ARGUMENT: the file is refused, or the scene and
// the module make no game (finding has the reason); CAROM_ERROR_MEMORY, CAROM_ERROR_IO.
carom_result cm_trial_run(const cm_trial_def *def, cm_trial_report *report);

// Adds events of a kind to the report's; those of a kind above the first ones are in `emitted`
// alone.
void cm_trial_add_events(cm_trial_report *report, const cm_trial_events *events);

#endif
