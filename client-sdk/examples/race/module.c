// The rules of the race: cars pass gates in order, lap by lap.
//
// A car is a chassis and four wheels, prefabs of the scene, held by four steering joints: a wheel
// spins freely about its axle, which a spring (in front) or limits (behind) keep at a steering
// angle. The engine is a torque on each wheel; what moves the car is their friction on the ground.
//
// All that the rules remember is in `state`; its first part is public. The rest is the server's: a
// client has it as it was when it joined, which is enough to predict its own car, since the ids of
// a car do not change while its player stays.
//
// The scene gives the ground, the gates (tag "gate", a sensor, user_data RACE_GATE + number), the
// body "paddock", where cars stand that have finished, the prefabs "chassis" and "wheel", and the
// setting "laps".
#include "race.h"

#include <carom/module.h>
#include <string.h>

#define WHEELS      4u
#define ENGINE      170.0f // N m a wheel, at full throttle
#define DRAG        40.0f  // N for 1 m/s: with the engine, what the top speed follows from
#define STEER_HERTZ 8.0f
#define BRAKE       2000.0f // N for 1 m/s: of a car that may not drive
#define RIDE        0.45f   // m, of the chassis above the ground
#define FALLEN      0.2f    // of the chassis's y axis upwards: below it the car is put back
#define FAR         60.0f   // m, from the middle: likewise
#define LIGHTS      180u    // ticks on the grid
#define PATIENCE    1800u   // ticks that the others have, once the first has finished
#define PAUSE       300u    // ticks after a race
#define LAPS_MAX    99

// From the chassis to the middle of each wheel: in front, then behind.
static const float wheel_places[WHEELS][3] = {
    {0.5f * RACE_WHEELBASE, -0.15f, -0.65f},
    {0.5f * RACE_WHEELBASE, -0.15f, 0.65f},
    {-0.5f * RACE_WHEELBASE, -0.15f, -0.65f},
    {-0.5f * RACE_WHEELBASE, -0.15f, 0.65f},
};

typedef struct car_parts {
    carom_body_id wheel[WHEELS];
    carom_joint_id joint[WHEELS];
    uint32_t lap_began; // tick
} car_parts;

typedef struct state {
    race_public all;
    carom_body_id gate[RACE_GATES_MAX], paddock;
    car_parts parts[RACE_PLAYERS];
} state;

_Static_assert(sizeof(state) % 4 == 0, "a module's state is words");
_Static_assert(sizeof(race_public) <= CAROM_MODULE_PUBLIC_MAX, "travels in views");

// A place on the ground, and the way that a car looks there.
typedef struct spot {
    carom_vec3 position; // of the chassis
    carom_quat orientation;
} spot;

// RACE_PLAYERS where the player has none and watches.
static uint32_t seat_of(const state *s, uint32_t player)
{
    uint32_t seat = 0;
    while (seat < RACE_PLAYERS && s->all.seat[seat].player != player + 1u) {
        seat++;
    }
    return seat;
}

static void tell(carom_game *game, race_news news, uint32_t seat, uint32_t ticks)
{
    const state *s = carom_game_state(game);
    const race_seat *who = &s->all.seat[seat];
    const uint8_t bytes[RACE_NEWS_SIZE] = {
        (uint8_t)news,  (uint8_t)seat,         (uint8_t)who->laps,     (uint8_t)who->place,
        (uint8_t)ticks, (uint8_t)(ticks >> 8), (uint8_t)(ticks >> 16), (uint8_t)(ticks >> 24)};
    (void)carom_game_send_all(game, bytes, sizeof bytes);
}

// Gates ---------------------------------------------------------------------------------------

// So far behind a body of the scene and to its right.
static spot spot_at(const carom_game *game, carom_body_id mark, float back, float right)
{
    carom_body_state body;
    spot at = {carom_vec(0.0f, RIDE, 0.0f), carom_quat_identity()};
    if (carom_body_get(carom_game_world(game), mark, &body) == CAROM_OK) {
        carom_vec3 from = carom_rotate(body.orientation, carom_vec(-back, 0.0f, right));
        at.orientation = body.orientation;
        at.position = carom_add(body.position, from);
        at.position.y = RIDE;
    }
    return at;
}

