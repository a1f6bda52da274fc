// expect: imports carom_world_stats_get: statistics are of this process
#include <carom/module.h>
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    carom_world_stats stats;
    (void)inputs;
    (void)count;
    carom_world_stats_get(carom_game_world(game), &stats);
    *(uint32_t *)carom_game_state(game) = (uint32_t)stats.log_counts[CAROM_LOG_CONTACTS_CUT];
}
CAROM_MODULE(statistics, .version = 1, .state_size = 4, .tick = tick);
