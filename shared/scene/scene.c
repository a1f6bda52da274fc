// A scene in memory: made from packed bytes (or from JSON, scene_json.c), read, put into a world.
//
// Sizes are capped before the bytes are parsed, memory by the pool; the schema has no recursion, so
// depth is bounded by it. protobuf-c's own free is never needed: the pool goes as one.
#include "shared/scene/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/vec.h"
#include "shared/scene/message.h"

cm_scene *cm_scene_new(const carom_allocator *allocator)
{
    cm_pool pool;
    cm_pool_init(&pool, allocator);
    cm_scene *scene = pool.allocator.allocate(pool.allocator.context, sizeof *scene);
    if (scene != NULL) {
        memset(scene, 0, sizeof *scene);
        scene->pool = pool;
    }
    return scene;
}

void cm_scene_free(cm_scene *scene)
{
    if (scene == NULL) {
        return;
    }
    cm_pool pool = scene->pool;
    cm_pool_release(&pool);
    pool.allocator.release(pool.allocator.context, scene);
}

bool cm_scene_finish(cm_scene *scene, cm_check *check)
{
    carom_world_def def;
    // Rules are held against values that were refused too, so that one look tells of both.
    bool sound = cm_check_values(check, &scene->message->base);
    check->path.depth = 0;
    sound = check->count < check->capacity && cm_check_rules(check, scene->message) && sound;
    if (!sound || !cm_scene_expand(scene, check)) {
        return false;
    }
    cm_scene_world_def(scene, &def);
    return cm_check_defs(scene, &def, false, check, NULL);
}

// Without its flag a value of a message is not packed.
static void set_number(uint32_t wanted, protobuf_c_boolean *has, uint32_t *number)
{
    if (wanted > 0) {
        *has = true;
        *number = wanted;
    }
}

// False: no memory.
static bool change_message(cm_scene *scene, const cm_scene_change *change)
{
    Cm__Scene__Scene *message = scene->message;
    const carom_limits *wanted = &change->limits;
    set_number(change->tick_rate, &message->has_tick_rate, &message->tick_rate);
    if (change->sync_inputs && message->replication == NULL) {
        message->replication = cm_pool_take(&scene->pool, sizeof *message->replication);
        if (message->replication == NULL) {
            return false;
        }
        cm__scene__replication__init(message->replication);
    }
    if (change->sync_inputs) {
        message->replication->has_sync = true;
        message->replication->sync = CM__SCENE__REPLICATION__SYNC__INPUTS;
    }
    if (wanted->bodies + wanted->shapes + wanted->joints + wanted->contacts == 0) {
        return true;
    }
    if (message->limits == NULL) {
        message->limits = cm_pool_take(&scene->pool, sizeof *message->limits);
        if (message->limits == NULL) {
            return false;
        }
        cm__scene__limits__init(message->limits);
    }
    Cm__Scene__Limits *limits = message->limits;
    set_number(wanted->bodies, &limits->has_bodies, &limits->bodies);
    set_number(wanted->shapes, &limits->has_shapes, &limits->shapes);
    set_number(wanted->joints, &limits->has_joints, &limits->joints);
    set_number(wanted->contacts, &limits->has_contacts, &limits->contacts);
    return true;
}

static carom_result unpack_with(const uint8_t *bytes, size_t size, const cm_scene_change *change,
                                const carom_allocator *allocator, cm_scene **scene,
                                cm_scene_error *error)
{
    cm_scene_error unused;
    cm_check check;
    *scene = NULL;
    cm_check_init(&check, error != NULL ? error : &unused, 1);
    if (size > CM_SCENE_PACKED_MAX) {
        cm_check_fail(&check, CAROM_ERROR_LIMIT_SIZE, "%zu bytes, expected at most %u", size,
                      CM_SCENE_PACKED_MAX);
        return check.result;
    }
    cm_scene *made = cm_scene_new(allocator);
    if (made == NULL) {
        cm_check_fail(&check, CAROM_ERROR_MEMORY, "no memory for a scene");
        return check.result;
    }
    const carom_allocator taken = cm_pool_allocator(&made->pool);
    ProtobufCAllocator pool = {taken.allocate, taken.release, taken.context};
    made->message = cm__scene__scene__unpack(&pool, size, bytes);
    if (made->message == NULL) {
        cm_check_fail(&check, CAROM_ERROR_CORRUPT, "not a packed scene, or one too large");
    } else if (!change_message(made, change)) {
        cm_check_fail(&check, CAROM_ERROR_MEMORY, "no memory for a scene");
    } else {
        cm_scene_finish(made, &check);
    }
    if (check.result != CAROM_OK) {
        cm_scene_free(made);
        return check.result;
    }
    *scene = made;
    return CAROM_OK;
}

