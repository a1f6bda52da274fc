// What a room sends.
//
// A client that is welcomed has the keyframe of that very tick, so what was announced before does
// not concern it, and what changes later does. Typical: 32 views 30 times a second; a welcome of
// 20 to 60 KB when someone joins, at most two a tick. A large world is encoded once for all who
// join within a tenth of a second, and follows their welcomes in parts; views begin after them.
#include "server/replicate/publisher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/replicate/frame.h"
#include "server/replicate/keyframe_stream.h"
#include "server/session/mailbox.h"
#include "server/replicate/replicate.h"
#include "shared/base/assert.h"
#include "shared/wire/events.h"

#define WELCOMES_MAX      2u         // in one tick: each costs some milliseconds to compress
#define GATHER_MS         100u       // those who join a large room within it share an encoding
#define MESSAGES_WAIT_MAX (1u << 20) // bytes of messages that one client is not known to have
#define BODY_BYTES_MAX    65536u     // of one encoded body
#define CHANGE_BYTES_MAX  (1u << 20) // of bodies in one world change
#define CHANGE_BODIES     1024u      // in one world change
#define FRAME_JOINTS      256u       // likewise: of some 240 bytes

// What is kept of one player's client, connected or cut off.
typedef struct viewer {
    uint64_t client_id, join_tick; // id 0: nobody
    cm_replica *replica;           // once welcomed
    uint64_t durable;              // newest tick that a view told to be so
    cm_mailbox mail;               // of the module
    bool tells_messages;           // its views say how many there were: an Events was among them
    uint64_t sent, acked;          // view packets; those that it acked
    uint64_t sent_before[2];       // a second ago, and two
    uint64_t acked_before;         // a second ago
    float loss;                    // share of them that does not arrive, smoothed over some seconds
} viewer;

struct cm_publisher {
    cm_publisher_def def;
    uint32_t tick_rate;
    float interest_radius;
    uint32_t rate_permille;      // of the room's clock, as clients were told
    carom_durability durability; // of the match
    uint64_t durable_tick;
    uint64_t said_messages, said_events, said_changes; // left out, as the log last said
    cm_view_config view_config;
    cm_snapshot snapshot;
    cm_announced *announced; // of each slot, as all clients were told
    carom_body_id *gone;
    uint32_t *spawned;
    cm_frame frame;
    uint32_t *joints;     // changed ones
    uint8_t *scene_frame; // packed and compressed
    size_t scene_frame_size;
    size_t keyframe_size; // of the last one, encoded
    uint64_t gather_tick; // when those who wait for a large one are welcomed; 0: nobody waits
    cm_keyframe_streams streams;
    viewer viewers[CAROM_PLAYERS_MAX];
    cm_view_out out;
    cm_publisher_stats stats;
};

static bool pack_scene(cm_publisher *p)
{
    size_t size = cm_scene_packed_size(p->def.scene);
    uint8_t *packed = malloc(size);
    if (packed == NULL) {
        return false;
    }
    cm_scene_pack(p->def.scene, packed);
    bool made = cm_control_compress(NULL, (cm_bytes){packed, size}, &p->scene_frame,
                                    &p->scene_frame_size) == CAROM_OK;
    free(packed);
    return made;
}

// A keyframe above the limit could be given to nobody.
static bool fits(cm_publisher *p, const cm_room *room, char *error, size_t error_size)
{
    p->keyframe_size = cm_game_encode_size(cm_room_game(room));
    if (p->keyframe_size > CM_CONTROL_KEYFRAME_MAX) {
        snprintf(error, error_size,
                 "the world takes %zu MiB as a keyframe, at most %u fit: nobody could join",
                 p->keyframe_size >> 20, CM_CONTROL_KEYFRAME_MAX >> 20);
        return false;
    }
    return true;
}

