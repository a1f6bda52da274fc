// Finds the faults of a machine: a pure function of the measurements.
#ifndef CM_SERVER_TOOLS_DOCTOR_JUDGE_H
#define CM_SERVER_TOOLS_DOCTOR_JUDGE_H

#include "server/tools/doctor/machine.h"

typedef enum cm_finding_level {
    CM_FINDING_OK,
    CM_FINDING_WARNING, // a server runs, and not as well as it could, or not for long
    CM_FINDING_ERROR,   // it does not run
} cm_finding_level;

#define CM_FINDING_TEXT_MAX 384

typedef struct cm_finding {
    cm_finding_level level;
    const char *about;               // one word
    char found[CM_FINDING_TEXT_MAX]; // what, and unless it is good, what was expected
    const char *mend;                // how; not looked at where it is good
} cm_finding;

// The load to be hosted.
typedef struct cm_needs {
    uint32_t rooms;
    bool power; // ticks are to outlive a loss of power
} cm_needs;

// Descriptors that so many rooms take.
uint32_t cm_needs_files(uint32_t rooms);

#define CM_MACHINE_FINDINGS 8u
// Always all of them, in the same order.
void cm_machine_judge(const cm_machine *machine, const cm_needs *needs,
                      cm_finding findings[CM_MACHINE_FINDINGS]);

const char *cm_finding_level_name(cm_finding_level level);

#endif
