// Goal: only welcomes go twice. A message of several fragments, as a world change of many bodies
// is, leaves the socket once where nothing is lost. Method: a module that makes thirty bodies anew
// twice a second, a client on a path of 60 ms, and the bytes of that client's datagrams.
#include <criterion/criterion.h>

#include "carom/game.h"
#include "tests/unit/tools/feel/feeling.h"

#define BODIES 30u
#define EVERY  30u // ticks

static const char scene_text[] =
    "{\"carom\":1,\"name\":\"many\",\"bounds\":[[-64,-64,-64],[64,64,64]],"
    "\"gravity\":[0,0,0],\"limits\":{\"bodies\":64,\"shapes\":64}}";

typedef struct state {
    carom_body_id bodies[BODIES];
} state;

static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    state *s = carom_game_state(game);
    (void)inputs;
    (void)count;
    for (uint32_t i = 0; i < BODIES && carom_game_tick(game) % EVERY == 0; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position.x = 2.0f * (float)i - 30.0f;
        (void)carom_body_destroy(carom_game_world(game), s->bodies[i]);
        (void)carom_body_create(carom_game_world(game), &body, &shape, 1, &s->bodies[i]);
    }
}

static const carom_module many = {.abi = CAROM_MODULE_ABI,
                                  .version = 1,
                                  .name = "many",
                                  .state_size = sizeof(state),
                                  .tick = tick};

static void watch(cm_feel_player *p, double time_s, const carom_client_pose *own)
{
    (void)p;
    (void)time_s;
    (void)own;
}

Test(once, a_world_change_goes_once)
{
    const cm_feel_game game = {"many", scene_text, &many, 1, watch};
    const cm_feel_path path = {.name = "steady", .link = {.latency_us = 30000}};
    cm_feel_figures f = feeling_of(&game, &path, 1, 10);
    cr_expect_lt(f.kbit_down, 300.0, "%.0f kbit/s", f.kbit_down);
    cr_expect_gt(f.kbit_down, 100.0, "there were changes: %.0f kbit/s", f.kbit_down);
}