static carom_result build(cm_publisher *p, const cm_room *room, char *error, size_t error_size)
{
    const cm_scene *scene = p->def.scene;
    carom_result result = cm_snapshot_config(scene, &p->view_config, error, error_size);
    if (result != CAROM_OK) {
        return result;
    }
    cm_scene_replication replication;
    cm_scene_replication_get(scene, &replication);
    if (!fits(p, room, error, error_size)) {
        return CAROM_ERROR_LIMIT_SIZE;
    }
    p->tick_rate = cm_room_tick_rate(room);
    p->interest_radius = replication.interest_radius;
    uint32_t view_rate = p->def.view_rate > 0 ? p->def.view_rate : replication.view_rate;
    p->def.view_rate = view_rate < p->tick_rate ? view_rate : p->tick_rate;
    p->def.budget_kbit = p->def.budget_kbit > 0 ? p->def.budget_kbit : replication.budget_kbit;
    p->rate_permille = 1000;
    uint32_t slots = carom_world_limits(cm_room_world(room)).bodies;
    p->announced = calloc(slots, sizeof *p->announced);
    p->gone = calloc(slots, sizeof *p->gone);
    p->spawned = calloc(slots, sizeof *p->spawned);
    const carom_world *world = cm_room_world(room);
    p->joints = calloc(carom_world_limits(world).joints + 1u, sizeof *p->joints);
    if (!cm_snapshot_init(&p->snapshot, slots) || p->announced == NULL || p->gone == NULL ||
        p->spawned == NULL || !pack_scene(p) || p->joints == NULL ||
        !cm_frame_init(&p->frame, world)) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    cm_snapshot_capture(&p->snapshot, &p->view_config, cm_room_game(room), cm_room_tick(room),
                        cm_room_present(room));
    uint32_t gone, spawned;
    cm_snapshot_changes(&p->snapshot, p->announced, p->gone, &gone, p->spawned, &spawned);
    uint32_t joints;
    cm_frame_changes(&p->frame, world, 0, p->joints, &joints);
    cm_frame_sent(&p->frame, world, 0, p->joints, joints);
    return CAROM_OK;
}

carom_result cm_publisher_create(const cm_publisher_def *def, const cm_room *room,
                                 cm_publisher **out, char *error, size_t error_size)
{
    *out = NULL;
    cm_publisher *p = calloc(1, sizeof *p);
    if (p == NULL) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
    p->def = *def;
    carom_result result = build(p, room, error, error_size);
    if (result != CAROM_OK) {
        cm_publisher_destroy(p);
        return result;
    }
    *out = p;
    return CAROM_OK;
}

static void forget(cm_publisher *p, uint32_t player)
{
    viewer *v = &p->viewers[player];
    cm_keyframe_streams_end(&p->streams, player);
    cm_replica_destroy(v->replica);
    v->replica = NULL;
    cm_outbox_clear(&v->mail.messages);
    memset(v, 0, sizeof *v);
}

void cm_publisher_destroy(cm_publisher *p)
{
    if (p == NULL) {
        return;
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        forget(p, player);
    }
    cm_snapshot_free(&p->snapshot);
    cm_frame_free(&p->frame);
    free(p->joints);
    free(p->announced);
    free(p->gone);
    free(p->spawned);
    cm_control_release_bytes(NULL, p->scene_frame);
    free(p);
}

static bool has_joined(const cm_client *client)
{
    return client != NULL && client->session.state == CM_SESSION_JOINED;
}

// Forgets those who have no slot any more; a slot may belong to another client by now. Who was cut
// off is remembered as long as the slot is kept.
static void meet(cm_publisher *p, const cm_roster *roster)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        viewer *v = &p->viewers[player];
        const cm_session *session = cm_roster_session(roster, player);
        uint64_t id = session != NULL ? session->client_id : 0;
        uint64_t join_tick = session != NULL ? session->join_tick : 0;
        if (v->client_id != id || v->join_tick != join_tick) {
            forget(p, player);
            v->client_id = id;
            v->join_tick = join_tick;
        }
        v->mail.linked = v->mail.linked && has_joined(roster->members[player]);
        if (v->mail.linked) {
            cm_mailbox_settle(&v->mail, p->def.host, roster->members[player]->peer);
        }
    }
}

// What a player was told is never taken back: where the match is recorded, a message waits until a
// crash would leave its tick.
static uint64_t may_go_up_to(const cm_publisher *p)
{
    bool recorded =
        p->durability == CAROM_DURABILITY_PROCESS || p->durability == CAROM_DURABILITY_POWER;
    return recorded ? p->durable_tick : UINT64_MAX;
}

