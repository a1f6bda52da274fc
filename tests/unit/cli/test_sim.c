// `carom sim` by the real binary: what it prints, its inputs, its statuses. Method: small scenes
// and files of inputs written to a temporary folder; numbers against closed forms.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cli/command.h"

static char folder[64];
static command_result result;

static void make_folder(void)
{
    strcpy(folder, "/tmp/carom_sim_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_sim, .init = make_folder, .fini = remove_folder);

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

// Runs `carom sim FOLDER/s.json ARGUMENTS`, where @ stands for the folder.
static void sim(const char *arguments)
{
    char command[1024];
    size_t at = (size_t)snprintf(command, sizeof command, "sim %s/s.json ", folder);
    for (const char *c = arguments; *c != '\0' && at < sizeof command - 80; c++) {
        if (*c == '@') {
            at += (size_t)snprintf(command + at, sizeof command - at, "%s", folder);
        } else {
            command[at++] = *c;
        }
    }
    command[at] = '\0';
    run_command(command, &result);
}

// The n-th line of the output.
static const char *line(int n)
{
    const char *at = result.out;
    for (int i = 0; i < n && at != NULL; i++) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    cr_assert_not_null(at, "no line %d in: %s", n, result.out);
    return at;
}

static double number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    cr_assert_not_null(at, "no %s", key);
    return strtod(at + strlen(key), NULL);
}

#define ZEROS_64   "0000000000000000000000000000000000000000000000000000000000000000"
#define BALL       "\"shapes\": [{\"sphere\": {\"radius\": 0.5}}]"
#define NO_GRAVITY "{\"carom\": 1, \"gravity\": [0, 0, 0], \"bodies\": "
#define FREE       NO_GRAVITY "[{\"name\": \"a\", \"mass\": 2, " BALL "}]}"

Test(cli_sim, lines_of_hello)
{
    run_command("sim tests/scenes/hello.json --ticks 10 --every 4", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    const int ticks[] = {0, 4, 8, 10};
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(number(line(i), "\"tick\": "), ticks[i]);
        cr_expect_float_eq(number(line(i), "\"time\": "), ticks[i] / 60.0, 1e-8);
    }
    cr_assert_eq(*line(4), '\0');
    const char *start = "{\"tick\": 0, \"time\": 0, \"hash\": \"";
    cr_assert_eq(strncmp(line(0), start, strlen(start)), 0);
    cr_assert_eq(strspn(line(0) + strlen(start), "0123456789abcdef"), 16u);
    cr_assert_not_null(strstr(line(0), "\"joints\": [], \"contacts\": "));
    // Thirteen cubes of 1 kg: twelve in layers at 0.5, 1.7 and 2.9 m, one at 2 m.
    double height = 4 * (0.5 + 1.7 + 2.9) + 2.0;
    cr_assert_float_eq(number(line(0), "\"potential_energy\": "), 9.81 * height, 1e-4);
    cr_assert_float_eq(number(line(0), "\"kinetic_energy\": "), 0.0, 0);
}

Test(cli_sim, energies_of_a_spinning_ball)
{
    write_file("s.json", "{\"carom\": 1, \"gravity\": [0, -2, 0], \"bodies\": [{\"mass\": 3, "
                         "\"position\": [0, 7, 0], \"linear_velocity\": [1, 2, 2], "
                         "\"angular_velocity\": [0, 4, 0], " BALL "}]}");
    sim("--ticks 0");
    cr_assert_eq(result.status, 0, "%s", result.err);
    double inertia = 0.4 * 3 * 0.25;
    cr_expect_float_eq(number(line(0), "\"kinetic_energy\": "), 0.5 * 3 * 9 + 0.5 * inertia * 16,
                       1e-5);
    cr_expect_float_eq(number(line(0), "\"potential_energy\": "), 3 * 2 * 7, 1e-5);
    cr_assert_eq(*line(1), '\0');
}

Test(cli_sim, held_force_until_changed)
{
    write_file("s.json", FREE);
    write_file("i.jsonl", "{\"tick\": 0, \"body\": \"a\", \"force\": [6, 0, 0]}\n"
                          "\n"
                          "{\"tick\": 30, \"body\": \"a\", \"torque\": [0, 1, 0]}\n"
                          "{\"tick\": 60, \"body\": \"a\", \"force\": [0, 0, 0]}\n");
    sim("--ticks 120 --every 60 --inputs @/i.jsonl");
    cr_assert_eq(result.status, 0, "%s", result.err);
    // One second of 6 N on 2 kg: 3 m/s, then none.
    cr_expect_float_eq(number(line(1), "\"linear_velocity\": ["), 3.0, 1e-4);
    cr_expect_float_eq(number(line(2), "\"linear_velocity\": ["), 3.0, 1e-4);
    const char *spin = strstr(line(2), "\"angular_velocity\": [");
    cr_assert_not_null(spin);
    spin = strchr(spin, ',');
    cr_assert_float_eq(strtod(spin + 1, NULL), 1.5 / (0.4 * 2 * 0.25), 1e-3);
}

Test(cli_sim, kinematic_pose)
{
    write_file("s.json",
               "{\"carom\": 1, \"bodies\": [{\"name\": \"k\", \"type\": \"kinematic\", " BALL
               "}]}");
    write_file("i.jsonl", "{\"tick\": 2, \"body\": \"k\", \"position\": [5, 0, 0], "
                          "\"linear_velocity\": [60, 0, 0]}\n");
    sim("--ticks 3 --inputs @/i.jsonl");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_float_eq(number(line(2), "\"position\": ["), 0.0, 0);
    cr_expect_float_eq(number(line(3), "\"position\": ["), 6.0, 1e-5);
}

Test(cli_sim, player_inputs_join_and_move)
{
    // Drive along x at full force, x = 1.0f, z = 0, no buttons.
    write_file("i.jsonl", "{\"tick\": 3, \"player\": 2, \"input\": \"0000803f0000000000\"}\n");
    char command[256];
    snprintf(command, sizeof command,
             "sim tests/scenes/sandbox.json --ticks 40 --every 20 --rollback 4 --inputs %s/i.jsonl "
             "| tail -n 1",
             folder);
    run_command(command, &result);
    cr_assert_not_null(strstr(result.out, "\"creations\": 1, \"difference\": null"), "%s",
                       result.out);
}

Test(cli_sim, csv)
{
    write_file("s.json", FREE);
    sim("--ticks 1 --format csv --timing");
    cr_assert_eq(result.status, 0);
    cr_expect_eq(strncmp(line(0), "tick,time,hash,name,px,py,", 26), 0);
    cr_expect_eq(strncmp(line(1), "0,0,", 4), 0);
    cr_expect_not_null(strstr(line(1), ",a,0,0,0,0,0,0,1,0,0,0,0,0,0,0\n"));
    cr_expect_eq(*line(3), '\0');
    cr_expect_not_null(strstr(result.err, "\"integrate\": "));
}

Test(cli_sim, timing_and_events_in_the_lines)
{
    write_file("s.json", "{\"carom\": 1, \"bodies\": [{\"name\": \"g\", \"type\": \"static\", "
                         "\"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}, "
                         "{\"name\": \"b\", \"position\": [0, 0.6, 0], " BALL "}]}");
    sim("--ticks 60 --every 60 --events --timing");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(line(0), "\"events\": []}"));
    cr_assert_not_null(strstr(line(1), "\"events\": [{\"type\": \"begin\", \"tick\": "));
    cr_assert_not_null(strstr(line(1), "\"a\": \"g\", \"b\": \"b\""));
    cr_assert_not_null(strstr(line(1), "\"timing\": {\"ticks\": 60, \"seconds\": "));
}

