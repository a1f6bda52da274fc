// Messages and packets that a hostile server would make: well-formed as far as a field is not the
// one that lies.
#include <stdlib.h>
#include <string.h>

#include "client-sdk/src/state.h"
#include "shared/base/memory.h"
#include "shared/wire/events.h"
#include "shared/wire/input_relay.h"
#include "shared/wire/message_packet.h"
#include "tests/hostile/hostile.h"

#define BODIES  40u    // of a view, at most
#define SPAWNED 4u     // of a change
#define BODY    4096u  // bytes
#define FRAME   16384u // bytes
#define PARTS   8u     // of a keyframe that is none

static const hostile_bytes none = {NULL, 0};

static uint32_t below(hostile *h, uint32_t bound)
{
    return cm_rng_below(&h->rng, bound);
}

static void fill(hostile *h, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)cm_rng_next(&h->rng);
    }
}

static float odd_float(hostile *h, bool finite)
{
    uint32_t bits = (uint32_t)hostile_number(&h->rng);
    bits = finite && (bits & 0x7f800000u) == 0x7f800000u ? bits ^ 0x01000000u : bits;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// One draw a statement: C does not say in which order a list's values are found.
static carom_vec3 odd_vec(hostile *h)
{
    carom_vec3 v;
    v.x = odd_float(h, true);
    v.y = odd_float(h, true);
    v.z = odd_float(h, true);
    return v;
}

// Views ---------------------------------------------------------------------------------------

static void odd_body(hostile *h, const cm_view_config *config, cm_view_body *body)
{
    memset(body, 0, sizeof *body);
    body->at_rest = below(h, 4) == 0;
    body->has_velocity = !body->at_rest && below(h, 2);
    body->largest = below(h, 4);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t bits = config->position_bits[i];
        body->position[i] = bits > 0 ? (uint32_t)cm_rng_next(&h->rng) >> (32 - bits) : 0;
        body->orientation[i] = below(h, 1u << CM_VIEW_ORIENTATION_BITS);
        if (body->has_velocity) {
            body->linear[i] = (int32_t)below(h, 1u << 16) - (1 << 15);
            body->angular[i] = (int32_t)below(h, 1u << 15) - (1 << 14);
        }
    }
}

static void put_entries(hostile *h, const cm_mirror *mirror, cm_view_writer *writer)
{
    uint32_t index = below(h, 4);
    for (uint32_t n = below(h, BODIES); n > 0; n--) {
        cm_view_entry entry = {.index = index, .generation = 1};
        bool told = index < mirror->slots && mirror->bodies[index].known && below(h, 2) == 0;
        entry.generation = index < mirror->slots
                               ? carom_world_body_at(mirror->world, index).generation
                               : below(h, 4);
        if (told) {
            entry.body = mirror->bodies[index].body;
        } else {
            odd_body(h, &mirror->config, &entry.body);
        }
        entry.baseline_age = below(h, 16) == 0 ? below(h, CM_BASELINE_AGE_MAX + 1) : 0;
        (void)cm_view_writer_put(writer, &entry,
                                 cm_view_encode(&mirror->config, NULL, &entry.body));
        index += 1 + (below(h, 8) == 0 ? below(h, 4000) : below(h, 3));
    }
    if (writer->has_drives) {
        cm_view_entry entry = {.index = CM_VIEW_DRIVES + below(h, 3), .generation = 1};
        entry.body.has_velocity = 1;
        for (uint32_t i = 0; i < CM_VIEW_DRIVE_WORDS; i++) {
            entry.body.drive[i] = (uint32_t)hostile_number(&h->rng);
        }
        (void)cm_view_writer_put(writer, &entry, cm_view_drive_encode(NULL, &entry.body));
    }
}

static const uint8_t *odd_input(void *context, uint32_t player, uint64_t tick)
{
    static uint8_t input[CAROM_INPUT_MAX];
    hostile *h = context;
    (void)player;
    if (below(h, 8) == 0) {
        fill(h, input, sizeof input);
    }
    for (uint32_t i = 0; i < 2; i++) {
        float value = odd_float(h, false);
        memcpy(input + 4 * i, &value, sizeof value);
    }
    return below(h, 64) == 0 || tick == 0 ? NULL : input;
}

