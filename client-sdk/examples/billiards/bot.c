// A player of nine-ball that plays by itself. It looks for the pocket into which the lowest ball
// goes with the least cut and a free way: the cue ball must come to where a ball would touch that
// one on its way to the pocket, two radii behind it. It aims for a second, so that the other sees
// it, and misses by a little, the same little whenever that tick is looked at.
#include "billiards.h"

#include <carom/math.h>
#include <string.h>

#define THINK    60u    // ticks
#define CUT      0.35f  // cosine of the thinnest cut
#define CLEAR    0.057f // m, of other balls from the middle of a way
#define BEHIND   0.25f  // m, of the cue ball behind the ball, when it is in hand
#define UNSTEADY 0.004f // rad: the most that it aims aside
#define POCKETS  6u

typedef struct bot_sight {
    carom_vec3 ball[BILLIARDS_BALLS];
    uint32_t on, target;
} bot_sight;

// A stroke: to where, and how good it looks, 0 to 1.
typedef struct bot_stroke {
    carom_vec3 cue, aim; // where the cue ball begins, and is sent
    float way;           // m, that both balls go
    float worth;
} bot_stroke;

static carom_vec3 pocket_at(uint32_t i)
{
    float x = (float)(i % 3u) - 1.0f, z = i < 3u ? -1.0f : 1.0f;
    float out = i % 3u == 1u ? 0.02f : -0.01f; // the mouth's middle
    return carom_vec(x * (BILLIARDS_HALF_LENGTH - 0.01f), 0.0f, z * (BILLIARDS_HALF_WIDTH + out));
}

// True where no ball but these two stands in the way.
static bool is_clear(const bot_sight *sight, carom_vec3 from, carom_vec3 to, uint32_t but)
{
    carom_vec3 way = carom_sub(to, from);
    float length = carom_length(way);
    carom_vec3 unit = carom_normalize(way);
    for (uint32_t i = 1; i < BILLIARDS_BALLS; i++) {
        carom_vec3 at = carom_sub(sight->ball[i], from);
        float along = carom_dot(at, unit);
        carom_vec3 aside = carom_sub(at, carom_scale(along, unit));
        if (i != but && (sight->on >> i & 1u) != 0 && along > 0.0f && along < length &&
            carom_length(aside) < CLEAR) {
            return false;
        }
    }
    return true;
}

static bool is_inside(carom_vec3 place)
{
    return carom_abs(place.x) < BILLIARDS_HALF_LENGTH - 2.0f * BILLIARDS_RADIUS &&
           carom_abs(place.z) < BILLIARDS_HALF_WIDTH - 2.0f * BILLIARDS_RADIUS;
}

// Into one pocket; worth 0 where that does not go. In hand, the cue ball is put where it cuts by
// this angle.
static bot_stroke into(const bot_sight *sight, uint32_t pocket, bool in_hand, float cut)
{
    carom_vec3 ball = sight->ball[sight->target], hole = pocket_at(pocket);
    carom_vec3 way = carom_normalize(carom_sub(hole, ball));
    bot_stroke stroke = {.cue = sight->ball[0],
                         .aim = carom_sub(ball, carom_scale(2.0f * BILLIARDS_RADIUS, way))};
    if (in_hand) {
        carom_vec3 back = carom_rotate(carom_quat_of_axis(carom_vec(0.0f, 1.0f, 0.0f), cut), way);
        stroke.cue = carom_sub(stroke.aim, carom_scale(BEHIND, back));
    }
    carom_vec3 line = carom_sub(stroke.aim, stroke.cue);
    float cosine = carom_dot(carom_normalize(line), way);
    // A pocket in the middle of a side is narrow for a ball that comes along it.
    bool narrow = pocket % 3u == 1u && carom_abs(way.z) < 0.6f;
    stroke.way = carom_length(line) + carom_length(carom_sub(hole, ball));
    if (cosine > CUT && !narrow && is_clear(sight, ball, hole, sight->target) &&
        is_clear(sight, stroke.cue, stroke.aim, sight->target) &&
        (!in_hand || is_inside(stroke.cue))) {
        stroke.worth = cosine / (1.0f + stroke.way);
    }
    return stroke;
}

