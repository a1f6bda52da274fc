// expect: tick [0-9]+: in player_body: it changes the state, which it may only read
#include <carom/module.h>

// Counts how often it is asked: on a server another number than on a client.
static carom_body_id player_body(const carom_game *game, uint32_t player)
{
    uint32_t *state = carom_game_state(game);
    carom_body_id none = {0, 0};
    state[0] += player + 1;
    return none;
}

CAROM_MODULE(reader_writes, .version = 1, .state_size = 4, .player_body = player_body);
