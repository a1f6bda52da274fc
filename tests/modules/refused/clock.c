// expect: imports clock_gettime: expected carom_\* functions
#define _GNU_SOURCE
#include <carom/module.h>
#include <time.h>
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    struct timespec now;
    (void)inputs;
    (void)count;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *(uint32_t *)carom_game_state(game) = (uint32_t)now.tv_nsec;
}
CAROM_MODULE(clock, .version = 1, .state_size = 4, .tick = tick);
