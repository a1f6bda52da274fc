// Control messages: reliable, each sent once.
//
// The server is not trusted either: a message that does not decode, or comes out of turn, ends the
// connection with a reason. Typical: one welcome of 20 to 60 KB, then a message when bodies come or
// go.
#include "client-sdk/src/state.h"

#include "shared/wire/events.h"

#include <string.h>

static bool send_by(carom_client *client, cm_transport *link, const cm_control *control)
{
    uint8_t *bytes;
    size_t size;
    if (cm_control_encode(control, &client->def.allocator, &bytes, &size) != CAROM_OK) {
        return false;
    }
    bool sent = cm_transport_send(link, CM_CONNECTION_ONLY, CM_SEND_COUNTED, bytes, size);
    cm_control_release_bytes(&client->def.allocator, bytes);
    return sent;
}

bool cm_client_send_control(carom_client *client, const cm_control *control)
{
    return send_by(client, client->link, control);
}

bool cm_client_hello(carom_client *client, cm_transport *link)
{
    cm_control hello = {.type = CM_CONTROL_HELLO,
                        .protocol = CM_PROTOCOL_VERSION,
                        .engine = CAROM_ENGINE_VERSION,
                        .name = client->name,
                        .room = client->room,
                        .user_data = {client->user_data, client->def.user_data_size},
                        .predict = client->def.predict && !client->def.spectate,
                        .spectate = client->def.spectate};
    if (client->def.module != NULL) {
        hello.module = client->def.module->name;
        hello.module_version = client->def.module->version;
        hello.module_abi = client->def.module->abi;
        hello.module_source = client->def.module->source;
    }
    if (client->mirror != NULL) {
        hello.comes_back = true;
        hello.epoch = client->mirror->epoch;
        hello.messages_had = client->messages_had;
    }
    return send_by(client, link, &hello);
}

void cm_client_forget_room(carom_client *client)
{
    cm_exact_forget(client);
    cm_predictor_destroy(client->predictor);
    client->predictor = NULL;
    cm_mirror_destroy(client->mirror);
    client->mirror = NULL;
    cm_interp_free(&client->interp);
    memset(&client->inputs, 0, sizeof client->inputs);
    memset(client->input, 0, sizeof client->input);
    memset(&client->buttons, 0, sizeof client->buttons);
    cm_pointer_reset(&client->pointer);
}

// Drops the state of the earlier epoch. The player's input stays: the player still holds it, and
// the room is the same.
static void forget_epoch(carom_client *client)
{
    uint8_t input[CAROM_INPUT_MAX];
    memcpy(input, client->input, sizeof input);
    cm_client_forget_room(client);
    memcpy(client->input, input, sizeof input);
    client->state = CAROM_CLIENT_JOINING;
    client->deadline_us = client->now_us + cm_client_join_us(client);
    client->stats.server_tick = 0;
}

bool cm_client_begin_prediction(carom_client *client)
{
    const carom_client_def *def = &client->def;
    const cm_mirror *mirror = client->mirror;
    if (client->predictor != NULL || mirror == NULL || cm_client_spectates(client) ||
        !(def->predict || mirror->exact)) {
        return true;
    }
    cm_predictor *predictor =
        cm_predictor_create(&def->allocator, mirror, &client->interp, &client->inputs);
    if (predictor == NULL) {
        cm_client_end(client, CAROM_REASON_SCENE_REFUSED);
        return false;
    }
    predictor->events = &client->events;
    predictor->touch = &client->pointer.touch;
    predictor->budget_us = def->predict_budget_us;
    predictor->cost_ns = def->predict_cost_ns > 0 ? def->predict_cost_ns : predictor->cost_ns;
    predictor->smoothing_s = def->smoothing_s;
    predictor->snap_m = def->snap_distance;
    client->predictor = predictor;
    return true;
}

