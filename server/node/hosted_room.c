// One room's turn: what is due is stepped, what is confirmed is said, what is new is published.
#include "server/node/hosted_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/bytes.h"

struct cm_hosted_room {
    cm_room_info info;
    const cm_scene *scene;
    const cm_room_host *host;
    cm_room_loop *loop;
    cm_recorder *recorder; // NULL: nothing is recorded
    uint64_t now_us;       // of the present turn
    cm_roster roster;
    cm_publisher *publisher;
    cm_gallery *gallery;   // NULL: it takes no spectators
    cm_tick_times metrics; // of its ticks, publishing included
    uint64_t cpu_us;
    cm_tick_budget budget;
    uint64_t turn_us, turn_steps; // of the present turn
    uint32_t tag;                 // of its marks in the host's crash marker; 0: none
    bool ended;
    bool closed;                          // by its module
    uint64_t empty_ticks;                 // after which it is over; 0: never
    uint64_t busy_tick;                   // the last one with a player
    uint64_t messages[CAROM_PLAYERS_MAX]; // of each, in confirmed ticks since its join
    uint64_t
        kicked_tick[CAROM_PLAYERS_MAX]; // confirmed, by which the module kicked it; 0: it did not
};

// Making ---------------------------------------------------------------------------------------

// The process's log, in the name of the room.
static cm_log log_of(const cm_hosted_room *room, const cm_log *log)
{
    cm_log own = *log;
    own.room = room->info.name;
    return own;
}

static carom_result open_loop(cm_hosted_room *room, const cm_hosted_room_def *def, char *error,
                              size_t error_size)
{
    const cm_room_host *host = room->host;
    cm_room_loop_def loop = {.scene = def->scene,
                             .module = def->module,
                             .seed = def->seed,
                             .max_players = def->spec.max_players,
                             .rewind_ms = (uint32_t)host->config.rewind_ms,
                             .mark = room->tag != 0 ? &host->crash_marker->mark : NULL,
                             .tag = room->tag,
                             .now_us = def->now_us,
                             .clock_us = host->clock_us,
                             .user = host->user};
    if (def->live != NULL) {
        loop.seed = def->live->info.seed;
        loop.image = def->live->image;
        loop.image_size = def->live->image_size;
        loop.tick = def->live->info.ticks;
    }
    if (host->tick_watch != NULL) {
        cm_tick_watch_make(host->tick_watch);
    }
    carom_result result = cm_room_loop_create(&loop, &room->loop, error, error_size);
    if (host->tick_watch != NULL) {
        cm_tick_watch_rest(host->tick_watch);
    }
    if (result == CAROM_OK) {
        cm_roster_init(&room->roster, room->loop, (uint32_t)host->config.input_rate);
        room->roster.name = room->info.name;
        room->roster.match_id = def->match_id;
        room->roster.grace_ms = (uint32_t)host->config.grace_ms;
        for (uint32_t i = 0; def->live != NULL && i < def->live->player_count; i++) {
            const cm_live_player *player = &def->live->players[i];
            cm_roster_return back = {.player = player->player,
                                     .client_id = player->client_id,
                                     .join_tick = player->join_tick,
                                     .messages = player->messages,
                                     .name = player->name,
                                     .address = player->address};
            cm_roster_expect(&room->roster, &back, def->now_us);
            room->messages[player->player] = player->messages;
        }
    }
    return result;
}

static cm_publisher_def publisher_def(const cm_hosted_room *room, const cm_hosted_room_def *def)
{
    return (cm_publisher_def){.transport = room->host->transport,
                              .scene = def->scene,
                              .view_rate = def->spec.view_rate,
                              .budget_kbit = def->spec.budget_kbit,
                              .input_rate = room->roster.input_rate,
                              .rewind_ms = (uint32_t)room->host->config.rewind_ms};
}

static carom_result open_publisher(cm_hosted_room *room, const cm_hosted_room_def *def, char *error,
                                   size_t error_size)
{
    const cm_publisher_def publisher = publisher_def(room, def);
    return cm_publisher_create(&publisher, cm_room_loop_room(room->loop), &room->publisher, error,
                               error_size);
}

static void send_durable(void *context, carom_durability durability, uint64_t tick)
{
    cm_hosted_room *room = context;
    room->roster.safe_tick = durability == CAROM_DURABILITY_NONE ? UINT64_MAX : tick;
    cm_publisher_durable(room->publisher, durability, tick, &room->roster);
}

