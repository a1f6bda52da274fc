// What a scene is warned of, beside what then happens. Goal: a figure that a warning names is that
// of the engine, within a factor of 2 (of 2.5 over the whole grid), and scenes that stand are not
// warned of. Method: scenes made for it are run: at half of a limit they hold, at twice they do
// not; lengths are measured. `make measure-strength` looks for each limit of the grid instead and
// prints measured beside computed figures, and the mean of each kind: what to multiply its factor
// in shared/scene/strength.c by.
#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"
#include "shared/scene/strength.h"
#include "tests/unit/counts.h"

typedef enum figure { STRETCH, TEARS, TEARS_PLAIN, SINKS, WEIGHT, STACK, SPEED, FIGURES } figure;

static const char *const NAMES[FIGURES] = {
    "stretch of locks, m", "load of locks, links", "load of balls, links",  "sinking, m",
    "weight borne, times", "size that stacks, m",  "speed that passes, m/s"};

typedef struct row {
    figure figure;
    uint32_t rate, substeps; // 0: left open
    double size;             // m: of a link, a cube, a ball
    double amount;           // load in links; times the mass; height; a wall's thickness in m
    uint32_t links;
    carom_solver_type solver;
} row;

typedef struct stage {
    char text[16384];
    size_t used;
    cm_scene *scene;
    carom_world *world;
    void *memory;
} stage;

__attribute__((format(printf, 2, 3))) static void put(stage *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    s->used += (size_t)vsnprintf(s->text + s->used, sizeof s->text - s->used, format, arguments);
    va_end(arguments);
    cr_assert_lt(s->used, sizeof s->text);
}

static void put_chain(stage *s, const row *r, double load)
{
    const char *type = r->figure == TEARS_PLAIN ? "ball" : "hinge";
    double half = 0.5 * r->size;
    for (uint32_t i = 0; i < r->links; i++) {
        bool last = i + 1 == r->links;
        double thin = last ? half : 0.2 * half;
        put(s,
            "%s{\"name\": \"l%u\", \"mass\": %.9g, \"position\": [%.9g, 0, 0], \"shapes\": [{"
            "\"box\": {\"half_extents\": [%.9g, %.9g, %.9g]}, \"filter\": {\"mask\": 0}}]%s}",
            i > 0 ? ",\n" : "", i, last ? load : 1.0, (i + 0.5) * r->size, half, thin, thin,
            r->figure == TEARS_PLAIN ? "" : ", \"axis_locks\": [\"z\"]");
    }
    put(s, "],\n\"joints\": [");
    for (uint32_t i = 0; i < r->links; i++) {
        char above[16];
        snprintf(above, sizeof above, "l%u", i - 1);
        put(s,
            "%s{\"type\": \"%s\", \"a\": \"%s\", \"b\": \"l%u\", \"anchor\": [%.9g, 0, 0], "
            "\"axis\": [0, 0, 1]}",
            i > 0 ? ",\n" : "", type, i > 0 ? above : "world", i, i * r->size);
    }
}

static void put_cube(stage *s, uint32_t index, double size, double mass)
{
    put(s,
        ",\n{\"mass\": %.9g, \"position\": [0, %.9g, 0], \"shapes\": [{\"friction\": 0.6, "
        "\"box\": {\"half_extents\": [%.9g, %.9g, %.9g]}}]}",
        mass, (index + 0.5) * size, 0.5 * size, 0.5 * size, 0.5 * size);
}

static void put_bodies(stage *s, const row *r, double x)
{
    static const char ground[] = "{\"type\": \"static\", \"shapes\": [{\"friction\": 1, \"plane\": "
                                 "{\"normal\": [0, 1, 0], \"offset\": 0}}]}";
    switch (r->figure) {
    case STRETCH:
    case TEARS:
    case TEARS_PLAIN:
        put_chain(s, r, x);
        return;
    case SPEED:
        put(s,
            "{\"type\": \"static\", \"name\": \"wall\", \"shapes\": [{\"box\": {\"half_extents\": "
            "[%.9g, 5, 5]}}]},\n{\"position\": [%.9g, 0, 0], \"linear_velocity\": [%.9g, 0, 0], "
            "\"shapes\": [{\"sphere\": {\"radius\": %.9g}}]}",
            0.5 * r->amount, -(floor(5.0 * r->rate / x) + 0.5) * x / r->rate, x, 0.5 * r->size);
        return;
    default:
        put(s, "%s", ground);
        for (uint32_t i = 0; i < (r->figure == STACK ? (uint32_t)r->amount : 2u); i++) {
            put_cube(s, i, r->figure == STACK ? x : r->size,
                     i == 0 || r->figure == STACK ? 1.0 : x);
        }
    }
}

