// Joints of a scene: the rules for each type's keys, names, the bodies they hold; and joints put
// into a world. Typical: none, or 2,000 balls.
//
// The default anchor is b's centre of mass for a steering joint, the origins of a and b for a
// distance, else b's origin. A key that a type would ignore is refused, so that every key of a
// scene has an effect.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/scene/message.h"

#define AXIS_MIN 1e-6
#define AXES_MIN 2e-3 // sine of the angle between steering and hinge axis

typedef Cm__Scene__Joint joint_message;

static bool refuse(cm_check *check, const char *key, const joint_message *joint,
                   const char *expected)
{
    char type[32];
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&cm__scene__joint__type__descriptor, (int)joint->type);
    cm_enum_text(value, type, sizeof type);
    return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT, "of a %s joint, expected %s", type,
                            expected);
}

static bool check_keys(cm_check *check, const joint_message *j)
{
    bool distance = j->type == CM__SCENE__JOINT__TYPE__DISTANCE;
    bool one_axis = j->type == CM__SCENE__JOINT__TYPE__HINGE ||
                    j->type == CM__SCENE__JOINT__TYPE__PRISMATIC ||
                    j->type == CM__SCENE__JOINT__TYPE__STEERING;
    if (j->limits != NULL && !one_axis) {
        return refuse(check, "limits", j, distance ? "length" : "no such key");
    }
    if (j->length != NULL && !distance) {
        return refuse(check, "length", j, one_axis ? "limits" : "no such key");
    }
    if (j->anchor_b != NULL && !distance) {
        return refuse(check, "anchor_b", j, "no such key");
    }
    if (j->steering_axis != NULL && j->type != CM__SCENE__JOINT__TYPE__STEERING) {
        return refuse(check, "steering_axis", j, "no such key");
    }
    if (j->motor != NULL && j->type == CM__SCENE__JOINT__TYPE__FIXED) {
        return refuse(check, "motor", j, "no such key");
    }
    return true;
}

static bool check_range(cm_check *check, const char *key, const Cm__Scene__Range *range)
{
    if (range == NULL || range->low <= range->high) {
        return true;
    }
    return cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                            "from %.9g to %.9g, expected the lower end first", range->low,
                            range->high);
}

static bool check_axis(cm_check *check, const char *key, const Cm__Scene__Vec3 *axis)
{
    double length =
        axis == NULL ? 1.0 : sqrt(axis->x * axis->x + axis->y * axis->y + axis->z * axis->z);
    return length >= AXIS_MIN ||
           cm_check_fail_at(check, key, CAROM_ERROR_ARGUMENT,
                            "an axis of length %.6g, expected a direction", length);
}

static bool check_spring(cm_check *check, const Cm__Scene__Spring *spring)
{
    if (spring == NULL) {
        return true;
    }
    bool hertz = spring->has_hertz || spring->has_damping_ratio;
    bool stiffness = spring->has_stiffness || spring->has_damping;
    return hertz != stiffness ||
           cm_check_fail_at(check, "spring", CAROM_ERROR_ARGUMENT,
                            "%s, expected hertz and damping_ratio, or stiffness and damping",
                            hertz ? "both kinds of keys" : "no keys");
}

// The axes' default is y; of a steering joint's hinge axis it is z.
static carom_vec3 hinge_axis(const joint_message *j)
{
    bool steering = j->type == CM__SCENE__JOINT__TYPE__STEERING;
    return cm_scene_vec(j->axis, steering ? cm_vec(0.0f, 0.0f, 1.0f) : cm_vec(0.0f, 1.0f, 0.0f));
}

static bool check_axes(cm_check *check, const joint_message *j)
{
    if (!check_axis(check, "axis", j->axis) ||
        !check_axis(check, "steering_axis", j->steering_axis)) {
        return false;
    }
    if (j->type != CM__SCENE__JOINT__TYPE__STEERING) {
        return true;
    }
    carom_vec3 hinge = cm_normalize(hinge_axis(j));
    carom_vec3 steering = cm_normalize(cm_scene_vec(j->steering_axis, cm_vec(0.0f, 1.0f, 0.0f)));
    return (double)cm_length(cm_cross(hinge, steering)) >= AXES_MIN ||
           cm_check_fail_at(check, "steering_axis", CAROM_ERROR_ARGUMENT,
                            "along the hinge axis, expected another direction than axis");
}

