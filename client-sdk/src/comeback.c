// Coming back: a second handshake beside a connection that has fallen silent.
//
//   silence of unstable_ms -> UNSTABLE; a second link knocks with the ticket of the last welcome
//   the first receives again before the second sent Hello -> the second closes, nothing changed
//   welcome on the second -> it is the link now; what was held belongs to an earlier epoch
//   refused -> the slot is gone: the connection ends with the server's reason; but where a crash of
//   the server took the join itself, it joins anew
//   silence of timeout_ms, or of the grace time where that is longer -> TIMEOUT; but three times as
//   long while the server answers second links: a server that is busy lets in late
//
// The first link lives until the second one's welcome: a path that only paused costs nothing.
// Typical: one in an hour, over after a second.
#include "client-sdk/src/state.h"

#include <string.h>

#include "shared/wire/control_text.h"

#define BACKOFF_MS     250u // between two tries; doubles
#define BACKOFF_MAX_MS 1000u
#define SILENT_MS      2000u // without any datagram on a second link; then another, from a new port
#define PATIENCE_MS    600u  // without a datagram on a second link that had some, and
#define PATIENCE_RTTS  6u    // round trips of the first

void cm_client_drop_second(carom_client *client)
{
    if (client->second != NULL) {
        const cm_transport_status info = cm_transport_status_of(client->second, CM_CONNECTION_ONLY);
        client->hint = info.hint != 0 ? info.hint : client->hint;
    }
    cm_transport_destroy(client->second, CAROM_REASON_LEFT);
    client->second = NULL;
    client->sent_hello = false;
    if (client->keyframe.second) {
        cm_keyframe_inbox_clear(&client->keyframe, &client->def.allocator);
    }
}

void cm_client_apply_ticket(carom_client *client, const cm_control *welcome)
{
    cm_token_pass *ticket = &client->ticket;
    memset(ticket, 0, sizeof *ticket);
    client->grace_ms = welcome->grace_ms;
    if (welcome->ticket.size > 0) {
        memcpy(ticket->sealed, welcome->ticket.data, welcome->ticket.size);
        ticket->sealed_size = welcome->ticket.size;
        memcpy(ticket->key, welcome->ticket_key.data, sizeof ticket->key);
        ticket->server_count = 1;
        const cm_transport_status status = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
        ticket->servers[0] = status.address;
    }
}

// The server may have let in by it, unheard: a farewell would give the slot up for good.
static void back_off(carom_client *client)
{
    if (client->second != NULL) {
        cm_transport_close(client->second, CM_CONNECTION_ONLY, CAROM_REASON_NONE,
                           CM_CLOSE_SILENTLY);
    }
    cm_client_drop_second(client);
    client->retry_us = client->now_us + 1000ull * client->backoff_ms;
    client->backoff_ms =
        client->backoff_ms < BACKOFF_MAX_MS / 2 ? 2 * client->backoff_ms : BACKOFF_MAX_MS;
}

// Messages that the server does not have go again, by the new link.
static void send_kept(carom_client *client, uint64_t taken)
{
    cm_message_log *log = &client->messages;
    cm_message_log_received(log, &client->def.allocator, taken);
    for (uint32_t i = 0; i < log->count; i++) {
        cm_kept_message *kept = cm_message_log_at(log, i);
        cm_control message = {.type = CM_CONTROL_GAME_MESSAGE,
                              .tick = client->input_tick,
                              .payload = {kept->bytes, kept->size}};
        kept->on_link = cm_client_sent(client);
        if (!cm_client_send_control(client, &message)) {
            cm_client_end(client, CAROM_REASON_CLIENT_ERROR);
            return;
        }
    }
}

// From now on the second link is the only one.
void cm_client_read_second(carom_client *client, const cm_control *control)
{
    const cm_transport_status before = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
    client->bytes_in += before.bytes_in;
    client->bytes_out += before.bytes_out;
    cm_transport_destroy(client->link, CAROM_REASON_LEFT);
    client->link = client->second;
    client->second = NULL;
    client->sent_hello = false;
    client->opened = 0;
    client->heard_us = client->now_us;
    client->backoff_ms = BACKOFF_MS;
    client->hint = 0;
    client->stats.comebacks++;
    cm_client_handle(client, control);
    if (client->link != NULL) {
        send_kept(client, control->messages);
    }
}

