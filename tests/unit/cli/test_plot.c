// `carom plot`, by the real binary. The SVG is read as XML by a small parser of the test's own:
// tags balance, attributes are quoted, no stray & or <; then facts are looked up in it: numbers at
// arrows, axes, counts of cells, ends of lines. What a picture looks like is for people's eyes.
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cli/command.h"
#include "tests/unit/node/serving.h"

static command_result result, second;
static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/carom_plot_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(plot, .init = make_folder, .fini = remove_folder);

static void put_scene(const char *name, const char *json)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(json, file);
    fclose(file);
}

// `carom plot FOLDER/scene REST`.
static void plot(const char *scene, const char *rest, command_result *into)
{
    char command[1024];
    snprintf(command, sizeof command, "plot %s/%s %s", folder, scene, rest);
    run_command(command, into);
}

static const char *skip_entity(const char *at)
{
    static const char *const KNOWN[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < 4; i++) {
        if (strncmp(at, KNOWN[i], strlen(KNOWN[i])) == 0) {
            return at + strlen(KNOWN[i]);
        }
    }
    cr_assert_fail("an entity that XML does not know: %.20s", at);
    return at;
}

// One tag after its '<': name, attributes. Returns what follows '>'.
static const char *read_tag(const char *at, char name[32], bool *closes, bool *empty)
{
    size_t length = 0;
    *closes = *at == '/';
    at += *closes;
    while (isalnum((unsigned char)*at) && length < 31) {
        name[length++] = *at++;
    }
    name[length] = '\0';
    cr_assert_gt(length, 0, "a tag without a name: %.30s", at);
    char seen[512] = " ";
    while (*at == ' ') {
        const char *start = ++at;
        while (isalnum((unsigned char)*at) || *at == '-' || *at == ':') {
            at++;
        }
        cr_assert(at[0] == '=' && at[1] == '"', "an attribute without a value: %.30s", at);
        char one[64];
        snprintf(one, sizeof one, " %.*s ", (int)(at - start), start);
        cr_assert_null(strstr(seen, one), "an attribute given twice: %s", one);
        strncat(seen, one + 1, sizeof seen - strlen(seen) - 1);
        for (at += 2; *at != '"';) {
            cr_assert(*at != '\0' && *at != '<', "a value that does not end");
            at = *at == '&' ? skip_entity(at) : at + 1;
        }
        at++;
    }
    *empty = *at == '/';
    at += *empty;
    cr_assert_eq(*at, '>', "a tag that does not end: %.30s", at);
    return at + 1;
}

