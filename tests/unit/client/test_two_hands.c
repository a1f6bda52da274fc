// Two hands on one block, at 1 kHz, in virtual time: one holds it, the other pushes it to and fro
// by 6 cm, which is known a round trip later. Oracle: the server's own world. What each hand takes
// for the block's place, in the tick that it feels, is where the server has it when it makes that
// tick; the hand that holds feels what the server's contact is; both together get no more than they
// gave; no update makes many steps; two springs that meet through the delay come to rest.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/predict.h"
#include "client-sdk/src/state.h"
#include "server/node/worker.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"

#define PORT   9370u
#define TICKS  16384u
#define PLAYED 5000u
#define BEGINS 2000u  // of it: both touch by then
#define WORK   1.0e-4 // J that both together may get
#define ANEW   64u    // in one that starts anew: those since a view
#define STEPS  40u    // in an update: a part of a correction, and what came late before its view

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"hands\", \"tick_rate\": 1000, \"bounds\": [[-1, -1, -1], [1, 1, "
    "1]],"
    " \"replication\": {\"view_rate\": 60, \"budget_kbit\": 512, \"position_step\": 0.00005},"
    " \"solver\": {\"type\": \"volume\", \"stiffness\": 625000, \"damping\": 400},"
    " \"bodies\": ["
    "{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], "
    "\"offset\": 0}}]},"
    "{\"name\": \"block\", \"position\": [0, 0.0497, 0], \"mass\": 0.3,"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.05, 0.05, 0.05]}}]},"
    "{\"name\": \"left\", \"position\": [-0.2, 0.05, 0], \"pointer\": {\"player\": 0},"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.02, 0.02, 0.02]}}]},"
    "{\"name\": \"right\", \"position\": [0.2, 0.05, 0], \"pointer\": {\"player\": 1},"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.02, 0.02, 0.02]}}]}]}";

// A device: a mass with damping on a spring.
typedef struct hand {
    carom_client *client;
    double x, v, target, force;
    double given; // J, by the contact
    uint64_t steps, steps_max;
    float block[TICKS], felt[TICKS]; // by tick; of the server, see below
} hand;

typedef struct loop {
    cm_net *net;
    cm_scene *scene;
    cm_worker *worker;
    cm_config config;
    hand hands[2];
    float block[TICKS], felt[TICKS]; // of the left hand
} loop;

static carom_game *server_game(const loop *l)
{
    return (carom_game *)cm_room_game(cm_hosted_room_room(cm_worker_room_at(l->worker, 0)));
}

static carom_body_state body(const carom_world *world, uint32_t slot)
{
    carom_body_state state;
    memset(&state, 0, sizeof state);
    (void)carom_body_get(world, carom_world_body_at(world, slot), &state);
    return state;
}

static void feel(const loop *l, hand *h)
{
    for (int i = 0; i < 20; i++) {
        h->v += 5.0e-5 * (h->force + 300.0 * (h->target - h->x) - 3.0 * h->v) / 0.2;
        h->x += 5.0e-5 * h->v;
        h->given += 5.0e-5 * h->force * h->v;
    }
    carom_pointer_wrench wrench;
    const carom_pointer_pose pose = {.position = {(float)h->x, 0.05f, 0.0f},
                                     .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                                     .linear_velocity = {(float)h->v, 0.0f, 0.0f}};
    (void)carom_client_pointer_set(h->client, &pose);
    carom_client_update(h->client, cm_net_now_us(l->net));
    (void)carom_client_pointer_wrench(h->client, &wrench);
    h->force = (double)wrench.force.x;
    carom_client_stats stats;
    carom_client_stats_get(h->client, &stats);
    bool anew = stats.predicted_steps < h->steps; // it came back, and joined
    uint64_t steps = anew ? 0 : stats.predicted_steps - h->steps;
    h->steps = stats.predicted_steps;
    h->steps_max = steps > h->steps_max ? steps : h->steps_max;
    if (h->client->predictor != NULL && h->client->predictor->ready) {
        uint64_t tick = cm_predictor_tick(h->client->predictor) % TICKS;
        h->block[tick] = body(h->client->predictor->world, 1).position.x;
        h->felt[tick] = wrench.force.x;
    }
}

static void millisecond(loop *l, int hands)
{
    cm_net_advance(l->net, 1000);
    cm_worker_run_once(l->worker, cm_net_now_us(l->net));
    uint64_t tick = carom_game_tick(server_game(l)) % TICKS;
    l->block[tick] = body(carom_game_world(server_game(l)), 1).position.x;
    l->felt[tick] = body(carom_game_world(server_game(l)), 2).contact_force.x;
    for (int i = 0; i < hands; i++) {
        feel(l, &l->hands[i]);
    }
}

