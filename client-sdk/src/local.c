// See the header. Typical: a game with one or two players, one tick an update.
#include "client-sdk/src/local.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/wire/confirmed.h"
#include "shared/wire/events.h"
#include "shared/wire/input_relay.h"
#include "shared/wire/message_packet.h"

#define RELAY_BACK 8u // ticks of the other players that a view tells: nothing is lost

carom_local_def carom_default_local_def(void)
{
    return (carom_local_def){.struct_size = sizeof(carom_local_def),
                             .max_players = CAROM_PLAYERS_MAX};
}

static carom_result make_game(carom_local *local, const carom_local_def *def)
{
    cm_scene_error error;
    carom_result result =
        cm_scene_unpack(def->scene, def->scene_size, &local->allocator, &local->scene, &error);
    if (result != CAROM_OK) {
        return result;
    }
    const char *name = cm_scene_module(local->scene);
    bool given = def->module != NULL && strcmp(def->module->name, name) == 0;
    const carom_module *module = given ? def->module : cm_module_find(name);
    if (module == NULL) {
        return CAROM_ERROR_NOT_FOUND;
    }
    return cm_game_create(local->scene, module, def->seed, &local->allocator, &local->game);
}

carom_result carom_local_create(const carom_local_def *def, carom_local **out)
{
    if (def == NULL || out == NULL || def->struct_size != sizeof *def || def->scene == NULL ||
        def->scene_size == 0 || def->max_players < 1 || def->max_players > CAROM_PLAYERS_MAX ||
        (def->module != NULL && !carom_module_is_valid(def->module, NULL)) ||
        (def->allocator.allocate == NULL) != (def->allocator.release == NULL)) {
        return CAROM_ERROR_ARGUMENT;
    }
    carom_allocator allocator = def->allocator.allocate != NULL ? def->allocator : cm_by_malloc;
    carom_local *local = cm_memory_take(&allocator, sizeof *local);
    *out = NULL;
    if (local == NULL) {
        return CAROM_ERROR_MEMORY;
    }
    local->allocator = allocator;
    local->seed = def->seed;
    local->max_players = def->max_players;
    local->packed_size = def->scene_size;
    local->packed = cm_memory_take(&allocator, def->scene_size);
    carom_result result = local->packed != NULL ? make_game(local, def) : CAROM_ERROR_MEMORY;
    if (result != CAROM_OK) {
        carom_local_destroy(local);
        return result;
    }
    memcpy(local->packed, def->scene, def->scene_size);
    *out = local;
    return CAROM_OK;
}

void carom_local_destroy(carom_local *local)
{
    if (local == NULL) {
        return;
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        if (local->links[i] != NULL) {
            cm_local_send_away(local->links[i], CAROM_REASON_ROOM_ENDED);
            local->links[i]->local = NULL;
        }
    }
    cm_local_clear(&local->events, &local->allocator);
    if (local->game != NULL) {
        cm_game_destroy(local->game);
    }
    if (local->scene != NULL) {
        cm_scene_free(local->scene);
    }
    cm_memory_give(&local->allocator, local->packed);
    const carom_allocator allocator = local->allocator;
    cm_memory_give(&allocator, local);
}

const uint8_t *cm_local_input(void *context, uint32_t player, uint64_t tick)
{
    const carom_local *local = context;
    const cm_local_link *link = local->links[player];
    uint32_t row = tick % CM_LOCAL_AHEAD;
    if (link != NULL && link->input_of[row] == tick) {
        return link->inputs[row];
    }
    return tick <= carom_game_tick(local->game) ? cm_game_held_input(local->game, player) : NULL;
}

// One tick ------------------------------------------------------------------------------------

static void welcome(carom_local *local, cm_local_link *link)
{
    const carom_module *module = cm_game_module(local->game);
    uint32_t rate = carom_world_tick_rate(carom_game_world(local->game));
    size_t size = cm_game_encode_size(local->game);
    uint8_t *keyframe = cm_memory_take(&local->allocator, size);
    if (keyframe == NULL || size > CM_CONTROL_MAX_FROM_SERVER / 2) {
        cm_memory_give(&local->allocator, keyframe);
        cm_local_send_away(link, CAROM_REASON_SERVER_ERROR);
        return;
    }
    size = cm_game_encode(local->game, keyframe, size);
    const cm_control control = {.type = CM_CONTROL_WELCOME,
                                .player = link->player,
                                .client_id = link->player + 1u,
                                .epoch = 1,
                                .tick_rate = rate,
                                .view_rate = rate,
                                .input_rate = rate,
                                .module = module->name,
                                .module_version = module->version,
                                .module_abi = module->abi,
                                .module_source = module->source,
                                .seed = local->seed,
                                .scene = {local->packed, local->packed_size},
                                .keyframe = {keyframe, size},
                                .present = cm_game_players(local->game),
                                .durability = CAROM_DURABILITY_NONE,
                                .tick = carom_game_tick(local->game)};
    link->state = CM_LOCAL_PLAYS;
    cm_local_send(link, &control);
    cm_memory_give(&local->allocator, keyframe);
}

