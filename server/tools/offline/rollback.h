// The rollback oracle (`carom sim --rollback R`): at every tick the run is saved, stepped R ticks,
// and the save is restored into a second world at another address, whose scratch memory holds a
// pattern, and stepped R ticks again. Every byte of both saves must be equal. Then the first run is
// itself restored, over scratch with another pattern, and goes on by one tick, which must give the
// hash that it gave before.
#ifndef CM_SERVER_TOOLS_OFFLINE_ROLLBACK_H
#define CM_SERVER_TOOLS_OFFLINE_ROLLBACK_H

#include <stdio.h>

#include "server/tools/offline/offline.h"

typedef struct cm_rollback {
    uint32_t ticks_back; // R
    uint64_t rewinds;
    uint64_t contacts;  // touching shape pairs, summed over the ticks
    uint64_t joints;    // live joints, summed over the ticks
    uint64_t sleeps;    // bodies that fell asleep
    uint64_t creations; // bodies created after tick 0
    bool differs;
    struct {
        uint64_t tick;
        char body[128];
        char field[96]; // section.field[element]
        char first[32], second[32];
    } difference;

    cm_offline other;
    char *save, *first_image, *second_image;
    size_t bound;
    uint32_t *generations; // a row a body slot, of the tick before
    // For tests of the oracle itself: called on the second world after each restore.
    void (*perturb)(void *context, carom_world *world);
    void *perturb_context;
} cm_rollback;

carom_result cm_rollback_create(const cm_offline *run, uint32_t ticks_back, cm_rollback *rollback);
void cm_rollback_destroy(cm_rollback *rollback);

// Moves `run` on by one tick through the oracle. The first difference is kept.
carom_result cm_rollback_tick(cm_rollback *rollback, cm_offline *run);

// The last line of the output.
void cm_rollback_print(FILE *out, const cm_rollback *rollback, const cm_offline *run);

#endif
