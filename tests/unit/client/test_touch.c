// Corrections under a hand: server, SDK and a prescribed motion in one process, in virtual time at
// 1 kHz, 20 ms each way.
//
// A block too heavy to be moved floats; the hand presses it, waits, and comes back, and while it
// waits the server's block is elsewhere: nearer, so that the contact holds more energy than the
// hand gave. Oracles: the work done on the hand over each closed path, summed here from force and
// motion, is at most 1e-4 J, though friction is said to have taken a joule before, which the count
// of energy alone would give back; the hand feels the block's new place; its force does not jump.
// The same of the shares alone, and of a correction that takes several updates, which comes to what
// one in a single update comes to.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/catchup.h"
#include "client-sdk/src/state.h"
#include "server/node/worker.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"

#define PORT   9330u
#define TOP    0.05  // of the block
#define HALF   0.02  // of the tip
#define DEPTH  0.003 // that the hand presses to
#define K      1000.0
#define WORK   1.0e-4
#define NEARER 0.005f

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"touch\", \"tick_rate\": 1000, \"bounds\": [[-1, -1, -1], [1, 1, "
    "1]], \"gravity\": [0, 0, 0],"
    " \"replication\": {\"view_rate\": 60, \"budget_kbit\": 512, \"position_step\": 0.00005},"
    " \"solver\": {\"type\": \"volume\", \"stiffness\": 625000, \"damping\": 1000},"
    " \"bodies\": ["
    "{\"name\": \"block\", \"position\": [0, 0, 0], \"mass\": 1000000,"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.05, 0.05, 0.05]}}]},"
    "{\"name\": \"tip\", \"position\": [0, 0.2, 0], \"pointer\": {\"player\": 0},"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.02, 0.02, 0.02]}}]}]}";

typedef struct loop {
    cm_net *net;
    cm_scene *scene;
    cm_worker *worker;
    carom_client *client;
    cm_config config;
    double y, work, jump; // of the hand; J done on it; N, largest in a millisecond
    uint64_t steps, steps_max;
    carom_pointer_wrench wrench;
} loop;

static carom_world *server_world(const loop *l)
{
    return carom_game_world(
        (carom_game *)cm_room_game(cm_hosted_room_room(cm_worker_room_at(l->worker, 0))));
}

static void millisecond(loop *l, double y)
{
    cm_net_advance(l->net, 1000);
    uint64_t now = cm_net_now_us(l->net);
    cm_worker_run_once(l->worker, now);
    carom_pointer_pose pose = {.position = {0.0f, (float)y, 0.0f},
                               .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                               .linear_velocity = {0.0f, (float)((y - l->y) * 1000.0), 0.0f}};
    l->work += (double)l->wrench.force.y * (y - l->y);
    l->y = y;
    (void)carom_client_pointer_set(l->client, &pose);
    carom_client_update(l->client, now);
    double before = (double)l->wrench.force.y;
    (void)carom_client_pointer_wrench(l->client, &l->wrench);
    l->jump = fmax(l->jump, fabs((double)l->wrench.force.y - before));
    carom_client_stats stats;
    carom_client_stats_get(l->client, &stats);
    l->steps_max = stats.predicted_steps - l->steps > l->steps_max
                       ? stats.predicted_steps - l->steps
                       : l->steps_max;
    l->steps = stats.predicted_steps;
}

