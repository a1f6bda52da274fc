// Goal: whoever predicts knows what the game changes of the world in mid-match beside its bodies:
// gravity, joints made, driven, detached, attached, broken off; and what drives a joint comes in
// the views alone, inside their budget, against what was acked. Method: a worker on the virtual net
// with a module that does all this at its ticks, and a bare link whose messages go into the
// client's own mirror; the mirror's joints are then those of a game that was stepped alike. And
// bytes of a frame changed one by one.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/link.h"
#include "client-sdk/src/mirror.h"
#include "server/replicate/frame.h"
#include "server/node/worker.h"
#include "shared/base/memory.h"
#include "shared/net/net.h"
#include "shared/sim/inspect.h"
#include "shared/wire/control.h"
#include "tests/unit/node/rig.h"

#define PORT     9400
#define FIRST    60u // tick of the first change; then one every 20

#define MESSAGES 16u

enum { HOLD, HANG, MOTOR, FASTER, DETACH, ATTACH, ANOTHER, BREAK, GRAVITY, RADIUS, CHANGES };

static carom_body_id cube(const carom_world *world, uint32_t i)
{
    return carom_world_body_at(world, 1 + i);
}

static carom_result join_cubes(carom_world *world, carom_joint_type type, uint32_t a, uint32_t b)
{
    carom_joint_def def = carom_default_joint_def();
    carom_body_state s;
    carom_body_get(world, cube(world, b), &s);
    def.type = type;
    def.body_a = cube(world, a);
    def.body_b = cube(world, b);
    def.anchor = s.position;
    return carom_joint_create(world, &def, NULL);
}

static carom_result change(carom_world *w, uint32_t what)
{
    carom_body_def body;
    carom_shape_def shape;
    carom_shape_id first;
    switch (what) {
    case HOLD:
        return join_cubes(w, CAROM_JOINT_FIXED, 0, 1);
    case HANG:
        return join_cubes(w, CAROM_JOINT_HINGE, 1, 2);
    case MOTOR:
        return carom_joint_set_motor(w, carom_world_joint_at(w, 1), 2.0f, 5.0f);
    case FASTER: // no other joint: it is told in a view
        return carom_joint_set_motor(w, carom_world_joint_at(w, 1), -3.0f, 7.0f);
    case DETACH:
        return carom_joint_detach(w, carom_world_joint_at(w, 0));
    case ATTACH:
        return carom_joint_attach(w, carom_world_joint_at(w, 0), cube(w, 0), cube(w, 3));
    case ANOTHER:
        return join_cubes(w, CAROM_JOINT_BALL, 2, 3);
    case BREAK:
        return carom_joint_destroy(w, carom_world_joint_at(w, 0));
    case GRAVITY:
        return carom_world_set_gravity(w, (carom_vec3){1.0f, -5.0f, 0.5f});
    default: // another body, which is told anew without joints
        carom_body_get_def(w, cube(w, 0), &body);
        carom_body_shapes(w, cube(w, 0), &first, 1);
        carom_shape_get(w, first, &shape, NULL);
        body.position.y += 3.0f;
        return carom_body_create(w, &body, &shape, 1, NULL);
    }
}

static void changer_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    uint64_t tick = carom_game_tick(game);
    (void)inputs, (void)count;
    if (tick >= FIRST && (tick - FIRST) % 20 == 0 && (tick - FIRST) / 20 < CHANGES) {
        cr_assert_eq(change(carom_game_world(game), (uint32_t)((tick - FIRST) / 20)), CAROM_OK);
    }
}

static const carom_module changer = {.abi = CAROM_MODULE_ABI,
                                     .version = 1,
                                     .name = "changer",
                                     .input_size = 1,
                                     .tick = changer_tick};

typedef struct listener {
    const carom_module *module;
    cm_transport *link;
    cm_mirror *mirror;
    uint32_t frames, views, drives, alone; // drives told, of these without a baseline
    uint64_t bytes;
    uint8_t last[4096];
    size_t last_size;
    bool overtakes;                // each fourth view comes after the one behind it
    uint8_t held[CM_PACKET_MAX];   // that view
    size_t held_size;              // 0: none
    uint32_t ticks[6];             // of the drives that the mirror had
    uint64_t late_us;              // so late a message is taken
    uint64_t due_us[MESSAGES];     // of those that wait
    cm_control *waiting[MESSAGES]; // the first of all
    uint32_t wait;                 // how many
} listener;

