// Touch over a network: server, SDK, and a simulated haptic device in one process and in virtual
// time, at 1 kHz, with 0, 20 and 50 ms of delay each way.
//
// The device: a mass with physical damping, held by a hand (a spring to a point that moves), under
// a force that is held for a millisecond. It presses a block on a floor, lets go, taps it, presses
// and rests. Oracles, of the device alone and not of what the SDK says: the contact never gives the
// device more than 1 mJ over all it took, at any time of 10 s; once the hand rests, the motion dies
// out; while it rests the force is the hand's. The same with a device whose damping is below the
// sampled bound, where the SDK must say that it limits, and with another player who shoves the
// block about, which comes as corrections 100 ms late on a path that loses. Recordings of it all
// verify.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client-sdk/src/pointer.h"
#include "server/record/replay/replay.h"
#include "server/node/worker.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"

#define PORT      9310u
#define PERIOD_US 1000u
#define PERIOD    1.0e-3
#define FINE      20 // steps of the device a period
#define TOP       0.1

// The pointer is a cube of 4 cm: 16 cm^2 on a face, 27.7 cm^2 at most. K = 1 kN/m on a face.
static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"touch\", \"tick_rate\": 1000, \"bounds\": [[-1, -1, -1], [1, 1, "
    "1]],"
    " \"replication\": {\"view_rate\": 60, \"budget_kbit\": 512, \"position_step\": 0.00005},"
    " \"solver\": {\"type\": \"volume\", \"stiffness\": 625000, \"damping\": 200},"
    " \"bodies\": ["
    "{\"name\": \"floor\", \"type\": \"static\", \"position\": [0, -0.1, 0],"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.5, 0.1, 0.5]}}]},"
    "{\"name\": \"wall\", \"type\": \"static\", \"position\": [-0.115, 0.05, 0],"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.05, 0.05, 0.05]}}]},"
    "{\"name\": \"block\", \"position\": [0, 0.0497, 0], \"mass\": 0.3,"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.05, 0.05, 0.05]}}]},"
    "{\"name\": \"tip\", \"position\": [0, 0.2, 0], \"pointer\": {\"player\": 0},"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.02, 0.02, 0.02]}}]},"
    "{\"name\": \"other\", \"position\": [0.4, 0.05, 0], \"pointer\": {\"player\": 1},"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.02, 0.02, 0.02]}}]}]}";

typedef struct device {
    double mass, damping, hand; // kg, N s/m, N/m
    double x[3], v[3];
    double target[3];
    double force[3];   // held
    double given;      // J that the contact gave (negative: took), exact
    double most_given; // over all time
    double kinetic;    // J
} device;

typedef struct loop {
    cm_net *net;
    cm_scene *scene;
    cm_store *store;
    cm_worker *worker;
    carom_client *client;
    carom_client *other; // who shoves the block; NULL: nobody
    cm_config config;
    char directory[64], path[512];
    device dev;
    carom_pointer_wrench wrench;
    uint64_t withheld, limited, local, periods, played, corrections;
} loop;

static carom_client *join(const loop *l, const cm_link_def *link)
{
    carom_client *client;
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    cr_assert_eq(carom_client_connect(client, "127.0.0.1", PORT, cm_net_now_us(l->net)), CAROM_OK);
    cm_net_link_port(l->net, cm_net_last_port(l->net), link);
    return client;
}

static void open_loop(loop *l, const cm_link_def *link, double damping, bool shoved)
{
    memset(l, 0, sizeof *l);
    l->net = cm_net_virtual_create(77);
    cm_net_use(l->net);
    cm_scene_error wrong;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &l->scene, &wrong), CAROM_OK,
                 "%s %s", wrong.path, wrong.message);
    strcpy(l->directory, "/tmp/carom_touch_XXXXXX");
    cr_assert_not_null(mkdtemp(l->directory));
    cm_store_def store = {.directory = l->directory, .queue_max = 64u << 20};
    cr_assert_eq(cm_store_create(&store, &l->store), CAROM_OK);
    cm_config_default(&l->config);
    snprintf(l->config.listen, sizeof l->config.listen, "127.0.0.1:%u", PORT);
    l->config.insecure = true;
    l->config.room_seed = 5;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &l->config,
                         .scene = l->scene,
                         .store = l->store,
                         .seed = 5,
                         .now_us = cm_net_now_us(l->net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &l->worker, error, sizeof error), CAROM_OK, "%s", error);
    l->client = join(l, link);
    for (int i = 0; i < 500; i++) { // player 0 is the first to join
        cm_net_advance(l->net, PERIOD_US);
        cm_worker_run_once(l->worker, cm_net_now_us(l->net));
        carom_client_update(l->client, cm_net_now_us(l->net));
    }
    l->other = shoved ? join(l, link) : NULL;
    l->dev = (device){.mass = 0.1, .damping = damping, .hand = 300.0};
    l->dev.x[1] = l->dev.target[1] = TOP + 0.07;
    const carom_pointer_device declared = {.period = (float)PERIOD, .damping = (float)damping};
    cr_assert_eq(carom_client_pointer_device(l->client, &declared), CAROM_OK);
}

