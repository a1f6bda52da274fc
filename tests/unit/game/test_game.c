// Games: events, held inputs, save and restore, encode and decode, the sandbox.
//
// Method: a small scene is built from its packed form, played with inputs from a seeded generator,
// and every property is stated as equality of hashes between two ways of getting to the same tick.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"small\", \"module\": \"sandbox\","
    " \"limits\": {\"bodies\": 128, \"shapes\": 128, \"contacts\": 1024},"
    " \"bodies\": [{\"name\": \"ground\", \"type\": \"static\","
    "   \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}],"
    " \"arrays\": [{\"name\": \"cube\", \"origin\": [-3, 0.2, -3], \"count\": [7, 1, 7],"
    "   \"spacing\": [1, 1, 1], \"of\": {\"shapes\": [{\"box\": {\"half_extents\": [0.2, 0.2, "
    "0.2]},"
    "   \"density\": 200}]}}]}";

static carom_game *make_game(void)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK,
                 "%s %s", error.path, error.message);
    carom_game *game;
    cr_assert_eq(cm_game_create(scene, cm_module_find("sandbox"), 7, NULL, &game), CAROM_OK);
    cm_scene_free(scene);
    return game;
}

static void put_f32(uint8_t *bytes, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
}

static carom_player_input make_input(uint32_t player, float x, float z, uint8_t buttons)
{
    carom_player_input input = {.player = player};
    put_f32(input.bytes, x);
    put_f32(input.bytes + 4, z);
    input.bytes[8] = buttons;
    return input;
}

static void join(carom_game *game, uint32_t player)
{
    cm_game_event event = {.type = CM_EVENT_JOIN, .player = player, .client_id = player + 1};
    cm_tick_input input = {.events = &event, .event_count = 1};
    cm_game_tick(game, &input);
}

// Inputs of three players, a function of the tick alone.
static void play(carom_game *game, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        uint64_t tick = carom_game_tick(game);
        carom_player_input inputs[3];
        uint32_t count = 0;
        for (uint32_t player = 0; player < 3; player++) {
            cm_rng rng;
            cm_rng_seed(&rng, tick * 3 + player);
            uint64_t r = cm_rng_next(&rng);
            if (r % 4 == 0) {
                float x = (float)(r >> 8 & 0xff) / 127.5f - 1.0f;
                float z = (float)(r >> 16 & 0xff) / 127.5f - 1.0f;
                inputs[count++] = make_input(player, x, z, (uint8_t)(r >> 24 & 3));
            }
        }
        cm_tick_input input = {.inputs = inputs, .input_count = count};
        cm_game_tick(game, &input);
    }
}

static carom_game *make_played(uint32_t ticks)
{
    carom_game *game = make_game();
    for (uint32_t player = 0; player < 3; player++) {
        join(game, player);
    }
    play(game, ticks);
    return game;
}

Test(game, players_drive_their_cubes)
{
    carom_game *game = make_game();
    join(game, 0);
    carom_body_id id = cm_game_player_body(game, 0);
    carom_body_state before, after;
    cr_assert_eq(carom_body_get(carom_game_world(game), id, &before), CAROM_OK);
    carom_player_input input = make_input(0, 1.0f, 0.0f, 0);
    cm_tick_input once = {.inputs = &input, .input_count = 1};
    cm_game_tick(game, &once);
    cm_tick_input nothing = {0};
    for (int i = 0; i < 60; i++) {
        cm_game_tick(game, &nothing); // held until changed
    }
    cr_assert_eq(carom_body_get(carom_game_world(game), id, &after), CAROM_OK);
    cr_assert_gt(after.position.x, before.position.x + 1.0f);
    cm_game_destroy(game);
}

Test(game, hold_draws_cubes_near)
{
    carom_game *held = make_game(), *free_game = make_game();
    join(held, 0);
    join(free_game, 0);
    carom_player_input input = make_input(0, -1.0f, 0.0f, 1);
    cm_tick_input hold = {.inputs = &input, .input_count = 1};
    carom_player_input other = make_input(0, -1.0f, 0.0f, 0);
    cm_tick_input no_hold = {.inputs = &other, .input_count = 1};
    for (int i = 0; i < 90; i++) {
        cm_game_tick(held, &hold);
        cm_game_tick(free_game, &no_hold);
    }
    cr_assert_neq(cm_game_hash(held), cm_game_hash(free_game));
    cm_game_destroy(held);
    cm_game_destroy(free_game);
}

Test(game, save_and_restore_at_every_tick_changes_nothing)
{
    carom_game *plain = make_played(0), *saved = make_played(0), *other = make_game();
    size_t bound = cm_game_save_bound(saved);
    void *image = malloc(bound);
    for (uint32_t tick = 0; tick < 200; tick++) {
        size_t size = cm_game_save(saved, image, bound);
        cr_assert_gt(size, 0);
        play(saved, 3);
        cr_assert_eq(cm_game_restore(saved, image, size), CAROM_OK);
        cr_assert_eq(cm_game_restore(other, image, size), CAROM_OK);
        play(saved, 1);
        play(other, 1);
        play(plain, 1);
        cr_assert_eq(cm_game_hash(saved), cm_game_hash(plain), "tick %u", tick);
        cr_assert_eq(cm_game_hash(other), cm_game_hash(plain), "tick %u", tick);
    }
    free(image);
    cm_game_destroy(plain);
    cm_game_destroy(saved);
    cm_game_destroy(other);
}

