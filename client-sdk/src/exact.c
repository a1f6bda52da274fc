// Confirmed ticks: read, stepped, checked. What a server says is checked before a step: the ticks
// follow one another, each within the limits, and no more of them than its clock can have made.
#include "client-sdk/src/state.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/base/vec.h"
#include "shared/wire/confirmed.h"

#define ASK_US       2000000u // between two asks
#define BURST_S      10.0     // of ticks at once
#define FASTER       2.0      // than its tick rate a server's clock never is
#define SHARE_LEAST  2u       // ticks an update
#define SHARE_FASTER 2.0      // than they come
#define BLOCK        64u      // bodies read at once
#define WAITING_MAX  65536u   // bytes

cm_mirror *cm_exact_detach(carom_client *client)
{
    cm_mirror *mirror = client->mirror;
    if (mirror == NULL || !mirror->exact || client->exact.differs == 0) {
        return NULL;
    }
    client->mirror = NULL;
    return mirror;
}

// The first of the state that a client can read in which a body of one world is another than in the
// other; NULL: none of it.
static const char *field_of(const carom_world *first, const carom_world *second, uint32_t slot)
{
    carom_body_id a = carom_world_body_at(first, slot), b = carom_world_body_at(second, slot);
    carom_body_state one, other;
    if (!carom_body_id_equal(a, b)) {
        return "existence";
    }
    if (carom_body_get(first, a, &one) != CAROM_OK ||
        carom_body_get(second, b, &other) != CAROM_OK) {
        return NULL;
    }
#define DIFFERS(field)                                                                             \
    if (memcmp(&one.field, &other.field, sizeof one.field) != 0) {                                 \
        return #field;                                                                             \
    }
    DIFFERS(type)
    DIFFERS(position)
    DIFFERS(orientation)
    DIFFERS(linear_velocity)
    DIFFERS(angular_velocity)
#undef DIFFERS
    return NULL;
}

// The two are of the same tick, since the server sends all up to a keyframe before it.
static void name_difference(carom_client *client, const cm_mirror *diverged)
{
    const cm_mirror *mirror = client->mirror;
    if (mirror == NULL || !mirror->exact ||
        carom_game_tick(mirror->game) != carom_game_tick(diverged->game)) {
        return;
    }
    const char *field = NULL;
    char body[CM_NAME_MAX + 1] = "";
    for (uint32_t slot = 0; slot < mirror->slots && field == NULL; slot++) {
        if (slot < carom_world_body_slots(mirror->world) &&
            slot < carom_world_body_slots(diverged->world)) {
            field = field_of(diverged->world, mirror->world, slot);
            cm_scene_call_body(mirror->scene, carom_world_body_at(mirror->world, slot), body,
                               sizeof body);
        }
    }
    cm_client_log(client, CAROM_LOG_WARNING, "healed at tick %llu: %s of %s was another",
                  (unsigned long long)carom_game_tick(mirror->game),
                  field != NULL ? field : "something", field != NULL ? body : "no body's motion");
}

void cm_exact_begin(carom_client *client, cm_mirror *diverged)
{
    if (diverged != NULL) {
        name_difference(client, diverged);
        cm_mirror_destroy(diverged);
    }
    client->exact = (cm_exact){.began_us = client->now_us};
}

static bool is_too_early(const carom_client *client, uint64_t tick)
{
    const cm_mirror *mirror = client->mirror;
    double seconds = (double)(client->now_us - client->exact.began_us) * 1.0e-6;
    double most = (FASTER * seconds + BURST_S) * mirror->tick_rate;
    return tick > UINT32_MAX || (double)(tick - mirror->keyframe_tick) > most;
}

static void ask(carom_client *client)
{
    const cm_control control = {.type = CM_CONTROL_CONFIRMED, .tick = client->exact.differs};
    if (client->now_us - client->exact.asked_us >= ASK_US || client->exact.asked_us == 0) {
        client->exact.asked_us = client->now_us;
        (void)cm_client_send_control(client, &control);
    }
}

// The own body's error, as of a view.
static void note_error(const carom_client *client, uint64_t tick)
{
    cm_predictor *p = client->predictor;
    const cm_shown *shown = &p->shown[tick % p->ring];
    const carom_body_id own = cm_game_player_body(client->mirror->game, client->mirror->player);
    carom_body_state state;
    if (shown->tick == tick && carom_body_get(client->mirror->world, own, &state) == CAROM_OK) {
        cm_predictor_note_error(p, (double)cm_length(cm_sub(shown->position, state.position)));
    }
}

static void step(carom_client *client, const cm_confirmed_tick *tick)
{
    cm_mirror *mirror = client->mirror;
    cm_game_tick(mirror->game, &tick->input);
    if (client->predictor != NULL) {
        cm_predictor_confirmed(client->predictor, tick->input.event_count > 0);
        note_error(client, tick->tick);
    }
    if (client->exact.differs == 0 && cm_game_hash(mirror->game) != tick->hash) {
        client->exact.differs = tick->tick;
        client->stats.desyncs++;
        cm_client_log(client, CAROM_LOG_WARNING, "the world differs from the server's at tick %llu",
                      (unsigned long long)tick->tick);
    }
}