static void put_relay(hostile *h, const cm_mirror *mirror, cm_view_header *header)
{
    uint64_t players = UINT64_C(1) << below(h, 4);
    players |= below(h, 4) == 0 ? cm_rng_next(&h->rng) : 0;
    cm_input_relay relay = {
        .tick = header->tick, .players = players, .input_size = cm_game_input_size(mirror->game)};
    relay.back = below(h, 12);
    relay.based = cm_rng_next(&h->rng) & players;
    bool news;
    relay.back = relay.back <= header->tick ? relay.back : header->tick;
    header->relay_size = (uint32_t)cm_input_relay_write(&relay, odd_input, h, header->relay,
                                                        sizeof header->relay, &news);
    if (header->relay_size > 0 && below(h, 4) == 0) {
        uint32_t at = below(h, header->relay_size);
        header->relay[at] ^= (uint8_t)(1u << below(h, 8));
    }
}

static void odd_header(hostile *h, cm_view_header *header)
{
    switch (below(h, 10)) {
    case 0:
        header->sequence = (uint16_t)hostile_number(&h->rng);
        break;
    case 1:
        header->tick = below(h, 8) == 0 ? (uint32_t)hostile_number(&h->rng)
                                        : header->tick + below(h, 2000) - 1000;
        break;
    case 2:
        header->input_ack = (uint32_t)hostile_number(&h->rng);
        break;
    case 3:
        header->input_lead = (int16_t)hostile_number(&h->rng);
        break;
    case 4:
        header->has_public = true;
        header->public_number = (uint8_t)cm_rng_next(&h->rng);
        header->public_back = below(h, 2) == 0 ? 0 : (uint8_t)below(h, CM_STATES_KEPT);
        header->public_size = below(h, 2) == 0 ? 512 : below(h, CAROM_MODULE_PUBLIC_MAX + 1);
        header->present = cm_rng_next(&h->rng);
        fill(h, header->public_state, header->public_size);
        break;
    case 5:
        header->has_wrench = true;
        header->force = odd_vec(h);
        header->torque = odd_vec(h);
        break;
    case 6:
        header->has_durable = true;
        header->durable_age = (uint16_t)below(h, header->tick < 65536 ? header->tick + 1 : 65536);
        break;
    case 7:
        header->has_messages = true;
        header->messages = (uint16_t)hostile_number(&h->rng);
        break;
    case 8:
        header->public_unsure = true;
        break;
    default:
        header->epoch = (uint8_t)cm_rng_next(&h->rng);
        break;
    }
}

// A message of the module that need not arrive.
static hostile_bytes forge_told(hostile *h, const cm_mirror *mirror)
{
    uint8_t text[CM_MESSAGE_PACKET_MAX], packet[CM_MESSAGE_PACKET];
    cm_message_packet told = {.epoch = mirror->epoch, .bytes = text};
    told.tick = (uint32_t)mirror->newest_tick + below(h, 3);
    told.tick = below(h, 4) == 0 ? (uint32_t)hostile_number(&h->rng) : told.tick;
    told.size = below(h, sizeof text + 1);
    fill(h, text, told.size);
    size_t size = cm_message_packet_write(CM_PACKET_TOLD, &told, packet);
    return hostile_copy(packet, size - (below(h, 8) == 0 ? below(h, 8) : 0));
}

static hostile_bytes forge_view(hostile *h, bool relay)
{
    const cm_mirror *mirror = h->client->mirror;
    if (mirror == NULL) {
        return none;
    }
    if (!relay && below(h, 16) == 0) {
        return forge_told(h, mirror);
    }
    cm_view_header header = {.epoch = mirror->epoch, .input_ack = (uint32_t)h->client->input_tick};
    header.sequence = (uint16_t)(mirror->ack_sequence + 1 + below(h, 3));
    header.tick = (uint32_t)mirror->newest_tick + below(h, 3);
    header.input_lead = (int16_t)(below(h, 64) - 16);
    header.has_drives = below(h, 4) == 0;
    if (relay) {
        put_relay(h, mirror, &header);
    }
    if (!relay || below(h, 8) == 0) {
        odd_header(h, &header);
    }
    uint8_t bytes[CM_PACKET_MAX];
    cm_view_writer writer;
    cm_view_writer_begin(&writer, &header, bytes, sizeof bytes);
    if (!mirror->exact || below(h, 8) == 0) {
        put_entries(h, mirror, &writer);
    }
    size_t size = cm_view_writer_end(&writer);
    return size > 0 ? hostile_copy(bytes, size) : none;
}