static void take(listener *l, cm_control *control)
{
    if (control->type == CM_CONTROL_WELCOME) {
        cr_assert_eq(cm_mirror_create(&cm_by_malloc, control, l->module, false, &l->mirror),
                     CAROM_REASON_NONE);
    } else if (control->type == CM_CONTROL_WORLD_CHANGE) {
        cr_assert(cm_mirror_change(l->mirror, control));
        uint32_t newest = carom_world_body_slots(l->mirror->world) - 1;
        cr_expect(control->spawned_count == 0 || l->late_us == 0 || l->mirror->bodies[newest].known,
                  "views told of it before");
    }
    if (control->frame.size > 0) {
        cr_assert_leq(control->frame.size, sizeof l->last);
        memcpy(l->last, control->frame.data, control->frame.size);
        l->last_size = control->frame.size;
        l->frames++;
    }
    cm_control_free(NULL, control);
}

static void take_due(listener *l, uint64_t now_us)
{
    while (l->wait > 0 && l->due_us[0] <= now_us) {
        take(l, l->waiting[0]);
        l->wait--;
        memmove(l->waiting, l->waiting + 1, l->wait * sizeof l->waiting[0]);
        memmove(l->due_us, l->due_us + 1, l->wait * sizeof l->due_us[0]);
    }
}

// The welcome comes in time.
static void hear(listener *l, const cm_transport_event *event, uint64_t now_us)
{
    cr_assert_lt(l->wait, MESSAGES);
    l->due_us[l->wait] = now_us + (l->mirror != NULL ? l->late_us : 0);
    cr_assert_eq(cm_control_decode(event->bytes, event->size, false, NULL, &l->waiting[l->wait++]),
                 CAROM_OK);
    take_due(l, now_us);
}

// A view, and its ack. In `driven` its tick says what drives the joint.
static void see(listener *l, const uint8_t *view, size_t view_size)
{
    cm_view_header header;
    if (l->mirror == NULL || cm_mirror_view(l->mirror, view, view_size, &header) != CM_PACKET_OK) {
        return;
    }
    l->views++;
    l->bytes += view_size;
    for (uint32_t i = 0; i < 6 && l->overtakes; i++) {
        cr_assert_geq(l->mirror->drive_ticks[i], l->ticks[i], "joint %u", i);
        l->ticks[i] = l->mirror->drive_ticks[i];
    }
    const cm_stored_packet *packet = &l->mirror->packets[header.sequence % CM_MIRROR_PACKETS];
    for (uint32_t i = 0; i < packet->count; i++) {
        if (packet->entries[i].index >= CM_VIEW_DRIVES) {
            l->drives++;
            l->alone += l->mirror->entries[i].baseline_age == 0;
        }
    }
    cm_input_packet packet_up = {0};
    cm_mirror_ack(l->mirror, &packet_up);
    uint8_t bytes[CM_PACKET_MAX];
    size_t size = cm_input_packet_write(&packet_up, 1, bytes, sizeof bytes);
    cm_transport_send(l->link, CM_CONNECTION_ONLY, CM_SEND_PACKET, bytes, size);
}

// One is held back until the next has come.
static void see_in_turn(listener *l, const cm_transport_event *event)
{
    if (l->overtakes && l->held_size == 0 && l->views % 4 == 0) {
        memcpy(l->held, event->bytes, event->size);
        l->held_size = event->size;
        return;
    }
    see(l, event->bytes, event->size);
    if (l->held_size > 0) {
        see(l, l->held, l->held_size);
        l->held_size = 0;
    }
}

static void hello(cm_transport *link)
{
    cm_control message = {.type = CM_CONTROL_HELLO,
                          .protocol = CM_PROTOCOL_VERSION,
                          .engine = CAROM_ENGINE_VERSION,
                          .predict = true,
                          .name = "bare"};
    uint8_t *bytes = NULL;
    size_t size = 0;
    cr_assert_eq(cm_control_encode(&message, NULL, &bytes, &size), CAROM_OK);
    cm_transport_send(link, CM_CONNECTION_ONLY, CM_SEND_COUNTED, bytes, size);
    cm_control_release_bytes(NULL, bytes);
}

