// The rules of nine-ball for two, with a cue that is an input.
//
// The world does what balls do (solver `impulse`: collisions by closed formulas, nothing sleeps);
// the rules strike, slow what rolls, take away what falls, and say whose turn it is. All that they
// remember is in the state, and all of that is public. Only pressing the button, in the tick in
// which it goes down, strikes: a rewind that makes that tick again strikes once again, and once.
//
// The scene gives the table, pockets (bodies of tag "pocket" with a sensor: a ball that reaches it
// has fallen), cushions (tag "cushion"), the bodies "ball_0" to "ball_9", and the setting "frames".
#include "billiards.h"

#include <carom/module.h>
#include <string.h>

#define ROLLING     0.10f   // m/s^2, that a rolling ball loses
#define SPINNING    10.0f   // rad/s^2, that a spin about the vertical loses
#define SLIP        0.05f   // m/s, at the cloth: below it a ball rolls
#define STOPS       0.01f   // m/s: slower than that it stands
#define TIP         0.5f    // of a radius, that the tip can be beside the middle
#define FOOT        0.635f  // x, where the rack begins; the head spot is at -FOOT
#define TRAY        0.80f   // z, of the first ball that fell, outside the table
#define GAP         1.0e-4f // m, between the balls of the rack
#define REST_TICKS  12u     // that all balls must stand
#define ROLL_TICKS  1800u   // then a stroke is over, whatever still moves
#define CLOCK_TICKS 3600u   // for a stroke
#define PAUSE       240u    // ticks after a frame
#define FOULS       3u
#define NINE        9u
#define FRAMES_MAX  99

typedef billiards_public state;

_Static_assert(sizeof(state) % 4 == 0, "a module's state is words");
_Static_assert(sizeof(state) <= CAROM_MODULE_PUBLIC_MAX, "travels in views");

// BILLIARDS_PLAYERS where the player has none.
static uint32_t seat_of(const state *s, uint32_t player)
{
    uint32_t seat = 0;
    while (seat < BILLIARDS_PLAYERS && s->seat[seat].player != player + 1u) {
        seat++;
    }
    return seat;
}

// The seat that has the turn, whatever an untrusted file's state says.
static uint32_t turn_of(const state *s)
{
    return s->turn % BILLIARDS_PLAYERS;
}

static bool is_on(const state *s, uint32_t ball)
{
    return (s->on >> ball & 1u) != 0;
}

static void tell(carom_game *game, billiards_news news, uint32_t seat, uint32_t what)
{
    const uint8_t bytes[BILLIARDS_NEWS_SIZE] = {(uint8_t)news, (uint8_t)seat, (uint8_t)what, 0};
    (void)carom_game_send_all(game, bytes, sizeof bytes);
}

// Balls ---------------------------------------------------------------------------------------

static void put(carom_game *game, uint32_t ball, carom_vec3 place)
{
    const state *s = carom_game_state(game);
    carom_vec3 none = carom_vec(0.0f, 0.0f, 0.0f);
    place.y = BILLIARDS_RADIUS;
    (void)carom_body_set_pose(carom_game_world(game), s->ball[ball], place, carom_quat_identity());
    (void)carom_body_set_velocity(carom_game_world(game), s->ball[ball], none, none);
}

static bool is_free(const carom_game *game, uint32_t but, carom_vec3 place)
{
    const state *s = carom_game_state(game);
    bool free = true;
    for (uint32_t i = 0; i < BILLIARDS_BALLS; i++) {
        carom_body_state body;
        if (i != but && is_on(s, i) &&
            carom_body_get(carom_game_world(game), s->ball[i], &body) == CAROM_OK) {
            carom_vec3 way = carom_sub(body.position, place);
            way.y = 0.0f;
            free = free && carom_length(way) > 2.0f * BILLIARDS_RADIUS + GAP;
        }
    }
    return free;
}

