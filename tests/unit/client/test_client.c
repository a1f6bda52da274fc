// Goal: the client joins, mirrors, predicts exactly, leaves, and takes no harm from a server that
// refuses, lies, or sends rubbish. Method: a real client on the virtual net against a fake server
// that can misbehave; a counting allocator that can fail; all from seeds, in virtual time.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/rng.h"
#include "tests/unit/client/fake_server.h"

typedef struct memory {
    int64_t live, made;
    int64_t fail_at; // the allocation that fails; 0: none
} memory;

typedef struct seen {
    uint32_t changes, messages;
    carom_client_state states[16];
    uint8_t message[8];
} seen;

static void *count_allocate(void *context, size_t size)
{
    memory *m = context;
    if (++m->made == m->fail_at) {
        return NULL;
    }
    m->live++;
    return malloc(size);
}

static void count_release(void *context, void *bytes)
{
    memory *m = context;
    m->live -= bytes != NULL;
    free(bytes);
}

static void on_state(void *user, carom_client_state state, carom_reason reason)
{
    (void)reason;
    seen *s = user;
    if (s->changes < 16) {
        s->states[s->changes++] = state;
    }
}

static void on_message(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    (void)tick;
    seen *s = user;
    s->messages++;
    memcpy(s->message, bytes, size < 8 ? size : 8);
}

static carom_client *make_client(memory *m, seen *s, bool predict)
{
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.allocator.context = m;
    def.allocator.allocate = count_allocate;
    def.allocator.release = count_release;
    def.user = s;
    def.state_changed = on_state;
    def.message = on_message;
    def.name = "test";
    def.predict = predict;
    carom_client *client = NULL;
    if (carom_client_create(&def, &client) != CAROM_OK) {
        return NULL;
    }
    return client;
}

static void drive(carom_client *client, float x, float z)
{
    uint8_t input[9] = {0};
    memcpy(input, &x, 4);
    memcpy(input + 4, &z, 4);
    cr_assert_eq(carom_client_set_input(client, input, sizeof input), CAROM_OK);
}

static void connect_to(fake_server *server, carom_client *client)
{
    cr_assert_eq(carom_client_connect(client, "127.0.0.1", FAKE_PORT, cm_net_now_us(server->net)),
                 CAROM_OK);
}

static const cm_link_def bad = {
    .latency_us = 50000, .jitter_us = 10000, .loss = 0.03f, .duplicate = 0.02f};

// Each value that the client holds is the server's own quantised one of the same tick.
static uint32_t compare_views(const fake_server *server, const carom_client *client)
{
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    uint32_t compared = 0;
    for (uint32_t row = 0; row < FAKE_HISTORY; row++) {
        if (server->packets[row].tick != stats.server_tick) {
            continue;
        }
        for (uint32_t i = 0; i < server->packets[row].count; i++) {
            const cm_view_entry *entry = &server->packets[row].entries[i];
            cm_view_pose pose;
            cm_view_dequantise(&server->config, &entry->body, &pose);
            carom_body_state state;
            carom_body_id id = carom_client_body_at(client, entry->index);
            cr_assert_eq(carom_body_get(carom_client_world(client), id, &state), CAROM_OK);
            cr_assert_float_eq(state.position.x, pose.position.x, 1.0e-5f);
            cr_assert_float_eq(state.position.y, pose.position.y, 1.0e-5f);
            cr_assert_float_eq(state.position.z, pose.position.z, 1.0e-5f);
            compared++;
        }
    }
    return compared;
}