static void close_loop(loop *l)
{
    static const char *const ENDINGS[] = {"", "-wal", "-shm"};
    carom_client_destroy(l->client);
    carom_client_destroy(l->other);
    cm_worker_destroy(l->worker);
    cm_store_destroy(l->store);
    cm_scene_free(l->scene);
    cm_net_use(NULL);
    cm_net_destroy(l->net);
    for (size_t i = 0; i < 3; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s%s", l->path, ENDINGS[i]);
        unlink(name);
    }
    rmdir(l->directory);
}

// A period of the device under the force it holds.
static void move_device(device *d)
{
    const double h = PERIOD / FINE;
    for (int i = 0; i < FINE; i++) {
        for (int k = 0; k < 3; k++) {
            double push = d->force[k] + d->hand * (d->target[k] - d->x[k]) - d->damping * d->v[k];
            d->v[k] += h * push / d->mass;
            d->x[k] += h * d->v[k];
            d->given += d->force[k] * h * d->v[k];
        }
    }
    d->most_given = fmax(d->most_given, d->given);
    d->kinetic = 0.5 * d->mass * (d->v[0] * d->v[0] + d->v[1] * d->v[1] + d->v[2] * d->v[2]);
}

static carom_pointer_pose pose_of(const device *d)
{
    carom_pointer_pose pose = {.orientation = {0.0f, 0.0f, 0.0f, 1.0f}};
    pose.position = (carom_vec3){(float)d->x[0], (float)d->x[1], (float)d->x[2]};
    pose.linear_velocity = (carom_vec3){(float)d->v[0], (float)d->v[1], (float)d->v[2]};
    return pose;
}

// The other player's tip goes to and fro, and on, against the block's side.
static void shove(loop *l, double t)
{
    bool on = t > 0.2 && t < 7.0;
    double x = on ? 0.071 - 0.0012 * t + 0.001 * sin(9.0 * t) : 0.4;
    double v = on ? -0.0012 + 0.009 * cos(9.0 * t) : 0.0;
    carom_pointer_pose pose = {.position = {(float)x, 0.05f, 0.0f},
                               .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                               .linear_velocity = {(float)v, 0.0f, 0.0f}};
    (void)carom_client_pointer_set(l->other, &pose);
    carom_client_update(l->other, cm_net_now_us(l->net));
}

static void period(loop *l, bool playing)
{
    cm_net_advance(l->net, PERIOD_US);
    cm_worker_run_once(l->worker, cm_net_now_us(l->net));
    if (++l->periods % 200 == 0) {
        cm_store_pump(l->store);
    }
    if (playing) {
        move_device(&l->dev);
    }
    carom_pointer_pose pose = pose_of(&l->dev);
    carom_result set = carom_client_pointer_set(l->client, &pose);
    carom_client_update(l->client, cm_net_now_us(l->net));
    carom_result got = carom_client_pointer_wrench(l->client, &l->wrench);
    if (l->other != NULL) {
        shove(l, (double)l->played * PERIOD);
    }
    l->played += playing;
    if (!playing) {
        return;
    }
    cr_assert_eq(set, CAROM_OK);
    cr_assert_eq(got, CAROM_OK);
    cr_assert_eq(carom_client_get_state(l->client), CAROM_CLIENT_PLAYING);
    l->dev.force[0] = (double)l->wrench.force.x;
    l->dev.force[1] = (double)l->wrench.force.y;
    l->dev.force[2] = (double)l->wrench.force.z;
    l->withheld += l->wrench.withheld;
    l->limited += l->wrench.limited;
    l->local += l->wrench.local;
}

