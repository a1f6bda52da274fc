// The frame of the commands and `carom scene`, by the real binary: statuses, the form of messages,
// a database that is good, absent, foreign or broken.
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/node/node_rooms.h"
#include "tests/unit/cli/command.h"

static command_result result;
static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/carom_cmd_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(commands, .init = make_folder, .fini = remove_folder);

static void run(const char *format, const char *second)
{
    char command[512];
    snprintf(command, sizeof command, format, folder, second);
    run_command(command, &result);
}

Test(commands, unknown)
{
    run_command("fly", &result);
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "carom: unknown command 'fly'"));
    run_command("", &result);
    cr_expect_eq(result.status, 2);
    run_command("worker 0", &result); // of a server's alone
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "carom: worker: carom serve starts it"), "%s",
                       result.err);
}

// A subcommand's messages have its whole name, and point to a page that is there; numbers of
// players and clients are whole, and not cut to what fits.
Test(commands, subcommands_say_what_is_wrong)
{
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"match info --fly", "carom: match info: unknown option '--fly', see 'carom help match'"},
        {"match diff a b c", "carom: match diff: unexpected argument 'c', see 'carom help match'"},
        {"match prune --keep x", "carom: match prune: --keep: 'x', expected"},
        {"match backup a", "carom: match backup: expected --out FILE"},
        {"match erase-player a --client-id 18446744073709551616",
         "carom: match erase-player: --client-id: '18446744073709551616', expected"},
        {"match erase-player a", "carom: match erase-player: expected --client-id N"},
        {"admin kick lobby x", "carom: admin: kick: 'x', expected a player's number"},
        {"admin ban 18446744073709551616", "carom: admin: ban: '18446744073709551616', expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_command(cases[i].arguments, &result);
        cr_expect_eq(result.status, 2, "%s", cases[i].arguments);
        cr_expect_not_null(strstr(result.err, cases[i].says), "%s: %s", cases[i].arguments,
                           result.err);
    }
}

// The table itself: every row has its summary in `carom help`, and a page.
Test(commands, help_and_version)
{
    run_command("help", &result);
    cr_assert_eq(result.status, 0);
    static char all[sizeof result.out];
    strcpy(all, result.out);
    for (uint32_t i = 0; cm_commands[i] != NULL; i++) {
        const cm_command *row = cm_commands[i];
        char line[256], text[128];
        snprintf(line, sizeof line, "\n  %-9s %.*s\n", row->name, (int)strcspn(row->help, "\n"),
                 row->help);
        cr_expect_not_null(strstr(all, line), "%s", row->name);
        cr_expect_eq(cm_command_find(row->name), row);
        snprintf(text, sizeof text, "help %s", row->name);
        run_command(text, &result);
        cr_expect_eq(result.status, 0, "%s", row->name);
        snprintf(text, sizeof text, "usage: carom %s", row->name);
        cr_expect_not_null(strstr(result.out, text), "%s", row->name);
        const char *const spellings[] = {"%s --help", "%s -h", "%s word --help", "help %s word"};
        for (int k = 0; k < 4; k++) {
            static char page[sizeof result.out];
            strcpy(page, result.out);
            snprintf(text, sizeof text, spellings[k], row->name);
            run_command(text, &result);
            cr_expect_eq(result.status, 0, "%s", text);
            cr_expect_str_eq(result.out, page, "%s", text);
        }
    }
    run_command("help fly", &result);
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "unknown command 'fly'"), "%s", result.err);
    run_command("version", &result);
    cr_expect_eq(result.status, 0);
    cr_expect_not_null(strstr(result.out, "\nengine "));
    cr_expect_not_null(strstr(result.out, "\ncommit "));
    cr_expect_not_null(strstr(result.out, "\ncompiler "));
    run_command("version extra", &result);
    cr_expect_eq(result.status, 2);
    run_command("help >/dev/full", &result);
    cr_expect_eq(result.status, 1);
}

// Nothing is made where there is nothing to read, and the message says what was expected.
Test(commands, missing_database)
{
    const char *commands[] = {"scene list --db %s/none.db", "scene export a --db %s/none.db",
                              "scene delete a --db %s/none.db", "sim a --db %s/none.db",
                              "serve --insecure --scene a --db %s/none.db"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        run(commands[i], NULL);
        cr_expect_eq(result.status, 2, "%s", commands[i]);
        cr_expect_not_null(strstr(result.err, "none.db: cannot be opened: No such file"), "%s",
                           result.err);
        cr_expect_not_null(strstr(result.err, "expected a database"), "%s", result.err);
    }
    run("scene import tests/scenes/hello.json --db %s/no/where.db", NULL);
    cr_expect_eq(result.status, 1);
    cr_expect_not_null(strstr(result.err, "No such file or directory"), "%s", result.err);
    run("serve --insecure --scene tests/scenes/hello.json --matches README.md --db %s/a.db", NULL);
    cr_expect_eq(result.status, 1);
    cr_expect_not_null(strstr(result.err, "README.md: Not a directory"), "%s", result.err);
}

