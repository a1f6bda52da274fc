// Goal: a module may change everything that can be changed while a match runs, and the recording of
// that match verifies; so each setter's effect is state, and nothing but state. Method: a module
// that calls every setter of the world at its ticks, some when a player's input says so, recorded
// by a store and replayed. Then the same file is replayed by the same module with one setter left
// out: each must be missed, or the recording proves nothing about it.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "server/record/replay/replay.h"
#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"
#include "tests/unit/record/recording.h"

TestSuite(recorded_setters, .init = recording_setup, .fini = recording_teardown);

#define TICKS 180u

// Bodies and joints in the scene's order.
enum { GROUND, POST, BAR, SLED, BALL, LOW, HIGH };
enum { HINGE, RAIL, BALLS };

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"setters\", \"solver\": {\"type\": \"lcp\"}, \"bodies\": ["
    " {\"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": 0}}]},"
    " {\"type\": \"static\", \"position\": [0, 3, 0], \"shapes\": [{\"sphere\": {\"radius\": "
    "0.1}}]},"
    " {\"position\": [0.5, 3, 0], \"shapes\": [{\"box\": {\"half_extents\": [0.4, 0.1, 0.1]}}]},"
    " {\"position\": [3, 2, 0], \"shapes\": [{\"box\": {\"half_extents\": [0.3, 0.2, 0.2]}}]},"
    " {\"position\": [3, 1, 0], \"shapes\": [{\"sphere\": {\"radius\": 0.2}}]},"
    " {\"position\": [-3, 0.3, 0], \"shapes\": [{\"box\": {\"half_extents\": [0.3, 0.3, 0.3]}}]},"
    " {\"position\": [-2.8, 1.2, 0], \"shapes\": [{\"box\": {\"half_extents\": [0.3, 0.3, 0.3]}}]}"
    "], \"joints\": ["
    " {\"type\": \"hinge\", \"a\": \"body_1\", \"b\": \"body_2\", \"anchor\": [0, 3, 0], \"axis\": "
    "[0, 0, 1]},"
    " {\"type\": \"prismatic\", \"a\": \"world\", \"b\": \"body_3\", \"anchor\": [3, 2, 0], "
    "\"axis\": [1, 0, 0]},"
    " {\"type\": \"ball\", \"a\": \"body_3\", \"b\": \"body_4\", \"anchor\": [3, 2, 0]}]}";

typedef enum change {
    GRAVITY,
    SOFTNESS,
    FORCE_AT,
    LOCAL_FORCE,
    HELD_FORCE,
    FORCE,
    IMPULSE,
    DETACH,
    ATTACH,
    ATTACH_OTHER,
    MOTOR,
    LIMITS,
    NO_LIMITS,
    SURFACE,
    POSE,
    VELOCITY,
    TYPE,
    USER_DATA,
    RULE,
    JOINT,
    BODY,
    STICK, // two bodies joined where they touch
    CHANGES,
} change;

static int left_out = -1; // a module has no such thing: this one is another module each time

typedef struct memory {
    uint32_t calls, refused, stuck;
} memory;

static carom_body_id body(const carom_world *world, uint32_t slot)
{
    return carom_world_body_at(world, slot);
}

static carom_joint_id joint(const carom_world *world, uint32_t slot)
{
    return carom_world_joint_at(world, slot);
}

static carom_result make_joint(carom_world *w, carom_body_id a, carom_body_id b, carom_vec3 anchor)
{
    carom_joint_def def = carom_default_joint_def();
    def.type = CAROM_JOINT_FIXED;
    def.body_a = a;
    def.body_b = b;
    def.anchor = anchor;
    return carom_joint_create(w, &def, NULL);
}

static carom_result call(carom_world *w, change what)
{
    const carom_vec3 x = {1.0f, 0.0f, 0.0f}, y = {0.0f, 1.0f, 0.0f}, none = {0.0f, 0.0f, 0.0f};
    carom_pair_rule rule = {.body_a = body(w, GROUND), .body_b = body(w, LOW), .friction = 0.1f};
    carom_body_def def = carom_default_body_def();
    carom_shape_def shape = carom_default_shape_def();
    carom_shape_id surface;
    switch (what) {
    case GRAVITY:
        return carom_world_set_gravity(w, cm_vec(0.5f, -6.0f, 0.0f));
    case SOFTNESS:
        return carom_world_set_softness(w, 1.0e-3f, 0.4f);
    case FORCE_AT:
        return carom_body_apply_force_at(w, body(w, LOW), cm_vec(0.0f, 0.0f, 2.0e3f),
                                         cm_vec(-2.0f, 1.0f, 0.0f));
    case LOCAL_FORCE:
        return carom_body_apply_local_force(w, body(w, BAR), cm_vec(0.0f, 90.0f, 0.0f), none);
    case HELD_FORCE:
        return carom_body_set_force(w, body(w, BALL), cm_vec(0.0f, 0.0f, 5.0f), none);
    case FORCE:
        return carom_body_apply_force(w, body(w, BALL), cm_vec(0.0f, 0.0f, 90.0f), y);
    case IMPULSE:
        return carom_body_apply_impulse(w, body(w, HIGH), cm_vec(0.0f, 20.0f, 0.0f), x);
    case DETACH:
        return carom_joint_detach(w, joint(w, BALLS));
    case ATTACH:
        return carom_joint_attach(w, joint(w, BALLS), body(w, SLED), body(w, BALL));
    case ATTACH_OTHER:
        return carom_joint_attach(w, joint(w, HINGE), body(w, POST), body(w, BALL));
    case MOTOR:
        return carom_joint_set_motor(w, joint(w, RAIL), 0.7f, 500.0f);
    case LIMITS:
        return carom_joint_set_limits(w, joint(w, RAIL), -0.1f, 0.2f);
    case NO_LIMITS:
        return carom_joint_clear_limits(w, joint(w, RAIL));
    case SURFACE:
        carom_body_shapes(w, body(w, HIGH), &surface, 1);
        return carom_shape_set_surface(w, surface, 0.01f, 0.0f);
    case POSE:
        return carom_body_set_pose(w, body(w, HIGH), cm_vec(-2.9f, 2.0f, 0.1f),
                                   (carom_quat){0.0f, 0.0f, 0.0f, 1.0f});
    case VELOCITY:
        return carom_body_set_velocity(w, body(w, HIGH), cm_vec(0.2f, 0.0f, 0.1f), y);
    case TYPE:
        return carom_body_set_type(w, body(w, BAR), CAROM_BODY_KINEMATIC);
    case USER_DATA:
        return carom_body_set_user_data(w, body(w, BAR), 42);
    case RULE:
        return carom_world_add_pair_rule(w, &rule);
    case JOINT:
        return make_joint(w, (carom_body_id){0, 0}, body(w, LOW), cm_vec(-3.0f, 0.3f, 0.0f));
    case BODY:
        def.position = cm_vec(0.0f, 5.0f, 1.0f);
        return carom_body_create(w, &def, &shape, 1, NULL);
    default:
        return CAROM_ERROR_ARGUMENT;
    }
}

