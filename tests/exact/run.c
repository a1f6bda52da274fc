// See the header. The store is pumped five times a second; a crash takes what it had not committed.
#include "tests/exact/exact.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "server/node/worker.h"
#include "server/record/format/match_file.h"
#include "server/tools/feel/games.h"
#include "server/tools/feel/paths.h"
#include "shared/scene/scene_json.h"
#include "tests/cluster/matches.h"

#define PORT      9400u
#define STEP_US   8333u
#define FRAME     2u  // steps
#define PUMP      24u // steps
#define GRACE_MS  15000
#define AGAIN_MS  2000
#define JOIN_US   40000000u
#define RESUMES   22u      // of a million ticks beside the first two, evenly over a run
#define PLANTS    11u      // likewise, beside the first
#define CALM_US   9000000u // after a crash: everybody is back, and asks are answered
#define HEALED_US 1000000u
#define STAY_S    12u // of those who come and go, and as much again
#define CUT_S     40u // between two cuts
#define CUT_US    1500000u
#define MOVED     0.001f // m

typedef struct seat {
    struct run *run;
    cm_feel_player player;
    cm_feel_way way;
    uint16_t port;
    uint64_t leave_us, cut_us;  // UINT64_MAX: never
    uint64_t left_us, again_us; // when it left; when it tries again, 0: at once
    bool cut;
    uint8_t epoch;
    bool had_room;
    uint64_t confirmed, comebacks, rewinds, steps, desyncs;
    // Planted here: its tick, body and time; 0: nothing is.
    uint64_t plant_tick, plant_us;
    char plant_body[CM_NAME_MAX + 1];
    bool told_tick;
} seat;

typedef struct run {
    exact_result *result;
    const cm_feel_game *game;
    cm_net *net;
    cm_scene *scene;
    cm_config config;
    carom_token_key ticket_key;
    char directory[MATCHES_DIRECTORY];
    cm_store *store;
    cm_live_match *live;
    cm_worker *worker;
    cm_rng rng;
    seat seats[CM_FEEL_PLAYERS_MAX];
    uint64_t seed, wanted, steps, lives, begin_us, crash_us, tick, plants;
    cm_room_stats before; // of this life
} run;