static void open_stage(stage *s, const row *r, double x)
{
    char substeps[32] = "";
    carom_world_def def;
    cm_scene_error error;
    s->used = 0;
    if (r->substeps > 0) {
        snprintf(substeps, sizeof substeps, ", \"substeps\": %u", r->substeps);
    }
    put(s, "{\"carom\": 1, \"tick_rate\": %u, \"sleep\": false, \"gravity\": [0, %s, 0],\n",
        r->rate, r->figure == SPEED ? "0" : "-9.81");
    put(s, "\"solver\": {\"type\": \"%s\"%s},\n\"bodies\": [",
        r->solver == CAROM_SOLVER_LCP ? "lcp" : "soft", substeps);
    put_bodies(s, r, x);
    put(s, "]}\n");
    cr_assert_eq(cm_scene_from_json(s->text, s->used, &s->scene, &error), CAROM_OK, "%s: %s",
                 error.path, error.message);
    cm_scene_world_def(s->scene, &def);
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    s->memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, s->memory, size, &s->world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(s->scene, s->world), CAROM_OK);
}

static void close_stage(stage *s)
{
    free(s->memory);
    cm_scene_free(s->scene);
}

static carom_body_state last_body(const stage *s)
{
    carom_body_state state;
    uint32_t last = carom_world_body_slots(s->world) - 1;
    cr_assert_eq(carom_body_get(s->world, carom_world_body_at(s->world, last), &state), CAROM_OK);
    return state;
}

static double worst_joint(const stage *s)
{
    double most = 0.0;
    for (uint32_t i = 0; i < carom_world_joint_slots(s->world); i++) {
        carom_joint_state joint;
        carom_joint_get(s->world, carom_world_joint_at(s->world, i), &joint);
        most = fmax(most, (double)joint.error);
    }
    return most;
}

// Runs it: of a chain the most that a joint parted, of cubes how far the last one sank or fell, of
// a ball how far behind the wall it is, m.
static double run(const row *r, double x)
{
    stage s;
    open_stage(&s, r, x);
    bool chain = r->figure <= TEARS_PLAIN;
    double first = (double)last_body(&s).position.y, most = 0.0;
    uint32_t ticks = r->rate * (r->figure == STACK ? 20u : chain ? 6u : 10u);
    for (uint32_t i = 0; i < (r->figure == SPEED ? r->rate : ticks); i++) {
        carom_world_step(s.world);
        most = chain ? fmax(most, worst_joint(&s)) : 0.0;
    }
    carom_vec3 at = last_body(&s).position;
    close_stage(&s);
    return chain ? most : r->figure == SPEED ? (double)at.x : first - (double)at.y;
}

static bool holds(const row *r, double x)
{
    double moved = run(r, x);
    switch (r->figure) {
    case SPEED:
        return moved < 0.0;
    case STACK:
        return moved < 0.3 * x;
    default:
        return moved < 0.3 * r->size;
    }
}

static double size_that_stacks(const cm_strength *s, double height)
{
    double low = 1e-6, high = 1e6;
    for (int i = 0; i < 80; i++) {
        double middle = sqrt(low * high);
        *(cm_strength_stack(s, middle) < height ? &low : &high) = middle;
    }
    return high;
}

static double computed(const row *r)
{
    carom_world_def def = carom_default_world_def();
    def.solver.type = r->solver;
    def.tick_rate = r->rate;
    def.solver.soft.substeps = def.solver.lcp.substeps = r->substeps;
    cm_strength s = cm_strength_of(&def);
    switch (r->figure) {
    case STRETCH: // the joint above the load; the first one holds the world
        return cm_strength_stretch(&s, 2.0 * (r->amount + r->links - 2.0), false);
    case TEARS:
        return cm_strength_load(&s, r->size, false);
    case TEARS_PLAIN:
        return cm_strength_load(&s, r->size, true);
    case SINKS:
        return cm_strength_sink(&s, r->size, r->amount);
    case WEIGHT:
        return cm_strength_weight(&s, r->size);
    case STACK:
        return size_that_stacks(&s, r->amount);
    default:
        return cm_strength_speed(&s, r->size, r->amount);
    }
}

