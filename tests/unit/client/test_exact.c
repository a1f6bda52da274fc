// Goal: in a room with exact sync every client has the server's world, bit for bit, at each
// confirmed tick, and its prediction is that same world where the inputs were known; whatever the
// paths do, who joins, who comes back, and whether the server dies. A client whose world differs
// says at which tick, heals, and goes on. Method: away.h; clients check the hash of each tick
// themselves (`desyncs`), and the prediction is read back and hashed here.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/wire/input_relay.h"
#include "tests/unit/counts.h"
#include "tests/unit/node/away.h"
#include "tests/unit/node/rig.h"

static char logged[8192];

static void keep_log(void *user, carom_log_level level, const char *text)
{
    (void)user;
    size_t used = strlen(logged);
    if (level >= CAROM_LOG_WARNING) {
        snprintf(logged + used, sizeof logged - used, "%s\n", text);
    }
}

// Drives as the time says, so that they meet.
static void steer(away *a, uint32_t i, uint64_t step)
{
    float angle = 0.021f * (float)step * (1.0f + 0.3f * (float)i);
    float x = angle - 6.2831853f * (float)(int)(angle / 6.2831853f);
    uint8_t input[CAROM_INPUT_MAX];
    rig_input(input, x < 3.14f ? 1.0f : -1.0f, x < 1.57f || x > 4.71f ? 1.0f : -1.0f,
              (uint8_t)(step / 300 % 2));
    carom_client_set_input(a->clients[i], input, RIG_INPUT_SIZE);
}

// The predicted state of the newest confirmed tick is the confirmed one. False: not kept now.
static bool is_predicted(const carom_client *client, carom_game *scratch)
{
    const cm_predictor *p = client->predictor;
    uint64_t tick = carom_game_tick(client->mirror->game);
    if (p == NULL || !p->ready || p->rebuild || tick <= p->started ||
        tick >= cm_predictor_tick(p) || !cm_timeline_read(p->timeline, tick, scratch)) {
        return false;
    }
    cr_assert_eq(cm_game_hash(scratch), cm_game_hash(client->mirror->game), "tick %llu",
                 (unsigned long long)tick);
    return true;
}

static uint64_t play(away *a, double seconds, carom_game *scratch)
{
    uint64_t predicted = 0;
    for (uint64_t step = 0; step < (uint64_t)(seconds * 1.0e6 / AWAY_STEP_US); step++) {
        for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
            if (a->clients[i] != NULL && step % 4 == 0) {
                steer(a, i, step);
            }
        }
        away_step(a);
        for (uint32_t i = 0; scratch != NULL && i < AWAY_CLIENTS && step % 16 == 0; i++) {
            if (a->clients[i] != NULL && a->clients[i]->mirror != NULL) {
                predicted += is_predicted(a->clients[i], scratch);
            }
        }
    }
    return predicted;
}

static carom_game *scratch_of(const away *a)
{
    carom_game *game = NULL;
    cr_assert_eq(cm_game_create(a->scene, cm_module_find("sandbox"), 1, NULL, &game), CAROM_OK);
    return game;
}

static uint64_t confirmed(const away *a, uint32_t i)
{
    return carom_game_tick(a->clients[i]->mirror->game);
}

static void expect_exact(const away *a, uint32_t clients)
{
    for (uint32_t i = 0; i < clients; i++) {
        cr_assert_eq(carom_client_get_state(a->clients[i]), CAROM_CLIENT_PLAYING);
        carom_client_stats stats = away_client_stats(a, i);
        cr_expect_eq(stats.desyncs, 0);
        cr_expect_eq(stats.packets_refused, 0);
        uint64_t behind = stats.server_tick - confirmed(a, i);
        cr_expect_leq(behind, 120, "client %u is %llu ticks behind", i, (unsigned long long)behind);
    }
}