Test(client, joins_mirrors_predicts_and_leaves)
{
    for (int deltas = 0; deltas < 2; deltas++) {
        fake_server server;
        fake_server_make(&server, 3, 8, &bad);
        server.deltas = deltas != 0;
        memory m = {0};
        seen s = {0};
        carom_client *client = make_client(&m, &s, true);
        connect_to(&server, client);
        fake_play(&server, client, 1.0);
        cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
        drive(client, 0.7f, 0.3f);
        fake_play(&server, client, 10.0);
        carom_client_stats stats;
        carom_client_stats_get(client, &stats);
        cr_assert_gt(compare_views(&server, client), 8);
        cr_assert_gt(stats.views, 250);
        cr_assert_gt(stats.packets_lost, 0);
        cr_assert_eq(stats.desyncs, 0);
        cr_assert_eq(stats.packets_refused, 0);
        cr_assert_gt(stats.error_count, 250);
        cr_assert_lt(stats.error_sum / (double)stats.error_count, 0.01);
        cr_assert_gt(stats.predicted_tick, stats.server_tick + 4);
        cr_assert_eq(server.refused_inputs, 0);
        carom_client_pose pose;
        cr_assert_eq(carom_client_body_pose(client, carom_client_own_body(client), &pose),
                     CAROM_OK);
        cr_assert(pose.predicted);
        cr_assert_gt(pose.position.x, 8.0f); // it moved
        uint32_t here, there;
        const uint32_t *shown = carom_client_public_state(client, &here);
        const uint32_t *told = carom_game_state(server.game);
        (void)cm_game_public(server.game, &there);
        cr_assert_eq(here, there);
        cr_assert_arr_eq(shown, told, there); // who joined, which does not change any more
        cr_assert_eq(carom_client_player(client), server.player);
        carom_client_disconnect(client, cm_net_now_us(server.net));
        fake_play(&server, client, 1.0);
        cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_IDLE);
        cr_assert_eq(carom_client_get_reason(client), CAROM_REASON_LEFT);
        cr_assert_eq(s.changes, 4);
        cr_assert_eq(s.states[0], CAROM_CLIENT_CONNECTING);
        cr_assert_eq(s.states[1], CAROM_CLIENT_JOINING);
        cr_assert_eq(s.states[2], CAROM_CLIENT_PLAYING);
        cr_assert_eq(s.states[3], CAROM_CLIENT_IDLE);
        carom_client_destroy(client);
        cr_assert_eq(m.live, 0);
        fake_server_free(&server);
    }
}

// A rewind steps exactly the ticks since the view that it corrects to, an agreeing view none.
Test(client, steps_exactly_the_ticks_since_the_view)
{
    fake_server server;
    fake_server_make(&server, 5, 4, &bad);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, true);
    connect_to(&server, client);
    fake_play(&server, client, 3.0);
    carom_client_stats before, now;
    carom_client_stats_get(client, &before);
    uint32_t rewinds = 0, agreed = 0;
    for (int i = 0; i < 5000; i++) {
        if (i % 400 == 399) { // a shove that no client can foresee
            carom_body_id own = cm_game_player_body(server.game, server.player);
            carom_vec3 push = {i % 800 == 399 ? 300.0f : -300.0f, 100.0f, 0.0f};
            carom_body_state state;
            carom_body_get(carom_game_world(server.game), own, &state);
            carom_body_apply_impulse(carom_game_world(server.game), own, push,
                                     state.center_of_mass);
        }
        fake_play(&server, client, 0.002);
        carom_client_stats_get(client, &now);
        uint64_t expected = now.predicted_tick - before.predicted_tick;
        if (now.reconciles > before.reconciles) {
            cr_assert_eq(now.reconciles, before.reconciles + 1);
            expected = now.predicted_tick - now.server_tick;
            rewinds++;
        } else if (now.server_tick > before.server_tick) {
            agreed++;
        }
        cr_assert_eq(now.predicted_steps - before.predicted_steps, expected);
        before = now;
    }
    cr_assert_gt(rewinds, 10);
    cr_assert_gt(agreed, 50);
    cr_assert_gt(now.error_max, 0.05);
    carom_client_destroy(client);
    cr_assert_eq(m.live, 0);
    fake_server_free(&server);
}

Test(client, without_prediction_it_interpolates)
{
    fake_server server;
    fake_server_make(&server, 6, 4, &bad);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, false);
    connect_to(&server, client);
    fake_play(&server, client, 1.0);
    drive(client, 0.0f, -0.5f);
    float last = 1.0e9f;
    for (int i = 0; i < 100; i++) {
        fake_play(&server, client, 0.03);
        carom_client_pose pose;
        cr_assert_eq(carom_client_body_pose(client, carom_client_own_body(client), &pose),
                     CAROM_OK);
        cr_assert_not(pose.predicted);
        if (i > 40) {
            cr_assert_lt(pose.position.z, last);
        }
        last = pose.position.z;
    }
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    cr_assert_eq(stats.predicted_steps, 0);
    cr_assert_gt(stats.interpolation_delay_ms, 30);
    carom_client_destroy(client);
    fake_server_free(&server);
}

