// A player of the ball game that plays by itself, as a person would, from what its client shows:
// the nearest of a team goes behind the ball and kicks it at the goal, the others stand ready, the
// one furthest from it between ball and goal.
#include "ball.h"

#include <carom/math.h>
#include <string.h>

#define AHEAD 0.15f // s, that the ball is thought on
#define NEAR  0.9f  // m, from the ball: where a run at it begins

// The bot's view of the game.
typedef struct bot_sight {
    uint32_t seat; // the bot's own
    bool there[BALL_PLAYERS];
    carom_vec3 place[BALL_PLAYERS], ball, ball_velocity;
} bot_sight;

static carom_vec3 flat(carom_vec3 v)
{
    v.y = 0.0f;
    return v;
}

static float distance(carom_vec3 a, carom_vec3 b)
{
    return carom_length(flat(carom_sub(a, b)));
}

// The number of players of the own team that are nearer to a place.
static uint32_t rank_of(const bot_sight *sight, carom_vec3 place)
{
    uint32_t rank = 0;
    float own = distance(sight->place[sight->seat], place);
    for (uint32_t i = sight->seat % 2u; i < BALL_PLAYERS; i += 2u) {
        float theirs = distance(sight->place[i], place);
        rank += sight->there[i] && (theirs < own || (!(own < theirs) && i < sight->seat));
    }
    return rank;
}

static uint8_t to_byte(float part)
{
    return (uint8_t)(int8_t)(127.0f * carom_clamp(part, -1.0f, 1.0f));
}

// The target of the player nearest to the ball: the ball, approached from behind, else a way round
// it.
static carom_vec3 attack(carom_vec3 me, carom_vec3 ball, carom_vec3 way)
{
    carom_vec3 from = flat(carom_sub(me, ball)), side = carom_vec(-way.z, 0.0f, way.x);
    float along = carom_dot(from, way), across = carom_dot(from, side);
    if (along < -0.3f && carom_abs(across) < 0.4f) {
        return carom_add(ball, way);
    }
    carom_vec3 behind = carom_sub(ball, carom_scale(NEAR, way));
    float round = along > -0.3f ? 1.2f : 0.0f;
    return carom_add(behind, carom_scale(across < 0.0f ? -round : round, side));
}

// At their goal; or anywhere, along the boards or out of a corner, but not into the own goal.
static bool would_kick(carom_vec3 me, carom_vec3 ball, carom_vec3 way, carom_vec3 ours)
{
    carom_vec3 at = carom_normalize(flat(carom_sub(ball, me)));
    bool at_boards =
        carom_abs(ball.z) > BALL_HALF_WIDTH - 0.8f || carom_abs(ball.x) > BALL_HALF_LENGTH - 0.8f;
    return carom_dot(at, way) > 0.95f || (at_boards && distance(ball, ours) > 4.0f);
}

static void steer(const bot_sight *sight, uint8_t input[BALL_INPUT_SIZE])
{
    float sign = ball_team(sight->seat) == 0 ? 1.0f : -1.0f;
    carom_vec3 me = sight->place[sight->seat];
    carom_vec3 ball = flat(carom_add(sight->ball, carom_scale(AHEAD, sight->ball_velocity)));
    carom_vec3 theirs = carom_vec(sign * (BALL_HALF_LENGTH + 1.0f), 0.0f, 0.0f);
    carom_vec3 ours = carom_scale(-1.0f, theirs);
    carom_vec3 way = carom_normalize(carom_sub(theirs, ball));
    uint32_t rank = rank_of(sight, ball);
    carom_vec3 target;
    if (rank == 0) {
        target = attack(me, ball, way);
    } else if (rank == 3) {
        target = carom_add(carom_scale(0.3f, ours), carom_scale(0.7f, ball));
    } else { // a wing each
        target = carom_sub(ball, carom_scale(2.0f, way));
        target.z += rank == 1 ? 3.0f : -3.0f;
    }
    carom_vec3 drive = flat(carom_sub(target, me));
    float length = carom_length(drive);
    drive = carom_scale(length > 0.5f ? 1.0f / length : 2.0f, drive);
    memset(input, 0, BALL_INPUT_SIZE);
    input[0] = to_byte(drive.x);
    input[1] = to_byte(drive.z);
    input[2] = would_kick(me, sight->ball, way, ours) ? BALL_KICK : 0;
}

void ball_bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input)
{
    const ball_public *rules = carom_game_state(game);
    const carom_world *world = carom_game_world(game);
    bot_sight seen = {.seat = BALL_PLAYERS};
    carom_body_state body;
    (void)random;
    if (carom_body_get(world, rules->ball, &body) != CAROM_OK) {
        return;
    }
    seen.ball = body.position;
    seen.ball_velocity = body.linear_velocity;
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        seen.there[i] = carom_body_get(world, rules->seat[i].body, &body) == CAROM_OK;
        seen.place[i] = body.position;
        seen.seat = seen.there[i] && rules->seat[i].player == player + 1u ? i : seen.seat;
    }
    if (seen.seat < BALL_PLAYERS) {
        steer(&seen, input);
    }
}
