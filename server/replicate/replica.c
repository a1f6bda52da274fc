// One client's replica: each body's known values, the ring of sent packets, and what may be sent.
// Typical: 400 bodies, of which 30 go in a packet.
#include "server/replicate/replica.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/wire/input_delta.h"

#define IDLE_RATE    5u   // views a second in which nothing changes
#define PUBLIC_AGAIN 256u // bytes of a public state that goes in each view

struct cm_replica {
    cm_replica_def def;
    cm_interest interest;
    cm_packer packer;
    cm_sent_packets packets;
    uint64_t last_sent_tick;
    bool started;                       // a view was sent
    uint32_t public_acked, public_sent; // versions
    bool public_numbered;               // it came by a view, and the client knows its number
    uint64_t public_sequence;           // that carried public_sent last
    cm_replica_relay relay_acked;
    uint64_t relay_players; // of the next view's
    uint64_t starved;
    cm_known_body *known;
    cm_candidate *candidates;
};

cm_replica *cm_replica_create(const cm_replica_def *def)
{
    cm_replica *replica = calloc(1, sizeof *replica);
    if (replica == NULL) {
        return NULL;
    }
    replica->def = *def;
    replica->interest = (cm_interest){
        .radius = def->interest_radius, .predict = def->predict, .relays = def->relays};
    replica->packer = (cm_packer){.tick_rate = def->tick_rate, .budget_kbit = def->budget_kbit};
    replica->known = calloc(def->rows, sizeof *replica->known);
    replica->candidates = calloc(def->rows, sizeof *replica->candidates);
    if (replica->known == NULL || replica->candidates == NULL) {
        cm_replica_destroy(replica);
        return NULL;
    }
    return replica;
}

void cm_replica_destroy(cm_replica *replica)
{
    if (replica == NULL) {
        return;
    }
    cm_sent_packets_free(&replica->packets);
    free(replica->known);
    free(replica->candidates);
    free(replica);
}

void cm_replica_changed(cm_replica *replica, const cm_snapshot *snapshot, uint32_t row)
{
    CM_ASSERT(row < replica->def.rows);
    cm_known_body_changed(&replica->known[row], snapshot, row);
}

void cm_replica_begin(cm_replica *replica, const cm_snapshot *snapshot,
                      const cm_snapshot_moment *moment)
{
    CM_ASSERT(moment == NULL || moment->rows == replica->def.rows);
    for (uint32_t row = 0; row < replica->def.rows; row++) {
        cm_replica_changed(replica, snapshot, row);
        if (moment != NULL && replica->known[row].state == CM_KNOWN_EXACT &&
            moment->version[row] != snapshot->version[row]) {
            replica->known[row].state = CM_KNOWN_UNSURE;
        }
    }
    replica->packer.last_tick = snapshot->tick;
    replica->packer.burst = UINT32_MAX;
    replica->public_acked = moment != NULL ? moment->public_version : snapshot->public_version;
}

// One packet arrived; false where it was never sent, long ago, or acked before.
static bool take_ack(cm_replica *replica, uint16_t sequence)
{
    const cm_sent_packet *packet = cm_sent_packets_ack(&replica->packets, sequence);
    if (packet == NULL) {
        return false;
    }
    if (packet->public_version > replica->public_acked) {
        replica->public_acked = packet->public_version;
        replica->public_numbered = true;
    }
    if (packet->relay_tick > replica->relay_acked.tick) {
        replica->relay_acked = (cm_replica_relay){packet->relay_tick, packet->relay_players};
    }
    for (uint32_t i = 0; i < packet->count; i++) {
        const cm_packet_entry *entry = &packet->entries[i];
        cm_known_body_acked(&replica->known[entry->slot], entry, packet->sequence);
    }
    return true;
}

cm_replica_relay cm_replica_relay_acked(const cm_replica *replica)
{
    return replica->relay_acked;
}

void cm_replica_tells(cm_replica *replica, uint64_t players)
{
    replica->relay_players = players;
}

uint32_t cm_replica_ack(cm_replica *replica, uint16_t sequence, uint32_t bits)
{
    uint32_t count = take_ack(replica, sequence);
    for (uint32_t i = 0; i < 32; i++) {
        if ((bits >> i & 1) != 0) {
            count += take_ack(replica, (uint16_t)(sequence - 1 - i));
        }
    }
    return count;
}

// The row has something to be sent: it joins the candidates.
static bool is_candidate(cm_replica *replica, const cm_snapshot *snapshot, uint32_t slot,
                         cm_candidate *candidate)
{
    cm_known_body *known = &replica->known[slot];
    if (known->state == CM_KNOWN_NOTHING || snapshot->generation[slot] != known->generation ||
        (known->version != 0 && known->version == snapshot->version[slot])) {
        return false;
    }
    cm_relation relation = cm_interest_relate(&replica->interest, snapshot, slot, known->near);
    known->near = relation.near || slot >= snapshot->capacity; // a drive is told whole
    if (!relation.seen) {
        return false;
    }
    cm_view_body value = cm_known_body_value(snapshot, slot, known->near || relation.is_own);
    if (cm_known_body_is_certain(known, &value)) {
        cm_known_body_settle(known, snapshot, slot);
        return false;
    }
    if (cm_known_body_is_on_its_way(known, &value, &replica->packets)) {
        return false;
    }
    known->priority += cm_priority_gain(&relation, snapshot->speeds[slot]);
    replica->starved += ++known->waiting > replica->def.view_rate;
    *candidate = (cm_candidate){slot, relation.is_own, known->priority};
    return true;
}