Test(client, messages_go_both_ways)
{
    fake_server server;
    fake_server_make(&server, 7, 2, &bad);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, true);
    cr_assert_eq(carom_client_send(client, "hi", 2), CAROM_ERROR_STATE);
    connect_to(&server, client);
    fake_play(&server, client, 1.0);
    cr_assert_eq(carom_client_send(client, "hello", 5), CAROM_OK);
    fake_play(&server, client, 1.0);
    cr_assert_eq(server.messages, 1);
    cr_assert_eq(s.messages, 1);
    cr_assert_eq(memcmp(s.message, "hello", 5), 0);
    carom_client_destroy(client);
    fake_server_free(&server);
}

// Cut for what every path carries, whatever MTU the library gives a peer that connects.
Test(client, a_long_message_passes_a_narrow_path)
{
    static const cm_link_def narrow = {.latency_us = 20000, .mtu = 600};
    static const uint8_t message[CAROM_MESSAGE_MAX] = {1};
    fake_server server;
    fake_server_make(&server, 8, 2, &narrow);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, false);
    connect_to(&server, client);
    fake_play(&server, client, 1.0);
    cr_assert_eq(carom_client_send(client, message, sizeof message), CAROM_OK);
    fake_play(&server, client, 1.0);
    cr_assert_eq(server.messages, 1);
    carom_client_destroy(client);
    fake_server_free(&server);
}

Test(client, every_refusal_has_its_reason)
{
    for (uint32_t reason = CAROM_REASON_NONE + 1; reason < CAROM_REASON_COUNT; reason++) {
        fake_server server;
        fake_server_make(&server, 8 + reason, 2, NULL);
        server.auto_welcome = false;
        memory m = {0};
        seen s = {0};
        carom_client *client = make_client(&m, &s, true);
        connect_to(&server, client);
        fake_play(&server, client, 0.2);
        cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_JOINING);
        if (reason % 2 == 0) {
            cm_control refused = {.type = CM_CONTROL_REFUSED, .reason = (carom_reason)reason};
            fake_server_control(&server, &refused);
        } else {
            fake_server_disconnect(&server, reason);
        }
        fake_play(&server, client, 0.5);
        cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_IDLE);
        cr_assert_eq((uint32_t)carom_client_get_reason(client), reason);
        carom_client_destroy(client);
        cr_assert_eq(m.live, 0);
        fake_server_free(&server);
    }
}

Test(client, silence_times_out)
{
    fake_server server;
    fake_server_make(&server, 9, 2, NULL);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, true);
    cr_assert_eq(carom_client_connect(client, "127.0.0.1", FAKE_PORT + 1, 1000000), CAROM_OK);
    fake_play(&server, client, 5.5);
    cr_assert_eq(carom_client_get_reason(client), CAROM_REASON_UNREACHABLE);
    server.auto_welcome = false; // answers ENet, never a hello
    connect_to(&server, client);
    fake_play(&server, client, 15.5);
    cr_assert_eq(carom_client_get_reason(client), CAROM_REASON_TIMEOUT);
    server.auto_welcome = true;
    connect_to(&server, client);
    fake_play(&server, client, 1.0);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    cm_net_partition(server.net, FAKE_PORT, true);
    fake_play(&server, client, 20.0);
    cr_assert_eq(carom_client_get_reason(client), CAROM_REASON_TIMEOUT);
    carom_client_destroy(client);
    cr_assert_eq(m.live, 0);
    fake_server_free(&server);
}

