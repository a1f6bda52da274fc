// A match that is running: its server holds its file, and is asked instead.
#ifndef CM_SERVER_CLI_MATCH_LIVE_H
#define CM_SERVER_CLI_MATCH_LIVE_H

#include <stdbool.h>
#include <stddef.h>

// Prints its server's information about it, as `carom admin rooms` does. `socket`: the server's;
// NULL: admin.sock beside the file. False: no server answers there, or it does not have the match.
bool cm_match_live_info(const char *path, const char *socket);

// A path as a process with another working directory takes it. False: it is too long.
bool cm_match_live_absolute(const char *path, char *absolute, size_t size);
// Has the server that runs the match of this file copy it to `out`, and prints its answer. 0: done;
// 1: failed, with a message; -1: no server runs it.
int cm_match_live_backup(const char *path, const char *socket, const char *out);

#endif
