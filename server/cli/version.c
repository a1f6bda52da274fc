// `carom version`: what this binary is, so that a report of a fault can name it.
#include <stdio.h>

#include "carom/types.h"
#include "server/cli/cli.h"
#include "server/ops/parts.h"
#include "server/ops/version.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

static void print_parts(bool built, const char *title)
{
    const char *between = " ";
    printf("%s", title);
    for (uint32_t i = 0; i < CM_PART_COUNT; i++) {
        if (cm_parts[i].is_built == built) {
            printf("%s%s", between, cm_parts[i].name);
            between = ", ";
            if (!built) {
                printf(" (%s: %s)", cm_parts[i].package, cm_parts[i].gives);
            }
        }
    }
    printf("%s\n", between[0] == ' ' ? " none" : "");
}

static int run_command(int argc, char **argv)
{
    int status = cm_cli_options(argc, argv, NULL, 0, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    printf("carom %s\nengine %d\ncommit %s\ncompiler %s\n", cm_version_number, CAROM_ENGINE_VERSION,
           cm_version_commit, COMPILER);
    print_parts(true, "parts");
    print_parts(false, "left out");
    return cm_cli_finish(CM_STATUS_DONE);
}

const cm_command cm_version_command = {
    "version", run_command,
    "version, engine version, commit, compiler, parts that are built and left out\n"
    "usage: carom version\n",
    NULL};
