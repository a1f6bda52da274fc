// A table of all messages by tick and player, at most one each.
#include "tests/cluster/told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVERY        6u // ticks
#define PLAYERS      CAROM_PLAYERS_MAX
#define MESSAGE_SIZE 12u
#define REFUSES      4u // of whom the module may refuse, it refuses those of every fourth tick

static carom_module module;
static const carom_module *sandbox;

static void tick_and_tell(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    sandbox->tick(game, inputs, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t player = inputs[i].player;
        carom_body_state body;
        bool is_kicked = (cm_game_kicked(game) >> player & 1) != 0; // it has had its last words
        if (carom_game_tick(game) % EVERY == player % EVERY && !is_kicked &&
            carom_body_get(carom_game_world(game), sandbox->player_body(game, player), &body) ==
                CAROM_OK) {
            carom_game_send(game, player, &body.position, MESSAGE_SIZE);
        }
    }
}

static const uint8_t last_words[MESSAGE_SIZE] = {0xff, 'b', 'y', 'e'};

static void kick_who_asks(carom_game *game, uint32_t player, const uint8_t *bytes, uint32_t size)
{
    (void)bytes;
    bool is_kicked = (cm_game_kicked(game) >> player & 1) != 0;
    if (size == CLUSTER_KICK_SIZE && !is_kicked &&
        carom_game_kick(game, player, CAROM_REASON_GAME_KICKED) == CAROM_OK) {
        carom_game_send(game, player, last_words, MESSAGE_SIZE);
    }
}

static bool refuse_some(carom_game *game, uint32_t player, const uint8_t *data, uint32_t size)
{
    return (size == 0 || carom_game_tick(game) % REFUSES != 0) &&
           (sandbox->join == NULL || sandbox->join(game, player, data, size));
}

bool cluster_heard_last_words(const cluster_told *told)
{
    return told->count > 0 &&
           memcmp(told->heard[told->count - 1].bytes, last_words, MESSAGE_SIZE) == 0;
}

const carom_module *cluster_module(void)
{
    sandbox = cm_module_find("sandbox");
    module = *sandbox;
    module.tick = tick_and_tell;
    module.join = refuse_some;
    module.message = kick_who_asks;
    return &module;
}

void cluster_hear(void *user, uint64_t tick, const uint8_t *bytes, uint32_t size)
{
    cluster_told *told = user;
    uint32_t player = carom_client_player(told->client);
    if (size != MESSAGE_SIZE || (told->count > 0 && told->heard[told->count - 1].player == player &&
                                 told->heard[told->count - 1].tick >= tick)) {
        cluster_fail(told->result, "a message of tick %" PRIu64 " came twice, or late", tick);
        return;
    }
    if (told->count == told->capacity) {
        told->capacity = 2 * told->capacity + 64;
        told->heard = realloc(told->heard, told->capacity * sizeof *told->heard);
    }
    struct cluster_heard *heard = &told->heard[told->count++];
    heard->tick = tick;
    heard->player = player;
    memcpy(heard->bytes, bytes, MESSAGE_SIZE);
}

struct cluster_said {
    struct {
        bool is_said;
        uint8_t bytes[MESSAGE_SIZE];
    } table[CLUSTER_TICKS_MAX][PLAYERS];
};

cluster_said *cluster_said_create(void)
{
    return calloc(1, sizeof(cluster_said));
}

void cluster_said_free(cluster_said *said)
{
    free(said);
}

void cluster_said_take(cluster_said *said, const carom_game *game)
{
    uint32_t count;
    const cm_game_message *messages = cm_game_messages(game, &count);
    uint64_t tick = carom_game_tick(game);
    for (uint32_t i = 0; i < count && tick < CLUSTER_TICKS_MAX; i++) {
        said->table[tick][messages[i].player].is_said = true;
        memcpy(said->table[tick][messages[i].player].bytes, messages[i].bytes, MESSAGE_SIZE);
    }
}

void cluster_said_compare(const cluster_said *said, const cluster_told *told, uint64_t gap_from,
                          uint64_t gap_to, cluster_result *result)
{
    for (uint32_t i = 0; i < told->count; i++) {
        const struct cluster_heard *heard = &told->heard[i];
        if (gap_to > 0 && heard->tick >= gap_from && heard->tick <= gap_to) {
            continue;
        }
        bool same =
            heard->tick < CLUSTER_TICKS_MAX && heard->player < PLAYERS &&
            said->table[heard->tick][heard->player].is_said &&
            memcmp(said->table[heard->tick][heard->player].bytes, heard->bytes, MESSAGE_SIZE) == 0;
        if (!same) {
            cluster_fail(result,
                         "player %u was told something in tick %" PRIu64 " that the recording "
                         "does not say",
                         heard->player, heard->tick);
            return;
        }
        result->told++;
    }
}