// To the first free place on the line through the spots, from `x` on and back towards the middle.
static void spot(carom_game *game, uint32_t ball, float x)
{
    state *s = carom_game_state(game);
    carom_vec3 place = carom_vec(x, 0.0f, 0.0f);
    for (uint32_t i = 0; i < 40 && !is_free(game, ball, place); i++) {
        place.x -= x > 0.0f ? BILLIARDS_RADIUS : -BILLIARDS_RADIUS;
    }
    put(game, ball, place);
    s->on |= 1u << ball;
}

// Beside the table, in a row by their numbers: what has fallen is seen.
static void to_tray(carom_game *game, uint32_t ball)
{
    state *s = carom_game_state(game);
    put(game, ball, carom_vec(0.1f * (float)ball - 0.5f, 0.0f, TRAY));
    s->on &= ~(1u << ball);
}

// The one in front, the nine in the middle, the others as they come.
static void rack(carom_game *game)
{
    static const uint32_t order[BILLIARDS_BALLS - 1u] = {1, 2, 3, 4, 9, 5, 6, 7, 8};
    static const float rows[BILLIARDS_BALLS - 1u][2] = {{0, 0}, {1, -1}, {1, 1}, {2, -2}, {2, 0},
                                                        {2, 2}, {3, -1}, {3, 1}, {4, 0}};
    state *s = carom_game_state(game);
    const float step = BILLIARDS_RADIUS + 0.5f * GAP;
    for (uint32_t i = 0; i < BILLIARDS_BALLS - 1u; i++) {
        put(game, order[i],
            carom_vec(FOOT + 1.7320508f * step * rows[i][0], 0.0f, step * rows[i][1]));
    }
    put(game, 0, carom_vec(-FOOT, 0.0f, 0.0f));
    s->on = (1u << BILLIARDS_BALLS) - 1u;
    s->strokes = 0;
    for (uint32_t i = 0; i < BILLIARDS_PLAYERS; i++) {
        s->seat[i].fouls = 0;
    }
}

// Takes from a ball what the cloth takes, of rolling and of spin. True where it stands.
static bool slow(carom_world *world, carom_body_id ball, const carom_body_state *body)
{
    const float dt = 1.0f / (float)carom_world_tick_rate(world);
    carom_vec3 v = body->linear_velocity, w = body->angular_velocity;
    carom_vec3 slip = carom_vec(v.x + BILLIARDS_RADIUS * w.z, 0.0f, v.z - BILLIARDS_RADIUS * w.x);
    float speed = carom_length(carom_vec(v.x, 0.0f, v.z));
    float spin = carom_abs(w.y) - SPINNING * dt;
    w.y = spin <= 0.0f ? 0.0f : w.y > 0.0f ? spin : -spin;
    bool stands = speed < STOPS && carom_length(slip) < STOPS;
    if (stands) {
        v = w = carom_vec(0.0f, 0.0f, 0.0f);
    } else if (carom_length(slip) < SLIP) {
        float left = carom_max(1.0f - ROLLING * dt / carom_max(speed, STOPS), 0.0f);
        v.x *= left, v.z *= left, w.x *= left, w.z *= left;
    }
    (void)carom_body_set_velocity(world, ball, v, w);
    return stands;
}

static bool left_table(carom_vec3 place)
{
    return carom_abs(place.x) > BILLIARDS_HALF_LENGTH + 0.1f ||
           carom_abs(place.z) > BILLIARDS_HALF_WIDTH + 0.1f || carom_abs(place.y) > 0.3f;
}

static bool all_stand(carom_game *game)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    bool stand = true;
    for (uint32_t i = 0; i < BILLIARDS_BALLS; i++) {
        carom_body_state body;
        if (is_on(s, i) && carom_body_get(world, s->ball[i], &body) == CAROM_OK) {
            stand = slow(world, s->ball[i], &body) && stand;
            if (left_table(body.position)) {
                s->potted |= 1u << i;
                to_tray(game, i);
            }
        }
    }
    return stand;
}