static cm_priority_queue gather(cm_replica *replica, const cm_snapshot *snapshot)
{
    cm_priority_queue queue = {.heap = replica->candidates};
    for (uint32_t slot = 0; slot < snapshot->slots; slot++) {
        queue.count += is_candidate(replica, snapshot, slot, &queue.heap[queue.count]);
    }
    // A client that does not simulate has no use for drives.
    for (uint32_t slot = 0; slot < snapshot->joints && replica->def.predict; slot++) {
        queue.count +=
            is_candidate(replica, snapshot, snapshot->capacity + slot, &queue.heap[queue.count]);
    }
    cm_priority_order(&queue);
    return queue;
}

// The public state goes with each view until one that had it is acknowledged; a large one only as
// soon as it may be lost. As its difference from the one that was acknowledged last.
static void put_public(const cm_replica *replica, const cm_snapshot *snapshot,
                       cm_view_header *header)
{
    uint32_t version = snapshot->public_version, back = version - replica->public_acked, size = 0;
    if (back == 0) {
        return;
    }
    const uint8_t *base = cm_snapshot_state(snapshot, replica->public_acked);
    if (replica->public_numbered && back < CM_STATES_KEPT && base != NULL) {
        size = (uint32_t)cm_state_delta_write(base, snapshot->public_state, snapshot->public_size,
                                              header->public_state, sizeof header->public_state);
    }
    header->public_back = size > 0 ? (uint8_t)back : 0;
    header->public_size = size > 0 ? size : snapshot->public_size;
    bool again = replica->public_sent == version &&
                 cm_sent_packets_in_flight(&replica->packets, replica->public_sequence);
    header->public_unsure = again && header->public_size > PUBLIC_AGAIN;
    header->has_public = !header->public_unsure;
    header->public_number = (uint8_t)version;
    header->present = snapshot->present;
    if (size == 0) {
        memcpy(header->public_state, snapshot->public_state, snapshot->public_size);
    }
}

// A packet was written. The first packet of a view has all that is no body.
static void note_sent(cm_replica *replica, cm_packer_view *view, cm_sent_packet *packet)
{
    if (view->header.has_public) {
        packet->public_version = view->snapshot->public_version;
        replica->public_sent = view->snapshot->public_version;
        replica->public_sequence = packet->sequence;
    }
    if (view->header.relay_size > 0) {
        packet->relay_tick = view->snapshot->tick;
        packet->relay_players = replica->relay_players;
    }
    replica->last_sent_tick = view->snapshot->tick;
    replica->started = true;
    view->header.public_unsure = view->header.public_unsure || view->header.has_public;
    view->header.has_public = view->header.has_wrench = false;
    view->header.has_durable = view->header.has_messages = false;
    view->header.relay_size = 0;
}

void cm_replica_view(cm_replica *replica, const cm_snapshot *snapshot, const cm_view_config *config,
                     const cm_view_header *header, carom_body_id own, size_t packet_max,
                     cm_view_out *out)
{
    out->count = 0;
    cm_packer_refill(&replica->packer, snapshot->tick);
    cm_interest_look(&replica->interest, snapshot, own);
    cm_packer_view view = {.snapshot = snapshot,
                           .config = config,
                           .known = replica->known,
                           .packets = &replica->packets,
                           .queue = gather(replica, snapshot),
                           .header = *header,
                           .packet_max = packet_max};
    uint32_t waiting = view.queue.count;
    replica->packer.burst = waiting < replica->packer.burst ? waiting : replica->packer.burst;
    put_public(replica, snapshot, &view.header);
    bool idle = view.queue.count == 0 && !view.header.has_public && !view.header.has_wrench &&
                view.header.relay_size == 0;
    bool late = view.header.input_lead != CM_LEAD_UNKNOWN && view.header.input_lead < 0;
    if (idle && !late && replica->started &&
        (snapshot->tick - replica->last_sent_tick) * IDLE_RATE < replica->def.tick_rate) {
        return;
    }
    do {
        cm_sent_packet *packet = cm_packer_fill(&replica->packer, &view, out->count == 0,
                                                out->bytes[out->count], &out->sizes[out->count]);
        if (packet == NULL) {
            break;
        }
        out->count++;
        note_sent(replica, &view, packet);
    } while (view.queue.count > 0 && out->count < CM_VIEW_PACKETS_MAX);
}

void cm_replica_stats_get(const cm_replica *replica, cm_replica_stats *stats)
{
    const cm_packer *packer = &replica->packer;
    *stats = (cm_replica_stats){packer->entries, packer->resent, replica->starved, packer->unbased};
}
