// A room and its time: which ticks are due, which are confirmed, where they are recorded. It makes
// one tick when asked; whoever hosts it publishes what came of it, and a process may host many.
//
// Tick n is due at origin + n / rate. Where the machine cannot keep up, and more than a few ticks
// are due at the begin of a turn, the origin moves: the room slows, says so in its numbers, and
// never runs after a past that gets longer. A function of the times given; the store and the clock
// to measure with are given too.
#ifndef CM_SERVER_ROOM_ROOM_LOOP_H
#define CM_SERVER_ROOM_ROOM_LOOP_H

#include "carom/durability.h"

#include "server/room/input_timing.h"
#include "server/ops/log.h"
#include "server/room/room.h"
#include "server/record/replay/live_match.h"
#include "server/record/store/store.h"

typedef struct cm_room_loop cm_room_loop;

typedef struct cm_room_loop_def {
    const cm_scene *scene;      // kept by the caller
    const carom_module *module; // NULL: the one built in that the scene names
    uint64_t seed;
    uint32_t max_players, rewind_ms;
    volatile uint32_t *mark; // as in cm_room_def
    uint32_t tag;
    const cm_live_match *live;        // to go on with, at its last tick; NULL: a new match
    uint64_t now_us;                  // of tick 0, or of that last one
    uint64_t (*clock_us)(void *user); // to measure stages with; NULL: not measured
    void *user;
} cm_room_loop_def;

typedef struct cm_room_loop_stats {
    uint64_t ticks_behind;              // ticks that the clock was slowed by
    double stage_ms[CAROM_STAGE_COUNT]; // of the last second, means over the ticks stepped
} cm_room_loop_stats;

// On failure `error` says why.
carom_result cm_room_loop_create(const cm_room_loop_def *def, cm_room_loop **loop, char *error,
                                 size_t error_size);
void cm_room_loop_destroy(cm_room_loop *loop);

// Records from here on: to be called before the first step, if at all. On failure `error` says why.
typedef struct cm_room_record {
    cm_store *store;
    uint64_t match_id, started_unix_ms;
    uint32_t keyframe_s;       // between two keyframes
    const char *room;          // its name; NULL or "": none; kept by the caller
    const cm_live_match *live; // recorded in its own file, with its id; NULL: a new match
} cm_room_record;
carom_result cm_room_loop_record(cm_room_loop *loop, const cm_room_record *record, char *error,
                                 size_t error_size);

// What the record is told besides: who joined (the texts can be erased from it; `person` tells them
// again, after it went on in another file), how an input that
// the room took came, and one that it refused. Nothing where nothing is recorded.
void cm_room_loop_joined(cm_room_loop *loop, uint32_t player, uint64_t client_id, const char *name,
                         const char *address);
void cm_room_loop_person(cm_room_loop *loop, uint64_t client_id, const char *name,
                         const char *address);
void cm_room_loop_arrived(cm_room_loop *loop, uint32_t player, uint64_t tick, int64_t lead,
                          bool is_late, uint32_t cost);
void cm_room_loop_refused(cm_room_loop *loop, uint32_t player);

cm_room *cm_room_loop_room(const cm_room_loop *loop);
cm_match_handle cm_room_loop_match(const cm_room_loop *loop);
uint64_t cm_room_loop_recording(const cm_room_loop *loop); // id of the present file; 0: none
// The match is not durable any more, and it is time to try again (every few seconds, after what was
// confirmed last): recording goes on in a new file, which says where it comes from. `joins`: who is
// there after that tick, ascending players.
bool cm_room_loop_wants_to_go_on(const cm_room_loop *loop);
// False: not now.
bool cm_room_loop_go_on(cm_room_loop *loop, const cm_history_slot *slot, const cm_game_event *joins,
                        uint32_t count);
// How the match is kept, and the newest tick that is: what has an effect outside the server, and
// must not be taken back, waits for it.
carom_durability cm_room_loop_durable(cm_room_loop *loop, uint64_t *tick);

// Time at which a tick is due, us.
uint64_t cm_room_loop_due(const cm_room_loop *loop, uint64_t tick);
// A turn: begin, then step until it says false, or until others have waited for long enough. Each
// step makes the next tick if it is due; begin leaves a few due at the most.
void cm_room_loop_begin(cm_room_loop *loop, uint64_t now_us);
bool cm_room_loop_step(cm_room_loop *loop);
// The next confirmed tick, recorded, or NULL: to be asked for until NULL after each step. `all`: as
// in cm_room_confirm. Valid until the next step.
const cm_history_slot *cm_room_loop_confirm(cm_room_loop *loop, bool all);
// Ends the record; no tick may be confirmed after it.
void cm_room_loop_end(cm_room_loop *loop, cm_match_end end);

// Once a second, `passed_us` after the last time: means of the stages, warnings of what the world
// left out, and how fast the clock really ran. True where that rate is another than before.
bool cm_room_loop_second(cm_room_loop *loop, uint64_t passed_us, const cm_log *log);
uint32_t
cm_room_loop_rate_permille(const cm_room_loop *loop); // of the last second; 1000: no slower
void cm_room_loop_stats_get(const cm_room_loop *loop, cm_room_loop_stats *stats);

#endif
