// The paths between client and server that `carom bench feel` knows, by name. A path may change
// with time: each client has its own cm_feel_way, drawn from its seed.
#ifndef CM_SERVER_TOOLS_FEEL_PATHS_H
#define CM_SERVER_TOOLS_FEEL_PATHS_H

#include "shared/base/rng.h"
#include "shared/net/net.h"

typedef enum cm_feel_change {
    CM_FEEL_STEADY,
    CM_FEEL_BURST,    // of loss, two states after Gilbert and Elliott
    CM_FEEL_STEP,     // other_us of latency every other ten seconds
    CM_FEEL_MOBILE,   // a random walk of the latency
    CM_FEEL_BLACKOUT, // other_us of nothing each ten seconds
} cm_feel_change;

typedef struct cm_feel_path {
    const char *name;
    cm_link_def link; // each way; `apart`: up, and `down` is that of what the client receives
    bool apart;
    cm_link_def down;
    cm_feel_change change;
    uint32_t other_us;
} cm_feel_path;

extern const cm_feel_path cm_feel_paths[]; // ends with a NULL name
#define CM_FEEL_PATH_NAMES                                                                         \
    "perfect, r60, r200, r300, asym, burst, blackout250, blackout2000, step or mobile"
// True if one of the names, with commas between them, is no path's.
bool cm_feel_paths_wrong(const char *names);
const cm_feel_path *cm_feel_path_find(const char *name);

typedef struct cm_feel_way {
    const cm_feel_path *path;
    cm_rng rng;
    cm_link_def link; // now
    bool cut;
    bool bad;          // of bursts
    uint64_t until_us; // the present state lasts
    double walk;
    uint64_t healed_us; // when the last blackout ended; 0: none yet
} cm_feel_way;

void cm_feel_way_begin(cm_feel_way *way, const cm_feel_path *path, uint64_t seed, uint64_t now_us);
// Sets link and cut as of now; `still`: no blackouts and steps yet, the warm-up is not over.
void cm_feel_way_turn(cm_feel_way *way, uint64_t now_us, bool still);

#endif
