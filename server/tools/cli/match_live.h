// A match that is running: its server holds its file, and is asked instead.
#ifndef CM_SERVER_TOOLS_CLI_MATCH_LIVE_H
#define CM_SERVER_TOOLS_CLI_MATCH_LIVE_H

#include <stdbool.h>

// Prints what its server says of it, as `carom admin rooms` does. `socket`: the server's; NULL:
// admin.sock beside the file. False: nobody answers there, or has it.
bool cm_match_live_info(const char *path, const char *socket);

#endif