// Messages ------------------------------------------------------------------------------------

// What a message points to.
typedef struct said {
    cm_control control;
    uint8_t bytes[65536], bodies[SPAWNED][BODY];
    char text[CM_CONTROL_TEXT_MAX + 1];
    cm_bytes spawned[SPAWNED];
    carom_body_id gone[SPAWNED];
    cm_control_player players[CAROM_PLAYERS_MAX];
    cm_control_room rooms[CM_CONTROL_ROOMS_MAX];
    carom_event events[CAROM_EVENTS_MAX];
} said;

static uint64_t sometimes(hostile *h, uint64_t value)
{
    return below(h, 4) == 0 ? hostile_number(&h->rng) : value;
}

static cm_bytes damaged(hostile *h, uint8_t *bytes, size_t size)
{
    for (uint32_t n = size > 0 ? below(h, 4) : 0; n > 0; n--) {
        uint8_t byte = (uint8_t)cm_rng_next(&h->rng);
        bytes[below(h, (uint32_t)size)] = byte;
    }
    for (uint32_t n = size >= 4 ? below(h, 2) : 0; n > 0; n--) {
        uint32_t number = (uint32_t)hostile_number(&h->rng);
        memcpy(bytes + below(h, (uint32_t)size / 4) * 4, &number, sizeof number);
    }
    return (cm_bytes){bytes, below(h, 16) == 0 && size > 0 ? below(h, (uint32_t)size) : size};
}

static void say_change(hostile *h, said *s, const cm_mirror *mirror)
{
    cm_control *c = &s->control;
    const carom_world *world = cm_room_world(cm_hosted_room_room(cm_worker_room_at(h->worker, 0)));
    uint32_t slots = carom_world_body_slots(world);
    c->spawned = s->spawned;
    c->gone = s->gone;
    c->tick = sometimes(h, mirror != NULL ? mirror->newest_tick : 9);
    for (uint32_t i = below(h, SPAWNED); i > 0; i--) {
        carom_body_id id = carom_world_body_at(world, below(h, slots));
        size_t size = carom_world_encode_body(world, id, s->bodies[c->spawned_count], BODY);
        if (size > 0) {
            s->spawned[c->spawned_count] = damaged(h, s->bodies[c->spawned_count], size);
            c->spawned_count++;
        }
    }
    for (uint32_t i = below(h, SPAWNED); i > 0; i--) {
        carom_body_id id = carom_world_body_at(world, below(h, slots));
        id.generation += below(h, 4) == 0;
        s->gone[c->gone_count++] = id;
    }
    if (below(h, 2) == 0) {
        const uint32_t joints[2] = {0, 1 + below(h, 3)};
        size_t size = carom_world_encode_settings(world, joints, 2, s->bytes, FRAME);
        c->frame = damaged(h, s->bytes, size);
    }
}

static void say_players(hostile *h, said *s)
{
    cm_control *c = &s->control;
    c->players = s->players;
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        if (below(h, 8) == 0) {
            cm_control_player *row = &s->players[c->player_count++];
            row->player = i;
            row->name = below(h, 8) == 0 ? s->text : "somebody";
            row->body.index = (uint32_t)sometimes(h, i);
            row->body.generation = (uint32_t)sometimes(h, 1);
            row->rtt_ms = (uint32_t)sometimes(h, 20);
            row->away = below(h, 2) == 0;
        }
    }
}

static void say_rooms(hostile *h, said *s)
{
    cm_control *c = &s->control;
    c->rooms = s->rooms;
    c->room_count = below(h, below(h, 8) == 0 ? CM_CONTROL_ROOMS_MAX : 4);
    c->first = below(h, 3);
    c->first = (uint32_t)sometimes(h, c->first);
    c->total = (uint32_t)sometimes(h, c->first + c->room_count);
    for (uint32_t i = 0; i < c->room_count; i++) {
        cm_control_room *row = &s->rooms[i];
        *row = (cm_control_room){.scene = "scene", .module = "sandbox"};
        row->name = below(h, 8) == 0 ? s->text : "room";
        row->players = (uint32_t)sometimes(h, 3);
        row->max_players = (uint32_t)sometimes(h, 8);
        row->port = (uint16_t)sometimes(h, HOSTILE_PORT);
    }
}

