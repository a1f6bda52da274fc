// Typical: one tick recorded a tick, some ten ticks behind the newest; a keyframe every 30 s.
#include "server/node/recorder.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/room/input_timing.h"
#include "shared/base/hash.h"

#define TRY_US 5000000u // between two tries to go on with a recording that failed

struct cm_recorder {
    cm_recorder_def def;
    cm_match_handle match;
    uint64_t origin; // of the match
    uint64_t now_us; // when it was asked last
    uint64_t try_us; // when a recording that failed goes on; 0: it has not failed
    cm_input_counts counts;
};

static cm_match_def match_def(const cm_recorder *r)
{
    const carom_game *game = cm_room_game(r->def.room);
    const carom_module *module = cm_game_module(game);
    return (cm_match_def){.scene = r->def.scene,
                          .rules = module,
                          .module = module->name,
                          .module_version = module->version,
                          .seed = cm_game_seed(game),
                          .started_unix_ms = r->def.started_unix_ms,
                          .room = r->def.name,
                          .opened = r->def.opened};
}

// Counts of players who were there go on.
static carom_result resume(cm_recorder *r)
{
    const cm_live_match *live = r->def.live;
    for (uint32_t i = 0; i < live->player_count; i++) {
        cm_input_counts_go_on(&r->counts, &live->players[i].statistics);
    }
    r->origin = live->info.origin != 0 ? live->info.origin : r->origin;
    return cm_store_resume(r->def.store, r->def.match_id, live->info.ticks, live->known, &r->match);
}

static carom_result begin(cm_recorder *r)
{
    cm_match_def def = match_def(r);
    def.match_id = r->def.match_id;
    carom_result result = cm_store_begin(r->def.store, &def, &r->match);
    if (result == CAROM_OK) {
        cm_tick_input none = {NULL, 0, NULL, 0};
        cm_store_tick(r->def.store, r->match, 0, cm_room_hash(r->def.room), &none);
    }
    return result;
}

carom_result cm_recorder_create(const cm_recorder_def *def, cm_recorder **out, char *error,
                                size_t error_size)
{
    *out = NULL;
    cm_recorder *r = calloc(1, sizeof *r);
    if (r == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    r->def = *def;
    r->origin = def->match_id;
    carom_result result = def->live != NULL ? resume(r) : begin(r);
    r->def.live = NULL; // its caller frees it
    if (result != CAROM_OK) {
        const char *reason = cm_store_begin_error(def->store); // with the file's path
        snprintf(error, error_size, "the match file could not be made: %s",
                 reason[0] != '\0' ? reason : carom_result_text(result));
        cm_recorder_destroy(r);
        return result;
    }
    if (def->is_streamed) {
        cm_store_stream(def->store, r->match, def->stream_delay);
    }
    *out = r;
    return CAROM_OK;
}

void cm_recorder_destroy(cm_recorder *r)
{
    free(r);
}

// The sink -----------------------------------------------------------------------------------

void cm_recorder_person(cm_recorder *r, const cm_sink_player *player)
{
    cm_store_personal(r->def.store, r->match, player->client_id, "name", player->name);
    cm_store_personal(r->def.store, r->match, player->client_id, "address", player->address);
}

static void joined(void *context, const cm_sink_player *player)
{
    cm_recorder *r = context;
    cm_input_counts_open(&r->counts, player->player);
    cm_recorder_person(r, player);
}

static void arrived(void *context, const cm_sink_input *input)
{
    cm_recorder *r = context;
    cm_input_counts_add(&r->counts, input);
}

static void record_keyframe(cm_recorder *r, uint64_t tick)
{
    cm_player_statistics rows[CAROM_PLAYERS_MAX];
    uint32_t count = cm_input_counts_list(&r->counts, rows);
    cm_store_statistics(r->def.store, r->match, rows, count);
    size_t size;
    const uint8_t *keyframe = cm_room_encode(r->def.room, tick, &size);
    if (keyframe != NULL) {
        cm_store_keyframe(r->def.store, r->match, tick, keyframe, size);
    }
}

static void confirmed(void *context, const cm_confirmed_tick *tick)
{
    cm_recorder *r = context;
    cm_store_input_timing(r->def.store, r->match, tick->arrivals, tick->arrival_count);
    cm_store_tick(r->def.store, r->match, tick->tick, tick->hash, &tick->input);
    if (tick->tick % ((uint64_t)r->def.keyframe_s * cm_room_tick_rate(r->def.room)) == 0) {
        record_keyframe(r, tick->tick);
    }
}

static void ended(void *context, cm_match_end how)
{
    cm_recorder *r = context;
    cm_store_end(r->def.store, r->match, how);
}

cm_sink cm_recorder_sink(cm_recorder *r)
{
    return (cm_sink){
        .context = r, .joined = joined, .arrived = arrived, .confirmed = confirmed, .ended = ended};
}

// The file -----------------------------------------------------------------------------------

cm_match_handle cm_recorder_match(const cm_recorder *r)
{
    return r->match;
}

uint64_t cm_recorder_file(const cm_recorder *r)
{
    cm_match_status status;
    cm_store_status(r->def.store, r->match, &status);
    return status.match_id;
}

carom_durability cm_recorder_durable(cm_recorder *r, uint64_t now_us, uint64_t *tick)
{
    cm_match_status status;
    cm_store_status(r->def.store, r->match, &status);
    *tick = status.committed_tick;
    r->now_us = now_us > r->now_us ? now_us : r->now_us;
    r->try_us = status.durable ? 0 : r->try_us == 0 ? r->now_us + TRY_US : r->try_us;
    return !status.durable ? CAROM_DURABILITY_LOST
           : status.power  ? CAROM_DURABILITY_POWER
                           : CAROM_DURABILITY_PROCESS;
}

bool cm_recorder_wants_to_go_on(const cm_recorder *r)
{
    return r->try_us > 0 && r->now_us >= r->try_us;
}

bool cm_recorder_go_on(cm_recorder *r, uint64_t tick, uint64_t hash, const cm_game_event *joins,
                       uint32_t count)
{
    size_t size;
    cm_match_status status;
    cm_hash id = cm_hash_begin(r->origin);
    cm_hash_u64(&id, tick);
    r->try_us = r->now_us + TRY_US;
    const uint8_t *keyframe = cm_room_encode(r->def.room, tick, &size);
    if (keyframe == NULL) {
        return false;
    }
    cm_store_status(r->def.store, r->match, &status);
    cm_match_def def = match_def(r);
    def.match_id = cm_hash_end(&id);
    def.parent = status.match_id;
    def.origin = r->origin;
    def.gap_to = tick;
    return cm_store_go_on(r->def.store, r->match, &def, hash, keyframe, size, joins, count) ==
           CAROM_OK;
}