// Paths that lose, delay and get slower at once, so that the room rewinds; one joins late, one
// comes back by another address.
Test(exact, every_client_has_the_servers_world)
{
    uint64_t rewinds = 0, predicted = 0;
    for (uint64_t seed = 1; seed <= test_count(2, 25); seed++) {
        away a;
        away_make(&a, &(away_def){.seed = seed, .exact = true, .side = 4, .grace_ms = 15000});
        carom_game *scratch = scratch_of(&a);
        for (uint32_t i = 0; i < 3; i++) {
            away_join(&a, i);
        }
        predicted += play(&a, 3.0, scratch);
        cm_link_def slow = {.latency_us = 90000, .jitter_us = 30000, .loss = 0.05f};
        cm_net_link_port(a.net, a.ports[1], &slow);
        away_join(&a, 3);
        for (uint32_t i = 0; i < 3; i++) { // the lead is too short each time
            slow.latency_us += 50000;
            cm_net_link_port(a.net, a.ports[i % 2], &slow);
            predicted += play(&a, 1.0, scratch);
        }
        cm_net_partition(a.net, a.ports[2], true);
        predicted += play(&a, 4.0, scratch);
        cr_expect_eq(away_client_stats(&a, 2).comebacks, 1);
        expect_exact(&a, AWAY_CLIENTS);
        cm_room_stats stats;
        cm_room_stats_get(cm_hosted_room_room(cm_worker_room_at(a.worker, 0)), &stats);
        rewinds += stats.rewinds;
        cm_game_destroy(scratch);
        away_free(&a);
    }
    printf("exact: %llu rewinds, %llu predictions equal\n", (unsigned long long)rewinds,
           (unsigned long long)predicted);
    cr_expect_gt(rewinds, 5);
    cr_expect_gt(predicted, 200);
}

static const uint8_t *rubbish(void *context, uint32_t player, uint64_t tick)
{
    static const uint8_t drives[CAROM_INPUT_MAX] = {0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xbf};
    (void)player;
    return tick > *(const uint64_t *)context ? NULL : drives;
}

// A view that left before a late input came, and arrives behind the confirmed tick, changes
// nothing.
Test(exact, a_late_view_changes_nothing_confirmed)
{
    away a;
    away_make(&a, &(away_def){.seed = 8, .exact = true, .lossless = true});
    carom_game *scratch = scratch_of(&a);
    away_join(&a, 0);
    away_join(&a, 1);
    play(&a, 1.0, NULL);
    cm_predictor *p = a.clients[0]->predictor;
    uint64_t newest = p->relayed, tick = confirmed(&a, 0);
    cm_view_header header = {.tick = (uint32_t)tick};
    const cm_input_relay told = {.tick = tick, .back = 4, .players = 2, .input_size = 11};
    bool news;
    header.relay_size = (uint32_t)cm_input_relay_write(&told, rubbish, &tick, header.relay,
                                                       sizeof header.relay, &news);
    p->relayed = 0;
    cr_assert_eq(cm_predictor_relay(p, &header), CM_PACKET_OK);
    p->relayed = newest;
    uint64_t corrections = p->stats.reconciles;
    cm_predictor_follow(p, cm_predictor_tick(p));
    cr_expect_eq(p->stats.reconciles, corrections);
    cr_expect_gt(play(&a, 1.0, scratch), 5);
    cm_game_destroy(scratch);
    away_free(&a);
}

static const uint8_t *beyond_all(void *context, uint32_t player, uint64_t tick)
{
    static const uint8_t drives[CAROM_INPUT_MAX] = {[4] = 0xc0, 0x7f}; // NaN, as above
    (void)player;
    return tick > *(const uint64_t *)context ? NULL : drives;
}

// The module is not shown what its check_input refuses, whoever relays it.
Test(exact, a_relayed_input_that_nobody_may_give_is_passed_over)
{
    away a;
    away_make(&a, &(away_def){.seed = 11, .exact = true, .lossless = true});
    away_join(&a, 0);
    away_join(&a, 1);
    play(&a, 1.0, NULL);
    cm_predictor *p = a.clients[0]->predictor;
    uint64_t tick = cm_predictor_tick(p);
    uint32_t other = carom_client_player(a.clients[1]);
    const cm_input_relay told = {
        .tick = tick, .back = 4, .players = UINT64_C(1) << other, .input_size = 11};
    bool news;
    cm_view_header header = {.tick = (uint32_t)tick};
    header.relay_size = (uint32_t)cm_input_relay_write(&told, beyond_all, &tick, header.relay,
                                                       sizeof header.relay, &news);
    cr_assert_eq(cm_predictor_relay(p, &header), CM_PACKET_OK);
    const uint8_t *input = cm_inbox_input(cm_timeline_inbox(p->timeline), tick, other, tick);
    const uint8_t *nan = beyond_all(&tick, other, tick);
    cr_expect(input == NULL || memcmp(input, nan, 6) != 0);
    play(&a, 1.0, NULL);
    expect_exact(&a, 2);
    away_free(&a);
}

