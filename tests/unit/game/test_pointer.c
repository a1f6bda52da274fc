// Pointers: bodies that players' inputs move. Goal: the pose of an input is the pose of the body at
// the tick's start and moves on by its velocity; what is no pose leaves it, counted by its reason;
// modules see their own bytes alone; rooms refuse what games would not use; saves and encodings
// carry it. Method: a small scene with two pointers, bytes made by hand, and a module that keeps
// what it was given.
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/room/room.h"
#include "shared/game/game_host.h"
#include "shared/scene/scene_json.h"

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"touch\", \"tick_rate\": 100, \"bodies\": ["
    "{\"name\": \"ground\", \"type\": \"static\", \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0],"
    " \"offset\": 0}}]},"
    "{\"name\": \"tip\", \"position\": [0, 2, 0], \"pointer\": {\"player\": 1},"
    " \"shapes\": [{\"sphere\": {\"radius\": 0.1}}]},"
    "{\"name\": \"other\", \"position\": [5, 2, 0], \"pointer\": {\"player\": 0},"
    " \"shapes\": [{\"sphere\": {\"radius\": 0.1}}]}]}";

static const char plain_text[] =
    "{\"carom\": 1, \"name\": \"plain\", \"bodies\": [{\"name\": \"a\", \"type\": \"kinematic\","
    " \"shapes\": [{\"sphere\": {\"radius\": 0.1}}]}]}";

enum { TIP = 1, OTHER = 2 };

typedef struct keeper_state {
    uint32_t first[CAROM_PLAYERS_MAX]; // byte of the module's own input
} keeper_state;

static void keep(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    keeper_state *state = carom_game_state(game);
    for (uint32_t i = 0; i < count; i++) {
        state->first[inputs[i].player] = inputs[i].bytes[0];
        for (uint32_t k = 2; k < CAROM_INPUT_MAX; k++) {
            state->first[inputs[i].player] += (uint32_t)inputs[i].bytes[k] << 8; // must all be 0
        }
    }
}

static bool below_nine(const uint8_t *bytes)
{
    return bytes[0] < 9;
}

static const carom_module keeper = {.abi = CAROM_MODULE_ABI,
                                    .version = 1,
                                    .name = "keeper",
                                    .input_size = 2,
                                    .state_size = sizeof(keeper_state),
                                    .tick = keep,
                                    .check_input = below_nine};
static const carom_module wide = {
    .abi = CAROM_MODULE_ABI, .version = 1, .name = "wide", .input_size = 13};

static cm_scene *make_scene(const char *text)
{
    cm_scene *scene;
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(text, strlen(text), &scene, &error), CAROM_OK, "%s %s",
                 error.path, error.message);
    return scene;
}

static carom_pointer_pose pose_at(float x, float y, float vx)
{
    carom_pointer_pose pose = {.position = {x, y, 0.25f},
                               .orientation = {0.0f, 0.6f, 0.0f, 0.8f},
                               .linear_velocity = {vx, 0.0f, 0.0f},
                               .angular_velocity = {0.0f, 0.0f, 0.0f}};
    return pose;
}

static carom_player_input input_of(uint32_t player, const carom_pointer_pose *pose, uint8_t own)
{
    carom_player_input input = {.player = player};
    cm_pointer_write(pose, input.bytes);
    input.bytes[CAROM_POINTER_BYTES] = own;
    return input;
}

static void tick_with(carom_game *game, const carom_player_input *input)
{
    cm_tick_input tick = {.inputs = input, .input_count = input != NULL};
    cm_game_tick(game, &tick);
}

static void join(carom_game *game, uint32_t player, uint32_t type)
{
    cm_game_event event = {.type = type, .player = player, .client_id = player + 1};
    cm_tick_input tick = {.events = &event, .event_count = 1};
    cm_game_tick(game, &tick);
}

static carom_body_state body_of(const carom_game *game, uint32_t slot)
{
    carom_body_state state;
    const carom_world *world = carom_game_world(game);
    cr_assert_eq(carom_body_get(world, carom_world_body_at(world, slot), &state), CAROM_OK);
    return state;
}

typedef struct fixture {
    cm_scene *scene;
    carom_game *game;
} fixture;

static fixture make(const carom_module *module)
{
    fixture f = {make_scene(scene_text), NULL};
    cr_assert_eq(cm_game_create(f.scene, module, 1, NULL, &f.game), CAROM_OK);
    return f;
}

static void release(fixture *f)
{
    cm_game_destroy(f->game);
    cm_scene_free(f->scene);
}

