// A tag is the room's number and one, above the byte of the callback.
#include "server/host/vitals.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define TAG_SHIFT 8u

cm_vitals *cm_vitals_create(uint32_t workers)
{
    void *memory = mmap(NULL, workers * sizeof(cm_vitals), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void cm_vitals_destroy(cm_vitals *vitals, uint32_t workers)
{
    if (vitals != NULL) {
        munmap(vitals, workers * sizeof *vitals);
    }
}

uint32_t cm_vitals_take(cm_vitals *vitals, uint64_t match_id)
{
    for (uint32_t i = 0; vitals != NULL && i < CM_VITALS_ROOMS; i++) {
        if (vitals->matches[i] == 0) {
            vitals->matches[i] = match_id;
            return (i + 1) << TAG_SHIFT;
        }
    }
    return 0;
}

void cm_vitals_give_back(cm_vitals *vitals, uint32_t tag)
{
    if (vitals != NULL && tag != 0) {
        vitals->matches[(tag >> TAG_SHIFT) - 1] = 0;
    }
}

uint64_t cm_vitals_match(const cm_vitals *vitals, uint32_t *callback)
{
    uint32_t mark = vitals->mark, room = mark >> TAG_SHIFT;
    *callback = mark & ((1u << TAG_SHIFT) - 1);
    return room >= 1 && room <= CM_VITALS_ROOMS ? vitals->matches[room - 1] : 0;
}
