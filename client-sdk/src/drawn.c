// The bodies that are drawn: which there are, whose, and where. Predicted ones are shown at the
// client's own tick, the others at a moment of the past; what is left of a correction's jump is
// added to both.
//
// Typical: 400 bodies a frame, 50 of them predicted.
#include "client-sdk/src/state.h"

#include <string.h>

#define BLOCK 64u // bodies read at once

// The prediction's, where there is one.
const carom_game *cm_client_drawn_game(const carom_client *client)
{
    const cm_predictor *p = client->predictor;
    if (client->mirror == NULL) {
        return NULL;
    }
    return p != NULL && cm_predictor_knows(p) ? p->game : client->mirror->game;
}

static const carom_world *drawn_world(const carom_client *client)
{
    return carom_game_world(cm_client_drawn_game(client));
}

carom_body_id carom_client_own_body(const carom_client *client)
{
    const carom_body_id none = {0, 0};
    const cm_predictor *p = client->predictor;
    if (client->mirror == NULL) {
        return none;
    }
    return p != NULL && cm_predictor_knows(p)
               ? cm_predictor_own(p)
               : cm_game_player_body(client->mirror->game, client->mirror->player);
}

uint32_t carom_client_body_slots(const carom_client *client)
{
    return client->mirror != NULL ? carom_world_body_slots(drawn_world(client)) : 0;
}

carom_body_id carom_client_body_at(const carom_client *client, uint32_t slot)
{
    carom_body_id none = {0, 0};
    return client->mirror != NULL ? carom_world_body_at(drawn_world(client), slot) : none;
}

// Of a body of the drawn world, whose state there is `state`.
static void pose_of(const carom_client *client, carom_body_id body, const carom_body_state *state,
                    carom_client_pose *pose)
{
    const cm_mirror *mirror = client->mirror;
    const cm_predictor *p = client->predictor;
    double ahead = cm_client_clock_predicted(&client->clock);
    if (p != NULL && cm_predictor_pose(p, body, ahead, pose)) {
        return;
    }
    if (!carom_body_is_valid(mirror->world, body)) {
        cm_predictor_spawned(p, state, ahead, pose);
        return;
    }
    if (!cm_interp_pose(&client->interp, body, cm_client_clock_render(&client->clock),
                        mirror->tick_rate, pose)) {
        carom_body_state seen;
        (void)carom_body_get(mirror->world, body, &seen); // valid, as above
        pose->position = seen.position;
        pose->orientation = seen.orientation;
        pose->linear_velocity = seen.linear_velocity;
        pose->angular_velocity = seen.angular_velocity;
    }
    if (p != NULL) {
        cm_predictor_offset(p, body, pose);
    }
}

carom_result carom_client_body_pose(const carom_client *client, carom_body_id body,
                                    carom_client_pose *pose)
{
    carom_body_state state;
    if (pose == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    memset(pose, 0, sizeof *pose);
    if (client == NULL || client->mirror == NULL) {
        return CAROM_ERROR_STATE;
    }
    carom_result result = carom_body_get(drawn_world(client), body, &state);
    if (result == CAROM_OK) {
        pose_of(client, body, &state, pose);
    }
    return result;
}

uint32_t carom_client_transforms(const carom_client *client, carom_client_transform *out,
                                 uint32_t capacity)
{
    uint32_t slots = client != NULL ? carom_client_body_slots(client) : 0, count = 0;
    for (uint32_t first = 0; first < slots; first += BLOCK) {
        uint32_t left = slots - first, block = left < BLOCK ? left : BLOCK;
        carom_body_id ids[BLOCK];
        carom_body_state states[BLOCK];
        carom_world_read_bodies(drawn_world(client), first, block, ids, states);
        for (uint32_t i = 0; i < block; i++) {
            carom_client_pose pose = {.predicted = false};
            if (carom_body_id_is_null(ids[i]) || count++ >= capacity) {
                continue;
            }
            pose_of(client, ids[i], &states[i], &pose);
            out[count - 1] =
                (carom_client_transform){ids[i], pose.position, pose.orientation, pose.predicted};
        }
    }
    return count;
}

const carom_world *carom_client_world(const carom_client *client)
{
    return client->mirror != NULL ? client->mirror->world : NULL;
}

const void *carom_client_public_state(const carom_client *client, uint32_t *size)
{
    const carom_game *game = client->mirror != NULL ? client->mirror->game : NULL;
    *size = game != NULL ? cm_game_module(game)->public_size : 0;
    return game != NULL ? carom_game_state(game) : NULL;
}

const void *carom_client_predicted_state(const carom_client *client, uint32_t *size)
{
    const carom_game *game = cm_client_drawn_game(client);
    *size = game != NULL ? cm_game_module(game)->public_size : 0;
    return game != NULL ? carom_game_state(game) : NULL;
}