static void send_all_due(cm_publisher *p, const cm_roster *roster)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (p->viewers[player].mail.linked) {
            cm_mailbox_send(&p->viewers[player].mail, p->def.host, roster->members[player]->peer,
                            may_go_up_to(p));
        }
    }
}

bool cm_publisher_waits(const cm_publisher *p)
{
    bool waits = false;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        waits = waits || cm_mailbox_waits(&p->viewers[player].mail);
    }
    return waits;
}

// To the players of `who` (bits): behind what waits for them, each.
static void send_control(cm_publisher *p, const cm_control *control, uint64_t who)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool encoded = cm_control_encode(control, NULL, &bytes, &size) == CAROM_OK;
    for (; who != 0; who &= who - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(who);
        viewer *v = &p->viewers[player];
        if (v->client_id == 0 || v->join_tick > control->tick) {
            continue; // meant for whoever had the slot before
        }
        if (!encoded || !cm_outbox_push(&v->mail.messages, control->tick, bytes, (uint32_t)size,
                                        MESSAGES_WAIT_MAX)) {
            p->stats.messages_dropped++;
            continue;
        }
        v->tells_messages = v->tells_messages || control->type == CM_CONTROL_EVENTS;
    }
    cm_control_release_bytes(NULL, bytes);
}

void cm_publisher_messages(cm_publisher *p, const cm_history_slot *slot, const cm_roster *roster)
{
    meet(p, roster);
    p->stats.messages_dropped += slot->messages_dropped;
    p->stats.events_dropped += slot->happened_dropped;
    p->stats.events += slot->happened_count;
    for (uint32_t i = 0; i < slot->message_count; i++) {
        const cm_game_message *from = &slot->messages[i];
        const cm_control control = {.type = CM_CONTROL_GAME_MESSAGE,
                                    .tick = slot->tick,
                                    .payload = {from->bytes, from->size}};
        if (from->player < CAROM_PLAYERS_MAX) {
            send_control(p, &control, UINT64_C(1) << from->player);
        }
    }
    if (slot->happened_count > 0) {
        uint8_t rows[CM_EVENTS_BYTES_MAX];
        size_t size = cm_events_write(slot->happened, slot->happened_count, rows);
        const cm_control control = {
            .type = CM_CONTROL_EVENTS, .tick = slot->tick, .payload = {rows, size}};
        send_control(p, &control, UINT64_MAX);
    }
    if (slot->message_count > 0 || slot->happened_count > 0) {
        send_all_due(p, roster);
    }
}

// One message to all who play, encoded once.
static bool tell_all(cm_publisher *p, const cm_control *control,
                     cm_client *const members[CAROM_PLAYERS_MAX])
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(control, NULL, &bytes, &size) != CAROM_OK) {
        return false;
    }
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (has_joined(members[player])) {
            cm_host_send_reliable(p->def.host, members[player]->peer, bytes, size);
        }
    }
    cm_control_release_bytes(NULL, bytes);
    return true;
}

// Bodies from `first` of the spawned ones, as many as one message takes; returns the next.
static uint32_t announce_spawned(cm_publisher *p, const carom_world *world, uint32_t first,
                                 uint32_t count, uint8_t *bytes,
                                 cm_client *const members[CAROM_PLAYERS_MAX])
{
    cm_bytes list[CHANGE_BODIES];
    uint32_t listed = 0;
    size_t used = 0;
    while (first < count && listed < CHANGE_BODIES && used + BODY_BYTES_MAX <= CHANGE_BYTES_MAX) {
        uint32_t slot = p->spawned[first++];
        carom_body_id id = {slot, p->snapshot.generation[slot]};
        size_t size = carom_world_encode_body(world, id, bytes + used, BODY_BYTES_MAX);
        if (size == 0) {
            continue; // more shapes than a message takes: the client does without
        }
        list[listed].data = bytes + used;
        list[listed++].size = size;
        used += size;
    }
    cm_control control = {.type = CM_CONTROL_WORLD_CHANGE,
                          .tick = p->snapshot.tick,
                          .spawned = list,
                          .spawned_count = listed};
    p->stats.changes_lost += !tell_all(p, &control, members);
    return first;
}

