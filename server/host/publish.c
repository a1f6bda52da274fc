// What goes out, after each frame: messages of confirmed ticks, which wait for their client's
// welcome where that is still to come; in ticks with a view or a welcome
// the snapshot, the world changes since the last one, the welcomes, the views.
//
// A client that is welcomed has the keyframe of that very tick, so what was announced before does
// not concern it, and what changes later does. Typical: 32 views 30 times a second; a welcome of
// 20 to 60 KB when someone joins, at most two a tick.
#include "server/host/worker_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

#define WELCOMES_MAX      2u         // in one tick: each costs some milliseconds to compress
#define MESSAGES_WAIT_MAX 131072u    // bytes of messages for one client that is not welcomed yet
#define BODY_BYTES_MAX    65536u     // of one encoded body
#define CHANGE_BYTES_MAX  (1u << 20) // of bodies in one world change
#define CHANGE_BODIES     1024u      // in one world change

carom_result cm_publish_init(cm_worker *worker, char *error, size_t error_size)
{
    carom_result result =
        cm_snapshot_config(worker->scene, &worker->view_config, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    uint32_t slots = carom_world_limits(cm_room_world(worker->room)).bodies;
    worker->announced = calloc(slots, sizeof *worker->announced);
    worker->gone = calloc(slots, sizeof *worker->gone);
    worker->spawned = calloc(slots, sizeof *worker->spawned);
    worker->packed_scene_size = cm_scene_packed_size(worker->scene);
    worker->packed_scene = malloc(worker->packed_scene_size);
    if (!cm_snapshot_init(&worker->snapshot, slots) || worker->announced == NULL ||
        worker->gone == NULL || worker->spawned == NULL || worker->packed_scene == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    cm_scene_pack(worker->scene, worker->packed_scene);
    cm_snapshot_take(&worker->snapshot, &worker->view_config, cm_room_game(worker->room), 0, 0);
    uint32_t gone, spawned;
    cm_snapshot_changes(&worker->snapshot, worker->announced, worker->gone, &gone, worker->spawned,
                        &spawned);
    return CAROM_OK;
}

void cm_publish_free(cm_worker *worker)
{
    cm_snapshot_free(&worker->snapshot);
    free(worker->announced);
    free(worker->gone);
    free(worker->spawned);
    free(worker->packed_scene);
    free(worker->keyframe);
}

size_t cm_publish_encode(cm_worker *worker, const carom_game *game)
{
    size_t size = cm_game_encode_size(game);
    if (size > worker->keyframe_capacity) {
        uint8_t *grown = realloc(worker->keyframe, size + size / 4);
        if (grown == NULL) {
            return 0;
        }
        worker->keyframe = grown;
        worker->keyframe_capacity = size + size / 4;
    }
    size_t wrote = cm_game_encode(game, worker->keyframe, worker->keyframe_capacity);
    CM_ASSERT(wrote == size);
    return wrote;
}

static void send_message(cm_worker *worker, uint32_t peer, uint64_t tick, const uint8_t *bytes,
                         uint32_t size)
{
    cm_control control = {.type = CM_CONTROL_GAME_MESSAGE, .tick = tick, .payload = {bytes, size}};
    worker->stats.messages_dropped += !cm_clients_send(worker, peer, &control);
}

// What waited for the client's welcome, after it.
static void send_waiting(cm_worker *worker, uint32_t peer)
{
    cm_outbox *waiting = &worker->clients[peer].waiting;
    cm_outbox_message message;
    while (cm_outbox_peek(waiting, &message)) {
        send_message(worker, peer, message.tick, message.bytes, message.size);
        cm_outbox_pop(waiting);
    }
}

void cm_publish_messages(cm_worker *worker, const cm_history_slot *slot)
{
    worker->stats.messages_dropped += slot->messages_dropped;
    for (uint32_t i = 0; i < slot->message_count; ++i) {
        const cm_game_message *message = &slot->messages[i];
        uint32_t peer =
            message->player < CAROM_PLAYERS_MAX ? worker->peer_of[message->player] : CM_NO_PEER;
        if (peer == CM_NO_PEER) {
            continue;
        }
        const cm_session *session = &worker->clients[peer].session;
        if (session->join_tick > slot->tick) {
            continue; // meant for whoever had the slot before
        }
        if (session->state == CM_SESSION_JOINED) {
            send_message(worker, peer, slot->tick, message->bytes, message->size);
        } else if (!cm_outbox_push(&worker->clients[peer].waiting, slot->tick, message->bytes,
                                   message->size, MESSAGES_WAIT_MAX)) {
            ++worker->stats.messages_dropped;
        }
    }
}

// One message with the bodies given, to all who play.
static void announce(cm_worker *worker, const cm_bytes *spawned, uint32_t spawned_count,
                     const carom_body_id *gone, uint32_t gone_count)
{
    cm_control control = {.type = CM_CONTROL_WORLD_CHANGE,
                          .tick = worker->snapshot.tick,
                          .spawned = spawned,
                          .spawned_count = spawned_count,
                          .gone = gone,
                          .gone_count = gone_count};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(&control, NULL, &bytes, &size) != CAROM_OK) {
        cm_line line;
        cm_line_log(&line, CM_LOG_ERROR, "world change could not be sent");
        cm_worker_log(worker, CM_LOG_ERROR, &line);
        return;
    }
    for (uint32_t peer = 0; peer < worker->peer_count; ++peer) {
        if (worker->clients[peer].session.state == CM_SESSION_JOINED) {
            cm_host_send_reliable(worker->host, peer, bytes, size);
        }
    }
    cm_control_release_bytes(NULL, bytes);
}

// Bodies from `first` of the spawned ones, as many as one message takes; returns the next.
static uint32_t announce_spawned(cm_worker *worker, uint32_t first, uint32_t count, uint8_t *bytes)
{
    cm_bytes list[CHANGE_BODIES];
    uint32_t listed = 0;
    size_t used = 0;
    const carom_world *world = cm_room_world(worker->room);
    while (first < count && listed < CHANGE_BODIES && used + BODY_BYTES_MAX <= CHANGE_BYTES_MAX) {
        uint32_t slot = worker->spawned[first++];
        carom_body_id id = {slot, worker->snapshot.generation[slot]};
        size_t size = carom_world_encode_body(world, id, bytes + used, BODY_BYTES_MAX);
        if (size == 0) {
            continue; // more shapes than a message takes: the client does without
        }
        list[listed].data = bytes + used;
        list[listed++].size = size;
        used += size;
    }
    announce(worker, list, listed, NULL, 0);
    return first;
}

static void publish_changes(cm_worker *worker)
{
    uint32_t gone = 0;
    uint32_t spawned = 0;
    cm_snapshot_changes(&worker->snapshot, worker->announced, worker->gone, &gone, worker->spawned,
                        &spawned);
    if (gone == 0 && spawned == 0) {
        return;
    }
    for (uint32_t at = 0; at < gone; at += CHANGE_BODIES) {
        uint32_t count = gone - at < CHANGE_BODIES ? gone - at : CHANGE_BODIES;
        announce(worker, NULL, 0, worker->gone + at, count);
    }
    uint8_t *bytes = spawned > 0 ? malloc(CHANGE_BYTES_MAX) : NULL;
    for (uint32_t at = 0; at < spawned && bytes != NULL;) {
        at = announce_spawned(worker, at, spawned, bytes);
    }
    free(bytes);
    for (uint32_t peer = 0; peer < worker->peer_count; ++peer) {
        cm_replica *replica = worker->clients[peer].replica;
        for (uint32_t i = 0; i < gone && replica != NULL; ++i) {
            if (worker->snapshot.generation[worker->gone[i].index] == 0) {
                cm_replica_changed(replica, &worker->snapshot, worker->gone[i].index);
            }
        }
        for (uint32_t i = 0; i < spawned && replica != NULL; ++i) {
            cm_replica_changed(replica, &worker->snapshot, worker->spawned[i]);
        }
    }
}

static void welcome(cm_worker *worker, uint32_t peer)
{
    cm_client *client = &worker->clients[peer];
    cm_session *session = &client->session;
    cm_replica_def def = {.slots = worker->snapshot.capacity,
                          .tick_rate = worker->tick_rate,
                          .view_rate = worker->view_rate,
                          .budget_kbit = worker->budget_kbit,
                          .interest_radius = worker->interest_radius,
                          .predict = session->predict};
    client->replica = cm_replica_create(&def);
    size_t size = cm_publish_encode(worker, cm_room_game(worker->room));
    if (client->replica == NULL || size == 0) {
        cm_clients_kick(worker, peer, CAROM_REASON_SERVER_ERROR);
        return;
    }
    cm_control control = {.type = CM_CONTROL_WELCOME,
                          .player = session->player,
                          .client_id = session->client_id,
                          .tick_rate = worker->tick_rate,
                          .view_rate = worker->view_rate,
                          .input_rate = worker->input_rate,
                          .rewind_ms = (uint32_t)worker->config.rewind_ms,
                          .module = worker->module->name,
                          .module_version = worker->module->version,
                          .scene = {worker->packed_scene, worker->packed_scene_size},
                          .keyframe = {worker->keyframe, size},
                          .present = worker->snapshot.present,
                          .tick = worker->snapshot.tick};
    if (!cm_clients_send(worker, peer, &control)) {
        cm_clients_kick(worker, peer, CAROM_REASON_SERVER_ERROR);
        return;
    }
    cm_replica_begin(client->replica, &worker->snapshot);
    session->state = CM_SESSION_JOINED;
    send_waiting(worker, peer);
    if (worker->rate_permille != 1000) {
        cm_control clock = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = worker->rate_permille};
        cm_clients_send(worker, peer, &clock);
    }
}