// Ticks go back: what was held belongs to an earlier epoch, and views of that one are passed over.
// The input that the game gave stays. A second welcome of the same epoch is a lie.
Test(client, a_new_epoch_begins_anew)
{
    fake_server server;
    fake_server_make(&server, 33, 5, &bad);
    server.deltas = true;
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, true);
    connect_to(&server, client);
    fake_play(&server, client, 4.0);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    drive(client, 0.5f, 0.25f);
    fake_play(&server, client, 1.0);
    carom_client_stats before, after;
    carom_client_stats_get(client, &before);
    cr_assert_gt(before.server_tick, 200);
    fake_server_seek_start(&server);
    fake_play(&server, client, 1.0);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    carom_client_stats_get(client, &after);
    cr_assert_lt(after.server_tick, 100);
    cr_assert_gt(after.server_tick, 10);
    cr_assert_gt(compare_views(&server, client), 4);
    cr_assert_eq(after.desyncs, 0);
    cr_assert_eq(after.packets_refused, before.packets_refused, "a view of the old epoch is none");
    cr_assert_gt(server.other_epochs, 0);
    float x;
    memcpy(&x, server.inputs[server.settled % FAKE_HISTORY], sizeof x);
    cr_assert_float_eq(x, 0.5f, 0.0f, "the player holds the same stick");
    fake_server_welcome(&server);
    fake_play(&server, client, 0.3);
    cr_assert_eq(carom_client_get_reason(client), CAROM_REASON_MALFORMED);
    carom_client_destroy(client);
    cr_assert_eq(m.live, 0);
    fake_server_free(&server);
}

// Welcomes with one thing wrong.
Test(client, a_lying_welcome_is_refused)
{
    static const carom_reason expected[] = {
        CAROM_REASON_MODULE_UNKNOWN, CAROM_REASON_MODULE_UNKNOWN, CAROM_REASON_SCENE_REFUSED,
        CAROM_REASON_MALFORMED,      CAROM_REASON_MALFORMED,      CAROM_REASON_MALFORMED,
        CAROM_REASON_MALFORMED};
    uint8_t rubbish[64];
    memset(rubbish, 0xa5, sizeof rubbish);
    for (uint32_t wrong = 0; wrong < 7; wrong++) {
        fake_server server;
        fake_server_make(&server, 20 + wrong, 2, NULL);
        server.auto_welcome = false;
        memory m = {0};
        seen s = {0};
        carom_client *client = make_client(&m, &s, true);
        connect_to(&server, client);
        fake_play(&server, client, 0.2);
        static uint8_t scene[1 << 16], keyframe[1 << 20];
        cm_scene_pack(server.scene, scene);
        size_t keyframe_size = cm_game_encode(server.game, keyframe, sizeof keyframe);
        cm_control w = {.type = CM_CONTROL_WELCOME,
                        .tick_rate = 60,
                        .view_rate = 30,
                        .input_rate = 60,
                        .module = wrong == 0 ? "chess" : "sandbox",
                        .module_version = wrong == 1 ? 999 : cm_game_module(server.game)->version,
                        .module_abi = CAROM_MODULE_ABI,
                        .scene = {scene, cm_scene_packed_size(server.scene)},
                        .keyframe = {keyframe, keyframe_size}};
        if (wrong == 2) {
            w.scene.data = rubbish;
            w.scene.size = sizeof rubbish;
        } else if (wrong == 3) {
            w.keyframe.data = rubbish;
            w.keyframe.size = sizeof rubbish;
        } else if (wrong == 4) {
            w.tick_rate = 50; // not the scene's
        } else if (wrong == 5) {
            w.type = CM_CONTROL_WORLD_CHANGE; // before any welcome
            w.gone_count = 0;
        } else if (wrong == 6) {
            w = (cm_control){.type = CM_CONTROL_DURABILITY,
                             .durability = CAROM_DURABILITY_LOST,
                             .tick = 3}; // the same
        }
        fake_server_control(&server, &w);
        fake_play(&server, client, 0.5);
        cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_IDLE, "case %u", wrong);
        cr_assert_eq(carom_client_get_reason(client), expected[wrong], "case %u: %s", wrong,
                     carom_reason_text(carom_client_get_reason(client)));
        carom_client_destroy(client);
        cr_assert_eq(m.live, 0);
        fake_server_free(&server);
    }
}