static carom_result open_gallery(cm_hosted_room *room, const cm_hosted_room_def *def, char *error,
                                 size_t error_size)
{
    if (def->spec.spectators == 0) {
        return CAROM_OK;
    }
    const cm_gallery_def gallery = {
        .loop = room->loop,
        .room = {.scene = def->scene,
                 .module = def->module,
                 .seed = def->live != NULL ? def->live->info.seed : def->seed,
                 .max_players = def->spec.max_players,
                 .mark = room->tag != 0 ? &room->host->crash_marker->mark : NULL,
                 .tag = room->tag,
                 .now_us = def->now_us},
        .publisher = publisher_def(room, def),
        .seats = def->spec.spectators,
        .delay_s = def->spec.spectator_delay_s,
        .match_id = def->match_id,
        .name = room->info.name,
        .watch = &room->roster,
        .log = log_of(room, &room->host->log)};
    room->gallery = cm_gallery_create(&gallery);
    if (room->gallery == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    const cm_sink sink = cm_gallery_sink(room->gallery);
    bool added = cm_room_loop_add_sink(room->loop, &sink);
    CM_ASSERT(added);
    return CAROM_OK;
}

// Everybody may watch, but of a room that keeps its players' inputs from each other only the end.
static void choose_stream(const cm_hosted_room *room, const cm_hosted_room_def *def,
                          cm_recorder_def *recorder)
{
    uint64_t delay_s = def->spec.stream_delay_s;
    cm_scene_replication replication;
    cm_scene_replication_get(def->scene, &replication);
    recorder->is_streamed = delay_s > 0;
    recorder->stream_delay = !replication.relay
                                 ? UINT64_MAX
                                 : delay_s * cm_room_tick_rate(cm_room_loop_room(room->loop));
}

// The room itself, and its recorder.
static carom_result open_sinks(cm_hosted_room *room, const cm_hosted_room_def *def, char *error,
                               size_t error_size)
{
    const cm_sink own = {.context = room, .durable = send_durable};
    bool added = cm_room_loop_add_sink(room->loop, &own);
    CM_ASSERT(added);
    if (room->host->store == NULL) {
        return CAROM_OK;
    }
    cm_recorder_def recorder = {.store = room->host->store,
                                .room = cm_room_loop_room(room->loop),
                                .scene = def->scene,
                                .match_id =
                                    def->live != NULL ? def->live->info.match_id : def->match_id,
                                .started_unix_ms = def->started_unix_ms,
                                .keyframe_s = (uint32_t)room->host->config.keyframe_s,
                                .name = room->info.name,
                                .live = def->live};
    choose_stream(room, def, &recorder);
    memcpy(recorder.opened, def->spec.opened, sizeof recorder.opened);
    carom_result result = cm_recorder_create(&recorder, &room->recorder, error, error_size);
    if (result == CAROM_OK) {
        const cm_sink sink = cm_recorder_sink(room->recorder);
        added = cm_room_loop_add_sink(room->loop, &sink);
        CM_ASSERT(added);
    }
    return result;
}

carom_result cm_hosted_room_create(const cm_hosted_room_def *def, cm_hosted_room **out, char *error,
                                   size_t error_size)
{
    *out = NULL;
    cm_hosted_room *room = calloc(1, sizeof *room);
    if (room == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    snprintf(room->info.name, sizeof room->info.name, "%s", def->name);
    snprintf(room->info.scene, sizeof room->info.scene, "%s", cm_scene_name(def->scene));
    room->scene = def->scene;
    room->host = def->host;
    room->info.max_players = def->spec.max_players;
    room->tag = cm_crash_marker_read(def->host->crash_marker, def->name, cm_scene_name(def->scene));
    carom_result result = open_loop(room, def, error, error_size);
    if (result == CAROM_OK) {
        result = open_publisher(room, def, error, error_size);
    }
    if (result == CAROM_OK) {
        result = open_sinks(room, def, error, error_size);
    }
    if (result == CAROM_OK) {
        result = open_gallery(room, def, error, error_size);
    }
    if (result != CAROM_OK) {
        cm_hosted_room_destroy(room);
        return result;
    }
    const cm_room *inner = cm_hosted_room_room(room);
    room->info.tick_rate = cm_room_tick_rate(inner);
    snprintf(room->info.module, sizeof room->info.module, "%s",
             cm_game_module(cm_room_game(inner))->name);
    cm_tick_budget_init(&room->budget, room->info.tick_rate,
                        (uint32_t)def->host->config.tick_budget_percent);
    room->busy_tick = cm_room_tick(inner);
    room->empty_ticks = (uint64_t)def->spec.empty_s * room->info.tick_rate;
    *out = room;
    return CAROM_OK;
}

void cm_hosted_room_destroy(cm_hosted_room *room)
{
    if (room != NULL) {
        cm_crash_marker_release(room->host->crash_marker, room->tag);
        cm_gallery_destroy(room->gallery);
        cm_publisher_destroy(room->publisher);
        cm_recorder_destroy(room->recorder);
        cm_room_loop_destroy(room->loop);
        free(room);
    }
}

const char *cm_hosted_room_name(const cm_hosted_room *room)
{
    return room->info.name;
}

const cm_scene *cm_hosted_room_scene(const cm_hosted_room *room)
{
    return room->scene;
}

const cm_room_info *cm_hosted_room_info(cm_hosted_room *room)
{
    room->info.players = cm_hosted_room_players(room, NULL, 0);
    cm_gallery_stats gallery = {.spectators = 0};
    if (room->gallery != NULL) {
        cm_gallery_stats_get(room->gallery, &gallery);
    }
    room->info.spectators = gallery.spectators;
    room->info.match_id = cm_hosted_room_recording(room);
    room->info.first_id = room->roster.match_id;
    return &room->info;
}

cm_room *cm_hosted_room_room(const cm_hosted_room *room)
{
    return cm_room_loop_room(room->loop);
}

cm_roster *cm_hosted_room_roster(cm_hosted_room *room)
{
    return &room->roster;
}

cm_roster *cm_hosted_room_gallery(cm_hosted_room *room)
{
    return room->gallery != NULL ? cm_gallery_roster(room->gallery) : NULL;
}

cm_match_handle cm_hosted_room_match(const cm_hosted_room *room)
{
    return room->recorder != NULL ? cm_recorder_match(room->recorder) : 0;
}

uint64_t cm_hosted_room_due(const cm_hosted_room *room)
{
    uint64_t due = cm_room_loop_due(room->loop, cm_room_tick(cm_hosted_room_room(room)) + 1);
    if (cm_tick_budget_rests(&room->budget, room->now_us)) {
        uint64_t look = room->now_us + room->budget.period_us, rest = room->budget.rest_us;
        look = rest < look ? rest : look; // its slots have their time meanwhile
        due = due > look ? due : look;
    }
    return due;
}

// Its turn -------------------------------------------------------------------------------------

static uint64_t read_clock(const cm_hosted_room *room)
{
    return room->host->clock_us != NULL ? room->host->clock_us(room->host->user) : 0;
}

static uint64_t read_processor(const cm_hosted_room *room)
{
    const cm_room_host *host = room->host;
    return host->processor_us != NULL ? host->processor_us(host->user) : read_clock(room);
}

// Messages of each player up to the tick that is confirmed, since the join: what its slot has to
// know again where a recording goes on from here.
static void count_messages(cm_hosted_room *room, const cm_history_slot *slot)
{
    cm_tick_input input = slot->input;
    for (uint32_t i = 0; i < input.event_count; i++) {
        uint64_t *count = &room->messages[input.events[i].player];
        *count = input.events[i].type == CM_EVENT_JOIN ? 0 : *count;
        *count += input.events[i].type == CM_EVENT_MESSAGE;
    }
}

// Writes the players after a confirmed tick as joins of it; false where somebody who was there has
// given it back since, so that another tick has to be taken.
static bool list_joins(const cm_hosted_room *room, uint64_t tick,
                       cm_game_event joins[CAROM_PLAYERS_MAX],
                       uint8_t counts[CAROM_PLAYERS_MAX][CM_RECORD_JOIN_BYTES], uint32_t *count)
{
    const carom_game *game = cm_room_game_at(cm_hosted_room_room(room), tick);
    *count = 0;
    for (uint32_t player = 0; game != NULL && player < CAROM_PLAYERS_MAX; player++) {
        const cm_session *session = cm_roster_session(&room->roster, player);
        bool has_slot = session != NULL && session->join_tick <= tick;
        if (has_slot != cm_game_has_slot(game, player)) {
            return false;
        }
        if (has_slot) {
            cm_byte_writer writer = cm_byte_writer_make(counts[*count], CM_RECORD_JOIN_BYTES);
            cm_put_u64(&writer, room->messages[player]);
            joins[*count] = (cm_game_event){.type = CM_EVENT_JOIN,
                                            .player = player,
                                            .client_id = session->client_id,
                                            .bytes = counts[*count],
                                            .size = CM_RECORD_JOIN_BYTES};
            (*count)++;
        }
    }
    return game != NULL;
}

// Their names and addresses are in the file before.
static void tell_persons(cm_hosted_room *room, const cm_game_event *joins, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const cm_client *member = room->roster.members[joins[i].player];
        char address[CM_ADDRESS_TEXT_MAX] = "";
        if (member != NULL) {
            const cm_transport_status status =
                cm_transport_status_of(room->host->transport, member->connection);
            cm_address_write(&status.address, address);
        }
        const cm_sink_player player = {.player = joins[i].player,
                                       .client_id = joins[i].client_id,
                                       .name =
                                           cm_roster_session(&room->roster, joins[i].player)->name,
                                       .address = address};
        cm_recorder_person(room->recorder, &player);
    }
}

// A recording that failed goes on in another file, from a tick that is settled.
static void go_on(cm_hosted_room *room, const cm_history_slot *slot)
{
    cm_game_event joins[CAROM_PLAYERS_MAX];
    uint8_t counts[CAROM_PLAYERS_MAX][CM_RECORD_JOIN_BYTES];
    uint32_t count;
    if (list_joins(room, slot->tick, joins, counts, &count) &&
        cm_recorder_go_on(room->recorder, slot->tick, slot->hash, joins, count)) {
        tell_persons(room, joins, count);
    }
}

static void ask_durable(cm_hosted_room *room)
{
    uint64_t tick = 0;
    carom_durability durability = CAROM_DURABILITY_NONE;
    if (room->recorder != NULL) {
        durability = cm_recorder_durable(room->recorder, room->now_us, &tick);
    }
    cm_room_loop_durable(room->loop, durability, tick);
}

// Once, since its tick is confirmed once.
static void log_event(const cm_hosted_room *room, const carom_event *event)
{
    static const char digits[] = "0123456789abcdef";
    char bytes[2 * CAROM_EVENT_BYTES_MAX + 1] = "";
    for (uint32_t i = 0; i < event->size; i++) {
        bytes[2 * i] = digits[event->bytes[i] >> 4];
        bytes[2 * i + 1] = digits[event->bytes[i] & 15];
        bytes[2 * i + 2] = '\0';
    }
    cm_log own = log_of(room, &room->host->log);
    cm_line line;
    cm_line_log(&line, CM_LOG_INFO, "game event");
    cm_line_put(&line, CM_U("tick", event->tick), CM_U("kind", event->kind));
    const carom_game *game = cm_room_game(cm_hosted_room_room(room));
    cm_line_put(&line, CM_T("name", cm_module_event_name(cm_game_module(game), event->kind)),
                CM_U("key", event->key), CM_X("subject", event->subjects[0]),
                CM_X("subject_2", event->subjects[1]), CM_T("bytes", bytes));
    cm_log_write(&own, CM_LOG_INFO, &line);
}

static void note_kicks(cm_hosted_room *room, const cm_history_slot *slot)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        bool is_kicked = (slot->kicked >> player & 1) != 0;
        uint64_t since = room->kicked_tick[player] != 0 ? room->kicked_tick[player] : slot->tick;
        room->kicked_tick[player] = is_kicked ? since : 0;
    }
}

