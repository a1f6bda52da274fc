// The client's known state of one body: the newest value that it acked, and the last value that was
// sent.
#ifndef CM_SERVER_REPLICATE_KNOWN_BODY_H
#define CM_SERVER_REPLICATE_KNOWN_BODY_H

#include "server/replicate/sent_packets.h"
#include "server/replicate/snapshot.h"

typedef enum cm_known_state {
    CM_KNOWN_NOTHING, // no body, or not one that the client has
    CM_KNOWN_UNSURE,  // a body that the client has, with a value that no one knows
    CM_KNOWN_EXACT,   // from a keyframe: `acked` is the value, but no packet held it
    CM_KNOWN_ACKED,   // `acked` travelled in packet acked_sequence
} cm_known_state;

typedef struct cm_known_body {
    cm_view_body acked, sent;
    uint64_t acked_sequence, sent_sequence; // sent_sequence 0: not sent yet
    uint32_t generation;
    uint32_t waiting; // views that it has waited to be sent
    uint32_t version; // of the snapshot's body when it was found settled for good; 0: it was not
    float priority;
    uint8_t state;
    bool near; // the client simulates it: its velocity is sent
} cm_known_body;

// The client was sent the body as it is in the snapshot, or that there is none.
void cm_known_body_changed(cm_known_body *known, const cm_snapshot *snapshot, uint32_t slot);
// A packet that held a value of the body was acked.
void cm_known_body_acked(cm_known_body *known, const cm_packet_entry *entry, uint64_t sequence);
void cm_known_body_sent(cm_known_body *known, const cm_view_body *value, uint64_t sequence);

// The value to be sent: with velocity only where the client simulates the body.
cm_view_body cm_known_body_value(const cm_snapshot *snapshot, uint32_t slot, bool with_velocity);
// This value was the last one sent.
bool cm_known_body_was_sent(const cm_known_body *known, const cm_view_body *value);
// The client has this value for certain, and nothing else is on its way.
bool cm_known_body_is_certain(const cm_known_body *known, const cm_view_body *value);
// The value was sent, and may yet arrive: nothing has to be sent now.
bool cm_known_body_is_on_its_way(const cm_known_body *known, const cm_view_body *value,
                                 const cm_sent_packets *packets);
// Notes that the client has the body for certain, until it changes.
void cm_known_body_settle(cm_known_body *known, const cm_snapshot *snapshot, uint32_t slot);
// The value against which the packet `sequence` may code the body, and how many packets before it
// that one travelled. NULL, and age 0: there is none.
const cm_view_body *cm_known_body_baseline(const cm_known_body *known, uint64_t sequence,
                                           uint32_t *age);

#endif
