// One run: everybody joins, six seconds to settle, then the frames that count. The loop is `step`:
// a 480th of a second passes, the worker has its turn, what became final is noted, and the clients
// whose frame is due update, draw and play. Clients draw 60 frames a second, each at its own phase.
#include "server/tools/feel/feel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/node/worker.h"
#include "server/tools/bench/samples.h"
#include "server/tools/feel/told.h"
#include "server/tools/feel/watch.h"
#include "shared/scene/scene_json.h"

#define PORT     9400u
#define STEP_US  2083u
#define FRAME_US 16667u
#define JOIN_US  20000000u // everybody plays by then
#define WARM_US  6000000u
#define HEADERS  28u // bytes of IP and UDP
#define PORTS    64u // of one client
#define SEEDS    64u // of one run's parts

typedef struct seat {
    cm_feel_player player;
    cm_feel_watch watch;
    cm_feel_told told; // with by_views
    cm_feel_way way;
    uint16_t ports[PORTS]; // a client that comes back has another one
    uint32_t port_count;
    uint64_t frame_us; // its next
    cm_feel_made made;
    cm_feel_known known;
    carom_client_stats before;
    cm_net_port_stats traffic;
} seat;

typedef struct run {
    const cm_feel_options *options;
    cm_config config;
    cm_net *net;
    cm_scene *scene;
    cm_worker *worker;
    cm_feel_truth truth;
    cm_feel_found *found;
    seat seats[CM_FEEL_PLAYERS_MAX];
    uint64_t begin_us, from_us; // of the warm-up, and of what counts; UINT64_MAX: not yet
    cm_worker_stats before;
    uint64_t told_us; // when the server's own figure is read next
    double told_sum;
    uint32_t told_count;
    char *error;
    size_t error_size;
} run;

static carom_result make_worker(run *r)
{
    snprintf(r->config.listen, sizeof r->config.listen, "127.0.0.1:%u", PORT);
    r->config.insecure = true; // datagrams are sealed all the same
    r->config.key[0] = '\0';
    r->config.public[0] = '\0';
    r->config.room_seed = (int64_t)(r->options->seed % 1000000u) + 1;
    r->config.budget_kbit = (int64_t)r->options->budget_kbit;
    cm_scene_error error;
    carom_result result = cm_scene_from_json(r->options->game->scene,
                                             strlen(r->options->game->scene), &r->scene, &error);
    const cm_scene_change exact = {.sync_inputs = true};
    cm_scene *own = r->scene;
    if (result == CAROM_OK && r->options->sync_inputs) {
        result = cm_scene_changed(own, &exact, &r->scene, &error);
        cm_scene_free(own);
    }
    if (result != CAROM_OK) {
        snprintf(r->error, r->error_size, "%s: %s", error.path, error.message);
        return result;
    }
    cm_worker_def def = {.config = &r->config,
                         .scene = r->scene,
                         .module = r->options->game->module,
                         .seed = r->options->seed,
                         .random = cm_net_random,
                         .now_us = cm_net_now_us(r->net)};
    return cm_worker_create(&def, &r->worker, r->error, r->error_size);
}

static cm_room *room_of(const run *r)
{
    return cm_hosted_room_room(cm_worker_room_at(r->worker, 0));
}

static void give_way(const run *r, const seat *s)
{
    for (uint32_t i = 0; i < s->port_count; i++) {
        cm_net_link_port(r->net, s->ports[i], &s->way.link);
        cm_net_link_port_down(r->net, s->ports[i], s->way.path->apart ? &s->way.path->down : NULL);
        cm_net_partition(r->net, s->ports[i], s->way.cut);
    }
}

static cm_net_port_stats traffic_of(const run *r, const seat *s)
{
    cm_net_port_stats sum = {0};
    for (uint32_t i = 0; i < s->port_count; i++) {
        cm_net_port_stats one;
        cm_net_port_stats_get(r->net, s->ports[i], &one);
        sum.sent += one.sent;
        sum.bytes_sent += one.bytes_sent;
        sum.addressed += one.addressed;
        sum.bytes_addressed += one.bytes_addressed;
    }
    return sum;
}

