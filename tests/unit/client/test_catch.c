// What moves by itself is felt: a block that falls on a hand that holds still, at 1 kHz, in virtual
// time. Oracle: a world of its own with the same block and the same device, and the energy that
// gravity gave the block. Until it leaves the hand for the first time the two agree; the hand gets
// no more than the block had.
//
// And the count of energy alone: what bodies brought is given back, once, and no more.
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/predict.h"
#include "client-sdk/src/state.h"
#include "server/node/worker.h"
#include "shared/game/pointer.h"
#include "shared/net/net.h"
#include "shared/scene/scene_json.h"

#define PORT  9360u
#define MASS  0.3
#define HAND  0.3 // height
#define X     0.4
#define PARTS 8u // steps: two parts of the least size

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"catch\", \"tick_rate\": 1000, \"bounds\": [[-1, -1, -1], [1, 1, "
    "1]],"
    " \"replication\": {\"view_rate\": 60, \"budget_kbit\": 512, \"position_step\": 0.00005},"
    " \"solver\": {\"type\": \"volume\", \"stiffness\": 625000, \"damping\": 400},"
    " \"bodies\": ["
    "{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], "
    "\"offset\": 0}}]},"
    "{\"name\": \"block\", \"position\": [0, 0.0497, 0], \"mass\": 0.3,"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.05, 0.05, 0.05]}}]},"
    "{\"name\": \"tip\", \"position\": [0.4, 0.3, 0], \"pointer\": {\"player\": 0},"
    " \"shapes\": [{\"box\": {\"half_extents\": [0.02, 0.02, 0.02]}}]}]}";

// A mass with damping, held by a spring.
typedef struct device {
    double y, v, force, given; // given: J, by the contact
} device;

typedef struct loop {
    cm_net *net;
    cm_scene *scene;
    cm_worker *worker;
    carom_client *client;
    cm_config config;
    device dev, alone;
    void *memory;
    carom_world *local;
    carom_pointer_wrench wrench;
} loop;

static void move_device(device *d)
{
    for (int i = 0; i < 20; i++) {
        d->v += 5.0e-5 * (d->force + 300.0 * (HAND - d->y) - 3.0 * d->v) / 0.2;
        d->y += 5.0e-5 * d->v;
        d->given += 5.0e-5 * d->force * d->v;
    }
}

static carom_pointer_pose pose_of(const device *d)
{
    carom_pointer_pose pose = {.position = {(float)X, (float)d->y, 0.0f},
                               .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                               .linear_velocity = {0.0f, (float)d->v, 0.0f}};
    return pose;
}

static void millisecond(loop *l)
{
    cm_net_advance(l->net, 1000);
    cm_worker_run_once(l->worker, cm_net_now_us(l->net));
    move_device(&l->dev);
    carom_pointer_pose pose = pose_of(&l->dev);
    (void)carom_client_pointer_set(l->client, &pose);
    carom_client_update(l->client, cm_net_now_us(l->net));
    (void)carom_client_pointer_wrench(l->client, &l->wrench);
    l->dev.force = (double)l->wrench.force.y;
}

static void millisecond_alone(loop *l)
{
    move_device(&l->alone);
    carom_pointer_pose pose = pose_of(&l->alone);
    carom_body_id tip = cm_pointer_body(l->local, 0);
    cm_pointer_put(l->local, tip, &pose);
    carom_world_step(l->local);
    carom_body_state state;
    cr_assert_eq(carom_body_get(l->local, tip, &state), CAROM_OK);
    l->alone.force = (double)state.contact_force.y;
}