static void assert_xml(const char *text)
{
    char stack[32][32];
    int depth = 0, roots = 0;
    const char *head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    cr_assert_eq(strncmp(text, head, strlen(head)), 0, "%.60s", text);
    for (const char *at = text + strlen(head); *at != '\0';) {
        char name[32];
        bool closes, empty;
        if (*at != '<') {
            cr_assert(depth > 0 || *at == '\n', "text outside");
            at = *at == '&' ? skip_entity(at) : at + 1;
            continue;
        }
        at = read_tag(at + 1, name, &closes, &empty);
        if (closes) {
            cr_assert(depth > 0 && strcmp(stack[depth - 1], name) == 0, "</%s> closes nothing",
                      name);
            depth--;
        } else if (!empty) {
            cr_assert_lt(depth, 32);
            roots += depth == 0;
            strcpy(stack[depth++], name);
        }
    }
    cr_assert(depth == 0 && roots == 1, "%d open, %d roots", depth, roots);
    cr_assert_null(strstr(text, "nan"));
    cr_assert_null(strstr(text, "inf"));
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

// How many texts of a class say exactly this.
static int texts(const char *svg, const char *class, const char *says)
{
    char want[64], end[64];
    int count = 0;
    snprintf(want, sizeof want, "class=\"%s\"", class);
    snprintf(end, sizeof end, ">%s</text>", says);
    for (const char *at = strstr(svg, want); at != NULL; at = strstr(at + 1, want)) {
        const char *close = strchr(at, '>');
        count += close != NULL && strncmp(close, end, strlen(end)) == 0;
    }
    return count;
}

#define SPHERES(name)                                                                              \
    "{\"carom\": 1, \"name\": \"" name "\", \"gravity\": [0, 0, 0], \"bodies\": ["                 \
    "{\"name\": \"left\", \"position\": [-1, 0, 0], \"linear_velocity\": [1, 0, 0],"               \
    " \"angular_velocity\": [0, 0, 1], \"mass\": 1, \"shapes\": [{\"sphere\": {\"radius\": 1},"    \
    " \"friction\": 0, \"restitution\": 1}]},"                                                     \
    "{\"name\": \"right\", \"position\": [1, 0, 0], \"linear_velocity\": [-1, 0, 0],"              \
    " \"angular_velocity\": [0, 0, -1], \"mass\": 1, \"shapes\": [{\"sphere\": {\"radius\": 1},"   \
    " \"friction\": 0, \"restitution\": 1}]}]}"

Test(plot, arrows_of_a_collision_have_signed_numbers)
{
    put_scene("two.json", SPHERES("two"));
    plot("two.json", "--at 0,1", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, "class=\"picture\""), 2);
    cr_expect_eq(texts(result.out, "caption", "soft: tick 0, 0 s"), 1);
    cr_expect_eq(texts(result.out, "caption", "soft: tick 1, 0.0166667 s"), 1);
    // Before: 1 and -1; after: -1 and 1. Impulses of 2, once each way; spins stay.
    cr_expect_eq(texts(result.out, "velocity", "1"), 2);
    cr_expect_eq(texts(result.out, "velocity", "-1"), 2);
    cr_expect_eq(texts(result.out, "impulse", "2"), 1);
    cr_expect_eq(texts(result.out, "impulse", "-2"), 1);
    cr_expect_eq(texts(result.out, "turning", "1"), 2);
    cr_expect_eq(texts(result.out, "turning", "-1"), 2);
    cr_expect_eq(texts(result.out, "name", "left"), 2);
    cr_expect_eq(count_of(result.out, "impulse, 2 N s"), 1);
    cr_expect_eq(count_of(result.out, "class=\"scale\""), 2);
    plot("two.json", "--at 0,1 --arrows off --names off", &result);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, "class=\"velocity\""), 0);
    cr_expect_eq(count_of(result.out, "class=\"name\""), 0);
}

Test(plot, the_same_bytes_every_time_and_in_a_file)
{
    char path[128], *text = calloc(1, sizeof result.out);
    put_scene("two.json", SPHERES("two"));
    plot("two.json", "--trace energy,path --at 2 --ticks 9", &result);
    plot("two.json", "--trace energy,path --at 2 --ticks 9", &second);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_str_eq(result.out, second.out);
    snprintf(path, sizeof path, "--trace energy,path --at 2 --ticks 9 --out %s/x.svg", folder);
    plot("two.json", path, &second);
    cr_assert_eq(second.status, 0);
    cr_expect_str_eq(second.out, "");
    snprintf(path, sizeof path, "%s/x.svg", folder);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_gt(fread(text, 1, sizeof result.out - 1, file), 0);
    fclose(file);
    cr_expect_str_eq(result.out, text);
    free(text);
}

