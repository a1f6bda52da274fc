// Which worker has which room: the supervisor knows all, and tells each worker of those of the
// others, so that it can send a player there. Typical: 20 rooms, looked through once a connect.
#ifndef CM_SERVER_NODE_ROOM_DIRECTORY_H
#define CM_SERVER_NODE_ROOM_DIRECTORY_H

#include "server/node/control_link.h"

typedef struct cm_home {
    cm_room_info room;
    // Of the supervisor:
    uint32_t worker; // index
    bool is_open;    // it lives there now, and does not only belong there
} cm_home;

typedef struct cm_homes {
    cm_home *list;
    uint32_t count, capacity;
} cm_homes; // zeroed: none

// A new one, or what is new of one of that name. False: memory is short.
bool cm_homes_put(cm_homes *homes, const cm_home *home);
void cm_homes_remove(cm_homes *homes, const char *name);
cm_home *cm_homes_find(const cm_homes *homes, const char *name);
cm_home *cm_homes_find_match(const cm_homes *homes, uint64_t match_id);
// That of players who name none; NULL: it is not among them.
const cm_home *cm_homes_default(const cm_homes *homes);
void cm_homes_free(cm_homes *homes);

#endif