// A server takes no other inputs: the module is not to see one that it has refused.
static bool inputs_are_good(const carom_client *client, const cm_tick_input *input)
{
    bool good = true;
    cm_pointer_reason reason;
    for (uint32_t i = 0; i < input->input_count; i++) {
        good = good && cm_game_check_input(client->mirror->game, input->inputs[i].bytes, &reason) ==
                           CM_INPUT_GOOD;
    }
    return good;
}

// Steps at most so many of the ticks that wait, and counts down. False where the connection ended.
static bool step_waiting(carom_client *client, uint64_t *most)
{
    cm_exact *exact = &client->exact;
    for (; *most > 0 && exact->used < exact->have; --*most) {
        cm_confirmed_read_tick read;
        size_t used = 0;
        read.tick.tick = carom_game_tick(client->mirror->game);
        if (cm_confirmed_read(exact->waiting + exact->used, exact->have - exact->used, &read,
                              &used) != NULL ||
            read.tick.tick != carom_game_tick(client->mirror->game) + 1 ||
            is_too_early(client, read.tick.tick) || !inputs_are_good(client, &read.tick.input)) {
            client->stats.packets_refused++;
            cm_client_end(client, CAROM_REASON_MALFORMED);
            return false;
        }
        step(client, &read.tick);
        exact->used += used;
    }
    if (exact->differs != 0) {
        ask(client);
    }
    return true;
}

bool cm_exact_step_all(carom_client *client)
{
    uint64_t all = UINT64_MAX;
    return client->exact.used == client->exact.have || step_waiting(client, &all);
}

uint64_t cm_exact_share(double elapsed)
{
    return SHARE_LEAST + (uint64_t)(SHARE_FASTER * elapsed);
}

bool cm_exact_step(carom_client *client, double elapsed)
{
    uint64_t share = cm_exact_share(elapsed);
    return client->exact.used == client->exact.have || step_waiting(client, &share);
}

bool cm_exact_step_some(carom_client *client, uint64_t *left)
{
    bool none = client->exact.used == client->exact.have;
    return none || (step_waiting(client, left) && client->exact.used == client->exact.have);
}

void cm_exact_forget(carom_client *client)
{
    cm_memory_give(&client->def.allocator, client->exact.waiting);
    client->exact.waiting = NULL;
    client->exact.have = client->exact.used = client->exact.room = 0;
}

// False where memory is short.
static bool wait_for_turn(carom_client *client, const uint8_t *bytes, size_t size)
{
    cm_exact *exact = &client->exact;
    size_t left = exact->have - exact->used;
    if (left + size > exact->room) {
        uint8_t *more = cm_memory_take(&client->def.allocator, 2 * (left + size));
        if (more == NULL) {
            return false;
        }
        if (left > 0) {
            memcpy(more, exact->waiting + exact->used, left);
        }
        cm_memory_give(&client->def.allocator, exact->waiting);
        exact->waiting = more;
        exact->room = 2 * (left + size);
    } else if (left > 0) {
        memmove(exact->waiting, exact->waiting + exact->used, left);
    }
    if (size > 0) {
        memcpy(exact->waiting + left, bytes, size);
    }
    exact->used = 0;
    exact->have = left + size;
    return true;
}

// A spectator predicts nothing: it is shown the ticks of a message as others are a view.
static void show(carom_client *client)
{
    const carom_world *world = client->mirror->world;
    uint64_t tick = carom_game_tick(client->mirror->game);
    carom_body_id ids[BLOCK];
    carom_body_state states[BLOCK];
    for (uint32_t first = 0; first < client->mirror->slots; first += BLOCK) {
        uint32_t left = client->mirror->slots - first, block = left < BLOCK ? left : BLOCK;
        carom_world_read_bodies(world, first, block, ids, states);
        for (uint32_t i = 0; i < block; i++) {
            const cm_view_pose pose = {.position = states[i].position,
                                       .orientation = states[i].orientation,
                                       .linear_velocity = states[i].linear_velocity,
                                       .angular_velocity = states[i].angular_velocity};
            if (!carom_body_id_is_null(ids[i])) {
                cm_interp_add(&client->interp, ids[i], (uint32_t)tick, &pose,
                              client->clock.view_interval);
            }
        }
    }
    client->arrived = tick;
}

void cm_client_confirmed(carom_client *client, const cm_control *control)
{
    // While what came behind a keyframe is handled, and where a device waits for each update.
    bool spread = client->keyframe.opened ||
                  (client->pointer.device.period > 0.0f && client->state == CAROM_CLIENT_PLAYING);
    if (client->mirror == NULL || !client->mirror->exact) {
        client->stats.packets_refused++;
        cm_client_end(client, CAROM_REASON_MALFORMED);
        return;
    }
    if (!cm_client_begin_prediction(client)) {
        return;
    }
    client->exact.came = true;
    if (client->exact.have - client->exact.used > WAITING_MAX && !cm_exact_step_all(client)) {
        return;
    }
    if (!wait_for_turn(client, control->payload.data, control->payload.size)) {
        cm_client_end(client, CAROM_REASON_CLIENT_ERROR);
        return;
    }
    if (!spread && cm_exact_step_all(client) && cm_client_spectates(client)) {
        show(client);
    }
}
