// One client's replica: per body what was acked and what was sent last, a ring of the packets that
// acks refer to, and the choice of what goes next. Typical: 400 bodies, of which 30 go in a packet.
//
// The ring owns the sequence of a client's view packets: nothing else counts them. Sequences are
// counted in 64 bits here (16 travel), so that a body which rested for an hour is not taken for one
// sent just now.
#include "server/replicate/replicate.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"
#include "shared/base/vec.h"

// Packets back that a baseline may lie: less than the wire allows, because the client's ring of as
// many packets may have lost the oldest to one that overtook this one.
#define AGE_MAX      (CM_BASELINE_AGE_MAX - 15u)
#define RING         CM_REPLICA_PACKETS
#define ENTRY_BITS   29u // of an entry beside its body, at most: 1 + 18 slot + 2 + 8 baseline
#define VIEW_BYTES   40u // of a view header without public state and wrench, generously
#define WRENCH_BYTES 24u
#define BURST_KBIT   1000u  // until everything was sent once
#define IDLE_RATE    5u     // views a second in which nothing changes
#define LOST_AFTER   2u     // later packets acked: then an earlier one counts as lost
#define FLIGHT_MAX   32u    // packets later: lost, where acks do not come at all
#define NEAR_IN      10.0f  // m from the own body: velocities from here inwards
#define NEAR_OUT     12.0f  // until beyond this
#define OWN_PRIORITY 1.0e9f //

typedef enum known_state {
    KNOWN_NOTHING, // no body, or not one that the client has
    KNOWN_UNSURE,  // a body that the client has, with a value that no one knows
    KNOWN_EXACT,   // from a keyframe: `acked` is what it is worth, but no packet held it
    KNOWN_ACKED,   // `acked` travelled in packet acked_sequence
} known_state;

typedef struct known_body {
    cm_view_body acked, sent;
    uint64_t acked_sequence, sent_sequence; // sent_sequence 0: not sent yet
    uint32_t generation;
    uint32_t waiting; // views that it has waited to be sent
    uint32_t version; // of the snapshot's body when it was found settled for good; 0: it was not
    float priority;
    uint8_t state;
    bool near;
} known_body;

typedef struct packet_entry {
    uint32_t slot, generation;
    cm_view_body body;
} packet_entry;

typedef struct sent_packet {
    uint64_t sequence;
    bool acked;
    uint32_t public_version; // 0: none travelled
    uint32_t count, capacity;
    packet_entry *entries;
} sent_packet;

typedef struct candidate {
    uint32_t slot;
    float priority;
} candidate;

// A body that goes with the packet in hand, coded.
typedef struct chosen_body {
    uint32_t slot, baseline_age;
    cm_view_body value;
    cm_view_code code;
} chosen_body;
#define CHOSEN_MAX (8u * CM_PACKET_MAX / (ENTRY_BITS + 1u)) // a body's code has one bit at least
_Static_assert(CHOSEN_MAX <= CM_VIEW_ENTRIES_MAX, "a packet may hold no more entries");

struct cm_replica {
    cm_replica_def def;
    uint64_t sequence, newest_acked; // 0: none
    uint64_t last_tick, last_sent_tick;
    int64_t tokens; // bytes that may be sent, x tick_rate
    bool burst;
    bool started;                       // a view was sent
    uint32_t public_acked, public_sent; // versions
    uint64_t public_sequence;           // that carried public_sent
    cm_replica_stats stats;
    known_body *known;
    candidate *candidates;
    sent_packet ring[RING];
};

cm_replica *cm_replica_create(const cm_replica_def *def)
{
    cm_replica *replica = calloc(1, sizeof *replica);
    if (replica == NULL) {
        return NULL;
    }
    replica->def = *def;
    replica->known = calloc(def->slots, sizeof *replica->known);
    replica->candidates = calloc(def->slots, sizeof *replica->candidates);
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
    for (uint32_t i = 0; i < RING; i++) {
        free(replica->ring[i].entries);
    }
    free(replica->known);
    free(replica->candidates);
    free(replica);
}

void cm_replica_changed(cm_replica *replica, const cm_snapshot *snapshot, uint32_t slot)
{
    CM_ASSERT(slot < replica->def.slots);
    known_body *known = &replica->known[slot];
    bool again = known->generation == snapshot->generation[slot];
    memset(known, 0, sizeof *known);
    known->generation = snapshot->generation[slot];
    if (known->generation != 0) {
        known->acked = snapshot->bodies[slot];
        known->state = again ? KNOWN_UNSURE : KNOWN_EXACT;
    }
}

