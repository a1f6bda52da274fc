// Goal: what a player sees stays right where paths and other players make it hard. Method: the runs
// of `carom bench feel`, some seconds each, with the real worker and SDK in virtual time; limits
// are about twice what is measured, and a tenth of what it was before each was mended.
#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/tools/feel/feeling.h"

// An input that waited for a lost packet tells nothing of the path: the clock does not run ahead
// for seconds because the path was cut for a moment.
Test(client_feel, a_blackout_is_soon_forgotten)
{
    static const char *const paths[] = {"blackout250", "blackout2000"};
    for (uint32_t i = 0; i < 2; i++) {
        cm_feel_figures f = feeling("alone", paths[i], 1 + i, 20);
        cr_expect_lt(f.recovery_ms_max, 350.0, "%s: %.0f ms", paths[i], f.recovery_ms_max);
        cr_expect_gt(f.recovery_ms_max, 100.0, "%s: there was one", paths[i]);
        cr_expect_lt(f.lead_ticks, 4.0, "%s: %.1f ticks", paths[i], f.lead_ticks);
    }
}

// Two who press against each other stand still on the server; so they do on the clients, and every
// view that says so is compared, also where it does not mention them.
Test(client_feel, who_press_against_each_other_stand)
{
    static const char *const paths[] = {"perfect", "r60", "r200"};
    for (uint32_t run = 0; run < 9; run++) {
        uint32_t i = run % 3;
        cm_feel_figures f = feeling("pressing", paths[i], 1 + run / 3, 5);
        cr_expect_lt(f.own_p99_mm, 5.0, "%s: %.1f mm", paths[i], f.own_p99_mm);
        cr_expect_lt(f.others_p99_mm, 5.0, "%s: %.1f mm", paths[i], f.others_p99_mm);
        cr_expect_lt(f.pops_p99_mm, 5.0, "%s: %.1f mm", paths[i], f.pops_p99_mm);
        cr_expect_geq(f.errors, 40, "%s: five views a second", paths[i]);
    }
    // Nor does one creep, by grains that no view mentions.
    cm_feel_figures f = feeling("pressing", "perfect", 2, 10);
    cr_expect_lt(f.others_p99_mm, 5.0, "%.1f mm", f.others_p99_mm);
    f = feeling("pressing_again", "perfect", 1, 10);
    cr_expect_lt(f.own_p99_mm, 500.0, "%.1f mm", f.own_p99_mm);
}

static void play_push(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    cm_feel_game_find("pressing")->play(p, time_s < 7.0 ? 0.0 : time_s, own);
    p->x = p->number == 1 && time_s >= 7.0 ? 0.0f : p->x;
}

// Who does nothing gives way at once: one who rests is not taken for one who holds on.
Test(client_feel, who_does_nothing_is_pushed)
{
    cm_feel_game game = *cm_feel_game_find("pressing");
    game.play = play_push;
    double most = 0.0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        cm_feel_figures f = feeling_of(&game, cm_feel_path_find("r60"), seed, 5);
        cr_expect_lt(f.own_p99_mm, 40.0, "%.1f mm", f.own_p99_mm);
        most = f.own_max_mm > most ? f.own_max_mm : most;
    }
    cr_expect_gt(most, 2.0, "there was a push");
}

// Two who push one ball: each is shown by the inputs that views relay, and so is what both touch.
Test(client_feel, others_are_shown_by_their_inputs)
{
    cm_feel_figures f = feeling("pushball", "r60", 1, 6);
    cr_expect_lt(f.own_p99_mm, 40.0, "%.1f mm", f.own_p99_mm);
    cr_expect_lt(f.others_p99_mm, 350.0, "%.1f mm", f.others_p99_mm);
    cr_expect_lt(f.shared_p99_mm, 60.0, "%.1f mm", f.shared_p99_mm);
}

// Of a crowd among 400 bodies all that moves is simulated, by its velocity wherever a player is:
// what lies there costs next to nothing.
Test(client_feel, a_crowd_is_in_one_time)
{
    cm_config config;
    cm_config_default(&config);
    const cm_feel_options options = {.game = cm_feel_game_find("crowd"),
                                     .path = cm_feel_path_find("r60"),
                                     .config = &config,
                                     .seed = 1,
                                     .seconds = 6,
                                     .budget_kbit = 128};
    cm_feel_figures f;
    char error[256];
    cr_assert_eq(cm_feel_measure(&options, &f, error, sizeof error), CAROM_OK, "%s", error);
    cr_expect_lt(f.own_p99_mm, 90.0, "%.1f mm", f.own_p99_mm);
    cr_expect_lt(f.others_p99_mm, 220.0, "%.1f mm", f.others_p99_mm);
    cr_expect_lt(f.shared_p99_mm, 300.0, "%.1f mm", f.shared_p99_mm);
}

// With exact sync an input goes on in the tick in which it came, so that little is left but the
// path; and what is confirmed takes few bytes.
Test(client_feel, exact_sync_tells_news_at_once)
{
    cm_config config;
    cm_config_default(&config);
    const cm_feel_options options = {.game = cm_feel_game_find("crowd"),
                                     .path = cm_feel_path_find("r60"),
                                     .config = &config,
                                     .seed = 1,
                                     .seconds = 6,
                                     .sync_inputs = true,
                                     .with_bound = true};
    cm_feel_figures f;
    char error[256];
    cr_assert_eq(cm_feel_measure(&options, &f, error, sizeof error), CAROM_OK, "%s", error);
    cr_expect_lt(f.others_p99_mm, 1.5 * f.bound_others_mm, "%.1f mm, bound %.1f", f.others_p99_mm,
                 f.bound_others_mm);
    cr_expect_lt(f.kbit_down, 35.0, "%.1f kbit/s", f.kbit_down);
}

// With state sync too: little is left but the path, at the same rate of views. Eight seeds
// together: that of one differs by a fifth.
Test(client_feel, state_tells_news_at_once)
{
    cm_config config;
    cm_config_default(&config);
    double is = 0.0, bound = 0.0, kbit = 0.0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const cm_feel_options options = {.game = cm_feel_game_find("pushball"),
                                         .path = cm_feel_path_find("r60"),
                                         .config = &config,
                                         .seed = seed,
                                         .seconds = 20,
                                         .with_bound = true};
        cm_feel_figures f;
        char error[256];
        cr_assert_eq(cm_feel_measure(&options, &f, error, sizeof error), CAROM_OK, "%s", error);
        is += f.others_p99_mm / 8.0;
        bound += f.bound_others_mm / 8.0;
        kbit += f.kbit_down / 8.0;
    }
    fprintf(stderr, "client_feel: others %.1f mm, bound %.1f, %.1f kbit/s\n", is, bound, kbit);
    cr_expect_lt(is, 1.2 * bound, "%.1f mm, bound %.1f", is, bound);
    cr_expect_lt(kbit, 36.5, "%.1f kbit/s", kbit);
}

// A lead of three quarters of a second: a correction steps all of it again.
Test(client_feel, a_long_lead_is_predicted_too)
{
    const cm_feel_path far = {.name = "far",
                              .link = {.latency_us = 350000, .jitter_us = 20000, .loss = 0.05f}};
    cm_feel_figures f = feeling_of(cm_feel_game_find("alone"), &far, 1, 10);
    cr_expect_lt(f.own_p99_mm, 5.0, "%.1f mm", f.own_p99_mm);
}
