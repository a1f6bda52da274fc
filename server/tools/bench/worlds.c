// Worlds for measurements. Towers and piles come from generators, so that a measurement can have as
// many bodies, and as many seeds, as it wants; the scene files of tests/scenes/bench were made by
// the same rules.
//
// 256 to 20,000 bodies.
#include "server/tools/bench/worlds.h"

#include <math.h>
#include <stdlib.h>

#include "shared/base/vec.h"

#define ALIGNMENT 64u
#define ROW       10u  // cubes along x and along z
#define SPACING   1.2  // m
#define ROOM      1.75 // m, for a cube however it is turned
#define SHIFT     0.2  // m, full width
#define SHORTEST  0.1
#define FRICTION  0.6f
#define CONTACTS  8u      // to a body, room for pairs
#define DENSITY   1000.0f // kg/m^3

carom_world *cm_bench_world_new(const carom_world_def *def)
{
    size_t size = carom_world_size(def);
    void *memory = size == 0 ? NULL : aligned_alloc(ALIGNMENT, (size + 63u) / 64u * 64u);
    carom_world *world = NULL;
    if (memory != NULL && carom_world_create(def, memory, size, &world) != CAROM_OK) {
        free(memory);
        return NULL;
    }
    return world;
}

void cm_bench_world_free(carom_world *world)
{
    free(world); // the world stands at the start of its memory
}

// The scenes' sequence: a linear congruence of 32 bits, of whose state bits 8 to 23 count.
static float next_offset(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)((*state >> 8) & 0xffffu) / 65535.0f - 0.5f;
}

// Rounded to binary32 once, as the scene files were.
static float shifted(double at, uint32_t *state)
{
    return (float)(at + SHIFT * (double)next_offset(state));
}

static bool add_box(carom_world *world, carom_body_type type, carom_vec3 position,
                    carom_quat orientation, carom_vec3 half_extents)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_body_id id;
    body.type = type;
    body.position = position;
    body.orientation = orientation;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = half_extents;
    shape.friction = FRICTION;
    shape.density = DENSITY;
    return carom_body_create(world, &body, &shape, 1, &id) == CAROM_OK;
}

static const carom_vec3 CUBE = {0.5f, 0.5f, 0.5f};
static const carom_quat UPRIGHT = {0.0f, 0.0f, 0.0f, 1.0f};

// Ground and walls round so much floor, from its middle, m.
static bool add_surroundings(carom_world *world, float inner)
{
    const float height = 15.0f, half = 0.5f;
    const carom_vec3 along_z = {half, height, inner + 1.0f};
    const carom_vec3 along_x = {inner + 1.0f, height, half};
    const float at = inner + half;
    const carom_vec3 ground = {100.0f, 1.0f, 100.0f};
    return add_box(world, CAROM_BODY_STATIC, (carom_vec3){0.0f, -1.0f, 0.0f}, UPRIGHT, ground) &&
           add_box(world, CAROM_BODY_STATIC, (carom_vec3){at, height, 0.0f}, UPRIGHT, along_z) &&
           add_box(world, CAROM_BODY_STATIC, (carom_vec3){-at, height, 0.0f}, UPRIGHT, along_z) &&
           add_box(world, CAROM_BODY_STATIC, (carom_vec3){0.0f, height, at}, UPRIGHT, along_x) &&
           add_box(world, CAROM_BODY_STATIC, (carom_vec3){0.0f, height, -at}, UPRIGHT, along_x);
}

// The scenes' world with their surroundings, and nothing else. NULL without memory.
static carom_world *open_world(uint32_t count, double room)
{
    carom_world_def def = carom_default_world_def();
    def.gravity = (carom_vec3){0.0f, -10.0f, 0.0f};
    def.friction_combine = CAROM_COMBINE_GEOMETRIC;
    def.restitution_combine = CAROM_COMBINE_MAX;
    def.sleep = false; // what is measured is work
    def.limits.bodies = count + 5;
    def.limits.shapes = count + 5;
    def.limits.contacts = CONTACTS * (count + 5);
    carom_world *world = cm_bench_world_new(&def);
    if (world == NULL || !add_surroundings(world, (float)(0.5 * room) + 0.5f)) {
        cm_bench_world_free(world);
        return NULL;
    }
    return world;
}

carom_world *cm_bench_towers(uint32_t count)
{
    carom_world *world = open_world(count, ROW * SPACING);
    uint32_t state = CM_BENCH_SEED;
    for (uint32_t n = 0; world != NULL && n < count; n++) {
        const double middle = 0.5 * (ROW - 1);
        carom_vec3 position;
        position.x = shifted(((double)(n % ROW) - middle) * SPACING, &state);
        position.y = (float)(0.5 * SPACING + SPACING * (double)(n / (ROW * ROW)));
        position.z = shifted(((double)(n / ROW % ROW) - middle) * SPACING, &state);
        if (!add_box(world, CAROM_BODY_DYNAMIC, position, UPRIGHT, CUBE)) {
            cm_bench_world_free(world);
            return NULL;
        }
    }
    return world;
}

// A direction in four dimensions, from the sequence; what is too short to have one is drawn again.
static carom_quat next_turn(uint32_t *state)
{
    double q[4], sum = 0.0;
    while (sum < SHORTEST * SHORTEST) {
        sum = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i] = (double)next_offset(state);
            sum += q[i] * q[i];
        }
    }
    double length = sqrt(sum);
    // As a scene file's numbers: rounded, then brought to length 1 again.
    return cm_quat_normalize((carom_quat){(float)(q[0] / length), (float)(q[1] / length),
                                          (float)(q[2] / length), (float)(q[3] / length)});
}

carom_world *cm_bench_pile(uint32_t count, uint32_t row, uint32_t seed)
{
    carom_world *world = open_world(count, row * ROOM);
    uint32_t state = seed;
    for (uint32_t n = 0; world != NULL && n < count; n++) {
        const double middle = 0.5 * (row - 1);
        carom_vec3 position;
        position.x = (float)(((double)(n % row) - middle) * ROOM);
        position.y = (float)(0.5 * ROOM + ROOM * (double)(n / (row * row)));
        position.z = (float)(((double)(n / row % row) - middle) * ROOM);
        if (!add_box(world, CAROM_BODY_DYNAMIC, position, next_turn(&state), CUBE)) {
            cm_bench_world_free(world);
            return NULL;
        }
    }
    return world;
}
