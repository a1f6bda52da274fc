// Goal: whoever looks at the mark of a game knows which of its module's callbacks runs, and that
// none does. Method: a module that notes the mark from within every one.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

#define TAG 0x500u

static volatile uint32_t now;
static uint64_t seen; // a bit for each callback that saw its mark

static void note(cm_game_callback callback)
{
    cr_expect_eq(now, TAG | (uint32_t)callback, "in %s it is %x", cm_game_callback_name(callback),
                 (unsigned)now);
    seen |= UINT64_C(1) << callback;
}

static bool note_may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    (void)game;
    (void)user_data;
    (void)size;
    note(CM_CALLBACK_MAY_JOIN);
    return true;
}

static bool note_join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    (void)game;
    (void)player;
    (void)user_data;
    (void)size;
    note(CM_CALLBACK_JOIN);
    return true;
}

static void note_leave(carom_game *game, uint32_t player)
{
    (void)game;
    (void)player;
    note(CM_CALLBACK_LEAVE);
}

static void note_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)game;
    (void)inputs;
    (void)count;
    note(CM_CALLBACK_TICK);
}

static void note_contact(carom_game *game, const carom_contact_event *event)
{
    (void)game;
    (void)event;
    note(CM_CALLBACK_CONTACT);
}

static void note_hit(carom_game *game, const carom_hit_event *event)
{
    (void)game;
    (void)event;
    note(CM_CALLBACK_HIT);
}

static void note_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    (void)game;
    (void)player;
    (void)bytes;
    (void)size;
    note(CM_CALLBACK_MESSAGE);
}

static void note_end(carom_game *game)
{
    (void)game;
    note(CM_CALLBACK_END);
}

static bool note_check_input(const uint8_t *bytes)
{
    (void)bytes;
    note(CM_CALLBACK_CHECK_INPUT);
    return true;
}

static carom_body_id note_player_body(const carom_game *game, uint32_t player)
{
    (void)game;
    (void)player;
    note(CM_CALLBACK_PLAYER_BODY);
    return (carom_body_id){0};
}

static void note_start_step(const carom_game *game, const carom_world *world)
{
    (void)game;
    (void)world;
    note(CM_CALLBACK_START_STEP);
}

static uint32_t note_rows(const carom_game *game, const carom_world *world, carom_row *rows,
                          uint32_t capacity)
{
    (void)game;
    (void)world;
    (void)rows;
    (void)capacity;
    note(CM_CALLBACK_ROWS);
    return 0;
}

static uint32_t note_forces(const carom_game *game, const carom_world *world, carom_force *forces,
                            uint32_t capacity)
{
    (void)game;
    (void)world;
    (void)forces;
    (void)capacity;
    note(CM_CALLBACK_FORCES);
    return 0;
}

static const carom_module noter = {.abi = CAROM_MODULE_ABI,
                                   .version = 1,
                                   .name = "noter",
                                   .input_size = 4,
                                   .may_join = note_may_join,
                                   .join = note_join,
                                   .leave = note_leave,
                                   .tick = note_tick,
                                   .contact = note_contact,
                                   .hit = note_hit,
                                   .message = note_message,
                                   .end = note_end,
                                   .check_input = note_check_input,
                                   .player_body = note_player_body,
                                   .start_step = note_start_step,
                                   .rows = note_rows,
                                   .forces = note_forces};

// A ball that falls a metre onto a plane.
static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"watch\", \"solver\": {\"type\": \"SOLVER\"}, \"hit_speed\": 3, "
    "\"bodies\":"
    " [{\"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]},"
    " {\"position\": [0, 1.5, 0], \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}]}";

static void play(const char *solver, const carom_module *module)
{
    char text[512];
    const char *at = strstr(scene_text, "SOLVER");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - scene_text), scene_text, solver, at + 6);
    cm_scene *scene;
    cm_scene_error error;
    carom_game *game;
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s %s",
                 error.path, error.message);
    cr_assert_eq(cm_game_create(scene, module, 1, NULL, &game), CAROM_OK);
    cm_game_watch(game, &now, TAG);
    const cm_game_event comes[] = {{.type = CM_EVENT_JOIN, .player = 5},
                                   {.type = CM_EVENT_MESSAGE, .player = 5}};
    const cm_game_event goes[] = {{.type = CM_EVENT_LEAVE, .player = 5}, {.type = CM_EVENT_END}};
    const cm_tick_input first = {.events = comes, .event_count = 2};
    const cm_tick_input last = {.events = goes, .event_count = 2};
    const cm_tick_input nothing = {0};
    const uint8_t bytes[CAROM_INPUT_MAX] = {0};
    cm_pointer_reason reason;
    cr_expect(cm_game_may_join(game, NULL, 0));
    (void)cm_game_check_input(game, bytes, &reason);
    cm_game_tick(game, &first);
    (void)cm_game_player_body(game, 5);
    for (int i = 0; i < 60; i++) {
        cm_game_tick(game, i < 59 ? &nothing : &last);
        cr_expect_eq(now, 0, "outside of it");
    }
    cm_game_destroy(game);
    cm_scene_free(scene);
}

Test(watch, every_callback_is_marked_while_it_runs)
{
    // Hits are of the soft solver, rows and forces of the lcp solver.
    carom_module module = noter;
    module.forces = NULL;
    play("soft", &module);
    play("lcp", &noter);
    for (uint32_t i = CM_CALLBACK_NONE + 1; i < CM_CALLBACK_START; i++) {
        cr_expect(seen >> i & 1, "%s", cm_game_callback_name((cm_game_callback)i));
    }
}
