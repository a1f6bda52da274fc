// Goal: what a module says goes out when a crash would leave its tick, not before, and at once
// where nothing is kept; the last words of a match go before its goodbyes. Method: away.h, with the
// test as the store's thread, which commits every 100 ms, and a disk that fails on demand.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/node/away.h"
#include "tests/unit/record/faulty_vfs.h"

#define COMMIT_S 0.1
#define EVERY    7u // ticks

static void teller_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t tick = (uint32_t)carom_game_tick(game);
    for (uint32_t i = 0; i < count && tick % EVERY == 0; i++) {
        carom_game_send(game, inputs[i].player, &tick, sizeof tick);
    }
}

static const carom_module teller = {
    .abi = CAROM_MODULE_ABI, .version = 1, .name = "teller", .input_size = 1, .tick = teller_tick};

typedef struct ears {
    away *a;
    uint32_t count, early; // early: not durable yet
    uint64_t tick, ticks;  // the last; sum of how old they were
} ears;

static uint64_t committed(const away *a)
{
    cm_match_status status;
    cm_store_status(a->store, cm_hosted_room_match(cm_worker_room_at(a->worker, 0)), &status);
    return status.committed_tick;
}

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    ears *e = user;
    uint32_t said;
    cr_assert_eq(size, sizeof said);
    memcpy(&said, bytes, sizeof said);
    cr_assert_eq(said + 1, tick); // said while that tick was made
    cr_assert(e->count == 0 || tick == e->tick + EVERY, "each once, in order");
    e->tick = tick;
    e->count++;
    if (cm_worker_room_at(e->a->worker, 0) != NULL) {
        e->early += e->a->store != NULL && tick > committed(e->a);
        e->ticks += away_stats(e->a).tick - tick;
    }
}

static void make(away *a, ears *e, bool record)
{
    memset(e, 0, sizeof *e);
    e->a = a;
    away_make(a, &(away_def){.seed = 5, .record = record, .module = &teller, .lossless = true});
    a->client_def.message = hear;
    a->client_def.user = e;
    away_join(a, 0);
}

static void run_committing(away *a, double seconds)
{
    for (double at = 0.0; at < seconds; at += COMMIT_S) {
        away_run(a, COMMIT_S);
        cm_store_pump(a->store);
    }
}

static double age_ms(const ears *e)
{
    return 1000.0 / 60.0 * (double)e->ticks / e->count;
}

Test(game_announced, a_message_waits_until_its_tick_is_durable)
{
    away a;
    ears e;
    make(&a, &e, false);
    away_run(&a, 10.0);
    cr_assert_geq(e.count, 80);
    double at_once = age_ms(&e);
    away_free(&a);

    make(&a, &e, true);
    run_committing(&a, 1.0); // what was said during the join
    e.count = 0;
    e.ticks = 0;
    run_committing(&a, 10.0);
    cr_assert_geq(e.count, 80);
    cr_assert_eq(e.early, 0);
    printf("told: %.0f ms after their tick, %.0f ms where nothing is recorded\n", age_ms(&e),
           at_once);
    // Half a commit on average; the way is the same.
    cr_assert_gt(age_ms(&e), at_once + 25.0);
    cr_assert_lt(age_ms(&e), at_once + 75.0);
    away_free(&a);
}

Test(game_announced, nothing_waits_for_a_disk_that_failed)
{
    away a;
    ears e;
    faulty_install();
    make(&a, &e, true);
    run_committing(&a, 2.0);
    uint64_t last = e.tick;
    away_run(&a, 1.0); // no commit
    cr_assert_leq(e.tick, last + 2 * EVERY);
    faulty.fail_writes = true;
    cm_store_pump(a.store);
    away_run(&a, 0.5);
    cr_assert_geq(e.tick + 20, away_stats(&a).tick, "%u", (unsigned)e.tick);
    cr_assert_gt(e.early, 0);
    faulty.fail_writes = false;
    away_free(&a);
}

// The newest tick that could be told of: confirmed by the end of the match.
static uint64_t last_word(uint64_t tick)
{
    return tick - (tick - 1) % EVERY;
}

Test(game_announced, a_closed_room_has_its_last_word)
{
    away a;
    ears e;
    make(&a, &e, true);
    run_committing(&a, 1.0);
    away_run(&a, 0.08); // so that what is durable is heard
    uint64_t tick = away_stats(&a).tick, heard = e.tick;
    cr_assert(cm_worker_close(a.worker, ""));
    cr_assert_eq(away_stats(&a).rooms, 0);
    away_run(&a, 0.4);
    cr_assert_eq(e.tick, heard, "not durable");
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    cm_store_pump(a.store);
    away_run(&a, 0.4);
    cr_assert_eq(e.tick, last_word(tick));
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_ROOM_ENDED);
    away_free(&a);
}

// A disk that hangs holds nobody up for long, and what is not durable is not said.
Test(game_announced, a_goodbye_does_not_wait_for_ever)
{
    away a;
    ears e;
    make(&a, &e, true);
    run_committing(&a, 1.0);
    away_run(&a, 0.08);
    uint64_t heard = e.tick;
    cm_worker_drain(a.worker, cm_net_now_us(a.net));
    away_run(&a, 0.9);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    away_run(&a, 0.5);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_IDLE);
    cr_assert_eq(carom_client_get_reason(a.clients[0]), CAROM_REASON_DRAINING);
    cr_assert_eq(e.tick, heard);
    cr_assert(cm_worker_drained(a.worker));
    away_free(&a);
}
