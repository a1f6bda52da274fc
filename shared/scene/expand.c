// From a checked message to the bodies it means: arrays written out, names given, shapes as the
// world takes them, limits and bounds. Typical: 400 bodies; at most 65,536.
//
// An array's body stands at origin + (i, j, k) * spacing + its own position, in binary64, then
// rounded once. Bodies of one array share their shapes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/scene/message.h"

#define BOUNDS_MARGIN  64.0 // m
#define POSITION_MAX   1e6  // m
#define LIMIT_AT_LEAST 64u

static void to_surface(const Cm__Scene__Scene *scene, const Cm__Scene__Shape *shape,
                       carom_shape_def *def)
{
    def->friction = (float)shape->friction;
    def->restitution = (float)shape->restitution;
    def->density = (float)shape->density;
    if (shape->material != NULL) {
        def->material = cm_message_material(scene, shape->material);
        const Cm__Scene__Material *material = scene->materials[def->material - 1];
        def->friction = (float)material->friction;
        def->restitution = (float)material->restitution;
        def->density = (float)material->density;
    }
}

// Rubbing: of all solvers, and of lcp's contact modes.
static void to_contact(const Cm__Scene__Shape *shape, carom_shape_def *def)
{
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    def->rolling_friction = (float)shape->rolling_friction;
    def->spin_friction = (float)shape->spin_friction;
    def->surface_velocity = cm_scene_vec(shape->surface_velocity, zero);
    const Cm__Scene__ContactSpec *contact = shape->contact;
    if (contact == NULL) {
        return;
    }
    static const carom_contact_mode modes[] = {CAROM_CONTACT_NONE, CAROM_CONTACT_1D,
                                               CAROM_CONTACT_2D, CAROM_CONTACT_TYRE};
    def->contact_mode = contact->has_mode ? modes[contact->mode] : CAROM_CONTACT_2D;
    def->contact_axis = cm_normalize(cm_scene_vec(contact->axis, zero));
    def->contact_slip = (float)contact->slip;
    def->contact_max_force = (float)contact->max_force;
    def->contact_slip_by_speed = (float)contact->slip_by_speed;
    def->contact_trail = (float)contact->trail;
}

// A geometry that is not built was refused before.
static void to_shape_def(const Cm__Scene__Scene *scene, const Cm__Scene__Shape *shape,
                         carom_shape_def *def)
{
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    *def = carom_default_shape_def();
    def->position = cm_scene_vec(shape->position, zero);
    def->orientation = cm_scene_quat(shape->orientation);
    to_surface(scene, shape, def);
    def->sensor = shape->sensor;
    to_contact(shape, def);
    if (shape->filter != NULL) {
        def->category = shape->filter->category;
        def->mask = shape->filter->mask;
        def->group = shape->filter->group;
    }
    switch (shape->geometry_case) {
    case CM__SCENE__SHAPE__GEOMETRY_SPHERE:
        def->type = CAROM_SHAPE_SPHERE;
        def->radius = (float)shape->sphere->radius;
        break;
    case CM__SCENE__SHAPE__GEOMETRY_CAPSULE:
        def->type = CAROM_SHAPE_CAPSULE;
        def->radius = (float)shape->capsule->radius;
        def->half_height = (float)shape->capsule->half_height;
        break;
    case CM__SCENE__SHAPE__GEOMETRY_PLANE:
        def->type = CAROM_SHAPE_PLANE;
        def->normal = cm_scene_vec(shape->plane->normal, zero);
        def->normal = cm_normalize(def->normal);
        def->offset = (float)shape->plane->offset;
        break;
    case CM__SCENE__SHAPE__GEOMETRY_CYLINDER:
        def->type = CAROM_SHAPE_CYLINDER;
        def->radius = (float)shape->cylinder->radius;
        def->half_height = (float)shape->cylinder->half_height;
        break;
    case CM__SCENE__SHAPE__GEOMETRY_HULL:
        def->type = CAROM_SHAPE_HULL;
        break;
    default:
        def->type = CAROM_SHAPE_BOX;
        def->half_extents = cm_scene_vec(shape->box->half_extents, zero);
        break;
    }
}

