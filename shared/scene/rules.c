// Rules of a scene that reach across fields: what is not built yet, what a body needs, which names
// must resolve. Values were held against their ranges before (ranges.c); what worlds and solvers
// refuse is asked of them, once there are definitions (defs.c).
//
// A key whose feature is not built yet is accepted at its default or empty and refused otherwise,
// so that no scene changes its meaning when the feature comes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "shared/scene/message.h"

#define QUAT_TOLERANCE   1e-3 // of the norm
#define NORMAL_TOLERANCE 1e-3
#define AXIS_MIN         1e-6

static bool not_built(cm_check *check, const char *key, const char *what, const char *expected)
{
    return cm_check_fail_at(check, key, CAROM_ERROR_NOT_BUILT,
                            "%s not built yet in this version, expected %s", what, expected);
}

bool cm_check_rotation(cm_check *check, const char *key, const Cm__Scene__Quat *q)
{
    if (q == NULL) {
        return true;
    }
    double norm = sqrt(q->x * q->x + q->y * q->y + q->z * q->z + q->w * q->w);
    if (!(fabs(norm - 1.0) <= QUAT_TOLERANCE)) {
        return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                                "a quaternion of norm %.6g, expected 1 within %g", norm,
                                QUAT_TOLERANCE);
    }
    return true;
}

static bool check_plane(cm_check *check, const Cm__Scene__Plane *plane, bool is_static)
{
    if (!is_static) {
        return cm_check_fail_at(check, "plane", CAROM_ERROR_ARGUMENT,
                                "on a body that is not static, expected a static body");
    }
    const Cm__Scene__Vec3 *n = plane->normal;
    double length = sqrt(n->x * n->x + n->y * n->y + n->z * n->z);
    if (!(fabs(length - 1.0) <= NORMAL_TOLERANCE)) {
        return cm_check_fail_at(check, "plane", CAROM_ERROR_ARGUMENT,
                                "a normal of length %.6g, expected 1 within %g", length,
                                NORMAL_TOLERANCE);
    }
    return true;
}

static bool check_geometry(cm_check *check, const Cm__Scene__Shape *shape, bool is_static)
{
    switch (shape->geometry_case) {
    case CM__SCENE__SHAPE__GEOMETRY_SPHERE:
    case CM__SCENE__SHAPE__GEOMETRY_CAPSULE:
    case CM__SCENE__SHAPE__GEOMETRY_BOX:
    case CM__SCENE__SHAPE__GEOMETRY_CYLINDER:
    case CM__SCENE__SHAPE__GEOMETRY_HULL: // its points are judged as the hull is built (hulls.c)
        return true;
    case CM__SCENE__SHAPE__GEOMETRY_PLANE:
        return check_plane(check, shape->plane, is_static);
    case CM__SCENE__SHAPE__GEOMETRY_MESH:
    case CM__SCENE__SHAPE__GEOMETRY_HEIGHTFIELD: {
        bool mesh = shape->geometry_case == CM__SCENE__SHAPE__GEOMETRY_MESH;
        const char *key = mesh ? "mesh" : "heightfield";
        if (!is_static) {
            return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                                    "on a body that is not static, expected a static body");
        }
        return not_built(check, key, mesh ? "meshes are" : "heightfields are",
                         "sphere, capsule, cylinder, box, hull or plane");
    }
    default:
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                             "a shape without geometry, expected one of sphere, capsule, cylinder, "
                             "box, hull, mesh, heightfield, plane");
    }
}

static bool check_material(cm_check *check, const Cm__Scene__Scene *scene,
                           const Cm__Scene__Shape *shape)
{
    if (shape->material == NULL) {
        return true;
    }
    if (cm_message_material(scene, shape->material) == 0) {
        return cm_check_fail_at(check, "material", CAROM_ERROR_NOT_FOUND,
                                "no material '%.64s', expected a key of $.materials",
                                shape->material);
    }
    const char *key = shape->has_friction      ? "friction"
                      : shape->has_restitution ? "restitution"
                      : shape->has_density     ? "density"
                                               : NULL;
    if (key != NULL) {
        return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                                "given beside a material, expected one of the two");
    }
    return true;
}

