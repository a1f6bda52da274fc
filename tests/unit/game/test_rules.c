// What a module is given beside the world: settings, timers, numbers by key, what the scene calls
// things, who may come in. Method: a module that writes what it was told into its state; runs that
// are rewound, made with another seed, or disturbed on purpose are held against one that is not.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

typedef struct rules_state {
    uint32_t goals, half_minutes;
    uint32_t dice, fired, last, repeats;
    carom_timer timer;
    uint32_t named, tagged, spawned_tagged, material;
} rules_state;

static const char *rules_configure(carom_game *game, const carom_setting *settings, uint32_t count)
{
    rules_state *state = carom_game_state(game);
    state->goals = 3;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(settings[i].name, "goals") == 0) {
            if (!(settings[i].value >= 1.0 && settings[i].value <= 100.0)) {
                return "goals: expected 1 to 100";
            }
            state->goals = (uint32_t)settings[i].value;
        } else if (strcmp(settings[i].name, "minutes") == 0) {
            state->half_minutes = (uint32_t)(2.0 * settings[i].value);
        } else {
            return "unknown setting, expected goals or minutes";
        }
    }
    return NULL;
}

static void rules_start(carom_game *game)
{
    rules_state *state = carom_game_state(game);
    carom_body_id crate = carom_game_find_body(game, "crate_1");
    carom_body_id null = carom_game_find_body(game, "nobody");
    cr_assert_str_eq(carom_game_body_name(game, crate), "crate_1");
    cr_assert_str_eq(carom_game_body_name(game, null), "");
    state->named = carom_body_id_is_null(null) ? crate.index : 0;
    state->tagged = carom_game_body_has_tag(game, crate, "heavy") &&
                    !carom_game_body_has_tag(game, crate, "light");
    state->material = carom_game_find_material(game, "ice");
    // One of its own in the place of a crate that goes is not the crate.
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id own;
    shape.radius = 0.5f;
    carom_body_id gone = carom_game_find_body(game, "crate_0");
    cr_assert_eq(carom_body_destroy(carom_game_world(game), gone), CAROM_OK);
    cr_assert_eq(carom_body_create(carom_game_world(game), &body, &shape, 1, &own), CAROM_OK);
    cr_assert_eq(own.index, gone.index);
    state->spawned_tagged = carom_game_body_has_tag(game, own, "heavy") ||
                            !carom_body_id_is_null(carom_game_find_body(game, "crate_0"));
    carom_timer_set(&state->timer, game, 10);
}

static uint32_t extra_calls; // of a client that predicts more than it should

static void rules_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    rules_state *state = carom_game_state(game);
    (void)inputs;
    (void)count;
    for (uint32_t i = 0; i < extra_calls; i++) {
        (void)carom_game_random_at(game, 99 + i);
    }
    state->dice = state->dice * 31 + (uint32_t)(carom_game_random_at(game, 1) % 6);
    state->repeats += state->last == (uint32_t)carom_game_random_at(game, 1);
    state->last = (uint32_t)carom_game_random_at(game, 1);
    cr_assert_eq(carom_game_random_at(game, 7), carom_game_random_at(game, 7));
    cr_assert_neq(carom_game_random_at(game, 7), carom_game_random_at(game, 8));
    uint32_t due = state->fired == 0 ? 10 : 15, now = (uint32_t)carom_game_tick(game);
    bool waits = carom_timer_runs(&state->timer) && now < due;
    cr_assert_eq(carom_timer_left(&state->timer, game), waits ? due - now : 0);
    if (carom_timer_fires(&state->timer, game)) {
        state->fired = state->fired * 1000 + (uint32_t)carom_game_tick(game);
        if (state->fired < 1000) {
            carom_timer_set(&state->timer, game, 5);
        }
    }
}

static bool rules_may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    const rules_state *state = carom_game_state(game);
    return size > 0 && user_data[0] == state->goals;
}

static const carom_module rules = {.abi = CAROM_MODULE_ABI,
                                   .version = 1,
                                   .name = "rules",
                                   .state_size = sizeof(rules_state),
                                   .configure = rules_configure,
                                   .may_join = rules_may_join,
                                   .start = rules_start,
                                   .tick = rules_tick};