static bool no_memory(cm_check *check)
{
    return cm_check_fail(check, CAROM_ERROR_MEMORY, "more memory than there is, or than %zu bytes",
                         CM_POOL_LIMIT);
}

// NULL where memory is at its end or a hull is refused: the check knows which.
static const carom_shape_def *make_shapes(cm_scene *scene, const Cm__Scene__Body *body,
                                          cm_check *check)
{
    carom_shape_def *shapes = cm_pool_take(&scene->pool, (body->n_shapes + 1) * sizeof *shapes);
    if (shapes == NULL) {
        no_memory(check);
    }
    for (size_t i = 0; shapes != NULL && i < body->n_shapes; i++) {
        to_shape_def(scene->message, body->shapes[i], &shapes[i]);
        if (shapes[i].type != CAROM_SHAPE_HULL) {
            continue;
        }
        cm_check_item(check, "shapes", i);
        shapes[i].hull = cm_scene_hull(scene, body->shapes[i]->hull, check);
        if (shapes[i].hull == NULL) {
            return NULL;
        }
        cm_check_pop(check);
        cm_check_pop(check);
    }
    return shapes;
}

static uint64_t array_size(const Cm__Scene__BodyArray *array)
{
    const Cm__Scene__Count *n = array->count;
    return n == NULL ? 1 : (uint64_t)n->x * n->y * n->z; // each at most 65,536: no overflow
}

// "1 body and 2 shapes", and what a printf has behind it.
#define COUNTS(bodies, shapes, rest)                                                               \
    "%llu %s and %llu %s" rest, (unsigned long long)(bodies), (bodies) == 1 ? "body" : "bodies",   \
        (unsigned long long)(shapes), (shapes) == 1 ? "shape" : "shapes", CAROM_BODIES_MAX,        \
        CAROM_SHAPES_MAX

// Counts first, so that nothing is allocated for a scene above the limits.
static bool count_bodies(cm_scene *scene, cm_check *check)
{
    const Cm__Scene__Scene *message = scene->message;
    uint64_t bodies = message->n_bodies, shapes = 0;
    for (size_t i = 0; i < message->n_bodies; i++) {
        shapes += message->bodies[i]->n_shapes;
    }
    if (bodies > CAROM_BODIES_MAX || shapes > CAROM_SHAPES_MAX) {
        return cm_check_fail_at(check, "bodies", CAROM_ERROR_LIMIT_BODIES,
                                COUNTS(bodies, shapes, ", expected at most %u and %u"));
    }
    for (size_t i = 0; i < message->n_arrays; i++) {
        uint64_t size = array_size(message->arrays[i]);
        bodies += size;
        // Compared before multiplied: the size may be near 2^48.
        shapes += size > CAROM_BODIES_MAX ? 0 : size * message->arrays[i]->of->n_shapes;
        if (size > CAROM_BODIES_MAX || bodies > CAROM_BODIES_MAX || shapes > CAROM_SHAPES_MAX) {
            cm_check_item(check, "arrays", i);
            return cm_check_fail_at(check, "count", CAROM_ERROR_LIMIT_BODIES,
                                    COUNTS(bodies, shapes, " in all, expected at most %u and %u"));
        }
    }
    scene->body_count = (uint32_t)bodies;
    scene->shape_count = (uint32_t)shapes;
    return true;
}

static bool remember(cm_check *check, const char *list, size_t index, bool in_array, uint64_t more,
                     uint64_t *remembered)
{
    *remembered += more;
    if (*remembered <= CAROM_HISTORY_BODIES_MAX) {
        return true;
    }
    cm_check_item(check, list, index);
    if (in_array) {
        cm_check_key(check, "of");
    }
    return cm_check_fail_at(check, "history", CAROM_ERROR_LIMIT_BODIES,
                            "%llu bodies with a history, expected at most %u",
                            (unsigned long long)*remembered, CAROM_HISTORY_BODIES_MAX);
}

