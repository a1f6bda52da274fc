// The order in which a room's messages go.
//
// A client that is welcomed has the keyframe of that very tick, so what was announced before does
// not concern it, and what changes later does. Typical: 32 views 30 times a second, at most two
// welcomes a tick; after a keyframe that goes in parts views begin once all of them went.
#include "server/replicate/publisher.h"

#include <stdio.h>
#include <stdlib.h>

#include "server/replicate/confirmed_stream.h"
#include "server/replicate/room_relay.h"
#include "server/replicate/viewers.h"
#include "server/replicate/welcomes.h"
#include "server/replicate/world_changes.h"

#define WELCOMES_MAX 2u // in one tick: each costs some milliseconds to compress

struct cm_publisher {
    cm_publisher_def def;
    cm_welcome_terms terms;
    float interest_radius;
    uint32_t rate_permille; // of the room's clock, as sent to clients
    cm_view_config view_config;
    cm_snapshot snapshot;
    cm_world_changes changes;
    cm_welcomes welcomes;
    uint64_t put_off_tick; // the newest in which welcomes waited for the recording
    cm_viewers viewers;
    cm_room_relay relay;
    cm_confirmed_stream confirmed; // of exact sync; off: views have the bodies
    cm_view_out out;
    uint64_t views, view_bytes, views_acked;
    uint64_t logged_messages, logged_events; // left out, as last logged
    uint64_t logged_changes, logged_relays;
};

static carom_result build(cm_publisher *p, const cm_room *room, char *error, size_t error_size)
{
    const cm_scene *scene = p->def.scene;
    carom_result result = cm_snapshot_config(scene, &p->view_config, error, error_size);
    if (result == CAROM_OK) {
        result = cm_welcomes_init(&p->welcomes, scene, room, error, error_size);
    }
    if (result != CAROM_OK) {
        return result;
    }
    cm_scene_replication replication;
    cm_scene_replication_get(scene, &replication);
    uint32_t tick_rate = cm_room_tick_rate(room);
    uint32_t view_rate = p->def.view_rate > 0 ? p->def.view_rate : replication.view_rate;
    p->terms = (cm_welcome_terms){.tick_rate = tick_rate,
                                  .view_rate = view_rate < tick_rate ? view_rate : tick_rate,
                                  .input_rate = p->def.input_rate,
                                  .rewind_ms = p->def.rewind_ms};
    p->interest_radius = replication.interest_radius;
    p->relay.is_on = replication.relay && !p->def.spectators;
    bool by_news = (replication.relay || replication.sync_inputs) && !p->def.spectators;
    p->relay.view_rate = by_news ? p->terms.view_rate : 0;
    p->viewers.spectators = p->def.spectators;
    p->welcomes.spectators = p->def.spectators;
    p->def.budget_kbit = p->def.budget_kbit > 0 ? p->def.budget_kbit : replication.budget_kbit;
    p->rate_permille = 1000;
    const carom_world *world = cm_room_world(room);
    const carom_limits limits = carom_world_limits(world);
    bool made = cm_snapshot_init(&p->snapshot, limits.bodies, limits.joints);
    if (made && replication.sync_inputs) {
        p->welcomes.confirmed = true;
        p->relay.is_all = true;
        made = cm_confirmed_stream_init(&p->confirmed, tick_rate);
    } else if (made) {
        cm_snapshot_capture(&p->snapshot, &p->view_config, cm_room_game(room), cm_room_tick(room),
                            cm_room_present(room));
        made = cm_world_changes_init(&p->changes, world, &p->snapshot);
    }
    if (!made) {
        snprintf(error, error_size, "out of memory");
        return CAROM_ERROR_MEMORY;
    }
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
    p->viewers.transport = def->transport;
    carom_result result = build(p, room, error, error_size);
    if (result != CAROM_OK) {
        cm_publisher_destroy(p);
        return result;
    }
    *out = p;
    return CAROM_OK;
}

void cm_publisher_destroy(cm_publisher *p)
{
    if (p != NULL) {
        cm_viewers_free(&p->viewers);
        cm_welcomes_free(&p->welcomes);
        cm_world_changes_free(&p->changes);
        cm_confirmed_stream_free(&p->confirmed);
        cm_snapshot_free(&p->snapshot);
        free(p);
    }
}