// Rubbish on both channels: views are counted and dropped, a control message ends the connection.
Test(client, rubbish_does_no_harm)
{
    cm_rng rng;
    cm_rng_seed(&rng, 99);
    fake_server server;
    fake_server_make(&server, 30, 6, NULL);
    server.deltas = true;
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, true);
    connect_to(&server, client);
    fake_play(&server, client, 1.0);
    for (int i = 0; i < 3000; i++) {
        uint8_t bytes[CM_PACKET_MAX];
        uint32_t size = cm_rng_below(&rng, sizeof bytes) + 1;
        for (uint32_t k = 0; k < size; k++) {
            bytes[k] = (uint8_t)cm_rng_next(&rng);
        }
        bytes[0] = cm_rng_below(&rng, 2) ? CM_PACKET_VIEW : bytes[0];
        bytes[CM_PACKET_EPOCH_AT] = 0; // of another one it would be passed over
        fake_server_bytes(&server, 1, bytes, size);
        fake_play(&server, client, 0.004);
    }
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    cr_assert_gt(stats.packets_refused, 2500);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    cr_assert_gt(compare_views(&server, client), 4);
    uint8_t nonsense[40];
    memset(nonsense, 0xff, sizeof nonsense);
    fake_server_bytes(&server, 0, nonsense, sizeof nonsense);
    fake_play(&server, client, 0.3);
    cr_assert_eq(carom_client_get_reason(client), CAROM_REASON_MALFORMED);
    carom_client_destroy(client);
    cr_assert_eq(m.live, 0);
    fake_server_free(&server);
}

// A server that begins near the last tick leads the client past what a packet can hold.
Test(client, the_end_of_ticks_does_no_harm)
{
    fake_server server;
    fake_server_make(&server, 32, 3, NULL);
    memory m = {0};
    seen s = {0};
    server.send_views = false;
    carom_client *client = make_client(&m, &s, true);
    connect_to(&server, client);
    fake_play(&server, client, 0.3);
    cr_assert(server.welcomed);
    cm_view_header header = {.sequence = 1, .tick = UINT32_MAX - 20, .input_lead = CM_LEAD_UNKNOWN};
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
    fake_server_bytes(&server, 1, bytes, cm_view_writer_end(&writer));
    fake_play(&server, client, 1.0);
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    cr_assert_eq(stats.server_tick, UINT32_MAX - 20);
    cr_assert_eq(stats.predicted_tick, UINT32_MAX);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
    carom_client_destroy(client);
    cr_assert_eq(m.live, 0);
    fake_server_free(&server);
}

// Each allocation in turn fails: no crash, nothing leaks, and the client says why it is idle.
Test(client, survives_any_failed_allocation)
{
    uint32_t ended = 0, played = 0;
    for (int64_t fail = 1; fail < 200; fail++) {
        fake_server server;
        fake_server_make(&server, 40, 2, NULL);
        memory m = {.fail_at = fail};
        seen s = {0};
        carom_client *client = make_client(&m, &s, true);
        if (client != NULL) {
            if (carom_client_connect(client, "127.0.0.1", FAKE_PORT, cm_net_now_us(server.net)) ==
                CAROM_OK) {
                fake_play(&server, client, 0.4);
            }
            bool idle = carom_client_get_state(client) == CAROM_CLIENT_IDLE;
            ended += idle;
            played += !idle;
            carom_client_destroy(client);
        }
        cr_assert_eq(m.live, 0, "allocation %lld", (long long)fail);
        fake_server_free(&server);
    }
    cr_assert_gt(ended, 5);
    cr_assert_gt(played, 20);
}

static void expect_refused(const carom_client_def *sound, const carom_module *module,
                           const char *name, const char *field)
{
    carom_error error = {CAROM_OK, "", "", 0};
    carom_client_def def = *sound;
    carom_client *client = (carom_client *)&def;
    def.error = &error;
    def.module = module != NULL ? module : def.module;
    def.name = name;
    cr_expect_eq(carom_client_create(&def, &client), CAROM_ERROR_ARGUMENT, "%s", field);
    cr_expect_null(client);
    cr_expect_str_eq(error.field, field);
    cr_expect_neq(error.expected[0], '\0', "%s", field);
}

