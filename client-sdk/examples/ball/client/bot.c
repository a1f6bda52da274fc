#include "bot.h"

#include <carom/math.h>
#include <string.h>

#define AHEAD 0.15f // s, that the ball is thought on
#define NEAR  0.9f  // m, from the ball: where a run at it begins

static carom_vec3 flat(carom_vec3 v)
{
    v.y = 0.0f;
    return v;
}

static float distance(carom_vec3 a, carom_vec3 b)
{
    return carom_length(flat(carom_sub(a, b)));
}

// How many of the own team are nearer to a place.
static uint32_t rank_of(const ball_sight *sight, carom_vec3 place)
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

// Where the one who has the ball runs to: at it from behind, else round it.
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

void ball_steer(const ball_sight *sight, uint8_t input[BALL_INPUT_SIZE])
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

const ball_public *ball_seen(const carom_client *client)
{
    uint32_t size;
    const void *state = carom_client_public_state(client, &size);
    return size == sizeof(ball_public) ? state : NULL;
}

void ball_play(carom_client *client)
{
    const ball_public *game = ball_seen(client);
    ball_sight sight = {.seat = BALL_PLAYERS};
    uint8_t input[BALL_INPUT_SIZE];
    carom_client_pose pose;
    if (game == NULL || carom_client_body_pose(client, game->ball, &pose) != CAROM_OK) {
        return;
    }
    sight.ball = pose.position;
    sight.ball_velocity = pose.linear_velocity;
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        sight.there[i] = carom_client_body_pose(client, game->seat[i].body, &pose) == CAROM_OK;
        sight.place[i] = pose.position;
        if (sight.there[i] && game->seat[i].player == carom_client_player(client) + 1u) {
            sight.seat = i;
        }
    }
    if (sight.seat < BALL_PLAYERS) {
        ball_steer(&sight, input);
        (void)carom_client_set_input(client, input, sizeof input);
    }
}
