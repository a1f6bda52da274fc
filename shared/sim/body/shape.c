// Shapes: from definition to row and back. A shape lives and dies with its body (body.c). Some
// hundreds a world; created rarely, read by every step.
#include "shared/sim/body/shape.h"
#include "shared/sim/state/check.h"
#include "shared/sim/state/hull.h"
#include "shared/sim/state/slots.h"
#include "shared/sim/state/wake.h"

#include <string.h>

carom_shape_def carom_default_shape_def(void)
{
    carom_shape_def def;
    memset(&def, 0, sizeof def);
    def.struct_size = sizeof def;
    def.type = CAROM_SHAPE_SPHERE;
    def.orientation = cm_quat_identity();
    def.radius = 0.5f;
    def.half_height = 0.5f;
    def.half_extents = cm_vec(0.5f, 0.5f, 0.5f);
    def.normal = cm_vec(0.0f, 1.0f, 0.0f);
    def.friction = 0.8f;
    def.density = 1000.0f;
    def.category = 1;
    def.mask = UINT32_MAX;
    return def;
}

void cm_shape_size_from_def(const carom_shape_def *def, cm_shape *shape)
{
    switch (def->type) {
    case CAROM_SHAPE_SPHERE:
        shape->size[0] = def->radius;
        break;
    case CAROM_SHAPE_CAPSULE:
    case CAROM_SHAPE_CYLINDER:
        shape->size[0] = def->radius;
        shape->size[1] = def->half_height;
        break;
    case CAROM_SHAPE_BOX:
        shape->size[0] = def->half_extents.x;
        shape->size[1] = def->half_extents.y;
        shape->size[2] = def->half_extents.z;
        break;
    case CAROM_SHAPE_PLANE:
        shape->size[0] = def->normal.x;
        shape->size[1] = def->normal.y;
        shape->size[2] = def->normal.z;
        shape->size[3] = def->offset;
        break;
    case CAROM_SHAPE_HULL:
        shape->size[0] = def->hull->inner_radius;
        shape->size[1] = def->hull->outer_radius;
        shape->geometry = def->hull->id;
        break;
    }
}

carom_result cm_shape_from_def(const carom_shape_def *def, cm_shape *shape, carom_error *error)
{
    memset(shape, 0, sizeof *shape);
    CM_WANT(def->struct_size == sizeof *def, "struct_size", CM_DEFAULT("shape"));
    CM_WANT((unsigned)def->type <= CAROM_SHAPE_HULL, "type", "a carom_shape_type");
    CM_WANT(def->type != CAROM_SHAPE_HULL || def->hull != NULL, "hull", "one of the world's hulls");
    shape->type = (uint8_t)def->type;
    shape->alive = 1;
    shape->next = CM_NONE;
    shape->position = def->position;
    shape->orientation = def->orientation;
    shape->friction = def->friction;
    shape->restitution = def->restitution;
    shape->density = def->density;
    shape->category = def->category;
    shape->mask = def->mask;
    shape->group = def->group;
    shape->material = def->material;
    shape->sensor = def->sensor;
    CM_WANT((unsigned)def->contact_mode <= CAROM_CONTACT_TYRE, "contact_mode",
            "a carom_contact_mode");
    shape->contact_mode = (uint8_t)def->contact_mode;
    shape->rolling_friction = def->rolling_friction;
    shape->spin_friction = def->spin_friction;
    shape->surface_velocity = def->surface_velocity;
    shape->contact_axis = def->contact_axis;
    shape->contact_slip = def->contact_slip;
    shape->contact_max_force = def->contact_max_force;
    shape->contact_slip_by_speed = def->contact_slip_by_speed;
    shape->contact_trail = def->contact_trail;
    cm_shape_size_from_def(def, shape);
    CM_TRY(cm_check_shape(shape, error));
    shape->orientation = cm_quat_normalize(shape->orientation);
    if (def->type == CAROM_SHAPE_PLANE) {
        carom_vec3 normal = cm_normalize(def->normal);
        shape->size[0] = normal.x;
        shape->size[1] = normal.y;
        shape->size[2] = normal.z;
    }
    return CAROM_OK;
}

