// A crowd for recordings: see crowd.h.
//
// A player's cube of 0.6 to 1 m (half) among 900 of 0.2 m, a metre apart at first. It is driven by
// forces towards a speed that is drawn anew every second or two, and it jumps, rolls, or hovers
// upright above the others, which it then pushes away or draws along. Half a second at rest ends
// `touched`. Floating-point results are the engine's; the recording of a seed is the same wherever
// the engine's states are.
#include "server/tools/bench/crowd.h"

#include <math.h>
#include <stdlib.h>

#include "server/tools/bench/worlds.h"
#include "shared/base/rng.h"
#include "shared/base/vec.h"

#define ROW        30
#define HALF       0.2f
#define CALM_TICKS 30
#define RATE       60.0f
#define CONTACTS   24u

typedef enum crowd_mode { ROLL, HOVER, DRAW, MODES } crowd_mode;

// Cubes at rest tremble where contacts only push out what overlaps: one rises until it floats,
// falls for a tick, at an edge or flat, and rises again, for a while or in a cycle without end. Our
// own solvers do not do that; engines of the kind do, so recordings have it on top of the world's
// poses.
#define FALLS 2
typedef struct crowd_fall {
    float tilt[2], slide[2], depth; // rad about x and z, m along them, m
} crowd_fall;

typedef struct crowd_tremor {
    crowd_fall fall[FALLS], now, creep, drift;
    float pace;  // of the creep: falls a tick
    float order; // 0: a fall is what chance makes it, 1: as the last one but one
    float rise;  // share of a fall that is left after a tick
    uint16_t left, period, phase, turn;
    bool same; // each fall as the last one
} crowd_tremor;

struct cm_crowd {
    carom_world *world;
    cm_rng rng;
    carom_body_id body[CM_CODEC_CUBES];
    uint8_t touched[CM_CODEC_CUBES], calm[CM_CODEC_CUBES];
    crowd_tremor tremor[CM_CODEC_CUBES];
    crowd_mode mode;
    carom_vec3 wanted; // m/s, horizontal
    uint32_t until;    // ticks left of this mode
    float top_speed, height, reach;
};

static carom_result add_cube(cm_crowd *crowd, uint32_t i, carom_vec3 position, float half,
                             float friction, float density)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = (carom_vec3){half, half, half};
    shape.friction = friction;
    shape.density = density;
    return carom_body_create(crowd->world, &body, &shape, 1, &crowd->body[i]);
}

static bool fill(cm_crowd *crowd)
{
    cm_rng *rng = &crowd->rng;
    carom_body_def ground = carom_default_body_def();
    carom_shape_def plane = carom_default_shape_def();
    float friction = cm_rng_range(rng, 0.4f, 1.0f);
    ground.type = CAROM_BODY_STATIC;
    plane.type = CAROM_SHAPE_PLANE;
    plane.normal = (carom_vec3){0.0f, 1.0f, 0.0f};
    plane.friction = 1.0f;
    carom_body_id id;
    if (carom_body_create(crowd->world, &ground, &plane, 1, &id) != CAROM_OK) {
        return false;
    }
    float half = cm_rng_range(rng, 0.6f, 1.0f);
    if (add_cube(crowd, 0, (carom_vec3){0.0f, 10.0f, 0.0f}, half, friction,
                 cm_rng_range(rng, 150.0f, 1000.0f)) != CAROM_OK) {
        return false;
    }
    for (uint32_t i = 1; i < CM_CODEC_CUBES; i++) {
        carom_vec3 at = {-14.5f + (float)((i - 1) % ROW), HALF, 14.5f - (float)((i - 1) / ROW)};
        if (add_cube(crowd, i, at, HALF, friction, 1000.0f) != CAROM_OK) {
            return false;
        }
    }
    return true;
}