// Everybody is told the roster.
static void tell_players(carom_local *local)
{
    cm_control_player rows[CAROM_PLAYERS_MAX];
    cm_control control = {.type = CM_CONTROL_PLAYERS, .players = rows};
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        const cm_local_link *link = local->links[i];
        if (link != NULL && link->state == CM_LOCAL_PLAYS) {
            rows[control.player_count++] = (cm_control_player){
                .player = i, .name = link->name, .body = cm_game_player_body(local->game, i)};
        }
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        if (local->links[i] != NULL && local->links[i]->state == CM_LOCAL_PLAYS) {
            cm_local_send(local->links[i], &control);
        }
    }
}

// The joins and leaves of the tick are done. True where somebody came or went.
static bool answer(carom_local *local)
{
    bool changed = false;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        cm_local_link *link = local->links[i];
        bool is_in = link != NULL && link->state >= CM_LOCAL_JOINS && link->state < CM_LOCAL_GONE;
        if (!is_in || !cm_game_has_slot(local->game, i)) {
            continue;
        }
        uint64_t bit = UINT64_C(1) << i;
        bool refused = (cm_game_refused(local->game) & bit) != 0;
        bool kicked = (cm_game_kicked(local->game) & bit) != 0;
        if (link->state == CM_LOCAL_JOINS && !refused) {
            welcome(local, link);
            changed = true;
        }
        if (refused || kicked || link->state == CM_LOCAL_GONE) {
            const cm_local_parcel head = {.type = CM_EVENT_LEAVE, .player = i};
            (void)cm_local_put(&local->events, &local->allocator, &head, CM_LEAVE_REFUSED,
                               refused ? strlen(CM_LEAVE_REFUSED) : 0);
            cm_local_send_away(link, refused ? CAROM_REASON_GAME_REFUSED
                                             : cm_game_kick_reason(local->game, i));
            changed = true;
        }
    }
    return changed;
}

static void send_message(cm_local_link *link, const cm_game_message *message, uint64_t tick)
{
    if (message->unreliable) {
        uint8_t packet[CM_MESSAGE_PACKET];
        const cm_message_packet told = {
            .epoch = 1, .tick = (uint32_t)tick, .bytes = message->bytes, .size = message->size};
        const cm_local_parcel head = {.type = CM_TRANSPORT_RECEIVED, .kind = CM_SEND_PACKET};
        (void)cm_local_put(&link->inbox, &link->allocator, &head, packet,
                           cm_message_packet_write(CM_PACKET_TOLD, &told, packet)); // else lost
        return;
    }
    const cm_control control = {
        .type = CM_CONTROL_GAME_MESSAGE, .tick = tick, .payload = {message->bytes, message->size}};
    cm_local_send(link, &control);
    link->messages++;
}

static void send_messages(carom_local *local)
{
    uint8_t rows[CM_EVENTS_BYTES_MAX];
    uint32_t count, event_count;
    uint64_t tick = carom_game_tick(local->game);
    const cm_game_message *messages = cm_game_messages(local->game, &count);
    const carom_event *events = cm_game_events(local->game, &event_count);
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        cm_local_link *link = local->links[i];
        if (link == NULL || link->state != CM_LOCAL_PLAYS) {
            continue;
        }
        for (uint32_t k = 0; k < count; k++) {
            if (messages[k].player == i) {
                send_message(link, &messages[k], tick);
            }
        }
        if (event_count > 0) {
            const cm_control control = {
                .type = CM_CONTROL_EVENTS,
                .tick = tick,
                .payload = {rows, cm_events_write(events, event_count, rows)}};
            cm_local_send(link, &control);
            link->messages++;
            link->had_events = true;
        }
    }
}

static void send_view(carom_local *local, cm_local_link *link)
{
    cm_view_header header = {.epoch = 1,
                             .sequence = ++link->sequence,
                             .tick = (uint32_t)carom_game_tick(local->game),
                             .input_ack = (uint32_t)carom_game_tick(local->game),
                             .input_lead = CM_LEAD_UNKNOWN,
                             .has_messages = link->had_events,
                             .messages = link->messages};
    if (link->least_lead != INT32_MAX) {
        int32_t lead = link->least_lead;
        header.input_lead = (int16_t)(lead < -4096 ? -4096 : (lead > 4096 ? 4096 : lead));
        link->least_lead = INT32_MAX;
    }
    const cm_input_relay relay = {.tick = header.tick,
                                  .back = header.tick < RELAY_BACK ? header.tick : RELAY_BACK,
                                  .players =
                                      cm_game_players(local->game) & ~(UINT64_C(1) << link->player),
                                  .input_size = cm_game_input_size(local->game)};
    bool news;
    header.relay_size = (uint32_t)cm_input_relay_write(&relay, cm_local_input, local, header.relay,
                                                       sizeof header.relay, &news);
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
    size_t size = cm_view_writer_end(&writer);
    const cm_local_parcel head = {.type = CM_TRANSPORT_RECEIVED, .kind = CM_SEND_PACKET};
    (void)cm_local_put(&link->inbox, &link->allocator, &head, bytes, size); // else it is lost
    link->status.opened++;
}