// Bodies that are remembered: of more, a game would leave out the last ones.
static bool count_remembered(const Cm__Scene__Scene *message, cm_check *check)
{
    uint64_t remembered = 0;
    for (size_t i = 0; i < message->n_bodies; i++) {
        if (!remember(check, "bodies", i, false, message->bodies[i]->history, &remembered)) {
            return false;
        }
    }
    for (size_t i = 0; i < message->n_arrays; i++) {
        const Cm__Scene__BodyArray *array = message->arrays[i];
        if (!remember(check, "arrays", i, true, array->of->history ? array_size(array) : 0,
                      &remembered)) {
            return false;
        }
    }
    return true;
}

// `base` and a number, or body_N where the scene gives no name; NULL without memory.
static const char *make_name(cm_scene *scene, const char *base, uint64_t number)
{
    char name[CM_NAME_MAX + 24];
    snprintf(name, sizeof name, "%s_%llu", base, (unsigned long long)number);
    return cm_pool_string(&scene->pool, name);
}

// A body or a prefab: row `index` of its list, whose path is there.
static bool expand_body(cm_scene *scene, const Cm__Scene__Body *source, uint32_t index,
                        cm_scene_body *body, cm_check *check)
{
    body->source = source;
    if (source->position != NULL) {
        body->position[0] = source->position->x;
        body->position[1] = source->position->y;
        body->position[2] = source->position->z;
    }
    body->name = source->name != NULL ? source->name : make_name(scene, "body", index);
    body->shapes = make_shapes(scene, source, check);
    return body->shapes != NULL && (body->name != NULL || no_memory(check));
}

static bool expand_array(cm_scene *scene, const Cm__Scene__BodyArray *array, uint32_t first,
                         cm_check *check)
{
    const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    const double *origin = array->origin != NULL ? &array->origin->x : zero;
    const double *spacing = array->spacing != NULL ? &array->spacing->x : one;
    const double *own = array->of->position != NULL ? &array->of->position->x : zero;
    uint32_t nx = array->count != NULL ? array->count->x : 1;
    uint32_t ny = array->count != NULL ? array->count->y : 1;
    cm_check_key(check, "of");
    const carom_shape_def *shapes = make_shapes(scene, array->of, check);
    if (shapes == NULL) {
        return false;
    }
    cm_check_pop(check);
    uint32_t size = (uint32_t)array_size(array);
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t at[3] = {i % nx, i / nx % ny, i / nx / ny};
        cm_scene_body *body = &scene->bodies[first + i];
        body->source = array->of;
        for (int k = 0; k < 3; k++) {
            body->position[k] = origin[k] + at[k] * spacing[k] + own[k];
            if (!(fabs(body->position[k]) <= POSITION_MAX)) {
                return cm_check_fail_at(check, "spacing", CAROM_ERROR_ARGUMENT,
                                        "body %u lies at %.9g, expected %.9g to %.9g", (unsigned)i,
                                        body->position[k], -POSITION_MAX, POSITION_MAX);
            }
        }
        body->name = array->name != NULL ? make_name(scene, array->name, i)
                                         : make_name(scene, "body", first + i);
        body->shapes = shapes;
        if (body->name == NULL || shapes == NULL) {
            return no_memory(check);
        }
        if (strlen(body->name) >= CM_NAME_MAX) {
            return cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                                    "too long with its number, expected at most %u bytes in all",
                                    CM_NAME_MAX - 1);
        }
    }
    return true;
}

// Puts the path at the body or the array that body `index` came from.
static void point_at_source(const cm_scene *scene, cm_check *check, uint32_t index)
{
    const Cm__Scene__Scene *message = scene->message;
    if (index < message->n_bodies) {
        cm_check_item(check, "bodies", index);
        return;
    }
    uint64_t first = message->n_bodies;
    for (size_t i = 0; i < message->n_arrays; i++) {
        first += array_size(message->arrays[i]);
        if (index < first) {
            cm_check_item(check, "arrays", i);
            return;
        }
    }
}

