// The worker: a host, its clients, its rooms, and the order in which each has its turn.
//
//   clients (what came in) -> rooms (ticks that are due, and what goes out of each)
//
// Each takes what it needs; only the worker knows how many rooms there are. Deterministic: a
// function of the sequence of times, datagrams and the seed. Typical: 20 rooms of 60 ticks a
// second, each of 0.5 ms.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/node/worker_inner.h"
#include "shared/base/assert.h"

#define SECOND_US     1000000u
#define SPARE_PEERS   16u      // for those who are refused, beside the players
#define DRAIN_WAIT_US 2000000u // for goodbyes to arrive
#define END_LOOK_US   10000u

// Making ---------------------------------------------------------------------------------------

// The addresses that a token may name: those of `public`, else the one that is listened on, of each
// port.
void cm_worker_set_ports(cm_worker *worker, const uint16_t *ports, uint32_t port_count)
{
    worker->port_count = port_count < CM_WORKERS_MAX ? port_count : CM_WORKERS_MAX;
    memcpy(worker->ports, ports, worker->port_count * sizeof *ports);
    cm_address addresses[CM_ADMISSION_ADDRESSES_MAX];
    uint32_t count = 0;
    const char *list = worker->given.config.public[0] != '\0' ? worker->given.config.public
                                                              : worker->given.config.listen;
    bool listens = list == worker->given.config.listen;
    while (!listens && count < CM_ADMISSION_ADDRESSES_MAX &&
           cm_config_next_address(&list, &addresses[count])) {
        count++;
    }
    for (uint32_t i = 0; listens && i < port_count && i < CM_ADMISSION_ADDRESSES_MAX; i++) {
        cm_config_address(list, &addresses[count]);
        addresses[count++].port = ports[i];
    }
    cm_gate_set_addresses(cm_host_gate(worker->host), addresses, count);
}

// Each player twice: a client that comes back connects beside the connection that it had.
static uint32_t peers_of(const cm_config *config)
{
    int64_t clients =
        config->max_clients > 0 ? config->max_clients : config->max_players + config->spectators;
    return 2 * (uint32_t)clients + SPARE_PEERS;
}

static void os_random(void *user, void *bytes, size_t size)
{
    (void)user;
    cm_crypto_random(bytes, size);
}

static carom_result open_host(cm_worker *worker, const cm_worker_def *from, uint64_t seed,
                              char *error, size_t error_size)
{
    cm_host_def def = {.peers = peers_of(&worker->given.config),
                       .timeout_ms = (uint32_t)worker->given.config.timeout_ms,
                       .seed = (uint32_t)seed};
    cm_config_error wrong = {0};
    if (!cm_config_check(&worker->given.config, &wrong) ||
        !cm_config_check_gate(&worker->given.config, &wrong)) {
        snprintf(error, error_size, "%s", wrong.message);
        return CAROM_ERROR_ARGUMENT;
    }
    CM_ASSERT(worker->given.config.insecure == (from->keys == NULL));
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
    cm_config_address(worker->given.config.listen, &def.listen);
    worker->host = cm_host_create(&def, error, error_size);
    cm_crypto_wipe(def.chance, sizeof def.chance);
    if (worker->host == NULL) {
        return CAROM_ERROR_IO;
    }
    if (worker->given.config.web) {
        worker->sockets = cm_sockets_create(def.timeout_ms);
        if (worker->sockets == NULL) {
            snprintf(error, error_size, "no memory, or no descriptor, for WebSockets");
            return CAROM_ERROR_MEMORY;
        }
        cm_host_set_carrier(worker->host, cm_sockets_carrier(worker->sockets));
    }
    worker->given.transport = cm_host_transport(worker->host);
    uint16_t port = cm_host_port(worker->host);
    cm_worker_set_ports(worker, &port, 1);
    return CAROM_OK;
}

