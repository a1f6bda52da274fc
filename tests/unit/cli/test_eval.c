// `carom eval impact|circle` by the real binary: 17 digits of known cases, and what is wrong with
// bad ones, with its line. Method: cases in files, as standard input.
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cli/command.h"

static command_result result;

static void eval(const char *name, const char *json)
{
    char path[] = "/tmp/carom_eval_XXXXXX", command[128];
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, json, strlen(json)), (ssize_t)strlen(json));
    close(file);
    snprintf(command, sizeof command, "eval %s < %s", name, path);
    run_command(command, &result);
    unlink(path);
}

#define SPHERE_1 "{\"M\": 1, \"I\": 0.4, \"O\": [-1, 0], \"V\": [1, 0], \"W\": 1}"
#define SPHERE_2                                                                                   \
    "{\"M\": 1, \"I\": [0.4, 0.4, 0.4], \"O\": [1, 0, 0], \"V\": [-1, 0], \"W\": [0, 0, 1]}"
#define POINT "\"P\": [0, 0], \"N\": [1, 0]"

static double number(const char *key, int index)
{
    const char *at = strstr(result.out, key);
    cr_assert_not_null(at, "no %s in %s", key, result.out);
    at += strlen(key);
    for (int i = 0; i < index; i++) {
        at = strchr(at, ',') + 1;
    }
    return strtod(at, NULL);
}

Test(cli_eval, figure_5)
{
    eval("impact",
         "{\"bodies\": [" SPHERE_1 ", " SPHERE_2 "], " POINT ", \"mu\": 1, \"epsilon\": 1}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_float_eq(number("\"Ft\": [", 0), -2.1338934190276817, 1.0e-15);
    cr_assert_float_eq(number("\"Ft\": [", 1), -2.0 / 7, 1.0e-16);
    cr_assert_float_eq(number("\"E_after\": ", 0), 1.4, 1.0e-15);
    cr_assert_not_null(strstr(result.out, "\"branch\": \"F11\""));
    cr_assert_eq(strchr(result.out, '\n'), result.out + strlen(result.out) - 1, "one line");
}

Test(cli_eval, corner_drop_and_map)
{
    eval("impact",
         "{\"model\": \"normal\", \"bodies\": [{\"mass\": 1, \"inertia\": 0.16666666666666667, "
         "\"center_of_mass\": [-0.5, 0.5], \"linear_velocity\": [0, -1]}, {\"immovable\": true}], "
         "\"P\": [0, 0], \"normal\": [0, 1], \"restitution\": 0.5, \"energy_map\": 2}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_float_eq(number("\"J\": ", 0), 0.6, 1.0e-15);
    cr_assert_float_eq(number("\"denominator\": ", 0), 2.5, 1.0e-15);
    cr_assert_float_eq(number("\"energy_map\": [[", 0), 0.3, 1.0e-15);
}

// R diag(1, 2, 3) R' as it comes out of a program: mirrored elements differ in the last bit.
Test(cli_eval, a_tensor_may_be_asymmetric_by_rounding)
{
    static const char *const CASES[][2] = {{"0.10000000000000001", "0.10000000000000002"},
                                           {"0.1", "0.1000001"}};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"bodies\": [{\"M\": 1, \"I\": [[2, %s, 0], [%s, 1, 0], [0, 0, 3]], \"O\": [-1, 0], "
            "\"V\": [1, 0]}, {\"immovable\": true}], \"P\": [0, 0], \"N\": [1, 0], "
            "\"mu\": 0, \"epsilon\": 1}",
            CASES[i][0], CASES[i][1]);
        eval("impact", text);
        cr_expect_eq(result.status, i == 0 ? 0 : 2, "%s", result.err);
    }
    cr_expect_not_null(strstr(result.err, "expected three rows of a symmetric matrix"));
}

Test(cli_eval, circles)
{
    eval("circle",
         "{\"a\": {\"position\": [260, 208], \"velocity\": [76, -112], \"radius\": 150},\n"
         "\"b\": {\"position\": [558.4, 192], \"velocity\": [-94.4, -96], \"radius\": 150}, "
         "\"e\": 0.8}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_float_eq(number("\"as2\": ", 0), -72.02329578622528, 1.0e-11);
    cr_assert_float_eq(number("\"bs2\": ", 0), 64.78650632526276, 1.0e-11);
    eval("circle",
         "{\"circles\": [{\"position\": [160, 282], \"velocity\": [1, 0], \"radius\": 120, "
         "\"mass\": 14400}, {\"position\": [640, 318], \"velocity\": [-2.5, 0], \"radius\": 40, "
         "\"mass\": 1600}], \"e\": 0.1, \"frames\": 400}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_assert_not_null(strstr(result.out, "\"hits\": [{\"frame\": 93, \"pairs\": 1}]"));
}