static void join(loop *l, int player, const cm_link_def *link)
{
    hand *h = &l->hands[player];
    carom_client_def own = carom_default_client_def();
    own.random = cm_net_random;
    own.predict_cost_ns = 1000;
    cr_assert_eq(carom_client_create(&own, &h->client), CAROM_OK);
    cr_assert_eq(carom_client_connect(h->client, "127.0.0.1", PORT, cm_net_now_us(l->net)),
                 CAROM_OK);
    cm_net_link_port(l->net, cm_net_last_port(l->net), link);
    const carom_pointer_device device = {.period = 0.001f, .damping = 3.0f, .mass = 0.2f};
    cr_assert_eq(carom_client_pointer_device(h->client, &device), CAROM_OK);
    h->x = h->target = player == 0 ? -0.2 : 0.2;
    for (int i = 0; i < 1000; i++) {
        millisecond(l, player + 1);
    }
    cr_assert_eq(carom_client_get_state(h->client), CAROM_CLIENT_PLAYING);
    cr_assert_eq(carom_client_player(h->client), player);
}

static void open_loop(loop *l, const cm_link_def *link, bool sync_inputs)
{
    memset(l, 0, sizeof *l);
    l->net = cm_net_virtual_create(80);
    cm_net_use(l->net);
    cm_scene_error wrong;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &l->scene, &wrong), CAROM_OK,
                 "%s %s", wrong.path, wrong.message);
    if (sync_inputs) {
        const cm_scene_change exact = {.sync_inputs = true};
        cm_scene *own = l->scene;
        cr_assert_eq(cm_scene_changed(own, &exact, &l->scene, &wrong), CAROM_OK);
        cm_scene_free(own);
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
    join(l, 0, link);
    join(l, 1, link);
}

static void close_loop(loop *l)
{
    carom_client_destroy(l->hands[0].client);
    carom_client_destroy(l->hands[1].client);
    cm_worker_destroy(l->worker);
    cm_scene_free(l->scene);
    cm_net_use(NULL);
    cm_net_destroy(l->net);
}

static double sine(double t)
{
    return t > 0.0 ? sin(6.0 * t) : 0.0;
}

// At most mean_mm is the block off, in the mean; mean_n the force that the left hand feels.
static void check(const cm_link_def *link, bool sync_inputs, double mean_mm, double mean_n)
{
    static loop l;
    open_loop(&l, link, sync_inputs);
    l.hands[0].steps_max = l.hands[1].steps_max = 0;
    uint64_t begins = 0;
    double given = 0.0;
    for (uint32_t n = 0; n < PLAYED; n++) {
        double t = n * 1.0e-3, come = t < 1.0 ? 0.14 * (1.0 - t) : 0.0;
        l.hands[0].target = -0.06 - come;
        l.hands[1].target = 0.06 + come + 0.03 * sine(t - 1.5);
        millisecond(&l, 2);
        given = fmax(given, l.hands[0].given + l.hands[1].given);
        begins = n == BEGINS ? carom_game_tick(server_game(&l)) : begins;
    }
    uint64_t ends = carom_game_tick(server_game(&l));
    double off[2] = {0.0, 0.0}, most = 0.0, newtons = 0.0, force = 0.0;
    for (uint64_t tick = begins; tick < ends; tick++) {
        for (int i = 0; i < 2; i++) {
            double d = fabs((double)l.hands[i].block[tick % TICKS] - (double)l.block[tick % TICKS]);
            off[i] += 1.0e3 * d / (double)(ends - begins);
            most = fmax(most, 1.0e3 * d);
        }
        double is = (double)l.felt[tick % TICKS];
        newtons += fabs((double)l.hands[0].felt[tick % TICKS] - is) / (double)(ends - begins);
        force += fabs(is) / (double)(ends - begins);
    }
    cr_expect_leq(given, WORK, "both were given %g J", given);
    printf("%s %u ms: block off %.2f and %.2f mm, at most %.2f; force off %.2f of %.2f N; %llu "
           "steps\n",
           sync_inputs ? "inputs" : "state", link->latency_us / 1000, off[0], off[1], most, newtons,
           force, (unsigned long long)l.hands[0].steps_max);
    cr_expect_leq(off[0], mean_mm);
    cr_expect_leq(off[1], mean_mm);
    cr_expect_leq(newtons, mean_n);
    cr_expect_gt(force, 1.0);
    cr_expect_leq(l.hands[0].steps_max, STEPS);
    cr_expect_leq(l.hands[1].steps_max, STEPS);
    // Both hold still.
    l.hands[1].target = 0.06;
    for (int n = 0; n < 3000; n++) {
        millisecond(&l, 2);
    }
    cr_expect_lt(fabs(l.hands[0].v), 0.005, "%g m/s", l.hands[0].v);
    cr_expect_lt(fabs(l.hands[1].v), 0.005, "%g m/s", l.hands[1].v);
    close_loop(&l);
}