// Without a hit_speed of the scene's: from 1 m/s on.
Test(cli_sim, hits_are_events)
{
    const char *fall = "{\"carom\": 1, %s\"bodies\": [{\"name\": \"g\", \"type\": \"static\", "
                       "\"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}, "
                       "{\"name\": \"b\", \"position\": [0, %g, 0], " BALL "}]}";
    const struct {
        const char *key;
        double height; // 0.54 is met at 0.9 m/s, 3 at 6.9
        bool hits;
    } cases[] = {{"", 3.0, true}, {"", 0.54, false}, {"\"hit_speed\": 10, ", 3.0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char scene[512];
        snprintf(scene, sizeof scene, fall, cases[i].key, cases[i].height);
        write_file("s.json", scene);
        sim("--ticks 60 --every 60 --events");
        cr_assert_eq(result.status, 0, "%s", result.err);
        const char *hit = strstr(line(1), "{\"type\": \"hit\", \"tick\": ");
        cr_assert_eq(hit != NULL, cases[i].hits, "case %zu: %s", i, line(1));
        cr_expect(!hit || strstr(hit, "\"speed\": 6.8"), "%s", hit);
    }
}

Test(cli_sim, sleep_and_wake_are_events)
{
    write_file("s.json", "{\"carom\": 1, \"bodies\": [{\"name\": \"g\", \"type\": \"static\", "
                         "\"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]}, "
                         "{\"name\": \"b\", \"position\": [0, 0.5, 0], " BALL "}]}");
    write_file("i.jsonl", "{\"tick\": 50, \"body\": \"b\", \"force\": [0, 90000, 0]}\n");
    sim("--ticks 60 --every 30 --events --inputs @/i.jsonl");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(line(1), "\"asleep\": true}], "), "%s", line(1));
    cr_assert_not_null(strstr(line(1), "{\"type\": \"sleep\", \"tick\": 30, \"body\": \"b\"}"));
    cr_assert_not_null(strstr(line(2), "{\"type\": \"wake\", \"tick\": 51, \"body\": \"b\"}"));
    cr_assert_not_null(strstr(line(2), "\"asleep\": false}], "));
}