static bool find_end(cm_scene *scene, cm_check *check, const char *key, const char *name,
                     uint32_t *index)
{
    *index = cm_scene_find_body(scene, name);
    return *index != CM_SCENE_NO_BODY ||
           cm_check_fail_at(check, key, CAROM_ERROR_NOT_FOUND, "no body '%.64s', expected %s", name,
                            strcmp(key, "a") == 0 ? "the name of a body, or world"
                                                  : "the name of a body");
}

static bool is_static(const cm_scene *scene, uint32_t index)
{
    return index == CM_SCENE_NO_BODY ||
           scene->bodies[index].source->type == CM__SCENE__BODY__TYPE__STATIC;
}

static bool find_ends(cm_scene *scene, cm_check *check, cm_scene_joint *joint)
{
    const joint_message *j = joint->source;
    joint->a = CM_SCENE_NO_BODY;
    if (strcmp(j->a, "world") != 0 && !find_end(scene, check, "a", j->a, &joint->a)) {
        return false;
    }
    if (!find_end(scene, check, "b", j->b, &joint->b)) {
        return false;
    }
    if (joint->a == joint->b) {
        return cm_check_fail_at(check, "b", CAROM_ERROR_ARGUMENT,
                                "the same body as a, expected another");
    }
    return !is_static(scene, joint->a) || !is_static(scene, joint->b) ||
           cm_check_fail_at(check, "b", CAROM_ERROR_ARGUMENT,
                            "both ends never move, expected one that is not static");
}

static bool expand_joint(cm_scene *scene, uint32_t index, cm_check *check)
{
    cm_scene_joint *joint = &scene->joints[index];
    const joint_message *j = scene->message->joints[index];
    char name[CM_NAME_MAX];
    joint->source = j;
    snprintf(name, sizeof name, "joint_%u", (unsigned)index);
    joint->name = j->name != NULL ? j->name : cm_pool_string(&scene->pool, name);
    if (joint->name == NULL) {
        return cm_check_fail(check, CAROM_ERROR_MEMORY, "no memory for a joint");
    }
    return find_ends(scene, check, joint) && check_keys(check, j) && check_axes(check, j) &&
           check_range(check, "limits", j->limits) && check_range(check, "length", j->length) &&
           check_spring(check, j->spring);
}

static bool check_names(cm_scene *scene, cm_check *check)
{
    uint32_t *order = cm_pool_take(&scene->pool, (scene->joint_count + 1) * sizeof *order);
    if (order == NULL) {
        return cm_check_fail(check, CAROM_ERROR_MEMORY, "no memory for names of joints");
    }
    uint32_t twice =
        cm_names_sort(&scene->joints[0].name, sizeof *scene->joints, scene->joint_count, order);
    if (twice > 0) {
        cm_check_index(check, order[twice]);
        return cm_check_fail_at(check, "name", CAROM_ERROR_ARGUMENT,
                                "'%.64s' is the name of joint %u already, expected another",
                                scene->joints[order[twice]].name, (unsigned)order[twice - 1]);
    }
    return true;
}

bool cm_scene_expand_joints(cm_scene *scene, cm_check *check)
{
    size_t count = scene->message->n_joints;
    cm_check_key(check, "joints");
    if (count > CAROM_JOINTS_MAX) {
        return cm_check_fail(check, CAROM_ERROR_LIMIT_JOINTS, "%zu joints, expected at most %u",
                             count, CAROM_JOINTS_MAX);
    }
    scene->joint_count = (uint32_t)count;
    scene->joints = cm_pool_take(&scene->pool, (count + 1) * sizeof *scene->joints);
    if (scene->joints == NULL) {
        return cm_check_fail(check, CAROM_ERROR_MEMORY, "no memory for joints");
    }
    uint32_t depth = check->path.depth;
    bool all = true;
    for (uint32_t i = 0; i < scene->joint_count; i++) {
        cm_check_index(check, i);
        if (!cm_check_leave(check, depth, expand_joint(scene, i, check), &all)) {
            return false;
        }
    }
    return all && check_names(scene, check);
}

bool cm_scene_joint_point(const cm_scene *scene, uint32_t index, uint32_t *a, uint32_t *b,
                          double point[3])
{
    const cm_scene_joint *joint = &scene->joints[index];
    const joint_message *j = joint->source;
    *a = joint->a;
    *b = joint->b;
    memcpy(point, scene->bodies[joint->b].position, 3 * sizeof *point);
    if (j->anchor != NULL) {
        memcpy(point, &j->anchor->x, 3 * sizeof *point);
    }
    return j->type == CM__SCENE__JOINT__TYPE__BALL || j->type == CM__SCENE__JOINT__TYPE__HINGE ||
           j->type == CM__SCENE__JOINT__TYPE__FIXED;
}

