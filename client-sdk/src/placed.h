// The bodies of a prediction where the server has them: the mirror's values, carried on to the tick
// at which the prediction stands, and put into its world.
#ifndef CM_CLIENT_PLACED_H
#define CM_CLIENT_PLACED_H

#include "client-sdk/src/predict.h"

#define CM_PLACED_TURN 1.0e-6f // 1 - |dot| up to which two orientations are the same

// The server's value of a body, carried on to `tick` where it is older.
void cm_placed_pose(const cm_predictor *p, carom_body_id id, uint64_t tick, cm_view_pose *pose);
// The body is at rest on the server: one that no view contained has not changed since the keyframe.
bool cm_placed_rests(const cm_predictor *p, carom_body_id id);
// Puts a body where the server had it at `tick`, with the type that it is to have here.
void cm_placed_put(cm_predictor *p, carom_body_id id, uint64_t tick);
// Corrects a simulated body as little as the server's value asks for.
void cm_placed_pull(cm_predictor *p, carom_body_id id, uint64_t tick);
// After a restore: the state may be from before a body was touched by hand.
void cm_placed_again(cm_predictor *p);

#endif