static void welcome(carom_client *client, const cm_control *control)
{
    bool expected = client->mirror != NULL ? control->epoch != client->mirror->epoch
                                           : client->state == CAROM_CLIENT_JOINING;
    if (!expected) {
        cm_client_end(client, CAROM_REASON_MALFORMED);
        return;
    }
    cm_mirror *before = client->mirror;
    cm_mirror *diverged = cm_exact_detach(client);
    if (before != NULL) {
        forget_epoch(client);
    }
    const carom_allocator *allocator = &client->def.allocator;
    carom_reason reason =
        cm_mirror_create(allocator, control, client->def.module, client->is_local, &client->mirror);
    cm_exact_begin(client, diverged);
    if (reason != CAROM_REASON_NONE) {
        cm_client_end(client, reason);
        return;
    }
    bool built = cm_interp_init(&client->interp, allocator, client->mirror->slots);
    client->interp.snap_m = client->def.snap_distance;
    if (client->def.body_changed != NULL) {
        built = built && cm_body_watch_begin(&client->watch, allocator, client->mirror->slots);
    }
    if (!built) {
        cm_client_end(client, CAROM_REASON_SCENE_REFUSED);
        return;
    }
    cm_client_clock_init(&client->clock, client->mirror->tick_rate, client->mirror->view_rate,
                         client->now_us);
    cm_client_clock_packets(&client->clock, client->mirror->input_rate);
    cm_client_apply_ticket(client, control);
    client->events.tolerance = client->mirror->module->event_tolerance;
    cm_event_log_begin(&client->events, control->tick);
    client->window = cm_window_ticks(control->rewind_ms, control->tick_rate);
    cm_transport_mark_set(client->link, CM_CONNECTION_ONLY, CM_MARK_WELCOMED);
    client->join_tick = client->stats.comebacks == 0 ? control->tick : client->join_tick;
    client->messages_came = control->messages_before;
    client->viewed = false;
    client->news = false;
    client->input_tick = 0;
    client->first_input = 0;
    client->settled_tick = 0;
    client->send_due = 0.0;
    client->sent_at = 0.0;
    client->sent_again = false;
    client->sent_tick = 0;
    client->loss = 0.0f;
    client->arrived = 0;
    client->played_us = client->now_us;
    memset(client->gaps, 0, sizeof client->gaps);
    if (cm_client_spectates(client)) {
        cm_client_log(client, CAROM_LOG_INFO, "watches '%s'", cm_scene_name(client->mirror->scene));
    } else {
        cm_client_log(client, CAROM_LOG_INFO, "joined '%s' as player %u",
                      cm_scene_name(client->mirror->scene), client->mirror->player);
    }
}

static void world_change(carom_client *client, const cm_control *control)
{
    if (client->mirror == NULL || !cm_mirror_change(client->mirror, control)) {
        cm_client_end(client, CAROM_REASON_MALFORMED);
        return;
    }
    cm_client_note_changed(client);
    client->news = true;
}

// Messages and events, numbered by the order in which they come, from the welcome's on: one that
// came by an earlier connection is passed over.
static void game_message(carom_client *client, const cm_control *control)
{
    if (client->mirror == NULL) {
        return;
    }
    client->messages_came++;
    if (client->messages_came <= client->messages_had) {
        return;
    }
    client->messages_had = client->messages_came;
    if (control->type == CM_CONTROL_EVENTS) {
        carom_event events[CAROM_EVENTS_MAX];
        uint32_t count;
        cm_events_read(control->payload.data, control->payload.size, control->tick, events, &count);
        cm_event_log_confirmed(&client->events, control->tick, events, count);
    }
    cm_event_log_messages(&client->events, client->messages_had);
    if (control->type == CM_CONTROL_GAME_MESSAGE && client->def.message != NULL) {
        client->def.message(client->def.user, control->tick, control->payload.data,
                            (uint32_t)control->payload.size);
    }
}

static void room_clock(carom_client *client, const cm_control *control)
{
    if (client->mirror == NULL || control->rate_permille < 1 || control->rate_permille > 1000) {
        cm_client_end(client, CAROM_REASON_MALFORMED);
        return;
    }
    cm_client_clock_rate(&client->clock, control->rate_permille);
}

// A commit may lower the durable tick that views reported before: the server decides.
static void take_durability(carom_client *client, const cm_control *control)
{
    if (client->mirror == NULL) {
        cm_client_end(client, CAROM_REASON_MALFORMED);
        return;
    }
    client->mirror->durability = control->durability;
    client->mirror->durable_tick = control->tick;
    bool lost = control->durability == CAROM_DURABILITY_LOST;
    cm_client_log(client, lost ? CAROM_LOG_WARNING : CAROM_LOG_INFO,
                  lost ? "the match is not durable after tick %llu"
                       : "the match is durable again, from tick %llu on",
                  (unsigned long long)control->tick);
}

