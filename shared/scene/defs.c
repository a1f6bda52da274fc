// A scene's definitions held against what worlds and solvers refuse (carom/check.h), and each
// finding put where its key stands: a field of a def is a key of the scene, here or one level down.
//
// An array is asked once, by its first body. Typical: 400 bodies of an array, one check of a body.
#include <stdio.h>
#include <string.h>

#include "carom/check.h"
#include "shared/scene/message.h"

#define TURN_MAX 3.1415930f // rad: pi, and what rounding adds

typedef enum kind {
    OF_WORLD,
    OF_BODY,
    OF_JOINT,
    OF_PAIR,
    OF_MATERIAL,
} kind;

typedef struct sink {
    const cm_scene *scene;
    cm_check *check; // its path is that of the body, joint, …
    cm_notes *notes; // may be NULL
    bool another;
    kind kind;
    const Cm__Scene__Body *body; // OF_BODY
} sink;

// Keys of fields that are not called as the field is, or stand one level down.
typedef struct place {
    const char *field, *outer, *inner; // inner NULL: outer alone
} place;

static const place PLACES[] = {
    {"friction_combine", "combine", "friction"},
    {"restitution_combine", "combine", "restitution"},
    {"contact_mode", "contact", "mode"},
    {"contact_axis", "contact", "axis"},
    {"contact_slip", "contact", "slip"},
    {"contact_max_force", "contact", "max_force"},
    {"contact_trail", "contact", "trail"},
    {"contact_slip_by_speed", "contact", "slip_by_speed"},
};

// The key of a shape's geometry, which holds its dimensions.
static const char *geometry_key(const Cm__Scene__Shape *shape)
{
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
        &cm__scene__shape__descriptor, (unsigned)shape->geometry_case);
    return field != NULL ? field->name : "shapes";
}

static bool is_dimension(const char *field)
{
    return strcmp(field, "radius") == 0 || strcmp(field, "half_height") == 0 ||
           strcmp(field, "half_extents") == 0 || strcmp(field, "normal") == 0 ||
           strcmp(field, "offset") == 0;
}

static bool is_of_surface(const char *field)
{
    return strcmp(field, "friction") == 0 || strcmp(field, "restitution") == 0 ||
           strcmp(field, "density") == 0;
}

// Shapes name a material instead of a surface of their own: the key stands there.
static void enter_shape(cm_check *check, const Cm__Scene__Body *body, const carom_error *finding)
{
    const Cm__Scene__Shape *shape = body->shapes[finding->shape];
    if (shape->material != NULL && is_of_surface(finding->field)) {
        check->path.depth = 0;
        cm_check_key(check, "materials");
        cm_check_key(check, shape->material);
        return;
    }
    cm_check_item(check, "shapes", finding->shape);
    if (is_dimension(finding->field)) {
        cm_check_key(check, geometry_key(shape));
    }
}

// A mass or an inertia that is not given is that of the shapes.
static bool is_of_shapes(const sink *s, const char *field)
{
    return s->kind == OF_BODY && ((strcmp(field, "mass") == 0 && !s->body->has_mass) ||
                                  (strcmp(field, "inertia") == 0 && s->body->inertia == NULL));
}

static void enter_field(cm_check *check, const sink *s, const carom_error *finding)
{
    const char *field = finding->field;
    if (s->kind == OF_BODY && finding->shape != CAROM_NO_SHAPE) {
        enter_shape(check, s->body, finding);
        if (strcmp(field, "type") == 0 || strcmp(field, "hull") == 0) {
            cm_check_key(check, geometry_key(s->body->shapes[finding->shape]));
            return;
        }
    }
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        if (strcmp(PLACES[i].field, field) == 0) {
            cm_check_key(check, PLACES[i].outer);
            cm_check_key(check, PLACES[i].inner);
            return;
        }
    }
    if (s->kind == OF_JOINT && field[0] == '\0') {
        check->path.depth = 1; // all joints, not this one
        return;
    }
    if (is_of_shapes(s, field)) {
        cm_check_key(check, "shapes");
        return;
    }
    const char *last = strrchr(field, '.'); // solver.lcp.gamma, limits.bodies
    if (strncmp(field, "solver.", 7) == 0) {
        cm_check_key(check, "solver");
    } else if (last != NULL) {
        cm_check_key(check, "limits");
    }
    if (field[0] != '\0') {
        cm_check_key(check, last != NULL ? last + 1 : field);
    }
}

static void note(cm_check *check, cm_notes *notes, const char *expected)
{
    char message[sizeof notes->notes->message];
    snprintf(message, sizeof message, "has no effect or no sense as it is, expected %s", expected);
    for (uint32_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->notes[i].message, message) == 0) {
            notes->more[i]++;
            return;
        }
    }
    if (notes->count < notes->capacity) {
        cm_scene_error *row = &notes->notes[notes->count++];
        memset(row, 0, sizeof *row);
        cm_path_text(&check->path, row->path, sizeof row->path);
        memcpy(row->message, message, sizeof message);
    }
}

// Keys that only the lcp solver reads.
static bool is_of_lcp(const char *field)
{
    return strcmp(field, "epsilon") == 0 || strcmp(field, "gamma") == 0 ||
           strncmp(field, "contact_", 8) == 0;
}

