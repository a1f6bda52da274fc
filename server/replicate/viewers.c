// Typical: 32 viewers, each of whom is sent 30 views a second and acks 29 of them.
#include "server/replicate/viewers.h"

#include <string.h>

#include "shared/wire/events.h"
#include "shared/wire/message_packet.h"

#define MESSAGES_WAIT_MAX (1u << 20) // bytes of messages that one client is not known to have

static void forget(cm_viewer *viewer)
{
    cm_replica_destroy(viewer->replica);
    cm_outbox_clear(&viewer->mail.messages);
    memset(viewer, 0, sizeof *viewer);
}

void cm_viewers_free(cm_viewers *viewers)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        forget(&viewers->of[player]);
    }
}

void cm_viewers_meet(cm_viewers *viewers, const cm_roster *roster)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_viewer *v = &viewers->of[player];
        const cm_session *session = cm_roster_session(roster, player);
        uint64_t id = session != NULL ? session->client_id : 0;
        uint64_t join_tick = session != NULL ? session->join_tick : 0;
        if (v->client_id != id || v->join_tick != join_tick) {
            forget(v);
            v->client_id = id;
            v->join_tick = join_tick;
        }
        v->mail.linked = v->mail.linked && cm_client_has_joined(roster->members[player]);
        if (v->mail.linked) {
            cm_mailbox_settle(&v->mail, viewers->transport, roster->members[player]->connection);
        }
    }
}

uint64_t cm_viewers_take_acks(cm_viewers *viewers, const cm_roster *roster)
{
    uint64_t total = 0;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_viewer *v = &viewers->of[player];
        if (!cm_client_has_joined(roster->members[player]) || v->replica == NULL) {
            continue; // no view was sent yet: there is nothing to acknowledge
        }
        cm_session_ack acks[CM_SESSION_ACKS];
        uint32_t count = cm_session_pop_acks(&roster->members[player]->session, acks);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t fresh = cm_replica_ack(v->replica, acks[i].sequence, acks[i].bits);
            total += fresh;
            v->acked += fresh;
        }
    }
    return total;
}

// For the players of `who` (bits): behind what is kept for them, each.
static void keep(cm_viewers *viewers, const cm_control *control, uint64_t who)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool encoded = cm_control_encode(control, NULL, &bytes, &size) == CAROM_OK;
    for (; who != 0; who &= who - 1) {
        cm_viewer *v = &viewers->of[__builtin_ctzll(who)];
        if (v->client_id == 0 || v->join_tick > control->tick) {
            continue; // meant for the slot's former player
        }
        if (!encoded || !cm_outbox_push(&v->mail.messages, control->tick, bytes, (uint32_t)size,
                                        MESSAGES_WAIT_MAX)) {
            viewers->messages_dropped++;
            continue;
        }
        v->tells_messages = v->tells_messages || control->type == CM_CONTROL_EVENTS;
    }
    cm_control_release_bytes(NULL, bytes);
}

void cm_viewers_tell(cm_viewers *viewers, const cm_history_slot *slot, const cm_roster *roster)
{
    for (uint32_t i = 0; i < slot->message_count && !viewers->spectators; i++) {
        const cm_game_message *from = &slot->messages[i];
        const cm_client *member = from->unreliable ? roster->members[from->player] : NULL;
        if (!cm_client_has_joined(member) || member->session.join_tick > slot->tick) {
            continue; // cut off, or meant for the slot's former player
        }
        uint8_t packet[CM_MESSAGE_PACKET];
        const cm_message_packet message = {.epoch = member->session.epoch,
                                           .tick = (uint32_t)slot->tick,
                                           .bytes = from->bytes,
                                           .size = from->size};
        size_t size = cm_message_packet_write(CM_PACKET_TOLD, &message, packet);
        bool sent =
            cm_transport_send(viewers->transport, member->connection, CM_SEND_PACKET, packet, size);
        viewers->unreliable += sent;
        viewers->unreliable_lost += !sent;
    }
}

bool cm_viewers_keep(cm_viewers *viewers, const cm_history_slot *slot)
{
    viewers->messages_dropped += slot->messages_dropped;
    viewers->events_dropped += slot->happened_dropped;
    viewers->events += slot->happened_count;
    for (uint32_t i = 0; i < slot->message_count; i++) {
        const cm_game_message *from = &slot->messages[i];
        const cm_control control = {.type = CM_CONTROL_GAME_MESSAGE,
                                    .tick = slot->tick,
                                    .payload = {from->bytes, from->size}};
        if (from->player < CAROM_PLAYERS_MAX && !from->unreliable && !viewers->spectators) {
            keep(viewers, &control, UINT64_C(1) << from->player);
        }
    }
    if (slot->happened_count > 0) {
        uint8_t rows[CM_EVENTS_BYTES_MAX];
        size_t size = cm_events_write(slot->happened, slot->happened_count, rows);
        const cm_control control = {
            .type = CM_CONTROL_EVENTS, .tick = slot->tick, .payload = {rows, size}};
        keep(viewers, &control, UINT64_MAX);
    }
    return slot->message_count > 0 || slot->happened_count > 0;
}

void cm_viewers_send(cm_viewers *viewers, const cm_roster *roster, uint64_t tick_max)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        cm_mailbox *mail = &viewers->of[player].mail;
        if (mail->linked) {
            cm_mailbox_send(mail, viewers->transport, roster->members[player]->connection,
                            tick_max);
        }
    }
}

bool cm_viewers_wait(const cm_viewers *viewers)
{
    bool waits = false;
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        waits = waits || cm_mailbox_waits(&viewers->of[player].mail);
    }
    return waits;
}

// Acks of a second are of packets that were sent in it, or a round trip before it began: of those
// of the second before, where fewer went then than now.
static void count_loss(cm_viewer *v)
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

void cm_viewers_second(cm_viewers *viewers)
{
    for (uint32_t player = 0; player < CAROM_PLAYERS_MAX; player++) {
        count_loss(&viewers->of[player]);
    }
}