Test(cli_eval, bad_cases_name_line_and_path)
{
    static const struct {
        const char *name, *json, *message;
    } ROWS[] = {
        {"impact", "", "carom: <stdin>:"},
        {"impact", "{\"bodies\": [\n}", "carom: <stdin>:2: "},
        {"impact", "[1]", "carom: <stdin>:1: expected one object"},
        {"impact", "{\"bodies\":\n 3}", "carom: <stdin>:1: $.bodies: expected an array"},
        {"impact", "{\"bodies\": [" SPHERE_1 "]," POINT ", \"mu\": 1}",
         "$.bodies: 1 bodies, expected two"},
        {"impact",
         "{\"bodies\": [" SPHERE_1 ",\n" SPHERE_2 "],\n" POINT ",\n\"mu\": 1.5, \"epsilon\": 0}",
         "carom: <stdin>:4: $.mu: 1.5 is out of range, expected 0 to 1"},
        {"impact", "{\"bodies\": [" SPHERE_1 ",\n" SPHERE_2 "]," POINT ", \"mu\": 1}",
         "'epsilon' is missing"},
        {"impact",
         "{\"bodies\": [" SPHERE_1 ",\n" SPHERE_2 "],\n\"P\": [0, 0], \"N\": [0, 0], "
         "\"mu\": 1, \"epsilon\": 0}",
         "carom: <stdin>:3: $.N: no direction"},
        {"impact", "{" POINT ", \"bodies\": [" SPHERE_1 ",\n{\"M\": 1,\n\"I\": [1, 0, 1]}]}",
         "carom: <stdin>:3: $.bodies[1].I: singular"},
        {"impact", "{" POINT ", \"bodies\": [{\"M\": 1, \"I\": 1,\n\"S\": [0, 0, 1, 1]}]}",
         "<stdin>:2: $.bodies[0].S: norm"},
        {"impact",
         "{" POINT ", \"bodies\": [{\"M\": 1, \"I\": 1,\n\"S\": [[1,0,0],[0,1,0],[0,0,-1]]}]}",
         "$.bodies[0].S: no rotation"},
        {"impact",
         "{\"bodies\": [{\"immovable\": true}, {\"immovable\": true}], " POINT
         ", \"mu\": 1, \"epsilon\": 1}",
         "$.bodies: both immovable"},
        {"impact", "{\"bodies\": [{\"M\": -1}, 1]}", "$.bodies[0].M: -1 is out of range"},
        {"impact",
         "{\"bodies\": [" SPHERE_1 "," SPHERE_2 "]," POINT
         ",\n\"mew\": 1, \"mu\": 1, \"epsilon\": 1}",
         "carom: <stdin>:2: $.mew: unknown key"},
        {"impact", "{\"a\": 1, \"a\": 2}", "duplicate"},
        {"impact", "{\"bodies\": [{\"M\": 1e999}]}", "carom: <stdin>:1: "},
        {"circle", "{\"a\": {\"position\": [0, 0],\n\"radius\": -1}}",
         "<stdin>:2: $.a.radius: -1 is out of range"},
        {"circle", "{\"a\": {\"position\": [0, 0], \"radius\": 1}}", "'b' is missing"},
        {"circle", "{\"e\": 2}", "$.e: 2 is out of range"},
        {"cube", "{}", "carom: eval: unknown case 'cube'"},
        {"", "{}", "carom: eval: no case given"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        eval(ROWS[i].name, ROWS[i].json);
        cr_expect_eq(result.status, 2, "%s", ROWS[i].json);
        cr_expect_not_null(strstr(result.err, ROWS[i].message), "%s: %s", ROWS[i].json, result.err);
        cr_expect_str_eq(result.out, "");
    }
}

Test(cli_eval, lcp)
{
    eval("lcp", "{\"matrix\": [[2, 1], [1, 2]], \"vector\": [3, 3], \"upper\": [0.5, null]}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    double x = 0.0, y = 0.0, w = 0.0;
    cr_assert_eq(sscanf(result.out, "{\"x\": [%lf, %lf], \"w\": [%lf", &x, &y, &w), 3, "%s",
                 result.out);
    cr_expect(x == 0.5 && fabs(y - 1.25) < 1e-12 && fabs(w + 0.75) < 1e-12);
    cr_expect_not_null(strstr(result.out, "\"solves\": 2, \"solved\": true"), "%s", result.out);
    eval("lcp", "{\"matrix\": [[1, 0], [0, -1]], \"q\": [1, 1]}");
    cr_expect_eq(result.status, 0);
    cr_expect_not_null(strstr(result.out, "\"solved\": false"), "%s", result.out);
    eval("lcp", "{\"matrix\": [[1, 2], [0, 1]], \"q\": [1, 1]}");
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "expected a symmetric matrix"), "%s", result.err);
    eval("lcp", "{\"matrix\": [[1, 2]], \"q\": [1]}");
    cr_expect_not_null(strstr(result.err, "$.matrix[0]: 2 elements, expected 1"), "%s", result.err);
}

