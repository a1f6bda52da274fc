// Making a game of a scene and a module, and what its host asks of it. game_tick.c ticks it,
// game_calls.c is what its module may call.
//
// Typical: 4 to 16 players of 64, a module state of 1 KiB, a world of 400 bodies.
#include "shared/base/memory.h"
#include "shared/game/game_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/fpenv.h"

#define WORLD_ALIGNMENT 64u

// Game, module state, messages and world are one block, so that there is one thing to fail.
static size_t align_up(size_t size)
{
    return (size + WORLD_ALIGNMENT - 1u) & ~(size_t)(WORLD_ALIGNMENT - 1u);
}

static carom_game *game_allocate(const carom_module *module, const carom_world_def *def,
                                 const carom_allocator *allocator, size_t world_size,
                                 uint32_t history)
{
    size_t messages_size = CM_GAME_MESSAGES_MAX * sizeof(cm_game_message);
    size_t head = align_up(sizeof(carom_game) + sizeof(void *));
    size_t past_size = align_up(cm_past_size(history));
    size_t total = WORLD_ALIGNMENT + head + align_up(module->state_size) + align_up(messages_size) +
                   past_size + world_size;
    char *block = allocator->allocate(allocator->context, total);
    if (block == NULL) {
        return NULL;
    }
    char *base = block + (WORLD_ALIGNMENT - (uintptr_t)block % WORLD_ALIGNMENT);
    memset(base, 0, total - WORLD_ALIGNMENT - world_size); // the world clears its own
    carom_game *game = (carom_game *)base;
    memcpy(base + sizeof(carom_game), &block, sizeof block); // what destroy has to release
    game->module = module;
    game->allocator = *allocator;
    game->module_state = (uint32_t *)(base + head);
    game->messages = (cm_game_message *)(base + head + align_up(module->state_size));
    char *past = (char *)game->messages + align_up(messages_size);
    game->past = cm_past_at(past, history);
    char *world_memory = past + past_size;
    if (carom_world_create(def, world_memory, world_size, &game->world) != CAROM_OK) {
        allocator->release(allocator->context, block);
        return NULL;
    }
    return game;
}

const char *cm_game_callback_name(cm_game_callback callback)
{
    static const char *const names[] = {
        "none",    "start_step", "forces",  "rows",     "join",         "leave",
        "message", "tick",       "contact", "may_join", "player_body",  "check_input",
        "end",     "hit",        "start",   "bot",      "predict_input"};
    _Static_assert(sizeof names / sizeof names[0] == CM_CALLBACK_COUNT, "a name for each");
    return callback < CM_CALLBACK_COUNT ? names[callback] : names[0];
}

void cm_game_watch(carom_game *game, volatile uint32_t *mark, uint32_t tag)
{
    game->mark = mark;
    game->tag = tag;
}

static void start_rows(void *context, const carom_world *world)
{
    const carom_game *game = context;
    if (game->module->start_step != NULL) {
        cm_game_mark(game, CM_CALLBACK_START_STEP);
        game->module->start_step(game, world);
        cm_game_mark(game, CM_CALLBACK_NONE);
    }
}

static uint32_t give_forces(void *context, const carom_world *world, carom_force *forces,
                            uint32_t capacity)
{
    const carom_game *game = context;
    cm_game_mark(game, CM_CALLBACK_FORCES);
    uint32_t count = game->module->forces(game, world, forces, capacity);
    cm_game_mark(game, CM_CALLBACK_NONE);
    return count;
}

static uint32_t give_rows(void *context, const carom_world *world, carom_row *rows,
                          uint32_t capacity)
{
    const carom_game *game = context;
    cm_game_mark(game, CM_CALLBACK_ROWS);
    uint32_t count = game->module->rows(game, world, rows, capacity);
    cm_game_mark(game, CM_CALLBACK_NONE);
    return count;
}

// NULL, or why the module does not take the scene's settings.
static const char *configure(carom_game *game, const cm_scene *scene)
{
    carom_setting settings[CM_SCENE_SETTINGS_MAX];
    uint32_t count = 0;
    double value;
    for (const char *name; (name = cm_scene_setting(scene, count, &value)) != NULL; count++) {
        settings[count] = (carom_setting){name, value};
    }
    if (game->module->configure == NULL) {
        return count > 0 ? "the module takes no settings, expected none" : NULL;
    }
    cm_fpenv saved = cm_fpenv_enter();
    cm_game_mark(game, CM_CALLBACK_START);
    const char *wrong = game->module->configure(game, settings, count);
    cm_game_mark(game, CM_CALLBACK_NONE);
    cm_fpenv_leave(saved);
    return wrong;
}