// What only the use of a scene shows still has its line.
Test(commands, module_that_is_not_built_in)
{
    char file[128];
    snprintf(file, sizeof file, "%s/m.json", folder);
    FILE *out = fopen(file, "w");
    fputs("{\"carom\": 1,\n \"name\": \"m\",\n \"module\": \"chess\"}\n", out);
    fclose(out);
    const char *commands[] = {"scene validate %s/m.json", "scene import %s/m.json --db none.db",
                              "sim %s/m.json", "serve --insecure --scene %s/m.json"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        run(commands[i], NULL);
        cr_expect_eq(result.status, 2, "%s", commands[i]);
        cr_expect_not_null(strstr(result.err, "m.json:3: $.module: no module 'chess'"), "%s",
                           result.err);
    }
}

Test(commands, bots_say_why)
{
    run_command("bots --connect 127.0.0.1:9 --count 2 --predict 3", &result);
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "--predict: 3, expected at most the 2"), "%s",
                       result.err);
    run_command("bots --connect nowhere.invalid:9 --count 2", &result);
    cr_expect_eq(result.status, 1);
    cr_expect_not_null(strstr(result.err, "'nowhere.invalid' has no address"), "%s", result.err);
    cr_expect_not_null(strstr(result.out, "\"connected\":0,"), "%s", result.out);
}

// As serve would start it.
static void expect_room_of_catalogue(void)
{
    static cm_config config;
    static cm_node_rooms rooms;
    cm_failure failure;
    cm_config_default(&config);
    snprintf(config.db, sizeof config.db, "%s/a.db", folder);
    cr_assert_eq(cm_node_rooms_load(&config, &rooms, NULL, &failure), CAROM_OK, "%s", failure.text);
    cr_assert_eq(rooms.count, 1);
    cr_expect_str_eq(rooms.rooms[0].spec.name, "hall");
    cr_expect_eq(rooms.rooms[0].spec.max_players, 3);
    cr_expect_eq(rooms.rooms[0].tick_rate, 30);
    cm_node_rooms_free(&rooms);
}

Test(commands, scene_database)
{
    run("scene import tests/scenes/hello.json --db %s/a.db", NULL);
    cr_assert_eq(result.status, 0, "%s", result.err);
    run("scene import tests/scenes/hello.json --db %s/a.db --name other", NULL);
    cr_assert_eq(result.status, 0, "%s", result.err);
    run("scene import tests/scenes/hello.json --db %s/a.db", NULL);
    cr_assert_eq(result.status, 0, "a scene may be imported again");
    run("scene list --db %s/a.db", NULL);
    cr_assert_eq(result.status, 0);
    cr_assert_eq(strncmp(result.out, "hello\t14 bodies\t", 16), 0, "%s", result.out);
    cr_assert_not_null(strstr(result.out, "\nother\t"));
    cr_expect_not_null(strstr(result.out, ".000Z\tversion "), "as the log has times");

    run("scene rooms --add 'hall=hello:max_players=3:tick_rate=30' --db %s/a.db", NULL);
    cr_expect_eq(result.status, 0, "%s", result.err);
    run("scene rooms --db %s/a.db", NULL);
    cr_expect_str_eq(result.out, "hall\thello:max_players=3:tick_rate=30\n");
    static const char *const bad[] = {"hall=hello:max_players=65", "hall=hello,b=hello", "hall",
                                      "hall=none:max_players=3", "hall=hello:colour=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char command[128];
        snprintf(command, sizeof command, "scene rooms --add '%s' --db %%s/a.db", bad[i]);
        run(command, NULL);
        cr_expect_eq(result.status, 2, "%s: %d", bad[i], result.status);
    }
    expect_room_of_catalogue();

    run("scene export hello --db %s/a.db", NULL);
    cr_assert_eq(result.status, 0);
    cr_assert_eq(strncmp(result.out, "{\n  \"carom\": 1,", 15), 0);
    char file[128];
    snprintf(file, sizeof file, "%s/e.json", folder);
    FILE *out = fopen(file, "w");
    fputs(result.out, out);
    fclose(out);
    static char first[1 << 16];
    run("sim %s/e.json --ticks 30", NULL);
    strcpy(first, result.out);
    run("sim hello --ticks 30 --db %s/a.db", NULL);
    cr_assert_str_eq(result.out, first);
    run_command("sim tests/scenes/hello.json --ticks 30", &result);
    cr_assert_str_eq(result.out, first);

    run("scene show other --db %s/a.db", NULL);
    cr_assert_eq(result.status, 0);
    cr_assert_not_null(strstr(result.out, "\"bodies\": 14"));
    run("scene delete other --db %s/a.db", NULL);
    cr_assert_eq(result.status, 0);
    run("scene export other --db %s/a.db", NULL);
    cr_assert_eq(result.status, 2);
    cr_assert_not_null(strstr(result.err, "a.db: no scene 'other', expected a name"), "%s",
                       result.err);
}