// What is left out counts as well: only the world tells.
static void count(carom_game *game, carom_result result)
{
    memory *m = carom_game_state(game);
    m->calls++;
    m->refused += result != CAROM_OK;
}

// Every eighth tick the next change, where player 0 presses.
static void on_tick(carom_game *game, const carom_player_input *inputs, uint32_t players)
{
    uint64_t tick = carom_game_tick(game);
    change what = (change)(tick / 8u);
    if (tick % 8u == 5u && what < STICK && players > 0 && inputs[0].bytes[0] != 0) {
        count(game, left_out == (int)what ? CAROM_OK : call(carom_game_world(game), what));
    }
}

static void on_contact(carom_game *game, const carom_contact_event *event)
{
    carom_world *world = carom_game_world(game);
    memory *m = carom_game_state(game);
    if (event->begin && event->body_a.index == LOW && event->body_b.index == HIGH &&
        m->stuck++ == 0) {
        count(game, left_out == STICK
                        ? CAROM_OK
                        : make_joint(world, event->body_a, event->body_b, event->point));
    }
}

static const carom_module setters = {
    .abi = CAROM_MODULE_ABI,
    .version = 3,
    .name = "setters",
    .input_size = 1,
    .state_size = sizeof(memory),
    .public_size = sizeof(memory),
    .tick = on_tick,
    .contact = on_contact,
};

static void record(void)
{
    cm_scene *scene;
    cm_scene_error error;
    carom_game *game;
    cm_match_handle match;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &scene, &error), CAROM_OK,
                 "%s %s", error.path, error.message);
    cm_store *store = recording_store(false);
    cm_match_def def = {.match_id = RECORDING_ID,
                        .scene = scene,
                        .module = setters.name,
                        .module_version = setters.version,
                        .seed = 7,
                        .started_unix_ms = 1,
                        .rules = &setters};
    cr_assert_eq(cm_store_begin(store, &def, &match), CAROM_OK, "%s", cm_store_begin_error(store));
    cr_assert_eq(cm_game_create(scene, &setters, def.seed, NULL, &game), CAROM_OK);
    for (uint64_t tick = 1; tick <= TICKS; tick++) {
        cm_game_event joins = {CM_EVENT_JOIN, 0, 9, NULL, 0};
        carom_player_input pressed = {.player = 0, .bytes = {1}};
        cm_tick_input input = {&joins, tick == 1, &pressed, tick == 2};
        cm_game_tick(game, &input);
        cm_store_tick(store, match, tick, cm_game_hash(game), &input);
        if (tick % 60 == 0) {
            size_t size = cm_game_encode_size(game);
            uint8_t *bytes = malloc(size);
            cm_game_encode(game, bytes, size);
            cm_store_keyframe(store, match, tick, bytes, size);
            free(bytes);
        }
    }
    memory *m = carom_game_state(game);
    cr_assert_eq(m->calls, CHANGES, "%u of %u", m->calls, (unsigned)CHANGES);
    cr_assert_eq(m->refused, 0);
    cm_store_end(store, match, CM_MATCH_ENDED);
    cm_store_destroy(store);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

Test(recorded_setters, every_setter_replays_and_each_would_be_missed)
{
    record();
    cm_replay_options options = {.module = &setters};
    cm_replay_report report;
    cr_assert_eq(cm_replay_verify(recording_path(), &options, &report), CAROM_OK, "%s",
                 report.error.message);
    cr_assert_eq(report.verified_ticks, TICKS);
    cr_assert_eq(report.keyframes, TICKS / 60);
    for (left_out = 0; left_out < CHANGES; left_out++) {
        cr_assert_eq(cm_replay_verify(recording_path(), &options, &report), CAROM_ERROR_DIVERGED,
                     "change %d leaves no trace", left_out);
    }
    left_out = -1;
    // A build without the module says so.
    cr_assert_eq(cm_replay_verify(recording_path(), NULL, &report), CAROM_ERROR_VERSION);
}
