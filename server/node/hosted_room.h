// A room as a process hosts it: its name, its loop, who is in it, what goes out, what it costs. A
// worker has many; a room knows of no other.
//
// Typical: 20 rooms of 4 to 16 players, 60 ticks a second of 0.2 to 1 ms each.
#ifndef CM_SERVER_NODE_HOSTED_ROOM_H
#define CM_SERVER_NODE_HOSTED_ROOM_H

#include "server/room/tick_times.h"
#include "server/replicate/publisher.h"
#include "server/room/room_loop.h"
#include "server/node/tick_budget.h"
#include "server/node/tick_watch.h"
#include "server/node/crash_marker.h"
#include "server/node/gallery.h"
#include "server/node/recorder.h"
#include "server/config/config.h"
#include "server/node/room_info.h"

typedef struct cm_hosted_room cm_hosted_room;

// The process gives one to all of its rooms.
typedef struct cm_room_host {
    cm_config config;
    cm_transport *transport;
    cm_store *store;                      // NULL: nothing is recorded
    cm_log log;                           // of events that a module emits
    uint64_t (*clock_us)(void *user);     // to measure ticks with; NULL: not measured
    uint64_t (*processor_us)(void *user); // what ticks cost; NULL: clock_us tells
    void *user;
    cm_crash_marker *crash_marker; // where modules' callbacks are marked; NULL: nowhere
    cm_tick_watch *tick_watch;     // of its rooms' ticks; NULL: none
} cm_room_host;

typedef struct cm_hosted_room_def {
    const cm_room_host *host;   // kept by the caller
    const char *name;           // copied; at most CAROM_ROOM_NAME_MAX bytes
    const cm_scene *scene;      // kept by the caller
    const carom_module *module; // NULL: the one built in that the scene names
    uint64_t seed;
    uint64_t match_id; // of its tickets, and of its first file
    // Its numbers; view_rate and budget_kbit 0: the scene's; empty_s: seconds of its ticks without
    // a player, after which it is over; 0: never.
    cm_room_spec spec;
    const cm_live_match *live; // to go on with; NULL: a new match
    uint64_t now_us;           // of tick 0, or of the last one of `live`
    uint64_t started_unix_ms;  // written into the match file
} cm_hosted_room_def;

typedef struct cm_hosted_room_stats {
    uint64_t tick, hash;
    double tick_ms_p50, tick_ms_p99;    // of the last seconds; 0 without a clock
    double stage_ms[CAROM_STAGE_COUNT]; // of the last second, means over the ticks stepped
    uint64_t cpu_us; // that ticks and their publishing took by the clock given, since the start
    uint32_t tick_permille; // processor time of a tick, of the time between two, over ten seconds
    bool is_slowed;         // it rests, for its ticks take more than their share
    uint64_t ticks_behind;  // ticks that the clock was slowed by
    uint64_t tick_sum_us, tick_buckets[CM_METRICS_BUCKETS]; // of all ticks (tick_times.h)
    uint64_t refused_inputs;                         // of its players, also of those who left
    uint64_t inputs_refused[CM_INPUT_VERDICT_COUNT]; // the same by verdict
    uint64_t seen_clamped;  // likewise: inputs whose claim of what was seen could not be true
    double kbit_per_client; // sent, all headers counted, mean over players, last second
    cm_room_stats room;
    cm_publisher_stats published;
    cm_gallery_stats gallery;
    carom_world_stats world;
} cm_hosted_room_stats;

// On failure nothing stays, and `error` says why.
carom_result cm_hosted_room_create(const cm_hosted_room_def *def, cm_hosted_room **room,
                                   char *error, size_t error_size);
// Nobody may be in it any more.
void cm_hosted_room_destroy(cm_hosted_room *room);

const char *cm_hosted_room_name(const cm_hosted_room *room);
const cm_scene *cm_hosted_room_scene(const cm_hosted_room *room);
// As it is now, but for `port`, `is_proved` and `is_default`, which others know; until the next
// call.
const cm_room_info *cm_hosted_room_info(cm_hosted_room *room);
cm_room *cm_hosted_room_room(const cm_hosted_room *room);
cm_roster *cm_hosted_room_roster(cm_hosted_room *room);
cm_roster *cm_hosted_room_gallery(cm_hosted_room *room); // its spectators; NULL: it takes none
cm_match_handle cm_hosted_room_match(const cm_hosted_room *room);
// Time at which its next tick is due, us; while it rests a tick's time from now.
uint64_t cm_hosted_room_due(const cm_hosted_room *room);

// A turn of the process: begin, then step while it says true. The first step of a turn makes a tick
// if one is due; further ones only while the turn's steps took less than the time of one tick, so
// that a room that is too slow does not take the time of the others.
void cm_hosted_room_begin(cm_hosted_room *room, uint64_t now_us, const cm_log *log);
bool cm_hosted_room_step(cm_hosted_room *room, cm_clients *clients);
// In each turn, before: what came since its last tick and does not wait for the next.
void cm_hosted_room_between(cm_hosted_room *room);
// It is to be closed, and steps no more: its module said so in a tick that is confirmed, or nobody
// was there for long enough.
bool cm_hosted_room_is_over(const cm_hosted_room *room);
// The id of the file that is recorded now; 0: none is.
uint64_t cm_hosted_room_recording(const cm_hosted_room *room);
// The module's last tick, if it wants one; confirms what is left and ends the record. No begin or
// step may follow. True, as below, where its last messages have gone; else they are asked for until
// then.
bool cm_hosted_room_end(cm_hosted_room *room, cm_match_end end);
// The same without an end: another process goes on with the match, from what is confirmed.
void cm_hosted_room_release(cm_hosted_room *room);
bool cm_hosted_room_sent_all(cm_hosted_room *room);
// So long after its end: spectators see the rest of it. False once all have.
bool cm_hosted_room_shows_rest(cm_hosted_room *room, cm_clients *clients, uint64_t passed_us);
// Once a second, `passed_us` after the last time: rates, alarms, and to the clients its clock.
void cm_hosted_room_second(cm_hosted_room *room, uint64_t passed_us, const cm_log *log);
// The cost of its ticks; to be asked after each second, and slowed or freed.
cm_tick_budget *cm_hosted_room_budget(cm_hosted_room *room);
// A pause of the process that it makes good for, us.
uint64_t cm_hosted_room_patience_us(const cm_hosted_room *room);

void cm_hosted_room_stats_get(const cm_hosted_room *room, cm_hosted_room_stats *stats);
// The same but for the percentiles of tick times, which are 0: they take most of the time.
void cm_hosted_room_counts_get(const cm_hosted_room *room, cm_hosted_room_stats *stats);

// Lists its players for the status and returns their number; up to `capacity` are filled in.
typedef struct cm_hosted_player {
    uint32_t player;
    uint64_t client_id;
    char name[CAROM_PLAYER_NAME_MAX + 1];
    uint32_t round_trip_ms;
    double kbit; // sent, all headers counted, last second
    float loss;  // share of its view packets that does not arrive, of the last seconds
    uint64_t late_inputs, refused_inputs, seen_clamped, rewound_ticks;
} cm_hosted_player;
uint32_t cm_hosted_room_players(const cm_hosted_room *room, cm_hosted_player *players,
                                uint32_t capacity);

// For oracles: the quantised body of a slot at a tick still in the history (false: not there).
bool cm_hosted_room_view_at(const cm_hosted_room *room, uint64_t tick, uint32_t slot,
                            bool with_velocity, cm_view_body *body);

#endif
