// The frame of `carom`: its commands, their statuses, and the messages that all of them share.
//
// A command takes its own name as argv[0] and returns the exit status. Messages go to stderr as
// `carom: FILE:LINE: what is wrong, what was expected`, or `carom: COMMAND: …` where no file is at
// fault; names that come from files and networks reach the terminal without control characters. A
// command that prints ends with cm_cli_finish.
#ifndef CM_SERVER_CLI_CLI_H
#define CM_SERVER_CLI_CLI_H

#include "server/config/options.h"
#include "server/ops/failure.h"
#include "shared/scene/scene.h"

#define CM_STATUS_DONE   0
#define CM_STATUS_FAILED 1 // the operation failed: divergence, input or output
#define CM_STATUS_USAGE  2 // bad usage or bad input

// A macro's number as text, so that a help page has the number that the program uses.
#define CM_HELP_TEXT(number) #number
#define CM_HELP(number)      CM_HELP_TEXT(number)

typedef struct cm_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;        // the first line sums it up; the page follows
    void (*more)(void *out); // prints what follows the page, on a FILE; NULL: nothing
} cm_command;

extern const cm_command cm_serve_command, cm_sim_command, cm_scene_command, cm_bots_command,
    cm_replay_command, cm_match_command, cm_bench_command, cm_eval_command, cm_plot_command,
    cm_token_command, cm_api_command, cm_admin_command, cm_module_command, cm_capacity_command,
    cm_doctor_command, cm_help_command, cm_version_command, cm_worker_command;

// Every command of the product, in the order of the help; NULL ends it.
extern const cm_command *const cm_commands[];
const cm_command *cm_command_find(const char *name);

// Runs `carom ARGV`: argv[0] is the program. The body of main, callable from tests.
int cm_cli_run(int argc, char **argv);

// The help page of a command on `out` (a FILE).
void cm_cli_print_help(void *out, const cm_command *command);

// Reads the options of a command: CM_STATUS_DONE, or CM_STATUS_USAGE after a message.
int cm_cli_options(int argc, char **argv, const cm_option *options, uint32_t option_count,
                   const char **positional, uint32_t positional_capacity,
                   uint32_t *positional_count);

// A client's id, 1 or more, as the text of --client-id (NULL: not given); false after a message.
bool cm_cli_client_id(const char *command, const char *text, uint64_t *id);

// `carom: ` and the message on stderr, one line; returns `status`.
int cm_cli_tell(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cm_cli_error(...)  ((void)cm_cli_tell(CM_STATUS_DONE, __VA_ARGS__))
#define cm_cli_usage(...)  cm_cli_tell(CM_STATUS_USAGE, __VA_ARGS__)
#define cm_cli_failed(...) cm_cli_tell(CM_STATUS_FAILED, __VA_ARGS__)
// The exit status of a result; a failure's text goes to stderr, where it has one.
int cm_cli_status(carom_result result, const cm_failure *failure);
// A refused file in the same form: `carom: FILE:LINE: $.path: message`.
void cm_cli_scene_error(const char *file, const cm_scene_error *error);
// Flushes stdout: `status`, or CM_STATUS_FAILED with a message where not all was written.
int cm_cli_finish(int status);

#endif
