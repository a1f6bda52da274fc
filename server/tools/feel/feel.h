// The feel of a game over a path: a real worker and SDK clients in one process, in virtual
// time, from one seed, and what each client draws held against the truth.
//
//   error          displayed pose against the truth at the tick that is shown
//   present error  against the truth at the player's own tick: what counts when two touch one thing
//   pop            displayed step minus displayed velocity times the frame's time
#ifndef CM_SERVER_TOOLS_FEEL_FEEL_H
#define CM_SERVER_TOOLS_FEEL_FEEL_H

#include "server/config/config.h"
#include "server/tools/feel/games.h"
#include "server/tools/feel/paths.h"
#include "server/tools/feel/watch.h"

typedef struct cm_feel_options {
    const cm_feel_game *game;
    const cm_feel_path *path;
    const cm_config *config; // of the server
    uint64_t seed;
    uint32_t seconds;     // that count, after the warm-up
    uint32_t budget_kbit; // 0: the scene's
    uint32_t predict_us;  // each client's budget of a frame, at 1 us a body's step; 0: the SDK's
    bool sync_inputs;     // exact sync
    bool by_views;        // the truth is what views tell each client (told.h), as of a real server
    bool with_bound;      // beside each figure what the path allows (bound.h); takes as long again
} cm_feel_options;

// Millimetres. Of others and of shared bodies (all else that moves) present errors.
typedef struct cm_feel_figures {
    double own_p50_mm, own_p99_mm, others_p99_mm, shared_p99_mm;
    double pops_p99_mm;                                                   // of the others
    double bound_own_mm, bound_others_mm, bound_shared_mm, bound_pops_mm; // of the four p99
    double bare_own_mm, bare_others_mm, bare_shared_mm, bare_pops_mm;     // jumps not worn off
    double own_max_mm, own_pops_p99_mm;
    double recovery_ms_max;    // from a blackout's end until the own body is right again
    double late_percent;       // of inputs, refused ones among them
    double lead_ticks;         // mean, as reported by views
    double update_us_p99;      // thread time
    double kbit_down, kbit_up; // mean over players, IP and UDP headers counted
    double kbit_told;          // as the server's status says, mean
    // Corrections and errors that the clients counted.
    uint64_t reconciles, errors;
    double error_max_mm;
} cm_feel_figures;

// Those of what was found, of which a run makes the others.
void cm_feel_sum(const cm_feel_found *found, cm_feel_figures *figures);

// On failure `error` says why.
carom_result cm_feel_measure(const cm_feel_options *options, cm_feel_figures *figures, char *error,
                             size_t error_size);

#endif
