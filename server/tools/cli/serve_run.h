// Hosting a room until it is told to end.
#ifndef CM_SERVER_TOOLS_CLI_SERVE_RUN_H
#define CM_SERVER_TOOLS_CLI_SERVE_RUN_H

#include "server/host/config.h"

// An exit status, after a message where it is not 0. A start that fails leaves nothing behind.
int cm_serve_run(const cm_config *config, char *const *environment);

#endif
