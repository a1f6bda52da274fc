// The truth of a room: where each body was after each tick, once no rewind can change it any more.
#ifndef CM_SERVER_TOOLS_FEEL_TRUTH_H
#define CM_SERVER_TOOLS_FEEL_TRUTH_H

#include "server/room/room.h"
#include "server/tools/feel/bound.h"

#define CM_FEEL_TRUTH_TICKS 256u
#define CM_FEEL_NOBODY      UINT8_MAX

typedef struct cm_feel_true_body {
    uint32_t generation; // 0: none
    uint8_t player;      // who steers it, or CM_FEEL_NOBODY
    bool moves;
    carom_vec3 position;
} cm_feel_true_body;

typedef struct cm_feel_truth {
    uint32_t slots;
    uint64_t newest; // tick; 0: none
    cm_feel_true_body *bodies;
    cm_feel_bound *bound; // is given each true state; set by the caller, or NULL
} cm_feel_truth;

bool cm_feel_truth_init(cm_feel_truth *truth, uint32_t slots);
void cm_feel_truth_free(cm_feel_truth *truth);
// The row of a tick, by slots.
cm_feel_true_body *cm_feel_truth_row(const cm_feel_truth *truth, uint64_t tick);
// Takes what became final. To be called at least once in each tick's time.
void cm_feel_truth_follow(cm_feel_truth *truth, cm_room *room);
// A body at a time between two ticks. False where it did not live then, or the time is not kept.
bool cm_feel_truth_at(const cm_feel_truth *truth, carom_body_id id, double tick,
                      cm_feel_true_body *body);

#endif