// Returns the newest of what is confirmed now, or NULL.
static const cm_history_slot *confirm(cm_hosted_room *room, bool all)
{
    const cm_history_slot *slot, *newest = NULL;
    while ((slot = cm_room_loop_confirm(room->loop, all)) != NULL) {
        room->closed = room->closed || slot->closes;
        note_kicks(room, slot);
        count_messages(room, slot);
        if (!all && room->recorder != NULL && cm_recorder_wants_to_go_on(room->recorder)) {
            go_on(room, slot);
        }
        cm_publisher_messages(room->publisher, slot, &room->roster);
        for (uint32_t i = 0; i < slot->happened_count; i++) {
            log_event(room, &slot->happened[i]);
        }
        newest = slot;
    }
    return newest;
}

// Sends away whom the module refused or kicked, as of the newest confirmed tick: no rewind can make
// it think again. A kick waits until its tick's messages have gone. A session that began since then
// is somebody else's.
static void send_away(cm_hosted_room *room, cm_clients *clients, const cm_history_slot *slot)
{
    cm_log own = log_of(room, &room->host->log);
    for (uint64_t left = slot->refused | slot->kicked; left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        bool refused = (slot->refused >> player & 1) != 0;
        carom_reason reason =
            refused ? CAROM_REASON_GAME_REFUSED : (carom_reason)slot->kick_reasons[player];
        const cm_session *session = cm_roster_session(&room->roster, player);
        if (session == NULL || session->join_tick > slot->tick ||
            room->kicked_tick[player] > cm_publisher_settled(room->publisher)) {
            continue;
        }
        if (room->roster.members[player] != NULL) {
            cm_clients_kick(clients, room->roster.members[player], reason);
        } else {
            (void)cm_roster_dismiss_player(&room->roster, player, reason, &own);
        }
    }
}

