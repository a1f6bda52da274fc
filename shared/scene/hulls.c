// The hulls of a scene: built with the scene, owned by its pool, and listed in the def of every
// world made from it.
//
// Each hull shape of the message builds its own; the same points give the same hull, and the table
// that worlds get holds each once. A scene of 1,000 bodies has some 10; an array shares one.
#include "shared/scene/message.h"

static size_t count_hulls(const Cm__Scene__Body *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->n_shapes; i++) {
        count += body->shapes[i]->geometry_case == CM__SCENE__SHAPE__GEOMETRY_HULL;
    }
    return count;
}

bool cm_scene_hulls_begin(cm_scene *scene)
{
    const Cm__Scene__Scene *message = scene->message;
    size_t count = 1;
    for (size_t i = 0; i < message->n_bodies; i++) {
        count += count_hulls(message->bodies[i]);
    }
    for (size_t i = 0; i < message->n_arrays; i++) {
        count += count_hulls(message->arrays[i]->of);
    }
    for (size_t i = 0; i < message->n_prefabs; i++) {
        count += count_hulls(message->prefabs[i]);
    }
    scene->hull_count = 0;
    scene->hulls = cm_pool_take(&scene->pool, count * sizeof *scene->hulls);
    return scene->hulls != NULL;
}

// The volume solver treats each shape as a convex body: a scene with points that are no corners of
// their hull probably meant another shape, so it is refused. (A hull no longer knows its points, so
// this check stands here and not with that solver's other rules.)
static bool check_piece(cm_check *check, const Cm__Scene__Scene *message, const carom_hull *hull,
                        const carom_vec3 *points, uint32_t count)
{
    bool volume =
        message->solver != NULL && message->solver->type == CM__SCENE__SOLVER__TYPE__VOLUME;
    uint32_t stray = volume ? carom_hull_stray(hull, points, count) : count;
    if (stray < count) {
        cm_check_key(check, "hull");
        cm_check_item(check, "points", stray);
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                             "no corner of the points' hull: a piece that is not convex, expected "
                             "convex pieces, several shapes for one that is not");
    }
    return true;
}

const carom_hull *cm_scene_hull(cm_scene *scene, const Cm__Scene__Hull *source, cm_check *check)
{
    static carom_vec3 const none = {0.0f, 0.0f, 0.0f};
    size_t count = source->n_points;
    if (count > CAROM_HULL_POINTS_MAX) {
        cm_check_fail_at(check, "hull", CAROM_ERROR_LIMIT_SIZE, "%zu points, expected 4 to %u",
                         count, CAROM_HULL_POINTS_MAX);
        return NULL;
    }
    carom_vec3 points[CAROM_HULL_POINTS_MAX];
    points[0] = none;
    for (size_t i = 0; i < count; i++) {
        const Cm__Scene__Vec3 *p = source->points[i];
        points[i] = (carom_vec3){(float)p->x, (float)p->y, (float)p->z};
    }
    const carom_allocator pool = cm_pool_allocator(&scene->pool);
    carom_hull *hull = NULL;
    carom_result result = carom_hull_create(points, (uint32_t)count, &pool, &hull);
    if (result == CAROM_ERROR_MEMORY) {
        cm_check_fail_at(check, "hull", result, "more memory than there is, or than %zu bytes",
                         CM_POOL_LIMIT);
    } else if (result != CAROM_OK) {
        cm_check_fail_at(check, "hull", result,
                         "%s, expected points that span a hull of 4 to %u vertices",
                         carom_hull_refusal(points, (uint32_t)count), CAROM_HULL_VERTICES_MAX);
    } else if (!check_piece(check, scene->message, hull, points, (uint32_t)count)) {
        return NULL;
    } else {
        scene->hulls[scene->hull_count++] = hull;
    }
    return hull;
}

void cm_scene_hulls_end(cm_scene *scene)
{
    scene->hull_count = carom_hull_sort(scene->hulls, scene->hull_count);
}
