// Bodies that overlap where the scene puts them: each shape is made smaller by what is allowed, and
// the world is asked what that overlaps. Typical: 400 bodies, 4 ms; 20,000 that touch, 200 ms. It
// stops counting where very many lie on one heap.
#include <stdio.h>
#include <string.h>

#include "carom/query.h"
#include "shared/base/vec.h"
#include "shared/scene/message.h"

#define HITS_MAX  64u
#define PAIRS_MAX 1000u // told as "at least"
#define FULL_MAX  100u  // answers of HITS_MAX, each of which may have cost as many as there are

float cm_shape_least(const carom_shape_def *shape)
{
    float box = shape->half_extents.x < shape->half_extents.y ? shape->half_extents.x
                                                              : shape->half_extents.y;
    switch (shape->type) {
    case CAROM_SHAPE_BOX:
        return box < shape->half_extents.z ? box : shape->half_extents.z;
    case CAROM_SHAPE_CYLINDER:
        return shape->radius < shape->half_height ? shape->radius : shape->half_height;
    case CAROM_SHAPE_SPHERE:
    case CAROM_SHAPE_CAPSULE:
        return shape->radius;
    default:
        return 0.0f; // nothing that is made smaller by a number
    }
}

static bool can_shrink(const carom_shape_def *shape)
{
    return !shape->sensor && cm_shape_least(shape) > 4.0f * CAROM_SIZE_MIN;
}

// In the world's axes, and smaller.
static carom_shape_def shrink(const carom_shape_def *from, const carom_body_state *body)
{
    carom_shape_def shape = *from;
    float tenth = 0.1f * cm_shape_least(from),
          by = tenth < CM_SCENE_OVERLAP ? tenth : CM_SCENE_OVERLAP;
    shape.radius -= by;
    shape.half_height -= from->type == CAROM_SHAPE_CYLINDER ? by : 0.0f;
    shape.half_extents = cm_sub(from->half_extents, cm_vec(by, by, by));
    shape.position = cm_add(body->position, cm_rotate(body->orientation, from->position));
    shape.orientation = cm_quat_mul(body->orientation, from->orientation);
    return shape;
}

// By a joint whose ends pass through each other.
static bool is_joined(const cm_scene *scene, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < scene->joint_count; i++) {
        const cm_scene_joint *joint = &scene->joints[i];
        bool both = (joint->a == a && joint->b == b) || (joint->a == b && joint->b == a);
        if (both && !joint->source->collide) {
            return true;
        }
    }
    return false;
}

// True of one of the hits that tell of a pair of bodies which collide.
static bool counts(const cm_scene *scene, const carom_world *world, const carom_shape_def *asker,
                   carom_body_id body, const carom_query_hit *hit)
{
    carom_shape_def other;
    carom_body_def mine, its;
    carom_body_id owner;
    return carom_shape_get(world, hit->shape, &other, &owner) == CAROM_OK &&
           carom_body_get_def(world, body, &mine) == CAROM_OK &&
           carom_body_get_def(world, hit->body, &its) == CAROM_OK &&
           (mine.type == CAROM_BODY_DYNAMIC || its.type == CAROM_BODY_DYNAMIC) &&
           (body.index < hit->body.index || !can_shrink(&other)) &&
           (asker->group >= 0 || asker->group != other.group) &&
           !is_joined(scene, body.index, hit->body.index);
}

void cm_scene_body_path(const cm_scene *scene, uint32_t index, char *path, size_t size)
{
    const Cm__Scene__Scene *message = scene->message;
    const Cm__Scene__Body *source = scene->bodies[index].source;
    for (size_t i = 0; i < message->n_bodies; i++) {
        if (message->bodies[i] == source) {
            snprintf(path, size, "$.bodies[%zu]", i);
        }
    }
    for (size_t i = 0; i < message->n_arrays; i++) {
        if (message->arrays[i]->of == source) {
            snprintf(path, size, "$.arrays[%zu]", i);
        }
    }
}

static uint32_t ask(const cm_scene *scene, const carom_world *world, uint32_t index, uint32_t *full,
                    cm_scene_error *warning)
{
    const cm_scene_body *body = &scene->bodies[index];
    carom_body_id id = carom_world_body_at(world, index);
    carom_body_state state;
    uint32_t found = 0;
    if (carom_body_get(world, id, &state) != CAROM_OK) {
        return 0; // the scene's module took it away
    }
    for (size_t k = 0; k < body->source->n_shapes; k++) {
        carom_query_filter filter = carom_default_query_filter();
        carom_query_hit hits[HITS_MAX];
        uint32_t count = 0;
        if (!can_shrink(&body->shapes[k]) || body->shapes[k].category == 0 ||
            body->shapes[k].mask == 0) {
            continue;
        }
        const carom_shape_def shape = shrink(&body->shapes[k], &state);
        filter.category = shape.category;
        filter.mask = shape.mask;
        filter.exclude = id;
        (void)carom_world_overlap(world, &shape, &filter, hits, HITS_MAX, &count);
        *full += count == HITS_MAX;
        for (uint32_t i = 0; i < count; i++) {
            if (!counts(scene, world, &shape, id, &hits[i])) {
                continue;
            }
            if (found++ == 0 && warning->path[0] == '\0') {
                const char *other = cm_scene_body_name(scene, hits[i].body.index);
                cm_scene_body_path(scene, index, warning->path, sizeof warning->path);
                snprintf(warning->message, sizeof warning->message,
                         "'%.64s' is inside '%.64s' at the start, which drives them apart, "
                         "expected room between them",
                         body->name, other != NULL ? other : "a body of the module");
            }
        }
    }
    return found;
}

uint32_t cm_scene_overlaps(const cm_scene *scene, const carom_world *world, cm_scene_error *warning)
{
    carom_world_def def;
    uint32_t found = 0, full = 0, i = 0;
    memset(warning, 0, sizeof *warning);
    cm_scene_world_def(scene, &def);
    uint32_t bodies = def.solver.type != CAROM_SOLVER_VOLUME ? scene->body_count : 0;
    for (; i < bodies && found < PAIRS_MAX && full < FULL_MAX; i++) {
        found += ask(scene, world, i, &full, warning);
    }
    if (found > 1) {
        size_t length = strlen(warning->message);
        snprintf(warning->message + length, sizeof warning->message - length,
                 " (and %s%u more such)", i < bodies ? "at least " : "", (unsigned)found - 1);
    }
    return found;
}