Test(game, encode_and_decode_keep_the_future)
{
    carom_game *game = make_played(77), *copy = make_game();
    size_t size = cm_game_encode_size(game);
    uint8_t *bytes = malloc(size);
    cr_assert_eq(cm_game_encode(game, bytes, size), size);
    cr_assert_eq(cm_game_decode(copy, bytes, size), CAROM_OK);
    cr_assert_eq(cm_game_hash(copy), cm_game_hash(game));
    play(game, 60);
    play(copy, 60);
    cr_assert_eq(cm_game_hash(copy), cm_game_hash(game));
    free(bytes);
    cm_game_destroy(game);
    cm_game_destroy(copy);
}

Test(game, hostile_encodings_are_refused)
{
    carom_game *game = make_played(20), *copy = make_game();
    size_t size = cm_game_encode_size(game);
    uint8_t *bytes = malloc(size), *bad = malloc(size);
    cm_game_encode(game, bytes, size);
    cm_rng rng;
    cm_rng_seed(&rng, 99);
    for (int i = 0; i < 400; i++) {
        memcpy(bad, bytes, size);
        size_t cut = cm_rng_next(&rng) % (size + 1);
        for (int flips = 0; flips < 3; flips++) {
            bad[cm_rng_next(&rng) % size] ^= (uint8_t)(1u << (cm_rng_next(&rng) % 8));
        }
        if (cm_game_decode(copy, bad, i % 2 == 0 ? cut : size) == CAROM_OK) {
            play(copy, 1); // whatever was accepted must be safe to step
        }
    }
    free(bytes);
    free(bad);
    cm_game_destroy(game);
    cm_game_destroy(copy);
}

Test(game, each_part_of_the_state_is_hashed)
{
    carom_game *game = make_played(10);
    uint64_t before = cm_game_hash(game);
    uint32_t *words = carom_game_state(game);
    words[100] ^= 1;
    cr_assert_neq(cm_game_hash(game), before);
    words[100] ^= 1;
    cr_assert_eq(cm_game_hash(game), before);
    cm_game_set_public(game, (const uint8_t *)words, 0, 3);
    cr_assert_neq(cm_game_hash(game), before);
    cm_game_destroy(game);
}

Test(game, who_comes_holds_nothing_of_who_left)
{
    static const uint8_t zeros[CAROM_INPUT_MAX];
    carom_game *game = make_game();
    join(game, 1);
    carom_player_input held = make_input(1, 1, -1, 3);
    cm_game_event events[] = {{.type = CM_EVENT_LEAVE, .player = 1},
                              {.type = CM_EVENT_JOIN, .player = 1, .client_id = 9}};
    for (uint32_t together = 0; together < 2; together++) {
        cm_tick_input input = {.inputs = &held, .input_count = 1};
        cm_game_tick(game, &input);
        cr_assert_neq(memcmp(cm_game_held_input(game, 1), zeros, sizeof zeros), 0);
        cm_tick_input go = {.events = events, .event_count = together != 0 ? 2 : 1};
        cm_game_tick(game, &go);
        if (together == 0) {
            join(game, 1);
        }
        cr_assert(cm_game_player_present(game, 1));
        cr_assert_eq(memcmp(cm_game_held_input(game, 1), zeros, sizeof zeros), 0);
    }
    cm_game_destroy(game);
}

Test(game, leaving_takes_the_cube_away)
{
    carom_game *game = make_played(5);
    carom_body_id id = cm_game_player_body(game, 1);
    cr_assert(carom_body_is_valid(carom_game_world(game), id));
    cm_game_event event = {.type = CM_EVENT_LEAVE, .player = 1};
    cm_tick_input input = {.events = &event, .event_count = 1};
    cm_game_tick(game, &input);
    cr_assert_not(carom_body_is_valid(carom_game_world(game), id));
    cr_assert_not(cm_game_player_present(game, 1));
    cm_game_destroy(game);
}

Test(game, sandbox_refuses_bad_inputs)
{
    carom_player_input input = make_input(0, 1.0f, -1.0f, 3);
    cr_assert(carom_module_sandbox.check_input(input.bytes));
    const float bad[] = {1.5f, -2.0f, 1.0f / 0.0f, 0.0f / 0.0f};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        input = make_input(0, bad[i], 0.0f, 0);
        cr_assert_not(carom_module_sandbox.check_input(input.bytes));
        input = make_input(0, 0.0f, bad[i], 0);
        cr_assert_not(carom_module_sandbox.check_input(input.bytes));
    }
    input = make_input(0, 0.0f, 0.0f, 4);
    cr_assert_not(carom_module_sandbox.check_input(input.bytes));
}