Test(commands, scene_database_that_is_none)
{
    run("scene list --db %s", NULL);
    cr_expect_eq(result.status, 1);
    char path[128];
    snprintf(path, sizeof path, "%s/text.db", folder);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 2000; i++) {
        fputs("this is not a database\n", file);
    }
    fclose(file);
    const char *verbs[] = {"list", "export x", "import tests/scenes/hello.json", "delete x"};
    for (size_t i = 0; i < 4; i++) {
        char command[256];
        snprintf(command, sizeof command, "scene %s --db %s", verbs[i], path);
        run_command(command, &result);
        cr_expect_eq(result.status, 2, "%s: %d %s", verbs[i], result.status, result.err);
        cr_expect_not_null(strstr(result.err, "text.db: "), "%s", result.err);
    }
    // A database without our table.
    run("scene import tests/scenes/hello.json --db %s/b.db", NULL);
    run("scene export hello --db %s/b.db", NULL);
    cr_expect_eq(result.status, 0);
}

Test(commands, scene_usage)
{
    const char *bad[] = {"scene",
                         "scene import",
                         "scene list x",
                         "scene fly x",
                         "scene export x y",
                         "scene list --name x",
                         "scene --db x",
                         "scene validate tests/scenes/none.json"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        run_command(bad[i], &result);
        cr_expect_eq(result.status, 2, "%s: %d", bad[i], result.status);
        cr_expect_eq(strncmp(result.err, "carom: ", 7), 0, "%s: %s", bad[i], result.err);
    }
    run_command("scene validate tests/scenes/shapes.json", &result);
    cr_expect_eq(result.status, 0);
    cr_expect_str_eq(result.out, "");
    cr_expect_str_eq(result.err, "");
}

// Names come from files, databases and arguments of strangers; a terminal that obeyed the control
// characters in them could be made to show anything.
Test(commands, names_reach_the_terminal_as_text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/c.db", folder);
    run("scene import tests/scenes/hello.json --db %s/c.db", NULL);
    cr_assert_eq(result.status, 0, "%s", result.err);
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db,
                              "UPDATE scenes SET name = 'a' || char(27) || '[31m' || char(155) || "
                              "char(127) || char(10) || 'b'",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(db);
    run("scene list --db %s/c.db", NULL);
    cr_expect_eq(result.status, 0);
    cr_expect_eq(strncmp(result.out, "a\\x1b[31m\\xc2\\x9b\\x7f\\x0ab\t", 26), 0, "%s", result.out);
    const char *commands[] = {"\"$(printf 'fly\\033[31m')\"",
                              "sim \"$(printf 'a\\033]0;b\\007.json')\"",
                              "scene show \"$(printf 'a\\233b')\" --db %s/c.db",
                              ("scene import tests/scenes/hello.json --name \"$(printf "
                               "'a\\033')\" --db %s/c.db"),
                              "help \"$(printf '\\302\\233')\"",
                              "serve \"$(printf -- '--\\033')\""};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        run(commands[i], NULL);
        cr_expect_eq(result.status, 2, "%s", commands[i]);
        for (const unsigned char *c = (const unsigned char *)result.err; *c != '\0'; c++) {
            cr_expect((*c >= 0x20 && *c < 0x7f) || (*c == '\n' && c[1] == '\0'), "%s: %s",
                      commands[i], result.err);
        }
    }
}

// 15,000 that touch were good, and let nobody in; now they are, and 65,000 are not without a word.
Test(commands, a_world_too_large_to_join_is_told)
{
    char path[] = "/tmp/carom-large-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    dprintf(
        file,
        "{\"carom\":1,\"name\":\"large\",\"bounds\":[[-9,-9,-9],[199,9,199]],\"limits\":{"
        "\"bodies\":"
        "65536,\"shapes\":65536,\"contacts\":400000},\"arrays\":[{\"name\":\"cube\",\"count\":[256,"
        "1,"
        "255],\"spacing\":[0.399,1,0.399],\"of\":{\"shapes\":[{\"box\":{\"half_extents\":[0.2,0.2,"
        "0.2]}}]}}]}");
    close(file);
    char command[128];
    snprintf(command, sizeof command, "scene validate %s", path);
    run_command(command, &result);
    cr_assert_eq(result.status, 0);
    cr_assert_not_null(strstr(result.err, "as a keyframe"), "%s", result.err);
    unlink(path);
}
