// The billiards of client-sdk/examples/billiards. Goal: two bots play a frame that everybody agrees
// on, bit for bit: server, clients, who joins in the middle of it, replay; the cue does what a cue
// does; each rule is kept. Method: bots of the SDK in virtual time with exact sync; the game alone,
// against a golden outcome; one rule at a time, on balls that the test puts down.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carom/math.h"
#include "client-sdk/examples/billiards/billiards.h"
#include "shared/game/game_host.h"
#include "tests/unit/counts.h"
#include "tests/unit/examples/match.h"

#define R BILLIARDS_RADIUS

extern const carom_module carom_module_billiards;

static billiards_public *rules_of(const carom_game *game)
{
    return carom_game_state(game);
}

static void expect_same_frame(const match *m, uint32_t players)
{
    const billiards_public now = *rules_of(match_game(m));
    for (uint32_t i = 0; i < players; i++) {
        uint32_t size;
        const billiards_public *seen = carom_client_public_state(m->player[i].client, &size);
        carom_client_stats stats;
        carom_client_stats_get(m->player[i].client, &stats);
        cr_assert(seen != NULL && size == sizeof now);
        cr_expect_eq(seen->on, now.on, "client %u", i);
        cr_expect_arr_eq(seen->seat, now.seat, sizeof now.seat);
        cr_expect_eq(stats.desyncs, 0, "client %u", i);
    }
}

// The second comes in the middle of the frame, which the first began for both; a third is refused.
Test(billiards, two_bots_play_a_frame_and_all_agree)
{
    match m;
    match_open(&m, &carom_module_billiards, "billiards");
    match_join(&m);
    int ticks = 0;
    while (ticks++ < 3600 && rules_of(match_game(&m))->phase != BILLIARDS_ROLL) {
        match_frame(&m, match_bot);
    }
    match_join(&m); // the break rolls
    for (uint32_t both = 0; ticks < 1200 && both == 0; ticks++) {
        match_frame(&m, match_bot);
        both = rules_of(match_game(&m))->seat[1].player;
    }
    cr_expect_gt(rules_of(match_game(&m))->strokes, 0, "joined in the middle of a frame");
    match_join(&m);
    bool mine[BILLIARDS_PLAYERS] = {false};
    while (ticks++ < 36000 && rules_of(match_game(&m))->phase != BILLIARDS_OVER) {
        match_frame(&m, match_bot);
        const billiards_public *s = rules_of(match_game(&m));
        mine[s->turn % 2u] = mine[s->turn % 2u] || s->phase == BILLIARDS_ROLL;
    }
    cr_expect(mine[0] && mine[1], "both had a stroke");
    for (int i = 0; i < 60; i++) { // the last packets and messages arrive
        match_frame(&m, match_bot);
    }
    const billiards_public now = *rules_of(match_game(&m));
    cr_expect_eq(now.phase, BILLIARDS_OVER);
    cr_expect_eq(now.seat[0].frames + now.seat[1].frames, 1);
    cr_expect_eq(carom_client_get_state(m.player[2].client), CAROM_CLIENT_IDLE);
    expect_same_frame(&m, 2);
    uint32_t pots[2] = {0, 0}, frames = 0;
    for (uint32_t i = 0; i < m.player[0].heard_count; i++) {
        const match_news *news = &m.player[0].heard[i];
        cr_assert_eq(news->size, BILLIARDS_NEWS_SIZE);
        pots[news->bytes[1] % 2u] += news->bytes[0] == BILLIARDS_NEWS_POT;
        frames += news->bytes[0] == BILLIARDS_NEWS_FRAME;
    }
    printf("billiards: %u strokes, %u and %u potted, %d ticks\n", now.strokes, pots[0], pots[1],
           ticks);
    cr_expect_eq(frames, 1);
    billiards_public replayed;
    match_replay(&m, &replayed, sizeof replayed);
    cr_expect_arr_eq(&replayed.seat, &now.seat, sizeof now.seat);
    match_close(&m);
}