// An axis has a direction, whatever the mode; what a mode asks for is the solver's to say.
static bool check_contact(cm_check *check, const Cm__Scene__ContactSpec *contact)
{
    const Cm__Scene__Vec3 *axis = contact != NULL ? contact->axis : NULL;
    double length =
        axis == NULL ? 1.0 : sqrt(axis->x * axis->x + axis->y * axis->y + axis->z * axis->z);
    if (length >= AXIS_MIN) {
        return true;
    }
    cm_check_key(check, "contact");
    return cm_check_fail_at(check, "axis", CAROM_ERROR_ARGUMENT,
                            "an axis of length %.6g, expected a direction", length);
}

static bool check_shape(cm_check *check, const Cm__Scene__Scene *scene,
                        const Cm__Scene__Shape *shape, bool is_static)
{
    return check_geometry(check, shape, is_static) &&
           cm_check_rotation(check, "orientation", shape->orientation) &&
           check_material(check, scene, shape) && check_contact(check, shape->contact);
}

static bool check_body_not_built(cm_check *check, const Cm__Scene__Body *body)
{
    if (body->bullet) {
        return not_built(check, "bullet", "continuous collision is", "false");
    }
    cm_check_key(check, "axis_locks");
    for (size_t i = 0; i < body->n_axis_locks; i++) {
        if (cm_axis_lock(body->axis_locks[i]) == 0) {
            cm_check_index(check, (uint32_t)i);
            return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                                 "'%.16s', expected one of x, y, z, rx, ry, rz",
                                 body->axis_locks[i]);
        }
    }
    cm_check_pop(check);
    return true;
}

// A dynamic body has mass and inertia from its shapes, or both are given.
static bool check_mass(cm_check *check, const Cm__Scene__Scene *scene, const Cm__Scene__Body *body)
{
    if (body->type != CM__SCENE__BODY__TYPE__DYNAMIC || body->pointer != NULL ||
        (body->has_mass && body->inertia != NULL)) {
        return true;
    }
    for (size_t i = 0; i < body->n_shapes; i++) {
        const Cm__Scene__Shape *shape = body->shapes[i];
        double density = shape->density;
        if (shape->material != NULL) {
            density = scene->materials[cm_message_material(scene, shape->material) - 1]->density;
        }
        if (density > 0.0) {
            return true;
        }
    }
    if (body->n_shapes == 0) {
        return cm_check_fail_at(check, "shapes", CAROM_ERROR_ARGUMENT,
                                "a dynamic body without shapes, expected shapes, or mass and "
                                "inertia");
    }
    return cm_check_fail_at(check, "shapes", CAROM_ERROR_ARGUMENT,
                            "a dynamic body without mass, expected a shape of density above 0, or "
                            "mass and inertia");
}

static bool check_body(cm_check *check, const Cm__Scene__Scene *scene, const Cm__Scene__Body *body)
{
    if (!cm_check_rotation(check, "orientation", body->orientation) ||
        !cm_check_rotation(check, "inertia_orientation", body->inertia_orientation) ||
        !check_body_not_built(check, body)) {
        return false;
    }
    if (body->name != NULL && strcmp(body->name, "world") == 0) {
        return cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                                "'world' stands for the world in joints, expected another name");
    }
    if (body->pointer != NULL && body->has_type && body->type != CM__SCENE__BODY__TYPE__KINEMATIC) {
        return cm_check_fail_at(
            check, "type", CAROM_ERROR_ARGUMENT,
            "a pointer that is not kinematic, expected \"kinematic\" or no type");
    }
    bool is_static = body->type == CM__SCENE__BODY__TYPE__STATIC;
    cm_check_key(check, "shapes");
    uint32_t depth = check->path.depth;
    bool all = true;
    for (size_t i = 0; i < body->n_shapes; i++) {
        cm_check_index(check, (uint32_t)i);
        bool ok = check_shape(check, scene, body->shapes[i], is_static);
        if (!cm_check_leave(check, depth, ok, &all)) {
            return false;
        }
    }
    cm_check_pop(check);
    return all && check_mass(check, scene, body);
}