// Turns ---------------------------------------------------------------------------------------

static void set_phase(carom_game *game, billiards_phase phase, uint32_t ticks)
{
    state *s = carom_game_state(game);
    s->phase = phase;
    s->since = (uint32_t)carom_game_tick(game);
    carom_timer_set(&s->until, game, ticks);
}

// The other's, if the other is there.
static void pass_turn(state *s)
{
    uint32_t other = 1u - turn_of(s);
    s->turn = s->seat[other].player != 0 ? other : turn_of(s);
}

static void aim(carom_game *game)
{
    state *s = carom_game_state(game);
    set_phase(game, BILLIARDS_AIM, CLOCK_TICKS);
    s->first_hit = s->potted = s->cushion = 0;
    s->lowest = billiards_lowest(s->on);
}

static void win(carom_game *game, uint32_t seat)
{
    state *s = carom_game_state(game);
    s->seat[seat].frames++;
    s->turn = seat; // who wins breaks
    set_phase(game, BILLIARDS_OVER, PAUSE);
    tell(game, BILLIARDS_NEWS_FRAME, seat, s->seat[seat].frames);
    if (s->seat[seat].frames >= s->to_win) {
        tell(game, BILLIARDS_NEWS_MATCH, seat, s->seat[seat].frames);
    }
}

static void foul(carom_game *game, billiards_foul why)
{
    state *s = carom_game_state(game);
    uint32_t seat = turn_of(s);
    tell(game, BILLIARDS_NEWS_FOUL, seat, why);
    if (!is_on(s, NINE)) {
        spot(game, NINE, FOOT);
    }
    if (++s->seat[seat].fouls >= FOULS && s->seat[1u - seat].player != 0) {
        win(game, 1u - seat);
        return;
    }
    pass_turn(s);
    s->in_hand = 1;
    if (!is_on(s, 0)) {
        spot(game, 0, -FOOT);
    }
    aim(game);
}

// All balls stand: what the stroke was worth.
static void judge(carom_game *game)
{
    state *s = carom_game_state(game);
    uint32_t seat = turn_of(s);
    for (uint32_t i = 1; i < BILLIARDS_BALLS; i++) {
        if ((s->potted >> i & 1u) != 0) {
            tell(game, BILLIARDS_NEWS_POT, seat, i);
        }
    }
    billiards_foul why = (s->potted & 1u) != 0               ? BILLIARDS_FOUL_CUE_BALL
                         : s->first_hit == 0                 ? BILLIARDS_FOUL_MISS
                         : s->first_hit != s->lowest         ? BILLIARDS_FOUL_WRONG_BALL
                         : s->cushion == 0 && s->potted == 0 ? BILLIARDS_FOUL_CUSHION
                                                             : (billiards_foul)0;
    if (why != 0) {
        foul(game, why);
        return;
    }
    s->seat[seat].fouls = 0;
    if ((s->potted >> NINE & 1u) != 0) {
        win(game, seat);
        return;
    }
    if (s->potted == 0) {
        pass_turn(s);
    }
    aim(game);
}

static void next_frame(carom_game *game)
{
    state *s = carom_game_state(game);
    bool won = false;
    for (uint32_t i = 0; i < BILLIARDS_PLAYERS; i++) {
        won = won || s->seat[i].frames >= s->to_win;
    }
    for (uint32_t i = 0; won && i < BILLIARDS_PLAYERS; i++) {
        s->seat[i].frames = 0;
    }
    rack(game);
    s->in_hand = 0;
    aim(game);
}

// The cue -------------------------------------------------------------------------------------

static float part(uint8_t byte)
{
    return (float)(byte < 128 ? byte : (int32_t)byte - 256) / 127.0f;
}

static bool check_input(const uint8_t *bytes)
{
    return bytes[3] != 0x80 && bytes[4] != 0x80 && bytes[5] <= BILLIARDS_STRIKE &&
           bytes[6] != 0x80 && bytes[7] != 0x80;
}

