// A game: a world and its module stepped together. Room, replay, offline runs and the client's
// predictor all tick through here, so that a recording is replayed by the very code that made it.
//
// State = the world's state + the module's state + which players are present + the input each of
// them holds. All of it is saved, hashed and encoded as one. An input is held until it changes:
// ticks and recordings contain only the changes.
#ifndef CM_GAME_GAME_HOST_H
#define CM_GAME_GAME_HOST_H

#include "carom/game.h"
#include "shared/game/modules.h"
#include "shared/game/pointer.h"
#include "shared/wire/confirmed.h"

// A message that the module sent in the last tick.
typedef struct cm_game_message {
    uint32_t player;
    uint32_t size;
    bool unreliable; // goes when its tick is first made, once
    uint8_t bytes[CAROM_MESSAGE_MAX];
} cm_game_message;

#define CM_GAME_MESSAGES_MAX 64 // a tick; more are dropped and counted

// A function of a module, as where a game is.
typedef enum cm_game_callback {
    CM_CALLBACK_NONE = 0,
    CM_CALLBACK_START_STEP,
    CM_CALLBACK_FORCES,
    CM_CALLBACK_ROWS,
    CM_CALLBACK_JOIN,
    CM_CALLBACK_LEAVE,
    CM_CALLBACK_MESSAGE,
    CM_CALLBACK_TICK,
    CM_CALLBACK_CONTACT,
    CM_CALLBACK_MAY_JOIN,
    CM_CALLBACK_PLAYER_BODY,
    CM_CALLBACK_CHECK_INPUT,
    CM_CALLBACK_END,
    CM_CALLBACK_HIT,
    CM_CALLBACK_START, // configure too: the game is made
    CM_CALLBACK_BOT,
    CM_CALLBACK_PREDICT_INPUT,
    CM_CALLBACK_COUNT
} cm_game_callback;

// Builds world and module state from a scene and runs `start`. The allocator may be NULL. The scene
// must outlive the game. CAROM_ERROR_ARGUMENT: the module is not valid, or refuses the scene's
// module_config (cm_game_takes_config gives the reason); CAROM_ERROR_STATE: the module does not
// suit the scene's solver (carom_module_suits); CAROM_ERROR_LIMIT_SIZE: the scene has pointers and
// the module's input leaves no room for a pose.
carom_result cm_game_create(const cm_scene *scene, const carom_module *module, uint64_t seed,
                            const carom_allocator *allocator, carom_game **game);

// Lets a test of a module observe its callbacks: `enter` is called before each callback, and with
// CM_CALLBACK_NONE when the module has returned. The module's state is kept in `state` (zeros, of
// state_size bytes or more) instead of the game's own memory. The watcher must outlive the game.
typedef struct cm_game_watcher {
    void (*enter)(void *context, cm_game_callback callback);
    void *context;
    uint32_t *state;
} cm_game_watcher;
carom_result cm_game_create_watched(const cm_scene *scene, const carom_module *module,
                                    uint64_t seed, const carom_allocator *allocator,
                                    const cm_game_watcher *watcher, carom_game **game);
// True if the module accepts the scene's module_config; false with the reason in `text`. This makes
// a game and releases it without starting it.
bool cm_game_takes_config(const cm_scene *scene, const carom_module *module, char *text,
                          size_t size);
void cm_game_destroy(carom_game *game);

// Bytes of a player's input: the module's, and before them a pose where the scene has pointers, and
// the age of what the player saw where it has a history.
uint32_t cm_game_input_size(const carom_game *game);
uint32_t cm_scene_input_size(const cm_scene *scene, const carom_module *module);

// The age of what a player saw, in ticks before its input's own (parts of
// 1 / CAROM_SEEN_PER_TICK); nothing, and 0, without a history.
bool cm_game_has_seen(const carom_game *game);
void cm_game_put_seen(const carom_game *game, uint8_t *input, double age);
double cm_game_get_seen(const carom_game *game, const uint8_t *input);

const char *cm_game_callback_name(cm_game_callback callback); // as in the module's descriptor
// Marks which callback of the module runs: `*mark` is `tag` plus the callback while one runs, and 0
// otherwise, so that after a crash the supervisor knows which module was running. Not part of the
// state; a new game has no mark, and `mark` must outlive the game. The lowest byte of `tag` is 0.
void cm_game_watch(carom_game *game, volatile uint32_t *mark, uint32_t tag);

// The result of checking an input. Each input is checked once, when it is received.
typedef enum cm_input_check {
    CM_INPUT_GOOD = 0,
    CM_INPUT_POSE_REFUSED,   // the pointer's pose is invalid: see `reason`
    CM_INPUT_MODULE_REFUSED, // the module's check_input returned false
} cm_input_check;
cm_input_check cm_game_check_input(const carom_game *game, const uint8_t *bytes,
                                   cm_pointer_reason *reason);

