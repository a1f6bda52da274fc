// The truth of a room as a client's views tell it, where the room itself is out of reach: a body
// that a view brings is known at the view's tick and, by its velocity, at the one before. Only
// between those is it judged: what no view brings, is not.
#ifndef CM_SERVER_TOOLS_FEEL_TOLD_H
#define CM_SERVER_TOOLS_FEEL_TOLD_H

#include "carom/client.h"
#include "server/tools/feel/truth.h"

typedef struct cm_feel_told {
    cm_feel_truth truth;
    uint64_t tick;    // of the newest view, or confirmed
    uint64_t packets; // of views, that had come by then
    carom_vec3 *last; // where each body was told to be
} cm_feel_told;

bool cm_feel_told_init(cm_feel_told *told, uint32_t slots);
void cm_feel_told_free(cm_feel_told *told);
// After each update of the client.
void cm_feel_told_follow(cm_feel_told *told, const carom_client *client);

#endif
