// The games that `carom bench feel` plays: a scene, its rules, and what the players do, drawn from
// a seed. A player acts on what its client draws, as a person would.
#ifndef CM_SERVER_TOOLS_FEEL_GAMES_H
#define CM_SERVER_TOOLS_FEEL_GAMES_H

#include "carom/client.h"
#include "shared/base/rng.h"

#define CM_FEEL_PLAYERS_MAX 8u

typedef struct cm_feel_player {
    carom_client *client;
    uint32_t number;
    cm_rng rng;
    double turn_s; // when it chooses anew
    double back_s; // pushball: when it draws back; pressing: when it lets go
    bool away;     // it draws back, or lets go, now
    float x, z;    // drive
} cm_feel_player;

typedef struct cm_feel_game {
    const char *name;
    const char *scene;          // JSON
    const carom_module *module; // NULL: the built-in sandbox
    uint32_t players;
    // NULL: the module's bot plays. Sets the player's x and z at `time_s` since the warm-up began;
    // `own` is what it sees.
    void (*play)(cm_feel_player *player, double time_s, const carom_client_pose *own);
} cm_feel_game;

extern const cm_feel_game cm_feel_games[]; // ends with a NULL name
#define CM_FEEL_GAME_NAMES                                                                         \
    "alone, pushball, crowd, ball, billiards, race, pressing or pressing_again"
const cm_feel_game *cm_feel_game_find(const char *name);

// The player's input, by what its client draws, where that draws its body.
void cm_feel_play(const cm_feel_game *game, cm_feel_player *player, double time_s);

extern const char *const cm_feel_hand_scene; // of hand.h; JSON

#endif
