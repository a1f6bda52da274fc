// The mirror of the room: views in, newest values and baselines kept.
//
// A packet's delta may refer to any of the 127 packets before it, so each is kept with just the
// bodies that it held: typically 25 of 68 bytes, 400 KiB in all; memory once grown is kept.
// Packets come in any order. A value older than the one known is stored for baselines, and changes
// nothing else.
#include "client-sdk/src/mirror.h"

#include <string.h>

#include "shared/base/memory.h"
#include "shared/wire/input_delta.h"

static const carom_module *find_module(const cm_control *welcome, const carom_module *extra)
{
    const carom_module *module = NULL;
    if (extra != NULL && strcmp(extra->name, welcome->module) == 0) {
        module = extra;
    } else {
        module = cm_module_find(welcome->module);
    }
    const char *source = welcome->module_source != NULL ? welcome->module_source : "";
    bool agrees =
        module != NULL && cm_module_agrees(module, welcome->module, welcome->module_version,
                                           welcome->module_abi, source);
    return agrees ? module : NULL;
}

static bool numbers_are_valid(const cm_control *welcome)
{
    bool player = welcome->player < CAROM_PLAYERS_MAX || welcome->player == CM_CONTROL_SPECTATOR;
    return player && welcome->tick_rate >= 1 && welcome->tick_rate <= 1000 &&
           welcome->view_rate >= 1 && welcome->view_rate <= 1000 && welcome->input_rate >= 1 &&
           welcome->input_rate <= 1000 && welcome->tick <= UINT32_MAX && welcome->module != NULL;
}

static carom_reason build_game(cm_mirror *mirror, const cm_control *welcome)
{
    cm_scene_error error;
    if (cm_scene_unpack(welcome->scene.data, welcome->scene.size, mirror->allocator, &mirror->scene,
                        &error) != CAROM_OK) {
        return CAROM_REASON_SCENE_REFUSED;
    }
    if (cm_game_create(mirror->scene, mirror->module, welcome->seed, mirror->allocator,
                       &mirror->game) != CAROM_OK) {
        return CAROM_REASON_SCENE_REFUSED;
    }
    if (cm_game_decode(mirror->game, welcome->keyframe.data, welcome->keyframe.size) != CAROM_OK) {
        return CAROM_REASON_MALFORMED;
    }
    mirror->world = carom_game_world(mirror->game);
    cm_scene_replication replication;
    cm_scene_replication_get(mirror->scene, &replication);
    mirror->exact = mirror->exact || replication.sync_inputs;
    carom_vec3 lower, upper;
    cm_scene_bounds(mirror->scene, &lower, &upper);
    if (cm_view_config_make(lower, upper, replication.position_step, &mirror->config) != CAROM_OK) {
        return CAROM_REASON_SCENE_REFUSED;
    }
    if (carom_world_tick_rate(mirror->world) != welcome->tick_rate) {
        return CAROM_REASON_MALFORMED;
    }
    return CAROM_REASON_NONE;
}

