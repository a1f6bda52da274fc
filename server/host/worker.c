// The worker: a host, its clients, a room, and the order in which each has its turn.
//
//   clients (what came in) -> room loop (ticks that are due) -> publisher (what goes out)
//
// Each of the three is its own and takes what it needs; only the worker knows that there is one
// room. Deterministic: a function of the sequence of times, datagrams and the seed. Typical: 60
// ticks a second of 1 ms.
#include "server/host/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/host/clients.h"
#include "server/host/metrics.h"
#include "server/host/net.h"
#include "server/host/publisher.h"
#include "server/host/room_loop.h"
#include "shared/base/assert.h"

#define SECOND_US     1000000u
#define TOKEN_REASONS (CM_DATAGRAM_BANNED - CM_DATAGRAM_TOKEN + 1)
#define SPARE_PEERS   16u      // for those who are refused, beside the players
#define DRAIN_WAIT_US 2000000u // for goodbyes to arrive

// A room as it is hosted: its time, who is in it, what goes out.
typedef struct hosted_room {
    cm_room_loop *loop;
    cm_roster roster;
    cm_publisher *publisher;
    cm_metrics metrics; // of its ticks, publishing included
} hosted_room;

struct cm_worker {
    cm_config config;
    cm_log log;
    uint64_t (*clock_us)(void *user);
    void *user;
    void (*keep_used)(void *user, const cm_used_token *token);
    void (*keep_ban)(void *user, bool by_address, uint64_t who, bool banned);

    carom_token_key ticket_key;
    void (*random)(void *user, void *bytes, size_t size);
    cm_host *host;
    cm_clients *clients;
    hosted_room room;

    uint64_t now_us, started_us, started_unix_ms;
    uint64_t second_us;                     // when the present second of numbers began
    uint64_t second_sent;                   // bytes sent by the host until then
    uint64_t second_refused[TOKEN_REASONS]; // tokens refused by the door until then
    double kbit_per_client;                 // of the last whole second
    bool draining, drained;
    uint64_t drain_us;
};

// Making ---------------------------------------------------------------------------------------

// The addresses that a token may name: those of `public`, else the one that is listened on.
static void name_addresses(cm_worker *worker)
{
    carom_token_address addresses[CM_ADMISSION_ADDRESSES_MAX];
    uint32_t count = 0;
    const char *list =
        worker->config.public[0] != '\0' ? worker->config.public : worker->config.listen;
    bool listens = list == worker->config.listen;
    uint32_t host;
    while (count < CM_ADMISSION_ADDRESSES_MAX &&
           cm_config_next_address(&list, &host, &addresses[count].port)) {
        memcpy(addresses[count].ip, &host, sizeof addresses[count].ip);
        if (listens) {
            addresses[count].port = cm_host_port(worker->host);
        }
        count++;
    }
    cm_door_set_addresses(cm_host_door(worker->host), addresses, count);
}

// Each player twice: a client that comes back connects beside the connection that it had.
static uint32_t peers_of(const cm_config *config)
{
    return 2 * (uint32_t)config->max_players + SPARE_PEERS;
}

static void os_random(void *user, void *bytes, size_t size)
{
    (void)user;
    cm_crypto_random(bytes, size);
}

static carom_result open_host(cm_worker *worker, const cm_worker_def *from, uint64_t seed,
                              char *error, size_t error_size)
{
    cm_host_def def = {.peers = peers_of(&worker->config),
                       .timeout_ms = (uint32_t)worker->config.timeout_ms,
                       .seed = (uint32_t)seed};
    cm_config_error wrong;
    if (!cm_config_check(&worker->config, &wrong) ||
        !cm_config_check_door(&worker->config, &wrong)) {
        snprintf(error, error_size, "%s", wrong.message);
        return CAROM_ERROR_ARGUMENT;
    }
    CM_ASSERT(worker->config.insecure == (from->keys == NULL));
    if (!cm_crypto_init()) {
        snprintf(error, error_size, "the cryptography library does not work on this machine");
        return CAROM_ERROR_STATE;
    }
    def.keys = from->keys;
    worker->random = from->random != NULL ? from->random : os_random;
    worker->random(from->user, def.chance, sizeof def.chance);
    if (from->ticket_key != NULL) {
        worker->ticket_key = *from->ticket_key;
    } else {
        worker->ticket_key.id = 1;
        worker->random(from->user, worker->ticket_key.secret, sizeof worker->ticket_key.secret);
    }
    def.ticket_key = &worker->ticket_key;
    cm_config_address(worker->config.listen, &def.address, &def.port);
    worker->host = cm_host_create(&def, error, error_size);
    cm_crypto_wipe(def.chance, sizeof def.chance);
    if (worker->host == NULL) {
        return CAROM_ERROR_IO;
    }
    name_addresses(worker);
    return CAROM_OK;
}

