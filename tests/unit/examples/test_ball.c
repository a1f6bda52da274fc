// The ball game of client-sdk/examples/ball. Goal: its bots score, and everybody agrees on how
// often: server, clients, messages, replay. Method: eight bots of the SDK in virtual time; the game
// alone, against a golden outcome; one rule at a time.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "client-sdk/examples/ball/ball.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/counts.h"
#include "tests/unit/examples/match.h"

extern const carom_module carom_module_ball;

static const ball_public *rules_of(const carom_game *game)
{
    return carom_game_state(game);
}

// Goals of each team, and wins, as a player was told.
static void count_news(const match_player *player, uint32_t goals[2], uint32_t *wins)
{
    goals[0] = goals[1] = *wins = 0;
    for (uint32_t i = 0; i < player->heard_count; i++) {
        const match_news *news = &player->heard[i];
        cr_assert_eq(news->size, BALL_NEWS_SIZE);
        cr_assert_lt(news->bytes[1], 2);
        goals[news->bytes[1]] += news->bytes[0] == BALL_NEWS_GOAL;
        *wins += news->bytes[0] == BALL_NEWS_WON;
    }
}

Test(ball, eight_bots_score_and_all_agree)
{
    match m;
    match_open(&m, &carom_module_ball, "ball");
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        match_join(&m);
    }
    // Ten seconds (half a minute in full), and on to the first goal: how soon it falls hangs on
    // every datagram's time.
    uint32_t frames = 0, least = test_count(600, 1800);
    for (bool goal = false; frames < least || (!goal && frames < 10800); frames++) {
        match_frame(&m, match_bot);
        goal = rules_of(match_game(&m))->score[0] + rules_of(match_game(&m))->score[1] > 0;
    }
    for (int i = 0; i < 60; i++) { // the last inputs and views arrive
        match_frame(&m, match_bot);
    }
    const ball_public now = *rules_of(match_game(&m));
    uint32_t total = now.score[0] + now.score[1];
    cr_expect_geq(total, 1, "no goal in three minutes");
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        uint32_t goals[2], wins;
        uint32_t size;
        const ball_public *seen = carom_client_public_state(m.player[i].client, &size);
        carom_client_stats stats;
        count_news(&m.player[i], goals, &wins);
        carom_client_stats_get(m.player[i].client, &stats);
        cr_expect_eq(goals[0], now.score[0], "client %u", i);
        cr_expect_eq(goals[1], now.score[1], "client %u", i);
        cr_expect(seen != NULL && memcmp(seen->score, now.score, sizeof now.score) == 0);
        cr_expect_neq(now.seat[i].player, 0, "seat %u is free", i);
        cr_expect_eq(stats.desyncs, 0);
    }
    ball_public replayed;
    match_replay(&m, &replayed, sizeof replayed);
    cr_expect_arr_eq(replayed.score, now.score, 2);
    printf("ball: %u : %u after %u frames, on the server, eight clients and in the replay\n",
           now.score[0], now.score[1], frames);
    match_close(&m);
}

// Of the bots, which see the game itself.
static uint32_t inputs_of(const carom_game *game, carom_player_input *inputs)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < BALL_PLAYERS; player++) {
        if (cm_game_bot(game, player, 0, inputs[count].bytes)) {
            inputs[count++].player = player;
        }
    }
    return count;
}

Test(ball, rules_are_sound)
{
    trial(&carom_module_ball, "ball");
}

Test(ball, the_game_alone_ends_as_it_always_does)
{
    offline o;
    char outcome[64];
    uint32_t goals = 0, wins = 0;
    offline_open(&o, &carom_module_ball, "ball", BALL_PLAYERS);
    for (int i = 0; i < 10800; i++) {
        carom_player_input inputs[BALL_PLAYERS];
        offline_tick(&o, inputs, inputs_of(o.game, inputs));
        uint32_t count;
        const cm_game_message *messages = cm_game_messages(o.game, &count);
        for (uint32_t k = 0; k < count; k++) {
            goals += messages[k].player == 0 && messages[k].bytes[0] == BALL_NEWS_GOAL;
            wins += messages[k].player == 0 && messages[k].bytes[0] == BALL_NEWS_WON;
        }
    }
    snprintf(outcome, sizeof outcome, "goals %u wins %u", goals, wins);
    offline_golden(&o, "ball", outcome);
    cr_expect_geq(goals, 5);
    cr_expect_geq(wins, 1, "nobody won in three minutes");
    offline_close(&o);
}

Test(ball, nobody_plays_as_the_ninth)
{
    offline o;
    offline_open(&o, &carom_module_ball, "ball", BALL_PLAYERS - 1);
    cr_expect(cm_game_may_join(o.game, NULL, 0));
    offline_close(&o);
    offline_open(&o, &carom_module_ball, "ball", BALL_PLAYERS);
    cr_expect_not(cm_game_may_join(o.game, NULL, 0));
    uint32_t of_red = 0;
    for (uint32_t i = 0; i < BALL_PLAYERS; i++) {
        of_red += ball_team(i) == 0 && rules_of(o.game)->seat[i].player != 0;
    }
    cr_expect_eq(of_red, BALL_PLAYERS / 2);
    offline_close(&o);
    // Two who were asked in one tick: the ninth has no seat and harms nobody.
    offline_open(&o, &carom_module_ball, "ball", BALL_PLAYERS + 1);
    carom_player_input input = {.player = BALL_PLAYERS, .bytes = {127, 0, BALL_KICK}};
    offline_tick(&o, &input, 1);
    cr_expect(carom_body_id_is_null(cm_game_player_body(o.game, BALL_PLAYERS)));
    offline_close(&o);
}

static void refuses(const char *goals, const char *part)
{
    char text[256], why[256];
    cm_scene *scene;
    cm_scene_error error;
    snprintf(text, sizeof text,
             "{\"carom\": 1, \"module\": \"ball\", \"module_config\": {%s}, \"bodies\": "
             "[{\"name\": \"ball\", \"shapes\": [{\"sphere\": {\"radius\": 0.3}}]}]}",
             goals);
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s",
                 error.message);
    bool takes = cm_game_takes_config(scene, &carom_module_ball, why, sizeof why);
    cr_expect_eq(takes, part == NULL, "%s: %s", goals, why);
    cr_expect(part == NULL || strstr(why, part) != NULL, "%s: %s", goals, why);
    cm_scene_free(scene);
}

Test(ball, settings_are_checked)
{
    refuses("", NULL);
    refuses("\"goals\": 99", NULL);
    refuses("\"goals\": 0", "1 to 99");
    refuses("\"goals\": 100", "1 to 99");
    refuses("\"goals\": 2.5", "whole");
    refuses("\"goal\": 2", "expected goals");
    refuses("\"goalss\": 2", "expected goals");
}