Test(plot, names_are_escaped)
{
    put_scene("odd.json", SPHERES("a < b & \\\"c\\\""));
    plot("odd.json", "--at 0", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_not_null(strstr(result.out, ">a &lt; b &amp; &quot;c&quot;</text>"));
}

#define FALL                                                                                       \
    "{\"carom\": 1, \"name\": \"fall\", \"tick_rate\": 100, \"gravity\": [0, -10, 0],"             \
    " \"bodies\": [{\"name\": \"stone\", \"position\": [0, 5, 0], \"linear_velocity\": [2, 0, 0]," \
    " \"mass\": 2, \"shapes\": [{\"box\": {\"half_extents\": [0.1, 0.1, 0.1]}}]}]}"

// The points of the first line of a chart.
static int line_points(const char *svg, double (*points)[2], int capacity)
{
    const char *at = strstr(svg, "<polyline fill=\"none\" points=\"");
    int count = 0;
    cr_assert_not_null(at);
    at += strlen("<polyline fill=\"none\" points=\"");
    while (count < capacity) {
        char *end;
        points[count][0] = strtod(at, &end);
        cr_assert_eq(*end, ',');
        points[count++][1] = strtod(end + 1, &end);
        if (*end != ' ') {
            break;
        }
        at = end + 1;
    }
    return count;
}

Test(plot, a_chart_has_axes_units_and_the_curve)
{
    static double points[256][2];
    put_scene("fall.json", FALL);
    plot("fall.json", "--trace height --ticks 100", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, ">time, s</text>"), 1);
    cr_expect_eq(count_of(result.out, ">height, m</text>"), 1);
    cr_expect_eq(count_of(result.out, ">stone</text>"), 1);
    cr_expect_eq(count_of(result.out, ">1.0</text>"), 1, "a tick at 1 s");
    int count = line_points(result.out, points, 256);
    cr_assert_eq(count, 101);
    // A parabola: half the time, a quarter of the fall (semi-implicit: 0.01 m in 5 off).
    double fall = points[100][1] - points[0][1], half = points[50][1] - points[0][1];
    cr_expect_float_eq(points[50][0] - points[0][0], 0.5 * (points[100][0] - points[0][0]), 0.02);
    cr_expect_gt(fall, 200.0, "the page's y grows downward");
    cr_expect_float_eq(half / fall, 0.25, 0.006);
}