static void take_players(carom_client *client, const cm_control *control)
{
    client->roster_count = control->player_count;
    for (uint32_t i = 0; i < control->player_count; i++) {
        const cm_control_player *from = &control->players[i];
        carom_client_roster_row *row = &client->roster[i];
        *row = (carom_client_roster_row){
            .player = from->player, .body = from->body, .rtt_ms = from->rtt_ms, .away = from->away};
        memcpy(row->name, from->name, strlen(from->name)); // checked when it was decoded
    }
}

void cm_client_tell_rooms(carom_client *client)
{
    carom_client_room_row rows[CAROM_CLIENT_ROOMS_MAX];
    uint32_t count = cm_client_rooms_rows(&client->rooms, rows);
    if (client->def.rooms != NULL) {
        client->def.rooms(client->def.user, rows, count);
    }
    cm_client_rooms_clear(&client->rooms, &client->def.allocator);
}

static void take_rooms(carom_client *client, const cm_control *control)
{
    if (cm_client_rooms_read(&client->rooms, &client->def.allocator, control)) {
        cm_client_tell_rooms(client);
    }
}

static void take_notice(carom_client *client, const cm_control *control)
{
    const carom_client_notice notice = {
        .text = control->text, .reason = control->reason, .seconds_left = control->seconds_left};
    if (client->def.notice != NULL) {
        client->def.notice(client->def.user, &notice);
    }
}

// Another port of the server may have the room: the client sends its hello there.
static void refused(carom_client *client, const cm_control *control)
{
    if (control->reason == CAROM_REASON_ELSEWHERE && client->state == CAROM_CLIENT_JOINING &&
        (uint16_t)control->port != 0 &&
        cm_transport_redirect(client->link, (uint16_t)control->port)) {
        client->state = CAROM_CLIENT_CONNECTING;
        return;
    }
    if (control->text != NULL) {
        cm_client_log(client, CAROM_LOG_WARNING, "refused: %s", control->text);
    }
    if (control->text != NULL && control->reason == CAROM_REASON_BANNED) {
        take_notice(client, control);
    }
    cm_client_end(client, cm_client_reason(control->reason));
}

void cm_client_handle(carom_client *client, const cm_control *control)
{
    if (control->type != CM_CONTROL_CONFIRMED && !cm_exact_step_all(client)) {
        return;
    }
    switch (control->type) {
    case CM_CONTROL_WELCOME:
        welcome(client, control);
        break;
    case CM_CONTROL_REFUSED:
        refused(client, control);
        break;
    case CM_CONTROL_GOODBYE:
        cm_client_end(client, cm_client_reason(control->reason));
        break;
    case CM_CONTROL_WORLD_CHANGE:
        world_change(client, control);
        break;
    case CM_CONTROL_GAME_MESSAGE:
    case CM_CONTROL_EVENTS:
        game_message(client, control);
        break;
    case CM_CONTROL_ROOM_CLOCK:
        room_clock(client, control);
        break;
    case CM_CONTROL_ROOMS:
        take_rooms(client, control);
        break;
    case CM_CONTROL_PLAYERS:
        take_players(client, control);
        break;
    case CM_CONTROL_DURABILITY:
        take_durability(client, control);
        break;
    case CM_CONTROL_NOTICE:
        take_notice(client, control);
        break;
    case CM_CONTROL_CONFIRMED:
        cm_client_confirmed(client, control);
        break;
    case CM_CONTROL_KEYFRAME_PART: // of no welcome
    case CM_CONTROL_HELLO:
    case CM_CONTROL_ROOMS_ASK:
        cm_client_end(client, CAROM_REASON_MALFORMED);
        break;
    }
}

static void control_now(carom_client *client, const uint8_t *bytes, size_t size)
{
    cm_control *control;
    const carom_allocator *allocator = &client->def.allocator;
    if (cm_control_decode(bytes, size, false, allocator, &control) != CAROM_OK) {
        cm_client_end(client, CAROM_REASON_CLIENT_ERROR); // it was decoded before: memory is short
        return;
    }
    cm_client_handle(client, control);
    cm_control_free(allocator, control);
}

