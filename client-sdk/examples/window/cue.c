// Billiards: a cue by keys, the way that its ball will take, the table.
#include "games.h"

#include "billiards.h"

#include <stdio.h>

#define TURN_SLOW 0.012f // turns a second, with a shift key
#define TURN_FAST 0.08f
#define CUE_LONG  1.2f // m
#define TIP       0.5f // of a radius: as in the rules

extern const carom_module carom_module_billiards;

static const billiards_public *table_of(const window_view *view)
{
    uint32_t size;
    const billiards_public *table = carom_client_predicted_state(view->client, &size);
    return table != NULL && size == sizeof *table ? table : NULL;
}

static bool is_own_turn(const window_view *view, const billiards_public *table)
{
    return table->seat[table->turn % BILLIARDS_PLAYERS].player ==
           carom_client_player(view->client) + 1u;
}

static uint8_t to_byte(float part)
{
    return (uint8_t)(int8_t)(127.0f * carom_clamp(part, -1.0f, 1.0f));
}

static void billiards_input(window_view *view, uint8_t *bytes)
{
    bool fine = view->down[SDL_SCANCODE_LSHIFT] || view->down[SDL_SCANCODE_RSHIFT];
    float t = view->frame_s, turn = fine ? TURN_SLOW : TURN_FAST;
    view->aim += t * turn * window_axis(view, SDL_SCANCODE_LEFT, SDL_SCANCODE_RIGHT);
    view->aim -= SDL_floorf(view->aim);
    view->power += 0.5f * t * window_axis(view, SDL_SCANCODE_DOWN, SDL_SCANCODE_UP);
    view->power = carom_clamp(view->power, 0.03f, 1.0f);
    view->side += t * window_axis(view, SDL_SCANCODE_A, SDL_SCANCODE_D);
    view->side = carom_clamp(view->side, -1.0f, 1.0f);
    view->high += t * window_axis(view, SDL_SCANCODE_S, SDL_SCANCODE_W);
    view->high = carom_clamp(view->high, -1.0f, 1.0f);
    view->put_x += 0.5f * t * window_axis(view, SDL_SCANCODE_J, SDL_SCANCODE_L);
    view->put_x = carom_clamp(view->put_x, -1.0f, 1.0f);
    view->put_z += 0.5f * t * window_axis(view, SDL_SCANCODE_I, SDL_SCANCODE_K);
    view->put_z = carom_clamp(view->put_z, -1.0f, 1.0f);
    uint32_t aim = (uint32_t)(65536.0f * view->aim) & 0xffffu;
    bytes[0] = (uint8_t)aim;
    bytes[1] = (uint8_t)(aim >> 8);
    bytes[2] = (uint8_t)(255.0f * view->power);
    bytes[3] = to_byte(view->side);
    bytes[4] = to_byte(view->high);
    bytes[5] = view->down[SDL_SCANCODE_SPACE] ? BILLIARDS_STRIKE : 0;
    bytes[6] = to_byte(view->put_x);
    bytes[7] = to_byte(view->put_z);
}

static bool billiards_looks(const carom_body_state *body, uint32_t owner, mesh_colours *colours)
{
    static const SDL_Color ivory = {246, 242, 226, 255}, cushion = {34, 104, 76, 255};
    static const SDL_Color wood = {112, 66, 38, 255};
    static const SDL_Color balls[] = {
        {246, 242, 226, 255}, {236, 190, 50, 255}, {48, 84, 180, 255}, {206, 56, 46, 255},
        {112, 62, 150, 255},  {232, 122, 44, 255}, {38, 130, 84, 255}, {130, 44, 44, 255},
        {36, 36, 40, 255},    {236, 190, 50, 255}};
    (void)owner;
    uint64_t ball = body->user_data - BILLIARDS_BALL;
    if (ball < BILLIARDS_BALLS) {
        colours->first = balls[ball];
        colours->second = ball == 0 ? (SDL_Color){220, 200, 190, 255} : ivory;
    } else {
        colours->first = colours->second = body->user_data == 51 ? cushion : wood;
    }
    return true;
}

