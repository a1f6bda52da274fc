// The ring of what came of each tick. A slot belongs to the tick it names.
#include "server/room/history.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

struct cm_history {
    uint32_t ticks;
    cm_history_slot *slots;
};

uint64_t cm_history_size(uint32_t ticks)
{
    return ticks * (uint64_t)sizeof(cm_history_slot);
}

cm_history *cm_history_create(uint32_t ticks)
{
    cm_history *history = calloc(1, sizeof *history);
    if (history == NULL) {
        return NULL;
    }
    history->ticks = ticks;
    history->slots = calloc(ticks, sizeof *history->slots);
    if (history->slots == NULL) {
        cm_history_destroy(history);
        return NULL;
    }
    for (uint32_t i = 0; i < ticks; i++) {
        history->slots[i].tick = UINT64_MAX;
    }
    return history;
}

void cm_history_destroy(cm_history *history)
{
    if (history != NULL) {
        free(history->slots);
        free(history);
    }
}

cm_history_slot *cm_history_make(cm_history *history, uint64_t tick)
{
    cm_history_slot *slot = &history->slots[tick % history->ticks];
    slot->tick = tick;
    slot->input = (cm_tick_input){NULL, 0, NULL, 0};
    slot->message_count = 0;
    slot->messages_dropped = 0;
    slot->happened_count = 0;
    slot->happened_dropped = 0;
    return slot;
}

cm_history_slot *cm_history_find(const cm_history *history, uint64_t tick)
{
    cm_history_slot *slot = &history->slots[tick % history->ticks];
    return slot->tick == tick ? slot : NULL;
}

void cm_history_collect(cm_history_slot *slot, const carom_game *game)
{
    slot->closes = cm_game_closes(game);
    slot->refused = cm_game_refused(game);
    slot->kicked = cm_game_kicked(game);
    for (uint64_t left = slot->kicked; left != 0; left &= left - 1) {
        uint32_t player = (uint32_t)__builtin_ctzll(left);
        slot->kick_reasons[player] = (uint8_t)cm_game_kick_reason(game, player);
    }
    uint32_t count = 0;
    const cm_game_message *messages = cm_game_messages(game, &count);
    CM_ASSERT(count <= CM_GAME_MESSAGES_MAX);
    slot->message_count = count;
    if (count > 0) {
        memcpy(slot->messages, messages, count * sizeof *messages);
    }
    const carom_event *events = cm_game_events(game, &count);
    CM_ASSERT(count <= CAROM_EVENTS_MAX);
    slot->happened_count = count;
    memcpy(slot->happened, events, count * sizeof *events);
}

void cm_history_hash(cm_history_slot *slot, const carom_game *game)
{
    slot->hash = cm_game_hash(game);
}
