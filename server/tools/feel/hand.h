// A hand that feels: touch at 1 kHz over a path, in virtual time, from one seed. A real worker and
// an SDK client; a device's pose a millisecond, by a fixed path, and the wrench that the client
// gives for it, held against a local run: the same scene and path in a world of its own.
//
//   force, torque  |given - local|, of the greatest that the local run had
//   work           done on the hand over a closed path, of which there are some: sum of F . dx
//   wall           a device on a spring, pressed against the floor: how stiff that is, and where
//                  the device was meanwhile, against a device alone
#ifndef CM_SERVER_TOOLS_FEEL_HAND_H
#define CM_SERVER_TOOLS_FEEL_HAND_H

#include "server/config/config.h"
#include "shared/net/net.h"

typedef struct cm_hand_path {
    const char *name;
    cm_link_def link;     // each way
    double force_percent; // that force and torque may be off; 0: not bounded
} cm_hand_path;

extern const cm_hand_path cm_hand_paths[]; // ends with a NULL name

// Targets, on each path.
#define CM_HAND_WORK_J       1.0e-4 // over a closed path
#define CM_HAND_WALL_PERCENT 1.0    // of its stiffness alone
#define CM_HAND_UPDATE_US    1000.0 // p99.9

typedef struct cm_hand_options {
    const cm_hand_path *path;
    const cm_config *config; // of the server
    uint64_t seed;
    bool sync_inputs; // exact sync
} cm_hand_options;

#define CM_HAND_STROKES 6u

// Of one closed path.
typedef struct cm_hand_stroke {
    double force_p99_percent, force_rms_percent;
    double torque_p99_percent; // of the peak of the force at half the pointer's width
    double peak_n;             // of the local run
    double work_j, work_local_j;
} cm_hand_stroke;

typedef struct cm_hand_figures {
    cm_hand_stroke strokes[CM_HAND_STROKES];
    cm_hand_stroke worst; // of them, each figure by itself
    double wall_alone_n_m, wall_percent, wall_off_mm;
    double local_percent, withheld_percent;              // of the milliseconds
    double update_us_p50, update_us_p999, update_us_max; // thread time
    double kbit_up, kbit_down;                           // IP and UDP headers counted
    double late_percent;
    uint64_t corrections, felt; // of the world, and those that changed the contact
    uint64_t steps, steps_max;  // made by the prediction; in one update
} cm_hand_figures;

// On failure `error` says why.
carom_result cm_hand_measure(const cm_hand_options *options, cm_hand_figures *figures, char *error,
                             size_t error_size);

#define CM_HAND_LINE 1024u
// Every target is reached.
bool cm_hand_reached(const cm_hand_options *options, const cm_hand_figures *figures);
// One line of JSON, without its end: a figure that has a target, and behind it `…_most`.
void cm_hand_line(const cm_hand_options *options, const cm_hand_figures *figures,
                  char line[CM_HAND_LINE]);

#endif