static void say_events(hostile *h, said *s)
{
    cm_control *c = &s->control;
    uint32_t count = 1 + below(h, below(h, 4) == 0 ? CAROM_EVENTS_MAX : 3);
    for (uint32_t i = 0; i < count; i++) {
        s->events[i] = (carom_event){.tick = c->tick, .key = i};
        s->events[i].kind = (uint32_t)sometimes(h, 1);
        s->events[i].subjects[0] = sometimes(h, 1);
        s->events[i].subjects[1] = sometimes(h, 2);
        s->events[i].size = below(h, CAROM_EVENT_BYTES_MAX + 1);
        fill(h, s->events[i].bytes, s->events[i].size);
    }
    size_t size = cm_events_write(s->events, count, s->bytes);
    c->payload = below(h, 2) == 0 ? damaged(h, s->bytes, size) : (cm_bytes){s->bytes, size};
}

static void say(hostile *h, said *s, cm_control_type type)
{
    const cm_mirror *mirror = h->client->mirror;
    cm_control *c = &s->control;
    memset(s, 0, offsetof(said, bytes));
    c->type = type;
    c->tick = sometimes(h, mirror != NULL ? mirror->newest_tick : 9);
    c->reason = (carom_reason)below(h, CAROM_REASON_COUNT);
    c->reason = (carom_reason)sometimes(h, c->reason);
    c->seconds_left = (uint32_t)sometimes(h, 5);
    memset(s->text, 'x', sizeof s->text - 1);
    uint32_t end = below(h, sizeof s->text - 1);
    s->text[end] = below(h, 4) == 0 ? '\n' : '\0';
    c->text = below(h, 2) == 0 ? s->text : NULL;
    switch (type) {
    case CM_CONTROL_REFUSED:
        c->port = below(h, 2) == 0 ? HOSTILE_PORT : 0;
        c->port = (uint32_t)sometimes(h, c->port);
        c->reason = below(h, 2) == 0 ? CAROM_REASON_ELSEWHERE : c->reason;
        break;
    case CM_CONTROL_WORLD_CHANGE:
        say_change(h, s, mirror);
        break;
    case CM_CONTROL_GAME_MESSAGE:
    case CM_CONTROL_KEYFRAME_PART:
        c->payload = (cm_bytes){s->bytes, below(h, below(h, 8) == 0 ? sizeof s->bytes : 1024)};
        break;
    case CM_CONTROL_ROOM_CLOCK:
        c->rate_permille = (uint32_t)sometimes(h, 1 + below(h, 1000));
        break;
    case CM_CONTROL_PLAYERS:
        say_players(h, s);
        break;
    case CM_CONTROL_DURABILITY:
        c->durability = (carom_durability)(below(h, CAROM_DURABILITY_COUNT + 1));
        break;
    case CM_CONTROL_EVENTS:
        say_events(h, s);
        break;
    case CM_CONTROL_ROOMS:
        say_rooms(h, s);
        break;
    default:
        c->text = c->text != NULL ? c->text : "";
        break;
    }
}

static hostile_bytes encoded(const cm_control *control)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (cm_control_encode(control, &cm_by_malloc, &bytes, &size) != CAROM_OK) {
        return none;
    }
    hostile_bytes exact = hostile_copy(bytes, size);
    cm_control_release_bytes(&cm_by_malloc, bytes);
    return exact;
}

static hostile_bytes forge_fields(hostile *h)
{
    static const uint8_t types[] = {
        CM_CONTROL_WORLD_CHANGE, CM_CONTROL_WORLD_CHANGE,  CM_CONTROL_WORLD_CHANGE,
        CM_CONTROL_GAME_MESSAGE, CM_CONTROL_ROOM_CLOCK,    CM_CONTROL_PLAYERS,
        CM_CONTROL_DURABILITY,   CM_CONTROL_EVENTS,        CM_CONTROL_EVENTS,
        CM_CONTROL_ROOMS,        CM_CONTROL_KEYFRAME_PART, CM_CONTROL_NOTICE,
        CM_CONTROL_REFUSED,      CM_CONTROL_GOODBYE};
    static said s;
    say(h, &s, (cm_control_type)types[below(h, sizeof types)]);
    return encoded(&s.control);
}

