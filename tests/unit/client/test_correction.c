// Goal: a correction moves a predicted body no further than the server's value asks for: a
// quantised number stands for an interval, what lies inside it keeps its very bits, what lies
// outside goes to the interval's edge, and a view within the tolerance changes nothing. What was
// stepped without another player's input is stepped again with it, bit for bit. Method: a
// predictor over a mirror that is made by hand, given a view of a tick that it has saved, and that
// tick's state looked at afterwards.
#include "client-sdk/src/predict.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "shared/base/memory.h"
#include "shared/base/vec.h"
#include "shared/scene/scene_json.h"
#include "shared/wire/input_relay.h"

#define STEP (1.0f / 512.0f) // of positions, m

static const char scene_text[] =
    "{\"carom\": 1, \"name\": \"small\", \"module\": \"sandbox\", \"gravity\": [0, 0, 0],"
    " \"bodies\": [{\"name\": \"ground\", \"type\": \"static\","
    "   \"shapes\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": -50}}]}]}";

typedef struct rig {
    const carom_module *module; // set before it is opened; NULL: the sandbox
    cm_scene *scene;
    cm_mirror mirror;
    cm_mirror_body *bodies;
    cm_interp interp;
    cm_input_log log;
    cm_predictor *p;
    carom_body_id own;
    carom_body_state then; // as predicted for the tick of the view
    bool with_joint;       // the own body hangs at a motor
    uint32_t drive_tick;   // of the view that told what drives it
} rig;

#define VIEW 104u
#define NOW  107u

// The cubes of players, far from all else, predicted from tick 100 to NOW; views of them were none
// so far.
static void open_rig_of(rig *r, uint32_t players)
{
    *r = (rig){.module = r->module, .with_joint = r->with_joint};
    cm_scene_error error;
    cr_assert_eq(cm_scene_from_json(scene_text, strlen(scene_text), &r->scene, &error), CAROM_OK,
                 "%s %s", error.path, error.message);
    cm_mirror *m = &r->mirror;
    m->allocator = &cm_by_malloc;
    m->scene = r->scene;
    m->module = r->module != NULL ? r->module : cm_module_find("sandbox");
    cr_assert_eq(cm_game_create(r->scene, m->module, 7, NULL, &m->game), CAROM_OK);
    m->world = carom_game_world(m->game);
    m->tick_rate = 60;
    m->view_rate = 30;
    const cm_game_event events[] = {{.type = CM_EVENT_JOIN, .player = 0, .client_id = 1},
                                    {.type = CM_EVENT_JOIN, .player = 1, .client_id = 2}};
    cm_tick_input input = {.events = events, .event_count = players};
    cm_game_tick(m->game, &input);
    r->own = cm_game_player_body(m->game, 0);
    carom_quat q = cm_quat_normalize((carom_quat){0.1f, 0.2f, 0.3f, 0.9f});
    carom_vec3 at = cm_vec(1.2345678f, 2.3456789f, -3.4567891f);
    cr_assert_eq(carom_body_set_pose(m->world, r->own, at, q), CAROM_OK);
    cr_assert_eq(carom_body_set_velocity(m->world, r->own, cm_vec(0.3f, -0.2f, 0.1f),
                                         cm_vec(0.5f, 0.7f, -0.9f)),
                 CAROM_OK);
    cm_game_set_tick(m->game, 100);
    if (r->with_joint) {
        carom_joint_def def = carom_default_joint_def();
        def.type = CAROM_JOINT_HINGE;
        def.body_b = r->own;
        def.anchor = at;
        def.has_motor = true;
        def.motor_velocity = 1.0f;
        cr_assert_eq(carom_joint_create(m->world, &def, NULL), CAROM_OK);
        m->joints = 1;
        m->drive_ticks = &r->drive_tick;
    }
    m->slots = carom_world_body_slots(m->world);
    m->bodies = r->bodies = calloc(m->slots, sizeof *r->bodies);
    m->newest_tick = 100;
    cr_assert_eq(cm_view_config_make(cm_vec(-64, -64, -64), cm_vec(64, 64, 64), STEP, &m->config),
                 CAROM_OK);
    cr_assert(cm_interp_init(&r->interp, &cm_by_malloc, m->slots));
    r->p = cm_predictor_create(&cm_by_malloc, m, &r->interp, &r->log);
    cr_assert_not_null(r->p);
    cm_predictor_refill(r->p, 1.0, 8.0);
    r->p->news = true;
    cm_predictor_reconcile(r->p, 100);
    cm_predictor_refill(r->p, 1.0, 8.0);
    cm_predictor_advance(r->p, NOW);
    cr_assert_eq(cm_predictor_tick(r->p), NOW);
    cr_assert(cm_timeline_restore(r->p->timeline, VIEW));
    cr_assert_eq(carom_body_get(r->p->world, r->own, &r->then), CAROM_OK);
    cr_assert(cm_timeline_restore(r->p->timeline, NOW));
}

