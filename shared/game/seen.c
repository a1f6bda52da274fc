// Lag compensation: reads from a player's input the time that the player saw, and queries the world
// as it was then.
//
// An input of a game with a history has CAROM_SEEN_BYTES behind the pose of a pointer: the age of
// the view that the player acted on, counted back from the input's own tick, in ticks /
// CAROM_SEEN_PER_TICK, little-endian. It is an age and not a time, so that a held input keeps its
// meaning, and an unchanged input has the same bytes.
#include "shared/game/game_state.h"

#include "shared/base/fpenv.h"

_Static_assert(CAROM_SEEN_BYTES == 2, "an age has 16 bits");

bool cm_game_has_seen(const carom_game *game)
{
    return game->past.ticks > 0;
}

void cm_game_put_seen(const carom_game *game, uint8_t *input, double age)
{
    if (game->past.ticks > 0) {
        double most = 65535.0, units = age * CAROM_SEEN_PER_TICK + 0.5;
        uint32_t value = units > 0.0 ? (uint32_t)(units < most ? units : most) : 0;
        input[game->pointer_bytes] = (uint8_t)value;
        input[game->pointer_bytes + 1] = (uint8_t)(value >> 8);
    }
}

double cm_game_get_seen(const carom_game *game, const uint8_t *input)
{
    const uint8_t *at = input + game->pointer_bytes;
    uint32_t value = game->past.ticks > 0 ? (uint32_t)at[0] | (uint32_t)at[1] << 8 : 0;
    return (double)value / CAROM_SEEN_PER_TICK;
}

// The time of the view that the player's input of this tick acted on, in ticks /
// CAROM_SEEN_PER_TICK.
static uint64_t seen_time(const carom_game *game, uint32_t player)
{
    const uint8_t *at = game->held[player] + game->pointer_bytes;
    uint64_t age = (uint64_t)at[0] | (uint64_t)at[1] << 8;
    uint64_t now = (carom_world_tick(game->world) + game->ticking) * CAROM_SEEN_PER_TICK;
    return age < now ? now - age : 0;
}

CM_FP_BODY static uint32_t poses_seen(const carom_game *game, uint32_t player,
                                      carom_body_pose *poses)
{
    // In the callbacks after the step the row of this tick is still to come.
    uint64_t newest = carom_world_tick(game->world) - game->stepped;
    return cm_past_poses(&game->past, game->world, newest, seen_time(game, player), poses);
}

carom_result carom_world_query_seen(const carom_game *game, uint32_t player,
                                    const carom_seen_query *query, const carom_query_filter *filter,
                                    carom_query_hit *hits, uint32_t capacity, uint32_t *count)
{
    carom_body_pose poses[CAROM_HISTORY_BODIES_MAX];
    if (game == NULL || query == NULL || (query->ray == NULL) == (query->shape == NULL) ||
        (filter != NULL && filter->pose_count > 0)) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (game->past.ticks == 0 || !cm_game_player_present(game, player)) {
        return CAROM_ERROR_STATE;
    }
    carom_query_filter then = filter != NULL ? *filter : carom_default_query_filter();
    cm_fpenv saved = cm_fpenv_enter();
    then.pose_count = poses_seen(game, player, poses);
    cm_fpenv_leave(saved);
    then.poses = poses;
    carom_vec3 way = query->translation;
    if (query->ray != NULL) {
        return carom_world_cast_ray(game->world, query->ray, &then, hits, capacity, count);
    }
    return way.x == 0.0f && way.y == 0.0f && way.z == 0.0f
               ? carom_world_overlap(game->world, query->shape, &then, hits, capacity, count)
               : carom_world_cast_shape(game->world, query->shape, way, &then, hits, capacity,
                                        count);
}
