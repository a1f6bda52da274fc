// Sandbox, ball and race.
#include "games.h"

#include "ball.h"
#include "race.h"

#include <stdio.h>
#include <string.h>

extern const carom_module carom_module_ball, carom_module_race;

SDL_Color window_colour(uint32_t number)
{
    static const SDL_Color colours[] = {
        {214, 84, 70, 255},  {70, 120, 206, 255}, {232, 176, 62, 255}, {92, 168, 98, 255},
        {150, 98, 190, 255}, {226, 130, 60, 255}, {64, 172, 178, 255}, {200, 110, 150, 255}};
    return colours[number % (sizeof colours / sizeof colours[0])];
}

float window_axis(const window_view *view, SDL_Scancode less, SDL_Scancode more)
{
    return (float)view->down[more] - (float)view->down[less];
}

void window_follow(window_view *view, carom_vec3 eye, carom_vec3 at, float seconds)
{
    float part = carom_min(view->frame_s / seconds, 1.0f);
    if (carom_length(carom_sub(eye, view->eye)) > 20.0f) {
        part = 1.0f; // far away: the view jumps
    }
    view->eye = carom_add(view->eye, carom_scale(part, carom_sub(eye, view->eye)));
    view->at = carom_add(view->at, carom_scale(part, carom_sub(at, view->at)));
}

static uint8_t to_byte(float part)
{
    return (uint8_t)(int8_t)(127.0f * carom_clamp(part, -1.0f, 1.0f));
}

static mesh_colours plain(SDL_Color colour)
{
    mesh_colours two = {
        colour,
        {(Uint8)(colour.r * 3 / 4), (Uint8)(colour.g * 3 / 4), (Uint8)(colour.b * 3 / 4), 255}};
    return two;
}

// From behind and above, of a field that is played towards -z.
static void look_north(window_view *view, carom_vec3 at, float far, float up)
{
    far *= view->other_camera ? 0.45f : 1.0f;
    window_follow(view, carom_add(at, carom_vec(0.0f, up * far, far)), at, 0.15f);
}

// Sandbox ---------------------------------------------------------------------------------------

static void sandbox_input(window_view *view, uint8_t *bytes)
{
    float way[2] = {window_axis(view, SDL_SCANCODE_LEFT, SDL_SCANCODE_RIGHT),
                    window_axis(view, SDL_SCANCODE_UP, SDL_SCANCODE_DOWN)};
    memcpy(bytes, way, sizeof way); // of this machine, as most are little-endian
    bytes[8] = (uint8_t)(view->down[SDL_SCANCODE_LSHIFT] | view->down[SDL_SCANCODE_SPACE] << 1);
}

static bool sandbox_looks(const carom_body_state *body, uint32_t owner, mesh_colours *colours)
{
    (void)body;
    *colours =
        plain(owner != CAROM_NO_PLAYER ? window_colour(owner) : (SDL_Color){206, 190, 160, 255});
    return true;
}

static void sandbox_camera(window_view *view, const carom_client_pose *own)
{
    look_north(view, own->position, 10.0f, 0.75f);
}

const window_game window_sandbox = {
    .name = "sandbox",
    .mark = 0.8f,
    .sky = {188, 204, 216, 255},
    .tile = 2.0f,
    .haze = 120.0f,
    .ground = {{132, 146, 154, 255}, {120, 134, 143, 255}},
    .keys = "arrows drive, space jumps, shift holds",
    .input = sandbox_input,
    .looks = sandbox_looks,
    .camera = sandbox_camera,
    .input_size = 9,
};

// Ball ------------------------------------------------------------------------------------------

static void ball_input(window_view *view, uint8_t *bytes)
{
    bytes[0] = to_byte(window_axis(view, SDL_SCANCODE_LEFT, SDL_SCANCODE_RIGHT));
    bytes[1] = to_byte(window_axis(view, SDL_SCANCODE_UP, SDL_SCANCODE_DOWN));
    bytes[2] = view->down[SDL_SCANCODE_SPACE] ? BALL_KICK : 0;
}

static bool ball_looks(const carom_body_state *body, uint32_t owner, mesh_colours *colours)
{
    static const SDL_Color wood = {176, 140, 100, 255};
    (void)owner;
    *colours = body->type == CAROM_BODY_STATIC ? plain(wood)
               : body->user_data == 0 ? (mesh_colours){{245, 245, 240, 255}, {40, 44, 52, 255}}
                                      : plain(window_colour(body->user_data == 1 ? 0 : 1));
    return true;
}