Test(plot, a_path_is_drawn_at_one_scale)
{
    static double points[512][2];
    put_scene("fall.json", FALL);
    plot("fall.json", "--trace path --ticks 100", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    int count = line_points(result.out, points, 512);
    double wide = points[count - 1][0] - points[0][0], deep = points[count - 1][1] - points[0][1];
    // 2 m along, 5 m (and 0.05 of the integrator) down.
    cr_expect_float_eq(deep / wide, 5.05 / 2.0, 0.02);
}

Test(plot, the_energy_map_has_the_known_corners)
{
    put_scene("two.json", SPHERES("two"));
    plot("two.json", "--trace energy_map --grid 5", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    // 1.4 J before: all of it stays at restitution 1, the 0.4 J of spin at 0.
    cr_expect_geq(count_of(result.out, ">1.4</text>"), 1);
    cr_expect_geq(count_of(result.out, ">0.4</text>"), 5,
                  "rolling on each other: no friction acts");
    cr_expect_eq(count_of(result.out, ">friction</text>"), 1);
    cr_expect_eq(count_of(result.out, ">restitution</text>"), 1);
    cr_expect_eq(count_of(result.out, "<rect"), 1 + 25 + 1 + 40 + 1, "page, cells, frame, bar");
}

Test(plot, several_scenes_compare_costs)
{
    char rest[256];
    put_scene("fall.json", FALL);
    put_scene("two.json", SPHERES("two"));
    snprintf(rest, sizeof rest, "%s/two.json --trace cost,kinetic_energy --ticks 20", folder);
    plot("fall.json", rest, &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, ">bodies that can move</text>"), 1);
    cr_expect_eq(count_of(result.out, ">time of a step, us</text>"), 1);
    cr_expect_eq(count_of(result.out, "<circle"), 2, "a mark for each scene");
    cr_expect_eq(count_of(result.out, ">fall</text>"), 1);
    cr_expect_eq(count_of(result.out, ">two</text>"), 1);
}

Test(plot, solvers_stand_side_by_side)
{
    // S0 figure 14: printed -0.59 and -0.15 for F1, 0.41 and 0.63 for the spins.
    run_command("plot tests/scenes/seeds/collision_fig14.json --solver impulse,soft --at 0,1",
                &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, "class=\"picture\""), 4);
    cr_expect_eq(texts(result.out, "caption", "impulse: tick 1, 1 s"), 1);
    cr_expect_eq(texts(result.out, "caption", "soft: tick 1, 1 s"), 1);
    cr_expect_eq(texts(result.out, "turning", "0.409"), 1);
    cr_expect_eq(texts(result.out, "turning", "0.627"), 1);
    cr_expect_eq(texts(result.out, "impulse", "-0.611"), 1, "hypot(0.592028, 0.149296)");
    run_command("plot tests/scenes/seeds/collision_fig14.json --trace energy_map --grid 3",
                &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    // Its energy map at friction and restitution 0, 0.5, 1.
    const char *energies[] = {"0.529", "0.402", "0.36", "0.572", "0.445", "0.62", "0.7"};
    for (size_t i = 0; i < sizeof energies / sizeof energies[0]; i++) {
        char want[32];
        snprintf(want, sizeof want, ">%s</text>", energies[i]);
        cr_expect_geq(count_of(result.out, want), 1, "%s", energies[i]);
    }
    // S1.5: y down, and the arrow of the slow heavy circle is as long as its radius.
    run_command("plot tests/scenes/seeds/circles_set3.json --at 0", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_not_null(strstr(result.out, "at least a radius long"));
}

// Two bodies that move in the plane by next to nothing beside a fast one: their arrows are short,
// not arrows into the page; what really points at the eye is a ring.
Test(plot, only_what_points_at_the_eye_is_a_ring)
{
#define MOVES(velocity)                                                                            \
    "{\"carom\": 1, \"name\": \"m\", \"planar\": false, \"gravity\": [0, 0, 0], \"bodies\": ["     \
    "{\"name\": \"fast\", \"position\": [0, 0, 0], \"linear_velocity\": [10, 0, 0], \"mass\": 1,"  \
    " \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]},"                                             \
    "{\"name\": \"slow\", \"position\": [3, 0, 0], \"linear_velocity\": " velocity                 \
    ", \"mass\": 1,"                                                                               \
    " \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}]}"
    put_scene("flat.json", MOVES("[0.25, 0, 1e-18]"));
    plot("flat.json", "--at 0 --view xy", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, "class=\"end-on\""), 0);
    cr_expect_eq(texts(result.out, "velocity", "0.25"), 1);
    put_scene("still.json", MOVES("[0, 0, 1e-18]"));
    plot("still.json", "--at 0 --view xy", &result);
    cr_expect_eq(count_of(result.out, "class=\"end-on\""), 0);
    put_scene("toward.json", MOVES("[0, 0, 5]"));
    plot("toward.json", "--at 0 --view xy", &result);
    cr_expect_geq(count_of(result.out, "class=\"end-on\""), 1);
    cr_expect_eq(texts(result.out, "velocity", "5"), 1);
}

// A pendulum on the world beside a wall: the joint is drawn, and both anchor and wall are in the
// frame, which was made for the bob alone.
#define PENDULUM                                                                                   \
    "{\"carom\": 1, \"name\": \"p\", \"bodies\": ["                                                \
    "{\"name\": \"bob\", \"position\": [2, 3, 0], \"mass\": 1, \"shapes\": [{\"sphere\": "         \
    "{\"radius\":"                                                                                 \
    " 0.5}}]},"                                                                                    \
    "{\"name\": \"wheel\", \"position\": [4, 3, 0], \"mass\": 1, \"angular_velocity\": [0, 0, 9]," \
    " \"shapes\": [{\"sphere\": {\"radius\": 0.3}}]},"                                             \
    "{\"name\": \"wall\", \"type\": \"static\", \"position\": [-3, 1, 0], \"shapes\": [{\"box\":"  \
    " {\"half_extents\": [0.2, 1, 1]}}]}],"                                                        \
    " \"joints\": [{\"name\": \"rod\", \"type\": \"hinge\", \"a\": \"world\", \"b\": \"bob\", "    \
    "\"anchor\":"                                                                                  \
    " [0, 3, 0], \"axis\": [0, 0, 1]}, {\"name\": \"hub\", \"type\": \"hinge\", \"a\": "           \
    "\"world\", \"b\":"                                                                            \
    " \"wheel\", \"anchor\": [4, 3, 0], \"axis\": [0, 0, 1]}]}"

// The rectangle of the polygons in the first group of a class: left, top, right, bottom.
static void extent_of(const char *svg, const char *class, double box[4])
{
    char want[64];
    snprintf(want, sizeof want, "class=\"%s\"", class);
    const char *at = strstr(svg, want), *end = at != NULL ? strstr(at, "</g>") : NULL;
    cr_assert(at != NULL && end != NULL, "%s", class);
    box[0] = box[1] = 1e9;
    box[2] = box[3] = -1e9;
    for (at = strstr(at, "points=\""); at != NULL && at < end; at = strstr(at, "points=\"")) {
        at += strlen("points=\"");
        while (*at != '"') {
            char *next;
            double x = strtod(at, &next), y = strtod(next + 1, &next);
            box[0] = x < box[0] ? x : box[0];
            box[1] = y < box[1] ? y : box[1];
            box[2] = x > box[2] ? x : box[2];
            box[3] = y > box[3] ? y : box[3];
            at = *next == ' ' ? next + 1 : next;
        }
    }
}

Test(plot, joints_and_static_bodies_are_in_the_frame)
{
    double box[4];
    put_scene("p.json", PENDULUM);
    plot("p.json", "--at 0 --view xy", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, "class=\"joint\""), 2);
    cr_expect_eq(count_of(result.out, "class=\"anchor\""), 2 + 1, "and one of the legend");
    cr_expect_eq(count_of(result.out, ">joint: anchor, axis, bodies</text>"), 1);
    extent_of(result.out, "body", box); // static bodies come first: the wall
    cr_expect_gt(box[0], 24.0);
    cr_expect_lt(box[2], 24.0 + 480.0);
    cr_expect_gt(box[2] - box[0], 5.0);
    plot("p.json", "--at 0 --arrows off", &result);
    cr_expect_eq(count_of(result.out, "class=\"joint\""), 2);
}