// Where the hand wants the device: press, let go, tap at 3 Hz, press and rest.
static void move_hand(device *d, double t)
{
    const double over = TOP + 0.05, under = TOP + 0.005; // the tip's half size is 0.02
    d->target[0] = t > 5.0 && t < 7.0 ? 0.005 * sin(6.0 * t) : 0.0;
    if (t < 0.5 || (t >= 3.0 && t < 4.0)) {
        d->target[1] = over;
    } else if (t >= 4.0 && t < 7.0) {
        d->target[1] = TOP + 0.02 + 0.02 * cos(2.0 * 3.14159265 * 3.0 * t);
    } else {
        d->target[1] = under;
    }
}

static void verify_recording(loop *l)
{
    uint64_t now = cm_net_now_us(l->net);
    for (int i = 0; i < 3000 && !cm_worker_drained(l->worker); i++) {
        cm_worker_drain(l->worker, now);
        cm_net_advance(l->net, PERIOD_US);
        now = cm_net_now_us(l->net);
        carom_client_update(l->client, now);
        cm_worker_run_once(l->worker, now);
        cm_store_pump(l->store);
    }
    cr_assert(cm_worker_drained(l->worker));
    cm_store_flush(l->store);
    snprintf(l->path, sizeof l->path, "%s",
             cm_store_path(l->store, cm_hosted_room_match(cm_worker_room_at(l->worker, 0))));
    cm_replay_report report;
    carom_result result = cm_replay_verify(l->path, NULL, &report);
    cr_expect_eq(result, CAROM_OK, "%s %s", report.error.message, report.difference);
    cr_expect_gt(report.verified_ticks, 10000);
}

static void play(loop *l, uint32_t delay_us, double calm)
{
    for (int i = 0; i < 2000; i++) { // joins, and its clock settles
        period(l, false);
    }
    double rest_energy = 0.0, early = 0.0;
    for (int i = 0; i < 10000; i++) {
        double t = i * PERIOD;
        move_hand(&l->dev, t);
        period(l, true);
        early = t < 7.3 ? fmax(t > 7.0 ? l->dev.kinetic : 0.0, early) : early;
        rest_energy = t > 9.0 ? fmax(rest_energy, l->dev.kinetic) : rest_energy;
    }
    carom_client_stats stats;
    carom_client_stats_get(l->client, &stats);
    printf("delay %u ms, damping %g: given at most %.3g mJ, in the end %.3g mJ; kinetic after the "
           "last press %.3g, in the last second %.3g J; withheld %llu, limited %llu, local %llu of "
           "10000; scale %.3f; corrections %llu; force %.3f, server's %.3f N\n",
           delay_us / 1000, l->dev.damping, 1e3 * l->dev.most_given, 1e3 * l->dev.given, early,
           rest_energy, (unsigned long long)l->withheld, (unsigned long long)l->limited,
           (unsigned long long)l->local, (double)l->wrench.limit.scale,
           (unsigned long long)stats.reconciles, l->dev.force[1], (double)l->wrench.server_force.y);
    l->corrections = stats.reconciles;
    cr_expect_leq(l->dev.most_given, 1.0e-3, "%g J were drawn", l->dev.most_given);
    cr_expect_lt(rest_energy, calm, "the motion goes on: %g J", rest_energy);
    cr_expect_gt(early, 100.0 * rest_energy);
    // At rest the contact carries what the hand presses with.
    double hand = l->dev.hand * (l->dev.x[1] - l->dev.target[1]);
    cr_expect_gt(hand, 0.5);
    cr_expect_float_eq(l->dev.force[1], hand, 0.02 * hand);
    cr_expect_eq(l->local, 10000, "the contact was found here all the time");
}

static void run_case(const cm_link_def *link, double damping, bool limited, bool shoved)
{
    static loop l;
    open_loop(&l, link, damping, shoved);
    play(&l, link->latency_us, limited ? 1.0e-4 : 1.0e-6); // the lighter one rings for longer
    cr_expect_eq(l.limited > 0, limited);
    if (!limited && !shoved) {
        // The server found the same force, of a tick that long ago.
        cr_expect_float_eq(l.wrench.server_force.y, l.wrench.force.y, 0.05 * l.dev.force[1]);
    }
    if (shoved) {
        cr_expect_gt(l.corrections, 10);
    }
    cr_expect_gt(l.wrench.server_tick, 10000);
    verify_recording(&l);
    close_loop(&l);
}

