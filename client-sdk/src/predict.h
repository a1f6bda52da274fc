// Prediction: a second game that runs ahead of the server with the world's own step, and goes back
// to a tick by shared/room/timeline.h, as the server's rooms do.
//
// The bodies near the player's own are simulated, as many as the budget of a frame pays for
// (nearby.h); the others stand still where the mirror has them.
// Each tick's state is kept until the server's view of that tick comes. If the view agrees (within
// the quantisation) nothing is done; if it differs, that tick's state is restored and corrected,
// and exactly the ticks since then are stepped again, as far as the states kept reach: 2 s at 60
// ticks a second, half a second at 1,000.
//
// The work has a budget of steps, refilled with time: at most the lead, or a round trip, and a few
// ticks in one update. Updates that come rarely shrink it where the steps are what takes the time;
// others let it grow again within a third of a second. Work beyond the budget is put off; then the
// bodies of the newest view are extrapolated in straight lines to a later tick, and only the last
// few ticks are stepped. The prediction never falls behind its clock.
//
// The jump that a correction causes on the screen is smoothed, visually only.
#ifndef CM_CLIENT_PREDICT_H
#define CM_CLIENT_PREDICT_H

#include "client-sdk/src/events.h"
#include "client-sdk/src/interp.h"
#include "client-sdk/src/mirror.h"
#include "client-sdk/src/touch.h"
#include "shared/room/timeline.h"
#include "shared/view/smoothing.h"

// States kept: half a second, and 128 at the least.
#define CM_PREDICT_TICKS     512u // most
#define CM_PREDICT_TICKS_MIN 128u
#define CM_PREDICT_BUDGET_US 2000u
#define CM_PREDICT_COST_NS   1000u // a body and step, until it is measured
#define CM_INPUT_TICKS       512u  // own inputs remembered

// Own inputs by tick, from the first one that was sent; a tick that was left out has the last one
// before it, as at the server.
typedef struct cm_input_log {
    uint64_t newest; // 0: none yet
    uint64_t oldest;
    uint8_t inputs[CM_INPUT_TICKS][CAROM_INPUT_MAX];
} cm_input_log;

typedef struct cm_place {
    carom_vec3 position;
    carom_quat orientation;
} cm_place;

typedef struct cm_predict_slot {
    uint8_t simulated;       // else it stands still
    bool is_chosen, touches; // while it is chosen what is simulated: it is; it touches the own body
    uint8_t blocked;     // a player's body that holds its place on the server: it stands still here
    uint8_t smooth;      // an offset is being worn off
    uint8_t was;         // type of the body on the server
    uint32_t generation; // of the body that this describes; 0: none
    uint32_t seen_tick;  // of the mirror's value that was compared
    uint32_t doubt_tick; // of the first view in a row that a body at rest differed from; 0: none
    uint32_t apart_tick; // of the first view in a row with another body in this slot; 0: none
    carom_vec3 pushed;   // where the own body was on the server when this one began to be blocked
    uint64_t touched;    // newest tick whose saved state has another type or place
    bool held;           // `before` is set
    cm_place before;     // what was shown before a correction
    cm_place previous;   // one tick before the newest
    carom_vec3 offset;   // shown minus simulated
    carom_quat turn;     // shown = turn x simulated
    float left_s;        // until both are gone
} cm_predict_slot;

typedef struct cm_near {
    float distance;
    uint32_t slot;
} cm_near;

typedef struct cm_shown {
    uint64_t tick;
    carom_vec3 position;
} cm_shown;

typedef struct cm_predict_stats {
    uint64_t reconciles, steps;
    uint64_t error_count;
    double error_sum, error_max;
    uint64_t error_buckets[CAROM_ERROR_BUCKETS];
} cm_predict_stats;

typedef struct cm_predictor {
    const carom_allocator *allocator;
    const cm_mirror *mirror;
    const cm_interp *interp;
    const cm_input_log *log;
    cm_event_log *events; // what it makes happen; set by the client
    carom_game *game;
    cm_timeline *timeline; // the game's: inputs and states by tick
    carom_world *world;
    double budget_us, cost_ns; // of a frame; of a body's step
    double part_us;            // of an update that a correction may take, at the most; 0: budget_us
    uint64_t branch; // to which a correction has come that takes several updates (catchup.h), or 0
    bool began;      // it did in this update
    cm_touch *touch; // of the own pointer; set by the client, or NULL
    double age;      // ticks of a view when it comes
    uint32_t simulated;        // bodies, besides the own one
    cm_near *near;             // room for a row of each slot
    float smoothing_s, snap_m; // of jumps that corrections cause
    bool ready;                // a state exists
    bool rebuild;              // the next view starts anew from the mirror
    uint64_t seen;             // newest view tick whose error was noted
    uint64_t handled;          // newest view tick that was compared
    uint64_t rounds;           // reconciliations looked at
    uint32_t structure;
    bool news;                 // a view has not been compared yet
    uint64_t compared;         // tick at which a view last was
    double credit, rate, most; // steps: to spend now, refilled a tick of time, at most
    double work_s;             // that steps took since then
    bool spent;                // steps were made since the last refill
    uint64_t started;          // tick of the state that was taken from the mirror last
    uint64_t relayed;          // of the newest view whose relay was read
    double render;             // tick at which the others are shown, set by the client
    cm_predict_slot *slots;
    uint32_t *drive_doubts; // of each joint, as doubt_tick: whether it is driven as in the mirror
    uint32_t ring;          // of shown, and states kept
    cm_shown shown[CM_PREDICT_TICKS];
    cm_predict_stats stats;
} cm_predictor;

