// See rig.h. Everything here aborts the test on failure: a rig that cannot be built is a broken
// test.
#include "tests/unit/sim/rig.h"
#include "shared/sim/state/fields.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

carom_world_def cm_rig_def(uint32_t bodies)
{
    carom_world_def def = carom_default_world_def();
    def.limits.bodies = bodies;
    def.limits.shapes = bodies;
    def.limits.contacts = 8 * bodies;
    return def;
}

cm_rig cm_rig_open(const carom_world_def *def, uint32_t shift)
{
    cm_rig rig = {0};
    rig.def = *def;
    size_t size = carom_world_size(def);
    cr_assert_gt(size, 0);
    rig.block = aligned_alloc(64, (size + 63) / 64 * 64 + 64 * (size_t)shift);
    cr_assert_not_null(rig.block);
    rig.memory = (char *)rig.block + 64 * (size_t)shift;
    cr_assert_eq(carom_world_create(def, rig.memory, size, &rig.world), CAROM_OK);
    return rig;
}

void cm_rig_close(cm_rig *rig)
{
    free(rig->block);
    *rig = (cm_rig){0};
}

void cm_rig_spoil(carom_world *world, uint8_t rubbish)
{
    memset((char *)world + world->offset.scratch, rubbish, world->offset.scratch_size);
    const cm_world_state full = cm_full_counts(&world->limits);
    for (int section = CM_CONTACTS_FIRST; section <= CM_POINTS_LAST; section++) {
        if (cm_has_rows(world, (cm_section)section)) {
            memset(cm_old_rows(world, (cm_section)section), rubbish,
                   (size_t)cm_section_count(&full, (cm_section)section) *
                       cm_section_stride((cm_section)section));
        }
    }
}

void cm_rig_step(cm_rig *rig, uint32_t ticks)
{
    // In binary32: 0.7, 0, -0.7, no number, 3, -3e-16, 2e17, -3. What is like the numbers of a
    // scene shows more than what is far off.
    static const uint8_t rubbish[] = {0x3f, 0x00, 0xbf, 0xff, 0x40, 0xa5, 0x5c, 0xc0};
    for (uint32_t i = 0; i < ticks; i++) {
        carom_world *world = rig->world;
        cm_rig_spoil(world, rubbish[(rig->rubbish + world->state.tick) % sizeof rubbish]);
        carom_world_step(world);
    }
}

carom_body_id cm_rig_body(cm_rig *rig, const carom_body_def *body, const carom_shape_def *shape)
{
    carom_body_id id;
    carom_result result = carom_body_create(rig->world, body, shape, 1, &id);
    cr_assert_eq(result, CAROM_OK, "%s", carom_result_text(result));
    return id;
}

carom_body_id cm_rig_plane(cm_rig *rig)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = CAROM_BODY_STATIC;
    shape.type = CAROM_SHAPE_PLANE;
    shape.normal = cm_vec(0.0f, 1.0f, 0.0f);
    return cm_rig_body(rig, &body, &shape);
}

carom_body_id cm_rig_box(cm_rig *rig, carom_body_type type, carom_vec3 position, carom_vec3 half)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.type = type;
    body.position = position;
    shape.type = CAROM_SHAPE_BOX;
    shape.half_extents = half;
    return cm_rig_body(rig, &body, &shape);
}

carom_body_id cm_rig_sphere(cm_rig *rig, carom_vec3 position, float radius)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    shape.type = CAROM_SHAPE_SPHERE;
    shape.radius = radius;
    return cm_rig_body(rig, &body, &shape);
}

carom_body_id cm_rig_capsule(cm_rig *rig, carom_vec3 position, carom_quat orientation, float radius,
                             float half_height)
{
    carom_body_def body = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    body.position = position;
    body.orientation = orientation;
    shape.type = CAROM_SHAPE_CAPSULE;
    shape.radius = radius;
    shape.half_height = half_height;
    return cm_rig_body(rig, &body, &shape);
}

carom_body_state cm_rig_get(const cm_rig *rig, carom_body_id body)
{
    carom_body_state state;
    cr_assert_eq(carom_body_get(rig->world, body, &state), CAROM_OK);
    return state;
}

carom_quat cm_rig_turn_z(float radians)
{
    return (carom_quat){0.0f, 0.0f, sinf(0.5f * radians), cosf(0.5f * radians)};
}
