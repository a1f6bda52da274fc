// A room: a pure state machine over (tick, inputs, events). It steps a game, rewinds it when an
// input comes late (at most once a frame, from the earliest late input; shared/room/timeline.h),
// and hands over ticks that no rewind can reach any more: those are confirmed, in order, each once.
// Joins, leaves and messages are events of the next tick, never late.
//
// No socket, clock, thread or global: whoever owns it says when a tick is due.
#ifndef CM_SERVER_ROOM_ROOM_H
#define CM_SERVER_ROOM_ROOM_H

#include "server/room/history.h"
#include "shared/room/timeline.h"

typedef struct cm_room cm_room;

typedef struct cm_room_def {
    const cm_scene *scene;
    uint64_t seed;
    uint32_t rewind_ms;
    uint32_t max_players;       // 1 to CAROM_PLAYERS_MAX
    const carom_module *module; // NULL: the one built in that the scene names
    volatile uint32_t *mark;    // of its games' callbacks (cm_game_watch); NULL: nobody watches
    uint32_t tag;
    // A game that goes on: encoded after `tick`, its players with their slots. NULL: it begins.
    const uint8_t *image;
    size_t image_size;
    uint64_t tick;
} cm_room_def;

typedef struct cm_room_stats {
    uint64_t inputs;      // accepted
    uint64_t late_inputs; // of these, after their tick
    uint64_t rewinds, rewound_ticks;
    uint64_t poses_refused[CM_POINTER_REASONS]; // of pointers, by reason, each time they came
} cm_room_stats;

// Seconds since the room was made, of all ticks stepped, those stepped again included.
typedef struct cm_room_profile {
    uint64_t ticks;
    double stage_s[CAROM_STAGE_COUNT];
} cm_room_profile;

// CAROM_ERROR_NOT_FOUND: the scene's module is not known. CAROM_ERROR_CORRUPT: no such image.
// CAROM_ERROR_LIMIT_SIZE: the history of rewind_ms would be above CM_HISTORY_BYTES_MAX.
carom_result cm_room_create(const cm_room_def *def, cm_room **room);
void cm_room_destroy(cm_room *room);

uint64_t cm_room_tick(const cm_room *room);      // newest tick stepped
uint64_t cm_room_confirmed(const cm_room *room); // newest tick handed over
uint32_t cm_room_tick_rate(const cm_room *room);
uint32_t cm_room_window(const cm_room *room); // ticks that a rewind reaches back
uint64_t cm_room_hash(const cm_room *room);   // of the newest tick
const carom_game *cm_room_game(const cm_room *room);
const carom_world *cm_room_world(const cm_room *room);
uint64_t cm_room_present(const cm_room *room); // a bit a player, as of the newest tick

// Takes a player's slot from the next tick on. CAROM_ERROR_LIMIT_PLAYERS: none is free.
// CAROM_ERROR_STATE: the module does not let the player in. CAROM_ERROR_FULL: ask again after the
// next tick, which has too many events, or the join of somebody whom the module's may_join has to
// see in the state first.
carom_result cm_room_join(cm_room *room, uint64_t client_id, const uint8_t *user_data,
                          uint32_t size, uint32_t *player);
// True if the module has let in a player who joined at that tick, for good: no rewind reaches the
// tick any more, since it is confirmed, or every input up to it has come.
bool cm_room_has_let_in(const cm_room *room, uint32_t player, uint64_t join_tick);
// The player's client is welcomed: only from the next tick on do its inputs count, so that whoever
// joins before that need not wait for them.
void cm_room_welcomed(cm_room *room, uint32_t player);
// A player who is silent: zeros for the next tick, unless that is what is held, or its input came.
void cm_room_silence(cm_room *room, uint32_t player);
// Gives the slot back at the next tick. Never fails (the event waits if it has to). The leave of
// one whom the module refused is handed over with CM_LEAVE_REFUSED.
void cm_room_leave(cm_room *room, uint32_t player);
// A message of a player for the next tick; where the others filled that one, for the first with
// room, each player in turn. False: it is too long, or so many of the player's wait already that
// they would fill a quarter of a tick by themselves.
bool cm_room_message(cm_room *room, uint32_t player, const uint8_t *bytes, uint32_t size);
// The same for the next tick alone. False: that one is full, or reliable ones wait.
bool cm_room_message_now(cm_room *room, uint32_t player, const uint8_t *bytes, uint32_t size);

// An input of a player for a tick. A late one may cost at most `allowance` steps of rewinding;
// `cost` says what it did cost.
cm_input_verdict cm_room_input(cm_room *room, uint32_t player, uint64_t tick, const uint8_t *bytes,
                               uint32_t allowance, uint32_t *cost);
uint64_t cm_room_settled(const cm_room *room, uint32_t player);
// The input of a player for a tick, as cm_inbox_input has it.
const uint8_t *cm_room_input_at(const cm_room *room, uint32_t player, uint64_t tick);
// The newest tick, which the newest frame was the first to make; NULL: none was made.
const cm_history_slot *cm_room_newest(const cm_room *room);
// The earliest tick that the newest frame made, or made again.
uint64_t cm_room_made(const cm_room *room);

// Rewinds if a late input came, then makes one tick.
void cm_room_frame(cm_room *room);
// In place of a frame, of a room that follows another: makes the next tick with what went into that
// one's, which is confirmed at once. Without a window (rewind_ms 0), joins and inputs of its own.
// Valid as long as the input is.
const cm_history_slot *cm_room_follow(cm_room *room, const cm_tick_input *input);
// The match ends: makes the tick in which the module's `end` runs; none where it has no `end`, or
// has ended. False: a tick was made, but its events had no room for the end, so that this is to be
// called again once what is confirmed was taken. No other tick may follow.
bool cm_room_end(cm_room *room);

// The next confirmed tick, or NULL. `all`: also those a rewind could still reach (at the end of a
// match). Valid until the next frame.
const cm_history_slot *cm_room_confirm(cm_room *room, bool all);

// The game of a tick in the history, in a second game: for keyframes and oracles. NULL if it is not
// there. Valid until the next call.
const carom_game *cm_room_game_at(cm_room *room, uint64_t tick);

// The same, encoded: for welcomes and keyframes. NULL if the tick is not there, or memory is short.
// Valid until the next call.
const uint8_t *cm_room_encode(cm_room *room, uint64_t tick, size_t *size);
// True if a game was encoded since the newest tick was made. A world of 20,000 bodies takes a third
// of a tick's time, so two encodings in one tick would make it late.
bool cm_room_has_encoded(const cm_room *room);

void cm_room_stats_get(const cm_room *room, cm_room_stats *stats);

// A monotonic clock in seconds, or NULL (the default: nothing is measured). Never influences the
// room.
void cm_room_set_clock(cm_room *room, double (*clock)(void *context), void *context);
// Sets the handler of its world's log, ticks stepped again included; NULL: none.
void cm_room_set_log(cm_room *room, const carom_log *log);
void cm_room_profile_get(const cm_room *room, cm_room_profile *profile);

#endif
