// expect: tick [0-9]+: in tick: it writes outside of its state, at byte 256 of 256
#include <carom/module.h>

#include <string.h>

// Only who plays well comes to this rule: ten ticks of one input. Its bot does, no random input
// will.
static void tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    volatile uint32_t *held = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t player = inputs[i].player;
        held[player] = memcmp(inputs[i].bytes, "playwell", 8) == 0 ? held[player] + 1 : 0;
        if (held[player] == 10) {
            held[CAROM_PLAYERS_MAX] = player; // one behind
        }
    }
}

static void bot(const carom_game *game, uint32_t player, uint64_t random, uint8_t *input)
{
    (void)game, (void)player, (void)random;
    memcpy(input, "playwell", 8);
}

CAROM_MODULE(deep_rule, .version = 1, .input_size = 8, .state_size = 256, .tick = tick, .bot = bot);
