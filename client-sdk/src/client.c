// The public face of the client and its states.
//
//   idle --connect--> connecting --ENet's answer--> joining --first view--> playing
//     ^                                               | ^      silence |  ^ |
//     |                        a welcome, come back   | '---- unstable <--' |
//     '------------- refused, timed out, left, malformed, ended ------------'
//
// Callbacks run only inside carom_client_update: what happens elsewhere is kept and announced
// there. A callback may call anything but carom_client_destroy.
#include "client-sdk/src/state.h"

#include "shared/base/memory.h"
#include "shared/wire/control_text.h"
#include "shared/wire/message_packet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 5000u
#define BUDGET_MAX         1000000u                                      // us, and ns a body
#define DEF_LEAST          offsetof(carom_client_def, predict_budget_us) // bytes that each header has
#define LEAVE_TIMEOUT_US   1000000u
#define JOIN_FACTOR        3u         // of the time to connect: a welcome is large, paths lose
#define TIMEOUT_MS         15000u     // nothing received while playing
#define UNSTABLE_MS        500u       // the same: then it tries to come back
#define DELAY_MAX_US       600000000u // of what spectators see, after which one may be let in

carom_client_def carom_default_client_def(void)
{
    carom_client_def def;
    memset(&def, 0, sizeof def);
    def.struct_size = sizeof def;
    def.predict = true;
    def.connect_timeout_ms = CONNECT_TIMEOUT_MS;
    def.timeout_ms = TIMEOUT_MS;
    def.unstable_ms = UNSTABLE_MS;
    def.reconnect = true;
    def.predict_budget_us = CM_PREDICT_BUDGET_US;
    def.smoothing_s = CM_SMOOTHING_S;
    def.snap_distance = CM_SNAP_M;
    return def;
}

void cm_client_log(carom_client *client, carom_log_level level, const char *format, ...)
{
    if (client->def.log == NULL) {
        return;
    }
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    client->def.log(client->def.user, level, text);
}

// The caller may have been compiled with an older header, whose struct ended earlier: the rest has
// its defaults. False for a size that no header had.
static bool take_def(const carom_client_def *given, carom_client_def *def)
{
    *def = carom_default_client_def();
    if (given->struct_size < DEF_LEAST || given->struct_size > sizeof *def) {
        return false;
    }
    memcpy(def, given, given->struct_size);
    return true;
}

static carom_result refuse(const carom_client_def *def, const char *field, const char *expected)
{
    if (def->error != NULL) {
        *def->error = (carom_error){CAROM_ERROR_ARGUMENT, field, expected, CAROM_NO_SHAPE};
    }
    return CAROM_ERROR_ARGUMENT;
}

// The field of an unsound module as one of the client's def.
static carom_result refuse_module(const carom_client_def *def, const carom_error *error)
{
    static const char *const fields[] = {"module.abi",         "module.name",
                                         "module.input_size",  "module.state_size",
                                         "module.public_size", "module.buttons"};
    const char *field = "module";
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        field = strcmp(fields[i] + strlen("module."), error->field) == 0 ? fields[i] : field;
    }
    return refuse(def, field, error->expected);
}

static carom_result check_def(const carom_client_def *def)
{
    carom_error error;
    if ((def->allocator.allocate == NULL) != (def->allocator.release == NULL)) {
        return refuse(def, "allocator", "both hooks, or none");
    }
    if (def->user_data_size > CAROM_USER_DATA_MAX) {
        return refuse(def, "user_data_size", "at most 256 bytes");
    }
    if (def->user_data_size > 0 && def->user_data == NULL) {
        return refuse(def, "user_data", "user_data_size bytes");
    }
    if (def->name != NULL && !cm_text_is_printable(def->name, CAROM_PLAYER_NAME_MAX)) {
        return refuse(def, "name", "printable UTF-8 of at most 32 bytes");
    }
    if (def->room != NULL && !cm_text_is_printable(def->room, CAROM_ROOM_NAME_MAX)) {
        return refuse(def, "room", "printable UTF-8 of at most 31 bytes");
    }
    if (def->predict_budget_us > BUDGET_MAX) {
        return refuse(def, "predict_budget_us", "0 to 1,000,000 us");
    }
    if (def->predict_cost_ns > BUDGET_MAX) {
        return refuse(def, "predict_cost_ns", "0 to 1,000,000 ns");
    }
    if (!(def->smoothing_s >= 0.0f && def->smoothing_s <= 10.0f)) { // also refuses NaN
        return refuse(def, "smoothing_s", "0 to 10 s");
    }
    if (!(def->snap_distance >= 0.0f && def->snap_distance <= 1.0e6f)) {
        return refuse(def, "snap_distance", "0 to 1e6 m");
    }
    if (def->module != NULL && !carom_module_is_valid(def->module, &error)) {
        return refuse_module(def, &error);
    }
    return CAROM_OK;
}