cm_crowd *cm_crowd_new(uint64_t seed)
{
    cm_crowd *crowd = calloc(1, sizeof *crowd);
    if (crowd == NULL) {
        return NULL;
    }
    cm_rng_seed(&crowd->rng, seed);
    carom_world_def def = carom_default_world_def();
    def.gravity = (carom_vec3){0.0f, -cm_rng_range(&crowd->rng, 18.0f, 22.0f), 0.0f};
    def.limits = (carom_limits){CM_CODEC_CUBES + 1, CM_CODEC_CUBES + 1, 0, 16384};
    def.friction_combine = CAROM_COMBINE_PRODUCT;
    uint32_t kind = cm_rng_below(&crowd->rng, 8);
    if (kind < 1) {
        def.solver.type = CAROM_SOLVER_LCP;
        def.solver.lcp.gamma = cm_rng_range(&crowd->rng, 0.12f, 0.3f);
        def.solver.lcp.direct_rows = 0;
        def.solver.lcp.epsilon = cm_rng_range(&crowd->rng, 1e-5f, 3e-4f);
    } else if (kind == 1) {
        def.solver.type = CAROM_SOLVER_IMPULSE;
    } else {
        def.solver.soft.substeps = 1 + cm_rng_below(&crowd->rng, 3);
    }
    crowd->world = cm_bench_world_new(&def);
    if (crowd->world == NULL || !fill(crowd)) {
        cm_crowd_free(crowd);
        return NULL;
    }
    crowd->top_speed = cm_rng_range(&crowd->rng, 10.0f, 22.0f);
    return crowd;
}

void cm_crowd_free(cm_crowd *crowd)
{
    if (crowd != NULL) {
        cm_bench_world_free(crowd->world);
        free(crowd);
    }
}

// Driving ---------------------------------------------------------------------------------------

static void draw_mode(cm_crowd *crowd, const carom_body_state *player)
{
    cm_rng *rng = &crowd->rng;
    crowd->until = 30 + cm_rng_below(rng, 90);
    if (cm_rng_below(rng, 3) == 0) {
        crowd->mode = (crowd_mode)cm_rng_below(rng, MODES);
        crowd->height = cm_rng_range(rng, 1.2f, 2.8f);
        crowd->reach = cm_rng_range(rng, 1.5f, 4.0f);
    }
    // Never off the field for long.
    float x = cm_rng_range(rng, -1.0f, 1.0f) - player->position.x / 20.0f;
    float z = cm_rng_range(rng, -1.0f, 1.0f) - player->position.z / 20.0f;
    crowd->wanted = (carom_vec3){crowd->top_speed * x, 0.0f, crowd->top_speed * z};
    if (cm_rng_below(rng, 6) == 0) {
        crowd->wanted = (carom_vec3){0.0f, 0.0f, 0.0f};
    }
}

static void sway(cm_crowd *crowd, const carom_body_state *player)
{
    for (uint32_t i = 1; i < CM_CODEC_CUBES; i++) {
        carom_body_state cube;
        if (carom_body_get(crowd->world, crowd->body[i], &cube) != CAROM_OK) {
            continue;
        }
        carom_vec3 away = cm_sub(cube.position, player->position);
        float distance = cm_length(away);
        if (distance > crowd->reach || distance < 0.01f) {
            continue;
        }
        float pull = crowd->mode == DRAW ? -45.0f : 12.0f;
        (void)carom_body_apply_force(crowd->world, crowd->body[i],
                                     cm_scale(cube.mass * pull / distance, away),
                                     (carom_vec3){0.0f, 0.0f, 0.0f});
        crowd->touched[i] = 1;
    }
}

static void drive(cm_crowd *crowd)
{
    carom_body_state player;
    if (carom_body_get(crowd->world, crowd->body[0], &player) != CAROM_OK) {
        return;
    }
    if (crowd->until == 0) {
        draw_mode(crowd, &player);
        if (crowd->mode == ROLL && cm_rng_below(&crowd->rng, 3) == 0) {
            carom_vec3 up = {0.0f, player.mass * cm_rng_range(&crowd->rng, 4.0f, 12.0f), 0.0f};
            (void)carom_body_apply_impulse(crowd->world, crowd->body[0], up, player.position);
        }
    }
    crowd->until--;
    carom_vec3 push = cm_scale(2.5f, cm_sub(crowd->wanted, player.linear_velocity));
    carom_vec3 torque = {0.0f, 0.0f, 0.0f};
    push.y = 0.0f;
    if (crowd->mode != ROLL) {
        push.y =
            18.0f + 30.0f * (crowd->height - player.position.y) - 6.0f * player.linear_velocity.y;
        carom_vec3 lean = {player.orientation.x, player.orientation.y, player.orientation.z};
        if (player.orientation.w < 0.0f) {
            lean = cm_neg(lean);
        }
        torque = cm_scale(-player.mass,
                          cm_add(cm_scale(20.0f, lean), cm_scale(4.0f, player.angular_velocity)));
    }
    (void)carom_body_apply_force(crowd->world, crowd->body[0], cm_scale(player.mass, push), torque);
    if (crowd->mode != ROLL) {
        sway(crowd, &player);
    }
}

