// The games that the window plays: what keys mean, how bodies look, where one looks from, what
// stands on the screen. To show a game of your own, add a row.
#ifndef WINDOW_GAMES_H
#define WINDOW_GAMES_H

#include "mesh.h"

#include <carom/client.h>

#define WINDOW_TEXT_MAX 128

// The hand and the eye of a player.
typedef struct window_view {
    const carom_client *client;
    bool down[SDL_NUM_SCANCODES]; // keys
    float frame_s;
    bool other_camera;
    carom_vec3 eye, at;           // of the camera, which follows smoothly
    float aim, power, side, high; // of a cue: turns; 0 to 1; -1 to 1
    float put_x, put_z;           // of the cue ball in hand, -1 to 1
} window_view;

typedef struct window_game {
    const char *name;
    const carom_module *module; // NULL: the built-in sandbox
    SDL_Color sky;
    float tile, haze; // m
    float mark;       // m: radius of a ring under the own body; 0: none
    mesh_colours ground;
    const char *keys; // for the last line of the screen
    // Of these any may be NULL. `own`: the player's own pose.
    void (*input)(window_view *view, uint8_t *bytes);
    bool (*looks)(const carom_body_state *body, uint32_t owner, mesh_colours *colours);
    void (*camera)(window_view *view, const carom_client_pose *own);
    void (*extras)(const window_view *view, canvas *c); // what is drawn beside the bodies
    void (*score)(const window_view *view, char text[WINDOW_TEXT_MAX]);
    bool (*news)(const uint8_t *bytes, uint32_t size, char text[WINDOW_TEXT_MAX]);
    uint32_t input_size;
} window_game;

const window_game *window_game_find(const char *name); // NULL: there is none
extern const window_game window_sandbox, window_ball, window_race, window_billiards;

// Colours of players by their slots, and of other things by their numbers.
SDL_Color window_colour(uint32_t number);
// The keys of two opposite directions, -1 to 1.
float window_axis(const window_view *view, SDL_Scancode less, SDL_Scancode more);
// Moves the camera a part of the way.
void window_follow(window_view *view, carom_vec3 eye, carom_vec3 at, float seconds);

#endif
