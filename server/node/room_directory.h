// The directory of rooms and their workers: the supervisor knows all, and tells each worker of
// those of the others, so that it can send a player there. Typical: 20 rooms, looked through once a
// connect.
#ifndef CM_SERVER_NODE_ROOM_DIRECTORY_H
#define CM_SERVER_NODE_ROOM_DIRECTORY_H

#include "server/node/control_link.h"

typedef struct cm_directory_entry {
    cm_room_info room;
    // Of the supervisor:
    uint32_t worker; // index
    bool is_open;    // it lives there now, and does not only belong there
} cm_directory_entry;

typedef struct cm_room_directory {
    cm_directory_entry *list;
    uint32_t count, capacity;
} cm_room_directory; // zeroed: none

// A new one, or what is new of one of that name. False: memory is short.
bool cm_room_directory_put(cm_room_directory *directory, const cm_directory_entry *entry);
void cm_room_directory_remove(cm_room_directory *directory, const char *name);
cm_directory_entry *cm_room_directory_find(const cm_room_directory *directory, const char *name);
// That of a ticket: by the match's first file, whatever file it is recorded in now.
cm_directory_entry *cm_room_directory_find_match(const cm_room_directory *directory,
                                                 uint64_t first_id);
// That of players who name none; NULL: it is not among them.
const cm_directory_entry *cm_room_directory_default(const cm_room_directory *directory);
void cm_room_directory_free(cm_room_directory *directory);

#endif