// Tremor ----------------------------------------------------------------------------------------

static void draw_fall(cm_rng *rng, crowd_fall *fall)
{
    float strength = cm_rng_range(rng, 0.3f, 2.2f);
    float angle = cm_rng_below(rng, 4) == 0 ? 0.0f : strength * cm_rng_range(rng, 0.0f, 0.018f);
    float x = cm_rng_range(rng, -1.0f, 1.0f), z = cm_rng_range(rng, -1.0f, 1.0f);
    float share = cm_rng_range(rng, -0.5f, 1.5f);
    fall->tilt[0] = angle * x;
    fall->tilt[1] = angle * z;
    fall->slide[0] = -HALF * share * fall->tilt[1];
    fall->slide[1] = HALF * share * fall->tilt[0];
    fall->depth =
        HALF * cm_rng_range(rng, 0.0f, 1.0f) * angle + strength * cm_rng_range(rng, 0.0f, 0.004f);
}

static void add_fall(crowd_fall *to, const crowd_fall *fall, float share)
{
    for (int i = 0; i < 2; i++) {
        to->tilt[i] += share * fall->tilt[i];
        to->slide[i] += share * fall->slide[i];
    }
    to->depth += share * fall->depth;
}

static void draw_tremor(cm_rng *rng, crowd_tremor *tremor)
{
    bool endless = cm_rng_below(rng, 6) == 0;
    tremor->left = (uint16_t)(endless ? 600 + cm_rng_below(rng, 6000) : cm_rng_below(rng, 600));
    tremor->same = cm_rng_below(rng, 10) == 0;
    tremor->period = (uint16_t)(cm_rng_below(rng, 3) == 0 ? 6 + cm_rng_below(rng, 5) : 8);
    tremor->rise = cm_rng_range(rng, 0.72f, 0.92f);
    for (int i = 0; i < FALLS; i++) {
        draw_fall(rng, &tremor->fall[i]);
    }
    if (cm_rng_below(rng, 2) == 0) {
        tremor->fall[1] = tremor->fall[0];
    }
    draw_fall(rng, &tremor->drift);
    tremor->pace =
        cm_rng_below(rng, 2) == 0 ? cm_rng_range(rng, 0.0f, 0.04f) : cm_rng_range(rng, 0.0f, 0.7f);
    tremor->order = cm_rng_range(rng, 0.0f, 1.0f);
}

