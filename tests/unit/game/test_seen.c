// Goal: a shot hits what its player saw, not what is there now, and the past that this takes is
// state. Method: a target that crosses at 5 m/s and a module that shoots at where the input says it
// was; every age, between ticks too, against the target's own law of motion; the same game saved,
// restored and decoded into another one, hash for hash; hostile forms of the past refused.
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/query.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

#define SPEED 5.0

static const char crossing[] =
    "{\"carom\": 1, \"tick_rate\": 60, \"gravity\": [0, 0, 0], \"limits\": {\"history\": 30},"
    " \"bodies\": [{\"name\": \"target\", \"type\": \"kinematic\", \"history\": true,"
    "   \"position\": [-5, 0, 0], \"linear_velocity\": [5, 0, 0],"
    "   \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]},"
    "  {\"name\": \"wall\", \"type\": \"static\", \"position\": [0, 0, -20],"
    "   \"shapes\": [{\"box\": {\"half_extents\": [50, 50, 0.5]}}]}]}";

// What the shooter's input holds behind the seen time: where along x it shoots, binary32. What it
// hit goes into the state: hits, misses, and the last hit's x.
typedef struct shots {
    uint32_t hits, misses;
    float x;
} shots;

static void shoot(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    shots *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        float x;
        memcpy(&x, inputs[i].bytes, sizeof x);
        carom_ray ray = {{x, 0.0f, 10.0f}, {0.0f, 0.0f, -20.0f}};
        const carom_seen_query query = {.ray = &ray};
        carom_query_hit hit;
        uint32_t hits = 0;
        carom_world_query_seen(game, inputs[i].player, &query, NULL, &hit, 1, &hits);
        state->hits += hits;
        state->misses += hits == 0;
        state->x = hits > 0 ? hit.point.x : state->x;
    }
}

static const carom_module shooter = {
    .abi = CAROM_MODULE_ABI,
    .version = 1,
    .name = "shooter",
    .input_size = 4,
    .state_size = sizeof(shots),
    .tick = shoot,
};

static carom_game *make(const char *text)
{
    cm_scene *scene;
    cm_scene_error error;
    carom_game *game;
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s: %s",
                 error.path, error.message);
    cr_assert_eq(cm_game_create(scene, &shooter, 7, NULL, &game), CAROM_OK);
    cm_scene_free(scene);
    return game;
}

static void join(carom_game *game)
{
    cm_game_event event = {.type = CM_EVENT_JOIN, .player = 0, .client_id = 1};
    cm_tick_input input = {.events = &event, .event_count = 1};
    cm_game_tick(game, &input);
}

// One tick whose player saw the world `age` ticks ago and shoots at x.
static void tick(carom_game *game, double age, float x)
{
    carom_player_input input = {.player = 0};
    cm_game_put_seen(game, input.bytes, age);
    memcpy(input.bytes + CAROM_SEEN_BYTES, &x, sizeof x);
    cm_tick_input all = {.inputs = &input, .input_count = 1};
    cm_game_tick(game, &all);
}

// Where the target was at a time in ticks.
static double place(double time)
{
    return -5.0 + SPEED * time / 60.0;
}

Test(seen, a_shot_hits_where_the_target_was_drawn)
{
    carom_game *game = make(crossing);
    const shots *state = carom_game_state(game);
    cr_assert_eq(cm_game_input_size(game), 4 + CAROM_SEEN_BYTES);
    join(game);
    for (uint32_t i = 0; i < 40; i++) {
        tick(game, 0.0, 100.0f);
    }
    uint32_t shot = 0;
    for (double age = 1.0; age <= 30.0; age += 0.3125, shot++) {
        double then = (double)carom_game_tick(game) + 1.0 - age;
        // The rim, 2 cm inside it and 2 cm outside: half a body would be 50 cm.
        uint32_t hits = state->hits;
        tick(game, age, (float)(place(then) - 0.48));
        cr_assert_eq(state->hits, hits + 1, "age %g", age);
        then += 1.0;
        tick(game, age, (float)(place(then) + 0.52));
        cr_assert_eq(state->hits, hits + 1, "age %g", age);
    }
    cr_assert_gt(shot, 90);
    // Too old counts as the oldest, what is still to come as now.
    double now = (double)carom_game_tick(game);
    tick(game, 900.0, (float)(place(now - 29.0) - 0.48));
    cr_assert_eq(state->hits, shot + 1);
    now = (double)carom_game_tick(game);
    tick(game, 0.0, (float)(place(now) + 0.48));
    cr_assert_eq(state->hits, shot + 2);
    cm_game_destroy(game);
}