static carom_reason build(cm_mirror *mirror, const cm_control *welcome, const carom_module *extra)
{
    if (!numbers_are_valid(welcome)) {
        return CAROM_REASON_MALFORMED;
    }
    mirror->module = find_module(welcome, extra);
    if (mirror->module == NULL) {
        return CAROM_REASON_MODULE_UNKNOWN;
    }
    carom_reason reason = build_game(mirror, welcome);
    if (reason != CAROM_REASON_NONE) {
        return reason;
    }
    mirror->player = welcome->player;
    mirror->epoch = welcome->epoch;
    mirror->tick_rate = welcome->tick_rate;
    mirror->view_rate = welcome->view_rate;
    mirror->input_rate = welcome->input_rate;
    mirror->keyframe_tick = mirror->public_tick = welcome->tick;
    mirror->newest_tick = welcome->tick;
    mirror->durability = welcome->durability;
    mirror->durable_tick = welcome->durable_tick;
    mirror->slots = carom_world_limits(mirror->world).bodies;
    mirror->bodies = cm_memory_take(mirror->allocator, mirror->slots * sizeof *mirror->bodies);
    mirror->joints = carom_world_limits(mirror->world).joints;
    size_t joints = mirror->joints > 0 ? mirror->joints : 1;
    mirror->drive_ticks = cm_memory_take(mirror->allocator, joints * sizeof *mirror->drive_ticks);
    mirror->changed = cm_memory_take(mirror->allocator, mirror->slots * sizeof *mirror->changed);
    mirror->state_bytes = cm_memory_take(mirror->allocator,
                                         (size_t)CM_STATES_KEPT * mirror->module->public_size + 1u);
    mirror->entries =
        cm_memory_take(mirror->allocator, CM_VIEW_ENTRIES_MAX * sizeof *mirror->entries);
    if (mirror->bodies == NULL || mirror->drive_ticks == NULL || mirror->changed == NULL ||
        mirror->entries == NULL || mirror->state_bytes == NULL) {
        return CAROM_REASON_SCENE_REFUSED;
    }
    if (mirror->exact) { // nothing but the keyframe says what is
        return carom_game_tick(mirror->game) == welcome->tick ? CAROM_REASON_NONE
                                                              : CAROM_REASON_MALFORMED;
    }
    uint32_t size;
    const uint8_t *state = cm_game_public(mirror->game, &size);
    cm_game_set_public(mirror->game, state, size, welcome->present);
    cm_game_set_tick(mirror->game, welcome->tick);
    return CAROM_REASON_NONE;
}

carom_reason cm_mirror_create(const carom_allocator *allocator, const cm_control *welcome,
                              const carom_module *module, bool exact, cm_mirror **out)
{
    *out = NULL;
    cm_mirror *mirror = cm_memory_take(allocator, sizeof *mirror);
    if (mirror == NULL) {
        return CAROM_REASON_SCENE_REFUSED;
    }
    mirror->allocator = allocator;
    mirror->exact = exact;
    carom_reason reason = build(mirror, welcome, module);
    if (reason != CAROM_REASON_NONE) {
        cm_mirror_destroy(mirror);
        return reason;
    }
    *out = mirror;
    return CAROM_REASON_NONE;
}

void cm_mirror_destroy(cm_mirror *mirror)
{
    if (mirror == NULL) {
        return;
    }
    const carom_allocator *allocator = mirror->allocator;
    for (uint32_t i = 0; i < CM_MIRROR_PACKETS; i++) {
        cm_memory_give(allocator, mirror->packets[i].entries);
    }
    if (mirror->game != NULL) {
        cm_game_destroy(mirror->game);
    }
    if (mirror->scene != NULL) {
        cm_scene_free(mirror->scene);
    }
    cm_memory_give(allocator, mirror->bodies);
    cm_memory_give(allocator, mirror->drive_ticks);
    cm_memory_give(allocator, mirror->changed);
    cm_memory_give(allocator, mirror->state_bytes);
    cm_memory_give(allocator, mirror->entries);
    cm_memory_give(allocator, mirror);
}

// Baselines ----------------------------------------------------------------------------------

