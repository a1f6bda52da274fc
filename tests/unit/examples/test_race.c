// The race of client-sdk/examples/race. Goal: its bots finish laps, in an order that everybody
// agrees on: server, clients, messages, replay. Method: four bots of the SDK in virtual time; the
// game alone, against a golden outcome; one rule at a time.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/examples/race/race.h"
#include "shared/game/game_host.h"
#include "tests/unit/counts.h"
#include "tests/unit/examples/match.h"

extern const carom_module carom_module_race;

static const race_public *rules_of(const carom_game *game)
{
    return carom_game_state(game);
}

static void check_car_news(const match_player *player, const race_public *now, uint32_t seat)
{
    uint32_t laps = 0, place = 0, best = 0;
    for (uint32_t i = 0; i < player->heard_count; i++) {
        const match_news *news = &player->heard[i];
        cr_assert_eq(news->size, RACE_NEWS_SIZE);
        if (news->bytes[0] != RACE_NEWS_GO && news->bytes[1] == seat) {
            uint32_t ticks = (uint32_t)news->bytes[4] | (uint32_t)news->bytes[5] << 8;
            laps++;
            cr_expect_eq(news->bytes[2], laps, "seat %u: laps come in their order", seat);
            place = news->bytes[3];
            best = best == 0 || ticks < best ? ticks : best;
        }
    }
    cr_expect_eq(laps, now->seat[seat].laps, "seat %u", seat);
    cr_expect_eq(place, now->seat[seat].place, "seat %u", seat);
    cr_expect_eq(best, now->seat[seat].best, "seat %u", seat);
}

Test(race, bots_finish_and_all_agree)
{
    const uint32_t bots = test_count(2, 4);
    match m;
    match_open(&m, &carom_module_race, "race");
    for (uint32_t i = 0; i < bots; i++) {
        match_join(&m);
    }
    uint32_t finished = 0;
    for (int i = 0; i < 3600 && finished < bots; i++) {
        match_frame(&m, match_bot);
        finished = 0;
        for (uint32_t k = 0; k < bots; k++) {
            finished += rules_of(match_game(&m))->seat[k].place != 0;
        }
    }
    for (int i = 0; i < 60; i++) { // the last views and messages arrive
        match_frame(&m, match_bot);
    }
    const race_public now = *rules_of(match_game(&m));
    cr_expect_eq(finished, bots, "%u finished in a minute", finished);
    cr_expect_eq(now.phase, RACE_OVER);
    uint32_t places = 0;
    for (uint32_t seat = 0; seat < bots; seat++) {
        uint32_t size;
        const race_public *seen = carom_client_public_state(m.player[seat].client, &size);
        carom_client_stats stats;
        carom_client_stats_get(m.player[seat].client, &stats);
        cr_expect(seen != NULL && memcmp(seen->seat, now.seat, sizeof now.seat) == 0);
        cr_expect_eq(stats.desyncs, 0);
        cr_expect_eq(now.seat[seat].laps, now.laps);
        places |= 1u << now.seat[seat].place;
        for (uint32_t k = 0; k < bots; k++) {
            check_car_news(&m.player[k], &now, seat);
        }
        printf("race: seat %u is number %u, best lap %u ticks\n", seat, now.seat[seat].place,
               now.seat[seat].best);
    }
    cr_expect_eq(places, (2u << bots) - 2u, "each place once");
    race_public replayed;
    match_replay(&m, &replayed, sizeof replayed);
    cr_expect_arr_eq(&replayed.seat, &now.seat, sizeof now.seat);
    match_close(&m);
}

// Of the bots, which see the game itself.
static uint32_t inputs_of(const carom_game *game, carom_player_input *inputs)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < RACE_PLAYERS; player++) {
        if (cm_game_bot(game, player, 0, inputs[count].bytes)) {
            inputs[count++].player = player;
        }
    }
    return count;
}

Test(race, rules_are_sound)
{
    trial(&carom_module_race, "race");
}