// An impulse of the tip on the ball, where the tip meets it: beside its middle it also spins.
static void strike(carom_game *game, const uint8_t *input)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    carom_body_state ball;
    if (input[2] == 0 || carom_body_get(world, s->ball[0], &ball) != CAROM_OK) {
        return;
    }
    float turns = (float)((uint32_t)input[0] | (uint32_t)input[1] << 8) / 65536.0f;
    float angle = 6.2831853f * turns, side = TIP * part(input[3]), up = TIP * part(input[4]);
    float square = side * side + up * up;
    if (square > TIP * TIP) { // the tip stays within its circle
        side *= TIP / carom_sqrt(square), up *= TIP / carom_sqrt(square);
        square = TIP * TIP;
    }
    carom_vec3 way = carom_vec(carom_cos(angle), 0.0f, carom_sin(angle));
    carom_vec3 right = carom_vec(-way.z, 0.0f, way.x);
    carom_vec3 tip =
        carom_add(carom_scale(side, right), carom_scale(-carom_sqrt(1.0f - square), way));
    tip.y = up;
    (void)carom_body_apply_impulse(
        world, s->ball[0],
        carom_scale(ball.mass * BILLIARDS_FASTEST * (float)input[2] / 255.0f, way),
        carom_add(ball.center_of_mass, carom_scale(BILLIARDS_RADIUS, tip)));
    s->in_hand = 0;
    s->strokes++;
    set_phase(game, BILLIARDS_ROLL, REST_TICKS);
}

// Moves the cue ball, in hand, to where its player wants it, if no ball lies there.
static void place_cue_ball(carom_game *game, const uint8_t *input)
{
    carom_vec3 place = carom_vec((BILLIARDS_HALF_LENGTH - BILLIARDS_RADIUS) * part(input[6]), 0.0f,
                                 (BILLIARDS_HALF_WIDTH - BILLIARDS_RADIUS) * part(input[7]));
    if (is_free(game, 0, place)) {
        put(game, 0, place);
    }
}

static void use_cue(carom_game *game, const carom_player_input *input)
{
    state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, input->player);
    if (seat == BILLIARDS_PLAYERS) {
        return;
    }
    bool down = (input->bytes[5] & BILLIARDS_STRIKE) != 0;
    bool pressed = down && (s->pressed >> seat & 1u) == 0;
    s->pressed = (s->pressed & ~(1u << seat)) | (down ? 1u << seat : 0u);
    if (s->phase != BILLIARDS_AIM || seat != turn_of(s)) {
        return;
    }
    s->cue = (uint32_t)input->bytes[0] | (uint32_t)input->bytes[1] << 8 |
             (uint32_t)input->bytes[2] << 16 | (uint32_t)input->bytes[3] << 24;
    if (s->in_hand != 0) {
        place_cue_ball(game, input->bytes);
    }
    if (pressed) {
        strike(game, input->bytes);
    }
}

// The module's callbacks ------------------------------------------------------------------------

static const char *configure(carom_game *game, const carom_setting *settings, uint32_t count)
{
    state *s = carom_game_state(game);
    s->to_win = 3;
    for (uint32_t i = 0; i < count; i++) {
        double value = settings[i].value;
        if (!carom_text_equal(settings[i].name, "frames")) {
            return "a setting of another name, expected frames";
        }
        if (!(value >= 1.0 && value <= (double)FRAMES_MAX) || value != (double)(uint32_t)value) {
            return "frames: expected a whole number from 1 to 99";
        }
        s->to_win = (uint32_t)value;
    }
    return NULL;
}

static void start(carom_game *game)
{
    state *s = carom_game_state(game);
    char name[] = "ball_0";
    for (uint32_t i = 0; i < BILLIARDS_BALLS; i++) {
        name[5] = (char)('0' + i);
        s->ball[i] = carom_game_find_body(game, name);
    }
    rack(game);
    aim(game);
}

