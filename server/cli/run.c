// The table of commands; finds the one that was asked for and runs it. Typical: one run a process.
#include <stdio.h>
#include <string.h>

#include "server/cli/cli.h"

const cm_command *const cm_commands[] = {
    &cm_serve_command,  &cm_sim_command,      &cm_scene_command,
    &cm_bots_command,   &cm_replay_command,   &cm_match_command,
    &cm_bench_command,  &cm_eval_command,     &cm_plot_command,
    &cm_token_command,  &cm_api_command,      &cm_admin_command,
    &cm_module_command, &cm_capacity_command, &cm_doctor_command,
    &cm_help_command,   &cm_version_command,  NULL,
};

const cm_command *cm_command_find(const char *name)
{
    for (uint32_t i = 0; cm_commands[i] != NULL; i++) {
        if (strcmp(cm_commands[i]->name, name) == 0) {
            return cm_commands[i];
        }
    }
    return strcmp(cm_worker_command.name, name) == 0 ? &cm_worker_command : NULL;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int cm_cli_run(int argc, char **argv)
{
    if (argc < 2) {
        return cm_cli_usage("no command given, see 'carom help'");
    }
    const char *name = argv[1];
    if (is_help(name)) {
        name = "help";
    } else if (strcmp(name, "--version") == 0) {
        name = "version";
    }
    const cm_command *command = cm_command_find(name);
    if (command == NULL) {
        return cm_cli_usage("unknown command '%s', see 'carom help'", name);
    }
    // Its page has its own words too: `carom match diff --help`.
    if (argc > 2 && is_help(argv[argc > 3 && argv[2][0] != '-' ? 3 : 2])) {
        cm_cli_print_help(stdout, command);
        return cm_cli_finish(CM_STATUS_DONE);
    }
    return command->run(argc - 1, argv + 1);
}