// Who only overlaps is told from who touches.
Test(cli_sim, events_of_a_sensor_say_so)
{
    write_file("s.json",
               "{\"carom\": 1, \"bodies\": [{\"name\": \"gate\", \"type\": \"static\", "
               "\"shapes\": [{\"box\": {\"half_extents\": [1, 1, 1]}, \"sensor\": true}]}, "
               "{\"name\": \"b\", \"position\": [0, 2, 0], " BALL "}]}");
    sim("--ticks 60 --every 60 --events");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(line(1), "{\"type\": \"begin\", \"tick\": "));
    cr_assert_not_null(strstr(line(1), "\"impulse\": 0, \"sensor\": true}"), "%s", line(1));
}

Test(cli_sim, rollback_statuses)
{
    run_command("sim tests/scenes/pyramid.json --ticks 20 --every 20 --rollback 7 | tail -n 1",
                &result);
    cr_assert_not_null(strstr(result.out, "{\"ticks\": 20, \"rollback\": 7, \"hash\": \""));
    cr_assert_not_null(strstr(result.out, "\"difference\": null}"));
    run_command("sim tests/scenes/pyramid.json --ticks 3 --rollback 2", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    write_file("s.json", FREE);
    sim("--ticks 3 --rollback 2");
    cr_assert_eq(result.status, 2);
    cr_assert_not_null(strstr(result.err, "nothing ever touched"));
}

typedef struct refusal {
    const char *text, *message;
} refusal;

Test(cli_sim, refused_inputs_name_file_and_line)
{
    const refusal bodies[] = {
        {"\n{\"tick\": 1, \"body\": \"b\", \"force\": [0, 0, 0]}\n",
         "i.jsonl:2: $.body: no such body"},
        {"{\"tick\": 1}\n", "i.jsonl:1: $: keys that do not go together"},
        {"{\"tick\": 2, \"body\": \"a\", \"force\": [0, 0, 0]}\n{\"tick\": 1, \"body\": \"a\", "
         "\"force\": [0, 0, 0]}\n",
         "i.jsonl:2: $.tick: earlier"},
        {"{\"tick\": 1, \"body\": \"a\", \"force\": [0, 0]}\n", "i.jsonl:1: $.force: an array of"},
        {"{\"tick\": 1, \"body\": \"a\", \"position\": [0, 0, 0]}\n", "not kinematic"},
        {"{\"tick\": 1, \"body\": \"a\", \"orientation\": [0, 0, 0, 0.5]}\n",
         "i.jsonl:1: $.orientation: a quaternion of norm 0.5,"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"00\"}\n", "i.jsonl:1: $.player: the scene has"},
        {"{\"tick\": -1, \"body\": \"a\"}\n", "i.jsonl:1: $.tick: -1"},
        {"{\"tick\": 1, \"bodi\": \"a\"}\n", "i.jsonl:1: $.bodi: column 13: unknown key"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"0g\"}\n", "byte 0 is not hexadecimal"},
        {"{\"tick\": 1\n", "i.jsonl:1: $.tick: not JSON"},
    };
    write_file("s.json", FREE);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        write_file("i.jsonl", bodies[i].text);
        sim("--ticks 3 --inputs @/i.jsonl");
        cr_expect_eq(result.status, 2, "%s", bodies[i].text);
        cr_expect_not_null(strstr(result.err, bodies[i].message), "'%s' lacks '%s'", result.err,
                           bodies[i].message);
        cr_expect_str_eq(result.out, "");
    }
    const refusal players[] = {
        {"{\"tick\": 1, \"player\": 0, \"input\": \"00\"}\n", "$.input: 1 bytes, expected 9"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"\"}\n", "$.input: 0 bytes, expected 9"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"" ZEROS_64 ZEROS_64 "\"}\n",
         "$.input: 64 bytes, expected 9"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"" ZEROS_64 ZEROS_64 "00\"}\n",
         "$.input: 130 bytes long, expected a string of 0 to 128"},
        {"{\"tick\": 1, \"player\": 64, \"input\": \"00\"}\n", "$.player: 64, expected 0 to 63"},
        {"{\"tick\": 1, \"player\": -1, \"input\": \"00\"}\n", "$.player: -1, expected 0 to 63"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"0000c07f0000000000\"}\n",
         "$.input: refused by the module"},
        {"{\"tick\": 1, \"player\": 0, \"input\": \"000000000000000000\"}\n{\"tick\": 1, "
         "\"player\": 0, \"input\": \"000000000000000000\"}\n",
         "i.jsonl:2: $.player: a second input"},
    };
    write_file("s.json", "{\"carom\": 1, \"module\": \"sandbox\"}");
    for (size_t i = 0; i < sizeof players / sizeof players[0]; i++) {
        write_file("i.jsonl", players[i].text);
        sim("--ticks 3 --inputs @/i.jsonl");
        cr_expect_eq(result.status, 2, "%s", players[i].text);
        cr_expect_not_null(strstr(result.err, players[i].message), "'%s' lacks '%s'", result.err,
                           players[i].message);
    }
}