void cm_client_replay(carom_client *client, uint64_t ticks)
{
    cm_keyframe_inbox *inbox = &client->keyframe;
    const uint8_t *bytes;
    size_t size;
    while (inbox->opened && cm_exact_step_some(client, &ticks)) {
        if (!cm_keyframe_inbox_next(inbox, &bytes, &size)) {
            cm_keyframe_inbox_clear(inbox, &client->def.allocator);
            return;
        }
        control_now(client, bytes, size);
    }
    if (client->state == CAROM_CLIENT_JOINING) {
        client->deadline_us = client->now_us + cm_client_join_us(client); // it goes on
    }
}

// The keyframe is whole: its welcome is handled, then what waited for it, in its order.
static void open_keyframe(carom_client *client)
{
    const carom_allocator *allocator = &client->def.allocator;
    cm_keyframe_inbox inbox = client->keyframe;
    memset(&client->keyframe, 0, sizeof client->keyframe);
    cm_control *welcome;
    if (cm_control_decode(inbox.welcome, inbox.welcome_size, false, allocator, &welcome) !=
        CAROM_OK) {
        cm_client_end(client, CAROM_REASON_CLIENT_ERROR); // it was decoded before: memory is short
        cm_keyframe_inbox_clear(&inbox, allocator);
        return;
    }
    welcome->keyframe = (cm_bytes){inbox.keyframe, inbox.have};
    if (inbox.second) {
        cm_client_read_second(client, welcome);
    } else {
        cm_client_handle(client, welcome);
    }
    cm_control_free(allocator, welcome);
    if (client->link == NULL) {
        cm_keyframe_inbox_clear(&inbox, allocator);
        return;
    }
    client->exact.began_us = inbox.began_us; // the ticks behind it have waited since then
    cm_keyframe_inbox_open(&inbox, allocator);
    client->keyframe = inbox;
    client->replayed_us = client->now_us;
    cm_client_replay(client, 0);
}

bool cm_client_keyframe(carom_client *client, const cm_control *control, const uint8_t *bytes,
                        size_t size, bool second)
{
    cm_keyframe_inbox *inbox = &client->keyframe;
    const carom_allocator *allocator = &client->def.allocator;
    cm_keyframe_state state = CM_KEYFRAME_MORE;
    if (control->type == CM_CONTROL_WELCOME || control->type == CM_CONTROL_REFUSED ||
        control->type == CM_CONTROL_GOODBYE) {
        cm_keyframe_inbox_clear(inbox, allocator); // whatever was awaited does not come any more
        if (control->type != CM_CONTROL_WELCOME || control->keyframe_size == 0) {
            return false;
        }
        state = cm_keyframe_inbox_begin(inbox, allocator, control, bytes, size)
                    ? CM_KEYFRAME_MORE
                    : CM_KEYFRAME_NO_MEMORY;
        inbox->second = second;
        inbox->began_us = client->now_us;
    } else if ((inbox->welcome == NULL && !inbox->opened) || inbox->second != second) {
        return false;
    } else {
        state = cm_keyframe_inbox_put(inbox, allocator, control, bytes, size);
    }
    inbox->heard_us = client->now_us;
    if (client->state == CAROM_CLIENT_JOINING) {
        client->deadline_us = client->now_us + cm_client_join_us(client); // it goes on
    }
    if (state == CM_KEYFRAME_WHOLE) {
        open_keyframe(client);
    } else if (state != CM_KEYFRAME_MORE) {
        cm_client_end(client, state == CM_KEYFRAME_MALFORMED ? CAROM_REASON_MALFORMED
                                                             : CAROM_REASON_CLIENT_ERROR);
    }
    return true;
}

void cm_client_control(carom_client *client, const uint8_t *bytes, size_t size)
{
    cm_control *control;
    const carom_allocator *allocator = &client->def.allocator;
    if (cm_control_decode(bytes, size, false, allocator, &control) != CAROM_OK) {
        client->stats.packets_refused++;
        cm_client_end(client, CAROM_REASON_MALFORMED);
        return;
    }
    if (!cm_client_keyframe(client, control, bytes, size, false)) {
        cm_client_handle(client, control);
    }
    cm_control_free(allocator, control);
}