// A module that asks what it should not depend on: how many contacts began or ended, and whether
// there are bytes to point at.
static bool nosy_join(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    (void)player;
    uint32_t *state = carom_game_state(game);
    state[0] += bytes != NULL ? 1u + size : 0u;
    return true;
}

static void nosy_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    (void)count;
    uint32_t *state = carom_game_state(game), events;
    (void)carom_world_contact_events(carom_game_world(game), &events);
    state[1] = state[1] * 31u + events;
}

static const carom_module nosy = {.abi = CAROM_MODULE_ABI,
                                  .version = 1,
                                  .name = "nosy",
                                  .state_size = 8,
                                  .join = nosy_join,
                                  .tick = nosy_tick};

// One plays on, the other is restored before every tick and has its events out of a record.
Test(game, a_nosy_module_replays)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK);
    carom_game *live, *replayed;
    cr_assert_eq(cm_game_create(scene, &nosy, 1, NULL, &live), CAROM_OK);
    cr_assert_eq(cm_game_create(scene, &nosy, 1, NULL, &replayed), CAROM_OK);
    size_t bound = cm_game_save_bound(replayed);
    void *image = malloc(bound);
    uint8_t some = 5;
    uint32_t began = 0;
    for (int tick = 0; tick < 60; tick++) {
        cm_game_event at_once = {.type = CM_EVENT_JOIN, .player = (uint32_t)tick, .bytes = &some};
        cm_game_event recorded = {.type = CM_EVENT_JOIN, .player = (uint32_t)tick};
        cm_tick_input input = {.events = &at_once, .event_count = 1};
        cm_game_tick(live, &input);
        size_t size = cm_game_save(replayed, image, bound);
        cr_assert_eq(cm_game_restore(replayed, image, size), CAROM_OK);
        input.events = &recorded;
        cm_game_tick(replayed, &input);
        cr_assert_eq(cm_game_hash(live), cm_game_hash(replayed), "tick %d", tick);
        uint32_t events;
        (void)carom_world_contact_events(carom_game_world(live), &events);
        began += events;
    }
    cr_assert_gt(began, 0);
    free(image);
    cm_game_destroy(live);
    cm_game_destroy(replayed);
    cm_scene_free(scene);
}

Test(game, a_foreign_module_is_refused)
{
    carom_module wrong = carom_module_sandbox;
    wrong.state_size = 6; // not a whole number of words
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK);
    carom_game *game;
    cr_assert_eq(cm_game_create(scene, &wrong, 1, NULL, &game), CAROM_ERROR_ARGUMENT);
    cm_scene_free(scene);
}

Test(game, an_unsound_module_names_its_field)
{
    carom_error error;
    cr_assert(carom_module_is_valid(&carom_module_sandbox, &error));
    cr_assert(carom_module_is_valid(&carom_module_sandbox, NULL));
    carom_module wrong = carom_module_sandbox;
    wrong.abi++;
    cr_assert_not(carom_module_is_valid(&wrong, &error));
    cr_assert_str_eq(error.field, "abi");
    wrong = carom_module_sandbox;
    wrong.input_size = CAROM_INPUT_MAX + 1;
    cr_assert_not(carom_module_is_valid(&wrong, &error));
    cr_assert_str_eq(error.field, "input_size");
    wrong = carom_module_sandbox;
    wrong.name = "No Name";
    cr_assert_not(carom_module_is_valid(&wrong, NULL));
}

static void dice_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    (void)count;
    uint64_t *state = carom_game_state(game);
    *state = carom_game_random(game);
}

// Chance is of the world: the same seed throws the same, a rewind throws again what it threw.
Test(game, chance_is_rewound_with_the_world)
{
    static const carom_module dice = {
        .abi = CAROM_MODULE_ABI, .version = 1, .name = "dice", .state_size = 8, .tick = dice_tick};
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK);
    carom_game *game, *other;
    cr_assert_eq(cm_game_create(scene, &dice, 1, NULL, &game), CAROM_OK);
    cr_assert_eq(cm_game_create(scene, &dice, 2, NULL, &other), CAROM_OK);
    size_t bound = cm_game_save_bound(game), size = 0;
    void *image = malloc(bound);
    const uint64_t *thrown = carom_game_state(game);
    uint64_t first = 0, last = 0;
    cm_tick_input input = {0};
    for (int tick = 0; tick < 8; tick++) {
        size = tick == 4 ? cm_game_save(game, image, bound) : size;
        cm_game_tick(game, &input);
        cm_game_tick(other, &input);
        cr_assert_neq(*thrown, last);
        cr_assert_neq(*thrown, *(const uint64_t *)carom_game_state(other));
        last = *thrown;
        first = tick == 4 ? last : first;
    }
    cr_assert_eq(cm_game_restore(game, image, size), CAROM_OK);
    cm_game_tick(game, &input);
    cr_assert_eq(*(const uint64_t *)carom_game_state(game), first);
    free(image);
    cm_game_destroy(game);
    cm_game_destroy(other);
    cm_scene_free(scene);
}
