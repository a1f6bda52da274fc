// Prints the golden worlds' hashes, in the form of tests/golden/worlds.txt. No scene files, no
// libraries but libc: this is what the matrix builds for every architecture.
//
// golden lanes: how many this processor has.
// golden [LANES [write|read DIR]]: LANES 0 as the processor has, 1, 4, 8, 16. `write` puts each
// world as it is at tick HALF into DIR/SCENE.image in the portable form, and what queries find into
// DIR/queries.txt, in the form of tests/golden/queries.txt; `read` goes on from there, in a
// world that holds nothing of what went before, and prints what comes after.
#include "shared/base/processor.h"
#include "shared/sim/state/image.h"
#include "tests/unit/sim/golden_queries.h"
#include "tests/unit/sim/golden_scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF 120u

static FILE *open_file(const char *folder, const char *name, const char *mode)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

static FILE *open_image(const char *folder, const char *scene, const char *mode)
{
    char name[64];
    snprintf(name, sizeof name, "%s.image", scene);
    return open_file(folder, name, mode);
}

static void write_image(const carom_world *world, const char *folder, const char *scene)
{
    FILE *file = open_image(folder, scene, "wb");
    size_t size = carom_world_encode_size(world);
    void *bytes = malloc(size);
    if (bytes == NULL || carom_world_encode(world, bytes, size) != size ||
        fwrite(bytes, 1, size, file) != size) {
        exit(2);
    }
    free(bytes);
    fclose(file);
}

static void read_image(carom_world *world, const char *folder, const char *scene)
{
    FILE *file = open_image(folder, scene, "rb");
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(size);
    if (bytes == NULL || fread(bytes, 1, size, file) != size ||
        carom_world_decode(world, bytes, size) != CAROM_OK) {
        fprintf(stderr, "golden: %s: the image does not decode\n", scene);
        exit(1);
    }
    free(bytes);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "lanes") == 0) {
        printf("%u\n", (unsigned)cm_processor_lanes());
        return 0;
    }
    uint32_t lanes = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    bool writes = argc > 3 && strcmp(argv[2], "write") == 0;
    bool reads = argc > 3 && strcmp(argv[2], "read") == 0;
    FILE *queries = writes ? open_file(argv[3], "queries.txt", "w") : NULL;
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        const cm_golden_scene *scene = &cm_golden_scenes[i];
        cm_rig rig = cm_golden_open(scene, 0);
        rig.world->lanes = lanes;
        cm_hash events = cm_hash_begin(0);
        uint32_t tick = reads ? HALF : 0;
        if (reads) {
            read_image(rig.world, argv[3], scene->name);
        } else {
            scene->build(&rig);
        }
        for (; tick <= scene->ticks; tick++) {
            if (writes && tick == HALF) {
                write_image(rig.world, argv[3], scene->name);
            }
            if (writes && tick % CM_GOLDEN_EVERY == 0) {
                fprintf(queries, "%s %u %016llx\n", scene->name, (unsigned)tick,
                        (unsigned long long)cm_golden_queries(rig.world));
            }
            if (tick % CM_GOLDEN_EVERY == 0) {
                if (!reads || tick > HALF) {
                    printf("%s %u %016llx %016llx\n", scene->name, (unsigned)tick,
                           (unsigned long long)carom_world_hash(rig.world),
                           (unsigned long long)cm_hash_end(&events));
                }
                events = cm_hash_begin(0);
            }
            if (scene->drive != NULL) {
                scene->drive(rig.world, tick);
            }
            cm_rig_step(&rig, 1);
            cm_golden_add_events(rig.world, &events);
        }
        cm_rig_close(&rig);
    }
    return queries == NULL || fclose(queries) == 0 ? 0 : 2;
}
