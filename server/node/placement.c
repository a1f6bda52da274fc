// Typical: 8 workers, looked through once a room.
#include "server/node/placement.h"

uint32_t cm_worker_load_permille(const cm_worker_load *load)
{
    uint32_t guessed = load->rooms > load->measured ? load->rooms - load->measured : 0;
    return load->permille + guessed * CM_PLACEMENT_GUESS;
}

uint32_t cm_placement_choose(const cm_worker_load *loads, uint32_t count)
{
    uint32_t best = CM_PLACEMENT_NONE, least = CM_PLACEMENT_MOST, fewest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t load = cm_worker_load_permille(&loads[i]);
        bool takes = !loads[i].closed && loads[i].rooms < loads[i].rooms_max;
        if (takes && (load < least ||
                      (load == least && best != CM_PLACEMENT_NONE && loads[i].rooms < fewest))) {
            best = i;
            least = load;
            fewest = loads[i].rooms;
        }
    }
    return best;
}