// Into a world -----------------------------------------------------------------------------------

static carom_joint_type to_type(const joint_message *j)
{
    switch (j->type) {
    case CM__SCENE__JOINT__TYPE__HINGE:
        return CAROM_JOINT_HINGE;
    case CM__SCENE__JOINT__TYPE__PRISMATIC:
        return CAROM_JOINT_PRISMATIC;
    case CM__SCENE__JOINT__TYPE__STEERING:
        return CAROM_JOINT_STEERING;
    case CM__SCENE__JOINT__TYPE__FIXED:
        return CAROM_JOINT_FIXED;
    case CM__SCENE__JOINT__TYPE__DISTANCE:
        return CAROM_JOINT_DISTANCE;
    case CM__SCENE__JOINT__TYPE__MOTOR:
        return CAROM_JOINT_MOTOR;
    default:
        return CAROM_JOINT_BALL;
    }
}

static void set_extras(const joint_message *j, carom_joint_def *def)
{
    const Cm__Scene__Range *range = j->limits != NULL ? j->limits : j->length;
    if (range != NULL) {
        def->has_limits = true;
        def->lower = (float)range->low;
        def->upper = (float)range->high;
    }
    if (j->motor != NULL) {
        def->has_motor = true;
        def->motor_velocity = (float)j->motor->velocity;
        if (j->motor->has_max_force) {
            def->motor_max = (float)j->motor->max_force;
        }
    }
    const Cm__Scene__Spring *spring = j->spring;
    if (spring != NULL) {
        bool hertz = spring->has_hertz || spring->has_damping_ratio;
        def->spring = hertz ? CAROM_SPRING_HERTZ : CAROM_SPRING_STIFFNESS;
        def->spring_hertz = (float)spring->hertz;
        def->spring_damping_ratio = (float)spring->damping_ratio;
        def->spring_stiffness = (float)spring->stiffness;
        def->spring_damping = (float)spring->damping;
        def->spring_target = (float)spring->target;
        def->spring_velocity = (float)spring->velocity;
        if (spring->has_max_force) {
            def->spring_max = (float)spring->max_force;
        }
    }
    def->break_force = (float)j->break_force;
    def->break_torque = (float)j->break_torque;
    def->friction = (float)j->friction;
    def->collide = j->collide;
    def->epsilon = j->has_epsilon ? (float)j->epsilon : -1.0f;
    def->gamma = j->has_gamma ? (float)j->gamma : -1.0f;
}

void cm_scene_joint_def(const joint_message *j, carom_joint_def *def)
{
    *def = carom_default_joint_def();
    def->type = to_type(j);
    def->axis = hinge_axis(j);
    def->steering_axis = cm_scene_vec(j->steering_axis, def->steering_axis);
    set_extras(j, def);
}

static carom_result make_def(const cm_scene *scene, const carom_world *world, uint32_t index,
                             carom_joint_def *def)
{
    const cm_scene_joint *joint = &scene->joints[index];
    const joint_message *j = joint->source;
    carom_body_state a, b;
    memset(&a, 0, sizeof a);
    cm_scene_joint_def(j, def);
    if (joint->a != CM_SCENE_NO_BODY) {
        def->body_a = carom_world_body_at(world, joint->a);
        carom_result result = carom_body_get(world, def->body_a, &a);
        if (result != CAROM_OK) {
            return result;
        }
    }
    def->body_b = carom_world_body_at(world, joint->b);
    carom_result result = carom_body_get(world, def->body_b, &b);
    if (result != CAROM_OK) {
        return result;
    }
    bool distance = def->type == CAROM_JOINT_DISTANCE;
    carom_vec3 at_b = def->type == CAROM_JOINT_STEERING ? b.center_of_mass : b.position;
    def->anchor = cm_scene_vec(j->anchor, distance ? a.position : at_b);
    def->anchor_b = cm_scene_vec(j->anchor_b, b.position);
    return CAROM_OK;
}

carom_result cm_scene_populate_joints(const cm_scene *scene, carom_world *world)
{
    for (uint32_t i = 0; i < scene->joint_count; i++) {
        carom_joint_def def;
        carom_joint_id id;
        carom_result result = make_def(scene, world, i, &def);
        result = result == CAROM_OK ? carom_joint_create(world, &def, &id) : result;
        if (result != CAROM_OK) {
            return result;
        }
        if (id.index != i) {
            return CAROM_ERROR_STATE; // not a new world
        }
    }
    return CAROM_OK;
}
