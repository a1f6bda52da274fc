// The rules of the ball game: two teams push and kick a ball into each other's goal.
//
// All that they remember is in `state`. Its first part is public: clients show it, and predict with
// the very same code. A tick may run again (a late input came): the same state and inputs must give
// the same result, so there are no variables of the file's own, no clock, no addresses kept as
// data.
//
// The scene gives the pitch, the body "ball", goals (bodies of tag "goal" with a sensor; user_data
// is the team that scores there), the prefabs "red" and "blue", and the setting "goals".
#include "ball.h"

#include <carom/module.h>
#include <string.h>

#define DRIVE         30.0f // m/s^2 at full drive
#define DRAG          5.0f  // 1/s: the top speed is DRIVE / DRAG
#define REACH         0.9f  // m, from a player's middle to the ball's surface
#define KICK          12.0f // N s
#define KICK_LIFT     0.2f  // upwards, for 1 along the ground
#define KICK_REST     20u   // ticks between two kicks of a player
#define HELD          1.0f  // m, that the ball must move on
#define HELD_TICKS    180u  // within these
#define PAUSE         90u   // ticks after a goal
#define PAUSE_OVER    300u  // ticks after a match
#define STAND         0.8f  // m, of a player's middle above the grass
#define BALL_RADIUS   0.35f // m
#define BALL_CATEGORY 2u    // of the ball's shape, in the scene
#define GOALS_MAX     99

typedef struct state {
    ball_public all;
    // Only the server needs what follows; a client's copy is as old as its joining.
    uint32_t touched;               // seat + 1 of the player who touched the ball last
    carom_vec3 left;                // where the ball was when it last moved on
    carom_timer held;               // runs since then
    carom_timer rest[BALL_PLAYERS]; // until the next kick: a client predicts its own
} state;

_Static_assert(sizeof(state) % 4 == 0, "a module's state is words");
_Static_assert(sizeof(ball_public) <= CAROM_MODULE_PUBLIC_MAX, "travels in views");

// BALL_PLAYERS where the player has none and watches.
static uint32_t seat_of(const state *s, uint32_t player)
{
    uint32_t seat = 0;
    while (seat < BALL_PLAYERS && s->all.seat[seat].player != player + 1u) {
        seat++;
    }
    return seat;
}

static void tell(carom_game *game, ball_news news, uint32_t team)
{
    const state *s = carom_game_state(game);
    const uint8_t bytes[BALL_NEWS_SIZE] = {(uint8_t)news, (uint8_t)team, (uint8_t)s->all.score[0],
                                           (uint8_t)s->all.score[1]};
    (void)carom_game_send_all(game, bytes, sizeof bytes);
}

// Four rows before each goal, two to a side of the middle.
static carom_vec3 home_of(uint32_t seat)
{
    uint32_t row = seat / 2u;
    float x = 3.0f + 2.0f * (float)row, z = row % 2u == 0 ? 2.0f : -2.0f;
    return ball_team(seat) == 0 ? carom_vec(-x, STAND, z) : carom_vec(x, STAND, -z);
}

static void put(carom_game *game, carom_body_id body, carom_vec3 place)
{
    carom_vec3 none = carom_vec(0.0f, 0.0f, 0.0f);
    (void)carom_body_set_pose(carom_game_world(game), body, place, carom_quat_identity());
    (void)carom_body_set_velocity(carom_game_world(game), body, none, none);
}

static void put_ball(carom_game *game)
{
    const state *s = carom_game_state(game);
    put(game, s->all.ball, carom_vec(0.0f, BALL_RADIUS, 0.0f));
}

static void kick_off(carom_game *game)
{
    state *s = carom_game_state(game);
    s->all.phase = BALL_PLAY;
    s->touched = 0;
    put_ball(game);
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        put(game, s->all.seat[i].body, home_of(i));
    }
}