// The ball as a cushion shows it, like a mirror: who aims there meets it after the rebound.
static bot_stroke by_cushion(const bot_sight *sight, uint32_t side)
{
    carom_vec3 cue = sight->ball[0], ball = sight->ball[sight->target], seen = ball;
    float sign = side % 2u == 0 ? 2.0f : -2.0f;
    if (side < 2u) {
        seen.x = sign * (BILLIARDS_HALF_LENGTH - BILLIARDS_RADIUS) - ball.x;
    } else {
        seen.z = sign * (BILLIARDS_HALF_WIDTH - BILLIARDS_RADIUS) - ball.z;
    }
    carom_vec3 way = carom_sub(seen, cue);
    float part = side < 2u
                     ? (0.5f * sign * (BILLIARDS_HALF_LENGTH - BILLIARDS_RADIUS) - cue.x) / way.x
                     : (0.5f * sign * (BILLIARDS_HALF_WIDTH - BILLIARDS_RADIUS) - cue.z) / way.z;
    carom_vec3 turn = carom_add(cue, carom_scale(part, way));
    bool clear = part > 0.0f && part < 1.0f && is_clear(sight, cue, turn, sight->target) &&
                 is_clear(sight, turn, ball, sight->target);
    return (bot_stroke){
        .cue = cue, .aim = seen, .way = carom_length(way), .worth = clear ? 0.02f : 0.0f};
}

static bot_stroke choose(const bot_sight *sight, bool in_hand)
{
    static const float cuts[] = {0.0f, 0.4f, -0.4f, 0.8f, -0.8f};
    carom_vec3 cue = sight->ball[0], ball = sight->ball[sight->target];
    // A stroke that pots nothing: at the ball's middle, hard; or by a cushion round what is in the
    // way.
    bot_stroke best = {.cue = cue, .aim = ball, .way = 2.5f};
    best.worth = is_clear(sight, cue, ball, sight->target) ? 0.05f : 0.01f;
    for (uint32_t i = 0; i < POCKETS; i++) {
        for (uint32_t k = 0; k < (in_hand ? sizeof cuts / sizeof cuts[0] : 1u); k++) {
            bot_stroke stroke = into(sight, i, in_hand, cuts[k]);
            best = stroke.worth > best.worth ? stroke : best;
        }
    }
    for (uint32_t i = 0; i < 4u; i++) {
        bot_stroke stroke = by_cushion(sight, i);
        best = stroke.worth > best.worth ? stroke : best;
    }
    return best;
}

static uint8_t to_byte(float part)
{
    return (uint8_t)(int8_t)(127.0f * carom_clamp(part, -1.0f, 1.0f));
}

void billiards_bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input)
{
    const billiards_public *s = carom_game_state(game);
    bot_sight sight = {.on = s->on, .target = billiards_lowest(s->on)};
    (void)random;
    if (s->phase != BILLIARDS_AIM || s->seat[s->turn % BILLIARDS_PLAYERS].player != player + 1u) {
        return;
    }
    for (uint32_t i = 0; i < BILLIARDS_BALLS; i++) {
        carom_body_state body;
        if (carom_body_get(carom_game_world(game), s->ball[i], &body) == CAROM_OK) {
            sight.ball[i] = carom_vec(body.position.x, 0.0f, body.position.z);
        }
    }
    bot_stroke stroke = choose(&sight, s->in_hand != 0);
    input[6] = to_byte(stroke.cue.x / (BILLIARDS_HALF_LENGTH - BILLIARDS_RADIUS));
    input[7] = to_byte(stroke.cue.z / (BILLIARDS_HALF_WIDTH - BILLIARDS_RADIUS));
    // From where the cue ball is, now that it has been put there; in 256ths of the most either way.
    carom_vec3 line = carom_sub(stroke.aim, sight.ball[0]);
    float aside = (float)((s->since * 2654435761u >> 24) & 0xffu) / 128.0f - 1.0f;
    float turns = (carom_atan2(line.z, line.x) + UNSTEADY * aside) / 6.2831853f;
    uint32_t aim = (uint32_t)(int32_t)(65536.0f * turns);
    input[0] = (uint8_t)aim;
    input[1] = (uint8_t)(aim >> 8);
    float power = carom_clamp(50.0f + 45.0f * stroke.way, 70.0f, 220.0f);
    input[2] = (uint8_t)(s->strokes == 0 ? 255.0f : power); // it breaks
    uint32_t age = (uint32_t)carom_game_tick(game) - s->since;
    input[5] = age >= THINK && age % THINK < 6u ? BILLIARDS_STRIKE : 0;
}