static const cm_view_body *find_baseline(void *context, uint32_t index, uint16_t sequence)
{
    const cm_mirror *mirror = context;
    const cm_stored_packet *packet = &mirror->packets[sequence % CM_MIRROR_PACKETS];
    if (!packet->used || packet->sequence != sequence) {
        return NULL;
    }
    uint32_t low = 0, high = packet->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (packet->entries[middle].index < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < packet->count && packet->entries[low].index == index;
    return found ? &packet->entries[low].body : NULL;
}

static bool store(cm_mirror *mirror, const cm_view_header *header, uint32_t count)
{
    cm_stored_packet *packet = &mirror->packets[header->sequence % CM_MIRROR_PACKETS];
    if (packet->capacity < count) {
        uint32_t capacity = 32;
        while (capacity < count) {
            capacity *= 2;
        }
        cm_stored_entry *entries = cm_memory_take(mirror->allocator, capacity * sizeof *entries);
        if (entries == NULL) {
            return false;
        }
        cm_memory_give(mirror->allocator, packet->entries);
        packet->entries = entries;
        packet->capacity = capacity;
    }
    packet->used = true;
    packet->sequence = header->sequence;
    packet->tick = header->tick;
    packet->count = count;
    for (uint32_t i = 0; i < count; i++) {
        packet->entries[i].index = mirror->entries[i].index;
        packet->entries[i].generation = mirror->entries[i].generation & 3u;
        packet->entries[i].body = mirror->entries[i].body;
    }
    return true;
}

// Acks ---------------------------------------------------------------------------------------

static bool received_before(const cm_mirror *mirror, uint16_t sequence)
{
    const cm_stored_packet *packet = &mirror->packets[sequence % CM_MIRROR_PACKETS];
    return packet->used && packet->sequence == sequence;
}

static bool too_old(const cm_mirror *mirror, uint16_t sequence)
{
    return mirror->has_ack && !cm_sequence_newer(sequence, mirror->ack_sequence) &&
           (uint16_t)(mirror->ack_sequence - sequence) > CM_BASELINE_AGE_MAX;
}

static void acknowledge(cm_mirror *mirror, uint16_t sequence)
{
    mirror->received++;
    if (!mirror->has_ack) {
        mirror->has_ack = true;
        mirror->ack_sequence = sequence;
        mirror->ack_bits = 0;
        mirror->lost = sequence > 1 ? sequence - 1u : 0u; // until they turn up
        return;
    }
    if (cm_sequence_newer(sequence, mirror->ack_sequence)) {
        uint32_t shift = (uint16_t)(sequence - mirror->ack_sequence);
        mirror->lost += shift - 1;
        uint64_t bits = ((uint64_t)mirror->ack_bits << 1 | 1u) << (shift < 33 ? shift - 1 : 33);
        mirror->ack_bits = shift < 33 ? (uint32_t)bits : 0;
        mirror->ack_sequence = sequence;
        return;
    }
    if (mirror->lost > 0) {
        mirror->lost--; // it was only late
    }
    uint32_t back = (uint16_t)(mirror->ack_sequence - sequence);
    if (back >= 1 && back <= 32) {
        mirror->ack_bits |= 1u << (back - 1);
    }
}

void cm_mirror_ack(const cm_mirror *mirror, cm_input_packet *packet)
{
    packet->epoch = mirror->epoch;
    packet->has_ack = mirror->has_ack;
    packet->ack_sequence = mirror->ack_sequence;
    packet->ack_bits = mirror->ack_bits;
}

// Values -------------------------------------------------------------------------------------

// The joint is the one that was told of, and no newer view told of it.
static void apply_drive(cm_mirror *mirror, uint32_t slot, uint32_t generation,
                        const cm_view_body *drive, uint32_t tick)
{
    if (slot >= mirror->joints || tick < mirror->drive_ticks[slot]) {
        return;
    }
    carom_joint_id id = carom_world_joint_at(mirror->world, slot);
    carom_joint_drives drives = cm_view_drive_get(drive);
    // A drive that no joint of its type may have is passed over, as that of a joint not yet here.
    if ((id.generation & 3u) == (generation & 3u) &&
        carom_joint_put_drives(mirror->world, id, &drives) == CAROM_OK) {
        mirror->drive_ticks[slot] = tick;
    }
}

static void apply(cm_mirror *mirror, uint32_t index, uint32_t generation, const cm_view_body *body,
                  uint32_t tick)
{
    if (index >= CM_VIEW_DRIVES) {
        apply_drive(mirror, index - CM_VIEW_DRIVES, generation, body, tick);
        return;
    }
    if (index >= mirror->slots) {
        return;
    }
    carom_body_id id = carom_world_body_at(mirror->world, index);
    if (carom_body_id_is_null(id) || (id.generation & 3u) != (generation & 3u)) {
        return; // of a body that is not here yet, or no longer
    }
    cm_mirror_body *mine = &mirror->bodies[index];
    if (mine->known && tick < mine->tick) {
        return;
    }
    mine->known = true;
    mine->tick = tick;
    mine->body = *body;
    cm_view_pose *pose = &mine->pose;
    cm_view_dequantise(&mirror->config, body, pose);
    // Neither can fail: the id is live and a quantised value is finite.
    (void)carom_body_set_pose(mirror->world, id, pose->position, pose->orientation);
    (void)carom_body_set_velocity(mirror->world, id, pose->linear_velocity, pose->angular_velocity);
    mirror->changed[mirror->changed_count++] = index;
}

// A view tells the public state, or says that it is the one that was acknowledged last.
static cm_packet_reason apply_public(cm_mirror *mirror, const cm_view_header *header)
{
    uint32_t size = mirror->module->public_size;
    bool newest = header->tick >= mirror->public_tick;
    if (!header->has_public) {
        mirror->public_tick = newest && !header->public_unsure ? header->tick : mirror->public_tick;
        return CM_PACKET_OK;
    }
    uint8_t state[CAROM_MODULE_PUBLIC_MAX];
    if (header->public_back == 0) {
        if (header->public_size != size) {
            return CM_PACKET_RANGE;
        }
        memcpy(state, header->public_state, size);
    } else {
        uint8_t number = (uint8_t)(header->public_number - header->public_back);
        const cm_mirror_state *base = &mirror->states[number % CM_STATES_KEPT];
        if (!base->used || base->number != number) {
            return CM_PACKET_BASELINE;
        }
        memcpy(state, mirror->state_bytes + number % CM_STATES_KEPT * size, size);
        if (!cm_state_delta_read(header->public_state, header->public_size, state, size)) {
            return CM_PACKET_RANGE;
        }
    }
    uint32_t at = header->public_number % CM_STATES_KEPT;
    if (!mirror->states[at].used || header->tick >= mirror->states[at].tick) {
        mirror->states[at] = (cm_mirror_state){true, header->public_number, header->tick};
        memcpy(mirror->state_bytes + at * size, state, size);
    }
    if (newest) {
        mirror->public_tick = header->tick;
        cm_game_set_public(mirror->game, state, size, header->present);
    }
    return CM_PACKET_OK;
}

static void apply_header(cm_mirror *mirror, const cm_view_header *header)
{
    if (header->has_wrench && (!mirror->has_wrench || header->tick >= mirror->wrench_tick)) {
        mirror->has_wrench = true;
        mirror->wrench_tick = header->tick;
        mirror->force = header->force;
        mirror->torque = header->torque;
    }
    uint64_t durable = header->has_durable ? header->tick - header->durable_age : 0;
    if (durable > mirror->durable_tick && mirror->durability != CAROM_DURABILITY_LOST) {
        mirror->durable_tick = durable;
    }
    if (header->tick > mirror->newest_tick) {
        mirror->newest_tick = header->tick;
        if (!mirror->exact) {
            cm_game_set_tick(mirror->game, header->tick);
        }
    }
}

cm_packet_reason cm_mirror_view(cm_mirror *mirror, const uint8_t *bytes, size_t size,
                                cm_view_header *header)
{
    uint32_t count = 0;
    mirror->changed_count = 0;
    // First of all: its baselines are not those of this epoch.
    if (size > CM_PACKET_EPOCH_AT && bytes[0] == CM_PACKET_VIEW &&
        bytes[CM_PACKET_EPOCH_AT] != mirror->epoch) {
        return CM_PACKET_STALE;
    }
    cm_packet_reason reason = cm_view_packet_read(bytes, size, &mirror->config, find_baseline,
                                                  mirror, header, mirror->entries, &count);
    if (reason == CM_PACKET_OK && mirror->exact && (count > 0 || header->has_public)) {
        reason = CM_PACKET_RANGE;
    }
    if (reason != CM_PACKET_OK) {
        return reason;
    }
    if (received_before(mirror, header->sequence) || too_old(mirror, header->sequence)) {
        return CM_PACKET_STALE;
    }
    reason = mirror->exact ? CM_PACKET_OK : apply_public(mirror, header);
    if (reason != CM_PACKET_OK) {
        return reason;
    }
    if (!store(mirror, header, count)) {
        return CM_PACKET_STALE; // no memory: as if it had been lost
    }
    acknowledge(mirror, header->sequence);
    apply_header(mirror, header);
    for (uint32_t i = 0; i < count; i++) {
        const cm_view_entry *entry = &mirror->entries[i];
        apply(mirror, entry->index, entry->generation, &entry->body, header->tick);
    }
    return CM_PACKET_OK;
}

// A view may have a body's value before the message that adds the body, and is not repeated for one
// at rest: the newest stored value counts.
static void catch_up(cm_mirror *mirror, carom_body_id id, uint64_t since)
{
    const cm_stored_entry *newest = NULL;
    uint32_t tick = 0;
    for (uint32_t i = 0; i < CM_MIRROR_PACKETS; i++) {
        const cm_stored_packet *packet = &mirror->packets[i];
        if (!packet->used || packet->tick < since || (newest != NULL && packet->tick <= tick)) {
            continue;
        }
        for (uint32_t k = 0; k < packet->count; k++) {
            const cm_stored_entry *entry = &packet->entries[k];
            if (entry->index == id.index && entry->generation == (id.generation & 3u)) {
                newest = entry;
                tick = packet->tick;
            }
        }
    }
    if (newest != NULL) {
        apply(mirror, id.index, id.generation, &newest->body, tick);
    }
}

// The same of joints that a frame brought as they were at tick `since`.
static void catch_up_drives(cm_mirror *mirror, uint64_t since)
{
    for (uint32_t i = 0; i < CM_MIRROR_PACKETS; i++) {
        const cm_stored_packet *packet = &mirror->packets[i];
        for (uint32_t k = packet->count; packet->used && packet->tick >= since && k-- > 0;) {
            const cm_stored_entry *entry = &packet->entries[k];
            if (entry->index < CM_VIEW_DRIVES) {
                break;
            }
            apply(mirror, entry->index, entry->generation, &entry->body, packet->tick);
        }
    }
}

bool cm_mirror_change(cm_mirror *mirror, const cm_control *change)
{
    mirror->changed_count = 0;
    if (mirror->exact) {
        return false;
    }
    mirror->structure++;
    for (uint32_t i = 0; i < change->gone_count; i++) {
        carom_body_id id = change->gone[i];
        if (carom_body_destroy(mirror->world, id) == CAROM_OK) {
            mirror->bodies[id.index].known = false;
        }
    }
    for (uint32_t i = 0; i < change->spawned_count; i++) {
        carom_body_id id;
        if (carom_world_decode_body(mirror->world, change->spawned[i].data, change->spawned[i].size,
                                    &id) != CAROM_OK ||
            id.index >= mirror->slots) {
            return false;
        }
        mirror->bodies[id.index].known = false;
        // Never more than a row for each slot: a message that names one twice is refused.
        if (mirror->changed_count >= mirror->slots) {
            return false;
        }
        catch_up(mirror, id, change->tick);
    }
    // After the bodies that its joints hold.
    if (change->frame.size > 0 && carom_world_decode_settings(mirror->world, change->frame.data,
                                                              change->frame.size) != CAROM_OK) {
        return false;
    }
    catch_up_drives(mirror, change->tick);
    return true;
}
