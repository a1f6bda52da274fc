// The worker: makes the room and the host, steps what is due, records what is confirmed.
//
// The room's clock: tick n is due at origin + n / rate. Where the machine cannot keep up, one run
// makes a few ticks and then moves the origin: the room slows, says so to the clients and in the
// numbers, and never runs after a past that gets longer. Deterministic: a function of the sequence
// of times, datagrams and the seed. Typical: 60 ticks a second of 1 ms.
#include "server/host/worker_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

#define POSE_TICKS    5u // in one packet of inputs, where the scene has pointers
#define SECOND_US     1000000u
#define SPARE_PEERS   16u      // for those who are refused, beside the players
#define DRAIN_WAIT_US 2000000u // for goodbyes to arrive

uint64_t cm_worker_due(const cm_worker *worker, uint64_t tick)
{
    // In whole seconds and a rest, so that it is exact and never overflows.
    uint64_t seconds = tick / worker->tick_rate;
    return worker->origin_us + seconds * SECOND_US +
           tick % worker->tick_rate * SECOND_US / worker->tick_rate;
}

void cm_worker_log(cm_worker *worker, cm_log_level level, cm_line *line)
{
    if (worker->log != NULL) {
        worker->log(worker->user, (int)level, cm_line_end(line));
    }
}

static double seconds_now(void *context)
{
    const cm_worker *worker = context;
    return 1e-6 * (double)worker->clock_us(worker->user);
}

static carom_result open_room(cm_worker *worker, const carom_module *module, uint64_t seed,
                              char *error, size_t error_size)
{
    cm_room_def def = {.scene = worker->scene,
                       .seed = seed,
                       .rewind_ms = (uint32_t)worker->config.rewind_ms,
                       .max_players = (uint32_t)worker->config.max_players,
                       .module = module};
    carom_result result = cm_room_create(&def, &worker->room);
    if (result == CAROM_ERROR_NOT_FOUND) {
        snprintf(error, error_size, "the scene wants module '%s', which is not built in",
                 cm_scene_module(worker->scene));
        return result;
    }
    if (result == CAROM_ERROR_LIMIT_SIZE) {
        snprintf(error, error_size,
                 "rewind_ms: %u ms of this scene's states at $.tick_rate are more than the %u MiB "
                 "that a history may take, expected fewer ms, or smaller $.limits",
                 (unsigned)def.rewind_ms, (unsigned)(CM_HISTORY_BYTES_MAX >> 20));
        return result;
    }
    if (result != CAROM_OK) {
        snprintf(error, error_size, "the scene could not be built: %s", carom_result_text(result));
        return result;
    }
    worker->module = cm_game_module(cm_room_game(worker->room));
    worker->tick_rate = cm_room_tick_rate(worker->room);
    cm_scene_replication replication;
    cm_scene_replication_get(worker->scene, &replication);
    uint32_t view_rate =
        worker->config.view_rate > 0 ? (uint32_t)worker->config.view_rate : replication.view_rate;
    worker->view_rate = view_rate < worker->tick_rate ? view_rate : worker->tick_rate;
    worker->budget_kbit = worker->config.budget_kbit > 0 ? (uint32_t)worker->config.budget_kbit
                                                         : replication.budget_kbit;
    worker->interest_radius = replication.interest_radius;
    worker->input_rate = (uint32_t)worker->config.input_rate;
    worker->input_size = cm_game_input_size(cm_room_game(worker->room));
    // Poses change with every tick, and some twenty fit into a packet: each is to go three times.
    uint32_t least = worker->tick_rate / POSE_TICKS;
    if (worker->input_size >= CAROM_POINTER_BYTES && worker->input_rate < least &&
        worker->input_size > worker->module->input_size) {
        worker->input_rate = least;
    }
    if (worker->clock_us != NULL) {
        cm_room_set_clock(worker->room, seconds_now, worker);
    }
    return CAROM_OK;
}

static carom_result open_match(cm_worker *worker, const cm_worker_def *def, uint64_t seed,
                               uint64_t match_id, char *error, size_t error_size)
{
    if (worker->store == NULL) {
        return CAROM_OK;
    }
    cm_match_def match = {.match_id = match_id,
                          .scene = worker->scene,
                          .module = worker->module->name,
                          .module_version = worker->module->version,
                          .seed = seed,
                          .started_unix_ms = def->started_unix_ms};
    carom_result result = cm_store_begin(worker->store, &match, &worker->match);
    if (result != CAROM_OK) {
        const char *reason = cm_store_begin_error(worker->store); // with the file's path
        snprintf(error, error_size, "the match file could not be made: %s%s%s",
                 reason[0] != '\0' ? reason : worker->config.matches, reason[0] != '\0' ? "" : ": ",
                 reason[0] != '\0' ? "" : carom_result_text(result));
        return result;
    }
    cm_tick_input none = {NULL, 0, NULL, 0};
    cm_store_tick(worker->store, worker->match, 0, cm_room_hash(worker->room), &none);
    return CAROM_OK;
}