bool cm_hosted_room_is_over(const cm_hosted_room *room)
{
    uint64_t tick = cm_room_tick(cm_hosted_room_room(room));
    return room->closed || (room->empty_ticks > 0 && tick - room->busy_tick >= room->empty_ticks);
}

uint64_t cm_hosted_room_recording(const cm_hosted_room *room)
{
    return room->recorder != NULL ? cm_recorder_file(room->recorder) : 0;
}

static void note_busy(cm_hosted_room *room)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (cm_roster_session(&room->roster, player) != NULL) {
            room->busy_tick = cm_room_tick(cm_hosted_room_room(room));
            return;
        }
    }
}

void cm_hosted_room_begin(cm_hosted_room *room, uint64_t now_us, const cm_log *log)
{
    cm_log own = log_of(room, log);
    room->turn_us = room->turn_steps = 0;
    room->now_us = now_us;
    cm_room_loop_begin(room->loop, now_us);
    cm_roster_turn(&room->roster, room->host->transport, now_us, &own);
    note_busy(room);
    ask_durable(room);
}

bool cm_hosted_room_step(cm_hosted_room *room, cm_clients *clients)
{
    uint64_t begin = read_clock(room), spent = read_processor(room);
    if (room->host->tick_watch != NULL) {
        cm_tick_watch_begin(room->host->tick_watch, begin);
    }
    uint64_t period_us = 1000000u / cm_room_tick_rate(cm_hosted_room_room(room));
    if (cm_hosted_room_is_over(room) || cm_tick_budget_rests(&room->budget, room->now_us) ||
        (room->turn_steps > 0 && room->turn_us >= period_us) || !cm_room_loop_step(room->loop)) {
        return false;
    }
    const cm_history_slot *confirmed = confirm(room, false);
    if (confirmed != NULL) {
        send_away(room, clients, confirmed);
    }
    carom_reason reason;
    uint64_t failed =
        cm_publisher_frame(room->publisher, cm_hosted_room_room(room), &room->roster, &reason);
    for (; failed != 0; failed &= failed - 1) {
        cm_client *client = room->roster.members[__builtin_ctzll(failed)];
        cm_clients_kick(clients, client,
                        reason != CAROM_REASON_NONE ? reason : CAROM_REASON_SERVER_ERROR);
    }
    if (room->gallery != NULL) {
        cm_gallery_frame(room->gallery, clients);
    }
    room->turn_steps++;
    if (room->host->clock_us != NULL) {
        uint64_t took = read_clock(room) - begin;
        cm_tick_times_add(&room->metrics, took);
        room->turn_us += took;
        room->cpu_us += took;
    }
    cm_tick_budget_spend(&room->budget, room->now_us, read_processor(room) - spent);
    return true;
}

