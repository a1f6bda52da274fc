// Goal: the simulation gives the same bits on every machine and build, and tomorrow. Method: hashes
// of the golden scenes at every tenth tick against tests/golden/worlds.txt ("scene tick hash", and
// a hash of what the steps since then reported). A
// change that is meant to change results raises CAROM_ENGINE_VERSION and rewrites the file:
// CAROM_GOLDEN_UPDATE=1. Also: address, rubbish in scratch and the caller's floating-point
// environment change nothing.
#include "tests/unit/sim/golden_scenes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_FILE "tests/golden/worlds.txt"
#define GOLDEN_MOST 512u

typedef struct line {
    char scene[32];
    unsigned tick;
    unsigned long long hash;
    unsigned long long events; // of the steps since the line before
} line;

#if defined(__x86_64__)
// Steps with denormals off and rounding towards zero; asserts that the step leaves that as it was.
static void step_hostile(cm_rig *rig)
{
    unsigned saved = __builtin_ia32_stmxcsr();
    unsigned hostile = saved | 0x8040u | 0x6000u; // FTZ, DAZ, towards zero
    __builtin_ia32_ldmxcsr(hostile);
    cm_rig_step(rig, 1);
    unsigned after = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(saved);
    cr_assert_eq(after & 0xffc0u, hostile & 0xffc0u, "a step changed the caller's environment");
}
#else
static void step_hostile(cm_rig *rig)
{
    cm_rig_step(rig, 1);
}
#endif

static uint32_t run_scene(const cm_golden_scene *scene, uint32_t shift, bool hostile, line *lines)
{
    cm_rig rig = cm_golden_open(scene, shift);
    rig.rubbish = shift;
    scene->build(&rig);
    uint32_t count = 0;
    cm_hash events = cm_hash_begin(0);
    for (uint32_t tick = 0; tick <= scene->ticks; tick++) {
        if (tick % CM_GOLDEN_EVERY == 0) {
            snprintf(lines[count].scene, sizeof lines[count].scene, "%s", scene->name);
            lines[count].tick = tick;
            lines[count].hash = carom_world_hash(rig.world);
            lines[count].events = cm_hash_end(&events);
            events = cm_hash_begin(0);
            count++;
        }
        if (scene->drive != NULL) {
            scene->drive(rig.world, tick);
        }
        if (hostile) {
            step_hostile(&rig);
        } else {
            cm_rig_step(&rig, 1);
        }
        cm_golden_add_events(rig.world, &events);
    }
    cm_rig_close(&rig);
    return count;
}

static uint32_t run_all(uint32_t shift, bool hostile, line *lines)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        count += run_scene(&cm_golden_scenes[i], shift, hostile, lines + count);
    }
    return count;
}

static void write_golden(const line *lines, uint32_t count)
{
    FILE *file = fopen(GOLDEN_FILE, "w");
    cr_assert_not_null(file);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "%s %u %016llx %016llx\n", lines[i].scene, lines[i].tick, lines[i].hash,
                lines[i].events);
    }
    fclose(file);
}

Test(golden, hashes_are_those_on_file)
{
    line lines[GOLDEN_MOST];
    uint32_t count = run_all(0, false, lines), at = 0;
    if (getenv("CAROM_GOLDEN_UPDATE") != NULL) {
        write_golden(lines, count);
    }
    FILE *file = fopen(GOLDEN_FILE, "r");
    cr_assert_not_null(file, "run from the top of the repository: no " GOLDEN_FILE);
    line golden;
    while (fscanf(file, "%31s %u %llx %llx", golden.scene, &golden.tick, &golden.hash,
                  &golden.events) == 4) {
        cr_assert_lt(at, count);
        cr_assert_str_eq(golden.scene, lines[at].scene);
        cr_assert_eq(golden.tick, lines[at].tick);
        cr_assert_eq(golden.hash, lines[at].hash, "%s tick %u: %016llx, on file %016llx",
                     golden.scene, golden.tick, lines[at].hash, golden.hash);
        cr_assert_eq(golden.events, lines[at].events, "%s tick %u: other events", golden.scene,
                     golden.tick);
        at++;
    }
    fclose(file);
    cr_assert_eq(at, count);
}

Test(golden, address_changes_nothing)
{
    line first[GOLDEN_MOST], second[GOLDEN_MOST];
    uint32_t count = run_all(0, false, first);
    cr_assert_eq(run_all(3, false, second), count);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(first[i].hash, second[i].hash, "%s tick %u", first[i].scene, first[i].tick);
    }
}

Test(golden, flush_to_zero_and_rounding_on_entry_change_nothing)
{
    line first[GOLDEN_MOST], second[GOLDEN_MOST];
    uint32_t count = run_all(0, false, first);
    cr_assert_eq(run_all(0, true, second), count);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(first[i].hash, second[i].hash, "%s tick %u", first[i].scene, first[i].tick);
    }
}

// The scenes are worth hashing only if something happens in them.
Test(golden, scenes_touch_and_move)
{
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        const cm_golden_scene *scene = &cm_golden_scenes[i];
        line lines[GOLDEN_MOST];
        uint32_t count = run_scene(scene, 0, false, lines);
        for (uint32_t k = 1; k < count; k++) {
            cr_assert_neq(lines[k].hash, lines[k - 1].hash);
        }
        cm_rig rig = cm_golden_open(scene, 0);
        scene->build(&rig);
        uint64_t begins = 0;
        for (uint32_t tick = 0; tick < scene->ticks; tick++) {
            if (scene->drive != NULL) {
                scene->drive(rig.world, tick);
            }
            cm_rig_step(&rig, 1);
            uint32_t events;
            carom_world_contact_events(rig.world, &events);
            begins += events;
        }
        cr_assert_geq(begins, 3, "%s", scene->name);
        cm_rig_close(&rig);
    }
}
