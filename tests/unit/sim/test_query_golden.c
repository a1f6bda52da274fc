// Goal: queries have the same bits on every machine and build, and tomorrow, whatever state the
// caller's floating-point environment is in. Method: a hash of what they find in the golden scenes
// at every tenth tick (golden_queries.c) against tests/golden/queries.txt ("scene tick hash").
// CAROM_GOLDEN_UPDATE=1 rewrites the file. The matrix compares it on other architectures.
#include "shared/sim/inspect.h"
#include "tests/unit/sim/golden_queries.h"
#include "tests/unit/sim/golden_scenes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_FILE "tests/golden/queries.txt"

// With denormals off and rounding towards zero.
static uint64_t ask_hostile(const carom_world *world)
{
#if defined(__x86_64__)
    unsigned saved = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(saved | 0x8040u | 0x6000u);
    uint64_t hash = cm_golden_queries(world);
    __builtin_ia32_ldmxcsr(saved);
    return hash;
#else
    return cm_golden_queries(world);
#endif
}

static void ask_scene(const cm_golden_scene *scene, FILE *to)
{
    cm_rig rig = cm_golden_open(scene, 0);
    scene->build(&rig);
    for (uint32_t tick = 0; tick <= scene->ticks; tick++) {
        if (tick % CM_GOLDEN_EVERY == 0) {
            uint64_t world = carom_world_hash(rig.world), hash = cm_golden_queries(rig.world);
            fprintf(to, "%s %u %016llx\n", scene->name, (unsigned)tick, (unsigned long long)hash);
            cm_world_spoil_scratch(rig.world, 0x3f);
            cr_assert_eq(hash, ask_hostile(rig.world), "%s tick %u", scene->name, (unsigned)tick);
            cr_assert_eq(world, carom_world_hash(rig.world));
        }
        if (scene->drive != NULL) {
            scene->drive(rig.world, tick);
        }
        cm_rig_step(&rig, 1);
    }
    cm_rig_close(&rig);
}

Test(query_golden, answers_are_those_on_file)
{
    char *now = NULL;
    size_t size = 0, length = 0;
    FILE *memory = open_memstream(&now, &size);
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        ask_scene(&cm_golden_scenes[i], memory);
    }
    fclose(memory);
    if (getenv("CAROM_GOLDEN_UPDATE") != NULL) {
        FILE *file = fopen(GOLDEN_FILE, "w");
        cr_assert(file != NULL && fwrite(now, 1, size, file) == size);
        fclose(file);
    }
    FILE *file = fopen(GOLDEN_FILE, "r");
    cr_assert_not_null(file, "run from the top of the repository: no " GOLDEN_FILE);
    char line[128];
    while (fgets(line, sizeof line, file) != NULL) {
        cr_assert_eq(strncmp(line, now + length, strlen(line)), 0, "on file: %s", line);
        length += strlen(line);
    }
    fclose(file);
    cr_assert_eq(length, size);
    free(now);
}