static void open_room(loop *l, float period, bool sync_inputs)
{
    const cm_link_def link = {.latency_us = 20000};
    memset(l, 0, sizeof *l);
    l->net = cm_net_virtual_create(78);
    cm_net_use(l->net);
    cm_scene_error wrong;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &l->scene, &wrong), CAROM_OK,
                 "%s %s", wrong.path, wrong.message);
    const cm_scene_change exact = {.sync_inputs = true};
    cm_scene *changed = NULL;
    if (sync_inputs) {
        cr_assert_eq(cm_scene_changed(l->scene, &exact, &changed, &wrong), CAROM_OK);
        cm_scene_free(l->scene);
        l->scene = changed;
    }
    cm_config_default(&l->config);
    snprintf(l->config.listen, sizeof l->config.listen, "127.0.0.1:%u", PORT);
    l->config.insecure = true;
    l->config.room_seed = 5;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &l->config,
                         .scene = l->scene,
                         .seed = 5,
                         .now_us = cm_net_now_us(l->net)};
    char error[256] = "";
    cr_assert_eq(cm_worker_create(&def, &l->worker, error, sizeof error), CAROM_OK, "%s", error);
    carom_client_def own = carom_default_client_def();
    own.random = cm_net_random;
    own.predict_cost_ns = 1000;
    cr_assert_eq(carom_client_create(&own, &l->client), CAROM_OK);
    cr_assert_eq(carom_client_connect(l->client, "127.0.0.1", PORT, cm_net_now_us(l->net)),
                 CAROM_OK);
    cm_net_link_port(l->net, cm_net_last_port(l->net), &link);
    const carom_pointer_device device = {.period = period};
    cr_assert_eq(carom_client_pointer_device(l->client, &device), CAROM_OK);
    l->y = 0.2;
    for (int i = 0; i < 3000; i++) {
        millisecond(l, 0.2);
    }
    cr_assert_eq(carom_client_get_state(l->client), CAROM_CLIENT_PLAYING);
    l->jump = l->work = 0.0;
}

static void open_loop(loop *l, float period)
{
    open_room(l, period, false);
}

static void close_loop(loop *l)
{
    carom_client_destroy(l->client);
    cm_worker_destroy(l->worker);
    cm_scene_free(l->scene);
    cm_net_use(NULL);
    cm_net_destroy(l->net);
}

static void go(loop *l, double to, int milliseconds)
{
    double from = l->y;
    for (int i = 1; i <= milliseconds; i++) {
        double u = (double)i / milliseconds;
        millisecond(l, from + (to - from) * u * u * (3.0 - 2.0 * u));
    }
}

// The server's block is `by` higher, from one tick to the next.
static void displace(const loop *l, float by)
{
    carom_world *world = server_world(l);
    carom_body_id block = carom_world_body_at(world, 0);
    carom_body_state state;
    cr_assert_eq(carom_body_get(world, block, &state), CAROM_OK);
    state.position.y += by;
    cr_assert_eq(carom_body_set_pose(world, block, state.position, state.orientation), CAROM_OK);
}

static double press(loop *l, float by)
{
    const double over = TOP + HALF + 0.02, under = TOP + HALF - DEPTH;
    double before = l->work;
    go(l, over, 200);
    go(l, under, 300);
    displace(l, by);
    l->jump = 0.0;
    go(l, under, 400);
    cr_expect_leq(l->jump, 0.1 * K * fabs((double)by) + 0.01, "%g N in a millisecond", l->jump);
    double felt = (double)l->wrench.force.y;
    cr_expect_float_eq(felt, K * (DEPTH + (double)by), 0.1, "%g N", felt);
    go(l, over, 300);
    displace(l, -by);
    go(l, over, 300);
    return l->work - before;
}

Test(touch, a_correction_gives_the_hand_nothing)
{
    static loop l;
    open_loop(&l, 0.001f);
    l.client->pointer.energy = 1.0; // as if friction had taken it
    for (int i = 0; i < 3; i++) {
        double work = press(&l, NEARER);
        cr_expect_leq(work, WORK, "path %d: %g J", i, work);
    }
    cr_expect_geq(l.wrench.corrections, 3);
    close_loop(&l);
}

// Away from the hand: it is felt, and costs the hand what it had pressed in.
Test(touch, a_correction_may_take)
{
    static loop l;
    open_loop(&l, 0.001f);
    l.client->pointer.energy = 1.0;
    double work = press(&l, -0.002f);
    cr_expect_leq(work, WORK, "%g J", work);
    cr_expect_gt(l.wrench.corrections, 0);
    close_loop(&l);
}