Test(cli_eval, help_names_every_case)
{
    run_command("help eval", &result);
    cr_assert_eq(result.status, 0);
    for (int i = 0; i < 4; i++) {
        static const char *const NAMES[] = {"\nimpact: ", "\ncircle: ", "\nlcp: ", "\nvolume: "};
        cr_expect_not_null(strstr(result.out, NAMES[i]), "%s", NAMES[i]);
    }
}

// Blanks and newlines become one blank: help texts are broken into lines, output is not.
static void squeeze(char *text)
{
    char *out = text;
    for (const char *at = text; *at != '\0'; at++) {
        bool blank = *at == ' ' || *at == '\n';
        if (!blank || (out > text && out[-1] != ' ')) {
            *out++ = blank ? ' ' : *at;
        }
    }
    *out = '\0';
}

// Every example of `carom help eval` is run as it stands there; what it says that it gives is in
// the output, digit for digit.
Test(cli_eval, the_examples_of_the_help_give_what_they_say)
{
    static char help[1 << 16];
    static const char *const NAMES[] = {"impact", "circle", "lcp", "volume"};
    uint32_t examples = 0;
    run_command("help eval", &result);
    strcpy(help, result.out);
    squeeze(help);
    for (char *at = strstr(help, "example: "); at != NULL; at = strstr(at, "example: ")) {
        char *json = at + strlen("example: "), *gives = strstr(json, "} gives ");
        cr_assert(gives != NULL && examples < 4, "%s", at);
        gives[1] = '\0';
        eval(NAMES[examples], json);
        cr_assert_eq(result.status, 0, "%s: %s", json, result.err);
        char *fragment = strchr(gives + 2, '"');
        cr_assert_not_null(fragment);
        at = strstr(fragment, "example: ");
        at = at != NULL ? at : fragment + strlen(fragment);
        // Up to the next case's title, or the end: "and" stands between two.
        char *last = fragment;
        for (char *c = fragment; c < at; c++) {
            last = *c == ']' || *c == '}' ? c : last;
            if (*c == ':' && c[-1] != '"') {
                break; // "circle: …"
            }
        }
        last[1] = '\0';
        for (char *next = fragment; next != NULL;) {
            char *part = next, *and = strstr(part, " and ");
            next = and != NULL ? and+5 : NULL;
            if (and != NULL) {
                *and = '\0';
            }
            cr_expect_not_null(strstr(result.out, part), "%s of %s: %s", part, NAMES[examples],
                               result.out);
        }
        examples++;
        at = last + 2;
    }
    cr_expect_eq(examples, 4u);
}

// The defaults that the help of volume names are those that the case has.
Test(cli_eval, the_defaults_of_the_help)
{
    static char without[1 << 16];
#define SLIDES                                                                                     \
    "{\"a\": {\"sphere\": {\"radius\": 1}, \"position\": [0, 0.9, 0], \"linear_velocity\": "       \
    "[0.1, -0.1, 0]}, \"b\": {\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}, \"friction\": "  \
    "{\"state\": \"static\", \"stretch\": [0.01, 0, 0]}, \"dt\": 0.01"
    eval("volume", SLIDES "}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    strcpy(without, result.out);
    eval("volume", SLIDES ", \"stiffness\": 1000, \"damping\": 50, \"tangent_stiffness\": 1000, "
                          "\"tangent_damping\": 50, \"friction_kinetic\": 0.5, "
                          "\"friction_static\": 0.6, \"segments\": 16}");
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_str_eq(result.out, without);
    run_command("help eval", &result);
    cr_expect_not_null(strstr(result.out, "1000 N/m^3, 50 N s/m^3"));
    cr_expect_not_null(strstr(result.out, "0.5, 1.2 x kinetic"));
}
