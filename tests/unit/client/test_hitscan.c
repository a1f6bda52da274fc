// Goal: a shot hits what its player saw. Method: server and SDK in one process and in virtual time,
// 200 ms of round trip, jitter, 5% loss each way; a target of 1 m that crosses at 5 m/s, to and
// fro; 1,000 shots at where the client draws its middle. The module asks carom_world_query_seen:
// every shot must hit, the middle within half a body of where it was drawn, and a query of the
// present must not do (else nothing was shown); no claim of the client is clamped. The recording
// verifies. Then clients that lie about the moment that they saw: by some ticks in either
// direction, on the same path, aiming at where the target was at the moment that they claim. None
// of those shots may hit, where the lie is more than a body's way; what was recorded is the clamped
// claim, so that the recording verifies all the same.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/query.h"
#include "carom/client.h"
#include "client-sdk/src/state.h"
#include "server/node/worker.h"
#include "server/record/replay/replay.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"

#define PORT     9320u
#define FRAME_US 16667u
#define SHOTS    1000u
#define RADIUS   0.5f

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"range\", \"tick_rate\": 60, \"gravity\": [0, 0, 0],"
    " \"bounds\": [[-30, -5, -30], [30, 5, 30]], \"limits\": {\"history\": 90},"
    " \"bodies\": [{\"name\": \"target\", \"type\": \"kinematic\", \"history\": true,"
    "   \"linear_velocity\": [5, 0, 0], \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}]}";

// An input: the number of the shot, and the x that is aimed at.
typedef struct aim {
    uint32_t number;
    float x;
} aim;

typedef struct score {
    uint32_t last, hits, misses, hits_now;
    float worst; // m, between the middle that was hit and what was aimed at
} score;

static void shoot(carom_game *game, const carom_player_input *input)
{
    score *s = carom_game_state(game);
    aim shot;
    memcpy(&shot, input->bytes, sizeof shot);
    if (shot.number == s->last) {
        return;
    }
    s->last = shot.number;
    carom_ray ray = {{shot.x, 0.0f, 20.0f}, {0.0f, 0.0f, -40.0f}};
    const carom_seen_query query = {.ray = &ray};
    carom_query_hit hit;
    uint32_t count = 0;
    carom_world_query_seen(game, input->player, &query, NULL, &hit, 1, &count);
    if (count == 0) {
        s->misses++;
        return;
    }
    float off = hit.point.x - RADIUS * hit.normal.x - shot.x;
    off = off < 0.0f ? -off : off;
    s->worst = off > s->worst ? off : s->worst;
    s->hits++;
    carom_world_cast_ray(carom_game_world(game), &ray, NULL, &hit, 1, &count);
    s->hits_now += count;
}

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    carom_world *world = carom_game_world(game);
    carom_body_id target = carom_world_body_at(world, 0);
    carom_body_state state;
    carom_body_get(world, target, &state);
    bool out = state.position.x * state.linear_velocity.x > 0.0f;
    if (out && (state.position.x > 15.0f || state.position.x < -15.0f)) {
        carom_vec3 back = {-state.linear_velocity.x, 0.0f, 0.0f}, none = {0.0f, 0.0f, 0.0f};
        carom_body_set_velocity(world, target, back, none);
    }
    for (uint32_t i = 0; i < count; i++) {
        shoot(game, &inputs[i]);
    }
}

static const carom_module range = {
    .abi = CAROM_MODULE_ABI,
    .version = 1,
    .name = "range",
    .input_size = sizeof(aim),
    .state_size = sizeof(score),
    .public_size = sizeof(score),
    .tick = tick,
};

typedef struct match {
    cm_net *net;
    cm_scene *scene;
    cm_store *store;
    cm_worker *worker;
    carom_client *client;
    cm_config config;
    char directory[64], path[512];
} match;

static void frame(match *m)
{
    cm_net_advance(m->net, FRAME_US);
    cm_worker_run_once(m->worker, cm_net_now_us(m->net));
    carom_client_update(m->client, cm_net_now_us(m->net));
}

