// A scene as its parts see it: the message, what was expanded from it, and the rules by which JSON
// and message correspond. Private to shared/scene (the one place of generated protobuf types).
#ifndef CM_SCENE_MESSAGE_H
#define CM_SCENE_MESSAGE_H

#include "proto/scene.pb-c.h"
#include "shared/scene/check.h"
#include "shared/scene/pool.h"
#include "shared/scene/scene.h"

// One body of the expanded scene: where it comes from, and where it stands.
typedef struct cm_scene_body {
    const Cm__Scene__Body *source; // an array's `of`, or a body
    double position[3];            // m, of the origin
    const char *name;
    const carom_shape_def *shapes; // shared by the bodies of an array
} cm_scene_body;

// One joint: its bodies by index, CM_SCENE_NO_BODY for the world.
typedef struct cm_scene_joint {
    const Cm__Scene__Joint *source;
    const char *name;
    uint32_t a, b;
} cm_scene_joint;

struct cm_scene {
    cm_pool pool; // owns everything but this struct
    Cm__Scene__Scene *message;
    cm_scene_body *bodies;
    uint32_t body_count;
    uint32_t shape_count;
    uint32_t *by_name;      // body indices, sorted by name
    cm_scene_body *prefabs; // as many as the message has
    cm_scene_joint *joints;
    uint32_t joint_count;
    carom_limits limits;
    carom_vec3 lower, upper;
    const carom_hull **hulls; // of all shapes, as carom_hull_sort leaves them
    uint32_t hull_count;
};

// A message that JSON writes as an array of its fields in order (Vec3, Bounds, …).
bool cm_message_is_array(const ProtobufCMessageDescriptor *descriptor);
// A message whose `name`, its first field, is its key in a JSON object (Material, Setting); of a
// Setting the value stands behind the key by itself.
bool cm_message_is_entry(const ProtobufCMessageDescriptor *descriptor);
bool cm_message_is_setting(const ProtobufCMessageDescriptor *descriptor);
_Static_assert(offsetof(Cm__Scene__Material, name) == offsetof(Cm__Scene__Setting, name),
               "the name of an entry is found without asking which it is");
// The JSON name of an enum's value, in lower case without a leading underscore.
void cm_enum_text(const ProtobufCEnumValue *value, char *text, size_t size);

// A field's value in a message: is it there, how many, where. `at` gives item `index` of a repeated
// field, or the one value of another.
bool cm_field_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
size_t cm_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
const void *cm_field_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                        size_t index);
size_t cm_field_size(const ProtobufCFieldDescriptor *field);

// In binary32, a quaternion normalised; `absent`, or no turn, where there is none.
carom_vec3 cm_scene_vec(const Cm__Scene__Vec3 *v, carom_vec3 absent);
carom_quat cm_scene_quat(const Cm__Scene__Quat *q);
// The material of a name, from 1 on; 0: there is none.
uint32_t cm_message_material(const Cm__Scene__Scene *scene, const char *name);
// Sorts `order`, which gets all numbers below `count`, by names that are `stride` bytes apart (one
// member of the rows of a table). Returns the place in `order` of the second of two that are the
// same; 0: none are.
uint32_t cm_names_sort(const char *const *names, size_t stride, uint32_t count, uint32_t *order);

// A new scene from memory of the allocator, without message; NULL without memory.
cm_scene *cm_scene_new(const carom_allocator *allocator);
// Checks the message that was put in, and expands it. On failure the scene is still to be freed.
bool cm_scene_finish(cm_scene *scene, cm_check *check);

// ranges.c: every number finite and in its range, every enum value known, every string printable.
bool cm_check_values(cm_check *check, const ProtobufCMessage *message);
// A quaternion is of norm 1, where there is one.
bool cm_check_rotation(cm_check *check, const char *key, const Cm__Scene__Quat *q);
// rules.c: what goes across fields: names, masses, features not built yet. `scene->message` only.
// Bit of an axis lock's name; 0: no such name.
uint32_t cm_axis_lock(const char *name);

bool cm_check_rules(cm_check *check, const Cm__Scene__Scene *message);
// solver_keys.c: a key of `solver` that the chosen solver has not is refused; those that it has are
// put into the def, whose other values stay. The solver may be NULL.
bool cm_solver_keys_check(cm_check *check, const Cm__Scene__Solver *solver);
void cm_solver_keys_apply(const Cm__Scene__Solver *solver, carom_solver_def *def);
// defs.c: the scene's definitions held against what worlds and the solver of `def` refuse. With
// `another` solver than the scene's, what only the lcp solver reads is no error. Warnings go to
// `notes`, which may be NULL.
typedef struct cm_notes {
    cm_scene_error *notes; // of `capacity`
    uint32_t capacity, count;
    uint32_t *more; // of each, how many there were besides
} cm_notes;
bool cm_check_defs(const cm_scene *scene, const carom_world_def *def, bool another, cm_check *check,
                   cm_notes *notes);
// pairs.c: names of pair rules, once bodies have names; the values of a rule; the rules in a new
// world.
bool cm_scene_check_pairs(cm_scene *scene, cm_check *check);
void cm_scene_pair_rule(const Cm__Scene__PairRule *pair, carom_pair_rule *rule);
carom_result cm_scene_populate_pairs(const cm_scene *scene, carom_world *world);
// hulls.c: room for as many hulls as the message has; the hull of a shape, built and noted; at the
// end the order that a world wants.
bool cm_scene_hulls_begin(cm_scene *scene);
const carom_hull *cm_scene_hull(cm_scene *scene, const Cm__Scene__Hull *source, cm_check *check);
void cm_scene_hulls_end(cm_scene *scene);
// expand.c: bodies, shapes, names, limits, bounds.
bool cm_scene_expand(cm_scene *scene, cm_check *check);
// joints.c: what their rules ask for, once bodies have names; and joints in a new world.
bool cm_scene_expand_joints(cm_scene *scene, cm_check *check);
// The def of a joint but for its bodies and what follows from where they stand.
void cm_scene_joint_def(const Cm__Scene__Joint *joint, carom_joint_def *def);
carom_result cm_scene_populate_joints(const cm_scene *scene, carom_world *world);
// overlaps.c: $.bodies[3], or $.arrays[0] of one that an array made; half of a shape's least
// thickness, 0 of hulls and planes.
void cm_scene_body_path(const cm_scene *scene, uint32_t index, char *path, size_t size);
float cm_shape_least(const carom_shape_def *shape);
#endif
