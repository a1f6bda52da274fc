// An array in the order in which they came.
#include "server/node/room_directory.h"

#include <stdlib.h>
#include <string.h>

cm_home *cm_homes_find(const cm_homes *homes, const char *name)
{
    for (uint32_t i = 0; i < homes->count; i++) {
        if (strcmp(homes->list[i].room.name, name) == 0) {
            return &homes->list[i];
        }
    }
    return NULL;
}

cm_home *cm_homes_find_match(const cm_homes *homes, uint64_t match_id)
{
    for (uint32_t i = 0; i < homes->count; i++) {
        if (homes->list[i].room.match_id == match_id) {
            return &homes->list[i];
        }
    }
    return NULL;
}

bool cm_homes_put(cm_homes *homes, const cm_home *home)
{
    cm_home *there = cm_homes_find(homes, home->room.name);
    if (there != NULL) {
        *there = *home;
        return true;
    }
    if (homes->count == homes->capacity) {
        uint32_t capacity = homes->capacity > 0 ? 2 * homes->capacity : 16;
        cm_home *grown = realloc(homes->list, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        homes->list = grown;
        homes->capacity = capacity;
    }
    homes->list[homes->count++] = *home;
    return true;
}

void cm_homes_remove(cm_homes *homes, const char *name)
{
    cm_home *home = cm_homes_find(homes, name);
    if (home != NULL) {
        homes->count--;
        size_t after = (size_t)(homes->list + homes->count - home);
        memmove(home, home + 1, after * sizeof *home);
    }
}

const cm_home *cm_homes_default(const cm_homes *homes)
{
    for (uint32_t i = 0; i < homes->count; i++) {
        if (homes->list[i].room.is_default) {
            return &homes->list[i];
        }
    }
    return NULL;
}

void cm_homes_free(cm_homes *homes)
{
    free(homes->list);
    memset(homes, 0, sizeof *homes);
}