static void open_match(match *m, uint32_t jitter_us)
{
    memset(m, 0, sizeof *m);
    m->net = cm_net_virtual_create(11);
    cm_net_use(m->net);
    cm_scene_error wrong;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &m->scene, &wrong), CAROM_OK,
                 "%s %s", wrong.path, wrong.message);
    strcpy(m->directory, "/tmp/carom_range_XXXXXX");
    cr_assert_not_null(mkdtemp(m->directory));
    cm_store_def store = {.directory = m->directory, .queue_max = 64u << 20};
    cr_assert_eq(cm_store_create(&store, &m->store), CAROM_OK);
    cm_config_default(&m->config);
    snprintf(m->config.listen, sizeof m->config.listen, "127.0.0.1:%u", PORT);
    m->config.insecure = true;
    m->config.room_seed = 5;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &m->config,
                         .scene = m->scene,
                         .module = &range,
                         .store = m->store,
                         .seed = 5,
                         .now_us = cm_net_now_us(m->net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &m->worker, error, sizeof error), CAROM_OK, "%s", error);
    carom_client_def client = carom_default_client_def();
    client.random = cm_net_random;
    client.predict_cost_ns = 1000;
    client.module = &range;
    cr_assert_eq(carom_client_create(&client, &m->client), CAROM_OK);
    cr_assert_eq(carom_client_connect(m->client, "127.0.0.1", PORT, cm_net_now_us(m->net)),
                 CAROM_OK);
    const cm_link_def link = {.latency_us = 100000, .jitter_us = jitter_us, .loss = 0.05f};
    cm_net_link_port(m->net, cm_net_last_port(m->net), &link);
}

static void close_match(match *m)
{
    static const char *const ENDINGS[] = {"", "-wal", "-shm"};
    carom_client_destroy(m->client);
    cm_worker_destroy(m->worker);
    cm_store_destroy(m->store);
    cm_scene_free(m->scene);
    cm_net_use(NULL);
    cm_net_destroy(m->net);
    for (size_t i = 0; i < 3; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s%s", m->path, ENDINGS[i]);
        unlink(name);
    }
    rmdir(m->directory);
}

static void verify_recording(match *m)
{
    uint64_t now = cm_net_now_us(m->net);
    for (int i = 0; i < 600 && !cm_worker_drained(m->worker); i++) {
        cm_worker_drain(m->worker, now);
        frame(m);
        now = cm_net_now_us(m->net);
        cm_store_pump(m->store);
    }
    cr_assert(cm_worker_drained(m->worker));
    cm_store_flush(m->store);
    snprintf(m->path, sizeof m->path, "%s",
             cm_store_path(m->store, cm_hosted_room_match(cm_worker_room_at(m->worker, 0))));
    cm_replay_report report;
    const cm_replay_options options = {.module = &range};
    carom_result result = cm_replay_verify(m->path, &options, &report);
    cr_expect_eq(result, CAROM_OK, "%s %s", report.error.message, report.difference);
    cr_expect_gt(report.verified_ticks, 400);
}

// The client's own query of what it draws: straight at the middle of it.
static void check_drawn(const carom_client *client, carom_body_id target,
                        const carom_client_pose *drawn)
{
    const carom_body_pose pose = {target, drawn->position, drawn->orientation};
    carom_ray ray = {{drawn->position.x, 0.0f, 20.0f}, {0.0f, 0.0f, -40.0f}};
    carom_query_filter filter = carom_default_query_filter();
    carom_query_hit hit;
    uint32_t count;
    filter.poses = &pose;
    filter.pose_count = 1;
    cr_assert_eq(carom_world_cast_ray(carom_client_world(client), &ray, &filter, &hit, 1, &count),
                 CAROM_OK);
    cr_assert(count == 1 && fabsf(hit.distance - 19.5f) < 1e-3f, "%g", (double)hit.distance);
}

// Joins, and its clock settles.
static carom_body_id join_match(match *m)
{
    for (int i = 0; i < 300; i++) {
        frame(m);
    }
    cr_assert_eq(carom_client_get_state(m->client), CAROM_CLIENT_PLAYING);
    return carom_world_body_at(carom_client_world(m->client), 0);
}

// After the last shots came, and their views came back.
static void read_score(match *m, score *s)
{
    uint32_t size;
    for (int i = 0; i < 60; i++) {
        frame(m);
    }
    const uint8_t *bytes = carom_client_public_state(m->client, &size);
    cr_assert_eq(size, sizeof *s);
    memcpy(s, bytes, sizeof *s);
}