Test(pointer_loop, passive_without_delay)
{
    const cm_link_def link = {.latency_us = 0};
    run_case(&link, 2.0, false, false);
}

Test(pointer_loop, passive_at_20_ms)
{
    const cm_link_def link = {.latency_us = 20000};
    run_case(&link, 2.0, false, false);
}

Test(pointer_loop, passive_at_50_ms)
{
    const cm_link_def link = {.latency_us = 50000};
    run_case(&link, 2.0, false, false);
}

Test(pointer_loop, passive_at_150_ms)
{
    const cm_link_def link = {.latency_us = 150000};
    run_case(&link, 2.0, false, false);
}

Test(pointer_loop, a_device_below_the_bound_is_limited_and_stays_passive)
{
    const cm_link_def link = {.latency_us = 20000};
    run_case(&link, 0.5, true, false);
}

Test(pointer_loop, corrections_under_the_tip_give_no_energy)
{
    const cm_link_def link = {.latency_us = 50000, .jitter_us = 5000, .loss = 0.02f};
    run_case(&link, 2.0, false, true);
}

// A wall that nothing moves pushes back all the same, here and on the server: K times how deep the
// device is, which is what the hand presses with.
Test(pointer_loop, a_wall_pushes_back)
{
    static loop l;
    const cm_link_def link = {.latency_us = 20000};
    open_loop(&l, &link, 2.0, false);
    l.dev.x[0] = l.dev.target[0] = -0.25;
    l.dev.x[1] = l.dev.target[1] = 0.05;
    for (int i = 0; i < 2000; i++) {
        period(&l, false);
    }
    cr_expect_eq(l.wrench.force.x, 0.0f);
    l.dev.target[0] = -0.17; // the tip meets the wall at -0.185
    for (int i = 0; i < 3000; i++) {
        period(&l, true);
    }
    double depth = l.dev.x[0] + 0.185, hand = l.dev.hand * (l.dev.target[0] - l.dev.x[0]);
    cr_expect_float_eq(depth, 300.0 * 0.015 / 1300.0, 1.0e-5, "%g m", depth);
    cr_expect_float_eq(l.dev.force[0], -1000.0 * depth, 0.01 * hand, "%g N", l.dev.force[0]);
    cr_expect_float_eq(l.dev.force[0], -hand, 0.01 * hand);
    cr_expect_float_eq((double)l.wrench.server_force.x, -hand, 0.01 * hand, "the server's %g N",
                       (double)l.wrench.server_force.x);
    cr_expect_eq(l.local, 3000);
    cr_expect_leq(l.dev.most_given, 1.0e-3);
    snprintf(l.path, sizeof l.path, "%s",
             cm_store_path(l.store, cm_hosted_room_match(cm_worker_room_at(l.worker, 0))));
    close_loop(&l);
}

// The two rules alone, on a wall -------------------------------------------------------------

static float limit_scale(float b, float t, float k, float c)
{
    carom_pointer_limit limit = carom_pointer_limit_of(b, t, k, c);
    cr_expect_eq(limit.limited, limit.scale < 1.0f);
    cr_expect_float_eq(limit.stiffness, limit.scale * k, 1e-6f * k);
    cr_expect_float_eq(limit.damping, limit.scale * c, 1e-6f * c);
    if (k > 0.0f || c > 0.0f) {
        cr_expect(b == 0.0f || b > 0.5f * limit.stiffness * t + limit.damping);
    }
    return limit.scale;
}

