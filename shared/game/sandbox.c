// The built-in module: players drive cubes by force through a crowd; cubes near a player that holds
// its button are drawn to it by springs.
//
// State, 32-bit words, all of it public:
//   OFFSET  SIZE    CONTENT
//   0       8 x 64  body of each player slot {index, generation}, null for an empty slot
//
// It changes only when players come and go, so that it costs a view nothing.
//
// Input, 9 bytes, little-endian:
//   OFFSET  SIZE    CONTENT
//   0       4       drive x, binary32, -1..1
//   4       4       drive z, binary32, -1..1
//   8       1       buttons: bit 0 hold, bit 1 jump (again and again while held); others 0
//
// Typical: 4 players, 400 cubes; a tick looks at every cube once for each player that holds.
#include "carom/game.h"

#include <string.h>

#include "shared/base/vec.h"

#define BUTTON_HOLD    1u
#define BUTTON_JUMP    2u

#define CUBE_HALF      0.5f   // m
#define CUBE_DENSITY   300.0f // kg/m^3
#define DRIVE          30.0f  // m/s^2 at full drive
#define DRAG           2.5f   // 1/s, horizontal: top speed is DRIVE / DRAG
#define JUMP_SPEED     5.0f   // m/s
#define HOLD_RADIUS    3.0f   // m
#define HOLD_REST      1.0f   // m, from the player's centre
#define HOLD_STIFFNESS 60.0f  // 1/s^2: force over the held cube's mass and stretch
#define HOLD_DAMPING   6.0f   // 1/s
#define SPAWN_RING     6.0f   // m
#define SPAWN_HEIGHT   1.5f   // m

typedef struct sandbox_state {
    struct {
        uint32_t index, generation;
    } body[CAROM_PLAYERS_MAX];
} sandbox_state;

_Static_assert(sizeof(sandbox_state) == 512, "words only, no padding");
_Static_assert(sizeof(sandbox_state) <= CAROM_MODULE_PUBLIC_MAX, "all of it is public");

static float read_f32(const uint8_t *bytes)
{
    uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                    (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static carom_body_id body_of(const sandbox_state *state, uint32_t player)
{
    carom_body_id id = {state->body[player].index, state->body[player].generation};
    return id;
}

static bool sandbox_check_input(const uint8_t *bytes)
{
    float x = read_f32(bytes), z = read_f32(bytes + 4);
    return cm_is_finite(x) && cm_is_finite(z) && cm_abs(x) <= 1.0f && cm_abs(z) <= 1.0f &&
           bytes[8] <= (BUTTON_HOLD | BUTTON_JUMP);
}

// Slots stand on two rings of 16 around the origin, four heights: eight directions of the compass
// and eight between, without trigonometry.
static carom_vec3 spawn_place(uint32_t player)
{
    static const float ring[16][2] = {
        {1.0f, 0.0f},   {0.0f, 1.0f},    {-1.0f, 0.0f},    {0.0f, -1.0f},
        {0.71f, 0.71f}, {-0.71f, 0.71f}, {-0.71f, -0.71f}, {0.71f, -0.71f},
        {0.92f, 0.38f}, {-0.38f, 0.92f}, {-0.92f, -0.38f}, {0.38f, -0.92f},
        {0.38f, 0.92f}, {-0.92f, 0.38f}, {-0.38f, -0.92f}, {0.92f, -0.38f},
    };
    float radius = SPAWN_RING * (1.0f + (float)(player / 16u % 2u));
    float height = SPAWN_HEIGHT + 2.0f * (float)(player / 32u);
    return cm_vec(radius * ring[player % 16u][0], height, radius * ring[player % 16u][1]);
}

static bool sandbox_join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    (void)user_data;
    (void)size;
    sandbox_state *state = carom_game_state(game);
    carom_body_def body = carom_default_body_def();
    body.position = spawn_place(player);
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = cm_vec(CUBE_HALF, CUBE_HALF, CUBE_HALF);
    shape.density = CUBE_DENSITY;
    shape.friction = 0.4f;
    carom_body_id id;
    // At the world's limit a player joins without a cube: it watches.
    if (carom_body_create(carom_game_world(game), &body, &shape, 1, &id) == CAROM_OK) {
        state->body[player].index = id.index;
        state->body[player].generation = id.generation;
    }
    return true;
}

static void sandbox_leave(carom_game *game, uint32_t player)
{
    sandbox_state *state = carom_game_state(game);
    // The result does not matter: a stale id means that the cube is gone already.
    (void)carom_body_destroy(carom_game_world(game), body_of(state, player));
    state->body[player].index = 0;
    state->body[player].generation = 0;
}

// One held cube: a damped spring along the line between the centres. Equal and opposite.
static void draw_near(carom_world *world, carom_body_id player_id, const carom_body_state *player,
                      carom_body_id id)
{
    carom_body_state cube;
    if (carom_body_get(world, id, &cube) != CAROM_OK || cube.type != CAROM_BODY_DYNAMIC) {
        return;
    }
    carom_vec3 between = cm_sub(player->center_of_mass, cube.center_of_mass);
    float distance_squared = cm_length_squared(between);
    if (distance_squared > HOLD_RADIUS * HOLD_RADIUS || distance_squared < 1.0e-6f) {
        return;
    }
    float distance = cm_sqrt(distance_squared);
    carom_vec3 direction = cm_scale(1.0f / distance, between);
    float closing = cm_dot(direction, cm_sub(cube.linear_velocity, player->linear_velocity));
    float pull = HOLD_STIFFNESS * (distance - HOLD_REST) - HOLD_DAMPING * closing;
    carom_vec3 force = cm_scale(cube.mass * pull, direction);
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    (void)carom_body_apply_force(world, id, force, zero);
    (void)carom_body_apply_force(world, player_id, cm_neg(force), zero);
}

static bool is_player(const sandbox_state *state, uint32_t slot)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (state->body[player].generation != 0 && state->body[player].index == slot) {
            return true;
        }
    }
    return false;
}

