// The budget and the choice. Typical: 30 bodies a packet, one packet a view.
#include "server/replicate/packer.h"

#include <stdlib.h>

#define BURST_KBIT 1000u
#define CHOSEN_MAX (8u * CM_PACKET_MAX / CM_ENCODER_LEAST_BITS)
#define SPARE      40u // bytes for bodies that a packet has at least beside its header
_Static_assert(CHOSEN_MAX <= CM_VIEW_ENTRIES_MAX, "a packet may hold no more entries");

void cm_packer_refill(cm_packer *packer, uint64_t tick)
{
    uint32_t least = packer->burst > 0 ? BURST_KBIT : 0;
    uint32_t kbit = packer->budget_kbit > least ? packer->budget_kbit : least;
    int64_t rate = (int64_t)kbit * 125; // bytes a second
    packer->tokens += rate * (int64_t)(tick - packer->last_tick);
    packer->last_tick = tick;
    // One full packet is kept at least.
    int64_t most = rate / 10 > CM_PACKET_MAX + CM_PACKET_OVERHEAD
                       ? rate / 10
                       : CM_PACKET_MAX + CM_PACKET_OVERHEAD;
    if (packer->tokens > most * packer->tick_rate) {
        packer->tokens = most * packer->tick_rate;
    }
}

static int compare_slot(const void *a, const void *b)
{
    const cm_encoder_body *x = a;
    const cm_encoder_body *y = b;
    return (x->entry.index > y->entry.index) - (x->entry.index < y->entry.index);
}

// Takes the first candidates that fit into the bytes, by what they take at most. Returns how many,
// ordered by slots.
static uint32_t choose(cm_packer_view *view, size_t bytes, cm_encoder_body chosen[CHOSEN_MAX])
{
    uint64_t bits = 0, sequence = view->packets->sequence + 1;
    uint32_t count = 0;
    while (view->queue.count > 0 && count < CHOSEN_MAX) {
        const cm_candidate *best = &view->queue.heap[0];
        const cm_known_body *known = &view->known[best->slot];
        cm_view_entry *entry = &chosen[count].entry;
        entry->index = cm_snapshot_index(view->snapshot, best->slot);
        entry->generation = known->generation;
        entry->body = cm_known_body_value(view->snapshot, best->slot, known->near || best->is_own);
        const cm_view_body *baseline =
            cm_known_body_baseline(known, sequence, &entry->baseline_age);
        bits += cm_encoder_worst_bits(view->config, baseline, &chosen[count]);
        if (bits > 8 * bytes) {
            break;
        }
        count++;
        cm_priority_pop(&view->queue);
    }
    qsort(chosen, count, sizeof *chosen, compare_slot);
    return count;
}

cm_sent_packet *cm_packer_fill(cm_packer *packer, cm_packer_view *view, bool first,
                               uint8_t bytes[CM_PACKET_MAX], uint32_t *size)
{
    size_t head = cm_encoder_head_bytes(&view->header);
    int64_t left = packer->tokens / packer->tick_rate - CM_PACKET_OVERHEAD;
    if (left < (int64_t)head) {
        return NULL;
    }
    size_t most = view->packet_max < head + SPARE ? CM_PACKET_MAX : view->packet_max;
    most = left < (int64_t)most ? (size_t)left : most;
    cm_encoder_body chosen[CHOSEN_MAX];
    uint32_t count = choose(view, most > head ? most - head : 0, chosen);
    if (count == 0 && view->queue.count > 0 && !first) {
        return NULL;
    }
    cm_sent_packet *packet = cm_sent_packets_next(view->packets, count);
    if (packet == NULL) {
        return NULL;
    }
    cm_encoder encoder;
    view->header.sequence = (uint16_t)packet->sequence;
    view->header.has_drives = count > 0 && chosen[count - 1].entry.index >= CM_VIEW_DRIVES;
    cm_encoder_begin(&encoder, &view->header, bytes, most);
    for (uint32_t i = 0; i < count; i++) {
        const cm_view_entry *entry = &chosen[i].entry;
        uint32_t row = cm_snapshot_row(view->snapshot, entry->index);
        cm_known_body *known = &view->known[row];
        cm_encoder_put(&encoder, &chosen[i]);
        packer->entries++;
        packer->burst -= packer->burst > 0;
        packer->unbased += entry->baseline_age == 0;
        packer->resent += cm_known_body_was_sent(known, &entry->body);
        cm_known_body_sent(known, &entry->body, packet->sequence);
        packet->entries[packet->count++] = (cm_packet_entry){row, entry->generation, entry->body};
    }
    *size = (uint32_t)cm_encoder_end(&encoder);
    packer->tokens -= (int64_t)(*size + CM_PACKET_OVERHEAD) * (int64_t)packer->tick_rate;
    return packet;
}
