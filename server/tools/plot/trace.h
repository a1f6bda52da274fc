// A quantity that a chart shows over time: a number of the whole world, of a body or of a joint,
// computed from the state alone, in binary64.
#ifndef CM_SERVER_TOOLS_PLOT_TRACE_H
#define CM_SERVER_TOOLS_PLOT_TRACE_H

#include "server/tools/offline/offline.h"

typedef enum cm_trace_kind {
    CM_TRACE_WORLD, // one line a run, over time
    CM_TRACE_BODY,  // one line a run and body, over time
    CM_TRACE_JOINT, // one line a run and joint, over time
    CM_TRACE_PATH,  // one line a run and body, one coordinate over another
    CM_TRACE_MAP,   // kinetic energy after a collision over friction and restitution
    CM_TRACE_COST,  // time of a step over the number of bodies that can move
} cm_trace_kind;

typedef struct cm_trace {
    const char *name;    // on the command line
    const char *title;   // of the chart
    const char *y_title; // with the unit
    cm_trace_kind kind;
    uint32_t what; // within the kind: for trace.c
} cm_trace;

// The trace of a name, or NULL; `length` bytes of it count.
const cm_trace *cm_trace_find(const char *name, size_t length);
// All names with commas between, for messages and help.
void cm_trace_names(char *text, size_t size);

// True if a trace is the angle or position of joints.
bool cm_trace_is_angle(const cm_trace *trace);
// True if a trace sums over bodies.
bool cm_trace_is_sum(const cm_trace *trace);
// The part that a scene must have for a trace to show anything: "joints".
const char *cm_trace_needs(const cm_trace *trace);

// The value now; `index` is a slot of a body or joint. NAN where there is none. `bodies`: the slots
// that count for sums over bodies (NULL: all).
double cm_trace_value(const cm_trace *trace, const cm_offline *run, uint32_t index,
                      const bool *bodies);
// A point of a path: horizontal, vertical.
void cm_trace_point(const cm_trace *trace, const cm_offline *run, uint32_t slot, double point[2]);

double cm_trace_kinetic_energy(const cm_offline *run);

#endif