void cm_hosted_room_between(cm_hosted_room *room)
{
    cm_publisher_between(room->publisher, cm_hosted_room_room(room), &room->roster);
}

bool cm_hosted_room_end(cm_hosted_room *room, cm_match_end end)
{
    while (!cm_room_end(cm_hosted_room_room(room))) {
        confirm(room, false);
    }
    confirm(room, true);
    cm_room_loop_end(room->loop, end);
    room->ended = true;
    return cm_hosted_room_sent_all(room);
}

void cm_hosted_room_release(cm_hosted_room *room)
{
    confirm(room, true); // whoever goes on begins with the tick that was shown last
    cm_room_loop_end(room->loop, CM_MATCH_LIVE);
    room->ended = true;
}

bool cm_hosted_room_sent_all(cm_hosted_room *room)
{
    ask_durable(room);
    return !cm_publisher_waits(room->publisher);
}

bool cm_hosted_room_shows_rest(cm_hosted_room *room, cm_clients *clients, uint64_t passed_us)
{
    return room->gallery != NULL && cm_gallery_after(room->gallery, clients, passed_us);
}

void cm_hosted_room_second(cm_hosted_room *room, uint64_t passed_us, const cm_log *log)
{
    cm_log own = log_of(room, log);
    bool slower = cm_room_loop_second(room->loop, passed_us, &own);
    cm_tick_budget_second(&room->budget, passed_us);
    cm_publisher_second(room->publisher, cm_room_tick(cm_hosted_room_room(room)), &own);
    if (slower) {
        cm_publisher_clock(room->publisher, cm_room_loop_rate_permille(room->loop), &room->roster);
    }
    if (slower && room->gallery != NULL) {
        cm_gallery_clock(room->gallery, cm_room_loop_rate_permille(room->loop));
    }
}