// The first `FEW` are held in `make test`.
#define FEW 9u
static const row ROWS[] = {
    {STRETCH, 60, 4, 0.5, 100, 20, 0},
    {STRETCH, 60, 8, 0.5, 100, 10, 0},
    {TEARS, 60, 4, 0.5, 0, 8, 0},
    {TEARS_PLAIN, 60, 4, 0.5, 0, 20, 0},
    {TEARS_PLAIN, 60, 4, 0.5, 0, 8, CAROM_SOLVER_LCP},
    {SINKS, 60, 4, 1.0, 100, 0, 0},
    {WEIGHT, 60, 4, 1.0, 0, 0, 0},
    {STACK, 60, 4, 0.0, 10, 0, 0},
    {SPEED, 60, 4, 0.4, 0.08, 0, 0},
    {STRETCH, 30, 4, 0.5, 30, 5, 0},
    {STRETCH, 60, 4, 0.5, 100, 5, 0},
    {STRETCH, 60, 4, 2.0, 300, 10, 0},
    {STRETCH, 60, 16, 0.5, 100, 20, 0},
    {STRETCH, 120, 4, 0.5, 300, 10, 0},
    {TEARS, 30, 4, 0.5, 0, 8, 0},
    {TEARS, 30, 8, 2.0, 0, 20, 0},
    {TEARS, 60, 8, 0.1, 0, 8, 0},
    {TEARS, 60, 4, 2.0, 0, 20, 0},
    {TEARS, 60, 4, 0.5, 0, 3, 0},
    {TEARS, 120, 4, 0.5, 0, 8, 0},
    {TEARS_PLAIN, 30, 4, 2.0, 0, 8, 0},
    {TEARS_PLAIN, 60, 8, 0.1, 0, 20, 0},
    {TEARS_PLAIN, 60, 8, 2.0, 0, 8, 0},
    {TEARS_PLAIN, 120, 4, 0.5, 0, 8, 0},
    {TEARS_PLAIN, 30, 4, 0.5, 0, 8, CAROM_SOLVER_LCP},
    {SINKS, 60, 4, 1.0, 30, 0, 0},
    {SINKS, 60, 16, 1.0, 100, 0, 0},
    {SINKS, 120, 4, 0.5, 100, 0, 0},
    {WEIGHT, 20, 4, 0.2, 0, 0, 0},
    {WEIGHT, 20, 8, 1.0, 0, 0, 0},
    {WEIGHT, 60, 4, 0.05, 0, 0, 0},
    {WEIGHT, 60, 8, 0.2, 0, 0, 0},
    {WEIGHT, 60, 16, 1.0, 0, 0, 0},
    {WEIGHT, 60, 0, 0.2, 0, 0, 0},
    {WEIGHT, 60, 0, 1.0, 0, 0, 0},
    {WEIGHT, 120, 4, 0.2, 0, 0, 0},
    {STACK, 20, 4, 0.0, 5, 0, 0},
    {STACK, 20, 8, 0.0, 10, 0, 0},
    {STACK, 20, 0, 0.0, 10, 0, 0},
    {STACK, 60, 4, 0.0, 5, 0, 0},
    {STACK, 60, 4, 0.0, 20, 0, 0},
    {STACK, 60, 0, 0.0, 10, 0, 0},
    {STACK, 60, 16, 0.0, 10, 0, 0},
    {STACK, 120, 4, 0.0, 10, 0, 0},
    {SPEED, 60, 4, 0.1, 0.02, 0, 0},
    {SPEED, 60, 4, 0.4, 0.32, 0, 0},
    {SPEED, 120, 4, 0.1, 0.08, 0, 0},
};
#define ALL (sizeof ROWS / sizeof ROWS[0])

