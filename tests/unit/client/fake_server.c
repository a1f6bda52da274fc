// See the header. Typical: 5 to 20 cubes, all in every packet.
#include "tests/unit/client/fake_server.h"

#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "shared/scene/scene_json.h"

#define TICK_US 16667u

static cm_scene *make_scene(uint32_t cubes)
{
    char text[2048];
    int size = snprintf(
        text, sizeof text,
        "{\"carom\":1,\"name\":\"fake\",\"module\":\"sandbox\",\"bounds\":[[-64,-8,-64],[64,24,64]]"
        ","
        "\"bodies\":[{\"name\":\"ground\",\"type\":\"static\",\"shapes\":[{\"plane\":{\"normal\":"
        "[0,1,0],\"offset\":0}}]}],"
        "\"arrays\":[{\"name\":\"cube\",\"origin\":[2,0.25,2],\"count\":[%u,1,1],\"spacing\":"
        "[1.5,1,1],\"of\":{\"type\":\"dynamic\",\"shapes\":[{\"box\":{\"half_extents\":"
        "[0.25,0.25,0.25]}}]}}]}",
        cubes);
    cm_scene *scene;
    cm_scene_error error = {0};
    cr_assert_eq(cm_scene_from_json(text, (size_t)size, &scene, &error), CAROM_OK, "%s: %s",
                 error.path, error.message);
    return scene;
}

void fake_server_make(fake_server *s, uint64_t seed, uint32_t cubes, const cm_link_def *link)
{
    memset(s, 0, sizeof *s);
    s->net = cm_net_virtual_create(seed);
    s->net_before = cm_net_use(s->net);
    cm_host_def def = {.listen = CM_ADDRESS_IPV4(127, 0, 0, 1, FAKE_PORT),
                       .peers = 8,
                       .timeout_ms = 60000,
                       .seed = 1};
    char error[256] = "";
    s->host = cm_host_create(&def, error, sizeof error);
    cr_assert(s->host, "%s", error);
    s->transport = cm_host_transport(s->host);
    if (link != NULL) {
        cm_net_link_port(s->net, FAKE_PORT, link);
    }
    s->scene = make_scene(cubes);
    cr_assert_eq(cm_game_create(s->scene, cm_module_find("sandbox"), seed, NULL, &s->game),
                 CAROM_OK);
    cm_scene_replication replication;
    cm_scene_replication_get(s->scene, &replication);
    carom_vec3 lower, upper;
    cm_scene_bounds(s->scene, &lower, &upper);
    cr_assert_eq(cm_view_config_make(lower, upper, replication.position_step, &s->config),
                 CAROM_OK);
    s->auto_welcome = true;
    s->send_views = true;
    s->next_tick_us = cm_net_now_us(s->net) + TICK_US;
}

void fake_server_free(fake_server *s)
{
    cm_host_destroy(s->host);
    cm_game_destroy(s->game);
    cm_scene_free(s->scene);
    cm_net_use(s->net_before);
    cm_net_destroy(s->net);
}

void fake_server_bytes(fake_server *s, uint32_t channel, const uint8_t *bytes, size_t size)
{
    if (s->peer.generation != 0) {
        cm_transport_send(s->transport, s->peer, channel == 0 ? CM_SEND_CONTROL : CM_SEND_PACKET,
                          bytes, size);
    }
}

void fake_server_control(fake_server *s, const cm_control *control)
{
    uint8_t *bytes;
    size_t size;
    cr_assert_eq(cm_control_encode(control, NULL, &bytes, &size), CAROM_OK);
    fake_server_bytes(s, 0, bytes, size);
    cm_control_release_bytes(NULL, bytes);
}

void fake_server_welcome(fake_server *s)
{
    static uint8_t scene[1 << 16], keyframe[1 << 20];
    size_t scene_size = cm_scene_packed_size(s->scene);
    size_t keyframe_size = cm_game_encode_size(s->game);
    cr_assert(scene_size <= sizeof scene && keyframe_size <= sizeof keyframe);
    cm_scene_pack(s->scene, scene);
    cm_game_encode(s->game, keyframe, sizeof keyframe);
    cm_control welcome = {.type = CM_CONTROL_WELCOME,
                          .player = s->player,
                          .client_id = 77,
                          .epoch = s->epoch,
                          .tick_rate = 60,
                          .view_rate = 30,
                          .input_rate = 60,
                          .rewind_ms = 133,
                          .module = "sandbox",
                          .module_version = cm_game_module(s->game)->version,
                          .module_abi = CAROM_MODULE_ABI,
                          .scene = {scene, scene_size},
                          .keyframe = {keyframe, keyframe_size},
                          .present = UINT64_C(1) << s->player,
                          .tick = carom_game_tick(s->game)};
    fake_server_control(s, &welcome);
    s->welcomed = true;
}

