// The bodies that a client sees: those within the scene's radius of its own body, or all without a
// radius or an own body. A client that simulates gets the velocities of bodies near its own, and of
// those near the other players', where it has their inputs.
#ifndef CM_SERVER_REPLICATE_INTEREST_H
#define CM_SERVER_REPLICATE_INTEREST_H

#include "server/replicate/snapshot.h"

typedef struct cm_interest {
    float radius; // m, 0: everything
    bool predict; // the client simulates
    bool relays;  // by the inputs of all players
    bool has_own; // its body is in the snapshot:
    uint32_t own; // in this slot
    carom_vec3 eye;
} cm_interest;

// Of one body to the client.
typedef struct cm_relation {
    float distance; // m, 0 without an own body
    bool is_own, near, seen;
    bool steered; // by a player
} cm_relation;

// Takes the client's place from the snapshot.
void cm_interest_look(cm_interest *interest, const cm_snapshot *snapshot, carom_body_id own);
// `near`: it was near at the last view, which is kept until it is somewhat further away.
cm_relation cm_interest_relate(const cm_interest *interest, const cm_snapshot *snapshot,
                               uint32_t slot, bool near);

#endif