static cm_scene *scene_of(const char *config)
{
    char text[1024];
    cm_scene *scene;
    cm_scene_error error;
    snprintf(text, sizeof text,
             "{\"carom\": 1, \"name\": \"rules\", \"module\": \"rules\"%s%s,"
             " \"materials\": {\"wood\": {}, \"ice\": {\"friction\": 0}},"
             " \"arrays\": [{\"name\": \"crate\", \"count\": [2, 1, 1], \"spacing\": [2, 0, 0],"
             "  \"of\": {\"tags\": [\"big\", \"heavy\"], \"shapes\": [{\"box\": {\"half_extents\":"
             "  [0.5, 0.5, 0.5]}, \"material\": \"ice\"}]}}]}",
             config[0] != '\0' ? ", \"module_config\": " : "", config);
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s: %s",
                 error.path, error.message);
    return scene;
}

static carom_game *game_of(const cm_scene *scene, uint64_t seed)
{
    carom_game *game;
    cr_assert_eq(cm_game_create(scene, &rules, seed, NULL, &game), CAROM_OK);
    return game;
}

Test(rules, settings_reach_the_module_and_survive_every_form)
{
    cm_scene *scene = scene_of("{\"goals\": 5, \"minutes\": 2.5}"), *again, *unpacked;
    cm_scene_error error;
    carom_game *game = game_of(scene, 1);
    const rules_state *state = carom_game_state(game);
    cr_expect_eq(state->goals, 5);
    cr_expect_eq(state->half_minutes, 5);
    // As JSON, and packed, which is how a match file and a client have it.
    char *json = cm_scene_to_json(scene);
    cr_assert_not_null(strstr(json, "\"module_config\": {"), "%s", json);
    cr_assert_eq(cm_scene_from_json(json, strlen(json), &again, &error), CAROM_OK, "%s",
                 error.message);
    size_t size = cm_scene_packed_size(again);
    uint8_t *packed = malloc(size);
    cm_scene_pack(again, packed);
    cr_assert_eq(cm_scene_unpack(packed, size, NULL, &unpacked, &error), CAROM_OK);
    carom_game *other = game_of(unpacked, 1);
    cr_expect_eq(cm_game_hash(other), cm_game_hash(game));
    cm_game_destroy(game);
    cm_game_destroy(other);
    free(json);
    free(packed);
    cm_scene_free(scene);
    cm_scene_free(again);
    cm_scene_free(unpacked);
}

Test(rules, settings_that_the_module_refuses_make_no_game)
{
    static const carom_module deaf = {.abi = CAROM_MODULE_ABI, .version = 1, .name = "rules"};
    static const char *const bad[][2] = {{"{\"goals\": 0}", "goals: expected 1 to 100"},
                                         {"{\"gaols\": 5}", "unknown setting"}};
    char text[200];
    carom_game *game;
    for (uint32_t i = 0; i < 2; i++) {
        cm_scene *scene = scene_of(bad[i][0]);
        cr_expect_eq(cm_game_create(scene, &rules, 1, NULL, &game), CAROM_ERROR_ARGUMENT);
        cr_expect_not(cm_game_takes_config(scene, &rules, text, sizeof text));
        cr_expect_not_null(strstr(text, bad[i][1]), "%s", text);
        cm_scene_free(scene);
    }
    cm_scene *scene = scene_of("{\"goals\": 1}");
    cr_expect_not(cm_game_takes_config(scene, &deaf, text, sizeof text));
    cr_expect_not_null(strstr(text, "takes no settings"), "%s", text);
    cr_expect(cm_game_takes_config(scene, &rules, text, sizeof text), "%s", text);
    cm_scene_free(scene);
}

Test(rules, what_the_scene_calls_things)
{
    cm_scene *scene = scene_of("");
    carom_game *game = game_of(scene, 1);
    const rules_state *state = carom_game_state(game);
    cr_expect_eq(state->goals, 3);
    cr_expect_eq(state->named, 1);
    cr_expect_eq(state->tagged, 1);
    cr_expect_eq(state->spawned_tagged, 0);
    cr_expect_eq(state->material, 2);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

static carom_body_id spawned;
static carom_result spawn_result, unknown_result, full_result;

static void spawner_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    const carom_quat identity = {0.0f, 0.0f, 0.0f, 1.0f};
    carom_vec3 place = {(float)carom_game_tick(game) * 3.0f, 5.0f, 0.0f};
    (void)inputs;
    (void)count;
    if (carom_game_tick(game) % 4 == 3) {
        (void)carom_body_destroy(carom_game_world(game), carom_game_find_body(game, "none"));
        (void)carom_body_destroy(carom_game_world(game), spawned);
    }
    unknown_result = carom_game_spawn(game, "duck", place, identity, NULL);
    spawn_result = carom_game_spawn(game, "barrel", place, identity, &spawned);
    for (uint32_t i = 0; carom_game_tick(game) == 20 && i < 100; i++) {
        place.y = 10.0f + 3.0f * (float)i;
        full_result = carom_game_spawn(game, "barrel", place, identity, NULL);
    }
}