// Gravity, softness, and what joints are: after the bodies that they hold.
static void publish_frame(cm_publisher *p, const carom_world *world,
                          cm_client *const members[CAROM_PLAYERS_MAX])
{
    uint32_t count = 0;
    if (!cm_frame_changes(&p->frame, world, p->snapshot.tick, p->joints, &count)) {
        return;
    }
    uint8_t *bytes = malloc(CM_CONTROL_FRAME_MAX);
    uint32_t at = 0;
    do {
        uint32_t part = count - at < FRAME_JOINTS ? count - at : FRAME_JOINTS;
        size_t size = bytes == NULL ? 0
                                    : carom_world_encode_frame(world, p->joints + at, part, bytes,
                                                               CM_CONTROL_FRAME_MAX);
        cm_control control = {
            .type = CM_CONTROL_WORLD_CHANGE, .tick = p->snapshot.tick, .frame = {bytes, size}};
        if (size > 0 && tell_all(p, &control, members)) {
            cm_frame_sent(&p->frame, world, p->snapshot.tick, p->joints + at, part);
        } else {
            p->stats.changes_lost++; // they are changes of the next view too
        }
        at += part;
    } while (at < count);
    free(bytes);
}

static void publish_changes(cm_publisher *p, const carom_world *world,
                            cm_client *const members[CAROM_PLAYERS_MAX])
{
    uint32_t gone = 0;
    uint32_t spawned = 0;
    cm_snapshot_changes(&p->snapshot, p->announced, p->gone, &gone, p->spawned, &spawned);
    for (uint32_t i = 0; i < gone; i++) {
        cm_frame_forget(&p->frame, world, p->gone[i].index);
    }
    for (uint32_t at = 0; at < gone; at += CHANGE_BODIES) {
        cm_control control = {.type = CM_CONTROL_WORLD_CHANGE,
                              .tick = p->snapshot.tick,
                              .gone = p->gone + at,
                              .gone_count = gone - at < CHANGE_BODIES ? gone - at : CHANGE_BODIES};
        p->stats.changes_lost += !tell_all(p, &control, members);
    }
    uint8_t *bytes = spawned > 0 ? malloc(CHANGE_BYTES_MAX) : NULL;
    for (uint32_t at = 0; at < spawned && bytes != NULL;) {
        at = announce_spawned(p, world, at, spawned, bytes, members);
    }
    free(bytes);
    publish_frame(p, world, members);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_replica *replica = p->viewers[player].replica;
        for (uint32_t i = 0; i < gone && replica != NULL; i++) {
            if (p->snapshot.generation[p->gone[i].index] == 0) {
                cm_replica_changed(replica, &p->snapshot, p->gone[i].index);
            }
        }
        for (uint32_t i = 0; i < spawned && replica != NULL; i++) {
            cm_replica_changed(replica, &p->snapshot, p->spawned[i]);
        }
    }
}

// The world of the snapshot's tick, for all who are welcomed in it.
typedef struct keyframe {
    cm_bytes encoded;
    cm_keyframe *stream; // NULL: it goes in the welcomes
} keyframe;

static carom_reason encode_keyframe(cm_publisher *p, cm_room *room, keyframe *out)
{
    const carom_game *game = cm_room_game(room);
    p->stats.keyframes++;
    p->keyframe_size = out->encoded.size = cm_game_encode_size(game);
    if (p->keyframe_size > CM_CONTROL_KEYFRAME_MAX) {
        return CAROM_REASON_ROOM_TOO_LARGE;
    }
    if (p->keyframe_size <= CM_CONTROL_PART_SIZE) {
        out->encoded.data = cm_room_encode(room, p->snapshot.tick, &out->encoded.size);
        return out->encoded.data != NULL ? CAROM_REASON_NONE : CAROM_REASON_SERVER_ERROR;
    }
    out->stream = cm_keyframe_create(p->keyframe_size, &p->snapshot);
    if (out->stream == NULL) {
        return CAROM_REASON_SERVER_ERROR;
    }
    cm_game_encode(game, cm_keyframe_bytes(out->stream), p->keyframe_size);
    return CAROM_REASON_NONE;
}