static void open_rig(rig *r)
{
    open_rig_of(r, 1);
}

static void close_rig(rig *r)
{
    cm_predictor_destroy(r->p);
    cm_interp_free(&r->interp);
    cm_game_destroy(r->mirror.game);
    cm_scene_free(r->scene);
    free(r->bodies);
}

// The server's view says `pose`; returns what the state of that tick is then. `corrected`: whether
// anything was.
static carom_body_state told(rig *r, const cm_view_pose *pose, bool corrected)
{
    cm_mirror_body *mine = &r->bodies[r->own.index];
    *mine = (cm_mirror_body){.pose = *pose, .tick = VIEW, .known = true};
    mine->pose.has_velocity = true;
    r->mirror.newest_tick = VIEW;
    uint64_t before = r->p->stats.reconciles;
    cm_predictor_refill(r->p, 1.0, 8.0);
    r->p->news = true;
    cm_predictor_reconcile(r->p, NOW);
    cr_assert_eq(r->p->stats.reconciles - before, corrected);
    cr_assert_eq(cm_predictor_tick(r->p), NOW);
    cr_assert(cm_timeline_restore(r->p->timeline, VIEW));
    carom_body_state state;
    cr_assert_eq(carom_body_get(r->p->world, r->own, &state), CAROM_OK);
    return state;
}

static cm_view_pose pose_of(const carom_body_state *state)
{
    return (cm_view_pose){.position = state->position,
                          .orientation = state->orientation,
                          .linear_velocity = state->linear_velocity,
                          .angular_velocity = state->angular_velocity};
}