// Messages ---------------------------------------------------------------------------------------

// A message to a player is never undone: in a recorded match it waits until its tick is durable.
uint64_t cm_publisher_settled(const cm_publisher *p)
{
    carom_durability durability = p->terms.durability;
    bool recorded = durability == CAROM_DURABILITY_PROCESS || durability == CAROM_DURABILITY_POWER;
    return recorded ? p->terms.durable_tick : UINT64_MAX;
}

void cm_publisher_messages(cm_publisher *p, const cm_history_slot *slot, const cm_roster *roster)
{
    if (p->confirmed.is_on) {
        cm_confirmed_stream_add(&p->confirmed, slot, roster, p->def.transport);
    }
    cm_viewers_meet(&p->viewers, roster);
    if (cm_viewers_keep(&p->viewers, slot)) {
        cm_viewers_send(&p->viewers, roster, cm_publisher_settled(p));
    }
}

bool cm_publisher_waits(const cm_publisher *p)
{
    return cm_viewers_wait(&p->viewers);
}

void cm_publisher_clock(cm_publisher *p, uint32_t rate_permille, const cm_roster *roster)
{
    p->rate_permille = rate_permille;
    cm_control control = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = rate_permille};
    cm_roster_send(roster, p->def.transport, &control);
}

void cm_publisher_durable(cm_publisher *p, carom_durability durability, uint64_t tick,
                          const cm_roster *roster)
{
    cm_welcome_terms *terms = &p->terms;
    // It failed, or goes on in a new file; what it was at first is in the welcomes.
    bool other = terms->durability != CAROM_DURABILITY_NONE && durability != terms->durability;
    bool news = durability != terms->durability || tick != terms->durable_tick;
    terms->durability = durability;
    terms->durable_tick = tick;
    if (news) {
        cm_viewers_meet(&p->viewers, roster);
        cm_viewers_send(&p->viewers, roster, cm_publisher_settled(p));
    }
    if (other) {
        cm_control control = {
            .type = CM_CONTROL_DURABILITY, .durability = durability, .tick = tick};
        cm_roster_send(roster, p->def.transport, &control);
    }
}

// Welcomes ---------------------------------------------------------------------------------------

// The client is known to have what its keyframe brought. False where memory is short.
static bool begin_replica(cm_publisher *p, const cm_client *client,
                          const cm_snapshot_moment *moment)
{
    cm_viewer *v = &p->viewers.of[client->session.player];
    cm_replica_def def = {.rows = cm_snapshot_rows(&p->snapshot),
                          .tick_rate = p->terms.tick_rate,
                          .view_rate = p->terms.view_rate,
                          .budget_kbit = p->def.budget_kbit,
                          .interest_radius = p->interest_radius,
                          .predict = client->session.predict,
                          .relays = p->relay.is_on};
    v->replica = cm_replica_create(&def);
    if (v->replica != NULL) {
        cm_replica_begin(v->replica, &p->snapshot, moment);
    }
    return v->replica != NULL;
}

// Views begin for those whose keyframe was sent; one in a tick, since what a large world's client
// is known to have takes a millisecond to write down. Returns the players who cannot be served.
static uint64_t begin_views(cm_publisher *p, const cm_roster *roster)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        const cm_client *client = roster->members[player];
        const cm_snapshot_moment *moment = cm_keyframe_streams_whole(&p->welcomes.streams, player);
        if (moment != NULL && cm_client_has_joined(client)) {
            bool begun = begin_replica(p, client, moment);
            cm_keyframe_streams_end(&p->welcomes.streams, player);
            return (uint64_t)!begun << player;
        }
    }
    return 0;
}

