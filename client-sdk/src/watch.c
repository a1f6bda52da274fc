// See the header. Typical: 400 slots, one change in some seconds.
#include "client-sdk/src/state.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/base/vec.h"

bool cm_body_watch_begin(cm_body_watch *watch, const carom_allocator *allocator, uint32_t slots)
{
    if (slots <= watch->slots) {
        return true;
    }
    cm_watched_body *bodies = cm_memory_take(allocator, slots * sizeof *bodies);
    if (bodies == NULL) {
        return false;
    }
    if (watch->slots > 0) {
        memcpy(bodies, watch->bodies, watch->slots * sizeof *bodies);
    }
    cm_memory_give(allocator, watch->bodies);
    watch->bodies = bodies;
    watch->slots = slots;
    return true;
}

void cm_body_watch_free(cm_body_watch *watch, const carom_allocator *allocator)
{
    cm_memory_give(allocator, watch->bodies);
    memset(watch, 0, sizeof *watch);
}

// The players and what they steer, in one pass.
static void note_owners(carom_client *client)
{
    cm_body_watch *watch = &client->watch;
    for (uint32_t i = 0; i < watch->slots; i++) {
        watch->bodies[i].steered_generation = 0;
    }
    const carom_game *game = cm_client_drawn_game(client);
    uint64_t players = game != NULL ? cm_game_players(game) : 0;
    for (; players != 0; players &= players - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(players);
        carom_body_id id = cm_game_player_body(game, player);
        if (id.index < watch->slots && watch->bodies[id.index].steered_generation == 0) {
            watch->bodies[id.index].steered_generation = id.generation;
            watch->bodies[id.index].steered_by = player;
        }
    }
}

static void tell(carom_client *client, carom_client_body_change_kind kind, carom_body_id body,
                 uint32_t owner)
{
    const carom_client_body_change change = {.kind = kind, .body = body, .owner = owner};
    client->def.body_changed(client->def.user, &change);
}

// A callback may end the connection, but for one body no more than its changes are told: all is
// noted before.
static void look_at(carom_client *client, uint32_t slot, float seconds)
{
    const carom_body_id none = {0, 0};
    cm_watched_body *row = &client->watch.bodies[slot];
    const cm_watched_body was = *row;
    bool used = slot < carom_client_body_slots(client);
    carom_body_id id = used ? carom_client_body_at(client, slot) : none;
    carom_client_pose pose = {.predicted = false};
    (void)carom_client_body_pose(client, id, &pose); // zeros for no body
    row->generation = id.generation;
    row->owner = row->steered_generation == id.generation && id.generation != 0 ? row->steered_by
                                                                                : CAROM_NO_PLAYER;
    const uint32_t owner = row->owner;
    row->position = pose.position;
    row->speed = cm_length(pose.linear_velocity);
    bool same = was.generation == id.generation && id.generation != 0;
    float speed = row->speed > was.speed ? row->speed : was.speed;
    bool jumped = same && cm_interp_is_jump(was.position, row->position, speed, seconds,
                                            client->def.snap_distance);
    if (was.generation != 0 && !same) {
        tell(client, CAROM_BODY_VANISHED, (carom_body_id){slot, was.generation}, was.owner);
    }
    if (id.generation != 0 && !same) {
        tell(client, CAROM_BODY_APPEARED, id, owner);
    }
    if (jumped) {
        tell(client, CAROM_BODY_TELEPORTED, id, owner);
    }
    if (same && owner != was.owner) {
        tell(client, CAROM_BODY_CHANGED_OWNER, id, owner);
    }
}

void cm_client_tell_bodies(carom_client *client)
{
    cm_body_watch *watch = &client->watch;
    if (client->def.body_changed == NULL || watch->telling) {
        return;
    }
    float seconds = (float)((double)(client->now_us - watch->looked_us) * 1.0e-6);
    watch->looked_us = client->now_us;
    watch->telling = true;
    note_owners(client);
    for (uint32_t slot = 0; slot < watch->slots; slot++) {
        look_at(client, slot, seconds);
    }
    watch->telling = false;
}