Test(pointer_loop, the_sampled_bound)
{
    cr_expect_eq(limit_scale(2.0f, 0.001f, 1000.0f, 1.0f), 1.0f); // 0.5 + 1 is below 2
    cr_expect_lt(limit_scale(1.5f, 0.001f, 1000.0f, 1.0f), 1.0f, "at the bound it is not above it");
    cr_expect_float_eq(limit_scale(0.5f, 0.001f, 1000.0f, 0.5f), 0.4995f, 1e-6f);
    cr_expect_eq(limit_scale(0.0f, 0.001f, 1000.0f, 0.0f), 0.0f);
    cr_expect_eq(limit_scale(0.0f, 0.001f, 0.0f, 0.0f), 1.0f, "nothing is always passive");
    cr_expect_eq(limit_scale(1.0f, 0.01f, 100.0f, 0.4f), 1.0f); // 0.5 + 0.4
    cr_expect_lt(limit_scale(1.0f, 0.01f, 100.0f, 0.6f), 1.0f);
    cr_expect_eq(carom_pointer_limit_of(NAN, 0.001f, 10.0f, 0.0f).scale, 0.0f);
}

// A hard wall whose force comes three periods late, against a device with hardly any damping:
// energy from nowhere, unless what was taken is counted. Returns what the wall gave at most.
static double stale_wall(bool held)
{
    device d = {.mass = 0.1, .damping = 0.01, .hand = 50.0, .x = {0.0, 0.002, 0.0}};
    cm_client_pointer pointer = {.device = {.period = (float)PERIOD}};
    double late[3] = {0.0, 0.0, 0.0};
    d.target[1] = -0.001;
    for (int i = 0; i < 10000; i++) {
        move_device(&d);
        carom_pointer_pose pose = pose_of(&d);
        cm_pointer_moved(&pointer, &pose, (carom_vec3){0.0f, 0.0f, 0.0f});
        double wall = d.x[1] < 0.0 ? -3000.0 * d.x[1] : 0.0;
        carom_vec3 force = {0.0f, (float)late[i % 3], 0.0f}, torque = {0.0f, 0.0f, 0.0f};
        late[i % 3] = wall;
        if (held) {
            (void)cm_pointer_hold(&pointer, &force, &torque);
            cr_assert_float_eq(pointer.energy, -d.given, 1.0e-5 + 1.0e-3 * fabs(d.given));
        }
        d.force[1] = (double)force.y;
        if (d.most_given > 1.0) {
            break;
        }
    }
    return d.most_given;
}

Test(pointer_loop, a_wall_that_lags_gives_nothing_it_did_not_take)
{
    cr_expect_gt(stale_wall(false), 1.0, "the control: joules from nowhere");
    cr_expect_lt(stale_wall(true), 1.0e-3);
}

Test(pointer_loop, what_a_client_refuses)
{
    static loop l;
    const cm_link_def link = {.latency_us = 1000};
    carom_pointer_pose pose = {.orientation = {0.0f, 0.0f, 0.0f, 1.0f}};
    carom_pointer_device wrong = {.period = 0.001f, .damping = -1.0f};
    open_loop(&l, &link, 1.0, false);
    cr_expect(!carom_body_id_is_null(carom_client_pointer(l.client)));
    cr_expect_eq(carom_client_pointer(l.client).index, carom_client_own_body(l.client).index);
    cr_expect_eq(carom_client_pointer_set(l.client, &pose), CAROM_OK);
    pose.position.x = NAN;
    cr_expect_eq(carom_client_pointer_set(l.client, &pose), CAROM_ERROR_NOT_FINITE);
    pose.position.x = 0.0f;
    pose.orientation.w = 0.5f;
    cr_expect_eq(carom_client_pointer_set(l.client, &pose), CAROM_ERROR_ARGUMENT);
    cr_expect_eq(carom_client_pointer_device(l.client, &wrong), CAROM_ERROR_ARGUMENT);
    wrong.damping = INFINITY;
    cr_expect_eq(carom_client_pointer_device(l.client, &wrong), CAROM_ERROR_ARGUMENT);
    carom_client *idle;
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    carom_pointer_wrench wrench;
    cr_assert_eq(carom_client_create(&def, &idle), CAROM_OK);
    pose.orientation.w = 1.0f;
    cr_expect_eq(carom_client_pointer_set(idle, &pose), CAROM_ERROR_STATE);
    cr_expect_eq(carom_client_pointer_wrench(idle, &wrench), CAROM_ERROR_STATE);
    cr_expect(carom_body_id_is_null(carom_client_pointer(idle)));
    carom_client_destroy(idle);
    snprintf(l.path, sizeof l.path, "%s",
             cm_store_path(l.store, cm_hosted_room_match(cm_worker_room_at(l.worker, 0))));
    close_loop(&l);
}