// False where it cannot be sent.
static bool welcome(cm_publisher *p, cm_room *room, const cm_welcome_world *world,
                    cm_client *client)
{
    cm_session *session = &client->session;
    cm_viewer *v = &p->viewers.of[session->player];
    if (session->recounts) {
        v->mail.before = session->messages_had;
        session->recounts = false;
    }
    cm_replica_destroy(v->replica);
    v->replica = NULL;
    if (!cm_welcomes_send(&p->welcomes, p->def.transport, &p->terms, room, world, client,
                          v->mail.before) ||
        (world->stream == NULL && !begin_replica(p, client, NULL))) {
        return false;
    }
    cm_lag_compensation_begin(&session->lag, p->terms.tick_rate, p->terms.view_rate,
                              p->snapshot.tick);
    v->durable = p->terms.durable_tick;
    session->state = CM_SESSION_JOINED;
    if (!p->def.spectators) {
        cm_room_welcomed(room, session->player);
    }
    cm_mailbox_begin(&v->mail, p->def.transport, client->connection, cm_publisher_settled(p));
    if (p->rate_permille != 1000) {
        cm_control clock = {.type = CM_CONTROL_ROOM_CLOCK, .rate_permille = p->rate_permille};
        cm_client_send(p->def.transport, client, &clock);
    }
    return true;
}

// With exact sync the keyframe holds the player: its join is confirmed.
static bool is_due(const cm_publisher *p, const cm_room *room, const cm_client *client)
{
    if (client == NULL || cm_client_has_joined(client) || p->def.spectators) {
        return p->def.spectators && client != NULL && !cm_client_has_joined(client);
    }
    return cm_room_has_let_in(room, client->session.player, client->session.join_tick) &&
           (!p->confirmed.is_on || client->session.join_tick <= cm_room_confirmed(room));
}

// A welcome of the tick may be encoded. Not where the recording has encoded the world in it, but
// for a second time in a row: at one tick a second and a keyframe a second it does so in each.
static bool may_welcome(cm_publisher *p, const cm_room *room, uint64_t tick)
{
    bool is_put_off = cm_room_has_encoded(room) && p->put_off_tick + 1 != tick;
    p->put_off_tick = is_put_off ? tick : p->put_off_tick;
    return !is_put_off && cm_welcomes_may_begin(&p->welcomes, tick, p->terms.tick_rate);
}

// Returns the players (bits) who cannot be served, and why.
static uint64_t send_welcomes(cm_publisher *p, cm_room *room, const cm_roster *roster,
                              carom_reason *reason)
{
    uint64_t failed = 0;
    uint32_t count = 0;
    cm_welcome_world world = {.stream = NULL};
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        cm_client *client = roster->members[i];
        if (!is_due(p, room, client) || (count == 0 && !may_welcome(p, room, p->snapshot.tick))) {
            continue;
        }
        if (count == 0) {
            cm_confirmed_stream_send(&p->confirmed, roster, p->def.transport); // up to the keyframe
            *reason = cm_welcomes_encode(&p->welcomes, room, &p->snapshot, &world);
        }
        if (world.stream == NULL && count >= WELCOMES_MAX) {
            break;
        }
        bool sent = *reason == CAROM_REASON_NONE && welcome(p, room, &world, client);
        failed |= (uint64_t)!sent << i;
        count++;
    }
    cm_keyframe_release(world.stream);
    *reason = failed != 0 && *reason == CAROM_REASON_NONE ? CAROM_REASON_SERVER_ERROR : *reason;
    return failed;
}

// Views ------------------------------------------------------------------------------------------

// Each commit is sent in one view, 10 a second: the client learns a lost one with the next. An age
// above 16 bits waits until it fits; the client's durable tick may then be late, but never too
// high.
static void put_durable(const cm_publisher *p, const cm_viewer *v, cm_view_header *header)
{
    uint64_t age = p->snapshot.tick - p->terms.durable_tick;
    header->has_durable = p->terms.durable_tick > v->durable && age <= UINT16_MAX;
    header->durable_age = header->has_durable ? (uint16_t)age : 0;
}

// Into a view what it tells of its player. Returns the player's body.
static carom_body_id put_player(const cm_room *room, const cm_session *session,
                                cm_view_header *header)
{
    const carom_game *game = cm_room_game(room);
    carom_body_state pointer;
    header->input_ack = (uint32_t)cm_room_settled(room, session->player);
    header->input_lead = (int16_t)session->lead;
    header->has_wrench = carom_body_get(cm_room_world(room), cm_game_pointer(game, session->player),
                                        &pointer) == CAROM_OK;
    if (header->has_wrench) {
        header->force = pointer.contact_force;
        header->torque = pointer.contact_torque;
    }
    return cm_game_player_body(game, session->player);
}