static void hold(carom_world *world, const sandbox_state *state, carom_body_id id,
                 const carom_body_state *body)
{
    uint32_t slots = carom_world_body_slots(world);
    for (uint32_t slot = 0; slot < slots; slot++) {
        carom_body_id other = carom_world_body_at(world, slot);
        if (!carom_body_id_is_null(other) && !is_player(state, slot)) {
            draw_near(world, id, body, other);
        }
    }
}

static void drive(carom_world *world, const sandbox_state *state, const carom_player_input *input)
{
    carom_body_id id = body_of(state, input->player);
    carom_body_state body;
    uint32_t buttons = input->bytes[8];
    if (carom_body_get(world, id, &body) != CAROM_OK) {
        return; // watches
    }
    carom_vec3 velocity = body.linear_velocity;
    carom_vec3 push = cm_vec(DRIVE * read_f32(input->bytes) - DRAG * velocity.x, 0.0f,
                             DRIVE * read_f32(input->bytes + 4) - DRAG * velocity.z);
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    (void)carom_body_apply_force(world, id, cm_scale(body.mass, push), zero);
    if ((buttons & BUTTON_JUMP) != 0 && cm_abs(velocity.y) < 0.05f) {
        (void)carom_body_apply_impulse(world, id, cm_vec(0.0f, JUMP_SPEED * body.mass, 0.0f),
                                       body.center_of_mass);
    }
    if ((buttons & BUTTON_HOLD) != 0) {
        hold(world, state, id, &body);
    }
}

static void sandbox_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    carom_world *world = carom_game_world(game);
    const sandbox_state *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        drive(world, state, &inputs[i]);
    }
}

static carom_body_id sandbox_player_body(const carom_game *game, uint32_t player)
{
    return body_of(carom_game_state(game), player);
}

const carom_module carom_module_sandbox = {
    .abi = CAROM_MODULE_ABI,
    .version = 1,
    .name = "sandbox",
    .input_size = 9,
    .state_size = sizeof(sandbox_state),
    .public_size = sizeof(sandbox_state),
    .join = sandbox_join,
    .leave = sandbox_leave,
    .tick = sandbox_tick,
    .check_input = sandbox_check_input,
    .player_body = sandbox_player_body,
    .buttons = {[8] = BUTTON_HOLD | BUTTON_JUMP},
};