static void tell_event(void *context, carom_event_phase phase, const carom_event *event,
                       uint64_t predicted_tick)
{
    const carom_client *client = context;
    client->def.event(client->def.user, phase, event, predicted_tick);
}

static uint32_t or_default(uint32_t given, uint32_t otherwise)
{
    return given > 0 ? given : otherwise;
}

carom_result carom_client_create(const carom_client_def *given, carom_client **out)
{
    if (given == NULL || out == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    *out = NULL;
    carom_client_def whole;
    const carom_client_def *def = &whole;
    if (!take_def(given, &whole)) {
        // Of a size that is too large the beginning is known; of one that is too small nothing is.
        bool known = given->struct_size > sizeof whole;
        return known ? refuse(given, "struct_size", "carom_default_client_def of this library")
                     : CAROM_ERROR_ARGUMENT;
    }
    carom_result result = check_def(def);
    if (result != CAROM_OK) {
        return result;
    }
    carom_allocator allocator = def->allocator.allocate != NULL ? def->allocator : cm_by_malloc;
    carom_client *client = cm_memory_take(&allocator, sizeof *client);
    if (client == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    client->def = *def;
    client->def.allocator = allocator;
    client->def.error = NULL;
    if (def->name != NULL) {
        memcpy(client->name, def->name, strlen(def->name));
    }
    client->def.name = client->name;
    if (def->room != NULL) {
        memcpy(client->room, def->room, strlen(def->room));
    }
    client->def.room = client->room;
    if (def->user_data_size > 0) {
        memcpy(client->user_data, def->user_data, def->user_data_size);
    }
    client->def.user_data = client->user_data;
    client->events.tell = def->event != NULL ? tell_event : NULL;
    client->events.context = client;
    client->open_link = cm_client_link_open;
    client->def.connect_timeout_ms = or_default(def->connect_timeout_ms, CONNECT_TIMEOUT_MS);
    client->def.timeout_ms = or_default(def->timeout_ms, TIMEOUT_MS);
    client->def.unstable_ms = or_default(def->unstable_ms, UNSTABLE_MS);
    *out = client;
    return CAROM_OK;
}

static void add_link_bytes(carom_client *client)
{
    const cm_transport_status info = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
    client->stats.bytes_in = client->bytes_in + info.bytes_in;
    client->stats.bytes_out = client->bytes_out + info.bytes_out;
    client->stats.rtt_ms = info.round_trip_ms;
    client->stats.keyframe_size = client->keyframe.size;
    client->stats.keyframe_have = client->keyframe.have;
    cm_message_log_settled(&client->messages, &client->def.allocator, info.arrived);
}

uint64_t cm_client_sent(const carom_client *client)
{
    const cm_transport_status info = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
    return info.sent;
}

carom_reason cm_client_reason(uint32_t said)
{
    return said > CAROM_REASON_NONE && said < CAROM_REASON_COUNT ? (carom_reason)said
                                                                 : CAROM_REASON_SERVER_ERROR;
}

// Everything but the link.
static void forget_player(carom_client *client)
{
    cm_client_drop_second(client);
    cm_keyframe_inbox_clear(&client->keyframe, &client->def.allocator);
    cm_client_forget_room(client);
    cm_client_begin_ticket(client);
    cm_event_log_end(&client->events);
    cm_message_log_clear(&client->messages, &client->def.allocator);
    cm_client_rooms_clear(&client->rooms, &client->def.allocator);
    client->roster_count = 0;
}

void cm_client_end(carom_client *client, carom_reason reason)
{
    cm_transport_destroy(client->link, reason);
    client->link = NULL;
    forget_player(client);
    client->state = CAROM_CLIENT_IDLE;
    client->reason = reason;
    client->leaving = false;
    cm_client_log(client, CAROM_LOG_INFO, "connection ended: %s", carom_reason_text(reason));
}

static void begin_to_connect(carom_client *client)
{
    cm_keyframe_inbox_clear(&client->keyframe, &client->def.allocator);
    client->state = CAROM_CLIENT_CONNECTING;
    client->deadline_us = client->now_us + client->def.connect_timeout_ms * 1000ull;
}

void cm_client_start_over(carom_client *client)
{
    forget_player(client);
    (void)cm_transport_redirect(client->link, 0);
    begin_to_connect(client);
    cm_client_log(client, CAROM_LOG_INFO, "the server lost the join, which begins anew");
}

void carom_client_destroy(carom_client *client)
{
    if (client == NULL) {
        return;
    }
    client->def.log = NULL; // callbacks run in updates only
    client->events.tell = NULL;
    cm_client_end(client, CAROM_REASON_LEFT);
    carom_allocator allocator = client->def.allocator;
    cm_body_watch_free(&client->watch, &allocator);
    allocator.release(allocator.context, client);
}

static void os_random(void *user, void *bytes, size_t size)
{
    (void)user;
    cm_crypto_random(bytes, size);
}

carom_result cm_client_open_link(carom_client *client, cm_client_link_def *def, cm_transport **link)
{
    def->allocator = &client->def.allocator;
    def->random = client->def.random ? client->def.random : os_random;
    def->context = client->def.user;
    def->path = client->is_detoured ? &client->path : NULL;
    return client->open_link(def, link);
}

carom_result carom_client_simulate_link(carom_client *client, const carom_client_link *link)
{
    const carom_client_link none = {.loss = 0.0f};
    bool good = client != NULL &&
                (link == NULL || (link->latency_ms <= CAROM_CLIENT_LATENCY_MAX_MS &&
                                  link->jitter_ms <= link->latency_ms && link->loss >= 0.0f &&
                                  link->loss <= 1.0f)); // also refuses NaN
    if (!good) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (client->link != NULL && !client->is_detoured && link != NULL) {
        return CAROM_ERROR_STATE;
    }
    client->path = link != NULL ? *link : none;
    client->has_path = link != NULL;
    return CAROM_OK;
}

// The link is open: nothing came by it yet.
static void begin_connection(carom_client *client, uint64_t now_us)
{
    memset(&client->stats, 0, sizeof client->stats);
    client->reason = CAROM_REASON_NONE;
    client->leaving = false;
    client->opened = client->bytes_in = client->bytes_out = 0;
    cm_client_begin_ticket(client);
    client->now_us = now_us;
    client->heard_us = now_us;
    begin_to_connect(client);
}

static carom_result connect_link(carom_client *client, cm_client_link_def *def, uint64_t now_us)
{
    if (client->state != CAROM_CLIENT_IDLE || client->link != NULL) {
        return CAROM_ERROR_STATE;
    }
    client->is_local = false;
    client->is_detoured = client->has_path;
    carom_result result = cm_client_open_link(client, def, &client->link);
    if (result == CAROM_OK) {
        begin_connection(client, now_us);
    }
    return result;
}

carom_result carom_client_open_local(carom_client *client, carom_local *local, uint64_t now_us)
{
    if (client == NULL || local == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (client->state != CAROM_CLIENT_IDLE || client->link != NULL) {
        return CAROM_ERROR_STATE;
    }
    client->link = cm_local_open(local, &client->def.allocator);
    if (client->link == NULL) {
        return CAROM_ERROR_FULL;
    }
    client->is_local = true;
    client->is_detoured = false;
    begin_connection(client, now_us);
    return CAROM_OK;
}

carom_result carom_client_connect(carom_client *client, const char *host, uint16_t port,
                                  uint64_t now_us)
{
    if (client == NULL || host == NULL || port == 0) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_client_link_def def = {.host = host, .port = port};
    return connect_link(client, &def, now_us);
}

carom_result carom_client_connect_token(carom_client *client, const char *token, uint64_t now_us)
{
    if (client == NULL || token == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    cm_token_pass pass;
    if (!cm_token_pass_read(token, &pass)) {
        return CAROM_ERROR_MAGIC;
    }
    cm_client_link_def def = {.pass = &pass};
    carom_result result = connect_link(client, &def, now_us);
    cm_crypto_wipe(&pass, sizeof pass);
    return result;
}

void carom_client_disconnect(carom_client *client, uint64_t now_us)
{
    if (client == NULL || client->link == NULL || client->leaving) {
        return;
    }
    client->leaving = true;
    client->deadline_us = now_us + LEAVE_TIMEOUT_US;
    cm_transport_close(client->link, CM_CONNECTION_ONLY, CAROM_REASON_LEFT, CM_CLOSE_AFTER_ALL);
}

// The reason why ENet reported the end of the connection.
static carom_reason ended_because(const carom_client *client, carom_reason said)
{
    if (client->leaving) {
        return CAROM_REASON_LEFT;
    }
    if (said != CAROM_REASON_NONE) {
        return said;
    }
    return client->state == CAROM_CLIENT_CONNECTING ? CAROM_REASON_UNREACHABLE
                                                    : CAROM_REASON_TIMEOUT;
}

uint64_t cm_client_join_us(const carom_client *client)
{
    return JOIN_FACTOR * 1000ull * client->def.connect_timeout_ms +
           (client->def.spectate ? DELAY_MAX_US : 0u);
}

static void connect_again(carom_client *client)
{
    if (client->leaving) {
        cm_client_end(client, CAROM_REASON_LEFT);
    } else {
        begin_to_connect(client);
    }
}

// Ticks come while others are stepped: where steps are slow one update would never end, and by the
// time that it began with, what came late in it would be too early (exact.c). What is beyond a
// second of them waits for the next.
static bool is_long(const carom_client *client, uint64_t *from)
{
    const cm_mirror *mirror = client->mirror;
    uint64_t tick = mirror != NULL && mirror->exact ? carom_game_tick(mirror->game) : 0;
    *from = *from == 0 || tick < *from ? tick : *from;
    return tick > 0 && tick - *from > mirror->tick_rate;
}

static void receive(carom_client *client)
{
    cm_transport_event event;
    uint64_t from = 0; // tick
    while (!is_long(client, &from) && client->link != NULL &&
           cm_transport_poll(client->link, &event)) {
        switch (event.type) {
        case CM_TRANSPORT_OPENED:
            if (client->state == CAROM_CLIENT_CONNECTING) {
                client->state = CAROM_CLIENT_JOINING;
                client->deadline_us = client->now_us + cm_client_join_us(client);
                if (!cm_client_hello(client, client->link)) {
                    cm_client_end(client, CAROM_REASON_CLIENT_ERROR);
                }
            }
            break;
        case CM_TRANSPORT_CLOSED:
            cm_client_end(client, ended_because(client, event.reason));
            break;
        case CM_TRANSPORT_REFUSED:
            cm_client_end(client, cm_client_reason(event.reason));
            break;
        case CM_TRANSPORT_LISTED:
            cm_client_tell_rooms(client);
            connect_again(client);
            break;
        case CM_TRANSPORT_RESTARTED:
            connect_again(client);
            break;
        case CM_TRANSPORT_RECEIVED:
            if (event.kind == CM_SEND_CONTROL) {
                cm_client_control(client, event.bytes, event.size);
            } else {
                cm_client_packet(client, event.bytes, event.size);
            }
            break;
        case CM_TRANSPORT_MALFORMED:
            break; // a server's alone
        }
    }
}

// An unsigned reason for the end may be forged; it is used only when no signed one will come.
// Without any, `otherwise`.
static carom_reason hinted(const cm_transport *link, uint32_t before, carom_reason otherwise)
{
    cm_transport_status info = {.hint = 0};
    if (link != NULL) {
        info = cm_transport_status_of(link, CM_CONNECTION_ONLY);
    }
    uint32_t hint = info.hint != 0 ? info.hint : before;
    return hint > CAROM_REASON_NONE && hint < CAROM_REASON_COUNT ? (carom_reason)hint : otherwise;
}

// Any datagram of the server's counts, so that a lost reliable one on a bad path, which ENet
// repeats ever more slowly, does not end a match that goes on.
static void check_silence(carom_client *client)
{
    cm_transport_status info;
    if (client->link == NULL) {
        return;
    }
    info = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
    if (info.opened != client->opened) {
        client->opened = info.opened;
        client->heard_us = client->now_us;
    }
    if (client->mirror == NULL || client->leaving) {
        return;
    }
    uint64_t silence_us = client->now_us - client->heard_us;
    // A keyframe that comes by the second link is a sign of life, but no view.
    uint64_t keyframe_us = client->now_us - client->keyframe.heard_us;
    uint32_t limit_ms = client->grace_ms > client->def.timeout_ms && client->def.reconnect
                            ? client->grace_ms
                            : client->def.timeout_ms;
    uint64_t limit_us = 1000ull * limit_ms;
    if (client->answered_us > client->heard_us &&
        client->now_us - client->answered_us <= limit_us) {
        limit_us *= JOIN_FACTOR; // the server lives, and has not let in yet
        limit_us += cm_client_spectates(client) ? DELAY_MAX_US : 0u;
    }
    bool silent = silence_us >= 1000ull * client->def.unstable_ms;
    if (silence_us > limit_us && keyframe_us > 1000ull * limit_ms) {
        cm_client_end(client, hinted(client->second, client->hint, CAROM_REASON_TIMEOUT));
    } else if (silent) {
        client->state = CAROM_CLIENT_UNSTABLE;
    } else if (client->state == CAROM_CLIENT_UNSTABLE) {
        client->state = client->viewed ? CAROM_CLIENT_PLAYING : CAROM_CLIENT_JOINING;
    }
}

static void check_deadline(carom_client *client)
{
    if (client->link == NULL || client->now_us < client->deadline_us) {
        return;
    }
    if (client->leaving) {
        cm_client_end(client, CAROM_REASON_LEFT);
    } else if (client->state == CAROM_CLIENT_CONNECTING) {
        cm_client_end(client, hinted(client->link, 0, CAROM_REASON_UNREACHABLE));
    } else if (client->state == CAROM_CLIENT_JOINING) {
        cm_client_end(client, CAROM_REASON_TIMEOUT);
    }
}

// Tells of the states that were reached; a callback may lead to another.
static void announce(carom_client *client)
{
    while (client->announced != client->state) {
        client->announced = client->state;
        if (client->def.state_changed != NULL) {
            client->def.state_changed(client->def.user, client->state, client->reason);
        }
    }
}

// In a room whose views came, be it silent now.
static bool is_playing(const carom_client *client)
{
    return client->mirror && client->viewed &&
           (client->state == CAROM_CLIENT_PLAYING || client->state == CAROM_CLIENT_UNSTABLE);
}

void carom_client_update(carom_client *client, uint64_t now_us)
{
    if (client == NULL) {
        return;
    }
    if (now_us > client->now_us) {
        client->now_us = now_us;
    }
    announce(client);
    if (client->link == NULL) {
        return;
    }
    if (client->mirror != NULL) {
        cm_client_clock_advance(&client->clock, client->now_us);
        (void)cm_client_begin_prediction(client);
    }
    if (client->keyframe.opened && client->mirror != NULL) {
        double elapsed = (double)(client->now_us - client->replayed_us) * 1.0e-6;
        client->replayed_us = client->now_us;
        cm_client_replay(client, cm_exact_share(elapsed * client->mirror->tick_rate));
    }
    if (client->is_local) {
        cm_local_begin(client->link, client->now_us);
    }
    receive(client);
    check_silence(client);
    cm_client_come_back(client);
    check_deadline(client);
    if (client->link != NULL && is_playing(client) && !client->leaving) {
        cm_client_play(client);
    }
    if (client->link != NULL && client->is_local) {
        cm_local_end(client->link);
    }
    if (client->link != NULL) {
        cm_transport_flush(client->link);
        add_link_bytes(client);
    }
    cm_client_tell_bodies(client);
    announce(client);
}

carom_client_state carom_client_get_state(const carom_client *client)
{
    return client->state;
}

carom_reason carom_client_get_reason(const carom_client *client)
{
    return client->reason;
}

carom_result carom_client_set_input(carom_client *client, const void *bytes, uint32_t size)
{
    if (client == NULL || client->mirror == NULL || cm_client_spectates(client)) {
        return CAROM_ERROR_STATE;
    }
    const carom_module *module = client->mirror->module;
    if (size != module->input_size || (size > 0 && bytes == NULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    uint8_t input[CAROM_INPUT_MAX] = {0};
    if (size > 0) {
        memcpy(input, bytes, size);
    }
    if (module->check_input != NULL && !module->check_input(input)) {
        return CAROM_ERROR_ARGUMENT;
    }
    uint8_t *own = cm_client_own_input(client, client->input);
    cm_buttons_note(&client->buttons, module, own, input);
    memcpy(own, input, size);
    client->drawn = cm_client_clock_render(&client->clock);
    return CAROM_OK;
}

carom_result carom_client_play_bot(carom_client *client, uint64_t random)
{
    uint8_t input[CAROM_INPUT_MAX];
    if (client == NULL || client->mirror == NULL || cm_client_spectates(client)) {
        return CAROM_ERROR_STATE;
    }
    // In a predicting client the bot sees the predicted state, on which its input will act.
    uint32_t player = client->mirror->player;
    bool ahead =
        client->predictor != NULL && cm_game_bot(client->predictor->game, player, random, input);
    if (!ahead && !cm_game_bot(client->mirror->game, player, random, input)) {
        return CAROM_ERROR_NOT_FOUND;
    }
    return carom_client_set_input(client, input, client->mirror->module->input_size);
}

carom_result carom_client_send(carom_client *client, const void *bytes, uint32_t size)
{
    if (client == NULL || size > CAROM_MESSAGE_MAX || (size > 0 && bytes == NULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (!is_playing(client) || client->leaving || cm_client_spectates(client)) {
        return CAROM_ERROR_STATE;
    }
    cm_control message = {
        .type = CM_CONTROL_GAME_MESSAGE, .tick = client->input_tick, .payload = {bytes, size}};
    if (!cm_message_log_add(&client->messages, &client->def.allocator, cm_client_sent(client),
                            bytes, size)) {
        return CAROM_ERROR_FULL;
    }
    if (!cm_client_send_control(client, &message)) {
        cm_message_log_undo(&client->messages, &client->def.allocator);
        return CAROM_ERROR_IO;
    }
    return CAROM_OK;
}

carom_result carom_client_send_unreliable(carom_client *client, const void *bytes, uint32_t size)
{
    uint8_t packet[CM_MESSAGE_PACKET];
    if (client == NULL || size > CAROM_CLIENT_UNRELIABLE_MAX || (size > 0 && bytes == NULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    if (client->state != CAROM_CLIENT_PLAYING || client->mirror == NULL || client->leaving ||
        cm_client_spectates(client)) {
        return CAROM_ERROR_STATE;
    }
    const cm_message_packet message = {
        .epoch = client->mirror->epoch, .bytes = bytes, .size = size};
    size_t whole = cm_message_packet_write(CM_PACKET_MESSAGE, &message, packet);
    bool sent = cm_transport_send(client->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, packet, whole);
    return sent ? CAROM_OK : CAROM_ERROR_IO;
}

carom_result carom_client_ask_rooms(carom_client *client)
{
    cm_control ask = {.type = CM_CONTROL_ROOMS_ASK};
    bool connecting = client != NULL && client->state == CAROM_CLIENT_CONNECTING;
    if (connecting && !client->leaving && cm_transport_ask_rooms(client->link, &client->rooms)) {
        return CAROM_OK;
    }
    if (client == NULL || !is_playing(client) || client->leaving) {
        return CAROM_ERROR_STATE;
    }
    return cm_client_send_control(client, &ask) ? CAROM_OK : CAROM_ERROR_IO;
}

uint32_t carom_client_player(const carom_client *client)
{
    return client->mirror != NULL ? client->mirror->player : 0;
}

uint32_t carom_client_roster(const carom_client *client, carom_client_roster_row *rows,
                             uint32_t capacity)
{
    for (uint32_t i = 0; i < client->roster_count && i < capacity; i++) {
        rows[i] = client->roster[i];
    }
    return client->roster_count;
}

void carom_client_acks_get(const carom_client *client, carom_client_acks *acks)
{
    memset(acks, 0, sizeof *acks);
    const cm_mirror *mirror = client->mirror;
    if (mirror != NULL) {
        acks->simulated_tick = mirror->newest_tick;
        acks->settled_tick = client->settled_tick;
        acks->durable_tick = mirror->durable_tick;
        acks->durability = mirror->durability;
    }
}

void carom_client_stats_get(const carom_client *client, carom_client_stats *stats)
{
    *stats = client->stats;
    if (client->mirror != NULL && client->clock.started) {
        double predicted = cm_client_clock_predicted(&client->clock) - 1.0;
        double render = cm_client_clock_render(&client->clock);
        stats->predicted_at = predicted > 0.0 ? predicted : 0.0;
        stats->interpolated_at = render > 0.0 ? render : 0.0; // in the first ticks of a room
    }
}