static void publish_view(cm_worker *worker, uint32_t peer)
{
    cm_client *client = &worker->clients[peer];
    cm_session *session = &client->session;
    cm_view_header header = {.tick = (uint32_t)worker->snapshot.tick,
                             .input_ack = (uint32_t)cm_room_settled(worker->room, session->player),
                             .input_lead = (int16_t)session->lead};
    const carom_game *game = cm_room_game(worker->room);
    carom_body_id own = cm_game_player_body(game, session->player);
    carom_body_state pointer;
    header.has_wrench =
        carom_body_get(cm_room_world(worker->room), cm_game_pointer(game, session->player),
                       &pointer) == CAROM_OK;
    if (header.has_wrench) {
        header.force = pointer.contact_force;
        header.torque = pointer.contact_torque;
    }
    cm_view_out *out = &worker->out;
    cm_replica_view(client->replica, &worker->snapshot, &worker->view_config, &header, own, out);
    for (uint32_t i = 0; i < out->count; ++i) {
        cm_host_send(worker->host, peer, out->bytes[i], out->sizes[i]);
        session->view_bytes += out->sizes[i] + CM_PACKET_OVERHEAD;
        ++worker->stats.views;
        worker->stats.view_bytes += out->sizes[i] + CM_PACKET_OVERHEAD;
    }
    if (out->count > 0) {
        cm_session_take_lead(session);
    }
}