static void ball_camera(window_view *view, const carom_client_pose *own)
{
    carom_vec3 at = carom_scale(view->other_camera ? 1.0f : 0.35f, own->position);
    at.y = 0.0f;
    look_north(view, at, 7.5f, 2.6f);
}

static void draw_goal(canvas *c, float x, SDL_Color colour)
{
    colour.a = 90;
    const float depth = x > 0.0f ? 1.4f : -1.4f, z = 4.0f;
    carom_vec3 mouth[4] = {carom_vec(x, 0.002f, z), carom_vec(x + depth, 0.002f, z),
                           carom_vec(x + depth, 0.002f, -z), carom_vec(x, 0.002f, -z)};
    carom_vec3 turned[4] = {mouth[3], mouth[2], mouth[1], mouth[0]};
    canvas_face(c, x > 0.0f ? mouth : turned, 4, colour);
}

static void ball_extras(const window_view *view, canvas *c)
{
    const SDL_Color chalk = {236, 240, 232, 255};
    (void)view;
    draw_goal(c, BALL_HALF_LENGTH, window_colour(0));
    draw_goal(c, -BALL_HALF_LENGTH, window_colour(1));
    for (int i = -1; i <= 1; i++) {
        float x = 0.995f * BALL_HALF_LENGTH * (float)i, z = BALL_HALF_WIDTH, w = 0.05f, y = 0.004f;
        carom_vec3 line[4] = {carom_vec(x - w, y, z), carom_vec(x + w, y, z),
                              carom_vec(x + w, y, -z), carom_vec(x - w, y, -z)};
        canvas_face(c, line, 4, chalk);
    }
}

static void ball_score(const window_view *view, char text[WINDOW_TEXT_MAX])
{
    uint32_t size;
    const ball_public *game = carom_client_predicted_state(view->client, &size);
    if (game != NULL && size == sizeof *game) {
        snprintf(text, WINDOW_TEXT_MAX, "red %u : %u blue", game->score[0], game->score[1]);
    }
}

static bool ball_told(const uint8_t *bytes, uint32_t size, char text[WINDOW_TEXT_MAX])
{
    bool known = size == BALL_NEWS_SIZE;
    if (known) {
        snprintf(text, WINDOW_TEXT_MAX, "%s of %s", bytes[0] == BALL_NEWS_GOAL ? "goal" : "match",
                 bytes[1] == 0 ? "red" : "blue");
    }
    return known;
}

const window_game window_ball = {
    .name = "ball",
    .module = &carom_module_ball,
    .mark = 0.6f,
    .sky = {176, 208, 226, 255},
    .tile = 2.0f,
    .haze = 90.0f,
    .ground = {{108, 160, 92, 255}, {98, 150, 84, 255}},
    .keys = "arrows run, space kicks",
    .input = ball_input,
    .looks = ball_looks,
    .camera = ball_camera,
    .extras = ball_extras,
    .score = ball_score,
    .news = ball_told,
    .input_size = BALL_INPUT_SIZE,
};

// Race ------------------------------------------------------------------------------------------

static void race_input(window_view *view, uint8_t *bytes)
{
    bytes[0] = to_byte(window_axis(view, SDL_SCANCODE_DOWN, SDL_SCANCODE_UP));
    bytes[1] = to_byte(window_axis(view, SDL_SCANCODE_RIGHT, SDL_SCANCODE_LEFT));
    bytes[2] = view->down[SDL_SCANCODE_R] ? RACE_BACK : 0;
}

static bool race_looks(const carom_body_state *body, uint32_t owner, mesh_colours *colours)
{
    static const mesh_colours rubber = {{52, 54, 58, 255}, {190, 190, 196, 255}};
    static const mesh_colours finish = {{240, 240, 240, 255}, {200, 200, 200, 255}};
    static const mesh_colours post = {{238, 140, 50, 255}, {238, 140, 50, 255}};
    *colours = body->user_data == 2           ? rubber
               : body->user_data == RACE_GATE ? finish
               : body->user_data > RACE_GATE  ? post
                                              : plain(window_colour(owner));
    return true;
}