static bool may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    (void)user_data;
    (void)size;
    // player + 1 is 0: free
    return seat_of(carom_game_state(game), UINT32_MAX) < BILLIARDS_PLAYERS;
}

// Also in mid frame: the turn stays where it is. One alone plays for both.
static bool join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, UINT32_MAX);
    (void)user_data;
    (void)size;
    if (seat == BILLIARDS_PLAYERS) { // may_join saw an older state
        return false;
    }
    s->seat[seat].player = player + 1u;
    if (s->seat[1u - seat].player == 0) {
        s->turn = seat;
    }
    return true;
}

static void leave(carom_game *game, uint32_t player)
{
    state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, player);
    if (seat == BILLIARDS_PLAYERS) {
        return;
    }
    memset(&s->seat[seat], 0, sizeof s->seat[seat]);
    s->pressed &= ~(1u << seat);
    if (s->seat[1u - seat].player == 0) { // nobody is left
        next_frame(game);
    } else if (turn_of(s) == seat && s->phase == BILLIARDS_AIM) {
        pass_turn(s);
        aim(game);
    }
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    state *s = carom_game_state(game);
    bool stand = all_stand(game);
    if (s->phase == BILLIARDS_ROLL) {
        bool long_enough = (uint32_t)carom_game_tick(game) - s->since >= ROLL_TICKS;
        if (!stand && !long_enough) {
            carom_timer_set(&s->until, game, REST_TICKS);
        } else if (long_enough || carom_timer_fires(&s->until, game)) {
            judge(game);
        }
    } else if (carom_timer_fires(&s->until, game)) {
        if (s->phase == BILLIARDS_OVER) {
            next_frame(game);
        } else if (s->seat[turn_of(s)].player != 0) {
            foul(game, BILLIARDS_FOUL_TIME);
        } else {
            aim(game); // an empty table waits
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        use_cue(game, &inputs[i]);
    }
}

// BILLIARDS_BALLS where the body is none of them.
static uint32_t ball_of(const state *s, carom_body_id body)
{
    uint32_t ball = 0;
    while (ball < BILLIARDS_BALLS && !carom_body_id_equal(s->ball[ball], body)) {
        ball++;
    }
    return ball;
}

static void contact(carom_game *game, const carom_contact_event *event)
{
    state *s = carom_game_state(game);
    uint32_t a = ball_of(s, event->body_a), b = ball_of(s, event->body_b);
    if (!event->begin || s->phase != BILLIARDS_ROLL ||
        (a == BILLIARDS_BALLS && b == BILLIARDS_BALLS)) {
        return;
    }
    if (a < BILLIARDS_BALLS && b < BILLIARDS_BALLS) {
        if (s->first_hit == 0 && (a == 0 || b == 0)) {
            s->first_hit = a + b;
        }
        return;
    }
    uint32_t ball = a < BILLIARDS_BALLS ? a : b;
    carom_body_id other = a < BILLIARDS_BALLS ? event->body_b : event->body_a;
    if (event->sensor && is_on(s, ball) && carom_game_body_has_tag(game, other, "pocket")) {
        s->potted |= 1u << ball;
        to_tray(game, ball);
    } else if (s->first_hit != 0 && carom_game_body_has_tag(game, other, "cushion")) {
        s->cushion = 1;
    }
}

// The cue ball is that of the player whose turn it is.
static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const state *s = carom_game_state(game);
    return seat_of(s, player) == turn_of(s) ? s->ball[0] : (carom_body_id){0, 0};
}

CAROM_MODULE(billiards, .version = 1, .input_size = BILLIARDS_INPUT_SIZE,
             .state_size = sizeof(state), .public_size = sizeof(state), .configure = configure,
             .may_join = may_join, .start = start, .join = join, .leave = leave, .tick = tick,
             .contact = contact, .check_input = check_input, .player_body = player_body,
             .bot = billiards_bot, .buttons = {[5] = BILLIARDS_STRIKE});
