// What a scene is told besides its first error. Goal: every error of a file is found in one go,
// each once, with its line; what is silently ignored, and what no body can be, is warned of, for
// the solver that will run it. Method: scenes with known faults, and a list of the paths expected.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "carom/check.h"
#include "shared/scene/scene_json.h"

typedef struct said {
    unsigned line;
    const char *path;
} said;

static void expect_errors(const char *text, const said *expected, uint32_t count)
{
    cm_scene *scene;
    cm_scene_error errors[CM_SCENE_ERRORS_MAX];
    uint32_t found = CM_SCENE_ERRORS_MAX;
    cr_expect_neq(cm_scene_validate(text, strlen(text), &scene, errors, &found), CAROM_OK);
    cr_expect_null(scene);
    cr_expect_eq(found, count, "%u errors", found);
    for (uint32_t i = 0; i < found && i < count; i++) {
        cr_expect_str_eq(errors[i].path, expected[i].path, "%s", errors[i].message);
        cr_expect_eq(errors[i].line, expected[i].line, "%s", errors[i].path);
    }
}

Test(findings, keys_and_numbers_of_a_file)
{
    static const said expected[] = {{2, "$.tick_rate"},
                                    {3, "$.gravity"},
                                    {5, "$.bodies[0].colour"},
                                    {5, "$.bodies[0].mass"},
                                    {6, "$.bodies[1].shapes[0].sphere.radius"},
                                    {6, "$.bodies[1].name"},
                                    {7, "$.joints[0].b"}};
    expect_errors(
        "{\"carom\": 1,\n"
        " \"tick_rate\": 0,\n"
        " \"gravity\": 9.81,\n"
        " \"bodies\": [\n"
        "  {\"colour\": \"red\", \"mass\": -1, \"shapes\": [{\"sphere\": {\"radius\": 1}}]},\n"
        "  {\"shapes\": [{\"sphere\": {}}], \"name\": \"\"}],\n"
        " \"joints\": [{\"a\": \"world\"}]}\n",
        expected, 7);
}

Test(findings, rules_across_keys)
{
    static const said expected[] = {{2, "$.solver.gamma"},
                                    {4, "$.bodies[0].shapes[0].material"},
                                    {4, "$.bodies[0].shapes[1].plane"},
                                    {5, "$.bodies[1].orientation"},
                                    {7, "$.arrays[0].of.name"},
                                    {7, "$.arrays[0].of.shapes"}};
    expect_errors(
        "{\"carom\": 1,\n"
        " \"solver\": {\"gamma\": 0.5},\n"
        " \"bodies\": [\n"
        "  {\"shapes\": [{\"sphere\": {\"radius\": 1}, \"material\": \"none\"}, {\"plane\": "
        "{\"normal\": [0, 1, 0], \"offset\": 0}}]},\n"
        "  {\"orientation\": [0, 0, 0, 0.5], \"shapes\": [{\"sphere\": {\"radius\": 1}}]}],\n"
        " \"arrays\": [\n"
        "  {\"of\": {\"name\": \"a\", \"shapes\": []}}]}\n",
        expected, 6);
}

// A number out of its range hides no rule, nor the other way round.
Test(findings, numbers_and_rules_at_once)
{
    static const said expected[] = {{2, "$.replication.view"},
                                    {4, "$.bodies[0].mass"},
                                    {5, "$.bodies[1].shapes[0].plane"},
                                    {6, "$.bodies[2].pointer.player"}};
    expect_errors(
        "{\"carom\": 1, \"name\": \"w\",\n"
        " \"replication\": {\"view\": \"predicted\"},\n"
        " \"bodies\": [\n"
        "  {\"mass\": -1, \"shapes\": [{\"sphere\": {\"radius\": 1}}]},\n"
        "  {\"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]},\n"
        "  {\"pointer\": {\"player\": 99}, \"shapes\": [{\"sphere\": {\"radius\": 1}}]}]}",
        expected, 4);
}