static carom_result create(const cm_scene *scene, const carom_module *module, uint64_t seed,
                           const carom_allocator *allocator, const cm_game_watcher *watcher,
                           bool starts, carom_game **out, char *text, size_t size)
{
    const carom_allocator *memory = allocator != NULL ? allocator : &cm_by_malloc;
    *out = NULL;
    if (!carom_module_is_valid(module, NULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    def.seed = seed;
    if (!carom_module_suits(module, def.solver.type, NULL)) {
        return CAROM_ERROR_STATE;
    }
    size_t world_size = carom_world_size(&def);
    if (world_size == 0) {
        return CAROM_ERROR_LIMIT_SIZE;
    }
    carom_game *game =
        game_allocate(module, &def, memory, world_size, cm_scene_history_ticks(scene));
    if (game == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    game->scene = scene;
    game->seed = seed;
    game->watcher = watcher;
    game->module_state = watcher != NULL ? watcher->state : game->module_state;
    game->pointer_bytes = cm_scene_pointer_bytes(scene);
    game->prefix_bytes = game->pointer_bytes + (game->past.ticks > 0 ? CAROM_SEEN_BYTES : 0);
    if (cm_game_input_size(game) > CAROM_INPUT_MAX) {
        cm_game_destroy(game);
        return CAROM_ERROR_LIMIT_SIZE;
    }
    if ((module->rows != NULL || module->forces != NULL) && def.solver.type == CAROM_SOLVER_LCP) {
        const carom_row_source source = {game, start_rows, module->rows != NULL ? give_rows : NULL,
                                         module->forces != NULL ? give_forces : NULL};
        carom_world_set_rows(game->world, &source);
    }
    carom_result result = cm_scene_populate(scene, game->world);
    if (result != CAROM_OK) {
        cm_game_destroy(game);
        return result;
    }
    const char *wrong = configure(game, scene);
    if (wrong != NULL) {
        snprintf(text, size, "%.200s", wrong);
        cm_game_destroy(game);
        return CAROM_ERROR_ARGUMENT;
    }
    if (module->start != NULL && starts) {
        cm_fpenv saved = cm_fpenv_enter();
        cm_game_mark(game, CM_CALLBACK_START);
        module->start(game);
        cm_game_mark(game, CM_CALLBACK_NONE);
        cm_fpenv_leave(saved);
        game->message_count = game->event_count = 0; // no player has joined yet to receive them
        game->closes = false;
    }
    cm_past_note(&game->past, game->world);
    cm_game_refresh_public(game);
    *out = game;
    return CAROM_OK;
}

carom_result cm_game_create(const cm_scene *scene, const carom_module *module, uint64_t seed,
                            const carom_allocator *allocator, carom_game **game)
{
    return cm_game_create_watched(scene, module, seed, allocator, NULL, game);
}

carom_result cm_game_create_watched(const cm_scene *scene, const carom_module *module,
                                    uint64_t seed, const carom_allocator *allocator,
                                    const cm_game_watcher *watcher, carom_game **game)
{
    char ignored[1];
    return create(scene, module, seed, allocator, watcher, true, game, ignored, sizeof ignored);
}

bool cm_game_takes_config(const cm_scene *scene, const carom_module *module, char *text,
                          size_t size)
{
    carom_game *game;
    text[0] = '\0';
    if (create(scene, module, 0, NULL, NULL, false, &game, text, size) == CAROM_OK) {
        cm_game_destroy(game);
    }
    return text[0] == '\0';
}

void cm_game_destroy(carom_game *game)
{
    if (game != NULL) {
        void *block;
        memcpy(&block, (char *)game + sizeof(carom_game), sizeof block);
        carom_allocator allocator = game->allocator;
        allocator.release(allocator.context, block);
    }
}

uint64_t cm_game_seed(const carom_game *game)
{
    return game->seed;
}

bool cm_game_closes(const carom_game *game)
{
    return game->closes;
}

bool cm_game_may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    if (game->module->may_join == NULL) {
        return true;
    }
    cm_fpenv saved = cm_fpenv_enter();
    cm_game_mark(game, CM_CALLBACK_MAY_JOIN);
    bool may = game->module->may_join(game, size > 0 ? user_data : NULL, size);
    cm_game_mark(game, CM_CALLBACK_NONE);
    cm_fpenv_leave(saved);
    return may;
}

bool cm_game_bot(const carom_game *game, uint32_t player, uint64_t random,
                 uint8_t input[CAROM_INPUT_MAX])
{
    memset(input, 0, CAROM_INPUT_MAX);
    if (game->module->bot == NULL || !cm_game_player_present(game, player)) {
        return false;
    }
    cm_fpenv saved = cm_fpenv_enter();
    cm_game_mark(game, CM_CALLBACK_BOT);
    game->module->bot(game, player, random, input);
    cm_game_mark(game, CM_CALLBACK_NONE);
    cm_fpenv_leave(saved);
    return true;
}

bool cm_game_guesses(const carom_game *game)
{
    return game->module->predict_input != NULL || game->pointer_bytes > 0;
}

void cm_game_guess_input(carom_game *game, uint32_t player, const uint8_t *last, uint32_t age)
{
    const carom_module *module = game->module;
    uint8_t input[CAROM_INPUT_MAX] = {0};
    if (!cm_game_guesses(game) || !cm_game_player_present(game, player)) {
        return;
    }
    memcpy(input, last, cm_game_input_size(game));
    cm_fpenv saved = cm_fpenv_enter();
    if (game->pointer_bytes > 0) {
        cm_pointer_move(input, (float)age / (float)carom_world_tick_rate(game->world));
    }
    if (module->predict_input != NULL) {
        cm_game_mark(game, CM_CALLBACK_PREDICT_INPUT);
        module->predict_input(game, player, last + game->prefix_bytes, age,
                              input + game->prefix_bytes);
        cm_game_mark(game, CM_CALLBACK_NONE);
    }
    cm_fpenv_leave(saved);
    cm_pointer_reason reason;
    bool good = cm_game_check_input(game, input, &reason) == CM_INPUT_GOOD;
    memcpy(game->held[player], good ? input : last, cm_game_input_size(game));
}

void cm_game_forget_pose(carom_game *game, uint32_t player)
{
    memset(game->held[player], 0, game->pointer_bytes);
}

void cm_game_set_predicts(carom_game *game, cm_game_predicts *predicts, const void *context)
{
    game->predicts = predicts;
    game->predicts_context = context;
}

const carom_module *cm_game_module(const carom_game *game)
{
    return game->module;
}

uint64_t cm_game_players(const carom_game *game)
{
    return game->present & ~game->refused;
}

bool cm_game_has_slot(const carom_game *game, uint32_t player)
{
    return cm_game_has_bit(game->present, player);
}

bool cm_game_player_present(const carom_game *game, uint32_t player)
{
    return cm_game_has_bit(game->present & ~game->refused, player);
}

uint64_t cm_game_refused(const carom_game *game)
{
    return game->refused;
}

uint64_t cm_game_kicked(const carom_game *game)
{
    return game->kicked;
}

carom_reason cm_game_kick_reason(const carom_game *game, uint32_t player)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    return (carom_reason)game->kick_reasons[player];
}

carom_body_id cm_game_player_body(const carom_game *game, uint32_t player)
{
    carom_body_id body = {0, 0};
    if (game->module->player_body != NULL && cm_game_player_present(game, player)) {
        cm_game_mark(game, CM_CALLBACK_PLAYER_BODY);
        body = game->module->player_body(game, player);
        cm_game_mark(game, CM_CALLBACK_NONE);
    }
    return carom_body_id_is_null(body) ? cm_game_pointer(game, player) : body;
}

carom_body_id cm_game_pointer(const carom_game *game, uint32_t player)
{
    carom_body_id none = {0, 0};
    return game->pointer_bytes > 0 && cm_game_player_present(game, player)
               ? cm_pointer_body(game->world, player)
               : none;
}

uint64_t cm_game_poses_refused(const carom_game *game)
{
    return game->poses_refused;
}

uint32_t cm_game_input_size(const carom_game *game)
{
    return game->prefix_bytes + game->module->input_size;
}

uint32_t cm_scene_input_size(const cm_scene *scene, const carom_module *module)
{
    uint32_t seen = cm_scene_history_ticks(scene) > 0 ? CAROM_SEEN_BYTES : 0;
    return cm_scene_pointer_bytes(scene) + seen + module->input_size;
}

cm_input_check cm_game_check_input(const carom_game *game, const uint8_t *bytes,
                                   cm_pointer_reason *reason)
{
    uint8_t rest[CAROM_INPUT_MAX] = {0};
    carom_pointer_pose pose;
    *reason = game->pointer_bytes > 0 ? cm_pointer_read(bytes, &pose) : CM_POINTER_NONE;
    if (*reason > CM_POINTER_NONE) {
        return CM_INPUT_POSE_REFUSED;
    }
    memcpy(rest, bytes + game->prefix_bytes, CAROM_INPUT_MAX - game->prefix_bytes);
    cm_game_mark(game, CM_CALLBACK_CHECK_INPUT);
    bool good = game->module->check_input == NULL || game->module->check_input(rest);
    cm_game_mark(game, CM_CALLBACK_NONE);
    return good ? CM_INPUT_GOOD : CM_INPUT_MODULE_REFUSED;
}

uint64_t cm_game_messages_dropped(const carom_game *game)
{
    return game->messages_dropped;
}

uint64_t cm_game_events_dropped(const carom_game *game)
{
    return game->events_dropped;
}

const char *cm_module_event_name(const carom_module *module, uint32_t kind)
{
    const char *name = module->event_name != NULL ? module->event_name(kind) : NULL;
    return name != NULL ? name : "";
}

const carom_event *cm_game_events(const carom_game *game, uint32_t *count)
{
    *count = game->event_count;
    return game->events;
}

const cm_game_message *cm_game_messages(const carom_game *game, uint32_t *count)
{
    *count = game->message_count;
    return game->messages;
}

const uint8_t *cm_game_held_input(const carom_game *game, uint32_t player)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    return game->held[player];
}
