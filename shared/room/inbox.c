// The ring of input sets. A slot belongs to the tick it names; a slot that names another tick is
// empty. Typical: 8 ticks back, 60 ahead, 9 bytes a player.
#include "shared/room/inbox.h"

#include <string.h>

#include "shared/base/assert.h"

typedef struct inbox_slot {
    uint64_t tick;
    uint64_t arrived; // a bit a player
} inbox_slot;

struct cm_inbox {
    carom_allocator allocator;
    uint32_t ring; // slots
    uint32_t past, future;
    uint32_t input_size;
    uint64_t late; // earliest late tick, or CM_NO_TICK
    uint64_t since[CAROM_PLAYERS_MAX];
    inbox_slot *slots;
    uint8_t *bytes; // ring x players x input_size
};

static void *allocate(const carom_allocator *allocator, size_t size)
{
    void *memory = allocator->allocate(allocator->context, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

cm_inbox *cm_inbox_create(const carom_allocator *allocator, uint32_t past, uint32_t future,
                          uint32_t input_size)
{
    cm_inbox *inbox = allocate(allocator, sizeof *inbox);
    if (inbox == NULL) {
        return NULL;
    }
    size_t row = CAROM_PLAYERS_MAX * (size_t)(input_size > 0 ? input_size : 1);
    inbox->allocator = *allocator;
    inbox->past = past;
    inbox->future = future;
    inbox->ring = past + future + 2;
    inbox->input_size = input_size;
    inbox->late = CM_NO_TICK;
    inbox->slots = allocate(allocator, inbox->ring * sizeof *inbox->slots);
    inbox->bytes = allocate(allocator, inbox->ring * row);
    if (inbox->slots == NULL || inbox->bytes == NULL) {
        cm_inbox_destroy(inbox);
        return NULL;
    }
    for (uint32_t i = 0; i < CAROM_PLAYERS_MAX; i++) {
        inbox->since[i] = CM_NO_TICK;
    }
    for (uint32_t i = 0; i < inbox->ring; i++) {
        inbox->slots[i].tick = CM_NO_TICK;
    }
    return inbox;
}

void cm_inbox_destroy(cm_inbox *inbox)
{
    if (inbox != NULL) {
        carom_allocator allocator = inbox->allocator;
        allocator.release(allocator.context, inbox->slots);
        allocator.release(allocator.context, inbox->bytes);
        allocator.release(allocator.context, inbox);
    }
}

static inbox_slot *find_slot(const cm_inbox *inbox, uint64_t tick)
{
    inbox_slot *slot = &inbox->slots[tick % inbox->ring];
    return slot->tick == tick ? slot : NULL;
}

static inbox_slot *make_slot(cm_inbox *inbox, uint64_t tick)
{
    inbox_slot *slot = &inbox->slots[tick % inbox->ring];
    if (slot->tick != tick) {
        slot->tick = tick;
        slot->arrived = 0;
    }
    return slot;
}

static uint8_t *input_at(const cm_inbox *inbox, uint64_t tick, uint32_t player)
{
    size_t row = (size_t)(tick % inbox->ring) * CAROM_PLAYERS_MAX + player;
    return inbox->bytes + row * inbox->input_size;
}

void cm_inbox_open(cm_inbox *inbox, uint32_t player, uint64_t since)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    inbox->since[player] = since;
}

void cm_inbox_close(cm_inbox *inbox, uint32_t player, uint64_t tick)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    inbox->since[player] = CM_NO_TICK;
    for (uint32_t i = 0; i < inbox->ring; i++) {
        if (inbox->slots[i].tick != CM_NO_TICK && inbox->slots[i].tick > tick) {
            inbox->slots[i].arrived &= ~(UINT64_C(1) << player);
        }
    }
}