static void differ(uint32_t side)
{
    away a;
    logged[0] = '\0';
    away_make(&a, &(away_def){.seed = 3, .exact = true, .side = side});
    a.client_def.log = keep_log;
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_join(&a, i);
    }
    play(&a, 1.0, NULL);
    cm_mirror *mirror = a.clients[2]->mirror;
    uint32_t cube = cm_scene_find_body(mirror->scene, "cube_4");
    carom_body_id body = carom_world_body_at(mirror->world, cube);
    carom_body_state state;
    cr_assert_eq(carom_body_get(mirror->world, body, &state), CAROM_OK);
    state.position.y += 0.001f;
    cr_assert_eq(carom_body_set_pose(mirror->world, body, state.position, state.orientation),
                 CAROM_OK);
    uint64_t tick = carom_game_tick(mirror->game) + 1, epoch = mirror->epoch;
    play(&a, 1.0, NULL);
    char expected[64];
    snprintf(expected, sizeof expected, "differs from the server's at tick %llu",
             (unsigned long long)tick);
    cr_expect_not_null(strstr(logged, expected), "%s", logged);
    cr_expect_not_null(strstr(logged, "position of cube_4"), "%s", logged);
    cr_expect_eq(away_client_stats(&a, 2).desyncs, 1);
    cr_expect_neq(a.clients[2]->mirror->epoch, epoch);
    cr_expect_eq(away_logged(&a, "player differs"), 1);
    play(&a, 2.0, NULL);
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        cr_expect_eq(carom_client_get_state(a.clients[i]), CAROM_CLIENT_PLAYING);
        cr_expect_eq(away_client_stats(&a, i).desyncs, i == 2);
        cr_expect_eq(away_client_stats(&a, i).comebacks, 0);
        cr_expect_gt(confirmed(&a, i) + 40, away_client_stats(&a, i).server_tick);
    }
    away_free(&a);
}

// A client that is off by a bit names the tick and, with the keyframe, body and field; it heals,
// and plays on. The others notice nothing.
Test(exact, who_differs_is_healed)
{
    differ(3);
}

// So it does where a welcome waits for others that come (cm_welcomes_may_begin): until it goes, all
// ticks do, up to the keyframe's.
Test(exact, who_differs_in_a_large_world_is_healed)
{
    differ(40);
}

// Whatever else a server says is checked before a step: the client ends, and its world is what it
// was.
Test(exact, a_lying_server_is_not_followed)
{
    static const char *const lies[] = {"a gap", "a tick again", "a world change", "ticks to come",
                                       "an input that nobody may give"};
    for (uint32_t lie = 0; lie < 5; lie++) {
        away a;
        away_make(&a, &(away_def){.seed = 5 + lie, .exact = true, .lossless = true});
        away_join(&a, 0);
        play(&a, 0.5, NULL);
        carom_client *client = a.clients[0];
        uint8_t *bytes = NULL;
        size_t size = 0;
        uint64_t next = confirmed(&a, 0) + 1;
        carom_reason reason = CAROM_REASON_NONE;
        for (uint32_t i = 0; i < 2000 && reason == CAROM_REASON_NONE; i++) {
            uint64_t tick = lie == 0 ? next + 1 : lie == 1 ? next - 1 : next + i;
            const carom_player_input beyond = {
                .player = 0, .bytes = {[4] = 0xc0, 0x7f}}; // NaN, behind what was seen
            cm_confirmed_tick empty = {.tick = tick, .hash = 1, .input = {.inputs = &beyond}};
            empty.input.input_count = lie == 4;
            uint8_t ticks[64];
            cm_control said = {.type = CM_CONTROL_CONFIRMED,
                               .payload = {ticks, cm_confirmed_write(&empty, ticks, sizeof ticks)}};
            said.type = lie == 2 ? CM_CONTROL_WORLD_CHANGE : said.type;
            cr_assert_eq(cm_control_encode(&said, NULL, &bytes, &size), CAROM_OK);
            cm_client_control(client, bytes, size);
            cm_control_release_bytes(NULL, bytes);
            reason = carom_client_get_reason(client);
            cr_assert(lie == 3 || reason != CAROM_REASON_NONE, "%s", lies[lie]);
        }
        cr_expect_eq(reason, CAROM_REASON_MALFORMED, "%s", lies[lie]);
        cr_expect_eq(carom_client_get_state(client), CAROM_CLIENT_IDLE, "%s", lies[lie]);
        away_free(&a);
    }
}

