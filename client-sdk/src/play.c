// The match: views in, inputs out, and the clocks between them.
//
// An input is made for each tick of the predicted clock, in the update in which that tick begins,
// or before, where updates come so rarely that it would be late: then inputs are made up to the
// next update. They are on the wire before any prediction is done. Every input that the server has
// not settled is sent again with the next packet, and on a path that loses or jitters also between
// two ticks: 40 bytes more against a tick of lead. Typical: 60 to 120 packets a second, each with
// the 14 newest inputs at 200 ms of round trip.
#include "client-sdk/src/nearby.h"
#include "client-sdk/src/state.h"
#include "shared/base/vec.h"
#include "shared/wire/message_packet.h"

#include <string.h>
#include <time.h>

#define WHOLE_EVERY 6u                    // packets: one has all inputs that are not settled
#define OFTEN       100u                  // packets a second: then a lost one is made up for soon
#define REPEATED    2u                    // packet intervals: how old the inputs of the others are
#define AHEAD_MAX   (CM_INPUT_TICKS - 1u) // ticks that the inputs may run ahead in one go
#define FRAME_S     0.02                  // between two updates: what the clock's lead covers
#define FORESIGHT_S 0.5                   // inputs are made ahead of rare updates, at most
#define LOSS_GAIN   (1.0f / 64.0f)
#define LOSS_BAD    0.005f
#define PERIOD_PART 0.25 // of a device's period, for correcting
#define JITTER_BAD  0.35 // ticks, mean deviation of the times of arrival
#define JITTER_ODD  0.5

void cm_client_note_changed(carom_client *client)
{
    const cm_mirror *mirror = client->mirror;
    for (uint32_t i = 0; i < mirror->changed_count; i++) {
        uint32_t slot = mirror->changed[i];
        const cm_mirror_body *body = &mirror->bodies[slot];
        cm_interp_add(&client->interp, carom_world_body_at(mirror->world, slot), body->tick,
                      &body->pose, client->clock.view_interval);
    }
}

static void note_lead(carom_client *client, const cm_view_header *header)
{
    if (header->input_ack > client->settled_tick && header->input_ack <= client->input_tick) {
        client->settled_tick = header->input_ack;
    }
    if (header->input_lead == CM_LEAD_UNKNOWN || header->tick < client->stats.server_tick) {
        return;
    }
    double lead = header->input_lead / 16.0;
    client->stats.input_lead = (float)lead;
    client->stats.lead_reports++;
    client->stats.lead_sum += lead;
    client->stats.late_reports += lead < 0.0;
    // Before the first of ours is settled, the report is about some of those on the way.
    bool ours = client->settled_tick >= client->first_input;
    if (client->input_tick > 0) {
        cm_client_clock_lead(&client->clock, lead,
                             ours ? client->settled_tick : client->first_input);
    }
}

// Views that queued between two updates did not all arrive now: only the newest sets the clock.
static void note_arrival(carom_client *client)
{
    if (client->exact.came || client->arrived > 0) {
        cm_client_clock_heard(&client->clock);
    }
    client->exact.came = false;
    if (client->arrived > 0) {
        cm_client_clock_rtt(&client->clock, client->stats.rtt_ms);
        cm_client_clock_view(&client->clock, client->arrived);
        client->arrived = 0;
    }
}

static void note_loss(carom_client *client, uint64_t lost_before)
{
    uint64_t lost = client->mirror->lost;
    float share = lost <= lost_before ? 0.0f : (lost - lost_before > 4 ? 4.0f : 1.0f);
    client->loss += LOSS_GAIN * (share - client->loss);
}

// Up to which nothing changes any more, neither by a late input nor by a crash.
static uint64_t confirmed_tick(const carom_client *client, const cm_view_header *header)
{
    const cm_mirror *mirror = client->mirror;
    uint64_t tick = header->tick > client->window ? header->tick - client->window : 0;
    bool recorded = mirror->durability == CAROM_DURABILITY_PROCESS ||
                    mirror->durability == CAROM_DURABILITY_POWER;
    return recorded && mirror->durable_tick < tick ? mirror->durable_tick : tick;
}