Test(race, the_game_alone_ends_as_it_always_does)
{
    offline o;
    char outcome[128] = "";
    offline_open(&o, &carom_module_race, "race", RACE_PLAYERS);
    for (int i = 0; i < 3600 && rules_of(o.game)->phase != RACE_OVER; i++) {
        carom_player_input inputs[RACE_PLAYERS];
        offline_tick(&o, inputs, inputs_of(o.game, inputs));
    }
    const race_public *rules = rules_of(o.game);
    cr_expect_eq(rules->phase, RACE_OVER);
    for (uint32_t i = 0; i < RACE_PLAYERS; i++) {
        size_t length = strlen(outcome);
        cr_expect_eq(rules->seat[i].laps, 3, "seat %u", i);
        snprintf(outcome + length, sizeof outcome - length, "%u:%u ", rules->seat[i].place,
                 rules->seat[i].best);
    }
    offline_golden(&o, "race", outcome);
    offline_close(&o);
}

// One car, held at full throttle and a steering angle for some ticks after the lights.
static void drive(offline *o, uint8_t throttle, uint8_t steering, uint8_t buttons, int ticks)
{
    const carom_player_input input = {.player = 0, .bytes = {throttle, steering, buttons}};
    for (int i = 0; i < ticks; i++) {
        offline_tick(o, &input, 1);
    }
}

static carom_body_state car_of(const offline *o)
{
    carom_body_state car;
    cr_assert_eq(carom_body_get(carom_game_world(o->game), rules_of(o->game)->seat[0].car, &car),
                 CAROM_OK);
    return car;
}

Test(race, gates_count_in_their_order_alone)
{
    offline o;
    offline_open(&o, &carom_module_race, "race", 1);
    drive(&o, 127, 0, 0, 170);
    cr_expect_lt(fabsf(car_of(&o).linear_velocity.x), 0.1f, "no car moves before the lights");
    drive(&o, 127, 0, 0, 160);
    cr_expect_eq(rules_of(o.game)->seat[0].next, 2, "gates 0, which does not count yet, and 1");
    drive(&o, 129, 0, 0, 400); // all the way back, through both
    cr_expect_lt(car_of(&o).position.x, -2.0f);
    cr_expect_eq(rules_of(o.game)->seat[0].next, 2);
    cr_expect_eq(rules_of(o.game)->seat[0].laps, 0);
    drive(&o, 0, 0, RACE_BACK, 1);
    drive(&o, 0, 0, 0, 1);
    carom_body_state car = car_of(&o);
    cr_expect_float_eq(car.position.x, 10.0f, 0.01f, "put back at gate 1, not %g",
                       (double)car.position.x);
    cr_expect_lt(fabsf(car.linear_velocity.x), 0.1f);
    offline_close(&o);
}

Test(race, a_car_turns_to_the_side_that_it_is_steered_to)
{
    for (int side = 0; side < 2; side++) {
        offline o;
        offline_open(&o, &carom_module_race, "race", 1);
        drive(&o, 0, 0, 0, 190);
        float begin = car_of(&o).position.z;
        drive(&o, 127, side == 0 ? 127 : 129, 0, 120);
        float turned = car_of(&o).position.z - begin; // left, about +y, is towards -z
        cr_expect(side == 0 ? turned < -1.0f : turned > 1.0f, "side %d: %g", side, (double)turned);
        offline_close(&o);
    }
}

Test(race, a_car_goes_whole_with_its_player)
{
    offline o;
    offline_open(&o, &carom_module_race, "race", 3);
    const carom_world *world = carom_game_world(o.game);
    uint32_t there = 0;
    const cm_game_event leave = {.type = CM_EVENT_LEAVE, .player = 1};
    const cm_tick_input input = {.events = &leave, .event_count = 1};
    cm_game_tick(o.game, &input);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state body;
        there += carom_body_get(world, carom_world_body_at(world, slot), &body) == CAROM_OK &&
                 body.type == CAROM_BODY_DYNAMIC;
    }
    cr_expect_eq(there, 10, "two chassis, eight wheels: %u", there);
    uint32_t joints = 0;
    for (uint32_t slot = 0; slot < carom_world_joint_slots(world); slot++) {
        joints += carom_joint_is_valid(world, carom_world_joint_at(world, slot));
    }
    cr_expect_eq(joints, 8);
    cr_expect(cm_game_may_join(o.game, NULL, 0));
    offline_close(&o);
    offline_open(&o, &carom_module_race, "race", RACE_PLAYERS + 1);
    cr_expect_not(cm_game_may_join(o.game, NULL, 0));
    drive(&o, 127, 0, 0, 1);
    offline_close(&o);
}