// Two abreast before the finish.
static spot grid_of(const carom_game *game, uint32_t seat)
{
    const state *s = carom_game_state(game);
    return spot_at(game, s->gate[0], 3.0f + 3.0f * (float)(seat / 2u),
                   seat % 2u == 0 ? -1.5f : 1.5f);
}

// The gate that a car has passed last.
static spot last_gate(const carom_game *game, const race_seat *seat)
{
    const state *s = carom_game_state(game);
    uint32_t last = seat->next > 0 ? seat->next - 1u : s->all.gates - 1u;
    return spot_at(game, s->gate[last < RACE_GATES_MAX ? last : 0], 0.0f, 0.0f);
}

static void start(carom_game *game)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    s->paddock = carom_game_find_body(game, "paddock");
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_id id = carom_world_body_at(world, slot);
        carom_body_state body;
        if (carom_game_body_has_tag(game, id, "gate") &&
            carom_body_get(world, id, &body) == CAROM_OK && body.user_data >= RACE_GATE &&
            body.user_data < RACE_GATE + RACE_GATES_MAX) {
            uint32_t number = (uint32_t)(body.user_data - RACE_GATE);
            s->gate[number] = id;
            s->all.gates = number >= s->all.gates ? number + 1u : s->all.gates;
        }
    }
}

// Cars ----------------------------------------------------------------------------------------

static carom_vec3 wheel_place(const spot *at, uint32_t wheel)
{
    const float *p = wheel_places[wheel];
    return carom_add(at->position, carom_rotate(at->orientation, carom_vec(p[0], p[1], p[2])));
}

static void put(carom_world *world, carom_body_id body, carom_vec3 position, carom_quat orientation)
{
    carom_vec3 none = carom_vec(0.0f, 0.0f, 0.0f);
    (void)carom_body_set_pose(world, body, position, orientation);
    (void)carom_body_set_velocity(world, body, none, none);
}

static void put_car(carom_game *game, uint32_t seat, spot at)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    s->all.seat[seat].since = (uint32_t)carom_game_tick(game);
    put(world, s->all.seat[seat].car, at.position, at.orientation);
    for (uint32_t i = 0; i < WHEELS; i++) {
        put(world, s->parts[seat].wheel[i], wheel_place(&at, i), at.orientation);
    }
}

static void remove_car(carom_game *game, uint32_t seat)
{
    state *s = carom_game_state(game);
    carom_world *world = carom_game_world(game);
    (void)carom_body_destroy(world, s->all.seat[seat].car); // its joints go with it
    for (uint32_t i = 0; i < WHEELS; i++) {
        (void)carom_body_destroy(world, s->parts[seat].wheel[i]);
    }
    memset(&s->all.seat[seat], 0, sizeof s->all.seat[seat]);
    memset(&s->parts[seat], 0, sizeof s->parts[seat]);
}

static carom_result hang_wheel(carom_game *game, uint32_t seat, uint32_t wheel, const spot *at)
{
    state *s = carom_game_state(game);
    car_parts *parts = &s->parts[seat];
    carom_result result = carom_game_spawn(game, "wheel", wheel_place(at, wheel), at->orientation,
                                           &parts->wheel[wheel]);
    if (result != CAROM_OK) {
        return result;
    }
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_STEERING;
    def.body_a = s->all.seat[seat].car;
    def.body_b = parts->wheel[wheel];
    def.anchor = wheel_place(at, wheel);
    def.axis = carom_rotate(at->orientation, carom_vec(0.0f, 0.0f, 1.0f));
    if (wheel < 2) {
        def.spring = CAROM_SPRING_HERTZ;
        def.spring_hertz = STEER_HERTZ;
        def.spring_damping_ratio = 1.0f;
    } else {
        def.has_limits = true; // 0 to 0
    }
    return carom_joint_create(carom_game_world(game), &def, &parts->joint[wheel]);
}