Test(findings, what_worlds_and_solvers_refuse)
{
    static const said expected[] = {{3, "$.combine.friction"},
                                    {4, "$.materials.glue.friction"},
                                    {6, "$.bodies[0].linear_velocity"},
                                    {7, "$.bodies[1].epsilon"},
                                    {8, "$.bodies[2].shapes[0].rolling_friction"},
                                    {9, "$.joints"}};
    expect_errors(
        "{\"carom\": 1,\n"
        " \"solver\": {\"type\": \"impulse\"},\n"
        " \"combine\": {\"friction\": \"min\"},\n"
        " \"materials\": {\"glue\": {\"friction\": 3}},\n"
        " \"bodies\": [\n"
        "  {\"type\": \"static\", \"linear_velocity\": [0, 1, 0], \"shapes\": [{\"sphere\": "
        "{\"radius\": 1}}]},\n"
        "  {\"epsilon\": 0.1, \"shapes\": [{\"sphere\": {\"radius\": 1}, \"material\": "
        "\"glue\"}]},\n"
        "  {\"shapes\": [{\"sphere\": {\"radius\": 1}, \"rolling_friction\": 0.1}]}],\n"
        " \"joints\": [{\"a\": \"world\", \"b\": \"body_1\"}, {\"a\": \"body_2\", \"b\": "
        "\"body_1\"}]}\n",
        expected, 6);
}

// More faults than there is room for: as many as fit, and no more.
Test(findings, room_for_errors_is_bounded)
{
    char text[8192] = "{\"carom\": 1, \"bodies\": [";
    for (int i = 0; i < 200; i++) {
        strcat(text, i > 0 ? ", {\"mass\": -1}" : "{\"mass\": -1}");
    }
    strcat(text, "]}");
    cm_scene *scene;
    cm_scene_error errors[CM_SCENE_ERRORS_MAX];
    uint32_t count = 5;
    memset(errors, 0, sizeof errors);
    cr_assert_neq(cm_scene_validate(text, strlen(text), &scene, errors, &count), CAROM_OK);
    cr_expect_eq(count, 5u);
    cr_expect_str_eq(errors[4].path, "$.bodies[4].mass");
    cr_expect_eq(errors[5].path[0], '\0');
}

// What could be read of a broken scene is checked on: that may be anything, and must not crash.
Test(findings, broken_scenes_are_walked_to_their_end)
{
    static const char *const files[] = {"tests/scenes/machines.json", "tests/scenes/shapes.json"};
    cm_scene_error errors[CM_SCENE_ERRORS_MAX];
    uint32_t random = 7, most = 0;
    for (int i = 0; i < 2000; i++) {
        size_t size;
        char *text = cm_scene_read_file(files[i % 2], CM_SCENE_JSON_MAX, &size, &errors[0]);
        cr_assert_not_null(text);
        for (int k = 0; k < 4; k++) { // digits and letters alone, so that most stay JSON
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % size;
            bool plain =
                (text[at] >= '0' && text[at] <= '9') || (text[at] >= 'a' && text[at] <= 'z');
            text[at] = plain ? (char)('0' + (random >> 4) % 10) : text[at];
        }
        cm_scene *scene;
        uint32_t count = CM_SCENE_ERRORS_MAX;
        if (cm_scene_validate(text, size, &scene, errors, &count) != CAROM_OK) {
            cr_expect_gt(count, 0u);
            most = count > most ? count : most;
        }
        cm_scene_free(scene);
        free(text);
    }
    cr_expect_gt(most, 2u);
}

// Warnings -----------------------------------------------------------------------------------

static void expect_warnings(const char *text, int solver, const said *expected, uint32_t count)
{
    cm_scene *scene;
    cm_scene_error error, warnings[CM_SCENE_WARNINGS_MAX];
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s: %s",
                 error.path, error.message);
    uint32_t found = cm_scene_warnings(scene, solver, warnings, CM_SCENE_WARNINGS_MAX);
    cm_scene_find_lines(text, strlen(text), warnings, found);
    cr_expect_eq(found, count, "%u warnings", found);
    for (uint32_t i = 0; i < found && i < count; i++) {
        cr_expect_str_eq(warnings[i].path, expected[i].path, "%s", warnings[i].message);
        cr_expect_eq(warnings[i].line, expected[i].line, "%s", warnings[i].path);
        cr_expect_not_null(strstr(warnings[i].message, "expected"));
    }
    cm_scene_free(scene);
}