Test(seen, the_past_is_state)
{
    carom_game *game = make(crossing), *other = make(crossing);
    join(game);
    size_t bound = cm_game_save_bound(game);
    char *image = malloc(bound);
    for (uint32_t i = 0; i < 100; i++) {
        if (i % 7 == 3) { // to the other one, by either form; both go on
            size_t size = cm_game_save(game, image, bound);
            cr_assert_gt(size, 0);
            cr_assert_eq(cm_game_restore(other, image, size), CAROM_OK);
        } else if (i % 7 == 5) {
            size_t size = cm_game_encode_size(game);
            uint8_t *bytes = malloc(size);
            cr_assert_eq(cm_game_encode(game, bytes, size), size);
            cr_assert_eq(cm_game_decode(other, bytes, size), CAROM_OK);
            for (size_t cut = 1; cut < size; cut += 1 + size / 97) {
                cr_assert_neq(cm_game_decode(other, bytes, size - cut), CAROM_OK);
            }
            cr_assert_eq(cm_game_decode(other, bytes, size), CAROM_OK);
            free(bytes);
        }
        float x = (float)place((double)i - 10.0);
        tick(game, 11.5, x);
        if (i >= 3) {
            tick(other, 11.5, x);
            cr_assert_eq(cm_game_hash(game), cm_game_hash(other), "tick %u", i);
        }
    }
    // Another past, and so another hash, of an otherwise equal game.
    carom_world_set_tick(carom_game_world(game), 7);
    carom_world_set_tick(carom_game_world(other), 7);
    uint64_t before = cm_game_hash(other);
    size_t size = cm_game_save(game, image, bound);
    size_t world = carom_world_save_size(carom_game_world(game));
    image[size - world - 8] ^= 1; // the last pose of the ring
    cr_assert_eq(cm_game_restore(other, image, size), CAROM_OK);
    cr_assert_neq(cm_game_hash(other), before);
    cr_assert_eq(cm_game_restore(other, image, size - world - 40), CAROM_ERROR_CORRUPT);
    free(image);
    cm_game_destroy(game);
    cm_game_destroy(other);
}

Test(seen, what_cannot_be_asked_is_refused)
{
    carom_game *game = make(crossing);
    carom_ray ray = {{0.0f, 0.0f, 10.0f}, {0.0f, 0.0f, -40.0f}};
    carom_shape_def ball = carom_default_shape_def();
    carom_seen_query query = {.ray = &ray}, both = {.ray = &ray, .shape = &ball}, none = {0};
    carom_query_hit hits[2];
    uint32_t count;
    cr_assert_eq(carom_world_query_seen(game, 0, &query, NULL, hits, 2, &count), CAROM_ERROR_STATE);
    join(game);
    cr_assert_eq(carom_world_query_seen(game, 0, &query, NULL, hits, 2, &count), CAROM_OK);
    cr_assert_eq(count, 1);
    cr_assert_eq(carom_world_query_seen(game, 0, &both, NULL, hits, 2, &count),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_query_seen(game, 0, &none, NULL, hits, 2, &count),
                 CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_world_query_seen(game, 64, &query, NULL, hits, 2, &count),
                 CAROM_ERROR_STATE);
    cr_assert_eq(carom_world_query_seen(NULL, 0, &query, NULL, hits, 2, &count),
                 CAROM_ERROR_ARGUMENT);
    // Stands, and is cast.
    query = (carom_seen_query){.shape = &ball};
    ball.radius = 0.2f;
    ball.position.x = -5.0f;
    cr_assert_eq(carom_world_query_seen(game, 0, &query, NULL, hits, 2, &count), CAROM_OK);
    cr_assert_eq(count, 1);
    ball.position.x = -7.0f;
    query.translation.x = 5.0f;
    cr_assert_eq(carom_world_query_seen(game, 0, &query, NULL, hits, 2, &count), CAROM_OK);
    cr_assert(count == 1 && fabsf(hits[0].distance - 1.3f - 5.0f / 60) < 1e-3f, "%g",
              (double)hits[0].distance);
    cm_game_destroy(game);
    // Without a history nothing is kept, and inputs are the module's alone.
    game = make("{\"carom\": 1, \"bodies\": []}");
    join(game);
    cr_assert_eq(cm_game_input_size(game), 4);
    cr_assert_eq(carom_world_query_seen(game, 0, &query, NULL, hits, 2, &count), CAROM_ERROR_STATE);
    cm_game_destroy(game);
    const char *large = "{\"carom\": 1, \"limits\": {\"history\": 1025}}";
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_neq(cm_scene_from_json(large, strlen(large), &scene, &error), CAROM_OK);
    cr_assert_str_eq(error.path, "$.limits.history");
}

// What a game does not remember nobody may count on: one body more is refused, until one goes.
Test(seen, no_more_bodies_than_are_remembered)
{
    carom_world_def def = carom_default_world_def();
    def.limits.bodies = def.limits.shapes = 2 * CAROM_HISTORY_BODIES_MAX;
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    carom_world *world;
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_OK);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id last;
    shape.radius = 0.5f;
    body.history = true;
    for (uint32_t i = 0; i < CAROM_HISTORY_BODIES_MAX; i++) {
        cr_assert_eq(carom_body_create(world, &body, &shape, 1, &last), CAROM_OK);
    }
    uint64_t hash = carom_world_hash(world);
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, NULL), CAROM_ERROR_LIMIT_BODIES);
    cr_assert_str_eq(carom_last_error(world).field, "history");
    cr_assert_eq(carom_world_hash(world), hash);
    body.history = false;
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, NULL), CAROM_OK);
    body.history = true;
    cr_assert_eq(carom_body_destroy(world, last), CAROM_OK);
    cr_assert_eq(carom_body_create(world, &body, &shape, 1, NULL), CAROM_OK);
    free(memory);
}