static void take_view(carom_client *client, const uint8_t *bytes, size_t size)
{
    cm_view_header header;
    uint64_t lost = client->mirror->lost;
    cm_packet_reason reason = cm_mirror_view(client->mirror, bytes, size, &header);
    if (reason != CM_PACKET_OK) {
        client->stats.packets_refused += reason != CM_PACKET_STALE;
        client->stats.desyncs += reason == CM_PACKET_CHECK;
        cm_client_log(client, CAROM_LOG_DEBUG, "view refused: %s", cm_packet_reason_text(reason));
        return;
    }
    const cm_transport_status info = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
    client->stats.rtt_ms = info.round_trip_ms;
    if (client->stats.view_packets == 0 || header.tick > client->stats.server_tick) {
        client->stats.views++;
        client->stats.server_tick = header.tick;
        client->arrived = header.tick;
        client->news = true;
    }
    client->stats.view_packets++;
    note_loss(client, client->stats.view_packets > 1 ? lost : client->mirror->lost);
    note_lead(client, &header);
    if (header.relay_size > 0 &&
        (!cm_client_begin_prediction(client) || !cm_exact_step_all(client))) {
        return; // it may be coded against what they hold
    }
    if (header.relay_size > 0 && client->predictor != NULL &&
        cm_predictor_relay(client->predictor, &header) != CM_PACKET_OK) {
        client->stats.packets_refused++;
    }
    cm_event_log_view(&client->events, confirmed_tick(client, &header), header.has_messages,
                      header.messages, client->messages_had);
    cm_client_note_changed(client);
    client->viewed = true;
    if (client->state == CAROM_CLIENT_JOINING) {
        client->state = CAROM_CLIENT_PLAYING;
    }
}

// One of another epoch was on its way before the welcome.
static void take_message(carom_client *client, const uint8_t *bytes, size_t size)
{
    cm_message_packet message;
    cm_packet_reason reason = cm_message_packet_read(CM_PACKET_TOLD, bytes, size, &message);
    client->stats.packets_refused += reason != CM_PACKET_OK;
    if (reason == CM_PACKET_OK && message.epoch == client->mirror->epoch &&
        client->def.unreliable != NULL) {
        client->def.unreliable(client->def.user, message.tick, message.bytes,
                               (uint32_t)message.size);
    }
}

void cm_client_packet(carom_client *client, const uint8_t *bytes, size_t size)
{
    // It overtook the welcome, or the ticks behind that, which wait for their turn: it counts as
    // lost, and is not acknowledged.
    if (client->mirror == NULL || client->keyframe.opened) {
        return;
    }
    if (size > 0 && bytes[0] == CM_PACKET_TOLD) {
        take_message(client, bytes, size);
    } else {
        take_view(client, bytes, size);
    }
}

// Ticks until the next update beyond a usual frame, if this is how updates come now: one stall does
// not make a habit.
static double foresight(carom_client *client, double elapsed)
{
    double *gaps = client->gaps;
    gaps[2] = gaps[1];
    gaps[1] = gaps[0];
    gaps[0] = elapsed;
    double low = gaps[0] < gaps[1] ? gaps[0] : gaps[1];
    double high = gaps[0] < gaps[1] ? gaps[1] : gaps[0];
    double middle = gaps[2] < low ? low : (gaps[2] > high ? high : gaps[2]);
    double rate = client->mirror->tick_rate;
    double ahead = middle - FRAME_S * rate;
    return ahead < 0.0 ? 0.0 : (ahead < FORESIGHT_S * rate ? ahead : FORESIGHT_S * rate);
}

uint8_t *cm_client_own_input(const carom_client *client, uint8_t *input)
{
    return input + cm_game_input_size(client->mirror->game) - client->mirror->module->input_size;
}

// The inputs of ticks, with each edge of a button in one of its own.
static void log_inputs(carom_client *client, uint64_t first, uint64_t last)
{
    uint32_t size = cm_game_input_size(client->mirror->game);
    for (uint64_t tick = first, from = first; tick <= last; from = ++tick) {
        uint8_t input[CAROM_INPUT_MAX];
        tick = client->buttons.count > 0 ? tick : last; // all that are left have the same
        memcpy(input, client->input, sizeof input);
        cm_buttons_next(&client->buttons, client->mirror->module,
                        cm_client_own_input(client, input));
        cm_input_log_set(&client->inputs, from, tick, input, size);
    }
}

