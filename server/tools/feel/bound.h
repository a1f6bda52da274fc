// A bound that no client can beat: the same client, given every input at the moment when the path
// could have brought it, with the same rule for inputs that it cannot know yet. From the true state
// of the last tick of which it would know everything it steps to the player's own tick; where its
// bodies are then is compared with the truth, as what a client drew is.
//
// A path could bring an input with its mean latency up and down, nothing lost, the server's turn
// taking no time. The jumps that what becomes known causes are worn off as the client wears them
// off (watch.c).
#ifndef CM_SERVER_TOOLS_FEEL_BOUND_H
#define CM_SERVER_TOOLS_FEEL_BOUND_H

#include "carom/client.h"
#include "server/tools/feel/games.h"
#include "shared/game/game_host.h"

#define CM_FEEL_BOUND_TICKS 128u // true states that are kept
#define CM_FEEL_MADE_TICKS  512u // of inputs, when they were made

// Of one client at one time: the newest tick of each player whose input it could have; by the
// players' slots in the room. 0: none yet.
typedef struct cm_feel_known {
    uint64_t tick[CM_FEEL_PLAYERS_MAX];
} cm_feel_known;

// The times at which a player made the inputs of its ticks.
typedef struct cm_feel_made {
    uint64_t newest;
    uint64_t at_us[CM_FEEL_MADE_TICKS];
} cm_feel_made;

typedef struct cm_feel_bound cm_feel_bound;

// NULL without memory, or where no game can be made.
cm_feel_bound *cm_feel_bound_create(const cm_scene *scene, const carom_module *module,
                                    uint64_t seed);
void cm_feel_bound_destroy(cm_feel_bound *bound);
// The true game of a tick, each tick once.
void cm_feel_bound_take(cm_feel_bound *bound, const carom_game *game, uint64_t tick);

// The player's inputs up to `tick` exist from now on.
void cm_feel_made_note(cm_feel_made *made, uint64_t tick, uint64_t now_us);
// The newest tick of them that another one could have by now, `latency_us` away; never less than
// `known`.
uint64_t cm_feel_made_known(const cm_feel_made *made, uint64_t known, uint64_t latency_us,
                            uint64_t now_us);

// Steps to `tick` with what `player` would know. False: something of it is not kept, or not known.
bool cm_feel_bound_show(cm_feel_bound *bound, const cm_feel_known *known, uint32_t player,
                        double tick);
// A body as shown last. False: it does not live then.
bool cm_feel_bound_body(const cm_feel_bound *bound, carom_body_id id, carom_vec3 *position,
                        carom_vec3 *velocity);

#endif
