// Runs the real binary for a test: CAROM_BINARY, or build/release/carom.
#ifndef CM_TESTS_CLI_COMMAND_H
#define CM_TESTS_CLI_COMMAND_H

#include <stddef.h>

typedef struct command_result {
    int status; // exit status, -1 where a signal ended it
    char out[1 << 16];
    char err[4096];
} command_result;

// `arguments` go through the shell, after the binary's path. Output is cut at the buffers' size.
void run_command(const char *arguments, command_result *result);

#endif
