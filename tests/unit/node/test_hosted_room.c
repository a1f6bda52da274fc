// Goal: a room whose players are all away is not empty; what a player of a slot said is not counted
// for the next one. Method: away.h, with a disk that fails.
#include "server/node/hosted_room.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/node/away.h"
#include "tests/unit/record/faulty_vfs.h"

// It is empty when its slots are given back, not when the last path breaks.
Test(hosted_room, one_whose_players_are_away_is_not_empty)
{
    away a;
    char error[256] = "";
    away_make(&a, &(away_def){.seed = 21, .grace_ms = 15000, .timeout_ms = 2000, .lossless = true});
    cm_worker_room brief = {.name = "brief", .scene = a.scene, .spec.empty_s = 2};
    cr_assert_eq(cm_worker_open(a.worker, &brief, error, sizeof error), CAROM_OK, "%s", error);
    a.client_def.room = "brief";
    away_join(&a, 0);
    cm_net_partition(a.net, AWAY_PORT, true);
    away_run(&a, 10.0);
    cr_assert_eq(away_logged(&a, "player lost"), 1);
    cr_assert_eq(away_logged(&a, "player left"), 0);
    cr_expect_null(cm_worker_over(a.worker), "it waits for its player");
    cm_net_partition(a.net, AWAY_PORT, false);
    away_until(&a, 0, CAROM_CLIENT_PLAYING);
    cm_net_partition(a.net, AWAY_PORT, true);
    away_run(&a, 20.0);
    cr_assert_eq(away_logged(&a, "player left"), 1);
    const char *over = cm_worker_over(a.worker);
    cr_assert_not_null(over);
    cr_expect_str_eq(over, "brief");
    away_free(&a);
}

// Messages of players ----------------------------------------------------------------------------

static void listener_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    uint32_t *count = carom_game_state(game);
    (void)player;
    (void)bytes;
    (void)size;
    ++*count;
}

static void listener_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    (void)game;
    (void)inputs;
    (void)count;
}

static const carom_module listener = {.abi = CAROM_MODULE_ABI,
                                      .version = 1,
                                      .name = "listener",
                                      .input_size = 1,
                                      .state_size = sizeof(uint32_t),
                                      .public_size = sizeof(uint32_t),
                                      .tick = listener_tick,
                                      .message = listener_message};

static void run_committing(away *a, double seconds)
{
    for (double at = 0.0; at < seconds; at += 0.1) {
        away_run(a, 0.1);
        cm_store_pump(a->store);
    }
}

static void send(away *a, uint32_t i, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        cr_assert_eq(carom_client_send(a->clients[i], &k, sizeof k), CAROM_OK);
        run_committing(a, 0.1);
    }
}

static uint32_t taken(const away *a, uint32_t i)
{
    uint32_t size, count;
    const uint8_t *state = carom_client_public_state(a->clients[i], &size);
    cr_assert_eq(size, sizeof count);
    memcpy(&count, state, sizeof count);
    return count;
}

// The file that a recording goes on in after a fault says how many messages each player had sent
// since that player's join: the crash that follows loses none and repeats none.
Test(hosted_room, a_file_after_a_gap_counts_the_present_players_messages)
{
    away a;
    faulty_install();
    away_make(&a, &(away_def){.seed = 22,
                              .record = true,
                              .tokens = true,
                              .max_players = 1,
                              .lossless = true,
                              .module = &listener});
    away_join(&a, 0);
    send(&a, 0, 5);
    carom_client_disconnect(a.clients[0], cm_net_now_us(a.net));
    run_committing(&a, 1.0);
    away_join(&a, 1);
    cr_assert_eq(carom_client_player(a.clients[1]), 0, "the slot of who left");
    send(&a, 1, 2);
    cm_match_handle match = cm_hosted_room_match(cm_worker_room_at(a.worker, 0));
    cm_match_status status;
    faulty.fail_writes = true;
    run_committing(&a, 2.0);
    cm_store_status(a.store, match, &status);
    cr_assert_not(status.durable);
    faulty.fail_writes = false;
    run_committing(&a, 12.0);
    cm_store_status(a.store, match, &status);
    cr_assert(status.durable, "%s", status.error);
    cr_assert_eq(status.gaps, 1);
    away_crash(&a);
    cr_assert_eq(a.live->player_count, 1);
    cr_expect_eq(a.live->players[0].client_id, AWAY_ID + 1);
    cr_expect_eq(a.live->players[0].messages, 2);
    run_committing(&a, 3.0);
    cr_assert_eq(carom_client_get_state(a.clients[1]), CAROM_CLIENT_PLAYING);
    send(&a, 1, 3);
    run_committing(&a, 0.5);
    cr_expect_eq(taken(&a, 1), 5 + 2 + 3);
    away_free(&a);
}
