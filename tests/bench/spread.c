// Quality over seeds: one run of a pile is a lottery, so a scene is run from some starts that
// differ by a centimetre a second, and the mean and the worst of them are judged. Not times: every
// figure is the same on every machine, so a limit can be today's figure and a little.
//
//   spread LIMITS [--seeds N] [SCENE...]     scenes of the table, by name; all of it by default
//
// A row of LIMITS: scene, steps, seeds, then the most that mean and worst may be of: deepest, the
// overlap of steps 60 on, mm; usual, the mean over steps of the deepest at each, mm; fastest, m/s,
// after the last step; fell, bodies likewise (fall.h). "-": not judged. "today/target": a target
// that is not reached yet is printed as MISSED.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/tools/bench/fall.h"
#include "server/tools/bench/quality.h"
#include "server/tools/bench/worlds.h"
#include "shared/base/rng.h"
#include "shared/scene/scene.h"
#include "shared/scene/scene_json.h"

#define FIGURES     4
#define WATCH_FROM  60u
#define WATCH_EVERY 5u
#define SHAKEN      0.01f // m/s, each way
#define MANY        20000u

static const char *const names[FIGURES] = {"deepest", "usual", "fastest", "fell"};

typedef struct limit {
    double most, target;
} limit;

typedef struct row {
    char scene[64];
    uint32_t steps, seeds;
    limit limits[FIGURES][2]; // of mean and worst
} row;

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "spread: %s: %s\n", which, what);
    exit(2);
}

static limit read_limit(const char *word)
{
    char *end;
    limit l = {HUGE_VAL, HUGE_VAL};
    if (strcmp(word, "-") != 0) {
        l.most = l.target = strtod(word, &end);
        if (*end == '/') {
            l.target = strtod(end + 1, &end);
        }
        if (*end != '\0') {
            fail("expected a limit", word);
        }
    }
    return l;
}

static bool read_row(const char *line, row *r)
{
    char words[2 * FIGURES][32];
    int count = sscanf(line, "%63s %u %u %31s %31s %31s %31s %31s %31s %31s %31s", r->scene,
                       &r->steps, &r->seeds, words[0], words[1], words[2], words[3], words[4],
                       words[5], words[6], words[7]);
    if (count <= 0 || r->scene[0] == '#') {
        return false;
    }
    if (count != 3 + 2 * FIGURES || r->steps < WATCH_FROM || r->seeds == 0) {
        fail("expected a scene, its steps, seeds and eight limits", line);
    }
    for (int i = 0; i < 2 * FIGURES; i++) {
        r->limits[i / 2][i % 2] = read_limit(words[i]);
    }
    return true;
}

// Overlaps are looked at only where they are judged: of hulls they take longer than the run.
static bool is_judged(const row *r, int figure)
{
    return r->limits[figure][0].most < HUGE_VAL || r->limits[figure][1].most < HUGE_VAL;
}

// Every body that moves gets a velocity of its own.
static void shake(carom_world *world, uint64_t seed)
{
    cm_rng rng;
    cm_rng_seed(&rng, seed);
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_id id = carom_world_body_at(world, slot);
        carom_body_state s;
        float by[3];
        for (int i = 0; i < 3; i++) {
            by[i] = cm_rng_range(&rng, -SHAKEN, SHAKEN);
        }
        if (carom_body_get(world, id, &s) == CAROM_OK && s.type == CAROM_BODY_DYNAMIC) {
            carom_vec3 v = {s.linear_velocity.x + by[0], s.linear_velocity.y + by[1],
                            s.linear_velocity.z + by[2]};
            carom_body_set_velocity(world, id, v, s.angular_velocity);
        }
    }
}

static double fastest_of(const carom_world *world)
{
    double fastest = 0.0;
    for (uint32_t slot = 0; slot < carom_world_body_slots(world); slot++) {
        carom_body_state s;
        if (carom_body_get(world, carom_world_body_at(world, slot), &s) == CAROM_OK) {
            const carom_vec3 v = s.linear_velocity;
            fastest = fmax(fastest, hypot(hypot((double)v.x, (double)v.y), (double)v.z));
        }
    }
    return fastest;
}

// Of a scene's file, or of the generator where there is none. What is measured is work: awake.
static carom_world *open_world(const cm_scene *scene)
{
    if (scene == NULL) {
        return cm_bench_pile(MANY, 40, CM_BENCH_SEED);
    }
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    def.sleep = false;
    carom_world *world = cm_bench_world_new(&def);
    return world != NULL && cm_scene_populate(scene, world) == CAROM_OK ? world : NULL;
}

