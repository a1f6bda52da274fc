// Goal: a check finds what a start would fail by, or a drain. Method: its parts, called in a child
// that is not root where we are.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/record/catalogue/catalogue.h"
#include "server/supervisor/check.h"
#include "tests/unit/cli/command.h"

#define NOBODY 65534

static void keep_text(void *user, const char *text)
{
    snprintf(user, 512, "%s", text);
}

// The status that a part of the check has for somebody who is not root: its result, or 100 where
// its text has not `said`.
static int run_part(const char *name, const cm_config *config, const char *said)
{
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        char *const none[] = {NULL};
        char text[512] = "";
        const cm_check check = {
            .config = config, .environment = none, .wrong = keep_text, .user = text};
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(101);
        }
        for (uint32_t i = 0; i < CM_SERVE_CHECKS; i++) {
            if (strcmp(cm_server_checks[i].name, name) == 0) {
                carom_result result = cm_server_checks[i].run(&check);
                _exit(strstr(text, said) != NULL ? (int)result : 100);
            }
        }
        _exit(102);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 103;
}

// Settings that are refused do not hide each other, nor what is checked apart from them.
Test(check, every_setting_that_is_refused_is_told)
{
    char directory[] = "/tmp/carom-check-test-XXXXXX", path[64], arguments[256];
    command_result result;
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/bad.json", directory);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("{\"max_players\": 65, \"tick_rat\": 3,\n\"listen\": \"nowhere\", \"rooms\": {\n"
          "\"one\": \"tests/scenes/bad/mass_zero.json\", \"two\": \"none.json\"}}",
          file);
    fclose(file);
    setenv("CAROM_REWIND_MS", "many", 1);
    snprintf(arguments, sizeof arguments,
             "serve --check-config --config %s --max-clients 9999 --matches README.md", path);
    run_command(arguments, &result);
    cr_expect_eq(result.status, 2);
    const char *told[] = {"bad.json:1: max_players: 65",
                          "bad.json:1: unknown key 'tick_rat'",
                          "bad.json:2: listen: 'nowhere'",
                          "CAROM_REWIND_MS: rewind_ms: 'many'",
                          "--max-clients: max_clients: 9999",
                          "README.md: Not a directory",
                          "mass_zero.json:",
                          "none.json: "};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        cr_expect_not_null(strstr(result.err, told[i]), "'%s' in: %s", told[i], result.err);
    }
    cr_expect_null(strstr(result.err, "key: expected"), "what hangs on listen: %s", result.err);
    cr_assert_eq(unlink(path) + rmdir(directory), 0);
}

// Matches get into its index when they end: a drain would end with status 1.
Test(check, a_catalogue_that_cannot_be_written_to_is_wrong)
{
    char directory[] = "/tmp/carom-check-test-XXXXXX", arguments[512];
    command_result result;
    cm_config config;
    cr_assert_not_null(mkdtemp(directory));
    cm_config_default(&config);
    snprintf(config.db, sizeof config.db, "%s/carom.db", directory);
    cr_assert_eq(chmod(directory, 0777), 0);
    cr_expect_eq(run_part("catalogue", &config, ""), CAROM_OK, "it can be made");
    snprintf(arguments, sizeof arguments, "scene import tests/scenes/hello.json --db %s",
             config.db);
    run_command(arguments, &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_eq(chmod(config.db, 0666), 0);
    cr_expect_eq(run_part("catalogue", &config, ""), CAROM_OK);
    cr_assert_eq(chmod(config.db, 0444), 0);
    cr_expect_eq(run_part("catalogue", &config, "carom.db: Permission denied"), CAROM_ERROR_IO);
    cr_assert_eq(chmod(config.db, 0666) + chmod(directory, 0555), 0);
    cr_expect_eq(run_part("catalogue", &config, "its directory: "), CAROM_ERROR_IO,
                 "no journal can be made");
    cr_assert_eq(unlink(config.db), 0);
    cr_expect_eq(run_part("catalogue", &config, "where one can be made"), CAROM_ERROR_IO);
    cr_assert_eq(rmdir(directory), 0);
}
