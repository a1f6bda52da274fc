// The real binary by popen; stderr by way of a temporary file.
#include "tests/unit/cli/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void run_command(const char *arguments, command_result *result)
{
    const char *binary = getenv("CAROM_BINARY");
    char errors[] = "/tmp/carom_test_XXXXXX", command[4096], rest[4096];
    int fd = mkstemp(errors);
    cr_assert_geq(fd, 0);
    close(fd);
    // The suite's own variable looks like a setting to the binary.
    snprintf(command, sizeof command, "unset CAROM_BINARY; %s %s 2>%s",
             binary != NULL ? binary : "build/release/carom", arguments, errors);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    size_t size = fread(result->out, 1, sizeof result->out - 1, pipe);
    result->out[size] = '\0';
    while (fread(rest, 1, sizeof rest, pipe) > 0) {
    }
    int status = pclose(pipe);
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    FILE *file = fopen(errors, "r");
    size = fread(result->err, 1, sizeof result->err - 1, file);
    result->err[size] = '\0';
    fclose(file);
    unlink(errors);
}