static const char DOUBTFUL[] =
    "{\"carom\": 1, \"planar\": true,\n"
    " \"materials\": {\"rubber\": {\"restitution\": 0.9}},\n"
    " \"bodies\": [\n"
    "  {\"type\": \"static\", \"mass\": 5, \"shapes\": [{\"sphere\": {\"radius\": 1}}]},\n"
    "  {\"angular_velocity\": [1, 0, 0], \"shapes\": [{\"sphere\": {\"radius\": 1}}]},\n"
    "  {\"shapes\": [{\"sphere\": {\"radius\": 1}, \"material\": \"rubber\"}]}]}\n";

Test(findings, warnings_of_any_solver)
{
    static const said expected[] = {{4, "$.bodies[0].mass"}, {5, "$.bodies[1].angular_velocity"}};
    expect_warnings(DOUBTFUL, -1, expected, 2);
}

Test(findings, warnings_of_the_solver_that_will_run)
{
    static const said expected[] = {{2, "$.materials.rubber.restitution"},
                                    {4, "$.bodies[0].mass"},
                                    {5, "$.bodies[1].angular_velocity"}};
    expect_warnings(DOUBTFUL, CAROM_SOLVER_LCP, expected, 3);
    expect_warnings(DOUBTFUL, CAROM_SOLVER_VOLUME, expected, 3);
}

Test(findings, rebounds_of_pairs_that_no_solver_makes)
{
    static const char text[] =
        "{\"carom\": 1, \"bodies\": [{\"name\": \"a\", \"type\": \"static\"},\n"
        "  {\"name\": \"b\", \"type\": \"static\"}],\n"
        " \"pairs\": [{\"a\": \"a\", \"b\": \"b\", \"friction\": 1},\n"
        "  {\"a\": \"a\", \"b\": \"b\", \"restitution\": 0},\n"
        "  {\"a\": \"a\", \"b\": \"b\", \"restitution\": 0.3}]}\n";
    static const said expected[] = {{5, "$.pairs[2].restitution"}};
    expect_warnings(text, CAROM_SOLVER_LCP, expected, 1);
    expect_warnings(text, CAROM_SOLVER_VOLUME, expected, 1);
    expect_warnings(text, CAROM_SOLVER_SOFT, expected, 0);
    expect_warnings(text, CAROM_SOLVER_IMPULSE, expected, 0);
}

Test(findings, impossible_inertia)
{
    static const said expected[] = {{2, "$.bodies[0].inertia"}};
    expect_warnings("{\"carom\": 1, \"bodies\": [\n"
                    "  {\"mass\": 1, \"inertia\": [1, 1, 2.1]},\n"
                    "  {\"mass\": 1, \"inertia\": [1, 1, 2]}]}\n",
                    -1, expected, 1);
}

Test(findings, constant_friction_of_nothing)
{
    static const said expected[] = {{2, "$.solver.max_friction"}};
    expect_warnings("{\"carom\": 1,\n \"solver\": {\"type\": \"lcp\", \"friction_model\": "
                    "\"box_constant\"}}\n",
                    -1, expected, 1);
    expect_warnings("{\"carom\": 1,\n \"solver\": {\"type\": \"lcp\", \"friction_model\": "
                    "\"box_constant\", \"max_friction\": 1}}\n",
                    -1, NULL, 0);
}

Test(findings, pixels_of_another_model)
{
    static const said expected[] = {{2, "$.solver.pixel"}};
    expect_warnings("{\"carom\": 1,\n \"solver\": {\"type\": \"impulse\", \"pixel\": 1}}\n", -1,
                    expected, 1);
}

// Of another solver than its own, a scene's keys of lcp are left unread, with a warning.
Test(findings, keys_that_another_solver_leaves_unread)
{
    static const said expected[] = {{3, "$.bodies[0].epsilon"}};
    static const char text[] =
        "{\"carom\": 1, \"solver\": {\"type\": \"lcp\"},\n \"bodies\": [\n"
        "  {\"epsilon\": 0.1, \"shapes\": [{\"sphere\": {\"radius\": 1}}]},\n"
        "  {\"epsilon\": 0.1, \"shapes\": [{\"sphere\": {\"radius\": 1}}]}]}";
    expect_warnings(text, CAROM_SOLVER_SOFT, expected, 1);
    expect_warnings(text, -1, NULL, 0);
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK);
    cr_expect_eq(cm_scene_check_solver(scene, CAROM_SOLVER_SOFT, &error), CAROM_OK);
    cm_scene_free(scene);
}