static hostile_bytes forge_bytes(hostile *h)
{
    uint32_t type = below(h, HOSTILE_CONTROLS);
    hostile_bytes sound = none;
    if (h->kept_count[type] > 0 && below(h, 2) == 0) {
        uint32_t most = h->kept_count[type] < HOSTILE_KEPT ? h->kept_count[type] : HOSTILE_KEPT;
        return hostile_change(&h->rng, h->kept[type][below(h, most)]);
    }
    sound = forge_fields(h);
    if (sound.data == NULL) {
        return none;
    }
    hostile_bytes changed = hostile_change(&h->rng, sound);
    hostile_release(&sound);
    return changed;
}

// Welcomes ------------------------------------------------------------------------------------

static void odd_numbers(hostile *h, cm_control *c)
{
    uint32_t *const numbers[] = {&c->player,     &c->tick_rate,      &c->view_rate,
                                 &c->input_rate, &c->rewind_ms,      &c->module_abi,
                                 &c->grace_ms,   &c->module_version, &c->keyframe_size};
    uint64_t *const large[] = {&c->client_id,    &c->seed,         &c->present,
                               &c->messages,     &c->messages_had, &c->messages_before,
                               &c->durable_tick, &c->tick};
    if (below(h, 2) == 0) {
        uint32_t number = (uint32_t)hostile_number(&h->rng);
        *numbers[below(h, sizeof numbers / sizeof numbers[0])] = number;
    } else {
        uint64_t number = hostile_number(&h->rng);
        *large[below(h, sizeof large / sizeof large[0])] = number;
    }
    if (below(h, 4) == 0) {
        c->durability = (carom_durability)below(h, CAROM_DURABILITY_COUNT);
    }
}

// Its keyframe comes in parts, as a large one does: the rest of it is rubbish.
static hostile_bytes split(hostile *h, cm_control *welcome)
{
    size_t part = CM_CONTROL_PART_SIZE;
    size_t size = welcome->keyframe.size > part ? welcome->keyframe.size
                                                : part + 1 + below(h, (uint32_t)part);
    uint8_t *whole = calloc(1, size);
    memcpy(whole, welcome->keyframe.data, welcome->keyframe.size);
    welcome->keyframe = (cm_bytes){NULL, 0};
    welcome->keyframe_size = (uint32_t)sometimes(h, size);
    hostile_bytes first = encoded(welcome);
    h->queued = h->taken = 0;
    for (size_t at = 0; first.data != NULL && at < size && h->queued < PARTS; at += part) {
        size_t wide = size - at < part ? size - at : part;
        wide = below(h, 16) == 0 ? 1 + below(h, (uint32_t)part) : wide;
        wide = wide < size - at ? wide : size - at;
        const cm_control one = {.type = CM_CONTROL_KEYFRAME_PART, .payload = {whole + at, wide}};
        hostile_bytes bytes = encoded(&one);
        if (below(h, 4) == 0) { // between them something else
            hostile_release(&bytes);
            bytes = forge_fields(h);
        }
        if (bytes.data != NULL) {
            h->queue[h->queued++] = bytes;
        }
    }
    free(whole);
    return first;
}

static hostile_bytes forge_welcome(hostile *h)
{
    uint32_t count = h->kept_count[CM_CONTROL_WELCOME];
    cm_control *decoded = NULL;
    if (count == 0 || h->taken < h->queued) {
        return none;
    }
    count = count < HOSTILE_KEPT ? count : HOSTILE_KEPT;
    hostile_bytes sound = h->kept[CM_CONTROL_WELCOME][below(h, count)];
    if (cm_control_decode(sound.data, sound.size, false, NULL, &decoded) != CAROM_OK) {
        return none;
    }
    cm_control welcome = *decoded;
    hostile_bytes scene = hostile_copy(welcome.scene.data, welcome.scene.size);
    hostile_bytes keyframe = hostile_copy(welcome.keyframe.data, welcome.keyframe.size);
    welcome.epoch = (uint8_t)cm_rng_next(&h->rng);
    uint32_t what = below(h, 16);
    if (what < 3) {
        hostile_bytes changed = hostile_change(&h->rng, scene);
        hostile_release(&scene);
        scene = changed;
    } else if (what < 11) {
        for (uint32_t n = 1 + below(h, 2); n > 0; n--) {
            hostile_bytes changed = hostile_change(&h->rng, keyframe);
            hostile_release(&keyframe);
            keyframe = changed;
        }
    } else if (what < 15) {
        odd_numbers(h, &welcome);
    } // else it is sound, and another epoch
    welcome.scene = (cm_bytes){scene.data, scene.size};
    welcome.keyframe = (cm_bytes){keyframe.data, keyframe.size};
    bool parts =
        welcome.keyframe_size == 0 && below(h, keyframe.size > CM_CONTROL_PART_SIZE ? 1 : 64) == 0;
    hostile_bytes bytes = parts ? split(h, &welcome) : encoded(&welcome);
    cm_control_free(NULL, decoded);
    hostile_release(&scene);
    hostile_release(&keyframe);
    return bytes;
}