// The cue that is seen: the player's own, or what the table knows of the other's.
static float aim_of(const window_view *view, const billiards_public *table, float *power)
{
    bool own = is_own_turn(view, table);
    *power = own ? view->power : (float)(table->cue >> 16 & 0xffu) / 255.0f;
    return 6.2831853f * (own ? view->aim : (float)(table->cue & 0xffffu) / 65536.0f);
}

static void billiards_camera(window_view *view, const carom_client_pose *own)
{
    const billiards_public *table = table_of(view);
    carom_client_pose ball = *own;
    float power, aim = table != NULL ? aim_of(view, table, &power) : 0.0f;
    carom_vec3 way = carom_vec(carom_cos(aim), 0.0f, carom_sin(aim));
    if (table == NULL || !view->other_camera || table->phase != BILLIARDS_AIM ||
        carom_client_body_pose(view->client, table->ball[0], &ball) != CAROM_OK) {
        window_follow(view, carom_vec(0.0f, 1.6f, 1.25f), carom_vec(0.0f, 0.0f, 0.1f), 0.2f);
        return;
    }
    carom_vec3 eye = carom_sub(ball.position, carom_scale(0.9f, way));
    eye.y = 0.42f;
    window_follow(view, eye, carom_add(ball.position, carom_scale(0.4f, way)), 0.2f);
}

// The way of the cue ball until it meets another one, or a cushion.
static float free_way(const window_view *view, const billiards_public *table, carom_vec3 from,
                      carom_vec3 way)
{
    const float r = BILLIARDS_RADIUS;
    float x =
        way.x > 0.0f ? BILLIARDS_HALF_LENGTH - r - from.x : BILLIARDS_HALF_LENGTH - r + from.x;
    float z = way.z > 0.0f ? BILLIARDS_HALF_WIDTH - r - from.z : BILLIARDS_HALF_WIDTH - r + from.z;
    float far = carom_min(x / carom_max(carom_abs(way.x), 1.0e-4f),
                          z / carom_max(carom_abs(way.z), 1.0e-4f));
    for (uint32_t i = 1; i < BILLIARDS_BALLS; i++) {
        carom_client_pose ball;
        if (carom_client_body_pose(view->client, table->ball[i], &ball) != CAROM_OK) {
            continue;
        }
        carom_vec3 at = carom_sub(ball.position, from);
        float along = carom_dot(at, way), aside = carom_dot(at, at) - along * along;
        float before = 4.0f * r * r - aside;
        if (along > 0.0f && before > 0.0f && along - carom_sqrt(before) < far) {
            far = along - carom_sqrt(before);
        }
    }
    return far;
}

static void draw_cue(const window_view *view, const billiards_public *table, canvas *c)
{
    carom_client_pose ball;
    float power, aim = aim_of(view, table, &power);
    if (table->phase != BILLIARDS_AIM ||
        carom_client_body_pose(view->client, table->ball[0], &ball) != CAROM_OK) {
        return;
    }
    carom_vec3 way = carom_vec(carom_cos(aim), 0.0f, carom_sin(aim)),
               right = carom_vec(-way.z, 0.0f, way.x);
    carom_vec3 end =
        carom_add(ball.position, carom_scale(free_way(view, table, ball.position, way), way));
    canvas_line(c, ball.position, end, 0.004f, (SDL_Color){255, 255, 255, 140});
    mesh_disc(c, carom_vec(end.x, 0.003f, end.z), BILLIARDS_RADIUS,
              (SDL_Color){255, 255, 255, 110});
    carom_vec3 tip =
        carom_add(ball.position, carom_scale(TIP * BILLIARDS_RADIUS * view->side, right));
    tip = carom_sub(tip, carom_scale(BILLIARDS_RADIUS + 0.01f + 0.25f * power, way));
    tip.y += 0.035f + TIP * BILLIARDS_RADIUS * view->high;
    carom_vec3 butt = carom_sub(tip, carom_scale(CUE_LONG, way));
    butt.y += 0.16f;
    carom_vec3 grip = carom_add(tip, carom_scale(0.7f, carom_sub(butt, tip)));
    canvas_line(c, tip, grip, 0.014f, (SDL_Color){206, 160, 96, 255});
    canvas_line(c, grip, butt, 0.018f, (SDL_Color){60, 40, 34, 255});
}