static carom_result open_clients(cm_worker *worker, const cm_rng *rng, char *error,
                                 size_t error_size)
{
    cm_gate *gate = cm_host_gate(worker->host);
    cm_clients_def def = {.transport = cm_host_transport(worker->host),
                          .banned_clients = cm_gate_bans(gate),
                          .banned_addresses = cm_gate_banned_addresses(gate),
                          .ban_reason = cm_worker_ban_reason,
                          .ticket_key = &worker->ticket_key,
                          .random = worker->random,
                          .random_context = worker->given.user,
                          .rng = *rng,
                          .log = worker->given.log,
                          .find_room = cm_worker_find_room,
                          .list_rooms = cm_worker_list_rooms,
                          .context = worker};
    worker->clients = cm_clients_create(&def);
    if (worker->clients == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    cm_gate_set_slots(gate, cm_worker_check_slot, worker);
    cm_host_set_rooms(worker->host, cm_worker_list_rooms, worker);
    return CAROM_OK;
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
    worker->given = (cm_room_host){.config = *def->config,
                                   .store = def->store,
                                   .log = {.write = def->log, .user = def->user},
                                   .clock_us = def->clock_us,
                                   .processor_us = def->processor_us,
                                   .user = def->user,
                                   .crash_marker = def->crash_marker,
                                   .tick_watch = def->tick_watch};
    worker->keep_used = def->keep_used;
    worker->open_room = def->open_room;
    worker->over_budget = def->over_budget;
    worker->now_us = worker->second_us = worker->wall_us = def->now_us;
    worker->wall_unix_ms = def->started_unix_ms;
    cm_rng rng;
    cm_rng_seed(&rng, def->seed);
    cm_rng_seed(&worker->chance, cm_rng_next(&rng));
    uint64_t host_seed = cm_rng_next(&rng);
    carom_result result = open_host(worker, def, host_seed, error, error_size);
    if (result == CAROM_OK) {
        result = open_clients(worker, &rng, error, error_size);
    }
    if (result == CAROM_OK && def->scene != NULL) {
        cm_worker_room first = {.name = "", .scene = def->scene, .module = def->module};
        result = cm_worker_open(worker, &first, error, error_size);
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
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_hosted_room_destroy(worker->rooms[i]);
    }
    for (uint32_t i = 0; i < worker->ending_count; i++) {
        cm_hosted_room_destroy(worker->ending[i].room);
    }
    if (worker->sockets != NULL) {
        cm_host_set_carrier(worker->host, NULL);
        cm_sockets_destroy(worker->sockets);
    }
    cm_host_destroy(worker->host);
    cm_ban_terms_free(&worker->ban_reasons);
    cm_crypto_wipe(&worker->ticket_key, sizeof worker->ticket_key);
    free(worker);
}

// The loop -------------------------------------------------------------------------------------

// Each room that is due makes a tick, then each that still is, and so on. A turn costs the others
// nothing but a look at a time: there are many more turns than ticks.
static void turn(cm_worker *worker)
{
    uint32_t due[CM_WORKER_ROOMS_MAX], count = 0;
    for (uint32_t i = 0; i < worker->room_count; i++) {
        uint32_t number = (worker->first + i) % worker->room_count;
        cm_hosted_room_between(worker->rooms[number]);
        if (worker->due_us[number] <= worker->now_us) {
            cm_hosted_room_begin(worker->rooms[number], worker->now_us, &worker->given.log);
            due[count++] = number;
        }
    }
    worker->first = worker->room_count > 0 ? (worker->first + 1) % worker->room_count : 0;
    for (uint32_t left = count; left > 0;) {
        uint32_t stepped = 0;
        for (uint32_t i = 0; i < left; i++) {
            uint32_t number = due[i];
            cm_hosted_room *room = worker->rooms[number];
            if (cm_hosted_room_step(room, worker->clients)) {
                due[stepped++] = number;
            } else {
                worker->due_us[number] = cm_hosted_room_due(room);
                cm_clients_send_players(worker->clients, cm_hosted_room_roster(room));
                cm_roster *gallery = cm_hosted_room_gallery(room);
                if (gallery != NULL) {
                    cm_clients_send_players(worker->clients, gallery);
                }
            }
        }
        left = stepped;
    }
}

// Logs the reasons for which tokens were refused since the last time: strangers send as many as
// they like, so a line a second is all that they write.
static void log_refused_tokens(cm_worker *worker, const cm_host_stats *host)
{
#define NAME(name, text) #name,
    static const char *const names[] = {CM_DATAGRAM_REASONS(NAME)};
#undef NAME
    uint64_t grown[CM_WORKER_TOKEN_REASONS], sum = 0;
    for (uint32_t i = 0; i < CM_WORKER_TOKEN_REASONS; i++) {
        uint64_t now = host->refused[CM_DATAGRAM_TOKEN + i];
        grown[i] = now - worker->second_refused[i];
        worker->second_refused[i] = now;
        sum += grown[i];
    }
    if (sum > 0) {
        cm_line line;
        cm_line_log(&line, CM_LOG_INFO, "tokens refused");
        cm_line_counts(&line, "reasons", names + CM_DATAGRAM_TOKEN, grown, CM_WORKER_TOKEN_REASONS);
        cm_log_write(&worker->given.log, CM_LOG_INFO, &line);
    }
}

// A pause that every other room makes good for.
static uint64_t patience_of_others(const cm_worker *worker, const cm_hosted_room *room)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < worker->room_count; i++) {
        uint64_t patience = cm_hosted_room_patience_us(worker->rooms[i]);
        least = worker->rooms[i] != room && patience < least ? patience : least;
    }
    return least;
}