void cm_shape_to_def(const cm_shape *shape, carom_shape_def *def)
{
    memset(def, 0, sizeof *def);
    def->struct_size = sizeof *def;
    def->type = (carom_shape_type)shape->type;
    def->position = shape->position;
    def->orientation = shape->orientation;
    def->friction = shape->friction;
    def->restitution = shape->restitution;
    def->density = shape->density;
    def->category = shape->category;
    def->mask = shape->mask;
    def->group = shape->group;
    def->material = shape->material;
    def->sensor = shape->sensor != 0;
    def->contact_mode = (carom_contact_mode)shape->contact_mode;
    def->rolling_friction = shape->rolling_friction;
    def->spin_friction = shape->spin_friction;
    def->surface_velocity = shape->surface_velocity;
    def->contact_axis = shape->contact_axis;
    def->contact_slip = shape->contact_slip;
    def->contact_max_force = shape->contact_max_force;
    def->contact_slip_by_speed = shape->contact_slip_by_speed;
    def->contact_trail = shape->contact_trail;
    const float *size = shape->size;
    switch (shape->type) {
    case CAROM_SHAPE_BOX:
        def->half_extents = cm_vec(size[0], size[1], size[2]);
        break;
    case CAROM_SHAPE_PLANE:
        def->normal = cm_vec(size[0], size[1], size[2]);
        def->offset = size[3];
        break;
    case CAROM_SHAPE_HULL:
        break; // by id: the caller knows the world
    default:
        def->radius = size[0];
        def->half_height = size[1];
        break;
    }
}

carom_result carom_shape_get(const carom_world *world, carom_shape_id shape, carom_shape_def *def,
                             carom_body_id *body)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    const cm_shape *row = cm_shape_find(world, shape);
    if (row == NULL) {
        return CAROM_ERROR_STALE_ID;
    }
    if (def != NULL) {
        cm_shape_to_def(row, def);
        def->hull = row->type == CAROM_SHAPE_HULL ? cm_hull_find(world, row->geometry) : NULL;
    }
    if (body != NULL) {
        body->index = row->body;
        body->generation = cm_bodies(world)[row->body].generation;
    }
    return CAROM_OK;
}

carom_result carom_shape_set_surface(carom_world *world, carom_shape_id shape, float friction,
                                     float restitution)
{
    if (world == NULL) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_error *error = &world->error;
    const cm_shape *row = cm_shape_find(world, shape);
    CM_FIELD(row ? CAROM_OK : CAROM_ERROR_STALE_ID, "shape", "the id of a living shape");
    CM_FIELD(cm_check_float(friction, 0.0f, CAROM_FRICTION_MAX), "friction", "0 to 1000");
    CM_FIELD(cm_check_float(restitution, 0.0f, 1.0f), "restitution", "0 to 1");
    if (row->friction != friction || row->restitution != restitution) {
        cm_wake_body(world, row->body);
        cm_stir_body(world, row->body);
    }
    cm_shape *writable = cm_shape_change(world, shape.index);
    writable->friction = friction;
    writable->restitution = restitution;
    return CAROM_OK;
}

uint32_t carom_body_shapes(const carom_world *world, carom_body_id body, carom_shape_id *shapes,
                           uint32_t capacity)
{
    const cm_body *row = world != NULL ? cm_body_find(world, body) : NULL;
    uint32_t count = 0;
    for (uint32_t slot = row != NULL ? row->first_shape : CM_NONE; slot != CM_NONE;) {
        const cm_shape *shape = &cm_shapes(world)[slot];
        if (shapes != NULL && count < capacity) {
            shapes[count].index = slot;
            shapes[count].generation = shape->generation;
        }
        count++;
        slot = shape->next;
    }
    return count;
}