void cm_replica_begin(cm_replica *replica, const cm_snapshot *snapshot,
                      const cm_snapshot_moment *moment)
{
    CM_ASSERT(moment == NULL || moment->slots == replica->def.slots);
    for (uint32_t slot = 0; slot < replica->def.slots; slot++) {
        cm_replica_changed(replica, snapshot, slot);
        if (moment != NULL && replica->known[slot].state == KNOWN_EXACT &&
            moment->version[slot] != snapshot->version[slot]) {
            replica->known[slot].state = KNOWN_UNSURE;
        }
    }
    replica->last_tick = snapshot->tick;
    replica->public_acked = moment != NULL ? moment->public_version : snapshot->public_version;
    replica->burst = true;
}

// One packet arrived; false where it was never sent, long ago, or acked before.
static bool take_ack(cm_replica *replica, uint16_t sequence)
{
    uint64_t full = replica->sequence - (uint16_t)((uint16_t)replica->sequence - sequence);
    sent_packet *packet = &replica->ring[full % RING];
    if (full == 0 || packet->sequence != full || packet->acked) {
        return false;
    }
    packet->acked = true;
    if (full > replica->newest_acked) {
        replica->newest_acked = full;
    }
    if (packet->public_version > replica->public_acked) {
        replica->public_acked = packet->public_version;
    }
    for (uint32_t i = 0; i < packet->count; i++) {
        const packet_entry *entry = &packet->entries[i];
        known_body *known = &replica->known[entry->slot];
        if (known->generation == entry->generation &&
            (known->state != KNOWN_ACKED || full > known->acked_sequence)) {
            known->acked = entry->body;
            known->acked_sequence = full;
            known->state = KNOWN_ACKED;
        }
    }
    return true;
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

// The packet may still arrive, or its ack may: sending the same again would be waste.
static bool in_flight(const cm_replica *replica, uint64_t sequence)
{
    if (sequence > replica->newest_acked) {
        return replica->sequence - sequence < FLIGHT_MAX;
    }
    return sequence != replica->newest_acked && replica->newest_acked - sequence <= LOST_AFTER;
}

static cm_view_body without_velocity(const cm_view_body *body)
{
    cm_view_body bare = *body;
    bare.has_velocity = 0;
    memset(bare.linear, 0, sizeof bare.linear);
    memset(bare.angular, 0, sizeof bare.angular);
    return bare;
}

// What is to be sent of a body: with velocity only where the client simulates it.
static cm_view_body wanted(const cm_snapshot *snapshot, uint32_t slot, bool with_velocity)
{
    return with_velocity ? snapshot->bodies[slot] : without_velocity(&snapshot->bodies[slot]);
}

// The client has this value of the body. A velocity it has but need not have does not matter, nor
// does whether it has one for a body at rest.
static bool has_value(const cm_view_body *value, const cm_view_body *client)
{
    if (value->has_velocity != 0 && value->at_rest == 0) {
        return cm_view_equal(value, client);
    }
    cm_view_body bare = without_velocity(client);
    bare.has_velocity = value->has_velocity;
    return cm_view_equal(value, &bare);
}

// The client has this value for certain, and nothing else is on its way.
static bool is_certain(const known_body *known, const cm_view_body *value)
{
    bool last = known->sent_sequence == 0
                    ? known->state == KNOWN_EXACT
                    : known->state == KNOWN_ACKED && known->acked_sequence == known->sent_sequence;
    return last && has_value(value, &known->acked);
}

// Nothing has to be sent for the body now: it was sent, and may yet arrive.
static bool is_on_its_way(const cm_replica *replica, const known_body *known,
                          const cm_view_body *value)
{
    bool acked = known->state == KNOWN_ACKED && known->acked_sequence == known->sent_sequence;
    return known->sent_sequence != 0 && !acked && has_value(value, &known->sent) &&
           in_flight(replica, known->sent_sequence);
}

// Higher priority first, the lower slot where equal.
static bool goes_before(const candidate *a, const candidate *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->slot < b->slot;
}

// A heap of candidates, the best one on top: of hundreds that wait, a view takes some thirty.
static void sift_down(candidate *heap, uint32_t count, uint32_t at)
{
    candidate moving = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && goes_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!goes_before(&heap[child], &moving)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static void pop_best(candidate *heap, uint32_t *count)
{
    heap[0] = heap[--*count];
    if (*count > 0) {
        sift_down(heap, *count, 0);
    }
}

static int compare_slot(const void *a, const void *b)
{
    const chosen_body *x = a;
    const chosen_body *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

// Remembers that the client has the body for certain, until it changes. A velocity that it does not
// have may be needed later, without a change of the body.
static void note_certain(known_body *known, const cm_snapshot *snapshot, uint32_t slot)
{
    bool whole = snapshot->bodies[slot].at_rest != 0 || known->acked.has_velocity != 0;
    known->version = whole ? snapshot->version[slot] : 0;
    known->waiting = 0;
    known->priority = 0.0f;
}

// Makes a heap of the bodies that have something to be sent, and returns how many.
static uint32_t gather(cm_replica *replica, const cm_snapshot *snapshot, carom_body_id own)
{
    bool has_own = !carom_body_id_is_null(own) && own.index < snapshot->slots &&
                   snapshot->generation[own.index] == own.generation;
    carom_vec3 eye = has_own ? snapshot->positions[own.index] : cm_vec(0, 0, 0);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < snapshot->slots; slot++) {
        known_body *known = &replica->known[slot];
        if (known->state == KNOWN_NOTHING || snapshot->generation[slot] != known->generation) {
            continue;
        }
        if (known->version != 0 && known->version == snapshot->version[slot]) {
            continue;
        }
        bool is_own = has_own && slot == own.index;
        float distance = has_own ? cm_length(cm_sub(snapshot->positions[slot], eye)) : 0.0f;
        known->near =
            replica->def.predict && has_own && distance < (known->near ? NEAR_OUT : NEAR_IN);
        if (replica->def.interest_radius > 0.0f && has_own &&
            distance > replica->def.interest_radius) {
            continue;
        }
        cm_view_body value = wanted(snapshot, slot, known->near || is_own);
        if (is_certain(known, &value)) {
            note_certain(known, snapshot, slot);
            continue;
        }
        if (is_on_its_way(replica, known, &value)) {
            continue;
        }
        float speed = snapshot->speeds[slot];
        known->priority +=
            (known->near ? 4.0f : 1.0f) * (1.0f + cm_min(speed, 10.0f)) / (1.0f + 0.1f * distance);
        if (++known->waiting > replica->def.view_rate) {
            replica->stats.starved++;
        }
        candidate found = {slot, is_own ? OWN_PRIORITY : known->priority};
        replica->candidates[count++] = found;
    }
    for (uint32_t at = count / 2; at-- > 0;) {
        sift_down(replica->candidates, count, at);
    }
    return count;
}

static const cm_view_body *baseline_of(const known_body *known, uint64_t sequence, uint32_t *age)
{
    *age = 0;
    if (known->state != KNOWN_ACKED || sequence - known->acked_sequence > AGE_MAX) {
        return NULL;
    }
    *age = (uint32_t)(sequence - known->acked_sequence);
    return &known->acked;
}

// A body as the next packet would have it.
static void encode(const cm_replica *replica, const cm_snapshot *snapshot,
                   const cm_view_config *config, const candidate *from, chosen_body *body)
{
    const known_body *known = &replica->known[from->slot];
    bool own = from->priority >= OWN_PRIORITY;
    body->slot = from->slot;
    body->value = wanted(snapshot, from->slot, known->near || own);
    const cm_view_body *baseline = baseline_of(known, replica->sequence + 1, &body->baseline_age);
    body->code = cm_view_encode(config, baseline, &body->value);
}

static sent_packet *open_packet(cm_replica *replica, uint32_t entries)
{
    sent_packet *packet = &replica->ring[replica->sequence % RING];
    if (packet->capacity < entries) {
        uint32_t capacity = entries < 16 ? 16 : entries + entries / 2;
        packet_entry *grown = realloc(packet->entries, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        packet->entries = grown;
        packet->capacity = capacity;
    }
    packet->sequence = replica->sequence;
    packet->acked = false;
    packet->public_version = 0;
    packet->count = 0;
    return packet;
}

// Puts the `count` chosen bodies (ascending slots) into a packet; returns its bytes, 0 where memory
// is short.
static size_t write_packet(cm_replica *replica, const cm_snapshot *snapshot, cm_view_header *header,
                           const chosen_body *chosen, uint32_t count, uint8_t *bytes, size_t size)
{
    replica->sequence++;
    sent_packet *packet = open_packet(replica, count);
    if (packet == NULL) {
        replica->sequence--;
        return 0;
    }
    header->sequence = (uint16_t)replica->sequence;
    if (header->has_public) {
        packet->public_version = snapshot->public_version;
        replica->public_sent = snapshot->public_version;
        replica->public_sequence = replica->sequence;
    }
    cm_view_writer writer;
    cm_view_writer_begin(&writer, header, bytes, size);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = chosen[i].slot;
        known_body *known = &replica->known[slot];
        cm_view_entry entry = {slot, known->generation, chosen[i].baseline_age, chosen[i].value};
        bool fits = cm_view_writer_put(&writer, &entry, chosen[i].code);
        CM_ASSERT(fits); // it was chosen by the bits that it takes at most
        replica->stats.entries++;
        replica->stats.alone += entry.baseline_age == 0;
        replica->stats.resent += known->sent_sequence != 0 && has_value(&entry.body, &known->sent);
        known->sent = entry.body;
        known->sent_sequence = replica->sequence;
        known->waiting = 0;
        known->priority = 0.0f;
        packet_entry kept = {slot, known->generation, entry.body};
        packet->entries[packet->count++] = kept;
    }
    size_t written = cm_view_writer_end(&writer);
    CM_ASSERT(written > 0);
    return written;
}

// Takes from the heap the best candidates that fit into the bytes, by what they take at most, and
// encodes them for the next packet. Returns how many.
static uint32_t choose(cm_replica *replica, const cm_snapshot *snapshot,
                       const cm_view_config *config, uint32_t *count, size_t bytes,
                       chosen_body chosen[CHOSEN_MAX])
{
    uint64_t bits = 0;
    uint32_t taken = 0;
    while (*count > 0 && taken < CHOSEN_MAX) {
        encode(replica, snapshot, config, &replica->candidates[0], &chosen[taken]);
        bits += chosen[taken].code.count + ENTRY_BITS;
        if (bits > 8 * bytes) {
            break;
        }
        taken++;
        pop_best(replica->candidates, count);
    }
    qsort(chosen, taken, sizeof *chosen, compare_slot);
    return taken;
}

static void refill(cm_replica *replica, uint64_t tick)
{
    const cm_replica_def *def = &replica->def;
    uint32_t kbit = replica->burst && def->budget_kbit < BURST_KBIT ? BURST_KBIT : def->budget_kbit;
    int64_t rate = (int64_t)kbit * 125; // bytes a second
    replica->tokens += rate * (int64_t)(tick - replica->last_tick);
    replica->last_tick = tick;
    // Unused budget is kept for a tenth of a second, and for one full packet at least.
    int64_t most = rate / 10 > CM_PACKET_MAX + CM_PACKET_OVERHEAD
                       ? rate / 10
                       : CM_PACKET_MAX + CM_PACKET_OVERHEAD;
    if (replica->tokens > most * def->tick_rate) {
        replica->tokens = most * def->tick_rate;
    }
}

// The public state goes with this view.
static bool public_due(const cm_replica *replica, const cm_snapshot *snapshot)
{
    if (snapshot->public_version == replica->public_acked) {
        return false;
    }
    return replica->public_sent != snapshot->public_version ||
           !in_flight(replica, replica->public_sequence);
}

void cm_replica_view(cm_replica *replica, const cm_snapshot *snapshot, const cm_view_config *config,
                     const cm_view_header *base, carom_body_id own, size_t packet_max,
                     cm_view_out *out)
{
    out->count = 0;
    refill(replica, snapshot->tick);
    uint32_t count = gather(replica, snapshot, own);
    cm_view_header header = *base;
    header.has_public = public_due(replica, snapshot);
    if (header.has_public) {
        header.present = snapshot->present;
        header.public_size = snapshot->public_size;
        memcpy(header.public_state, snapshot->public_state, snapshot->public_size);
    }
    bool idle = count == 0 && !header.has_public && !header.has_wrench;
    if (idle && replica->started &&
        (snapshot->tick - replica->last_sent_tick) * IDLE_RATE < replica->def.tick_rate) {
        return;
    }
    do {
        size_t head = VIEW_BYTES + (header.has_public ? header.public_size + 16u : 0u) +
                      (header.has_wrench ? WRENCH_BYTES : 0u);
        int64_t left = replica->tokens / replica->def.tick_rate - CM_PACKET_OVERHEAD;
        if (left < (int64_t)head) {
            break;
        }
        size_t most = packet_max < head + VIEW_BYTES ? CM_PACKET_MAX : packet_max;
        size_t size = left < (int64_t)most ? (size_t)left : most;
        chosen_body chosen[CHOSEN_MAX];
        uint32_t taken =
            choose(replica, snapshot, config, &count, size > head ? size - head : 0, chosen);
        if (taken == 0 && count > 0 && out->count > 0) {
            break;
        }
        size_t bytes =
            write_packet(replica, snapshot, &header, chosen, taken, out->bytes[out->count], size);
        if (bytes == 0) {
            break;
        }
        out->sizes[out->count++] = (uint32_t)bytes;
        replica->tokens -= (int64_t)(bytes + CM_PACKET_OVERHEAD) * (int64_t)replica->def.tick_rate;
        replica->last_sent_tick = snapshot->tick;
        replica->started = true;
        header.has_public = false;
        header.has_wrench = false; // the first packet of a view has it
        header.has_durable = false;
        header.has_messages = false;
    } while (count > 0 && out->count < CM_VIEW_PACKETS_MAX);
    if (count == 0) {
        replica->burst = false;
    }
}

void cm_replica_stats_get(const cm_replica *replica, cm_replica_stats *stats)
{
    *stats = replica->stats;
}
