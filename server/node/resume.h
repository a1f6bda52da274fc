// Matches whose server was killed, brought back when the next one starts.
#ifndef CM_SERVER_NODE_RESUME_H
#define CM_SERVER_NODE_RESUME_H

#include "server/node/control_link.h"
#include "server/node/node_rooms.h"

typedef struct cm_unfinished_matches {
    uint32_t count, capacity;
    cm_unfinished_match *list;
} cm_unfinished_matches; // zeroed: none

// Every match in the directory that has no end, newest first, but for those that failed and went on
// in another file. What has none and cannot be read is
// left as it is, and the log says so.
void cm_unfinished_matches_find(const cm_config *config, const cm_log *log,
                                cm_unfinished_matches *matches);
// False: memory is short.
bool cm_unfinished_matches_add(cm_unfinished_matches *matches, const cm_unfinished_match *match);
void cm_unfinished_matches_free(cm_unfinished_matches *matches);

// Each becomes a room of the name that it had, in the place of the room of that name that was to be
// opened. One of another engine or module, or of a scene that is refused, and one whose name an
// earlier one of the list has, is ended as cut; one that cannot be read, or is signed by another
// key, is left as it is. The log says each; `cut_off` gets those that were cut, by the id that
// tickets name.
void cm_resume_matches(const cm_config *config, cm_store *store, const cm_log *log,
                       const cm_unfinished_matches *matches, cm_node_rooms *rooms,
                       void (*cut_off)(void *user, uint64_t match_id), void *user);

#endif