static void log_budget(const cm_worker *worker, cm_hosted_room *room, const char *event)
{
    const cm_tick_budget *budget = cm_hosted_room_budget(room);
    cm_log own = worker->given.log;
    own.room = cm_hosted_room_name(room);
    cm_log_say(&own, CM_LOG_WARNING, event, CM_U("tick_percent", budget->mean_permille / 10),
               CM_U("tick_budget_percent", budget->percent));
}

// Beside others, that is: alone a room takes what there is.
static bool is_over_budget(const cm_worker *worker, cm_hosted_room *room)
{
    return worker->room_count > 1 && cm_tick_budget_is_over(cm_hosted_room_budget(room));
}

void cm_worker_slow(cm_worker *worker, const char *name)
{
    cm_hosted_room *room = cm_worker_room_named(worker, name);
    if (room == NULL || !is_over_budget(worker, room)) {
        return;
    }
    bool was_slowed = cm_hosted_room_budget(room)->is_slowed;
    cm_tick_budget_slow(cm_hosted_room_budget(room), patience_of_others(worker, room));
    if (!was_slowed) {
        log_budget(worker, room, "room slowed");
    }
}

static void watch_budgets(cm_worker *worker)
{
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_hosted_room *room = worker->rooms[i];
        if (is_over_budget(worker, room)) {
            const char *name = cm_hosted_room_name(room);
            if (worker->over_budget == NULL || !worker->over_budget(worker->given.user, name)) {
                cm_worker_slow(worker, name);
            }
        } else if (cm_hosted_room_budget(room)->is_slowed) {
            cm_tick_budget_free(cm_hosted_room_budget(room));
            log_budget(worker, room, "room no longer slowed");
        }
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
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_hosted_room_second(worker->rooms[i], passed, &worker->given.log);
    }
    watch_budgets(worker);
    cm_worker_tell_end(worker);
    cm_clients_second(worker->clients, passed);
    cm_host_stats host;
    cm_host_stats_get(worker->host, &host);
    log_refused_tokens(worker, &host);
    uint32_t playing = cm_clients_playing(worker->clients) + cm_clients_watching(worker->clients);
    double kbit = (double)(host.sent_bytes - worker->second_sent) * 8.0e3 / (double)passed;
    worker->kbit_per_client = playing > 0 ? kbit / playing : 0.0;
    worker->second_sent = host.sent_bytes;
}

// Wall clock, by which tokens end.
uint64_t cm_worker_unix_ms(const cm_worker *worker)
{
    return worker->wall_unix_ms + (worker->now_us - worker->wall_us) / 1000;
}

void cm_worker_set_wall_clock(cm_worker *worker, uint64_t unix_ms)
{
    worker->wall_unix_ms = unix_ms;
    worker->wall_us = worker->now_us;
}

