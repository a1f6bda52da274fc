// Goal: after a crash of the server the match goes on from its last committed tick, its players
// come back by themselves into the slots that they had, and what module and player say to each
// other comes in order, none of it twice. Method: away.h, with a disk as a kill leaves it.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "server/record/replay/replay.h"
#include "shared/base/rng.h"
#include "tests/unit/node/away.h"

#define COMMIT_S 0.1

// As the store's thread does it: a commit each 100 ms; then some ticks that are lost.
static void run_committing(away *a, double seconds)
{
    for (double at = 0.0; at < seconds; at += COMMIT_S) {
        away_run(a, COMMIT_S);
        cm_store_pump(a->store);
    }
}

static uint64_t tick_of(const away *a)
{
    return away_stats(a).tick;
}

static void check_recording(away *a, uint32_t seams, uint32_t joins, uint32_t leaves)
{
    cm_match_info info;
    cm_replay_report report;
    cm_replay_options options = {.module = a->def.module};
    char path[128];
    snprintf(path, sizeof path, "%s",
             cm_store_path(a->store, cm_hosted_room_match(cm_worker_room_at(a->worker, 0))));
    cm_match_file *file = away_recording(a);
    cm_match_info_get(file, &info);
    cm_match_close(file);
    cr_assert_eq(info.resumes, seams);
    cr_assert_eq(info.joins, joins);
    cr_assert_eq(info.leaves, leaves);
    cr_assert_eq(cm_replay_verify(path, &options, &report), CAROM_OK, "%s", report.error.message);
    cr_assert_eq(report.proof.verdict, CM_PROOF_CONSISTENT, "%s", report.proof.changed);
    cr_assert_eq(report.verified_ticks, info.ticks);
}

static void run_seed(uint64_t seed, double *worst)
{
    away a;
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    away_make(&a, &(away_def){.seed = seed, .record = true, .tokens = seed % 2 == 0});
    carom_body_id bodies[AWAY_CLIENTS];
    for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
        away_join(&a, i);
        away_drive(&a, i, 0.2f * (float)i);
        bodies[i] = carom_client_own_body(a.clients[i]);
    }
    for (uint32_t crash = 1; crash <= 3; crash++) {
        run_committing(&a, 0.5 + 0.001 * cm_rng_below(&rng, 2500));
        away_run(&a, 0.001 * cm_rng_below(&rng, 150));
        uint64_t before = tick_of(&a);
        a.stalled = true; // the time that the next server takes to start
        away_run(&a, 0.001 * cm_rng_below(&rng, 900));
        a.stalled = false;
        away_crash(&a);
        // Two commits, and the ticks that a rewind could still have changed.
        cr_assert_leq(before, tick_of(&a) + 30, "tick %u", (unsigned)before);
        cr_assert_geq(before, tick_of(&a));
        for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
            for (uint32_t k = 0; k < 1000 && away_client_stats(&a, i).comebacks < crash; k++) {
                away_step(&a);
            }
            double took = away_until(&a, i, CAROM_CLIENT_PLAYING);
            *worst = took > *worst ? took : *worst;
        }
        run_committing(&a, 1.0);
        for (uint32_t i = 0; i < AWAY_CLIENTS; i++) {
            cr_assert_eq(carom_client_get_state(a.clients[i]), CAROM_CLIENT_PLAYING);
            cr_assert_eq(carom_client_player(a.clients[i]), i);
            cr_assert_eq(carom_client_own_body(a.clients[i]).index, bodies[i].index);
            cr_assert_eq(carom_client_own_body(a.clients[i]).generation, bodies[i].generation);
            cr_assert_eq(away_client_stats(&a, i).comebacks, crash);
            cr_assert_eq(away_client_stats(&a, i).desyncs, 0);
        }
        cr_assert_eq(away_stats(&a).players, AWAY_CLIENTS);
    }
    cr_assert_eq(away_logged(&a, "player left"), 0);
    check_recording(&a, 3, AWAY_CLIENTS, 0);
    away_free(&a);
}

Test(resume, players_come_back_by_themselves_crash_after_crash)
{
    double worst = 0.0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        run_seed(seed, &worst);
    }
    printf("resume: 8 seeds of 3 crashes, welcome to playing %.2f s at the most\n", worst);
}

// Who does not come back leaves when the grace time is over, as an event of the match.
Test(resume, a_slot_is_kept_for_the_grace_time_and_no_longer)
{
    away a;
    away_make(&a, &(away_def){.seed = 3, .record = true, .grace_ms = 4000});
    away_join(&a, 0);
    away_join(&a, 1);
    run_committing(&a, 1.0);
    carom_client_destroy(a.clients[1]); // its goodbye does not arrive any more
    a.clients[1] = NULL;
    away_crash(&a);
    run_committing(&a, 3.5);
    cr_assert_eq(away_logged(&a, "player left"), 0);
    run_committing(&a, 1.0);
    cr_assert_eq(away_logged(&a, "player left"), 1);
    cr_assert_eq(carom_client_get_state(a.clients[0]), CAROM_CLIENT_PLAYING);
    away_join(&a, 2); // the slot is free again
    cr_assert_eq(carom_client_player(a.clients[2]), 1);
    check_recording(&a, 1, 3, 1);
    away_free(&a);
}