static bool index_names(cm_scene *scene, cm_check *check)
{
    scene->by_name = cm_pool_take(&scene->pool, (scene->body_count + 1) * sizeof(uint32_t));
    if (scene->by_name == NULL) {
        return no_memory(check);
    }
    uint32_t twice = cm_names_sort(&scene->bodies[0].name, sizeof *scene->bodies, scene->body_count,
                                   scene->by_name);
    if (twice > 0) {
        uint32_t first = scene->by_name[twice - 1], second = scene->by_name[twice];
        point_at_source(scene, check, second);
        return cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                                "'%.64s' is the name of body %u already, expected another",
                                scene->bodies[second].name, (unsigned)first);
    }
    return true;
}

// One limit: the scene's value, at least the count that the scene holds; without a value twice that
// count, at least 64.
static bool make_limit(cm_check *check, const char *key, bool given, uint32_t wanted, uint32_t held,
                       uint32_t most, carom_result result, uint32_t *limit)
{
    if (given) {
        *limit = wanted;
        return wanted >= held ||
               cm_check_fail_at(check, key, result, "%u, but the scene holds %u: expected %u to %u",
                                (unsigned)wanted, (unsigned)held, (unsigned)held, (unsigned)most);
    }
    uint64_t twice = (uint64_t)held * 2;
    twice = twice < LIMIT_AT_LEAST ? LIMIT_AT_LEAST : twice;
    *limit = twice > most ? most : (uint32_t)twice;
    return true;
}

static bool make_limits(cm_scene *scene, cm_check *check)
{
    const Cm__Scene__Limits none = CM__SCENE__LIMITS__INIT;
    const Cm__Scene__Limits *given =
        scene->message->limits != NULL ? scene->message->limits : &none;
    carom_limits *limits = &scene->limits;
    cm_check_key(check, "limits");
    if (!make_limit(check, "bodies", given->has_bodies, given->bodies, scene->body_count,
                    CAROM_BODIES_MAX, CAROM_ERROR_LIMIT_BODIES, &limits->bodies) ||
        !make_limit(check, "shapes", given->has_shapes, given->shapes, scene->shape_count,
                    CAROM_SHAPES_MAX, CAROM_ERROR_LIMIT_SHAPES, &limits->shapes) ||
        !make_limit(check, "joints", given->has_joints, given->joints,
                    (uint32_t)scene->message->n_joints, CAROM_JOINTS_MAX, CAROM_ERROR_LIMIT_JOINTS,
                    &limits->joints)) {
        return false;
    }
    limits->contacts = given->has_contacts ? given->contacts : 8 * limits->bodies;
    cm_check_pop(check);
    return true;
}

static double hull_radius(const carom_hull *hull)
{
    uint32_t count;
    double radius = 0.0;
    const carom_vec3 *vertices = carom_hull_vertices(hull, &count);
    for (uint32_t i = 0; i < count; i++) {
        radius = fmax(radius, cm_length(vertices[i]));
    }
    return radius;
}

// Radius about the body's origin that holds its shapes; 0 for a plane.
static double body_radius(const cm_scene_body *body)
{
    double radius = 0.0;
    for (size_t i = 0; i < body->source->n_shapes; i++) {
        const carom_shape_def *shape = &body->shapes[i];
        double own = shape->type == CAROM_SHAPE_BOX ? cm_length(shape->half_extents)
                     : shape->type == CAROM_SHAPE_CAPSULE || shape->type == CAROM_SHAPE_CYLINDER
                         ? shape->radius + shape->half_height
                     : shape->type == CAROM_SHAPE_SPHERE ? shape->radius
                     : shape->type == CAROM_SHAPE_HULL   ? hull_radius(shape->hull)
                                                         : 0.0;
        radius = fmax(radius, own + cm_length(shape->position));
    }
    return radius;
}