static carom_result open_host(cm_worker *worker, uint64_t seed, char *error, size_t error_size)
{
    cm_host_def def = {.peers = (uint32_t)worker->config.max_players + SPARE_PEERS,
                       .timeout_ms = (uint32_t)worker->config.timeout_ms,
                       .seed = (uint32_t)seed};
    cm_config_error wrong;
    if (!cm_config_check(&worker->config, &wrong)) {
        snprintf(error, error_size, "%s", wrong.message);
        return CAROM_ERROR_ARGUMENT;
    }
    if (!worker->config.insecure) {
        snprintf(error, error_size,
                 "tokens are not built yet: expected --insecure (loopback only)");
        return CAROM_ERROR_NOT_BUILT;
    }
    cm_config_address(worker->config.listen, &def.address, &def.port);
    worker->host = cm_host_create(&def, error, error_size);
    if (worker->host == NULL) {
        return CAROM_ERROR_IO;
    }
    worker->peer_count = def.peers;
    worker->clients = calloc(def.peers, sizeof *worker->clients);
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; ++i) {
        worker->peer_of[i] = CM_NO_PEER;
    }
    return worker->clients != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
}

carom_result cm_worker_create(const cm_worker_def *def, cm_worker **out, char *error,
                              size_t error_size)
{
    *out = NULL;
    cm_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    worker->config = *def->config;
    worker->scene = def->scene;
    worker->store = def->store;
    worker->log = def->log;
    worker->clock_us = def->clock_us;
    worker->user = def->user;
    worker->now_us = worker->origin_us = worker->second_us = def->now_us;
    worker->rate_permille = 1000;
    cm_rng_seed(&worker->rng, def->seed);
    uint64_t match_id = cm_rng_next(&worker->rng);
    uint64_t drawn = cm_rng_next(&worker->rng);
    uint64_t host_seed = cm_rng_next(&worker->rng);
    uint64_t seed = worker->config.room_seed > 0 ? (uint64_t)worker->config.room_seed : drawn;
    carom_result result = open_host(worker, host_seed, error, error_size);
    if (result == CAROM_OK) {
        result = open_room(worker, def->module, seed, error, error_size);
    }
    if (result == CAROM_OK) {
        result = cm_publish_init(worker, error, error_size);
    }
    if (result == CAROM_OK) {
        result = open_match(worker, def, seed, match_id, error, error_size);
    }
    if (result != CAROM_OK) {
        cm_worker_destroy(worker);
        return result;
    }
    *out = worker;
    return CAROM_OK;
}

void cm_worker_destroy(cm_worker *worker)
{
    if (worker == NULL) {
        return;
    }
    for (uint32_t i = 0; i < worker->peer_count && worker->clients != NULL; ++i) {
        cm_replica_destroy(worker->clients[i].replica);
        cm_outbox_clear(&worker->clients[i].waiting);
    }
    cm_host_destroy(worker->host);
    cm_room_destroy(worker->room);
    cm_publish_free(worker);
    free(worker->clients);
    free(worker);
}

// Recording ------------------------------------------------------------------------------------

static void confirm(cm_worker *worker, bool all)
{
    const cm_history_slot *slot;
    while ((slot = cm_room_confirm(worker->room, all)) != NULL) {
        cm_publish_messages(worker, slot);
        if (worker->store == NULL) {
            continue;
        }
        cm_tick_input input = cm_room_slot_input(slot);
        cm_store_tick(worker->store, worker->match, slot->tick, slot->hash, &input);
        if (slot->tick % ((uint64_t)worker->config.keyframe_s * worker->tick_rate) == 0) {
            size_t size = cm_publish_encode(worker, cm_room_game_at(worker->room, slot->tick));
            if (size > 0) {
                cm_store_keyframe(worker->store, worker->match, slot->tick, worker->keyframe, size);
            }
        }
    }
}

// The loop -------------------------------------------------------------------------------------

static void frame(cm_worker *worker)
{
    uint64_t begin = worker->clock_us != NULL ? worker->clock_us(worker->user) : 0;
    cm_room_frame(worker->room);
    confirm(worker, false);
    cm_publish(worker);
    if (worker->clock_us != NULL) {
        cm_metrics_add(&worker->metrics, worker->clock_us(worker->user) - begin);
    }
}