static const char *configure(carom_game *game, const carom_setting *settings, uint32_t count)
{
    state *s = carom_game_state(game);
    s->all.to_win = 5;
    for (uint32_t i = 0; i < count; i++) {
        double value = settings[i].value;
        if (!carom_text_equal(settings[i].name, "goals")) {
            return "a setting of another name, expected goals";
        }
        if (!(value >= 1.0 && value <= (double)GOALS_MAX) || value != (double)(uint32_t)value) {
            return "goals: expected a whole number from 1 to 99";
        }
        s->all.to_win = (uint32_t)value;
    }
    return NULL;
}

static void start(carom_game *game)
{
    state *s = carom_game_state(game);
    s->all.ball = carom_game_find_body(game, "ball");
}

static bool may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    (void)user_data;
    (void)size;
    return seat_of(carom_game_state(game), UINT32_MAX) < BALL_PLAYERS; // player + 1 is 0: free
}

static uint32_t free_seat(const state *s)
{
    uint32_t taken[2] = {0, 0}, found = BALL_PLAYERS;
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        taken[ball_team(i)] += s->all.seat[i].player != 0;
    }
    uint32_t team = taken[1] < taken[0] ? 1u : 0u;
    for (uint32_t i = BALL_PLAYERS; i-- > 0;) {
        found = s->all.seat[i].player == 0 && ball_team(i) == team ? i : found;
    }
    return found;
}

static bool join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    state *s = carom_game_state(game);
    uint32_t seat = free_seat(s);
    carom_body_id body;
    (void)user_data;
    (void)size;
    // may_join saw an older state: a player who finds no seat now, or no room in the world, is
    // refused.
    if (seat == BALL_PLAYERS ||
        carom_game_spawn(game, ball_team(seat) == 0 ? "red" : "blue", home_of(seat),
                         carom_quat_identity(), &body) != CAROM_OK) {
        return false;
    }
    s->all.seat[seat].player = player + 1u;
    s->all.seat[seat].body = body;
    return true;
}

static void leave(carom_game *game, uint32_t player)
{
    state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, player);
    if (seat < BALL_PLAYERS) {
        (void)carom_body_destroy(carom_game_world(game), s->all.seat[seat].body);
        memset(&s->all.seat[seat], 0, sizeof s->all.seat[seat]);
        s->touched = s->touched == seat + 1u ? 0 : s->touched;
    }
}

static float drive(uint8_t byte)
{
    int32_t value = byte < 128 ? byte : (int32_t)byte - 256;
    return DRIVE * (float)value / 127.0f;
}

static bool check_input(const uint8_t *bytes)
{
    return bytes[0] != 0x80 && bytes[1] != 0x80 && bytes[2] <= BALL_KICK;
}

// Kicks the ball away from the player, if it is in reach.
static void kick(carom_game *game, uint32_t seat, const carom_body_state *body)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    carom_query_filter filter = carom_default_query_filter();
    carom_query_hit hit;
    uint32_t count = 0;
    filter.mask = BALL_CATEGORY;
    if (carom_world_closest(world, body->center_of_mass, REACH, &filter, &hit, 1, &count) !=
            CAROM_OK ||
        count == 0) {
        return;
    }
    carom_vec3 way = carom_normalize(carom_vec(-hit.normal.x, 0.0f, -hit.normal.z));
    way.y = KICK_LIFT;
    carom_body_state ball;
    if (carom_body_get(world, hit.body, &ball) == CAROM_OK) {
        (void)carom_body_apply_impulse(world, hit.body, carom_scale(KICK, way),
                                       ball.center_of_mass);
        carom_timer_set(&s->rest[seat], game, KICK_REST);
        s->touched = seat + 1u;
    }
}