// Confirmed ticks -----------------------------------------------------------------------------

static hostile_bytes forge_confirmed(hostile *h)
{
    static const uint8_t text[CAROM_MESSAGE_MAX] = "x";
    const cm_mirror *mirror = h->client->mirror;
    if (mirror == NULL) {
        return none;
    }
    cm_game_event events[4];
    carom_player_input inputs[8];
    cm_confirmed_tick tick = {.tick = carom_game_tick(mirror->game) + 1,
                              .hash = cm_rng_next(&h->rng),
                              .input = {.events = events, .inputs = inputs}};
    for (uint32_t n = below(h, 4); n > 0; n--) {
        uint32_t type = 1 + below(h, 4), most = cm_confirmed_payload_max(type);
        cm_game_event *event = &events[tick.input.event_count++];
        *event = (cm_game_event){.type = type, .bytes = text};
        event->player = below(h, below(h, 2) == 0 ? 4 : CAROM_PLAYERS_MAX);
        event->client_id = type == CM_EVENT_JOIN ? cm_rng_next(&h->rng) : 0;
        event->size = most > 0 && most <= sizeof text ? below(h, most + 1) : 0;
    }
    for (uint32_t player = below(h, 3); player < CAROM_PLAYERS_MAX && below(h, 3) != 0;) {
        carom_player_input *input = &inputs[tick.input.input_count++];
        input->player = player;
        const uint8_t *odd = odd_input(h, 0, 1);
        memcpy(input->bytes, odd != NULL ? odd : text, CAROM_INPUT_MAX);
        player += 1 + below(h, below(h, 4) == 0 ? 20 : 2);
        if (tick.input.input_count == 8) {
            break;
        }
    }
    if (below(h, 16) == 0) {
        tick.tick = hostile_number(&h->rng);
    }
    if (!cm_confirmed_fits(&tick)) {
        return none;
    }
    hostile_bytes bytes = {malloc(cm_confirmed_size(&tick)), cm_confirmed_size(&tick)};
    bytes.size = cm_confirmed_write(&tick, bytes.data, bytes.size);
    const cm_control control = {.type = CM_CONTROL_CONFIRMED, .payload = {bytes.data, bytes.size}};
    hostile_bytes message = encoded(&control);
    hostile_release(&bytes);
    return message;
}

static hostile_bytes again(hostile *h, bool *control)
{
    uint32_t type = below(h, HOSTILE_CONTROLS), most = HOSTILE_KEPT;
    *control = below(h, 2) == 0 && h->kept_count[type] > 0;
    if (*control) {
        most = h->kept_count[type] < most ? h->kept_count[type] : most;
        hostile_bytes one = h->kept[type][below(h, most)];
        return hostile_copy(one.data, one.size);
    }
    most = h->view_count < most ? h->view_count : most;
    hostile_bytes one = most > 0 ? h->views[below(h, most)] : none;
    return most > 0 ? hostile_copy(one.data, one.size) : none;
}

hostile_bytes hostile_forge(hostile *h, hostile_kind kind, bool *control)
{
    uint32_t views = h->view_count < HOSTILE_KEPT ? h->view_count : HOSTILE_KEPT;
    *control = kind >= HOSTILE_CONTROL_BYTES;
    switch (kind) {
    case HOSTILE_VIEW_BYTES:
        return views > 0 ? hostile_change(&h->rng, h->views[below(h, views)]) : none;
    case HOSTILE_VIEW_FIELDS:
        return forge_view(h, false);
    case HOSTILE_VIEW_RELAY:
        return forge_view(h, true);
    case HOSTILE_CONTROL_BYTES:
        return forge_bytes(h);
    case HOSTILE_CONTROL_FIELDS:
        return forge_fields(h);
    case HOSTILE_WELCOME:
        return forge_welcome(h);
    case HOSTILE_CONFIRMED:
        return forge_confirmed(h);
    case HOSTILE_REPLAY:
        return again(h, control);
    default:
        return none;
    }
}