static void join(fake_server *s)
{
    cm_game_event join = {.type = CM_EVENT_JOIN, .player = s->player, .client_id = 77};
    cm_tick_input input = {.events = &join, .event_count = 1};
    cm_game_tick(s->game, &input);
    s->joined = true;
    s->settled = carom_game_tick(s->game);
    fake_server_welcome(s);
}

void fake_server_seek_start(fake_server *s)
{
    cm_game_destroy(s->game);
    cr_assert_eq(cm_game_create(s->scene, cm_module_find("sandbox"), 1, NULL, &s->game), CAROM_OK);
    memset(s->packets, 0, sizeof s->packets);
    memset(s->input_of, 0, sizeof s->input_of);
    s->sequence = 0;
    s->any_acked = s->any_lead = false;
    s->epoch++;
    join(s);
}

static void on_control(fake_server *s, const uint8_t *bytes, size_t size)
{
    cm_control *control;
    cr_assert_eq(cm_control_decode(bytes, size, true, NULL, &control), CAROM_OK);
    if (control->type == CM_CONTROL_HELLO) {
        s->hellos++;
        s->predicts = control->predict;
        if (s->auto_welcome) {
            join(s);
        }
    } else if (control->type == CM_CONTROL_GAME_MESSAGE) {
        s->messages++;
        fake_server_control(s, control); // an echo
    }
    cm_control_free(NULL, control);
}

static void on_acks(fake_server *s, const cm_input_packet *packet)
{
    for (uint32_t i = 0; packet->has_ack && i < 33; i++) {
        uint16_t sequence = (uint16_t)(packet->ack_sequence - i);
        bool acked = i == 0 || (packet->ack_bits >> (i - 1) & 1u) != 0;
        if (acked && s->packets[sequence % FAKE_HISTORY].sequence == sequence) {
            s->packets[sequence % FAKE_HISTORY].acked = true;
            if (!s->any_acked || cm_sequence_newer(sequence, s->newest_acked)) {
                s->newest_acked = sequence;
                s->any_acked = true;
            }
        }
    }
}

static void on_inputs(fake_server *s, const uint8_t *bytes, size_t size)
{
    cm_input_packet packet;
    uint32_t input_size = cm_game_module(s->game)->input_size;
    s->input_packets++;
    if (cm_input_packet_read(bytes, size, input_size, &packet) != CM_PACKET_OK) {
        s->refused_inputs++;
        return;
    }
    if (packet.epoch != s->epoch) {
        s->other_epochs++;
        return;
    }
    on_acks(s, &packet);
    s->told_sequence = packet.ack_sequence;
    s->told_bits = packet.ack_bits;
    uint64_t now = carom_game_tick(s->game);
    double phase =
        1.0 - ((double)s->next_tick_us - (double)cm_net_now_us(s->net)) / (double)TICK_US;
    for (uint32_t i = 0; i < packet.count; i++) {
        uint64_t tick = packet.newest_tick - i;
        if (tick <= s->settled || s->input_of[tick % FAKE_HISTORY] == tick) {
            continue;
        }
        int32_t lead = (int32_t)(((double)tick - (double)now - 1.0 + 1.0 - phase) * 16.0);
        if (i <= CM_LEAD_AGE) {
            s->least_lead = !s->any_lead || lead < s->least_lead ? lead : s->least_lead;
            s->any_lead = true;
        }
        s->late += tick <= now;
        s->on_time += tick > now;
        s->input_of[tick % FAKE_HISTORY] = tick;
        memcpy(s->inputs[tick % FAKE_HISTORY], packet.inputs[i], CAROM_INPUT_MAX);
    }
}

// As a server does: what is older than the rewind window is settled, come or not.
static void settle(fake_server *s)
{
    uint64_t now = carom_game_tick(s->game);
    while (s->input_of[(s->settled + 1) % FAKE_HISTORY] == s->settled + 1 || s->settled + 8 < now) {
        s->missed +=
            s->on_time > 0 && s->input_of[(s->settled + 1) % FAKE_HISTORY] != s->settled + 1;
        s->settled++;
    }
}