Test(pointer, bytes_and_poses)
{
    carom_pointer_pose pose = pose_at(1.5f, -2.25f, 3.0f), back;
    uint8_t bytes[CAROM_POINTER_BYTES];
    pose.angular_velocity.z = -7.0f;
    cm_pointer_write(&pose, bytes);
    // The layout, not only what reading makes of writing: 1.5f is 0x3fc00000, little-endian.
    const uint8_t first[4] = {0x00, 0x00, 0xc0, 0x3f}, last[4] = {0x00, 0x00, 0xe0, 0xc0};
    cr_expect_arr_eq(bytes, first, 4);
    cr_expect_arr_eq(bytes + 48, last, 4);
    cr_assert_eq(cm_pointer_read(bytes, &back), CM_POINTER_OK);
    cr_expect_arr_eq(&back, &pose, sizeof pose);
    memset(bytes, 0, sizeof bytes);
    cr_expect_eq(cm_pointer_read(bytes, &back), CM_POINTER_NONE);
}

Test(pointer, what_is_no_pose_has_a_reason)
{
    for (uint32_t i = 0; i < 13; i++) {
        carom_pointer_pose pose = pose_at(1.0f, 2.0f, 0.5f);
        float *number = (float *)&pose + i;
        *number = NAN;
        cr_expect_eq(cm_pointer_check(&pose), CM_POINTER_NOT_FINITE, "number %u", i);
        *number = -INFINITY;
        cr_expect_eq(cm_pointer_check(&pose), CM_POINTER_NOT_FINITE, "number %u", i);
        *number = 1.0e30f;
        bool turn = i >= 3 && i < 7;
        cr_expect_eq(cm_pointer_check(&pose), turn ? CM_POINTER_NOT_UNIT : CM_POINTER_RANGE);
    }
    carom_pointer_pose pose = pose_at(0.0f, 0.0f, 0.0f);
    pose.orientation.w = 0.8f + 2.0e-3f;
    cr_expect_eq(cm_pointer_check(&pose), CM_POINTER_NOT_UNIT);
    pose.orientation.w = 0.8f + 5.0e-4f;
    cr_expect_eq(cm_pointer_check(&pose), CM_POINTER_OK);
    for (cm_pointer_reason r = 0; r < CM_POINTER_REASONS; r++) {
        cr_expect_gt(strlen(cm_pointer_reason_text(r)), 3);
    }
}

Test(pointer, input_has_a_pose_where_the_scene_has_pointers)
{
    cm_scene *plain = make_scene(plain_text), *touch = make_scene(scene_text);
    carom_game *game;
    cr_expect_eq(cm_scene_input_size(plain, &keeper), 2);
    cr_expect_eq(cm_scene_input_size(touch, &keeper), 54);
    cr_assert_eq(cm_game_create(plain, &wide, 1, NULL, &game), CAROM_OK);
    cr_expect_eq(cm_game_input_size(game), 13);
    cm_game_destroy(game);
    // 52 and 13 are one more than an input may have.
    cr_expect_eq(cm_game_create(touch, &wide, 1, NULL, &game), CAROM_ERROR_LIMIT_SIZE);
    cr_expect_null(game);
    cm_scene_free(plain);
    cm_scene_free(touch);
}

Test(pointer, pose_is_put_and_held_and_the_module_sees_the_rest)
{
    fixture f = make(&keeper);
    join(f.game, 1, CM_EVENT_JOIN);
    cr_expect_float_eq(body_of(f.game, TIP).position.y, 2.0f, 0.0f, "no pose yet: it stays");
    carom_pointer_pose pose = pose_at(1.0f, 3.0f, 2.0f);
    carom_player_input input = input_of(1, &pose, 7);
    tick_with(f.game, &input);
    carom_body_state tip = body_of(f.game, TIP);
    // Put where the input says, then a step of 10 ms on.
    cr_expect_float_eq(tip.position.x, 1.02f, 1e-6f);
    cr_expect_float_eq(tip.position.y, 3.0f, 1e-6f);
    cr_expect_float_eq(tip.orientation.y, 0.6f, 1e-6f);
    cr_expect_float_eq(tip.linear_velocity.x, 2.0f, 0.0f);
    tick_with(f.game, NULL);
    cr_expect_float_eq(body_of(f.game, TIP).position.x, 1.02f, 1e-6f, "held, not carried on");
    const keeper_state *state = carom_game_state(f.game);
    cr_expect_eq(state->first[1], 7);
    cr_expect_float_eq(body_of(f.game, OTHER).position.x, 5.0f, 0.0f, "nobody moves that one");
    cr_expect_eq(cm_game_player_body(f.game, 1).index, TIP);
    cr_expect(carom_body_id_is_null(cm_game_player_body(f.game, 0)), "player 0 is not there");
    // Gone: it stops where it is.
    join(f.game, 1, CM_EVENT_LEAVE);
    tick_with(f.game, NULL);
    cr_expect_float_eq(body_of(f.game, TIP).linear_velocity.x, 0.0f, 0.0f);
    release(&f);
}