static bool make_car(carom_game *game, uint32_t seat, spot at)
{
    state *s = carom_game_state(game);
    bool made = carom_game_spawn(game, "chassis", at.position, at.orientation,
                                 &s->all.seat[seat].car) == CAROM_OK;
    for (uint32_t i = 0; made && i < WHEELS; i++) {
        made = hang_wheel(game, seat, i, &at) == CAROM_OK;
    }
    return made;
}

static float part(uint8_t byte)
{
    return (float)(byte < 128 ? byte : (int32_t)byte - 256) / 127.0f;
}

static bool check_input(const uint8_t *bytes)
{
    return bytes[0] != 0x80 && bytes[1] != 0x80 && bytes[2] <= RACE_BACK;
}

static void drive(carom_game *game, uint32_t seat, const carom_body_state *car,
                  const uint8_t *input)
{
    const state *s = carom_game_state(game);
    const car_parts *parts = &s->parts[seat];
    carom_world *world = carom_game_world(game);
    const race_seat *who = &s->all.seat[seat];
    carom_vec3 none = carom_vec(0.0f, 0.0f, 0.0f), v = car->linear_velocity;
    bool held = s->all.phase == RACE_GRID || who->place != 0;
    float torque = held ? 0.0f : ENGINE * part(input[0]);
    float speed = carom_length(v);
    float angle = RACE_STEER_MAX * part(input[1]) * RACE_STEER_SPEED / (RACE_STEER_SPEED + speed);
    for (uint32_t i = 0; i < WHEELS; i++) {
        (void)carom_body_apply_local_force(world, parts->wheel[i], none,
                                           carom_vec(0.0f, 0.0f, -torque));
        if (i < 2) {
            (void)carom_joint_set_target(world, parts->joint[i], angle, 0.0f);
        }
    }
    (void)carom_body_apply_force(world, who->car, carom_scale(held ? -BRAKE : -DRAG, v), none);
}

// Races ---------------------------------------------------------------------------------------

static void to_grid(carom_game *game)
{
    state *s = carom_game_state(game);
    s->all.phase = RACE_GRID;
    carom_timer_stop(&s->all.until);
    for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
        race_seat *seat = &s->all.seat[i];
        if (seat->player != 0) {
            seat->next = s->all.gates > 1 ? 1 : 0;
            seat->laps = seat->place = seat->best = 0;
            put_car(game, i, grid_of(game, i));
            carom_timer_set(&s->all.until, game, LIGHTS);
        }
    }
}

static void phase_ends(carom_game *game)
{
    state *s = carom_game_state(game);
    if (s->all.phase == RACE_GRID) {
        s->all.phase = RACE_RUN;
        for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
            s->parts[i].lap_began = s->all.seat[i].since = (uint32_t)carom_game_tick(game);
        }
        tell(game, RACE_NEWS_GO, 0, 0);
    } else if (s->all.phase == RACE_RUN) {
        s->all.phase = RACE_OVER;
        carom_timer_set(&s->all.until, game, PAUSE);
    } else {
        to_grid(game);
    }
}

static const char *configure(carom_game *game, const carom_setting *settings, uint32_t count)
{
    state *s = carom_game_state(game);
    s->all.laps = 3;
    for (uint32_t i = 0; i < count; i++) {
        double value = settings[i].value;
        if (!carom_text_equal(settings[i].name, "laps")) {
            return "a setting of another name, expected laps";
        }
        if (!(value >= 1.0 && value <= (double)LAPS_MAX) || value != (double)(uint32_t)value) {
            return "laps: expected a whole number from 1 to 99";
        }
        s->all.laps = (uint32_t)value;
    }
    return NULL;
}

static bool may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    (void)user_data;
    (void)size;
    return seat_of(carom_game_state(game), UINT32_MAX) < RACE_PLAYERS; // player + 1 is 0: free
}

