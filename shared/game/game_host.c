// Ticking a game: events, held inputs, the module, the world, contacts.
//
// The order is fixed, because a recording is replayed through it: events as given, inputs in order
// of player slots, module tick, world step, contact callbacks in order of shape ids. The module
// runs in the simulation's floating-point environment, so that a process with denormals turned off,
// or another rounding mode, changes nothing.
//
// Typical: 4 to 16 players of 64, a module state of 1 KiB, a world of 400 bodies.
#include "shared/game/by_malloc.h"
#include "shared/game/game_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/fpenv.h"
#include "shared/base/hash.h"

#define WORLD_ALIGNMENT 64u
#define HITS_MAX        256u // that a module is told of in a tick, the first of them

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
    memset(base, 0, total - WORLD_ALIGNMENT);
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
        "none",    "start_step", "forces",      "rows",        "join", "leave", "message", "tick",
        "contact", "may_join",   "player_body", "check_input", "end",  "hit",   "start"};
    _Static_assert(sizeof names / sizeof names[0] == CM_CALLBACK_COUNT, "a name for each");
    return callback < CM_CALLBACK_COUNT ? names[callback] : names[0];
}

void cm_game_watch(carom_game *game, volatile uint32_t *mark, uint32_t tag)
{
    game->mark = mark;
    game->tag = tag;
}

static inline void mark(const carom_game *game, cm_game_callback callback)
{
    if (game->mark != NULL) {
        *game->mark = callback != CM_CALLBACK_NONE ? game->tag | (uint32_t)callback : 0;
    }
}

static void start_rows(void *context, const carom_world *world)
{
    const carom_game *game = context;
    if (game->module->start_step != NULL) {
        mark(game, CM_CALLBACK_START_STEP);
        game->module->start_step(game, world);
        mark(game, CM_CALLBACK_NONE);
    }
}

static uint32_t give_forces(void *context, const carom_world *world, carom_force *forces,
                            uint32_t capacity)
{
    const carom_game *game = context;
    mark(game, CM_CALLBACK_FORCES);
    uint32_t count = game->module->forces(game, world, forces, capacity);
    mark(game, CM_CALLBACK_NONE);
    return count;
}

static uint32_t give_rows(void *context, const carom_world *world, carom_row *rows,
                          uint32_t capacity)
{
    const carom_game *game = context;
    mark(game, CM_CALLBACK_ROWS);
    uint32_t count = game->module->rows(game, world, rows, capacity);
    mark(game, CM_CALLBACK_NONE);
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
    const char *wrong = game->module->configure(game, settings, count);
    cm_fpenv_leave(saved);
    return wrong;
}