static void publish_view(cm_publisher *p, const cm_room *room, const cm_roster *roster,
                         cm_client *client)
{
    cm_session *session = &client->session;
    cm_view_header header = {
        .epoch = session->epoch, .tick = (uint32_t)p->snapshot.tick, .input_lead = CM_LEAD_UNKNOWN};
    carom_body_id own = {0, 0};
    if (!p->def.spectators) {
        own = put_player(room, session, &header);
    }
    cm_viewer *v = &p->viewers.of[session->player];
    put_durable(p, v, &header);
    header.has_messages = v->tells_messages;
    header.messages = (uint16_t)(v->mail.before + v->mail.messages.count);
    if (session->predict || p->confirmed.is_on) {
        cm_room_relay_view(&p->relay, room, roster, session->player, v->replica, &header);
    }
    cm_view_out *out = &p->out;
    const cm_transport_caps caps = cm_transport_caps_of(p->def.transport, client->connection);
    cm_replica_view(v->replica, &p->snapshot, &p->view_config, &header, own,
                    caps.mtu < CM_PACKET_MAX ? caps.mtu : CM_PACKET_MAX, out);
    cm_lag_compensation_view(&session->lag, p->snapshot.tick, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        cm_transport_send(p->def.transport, client->connection, CM_SEND_PACKET, out->bytes[i],
                          out->sizes[i]);
        p->view_bytes += out->sizes[i] + CM_PACKET_OVERHEAD;
    }
    p->views += out->count;
    v->sent += out->count;
    if (p->relay.view_rate > 0 && (out->count > 0 || !p->relay.is_all)) {
        cm_room_relay_went(&p->relay, room, session->player);
    }
    if (out->count > 0) {
        cm_session_pop_lead(session);
        v->durable = header.has_durable ? p->terms.durable_tick : v->durable;
    }
}

static bool view_due(const cm_publisher *p, uint64_t tick)
{
    uint32_t views = p->terms.view_rate, ticks = p->terms.tick_rate;
    return tick * views / ticks != (tick - 1) * views / ticks;
}

// Clients learn of bodies that came or went before the views that show them.
static void publish_changes(cm_publisher *p, const carom_world *world, const cm_roster *roster)
{
    const cm_world_changes *changes = &p->changes;
    cm_world_changes_send(&p->changes, world, &p->snapshot, roster, p->def.transport);
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_replica *replica = p->viewers.of[player].replica;
        for (uint32_t i = 0; i < changes->gone_count && replica != NULL; i++) {
            if (p->snapshot.generation[changes->gone[i].index] == 0) {
                cm_replica_changed(replica, &p->snapshot, changes->gone[i].index);
            }
        }
        for (uint32_t i = 0; i < changes->spawned_count && replica != NULL; i++) {
            cm_replica_changed(replica, &p->snapshot, changes->spawned[i]);
        }
        for (uint32_t i = 0; i < changes->joint_count && replica != NULL; i++) {
            cm_replica_changed(replica, &p->snapshot, p->snapshot.capacity + changes->joints[i]);
        }
    }
}

// The room's newest tick. With exact sync its bodies are in nobody's view.
static void look(cm_publisher *p, const cm_room *room, const cm_roster *roster)
{
    if (p->confirmed.is_on) {
        p->snapshot.tick = cm_room_tick(room);
        return;
    }
    cm_snapshot_capture(&p->snapshot, &p->view_config, cm_room_game(room), cm_room_tick(room),
                        cm_room_present(room));
    publish_changes(p, cm_room_world(room), roster);
}

// The client's view goes: at the rate of views, or by what there is to tell.
static bool is_due_now(cm_publisher *p, const cm_room *room, const cm_client *client, bool views)
{
    if (!cm_client_has_joined(client) || p->relay.view_rate == 0) {
        return cm_client_has_joined(client) && views;
    }
    const cm_session *session = &client->session;
    bool late = session->lead != CM_LEAD_UNKNOWN && session->lead < 0; // it is to know at once
    return cm_room_relay_is_due(&p->relay, room, session->player, late);
}

