// The ring of saved ticks. A slot belongs to the tick it names.
#include "server/room/history.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/assert.h"

struct cm_history {
    uint32_t ticks;
    size_t image_bound;
    cm_history_slot *slots;
    uint8_t *images;
};

bool cm_event_list_push(cm_event_list *list, const cm_game_event *event)
{
    if (list->count == CM_EVENTS_MAX || event->size > CM_EVENT_BYTES_MAX - list->size) {
        return false;
    }
    cm_game_event *kept = &list->events[list->count++];
    *kept = *event;
    kept->bytes = list->bytes + list->size;
    if (event->size > 0) {
        memcpy(list->bytes + list->size, event->bytes, event->size);
    }
    list->size += event->size;
    return true;
}

void cm_event_list_copy(cm_event_list *to, const cm_event_list *from)
{
    to->count = 0;
    to->size = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        bool fits = cm_event_list_push(to, &from->events[i]);
        CM_ASSERT(fits);
    }
}

static size_t image_size(size_t bound)
{
    return (bound + 63) & ~(size_t)63;
}

uint64_t cm_history_size(uint32_t ticks, size_t image_bound)
{
    if (image_bound >= (size_t)1 << 62) {
        return UINT64_MAX;
    }
    uint64_t slot = image_size(image_bound) + sizeof(cm_history_slot);
    return ticks > 0 && slot > UINT64_MAX / ticks ? UINT64_MAX : slot * ticks;
}

cm_history *cm_history_create(uint32_t ticks, size_t image_bound)
{
    cm_history *history = calloc(1, sizeof *history);
    if (history == NULL) {
        return NULL;
    }
    history->ticks = ticks;
    history->image_bound = image_size(image_bound);
    history->slots = calloc(ticks, sizeof *history->slots);
    history->images = aligned_alloc(64, history->image_bound * ticks);
    if (history->slots == NULL || history->images == NULL) {
        cm_history_destroy(history);
        return NULL;
    }
    for (uint32_t i = 0; i < ticks; i++) {
        history->slots[i].tick = UINT64_MAX;
        history->slots[i].image = history->images + history->image_bound * i;
    }
    return history;
}

void cm_history_destroy(cm_history *history)
{
    if (history != NULL) {
        free(history->slots);
        free(history->images);
        free(history);
    }
}

cm_history_slot *cm_history_make(cm_history *history, uint64_t tick)
{
    cm_history_slot *slot = &history->slots[tick % history->ticks];
    if (slot->tick != tick) {
        slot->tick = tick;
        slot->events.count = 0;
        slot->events.size = 0;
    }
    slot->input_count = 0;
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

void cm_history_save(cm_history *history, cm_history_slot *slot, const carom_game *game)
{
    slot->image_size = cm_game_save(game, slot->image, history->image_bound);
    CM_ASSERT(slot->image_size > 0);
    slot->closes = cm_game_closes(game);
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
