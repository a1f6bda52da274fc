// Goal: the simulation stands alone. Method: linked against libcarom_sim and nothing else; a ball
// falls onto a plane, the world is saved, goes on, is restored and goes on again to the same hash;
// a hull and one case of each family of pure functions.
#include <carom/impact.h>
#include <carom/lcp.h>
#include <carom/world.h>
#include <stdio.h>
#include <stdlib.h>

static void *allocate(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void release(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static int fall(void)
{
    carom_world_def def = carom_default_world_def();
    size_t size = carom_world_size(&def);
    carom_world *world = NULL;
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory == NULL || carom_world_create(&def, memory, size, &world) != CAROM_OK) {
        return 1;
    }
    carom_body_def ground = carom_default_body_def(), ball = carom_default_body_def();
    carom_shape_def plane = carom_default_shape_def(), sphere = carom_default_shape_def();
    ground.type = CAROM_BODY_STATIC;
    plane.type = CAROM_SHAPE_PLANE;
    ball.position.y = 3.0f;
    carom_body_id id;
    if (carom_body_create(world, &ground, &plane, 1, NULL) != CAROM_OK ||
        carom_body_create(world, &ball, &sphere, 1, &id) != CAROM_OK) {
        return 1;
    }
    for (int i = 0; i < 30; i++) {
        carom_world_step(world);
    }
    size_t image_size = carom_world_save_size(world);
    void *image = malloc(image_size);
    uint64_t hash[2] = {0, 1};
    if (image == NULL || carom_world_save(world, image, image_size) != image_size) {
        return 1;
    }
    for (int run = 0; run < 2; run++) {
        if (carom_world_restore(world, image, image_size) != CAROM_OK) {
            return 1;
        }
        for (int i = 0; i < 90; i++) {
            carom_world_step(world);
        }
        hash[run] = carom_world_hash(world);
    }
    carom_body_state state;
    int bad = carom_body_get(world, id, &state) != CAROM_OK || state.position.y < 0.49f ||
              state.position.y > 0.51f || hash[0] != hash[1];
    free(image);
    free(memory);
    return bad;
}

static int pure(void)
{
    const carom_allocator heap = {NULL, allocate, release};
    const carom_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    carom_hull *hull = NULL;
    if (carom_hull_create(corners, 4, &heap, &hull) != CAROM_OK) {
        return 1;
    }
    double volume = carom_hull_volume(hull), epsilon = 0.0, gamma = 0.0;
    carom_hull_destroy(hull);
    carom_impact_case collision = {0};
    bool refused = carom_impact_check(&collision) != CAROM_OK;
    bool spring = carom_lcp_spring(0.01, 100.0, 1.0, &epsilon, &gamma) == CAROM_OK;
    return !(volume > 0.166 && volume < 0.167 && refused && spring && epsilon > 0.0);
}

int main(void)
{
    if (fall() != 0 || pure() != 0) {
        puts("sim: the library alone does not do what it says");
        return 1;
    }
    return 0;
}
