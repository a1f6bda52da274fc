// For the tests of a server whose module fails: at tick `at` of the match (0: at its start) it
// counts for ever, or (`crash` 1) reads where nothing is. A player whose input is not 0 makes it
// fail, too.
#include <carom/module.h>

typedef struct failing_state {
    uint32_t at, crash, sum;
} failing_state;

static const char *failing_configure(carom_game *game, const carom_setting *settings,
                                     uint32_t count)
{
    failing_state *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)settings[i].value;
        if (settings[i].name[0] == 'a') {
            state->at = value;
        } else {
            state->crash = value;
        }
    }
    return NULL;
}

static void fail(volatile failing_state *state)
{
    if (state->crash != 0) {
        volatile uint32_t *nowhere = (volatile uint32_t *)(uintptr_t)state->crash;
        state->sum = *nowhere;
    }
    for (;;) {
        state->sum++;
    }
}

static void failing_start(carom_game *game)
{
    volatile failing_state *state = carom_game_state(game);
    if (state->at == 0) {
        fail(state);
    }
}

static void failing_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    volatile failing_state *state = carom_game_state(game);
    bool fails = carom_game_tick(game) >= state->at;
    for (uint32_t i = 0; i < count; i++) {
        fails = fails || inputs[i].bytes[0] != 0;
    }
    if (fails) {
        fail(state);
    }
}

CAROM_MODULE(failing, .version = 1, .input_size = 1, .state_size = sizeof(failing_state),
             .configure = failing_configure, .start = failing_start, .tick = failing_tick);