static void open_loop(loop *l, uint32_t latency_us, uint32_t cost_ns)
{
    const cm_link_def link = {.latency_us = latency_us};
    memset(l, 0, sizeof *l);
    l->net = cm_net_virtual_create(79);
    cm_net_use(l->net);
    cm_scene_error wrong;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &l->scene, &wrong), CAROM_OK,
                 "%s %s", wrong.path, wrong.message);
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
    own.predict_cost_ns = cost_ns;
    cr_assert_eq(carom_client_create(&own, &l->client), CAROM_OK);
    cr_assert_eq(carom_client_connect(l->client, "127.0.0.1", PORT, cm_net_now_us(l->net)),
                 CAROM_OK);
    cm_net_link_port(l->net, cm_net_last_port(l->net), &link);
    const carom_pointer_device declared = {.period = 0.001f, .damping = 3.0f, .mass = 0.2f};
    cr_assert_eq(carom_client_pointer_device(l->client, &declared), CAROM_OK);
    carom_world_def world;
    cm_scene_world_def(l->scene, &world);
    size_t size = (carom_world_size(&world) + 63u) & ~(size_t)63u;
    l->memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&world, l->memory, size, &l->local), CAROM_OK);
    cr_assert_eq(cm_scene_populate(l->scene, l->local), CAROM_OK);
    l->dev.y = HAND;
    for (int i = 0; i < 2000; i++) {
        millisecond(l);
    }
    cr_assert_eq(carom_client_get_state(l->client), CAROM_CLIENT_PLAYING);
    l->alone = l->dev;
}

static void close_loop(loop *l)
{
    carom_client_destroy(l->client);
    cm_worker_destroy(l->worker);
    free(l->memory);
    cm_scene_free(l->scene);
    cm_net_use(NULL);
    cm_net_destroy(l->net);
}

static carom_body_state block_of(const carom_world *world)
{
    carom_body_state state;
    cr_assert_eq(carom_body_get(world, carom_world_body_at(world, 1), &state), CAROM_OK);
    return state;
}

static void put_block(carom_world *world, carom_vec3 place, carom_vec3 velocity)
{
    const carom_quat upright = {0.0f, 0.0f, 0.0f, 1.0f};
    const carom_vec3 zero = {0.0f, 0.0f, 0.0f};
    carom_body_id block = carom_world_body_at(world, 1);
    cr_assert_eq(carom_body_set_pose(world, block, place, upright), CAROM_OK);
    cr_assert_eq(carom_body_set_velocity(world, block, velocity, zero), CAROM_OK);
}

static void check(uint32_t latency_us)
{
    static loop l;
    const double from = HAND + 0.2;
    open_loop(&l, latency_us, 1000);
    put_block(carom_game_world(
                  (carom_game *)cm_room_game(cm_hosted_room_room(cm_worker_room_at(l.worker, 0)))),
              (carom_vec3){(float)X, (float)from, 0.0f}, (carom_vec3){0.0f, 0.0f, 0.0f});
    for (int i = 0; i < 100; i++) { // it falls, and the client knows
        millisecond(&l);
    }
    carom_body_state block = block_of(l.client->predictor->world);
    put_block(l.local, block.position, block.linear_velocity);
    double peak = 0.0, off = 0.0;
    bool touched = false;
    for (int i = 0; i < 300 && (!touched || l.alone.force != 0.0); i++) {
        millisecond(&l);
        millisecond_alone(&l);
        touched = touched || l.alone.force != 0.0;
        peak = fmax(peak, fabs(l.alone.force));
        off = fmax(off, fabs(l.alone.force - l.dev.force));
    }
    cr_expect_gt(peak, 10.0);
    cr_expect_leq(off, 0.02 * peak, "%g N of %g", off, peak);
    cr_expect_gt(l.dev.given, 0.4, "%g J", l.dev.given);
    cr_expect_leq(l.dev.given, MASS * 9.81 * (from - 0.07 - l.dev.y), "%g J", l.dev.given);
    cr_expect_eq(l.wrench.withheld, false);
    close_loop(&l);
}

Test(catch, what_falls_on_a_hand_is_felt)
{
    check(0);
}

Test(catch, what_falls_on_a_hand_is_felt_at_20_ms)
{
    check(20000);
}