// A view with a body or a public state is refused, and changes nothing.
Test(exact, a_view_with_bodies_is_refused)
{
    away a;
    away_make(&a, &(away_def){.seed = 6, .exact = true, .lossless = true});
    away_join(&a, 0);
    play(&a, 0.5, NULL);
    cm_mirror *mirror = a.clients[0]->mirror;
    uint64_t hash = cm_game_hash(mirror->game), refused = away_client_stats(&a, 0).packets_refused;
    cm_view_entry entry = {.index = 3, .generation = 1};
    for (uint32_t i = 0; i < 2; i++) {
        cm_view_header header = {.epoch = mirror->epoch,
                                 .sequence = (uint16_t)(mirror->ack_sequence + 1 + i),
                                 .tick = (uint32_t)mirror->newest_tick,
                                 .has_public = i == 1};
        header.public_size = header.has_public ? 4 : 0;
        uint8_t bytes[CM_PACKET_MAX];
        cm_view_writer writer;
        cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
        cr_assert(i == 1 || cm_view_writer_put(&writer, &entry,
                                               cm_view_encode(&mirror->config, NULL, &entry.body)));
        size_t size = cm_view_writer_end(&writer);
        cm_client_packet(a.clients[0], bytes, size);
        cr_expect_eq(a.clients[0]->stats.packets_refused, refused + 1 + i);
    }
    cr_expect_eq(cm_game_hash(mirror->game), hash);
    away_free(&a);
}

// Who asks and asks is welcomed again once in five seconds; nobody else notices.
Test(exact, a_flood_of_asks_is_answered_rarely)
{
    away a;
    away_make(&a, &(away_def){.seed = 7, .exact = true, .lossless = true});
    away_join(&a, 0);
    away_join(&a, 1);
    const cm_control ask = {.type = CM_CONTROL_CONFIRMED, .tick = 9};
    uint32_t welcomes = 0;
    uint8_t epoch = a.clients[1]->mirror->epoch, other = a.clients[0]->mirror->epoch;
    for (uint32_t i = 0; i < 12 * 20; i++) {
        cm_client_send_control(a.clients[1], &ask);
        play(&a, 0.05, NULL);
        welcomes += a.clients[1]->mirror->epoch != epoch;
        epoch = a.clients[1]->mirror->epoch;
    }
    cr_expect_eq(welcomes, 3);
    cr_expect_eq(away_logged(&a, "player differs"), 3);
    cr_expect_eq(carom_client_get_state(a.clients[1]), CAROM_CLIENT_PLAYING);
    cr_expect_eq(a.clients[0]->mirror->epoch, other);
    cr_expect_eq(away_client_stats(&a, 1).desyncs, 0);
    away_free(&a);
}

// A keyframe in parts: the ticks behind its welcome wait until it is whole, however long that
// takes, and are then stepped a few in each update: none of a join is a long one.
Test(exact, a_large_world_comes_in_parts)
{
    away a;
    uint64_t most = 0, replayed = 0, before = 0;
    away_make(&a, &(away_def){.seed = 9, .exact = true, .lossless = true, .side = 40});
    away_connect(&a, 0);
    for (uint32_t i = 0; i < 1000 && a.clients[0]->keyframe.welcome == NULL; i++) {
        away_step(&a);
    }
    cr_assert_not_null(a.clients[0]->keyframe.welcome);
    cm_net_partition(a.net, cm_net_last_port(a.net), true);
    away_run(&a, 11.0);
    cm_net_partition(a.net, cm_net_last_port(a.net), false);
    for (uint32_t i = 0; i < 10000 && carom_client_get_state(a.clients[0]) != CAROM_CLIENT_PLAYING;
         i++) {
        away_step(&a);
        if (a.clients[0]->mirror != NULL) {
            uint64_t steps = before > 0 ? confirmed(&a, 0) - before : 0;
            before = confirmed(&a, 0);
            most = steps > most ? steps : most;
            replayed += steps;
        }
    }
    away_run(&a, 1.0);
    printf("exact: %llu ticks behind a keyframe, %llu at the most in an update\n",
           (unsigned long long)replayed, (unsigned long long)most);
    cr_expect_gt(replayed, 600);
    cr_expect_leq(most, 8, "no more than a message has where a room plays");
    cr_expect_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    cr_expect_eq(away_client_stats(&a, 0).desyncs, 0);
    cr_expect_gt(confirmed(&a, 0), a.clients[0]->mirror->keyframe_tick + 600);
    away_free(&a);
}

