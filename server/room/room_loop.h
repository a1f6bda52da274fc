// A room and its time: which ticks are due, which are confirmed, who is told of them (sink.h). It
// makes one tick when asked; whoever hosts it publishes what came of it, and a process may host
// many.
//
// Tick n is due at origin + n / rate. Where the machine cannot keep up, and more than a few ticks
// are due at the begin of a turn, the origin moves: the room slows, says so in its numbers, and
// never runs after a past that gets longer. A function of the times given; the clock to measure
// with is given too.
#ifndef CM_SERVER_ROOM_ROOM_LOOP_H
#define CM_SERVER_ROOM_ROOM_LOOP_H

#include "server/ops/log.h"
#include "server/room/room.h"
#include "server/room/sink.h"

typedef struct cm_room_loop cm_room_loop;

typedef struct cm_room_loop_def {
    const cm_scene *scene;      // kept by the caller
    const carom_module *module; // NULL: the one built in that the scene names
    uint64_t seed;
    uint32_t max_players, rewind_ms;
    volatile uint32_t *mark; // as in cm_room_def
    uint32_t tag;
    const uint8_t *image; // of a game to go on with, after `tick` (cm_room_def); NULL: it begins
    size_t image_size;
    uint64_t tick;
    uint64_t now_us;                  // of that tick
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

// False: there are CM_SINKS_MAX. Added before the first step, or told nothing of what was before.
bool cm_room_loop_add_sink(cm_room_loop *loop, const cm_sink *sink);

// Reports to the sinks besides ticks. An input that was taken came `lead` 1/16 ticks before its
// tick was due, which the confirmed tick says too.
void cm_room_loop_joined(cm_room_loop *loop, const cm_sink_player *player);
void cm_room_loop_arrived(cm_room_loop *loop, const cm_sink_input *input, int64_t lead);
void cm_room_loop_durable(cm_room_loop *loop, carom_durability durability, uint64_t tick);

cm_room *cm_room_loop_room(const cm_room_loop *loop);

// A pause that it makes good for, us: of a longer one it loses ticks.
uint64_t cm_room_loop_patience_us(const cm_room_loop *loop);
// Time at which a tick is due, us.
uint64_t cm_room_loop_due(const cm_room_loop *loop, uint64_t tick);
// A turn: begin, then step until it says false, or until others have waited for long enough. Each
// step makes the next tick if it is due; begin leaves a few due at the most.
void cm_room_loop_begin(cm_room_loop *loop, uint64_t now_us);
bool cm_room_loop_step(cm_room_loop *loop);
// The next confirmed tick, told to the sinks, or NULL: to be asked for until NULL after each step.
// `all`: as in cm_room_confirm. Valid until the next step.
const cm_history_slot *cm_room_loop_confirm(cm_room_loop *loop, bool all);
// The match has ended; no tick may be confirmed after it.
void cm_room_loop_end(cm_room_loop *loop, cm_match_end end);

// Once a second, `passed_us` after the last time: means of the stages, warnings of what the world
// left out, and how fast the clock really ran. True where that rate is another than before.
bool cm_room_loop_second(cm_room_loop *loop, uint64_t passed_us, const cm_log *log);
uint32_t
cm_room_loop_rate_permille(const cm_room_loop *loop); // of the last second; 1000: no slower
void cm_room_loop_stats_get(const cm_room_loop *loop, cm_room_loop_stats *stats);

#endif