Test(billiards, rules_are_sound)
{
    trial(&carom_module_billiards, "billiards");
}

static uint32_t inputs_of(const carom_game *game, carom_player_input *inputs)
{
    uint32_t count = 0;
    for (uint32_t player = 0; player < BILLIARDS_PLAYERS; player++) {
        memset(inputs[count].bytes, 0, sizeof inputs[count].bytes);
        if (cm_game_bot(game, player, 0, inputs[count].bytes)) {
            inputs[count++].player = player;
        }
    }
    return count;
}

Test(billiards, the_game_alone_ends_as_it_always_does)
{
    offline o;
    char outcome[128];
    offline_open(&o, &carom_module_billiards, "billiards", BILLIARDS_PLAYERS);
    uint32_t tick = 0;
    for (; tick < 36000 && rules_of(o.game)->phase != BILLIARDS_OVER; tick++) {
        carom_player_input inputs[BILLIARDS_PLAYERS];
        offline_tick(&o, inputs, inputs_of(o.game, inputs));
    }
    const billiards_public *s = rules_of(o.game);
    cr_expect_eq(s->phase, BILLIARDS_OVER);
    snprintf(outcome, sizeof outcome, "%u:%u after %u strokes, %u ticks", s->seat[0].frames,
             s->seat[1].frames, s->strokes, tick);
    offline_golden(&o, "billiards", outcome);
    offline_close(&o);
}

// One rule at a time ----------------------------------------------------------------------------

// All balls but these lie in the tray.
static void lay(offline *o, uint32_t on)
{
    billiards_public *s = rules_of(o->game);
    for (uint32_t i = 0; i < BILLIARDS_BALLS; i++) {
        (void)carom_body_set_pose(carom_game_world(o->game), s->ball[i],
                                  carom_vec(0.1f * (float)i - 0.5f, R, 0.8f),
                                  carom_quat_identity());
    }
    s->on = on;
    s->lowest = billiards_lowest(on);
}

static void put(offline *o, uint32_t ball, float x, float z)
{
    (void)carom_body_set_pose(carom_game_world(o->game), rules_of(o->game)->ball[ball],
                              carom_vec(x, R, z), carom_quat_identity());
}

static carom_body_state ball_of(const offline *o, uint32_t ball)
{
    carom_body_state body;
    cr_assert_eq(carom_body_get(carom_game_world(o->game), rules_of(o->game)->ball[ball], &body),
                 CAROM_OK);
    return body;
}

static void play(offline *o, const uint8_t bytes[BILLIARDS_INPUT_SIZE])
{
    carom_player_input inputs[2] = {{.player = 0}, {.player = 1}};
    uint32_t turn = rules_of(o->game)->turn;
    memcpy(inputs[turn].bytes, bytes, BILLIARDS_INPUT_SIZE);
    offline_tick(o, inputs, 2);
}

// A stroke, in turns, with this power, side and height; then, where it is to be seen, to its end.
static void stroke(offline *o, float turns, uint8_t power, int8_t side, int8_t height, bool to_end)
{
    uint32_t aim = (uint32_t)(int32_t)(65536.0f * turns);
    uint8_t bytes[BILLIARDS_INPUT_SIZE] = {(uint8_t)aim,  (uint8_t)(aim >> 8), power,
                                           (uint8_t)side, (uint8_t)height,     BILLIARDS_STRIKE};
    play(o, bytes);
    bytes[5] = 0;
    for (int i = 0; to_end && i < 2000 && rules_of(o->game)->phase == BILLIARDS_ROLL; i++) {
        play(o, bytes);
    }
}

static void open_table(offline *o, uint32_t on)
{
    offline_open(o, &carom_module_billiards, "billiards", BILLIARDS_PLAYERS);
    lay(o, on);
    put(o, 0, -0.3f, 0.0f);
}

