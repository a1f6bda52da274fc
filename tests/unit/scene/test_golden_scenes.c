// Golden hashes of scenes from their JSON files. Goal: no change moves a bit of what a scene
// does without someone saying so. Method: the world's hash at ticks 0, 60, …, 600 against
// tests/golden/SCENE.txt; once straight, once saved and restored at every tick. A change of a
// golden hash raises CAROM_ENGINE_VERSION; CAROM_GOLDEN_UPDATE=1 rewrites the files.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/world.h"
#include "shared/scene/scene_json.h"

#define TICKS 600
#define EVERY 60

typedef struct run {
    cm_scene *scene; // its hulls outlive the world
    carom_world *world;
    void *memory;
    char *image;
} run;

static void start(const char *name, run *r)
{
    char path[128];
    cm_scene_error error;
    carom_world_def def;
    snprintf(path, sizeof path, "tests/scenes/%s.json", name);
    cr_assert_eq(cm_scene_from_file(path, &r->scene, &error), CAROM_OK, "%s: %s", error.path,
                 error.message);
    cm_scene_world_def(r->scene, &def);
    size_t size = (carom_world_size(&def) + 63) / 64 * 64;
    r->memory = aligned_alloc(64, size);
    cr_assert_eq(carom_world_create(&def, r->memory, size, &r->world), CAROM_OK);
    cr_assert_eq(cm_scene_populate(r->scene, r->world), CAROM_OK);
    r->image = aligned_alloc(64, (carom_world_save_bound(r->world) + 63) / 64 * 64);
}

static void stop(run *r)
{
    cm_scene_free(r->scene);
    free(r->memory);
    free(r->image);
}

static void check(const char *name)
{
    run straight, rewound;
    char path[128];
    start(name, &straight);
    start(name, &rewound);
    const char *update = getenv("CAROM_GOLDEN_UPDATE");
    bool write = update != NULL && strcmp(update, "1") == 0;
    snprintf(path, sizeof path, "tests/golden/%s.txt", name);
    FILE *file = fopen(path, write ? "w" : "r");
    cr_assert_not_null(file, "%s: run the tests from the root of the repository", path);
    for (int tick = 0; tick <= TICKS; tick++) {
        unsigned long long hash = carom_world_hash(straight.world), golden = 0;
        cr_assert_eq(carom_world_hash(rewound.world), hash, "%s: rewound at tick %d", name, tick);
        if (tick % EVERY == 0 && write) {
            fprintf(file, "%d %016llx\n", tick, hash);
        } else if (tick % EVERY == 0) {
            int at = -1;
            cr_assert_eq(fscanf(file, "%d %llx", &at, &golden), 2, "%s: too short", path);
            cr_assert_eq(at, tick);
            cr_assert_eq(hash, golden, "%s: tick %d: %016llx, expected %016llx", name, tick, hash,
                         golden);
        }
        carom_world_step(straight.world);
        size_t size =
            carom_world_save(rewound.world, rewound.image, carom_world_save_bound(rewound.world));
        carom_world_step(rewound.world);
        carom_world_step(rewound.world);
        cr_assert_eq(carom_world_restore(rewound.world, rewound.image, size), CAROM_OK);
        carom_world_step(rewound.world);
    }
    fclose(file);
    stop(&straight);
    stop(&rewound);
}

Test(golden_scenes, tipping)
{
    check("tipping");
}

Test(golden_scenes, heavy_on_light)
{
    check("heavy_on_light");
}

Test(golden_scenes, crowd)
{
    check("crowd");
}

Test(golden_scenes, machines)
{
    check("machines");
}

Test(golden_scenes, understeer)
{
    check("understeer");
}

Test(golden_scenes, sleepers)
{
    check("sleepers");
}

Test(golden_scenes, solids)
{
    check("solids");
}

Test(golden_scenes, conveyor)
{
    check("conveyor");
}

Test(golden_scenes, locks)
{
    check("locks");
}

Test(golden_scenes, planar)
{
    check("planar");
}

// One, four, eight and sixteen lanes beside each other; what a processor does not have, it takes
// apart.
static void check_lanes(const char *name)
{
    static const uint32_t widths[4] = {1, 4, 8, 16};
    run runs[4];
    for (int i = 0; i < 4; i++) {
        start(name, &runs[i]);
        carom_world_set_lanes(runs[i].world, widths[i]);
    }
    for (int tick = 0; tick < TICKS; tick++) {
        for (int i = 0; i < 4; i++) {
            carom_world_step(runs[i].world);
            cr_assert_eq(carom_world_hash(runs[i].world), carom_world_hash(runs[0].world),
                         "%s tick %d: %u lanes differ from one", name, tick, widths[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        stop(&runs[i]);
    }
}

Test(golden_scenes, lanes_of_special_contacts)
{
    check_lanes("conveyor");
    check_lanes("locks");
    check_lanes("planar");
}

// Seven ticks on and back again, at every tenth tick.
static void check_rewind(const char *name)
{
    run one, two;
    start(name, &one);
    start(name, &two);
    for (int tick = 0; tick < TICKS; tick += 10) {
        size_t size = carom_world_save(one.world, one.image, carom_world_save_bound(one.world));
        cr_assert_eq(carom_world_restore(two.world, one.image, size), CAROM_OK);
        for (int i = 0; i < 7; i++) {
            carom_world_step(two.world);
        }
        cr_assert_eq(carom_world_restore(two.world, one.image, size), CAROM_OK);
        for (int i = 0; i < 10; i++) {
            carom_world_step(one.world);
            carom_world_step(two.world);
            cr_assert_eq(carom_world_hash(one.world), carom_world_hash(two.world), "%s tick %d",
                         name, tick + i);
        }
    }
    stop(&one);
    stop(&two);
}

Test(golden_scenes, special_contacts_rewind)
{
    check_rewind("conveyor");
    check_rewind("locks");
    check_rewind("planar");
}
