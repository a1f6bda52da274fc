// `carom worker`: what `carom serve` starts for each of its workers. Not in the list of commands.
#include "server/cli/cli.h"
#include "server/node/node_process.h"

static int run_command(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    carom_result result = cm_node_process();
    if (result == CAROM_ERROR_STATE) {
        return cm_cli_usage("worker: carom serve starts it");
    }
    return cm_cli_finish(result == CAROM_OK ? CM_STATUS_DONE : CM_STATUS_FAILED);
}

const cm_command cm_worker_command = {"worker", run_command,
                                      "a process of carom serve, which starts it\n"
                                      "usage: carom serve --workers N\n",
                                      NULL};