static carom_result create(const cm_scene *scene, const carom_module *module, uint64_t seed,
                           const carom_allocator *allocator, bool starts, carom_game **out,
                           char *text, size_t size)
{
    const carom_allocator *memory = allocator != NULL ? allocator : &cm_by_malloc;
    *out = NULL;
    if (!carom_module_is_sound(module, NULL)) {
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
        module->start(game);
        cm_fpenv_leave(saved);
        game->message_count = game->event_count = 0; // nobody is there to read them
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
    char ignored[1];
    return create(scene, module, seed, allocator, true, game, ignored, sizeof ignored);
}

bool cm_game_takes_config(const cm_scene *scene, const carom_module *module, char *text,
                          size_t size)
{
    carom_game *game;
    text[0] = '\0';
    if (create(scene, module, 0, NULL, false, &game, text, size) == CAROM_OK) {
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

static bool is_present(const carom_game *game, uint32_t player)
{
    return player < CAROM_PLAYERS_MAX && (game->present >> player & 1u) != 0;
}

static void apply_event(carom_game *game, const cm_game_event *event)
{
    const carom_module *module = game->module;
    uint32_t player = event->player;
    // Where nothing was sent there is nothing to point at, be the event live or out of a record.
    const uint8_t *bytes = event->size > 0 ? event->bytes : NULL;
    switch (event->type) {
    case CM_EVENT_JOIN:
        if (player < CAROM_PLAYERS_MAX && !is_present(game, player)) {
            game->present |= UINT64_C(1) << player; // holds zeros, as every slot that is free
            if (module->join != NULL) {
                mark(game, CM_CALLBACK_JOIN);
                module->join(game, player, bytes, event->size);
            }
        }
        break;
    case CM_EVENT_LEAVE:
        if (is_present(game, player)) {
            if (module->leave != NULL) {
                mark(game, CM_CALLBACK_LEAVE);
                module->leave(game, player);
            }
            cm_pointer_put(game->world, cm_game_pointer(game, player), NULL);
            game->present &= ~(UINT64_C(1) << player);
            memset(game->held[player], 0, CAROM_INPUT_MAX);
        }
        break;
    case CM_EVENT_MESSAGE:
        if (is_present(game, player) && module->message != NULL) {
            mark(game, CM_CALLBACK_MESSAGE);
            module->message(game, player, bytes, event->size);
        }
        break;
    case CM_EVENT_END:
        if (module->end != NULL) {
            mark(game, CM_CALLBACK_END);
            module->end(game);
        }
        break;
    default:
        break; // an unknown event of a hostile file does nothing
    }
    mark(game, CM_CALLBACK_NONE);
}

static void hold_inputs(carom_game *game, const cm_tick_input *input)
{
    for (uint32_t i = 0; i < input->input_count; i++) {
        const carom_player_input *in = &input->inputs[i];
        if (is_present(game, in->player)) {
            // Bytes beyond the input would be state that nobody meant.
            memcpy(game->held[in->player], in->bytes, cm_game_input_size(game));
        }
    }
}

// The held poses, of each pointer whose player is there, in order of the bodies' slots.
static void put_pointers(carom_game *game)
{
    for (uint32_t slot = 0; slot < carom_world_body_slots(game->world); slot++) {
        carom_body_id body = carom_world_body_at(game->world, slot);
        uint32_t player = carom_body_pointer(game->world, body);
        if (!is_present(game, player)) {
            continue;
        }
        carom_pointer_pose pose;
        cm_pointer_reason reason = cm_pointer_read(game->held[player], &pose);
        if (reason == CM_POINTER_OK) {
            cm_pointer_put(game->world, body, &pose);
        } else {
            game->poses_refused += reason != CM_POINTER_NONE;
        }
    }
}

static void run_module_tick(carom_game *game)
{
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (is_present(game, player)) {
            inputs[count].player = player;
            memset(inputs[count].bytes, 0, CAROM_INPUT_MAX);
            memcpy(inputs[count].bytes, game->held[player] + game->prefix_bytes,
                   CAROM_INPUT_MAX - game->prefix_bytes);
            count++;
        }
    }
    mark(game, CM_CALLBACK_TICK);
    game->module->tick(game, inputs, count);
    mark(game, CM_CALLBACK_NONE);
}

static void run_contacts(carom_game *game)
{
    uint32_t count;
    const carom_contact_event *events = carom_world_contact_events(game->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        // A copy: the callback may change the world, which ends the events' life.
        carom_contact_event event = events[i];
        mark(game, CM_CALLBACK_CONTACT);
        game->module->contact(game, &event);
    }
    mark(game, CM_CALLBACK_NONE);
}

// Taken before any callback ran: those may change the world, which ends the events' life.
static uint32_t take_hits(carom_game *game, carom_hit_event hits[HITS_MAX])
{
    uint32_t count;
    const carom_hit_event *events = carom_world_hit_events(game->world, &count);
    count = count < HITS_MAX ? count : HITS_MAX;
    memcpy(hits, events, count * sizeof *hits);
    return count;
}

static void run_hits(carom_game *game, const carom_hit_event *hits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        mark(game, CM_CALLBACK_HIT);
        game->module->hit(game, &hits[i]);
    }
    mark(game, CM_CALLBACK_NONE);
}

void cm_game_tick(carom_game *game, const cm_tick_input *input)
{
    cm_fpenv saved = cm_fpenv_enter();
    game->message_count = game->event_count = 0;
    game->closes = false;
    game->ticking = 1;
    // Until the step a module sees no events: those of the last tick are gone after a restore.
    carom_world_clear_events(game->world);
    for (uint32_t i = 0; i < input->event_count; i++) {
        apply_event(game, &input->events[i]);
    }
    hold_inputs(game, input);
    if (game->pointer_bytes > 0) {
        put_pointers(game);
    }
    if (game->module->tick != NULL) {
        run_module_tick(game);
    }
    carom_world_step(game->world);
    game->ticking = 0;
    game->stepped = 1;
    carom_hit_event hits[HITS_MAX];
    uint32_t hit_count = game->module->hit != NULL ? take_hits(game, hits) : 0;
    if (game->module->contact != NULL) {
        run_contacts(game);
    }
    run_hits(game, hits, hit_count);
    game->stepped = 0;
    cm_past_note(&game->past, game->world);
    cm_game_refresh_public(game);
    cm_fpenv_leave(saved);
}

carom_world *carom_game_world(const carom_game *game)
{
    return game->world;
}

void *carom_game_state(const carom_game *game)
{
    return game->module_state;
}

uint64_t carom_game_tick(const carom_game *game)
{
    return carom_world_tick(game->world);
}

uint64_t carom_game_random(carom_game *game)
{
    return carom_world_random(game->world);
}

uint64_t carom_game_random_at(const carom_game *game, uint64_t key)
{
    cm_hash hash = cm_hash_begin(game->seed);
    cm_hash_u64(&hash, carom_game_tick(game));
    cm_hash_u64(&hash, key);
    return cm_hash_end(&hash);
}

// The scene's body that this id is of, or CM_SCENE_NO_BODY: bodies of the scene are the first of
// their slots.
static uint32_t scene_body(const carom_game *game, carom_body_id body)
{
    bool placed = body.generation == 1 && body.index < cm_scene_body_count(game->scene) &&
                  carom_body_is_valid(game->world, body);
    return placed ? body.index : CM_SCENE_NO_BODY;
}

const char *carom_game_body_name(const carom_game *game, carom_body_id body)
{
    return cm_scene_body_name(game->scene, scene_body(game, body));
}

bool carom_game_body_has_tag(const carom_game *game, carom_body_id body, const char *tag)
{
    return cm_scene_body_has_tag(game->scene, scene_body(game, body), tag);
}

carom_body_id carom_game_find_body(const carom_game *game, const char *name)
{
    carom_body_id body = {cm_scene_find_body(game->scene, name), 1};
    return scene_body(game, body) != CM_SCENE_NO_BODY ? body : (carom_body_id){0, 0};
}

carom_result carom_game_spawn(carom_game *game, const char *prefab, carom_vec3 position,
                              carom_quat orientation, carom_body_id *body)
{
    uint32_t index = cm_scene_find_prefab(game->scene, prefab);
    carom_body_def def;
    const carom_shape_def *shapes;
    if (index == CM_SCENE_NO_BODY) {
        return CAROM_ERROR_NOT_FOUND;
    }
    uint32_t count = cm_scene_prefab(game->scene, index, &def, &shapes);
    def.position = position;
    def.orientation = orientation;
    return carom_body_create(game->world, &def, shapes, count, body);
}

uint32_t carom_game_find_material(const carom_game *game, const char *name)
{
    return cm_scene_find_material(game->scene, name);
}

void carom_game_close(carom_game *game)
{
    game->closes = true;
}

bool cm_game_closes(const carom_game *game)
{
    return game->closes;
}

carom_result carom_game_send(carom_game *game, uint32_t player, const void *bytes, uint32_t size)
{
    if (player >= CAROM_PLAYERS_MAX || size > CAROM_MESSAGE_MAX) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (game->message_count == CM_GAME_MESSAGES_MAX) {
        game->messages_dropped++;
        return CAROM_ERROR_FULL;
    }
    cm_game_message *message = &game->messages[game->message_count++];
    message->player = player;
    message->size = size;
    if (size > 0) {
        memcpy(message->bytes, bytes, size);
    }
    return CAROM_OK;
}

carom_result carom_game_send_all(carom_game *game, const void *bytes, uint32_t size)
{
    carom_result result = CAROM_OK;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        carom_result sent =
            is_present(game, player) ? carom_game_send(game, player, bytes, size) : CAROM_OK;
        result = result == CAROM_OK ? sent : result;
    }
    return result;
}

