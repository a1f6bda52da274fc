// Goal: what a server says costs the client no more than its budget. Method: away.h; a sound view
// whose tick is one that no clock can have reached. (tests/hostile changes everything else.)
#include <criterion/criterion.h>

#include "client-sdk/src/state.h"
#include "tests/unit/node/away.h"

// Found by tests/hostile, session 15: the prediction stepped to the view's tick, for as long as it
// took.
Test(hostile, a_view_of_the_future_costs_no_more_than_another)
{
    away a;
    away_make(&a, &(away_def){.seed = 21, .lossless = true});
    away_join(&a, 0);
    away_drive(&a, 0, 1.0f);
    away_run(&a, 2.0);
    carom_client *client = a.clients[0];
    const cm_mirror *mirror = client->mirror;
    cm_view_header header = {.epoch = mirror->epoch,
                             .sequence = (uint16_t)(mirror->ack_sequence + 1),
                             .tick = (uint32_t)mirror->newest_tick + 100000,
                             .input_lead = 8};
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
    size_t size = cm_view_writer_end(&writer);
    cm_client_packet(client, bytes, size);
    cr_assert_eq(mirror->newest_tick, header.tick);
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t steps = away_client_stats(&a, 0).predicted_steps;
        away_step(&a);
        cr_assert_leq(away_client_stats(&a, 0).predicted_steps, steps + CM_PREDICT_TICKS);
    }
    away_free(&a);
}
