// See golden_small.h. Solids: two hulls, cylinders and compounds in a heap. Denormals: bodies of
// little mass and size at places that binary32 holds without a leading one.
#include "tests/unit/sim/golden_small.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void *take(void *context, size_t size)
{
    (void)context;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void give(void *context, void *block)
{
    (void)context;
    free(block);
}

// A wedge and an octahedron, made once: worlds of any rig may share them.
static const carom_hull *const *shared_hulls(void)
{
    static const carom_vec3 wedge[] = {{-0.4f, -0.2f, -0.3f}, {0.4f, -0.2f, -0.3f},
                                       {-0.4f, -0.2f, 0.3f},  {0.4f, -0.2f, 0.3f},
                                       {-0.4f, 0.3f, -0.3f},  {-0.4f, 0.3f, 0.3f}};
    static const carom_vec3 gem[] = {{0.35f, 0.0f, 0.0f}, {-0.35f, 0.0f, 0.0f},
                                     {0.0f, 0.4f, 0.0f},  {0.0f, -0.4f, 0.0f},
                                     {0.0f, 0.0f, 0.3f},  {0.0f, 0.0f, -0.3f}};
    static const carom_hull *sorted[2];
    if (sorted[0] == NULL) {
        carom_allocator allocator = {.allocate = take, .release = give};
        carom_hull *first, *second;
        cr_assert_eq(carom_hull_create(wedge, 6, &allocator, &first), CAROM_OK);
        cr_assert_eq(carom_hull_create(gem, 6, &allocator, &second), CAROM_OK);
        sorted[0] = first;
        sorted[1] = second;
        cr_assert_eq(carom_hull_sort(sorted, 2), 2);
    }
    return sorted;
}

void cm_golden_solids_define(carom_world_def *def)
{
    def->hulls = shared_hulls();
    def->hull_count = 2;
    def->limits.shapes = 2 * def->limits.bodies;
}

void cm_golden_solids_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 48; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shapes[2] = {carom_default_shape_def(), carom_default_shape_def()};
        body.position =
            cm_vec(0.5f * (float)(i % 3), 0.5f + 0.35f * (float)i, 0.3f * (float)(i % 4));
        carom_quat turn = {0.1f * (float)(i % 7), 0.2f * (float)(i % 5), 0.05f * (float)(i % 11),
                           0.7f};
        body.orientation = cm_quat_normalize(turn);
        shapes[0].type = i % 3 == 2 ? CAROM_SHAPE_CYLINDER : CAROM_SHAPE_HULL;
        shapes[0].hull = rig->def.hulls[i % 2];
        shapes[0].radius = 0.25f;
        shapes[0].half_height = 0.3f;
        shapes[1].radius = 0.15f;
        shapes[1].position = cm_vec(0.3f, 0.1f, 0.0f);
        uint32_t count = i % 4 == 0 ? 2 : 1;
        cr_assert_eq(carom_body_create(rig->world, &body, shapes, count, NULL), CAROM_OK);
    }
}

void cm_golden_denormals_define(carom_world_def *def)
{
    def->gravity = cm_vec(0.0f, -9.81f, 0.0f);
    def->sleep = false;
}

void cm_golden_denormals_build(cm_rig *rig)
{
    cm_rig_plane(rig);
    for (uint32_t i = 0; i < 8; i++) {
        carom_body_def body = carom_default_body_def();
        carom_shape_def shape = carom_default_shape_def();
        body.position = cm_vec(0.03f * (float)i, i < 6 ? 0.012f : 0.5f, 1.0e-39f * (float)(i + 1));
        body.angular_velocity = cm_vec(1.0e-40f, 0.5f, 3.0e-39f);
        body.linear_velocity = cm_vec(0.01f, 0.0f, 1.0e-38f);
        body.has_mass = true;
        body.mass = 2.0e-15f;
        body.has_inertia = true;
        body.inertia = cm_vec(2.0e-25f, 3.0e-25f, 5.0e-25f);
        body.gravity_scale = i < 6 ? 1.0f : 0.0f;
        shape.type = i % 2 ? CAROM_SHAPE_BOX : CAROM_SHAPE_SPHERE;
        shape.radius = 0.01f;
        shape.half_extents = cm_vec(0.01f, 0.01f, 0.01f);
        cm_rig_body(rig, &body, &shape);
    }
}