static const char spawner_scene[] =
    "{\"carom\": 1, \"name\": \"spawner\", \"module\": \"spawner\","
    " \"limits\": {\"bodies\": 64, \"shapes\": 128},"
    " \"materials\": {\"steel\": {\"friction\": 0.3}}, \"bodies\": [{\"type\": \"static\", "
    "\"shapes\":"
    " [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}], \"prefabs\": [{\"name\": \"barrel\","
    " \"linear_velocity\": [1, 0, 0], \"user_data\": 7, \"shapes\": [{\"cylinder\": {\"radius\": "
    "0.4,"
    " \"half_height\": 0.6}, \"material\": \"steel\"}, {\"hull\": {\"points\": [[0, 1, 0], [1, 1, "
    "0],"
    " [0, 2, 0], [0, 1, 1]]}}]}]}";

// A prefab comes where it is put, with its own shapes, velocity and data, and is state like all.
Test(rules, prefabs_are_spawned_and_rewound)
{
    static const carom_module spawner = {
        .abi = CAROM_MODULE_ABI, .version = 1, .name = "spawner", .tick = spawner_tick};
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(spawner_scene, strlen(spawner_scene), &scene, &error), CAROM_OK,
                 "%s: %s", error.path, error.message);
    cr_expect_eq(cm_scene_body_count(scene), 1);
    carom_game *game, *other;
    cr_assert_eq(cm_game_create(scene, &spawner, 1, NULL, &game), CAROM_OK);
    cr_assert_eq(cm_game_create(scene, &spawner, 1, NULL, &other), CAROM_OK);
    const cm_tick_input nothing = {0};
    size_t bound = (cm_game_save_bound(game) + 63) / 64 * 64;
    uint8_t *image = aligned_alloc(64, bound);
    cm_game_tick(game, &nothing);
    cr_expect_eq(spawn_result, CAROM_OK);
    cr_expect_eq(unknown_result, CAROM_ERROR_NOT_FOUND);
    carom_body_state state;
    carom_shape_id shapes[4];
    carom_shape_def shape;
    carom_world *world = carom_game_world(game);
    cr_assert_eq(carom_body_get(world, spawned, &state), CAROM_OK);
    cr_expect_eq(state.user_data, 7);
    cr_expect_eq(state.linear_velocity.x, 1.0f);
    cr_expect(state.position.y < 5.0f && state.position.y > 4.9f);
    cr_assert_eq(carom_body_shapes(world, spawned, shapes, 4), 2);
    cr_assert_eq(carom_shape_get(world, shapes[0], &shape, NULL), CAROM_OK);
    cr_expect_eq(shape.friction, 0.3f);
    cr_expect_eq(shape.material, 1);
    cr_expect_str_eq(carom_game_body_name(game, spawned), "");
    cm_game_destroy(game);
    cr_assert_eq(cm_game_create(scene, &spawner, 1, NULL, &game), CAROM_OK);
    for (uint32_t tick = 0; tick < 30; tick++) {
        size_t size = cm_game_save(game, image, bound);
        carom_body_id before = spawned;
        cm_game_tick(game, &nothing);
        spawned = before; // the test's own, of one game
        cr_assert_eq(cm_game_restore(other, image, size), CAROM_OK);
        cm_game_tick(other, &nothing);
        cr_assert_eq(cm_game_hash(game), cm_game_hash(other), "tick %u", tick);
    }
    cr_expect_eq(full_result, CAROM_ERROR_LIMIT_BODIES);
    free(image);
    cm_game_destroy(game);
    cm_game_destroy(other);
    cm_scene_free(scene);
}

