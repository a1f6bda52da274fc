// `carom eval volume` by the real binary: the worked figures with 17 digits, and what is wrong with
// bad cases, with its line. Method: cases in files, as standard input.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cli/command.h"

static command_result result;

static void eval(const char *json)
{
    char path[] = "/tmp/carom_eval_XXXXXX", command[128];
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, json, strlen(json)), (ssize_t)strlen(json));
    close(file);
    snprintf(command, sizeof command, "eval volume < %s", path);
    run_command(command, &result);
    unlink(path);
}

static double number(const char *part, const char *key, int index)
{
    const char *at = strstr(result.out, part);
    cr_assert_not_null(at, "no %s in %s", part, result.out);
    at = strstr(at, key);
    cr_assert_not_null(at, "no %s in %s", key, result.out);
    at += strlen(key);
    for (int i = 0; i < index; i++) {
        at = strchr(at, ',') + 1;
    }
    return strtod(at, NULL);
}

#define CUBE  "{\"box\": {\"half_extents\": [1, 1, 1]}, \"position\": [0, 0.99, 0], "
#define FLOOR "{\"plane\": {\"normal\": [0, 1, 0]}}"

Test(volume_eval, cube_over_the_floor)
{
    eval("{\"a\": " CUBE "\"linear_velocity\": [0.3, -0.1, 0]}, \"b\": " FLOOR "}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_float_eq(number("spring", "\"force\": [", 1), 40.0, 1e-12);
    cr_assert_float_eq(number("damper", "\"force\": [", 1), 20.0, 1e-12);
    cr_assert_float_eq(number("depth", "\"area\": ", 0), 4.0, 1e-13);
    cr_assert_float_eq(number("friction", "\"force\": [", 0), -30.0, 1e-12, "mu times 60 N");
    cr_assert_float_eq(number("\"a\": {", "\"force\": [", 1), 60.0, 1e-12);
    cr_assert_float_eq(number("\"b\": {", "\"force\": [", 1), -60.0, 1e-12);
    // Upside down, and going apart too fast: no adhesion.
    eval("{\"b\": " CUBE "\"linear_velocity\": [0, 0.3, 0]}, \"a\": " FLOOR "}");
    cr_assert_float_eq(number("depth", "\"normal\": [", 1), -1.0, 0.0);
    cr_assert_float_eq(number("\"b\": {", "\"force\": [", 1), 0.0, 0.0);
}

Test(volume_eval, apart_and_wrong)
{
    eval("{\"a\": {\"sphere\": {\"radius\": 1}, \"position\": [0, 3, 0]},\n"
         "\"b\": {\"box\": {\"half_extents\": [2, 0.5, 2]}}}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_float_eq(number("touching", "\"distance\": ", 0), 1.5, 1e-12);
    static const char *const bad[][2] = {
        {"{\"a\": {}, \"b\": " FLOOR "}", "<stdin>:1: $.a: no shape"},
        {"{\"a\": " FLOOR ",\n\"b\": " FLOOR "}", "<stdin>:2: $.b: two planes"},
        {"{\"a\": {\"hull\": {\"points\": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}}, \"b\": " FLOOR "}",
         "$.a.hull.points: all in one plane"},
        {"{\"a\": {\"box\": {\"half_extents\": [1, 0, 1]}}, \"b\": " FLOOR "}", "half_extents"},
        {"{\"a\": " FLOOR ", \"b\": " CUBE "\"mass\": 1}}", "mass"},
        {"{\"a\": " FLOOR ", \"b\": " CUBE "\"orientation\": [0, 0, 0, 2]}}", "squared norm 4"},
        {"{\"a\": " FLOOR ", \"b\": " CUBE "\"linear_velocity\": [0, 1e300, 0]}}", "1e7"},
        {"{\"a\": " FLOOR ", \"b\": {\"sphere\": {\"radius\": 1}},\n\"friction_static\": 0.1}",
         "<stdin>:2: $.friction_static"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        eval(bad[i][0]);
        cr_assert_eq(result.status, 2, "%s", bad[i][0]);
        cr_assert_not_null(strstr(result.err, bad[i][1]), "%s lacks %s", result.err, bad[i][1]);
        cr_assert_eq(result.out[0], '\0');
    }
}