static void move(carom_game *game, const carom_player_input *input)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    uint32_t seat = seat_of(s, input->player);
    carom_body_state body;
    if (seat == BALL_PLAYERS || carom_body_get(world, s->all.seat[seat].body, &body) != CAROM_OK) {
        return; // watches
    }
    carom_vec3 push = carom_vec(drive(input->bytes[0]) - DRAG * body.linear_velocity.x, 0.0f,
                                drive(input->bytes[1]) - DRAG * body.linear_velocity.z);
    (void)carom_body_apply_force(world, s->all.seat[seat].body, carom_scale(body.mass, push),
                                 carom_vec(0.0f, 0.0f, 0.0f));
    (void)carom_timer_fires(&s->rest[seat], game);
    if ((input->bytes[2] & BALL_KICK) != 0 && !carom_timer_runs(&s->rest[seat]) &&
        s->all.phase == BALL_PLAY) {
        kick(game, seat, &body);
    }
}

// Over the boards, or held fast for too long: it is dropped in the middle.
static bool ball_is_lost(carom_game *game)
{
    state *s = carom_game_state(game);
    carom_body_state ball;
    if (carom_body_get(carom_game_world(game), s->all.ball, &ball) != CAROM_OK) {
        return false;
    }
    if (carom_length(carom_sub(ball.position, s->left)) > HELD || !carom_timer_runs(&s->held)) {
        s->left = ball.position;
        carom_timer_set(&s->held, game, HELD_TICKS);
    }
    return carom_abs(ball.position.x) > BALL_HALF_LENGTH + 2.0f ||
           carom_abs(ball.position.z) > BALL_HALF_WIDTH + 0.5f || ball.position.y < -1.0f ||
           carom_timer_fires(&s->held, game);
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    state *s = carom_game_state(game);
    if (carom_timer_fires(&s->all.pause, game)) {
        if (s->all.phase == BALL_OVER) {
            s->all.score[0] = s->all.score[1] = 0;
            for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
                s->all.seat[i].goals = 0;
            }
        }
        kick_off(game);
    } else if (ball_is_lost(game)) {
        put_ball(game);
    }
    for (uint32_t i = 0; i < count; i++) {
        move(game, &inputs[i]);
    }
}

static void goal(carom_game *game, uint32_t team)
{
    state *s = carom_game_state(game);
    bool won = ++s->all.score[team] >= s->all.to_win;
    uint32_t last = s->touched - 1u; // checked: a state may come from an untrusted file
    if (last < BALL_PLAYERS && ball_team(last) == team) {
        s->all.seat[last].goals++;
    }
    s->all.phase = won ? BALL_OVER : BALL_PAUSE;
    carom_timer_set(&s->all.pause, game, won ? PAUSE_OVER : PAUSE);
    tell(game, BALL_NEWS_GOAL, team);
    if (won) {
        tell(game, BALL_NEWS_WON, team);
    }
}

static void contact(carom_game *game, const carom_contact_event *event)
{
    state *s = carom_game_state(game);
    carom_body_id other;
    if (!carom_contact_other(event, s->all.ball, &other) || !event->begin ||
        s->all.phase != BALL_PLAY) {
        return;
    }
    carom_body_state body;
    if (event->sensor && carom_game_body_has_tag(game, other, "goal") &&
        carom_body_get(carom_game_world(game), other, &body) == CAROM_OK) {
        goal(game, body.user_data != 0 ? 1u : 0u);
    }
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        s->touched = carom_body_id_equal(other, s->all.seat[i].body) ? i + 1u : s->touched;
    }
}

static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, player);
    return seat < BALL_PLAYERS ? s->all.seat[seat].body : (carom_body_id){0, 0};
}

CAROM_MODULE(ball, .version = 1, .input_size = BALL_INPUT_SIZE, .state_size = sizeof(state),
             .public_size = sizeof(ball_public), .configure = configure, .may_join = may_join,
             .start = start, .join = join, .leave = leave, .tick = tick, .contact = contact,
             .check_input = check_input, .player_body = player_body, .bot = ball_bot,
             .buttons = {[2] = BALL_KICK});