cm_input_verdict cm_inbox_check(const cm_inbox *inbox, uint64_t now_tick, uint64_t confirmed,
                                uint32_t player, uint64_t tick, const uint8_t *bytes,
                                uint32_t *cost)
{
    *cost = 0;
    if (player >= CAROM_PLAYERS_MAX || inbox->since[player] == CM_NO_TICK) {
        return CM_INPUT_TOO_OLD;
    }
    // Before its age: a repeated input that came in time is no refused one.
    const inbox_slot *slot = find_slot(inbox, tick);
    if (slot != NULL && (slot->arrived >> player & 1) != 0) {
        return CM_INPUT_DUPLICATE;
    }
    if (tick <= confirmed || tick <= inbox->since[player]) {
        return CM_INPUT_TOO_OLD;
    }
    if (tick > now_tick + inbox->future) {
        return CM_INPUT_TOO_FAR;
    }
    if (tick > now_tick) {
        return CM_INPUT_ON_TIME;
    }
    if (slot != NULL && memcmp(input_at(inbox, tick, player), bytes, inbox->input_size) == 0) {
        return CM_INPUT_LATE_EQUAL;
    }
    uint64_t due = inbox->late < now_tick + 1 ? inbox->late : now_tick + 1;
    *cost = tick < due ? (uint32_t)(due - tick) : 0;
    return CM_INPUT_LATE;
}

void cm_inbox_put(cm_inbox *inbox, uint64_t now_tick, uint32_t player, uint64_t tick,
                  const uint8_t *bytes)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    inbox_slot *slot = make_slot(inbox, tick);
    uint8_t *kept = input_at(inbox, tick, player);
    bool changed = memcmp(kept, bytes, inbox->input_size) != 0;
    memcpy(kept, bytes, inbox->input_size);
    slot->arrived |= UINT64_C(1) << player;
    if (tick <= now_tick && changed && tick < inbox->late) {
        inbox->late = tick;
    }
}

uint64_t cm_inbox_earliest_late(const cm_inbox *inbox)
{
    return inbox->late;
}

uint64_t cm_inbox_pop_late(cm_inbox *inbox)
{
    uint64_t late = inbox->late;
    inbox->late = CM_NO_TICK;
    return late;
}

uint32_t cm_inbox_gather(cm_inbox *inbox, uint64_t tick, const carom_game *game, uint64_t leaving,
                         carom_player_input *inputs)
{
    const inbox_slot *slot = find_slot(inbox, tick);
    uint64_t left = slot != NULL ? slot->arrived & ~leaving : 0;
    uint32_t count = 0;
    for (; left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        const uint8_t *bytes = input_at(inbox, tick, player);
        if (!cm_game_player_present(game, player) ||
            memcmp(cm_game_held_input(game, player), bytes, inbox->input_size) == 0) {
            continue;
        }
        inputs[count].player = player;
        memset(inputs[count].bytes, 0, sizeof inputs[count].bytes);
        memcpy(inputs[count].bytes, bytes, inbox->input_size);
        count++;
    }
    return count;
}

void cm_inbox_stepped(cm_inbox *inbox, uint64_t tick, const carom_game *game)
{
    inbox_slot *slot = make_slot(inbox, tick);
    for (uint64_t left = cm_game_players(game) & ~slot->arrived; left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        memcpy(input_at(inbox, tick, player), cm_game_held_input(game, player), inbox->input_size);
    }
}

const uint8_t *cm_inbox_input(const cm_inbox *inbox, uint64_t now_tick, uint32_t player,
                              uint64_t tick)
{
    CM_ASSERT(player < CAROM_PLAYERS_MAX);
    const inbox_slot *slot = find_slot(inbox, tick);
    if (slot == NULL || (tick > now_tick && (slot->arrived >> player & 1) == 0)) {
        return NULL;
    }
    return input_at(inbox, tick, player);
}

uint64_t cm_inbox_settled(const cm_inbox *inbox, uint32_t player, uint64_t confirmed)
{
    uint64_t since = inbox->since[player];
    uint64_t settled = since != CM_NO_TICK && since > confirmed ? since : confirmed;
    for (uint32_t i = 0; i < inbox->ring; i++) {
        const inbox_slot *slot = find_slot(inbox, settled + 1);
        if (slot == NULL || (slot->arrived >> player & 1) == 0) {
            break;
        }
        settled++;
    }
    return settled;
}
