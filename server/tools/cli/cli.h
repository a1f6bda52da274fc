// The commands of `carom`. Each takes its own name as argv[0] and returns the exit status:
// 0 done, 1 the operation failed (divergence, I/O), 2 bad usage or bad input.
//
// Messages go to stderr as `carom: FILE:LINE: what is wrong, what was expected`, or
// `carom: COMMAND: …` where no file is at fault. A command that prints ends with cm_cli_finish.
#ifndef CM_SERVER_TOOLS_CLI_CLI_H
#define CM_SERVER_TOOLS_CLI_CLI_H

#include "shared/scene/scene.h"

#define CM_STATUS_DONE   0
#define CM_STATUS_FAILED 1
#define CM_STATUS_USAGE  2

int cm_cli_help(int argc, char **argv);
int cm_cli_version(int argc, char **argv);
int cm_cli_sim(int argc, char **argv);
int cm_cli_scene(int argc, char **argv);
int cm_cli_serve(int argc, char **argv);
int cm_cli_bots(int argc, char **argv);
int cm_cli_replay(int argc, char **argv);
int cm_cli_match(int argc, char **argv);
int cm_cli_bench(int argc, char **argv);
int cm_cli_plot(int argc, char **argv);
int cm_cli_eval(int argc, char **argv);

// Runs `carom ARGV`: argv[0] is the program. What main does, callable from tests.
int cm_cli_run(int argc, char **argv);

// Help of one command on `out` (a FILE), or false for a command that has none.
bool cm_cli_print_help(void *out, const char *command);

// What `carom help eval` says of each case, on `out` (a FILE).
void cm_cli_eval_help(void *out);

// `carom: ` and the message on stderr, one line.
void cm_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A refused scene, in the same form: `carom: FILE:LINE: $.path: message`.
void cm_cli_scene_error(const char *file, const cm_scene_error *error);
// Flushes stdout: `status`, or CM_STATUS_FAILED with a message where not all was written.
int cm_cli_finish(int status);

#endif
