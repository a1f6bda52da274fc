// The room's clock and its record. Typical: 60 ticks a second of 1 ms each; one tick recorded a
// tick, some ten ticks behind the newest; a keyframe every 30 s.
#include "server/room/room_loop.h"
#include "server/room/log_counters.h"

#include <stdio.h>
#include <stdlib.h>

#include "shared/base/assert.h"
#include "shared/base/hash.h"

#define SECOND_US  1000000u
#define DEBT_TICKS 3u       // and 20 ms of them
#define TRY_US     5000000u // between two tries to go on with a recording that failed

struct cm_room_loop {
    cm_room *room;
    const cm_scene *scene;
    uint64_t seed;
    uint32_t tick_rate, keyframe_s;
    cm_store *store; // NULL: not recorded
    cm_match_handle match;
    uint64_t origin, started_unix_ms; // of the match
    const char *name;                 // of the room; NULL or "": none
    uint64_t try_us;                  // when a recording that failed goes on; 0: it has not failed
    cm_arrivals *arrivals;            // NULL: not recorded
    uint64_t (*clock_us)(void *user);
    void *user;

    uint64_t origin_us, now_us;
    uint64_t slowed_us;        // that the clock was moved by
    uint64_t slowed_before_us; // of that, before the present second
    uint32_t rate_permille;    // of the last second
    cm_room_profile profile;   // at the begin of the present second
    cm_tally tally;            // of what the world said
    cm_room_loop_stats stats;
};

static double seconds_now(void *context)
{
    const cm_room_loop *loop = context;
    return 1e-6 * (double)loop->clock_us(loop->user);
}

static carom_result open_room(cm_room_loop *loop, const cm_room_loop_def *def, char *error,
                              size_t error_size)
{
    cm_room_def room = {.scene = def->scene,
                        .seed = def->seed,
                        .rewind_ms = def->rewind_ms,
                        .max_players = def->max_players,
                        .module = def->module,
                        .mark = def->mark,
                        .tag = def->tag};
    if (def->live != NULL) {
        room.seed = def->live->info.seed;
        room.image = def->live->image;
        room.image_size = def->live->image_size;
        room.tick = def->live->info.ticks;
    }
    carom_result result = cm_room_create(&room, &loop->room);
    if (result == CAROM_ERROR_NOT_FOUND) {
        snprintf(error, error_size, "the scene wants module '%s', which is not built in",
                 cm_scene_module(def->scene));
    } else if (result == CAROM_ERROR_LIMIT_SIZE) {
        snprintf(error, error_size,
                 "rewind_ms: %u ms of this scene's states at $.tick_rate are more than the %u MiB "
                 "that a history may take, expected fewer ms, or smaller $.limits",
                 (unsigned)def->rewind_ms, (unsigned)(CM_HISTORY_BYTES_MAX >> 20));
    } else if (result != CAROM_OK) {
        snprintf(error, error_size, "the scene could not be built: %s", carom_result_text(result));
    } else {
        loop->tick_rate = cm_room_tick_rate(loop->room);
        // So that its tick is due now. It may be before the clock began: only differences count.
        loop->origin_us -= cm_room_loop_due(loop, cm_room_tick(loop->room)) - loop->origin_us;
        if (loop->clock_us != NULL) {
            cm_room_set_clock(loop->room, seconds_now, loop);
        }
        carom_log said = cm_tally_log(&loop->tally);
        cm_room_set_log(loop->room, &said);
    }
    return result;
}

carom_result cm_room_loop_create(const cm_room_loop_def *def, cm_room_loop **out, char *error,
                                 size_t error_size)
{
    *out = NULL;
    cm_room_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    loop->scene = def->scene;
    loop->seed = def->live != NULL ? def->live->info.seed : def->seed;
    loop->clock_us = def->clock_us;
    loop->user = def->user;
    loop->origin_us = loop->now_us = def->now_us;
    loop->rate_permille = 1000;
    carom_result result = open_room(loop, def, error, error_size);
    if (result != CAROM_OK) {
        cm_room_loop_destroy(loop);
        return result;
    }
    *out = loop;
    return CAROM_OK;
}

void cm_room_loop_destroy(cm_room_loop *loop)
{
    if (loop != NULL) {
        cm_arrivals_destroy(loop->arrivals);
        cm_room_destroy(loop->room);
        free(loop);
    }
}

cm_room *cm_room_loop_room(const cm_room_loop *loop)
{
    return loop->room;
}

cm_match_handle cm_room_loop_match(const cm_room_loop *loop)
{
    return loop->match;
}

uint64_t cm_room_loop_recording(const cm_room_loop *loop)
{
    cm_match_status status = {.match_id = 0};
    if (loop->store != NULL) {
        cm_store_status(loop->store, loop->match, &status);
    }
    return status.match_id;
}

// Time -----------------------------------------------------------------------------------------

