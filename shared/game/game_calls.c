// The functions of carom/game.h that a module calls on its game.
#include <string.h>

#include "shared/game/game_host.h"
#include "shared/game/game_state.h"

carom_world *carom_game_world(const carom_game *game)
{
    return game->world;
}

void *carom_game_state(const carom_game *game)
{
    return game->module_state;
}

uint64_t carom_game_tick(const carom_game *game)
{
    return carom_world_tick(game->world);
}

bool carom_game_is_predicted(const carom_game *game, carom_body_id body)
{
    return game->predicts == NULL || game->predicts(game->predicts_context, body);
}

uint64_t carom_game_random(carom_game *game)
{
    return carom_world_random(game->world);
}

uint64_t carom_game_random_at(const carom_game *game, uint64_t key)
{
    cm_hash hash = cm_hash_begin(game->seed);
    cm_hash_u64(&hash, carom_game_tick(game));
    cm_hash_u64(&hash, key);
    return cm_hash_end(&hash);
}

// The scene's body that this id is of, or CM_SCENE_NO_BODY: bodies of the scene are the first of
// their slots.
static uint32_t scene_body(const carom_game *game, carom_body_id body)
{
    bool placed = body.generation == 1 && body.index < cm_scene_body_count(game->scene) &&
                  carom_body_is_valid(game->world, body);
    return placed ? body.index : CM_SCENE_NO_BODY;
}

const char *carom_game_body_name(const carom_game *game, carom_body_id body)
{
    return cm_scene_body_name(game->scene, scene_body(game, body));
}

bool carom_game_body_has_tag(const carom_game *game, carom_body_id body, const char *tag)
{
    return cm_scene_body_has_tag(game->scene, scene_body(game, body), tag);
}

carom_body_id carom_game_find_body(const carom_game *game, const char *name)
{
    carom_body_id body = {cm_scene_find_body(game->scene, name), 1};
    return scene_body(game, body) != CM_SCENE_NO_BODY ? body : (carom_body_id){0, 0};
}

carom_result carom_game_spawn(carom_game *game, const char *prefab, carom_vec3 position,
                              carom_quat orientation, carom_body_id *body)
{
    uint32_t index = cm_scene_find_prefab(game->scene, prefab);
    carom_body_def def;
    const carom_shape_def *shapes;
    if (index == CM_SCENE_NO_BODY) {
        return CAROM_ERROR_NOT_FOUND;
    }
    uint32_t count = cm_scene_prefab(game->scene, index, &def, &shapes);
    def.position = position;
    def.orientation = orientation;
    return carom_body_create(game->world, &def, shapes, count, body);
}

uint32_t carom_game_find_material(const carom_game *game, const char *name)
{
    return cm_scene_find_material(game->scene, name);
}

void carom_game_close(carom_game *game)
{
    game->closes = true;
}

carom_result carom_game_kick(carom_game *game, uint32_t player, carom_reason reason)
{
    if (reason <= CAROM_REASON_NONE || reason >= CAROM_REASON_COUNT ||
        reason == CAROM_REASON_ELSEWHERE) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (!cm_game_player_present(game, player)) {
        return CAROM_ERROR_NOT_FOUND;
    }
    if (!cm_game_has_bit(game->kicked, player)) {
        game->kicked |= UINT64_C(1) << player;
        game->kick_reasons[player] = (uint8_t)reason;
    }
    return CAROM_OK;
}

static carom_result send_message(carom_game *game, uint32_t player, const void *bytes,
                                 uint32_t size, bool unreliable)
{
    if (player >= CAROM_PLAYERS_MAX ||
        size > (unreliable ? CAROM_UNRELIABLE_MAX : CAROM_MESSAGE_MAX)) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (game->message_count == CM_GAME_MESSAGES_MAX) {
        game->messages_dropped++;
        return CAROM_ERROR_FULL;
    }
    cm_game_message *message = &game->messages[game->message_count++];
    message->player = player;
    message->size = size;
    message->unreliable = unreliable;
    if (size > 0) {
        memcpy(message->bytes, bytes, size);
    }
    return CAROM_OK;
}

carom_result carom_game_send(carom_game *game, uint32_t player, const void *bytes, uint32_t size)
{
    return send_message(game, player, bytes, size, false);
}

carom_result carom_game_send_unreliable(carom_game *game, uint32_t player, const void *bytes,
                                        uint32_t size)
{
    return send_message(game, player, bytes, size, true);
}

carom_result carom_game_send_all(carom_game *game, const void *bytes, uint32_t size)
{
    carom_result result = CAROM_OK;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        carom_result sent = cm_game_player_present(game, player)
                                ? carom_game_send(game, player, bytes, size)
                                : CAROM_OK;
        result = result == CAROM_OK ? sent : result;
    }
    return result;
}

carom_result carom_game_emit(carom_game *game, const carom_event *event)
{
    if (event == NULL || event->size > CAROM_EVENT_BYTES_MAX) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_event own = *event;
    own.tick = carom_world_tick(game->world) + game->ticking;
    memset(own.bytes + own.size, 0, sizeof own.bytes - own.size);
    for (uint32_t i = 0; i < game->event_count; i++) {
        if (carom_event_is_same(&game->events[i], &own)) {
            return CAROM_ERROR_STATE;
        }
    }
    if (game->event_count == CAROM_EVENTS_MAX) {
        game->events_dropped++;
        return CAROM_ERROR_FULL;
    }
    game->events[game->event_count++] = own;
    return CAROM_OK;
}
