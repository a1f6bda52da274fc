// Goal: what a module emits is of its tick, has one id, has limits, and is no state. Method: a
// module that emits from every callback.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

static carom_result results[4];
static uint32_t wanted; // events in a tick

static void emit_start(carom_game *game)
{
    const carom_event event = {.kind = 1};
    results[0] = carom_game_emit(game, &event);
}

static void emit_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    const carom_event event = {.kind = 2, .subjects = {player}, .size = size};
    (void)bytes;
    results[1] = carom_game_emit(game, &event);
}

static void emit_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)inputs;
    (void)count;
    for (uint32_t i = 0; i < wanted; i++) {
        // What lies beyond its size is nobody's.
        const carom_event event = {.tick = 99, .kind = 3, .key = i, .size = 1, .bytes = "abc"};
        results[2] = carom_game_emit(game, &event);
    }
    results[3] = carom_game_emit(game, NULL);
}

static void emit_contact(carom_game *game, const carom_contact_event *contact)
{
    const carom_event event = {.kind = 4, .subjects = {carom_event_body(contact->body_a)}};
    (void)carom_game_emit(game, &event);
}

static const carom_module emitter = {.abi = CAROM_MODULE_ABI,
                                     .version = 1,
                                     .name = "emitter",
                                     .start = emit_start,
                                     .message = emit_message,
                                     .tick = emit_tick,
                                     .contact = emit_contact};

static const char scene_text[] = "{\"carom\": 1, \"name\": \"emit\", \"bodies\": [{\"type\": "
                                 "\"static\", \"shapes\": [{\"plane\":"
                                 " {\"normal\": [0, 1, 0], \"offset\": 0}}]}, {\"position\": [0, "
                                 "0.5, 0], \"shapes\": [{\"sphere\":"
                                 " {\"radius\": 0.5}}]}]}";

Test(emit, of_its_tick_within_its_limits_and_no_state)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK, "%s",
                 error.message);
    carom_game *game;
    uint32_t count;
    wanted = 2;
    cr_assert_eq(cm_game_create(scene, &emitter, 1, NULL, &game), CAROM_OK);
    cr_expect_eq(results[0], CAROM_OK);
    (void)cm_game_events(game, &count);
    cr_expect_eq(count, 0, "nobody is there at the start");
    size_t bound = (cm_game_save_bound(game) + 63) / 64 * 64;
    uint8_t *image = aligned_alloc(64, bound);
    size_t size = cm_game_save(game, image, bound);
    const cm_game_event happens[] = {{.type = CM_EVENT_JOIN, .player = 5},
                                     {.type = CM_EVENT_MESSAGE, .player = 5}};
    const cm_tick_input input = {.events = happens, .event_count = 2};
    cm_game_tick(game, &input);
    uint64_t hash = cm_game_hash(game);
    const carom_event *events = cm_game_events(game, &count);
    cr_assert_eq(count, 4, "message, tick twice, contact");
    static const uint32_t kinds[] = {2, 3, 3, 4};
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(events[i].kind, kinds[i]);
        cr_expect_eq(events[i].tick, 1, "before the step and after it");
    }
    cr_expect_eq(events[0].subjects[0], 5);
    cr_expect_eq(events[1].bytes[0], 'a');
    cr_expect_eq(events[1].bytes[1], 0);
    cr_expect_eq(results[3], CAROM_ERROR_ARGUMENT);
    // Above the limit the rest is counted; the state is the same.
    wanted = CAROM_EVENTS_MAX + 3;
    cr_assert_eq(cm_game_restore(game, image, size), CAROM_OK);
    (void)cm_game_events(game, &count);
    cr_expect_eq(count, 0);
    cm_game_tick(game, &input);
    (void)cm_game_events(game, &count);
    cr_expect_eq(count, CAROM_EVENTS_MAX);
    cr_expect_eq(results[2], CAROM_ERROR_FULL);
    cr_expect_eq(cm_game_events_dropped(game), 5, "4 of the tick's, and the contact");
    cr_expect_eq(cm_game_hash(game), hash);
    const cm_game_event loud = {.type = CM_EVENT_MESSAGE, .player = 5, .size = 33, .bytes = image};
    const cm_tick_input said = {.events = &loud, .event_count = 1};
    cm_game_tick(game, &said);
    cr_expect_eq(results[1], CAROM_ERROR_ARGUMENT);
    free(image);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

static uint32_t told;
static float told_speed;

static void hear_hit(carom_game *game, const carom_hit_event *event)
{
    const carom_event happened = {.kind = 5, .subjects = {carom_event_body(event->body_b)}};
    told++;
    told_speed = event->speed;
    cr_assert_eq(carom_game_emit(game, &happened), CAROM_OK);
    (void)carom_body_destroy(carom_game_world(game), event->body_b); // ends the life of the events
}

// The scene says how fast; two balls, one of them too slow to be told of.
Test(emit, a_module_is_told_of_hits)
{
    static const carom_module hearer = {
        .abi = CAROM_MODULE_ABI, .version = 1, .name = "hearer", .hit = hear_hit};
    static const char text[] =
        "{\"carom\": 1, \"name\": \"hits\", \"hit_speed\": 3, \"bodies\": [{\"type\": \"static\","
        " \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}, {\"position\": [0, "
        "1.5,"
        " 0], \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}, {\"position\": [3, 0.6, 0], "
        "\"shapes\":"
        " [{\"sphere\": {\"radius\": 0.5}}]}]}";
    cm_scene *scene;
    cm_scene_error error;
    carom_game *game;
    const cm_tick_input nothing = {0};
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s %s",
                 error.path, error.message);
    cr_assert_eq(cm_game_create(scene, &hearer, 1, NULL, &game), CAROM_OK);
    told = 0;
    for (int i = 0; i < 60; i++) {
        cm_game_tick(game, &nothing);
    }
    cr_expect_eq(told, 1);
    cr_expect_float_eq((double)told_speed, 4.43, 0.2); // sqrt(2 g), of a fall of 1 m
    cr_expect(!carom_body_is_valid(carom_game_world(game), (carom_body_id){1, 1}));
    cr_expect(carom_body_is_valid(carom_game_world(game), (carom_body_id){2, 1}));
    cm_game_destroy(game);
    cm_scene_free(scene);
}