static bool view_due(const cm_worker *worker, uint64_t tick)
{
    return tick * worker->view_rate / worker->tick_rate !=
           (tick - 1) * worker->view_rate / worker->tick_rate;
}

void cm_publish(cm_worker *worker)
{
    uint64_t tick = cm_room_tick(worker->room);
    bool views = view_due(worker, tick);
    bool joining = false;
    bool joined = false;
    for (uint32_t i = 0; i < worker->peer_count; ++i) {
        joining = joining || worker->clients[i].session.state == CM_SESSION_JOINING;
        joined = joined || worker->clients[i].session.state == CM_SESSION_JOINED;
    }
    if (!joining && !(views && joined)) {
        return;
    }
    cm_snapshot_take(&worker->snapshot, &worker->view_config, cm_room_game(worker->room), tick,
                     cm_room_present(worker->room));
    publish_changes(worker);
    uint32_t welcomes = 0;
    for (uint32_t i = 0; i < worker->peer_count && welcomes < WELCOMES_MAX; ++i) {
        const cm_session *session = &worker->clients[i].session;
        if (session->state == CM_SESSION_JOINING && session->join_tick <= tick) {
            welcome(worker, i);
            ++welcomes;
        }
    }
    for (uint32_t i = 0; i < worker->peer_count && views; ++i) {
        if (worker->clients[i].session.state == CM_SESSION_JOINED) {
            publish_view(worker, i);
        }
    }
}
