// Distances from a client's own body. Typical: 400 bodies a view, all of them seen.
#include "server/replicate/interest.h"

#include "shared/base/vec.h"

#define NEAR_IN  10.0f // m from the own body, or from any whose inputs are relayed: velocities
#define NEAR_OUT 12.0f // until beyond this

void cm_interest_look(cm_interest *interest, const cm_snapshot *snapshot, carom_body_id own)
{
    interest->own = own.index;
    interest->has_own = !carom_body_id_is_null(own) && own.index < snapshot->slots &&
                        snapshot->generation[own.index] == own.generation;
    interest->eye = interest->has_own ? snapshot->positions[own.index] : cm_vec(0, 0, 0);
}

cm_relation cm_interest_relate(const cm_interest *interest, const cm_snapshot *snapshot,
                               uint32_t slot, bool near)
{
    cm_relation relation = {.seen = true, .steered = snapshot->steered[slot]};
    if (interest->has_own) {
        relation.is_own = slot == interest->own;
        relation.distance = cm_length(cm_sub(snapshot->positions[slot], interest->eye));
        float least = interest->relays ? cm_min(relation.distance, snapshot->beside[slot])
                                       : relation.distance;
        relation.near =
            interest->predict && (relation.steered || least < (near ? NEAR_OUT : NEAR_IN));
        relation.seen = interest->radius <= 0.0f || relation.distance <= interest->radius;
    }
    return relation;
}