// One pointer a player: an input holds one pose.
static bool check_pointers(cm_check *check, const Cm__Scene__Scene *scene)
{
    uint64_t taken = 0;
    for (size_t i = 0; i < scene->n_bodies; i++) {
        const Cm__Scene__Pointer *pointer = scene->bodies[i]->pointer;
        if (pointer == NULL || pointer->player >= CAROM_PLAYERS_MAX) {
            continue; // a player out of range was already reported
        }
        if ((taken >> pointer->player & 1u) != 0) {
            cm_check_item(check, "bodies", i);
            cm_check_key(check, "pointer");
            return cm_check_fail_at(check, "player", CAROM_ERROR_ARGUMENT,
                                    "a second pointer of player %u, expected one",
                                    (unsigned)pointer->player);
        }
        taken |= UINT64_C(1) << pointer->player;
    }
    for (size_t i = 0; i < scene->n_arrays; i++) {
        if (scene->arrays[i]->of->pointer != NULL) {
            cm_check_item(check, "arrays", i);
            cm_check_key(check, "of");
            return cm_check_fail_at(check, "pointer", CAROM_ERROR_ARGUMENT,
                                    "a pointer in an array, expected it among the bodies");
        }
    }
    return true;
}

static bool check_array(cm_check *check, const Cm__Scene__Scene *scene,
                        const Cm__Scene__BodyArray *array)
{
    cm_check_key(check, "of");
    bool named = array->of->name != NULL;
    if (named) {
        cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                         "a name inside an array, expected none: the array's name and a number "
                         "name its bodies");
    }
    return check_body(check, scene, array->of) && !named;
}

// A prefab is a body with a name of its own, which no player moves.
static bool check_prefab(cm_check *check, const Cm__Scene__Scene *scene, size_t index)
{
    const Cm__Scene__Body *prefab = scene->prefabs[index];
    if (prefab->name == NULL) {
        return cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                                "missing, expected a name: a module spawns it by that");
    }
    for (size_t i = 0; i < index; i++) {
        if (scene->prefabs[i]->name != NULL && strcmp(scene->prefabs[i]->name, prefab->name) == 0) {
            return cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                                    "'%.64s' is the name of prefab %zu already, expected another",
                                    prefab->name, i);
        }
    }
    if (prefab->pointer != NULL) {
        return cm_check_fail_at(check, "pointer", CAROM_ERROR_ARGUMENT,
                                "a pointer among the prefabs, expected it among the bodies");
    }
    return check_body(check, scene, prefab);
}

static bool check_prefabs(cm_check *check, const Cm__Scene__Scene *scene)
{
    uint32_t depth = check->path.depth;
    bool all = true;
    if (scene->n_prefabs > CM_SCENE_PREFABS_MAX) {
        return cm_check_fail_at(check, "prefabs", CAROM_ERROR_LIMIT_SIZE,
                                "%zu prefabs, expected at most %u", scene->n_prefabs,
                                CM_SCENE_PREFABS_MAX);
    }
    for (size_t i = 0; i < scene->n_prefabs; i++) {
        cm_check_item(check, "prefabs", i);
        if (!cm_check_leave(check, depth, check_prefab(check, scene, i), &all)) {
            return false;
        }
    }
    return all;
}

static bool check_bodies(cm_check *check, const Cm__Scene__Scene *scene)
{
    uint32_t depth = check->path.depth;
    bool all = true;
    for (size_t i = 0; i < scene->n_bodies; i++) {
        cm_check_item(check, "bodies", i);
        if (!cm_check_leave(check, depth, check_body(check, scene, scene->bodies[i]), &all)) {
            return false;
        }
    }
    for (size_t i = 0; i < scene->n_arrays; i++) {
        cm_check_item(check, "arrays", i);
        if (!cm_check_leave(check, depth, check_array(check, scene, scene->arrays[i]), &all)) {
            return false;
        }
    }
    return all;
}

