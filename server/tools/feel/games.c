// Scenes and players as they were agreed upon, so that measurements of different days compare.
// Players join on a ring of 6 m. Ball and race are those of client-sdk/examples, played by their
// bots.
#include "server/tools/feel/games.h"

#include <string.h>

#include "shared/base/vec.h"

#define ALONE_M 60.0f // from the origin, then it turns back
#define CROWD_M 9.0f
#define BALL    5u  // its slot: behind the ground and four walls
#define PRESS_S 4.0 // by then both stand where they press from
#define SANDBOX 9u  // bytes of its input

#define GROUND(bounds)                                                                             \
    "{\"carom\":1,\"name\":\"feel\",\"module\":\"sandbox\",\"bounds\":" bounds ","                 \
    "\"limits\":{\"bodies\":512,\"shapes\":512,\"joints\":64,\"contacts\":8192},"                  \
    "\"materials\":{\"floor\":{\"friction\":0.8,\"restitution\":0},"                               \
    "\"wood\":{\"friction\":0.7,\"restitution\":0,\"density\":300}},"                              \
    "\"bodies\":[{\"name\":\"ground\",\"type\":\"static\",\"shapes\":[{\"plane\":"                 \
    "{\"normal\":[0,1,0],\"offset\":0},\"material\":\"floor\"}]}"
#define WALL(name, normal, far)                                                                    \
    ",{\"name\":\"" name "\",\"type\":\"static\",\"shapes\":[{\"plane\":{\"normal\":" normal       \
    ",\"offset\":-" far "},\"material\":\"floor\"}]}"
#define WALLS(far)                                                                                 \
    WALL("east", "[-1,0,0]", far)                                                                  \
    WALL("west", "[1,0,0]", far)                                                                   \
    WALL("north", "[0,0,-1]", far)                                                                 \
    WALL("south", "[0,0,1]", far)

static const char plane_scene[] = GROUND("[[-128,-16,-128],[128,48,128]]") "]}";
static const char crowd_scene[] = GROUND("[[-64,-16,-64],[64,48,64]]") WALLS(
    "24") "],\"arrays\":[{\"name\":\"cube\","
          "\"origin\":[-9.5,0.2,-9.5],\"count\":[20,1,20],\"spacing\":[1,1,1],\"of\":{\"shapes\":"
          "[{\"box\":{\"half_extents\":[0.2,0.2,0.2]},\"material\":\"wood\"}]}}]}";
static const char push_scene[] = GROUND("[[-64,-16,-64],[64,48,64]]")
    WALLS("10") ",{\"name\":\"ball\",\"position\":[0,0.8,0],\"linear_damping\":0.2,\"angular_"
                "damping\":0.4,"
                "\"shapes\":[{\"sphere\":{\"radius\":0.8},\"material\":\"wood\"}]}]}";

static const char press_scene[] = GROUND("[[-64,-16,-64],[64,48,64]]") WALLS("12") "]}";

#include "game_scenes.inc" // ball_scene, billiards_scene, race_scene, volume_six_blocks_pointer_scene

const char *const cm_feel_hand_scene = volume_six_blocks_pointer_scene;

static double between(cm_feel_player *p, double low, double high)
{
    return low + (high - low) * cm_rng_unit(&p->rng);
}

// A direction of the plane, even over all.
static void draw_direction(cm_feel_player *p)
{
    float square;
    do {
        p->x = cm_rng_range(&p->rng, -1.0f, 1.0f);
        p->z = cm_rng_range(&p->rng, -1.0f, 1.0f);
        square = p->x * p->x + p->z * p->z;
    } while (square > 1.0f || square < 0.01f);
    float length = cm_sqrt(square);
    p->x /= length;
    p->z /= length;
}

static void head_for(cm_feel_player *p, float x, float z)
{
    float length = cm_sqrt(x * x + z * z);
    p->x = length > 0.0f ? x / length : 0.0f;
    p->z = length > 0.0f ? z / length : 0.0f;
}

static void wander(cm_feel_player *p, double time_s, const carom_client_pose *own, float far)
{
    if (time_s >= p->turn_s) {
        p->turn_s = time_s + between(p, 0.25, 1.15);
        draw_direction(p);
    }
    if (own->position.x * own->position.x + own->position.z * own->position.z > far * far &&
        own->position.x * p->x + own->position.z * p->z > 0.0f) {
        head_for(p, -own->position.x, -own->position.z);
    }
}

