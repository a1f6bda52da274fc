// The inputs of a bot: a seeded walk of the sandbox's cube; in other games those of the module's
// bot, or, if it has none, random inputs that its check_input accepts.
#ifndef CM_SERVER_TOOLS_BOTS_COURSE_H
#define CM_SERVER_TOOLS_BOTS_COURSE_H

#include "carom/client.h"

#include "shared/base/rng.h"

#define CM_BOTS_SEEDS 4096u // of bots with one seed, each gets its own

typedef enum cm_bots_pattern {
    CM_BOTS_WANDER, // a seeded walk; now and then a bot holds what it touches, or jumps
    CM_BOTS_DRIVE,  // the walk alone
    CM_BOTS_IDLE,
} cm_bots_pattern;

typedef struct cm_bot_course {
    cm_rng rng;
    uint64_t turn_us; // when it chooses anew
    uint8_t input[CAROM_INPUT_MAX];
} cm_bot_course;

void cm_bot_course_begin(cm_bot_course *course, uint64_t seed);
// Chooses anew where it is time, and gives the client its input. `module`: of the room, where that
// is not the sandbox; else NULL.
void cm_bot_steer(cm_bot_course *course, const carom_module *module, cm_bots_pattern pattern,
                  carom_client *client, uint64_t now_us);

#endif