static bool is_refused(const sink *s, const carom_error *finding)
{
    bool left_unread = s->another && is_of_lcp(finding->field);
    return finding->result != CAROM_OK && !left_unread;
}

static void found(void *context, const carom_error *finding)
{
    const sink *s = context;
    cm_check *check = s->check;
    cm_check_path path = check->path;
    if (s->kind == OF_MATERIAL && !is_of_surface(finding->field)) {
        return;
    }
    enter_field(check, s, finding);
    if (is_refused(s, finding)) {
        cm_check_fail(check, finding->result, "refused, expected %s", finding->expected);
    } else if (s->notes != NULL) {
        note(check, s->notes, finding->expected);
    }
    check->path = path;
}

static bool check_bodies(sink *s, const carom_world_def *def, const carom_findings *to)
{
    const Cm__Scene__Scene *message = s->scene->message;
    uint32_t index = 0;
    bool all = true;
    s->kind = OF_BODY;
    for (size_t i = 0; i < message->n_bodies + message->n_arrays; i++) {
        bool array = i >= message->n_bodies;
        cm_check_item(s->check, array ? "arrays" : "bodies", array ? i - message->n_bodies : i);
        if (array) {
            cm_check_key(s->check, "of");
        }
        const cm_scene_body *body = &s->scene->bodies[index];
        carom_body_def body_def;
        cm_scene_body_def(s->scene, index, &body_def);
        s->body = body->source;
        uint32_t failed = s->check->count;
        carom_check_body(def, &body_def, body->shapes, (uint32_t)body->source->n_shapes, to);
        bool ok = s->check->count == failed;
        if (!cm_check_leave(s->check, 0, ok, &all)) {
            return false;
        }
        while (index < s->scene->body_count && s->scene->bodies[index].source == body->source) {
            index++;
        }
    }
    return all;
}

static bool check_prefabs(sink *s, const carom_world_def *def, const carom_findings *to)
{
    bool all = true;
    s->kind = OF_BODY;
    for (uint32_t i = 0; i < s->scene->message->n_prefabs; i++) {
        carom_body_def body;
        const carom_shape_def *shapes;
        uint32_t count = cm_scene_prefab(s->scene, i, &body, &shapes);
        uint32_t failed = s->check->count;
        s->body = s->scene->message->prefabs[i];
        cm_check_item(s->check, "prefabs", i);
        carom_check_body(def, &body, shapes, count, to);
        if (!cm_check_leave(s->check, 0, s->check->count == failed, &all)) {
            return false;
        }
    }
    return all;
}

// Each material by a ball of it, as bodies may come that have it.
static void check_materials(sink *s, const carom_world_def *def, const carom_findings *to)
{
    const Cm__Scene__Scene *message = s->scene->message;
    const carom_body_def body = carom_default_body_def();
    s->kind = OF_MATERIAL;
    for (size_t i = 0; i < message->n_materials; i++) {
        const Cm__Scene__Material *material = message->materials[i];
        carom_shape_def ball = carom_default_shape_def();
        ball.friction = (float)material->friction;
        ball.restitution = (float)material->restitution;
        cm_check_key(s->check, "materials");
        cm_check_key(s->check, material->name);
        carom_check_body(def, &body, &ball, 1, to);
        s->check->path.depth = 0;
    }
}

// An angle is told from -pi to pi, so that a limit beyond them is never reached.
static void check_turn(sink *s, const carom_joint_def *joint)
{
    bool turns = joint->type == CAROM_JOINT_HINGE || joint->type == CAROM_JOINT_STEERING;
    if (s->notes != NULL && turns && joint->has_limits &&
        (joint->lower < -TURN_MAX || joint->upper > TURN_MAX)) {
        cm_check_key(s->check, "limits");
        note(s->check, s->notes, "angles from -pi to pi: one beyond is never reached");
        cm_check_pop(s->check);
    }
}

static void check_joints(sink *s, const carom_world_def *def, const carom_findings *to)
{
    s->kind = OF_JOINT;
    for (uint32_t i = 0; i < s->scene->joint_count; i++) {
        carom_joint_def joint;
        cm_scene_joint_def(s->scene->joints[i].source, &joint);
        cm_check_item(s->check, "joints", i);
        carom_check_joint(def, &joint, to);
        check_turn(s, &joint);
        s->check->path.depth = 0;
    }
}

static void check_pairs(sink *s, const carom_world_def *def, const carom_findings *to)
{
    const Cm__Scene__Scene *message = s->scene->message;
    s->kind = OF_PAIR;
    for (size_t i = 0; i < message->n_pairs; i++) {
        carom_pair_rule rule;
        cm_scene_pair_rule(message->pairs[i], &rule);
        cm_check_item(s->check, "pairs", i);
        carom_check_pair_rule(def, &rule, to);
        s->check->path.depth = 0;
    }
}

bool cm_check_defs(const cm_scene *scene, const carom_world_def *def, bool another, cm_check *check,
                   cm_notes *notes)
{
    sink s = {.scene = scene, .check = check, .notes = notes, .another = another};
    const carom_findings to = {&s, found};
    check->path.depth = 0;
    s.kind = OF_WORLD;
    carom_check_world(def, &to);
    check_materials(&s, def, &to);
    check_bodies(&s, def, &to);
    check_prefabs(&s, def, &to);
    check_joints(&s, def, &to);
    check_pairs(&s, def, &to);
    return check->result == CAROM_OK;
}