static bool check_replication(cm_check *check, const Cm__Scene__Scene *scene)
{
    const Cm__Scene__Replication *replication = scene->replication;
    cm_check_key(check, "replication");
    if (replication != NULL && replication->sync == CM__SCENE__REPLICATION__SYNC__INPUTS &&
        !replication->relay) {
        return cm_check_fail_at(check, "relay", CAROM_ERROR_ARGUMENT,
                                "false, expected true with \"sync\": \"inputs\"");
    }
    if (replication != NULL && replication->view != CM__SCENE__REPLICATION__VIEW__DELTA) {
        return not_built(check, "view", "predicted views are", "\"delta\"");
    }
    if (replication != NULL && replication->interest_radius != 0.0) {
        return not_built(check, "interest_radius", "areas of interest are", "0 (everything)");
    }
    return true;
}

static bool check_solver(cm_check *check, const Cm__Scene__Scene *scene)
{
    cm_check_key(check, "solver");
    return cm_solver_keys_check(check, scene->solver);
}

static bool check_material_names(cm_check *check, const Cm__Scene__Scene *scene)
{
    cm_check_key(check, "materials");
    if (scene->n_materials > 1024) {
        return cm_check_fail(check, CAROM_ERROR_LIMIT_SIZE, "%zu materials, expected at most 1024",
                             scene->n_materials);
    }
    for (size_t i = 0; i < scene->n_materials; i++) {
        const char *name = scene->materials[i]->name;
        if (cm_message_material(scene, name) != i + 1) {
            return cm_check_fail_at(check, name, CAROM_ERROR_ARGUMENT, "given twice");
        }
    }
    cm_check_pop(check);
    return true;
}

// The names of one module's settings: what they may be is the module's affair.
static bool check_settings(cm_check *check, const Cm__Scene__Scene *scene)
{
    cm_check_key(check, "module_config");
    if (scene->n_module_config > CM_SCENE_SETTINGS_MAX) {
        return cm_check_fail(check, CAROM_ERROR_LIMIT_SIZE, "%zu settings, expected at most %u",
                             scene->n_module_config, CM_SCENE_SETTINGS_MAX);
    }
    for (size_t i = 0; i < scene->n_module_config; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(scene->module_config[i]->name, scene->module_config[k]->name) == 0) {
                return cm_check_fail_at(check, scene->module_config[i]->name, CAROM_ERROR_ARGUMENT,
                                        "given twice");
            }
        }
    }
    bool has_module = scene->module != NULL && scene->module[0] != '\0';
    if (scene->n_module_config > 0 && !has_module) {
        return cm_check_fail(check, CAROM_ERROR_ARGUMENT,
                             "settings of no module, expected $.module");
    }
    cm_check_pop(check);
    return true;
}

static bool check_head(cm_check *check, const Cm__Scene__Scene *scene)
{
    if (scene->carom != 1) {
        return cm_check_fail_at(check, "carom", CAROM_ERROR_VERSION,
                                "format version %u, expected 1", (unsigned)scene->carom);
    }
    if (scene->module != NULL && strlen(scene->module) > 31) {
        return cm_check_fail_at(check, "module", CAROM_ERROR_ARGUMENT,
                                "%zu bytes long, expected at most 31", strlen(scene->module));
    }
    return true;
}

bool cm_check_rules(cm_check *check, const Cm__Scene__Scene *scene)
{
    typedef bool rule(cm_check * check, const Cm__Scene__Scene *scene);
    static rule *const rules[] = {check_head,           check_replication, check_solver,
                                  check_material_names, check_bodies,      check_pointers,
                                  check_settings,       check_prefabs};
    bool all = true;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!cm_check_leave(check, 0, rules[i](check, scene), &all)) {
            return false;
        }
    }
    return all;
}