static void confirm(carom_local *local, const cm_tick_input *input, uint64_t playing)
{
    const cm_confirmed_tick tick = {
        .tick = carom_game_tick(local->game), .hash = cm_game_hash(local->game), .input = *input};
    size_t size = cm_confirmed_size(&tick);
    uint8_t *bytes = cm_memory_take(&local->allocator, size);
    const cm_control control = {.type = CM_CONTROL_CONFIRMED, .payload = {bytes, size}};
    size = bytes != NULL ? cm_confirmed_write(&tick, bytes, size) : 0;
    for (; playing != 0; playing &= playing - 1) {
        cm_local_link *link = local->links[__builtin_ctzll(playing)];
        if (size == 0) {
            cm_local_send_away(link, CAROM_REASON_SERVER_ERROR);
        } else {
            cm_local_send(link, &control);
        }
    }
    cm_memory_give(&local->allocator, bytes);
}

// Events that wait, and inputs that are others than those held.
static void gather(carom_local *local, cm_tick_input *input, cm_game_event *events,
                   carom_player_input *inputs, cm_local_parcel **parcels)
{
    uint32_t bytes = 0;
    *input = (cm_tick_input){.events = events, .inputs = inputs};
    while (local->events.first != NULL && input->event_count < CM_LOCAL_EVENTS &&
           bytes < CM_CONTROL_TICKS_MAX / 2) {
        cm_local_parcel *parcel = cm_local_take(&local->events);
        bool joins = parcel->type == CM_EVENT_JOIN;
        cm_local_link *link = local->links[parcel->player];
        if (joins && link != NULL && link->state == CM_LOCAL_WAITS) {
            link->state = CM_LOCAL_JOINS;
        }
        parcels[input->event_count] = parcel;
        events[input->event_count++] = (cm_game_event){.type = parcel->type,
                                                       .player = parcel->player,
                                                       .client_id = joins ? parcel->player + 1u : 0,
                                                       .bytes = parcel->bytes,
                                                       .size = (uint32_t)parcel->size};
        bytes += (uint32_t)parcel->size;
    }
    uint64_t tick = carom_game_tick(local->game) + 1;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        const uint8_t *next =
            cm_game_player_present(local->game, i) ? cm_local_input(local, i, tick) : NULL;
        if (next != NULL &&
            memcmp(next, cm_game_held_input(local->game, i), CAROM_INPUT_MAX) != 0) {
            carom_player_input *changed = &inputs[input->input_count++];
            changed->player = i;
            memcpy(changed->bytes, next, sizeof changed->bytes);
        }
    }
}

static void step(carom_local *local)
{
    cm_tick_input input;
    cm_game_event events[CM_LOCAL_EVENTS];
    cm_local_parcel *parcels[CM_LOCAL_EVENTS];
    carom_player_input inputs[CAROM_PLAYERS_MAX];
    uint64_t playing = 0;
    gather(local, &input, events, inputs, parcels);
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        bool plays = local->links[i] != NULL && local->links[i]->state == CM_LOCAL_PLAYS;
        playing |= (uint64_t)plays << i;
    }
    cm_game_tick(local->game, &input);
    confirm(local, &input, playing);
    send_messages(local);
    if (answer(local) || input.event_count > 0) {
        tell_players(local);
    }
    for (uint32_t i = 0; i < input.event_count; i++) {
        cm_memory_give(&local->allocator, parcels[i]);
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        if (local->links[i] != NULL && local->links[i]->state == CM_LOCAL_PLAYS) {
            send_view(local, local->links[i]);
        }
    }
    local->closes = local->closes || cm_game_closes(local->game);
}

void cm_local_run(carom_local *local, uint64_t now_us)
{
    uint64_t rate = carom_world_tick_rate(carom_game_world(local->game));
    local->start_us = local->began ? local->start_us : now_us;
    local->began = true;
    local->now_us = now_us > local->now_us ? now_us : local->now_us;
    uint64_t due = (local->now_us - local->start_us) * rate / 1000000u;
    uint64_t tick = carom_game_tick(local->game);
    if (due > tick + CM_LOCAL_BURST) { // a breakpoint, a lid that was shut
        local->start_us += (due - tick - CM_LOCAL_BURST) * 1000000u / rate;
        due = tick + CM_LOCAL_BURST;
    }
    for (; tick < due && !local->closes; tick++) {
        step(local);
    }
    for (uint32_t i = 0; local->closes && i < CAROM_PLAYERS_MAX; i++) {
        if (local->links[i] != NULL) {
            cm_local_send_away(local->links[i], CAROM_REASON_ROOM_ENDED);
        }
    }
}