Test(pointer, a_pose_that_is_none_leaves_the_body)
{
    fixture f = make(&keeper);
    join(f.game, 1, CM_EVENT_JOIN);
    carom_pointer_pose pose = pose_at(1.0f, 3.0f, 0.0f);
    carom_player_input input = input_of(1, &pose, 1);
    tick_with(f.game, &input);
    pose.orientation.w = 3.0f;
    pose.position.x = 9.0f;
    input = input_of(1, &pose, 2);
    cr_expect_eq(cm_game_poses_refused(f.game), 0);
    tick_with(f.game, &input); // a hostile recording: rooms never let it pass
    cr_expect_float_eq(body_of(f.game, TIP).position.x, 1.0f, 0.0f);
    cr_expect_eq(cm_game_poses_refused(f.game), 1);
    cm_pointer_reason reason;
    cr_expect_eq(cm_game_check_input(f.game, input.bytes, &reason), CM_INPUT_POSE_REFUSED);
    cr_expect_eq(reason, CM_POINTER_NOT_UNIT);
    release(&f);
}

Test(pointer, rooms_refuse_and_count)
{
    cm_scene *scene = make_scene(scene_text);
    cm_room_def def = {
        .scene = scene, .seed = 1, .rewind_ms = 100, .max_players = 2, .module = &keeper};
    cm_room *room;
    cr_assert_eq(cm_room_create(&def, &room), CAROM_OK);
    uint32_t player, cost;
    cr_assert_eq(cm_room_join(room, 11, NULL, 0, &player), CAROM_OK);
    cr_assert_eq(cm_room_join(room, 12, NULL, 0, &player), CAROM_OK);
    cr_assert_eq(player, 1);
    cm_room_frame(room);
    carom_pointer_pose pose = pose_at(1.0f, 3.0f, 0.0f);
    carom_player_input good = input_of(1, &pose, 3), refused = input_of(1, &pose, 9);
    pose.position.z = NAN;
    carom_player_input bad = input_of(1, &pose, 3);
    uint64_t next = cm_room_tick(room) + 1;
    cr_expect_eq(cm_room_input(room, 1, next, bad.bytes, 9, &cost), CM_INPUT_POSE);
    cr_expect_eq(cm_room_input(room, 1, next, refused.bytes, 9, &cost), CM_INPUT_INVALID);
    cr_expect_eq(cm_room_input(room, 1, next, good.bytes, 9, &cost), CM_INPUT_ON_TIME);
    cm_room_stats stats;
    cm_room_stats_get(room, &stats);
    cr_expect_eq(stats.poses_refused[CM_POINTER_NOT_FINITE], 1);
    cr_expect_eq(stats.poses_refused[CM_POINTER_NOT_UNIT], 0);
    cm_room_frame(room);
    cr_expect_float_eq(body_of(cm_room_game(room), TIP).position.x, 1.0f, 0.0f);
    // A late one rewinds like any other.
    cm_room_frame(room);
    cm_room_frame(room);
    pose = pose_at(2.0f, 3.0f, 0.0f);
    good = input_of(1, &pose, 3);
    cr_expect_eq(cm_room_input(room, 1, next + 1, good.bytes, 9, &cost), CM_INPUT_LATE);
    cm_room_frame(room);
    cm_room_stats_get(room, &stats);
    cr_expect_eq(stats.rewinds, 1);
    cr_expect_float_eq(body_of(cm_room_game(room), TIP).position.x, 2.0f, 0.0f);
    cm_room_destroy(room);
    cm_scene_free(scene);
}

Test(pointer, saves_and_encodings_carry_the_pose)
{
    fixture f = make(&keeper);
    join(f.game, 1, CM_EVENT_JOIN);
    carom_pointer_pose pose = pose_at(1.0f, 3.0f, 2.0f);
    carom_player_input input = input_of(1, &pose, 7);
    tick_with(f.game, &input);
    size_t size = cm_game_save_bound(f.game), encoded = cm_game_encode_size(f.game);
    void *image = malloc(size), *bytes = malloc(encoded);
    size = cm_game_save(f.game, image, size);
    cr_assert_eq(cm_game_encode(f.game, bytes, encoded), encoded);
    tick_with(f.game, NULL);
    uint64_t after = cm_game_hash(f.game);
    carom_game *other;
    cr_assert_eq(cm_game_create(f.scene, &keeper, 1, NULL, &other), CAROM_OK);
    cr_assert_eq(cm_game_restore(other, image, size), CAROM_OK);
    tick_with(other, NULL);
    cr_expect_eq(cm_game_hash(other), after);
    cr_assert_eq(cm_game_decode(other, bytes, encoded), CAROM_OK);
    tick_with(other, NULL);
    cr_expect_eq(cm_game_hash(other), after, "held inputs reach beyond the module's size");
    cm_game_destroy(other);
    free(image);
    free(bytes);
    release(&f);
}