cm_tick_budget *cm_hosted_room_budget(cm_hosted_room *room)
{
    return &room->budget;
}

uint64_t cm_hosted_room_patience_us(const cm_hosted_room *room)
{
    return cm_room_loop_patience_us(room->loop);
}

void cm_hosted_room_stats_get(const cm_hosted_room *room, cm_hosted_room_stats *stats)
{
    cm_hosted_room_counts_get(room, stats);
    stats->tick_ms_p50 = cm_tick_times_percentile(&room->metrics, 0.5);
    stats->tick_ms_p99 = cm_tick_times_percentile(&room->metrics, 0.99);
}

void cm_hosted_room_counts_get(const cm_hosted_room *room, cm_hosted_room_stats *stats)
{
    const cm_room *inner = cm_hosted_room_room(room);
    memset(stats, 0, sizeof *stats);
    stats->tick = cm_room_tick(inner);
    stats->hash = cm_room_hash(inner);
    stats->cpu_us = room->cpu_us;
    stats->tick_permille = room->budget.mean_permille;
    stats->is_slowed = room->budget.is_slowed;
    stats->tick_sum_us = room->metrics.sum_us;
    memcpy(stats->tick_buckets, room->metrics.buckets, sizeof stats->tick_buckets);
    cm_room_loop_stats loop;
    cm_room_loop_stats_get(room->loop, &loop);
    stats->ticks_behind = loop.ticks_behind;
    memcpy(stats->stage_ms, loop.stage_ms, sizeof stats->stage_ms);
    cm_room_stats_get(inner, &stats->room);
    cm_publisher_stats_get(room->publisher, &stats->published);
    if (room->gallery != NULL) {
        cm_gallery_stats_get(room->gallery, &stats->gallery);
    }
    carom_world_stats_get(cm_room_world(inner), &stats->world);
    memcpy(stats->inputs_refused, room->roster.refused_inputs, sizeof stats->inputs_refused);
    for (uint32_t i = 0; i < CM_INPUT_VERDICT_COUNT; i++) {
        stats->refused_inputs += stats->inputs_refused[i];
    }
    stats->seen_clamped = room->roster.seen_clamped;
    uint32_t players = 0;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        const cm_client *member = room->roster.members[i];
        stats->kbit_per_client += member != NULL ? member->kbit : 0.0;
        players += member != NULL;
    }
    stats->kbit_per_client /= players > 0 ? players : 1;
}

uint32_t cm_hosted_room_players(const cm_hosted_room *room, cm_hosted_player *players,
                                uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *from = room->roster.members[player];
        if (from == NULL) {
            continue;
        }
        if (count < capacity) {
            cm_hosted_player *to = &players[count];
            memset(to, 0, sizeof *to);
            to->player = player;
            to->client_id = from->session.client_id;
            memcpy(to->name, from->session.name, sizeof to->name);
            to->round_trip_ms =
                cm_transport_status_of(room->host->transport, from->connection).round_trip_ms;
            to->kbit = from->kbit;
            to->loss = cm_publisher_loss(room->publisher, player);
            to->late_inputs = from->session.late_inputs;
            to->refused_inputs = from->session.refused_inputs;
            to->seen_clamped = from->session.seen_clamped;
            to->rewound_ticks = from->session.rewound_ticks;
        }
        count++;
    }
    return count;
}

bool cm_hosted_room_view_at(const cm_hosted_room *room, uint64_t tick, uint32_t slot,
                            bool with_velocity, cm_view_body *body)
{
    const carom_game *game = cm_room_game_at(cm_hosted_room_room(room), tick);
    if (game == NULL) {
        return false;
    }
    const carom_world *world = carom_game_world(game);
    carom_body_state state;
    if (slot >= carom_world_body_slots(world) ||
        carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
        return false;
    }
    cm_view_quantise(cm_publisher_view_config(room->publisher), &state, with_velocity, body);
    return true;
}
