// `carom version`: what this binary is, so that a report of a fault can name it.
#include <stdio.h>

#include "carom/types.h"
#include "server/cli/cli.h"

#ifndef CAROM_VERSION
#define CAROM_VERSION "0.1.0"
#endif
#ifndef CAROM_COMMIT
#define CAROM_COMMIT "unknown"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

const char cm_version_number[] = CAROM_VERSION, cm_version_commit[] = CAROM_COMMIT;
const char cm_version_text[] = CAROM_VERSION " (" CAROM_COMMIT ")";

static int run_command(int argc, char **argv)
{
    int status = cm_cli_options(argc, argv, NULL, 0, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    printf("carom %s\nengine %d\ncommit %s\ncompiler %s\n", CAROM_VERSION, CAROM_ENGINE_VERSION,
           CAROM_COMMIT, COMPILER);
    return cm_cli_finish(CM_STATUS_DONE);
}

const cm_command cm_version_command = {"version", run_command,
                                       "version, engine version, commit, compiler\n"
                                       "usage: carom version\n",
                                       NULL};