static void run(cm_net *net, cm_worker *worker, listener *l, uint64_t until)
{
    cm_worker_stats stats;
    do {
        cm_transport_event event;
        cm_net_advance(net, 1000);
        cm_worker_run_once(worker, cm_net_now_us(net));
        while (cm_transport_poll(l->link, &event)) {
            if (event.type == CM_TRANSPORT_OPENED) {
                hello(l->link);
            } else if (event.type == CM_TRANSPORT_RECEIVED && event.kind == CM_SEND_CONTROL) {
                hear(l, &event, cm_net_now_us(net));
            } else if (event.type == CM_TRANSPORT_RECEIVED) {
                see_in_turn(l, &event);
            }
        }
        take_due(l, cm_net_now_us(net));
        cm_transport_flush(l->link);
        cm_worker_stats_get(worker, &stats);
    } while (stats.tick < until);
}

// All that a frame tells is the same in both worlds.
static void compare(const carom_world *mirror, const carom_world *room, uint64_t tick)
{
    cr_assert_eq(cm_settings_identify(mirror), cm_settings_identify(room), "tick %llu",
                 (unsigned long long)tick);
    cr_assert_eq(carom_world_joint_slots(mirror), carom_world_joint_slots(room), "tick %llu",
                 (unsigned long long)tick);
    for (uint32_t i = 0; i < carom_world_joint_slots(room); i++) {
        carom_joint_drives drives[2] = {0};
        carom_joint_id id = carom_world_joint_at(room, i);
        cr_assert_eq(cm_joint_identify(mirror, i), cm_joint_identify(room, i),
                     "tick %llu: joint %u", (unsigned long long)tick, i);
        cr_assert_eq(carom_joint_get_drives(mirror, id, &drives[0]),
                     carom_joint_get_drives(room, id, &drives[1]));
        cr_assert_eq(memcmp(&drives[0], &drives[1], sizeof *drives), 0,
                     "tick %llu: what drives joint %u", (unsigned long long)tick, i);
    }
}

// Each byte of a frame set to other values: refused, or another frame that leaves a sound world.
static void spoil(const listener *l, const carom_game *room)
{
    carom_world *world = l->mirror->world;
    uint8_t bytes[4096];
    uint32_t refused = 0;
    for (size_t at = 0; at < l->last_size; at++) {
        memcpy(bytes, l->last, l->last_size);
        bytes[at] ^= (uint8_t)(1u + 37u * at);
        refused += carom_world_decode_settings(world, bytes, l->last_size) != CAROM_OK;
        cr_assert_neq(carom_world_decode_settings(world, l->last, at), CAROM_OK);
    }
    cr_assert_geq(refused, 16, "%u", refused);
    carom_world_step(world);
    (void)room;
}

static cm_worker *open_worker(cm_net *net, cm_scene *scene, const carom_module *module,
                              uint32_t budget_kbit)
{
    static cm_config config;
    cm_net_use(net);
    cm_config_default(&config);
    config.insecure = true;
    config.budget_kbit = budget_kbit;
    cm_worker_def def = {.random = cm_net_random,
                         .config = &config,
                         .scene = scene,
                         .module = module,
                         .seed = 3,
                         .now_us = cm_net_now_us(net)};
    char error[256] = "";
    cm_worker *worker;
    cr_assert_eq(cm_worker_create(&def, &worker, error, sizeof error), CAROM_OK, "%s", error);
    return worker;
}

static void close_worker(cm_net *net, cm_worker *worker, cm_scene *scene, listener *l)
{
    cm_mirror_destroy(l->mirror);
    cm_transport_destroy(l->link, CAROM_REASON_NONE);
    cm_worker_destroy(worker);
    cm_scene_free(scene);
    cm_net_destroy(net);
    cm_net_use(NULL);
}

