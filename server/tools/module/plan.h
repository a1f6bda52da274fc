// The plan of a module's trial, drawn from a seed: joins, leaves, messages and inputs of each tick.
// It is sensible and hostile alike: user data and messages of every size, empty and random ones
// among them; inputs at the ends of their ranges, and NaN. An input that a server would refuse is
// counted and not passed to the game, as in a room.
#ifndef CM_SERVER_TOOLS_MODULE_PLAN_H
#define CM_SERVER_TOOLS_MODULE_PLAN_H

#include "shared/game/game_host.h"

#define CM_PLAN_EVENTS_MAX 3u // a tick
#define CM_PLAN_INPUTS_MAX 4u

typedef struct cm_plan_tick {
    cm_game_event events[CM_PLAN_EVENTS_MAX + 1]; // the last tick's last one is the end
    carom_player_input inputs[CM_PLAN_INPUTS_MAX];
    uint32_t event_count, input_count;
    uint8_t bytes[CM_PLAN_EVENTS_MAX][CAROM_MESSAGE_MAX];
} cm_plan_tick;

typedef struct cm_plan {
    cm_plan_tick *ticks;
    uint32_t count;
    uint32_t joins, leaves, messages, inputs, refused_inputs;
} cm_plan;

// The game is asked which inputs it takes, and not changed. False: out of memory.
bool cm_plan_make(const carom_game *game, uint64_t seed, uint32_t ticks, cm_plan *plan);
// The game's input for the step from tick `tick` to `tick` + 1. Where the module has a bot, it
// plays the even slots, from the game as it stands: random inputs alone rarely come to where rules
// count. `inputs` has room for CAROM_PLAYERS_MAX; the result points into it and into the plan.
cm_tick_input cm_plan_input(const cm_plan *plan, uint32_t tick, const carom_game *game,
                            carom_player_input *inputs);

#endif
