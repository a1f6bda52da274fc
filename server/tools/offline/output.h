// The output of `carom sim`: one line a sampled tick (jsonl), or one a body and sampled tick (csv).
#ifndef CM_SERVER_TOOLS_OFFLINE_OUTPUT_H
#define CM_SERVER_TOOLS_OFFLINE_OUTPUT_H

#include <stdio.h>

#include "server/tools/offline/offline.h"

// Contact, hit, break and sleep events of the ticks since the last line, and those that the module
// emitted, when they are wanted.
typedef struct cm_sim_event {
    uint64_t tick;
    bool is_break, is_sleep, is_game, is_hit;
    carom_contact_event event; // of none of these
    carom_event game;
    carom_hit_event hit;
    carom_joint_event broken;
    carom_sleep_event sleep;
} cm_sim_event;

typedef struct cm_sim_events {
    cm_sim_event *rows;
    uint32_t count, capacity;
} cm_sim_events;

// Seconds, summed over all steps.
typedef struct cm_sim_timing {
    double stage_s[CAROM_STAGE_COUNT]; // a hash and a save a tick are no part of the wall time
    double wall;
    uint64_t ticks;
} cm_sim_timing;

// Adds the events of the last tick. False without memory.
bool cm_sim_events_add(cm_sim_events *events, const cm_offline *run);

// `events` NULL: not printed. `timing` NULL: not printed (the last line has it).
void cm_sim_print_json(FILE *out, const cm_offline *run, const cm_sim_events *events,
                       const cm_sim_timing *timing);
void cm_sim_print_csv_header(FILE *out);
void cm_sim_print_csv(FILE *out, const cm_offline *run);
void cm_sim_print_timing(FILE *out, const cm_sim_timing *timing);

#endif
