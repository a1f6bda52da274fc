// Pointers in `carom sim --inputs`, by the real binary: a player's lines move the player's pointer,
// through rollback too; lines of bodies move it as any kinematic body; what is no pose is refused
// with file and line. Method: lines made by hand from little-endian binary32 written as hex.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/game/pointer.h"
#include "tests/unit/cli/command.h"

#define SCENE                                                                                      \
    "{\"carom\": 1, \"name\": \"touch\", \"tick_rate\": 100, \"bodies\": ["                        \
    "{\"name\": \"ground\", \"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, "   \
    "0], \"offset\": 0}}]},"                                                                       \
    "{\"name\": \"crate\", \"position\": [0, 0.5, 0], \"shapes\": [{\"box\": {\"half_extents\": "  \
    "[0.5, 0.5, 0.5]}}]},"                                                                         \
    "{\"name\": \"tip\", \"position\": [3, 0.5, 0], \"pointer\": {\"player\": 5},"                 \
    " \"shapes\": [{\"sphere\": {\"radius\": 0.2}}]}]}"

static command_result result;
static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/carom_touch_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(cli_sim_pointer, .init = make_folder, .fini = remove_folder);

static FILE *open_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    return file;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = open_file(name);
    fputs(text, file);
    fclose(file);
}

static void sim(const char *rest)
{
    char command[512];
    snprintf(command, sizeof command, "sim %s/s.json --inputs %s/i.jsonl %s", folder, folder, rest);
    run_command(command, &result);
}

static void write_line(FILE *file, uint32_t tick, uint32_t player, const carom_pointer_pose *pose)
{
    uint8_t bytes[CAROM_POINTER_BYTES];
    cm_pointer_write(pose, bytes);
    fprintf(file, "{\"tick\": %u, \"player\": %u, \"input\": \"", tick, player);
    for (size_t i = 0; i < sizeof bytes; i++) {
        fprintf(file, "%02x", bytes[i]);
    }
    fputs("\"}\n", file);
}

// The tip comes at 1 m/s from x = 3 to 0.6 and shoves the crate to the left.
static void write_push(uint32_t player)
{
    FILE *file = open_file("i.jsonl");
    for (uint32_t tick = 0; tick < 240; tick++) {
        carom_pointer_pose pose = {.position = {3.0f - 0.01f * (float)tick, 0.5f, 0.0f},
                                   .orientation = {0.0f, 0.0f, 0.0f, 1.0f},
                                   .linear_velocity = {-1.0f, 0.0f, 0.0f}};
        write_line(file, tick, player, &pose);
    }
    carom_pointer_pose rest = {.position = {0.6f, 0.5f, 0.0f},
                               .orientation = {0.0f, 0.0f, 0.0f, 1.0f}};
    write_line(file, 240, player, &rest);
    fclose(file);
}

// x of a body in the last line.
static double x_of(const char *name)
{
    char key[64];
    const char *last = result.out;
    for (const char *c = result.out; *c != '\0'; c++) {
        last = *c == '\n' && c[1] == '{' ? c + 1 : last;
    }
    snprintf(key, sizeof key, "\"name\": \"%s\", \"position\": [", name);
    const char *at = strstr(last, key);
    cr_assert_not_null(at, "%s in %s", key, last);
    return strtod(at + strlen(key), NULL);
}

Test(cli_sim_pointer, a_player_moves_its_pointer)
{
    write_file("s.json", SCENE);
    write_push(5);
    sim("--ticks 300 --every 300");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_float_eq(x_of("tip"), 0.6, 1e-6, "held after the last line");
    cr_expect_lt(x_of("crate"), -0.09, "shoved");
    write_push(4);
    sim("--ticks 300 --every 300");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_float_eq(x_of("tip"), 3.0, 0.0, "not that player's");
    cr_expect_float_eq(x_of("crate"), 0.0, 1e-3);
}

Test(cli_sim_pointer, rollback_holds)
{
    write_file("s.json", SCENE);
    write_push(5);
    sim("--ticks 260 --every 260 --rollback 7 | tail -n 1");
    cr_assert_not_null(strstr(result.out, "\"difference\": null}"), "%s %s", result.out,
                       result.err);
}

Test(cli_sim_pointer, lines_of_bodies_move_it_too)
{
    write_file("s.json", SCENE);
    write_file("i.jsonl", "{\"tick\": 3, \"body\": \"tip\", \"position\": [2, 1, 0]}\n");
    sim("--ticks 5 --every 5");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_float_eq(x_of("tip"), 2.0, 0.0);
}

Test(cli_sim_pointer, what_is_no_pose_is_refused)
{
    carom_pointer_pose pose = {.orientation = {0.0f, 0.0f, 0.0f, 0.9f}};
    write_file("s.json", SCENE);
    FILE *file = open_file("i.jsonl");
    write_line(file, 0, 5, &pose);
    fclose(file);
    sim("--ticks 5");
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "i.jsonl:1: $.input: the pose's quaternion"), "%s",
                       result.err);
    write_file("i.jsonl", "{\"tick\": 0, \"player\": 5, \"input\": \"00\"}\n");
    sim("--ticks 5");
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "1 bytes, expected 52: a pointer's pose"), "%s",
                       result.err);
}
