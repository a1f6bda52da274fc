// Inside of a game: shared by game_host.c (making), game_tick.c, game_calls.c (of the module) and
// game_image.c (save, hash, encode). Private to
// shared/game.
#ifndef CM_GAME_GAME_STATE_H
#define CM_GAME_GAME_STATE_H

#include "shared/game/game_host.h"
#include "shared/game/past.h"

// State: present, held (of present players; zeros for the others), refused, kicked with their
// reasons, module_state, past, world.
// Reported by a tick, not state: the messages and events.
struct carom_game {
    const carom_module *module;
    const cm_scene *scene; // names and tags
    uint64_t seed;         // of the match: no state, like the scene
    carom_allocator allocator;
    carom_world *world;
    uint32_t *module_state;                  // module->state_size bytes, a whole number of words
    uint64_t present;                        // a bit a player slot: from its join to its leave
    uint64_t refused;                        // of these, those that the module's `join` refused
    uint64_t kicked;                         // of these, those whom the module sends away
    uint8_t kick_reasons[CAROM_PLAYERS_MAX]; // carom_reason of the kicked; 0 for the others
    uint32_t pointer_bytes; // of each input, before the module's own; 0 without pointers
    uint32_t prefix_bytes;  // all before the module's own: pose, seen time
    cm_past past;
    // Within a tick, until the world's step: 1; after it, until the past is noted: stepped is 1.
    uint32_t ticking, stepped;
    uint8_t held[CAROM_PLAYERS_MAX][CAROM_INPUT_MAX];
    uint8_t public_bytes[CAROM_MODULE_PUBLIC_MAX]; // derived from module_state
    cm_game_message *messages;                     // CM_GAME_MESSAGES_MAX
    uint32_t message_count;
    bool closes; // reported by the tick, likewise
    uint64_t messages_dropped;
    carom_event events[CAROM_EVENTS_MAX];
    uint32_t event_count;
    uint64_t events_dropped;
    uint64_t poses_refused;
    volatile uint32_t *mark; // cm_game_watch; NULL: none
    uint32_t tag;
    const cm_game_watcher *watcher; // of a trial; NULL: none
    cm_game_predicts *predicts;     // of a client's prediction; NULL: everything is
    const void *predicts_context;
};

_Static_assert(CAROM_PLAYERS_MAX == 64, "present is one 64-bit word");

static inline uint32_t cm_game_state_words(const carom_game *game)
{
    return game->module->state_size / 4u;
}

// Around each call of the module (cm_game_watch, cm_game_watcher).
static inline void cm_game_mark(const carom_game *game, cm_game_callback callback)
{
    if (game->mark != NULL) {
        *game->mark = callback != CM_CALLBACK_NONE ? game->tag | (uint32_t)callback : 0;
    }
    if (game->watcher != NULL) {
        game->watcher->enter(game->watcher->context, callback);
    }
}

static inline bool cm_game_has_bit(uint64_t players, uint32_t player)
{
    return player < CAROM_PLAYERS_MAX && (players >> player & 1u) != 0;
}

void cm_game_refresh_public(carom_game *game);

#endif