static carom_result make_seat(run *r, uint32_t number, uint32_t slots)
{
    seat *s = &r->seats[number];
    uint64_t now = cm_net_now_us(r->net), seed = r->options->seed * SEEDS + number;
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.module = r->options->game->module;
    def.predict_budget_us =
        r->options->predict_us > 0 ? r->options->predict_us : def.predict_budget_us;
    s->player.number = number;
    cm_rng_seed(&s->player.rng, seed);
    if (!cm_feel_watch_init(&s->watch, slots) || !cm_feel_told_init(&s->told, slots) ||
        carom_client_create(&def, &s->player.client) != CAROM_OK ||
        carom_client_connect(s->player.client, "127.0.0.1", PORT, now) != CAROM_OK) {
        return CAROM_ERROR_MEMORY;
    }
    s->ports[s->port_count++] = cm_net_last_port(r->net);
    s->frame_us = now + cm_rng_below(&s->player.rng, FRAME_US);
    cm_feel_way_begin(&s->way, r->options->path, seed ^ UINT64_C(0x77617973), now);
    give_way(r, s);
    return CAROM_OK;
}

static bool plays(const seat *s)
{
    carom_client_state state = carom_client_get_state(s->player.client);
    return state == CAROM_CLIENT_PLAYING || state == CAROM_CLIENT_UNSTABLE;
}

// Up from the one who made an input, down to the one who is to know it.
static uint64_t latency_us(const seat *from, const seat *to)
{
    const cm_link_def *down = to->way.path->apart ? &to->way.path->down : &to->way.link;
    return (uint64_t)from->way.link.latency_us + down->latency_us;
}

// The inputs that a path could have brought to the seat, and those that its player made.
static void note_known(run *r, seat *s, uint64_t now)
{
    carom_client_stats stats;
    carom_client_stats_get(s->player.client, &stats);
    cm_feel_made_note(&s->made, stats.predicted_tick, now);
    for (uint32_t i = 0; i < r->options->game->players; i++) {
        const seat *other = &r->seats[i];
        uint32_t player = carom_client_player(other->player.client);
        if (other != s && player < CM_FEEL_PLAYERS_MAX && !s->way.cut && !other->way.cut) {
            uint64_t *known = &s->known.tick[player];
            *known = cm_feel_made_known(&other->made, *known, latency_us(other, s), now);
        }
    }
}

static void frame(run *r, seat *s, uint64_t now)
{
    uint16_t port = cm_net_last_port(r->net);
    double from_ms = cm_bench_thread_ms();
    carom_client_update(s->player.client, now);
    if (cm_net_last_port(r->net) != port && s->port_count < PORTS) {
        s->ports[s->port_count++] = cm_net_last_port(r->net);
        give_way(r, s);
    }
    if (now >= r->from_us) {
        cm_feel_tally_add(&r->found->updates, (float)(1e3 * (cm_bench_thread_ms() - from_ms)));
    }
    if (plays(s)) {
        note_known(r, s, now);
        cm_feel_watch_draw(&s->watch, s->player.client, now, &s->way, &s->known);
        if (r->options->by_views) {
            cm_feel_told_follow(&s->told, s->player.client);
        }
        cm_feel_watch_judge(&s->watch, r->options->by_views ? &s->told.truth : &r->truth,
                            r->from_us, r->found);
        if (r->begin_us != UINT64_MAX) {
            cm_feel_play(r->options->game, &s->player, (double)(now - r->begin_us) * 1e-6);
        }
    }
}

// Once a second, as the server counts it.
static void note_told(run *r, uint64_t now)
{
    cm_worker_stats room;
    if (now < r->from_us || now < r->told_us) {
        return;
    }
    r->told_us = now + 1000000u;
    cm_worker_room_stats_get(r->worker, 0, &room);
    r->told_sum += room.kbit_per_client;
    r->told_count++;
}

