// MATCHES/handover: which matches a server let go of without an end, an id of 16 hexadecimal digits
// a line, so that the next server goes on with them, and with no others, though `resume` is false.
// Typical: 20 lines, written once and read once.
#ifndef CM_SERVER_SUPERVISOR_HANDOVER_H
#define CM_SERVER_SUPERVISOR_HANDOVER_H

#include "server/node/resume.h"
#include "server/node/room_directory.h"

// The rooms' matches. False with errno.
bool cm_handover_write(const cm_config *config, const cm_room_directory *rooms);
bool cm_handover_is_there(const cm_config *config);
// Leaves of what was found what the file names.
void cm_handover_select(const cm_config *config, cm_unfinished_matches *matches);
void cm_handover_remove(const cm_config *config);

#endif