uint64_t cm_room_loop_due(const cm_room_loop *loop, uint64_t tick)
{
    // In whole seconds and a rest, so that it is exact and never overflows.
    uint64_t seconds = tick / loop->tick_rate;
    return loop->origin_us + seconds * SECOND_US +
           tick % loop->tick_rate * SECOND_US / loop->tick_rate;
}

// Ticks that may be due at once: they make good for a short pause, at any rate.
static uint32_t debt_max(const cm_room_loop *loop)
{
    return DEBT_TICKS + loop->tick_rate / 50;
}

void cm_room_loop_begin(cm_room_loop *loop, uint64_t now_us)
{
    loop->now_us = now_us > loop->now_us ? now_us : loop->now_us;
    uint64_t most = cm_room_tick(loop->room) + debt_max(loop);
    if (loop->now_us < cm_room_loop_due(loop, most + 1)) {
        return;
    }
    uint64_t behind_us = loop->now_us - cm_room_loop_due(loop, most);
    loop->origin_us += behind_us;
    loop->slowed_us += behind_us;
    loop->stats.ticks_behind = loop->slowed_us * loop->tick_rate / SECOND_US;
}

bool cm_room_loop_step(cm_room_loop *loop)
{
    if (loop->now_us < cm_room_loop_due(loop, cm_room_tick(loop->room) + 1)) {
        return false;
    }
    cm_room_frame(loop->room);
    return true;
}

// Recording ------------------------------------------------------------------------------------

// Counts of players who were there go on.
static carom_result resume_record(cm_room_loop *loop, const cm_room_record *record)
{
    const cm_live_match *live = record->live;
    for (uint32_t i = 0; i < live->player_count; i++) {
        cm_arrivals_go_on(loop->arrivals, &live->players[i].statistics);
    }
    return cm_store_resume(record->store, record->match_id, live->info.ticks, live->known,
                           &loop->match);
}

static cm_match_def match_def(const cm_room_loop *loop)
{
    const carom_module *module = cm_game_module(cm_room_game(loop->room));
    return (cm_match_def){.scene = loop->scene,
                          .rules = module,
                          .module = module->name,
                          .module_version = module->version,
                          .seed = loop->seed,
                          .started_unix_ms = loop->started_unix_ms,
                          .room = loop->name};
}