// What the client is known to have: what its keyframe brought. False where memory is short.
static bool begin_replica(cm_publisher *p, const cm_client *client,
                          const cm_snapshot_moment *moment)
{
    viewer *v = &p->viewers[client->session.player];
    cm_replica_def def = {.slots = p->snapshot.capacity,
                          .tick_rate = p->tick_rate,
                          .view_rate = p->def.view_rate,
                          .budget_kbit = p->def.budget_kbit,
                          .interest_radius = p->interest_radius,
                          .predict = client->session.predict};
    v->replica = cm_replica_create(&def);
    if (v->replica != NULL) {
        cm_replica_begin(v->replica, &p->snapshot, moment);
    }
    return v->replica != NULL;
}

// False where it cannot be sent.
static bool welcome(cm_publisher *p, cm_room *room, const keyframe *world, cm_client *client)
{
    cm_session *session = &client->session;
    viewer *v = &p->viewers[session->player];
    if (session->recounts) {
        v->mail.before = session->messages_had;
        session->recounts = false;
    }
    cm_replica_destroy(v->replica);
    v->replica = NULL;
    const carom_module *module = cm_game_module(cm_room_game(room));
    cm_control control = {.type = CM_CONTROL_WELCOME,
                          .player = session->player,
                          .client_id = session->client_id,
                          .epoch = session->epoch,
                          .tick_rate = p->tick_rate,
                          .view_rate = p->def.view_rate,
                          .input_rate = p->def.input_rate,
                          .rewind_ms = p->def.rewind_ms,
                          .module = module->name,
                          .module_version = module->version,
                          .module_abi = module->abi,
                          .seed = cm_game_seed(cm_room_game(room)),
                          .module_source = module->source,
                          .scene_frame = {p->scene_frame, p->scene_frame_size},
                          .present = p->snapshot.present,
                          .tick = p->snapshot.tick,
                          .messages = session->messages_received,
                          .messages_before = v->mail.before,
                          .durability = p->durability,
                          .durable_tick = p->durable_tick};
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
    if (!cm_client_send(p->def.host, client, &control)) {
        return false;
    }
    cm_keyframe_streams_end(&p->streams, session->player);
    if (world->stream != NULL) {
        cm_keyframe_streams_begin(&p->streams, session->player, world->stream);
    } else if (!begin_replica(p, client, NULL)) {
        return false;
    }
    cm_lag_compensation_begin(&session->sight, p->tick_rate, p->def.view_rate, p->snapshot.tick);
    v->durable = p->durable_tick;
    session->state = CM_SESSION_JOINED;
    cm_room_welcomed(room, session->player);
    cm_mailbox_begin(&v->mail, p->def.host, client->peer, may_go_up_to(p));
    if (p->rate_permille != 1000) {
        cm_control clock = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = p->rate_permille};
        cm_client_send(p->def.host, client, &clock);
    }
    return true;
}

// Each commit is told in one view, 10 a second: a lost one costs until the next. An age above 16
// bits waits until it fits; the match may then be slow, but is never said to be more durable.
static void put_durable(const cm_publisher *p, const viewer *v, cm_view_header *header)
{
    uint64_t age = p->snapshot.tick - p->durable_tick;
    header->has_durable = p->durable_tick > v->durable && age <= UINT16_MAX;
    header->durable_age = header->has_durable ? (uint16_t)age : 0;
}

static void publish_view(cm_publisher *p, const cm_room *room, cm_client *client)
{
    cm_session *session = &client->session;
    cm_view_header header = {.epoch = session->epoch,
                             .tick = (uint32_t)p->snapshot.tick,
                             .input_ack = (uint32_t)cm_room_settled(room, session->player),
                             .input_lead = (int16_t)session->lead};
    const carom_game *game = cm_room_game(room);
    carom_body_id own = cm_game_player_body(game, session->player);
    carom_body_state pointer;
    header.has_wrench = carom_body_get(cm_room_world(room), cm_game_pointer(game, session->player),
                                       &pointer) == CAROM_OK;
    if (header.has_wrench) {
        header.force = pointer.contact_force;
        header.torque = pointer.contact_torque;
    }
    viewer *v = &p->viewers[session->player];
    put_durable(p, v, &header);
    header.has_messages = v->tells_messages;
    header.messages = (uint16_t)(v->mail.before + v->mail.messages.count);
    cm_view_out *out = &p->out;
    size_t packet_max = cm_host_packet_max(p->def.host, client->peer);
    cm_replica_view(v->replica, &p->snapshot, &p->view_config, &header, own,
                    packet_max < CM_PACKET_MAX ? packet_max : CM_PACKET_MAX, out);
    cm_lag_compensation_view(&session->sight, p->snapshot.tick, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        cm_host_send(p->def.host, client->peer, out->bytes[i], out->sizes[i]);
        session->view_bytes += out->sizes[i] + CM_PACKET_OVERHEAD;
        p->stats.views++;
        p->viewers[session->player].sent++;
        p->stats.view_bytes += out->sizes[i] + CM_PACKET_OVERHEAD;
    }
    if (out->count > 0) {
        cm_session_pop_lead(session);
        v->durable = header.has_durable ? p->durable_tick : v->durable;
    }
}