Test(billiards, a_cue_gives_its_momentum_and_the_spin_of_where_it_meets_the_ball)
{
    // A solid ball that is struck b above its middle turns at 5 b v / (2 R^2); at b = 2R/5 it rolls
    // at once (G. Coriolis, 1835).
    offline o;
    open_table(&o, 1u | 1u << 9);
    put(&o, 9, -1.1f, 0.5f);
    float v = BILLIARDS_FASTEST * 100.0f / 255.0f;
    stroke(&o, 0.0f, 100, 0, 102, false); // 0.8 of half a radius
    carom_body_state ball = ball_of(&o, 0);
    cr_expect_float_eq(ball.linear_velocity.x, v, 0.01f * v);
    cr_expect_float_eq(-ball.angular_velocity.z * R, v, 0.02f * v, "it rolls");
    offline_close(&o);
    open_table(&o, 1u | 1u << 9);
    put(&o, 9, -1.1f, 0.5f);
    stroke(&o, 0.0f, 100, 64, 0, false); // right of its middle: it turns to the left
    cr_expect_float_eq(ball_of(&o, 0).angular_velocity.y * R, 2.5f * v * 0.5f * 64.0f / 127.0f,
                       0.05f * v);
    offline_close(&o);
}

Test(billiards, a_ball_struck_low_draws_back_and_one_struck_high_follows)
{
    for (int i = 0; i < 2; i++) {
        offline o;
        open_table(&o, 1u | 1u << 1 | 1u << 9);
        put(&o, 1, 0.0f, 0.0f);
        put(&o, 9, -1.1f, 0.5f);
        stroke(&o, 0.0f, i == 0 ? 110 : 45, 0, i == 0 ? -120 : 100, true);
        float x = ball_of(&o, 0).position.x;
        cr_expect(i == 0 ? x < -0.2f : x > 0.1f, "%s: ends at %.2f", i == 0 ? "low" : "high", x);
        offline_close(&o);
    }
}

Test(billiards, the_button_strikes_once_for_a_press)
{
    offline o;
    carom_player_input held[2] = {{.player = 0, .bytes = {0, 64, 40, 0, 0, BILLIARDS_STRIKE}}};
    held[1] = held[0];
    held[1].player = 1;
    open_table(&o, 1u | 1u << 1 | 1u << 9); // and hits nothing: a foul
    put(&o, 1, 1.0f, 0.3f);
    put(&o, 9, -1.1f, 0.5f);
    for (int i = 0; i < 600; i++) {
        offline_tick(&o, held, 2);
    }
    const billiards_public *s = rules_of(o.game);
    cr_expect(s->strokes == 1 && s->turn == 1 && s->phase == BILLIARDS_AIM, "%u", s->strokes);
    held[1].bytes[5] = 0;
    offline_tick(&o, held, 2);
    held[1].bytes[5] = BILLIARDS_STRIKE;
    offline_tick(&o, held, 2);
    cr_expect_eq(s->strokes, 2);
    offline_close(&o);
}