// Of the ticks from `first` to `last`.
void cm_input_log_set(cm_input_log *log, uint64_t first, uint64_t last, const uint8_t *bytes,
                      uint32_t size);
// NULL: none was sent then, and the server holds what it had.
const uint8_t *cm_input_log_get(const cm_input_log *log, uint64_t tick);

// Everything given must outlive the predictor. NULL without memory.
cm_predictor *cm_predictor_create(const carom_allocator *allocator, const cm_mirror *mirror,
                                  const cm_interp *interp, const cm_input_log *log);
void cm_predictor_destroy(cm_predictor *predictor);

// `elapsed` ticks passed since the last update; a view is `age` ticks old when it comes.
void cm_predictor_refill(cm_predictor *predictor, double elapsed, double age);
// Steps to `tick` with the log's inputs, as far as the budget goes; further away it waits for a
// view to start from.
void cm_predictor_advance(cm_predictor *predictor, uint64_t tick);
// A view came with a relay: the inputs of the other players. Ticks that were stepped with others
// are stepped again by the next reconciliation.
cm_packet_reason cm_predictor_relay(cm_predictor *predictor, const cm_view_header *header);
// The mirror has views up to its newest tick: compares, corrects, steps again to where the state
// was; starts anew at `tick` where there is nothing to compare with.
void cm_predictor_reconcile(cm_predictor *predictor, uint64_t tick);
// Wears the visual offsets off.
void cm_predictor_smooth(cm_predictor *predictor, double seconds);

// The pose shown at `tick` of the predicted clock: between the newest two states, one tick behind;
// beyond them, straight on for a while. False where the body is not simulated.
bool cm_predictor_pose(const cm_predictor *predictor, carom_body_id body, double tick,
                       carom_client_pose *pose);
// The body at the newest tick predicted; false likewise.
bool cm_predictor_state(const cm_predictor *predictor, carom_body_id body, carom_body_state *state);
// The prediction's bodies are those to be drawn: what it destroyed is gone, though no view says so
// yet, and what it spawned is there. False while it is not ready, or older than a world change.
bool cm_predictor_knows(const cm_predictor *predictor);
carom_body_id cm_predictor_own(const cm_predictor *predictor); // null where it is gone
// The pose of one that it spawned, which no view has had yet: as cm_predictor_pose.
void cm_predictor_spawned(const cm_predictor *predictor, const carom_body_state *state, double tick,
                          carom_client_pose *pose);
// Adds what is left of a smoothed jump to the pose of a body that is not simulated.
void cm_predictor_offset(const cm_predictor *predictor, carom_body_id body,
                         carom_client_pose *pose);

// With exact sync, in rollback.c. The mirror made the next confirmed tick, with events or not.
void cm_predictor_confirmed(cm_predictor *predictor, bool events);
// In the place of reconcile and advance.
void cm_predictor_follow(cm_predictor *predictor, uint64_t tick);

// Between predict.c, reconcile.c, catchup.c and rollback.c.
// Back to a kept tick, with the bodies that were changed by hand since.
bool cm_predictor_back(cm_predictor *predictor, uint64_t tick);
// The newest tick was corrected.
void cm_predictor_corrected(cm_predictor *predictor, carom_body_id own);
void cm_predictor_hold_shown(cm_predictor *predictor, uint64_t tick);
void cm_predictor_smooth_corrected(cm_predictor *predictor);
void cm_predictor_note_error(cm_predictor *predictor, double error);
uint64_t cm_predictor_tick(const cm_predictor *predictor); // of the game's state
void cm_predictor_step(cm_predictor *predictor, bool last);
void cm_predictor_go_on(cm_predictor *predictor, uint64_t tick); // as far as this update may
void cm_predictor_note_shown(cm_predictor *predictor);
cm_place cm_predictor_place(const carom_body_state *state);

#endif