static bool view_due(const cm_publisher *p, uint64_t tick)
{
    return tick * p->def.view_rate / p->tick_rate != (tick - 1) * p->def.view_rate / p->tick_rate;
}

// What the members told since the last tick, into their replicas.
static void take_acks(cm_publisher *p, cm_client *const members[CAROM_PLAYERS_MAX])
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (!has_joined(members[player]) || p->viewers[player].replica == NULL) {
            continue; // no view was sent yet: there is nothing to acknowledge
        }
        cm_session_ack acks[CM_SESSION_ACKS];
        uint32_t count = cm_session_pop_acks(&members[player]->session, acks);
        for (uint32_t i = 0; i < count; i++) {
            viewer *v = &p->viewers[player];
            uint32_t fresh = cm_replica_ack(v->replica, acks[i].sequence, acks[i].bits);
            p->stats.views_acked += fresh;
            v->acked += fresh;
        }
    }
}

// The next parts of large keyframes. Returns the players (bits) who cannot be served.
static uint64_t send_parts(cm_publisher *p, cm_client *const members[CAROM_PLAYERS_MAX])
{
    uint64_t failed = 0;
    bool packed = cm_keyframe_streams_tick(&p->streams, p->tick_rate);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        if (!cm_keyframe_streams_has(&p->streams, player)) {
            continue;
        }
        if (!has_joined(members[player])) {
            cm_keyframe_streams_end(&p->streams, player);
            continue;
        }
        uint32_t peer = members[player]->peer;
        size_t size, outstanding = cm_host_outstanding(p->def.host, peer);
        const uint8_t *part = cm_keyframe_streams_part(&p->streams, player, outstanding, &size);
        if (part != NULL && cm_host_send_reliable(p->def.host, peer, part, size)) {
            cm_keyframe_streams_sent(&p->streams, player);
        } else if (part != NULL || !packed) {
            failed |= UINT64_C(1) << player;
        }
    }
    return failed;
}

// Views begin for those whose keyframe was sent; one in a tick, since what a large world's client
// is known to have takes a millisecond to write down. Returns the players who cannot be served.
static uint64_t begin_views(cm_publisher *p, cm_client *const members[CAROM_PLAYERS_MAX])
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_snapshot_moment *moment = cm_keyframe_streams_whole(&p->streams, player);
        if (moment != NULL && has_joined(members[player])) {
            bool begun = begin_replica(p, members[player], moment);
            cm_keyframe_streams_end(&p->streams, player);
            return (uint64_t)!begun << player;
        }
    }
    return 0;
}

static bool is_due(const cm_room *room, const cm_client *client)
{
    return client != NULL && !has_joined(client) &&
           cm_room_has_let_in(room, client->session.player, client->session.join_tick);
}

// Whether those who are due are welcomed in this tick: a large world waits for others who join.
static bool may_welcome(cm_publisher *p, uint64_t tick)
{
    if (p->keyframe_size <= CM_CONTROL_PART_SIZE) {
        return true;
    }
    if (p->gather_tick == 0) {
        p->gather_tick = tick + (uint64_t)p->tick_rate * GATHER_MS / 1000u;
    }
    return tick >= p->gather_tick;
}