// A device that can push with 5 N gets no more, and is told so; what it gets is what is counted.
Test(catch, no_device_gets_more_than_it_can)
{
    static loop l;
    open_loop(&l, 0, 1000);
    const carom_pointer_device weak = {
        .period = 0.001f, .damping = 3.0f, .mass = 0.2f, .force_max = 5.0f};
    cr_assert_eq(carom_client_pointer_device(l.client, &weak), CAROM_OK);
    put_block(carom_game_world(
                  (carom_game *)cm_room_game(cm_hosted_room_room(cm_worker_room_at(l.worker, 0)))),
              (carom_vec3){(float)X, (float)HAND + 0.2f, 0.0f}, (carom_vec3){0.0f, 0.0f, 0.0f});
    uint32_t saturated = 0;
    for (int i = 0; i < 400; i++) {
        millisecond(&l);
        saturated += l.wrench.saturated;
        cr_expect_leq(fabs(l.dev.force), 5.0001);
        cr_expect(!l.wrench.saturated || l.wrench.withheld || fabs(l.dev.force) > 4.9999);
    }
    cr_expect_gt(saturated, 20);
    cr_expect_float_eq(l.client->pointer.energy, -l.dev.given, 1.0e-3 * l.dev.given);
    const carom_pointer_device wrong = {.torque_max = -1.0f};
    cr_expect_eq(carom_client_pointer_device(l.client, &wrong), CAROM_ERROR_ARGUMENT);
    close_loop(&l);
}

// A correction takes several updates where a step is dear, and meanwhile the block goes on: then it
// is worn off from where the block is shown, which is nowhere set back. No update takes more than
// its parts, one that comes late neither.
Test(catch, a_correction_in_parts_is_worn_off)
{
    static loop l;
    open_loop(&l, 20000, 6000);
    carom_world *served = carom_game_world(
        (carom_game *)cm_room_game(cm_hosted_room_room(cm_worker_room_at(l.worker, 0))));
    const carom_vec3 away = {-0.8f, 0.6f, 0.0f}, along = {1.0f, 0.0f, 0.0f};
    const cm_predictor *p = l.client->predictor;
    carom_client_stats stats;
    uint64_t in_parts = 0, steps_max = 0;
    double back = 0.0;
    put_block(served, away, along);
    for (int i = 0; i < 600; i++) {
        carom_client_stats_get(l.client, &stats);
        uint64_t steps = stats.predicted_steps;
        if (i == 100) { // it is struck, by what no client knew
            put_block(served, block_of(served).position, (carom_vec3){2.0f, 0.0f, 0.0f});
        }
        carom_client_pose before, now;
        carom_body_id block = carom_client_body_at(l.client, 1);
        bool shown = carom_client_body_pose(l.client, block, &before) == CAROM_OK;
        for (int k = 0; k < (i == 400 ? 40 : 0); k++) { // the device stood still
            cm_net_advance(l.net, 1000);
            cm_worker_run_once(l.worker, cm_net_now_us(l.net));
        }
        millisecond(&l);
        in_parts += p->branch != 0;
        carom_client_stats_get(l.client, &stats);
        steps = stats.predicted_steps - steps;
        steps_max = i > 100 && steps > steps_max ? steps : steps_max;
        if (shown && carom_client_body_pose(l.client, block, &now) == CAROM_OK && i > 100 &&
            i < 400) {
            back = fmax(back, (double)(before.position.x - now.position.x));
        }
    }
    cr_expect_gt(in_parts, 10);
    cr_expect_leq(back, 0.0005, "%g m", back);
    cr_expect_leq(steps_max, PARTS, "%llu", (unsigned long long)steps_max);
    close_loop(&l);
}

static bool holds(cm_client_pointer *p, float force, float velocity)
{
    carom_vec3 f = {0.0f, force, 0.0f}, t = {0.0f, 0.0f, 0.0f};
    p->pose.linear_velocity.y = velocity;
    return !cm_pointer_hold(p, &f, &t);
}

// A second of a force of 1 N that moves the hand at 1 mm/s is 1 mJ.
Test(catch, what_was_brought_is_given_once)
{
    cm_client_pointer p = {.device = {.period = 1.0f, .mass = 1.0e6f}};
    cr_expect_not(holds(&p, 1.0f, 0.001f), "nothing was brought");
    p.brought = 0.0011;
    cr_expect(holds(&p, 1.0f, 0.001f));
    p.energy = -0.001; // as it is after that second
    cr_expect_not(holds(&p, 1.0f, 0.001f), "it has been given");
    p.linear.y = 0.001f;
    cr_expect(holds(&p, 1.0f, 0.001f), "what is touched goes on with the hand");
    p.brought = -1.0;
    p.energy = 0.0005;
    cr_expect_not(holds(&p, 1.0f, 0.001f), "what the hand gave to others it has not brought back");
    p.energy = 0.0011;
    cr_expect(holds(&p, 1.0f, 0.001f), "what the hand gave it may have");
}