Test(frame, what_the_game_changes_reaches_the_mirror)
{
    cm_net *net = cm_net_virtual_create(3);
    cm_scene *scene = rig_scene(2);
    cm_worker *worker = open_worker(net, scene, &changer, 64);
    listener l = {.module = &changer, .link = rig_dial(PORT, NULL)};
    // The room once more, stepped beside it; nobody's input matters to the module.
    carom_game *room;
    cr_assert_eq(cm_game_create(scene, &changer, 3, NULL, &room), CAROM_OK);
    for (uint32_t what = 0; what < CHANGES; what++) {
        uint64_t until = FIRST + 20u * what + 19u; // late enough for a view
        run(net, worker, &l, until);
        cr_assert_not_null(l.mirror);
        while (carom_game_tick(room) < until) {
            cm_tick_input none = {0};
            cm_game_tick(room, &none);
        }
        compare(l.mirror->world, carom_game_world(room), until);
    }
    cr_assert_eq(l.frames, CHANGES - 2, "%u frames",
                 l.frames); // a body is no frame, nor is a drive
    cr_assert_geq(l.drives, 1);
    spoil(&l, room);
    cm_game_destroy(room);
    close_worker(net, worker, scene, &l);
}

// A message is late, and a view that came before it had a newer drive, which is not told again.
Test(frame, a_joint_that_comes_late_is_driven_as_views_said)
{
    cm_net *net = cm_net_virtual_create(4);
    cm_scene *scene = rig_scene(2);
    cm_worker *worker = open_worker(net, scene, &changer, 64);
    listener l = {.module = &changer, .link = rig_dial(PORT, NULL), .late_us = 450000};
    carom_game *room;
    cr_assert_eq(cm_game_create(scene, &changer, 3, NULL, &room), CAROM_OK);
    uint64_t until = FIRST + 20u * CHANGES + 40u;
    run(net, worker, &l, until);
    while (carom_game_tick(room) < until) {
        cm_tick_input none = {0};
        cm_game_tick(room, &none);
    }
    compare(l.mirror->world, carom_game_world(room), until);
    cr_assert_geq(l.drives, 1);
    cm_game_destroy(room);
    close_worker(net, worker, scene, &l);
}

static float speed_at(uint64_t tick)
{
    return 1.0f + 0.01f * (float)(tick % 300);
}

static void driven_tick(carom_game *game, const carom_player_input *inputs, uint32_t count)
{
    carom_world *world = carom_game_world(game);
    (void)inputs, (void)count;
    for (uint32_t i = 0; i < 6 && carom_world_joint_slots(world) < 6; i++) {
        cr_assert_eq(join_cubes(world, CAROM_JOINT_HINGE, i, i + 1), CAROM_OK);
    }
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(carom_joint_set_motor(world, carom_world_joint_at(world, i),
                                           speed_at(carom_game_tick(game) + 1), 1.0f),
                     CAROM_OK);
    }
}

static const carom_module driven = {
    .abi = CAROM_MODULE_ABI, .version = 1, .name = "driven", .input_size = 1, .tick = driven_tick};

// Motors whose speeds change with every tick, on a path that loses a tenth, and where some views
// come late and change nothing then: a view tells exactly
// what drives each joint at its tick, against what was acked; no message does; and all of it stays
// in the view's budget.
Test(frame, drives_travel_in_the_views_alone)
{
    cm_net *net = cm_net_virtual_create(5);
    const cm_link_def lossy = {.latency_us = 30000, .jitter_us = 5000, .loss = 0.1f};
    cm_scene *scene = rig_scene(3);
    cm_worker *worker = open_worker(net, scene, &driven, 16);
    listener l = {.module = &driven, .link = rig_dial(PORT, NULL)};
    run(net, worker, &l, 60);
    cm_net_link_port(net, PORT, &lossy);
    l.frames = l.drives = l.alone = 0;
    l.bytes = 0;
    l.overtakes = true;
    run(net, worker, &l, 660);
    cr_assert_eq(l.frames, 0, "%u messages", l.frames);
    cr_assert_gt(l.drives, 300, "%u", l.drives);
    cr_assert_lt(l.alone, l.drives / 20, "%u of %u", l.alone, l.drives);
    cr_assert_lt(l.bytes * 8 / 10, 16000, "%llu bytes in 10 s", (unsigned long long)l.bytes);
    for (uint32_t i = 0; i < 6; i++) {
        carom_joint_drives drives;
        cr_assert_eq(carom_joint_get_drives(l.mirror->world,
                                            carom_world_joint_at(l.mirror->world, i), &drives),
                     CAROM_OK);
        cr_assert_eq(drives.angular.x, speed_at(l.mirror->drive_ticks[i]), "joint %u: %g, %g", i,
                     (double)drives.angular.x, (double)speed_at(l.mirror->drive_ticks[i]));
        cr_assert_gt(l.mirror->drive_ticks[i] + 60, 660, "joint %u", i);
    }
    close_worker(net, worker, scene, &l);
}