static void run_seed(const row *r, const cm_scene *scene, uint64_t seed, double figures[FIGURES])
{
    carom_world *world = open_world(scene);
    double *heights = world == NULL ? NULL : cm_fall_begin(world);
    if (heights == NULL) {
        fail("no world of it", r->scene);
    }
    shake(world, seed);
    double sum = 0.0, watched = 0.0;
    figures[0] = 0.0;
    for (uint32_t step = 1; step <= r->steps; step++) {
        carom_world_step(world);
        cm_quality quality;
        if (is_judged(r, 0) && step >= WATCH_FROM && step % WATCH_EVERY == 0) {
            if (cm_quality_of_world(world, NULL, 0, &quality) != CAROM_OK) {
                fail("a shape that is not known", r->scene);
            }
            figures[0] = fmax(figures[0], 1e3 * quality.max_penetration);
            sum += 1e3 * quality.max_penetration;
            watched += 1.0;
        }
    }
    figures[1] = watched > 0.0 ? sum / watched : 0.0;
    figures[2] = fastest_of(world);
    figures[3] = cm_fall_count(world, heights);
    free(heights);
    cm_bench_world_free(world);
}

// Counts passed and failed figures into `counts`.
static void judge(const row *r, int figure, int which, double value, unsigned counts[2])
{
    limit l = r->limits[figure][which];
    const char *name = which == 0 ? "mean" : "worst";
    if (l.most == HUGE_VAL) {
        return;
    }
    counts[value > l.most]++;
    if (value > l.most) {
        printf("FAILED %s: %s %s %.3g, at most %g\n", r->scene, name, names[figure], value, l.most);
    } else if (value > l.target) {
        printf("MISSED %s: %s %s %.3g, wanted %g\n", r->scene, name, names[figure], value,
               l.target);
    }
}

static void run_scene(const row *r, unsigned counts[2])
{
    static const char *const folders[] = {"bench", "games"};
    cm_scene *scene = NULL;
    cm_scene_error error;
    for (uint32_t i = 0; i < 2 && scene == NULL && strcmp(r->scene, "pile_20000") != 0; i++) {
        char path[128];
        snprintf(path, sizeof path, "tests/scenes/%s/%s.json", folders[i], r->scene);
        if (cm_scene_from_file(path, &scene, &error) != CAROM_OK && i == 1) {
            fail(error.message, r->scene);
        }
    }
    double sum[FIGURES] = {0}, worst[FIGURES] = {0};
    for (uint32_t seed = 1; seed <= r->seeds; seed++) {
        double figures[FIGURES];
        run_seed(r, scene, seed, figures);
        printf("%s seed %u:", r->scene, (unsigned)seed);
        for (int i = 0; i < FIGURES; i++) {
            if (is_judged(r, i)) {
                printf(" %s %.4g", names[i], figures[i]);
            }
            sum[i] += figures[i];
            worst[i] = fmax(worst[i], figures[i]);
        }
        printf("\n");
        fflush(stdout);
    }
    printf("%s, mean and worst of %u:", r->scene, (unsigned)r->seeds);
    for (int i = 0; i < FIGURES; i++) {
        if (is_judged(r, i)) {
            printf(" %s %.4g %.4g", names[i], sum[i] / r->seeds, worst[i]);
        }
    }
    printf("\n");
    for (int i = 0; i < FIGURES; i++) {
        judge(r, i, 0, sum[i] / r->seeds, counts);
        judge(r, i, 1, worst[i], counts);
    }
    cm_scene_free(scene);
}

static bool is_named(int count, char **scenes, const char *scene)
{
    bool named = count <= 0;
    for (int i = 0; i < count; i++) {
        named = named || strcmp(scenes[i], scene) == 0;
    }
    return named;
}

int main(int argc, char **argv)
{
    FILE *table = argc > 1 ? fopen(argv[1], "r") : NULL;
    bool given = argc > 3 && strcmp(argv[2], "--seeds") == 0;
    uint32_t seeds = given ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    int first = given ? 4 : 2;
    if (table == NULL || (given && seeds == 0)) {
        fail("expected a table of limits, and a number of seeds", argc > 1 ? argv[1] : "");
    }
    unsigned counts[2] = {0, 0};
    char line[256];
    while (fgets(line, sizeof line, table) != NULL) {
        row r;
        if (read_row(line, &r) && is_named(argc - first, argv + first, r.scene)) {
            r.seeds = given ? seeds : r.seeds;
            run_scene(&r, counts);
        }
    }
    fclose(table);
    printf("%u passed, %u failed\n", counts[0], counts[1]);
    return counts[1] > 0 || counts[0] == 0;
}