carom_result cm_room_loop_record(cm_room_loop *loop, const cm_room_record *record, char *error,
                                 size_t error_size)
{
    CM_ASSERT(loop->store == NULL &&
              cm_room_tick(loop->room) == (record->live != NULL ? record->live->info.ticks : 0));
    loop->started_unix_ms = record->started_unix_ms;
    loop->name = record->room;
    cm_match_def def = match_def(loop);
    def.match_id = record->match_id;
    // As far as the inbox reaches: back to what may be rewound, and a second ahead.
    loop->arrivals = cm_arrivals_create(cm_room_window(loop->room) + loop->tick_rate + 2);
    if (loop->arrivals == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    carom_result result = record->live != NULL ? resume_record(loop, record)
                                               : cm_store_begin(record->store, &def, &loop->match);
    if (result != CAROM_OK) {
        const char *reason = cm_store_begin_error(record->store); // with the file's path
        snprintf(error, error_size, "the match file could not be made: %s",
                 reason[0] != '\0' ? reason : carom_result_text(result));
        return result;
    }
    loop->store = record->store;
    loop->keyframe_s = record->keyframe_s;
    loop->origin = record->match_id;
    if (record->live != NULL && record->live->info.origin != 0) {
        loop->origin = record->live->info.origin;
    }
    if (record->live == NULL) {
        cm_tick_input none = {NULL, 0, NULL, 0};
        cm_store_tick(loop->store, loop->match, 0, cm_room_hash(loop->room), &none);
    }
    return CAROM_OK;
}

static void record_keyframe(cm_room_loop *loop, uint64_t tick)
{
    cm_player_statistics rows[CAROM_PLAYERS_MAX];
    uint32_t count = cm_arrivals_statistics(loop->arrivals, rows);
    cm_store_statistics(loop->store, loop->match, rows, count);
    size_t size;
    const uint8_t *keyframe = cm_room_encode(loop->room, tick, &size);
    if (keyframe != NULL) {
        cm_store_keyframe(loop->store, loop->match, tick, keyframe, size);
    }
}

const cm_history_slot *cm_room_loop_confirm(cm_room_loop *loop, bool all)
{
    const cm_history_slot *slot = cm_room_confirm(loop->room, all);
    if (slot == NULL || loop->store == NULL) {
        return slot;
    }
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
    uint32_t count = cm_arrivals_of(loop->arrivals, slot->tick, arrivals);
    cm_tick_input input = slot->input;
    cm_store_arrivals(loop->store, loop->match, arrivals, count);
    cm_store_tick(loop->store, loop->match, slot->tick, slot->hash, &input);
    if (slot->tick % ((uint64_t)loop->keyframe_s * loop->tick_rate) == 0) {
        record_keyframe(loop, slot->tick);
    }
    return slot;
}

bool cm_room_loop_wants_to_go_on(const cm_room_loop *loop)
{
    return loop->try_us > 0 && loop->now_us >= loop->try_us;
}

bool cm_room_loop_go_on(cm_room_loop *loop, const cm_history_slot *slot, const cm_game_event *joins,
                        uint32_t count)
{
    size_t size;
    cm_match_status status;
    cm_hash id = cm_hash_begin(loop->origin);
    cm_hash_u64(&id, slot->tick);
    loop->try_us = loop->now_us + TRY_US;
    const uint8_t *keyframe = cm_room_encode(loop->room, slot->tick, &size);
    if (keyframe == NULL) {
        return false;
    }
    cm_store_status(loop->store, loop->match, &status);
    cm_match_def def = match_def(loop);
    def.match_id = cm_hash_end(&id);
    def.parent = status.match_id;
    def.origin = loop->origin;
    def.gap_to = slot->tick;
    return cm_store_go_on(loop->store, loop->match, &def, slot->hash, keyframe, size, joins,
                          count) == CAROM_OK;
}

void cm_room_loop_joined(cm_room_loop *loop, uint32_t player, uint64_t client_id, const char *name,
                         const char *address)
{
    if (loop->store != NULL) {
        cm_arrivals_open(loop->arrivals, player);
        cm_room_loop_person(loop, client_id, name, address);
    }
}

void cm_room_loop_person(cm_room_loop *loop, uint64_t client_id, const char *name,
                         const char *address)
{
    cm_store_personal(loop->store, loop->match, client_id, "name", name);
    cm_store_personal(loop->store, loop->match, client_id, "address", address);
}

void cm_room_loop_arrived(cm_room_loop *loop, uint32_t player, uint64_t tick, int64_t lead,
                          bool is_late, uint32_t cost)
{
    if (loop->store != NULL) {
        cm_arrivals_put(loop->arrivals, player, tick, lead, is_late, cost);
    }
}

void cm_room_loop_refused(cm_room_loop *loop, uint32_t player)
{
    if (loop->store != NULL) {
        cm_arrivals_refused(loop->arrivals, player);
    }
}

carom_durability cm_room_loop_durable(cm_room_loop *loop, uint64_t *tick)
{
    *tick = 0;
    if (loop->store == NULL) {
        return CAROM_DURABILITY_NONE;
    }
    cm_match_status status;
    cm_store_status(loop->store, loop->match, &status);
    *tick = status.committed_tick;
    loop->try_us = status.durable ? 0 : loop->try_us == 0 ? loop->now_us + TRY_US : loop->try_us;
    return !status.durable ? CAROM_DURABILITY_LOST
           : status.power  ? CAROM_DURABILITY_POWER
                           : CAROM_DURABILITY_PROCESS;
}

void cm_room_loop_end(cm_room_loop *loop, cm_match_end end)
{
    if (loop->store != NULL) {
        cm_store_end(loop->store, loop->match, end);
    }
}

// Numbers --------------------------------------------------------------------------------------

// Means of the second's ticks; of a second without any they stay.
static void count_stages(cm_room_loop *loop)
{
    cm_room_profile now;
    cm_room_profile_get(loop->room, &now);
    if (now.ticks == loop->profile.ticks) {
        return;
    }
    double scale = 1e3 / (double)(now.ticks - loop->profile.ticks);
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; i++) {
        loop->stats.stage_ms[i] = scale * (now.stage_s[i] - loop->profile.stage_s[i]);
    }
    loop->profile = now;
}

bool cm_room_loop_second(cm_room_loop *loop, uint64_t passed_us, const cm_log *log)
{
    cm_tally_write(&loop->tally, log);
    count_stages(loop);

    uint64_t expected = passed_us * loop->tick_rate / SECOND_US;
    uint64_t slowed_us = loop->slowed_us - loop->slowed_before_us;
    uint64_t slowed = slowed_us * loop->tick_rate / SECOND_US;
    slowed = slowed < expected ? slowed : expected;
    uint32_t permille = expected > 0 ? (uint32_t)((expected - slowed) * 1000 / expected) : 1000;
    permille = permille > 0 ? permille : 1;
    loop->slowed_before_us = loop->slowed_us;
    if (permille == loop->rate_permille) {
        return false;
    }
    loop->rate_permille = permille;
    cm_log_level level = permille < 1000 ? CM_LOG_WARNING : CM_LOG_INFO;
    cm_line line;
    cm_line_log(&line, level, "room clock");
    cm_line_uint(&line, "rate_permille", permille);
    cm_log_write(log, level, &line);
    return true;
}

uint32_t cm_room_loop_rate_permille(const cm_room_loop *loop)
{
    return loop->rate_permille;
}

void cm_room_loop_stats_get(const cm_room_loop *loop, cm_room_loop_stats *stats)
{
    *stats = loop->stats;
}