// Names are refused here as the server would refuse them, which speaks of a malformed message.
Test(client, a_refused_def_names_its_field)
{
    const carom_client_def sound = carom_default_client_def();
    static const char *const names[] = {"abcdefghijklmnopqrstuvwxyz0123456", "tab\there", "\xff",
                                        "turned \xe2\x80\xae back", "\x1b[2J"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        expect_refused(&sound, NULL, names[i], "name");
    }
    carom_module module = carom_module_sandbox;
    module.abi = 77;
    expect_refused(&sound, &module, NULL, "module.abi");
    module = carom_module_sandbox;
    module.name = "Sand Box";
    expect_refused(&sound, &module, NULL, "module.name");
    module.name = NULL;
    expect_refused(&sound, &module, NULL, "module.name");
    module = carom_module_sandbox;
    module.input_size = CAROM_INPUT_MAX + 1;
    expect_refused(&sound, &module, NULL, "module.input_size");
    module = carom_module_sandbox;
    module.state_size = 13;
    expect_refused(&sound, &module, NULL, "module.state_size");
    module = carom_module_sandbox;
    module.public_size = module.state_size + 4;
    expect_refused(&sound, &module, NULL, "module.public_size");
    carom_client_def def = sound;
    def.struct_size++;
    expect_refused(&def, NULL, NULL, "struct_size");
    def = sound;
    def.user_data_size = 5;
    expect_refused(&def, NULL, NULL, "user_data");
    def.user_data_size = CAROM_USER_DATA_MAX + 1;
    expect_refused(&def, NULL, NULL, "user_data_size");
    def = sound;
    def.predict_budget_us = 1000001;
    expect_refused(&def, NULL, NULL, "predict_budget_us");
    def = sound;
    def.predict_cost_ns = 1000001;
    expect_refused(&def, NULL, NULL, "predict_cost_ns");
    def = sound;
    def.smoothing_s = -0.1f;
    expect_refused(&def, NULL, NULL, "smoothing_s");
    def = sound;
    def.snap_distance = __builtin_nanf("");
    expect_refused(&def, NULL, NULL, "snap_distance");
    carom_client *client;
    def = sound;
    def.name = "abcdefghijklmnopqrstuvwxyz012345"; // 32 bytes
    def.module = &carom_module_sandbox;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    carom_client_destroy(client);
    def.name = "Zo\xc3\xab \xe5\xad\x97";
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    carom_client_destroy(client);
}

Test(client, arguments_are_checked)
{
    memory m = {0};
    seen s = {0};
    carom_client_def def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    carom_client *client;
    cr_assert_eq(carom_client_create(NULL, &client), CAROM_ERROR_ARGUMENT);
    def.predict_budget_us = UINT32_MAX;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_ERROR_ARGUMENT);
    def = carom_default_client_def();
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.user_data_size = 5;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_ERROR_ARGUMENT);
    client = make_client(&m, &s, true);
    cr_assert_eq(carom_client_connect(client, "127.0.0.1", 0, 1), CAROM_ERROR_ARGUMENT);
    cr_assert_eq(carom_client_connect(client, NULL, 5, 1), CAROM_ERROR_ARGUMENT);
    uint8_t input[9] = {0};
    cr_assert_eq(carom_client_set_input(client, input, 9), CAROM_ERROR_STATE);
    carom_client_pose pose;
    cr_assert_eq(carom_client_body_pose(client, (carom_body_id){0, 1}, &pose), CAROM_ERROR_STATE);
    cr_assert(carom_body_id_is_null(carom_client_own_body(client)));
    cr_assert_null(carom_client_world(client));
    carom_client_disconnect(client, 1);
    carom_client_update(client, 2);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_IDLE);
    carom_client_destroy(client);
    carom_client_destroy(NULL);
    cr_assert_eq(m.live, 0);
}