static void service(fake_server *s)
{
    cm_transport_event event;
    cm_transport_begin(s->transport, cm_net_now_us(s->net), 0);
    while (cm_transport_poll(s->transport, &event)) {
        if (event.type == CM_TRANSPORT_OPENED) {
            s->peer = event.connection;
        } else if (event.type == CM_TRANSPORT_CLOSED) {
            s->peer = (cm_connection_id){0};
        } else if (event.type == CM_TRANSPORT_RECEIVED && event.kind == CM_SEND_CONTROL) {
            on_control(s, event.bytes, event.size);
        } else if (event.type == CM_TRANSPORT_RECEIVED) {
            on_inputs(s, event.bytes, event.size);
        }
    }
}

void fake_server_disconnect(fake_server *s, uint32_t data)
{
    cm_transport_close(s->transport, s->peer, (carom_reason)data, CM_CLOSE_AFTER_ALL);
}

static const cm_view_body *baseline_of(const fake_server *s, uint32_t index, uint32_t *age)
{
    uint32_t slot = s->newest_acked % FAKE_HISTORY;
    *age = (uint16_t)(s->sequence - s->newest_acked);
    if (!s->deltas || !s->any_acked || *age == 0 || *age > CM_BASELINE_AGE_MAX) {
        return NULL;
    }
    for (uint32_t i = 0; i < s->packets[slot].count; i++) {
        if (s->packets[slot].entries[i].index == index) {
            return &s->packets[slot].entries[i].body;
        }
    }
    return NULL;
}

static void send_view(fake_server *s)
{
    settle(s);
    cm_view_header header = {.epoch = s->epoch,
                             .tick = (uint32_t)carom_game_tick(s->game),
                             .input_ack = (uint32_t)s->settled,
                             .input_lead = s->any_lead ? (int16_t)s->least_lead : CM_LEAD_UNKNOWN};
    s->any_lead = false;
    uint32_t size;
    const uint8_t *state = cm_game_public(s->game, &size);
    header.has_public = s->sequence % 16 == 0;
    header.public_size = header.has_public ? size : 0;
    header.present = UINT64_C(1) << s->player;
    memcpy(header.public_state, state, size);
    header.sequence = ++s->sequence;
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_transport_caps caps = {.mtu = sizeof bytes};
    if (s->peer.generation != 0) {
        caps = cm_transport_caps_of(s->transport, s->peer);
    }
    cm_view_writer_begin(&writer, &header, bytes, caps.mtu);
    uint32_t row = header.sequence % FAKE_HISTORY, count = 0;
    const carom_world *world = carom_game_world(s->game);
    for (uint32_t i = 0; i < carom_world_body_slots(world) && count < 64; i++) {
        carom_body_id id = carom_world_body_at(world, i);
        carom_body_state body;
        if (carom_body_get(world, id, &body) != CAROM_OK) {
            continue;
        }
        cm_view_entry entry = {.index = i, .generation = id.generation};
        cm_view_quantise(&s->config, &body, s->predicts, &entry.body);
        const cm_view_body *baseline = baseline_of(s, i, &entry.baseline_age);
        entry.baseline_age = baseline != NULL ? entry.baseline_age : 0;
        if (!cm_view_writer_put(&writer, &entry,
                                cm_view_encode(&s->config, baseline, &entry.body))) {
            break;
        }
        s->packets[row].entries[count++] = entry;
    }
    s->packets[row].sequence = header.sequence;
    s->packets[row].tick = header.tick;
    s->packets[row].count = count;
    s->packets[row].acked = false;
    size_t whole = cm_view_writer_end(&writer);
    if (whole > 0) { // of a peer that is gone nothing fits
        fake_server_bytes(s, 1, bytes, whole);
    }
}

static void step(fake_server *s)
{
    uint64_t tick = carom_game_tick(s->game) + 1;
    carom_player_input in = {.player = s->player};
    cm_tick_input input = {.inputs = &in};
    if (s->joined && s->input_of[tick % FAKE_HISTORY] == tick) {
        memcpy(in.bytes, s->inputs[tick % FAKE_HISTORY], CAROM_INPUT_MAX);
        input.input_count = 1;
    }
    cm_game_tick(s->game, &input);
    if (s->welcomed && s->send_views && tick % 2 == 0) {
        send_view(s);
    }
}

void fake_server_run(fake_server *s)
{
    service(s);
    while (cm_net_now_us(s->net) >= s->next_tick_us) {
        s->next_tick_us += TICK_US;
        step(s);
    }
    cm_transport_flush(s->transport);
}

void fake_play(fake_server *s, carom_client *client, double seconds)
{
    for (uint64_t us = 0; us < (uint64_t)(seconds * 1.0e6); us += 2000) {
        cm_net_advance(s->net, 2000);
        fake_server_run(s);
        carom_client_update(client, cm_net_now_us(s->net));
    }
}