Test(billiards, each_foul_gives_the_other_the_ball_in_hand)
{
    offline o;
    // Nothing hit; the nine before the one; the cue ball falls; no cushion.
    static const struct {
        float turns;
        uint8_t power;
        float one[2], nine[2];
    } cases[] = {{0.5f, 60, {0.5f, 0.3f}, {-1.1f, 0.5f}},
                 {0.0f, 60, {0.5f, 0.3f}, {0.0f, 0.0f}},
                 {0.25f, 120, {0.5f, 0.3f}, {-1.1f, 0.5f}},
                 {0.0f, 12, {-0.2f, 0.0f}, {-1.1f, 0.5f}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_table(&o, 1u | 1u << 1 | 1u << 9);
        put(&o, 1, cases[i].one[0], cases[i].one[1]);
        put(&o, 9, cases[i].nine[0], cases[i].nine[1]);
        if (i == 2) {
            put(&o, 0, 0.0f, 0.0f); // before a pocket of the middle
        }
        stroke(&o, cases[i].turns, cases[i].power, 0, 0, true);
        const billiards_public *s = rules_of(o.game);
        cr_expect_eq(s->seat[0].fouls, 1, "case %zu", i);
        cr_expect(s->turn == 1 && s->in_hand == 1 && s->phase == BILLIARDS_AIM, "case %zu", i);
        cr_expect((s->on & 1u) != 0, "case %zu: the cue ball is back", i);
        uint8_t place[BILLIARDS_INPUT_SIZE] = {[6] = 64, [7] = 0xc0}; // the other's, 0.5 and -0.5
        play(&o, place);
        cr_expect_float_eq(ball_of(&o, 0).position.x, 0.626f, 0.01f, "case %zu", i);
        cr_expect_float_eq(ball_of(&o, 0).position.z, -0.306f, 0.01f, "case %zu", i);
        offline_close(&o);
    }
}

Test(billiards, the_third_foul_loses_the_frame)
{
    offline o;
    open_table(&o, 1u | 1u << 1 | 1u << 9);
    put(&o, 1, 0.9f, 0.3f);
    put(&o, 9, -1.1f, 0.5f);
    rules_of(o.game)->seat[0].fouls = 2;
    stroke(&o, 0.5f, 60, 0, 0, true);
    cr_expect_eq(rules_of(o.game)->phase, BILLIARDS_OVER);
    cr_expect_eq(rules_of(o.game)->seat[1].frames, 1);
    offline_close(&o);
}

Test(billiards, the_nine_wins_by_a_fair_stroke_and_comes_back_after_a_foul)
{
    for (int fair = 0; fair < 2; fair++) {
        offline o;
        // The nine stands before a pocket of the middle, alone or while the one is on the table.
        open_table(&o, fair ? 1u | 1u << 9 : 1u | 1u << 1 | 1u << 9);
        put(&o, 0, 0.0f, 0.0f);
        put(&o, 9, 0.0f, 0.4f);
        put(&o, 1, fair ? 0.9f : -0.9f, fair ? 0.8f : -0.3f);
        stroke(&o, 0.25f, 60, 0, -40, true);
        const billiards_public *s = rules_of(o.game);
        cr_expect_eq(s->phase, fair ? BILLIARDS_OVER : BILLIARDS_AIM, "fair %d", fair);
        cr_expect_eq(s->seat[0].frames, (uint32_t)fair);
        cr_expect_eq(s->on >> 9 & 1u, (uint32_t)!fair, "spotted again");
        offline_close(&o);
    }
}

Test(billiards, who_pots_goes_on_and_who_leaves_loses_the_turn)
{
    offline o;
    open_table(&o, 1u | 1u << 1 | 1u << 9);
    put(&o, 0, 0.0f, 0.0f);
    put(&o, 1, 0.0f, 0.4f);
    put(&o, 9, 0.9f, -0.4f);
    stroke(&o, 0.25f, 60, 0, -40, true);
    const billiards_public *s = rules_of(o.game);
    cr_expect(s->turn == 0 && s->phase == BILLIARDS_AIM && s->on == (1u | 1u << 9), "%x", s->on);
    const cm_game_event leaves = {.type = CM_EVENT_LEAVE, .player = 0, .client_id = 1};
    const cm_tick_input input = {.events = &leaves, .event_count = 1};
    cm_game_tick(o.game, &input);
    cr_expect_eq(s->turn, 1);
    cr_expect_eq(s->seat[0].player, 0);
    offline_close(&o);
}

Test(billiards, settings_are_checked)
{
    for (int i = 0; i < 3; i++) {
        static const carom_setting settings[] = {{"frames", 0.0}, {"frames", 2.5}, {"goals", 3.0}};
        offline o;
        offline_open(&o, &carom_module_billiards, "billiards", 0);
        cr_expect_not_null(carom_module_billiards.configure(o.game, &settings[i], 1));
        offline_close(&o);
    }
}
