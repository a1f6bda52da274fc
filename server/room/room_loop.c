// The room's clock and its sinks. Typical: 60 ticks a second of 1 ms each; one tick confirmed a
// tick, some ten ticks behind the newest; one sink, the recorder.
#include "server/room/room_loop.h"
#include "server/room/input_timing.h"
#include "server/room/log_counters.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_US  1000000u
#define DEBT_TICKS 3u // and 20 ms of them
// A room that cannot keep its rate says so at once, and then at most as often.
#define CLOCK_LOG_US (60 * (uint64_t)SECOND_US)

struct cm_room_loop {
    cm_room *room;
    uint32_t tick_rate;
    cm_input_timing *timing;
    uint32_t sink_count;
    cm_sink sinks[CM_SINKS_MAX];
    uint64_t (*clock_us)(void *user);
    void *user;

    uint64_t origin_us, now_us;
    bool begun;                // its first tick was asked for
    uint64_t slowed_us;        // that the clock was moved by
    uint64_t slowed_before_us; // of that, before the present second
    uint32_t rate_permille;    // of the last second
    uint64_t log_rest_us;      // until the clock may be logged again
    uint32_t slow_seconds;     // since it was logged,
    uint32_t lowest_permille;  // and the lowest rate of them
    uint32_t logged_permille;
    cm_room_profile profile;  // at the begin of the present second
    cm_log_counters counters; // of what the world said
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
                        .tag = def->tag,
                        .image = def->image,
                        .image_size = def->image_size,
                        .tick = def->tick};
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
        carom_log said = cm_log_counters_log(&loop->counters);
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
    loop->clock_us = def->clock_us;
    loop->user = def->user;
    loop->origin_us = loop->now_us = def->now_us;
    loop->rate_permille = loop->lowest_permille = loop->logged_permille = 1000;
    carom_result result = open_room(loop, def, error, error_size);
    if (result == CAROM_OK) {
        // As far as the inbox reaches: back to what may be rewound, and a second ahead.
        loop->timing = cm_input_timing_create(cm_room_window(loop->room) + loop->tick_rate + 2);
        result = loop->timing != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
        snprintf(error, error_size, "%s", loop->timing != NULL ? "" : "out of memory");
    }
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
        cm_input_timing_destroy(loop->timing);
        cm_room_destroy(loop->room);
        free(loop);
    }
}

