// Values of one body at the client. Typical: 400 bodies a client, of which 30 change in a view.
#include "server/replicate/known_body.h"

#include <string.h>

#include "shared/wire/packet.h"

// Packets back that a baseline may lie: less than the wire allows, because the client's ring of as
// many packets may have lost the oldest to one that overtook this one.
#define AGE_MAX (CM_BASELINE_AGE_MAX - 15u)

void cm_known_body_changed(cm_known_body *known, const cm_snapshot *snapshot, uint32_t slot)
{
    bool again = known->generation == snapshot->generation[slot];
    memset(known, 0, sizeof *known);
    known->generation = snapshot->generation[slot];
    if (known->generation != 0) {
        known->acked = snapshot->bodies[slot];
        known->state = again ? CM_KNOWN_UNSURE : CM_KNOWN_EXACT;
    }
}

void cm_known_body_acked(cm_known_body *known, const cm_packet_entry *entry, uint64_t sequence)
{
    if (known->generation == entry->generation &&
        (known->state != CM_KNOWN_ACKED || sequence > known->acked_sequence)) {
        known->acked = entry->body;
        known->acked_sequence = sequence;
        known->state = CM_KNOWN_ACKED;
    }
}

void cm_known_body_sent(cm_known_body *known, const cm_view_body *value, uint64_t sequence)
{
    known->sent = *value;
    known->sent_sequence = sequence;
    known->waiting = 0;
    known->priority = 0.0f;
}

static cm_view_body without_velocity(const cm_view_body *body)
{
    cm_view_body bare = *body;
    bare.has_velocity = 0;
    memset(bare.linear, 0, sizeof bare.linear);
    memset(bare.angular, 0, sizeof bare.angular);
    return bare;
}

cm_view_body cm_known_body_value(const cm_snapshot *snapshot, uint32_t slot, bool with_velocity)
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

bool cm_known_body_was_sent(const cm_known_body *known, const cm_view_body *value)
{
    return known->sent_sequence != 0 && has_value(value, &known->sent);
}

bool cm_known_body_is_certain(const cm_known_body *known, const cm_view_body *value)
{
    bool last = known->sent_sequence == 0 ? known->state == CM_KNOWN_EXACT
                                          : known->state == CM_KNOWN_ACKED &&
                                                known->acked_sequence == known->sent_sequence;
    return last && has_value(value, &known->acked);
}

bool cm_known_body_is_on_its_way(const cm_known_body *known, const cm_view_body *value,
                                 const cm_sent_packets *packets)
{
    bool acked = known->state == CM_KNOWN_ACKED && known->acked_sequence == known->sent_sequence;
    return !acked && cm_known_body_was_sent(known, value) &&
           cm_sent_packets_in_flight(packets, known->sent_sequence);
}

void cm_known_body_settle(cm_known_body *known, const cm_snapshot *snapshot, uint32_t slot)
{
    // A velocity that the client does not have may be needed later, without a change of the body.
    bool whole = snapshot->bodies[slot].at_rest != 0 || known->acked.has_velocity != 0;
    known->version = whole ? snapshot->version[slot] : 0;
    known->waiting = 0;
    known->priority = 0.0f;
}

const cm_view_body *cm_known_body_baseline(const cm_known_body *known, uint64_t sequence,
                                           uint32_t *age)
{
    *age = 0;
    if (known->state != CM_KNOWN_ACKED || sequence - known->acked_sequence > AGE_MAX) {
        return NULL;
    }
    *age = (uint32_t)(sequence - known->acked_sequence);
    return &known->acked;
}