// Tokens that let someone in since the last turn.
static void keep_used(cm_worker *worker)
{
    cm_used_token token;
    while (cm_used_tokens_pop_new(cm_gate_used(cm_host_gate(worker->host)), &token, 1) == 1) {
        if (worker->keep_used != NULL) {
            worker->keep_used(worker->given.user, &token);
        }
    }
}

// Of a drain: once the last messages of every room have gone, or will not be durable in time.
static void send_all_away(cm_worker *worker)
{
    bool sent = worker->ending_count == 0;
    for (uint32_t i = 0; i < worker->room_count; i++) {
        sent = cm_hosted_room_sent_all(worker->rooms[i]) && sent;
    }
    if (!worker->parted && (sent || worker->now_us - worker->drain_us >= CM_WORKER_END_WAIT_US)) {
        worker->parted = true;
        worker->drain_us = worker->now_us;
        cm_clients_kick_all(worker->clients, CAROM_REASON_DRAINING);
    }
}

uint64_t cm_worker_run_once(cm_worker *worker, uint64_t now_us)
{
    worker->now_us = now_us > worker->now_us ? now_us : worker->now_us;
    cm_sockets_turn(worker->sockets, worker->now_us);
    cm_clients_receive(worker->clients, worker->now_us, cm_worker_unix_ms(worker) / 1000);
    keep_used(worker);
    cm_worker_part_with_ended(worker);
    if (worker->draining) {
        send_all_away(worker);
        worker->drained = worker->parted && (cm_clients_connected(worker->clients) == 0 ||
                                             worker->now_us - worker->drain_us >= DRAIN_WAIT_US);
        cm_transport_flush(cm_host_transport(worker->host));
        return worker->now_us + END_LOOK_US;
    }
    turn(worker);
    count_second(worker);
    cm_transport_flush(cm_host_transport(worker->host));
    uint64_t due = worker->now_us + SECOND_US;
    for (uint32_t i = 0; i < worker->room_count; i++) {
        due = worker->due_us[i] < due ? worker->due_us[i] : due;
    }
    if (cm_sockets_is_ready(worker->sockets)) { // its descriptor does not tell of these again
        return worker->now_us;
    }
    uint64_t look_us = worker->now_us + END_LOOK_US;
    return worker->ending_count > 0 && look_us < due ? look_us : due;
}

void cm_worker_set_keys(cm_worker *worker, const carom_token_keys *keys)
{
    cm_gate_set_keys(cm_host_gate(worker->host), keys);
}

// Bans and kicks ---------------------------------------------------------------------------------

static cm_bans *bans_of(cm_worker *worker, bool by_address)
{
    cm_gate *gate = cm_host_gate(worker->host);
    return by_address ? cm_gate_banned_addresses(gate) : cm_gate_bans(gate);
}

// Counts the players, and those who are away and may come back.
static uint32_t send_away(cm_worker *worker, bool by_address, uint64_t who, carom_reason reason)
{
    uint32_t count = cm_clients_kick_who(worker->clients, by_address, who, reason);
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_log log = worker->given.log;
        log.room = cm_hosted_room_name(worker->rooms[i]);
        count += cm_roster_dismiss(cm_hosted_room_roster(worker->rooms[i]), by_address, who, reason,
                                   &log);
    }
    return count;
}

uint32_t cm_worker_kick(cm_worker *worker, bool by_address, uint64_t who)
{
    return send_away(worker, by_address, who, CAROM_REASON_KICKED);
}

bool cm_worker_kick_player(cm_worker *worker, const char *name, uint32_t player)
{
    cm_hosted_room *room = cm_worker_room_named(worker, name);
    if (room == NULL || player >= CAROM_PLAYERS_MAX) {
        return false;
    }
    cm_roster *roster = cm_hosted_room_roster(room);
    if (roster->members[player] != NULL) {
        cm_clients_kick(worker->clients, roster->members[player], CAROM_REASON_KICKED);
        return true;
    }
    cm_log log = worker->given.log;
    log.room = cm_hosted_room_name(room);
    return cm_roster_dismiss_player(roster, player, CAROM_REASON_KICKED, &log);
}

bool cm_worker_ban(cm_worker *worker, bool by_address, uint64_t who)
{
    if (!cm_bans_add(bans_of(worker, by_address), who)) {
        return false;
    }
    send_away(worker, by_address, who, CAROM_REASON_BANNED);
    return true;
}