// Returns the players (bits) who cannot be served, and why.
static uint64_t send_welcomes(cm_publisher *p, cm_room *room,
                              cm_client *const members[CAROM_PLAYERS_MAX], carom_reason *reason)
{
    uint64_t tick = p->snapshot.tick, failed = 0;
    uint32_t welcomes = 0;
    keyframe world = {.stream = NULL};
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        if (!is_due(room, members[i]) || (welcomes == 0 && !may_welcome(p, tick))) {
            continue;
        }
        *reason = welcomes == 0 ? encode_keyframe(p, room, &world) : *reason;
        if (world.stream == NULL && welcomes >= WELCOMES_MAX) {
            break;
        }
        bool sent = *reason == CAROM_REASON_NONE && welcome(p, room, &world, members[i]);
        failed |= (uint64_t)!sent << i;
        welcomes++;
    }
    p->gather_tick = welcomes > 0 ? 0 : p->gather_tick;
    cm_keyframe_release(world.stream);
    *reason = failed != 0 && *reason == CAROM_REASON_NONE ? CAROM_REASON_SERVER_ERROR : *reason;
    return failed;
}

uint64_t cm_publisher_frame(cm_publisher *p, cm_room *room, const cm_roster *roster,
                            carom_reason *reason)
{
    cm_client *const *members = roster->members;
    *reason = CAROM_REASON_NONE;
    meet(p, roster);
    take_acks(p, members);
    uint64_t failed = send_parts(p, members);
    uint64_t tick = cm_room_tick(room);
    bool views = view_due(p, tick), joining = false, joined = false;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        joining = joining || (members[i] != NULL && !has_joined(members[i]));
        joined = joined || has_joined(members[i]);
    }
    if (joining || (views && joined)) {
        cm_snapshot_capture(&p->snapshot, &p->view_config, cm_room_game(room), tick,
                            cm_room_present(room));
        publish_changes(p, cm_room_world(room), members);
        failed |= begin_views(p, members) | send_welcomes(p, room, members, reason);
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX && views; i++) {
        if (has_joined(members[i]) && p->viewers[i].replica != NULL) {
            publish_view(p, room, members[i]);
        }
    }
    return failed;
}

void cm_publisher_clock(cm_publisher *p, uint32_t rate_permille, const cm_roster *roster)
{
    cm_client *const *members = roster->members;
    p->rate_permille = rate_permille;
    cm_control control = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = rate_permille};
    tell_all(p, &control, members);
}

void cm_publisher_durable(cm_publisher *p, carom_durability durability, uint64_t tick,
                          const cm_roster *roster)
{
    cm_client *const *members = roster->members;
    // It failed, or goes on in a new file; what it was at first is in the welcomes.
    bool other = p->durability != CAROM_DURABILITY_NONE && durability != p->durability;
    bool news = durability != p->durability || tick != p->durable_tick;
    p->durability = durability;
    p->durable_tick = tick;
    if (news) {
        meet(p, roster);
        send_all_due(p, roster);
    }
    if (other) {
        cm_control control = {
            .type = CM_CONTROL_DURABILITY, .durability = durability, .tick = tick};
        tell_all(p, &control, members);
    }
}

// Acks of a second are of packets that were sent in it, or a round trip before it began: of those
// of the second before, where fewer went then than now.
static void count_loss(viewer *v)
{
    uint64_t acked = v->acked - v->acked_before;
    uint64_t now = v->sent - v->sent_before[0], then = v->sent_before[0] - v->sent_before[1];
    uint64_t sent = now < then ? now : then;
    float lost = sent > acked && sent > 0 ? (float)(sent - acked) / (float)sent : 0.0f;
    v->loss += (lost - v->loss) / 4.0f;
    v->sent_before[1] = v->sent_before[0];
    v->sent_before[0] = v->sent;
    v->acked_before = v->acked;
}

float cm_publisher_loss(const cm_publisher *p, uint32_t player)
{
    return p->viewers[player].loss;
}

void cm_publisher_second(cm_publisher *p, uint64_t tick, const cm_log *log)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        count_loss(&p->viewers[player]);
    }
    cm_log_growth(log, "messages of the module were left out", "messages",
                  p->stats.messages_dropped, tick, &p->said_messages);
    cm_log_growth(log, "events of the module were left out", "events", p->stats.events_dropped,
                  tick, &p->said_events);
    cm_log_growth(log, "world changes could not be sent", "changes", p->stats.changes_lost, tick,
                  &p->said_changes);
}

const cm_view_config *cm_publisher_view_config(const cm_publisher *p)
{
    return &p->view_config;
}

void cm_publisher_stats_get(const cm_publisher *p, cm_publisher_stats *stats)
{
    *stats = p->stats;
}
