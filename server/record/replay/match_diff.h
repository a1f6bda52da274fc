// Finds where two matches diverge: in their definitions, or the first tick that differs.
#ifndef CM_SERVER_RECORD_REPLAY_MATCH_DIFF_H
#define CM_SERVER_RECORD_REPLAY_MATCH_DIFF_H

#include "server/record/format/match_file.h"

typedef struct cm_match_difference {
    bool made_differs;   // engine, layout, module, seed, tick rate or scene
    char made[64];       // the first of these that does
    bool input_differs;  // events or inputs
    uint64_t input_tick; // the first tick in which they do
    bool hash_differs;
    uint64_t hash_tick;
    uint64_t ticks[2]; // last ones; compared up to the smaller
} cm_match_difference;

// Arrivals, personal rows, names and times are left aside: they change nothing in a match.
carom_result cm_match_compare(cm_match_file *a, cm_match_file *b, cm_match_difference *difference,
                              cm_match_error *error);

#endif