static void billiards_extras(const window_view *view, canvas *c)
{
    const billiards_public *table = table_of(view);
    const float l = BILLIARDS_HALF_LENGTH + 0.05f, w = BILLIARDS_HALF_WIDTH + 0.05f, y = 0.001f;
    carom_vec3 cloth[4] = {carom_vec(-l, y, w), carom_vec(l, y, w), carom_vec(l, y, -w),
                           carom_vec(-l, y, -w)};
    canvas_face(c, cloth, 4, (SDL_Color){44, 132, 96, 255});
    for (int i = 0; i < 6; i++) {
        float x = (float)(i % 3 - 1) * (BILLIARDS_HALF_LENGTH + 0.005f), z = i < 3 ? -1.0f : 1.0f;
        z *= BILLIARDS_HALF_WIDTH + (i % 3 == 1 ? 0.025f : 0.005f);
        mesh_disc(c, carom_vec(x, 0.002f, z), 0.062f, (SDL_Color){18, 20, 22, 255});
    }
    if (table != NULL) {
        draw_cue(view, table, c);
    }
}

static void billiards_score(const window_view *view, char text[WINDOW_TEXT_MAX])
{
    const billiards_public *table = table_of(view);
    if (table != NULL) {
        snprintf(text, WINDOW_TEXT_MAX, "%u : %u  %s, the %u%s", table->seat[0].frames,
                 table->seat[1].frames, is_own_turn(view, table) ? "your stroke" : "the other's",
                 billiards_lowest(table->on), table->in_hand != 0 ? ", ball in hand" : "");
    }
}

static bool billiards_told(const uint8_t *bytes, uint32_t size, char text[WINDOW_TEXT_MAX])
{
    static const char *const why[] = {
        "", "no ball hit", "wrong ball first", "cue ball potted", "no cushion", "too late"};
    if (size != BILLIARDS_NEWS_SIZE) {
        return false;
    }
    if (bytes[0] == BILLIARDS_NEWS_POT) {
        snprintf(text, WINDOW_TEXT_MAX, "player %u pots the %u", bytes[1] + 1u, bytes[2]);
    } else if (bytes[0] == BILLIARDS_NEWS_FOUL) {
        snprintf(text, WINDOW_TEXT_MAX, "player %u fouls: %s", bytes[1] + 1u,
                 bytes[2] < sizeof why / sizeof why[0] ? why[bytes[2]] : "");
    } else {
        snprintf(text, WINDOW_TEXT_MAX, "player %u wins the %s", bytes[1] + 1u,
                 bytes[0] == BILLIARDS_NEWS_FRAME ? "frame" : "match");
    }
    return true;
}

const window_game window_billiards = {
    .name = "billiards",
    .module = &carom_module_billiards,
    .sky = {52, 56, 64, 255},
    .tile = 0.4f,
    .haze = 12.0f,
    .ground = {{88, 74, 66, 255}, {82, 69, 62, 255}},
    .keys =
        "left and right aim (shift: finely), up and down power, space strikes, WASD tip, IJKL put",
    .input = billiards_input,
    .looks = billiards_looks,
    .camera = billiards_camera,
    .extras = billiards_extras,
    .score = billiards_score,
    .news = billiards_told,
    .input_size = BILLIARDS_INPUT_SIZE,
};