static void play_alone(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    wander(p, time_s, own, ALONE_M);
}

static void play_crowd(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    wander(p, time_s, own, CROWD_M);
}

// At the ball, at an angle that changes; now and then it draws back.
static void play_push(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    carom_client_pose ball;
    if (carom_client_body_pose(p->client, carom_client_body_at(p->client, BALL), &ball) !=
            CAROM_OK ||
        (time_s < p->turn_s && time_s < p->back_s)) {
        return;
    }
    bool back = time_s >= p->back_s;
    if (back) {
        p->away = !p->away;
        p->back_s = time_s + (p->away ? between(p, 0.25, 0.55) : between(p, 1.5, 3.5));
    }
    p->turn_s = time_s + between(p, 0.2, 1.0);
    head_for(p, ball.position.x - own->position.x, ball.position.z - own->position.z);
    // Within +-0.9 rad, by a sine and a cosine of its half.
    float t = (float)between(p, -0.483, 0.483); // tan(0.45)
    float s = 2.0f * t / (1.0f + t * t), c = (1.0f - t * t) / (1.0f + t * t);
    float x = c * p->x - s * p->z, z = s * p->x + c * p->z;
    p->x = p->away ? -x : x;
    p->z = p->away ? -z : z;
}

// Both go to their sides of the origin, at rest by PRESS_S.
static bool take_place(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    float side = p->number == 0 ? 2.0f : -2.0f;
    if (time_s >= PRESS_S) {
        p->x = side > 0.0f ? -1.0f : 1.0f;
        p->z = 0.0f;
        return false;
    }
    // Stiff and damped: friction holds a cube that is pushed by less than a tenth.
    carom_vec3 to = cm_sub(cm_vec(side, own->position.y, 0.0f), own->position);
    carom_vec3 push = cm_sub(cm_scale(4.0f, to), own->linear_velocity);
    p->x = cm_clamp(push.x, -0.5f, 0.5f);
    p->z = cm_clamp(push.z, -0.5f, 0.5f);
    return true;
}

static void play_press(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    (void)take_place(p, time_s, own);
}

static void play_press_again(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    if (take_place(p, time_s, own)) {
        return;
    }
    if (time_s >= p->back_s) {
        p->away = p->back_s > 0.0 && !p->away;
        p->back_s = time_s + (p->away ? between(p, 0.3, 1.0) : between(p, 1.5, 3.5));
    }
    p->x = p->away ? 0.0f : p->x;
}

extern const carom_module carom_module_ball, carom_module_billiards, carom_module_race;

const cm_feel_game cm_feel_games[] = {
    {"alone", plane_scene, NULL, 1, play_alone},
    {"pushball", push_scene, NULL, 2, play_push},
    {"crowd", crowd_scene, NULL, 8, play_crowd},
    {"ball", ball_scene, &carom_module_ball, 8, NULL},
    {"billiards", billiards_scene, &carom_module_billiards, 2, NULL},
    {"race", race_scene, &carom_module_race, 4, NULL},
    {"pressing", press_scene, NULL, 2, play_press},
    {"pressing_again", press_scene, NULL, 2, play_press_again},
    {NULL, NULL, NULL, 0, NULL},
};

const cm_feel_game *cm_feel_game_find(const char *name)
{
    const cm_feel_game *game = cm_feel_games;
    while (game->name != NULL && strcmp(game->name, name) != 0) {
        game++;
    }
    return game->name != NULL ? game : NULL;
}

void cm_feel_play(const cm_feel_game *game, cm_feel_player *player, double time_s)
{
    carom_body_id body = carom_client_own_body(player->client);
    carom_client_pose own;
    uint8_t input[CAROM_INPUT_MAX] = {0};
    if (carom_client_body_pose(player->client, body, &own) != CAROM_OK) {
        return;
    }
    if (game->play == NULL) {
        (void)carom_client_play_bot(player->client, cm_rng_next(&player->rng));
        return;
    }
    game->play(player, time_s, &own);
    memcpy(input, &player->x, sizeof player->x);
    memcpy(input + 4, &player->z, sizeof player->z);
    (void)carom_client_set_input(player->client, input,
                                 game->module != NULL ? game->module->input_size : SANDBOX);
}