static void default_bounds(cm_scene *scene, double lower[3], double upper[3])
{
    for (int k = 0; k < 3; k++) {
        lower[k] = scene->body_count > 0 ? INFINITY : 0.0;
        upper[k] = -lower[k];
    }
    const cm_scene_body *last = NULL;
    double radius = 0.0;
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const cm_scene_body *body = &scene->bodies[i];
        if (last == NULL || last->source != body->source) {
            bool fixed = body->source->type == CM__SCENE__BODY__TYPE__STATIC;
            radius = fixed ? 0.0 : body_radius(body);
        }
        last = body;
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], body->position[k] - radius);
            upper[k] = fmax(upper[k], body->position[k] + radius);
        }
    }
    for (int k = 0; k < 3; k++) {
        lower[k] = floor(lower[k] - BOUNDS_MARGIN);
        upper[k] = ceil(upper[k] + BOUNDS_MARGIN);
    }
}

static bool given_bounds(cm_scene *scene, cm_check *check, double lower[3], double upper[3])
{
    const Cm__Scene__Bounds *bounds = scene->message->bounds;
    const double *low = &bounds->min->x, *high = &bounds->max->x;
    for (int k = 0; k < 3; k++) {
        lower[k] = low[k];
        upper[k] = high[k];
        if (!(high[k] - low[k] >= 1e-3)) {
            return cm_check_fail_at(check, "bounds", CAROM_ERROR_ARGUMENT,
                                    "from %.9g to %.9g on axis %d, expected the lower end first",
                                    low[k], high[k], k);
        }
    }
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const cm_scene_body *body = &scene->bodies[i];
        if (body->source->type == CM__SCENE__BODY__TYPE__STATIC) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            if (body->position[k] < low[k] || body->position[k] > high[k]) {
                return cm_check_fail_at(check, "bounds", CAROM_ERROR_ARGUMENT,
                                        "'%.64s' lies outside at %.9g on axis %d, expected bounds "
                                        "that hold every body that can move",
                                        body->name, body->position[k], k);
            }
        }
    }
    return true;
}

static bool make_bounds(cm_scene *scene, cm_check *check)
{
    double lower[3], upper[3];
    if (scene->message->bounds != NULL) {
        if (!given_bounds(scene, check, lower, upper)) {
            return false;
        }
    } else {
        default_bounds(scene, lower, upper);
    }
    scene->lower = cm_vec((float)lower[0], (float)lower[1], (float)lower[2]);
    scene->upper = cm_vec((float)upper[0], (float)upper[1], (float)upper[2]);
    return true;
}

static bool expand_bodies(cm_scene *scene, cm_check *check)
{
    const Cm__Scene__Scene *message = scene->message;
    uint32_t first = (uint32_t)message->n_bodies;
    bool all = true;
    for (uint32_t i = 0; i < message->n_bodies + message->n_prefabs; i++) {
        bool prefab = i >= message->n_bodies;
        uint32_t index = prefab ? i - first : i;
        cm_check_item(check, prefab ? "prefabs" : "bodies", index);
        bool ok = expand_body(scene, prefab ? message->prefabs[index] : message->bodies[i], index,
                              prefab ? &scene->prefabs[index] : &scene->bodies[i], check);
        if (!cm_check_leave(check, 0, ok, &all)) {
            return false;
        }
    }
    for (size_t i = 0; i < message->n_arrays; i++) {
        cm_check_item(check, "arrays", i);
        bool ok = expand_array(scene, message->arrays[i], first, check);
        if (!cm_check_leave(check, 0, ok, &all)) {
            return false;
        }
        first += (uint32_t)array_size(message->arrays[i]);
    }
    return all;
}

