// One client as it is watched: the frames that it drew, kept until the truth of their time is
// there, and what was found.
#ifndef CM_SERVER_TOOLS_FEEL_WATCH_H
#define CM_SERVER_TOOLS_FEEL_WATCH_H

#include "carom/client.h"
#include "server/tools/feel/paths.h"
#include "server/tools/feel/tally.h"
#include "server/tools/feel/truth.h"

#define CM_FEEL_FRAMES 128u // that wait for their truth

typedef struct cm_feel_drawn {
    carom_body_id id; // null: none was drawn
    bool predicted;
    carom_vec3 position, velocity;
} cm_feel_drawn;

typedef struct cm_feel_frame {
    uint64_t time_us;
    double own_tick, others_tick;
    uint64_t healed_us; // the newest blackout's end then
    bool cut;
    cm_feel_known known; // what the path could have brought by then
    cm_feel_drawn *bodies;
} cm_feel_frame;

// A body as the bound shows it.
typedef struct cm_feel_bounded {
    cm_feel_drawn drawn; // smoothed
    bool held;
    cm_feel_drawn bare; // not smoothed
    carom_vec3 before;  // without what became known for this frame
    carom_vec3 offset;  // drawn minus known
    float left_s;
} cm_feel_bounded;

// Shared by all clients of a run.
typedef struct cm_feel_found {
    cm_feel_tally own, others, shared, pops, own_pops, updates;
    cm_feel_tally bound_own, bound_others, bound_shared, bound_pops; // jumps worn off
    cm_feel_tally bare_own, bare_others, bare_shared, bare_pops;     // as it would be without
    float own_max;
    double recovery_ms_max;
} cm_feel_found;

typedef struct cm_feel_watch {
    uint32_t slots, player;
    uint64_t frames, judged; // drawn; of these, held against the truth
    cm_feel_frame ring[CM_FEEL_FRAMES];
    uint64_t right_us;     // since when the own body has been right; 0: it is not
    uint64_t recovered_us; // healed_us of the blackout that is dealt with
    uint32_t bounded;      // frames in a row that have their bound; of the last one:
    uint64_t bound_us;
    cm_feel_known bound_known;
    cm_feel_bounded *bound;
} cm_feel_watch;

bool cm_feel_watch_init(cm_feel_watch *watch, uint32_t slots);
void cm_feel_watch_free(cm_feel_watch *watch);
// Right after an update of the client.
void cm_feel_watch_draw(cm_feel_watch *watch, const carom_client *client, uint64_t now_us,
                        const cm_feel_way *way, const cm_feel_known *known);
// Judges the frames whose truth is there; those before `from_us` count for nothing.
void cm_feel_watch_judge(cm_feel_watch *watch, const cm_feel_truth *truth, uint64_t from_us,
                         cm_feel_found *found);

#endif
