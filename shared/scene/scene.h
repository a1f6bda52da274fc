// A scene: what a world starts from, checked. The canonical form is proto/scene.proto; people write
// it as JSON (scene_json.h, server side only). Both forms pass the same checks, so a cm_scene that
// exists is valid: every name resolves, every number is in range, every feature is built.
//
// A key whose feature is not built yet is accepted at its default or empty, refused otherwise.
// Immutable once made; may be read by several threads. Arrays are expanded: body i of the scene is
// body slot i of a new world.
#ifndef CM_SCENE_SCENE_H
#define CM_SCENE_SCENE_H

#include "carom/world.h"

// Limits of a scene's forms in bytes, checked before anything is parsed.
#define CM_SCENE_JSON_MAX   (64u << 20)
#define CM_SCENE_PACKED_MAX (16u << 20)
#define CM_NAME_MAX         128u

typedef struct cm_scene cm_scene;

// The reason why a scene was refused. `line` is 0 if the form has no lines; `path` as
// $.bodies[3].mass.
typedef struct cm_scene_error {
    uint32_t line;
    char path[160];
    char message[320]; // what is wrong, what was expected
} cm_scene_error;

typedef struct cm_scene_replication {
    bool sync_inputs;      // "sync": "inputs"; false
    uint32_t view_rate;    // views a second, 30
    uint32_t budget_kbit;  // a client, 64
    float interest_radius; // m; 0: everything
    float position_step;   // m, 1/512
    bool relay;            // inputs are told to the other players, true
} cm_scene_replication;

// Room for what joins in mid-match is `limits` (default: twice what the scene holds, at least 64;
// contacts: 8 times the limit of bodies). Bounds default to all bodies' origins, those that can
// move grown by their shapes' radius, and 64 m on every side: a large ground is counted by its
// origin.

// Packed protobuf (hostile until checked). The allocator may be NULL for malloc and free.
carom_result cm_scene_unpack(const uint8_t *bytes, size_t size, const carom_allocator *allocator,
                             cm_scene **scene, cm_scene_error *error);
size_t cm_scene_packed_size(const cm_scene *scene);
void cm_scene_pack(const cm_scene *scene, uint8_t *bytes);
void cm_scene_free(cm_scene *scene);
// The same scene with another tick rate, other limits or exact sync, checked anew; the first stays.
typedef struct cm_scene_change {
    uint32_t tick_rate;  // 0: the scene's own, as every limit
    carom_limits limits; // of bodies, shapes, joints and contacts
    bool sync_inputs;    // false: as the scene says
} cm_scene_change;
carom_result cm_scene_changed(const cm_scene *scene, const cm_scene_change *change, cm_scene **out,
                              cm_scene_error *error);

const char *cm_scene_name(const cm_scene *scene);
const char *cm_scene_module(const cm_scene *scene); // "" for none
// A number for the module: name and value in the order of the scene. NULL at the end.
#define CM_SCENE_SETTINGS_MAX 64u
const char *cm_scene_setting(const cm_scene *scene, uint32_t index, double *value);
void cm_scene_replication_get(const cm_scene *scene, cm_scene_replication *replication);
void cm_scene_bounds(const cm_scene *scene, carom_vec3 *lower, carom_vec3 *upper);

uint32_t cm_scene_body_count(const cm_scene *scene);
const char *cm_scene_body_name(const cm_scene *scene, uint32_t index);
// True if the body has this tag.
bool cm_scene_body_has_tag(const cm_scene *scene, uint32_t index, const char *tag);
// A material's number as shapes have it, 1 for the first; 0: no such name.
uint32_t cm_scene_find_material(const cm_scene *scene, const char *name);

// Joint i of the scene is joint slot i of a new world; an unnamed one is joint_I.
uint32_t cm_scene_joint_count(const cm_scene *scene);
const char *cm_scene_joint_name(const cm_scene *scene, uint32_t index);
// Rows of the bodies that a ball, hinge or fixed joint holds (a: CM_SCENE_NO_BODY for the world) at
// which point of the world, as the scene says it. False: it is of another type.
bool cm_scene_joint_point(const cm_scene *scene, uint32_t index, uint32_t *a, uint32_t *b,
                          double point[3]);

// The name of a body or a joint in a world of the scene. The scene's own names belong to the first
// users of their slots; one that was made later, perhaps in the slot of one of the scene's, is
// body_I or joint_I by its slot.
void cm_scene_call_body(const cm_scene *scene, carom_body_id body, char *name, size_t size);
void cm_scene_call_joint(const cm_scene *scene, carom_joint_id joint, char *name, size_t size);

// Ticks that bodies with a history are remembered for; 0 where there are none.
uint32_t cm_scene_history_ticks(const cm_scene *scene);

// Index of a body by its name, or CM_SCENE_NO_BODY.
#define CM_SCENE_NO_BODY 0xffffffffu
uint32_t cm_scene_find_body(const cm_scene *scene, const char *name);

// The def of a body as it is put into a world (its shapes apart).
void cm_scene_body_def(const cm_scene *scene, uint32_t index, carom_body_def *def);

// A body that is in no place until a module spawns it: its number by its name, or
// CM_SCENE_NO_BODY; its def, and its shapes, whose number is returned (the scene's).
#define CM_SCENE_PREFABS_MAX 1024u
uint32_t cm_scene_find_prefab(const cm_scene *scene, const char *name);
uint32_t cm_scene_prefab(const cm_scene *scene, uint32_t index, carom_body_def *def,
                         const carom_shape_def **shapes);

// The def of a world that holds the scene (limits and hulls included), and the scene put into a new
// world. The hulls are the scene's: it must outlive every world made from its def.
void cm_scene_world_def(const cm_scene *scene, carom_world_def *def);
// Likewise with a solver of another type than the scene's, with its defaults: a carom_solver_type,
// or a negative number for the scene's own.
void cm_scene_world_def_with(const cm_scene *scene, int solver, carom_world_def *def);
// Checks the scene's other keys against that solver, as they were checked against the scene's own.
// Another solver ignores the keys that only the lcp solver reads.
carom_result cm_scene_check_solver(const cm_scene *scene, int solver, cm_scene_error *error);
// Finds values that that solver, or any world, accepts and ignores, and values that no body can
// have. Returns the number of warnings written, of each kind the first; lines are 0 (scene_json.h
// finds them).
#define CM_SCENE_WARNINGS_MAX 32u
uint32_t cm_scene_warnings(const cm_scene *scene, int solver, cm_scene_error *warnings,
                           uint32_t capacity);
carom_result cm_scene_populate(const cm_scene *scene, carom_world *world);
// Counts the pairs of bodies that collide and are more than CM_SCENE_OVERLAP inside each other in
// the scene's world before its first step, which drives them apart; a warning names the first one.
// Bodies of hulls are asked about by the other one alone; the volume solver presses bodies together
// on purpose, so that its scenes have none.
#define CM_SCENE_OVERLAP 0.01f // m, or a tenth of a small shape
uint32_t cm_scene_overlaps(const cm_scene *scene, const carom_world *world,
                           cm_scene_error *warning);

// Finds what the scene's world, which that solver steps, will not stand: loads on chains, heavy
// bodies on light ones, stacks of small things, bodies that pass through others, each with its
// figure (loads.c). Returns the number of warnings written, of each kind the worst; lines are 0.
#define CM_SCENE_LOADS_MAX 4u
uint32_t cm_scene_loads(const cm_scene *scene, const carom_world *world, int solver,
                        cm_scene_error *warnings, uint32_t capacity);

#endif
