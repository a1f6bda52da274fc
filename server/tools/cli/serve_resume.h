// Matches whose server was killed, brought back when the next one starts.
#ifndef CM_SERVER_TOOLS_CLI_SERVE_RESUME_H
#define CM_SERVER_TOOLS_CLI_SERVE_RESUME_H

#include "server/tools/cli/serve_rooms.h"

// Every match in the directory that has no end becomes a room of the name that it had, in the place
// of the room of that name that was to be opened, newest matches first. One of another engine or
// module, and one whose name a newer one has, is ended as cut; one that cannot be read, or is
// signed by another key, is left as it is. The log says each. An exit status: whether there is a
// room now.
int cm_serve_resume(const cm_config *config, cm_store *store, const cm_log *log,
                    cm_serve_rooms *rooms);

#endif
