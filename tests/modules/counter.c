// A sound module for the tests of loader and checks: counts what happens to it, keeps a body for
// each player, draws random numbers.
#include <carom/module.h>
#include <string.h>

typedef struct counter_state {
    uint32_t ticks, contacts, messages, drawn;
    uint32_t limit, rounds;
    carom_timer timer;
    struct {
        uint32_t index, generation;
    } body[CAROM_PLAYERS_MAX];
} counter_state;

static bool counter_join(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    counter_state *state = carom_game_state(game);
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id = {0, 0};
    (void)data;
    body.position.y = 2.0f + (float)player + 0.01f * (float)size;
    shape.radius = 0.5f;
    (void)carom_body_create(carom_game_world(game), &body, &shape, 1, &id);
    state->body[player].index = id.index;
    state->body[player].generation = id.generation;
    return true;
}

static carom_body_id body_of(const counter_state *state, uint32_t player)
{
    carom_body_id id = {state->body[player].index, state->body[player].generation};
    return id;
}

static void counter_leave(carom_game *game, uint32_t player)
{
    counter_state *state = carom_game_state(game);
    (void)carom_body_destroy(carom_game_world(game), body_of(state, player));
    memset(&state->body[player], 0, sizeof state->body[player]);
}

static void counter_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    counter_state *state = carom_game_state(game);
    state->ticks++;
    if (!carom_timer_runs(&state->timer)) {
        carom_timer_set(&state->timer, game, 3 + (uint32_t)(carom_game_random_at(game, 1) % 5));
    } else if (carom_timer_fires(&state->timer, game)) {
        state->rounds = state->rounds < state->limit ? state->rounds + 1 : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        float angle = 0.1f * (float)inputs[i].bytes[1], size = (float)inputs[i].bytes[0];
        carom_vec3 force = carom_vec(size * carom_cos(angle), 0.0f, size * carom_sin(angle));
        carom_vec3 none = {0.0f, 0.0f, 0.0f};
        state->drawn ^= (uint32_t)carom_game_random(game);
        (void)carom_body_apply_force(carom_game_world(game), body_of(state, inputs[i].player),
                                     force, none);
    }
}

static const char *counter_configure(carom_game *game, const carom_setting *settings,
                                     uint32_t count)
{
    counter_state *state = carom_game_state(game);
    state->limit = 10;
    for (uint32_t i = 0; i < count; i++) {
        if (!(settings[i].value >= 1.0 && settings[i].value <= 1000.0)) {
            return "limit: expected 1 to 1000";
        }
        state->limit = (uint32_t)settings[i].value;
    }
    return NULL;
}

static void counter_contact(carom_game *game, const carom_contact_event *event)
{
    counter_state *state = carom_game_state(game);
    state->contacts += event->begin;
}

static void counter_message(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    counter_state *state = carom_game_state(game);
    state->messages++;
    (void)carom_game_send(game, player, bytes, size);
}

static carom_body_id counter_body(const carom_game *game, uint32_t player)
{
    return body_of(carom_game_state(game), player);
}

CAROM_MODULE(counter, .version = 3, .input_size = 2, .state_size = sizeof(counter_state),
             .public_size = 16, .configure = counter_configure, .join = counter_join,
             .leave = counter_leave, .tick = counter_tick, .contact = counter_contact,
             .message = counter_message, .player_body = counter_body, .buttons = {[0] = 1});