// One tick of cube i's tremor, into the pose that is recorded.
static void tremble(cm_crowd *crowd, uint32_t i, carom_body_state *state)
{
    crowd_tremor *t = &crowd->tremor[i];
    cm_rng *rng = &crowd->rng;
    float speed = cm_length_squared(state->linear_velocity) +
                  0.04f * cm_length_squared(state->angular_velocity);
    add_fall(&t->now, &t->now, t->rise - 1.0f);
    if (speed > 0.25f) {
        draw_tremor(rng, t);
        t->rise = 0.6f;
    } else if (t->left > 0) {
        t->left--;
        t->phase++;
        if (t->phase >= t->period) {
            t->phase = t->same ? 0 : (uint16_t)cm_rng_below(rng, t->order < 0.5f ? 4 : 2);
            t->turn = (uint16_t)((t->turn + 1) % FALLS);
            if (!t->same && cm_rng_range(rng, 0.0f, 1.0f) > t->order) {
                draw_fall(rng, &t->fall[t->turn]);
            }
            add_fall(&t->now, &t->fall[t->turn], t->same ? 1.0f : cm_rng_range(rng, 0.5f, 1.3f));
            t->rise = t->rise < 0.7f ? cm_rng_range(rng, 0.72f, 0.92f) : t->rise;
        }
        if (!t->same) {
            if (cm_rng_below(rng, 40) == 0) {
                draw_fall(rng, &t->drift);
            }
            add_fall(&t->creep, &t->drift, t->pace * cm_rng_range(rng, -0.5f, 1.5f));
            t->creep.depth *= 0.9f;
            t->pace *= t->pace > 0.04f ? 0.985f : 1.0f;
        }
    }
    carom_quat tilt = {0.5f * (t->now.tilt[0] + t->creep.tilt[0]), 0.0f,
                       0.5f * (t->now.tilt[1] + t->creep.tilt[1]), 1.0f};
    state->orientation = cm_quat_normalize(cm_quat_mul(tilt, state->orientation));
    state->position.x += t->now.slide[0] + t->creep.slide[0];
    state->position.y -= t->now.depth;
    state->position.z += t->now.slide[1] + t->creep.slide[1];
}

static void touch(cm_crowd *crowd)
{
    carom_body_contact contacts[CONTACTS * 4];
    uint32_t count = carom_body_contacts(crowd->world, crowd->body[0], contacts, CONTACTS * 4);
    for (uint32_t k = 0; k < count && k < CONTACTS * 4; k++) {
        for (uint32_t i = 1; i < CM_CODEC_CUBES && contacts[k].points > 0; i++) {
            if (contacts[k].other_body.index == crowd->body[i].index) {
                crowd->touched[i] = 1;
            }
        }
    }
}

// Quantising ------------------------------------------------------------------------------------

static int16_t whole(double value, int low, int high)
{
    double rounded = floor(value + 0.5);
    return (int16_t)(rounded < low ? low : rounded > high ? high : rounded);
}

static void quantise(const carom_body_state *state, cm_cube *cube)
{
    const double scale = 511.0 / (2.0 * 0.70710678118654752);
    // y up there, z up here: (x, y, z) is (x, -z, y).
    double q[4] = {state->orientation.x, -state->orientation.z, state->orientation.y,
                   state->orientation.w};
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        largest = fabs(q[i]) > fabs(q[largest]) ? i : largest;
    }
    cube->largest = (int16_t)largest;
    for (int i = 0, k = 0; i < 4; i++) {
        if (i != largest) {
            double value = q[largest] < 0.0 ? -q[i] : q[i];
            cube->turn[k++] = whole(value * scale + 255.5, 0, CM_CUBE_TURN);
        }
    }
    cube->at[0] = whole(512.0 * state->position.x, -CM_CUBE_SIDE, CM_CUBE_SIDE);
    cube->at[1] = whole(-512.0 * state->position.z, -CM_CUBE_SIDE, CM_CUBE_SIDE);
    cube->at[2] = whole(512.0 * state->position.y, 0, CM_CUBE_HEIGHT);
}

void cm_crowd_frame(cm_crowd *crowd, cm_cube cubes[CM_CODEC_CUBES])
{
    touch(crowd);
    crowd->touched[0] = 1;
    for (uint32_t i = 0; i < CM_CODEC_CUBES; i++) {
        carom_body_state state = {0};
        (void)carom_body_get(crowd->world, crowd->body[i], &state);
        bool calm = state.asleep || (cm_length_squared(state.linear_velocity) < 0.0025f &&
                                     cm_length_squared(state.angular_velocity) < 0.04f);
        crowd->calm[i] = calm ? (uint8_t)(crowd->calm[i] + (crowd->calm[i] < 255)) : 0;
        if (i > 0) {
            tremble(crowd, i, &state);
            if (crowd->calm[i] >= CALM_TICKS &&
                (crowd->tremor[i].left == 0 || crowd->calm[i] > 200)) {
                crowd->touched[i] = 0;
            }
        }
        cm_cube cube = {0};
        quantise(&state, &cube);
        cube.touched = crowd->touched[i];
        cubes[i] = cube;
    }
    drive(crowd);
    carom_world_step(crowd->world);
}