static void step_due(cm_worker *worker)
{
    // Some ticks at once make good for a short pause, at any rate.
    uint32_t most = 4 + worker->tick_rate / 50;
    for (uint32_t i = 0; worker->now_us >= cm_worker_due(worker, cm_room_tick(worker->room) + 1);
         ++i) {
        if (i == most) {
            uint64_t behind = worker->now_us - cm_worker_due(worker, cm_room_tick(worker->room));
            uint64_t ticks = behind * worker->tick_rate / SECOND_US;
            worker->origin_us += behind;
            worker->stats.ticks_behind += ticks;
            worker->second_slowed += ticks;
            break;
        }
        frame(worker);
    }
}

static void alarm_of(cm_worker *worker, const char *event, const char *key, uint64_t count,
                     uint64_t *said)
{
    if (count == *said) {
        return;
    }
    cm_line line;
    cm_line_log(&line, CM_LOG_WARNING, event);
    cm_line_uint(&line, key, count - *said);
    cm_line_uint(&line, "in_all", count);
    cm_line_uint(&line, "tick", cm_room_tick(worker->room));
    cm_worker_log(worker, CM_LOG_WARNING, &line);
    *said = count;
}

// What a world left out is never silent.
static void alarm_of_world(cm_worker *worker)
{
    carom_world_stats world;
    carom_world_stats_get(cm_room_world(worker->room), &world);
    alarm_of(worker, "contacts above the limit were left out", "contacts", world.contacts_dropped,
             &worker->alarmed_contacts);
    alarm_of(worker, "bodies were put to rest, their state was not finite", "bodies",
             world.bodies_put_to_rest, &worker->alarmed_bodies);
    alarm_of(worker, "messages of the module were left out", "messages",
             worker->stats.messages_dropped, &worker->alarmed_messages);
}

// Means of the second's ticks; of a second without any they stay.
static void count_stages(cm_worker *worker)
{
    cm_room_profile now;
    cm_room_profile_get(worker->room, &now);
    const cm_room_profile *before = &worker->second_profile;
    if (now.ticks == before->ticks) {
        return;
    }
    double scale = 1e3 / (double)(now.ticks - before->ticks);
    for (uint32_t i = 0; i < CAROM_STAGE_COUNT; ++i) {
        worker->stats.stage_ms[i] = scale * (now.stage_s[i] - before->stage_s[i]);
    }
    worker->second_profile = now;
}

// Once a second: rates, alarms, and how fast the room's clock really runs.
static void count_second(cm_worker *worker)
{
    uint64_t passed = worker->now_us - worker->second_us;
    if (passed < SECOND_US) {
        return;
    }
    alarm_of_world(worker);
    count_stages(worker);
    double bits_to_kbit = 8.0e3 / (double)passed;
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        cm_client *client = &worker->clients[i];
        uint64_t bytes = client->session.view_bytes;
        client->kbit = (double)(bytes - client->second_bytes) * bits_to_kbit;
        client->second_bytes = bytes;
    }
    cm_host_stats host;
    cm_host_stats_get(worker->host, &host);
    uint32_t playing = cm_clients_playing(worker);
    worker->stats.kbit_per_client =
        playing > 0 ? (double)(host.sent_bytes - worker->second_sent) * bits_to_kbit / playing : 0;
    worker->second_sent = host.sent_bytes;

    uint64_t expected = passed * worker->tick_rate / SECOND_US;
    uint64_t slowed = worker->second_slowed < expected ? worker->second_slowed : expected;
    uint32_t permille = expected > 0 ? (uint32_t)((expected - slowed) * 1000 / expected) : 1000;
    permille = permille > 0 ? permille : 1;
    worker->second_slowed = 0;
    worker->second_us = worker->now_us;
    if (permille == worker->rate_permille) {
        return;
    }
    worker->rate_permille = permille;
    cm_control control = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = permille};
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        if (worker->clients[i].session.state == CM_SESSION_JOINED) {
            cm_clients_send(worker, i, &control);
        }
    }
    cm_log_level level = permille < 1000 ? CM_LOG_WARNING : CM_LOG_INFO;
    cm_line line;
    cm_line_log(&line, level, "room clock");
    cm_line_uint(&line, "rate_permille", permille);
    cm_worker_log(worker, level, &line);
}