carom_result carom_game_emit(carom_game *game, const carom_event *event)
{
    if (event == NULL || event->size > CAROM_EVENT_BYTES_MAX) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_event own = *event;
    own.tick = carom_world_tick(game->world) + game->ticking;
    memset(own.bytes + own.size, 0, sizeof own.bytes - own.size);
    for (uint32_t i = 0; i < game->event_count; i++) {
        if (carom_event_is_same(&game->events[i], &own)) {
            return CAROM_ERROR_STATE;
        }
    }
    if (game->event_count == CAROM_EVENTS_MAX) {
        game->events_dropped++;
        return CAROM_ERROR_FULL;
    }
    game->events[game->event_count++] = own;
    return CAROM_OK;
}

uint64_t cm_game_seed(const carom_game *game)
{
    return game->seed;
}

bool cm_game_may_join(const carom_game *game, const uint8_t *user_data, uint32_t size)
{
    if (game->module->may_join == NULL) {
        return true;
    }
    cm_fpenv saved = cm_fpenv_enter();
    mark(game, CM_CALLBACK_MAY_JOIN);
    bool may = game->module->may_join(game, size > 0 ? user_data : NULL, size);
    mark(game, CM_CALLBACK_NONE);
    cm_fpenv_leave(saved);
    return may;
}

const carom_module *cm_game_module(const carom_game *game)
{
    return game->module;
}

bool cm_game_player_present(const carom_game *game, uint32_t player)
{
    return is_present(game, player);
}

carom_body_id cm_game_player_body(const carom_game *game, uint32_t player)
{
    carom_body_id body = {0, 0};
    if (game->module->player_body != NULL && is_present(game, player)) {
        mark(game, CM_CALLBACK_PLAYER_BODY);
        body = game->module->player_body(game, player);
        mark(game, CM_CALLBACK_NONE);
    }
    return carom_body_id_is_null(body) ? cm_game_pointer(game, player) : body;
}

carom_body_id cm_game_pointer(const carom_game *game, uint32_t player)
{
    carom_body_id none = {0, 0};
    return game->pointer_bytes > 0 && is_present(game, player)
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
    mark(game, CM_CALLBACK_CHECK_INPUT);
    bool good = game->module->check_input == NULL || game->module->check_input(rest);
    mark(game, CM_CALLBACK_NONE);
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
