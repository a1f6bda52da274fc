// Goal: what is drawn is told whole, once and in order: poses all at once. Method: a real client on
// a bad path against a fake server; what the functions for single bodies say is the oracle.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/client/fake_server.h"

#define CUBES 6u
#define MOST  32u

static const cm_link_def bad = {.latency_us = 50000, .jitter_us = 10000, .loss = 0.03f};

static carom_client *make_client(bool predict)
{
    carom_client_def def = carom_default_client_def();
    carom_client *client;
    def.random = cm_net_random;
    def.predict_cost_ns = 1000;
    def.predict = predict;
    cr_assert_eq(carom_client_create(&def, &client), CAROM_OK);
    return client;
}

static void join(fake_server *server, carom_client *client)
{
    cr_assert_eq(carom_client_connect(client, "127.0.0.1", FAKE_PORT, cm_net_now_us(server->net)),
                 CAROM_OK);
    fake_play(server, client, 1.0);
    cr_assert_eq(carom_client_get_state(client), CAROM_CLIENT_PLAYING);
}

static void drive(carom_client *client, float x, float z)
{
    uint8_t input[9] = {0};
    memcpy(input, &x, 4);
    memcpy(input + 4, &z, 4);
    cr_assert_eq(carom_client_set_input(client, input, sizeof input), CAROM_OK);
}

static void is_row(const carom_client *client, const carom_client_transform *row)
{
    carom_client_pose pose;
    cr_assert_eq(carom_client_body_pose(client, row->body, &pose), CAROM_OK);
    cr_assert_eq(memcmp(&pose.position, &row->position, sizeof pose.position), 0);
    cr_assert_eq(memcmp(&pose.orientation, &row->orientation, sizeof pose.orientation), 0);
    cr_assert_eq(pose.predicted, row->predicted);
}

Test(client_drawn, all_poses_at_once_are_those_of_each_body)
{
    for (int predict = 0; predict < 2; predict++) {
        fake_server server;
        fake_server_make(&server, 61, CUBES, &bad);
        carom_client *client = make_client(predict != 0);
        carom_client_transform rows[MOST];
        cr_expect_eq(carom_client_transforms(NULL, rows, MOST), 0);
        cr_expect_eq(carom_client_transforms(client, rows, MOST), 0, "no room yet");
        join(&server, client);
        drive(client, 0.6f, 0.4f);
        uint32_t predicted = 0, interpolated = 0;
        for (int i = 0; i < 200; i++) {
            fake_play(&server, client, 0.016);
            memset(rows, 0xa5, sizeof rows);
            uint32_t count = carom_client_transforms(client, rows, MOST), bodies = 0;
            for (uint32_t slot = 0; slot < carom_client_body_slots(client); slot++) {
                carom_body_id id = carom_client_body_at(client, slot);
                if (carom_body_id_is_null(id)) {
                    continue;
                }
                cr_assert(carom_body_id_equal(rows[bodies].body, id), "slot %u", slot);
                is_row(client, &rows[bodies]);
                predicted += rows[bodies].predicted;
                interpolated += !rows[bodies].predicted;
                bodies++;
            }
            cr_assert_eq(count, bodies);
        }
        cr_expect_eq(predicted > 0, predict != 0);
        cr_expect_gt(interpolated, 100, "the ground is not predicted");
        carom_client_destroy(client);
        fake_server_free(&server);
    }
}

Test(client_drawn, rows_beyond_the_capacity_are_counted_only)
{
    fake_server server;
    fake_server_make(&server, 62, CUBES, NULL);
    carom_client *client = make_client(true);
    carom_client_transform rows[MOST];
    join(&server, client);
    uint32_t all = carom_client_transforms(client, NULL, 0);
    cr_expect_eq(all, CUBES + 2, "the ground and the own cube too");
    memset(rows, 0xa5, sizeof rows);
    cr_expect_eq(carom_client_transforms(client, rows, 3), all);
    is_row(client, &rows[2]);
    for (size_t i = 3 * sizeof rows[0]; i < sizeof rows; i++) {
        cr_assert_eq(((const uint8_t *)rows)[i], 0xa5, "byte %zu was written", i);
    }
    carom_client_destroy(client);
    fake_server_free(&server);
}
