// `carom help [COMMAND]`: what each command does, its options, its output. The pages stand in the
// commands' own files.
#include <stdio.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/cli/manual.h"

void cm_cli_print_help(void *out, const cm_command *command)
{
    fprintf(out, "carom %s: %s", command->name, command->help);
    if (command->more != NULL) {
        command->more(out);
    }
}

static int help_of(const char *name)
{
    const cm_command *command = cm_command_find(name);
    if (command == NULL) {
        return cm_cli_usage("help: unknown command '%s', see 'carom help'", name);
    }
    cm_cli_print_help(stdout, command);
    return cm_cli_finish(CM_STATUS_DONE);
}

static int run_command(int argc, char **argv)
{
    const char *names[2]; // a command, and a word of its own: the page is the command's
    uint32_t count = 0;
    bool man = false, completion = false;
    const cm_option options[] = {
        {.name = "man", .kind = CM_OPTION_FLAG, .value = &man},
        {.name = "completion", .kind = CM_OPTION_FLAG, .value = &completion},
    };
    int status = cm_cli_options(argc, argv, options, 2, names, 2, &count);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if ((count > 0) + man + completion > 1) {
        return cm_cli_usage("help: expected a command, --man or --completion, one of them");
    }
    if (man || completion) {
        (man ? cm_manual_print : cm_completion_print)(stdout);
        return cm_cli_finish(CM_STATUS_DONE);
    }
    if (count > 0) {
        return help_of(names[0]);
    }
    printf("carom: multiplayer physics matches, deterministic and recorded\n\n"
           "usage: carom COMMAND [arguments]\n\n");
    for (uint32_t i = 0; cm_commands[i] != NULL; i++) {
        const cm_command *command = cm_commands[i];
        printf("  %-9s %.*s\n", command->name, (int)strcspn(command->help, "\n"), command->help);
    }
    printf("\nexit status: 0 done, 1 the operation failed, 2 bad usage or bad input\n");
    return cm_cli_finish(CM_STATUS_DONE);
}

const cm_command cm_help_command = {
    "help", run_command,
    "this, or the help of one command\n"
    "usage: carom help [COMMAND]\n"
    "       carom help --man|--completion\n"
    "\n"
    "  --man         all pages as carom(1): carom help --man | man -l -\n"
    "  --completion  a script for bash: . <(carom help --completion)\n",
    NULL};