static void step(run *r)
{
    cm_net_advance(r->net, STEP_US);
    uint64_t now = cm_net_now_us(r->net);
    cm_worker_run_once(r->worker, now);
    cm_feel_truth_follow(&r->truth, room_of(r));
    note_told(r, now);
    for (uint32_t i = 0; i < r->options->game->players; i++) {
        seat *s = &r->seats[i];
        cm_feel_way_turn(&s->way, now, now < r->from_us);
        give_way(r, s);
        if (now >= s->frame_us) {
            s->frame_us += FRAME_US;
            frame(r, s, now);
        }
    }
}

static bool all_play(const run *r)
{
    bool all = true;
    for (uint32_t i = 0; i < r->options->game->players; i++) {
        all = all && plays(&r->seats[i]);
    }
    return all;
}

static void run_until(run *r, uint64_t until_us)
{
    while (cm_net_now_us(r->net) < until_us) {
        step(r);
    }
}

static carom_result make(run *r)
{
    carom_result result = make_worker(r);
    if (result != CAROM_OK) {
        return result;
    }
    uint32_t slots = carom_world_limits(cm_room_world(room_of(r))).bodies;
    result = cm_feel_truth_init(&r->truth, slots) ? CAROM_OK : CAROM_ERROR_MEMORY;
    if (result == CAROM_OK && r->options->with_bound) {
        const carom_game *game = cm_room_game(room_of(r));
        r->truth.bound = cm_feel_bound_create(r->scene, cm_game_module(game), cm_game_seed(game));
        result = r->truth.bound != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < r->options->game->players && result == CAROM_OK; i++) {
        result = make_seat(r, i, slots);
    }
    return result;
}

static void note_start(run *r)
{
    cm_worker_stats_get(r->worker, &r->before);
    for (uint32_t i = 0; i < r->options->game->players; i++) {
        seat *s = &r->seats[i];
        carom_client_stats_get(s->player.client, &s->before);
        s->traffic = traffic_of(r, s);
    }
}

static double kbit(uint64_t bytes, uint64_t datagrams, double seconds)
{
    return (double)(bytes + HEADERS * datagrams) * 8e-3 / seconds;
}

static void add_seat(const run *r, const seat *s, cm_feel_figures *f)
{
    uint32_t players = r->options->game->players;
    double seconds = r->options->seconds;
    carom_client_stats stats;
    cm_net_port_stats traffic = traffic_of(r, s);
    carom_client_stats_get(s->player.client, &stats);
    uint64_t reports = stats.lead_reports - s->before.lead_reports;
    if (reports > 0) {
        f->lead_ticks += (stats.lead_sum - s->before.lead_sum) / (double)reports / players;
    }
    f->kbit_down += kbit(traffic.bytes_addressed - s->traffic.bytes_addressed,
                         traffic.addressed - s->traffic.addressed, seconds) /
                    players;
    f->kbit_up +=
        kbit(traffic.bytes_sent - s->traffic.bytes_sent, traffic.sent - s->traffic.sent, seconds) /
        players;
    f->reconciles += stats.reconciles - s->before.reconciles;
    f->errors += stats.error_count - s->before.error_count;
    double error_mm = 1e3 * stats.error_max;
    f->error_max_mm = error_mm > f->error_max_mm ? error_mm : f->error_max_mm;
}