// An angle is told from -pi to pi; a prismatic's limits are metres.
Test(findings, limits_that_no_angle_reaches)
{
    static const said expected[] = {{4, "$.joints[0].limits"}};
    expect_warnings(
        "{\"carom\": 1, \"bodies\": [\n"
        " {\"name\": \"b\", \"shapes\": [{\"sphere\": {\"radius\": 1}}]}],\n"
        " \"joints\": [\n"
        "  {\"type\": \"hinge\", \"a\": \"world\", \"b\": \"b\", \"limits\": [-4, 1]},\n"
        "  {\"type\": \"hinge\", \"a\": \"world\", \"b\": \"b\", \"limits\": "
        "[-3.14159265, 3.14159265]},\n"
        "  {\"type\": \"prismatic\", \"a\": \"world\", \"b\": \"b\", \"limits\": "
        "[-4, 4]}]}\n",
        -1, expected, 1);
}

// Balls of radius 1 whose centres are so far apart, one of a group or at a joint.
static uint32_t overlaps_of(const char *first, const char *second, const char *rest,
                            cm_scene_error *warning)
{
    char text[1024];
    cm_scene *scene;
    carom_world_def def;
    carom_world *world;
    cm_scene_error error;
    snprintf(text, sizeof text,
             "{\"carom\": 1, \"bodies\": [{\"name\": \"a\", \"type\": \"static\", %s},"
             "{\"name\": \"b\", %s}]%s}",
             first, second, rest);
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s: %s",
                 error.path, error.message);
    cm_scene_world_def(scene, &def);
    size_t size = carom_world_size(&def);
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    cr_assert_eq(carom_world_create(&def, memory, size, &world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(scene, world), CAROM_OK);
    uint32_t found = cm_scene_overlaps(scene, world, warning);
    free(memory);
    cm_scene_free(scene);
    return found;
}

#define BALL  "\"shapes\": [{\"sphere\": {\"radius\": 1}}]"
#define PLANE "\"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]"

Test(findings, bodies_inside_each_other)
{
    cm_scene_error warning;
    cr_expect_eq(overlaps_of(BALL, "\"position\": [0, 1.9, 0], " BALL, "", &warning), 1);
    cr_expect_str_eq(warning.path, "$.bodies[0]");
    cr_expect_not_null(strstr(warning.message, "'a' is inside 'b'"), "%s", warning.message);
    cr_expect_eq(overlaps_of(BALL, "\"position\": [0, 1.995, 0], " BALL, "", &warning), 0);
    cr_expect_eq(overlaps_of(PLANE, "\"position\": [0, 0.5, 0], " BALL, "", &warning), 1);
    cr_expect_str_eq(warning.path, "$.bodies[1]");
    cr_expect_eq(overlaps_of(PLANE, "\"position\": [0, 1, 0], " BALL, "", &warning), 0);
    static const char sensor[] = "\"shapes\": [{\"sphere\": {\"radius\": 1}, \"sensor\": true}]";
    static const char grouped[] =
        "\"shapes\": [{\"sphere\": {\"radius\": 1}, \"filter\": {\"group\": -2}}]";
    cr_expect_eq(overlaps_of(BALL, sensor, "", &warning), 0, "it pushes nothing");
    cr_expect_eq(overlaps_of(grouped, grouped, "", &warning), 0, "they never collide");
    cr_expect_eq(overlaps_of(BALL, BALL,
                             ", \"joints\": [{\"type\": \"ball\", \"a\": \"a\", \"b\": \"b\"}]",
                             &warning),
                 0, "they pass through each other");
    // 20,100 pairs: they are not all counted, so that a heap of 20,000 bodies is told of at once.
    uint32_t found = overlaps_of(BALL, BALL,
                                 ", \"arrays\": [{\"name\": \"x\", \"count\": [199, 1, 1], "
                                 "\"spacing\": [0.001, 1, 1], \"of\": {" BALL "}}]",
                                 &warning);
    cr_expect_lt(found, 1100u);
    cr_expect_not_null(strstr(warning.message, "(and at least 1"), "%s", warning.message);
}

// The binary -------------------------------------------------------------------------------------

