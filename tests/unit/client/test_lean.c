// Goal: two players who lean on each other see one thing, whatever they weigh, however many ticks a
// second there are, in both modes of sync and where inputs are secrets. Method: the runs of `carom
// bench feel`, with cubes of other masses than the sandbox's: both light, both heavy, one of each,
// which are pushed against a wall and held there.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/tools/feel/feeling.h"

extern const carom_module carom_module_sandbox;

static float densities[2]; // kg/m^3 of the players' cubes; both sides read them

static bool lean_join(carom_game *game, uint32_t player, const uint8_t *user_data, uint32_t size)
{
    (void)user_data, (void)size;
    uint32_t *state = carom_game_state(game); // of the sandbox: index and generation by player
    carom_body_def body = carom_default_body_def();
    body.position = (carom_vec3){0.0f, 0.6f, player == 0 ? 6.0f : -6.0f};
    carom_shape_def shape = carom_default_shape_def();
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = (carom_vec3){0.5f, 0.5f, 0.5f};
    shape.density = densities[player % 2];
    shape.friction = 0.4f;
    carom_body_id id;
    if (carom_body_create(carom_game_world(game), &body, &shape, 1, &id) == CAROM_OK) {
        state[2 * player] = id.index;
        state[2 * player + 1] = id.generation;
    }
    return true;
}

enum { STATE, SECRET, EXACT, MODES }; // SECRET: nobody is told the inputs of others

static cm_feel_figures lean(uint32_t tick_rate, uint32_t mode, const char *path, uint64_t seed)
{
    char scene[2048];
    carom_module module = carom_module_sandbox;
    module.join = lean_join;
    cm_feel_game game = *cm_feel_game_find("pressing");
    snprintf(scene, sizeof scene, "{\"tick_rate\":%u,%s%s", tick_rate,
             mode == SECRET ? "\"replication\":{\"relay\":false}," : "", game.scene + 1);
    game.scene = scene;
    game.module = &module;
    cm_config config;
    cm_config_default(&config);
    const cm_feel_options options = {.game = &game,
                                     .path = cm_feel_path_find(path),
                                     .config = &config,
                                     .seed = seed,
                                     .seconds = 12,
                                     .sync_inputs = mode == EXACT};
    cm_feel_figures figures;
    char error[256];
    cr_assert_eq(cm_feel_measure(&options, &figures, error, sizeof error), CAROM_OK, "%s", error);
    return figures;
}

Test(lean, of_any_mass_at_any_rate)
{
    static const uint32_t rates[] = {30, 120};
    static const float pairs[][2] = {{5.0f, 5.0f}, {20000.0f, 20000.0f}, {5000.0f, 100.0f}};
    // Of two unlike ones the lighter comes to the wall while it is measured: where all is known but
    // for grains a tick of it may be wrong, without the inputs a quarter of a second.
    static const double uneven_mm[MODES] = {80.0, 700.0, 1.0};
    for (uint32_t i = 0; i < 2 * 3 * MODES; i++) {
        uint32_t rate = rates[i % 2], mode = i / 2 % MODES;
        memcpy(densities, pairs[i / (2 * MODES)], sizeof densities);
        double most = densities[0] == densities[1] ? 5.0 : uneven_mm[mode];
        cm_feel_figures f = lean(rate, mode, "r200", 1);
        cr_expect_lt(f.own_p50_mm, 5.0, "run %u: %.1f mm", i, f.own_p50_mm);
        cr_expect_lt(f.own_p99_mm, most, "run %u: %.1f mm", i, f.own_p99_mm);
        cr_expect_lt(f.others_p99_mm, most, "run %u: %.1f mm", i, f.others_p99_mm);
    }
}

// Nobody is told that the other one pushes back: who stands on the server blocks, until the own
// body has gone away there. A correction of half a metre is no going away.
Test(lean, on_who_tells_no_input)
{
    densities[0] = densities[1] = 700.0f;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        cm_feel_figures f = lean(60, SECRET, "r200", seed);
        cr_expect_lt(f.own_p99_mm, 5.0, "seed %u: %.1f mm", (uint32_t)seed, f.own_p99_mm);
        cr_expect_lt(f.others_p99_mm, 5.0, "seed %u: %.1f mm", (uint32_t)seed, f.others_p99_mm);
    }
}

// Where both rest on the server, a view corrects both to the grain (2 mm) or neither: one alone
// would slide against the other until the next view.
Test(lean, who_lean_are_right_to_the_grain)
{
    static const struct {
        uint32_t rate;
        const char *path;
    } runs[] = {{120, "r60"}, {120, "r200"}, {240, "r60"}, {240, "r200"}};
    densities[0] = densities[1] = 700.0f;
    for (uint32_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        cm_feel_figures f = lean(runs[i].rate, STATE, runs[i].path, 1);
        cr_expect_lt(f.others_p99_mm, 2.5, "run %u: %.1f mm", i, f.others_p99_mm);
    }
}
