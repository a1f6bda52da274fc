// Finds the command that was asked for and runs it; the messages that all commands share.
//
// The commands of the product that later issues build are known by name, so that they answer
// "not built yet" instead of "unknown command". serve, bots, replay and match are weak references:
// a build without one of them links and says so.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/tools/cli/cli.h"

extern int cm_cli_serve(int argc, char **argv) __attribute__((weak));
extern int cm_cli_bots(int argc, char **argv) __attribute__((weak));
extern int cm_cli_replay(int argc, char **argv) __attribute__((weak));
extern int cm_cli_match(int argc, char **argv) __attribute__((weak));
extern int cm_cli_sim(int argc, char **argv) __attribute__((weak));
extern int cm_cli_scene(int argc, char **argv) __attribute__((weak));

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv); // NULL: not built yet
} command;

void cm_cli_error(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "carom: %s\n", line);
}

void cm_cli_scene_error(const char *file, const cm_scene_error *error)
{
    const char *separator = error->path[0] != '\0' ? ": " : "";
    if (error->line > 0) {
        cm_cli_error("%s:%u: %s%s%s", file, (unsigned)error->line, error->path, separator,
                     error->message);
    } else {
        cm_cli_error("%s: %s%s%s", file, error->path, separator, error->message);
    }
}

int cm_cli_finish(int status)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cm_cli_error("standard output: %s", errno != 0 ? strerror(errno) : "write failed");
        return CM_STATUS_FAILED;
    }
    return status;
}

int cm_cli_run(int argc, char **argv)
{
    const command commands[] = {
        {"help", cm_cli_help},     {"version", cm_cli_version}, {"sim", cm_cli_sim},
        {"scene", cm_cli_scene},   {"serve", cm_cli_serve},     {"bots", cm_cli_bots},
        {"replay", cm_cli_replay}, {"match", cm_cli_match},     {"token", NULL},
        {"eval", cm_cli_eval},     {"plot", cm_cli_plot},       {"module", NULL},
        {"admin", NULL},           {"capacity", NULL},          {"doctor", NULL},
        {"bench", cm_cli_bench},
    };
    if (argc < 2) {
        cm_cli_error("no command given, see 'carom help'");
        return CM_STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        name = "help";
    } else if (strcmp(name, "--version") == 0) {
        name = "version";
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
        if (strcmp(name, commands[i].name) != 0) {
            continue;
        }
        if (argc > 2 && strcmp(argv[2], "--help") == 0) {
            cm_cli_print_help(stdout, name);
            return cm_cli_finish(CM_STATUS_DONE);
        }
        if (commands[i].run == NULL) {
            cm_cli_error("%s: not built yet", name);
            return CM_STATUS_USAGE;
        }
        return commands[i].run(argc - 1, argv + 1);
    }
    cm_cli_error("unknown command '%s', see 'carom help'", name);
    return CM_STATUS_USAGE;
}