static int run(const char *arguments, char *output, size_t size)
{
    const char *binary = getenv("CAROM_BINARY");
    char command[1024];
    snprintf(command, sizeof command, "%s %s 2>&1 >/dev/null",
             binary != NULL ? binary : "build/release/carom", arguments);
    FILE *pipe = popen(command, "r");
    cr_assert_not_null(pipe);
    size_t length = fread(output, 1, size - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define BAD "tests/scenes/bad/"

Test(findings, unknown_keys_have_a_column_and_a_likely_name)
{
    static const char *const lines[][2] = {
        {"unknown_key",
         ":3: $.gravty: column 3: unknown key 'gravty', did you mean 'gravity'? expected one of"},
        {"unknown_body_key",
         ":6: $.bodies[1].masss: column 23: unknown key 'masss', did you mean 'mass'? "}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char arguments[128], output[1024];
        snprintf(arguments, sizeof arguments, "scene validate " BAD "%s.json", lines[i][0]);
        cr_expect_eq(run(arguments, output, sizeof output), 2);
        cr_expect_not_null(strstr(output, lines[i][1]), "%s", output);
    }
}

// So that nobody reads "1 shapes".
Test(findings, too_many_bodies_are_counted_in_words)
{
    static const char text[] =
        "{\"carom\": 1, \"arrays\": [{\"name\": \"x\", \"count\": [65536, 2, 1], "
        "\"of\": {\"type\": \"static\", " BALL "}}], \"bodies\": "
        "[{\"type\": \"static\", " BALL "}]}";
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_ERROR_LIMIT_BODIES);
    cr_expect_not_null(strstr(error.message, "131073 bodies and 1 shape in all, expected"), "%s",
                       error.message);
}

Test(findings, validate_takes_several_files_and_standard_input)
{
    char output[4096];
    cr_expect_eq(run("scene validate tests/scenes/hello.json tests/scenes/shapes.json", output,
                     sizeof output),
                 0);
    cr_expect_str_eq(output, "");
    int status = run("scene validate " BAD "mass_zero.json tests/scenes/hello.json " BAD
                     "nan.json - < " BAD "tick_rate_zero.json",
                     output, sizeof output);
    cr_expect_eq(status, 2);
    cr_expect_not_null(strstr(output, "mass_zero.json:"), "%s", output);
    cr_expect_not_null(strstr(output, "nan.json:"), "%s", output);
    cr_expect_not_null(strstr(output, "carom: -:"), "%s", output);
    cr_expect_null(strstr(output, "hello.json"), "%s", output);
}

Test(findings, sim_exits_with_2_for_a_scene_that_no_world_takes)
{
    static const char *const scenes[] = {"planar_hull_off", "mass_of_shapes", "static_velocity"};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        char arguments[128], output[1024], start[128];
        snprintf(arguments, sizeof arguments, "sim " BAD "%s.json --ticks 1", scenes[i]);
        snprintf(start, sizeof start, "carom: " BAD "%s.json:6: $.bodies[", scenes[i]);
        cr_expect_eq(run(arguments, output, sizeof output), 2, "%s", scenes[i]);
        cr_expect_eq(strncmp(output, start, strlen(start)), 0, "%s", output);
    }
}

Test(findings, another_solver_refuses_with_a_line_and_warns)
{
    char output[4096];
    cr_expect_eq(
        run("sim tests/scenes/machines.json --solver volume --ticks 1", output, sizeof output), 2);
    cr_expect_not_null(strstr(output, "machines.json:"), "%s", output);
    cr_expect_not_null(strstr(output, ": $.joints: "), "%s", output);
    cr_expect_eq(
        run("plot tests/scenes/machines.json --solver scene,volume", output, sizeof output), 2);
    cr_expect_not_null(strstr(output, ": $.joints: "), "%s", output);
    cr_expect_eq(run("sim tests/scenes/crowd.json --solver lcp --ticks 1", output, sizeof output),
                 0);
    cr_expect_not_null(strstr(output, "crowd.json:4: $.materials.rubber.restitution: warning: "),
                       "%s", output);
    cr_expect_eq(run("sim tests/scenes/sandbox.json --solver lcp --ticks 1", output, sizeof output),
                 2);
    cr_expect_not_null(strstr(output, ": $.module: "), "%s", output);
}