bool cm_scene_expand(cm_scene *scene, cm_check *check)
{
    if (!count_bodies(scene, check) || !count_remembered(scene->message, check)) {
        return false;
    }
    scene->bodies = cm_pool_take(&scene->pool, (scene->body_count + 1) * sizeof(cm_scene_body));
    scene->prefabs =
        cm_pool_take(&scene->pool, (scene->message->n_prefabs + 1) * sizeof(cm_scene_body));
    if (scene->bodies == NULL || scene->prefabs == NULL || !cm_scene_hulls_begin(scene)) {
        return no_memory(check);
    }
    if (!expand_bodies(scene, check)) {
        return false;
    }
    cm_scene_hulls_end(scene);
    if (!index_names(scene, check)) {
        return false;
    }
    typedef bool step(cm_scene * scene, cm_check * check);
    static step *const steps[] = {cm_scene_check_pairs, cm_scene_expand_joints, make_limits,
                                  make_bounds};
    bool all = true;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (!cm_check_leave(check, 0, steps[i](scene, check), &all)) {
            return false;
        }
    }
    return all;
}

uint32_t cm_axis_lock(const char *name)
{
    static const char *const names[] = {"x", "y", "z", "rx", "ry", "rz"};
    for (uint32_t i = 0; i < 6; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1u << i;
        }
    }
    return 0;
}

static void to_body_def(const cm_scene_body *body, carom_body_def *def)
{
    const Cm__Scene__Body *source = body->source;
    carom_vec3 zero = cm_vec(0.0f, 0.0f, 0.0f);
    // A pointer is kinematic without saying so.
    bool kinematic = source->type == CM__SCENE__BODY__TYPE__KINEMATIC || source->pointer != NULL;
    def->type = source->type == CM__SCENE__BODY__TYPE__STATIC ? CAROM_BODY_STATIC
                : kinematic                                   ? CAROM_BODY_KINEMATIC
                                                              : CAROM_BODY_DYNAMIC;
    def->position =
        cm_vec((float)body->position[0], (float)body->position[1], (float)body->position[2]);
    def->orientation = cm_scene_quat(source->orientation);
    def->linear_velocity = cm_scene_vec(source->linear_velocity, zero);
    def->angular_velocity = cm_scene_vec(source->angular_velocity, zero);
    def->force = cm_scene_vec(source->force, zero);
    def->torque = cm_scene_vec(source->torque, zero);
    def->gravity_scale = (float)source->gravity_scale;
    def->linear_damping = (float)source->linear_damping;
    def->angular_damping = (float)source->angular_damping;
    def->user_data = source->user_data;
    def->has_mass = source->has_mass;
    def->mass = (float)source->mass;
    def->has_inertia = source->inertia != NULL;
    def->inertia = cm_scene_vec(source->inertia, zero);
    def->inertia_orientation = cm_scene_quat(source->inertia_orientation);
    def->has_center_of_mass = source->center_of_mass != NULL;
    def->center_of_mass = cm_scene_vec(source->center_of_mass, zero);
    def->bullet = source->bullet;
    def->sleep = source->sleep;
    def->report_force = source->report_force;
    def->history = source->history;
    def->pointer = source->pointer != NULL ? source->pointer->player : CAROM_NO_PLAYER;
    def->epsilon = source->has_epsilon ? (float)source->epsilon : -1.0f;
    def->gamma = source->has_gamma ? (float)source->gamma : -1.0f;
    for (size_t i = 0; i < source->n_axis_locks; i++) {
        def->axis_locks |= cm_axis_lock(source->axis_locks[i]);
    }
}

void cm_scene_body_def(const cm_scene *scene, uint32_t index, carom_body_def *def)
{
    *def = carom_default_body_def();
    if (index < scene->body_count) {
        to_body_def(&scene->bodies[index], def);
    }
}

uint32_t cm_scene_prefab(const cm_scene *scene, uint32_t index, carom_body_def *def,
                         const carom_shape_def **shapes)
{
    const cm_scene_body *prefab = &scene->prefabs[index];
    *def = carom_default_body_def();
    to_body_def(prefab, def);
    *shapes = prefab->shapes;
    return (uint32_t)prefab->source->n_shapes;
}