void cm_worker_unban(cm_worker *worker, bool by_address, uint64_t who)
{
    cm_bans_remove(bans_of(worker, by_address), who);
    if (!by_address) {
        cm_bans_remove(cm_gate_told_bans(cm_host_gate(worker->host)), who);
        cm_ban_terms_remove(&worker->ban_reasons, false, who);
    }
}

bool cm_worker_keep_ban_reason(cm_worker *worker, uint64_t client_id, const char *reason)
{
    cm_ban_term term = {.who = client_id};
    snprintf(term.reason, sizeof term.reason, "%s", reason);
    return cm_ban_terms_put(&worker->ban_reasons, &term) &&
           cm_bans_add(cm_gate_told_bans(cm_host_gate(worker->host)), client_id);
}

const char *cm_worker_ban_reason(void *context, uint64_t client_id)
{
    const cm_worker *worker = context;
    const cm_ban_term *term = cm_ban_terms_find(&worker->ban_reasons, false, client_id);
    return term != NULL ? term->reason : NULL;
}

bool cm_worker_recall_used(cm_worker *worker, const cm_used_token *token)
{
    return cm_used_tokens_add(cm_gate_used(cm_host_gate(worker->host)), token,
                              cm_worker_unix_ms(worker) / 1000, false);
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
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_hosted_room_end(worker->rooms[i], CM_MATCH_DRAINED);
    }
    cm_gate_close(cm_host_gate(worker->host));
    send_all_away(worker);
    cm_transport_flush(cm_host_transport(worker->host));
}

bool cm_worker_drained(const cm_worker *worker)
{
    return worker->drained;
}

// Numbers ---------------------------------------------------------------------------------------

void cm_worker_host_stats_get(const cm_worker *worker, cm_worker_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    stats->rooms = worker->room_count;
    stats->players = cm_clients_playing(worker->clients);
    stats->spectators = cm_clients_watching(worker->clients);
    cm_worker_stats_host(worker->host, worker->clients, stats);
    cm_sockets_stats_get(worker->sockets, &stats->sockets);
    stats->kbit_per_client = worker->kbit_per_client;
}

void cm_worker_stats_get(const cm_worker *worker, cm_worker_stats *stats)
{
    cm_worker_host_stats_get(worker, stats);
    for (uint32_t i = 0; i < worker->room_count; i++) {
        cm_worker_stats_room(worker->rooms[i], stats);
    }
}

void cm_worker_room_stats_get(const cm_worker *worker, uint32_t index, cm_worker_stats *stats)
{
    CM_ASSERT(index < worker->room_count);
    memset(stats, 0, sizeof *stats);
    stats->rooms = worker->room_count;
    cm_worker_stats_room(worker->rooms[index], stats);
    stats->players = cm_hosted_room_players(worker->rooms[index], NULL, 0);
    cm_worker_stats_host(worker->host, worker->clients, stats);
    stats->kbit_per_client = worker->kbit_per_client;
    cm_hosted_room_stats from;
    cm_hosted_room_stats_get(worker->rooms[index], &from);
    stats->refused_inputs = from.refused_inputs;
    stats->seen_clamped = from.seen_clamped;
    stats->kbit_per_client = from.kbit_per_client;
}

cm_hosted_room *cm_worker_room_at(const cm_worker *worker, uint32_t index)
{
    return index < worker->room_count ? worker->rooms[index] : NULL;
}

void cm_worker_add_socket(cm_worker *worker, int descriptor, const cm_address *from,
                          const char *accept)
{
    if (worker->sockets == NULL || worker->draining) {
        close(descriptor);
    } else {
        (void)cm_sockets_add(worker->sockets, descriptor, from, accept, worker->now_us);
    }
}

int cm_worker_sockets_descriptor(const cm_worker *worker)
{
    return cm_sockets_descriptor(worker->sockets);
}

int cm_worker_descriptor(const cm_worker *worker)
{
    return cm_host_descriptor(worker->host);
}

uint16_t cm_worker_port(const cm_worker *worker)
{
    return cm_host_port(worker->host);
}
