// A player of the race that drives by itself, as fast as each bend allows. Pure pursuit: the arc
// from the rear axle to a point ahead has the curvature 2 y / d^2, y being how far aside the point
// lies and d its distance; a car of wheelbase L drives it with its wheels at atan(L curvature).
// Source: R. C. Coulter, "Implementation of the Pure Pursuit Path Tracking Algorithm",
// CMU-RI-TR-92-01, 1992.
#include "race.h"

#include <carom/math.h>
#include <string.h>

#define AHEAD      4.5f  // m, of the point that is pursued
#define AHEAD_TIME 0.25f // s, and as far again as the car comes in this time
#define FAST       13.0f // m/s, straight on
#define SLOW       6.0f
#define STUCK      240u // ticks without a gate, after which a car that stands is put back
#define SHARP      1.0f // 1/m, more than its wheels can do
#define GRIP       7.0f // m/s^2, sideways, that a bend is taken with

// The bot's view of the race.
typedef struct bot_sight {
    carom_vec3 place, velocity;
    carom_quat orientation;
    carom_vec3 gate[RACE_GATES_MAX];
    uint32_t gates, next;
    uint32_t waited; // ticks since the last gate
} bot_sight;

static uint8_t to_byte(float part)
{
    return (uint8_t)(int8_t)(127.0f * carom_clamp(part, -1.0f, 1.0f));
}

// The point at a distance along the way to the next gate, and on to the one after it.
static carom_vec3 point_ahead(const bot_sight *sight, float distance)
{
    carom_vec3 from = sight->place, to = from;
    for (uint32_t i = 0; i < sight->gates; i++) {
        to = sight->gate[(sight->next + i) % sight->gates];
        to.y = from.y;
        carom_vec3 way = carom_sub(to, from);
        float length = carom_length(way);
        if (length > distance) {
            return carom_add(from, carom_scale(distance / length, way));
        }
        distance -= length;
        from = to;
    }
    return to;
}

static void steer(const bot_sight *sight, uint8_t input[RACE_INPUT_SIZE])
{
    memset(input, 0, RACE_INPUT_SIZE);
    if (sight->gates == 0) {
        return;
    }
    carom_vec3 axle = carom_vec(-0.5f * RACE_WHEELBASE, 0.0f, 0.0f);
    carom_vec3 rear = carom_add(sight->place, carom_rotate(sight->orientation, axle));
    carom_vec3 speed = carom_rotate_inverse(sight->orientation, sight->velocity);
    carom_vec3 point = point_ahead(sight, AHEAD + AHEAD_TIME * carom_max(speed.x, 0.0f));
    carom_vec3 to = carom_rotate_inverse(sight->orientation, carom_sub(point, rear));
    float square = carom_max(to.x * to.x + to.z * to.z, 1.0f);
    float curvature = -2.0f * to.z / square; // about +y
    if (to.x < 0.0f) {                       // behind
        curvature = to.z < 0.0f ? SHARP : -SHARP;
    }
    bool stands = carom_length(speed) < 1.0f;
    float allowed = carom_sqrt(GRIP / carom_max(carom_abs(curvature), 0.01f));
    float wanted = carom_clamp(allowed, SLOW, FAST);
    input[0] = to_byte(0.5f * (wanted - speed.x));
    input[1] = to_byte(carom_atan2(RACE_WHEELBASE * curvature, 1.0f) / RACE_STEER_MAX *
                       (1.0f + carom_abs(speed.x) / RACE_STEER_SPEED));
    input[2] = stands && sight->waited > STUCK ? RACE_BACK : 0;
}

// The gates of a world, in the order of their numbers.
static void find_gates(const carom_world *world, bot_sight *sight)
{
    sight->gates = 0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state body;
        if (carom_body_get(world, carom_world_body_at(world, slot), &body) == CAROM_OK &&
            body.user_data >= RACE_GATE && body.user_data < RACE_GATE + RACE_GATES_MAX) {
            uint32_t number = (uint32_t)(body.user_data - RACE_GATE);
            sight->gate[number] = body.position;
            sight->gates = number >= sight->gates ? number + 1u : sight->gates;
        }
    }
}

void race_bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input)
{
    const race_public *rules = carom_game_state(game);
    const carom_world *world = carom_game_world(game);
    (void)random;
    for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
        const race_seat *seat = &rules->seat[i];
        carom_body_state car;
        if (seat->player == player + 1u && carom_body_get(world, seat->car, &car) == CAROM_OK) {
            bot_sight seen = {.place = car.position,
                              .orientation = car.orientation,
                              .velocity = car.linear_velocity,
                              .next = seat->next,
                              .waited = (uint32_t)carom_game_tick(game) - seat->since};
            find_gates(world, &seen);
            steer(&seen, input);
        }
    }
}