// Numbers by key are the same under rewinds and whoever asked for others; timers are state.
Test(rules, timers_and_numbers_by_key_are_rewound)
{
    cm_scene *scene = scene_of("");
    carom_game *straight = game_of(scene, 9), *rewound = game_of(scene, 9);
    carom_game *elsewhere = game_of(scene, 10);
    const cm_tick_input nothing = {0};
    size_t bound = (cm_game_save_bound(straight) + 63) / 64 * 64;
    uint8_t *image = aligned_alloc(64, bound);
    for (uint32_t tick = 0; tick < 40; tick++) {
        extra_calls = 0;
        cm_game_tick(straight, &nothing);
        cm_game_tick(elsewhere, &nothing);
        size_t size = cm_game_save(rewound, image, bound);
        extra_calls = tick;
        cm_game_tick(rewound, &nothing);
        cm_game_tick(rewound, &nothing);
        cr_assert_eq(cm_game_restore(rewound, image, size), CAROM_OK);
        cm_game_tick(rewound, &nothing);
        cr_assert_eq(cm_game_hash(rewound), cm_game_hash(straight), "tick %u", tick);
    }
    const rules_state *state = carom_game_state(straight), *other = carom_game_state(elsewhere);
    cr_expect_eq(state->fired, 10015, "%u", state->fired);
    cr_expect_eq(other->fired, 10015);
    cr_expect_neq(state->dice, other->dice);
    cr_expect_eq(state->repeats, 0); // another tick, another number
    cr_expect_not(carom_timer_runs(&state->timer));
    free(image);
    cm_game_destroy(straight);
    cm_game_destroy(rewound);
    cm_game_destroy(elsewhere);
    cm_scene_free(scene);
}

Test(rules, the_module_says_who_may_come_in)
{
    cm_scene *scene = scene_of("{\"goals\": 7}");
    carom_game *game = game_of(scene, 1);
    const uint8_t seven[] = {7}, eight[] = {8};
    uint64_t hash = cm_game_hash(game);
    cr_expect(cm_game_may_join(game, seven, 1));
    cr_expect_not(cm_game_may_join(game, eight, 1));
    cr_expect_not(cm_game_may_join(game, seven, 0));
    cr_expect_eq(cm_game_hash(game), hash);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

static void shout_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    static const uint8_t words[CAROM_MESSAGE_MAX + 1] = {1, 2, 3};
    uint32_t *left = carom_game_state(game);
    cr_expect_eq(carom_game_send_all(game, words, sizeof words), CAROM_ERROR_ARGUMENT);
    cr_expect_eq(carom_game_send_all(game, words, 3), CAROM_OK);
    *left = CM_GAME_MESSAGES_MAX / count; // calls that there is room for, and one more
    for (uint32_t i = 1; i < *left; i++) {
        cr_expect_eq(carom_game_send_all(game, words, 3), CAROM_OK);
    }
    cr_expect_eq(carom_game_send_all(game, words, 3), CAROM_ERROR_FULL);
    (void)inputs;
}

Test(rules, a_message_to_all_reaches_who_is_there)
{
    static const carom_module shout = {.abi = CAROM_MODULE_ABI,
                                       .version = 1,
                                       .name = "shout",
                                       .state_size = 4,
                                       .tick = shout_tick};
    static const uint32_t slots[3] = {0, 5, CAROM_PLAYERS_MAX - 1};
    cm_scene *scene = scene_of("{}");
    carom_game *game;
    cr_assert_eq(cm_game_create(scene, &shout, 1, NULL, &game), CAROM_OK);
    cm_game_event joins[3];
    for (uint32_t i = 0; i < 3; i++) {
        joins[i] = (cm_game_event){.type = CM_EVENT_JOIN, .player = slots[i]};
    }
    const cm_tick_input input = {.events = joins, .event_count = 3};
    cm_game_tick(game, &input);
    uint32_t count;
    const cm_game_message *messages = cm_game_messages(game, &count);
    cr_assert_eq(count, CM_GAME_MESSAGES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        cr_expect_eq(messages[i].player, slots[i % 3], "message %u", i);
        cr_expect(messages[i].size == 3 && messages[i].bytes[2] == 3);
    }
    cr_expect_eq(cm_game_messages_dropped(game), 2, "of the call too many");
    cm_game_destroy(game);
    cm_scene_free(scene);
}

Test(rules, the_other_body_of_a_contact)
{
    const carom_body_id ball = {1, 1}, wall = {2, 1}, gone = {1, 2}, none = {0, 0};
    const carom_contact_event event = {.body_a = ball, .body_b = wall};
    carom_body_id other;
    cr_expect(carom_contact_other(&event, ball, &other) && carom_body_id_equal(other, wall));
    cr_expect(carom_contact_other(&event, wall, &other) && carom_body_id_equal(other, ball));
    cr_expect_not(carom_contact_other(&event, gone, &other));
    cr_expect_not(carom_contact_other(&event, none, &other));
}