static void finish_drain(cm_worker *worker)
{
    bool waiting = false;
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        waiting = waiting || worker->clients[i].session.state != CM_SESSION_FREE;
    }
    worker->drained = !waiting || worker->now_us - worker->drain_us >= DRAIN_WAIT_US;
}

uint64_t cm_worker_run_once(cm_worker *worker, uint64_t now_us)
{
    worker->now_us = now_us > worker->now_us ? now_us : worker->now_us;
    cm_clients_receive(worker);
    cm_clients_overdue(worker);
    if (worker->draining) {
        finish_drain(worker);
        cm_host_flush(worker->host);
        return worker->now_us + 10000;
    }
    step_due(worker);
    count_second(worker);
    cm_host_flush(worker->host);
    return cm_worker_due(worker, cm_room_tick(worker->room) + 1);
}

void cm_worker_drain(cm_worker *worker, uint64_t now_us)
{
    if (worker->draining) {
        return;
    }
    worker->now_us = now_us > worker->now_us ? now_us : worker->now_us;
    worker->draining = true;
    worker->drain_us = worker->now_us;
    confirm(worker, true);
    if (worker->store != NULL) {
        cm_store_end(worker->store, worker->match, CM_MATCH_DRAINED);
    }
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        cm_clients_kick(worker, i, CAROM_REASON_DRAINING);
    }
    cm_host_flush(worker->host);
}

bool cm_worker_drained(const cm_worker *worker)
{
    return worker->drained;
}

// Numbers --------------------------------------------------------------------------------------

void cm_worker_stats_get(const cm_worker *worker, cm_worker_stats *stats)
{
    *stats = worker->stats;
    cm_room_stats room;
    cm_room_stats_get(worker->room, &room);
    cm_host_stats host;
    cm_host_stats_get(worker->host, &host);
    stats->tick = cm_room_tick(worker->room);
    stats->room_hash = cm_room_hash(worker->room);
    stats->players = cm_clients_playing(worker);
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        stats->peers += worker->clients[i].session.state != CM_SESSION_FREE;
    }
    stats->tick_ms_p50 = cm_metrics_percentile(&worker->metrics, 0.5);
    stats->tick_ms_p99 = cm_metrics_percentile(&worker->metrics, 0.99);
    stats->rewinds = room.rewinds;
    stats->rewound_ticks = room.rewound_ticks;
    stats->late_inputs = room.late_inputs;
    stats->inputs = room.inputs;
    for (uint32_t i = 0; i < CM_POINTER_REASONS; ++i) {
        stats->poses_refused[i] = room.poses_refused[i];
    }
    carom_world_stats world;
    carom_world_stats_get(cm_room_world(worker->room), &world);
    stats->contacts_dropped = world.contacts_dropped;
    stats->bodies_put_to_rest = world.bodies_put_to_rest;
    stats->bodies_asleep = world.sleeping;
    stats->islands = world.islands;
    for (uint32_t i = 0; i < CM_DATAGRAM_REASON_COUNT; ++i) {
        stats->datagrams_refused += host.refused[i];
    }
}

uint32_t cm_worker_clients(const cm_worker *worker, cm_worker_client *clients, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; ++player) {
        uint32_t peer = worker->peer_of[player];
        if (peer == CM_NO_PEER) {
            continue;
        }
        if (count < capacity) {
            const cm_client *from = &worker->clients[peer];
            cm_worker_client *to = &clients[count];
            memset(to, 0, sizeof *to);
            to->player = player;
            memcpy(to->name, from->session.name, sizeof to->name);
            to->round_trip_ms = cm_host_round_trip_ms(worker->host, peer);
            to->kbit = from->kbit;
            to->late_inputs = from->session.late_inputs;
            to->refused_inputs = from->session.refused_inputs;
            to->rewound_ticks = from->session.rewound_ticks;
        }
        ++count;
    }
    return count;
}

int cm_worker_descriptor(const cm_worker *worker)
{
    return cm_host_descriptor(worker->host);
}

uint16_t cm_worker_port(const cm_worker *worker)
{
    return cm_host_port(worker->host);
}

cm_match_handle cm_worker_match(const cm_worker *worker)
{
    return worker->match;
}

bool cm_worker_view_at(const cm_worker *worker, uint64_t tick, uint32_t slot, bool with_velocity,
                       cm_view_body *body)
{
    const carom_game *game = cm_room_game_at(worker->room, tick);
    if (game == NULL) {
        return false;
    }
    const carom_world *world = carom_game_world(game);
    carom_body_state state;
    if (slot >= carom_world_body_slots(world) ||
        carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
        return false;
    }
    cm_view_quantise(&worker->view_config, &state, with_velocity, body);
    return true;
}
