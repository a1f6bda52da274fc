// Typical: a welcome of 20 to 60 KB when someone joins.
#include "server/replicate/welcomes.h"

#include <stdio.h>
#include <stdlib.h>

#define GATHER_MS 100u // those who join a large room within it share an encoding

static bool pack_scene(cm_welcomes *welcomes, const cm_scene *scene)
{
    size_t size = cm_scene_packed_size(scene);
    uint8_t *packed = malloc(size);
    if (packed == NULL) {
        return false;
    }
    cm_scene_pack(scene, packed);
    bool made = cm_control_compress(NULL, (cm_bytes){packed, size}, &welcomes->scene_frame,
                                    &welcomes->scene_frame_size) == CAROM_OK;
    free(packed);
    return made;
}

carom_result cm_welcomes_init(cm_welcomes *welcomes, const cm_scene *scene, const cm_room *room,
                              char *error, size_t error_size)
{
    welcomes->keyframe_size = cm_game_encode_size(cm_room_game(room));
    if (welcomes->keyframe_size > CM_CONTROL_KEYFRAME_MAX) {
        snprintf(error, error_size,
                 "the world takes %zu MiB as a keyframe, at most %u fit: nobody could join",
                 welcomes->keyframe_size >> 20, CM_CONTROL_KEYFRAME_MAX >> 20);
        return CAROM_ERROR_LIMIT_SIZE;
    }
    if (!pack_scene(welcomes, scene)) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    return CAROM_OK;
}

void cm_welcomes_free(cm_welcomes *welcomes)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_keyframe_streams_end(&welcomes->streams, player);
    }
    cm_control_release_bytes(NULL, welcomes->scene_frame);
}

bool cm_welcomes_may_begin(cm_welcomes *welcomes, uint64_t tick, uint32_t tick_rate)
{
    if (welcomes->keyframe_size <= CM_CONTROL_PART_SIZE) {
        return true;
    }
    if (welcomes->gather_tick == 0) {
        welcomes->gather_tick = tick + (uint64_t)tick_rate * GATHER_MS / 1000u;
    }
    return tick >= welcomes->gather_tick;
}

carom_reason cm_welcomes_encode(cm_welcomes *welcomes, cm_room *room, const cm_snapshot *snapshot,
                                cm_welcome_world *world)
{
    world->tick = welcomes->confirmed ? cm_room_confirmed(room) : snapshot->tick;
    const carom_game *game =
        welcomes->confirmed ? cm_room_game_at(room, world->tick) : cm_room_game(room);
    if (game == NULL) {
        return CAROM_REASON_SERVER_ERROR;
    }
    world->present = cm_game_players(game);
    welcomes->keyframes++;
    welcomes->gather_tick = 0;
    welcomes->keyframe_size = world->encoded.size = cm_game_encode_size(game);
    if (welcomes->keyframe_size > CM_CONTROL_KEYFRAME_MAX) {
        return CAROM_REASON_ROOM_TOO_LARGE;
    }
    if (welcomes->keyframe_size <= CM_CONTROL_PART_SIZE) {
        world->encoded.data = cm_room_encode(room, world->tick, &world->encoded.size);
        return world->encoded.data != NULL ? CAROM_REASON_NONE : CAROM_REASON_SERVER_ERROR;
    }
    world->stream = cm_keyframe_create(welcomes->keyframe_size, snapshot);
    if (world->stream == NULL) {
        return CAROM_REASON_SERVER_ERROR;
    }
    cm_game_encode(game, cm_keyframe_bytes(world->stream), welcomes->keyframe_size);
    return CAROM_REASON_NONE;
}

bool cm_welcomes_send(cm_welcomes *welcomes, cm_transport *transport, const cm_welcome_terms *terms,
                      const cm_room *room, const cm_welcome_world *world, const cm_client *client,
                      uint64_t messages_before)
{
    const cm_session *session = &client->session;
    const carom_module *module = cm_game_module(cm_room_game(room));
    cm_control control = {.type = CM_CONTROL_WELCOME,
                          .player = welcomes->spectators ? CM_CONTROL_SPECTATOR : session->player,
                          .client_id = session->client_id,
                          .epoch = session->epoch,
                          .tick_rate = terms->tick_rate,
                          .view_rate = terms->view_rate,
                          .input_rate = terms->input_rate,
                          .rewind_ms = terms->rewind_ms,
                          .module = module->name,
                          .module_version = module->version,
                          .module_abi = module->abi,
                          .seed = cm_game_seed(cm_room_game(room)),
                          .module_source = module->source,
                          .scene_frame = {welcomes->scene_frame, welcomes->scene_frame_size},
                          .present = world->present,
                          .tick = world->tick,
                          .messages = session->messages_received,
                          .messages_before = messages_before,
                          .durability = terms->durability,
                          .durable_tick = terms->durable_tick < world->tick ? terms->durable_tick
                                                                            : world->tick};
    if (world->stream == NULL) {
        control.keyframe = world->encoded;
    } else {
        control.keyframe_size = (uint32_t)world->encoded.size;
    }
    if (session->ticket.size > 0) {
        control.ticket = (cm_bytes){session->ticket.sealed, session->ticket.size};
        control.ticket_key = (cm_bytes){session->ticket.key, CM_KEY_BYTES};
        control.grace_ms = session->ticket.grace_ms;
    }
    if (!cm_client_send(transport, client, &control)) {
        return false;
    }
    cm_keyframe_streams_end(&welcomes->streams, session->player);
    if (world->stream != NULL) {
        cm_keyframe_streams_begin(&welcomes->streams, session->player, world->stream);
    }
    return true;
}

uint64_t cm_welcomes_send_parts(cm_welcomes *welcomes, cm_transport *transport,
                                const cm_roster *roster, uint32_t tick_rate)
{
    uint64_t failed = 0;
    bool packed = cm_keyframe_streams_tick(&welcomes->streams, tick_rate);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (!cm_keyframe_streams_has(&welcomes->streams, player)) {
            continue;
        }
        if (!cm_client_has_joined(roster->members[player])) {
            cm_keyframe_streams_end(&welcomes->streams, player);
            continue;
        }
        cm_connection_id connection = roster->members[player]->connection;
        size_t size, outstanding = cm_transport_status_of(transport, connection).outstanding;
        const uint8_t *part =
            cm_keyframe_streams_part(&welcomes->streams, player, outstanding, &size);
        if (part != NULL && cm_transport_send(transport, connection, CM_SEND_CONTROL, part, size)) {
            cm_keyframe_streams_sent(&welcomes->streams, player);
        } else if (part != NULL || !packed) {
            failed |= UINT64_C(1) << player;
        }
    }
    return failed;
}
