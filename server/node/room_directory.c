// An array in the order in which they came.
#include "server/node/room_directory.h"
#include "shared/base/array.h"

#include <stdlib.h>
#include <string.h>

cm_directory_entry *cm_room_directory_find(const cm_room_directory *directory, const char *name)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        if (strcmp(directory->list[i].room.name, name) == 0) {
            return &directory->list[i];
        }
    }
    return NULL;
}

cm_directory_entry *cm_room_directory_find_match(const cm_room_directory *directory,
                                                 uint64_t first_id)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        if (directory->list[i].room.first_id == first_id) {
            return &directory->list[i];
        }
    }
    return NULL;
}

bool cm_room_directory_put(cm_room_directory *directory, const cm_directory_entry *entry)
{
    cm_directory_entry *there = cm_room_directory_find(directory, entry->room.name);
    if (there != NULL) {
        *there = *entry;
        return true;
    }
    if (!cm_array_reserve(&directory->list, &directory->capacity, directory->count + 1,
                          sizeof *directory->list)) {
        return false;
    }
    directory->list[directory->count++] = *entry;
    return true;
}

void cm_room_directory_remove(cm_room_directory *directory, const char *name)
{
    cm_directory_entry *entry = cm_room_directory_find(directory, name);
    if (entry != NULL) {
        directory->count--;
        size_t after = (size_t)(directory->list + directory->count - entry);
        memmove(entry, entry + 1, after * sizeof *entry);
    }
}

const cm_directory_entry *cm_room_directory_default(const cm_room_directory *directory)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        if (directory->list[i].room.is_default) {
            return &directory->list[i];
        }
    }
    return NULL;
}

void cm_room_directory_free(cm_room_directory *directory)
{
    free(directory->list);
    memset(directory, 0, sizeof *directory);
}
