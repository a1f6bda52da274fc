// A sorted array. Typical: none, or some dozens.
#include "server/auth/bans.h"

#include "shared/base/array.h"

// The position of the id in the sorted list, or the one where it would be inserted.
static uint32_t place_of(const cm_bans *bans, uint64_t client_id)
{
    uint32_t low = 0, high = bans->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bans->ids[middle] < client_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool cm_bans_have(const cm_bans *bans, uint64_t client_id)
{
    uint32_t place = bans != NULL ? place_of(bans, client_id) : 0;
    return bans != NULL && place < bans->count && bans->ids[place] == client_id;
}

bool cm_bans_add(cm_bans *bans, uint64_t client_id)
{
    if (cm_bans_have(bans, client_id)) {
        return true;
    }
    if (bans->count == CM_BANS_MAX ||
        !cm_array_reserve(&bans->ids, &bans->capacity, bans->count + 1, sizeof *bans->ids)) {
        return false;
    }
    uint32_t place = place_of(bans, client_id);
    memmove(bans->ids + place + 1, bans->ids + place, (bans->count - place) * sizeof *bans->ids);
    bans->ids[place] = client_id;
    bans->count++;
    return true;
}

void cm_bans_remove(cm_bans *bans, uint64_t client_id)
{
    uint32_t place = place_of(bans, client_id);
    if (place < bans->count && bans->ids[place] == client_id) {
        bans->count--;
        memmove(bans->ids + place, bans->ids + place + 1,
                (bans->count - place) * sizeof *bans->ids);
    }
}

void cm_bans_free(cm_bans *bans)
{
    free(bans->ids);
    memset(bans, 0, sizeof *bans);
}