static void fail(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(run *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (r->result->what[0] == '\0') {
        vsnprintf(r->result->what, sizeof r->result->what, format, arguments);
    }
    va_end(arguments);
}

// The server -------------------------------------------------------------------------------------

static void start_worker(run *r)
{
    uint64_t now = cm_net_now_us(r->net);
    cm_worker_def def = {.random = cm_net_random,
                         .config = &r->config,
                         .scene = r->live == NULL ? r->scene : NULL,
                         .store = r->store,
                         .module = r->game->module,
                         .ticket_key = &r->ticket_key,
                         .seed = r->seed + 1000u * r->lives++,
                         .now_us = now,
                         .started_unix_ms = UINT64_C(1900000000000) + now / 1000};
    char error[256] = "";
    carom_result result = cm_worker_create(&def, &r->worker, error, sizeof error);
    if (result == CAROM_OK && r->live != NULL) {
        const cm_worker_room room = {
            .name = "", .scene = r->live->scene, .module = r->game->module, .live = r->live};
        result = cm_worker_open(r->worker, &room, error, sizeof error);
    }
    if (result != CAROM_OK) {
        fail(r, "no worker: %s", error);
    }
    memset(&r->before, 0, sizeof r->before);
    r->tick = 0;
}

static cm_room *room_of(const run *r)
{
    return cm_hosted_room_room(cm_worker_room_at(r->worker, 0));
}

// Killed as it stands; another goes on from what was committed.
static void crash(run *r)
{
    char path[2 * MATCHES_DIRECTORY], before[MATCHES_DIRECTORY];
    cm_match_error error = {""};
    uint64_t tick = cm_room_tick(room_of(r));
    const char *match = strrchr(
        cm_store_path(r->store, cm_hosted_room_match(cm_worker_room_at(r->worker, 0))), '/');
    memcpy(before, r->directory, sizeof before);
    cm_store *old = r->store;
    if (!matches_copy(before, r->directory, &r->store)) {
        fail(r, "no copy of the recording");
        return;
    }
    snprintf(path, sizeof path, "%s%s", r->directory, match);
    cm_worker_destroy(r->worker);
    r->worker = NULL;
    cm_store_destroy(old);
    matches_remove(before);
    cm_live_match_free(r->live);
    r->live = NULL;
    if (cm_live_match_read(path, r->game->module, &r->live, &error) != CAROM_OK) {
        fail(r, "the recording does not go on: %s", error.message);
        return;
    }
    start_worker(r);
    if (r->worker != NULL) {
        uint64_t now = cm_room_tick(room_of(r));
        r->result->resumes++;
        r->result->taken_back += tick > now ? tick - now : 0;
        r->crash_us = cm_net_now_us(r->net);
    }
}

static void note_room(run *r)
{
    cm_room *room = room_of(r);
    cm_room_stats stats;
    carom_world_stats world;
    uint64_t tick = cm_room_tick(room);
    uint64_t made = r->tick > 0 && tick > r->tick ? tick - r->tick : 0;
    cm_room_stats_get(room, &stats);
    carom_world_stats_get(cm_room_world(room), &world);
    r->result->room_ticks += made;
    r->result->contacts += made * world.touching;
    r->result->rewinds += stats.rewinds - r->before.rewinds;
    r->result->rewound_ticks += stats.rewound_ticks - r->before.rewound_ticks;
    r->before = stats;
    r->tick = tick;
}

// The clients ------------------------------------------------------------------------------------

// What a client says of its divergence: the tick, then body and field.
static void keep_log(void *user, carom_log_level level, const char *text)
{
    seat *s = user;
    char expected[CM_NAME_MAX + 64];
    (void)level;
    if (s->plant_tick == 0) {
        return;
    }
    snprintf(expected, sizeof expected, "differs from the server's at tick %" PRIu64,
             s->plant_tick);
    s->told_tick = s->told_tick || strstr(text, expected) != NULL;
    if (!s->told_tick || strstr(text, "healed at tick") == NULL) {
        return;
    }
    exact_result *result = s->run->result;
    uint64_t ms = (cm_net_now_us(s->run->net) - s->plant_us) / 1000;
    snprintf(expected, sizeof expected, " of %s was another", s->plant_body);
    result->healed++;
    result->named += strstr(text, "no body's motion") == NULL;
    result->named_first += strstr(text, expected) != NULL;
    result->healed_ms_max = ms > result->healed_ms_max ? ms : result->healed_ms_max;
    s->plant_tick = 0;
}

static void give_way(const run *r, const seat *s)
{
    cm_net_link_port(r->net, s->port, &s->way.link);
    cm_net_partition(r->net, s->port, s->way.cut || s->cut);
}

static void make_client(run *r, uint32_t i)
{
    static const char *const paths[] = {"r60", "r200", "step", "mobile"};
    seat *s = &r->seats[i];
    carom_client_def def = carom_default_client_def();
    s->run = r;
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.module = r->game->module;
    def.log = keep_log;
    def.user = s;
    s->player.number = i;
    cm_rng_seed(&s->player.rng, r->seed * 64 + i);
    cm_feel_way_begin(&s->way, cm_feel_path_find(paths[i % 4]), r->seed * 64 + i,
                      cm_net_now_us(r->net));
    if (carom_client_create(&def, &s->player.client) != CAROM_OK) {
        fail(r, "no client");
    }
    s->leave_us = s->cut_us = UINT64_MAX;
}

static bool plays(const seat *s)
{
    return carom_client_get_state(s->player.client) == CAROM_CLIENT_PLAYING;
}

static void drive(run *r, seat *s, uint64_t now)
{
    cm_feel_player *player = &s->player;
    carom_client_pose own;
    if (r->game->play == NULL) {
        (void)carom_client_play_bot(player->client, cm_rng_next(&player->rng));
        return;
    }
    if (carom_client_body_pose(player->client, carom_client_own_body(player->client), &own) ==
        CAROM_OK) {
        uint8_t input[9] = {0};
        r->game->play(player, (double)(now - r->begin_us) * 1e-6, &own);
        memcpy(input, &player->x, sizeof player->x);
        memcpy(input + 4, &player->z, sizeof player->z);
        (void)carom_client_set_input(player->client, input, sizeof input);
    }
}

// Ticks that it confirmed, and what it counted.
static void note_client(run *r, seat *s)
{
    const cm_mirror *mirror = s->player.client->mirror;
    carom_client_stats stats;
    carom_client_stats_get(s->player.client, &stats);
    if (mirror != NULL) {
        uint64_t tick = carom_game_tick(mirror->game);
        bool same = s->had_room && mirror->epoch == s->epoch;
        r->result->confirmed += same ? tick - s->confirmed : 0;
        s->confirmed = tick;
        s->epoch = mirror->epoch;
    }
    s->had_room = mirror != NULL;
    r->result->client_rewinds += stats.reconciles > s->rewinds ? stats.reconciles - s->rewinds : 0;
    r->result->client_steps +=
        stats.predicted_steps > s->steps ? stats.predicted_steps - s->steps : 0;
    r->result->comebacks += stats.comebacks > s->comebacks;
    s->rewinds = stats.reconciles;
    s->steps = stats.predicted_steps;
    s->comebacks = stats.comebacks;
    if (stats.desyncs > s->desyncs && s->plant_tick == 0 && !s->told_tick) {
        fail(r, "client %u differs at tick %" PRIu64 ", and nothing was planted", s->player.number,
             s->player.client->exact.differs);
    }
    s->told_tick = s->plant_tick != 0 && s->told_tick;
    s->desyncs = stats.desyncs;
}

// A farewell to a server that has just died, or on a path that is cut, is not heard: the slot is
// kept for the grace time, and a room that has no other lets nobody in so long.
static bool is_full_for_now(run *r, seat *s, carom_reason reason, uint64_t now)
{
    bool full = reason == CAROM_REASON_GAME_REFUSED || reason == CAROM_REASON_ROOM_FULL;
    if (full && now < s->left_us + UINT64_C(1000) * (GRACE_MS + AGAIN_MS)) {
        s->again_us = now + UINT64_C(1000) * AGAIN_MS;
        r->result->joins--;
        r->result->refused++;
        return true;
    }
    return false;
}

static void come(run *r, seat *s, uint64_t now)
{
    carom_reason reason = carom_client_get_reason(s->player.client);
    if (s->again_us == 0 && reason != CAROM_REASON_NONE && reason != CAROM_REASON_LEFT &&
        !is_full_for_now(r, s, reason, now)) {
        fail(r, "client %u was thrown out: %s", s->player.number, carom_reason_text(reason));
    }
    if (now < s->again_us || r->result->what[0] != '\0') {
        return;
    }
    s->again_us = 0;
    s->had_room = false;
    s->comebacks = s->rewinds = s->steps = s->desyncs = 0;
    if (carom_client_connect(s->player.client, "127.0.0.1", PORT, now) != CAROM_OK) {
        fail(r, "client %u does not connect", s->player.number);
    }
    s->port = cm_net_last_port(r->net);
    bool goes = s->player.number % 2 == 1;
    uint64_t stay_s = STAY_S + cm_rng_below(&r->rng, STAY_S);
    s->leave_us = goes ? now + 1000000u * stay_s : UINT64_MAX;
    s->cut_us = now + 1000000u * (CUT_S + cm_rng_below(&r->rng, CUT_S));
    r->result->joins++;
}

static void turn_client(run *r, seat *s, uint64_t now)
{
    uint16_t port = cm_net_last_port(r->net);
    if (carom_client_get_state(s->player.client) == CAROM_CLIENT_IDLE) {
        come(r, s, now);
    }
    if (now >= s->cut_us) { // away, then healed: it has come back by another link
        s->cut = !s->cut;
        s->cut_us = now + (s->cut ? CUT_US : 1000000u * (CUT_S + cm_rng_below(&r->rng, CUT_S)));
    }
    cm_feel_way_turn(&s->way, now, false);
    give_way(r, s);
    carom_client_update(s->player.client, now);
    if (cm_net_last_port(r->net) != port) {
        s->port = cm_net_last_port(r->net);
        s->cut = false;
    }
    note_client(r, s);
    if (plays(s)) {
        drive(r, s, now);
    }
    if (plays(s) && now >= s->leave_us && s->plant_tick == 0) {
        carom_client_disconnect(s->player.client, now);
        s->leave_us = UINT64_MAX;
        s->left_us = now;
        r->result->leaves++;
    }
    if (s->plant_tick != 0 && now > s->plant_us + HEALED_US) {
        fail(r, "client %u did not heal %s at tick %" PRIu64 " within a second", s->player.number,
             s->plant_body, s->plant_tick);
    }
}

// A body of one client is moved by a millimetre.
static void plant(run *r, uint64_t now)
{
    seat *s = &r->seats[0];
    cm_mirror *mirror = s->player.client->mirror;
    if (!plays(s) || mirror == NULL || s->cut || s->way.cut) {
        return;
    }
    uint32_t slot = cm_rng_below(&r->rng, carom_world_body_slots(mirror->world));
    carom_body_id body = carom_world_body_at(mirror->world, slot);
    carom_body_state state;
    if (carom_body_get(mirror->world, body, &state) != CAROM_OK ||
        state.type != CAROM_BODY_DYNAMIC) {
        return;
    }
    state.position.x += MOVED;
    (void)carom_body_set_pose(mirror->world, body, state.position, state.orientation);
    cm_scene_call_body(mirror->scene, body, s->plant_body, sizeof s->plant_body);
    s->plant_tick = carom_game_tick(mirror->game) + 1;
    s->plant_us = now;
    s->told_tick = false;
    s->cut_us = now + 1000000u * CUT_S;
    r->plants++;
    r->result->planted++;
}

// A run -----------------------------------------------------------------------------------------

static void turn(run *r)
{
    cm_net_advance(r->net, STEP_US);
    uint64_t now = cm_net_now_us(r->net);
    cm_worker_run_once(r->worker, now);
    note_room(r);
    if (++r->steps % PUMP == 0) {
        cm_store_pump(r->store);
    }
    for (uint32_t i = 0; i < r->game->players; i++) {
        if ((r->steps + i) % FRAME == 0) {
            turn_client(r, &r->seats[i], now);
        }
    }
    const exact_result *result = r->result;
    uint64_t resumes = 2 + r->wanted * RESUMES / 1000000u;
    uint64_t plants = 1 + r->wanted * PLANTS / 1000000u;
    bool calm = now > r->crash_us + CALM_US && r->seats[0].plant_tick == 0;
    if (calm && result->confirmed * 2 * plants > r->wanted * (2 * r->plants + 1)) {
        plant(r, now);
    } else if (calm && result->confirmed * (resumes + 1) > r->wanted * (result->resumes + 1)) {
        crash(r);
    }
}

static bool make(run *r)
{
    cm_scene_error error;
    const cm_scene_change exact = {.sync_inputs = true};
    cm_scene *own = NULL;
    if (cm_scene_from_json(r->game->scene, strlen(r->game->scene), &own, &error) != CAROM_OK ||
        cm_scene_changed(own, &exact, &r->scene, &error) != CAROM_OK) {
        fail(r, "%s: %s", error.path, error.message);
    }
    if (own != NULL) {
        cm_scene_free(own);
    }
    cm_config_default(&r->config);
    snprintf(r->config.listen, sizeof r->config.listen, "127.0.0.1:%u", PORT);
    r->config.insecure = true;
    r->config.grace_ms = GRACE_MS;
    r->config.keyframe_s = 1;
    r->ticket_key.id = 1;
    cm_net_random(NULL, r->ticket_key.secret, sizeof r->ticket_key.secret);
    if (!matches_make(r->directory, &r->store)) {
        fail(r, "no store in %s", r->directory);
    } else if (r->result->what[0] == '\0') {
        start_worker(r);
    }
    for (uint32_t i = 0; i < r->game->players && r->result->what[0] == '\0'; i++) {
        make_client(r, i);
    }
    return r->result->what[0] == '\0';
}

static void release(run *r)
{
    for (uint32_t i = 0; i < r->game->players; i++) {
        carom_client_destroy(r->seats[i].player.client);
    }
    cm_worker_destroy(r->worker);
    if (r->store != NULL) {
        cm_store_destroy(r->store);
        matches_remove(r->directory);
    }
    cm_live_match_free(r->live);
    if (r->scene != NULL) {
        cm_scene_free(r->scene);
    }
}

void exact_run(const char *game, uint64_t seed, uint64_t ticks, exact_result *result)
{
    run *r = calloc(1, sizeof *r);
    memset(result, 0, sizeof *result);
    r->result = result;
    r->game = cm_feel_game_find(game);
    r->seed = seed;
    r->wanted = ticks;
    r->net = cm_net_virtual_create(seed);
    cm_rng_seed(&r->rng, seed);
    cm_net_use(r->net);
    r->begin_us = cm_net_now_us(r->net);
    if (make(r)) {
        uint64_t last = 0, since_us = r->begin_us;
        while (result->what[0] == '\0' && result->confirmed < ticks) {
            turn(r);
            since_us = result->confirmed > last ? cm_net_now_us(r->net) : since_us;
            last = result->confirmed;
            if (cm_net_now_us(r->net) > since_us + JOIN_US) {
                fail(r, "nothing is confirmed any more");
            }
        }
    }
    release(r);
    cm_net_destroy(r->net);
    cm_net_use(NULL);
    free(r);
}