static bool path_is_bad(const carom_client *client)
{
    return client->loss > LOSS_BAD || client->clock.arrival_deviation > JITTER_BAD;
}

// A view that does not come says something of the path: few are lost, and they do not come seldom
// since everything rests.
static bool is_even(const carom_client *client)
{
    const cm_mirror *mirror = client->mirror;
    carom_body_state own;
    return client->loss <= LOSS_BAD && client->clock.arrival_deviation <= JITTER_ODD &&
           carom_body_get(mirror->world, cm_game_player_body(mirror->game, mirror->player), &own) ==
               CAROM_OK &&
           cm_dot(own.linear_velocity, own.linear_velocity) > 0.0f;
}

// Makes inputs up to the clock's tick, and `ahead` more; returns how many.
static uint64_t make_inputs(carom_client *client, double ahead)
{
    double wanted = cm_client_clock_ahead(&client->clock, is_even(client));
    ahead = ahead > wanted ? ahead : wanted;
    double clock = cm_client_clock_predicted(&client->clock) + ahead;
    // A tick has 32 bits on the wire; only a server that lies about its own comes near their end.
    uint64_t tick = clock < 1.0 ? 1 : (clock < (double)UINT32_MAX ? (uint64_t)clock : UINT32_MAX);
    if (tick <= client->input_tick) {
        return 0;
    }
    uint64_t made = client->input_tick == 0 ? 1 : tick - client->input_tick;
    if (client->input_tick == 0 || made > AHEAD_MAX) {
        client->first_input = tick;
    }
    // The player acted on the view that was drawn then, a frame ago.
    double drawn = client->drawn > 0.0 ? client->drawn : cm_client_clock_render(&client->clock);
    cm_game_put_seen(client->mirror->game, client->input, (double)tick - drawn);
    client->drawn = 0.0;
    uint64_t first = made > AHEAD_MAX ? tick : tick - made + 1;
    log_inputs(client, first, tick);
    cm_client_clock_made(&client->clock, first, tick);
    client->input_tick = tick;
    return made;
}

// The oldest input of a packet: of those that the server has not settled. Where many ticks go into
// each of many packets, that would be the same some sixty poses again and again: most packets
// repeat only what the last two intervals had, and each sixth has all.
static uint64_t oldest_sent(const carom_client *client)
{
    const cm_mirror *mirror = client->mirror;
    uint64_t oldest = client->settled_tick + 1, newest = client->input_tick;
    oldest = oldest > client->first_input ? oldest : client->first_input;
    uint64_t repeated = REPEATED * (mirror->tick_rate / mirror->input_rate);
    if (mirror->input_rate >= mirror->tick_rate || mirror->input_rate < OFTEN ||
        client->stats.inputs_sent % WHOLE_EVERY == 0 || newest < repeated) {
        return oldest;
    }
    uint64_t from = newest - repeated;
    from = from <= client->sent_tick ? from : client->sent_tick + 1; // what was never sent goes
    return from > oldest ? from : oldest;
}

static void send_inputs(carom_client *client)
{
    cm_input_packet packet;
    memset(&packet, 0, sizeof packet);
    cm_mirror_ack(client->mirror, &packet);
    packet.newest_tick = (uint32_t)client->input_tick;
    uint64_t oldest = oldest_sent(client);
    for (uint64_t t = client->input_tick; t >= oldest && packet.count < CM_INPUTS_MAX; t--) {
        memcpy(packet.inputs[packet.count++], cm_input_log_get(&client->inputs, t),
               CAROM_INPUT_MAX);
    }
    uint8_t bytes[CM_PACKET_MAX];
    const cm_transport_caps caps = cm_transport_caps_of(client->link, CM_CONNECTION_ONLY);
    size_t most = caps.mtu < sizeof bytes ? caps.mtu : sizeof bytes; // more would go reliably
    size_t size =
        cm_input_packet_write(&packet, cm_game_input_size(client->mirror->game), bytes, most);
    if (size > 0 &&
        cm_transport_send(client->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, bytes, size)) {
        client->stats.inputs_sent++;
        client->sent_tick = client->input_tick;
    }
}

