// Goal: a step needs no more stack than CAROM_STACK_MAX says, where there may be no guard below it
// (WebAssembly writes over its data). Method: the golden worlds, built, stepped, saved, encoded and
// taken back by a thread whose stack was painted; beside them the volume solver's last resort,
// which they do not need: the deepest byte that is not paint any more.
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "shared/sim/solve/volume/poly.h"
#include "shared/sim/state/image.h"
#include "tests/unit/sim/golden_scenes.h"

#define STACK (4u << 20)
#define PAINT 0xa5

typedef struct errand {
    void (*run)(const cm_golden_scene *scene);
    const cm_golden_scene *scene;
    const char *top; // of the stack, where the run begins
} errand;

static void *run_errand(void *user)
{
    errand *e = user;
    e->top = __builtin_frame_address(0);
    e->run(e->scene);
    return NULL;
}

static size_t depth_of(void (*run)(const cm_golden_scene *scene), const cm_golden_scene *scene)
{
    errand e = {run, scene, NULL};
    pthread_attr_t attributes;
    pthread_t thread;
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(stack != MAP_FAILED);
    memset(stack, PAINT, STACK);
    pthread_attr_init(&attributes);
    cr_assert_eq(pthread_attr_setstack(&attributes, stack, STACK), 0);
    cr_assert_eq(pthread_create(&thread, &attributes, run_errand, &e), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    const char *deepest = stack;
    while (deepest < e.top && (uint8_t)*deepest == PAINT) {
        deepest++;
    }
    size_t depth = (size_t)(e.top - deepest);
    munmap(stack, STACK);
    return depth;
}

static void take_back(carom_world *world, const void *image, size_t size, const void *bytes,
                      size_t encoded)
{
    cr_assert_eq(carom_world_restore(world, image, size), CAROM_OK);
    cr_assert_eq(carom_world_decode(world, bytes, encoded), CAROM_OK);
}

static void play(const cm_golden_scene *scene)
{
    cm_rig rig = cm_golden_open(scene, 0);
    scene->build(&rig);
    for (uint32_t tick = 0; tick < scene->ticks; tick++) {
        if (scene->drive != NULL) {
            scene->drive(rig.world, tick);
        }
        cm_rig_step(&rig, 1);
    }
    size_t size = carom_world_save_size(rig.world), encoded = carom_world_encode_size(rig.world);
    void *image = malloc(size), *bytes = malloc(encoded);
    cr_assert(image != NULL && bytes != NULL);
    carom_world_save(rig.world, image, size);
    cr_assert_eq(carom_world_encode(rig.world, bytes, encoded), encoded);
    take_back(rig.world, image, size, bytes, encoded);
    free(image);
    free(bytes);
    cm_rig_close(&rig);
}

// A cube's six planes; the artificial ones before them are not looked at.
static cm_volume_work work;

static void clip(const cm_golden_scene *scene)
{
    (void)scene;
    static const cm_d3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    work.plane_count = 10;
    for (uint32_t i = 0; i < 6; i++) {
        work.normals[4 + i] = cm_d3_scale(i % 2 == 0 ? 1.0 : -1.0, axes[i / 2]);
        work.offsets[4 + i] = 1.0;
    }
    cr_assert(cm_volume_clip(&work, 10.0));
}

Test(stack, is_as_deep_as_said)
{
    size_t deepest = 0, volume = 0;
    for (uint32_t i = 0; i < CM_GOLDEN_SCENES; i++) {
        const cm_golden_scene *scene = &cm_golden_scenes[i];
        size_t depth = depth_of(play, scene);
        deepest = depth > deepest ? depth : deepest;
        cm_rig rig = cm_golden_open(scene, 0);
        bool by_volume = rig.def.solver.type == CAROM_SOLVER_VOLUME;
        cm_rig_close(&rig);
        volume = by_volume && depth > volume ? depth : volume;
    }
    cr_assert_gt(volume, 0);
    size_t clipped = volume + depth_of(clip, NULL);
    printf("stack: %zu bytes at the most, %zu where volumes are clipped\n", deepest, clipped);
    // Without optimisation, and with a sanitizer, frames are others.
#if defined(__OPTIMIZE__) && !defined(CM_DEBUG) && !defined(__SANITIZE_THREAD__)
    cr_assert_leq(deepest, CAROM_STACK_MAX);
    cr_assert_leq(clipped, CAROM_STACK_MAX);
#endif
}