// There is one room, for whoever asks.
static cm_roster *find_room(void *context, const cm_control *hello, const cm_token *token,
                            carom_reason *reason)
{
    (void)hello;
    cm_worker *worker = context;
    if (token != NULL && token->kind == CM_TOKEN_RESUME &&
        token->match_id != worker->room.roster.match_id) {
        *reason = CAROM_REASON_SLOT_GONE;
        return NULL;
    }
    *reason = CAROM_REASON_DRAINING;
    return worker->draining ? NULL : &worker->room.roster;
}

static carom_result open_clients(cm_worker *worker, const cm_rng *rng, char *error,
                                 size_t error_size)
{
    cm_clients_def def = {.host = worker->host,
                          .peers = peers_of(&worker->config),
                          .ticket_key = &worker->ticket_key,
                          .random = worker->random,
                          .random_context = worker->user,
                          .rng = *rng,
                          .log = worker->log,
                          .find_room = find_room,
                          .context = worker};
    worker->clients = cm_clients_create(&def);
    if (worker->clients == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    return CAROM_OK;
}

static carom_result open_room(cm_worker *worker, const cm_worker_def *def, uint64_t seed,
                              uint64_t match_id, char *error, size_t error_size)
{
    const cm_config *config = &worker->config;
    hosted_room *room = &worker->room;
    cm_room_loop_def loop = {.scene = def->scene,
                             .module = def->module,
                             .seed = seed,
                             .max_players = (uint32_t)config->max_players,
                             .rewind_ms = (uint32_t)config->rewind_ms,
                             .now_us = def->now_us,
                             .clock_us = def->clock_us,
                             .user = def->user};
    carom_result result = cm_room_loop_create(&loop, &room->loop, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    cm_roster_init(&room->roster, room->loop, (uint32_t)config->input_rate);
    room->roster.match_id = match_id;
    room->roster.grace_ms = (uint32_t)config->grace_ms;
    cm_publisher_def publisher = {.host = worker->host,
                                  .scene = def->scene,
                                  .view_rate = (uint32_t)config->view_rate,
                                  .budget_kbit = (uint32_t)config->budget_kbit,
                                  .input_rate = room->roster.input_rate,
                                  .rewind_ms = (uint32_t)config->rewind_ms};
    result = cm_publisher_create(&publisher, cm_room_loop_room(room->loop), &room->publisher, error,
                                 error_size);
    if (result != CAROM_OK || def->store == NULL) {
        return result;
    }
    cm_room_record record = {.store = def->store,
                             .match_id = match_id,
                             .started_unix_ms = def->started_unix_ms,
                             .keyframe_s = (uint32_t)config->keyframe_s};
    return cm_room_loop_record(room->loop, &record, error, error_size);
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
    worker->log.write = def->log;
    worker->log.user = def->user;
    worker->clock_us = def->clock_us;
    worker->user = def->user;
    worker->keep_used = def->keep_used;
    worker->keep_ban = def->keep_ban;
    worker->now_us = worker->second_us = worker->started_us = def->now_us;
    worker->started_unix_ms = def->started_unix_ms;
    cm_rng rng;
    cm_rng_seed(&rng, def->seed);
    uint64_t match_id = cm_rng_next(&rng);
    uint64_t drawn = cm_rng_next(&rng);
    uint64_t host_seed = cm_rng_next(&rng);
    uint64_t seed = worker->config.room_seed > 0 ? (uint64_t)worker->config.room_seed : drawn;
    carom_result result = open_host(worker, def, host_seed, error, error_size);
    if (result == CAROM_OK) {
        result = open_clients(worker, &rng, error, error_size);
    }
    if (result == CAROM_OK) {
        result = open_room(worker, def, seed, match_id, error, error_size);
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
    cm_clients_destroy(worker->clients);
    cm_publisher_destroy(worker->room.publisher);
    cm_room_loop_destroy(worker->room.loop);
    cm_host_destroy(worker->host);
    cm_crypto_wipe(&worker->ticket_key, sizeof worker->ticket_key);
    free(worker);
}

// The loop -------------------------------------------------------------------------------------

static void confirm(hosted_room *room, bool all)
{
    const cm_history_slot *slot;
    while ((slot = cm_room_loop_confirm(room->loop, all)) != NULL) {
        cm_publisher_messages(room->publisher, slot, &room->roster);
    }
}

static void tell_durable(hosted_room *room)
{
    uint64_t tick;
    carom_durability durability = cm_room_loop_durable(room->loop, &tick);
    cm_publisher_durable(room->publisher, durability, tick, &room->roster);
}

static uint64_t read_clock(const cm_worker *worker)
{
    return worker->clock_us != NULL ? worker->clock_us(worker->user) : 0;
}

static void turn(cm_worker *worker, hosted_room *room)
{
    cm_room_loop_begin(room->loop, worker->now_us);
    cm_roster_turn(&room->roster, worker->host, worker->now_us, &worker->log);
    tell_durable(room);
    uint64_t begin = read_clock(worker);
    while (cm_room_loop_step(room->loop)) {
        confirm(room, false);
        uint64_t failed =
            cm_publisher_frame(room->publisher, cm_room_loop_room(room->loop), &room->roster);
        for (; failed != 0; failed &= failed - 1) {
            cm_client *client = room->roster.members[__builtin_ctzll(failed)];
            cm_clients_kick(worker->clients, client, CAROM_REASON_SERVER_ERROR);
        }
        if (worker->clock_us != NULL) {
            uint64_t end = read_clock(worker);
            cm_metrics_add(&room->metrics, end - begin);
            begin = end;
        }
    }
}

// Why tokens were refused since the last time: strangers send as many as they like, so a line a
// second is all that they write.
static void log_refused_tokens(cm_worker *worker, const cm_host_stats *host)
{
#define NAME(name, text) #name,
    static const char *const names[] = {CM_DATAGRAM_REASONS(NAME)};
#undef NAME
    uint64_t grown[TOKEN_REASONS], sum = 0;
    for (uint32_t i = 0; i < TOKEN_REASONS; i++) {
        uint64_t now = host->refused[CM_DATAGRAM_TOKEN + i];
        grown[i] = now - worker->second_refused[i];
        worker->second_refused[i] = now;
        sum += grown[i];
    }
    if (sum > 0) {
        cm_line line;
        cm_line_log(&line, CM_LOG_INFO, "tokens refused");
        cm_line_counts(&line, "reasons", names + CM_DATAGRAM_TOKEN, grown, TOKEN_REASONS);
        cm_log_write(&worker->log, CM_LOG_INFO, &line);
    }
}

// Once a second: rates and alarms.
static void count_second(cm_worker *worker)
{
    uint64_t passed = worker->now_us - worker->second_us;
    if (passed < SECOND_US) {
        return;
    }
    worker->second_us = worker->now_us;
    hosted_room *room = &worker->room;
    bool slower = cm_room_loop_second(room->loop, passed, &worker->log);
    cm_publisher_second(room->publisher, cm_room_tick(cm_room_loop_room(room->loop)), &worker->log);
    if (slower) {
        cm_publisher_clock(room->publisher, cm_room_loop_rate_permille(room->loop), &room->roster);
    }
    cm_clients_second(worker->clients, passed);
    cm_host_stats host;
    cm_host_stats_get(worker->host, &host);
    log_refused_tokens(worker, &host);
    uint32_t playing = cm_clients_playing(worker->clients);
    double kbit = (double)(host.sent_bytes - worker->second_sent) * 8.0e3 / (double)passed;
    worker->kbit_per_client = playing > 0 ? kbit / playing : 0.0;
    worker->second_sent = host.sent_bytes;
}

// Wall clock, by which tokens end.
static uint64_t unix_s(const cm_worker *worker)
{
    return (worker->started_unix_ms + (worker->now_us - worker->started_us) / 1000) / 1000;
}

// Tokens that let someone in since the last turn.
static void keep_used(cm_worker *worker)
{
    cm_used_token token;
    while (cm_used_tokens_take(cm_door_used(cm_host_door(worker->host)), &token, 1) == 1) {
        if (worker->keep_used != NULL) {
            worker->keep_used(worker->user, &token);
        }
    }
}

uint64_t cm_worker_run_once(cm_worker *worker, uint64_t now_us)
{
    worker->now_us = now_us > worker->now_us ? now_us : worker->now_us;
    cm_clients_receive(worker->clients, worker->now_us, unix_s(worker));
    keep_used(worker);
    if (worker->draining) {
        worker->drained = cm_clients_connected(worker->clients) == 0 ||
                          worker->now_us - worker->drain_us >= DRAIN_WAIT_US;
        cm_host_flush(worker->host);
        return worker->now_us + 10000;
    }
    turn(worker, &worker->room);
    cm_clients_tell_players(worker->clients, &worker->room.roster);
    count_second(worker);
    cm_host_flush(worker->host);
    const cm_room_loop *loop = worker->room.loop;
    return cm_room_loop_due(loop, cm_room_tick(cm_room_loop_room(loop)) + 1);
}

void cm_worker_set_keys(cm_worker *worker, const carom_token_keys *keys)
{
    cm_door_set_keys(cm_host_door(worker->host), keys);
}

// Bans and kicks ---------------------------------------------------------------------------------

static cm_bans *bans_of(cm_worker *worker, bool by_address)
{
    cm_door *door = cm_host_door(worker->host);
    return by_address ? cm_door_banned_addresses(door) : cm_door_bans(door);
}

// Who is there, and who is away and would come back.
static uint32_t send_away(cm_worker *worker, bool by_address, uint64_t who, carom_reason reason)
{
    return cm_clients_kick_who(worker->clients, by_address, who, reason) +
           cm_roster_dismiss(&worker->room.roster, by_address, who, reason, &worker->log);
}

uint32_t cm_worker_kick(cm_worker *worker, bool by_address, uint64_t who)
{
    return send_away(worker, by_address, who, CAROM_REASON_KICKED);
}

bool cm_worker_ban(cm_worker *worker, bool by_address, uint64_t who)
{
    if (!cm_bans_add(bans_of(worker, by_address), who)) {
        return false;
    }
    if (worker->keep_ban != NULL) {
        worker->keep_ban(worker->user, by_address, who, true);
    }
    send_away(worker, by_address, who, CAROM_REASON_BANNED);
    return true;
}

void cm_worker_unban(cm_worker *worker, bool by_address, uint64_t who)
{
    cm_bans_remove(bans_of(worker, by_address), who);
    if (worker->keep_ban != NULL) {
        worker->keep_ban(worker->user, by_address, who, false);
    }
}

bool cm_worker_recall_used(cm_worker *worker, const cm_used_token *token)
{
    return cm_used_tokens_add(cm_door_used(cm_host_door(worker->host)), token, unix_s(worker),
                              false);
}

bool cm_worker_recall_ban(cm_worker *worker, bool by_address, uint64_t who)
{
    return cm_bans_add(bans_of(worker, by_address), who);
}

// Ending -----------------------------------------------------------------------------------------

void cm_worker_drain(cm_worker *worker, uint64_t now_us)
{
    if (worker->draining) {
        return;
    }
    worker->now_us = now_us > worker->now_us ? now_us : worker->now_us;
    worker->draining = true;
    worker->drain_us = worker->now_us;
    confirm(&worker->room, true);
    cm_room_loop_end(worker->room.loop, CM_MATCH_DRAINED);
    cm_clients_kick_all(worker->clients, CAROM_REASON_DRAINING);
    cm_host_flush(worker->host);
}

bool cm_worker_drained(const cm_worker *worker)
{
    return worker->drained;
}

// Numbers --------------------------------------------------------------------------------------

static void add_room_stats(const hosted_room *hosted, cm_worker_stats *stats)
{
    const cm_room *room = cm_room_loop_room(hosted->loop);
    cm_room_stats counted;
    cm_room_stats_get(room, &counted);
    stats->tick = cm_room_tick(room);
    stats->room_hash = cm_room_hash(room);
    stats->tick_ms_p50 = cm_metrics_percentile(&hosted->metrics, 0.5);
    stats->tick_ms_p99 = cm_metrics_percentile(&hosted->metrics, 0.99);
    stats->rewinds = counted.rewinds;
    stats->rewound_ticks = counted.rewound_ticks;
    stats->late_inputs = counted.late_inputs;
    stats->inputs = counted.inputs;
    memcpy(stats->poses_refused, counted.poses_refused, sizeof stats->poses_refused);
    carom_world_stats world;
    carom_world_stats_get(cm_room_world(room), &world);
    stats->contacts_dropped = world.contacts_dropped;
    stats->bodies_put_to_rest = world.bodies_put_to_rest;
    stats->bodies_asleep = world.sleeping;
    stats->islands = world.islands;
    cm_room_loop_stats loop;
    cm_room_loop_stats_get(hosted->loop, &loop);
    stats->ticks_behind = loop.ticks_behind;
    memcpy(stats->stage_ms, loop.stage_ms, sizeof stats->stage_ms);
    cm_publisher_stats published;
    cm_publisher_stats_get(hosted->publisher, &published);
    stats->views = published.views;
    stats->view_bytes = published.view_bytes;
    stats->messages_dropped = published.messages_dropped;
}

void cm_worker_stats_get(const cm_worker *worker, cm_worker_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    add_room_stats(&worker->room, stats);
    stats->players = cm_clients_playing(worker->clients);
    stats->peers = cm_clients_connected(worker->clients);
    stats->kbit_per_client = worker->kbit_per_client;
    cm_clients_stats clients;
    cm_clients_stats_get(worker->clients, &clients);
    stats->refused_inputs = clients.refused_inputs;
    stats->datagrams_refused = clients.datagrams_refused;
    memcpy(stats->packet_reasons, clients.packet_reasons, sizeof stats->packet_reasons);
    cm_host_stats host;
    cm_host_stats_get(worker->host, &host);
    memcpy(stats->refused, host.refused, sizeof stats->refused);
    memcpy(stats->commands_refused, host.commands_refused, sizeof stats->commands_refused);
    stats->handshakes = host.handshakes;
    stats->sent_bytes = host.sent_bytes;
    stats->received_bytes = host.received_bytes;
    stats->turn_datagrams_max = host.turn_datagrams_max;
    stats->turn_steps_max = host.turn_steps_max;
    stats->narrowed = host.narrowed;
    for (uint32_t i = 0; i < CM_DATAGRAM_REASON_COUNT; i++) {
        stats->datagrams_refused += host.refused[i];
    }
}

uint32_t cm_worker_clients(const cm_worker *worker, cm_worker_client *clients, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *from = worker->room.roster.members[player];
        if (from == NULL) {
            continue;
        }
        if (count < capacity) {
            cm_worker_client *to = &clients[count];
            memset(to, 0, sizeof *to);
            to->player = player;
            memcpy(to->name, from->session.name, sizeof to->name);
            to->round_trip_ms = cm_host_round_trip_ms(worker->host, from->peer);
            to->kbit = from->kbit;
            to->late_inputs = from->session.late_inputs;
            to->refused_inputs = from->session.refused_inputs;
            to->rewound_ticks = from->session.rewound_ticks;
        }
        count++;
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
    return cm_room_loop_match(worker->room.loop);
}

bool cm_worker_view_at(const cm_worker *worker, uint64_t tick, uint32_t slot, bool with_velocity,
                       cm_view_body *body)
{
    const carom_game *game = cm_room_game_at(cm_room_loop_room(worker->room.loop), tick);
    if (game == NULL) {
        return false;
    }
    const carom_world *world = carom_game_world(game);
    carom_body_state state;
    if (slot >= carom_world_body_slots(world) ||
        carom_body_get(world, carom_world_body_at(world, slot), &state) != CAROM_OK) {
        return false;
    }
    cm_view_quantise(cm_publisher_view_config(worker->room.publisher), &state, with_velocity, body);
    return true;
}