static const cm_link_def near = {.latency_us = 5000, .jitter_us = 1000};
static const cm_link_def far = {.latency_us = 20000, .jitter_us = 3000};
static const cm_link_def r60 = {.latency_us = 30000, .jitter_us = 5000, .loss = 0.01f};

Test(two_hands, at_5_ms)
{
    check(&near, false, 0.2, 1.2);
}

Test(two_hands, at_20_ms)
{
    check(&far, false, 1.0, 2.5);
}

Test(two_hands, at_30_ms_with_losses)
{
    check(&r60, false, 1.5, 2.2);
}

Test(two_hands, at_20_ms_with_inputs)
{
    check(&far, true, 1.0, 1.5);
}

// Nothing comes through for a while: each hand goes on alone, and no update catches up at once.
static void black_out(uint32_t milliseconds, bool sync_inputs)
{
    static loop l;
    const cm_link_def cut = {.latency_us = 20000, .loss = 1.0f};
    open_loop(&l, &far, sync_inputs);
    for (int n = 0; n < 1500; n++) {
        double come = n < 1000 ? 0.14e-3 * (1000 - n) : 0.0;
        l.hands[0].target = -0.06 - come;
        l.hands[1].target = 0.06 + come;
        millisecond(&l, 2);
    }
    uint16_t last = cm_net_last_port(l.net);
    cm_net_link_port(l.net, last, &cut);
    l.hands[0].steps_max = l.hands[1].steps_max = 0;
    double given = l.hands[0].given + l.hands[1].given;
    for (uint32_t n = 0; n < milliseconds; n++) {
        l.hands[1].target = 0.06 + 0.01 * sin(0.006 * n);
        millisecond(&l, 2);
    }
    cm_net_link_port(l.net, last, &far);
    l.hands[1].target = 0.06;
    double most = 0.0, later = 0.0;
    for (int n = 0; n < 3000; n++) {
        millisecond(&l, 2);
        most = fmax(most, l.hands[0].given + l.hands[1].given - given);
        later = n > 1000 ? fmax(later, fmax(fabs(l.hands[0].v), fabs(l.hands[1].v))) : 0.0;
    }
    printf("nothing for %u ms: %llu and %llu steps; given %g J; later %g m/s\n", milliseconds,
           (unsigned long long)l.hands[0].steps_max, (unsigned long long)l.hands[1].steps_max, most,
           later);
    cr_expect_leq(l.hands[0].steps_max, ANEW);
    cr_expect_leq(l.hands[1].steps_max, ANEW);
    cr_expect_leq(most, 0.02, "both were given %g J", most);
    cr_expect_lt(later, 0.05, "%g m/s", later);
    cr_expect_eq(carom_client_get_state(l.hands[1].client), CAROM_CLIENT_PLAYING);
    close_loop(&l);
}

Test(two_hands, nothing_for_250_ms)
{
    black_out(250, false);
}

Test(two_hands, nothing_for_2_s)
{
    black_out(2000, false);
}

Test(two_hands, nothing_for_250_ms_with_inputs)
{
    black_out(250, true);
}

Test(two_hands, nothing_for_2_s_with_inputs)
{
    black_out(2000, true);
}

// A view may have no room for what another hand does: then that hand is where the views have it,
// and no longer where it was told to be last.
Test(two_hands, one_that_is_told_no_more_is_seen)
{
    static loop l;
    open_loop(&l, &near, false);
    double off = 0.0;
    for (uint32_t n = 0; n < 3000; n++) {
        double come = n < 1000 ? 0.14e-3 * (1000 - n) : 0.0,
               go = n > 1500 ? 5.0e-5 * (n - 1500) : 0.0;
        l.hands[0].target = -0.06 - come - go;
        l.hands[1].target = 0.06 + come;
        if (n == 1200) {
            l.hands[1].client->predictor->relayed = UINT32_MAX;
        }
        millisecond(&l, 2);
        double seen = (double)body(l.hands[1].client->predictor->world, 2).position.x;
        off = n > 1500 ? fmax(off, fabs(seen - l.hands[0].x)) : off;
    }
    cr_expect_lt(off, 0.005, "it is seen %g m aside", off);
    close_loop(&l);
}