cm_room *cm_room_loop_room(const cm_room_loop *loop)
{
    return loop->room;
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

uint64_t cm_room_loop_patience_us(const cm_room_loop *loop)
{
    return debt_max(loop) * (uint64_t)SECOND_US / loop->tick_rate;
}

void cm_room_loop_begin(cm_room_loop *loop, uint64_t now_us)
{
    bool was_begun = loop->begun;
    loop->begun = true;
    loop->now_us = now_us > loop->now_us ? now_us : loop->now_us;
    uint64_t most = cm_room_tick(loop->room) + debt_max(loop);
    if (loop->now_us < cm_room_loop_due(loop, most + 1)) {
        return;
    }
    uint64_t behind_us = loop->now_us - cm_room_loop_due(loop, most);
    loop->origin_us += behind_us;
    if (!was_begun) {
        return; // other rooms were opened meanwhile: it is not slow
    }
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

// Sinks ----------------------------------------------------------------------------------------

bool cm_room_loop_add_sink(cm_room_loop *loop, const cm_sink *sink)
{
    if (loop->sink_count == CM_SINKS_MAX) {
        return false;
    }
    loop->sinks[loop->sink_count++] = *sink;
    return true;
}

void cm_room_loop_joined(cm_room_loop *loop, const cm_sink_player *player)
{
    for (uint32_t i = 0; i < loop->sink_count; i++) {
        const cm_sink *sink = &loop->sinks[i];
        if (sink->joined != NULL) {
            sink->joined(sink->context, player);
        }
    }
}

void cm_room_loop_arrived(cm_room_loop *loop, const cm_sink_input *input, int64_t lead)
{
    if (input->verdict <= CM_INPUT_LATE) {
        cm_input_timing_put(loop->timing, input->player, input->tick, lead, input->cost > 0);
    }
    for (uint32_t i = 0; i < loop->sink_count; i++) {
        const cm_sink *sink = &loop->sinks[i];
        if (sink->arrived != NULL) {
            sink->arrived(sink->context, input);
        }
    }
}

const cm_history_slot *cm_room_loop_confirm(cm_room_loop *loop, bool all)
{
    const cm_history_slot *slot = cm_room_confirm(loop->room, all);
    if (slot == NULL || loop->sink_count == 0) {
        return slot;
    }
    cm_arrival arrivals[CAROM_PLAYERS_MAX];
    cm_confirmed_tick tick = {
        .tick = slot->tick, .hash = slot->hash, .input = slot->input, .arrivals = arrivals};
    tick.arrival_count = cm_input_timing_of(loop->timing, slot->tick, arrivals);
    for (uint32_t i = 0; i < loop->sink_count; i++) {
        const cm_sink *sink = &loop->sinks[i];
        if (sink->confirmed != NULL) {
            sink->confirmed(sink->context, &tick);
        }
    }
    return slot;
}

void cm_room_loop_durable(cm_room_loop *loop, carom_durability durability, uint64_t tick)
{
    for (uint32_t i = 0; i < loop->sink_count; i++) {
        const cm_sink *sink = &loop->sinks[i];
        if (sink->durable != NULL) {
            sink->durable(sink->context, durability, tick);
        }
    }
}

void cm_room_loop_end(cm_room_loop *loop, cm_match_end end)
{
    for (uint32_t i = 0; i < loop->sink_count; i++) {
        const cm_sink *sink = &loop->sinks[i];
        if (sink->ended != NULL) {
            sink->ended(sink->context, end);
        }
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

// A line when it becomes slow, then one a minute while anything changes.
static void log_clock(cm_room_loop *loop, uint64_t passed_us, const cm_log *log)
{
    uint32_t permille = loop->rate_permille;
    loop->slow_seconds += permille < 1000;
    loop->lowest_permille = permille < loop->lowest_permille ? permille : loop->lowest_permille;
    loop->log_rest_us -= passed_us < loop->log_rest_us ? passed_us : loop->log_rest_us;
    if (loop->log_rest_us > 0 || (loop->slow_seconds == 0 && permille == loop->logged_permille)) {
        return;
    }
    cm_log_level level = loop->slow_seconds > 0 ? CM_LOG_WARNING : CM_LOG_INFO;
    cm_log_say(log, level, "room clock", CM_U("rate_permille", permille),
               CM_U("lowest_permille", loop->lowest_permille),
               CM_U("slow_seconds", loop->slow_seconds));
    loop->log_rest_us = CLOCK_LOG_US;
    loop->slow_seconds = 0;
    loop->lowest_permille = 1000;
    loop->logged_permille = permille;
}

bool cm_room_loop_second(cm_room_loop *loop, uint64_t passed_us, const cm_log *log)
{
    cm_log_counters_write(&loop->counters, log);
    count_stages(loop);

    uint64_t expected = passed_us * loop->tick_rate / SECOND_US;
    uint64_t slowed_us = loop->slowed_us - loop->slowed_before_us;
    uint64_t slowed = slowed_us * loop->tick_rate / SECOND_US;
    slowed = slowed < expected ? slowed : expected;
    uint32_t permille = expected > 0 ? (uint32_t)((expected - slowed) * 1000 / expected) : 1000;
    permille = permille > 0 ? permille : 1;
    loop->slowed_before_us = loop->slowed_us;
    bool changed = permille != loop->rate_permille;
    loop->rate_permille = permille;
    log_clock(loop, passed_us, log);
    return changed;
}

uint32_t cm_room_loop_rate_permille(const cm_room_loop *loop)
{
    return loop->rate_permille;
}

void cm_room_loop_stats_get(const cm_room_loop *loop, cm_room_loop_stats *stats)
{
    *stats = loop->stats;
}