// Without contact the prediction is the server's own result: only quantisation is left of the
// error, and what is predicted right is not stepped again.
Test(client, predicts_to_the_grain_without_contact)
{
    fake_server server;
    fake_server_make(&server, 51, 1, &bad);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, true);
    connect_to(&server, client);
    fake_play(&server, client, 3.0);
    carom_client_stats before, stats;
    carom_client_stats_get(client, &before);
    for (int i = 0; i < 60; i++) {
        drive(client, i / 2 % 2 ? 0.8f : -0.8f, i / 3 % 2 ? 0.5f : -0.5f);
        fake_play(&server, client, 0.25);
    }
    carom_client_stats_get(client, &stats);
    cr_assert_gt(stats.error_count - before.error_count, 350);
    cr_assert_lt(stats.error_max, 0.005, "%f", stats.error_max);
    cr_assert_lt(stats.reconciles - before.reconciles, 10, "%llu",
                 (unsigned long long)(stats.reconciles - before.reconciles));
    carom_client_destroy(client);
    fake_server_free(&server);
}

typedef struct crafted {
    uint8_t bytes[CM_PACKET_MAX];
    size_t size;
} crafted;

// A view with body 1, or without it.
static void craft(const fake_server *server, uint32_t sequence, const cm_view_body *body,
                  const cm_view_body *baseline, uint32_t age, crafted *packet)
{
    cm_view_header header = {.sequence = (uint16_t)sequence,
                             .tick = (uint32_t)carom_game_tick(server->game) + sequence,
                             .input_lead = CM_LEAD_UNKNOWN};
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, packet->bytes, CM_PACKET_MAX);
    if (body != NULL) {
        cm_view_entry entry = {.index = 1, .generation = 1, .baseline_age = age, .body = *body};
        cr_assert(cm_view_writer_put(&writer, &entry,
                                     cm_view_encode(&server->config, baseline, &entry.body)));
    }
    packet->size = cm_view_writer_end(&writer);
}

static float mirror_x(const carom_client *client)
{
    carom_body_state state;
    carom_body_id id = carom_client_body_at(client, 1);
    cr_assert_eq(carom_body_get(carom_client_world(client), id, &state), CAROM_OK);
    return state.position.x;
}

// A delta may refer 127 packets back and be overtaken by its successors: what it needs is kept, its
// own older value is not shown, and the acks tell exactly what came.
Test(client, an_old_baseline_survives_reordering)
{
    fake_server server;
    fake_server_make(&server, 50, 2, NULL);
    memory m = {0};
    seen s = {0};
    carom_client *client = make_client(&m, &s, false);
    connect_to(&server, client);
    server.send_views = false;
    fake_play(&server, client, 0.5);
    carom_body_state state;
    carom_body_id id = carom_world_body_at(carom_game_world(server.game), 1);
    cr_assert_eq(carom_body_get(carom_game_world(server.game), id, &state), CAROM_OK);
    cm_view_body first, late, last;
    cm_view_quantise(&server.config, &state, false, &first);
    late = first;
    late.position[0] += 512;
    last = first;
    last.position[0] += 1024;
    static crafted packets[130];
    for (uint32_t i = 1; i < 130; i++) {
        craft(&server, i, i == 1 ? &first : (i == 128 ? &late : (i == 129 ? &last : NULL)),
              i == 128 ? &first : NULL, i == 128 ? 127 : 0, &packets[i]);
    }
    for (uint32_t i = 1; i < 130; i++) {
        if (i != 128 && i != 120) {
            fake_server_bytes(&server, 1, packets[i].bytes, packets[i].size);
        }
    }
    fake_play(&server, client, 0.1);
    float shown = mirror_x(client);
    cr_assert_float_eq(shown - state.position.x, 2.0f, 0.01f);
    cr_assert_eq(server.told_sequence, 129);
    cr_assert_eq(server.told_bits, ~(1u << 0 | 1u << 8)); // 128 and 120 are missing
    fake_server_bytes(&server, 1, packets[128].bytes, packets[128].size);
    fake_play(&server, client, 0.1);
    cr_assert_eq(mirror_x(client), shown);
    cr_assert_eq(server.told_bits, ~(1u << 8));
    carom_client_stats stats;
    carom_client_stats_get(client, &stats);
    cr_assert_eq(stats.view_packets, 128);
    cr_assert_eq(stats.packets_lost, 1);
    cr_assert_eq(stats.packets_refused, 0);
    carom_client_destroy(client);
    cr_assert_eq(m.live, 0);
    fake_server_free(&server);
}