// A wheel that turns on and on: its angle goes on as well, by 9 rad/s.
Test(plot, angles_are_unwrapped)
{
    static double points[512][2];
    put_scene("p.json", PENDULUM);
    plot("p.json", "--trace joint --ticks 180 --view xy", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    const char *second_line = strstr(result.out, "<polyline fill=\"none\" points=\"");
    cr_assert_not_null(second_line);
    second_line = strstr(second_line + 1, "<polyline fill=\"none\" points=\"");
    cr_assert_not_null(second_line);
    int count = line_points(second_line, points, 512);
    cr_assert_eq(count, 181);
    for (int i = 1; i < count; i++) {
        cr_expect_lt(points[i][1], points[i - 1][1] + 0.02, "upward at every step: %d", i);
    }
    cr_expect_eq(count_of(result.out, ">20</text>"), 1, "27 rad in the end");
}

// Planes come before all bodies, whatever their depth.
Test(plot, planes_lie_under_what_stands_before_them)
{
    put_scene("room.json",
              "{\"carom\": 1, \"name\": \"room\", \"bodies\": ["
              "{\"name\": \"post\", \"type\": \"static\", \"position\": [0, 1, -2], \"shapes\": "
              "[{\"box\": "
              "{\"half_extents\": [0.2, 1, 0.2]}}]},"
              "{\"name\": \"ball\", \"position\": [1, 1, 0], \"shapes\": [{\"sphere\": "
              "{\"radius\": 0.4}}]},"
              "{\"name\": \"floor\", \"type\": \"static\", \"position\": [0, 0, 6], \"shapes\": "
              "[{\"plane\": "
              "{\"normal\": [0, 1, 0], \"offset\": 0}}]},"
              "{\"name\": \"back\", \"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": "
              "[0, 0, 1], \"offset\": -3}}]}]}");
    plot("room.json", "--at 0 --view oblique", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    const char *body = strstr(result.out, "class=\"body\"");
    cr_assert_not_null(body);
    cr_expect_eq(count_of(result.out, "class=\"plane\""), 2);
    cr_expect_eq(count_of(body, "class=\"plane\""), 0, "none after the first body");
}

// In a wall of boxes that nearly touch, each name stands below its box, beside the wall or in a box
// (its own), and never over an edge.
Test(plot, names_do_not_land_on_neighbours)
{
    put_scene("row.json",
              "{\"carom\": 1, \"name\": \"row\", \"gravity\": [0, 0, 0], \"arrays\": [{\"name\": "
              "\"box\", \"origin\": [0, 0, 0], \"count\": [5, 3, 1], \"spacing\": "
              "[1.02, 1.02, 1], \"of\": {\"shapes\": [{\"box\": {\"half_extents\": [0.5, 0.5, "
              "0.5]}}]}}]}");
    plot("row.json", "--at 0 --view xy", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
    cr_expect_eq(count_of(result.out, "class=\"name\""), 15);
    for (const char *at = strstr(result.out, "class=\"name\""); at != NULL;
         at = strstr(at + 1, "class=\"name\"")) {
        const char *start = at, *text = strchr(at, '>') + 1;
        while (*start != '<') {
            start--;
        }
        double x = strtod(strstr(start, "x=\"") + 3, NULL);
        double y = strtod(strstr(start, "y=\"") + 3, NULL);
        double half = 0.25 * 11.0 * (double)strcspn(text, "<"); // narrower than it is
        int inside = 0;
        for (const char *body = strstr(result.out, "class=\"body\""); body != NULL;
             body = strstr(body + 1, "class=\"body\"")) {
            double box[4];
            extent_of(body, "body", box);
            bool apart = x + half < box[0] || x - half > box[2] || y < box[1] || y - 8.0 > box[3];
            bool within = x - half > box[0] && x + half < box[2] && y - 8.0 > box[1] && y < box[3];
            cr_expect(apart || within, "%.20s over an edge", text);
            inside += within;
        }
        cr_expect_leq(inside, 1);
    }
}

Test(plot, above_forty_bodies_only_the_strongest_arrows)
{
    put_scene(
        "many.json",
        "{\"carom\": 1, \"name\": \"many\", \"gravity\": [0, 0, 0], \"arrays\": [{\"name\": \"c\", "
        "\"origin\": [0, 0, 0], \"count\": [41, 1, 1], \"spacing\": [2, 1, 1], \"of\": "
        "{\"linear_velocity\": [0, 1, 0], \"shapes\": [{\"sphere\": {\"radius\": 0.5}}]}}]}");
    plot("many.json", "--at 0", &result);
    cr_assert_eq(result.status, 0, "%s", result.err);
    cr_expect_eq(count_of(result.out, "class=\"velocity\""), 12);
    cr_expect_eq(count_of(result.out, "class=\"name\""), 0);
    cr_expect_eq(
        count_of(result.out, ">above 40 bodies: the 12 strongest arrows of a kind, no names<"), 1);
}

Test(plot, titles_say_what_is_summed)
{
    put_scene("two.json", SPHERES("two"));
    plot("two.json", "--trace energy,contacts --ticks 3", &result);
    cr_expect_eq(
        count_of(result.out, ">kinetic and potential energy, summed over all dynamic bodies<"), 1);
    cr_expect_eq(count_of(result.out, ">touching pairs of shapes<"), 1);
    plot("two.json", "--trace momentum_x --ticks 3 --body left", &result);
    cr_expect_eq(count_of(result.out, ">momentum along x, summed over left<"), 1);
}

Test(plot, every_scene_can_be_drawn)
{
    static const char *const SCENES[] = {"hello",  "machines", "pyramid", "sandbox",
                                         "shapes", "solids",   "tipping"};
    static const char *const VIEWS[] = {"auto", "xy", "xz", "zy", "oblique", "screen", "auto"};
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "plot tests/scenes/%s.json --at 0,20 --view %s --out %s/%s", SCENES[i], VIEWS[i],
                 folder, SCENES[i]);
        run_command(command, &result);
        cr_assert_eq(result.status, 0, "%s: %s", SCENES[i], result.err);
        snprintf(command, sizeof command, "%s/%s", folder, SCENES[i]);
        char *text = calloc(1, 4u << 20);
        FILE *file = fopen(command, "r");
        cr_assert_not_null(file);
        cr_assert_gt(fread(text, 1, (4u << 20) - 1, file), 1000);
        fclose(file);
        assert_xml(text);
        free(text);
    }
}

Test(plot, what_is_wrong_is_said)
{
    static const struct {
        const char *rest, *says;
    } CASES[] = {
        {"--at 5,5", "plot: --at: '5', expected ticks"},
        {"--at x", "plot: --at: 'x', expected ticks"},
        {"--at -1", "plot: --at: '-1', expected ticks"},
        {"--at 1,2,3,4,5,6,7", "expected at most 6 ticks"},
        {"--at 9 --ticks 3", "plot: --at: tick 9, expected at most --ticks 3"},
        {"--trace fury", "plot: --trace: 'fury', expected one of energy, "},
        {"--trace energy,", "plot: --trace: '', expected one of"},
        {"--solver hard", "plot: --solver: 'hard', expected soft, impulse, lcp, volume"},
        {"--trace x --body nobody", "plot: --body: no body 'nobody' in the scene"},
        {"--trace energy_map --ticks 3", "nothing touches, expected a scene with a collision"},
        {"--trace joint", "--trace joint: nothing to draw, expected a scene with joints"},
        {"--trace energy,joint_error", "--trace joint_error: nothing to draw"},
        {"--trace contact_force", "expected a scene with bodies with report_force, or pointers"},
        {"--grid 1", "expected a whole number from 2 to 41"},
        {"--view up", "expected one of auto|xy"},
    };
    put_scene("fall.json", FALL);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        plot("fall.json", CASES[i].rest, &result);
        cr_expect_eq(result.status, 2, "%s", CASES[i].rest);
        cr_expect_not_null(strstr(result.err, CASES[i].says), "%s: %s", CASES[i].rest, result.err);
        cr_expect_str_eq(result.out, "");
    }
    plot("fall.json", "--at 0 --out /no/such/folder/x.svg", &result);
    cr_expect_eq(result.status, 1);
    cr_expect_not_null(strstr(result.err, "x.svg: cannot be written: No such file"), "%s",
                       result.err);
    run_command("plot", &result);
    cr_expect_eq(result.status, 2);
}

// A scene with a game's rules is drawn with them, where their file is given.
Test(plot, the_rules_of_a_scene_come_from_a_file)
{
    char module[512], rest[600];
    put_scene("game.json", "{\"carom\": 1, \"module\": \"counter\", \"bodies\": [{\"shapes\": "
                           "[{\"sphere\": {\"radius\": 1}}]}]}");
    plot("game.json", "--at 0", &result);
    cr_expect_eq(result.status, 2);
    cr_expect_not_null(strstr(result.err, "no module 'counter' is built in or loaded, expected "));
    serving_find_module("counter", module, sizeof module);
    snprintf(rest, sizeof rest, "--at 0 --module %s", module);
    plot("game.json", rest, &result);
    cr_expect_eq(result.status, 0, "%s", result.err);
    assert_xml(result.out);
}