static bool same(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

// The view of a tick says that a motor turns otherwise than was predicted: so it does from that
// tick on. What an older view said counts once it has differed for a quarter of a second.
Test(correction, takes_what_drives_a_joint)
{
    for (uint32_t age = 0; age < 2; age++) {
        rig r = {.with_joint = true};
        open_rig(&r);
        carom_joint_id joint = carom_world_joint_at(r.mirror.world, 0);
        carom_joint_drives drives;
        cr_assert_eq(carom_joint_set_motor(r.mirror.world, joint, 3.0f, 2.0f), CAROM_OK);
        r.drive_tick = VIEW - age;
        cm_view_pose pose = pose_of(&r.then);
        (void)told(&r, &pose, age == 0);
        for (uint64_t tick = VIEW - 1; tick <= NOW; tick++) {
            cr_assert(cm_timeline_restore(r.p->timeline, tick));
            cr_assert_eq(carom_joint_get_drives(r.p->world, joint, &drives), CAROM_OK);
            cr_assert_eq(drives.angular.x, age == 0 && tick >= VIEW ? 3.0f : 1.0f, "tick %u",
                         (unsigned)tick);
        }
        for (uint32_t view = VIEW + 1; age == 1 && view <= VIEW + 15; view++) {
            cr_assert_eq(drives.angular.x, 1.0f);
            cm_predictor_refill(r.p, 1.0, 8.0);
            cm_predictor_advance(r.p, view + 3);
            r.mirror.newest_tick = view;
            r.bodies[r.own.index].known = false;
            r.p->news = true;
            cm_predictor_reconcile(r.p, view + 3);
            cr_assert_eq(carom_joint_get_drives(r.p->world, joint, &drives), CAROM_OK);
        }
        cr_assert_eq(drives.angular.x, 3.0f);
        close_rig(&r);
    }
}

// x of the place is ten steps off and goes to the edge; y and z, the turn and the velocities lie
// within half a step of what the server says, off its middle, and keep their bits.
Test(correction, keeps_what_lies_inside_the_interval)
{
    rig r = {0};
    open_rig(&r);
    cm_view_pose pose = pose_of(&r.then);
    pose.position = cm_add(pose.position, cm_vec(10.0f * STEP, 0.4f * STEP, -0.3f * STEP));
    float linear = 0.4f * CM_VIEW_LINEAR_STEP, angular = 0.4f * CM_VIEW_ANGULAR_STEP;
    pose.linear_velocity = cm_add(pose.linear_velocity, cm_vec(linear, -linear, linear));
    pose.angular_velocity = cm_add(pose.angular_velocity, cm_vec(-angular, angular, angular));
    carom_body_state now = told(&r, &pose, true), then = r.then;
    cr_expect_eq(now.position.x, pose.position.x - 0.5f * STEP, "to the edge: %.9g of %.9g",
                 (double)now.position.x, (double)pose.position.x);
    cr_expect_eq(now.position.y, then.position.y);
    cr_expect_eq(now.position.z, then.position.z);
    cr_expect(same(&now.orientation, &then.orientation, sizeof now.orientation));
    cr_expect(same(&now.linear_velocity, &then.linear_velocity, sizeof now.linear_velocity));
    cr_expect(same(&now.angular_velocity, &then.angular_velocity, sizeof now.angular_velocity));
    close_rig(&r);
}

// A velocity that is off: each of its numbers goes to its edge, or stays; the place stays.
Test(correction, moves_velocities_to_the_edge_alone)
{
    rig r = {0};
    open_rig(&r);
    cm_view_pose pose = pose_of(&r.then);
    pose.position = cm_add(pose.position, cm_vec(-0.45f * STEP, 0.45f * STEP, 0.2f * STEP));
    pose.linear_velocity.y -= 1.0f;
    pose.angular_velocity.z += 2.0f;
    carom_body_state now = told(&r, &pose, true), then = r.then;
    cr_expect(same(&now.position, &then.position, sizeof now.position));
    cr_expect_eq(now.linear_velocity.y, pose.linear_velocity.y + 0.5f * CM_VIEW_LINEAR_STEP);
    cr_expect_eq(now.linear_velocity.x, then.linear_velocity.x);
    cr_expect_eq(now.angular_velocity.z, pose.angular_velocity.z - 0.5f * CM_VIEW_ANGULAR_STEP);
    cr_expect_eq(now.angular_velocity.y, then.angular_velocity.y);
    close_rig(&r);
}

// A turn beyond the tolerance is taken whole, since its intervals are no box; the place stays.
Test(correction, takes_a_turn_whole)
{
    rig r = {0};
    open_rig(&r);
    cm_view_pose pose = pose_of(&r.then);
    pose.orientation =
        cm_quat_normalize(cm_quat_mul((carom_quat){0.05f, 0.0f, 0.0f, 1.0f}, pose.orientation));
    pose.position = cm_add(pose.position, cm_vec(0.4f * STEP, 0.0f, 0.0f));
    carom_body_state now = told(&r, &pose, true);
    cr_expect_float_eq(now.orientation.x, pose.orientation.x, 1e-6f);
    cr_expect_float_eq(now.orientation.w, pose.orientation.w, 1e-6f);
    cr_expect(same(&now.position, &r.then.position, sizeof now.position));
    close_rig(&r);
}

// Within the tolerance of an own body (a step, three of velocities) nothing is done at all.
Test(correction, leaves_what_is_right)
{
    rig r = {0};
    open_rig(&r);
    cm_view_pose pose = pose_of(&r.then);
    pose.position = cm_add(pose.position, cm_vec(0.9f * STEP, -0.9f * STEP, 0.9f * STEP));
    pose.linear_velocity.x += 2.5f * CM_VIEW_LINEAR_STEP;
    carom_body_state now = told(&r, &pose, false);
    cr_expect(same(&now.position, &r.then.position, sizeof now.position));
    cr_expect(same(&now.linear_velocity, &r.then.linear_velocity, sizeof now.linear_velocity));
    close_rig(&r);
}

// Relays ---------------------------------------------------------------------------------------

enum { DRIVEN = 102 }; // from this tick on player 1 drives

static const uint8_t *input_of(void *context, uint32_t player, uint64_t tick)
{
    static const uint8_t drives[9] = {0, 0, 0x80, 0x3f}, rests[9]; // x: 1
    (void)context;
    (void)player;
    return tick > VIEW + 1 ? NULL : (tick >= DRIVEN ? drives : rests);
}

// The view of tick VIEW comes with the inputs of player 1 up to VIEW + 1.
static void relay(rig *r, uint64_t tick)
{
    cm_view_header header = {.tick = (uint32_t)tick};
    const cm_input_relay told = {.tick = tick, .back = 4, .players = 2, .input_size = 9};
    bool news;
    header.relay_size = (uint32_t)cm_input_relay_write(&told, input_of, NULL, header.relay,
                                                       sizeof header.relay, &news);
    cr_assert_eq(cm_predictor_relay(r->p, &header), CM_PACKET_OK);
}

// Where the cube of player 1 is at NOW, if it had driven from DRIVEN on.
static carom_body_state driven(rig *r)
{
    carom_game *game;
    cr_assert_eq(cm_game_create(r->scene, r->mirror.module, 7, NULL, &game), CAROM_OK);
    cr_assert(cm_timeline_read(r->p->timeline, 100, game));
    for (uint64_t tick = 101; tick <= NOW; tick++) {
        carom_player_input own = {.player = 1};
        memcpy(own.bytes, input_of(NULL, 1, tick < VIEW ? tick : VIEW), 9);
        cm_tick_input input = {.inputs = &own, .input_count = 1};
        cm_game_tick(game, &input);
    }
    carom_body_state state;
    cr_assert_eq(carom_body_get(carom_game_world(game), cm_game_player_body(game, 1), &state),
                 CAROM_OK);
    cm_game_destroy(game);
    return state;
}

Test(correction, steps_again_what_others_did)
{
    rig r = {0};
    open_rig_of(&r, 2);
    carom_body_id other = cm_game_player_body(r.p->game, 1);
    carom_body_state before, now, right = driven(&r);
    cr_assert_eq(carom_body_get(r.p->world, other, &before), CAROM_OK);
    relay(&r, VIEW);
    cm_view_pose pose = pose_of(&r.then);
    (void)told(&r, &pose, true);
    cr_assert(cm_timeline_restore(r.p->timeline, NOW));
    cr_assert_eq(carom_body_get(r.p->world, other, &now), CAROM_OK);
    cr_expect_gt(now.linear_velocity.x, before.linear_velocity.x + 1.0f);
    cr_expect(same(&now.position, &right.position, sizeof now.position));
    cr_expect(same(&now.linear_velocity, &right.linear_velocity, sizeof now.linear_velocity));
    close_rig(&r);
}

// An older view's relay tells nothing after a newer one's, a malformed one is refused whole.
Test(correction, a_relay_is_told_once_and_whole)
{
    rig r = {0};
    open_rig_of(&r, 2);
    relay(&r, VIEW);
    uint64_t late = cm_inbox_earliest_late(cm_timeline_inbox(r.p->timeline));
    cr_expect_eq(late, DRIVEN);
    cr_expect_eq(r.p->relayed, VIEW);
    cm_view_header bad = {.tick = VIEW - 1, .relay_size = 1};
    cr_expect_eq(cm_predictor_relay(r.p, &bad), CM_PACKET_OK, "not read any more");
    bad.tick = VIEW + 1;
    cr_expect_eq(cm_predictor_relay(r.p, &bad), CM_PACKET_SHORT);
    cr_expect_eq(r.p->relayed, VIEW);
    close_rig(&r);
}

static bool simulates_other(rig *r, double budget_us)
{
    r->p->budget_us = budget_us;
    r->mirror.newest_tick = r->mirror.public_tick = VIEW;
    r->mirror.structure++; // starts anew
    cm_predictor_refill(r->p, 1.0, 8.0);
    r->p->news = true;
    cm_predictor_reconcile(r->p, NOW);
    cr_expect(r->p->slots[r->own.index].simulated);
    return r->p->slots[cm_game_player_body(r->mirror.game, 1).index].simulated;
}

// What the budget of a frame does not pay for stands still, except the own body.
Test(correction, simulates_what_the_budget_pays_for)
{
    rig r = {0};
    open_rig_of(&r, 2);
    cr_expect(simulates_other(&r, 2000.0));
    cr_expect_not(simulates_other(&r, 0.0));
    cr_expect(simulates_other(&r, 2000.0));
    close_rig(&r);
}

// Of a player who began to push two ticks after the last input that is known.
static void push_later(const carom_game *game, uint32_t player, const void *last, uint32_t age,
                       void *out)
{
    const float push = 1.0f;
    (void)game;
    cr_expect_eq(player, 1);
    cr_expect_eq(memcmp(last, out, 9), 0, "the guess begins as the last one");
    cr_expect_geq(age, 1, "what is known is not guessed");
    if (age >= 2) {
        memcpy(out, &push, sizeof push);
    }
}

static float speed_of_other(const rig *r)
{
    carom_body_state state;
    cr_assert_eq(carom_body_get(r->p->world, cm_game_player_body(r->p->game, 1), &state), CAROM_OK);
    return state.linear_velocity.x;
}

Test(correction, guesses_what_is_not_known_yet)
{
    carom_module guesser = carom_module_sandbox;
    rig r = {0}, held = {0};
    guesser.predict_input = push_later;
    r.module = &guesser;
    open_rig_of(&held, 2);
    open_rig_of(&r, 2);
    cr_expect_eq(speed_of_other(&held), 0.0f);
    cr_expect_gt(speed_of_other(&r), 0.1f);
    // A guess that was right is nothing new when the input itself is told, another one is.
    uint8_t push[CAROM_INPUT_MAX] = {0};
    cm_inbox *inbox = cm_timeline_inbox(r.p->timeline);
    memcpy(push, cm_game_held_input(r.p->game, 1), sizeof push);
    cm_inbox_put(inbox, NOW, 1, NOW, push);
    cr_expect_eq(cm_inbox_earliest_late(inbox), CM_NO_TICK);
    push[3] ^= 1;
    cm_inbox_put(inbox, NOW, 1, NOW - 1, push);
    cr_expect_eq(cm_inbox_earliest_late(inbox), NOW - 1);
    close_rig(&held);
    close_rig(&r);
}

Test(correction, rules_are_told_what_is_predicted)
{
    rig r = {0};
    open_rig_of(&r, 2);
    carom_body_id other = cm_game_player_body(r.p->game, 1);
    (void)simulates_other(&r, 0.0);
    cr_expect_not(carom_game_is_predicted(r.p->game, other));
    cr_expect(carom_game_is_predicted(r.p->game, r.own));
    cr_expect(carom_game_is_predicted(r.mirror.game, other), "of a server likewise");
    (void)simulates_other(&r, 2000.0);
    cr_expect(carom_game_is_predicted(r.p->game, other));
    close_rig(&r);
}

// A player's first input is of the tick that the client had come to, and the server has nothing of
// the ticks before: nor may the prediction move by it there. Seen with exact sync: a player who
// drove off at once was shown 1.2 m too far until the first second was over.
Test(correction, ticks_before_the_first_input_have_none)
{
    rig r = {0}, alone = {0};
    carom_body_state expected, held, driven;
    const uint8_t drive[9] = {0, 0, 0x80, 0x3f}; // 1 along x, little-endian
    open_rig(&alone);
    cm_predictor_refill(alone.p, 5.0, 13.0);
    cm_predictor_advance(alone.p, NOW + 2);
    cr_assert_eq(carom_body_get(alone.p->world, alone.own, &expected), CAROM_OK);
    open_rig(&r);
    cm_input_log_set(&r.log, NOW + 3, NOW + 5, drive, sizeof drive);
    cm_predictor_refill(r.p, 5.0, 13.0);
    cm_predictor_advance(r.p, NOW + 5);
    cr_assert_eq(carom_body_get(r.p->world, r.own, &driven), CAROM_OK);
    cr_assert(cm_timeline_restore(r.p->timeline, NOW + 2));
    cr_assert_eq(carom_body_get(r.p->world, r.own, &held), CAROM_OK);
    cr_assert_eq(
        memcmp(&held.linear_velocity, &expected.linear_velocity, sizeof held.linear_velocity), 0);
    cr_assert_gt(driven.linear_velocity.x, held.linear_velocity.x);
    close_rig(&r);
    close_rig(&alone);
}

// What was left out is held, as at the server; what comes after it is not taken for it.
Test(correction, ticks_between_two_inputs_have_the_first)
{
    static cm_input_log log;
    const uint8_t one = 1, two = 2;
    cr_assert_null(cm_input_log_get(&log, 7));
    cm_input_log_set(&log, 110, 111, &one, 1);
    cm_input_log_set(&log, 130, 132, &two, 1);
    cr_assert_null(cm_input_log_get(&log, 109));
    cr_assert_eq(cm_input_log_get(&log, 110)[0], 1);
    cr_assert_eq(cm_input_log_get(&log, 129)[0], 1);
    cr_assert_eq(cm_input_log_get(&log, 130)[0], 2);
    cr_assert_eq(cm_input_log_get(&log, 140)[0], 2);
    cm_input_log_set(&log, 140 + CM_INPUT_TICKS, 140 + CM_INPUT_TICKS, &one, 1);
    cr_assert_null(cm_input_log_get(&log, 139 + CM_INPUT_TICKS));
}
