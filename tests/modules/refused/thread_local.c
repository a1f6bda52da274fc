// expect: thread-local
#include <carom/module.h>
static _Thread_local uint32_t ticks;
static void start(carom_game *game)
{
    *(uint32_t *)carom_game_state(game) = ++ticks;
}
CAROM_MODULE(thread_local, .version = 1, .state_size = 4, .start = start);