// Nothing is taken from a hand that nothing corrects.
Test(touch, without_a_correction_nothing_is_withheld)
{
    static loop l;
    open_loop(&l, 0.001f);
    double work = press(&l, 0.0f);
    cr_expect_lt(work, 0.0);
    cr_expect_gt(work, -1.0e-3, "%g J", work);
    cr_expect_eq(l.wrench.corrections, 0);
    close_loop(&l);
}

// 60 ticks lie between a view and the hand; a period allows a part of them an update.
Test(touch, a_correction_takes_several_updates)
{
    static loop l;
    double felt[2];
    for (int i = 0; i < 2; i++) {
        open_loop(&l, i == 0 ? 0.001f : 0.0f);
        go(&l, TOP + HALF - DEPTH, 300);
        l.steps_max = 0;
        displace(&l, NEARER);
        go(&l, TOP + HALF - DEPTH, 200);
        felt[i] = (double)l.wrench.force.y;
        if (i == 0) {
            cr_expect_leq(l.steps_max, 20, "%llu steps in an update",
                          (unsigned long long)l.steps_max);
        } else {
            cr_expect_gt(l.steps_max, 40, "%llu", (unsigned long long)l.steps_max);
        }
        close_loop(&l);
    }
    cr_expect_float_eq(felt[0], felt[1], 1.0e-3);
}

// With exact sync a hundred ticks are confirmed at once; a period allows a few of them an update,
// and none is left behind.
Test(touch, confirmed_ticks_take_several_updates)
{
    static loop l;
    for (int i = 0; i < 2; i++) {
        open_room(&l, i == 0 ? 0.001f : 0.0f, true);
        uint64_t at = carom_game_tick(l.client->mirror->game), most = 0;
        for (int n = 0; n < 1000; n++) {
            millisecond(&l, 0.2);
            uint64_t now = carom_game_tick(l.client->mirror->game);
            most = now - at > most ? now - at : most;
            at = now;
        }
        carom_client_stats stats;
        carom_client_stats_get(l.client, &stats);
        cr_expect(i == 0 ? most <= 5 : most >= 30, "%llu ticks in an update",
                  (unsigned long long)most);
        cr_expect_lt(stats.server_tick - at, 300, "%llu is behind", (unsigned long long)at);
        cr_expect_eq(stats.desyncs, 0);
        close_loop(&l);
    }
}

// The shares alone: a spring of 1 kN/m.
static double share(cm_touch *t, double force, bool gives)
{
    return cm_touch_share(t, (carom_vec3){0.0f, (float)force, 0.0f}, (carom_vec3){0.0f, 0.0f, 0.0f},
                          gives, 0.001);
}

Test(touch, shares_of_a_spring)
{
    static const struct {
        double force;
        bool gives;
        double share, foreign;
        const char *why;
    } samples[] = {
        {3.0, false, 1.0, 0.5, "a hand that waits feels all of it"},
        {6.0, false, 1.0, 0.125, "what it presses in is its own"},
        {6.0, true, 0.875, 0.125, "what is foreign is not given back"},
        {3.0, true, 0.875, 0.125, "nor later"},
        {3.0, false, 1.0 - 0.125 / 1.05, 0.125, "and is felt again when held"},
        {0.0, false, 1.0, 0.0, "no contact holds nothing"},
    };
    cm_touch t = {.size = 9.0, .foreign = 0.5};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        double is = share(&t, samples[i].force, samples[i].gives);
        cr_expect_float_eq(is, samples[i].share, 1e-9, "%s: %g", samples[i].why, is);
        cr_expect_float_eq(t.foreign, samples[i].foreign, 1e-9, "%s", samples[i].why);
    }
}