// Its join was not yet known to be durable, and the server that had it died: there never was such a
// slot, and the token lets in again.
static bool join_is_lost(const carom_client *client, uint32_t reason)
{
    const cm_mirror *mirror = client->mirror;
    return reason == CAROM_REASON_SLOT_GONE && mirror != NULL && client->stats.comebacks == 0 &&
           mirror->durability != CAROM_DURABILITY_NONE && mirror->durable_tick < client->join_tick;
}

// The server's word, by the second link: the slot is gone, or there is no place for a while.
static void refused(carom_client *client, uint32_t reason)
{
    bool passes = reason == CAROM_REASON_FLOOD || reason == CAROM_REASON_ROOM_FULL;
    if (join_is_lost(client, reason)) {
        cm_client_start_over(client);
    } else if (!passes && client->state == CAROM_CLIENT_UNSTABLE) {
        cm_client_end(client, cm_client_reason(reason));
    } else {
        back_off(client);
    }
}

// The first message on the second link is a welcome, or why there is none; where its keyframe comes
// in parts, those follow here, and the link changes after them.
static void receive_second(carom_client *client, const cm_transport_event *event)
{
    cm_control *control;
    const carom_allocator *allocator = &client->def.allocator;
    if (event->kind != CM_SEND_CONTROL) {
        return; // a view that overtook the welcome
    }
    if (cm_control_decode(event->bytes, event->size, false, allocator, &control) != CAROM_OK) {
        client->stats.packets_refused++;
        back_off(client);
        return;
    }
    if (cm_client_keyframe(client, control, event->bytes, event->size, true)) {
        // Perhaps it is whole now, and the second link is the only one.
    } else if (control->type == CM_CONTROL_WELCOME) {
        cm_client_read_second(client, control);
    } else if (control->type == CM_CONTROL_REFUSED) {
        refused(client, control->reason);
    } else {
        back_off(client);
    }
    cm_control_free(allocator, control);
}

static void poll_second(carom_client *client)
{
    cm_transport_event event;
    while (client->second != NULL && cm_transport_poll(client->second, &event)) {
        if (event.type == CM_TRANSPORT_OPENED) {
            client->sent_hello = cm_client_hello(client, client->second);
        } else if (event.type == CM_TRANSPORT_CLOSED) {
            back_off(client);
        } else if (event.type == CM_TRANSPORT_REFUSED) {
            refused(client, event.reason);
        } else if (event.type == CM_TRANSPORT_RESTARTED) {
            client->sent_hello = false;
        } else {
            receive_second(client, &event);
        }
    }
    if (client->second == NULL) {
        return;
    }
    cm_transport_status info, first;
    info = cm_transport_status_of(client->second, CM_CONNECTION_ONLY);
    first = cm_transport_status_of(client->link, CM_CONNECTION_ONLY);
    uint64_t patience_us = 1000ull * (PATIENCE_MS + PATIENCE_RTTS * first.round_trip_ms);
    if (info.bytes_in != client->second_in) {
        client->second_in = info.bytes_in;
        client->second_us = client->now_us;
        client->answered_us =
            info.hint == 0 ? client->now_us : 0; // one that refuses is no reason to wait
    } else if (info.bytes_in > 0 && client->now_us - client->second_us > patience_us) {
        back_off(client); // cut off again; what is only repeated ever later may come too late
    } else if (info.bytes_in == 0 && client->now_us - client->second_us > 1000ull * SILENT_MS) {
        cm_client_drop_second(client); // no server answered: a new link may try at once
    }
}

static void open_second(carom_client *client)
{
    cm_client_link_def def = {.pass = &client->ticket};
    client->second_in = 0;
    client->second_us = client->now_us;
    client->sent_hello = false;
    if (cm_client_open_link(client, &def, &client->second) != CAROM_OK) {
        client->second = NULL;
        back_off(client);
    }
}

void cm_client_come_back(carom_client *client)
{
    poll_second(client);
    bool wanted = client->link && client->state == CAROM_CLIENT_UNSTABLE && client->def.reconnect &&
                  client->ticket.sealed_size > 0 && !client->leaving;
    if (client->second != NULL && !wanted && !client->sent_hello) {
        cm_client_drop_second(client);
    } else if (client->second == NULL && wanted && client->now_us >= client->retry_us) {
        open_second(client);
    }
    if (client->second != NULL) {
        cm_transport_flush(client->second);
    }
}

void cm_client_begin_ticket(carom_client *client)
{
    cm_crypto_wipe(&client->ticket, sizeof client->ticket);
    client->grace_ms = 0;
    client->backoff_ms = BACKOFF_MS;
    client->retry_us = 0;
    client->answered_us = 0;
    client->hint = 0;
    client->messages_had = client->messages_came = 0;
}