// A scene made for one solver runs with another: what only the first reads is left unread. Axes may
// have any length.
Test(cli_sim, a_scene_of_lcp_runs_with_other_solvers)
{
    static const char *const axes[] = {"[0, 0, 1]", "[0, 0, 5]"};
    char text[1024], first[64] = "";
    for (int i = 0; i < 2; i++) {
        snprintf(
            text, sizeof text,
            "{\"carom\": 1, \"solver\": {\"type\": \"lcp\"}, \"bodies\": [{\"name\": \"b\","
            " \"epsilon\": 0.001, \"gamma\": 0.3, \"shapes\": [{\"sphere\": {\"radius\": 1},"
            " \"contact\": {\"mode\": \"1d\", \"axis\": %s}}]}], \"joints\": [{\"a\": \"world\","
            " \"b\": \"b\", \"type\": \"hinge\", \"anchor\": [1, 0, 0], \"axis\": %s,"
            " \"gamma\": 0.1}]}",
            axes[i], axes[i]);
        write_file("s.json", text);
        sim("--ticks 20 --every 20");
        cr_assert_eq(result.status, 0, "%s", result.err);
        const char *hash = strstr(strstr(result.out, "\"tick\": 20"), "\"hash\"");
        cr_assert_not_null(hash);
        cr_expect(i == 0 || strncmp(first, hash, 26) == 0, "%.26s, not %s", hash, first);
        snprintf(first, sizeof first, "%.26s", hash);
        sim("--ticks 20 --solver soft");
        cr_expect_eq(result.status, 0, "%s", result.err);
        sim("--ticks 20 --solver impulse");
        cr_expect_eq(result.status, 2);
        cr_expect_not_null(strstr(result.err, "the impulse solver has no joints"), "%s",
                           result.err);
    }
}

Test(cli_sim, refused_options)
{
    const char *bad[] = {"--ticks -1",
                         "--every 0",
                         "--rollback 0",
                         "--solver hard",
                         "--format xml",
                         "--inputs @/none",
                         "--format csv --events",
                         "--db @/none.db",
                         "extra",
                         "--format csv --rollback 3"};
    write_file("s.json", FREE);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sim(bad[i]);
        cr_expect(result.status == 2 || strstr(bad[i], "--db") != NULL, "%s: %d", bad[i],
                  result.status);
        cr_expect_neq(result.status, 0, "%s", bad[i]);
        cr_expect_eq(strncmp(result.err, "carom: ", 7), 0, "%s: %s", bad[i], result.err);
    }
    run_command("sim", &result);
    cr_expect_eq(result.status, 2);
    write_file("s.json", "{\"carom\": 1, \"module\": \"chess\"}");
    sim("--ticks 1");
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "$.module: no module 'chess'"), "%s", result.err);
}