// From behind the car; or from above all of the track.
static void race_camera(window_view *view, const carom_client_pose *own)
{
    carom_vec3 ahead = carom_rotate(own->orientation, carom_vec(1.0f, 0.0f, 0.0f));
    ahead.y = 0.0f;
    ahead = carom_normalize(ahead);
    carom_vec3 eye = carom_add(own->position, carom_scale(-5.5f, ahead));
    if (view->other_camera) {
        window_follow(view, carom_vec(0.0f, 26.0f, 30.0f), carom_vec(0.0f, 0.0f, 2.0f), 0.2f);
        return;
    }
    eye.y = own->position.y + 2.4f;
    window_follow(view, eye, carom_add(own->position, carom_scale(3.0f, ahead)), 0.12f);
}

static const race_seat *own_seat(const window_view *view, const race_public **game)
{
    uint32_t size, player = carom_client_player(view->client);
    *game = carom_client_predicted_state(view->client, &size);
    for (uint32_t i = 0; *game != NULL && size == sizeof **game && i < RACE_PLAYERS; i++) {
        if ((*game)->seat[i].player == player + 1u) {
            return &(*game)->seat[i];
        }
    }
    return NULL;
}

static void race_score(const window_view *view, char text[WINDOW_TEXT_MAX])
{
    const race_public *game;
    const race_seat *seat = own_seat(view, &game);
    carom_client_pose pose;
    if (seat == NULL || carom_client_body_pose(view->client, seat->car, &pose) != CAROM_OK) {
        return;
    }
    if (game->phase == RACE_GRID) {
        snprintf(text, WINDOW_TEXT_MAX, "lights");
    } else if (seat->place > 0) {
        snprintf(text, WINDOW_TEXT_MAX, "number %u", seat->place);
    } else {
        snprintf(text, WINDOW_TEXT_MAX, "lap %u / %u  %3.0f km/h", seat->laps + 1u, game->laps,
                 (double)(3.6f * carom_length(pose.linear_velocity)));
    }
}

// Shows the gate that is next.
static void race_extras(const window_view *view, canvas *c)
{
    const race_public *game;
    const race_seat *seat = own_seat(view, &game);
    const carom_world *world = carom_client_world(view->client);
    for (uint32_t slot = 0; seat != NULL && slot < carom_world_body_slots(world); slot++) {
        carom_body_state body;
        if (carom_body_get(world, carom_world_body_at(world, slot), &body) == CAROM_OK &&
            body.user_data == RACE_GATE + seat->next) {
            carom_vec3 q[4];
            for (int i = 0; i < 4; i++) {
                carom_vec3 corner =
                    carom_vec(i == 1 || i == 2 ? 0.4f : -0.4f, 0.01f, i < 2 ? 5.0f : -5.0f);
                q[i] = carom_add(body.position, carom_rotate(body.orientation, corner));
            }
            canvas_face(c, q, 4, (SDL_Color){250, 220, 90, 255});
        }
    }
}

static bool race_told(const uint8_t *bytes, uint32_t size, char text[WINDOW_TEXT_MAX])
{
    uint32_t ticks = size == RACE_NEWS_SIZE ? (uint32_t)bytes[4] | (uint32_t)bytes[5] << 8 : 0;
    if (size == RACE_NEWS_SIZE && bytes[0] == RACE_NEWS_GO) {
        snprintf(text, WINDOW_TEXT_MAX, "go!");
    } else if (size == RACE_NEWS_SIZE) {
        snprintf(text, WINDOW_TEXT_MAX, "car %u: lap %u in %.1f s", bytes[1] + 1u, bytes[2],
                 ticks / 60.0);
    }
    return size == RACE_NEWS_SIZE;
}

const window_game window_race = {
    .name = "race",
    .module = &carom_module_race,
    .sky = {196, 206, 220, 255},
    .tile = 4.0f,
    .haze = 140.0f,
    .ground = {{112, 116, 122, 255}, {104, 108, 114, 255}},
    .keys = "up and down drive, left and right steer, R back on the track",
    .input = race_input,
    .looks = race_looks,
    .camera = race_camera,
    .extras = race_extras,
    .score = race_score,
    .news = race_told,
    .input_size = RACE_INPUT_SIZE,
};

const window_game *window_game_find(const char *name)
{
    static const window_game *const games[] = {&window_sandbox, &window_ball, &window_race,
                                               &window_billiards};
    for (size_t i = 0; i < sizeof games / sizeof games[0]; i++) {
        if (strcmp(games[i]->name, name) == 0) {
            return games[i];
        }
    }
    return NULL;
}