static bool join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, UINT32_MAX);
    (void)user_data;
    (void)size;
    // may_join saw an older state: a player who finds no seat now, or no room for a car in the
    // world, is refused.
    if (seat == RACE_PLAYERS) {
        return false;
    }
    if (!make_car(game, seat, grid_of(game, seat))) {
        remove_car(game, seat);
        return false;
    }
    s->all.seat[seat].player = player + 1u;
    s->all.seat[seat].next = s->all.gates > 1 ? 1 : 0;
    s->parts[seat].lap_began = s->all.seat[seat].since = (uint32_t)carom_game_tick(game);
    if (s->all.phase == RACE_GRID) {
        carom_timer_set(&s->all.until, game, LIGHTS);
    }
    return true;
}

static void leave(carom_game *game, uint32_t player)
{
    state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, player);
    if (seat < RACE_PLAYERS) {
        remove_car(game, seat);
    }
    uint32_t there = 0;
    for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
        there += s->all.seat[i].player != 0;
    }
    if (there == 0) {
        to_grid(game);
    }
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    state *s = carom_game_state(game);
    if (carom_timer_fires(&s->all.until, game)) {
        phase_ends(game);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seat = seat_of(s, inputs[i].player);
        carom_body_state car;
        if (seat == RACE_PLAYERS ||
            carom_body_get(carom_game_world(game), s->all.seat[seat].car, &car) != CAROM_OK) {
            continue; // watches
        }
        float up = carom_rotate(car.orientation, carom_vec(0.0f, 1.0f, 0.0f)).y;
        bool back = (inputs[i].bytes[2] & RACE_BACK) != 0 || up < FALLEN ||
                    carom_length(car.position) > FAR;
        if (back && s->all.phase == RACE_RUN && s->all.seat[seat].place == 0) {
            put_car(game, seat, last_gate(game, &s->all.seat[seat]));
        } else {
            drive(game, seat, &car, inputs[i].bytes);
        }
    }
}

static void end_lap(carom_game *game, uint32_t seat)
{
    state *s = carom_game_state(game);
    race_seat *who = &s->all.seat[seat];
    uint32_t now = (uint32_t)carom_game_tick(game), ticks = now - s->parts[seat].lap_began;
    uint32_t finished = 0, there = 0;
    s->parts[seat].lap_began = now;
    who->laps++;
    who->best = who->best == 0 || ticks < who->best ? ticks : who->best;
    for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
        there += s->all.seat[i].player != 0;
        finished += s->all.seat[i].place != 0;
    }
    if (who->laps < s->all.laps) {
        tell(game, RACE_NEWS_LAP, seat, ticks);
        return;
    }
    who->place = finished + 1u;
    put_car(game, seat, spot_at(game, s->paddock, 2.0f * (float)finished, 0.0f));
    tell(game, RACE_NEWS_FINISH, seat, ticks);
    if (finished == 0) {
        carom_timer_set(&s->all.until, game, PATIENCE);
    }
    if (finished + 1u >= there) {
        carom_timer_set(&s->all.until, game, 1);
    }
}

static void contact(carom_game *game, const carom_contact_event *event)
{
    state *s = carom_game_state(game);
    if (!event->begin || !event->sensor || s->all.phase != RACE_RUN) {
        return;
    }
    for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
        race_seat *seat = &s->all.seat[i];
        carom_body_id other;
        if (carom_contact_other(event, seat->car, &other) && seat->place == 0 &&
            seat->next < RACE_GATES_MAX && carom_body_id_equal(other, s->gate[seat->next])) {
            bool lap = seat->next == 0;
            seat->since = (uint32_t)carom_game_tick(game);
            seat->next = seat->next + 1u < s->all.gates ? seat->next + 1u : 0;
            if (lap) {
                end_lap(game, i);
            }
        }
    }
}

static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    const state *s = carom_game_state(game);
    uint32_t seat = seat_of(s, player);
    return seat < RACE_PLAYERS ? s->all.seat[seat].car : (carom_body_id){0, 0};
}

CAROM_MODULE(race, .version = 1, .input_size = RACE_INPUT_SIZE, .state_size = sizeof(state),
             .public_size = sizeof(race_public), .configure = configure, .may_join = may_join,
             .start = start, .join = join, .leave = leave, .tick = tick, .contact = contact,
             .check_input = check_input, .player_body = player_body, .bot = race_bot,
             .buttons = {[2] = RACE_BACK});
