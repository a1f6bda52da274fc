// Goal: deploy/deps.sh waits where another apt is at work, and gives up where it is something else.
// Method: the script with programs of the test's own in the place of apt-get, dpkg-query, sudo and
// sleep; what they were called with is read back.
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/carom_dep_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(deps, .init = make_folder, .fini = remove_folder);

static void put_program(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    snprintf(path, sizeof path, "chmod +x %s/%s", folder, name);
    cr_assert_eq(system(path), 0);
}

// What apt was called with, a line each; `apt` is the text of apt-get behind that.
static int run(const char *apt, char calls[4096])
{
    char text[1024], command[512];
    snprintf(text, sizeof text, "echo \"$*\" >>%s/calls\n%s", folder, apt);
    put_program("apt-get", text);
    put_program("dpkg-query", "exit 1");
    put_program("sudo", "exec \"$@\"");
    put_program("sleep", "exit 0");
    snprintf(command, sizeof command,
             "rm -f %s/calls; PATH=%s:$PATH bash deploy/deps.sh run >%s/out 2>&1", folder, folder,
             folder);
    int status = system(command);
    snprintf(command, sizeof command, "%s/calls", folder);
    FILE *file = fopen(command, "r");
    cr_assert_not_null(file);
    calls[fread(calls, 1, 4095, file)] = '\0';
    fclose(file);
    return status;
}

static uint32_t count(const char *text, const char *part)
{
    uint32_t found = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        found++;
    }
    return found;
}

Test(deps, waits_for_apts_locks)
{
    char calls[4096], apt[256];
    cr_expect_eq(run("exit 0", calls), 0);
    cr_expect_eq(count(calls, "-o DPkg::Lock::Timeout="), 2, "%s", calls);
    cr_expect_not_null(strstr(calls, " install -y "), "%s", calls);
    // The lists are held twice.
    snprintf(apt, sizeof apt,
             "[ $(wc -l <%s/calls) -gt 2 ] || { echo E: Could not get lock /var/lib/apt/lists/lock"
             " >&2; exit 100; }",
             folder);
    cr_expect_eq(run(apt, calls), 0);
    cr_expect_eq(count(calls, " update"), 3, "%s", calls);
    cr_expect_eq(count(calls, " install "), 1, "%s", calls);
    // Without a network nothing is waited for.
    cr_expect_neq(run("echo E: no route >&2; exit 100", calls), 0);
    cr_expect_eq(count(calls, " update"), 1, "%s", calls);
    cr_expect_eq(count(calls, " install "), 0, "%s", calls);
}