static uint32_t used_tokens(const away *a)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->used.capacity; i++) {
        count += a->used.table[i].expires_unix_s != 0;
    }
    return count;
}

// A crash takes back a join that was not committed: the ticket of it is worth nothing, so its token
// lets in again; once the join is committed the token is used for good.
Test(resume, a_token_lets_in_again_if_the_join_is_lost)
{
    away a;
    away_make(&a, &(away_def){.seed = 4, .record = true, .tokens = true, .lossless = true});
    run_committing(&a, 0.5);
    for (uint32_t crash = 0; crash < 2; crash++) {
        away_connect(&a, crash);
        away_until(&a, crash, CAROM_CLIENT_PLAYING);
        away_run(&a, 0.3); // inputs come, and no commit
        cr_expect_eq(used_tokens(&a), crash);
        away_crash(&a);
        away_until(&a, crash, CAROM_CLIENT_UNSTABLE);
        away_until(&a, crash, CAROM_CLIENT_PLAYING);
        run_committing(&a, 1.0);
        cr_expect_eq(used_tokens(&a), crash + 1);
        cr_expect_eq(away_stats(&a).players, crash + 1);
    }
    away_free(&a);
}

// Messages ------------------------------------------------------------------------------------

typedef struct told {
    uint32_t next, twice, lost, count; // of the player's numbered messages
} told;

static void teller_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint32_t tick = (uint32_t)carom_game_tick(game);
    for (uint32_t i = 0; i < count && tick % 3 == 0; i++) {
        carom_game_send(game, inputs[i].player, &tick, sizeof tick);
    }
}

static void teller_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    (void)player;
    (void)size;
    told *state = carom_game_state(game);
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    state->twice += number < state->next;
    state->lost += number > state->next ? number - state->next : 0;
    state->next = number + 1;
    state->count++;
}

static const carom_module teller = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "teller",
                                    .input_size = 1,
                                    .state_size = sizeof(told),
                                    .public_size = sizeof(told),
                                    .tick = teller_tick,
                                    .message = teller_message};

typedef struct heard {
    uint32_t count, back, gap; // ticks that went back; ticks left out, at the most
    uint64_t tick;
} heard;

static heard ears;

static void hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    uint32_t gap = tick > ears.tick + 3 ? (uint32_t)(tick - ears.tick - 3) : 0;
    ears.back += tick <= ears.tick;
    ears.gap = ears.count > 0 && gap > ears.gap ? gap : ears.gap;
    ears.tick = tick;
    ears.count++;
}

Test(resume, messages_come_in_order_and_none_twice)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        away a;
        uint32_t own = 0;
        memset(&ears, 0, sizeof ears);
        away_make(&a, &(away_def){.seed = seed, .record = true, .module = &teller});
        a.client_def.message = hear;
        away_connect(&a, 0);
        away_until(&a, 0, CAROM_CLIENT_PLAYING);
        for (uint32_t crash = 1; crash <= 3; crash++) {
            for (uint32_t i = 0; i < 20 + 3 * seed; i++) {
                run_committing(&a, 0.1);
                own += carom_client_send(a.clients[0], &own, sizeof own) == CAROM_OK;
            }
            away_run(&a, 0.02 * (double)(seed + crash)); // of the last ones some are lost
            away_crash(&a);
            run_committing(&a, 2.5);
            cr_assert_eq(away_client_stats(&a, 0).comebacks, 2 * crash - 1);
            // One whose arrival the client does not learn of, since the path breaks: both count
            // on from the same number.
            own += carom_client_send(a.clients[0], &own, sizeof own) == CAROM_OK;
            away_run(&a, 0.04);
            cm_net_partition(a.net, cm_net_last_port(a.net), true);
            run_committing(&a, 3.0);
            cr_assert_eq(away_client_stats(&a, 0).comebacks, 2 * crash);
        }
        own += carom_client_send(a.clients[0], &own, sizeof own) == CAROM_OK;
        run_committing(&a, 0.5);
        uint32_t size;
        told there;
        const uint8_t *state = carom_client_public_state(a.clients[0], &size);
        cr_assert_eq(size, sizeof there);
        memcpy(&there, state, sizeof there);
        cr_assert_eq(there.twice, 0, "seed %u", (unsigned)seed);
        cr_assert_eq(there.next, own, "seed %u", (unsigned)seed);
        cr_assert_eq(there.count + there.lost, own, "seed %u", (unsigned)seed);
        cr_assert_leq(there.lost, 9, "seed %u", (unsigned)seed); // 200 ms of each crash
        // Those of the room: a crash takes ticks back, but none that was told of, and what is said
        // goes on at once.
        cr_assert_eq(ears.back, 0, "seed %u", (unsigned)seed);
        cr_assert_leq(ears.gap, 60, "seed %u", (unsigned)seed);
        cr_assert_geq(ears.tick + 30, tick_of(&a), "seed %u", (unsigned)seed);
        away_free(&a);
    }
}