// What drives a joint makes no other joint of it; what it is, does, until that is sent; and all
// joints of a body that is told anew are.
Test(frame, drives_are_no_change_and_lost_joints_are_told_again)
{
    cm_scene *scene = rig_scene(2);
    carom_game *game;
    cr_assert_eq(cm_game_create(scene, &changer, 3, NULL, &game), CAROM_OK);
    carom_world *world = carom_game_world(game);
    cm_frame frame;
    uint32_t changed[64], count;
    cr_assert(cm_frame_init(&frame, world));
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert(cm_frame_changes(&frame, world, changed, &count), "the settings");
    }
    cm_frame_sent(&frame, world, changed, count);
    cr_assert_not(cm_frame_changes(&frame, world, changed, &count));
    change(world, HANG);
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert(cm_frame_changes(&frame, world, changed, &count));
        cr_assert_eq(count, 1);
    }
    cm_frame_sent(&frame, world, changed, count);
    carom_joint_set_motor(world, carom_world_joint_at(world, 0), 1.0f, 5.0f);
    cr_assert(cm_frame_changes(&frame, world, changed, &count), "that it has a motor");
    cm_frame_sent(&frame, world, changed, count);
    carom_joint_set_motor(world, carom_world_joint_at(world, 0), 2.0f, 6.0f);
    cr_assert_not(cm_frame_changes(&frame, world, changed, &count));
    cm_frame_forget(&frame, world, cube(world, 2).index);
    cr_assert(cm_frame_changes(&frame, world, changed, &count));
    cm_frame_free(&frame);
    cm_game_destroy(game);
    cm_scene_free(scene);
}

// A room goes back over the tick that made its last joint, and does not make it again.
Test(frame, a_rewind_leaves_no_joint_behind)
{
    cm_scene *scene = rig_scene(2);
    carom_game *game, *mirror;
    cr_assert_eq(cm_game_create(scene, &changer, 3, NULL, &game), CAROM_OK);
    cr_assert_eq(cm_game_create(scene, &changer, 3, NULL, &mirror), CAROM_OK);
    carom_world *world = carom_game_world(game), *other = carom_game_world(mirror);
    size_t size = cm_game_save_bound(game);
    void *image = malloc(size);
    cm_frame frame;
    uint32_t changed[64], count;
    cr_assert(cm_frame_init(&frame, world));
    change(world, HOLD);
    size = cm_game_save(game, image, size);
    change(world, HANG);
    for (uint32_t step = 0; step < 3; step++) {
        cr_assert(cm_frame_changes(&frame, world, changed, &count), "step %u", step);
        uint8_t bytes[4096];
        size_t told = carom_world_encode_settings(world, changed, count, bytes, sizeof bytes);
        cr_assert_gt(told, 0, "step %u", step);
        cr_assert_eq(carom_world_decode_settings(other, bytes, told), CAROM_OK);
        cm_frame_sent(&frame, world, changed, count);
        cr_assert_not(cm_frame_changes(&frame, world, changed, &count), "step %u", step);
        for (uint32_t slot = 0; slot < 2; slot++) {
            carom_joint_id is = carom_world_joint_at(other, slot);
            carom_joint_id should = carom_world_joint_at(world, slot);
            cr_assert(is.index == should.index && is.generation == should.generation,
                      "step %u: joint %u", step, slot);
        }
        if (step == 0) {
            cr_assert_eq(cm_game_restore(game, image, size), CAROM_OK);
            cr_assert_eq(carom_world_joint_slots(world), 1);
        } else {
            change(world, ANOTHER);
        }
    }
    uint32_t beyond = carom_world_limits(world).joints;
    cr_assert_eq(carom_world_encode_settings(world, &beyond, 1, (uint8_t[4096]){0}, 4096), 0);
    free(image);
    cm_game_destroy(mirror);
    cm_frame_free(&frame);
    cm_game_destroy(game);
    cm_scene_free(scene);
}