carom_result cm_scene_unpack(const uint8_t *bytes, size_t size, const carom_allocator *allocator,
                             cm_scene **scene, cm_scene_error *error)
{
    static const cm_scene_change none;
    return unpack_with(bytes, size, &none, allocator, scene, error);
}

carom_result cm_scene_changed(const cm_scene *scene, const cm_scene_change *change, cm_scene **out,
                              cm_scene_error *error)
{
    size_t size = cm_scene_packed_size(scene);
    uint8_t *bytes = malloc(size + 1);
    *out = NULL;
    if (bytes == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    cm_scene_pack(scene, bytes);
    carom_result result = unpack_with(bytes, size, change, NULL, out, error);
    free(bytes);
    return result;
}

size_t cm_scene_packed_size(const cm_scene *scene)
{
    return cm__scene__scene__get_packed_size(scene->message);
}

void cm_scene_pack(const cm_scene *scene, uint8_t *bytes)
{
    cm__scene__scene__pack(scene->message, bytes);
}

const char *cm_scene_name(const cm_scene *scene)
{
    return scene->message->name != NULL ? scene->message->name : "";
}

const char *cm_scene_module(const cm_scene *scene)
{
    return scene->message->module != NULL ? scene->message->module : "";
}

const char *cm_scene_setting(const cm_scene *scene, uint32_t index, double *value)
{
    if (index >= scene->message->n_module_config) {
        return NULL;
    }
    *value = scene->message->module_config[index]->value;
    return scene->message->module_config[index]->name;
}

bool cm_scene_body_has_tag(const cm_scene *scene, uint32_t index, const char *tag)
{
    const Cm__Scene__Body *source = index < scene->body_count ? scene->bodies[index].source : NULL;
    for (size_t i = 0; source != NULL && i < source->n_tags; i++) {
        if (strcmp(source->tags[i], tag) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t cm_scene_find_prefab(const cm_scene *scene, const char *name)
{
    for (uint32_t i = 0; i < scene->message->n_prefabs; i++) {
        if (strcmp(scene->prefabs[i].name, name) == 0) {
            return i;
        }
    }
    return CM_SCENE_NO_BODY;
}

uint32_t cm_scene_find_material(const cm_scene *scene, const char *name)
{
    return cm_message_material(scene->message, name);
}

void cm_scene_replication_get(const cm_scene *scene, cm_scene_replication *replication)
{
    const Cm__Scene__Replication defaults = CM__SCENE__REPLICATION__INIT;
    const Cm__Scene__Replication *given = scene->message->replication;
    given = given != NULL ? given : &defaults;
    replication->sync_inputs = given->sync == CM__SCENE__REPLICATION__SYNC__INPUTS;
    replication->view_rate = given->view_rate;
    replication->budget_kbit = given->budget_kbit;
    replication->interest_radius = (float)given->interest_radius;
    replication->position_step = (float)given->position_step;
    replication->relay = given->relay;
}

void cm_scene_bounds(const cm_scene *scene, carom_vec3 *lower, carom_vec3 *upper)
{
    *lower = scene->lower;
    *upper = scene->upper;
}

uint32_t cm_scene_body_count(const cm_scene *scene)
{
    return scene->body_count;
}

const char *cm_scene_body_name(const cm_scene *scene, uint32_t index)
{
    return index < scene->body_count ? scene->bodies[index].name : "";
}

uint32_t cm_scene_joint_count(const cm_scene *scene)
{
    return scene->joint_count;
}

const char *cm_scene_joint_name(const cm_scene *scene, uint32_t index)
{
    return index < scene->joint_count ? scene->joints[index].name : "";
}

static void call(const char *scenes, const char *kind, uint32_t slot, uint32_t generation,
                 char *name, size_t size)
{
    if (scenes[0] != '\0' && generation <= 1) { // 0: its slot is empty now
        snprintf(name, size, "%s", scenes);
    } else {
        snprintf(name, size, "%s_%u", kind, (unsigned)slot);
    }
}

void cm_scene_call_body(const cm_scene *scene, carom_body_id body, char *name, size_t size)
{
    call(cm_scene_body_name(scene, body.index), "body", body.index, body.generation, name, size);
}

void cm_scene_call_joint(const cm_scene *scene, carom_joint_id joint, char *name, size_t size)
{
    call(cm_scene_joint_name(scene, joint.index), "joint", joint.index, joint.generation, name,
         size);
}

uint32_t cm_scene_history_ticks(const cm_scene *scene)
{
    const Cm__Scene__Limits *limits = scene->message->limits;
    bool any = false;
    for (uint32_t i = 0; i < scene->body_count && !any; i++) {
        any = scene->bodies[i].source->history;
    }
    if (limits != NULL && limits->has_history) {
        return limits->history; // for bodies that a module makes, too
    }
    return any ? (scene->message->tick_rate + 1) / 2 : 0;
}

uint32_t cm_scene_find_body(const cm_scene *scene, const char *name)
{
    uint32_t low = 0, high = scene->body_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(scene->bodies[scene->by_name[middle]].name, name);
        if (order == 0) {
            return scene->by_name[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return CM_SCENE_NO_BODY;
}

static carom_combine to_combine(Cm__Scene__CombineRule rule)
{
    switch (rule) {
    case CM__SCENE__COMBINE_RULE__AVERAGE:
        return CAROM_COMBINE_AVERAGE;
    case CM__SCENE__COMBINE_RULE__GEOMETRIC:
        return CAROM_COMBINE_GEOMETRIC;
    case CM__SCENE__COMBINE_RULE__MIN:
        return CAROM_COMBINE_MIN;
    case CM__SCENE__COMBINE_RULE__MAX:
        return CAROM_COMBINE_MAX;
    default:
        return CAROM_COMBINE_PRODUCT;
    }
}

void cm_scene_world_def(const cm_scene *scene, carom_world_def *def)
{
    const Cm__Scene__Scene *message = scene->message;
    *def = carom_default_world_def();
    def->limits = scene->limits;
    def->hulls = scene->hulls;
    def->hull_count = scene->hull_count;
    def->tick_rate = message->tick_rate;
    if (message->gravity != NULL) {
        def->gravity = cm_vec((float)message->gravity->x, (float)message->gravity->y,
                              (float)message->gravity->z);
    }
    if (message->combine != NULL) {
        def->friction_combine = to_combine(message->combine->friction);
        def->restitution_combine = to_combine(message->combine->restitution);
    }
    def->sleep = message->sleep;
    def->planar = message->planar;
    def->hit_speed = (float)message->hit_speed;
    if (message->solver != NULL) {
        cm_solver_keys_apply(message->solver, &def->solver);
    }
}

void cm_scene_world_def_with(const cm_scene *scene, int solver, carom_world_def *def)
{
    cm_scene_world_def(scene, def);
    if (solver >= 0 && solver != (int)def->solver.type) {
        def->solver = carom_default_world_def().solver;
        def->solver.type = (carom_solver_type)solver;
    }
}

// True if `solver` differs from the scene's own.
static bool is_another(const cm_scene *scene, int solver)
{
    carom_world_def def;
    cm_scene_world_def(scene, &def);
    return solver >= 0 && solver != (int)def.solver.type;
}

carom_result cm_scene_check_solver(const cm_scene *scene, int solver, cm_scene_error *error)
{
    cm_scene_error unused;
    cm_check check;
    cm_check_init(&check, error != NULL ? error : &unused, 1);
    if (is_another(scene, solver)) {
        carom_world_def def;
        cm_scene_world_def_with(scene, solver, &def);
        cm_check_defs(scene, &def, true, &check, NULL);
    }
    return check.result;
}

uint32_t cm_scene_warnings(const cm_scene *scene, int solver, cm_scene_error *warnings,
                           uint32_t capacity)
{
    cm_scene_error error;
    cm_check check;
    carom_world_def def;
    uint32_t more[CM_SCENE_WARNINGS_MAX] = {0};
    uint32_t most = capacity < CM_SCENE_WARNINGS_MAX ? capacity : CM_SCENE_WARNINGS_MAX;
    cm_notes notes = {warnings, most, 0, more};
    cm_check_init(&check, &error, 1);
    cm_scene_world_def_with(scene, solver, &def);
    cm_check_defs(scene, &def, is_another(scene, solver), &check, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        size_t length = strlen(warnings[i].message);
        if (more[i] > 0) {
            snprintf(warnings[i].message + length, sizeof warnings[i].message - length,
                     " (and %u more such)", (unsigned)more[i]);
        }
    }
    return notes.count;
}

carom_result cm_scene_populate(const cm_scene *scene, carom_world *world)
{
    for (uint32_t i = 0; i < scene->body_count; i++) {
        carom_body_def def;
        carom_body_id id;
        cm_scene_body_def(scene, i, &def);
        const cm_scene_body *body = &scene->bodies[i];
        carom_result result =
            carom_body_create(world, &def, body->shapes, (uint32_t)body->source->n_shapes, &id);
        if (result != CAROM_OK) {
            return result;
        }
        if (id.index != i) {
            return CAROM_ERROR_STATE; // not a new world
        }
    }
    carom_result result = cm_scene_populate_pairs(scene, world);
    return result == CAROM_OK ? cm_scene_populate_joints(scene, world) : result;
}