uint64_t cm_publisher_frame(cm_publisher *p, cm_room *room, const cm_roster *roster,
                            carom_reason *reason)
{
    cm_client *const *members = roster->members;
    *reason = CAROM_REASON_NONE;
    cm_viewers_meet(&p->viewers, roster);
    if (cm_room_newest(room) != NULL) {
        cm_viewers_tell(&p->viewers, cm_room_newest(room), roster);
    }
    p->views_acked += cm_viewers_take_acks(&p->viewers, roster);
    uint64_t failed =
        cm_welcomes_send_parts(&p->welcomes, p->def.transport, roster, p->terms.tick_rate);
    cm_room_relay_frame(&p->relay, room);
    uint64_t tick = cm_room_tick(room);
    bool views = view_due(p, tick), joining = false;
    if (p->confirmed.is_on) {
        if (cm_confirmed_stream_ails(roster) && may_welcome(p, room, tick)) {
            cm_confirmed_stream_heal(&p->confirmed, roster, p->def.transport, tick);
        }
        // Spectators, who predict nothing, have them as others have views.
        if (cm_confirmed_stream_is_due(&p->confirmed) || (p->def.spectators && views)) {
            cm_confirmed_stream_send(&p->confirmed, roster, p->def.transport);
        }
    }
    uint64_t due = 0; // players, a bit each
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        joining = joining || (members[i] != NULL && !cm_client_has_joined(members[i]));
        due |= (uint64_t)is_due_now(p, room, members[i], views) << i;
    }
    if (joining || due != 0) {
        look(p, room, roster);
        failed |= begin_views(p, roster) | send_welcomes(p, room, roster, reason);
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        if (!cm_client_has_joined(members[i]) || p->viewers.of[i].replica == NULL) {
            continue;
        }
        if ((due >> i & 1) != 0) {
            p->snapshot.tick = tick;
            publish_view(p, room, roster, members[i]);
        } else if (views) { // as at the rate of views: nothing was new
            cm_lag_compensation_view(&members[i]->session.lag, tick, 0);
        }
    }
    failed |= p->confirmed.failed;
    p->confirmed.failed = 0;
    return failed;
}

void cm_publisher_between(cm_publisher *p, const cm_room *room, const cm_roster *roster)
{
    if (!cm_room_relay_look(&p->relay, room)) {
        return;
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        cm_client *member = roster->members[i];
        if (p->viewers.of[i].replica != NULL && is_due_now(p, room, member, false)) {
            if (p->snapshot.tick != cm_room_tick(room)) {
                look(p, room, roster);
            }
            publish_view(p, room, roster, member);
        }
    }
}

// Numbers ----------------------------------------------------------------------------------------

float cm_publisher_loss(const cm_publisher *p, uint32_t player)
{
    return p->viewers.of[player].loss;
}

void cm_publisher_second(cm_publisher *p, uint64_t tick, const cm_log *log)
{
    cm_viewers_second(&p->viewers);
    cm_log_growth(log, "messages of the module were left out", "messages",
                  p->viewers.messages_dropped, tick, &p->logged_messages);
    cm_log_growth(log, "events of the module were left out", "events", p->viewers.events_dropped,
                  tick, &p->logged_events);
    if (p->logged_relays == 0) { // it stays so as long as they are so many: said once
        cm_log_growth(log, "inputs were not relayed: a view has no room for so many players",
                      "players", p->relay.left_out, tick, &p->logged_relays);
    }
    cm_log_growth(log, "world changes could not be sent", "changes", p->changes.lost, tick,
                  &p->logged_changes);
}

const cm_view_config *cm_publisher_view_config(const cm_publisher *p)
{
    return &p->view_config;
}

void cm_publisher_stats_get(const cm_publisher *p, cm_publisher_stats *stats)
{
    *stats = (cm_publisher_stats){.views = p->views,
                                  .view_bytes = p->view_bytes,
                                  .views_acked = p->views_acked,
                                  .keyframes = p->welcomes.keyframes,
                                  .messages_dropped = p->viewers.messages_dropped,
                                  .unreliable = p->viewers.unreliable,
                                  .unreliable_lost = p->viewers.unreliable_lost,
                                  .events = p->viewers.events,
                                  .events_dropped = p->viewers.events_dropped,
                                  .changes_lost = p->changes.lost};
}