// With each tick where ticks are slower than packets may be; else at the input rate. On a bad path
// once more half way to the next.
static void send_if_due(carom_client *client, uint64_t made)
{
    const cm_mirror *mirror = client->mirror;
    double interval = (double)mirror->tick_rate / mirror->input_rate;
    double local = client->clock.local;
    bool due = interval <= 1.0 ? made > 0 : local >= client->send_due;
    // While the clock stands still the acks must still go out.
    due = due || local >= client->send_due + mirror->tick_rate * 0.1;
    if (due) {
        client->send_due += interval;
        if (client->send_due < local) {
            client->send_due = local + (interval > 1.0 ? interval * 0.5 : 0.0);
        }
    } else {
        double half = 0.5 * (interval > 1.0 ? interval : 1.0);
        if (client->sent_again || local < client->sent_at + half || !path_is_bad(client)) {
            return;
        }
    }
    client->sent_again = !due;
    client->sent_at = local;
    send_inputs(client);
}

// Of this machine, for what steps cost: nothing else of the client reads a clock.
static double time_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1.0e6 + (double)now.tv_nsec * 1.0e-3;
}

static void predict(carom_client *client, double elapsed)
{
    cm_predictor *predictor = client->predictor;
    double clock = cm_client_clock_predicted(&client->clock);
    uint64_t tick =
        clock < (double)client->input_tick && clock > 0.0 ? (uint64_t)clock : client->input_tick;
    predictor->render = cm_client_clock_render(&client->clock);
    predictor->news = predictor->news || client->news;
    predictor->part_us = PERIOD_PART * 1.0e6 * (double)client->pointer.device.period;
    // By the round trip, or as old as the newest view is, where the lead is longer.
    double age = client->clock.rtt_ticks + client->clock.view_interval;
    double lead = clock - (double)client->mirror->newest_tick;
    age = predictor->news && lead > age ? lead : age;
    if (client->mirror->exact) { // from the newest confirmed tick
        age = clock - (double)carom_game_tick(client->mirror->game);
    }
    cm_predictor_refill(predictor, elapsed, age);
    uint64_t steps = predictor->stats.steps;
    bool measures = client->def.predict_cost_ns == 0;
    double from_us = measures ? time_us() : 0.0;
    if (client->mirror->exact) {
        cm_predictor_follow(predictor, tick);
    } else {
        cm_predictor_reconcile(predictor, tick);
        cm_predictor_advance(predictor, tick);
    }
    steps = predictor->stats.steps - steps;
    double took_us = measures ? time_us() - from_us : cm_nearby_us(predictor, steps);
    predictor->work_s = 1.0e-6 * took_us;
    if (measures) {
        cm_nearby_measure(predictor, took_us, steps);
    }
    cm_predictor_smooth(predictor, (double)(client->now_us - client->played_us) * 1.0e-6);
    const cm_predict_stats *stats = &predictor->stats;
    client->stats.predicted_tick = tick;
    client->stats.reconciles = stats->reconciles;
    client->stats.predicted_steps = stats->steps;
    client->stats.error_count = stats->error_count;
    client->stats.error_sum = stats->error_sum;
    client->stats.error_max = stats->error_max;
    memcpy(client->stats.error_buckets, stats->error_buckets, sizeof stats->error_buckets);
}

void cm_client_play(carom_client *client)
{
    double elapsed =
        (double)(client->now_us - client->played_us) * 1.0e-6 * client->mirror->tick_rate;
    note_arrival(client);
    // A spectator's packets have acks alone.
    uint64_t made =
        cm_client_spectates(client) ? 0 : make_inputs(client, foresight(client, elapsed));
    send_if_due(client, made);
    // On the wire before the work, which may take longer than a tick.
    cm_transport_flush(client->link);
    client->stats.predicted_tick = client->input_tick;
    if (!cm_exact_step(client, elapsed)) {
        return;
    }
    if (client->predictor != NULL) {
        predict(client, elapsed);
    }
    cm_event_log_tell(&client->events);
    client->news = false;
    client->played_us = client->now_us;
    client->stats.packets_lost = client->mirror->lost;
    client->stats.jitter_ms = (uint32_t)(cm_client_clock_jitter_ms(&client->clock) + 0.5);
    client->stats.interpolation_delay_ms = (uint32_t)cm_client_clock_delay_ms(&client->clock);
}