// Looked for from an eighth of what is computed to eight times.
static double measure(const row *r, double expected)
{
    if (r->figure == STRETCH || r->figure == SINKS) {
        return run(r, r->amount);
    }
    double low = expected / 8.0, high = expected * 8.0;
    for (int i = 0; i < 7; i++) {
        double middle = sqrt(low * high);
        *(holds(r, middle) != (r->figure == STACK) ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

static void check_row(const row *r)
{
    double expected = computed(r);
    if (r->figure == STRETCH || r->figure == SINKS) {
        double ratio = run(r, r->amount) / expected;
        cr_expect(ratio > 0.5 && ratio < 2.0, "%s: measured %g of %g", NAMES[r->figure],
                  ratio * expected, expected);
        return;
    }
    bool up = r->figure != STACK;
    cr_expect(holds(r, up ? 0.5 * expected : 2.0 * expected), "%s: fails at half of %g",
              NAMES[r->figure], expected);
    cr_expect(!holds(r, up ? 2.0 * expected : 0.5 * expected), "%s: holds at twice %g",
              NAMES[r->figure], expected);
}

Test(strength, figures_are_those_of_the_engine)
{
    if (test_count(FEW, ALL) == FEW) {
        for (uint32_t i = 0; i < FEW; i++) {
            check_row(&ROWS[i]);
        }
        return;
    }
    double logs[FIGURES] = {0};
    uint32_t counts[FIGURES] = {0};
    for (uint32_t i = 0; i < ALL; i++) {
        const row *r = &ROWS[i];
        double expected = computed(r), measured = measure(r, expected), ratio = measured / expected;
        cr_log_info("%-22s %3u Hz, %2u substeps, %4.2g m, %3g, %2u links: %8.4g of %8.4g, %.2f\n",
                    NAMES[r->figure], r->rate, r->substeps, r->size, r->amount, r->links, measured,
                    expected, ratio);
        cr_expect(ratio > 0.4 && ratio < 2.5, "%s: measured %g of %g", NAMES[r->figure], measured,
                  expected);
        logs[r->figure] += log(ratio);
        counts[r->figure]++;
    }
    for (uint32_t i = 0; i < FIGURES; i++) {
        cr_log_info("%s: times %.2f in the mean\n", NAMES[i], exp(logs[i] / counts[i]));
    }
}

// The warning ----------------------------------------------------------------------------------

static uint32_t warnings_of(const row *r, double x, cm_scene_error *warnings)
{
    stage s;
    open_stage(&s, r, x);
    uint32_t count = cm_scene_loads(s.scene, s.world, -1, warnings, CM_SCENE_LOADS_MAX);
    close_stage(&s);
    return count;
}

// The number that stands behind `before` in the warning of a path that begins so.
static double figure_of(const row *r, double x, const char *path, const char *before)
{
    cm_scene_error warnings[CM_SCENE_LOADS_MAX];
    uint32_t count = warnings_of(r, x, warnings);
    for (uint32_t i = 0; i < count; i++) {
        const char *at = strstr(warnings[i].message, before);
        if (at != NULL && strncmp(warnings[i].path, path, strlen(path)) == 0) {
            cr_expect_not_null(strstr(warnings[i].message, "expected"));
            return atof(at + strlen(before));
        }
    }
    cr_assert_fail("no warning of %s with '%s'; the first of %u: %s", path, before, count,
                   count > 0 ? warnings[0].message : "");
    return 0.0;
}

static void expect_near(double told, double measured)
{
    cr_expect(told < 2.0 * measured && told > 0.5 * measured, "told %g, measured %g", told,
              measured);
}

// "a load of 100 links (100 kg) at 4 substeps stretches this joint by 50 mm …; 8 substeps: 12 mm"
Test(strength, warnings_name_the_figure)
{
    static const row hinges = {STRETCH, 60, 4, 0.5, 100, 20, 0},
                     finer = {STRETCH, 60, 8, 0.5, 0, 20, 0};
    expect_near(figure_of(&hinges, 100, "$.joints[1]", "joint by "), 1e3 * run(&hinges, 100));
    expect_near(figure_of(&hinges, 100, "$.joints[1]", "8 substeps: "), 1e3 * run(&finer, 100));
    static const row balls = {TEARS_PLAIN, 60, 4, 0.5, 0, 20, 0};
    double bears = figure_of(&balls, 1000, "$.joints[0]", "which bears ");
    cr_expect(holds(&balls, 0.5 * bears) && !holds(&balls, 2.0 * bears), "%g", bears);
    static const row cubes = {WEIGHT, 60, 4, 1.0, 0, 0, 0};
    bears = figure_of(&cubes, 1000, "$.bodies[1]", "which bears ");
    cr_expect(holds(&cubes, 0.5 * bears) && !holds(&cubes, 2.0 * bears), "%g", bears);
    static const row ball = {SPEED, 60, 4, 0.4, 0.08, 0, 0};
    double speed = figure_of(&ball, 90, "$.bodies[1]", "from ");
    cr_expect(holds(&ball, 0.5 * speed) && !holds(&ball, 2.0 * speed), "%g", speed);
    static const row stack = {STACK, 20, 4, 0.0, 10, 0, 0};
    double height = figure_of(&stack, 0.05, "$.bodies[1]", "50 mm ");
    row lower = stack, higher = stack;
    lower.amount = floor(height / 1.4);
    higher.amount = ceil(height * 1.4);
    cr_expect(holds(&lower, 0.05) && !holds(&higher, 0.05), "%g", height);
}

static void open_file(stage *s, const char *file)
{
    cm_scene_error error;
    carom_world_def def;
    cr_assert_eq(cm_scene_from_file(file, &s->scene, &error), CAROM_OK);
    cm_scene_world_def(s->scene, &def);
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    s->memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, s->memory, size, &s->world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(s->scene, s->world), CAROM_OK);
}

// What stands is not warned of: the loads, stacks and small things of the physics tests, and the
// scenes of this repository.
Test(strength, what_stands_is_not_warned_of)
{
    static const row good[] = {
        {TEARS_PLAIN, 60, 0, 0.5, 100, 20, 0},
        {TEARS_PLAIN, 60, 0, 0.5, 1000, 20, CAROM_SOLVER_LCP},
        {TEARS, 60, 0, 0.5, 20, 5, 0},
        {WEIGHT, 60, 0, 1.0, 1000, 0, 0},
        {WEIGHT, 60, 4, 1.0, 80, 0, 0},
        {SPEED, 60, 0, 0.4, 20, 0, 0},
    };
    static const char *const files[] = {"tests/scenes/games/coins.json",
                                        "tests/scenes/games/columns.json",
                                        "tests/scenes/games/dominoes.json",
                                        "tests/scenes/games/jenga_small.json",
                                        "tests/scenes/games/ragdolls.json",
                                        "tests/scenes/games/heavy_on_light.json",
                                        "tests/scenes/games/load_balls.json",
                                        "tests/scenes/games/pyramid_small.json",
                                        "tests/scenes/bench/D_chains100x20.json",
                                        "tests/scenes/machines.json",
                                        "tests/scenes/wrecking.json",
                                        "tests/scenes/hello.json"};
    cm_scene_error warnings[CM_SCENE_LOADS_MAX];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double x = good[i].amount;
        cr_expect_eq(warnings_of(&good[i], x, warnings), 0, "%zu: %s", i, warnings[0].message);
        cr_expect(holds(&good[i], x), "%zu", i);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        stage s;
        open_file(&s, files[i]);
        cr_expect_eq(cm_scene_loads(s.scene, s.world, -1, warnings, CM_SCENE_LOADS_MAX), 0,
                     "%s: %s", files[i], warnings[0].message);
        close_stage(&s);
    }
}

// Limbs whose joints rub come to rest: of twenty heaps 18 sleep within 30 s, in the others a limb
// or two chatter on. Without friction heads and hands swing on for minutes.
Test(strength, ragdolls_fall_asleep)
{
    stage s;
    open_file(&s, "tests/scenes/games/ragdolls.json");
    for (uint32_t tick = 0; tick < 1800; tick++) {
        carom_world_step(s.world);
    }
    uint32_t asleep = 0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(s.world); slot++) {
        carom_body_state body;
        cr_assert_eq(carom_body_get(s.world, carom_world_body_at(s.world, slot), &body), CAROM_OK);
        asleep += body.asleep;
    }
    cr_expect_geq(asleep, 110, "%u of 220 sleep", asleep);
    close_stage(&s);
}