static uint64_t clamped(const match *m)
{
    cm_worker_stats stats;
    cm_worker_stats_get(m->worker, &stats);
    return stats.seen_clamped;
}

static void shoot_honestly(uint32_t jitter_us)
{
    match m;
    open_match(&m, jitter_us);
    carom_body_id target = join_match(&m);
    for (uint32_t i = 1; i <= SHOTS; i++) {
        carom_client_pose drawn;
        cr_assert_eq(carom_client_body_pose(m.client, target, &drawn), CAROM_OK);
        check_drawn(m.client, target, &drawn);
        const aim shot = {i, drawn.position.x};
        cr_assert_eq(carom_client_set_input(m.client, &shot, sizeof shot), CAROM_OK);
        for (int k = 0; k < 6; k++) {
            frame(&m);
        }
    }
    score s;
    read_score(&m, &s);
    printf("hitscan: %u of %u shots hit, at most %.3f m from where it was drawn; %u would have hit "
           "without\n",
           s.hits, SHOTS, (double)s.worst, s.hits_now);
    cr_expect_eq(s.hits, SHOTS, "%u hit, %u missed", s.hits, s.misses);
    cr_expect_lt(s.worst, RADIUS, "half a body");
    cr_expect_lt(s.hits_now, SHOTS / 2);
    cr_expect_eq(clamped(&m), 0, "%llu honest claims were clamped",
                 (unsigned long long)clamped(&m));
    verify_recording(&m);
    close_match(&m);
}

Test(hitscan, a_thousand_shots_hit_what_was_drawn)
{
    shoot_honestly(10000);
}

Test(hitscan, twice_the_jitter_makes_no_liar)
{
    shoot_honestly(20000);
}

#define LIES 200u

// Claims what was drawn `ticks` before, and aims at where the target was drawn then.
static void lie_of_the_past(match *m, carom_body_id target, uint32_t ticks)
{
    float drawn[32];
    uint32_t at = 0;
    for (uint32_t i = 0; i < (LIES + 4) * 6; i++, at++) {
        carom_client_pose pose;
        cr_assert_eq(carom_client_body_pose(m->client, target, &pose), CAROM_OK);
        drawn[at % 32] = pose.position.x;
        aim shot = {i / 6, at >= ticks ? drawn[(at - ticks) % 32] : 0.0f};
        if (i % 6 == 0 && at >= ticks) {
            cr_assert_eq(carom_client_set_input(m->client, &shot, sizeof shot), CAROM_OK);
        }
        m->client->drawn = cm_client_clock_render(&m->client->clock) - ticks;
        frame(m);
    }
}

Test(hitscan, who_claims_to_have_seen_an_older_moment_gains_nothing)
{
    match m;
    open_match(&m, 10000);
    carom_body_id target = join_match(&m);
    cr_assert_eq(clamped(&m), 0);
    lie_of_the_past(&m, target, 20); // 1/3 s: 1.67 m
    score s;
    read_score(&m, &s);
    printf("hitscan: a lie of 20 ticks: %u of %u shots hit, %llu inputs clamped\n", s.hits,
           s.hits + s.misses, (unsigned long long)clamped(&m));
    cr_expect_geq(s.hits + s.misses, LIES);
    cr_expect_leq(s.hits, 2 * 6, "but where the target turns round");
    cr_expect_gt(clamped(&m), 5 * LIES);
    verify_recording(&m);
    close_match(&m);
}

Test(hitscan, who_claims_to_have_seen_the_present_is_taken_at_what_was_sent)
{
    match m;
    open_match(&m, 10000);
    carom_body_id target = join_match(&m);
    for (uint32_t i = 0; i < LIES; i++) {
        carom_client_pose pose;
        cr_assert_eq(carom_client_body_pose(m.client, target, &pose), CAROM_OK);
        aim shot = {i + 1, pose.position.x};
        cr_assert_eq(carom_client_set_input(m.client, &shot, sizeof shot), CAROM_OK);
        m.client->drawn = 1.0e6; // long after the input's own tick: an age of 0
        frame(&m);
    }
    // Each input that arrived was clamped, since it claims a tick that was not even simulated.
    cr_expect_gt(clamped(&m), LIES - 30);
    verify_recording(&m);
    close_match(&m);
}