void cm_feel_sum(const cm_feel_found *found, cm_feel_figures *f)
{
    memset(f, 0, sizeof *f);
    f->own_p50_mm = 1e3 * cm_feel_tally_share(&found->own, 0.5);
    f->own_p99_mm = 1e3 * cm_feel_tally_share(&found->own, 0.99);
    f->own_max_mm = 1e3 * (double)found->own_max;
    f->others_p99_mm = 1e3 * cm_feel_tally_share(&found->others, 0.99);
    f->shared_p99_mm = 1e3 * cm_feel_tally_share(&found->shared, 0.99);
    f->pops_p99_mm = 1e3 * cm_feel_tally_share(&found->pops, 0.99);
    f->own_pops_p99_mm = 1e3 * cm_feel_tally_share(&found->own_pops, 0.99);
    f->bound_own_mm = 1e3 * cm_feel_tally_share(&found->bound_own, 0.99);
    f->bare_own_mm = 1e3 * cm_feel_tally_share(&found->bare_own, 0.99);
    f->bound_others_mm = 1e3 * cm_feel_tally_share(&found->bound_others, 0.99);
    f->bare_others_mm = 1e3 * cm_feel_tally_share(&found->bare_others, 0.99);
    f->bound_shared_mm = 1e3 * cm_feel_tally_share(&found->bound_shared, 0.99);
    f->bare_shared_mm = 1e3 * cm_feel_tally_share(&found->bare_shared, 0.99);
    f->bound_pops_mm = 1e3 * cm_feel_tally_share(&found->bound_pops, 0.99);
    f->bare_pops_mm = 1e3 * cm_feel_tally_share(&found->bare_pops, 0.99);
    f->update_us_p99 = cm_feel_tally_share(&found->updates, 0.99);
    f->recovery_ms_max = found->recovery_ms_max;
}

static void sum_up(const run *r, cm_feel_figures *f)
{
    cm_feel_sum(r->found, f);
    f->kbit_told = r->told_count > 0 ? r->told_sum / r->told_count : 0.0;
    for (uint32_t i = 0; i < r->options->game->players; i++) {
        add_seat(r, &r->seats[i], f);
    }
    cm_worker_stats now;
    cm_worker_stats_get(r->worker, &now);
    uint64_t refused = now.refused_inputs - r->before.refused_inputs;
    uint64_t late = now.late_inputs - r->before.late_inputs + refused;
    uint64_t ticks = now.tick - r->before.tick;
    if (ticks > 0) {
        f->late_percent = 100.0 * (double)late / ((double)ticks * r->options->game->players);
    }
}

static carom_result play_all(run *r, cm_feel_figures *figures)
{
    uint64_t until = cm_net_now_us(r->net) + JOIN_US;
    while (!all_play(r) && cm_net_now_us(r->net) < until) {
        step(r);
    }
    if (!all_play(r)) {
        snprintf(r->error, r->error_size, "a player does not get in");
        return CAROM_ERROR_STATE;
    }
    r->begin_us = cm_net_now_us(r->net);
    run_until(r, r->begin_us + WARM_US);
    r->from_us = cm_net_now_us(r->net);
    note_start(r);
    run_until(r, r->from_us + 1000000ull * r->options->seconds);
    sum_up(r, figures);
    return CAROM_OK;
}

static void release(run *r)
{
    for (uint32_t i = 0; i < r->options->game->players; i++) {
        carom_client_destroy(r->seats[i].player.client);
        cm_feel_watch_free(&r->seats[i].watch);
        cm_feel_told_free(&r->seats[i].told);
    }
    cm_worker_destroy(r->worker);
    cm_feel_bound_destroy(r->truth.bound);
    cm_scene_free(r->scene);
    cm_feel_truth_free(&r->truth);
}

carom_result cm_feel_measure(const cm_feel_options *options, cm_feel_figures *figures, char *error,
                             size_t error_size)
{
    run *r = calloc(1, sizeof *r);
    cm_feel_found *found = calloc(1, sizeof *found);
    cm_net *net = cm_net_virtual_create(options->seed);
    carom_result result = r != NULL && found != NULL && net != NULL ? CAROM_OK : CAROM_ERROR_MEMORY;
    snprintf(error, error_size, "out of memory");
    if (result == CAROM_OK) {
        *r = (run){.options = options,
                   .config = *options->config,
                   .net = net,
                   .found = found,
                   .begin_us = UINT64_MAX,
                   .from_us = UINT64_MAX,
                   .error = error,
                   .error_size = error_size};
        cm_net *before = cm_net_use(net);
        result = make(r);
        result = result == CAROM_OK ? play_all(r, figures) : result;
        release(r);
        cm_net_use(before);
    }
    if (net != NULL) {
        cm_net_destroy(net);
    }
    free(found);
    free(r);
    return result;
}