// Within the update that makes the world the machine stands still.
static void stand_still(void *user, carom_log_level level, const char *text)
{
    away *a = user;
    (void)level;
    if (strstr(text, "joined") != NULL && away_logged(a, "player joined") == 1) {
        for (uint32_t i = 0; i < 13000000u / AWAY_STEP_US; i++) {
            cm_net_advance(a->net, AWAY_STEP_US);
            cm_worker_run_once(a->worker, cm_net_now_us(a->net));
        }
    }
}

// The ticks of that time are no lie of the server's, and are not all stepped in one update.
Test(exact, a_welcome_may_take_long)
{
    away a;
    away_make(&a, &(away_def){.seed = 9, .exact = true, .timeout_ms = 60000});
    a.client_def.log = stand_still;
    a.client_def.user = &a;
    away_connect(&a, 0);
    uint64_t before = 0, most = 0;
    for (uint32_t i = 0; i < 1250; i++) {
        away_step(&a);
        const cm_mirror *mirror = a.clients[0]->mirror;
        if (mirror != NULL) {
            before = before > 0 ? before : mirror->keyframe_tick;
            uint64_t steps = confirmed(&a, 0) - before;
            before += steps;
            most = steps > most ? steps : most;
        }
    }
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING, "%s",
                 carom_reason_text(carom_client_get_reason(a.clients[0])));
    cr_expect_gt(confirmed(&a, 0), 800);
    cr_expect_leq(most, 60 + 8, "%llu: a second and a message", (unsigned long long)most);
    cr_expect_eq(away_client_stats(&a, 0).desyncs, 0);
    away_free(&a);
}

// A device's updates step what waits in parts: a message that comes meanwhile waits behind it.
Test(exact, what_waits_is_stepped_in_its_order)
{
    const cm_link_def uneven = {.latency_us = 150000, .jitter_us = 150000};
    away a;
    away_make(&a, &(away_def){.seed = 7, .exact = true, .lossless = true});
    away_join(&a, 0);
    cm_net_link_port_down(a.net, a.ports[0], &uneven);
    carom_client *client = a.clients[0];
    client->pointer.device.period = 0.004f;
    uint64_t behind = 0, before = confirmed(&a, 0);
    for (uint32_t i = 0; i < 5000; i++) {
        size_t waited = client->exact.have - client->exact.used;
        away_step(&a);
        behind += waited > 0 && client->exact.have - client->exact.used > waited;
    }
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING, "%s",
                 carom_reason_text(carom_client_get_reason(client)));
    cr_expect_gt(behind, 3, "it shows nothing");
    cr_expect_gt(confirmed(&a, 0), before + 1100);
    cr_expect_eq(away_client_stats(&a, 0).desyncs + away_client_stats(&a, 0).packets_refused, 0);
    away_free(&a);
}

static void crash_once(uint64_t seed)
{
    away a;
    away_make(&a, &(away_def){.seed = seed, .exact = true, .record = true, .grace_ms = 15000});
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_join(&a, i);
    }
    play(&a, 1.0, NULL);
    cm_store_pump(a.store);
    play(&a, 1.0, NULL);
    uint64_t before = confirmed(&a, 0);
    away_crash(&a);
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_until(&a, i, CAROM_CLIENT_PLAYING);
    }
    cr_expect_lt(confirmed(&a, 0), before + 300);
    play(&a, 3.0, NULL);
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        cr_expect_eq(carom_client_get_state(a.clients[i]), CAROM_CLIENT_PLAYING);
        cr_expect_eq(away_client_stats(&a, i).desyncs, 0);
        cr_expect_eq(away_client_stats(&a, i).comebacks, 1);
    }
    away_free(&a);
}

// A server that dies takes confirmed ticks back: all is a new epoch, from what was committed.
Test(exact, a_crash_begins_a_new_epoch)
{
    for (uint64_t seed = 4; seed < 4 + test_count(1, 20); seed++) {
        crash_once(seed);
    }
}