Test(cli_sim, a_reader_that_goes_away_gives_status_1)
{
    run_command("sim tests/scenes/hello.json --ticks 5 >/dev/full", &result);
    cr_expect_eq(result.status, 1, "%d", result.status);
    run_command("sim tests/scenes/hello.json --ticks 5 >&-", &result);
    cr_expect_eq(result.status, 1, "%d", result.status);
    cr_expect_not_null(strstr(result.err, "carom: standard output: "));
}

// A hanging weight, a hinge and a slider: names, signs and units of what is printed.
Test(cli_sim, joints)
{
    write_file(
        "s.json",
        "{\"carom\": 1, \"bodies\": [{\"name\": \"hung\", \"mass\": 2, " BALL "}, "
        "{\"name\": \"rotor\", \"position\": [5, 0, 0], \"mass\": 1, \"gravity_scale\": 0, " BALL
        "}, {\"name\": \"car\", \"position\": [9, 0, 0], \"mass\": 3, " BALL "}], "
        "\"joints\": [{\"name\": \"hook\", \"a\": \"world\", \"b\": \"hung\", \"anchor\": [0, 1, "
        "0]}, {\"name\": \"axle\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"rotor\", "
        "\"axis\": [0, 0, 2e-1], \"motor\": {\"velocity\": 1.5}}, {\"type\": \"prismatic\", "
        "\"a\": \"world\", \"b\": \"car\", \"axis\": [0, -1, 0], \"break_force\": 50}]}");
    sim("--ticks 60 --every 60");
    cr_assert_eq(result.status, 0, "%s", result.err);
    const char *start =
        "\"joints\": [{\"name\": \"hook\", \"angle\": 0, \"rate\": 0, \"error\": 0, "
        "\"force\": 0, \"torque\": 0}, {\"name\": \"axle\", \"angle\": 0, ";
    cr_assert_not_null(strstr(line(0), start), "%s", line(0));
    const char *hook = strstr(line(1), "\"hook\""), *axle = strstr(line(1), "\"axle\"");
    const char *slide = strstr(line(1), "\"joint_2\", \"position\": ");
    cr_assert(hook != NULL && axle != NULL && slide != NULL, "%s", line(1));
    cr_assert_float_eq(number(hook, "\"force\": "), 2 * 9.81, 0.01);
    cr_assert_lt(number(hook, "\"error\": "), 1e-4);
    cr_assert_float_eq(number(axle, "\"rate\": "), 1.5, 1e-5);
    cr_assert_float_eq(number(axle, "\"angle\": "), 1.5, 1e-2);
    cr_assert_float_eq(number(slide, "\"position\": "), 4.905, 0.05);
    cr_assert_float_eq(number(slide, "\"rate\": "), 9.81, 1e-3);
    cr_assert_lt(number(slide, "\"force\": "), 0.01);
    sim("--ticks 5 --rollback 3");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(result.out, "\"contacts\": 0, \"joints\": 15, "), "%s", result.out);
}

Test(cli_sim, breaks_are_events)
{
    write_file("s.json", "{\"carom\": 1, \"bodies\": [{\"name\": \"hung\", \"mass\": 2, " BALL
                         "}], \"joints\": [{\"name\": \"hook\", \"a\": \"world\", \"b\": \"hung\", "
                         "\"break_force\": 19}]}");
    sim("--ticks 2 --events");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(
        strstr(line(1), "\"events\": [{\"type\": \"break\", \"tick\": 1, \"joint\": \"hook\", "
                        "\"force\": "),
        "%s", line(1));
    cr_assert_not_null(strstr(line(1), "\"joints\": []"));
    cr_assert_not_null(strstr(line(2), "\"events\": []"));
}

// What a run left out is said on stderr, with its code, when first and of which body.
Test(cli_sim, what_a_world_says_is_told)
{
    write_file("s.json",
               "{\"carom\": 1, \"solver\": {\"type\": \"lcp\", \"direct_rows\": 3}, \"bodies\": ["
               "{\"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], "
               "\"offset\": 0}}]}, {\"name\": \"crate\", \"position\": [0, 0.5, 0], \"shapes\": "
               "[{\"box\": {\"half_extents\": [0.5, 0.5, 0.5]}}]}]}");
    sim("--ticks 3");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(result.err, "3 islands were solved in blocks"), "%s", result.err);
    cr_assert_not_null(strstr(result.err, "(lcp_island_large; first in the step from tick 0: "),
                       "%s", result.err);
    cr_assert_not_null(strstr(result.err, "crate)"), "%s", result.err);
}