// Events, held inputs, poses of pointers, module tick, world step, contact callbacks. An event or
// input of an absent player, and a join of one present, is skipped (the caller checks; a hostile
// file must not crash).
void cm_game_tick(carom_game *game, const cm_tick_input *input);

uint64_t cm_game_seed(const carom_game *game);
// True if the module lets another player join; always true for a module without may_join.
bool cm_game_may_join(const carom_game *game, const uint8_t *user_data, uint32_t size);
// Asks the module's bot for a present player's input. False if the module has no bot.
bool cm_game_bot(const carom_game *game, uint32_t player, uint64_t random,
                 uint8_t input[CAROM_INPUT_MAX]);
// The module guesses a present player's input for the next tick from the last known one, which is
// `age` ticks old, and the game holds that instead; a pose goes on by its velocities, which end
// within 0.1 s. Without predict_input and pointers nothing changes.
bool cm_game_guesses(const carom_game *game);
void cm_game_guess_input(carom_game *game, uint32_t player, const uint8_t *last, uint32_t age);
// The player holds no pose: the pointer stays where it is put.
void cm_game_forget_pose(carom_game *game, uint32_t player);
// For carom_game_is_predicted: not state, stays through restores. NULL: all bodies are.
typedef bool cm_game_predicts(const void *context, carom_body_id body);
void cm_game_set_predicts(carom_game *game, cm_game_predicts *predicts, const void *context);
const carom_module *cm_game_module(const carom_game *game);
// True if a player has a slot, and true if the player plays: one that `join` refused has a slot and
// does not play.
bool cm_game_has_slot(const carom_game *game, uint32_t player);
bool cm_game_player_present(const carom_game *game, uint32_t player);
uint64_t cm_game_players(const carom_game *game); // those who play, a bit a player
// The players with a slot that `join` refused, and those that the module kicks (a bit a player),
// with the reason.
uint64_t cm_game_refused(const carom_game *game);
uint64_t cm_game_kicked(const carom_game *game);
carom_reason cm_game_kick_reason(const carom_game *game, uint32_t player);
// The body that the player steers according to the module, else the player's pointer.
carom_body_id cm_game_player_body(const carom_game *game, uint32_t player);
// The pointer of a present player, or the null id.
carom_body_id cm_game_pointer(const carom_game *game, uint32_t player);
// The number of invalid poses in inputs of ticks, since create. Not part of the state.
uint64_t cm_game_poses_refused(const carom_game *game);
const cm_game_message *cm_game_messages(const carom_game *game, uint32_t *count);
// True if the module ended the match in the newest tick.
bool cm_game_closes(const carom_game *game);
// The number of messages beyond the limit of their tick, since create, re-stepped ticks included.
// Not part of the state.
uint64_t cm_game_messages_dropped(const carom_game *game);
// The events that the module emitted in the last tick, in order.
const carom_event *cm_game_events(const carom_game *game, uint32_t *count);
// The module's name for such events, or "".
const char *cm_module_event_name(const carom_module *module, uint32_t kind);
uint64_t cm_game_events_dropped(const carom_game *game); // likewise
// Held input of a player (CAROM_INPUT_MAX bytes, zeros before the first).
const uint8_t *cm_game_held_input(const carom_game *game, uint32_t player);

uint64_t cm_game_hash(const carom_game *game);
size_t cm_game_save_bound(const carom_game *game);
size_t cm_game_save(const carom_game *game, void *image, size_t size);
carom_result cm_game_restore(carom_game *game, const void *image, size_t size);
size_t cm_game_encode_size(const carom_game *game);
size_t cm_game_encode(const carom_game *game, void *bytes, size_t size);
carom_result cm_game_decode(carom_game *game, const void *bytes, size_t size);

// The public part of the module's state, and setting it in a client's mirror. Setting also makes
// the players of `present` (a bit a slot) present, without callbacks: a mirror's bodies come by
// message, and who was refused or kicked is the server's affair.
const uint8_t *cm_game_public(const carom_game *game, uint32_t *size);
void cm_game_set_public(carom_game *game, const uint8_t *bytes, uint32_t size, uint64_t present);
// The part that is not public becomes that of another game of the same module.
void cm_game_take_hidden(carom_game *game, const carom_game *from);
// The tick that the game's world believes in: a mirror is never stepped, and what its module sees
// must be the server's tick.
void cm_game_set_tick(carom_game *game, uint64_t tick);

#endif
